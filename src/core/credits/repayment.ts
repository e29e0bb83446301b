// Grants that are made, and the overdraft that they repay.
import type { CreditEffect, NewGrant } from '../model/account-state.js'
import { type Amount, encodeAmount, lesser } from '../values/amount.js'
import { usable } from './burn-order.js'
import { type Draft, debtOf, put } from './ledger.js'

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
