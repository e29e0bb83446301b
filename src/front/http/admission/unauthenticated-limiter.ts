// Unauthenticated callers: a limit per address, and the count and log of failures.
import {
  type Bucket,
  fullBucket,
  hasToken,
  refill,
  retryAfterSeconds,
  take,
} from '../../../core/values/bucket.js'
import { ServiceError } from '../../../errors.js'
import type { Logger } from '../../../log.js'
import type { Metrics } from '../../../metrics.js'
import type { AuditSink } from './audit-entry.js'
import { networkOf } from './network-of.js'

/** Addresses in memory; a new one replaces the oldest. */
const peersMax = 10_000
/** Burst of an address, in seconds of its rate. */
const burstSeconds = 20
const tellEveryMs = 1_000

interface UnauthenticatedLimiterOptions {
  /** Failed authentications per second and address; 0: no limit. */
  readonly ratePerSecond: number
  readonly log: Logger
  readonly metrics: Metrics['authFailures']
  /** The audit log. It gets one row per ten seconds. */
  readonly audit?: AuditSink | undefined
}

/** A bucket per address. A failed authentication takes one token, and so does a body that is searched for keys. */
export class UnauthenticatedLimiter {
  private readonly buckets = new Map<string, Bucket>()
  private toldAtMs = Number.NEGATIVE_INFINITY
  private untold = 0

  constructor(private readonly options: UnauthenticatedLimiterOptions) {}

  /** Whether an address has a token left. None is taken. */
  may(address: string, nowMs: number): boolean {
    return this.options.ratePerSecond === 0 || hasToken(this.bucket(address, nowMs))
  }

  /** Take a token of an address before work is done for it. errors: rate_limited (429). */
  take(address: string, nowMs: number): void {
    if (this.options.ratePerSecond === 0) return
    const bucket = this.bucket(address, nowMs)
    if (!hasToken(bucket)) throw this.refusal(bucket)
    take(bucket)
  }

  /** Return the token of an address whose caller turned out to have a known key. */
  giveBack(address: string, nowMs: number): void {
    if (this.options.ratePerSecond === 0) return
    const bucket = this.bucket(address, nowMs)
    bucket.level = Math.min(bucket.level + 1, bucket.limit.burst)
  }

  /**
   * Record a failed authentication.
   *
   * secret   the key used; '' for none. Only a key in our format is logged, with its first characters.
   * paid     its token has been taken already.
   * why      what is wrong with the key, in words.
   * returns  401, or 429 when its address has failed too often. source: AL-1; the limit: decision.
   */
  failed(address: string, secret: string, nowMs: number, paid = false, why?: string): ServiceError {
    const { metrics } = this.options
    ;(secret === '' ? metrics.missing : metrics.unknown).count++
    this.tell(address, secret, nowMs)
    if (!paid && this.options.ratePerSecond > 0) {
      const bucket = this.bucket(address, nowMs)
      if (!hasToken(bucket)) return this.refusal(bucket)
      take(bucket)
    }
    return new ServiceError('key_unknown', why)
  }

  private refusal(bucket: Bucket): ServiceError {
    this.options.metrics.limited.count++
    return new ServiceError('rate_limited', 'Too many requests without a valid key', {
      extra: { bucket: 'failed_authentication' },
      retryAfterSeconds: retryAfterSeconds(bucket),
    })
  }

  /** Log one line per second, with the number of failures. */
  private tell(address: string, secret: string, nowMs: number): void {
    this.untold++
    if (nowMs - this.toldAtMs < tellEveryMs) return
    const failures = this.untold
    this.toldAtMs = nowMs
    this.untold = 0
    const shown = prefixOf(secret)
    this.options.log.warn({ peer: address, key_prefix: shown, failures }, 'authentication failed')
    this.options.audit?.failed({ remoteIp: address, keyPrefix: shown, count: failures })
  }

  private bucket(address: string, nowMs: number): Bucket {
    const peer = networkOf(address)
    let bucket = this.buckets.get(peer)
    if (bucket === undefined) {
      if (this.buckets.size >= peersMax) this.forgetOldest()
      const { ratePerSecond } = this.options
      bucket = fullBucket({ ratePerSecond, burst: ratePerSecond * burstSeconds }, nowMs)
      this.buckets.set(peer, bucket)
    }
    refill(bucket, nowMs)
    return bucket
  }

  private forgetOldest(): void {
    for (const peer of this.buckets.keys()) {
      this.buckets.delete(peer)
      return
    }
  }
}

const prefixOf = (secret: string): string =>
  /^(?:sk|pk)_(?:prod|stag|dev|acct)_[\w-]{4}/.exec(secret)?.[0] ?? ''
