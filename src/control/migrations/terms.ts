// Billing terms of a move to another version of a plan: which price replaces which (EN-97).
import type { Sql } from 'postgres'
import type { CompatiblePlans } from '../../../schemas/plan-groups.js'
import { goTogether } from '../../catalog/compatibility.js'
import { cadenceMonths, cadences, nativeProductId, type StoredPrice } from '../../catalog/prices.js'
import type { Commitment, MigrationTerms } from '../../core/model/company-state.js'
import type { MigrationWanted } from '../../core/model/plan-messages.js'

/** For every company alike. */
type SoldTerms = Required<
  Pick<MigrationTerms, 'priceIds' | 'productIds' | 'ended' | 'unsold' | 'unpaidFrom' | 'commitments'>
>

/** Terms of one plan that companies leave, for every company alike. */
export type MoveTerms = SoldTerms &
  Pick<MigrationWanted, 'toPlanId' | 'isPaid' | 'incompatible' | 'withinLimits'>

const nothingSold: SoldTerms = {
  priceIds: {},
  productIds: {},
  ended: [],
  unsold: [],
  unpaidFrom: [],
  commitments: [],
}

interface VersionPrices {
  readonly id: string
  readonly plan_id: string
  readonly environment_id: string
  readonly prices: readonly StoredPrice[]
  readonly billing_product_id: string | null
  readonly charge_type: string
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
 * A price's successor has the same currency and cadence. If the version, or the feature, is no longer sold, the price
 * ends. If it is sold in other currencies or cadences only, the move fails where the price is paid (`unsold`).
 * source  EN-35, EN-97, PB-43, N6.
 */
export async function termsOf(sql: Sql, planId: string, versionId: string): Promise<SoldTerms> {
  const { isPaid: _, ...terms } = await soldTerms(sql, planId, { planId, versionId, priceId: null })
  return terms
}

/** The settings of a plan group that moves heed. */
interface MoveSettings {
  readonly add_on_compatibilities?: readonly CompatiblePlans[] | null
  readonly prevent_downgrades_when_over_limit?: boolean
}

/** The aim of a move. `priceId`: the price to be paid; null: the one of the same currency and interval. */
interface MoveTo {
  readonly environmentId: string
  readonly toPlanId: string
  readonly versionId: string
  readonly priceId: string | null
}

/** The terms of a move from any plan. source: MI-13, MI-15 */
async function moveRules(
  sql: Sql,
  { environmentId, toPlanId }: MoveTo,
): Promise<Pick<MoveTerms, 'toPlanId' | 'incompatible' | 'withinLimits'>> {
  const [groups, addOns] = await Promise.all([
    sql<
      { settings: MoveSettings }[]
    >`select settings from plan_groups where environment_id = ${environmentId}`,
    sql<{ id: string }[]>`
      select p.id from plans p join environments e on e.account_id = p.account_id
      where e.id = ${environmentId} and p.plan_type = 'add_on' and p.deleted_at is null`,
  ])
  const settings = groups[0]?.settings ?? {}
  const incompatible = addOns
    .map(({ id }) => id)
    .filter(id => !goTogether(settings.add_on_compatibilities ?? [], id, toPlanId))
  return { toPlanId, incompatible, withinLimits: settings.prevent_downgrades_when_over_limit === true }
}

/**
 * The terms of a move to a version of another plan, by the plan that companies leave ('': none).
 *
 * source  MI-13, MI-15; as `termsOf`.
 */
export async function moveTerms(
  sql: Sql,
  to: MoveTo,
  planIds: readonly string[],
): Promise<ReadonlyMap<string, MoveTerms>> {
  const [rules, ...terms] = await Promise.all([
    moveRules(sql, to),
    ...planIds.map(planId => soldTerms(sql, planId, { ...to, planId: to.toPlanId })),
  ])
  return new Map(planIds.map((planId, i) => [planId, { ...terms[i]!, commitments: [], ...rules }]))
}

/** A version that companies come to, and the price of it that they pay; null: as they pay now. */
interface SoldAim {
  readonly planId: string
  readonly versionId: string
  readonly priceId: string | null
}

async function soldTerms(
  sql: Sql,
  planId: string,
  { planId: toPlanId, versionId, priceId }: SoldAim,
): Promise<SoldTerms & { readonly isPaid: boolean }> {
  const rows = await sql<VersionPrices[]>`
    select v.id, v.plan_id, v.environment_id, v.prices, v.billing_product_id, v.charge_type, v.currency, p.company_id
    from plan_versions v join plans p on p.id = v.plan_id where v.plan_id in (${planId}, ${toPlanId})`
  const versions = rows.filter(version => version.plan_id === planId || version.id === versionId)
  const found = versions.find(version => version.id === versionId)
  if (!found) return { ...nothingSold, isPaid: false }
  const to = { ...found, prices: found.prices.filter(({ id }) => priceId === null || id === priceId) }
  const sold = await sql<SoldInAdvance[]>`
    select e.plan_version_id, e.feature_id, e.prices, t.name as trait, e.usage_quantity as quantity
    from plan_entitlements e left join trait_definitions t on t.id = e.value_trait_id
    where e.plan_version_id = any(${versions.map(({ id }) => id)}::text[]) and e.price_behavior = 'pay_in_advance'
    order by t.name`
  const ofTo = sold.filter(one => one.plan_version_id === to.id)
  const sales = [...to.prices, ...ofTo.flatMap(({ prices }) => prices)]
  const productOf = (featureId: string | null) => nativeProductId(to.environment_id, toPlanId, featureId)
  const productIds = {
    // those that a publish will give to the prices of a draft
    ...Object.fromEntries(to.prices.map(({ id }) => [id, productOf(null)])),
    ...Object.fromEntries(ofTo.flatMap(one => one.prices.map(({ id }) => [id, productOf(one.feature_id)]))),
    ...(await productsOf(sql, sales)),
  }
  const planPrices = versions.filter(version => version.plan_id === planId).flatMap(({ prices }) => prices)
  const priceIds = successors(planPrices, to.prices)
  const isSold = sells(to)
  const ended = isSold ? [] : [...planPrices]
  const unsold = isSold ? withoutPlace(planPrices, to.prices) : []
  for (const { feature_id: featureId, prices } of sold) {
    const next = ofTo.find(one => one.feature_id === featureId)
    if (!next) ended.push(...prices)
    else {
      Object.assign(priceIds, successors(prices, next.prices))
      unsold.push(...withoutPlace(prices, next.prices))
    }
  }
  return {
    priceIds,
    productIds,
    ended: idsOf(ended),
    unsold: idsOf(unsold),
    // the publish of a custom plan bills its company
    unpaidFrom:
      to.company_id === null && costs(to) ? versions.filter(one => !costs(one)).map(({ id }) => id) : [],
    isPaid: isSold,
    commitments:
      to.company_id === null
        ? []
        : commitments(ofTo, await paidIn(sql, to.company_id, to.currency), productIds),
  }
}

function sells({ charge_type: type, billing_product_id: productId, prices }: VersionPrices): boolean {
  return type !== 'free' && type !== 'none' && (productId !== null || prices.length > 0)
}

/** Whether a company on a version pays for it: by prices of the version above zero, or by a provider's product. */
function costs(version: VersionPrices): boolean {
  if (!sells(version)) return false
  const { prices } = version
  return (
    prices.length === 0 || prices.some(one => Number(one.price_decimal ?? one.price) > 0 || tiersCost(one))
  )
}

function tiersCost({ tiers }: StoredPrice): boolean {
  const amounts = (tiers ?? []).flatMap(one => [
    one.flat_amount,
    one.per_unit_price,
    one.per_unit_price_decimal,
  ])
  return amounts.some(amount => Number(amount ?? 0) > 0)
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

const idsOf = (prices: readonly StoredPrice[]): string[] => [...new Set(prices.map(({ id }) => id))]

const place = (price: StoredPrice): string => `${price.currency} ${cadences.indexOf(price.cadence)}`

/** Prices whose currency and cadence none of the others has. */
function withoutPlace(prices: readonly StoredPrice[], others: readonly StoredPrice[]): StoredPrice[] {
  const places = new Set(others.map(place))
  return prices.filter(price => !places.has(place(price)))
}

/** For each price, the one of the same currency and cadence that takes its place. */
function successors(from: readonly StoredPrice[], to: readonly StoredPrice[]): Record<string, string> {
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
    return [{ trait, atLeast: Number(quantity), ...(prices.length > 0 && { sold: offers }) }]
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
