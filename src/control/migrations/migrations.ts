// Companies moving to another version of their plan: listed once every shard knows the version, moved at once or when
// their time comes, and taken up again after a stop (PB-20…24).
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { MigrationErrorCode, MigrationStrategy, PlanMoveReason } from '../../../schemas/enums.js'
import type { MigrationReply, MigrationWanted, PlanRestored } from '../../core/model/plan-messages.js'
import { Refused, type Shards } from '../../entities/shards/shards.js'
import type { Projections } from '../../recovery/projections.js'
import { inParallel } from '../../turns/in-parallel.js'
import { outcomeReason } from './reasons.js'
import {
  type AffectedCompany,
  affected,
  affectedByMove,
  affectedByRevert,
  type CompanyMigrationRow,
  type DueCompany,
  finish,
  insertCompanies,
  type MigrationRow,
} from './rows.js'
import { type MoveTerms, moveTerms, termsOf } from './terms.js'

export interface MigrationsOptions {
  readonly sql: Sql
  readonly log: Logger
  readonly shards: Pick<Shards, 'ask'>
  readonly projections: Pick<Projections, 'barrier'>
  /** The present of an environment, epoch ms. */
  readonly now: (environmentId: string) => number
  /** Whether messages sent to the shards from now on find this version of the plan. */
  readonly knows: (environmentId: string, planId: string, versionId: string) => boolean
  /** The fallback plan of an environment, which companies without a plan are on. */
  readonly fallbackPlanOf?: (environmentId: string) => string | null
  /** Whether this node is the one that does it; absent: it is. */
  readonly isHere?: () => boolean
  /** Milliseconds between searches for due work. */
  readonly everyMs?: number
  /** Milliseconds before a company without a date is asked for one again. */
  readonly undatedEveryMs?: number
}

/** Companies read, asked and written together. */
const batch = 500
/** Companies listed together. */
const listedAtOnce = 1_000
/** Companies asked at a time. */
const parallel = 128
const lookEveryMs = 5_000
/** The same among several nodes, where requests come to any of them. */
const elsewhereMs = 500
const askUndatedEveryMs = 60_000

/** Result for one company, as stored in its row. */
interface Outcome {
  readonly id: string
  readonly status: CompanyMigrationRow['status']
  readonly from: string | null
  readonly dueAtMs: number | null
  readonly agreed: boolean
  readonly error: string | null
  readonly errorCode: MigrationErrorCode | PlanMoveReason | null
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
      where (status in ('pending', 'in_progress') and paused_at is null)
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
    if (row) {
      await this.#reconcile(row)
      await this.#tellCalledOff(row)
    }
    if (!row || row.paused_at !== null || (row.status !== 'pending' && row.status !== 'in_progress')) {
      this.#askedMs.delete(id)
      return
    }
    // A version the shards may not have yet would be refused: there is a next time.
    const { environment_id: environmentId, kind } = row
    if (kind !== 'revert' && !this.#options.knows(environmentId, row.plan_id, row.plan_version_id_to)) return
    if (row.listed_at === null) {
      await this.#list(row)
      return this.#work(id) // it may have been called off meanwhile
    }
    const terms = new Map<string, MoveTerms>()
    const undated = this.#asksUndated(row)
    for (let after = ''; ; ) {
      const due = await this.#due(row, after, undated)
      if (due.length === 0 || this.#stopping) break
      const ids = due.flatMap(one => (one.asked_at === null ? one.id : []))
      if (ids.length > 0)
        await sql`
          update plan_version_company_migrations set asked_at = ${new Date(now(environmentId))}
          where id = any(${ids}::text[])`
      await this.#note(row, await this.#verified(row, due, await this.#ask(row, terms, due)))
      after = due.at(-1)!.id
    }
    await finish(sql, row.id, new Date(now(row.environment_id)))
  }

  /**
   * Companies that were asked, and whose answer was not noted: by a kill, or because time alone moved them since. Their deeds
   * have the migration's name in the journal, and so in their plan changes: none is asked to do it twice (MI-12).
   */
  async #reconcile({ id, environment_id: environmentId }: MigrationRow): Promise<void> {
    const { sql, projections, now } = this.#options
    const open = sql`
      c.migration_id = ${id} and c.asked_at is not null and (c.status = 'pending' or (c.status = 'cancelled' and c.to_tell))`
    const [asked] = await sql`select 1 from plan_version_company_migrations c where ${open} limit 1`
    if (!asked) return
    await projections.barrier('postgres')
    const at = new Date(now(environmentId))
    await sql`
      update plan_version_company_migrations c
      set status = 'completed', to_tell = false, error = null, error_code = null,
        started_at = coalesce(c.started_at, p.created_at), completed_at = p.created_at, updated_at = ${at}
      from plan_changes p
      where p.migration_id = ${id} and p.company_id = c.company_id and ${open}`
  }

