// Statements of billing records: products, prices, customers, subscriptions.
import type { Sql } from 'postgres'
import type { BillingPriceUsageType, BillingProviderType, BillingTiersMode } from '../../../schemas/enums.js'
import type { Quantity } from '../../core/values/quantity.js'
import type { Page } from '../../kit/query.js'
import { among, asJson, contains, newest } from '../../kit/sql.js'
import { allOf, type Fragment } from '../entities/list.js'
import type { BillingPriceRow, BillingProductRow } from '../prices/rows.js'
import type { CustomerRow, SubscriptionRow } from './record-rows.js'

interface ProductFilter {
  readonly ids?: readonly string[]
  readonly is_active?: boolean
  readonly name?: string
  readonly price_usage_type?: BillingPriceUsageType
  readonly provider_type?: BillingProviderType
  readonly q?: string
  readonly recurring_charges_only?: boolean
  readonly with_one_time_charges?: boolean
  readonly with_prices_only?: boolean
  readonly with_zero_price?: boolean
  readonly without_linked_to_plan?: boolean
}

/** Collects the SQL conditions of a filter. An absent or false member adds none. */
class Narrowing {
  constructor(
    private readonly sql: Sql,
    private readonly conditions: Fragment[],
  ) {}

  by<T>(given: T | undefined, condition: (value: NonNullable<T>) => Fragment): this {
    if (given !== undefined && given !== null && given !== false && given !== '')
      this.conditions.push(condition(given))
    return this
  }

  /** Compare a column; false is a value here, absent adds no condition. */
  is(column: string, given: boolean | number | undefined): this {
    if (given !== undefined) this.conditions.push(this.sql`${this.sql(column)} = ${given}`)
    return this
  }

  get all(): Fragment {
    return allOf(this.sql, this.conditions)
  }
}

function priced(sql: Sql, condition: Fragment): Fragment {
  return sql`exists (
    select 1 from billing_prices p where p.product_id = billing_products.id and p.is_active and ${condition})`
}

function isFree(sql: Sql): Fragment {
  return sql`p.price = 0 and coalesce(p.price_decimal::numeric, 0) = 0 and p.billing_scheme = 'per_unit'`
}

function productsMatching(sql: Sql, environmentId: string, filter: ProductFilter): Fragment {
  const once = priced(sql, sql`p."interval" = 'one-time'`)
  return new Narrowing(sql, [sql`environment_id = ${environmentId}`])
    .by(filter.ids, ids => sql`id in ${among(sql, ids)}`)
    .is('is_active', filter.is_active)
    .by(filter.name, name => contains(sql, 'name', name))
    .by(filter.q, q => sql`(${contains(sql, 'name', q)} or ${contains(sql, 'external_id', q)})`)
    .by(filter.provider_type, provider => sql`provider_type = ${provider}`)
    .by(filter.price_usage_type, type => priced(sql, sql`p.usage_type = ${type}`))
    .by(
      filter.recurring_charges_only,
      () => sql`${priced(sql, sql`p."interval" <> 'one-time'`)} and not ${once}`,
    )
    .by(filter.with_one_time_charges, () => once)
    .by(filter.with_prices_only, () => priced(sql, sql`true`))
    .by(filter.with_zero_price, () => priced(sql, isFree(sql)))
    .by(
      filter.without_linked_to_plan,
      () => sql`not exists (
        select 1 from plan_versions v where v.billing_product_id = billing_products.id and v.deleted_at is null)`,
    ).all
}

export function listProductRows(sql: Sql, environmentId: string, filter: ProductFilter, page: Page) {
  return sql<BillingProductRow[]>`
    select * from billing_products where ${productsMatching(sql, environmentId, filter)} ${newest(sql, page)}`
}

export async function countProductRows(
  sql: Sql,
  environmentId: string,
  filter: ProductFilter,
): Promise<number> {
  const [row] = await sql<{ count: string }[]>`
    select count(*) from billing_products where ${productsMatching(sql, environmentId, filter)}`
  return Number(row!.count)
}

/** Number of active subscriptions per product. */
export async function subscriptionCounts(
  sql: Sql,
  environmentId: string,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (productIds.length === 0) return new Map()
  const rows = await sql<{ id: string; count: string }[]>`
    select product.id, count(*) from jsonb_array_elements_text(${asJson(sql, productIds)}) as product (id)
    join billing_subscriptions s on s.environment_id = ${environmentId}
      and s.status in ('active', 'past_due', 'trialing')
      and s.products @> jsonb_build_array(jsonb_build_object('product_id', product.id))
    group by product.id`
  return new Map(rows.map(row => [row.id, Number(row.count)]))
}

