// The plans that a request selects, with versions, prices and quantities, checked against the definitions.
import type { Sql } from 'postgres'
import type { ManagePlanRequest, PlanSelection } from '../../../schemas/billing.js'
import type { PlanType } from '../../../schemas/enums.js'
import type { EntitlementRow, PlanVersionRow } from '../../catalog/plans.js'
import { cadenceMonths, leadingPrice, type StoredPrice } from '../../catalog/prices.js'
import type { BoughtQuantity, PlanHolding } from '../../core/model/company-state.js'
import type { CatalogData, PlanDef } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import { ServiceError } from '../../errors.js'
import { among } from '../../kit/sql.js'
import { monthsOf, type SoldPrice, soldAs, soldBy } from '../billing/sold-price.js'
import { findPrice, productRows } from '../prices/rows.js'

/** A selected plan or add-on with its version and price. */
export interface SelectedPlan {
  readonly plan: PlanDef
  readonly version: PlanVersionRow
  readonly held: PlanHolding | null
  /** Null: nothing bills it. */
  readonly price: SoldPrice | null
  readonly entitlements: readonly EntitlementRow[]
}

/** The default currency and interval for plans whose price the request does not name. */
export interface UsualPrice {
  readonly currency: string
  /** Interval of the subscription that the price joins; null: a new one. */
  readonly months: number | null
}

/** A quantity bought in advance. */
interface SelectedQuantity {
  readonly entitlement: EntitlementRow
  readonly price: SoldPrice
  readonly quantity: number
  readonly featureName: string
}

export interface Selection {
  readonly base: SelectedPlan | null
  readonly addOns: readonly SelectedPlan[]
  readonly quantities: readonly SelectedQuantity[]
  /** Complete list: quantities not in it are 0 (PB-30). */
  readonly bought: readonly BoughtQuantity[]
}

/**
 * Resolve what a request selects.
 *
 * usual   default currency and interval for linked plans; null: their price must be named.
 * keeps   a custom plan takes effect: its company keeps the quantities that it has (EN-35).
 * errors  404 for an unknown plan, version or price; 400 for a plan this company cannot be on, a linked plan
 *         without a price, a price of another plan, and a provider's price that costs, because no provider is
 *         connected.
 * source  PB-13, PB-30, PB-31, EN-84; no provider: decision.
 */
export async function selectionOf(
  sql: Sql,
  catalog: CatalogData,
  company: CompanyDescription,
  body: ManagePlanRequest,
  usual: UsualPrice | null,
  keeps = false,
): Promise<Selection> {
  const chosen: (PlanSelection & { readonly planType: PlanType; readonly member: string })[] = []
  if (body.base_plan_id != null)
    chosen.push({
      plan_id: body.base_plan_id,
      price_id: body.base_plan_price_id,
      version_id: body.base_plan_version_id,
      planType: 'plan',
      member: 'base_plan_id',
    })
  else if (body.base_plan_price_id != null || body.base_plan_version_id != null)
    throw invalid('base_plan_id: missing for the price or version given')
  for (const one of body.add_on_selections)
    chosen.push({ ...one, planType: 'add_on', member: 'add_on_selections' })
  if (new Set(chosen.map(one => one.plan_id)).size < chosen.length)
    throw invalid('add_on_selections: a plan is named twice')

  const { state } = company
  const placed = chosen.map(one => {
    const plan = assignable(catalog, one.plan_id, one.planType, state.id, one.member)
    const held = [state.plan, ...state.addOns].find(holding => holding?.planId === plan.id) ?? null
    const versionId = one.version_id ?? held?.versionId ?? plan.publishedVersionId
    if (versionId === null) throw conflict(`${one.member}: the plan has no published version`)
    if (!plan.versions.some(version => version.id === versionId))
      throw new ServiceError('not_found', `${one.member}: the plan has no such version`)
    return { ...one, plan, held, versionId }
  })
  const ids = placed.map(({ versionId }) => versionId)
  const [versions, entitlements] = await Promise.all([
    sql<PlanVersionRow[]>`select * from plan_versions where id in ${among(sql, ids)}`,
    sql<EntitlementRow[]>`select * from plan_entitlements where plan_version_id in ${among(sql, ids)}`,
  ])
  const plans: SelectedPlan[] = []
  for (const { plan, held, versionId, price_id: priceId, member } of placed) {
    const version = versions.find(one => one.id === versionId)!
    const price = await priceOf(sql, version, priceId ?? null, held, member, usual)
    const own = entitlements.filter(one => one.plan_version_id === versionId)
    plans.push({ plan, version, held, price, entitlements: own })
  }
  const least = (one: SelectedPlan, entitlement: EntitlementRow) =>
    Math.max(committedIn(one, entitlement), keeps ? heldQuantity(catalog, company, entitlement) : 0)
  const quantities = await quantitiesOf(sql, catalog, plans, body, least)
  quantities.push(...(await committedRest(sql, catalog, plans, quantities, least, usual)))
  return {
    base: plans.find(({ plan }) => plan.planType === 'plan') ?? null,
    addOns: plans.filter(({ plan }) => plan.planType === 'add_on'),
    quantities,
    bought: boughtQuantities(catalog, company, plans, quantities),
  }
}

