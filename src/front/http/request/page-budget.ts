// The bytes of pages that callers without a key may have: a budget that all readers share (security L5).
import { fullBucket, hasToken, refill, takeMany } from '../../../core/values/bucket.js'
import { ServiceError } from '../../../errors.js'
import type { AppResponse } from '../apps/app.js'
import { failure, headOf } from './respond.js'

/** Bytes that all readers together are given a second, and at once. */
const pageBytes = { ratePerSecond: 16 << 20, burst: 32 << 20 }

export class PageBudget {
  private readonly bucket = fullBucket(pageBytes, performance.now())

  /**
   * Take the bytes of a page. A page longer than the rest of the budget is the last for a while.
   *
   * returns  false when nothing is left: then the answer is 429, and written.
   */
  take(res: AppResponse, bytes: number): boolean {
    refill(this.bucket, performance.now())
    const isLeft = hasToken(this.bucket)
    if (isLeft) takeMany(this.bucket, bytes)
    else tellError(res, new ServiceError('rate_limited', undefined, { retryAfterSeconds: 1 }))
    return isLeft
  }
}

/** Answer a request for a page with an error. */
export function tellError(res: AppResponse, error: ServiceError): void {
  const { status, headers, body } = failure(error, '')
  res.writeStatus(headOf(status, headers)).end(body)
}
