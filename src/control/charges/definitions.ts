// Definitions that rating needs: plan versions with their entitlements and prices, and prices of subscriptions, each
// with its former terms.
import type { Sql } from 'postgres'
import type { BillingArrearsAnchor, BillingArrearsCadence } from '../../../schemas/enums.js'
import { type EntitlementRow, grouped, type PlanVersionRow } from '../../catalog/plans.js'
import { cadenceMonths, priceTiers, type StoredPrice } from '../../catalog/prices.js'
import type { ItemPrice, OfferedPrice, RatedEntitlement, RatedVersion } from '../../core/rating/facts.js'
import { readQuantity } from '../../core/values/quantity.js'
import { among } from '../../kit/sql.js'
import type { BillingPriceRow } from '../prices/rows.js'

/** A former row of a table, and when it stopped to hold, epoch ms. */
interface Prior<Row> {
  readonly id: string
  readonly terms: Row
  readonly until_ms: string
}

/** Former rows with these ids, oldest first. source: RA-6 */
export function priorTerms<Row>(
  sql: Sql,
  environmentId: string,
  kind: string,
  ids: readonly string[],
): Promise<readonly Prior<Row>[]> {
  return sql<Prior<Row>[]>`
    select id, terms, until_ms from prior_terms
    where environment_id = ${environmentId} and kind = ${kind} and id in ${among(sql, ids)} order by place`
}

interface FeatureRow {
  readonly id: string
  readonly feature_type: string
  readonly event_subtype: string | null
  readonly trait_hierarchy: readonly string[] | null
}

/**
 * Plan versions as rating needs them, by id. Entitlements and features that were deleted since are as they were.
 *
 * source  RA-6.
 */
export async function ratedVersions(
  sql: Sql,
  environmentId: string,
  ids: readonly string[],
): Promise<Map<string, RatedVersion>> {
  if (ids.length === 0) return new Map()
  const [versions, present, deleted] = await Promise.all([
    sql<PlanVersionRow[]>`select * from plan_versions where id in ${among(sql, ids)}`,
    sql<EntitlementRow[]>`
      select * from plan_entitlements where plan_version_id in ${among(sql, ids)} order by created_at, id`,
    sql<{ terms: EntitlementRow }[]>`
      select distinct on (p.id) p.terms from prior_terms p
      where p.environment_id = ${environmentId} and p.kind = 'plan_entitlements'
        and p.terms->>'plan_version_id' in ${among(sql, ids)}
        and not exists (select from plan_entitlements e where e.id = p.id)
      order by p.id, p.place desc`,
  ])
  const entitlements = [...present, ...deleted.map(({ terms }) => terms)]
  const featureIds = [...new Set(entitlements.map(one => one.feature_id))]
  const priceIds = [...new Set(entitlements.flatMap(one => one.prices.map(({ id }) => id)))]
  const [features, former, prices] = await Promise.all([
    sql<FeatureRow[]>`
      select id, feature_type, event_subtype, trait_hierarchy from features where id in ${among(sql, featureIds)}`,
    priorTerms<FeatureRow>(sql, environmentId, 'features', featureIds),
    itemPrices(sql, environmentId, priceIds),
  ])
  const featureOf = new Map([...former.map(({ terms }) => terms), ...features].map(one => [one.id, one]))
  const formerly = grouped(former, one => one.id)
  const counted = (id: string): Counted => ({
    ...counterOf(featureOf.get(id)),
    ...(formerly.has(id) && {
      formerly: formerly
        .get(id)!
        .map(({ terms, until_ms }) => ({ ...counterOf(terms), untilMs: Number(until_ms) })),
    }),
  })
  return new Map(
    versions.map(row => {
      const own = entitlements.filter(one => one.plan_version_id === row.id)
      return [row.id, ratedVersion(row, own, counted, prices)]
    }),
  )
}

type Counted = Pick<RatedEntitlement, 'subtype' | 'trait' | 'formerly'>

/** The event or trait that a feature counts. */
function counterOf(feature: FeatureRow | undefined): Pick<RatedEntitlement, 'subtype' | 'trait'> {
  return {
    subtype: feature?.feature_type === 'event' ? feature.event_subtype : null,
    trait: feature?.feature_type === 'trait' ? (feature.trait_hierarchy?.join('.') ?? null) : null,
  }
}

function ratedVersion(
  row: PlanVersionRow,
  entitlements: readonly EntitlementRow[],
  counted: (featureId: string) => Counted,
  prices: ReadonlyMap<string, readonly ItemPrice[]>,
): RatedVersion {
  const seats = entitlements.filter(one => one.price_behavior === 'pay_in_advance')
  return {
    planId: row.plan_id,
    versionId: row.id,
    version: row.version,
    currency: row.currency,
    entitlements: entitlements.map(one => ratedEntitlement(one, counted(one.feature_id), prices)),
    feePriceIds: new Set(row.prices.map(({ id }) => id)),
    feeProductId: row.billing_product_id,
    seatPriceIds: new Map(
      seats.flatMap(one => one.prices.map(({ id }): [string, string] => [id, one.feature_id])),
    ),
  }
}

