// The chain of the audit log: each row carries the hash of the row before it, so that none is altered, removed or put
// between two others unseen.
import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'

/** A row of the chain with everything that its hash covers. Times are ISO 8601 with milliseconds. */
export interface ChainedRow {
  readonly seq: number
  readonly previous_hash: string
  readonly hash: string
  readonly id: string
  readonly kind: string
  readonly account_id: string
  readonly environment_id: string | null
  readonly actor_type: string
  readonly api_key_id: string | null
  readonly method: string
  readonly url: string
  readonly resource_type: string | null
  readonly resource_id: string | null
  readonly resource_name: string | null
  readonly secondary_resource: string | null
  readonly req_body: string | null
  readonly resp_body: string | null
  readonly resp_code: number
  readonly remote_ip: string | null
  readonly user_agent: string | null
  readonly request_id: string | null
  readonly started_at: string
  readonly ended_at: string
}

/** Before the first row. */
export const firstHash = '0'.repeat(64)

/** Any number: who adds to the chain holds this lock. */
const chainLock = 7_084_155_002
const rowsAtOnce = 200
/** A row whose answer never came is taken into the chain as it is after so many seconds. */
const unansweredSeconds = 60

/** The members in the order in which they are hashed; never changed. */
const hashed = [
  'seq',
  'id',
  'kind',
  'account_id',
  'environment_id',
  'actor_type',
  'api_key_id',
  'method',
  'url',
  'resource_type',
  'resource_id',
  'resource_name',
  'secondary_resource',
  'req_body',
  'resp_body',
  'resp_code',
  'remote_ip',
  'user_agent',
  'request_id',
  'started_at',
  'ended_at',
] as const satisfies readonly (keyof ChainedRow)[]

/** SHA-256, as hex, of the previous hash, a line feed, and the row as a JSON list of its members in their order. */
export function hashOfRow(previousHash: string, row: Omit<ChainedRow, 'hash' | 'previous_hash'>): string {
  const canonical = JSON.stringify(hashed.map(name => row[name]))
  return createHash('sha256').update(`${previousHash}\n${canonical}`).digest('hex')
}

/** The last row of the chain. */
export interface ChainHead {
  readonly seq: number
  readonly hash: string
}

type StoredRow = Omit<ChainedRow, 'seq' | 'started_at' | 'ended_at'> & {
  readonly seq: string
  readonly started_at: Date
  readonly ended_at: Date
}

const asRow = (row: StoredRow, seq: number): ChainedRow => ({
  ...row,
  seq,
  started_at: row.started_at.toISOString(),
  ended_at: row.ended_at.toISOString(),
})

/** Seq 0 while nothing is in the chain. */
export async function chainHead(sql: Sql): Promise<ChainHead> {
  const [row] = await sql<{ seq: string; hash: string }[]>`
    select seq, hash from audit_logs where seq is not null order by seq desc limit 1`
  return row === undefined ? { seq: 0, hash: firstHash } : { seq: Number(row.seq), hash: row.hash }
}

/** Rows of the chain behind a place in it, in its order. */
export async function chainedRows(sql: Sql, afterSeq: number, limit: number): Promise<readonly ChainedRow[]> {
  const rows = await sql<StoredRow[]>`
    select * from audit_logs where seq > ${afterSeq} order by seq limit ${limit}`
  return rows.map(row => asRow(row, Number(row.seq)))
}

/**
 * Take the rows that are durable and not in the chain yet into it, in the order in which they were begun. One process at
 * a time does; the others' rows are in it, too.
 *
 * everything  also rows whose answer is not in them: those of a process that ended.
 * source      decision: the changes themselves take no turns for it, and every row is in the chain within a second.
 */
export async function extendChain(sql: Sql, everything: boolean): Promise<void> {
  for (;;) {
    const taken = await sql.begin(async transaction => {
      const tx = transaction as unknown as Sql
      await tx`select pg_advisory_xact_lock(${chainLock})`
      const rows = await tx<StoredRow[]>`
        select * from audit_logs where seq is null
          and (complete or ${everything} or started_at < now() - make_interval(secs => ${unansweredSeconds}))
        order by n limit ${rowsAtOnce}`
      if (rows.length === 0) return 0
      let { seq, hash } = await chainHead(tx)
      const links = rows.map(row => {
        const previous = hash
        seq++
        hash = hashOfRow(previous, asRow(row, seq))
        return { id: row.id, seq, previous_hash: previous, hash }
      })
      await tx`
        update audit_logs set seq = l.seq, previous_hash = l.previous_hash, hash = l.hash
        from jsonb_to_recordset(${tx.json(links)}) as l (id uuid, seq bigint, previous_hash text, hash text)
        where audit_logs.id = l.id`
      return rows.length
    })
    if (taken < rowsAtOnce) return
  }
}

/** Where a chain is broken, in words; null where it holds. */
export class ChainReader {
  private head: ChainHead

  /** from  a place that is trusted; the beginning when left out. */
  constructor(from: ChainHead = { seq: 0, hash: firstHash }) {
    this.head = from
  }

  get last(): ChainHead {
    return this.head
  }

  /** The next row of the chain, as it is read. */
  fault(row: ChainedRow): string | null {
    const { seq, hash } = this.head
    if (row.seq !== seq + 1)
      return row.seq > seq + 1
        ? `row ${seq + 1} was removed (the next is ${row.seq}, ${row.id})`
        : `row ${row.seq} was put in (${row.id})`
    if (row.previous_hash !== hash) return `row ${row.seq} does not follow row ${seq} (${row.id})`
    if (hashOfRow(hash, row) !== row.hash) return `row ${row.seq} was altered (${row.id})`
    this.head = { seq: row.seq, hash: row.hash }
    return null
  }
}
