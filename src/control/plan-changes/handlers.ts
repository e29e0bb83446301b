// Recorded changes of companies' plans (PB-34).
import type { Sql } from 'postgres'
import { planChangeActions, planChangeBasePlanActions } from '../../../schemas/enums.js'
import type { PlanChange, PlanSnapshot, PlanVersionSnapshot } from '../../../schemas/plans.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { Refused } from '../../entities/shards/shards.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { list, oneOf, page, type QueryOf, query, string } from '../../kit/query.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { companyBriefs } from '../entities/read.js'
import { distinct } from '../entitlements/view.js'
import { type ApiKeyRow, apiKeyView } from '../keys/view.js'
import { findPlanChange, listPlanChangeRows, type PlanChangeRow } from './store.js'

const listShape = {
  action: oneOf(planChangeActions),
  base_plan_action: oneOf(planChangeBasePlanActions),
  company_id: string,
  company_ids: list,
  ...page,
} as const
export const planChangeListQuery = query(listShape)

/**
 * GET /plan-changes. It shows changes caused by every event acknowledged before (decision 1), and for named companies
 * also the changes that time alone has made.
 */
export const listPlanChanges: Handler<undefined, QueryOf<typeof listShape>> = async call => {
  const { services, environment, query, nowMs } = call
  const named = new Set([...(query.company_ids ?? []), ...(query.company_id ? [query.company_id] : [])])
  const known = [...named].filter(id => isKnown(call, 'company', id))
  await Promise.all(
    known.map(id => services.shards.ask('c', environment.id, id, { type: 'settle' }, nowMs)),
  ).catch(refusedIfGone)
  await services.projections.barrier('postgres')
  const rows = await listPlanChangeRows(services.sql, environment.id, query, query)
  return { data: await views(call, rows) }
}

// A company deleted in the meantime changes no more.
function refusedIfGone(error: unknown): void {
  if (!(error instanceof Refused)) throw error
}

/** GET /plan-changes/{plan_change_id}. */
export const getPlanChange: Handler = async call => {
  const { services, environment, params } = call
  const row = await findPlanChange(services.sql, environment.id, params.plan_change_id!)
  if (!row) throw new ServiceError('not_found', 'Plan change not found')
  const [view] = await views(call, [row])
  return { data: view }
}

/** The present names of what records refer to. */
interface Names {
  readonly plans: ReadonlyMap<string, PlanRow>
  readonly versions: ReadonlyMap<string, PlanVersionRow>
  readonly keys: ReadonlyMap<string, ApiKeyRow>
  readonly companies: Awaited<ReturnType<typeof companyBriefs>>
}

async function views(call: Call<unknown, unknown>, rows: readonly PlanChangeRow[]): Promise<PlanChange[]> {
  if (rows.length === 0) return []
  const { services } = call
  const names: Names = {
    ...(await planNames(services.sql, rows)),
    keys: await keyRows(
      services.sql,
      call.key.accountId,
      rows.map(row => row.api_key_id),
    ),
    companies: await companyBriefs(
      call,
      rows.map(row => row.company_id),
    ),
  }
  return rows.map(row => view(row, names, call))
}

async function planNames(
  sql: Sql,
  rows: readonly PlanChangeRow[],
): Promise<Pick<Names, 'plans' | 'versions'>> {
  const planIds = distinct(
    rows.flatMap(row => [row.plan_id, row.previous_plan_id, ...row.add_ons_added, ...row.add_ons_removed]),
  )
  const versionIds = distinct(rows.flatMap(row => [row.version_id, row.previous_version_id]))
  const plans = await sql<PlanRow[]>`select * from plans where id in ${among(sql, planIds)}`
  const versions = await sql<PlanVersionRow[]>`
    select * from plan_versions where id in ${among(sql, versionIds)}`
  return {
    plans: new Map(plans.map(plan => [plan.id, plan])),
    versions: new Map(versions.map(version => [version.id, version])),
  }
}

async function keyRows(
  sql: Sql,
  accountId: string,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, ApiKeyRow>> {
  const rows = await sql<ApiKeyRow[]>`
    select * from api_keys where account_id = ${accountId} and id in ${among(sql, distinct(ids))}`
  return new Map(rows.map(row => [row.id, row]))
}

function view(row: PlanChangeRow, names: Names, call: Call<unknown, unknown>): PlanChange {
  const key = names.keys.get(row.api_key_id ?? '')
  const company = names.companies.get(row.company_id)
  const at = isoTime(row.created_at.getTime())
  const converted = row.trial_status === 'converted'
  const samePlan = row.plan_id !== null && row.plan_id === row.previous_plan_id
  return {
    id: row.id,
    environment_id: row.environment_id,
    company_id: row.company_id,
    ...(company && { company }),
    action: row.action,
    actor_type: row.actor_type,
    ...(key && { api_key: apiKeyView(key, call.services) }),
    ...snapshots('base_plan', row.plan_id, row.version_id, names),
    ...snapshots('previous_base_plan', row.previous_plan_id, row.previous_version_id, names),
    base_plan_action: row.base_plan_action,
    add_ons_added: row.add_ons_added.map(id => planSnapshot(id, names)),
    add_ons_removed: row.add_ons_removed.map(id => planSnapshot(id, names)),
    is_version_upgrade: samePlan && row.version_id !== row.previous_version_id,
    subscription_change_action: row.subscription_change_action,
    traits_updated: [],
    trial_status: row.trial_status,
    trial_converted_at: converted ? isoTimeOrNull(row.trial_ends_at?.getTime()) : null,
    trial_expires_at: isoTimeOrNull(row.trial_ends_at?.getTime()),
    request_id: null,
    user_id: null,
    user_name: null,
    created_at: at,
    updated_at: at,
  }
}

function snapshots<Member extends 'base_plan' | 'previous_base_plan'>(
  member: Member,
  planId: string | null,
  versionId: string | null,
  names: Names,
): Pick<PlanChange, Member | `${Member}_version`> {
  const version = names.versions.get(versionId ?? '')
  return {
    ...(planId !== null && { [member]: planSnapshot(planId, names) }),
    ...(version && { [`${member}_version`]: versionSnapshot(version) }),
  } as Pick<PlanChange, Member | `${Member}_version`>
}

function planSnapshot(id: string, { plans }: Names): PlanSnapshot {
  const plan = plans.get(id)
  return {
    id,
    name: plan?.name ?? id,
    description: plan?.description ?? '',
    icon: plan?.icon ?? 'gray',
    deleted: plan === undefined || plan.deleted_at !== null,
  }
}

function versionSnapshot({ id, name, version }: PlanVersionRow): PlanVersionSnapshot {
  return { id, name, version }
}
