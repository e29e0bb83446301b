// How many events a second one shard's projectors carry from the journal into both stores, by companies involved.
import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { derivedId } from '../../src/core/values/id.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { type NewRecord, RecordFlag } from '../../src/journal/journal.js'
import { eventRow, monthOf } from '../../src/journal/records/event-row.js'
import { shardDirectory } from '../../src/journal/segment.js'
import { Projections } from '../../src/recovery/projections.js'
import { openClickHouse } from '../../src/storage/clickhouse.js'
import { startEmbeddedClickHouse } from '../../src/storage/embedded/clickhouse.js'
import { startEmbeddedPostgres } from '../../src/storage/embedded/postgres.js'
import { migrate } from '../../src/storage/migrate.js'
import { openPostgres } from '../../src/storage/postgres.js'
import { Positions } from '../../src/wire/positions.js'

const count = Number(process.env.BENCH_EVENTS ?? 600_000)
const log = pino({ level: 'warn' })
const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
await chmod(directory, 0o711)
const [postgres, clickhouse] = await Promise.all([
  startEmbeddedPostgres({ directory: join(directory, 'postgres'), log }),
  startEmbeddedClickHouse({ directory: join(directory, 'clickhouse'), log }),
])
const sql = openPostgres(postgres.address)
const store = openClickHouse(clickhouse.address)
try {
  await migrate({ postgres: postgres.address, clickhouse: store })
  for (const companies of [100, 20_000]) await run(companies)
} finally {
  await Promise.all([sql.end(), store.close()])
  await Promise.all([postgres.stop(), clickhouse.stop()])
  rmSync(directory, { recursive: true })
}

async function run(companies: number): Promise<void> {
  const root = join(directory, `journal-${companies}`)
  const positions = Positions.make(1)
  const { journal } = await openFileJournal({
    directory: shardDirectory(root, 0),
    committed: sequence => positions.set(0, 'committed', sequence),
  })
  const now = Date.now()
  for (let done = 0; done < count; done += 500)
    await journal.append(Array.from({ length: 500 }, (_, i) => record(done + i, companies, now)))
  const projections = await Projections.start({
    positions,
    generation: `bench-${companies}`,
    journalDirectory: root,
    postgres: postgres.address,
    clickhouse: clickhouse.address,
    log,
  })
  const started = performance.now()
  for (const what of ['postgres', 'clickhouse'] as const)
    void projections.barrier(what, 600_000).then(() => {
      const seconds = (performance.now() - started) / 1_000
      const rate = Math.round(count / seconds).toLocaleString('en')
      console.log(`${companies} companies → ${what}: ${rate} records/s (${seconds.toFixed(1)} s)`)
    })
  await projections.barrier('clickhouse', 600_000)
  const [row] = await store.select<{ n: number }>('SELECT sum(events) AS n FROM usage_by_hour')
  console.log(`  events counted so far: ${row?.n}`)
  await projections.stop()
  await journal.close()
}

function record(n: number, companies: number, now: number): NewRecord {
  const companyId = derivedId('comp_', n % companies)
  const event = {
    id: derivedId('evt_', companies, n),
    type: 'track' as const,
    subtype: `event_${n % 7}`,
    body: `{"event":"event_${n % 7}","company":{"id":"company ${n % companies}"},"quantity":3}`,
    quantity: 3,
    mode: 'normal' as const,
    capturedAtMs: now,
    sentAtMs: null,
    receivedAtMs: now,
    apiKeyId: 'key_1',
    idempotencyKey: null,
    companyId,
    userId: null,
    leaseId: null,
    reservationId: null,
    failure: null,
    derivedFrom: null,
  }
  return {
    flags: RecordFlag.event,
    month: monthOf(now),
    row: eventRow(event, { environmentId: 'env_bench', featureIds: ['feat_1'], at: now }),
    fact: JSON.stringify({
      k: 'c',
      id: companyId,
      env: 'env_bench',
      at: now,
      fx: [
        { t: 'used', subtype: event.subtype, quantity: 3, atMs: now },
        { t: 'seen', atMs: now },
      ],
    }),
  }
}
