// A plan as a company comes to hold it: in its published version, with its trial the first time (EN-84, EN-90).
import type { Catalog } from '../catalog.js'
import type { Company, PlanHolding, TrialState } from '../model/company-state.js'
import type { PlanVersionDef } from '../model/definitions.js'
import { dayMs } from '../values/period.js'

/** The plan's latest published version as a holding of this company, or null (EN-84). */
export function holdingOf(
  catalog: Catalog,
  planId: string | null,
  priceId: string | null,
  nowMs: number,
  company: Pick<Company, 'trialedPlanIds'>,
): PlanHolding | null {
  const def = planId === null ? undefined : catalog.plans.get(planId)?.def
  const version = def?.versions.find(one => one.id === def.publishedVersionId)
  return planId !== null && version ? holding(planId, version, priceId, nowMs, company) : null
}

/** A version of a plan as a holding of this company, with its trial the first time (EN-90). */
export function holding(
  planId: string,
  version: PlanVersionDef,
  priceId: string | null,
  nowMs: number,
  company: Pick<Company, 'trialedPlanIds'>,
): PlanHolding {
  const trial: TrialState | null =
    version.isTrialable && version.trialDays && !company.trialedPlanIds.includes(planId)
      ? { endMs: nowMs + version.trialDays * dayMs, endSetting: 'cancel', status: 'active' }
      : null
  return { planId, versionId: version.id, addedAtMs: nowMs, priceId, trial }
}
