// Credit bundles: packages of credits for sale (PB-70…73).
import type { Sql } from 'postgres'
import type { CreditBundle, CreditBundleCreate, CreditBundleUpdate } from '../../../schemas/credits.js'
import { newId } from '../../account/ids.js'
import type { CreditBundleRow, CreditRow } from '../../catalog/credits.js'
import { numberOrNull } from '../../catalog/plans.js'
import { nativeProductId, type StoredPrice } from '../../catalog/prices.js'
import { defaultExpiry } from '../../core/credits/grant.js'
import type { Quantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { list, oneOf, page, type QueryOf, query, string } from '../../kit/query.js'
import { among, asJson } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import { whole } from '../../kit/unchanged.js'
import { placeOf, visiblePlans } from '../plan-versions/version-rows.js'
import { mintUnversioned } from '../prices/mint.js'
import { priceView } from '../prices/view.js'
import { bundlePrice, unitPrices } from './prices.js'
import { countBundleRows, type FoundBundle, listBundleRows, requireBundle, requireCredit } from './store.js'
import { creditViews } from './view.js'

const listShape = {
  ids: list,
  credit_id: string,
  status: oneOf(['active', 'inactive']),
  bundle_type: oneOf(['fixed']),
  ...page,
} as const
export const bundleListQuery = query(listShape)
type BundleListQuery = QueryOf<typeof listShape>

/** GET /billing/credits/bundles, newest first. */
export const listBundles: Handler<undefined, BundleListQuery> = async call => {
  const { sql, projections } = call.services
  await projections.barrier('postgres')
  const rows = await listBundleRows(sql, call.environment.id, call.query, call.query)
  return { data: await bundleViews(sql, rows) }
}

/** GET /billing/credits/bundles/count. */
export const countBundles: Handler<undefined, BundleListQuery> = async call => ({
  data: { count: await countBundleRows(call.services.sql, call.environment.id, call.query) },
})

/** GET /billing/credits/bundles/{bundle_id}. */
export const getBundle: Handler = async call => {
  const { sql, projections } = call.services
  await projections.barrier('postgres')
  return { data: await viewOf(sql, await requireBundle(sql, call.environment.id, call.params.bundle_id!)) }
}

async function viewOf(sql: Sql, row: FoundBundle): Promise<CreditBundle> {
  const [view] = await bundleViews(sql, [row])
  return view!
}

async function bundleViews(sql: Sql, rows: readonly FoundBundle[]): Promise<CreditBundle[]> {
  const credits = await creditViews(
    sql,
    rows.map(row => row.credit_id),
  )
  return rows.map(row => {
    const credit = credits.get(row.credit_id)
    const quantity = numberOrNull(row.quantity)
    const unit = row.prices.find(price => price.currency === row.currency)
    return {
      id: row.id,
      name: row.name,
      bundle_type: row.bundle_type,
      credit_id: row.credit_id,
      credit_name: credit?.name ?? '',
      ...(credit && { credit_description: credit.description }),
      credit_icon: credit?.icon ?? null,
      plural_name: credit?.plural_name ?? null,
      singular_name: credit?.singular_name ?? null,
      billing_invoice_id: null,
      compatible_plan_ids: [...row.compatible_plan_ids],
      currency_prices: row.prices.map(price => ({
        currency: price.currency,
        price: priceView(bundlePrice(price, quantity)),
      })),
      expiry_type: row.expiry_type,
      expiry_unit: row.expiry_unit,
      expiry_unit_count: numberOrNull(row.expiry_unit_count),
      has_grants: row.has_grants,
      ...(unit && { price: priceView(bundlePrice(unit, quantity)), unit_price: priceView(unit) }),
      quantity,
      status: row.status,
      created_at: isoTime(row.created_at.getTime()),
      updated_at: isoTime(row.updated_at.getTime()),
    }
  })
}

type Terms = Pick<
  CreditBundleRow,
  | 'name'
  | 'quantity'
  | 'expiry_type'
  | 'expiry_unit'
  | 'expiry_unit_count'
  | 'status'
  | 'compatible_plan_ids'
  | 'currency'
  | 'prices'
>

/** The optional members of a body, filled from the row. Prices are handled separately (prices.ts). */
function statedBundle(row: Terms) {
  return {
    bundle_name: row.name,
    status: row.status,
    quantity: numberOrNull(row.quantity),
    expiry_type: row.expiry_type,
    expiry_unit: row.expiry_unit,
    expiry_unit_count: numberOrNull(row.expiry_unit_count),
    compatible_plan_ids: row.compatible_plan_ids,
  }
}

/** Whole credits; the schema keeps them within 2^53. */
function countOf({ quantity }: { readonly quantity: Quantity | null }): number | null {
  return quantity === null ? null : Number(quantity)
}

async function normaliseBundle(
  tx: Sql,
  call: Call<unknown, unknown>,
  id: string,
  given: Exact<CreditBundleUpdate>,
  former: Terms,
) {
  const body = whole(given, statedBundle(former))
  const planIds = body.compatible_plan_ids ?? []
  await requirePlans(tx, call, planIds)
  const expiryType = body.expiry_type ?? former.expiry_type
  const count = body.expiry_unit_count
  if (expiryType === 'duration' && count === null)
    throw new ServiceError('value_invalid', 'expiry_unit_count: needed by expiry_type duration')
  const quantity = countOf(body)
  const units = unitPrices(
    id,
    former.currency,
    { amount: body.price_per_unit, exact: body.price_per_unit_decimal, others: body.currency_prices },
    former.prices,
  )
  return {
    name: body.bundle_name,
    status: body.status ?? former.status,
    quantity,
    expiry_type: expiryType,
    expiry_unit: body.expiry_unit ?? former.expiry_unit,
    expiry_unit_count: expiryType === 'duration' ? count : null,
    compatible_plan_ids: asJson(tx, [...planIds]),
    prices: asJson(tx, await mintedPrices(tx, call, { id, name: body.bundle_name, quantity }, units)),
  }
}

/** Store the prices of one credit and of the whole bundle, each under its own id. Returns those of one credit. */
async function mintedPrices(
  tx: Sql,
  { environment, services }: Call<unknown, unknown>,
  bundle: { readonly id: string; readonly name: string; readonly quantity: number | null },
  units: readonly StoredPrice[],
): Promise<readonly StoredPrice[]> {
  const product = { productId: nativeProductId(environment.id, bundle.id, null), name: bundle.name }
  const wholes = units.map(unit => bundlePrice(unit, bundle.quantity))
  const now = new Date(services.clock.wall())
  const minted = await mintUnversioned(tx, environment.id, product, [...units, ...wholes], now)
  return minted.slice(0, units.length)
}

async function requirePlans(tx: Sql, call: Call<unknown, unknown>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const rows = await tx<{ id: string }[]>`
    select id from plans where ${visiblePlans(tx, placeOf(call))} and id in ${among(tx, ids)}`
  const known = new Set(rows.map(row => row.id))
  const unknown = ids.find(id => !known.has(id))
  if (unknown !== undefined)
    throw new ServiceError('not_found', `compatible_plan_ids: no such plan as ${unknown}`)
}

/** Terms of a new bundle where its body is silent: the credit's own expiry (CR-34), for sale at once. */
function defaults(credit: CreditRow, currency: string): Terms {
  const rule = defaultExpiry({
    id: credit.id,
    name: credit.name,
    burnStrategy: credit.burn_strategy,
    ledgerAuthority: credit.ledger_authority,
    defaultExpiryUnit: credit.default_expiry_unit,
    defaultExpiryUnitCount: numberOrNull(credit.default_expiry_unit_count),
    defaultRolloverPolicy: credit.default_rollover_policy,
  })
  return {
    name: '',
    quantity: null,
    expiry_type: rule.type,
    expiry_unit: credit.default_expiry_unit,
    expiry_unit_count: rule.count,
    status: 'active',
    compatible_plan_ids: [],
    currency,
    prices: [],
  }
}

/** POST /billing/credits/bundles. */
export const createBundle: Handler<Exact<CreditBundleCreate>> = async call => {
  const data = await call.services.sql.begin(async transaction => {
    const tx = transaction as unknown as Sql
    await call.record?.(tx)
    return makeBundle(tx, call)
  })
  return { status: 201, data }
}

/** Insert the bundle of a body; returns its view. */
export async function makeBundle(tx: Sql, call: Call<Exact<CreditBundleCreate>, unknown>) {
  const { body, services, environment } = call
  const now = new Date(services.clock.wall())
  const id = newId('bcbn_')
  const { currency } = body
  const credit = await requireCredit(tx, environment.id, body.credit_id, 'credit_id')
  const terms = await normaliseBundle(tx, call, id, body, defaults(credit, currency))
  const [row] = await tx<CreditBundleRow[]>`
    insert into credit_bundles ${tx({
      id,
      environment_id: environment.id,
      credit_id: credit.id,
      ...terms,
      currency,
      created_at: now,
      updated_at: now,
    })} returning *`
  return viewOf(tx, { ...row!, has_grants: false })
}

/** Bundles change in turn with the definitions of their environment. */
function scopeOf({ environment }: Call<unknown, unknown>) {
  return { accountId: environment.accountId, environmentId: environment.id }
}

/**
 * PUT /billing/credits/bundles/{bundle_id}. Applies to later purchases; existing grants are unchanged (CR-13).
 *
 * errors  400 for another quantity once the bundle was bought.
 * source  PB-70, PB-71.
 */
export const changeBundle: Handler<Exact<CreditBundleUpdate>> = async call => {
  const { body, services, environment } = call
  await services.projections.barrier('postgres')
  const data = await services.catalogs.change(scopeOf(call), async tx => {
    const former = await requireBundle(tx, environment.id, call.params.bundle_id!)
    const quantity = countOf(whole(body, statedBundle(former)))
    if (former.has_grants && quantity !== numberOrNull(former.quantity))
      throw new ServiceError('state_conflict', 'quantity: the bundle was bought, its quantity stays')
    const terms = await normaliseBundle(tx, call, former.id, body, former)
    const [row] = await tx<CreditBundleRow[]>`
      update credit_bundles set ${tx({ ...terms, updated_at: new Date(services.clock.wall()) })}
      where id = ${former.id} returning *`
    return viewOf(tx, { ...row!, has_grants: former.has_grants })
  })
  return { data }
}

/**
 * DELETE /billing/credits/bundles/{bundle_id}. A bundle that was bought is archived instead and leaves the sale
 * (PB-72).
 */
export const deleteBundle: Handler = async call => {
  const { services, environment } = call
  await services.projections.barrier('postgres')
  await services.catalogs.change(scopeOf(call), async tx => {
    const bundle = await requireBundle(tx, environment.id, call.params.bundle_id!)
    const now = new Date(services.clock.wall())
    if (bundle.has_grants)
      await tx`update credit_bundles set status = 'inactive', updated_at = ${now} where id = ${bundle.id}`
    else await tx`update credit_bundles set deleted_at = ${now} where id = ${bundle.id}`
  })
  return { data: { deleted: true } }
}
