// What handlers of billing records share.
import type { Sql } from 'postgres'
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../kit/call.js'
import { inTransaction } from '../kit/sql.js'

/** The provider meant where none is named. source: decision */
export const defaultProvider = 'psp'

type Table =
  | 'billing_coupons'
  | 'billing_invoices'
  | 'billing_payment_methods'
  | 'billing_prices'
  | 'billing_products'

/** A record as far as deleting it goes. */
interface Removable {
  readonly id: string
}

/**
 * DELETE of a record by `billing_id`: the provider's id first, then the service's.
 *
 * noun    names it when there is none.
 * keep    why it has to stay, or null.
 * errors  404; 400 with the reason to keep it.
 * source  gaps.md "Billing deletes".
 */
export async function removeRecord(
  { services, environment, params }: Call<unknown, unknown>,
  table: Table,
  noun: string,
  keep?: (tx: Sql, record: Removable) => Promise<string | null>,
): Promise<Answer> {
  const named = params.billing_id!
  await inTransaction(services.sql, async tx => {
    const [record] = await tx<Removable[]>`
      select id from ${tx(table)}
      where environment_id = ${environment.id} and (external_id = ${named} or id = ${named})
      order by external_id = ${named} desc nulls last limit 1 for update`
    if (!record) throw new ServiceError('not_found', `${noun} not found`)
    const reason = keep ? await keep(tx, record) : null
    if (reason)
      throw new ServiceError('state_conflict', `The ${noun.toLowerCase()} cannot be deleted: ${reason}`)
    await tx`delete from ${tx(table)} where id = ${record.id}`
  })
  return { data: { deleted: true } }
}

/** A company named by a body or query: 404 when the environment has none of this id. */
export function requireCompany(
  { services, environment }: Call<unknown, unknown>,
  companyId: string,
  member: string,
): void {
  if (!companyId.startsWith('comp_') || !services.directory.has(environment.id, companyId))
    throw new ServiceError('not_found', `${member}: no such company`)
}
