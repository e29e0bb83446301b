// Statements of migrations: lists, cancellation, completion and retries.
import type { Sql } from 'postgres'
import type { PlanVersionCompanyMigrationStatus, PlanVersionMigrationStatus } from '../../../schemas/enums.js'
import type { PlanMoveStatus } from '../../../schemas/plan-moves.js'
import type { Page } from '../../kit/query.js'
import { among } from '../../kit/sql.js'
import type { CompanyMigrationRow, MigrationRow } from './rows.js'

/** A migration with its progress. */
export interface CountedMigration extends MigrationRow {
  readonly total: number
  readonly completed: number
  readonly failed: number
  readonly skipped: number
  readonly pending: number
  readonly cancelled: number
  readonly next_due_at: Date | null
  /** The last revert of it. */
  readonly reverted_by: string | null
}

/** Filters of a list of moves. */
interface MoveFilter {
  readonly plan_id?: string
  readonly status?: PlanMoveStatus
}

/** Moves and reverts are one list; migrations another. */
export type Kinds = 'migrations' | 'moves'

function ofKind(sql: Sql, kinds: Kinds) {
  return kinds === 'moves' ? sql`m.kind <> 'migration'` : sql`m.kind = 'migration'`
}

/** Filters of a list of migrations. `feature_id` matches nothing, because no migration belongs to a feature. */
interface MigrationFilter {
  readonly plan_version_id: string
  readonly feature_id?: string
  readonly status?: PlanVersionMigrationStatus
}

function matching(sql: Sql, environmentId: string, filter: MigrationFilter) {
  return sql`m.environment_id = ${environmentId} and m.plan_version_id_to = ${filter.plan_version_id}
    and ${ofKind(sql, 'migrations')}
    ${filter.feature_id ? sql`and false` : sql``}
    ${filter.status ? sql`and m.status = ${filter.status}` : sql``}`
}

function counted(sql: Sql) {
  return sql`plan_version_migrations m cross join lateral (
    select count(*)::int as total,
      count(*) filter (where status = 'completed')::int as completed,
      count(*) filter (where status = 'failed')::int as failed,
      count(*) filter (where status = 'skipped')::int as skipped,
      count(*) filter (where status in ('pending', 'in_progress'))::int as pending,
      count(*) filter (where status = 'cancelled')::int as cancelled,
      min(due_at) filter (where status = 'pending') as next_due_at
    from plan_version_company_migrations where migration_id = m.id) as c`
}

const columns = (
  sql: Sql,
) => sql`m.*, c.total, c.completed, c.failed, c.skipped, c.pending, c.cancelled, c.next_due_at, (
  select r.id from plan_version_migrations r where r.reverts_id = m.id order by r.place desc limit 1) as reverted_by`

function matchingMoves(sql: Sql, environmentId: string, { plan_id: planId, status }: MoveFilter) {
  const open = sql`m.status in ('pending', 'in_progress')`
  return sql`m.environment_id = ${environmentId} and ${ofKind(sql, 'moves')}
    ${planId ? sql`and m.plan_id = ${planId}` : sql``}
    ${status === 'paused' ? sql`and m.paused_at is not null and ${open}` : sql``}
    ${status && status !== 'paused' ? sql`and m.status = ${status} and not (m.paused_at is not null and ${open})` : sql``}`
}

export function listMoveRows(
  sql: Sql,
  environmentId: string,
  filter: MoveFilter,
  page: Page,
): Promise<readonly CountedMigration[]> {
  return sql<CountedMigration[]>`
    select ${columns(sql)} from ${counted(sql)} where ${matchingMoves(sql, environmentId, filter)}
    order by m.created_at desc, m.id desc limit ${page.limit} offset ${page.offset}`
}

export async function countMoveRows(sql: Sql, environmentId: string, filter: MoveFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from plan_version_migrations m where ${matchingMoves(sql, environmentId, filter)}`
  return row!.count
}

export function listMigrationRows(
  sql: Sql,
  environmentId: string,
  filter: MigrationFilter,
  page: Page,
): Promise<readonly CountedMigration[]> {
  return sql<CountedMigration[]>`
    select ${columns(sql)} from ${counted(sql)} where ${matching(sql, environmentId, filter)}
    order by m.created_at desc, m.id desc limit ${page.limit} offset ${page.offset}`
}

export async function countMigrationRows(
  sql: Sql,
  environmentId: string,
  filter: MigrationFilter,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from plan_version_migrations m where ${matching(sql, environmentId, filter)}`
  return row!.count
}

export async function findMigration(
  sql: Sql,
  environmentId: string,
  id: string,
  kinds: Kinds = 'migrations',
): Promise<CountedMigration | null> {
  const [row] = await sql<CountedMigration[]>`
    select ${columns(sql)} from ${counted(sql)}
    where m.id = ${id} and m.environment_id = ${environmentId} and ${ofKind(sql, kinds)}`
  return row ?? null
}

