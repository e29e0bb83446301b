// Companies moving to another version of their plan: listed once every shard knows the version, moved at once or when
// their time comes, and taken up again after a stop (PB-20…24).
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { MigrationErrorCode } from '../../schemas/enums.js'
import { cadences, type StoredPrice } from '../catalog/prices.js'
import { derivedId } from '../core/id.js'
import type { Commitment, MigrationReply, MigrationWanted } from '../core/plan-change.js'
import type { Projections } from './projections.js'
import { Refused, type Shards } from './shards.js'

/** A row of plan_version_migrations. */
export interface MigrationRow {
  readonly id: string
  readonly environment_id: string
  readonly plan_id: string
  readonly plan_version_id_to: string
  readonly plan_version_ids_from: readonly string[]
  readonly strategy: 'end_of_billing_period' | 'immediate' | 'leave'
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
  /** Whether what is sent to the shards from now on meets this version of the plan. */
  readonly knows: (environmentId: string, planId: string, versionId: string) => boolean
  /** Milliseconds between looks for what is due. */
  readonly everyMs?: number
  /** Milliseconds before a company that has no date is asked for one again. */
  readonly undatedEveryMs?: number
}

/** Companies read, asked and written together. */
const batch = 500
/** Companies asked at a time. */
const parallel = 128
const lookEveryMs = 5_000
const askUndatedEveryMs = 60_000

/** What became of one company, as its row is told. */
interface Outcome {
  readonly id: string
  readonly status: CompanyMigrationRow['status']
  readonly from: string | null
  readonly dueAtMs: number | null
  readonly error: string | null
  readonly errorCode: MigrationErrorCode | null
}

/**
 * The one who sees migrations through.
 *
 * A migration is a row, written in the transaction that publishes; its companies are rows too, so that a stop at any
 * moment loses nothing: what was asked and not noted is asked again, and the company answers that it is done.
 */
export class Migrations {
  readonly #options: MigrationsOptions
  /** Migrations being worked on, so that nobody works on one twice at a time. */
  readonly #running = new Map<string, Promise<void>>()
  /** When the companies of a migration that have no date were last asked for one, by the wall clock. */
  readonly #askedMs = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> = Promise.resolve()
  #stopping = false

  constructor(options: MigrationsOptions) {
    this.#options = options
  }

