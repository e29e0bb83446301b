// Writes plan entitlements: validates what callers send, normalises it, and drops values of other types.
import type { Sql } from 'postgres'
import type {
  BundledEntitlement,
  BundleEntitlementWrite,
  EntitlementValueWrite,
  PlanEntitlementUpdate,
} from '../../../schemas/entitlements.js'
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingProviderType,
  EntitlementPriceBehavior,
} from '../../../schemas/enums.js'
import { newId } from '../../account/ids.js'
import type { EntitlementRow, PlanRow, PlanVersionRow, StoredWarningTier } from '../../catalog/plans.js'
import { correctedValueType, saleProblem } from '../../core/entitlements/entitlement.js'
import { quantityKeys } from '../../core/model/model-price.js'
import { type Quantity, quantityOrNull, storedOrNull } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { Exact } from '../../kit/long.js'
import type { Services } from '../../kit/services.js'
import { whole } from '../../kit/unchanged.js'
import { ensureUsageLimitTrait } from '../features/write.js'
import { type FeatureRow, featureSource, featureView } from '../flags/feature-view.js'
import { insertEntitlementRow, touchVersion, updateEntitlementRow } from '../plan-versions/version-rows.js'
import { findProduct } from '../prices/rows.js'
import { namedPrices, unitPrices } from '../prices/write.js'
import { requireUsed, withGivenType, withValueType } from './value-type.js'

/** The plan, draft and account of a write. */
export interface WritePlace {
  readonly services: Pick<Services, 'catalogs' | 'keys' | 'traits'>
  readonly accountId: string
  readonly environmentId: string
  readonly nowMs: number
}

/** A body's value, and all that it says of an entitlement, with limits of 64 bits. */
type ValueWrite = Exact<EntitlementValueWrite>
type EntitlementTerms = Exact<PlanEntitlementUpdate>

/** The value members of a stored entitlement. */
export type EntitlementValue = Pick<
  EntitlementRow,
  | 'value_type'
  | 'value_bool'
  | 'value_trait_id'
  | 'value_credit_id'
  | 'consumption_rate'
  | 'quantity_rates'
  | 'metric_period'
  | 'metric_period_month_reset'
> & { readonly value_numeric: Quantity | null }

/** A feature of the account. Throws 404 naming the member. */
export async function requireFeature(sql: Sql, accountId: string, id: string): Promise<FeatureRow> {
  const [row] = await sql<FeatureRow[]>`
    select * from ${featureSource(sql)} where id = ${id} and account_id = ${accountId}`
  if (!row) throw new ServiceError('not_found', 'feature_id: no such feature')
  return row
}

/**
 * The stored value of an entitlement after a body is applied.
 *
 * errors  400 for a value that the type requires but the body lacks, and for a type the feature cannot have; 404
 *         for a trait or credit the environment does not have.
 * source  EN-18, EN-30, EN-33, EN-42. The default credit rate is 1, or 0 beside quantity rates (decision 21).
 */
export function normaliseValue(
  place: WritePlace,
  feature: FeatureRow,
  body: ValueWrite,
  priceBehavior: EntitlementPriceBehavior | null,
): EntitlementValue {
  const valueType = correctedValueType(priceBehavior, body.value_type, body.value_numeric ?? null)
  const { metered, period, reset } = windowOf(feature, body)
  const none: EntitlementValue = {
    value_type: valueType,
    value_bool: null,
    value_numeric: null,
    value_trait_id: null,
    value_credit_id: null,
    consumption_rate: null,
    quantity_rates: null,
    metric_period: metered ? period : null,
    metric_period_month_reset: metered ? reset : null,
  }
  const unmetered = { ...none, metric_period: null, metric_period_month_reset: null }
  requireSellable(feature, body, priceBehavior)
  switch (valueType) {
    case 'boolean':
      return { ...unmetered, value_bool: needed(body.value_bool, 'value_bool', valueType) }
    case 'unlimited':
      return none
    case 'numeric':
      return { ...none, value_numeric: needed(body.value_numeric, 'value_numeric', valueType) }
    case 'trait':
      return { ...none, value_trait_id: limitTrait(place, feature, body, priceBehavior) }
    case 'credit':
      return { ...unmetered, ...creditValue(place, feature, body) }
    case 'unknown':
      throw invalid('value_type: unknown entitlements are managed elsewhere and read-only here')
  }
}

/** EN-12: only metered features have periods; a month without reset is a calendar month. */
function windowOf(feature: FeatureRow, body: ValueWrite) {
  const period = body.metric_period ?? null
  const reset = period === 'current_month' ? (body.metric_period_month_reset ?? 'first_of_month') : null
  return { metered: feature.feature_type === 'event', period, reset }
}

