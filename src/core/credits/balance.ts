// Changes of a credit account by time, and its balance at an instant: exact to the millisecond, swept or not.

import type {
  CreditAccount,
  CreditConfig,
  CreditEffect,
  CreditFigures,
  GrantState,
} from '../model/account-state.js'
import { anchorIn, periodAt } from '../values/period.js'
import { usable } from './burn-order.js'
import { billingPeriodEnd, firstOfMonthAfter } from './grant.js'
import { endHold } from './hold.js'
import { type Draft, draftOf, put, zeroOut } from './ledger.js'
import { resetsDue } from './plan-grant.js'
import { renewalDue } from './renewal.js'
import { payDebt, repayFrom, repays } from './repayment.js'

/** The figures at an instant, exact even when nothing has been swept since. Changes nothing. source: CR-4, CR-5, CR-6, CR-30, CR-76 */
export function figures(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  nowMs: number,
): CreditFigures {
  if (account.external !== null && config.ledgerAuthority !== 'service_authoritative') {
    const { remaining, total } = account.external
    return { remaining, reserved: 0n, settled: remaining, total }
  }
  if (nextMoveMs(account, config) <= nowMs) {
    const draft = draftOf(account)
    bringUp(draft, config, nowMs)
    return sums(draft.account, nowMs)
  }
  return sums(account, nowMs)
}

function sums(account: Readonly<CreditAccount>, nowMs: number): CreditFigures {
  let remaining = account.overdraft?.remaining ?? 0n
  let total = account.spentForever
  for (const grant of account.grants) {
    if (!usable(grant, nowMs)) continue
    remaining += grant.remaining
    total += grant.quantity
  }
  for (const grant of account.spent) {
    if (grant.expiresAtMs === null || nowMs < grant.expiresAtMs) total += grant.quantity
  }
  let reserved = 0n
  if (account.lease !== null) for (const slice of account.lease.slices) reserved += slice.left
  for (const hold of account.reservations) for (const slice of hold.slices) reserved += slice.left
  return { remaining, reserved, settled: remaining + reserved, total }
}

/** The next instant at which something changes by itself other than a grant's plain end; Infinity for none. */
function nextMoveMs(account: Readonly<CreditAccount>, config: CreditConfig): number {
  let next = account.lease?.expiresAtMs ?? Number.POSITIVE_INFINITY
  for (const hold of account.reservations) if (hold.expiresAtMs < next) next = hold.expiresAtMs
  for (const { nextResetMs } of account.enrolments) {
    if (nextResetMs !== null && nextResetMs < next) next = nextResetMs
  }
  for (const { nextMs } of account.renewals) if (nextMs !== null && nextMs < next) next = nextMs
  if (account.overdrawnSinceMs === null) return next
  const since = account.overdrawnSinceMs
  for (const grant of account.grants) {
    if (repaysLater(grant, since) && grant.validFromMs < next) next = grant.validFromMs
  }
  return Math.min(next, arrearsCloseMs(config, since))
}

/**
 * The next instant at which `due` has something to do; Infinity for none. For timers. A grant's end is among them:
 * its figure is exact without a sweep, its ledger entry is not.
 */
export function nextDueMs(account: Readonly<CreditAccount>, config: CreditConfig): number {
  let next = nextMoveMs(account, config)
  for (const grant of account.grants) {
    if (grant.closed === null && grant.expiresAtMs !== null && grant.expiresAtMs < next) {
      next = grant.expiresAtMs
    }
  }
  return next
}

/** A grant that began with a future valid_from, while the overdraft stood: it repays once it is valid. */
function repaysLater(grant: GrantState, sinceMs: number): boolean {
  return (
    grant.closed === null &&
    grant.remaining > 0n &&
    grant.validFromMs > grant.createdAtMs &&
    grant.validFromMs >= sinceMs &&
    repays(grant.reason)
  )
}

