// What the HTTP thread remembers, read from storage at start: positions, the directory, the idempotency window.
import type { Sql } from 'postgres'
import type { Positions } from '../journal/positions.js'
import type { ProjectedStore } from '../journal/projecting.js'
import type { Dedupe } from './dedupe.js'
import type { Directory, DirectoryKind } from './directory.js'
import type { Projections } from './projections.js'

const rowsAtOnce = 10_000

/** How far a journal has come, as the stores know it; sequences as text. */
export interface StoredPositions {
  projections(
    generation: string,
  ): Promise<readonly { shard: number; store: ProjectedStore; sequence: string; seen_sequence: string }[]>
  checkpoints(generation: string): Promise<readonly { shard: number; sequence: string }[]>
}

/** What the directory is made from, in any order but memberships, which come oldest first; some thousands at a time. */
export interface StoredEntities {
  entities(): AsyncIterable<readonly { id: string; environment_id: string }[]>
  pairs(): AsyncIterable<
    readonly {
      environment_id: string
      entity_type: DirectoryKind
      entity_id: string
      name: string
      value: string
    }[]
  >
  memberships(): AsyncIterable<readonly { user_id: string; company_id: string }[]>
}

/** What Postgres shows at start. */
export function storedIn(sql: Sql): StoredPositions & StoredEntities {
  return {
    projections: generation => sql`
      select shard, store, sequence, seen_sequence from projections where generation = ${generation}`,
    checkpoints: generation => sql`
      select shard, sequence from checkpoints where generation = ${generation}`,
    entities: () =>
      sql<{ id: string; environment_id: string }[]>`
        select id, environment_id from companies union all select id, environment_id from users`.cursor(
        rowsAtOnce,
      ),
    pairs: () =>
      sql<
        {
          environment_id: string
          entity_type: DirectoryKind
          entity_id: string
          name: string
          value: string
        }[]
      >`select environment_id, entity_type, entity_id, name, value from entity_keys`.cursor(rowsAtOnce),
    memberships: () =>
      sql<{ user_id: string; company_id: string }[]>`
        select user_id, company_id from memberships order by created_at, id`.cursor(rowsAtOnce),
  }
}

/**
 * Read the stored positions of every shard into shared memory; before the shards start, so that a journal which
 * ends before what a store holds is noticed (Positions.stored).
 */
export async function restorePositions(
  stored: StoredPositions,
  generation: string,
  positions: Positions,
): Promise<void> {
  for (const { shard, store, sequence, seen_sequence } of await stored.projections(generation)) {
    if (shard >= positions.shards) continue
    positions.set(shard, store, Number(sequence))
    if (store === 'postgres') positions.set(shard, 'seen', Number(seen_sequence))
  }
  for (const { shard, sequence } of await stored.checkpoints(generation))
    if (shard < positions.shards) positions.set(shard, 'checkpointed', Number(sequence))
}

/** Every company, user, key pair and membership that is stored. */
export async function fillDirectory(stored: StoredEntities, directory: Directory): Promise<void> {
  for await (const rows of stored.entities())
    for (const row of rows) directory.load(row.environment_id, row.id)
  for await (const rows of stored.pairs())
    for (const row of rows)
      directory.loadPair(row.entity_type, row.environment_id, row.entity_id, row.name, row.value)
  for await (const rows of stored.memberships())
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
