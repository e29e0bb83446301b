// Actor snapshots in Postgres: a shard loads and checkpoints them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { isText } from '../../../src/bytes/text-cache.js'
import { apply } from '../../../src/core/company/company.js'
import { decodeCompany, decodeUser, encodeCompany, encodeUser } from '../../../src/core/company/state.js'
import { applyToUser } from '../../../src/core/company/user.js'
import type { Fact } from '../../../src/core/model/message.js'
import { SnapshotReader, snapshotText } from '../../../src/journal/records/snapshot-text.js'
import { type Actor, companyActor } from '../actors.js'

/** One snapshot, serialised at the instant its sequence names. */
export interface Written {
  readonly actor: Actor
  readonly sequence: number
  readonly state: string
}

/** Serialise an actor now; it may go on changing. */
function writeSnapshot(actor: Actor): Written {
  const snapshot = actor.k === 'c' ? encodeCompany(actor.state) : encodeUser(actor.state)
  return { actor, sequence: actor.state.sequence, state: snapshotText(snapshot) }
}

/** A snapshot at rest. */
export interface SnapshotRow {
  readonly id: string
  readonly kind: 'c' | 'u'
  readonly environmentId: string
  readonly generation: string
  readonly sequence: number
  /** As `snapshotText` writes it, or JSON where an earlier version wrote it: without line breaks. */
  readonly state: string
}

/** A snapshot as one line; its state contains no line break. */
export const snapshotLine = ({ kind, generation, state }: SnapshotRow): string =>
  `${kind}${generation} ${state}`

/** Snapshots that Postgres puts into one answer: bounded, as each may be large. */
const linesAtOnce = 200

/** Where snapshots are kept. */
export interface SnapshotStore {
  /** The existing ones, in any order: `snapshotLine` of each, separated by line breaks. */
  find(ids: readonly string[]): Promise<readonly Buffer[]>
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
    find: async ids => {
      // many at a time: as a row each costs more than to read them
      const rows = await sql`
        select string_agg(kind || generation || ' ' || state, E'\n') from (
          select kind, generation, state, (row_number() over () - 1) / ${linesAtOnce} as part
          from snapshots where id = any(${ids as string[]}::text[])
        ) found group by part`.raw()
      return rows.map(([lines]) => lines as Buffer)
    },
    put: async rows => {
      // One text: states of an earlier version have quotes, each of which would be escaped in an array of texts.
      const states = rows.map(row => row.state).join('\n')
      await sql`
        insert into snapshots (id, kind, environment_id, generation, sequence, state)
        select * from unnest(
          ${rows.map(row => row.id)}::text[],
          ${rows.map(row => row.kind)}::text[],
          ${rows.map(row => row.environmentId)}::text[],
          ${rows.map(row => row.generation)}::text[],
          ${rows.map(row => row.sequence)}::bigint[],
          string_to_array(${states}, E'\n'))
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
async function storeSnapshots(
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

/** Snapshots written by one statement. */
const snapshotsPerStatement = 500
/** Snapshots written in one turn of the loop, about a millisecond of work: requests are served in between. */
const snapshotsPerTurn = 20

/**
 * Store the snapshots of actors that are still changed when their turn comes; from then on they are not.
 *
 * durable  resolves when everything that the snapshots hold is.
 */
export async function storeChanged(
  store: SnapshotStore,
  generation: string,
  wanted: readonly Actor[],
  dirty: Set<Actor>,
  durable: () => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < wanted.length; at += snapshotsPerStatement) {
    const written: Written[] = []
    for (const actor of wanted.slice(at, at + snapshotsPerStatement)) {
      if (!dirty.has(actor)) continue
      if (written.length > 0 && written.length % snapshotsPerTurn === 0) await nextTurn()
      // Forgotten meanwhile.
      if (!dirty.delete(actor)) continue
      written.push(writeSnapshot(actor))
    }
    await durable()
    await storeSnapshots(store, generation, written)
  }
}

const reader = new SnapshotReader()
const endOfLine = 0x0a
const space = 0x20
const company = 0x63

/** Actors from their snapshots; there is none for an id without one. */
export async function loadSnapshots(
  store: Pick<SnapshotStore, 'find'>,
  generation: string,
  ids: readonly string[],
): Promise<Actor[]> {
  return [...readSnapshots(await store.find(ids), generation)]
}

/** The actors in what a store has found, each decoded when it is asked for. */
export function* readSnapshots(found: readonly Buffer[], generation: string): Generator<Actor> {
  for (const lines of found)
    for (let from = 0; from < lines.length; ) {
      const next = lines.indexOf(endOfLine, from)
      const end = next < 0 ? lines.length : next
      yield actorOf(lines, from, end, generation)
      from = end + 1
    }
}

function actorOf(lines: Buffer, from: number, end: number, generation: string): Actor {
  let state = from
  while (lines[state++] !== space);
  const actor: Actor =
    lines[from] === company
      ? companyActor(decodeCompany(reader.read('c', lines, state, end)), 0)
      : { k: 'u', state: decodeUser(reader.read('u', lines, state, end)), tick: 0 }
  // sequences of an older generation are all before this one's first
  if (!isText(generation, lines, from + 1, state - 1)) actor.state.sequence = 0
  return actor
}

/** Fold one fact into its actor, unless its snapshot already includes it. Same apply as live traffic. */
export function replayFact(actor: Actor, fact: Fact, sequence: number): void {
  if (sequence <= actor.state.sequence) return
  if (actor.k === 'c') {
    for (const effect of fact.fx) apply(actor.state, effect, fact.at)
    actor.state.timeMs = fact.at
  } else for (const effect of fact.fx) applyToUser(actor.state, effect, fact.at)
  actor.state.sequence = sequence
}
