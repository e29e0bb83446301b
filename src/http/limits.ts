// The budgets of accounts and the caps of keys (service.md section 8; AL-40…46).
import { type RateLimitBucket, rateLimitBuckets } from '../../schemas/enums.js'
import type { KeyRecord } from '../api/call.js'
import type { LimitSetting } from '../config.js'
import {
  type Bucket,
  capped,
  fullBucket,
  hasToken,
  type Limit,
  refill,
  remaining,
  resetSeconds,
  retryAfterSeconds,
  take,
} from '../core/bucket.js'
import type { LimitKind } from './route.js'

/** One limit per bucket of the interface. */
export type LimitTable = Readonly<Record<RateLimitBucket, Limit>>

/** The numbers of service.md section 8. */
export const defaultLimits: LimitTable = {
  global: { ratePerSecond: 300, burst: 600 },
  mutation: { ratePerSecond: 120, burst: 120 },
  events_ingest: { ratePerSecond: 50, burst: 150 },
  analytics: { ratePerSecond: 12, burst: 30 },
}

/** The table a setting stands for; null: no limits. Buckets a setting does not name keep the interface's numbers. */
export function limitTable(setting: LimitSetting): LimitTable | null {
  if (setting === 'off') return null
  return setting === 'default' ? defaultLimits : { ...defaultLimits, ...setting }
}

/** What the headers of a response say (AL-42); a refusal names its bucket and when to come back. */
export interface Allowance {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
  readonly refused: { readonly bucket: RateLimitBucket; readonly retryAfterSeconds: number } | null
}

// The buckets of one account, or of one capped key. Global and mutation exist twice (AL-41).
class Budget {
  private readonly chains: Readonly<Record<LimitKind, readonly [NamedBucket[], NamedBucket[]]>>

  constructor(
    readonly table: LimitTable,
    nowMs: number,
  ) {
    const bucket = (name: RateLimitBucket): NamedBucket => ({ name, ...fullBucket(table[name], nowMs) })
    const globals = [bucket('global'), bucket('global')] as const
    const mutations = [bucket('mutation'), bucket('mutation')] as const
    const ingest = bucket('events_ingest')
    const analytics = bucket('analytics')
    // Table order: the first blocked one is the one a refusal names (AL-42).
    this.chains = {
      read: [[globals[0]], [globals[1]]],
      check: [[globals[0]], [globals[1]]],
      mutation: [
        [globals[0], mutations[0]],
        [globals[1], mutations[1]],
      ],
      ingest: [
        [globals[0], ingest],
        [globals[1], ingest],
      ],
      analytics: [
        [globals[0], analytics],
        [globals[1], analytics],
      ],
    }
  }

  /** The buckets that apply, brought to the present. */
  applying(kind: LimitKind, production: boolean, nowMs: number): readonly NamedBucket[] {
    const chain = this.chains[kind][production ? 1 : 0]
    for (const bucket of chain) refill(bucket, nowMs)
    return chain
  }
}

interface NamedBucket extends Bucket {
  readonly name: RateLimitBucket
}

/** Budgets of every account that asked something, and of every capped key. Bounded by the accounts and keys there are. */
export class Limits {
  private readonly accounts = new Map<string, Budget | null>()
  private readonly keys = new Map<string, { readonly percent: number; readonly budget: Budget }>()
  private readonly own = new Map<string, LimitTable | null>()

  /** `table` null: no limits unless an account has its own. */
  constructor(private readonly table: LimitTable | null) {}

  /**
   * Give one account its own limits ("limits can be raised per account on request"), or take them back.
   *
   * table    a table; `null`: no limits at all; `undefined`: those of everyone.
   * effect   its buckets, and those of its capped keys at their next request, start full.
   */
  setAccount(accountId: string, table: LimitTable | null | undefined): void {
    if (table === undefined) this.own.delete(accountId)
    else this.own.set(accountId, table)
    this.accounts.delete(accountId)
    this.keys.clear()
  }

  /**
   * Take one request from every budget it counts against, or from none.
   *
   * production  AL-41: a request without an environment counts as production.
   * nowMs       a monotonic clock (AL-44).
   * returns     what the headers say, or null where nothing is limited.
   * source      AL-40…46
   */
  admit(key: KeyRecord, kind: LimitKind, production: boolean, nowMs: number): Allowance | null {
    const account = this.accountBudget(key.accountId, nowMs)
    if (account === null) return null
    const shared = account.applying(kind, production, nowMs)
    const percent = key.rateLimitPercent
    if (percent === null || percent === 0) {
      const blocked = firstBlocked(shared)
      if (blocked !== null) return refusal(blocked, blocked)
      for (const bucket of shared) take(bucket)
      return allowance(tightest(shared))
    }
    const mine = this.keyBudget(key, percent, account.table, nowMs).applying(kind, production, nowMs)
    const over = firstBlocked(mine)
    if (over !== null) return refusal(over, over)
    const exhausted = firstBlocked(shared)
    // source: decision, AL-43: the headers of a capped key describe its own limit also when it is the
    // account's that refuses; when to come back is the account's.
    if (exhausted !== null) return refusal(mine[shared.indexOf(exhausted)]!, exhausted)
    for (const bucket of shared) take(bucket)
    for (const bucket of mine) take(bucket)
    return allowance(tightest(mine))
  }

  private accountBudget(accountId: string, nowMs: number): Budget | null {
    const known = this.accounts.get(accountId)
    if (known !== undefined) return known
    const own = this.own.get(accountId)
    const table = own === undefined ? this.table : own
    const budget = table === null ? null : new Budget(table, nowMs)
    this.accounts.set(accountId, budget)
    return budget
  }

  // A changed cap starts full (AL-46).
  private keyBudget(key: KeyRecord, percent: number, table: LimitTable, nowMs: number): Budget {
    const known = this.keys.get(key.id)
    if (known !== undefined && known.percent === percent) return known.budget
    const budget = new Budget(share(table, percent), nowMs)
    this.keys.set(key.id, { percent, budget })
    return budget
  }
}

function share(table: LimitTable, percent: number): LimitTable {
  const entries = rateLimitBuckets.map(name => [name, capped(table[name], percent)] as const)
  return Object.fromEntries(entries) as Record<RateLimitBucket, Limit>
}

function firstBlocked(chain: readonly NamedBucket[]): NamedBucket | null {
  for (const bucket of chain) if (!hasToken(bucket)) return bucket
  return null
}

// Fewest remaining requests; ties go to the longer reset (AL-42).
function tightest(chain: readonly NamedBucket[]): NamedBucket {
  let found = chain[0]!
  for (let i = 1; i < chain.length; i++) {
    const other = chain[i]!
    const gap = remaining(other) - remaining(found)
    if (gap < 0 || (gap === 0 && resetSeconds(other) > resetSeconds(found))) found = other
  }
  return found
}

function allowance(bucket: NamedBucket): Allowance {
  return {
    limit: bucket.limit.burst,
    remaining: remaining(bucket),
    resetSeconds: resetSeconds(bucket),
    refused: null,
  }
}

function refusal(shown: NamedBucket, blocking: NamedBucket): Allowance {
  return {
    limit: shown.limit.burst,
    remaining: remaining(shown),
    resetSeconds: resetSeconds(shown),
    refused: { bucket: blocking.name, retryAfterSeconds: retryAfterSeconds(blocking) },
  }
}
