// The idempotency window after a restart: exact, whether a key is in ClickHouse, only in the journal's tail, or both.
import { join } from 'node:path'
import t from 'tap'
import { eventClaims } from '../../src/analytics/history.js'
import { TraitRegistry } from '../../src/catalog/traits.js'
import type { Fact } from '../../src/core/model/message.js'
import { encodeId } from '../../src/core/values/id.js'
import { Directory } from '../../src/entities/directory/directory.js'
import { Dedupe, windowMs } from '../../src/entities/idempotency/dedupe.js'
import { HoldKeys } from '../../src/entities/idempotency/hold-keys.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { type NewRecord, RecordFlag } from '../../src/journal/journal.js'
import { eventRow, monthOf } from '../../src/journal/records/event-row.js'
import { shardDirectory } from '../../src/journal/segment.js'
import { Projections } from '../../src/recovery/projections.js'
import { Phases } from '../../src/recovery/start-phases.js'
import { fillMemory, storedIn } from '../../src/recovery/warm-up.js'
import { Positions } from '../../src/wire/positions.js'
import { acceptedEvent } from '../accepted-event.js'
import { silent, startStores } from '../stores.js'

const environmentId = 'env_filled'
const id = (n: number) => encodeId('evt_', 1, n)

function record(n: number, key: string, receivedAtMs: number, failure: string | null = null): NewRecord {
  const event = acceptedEvent({
    id: id(n),
    mode: 'backfill',
    capturedAtMs: receivedAtMs - 40 * windowMs,
    receivedAtMs,
    idempotencyKey: key,
    failure,
  })
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
  const now = Date.now()

  await journal.append([
    record(1, 'stored', now - 1_000),
    record(2, 'stored, just open', now - windowMs + 1),
    record(3, 'stored, just closed', now - windowMs),
    record(4, 'stored, failed', now, 'company not found'),
    record(10, 'taken again', now - windowMs - 1),
    record(11, 'größe 🧾 \ud83e "\\', now - 900),
  ])
  const projections = await Projections.start({
    positions,
    generation: 'g1',
    journalDirectory: root,
    postgres: stores.postgres,
    clickhouse: stores.clickhouseAddress,
    log: silent,
  })
  await projections.barrier('clickhouse', 30_000)
  // nothing takes what follows to ClickHouse any more: it is in the journal alone
  await projections.stop()
  await journal.append([
    record(5, 'tail', now - 500),
    record(6, 'tail, just open', now - windowMs + 1),
    record(7, 'tail, just closed', now - windowMs),
    record(8, 'tail, failed', now, 'company not found'),
    record(9, 'taken again', now - 400),
  ])
  const dedupe = new Dedupe(1_000)
  // two keys a statement, so that a page ends within the window
  const claims = (sinceMs: number) => eventClaims(stores.clickhouse, sinceMs, 2)
  const holdKeys = new HoldKeys(1_000)
  await fillMemory(
    {
      journals: { directory: root, positions },
      entities: storedIn(stores.sql),
      claims,
      holdKeys: () => holdKeys.load(stores.sql),
    },
    { directory: new Directory(), dedupe, traits: new TraitRegistry(), holdKeys },
    now,
    new Phases(),
  )
  const holder = (key: string) => dedupe.claim(environmentId, key, { eventId: id(99), capturedAtMs: 0 }, now)

  t.match(holder('stored'), {
    eventId: id(1),
    capturedAtMs: now - 1_000 - 40 * windowMs,
    receivedAtMs: now - 1_000,
    durable: null,
  })
  t.match(holder('stored, just open'), { eventId: id(2) })
  t.equal(holder('stored, just closed'), null, 'free again at 24 h 0 s')
  t.match(holder('größe 🧾 \ud83e "\\'), { eventId: id(11) }, 'a key of any characters')
  t.match(holder('taken again'), { eventId: id(9) }, 'EV-26 by whom the tail says')
  t.equal(holder('stored, failed'), null, 'EV-28')
  t.match(holder('tail'), { eventId: id(5), capturedAtMs: now - 500 - 40 * windowMs })
  t.match(holder('tail, just open'), { eventId: id(6) })
  t.equal(holder('tail, just closed'), null)
  t.equal(holder('tail, failed'), null, 'EV-28')
  const [stored] = await stores.clickhouse.select<{ n: number }>('SELECT count() AS n FROM event_claims')
  t.equal(stored!.n, 5, 'the tail was in the journal alone')
})
