// Migrations of companies to another plan version: create, watch, complete early, cancel, retry (PB-20…24).
import type { Sql } from 'postgres'
import { planVersionCompanyMigrationStatuses, planVersionMigrationStatuses } from '../../../schemas/enums.js'
import type {
  MigrationCompleteNow,
  MigrationCreate,
  MigrationPreviewRequest,
  MigrationRetry,
  PlanVersionCompanyMigration,
  PlanVersionMigration,
  PlanVersionMigrationPreview,
  PlanVersionMigrationPreviewCompany,
} from '../../../schemas/plans.js'
import { newId } from '../../account/ids.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import type { MigrationTerms } from '../../core/model/company-state.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import { lacksPrice, needsPayment } from '../../core/plans/plan.js'
import { migratedPlans } from '../../core/plans/plan-change.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { oneOf, page, type QueryOf, query, required, string, text } from '../../kit/query.js'
import { inTransaction } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { described } from '../companies/read.js'
import { findPlan, placeOf, unknownPlan, unknownVersion, versionsOf } from '../plan-versions/version-rows.js'
import {
  affected,
  callOffPending,
  insertMigration,
  type NewMigration,
  noPrice,
  unpaid,
} from './migrations.js'
import { requireCompanies, scheduledAt, soon } from './run.js'
import {
  type CountedMigration,
  cancelPending,
  countCompanyMigrationRows,
  countMigrationRows,
  findCompanyMigration,
  findMigration,
  forcePending,
  listCompanyMigrationRows,
  listMigrationRows,
  type NamedCompanyMigration,
  pendingCompanyMigrations,
  retryFailed,
} from './store.js'
import { termsOf } from './terms.js'

const listShape = {
  feature_id: string,
  plan_version_id: required(string),
  status: oneOf(planVersionMigrationStatuses),
  ...page,
} as const
export const migrationListQuery = query(listShape)
type MigrationListQuery = QueryOf<typeof listShape>

/** GET /plan-version-migrations. */
export const listMigrations: Handler<undefined, MigrationListQuery> = async call => {
  const rows = await listMigrationRows(call.services.sql, call.environment.id, call.query, call.query)
  return { data: await Promise.all(rows.map(row => viewOf(call, row))) }
}

/** GET /plan-version-migrations/count. */
export const countMigrations: Handler<undefined, MigrationListQuery> = async call => ({
  data: { count: await countMigrationRows(call.services.sql, call.environment.id, call.query) },
})

/** The migration in the path, after steps that are due were made. */
async function migrationOf(call: Call<unknown, unknown>): Promise<CountedMigration> {
  const { services, environment, params, nowMs } = call
  const find = () => findMigration(services.sql, environment.id, params.plan_version_migration_id!)
  let row = await find()
  if (row?.next_due_at && row.next_due_at.getTime() <= nowMs) {
    await soon(call, row.id)
    row = await find()
  }
  if (!row) throw new ServiceError('not_found', 'Migration not found')
  return row
}

async function shown(call: Call<unknown, unknown>): Promise<{ readonly data: PlanVersionMigration }> {
  return { data: await viewOf(call, await migrationOf(call)) }
}

/** GET /plan-version-migrations/{plan_version_migration_id}. */
export const getMigration: Handler = shown

/** The objects named by a migration request. */
interface Aim {
  readonly plan: PlanRow
  readonly to: PlanVersionRow
  readonly from: readonly PlanVersionRow[]
}

/**
 * Look up the versions that a request names.
 *
 * errors  404 for an unknown plan, version or company; 400 for a target version that is not published, and for
 *         another type of plan.
 */
