// Admission of a request: key, environment, rate limits, scopes, in the order of AL-30.
import type { KeyScope } from '../../../../schemas/enums.js'
import { keyFault, reaches } from '../../../account/conditions.js'
import { readContext, type SignedContext } from '../../../account/signed-contexts.js'
import { ServiceError } from '../../../errors.js'
import type { EnvironmentRecord, KeyRecord } from '../../../kit/call.js'
import type { Keys } from '../../../kit/services.js'
import type { Route, Scope } from '../routing/route.js'
import type { Allowance, Limits } from './limits.js'

/** An admitted request. */
export interface Admission {
  readonly key: KeyRecord
  readonly environment: EnvironmentRecord | null
  /**
   * The header names an environment this account does not have: answered 404 after the body was validated (AL-11,
   * AL-30).
   */
  readonly environmentUnknown: boolean
  /** The caller's signed context; null: none. */
  readonly signed: SignedContext | null
}

/** The group of a request for fair sharing: its environment, else its account; '' while unknown. */
export function groupOf(admission: Admission | null): string {
  if (admission === null) return ''
  const { key, environment } = admission
  return environment?.id ?? key.environmentId ?? key.accountId
}

/** The result of admission: the admission or the refusal, and the rate-limit headers. */
export interface Judgement {
  readonly allowance: Allowance | null
  readonly outcome: Admission | ServiceError
}

/**
 * The 401 for a key that is missing, unknown or deleted, whose environment is deleted (AL-1), or that is not
 * accepted now.
 */
export function unknownKey(why?: string): ServiceError {
  return new ServiceError('key_unknown', why)
}

/** The caller, as far as conditions of its key need it. */
export interface Asker {
  /** The wall clock, epoch ms. */
  wallMs(): number
  /** The signed context; '' for none. Read only for publishable keys. */
  readonly contextToken: string
  remoteIp(): string
}

/**
 * Remembers who was let in last, of one route. As long as key and environment are the same objects (both are replaced when
 * they change) nothing but the budgets is judged again.
 */
export class LastAdmission {
  private key: KeyRecord | null = null
  private environmentId = ''
  private admission: Admission | null = null

  /** As `admit`. */
  admit(
    route: Route,
    key: KeyRecord,
    environmentId: string,
    keys: Pick<Keys, 'environment'>,
    limits: Limits,
    monotonicMs: number,
    asker: Asker,
  ): Judgement {
    const { admission } = this
    if (admission !== null && this.key === key && this.environmentId === environmentId) {
      const { environment } = admission
      if (environment !== null && keys.environment(environment.id) === environment) {
        const allowance = allowanceOf(route, key, environment, limits, monotonicMs)
        return { allowance, outcome: mustWait(route, key, allowance) ? overLimit(allowance!) : admission }
      }
    }
    const judgement = admit(route, key, environmentId, keys, limits, monotonicMs, asker)
    // of others more than the budgets may change: the time, the address, what was signed
    const isLasting = key.kind === 'secret' && key.conditions == null
    if (isLasting && !(judgement.outcome instanceof ServiceError)) {
      this.key = key
      this.environmentId = environmentId
      this.admission = judgement.outcome
    }
    return judgement
  }
}

/** Take one request from the budgets of a key that acts in an environment. returns: null where nothing is limited. */
export const allowanceOf = (
  { limit }: Pick<Route, 'limit'>,
  key: KeyRecord,
  environment: EnvironmentRecord | null,
  limits: Limits,
  monotonicMs: number,
): Allowance | null => {
  const production = environment === null || environment.environmentType === 'production'
  return limits.admit(key, limit, production, monotonicMs, environment?.id)
}

const mustWait = (route: Route, key: KeyRecord, allowance: Allowance | null): boolean =>
  allowance !== null &&
  allowance.refused !== null &&
  !(route.neverLimited && permits(key.scopes, route.scope))

/**
 * Admit a request with a known key, from a header or from a body.
 *
 * environmentId  the environment header, '' when absent.
 * monotonicMs    the limiter's clock (AL-44).
 * asker          used only for keys with conditions.
 * returns        429 before 403 before 400 (AL-30). A 401 is thrown, because it has no rate-limit headers.
 * source         AL-10…14, AL-20…23, AL-30, AL-40…46.
 */
