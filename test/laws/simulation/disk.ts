// A disk that is slow, fails, tears writes when the power fails, and keeps names only after their directory
// was synced. Before a write is answered, any of its sectors may be on the disk or not.
import type { JournalDisk, JournalFile } from '../../../src/journal/disk.js'
import { current, type Life, type World } from './world.js'

const sectorBytes = 512
/** Largest run of zeros written ahead. They are never read, and cost the simulation time. */
const zerosMax = 4_096

interface File {
  bytes: Buffer
  /** Undo steps for writes that were answered too early, newest last. */
  readonly lies: (() => void)[]
}

/** A request to the disk that is not done yet. */
interface Operation {
  readonly life: Life
  over: boolean
  /** Do it whole, or, when `torn`, perhaps in part. */
  readonly act: (torn: boolean) => void
}

export class SimulatedDisk implements JournalDisk {
  /** Names in the view of every program. */
  private names = new Map<string, File>()
  /** Names that survive a power failure. */
  private readonly synced = new Map<string, File>()
  private readonly underWay = new Set<Operation>()
  /** Share of operations that fail. */
  failing = 0
  /** Share of writes that are answered before they are durable: a disk that lies. */
  lying = 0

  constructor(private readonly world: World) {}

  async open(path: string, how: 'read' | 'write' | 'new'): Promise<JournalFile> {
    const file = await this.ask(0.3, () => {
      const there = this.names.get(path)
      if (how !== 'new') return there ?? absent(path)
      if (there !== undefined) throw new Error(`${path} exists`)
      const made: File = { bytes: Buffer.alloc(0), lies: [] }
      this.names.set(path, made)
      return made
    })
    return {
      write: (bytes, position, zeros) => this.write(file, bytes, position, zeros),
      read: (into, length, position) =>
        this.ask(0.3, () =>
          file.bytes.copy(into, 0, position, Math.min(file.bytes.length, position + length)),
        ),
      truncate: length => this.ask(1, () => resize(file, length)),
      size: () => this.ask(0.1, () => file.bytes.length),
      close: async () => {},
    }
  }

  list(directory: string): Promise<string[]> {
    const prefix = `${directory}/`
    return this.ask(0.3, () =>
      [...this.names.keys()].filter(path => path.startsWith(prefix)).map(path => path.slice(prefix.length)),
    )
  }

  remove(path: string): Promise<void> {
    return this.ask(0.5, () => {
      this.names.delete(path)
    })
  }

  rename(from: string, to: string): Promise<void> {
    return this.ask(0.5, () => {
      this.names.set(to, this.names.get(from) ?? absent(from))
      this.names.delete(from)
    })
  }

  syncDirectory(directory: string): Promise<void> {
    const prefix = `${directory}/`
    return this.ask(1, () => {
      for (const path of new Set([...this.names.keys(), ...this.synced.keys()]))
        if (path.startsWith(prefix)) this.keepName(path)
    })
  }

  /** A thread ended. The system completes its requests, whole or not at all, before it reports the end. */
  threadDied(life: Life): void {
    for (const operation of this.of(life)) if (this.world.random.chance(0.5)) operation.act(false)
  }

  /** The process was killed. Its last write may be torn; names and contents stay. */
  processDied(life: Life): void {
    for (const operation of this.of(life)) if (this.world.random.chance(0.7)) operation.act(true)
  }

  /**
   * The power failed. Names that were not synced may be lost, and so may writes that were answered too early.
   */
  powerWent(life: Life): void {
    this.processDied(life)
    const { random } = this.world
    for (const path of new Set([...this.names.keys(), ...this.synced.keys()]))
      if (random.chance(0.5)) this.keepName(path)
    this.names = new Map(this.synced)
    for (const file of this.names.values()) while (file.lies.length > 0) file.lies.pop()!()
  }

  private keepName(path: string): void {
    const file = this.names.get(path)
    if (file === undefined) {
      this.synced.delete(path)
      return
    }
    // A rename is atomic: its file has the old name or the new one, never both.
    for (const [other, same] of this.synced) if (same === file) this.synced.delete(other)
    this.synced.set(path, file)
  }

  private write(file: File, bytes: Buffer, position: number, zeros: number): Promise<void> {
    const { random } = this.world
    const whole = Buffer.concat([bytes, Buffer.alloc(Math.min(zeros, zerosMax))])
    const fails = random.chance(this.failing)
    const lies = random.chance(this.lying)
    const life = current()
    const act = (torn: boolean) => {
      if (lies) file.lies.push(undo(file, position, whole.length))
      if (torn || fails) this.putSome(file, whole, position)
      else put(file, whole, position)
    }
    return this.begin(2, { life, over: false, act }, () => {
      if (fails) throw new Error('the disk failed')
    })
  }

  /** Write some sectors in any order: none, all, or any of them. */
  private putSome(file: File, bytes: Buffer, position: number): void {
    const { random } = this.world
    const share = random.pick([0, 0.5, 0.9, 1])
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + sectorBytes - ((position + at) % sectorBytes))
      if (random.chance(share)) put(file, bytes.subarray(at, end), position + at)
      at = end
    }
  }

  private async ask<T>(usualMs: number, work: () => T): Promise<T> {
    const fails = this.world.random.chance(this.failing / 4)
    let result: { readonly value: T } | null = null
    let error: unknown = new Error('the disk failed')
    const act = () => {
      if (fails && this.world.random.chance(0.5)) return
      try {
        result = { value: work() }
      } catch (thrown) {
        error = thrown
      }
    }
    await this.begin(usualMs, { life: current(), over: false, act }, () => {
      if (fails || result === null) throw error
    })
    return result!.value
  }

  /** Do an operation after a delay, and report it a little later. */
  private begin(usualMs: number, operation: Operation, told: () => void): Promise<void> {
    const { world } = this
    this.underWay.add(operation)
    return new Promise((resolve, reject) => {
      world.after(world.delay(usualMs), world.nature, () => {
        if (operation.over) return
        this.underWay.delete(operation)
        operation.act(false)
        world.after(world.delay(0.2), operation.life, () => {
          try {
            told()
            resolve()
          } catch (error) {
            reject(error)
          }
        })
      })
    })
  }

  private of(life: Life): readonly Operation[] {
    const ended = [...this.underWay].filter(operation => operation.life.isOf(life))
    for (const operation of ended) {
      operation.over = true
      this.underWay.delete(operation)
    }
    return ended
  }
}

function absent(path: string): never {
  throw new Error(`${path} is missing`)
}

function resize(file: File, length: number): void {
  if (length === file.bytes.length) return
  const next = Buffer.alloc(length)
  file.bytes.copy(next)
  file.bytes = next
}

function put(file: File, bytes: Buffer, position: number): void {
  if (position + bytes.length > file.bytes.length) resize(file, position + bytes.length)
  bytes.copy(file.bytes, position)
}

function undo(file: File, position: number, length: number): () => void {
  const size = file.bytes.length
  const former = Buffer.from(file.bytes.subarray(position, position + length))
  return () => {
    former.copy(file.bytes, position)
    if (file.bytes.length > size) file.bytes = file.bytes.subarray(0, size)
  }
}
