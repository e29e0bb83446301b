// The idempotency window after a restart: exact, whether a key is in ClickHouse, only in the journal's tail, or both.
import { join } from 'node:path'
import t from 'tap'
import { encodeId } from '../../src/core/id.js'
import type { AcceptedEvent, Fact } from '../../src/core/message.js'
import { Dedupe, windowMs } from '../../src/engine/dedupe.js'
import { fillDedupe } from '../../src/engine/fill.js'
import { Projections } from '../../src/engine/projections.js'
import { eventRow, monthOf } from '../../src/journal/event-row.js'
import { openFileJournal } from '../../src/journal/file.js'
import { type NewRecord, RecordFlag } from '../../src/journal/journal.js'
import { Positions } from '../../src/journal/positions.js'
import { shardDirectory } from '../../src/journal/segment.js'
import { silent, startStores } from '../stores.js'

const environmentId = 'env_filled'
const id = (n: number) => encodeId('evt_', 1, n)

function record(n: number, key: string, receivedAtMs: number, failure: string | null = null): NewRecord {
  const event: AcceptedEvent = {
    id: id(n),
    type: 'track',
    subtype: 'x',
    body: '{}',
    quantity: 1,
    mode: 'backfill',
    capturedAtMs: receivedAtMs - 40 * windowMs,
    sentAtMs: null,
    receivedAtMs,
    apiKeyId: 'key_1',
    idempotencyKey: key,
    companyId: null,
    userId: null,
    leaseId: null,
    reservationId: null,
    failure,
    derivedFrom: null,
    inference: null,
  }
  const extra = { environmentId, featureIds: [], at: receivedAtMs, cost: null, flagId: null }
  const fact: Fact = {
    k: 'e',
    id: environmentId,
    env: environmentId,
    at: receivedAtMs,
    fx: [],
    ...(failure === null ? { ik: [key, event.id, event.capturedAtMs] as const } : {}),
  }
  return {
    flags: RecordFlag.event,
    month: monthOf(event.capturedAtMs),
    row: eventRow(event, extra),
    fact: JSON.stringify(fact),
  }
}

t.test('EV-26 the window is exact after a restart', async t => {
  const stores = await startStores(t)
  const root = join(stores.dataDir, 'journal')
  const positions = Positions.make(1)
  const { journal } = await openFileJournal({
    directory: shardDirectory(root, 0),
    committed: sequence => positions.set(0, 'committed', sequence),
  })
  t.teardown(() => journal.close())
  const start = async (bounds?: { postgresMs: number; clickhouseMs: number }) =>
    Projections.start({
      positions,
      generation: 'g1',
      journalDirectory: root,
      postgres: stores.postgres,
      clickhouse: stores.clickhouseAddress,
      log: silent,
      ...(bounds ? { bounds } : {}),
    })
  const now = Date.now()

  await journal.append([
    record(1, 'stored', now - 1_000),
    record(2, 'stored, just open', now - windowMs + 1),
    record(3, 'stored, just closed', now - windowMs),
    record(4, 'stored, failed', now, 'company not found'),
  ])
  const first = await start()
  await first.barrier('clickhouse', 30_000)
  await first.stop()
  // nothing takes these to ClickHouse any more: they are in the journal alone
  const idle = await start({ postgresMs: 600_000, clickhouseMs: 600_000 })
  t.teardown(() => idle.stop(0))
  await journal.append([
    record(5, 'tail', now - 500),
    record(6, 'tail, just open', now - windowMs + 1),
    record(7, 'tail, just closed', now - windowMs),
    record(8, 'tail, failed', now, 'company not found'),
  ])
  const dedupe = new Dedupe(1_000)
  await fillDedupe(idle, dedupe, now)
  const holder = (key: string) =>
    dedupe.claim(environmentId, key, { eventId: id(99), capturedAtMs: 0, settled: null }, now)

  t.strictSame(holder('stored'), {
    eventId: id(1),
    capturedAtMs: now - 1_000 - 40 * windowMs,
    receivedAtMs: now - 1_000,
    settled: null,
  })
  t.match(holder('stored, just open'), { eventId: id(2) })
  t.equal(holder('stored, just closed'), null, 'free again at 24 h 0 s')
  t.equal(holder('stored, failed'), null, 'EV-28')
  t.match(holder('tail'), { eventId: id(5), capturedAtMs: now - 500 - 40 * windowMs })
  t.match(holder('tail, just open'), { eventId: id(6) })
  t.equal(holder('tail, just closed'), null)
  t.equal(holder('tail, failed'), null, 'EV-28')
  const [stored] = await stores.clickhouse.select<{ n: number }>('SELECT count() AS n FROM event_claims')
  t.equal(stored!.n, 3, 'the tail was in the journal alone')
})
