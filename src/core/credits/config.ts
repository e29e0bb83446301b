// Configuration of a company's account in one credit, from definitions and the subscription.

import type { BillingPeriod, CreditConfig } from '../model/account-state.js'
import type { CreditDef, PlanCreditGrantDef, SpendPolicyDef } from '../model/definitions.js'
import { type Amount, amountFromDecimal } from '../values/amount.js'
import { defaultExpiry } from './grant.js'

/**
 * Configuration of one credit of one company, from the definitions.
 *
 * planGrants  grants of this credit, over the plan versions and add-ons the company holds, base plan first
 * maxPerDraw  see `spendCap`
 * ownLimit    the overdraft limit of the company's billing profile, decimal text: where a plan grant is postpaid it
 *             takes the place of the plan's; null: the plan's
 * source      CR-51, CR-52, CR-55: among several plan grants the most generous overdraft and the first top-up count
 *             (source: decision, the rules know one); interface document, CompanyBillingProfile: overdraft_limit
 */
export function creditConfig(
  credit: CreditDef,
  planGrants: readonly PlanCreditGrantDef[],
  period: BillingPeriod | null,
  trialEndMs: number | null,
  maxPerDraw: Amount | null,
  ownLimit: string | null,
): CreditConfig {
  const postpaid = planGrants.filter(grant => grant.postpaidEnabled)
  const topup = planGrants.find(
    grant => grant.autoTopupAvailability !== 'off' && grant.autoTopupAmount !== null,
  )
  return {
    burnStrategy: credit.burnStrategy,
    ledgerAuthority: credit.ledgerAuthority,
    overdraft:
      postpaid.length === 0
        ? null
        : {
            limit: ownLimit === null ? mostGenerous(postpaid) : amountFromDecimal(ownLimit),
            arrearsCadence: postpaid[0]!.arrearsCadence ?? 'end_of_billing_period',
            arrearsAnchor: postpaid[0]!.arrearsAnchor ?? 'billing_period_start',
          },
    topup:
      topup === undefined
        ? null
        : {
            availability: topup.autoTopupAvailability,
            amount: topup.autoTopupAmount!,
            thresholdCredits: topup.autoTopupThresholdCredits,
            thresholdPercent: topup.autoTopupThresholdPercent,
            planGrantId: topup.id,
            expiry: {
              type: topup.autoTopupExpiryType ?? 'no_expiry',
              unit: topup.autoTopupExpiryUnit,
              count: topup.autoTopupExpiryUnitCount,
            },
            atOnce: true, // decision: there is no payment processor
            priced: credit.priced !== false,
          },
    defaultExpiry: defaultExpiry(credit),
    period,
    trialEndMs,
    maxPerDraw,
  }
}

/** The largest overdraft limit; null, without floor, beats any. */
function mostGenerous(grants: readonly PlanCreditGrantDef[]): Amount | null {
  let limit = 0n
  for (const { overdraftLimit } of grants) {
    const own = overdraftLimit === null ? null : amountFromDecimal(overdraftLimit)
    if (own === null) return null
    if (own > limit) limit = own
  }
  return limit
}

/** The smallest cap on one draw for a company, or for it and one of its users; null without any. source: decision */
export function spendCap(
  policies: readonly SpendPolicyDef[],
  creditId: string,
  companyId: string,
  userId: string | null,
): Amount | null {
  let smallest: Amount | null = null
  for (const policy of policies) {
    const ours = policy.companyId === companyId || (userId !== null && policy.userId === userId)
    if (policy.creditId !== creditId || !ours || policy.maxPerDraw === null) continue
    const cap = amountFromDecimal(policy.maxPerDraw)
    if (cap !== null && (smallest === null || cap < smallest)) smallest = cap
  }
  return smallest
}
