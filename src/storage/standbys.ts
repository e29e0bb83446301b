// A fail-over of Postgres to a standby, and the loss that it may bring.
import type { Sql } from 'postgres'

/** Standbys as the server tells of them. */
interface Replication {
  /** synchronous_commit of this connection. */
  readonly commit: string
  /** synchronous_standby_names. */
  readonly names: string
  /** Standbys and other receivers of its log that are connected. */
  readonly standbys: number
}

export async function replicationOf(sql: Sql): Promise<Replication> {
  const [row] = await sql<Replication[]>`
    select current_setting('synchronous_commit') as commit, current_setting('synchronous_standby_names') as names,
      (select count(*)::int from pg_stat_replication) as standbys`
  return row!
}

const lost =
  'what it acknowledged last: definitions, and usage and credits that the journal no longer has. ' +
  'Set synchronous_commit = on and name the standbys in synchronous_standby_names'

/** In one line; null: nothing, or there is no standby. */
export function failOverLoss({ commit, names, standbys }: Replication): string | null {
  if (commit === 'off') return `Postgres has synchronous_commit = off: a crash loses ${lost}`
  if (standbys === 0 && names === '') return null
  if (names === '') return `Postgres has standbys and none is synchronous: a fail-over may lose ${lost}`
  if (commit === 'local') return `Postgres has synchronous_commit = local: a fail-over may lose ${lost}`
  return null
}
