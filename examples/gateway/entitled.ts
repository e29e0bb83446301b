// A gateway's decision about one request: may this company use this, and the use counted.
import type { Checked, Keys, Tollgate } from '../../clients/typescript/src/index.js'

export interface Entitlement {
  /** Key of the flag that decides. */
  readonly flag: string
  /** Name of the event that counts a use. */
  readonly event: string
}

/** A refusal as the gateway answers it. */
export interface Refusal {
  readonly status: 402 | 403 | 429
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly error: string; readonly reason: string }
}

/**
 * Decide about a request, and count it if it may go on.
 *
 * The use is counted at once, before the request is served: two requests at the same moment see each other's.
 * returns  null: it may go on. Else 402 where credits are missing, 429 where a limit is reached, 403 for the rest.
 */
export async function admit(
  tollgate: Tollgate,
  { flag, event }: Entitlement,
  company: Keys,
): Promise<Refusal | null> {
  const checked = await tollgate.check(flag, { company })
  if (!checked.value) return refusalOf(checked)
  tollgate.track(event, { company })
  return null
}

function refusalOf({ reason, entitlement, feature_usage_reset_at: resetAt }: Checked): Refusal {
  const body = { error: 'Your plan does not allow this', reason }
  if (entitlement?.credit_id !== undefined) return { status: 402, headers: {}, body }
  if (entitlement?.allocation === undefined) return { status: 403, headers: {}, body }
  const seconds = resetAt === null ? null : Math.max(1, Math.ceil((Date.parse(resetAt) - Date.now()) / 1_000))
  return { status: 429, headers: seconds === null ? {} : { 'Retry-After': String(seconds) }, body }
}
