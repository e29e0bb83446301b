// Rate limits of accounts and keys, shared by all nodes: each node decides on its own copy of a bucket, and ten times a
// second tells the others in one batch what it took. A node that is not reached then is not told of that batch.
import type { Spent } from '../core/values/bucket.js'
import type { Peer } from './link.js'

const settleMs = 100

/** The limiter of a node. */
export interface SharedLimits {
  /** Keep from now on what is taken. */
  share(): void
  /** Tokens taken here since the last call. */
  takeSpent(): readonly Spent[]
  /** Take from this node's copies what was taken from another's. */
  spentElsewhere(spent: readonly Spent[], nowMs: number): void
}

export class SharedBudgets {
  private readonly timer: NodeJS.Timeout

  constructor(
    private readonly limits: SharedLimits,
    private readonly others: () => Iterable<Pick<Peer, 'call'>>,
  ) {
    limits.share()
    this.timer = setInterval(() => this.settle(), settleMs)
  }

  /** A batch of another node. */
  take(spent: readonly Spent[]): void {
    this.limits.spentElsewhere(spent, performance.now())
  }

  close(): void {
    clearInterval(this.timer)
  }

  private settle(): void {
    const spent = this.limits.takeSpent()
    if (spent.length > 0) for (const other of this.others()) other.call('spent', spent).catch(() => {})
  }
}
