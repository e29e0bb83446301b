// The balance of an account, how far down it may go (the floor of an overdraft), and the credits that may be drawn above it.
import type { CreditAccount, CreditConfig } from '../model/account-state.js'
import type { Amount } from '../values/amount.js'
import { usable } from './burn-order.js'

/** Credits that may be drawn from grants now. */
export function drawableOf(account: Readonly<CreditAccount>, nowMs: number): Amount {
  let drawable = 0n
  for (const grant of account.grants) {
    if (grant.remaining > 0n && usable(grant, nowMs)) drawable += grant.remaining
  }
  return drawable
}

/** Drawable credits with the overdraft, holds left out. */
export function balanceOf(account: Readonly<CreditAccount>, nowMs: number): Amount {
  return drawableOf(account, nowMs) + (account.overdraft?.remaining ?? 0n)
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
  const capacity = balanceOf(account, nowMs) - floor
  return capacity > 0n ? capacity : 0n
}
