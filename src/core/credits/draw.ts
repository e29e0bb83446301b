// Use of credits: draws, commits, charged reservations and refunds of one event, repayment of an overdraft, automatic top-up.

import type {
  CreditAccount,
  CreditConfig,
  CreditEffect,
  HoldState,
  NewGrant,
  TopupConfig,
  TopupFailure,
  UseLinks,
} from '../model/account-state.js'
import { type Amount, encodeAmount, lesser, wholeCredits } from '../values/amount.js'
import { addMonthsClamped } from '../values/period.js'
import { budgetParts, overBudget } from './budget.js'
import { usable } from './burn-order.js'
import { expiryOf, pay } from './grant.js'
import { commit, endHold, openHoldOf, unspentOf } from './hold.js'
import { type Draft, debtOf, draftOf, entryCount, put } from './ledger.js'

/** Failures in a row after which "retries exceeded" is published. source: CR-56 */
export const topupFailuresMax = 5

/** The draw of one event on one account. */
export interface Use extends UseLinks {
  /** Nano-credits; negative for a refund. */
  readonly cost: Amount
  readonly leaseId: string | null
  readonly reservationId: string | null
}

export interface UseDecision {
  readonly effects: readonly CreditEffect[]
  /** Where the cost was taken: a hold, the grants, an account kept elsewhere, or nowhere for a cost of 0. */
  readonly applied: 'lease' | 'reservation' | 'grants' | 'external' | 'refund' | 'nothing'
  /** Credits consumed from any source; negative for a refund. */
  readonly consumed: Amount
  /** The part of them past zero. */
  readonly overdrawn: Amount
  /** Cost that nothing paid for; kept on the event's record (CR-50, CR-74). */
  readonly uncovered: Amount
  /** Unspent credits of a charged reservation (CR-81). */
  readonly returned: Amount
}

/**
 * Decide what an event takes. Never refuses: the work is done (CR-49). Time-driven changes (`due`) come first.
 *
 * account  the account at nowMs; not changed
 * use      cost and names; a lease or reservation that is not open here is passed over (CR-77, CR-82)
 * returns  effects in order, an automatic top-up included
 * source   CR-48…52, CR-60…63, CR-71…74, CR-77, CR-81…83, CR-93
 */
export function drawForEvent(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  use: Use,
  nowMs: number,
): UseDecision {
  if (config.ledgerAuthority !== 'service_authoritative') return recordOnly(account, use, nowMs)
  if (use.cost < 0n) return refund(account, -use.cost, use, nowMs)
  const decision = takeCost(account, config, use, nowMs)
  return use.cost === 0n ? decision : toppedUp(account, config, decision, nowMs)
}

/**
 * The reason for which a hard spend policy refuses a use, as a sentence; null: none does. Use that a hold pays was counted
 * when it was held.
 *
 * source  BU-3.
 */
export function budgetRefusal(
  account: Readonly<CreditAccount>,
  { windows }: CreditConfig,
  { cost, leaseId, reservationId }: Pick<Use, 'cost' | 'leaseId' | 'reservationId'>,
): string | null {
  if (windows === undefined || cost <= 0n) return null
  const hold =
    leaseId !== null
      ? openHoldOf(account, 'lease', leaseId)
      : reservationId === null
        ? undefined
        : openHoldOf(account, 'reservation', reservationId)
  if (hold === undefined) return overBudget(account, windows, cost)
  const over = hold.kind === 'lease' ? 0n : cost - unspentOf(hold)
  return overBudget(account, windows, over)
}

function takeCost(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  use: Use,
  nowMs: number,
): UseDecision {
  if (use.leaseId !== null) {
    const lease = openHoldOf(account, 'lease', use.leaseId)
    if (lease !== undefined && use.cost > 0n) {
      const { effect, taken } = commit(account, lease, use.cost, use, nowMs)
      return { ...nothing, effects: [effect], applied: 'lease', consumed: taken, uncovered: use.cost - taken }
    }
  } else if (use.reservationId !== null) {
    const hold = openHoldOf(account, 'reservation', use.reservationId)
    if (hold !== undefined) return chargeReservation(account, config, hold, use, nowMs)
  }
  return use.cost === 0n ? nothing : drawDirectly(account, config, use.cost, use, nowMs)
}

const nothing: UseDecision = {
  effects: [],
  applied: 'nothing',
  consumed: 0n,
  overdrawn: 0n,
  uncovered: 0n,
  returned: 0n,
}

/** A draw on the grants. An unpaid rest is reported and forgotten (CR-50). */
function drawDirectly(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  cost: Amount,
  links: UseLinks,
  nowMs: number,
  seq: number = account.sequence + 1,
): UseDecision {
  const payment = pay(account, config, cost, nowMs, seq)
  const uncovered = cost - payment.paid
  const b = budgetParts(config.windows, payment.paid)
  const draw: CreditEffect = {
    t: 'credit_draw',
    c: account.creditId,
    seq: payment.seq,
    at: links.atMs,
    now: links.atMs === nowMs ? undefined : nowMs,
    f: links.featureId ?? undefined,
    e: links.eventId ?? undefined,
    u: links.userId ?? undefined,
    s: payment.slices,
    un: uncovered === 0n ? undefined : encodeAmount(uncovered),
  }
  const effect = b === undefined ? draw : { ...draw, b }
  return {
    effects: payment.opens.length === 0 ? [effect] : [...payment.opens, effect],
    applied: 'grants',
    consumed: payment.paid,
    overdrawn: payment.overdrawn,
    uncovered,
    returned: 0n,
  }
}

