// Grants: credits given to a company, what they pay for, when they end, and when a plan resets them.
import type {
  BillingPlanCreditGrantResetCadence,
  BillingPlanCreditGrantResetStart,
} from '../../../schemas/enums.js'
import type {
  BillingPeriod,
  CreditAccount,
  CreditConfig,
  CreditEffect,
  ExpiryRule,
  Payment,
  Slice,
} from '../model/account-state.js'
import type { CreditDef } from '../model/definitions.js'
import { type Amount, encodeAmount, lesser } from '../values/amount.js'
import { derivedId } from '../values/id.js'
import {
  addMonthsClamped,
  anchorIn,
  anchorInPhase,
  dayMs,
  isOn,
  periodAt,
  recurrenceAfter,
  weekMs,
} from '../values/period.js'
import { burn, firstToBurn, inBurnOrder } from './burn-order.js'
import { capacityOf, drawableOf } from './overdraft.js'

export function grantId(companyId: string, creditId: string, seq: number): string {
  return derivedId('bcgr_', companyId, creditId, seq)
}

/**
 * Find `need` credits, or as many as there may be: grants in burn order, then the overdraft down to its floor.
 *
 * seq      the next free sequence number, when it is not the account's next
 * source   CR-20, CR-50…52
 */
export function pay(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  need: Amount,
  nowMs: number,
  seq: number = account.sequence + 1,
): Payment {
  // With no overdraft yet there is as much as the grants have, or more.
  const grants = inBurnOrder(account, config.burnStrategy)
  const first = account.overdraft === null ? firstToBurn(grants, nowMs) : null
  if (first !== null && first.remaining >= need) {
    const left = first.remaining - need
    const slice: Slice = [first.seq, encodeAmount(need), left === 0n ? 0 : encodeAmount(left)]
    return { opens: none, slices: [slice], paid: need, overdrawn: 0n, seq }
  }
  // A prepaid account that owes nothing has its grants and no more: burning finds the bound by itself.
  const prepaid = config.overdraft === null && account.overdraft === null
  const capacity = prepaid ? need : capacityOf(account, config, nowMs)
  const drawable = prepaid ? need : drawableOf(account, nowMs)
  const wanted = capacity === null || need < capacity ? need : capacity
  const fromGrants = lesser(wanted, drawable)
  const slices: Slice[] = []
  let paid = 0n
  for (const { grant, amount } of burn(grants, fromGrants, nowMs)) {
    const left = amount === grant.remaining ? 0 : encodeAmount(grant.remaining - amount)
    slices.push([grant.seq, encodeAmount(amount), left])
    paid += amount
  }
  const overdrawn = wanted - fromGrants
  if (overdrawn === 0n) return { opens: none, slices, paid, overdrawn, seq }
  const opens: CreditEffect[] =
    account.overdraft === null
      ? [
          {
            t: 'credit_grant',
            c: account.creditId,
            seq,
            at: nowMs,
            g: { reason: 'postpaid_overdraft', q: 0 },
          },
        ]
      : []
  const before = account.overdraft?.remaining ?? 0n
  slices.push([account.overdraft?.seq ?? seq, encodeAmount(overdrawn), encodeAmount(before - overdrawn)])
  return { opens, slices, paid: paid + overdrawn, overdrawn, seq: seq + opens.length }
}

const none: readonly never[] = []

/** The next first of a month whose number (January = 0) is a multiple of the step. */
export function firstOfMonthAfter(stepMonths: number, afterMs: number): number {
  const next = (Math.floor(monthIndex(afterMs) / stepMonths) + 1) * stepMonths
  return Date.UTC(1970, next, 1)
}

/** Months since 1970-01; 1970 began a year, so multiples of 3, 6 and 12 are quarters, halves and years. */
function monthIndex(atMs: number): number {
  const at = new Date(atMs)
  return (at.getUTCFullYear() - 1970) * 12 + at.getUTCMonth()
}

const resetMonths = { monthly: 1, quarterly: 3, every_6_months: 6, yearly: 12 } as const

/**
 * The first reset after an instant.
 *
 * enrolledAtMs  first issue of the plan grant: the anchor of daily and weekly resets
 * anchorMs      as resetAnchor gives it (the enrolment without a subscription)
 * returns       epoch ms > afterMs
 * source        CR-40
 */
