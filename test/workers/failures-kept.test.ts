// Records that a store refused are kept for somebody to look at, and never without end (security 36).
import t from 'tap'
import type { JournalRecord } from '../../src/journal/journal.js'
import { postgresChunks } from '../../workers/projector/chunks.js'
import { postgresRows } from '../../workers/projector/rows.js'
import { startStores } from '../stores.js'

const kept = 10_000
const textMax = 65_536
const place = { generation: 'g', shard: 0 }

t.test('security 36: the newest records that a store refused are kept, 10 000 of 64 KiB', async t => {
  const { sql } = await startStores(t)
  await sql`
    insert into projection_failures (generation, shard, store, sequence, error, record, failed_at)
    select 'old', 0, 'postgres', n, 'why', 'what', now() - interval '1 day' + n * interval '1 millisecond'
    from generate_series(1, ${kept}) as n`
  const chunks = postgresChunks(sql)
  const rows = postgresRows(sql)
  const count = async () =>
    (await sql<{ n: number }[]>`select count(*)::int as n from projection_failures`)[0]!.n
  const oldest = async () =>
    Number((await sql`select min(sequence) as n from projection_failures where generation = 'old'`)[0]!.n)

  await chunks.start(place)
  await chunks.putAside(place, 6, 'events', 'x'.repeat(100_000), new Error('y'.repeat(100_000)))
  t.equal(await count(), kept)
  t.equal(await oldest(), 2, 'the oldest one is gone')
  for (const line of ['z'.repeat(50_000), 'another', 'another'])
    await chunks.putAside(place, 6, 'events', line, 'once more')
  const [one] = await sql`select sequence, error, record from projection_failures where store = 'clickhouse'`
  t.equal(Number(one!.sequence), 7)
  t.equal(one!.record.length, textMax)
  t.ok(one!.error.length <= 4_096)

  for (const line of ['first', 'second', 'second']) await chunks.putAside(place, 8, 'events', line, 'why')
  const [lines] =
    await sql`select record from projection_failures where store = 'clickhouse' and sequence = 9`
  t.equal(lines!.record, 'first\nsecond', 'lines of one place, each once')
  t.equal(await oldest(), 3)

  await rows.start(place)
  const record = {
    sequence: 1,
    fact: Buffer.from(`{"\0":"${'é'.repeat(100_000)}"}`),
  } as unknown as JournalRecord
  await rows.putAside(place, 0, 1, record, new Error('refused'))
  const [fact] =
    await sql`select error, record from projection_failures where store = 'postgres' and generation = 'g'`
  t.equal(fact!.record.length, textMax)
  t.equal(fact!.error, 'Error: refused')
  t.equal(await count(), kept)
  t.equal(await oldest(), 4)
})
