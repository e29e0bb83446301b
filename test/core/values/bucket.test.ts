// One token bucket: AL-40, AL-42, AL-43, AL-44.
import t from 'tap'
import {
  capped,
  fullBucket,
  hasToken,
  refill,
  remaining,
  resetSeconds,
  retryAfterSeconds,
  take,
} from '../../../src/core/values/bucket.js'

const analytics = { ratePerSecond: 12, burst: 30 }

t.test('AL-40 a bucket is full at start and refills continuously, never above its burst', async t => {
  const bucket = fullBucket(analytics, 0)
  t.equal(remaining(bucket), 30)
  for (let i = 0; i < 30; i++) take(bucket)
  t.notOk(hasToken(bucket))
  refill(bucket, 1_000)
  t.equal(remaining(bucket), 12)
  refill(bucket, 60_000)
  t.equal(remaining(bucket), 30)
})

t.test('AL-44 fractions of tokens are kept, and sum to whole ones', async t => {
  const bucket = fullBucket({ ratePerSecond: 10, burst: 1 }, 0)
  take(bucket)
  for (let ms = 1; ms < 100; ms++) refill(bucket, ms)
  t.notOk(hasToken(bucket), '99 ms at 10/s are not yet a token')
  refill(bucket, 100)
  t.ok(hasToken(bucket))
})

t.test('a clock that stepped back refills nothing, and what it then regains counts once', async t => {
  const bucket = fullBucket(analytics, 10_000)
  for (let i = 0; i < 30; i++) take(bucket)
  refill(bucket, 5_000)
  t.equal(remaining(bucket), 0)
  refill(bucket, 10_000)
  t.equal(remaining(bucket), 0)
  refill(bucket, 10_500)
  t.equal(remaining(bucket), 6)
})

t.test('AL-42 the figures: remaining is floored, reset and retry are rounded up', async t => {
  const bucket = fullBucket(analytics, 0)
  t.equal(resetSeconds(bucket), 0, 'a full bucket needs no time')
  take(bucket)
  t.equal(resetSeconds(bucket), 1)
  t.equal(retryAfterSeconds(bucket), 1, 'at least one second')
  const slow = fullBucket({ ratePerSecond: 0.12, burst: 1 }, 0)
  take(slow)
  t.equal(retryAfterSeconds(slow), 9)
  t.equal(resetSeconds(slow), 9)
})

t.test('AL-43 a cap floors the burst, keeps the rate fractional, and leaves at least one', async t => {
  t.same(capped(analytics, 1), { ratePerSecond: 0.12, burst: 1 })
  t.same(capped(analytics, 99), { ratePerSecond: 11.88, burst: 29 })
  t.same(capped({ ratePerSecond: 300, burst: 600 }, 10), { ratePerSecond: 30, burst: 60 })
})
