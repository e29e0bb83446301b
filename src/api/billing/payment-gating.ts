// What a company's billing profile says of payments that are overdue: from when on they end what was paid for.
import type { Sql } from 'postgres'
import type { SubscriptionStatus } from '../../../schemas/enums.js'
import type { ProfileRow, SubscriptionRow } from './record-rows.js'

const dayMs = 86_400_000

type Gating = Pick<SubscriptionRow, 'overdue_since' | 'gated_at'>

/**
 * Since when a subscription is overdue, and when it ends to give access: `gating_days` × 24 h later, under
 * `revoke_after`.
 *
 * had      the record as it was; null for a new one.
 * returns  nulls for one that is not past_due. It is overdue since this was told first, whatever is told again.
 * source   service.md, CompanyBillingProfile; the instant it counts from: decision, as nothing else is told of it.
 *          What custom plans owe ends by itself on its due date (PB-60), whatever the profile says.
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

/** The profile that speaks for a company; null before billing has spoken of it. */
export async function defaultProfile(sql: Sql, companyId: string): Promise<ProfileRow | null> {
  const [row] = await sql<ProfileRow[]>`
    select * from company_billing_profiles where company_id = ${companyId} and is_default`
  return row ?? null
}