export async function upsertProduct(sql: Sql, row: BillingProductRow): Promise<BillingProductRow> {
  const { id: _, created_at: __, environment_id, provider_type, external_id, ...values } = row
  const [stored] = await sql<BillingProductRow[]>`
    insert into billing_products ${sql({ ...row })}
    on conflict (environment_id, provider_type, external_id) do update set ${sql(values)}
    returning *`
  return stored!
}

/** A product by its provider's id. If several providers use the id, `preferred` wins. */
export async function productByExternalId(
  sql: Sql,
  environmentId: string,
  externalId: string,
  preferred: BillingProviderType,
): Promise<BillingProductRow | null> {
  const [row] = await sql<BillingProductRow[]>`
    select * from billing_products where environment_id = ${environmentId} and external_id = ${externalId}
    order by provider_type = ${preferred} desc, id limit 1`
  return row ?? null
}

/** The product whose price has this external id. */
export async function productOfPrice(
  sql: Sql,
  environmentId: string,
  priceExternalId: string,
): Promise<BillingProductRow | null> {
  const [row] = await sql<BillingProductRow[]>`
    select p.* from billing_prices b join billing_products p on p.id = b.product_id
    where b.environment_id = ${environmentId} and b.external_id = ${priceExternalId}
    order by b.id limit 1`
  return row ?? null
}

interface PriceFilter {
  readonly currency?: string
  readonly for_initial_plan?: boolean
  readonly for_trial_expiry_plan?: boolean
  readonly ids?: readonly string[]
  readonly interval?: string
  readonly interval_count?: number
  readonly is_active?: boolean
  readonly plan_version_id?: string
  readonly price?: Quantity
  readonly product_id?: string
  readonly product_ids?: readonly string[]
  readonly provider_type?: BillingProviderType
  readonly q?: string
  readonly tiers_mode?: BillingTiersMode
  readonly usage_type?: BillingPriceUsageType
  readonly with_meter?: boolean
}

/** A price with its product and meter. */
export interface PriceWithProduct extends BillingPriceRow {
  readonly product_external_id: string
  readonly product_name: string
  readonly meter_event_name: string | null
  readonly meter_event_payload_key: string | null
}

/** EN-83: prices of an initial or trial-expiry plan must be zero. */
function pricesMatching(sql: Sql, environmentId: string, filter: PriceFilter): Fragment {
  const { with_meter: withMeter } = filter
  return new Narrowing(sql, [sql`p.environment_id = ${environmentId}`])
    .by(filter.currency, currency => sql`p.currency = ${currency.toLowerCase()}`)
    .by(filter.for_initial_plan || filter.for_trial_expiry_plan, () => isFree(sql))
    .by(filter.ids, ids => sql`p.id in ${among(sql, ids)}`)
    .by(filter.interval, interval => sql`p."interval" = ${interval}`)
    .is('p.interval_count', filter.interval_count)
    .is('p.is_active', filter.is_active)
    .by(filter.price, price => sql`p.price = ${String(price)}::bigint`)
    .by(
      filter.plan_version_id,
      id => sql`exists (
        select 1 from plan_versions v where v.id = ${id} and (
          v.billing_product_id = p.product_id or v.prices @> jsonb_build_array(jsonb_build_object('id', p.id))))`,
    )
    .by(filter.product_id, id => sql`p.product_id = ${id}`)
    .by(filter.product_ids, ids => sql`p.product_id in ${among(sql, ids)}`)
    .by(filter.provider_type, provider => sql`p.provider_type = ${provider}`)
    .by(
      filter.q,
      q => sql`(${contains(sql, 'p.external_id', q)} or coalesce(${contains(sql, 'p.nickname', q)}, false)
        or ${contains(sql, 'product.name', q)})`,
    )
    .by(filter.tiers_mode, mode => sql`p.tiers_mode = ${mode}`)
    .by(filter.usage_type, type => sql`p.usage_type = ${type}`)
    .by(withMeter === true, () => sql`p.meter_id is not null`)
    .by(withMeter === false, () => sql`p.meter_id is null`).all
}

