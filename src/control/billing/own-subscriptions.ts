// Subscriptions that the service bills itself, read together with the state of their companies.
//
// The company's state says what is sold, at which prices and until when, because time and migrations change it.
// The stored row keeps the rest: customer, discounts, payment method.
import type { Sql } from 'postgres'
import type { SubscribedItem, SubscriptionState } from '../../core/model/company-state.js'
import type { CompanyDescription, CompanySnapshot } from '../../core/model/descriptions.js'
import { derivedId } from '../../core/values/id.js'
import {
  lesserQuantity,
  multiplyQuantity,
  type Quantity,
  quantityMax,
  readQuantity,
  storedQuantity,
  sumOf,
} from '../../core/values/quantity.js'
import { type EntityPlace, isKnown } from '../../kit/entities.js'
import { among } from '../../kit/sql.js'
import type { BillingPriceRow } from '../prices/rows.js'
import type { ScheduledSubscription, SubscribedProduct, SubscriptionRow } from './record-rows.js'
import { amountOf, soldBy, subscribedProduct } from './sold-price.js'

/** The part of a company's state that its subscriptions need. */
export type PlansOfCompany = Pick<CompanySnapshot, 'id' | 'plan' | 'schedule' | 'subscriptions'>

/**
 * Rows of subscriptions, updated from the state of their companies. Rows of deleted companies are unchanged.
 *
 * Asks every company in `rows` that has an own subscription. Use it for one page of rows, not for all.
 */
export async function currentSubscriptions(
  place: EntityPlace,
  rows: readonly SubscriptionRow[],
): Promise<SubscriptionRow[]> {
  const { services, environment, nowMs } = place
  const ids = new Set(rows.flatMap(row => (row.own !== null && row.company_id ? [row.company_id] : [])))
  const known = [...ids].filter(id => isKnown(place, 'company', id))
  const answers = await Promise.all(
    known.map(id =>
      services.shards.ask<CompanyDescription | null>('c', environment.id, id, { type: 'describe' }, nowMs),
    ),
  )
  return withPlans(
    services.sql,
    rows,
    answers.flatMap(({ reply }) => (reply ? [reply.state] : [])),
  )
}

/** Rows of subscriptions, updated from these companies' state. */
export async function withPlans(
  sql: Sql,
  rows: readonly SubscriptionRow[],
  companies: readonly PlansOfCompany[],
): Promise<SubscriptionRow[]> {
  const told = rows.map(row => {
    const company = companies.find(({ id }) => id === row.company_id)
    const state = company?.subscriptions.find(({ id }) => id === row.id)
    return row.own === null || !company || !state ? null : { company, state }
  })
  const wanted = rows.flatMap((row, i) => (told[i] ? missing(row, told[i].company, told[i].state) : []))
  const prices = new Map<string, BillingPriceRow>()
  if (wanted.length > 0)
    for (const price of await sql<BillingPriceRow[]>`
      select * from billing_prices where id in ${among(sql, [...new Set(wanted)])}`)
      prices.set(price.id, price)
  return rows.map((row, i) => (told[i] ? rowWithPlans(row, told[i].company, told[i].state, prices) : row))
}

/** Price ids of the items sold now or later, where they differ from the stored row. */
function missing(row: SubscriptionRow, company: PlansOfCompany, state: SubscriptionState): string[] {
  const then = downgradeOf(company, row)?.subscription?.items
  const changed = [
    ...(sells(row.products, state.items) ? [] : (state.items ?? [])),
    ...(sells(row.own?.scheduled?.products ?? [], then) ? [] : (then ?? [])),
  ]
  return changed.map(({ priceId }) => priceId)
}

function downgradeOf({ schedule }: PlansOfCompany, { id }: SubscriptionRow) {
  const downgrade = schedule?.downgrade ?? null
  return downgrade?.subscription?.id === id ? downgrade : null
}

