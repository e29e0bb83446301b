// What the HTTP thread remembers, read from storage at start: the directory and the idempotency window.
import type { Sql } from 'postgres'
import type { Dedupe } from './dedupe.js'
import type { Directory, DirectoryKind } from './directory.js'
import type { Projections } from './projections.js'

const rowsAtOnce = 10_000

/** Every company, user, key pair and membership that Postgres shows. */
export async function fillDirectory(sql: Sql, directory: Directory): Promise<void> {
  const entities = sql<{ id: string; environment_id: string }[]>`
    select id, environment_id from companies union all select id, environment_id from users`
  for await (const rows of entities.cursor(rowsAtOnce))
    for (const row of rows) directory.load(row.environment_id, row.id)
  const pairs = sql<
    { environment_id: string; entity_type: DirectoryKind; entity_id: string; name: string; value: string }[]
  >`select environment_id, entity_type, entity_id, name, value from entity_keys`
  for await (const rows of pairs.cursor(rowsAtOnce))
    for (const row of rows)
      directory.loadPair(row.entity_type, row.environment_id, row.entity_id, row.name, row.value)
  const memberships = sql<{ user_id: string; company_id: string }[]>`
    select user_id, company_id from memberships order by created_at, id`
  for await (const rows of memberships.cursor(rowsAtOnce))
    for (const row of rows) directory.join(row.user_id, row.company_id)
}

/** The idempotency keys of the last 24 hours, by stored events and by the facts not projected yet. */
export async function fillDedupe(
  projections: Pick<Projections, 'claimsSince'>,
  dedupe: Dedupe,
  nowMs: number,
): Promise<void> {
  for await (const claims of projections.claimsSince(nowMs))
    for (const claim of claims)
      dedupe.load(claim.environmentId, claim.key, claim.eventId, claim.capturedAtMs, claim.receivedAtMs)
}
