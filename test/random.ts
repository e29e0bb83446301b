// A seeded generator for tests, so that a run can be had again.

/** Every random choice of a file comes from it: TOLLGATE_SEED, which `tools/test` sets for a whole run. */
export const seed = Number(process.env.TOLLGATE_SEED ?? Date.now() % 2 ** 31)

/** How often a law runs: `usual` times TOLLGATE_RUNS, which is 1 unless given; at least once. */
export const times = (usual: number): number =>
  Math.max(1, Math.ceil(usual * Number(process.env.TOLLGATE_RUNS ?? 1)))

/** Equal seeds, equal choices. */
export class Random {
  readonly seed: number
  private state: number

  constructor(first: number = seed) {
    this.seed = first
    this.state = first
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
