// A check of one flag on a company's live facts; and the members of an answer to a check of all flags beside its flags.

import type { TrialStatus } from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import { shownFigures } from '../entitlements/entitlement.js'
import { type CheckResult, checkWith, quoted } from '../flags/flag.js'
import { LiveCompany } from '../live/live-company.js'
import type { CreditFigures } from '../model/account-state.js'
import type { Company } from '../model/company-state.js'
import type { Preflight } from '../model/requests.js'
import { trialStatus } from '../plans/plan.js'
import type { UserFacts } from '../rules/rule.js'
import { instantText, quotedName } from '../values/quoted.js'

/**
 * Check one flag for a company and a user as they are now.
 *
 * company    null, or one that does not exist: evaluated without company.
 * user       null: evaluated without user. See `userOf`.
 * preflight  hypothetical use, on single checks only (FE-91); an invalid one gives the default and `error`.
 * nowMs      the environment's present, epoch ms.
 * returns    null for an unknown key (FE-77). Allocates a handful of small objects.
 * source     FE-1…3, FE-10…14, FE-70…75, FE-80…86, EN-20…26.
 */
export function checkFlag(
  catalog: Catalog,
  flagKey: string,
  company: Company | null,
  user: UserFacts | null,
  preflight: Preflight | null,
  nowMs: number,
): CheckResult | null {
  const flag = catalog.flagsByKey.get(flagKey)
  if (flag === undefined) return null
  const facts = company?.exists ? new LiveCompany(company, catalog, nowMs) : null
  return checkWith(flag, facts, user, preflight)
}

/** The base plan as an answer shows it; null without company or plan. */
export type ShownPlan = {
  readonly id: string
  readonly name: string
  readonly trialEndMs: number | null
  readonly trialStatus: TrialStatus | null
} | null

/** Every credit the company holds, by credit id; null without company. */
export type ShownCredits = readonly (readonly [creditId: string, figures: CreditFigures])[] | null

/** Every credit that a company holds. */
export function creditsOf(facts: LiveCompany): ShownCredits {
  return [...facts.company.credits.keys()].map(id => [id, facts.figures(id)])
}

/** The base plan as an answer shows it. */
export function planOf({ inForce, catalog, nowMs }: LiveCompany): ShownPlan {
  const { plan } = inForce
  if (plan === null) return null
  return {
    id: plan.planId,
    name: catalog.plans.get(plan.planId)?.def.name ?? '',
    trialEndMs: plan.trial?.endMs ?? null,
    trialStatus: plan.trial && trialStatus(plan.trial, nowMs),
  }
}

/** The members of an answer beside its flags, and its end. */
export function writeContext(plan: ShownPlan, credits: ShownCredits): string {
  let json = ''
  if (plan !== null) {
    const trialEnd = plan.trialEndMs === null ? 'null' : `"${instantText(plan.trialEndMs)}"`
    json += `,"plan":{"id":${quoted(plan.id)},"name":${quoted(plan.name)},"trial_end_date":${trialEnd},"trial_status":${quoted(plan.trialStatus)}}`
  }
  if (credits !== null) {
    const balances = credits.map(([id, figures]) => {
      const { remaining, reserved, settled } = shownFigures(figures)
      return `${quotedName(id)}:{"remaining":${remaining},"reserved":${reserved},"settled":${settled}}`
    })
    json += `,"credit_balances":{${balances.join(',')}}`
  }
  return `${json}}`
}
