// One shard's journal into Postgres: rows of companies and users, exactly once.
//
// Every transaction begins by moving the shard's position from where it must be; a position that is elsewhere
// means that another projector was here, and nothing is written.
import type { Sql, TransactionSql } from 'postgres'
import { amountToDecimal } from '../../src/core/amount.js'
import type { Fact } from '../../src/core/message.js'
import {
  type JournalReader,
  type JournalRecord,
  RecordFlag,
  type Sequence,
} from '../../src/journal/journal.js'
import type { Positions } from '../../src/journal/positions.js'
import { type EntityChange, Fold, type Row, type RowSet } from './fold.js'
import { SeenTimes } from './seen.js'
import type { Projection } from './stream.js'

export interface PostgresProjectionOptions {
  readonly sql: Sql
  readonly reader: JournalReader
  readonly positions: Positions
  readonly generation: string
  readonly shard: number
  /** Facts written by one transaction. */
  readonly factsMax: number
  /** Records looked at for one transaction, most of which write nothing. */
  readonly recordsMax: number
  /** Longest wait of a last_seen_at before it is written, ms. */
  readonly seenMs: number
  readonly now: () => number
  /** Tests stop here: called before and after each step with its name. */
  readonly step?: (name: string) => void
}

/** Entities whose times are written before their time is up. */
const seenMax = 20_000

/** The position is not where this projector left it. */
export class PositionMoved extends Error {
  override readonly name = 'PositionMoved'
}

interface Chunk {
  readonly upTo: Sequence
  readonly fold: Fold
  readonly records: readonly JournalRecord[]
}

/** A fact that makes no rows: a time that is none, text that is not JSON. Our mistake, but it must stop nothing. */
class BadFact extends Error {
  override readonly name = 'BadFact'
  constructor(
    readonly record: JournalRecord,
    cause: unknown,
  ) {
    super(`record ${record.sequence} makes no rows: ${cause}`, { cause })
  }
}

export class PostgresProjection implements Projection {
  readonly store = 'postgres'
  readonly #options: PostgresProjectionOptions
  #sequence: Sequence | null = null
  #seenSequence: Sequence = 0
  #seen = new SeenTimes()
  #seenWrittenMs = 0
  /** Up to here one record at a time: one of them is refused. */
  #carefulUpTo: Sequence = 0

  constructor(options: PostgresProjectionOptions) {
    this.#options = options
  }

  get shard(): number {
    return this.#options.shard
  }

  async project(upTo: Sequence): Promise<void> {
    const from = this.#sequence ?? (await this.#start())
    try {
      if (from < upTo) await this.#projectChunk(from, upTo)
      if (this.#seenDue()) await this.writeSeen()
    } catch (error) {
      // What was committed is not known: ask again before the next attempt.
      this.#sequence = null
      throw error
    }
  }

  get position(): Sequence {
    return this.#sequence ?? 0
  }

  /** Whether there is something to write though every record was read. */
  get owes(): boolean {
    return this.#seen.times.size > 0 && this.#options.now() - this.#seenWrittenMs >= this.#options.seenMs
  }

  /** Write what is still gathered; before a stop. */
  async finish(): Promise<void> {
    if (this.#sequence !== null) await this.writeSeen()
  }

  async #start(): Promise<Sequence> {
    const { sql, generation, shard, reader } = this.#options
    const [row] = await sql<{ sequence: string; seen_sequence: string }[]>`
      insert into projections (generation, shard, store) values (${generation}, ${shard}, 'postgres')
      on conflict (generation, shard, store) do update set store = excluded.store
      returning sequence, seen_sequence`
    const sequence = Number(row!.sequence)
    this.#seenSequence = Number(row!.seen_sequence)
    this.#seen = new SeenTimes()
    for await (const records of reader.read(this.#seenSequence, sequence))
      for (const record of records) this.#seen.addAgain(record)
    this.#moved(sequence)
    return sequence
  }

  async #projectChunk(from: Sequence, upTo: Sequence): Promise<void> {
    let chunk: Chunk
    try {
      chunk = await this.#gather(from, upTo)
    } catch (error) {
      if (!(error instanceof BadFact)) throw error
      await this.#isolate(from, error.record.sequence, error.record, error)
      return
    }
    try {
      await this.#write(from, chunk)
    } catch (error) {
      if (!isRefusedData(error)) throw error
      await this.#isolate(from, chunk.upTo, chunk.records[0], error)
      return
    }
    this.#moved(chunk.upTo)
  }

  async #gather(from: Sequence, upTo: Sequence): Promise<Chunk> {
    const { reader, factsMax, recordsMax } = this.#options
    const careful = from < this.#carefulUpTo
    const end = Math.min(upTo, from + (careful ? 1 : recordsMax))
    const fold = new Fold()
    const seen = new SeenTimes()
    const kept: JournalRecord[] = []
    let last = from
    for await (const records of reader.read(from, end)) {
      for (const record of records) {
        last = record.sequence
        if (careful) kept.push({ ...record, fact: Buffer.from(record.fact), row: Buffer.alloc(0) })
        if (showsInPostgres(record)) this.#fold(record, fold, seen)
        else seen.add(record)
        if (fold.facts >= factsMax) break
      }
      if (fold.facts >= factsMax) break
    }
    this.#pending = seen
    return { upTo: last, fold, records: kept }
  }

  #fold(record: JournalRecord, fold: Fold, seen: SeenTimes): void {
    try {
      const fact = JSON.parse(record.fact.toString()) as Fact
      fold.add(fact)
      seen.addFact(fact)
    } catch (error) {
      throw new BadFact({ ...record, fact: Buffer.from(record.fact) }, error)
    }
  }

