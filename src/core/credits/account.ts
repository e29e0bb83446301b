// A company's account in one credit: its state, what may be asked of it, what changes it, and its figures.
import type { BillingCreditGrantReason, BillingCreditGrantZeroedOutReason } from '../../../schemas/enums.js'
import {
  type Accounts,
  type CreditAccount,
  type CreditConfig,
  type CreditContext,
  type CreditEffect,
  type CreditMessage,
  type CreditReply,
  emptyAccount,
  type GrantState,
  type GrantView,
  type HoldDecision,
} from '../model/account-state.js'
import type { Decision } from '../model/message.js'
import { type Amount, decodeAmount, encodeAmount, wholeCredits } from '../values/amount.js'
import { expiryOf, grantId } from './grant.js'
import { acquireLease, extendLease, isReservationKey, releaseHold, reserve } from './hold.js'
import { type Draft, draftOf } from './ledger.js'
import { beginRenewal, renewalOf } from './renewal.js'
import { giveGrant, payDebt, repayFrom, repays } from './repayment.js'
import { effectiveTopup, giveTopup, noteTopup, topupFailuresMax } from './topup.js'

/**
 * Decide one credit message. `due` of every account comes first, applied.
 *
 * reply    grants made or touched, the hold afterwards, or done
 * errors   see Refusal; not_found for a credit that the environment does not have
 * source   CR-10…13, CR-32, CR-45, CR-55, CR-56, CR-70…80, CR-97
 */
export function decideCredit(
  context: CreditContext,
  message: CreditMessage,
  nowMs: number,
): Decision<CreditReply> {
  const creditId = creditOf(context.accounts, message)
  if (creditId === null) {
    return {
      refused: message.type === 'credit_reservation_release' ? 'reservation_not_found' : 'lease_not_found',
    }
  }
  const config = context.configOf(creditId)
  if (config === null) return { refused: 'not_found' }
  const account = context.accounts.get(creditId) ?? emptyAccount(context.companyId, creditId)
  switch (message.type) {
    case 'credit_grant':
      return grantByHand(account, config, message, nowMs)
    case 'credit_zero_out':
      return zeroOutByHand(account, message, nowMs)
    case 'credit_lease':
      return holdReply(acquireLease(account, config, message, nowMs))
    case 'credit_extend':
      return extendOnce(context, account, config, message, nowMs)
    case 'credit_release':
      return holdReply(releaseHold(account, config, 'lease', message.leaseId, nowMs))
    case 'credit_reserve':
      return reserveAnywhere(context, account, config, message, nowMs)
    case 'credit_reservation_release':
      return holdReply(releaseHold(account, config, 'reservation', message.reservationId, nowMs))
    case 'credit_topup_settings':
      return done([
        { t: 'credit_topup', c: creditId, at: nowMs, ...account.topup, settings: message.settings },
      ])
    case 'credit_topup_result':
      return done(topupEnded(account, config, message, nowMs))
    case 'credit_forgive': {
      const draft = draftOf(account)
      payDebt(draft, 'postpaid_forgiven', 'postpaid_forgiven', nowMs)
      return done(draft.effects)
    }
    case 'credit_external_balance':
      return done([
        {
          t: 'credit_external',
          c: creditId,
          at: nowMs,
          remaining: encodeAmount(message.remaining),
          total: encodeAmount(message.total),
        },
      ])
  }
}

/** The credit a message is about; for one that names a hold, that of the hold. null when the hold is unknown. */
export function creditOf(accounts: Accounts, message: CreditMessage): string | null {
  if ('creditId' in message) return message.creditId
  const id = message.type === 'credit_reservation_release' ? message.reservationId : message.leaseId
  for (const account of accounts.values()) {
    const isOpen = account.lease?.id === id || account.reservations.some(hold => hold.id === id)
    if (isOpen || account.closed.withId(id) !== undefined) return account.creditId
  }
  return null
}

function done(effects: readonly CreditEffect[]): Decision<CreditReply> {
  return { reply: { type: 'done' }, effects }
}

function holdReply(decision: HoldDecision): Decision<CreditReply> {
  if ('refused' in decision) return decision
  return { reply: { type: 'hold', hold: decision.hold }, effects: decision.effects }
}

/** An idempotency key is one extension's over all leases of the company. source: CR-73 */
function extendOnce(
  context: CreditContext,
  account: CreditAccount,
  config: CreditConfig,
  message: Extract<CreditMessage, { type: 'credit_extend' }>,
  nowMs: number,
): Decision<CreditReply> {
  const { key, leaseId } = message
  if (key !== null) {
    for (const { lease, closed } of context.accounts.values()) {
      if (lease !== null && lease.id !== leaseId && lease.keys.includes(key))
        return { refused: 'idempotency_reused' }
      for (const { id } of closed.allWithKey(key, 'lease'))
        if (id !== leaseId) return { refused: 'idempotency_reused' }
    }
  }
  return holdReply(extendLease(account, config, leaseId, message, nowMs))
}

/** An idempotency key is one reservation's over all credits of the company. source: CR-80 */
function reserveAnywhere(
  context: CreditContext,
  account: CreditAccount,
  config: CreditConfig,
  message: Extract<CreditMessage, { type: 'credit_reserve' }>,
  nowMs: number,
): Decision<CreditReply> {
  const { key } = message
  if (key !== null) {
    for (const other of context.accounts.values())
      if (other.creditId !== account.creditId && isReservationKey(other, key))
        return { refused: 'idempotency_reused' }
  }
  return holdReply(reserve(account, config, message, nowMs))
}

/** Reasons that callers may grant for; the others are the service's own. source: CR-10 */
const grantable: readonly BillingCreditGrantReason[] = ['free', 'purchased', 'adjustment']
const grantsAtOnceMax = 1_000

