// Retry-After of an answer.
import t from 'tap'
import { retryAfterMs } from '../../../src/core/values/retry-after.js'

t.test('security 45 Retry-After is a number of seconds or a date', t => {
  const date = 'Sat, 28 Nov 2026 12:00:00 GMT'
  const nowMs = Date.parse('2026-11-28T13:00:00Z')
  const cases: readonly (readonly [string | null, string | null, number])[] = [
    ['60', date, 60_000],
    [' 0.5 ', null, 500],
    ['Sat, 28 Nov 2026 12:01:00 GMT', date, 60_000],
    ['Sat, 28 Nov 2026 13:01:00 GMT', null, 60_000],
    ['Sat, 28 Nov 2026 11:00:00 GMT', date, 0],
    ['-5', date, 0],
    ['soon', date, 0],
    ['', date, 0],
    [null, null, 0],
  ]
  for (const [value, own, ms] of cases) t.equal(retryAfterMs(value, own, nowMs), ms, String(value))
  t.end()
})
