// Statements of migrations and moves before they run: their rows, the companies they concern, and what newer ones call off.
import type { Sql } from 'postgres'
import type { MigrationErrorCode, MigrationStrategy, PlanMoveReason } from '../../../schemas/enums.js'
import type { PlanMoveFilter } from '../../../schemas/plan-moves.js'
import type { Moved } from '../../core/model/company-state.js'
import { derivedId } from '../../core/values/id.js'
import { anywhere, asJson } from '../../kit/sql.js'
import { allOf, type Fragment } from '../entities/list.js'

/** A row of plan_version_migrations. */
export interface MigrationRow {
  readonly id: string
  /** To another version, to another plan, or back. */
  readonly kind: 'migration' | 'move' | 'revert'
  readonly environment_id: string
  readonly plan_id: string
  readonly plan_version_id_to: string
  /** Null for moves, which take companies from any. */
  readonly plan_version_ids_from: readonly string[] | null
  /** The companies that a move asks for. */
  readonly filter: PlanMoveFilter | null
  readonly price_id: string | null
  /** The migration or move that a revert takes back. */
  readonly reverts_id: string | null
  readonly paused_at: Date | null
  readonly strategy: MigrationStrategy
  /** The date of strategy `scheduled`. */
  readonly scheduled_at: Date | null
  readonly proration_behavior: 'always_invoice' | 'create_prorations' | 'none' | null
  readonly company_ids: readonly string[] | null
  readonly excluded_company_ids: readonly string[]
  readonly status: 'cancelled' | 'completed' | 'failed' | 'in_progress' | 'pending'
  readonly api_key_id: string | null
  readonly error: string | null
  readonly listed_at: Date | null
  readonly started_at: Date | null
  readonly completed_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Whether a migration or move has not ended; one that is paused has not. */
export const isOpen = ({ status }: Pick<MigrationRow, 'status'>): boolean =>
  status === 'pending' || status === 'in_progress'

/** A row of plan_version_company_migrations. */
export interface CompanyMigrationRow {
  readonly id: string
  readonly environment_id: string
  readonly migration_id: string
  readonly company_id: string
  /** The plan that it leaves; null: none. */
  readonly plan_id: string | null
  readonly plan_version_id_from: string | null
  readonly plan_version_id_to: string | null
  readonly status: 'cancelled' | 'completed' | 'failed' | 'in_progress' | 'pending' | 'skipped'
  readonly due_at: Date | null
  readonly forced: boolean
  /** The company has it in its own schedule; what it drops from there happens no more (PB-23). */
  readonly agreed: boolean
  /** Called off, and the company does not know it yet. */
  readonly to_tell: boolean
  readonly error: string | null
  readonly error_code: MigrationErrorCode | PlanMoveReason | null
  /** When it was first asked; what it has done may lie in the journal alone. */
  readonly asked_at: Date | null
  readonly started_at: Date | null
  readonly completed_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** A migration before it has begun. */
export interface NewMigration {
  readonly id: string
  /** Absent: to another version. */
  readonly kind?: MigrationRow['kind']
  readonly filter?: PlanMoveFilter | null
  readonly priceId?: string | null
  readonly revertsId?: string | null
  readonly environmentId: string
  readonly planId: string
  readonly versionId: string
  /** Null for moves. */
  readonly fromVersionIds: readonly string[] | null
  readonly strategy: MigrationStrategy
  /** For strategy `scheduled`, epoch ms. */
  readonly scheduledAtMs?: number | null
  readonly prorationBehavior: MigrationRow['proration_behavior']
  /** Null: every company. */
  readonly companyIds: readonly string[] | null
  readonly excludedCompanyIds: readonly string[]
  readonly apiKeyId: string | null
}

/** Write a migration; `run` begins it. Proration at a period's end is always none (PB-22). */
export async function insertMigration(sql: Sql, migration: NewMigration, nowMs: number): Promise<void> {
  const now = new Date(nowMs)
  const { strategy, scheduledAtMs } = migration
  const prorated = strategy === 'immediate' || strategy === 'scheduled'
  const proration = prorated ? (migration.prorationBehavior ?? 'create_prorations') : 'none'
  await sql`
    insert into plan_version_migrations ${sql({
      id: migration.id,
      environment_id: migration.environmentId,
      plan_id: migration.planId,
      plan_version_id_to: migration.versionId,
      kind: migration.kind ?? 'migration',
      plan_version_ids_from: migration.fromVersionIds && sql.json([...migration.fromVersionIds]),
      filter: migration.filter ? asJson(sql, migration.filter) : null,
      price_id: migration.priceId ?? null,
      reverts_id: migration.revertsId ?? null,
      strategy,
      scheduled_at: scheduledAtMs == null ? null : new Date(scheduledAtMs),
      proration_behavior: proration,
      company_ids: migration.companyIds && sql.json([...migration.companyIds]),
      excluded_company_ids: sql.json([...migration.excludedCompanyIds]),
      status: 'pending',
      api_key_id: migration.apiKeyId,
      created_at: now,
      updated_at: now,
    })}`
}

/** Conditions that select the companies of a migration. */
type Affecting = Pick<
  MigrationRow,
  | 'environment_id'
  | 'plan_id'
  | 'plan_version_id_to'
  | 'plan_version_ids_from'
  | 'strategy'
  | 'company_ids'
  | 'excluded_company_ids'
>

/** A company that a migration or move concerns. */
export interface AffectedCompany {
  readonly company_id: string
  /** The plan that it has and leaves; null: none. */
  readonly plan_id: string | null
  readonly version_id: string | null
  /** The version it comes to; null: it comes back to no plan. */
  readonly to_version_id: string | null
}

/** Companies on a version that a migration leaves, as Postgres shows them, by id; with `leave` none. */
export function affected(
  sql: Sql,
  migration: Affecting,
  after: string,
  limit: number,
): Promise<readonly (AffectedCompany & { readonly version_id: string })[]> {
  const { company_ids: only } = migration
  return sql<(AffectedCompany & { readonly version_id: string })[]>`
    select company_id, plan_id, version_id, ${migration.plan_version_id_to} as to_version_id from company_plans
    where environment_id = ${migration.environment_id} and plan_id = ${migration.plan_id}
      and version_id <> ${migration.plan_version_id_to} and ${migration.strategy !== 'leave'}
      and version_id = any(${[...(migration.plan_version_ids_from ?? [])]}::text[])
      and company_id <> all(${[...migration.excluded_company_ids]}::text[])
      ${only ? sql`and company_id = any(${[...only]}::text[])` : sql``}
      and company_id > ${after}
    order by company_id limit ${limit}`
}

/** The aim of a move, and the companies asked for. */
export interface MoveAim {
  readonly environmentId: string
  readonly versionId: string
  readonly filter: PlanMoveFilter
  /** The plan of companies without one; null: none. */
  readonly fallbackPlanId: string | null
}

/** Companies that a move concerns, as Postgres shows them, by id: those that match the filter and are not there yet. */
export function affectedByMove(
  sql: Sql,
  aim: MoveAim,
  after: string,
  limit: number,
): Promise<readonly AffectedCompany[]> {
  return sql<AffectedCompany[]>`
    select e.id as company_id, e.plan_id, e.version_id, ${aim.versionId} as to_version_id from listed e
    where e.environment_id = ${aim.environmentId} and e.kind = 'company' and ${allOf(sql, filters(sql, aim))}
      and e.version_id is distinct from ${aim.versionId} and e.id > ${after}
    order by e.id limit ${limit}`
}

/** The conditions of a filter on a row `e` of `listed`. All must hold (MI-10). */
function filters(sql: Sql, { filter, fallbackPlanId }: MoveAim): Fragment[] {
  const list = (ids: readonly string[]) => sql`${[...ids]}::text[]`
  const conditions: Fragment[] = []
  if (filter.plan_ids != null) {
    const withFallback = fallbackPlanId !== null && filter.plan_ids.includes(fallbackPlanId)
    const on = sql`e.plan_id = any(${list(filter.plan_ids)})`
    conditions.push(withFallback ? sql`(${on} or e.plan_id is null)` : on)
  }
  if (filter.plan_version_ids != null)
    conditions.push(sql`e.version_id = any(${list(filter.plan_version_ids)})`)
  if (filter.company_ids != null) conditions.push(sql`e.id = any(${list(filter.company_ids)})`)
  if (filter.excluded_company_ids != null)
    conditions.push(sql`e.id <> all(${list(filter.excluded_company_ids)})`)
  if (filter.without_plan === true) conditions.push(sql`e.plan_id is null`)
  if (filter.q != null) conditions.push(sql`e.text like lower(${anywhere(filter.q)})`)
  for (const { name, value } of filter.traits ?? [])
    conditions.push(sql`exists (
      select 1 from entity_traits t where t.entity_id = e.id and t.name = ${name} and t.value = ${value} offset 0)`)
  return conditions
}

/** Companies that a migration or move has moved, and where they come from, by id (MI-30). */
export function affectedByRevert(
  sql: Sql,
  revertsId: string,
  after: string,
  limit: number,
): Promise<readonly AffectedCompany[]> {
  return sql<AffectedCompany[]>`
    select distinct on (company_id) company_id, moved->'is'->>'planId' as plan_id,
      moved->'is'->>'versionId' as version_id, moved->'was'->>'versionId' as to_version_id
    from plan_changes
    where migration_id = ${revertsId} and moved is not null and company_id > ${after}
    order by company_id, created_at desc limit ${limit}`
}

/** A company whose turn it is; `moved`: of a revert, what is taken back. */
export type DueCompany = CompanyMigrationRow & { readonly moved: Moved | null }

/** List companies of a migration; their agreements with older ones are called off. Returns those older ones. */
export async function insertCompanies(
  sql: Sql,
  row: MigrationRow,
  companies: readonly AffectedCompany[],
  at: Date,
): Promise<readonly string[]> {
  const rows = companies.map(one => ({
    id: derivedId('pvcm_', row.id, one.company_id),
    company_id: one.company_id,
    plan: one.plan_id,
    from: one.version_id,
    to: one.to_version_id,
  }))
  return sql.begin(async tx => {
    await tx`
      insert into plan_version_company_migrations (id, environment_id, migration_id, company_id, plan_id,
        plan_version_id_from, plan_version_id_to, status, created_at, updated_at)
      select id, ${row.environment_id}, ${row.id}, company_id, plan, "from", "to", 'pending', ${at}, ${at}
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
        as made(id text, company_id text, plan text, "from" text, "to" text)
      on conflict do nothing`
    // PB-23, MI-16: the newer one counts.
    const companyIds = companies.map(one => one.company_id)
    const planIds = [...new Set(companies.flatMap(one => one.plan_id ?? []))]
    const { environment_id } = row
    const which = { environment_id, planIds, companyIds, excluded: [], olderThan: row.id }
    return callOff(tx as unknown as Sql, which, at)
  })
}

/** Which pending moves of companies are called off. */
interface CalledOff {
  readonly environment_id: string
  /** Plans that the companies have. */
  readonly planIds: readonly string[]
  /** Null: all. */
  readonly companyIds: readonly string[] | null
  readonly excluded: readonly string[]
  /** Only those of migrations before this one; null: all. */
  readonly olderThan: string | null
}

/**
 * Call off pending moves; `run` of the migrations returned informs the companies.
 *
 * returns  the ids of the migrations concerned.
 */
async function callOff(sql: Sql, which: CalledOff, at: Date): Promise<readonly string[]> {
  const { companyIds, excluded, olderThan } = which
  const rows = await sql<{ migration_id: string }[]>`
    update plan_version_company_migrations as c
    set status = 'cancelled', to_tell = true, completed_at = ${at}, updated_at = ${at}
    from plan_version_migrations m
    where m.id = c.migration_id and c.status = 'pending' and not c.forced
      and c.environment_id = ${which.environment_id} and c.plan_id = any(${[...which.planIds]}::text[])
      ${companyIds ? sql`and c.company_id = any(${[...companyIds]}::text[])` : sql``}
      and c.company_id <> all(${[...excluded]}::text[])
      ${
        olderThan === null
          ? sql`and m.strategy <> 'immediate' and m.kind = 'migration'`
          : sql`and m.place < (select place from plan_version_migrations where id = ${olderThan})`
      }
    returning c.migration_id`
  return [...new Set(rows.map(row => row.migration_id))]
}

/**
 * Companies of a plan that are to stay: their agreed later moves are called off.
 *
 * returns  the migrations whose companies must be informed, by `run`.
 * source   PB-6 `leave`, PB-23.
 */
export function callOffPending(
  sql: Sql,
  { environmentId, planId, companyIds, excludedCompanyIds }: NewMigration,
  nowMs: number,
): Promise<readonly string[]> {
  const which = { environment_id: environmentId, planIds: [planId], companyIds, excluded: excludedCompanyIds }
  return callOff(sql, { ...which, olderThan: null }, new Date(nowMs))
}

/**
 * A version is no longer in force: pending moves to it, or to one before it, are called off. Moves that were to
 * happen at once go on.
 *
 * returns  the migrations whose companies must be informed, by `run`.
 * source   PB-23: the newer publish counts, with any treatment of companies; decision.
 */
export async function callOffOlder(sql: Sql, next: NewMigration, nowMs: number): Promise<readonly string[]> {
  const all = { ...next, companyIds: null, excludedCompanyIds: [] }
  const ids = await callOffPending(sql, all, nowMs)
  const now = new Date(nowMs)
  await sql`
    update plan_version_migrations as m set status = 'cancelled', completed_at = ${now}, updated_at = ${now}
    where environment_id = ${next.environmentId} and plan_id = ${next.planId} and id <> ${next.id}
      and kind = 'migration'
      and status in ('pending', 'in_progress') and strategy <> 'immediate'
      and not exists (
        select 1 from plan_version_company_migrations c where c.migration_id = m.id and c.status = 'pending')`
  return ids
}

/**
 * Call off open moves to a deleted version, or (`versionId` null) of a deleted plan.
 *
 * returns  the migrations whose companies must be informed, by `run`.
 */
export async function abandonMigrations(
  sql: Sql,
  planId: string,
  versionId: string | null,
  nowMs: number,
): Promise<readonly string[]> {
  const now = new Date(nowMs)
  const to = versionId === null ? sql`` : sql`and plan_version_id_to = ${versionId}`
  await sql`
    update plan_version_company_migrations as c
    set status = 'cancelled', to_tell = true, completed_at = ${now}, updated_at = ${now}
    from plan_version_migrations m
    where m.id = c.migration_id and m.plan_id = ${planId} and m.kind <> 'revert'
      and c.status in ('pending', 'in_progress') ${versionId === null ? sql`` : sql`and c.plan_version_id_to = ${versionId}`}`
  const rows = await sql<{ id: string }[]>`
    update plan_version_migrations set status = 'cancelled', completed_at = ${now}, updated_at = ${now}
    where plan_id = ${planId} and kind <> 'revert' and status in ('pending', 'in_progress') ${to} returning id`
  return rows.map(({ id }) => id)
}

/** A migration of which nothing is pending is completed; one that waits for dates is pending (PB-20). */
export async function finish(sql: Sql, id: string, at: Date): Promise<void> {
  await sql`
    with o as (
      select count(*) filter (where status in ('pending', 'in_progress')) as pending,
        count(*) filter (where status = 'failed') as failed
      from plan_version_company_migrations where migration_id = ${id}),
    next as (
      select case
          when o.pending > 0 then case when strategy = 'immediate' then 'in_progress' else 'pending' end
          when o.failed > 0 then 'failed' else 'completed' end as status
      from plan_version_migrations, o where id = ${id})
    update plan_version_migrations as m
    set status = next.status,
      completed_at = case when o.pending > 0 then null else ${at}::timestamptz end,
      error = case when o.pending = 0 and o.failed > 0 then o.failed || ' companies could not be moved' end,
      updated_at = ${at}
    from o, next
    where m.id = ${id} and m.status in ('pending', 'in_progress') and m.status <> next.status`
}
