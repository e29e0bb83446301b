// Stores a company's billing details: the invoice address and the answers given at checkout.
import type { Sql } from 'postgres'
import type { BillingAddress, BillingDetailsUpdate } from '../../../schemas/billing.js'
import { derivedId } from '../../core/values/id.js'
import { asJson } from '../../kit/sql.js'
import { whole } from '../../kit/unchanged.js'

/** A row of company_billing_details. */
export interface DetailsRow {
  readonly email: string | null
  readonly phone: string | null
  readonly address: BillingAddress | null
  readonly tax_ids: readonly { readonly id: string; readonly type: string; readonly value: string }[]
  readonly field_values: Readonly<Record<string, string>>
}

/** Let no other transaction store the details of a company until the end of this one; a company may have none so far. */
export async function lockDetails(tx: Sql, companyId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('billing details ' || ${companyId}, 0))`
}

/**
 * Store the given members, in a transaction of the caller. Absent members are unchanged; null clears; a tax id replaces
 * the one of its type.
 */
export async function storeDetails(
  tx: Sql,
  environmentId: string,
  companyId: string,
  given: BillingDetailsUpdate,
  nowMs: number,
): Promise<void> {
  await lockDetails(tx, companyId)
  const [had] = await tx<DetailsRow[]>`select * from company_billing_details where company_id = ${companyId}`
  const { tax_id: taxId } = given
  const others = (had?.tax_ids ?? []).filter(one => one.type !== taxId?.type)
  const taxIds = taxId ? [...others, { id: derivedId('taxid_', companyId, taxId.type), ...taxId }] : others
  const { address, email, phone } = whole(given, {
    address: had?.address ?? null,
    email: had?.email ?? null,
    phone: had?.phone ?? null,
  })
  const row = {
    email,
    phone,
    address: address && asJson(tx, address),
    tax_ids: asJson(tx, taxId === null ? [] : taxIds),
    field_values: asJson(tx, {
      ...(given.values === null ? {} : had?.field_values),
      ...Object.fromEntries((given.values ?? []).map(({ id, value }) => [id, value])),
    }),
    updated_at: new Date(nowMs),
  }
  await tx`
    insert into company_billing_details ${tx({ ...row, company_id: companyId, environment_id: environmentId })}
    on conflict (company_id) do update set ${tx(row)}`
}