  /** Take up what is open, now and from time to time. */
  start(): void {
    const look = () => {
      this.#looking = this.#look().catch(error => {
        if (!this.#stopping) this.#options.log.warn({ err: error }, 'migrations wait for a store')
      })
      void this.#looking.then(() => {
        if (this.#stopping) return
        this.#timer = setTimeout(look, this.#options.everyMs ?? lookEveryMs)
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
   * returns  once nothing is left to do now; what waits for a date goes on by itself.
   * errors   of the stores; the work is taken up again later.
   */
  run(migrationId: string): Promise<void> {
    const running = this.#running.get(migrationId)
    // Whoever is at it may have passed what this caller changed: it is gone through once more.
    const work = (running ?? Promise.resolve()).catch(() => {}).then(() => this.#work(migrationId))
    this.#running.set(migrationId, work)
    const done = () => {
      if (this.#running.get(migrationId) === work) this.#running.delete(migrationId)
    }
    work.then(done, done)
    return work
  }

  async #look(): Promise<void> {
    const rows = await this.#options.sql<{ id: string }[]>`
      select id from plan_version_migrations where status in ('pending', 'in_progress') order by created_at, id`
    for (const { id } of rows) {
      if (this.#stopping) return
      if (!this.#running.has(id)) await this.run(id)
    }
  }

  async #work(id: string): Promise<void> {
    const { sql, now } = this.#options
    const [row] = await sql<MigrationRow[]>`select * from plan_version_migrations where id = ${id}`
    if (!row || (row.status !== 'pending' && row.status !== 'in_progress')) {
      this.#askedMs.delete(id)
      return
    }
    // A version the shards may not have yet would be refused: there is a next time.
    if (!this.#options.knows(row.environment_id, row.plan_id, row.plan_version_id_to)) return
    if (row.listed_at === null) await this.#list(row)
    const terms = await termsOf(sql, row)
    const undated = this.#asksUndated(row)
    for (let after = ''; ; ) {
      const due = await this.#due(row, after, undated)
      if (due.length === 0 || this.#stopping) break
      await this.#note(row, await this.#ask(row, terms, due))
      after = due.at(-1)!.id
    }
    await finish(sql, row.id, new Date(now(row.environment_id)))
  }

  /** Whether it is time to ask companies that have no date. */
  #asksUndated({ id }: MigrationRow): boolean {
    const every = this.#options.undatedEveryMs ?? askUndatedEveryMs
    if (Date.now() - (this.#askedMs.get(id) ?? 0) < every) return false
    this.#askedMs.set(id, Date.now())
    return true
  }

  /**
   * List the companies of a migration. Every shard has the new version by now, so after the barrier nobody on an older
   * one is missing from Postgres, and nobody comes to it any more.
   */
  async #list(row: MigrationRow): Promise<void> {
    const { sql, projections, now } = this.#options
    await projections.barrier('postgres')
    const at = new Date(now(row.environment_id))
    for (let after = ''; ; ) {
      const companies = await affected(sql, row, after, 1_000)
      if (companies.length === 0) break
      await insertCompanies(sql, row, companies, at)
      after = companies.at(-1)!.company_id
    }
    await sql`
      update plan_version_migrations set listed_at = ${at}, started_at = coalesce(started_at, ${at}),
        status = 'in_progress', updated_at = ${at}
      where id = ${row.id} and listed_at is null`
  }

  /** Companies to ask now: those that are to move at once, whose date has come, or (`undated`) that have none yet. */
  #due(row: MigrationRow, after: string, undated: boolean): Promise<readonly CompanyMigrationRow[]> {
    const { sql, now } = this.#options
    return sql<CompanyMigrationRow[]>`
      select * from plan_version_company_migrations
      where migration_id = ${row.id} and status = 'pending' and id > ${after}
        and (${row.strategy === 'immediate'} or forced or (${undated} and due_at is null)
          or due_at <= ${new Date(now(row.environment_id))})
      order by id limit ${batch}`
  }

  async #ask(
    row: MigrationRow,
    terms: Terms,
    due: readonly CompanyMigrationRow[],
  ): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    let next = 0
    const worker = async () => {
      for (let one = due[next++]; one !== undefined; one = due[next++])
        outcomes.push(...(await this.#askOne(row, terms, one)))
    }
    await Promise.all(Array.from({ length: Math.min(parallel, due.length) }, worker))
    return outcomes
  }

  /** What became of one company; nothing when a store was away: it is asked again. */
  async #askOne(row: MigrationRow, terms: Terms, one: CompanyMigrationRow): Promise<readonly Outcome[]> {
    const { shards, now, log } = this.#options
    const message: MigrationWanted = {
      type: 'migrate_plan',
      migrationId: row.id,
      planId: row.plan_id,
      versionId: row.plan_version_id_to,
      fromVersionIds: row.plan_version_ids_from,
      when: row.strategy === 'immediate' || one.forced ? 'now' : 'period_end',
      priceIds: terms.priceIds,
      commitments: terms.commitments,
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
      if (reply.outcome !== 'scheduled') return [told(reply.outcome)]
      return reply.effectiveAtMs === null ? [] : [told('pending', { dueAtMs: reply.effectiveAtMs })]
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
      ended_at: one.status === 'pending' ? null : at,
    }))
    await sql`
      update plan_version_company_migrations as row
      set status = told.status, due_at = told.due_at, error = told.error, error_code = told.error_code,
        started_at = coalesce(row.started_at, told.ended_at), completed_at = told.ended_at, updated_at = ${at}
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
        as told(id text, status text, due_at timestamptz, error text, error_code text, ended_at timestamptz)
      where row.id = told.id and row.status = 'pending'`
  }
}

/** What a move to a version means for each company alike. */
interface Terms {
  readonly priceIds: Readonly<Record<string, string>>
  readonly commitments: readonly Commitment[]
}

async function termsOf(sql: Sql, row: MigrationRow): Promise<Terms> {
  const versions = await sql<{ id: string; prices: readonly StoredPrice[]; custom: boolean }[]>`
    select v.id, v.prices, p.company_id is not null as custom
    from plan_versions v join plans p on p.id = v.plan_id where v.plan_id = ${row.plan_id}`
  const to = versions.find(version => version.id === row.plan_version_id_to)
  if (!to) return { priceIds: {}, commitments: [] }
  return {
    priceIds: successors(versions, to.prices),
    commitments: to.custom ? await commitmentsOf(sql, to.id) : [],
  }
}

/** For each price of any version, the one of the same currency and cadence that takes its place (EN-97). */
function successors(
  versions: readonly { readonly prices: readonly StoredPrice[] }[],
  to: readonly StoredPrice[],
): Record<string, string> {
  const place = (price: StoredPrice) => `${price.currency} ${cadences.indexOf(price.cadence)}`
  const next = new Map(to.map(price => [place(price), price.id]))
  const found: Record<string, string> = {}
  for (const { prices } of versions)
    for (const price of prices) {
      const id = next.get(place(price))
      if (id !== undefined && id !== price.id) found[price.id] = id
    }
  return found
}

/** What a version of a custom plan commits its company to (EN-35). */
export async function commitmentsOf(sql: Sql, versionId: string): Promise<readonly Commitment[]> {
  const rows = await sql<{ trait: string; quantity: string }[]>`
    select t.name as trait, e.usage_quantity as quantity
    from plan_entitlements e join trait_definitions t on t.id = e.value_trait_id
    where e.plan_version_id = ${versionId} and e.price_behavior = 'pay_in_advance' and e.usage_quantity > 0
    order by t.name`
  return rows.map(row => ({ trait: row.trait, atLeast: Number(row.quantity) }))
}

/** A migration before it has begun. */
export interface NewMigration {
  readonly id: string
  readonly environmentId: string
  readonly planId: string
  readonly versionId: string
  readonly fromVersionIds: readonly string[]
  readonly strategy: MigrationRow['strategy']
  readonly prorationBehavior: MigrationRow['proration_behavior']
  /** Null: every company. */
  readonly companyIds: readonly string[] | null
  readonly excludedCompanyIds: readonly string[]
  readonly apiKeyId: string | null
}

/** Write a migration; `run` begins it. Proration at a period's end is always none (PB-22). */
export async function insertMigration(sql: Sql, migration: NewMigration, nowMs: number): Promise<void> {
  const now = new Date(nowMs)
  const { strategy } = migration
  const proration = strategy === 'immediate' ? (migration.prorationBehavior ?? 'create_prorations') : 'none'
  await sql`
    insert into plan_version_migrations ${sql({
      id: migration.id,
      environment_id: migration.environmentId,
      plan_id: migration.planId,
      plan_version_id_to: migration.versionId,
      plan_version_ids_from: sql.json([...migration.fromVersionIds]),
      strategy,
      proration_behavior: proration,
      company_ids: migration.companyIds && sql.json([...migration.companyIds]),
      excluded_company_ids: sql.json([...migration.excludedCompanyIds]),
      status: 'pending',
      api_key_id: migration.apiKeyId,
      created_at: now,
      updated_at: now,
    })}`
}

/** What decides which companies a migration is of. */
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

async function insertCompanies(
  sql: Sql,
  row: MigrationRow,
  companies: Awaited<ReturnType<typeof affected>>,
  at: Date,
): Promise<void> {
  const rows = companies.map(one => ({
    id: derivedId('pvcm_', row.id, one.company_id),
    company_id: one.company_id,
    from: one.version_id,
  }))
  await sql.begin(async tx => {
    await tx`
      insert into plan_version_company_migrations (id, environment_id, migration_id, company_id, plan_id,
        plan_version_id_from, plan_version_id_to, status, created_at, updated_at)
      select id, ${row.environment_id}, ${row.id}, company_id, ${row.plan_id}, "from", ${row.plan_version_id_to},
        'pending', ${at}, ${at}
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as made(id text, company_id text, "from" text)
      on conflict do nothing`
    // PB-23: the newer one counts.
    await tx`
      update plan_version_company_migrations set status = 'cancelled', completed_at = ${at}, updated_at = ${at}
      where plan_id = ${row.plan_id} and migration_id <> ${row.id} and status = 'pending'
        and company_id = any(${companies.map(one => one.company_id)}::text[])`
  })
}

/** Call off what is open to a version that is gone, or (`versionId` null) of a plan that is. */
export async function abandonMigrations(
  sql: Sql,
  planId: string,
  versionId: string | null,
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs)
  const to = versionId === null ? sql`` : sql`and plan_version_id_to = ${versionId}`
  for (const table of ['plan_version_company_migrations', 'plan_version_migrations'])
    await sql`
      update ${sql(table)} set status = 'cancelled', completed_at = ${now}, updated_at = ${now}
      where plan_id = ${planId} and status in ('pending', 'in_progress') ${to}`
}

/** A migration of which nothing is pending is completed; one that waits for dates is pending (PB-20). */
async function finish(sql: Sql, id: string, at: Date): Promise<void> {
  await sql`
    update plan_version_migrations as m
    set status = case
        when o.pending > 0 then case when m.strategy = 'immediate' then 'in_progress' else 'pending' end
        when o.failed > 0 then 'failed' else 'completed' end,
      completed_at = case when o.pending > 0 then null else ${at}::timestamptz end,
      error = case when o.pending = 0 and o.failed > 0 then o.failed || ' companies could not be moved' end,
      updated_at = ${at}
    from (select count(*) filter (where status in ('pending', 'in_progress')) as pending,
        count(*) filter (where status = 'failed') as failed
      from plan_version_company_migrations where migration_id = ${id}) as o
    where m.id = ${id} and m.status in ('pending', 'in_progress')`
}
