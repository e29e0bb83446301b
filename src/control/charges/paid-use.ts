// Use of closed periods that cost something, as it was written: what a coupon for one charge was off (RA-16).
import type { Sql } from 'postgres'
import { grouped } from '../../catalog/plans.js'
import type { Discount, PaidUse } from '../../core/rating/facts.js'
import type { HistoryEntry } from '../../core/rating/history.js'
import { among } from '../../kit/sql.js'

/** Whether a company has or had a discount for one charge alone. */
function hasOnce(
  entries: readonly HistoryEntry[],
  discounts: ReadonlyMap<string, readonly Discount[]>,
): boolean {
  const ids = new Set(entries.flatMap(entry => (entry.kind === 'subscription' ? [entry.id] : [])))
  return [...ids].some(id => discounts.get(id)?.some(one => one.once !== undefined))
}

interface PaidRow {
  readonly company_id: string
  readonly subscription_id: string
  readonly currency: string
  readonly end_time: string
}

/**
 * Windows whose use cost something, as closed periods have them, of companies that have or had a discount for one charge.
 *
 * histories, discounts  by company, and by subscription.
 * source                RA-16.
 */
export async function paidUse(
  sql: Sql,
  environmentId: string,
  histories: ReadonlyMap<string, readonly HistoryEntry[]>,
  discounts: ReadonlyMap<string, readonly Discount[]>,
): Promise<ReadonlyMap<string, readonly PaidUse[]>> {
  const companyIds = [...histories].flatMap(([id, entries]) => (hasOnce(entries, discounts) ? [id] : []))
  if (companyIds.length === 0) return new Map()
  const rows = await sql<PaidRow[]>`
    select distinct company_id, body::jsonb->>'subscription_id' as subscription_id, currency,
      body::jsonb->'window'->>'end_time' as end_time
    from charge_lines
    where environment_id = ${environmentId} and company_id in ${among(sql, companyIds)}
      and kind in ('usage', 'overage') and (body::jsonb->>'amount')::numeric > 0
      and body::jsonb->>'subscription_id' is not null`
  const found = rows.map(row => ({
    companyId: row.company_id,
    subscriptionId: row.subscription_id,
    currency: row.currency,
    endMs: Date.parse(row.end_time),
  }))
  return grouped(found, one => one.companyId)
}
