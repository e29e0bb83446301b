// The counters of a company in one list behave as if each were alone: whatever the others hold, and after a snapshot.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { type Counter, Counters } from '../../../src/core/model/counters.js'
import { addUsage, newCounter, readAll } from '../../../src/core/usage/counter.js'
import { dayMs } from '../../../src/core/values/period.js'
import { seed } from '../../random.js'

const begunMs = Date.UTC(2027, 10, 28)
const minuteMs = 60_000

t.comment(`seed ${seed}`)

t.test('US-1 counters of one company are each what they would be alone, and after a snapshot', async () => {
  const name = fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 40 })).map(n => `event_${n}`)
  const quantity = fc.oneof(
    fc.integer({ min: -9, max: 99 }),
    fc.constantFrom(Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 2n ** 60n, -(2n ** 60n)),
  )
  const step = fc.record({
    name,
    quantity,
    /** Minutes since the step before, and those by which the event is dated after its message. */
    passed: fc.nat({ max: 4_000 }),
    ahead: fc.oneof(fc.integer({ min: -2_000, max: 5 }), fc.integer({ min: 0, max: 4_000 })),
    cycle: fc.constantFrom(null, 3, 17),
    kept: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), steps => {
      let all = new Counters()
      const alone = new Map<string, Counter>()
      let nowMs = begunMs
      for (const { name, quantity, passed, ahead, cycle: days, kept } of steps) {
        nowMs += passed * minuteMs
        const atMs = nowMs + ahead * minuteMs
        const startMs = days === null ? 0 : nowMs - (nowMs % (days * dayMs))
        const cycle = days === null ? null : { startMs, endMs: startMs + days * dayMs }
        const own = alone.get(name) ?? newCounter(nowMs)
        alone.set(name, own)
        addUsage(own, quantity, atMs, nowMs, cycle)
        addUsage(all.get(name) ?? all.add(name, nowMs), quantity, atMs, nowMs, cycle)
        if (kept) all = Counters.from([...all].map(([subtype, counter]) => [subtype, counter.stored()]))
        assert.deepEqual([...all.keys()], [...alone.keys()])
        for (const [subtype, counter] of all) {
          const other = alone.get(subtype)!
          assert.deepEqual(counter.stored(), other.stored())
          assert(counter.isStoredAs(other.stored()))
          assert.deepEqual(readAll(counter, nowMs, cycle), readAll(other, nowMs, cycle))
        }
      }
    }),
    { seed, numRuns: 300 },
  )
})

t.test('US-1 a counter differs from a snapshot of what it was before a use', async t => {
  const counter = newCounter(begunMs)
  addUsage(counter, 1, begunMs, begunMs, null)
  const before = counter.stored()
  t.ok(counter.isStoredAs(before))
  addUsage(counter, 2n ** 60n, begunMs, begunMs, null)
  t.notOk(counter.isStoredAs(before))
  const large = counter.stored()
  addUsage(counter, 1, begunMs + 20 * dayMs, begunMs, null)
  t.notOk(counter.isStoredAs(large), 'dated ahead')
})