async function aimOf(
  call: Call<unknown, unknown>,
  body: MigrationCreate | MigrationPreviewRequest,
  drafts: 'drafts too' | 'published only',
): Promise<Aim> {
  const { sql } = call.services
  requireCompanies(call, body.company_ids, 'company_ids')
  const plan = await findPlan(sql, placeOf(call), body.plan_id)
  if (!plan) throw unknownPlan('plan_id')
  if (body.target_plan_type != null && plan.plan_type !== body.target_plan_type)
    throw new ServiceError('value_invalid', `target_plan_type: the plan is of type ${plan.plan_type}`)
  const versions = await versionsOf(sql, call.environment.id, plan.id)
  const named = (id: string, member: string): PlanVersionRow => {
    const version = versions.find(each => each.id === id)
    if (!version) throw unknownVersion(member)
    return version
  }
  const to = named(body.plan_version_id_to, 'plan_version_id_to')
  if (to.status !== 'published' && !(to.status === 'draft' && drafts === 'drafts too'))
    throw new ServiceError('state_conflict', 'plan_version_id_to: only a published version is migrated to')
  const from = body.plan_version_ids_from?.map(id => named(id, 'plan_version_ids_from'))
  const others = versions.filter(version => version.id !== to.id && version.status !== 'draft')
  return { plan, to, from: from ?? others }
}

/**
 * POST /plan-version-migrations: migrates companies on older versions, all or the named ones.
 *
 * Strategy `leave` moves no company and cancels what was scheduled for these companies.
 *
 * errors  see aimOf; 400 for `scheduled` without a date.
 * source  PB-6, PB-20…24; decision 28. The answer waits some seconds for an immediate migration.
 */
export const createMigration: Handler<MigrationCreate> = async call => {
  const { services, environment, body, key, nowMs } = call
  const { strategy } = body
  const scheduledAtMs = scheduledAt(strategy, body.migration_scheduled_at ?? null, nowMs)
  requireCompanies(call, body.excluded_company_ids, 'excluded_company_ids')
  const { plan, to, from } = await aimOf(call, body, 'published only')
  const migration: NewMigration = {
    id: newId('pvmg_'),
    environmentId: environment.id,
    planId: plan.id,
    versionId: to.id,
    fromVersionIds: from.map(version => version.id),
    strategy,
    scheduledAtMs,
    prorationBehavior: body.proration_behavior ?? null,
    companyIds: body.company_ids ?? null,
    excludedCompanyIds: body.excluded_company_ids ?? [],
    apiKeyId: key.id,
  }
  const calledOff = await inTransaction(services.sql, async tx => {
    await insertMigration(tx, migration, nowMs)
    await call.record?.(tx)
    return strategy === 'leave' ? callOffPending(tx, migration, nowMs) : []
  })
  await soon(call, migration.id, ...calledOff)
  const row = await findMigration(services.sql, environment.id, migration.id)
  return { status: 201, data: await viewOf(call, row!) }
}

/** Most companies in a preview, and how many are asked at a time. source: decision */
const previewMax = 1_000
const atOnce = 32

/**
 * POST /plan-version-migrations/preview: the companies it would move, and the change of their charges. The target may
 * be a draft.
 *
 * source  interface document. Computed by the migration's own code; drafts: decision.
 */
export const previewMigration: Handler<MigrationPreviewRequest> = async call => {
  const { services, environment, body } = call
  const { plan, to, from } = await aimOf(call, body, 'drafts too')
  await services.projections.barrier('postgres')
  const affecting = {
    environment_id: environment.id,
    plan_id: plan.id,
    plan_version_id_to: to.id,
    plan_version_ids_from: from.map(version => version.id),
    strategy: 'immediate',
    company_ids: body.company_ids ?? null,
    excluded_company_ids: [],
  } as const
  const [rows, terms] = await Promise.all([
    affected(services.sql, affecting, '', previewMax),
    termsOf(services.sql, plan.id, to.id),
  ])
  const companies: PlanVersionMigrationPreviewCompany[] = []
  for (let i = 0; i < rows.length; i += atOnce)
    companies.push(
      ...(await Promise.all(
        rows.slice(i, i + atOnce).map(async row => ({
          company_id: row.company_id,
          plan_version_id_from: row.version_id,
          has_custom_pricing: plan.company_id !== null,
          ...(await billingChanges(call, row.company_id, { ...terms, planId: plan.id, versionId: to.id })),
        })),
      )),
    )
  const data: PlanVersionMigrationPreview = {
    companies,
    has_billing_changes: companies.some(company => company.has_billing_changes),
  }
  return { data }
}

/** The change of one company's charges by a migration. */
async function billingChanges(
  call: Call<unknown, unknown>,
  companyId: string,
  terms: MigrationTerms & { readonly planId: string },
): Promise<
  Pick<
    PlanVersionMigrationPreviewCompany,
    'has_billing_changes' | 'note' | 'will_update_subscription' | 'would_fail'
  >
