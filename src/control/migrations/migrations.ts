// Companies moving to another version of their plan: listed once every shard knows the version, moved at once or when
// their time comes, and taken up again after a stop (PB-20…24).
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { MigrationErrorCode, MigrationStrategy } from '../../../schemas/enums.js'
import type { MigrationReply, MigrationWanted } from '../../core/model/plan-messages.js'
import { derivedId } from '../../core/values/id.js'
import { Refused, type Shards } from '../../entities/shards/shards.js'
import type { Projections } from '../../recovery/projections.js'
import { inParallel } from '../../turns/in-parallel.js'
import { type SoldTerms, termsOf } from './terms.js'

/** A row of plan_version_migrations. */
export interface MigrationRow {
  readonly id: string
  readonly environment_id: string
  readonly plan_id: string
  readonly plan_version_id_to: string
  readonly plan_version_ids_from: readonly string[]
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

/** A row of plan_version_company_migrations. */
export interface CompanyMigrationRow {
  readonly id: string
  readonly environment_id: string
  readonly migration_id: string
  readonly company_id: string
  readonly plan_id: string
  readonly plan_version_id_from: string | null
  readonly plan_version_id_to: string
  readonly status: 'cancelled' | 'completed' | 'failed' | 'in_progress' | 'pending' | 'skipped'
  readonly due_at: Date | null
  readonly forced: boolean
  /** The company has it in its own schedule; what it drops from there happens no more (PB-23). */
  readonly agreed: boolean
  /** Called off, and the company does not know it yet. */
  readonly to_tell: boolean
  readonly error: string | null
  readonly error_code: MigrationErrorCode | null
  readonly started_at: Date | null
  readonly completed_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

export interface MigrationsOptions {
  readonly sql: Sql
  readonly log: Logger
  readonly shards: Pick<Shards, 'ask'>
  readonly projections: Pick<Projections, 'barrier'>
  /** The present of an environment, epoch ms. */
  readonly now: (environmentId: string) => number
  /** Whether messages sent to the shards from now on find this version of the plan. */
  readonly knows: (environmentId: string, planId: string, versionId: string) => boolean
  /** Whether this node is the one that does it; absent: it is. */
  readonly isHere?: () => boolean
  /** Milliseconds between searches for due work. */
  readonly everyMs?: number
  /** Milliseconds before a company without a date is asked for one again. */
  readonly undatedEveryMs?: number
}

/** Companies read, asked and written together. */
const batch = 500
/** Companies asked at a time. */
const parallel = 128
const lookEveryMs = 5_000
/** The same among several nodes, where requests come to any of them. */
const elsewhereMs = 500
const askUndatedEveryMs = 60_000

/** Why a company on a version that costs nothing cannot move to one that costs something (EN-97). */
export const unpaid =
  'The version costs something, and no subscription bills the company for the plan: POST /manage-plan with base_plan_version_id moves it'
/** Why a company cannot move to a version that is not sold as the company pays (EN-97, N6). */
export const noPrice = 'The version has no price in the currency and at the interval that the company pays in'

/** Result for one company, as stored in its row. */
interface Outcome {
  readonly id: string
  readonly status: CompanyMigrationRow['status']
  readonly from: string | null
  readonly dueAtMs: number | null
  readonly agreed: boolean
  readonly error: string | null
  readonly errorCode: MigrationErrorCode | null
}

/**
 * The one who sees migrations through.
 *
 * A migration is a row, written in the transaction that publishes; its companies are rows too. So a stop at any
 * moment loses nothing: a request whose result was not stored is repeated, and the company answers that it is done.
 */
export class Migrations {
  readonly #options: MigrationsOptions
  /** Migrations in progress, so that none runs twice at a time. */
  readonly #running = new Map<string, Promise<void>>()
  /** When the companies of a migration that have no date were last asked for one, by the wall clock. */
  readonly #askedMs = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> = Promise.resolve()
  #stopping = false

  constructor(options: MigrationsOptions) {
    this.#options = options
  }

