// Pings and pongs of one WebSocket. The server answers each ping by itself, whether its peer reads or not, so they are bounded
// where they come in (security H1).
import { type Bucket, fullBucket, hasToken, refill, take } from '../../../core/values/bucket.js'

/** Honest peers send one in many seconds. source: decision */
const limit = { ratePerSecond: 10, burst: 100 }
/** Answers to pings that may wait for a peer. */
const unreadMax = 100

export class ControlFrames {
  private bucket: Bucket | null = null
  private unread = 0

  /**
   * One has come.
   *
   * waiting  bytes that wait for the peer.
   * returns  whether the connection may stay.
   */
  took(waiting: number): boolean {
    const nowMs = performance.now()
    this.bucket ??= fullBucket(limit, nowMs)
    refill(this.bucket, nowMs)
    if (!hasToken(this.bucket)) return false
    take(this.bucket)
    this.unread = waiting === 0 ? 0 : this.unread + 1
    return this.unread <= unreadMax
  }
}

/** The close of a connection that may not stay. */
export const tooManyPings = [1008, 'Too many pings'] as const