function rowWithPlans(
  row: SubscriptionRow,
  company: PlansOfCompany,
  state: SubscriptionState,
  prices: ReadonlyMap<string, BillingPriceRow>,
): SubscriptionRow {
  const seconds = (ms: number) => Math.floor(ms / 1000)
  const secondsOrNull = (ms: number | null) => (ms === null ? null : seconds(ms))
  const sold = soldOf(row.products, readQuantity(row.total_price), state, row.products, prices)
  return {
    ...row,
    status: state.status,
    interval: intervalText(row.interval, row.own!.months, state.intervalMonths),
    period_start: seconds(state.periodStartMs),
    period_end: seconds(state.periodEndMs),
    trial_end: secondsOrNull(state.trialEndMs),
    trial_end_setting: state.trialEndSetting,
    cancel_at: secondsOrNull(state.cancelAtMs),
    cancel_at_period_end: state.cancelAtPeriodEnd,
    products: sold.products,
    total_price: storedQuantity(sold.total),
    own: {
      anchor: seconds(state.anchorMs ?? row.own!.anchor * 1000),
      months: state.intervalMonths,
      ...(state.isFirstFree && { first_free: true }),
      scheduled: scheduledOf(row, company, sold.products, prices),
    },
  }
}

/** EN-95: the change agreed for later, from the company's state; null when it was cancelled or is done. */
function scheduledOf(
  row: SubscriptionRow,
  company: PlansOfCompany,
  present: readonly SubscribedProduct[],
  prices: ReadonlyMap<string, BillingPriceRow>,
): ScheduledSubscription | null {
  const downgrade = downgradeOf(company, row)
  const then = downgrade?.subscription
  if (!downgrade || !then) return null
  const had = row.own!.scheduled
  const sold = soldOf(had?.products ?? [], readQuantity(had?.total_price ?? 0), then, present, prices)
  return {
    id: had?.id ?? derivedId('schd_', company.id, String(downgrade.effectiveAtMs)),
    effective_at: Math.floor(downgrade.effectiveAtMs / 1000),
    from_plan_id: company.plan?.planId ?? null,
    to_plan_id: downgrade.plan?.planId ?? null,
    lands: [...(downgrade.plan ? [downgrade.plan] : []), ...downgrade.addOns].map(held => ({
      plan_id: held.planId,
      version_id: held.versionId,
    })),
    products: then.status === 'canceled' ? null : sold.products,
    total_price: then.status === 'canceled' ? 0 : storedQuantity(sold.total),
    interval: intervalText(
      had?.interval ?? row.interval,
      had?.months ?? row.own!.months,
      then.intervalMonths,
    ),
    months: then.intervalMonths,
  }
}

/** Whether the products are exactly these items, in order. */
function sells(
  products: readonly SubscribedProduct[],
  items: readonly SubscribedItem[] | undefined,
): boolean {
  if (items === undefined) return true
  return (
    items.length === products.length &&
    items.every(({ priceId, quantity }, i) => {
      const product = products[i]!
      return product.price_id === priceId && (quantity ?? product.quantity) === product.quantity
    })
  )
}

/**
 * The products and the total of a subscription for one period. `stored`: as last written with its total. A migration
 * may make a total that nobody could have asked for: beyond 64 bits it is shown as the largest.
 */
function soldOf(
  stored: readonly SubscribedProduct[],
  total: Quantity,
  { items, status }: SubscriptionState,
  known: readonly SubscribedProduct[],
  prices: ReadonlyMap<string, BillingPriceRow>,
): { readonly products: readonly SubscribedProduct[]; readonly total: Quantity } {
  // a subscription that is over still shows what it sold
  if (sells(stored, items) || (status === 'canceled' && items?.length === 0))
    return { products: stored, total }
  const products = items!.flatMap((item, i) => {
    const quantity = item.quantity ?? stored[i]?.quantity ?? 1
    const price = prices.get(item.priceId)
    if (price)
      return [{ ...subscribedProduct(soldBy(price, 'native'), quantity), product_id: item.productId }]
    const had = [...stored, ...known].find(one => one.price_id === item.priceId)
    return had ? [{ ...had, quantity }] : []
  })
  const amounts = products.map(one => {
    const price = prices.get(one.price_id)
    return price
      ? amountOf(soldBy(price, 'native'), one.quantity)
      : multiplyQuantity(readQuantity(one.price), one.quantity)
  })
  return { products, total: lesserQuantity(sumOf(amounts), quantityMax) }
}

const intervalText = (stored: string, had: number, months: number): string =>
  months === had ? stored : months === 12 ? 'year' : 'month'
