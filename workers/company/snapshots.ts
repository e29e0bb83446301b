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
import type { Actor } from './actors.js'

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

/** Upsert snapshots; one statement for all. Last seen times of companies and users go to their rows with it. */
export async function storeSnapshots(
  sql: Sql,
  generation: string,
  written: readonly Written[],
): Promise<void> {
  if (written.length === 0) return
  const states = written.map(one => one.actor.state)
  await sql`
    insert into snapshots (id, kind, environment_id, generation, sequence, state)
    select * from unnest(
      ${states.map(state => state.id)}::text[],
      ${written.map(one => one.actor.k)}::text[],
      ${states.map(state => state.environmentId)}::text[],
      ${written.map(() => generation)}::text[],
      ${written.map(one => one.sequence)}::bigint[],
      ${written.map(one => one.state)}::text[])
    on conflict (id) do update set
      generation = excluded.generation, sequence = excluded.sequence, state = excluded.state`
}

/** Actors from their snapshots; ids without one are absent from the result. */
export async function loadSnapshots(
  sql: Sql,
  generation: string,
  ids: readonly string[],
): Promise<Map<string, Actor>> {
  const rows = await sql<{ id: string; kind: 'c' | 'u'; generation: string; state: string }[]>`
    select id, kind, generation, state from snapshots where id = any(${ids as string[]}::text[])`
  const actors = new Map<string, Actor>()
  for (const row of rows) {
    const snapshot = JSON.parse(row.state)
    // sequences of an older generation are all before this one's first
    if (row.generation !== generation) snapshot.sequence = 0
    actors.set(
      row.id,
      row.kind === 'c'
        ? { k: 'c', state: decodeCompany(snapshot as CompanySnapshot), tick: 0 }
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
