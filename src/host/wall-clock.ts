// The wall clock, never backwards.

export class WallClock {
  /** latestMs: the earliest possible present, epoch ms. */
  constructor(
    private latestMs = 0,
    private readonly source: () => number = Date.now,
  ) {}

  /** Epoch ms. */
  now(): number {
    const ms = this.source()
    if (ms > this.latestMs) this.latestMs = ms
    return this.latestMs
  }
}
