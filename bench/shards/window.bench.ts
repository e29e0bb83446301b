// How long a start reads idempotency keys from ClickHouse: those that are in no file yet. BENCH_KEYS sets their number
// (2,000,000; 10,000 a second).
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { claimsAtOnce, eventClaims } from '../../src/analytics/history.js'
import { Dedupe } from '../../src/entities/idempotency/dedupe.js'
import { fillWindow } from '../../src/recovery/warm-up.js'
import { openClickHouse } from '../../src/storage/clickhouse.js'
import { startEmbeddedClickHouse } from '../../src/storage/embedded/clickhouse.js'
import { splitStatements, sqlDirectory } from '../../src/storage/migrate.js'
import { cpuTimes, usedBetween } from '../cpu.js'

const keys = Number(process.env.BENCH_KEYS ?? 2_000_000)
const perInsert = 1_000_000
const beginsMs = Date.now() - keys / 10
const root = mkdtempSync(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'tollgate-bench-'))
const server = await startEmbeddedClickHouse({ directory: root, log: pino({ level: 'warn' }) })
const store = openClickHouse(server.address)
try {
  const folder = join(sqlDirectory, 'clickhouse')
  for (const file of readdirSync(folder).sort())
    if (file.endsWith('.sql'))
      for (const statement of splitStatements(readFileSync(join(folder, file), 'utf8')))
        await store.command(statement)
  for (let from = 0; from < keys; from += perInsert)
    await store.command(`
      insert into event_claims (loaded_at, environment_id, idempotency_key, id, captured_at, print)
      select fromUnixTimestamp64Milli(${beginsMs} + intDiv(number, 10), 'UTC') as loaded_at, 'env_23456789ABC',
        concat('key-', toString(number), '-abcdefgh0001'),
        concat('evt_22', leftPad(translate(toString(number), '01', 'AB'), 9, '2')), loaded_at, 5
      from numbers(${from}, ${Math.min(perInsert, keys - from)})`)
  const window = new Dedupe(keys)
  const before = cpuTimes(process.pid)
  const begunMs = performance.now()
  await fillWindow(eventClaims(store, beginsMs, claimsAtOnce), window)
  const tookMs = performance.now() - begunMs
  const used = usedBetween(before, cpuTimes(process.pid))
  if (window.size !== keys) throw new Error(`${window.size} of ${keys} keys were read`)
  const each = (part: string) => ((used.get(part) ?? 0) / keys).toFixed(2)
  console.log(
    `${keys.toLocaleString('en')} keys from ClickHouse: ${((tookMs * 1_000) / keys).toFixed(2)} µs each, ` +
      `CPU of this thread ${each('HTTP')} µs, of ClickHouse ${each('ClickHouse')} µs; ${Math.round(tookMs)} ms`,
  )
} finally {
  await store.close()
  await server.stop()
  rmSync(root, { recursive: true, force: true })
}