export function admit(
  route: Route,
  key: KeyRecord,
  environmentId: string,
  keys: Pick<Keys, 'environment'>,
  limits: Limits,
  monotonicMs: number,
  asker: Asker,
): Judgement {
  if (key.conditions != null) {
    const fault = keyFault(key.conditions, asker.wallMs(), () => asker.remoteIp())
    if (fault !== null) throw unknownKey(fault)
  }
  const environment = environmentOf(key, environmentId, keys)
  if (key.environmentId !== null && environment === null) throw unknownKey()
  const allowance = allowanceOf(route, key, environment, limits, monotonicMs)
  if (mustWait(route, key, allowance)) return { allowance, outcome: overLimit(allowance!) }
  const context = key.kind === 'publishable' && environment !== null ? contextOf(environment, asker) : null
  const refused = refusalOf(route, key, environment, environmentId, context)
  if (refused !== null) return { allowance, outcome: refused }
  const signed = context !== null && !('fault' in context) ? context : null
  const environmentUnknown = environment === null && environmentId !== ''
  return { allowance, outcome: { key, environment, environmentUnknown, signed } }
}

/** The environment that a key is bound to, or the header names; null: neither, or one that the account does not have. */
export function environmentOf(
  key: KeyRecord,
  environmentId: string,
  keys: Pick<Keys, 'environment'>,
): EnvironmentRecord | null {
  const named = key.environmentId ?? environmentId
  const found = named === '' ? null : keys.environment(named)
  return found !== null && found.accountId === key.accountId ? found : null
}

function contextOf(environment: EnvironmentRecord, asker: Asker): ReturnType<typeof readContext> | null {
  const { contextToken: token } = asker
  return token === '' ? null : readContext(token, environment.id, environment.contextSecrets, asker.wallMs())
}

/** The 429 of an allowance that refuses. */
export function overLimit(allowance: Allowance): ServiceError {
  const { bucket, retryAfterSeconds } = allowance.refused!
  return new ServiceError('rate_limited', `Too many requests: the ${bucket} limit is exhausted`, {
    extra: { bucket },
    retryAfterSeconds,
  })
}

/** The refusal of a request within its limits; null: it is let in. `context`: null where none is signed. */
export function refusalOf(
  route: Route,
  key: KeyRecord,
  environment: EnvironmentRecord | null,
  environmentId: string,
  context: ReturnType<typeof readContext> | null,
): ServiceError | null {
  if (key.environmentId !== null && environmentId !== '' && environmentId !== key.environmentId) {
    return new ServiceError('environment_mismatch')
  }
  const denied = denial(route, key, environment, context)
  if (denied !== null) return new ServiceError('forbidden', denied)
  if (route.environmentRequired && environment === null && environmentId === '') {
    return new ServiceError('environment_required')
  }
  return null
}

// The 403 if the key may not use this route, or null.
function denial(
  route: Route,
  key: KeyRecord,
  environment: EnvironmentRecord | null,
  context: ReturnType<typeof readContext> | null,
): string | null {
  if (key.kind === 'publishable') {
    if (route.scope !== 'check' && route.scope !== 'capture')
      return 'A publishable key (pk_…) may only check flags and send events: use a secret key (sk_…) here'
    if (context !== null && 'fault' in context) return `The signed context ${context.fault}`
    if (environment?.requireContextSignature && context === null)
      return 'This environment requires a signed context from publishable keys'
  }
  if (key.actor?.type === 'temporary_access_token')
    return route.scope === 'portal' ? null : "This token reads its company's portal alone"
  if (key.readonly) {
    // events of a read-only key are accepted, and the handler stores them as failed (EV-6)
    if (route.scope === 'capture') return null
    if (route.mutates) return 'This key is read-only'
  }
  if (!permits(key.scopes, route.scope))
    return `This key lacks the scope ${route.scope === 'check' ? 'read' : route.scope}`
  if (route.ofAccount && !reaches(key, null)) return 'This key may act in its own environment alone'
  return null
}

// admin ⊇ write ⊇ read; capture is separate (AL-20).
function permits(scopes: readonly KeyScope[], needed: Scope): boolean {
  switch (needed) {
    case 'any':
      return true
    case 'admin':
    case 'capture':
      return scopes.includes(needed)
    case 'write':
      return scopes.includes('write') || scopes.includes('admin')
    case 'read':
    case 'portal':
      return scopes.includes('read') || scopes.includes('write') || scopes.includes('admin')
    case 'check':
      return scopes.length > 0
  }
}
