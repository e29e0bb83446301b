// Actor snapshots in Postgres: what a shard loads from and checkpoints to.
import type { Sql } from 'postgres'
import { apply } from '../../src/core/company.js'
import type { Fact } from '../../src/core/message.js'
import {
  type CompanySnapshot,
  decodeCompany,
  decodeUser,
  encodeCompany,
  encodeUser,
  type UserSnapshot,
} from '../../src/core/state.js'
import { applyToUser } from '../../src/core/user.js'
import { type Actor, companyActor } from './actors.js'

/** One snapshot, serialised at the instant its sequence names. */
export interface Written {
  readonly actor: Actor
  readonly sequence: number
  readonly state: string
}

/** Serialise an actor now; it may go on changing. */
export function writeSnapshot(actor: Actor): Written {
  const snapshot = actor.k === 'c' ? encodeCompany(actor.state) : encodeUser(actor.state)
  return { actor, sequence: actor.state.sequence, state: JSON.stringify(snapshot) }
}

/** A snapshot at rest. */
export interface SnapshotRow {
  readonly id: string
  readonly kind: 'c' | 'u'
  readonly environmentId: string
  readonly generation: string
  readonly sequence: number
  readonly state: string
}

/** Where snapshots are kept. */
export interface SnapshotStore {
  find(ids: readonly string[]): Promise<readonly SnapshotRow[]>
  /**
   * Keep these in place of those there were, all or none, but never an older one in place of a newer: a statement that
   * was given up may still run, after its successor.
   */
  put(rows: readonly SnapshotRow[]): Promise<void>
  /** Every fact of the shard up to this sequence is in a snapshot; never moves back. */
  checkpointed(generation: string, shard: number, sequence: number): Promise<void>
  close(): Promise<void>
}

export function postgresSnapshots(sql: Sql): SnapshotStore {
  return {
    find: async ids => sql<SnapshotRow[]>`
      select id, kind, environment_id as "environmentId", generation, sequence, state
      from snapshots where id = any(${ids as string[]}::text[])`,
    put: async rows => {
      await sql`
        insert into snapshots (id, kind, environment_id, generation, sequence, state)
        select * from unnest(
          ${rows.map(row => row.id)}::text[],
          ${rows.map(row => row.kind)}::text[],
          ${rows.map(row => row.environmentId)}::text[],
          ${rows.map(row => row.generation)}::text[],
          ${rows.map(row => row.sequence)}::bigint[],
          ${rows.map(row => row.state)}::text[])
        on conflict (id) do update set
          generation = excluded.generation, sequence = excluded.sequence, state = excluded.state
        where snapshots.generation <> excluded.generation or snapshots.sequence <= excluded.sequence`
    },
    checkpointed: async (generation, shard, sequence) => {
      await sql`
        insert into checkpoints (generation, shard, sequence) values (${generation}, ${shard}, ${sequence})
        on conflict (generation, shard) do update
        set sequence = greatest(checkpoints.sequence, excluded.sequence)`
    },
    close: () => sql.end({ timeout: 1 }),
  }
}

/** Upsert snapshots, all at once. */
export async function storeSnapshots(
  store: SnapshotStore,
  generation: string,
  written: readonly Written[],
): Promise<void> {
  if (written.length === 0) return
  await store.put(
    written.map(({ actor, sequence, state }) => ({
      id: actor.state.id,
      kind: actor.k,
      environmentId: actor.state.environmentId,
      generation,
      sequence,
      state,
    })),
  )
}

/** Actors from their snapshots; ids without one are absent from the result. */
export async function loadSnapshots(
  store: Pick<SnapshotStore, 'find'>,
  generation: string,
  ids: readonly string[],
): Promise<Map<string, Actor>> {
  const rows = await store.find(ids)
  const actors = new Map<string, Actor>()
  for (const row of rows) {
    const snapshot = JSON.parse(row.state)
    // sequences of an older generation are all before this one's first
    if (row.generation !== generation) snapshot.sequence = 0
    actors.set(
      row.id,
      row.kind === 'c'
        ? companyActor(decodeCompany(snapshot as CompanySnapshot), 0)
        : { k: 'u', state: decodeUser(snapshot as UserSnapshot), tick: 0 },
    )
  }
  return actors
}

/** Fold one fact into its actor, unless its snapshot already includes it. Same apply as live traffic. */
export function replayFact(actor: Actor, fact: Fact, sequence: number): void {
  if (sequence <= actor.state.sequence) return
  if (actor.k === 'c') for (const effect of fact.fx) apply(actor.state, effect, fact.at)
  else for (const effect of fact.fx) applyToUser(actor.state, effect, fact.at)
  actor.state.sequence = sequence
}