function limitTrait(
  { services, environmentId }: WritePlace,
  feature: FeatureRow,
  body: ValueWrite,
  priceBehavior: EntitlementPriceBehavior | null,
): string {
  // EN-30: quantities bought in advance are counted by the feature's own trait
  if (priceBehavior === 'pay_in_advance') return featureView(feature, environmentId).usage_limit_trait_id!
  const id = needed(body.value_trait_id, 'value_trait_id', 'trait')
  const trait = services.traits.byId(environmentId, id)
  if (!trait) throw new ServiceError('not_found', 'value_trait_id: no such trait')
  if (trait.entityType !== 'company') throw invalid('value_trait_id: must be a company trait')
  return id
}

function creditValue(
  { services, environmentId }: WritePlace,
  feature: FeatureRow,
  body: ValueWrite,
): Pick<EntitlementValue, 'value_credit_id' | 'consumption_rate' | 'quantity_rates'> {
  const id = needed(body.value_credit_id, 'value_credit_id', 'credit')
  if (!services.catalogs.get(environmentId).credits.some(credit => credit.id === id))
    throw new ServiceError('not_found', 'value_credit_id: no such credit')
  const rates = normaliseRates(feature, body.quantity_rates ?? {})
  return {
    value_credit_id: id,
    consumption_rate: body.credit_consumption_rate ?? (rates === null ? 1 : 0),
    quantity_rates: rates,
  }
}

