// Checks of all flags in the plain way, an object for each result: what src/core/checks/all-flags.ts writes at once.
import type { Catalog } from '../../src/core/catalog.js'
import {
  creditsOf,
  planOf,
  type ShownCredits,
  type ShownPlan,
  writeContext,
} from '../../src/core/checks/check.js'
import {
  type CheckResult,
  checkWith,
  inContext,
  unusedJson,
  whoJson,
  writeCheck,
} from '../../src/core/flags/flag.js'
import { LiveCompany } from '../../src/core/live/live-company.js'
import type { Company } from '../../src/core/model/company-state.js'
import type { CheckContext } from '../../src/core/model/requests.js'
import type { UserFacts } from '../../src/core/rules/rule.js'

/** All flags for one context, from one snapshot and one instant (FE-91). */
interface AllChecks {
  /** Ordered by key. */
  readonly flags: readonly CheckResult[]
  readonly plan: ShownPlan
  readonly credits: ShownCredits
}

/**
 * Check every flag of the environment for one context.
 *
 * context  the keys in the request: they give the reasons of checks in which nothing matched (FE-76).
 * source   FE-90, FE-91.
 */
export function checkAll(
  catalog: Catalog,
  company: Company | null,
  user: UserFacts | null,
  context: Pick<CheckContext, 'companyGiven' | 'userGiven'>,
  nowMs: number,
): AllChecks {
  const facts = company?.exists ? new LiveCompany(company, catalog, nowMs) : null
  return {
    flags: catalog.flags.map(flag => inContext(checkWith(flag, facts, user, null), context)),
    plan: facts && planOf(facts),
    credits: facts && creditsOf(facts),
  }
}

/** All checks as the wire spells them (`CheckFlags`), serialised. */
export function writeAllChecks({ flags, plan, credits }: AllChecks): string {
  let json = '{"flags":['
  if (flags.length > 0) json += writeChecks(flags)
  json += ']'
  return json + writeContext(plan, credits)
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
