// Usage of a company beyond the limits of the plans it is changing to (EN-87).
import { compileCatalog } from '../../core/catalog.js'
import { apply, decideCompany } from '../../core/company/company.js'
import { decodeCompany } from '../../core/company/state.js'
import { type FeatureUsage, featureUsages } from '../../core/live/feature.js'
import { LiveCompany } from '../../core/live/live-company.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import type { PlansManaged, PlansWanted } from '../../core/model/plan-messages.js'
import { ServiceError } from '../../errors.js'
import type { EntityPlace } from '../../kit/entities.js'

/**
 * Features whose usage would exceed the new limits. The change is decided on a copy of the company, by the same code
 * that decides the real one.
 *
 * errors  400 for plans the company cannot be on.
 * source  EN-87: over the limit means usage > limit.
 */
export function usageViolations(
  data: CatalogData,
  { state }: CompanyDescription,
  message: PlansManaged | PlansWanted,
  nowMs: number,
): readonly FeatureUsage[] {
  const catalog = compileCatalog(data)
  const company = decodeCompany(structuredClone(state))
  const atOnce = message.type === 'manage_plan' ? { ...message, effectiveAtMs: null } : message
  const decision = decideCompany(company, catalog, atOnce, nowMs)
  if ('refused' in decision)
    throw new ServiceError('state_conflict', decision.detail ?? 'The company cannot be on these plans')
  for (const effect of decision.effects) apply(company, effect, nowMs)
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
