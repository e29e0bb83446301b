// The hash chain of the audit log: each row has the hash of the row before it, so that an altered, removed or
// inserted row is detected.
import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import { insertRows, type Row } from './row.js'

/** A row of the chain with all hashed members. Times are ISO 8601 with milliseconds. */
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
  /** Its texts were removed by an erasure: its hash cannot be made again (ER-5). */
  readonly erased?: boolean
}

/** The hash before the first row. */
const firstHash = '0'.repeat(64)

/** Advisory lock for extending the chain. An arbitrary number. */
const chainLock = 7_084_155_002
const rowsAtOnce = 200
/** A row without a response is added to the chain after this many seconds. */
const unansweredSeconds = 60

/** The hashed members, in order. Never change it. */
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
] as const satisfies readonly Exclude<keyof ChainedRow, 'erased'>[]

/** SHA-256, hex, of the previous hash, a line feed, and the row as a JSON array of its members in order. */
function hashOfRow(previousHash: string, row: Omit<ChainedRow, 'hash' | 'previous_hash'>): string {
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

/** Seq 0 while the chain is empty. */
export async function chainHead(sql: Sql): Promise<ChainHead> {
  const [row] = await sql<{ seq: string; hash: string }[]>`
    select seq, hash from audit_logs where seq is not null order by seq desc limit 1`
  return row === undefined ? { seq: 0, hash: firstHash } : { seq: Number(row.seq), hash: row.hash }
}

/** Rows of the chain after a position, in order. */
export async function chainedRows(sql: Sql, afterSeq: number, limit: number): Promise<readonly ChainedRow[]> {
  const rows = await sql<StoredRow[]>`
    select * from audit_logs where seq > ${afterSeq} order by seq limit ${limit}`
  return rows.map(row => asRow(row, Number(row.seq)))
}

/** A row that was about to be inserted is stored by now. The batch is tried again, and finds it. */
export class StoredMeanwhile extends Error {
  override readonly name = 'StoredMeanwhile'
}

/**
 * Write rows with their responses, each with its place at the end of the chain: one write of a row and of its indexes.
 * One process at a time. Rows of accounts that are gone are dropped.
 *
 * returns  those that are stored already, and left alone: written with their change, or by an attempt whose answer was
 *          lost.
 * errors   StoredMeanwhile; then nothing is written.
 */
export async function appendRows(sql: Sql, rows: readonly Row[]): Promise<readonly Row[]> {
  const ids = rows.map(row => row.id)
  const accountIds = [...new Set(rows.map(row => row.account_id))]
  return sql.begin(async transaction => {
    const tx = transaction as unknown as Sql
    // awaited alone: statements that are sent together need not begin in the order in which they are written
    await tx`select pg_advisory_xact_lock(${chainLock})`
    const [stored, accounts, head] = await Promise.all([
      tx<{ id: string }[]>`select id from audit_logs where id = any(${ids}::uuid[])`,
      tx<{ id: string }[]>`select id from accounts where id = any(${accountIds}::text[]) for key share`,
      chainHead(tx),
    ])
    const storedIds = new Set(stored.map(({ id }) => id))
    const known = new Set(accounts.map(({ id }) => id))
    let { seq, hash } = head
    const linked = rows
      .filter(row => !storedIds.has(row.id) && known.has(row.account_id))
      .map(row => {
        const previous_hash = hash
        seq++
        hash = hashOfRow(previous_hash, { ...row, seq })
        return { ...row, seq, previous_hash, hash }
      })
    if (linked.length > 0 && (await insertRows(tx, linked)) !== linked.length)
      throw new StoredMeanwhile('a row of the audit log was stored by another transaction')
    return rows.filter(row => storedIds.has(row.id))
  }) as Promise<readonly Row[]>
}

/**
 * Add durable rows to the chain, in the order of their start. One process at a time; it adds rows of all processes.
 *
 * everything  also rows without a response, left by an ended process.
 * source      decision: changes do not wait for the chain; every row joins it within a second.
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

/** Verifies a chain row by row. */
export class ChainReader {
  private head: ChainHead
  /** Blanked rows that no erasure has named yet. */
  private readonly blank = new Set<number>()

  /** from  a trusted position; default: the beginning. */
  constructor(from: ChainHead = { seq: 0, hash: firstHash }) {
    this.head = from
  }

  get last(): ChainHead {
    return this.head
  }

  /** Check the next row. Returns the fault in words, or null. */
  fault(row: ChainedRow): string | null {
    const { seq, hash } = this.head
    if (row.seq !== seq + 1)
      return row.seq > seq + 1
        ? `row ${seq + 1} was removed (the next is ${row.seq}, ${row.id})`
        : `row ${row.seq} was put in (${row.id})`
    if (row.previous_hash !== hash) return `row ${row.seq} does not follow row ${seq} (${row.id})`
    if (row.erased === true) this.blank.add(row.seq)
    else if (hashOfRow(hash, row) !== row.hash) return `row ${row.seq} was altered (${row.id})`
    this.head = { seq: row.seq, hash: row.hash }
    if (row.kind === 'system' && row.resource_type === 'erasure') this.told(row.req_body)
    return null
  }

  /** An erasure says which rows it blanked; its own row is in the chain. */
  private told(text: string | null): void {
    const { rows } = JSON.parse(text ?? '{}') as { rows?: readonly string[] }
    for (const seq of rows ?? []) this.blank.delete(Number(seq))
  }

  /** A row whose texts are gone though no erasure says so, in words; null: there is none. For the end of the chain. */
  get unexplained(): string | null {
    const [seq] = this.blank
    return seq === undefined ? null : `row ${seq} was blanked, and no erasure says so`
  }
}
