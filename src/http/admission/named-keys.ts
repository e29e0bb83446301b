// The keys that events of one body name themselves (decision 8): each passes what a key in the header passes.
import type { KeyRecord, Voice } from '../../api/kit/call.js'
import type { Keys } from '../../api/kit/services.js'
import { ServiceError } from '../../errors.js'
import type { Route } from '../routing/route.js'
import { type Admission, type Asker, admit } from './admit.js'
import { keysNamedMax } from './keys-in-body.js'
import type { Limits } from './limits.js'

/** Who sent the body. */
export interface Caller extends Asker {
  /** Whether an unknown key of this caller may be asked for in the store. */
  mayAsk(): boolean
  /** A key that the body names is nobody's. */
  notKnown(secret: string): void
}

/** The request that named them. */
export interface NamingRequest {
  readonly route: Route
  readonly admission: Admission
  /** The environment header; '' when absent. */
  readonly environmentId: string
  readonly keys: Pick<Keys, 'find' | 'environment' | 'used'>
  readonly limits: Limits
}

/**
 * Judge the keys that events name.
 *
 * secrets  each once.
 * returns  whose each is; null for nobody's, and for one that may not send events there: its events are nobody's too.
 * errors   body_invalid (400) for more than ten; rate_limited (429) when a key, or the caller for keys that nobody has,
 *          is over a limit: then nothing of the body may be taken.
 * source   decision 8; that one body holds ten keys at most, and that the caller pays for unknown ones: decisions.
 */
export async function admitNamed(
  { route, admission, environmentId, keys, limits }: NamingRequest,
  caller: Caller,
  secrets: readonly string[],
): Promise<ReadonlyMap<string, Voice | null>> {
  if (secrets.length > keysNamedMax)
    throw new ServiceError('body_invalid', `events: at most ${keysNamedMax} different api_key in one body`)
  const records = await Promise.all(secrets.map(secret => keys.find(secret, caller)))
  const admitted = new Map<string, Voice | null>()
  const judged = new Map<string, Voice | null>()
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
): Voice | null {
  // an account-wide key says nowhere which environment its event belongs to
  if (key.environmentId === null) return null
  const nowMs = performance.now()
  try {
    const { outcome } = admit(route, key, '', keys, limits, nowMs, caller)
    keys.used(key.id, nowMs)
    mustPass(outcome)
    return outcome instanceof ServiceError ? null : outcome
  } catch (error) {
    // disabled, over, from elsewhere, or of an environment that is gone
    if (error instanceof ServiceError && error.code === 'key_unknown') return null
    throw error
  }
}

function mustPass(outcome: Admission | ServiceError): void {
  if (outcome instanceof ServiceError && outcome.status === 429) throw outcome
}
