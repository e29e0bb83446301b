// A company's own settings of automatic top-up, where its plans allow the choice.
import type { ManagePlanRequest } from '../../../schemas/billing.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { PlansManaged } from '../../core/model/plan-messages.js'
import { ServiceError } from '../../errors.js'
import { conflict, invalid, type Selection } from './selection.js'

/**
 * The settings in a request, one per credit.
 *
 * errors  404 for an unknown credit; 400 for one that the selected plans do not let a company top up, and for duplicates.
 * source  CR-55, interface document; one setting per credit: decision.
 */
export function topupsOf(
  catalog: CatalogData,
  { base, addOns }: Selection,
  body: ManagePlanRequest,
): NonNullable<PlansManaged['topups']> {
  const overrides = body.auto_topup_overrides ?? []
  const versionIds = new Set([...(base ? [base] : []), ...addOns].map(({ version }) => version.id))
  const grants = catalog.plans
    .flatMap(plan => plan.versions)
    .filter(version => versionIds.has(version.id))
    .flatMap(version => version.creditGrants)
  return overrides.map(({ credit_id: creditId, enabled, amount, threshold_credits }, i) => {
    if (!catalog.credits.some(one => one.id === creditId))
      throw new ServiceError('not_found', `auto_topup_overrides: no credit ${creditId}`)
    if (overrides.findIndex(one => one.credit_id === creditId) < i)
      throw invalid('auto_topup_overrides: a credit is named twice')
    const free = grants.some(
      one => one.creditId === creditId && one.autoTopupAvailability === 'user_controlled',
    )
    if (!free) throw conflict(`auto_topup_overrides: the plans leave no choice about ${creditId}`)
    const settings = { enabled, amount: amount ?? null, thresholdCredits: threshold_credits ?? null }
    return { type: 'credit_topup_settings', creditId, settings }
  })
}
