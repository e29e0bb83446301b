// Features in their wire form: alone, inside flags, and with their flags and plans.
import type { Sql } from 'postgres'
import type {
  BillingProviderType,
  FeatureEventSource,
  FeatureLifecyclePhase,
  FeatureType,
} from '../../../schemas/enums.js'
import type { PreviewObject } from '../../../schemas/envelope.js'
import type { Feature } from '../../../schemas/features.js'
import { companyTraitId } from '../../catalog/load.js'
import type { CatalogData, PlanDef } from '../../core/model/definitions.js'
import { among } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'

/** A row of features with the id of its licence. */
export interface FeatureRow {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly description: string
  readonly icon: string
  readonly feature_type: FeatureType
  readonly event_source: FeatureEventSource
  readonly event_subtype: string | null
  readonly trait_hierarchy: readonly string[] | null
  readonly usage_limit_trait_hierarchy: readonly string[] | null
  readonly lifecycle_phase: FeatureLifecyclePhase | null
  readonly maintainer_account_member_id: string | null
  readonly plural_name: string | null
  readonly singular_name: string | null
  readonly managed_by: BillingProviderType
  readonly external_resource_id: string | null
  readonly license_id: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** The source of rows: features, each with its licence. */
export function featureSource(sql: Sql) {
  return sql`(select f.*, l.id as license_id from features f left join licenses l on l.feature_id = f.id) as features`
}

/** A feature with the trait ids of the environment; without traits for an account-wide call. */
export function featureView(row: FeatureRow, environmentId: string | null): Feature {
  const traitOf = (hierarchy: readonly string[] | null) =>
    environmentId === null ? null : companyTraitId(environmentId, hierarchy)
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    icon: row.icon,
    feature_type: row.feature_type,
    event_source: row.event_source,
    event_subtype: row.event_subtype,
    license_id: row.license_id,
    lifecycle_phase: row.lifecycle_phase,
    maintainer_account_member_id: row.maintainer_account_member_id,
    plural_name: row.plural_name,
    singular_name: row.singular_name,
    trait_id: traitOf(row.trait_hierarchy),
    usage_limit_trait_id: traitOf(row.usage_limit_trait_hierarchy),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** Features by id. */
export async function featureViews(
  sql: Sql,
  ids: readonly string[],
  environmentId: string | null,
): Promise<Map<string, Feature>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<FeatureRow[]>`select * from ${featureSource(sql)} where id in ${among(sql, ids)}`
  return new Map(rows.map(row => [row.id, featureView(row, environmentId)]))
}

export function planPreview(plan: PlanDef): PreviewObject {
  return { id: plan.id, name: plan.name, description: plan.description, image_url: null }
}

/** Ids of the features that a plan's published version grants. */
export function grantedBy(plan: PlanDef): readonly string[] {
  const published = plan.versions.find(version => version.id === plan.publishedVersionId)
  return published?.entitlements.map(entitlement => entitlement.featureId) ?? []
}

/** The plans whose published version grants a feature, by feature id. */
export function plansByFeature(catalog: CatalogData | null): Map<string, PreviewObject[]> {
  const found = new Map<string, PreviewObject[]>()
  for (const plan of catalog?.plans ?? [])
    for (const featureId of grantedBy(plan)) {
      const plans = found.get(featureId)
      if (plans) plans.push(planPreview(plan))
      else found.set(featureId, [planPreview(plan)])
    }
  return found
}