function grantByHand(
  account: CreditAccount,
  config: CreditConfig,
  message: Extract<CreditMessage, { type: 'credit_grant' }>,
  nowMs: number,
): Decision<CreditReply> {
  const { quantity, count, reason } = message
  const whole = Number.isSafeInteger(quantity) && quantity > 0
  const some = Number.isSafeInteger(count) && count > 0 && count <= grantsAtOnceMax
  if (!whole || !some || !grantable.includes(reason)) return { refused: 'amount_invalid' }
  const fromMs = message.validFromMs ?? nowMs
  const rule = message.expiry ?? config.defaultExpiry
  const end = message.expiresAtMs ?? expiryOf(rule, nowMs, config.period, config.trialEndMs)
  if (end === 'no_trial') return { refused: 'no_trial' }
  if (end !== null && (end <= nowMs || end <= fromMs)) return { refused: 'expiry_invalid' }
  const draft = draftOf(account)
  const made: number[] = []
  if (message.renewal) {
    const { renewal: period, bundleId: bundle, currency = null } = message
    const terms = { reason, quantity, count, period, expiry: rule, bundle, currency }
    made.push(...beginRenewal(draft, config, terms, nowMs))
    return {
      reply: { type: 'grants', grants: made.map(seq => viewGrant(draft, seq, nowMs)) },
      effects: draft.effects,
    }
  }
  for (let i = 0; i < count; i++) {
    const seq = giveGrant(
      draft,
      {
        reason,
        q: encodeAmount(wholeCredits(quantity)),
        from: fromMs === nowMs ? undefined : fromMs,
        exp: end ?? undefined,
        bundle: message.bundleId ?? undefined,
        cur: message.currency ?? undefined,
      },
      nowMs,
    )
    made.push(seq)
    if (repays(reason)) repayFrom(draft, seq, nowMs)
  }
  return {
    reply: { type: 'grants', grants: made.map(seq => viewGrant(draft, seq, nowMs)) },
    effects: draft.effects,
  }
}

/** A grant as a draft has it; one that a debt consumed whole is described from its birth. */
function viewGrant(draft: Draft, seq: number, nowMs: number): GrantView {
  const grant = draft.account.grants.find(other => other.seq === seq)
  if (grant !== undefined) return viewOf(draft.account, grant)
  const birth = draft.effects.find(effect => effect.t === 'credit_grant' && effect.seq === seq)
  const g = (birth as Extract<CreditEffect, { t: 'credit_grant' }>).g
  return {
    id: grantId(draft.account.companyId, draft.account.creditId, seq),
    seq,
    reason: g.reason,
    quantity: decodeAmount(g.q),
    remaining: 0n,
    held: 0n,
    createdAtMs: nowMs,
    validFromMs: g.from ?? nowMs,
    expiresAtMs: g.exp ?? null,
    planGrantId: null,
    licence: null,
    closed: null,
  }
}

function viewOf({ companyId, creditId }: CreditAccount, grant: GrantState): GrantView {
  return { ...grant, id: grantId(companyId, creditId, grant.seq) }
}

/** Zero a grant out; one that is over already stays as it is. One that renews is given no more. source: CR-45, decision */
function zeroOutByHand(
  account: CreditAccount,
  message: Extract<CreditMessage, { type: 'credit_zero_out' }>,
  nowMs: number,
): Decision<CreditReply> {
  const idOf = (seq: number): string => grantId(account.companyId, account.creditId, seq)
  const renewal = renewalOf(account, seq => idOf(seq) === message.grantId)
  const ends: readonly CreditEffect[] = renewal
    ? [{ t: 'credit_renew', c: account.creditId, at: nowMs, r: { ...renewal, nextMs: null } }]
    : []
  const grant = account.grants.find(other => idOf(other.seq) === message.grantId)
  if (grant?.closed != null)
    return { reply: { type: 'grants', grants: [viewOf(account, grant)] }, effects: ends }
  if (grant === undefined) {
    const spent = account.spent.find(other => idOf(other.seq) === message.grantId)
    if (spent === undefined) return renewal ? done(ends) : { refused: 'grant_not_found' }
    return done([zeroOutEffect(account, spent.seq, 0n, message.reason, nowMs), ...ends])
  }
  const effect = zeroOutEffect(account, grant.seq, grant.remaining, message.reason, nowMs)
  const view: GrantView = { ...viewOf(account, grant), remaining: 0n, closed: message.reason }
  return { reply: { type: 'grants', grants: [view] }, effects: [effect, ...ends] }
}

function zeroOutEffect(
  account: CreditAccount,
  seq: number,
  amount: Amount,
  reason: BillingCreditGrantZeroedOutReason,
  atMs: number,
): CreditEffect {
  return {
    t: 'credit_zero_out',
    c: account.creditId,
    seq: account.sequence + 1,
    at: atMs,
    r: reason,
    s: [[seq, encodeAmount(amount), 0]],
  }
}

/** The payment of a top-up ended. "Retries exceeded" is published when `failures` reaches the bound. source: CR-56 */
function topupEnded(
  account: CreditAccount,
  config: CreditConfig,
  { paid, final }: Extract<CreditMessage, { type: 'credit_topup_result' }>,
  nowMs: number,
): readonly CreditEffect[] {
  if (!account.topup.pending) return []
  const draft = draftOf(account)
  const failures = paid ? 0 : Math.min(account.topup.failures + 1, topupFailuresMax)
  const hard = !paid && final ? 'payment_refused' : undefined
  noteTopup(draft, { pending: false, failures, hard }, nowMs)
  const plan = effectiveTopup(account, config)
  if (paid && plan !== null) giveTopup(draft, config, plan, nowMs)
  return draft.effects
}
