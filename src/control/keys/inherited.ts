// Conditions that a key made by another key has from it: otherwise a key that expires, is bound to addresses or is capped
// could make one without.
// source: security L3; refusing what would go beyond: decision.
import { everyAddress, isWithinBlocks } from '../../account/address-blocks.js'
import type { KeyRecord } from '../../account/key-types.js'
import { ServiceError } from '../../errors.js'
import type { KeyConditionChange } from './store.js'
import type { ApiKeyRow } from './view.js'

/** Conditions and cap of a key. */
export interface Bounds extends KeyConditionChange {
  /** null: no cap. */
  readonly rateLimitPercent: number | null
}

/**
 * The conditions of a new key: the wanted ones, and its maker's where none are named.
 *
 * errors  forbidden (403) for conditions beyond the maker's.
 */
export function inherited(maker: ApiKeyRow | null, wanted: Bounds): Bounds {
  if (maker === null) return wanted
  const own = boundsOf(maker)
  const bounds = {
    notBeforeMs: wanted.notBeforeMs ?? own.notBeforeMs,
    expiresAtMs: wanted.expiresAtMs ?? own.expiresAtMs,
    allowedAddresses: wanted.allowedAddresses ?? own.allowedAddresses,
    rateLimitPercent: wanted.rateLimitPercent ?? own.rateLimitPercent,
  }
  mustBeWithin(own, bounds)
  return bounds
}

/**
 * Require that a key changed or rolled by another, or by itself, stays within the conditions of that one.
 *
 * errors  forbidden (403).
 */
export function mustStayWithin(maker: ApiKeyRow | null, row: ApiKeyRow): void {
  // everybody knows the value of a publishable key
  if (maker !== null && row.kind === 'secret') mustBeWithin(boundsOf(maker), boundsOf(row))
}

/**
 * Require that a key which makes or changes a member, or asks for a link to sign in, has no conditions: a session has none,
 * and could make keys without any.
 *
 * errors  forbidden (403).
 */
export function mustBeUnbound({ conditions, rateLimitPercent }: KeyRecord): void {
  if (conditions == null && rateLimitPercent === null) return
  const names = 'not_before, expires_at, allowed_addresses, rate_limit_percent'
  throw new ServiceError(
    'forbidden',
    `A key with a condition (${names}) makes and changes no members and no links: a session has no conditions`,
  )
}

function boundsOf(row: ApiKeyRow): Bounds {
  return {
    notBeforeMs: row.not_before?.getTime() ?? null,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    allowedAddresses: row.allowed_addresses,
    rateLimitPercent: row.rate_limit_percent,
  }
}

function mustBeWithin(
  own: Bounds,
  { notBeforeMs, expiresAtMs, allowedAddresses, rateLimitPercent }: Bounds,
): void {
  if (own.notBeforeMs != null && (notBeforeMs ?? Number.NEGATIVE_INFINITY) < own.notBeforeMs)
    throw beyond('not_before', 'is valid no earlier than itself')
  if (own.expiresAtMs != null && (expiresAtMs ?? Number.POSITIVE_INFINITY) > own.expiresAtMs)
    throw beyond('expires_at', 'ends no later than itself')
  const blocks = own.allowedAddresses
  if (blocks != null && !(allowedAddresses ?? [everyAddress]).every(block => isWithinBlocks(block, blocks)))
    throw beyond('allowed_addresses', 'is taken from no other addresses than itself')
  if (own.rateLimitPercent !== null && (rateLimitPercent ?? uncapped) > own.rateLimitPercent)
    throw beyond('rate_limit_percent', 'may do no more than itself')
}

const uncapped = 100

const beyond = (member: string, what: string): ServiceError =>
  new ServiceError('forbidden', `${member}: this key may make and change only a key that ${what}`)
