// Overdue payments: when they end a company's access, by its billing profile.
import type { Sql } from 'postgres'
import type { SubscriptionStatus } from '../../../schemas/enums.js'
import type { ProfileRow, SubscriptionRow } from './record-rows.js'

const dayMs = 86_400_000

type Gating = Pick<SubscriptionRow, 'overdue_since' | 'gated_at'>

/**
 * Since when a subscription is overdue, and when it stops giving access: `gating_days` × 24 h later, under
 * `revoke_after`.
 *
 * had      the stored record; null for a new one.
 * returns  nulls unless the status is past_due. Overdue time starts with the first past_due message; repeats do not
 *          move it.
 * source   interface document, CompanyBillingProfile; the start of overdue time: decision. Custom plan billings end
 *          on their due date (PB-60), whatever the profile says.
 */
export async function overdue(
  sql: Sql,
  companyId: string | null,
  {
    status,
    had,
    nowMs,
  }: { readonly status: SubscriptionStatus; readonly had: SubscriptionRow | null; readonly nowMs: number },
): Promise<Gating> {
  if (status !== 'past_due') return { overdue_since: null, gated_at: null }
  const since = had?.status === 'past_due' ? (had.overdue_since ?? had.updated_at) : new Date(nowMs)
  const profile = companyId === null ? null : await defaultProfile(sql, companyId)
  const gates = profile?.payment_gating === 'revoke_after'
  return {
    overdue_since: since,
    gated_at: gates ? new Date(since.getTime() + profile.gating_days * dayMs) : null,
  }
}

/** A company's default profile; null before any billing record names the company. */
export async function defaultProfile(sql: Sql, companyId: string): Promise<ProfileRow | null> {
  const [row] = await sql<ProfileRow[]>`
    select * from company_billing_profiles where company_id = ${companyId} and is_default`
  return row ?? null
}
