// The buckets that all fronts share, as one of them takes from them.
import type { RateLimitBucket } from '../../schemas/enums.js'
import { type Limit, refill, take, takeMany } from '../../src/core/values/bucket.js'
import { type Allowance, allowanceOf, refusal, refusalBy } from '../../src/front/http/admission/allowance.js'
import { type BucketCells, SharedBucket } from '../../src/wire/bucket-cells.js'
import type { BucketPlace, Budgets, KeyFacts } from '../../src/wire/front-facts.js'

class NamedBucket extends SharedBucket {
  constructor(
    cells: BucketCells,
    readonly name: RateLimitBucket,
    place: number,
    limit: Limit,
  ) {
    super(cells, place, limit)
  }
}

interface Chains {
  readonly shared: readonly NamedBucket[]
  readonly own: readonly NamedBucket[]
}

export class FrontBudgets {
  private readonly chains = new WeakMap<Budgets, Chains>()

  /** holds: whether nothing has changed that facts rest on. */
  constructor(
    private readonly cells: BucketCells,
    private readonly holds: (facts: KeyFacts) => boolean,
  ) {}

  /**
   * Take one request from every budget it counts against, or from none, as `Limits.admit` does.
   *
   * budgets  of the facts: of checks, or of events.
   * nowMs    the main thread's monotonic clock.
   * returns  null: nothing is limited; `stale`: the facts hold no longer, and their buckets may have been replaced.
   */
  admit(facts: KeyFacts, budgets: Budgets | null, nowMs: number): Allowance | 'stale' | null {
    if (budgets === null) return null
    const { shared, own } = this.chainsOf(budgets)
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

  /**
   * Charge a request that was admitted with further tokens, as `Limits.charge` does: all of them from each bucket, or none.
   *
   * returns  null: they are taken; the refusal where a bucket is overdrawn already; `stale` as of `admit`.
   */
  charge(
    facts: KeyFacts,
    budgets: Budgets | null,
    tokens: number,
    nowMs: number,
  ): Allowance | 'stale' | null {
    if (budgets === null) return null
    const { shared, own } = this.chainsOf(budgets)
    const chain = [...shared, ...own]
    return this.cells.alone(() => {
      if (!this.holds(facts)) return 'stale'
      for (const bucket of chain) refill(bucket, nowMs)
      for (const bucket of chain) if (bucket.level < 0) return refusal(bucket, bucket)
      for (const bucket of chain) takeMany(bucket, tokens)
      return null
    })
  }

  /** Give back the tokens of a request that the main thread will answer: the main thread takes them again. */
  giveBack(budgets: Budgets | null, tokens: number): void {
    if (budgets === null || tokens === 0) return
    const { shared, own } = this.chainsOf(budgets)
    this.cells.alone(() => {
      for (const chain of [shared, own])
        for (const bucket of chain) bucket.level = Math.min(bucket.level + tokens, bucket.limit.burst)
    })
  }

  private chainsOf(budgets: Budgets): Chains {
    let chains = this.chains.get(budgets)
    if (chains === undefined) {
      const open = ({ name, place, limit }: BucketPlace) => new NamedBucket(this.cells, name, place, limit)
      const { shared, own } = budgets
      chains = { shared: shared.map(open), own: own.map(open) }
      this.chains.set(budgets, chains)
    }
    return chains
  }
}
