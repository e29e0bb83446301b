// Credit types: the unit, the burn order, the price of one.
import type { Sql } from 'postgres'
import type { CreditCreate, CreditUpdate } from '../../../schemas/credits.js'
import { newId } from '../../account/ids.js'
import type { CreditRow } from '../../catalog/credits.js'
import { numberOrNull } from '../../catalog/plans.js'
import { nativeProductId } from '../../catalog/prices.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { list, page, type QueryOf, query, text } from '../../kit/query.js'
import { asJson } from '../../kit/sql.js'
import { whole } from '../../kit/unchanged.js'
import { mintUnversioned } from '../prices/mint.js'
import { unitPrices } from './prices.js'
import { countCreditRows, listCreditRows, requireCredit, usersOfCredit } from './store.js'
import { creditViewsOf } from './view.js'

const listShape = { ids: list, name: text(255), ...page } as const
export const creditListQuery = query(listShape)
type CreditListQuery = QueryOf<typeof listShape>

/** The scope of a change to definitions that belong to one environment. */
export function scopeOf(call: Call<unknown, unknown>) {
  return { accountId: call.key.accountId, environmentId: call.environment.id }
}

/** GET /billing/credits, newest first. */
export const listCredits: Handler<undefined, CreditListQuery> = async call => {
  const rows = await listCreditRows(call.services.sql, call.environment.id, call.query, call.query)
  return { data: await creditViewsOf(call.services.sql, rows) }
}

/** GET /billing/credits/count. */
export const countCredits: Handler<undefined, CreditListQuery> = async call => ({
  data: { count: await countCreditRows(call.services.sql, call.environment.id, call.query) },
})

/** GET /billing/credits/{credit_id}. */
export const getCredit: Handler = async ({ services, environment, params }) => {
  const row = await requireCredit(services.sql, environment.id, params.credit_id!)
  const [data] = await creditViewsOf(services.sql, [row])
  return { data }
}

/** Store the prices of a credit under the ids it shows; existing ones are updated in place. */
function sold(
  tx: Sql,
  environmentId: string,
  id: string,
  settled: ReturnType<typeof normaliseCredit>,
  now: Date,
) {
  const product = { productId: nativeProductId(environmentId, id, null), name: settled.name }
  return mintUnversioned(tx, environmentId, product, settled.prices, now)
}

/** The optional members of a body, filled from the row. Prices are handled separately (prices.ts). */
function statedCredit(row: CreditRow) {
  return {
    name: row.name,
    description: row.description,
    burn_strategy: row.burn_strategy,
    default_expiry_unit: row.default_expiry_unit,
    default_expiry_unit_count: numberOrNull(row.default_expiry_unit_count),
    default_rollover_policy: row.default_rollover_policy,
    icon: row.icon,
    plural_name: row.plural_name,
    singular_name: row.singular_name,
  }
}

/** Convert a complete body to the stored form, with defaults (CR-21, CR-34). */
function normaliseCredit(
  id: string,
  body: Omit<Exact<CreditCreate>, 'currency'>,
  former: Pick<CreditRow, 'currency' | 'prices'>,
) {
  return {
    name: body.name,
    description: body.description,
    burn_strategy: body.burn_strategy ?? 'plan_first_then_credit_bundles_first_in_first_out',
    default_expiry_unit: body.default_expiry_unit ?? 'days',
    default_expiry_unit_count: body.default_expiry_unit_count ?? null,
    default_rollover_policy: body.default_rollover_policy ?? 'none',
    icon: body.icon ?? null,
    plural_name: body.plural_name ?? null,
    singular_name: body.singular_name ?? null,
    prices: unitPrices(
      id,
      former.currency,
      { amount: body.per_unit_price, exact: body.per_unit_price_decimal, others: body.currency_prices },
      former.prices,
    ),
  }
}

/** POST /billing/credits. Defaults: the burn order of CR-21, no expiry, no rollover (CR-34). */
export const createCredit: Handler<Exact<CreditCreate>> = async call => {
  const { body, services, environment } = call
  const now = new Date(services.clock.wall())
  const id = newId('bcrd_')
  const { currency } = body
  const settled = normaliseCredit(id, body, { currency, prices: [] })
  const data = await services.catalogs.change(scopeOf(call), async tx => {
    const [row] = await tx<CreditRow[]>`
      insert into billing_credits ${tx({
        id,
        environment_id: environment.id,
        ...settled,
        prices: asJson(tx, await sold(tx, environment.id, id, settled, now)),
        currency,
        created_at: now,
        updated_at: now,
      })} returning *`
    return (await creditViewsOf(tx, [row!]))[0]
  })
  return { status: 201, data }
}

/** PUT /billing/credits/{credit_id}. A new burn order applies from the next draw on (CR-24). */
export const changeCredit: Handler<Exact<CreditUpdate>> = async call => {
  const { body, services, environment } = call
  const now = new Date(services.clock.wall())
  const data = await services.catalogs.change(scopeOf(call), async tx => {
    const former = await requireCredit(tx, environment.id, call.params.credit_id!)
    const settled = normaliseCredit(former.id, whole(body, statedCredit(former)), former)
    const [row] = await tx<CreditRow[]>`
      update billing_credits set ${tx({
        ...settled,
        prices: asJson(tx, await sold(tx, environment.id, former.id, settled, now)),
        updated_at: now,
      })} where id = ${former.id} returning *`
    return (await creditViewsOf(tx, [row!]))[0]
  })
  return { data }
}

/**
 * DELETE /billing/credits/{credit_id}: it leaves all lists and cannot be granted any more.
 *
 * errors  400 while a grant, plan or price uses it.
 * source  PB-72. A company may get a grant during the deletion. Therefore grants are checked again once no new ones
 *         are possible, and the credit is restored if one is found.
 */
export const deleteCredit: Handler = async call => {
  const { services, environment } = call
  const { sql, catalogs, projections, clock } = services
  const id = call.params.credit_id!
  const { name } = await requireCredit(sql, environment.id, id)
  await projections.barrier('postgres')
  await catalogs.change(scopeOf(call), async tx => {
    await requireCredit(tx, environment.id, id)
    requireUnused(await usersOfCredit(tx, environment.id, id))
    await tx`update billing_credits set deleted_at = ${new Date(clock.wall())} where id = ${id}`
  })
  await projections.barrier('postgres')
  const used = await usersOfCredit(sql, environment.id, id)
  if (used !== null)
    await catalogs.change(
      scopeOf(call),
      tx => tx`update billing_credits set deleted_at = null where id = ${id}`,
    )
  requireUnused(used)
  return { data: { deleted: true }, noted: { deleted: true, name } }
}

function requireUnused(used: string | null): void {
  if (used !== null) throw new ServiceError('state_conflict', `${used} this credit`)
}