  /**
   * Time alone moves a company that has agreed, as soon as anybody asks it: then the question finds it moved and is answered as
   * by one that has left. Its plan change says whose doing that was.
   */
  async #verified(
    { id }: MigrationRow,
    due: readonly DueCompany[],
    outcomes: readonly Outcome[],
  ): Promise<readonly Outcome[]> {
    const before = new Map(due.flatMap(one => (one.asked_at === null ? [] : [[one.id, one.company_id]])))
    const doubtful = outcomes.filter(one => one.status === 'skipped' && before.has(one.id))
    if (doubtful.length === 0) return outcomes
    await this.#options.projections.barrier('postgres')
    const ids = doubtful.map(one => before.get(one.id)!)
    const rows = await this.#options.sql<{ company_id: string }[]>`
      select company_id from plan_changes where migration_id = ${id} and company_id = any(${ids}::text[])`
    const moved = new Set(rows.map(row => row.company_id))
    return outcomes.map(one =>
      moved.has(before.get(one.id) ?? '')
        ? { ...one, status: 'completed', error: null, errorCode: null }
        : one,
    )
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
    // MI-21: what a company has agreed to must not happen while it is paused
    else if (row.paused_at !== null)
      await sql`
        update plan_version_company_migrations set agreed = false, to_tell = true
        where migration_id = ${row.id} and status = 'pending' and agreed`
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
      const companies = await this.#affected(row, after)
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

  #affected(row: MigrationRow, after: string): Promise<readonly AffectedCompany[]> {
    const { sql, fallbackPlanOf } = this.#options
    switch (row.kind) {
      case 'migration':
        return affected(sql, row, after, listedAtOnce)
      case 'move':
        return affectedByMove(
          sql,
          {
            environmentId: row.environment_id,
            versionId: row.plan_version_id_to,
            filter: row.filter ?? {},
            fallbackPlanId: fallbackPlanOf?.(row.environment_id) ?? null,
          },
          after,
          listedAtOnce,
        )
      case 'revert':
        return affectedByRevert(sql, row.reverts_id!, after, listedAtOnce)
    }
  }

  /**
   * Companies whose turn is now: those that move at once, whose date has come, that have none yet (`undated`), or that
   * have changed their version since they agreed.
   */
  #due(row: MigrationRow, after: string, undated: boolean): Promise<readonly DueCompany[]> {
    const { sql, now } = this.#options
    const moved = sql`(
      select p.moved from plan_changes p
      where p.migration_id = ${row.reverts_id} and p.company_id = plan_version_company_migrations.company_id
        and p.moved is not null
      order by p.created_at desc limit 1)`
    return sql<DueCompany[]>`
      select *, ${row.kind === 'revert' ? moved : sql`null::jsonb`} as moved from plan_version_company_migrations
      where migration_id = ${row.id} and status = 'pending' and id > ${after}
        and exists (
          select 1 from plan_version_migrations m
          where m.id = ${row.id} and m.paused_at is null and m.status <> 'cancelled')
        and (${row.strategy === 'immediate'} or forced or (${undated || row.strategy === 'scheduled'} and due_at is null)
          or due_at <= ${new Date(now(row.environment_id))}
          or (agreed and not exists (
            select 1 from company_plans p where p.company_id = plan_version_company_migrations.company_id
              and p.version_id = plan_version_id_from)))
      order by id limit ${batch}`
  }

  async #ask(
    row: MigrationRow,
    terms: Map<string, MoveTerms>,
    due: readonly DueCompany[],
  ): Promise<readonly Outcome[]> {
    const { sql } = this.#options
    const outcomes: Outcome[] = []
    const left = row.kind === 'revert' ? [] : new Set(due.map(one => one.plan_id ?? ''))
    const missing = [...left].filter(planId => !terms.has(planId))
    for (const [planId, some] of await termsFor(sql, row, missing)) terms.set(planId, some)
    await inParallel(due, parallel, async one => void outcomes.push(...(await this.#askOne(row, terms, one))))
    return outcomes
  }

  /** Result for one company; nothing when a store was away: the next round repeats it. */
  async #askOne(
    row: MigrationRow,
    terms: ReadonlyMap<string, MoveTerms>,
    one: DueCompany,
  ): Promise<readonly Outcome[]> {
    const { shards, now, log } = this.#options
    const message = messageOf(row, terms, one)
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
      if (reply.outcome === 'scheduled')
        return [told('pending', { dueAtMs: reply.effectiveAtMs, agreed: reply.fromVersionId !== null })]
      return [told(reply.outcome, outcomeReason(row.kind, reply))]
    } catch (error) {
      if (!(error instanceof Refused)) {
        log.warn({ err: error, company_id: one.company_id }, 'a company waits for its migration')
        return []
      }
      const reason = error.refusal === 'not_found' ? 'company_deleted' : 'not_assignable'
      const outcome = reason === 'company_deleted' ? 'skipped' : 'failed'
      return [told(outcome, outcomeReason(row.kind, { outcome, reason }, error.message))]
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

/** The message to one company. */
function messageOf(
  row: MigrationRow,
  terms: ReadonlyMap<string, MoveTerms>,
  one: DueCompany,
): MigrationWanted | PlanRestored {
  const cause = {
    action: row.kind === 'migration' ? ('plan_version_migration' as const) : ('migration' as const),
    actorType: row.api_key_id === null ? ('system' as const) : ('api_key' as const),
    apiKeyId: row.api_key_id,
  }
  if (row.kind === 'revert')
    return {
      type: 'restore_plan',
      migrationId: row.id,
      moved: one.moved ?? nothingMoved,
      proration: row.proration_behavior,
      cause,
    }
  const planId = one.plan_id ?? ''
  return {
    type: 'migrate_plan',
    migrationId: row.id,
    planId,
    versionId: row.plan_version_id_to,
    fromVersionIds: row.plan_version_ids_from,
    when: row.strategy === 'immediate' || one.forced ? 'now' : deferred(row.strategy),
    dueMs: (row.scheduled_at ?? one.due_at)?.getTime() ?? null,
    // a move that a change of versions has voided is agreed anew: the company is still on the plan
    agreed: row.kind === 'migration' && one.agreed,
    proration: row.proration_behavior,
    ...terms.get(planId)!,
    cause,
  }
}

/** For a company that no change of plans names: it stays as it is. */
const nothingMoved = { was: null, is: null, subscription: null, prices: {}, added: [] }

/** The terms of each plan that companies leave. */
async function termsFor(
  sql: Sql,
  row: MigrationRow,
  planIds: readonly string[],
): Promise<ReadonlyMap<string, MoveTerms>> {
  if (planIds.length === 0) return new Map()
  const { environment_id: environmentId, plan_id: toPlanId, plan_version_id_to: versionId } = row
  if (row.kind !== 'migration')
    return moveTerms(sql, { environmentId, toPlanId, versionId, priceId: row.price_id }, planIds)
  const terms = await termsOf(sql, toPlanId, versionId)
  return new Map(planIds.map(planId => [planId, terms]))
}

const deferred = (strategy: MigrationStrategy) =>
  strategy === 'scheduled' ? ('scheduled' as const) : ('period_end' as const)
