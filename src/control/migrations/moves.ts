// Moves of companies between plans, and the way back from moves and migrations (MI-10…33).
import { type MigrationStrategy, planVersionCompanyMigrationStatuses } from '../../../schemas/enums.js'
import {
  type PlanMove,
  type PlanMoveCreate,
  type PlanMoveFilter,
  type PlanMovePreview,
  type PlanMoveRetry,
  type PlanMoveTime,
  planMoveStatuses,
} from '../../../schemas/plan-moves.js'
import { newId } from '../../account/ids.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { oneOf, page, type QueryOf, query, string, text } from '../../kit/query.js'
import { among } from '../../kit/sql.js'
import {
  findPlan,
  placeOf,
  unknownPlan,
  unknownVersion,
  versionsOf,
  visiblePlans,
} from '../plan-versions/version-rows.js'
import { withDates, withNextDate } from './dates.js'
import { noteOf } from './handlers.js'
import { moveCompanyView, moveView } from './move-view.js'
import { type PreviewQuery, previewedMax, previewOf } from './preview.js'
import { affectedByMove, insertMigration, isOpen, type MoveAim, type NewMigration } from './rows.js'
import {
  cancel,
  pause,
  presentOf,
  recorded,
  requireCompanies,
  resume,
  retry,
  scheduledAt,
  soon,
} from './run.js'
import {
  type CountedMigration,
  cancelPending,
  countMoveRows,
  findMigration,
  listCompanyMigrationRows,
  listMoveRows,
} from './store.js'
import { moveTerms } from './terms.js'

const listShape = { plan_id: string, status: oneOf(planMoveStatuses), ...page } as const
export const moveListQuery = query(listShape)
type MoveListQuery = QueryOf<typeof listShape>

/** GET /plan-moves. */
export const listPlanMoves: Handler<undefined, MoveListQuery> = async call => {
  const rows = await listMoveRows(call.services.sql, call.environment.id, call.query, call.query)
  return { data: await Promise.all(rows.map(async row => moveView(await withNextDate(call, row)))) }
}

/** GET /plan-moves/count. */
export const countPlanMoves: Handler<undefined, MoveListQuery> = async call => ({
  data: { count: await countMoveRows(call.services.sql, call.environment.id, call.query) },
})

/** The move in the path, after steps that are due were made. */
const moveOf = (call: Call<unknown, unknown>): Promise<CountedMigration> =>
  presentOf(call, call.params.plan_move_id!, 'moves')

async function shown(call: Call<unknown, unknown>): Promise<{ readonly data: PlanMove }> {
  return { data: moveView(await withNextDate(call, await moveOf(call))) }
}

/** GET /plan-moves/{plan_move_id}. */
export const getPlanMove: Handler = shown

const strategies: Readonly<Record<PlanMoveTime, MigrationStrategy>> = {
  now: 'immediate',
  scheduled: 'scheduled',
  at_period_end: 'end_of_billing_period',
}

interface Aim extends MoveAim {
  readonly plan: PlanRow
  readonly version: PlanVersionRow
}

/**
 * Look up what a move names.
 *
 * errors  404 for an unknown plan, version, price or company; 400 for an add-on, a custom plan, a version that is not
 *         published, and a filter that names nothing.
 */
async function aimOf(call: Call<PlanMoveCreate, unknown>): Promise<Aim> {
  const { services, environment, body } = call
  const { sql } = services
  const plan = await findPlan(sql, placeOf(call), body.plan_id)
  if (!plan) throw unknownPlan('plan_id')
  if (plan.plan_type !== 'plan') throw new ServiceError('state_conflict', 'plan_id: is an add-on')
  if (plan.company_id !== null)
    throw new ServiceError(
      'state_conflict',
      'plan_id: is the plan of one company; publish it, or use POST /manage-plan',
    )
  const versions = await versionsOf(sql, environment.id, plan.id)
  const version =
    body.plan_version_id == null
      ? versions.find(({ status }) => status === 'published')
      : versions.find(({ id }) => id === body.plan_version_id)
  if (!version && body.plan_version_id != null) throw unknownVersion('plan_version_id')
  if (version?.status !== 'published')
    throw new ServiceError('state_conflict', 'plan_version_id: only a published version is moved to')
  if (body.price_id != null && !version.prices.some(({ id }) => id === body.price_id))
    throw new ServiceError('not_found', 'price_id: not a price of the version')
  await requireFilter(call, body.filter)
  const { fallbackPlanId } = services.catalogs.get(environment.id)
  const aim = { environmentId: environment.id, versionId: version.id, filter: body.filter, fallbackPlanId }
  return { ...aim, plan, version }
}

