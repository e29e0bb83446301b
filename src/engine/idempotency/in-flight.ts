// In-flight claims: first events that are not durable yet, by the 64 bits of their ids; their duplicates wait for
// them. An open-addressed table, because a Map with thousands of entries per second is rehashed again and again.

const slotsMin = 256

/** Promises by id; an open table with linear probing, at most half full. */
export class InFlightClaims {
  private highs = new Uint32Array(slotsMin)
  private lows = new Uint32Array(slotsMin)
  private promises: (Promise<void> | null)[] = new Array<null>(slotsMin).fill(null)
  private count = 0

  get size(): number {
    return this.count
  }

  get(high: number, low: number): Promise<void> | null {
    return this.count === 0 ? null : this.promises[this.find(high, low)]!
  }

  put(high: number, low: number, promise: Promise<void>): void {
    if (2 * this.count >= this.promises.length) this.resize(2 * this.promises.length)
    const slot = this.find(high, low)
    if (this.promises[slot] === null) this.count++
    this.highs[slot] = high
    this.lows[slot] = low
    this.promises[slot] = promise
  }

  delete(high: number, low: number): void {
    if (this.count === 0) return
    const { highs, lows, promises } = this
    const mask = promises.length - 1
    let hole = this.find(high, low)
    if (promises[hole] === null) return
    // slots behind it move up where a lookup would otherwise miss them
    for (let next = (hole + 1) & mask; promises[next] !== null; next = (next + 1) & mask) {
      const way = (next - (lows[next]! & mask)) & mask
      if (way < ((next - hole) & mask)) continue
      highs[hole] = highs[next]!
      lows[hole] = lows[next]!
      promises[hole] = promises[next]!
      hole = next
    }
    promises[hole] = null
    this.count--
    if (this.count === 0 && promises.length > 1 << 16) this.resize(slotsMin)
  }

  /** The slot of an id, or the free one where it would be. Ids are random: their low bits say where to look. */
  private find(high: number, low: number): number {
    const { highs, lows, promises } = this
    const mask = promises.length - 1
    let slot = low & mask
    while (promises[slot] !== null && (lows[slot] !== low || highs[slot] !== high)) slot = (slot + 1) & mask
    return slot
  }

  private resize(slots: number): void {
    const { highs, lows, promises } = this
    this.highs = new Uint32Array(slots)
    this.lows = new Uint32Array(slots)
    this.promises = new Array<null>(slots).fill(null)
    this.count = 0
    for (const [slot, promise] of promises.entries())
      if (promise !== null) this.put(highs[slot]!, lows[slot]!, promise)
  }
}
