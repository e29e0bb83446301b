// The order in which the grants of an account burn (CR-20…23): one comparator for each strategy, and the grants kept in that order.
import type { BillingCreditBurnStrategy } from '../../../schemas/enums.js'
import type { Burning, CreditAccount, GrantState, Take } from '../model/account-state.js'
import { type Amount, lesser } from '../values/amount.js'

/** Whether a grant counts now: valid, not ended, not zeroed. Exact to the millisecond. source: CR-30, CR-31 */
export function usable(grant: Readonly<GrantState>, nowMs: number): boolean {
  return (
    grant.closed === null &&
    grant.validFromMs <= nowMs &&
    (grant.expiresAtMs === null || nowMs < grant.expiresAtMs)
  )
}

type Compare = (one: Readonly<GrantState>, other: Readonly<GrantState>) => number

/** Creation time orders, creation sequence breaks ties (CR-23). */
const byAge: Compare = (one, other) => one.createdAtMs - other.createdAtMs || one.seq - other.seq

const byPlan: Compare = (one, other) => Number(other.reason === 'plan') - Number(one.reason === 'plan')

/** A grant without an end comes last. */
const byEnd: Compare = (one, other) => endOf(one) - endOf(other)
const endOf = ({ expiresAtMs }: Readonly<GrantState>): number => expiresAtMs ?? Number.MAX_SAFE_INTEGER

/** The order of grants but adjustments and rollovers. */
const strategies: Readonly<Record<BillingCreditBurnStrategy, Compare>> = {
  first_in_first_out: byAge,
  last_in_first_out: (one, other) => byAge(other, one),
  expiration_priority: (one, other) => byEnd(one, other) || byAge(one, other),
  plan_first_then_credit_bundles_first_in_first_out: (one, other) => byPlan(one, other) || byAge(one, other),
}

/** Adjustments, then rollovers, then the rest under every strategy (CR-21). */
function rankOf({ reason }: Readonly<GrantState>): number {
  if (reason === 'adjustment') return 0
  return reason === 'rollover' ? 1 : 2
}

/** The comparator of a strategy: negative where `one` burns before `other`. source: CR-21…23 */
function comparatorOf(strategy: BillingCreditBurnStrategy): Compare {
  const among = strategies[strategy]
  return (one, other) => {
    const rank = rankOf(one)
    return rank - rankOf(other) || (rank === 2 ? among(one, other) : byAge(one, other))
  }
}

/**
 * All grants of an account in the order they burn, those that are not usable too. The account keeps the list until its grants or
 * the strategy are others; most lists lie in that order already.
 */
export function inBurnOrder(
  account: Readonly<Pick<CreditAccount, 'grants' | 'order'>>,
  strategy: BillingCreditBurnStrategy,
): readonly GrantState[] {
  const { grants, order } = account
  if (order !== null && order.of === grants && order.strategy === strategy) return order.grants
  const compare = comparatorOf(strategy)
  const isSorted = grants.every((grant, i) => i === 0 || compare(grants[i - 1]!, grant) < 0)
  const sorted = isSorted ? grants : grants.toSorted(compare)
  // the order follows from the grants: readers of the account see no change
  ;(account as Pick<CreditAccount, 'order'>).order = { of: grants, strategy, grants: sorted }
  return sorted
}

/**
 * Which grants pay for `need` credits, and how much each.
 *
 * grants   in the order they burn
 * need     nano-credits > 0
 * returns  parts in the order they burn, each > 0; they sum to `need` or to all there is
 * source   CR-20…23, decision 17 (a resetting plan grant has no expiry)
 */
export function burn(grants: readonly GrantState[], need: Amount, nowMs: number): Take[] {
  const takes: Take[] = []
  let missing = need
  for (let i = 0; i < grants.length && missing > 0n; i++) {
    const grant = grants[i]!
    if (grant.remaining === 0n || !usable(grant, nowMs)) continue
    const amount = lesser(grant.remaining, missing)
    takes.push({ grant, amount })
    missing -= amount
  }
  return takes
}

/** The grant that `burn` takes from first; null when none has anything. Nearly every draw ends within it. */
export function firstToBurn(grants: readonly GrantState[], nowMs: number): GrantState | null {
  for (let i = 0; i < grants.length; i++) {
    const grant = grants[i]!
    if (grant.remaining > 0n && usable(grant, nowMs)) return grant
  }
  return null
}

/** The first grant to burn, and the instant until which it stays the first; null when no grant has a rest. */
export function burningOf(
  account: Readonly<Pick<CreditAccount, 'grants' | 'order'>>,
  strategy: BillingCreditBurnStrategy,
  nowMs: number,
): Burning | null {
  const grant = firstToBurn(inBurnOrder(account, strategy), nowMs)
  if (grant === null) return null
  let untilMs = grant.expiresAtMs ?? Number.POSITIVE_INFINITY
  for (const { validFromMs } of account.grants)
    if (validFromMs > nowMs && validFromMs < untilMs) untilMs = validFromMs
  return { grant, strategy, fromMs: nowMs, untilMs }
}
