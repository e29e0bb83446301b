// Grants that renew by themselves, beside the rest of earlier ones: by a plan, or by hand (decision 30).
import type { BillingPlanCreditGrantResetCadence } from '../../../schemas/enums.js'
import type {
  BillingPeriod,
  CreditAccount,
  CreditConfig,
  ExpiryRule,
  GrantRenewal,
  RenewalPeriod,
} from '../model/account-state.js'
import { encodeAmount, wholeCredits } from '../values/amount.js'
import { dayMs, recurrenceAfter, weekMs } from '../values/period.js'
import { billingPeriodEnd, expiryOf, firstOfMonthAfter } from './grant.js'
import { type Draft, put } from './ledger.js'
import { giveGrant, repayFrom, repays } from './repayment.js'

const seqsMax = 256

/**
 * The first boundary after an instant, epoch ms.
 *
 * beganMs  begin of the first grant: the anchor of months without a subscription.
 * source   decision 30; months without a subscription as CR-32
 */
export function renewalAfter(
  kind: RenewalPeriod,
  period: BillingPeriod | null,
  beganMs: number,
  afterMs: number,
): number {
  if (kind === 'first_of_month') return firstOfMonthAfter(1, afterMs)
  if (period === null) return recurrenceAfter(beganMs, afterMs, 1)
  return afterMs < period.startMs ? period.startMs : billingPeriodEnd(period, afterMs, 1)
}

/**
 * The boundary that comes next, where `nextMs` was foreseen: itself as long as the billing periods still have it.
 *
 * issuedMs  time of the last grant: a period that began since then begins with its credits, also when it is reported
 *           late.
 */
export function boundaryNow(
  kind: RenewalPeriod,
  period: BillingPeriod | null,
  {
    beganMs,
    issuedMs,
    nextMs,
  }: { readonly beganMs: number; readonly issuedMs: number; readonly nextMs: number },
  nowMs: number,
): number {
  if (kind === 'first_of_month') return nextMs
  if (period === null)
    return recurrenceAfter(beganMs, nextMs - 1, 1) === nextMs ? nextMs : recurrenceAfter(beganMs, nowMs, 1)
  if (nextMs === period.startMs) return nextMs
  if (nextMs > period.startMs && billingPeriodEnd(period, nextMs - 1, 1) === nextMs) return nextMs
  return issuedMs < period.startMs ? period.startMs : renewalAfter(kind, period, beganMs, nowMs)
}

/** When a grant of a plan, or one that renews, ends: where no trial runs for its rule, with the period. source: CR-32, CR-34 */
export function endOfGrant(rule: ExpiryRule | null, config: CreditConfig, atMs: number): number | null {
  const end = expiryOf(rule ?? config.defaultExpiry, atMs, config.period, config.trialEndMs)
  if (end !== 'no_trial') return end
  return config.period === null ? firstOfMonthAfter(1, atMs) : billingPeriodEnd(config.period, atMs, 1)
}

/** Cadence of a renewal, as callers see it. source: decision, as the interface knows these words alone */
export function cadenceOf(
  kind: RenewalPeriod,
  period: BillingPeriod | null,
): BillingPlanCreditGrantResetCadence {
  if (kind === 'first_of_month' || period === null) return 'monthly'
  const { intervalMonths, startMs, endMs } = period
  if (intervalMonths >= 12) return 'yearly'
  if (intervalMonths >= 6) return 'every_6_months'
  if (intervalMonths >= 3) return 'quarterly'
  if (intervalMonths >= 1) return 'monthly'
  return endMs - startMs <= dayMs ? 'daily' : endMs - startMs <= weekMs ? 'weekly' : 'monthly'
}

/** Give the grants of a renewal once, at an instant; returns their sequences. Debts are repaid from them (CR-53). */
function give(draft: Draft, config: CreditConfig, renewal: GrantRenewal, atMs: number): number[] {
  const { reason, quantity, count, expiry, bundle, currency, period } = renewal
  const exp = endOfGrant(expiry, config, atMs)
  return Array.from({ length: count }, () => {
    const seq = giveGrant(
      draft,
      {
        reason,
        q: encodeAmount(wholeCredits(quantity)),
        exp: exp ?? undefined,
        bundle: bundle ?? undefined,
        cur: currency ?? undefined,
        rn: cadenceOf(period, config.period),
      },
      atMs,
    )
    if (repays(reason)) repayFrom(draft, seq, atMs)
    return seq
  })
}

/** Begin a renewal with its first grants; returns their sequences. */
export function beginRenewal(
  draft: Draft,
  config: CreditConfig,
  terms: Omit<GrantRenewal, 'seqs' | 'beganMs' | 'issuedMs' | 'nextMs'>,
  nowMs: number,
): readonly number[] {
  const nextMs = renewalAfter(terms.period, config.period, nowMs, nowMs)
  const renewal = { ...terms, seqs: [], beganMs: nowMs, issuedMs: nowMs, nextMs }
  const seqs = give(draft, config, renewal, nowMs)
  renewed(draft, { ...renewal, seqs }, nowMs)
  return seqs
}

function renewed(draft: Draft, r: GrantRenewal, atMs: number): void {
  put(draft, { t: 'credit_renew', c: draft.account.creditId, at: atMs, r })
}

/** The grants that a renewal has next, made at its boundary. */
export function renewalDue(draft: Draft, config: CreditConfig, renewal: GrantRenewal): void {
  const boundaryMs = renewal.nextMs!
  const seqs = give(draft, config, renewal, boundaryMs)
  const [first, ...others] = renewal.seqs
  const kept = [first!, ...[...others, ...seqs].slice(1 - seqsMax)]
  const nextMs = renewalAfter(renewal.period, config.period, renewal.beganMs, boundaryMs)
  renewed(draft, { ...renewal, seqs: kept, issuedMs: boundaryMs, nextMs }, boundaryMs)
}

/** The renewal that a grant belongs to. */
export function renewalOf(
  account: Readonly<CreditAccount>,
  isGrant: (seq: number) => boolean,
): GrantRenewal | undefined {
  return account.renewals.find(({ seqs }) => seqs.some(isGrant))
}

const movedTo = (renewal: GrantRenewal, config: CreditConfig, nowMs: number): number =>
  boundaryNow(renewal.period, config.period, { ...renewal, nextMs: renewal.nextMs! }, nowMs)

/** Whether the subscription's periods have moved the next boundary of a renewal. */
export function renewalsMoved(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  nowMs: number,
): boolean {
  return account.renewals.some(renewal => movedTo(renewal, config, nowMs) !== renewal.nextMs)
}

/** Let renewals follow the subscription's periods. */
export function followRenewals(draft: Draft, config: CreditConfig, nowMs: number): void {
  for (const renewal of draft.account.renewals) {
    const nextMs = movedTo(renewal, config, nowMs)
    if (nextMs !== renewal.nextMs) renewed(draft, { ...renewal, nextMs }, nowMs)
  }
}