  /** Continue open migrations, now and from time to time. */
  start(): void {
    const look = () => {
      this.#looking = this.#look().catch(error => {
        if (!this.#stopping) this.#options.log.warn({ err: error }, 'migrations wait for a store')
      })
      void this.#looking.then(() => {
        if (this.#stopping) return
        const everyMs = this.#options.isHere === undefined ? lookEveryMs : elsewhereMs
        this.#timer = setTimeout(look, this.#options.everyMs ?? everyMs)
      })
    }
    look()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    if (this.#timer) clearTimeout(this.#timer)
    await Promise.allSettled([this.#looking, ...this.#running.values()])
  }

  /**
   * Do what can be done of a migration now: list its companies, ask each, note what became of it.
   *
   * returns  once nothing is left to do now; companies that wait for a date continue by themselves.
   * errors   errors of the stores; the work continues later.
   */
  run(migrationId: string): Promise<void> {
    // the node that does it finds the row
    if (this.#options.isHere?.() === false) return Promise.resolve()
    const running = this.#running.get(migrationId)
    // A run in progress may have passed the rows that this caller changed: a second run follows.
    const work = (running ?? Promise.resolve()).catch(() => {}).then(() => this.#work(migrationId))
    this.#running.set(migrationId, work)
    const done = () => {
      if (this.#running.get(migrationId) === work) this.#running.delete(migrationId)
    }
    work.then(done, done)
    return work
  }

  async #look(): Promise<void> {
    if (this.#options.isHere?.() === false) return
    const rows = await this.#options.sql<{ id: string }[]>`
      select id from plan_version_migrations
      where status in ('pending', 'in_progress')
        or id in (select migration_id from plan_version_company_migrations where to_tell)
      order by place`
    for (const { id } of rows) {
      if (this.#stopping) return
      if (!this.#running.has(id)) await this.run(id)
    }
  }

  async #work(id: string): Promise<void> {
    const { sql, now } = this.#options
    const [row] = await sql<MigrationRow[]>`select * from plan_version_migrations where id = ${id}`
    if (row) await this.#tellCalledOff(row)
    if (!row || (row.status !== 'pending' && row.status !== 'in_progress')) {
      this.#askedMs.delete(id)
      return
    }
    // A version the shards may not have yet would be refused: there is a next time.
    if (!this.#options.knows(row.environment_id, row.plan_id, row.plan_version_id_to)) return
    if (row.listed_at === null) {
      await this.#list(row)
      return this.#work(id) // it may have been called off meanwhile
    }
    const terms = await termsOf(sql, row.plan_id, row.plan_version_id_to)
    const undated = this.#asksUndated(row)
    for (let after = ''; ; ) {
      const due = await this.#due(row, after, undated)
      if (due.length === 0 || this.#stopping) break
      await this.#note(row, await this.#ask(row, terms, due))
      after = due.at(-1)!.id
    }
    await finish(sql, row.id, new Date(now(row.environment_id)))
  }

  /**
   * Cancel the migration in companies for which it was called off. No request for the same migration runs meanwhile,
   * so none agrees to it again. A deleted company needs no message; one that cannot be reached is tried in the next
   * round.
   */
  async #tellCalledOff(row: MigrationRow): Promise<void> {
    const { sql, shards, now, log } = this.#options
    const message = { type: 'cancel_migration', migrationId: row.id } as const
    if (row.status === 'cancelled')
      await sql`
        update plan_version_company_migrations set status = 'cancelled', to_tell = true
        where migration_id = ${row.id} and status = 'pending'`
    for (let after = ''; ; ) {
      const companies = await sql<{ id: string; company_id: string }[]>`
        select id, company_id from plan_version_company_migrations
        where migration_id = ${row.id} and to_tell and id > ${after} order by id limit ${batch}`
      if (companies.length === 0 || this.#stopping) return
      const told: string[] = []
      await inParallel(companies, parallel, async ({ id, company_id: companyId }) => {
        try {
          await shards.ask('c', row.environment_id, companyId, message, now(row.environment_id))
          told.push(id)
        } catch (error) {
          if (error instanceof Refused) told.push(id)
          else log.warn({ err: error, company_id: companyId }, 'a company waits to hear what was called off')
        }
      })
      await sql`update plan_version_company_migrations set to_tell = false where id = any(${told}::text[])`
      after = companies.at(-1)!.id
    }
  }

  /** Whether it is time to ask companies that have no date. */
  #asksUndated({ id }: MigrationRow): boolean {
    const every = this.#options.undatedEveryMs ?? askUndatedEveryMs
    if (Date.now() - (this.#askedMs.get(id) ?? 0) < every) return false
    this.#askedMs.set(id, Date.now())
    return true
  }

  /**
   * List the companies of a migration. Every shard has the new version by now, so after the barrier Postgres has
   * every company on an older one, and no company moves to an older one any more.
   */
  async #list(row: MigrationRow): Promise<void> {
    const { sql, projections, now } = this.#options
    await projections.barrier('postgres')
    const at = new Date(now(row.environment_id))
    const replaced = new Set<string>()
    for (let after = ''; ; ) {
      const companies = await affected(sql, row, after, 1_000)
      if (companies.length === 0) break
      for (const id of await insertCompanies(sql, row, companies, at)) replaced.add(id)
      after = companies.at(-1)!.company_id
    }
    // only older ones are replaced, so no two wait for each other
    for (const id of replaced) await this.run(id)
    await sql`
      update plan_version_migrations set listed_at = ${at}, started_at = coalesce(started_at, ${at}),
        status = case when status = 'cancelled' then status else 'in_progress' end, updated_at = ${at}
      where id = ${row.id} and listed_at is null`
  }

  /**
   * Companies whose turn is now: those that move at once, whose date has come, that have none yet (`undated`), or that
   * have changed their version since they agreed.
   */
  #due(row: MigrationRow, after: string, undated: boolean): Promise<readonly CompanyMigrationRow[]> {
    const { sql, now } = this.#options
    return sql<CompanyMigrationRow[]>`
      select * from plan_version_company_migrations
      where migration_id = ${row.id} and status = 'pending' and id > ${after}
        and (${row.strategy === 'immediate'} or forced or (${undated || row.strategy === 'scheduled'} and due_at is null)
          or due_at <= ${new Date(now(row.environment_id))}
          or (agreed and not exists (
            select 1 from company_plans p where p.company_id = plan_version_company_migrations.company_id
              and p.version_id = plan_version_id_from)))
      order by id limit ${batch}`
  }

  async #ask(
    row: MigrationRow,
    terms: SoldTerms,
    due: readonly CompanyMigrationRow[],
  ): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    await inParallel(due, parallel, async one => void outcomes.push(...(await this.#askOne(row, terms, one))))
    return outcomes
  }

  /** Result for one company; nothing when a store was away: the next round repeats it. */
  async #askOne(row: MigrationRow, terms: SoldTerms, one: CompanyMigrationRow): Promise<readonly Outcome[]> {
    const { shards, now, log } = this.#options
    const message: MigrationWanted = {
      type: 'migrate_plan',
      migrationId: row.id,
      planId: row.plan_id,
      versionId: row.plan_version_id_to,
      fromVersionIds: row.plan_version_ids_from,
      when: row.strategy === 'immediate' || one.forced ? 'now' : deferred(row.strategy),
      dueMs: (row.scheduled_at ?? one.due_at)?.getTime() ?? null,
      agreed: one.agreed,
      proration: row.proration_behavior,
      ...terms,
      cause: {
        action: 'plan_version_migration',
        actorType: row.api_key_id === null ? 'system' : 'api_key',
        apiKeyId: row.api_key_id,
      },
    }
    const told = (status: Outcome['status'], some: Partial<Outcome> = {}): Outcome => ({
      id: one.id,
      status,
      from: one.plan_version_id_from,
      dueAtMs: one.due_at?.getTime() ?? null,
      agreed: one.agreed,
      error: null,
      errorCode: null,
      ...some,
    })
    try {
      const nowMs = now(row.environment_id)
      const { reply } = await shards.ask<MigrationReply>(
        'c',
        row.environment_id,
        one.company_id,
        message,
        nowMs,
      )
      if (reply.outcome === 'failed')
        return [told('failed', { error: noPrice, errorCode: 'no_price_for_interval' })]
      if (reply.outcome === 'unpaid')
        return [told('failed', { error: unpaid, errorCode: 'permanent_config' })]
      if (reply.outcome !== 'scheduled') return [told(reply.outcome)]
      return [told('pending', { dueAtMs: reply.effectiveAtMs, agreed: true })]
    } catch (error) {
      if (!(error instanceof Refused)) {
        log.warn({ err: error, company_id: one.company_id }, 'a company waits for its migration')
        return []
      }
      if (error.refusal === 'not_found') return [told('skipped')]
      return [told('failed', { error: error.message, errorCode: 'permanent_config' })]
    }
  }

  async #note(row: MigrationRow, outcomes: readonly Outcome[]): Promise<void> {
    if (outcomes.length === 0) return
    const { sql, now } = this.#options
    const at = new Date(now(row.environment_id)).toISOString()
    const rows = outcomes.map(one => ({
      id: one.id,
      status: one.status,
      due_at: one.dueAtMs === null ? null : new Date(one.dueAtMs).toISOString(),
      error: one.error,
      error_code: one.errorCode,
      agreed: one.agreed,
      ended_at: one.status === 'pending' ? null : at,
    }))
    await sql`
      update plan_version_company_migrations as row
      set status = told.status, due_at = told.due_at, agreed = told.agreed, error = told.error,
        error_code = told.error_code,
        started_at = coalesce(row.started_at, told.ended_at), completed_at = told.ended_at, updated_at = ${at}
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
        as told(id text, status text, due_at timestamptz, agreed boolean, error text, error_code text,
          ended_at timestamptz)
      where row.id = told.id and row.status = 'pending'`
  }
}

const deferred = (strategy: MigrationStrategy) =>
  strategy === 'scheduled' ? ('scheduled' as const) : ('period_end' as const)

/** A migration before it has begun. */
export interface NewMigration {
  readonly id: string
  readonly environmentId: string
  readonly planId: string
  readonly versionId: string
  readonly fromVersionIds: readonly string[]
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
      plan_version_ids_from: sql.json([...migration.fromVersionIds]),
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
export type Affecting = Pick<
  MigrationRow,
  | 'environment_id'
  | 'plan_id'
  | 'plan_version_id_to'
  | 'plan_version_ids_from'
  | 'strategy'
  | 'company_ids'
  | 'excluded_company_ids'
>

/** Companies on a version that a migration leaves, as Postgres shows them, by id; with `leave` none. */
export function affected(
  sql: Sql,
  migration: Affecting,
  after: string,
  limit: number,
): Promise<readonly { readonly company_id: string; readonly version_id: string }[]> {
  const { company_ids: only } = migration
  return sql<{ company_id: string; version_id: string }[]>`
    select company_id, version_id from company_plans
    where environment_id = ${migration.environment_id} and plan_id = ${migration.plan_id}
      and version_id <> ${migration.plan_version_id_to} and ${migration.strategy !== 'leave'}
      and version_id = any(${[...migration.plan_version_ids_from]}::text[])
      and company_id <> all(${[...migration.excluded_company_ids]}::text[])
      ${only ? sql`and company_id = any(${[...only]}::text[])` : sql``}
      and company_id > ${after}
    order by company_id limit ${limit}`
}

/** List companies of a migration; their agreements with older ones are called off. Returns those older ones. */
async function insertCompanies(
  sql: Sql,
  row: MigrationRow,
  companies: Awaited<ReturnType<typeof affected>>,
  at: Date,
): Promise<readonly string[]> {
  const rows = companies.map(one => ({
    id: derivedId('pvcm_', row.id, one.company_id),
    company_id: one.company_id,
    from: one.version_id,
  }))
  return sql.begin(async tx => {
    await tx`
      insert into plan_version_company_migrations (id, environment_id, migration_id, company_id, plan_id,
        plan_version_id_from, plan_version_id_to, status, created_at, updated_at)
      select id, ${row.environment_id}, ${row.id}, company_id, ${row.plan_id}, "from", ${row.plan_version_id_to},
        'pending', ${at}, ${at}
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as made(id text, company_id text, "from" text)
      on conflict do nothing`
    // PB-23: the newer one counts.
    const ids = companies.map(one => one.company_id)
    return callOff(tx as unknown as Sql, { ...row, companyIds: ids, excluded: [], olderThan: row.id }, at)
  })
}

/** Which pending moves of companies are called off. */
interface CalledOff {
  readonly environment_id: string
  readonly plan_id: string
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
      and c.environment_id = ${which.environment_id} and c.plan_id = ${which.plan_id}
      ${companyIds ? sql`and c.company_id = any(${[...companyIds]}::text[])` : sql``}
      and c.company_id <> all(${[...excluded]}::text[])
      ${
        olderThan === null
          ? sql`and m.strategy <> 'immediate'`
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
  const which = { environment_id: environmentId, plan_id: planId, companyIds, excluded: excludedCompanyIds }
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
    update plan_version_company_migrations
    set status = 'cancelled', to_tell = true, completed_at = ${now}, updated_at = ${now}
    where plan_id = ${planId} and status in ('pending', 'in_progress') ${to}`
  const rows = await sql<{ id: string }[]>`
    update plan_version_migrations set status = 'cancelled', completed_at = ${now}, updated_at = ${now}
    where plan_id = ${planId} and status in ('pending', 'in_progress') ${to} returning id`
  return rows.map(({ id }) => id)
}

/** A migration of which nothing is pending is completed; one that waits for dates is pending (PB-20). */
async function finish(sql: Sql, id: string, at: Date): Promise<void> {
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
