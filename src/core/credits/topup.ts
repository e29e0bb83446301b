// The automatic top-up: when a draw sets it off, what it gives, and its failures.
import type {
  CreditAccount,
  CreditConfig,
  CreditEffect,
  TopupConfig,
  TopupFailure,
} from '../model/account-state.js'
import { type Amount, encodeAmount, wholeCredits } from '../values/amount.js'
import { usable } from './burn-order.js'
import { expiryOf } from './grant.js'
import { type Draft, draftOf, put } from './ledger.js'
import { balanceOf } from './overdraft.js'
import { giveGrant, repayFrom } from './repayment.js'

/** Failures in a row after which "retries exceeded" is published. source: CR-56 */
export const topupFailuresMax = 5

/** The effects of a draw, with the automatic top-up that it sets off, at most one. source: CR-55, CR-57 */
export function toppedUp(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  effects: readonly CreditEffect[],
  nowMs: number,
): readonly CreditEffect[] {
  const plan = effectiveTopup(account, config)
  if (plan === null || account.topup.pending) return effects
  const threshold = thresholdOf(account, plan, nowMs)
  if (threshold === null) return effects
  const draft = draftOf(account)
  for (const effect of effects) put(draft, effect)
  if (!topupFires(balanceOf(draft.account, nowMs), threshold)) return effects
  topUp(draft, config, plan, nowMs)
  return draft.effects
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
