// Threads of a simulation: a worker's real entry in its own life, over slow ports that keep their order.
import type { StartThread, Thread } from '../../../src/entities/shards/thread.js'
import type { Port } from '../../../src/wire/port.js'
import type { SimulatedDisk } from './disk.js'
import { current, Life, type World } from './world.js'

type Listener = (message: unknown) => void

class SimulatedPort {
  private other!: SimulatedPort
  private open = true
  private arrivesMs = 0
  private readonly listeners: Record<string, Listener[]> = { message: [], close: [] }
  /** Messages that arrived before the first listener. */
  private early: unknown[] = []
  private readonly onTheirWay: { readonly message: unknown }[] = []

  private constructor(
    private readonly world: World,
    private readonly life: Life,
  ) {}

  static pair(world: World, one: Life, two: Life): readonly [SimulatedPort, SimulatedPort] {
    const ports = [new SimulatedPort(world, one), new SimulatedPort(world, two)] as const
    ports[0].other = ports[1]
    ports[1].other = ports[0]
    return ports
  }

  on(event: 'message' | 'close', listener: Listener): this {
    this.listeners[event]!.push(listener)
    if (event === 'message') for (const message of this.early.splice(0)) this.deliver(event, message)
    return this
  }

  postMessage(message: unknown): void {
    if (this.open) this.other.deliver('message', structuredClone(message))
  }

  close(): void {
    if (!this.open) return
    this.open = false
    this.other.deliver('close', undefined)
    this.deliver('close', undefined)
  }

  /** Take the messages in flight to this port. */
  rest(): readonly unknown[] {
    return this.onTheirWay.splice(0).map(({ message }) => message)
  }

  private deliver(event: string, message: unknown): void {
    const { world } = this
    this.arrivesMs = Math.max(this.arrivesMs, world.nowMs + world.delay(0.2, 5)) + 1e-6
    const letter = { message }
    if (event === 'message') this.onTheirWay.push(letter)
    world.after(this.arrivesMs - world.nowMs, this.life, () => {
      const at = this.onTheirWay.indexOf(letter)
      if (at >= 0) this.onTheirWay.splice(at, 1)
      else if (event === 'message') return
      this.hear(event, message)
    })
  }

  private hear(event: string, message: unknown): void {
    if (event === 'message' && !this.open) return
    if (event === 'close') this.open = false
    const listeners = this.listeners[event]!
    if (event === 'message' && listeners.length === 0) this.early.push(message)
    for (const listener of listeners) listener(message)
  }
}

/** The entry of a worker file, called with its task. */
export type Entry = (task: never) => Promise<void>

/** The threads of one process. */
export class Threads {
  private readonly running = new Map<Life, (error: Error) => void>()

  constructor(
    private readonly world: World,
    private readonly disk: SimulatedDisk,
    /** By the end of the file's name. */
    private readonly entries: Readonly<Record<string, Entry>>,
  ) {}

  /** Names of the threads that run now. */
  get names(): readonly string[] {
    return [...this.running.keys()].map(({ name }) => name)
  }

  readonly start: StartThread = (file, task): Thread => {
    const { world } = this
    const name = Object.keys(this.entries).find(end => file.href.endsWith(end))!
    const process = current()
    const life = new Life(world, name, process)
    const [here, there] = SimulatedPort.pair(world, process, life)
    // Cloned like a real task: the port is transferred, shared memory stays shared.
    const cloned = { ...structuredClone({ ...task(null as unknown as Port), port: null }), port: there }
    const ended = new Promise<void>((resolve, reject) => {
      const told = (settle: () => void) => {
        if (!this.running.delete(life)) return
        life.end()
        world.after(world.delay(1), process, settle)
      }
      this.running.set(life, error => told(() => reject(error)))
      const ends = () => told(resolve)
      const fails = (error: unknown) => told(() => reject(error))
      world.after(world.delay(5, 50), life, () => this.entries[name]!(cloned as never).then(ends, fails))
    })
    ended.catch(() => {})
    return {
      port: here as unknown as Port,
      ended,
      rest: () => here.rest(),
      close: () => ended.catch(() => {}),
      destroy: async () => this.kill(life),
    }
  }

  /** End one of them in the middle of its work. */
  killAny(name: string): void {
    const lives = [...this.running.keys()].filter(life => life.name === name)
    if (lives.length > 0) this.kill(this.world.random.pick(lives))
  }

  private kill(life: Life): void {
    const told = this.running.get(life)
    if (told === undefined) return
    this.disk.threadDied(life)
    told(new Error('the thread was killed'))
  }
}
