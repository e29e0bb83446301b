// Credit grants of plans. Edits go to the plan's draft (PB-3), or at once to companies if the body asks for it.
import type { Sql } from 'postgres'
import type { PlanCreditGrant, PlanGrantCreate, PlanGrantUpdate } from '../../../schemas/credits.js'
import type { PlanCreditGrantRow } from '../../catalog/credits.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { boolean, list, page, type QueryOf, query, string } from '../../kit/query.js'
import { ensureDraft, findVersion, lockPlan, placeOf, unknownVersion } from '../plan-versions/version-rows.js'
import { waitingEdit } from '../plan-versions/waiting-edit.js'
import { scopeOf } from './handlers.js'
import {
  findPlanGrant,
  type GrantPlace,
  insertPlanGrant,
  planGrantIn,
  removePlanGrant,
  updatePlanGrant,
} from './plan-grant-write.js'
import { countPlanGrantRows, listPlanGrantRows } from './store.js'
import { planGrantViews } from './view.js'

const listShape = {
  credit_id: string,
  ids: list,
  plan_id: string,
  plan_ids: list,
  plan_version_id: string,
  plan_version_ids: list,
  ...page,
} as const
export const planGrantListQuery = query(listShape)
type PlanGrantListQuery = QueryOf<typeof listShape>

/**
 * GET /billing/credits/plan-grants. Without a version in the query: of each plan's published version, else of its
 * draft: decision.
 */
export const listPlanGrants: Handler<undefined, PlanGrantListQuery> = async call => {
  const { sql } = call.services
  const rows = await listPlanGrantRows(sql, call.environment.id, call.query, call.query)
  return { data: await planGrantViews(sql, rows) }
}

/** GET /billing/credits/plan-grants/count. */
export const countPlanGrants: Handler<undefined, PlanGrantListQuery> = async call => ({
  data: { count: await countPlanGrantRows(call.services.sql, call.environment.id, call.query) },
})

/** GET /billing/credits/plan-grants/{plan_grant_id}. */
export const getPlanGrant: Handler = async call => {
  const { sql } = call.services
  const row = await findPlanGrant(sql, call.environment.id, call.params.plan_grant_id!)
  if (!row) throw unknownGrant()
  const waiting = await waitingEdit(sql, row, draft => planGrantIn(sql, draft, row))
  return { data: await viewOf(sql, row), waiting }
}

async function viewOf(sql: Sql, row: PlanCreditGrantRow): Promise<PlanCreditGrant> {
  const [view] = await planGrantViews(sql, [row])
  return view!
}

function unknownGrant(): ServiceError {
  return new ServiceError('not_found', 'Plan credit grant not found')
}

function writePlace(call: Call<unknown, unknown>): GrantPlace {
  return { ...scopeOf(call), nowMs: call.services.clock.wall() }
}

/**
 * The version that an edit changes: the draft, created if absent. `apply_to_existing` takes effect with its publish:
 * then companies move as the publish says.
 *
 * plan    locked.
 * source  PB-3, N10.
 */
function edited(tx: Sql, place: GrantPlace, plan: PlanRow): Promise<PlanVersionRow> {
  return ensureDraft(tx, plan, place.environmentId, place.nowMs)
}

/**
 * POST /billing/credits/plan-grants.
 *
 * errors  see plan-grant-write.ts; 400 for a version that is not a draft.
 * source  CR-35, CR-39, PB-3, PB-7.
 */
export const createPlanGrant: Handler<Exact<PlanGrantCreate>> = async call => {
  const { body } = call
  const place = writePlace(call)
  const data = await call.services.catalogs.change(scopeOf(call), async tx => {
    const plan = await lockPlan(tx, placeOf(call), body.plan_id, 'plan_id')
    const reaches = body.apply_to_existing === true
    await requireEditable(tx, place, plan, body.plan_version_id, reaches)
    return viewOf(tx, await insertPlanGrant(tx, place, plan, await edited(tx, place, plan), body))
  })
  return { status: 201, data }
}

async function requireEditable(
  tx: Sql,
  place: GrantPlace,
  plan: PlanRow,
  versionId: string | null | undefined,
  reachesCompanies: boolean,
): Promise<void> {
  if (versionId == null || versionId === '') return
  const version = await findVersion(tx, place.environmentId, versionId)
  if (version?.plan_id !== plan.id) throw unknownVersion('plan_version_id')
  const isEdited = version.status === 'draft' || (reachesCompanies && version.status === 'published')
  if (!isEdited)
    throw new ServiceError(
      'state_conflict',
      `plan_version_id: a version that is ${version.status} is not edited`,
    )
}

/** The grant in the path on the draft, and its plan. */
async function toEdit(
  tx: Sql,
  call: Call<unknown, unknown>,
  place: GrantPlace,
): Promise<{ readonly plan: PlanRow; readonly row: PlanCreditGrantRow }> {
  const named = await findPlanGrant(tx, place.environmentId, call.params.plan_grant_id!)
  if (!named) throw unknownGrant()
  const plan = await lockPlan(tx, placeOf(call), named.plan_id)
  const version = await findVersion(tx, place.environmentId, named.plan_version_id)
  if (version?.status === 'archived')
    throw new ServiceError('state_conflict', 'The grant belongs to an archived version')
  const row = await planGrantIn(tx, await edited(tx, place, plan), named)
  if (!row) throw unknownGrant()
  return { plan, row }
}

/**
 * PUT /billing/credits/plan-grants/{plan_grant_id}. A grant of the published version is changed on the draft, so the
 * answer may carry the id of its copy there. Companies get the new terms with its publish (PB-3, decision 33).
 *
 * errors  400 for a grant of an archived version; 404 when the draft no longer has it.
 */
export const changePlanGrant: Handler<Exact<PlanGrantUpdate>> = async call => {
  const { body } = call
  const place = writePlace(call)
  const data = await call.services.catalogs.change(scopeOf(call), async tx => {
    const { plan, row } = await toEdit(tx, call, place)
    return viewOf(tx, await updatePlanGrant(tx, place, plan, row, body))
  })
  return { data }
}

const deleteShape = { apply_to_existing: boolean } as const
export const planGrantDeleteQuery = query(deleteShape)

/**
 * DELETE /billing/credits/plan-grants/{plan_grant_id}: removes it from the draft. Companies lose the rest of it
 * when they move to the version that is published from the draft (PB-3, CR-39).
 */
export const deletePlanGrant: Handler<undefined, QueryOf<typeof deleteShape>> = async call => {
  const place = writePlace(call)
  await call.services.catalogs.change(scopeOf(call), async tx => {
    const { row } = await toEdit(tx, call, place)
    await removePlanGrant(tx, row, place.nowMs)
  })
  return { data: { deleted: true } }
}
