// A seeded generator for tests, so that a run can be had again.

/** Equal seeds, equal choices. */
export class Random {
  private state: number

  constructor(readonly seed: number = Number(process.env.TOLLGATE_SEED ?? Date.now() % 2 ** 31)) {
    this.state = seed
  }

  /** From 0 up to 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 up to `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }

  /** True in this share of cases. */
  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }
}