function linkMembers(links: UseLinks, nowMs: number) {
  return {
    at: links.atMs,
    now: links.atMs === nowMs ? undefined : nowMs,
    f: links.featureId ?? undefined,
    e: links.eventId ?? undefined,
    u: links.userId ?? undefined,
  }
}

/**
 * The use is taken from the hold; an unused part of the hold goes back, and any excess is an ordinary draw. source:
 * CR-81
 */
function chargeReservation(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  hold: Readonly<HoldState>,
  use: Use,
  nowMs: number,
): UseDecision {
  const { effect, taken } = commit(account, hold, use.cost, use, nowMs)
  const commits = use.cost === 0n ? [] : [effect]
  const seq = account.sequence + 1 + (use.cost === 0n ? 0 : entryCount(effect))
  const effects = [...commits, ...endHold(account, hold, 'settled', nowMs, taken, seq)]
  const returned = unspentOf(hold) - taken
  const over = use.cost - taken
  if (over === 0n) return { ...nothing, effects, applied: 'reservation', consumed: taken, returned }
  // The hold is spent, so its end returned nothing: the ledger goes on where the commit left it.
  const rest = drawDirectly(account, config, over, use, nowMs, seq)
  return {
    ...rest,
    effects: [...effects, ...rest.effects],
    applied: 'reservation',
    consumed: taken + rest.consumed,
  }
}

/** A ledger kept elsewhere: the use is noted, no grant moves. source: CR-6 */
function recordOnly(account: Readonly<CreditAccount>, use: Use, nowMs: number): UseDecision {
  if (use.cost === 0n) return nothing
  const effect: CreditEffect = {
    t: 'credit_draw',
    c: account.creditId,
    seq: account.sequence + 1,
    ...linkMembers(use, nowMs),
    s: [],
    ext: encodeAmount(use.cost),
  }
  return { ...nothing, effects: [effect], applied: 'external', consumed: use.cost }
}

/**
 * Return credits to the account's one refund grant, made on demand; its end moves to a year from now. It repays an
 * overdraft first. source: CR-60…63, CR-53
 */
function refund(
  account: Readonly<CreditAccount>,
  amount: Amount,
  links: UseLinks,
  nowMs: number,
): UseDecision {
  const draft = draftOf(account)
  const exp = addMonthsClamped(nowMs, 12)
  const existing = account.grants.find(grant => grant.seq === account.refundSeq && usable(grant, nowMs))
  const seq = existing?.seq ?? giveGrant(draft, { reason: 'adjustment', q: 0, exp }, nowMs)
  const quantity = (existing?.quantity ?? 0n) + amount
  const remaining = (existing?.remaining ?? 0n) + amount
  put(draft, {
    t: 'credit_refund',
    c: account.creditId,
    seq: draft.account.sequence + 1,
    ...linkMembers(links, nowMs),
    s: [seq, encodeAmount(amount), encodeAmount(remaining)],
    q: encodeAmount(quantity),
    exp: Math.max(exp, existing?.expiresAtMs ?? 0),
  })
  repayFrom(draft, seq, nowMs)
  return { ...nothing, effects: draft.effects, applied: 'refund', consumed: -amount }
}

/** Make a grant; returns its sequence. */
export function giveGrant(draft: Draft, g: NewGrant, atMs: number): number {
  const seq = draft.account.sequence + 1
  put(draft, { t: 'credit_grant', c: draft.account.creditId, seq, at: atMs, g })
  return seq
}

/** Reasons whose new grants repay an open overdraft first; plan grants do not. source: CR-53 */
export function repays(reason: NewGrant['reason']): boolean {
  return (
    reason === 'purchased' ||
    reason === 'billing_credit_auto_topup' ||
    reason === 'free' ||
    reason === 'adjustment'
  )
}

/** Repay the overdraft from a grant, as far as it goes. source: CR-53 */
export function repayFrom(draft: Draft, seq: number, atMs: number): void {
  const grant = draft.account.grants.find(other => other.seq === seq)
  const debt = debtOf(draft.account)
  if (grant === undefined || debt === 0n || !usable(grant, atMs)) return
  transfer(draft, seq, lesser(debt, grant.remaining), 'overdraft_recovery', atMs)
}

