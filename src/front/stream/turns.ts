// Runs work of the data stream on the HTTP thread, a little in each turn of the event loop. Thousands of
// clients that reconnect together wait for each other; no check waits for them.

/** Longest work in one turn, ms. */
const turnMs = 1

/** Subscribers that receive a change in one turn. */
export const toldTogether = 32

/** Tasks of one group that wait, from `at` on. */
interface Lane {
  tasks: (() => void)[]
  at: number
}

/** Groups (environments) take turns, so that nobody's work waits behind all of another's; within a group work is done in order. */
export class Turns {
  /** The group whose turn is next comes first. */
  private readonly lanes = new Map<string, Lane>()
  private spentMs = 0
  private scheduled = false
  private isWorking = false

  /** Number of tasks that wait. */
  get size(): number {
    let size = 0
    for (const { tasks, at } of this.lanes.values()) size += tasks.length - at
    return size
  }

  /**
   * Runs the work now if the turn has time left and no other work waits, else in order in a later turn. How much may wait is
   * bounded by who adds it.
   *
   * group  whose work it is.
   */
  run(work: () => void, group = ''): void {
    // work that adds work is not nested, or a turn would not end
    if (this.isWorking || this.lanes.size > 0 || this.spentMs >= turnMs) this.add(work, group)
    else this.work(work)
    if (this.scheduled) return
    this.scheduled = true
    setImmediate(() => this.turn())
  }

  /** Runs the work for each of many, `together` of them in one task. */
  forEach<T>(many: Iterable<T>, together: number, work: (one: T) => void, group = ''): void {
    const all = [...many]
    for (let from = 0; from < all.length; from += together)
      this.run(() => {
        for (const one of all.slice(from, from + together)) work(one)
      }, group)
  }

  private add(work: () => void, group: string): void {
    const lane = this.lanes.get(group)
    if (lane === undefined) this.lanes.set(group, { tasks: [work], at: 0 })
    else lane.tasks.push(work)
  }

  private turn(): void {
    this.spentMs = 0
    try {
      while (this.lanes.size > 0 && this.spentMs < turnMs) this.next()
    } finally {
      // Work that adds work finds this turn scheduled still, so that one turn follows another, never two.
      this.scheduled = this.lanes.size > 0
      if (this.scheduled) setImmediate(() => this.turn())
    }
  }

  private next(): void {
    const [group, lane] = this.lanes.entries().next().value!
    const work = lane.tasks[lane.at++]!
    if (lane.at > 4_096) {
      lane.tasks = lane.tasks.slice(lane.at)
      lane.at = 0
    }
    this.lanes.delete(group)
    // the others first
    if (lane.at < lane.tasks.length) this.lanes.set(group, lane)
    this.work(work)
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
