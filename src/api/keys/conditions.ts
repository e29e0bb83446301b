// What a key is asked besides its scopes: whether it is taken at this time and from this address, and how far it reaches.
import type { KeyConditions, KeyRecord } from '../kit/call.js'

/**
 * Why a key is not taken now and from here, or null.
 *
 * conditions  of the key; whoever asks has seen that there are any.
 * nowMs       the wall clock: test clocks of environments do not move it.
 * addressOf   the caller's address; asked only where the key has a list of addresses.
 * source      decision: told with 401, before any budget is charged.
 */
export function keyFault(conditions: KeyConditions, nowMs: number, addressOf: () => string): string | null {
  const { disabled, notBeforeMs, expiresAtMs, addresses, replaced } = conditions
  if (disabled) return 'This key is disabled'
  if (notBeforeMs !== null && nowMs < notBeforeMs) return 'This key is not valid yet'
  if (expiresAtMs !== null && nowMs >= expiresAtMs)
    return replaced ? 'This key has another value by now' : 'This key has expired'
  if (addresses !== null && !addresses.has(addressOf())) return 'This key is not taken from this address'
  return null
}

/**
 * Whether a key may act on an environment, or (null) on the account as a whole: an account-wide key and the first key
 * anywhere, every other key where it is bound to.
 *
 * source  AL-10, decision 14.
 */
export function reaches(key: KeyRecord, environmentId: string | null): boolean {
  return key.environmentId === null || key.bootstrap === true || key.environmentId === environmentId
}
