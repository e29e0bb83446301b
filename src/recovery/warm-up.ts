// State of the HTTP thread, read from storage at start: positions, the directory, the idempotency window.
import type { Sql } from 'postgres'
import type { StoredClaims } from '../analytics/history.js'
import type { TraitRegistry } from '../catalog/traits.js'
import type { Fact } from '../core/model/message.js'
import type { Directory, DirectoryKind } from '../entities/directory/directory.js'
import { type Dedupe, windowMs } from '../entities/idempotency/dedupe.js'
import type { HoldKeys } from '../entities/idempotency/hold-keys.js'
import type { Positions } from '../wire/positions.js'
import type { ProjectedStore } from '../wire/projector-messages.js'
import { type ClaimSink, type DoublePair, type Journals, readTail, type Tail } from './journal-tail.js'
import type { Phases } from './start-phases.js'

/** Blocks of a table read by one statement, and memberships. */
const blocksAtOnce = 1_024
const rowsAtOnce = 10_000

/** How far a journal has come, as the stores know it; sequences as text. */
export interface StoredPositions {
  projections(
    generation: string,
  ): Promise<readonly { shard: number; store: ProjectedStore; sequence: string; seen_sequence: string }[]>
  checkpoints(generation: string): Promise<readonly { shard: number; sequence: string }[]>
}

/** Whether no other journals than these were ever brought into the stores. */
export async function isFirstGeneration(sql: Sql, generation: string): Promise<boolean> {
  const others = await sql`select 1 from projections where generation <> ${generation} limit 1`
  return others.length === 0
}

/** Entities of an environment. */
interface StoredIds {
  readonly environment_id: string
  readonly ids: readonly string[]
}

/** Pairs of one name in an environment: `values[i]` is that of `ids[i]`. */
interface StoredPairs {
  readonly environment_id: string
  readonly entity_type: DirectoryKind
  readonly name: string
  readonly ids: readonly string[]
  readonly values: readonly string[]
}

/** Source of the directory, in any order but memberships, which come oldest first; some thousands at a time. */
export interface StoredEntities {
  entities(): AsyncIterable<readonly StoredIds[]>
  pairs(): AsyncIterable<readonly StoredPairs[]>
  memberships(): AsyncIterable<readonly { user_id: string; company_id: string }[]>
}

/** The directory's source in Postgres at start. */
export function storedIn(sql: Sql): StoredPositions & StoredEntities {
  return {
    projections: generation => sql`
      select shard, store, sequence, seen_sequence from projections where generation = ${generation}`,
    checkpoints: generation => sql`
      select shard, sequence from checkpoints where generation = ${generation}`,
    entities: async function* () {
      for (const table of ['companies', 'users'])
        yield* inBlocks(
          sql,
          table,
          (tx, from, until) => tx<StoredIds[]>`
            select environment_id, json_agg(id) as ids from ${tx(table)}
            where ctid >= ${from}::tid and ctid < ${until}::tid group by environment_id`,
        )
    },
    pairs: () =>
      inBlocks(
        sql,
        'entity_keys',
        (tx, from, until) => tx<StoredPairs[]>`
          select environment_id, entity_type, name, json_agg(entity_id) as ids, json_agg(value) as values
          from entity_keys where ctid >= ${from}::tid and ctid < ${until}::tid
          group by environment_id, entity_type, name`,
      ),
    memberships: () =>
      sql<{ user_id: string; company_id: string }[]>`
        select user_id, company_id from memberships order by created_at, id`.cursor(rowsAtOnce),
  }
}

/**
 * A whole table as it is at one moment, a stretch of its blocks by each statement: so that rows can be put together
 * there, which costs a tenth of reading each by itself here, and none of it has to be kept or sorted.
 */