function assignable(
  catalog: CatalogData,
  planId: string,
  planType: PlanType,
  companyId: string,
  member: string,
): PlanDef {
  const plan = catalog.plans.find(one => one.id === planId)
  if (!plan) throw new ServiceError('not_found', `${member}: no such plan`)
  if (plan.planType !== planType)
    throw conflict(`${member}: ${planType === 'plan' ? 'is an add-on' : 'is not an add-on'}`)
  if (plan.companyId !== null && plan.companyId !== companyId)
    throw conflict(`${member}: is the plan of another company`)
  return plan
}

/**
 * The price of a plan: the named one, else the one that bills it already, else the company's default.
 */
async function priceOf(
  sql: Sql,
  version: PlanVersionRow,
  named: string | null,
  held: PlanHolding | null,
  member: string,
  usual: UsualPrice | null,
): Promise<SoldPrice | null> {
  if (version.billing_product_id === null) {
    if (named !== null) throw conflict(`${member}: the plan has no price`)
    return null
  }
  const moves = held !== null && held.versionId !== version.id && !offers(version, held.priceId)
  let id = named ?? (moves ? null : (held?.priceId ?? null))
  if (id === null) {
    if (version.charge_type === 'free' || version.charge_type === 'none') return null
    // EN-97: another version is paid for in the currency and at the interval of the one held
    const was = moves && held?.priceId ? await soldPrice(sql, version.environment_id, [], held.priceId) : null
    const like = was ? { currency: was.currency, months: monthsOf(was) } : usual
    id = (like === null ? onlyPrice(version, member) : usualPrice(version.prices, like, member)).id
  }
  const price = await soldPrice(sql, version.environment_id, version.prices, id)
  if (price?.productId !== version.billing_product_id) throw conflict(`${member}: not a price of the plan`)
  if (price.provider === 'native' && !offers(version, id) && !(held?.priceId === id && !moves))
    throw conflict(`${member}: a price of another version; this one is sold at ${idsOf(version)}`)
  if (held?.priceId !== id && price.price > 0)
    requireOwn(price, version.billing_strategy === 'provider_managed', member)
  return price
}

/** Whether a version is sold at a price itself (PB-5, PB-24, PB-31). */
function offers(version: PlanVersionRow, priceId: string | null): boolean {
  return version.prices.some(({ id }) => id === priceId)
}

const idsOf = ({ prices }: PlanVersionRow): string => prices.map(({ id }) => id).join(', ') || 'no price'

/**
 * The price in the company's currency.
 *
 * source  PB-43; if there are several, its interval, else the shortest: decision.
 */
function usualPrice(
  prices: readonly StoredPrice[],
  { currency, months }: UsualPrice,
  member: string,
): StoredPrice {
  const priced = prices.filter(price => price.currency === currency)
  const fits = (price: StoredPrice) => months !== null && cadenceMonths(price.cadence) === months
  const found = priced.find(fits) ?? leadingPrice(priced, currency)
  if (!found) throw conflict(`${member}: the plan has no price in ${currency}`)
  return found
}

/** The price of a plan that has one; of several, the request names one. source: decision 41 */
function onlyPrice(version: PlanVersionRow, member: string): StoredPrice {
  const [price, another] = version.prices
  if (price === undefined) throw invalid(`${member}: a plan that is linked to billing needs a price`)
  if (another !== undefined)
    throw invalid(`${member}: the plan has several prices, name one of ${idsOf(version)}`)
  return price
}