export function listPriceRows(sql: Sql, environmentId: string, filter: PriceFilter, page: Page) {
  return sql<PriceWithProduct[]>`
    select p.*, product.external_id as product_external_id, product.name as product_name,
      meter.event_name as meter_event_name, meter.event_payload_key as meter_event_payload_key
    from billing_prices p join billing_products product on product.id = p.product_id
    left join billing_meters meter on meter.environment_id = p.environment_id
      and (meter.id = p.meter_id or meter.external_id = p.meter_id)
    where ${pricesMatching(sql, environmentId, filter)}
    order by p.created_at desc, p.id desc limit ${page.limit} offset ${page.offset}`
}

export async function upsertPrice(sql: Sql, row: BillingPriceRow): Promise<BillingPriceRow> {
  const { id, created_at, environment_id, provider_type, external_id, price_tiers, ...values } = row
  const set = { ...values, price_tiers: asJson(sql, price_tiers) }
  const [stored] = await sql<BillingPriceRow[]>`
    insert into billing_prices ${sql({ ...set, id, created_at, environment_id, provider_type, external_id })}
    on conflict (environment_id, provider_type, external_id) do update set ${sql(set)}
    returning *`
  return stored!
}

/** A price by its provider's id; a price of this product is preferred. */
export async function priceByExternalId(
  sql: Sql,
  environmentId: string,
  productId: string,
  externalId: string,
): Promise<BillingPriceRow | null> {
  const [row] = await sql<BillingPriceRow[]>`
    select * from billing_prices
    where environment_id = ${environmentId} and external_id = ${externalId}
    order by product_id = ${productId} desc, id limit 1`
  return row ?? null
}

interface CustomerFilter {
  readonly company_ids?: readonly string[]
  readonly name?: string
  readonly provider_type?: BillingProviderType
  readonly q?: string
}

function customersMatching(sql: Sql, environmentId: string, filter: CustomerFilter): Fragment {
  return new Narrowing(sql, [sql`environment_id = ${environmentId} and deleted_at is null`])
    .by(filter.company_ids, ids => sql`company_id in ${among(sql, ids)}`)
    .by(filter.name, name => contains(sql, 'name', name))
    .by(filter.provider_type, provider => sql`provider_type = ${provider}`)
    .by(
      filter.q,
      q =>
        sql`(${contains(sql, 'name', q)} or ${contains(sql, 'email', q)} or ${contains(sql, 'external_id', q)})`,
    ).all
}

export function listCustomerRows(sql: Sql, environmentId: string, filter: CustomerFilter, page: Page) {
  return sql<CustomerRow[]>`
    select * from billing_customers where ${customersMatching(sql, environmentId, filter)} ${newest(sql, page)}`
}

export async function countCustomerRows(
  sql: Sql,
  environmentId: string,
  filter: CustomerFilter,
): Promise<number> {
  const [row] = await sql<{ count: string }[]>`
    select count(*) from billing_customers where ${customersMatching(sql, environmentId, filter)}`
  return Number(row!.count)
}

export async function upsertCustomer(sql: Sql, row: CustomerRow): Promise<CustomerRow> {
  const { id, created_at, environment_id, external_id, meta, ...values } = row
  const set = { ...values, meta: asJson(sql, meta) }
  const [stored] = await sql<CustomerRow[]>`
    insert into billing_customers ${sql({ ...set, id, created_at, environment_id, external_id })}
    on conflict (environment_id, external_id) do update set ${sql(set)}
    returning *`
  return stored!
}

export function subscriptionsOfCustomers(sql: Sql, environmentId: string, externalIds: readonly string[]) {
  return sql<SubscriptionRow[]>`
    select * from billing_subscriptions
    where environment_id = ${environmentId} and customer_external_id in ${among(sql, externalIds)}
    order by created_at desc, id desc`
}

/** Subscriptions whose status gives access; some may have ended by time. `companyIds` null: all companies. */
export function runningSubscriptions(sql: Sql, environmentId: string, companyIds: readonly string[] | null) {
  return sql<SubscriptionRow[]>`
    select * from billing_subscriptions
    where environment_id = ${environmentId} and company_id is not null
      and status in ('active', 'past_due', 'trialing')
      ${companyIds ? sql`and company_id in ${among(sql, companyIds)}` : sql``}
    order by created_at desc, id desc`
}