  /** Times of the chunk being written; merged once it is committed. */
  #pending = new SeenTimes()

  async #write(from: Sequence, chunk: Chunk): Promise<void> {
    const { sql } = this.#options
    this.#step('gathered')
    const clear = this.#seen.times.size === 0 && this.#pending.times.size === 0
    if (chunk.fold.facts === 0) await this.#move(sql, from, chunk.upTo, clear)
    else
      await sql.begin(async tx => {
        const moving = this.#move(tx, from, chunk.upTo, clear)
        await Promise.all([moving, ...writes(tx, chunk.fold)])
        this.#step('written')
      })
    this.#step('committed')
  }

  async #move(sql: Sql | TransactionSql, from: Sequence, upTo: Sequence, seenToo: boolean): Promise<void> {
    const { generation, shard } = this.#options
    const moved = await sql`
      update projections
      set sequence = ${upTo}, seen_sequence = case when ${seenToo} then ${upTo} else seen_sequence end
      where generation = ${generation} and shard = ${shard} and store = 'postgres' and sequence = ${from}`
    if (moved.count !== 1) throw new PositionMoved(`postgres position of shard ${shard} is not ${from}`)
  }

  #moved(sequence: Sequence): void {
    const { positions, shard } = this.#options
    for (const [id, seen] of this.#pending.times) mergeSeen(this.#seen, id, seen)
    this.#pending = new SeenTimes()
    this.#sequence = sequence
    if (this.#seen.times.size === 0) this.#seenSequence = sequence
    positions.set(shard, 'postgres', sequence)
    positions.set(shard, 'seen', this.#seenSequence)
  }

  // A refused chunk goes record by record; a refused record is put aside, so that it holds up nothing else.
  async #isolate(
    from: Sequence,
    upTo: Sequence,
    record: JournalRecord | undefined,
    error: unknown,
  ): Promise<void> {
    this.#pending = new SeenTimes()
    if (upTo - from > 1 || record === undefined) {
      this.#carefulUpTo = upTo
      return
    }
    const { sql, generation, shard } = this.#options
    const text = record.fact.toString().replaceAll('\0', '\ufffd')
    await sql.begin(async tx => {
      await this.#move(tx, from, upTo, false)
      await tx`
        insert into projection_failures (generation, shard, store, sequence, error, record)
        values (${generation}, ${shard}, 'postgres', ${record.sequence}, ${String(error)}, ${text})
        on conflict do nothing`
    })
    this.#moved(upTo)
  }

  #seenDue(): boolean {
    return this.owes || this.#seen.times.size >= seenMax
  }

  /** Write the gathered last_seen_at, with the position up to which they are complete. */
  async writeSeen(): Promise<void> {
    const { sql, generation, shard, positions, now } = this.#options
    const sequence = this.#sequence ?? 0
    const companies: Row[] = []
    const users: Row[] = []
    for (const [id, { kind, atMs, absolute }] of this.#seen.times)
      (kind === 'c' ? companies : users).push({ id, at: new Date(atMs).toISOString(), absolute })
    this.#step('seen gathered')
    if (companies.length + users.length > 0)
      await sql.begin(tx =>
        Promise.all([
          tx`
            update projections set seen_sequence = greatest(seen_sequence, ${sequence})
            where generation = ${generation} and shard = ${shard} and store = 'postgres'`,
          ...(companies.length > 0 ? [updateSeen(tx, 'companies', companies)] : []),
          ...(users.length > 0 ? [updateSeen(tx, 'users', users)] : []),
        ]),
      )
    this.#step('seen committed')
    this.#seen = new SeenTimes()
    this.#seenSequence = sequence
    this.#seenWrittenMs = now()
    positions.set(shard, 'seen', sequence)
  }

  #step(name: string): void {
    this.#options.step?.(name)
  }
}