async function* inBlocks<Row extends object>(
  sql: Sql,
  table: string,
  ask: (sql: Sql, from: string, until: string) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  const tx = await sql.reserve()
  try {
    await tx`begin isolation level repeatable read read only`
    const [size] = await tx<{ blocks: number }[]>`
      select ceil(pg_relation_size(${table}::regclass)::float8 / current_setting('block_size')::int) as blocks`
    for (let from = 0; from < size!.blocks; from += blocksAtOnce)
      yield await ask(tx, `(${from},0)`, `(${from + blocksAtOnce},0)`)
  } finally {
    await tx`rollback`.catch(() => {})
    tx.release()
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

/**
 * Every company, user, key pair and membership that is stored.
 *
 * returns  pairs that two entities are shown with: the rows of one lag behind its journal.
 */
async function fillDirectory(stored: StoredEntities, directory: Directory): Promise<readonly DoublePair[]> {
  const doubles: DoublePair[] = []
  for await (const rows of stored.entities())
    for (const { environment_id, ids } of rows) for (const id of ids) directory.load(environment_id, id)
  for await (const rows of stored.pairs())
    for (const { entity_type: kind, environment_id, name, ids, values } of rows)
      for (let i = 0; i < ids.length; i++) {
        const [id, value] = [ids[i]!, values[i]!]
        const other = directory.loadPair(kind, environment_id, id, name, value)
        if (other !== null && other !== id)
          doubles.push({ kind, environmentId: environment_id, name, value, owners: [other, id] })
      }
  for await (const rows of stored.memberships())
    for (const row of rows) directory.join(row.user_id, row.company_id)
  return doubles
}

/** Idempotency keys whose window is open, in any order. */
export async function fillWindow(stored: StoredClaims, dedupe: Dedupe): Promise<void> {
  dedupe.reserve(await stored.count())
  for await (const claims of stored.pages()) dedupe.loadPacked(claims)
}

/**
 * Everything the HTTP thread must know before it serves, from the stores and the ends of the journals at once: no
 * projector is waited for, and none may run meanwhile.
 *
 * nowMs   the wall clock: keys received 24 hours before it are free.
 * returns what happened to entities lately, and since when all claims are known (`Tail.claimsSinceMs`).
 * errors  store_away; JournalCorrupt.
 * source  EV-25, EV-26.
 */
export async function fillMemory(
  from: {
    readonly journals: Journals
    readonly entities: StoredEntities
    /** Keys received at or after an instant. */
    readonly claims: (sinceMs: number) => StoredClaims
    /** The present of each environment that has a test clock, epoch ms. */
    readonly presents?: ReadonlyMap<string, number>
    /** Keys of an environment whose test clock is behind, from an instant on and until another one. */
    readonly claimsBehind?: (environmentId: string, fromMs: number, untilMs: number) => AsyncIterable<Buffer>
    /** ClickHouse, which has the claims, is away: the journals are read for them instead. As of `ClaimSink`. */
    readonly claimsIn?: ClaimSink['all']
    /** Reads the keys of holds that are stored into their memory. */
    readonly holdKeys: () => Promise<void>
  },
  memory: {
    readonly directory: Directory
    readonly dedupe: Dedupe
    readonly traits: TraitRegistry
    readonly holdKeys: Pick<HoldKeys, 'know'>
  },
  nowMs: number,
  phases: Phases,
): Promise<Tail> {
  const { directory, dedupe, traits, holdKeys } = memory
  const all = from.claimsIn
  const opened = nowMs - windowMs
  const { presents = new Map<string, number>(), claimsBehind } = from
  dedupe.loadAt(nowMs, presents)
  const [tail, doubles] = await allOf([
    phases.time('tail', () =>
      readTail(from.journals, {
        all,
        expect: claims => dedupe.reserve(claims),
        claim: (claim, receivedAtMs) => {
          const { environmentId, key, eventHigh, eventLow, capturedAtMs, print } = claim
          dedupe.loadWords(environmentId, key, eventHigh, eventLow, capturedAtMs, receivedAtMs, print)
        },
      }),
    ),
    phases.time('directory', () => fillDirectory(from.entities, directory)),
    phases.time('window', async () =>
      all !== undefined ? undefined : fillWindow(from.claims(opened), dedupe),
    ),
    phases.time('behind', async () => {
      if (all !== undefined || claimsBehind === undefined) return
      for (const [environmentId, presentMs] of presents) {
        if (presentMs >= nowMs) continue
        const claims = claimsBehind(environmentId, presentMs - windowMs, Math.min(presentMs, opened))
        for await (const some of claims) dedupe.loadPacked(some)
      }
    }),
    phases.time('holds', from.holdKeys),
  ])
  tail.applyTo(directory, doubles)
  for (const used of tail.holdKeys) holdKeys.know(used)
  for (const [environmentId, kind, { name, hierarchy, traitType }] of tail.traits())
    if (!traits.isFull(environmentId, kind)) traits.introduce(environmentId, kind, name, hierarchy, traitType)
  return tail
}

/** All results, once all have ended; the first error when one has failed. */
export async function allOf<const T extends readonly Promise<unknown>[]>(
  work: T,
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

interface Remembered {
  readonly directory: Directory
  readonly dedupe: Dedupe
}

/** Apply facts that a shard which died may have made durable without a reply; it found them in its journal. */
export function rememberAgain({ directory, dedupe }: Remembered, facts: readonly Fact[]): void {
  for (const fact of facts) {
    directory.replay(fact)
    if (fact.ik) dedupe.confirm(fact.env, fact.ik[0])
  }
}