/** Without a payment provider the service bills only its own prices. source: decision */
function requireOwn(price: SoldPrice, managedElsewhere: boolean, member: string): void {
  if (managedElsewhere || price.provider !== 'native')
    throw conflict(`${member}: a provider bills this price, and no payment processor is connected`)
}

async function soldPrice(
  sql: Sql,
  environmentId: string,
  own: readonly StoredPrice[],
  id: string,
): Promise<SoldPrice | null> {
  const row = await findPrice(sql, environmentId, id)
  if (row)
    return soldBy(
      row,
      (await productRows(sql, [row.product_id])).get(row.product_id)?.provider_type ?? 'native',
    )
  const stored = own.find(price => price.id === id)
  return stored?.product_id ? soldAs(stored, stored.product_id) : null
}

async function quantitiesOf(
  sql: Sql,
  catalog: CatalogData,
  plans: readonly SelectedPlan[],
  body: ManagePlanRequest,
  least: LeastQuantity,
): Promise<SelectedQuantity[]> {
  const member = 'pay_in_advance_entitlements'
  const found: SelectedQuantity[] = []
  for (const { price_id: priceId, quantity: asked } of body.pay_in_advance_entitlements) {
    const sells = (one: EntitlementRow) =>
      one.price_behavior === 'pay_in_advance' && one.prices.some(price => price.id === priceId)
    const selected = plans.find(({ entitlements }) => entitlements.some(sells))
    const entitlement = selected?.entitlements.find(sells)
    if (!selected || !entitlement) {
      if (await isSoldElsewhere(sql, plans, priceId))
        throw conflict(`${member}: a price of another version or plan`)
      throw new ServiceError('not_found', `${member}: no price ${priceId} in the plans selected`)
    }
    if (found.some(one => one.entitlement.feature_id === entitlement.feature_id))
      throw invalid(`${member}: a feature is named twice`)
    const price = await soldPrice(sql, entitlement.environment_id, entitlement.prices, priceId)
    if (!price) throw new ServiceError('not_found', `${member}: no price ${priceId} in the plans selected`)
    const quantity = Math.max(asked, least(selected, entitlement))
    if (quantity > 0 && price.price > 0) requireOwn(price, false, member)
    const featureName = catalog.features.find(one => one.id === entitlement.feature_id)?.name ?? ''
    found.push({ entitlement, price, quantity, featureName })
  }
  return found
}

/** Whether a price is one of some plan or entitlement of the environment (N5). */
async function isSoldElsewhere(
  sql: Sql,
  [first]: readonly SelectedPlan[],
  priceId: string,
): Promise<boolean> {
  if (first === undefined) return false
  const environmentId = first.version.environment_id
  const like = sql.json([{ id: priceId }])
  const rows = await sql`
    select 1 from plan_entitlements where environment_id = ${environmentId} and prices @> ${like}
    union all select 1 from plan_versions where environment_id = ${environmentId} and prices @> ${like} limit 1`
  return rows.length > 0
}

/** The smallest quantity of an entitlement that its company may have. */
type LeastQuantity = (one: SelectedPlan, entitlement: EntitlementRow) => number

/** The quantity that a custom plan commits its company to (EN-35). */
function committedIn({ plan }: SelectedPlan, { usage_quantity: quantity }: EntitlementRow): number {
  return plan.companyId === null ? 0 : Number(quantity ?? 0)
}

/** The quantity that the company has of a feature. */
function heldQuantity(
  catalog: CatalogData,
  { state }: CompanyDescription,
  { feature_id: featureId }: EntitlementRow,
): number {
  const trait = limitTraitOf(catalog, featureId)
  return Number(state.traits.find(([name]) => name === trait)?.[1] ?? 0)
}

/**
 * Quantities that the request does not name and that the company must have, at the price of the currency and interval
 * in which the plan is paid.
 *
 * errors  400 where there is no such price: nobody has a committed quantity without paying for it (EN-35, N7).
 */