/** Throws 400 for a filter that names nothing, 404 for one that names something unknown. */
async function requireFilter(call: Call<unknown, unknown>, filter: PlanMoveFilter): Promise<void> {
  const { all, excluded_company_ids: excluded, ...named } = filter
  const names = Object.values(named).some(
    value => value != null && value !== false && !(Array.isArray(value) && value.length === 0),
  )
  if (!names && all !== true)
    throw new ServiceError('value_invalid', 'filter: name the companies, or give all: true for every company')
  requireCompanies(call, filter.company_ids, 'filter.company_ids')
  requireCompanies(call, excluded, 'filter.excluded_company_ids')
  const { sql } = call.services
  const missing = async (
    ids: readonly string[] | null | undefined,
    known: Promise<readonly { id: string }[]>,
  ) => {
    const found = new Set((await known).map(({ id }) => id))
    return ids?.find(id => !found.has(id))
  }
  const { plan_ids: planIds, plan_version_ids: versionIds } = filter
  if (planIds != null) {
    const plans = sql<{ id: string }[]>`
      select id from plans where ${visiblePlans(sql, placeOf(call))} and id in ${among(sql, planIds)}`
    if ((await missing(planIds, plans)) !== undefined) throw unknownPlan('filter.plan_ids')
  }
  if (versionIds != null) {
    const versions = sql<{ id: string }[]>`
      select id from plan_versions
      where environment_id = ${call.environment.id} and deleted_at is null and id in ${among(sql, versionIds)}`
    if ((await missing(versionIds, versions)) !== undefined) throw unknownVersion('filter.plan_version_ids')
  }
}

/**
 * POST /plan-moves.
 *
 * errors  see aimOf; 400 for `scheduled` without a date.
 * source  MI-10…16. The answer waits some seconds for a move that happens now.
 */
export const createPlanMove: Handler<PlanMoveCreate> = async call => {
  const { environment, body, key, nowMs } = call
  const strategy = strategies[body.when]
  const scheduledAtMs = scheduledAt(strategy, body.scheduled_at ?? null, nowMs, 'scheduled_at')
  const { plan, version } = await aimOf(call)
  const move: NewMigration = {
    id: newId('pmov_'),
    kind: 'move',
    environmentId: environment.id,
    planId: plan.id,
    versionId: version.id,
    fromVersionIds: null,
    strategy,
    scheduledAtMs,
    prorationBehavior: body.proration_behavior ?? null,
    companyIds: null,
    excludedCompanyIds: [],
    filter: body.filter,
    priceId: body.price_id ?? null,
    apiKeyId: key.id,
  }
  await recorded(call, tx => insertMigration(tx, move, nowMs))
  await soon(call, move.id)
  return { status: 201, data: await madeMove(call, move.id) }
}

async function madeMove(call: Call<unknown, unknown>, id: string): Promise<PlanMove> {
  const row = await findMigration(call.services.sql, call.environment.id, id, 'moves')
  return moveView(await withNextDate(call, row!))
}