function normaliseRates(
  feature: FeatureRow,
  given: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> | null {
  const rates = Object.entries(given)
  if (rates.length === 0) return null
  if (feature.event_source !== 'inference')
    throw invalid('quantity_rates: only features of inference events have quantities')
  const unknown = rates.find(([key]) => !quantityKeys.some(known => known === key))
  if (unknown) throw invalid(`quantity_rates: expected one of ${quantityKeys.join(', ')}`)
  return Object.fromEntries(rates)
}

function needed<T>(value: T | null | undefined, member: string, valueType: string): T {
  if (value == null) throw invalid(`${member}: needed by a ${valueType} entitlement`)
  return value
}

function invalid(message: string): ServiceError {
  return new ServiceError('value_invalid', message)
}

/** EN-33. */
function requireSellable(
  { feature_type: featureType, event_source: eventSource }: FeatureRow,
  body: ValueWrite,
  behavior: EntitlementPriceBehavior | null,
): void {
  const valueType = correctedValueType(behavior, body.value_type, body.value_numeric ?? null)
  const problem = saleProblem({ featureType, eventSource }, behavior, valueType)
  if (problem !== null) throw invalid(`${behavior === null ? 'value_type' : 'price_behavior'}: ${problem}`)
}

const anchors = { billing_cycle: 'billing_period_start', first_of_month: 'month_end' } as const

/** EN-34: the anchor follows the reset of the allowance. */
function normaliseOverage(
  body: EntitlementTerms,
  value: EntitlementValue,
): {
  readonly overage_billing_cadence: BillingArrearsCadence | null
  readonly overage_invoice_anchor: BillingArrearsAnchor | null
} {
  const cadence = (body.price_behavior === 'overage' && body.overage_billing_cadence) || null
  if (cadence === null || cadence === 'end_of_billing_period')
    return { overage_billing_cadence: cadence, overage_invoice_anchor: null }
  const anchor = anchors[value.metric_period_month_reset ?? 'first_of_month']
  if (body.overage_invoice_anchor != null && body.overage_invoice_anchor !== anchor)
    throw invalid(`overage_invoice_anchor: must be ${anchor}, as the allowance resets`)
  return { overage_billing_cadence: cadence, overage_invoice_anchor: anchor }
}

/** EN-52. A tier with an unchanged key keeps its id. */
function normaliseWarnings(
  body: EntitlementTerms,
  former: readonly StoredWarningTier[],
): readonly StoredWarningTier[] {
  const tiers = body.warning_tiers ?? []
  if (new Set(tiers.map(tier => tier.key)).size < tiers.length)
    throw invalid('warning_tiers: keys must differ')
  return tiers.map(({ key, value }) => ({
    id: former.find(tier => tier.key === key)?.id ?? newId('wtir_'),
    key,
    value,
  }))
}

/** The optional members of an entitlement's value, filled from its row. */
export function statedValue(
  row: Omit<EntitlementValue, 'value_numeric'> & Pick<EntitlementRow, 'value_numeric'>,
): Required<ValueWrite> {
  return {
    value_type: row.value_type,
    value_bool: row.value_bool,
    value_numeric: quantityOrNull(row.value_numeric),
    value_trait_id: row.value_trait_id,
    value_credit_id: row.value_credit_id,
    credit_consumption_rate: row.consumption_rate,
    quantity_rates: row.quantity_rates,
    metric_period: row.metric_period,
    metric_period_month_reset: row.metric_period_month_reset,
  }
}

/**
 * statedValue for a plan's entitlement. The anchor follows from the rest (EN-34); prices are separate
 * (prices/write.ts).
 */
function statedEntitlement(row: EntitlementRow) {
  return {
    ...statedValue(row),
    price_behavior: row.price_behavior,
    soft_limit: quantityOrNull(row.soft_limit),
    usage_quantity: quantityOrNull(row.usage_quantity),
    billing_threshold: quantityOrNull(row.billing_threshold),
    overage_billing_cadence: row.overage_billing_cadence,
    warning_tiers: row.warning_tiers.map(({ key, value }) => ({ key, value })),
    billing_product_id: row.billing_product_id,
    overage_billing_product_id: row.overage_billing_product_id,
  }
}

/** The provider's resource that manages an entitlement. */
export interface EntitlementLink {
  readonly provider: BillingProviderType
  readonly resourceId: string
}

/**
 * Write an entitlement of a draft: a new one, or `former` changed by the body.
 *
 * plan     locked; `draft` is one of its versions.
 * returns  the row as written.
 * errors   400 for a second entitlement of the feature (EN-4) and for invalid values; 404 for an unknown feature,
 *          trait, credit, product or price.
 * source   EN-4, EN-5, EN-18, EN-30…35, EN-52; decisions 12, 26 and 41. For pay_in_advance the transaction must cover the
 *          whole account, because the feature gets its trait in every environment (EN-2).
 */
export async function writeEntitlement(
  tx: Sql,
  place: WritePlace,
  draft: PlanVersionRow,
  featureId: string,
  given: EntitlementTerms,
  former: EntitlementRow | null,
  link: EntitlementLink | null = null,
): Promise<EntitlementRow> {
  const { services, accountId, environmentId, nowMs } = place
  const known = await requireFeature(tx, accountId, featureId)
  const body = former ? whole(withGivenType(given), statedEntitlement(former)) : withValueType(known, given)
  const behavior = body.price_behavior ?? null
  if (former) requireUsed(given, behavior)
  requireSellable(known, body, behavior)
  if (behavior === 'pay_in_advance') await ensureUsageLimitTrait(tx, services, accountId, featureId, nowMs)
  const feature = await requireFeature(tx, accountId, featureId)
  if (!former) await requireFree(tx, draft, featureId)
  const value = normaliseValue(place, feature, body, behavior)
  const id = former?.id ?? newId('pltl_')
  const row: EntitlementRow = {
    id,
    environment_id: environmentId,
    plan_id: draft.plan_id,
    plan_version_id: draft.id,
    feature_id: featureId,
    rule_id: former?.rule_id ?? newId('rule_'),
    rule_id_usage_exceeded: exhaustible(value) ? (former?.rule_id_usage_exceeded ?? newId('rule_')) : null,
    ...value,
    price_behavior: behavior,
    soft_limit: behavior === 'overage' ? (body.soft_limit ?? null) : null,
    usage_quantity: behavior === 'pay_in_advance' ? (body.usage_quantity ?? null) : null,
    billing_threshold: storedOrNull(body.billing_threshold ?? null),
    ...normaliseOverage(body, value),
    ...(await normaliseSale(tx, environmentId, id, body, former)),
    warning_tiers: normaliseWarnings(body, former?.warning_tiers ?? []),
    billing_provider: link?.provider ?? former?.billing_provider ?? null,
    external_resource_id: link?.resourceId ?? former?.external_resource_id ?? null,
    created_at: former?.created_at ?? new Date(nowMs),
    updated_at: new Date(nowMs),
  }
  if (former) await updateEntitlementRow(tx, row)
  else await insertEntitlementRow(tx, row)
  await touchVersion(tx, draft.id, nowMs)
  return row
}

/** EN-5: whether a value can be used up, and so has a rule for that case. */
export function exhaustible(value: Pick<EntitlementValue, 'value_type'>): boolean {
  return value.value_type === 'numeric' || value.value_type === 'trait' || value.value_type === 'credit'
}

async function requireFree(tx: Sql, draft: PlanVersionRow, featureId: string): Promise<void> {
  const rows = await tx`
    select 1 from plan_entitlements where plan_version_id = ${draft.id} and feature_id = ${featureId}`
  if (rows.length > 0)
    throw new ServiceError('state_conflict', 'feature_id: the plan version already entitles to this feature')
}

type Sale = Pick<EntitlementRow, 'billing_product_id' | 'overage_billing_product_id' | 'tier_mode' | 'prices'>

async function normaliseSale(
  tx: Sql,
  environmentId: string,
  ownerId: string,
  body: EntitlementTerms,
  former: EntitlementRow | null,
): Promise<Sale> {
  for (const [member, id] of [
    ['billing_product_id', body.billing_product_id],
    ['overage_billing_product_id', body.overage_billing_product_id],
  ] as const)
    if (id != null && !(await findProduct(tx, environmentId, id)))
      throw new ServiceError('not_found', `${member}: no such product`)
  const behavior = body.price_behavior ?? null
  const priced = behavior !== null && behavior !== 'credit_burndown'
  const had = former?.prices ?? []
  const named = await namedPrices(
    tx,
    environmentId,
    [
      ['monthly', 'monthly_metered_price_id', body.monthly_metered_price_id],
      ['quarterly', 'quarterly_metered_price_id', body.quarterly_metered_price_id],
      ['yearly', 'yearly_metered_price_id', body.yearly_metered_price_id],
    ],
    body.billing_product_id ?? null,
    had,
  )
  const usageType = behavior === 'pay_in_advance' ? 'licensed' : 'metered'
  const asBefore = former?.price_behavior === behavior
  const prices = priced
    ? unitPrices(ownerId, body, asBefore && had.length > 0 ? null : usageType, named, had)
    : named.prices
  return {
    billing_product_id: body.billing_product_id ?? null,
    overage_billing_product_id: body.overage_billing_product_id ?? null,
    tier_mode: prices.find(price => price.tiers_mode !== null)?.tiers_mode ?? null,
    prices,
  }
}

/** Whether this write creates a trait in every environment (EN-2), and so changes the whole account. */
export function touchesAccount(body: Pick<Exact<PlanEntitlementUpdate>, 'price_behavior'>): boolean {
  return body.price_behavior === 'pay_in_advance'
}

/**
 * The draft's counterpart of an entitlement: itself, or the draft's entitlement of the same feature.
 */
export async function entitlementInDraft(
  tx: Sql,
  draft: Pick<PlanVersionRow, 'id'>,
  entitlement: Pick<EntitlementRow, 'id' | 'feature_id'>,
): Promise<EntitlementRow | null> {
  const [row] = await tx<EntitlementRow[]>`
    select * from plan_entitlements
    where plan_version_id = ${draft.id} and feature_id = ${entitlement.feature_id}`
  return row ?? null
}

export async function findEntitlement(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<EntitlementRow | null> {
  const [row] = await sql<EntitlementRow[]>`
    select e.* from plan_entitlements e
    join plan_versions v on v.id = e.plan_version_id
    join plans p on p.id = e.plan_id
    where e.id = ${id} and e.environment_id = ${environmentId} and v.deleted_at is null and p.deleted_at is null`
  return row ?? null
}

export async function removeEntitlement(tx: Sql, row: EntitlementRow, nowMs: number): Promise<void> {
  await tx`delete from plan_entitlements where id = ${row.id}`
  await touchVersion(tx, row.plan_version_id, nowMs)
}

/**
 * Apply the entitlement actions of a bundle to a draft, in the given order.
 *
 * errors  those of each write; 400 for an action that lacks a required member.
 */
export async function applyBundle(
  tx: Sql,
  place: WritePlace,
  plan: PlanRow,
  draft: PlanVersionRow,
  actions: readonly Exact<BundleEntitlementWrite>[],
): Promise<readonly BundledChange[]> {
  const changes: BundledChange[] = []
  for (const { action, entitlement_id: id, req } of actions) {
    if (action === 'create') {
      const body = bundled(req, 'req')
      const featureId = bundled(body.feature_id, 'req.feature_id')
      const row = await writeEntitlement(tx, place, draft, featureId, body, null)
      changes.push({ type: 'created', row })
      continue
    }
    const named = await findEntitlement(tx, place.environmentId, bundled(id, 'entitlement_id'))
    const own = named?.plan_id === plan.id ? await entitlementInDraft(tx, draft, named) : null
    if (!own) throw new ServiceError('not_found', 'entitlement_id: no such entitlement of the plan')
    if (action === 'delete') {
      await removeEntitlement(tx, own, place.nowMs)
      changes.push({ type: 'deleted', row: own })
    } else {
      const row = await writeEntitlement(tx, place, draft, own.feature_id, bundled(req, 'req'), own)
      changes.push({ type: 'updated', row })
    }
  }
  return changes
}

/** One change by a bundle: the entitlement as it is now, or as it was if deleted. */
export interface BundledChange {
  readonly type: 'created' | 'deleted' | 'updated'
  readonly row: EntitlementRow
}

function bundled<T extends string | Exact<BundledEntitlement>>(
  value: T | null | undefined,
  member: string,
): T {
  if (value == null || value === '') throw invalid(`entitlements: ${member} is missing`)
  return value
}
