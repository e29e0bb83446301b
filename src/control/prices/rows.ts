// Rows of billing products and prices.
import type { Sql } from 'postgres'
import type {
  BillingPriceScheme,
  BillingPriceUsageType,
  BillingProductPriceInterval,
  BillingProviderType,
  BillingTiersMode,
} from '../../../schemas/enums.js'
import type { StoredTier } from '../../catalog/prices.js'
import { among } from '../../kit/sql.js'

/** A row of billing_products. */
export interface BillingProductRow {
  readonly id: string
  readonly environment_id: string
  readonly external_id: string
  readonly name: string
  readonly provider_type: BillingProviderType
  readonly is_active: boolean
  readonly price: number
  readonly quantity: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of billing_prices. */
export interface BillingPriceRow {
  readonly id: string
  readonly environment_id: string
  readonly product_id: string
  readonly external_id: string
  readonly provider_type: BillingProviderType
  readonly currency: string
  readonly interval: BillingProductPriceInterval
  readonly interval_count: number
  readonly price: string | number
  readonly price_decimal: string | null
  readonly billing_scheme: BillingPriceScheme
  readonly tiers_mode: BillingTiersMode | null
  readonly price_tiers: readonly StoredTier[]
  readonly usage_type: BillingPriceUsageType
  readonly package_size: number
  readonly is_active: boolean
  readonly nickname: string | null
  readonly meter_id: string | null
  readonly external_account_id: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export async function findPrice(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<BillingPriceRow | null> {
  const [row] = await sql<BillingPriceRow[]>`
    select * from billing_prices where id = ${id} and environment_id = ${environmentId}`
  return row ?? null
}

export async function findProduct(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<BillingProductRow | null> {
  const [row] = await sql<BillingProductRow[]>`
    select * from billing_products where id = ${id} and environment_id = ${environmentId}`
  return row ?? null
}

/** Products by id. */
export async function productRows(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, BillingProductRow>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<BillingProductRow[]>`select * from billing_products where id in ${among(sql, ids)}`
  return new Map(rows.map(row => [row.id, row]))
}

/** Active prices of products, oldest first. */
export async function pricesOfProducts(
  sql: Sql,
  productIds: readonly string[],
): Promise<readonly BillingPriceRow[]> {
  if (productIds.length === 0) return []
  return sql<BillingPriceRow[]>`
    select * from billing_prices where product_id in ${among(sql, productIds)} and is_active order by created_at, id`
}

/** Units that prices sell together, by id; a price that is not stored yet is missing. source: PB-42 */
export async function packageSizes(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; package_size: number }[]>`
    select id, package_size from billing_prices where id in ${among(sql, [...new Set(ids)])}`
  return new Map(rows.map(row => [row.id, row.package_size]))
}