> {
  const { services, environment, nowMs } = call
  const { reply } = await services.shards.ask<CompanyDescription | null>(
    'c',
    environment.id,
    companyId,
    { type: 'describe' },
    nowMs,
  )
  const unchanged = { has_billing_changes: false, will_update_subscription: false }
  if (!reply) return { ...unchanged, would_fail: false, note: null }
  const { state } = reply
  if (lacksPrice(state, terms)) return { ...unchanged, would_fail: true, note: noPrice }
  if (needsPayment(state, terms)) return { ...unchanged, would_fail: true, note: unpaid }
  const next = migratedPlans(state, terms)
  const of = ({ plan, addOns }: Pick<typeof state, 'plan' | 'addOns'>) =>
    [plan, ...addOns].find(held => held?.planId === terms.planId)
  const held = of(state)
  const updates = next.subscriptions.length > 0
  const billedBy = state.subscriptions.find(({ id }) => id === held?.subscriptionId)
  const elsewhere = billedBy !== undefined && billedBy.anchorMs == null
  return {
    has_billing_changes: updates || held?.priceId !== of(next)?.priceId,
    will_update_subscription: updates,
    would_fail: false,
    note: elsewhere ? 'A provider bills the subscription; its price is changed there' : null,
  }
}

/**
 * POST /plan-version-migrations/{id}/cancel: companies not moved yet keep their version.
 *
 * errors  400 for a migration that has ended.
 */
export const cancelMigration: Handler = async call => {
  const row = await migrationOf(call)
  requireOpen(row)
  await recorded(call, tx => cancelPending(tx, row.id, new Date(call.nowMs)))
  await soon(call, row.id)
  return shown(call)
}

/** Run a change together with its audit row in one transaction. */
function recorded<T>(call: Call<unknown, unknown>, work: (tx: Sql) => Promise<T>): Promise<T> {
  return inTransaction(call.services.sql, async tx => {
    const result = await work(tx)
    await call.record?.(tx)
    return result
  })
}

function requireOpen(row: CountedMigration): void {
  if (row.status !== 'pending' && row.status !== 'in_progress')
    throw new ServiceError('state_conflict', `The migration is ${row.status}`)
}

/** POST /plan-version-migrations/{id}/complete-now: runs at once what waits for a date. */
export const completeMigrationNow: Handler<MigrationCompleteNow> = async call => {
  const row = await migrationOf(call)
  requireOpen(row)
  const proration = call.body.proration_behavior ?? null
  await recorded(call, tx => forcePending(tx, row.id, proration, new Date(call.nowMs)))
  await soon(call, row.id)
  return shown(call)
}

/**
 * POST /plan-version-migrations/{id}/retry: retries the companies that failed with one of these codes, or all failed
 * ones if no code is given.
 */
export const retryMigration: Handler<MigrationRetry> = async call => {
  const row = await migrationOf(call)
  if (row.status === 'cancelled') throw new ServiceError('state_conflict', 'The migration is cancelled')
  const codes = call.body.error_codes?.length ? call.body.error_codes : undefined
  await recorded(call, tx => retryFailed(tx, row.id, { codes }, new Date(call.nowMs)))
  await soon(call, row.id)
  return shown(call)
}

const companyListShape = {
  migration_id: required(string),
  q: text(512),
  status: oneOf(planVersionCompanyMigrationStatuses),
  ...page,
} as const
export const companyMigrationListQuery = query(companyListShape)
type CompanyMigrationListQuery = QueryOf<typeof companyListShape>

/** GET /plan-version-company-migrations. */
export const listCompanyMigrations: Handler<undefined, CompanyMigrationListQuery> = async call => {
  const rows = await listCompanyMigrationRows(call.services.sql, call.environment.id, call.query, call.query)
  return { data: (await withDates(call, rows)).map(companyMigrationView) }
}

