// Admission of the keys that events of one body name (decision 8). Each is checked like a key in a header.

import { ServiceError } from '../../../errors.js'
import type { KeyRecord, NamedKey } from '../../../kit/call.js'
import type { Keys } from '../../../kit/services.js'
import type { Route } from '../routing/route.js'
import { type Admission, type Asker, admit } from './admit.js'
import { keysNamedMax } from './keys-in-body.js'
import type { Limits } from './limits.js'

/** The sender of the body. */
export interface Caller extends Asker {
  /** Whether unknown keys of this caller may be looked up in the store. */
  mayAsk(): boolean
  /** Report that a key in the body is unknown. */
  notKnown(secret: string): void
}

/** The request with the body. */
interface NamingRequest {
  readonly route: Route
  readonly admission: Admission
  /** The environment header; '' when absent. */
  readonly environmentId: string
  readonly keys: Pick<Keys, 'find' | 'environment' | 'used'>
  readonly limits: Limits
}

/**
 * Admit the keys that events name.
 *
 * secrets  distinct.
 * returns  the key's record and environment, by secret; null for an unknown key, and for one that may not send events
 *          there. Its events are then treated as without a key.
 * errors   body_invalid (400) for more than ten; rate_limited (429) when a key, or the caller for unknown keys,
 *          exceeds a limit. Nothing of the body may be taken then.
 * source   decision 8; the bound of ten, and charging the caller for unknown keys: decisions.
 */
export async function admitNamed(
  { route, admission, environmentId, keys, limits }: NamingRequest,
  caller: Caller,
  secrets: readonly string[],
): Promise<ReadonlyMap<string, NamedKey | null>> {
  if (secrets.length > keysNamedMax)
    throw new ServiceError('body_invalid', `events: at most ${keysNamedMax} different api_key in one body`)
  const records = await Promise.all(secrets.map(secret => keys.find(secret, caller)))
  const admitted = new Map<string, NamedKey | null>()
  const judged = new Map<string, NamedKey | null>()
  const own = admission.key
  judged.set(own.id, admission.environment === null ? null : admission)
  for (const [index, secret] of secrets.entries()) {
    const record = records[index]!
    if (record === null) {
      caller.notKnown(secret)
      mustPass(admit(route, own, environmentId, keys, limits, performance.now(), caller).outcome)
      admitted.set(secret, null)
      continue
    }
    if (!judged.has(record.id)) judged.set(record.id, judge(route, record, keys, limits, caller))
    admitted.set(secret, judged.get(record.id)!)
  }
  return admitted
}

function judge(
  route: Route,
  key: KeyRecord,
  keys: NamingRequest['keys'],
  limits: Limits,
  caller: Caller,
): NamedKey | null {
  // an account-wide key does not say which environment its event belongs to
  if (key.environmentId === null) return null
  const nowMs = performance.now()
  try {
    const { outcome } = admit(route, key, '', keys, limits, nowMs, caller)
    keys.used(key.id, nowMs)
    mustPass(outcome)
    return outcome instanceof ServiceError ? null : outcome
  } catch (error) {
    // disabled, expired, from a refused address, or of a deleted environment
    if (error instanceof ServiceError && error.code === 'key_unknown') return null
    throw error
  }
}

function mustPass(outcome: Admission | ServiceError): void {
  if (outcome instanceof ServiceError && outcome.status === 429) throw outcome
}