async function committedRest(
  sql: Sql,
  catalog: CatalogData,
  plans: readonly SelectedPlan[],
  named: readonly SelectedQuantity[],
  least: LeastQuantity,
  usual: UsualPrice | null,
): Promise<SelectedQuantity[]> {
  const rest: SelectedQuantity[] = []
  for (const selected of plans)
    for (const entitlement of selected.entitlements) {
      const quantity = least(selected, entitlement)
      const isNamed = named.some(one => one.entitlement.id === entitlement.id)
      if (entitlement.price_behavior !== 'pay_in_advance' || quantity === 0 || isNamed) continue
      if (entitlement.prices.length === 0) continue
      const featureName = catalog.features.find(one => one.id === entitlement.feature_id)?.name ?? ''
      const stored = unitPriceIn(selected, entitlement, usual)
      const price =
        stored && (await soldPrice(sql, entitlement.environment_id, entitlement.prices, stored.id))
      if (!price)
        throw conflict(
          `pay_in_advance_entitlements: the plan commits to ${quantity} of ${featureName}, which has no price in the currency and at the interval of the plan`,
        )
      if (price.price > 0) requireOwn(price, false, 'pay_in_advance_entitlements')
      rest.push({ entitlement, price, quantity, featureName })
    }
  return rest
}

/** The price of a unit in the currency and at the interval of its plan; of a plan without price, the usual one. */
function unitPriceIn(
  { price, version }: SelectedPlan,
  { prices }: EntitlementRow,
  usual: UsualPrice | null,
): StoredPrice | undefined {
  if (price !== null) {
    const months = monthsOf(price)
    return prices.find(one => one.currency === price.currency && cadenceMonths(one.cadence) === months)
  }
  const currency = usual?.currency ?? version.currency
  const own = prices.filter(one => one.currency === currency)
  const months = usual?.months ?? null
  const fits = own.find(one => months !== null && cadenceMonths(one.cadence) === months)
  return fits ?? (months === null ? (leadingPrice(own, currency) ?? undefined) : undefined)
}

/**
 * Every quantity of the selected and the held plans. Quantities not in the request are 0; for a custom plan, the
 * committed ones.
 *
 * source  PB-30, EN-35, EN-71.
 */
function boughtQuantities(
  catalog: CatalogData,
  { state }: CompanyDescription,
  plans: readonly SelectedPlan[],
  quantities: readonly SelectedQuantity[],
): BoughtQuantity[] {
  const named = new Map(quantities.map(one => [one.entitlement.feature_id, one.quantity]))
  const versions = new Set([state.plan, ...state.addOns].flatMap(held => held?.versionId ?? []))
  const heldFeatures = catalog.plans
    .flatMap(plan => plan.versions)
    .filter(version => versions.has(version.id))
    .flatMap(version => version.entitlements)
    .filter(one => one.priceBehavior === 'pay_in_advance')
    .map(one => one.featureId)
  const sold = plans
    .flatMap(({ entitlements }) => entitlements)
    .filter(one => one.price_behavior === 'pay_in_advance')
    .map(one => one.feature_id)
  const committed = new Map(
    plans
      .filter(({ plan }) => plan.companyId !== null)
      .flatMap(({ entitlements }) => entitlements)
      .filter(one => one.price_behavior === 'pay_in_advance')
      .map(one => [one.feature_id, Number(one.usage_quantity ?? 0)]),
  )
  const traits = new Map<string, number>()
  for (const featureId of new Set([...heldFeatures, ...sold])) {
    const trait = limitTraitOf(catalog, featureId)
    if (trait !== undefined)
      traits.set(trait, Math.max(named.get(featureId) ?? 0, committed.get(featureId) ?? 0))
  }
  return [...traits].map(([trait, quantity]) => ({ trait, quantity }))
}

/** The trait that carries the quantity of a feature bought in advance. */
function limitTraitOf(catalog: CatalogData, featureId: string): string | undefined {
  const traitId = catalog.features.find(one => one.id === featureId)?.usageLimitTraitId
  return catalog.traits.find(one => one.id === traitId)?.name
}

export function conflict(message: string): ServiceError {
  return new ServiceError('state_conflict', message)
}

export function invalid(message: string): ServiceError {
  return new ServiceError('value_invalid', message)
}

/** Whether more of anything is bought in advance than the company has, whichever plan sells it. */
export function buysMore({ state: { traits } }: CompanyDescription, { bought }: Selection): boolean {
  const held = new Map(traits.map(([name, value]) => [name, Number(value)]))
  return bought.some(({ trait, quantity }) => quantity > (held.get(trait) ?? 0))
}