/** Rows with the dates that follow from each company's subscription as it is now (PB-21, N1). */
async function withDates(
  call: Call<unknown, unknown>,
  rows: readonly NamedCompanyMigration[],
): Promise<readonly NamedCompanyMigration[]> {
  const dated = [...rows]
  for (let i = 0; i < rows.length; i += atOnce)
    await Promise.all(
      rows.slice(i, i + atOnce).map(async (row, j) => {
        const waits = row.status === 'pending' && row.agreed && row.strategy === 'end_of_billing_period'
        if (!waits || !isKnown(call, 'company', row.company_id)) return
        const { schedule } = (await described(call, row.company_id)).state
        const agreed = schedule?.migrations.find(one => one.migrationId === row.migration_id)
        if (agreed) dated[i + j] = { ...row, due_at: dateOrNull(agreed.effectiveAtMs) }
      }),
    )
  return dated
}

const dateOrNull = (ms: number | null) => (ms === null ? null : new Date(ms))

/** GET /plan-version-company-migrations/count. */
export const countCompanyMigrations: Handler<undefined, CompanyMigrationListQuery> = async call => ({
  data: { count: await countCompanyMigrationRows(call.services.sql, call.environment.id, call.query) },
})

/**
 * POST /plan-version-company-migrations/{id}/retry.
 *
 * errors  400 for one that has not failed.
 */
export const retryCompanyMigration: Handler = async call => {
  const { services, environment, params, nowMs } = call
  const id = params.plan_version_company_migration_id!
  const row = await findCompanyMigration(services.sql, environment.id, id)
  if (!row) throw new ServiceError('not_found', 'Company migration not found')
  await recorded(call, async tx => {
    const again = await retryFailed(tx, row.migration_id, { id }, new Date(nowMs))
    if (again === 0) throw new ServiceError('state_conflict', `The company's migration is ${row.status}`)
  })
  await soon(call, row.migration_id)
  return { data: companyMigrationView((await findCompanyMigration(services.sql, environment.id, id))!) }
}

/** Companies that are asked for their date when a migration is shown; further ones count with the date told last. */
const datedMax = 100

/**
 * A migration with the next of its dates, as they follow from the companies' subscriptions now (PB-21, N1). The
 * companies with the earliest dates told are asked, at most so many.
 */
async function viewOf(call: Call<unknown, unknown>, row: CountedMigration): Promise<PlanVersionMigration> {
  const waits = row.status === 'pending' || row.status === 'in_progress'
  if (!waits || row.strategy !== 'end_of_billing_period') return migrationView(row)
  const { sql } = call.services
  const rows = await pendingCompanyMigrations(sql, row.id, datedMax + 1)
  const dated = await withDates(call, rows.slice(0, datedMax))
  const dates = [...dated, ...rows.slice(datedMax)].flatMap(({ due_at }) => due_at ?? [])
  const next = dates.length === 0 ? null : new Date(Math.min(...dates.map(date => date.getTime())))
  return migrationView({ ...row, next_due_at: next })
}

function migrationView(row: CountedMigration): PlanVersionMigration {
  const { plan_version_ids_from: from } = row
  return {
    id: row.id,
    plan_id: row.plan_id,
    plan_version_id_to: row.plan_version_id_to,
    plan_version_id_from: from.length === 1 ? from[0]! : null,
    plan_version_ids_from: [...from],
    strategy: row.strategy,
    proration_behavior: row.proration_behavior,
    status: row.status,
    total_companies: row.total,
    completed_companies: row.completed,
    failed_companies: row.failed,
    skipped_companies: row.skipped,
    feature_id: null,
    feature_plan_rollout_id: null,
    error: row.error,
    next_due_at: isoTimeOrNull(row.next_due_at?.getTime()),
    started_at: isoTimeOrNull(row.started_at?.getTime()),
    completed_at: isoTimeOrNull(row.completed_at?.getTime()),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

function companyMigrationView(row: NamedCompanyMigration): PlanVersionCompanyMigration {
  const waits = row.status === 'pending' && row.strategy !== 'immediate'
  return {
    id: row.id,
    migration_id: row.migration_id,
    company_id: row.company_id,
    company_name: row.company_name ?? row.company_id,
    plan_version_id_from: row.plan_version_id_from,
    status: row.status,
    scheduled_for: waits ? isoTimeOrNull(row.due_at?.getTime()) : null,
    error: row.error,
    error_code: row.error_code,
    started_at: isoTimeOrNull(row.started_at?.getTime()),
    completed_at: isoTimeOrNull(row.completed_at?.getTime()),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}
