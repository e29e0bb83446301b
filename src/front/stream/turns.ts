// Runs work of the data stream on the HTTP thread, a little in each turn of the event loop. Thousands of
// clients that reconnect together wait for each other; no check waits for them.

/** Longest work in one turn, ms. */
const turnMs = 1

/** Subscribers that receive a change in one turn. */
export const toldTogether = 32

export class Turns {
  private waiting: (() => void)[] = []
  /** Index of the next task that waits. */
  private at = 0
  private spentMs = 0
  private scheduled = false
  private isWorking = false

  /** Number of tasks that wait. */
  get size(): number {
    return this.waiting.length - this.at
  }

  /**
   * Runs the work now if the turn has time left and no other work waits, else in order in a later turn. How much may wait is
   * bounded by who adds it.
   */
  run(work: () => void): void {
    // work that adds work is not nested, or a turn would not end
    if (this.isWorking || this.size > 0 || this.spentMs >= turnMs) this.waiting.push(work)
    else this.work(work)
    if (this.scheduled) return
    this.scheduled = true
    setImmediate(() => this.turn())
  }

  /** Runs the work for each of many, `together` of them in one task. */
  forEach<T>(many: Iterable<T>, together: number, work: (one: T) => void): void {
    const all = [...many]
    for (let from = 0; from < all.length; from += together)
      this.run(() => {
        for (const one of all.slice(from, from + together)) work(one)
      })
  }

  private turn(): void {
    this.spentMs = 0
    try {
      while (this.size > 0 && this.spentMs < turnMs) this.next()
    } finally {
      // Work that adds work finds this turn scheduled still, so that one turn follows another, never two.
      this.scheduled = this.size > 0
      if (this.scheduled) setImmediate(() => this.turn())
    }
    if (this.at > 4_096 || this.size === 0) {
      this.waiting = this.waiting.slice(this.at)
      this.at = 0
    }
  }

  private next(): void {
    this.work(this.waiting[this.at++]!)
  }

  private work(work: () => void): void {
    const begunMs = performance.now()
    this.isWorking = true
    try {
      work()
    } finally {
      this.isWorking = false
      this.spentMs += performance.now() - begunMs
    }
  }
}
