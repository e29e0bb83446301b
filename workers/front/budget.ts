// The buckets that all fronts share, as one of them takes from them.
import { refill, take } from '../../src/core/values/bucket.js'
import { type Allowance, allowanceOf, refusalBy } from '../../src/front/http/admission/allowance.js'
import { type BucketCells, SharedBucket } from '../../src/wire/bucket-cells.js'
import type { BucketPlace, KeyFacts } from '../../src/wire/front-facts.js'

/** Every check takes from the bucket of all requests alone. */
class GlobalBucket extends SharedBucket {
  readonly name = 'global'
}

interface Chains {
  readonly shared: readonly GlobalBucket[]
  readonly own: readonly GlobalBucket[]
}

export class FrontBudgets {
  private readonly chains = new WeakMap<KeyFacts, Chains>()

  /** holds: whether nothing has changed that facts rest on. */
  constructor(
    private readonly cells: BucketCells,
    private readonly holds: (facts: KeyFacts) => boolean,
  ) {}

  /**
   * Take one check from every budget it counts against, or from none, as `Limits.admit` does.
   *
   * nowMs    the main thread's monotonic clock.
   * returns  null: nothing is limited; `stale`: the facts hold no longer, and their buckets may have been replaced.
   */
  admit(facts: KeyFacts, nowMs: number): Allowance | 'stale' | null {
    if (facts.budgets === null) return null
    const { shared, own } = this.chainsOf(facts)
    return this.cells.alone(() => {
      // buckets are replaced under the same lock
      if (!this.holds(facts)) return 'stale'
      for (const bucket of shared) refill(bucket, nowMs)
      for (const bucket of own) refill(bucket, nowMs)
      const refused = refusalBy(shared, own)
      if (refused !== null) return refused
      for (const bucket of shared) take(bucket)
      for (const bucket of own) take(bucket)
      return allowanceOf(shared, own)
    })
  }

  /** Give back the token of a check that the main thread will answer: the main thread takes it again. */
  giveBack(facts: KeyFacts): void {
    if (facts.budgets === null) return
    const { shared, own } = this.chainsOf(facts)
    this.cells.alone(() => {
      for (const chain of [shared, own])
        for (const bucket of chain) bucket.level = Math.min(bucket.level + 1, bucket.limit.burst)
    })
  }

  private chainsOf(facts: KeyFacts): Chains {
    let chains = this.chains.get(facts)
    if (chains === undefined) {
      const open = ({ place, limit }: BucketPlace) => new GlobalBucket(this.cells, place, limit)
      const { shared, own } = facts.budgets!
      chains = { shared: shared.map(open), own: own.map(open) }
      this.chains.set(facts, chains)
    }
    return chains
  }
}
