// One token bucket: full at start, refilled continuously, never above its burst.
import type { RateLimitBucket } from '../../../schemas/enums.js'

/** Rate and size of a bucket. */
export interface Limit {
  /** Tokens per second. */
  readonly ratePerSecond: number
  /** Capacity, whole tokens. */
  readonly burst: number
}

/** Tokens at an instant of a monotonic clock. Changed in place. */
export interface Bucket {
  limit: Limit
  /** Up to the burst, may be fractional (AL-44). Below 0 when more was taken than there was. */
  level: number
  /** When `level` held, ms of the caller's clock. */
  atMs: number
}

/** Tokens that were taken from one bucket, for the other nodes, which have copies of it. */
export type Spent = readonly [
  accountId: string,
  /** '' for a bucket of the whole account. */
  keyId: string,
  /** The cap of that key. */
  percent: number,
  /** Number of the group of requests that share it. */
  party: number,
  environmentId: string,
  bucket: RateLimitBucket,
  count: number,
]

// Sums of fractions may miss a whole token by the last bits of a double.
const slack = 1e-9

/** A full bucket (AL-40). */
export function fullBucket(limit: Limit, nowMs: number): Bucket {
  return { limit, level: limit.burst, atMs: nowMs }
}

/** Bring a bucket to the present. A clock that stepped back refills nothing. source: AL-40, AL-44 */
export function refill(bucket: Bucket, nowMs: number): void {
  const elapsedMs = nowMs - bucket.atMs
  if (elapsedMs <= 0) return
  const level = bucket.level + (elapsedMs * bucket.limit.ratePerSecond) / 1_000
  bucket.level = Math.min(level, bucket.limit.burst)
  bucket.atMs = nowMs
}

/** Whether a refilled bucket has a whole token. */
export function hasToken(bucket: Readonly<Bucket>): boolean {
  return bucket.level >= 1 - slack
}

/**
 * Take one token from a refilled bucket that has one. Where several limits apply, look at all before taking
 * from any (AL-40: all or none).
 */
export function take(bucket: Bucket): void {
  bucket.level = bucket.level > 1 ? bucket.level - 1 : 0
}

/**
 * Take many tokens at once from a refilled bucket, also more than it has: what a request turned out to cost, or what other
 * nodes took from their copies. Requests pass again once it has refilled.
 */
export function takeMany(bucket: Bucket, count: number): void {
  bucket.level -= count
}

/** Whole tokens left: X-RateLimit-Remaining (AL-42). */
export function remaining(bucket: Readonly<Bucket>): number {
  return Math.max(0, Math.floor(bucket.level + slack))
}

/** Whole seconds until full: X-RateLimit-Reset (AL-42). */
export function resetSeconds({ limit, level }: Readonly<Bucket>): number {
  return Math.ceil((limit.burst - level) / limit.ratePerSecond - slack)
}

/** Whole seconds until there is a token, at least 1: Retry-After (AL-42). */
export function retryAfterSeconds({ limit, level }: Readonly<Bucket>): number {
  return Math.max(1, Math.ceil((1 - level) / limit.ratePerSecond - slack))
}

/** The share of a limit that a capped key has: burst floored, at least 1; rate kept fractional (AL-43). */
export function capped(limit: Limit, percent: number): Limit {
  return {
    ratePerSecond: (limit.ratePerSecond * percent) / 100,
    burst: Math.max(1, Math.floor((limit.burst * percent) / 100)),
  }
}