function ratedEntitlement(
  row: EntitlementRow,
  counted: Counted,
  prices: ReadonlyMap<string, readonly ItemPrice[]>,
): RatedEntitlement {
  return {
    id: row.id,
    featureId: row.feature_id,
    ...counted,
    valueType: row.value_type,
    behavior: row.price_behavior,
    softLimit: BigInt(row.soft_limit ?? 0),
    metricPeriod: row.metric_period ?? 'all_time',
    monthReset: row.metric_period_month_reset ?? 'first_of_month',
    cadence: row.overage_billing_cadence ?? 'end_of_billing_period',
    anchor: row.overage_invoice_anchor ?? 'billing_period_start',
    threshold: row.billing_threshold === null ? null : BigInt(row.billing_threshold),
    prices: row.prices.map(price => ({ ...offered(price, 1), ...sizesOf(prices.get(price.id) ?? []) })),
  }
}

/** Units that a price sells together, now and formerly; none where it is not stored yet. source: PB-42, RA-6 */
function sizesOf(terms: readonly ItemPrice[]): Partial<Pick<OfferedPrice, 'formerSizes' | 'packageSize'>> {
  const now = terms.at(-1)
  if (now === undefined) return {}
  const formerSizes = terms
    .slice(1)
    .map(({ fromMs }, i) => ({ packageSize: terms[i]!.packageSize, untilMs: fromMs }))
  return { packageSize: now.packageSize, ...(formerSizes.length > 0 && { formerSizes }) }
}

/** A stored price as rating needs it. */
export function offered(price: StoredPrice, packageSize: number): OfferedPrice {
  return {
    id: price.id,
    currency: price.currency,
    unit: price.price_decimal ?? String(readQuantity(price.price)),
    tiers: priceTiers(price),
    mode: price.tiers_mode ?? 'graduated',
    packageSize,
    months: cadenceMonths(price.cadence),
  }
}

/** Prices of subscriptions with their former terms, by id. source: RA-6 */
export async function itemPrices(
  sql: Sql,
  environmentId: string,
  ids: readonly string[],
): Promise<Map<string, ItemPrice[]>> {
  if (ids.length === 0) return new Map()
  const [present, former] = await Promise.all([
    sql<BillingPriceRow[]>`select * from billing_prices where id in ${among(sql, ids)}`,
    priorTerms<BillingPriceRow>(sql, environmentId, 'billing_prices', ids),
  ])
  const prices = new Map<string, ItemPrice[]>()
  for (const id of new Set([...present, ...former].map(one => one.id))) {
    const before = former.filter(one => one.id === id)
    const now = present.find(one => one.id === id)
    const all = before.map(({ terms }, i) => itemPrice(terms, Number(before[i - 1]?.until_ms ?? 0)))
    if (now) all.push(itemPrice(now, Number(before.at(-1)?.until_ms ?? 0)))
    prices.set(id, all)
  }
  return prices
}

function itemPrice(row: BillingPriceRow, fromMs: number): ItemPrice {
  return {
    id: row.id,
    currency: row.currency,
    unit: row.price_decimal ?? String(readQuantity(row.price)),
    tiers: row.price_tiers.length === 0 ? null : priceTiers({ tiers: row.price_tiers }),
    mode: row.tiers_mode ?? 'graduated',
    packageSize: row.package_size,
    months: row.interval === 'one-time' ? null : (row.interval === 'year' ? 12 : 1) * row.interval_count,
    fromMs,
    ...(row.interval === 'day' && { days: row.interval_count }),
    isMetered: row.usage_type === 'metered',
  }
}

/** The price of a credit past zero, of the plan grants of some versions. */
export interface ArrearsTerms {
  readonly id: string
  readonly plan_id: string
  readonly plan_version_id: string
  readonly credit_id: string
  readonly rate: string | null
  readonly cadence: BillingArrearsCadence
  readonly anchor: BillingArrearsAnchor
}

/** Plan grants of versions under which credits may fall below zero; deleted ones are as they were. source: RA-17 */
export async function arrearsTerms(
  sql: Sql,
  environmentId: string,
  versionIds: readonly string[],
): Promise<readonly ArrearsTerms[]> {
  if (versionIds.length === 0) return []
  return sql<ArrearsTerms[]>`
    select id, plan_id, plan_version_id, credit_id,
      coalesce(postpaid_rate_per_unit_decimal, postpaid_rate_per_unit::text) as rate,
      coalesce(arrears_cadence, 'end_of_billing_period') as cadence,
      coalesce(arrears_anchor, 'billing_period_start') as anchor
    from plan_credit_grants where plan_version_id in ${among(sql, versionIds)} and postpaid_enabled
    union all
    select distinct on (p.id) p.id, p.terms->>'plan_id', p.terms->>'plan_version_id', p.terms->>'credit_id',
      coalesce(p.terms->>'postpaid_rate_per_unit_decimal', p.terms->>'postpaid_rate_per_unit'),
      coalesce(p.terms->>'arrears_cadence', 'end_of_billing_period'),
      coalesce(p.terms->>'arrears_anchor', 'billing_period_start')
    from prior_terms p
    where p.environment_id = ${environmentId} and p.kind = 'plan_credit_grants'
      and p.terms->>'plan_version_id' in ${among(sql, versionIds)}
      and (p.terms->>'postpaid_enabled')::boolean
      and not exists (select from plan_credit_grants g where g.id = p.id)`
}
