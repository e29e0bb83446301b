// Draft invoices of closed billing periods: one for each currency. No payment is taken.
import type { Sql } from 'postgres'
import { derivedId } from '../../core/values/id.js'
import type { ClosedRow } from './closed.js'

/**
 * Write the drafts of a closed period. A company without a subscription is its own customer and subscription.
 *
 * source  RA-23.
 */
export async function draftInvoices(tx: Sql, row: ClosedRow, now: Date): Promise<void> {
  if (row.totals.length === 0) return
  const { company_id: companyId, environment_id: environmentId } = row
  const [sold] = await tx<{ external_id: string; customer_external_id: string }[]>`
    select external_id, customer_external_id from billing_subscriptions where id = ${row.subscription_id}`
  const [profile] = await tx<{ collection_method: string }[]>`
    select collection_method from company_billing_profiles where company_id = ${companyId} and is_default`
  for (const { currency, amount } of row.totals) {
    const total = BigInt(amount)
    const due = String(total > 0n ? total : 0n)
    await tx`
      insert into billing_invoices ${tx({
        id: derivedId('bilinv_', row.id, currency),
        environment_id: environmentId,
        provider_type: 'native',
        external_id: `${row.id}.${currency}`,
        customer_external_id: sold?.customer_external_id ?? companyId,
        subscription_external_id: sold?.external_id ?? companyId,
        payment_method_external_id: null,
        company_id: companyId,
        status: 'draft',
        collection_method: profile?.collection_method ?? 'charge_automatically',
        currency,
        amount_due: due,
        amount_paid: '0',
        amount_remaining: due,
        subtotal: String(total),
        starting_balance: '0',
        ending_balance: String(total < 0n ? total : 0n),
        due_date: null,
        url: null,
        charge_period_id: row.id,
        created_at: now,
        updated_at: now,
      })} on conflict do nothing`
  }
}
