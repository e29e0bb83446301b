// Reads a company's use at a past instant, and the rests of its grants, from ClickHouse. Instants are epoch ms.
import { hourMs } from '../core/values/period.js'
import { type Quantity, quantityFromText } from '../core/values/quantity.js'
import { ask, type HistoryStore } from './history.js'

/** A company of an environment at an instant. */
interface PastMoment {
  readonly environmentId: string
  readonly companyId: string
  readonly atMs: number
}

/** Use of one event that counts from an instant on; 0: before every window. */
interface PastUse {
  readonly subtype: string
  readonly fromMs: number
  readonly quantity: Quantity
}

/**
 * Use of events as it was counted at an instant: of events received by then.
 *
 * sinceMs  at or before the begin of every window that counts then.
 * bounds   begin and end of the billing cycle, ascending; empty without one.
 * source   EX-6.
 */
export async function pastUsage(
  store: HistoryStore,
  { environmentId, companyId, atMs }: PastMoment,
  subtypes: readonly string[],
  sinceMs: number,
  bounds: readonly number[],
): Promise<PastUse[]> {
  if (subtypes.length === 0) return []
  const rows = await ask<{ subtype: string; from_ms: number; quantity: string }>(store, 'past_usage', {
    environment_id: environmentId,
    company_id: companyId,
    subtypes,
    at_ms: atMs,
    cut: Math.max(0, Math.floor(sinceMs / hourMs)) * 3_600,
    bounds_ms: bounds,
  })
  return rows.map(row => ({
    subtype: row.subtype,
    fromMs: Number(row.from_ms),
    quantity: quantityFromText(row.quantity),
  }))
}

/** The rest of a grant; `remaining` in credits as decimal text. */
export interface PastGrant {
  readonly creditId: string
  readonly grantId: string
  readonly remaining: string
}

/** The rests of a company's grants, and the credits whose use was only recorded (CR-6). source: EX-6 */
export async function pastCredits(
  store: HistoryStore,
  { environmentId, companyId, atMs }: PastMoment,
): Promise<{ readonly grants: PastGrant[]; readonly recordedOnly: ReadonlySet<string> }> {
  const rows = await ask<{ credit_id: string; grant_id: string; remaining: string | null; external: number }>(
    store,
    'past_credits',
    { environment_id: environmentId, company_id: companyId, at_ms: atMs },
  )
  return {
    grants: rows.flatMap(row =>
      row.remaining === null || row.grant_id === ''
        ? []
        : [{ creditId: row.credit_id, grantId: row.grant_id, remaining: row.remaining }],
    ),
    recordedOnly: new Set(rows.filter(row => Number(row.external) > 0).map(row => row.credit_id)),
  }
}
