// Helpers shared by the handlers of billing records.
import type { Sql } from 'postgres'
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../../kit/call.js'
import { inTransaction } from '../../kit/sql.js'

/** The provider used when a body names none. source: decision */
export const defaultProvider = 'psp'

type Table =
  | 'billing_coupons'
  | 'billing_invoices'
  | 'billing_payment_methods'
  | 'billing_prices'
  | 'billing_products'

/** The fields of a record that deletion needs. */
interface Removable {
  readonly id: string
}

/**
 * DELETE of a record by `billing_id`, tried as the provider's id first, then as the service's.
 *
 * noun    names the record in the 404.
 * keep    returns the reason why it must stay, or null.
 * errors  404; 400 with the reason to keep it.
 * source  decision.
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

/** The company named by a body or query. Throws 404 if the environment has none with this id. */
export function requireCompany(
  { services, environment }: Call<unknown, unknown>,
  companyId: string,
  member: string,
): void {
  if (!companyId.startsWith('comp_') || !services.directory.has(environment.id, companyId))
    throw new ServiceError('not_found', `${member}: no such company`)
}
