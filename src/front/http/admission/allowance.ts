// The answer of budgets to a caller: the rate-limit headers, and the bucket that refuses (AL-42).
import type { RateLimitBucket } from '../../../../schemas/enums.js'
import {
  type Bucket,
  hasToken,
  remaining,
  resetSeconds,
  retryAfterSeconds,
} from '../../../core/values/bucket.js'

/** A bucket of one of the limits. */
export interface NamedLevel extends Bucket {
  readonly name: RateLimitBucket
}

/** Values of the rate-limit headers (AL-42). A refusal also has its bucket and Retry-After. */
export interface Allowance {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
  readonly refused: { readonly bucket: RateLimitBucket; readonly retryAfterSeconds: number } | null
}

/**
 * The refusal of a request by its buckets, which are refilled up to now; null: each of them has a token.
 *
 * shared  the buckets of the account.
 * own     the buckets of a capped key, in the same order; empty where the key has no cap.
 * source  decision, AL-43: the headers of a capped key describe its own limit, even if the account's limit refuses;
 *         Retry-After is the account's.
 */
export function refusalBy(shared: readonly NamedLevel[], own: readonly NamedLevel[]): Allowance | null {
  const over = firstBlocked(own)
  if (over !== null) return refusal(over, over)
  const exhausted = firstBlocked(shared)
  return exhausted === null ? null : refusal(own[shared.indexOf(exhausted)] ?? exhausted, exhausted)
}

/** The rate-limit headers of a request that took its tokens. `shared`, `own`: as of `refusalBy`. */
export function allowanceOf(shared: readonly NamedLevel[], own: readonly NamedLevel[]): Allowance {
  const bucket = tightest(own.length > 0 ? own : shared)
  return {
    limit: bucket.limit.burst,
    remaining: remaining(bucket),
    resetSeconds: resetSeconds(bucket),
    refused: null,
  }
}

/** The first bucket without a token; null: all have one. */
function firstBlocked(chain: readonly NamedLevel[]): NamedLevel | null {
  for (const bucket of chain) if (!hasToken(bucket)) return bucket
  return null
}

// The bucket with the fewest remaining requests; ties: the longer reset (AL-42).
function tightest(chain: readonly NamedLevel[]): NamedLevel {
  let found = chain[0]!
  for (let i = 1; i < chain.length; i++) {
    const other = chain[i]!
    const gap = remaining(other) - remaining(found)
    if (gap < 0 || (gap === 0 && resetSeconds(other) > resetSeconds(found))) found = other
  }
  return found
}

/** A request must wait for `blocking`; the headers describe `shown`. */
export function refusal(shown: NamedLevel, blocking: NamedLevel): Allowance {
  return {
    limit: shown.limit.burst,
    remaining: remaining(shown),
    resetSeconds: resetSeconds(shown),
    refused: { bucket: blocking.name, retryAfterSeconds: retryAfterSeconds(blocking) },
  }
}
