// Usage of a company beyond the limits of the plans it is changing to (EN-87).
import { type Catalog, compileCatalog } from '../../core/catalog.js'
import { apply, decideCompany } from '../../core/company/company.js'
import { decodeCompany } from '../../core/company/state.js'
import { type FeatureUsage, featureUsages } from '../../core/live/feature.js'
import { LiveCompany } from '../../core/live/live-company.js'
import type { Company } from '../../core/model/company-state.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import type { Effect } from '../../core/model/message.js'
import type { PlansManaged, PlansWanted } from '../../core/model/plan-messages.js'
import { ServiceError } from '../../errors.js'
import type { EntityPlace } from '../../kit/entities.js'

/**
 * The effects of a change, decided on a copy of the company by the same code that decides the real one.
 *
 * errors  400 for plans the company cannot be on.
 */
export function effectsOf(
  catalog: Catalog,
  company: Company,
  message: PlansManaged | PlansWanted,
  nowMs: number,
): readonly Effect[] {
  const decision = decideCompany(company, catalog, message, nowMs)
  if ('refused' in decision)
    throw new ServiceError('state_conflict', decision.detail ?? 'The company cannot be on these plans')
  return decision.effects
}

/** A copy of a company, to try changes on. */
export const copyOf = ({ state }: CompanyDescription): Company => decodeCompany(structuredClone(state))

/**
 * Features whose usage would exceed the new limits.
 *
 * errors  400 for plans the company cannot be on.
 * source  EN-87: over the limit means usage > limit.
 */
export function usageViolations(
  data: CatalogData,
  description: CompanyDescription,
  message: PlansManaged | PlansWanted,
  nowMs: number,
): readonly FeatureUsage[] {
  const catalog = compileCatalog(data)
  const company = copyOf(description)
  const atOnce = message.type === 'manage_plan' ? { ...message, effectiveAtMs: null } : message
  for (const effect of effectsOf(catalog, company, atOnce, nowMs)) apply(company, effect, nowMs)
  return featureUsages(new LiveCompany(company, catalog, nowMs), { negative: false }).filter(
    ({ usage, allocation }) => usage !== null && allocation !== null && usage > allocation,
  )
}

/**
 * Log a warning for a change that is made although limits are exceeded: it names the company and the features. The
 * preview shows the same as `usage_violations`.
 *
 * source  EN-87; using the log: decision, because no answer has a member for it.
 */
export function warnOverLimit(
  { services, environment }: EntityPlace,
  companyId: string,
  violations: readonly FeatureUsage[],
): void {
  if (violations.length === 0) return
  const { features } = services.catalogs.get(environment.id)
  const exceeded = violations.map(({ featureId, usage, allocation }) => {
    const feature = features.find(one => one.id === featureId)?.name ?? featureId
    return { feature, usage, allocation }
  })
  services.log.warn(
    { environment_id: environment.id, company_id: companyId, exceeded },
    'a company uses more than its new plans allow',
  )
}
