// Grants: credits given to a company, the order in which they burn, their validity, and their renewal by a plan.
import type {
  BillingCreditBurnStrategy,
  BillingPlanCreditGrantResetCadence,
  BillingPlanCreditGrantResetStart,
} from '../../../schemas/enums.js'
import type {
  BillingPeriod,
  Burning,
  CreditAccount,
  CreditConfig,
  CreditEffect,
  ExpiryRule,
  GrantState,
  Payment,
  Slice,
  Take,
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

export function grantId(companyId: string, creditId: string, seq: number): string {
  return derivedId('bcgr_', companyId, creditId, seq)
}

/** Whether a grant counts now: valid, not ended, not zeroed. Exact to the millisecond. source: CR-30, CR-31 */
export function usable(grant: Readonly<GrantState>, nowMs: number): boolean {
  return (
    grant.closed === null &&
    grant.validFromMs <= nowMs &&
    (grant.expiresAtMs === null || nowMs < grant.expiresAtMs)
  )
}

/**
 * Which grants pay for `need` credits, and how much each.
 *
 * grants   oldest first, as the account keeps them
 * need     nano-credits > 0
 * returns  parts in the order they burn, each > 0; they sum to `need` or to all there is
 * source   CR-20…23, decision 17 (a resetting plan grant has no expiry)
 */
export function burn(
  grants: readonly GrantState[],
  strategy: BillingCreditBurnStrategy,
  need: Amount,
  nowMs: number,
): Take[] {
  const takes: Take[] = []
  let missing = need
  const from = (grant: GrantState): void => {
    const amount = lesser(grant.remaining, missing)
    takes.push({ grant, amount })
    missing -= amount
  }
  const planFirst = strategy === 'plan_first_then_credit_bundles_first_in_first_out'
  const lastRank = planFirst ? 3 : 2
  // Adjustments and rollovers are few: a rank that no grant has is not walked through.
  let ranks = 0
  for (let i = 0; i < grants.length; i++) ranks |= 1 << rankOf(grants[i]!, planFirst)
  for (let rank = 0; rank <= lastRank && missing > 0n; rank++) {
    if ((ranks & (1 << rank)) === 0) continue
    if (rank === 2 && strategy === 'expiration_priority') {
      const rest = grants.filter(
        grant => grant.remaining > 0n && rankOf(grant, false) === 2 && usable(grant, nowMs),
      )
      // Nearly every draw ends within the first grants: look for them one by one, and sort only when it goes on.
      for (let i = 0; i < fewGrants && rest.length > 0 && missing > 0n; i++) from(takeSoonest(rest))
      if (missing === 0n) continue
      const order = soonestFirst(rest, nowMs)
      if (order === null) rest.sort((a, b) => endOf(a) - endOf(b))
      for (let i = 0; i < rest.length && missing > 0n; i++)
        from(rest[order === null ? i : order[i]! % placesMax]!)
      continue
    }
    // Grants lie oldest first; newest first is the same walk backwards.
    const backwards = rank === 2 && strategy === 'last_in_first_out'
    for (let i = 0; i < grants.length && missing > 0n; i++) {
      const grant = grants[backwards ? grants.length - 1 - i : i]!
      if (grant.remaining > 0n && rankOf(grant, planFirst) === rank && usable(grant, nowMs)) from(grant)
    }
  }
  return takes
}

/**
 * The grant that `burn` takes from first; null when none has anything. Nearly every draw ends within it.
 *
 * kinds    kinds of the grants
 * source   CR-20…23
 */
export function firstToBurn(
  grants: readonly GrantState[],
  strategy: BillingCreditBurnStrategy,
  nowMs: number,
  kinds: number = kindsOf(grants),
): GrantState | null {
  const planFirst = strategy === 'plan_first_then_credit_bundles_first_in_first_out'
  const newest = strategy === 'last_in_first_out'
  const soonest = strategy === 'expiration_priority'
  const least = leastRank(kinds, planFirst)
  let first: GrantState | null = null
  let ranked = 4
  for (let i = 0; i < grants.length; i++) {
    const grant = grants[i]!
    const rank = rankOf(grant, planFirst)
    const sorted = rank === 2 && (newest || soonest)
    // grants are sorted oldest first: within a rank the first found wins, unless the strategy has another order
    if (rank > ranked || (rank === ranked && !sorted)) continue
    if (rank === ranked && soonest && endOf(grant) >= endOf(first!)) continue
    if (grant.remaining === 0n || !usable(grant, nowMs)) continue
    first = grant
    ranked = rank
    if (rank === least && !sorted) return first
  }
  return first
}

/**
 * The grant that `firstToBurn` finds, and the instant until which it stays the first; null when no grant has a rest.
 */
export function burningOf(
  grants: readonly GrantState[],
  strategy: BillingCreditBurnStrategy,
  nowMs: number,
  kinds: number,
): Burning | null {
  const grant = firstToBurn(grants, strategy, nowMs, kinds)
  if (grant === null) return null
  let untilMs = grant.expiresAtMs ?? Number.POSITIVE_INFINITY
  for (const { validFromMs } of grants)
    if (validFromMs > nowMs && validFromMs < untilMs) untilMs = validFromMs
  return { grant, strategy, fromMs: nowMs, untilMs }
}

/** Kinds of grants as bits: adjustments, rollovers, those of plans, others. */
export function kindsOf(grants: readonly GrantState[]): number {
  let kinds = 0
  for (let i = 0; i < grants.length; i++) kinds |= 1 << rankOf(grants[i]!, true)
  return kinds
}

/** The first rank that grants of these kinds have. */
function leastRank(kinds: number, planFirst: boolean): number {
  if (kinds & 1) return 0
  if (kinds & 2) return 1
  return planFirst && (kinds & 4) === 0 ? 3 : 2
}

/** Adjustments, then rollovers, then the rest under every strategy (CR-21). */
function rankOf(grant: GrantState, planFirst: boolean): number {
  if (grant.reason === 'adjustment') return 0
  if (grant.reason === 'rollover') return 1
  return planFirst && grant.reason !== 'plan' ? 3 : 2
}

const fewGrants = 2

/** When a grant ends, for comparing: one without an end comes last. */
function endOf(grant: GrantState): number {
  return grant.expiresAtMs ?? Number.MAX_SAFE_INTEGER
}

/** Take out the grant that ends first, the oldest of equals (CR-23). */
function takeSoonest(grants: GrantState[]): GrantState {
  let soonest = 0
  for (let i = 1; i < grants.length; i++) if (endOf(grants[i]!) < endOf(grants[soonest]!)) soonest = i
  return grants.splice(soonest, 1)[0]!
}

/** Grants sorted as one number each: when it ends and, below that, its place. So many ms and places fit exactly. */
const endMsMax = 2 ** 45
const placesMax = 2 ** 7
/** Made once: an array of this size costs as much as it takes to sort it. */
const scratch = new Float64Array(placesMax)

/**
 * Places of grants in the order they end, the oldest of equals first (CR-23): each a number whose rest by `placesMax`
 * is the place. All grants are usable. Good until the next call; null where such numbers do not fit.
 */
function soonestFirst(grants: readonly GrantState[], nowMs: number): Float64Array | null {
  const { length } = grants
  const keys = scratch.subarray(0, length)
  let fits = length <= placesMax
  for (let i = 0; i < length && fits; i++) {
    const { expiresAtMs } = grants[i]!
    const leftMs = expiresAtMs === null ? endMsMax : expiresAtMs - nowMs
    fits = leftMs < endMsMax || expiresAtMs === null
    keys[i] = leftMs * placesMax + i
  }
  return fits ? keys.sort() : null
}

/** Credits that may be drawn from grants now. */
function drawableOf(account: Readonly<CreditAccount>, nowMs: number): Amount {
  let drawable = 0n
  for (const grant of account.grants) {
    if (grant.remaining > 0n && usable(grant, nowMs)) drawable += grant.remaining
  }
  return drawable
}

/**
 * How far down `remaining` may go: 0 for a prepaid company, minus the limit for a postpaid one, null without limit.
 * The one place that knows what happens to a use that finds too little. source: CR-50, CR-51, CR-52
 */
function floorOf(config: CreditConfig): Amount | null {
  if (config.overdraft === null) return 0n
  return config.overdraft.limit === null ? null : -config.overdraft.limit
}

/** The most that may leave the balance now, overdraft room included; null without bound. source: CR-52, CR-80 */
export function capacityOf(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  nowMs: number,
): Amount | null {
  const floor = floorOf(config)
  if (floor === null) return null
  const capacity = drawableOf(account, nowMs) + (account.overdraft?.remaining ?? 0n) - floor
  return capacity > 0n ? capacity : 0n
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
  const first =
    account.overdraft === null ? firstToBurn(account.grants, config.burnStrategy, nowMs, account.kinds) : null
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
  for (const { grant, amount } of burn(account.grants, config.burnStrategy, fromGrants, nowMs)) {
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