/** What Postgres shows of credits; draws and holds, which are many, it does not. */
const grantEffects = ['credit_grant', 'credit_zero_out', 'credit_refund'].map(t => Buffer.from(`"t":"${t}"`))

function showsInPostgres(record: JournalRecord): boolean {
  if (record.flags & RecordFlag.identity) return true
  return (record.flags & RecordFlag.ledger) !== 0 && grantEffects.some(effect => record.fact.includes(effect))
}

function mergeSeen(
  into: SeenTimes,
  id: string,
  seen: { kind: 'c' | 'u'; atMs: number; absolute: boolean },
): void {
  const had = into.times.get(id)
  if (had === undefined || seen.absolute) into.times.set(id, seen)
  else if (had.atMs < seen.atMs) into.times.set(id, { ...seen, absolute: had.absolute })
}

// Classes 22 and 23: the data itself; trying again changes nothing.
function isRefusedData(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^2[23]/.test(code)
}

/** Every statement of a fold, in the order they must run; sent without waiting in between. */
function writes(tx: TransactionSql, fold: Fold): Promise<unknown>[] {
  const all: Promise<unknown>[] = []
  const gone = [...fold.goneCompanies, ...fold.goneUsers]
  if (gone.length > 0) all.push(...forget(tx, fold, gone))
  for (const [table, columns, set] of tables(fold)) all.push(...putRows(tx, table, columns, set))
  if (fold.grantChanges.size > 0) all.push(changeGrants(tx, fold))
  if (fold.plans.size > 0) all.push(...putPlans(tx, fold))
  all.push(...putEntities(tx, 'companies', fold.companies), ...putEntities(tx, 'users', fold.users))
  return all
}

const definition = 'id text, environment_id text, entity_type text,'
const times = 'created_at timestamptz, updated_at timestamptz'
const keyColumns = `${definition} key text, ${times}`
const traitColumns = `${definition} name text, hierarchy jsonb, trait_type text, ${times}`
const valueColumns = `${definition} entity_id text, definition_id text, name text, value text, ${times}`
const membershipColumns = `id text, environment_id text, company_id text, user_id text, ${times}`
const overrideColumns = `id text, environment_id text, company_id text, feature_id text, entitlement jsonb,
  expires_at timestamptz, ${times}`
const overrideChangeColumns = `id text, environment_id text, company_id text, override_id text, entitlement jsonb,
  expires_at timestamptz, changed_at timestamptz`
const subscriptionColumns = `id text, environment_id text, company_id text, external_id text, status text, state jsonb,
  updated_at timestamptz`
const creditColumns = 'company_id text, credit_id text, environment_id text, created_at timestamptz'
const grantColumns = `id text, environment_id text, company_id text, credit_id text, sequence bigint, reason text,
  quantity numeric, valid_from timestamptz, expires_at timestamptz, plan_id text, plan_grant_id text, licence integer,
  bundle_id text, source_grant_id text, currency text, ${times}`
const planChangeColumns = `id text, environment_id text, company_id text, action text, base_plan_action text,
  subscription_change_action text, actor_type text, api_key_id text, previous_plan_id text, previous_version_id text,
  plan_id text, version_id text, add_ons_added jsonb, add_ons_removed jsonb, trial_status text,
  trial_ends_at timestamptz, created_at timestamptz`
