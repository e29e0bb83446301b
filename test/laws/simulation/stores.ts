// Postgres and ClickHouse of a simulation: tables in memory behind a network that loses answers, delays them,
// and is away at times. A statement takes effect at one instant, even when its caller has ended.

import type { StoredClaims } from '../../../src/analytics/history.js'
import { packClaim } from '../../../src/entities/idempotency/dedupe.js'
import type { Sequence } from '../../../src/journal/journal.js'
import type { StoredEntities, StoredPositions } from '../../../src/recovery/warm-up.js'
import type { InsertOptions } from '../../../src/storage/clickhouse.js'
import { type ChunkStore, type Place, PositionMoved } from '../../../workers/projector/chunks.js'
import type { Fold, Row } from '../../../workers/projector/fold.js'
import type { RowStore } from '../../../workers/projector/rows.js'
import {
  type SnapshotRow,
  type SnapshotStore,
  snapshotLine,
} from '../../../workers/shard/snapshots/snapshots.js'
import { current, type World } from './world.js'

/** The state of the connection to a store. */
class Network {
  /** Every statement is refused. */
  away = false
  /**
   * Share of statements that are refused, that lose their answer, and that run only after their caller gave
   * up.
   */
  refusing = 0
  losing = 0
  late = 0

  constructor(private readonly world: World) {}

  calm(): void {
    this.away = false
    this.refusing = 0
    this.losing = 0
    this.late = 0
  }

  ask<T>(usualMs: number, work: () => T): Promise<T> {
    const { world } = this
    const { random } = world
    const life = current()
    const refused = this.away || random.chance(this.refusing)
    const lost = random.chance(this.losing)
    const late = random.chance(this.late)
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void) => world.after(world.delay(0.5), life, settle)
      const gone = () => answer(() => reject(new Error('the connection broke')))
      if (refused) return gone()
      if (late) gone()
      world.after(world.delay(usualMs) + (late ? random.next() * 3_000 : 0), world.nature, () => {
        // A statement that a dead caller had not sent yet never arrives.
        if (!life.alive && random.chance(0.5)) return
        try {
          const value = work()
          if (!late) answer(() => (lost ? reject(new Error('the answer was lost')) : resolve(value)))
        } catch (error) {
          answer(() => reject(error))
        }
      })
    })
  }
}

interface Position {
  sequence: Sequence
  seen: Sequence
  chunkUpTo: Sequence | null
}

type Table = Map<string, Row>

/** A row of entity_keys. */
interface Pair {
  readonly environment_id: string
  readonly entity_type: 'company' | 'user'
  readonly entity_id: string
  readonly name: string
  readonly value: string
}

const overwritten = ['keys', 'traits', 'overrides', 'overrideChanges', 'subscriptions'] as const
const kept = [
  'keyDefinitions',
  'traitDefinitions',
  'memberships',
  'credits',
  'grants',
  'planChanges',
] as const
const ofCompany = ['memberships', 'overrides', 'overrideChanges', 'subscriptions', 'credits'] as const

export class SimulatedPostgres implements StoredPositions, StoredEntities {
  readonly network: Network
  readonly snapshotRows = new Map<string, SnapshotRow>()
  readonly companies: Table = new Map()
  readonly users: Table = new Map()
  readonly tables: Record<(typeof overwritten | typeof kept)[number], Table> = {
    keys: new Map(),
    traits: new Map(),
    overrides: new Map(),
    overrideChanges: new Map(),
    subscriptions: new Map(),
    keyDefinitions: new Map(),
    traitDefinitions: new Map(),
    memberships: new Map(),
    credits: new Map(),
    grants: new Map(),
    planChanges: new Map(),
  }
  /** The outbox of webhooks. It is never emptied here. */
  readonly outbox: Table = new Map()
  /** Records put aside: there should be none. */
  readonly putAside: string[] = []
  private readonly positions = new Map<string, Position>()
  private readonly checkpointed = new Map<string, Sequence>()

  constructor(world: World) {
    this.network = new Network(world)
  }

  // ── reads of the start ───────────────────────────────────────────────────────────────────────

  projections(generation: string) {
    return this.network.ask(1, () =>
      [...this.positions].flatMap(([name, { sequence, seen }]) => {
        const [of, shard, store] = name.split(' ')
        const row = { shard: Number(shard), store: store as 'postgres' | 'clickhouse' }
        return of === generation ? [{ ...row, sequence: String(sequence), seen_sequence: String(seen) }] : []
      }),
    )
  }

  checkpoints(generation: string) {
    return this.network.ask(1, () =>
      [...this.checkpointed].flatMap(([name, sequence]) => {
        const [of, shard] = name.split(' ')
        return of === generation ? [{ shard: Number(shard), sequence: String(sequence) }] : []
      }),
    )
  }

  async *entities() {
    yield await this.network.ask(1, () =>
      [...this.companies.values(), ...this.users.values()].map(row => ({
        environment_id: row.environment_id as string,
        ids: [row.id as string],
      })),
    )
  }

