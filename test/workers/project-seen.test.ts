// When last-seen times reach Postgres (FE-103): within a second where few entities wait, within ten where many do, and at once
// where somebody waits for them.
import t, { type Test } from 'tap'
import { encodeId } from '../../src/core/values/id.js'
import { type FileJournal, openFileJournal } from '../../src/journal/file-journal.js'
import { RecordFlag } from '../../src/journal/journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { Positions } from '../../src/wire/positions.js'
import { PostgresProjection } from '../../workers/projector/postgres.js'
import type { RowStore } from '../../workers/projector/rows.js'
import { temporaryDirectory } from '../stores.js'

const seenMs = 1_000
const manySeenMs = 10_000

/** A projection over a journal; `written` are the numbers of times that were written together. */
async function world(t: Test, seenAtOnce = 10_000) {
  const directory = await temporaryDirectory(t)
  const positions = Positions.make(1)
  const { journal } = await openFileJournal({
    directory,
    committed: sequence => positions.set(0, 'committed', sequence),
  })
  t.teardown(() => journal.close())
  const written: number[] = []
  const rows = new Map<string, number>()
  const stored = { upTo: 0 }
  const store: RowStore = {
    start: async () => ({ sequence: 0, seenSequence: 0 }),
    write: async () => {},
    putAside: async () => {},
    writeSeen: async (_place, upTo, times) => {
      written.push(times.size)
      for (const [id, { atMs }] of times) rows.set(id, atMs)
      stored.upTo = upTo
    },
  }
  const clock = { ms: 1_000_000 }
  const projection = new PostgresProjection({
    store,
    reader: new FileJournalReader({ directory }),
    positions,
    generation: 'g',
    shard: 0,
    factsMax: 2_000,
    recordsMax: 500_000,
    seenMs,
    manySeenMs,
    seenAtOnce,
    now: () => clock.ms,
  })
  const project = () => projection.project(positions.get(0, 'committed'))
  await see(journal, 1)
  await project()
  t.strictSame(written.splice(0), [1], 'the first at once')
  return { journal, positions, projection, project, clock, written, rows, stored }
}

const idOf = (company: number) => encodeId('comp_', 1, company)

/** A journal's companies 0, 1, 2 … are seen, or are given this time. */
async function see(journal: FileJournal, companies: number, explicitMs: number | null = null): Promise<void> {
  const records = Array.from({ length: companies }, (_, i) => {
    const fact = {
      k: 'c',
      id: idOf(i),
      env: encodeId('env_', 1, 1),
      at: 5,
      fx: [explicitMs === null ? { t: 'seen', atMs: 5 } : { t: 'seen_set', atMs: explicitMs }],
    }
    return {
      flags: explicitMs === null ? 0 : RecordFlag.identity,
      month: 0,
      row: '',
      fact: JSON.stringify(fact),
    }
  })
  await journal.append(records)
}

t.test('FE-103 few times are written within a second, many within ten', async t => {
  const { journal, projection, project, clock, written } = await world(t)
  await see(journal, 999)
  await project()
  clock.ms += seenMs - 1
  t.notOk(projection.owes)
  clock.ms++
  t.ok(projection.owes)
  await project()
  t.strictSame(written.splice(0), [999])
  for (let second = 0; second < 10; second++) {
    await see(journal, 1_000)
    await project()
    t.notOk(projection.owes, `second ${second}`)
    clock.ms += seenMs
  }
  t.ok(projection.owes)
  await project()
  t.strictSame(written, [1_000], 'each company once')
})

t.test('FE-103 times that somebody waits for are written as soon as they are read', async t => {
  const { journal, positions, projection, project, written } = await world(t)
  await see(journal, 2_000)
  const wanted = positions.get(0, 'committed')
  projection.wantSeen(wanted)
  await project()
  t.strictSame(written.splice(0), [2_000])
  t.equal(positions.get(0, 'seen'), wanted)
  t.notOk(projection.owes)
  await see(journal, 2_000)
  await project()
  t.notOk(projection.owes, 'a wish of before wants no more')
  projection.wantSeen(positions.get(0, 'committed'))
  t.ok(projection.owes)
  await project()
  t.equal(positions.get(0, 'seen'), positions.get(0, 'committed'))
})

t.test(
  'FE-103, CU-46 many times are written in parts: facts come between two, and explicit times stay',
  async t => {
    const { journal, positions, projection, project, written, rows, stored } = await world(t, 1_000)
    const before = stored.upTo
    await see(journal, 2_500)
    const first = positions.get(0, 'committed')
    projection.wantSeen(first)
    await project()
    t.strictSame([written.splice(0), stored.upTo, positions.get(0, 'seen')], [[1_000], before, before])
    t.ok(projection.owes)
    // of the first part the row was written, of the others it was not
    await see(journal, 2_000, 3)
    await project()
    t.strictSame(
      [written.splice(0), stored.upTo],
      [[500], first],
      'those with an explicit time are written with it, later',
    )
    projection.wantSeen(positions.get(0, 'committed'))
    await projection.finish()
    t.strictSame([positions.get(0, 'seen'), stored.upTo], Array(2).fill(positions.get(0, 'committed')))
    t.strictSame([rows.get(idOf(0)), rows.get(idOf(1_999)), rows.get(idOf(2_400))], [3, 3, 5])
  },
)