const planColumns = `company_id text, plan_id text, kind text, environment_id text, version_id text, price_id text,
  added_at timestamptz, trial_end_at timestamptz, trial_end_setting text, trial_status text`

type Columns = { readonly from: string; readonly onConflict: string }

const keep = 'do nothing'
const values: Columns = {
  from: valueColumns,
  onConflict: '(id) do update set value = excluded.value, updated_at = excluded.updated_at',
}

function tables(fold: Fold): [string, Columns, RowSet][] {
  return [
    ['key_definitions', { from: keyColumns, onConflict: keep }, fold.keyDefinitions],
    ['trait_definitions', { from: traitColumns, onConflict: keep }, fold.traitDefinitions],
    ['entity_keys', values, fold.keys],
    ['entity_traits', values, fold.traits],
    ['memberships', { from: membershipColumns, onConflict: keep }, fold.memberships],
    [
      'company_overrides',
      {
        from: overrideColumns,
        onConflict: `(id) do update set feature_id = excluded.feature_id, entitlement = excluded.entitlement,
          expires_at = excluded.expires_at, updated_at = excluded.updated_at`,
      },
      fold.overrides,
    ],
    [
      'override_changes',
      {
        from: overrideChangeColumns,
        onConflict: '(id) do update set entitlement = excluded.entitlement, expires_at = excluded.expires_at',
      },
      fold.overrideChanges,
    ],
    [
      'company_subscriptions',
      {
        from: subscriptionColumns,
        onConflict: `(id) do update set external_id = excluded.external_id, status = excluded.status,
          state = excluded.state, updated_at = excluded.updated_at`,
      },
      fold.subscriptions,
    ],
    ['company_credits', { from: creditColumns, onConflict: keep }, fold.credits],
    ['credit_grants', { from: grantColumns, onConflict: keep }, fold.grants],
    ['plan_changes', { from: planChangeColumns, onConflict: keep }, fold.planChanges],
  ]
}

// One JSON parameter per statement: a row of any width costs no further parameter.
function putRows(tx: TransactionSql, table: string, columns: Columns, set: RowSet): Promise<unknown>[] {
  const all: Promise<unknown>[] = []
  if (set.removed.size > 0) all.push(tx`delete from ${tx(table)} where id = any(${[...set.removed]}::text[])`)
  if (set.rows.size > 0) all.push(insert(tx, table, columns, [...set.rows.values()]))
  return all
}

function insert(tx: TransactionSql, table: string, columns: Columns, rows: readonly Row[]): Promise<unknown> {
  const names = columns.from
    .split(',')
    .map(column => column.trim().split(' ')[0])
    .join(', ')
  return tx.unsafe(
    `insert into ${table} (${names}) select ${names} from jsonb_to_recordset($1::text::jsonb) as row(${columns.from})
     on conflict ${columns.onConflict}`,
    [jsonText(rows)],
    { prepare: true },
  )
}

/** After the births; the position moves in the same transaction, so that what is added is added once. */
function changeGrants(tx: TransactionSql, fold: Fold): Promise<unknown> {
  const rows = [...fold.grantChanges.values()].map(change => ({
    id: change.id,
    written_off: amountToDecimal(change.writtenOff),
    zeroed_out_at: change.zeroedOutAt,
    zeroed_out_reason: change.zeroedOutReason,
    quantity: change.quantity,
    expires_at: change.expiresAt,
    updated_at: change.updatedAt,
  }))
  return tx`
    update credit_grants as row set
      written_off = row.written_off + change.written_off,
      zeroed_out_at = coalesce(row.zeroed_out_at, change.zeroed_out_at),
      zeroed_out_reason = coalesce(row.zeroed_out_reason, change.zeroed_out_reason),
      quantity = coalesce(change.quantity, row.quantity),
      expires_at = coalesce(change.expires_at, row.expires_at),
      updated_at = change.updated_at
    from jsonb_to_recordset(${jsonText(rows)}::text::jsonb) as change(id text, written_off numeric,
      zeroed_out_at timestamptz, zeroed_out_reason text, quantity numeric, expires_at timestamptz,
      updated_at timestamptz)
    where row.id = change.id`
}

