// Builds the wire form of a plan change from its record.
import type { Sql } from 'postgres'
import type { PlanChange, PlanSnapshot, PlanVersionSnapshot } from '../../../schemas/plans.js'
import type { PlanChangeRecord } from '../../core/model/plan-messages.js'
import type { EntityPlace } from '../../kit/entities.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { companyBriefs } from '../entities/read.js'
import { type ApiKeyRow, apiKeyView } from '../keys/view.js'

/**
 * A change in full. Plans and versions have their present names, also if archived.
 *
 * source  PB-34, interface document `PlanChange`.
 */
export async function planChangeView(
  place: EntityPlace,
  companyId: string,
  change: PlanChangeRecord,
): Promise<PlanChange> {
  const { services, environment } = place
  const { from, to } = change
  const planIds = [from?.planId, to?.planId, ...change.addOnsAdded, ...change.addOnsRemoved]
  const [plans, versions, keys, companies] = await Promise.all([
    planSnapshots(services.sql, planIds.filter(present)),
    versionSnapshots(services.sql, [from?.versionId, to?.versionId].filter(present)),
    services.sql<ApiKeyRow[]>`select * from api_keys where id = ${change.apiKeyId ?? ''}`,
    companyBriefs(place, [companyId]),
  ])
  const company = companies.get(companyId)
  const named = (ids: readonly string[]) => ids.flatMap(id => plans.get(id) ?? [])
  const [basePlan, formerPlan] = [plans.get(to?.planId ?? ''), plans.get(from?.planId ?? '')]
  const [version, former] = [versions.get(to?.versionId ?? ''), versions.get(from?.versionId ?? '')]
  const samePlan = from !== null && from.planId === to?.planId
  return {
    id: change.id,
    environment_id: environment.id,
    company_id: companyId,
    ...(company && { company }),
    action: change.action,
    actor_type: change.actorType,
    ...(keys[0] && { api_key: apiKeyView(keys[0], services) }),
    ...(basePlan && { base_plan: basePlan }),
    ...(version && { base_plan_version: version }),
    ...(formerPlan && { previous_base_plan: formerPlan }),
    ...(former && { previous_base_plan_version: former }),
    base_plan_action: change.basePlanAction,
    add_ons_added: named(change.addOnsAdded),
    add_ons_removed: named(change.addOnsRemoved),
    is_version_upgrade: samePlan && !!version && !!former && version.version > former.version,
    subscription_change_action: change.subscriptionAction ?? null,
    traits_updated: [],
    trial_status: change.trialStatus,
    trial_converted_at: change.trialStatus === 'converted' ? isoTime(change.atMs) : null,
    trial_expires_at: isoTimeOrNull(change.trialEndMs),
    request_id: null,
    user_id: null,
    user_name: null,
    created_at: isoTime(change.atMs),
    updated_at: isoTime(change.atMs),
  }
}

function present(id: string | undefined): id is string {
  return id !== undefined
}

export async function planSnapshots(sql: Sql, ids: readonly string[]): Promise<Map<string, PlanSnapshot>> {
  const rows = await sql<(PlanSnapshot & { deleted_at: Date | null })[]>`
    select id, name, description, icon, deleted_at from plans where id in ${among(sql, ids)}`
  return new Map(rows.map(({ deleted_at, ...plan }) => [plan.id, { ...plan, deleted: deleted_at !== null }]))
}

async function versionSnapshots(sql: Sql, ids: readonly string[]): Promise<Map<string, PlanVersionSnapshot>> {
  const rows = await sql<PlanVersionSnapshot[]>`
    select id, name, version from plan_versions where id in ${among(sql, ids)}`
  return new Map(rows.map(version => [version.id, version]))
}
