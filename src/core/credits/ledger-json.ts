// A credit account as snapshots keep it, in JSON.

import type { AccountJson, Jsonified } from '../model/account-json.js'
import {
  type BudgetPart,
  type CreditAccount,
  emptyAccount,
  type GrantState,
  type HoldState,
} from '../model/account-state.js'
import { type ClosedHold, ClosedHolds } from '../model/closed-holds.js'
import { decodeAmount, encodeAmount } from '../values/amount.js'
import { interned } from '../values/shared-names.js'
import { sharedAmount } from './ledger.js'

/** An account for a snapshot; `decodeAccount` of it, through JSON, is the same account. */
export function encodeAccount(account: Readonly<CreditAccount>): AccountJson {
  // grants are nearly all there is of most accounts, and checkpoints write many: member by member
  return {
    companyId: account.companyId,
    creditId: account.creditId,
    sequence: account.sequence,
    grants: account.grants.map(encodeGrant),
    overdraft: account.overdraft === null ? null : encodeGrant(account.overdraft),
    overdrawnSinceMs: account.overdrawnSinceMs,
    lease: jsonified(account.lease),
    reservations: jsonified(account.reservations),
    closed: jsonified([...account.closed]),
    spent: account.spent.map(({ seq, quantity, expiresAtMs }) => ({
      seq,
      quantity: encodeAmount(quantity),
      expiresAtMs,
    })),
    spentForever: encodeAmount(account.spentForever),
    enrolments: jsonified(account.enrolments),
    ...(account.renewals.length > 0 && { renewals: account.renewals }),
    topup: jsonified(account.topup),
    refundSeq: account.refundSeq,
    external: jsonified(account.external),
    ...(account.spending.length > 0 && { spending: jsonified([...account.spending]) }),
  }
}

function encodeGrant(grant: Readonly<GrantState>): Jsonified<GrantState> {
  return {
    seq: grant.seq,
    reason: grant.reason,
    quantity: encodeAmount(grant.quantity),
    remaining: encodeAmount(grant.remaining),
    held: encodeAmount(grant.held),
    createdAtMs: grant.createdAtMs,
    validFromMs: grant.validFromMs,
    expiresAtMs: grant.expiresAtMs,
    planGrantId: grant.planGrantId,
    licence: grant.licence,
    closed: grant.closed,
  }
}

function jsonified<T>(value: T): Jsonified<T> {
  return jsonOf(value) as Jsonified<T>
}

function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return encodeAmount(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(jsonOf)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, jsonOf(member)]))
}

/**
 * Absent or empty members keep the shared initial values of a new account. Shapes equal those of accounts made by
 * effects.
 */
export function decodeAccount(json: AccountJson, companyId: string = json.companyId): CreditAccount {
  const account = emptyAccount(companyId, json.creditId)
  account.sequence = json.sequence
  if (json.grants.length > 0) account.grants = json.grants.map(decodeGrant)
  if (json.overdraft !== null) account.overdraft = decodeGrant(json.overdraft)
  account.overdrawnSinceMs = json.overdrawnSinceMs
  if (json.lease !== null) account.lease = decodeHold(json.lease)
  if (json.reservations.length > 0) account.reservations = json.reservations.map(decodeHold)
  if (json.closed.length > 0) account.closed = ClosedHolds.of(companyId, json.closed.map(decodeClosedHold))
  if (json.spent.length > 0)
    account.spent = json.spent.map(grant => ({ ...grant, quantity: decodeAmount(grant.quantity) }))
  account.spentForever = decodeAmount(json.spentForever)
  if (json.enrolments.length > 0) account.enrolments = json.enrolments
  if (json.renewals !== undefined) account.renewals = json.renewals
  const { settings, pending, failures } = json.topup
  if (settings !== null || pending || failures > 0) account.topup = json.topup
  account.refundSeq = json.refundSeq
  if (json.spending !== undefined)
    account.spending = json.spending.map(one => ({ ...one, spent: decodeAmount(one.spent) }))
  if (json.external !== null)
    account.external = {
      atMs: json.external.atMs,
      remaining: decodeAmount(json.external.remaining),
      total: decodeAmount(json.external.total),
    }
  return account
}

function decodeGrant(json: Jsonified<GrantState>): GrantState {
  const { seq, reason, createdAtMs, validFromMs, expiresAtMs, planGrantId, licence, closed } = json
  const quantity = sharedAmount(json.quantity)
  const remaining = json.remaining === json.quantity ? quantity : decodeAmount(json.remaining)
  const held = decodeAmount(json.held)
  return {
    seq,
    reason,
    quantity,
    remaining,
    held,
    createdAtMs,
    validFromMs,
    expiresAtMs,
    planGrantId: planGrantId === null ? null : interned(planGrantId),
    licence,
    closed,
  }
}

function decodeClosedHold(json: Jsonified<ClosedHold>): ClosedHold {
  return { ...json, granted: decodeAmount(json.granted), tracked: decodeAmount(json.tracked) }
}

function decodeHold({ budget, ...json }: Jsonified<HoldState>): HoldState {
  return {
    ...json,
    slices: json.slices.map(slice => ({ seq: slice.seq, left: decodeAmount(slice.left) })),
    granted: decodeAmount(json.granted),
    tracked: decodeAmount(json.tracked),
    ...(budget != null && { budget: budget as unknown as readonly BudgetPart[] }),
  }
}
