// Short lists of features.
import type { Sql } from 'postgres'
import type { FeatureSummary } from '../../../schemas/console.js'
import { among } from '../../kit/sql.js'
import { type FeatureRow, plansByFeature } from '../flags/feature-view.js'
import type { Outlook } from '../flags/view.js'

/** A line for each feature, with its flag, and the plans that grant it in the outlook's environment. */
export async function featureSummaries(
  sql: Sql,
  { environment, services }: Outlook,
  rows: readonly FeatureRow[],
): Promise<FeatureSummary[]> {
  const ids = rows.map(({ id }) => id)
  const flags = await sql<{ id: string; key: string; feature_id: string }[]>`
    select id, key, feature_id from flags where feature_id in ${among(sql, ids)} order by created_at desc, id desc`
  const byFeature = new Map(flags.map(({ id, key, feature_id }) => [feature_id, { id, key }]))
  const plans = plansByFeature(environment === null ? null : services.catalogs.get(environment.id))
  return rows.map(row => ({
    id: row.id,
    name: row.name,
    description: row.description,
    feature_type: row.feature_type,
    event_subtype: row.event_subtype,
    flag: byFeature.get(row.id) ?? null,
    plan_count: plans.get(row.id)?.length ?? 0,
  }))
}
