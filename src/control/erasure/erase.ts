// The steps of an erasure. Each may be done again, so one that was interrupted is finished later (ER-4). All of them are
// about what was there when they began: others may go on with the keys of the entity, and an erasure ends all the same.
import type { Sql } from 'postgres'
import type { Services } from '../../kit/services.js'
import { asJson, inTransaction } from '../../kit/sql.js'
import type { Entity, Kind } from './marks.js'
import { blankAudit, type Removed, scrubClickHouse, scrubMoves, scrubNotes, scrubPostgres } from './scrub.js'

/** A row of erasures. */
export interface ErasureRow {
  readonly id: string
  readonly account_id: string
  readonly environment_id: string
  readonly kind: Kind
  readonly entity_id: string
  readonly api_key_id: string | null
  readonly marks: readonly string[] | null
  readonly removed: Removed
  readonly gone_from_backups_at: Date
  readonly requested_at: Date
  readonly erased_at: Date | null
  readonly files_clear_at: Date | null
}

/** Tables whose dead rows are cleared out afterwards, with the statistics that hold samples of them. */
const cleared = [
  'audit_logs',
  'companies',
  'company_override_notes',
  'company_overrides',
  'definition_history',
  'entity_history',
  'entity_keys',
  'entity_traits',
  'erasures',
  'listed',
  'override_changes',
  'paid_writes',
  'plan_version_migrations',
  'snapshots',
  'users',
  'webhook_events',
  'webhook_outbox',
] as const

/** Erasures under way in this process, by their entity. */
const underWay = new Map<string, Promise<ErasureRow>>()

/**
 * Run an erasure, or wait for the one of the same entity that runs here.
 *
 * work  makes its row where there is none, and finishes it.
 */
export function runErasure(
  entity: Pick<Entity, 'environmentId' | 'id'>,
  work: () => Promise<ErasureRow>,
): Promise<ErasureRow> {
  const name = `${entity.environmentId} ${entity.id}`
  const running = underWay.get(name) ?? work().finally(() => underWay.delete(name))
  underWay.set(name, running)
  return running
}

/**
 * Remove everything held of an entity.
 *
 * errors  those of the stores. The steps that were done are kept; the job that finishes erasures goes on.
 */
export async function finishErasure(services: Services, row: ErasureRow): Promise<ErasureRow> {
  const { sql, clickhouse, projections, entities, directory, shards, catalogs, audit } = services
  const entity: Entity = {
    kind: row.kind,
    id: row.entity_id,
    environmentId: row.environment_id,
    accountId: row.account_id,
  }
  let marks = row.marks ?? [entity.id]
  const removed: Removed = { ...row.removed }
  const add = (more: Removed): void => {
    for (const [place, count] of Object.entries(more)) removed[place] = (removed[place] ?? 0) + count
  }
  // events on their way reach the stores first
  await projections.barrier('postgres')
  add(await scrubNotes(sql, entity))
  await inTransaction(sql, async tx => {
    const moves = await scrubMoves(tx, entity)
    if (moves.length === 0) return
    marks = [...new Set([...marks, ...moves])]
    add({ move_filters: moves.length })
    // an erasure that is interrupted finds what mentions them later
    await tx`update erasures set marks = ${asJson(tx, marks)} where id = ${row.id}`
  })
  const isHere = directory.has(entity.environmentId, entity.id)
  if (isHere) {
    if (entity.kind === 'user') services.userSeen.drop(entity.id)
    await entities.remove(
      entity.kind,
      entity.environmentId,
      entity.id,
      services.clock.now(entity.environmentId),
    )
    add({ [entity.kind === 'company' ? 'companies' : 'users']: 1 })
  }
  await projections.barrier('postgres')
  await projections.barrierOf('clickhouse', entity.environmentId)
  // the stores have all of it now; what comes later with its keys belongs to another
  await sql`
    update erasures set removed_at = case when ${isHere} then now() else coalesce(removed_at, now()) end
    where id = ${row.id}`
  // snapshots without it take the place of those with it, and the journal lets go of what was before
  await projections.seenBarrier()
  await shards.renewJournals()
  // checks of the entity that were counted and not written yet
  await projections.sendChecks()
  const place = { accountId: entity.accountId, environmentId: entity.environmentId }
  add(await catalogs.change(place, tx => scrubPostgres(tx, row.id, entity, marks)))
  add(await scrubClickHouse(clickhouse, entity, marks))
  const { seq: last } = await audit.head()
  for (;;) {
    const rows = await blankAudit(sql, entity, marks, last)
    if (rows.length === 0) break
    add({ audit_rows: rows.length })
    await audit.record({
      kind: 'system',
      accountId: entity.accountId,
      what: 'erasure',
      resourceType: 'erasure',
      resourceId: row.id,
      detail: { rows: rows.map(String) },
    })
  }
  const [done] = await sql<ErasureRow[]>`
    update erasures set removed = ${asJson(sql, removed)}, marks = null, erased_at = now()
    where id = ${row.id} returning *`
  await clearOut(sql).catch(error => services.log.warn({ err: error }, 'dead rows wait for the next vacuum'))
  return done!
}

async function clearOut(sql: Sql): Promise<void> {
  for (const table of cleared) await sql`vacuum (analyze) ${sql(table)}`
}

/** Finish erasures that were interrupted. errors: those of Postgres; one that fails is retried in the next run. */
export async function finishErasures(services: Services): Promise<void> {
  const rows = await services.sql<ErasureRow[]>`
    select * from erasures where erased_at is null and requested_at < now() - interval '1 minute'
    order by requested_at limit 10`
  for (const row of rows)
    await runErasure({ environmentId: row.environment_id, id: row.entity_id }, () =>
      finishErasure(services, row),
    ).catch(error =>
      services.log.warn({ err: error, environment_id: row.environment_id }, 'an erasure is not finished yet'),
    )
}