/** Move credits from a grant to the overdraft. */
function transfer(
  draft: Draft,
  seq: number,
  amount: Amount,
  reason: Extract<CreditEffect, { t: 'credit_transfer' }>['r'],
  atMs: number,
): void {
  const from = draft.account.grants.find(other => other.seq === seq)!
  const to = draft.account.overdraft!
  if (amount === 0n) return
  const moved = encodeAmount(amount)
  put(draft, {
    t: 'credit_transfer',
    c: draft.account.creditId,
    seq: draft.account.sequence + 1,
    at: atMs,
    r: reason,
    from: [seq, moved, encodeAmount(from.remaining - amount)],
    to: [to.seq, moved, encodeAmount(to.remaining + amount)],
  })
}

/** Cover the overdraft by a grant of its size, which is spent at once. source: CR-53, CR-54 */
export function payDebt(
  draft: Draft,
  reason: 'postpaid_settlement' | 'postpaid_forgiven',
  transferReason: Extract<CreditEffect, { t: 'credit_transfer' }>['r'],
  atMs: number,
): void {
  const debt = debtOf(draft.account)
  if (debt === 0n) return
  const seq = giveGrant(draft, { reason, q: encodeAmount(debt) }, atMs)
  transfer(draft, seq, debt, transferReason, atMs)
}

/** Drawable credits with the overdraft, holds left out. */
export function balanceOf(account: Readonly<CreditAccount>, nowMs: number): Amount {
  let balance = account.overdraft?.remaining ?? 0n
  for (const grant of account.grants) {
    if (grant.remaining > 0n && usable(grant, nowMs)) balance += grant.remaining
  }
  return balance
}

/** Add the automatic top-up that a draw sets off, at most one. source: CR-55, CR-57 */
function toppedUp(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  decision: UseDecision,
  nowMs: number,
): UseDecision {
  const plan = effectiveTopup(account, config)
  if (plan === null || account.topup.pending) return decision
  const threshold = thresholdOf(account, plan, nowMs)
  if (threshold === null) return decision
  const draft = draftOf(account)
  for (const effect of decision.effects) put(draft, effect)
  if (!topupFires(balanceOf(draft.account, nowMs), threshold)) return decision
  topUp(draft, config, plan, nowMs)
  return { ...decision, effects: draft.effects }
}

/** At or below the threshold. source: CR-55 */
function topupFires(balance: Amount, threshold: Amount): boolean {
  return balance <= threshold
}

/** The plan's values, or the company's over them where it may and did choose; null when there is none. source: CR-55 */
export function effectiveTopup(account: Readonly<CreditAccount>, config: CreditConfig): TopupConfig | null {
  const plan = config.topup
  if (plan === null || plan.availability === 'off') return null
  if (plan.availability === 'automatic') return plan
  const { settings } = account.topup
  if (settings === null || !settings.enabled) return null
  return {
    ...plan,
    amount: settings.amount ?? plan.amount,
    thresholdCredits: settings.thresholdCredits ?? plan.thresholdCredits,
  }
}

/** The threshold in credits; a percentage is of the plan grant's current quantity. null: none is set. source: CR-55 */
function thresholdOf(account: Readonly<CreditAccount>, plan: TopupConfig, nowMs: number): Amount | null {
  if (plan.thresholdCredits !== null) return wholeCredits(plan.thresholdCredits)
  if (plan.thresholdPercent === null) return null
  let quantity = 0n
  for (const grant of account.grants) {
    const ofPlan = grant.reason === 'plan' && grant.planGrantId === plan.planGrantId
    if (ofPlan && usable(grant, nowMs)) quantity += grant.quantity
  }
  // A balance at or below an exact percentage is at or below it rounded down.
  return (quantity * BigInt(plan.thresholdPercent)) / 100n
}

function topUp(draft: Draft, config: CreditConfig, plan: TopupConfig, nowMs: number): void {
  const { failures } = draft.account.topup
  if (!plan.priced) {
    // tried again at the next draw; after the last failure nothing more is published (CR-56)
    if (failures < topupFailuresMax)
      noteTopup(draft, { pending: false, failures: failures + 1, hard: 'no_price' }, nowMs)
    return
  }
  if (plan.atOnce) {
    if (failures > 0) noteTopup(draft, { pending: false, failures: 0 }, nowMs)
    giveTopup(draft, config, plan, nowMs)
  } else noteTopup(draft, { pending: true, failures }, nowMs)
}

export function giveTopup(draft: Draft, config: CreditConfig, plan: TopupConfig, nowMs: number): void {
  const end = expiryOf(plan.expiry, nowMs, config.period, config.trialEndMs)
  const seq = giveGrant(
    draft,
    {
      reason: 'billing_credit_auto_topup',
      q: encodeAmount(wholeCredits(plan.amount)),
      exp: typeof end === 'number' ? end : undefined,
    },
    nowMs,
  )
  repayFrom(draft, seq, nowMs)
}

export function noteTopup(
  draft: Draft,
  state: {
    readonly pending: boolean
    readonly failures: number
    readonly hard?: TopupFailure | undefined
  },
  nowMs: number,
): void {
  const { settings } = draft.account.topup
  const { hard, ...rest } = state
  put(draft, {
    t: 'credit_topup',
    c: draft.account.creditId,
    at: nowMs,
    settings,
    ...rest,
    ...(hard && { hard }),
  })
}
