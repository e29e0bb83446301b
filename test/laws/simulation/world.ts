// Time, order and chance of a simulation: one queue of coming steps, drawn from one seed.
//
// All code inside belongs to a life: a process, a thread, a client. The world provides the timers and the
// clock of a life. When a life ends, its timers and answers never fire. Code outside of any life is
// unaffected, so the test runner keeps its own time.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Random } from '../../random.js'

/** A process, or a thread in it, that can end. */
export class Life {
  private over = false
  /** Speed of its monotonic clock and its timers. */
  rate = 1
  /** It is suspended until then, as after SIGSTOP. */
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

  /** The life of its process. */
  get root(): Life {
    return this.parent === null ? this : this.parent.root
  }

  /** Whether it is this life or a part of it. */
  isOf(other: Life): boolean {
    return this === other || (this.parent?.isOf(other) ?? false)
  }

  run<T>(work: () => T): T {
    return lives.run(this, work)
  }
}

/** A coming step, unless it is cancelled or its life ends before. */
export interface Coming {
  cancelled: boolean
}

interface Entry extends Coming {
  atMs: number
  /** Decides between steps of the same instant. */
  readonly order: number
  readonly life: Life
  readonly work: () => void
}

/** Steps between two turns of the real event loop. */
const breathSteps = 500
// A tick runs after all promises, and costs a tenth of a turn of the event loop.
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
  /** Offset of the wall clock: it may be set back. */
  wallOffMs = 0
  steps = 0
  /** The life of stores, the disk and clients. It never ends. */
  readonly nature = new Life(this, 'nature')
  private readonly queue: Entry[] = []

  constructor(readonly random: Random) {
    install()
  }

  get wallMs(): number {
    return Math.floor(startMs + this.nowMs + this.wallOffMs)
  }

  /** Schedule a step of a life after a delay. */
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

  /** Run steps until `done`. Throws when time or steps run out, or no step is left. */
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
        // Steps during the suspension wait, in their order.
        entry.atMs = hungUntilMs + entry.atMs * 1e-9
        push(this.queue, entry)
        continue
      }
      entry.life.run(entry.work)
      // All promises settle before the next step.
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

/** A timer in its caller's hands. */
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

/** Replaces timers and clocks inside of lives with those of the world. */
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

/** The real delay of a timer: late, sometimes very late. */
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
