// The point a backup is taken at: one moment at which both stores and the journals agree, kept readable while
// everything goes on.
//
//   hold checkpoints ─▶ hold projectors ─▶ ends of the journals ─▶ snapshot of Postgres ─▶ clones of ClickHouse ─▶ go on
//
// The stores then hold nothing beyond those ends, what they lack of them is in the journals, and definitions are at
// least as new as every fact up to there.
import type { TransactionSql } from 'postgres'
import type { Shards } from '../entities/shards/shards.js'
import { ServiceError } from '../errors.js'
import type { Sequence } from '../journal/journal.js'
import type { ClickHouse, ClickHouseAddress } from '../storage/clickhouse.js'
import { cloneTables, type DumpedTable, dropClones } from '../storage/dump.js'
import { closePostgres, openPostgres, type PostgresAddress } from '../storage/postgres.js'
import type { Positions } from '../wire/positions.js'
import type { Projections } from './projections.js'

/** Data with which another process reads a backup; plain data. It gives access to both stores. */
export interface BackupPoint {
  readonly takenAtMs: number
  readonly generation: string
  /** Where each shard's journal ends, in the backup. */
  readonly committed: readonly Sequence[]
  readonly postgres: PostgresAddress
  /** Named to `set transaction snapshot`. */
  readonly snapshot: string
  readonly clickhouse: ClickHouseAddress
  /** Tables of ClickHouse, each with a clone. */
  readonly tables: readonly DumpedTable[]
}

/** A point that is kept until it is ended. */
export interface KeptPoint {
  readonly point: BackupPoint
  /**
   * The journals are read: they may be trimmed again.
   *
   * errors  Error when a shard did not hold still all the time.
   */
  journalRead(): Promise<void>
  /** Forget the point: its snapshot and clones. Never rejects. */
  end(): Promise<void>
}

interface BackupParts {
  readonly shards: Pick<Shards, 'hold'>
  readonly projections: Pick<Projections, 'hold' | 'release'>
  readonly positions: Positions
  readonly generation: string
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouse
  readonly clickhouseAddress: ClickHouseAddress
  /** Writes acknowledged data that is not in a store yet. */
  readonly flush: () => Promise<unknown>
}

/** Longest wait for a chunk that is on its way to ClickHouse, and for a transaction to Postgres. */
const chunkMs = 60_000
const transactionMs = 10_000

/**
 * Find the point. Events and checks go on all the while; changes that wait for their row in Postgres wait a moment
 * longer, lists of events until the clones are made.
 *
 * errors   store_away (503) when a store is; Error when a thread died meanwhile. Everything goes on then, too.
 */
export async function keepPoint(parts: BackupParts): Promise<KeptPoint> {
  const { shards, clickhouse } = parts
  await parts.flush()
  await dropClones(clickhouse)
  let snapshot: Snapshot | null = null
  const end = async (): Promise<void> => {
    await Promise.allSettled([
      shards.hold('nothing'),
      snapshot?.close(),
      dropClones(clickhouse).catch(() => {}),
    ])
  }
  try {
    mustHave(await shards.hold('snapshots'), 'nothing')
    const found = await stillMoment(parts, opened => {
      snapshot = opened
    })
    mustHave(await shards.hold('journal'), 'snapshots')
    return {
      point: found,
      journalRead: async () => mustHave(await shards.hold('nothing'), 'journal'),
      end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** Both stores and the journals' ends at one moment. */
async function stillMoment(parts: BackupParts, keep: (snapshot: Snapshot) => void): Promise<BackupPoint> {
  const { projections, positions, generation } = parts
  let released = false
  try {
    // first what may take long: a chunk under way
    await projections.hold('clickhouse', chunkMs)
    await projections.hold('postgres', transactionMs)
    const takenAtMs = Date.now()
    const committed = Array.from({ length: positions.shards }, (_, shard) =>
      positions.get(shard, 'committed'),
    )
    const snapshot = await openSnapshot(parts.postgres)
    keep(snapshot)
    await mustBeWhole(snapshot.sql, generation)
    const tables = await cloneTables(parts.clickhouse)
    const held = projections.release()
    released = true
    if (held.length !== 2) throw new ServiceError('starting', 'The projectors restart; try again')
    return {
      takenAtMs,
      generation,
      committed,
      postgres: parts.postgres,
      snapshot: snapshot.name,
      clickhouse: parts.clickhouseAddress,
      tables,
    }
  } finally {
    if (!released) projections.release()
  }
}

/** A chunk that ClickHouse may hold in part is in no backup: only its own tokens can tell which part. */
async function mustBeWhole(sql: TransactionSql, generation: string): Promise<void> {
  const [begun] = await sql`
    select 1 from projections where generation = ${generation} and store = 'clickhouse' and chunk_upto is not null`
  if (begun !== undefined) throw new ServiceError('store_away', 'ClickHouse is away or behind; try again')
}

function mustHave(former: readonly string[], wanted: string): void {
  if (former.some(still => still !== wanted))
    throw new ServiceError('starting', 'A shard restarted meanwhile; try again')
}

interface Snapshot {
  readonly name: string
  /** Inside the transaction. */
  readonly sql: TransactionSql
  close(): Promise<void>
}

/** A transaction that sees one moment and stays open, so that others may see the same. */
async function openSnapshot(address: PostgresAddress): Promise<Snapshot> {
  const pool = openPostgres(address, { max: 1, statementTimeoutMs: 0 })
  try {
    return await new Promise<Snapshot>((resolve, reject) => {
      pool
        .begin('isolation level repeatable read read only', async sql => {
          const [row] = await sql<{ name: string }[]>`select pg_export_snapshot() as name`
          await new Promise<void>(over => {
            const close = () => {
              over()
              return closePostgres(pool, 1_000)
            }
            resolve({ name: row!.name, sql, close })
          })
        })
        .catch(reject)
    })
  } catch (error) {
    await closePostgres(pool, 0)
    throw error
  }
}
