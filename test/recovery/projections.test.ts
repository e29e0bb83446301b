import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { eventsList } from '../../src/analytics/events.js'
import { eventClaims } from '../../src/analytics/history.js'
import { unknownPrint } from '../../src/core/values/fingerprint.js'
import { encodeId } from '../../src/core/values/id.js'
import { packClaim, windowMs } from '../../src/entities/idempotency/dedupe.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { shardDirectory } from '../../src/journal/segment.js'
import { readTail } from '../../src/recovery/journal-tail.js'
import { Projections } from '../../src/recovery/projections.js'
import { restorePositions, storedIn } from '../../src/recovery/warm-up.js'
import { packedClaimBytes, printAt, unpackClaim } from '../../src/wire/packed-claim.js'
import { Positions } from '../../src/wire/positions.js'
import { seed } from '../random.js'
import { silent, startStores } from '../stores.js'
import { History, randomFrom } from '../workers/history.js'

// Stores are killed and come back.
t.test('the projectors in their thread, with real stores', async t => {
  t.comment(`seed ${seed}`)
  const stores = await startStores(t, { own: true })
  const environmentId = 'env_projected'
  const root = join(stores.dataDir, 'journal')
  const positions = Positions.make(2)
  const random = randomFrom(seed)
  const histories = [0, 1].map(shard => new History(random, shard, environmentId))
  const journals = await Promise.all(
    [0, 1].map(async shard => {
      const { journal } = await openFileJournal({
        directory: shardDirectory(root, shard),
        committed: sequence => positions.set(shard, 'committed', sequence),
      })
      return journal
    }),
  )
  t.teardown(() => Promise.all(journals.map(journal => journal.close())))
  const append = async (count: number): Promise<void> => {
    await Promise.all(journals.map((journal, shard) => journal.append(histories[shard]!.records(count))))
  }
  const options = {
    positions,
    generation: 'g1',
    journalDirectory: root,
    postgres: stores.postgres,
    clickhouse: stores.clickhouseAddress,
    log: silent,
    bounds: { rowsMax: 200, postgresMs: 60_000, clickhouseMs: 60_000 },
  }
  await append(300)
  let projections = await Projections.start(options)
  t.teardown(() => projections.stop(0))
  const events = async (): Promise<number> => {
    const [row] = await stores.clickhouse.select<{ n: number }>('SELECT count() AS n FROM events')
    return row!.n
  }
  const total = (): number => histories.reduce((sum, { counted }) => sum + counted.events, 0)

  await t.test('a caller that waited for a record finds it in the store', async t => {
    await append(20)
    t.ok(projections.lag('postgres').records > 0)
    await projections.barrier('postgres', 30_000)
    t.equal(projections.lag('postgres').records, 0)
    await append(1)
    const wanted = positions.get(1, 'committed')
    // it rejects when its time is over: gathering ends because somebody waits
    await projections.reached('postgres', 1, wanted, 30_000)
    await projections.barrier('clickhouse', 30_000)
    t.equal(await events(), total())
    const rows = await eventsList(stores.clickhouse, environmentId, { limit: 5, offset: 0 }, Date.now())
    t.equal(rows.length, 5)
  })

  await t.test(
    'ClickHouse away: Postgres goes on, waiters are told, and the backlog drains in order',
    async t => {
      await append(10)
      process.kill(stores.servers.clickhouse.pid!, 'SIGSTOP')
      await t.rejects(projections.barrier('clickhouse', 300), { code: 'store_away', message: /ClickHouse/ })
      t.ok(projections.lag('clickhouse').records > 0)
      process.kill(stores.servers.clickhouse.pid!, 'SIGKILL')
      await append(700)
      await projections.barrier('postgres', 30_000)
      await projections.barrier('clickhouse', 60_000)
      t.equal(await events(), total())
      t.equal(projections.lag('clickhouse').records, 0)
    },
  )

  await t.test('Postgres away: nothing is lost, and it goes on by itself', async t => {
    process.kill(stores.servers.postgres.pid!, 'SIGKILL')
    await append(300)
    await projections.barrier('postgres', 60_000)
    await projections.barrier('clickhouse', 60_000)
    t.equal(await events(), total())
    const [row] = await stores.sql`select count(*)::int as n from companies`
    const living = histories.flatMap(history => history.expected().entities)
    t.equal(row!.n, living.filter(entity => entity.startsWith('company')).length)
    for (let i = 0; projections.degraded().length > 0 && i < 100; i++) await sleep(100)
    t.same(projections.degraded(), [])
  })

  await t.test(
    'EV-25: claims of the window come from the store and from what it does not have yet',
    async t => {
      await append(50)
      const inStore = async (): Promise<Buffer[]> => {
        const all: Buffer[] = []
        const stored = eventClaims(stores.clickhouse, Date.now() - windowMs, 100)
        for await (const page of stored.pages())
          for (let at = 0; at < page.length; at += packedClaimBytes)
            all.push(page.subarray(at, at + packedClaimBytes))
        t.equal(await stored.count(), all.length)
        return all
      }
      const eventOf = (claim: Buffer): string => unpackClaim(claim, 0).eventId
      // from positions as they stand: a chunk that goes there meanwhile is seen in both places
      const tail: Buffer[] = []
      await readTail(
        { directory: root, positions },
        {
          expect: () => {},
          claim: ({ environmentId, key, eventHigh, eventLow, capturedAtMs, print }, receivedAtMs) => {
            const eventId = encodeId('evt_', eventHigh, eventLow)
            tail.push(packClaim(environmentId, key, { eventId, capturedAtMs, receivedAtMs, print }))
          },
        },
      )
      t.ok(tail.length > 0)
      const both = [...(await inStore()), ...tail]
      const claims = [...new Map(both.map(claim => [eventOf(claim), claim])).values()]
      t.equal(
        claims.length,
        histories.reduce((sum, { counted }) => sum + counted.claims, 0),
      )
      await projections.barrier('clickhouse', 30_000)
      const stored = await inStore()
      // what an event said the journal tells of use alone
      const unknown = new Set(tail.filter(claim => unpackClaim(claim, 0).print === unknownPrint).map(eventOf))
      t.ok(unknown.size < tail.length)
      for (const claim of [...stored, ...claims])
        if (unknown.has(eventOf(claim))) claim.writeUInt16LE(unknownPrint, printAt)
      const sorted = (of: readonly Buffer[]) => of.map(claim => claim.toString('hex')).sort()
      t.strictSame(sorted(stored), sorted(claims), 'the same, from either place; ClickHouse hashes as we do')
      const received = stored.map(claim => unpackClaim(claim, 0).receivedAtMs)
      t.strictSame(
        received,
        [...received].sort((a, b) => a - b),
        'in the order of receipt',
      )
    },
  )

  await t.test('flag checks are counted and sampled without the journal', async t => {
    const minute = Math.floor(Date.now() / 60_000) * 60
    const base = { environment_id: environmentId, flag_id: 'flag_1', flag_key: 'beta' }
    projections.recordChecks(
      [
        JSON.stringify({
          environment_id: environmentId,
          id: 'evt_c',
          type: 'flag_check',
          mode: 'recorded',
          captured_at: Date.now(),
        }),
      ],
      [JSON.stringify({ ...base, minute, company_id: 'c', value: true, reason: 'default', checks: 41 })],
    )
    projections.recordChecks(
      [],
      [JSON.stringify({ ...base, minute, company_id: 'c', value: true, reason: 'default', checks: 1 })],
    )
    let checks = 0
    for (let i = 0; i < 100 && checks < 42; i++) {
      await sleep(100)
      const [row] = await stores.clickhouse.select<{ n: number }>('SELECT sum(checks) AS n FROM flag_checks')
      checks = row!.n
    }
    t.equal(checks, 42, 'a recorded row is not counted again')
    const rows = await eventsList(
      stores.clickhouse,
      environmentId,
      { types: ['flag_check'], limit: 5, offset: 0 },
      Date.now(),
    )
    t.same(
      rows.map(row => row.id),
      ['evt_c'],
    )
  })

  await t.test('a stop projects what is committed; a new start goes on from there', async t => {
    await append(150)
    await projections.stop(30_000)
    for (const shard of [0, 1])
      for (const mark of ['postgres', 'seen', 'clickhouse'] as const)
        t.equal(positions.get(shard, mark), positions.get(shard, 'committed'), mark)
    t.equal(await events(), total() + 1)
    const restored = Positions.make(2)
    await restorePositions(storedIn(stores.sql), 'g1', restored)
    t.equal(restored.stored(1), positions.get(1, 'committed'))
    await append(50)
    projections = await Projections.start(options)
    await projections.barrier('clickhouse', 30_000)
    t.equal(await events(), total() + 1)
  })
})