/** A company's migration with the company's name. */
export interface NamedCompanyMigration extends CompanyMigrationRow {
  readonly company_name: string | null
  readonly strategy: MigrationRow['strategy']
}

/** Filters of a list of companies' migrations. */
interface CompanyMigrationFilter {
  readonly migration_id: string
  /** Absent: of a migration. */
  readonly kinds?: Kinds
  readonly q?: string
  readonly status?: PlanVersionCompanyMigrationStatus
}

function ofCompanies(sql: Sql) {
  return sql`plan_version_company_migrations c join plan_version_migrations m on m.id = c.migration_id
    left join companies e on e.id = c.company_id`
}

function matchingCompanies(sql: Sql, environmentId: string, filter: CompanyMigrationFilter) {
  const { q } = filter
  return sql`c.environment_id = ${environmentId} and c.migration_id = ${filter.migration_id}
    and ${ofKind(sql, filter.kinds ?? 'migrations')}
    ${filter.status ? sql`and c.status = ${filter.status}` : sql``}
    ${q ? sql`and (position(lower(${q}) in lower(e.name)) > 0 or c.company_id = ${q})` : sql``}`
}

export function listCompanyMigrationRows(
  sql: Sql,
  environmentId: string,
  filter: CompanyMigrationFilter,
  page: Page,
): Promise<readonly NamedCompanyMigration[]> {
  return sql<NamedCompanyMigration[]>`
    select c.*, e.name as company_name, m.strategy from ${ofCompanies(sql)}
    where ${matchingCompanies(sql, environmentId, filter)}
    order by c.created_at desc, c.id desc limit ${page.limit} offset ${page.offset}`
}

export async function countCompanyMigrationRows(
  sql: Sql,
  environmentId: string,
  filter: CompanyMigrationFilter,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from ${ofCompanies(sql)}
    where ${matchingCompanies(sql, environmentId, filter)}`
  return row!.count
}

export async function findCompanyMigration(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<NamedCompanyMigration | null> {
  const [row] = await sql<NamedCompanyMigration[]>`
    select c.*, e.name as company_name, m.strategy from ${ofCompanies(sql)}
    where c.id = ${id} and c.environment_id = ${environmentId} and ${ofKind(sql, 'migrations')}`
  return row ?? null
}

/** Companies that wait, those with the earliest date told first. */
export function pendingCompanyMigrations(
  sql: Sql,
  migrationId: string,
  limit: number,
): Promise<readonly NamedCompanyMigration[]> {
  return sql<NamedCompanyMigration[]>`
    select c.*, e.name as company_name, m.strategy from ${ofCompanies(sql)}
    where c.migration_id = ${migrationId} and c.status = 'pending' order by c.due_at nulls last, c.id limit ${limit}`
}

/** In a transaction: cancel the pending companies of a migration. `run` then informs them. */
export async function cancelPending(tx: Sql, migrationId: string, now: Date): Promise<void> {
  await tx`
    update plan_version_migrations
    set status = 'cancelled', paused_at = null, completed_at = ${now}, updated_at = ${now}
    where id = ${migrationId}`
  await tx`
    update plan_version_company_migrations
    set status = 'cancelled', to_tell = true, completed_at = ${now}, updated_at = ${now}
    where migration_id = ${migrationId} and status = 'pending'`
}

/** In a transaction: pause a migration, or (null) let it go on. `run` then takes back what companies have agreed to. */
export async function setPaused(
  tx: Sql,
  migrationId: string,
  pausedAt: Date | null,
  now: Date,
): Promise<void> {
  await tx`
    update plan_version_migrations set paused_at = ${pausedAt}, updated_at = ${now} where id = ${migrationId}`
}

/** In a transaction: let a migration that waits for a date run now. */
export async function forcePending(
  tx: Sql,
  migrationId: string,
  proration: string | null,
  now: Date,
): Promise<void> {
  await tx`
    update plan_version_company_migrations set forced = true, updated_at = ${now}
    where migration_id = ${migrationId} and status = 'pending'`
  await tx`
    update plan_version_migrations set updated_at = ${now},
      proration_behavior = coalesce(${proration}, proration_behavior)
    where id = ${migrationId}`
}

/**
 * In a transaction: set failed companies back to pending: those of a migration with one of these codes, or the
 * named one.
 */
export async function retryFailed(
  tx: Sql,
  migrationId: string,
  which: { readonly codes?: readonly string[]; readonly id?: string },
  now: Date,
): Promise<number> {
  const { codes, id } = which
  const again = await tx`
    update plan_version_company_migrations
    set status = 'pending', agreed = false, asked_at = null, error = null, error_code = null, completed_at = null,
      updated_at = ${now}
    where migration_id = ${migrationId} and status = 'failed'
      ${codes ? tx`and error_code in ${among(tx, codes)}` : tx``}
      ${id ? tx`and id = ${id}` : tx``}`
  if (again.count > 0)
    await tx`
      update plan_version_migrations set status = 'in_progress', completed_at = null, error = null, updated_at = ${now}
      where id = ${migrationId}`
  return again.count
}