  async *pairs() {
    yield await this.network.ask(1, () =>
      [...this.tables.keys.values()].map(row => {
        const { environment_id, entity_type, name, entity_id, value } = row as unknown as Pair
        return { environment_id, entity_type, name, ids: [entity_id], values: [value] }
      }),
    )
  }

  async *memberships() {
    yield await this.network.ask(1, () =>
      [...this.tables.memberships.values()]
        .sort((a, b) => String(a.created_at).localeCompare(String(b.created_at)))
        .map(row => ({ user_id: row.user_id as string, company_id: row.company_id as string })),
    )
  }

  // ── shards ───────────────────────────────────────────────────────────────────────────────────

  snapshots(): SnapshotStore {
    return {
      find: ids =>
        this.network.ask(1, () => [
          Buffer.from(
            ids
              .flatMap(id => this.snapshotRows.get(id) ?? [])
              .map(snapshotLine)
              .join('\n'),
          ),
        ]),
      put: rows =>
        this.network.ask(3, () => {
          for (const row of rows) {
            const had = this.snapshotRows.get(row.id)
            if (had === undefined || had.generation !== row.generation || had.sequence <= row.sequence)
              this.snapshotRows.set(row.id, row)
          }
        }),
      checkpointed: (generation, shard, sequence) =>
        this.network.ask(1, () => {
          const name = `${generation} ${shard}`
          this.checkpointed.set(name, Math.max(this.checkpointed.get(name) ?? 0, sequence))
        }),
      close: async () => {},
    }
  }

  // ── projectors ───────────────────────────────────────────────────────────────────────────────

  chunks(): ChunkStore {
    const of = (place: Place) => this.position(place, 'clickhouse')
    const must = (holds: boolean, place: Place, from: Sequence) => {
      if (!holds) throw new PositionMoved('clickhouse', place, from)
    }
    return {
      start: place => this.network.ask(1, () => ({ ...of(place) })),
      begin: (place, from, upTo) =>
        this.network.ask(1, () => {
          const position = of(place)
          must(position.sequence === from && position.chunkUpTo === null, place, from)
          position.chunkUpTo = upTo
        }),
      finish: (place, from, upTo, chunkUpTo) =>
        this.network.ask(1, () => {
          const position = of(place)
          must(position.sequence === from && position.chunkUpTo === chunkUpTo, place, from)
          Object.assign(position, { sequence: upTo, chunkUpTo: null })
        }),
      putAside: (_place, from, table, line, error) =>
        this.network.ask(1, () => {
          this.putAside.push(`${table} after ${from}: ${error} ${line}`)
        }),
    }
  }

  rows(): RowStore {
    const move = (place: Place, from: Sequence, upTo: Sequence, seenToo: boolean) => {
      const position = this.position(place, 'postgres')
      if (position.sequence !== from) throw new PositionMoved('postgres', place, from)
      position.sequence = upTo
      if (seenToo) position.seen = upTo
    }
    return {
      start: place =>
        this.network.ask(1, () => {
          const { sequence, seen } = this.position(place, 'postgres')
          return { sequence, seenSequence: seen }
        }),
      write: (place, { from, upTo, seenToo, fold }, written) =>
        this.network.ask(4, () => {
          move(place, from, upTo, seenToo)
          this.fold(fold)
          written()
        }),
      putAside: (place, from, upTo, record, error) =>
        this.network.ask(1, () => {
          move(place, from, upTo, false)
          this.putAside.push(`record ${record.sequence}: ${error}`)
        }),
      writeSeen: (place, upTo, times) =>
        this.network.ask(2, () => {
          const position = this.position(place, 'postgres')
          position.seen = Math.max(position.seen, upTo)
          for (const [id, { kind, atMs, absolute }] of times) {
            const table = kind === 'c' ? this.companies : this.users
            const row = table.get(id)
            if (row === undefined) continue
            const at = new Date(atMs).toISOString()
            const had = row.last_seen_at as string | null
            table.set(id, { ...row, last_seen_at: absolute || had === null || had < at ? at : had })
          }
        }),
    }
  }

  private position({ generation, shard }: Place, store: string): Position {
    const name = `${generation} ${shard} ${store}`
    let position = this.positions.get(name)
    if (position === undefined) {
      position = { sequence: 0, seen: 0, chunkUpTo: null }
      this.positions.set(name, position)
    }
    return position
  }