export function resetAfter(
  cadence: BillingPlanCreditGrantResetCadence,
  start: BillingPlanCreditGrantResetStart | null,
  enrolledAtMs: number,
  anchorMs: number,
  afterMs: number,
): number {
  if (cadence === 'daily' || cadence === 'weekly') {
    const step = cadence === 'daily' ? dayMs : weekMs
    const passed = Math.max(0, Math.floor((afterMs - enrolledAtMs) / step))
    return enrolledAtMs + (passed + 1) * step
  }
  const step = resetMonths[cadence]
  return start === 'first_of_month'
    ? firstOfMonthAfter(step, afterMs)
    : recurrenceAfter(anchorMs, afterMs, step)
}

/**
 * The anchor of resets that follow a billing period: they count from its start, on the subscription's day of month.
 *
 * anchorMs  of the subscription
 * startMs   of its period
 * source  CR-40, decision 34.
 */
export function resetAnchor(
  anchorMs: number,
  startMs: number,
  cadence: BillingPlanCreditGrantResetCadence | null,
): number {
  const months = cadence === null || cadence === 'daily' || cadence === 'weekly' ? 1 : resetMonths[cadence]
  return anchorInPhase(anchorMs, months, startMs)
}

/** Whether credits may roll over at this cadence. source: CR-42 */
export function rollsOver(cadence: BillingPlanCreditGrantResetCadence): boolean {
  return cadence !== 'daily' && cadence !== 'weekly'
}

/**
 * End of the n-th billing period, the one that holds an instant being the first.
 * A period that has run out is carried on at its own interval; one that is yet to start counts as the current.
 */
export function billingPeriodEnd(period: BillingPeriod, atMs: number, n: number): number {
  const months = period.intervalMonths
  if (months < 1) {
    const length = period.endMs - period.startMs
    const passed = atMs < period.endMs ? 0 : Math.floor((atMs - period.endMs) / length) + 1
    return period.endMs + (passed + n - 1) * length
  }
  // Ends lie on the days of the anchor, so that the 31st comes back after February; an odd end goes on by its own.
  const ownMs = anchorIn(period)
  const anchorMs = isOn(ownMs, period.endMs) ? ownMs : period.endMs
  let end = atMs < period.endMs ? period.endMs : periodAt(anchorMs, months, atMs, period.endMs).nextMs
  for (let k = 1; k < n; k++) end = periodAt(anchorMs, months, end, period.endMs).nextMs
  return end
}

/**
 * The end of a grant: epoch ms, null for never, or 'no_trial' where the rule names the end of a trial and none runs.
 * Computed once, when it is granted. A duration without count never ends. source: CR-32
 */
export function expiryOf(
  rule: ExpiryRule,
  grantedAtMs: number,
  period: BillingPeriod | null,
  trialEndMs: number | null,
): number | null | 'no_trial' {
  switch (rule.type) {
    case 'no_expiry':
      return null
    case 'duration':
      if (rule.count === null) return null
      if (rule.unit !== 'billing_periods') return grantedAtMs + rule.count * dayMs
      return period === null
        ? addMonthsClamped(grantedAtMs, rule.count)
        : billingPeriodEnd(period, grantedAtMs, rule.count)
    case 'end_of_billing_period':
      return period === null ? firstOfMonthAfter(1, grantedAtMs) : billingPeriodEnd(period, grantedAtMs, 1)
    case 'end_of_next_billing_period':
      return period === null
        ? addMonthsClamped(firstOfMonthAfter(1, grantedAtMs), 1)
        : billingPeriodEnd(period, grantedAtMs, 2)
    case 'end_of_trial':
      return trialEndMs !== null && trialEndMs > grantedAtMs ? trialEndMs : 'no_trial'
  }
}

/** The expiry that a credit gives to grants that name none. source: CR-34 */
export function defaultExpiry(credit: CreditDef): ExpiryRule {
  return credit.defaultExpiryUnitCount === null
    ? { type: 'no_expiry', unit: null, count: null }
    : { type: 'duration', unit: credit.defaultExpiryUnit, count: credit.defaultExpiryUnitCount }
}
