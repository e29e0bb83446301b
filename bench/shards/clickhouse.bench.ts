// Cost of a row in the embedded ClickHouse, alone: CPU of its process by event and by row of the ledger, with merges
// separate. BENCH_SQL: statements that are run before, divided by `;`, to learn the price of something.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { derivedId } from '../../src/core/values/id.js'
import { eventRow } from '../../src/journal/records/event-row.js'
import { drawRows, fullDrawColumns } from '../../src/journal/records/ledger-rows.js'
import { type InsertOptions, openClickHouse } from '../../src/storage/clickhouse.js'
import { startEmbeddedClickHouse } from '../../src/storage/embedded/clickhouse.js'
import { splitStatements, sqlDirectory } from '../../src/storage/migrate.js'
import { insertSettings } from '../../workers/projector/clickhouse.js'
import { drawReading, eventReading } from '../../workers/projector/reading.js'

const count = Number(process.env.BENCH_EVENTS ?? 600_000)
/** Rows of one insert, and how often there is one: as from a projector at 100,000 events a second. */
const chunk = 100_000
const everyMs = 1_000
const companies = 1_000
const env = 'env_00000000001'
const credit = 'bcrd_0000000001'
const root = mkdtempSync(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'tollgate-bench-'))
const server = await startEmbeddedClickHouse({ directory: root, log: pino({ level: 'warn' }) })
const store = openClickHouse(server.address)
const sequences = new Map<number, number>()
try {
  const folder = join(sqlDirectory, 'clickhouse')
  const files = readdirSync(folder).filter(name => name.endsWith('.sql'))
  for (const file of files.sort())
    for (const statement of splitStatements(readFileSync(join(folder, file), 'utf8')))
      await store.command(statement)
  for (const statement of (process.env.BENCH_SQL ?? '').split(';'))
    if (statement.trim() !== '') await store.command(statement)
  await measure('events', { table: 'events', reading: eventReading }, events)
  await measure(
    'draws',
    { table: 'credit_ledger', format: 'TabSeparated', columns: fullDrawColumns, reading: drawReading },
    draws,
  )
} finally {
  await store.close()
  await server.stop()
  rmSync(root, { recursive: true, force: true })
}

type Form = Omit<InsertOptions, 'rows'>

async function measure(name: string, form: Form, make: (from: number, rows: number) => Buffer) {
  const insert = (rows: Buffer, token: string) =>
    store.insertRaw({ ...form, rows, token: `${name} ${token}`, settings: insertSettings })
  await insert(make(-1_000, 1_000), 'first')
  await settled()
  const chunks = Array.from({ length: count / chunk }, (_, index) => make(index * chunk, chunk))
  const before = cpu()
  let waitedMs = 0
  for (const [index, rows] of chunks.entries()) {
    const began = performance.now()
    await insert(rows, `${index}`)
    const tookMs = performance.now() - began
    waitedMs += tookMs
    await sleep(Math.max(0, everyMs - tookMs))
  }
  await settled()
  const after = cpu()
  const each = (us: number): string => (us / count).toFixed(2)
  const merges = after.mergesUs - before.mergesUs
  const all = after.userUs + after.systemUs - before.userUs - before.systemUs
  console.log(
    `${name}: ${each(all)} µs of CPU a row (${each(all - merges)} to take it in, ${each(merges)} to merge; ` +
      `${each(after.systemUs - before.systemUs)} of it the kernel's), ${each(waitedMs * 1_000)} µs until it is on disk`,
  )
}

function events(from: number, rows: number): Buffer {
  const lines: string[] = []
  for (let n = from; n < from + rows; n++) {
    const company = Math.floor(Math.random() * companies)
    const at = Date.now() + Math.floor(n / 100)
    const event = {
      id: derivedId('evt_', n),
      type: 'track' as const,
      subtype: 'api_call',
      body: `{"event":"api_call","company":{"id":"acme-corporation-${company}"},"user":{"id":"someone-at-acme-1"},"quantity":1}`,
      quantity: 1,
      mode: 'normal' as const,
      capturedAtMs: at,
      sentAtMs: null,
      receivedAtMs: at,
      apiKeyId: 'key_00000000001',
      idempotencyKey: null,
      companyId: derivedId('comp_', company),
      userId: derivedId('user_', company),
      leaseId: null,
      reservationId: null,
      failure: null,
      derivedFrom: null,
    }
    lines.push(eventRow(event, { environmentId: env, featureIds: [], at }))
  }
  return Buffer.from(lines.join('\n'))
}

function draws(from: number, rows: number): Buffer {
  const texts: string[] = []
  for (let n = from; n < from + rows; n++) {
    const company = Math.floor(Math.random() * companies)
    const seq = (sequences.get(company) ?? 0) + 1
    sequences.set(company, seq)
    const draw = {
      t: 'credit_draw' as const,
      c: credit,
      seq,
      at: Date.now() + Math.floor(n / 100),
      s: [[1, 1e9, 9e15 - seq * 1e9]] as const,
      f: 'feat_0000000001',
      u: derivedId('user_', company),
      e: derivedId('evt_', n),
    }
    texts.push(drawRows(env, derivedId('comp_', company), draw.at, [draw]))
  }
  return Buffer.from(texts.join(''))
}

/** Resolves when nothing has been merged for a second. */
async function settled(): Promise<void> {
  for (let quiet = 0; quiet < 10; ) {
    const [row] = await store.select<{ n: number }>('SELECT count() AS n FROM system.merges')
    quiet = row?.n === 0 ? quiet + 1 : 0
    await sleep(100)
  }
}

function cpu() {
  const fields = (path: string): readonly string[] => {
    const text = readFileSync(path, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  }
  const process = `/proc/${server.pid}`
  const ticks = fields(`${process}/stat`)
  let mergesUs = 0
  for (const thread of readdirSync(`${process}/task`)) {
    const place = `${process}/task/${thread}`
    try {
      if (readFileSync(`${place}/comm`, 'utf8').startsWith('MergeMutate'))
        mergesUs += Number(readFileSync(`${place}/schedstat`, 'utf8').split(' ')[0]) / 1_000
    } catch {
      // gone meanwhile
    }
  }
  return { userUs: Number(ticks[11]) * 10_000, systemUs: Number(ticks[12]) * 10_000, mergesUs }
}
