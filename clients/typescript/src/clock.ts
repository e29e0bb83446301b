// The clock of the service, as its answers tell it by their `Date`. This process's own may be wrong.

/** `Date` has whole seconds, cut off, ms. */
const dateMs = 1_000

export class ServiceClock {
  /** The most by which the service's clock can be ahead of this one, ms; null: no answer told it. */
  private mostMs: number | null = null

  /** How far ahead it is, ms: at most a second too much, and 0 while nothing was told. */
  get aheadMs(): number {
    return this.mostMs ?? 0
  }

  /** An answer. Each narrows what the ones before told; what contradicts them counts, as a clock was set. */
  heard(headers: Headers, askedMs: number, nowMs: number): void {
    const toldMs = Date.parse(headers.get('date') ?? '')
    if (Number.isNaN(toldMs)) return
    const mostMs = toldMs + dateMs - askedMs
    const leastMs = toldMs - nowMs
    if (this.mostMs === null || mostMs < this.mostMs || leastMs > this.mostMs) this.mostMs = mostMs
  }
}
