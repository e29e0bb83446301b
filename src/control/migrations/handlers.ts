// Migrations of companies to another plan version: preview, create, watch, pause, complete early, cancel, retry (PB-20…24).
import {
  type MigrationErrorCode,
  planVersionCompanyMigrationStatuses,
  planVersionMigrationStatuses,
} from '../../../schemas/enums.js'
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
import { draftDef, type PlanRow, type PlanVersionRow } from '../../catalog/plans.js'
import type { PlanOutlook } from '../../core/company/outlook.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { oneOf, page, type QueryOf, query, required, string, text } from '../../kit/query.js'
import { inTransaction } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { findPlan, placeOf, unknownPlan, unknownVersion, versionsOf } from '../plan-versions/version-rows.js'
import { withDates, withNextDate } from './dates.js'
import { type PreviewQuery, previewedMax, previewOf } from './preview.js'
import { reasonTexts } from './reasons.js'
import { affected, callOffPending, insertMigration, type NewMigration } from './rows.js'
import {
  cancel,
  pause,
  presentOf,
  recorded,
  requireCompanies,
  requireOpen,
  resume,
  retry,
  scheduledAt,
  soon,
} from './run.js'
import {
  type CountedMigration,
  countCompanyMigrationRows,
  countMigrationRows,
  findCompanyMigration,
  findMigration,
  forcePending,
  listCompanyMigrationRows,
  listMigrationRows,
  type NamedCompanyMigration,
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
const migrationOf = (call: Call<unknown, unknown>): Promise<CountedMigration> =>
  presentOf(call, call.params.plan_version_migration_id!, 'migrations')

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

/**
 * POST /plan-version-migrations/preview: the companies it would move, what each gains, loses, exceeds and pays, and the sum
 * over all. The target may be a draft: then it is what a publish would do with each strategy.
 *
 * source  interface document; MI-1…5. Computed by the migration's own code; drafts: decision.
 */
export const previewMigration: Handler<MigrationPreviewRequest, PreviewQuery> = async call => {
  const { services, environment, body } = call
  const { sql } = services
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
  const [rows, terms, draft] = await Promise.all([
    affected(sql, affecting, '', previewedMax + 1),
    termsOf(sql, plan.id, to.id),
    to.status === 'draft' ? draftDef(sql, plan, to) : null,
  ])
  const { companies, totals } = await previewOf(call, {
    rows,
    terms: new Map([[plan.id, terms]]),
    action: 'plan_version_migration',
    versionId: to.id,
    draft,
  })
  const shown = companies.map(({ company, outlook, paymentChanges, ...changes }) => {
    const moves = outlook.outcome === 'completed'
    return {
      company_id: company.company_id,
      plan_version_id_from: company.version_id,
      has_custom_pricing: plan.company_id !== null,
      has_billing_changes: moves && (paymentChanges || outlook.priceBefore !== outlook.priceAfter),
      will_update_subscription: moves && paymentChanges,
      would_fail: outlook.outcome === 'failed',
      note: noteOf(outlook),
      ...changes,
    } satisfies PlanVersionMigrationPreviewCompany
  })
  const data: PlanVersionMigrationPreview = {
    companies: shown,
    has_billing_changes: shown.some(company => company.has_billing_changes) || totals.price_changing > 0,
    totals,
  }
  return { data }
}

/** A failure in words, or what has to be done elsewhere. */
export function noteOf({ outcome, reason, billedElsewhere }: PlanOutlook): string | null {
  if (outcome !== 'completed') return reason && reasonTexts[reason]
  return billedElsewhere ? 'A provider bills the subscription; its price is changed there' : null
}

/**
 * POST /plan-version-migrations/{id}/cancel: companies not moved yet keep their version.
 *
 * errors  400 for a migration that has ended.
 */
export const cancelMigration: Handler = async call => {
  await cancel(call, await migrationOf(call))
  return shown(call)
}

/**
 * POST /plan-version-migrations/{id}/pause: companies not moved yet stay until it is resumed.
 *
 * errors  400 for a migration that has ended, or is paused.
 * source  MI-20, MI-21.
 */
export const pauseMigration: Handler = async call => {
  await pause(call, await migrationOf(call))
  return shown(call)
}

/** POST /plan-version-migrations/{id}/resume. Errors: 400 for one that is not paused. */
export const resumeMigration: Handler = async call => {
  await resume(call, await migrationOf(call))
  return shown(call)
}

/** POST /plan-version-migrations/{id}/complete-now: runs at once what waits for a date, as an immediate one (RA-29). */
export const completeMigrationNow: Handler<MigrationCompleteNow> = async call => {
  const row = await migrationOf(call)
  requireOpen(row)
  const usual = row.strategy === 'end_of_billing_period' ? 'create_prorations' : null
  const proration = call.body.proration_behavior ?? usual
  await recorded(call, tx => forcePending(tx, row.id, proration, new Date(call.nowMs)))
  await soon(call, row.id)
  return shown(call)
}

/**
 * POST /plan-version-migrations/{id}/retry: retries the companies that failed with one of these codes, or all failed
 * ones if no code is given.
 */
export const retryMigration: Handler<MigrationRetry> = async call => {
  await retry(call, await migrationOf(call), call.body.error_codes)
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

async function viewOf(call: Call<unknown, unknown>, row: CountedMigration): Promise<PlanVersionMigration> {
  return migrationView(await withNextDate(call, row))
}

function migrationView(row: CountedMigration): PlanVersionMigration {
  const { plan_version_ids_from: from } = row
  return {
    id: row.id,
    plan_id: row.plan_id,
    plan_version_id_to: row.plan_version_id_to,
    plan_version_id_from: from?.length === 1 ? from[0]! : null,
    plan_version_ids_from: [...(from ?? [])],
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
    paused_at: isoTimeOrNull(row.paused_at?.getTime()),
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
    error_code: row.error_code as MigrationErrorCode | null,
    started_at: isoTimeOrNull(row.started_at?.getTime()),
    completed_at: isoTimeOrNull(row.completed_at?.getTime()),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}
