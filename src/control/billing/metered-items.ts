// Metered items of subscriptions: what is billed by use, with the use of the running period so far (RA-27).
import { meteredNow, meteredUses, periodsOf } from '../../core/rating/rate.js'
import { quantityFromText, storedQuantity } from '../../core/values/quantity.js'
import { among } from '../../kit/sql.js'
import { inParallel } from '../../turns/in-parallel.js'
import type { ChargesPlace } from '../charges/charges.js'
import { billingFacts } from '../charges/facts.js'
import { rated } from '../charges/rated.js'
import type { BillingPriceRow } from '../prices/rows.js'
import type { SubscribedProduct, SubscriptionRow } from './record-rows.js'
import { soldBy, subscribedProduct } from './sold-price.js'

/** Companies rated at the same time. */
const atOnce = 4

/**
 * Subscriptions with their metered items behind what they sell in advance. A subscription that a provider reports with such
 * an item keeps the item, with the use of the period as its quantity.
 *
 * errors  store_away (503) while Postgres is down, or ClickHouse where a subscription sells something by use.
 * source  RA-27.
 */
export async function withMeteredItems(
  place: ChargesPlace,
  rows: readonly SubscriptionRow[],
): Promise<SubscriptionRow[]> {
  const { services, environment, nowMs } = place
  const companyIds = [...new Set(rows.flatMap(row => row.company_id ?? []))]
  const facts = await billingFacts(services.sql, environment.id, companyIds)
  const metered = companyIds.filter(id => meteredNow(facts.get(id)!, nowMs).length > 0)
  if (metered.length === 0) return [...rows]
  await services.projections.barrierOf('clickhouse', environment.id)
  const uses = await inParallel(metered, atOnce, async id => {
    const known = facts.get(id)!
    const period = periodsOf(known, nowMs).find(one => one.startMs <= nowMs && nowMs < one.endMs)
    if (period === undefined) return []
    // what was received in this very millisecond counts
    return meteredUses(known, await rated(services, environment.id, known, period, nowMs + 1), nowMs)
  })
  const all = uses.flat()
  const prices = await services.sql<BillingPriceRow[]>`
    select * from billing_prices where id in ${among(services.sql, [...new Set(all.map(one => one.priceId))])}`
  const priceOf = new Map(prices.map(row => [row.id, row]))
  return rows.map(row => {
    const own = all.filter(one => one.subscriptionId === row.id)
    const quantities = new Map(own.map(one => [one.priceId, Number(one.units)]))
    const products = row.products.map(item => ({
      ...item,
      quantity:
        item.usage_type === 'metered' ? (quantities.get(item.price_id) ?? item.quantity) : item.quantity,
    }))
    const known = new Set(row.products.map(item => item.price_id))
    const added = own.flatMap(({ priceId, threshold }): SubscribedProduct[] => {
      const price = priceOf.get(priceId)
      if (price === undefined || known.has(priceId)) return []
      return [meteredItem(price, quantities.get(priceId)!, threshold)]
    })
    return { ...row, products: [...products, ...added] }
  })
}

function meteredItem(price: BillingPriceRow, quantity: number, threshold: bigint | null): SubscribedProduct {
  return {
    ...subscribedProduct(soldBy(price, 'native'), quantity),
    usage_type: 'metered',
    billing_threshold: threshold === null ? null : storedQuantity(quantityFromText(String(threshold))),
    meter_id: price.meter_id,
  }
}
