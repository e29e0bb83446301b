// Use of credits by one event: draws, commits, charged reservations and refunds.
import type {
  CreditAccount,
  CreditConfig,
  CreditEffect,
  HoldState,
  UseLinks,
} from '../model/account-state.js'
import { type Amount, encodeAmount, lesser } from '../values/amount.js'
import { addMonthsClamped } from '../values/period.js'
import { budgetParts, overBudget, windowsBeside } from './budget.js'
import { usable } from './burn-order.js'
import { pay } from './grant.js'
import { commit, endHold, openHoldOf, unspentOf } from './hold.js'
import { draftOf, entryCount, put } from './ledger.js'
import { giveGrant, repayFrom } from './repayment.js'
import { toppedUp } from './topup.js'

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
  if (use.cost === 0n) return decision
  const effects = toppedUp(account, config, decision.effects, nowMs)
  return effects === decision.effects ? decision : { ...decision, effects }
}

/**
 * The reason for which a hard spend policy refuses a use, as a sentence; null: none does. Use that a hold pays was counted
 * when it was held, in the windows of that time. In the windows of others, such as the user of this event, it counts now.
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
  const paid = lesser(cost, unspentOf(hold))
  const over = hold.kind === 'lease' ? 0n : cost - paid
  return overBudget(account, windowsBeside(windows, hold), paid + over) ?? overBudget(account, windows, over)
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
      const { effect, taken } = commit(account, lease, config.windows, use.cost, use, nowMs)
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
  const { effect, taken } = commit(account, hold, config.windows, use.cost, use, nowMs)
  const commits = use.cost === 0n ? [] : [effect]
  const seq = account.sequence + 1 + (use.cost === 0n ? 0 : entryCount(effect))
  const settled = { taken, effects: commits }
  const effects = [...commits, ...endHold(account, config, hold, 'settled', nowMs, settled)]
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
