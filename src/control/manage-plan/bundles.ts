// Credit bundles bought together with a change of plans: their grants and their cost.
import type { Sql } from 'postgres'
import type { ManagePlanRequest } from '../../../schemas/billing.js'
import type { BillingCreditExpiryType, BillingCreditExpiryUnit } from '../../../schemas/enums.js'
import type { StoredPrice } from '../../catalog/prices.js'
import type { PlansManaged } from '../../core/model/plan-messages.js'
import { multiplyQuantity, type Quantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import { among } from '../../kit/sql.js'
import { amountOf, type SoldPrice, soldAs } from '../billing/sold-price.js'
import { conflict } from './selection.js'

interface BundleRow {
  readonly id: string
  readonly credit_id: string
  readonly name: string
  readonly status: 'active' | 'inactive'
  readonly quantity: string | null
  readonly expiry_type: BillingCreditExpiryType
  readonly expiry_unit: BillingCreditExpiryUnit
  readonly expiry_unit_count: string | null
  readonly compatible_plan_ids: readonly string[]
  readonly currency: string
  readonly prices: readonly StoredPrice[]
}

/** A bundle bought. */
interface BoughtBundle {
  readonly purchase: PlansManaged['purchases'][number]
  readonly name: string
  /** Price of one credit; null: free. */
  readonly price: SoldPrice | null
  readonly quantity: number
  readonly amount: Quantity
}

/**
 * The bundles that a request buys, for a company that will be on a base plan.
 *
 * errors  404 for an unknown bundle; 400 for one that is not for sale, not on this plan, or without a price in the
 *         requested currency.
 * source  PB-43, PB-70, PB-71, PB-73, CR-13.
 */
export async function bundlesOf(
  sql: Sql,
  environmentId: string,
  body: ManagePlanRequest,
  currency: string,
): Promise<BoughtBundle[]> {
  if (body.credit_bundles.length === 0) return []
  const rows = await sql<BundleRow[]>`
    select * from credit_bundles where environment_id = ${environmentId} and deleted_at is null
      and id in ${among(
        sql,
        body.credit_bundles.map(one => one.bundle_id),
      )}`
  return body.credit_bundles.map(({ bundle_id: id, quantity }) => {
    const row = rows.find(one => one.id === id)
    if (!row) throw new ServiceError('not_found', `credit_bundles: no bundle ${id}`)
    if (row.status !== 'active') throw conflict(`credit_bundles: ${row.name} is not for sale`)
    const plans = row.compatible_plan_ids
    if (plans.length > 0 && (body.base_plan_id == null || !plans.includes(body.base_plan_id)))
      throw conflict(`credit_bundles: ${row.name} is not for sale on this plan`)
    return bought(row, quantity, currency)
  })
}

/** One purchase. A bundle without quantity: the buyer chooses the number of credits. */
function bought(row: BundleRow, count: number, currency: string): BoughtBundle {
  const credits = row.quantity === null ? count : Number(row.quantity)
  const lots = row.quantity === null ? 1 : count
  const stored = row.prices.find(price => price.currency === currency)
  if (!stored && row.prices.length > 0)
    throw conflict(`credit_bundles: ${row.name} has no price in ${currency}`)
  const price = stored ? soldAs(stored, stored.product_id ?? '') : null
  return {
    name: row.name,
    price,
    quantity: credits * lots,
    amount: price ? multiplyQuantity(amountOf(price, credits), lots) : 0, // PB-73
    purchase: {
      type: 'credit_grant',
      creditId: row.credit_id,
      reason: 'purchased',
      quantity: credits,
      count: lots,
      validFromMs: null,
      expiresAtMs: null,
      expiry: {
        type: row.expiry_type,
        unit: row.expiry_unit,
        count: row.expiry_unit_count === null ? null : Number(row.expiry_unit_count),
      },
      bundleId: row.id,
      currency,
    },
  }
}
