// A price by volume may cost less with more units: without proration nothing is charged for less, or for what was paid.
import t from 'tap'
import type { BillingFacts } from '../../../src/core/rating/facts.js'
import type { HistoryEntry } from '../../../src/core/rating/history.js'
import { periodsOf, ratePeriod } from '../../../src/core/rating/rate.js'
import { UsageTable } from '../../../src/core/rating/usage.js'
import { dayMs } from '../../../src/core/values/period.js'
import { itemPrice, subscription } from '../make.js'

const startMs = Date.UTC(2031, 0, 1)
const day = (n: number): number => startMs + n * dayMs
const tier = (upTo: number | null, perUnitPrice: number) => ({
  upTo,
  perUnitPrice,
  flatAmount: 0,
  perUnitPriceDecimal: null,
})
/** Up to 9 units at 100 each, more at 80 each. */
const seat = itemPrice('seat', '0', 1, { tiers: [tier(9, 100), tier(null, 80)], mode: 'volume' })

/** The amounts of January, whose quantity changes on some days; `~`: a change that is not prorated. */
function amounts(changes: Readonly<Record<string, number>>, prorates: boolean): number[] {
  const history = Object.entries(changes).map(([key, quantity]): HistoryEntry => {
    const atMs = day(Number(key.replace('~', '')))
    const state = subscription({
      id: 'sub',
      externalId: 'sub',
      periodStartMs: startMs,
      periodEndMs: day(30),
      intervalMonths: 1,
      anchorMs: null,
      items: [{ productId: 'prod', priceId: 'seat', quantity }],
      ...(key.startsWith('~') && { unproratedAtMs: atMs }),
    })
    return { kind: 'subscription', atMs, id: 'sub', state }
  })
  const facts: BillingFacts = {
    companyId: 'comp',
    history: history.sort((a, b) => a.atMs - b.atMs),
    versions: new Map(),
    fallback: [],
    itemPrices: new Map([['seat', [seat]]]),
    currencies: new Map([['sub', 'usd']]),
    currency: null,
    prorates,
    invoicesAtOnce: true,
    purchases: [],
    overdrafts: [],
    discounts: [],
    late: [],
  }
  const [january] = periodsOf(facts, day(29))
  return ratePeriod(facts, january!, new UsageTable([]), day(29)).lines.map(one => Number(one.amount))
}

t.test('RA-14 without proration nothing is charged for fewer units', async t => {
  t.same(amounts({ 0: 9, 10: 10, 20: 9 }, false), [900], '900 were paid, and 800 are owed')
  t.same(amounts({ 0: 10, 10: 9 }, false), [800])
  t.same(amounts({ 0: 10, 10: 9, 20: 10 }, false), [800], 'what comes again')
  t.same(amounts({ 0: 10, 5: 9, 10: 10, 15: 9, 20: 10 }, false), [800])
})

t.test('RA-14 without proration what was paid for counts, however it was reached', async t => {
  t.same(amounts({ 0: 9, 15: 12 }, false), [900, 30], 'half of 960 - 900')
  t.same(amounts({ 0: 9, 10: 10, 15: 12 }, false), [900, 30])
  t.same(amounts({ 0: 9, 10: 11, 15: 10, 20: 11 }, false), [900])
  t.same(amounts({ 0: 9, 10: 10, 15: 12, 20: 9, 25: 12 }, false), [900, 30], 'it comes again')
  t.same(amounts({ 0: 9, 10: 10, 15: 12, 20: 9, 24: 15 }, false), [900, 30, 48], 'a fifth of 1200 - 960')
})

t.test('RA-14, RA-29 changes that are not prorated are neither charged nor credited', async t => {
  t.same(amounts({ 0: 9, '~10': 10, 15: 12 }, false), [900, 30])
  t.same(amounts({ 0: 9, '~10': 10, 15: 9 }, true), [900])
  t.same(amounts({ 0: 2, '~10': 5, 15: 6 }, false), [200, 50])
})

t.test('RA-14 with proration each change is charged or credited', async t => {
  t.same(amounts({ 0: 9, 10: 10, 20: 9 }, true), [900, -67, 33])
  t.same(amounts({ 0: 10, 15: 12 }, true), [800, 80])
})
