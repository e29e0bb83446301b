// A scheduler of threads that share cells: it stops each thread at every access, and a seed chooses who goes on. A thread
// is a function that is run from its beginning at every step: what it did before is answered from a log, then one new
// access is made, then it is stopped. So no thread of the system is needed, and a run can be had again from its seed.
import type { Cells } from '../../../src/wire/shared/cells.js'
import type { Random } from '../../random.js'

/** Thrown through the code under test where it has to stop. */
const stopped = new Error('stopped by the scheduler')

/** One piece of work of a thread. It must leave nothing behind but in its cells. */
export class SteppedThread<Result = unknown> {
  result: { readonly value: Result } | null = null
  private readonly log: number[] = []
  private at = 0
  private mayAccess = false
  /** Whether the cell that it waits for still has the value that it had. */
  private isHeld: () => boolean = () => false

  constructor(private readonly work: (cells: Cells) => Result) {}

  get canGoOn(): boolean {
    return this.result === null && !this.isHeld()
  }

  /** Make one access, or end. */
  step(): void {
    this.at = 0
    this.mayAccess = true
    this.isHeld = () => false
    try {
      this.result = { value: this.work(this.cells) }
    } catch (error) {
      if (error !== stopped) throw error
    }
  }

  private readonly cells: Cells = {
    read: (cells, at) => this.access(() => cells[at]!),
    write: (cells, at, value) => this.cells.store(cells, at, value),
    load: (cells, at) => this.access(() => cells[at]!),
    store: (cells, at, value) => {
      this.access(() => {
        cells[at] = value
        return 0
      })
    },
    exchangeIf: (cells, at, expected, value) =>
      this.access(() => {
        const had = cells[at]!
        if (had === expected) cells[at] = value
        return had
      }),
    wait: (cells, at, value) => {
      this.access(() => {
        if (cells[at] !== value) return 0
        this.isHeld = () => cells[at] === value
        throw stopped
      })
    },
  }

  private access(perform: () => number): number {
    if (this.at < this.log.length) return this.log[this.at++]!
    if (!this.mayAccess) throw stopped
    this.mayAccess = false
    const value = perform()
    this.log.push(value)
    this.at++
    return value
  }
}

/**
 * Run threads in steps until all have ended.
 *
 * scripts  each gives the next piece of work of its thread, or null at its end.
 * random   chooses; it stays with a thread for some steps, so that long and short stretches are both tried.
 * errors   Error when none can go on.
 */
export function interleave(
  scripts: readonly (() => {
    readonly thread: SteppedThread
    readonly ended: (now: number) => void
  } | null)[],
  random: Random,
  clock: { now: number },
): void {
  const running = scripts.map(next => ({ next, piece: next() }))
  for (;;) {
    const left = running.filter(({ piece }) => piece !== null)
    if (left.length === 0) return
    const able = left.filter(({ piece }) => piece!.thread.canGoOn)
    if (able.length === 0) throw new Error('every thread waits for another one')
    const one = random.pick(able)
    for (let steps = random.chance(0.5) ? 1 : 1 + random.below(40); steps > 0; steps--) {
      const { thread, ended } = one.piece!
      if (!thread.canGoOn) break
      clock.now++
      thread.step()
      if (thread.result === null) continue
      ended(clock.now)
      one.piece = one.next()
      break
    }
  }
}
