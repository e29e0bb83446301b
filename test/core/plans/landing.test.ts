// Where a downgrade that waits lands: what the plans taken up commit to.
import t from 'tap'
import { compileCatalog } from '../../../src/core/catalog.js'
import { landed } from '../../../src/core/plans/landing.js'
import { dayMs } from '../../../src/core/values/period.js'
import {
  catalogData,
  company,
  entitlement,
  feature,
  holding,
  plan,
  planVersion,
  subscription,
  trait,
} from '../make.js'

const start = Date.UTC(2031, 0, 1)
const endMs = start + 31 * dayMs
const price = (id: string) => ({ id, currency: 'usd', months: 1, productId: `prod_${id}` })
/** A plan that sells seats, and commits to some of them. */
const seller = (id: string, planType: 'add_on' | 'plan', committed: number | undefined) =>
  plan(id, [], {
    planType,
    versions: [
      planVersion(`${id}_v1`, {
        entitlements: [
          {
            ...entitlement('seats', { id: `ent_${id}`, priceBehavior: 'pay_in_advance' }),
            prices: [price(`${id}_seat`)],
            ...(committed !== undefined && { committed }),
          },
        ],
      }),
    ],
  })

t.test('EN-35 a downgrade lands on the largest commitment to seats that several plans sell', async t => {
  const landing = (
    ofPlan: number | undefined,
    ofAddOn: number | undefined,
    had: number,
    bought = 'low_seat',
  ) => {
    const catalog = compileCatalog(
      catalogData({
        traits: [trait('seats')],
        features: [feature('seats', { featureType: 'license', usageLimitTraitId: 'trt_seats' })],
        plans: [plan('high', []), seller('low', 'plan', ofPlan), seller('more', 'add_on', ofAddOn)],
      }),
    )
    const item = { productId: `prod_${bought}`, priceId: bought, quantity: had }
    const then = subscription({ intervalMonths: 1, anchorMs: start, items: had === 0 ? [] : [item] })
    const { quantities, subscription: paid } = landed(company({ plan: holding('high') }), catalog, {
      effectiveAtMs: endMs,
      plan: holding('low', { versionId: 'low_v1' }),
      addOns: [holding('more', { versionId: 'more_v1' })],
      quantities: [{ trait: 'seats', quantity: had }],
      subscription: then,
    })
    return [quantities![0]!.quantity, paid!.items!.map(one => `${one.priceId} ${one.quantity}`)]
  }
  t.same(landing(5, undefined, 2), [5, ['low_seat 5']], 'an add-on that commits to none')
  t.same(landing(5, 3, 2), [5, ['low_seat 5']])
  t.same(landing(3, 5, 2), [5, ['low_seat 5']], 'the seats that are paid already become more')
  t.same(landing(3, 5, 2, 'more_seat'), [5, ['more_seat 5']])
  t.same(landing(5, 3, 0), [5, ['low_seat 5']], 'at the price of the plan that commits to them')
  t.same(landing(3, 5, 0), [5, ['more_seat 5']])
  t.same(landing(3, 5, 9), [9, ['low_seat 9']], 'what was bought is never lowered')
})