  /** The statements of rows.ts, in their order. */
  private fold(fold: Fold): void {
    const { tables } = this
    this.forget(fold)
    for (const name of [...overwritten, ...kept]) for (const id of fold[name].removed) tables[name].delete(id)
    for (const name of overwritten)
      for (const [id, row] of fold[name].rows) {
        const had = tables[name].get(id)
        tables[name].set(id, had === undefined ? row : { ...row, created_at: had.created_at })
      }
    for (const name of kept)
      for (const [id, row] of fold[name].rows) if (!tables[name].has(id)) tables[name].set(id, row)
    for (const [id, row] of fold.notices.rows) {
      if (this.outbox.has(id)) this.putAside.push(`notice ${id} comes twice`)
      this.outbox.set(id, row)
    }
    for (const [table, changes] of [
      [this.companies, fold.companies],
      [this.users, fold.users],
    ] as const)
      for (const { id, environmentId, created, name, updatedAt, lastSeenAt } of changes.values()) {
        const had = table.get(id)
        if (created !== null)
          table.set(id, {
            id,
            environment_id: environmentId,
            name: name ?? created.name,
            created_at: created.at,
            updated_at: updatedAt,
            last_seen_at: lastSeenAt,
          })
        else if (had !== undefined)
          table.set(id, {
            ...had,
            name: name ?? had.name,
            updated_at: updatedAt ?? had.updated_at,
            last_seen_at: lastSeenAt ?? had.last_seen_at,
          })
      }
  }

  private forget({ goneCompanies, goneUsers }: Fold): void {
    const { tables } = this
    for (const id of goneCompanies) this.companies.delete(id)
    for (const id of goneUsers) this.users.delete(id)
    const gone = (id: unknown) => goneCompanies.has(id as string) || goneUsers.has(id as string)
    for (const table of [tables.keys, tables.traits])
      for (const [id, row] of table) if (gone(row.entity_id)) table.delete(id)
    for (const name of ofCompany)
      for (const [id, row] of tables[name])
        if (gone(row.company_id) || (name === 'memberships' && gone(row.user_id))) tables[name].delete(id)
  }
}

export class SimulatedClickHouse {
  readonly network: Network
  readonly lines: Record<string, string[]> = { events: [], credit_ledger: [], flag_checks: [] }
  /** Share of chunks stored again in spite of a known token: a store that doubles. */
  doubling = 0
  private readonly tokens = new Set<string>()

  constructor(private readonly world: World) {
    this.network = new Network(world)
  }

  readonly insertRaw = (insert: InsertOptions): Promise<void> => {
    // Copied: the caller reuses the buffer before the statement runs.
    const { rows, reading } = insert
    const text = Buffer.isBuffer(rows)
      ? rows
      : typeof rows === 'string'
        ? Buffer.from(rows)
        : Buffer.concat(rows)
    // In the form for a remote server.
    const sent = reading?.inFull ? reading.inFull(text) : text
    const lines = sent
      .toString()
      .split('\n')
      .filter(line => line !== '')
      .map(line => (insert.format === 'TabSeparated' ? asJson(line, insert.columns!) : line))
    return this.network.ask(5, () => {
      const { token, table } = insert
      if (token !== undefined && this.tokens.has(token) && !this.world.random.chance(this.doubling)) return
      if (token !== undefined) this.tokens.add(token)
      this.lines[table]!.push(...lines)
    })
  }

  readonly claims = (sinceMs: number): StoredClaims => ({
    count: () => this.network.ask(1, () => this.claimed(sinceMs).length),
    pages: () => this.claimPages(sinceMs),
  })

  private async *claimPages(sinceMs: number) {
    yield await this.network.ask(3, () =>
      Buffer.concat(
        this.claimed(sinceMs).map(row =>
          packClaim(row.environment_id, row.idempotency_key!, {
            eventId: row.id,
            capturedAtMs: row.captured_at,
            receivedAtMs: row.loaded_at,
          }),
        ),
      ),
    )
  }

  private claimed(sinceMs: number): EventRow[] {
    return this.rows('events')
      .filter(
        row =>
          row.idempotency_key && row.status !== 'failed' && !row.derived_from && row.loaded_at >= sinceMs,
      )
      .sort((a, b) => a.loaded_at - b.loaded_at)
  }

  rows(table: 'events'): EventRow[]
  rows(table: 'credit_ledger'): LedgerLine[]
  rows(table: string): unknown[] {
    return this.lines[table]!.map(line => JSON.parse(line))
  }
}

/** Turns a tab-separated line into one of JSONEachRow. */
function asJson(line: string, columns: readonly string[]): string {
  const values = line.split('\t')
  if (values.length !== columns.length) throw new Error(`a line of ${values.length} columns: ${line}`)
  const row = Object.fromEntries(columns.map((name, i) => [name, values[i]]))
  return JSON.stringify({ ...row, sequence: Number(row.sequence) })
}

export interface EventRow {
  readonly environment_id: string
  readonly id: string
  readonly type: string
  readonly subtype?: string
  readonly status: string
  readonly company_id?: string
  readonly quantity?: number
  readonly captured_at: number
  readonly loaded_at: number
  readonly idempotency_key?: string
  readonly derived_from?: string
}

export interface LedgerLine {
  readonly company_id: string
  readonly credit_id: string
  readonly sequence: number
  readonly event_type: string
  readonly amount: string
}
