// A check of one flag or of all: the company's live facts, the decision, the answer as text.

import type { TrialStatus } from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import type { Company } from '../company/company-state.js'
import { LiveCompany } from '../company/facts.js'
import type { CheckContext, Preflight } from '../company/requests.js'
import type { CreditFigures } from '../credits/account-state.js'
import { shownFigures } from '../entitlements/entitlement.js'
import { trialStatus } from '../plans/plan.js'
import { instantText, quotedName } from '../quoted.js'
import { type CheckResult, checkWith, inContext, quoted, unusedJson, whoJson, writeCheck } from './flag.js'
import type { ReadSet } from './read-set.js'
import type { UserFacts } from './rule.js'

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

/** All flags for one context, from one snapshot and one instant (FE-91). */
export interface AllChecks {
  /** Ordered by key. */
  readonly flags: readonly CheckResult[]
  /** The base plan; null without company or plan. */
  readonly plan: {
    readonly id: string
    readonly name: string
    readonly trialEndMs: number | null
    readonly trialStatus: TrialStatus | null
  } | null
  /** Every credit the company holds, by credit id; null without company. */
  readonly credits: readonly (readonly [creditId: string, figures: CreditFigures])[] | null
}

/**
 * Check every flag of the environment for one context.
 *
 * context  the keys in the request: they give the reasons of checks in which nothing matched (FE-76).
 * reads    records their reads of the company's usage.
 * source   FE-90, FE-91.
 */
export function checkAll(
  catalog: Catalog,
  company: Company | null,
  user: UserFacts | null,
  context: Pick<CheckContext, 'companyGiven' | 'userGiven'>,
  nowMs: number,
  reads: ReadSet | null = null,
): AllChecks {
  const facts = company?.exists ? new LiveCompany(company, catalog, nowMs, reads) : null
  return {
    flags: catalog.flags.map(flag => inContext(checkWith(flag, facts, user, null), context)),
    plan: facts && planOf(facts),
    credits: facts && creditsOf(facts),
  }
}

/** Every credit that a company holds. */
export function creditsOf(facts: LiveCompany): AllChecks['credits'] {
  return [...facts.company.credits.keys()].map(id => [id, facts.figures(id)])
}

/** The base plan as an answer shows it. */
export function planOf({ inForce, catalog, nowMs }: LiveCompany): AllChecks['plan'] {
  const { plan } = inForce
  if (plan === null) return null
  return {
    id: plan.planId,
    name: catalog.plans.get(plan.planId)?.def.name ?? '',
    trialEndMs: plan.trial?.endMs ?? null,
    trialStatus: plan.trial && trialStatus(plan.trial, nowMs),
  }
}

/** All checks as the wire spells them (`CheckFlags`), serialised. */
export function writeAllChecks({ flags, plan, credits }: AllChecks): string {
  let json = '{"flags":['
  if (flags.length > 0) json += writeChecks(flags)
  json += ']'
  return json + writeContext(plan, credits)
}

/** The members of an answer beside its flags, and its end. */
export function writeContext(plan: AllChecks['plan'], credits: AllChecks['credits']): string {
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

// A request may have thousands of results: their common part is written once.
function writeChecks(flags: readonly CheckResult[]): string {
  const who = whoJson(flags[0]!)
  const ending = `${who},"error":null${unusedJson}}`
  let json = ''
  for (let i = 0; i < flags.length; i++) {
    const checked = flags[i]!
    if (i > 0) json += ','
    if (checked.error === null && checked.featureUsage === null && checked.entitlement === null)
      json += `{${checked.json}${ending}`
    else json += writeCheck(checked, who)
  }
  return json
}