/** POST /plan-moves/preview: the same checks, and what would become of each company. source: MI-1…5 */
export const previewPlanMove: Handler<PlanMoveCreate, PreviewQuery> = async call => {
  const { services, environment, body, nowMs } = call
  scheduledAt(strategies[body.when], body.scheduled_at ?? null, nowMs, 'scheduled_at')
  const { sql } = services
  const aim = await aimOf(call)
  const { plan, version } = aim
  await services.projections.barrier('postgres')
  const rows = await affectedByMove(sql, aim, '', previewedMax + 1)
  const from = [...new Set(rows.map(row => row.plan_id ?? ''))]
  const to = {
    environmentId: environment.id,
    toPlanId: plan.id,
    versionId: version.id,
    priceId: body.price_id ?? null,
  }
  const { companies, totals } = await previewOf(call, {
    rows,
    terms: await moveTerms(sql, to, from),
    action: 'migration',
    versionId: version.id,
    draft: null,
  })
  const data: PlanMovePreview = {
    companies: companies.map(({ company, outlook, paymentChanges: _, ...changes }) => ({
      company_id: company.company_id,
      plan_id_from: company.plan_id,
      plan_version_id_from: company.version_id,
      would_fail: outlook.outcome === 'failed',
      note: noteOf(outlook),
      ...changes,
    })),
    totals,
  }
  return { data }
}

const companiesShape = { q: text(512), status: oneOf(planVersionCompanyMigrationStatuses), ...page } as const
export const moveCompaniesQuery = query(companiesShape)
type MoveCompaniesQuery = QueryOf<typeof companiesShape>

/** GET /plan-moves/{plan_move_id}/companies. */
export const listPlanMoveCompanies: Handler<undefined, MoveCompaniesQuery> = async call => {
  const { id } = await moveOf(call)
  const filter = { ...call.query, migration_id: id, kinds: 'moves' } as const
  const rows = await listCompanyMigrationRows(call.services.sql, call.environment.id, filter, call.query)
  return { data: (await withDates(call, rows)).map(moveCompanyView) }
}

/** POST /plan-moves/{plan_move_id}/pause. Errors: 400 for one that has ended, or is paused. source: MI-20, MI-21 */
export const pausePlanMove: Handler = async call => {
  await pause(call, await moveOf(call))
  return shown(call)
}

/** POST /plan-moves/{plan_move_id}/resume. Errors: 400 for one that is not paused. */
export const resumePlanMove: Handler = async call => {
  await resume(call, await moveOf(call))
  return shown(call)
}

/** POST /plan-moves/{plan_move_id}/cancel: companies not moved yet keep their plan. Errors: 400 for one that has ended. */
export const cancelPlanMove: Handler = async call => {
  await cancel(call, await moveOf(call))
  return shown(call)
}

/** POST /plan-moves/{plan_move_id}/retry: the companies that failed, for these reasons or all. */
export const retryPlanMove: Handler<PlanMoveRetry> = async call => {
  await retry(call, await moveOf(call), call.body.reasons)
  return shown(call)
}

/** POST /plan-moves/{plan_move_id}/revert. */
export const revertPlanMove: Handler = async call => revert(call, await moveOf(call))

/** POST /plan-version-migrations/{plan_version_migration_id}/revert. */
export const revertMigration: Handler = async call => {
  const { services, environment, params } = call
  const row = await findMigration(services.sql, environment.id, params.plan_version_migration_id!)
  if (!row) throw new ServiceError('not_found', 'Migration not found')
  return revert(call, row)
}

/**
 * Cancel what waits of a move or migration, and bring back the companies that moved.
 *
 * errors  400 for a revert: companies are moved again instead.
 * source  MI-30…33.
 */
async function revert(
  call: Call<unknown, unknown>,
  row: CountedMigration,
): Promise<{ readonly status: number; readonly data: PlanMove }> {
  const { environment, key, nowMs } = call
  if (row.kind === 'revert')
    throw new ServiceError('state_conflict', 'A revert is not taken back: move the companies again')
  const move: NewMigration = {
    id: newId('pmov_'),
    kind: 'revert',
    environmentId: environment.id,
    planId: row.plan_id,
    versionId: row.plan_version_id_to,
    fromVersionIds: null,
    strategy: 'immediate',
    prorationBehavior: row.strategy === 'end_of_billing_period' ? null : row.proration_behavior,
    companyIds: null,
    excludedCompanyIds: [],
    revertsId: row.id,
    apiKeyId: key.id,
  }
  await recorded(call, async tx => {
    if (isOpen(row)) await cancelPending(tx, row.id, new Date(nowMs))
    await insertMigration(tx, move, nowMs)
  })
  // what is under way is done before it is taken back
  await soon(call, row.id)
  await soon(call, move.id)
  return { status: 201, data: await madeMove(call, move.id) }
}
