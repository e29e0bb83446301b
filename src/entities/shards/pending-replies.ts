// Correlation table: callers that wait for the replies of a shard, each under the number of its request. Not a Map:
// one with many inserts and deletes is rehashed again and again, each old table keeps the next alive, and in the old
// generation it keeps every former caller in memory until a full collection.

/** Places at least; as many as ever waited at once are kept. */
const placesMin = 64
/** A number is its place, and how often the place was taken before: beyond any number of places. */
const turnSize = 2 ** 20
/** Turns of a place before it begins anew: no reply is as late. */
const turnsMax = 2 ** 26

export class PendingReplies<T> {
  private readonly held: (T | null)[] = []
  private readonly turns: number[] = []
  /** Free places, the next one last. */
  private readonly free: number[] = []
  private count = 0

  /**
   * Several tables share one reply port, and their numbers differ by their remainder: this table's numbers leave
   * `rest` when divided by `apart`, at most 64.
   */
  constructor(
    private readonly apart = 1,
    private readonly rest = 0,
  ) {}

  get size(): number {
    return this.count
  }

  /** Returns the number that finds the one who waits; no other gets it again before the place was taken 2²⁶ times. */
  add(one: T): number {
    if (this.free.length === 0) this.grow()
    const place = this.free.pop()!
    this.held[place] = one
    this.count++
    return (this.turns[place]! * turnSize + place) * this.apart + this.rest
  }

  /** Take the caller under a number, once; undefined when there is none. */
  take(n: number): T | undefined {
    const number = this.apart === 1 ? n : (n - this.rest) / this.apart
    const turn = Math.floor(number / turnSize)
    const place = number - turn * turnSize
    const one = this.held[place]
    if (one === null || one === undefined || this.turns[place] !== turn) return undefined
    this.release(place)
    return one
  }

  /** All who wait, in the order of their places; none of them waits any more. */
  takeAll(): readonly T[] {
    const all: T[] = []
    for (const [place, one] of this.held.entries()) {
      if (one === null) continue
      all.push(one)
      this.release(place)
    }
    return all
  }

  private release(place: number): void {
    this.held[place] = null
    this.turns[place] = (this.turns[place]! + 1) % turnsMax
    this.free.push(place)
    this.count--
  }

  private grow(): void {
    const from = this.held.length
    const to = Math.max(placesMin, from * 2)
    for (let place = from; place < to; place++) {
      this.held.push(null)
      this.turns.push(0)
    }
    for (let place = to - 1; place >= from; place--) this.free.push(place)
  }
}
