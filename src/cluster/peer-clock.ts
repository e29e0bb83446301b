// The clock of another node, as its frames tell it. Monotonic clocks of two processes have nothing in common, and their
// wall clocks may differ. Each frame says when it was sent. The one that took least time tells the difference of both
// clocks; what another frame took longer is its age.

/** The difference is found anew in spans of this length: clocks drift, some milliseconds a minute at most. */
const spanMs = 30_000

export class PeerClock {
  /** Least difference of the span before, and of this one, ms. */
  private before = Number.POSITIVE_INFINITY
  private least = Number.POSITIVE_INFINITY
  private sinceMs = Number.NEGATIVE_INFINITY

  /**
   * A frame was received.
   *
   * sentMs   when it was sent, by the clock of its sender.
   * nowMs    the present, by the clock of this process.
   * returns  the present by the clock of its sender, less the time that the fastest frame took.
   */
  heard(sentMs: number, nowMs: number): number {
    if (nowMs - this.sinceMs > spanMs) {
      this.before = this.least
      this.least = Number.POSITIVE_INFINITY
      this.sinceMs = nowMs
    }
    this.least = Math.min(this.least, nowMs - sentMs)
    return nowMs - Math.min(this.before, this.least)
  }
}
