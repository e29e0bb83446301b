// Checks of a key beyond its scopes: its period of validity, its addresses and its reach.
import type { KeyConditions, KeyRecord } from './key-types.js'

/**
 * Why a key is not accepted now and from this address, or null.
 *
 * conditions  the key's; the caller has checked that there are any.
 * nowMs       the wall clock; test clocks of environments do not apply.
 * addressOf   the caller's address; called only if the key has a list of addresses.
 * source      decision: answered with 401, before any rate limit is charged.
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
 * Whether a key may act on an environment, or (null) on the whole account. Account-wide keys and the bootstrap key
 * may act everywhere, other keys in their environment only.
 *
 * source  AL-10, decision 14.
 */
export function reaches(key: KeyRecord, environmentId: string | null): boolean {
  return key.environmentId === null || key.bootstrap === true || key.environmentId === environmentId
}