function putPlans(tx: TransactionSql, fold: Fold): Promise<unknown>[] {
  const changes = [...fold.plans.values()]
  const deletion = tx`
    delete from company_plans where (company_id, kind) in (
      select * from unnest(
        ${changes.map(change => change.companyId)}::text[], ${changes.map(change => change.kind)}::text[]))`
  const rows = changes.flatMap(change => change.rows)
  if (rows.length === 0) return [deletion]
  return [deletion, insert(tx, 'company_plans', { from: planColumns, onConflict: keep }, rows)]
}

function putEntities(
  tx: TransactionSql,
  table: 'companies' | 'users',
  changes: ReadonlyMap<string, EntityChange>,
): Promise<unknown>[] {
  const made: Row[] = []
  const changed: Row[] = []
  for (const change of changes.values()) {
    const { id, created, name, updatedAt, lastSeenAt } = change
    if (created === null) changed.push({ id, name, updated_at: updatedAt, last_seen_at: lastSeenAt })
    else
      made.push({
        id,
        environment_id: change.environmentId,
        name: name ?? created.name,
        created_at: created.at,
        updated_at: updatedAt,
        last_seen_at: lastSeenAt,
      })
  }
  const all: Promise<unknown>[] = []
  if (made.length > 0)
    all.push(
      insert(
        tx,
        table,
        {
          from: `id text, environment_id text, name text, ${times}, last_seen_at timestamptz`,
          onConflict: `(id) do update set name = excluded.name, created_at = excluded.created_at,
            updated_at = excluded.updated_at, last_seen_at = excluded.last_seen_at`,
        },
        made,
      ),
    )
  if (changed.length > 0)
    all.push(tx`
      update ${tx(table)} as row set
        name = coalesce(change.name, row.name),
        updated_at = coalesce(change.updated_at, row.updated_at),
        last_seen_at = coalesce(change.last_seen_at, row.last_seen_at)
      from jsonb_to_recordset(${jsonText(changed)}::text::jsonb)
        as change(id text, name text, updated_at timestamptz, last_seen_at timestamptz)
      where row.id = change.id`)
  return all
}

function updateSeen(
  tx: TransactionSql,
  table: 'companies' | 'users',
  rows: readonly Row[],
): Promise<unknown> {
  return tx`
    update ${tx(table)} as row
    set last_seen_at = case when seen.absolute then seen.at else greatest(row.last_seen_at, seen.at) end
    from jsonb_to_recordset(${jsonText(rows)}::text::jsonb) as seen(id text, at timestamptz, absolute boolean)
    where row.id = seen.id`
}

// CU-50, CU-52. Events and the ledger stay.
function forget(tx: TransactionSql, fold: Fold, gone: readonly string[]): Promise<unknown>[] {
  const companies = [...fold.goneCompanies]
  const users = [...fold.goneUsers]
  return [
    tx`delete from companies where id = any(${companies}::text[])`,
    tx`delete from users where id = any(${users}::text[])`,
    tx`delete from entity_keys where entity_id = any(${gone as string[]}::text[])`,
    tx`delete from entity_traits where entity_id = any(${gone as string[]}::text[])`,
    tx`delete from memberships where company_id = any(${companies}::text[])`,
    tx`delete from memberships where user_id = any(${users}::text[])`,
    tx`delete from company_overrides where company_id = any(${companies}::text[])`,
    tx`delete from override_changes where company_id = any(${companies}::text[])`,
    tx`delete from company_plans where company_id = any(${companies}::text[])`,
    tx`delete from company_subscriptions where company_id = any(${companies}::text[])`,
    tx`delete from company_credits where company_id = any(${companies}::text[])`,
  ]
}

/**
 * JSON that Postgres takes. It holds neither NUL nor half a surrogate pair, and one refused text would hold up
 * everything behind it: both become U+FFFD. Such a text is found again by its actor, only lists show it changed.
 */
function jsonText(rows: readonly Row[]): string {
  const text = JSON.stringify(rows)
  if (!text.includes('\\u0000') && !text.includes('\\ud')) return text
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'string' ? Buffer.from(value).toString().replaceAll('\0', '\ufffd') : value,
  )
}
