// The defaults of bodies that have some: what follows from other members, empty lists, empty texts.
import { type MigrationStrategy, prorationBehaviors } from '../../schemas/enums.js'
import type { FeatureCreateRequestBody } from '../../schemas/features.js'
import type { FlagCreateRequestBody } from '../../schemas/flags.js'
import type { PlanMoveTime } from '../../schemas/plan-moves.js'

/** POST /features: the type follows from what the feature counts. */
export function ofFeature(body: FeatureCreateRequestBody) {
  const counts = body.event_subtype != null || body.event_source != null
  return { feature_type: counts ? 'event' : body.trait_id != null ? 'trait' : 'boolean' } as const
}

/** POST /flags. */
export function ofFlag({ key }: FlagCreateRequestBody) {
  return { name: key, description: '', default_value: false, flag_type: 'boolean' } as const
}

/** PUT /plans/version/{plan_version_id}/publish: companies keep the version they have. */
export const ofPublish = { migration_strategy: 'leave' as MigrationStrategy, excluded_company_ids: [] }

/** POST /plan-version-migrations. */
export const ofMigration = { strategy: 'immediate' as MigrationStrategy }

/** POST /plan-moves and its preview. */
export const ofMove = { when: 'now' as PlanMoveTime }

/** POST /billing/credits. */
export const ofCredit = { description: '', currency: 'usd' as const }

/** POST /billing/credits/bundles. */
export const ofCreditBundle = { currency: 'usd' as const }

/** POST /plan-groups: nothing is collected or forbidden, and all is shown. */
export const ofPlanGroup = {
  checkout_collect_address: false,
  checkout_collect_email: false,
  checkout_collect_phone: false,
  checkout_collect_tax_id: false,
  enable_tax_collection: false,
  opt_in_enabled: false,
  prevent_downgrades_when_over_limit: false,
  prevent_self_service_downgrade: false,
  show_as_monthly_prices: false,
  show_credits: true,
  show_feature_description: true,
  show_hard_limit: true,
  show_period_toggle: true,
  show_zero_price_as_free: true,
  sync_customer_billing_details: false,
  proration_behavior: prorationBehaviors[0],
  add_on_ids: [],
  ordered_add_ons: [],
  ordered_bundle_list: [],
  ordered_plans: [],
}
