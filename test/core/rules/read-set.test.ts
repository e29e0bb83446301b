// Read sets of answers, in cases that the law of cached answers (workers/answers-stand.test.ts) rarely reaches.
import t from 'tap'
import { CachedPredicates, CounterTest, ReadSet } from '../../../src/core/rules/read-set.js'
import { addUsage, newCounter } from '../../../src/core/usage/counter.js'
import { minuteMs } from '../../../src/core/values/period.js'
import { company } from '../make.js'

const nowMs = Date.UTC(2026, 2, 31, 23, 59, 30)
const atLeast = new CounterTest('gte', 'call', 'all_time', 'first_of_month')

function called(times: number) {
  const counter = newCounter(nowMs)
  addUsage(counter, times, nowMs, nowMs, null)
  return company({ counters: [['call', counter]] })
}

t.test('comparisons differ by the quantity added and the number compared with', async t => {
  const tested = atLeast.tested(1, 5, true)
  t.equal(atLeast.tested(1, 5, true), tested, 'most are the same, and one object')
  t.strictSame({ ...atLeast.tested(1, 6, true), test: null }, { test: null, more: 1, than: 6, held: true })
  t.strictSame({ ...atLeast.tested(2, 6, true), test: null }, { test: null, more: 2, than: 6, held: true })
  t.strictSame({ ...atLeast.tested(2, 6, false), test: null }, { test: null, more: 2, than: 6, held: false })
})

t.test('FE-105 answers stay valid while each comparison has the same result', async t => {
  const told = CachedPredicates.at(nowMs)
  told.add([atLeast.tested(0, 5, false), atLeast.tested(2, 3, true)], nowMs)
  t.ok(told.holdAfter(called(4), 'call', nowMs))
  t.notOk(told.holdAfter(called(5), 'call', nowMs), 'the first holds now')
  t.notOk(told.holdAfter(called(0), 'call', nowMs), 'the second holds no more')
  t.ok(told.holdAfter(called(5), 'other', nowMs), 'nothing of it was used')
})

t.test('no answer outlives its minute, even when a clock is set back', async t => {
  const told = CachedPredicates.at(nowMs)
  told.add([atLeast.tested(0, 5, false)], nowMs)
  t.notOk(told.holdAfter(called(1), 'call', nowMs + minuteMs))
  t.ok(told.holdAfter(called(1), 'call', nowMs))
  told.add([], nowMs + minuteMs)
  t.notOk(told.holdAfter(called(1), 'call', nowMs), 'answers of two minutes')
})

t.test('more tests than are remembered, or none that is known: any use may bring another answer', async t => {
  const told = CachedPredicates.at(nowMs)
  for (let than = 100; than < 108; than++) told.add([atLeast.tested(0, than, false)], nowMs)
  t.ok(told.holdAfter(called(1), 'other', nowMs), 'eight')
  told.add([atLeast.tested(0, 107, false)], nowMs)
  t.ok(told.holdAfter(called(1), 'other', nowMs), 'the same again')
  told.add([atLeast.tested(0, 108, false)], nowMs)
  t.notOk(told.holdAfter(called(1), 'other', nowMs), 'nine')
  t.notOk(CachedPredicates.unknown.holdAfter(called(1), 'other', 0))
})

t.test('FE-52 counters of a billing cycle are figures', async t => {
  const reads = new ReadSet()
  reads.tested(atLeast, 0, 5, false)
  t.notOk(reads.figures)
  reads.tested(new CounterTest('gte', 'call', 'current_month', 'billing_cycle'), 0, 5, false)
  t.ok(reads.figures)
  t.equal(reads.tests.length, 1)
  reads.clear()
  t.strictSame([reads.figures, reads.tests.length], [false, 0])
})
