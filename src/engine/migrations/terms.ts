// Billing terms of a move to another version of a plan: which price replaces which (EN-97).
import type { Sql } from 'postgres'
import { cadenceMonths, cadences, type StoredPrice } from '../../catalog/prices.js'
import type { Commitment, MigrationTerms } from '../../core/company/company-state.js'

/** For every company alike. */
export type SoldTerms = Required<Pick<MigrationTerms, 'priceIds' | 'productIds' | 'ended' | 'commitments'>>

interface VersionPrices {
  readonly id: string
  readonly prices: readonly StoredPrice[]
  readonly billing_product_id: string | null
  readonly currency: string
  /** Company of a custom plan. */
  readonly company_id: string | null
}

/** A quantity of a feature that a version sells in advance. */
interface SoldInAdvance {
  readonly plan_version_id: string
  readonly feature_id: string
  readonly prices: readonly StoredPrice[]
  readonly trait: string | null
  readonly quantity: string | null
}

/**
 * The terms of a move to a version of a plan, from any other.
 *
 * A price's successor has the same currency and cadence. A price without successor stays in force while the version
 * is sold at all, as a grandfathered price; if the version, or the feature, is no longer sold, it ends.
 * source  EN-35, EN-97; prices without successor: decision.
 */
export async function termsOf(sql: Sql, planId: string, versionId: string): Promise<SoldTerms> {
  const versions = await sql<VersionPrices[]>`
    select v.id, v.prices, v.billing_product_id, v.currency, p.company_id
    from plan_versions v join plans p on p.id = v.plan_id where v.plan_id = ${planId}`
  const to = versions.find(version => version.id === versionId)
  if (!to) return { priceIds: {}, productIds: {}, ended: [], commitments: [] }
  const sold = await sql<SoldInAdvance[]>`
    select e.plan_version_id, e.feature_id, e.prices, t.name as trait, e.usage_quantity as quantity
    from plan_entitlements e left join trait_definitions t on t.id = e.value_trait_id
    where e.plan_version_id = any(${versions.map(({ id }) => id)}::text[]) and e.price_behavior = 'pay_in_advance'
    order by t.name`
  const ofTo = sold.filter(one => one.plan_version_id === to.id)
  const sales = [...to.prices, ...ofTo.flatMap(({ prices }) => prices)]
  const productIds = await productsOf(sql, sales)
  const priceIds = successors(
    versions.flatMap(({ prices }) => prices),
    to.prices,
  )
  const isSold = to.billing_product_id !== null || to.prices.length > 0
  const ended = isSold ? [] : versions.flatMap(({ prices }) => prices)
  for (const { feature_id: featureId, prices } of sold) {
    const next = ofTo.find(one => one.feature_id === featureId)
    if (next) Object.assign(priceIds, successors(prices, next.prices))
    else ended.push(...prices)
  }
  return {
    priceIds,
    productIds,
    ended: [...new Set(ended.map(({ id }) => id))],
    commitments:
      to.company_id === null
        ? []
        : commitments(ofTo, await paidIn(sql, to.company_id, to.currency), productIds),
  }
}

/** The prices of every version of a plan and of what the versions sell in advance, by id. */
export async function pricesOf(sql: Sql, planId: string): Promise<ReadonlyMap<string, StoredPrice>> {
  const rows = await sql<{ prices: readonly StoredPrice[] }[]>`
    select prices from plan_versions where plan_id = ${planId}
    union all
    select e.prices from plan_entitlements e join plan_versions v on v.id = e.plan_version_id
    where v.plan_id = ${planId} and e.price_behavior = 'pay_in_advance'`
  return new Map(rows.flatMap(({ prices }) => prices.map(price => [price.id, price])))
}

/** The currency of what the service bills a company for now, else of the version: a subscription has one. */
async function paidIn(sql: Sql, companyId: string, currency: string): Promise<string> {
  const [own] = await sql<{ currency: string }[]>`
    select currency from billing_subscriptions
    where company_id = ${companyId} and own is not null and status in ('active', 'trialing', 'past_due')
    order by created_at desc, id desc limit 1`
  return own?.currency ?? currency
}

/** Price id → product id. */
async function productsOf(sql: Sql, prices: readonly StoredPrice[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { id, product_id } of prices) if (product_id !== null) found[id] = product_id
  const rows = await sql<{ id: string; product_id: string }[]>`
    select id, product_id from billing_prices where id = any(${prices.map(({ id }) => id)}::text[])`
  for (const { id, product_id } of rows) found[id] = product_id
  return found
}

/** For each price, the one of the same currency and cadence that takes its place. */
function successors(from: readonly StoredPrice[], to: readonly StoredPrice[]): Record<string, string> {
  const place = (price: StoredPrice) => `${price.currency} ${cadences.indexOf(price.cadence)}`
  const next = new Map(to.map(price => [place(price), price.id]))
  const found: Record<string, string> = {}
  for (const price of from) {
    const id = next.get(place(price))
    if (id !== undefined && id !== price.id) found[price.id] = id
  }
  return found
}

function commitments(
  sold: readonly SoldInAdvance[],
  currency: string,
  productIds: Readonly<Record<string, string>>,
): Commitment[] {
  return sold.flatMap(({ trait, quantity, prices }) => {
    if (trait === null || Number(quantity ?? 0) <= 0) return []
    const offers = prices.flatMap(price => {
      const months = cadenceMonths(price.cadence)
      const productId = productIds[price.id]
      if (price.currency !== currency || months === null || productId === undefined) return []
      return [{ priceId: price.id, productId, months }]
    })
    return [{ trait, atLeast: Number(quantity), ...(offers.length > 0 && { sold: offers }) }]
  })
}

/** Commitments of a company by a version of its custom plan (EN-35). */
export async function commitmentsOf(
  sql: Sql,
  planId: string,
  versionId: string,
): Promise<readonly Commitment[]> {
  return (await termsOf(sql, planId, versionId)).commitments
}
