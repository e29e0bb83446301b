// Quantities bought in advance end with the last version held that sells them (EN-71, N8).
import t from 'tap'
import type { Catalog } from '../../../src/core/catalog.js'
import type { Company, PlanHolding } from '../../../src/core/model/company-state.js'
import type { Effect } from '../../../src/core/model/message.js'
import { withEndedSeats } from '../../../src/core/plans/seats.js'

const sells = [{ featureId: 'feat_1', priceBehavior: 'pay_in_advance' }]
const versions = [
  { id: 'v1', entitlements: sells },
  { id: 'v2', entitlements: [] },
  { id: 'v3', entitlements: sells },
]
const catalog = {
  plans: new Map([['plan_1', { def: { versions } }]]),
  traits: new Map([['trdf_1', { name: 'seats' }]]),
  data: { features: [{ id: 'feat_1', usageLimitTraitId: 'trdf_1' }] },
} as unknown as Catalog
const on = (versionId: string) =>
  ({ planId: 'plan_1', versionId, addedAtMs: 0, priceId: null, trial: null }) as PlanHolding

const company = (versionId: string, seats: string | undefined) =>
  ({ plan: on(versionId), addOns: [], traits: { text: () => seats } }) as unknown as Company

t.test('N8 seats end with the version that sells them, and no later version brings them back', async t => {
  const moves = (to: string): Effect[] => [{ t: 'plan', plan: on(to) }]
  const ended = { t: 'trait', name: 'seats', value: '0', atMs: 7 }
  t.same(withEndedSeats(company('v1', '3'), catalog, moves('v2'), 7), [...moves('v2'), ended])
  t.same(withEndedSeats(company('v1', '3'), catalog, moves('v3'), 7), moves('v3'), 'sold on')
  t.same(
    withEndedSeats(company('v2', '3'), catalog, moves('v3'), 7),
    moves('v3'),
    'not sold before: left alone',
  )
  t.same(withEndedSeats(company('v1', '0'), catalog, moves('v2'), 7), moves('v2'))
  const gone: Effect[] = [{ t: 'plan', plan: null }]
  t.same(withEndedSeats(company('v1', '3'), catalog, gone, 7), [...gone, ended])
})
