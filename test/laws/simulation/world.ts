// Time, order and chance of a simulation: one queue of what will happen, drawn from one seed.
//
// Whatever runs inside belongs to a life: a process, a thread, a client. Timers and the clock of that life are the
// world's; when it ends, nothing that it was waiting for ever happens. Outside of any life nothing is changed, so
// the test runner keeps its own time.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Random } from '../../random.js'

/** What can end: a process, and the threads in it. */
export class Life {
  private over = false
  /** How fast its monotonic clock runs, and with it its timers. */
  rate = 1
  /** It stands still until then, as after SIGSTOP. */
  hungUntilMs = 0

  constructor(
    readonly world: World,
    readonly name: string,
    private readonly parent: Life | null = null,
  ) {}

  get alive(): boolean {
    return !this.over && (this.parent === null || this.parent.alive)
  }

  end(): void {
    this.over = true
  }

  /** Of its process. */
  get root(): Life {
    return this.parent === null ? this : this.parent.root
  }

  /** Whether it is this life or within it. */
  isOf(other: Life): boolean {
    return this === other || (this.parent?.isOf(other) ?? false)
  }

  run<T>(work: () => T): T {
    return lives.run(this, work)
  }
}

/** Something that will happen, unless it is cancelled or its life ends before. */
export interface Coming {
  cancelled: boolean
}

interface Entry extends Coming {
  atMs: number
  /** Between two of the same instant. */
  readonly order: number
  readonly life: Life
  readonly work: () => void
}

/** Steps between two looks at the world outside. */
const breathSteps = 500
// a tick comes when no promise has anything left to do, and costs a tenth of a turn of the event loop
const settle = (resolve: () => void): void => process.nextTick(resolve)
const breathe = (resolve: () => void): void => {
  real.setImmediate(resolve)
}

const lives = new AsyncLocalStorage<Life>()
const startMs = Date.UTC(2026, 0, 31, 23, 30)
const real = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  clearTimeout: globalThis.clearTimeout,
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
}

export class World {
  /** Milliseconds since the simulation began. */
  nowMs = 0
  /** By how much the clock on the wall is off: it may be set back. */
  wallOffMs = 0
  steps = 0
  /** Never ends: stores, the disk, clients. */
  readonly nature = new Life(this, 'nature')
  private readonly queue: Entry[] = []

  constructor(readonly random: Random) {
    install()
  }

  get wallMs(): number {
    return Math.floor(startMs + this.nowMs + this.wallOffMs)
  }

  /** Let something happen to a life after a while. */
  after(delayMs: number, life: Life, work: () => void): Coming {
    const entry = {
      atMs: this.nowMs + Math.max(0, delayMs),
      order: this.random.next(),
      life,
      work,
      cancelled: false,
    }
    push(this.queue, entry)
    return entry
  }

  /** A delay that is mostly short. */
  delay(usualMs: number, longMs = usualMs * 20): number {
    return this.random.chance(0.05) ? this.random.next() * longMs : this.random.next() * usualMs
  }

  pause(ms: number): Promise<void> {
    const life = current()
    return new Promise(resolve => {
      this.after(ms, life, resolve)
    })
  }

  /** Let things happen until `done`; throws when time or steps run out, or nothing is left to happen. */
  async drive(done: () => boolean, untilMs: number, stepsMax: number): Promise<void> {
    while (!done()) {
      const entry = pop(this.queue)
      if (entry === undefined) throw new Error('nothing is left to happen')
      if (entry.atMs > untilMs) throw new Error(`not done after ${Math.round(untilMs)} ms`)
      if (this.steps++ > stepsMax) throw new Error(`not done after ${stepsMax} steps`)
      this.nowMs = Math.max(this.nowMs, entry.atMs)
      if (entry.cancelled || !entry.life.alive) continue
      const { hungUntilMs } = entry.life.root
      if (hungUntilMs > this.nowMs) {
        // what comes meanwhile waits, in its order
        entry.atMs = hungUntilMs + entry.atMs * 1e-9
        push(this.queue, entry)
        continue
      }
      entry.life.run(entry.work)
      // every promise that can go on goes on before the next thing happens
      await new Promise<void>(this.steps % breathSteps === 0 ? breathe : settle)
    }
  }
}

/** The life that runs now. */
export function current(): Life {
  const life = lives.getStore()
  if (life === undefined) throw new Error('nobody lives here')
  return life
}

/** A timer as callers hold it. */
class Timer {
  coming: Coming | null = null
  ended = false

  unref(): this {
    return this
  }

  ref(): this {
    return this
  }

  clear(): void {
    this.ended = true
    if (this.coming !== null) this.coming.cancelled = true
  }
}

let installed = false

/** Inside of lives, timers and clocks are their world's. */
function install(): void {
  if (installed) return
  installed = true
  const timers = globalThis as unknown as Record<string, unknown>
  timers.setTimeout = (work: (...more: unknown[]) => void, ms = 1, ...more: unknown[]) => {
    const life = lives.getStore()
    if (life === undefined) return real.setTimeout(() => work(...more), ms)
    const timer = new Timer()
    timer.coming = life.world.after(lateness(life.world, Math.max(1, ms) / life.root.rate), life, work)
    return timer
  }
  timers.setInterval = (work: (...more: unknown[]) => void, ms = 1, ...more: unknown[]) => {
    const life = lives.getStore()
    if (life === undefined) return real.setInterval(() => work(...more), ms)
    const timer = new Timer()
    const next = () => {
      timer.coming = life.world.after(lateness(life.world, Math.max(1, ms)), life, () => {
        next()
        work()
      })
    }
    next()
    return timer
  }
  timers.setImmediate = (work: (...more: unknown[]) => void, ...more: unknown[]) => {
    const life = lives.getStore()
    if (life === undefined) return real.setImmediate(() => work(...more))
    const timer = new Timer()
    timer.coming = life.world.after(life.world.random.next() * 0.05, life, work)
    return timer
  }
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) {
    const clear = timers[name] as (timer: unknown) => void
    timers[name] = (timer: unknown) => (timer instanceof Timer ? timer.clear() : clear(timer))
  }
  Date.now = () => lives.getStore()?.world.wallMs ?? real.dateNow()
  performance.now = () => {
    const life = lives.getStore()
    return life === undefined ? real.performanceNow() : life.world.nowMs * life.root.rate
  }
}

/** Timers are late, now and then very. */
function lateness(world: World, ms: number): number {
  return ms + world.delay(1, 40)
}

// A heap: the earliest entry first.
const before = (a: Entry, b: Entry): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

function push(heap: Entry[], entry: Entry): void {
  let at = heap.push(entry) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!before(entry, heap[parent]!)) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = entry
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
    if (!before(heap[child]!, last)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
  return first
}