/**
 * The instant at which the arrears window around `sinceMs` closes: by the cadence of the plan, and with the billing period
 * where the plan that allowed the debt was left (CR-54). source: CR-53; without a subscription the next 1st (decision, as
 * CR-32)
 */
export function arrearsCloseMs(config: CreditConfig, sinceMs: number): number {
  const { period, overdraft } = config
  const cadence = overdraft?.arrearsCadence ?? 'end_of_billing_period'
  const months = cadence === 'quarterly' ? 3 : 1
  if (period === null) return firstOfMonthAfter(months, sinceMs)
  if (cadence === 'end_of_billing_period') {
    return sinceMs < period.startMs ? period.startMs : billingPeriodEnd(period, sinceMs, 1)
  }
  return overdraft?.arrearsAnchor === 'month_end'
    ? firstOfMonthAfter(months, sinceMs)
    : periodAt(anchorIn(period), months, sinceMs).nextMs
}

/**
 * Everything that time has done to the account up to now, in order, each with its own instant: holds end, grants end,
 * plan grants reset and grants renew (missed ones one by one), arrears are paid, grants that became valid repay.
 * Run and apply it before any operation; empty when there is nothing. source: CR-30, CR-33, CR-41…44, CR-53, CR-76, CR-82
 */
export function due(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  nowMs: number,
): readonly CreditEffect[] {
  if (nextDueMs(account, config) > nowMs) return []
  const draft = draftOf(account)
  bringUp(draft, config, nowMs)
  return draft.effects
}

function bringUp(draft: Draft, config: CreditConfig, nowMs: number): void {
  for (;;) {
    const atMs = nextDueMs(draft.account, config)
    if (atMs > nowMs) return
    happen(draft, config, atMs)
  }
}

/** Apply everything due at one instant, in this order: credits returned by a hold are there for a reset at its end. */
function happen(draft: Draft, config: CreditConfig, atMs: number): void {
  const { account } = draft
  const holds = account.lease === null ? account.reservations : [account.lease, ...account.reservations]
  for (const hold of holds) {
    if (hold.expiresAtMs > atMs) continue
    for (const effect of endHold(account, config, hold, 'expired', atMs)) put(draft, effect)
  }
  const ended = account.grants.filter(
    grant => grant.closed === null && grant.expiresAtMs !== null && grant.expiresAtMs <= atMs,
  )
  zeroOut(draft, ended, 'expired', atMs)
  resetsDue(draft, config, atMs)
  for (const renewal of account.renewals) {
    if (renewal.nextMs !== null && renewal.nextMs <= atMs) renewalDue(draft, config, renewal)
  }
  const since = account.overdrawnSinceMs
  if (since === null) return
  if (arrearsCloseMs(config, since) <= atMs) payDebt(draft, 'postpaid_settlement', 'postpaid_paid', atMs)
  for (const grant of [...account.grants]) {
    if (repaysLater(grant, since) && grant.validFromMs <= atMs) repayFrom(draft, grant.seq, atMs)
  }
}

/**
 * The end of a company: holds end, every grant is zeroed with `customer_archived`. Its arrears window ends with it.
 *
 * source  CU-50, CR-46, CR-53, RA-17.
 */
export function archive(account: Readonly<CreditAccount>, nowMs: number): readonly CreditEffect[] {
  const draft = draftOf(account)
  const own = draft.account
  const holds = own.lease === null ? own.reservations : [own.lease, ...own.reservations]
  for (const hold of holds)
    for (const effect of endHold(own, null, hold, 'archived', nowMs)) put(draft, effect)
  const open = own.grants.filter(grant => grant.closed === null)
  zeroOut(draft, open, 'customer_archived', nowMs)
  payDebt(draft, 'postpaid_settlement', 'postpaid_paid', nowMs)
  for (const e of own.enrolments) {
    if (e.leftUntilMs !== null) continue
    put(draft, {
      t: 'credit_enrol',
      c: own.creditId,
      at: nowMs,
      e: { ...e, nextResetMs: null, leftUntilMs: nowMs },
    })
  }
  return draft.effects
}
