// The words of a budget to its caller: the rate-limit headers, and which budget refuses (AL-42).
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

/** The first bucket without a token; null: all have one. */
export function firstBlocked<Named extends NamedLevel>(chain: readonly Named[]): Named | null {
  for (const bucket of chain) if (!hasToken(bucket)) return bucket
  return null
}

// The bucket with the fewest remaining requests; ties: the longer reset (AL-42).
export function tightest<Named extends NamedLevel>(chain: readonly Named[]): Named {
  let found = chain[0]!
  for (let i = 1; i < chain.length; i++) {
    const other = chain[i]!
    const gap = remaining(other) - remaining(found)
    if (gap < 0 || (gap === 0 && resetSeconds(other) > resetSeconds(found))) found = other
  }
  return found
}

/** A request passed. */
export function allowance(bucket: NamedLevel): Allowance {
  return {
    limit: bucket.limit.burst,
    remaining: remaining(bucket),
    resetSeconds: resetSeconds(bucket),
    refused: null,
  }
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
