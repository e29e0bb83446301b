import { join } from 'node:path'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import type { ClickHouse } from '../../src/storage/clickhouse.js'
import { Positions } from '../../src/wire/positions.js'
import { postgresChunks } from '../../workers/projector/chunks.js'
import { ClickHouseProjection } from '../../workers/projector/clickhouse.js'
import { PostgresProjection } from '../../workers/projector/postgres.js'
import { postgresRows } from '../../workers/projector/rows.js'
import { seed } from '../random.js'
import { type Stores, startStores } from '../stores.js'
import { emptyShown, History, line, randomFrom, type Shown, sorted } from './history.js'

const shards = [0, 1]

/** The stored state of an environment, in the shape of History.expected. */
async function shown({ sql }: Stores, environmentId: string): Promise<Shown> {
  const rows = emptyShown()
  const ms = (time: Date | null): number | null => time?.getTime() ?? null
  for (const kind of ['company', 'user'] as const)
    for (const row of await sql`
      select * from ${sql(kind === 'company' ? 'companies' : 'users')} where environment_id = ${environmentId}`)
      rows.entities.push(
        line(kind, row.id, row.name, ms(row.created_at), ms(row.updated_at), ms(row.last_seen_at)),
      )
  for (const table of ['keys', 'traits'] as const)
    for (const row of await sql`
      select * from ${sql(`entity_${table}`)} where environment_id = ${environmentId}`)
      rows[table].push(line(row.entity_id, row.name, row.value, ms(row.created_at), ms(row.updated_at)))
  for (const row of await sql`
    select m.* from memberships m join companies c on c.id = m.company_id where m.environment_id = ${environmentId}`)
    rows.memberships.push(line(row.user_id, row.company_id, ms(row.created_at)))
  for (const row of await sql`select * from company_plans where environment_id = ${environmentId}`)
    rows.plans.push(line(row.company_id, row.kind, row.plan_id))
  for (const row of await sql`select * from company_overrides where environment_id = ${environmentId}`)
    rows.overrides.push(line(row.company_id, row.id, row.feature_id))
  for (const row of await sql`select * from company_credits where environment_id = ${environmentId}`)
    rows.credits.push(line(row.company_id, row.credit_id))
  return sorted(rows)
}

async function counted({ clickhouse }: Stores, environmentId: string): Promise<Record<string, number>> {
  const one = async (sql: string): Promise<Record<string, number>> => {
    const [row] = await clickhouse.select<Record<string, string | number>>(
      `SELECT ${sql} WHERE environment_id = {e:String}`,
      { e: environmentId },
    )
    return Object.fromEntries(Object.entries(row!).map(([name, value]) => [name, Number(value)]))
  }
  return {
    ...(await one(
      `count() AS events, uniqExact(id) AS distinct, countIf(status = 'failed') AS failed FROM events`,
    )),
    ...(await one('sum(quantity) AS quantity, sum(usage_by_hour.events) AS of_companies FROM usage_by_hour')),
    ...(await one('sum(quantity) AS by_user FROM usage_by_user_hour')),
    ...(await one('sum(event_types.events) AS tracked FROM event_types')),
    ...(await one('count() AS ledger, sum(quantity_consumed) AS consumed FROM credit_ledger')),
    ...(await one('sum(consumed) AS daily, sum(entries) AS entries FROM credit_usage_by_day')),
    ...(await one('count() AS claims FROM event_claims')),
  }
}

t.test('projections with real stores', async t => {
  t.comment(`seed ${seed}`)
  const stores = await startStores(t)

  interface Setting {
    readonly environmentId: string
    readonly generation: string
    readonly positions: Positions
    readonly directories: readonly string[]
    readonly histories: readonly History[]
  }

  async function setting(name: string, count: number): Promise<Setting> {
    const random = randomFrom(seed)
    const environmentId = `env_${name}`
    const positions = Positions.make(shards.length)
    const directories = shards.map(shard => join(stores.dataDir, `journal-${name}`, String(shard)))
    const histories = shards.map(shard => new History(random, shard, environmentId))
    for (const shard of shards) {
      const { journal } = await openFileJournal({
        directory: directories[shard]!,
        segmentBytes: 20_000,
        committed: sequence => positions.set(shard, 'committed', sequence),
      })
      for (let done = 0; done < count; done += 50) await journal.append(histories[shard]!.records(50))
      await journal.close()
    }
    return { environmentId, generation: `g-${name}`, positions, directories, histories }
  }

  /** Run a projection of every shard to its end, begun anew whenever it throws. */
  async function runToEnd(
    { positions }: Setting,
    begin: (shard: number) => {
      project(upTo: number): Promise<void>
      finish(): Promise<void>
      position: number
    },
  ): Promise<number> {
    let deaths = 0
    for (const shard of shards) {
      const committed = positions.get(shard, 'committed')
      for (let projection = begin(shard); ; ) {
        try {
          while (projection.position < committed) await projection.project(committed)
          await projection.finish()
          break
        } catch (error) {
          // A store may be away for a moment on a busy machine; the stream tries again, and so does this.
          if (!(error instanceof Crash || error instanceof ServiceError) || deaths > 500) throw error
          deaths++
          projection = begin(shard)
        }
      }
    }
    return deaths
  }

  class Crash extends Error {}

  /** Throws at every step once, and later now and then. */
  function crashes(): (name: string) => void {
    const seen = new Map<string, number>()
    const random = randomFrom(seed + 1)
    return name => {
      const times = (seen.get(name) ?? 0) + 1
      seen.set(name, times)
      if (times === 1 || (times < 40 && random(4) === 0)) throw new Crash(name)
    }
  }

  const postgresOf = (
    { positions, generation, directories }: Setting,
    shard: number,
    step?: (name: string) => void,
  ): PostgresProjection => {
    let now = 0
    return new PostgresProjection({
      store: postgresRows(stores.sql),
      reader: new FileJournalReader({ directory: directories[shard]!, chunkBytes: 3_000 }),
      positions,
      generation,
      shard,
      factsMax: 40,
      recordsMax: 300,
      seenMs: 100,
      manySeenMs: 100,
      seenAtOnce: 7,
      now: () => {
        now += 30
        return now
      },
      ...(step === undefined ? {} : { step }),
    })
  }

  const clickhouseOf = (
    { positions, generation, directories }: Setting,
    shard: number,
    step?: (name: string) => void,
    clickhouse: Pick<ClickHouse, 'insertRaw'> = stores.clickhouse,
    recordsMax = 70,
  ): ClickHouseProjection =>
    new ClickHouseProjection({
      chunks: postgresChunks(stores.sql),
      clickhouse,
      reader: new FileJournalReader({ directory: directories[shard]!, chunkBytes: 3_000 }),
      positions,
      generation,
      shard,
      recordsMax,
      bytesMax: 1 << 20,
      ...(step === undefined ? {} : { step }),
    })

  const expectedCounts = ({ histories }: Setting): Record<string, number> => {
    const total = (name: keyof History['counted']): number =>
      histories.reduce((sum, history) => sum + history.counted[name], 0)
    return {
      events: total('events'),
      distinct: total('events'),
      failed: total('failed'),
      tracked: total('tracked'),
      ledger: total('ledger'),
      entries: total('ledger'),
      consumed: total('consumed'),
      daily: total('consumed'),
      claims: total('claims'),
    }
  }

  await t.test('Postgres shows the core’s result, after a crash at any step', async t => {
    const one = await setting('crashed', 1_500)
    const step = crashes()
    const deaths = await runToEnd(one, shard => postgresOf(one, shard, step))
    t.ok(deaths > 10, `${deaths} crashes`)
    const found = await shown(stores, one.environmentId)
    const wanted = emptyShown()
    for (const history of one.histories)
      for (const [table, rows] of Object.entries(history.expected()) as [keyof Shown, string[]][])
        wanted[table].push(...rows)
    sorted(wanted)
    for (const table of Object.keys(wanted) as (keyof Shown)[]) {
      t.ok(wanted[table].length > 2, `${table}: ${wanted[table].length} rows`)
      t.strictSame(found[table], wanted[table], table)
    }
    for (const shard of shards) {
      t.equal(one.positions.get(shard, 'postgres'), one.positions.get(shard, 'committed'))
      t.equal(one.positions.get(shard, 'seen'), one.positions.get(shard, 'committed'))
    }
    t.equal((await stores.sql`select 1 from projection_failures`).length, 0)
  })

  await t.test('ClickHouse counts every event and movement once, after a crash at any step', async t => {
    const one = await setting('once', 600)
    const step = crashes()
    const deaths = await runToEnd(one, shard => clickhouseOf(one, shard, step))
    t.ok(deaths > 10, `${deaths} crashes`)
    const found = await counted(stores, one.environmentId)
    t.match(found, expectedCounts(one))
    const quantities = one.histories.reduce((sum, history) => sum + history.counted.quantity, 0)
    const [all] = await stores.clickhouse.select<{ q: number }>(
      `SELECT sum(quantity) AS q FROM events WHERE environment_id = {e:String} AND status != 'failed'`,
      { e: one.environmentId },
    )
    t.equal(all!.q, quantities)
    t.equal(found.quantity, found.by_user, 'users add up to companies (US-30)')
  })

  await t.test('an insert that arrived although its answer was lost is not repeated', async t => {
    const one = await setting('lost', 250)
    const random = randomFrom(seed)
    const deaf: Pick<ClickHouse, 'insertRaw'> = {
      insertRaw: async options => {
        await stores.clickhouse.insertRaw(options)
        if (random(5) < 2) throw new Crash('the answer was lost')
      },
    }
    await runToEnd(one, shard => clickhouseOf(one, shard, undefined, deaf))
    t.match(await counted(stores, one.environmentId), expectedCounts(one))
  })

  await t.test('a chunk keeps its bounds over a crash although its size is set anew', async t => {
    const one = await setting('resized', 300)
    const step = crashes()
    let size = 20
    await runToEnd(one, shard => {
      size = (size * 7) % 193
      return clickhouseOf(one, shard, step, stores.clickhouse, size + 1)
    })
    t.match(await counted(stores, one.environmentId), expectedCounts(one))
  })

  await t.test('two projectors on one journal: the second writes nothing', async t => {
    const one = await setting('two', 200)
    const first = postgresOf(one, 0)
    const second = postgresOf(one, 0)
    await second.project(1)
    await first.project(100)
    await t.rejects(second.project(150), { name: 'PositionMoved' })
    await second.project(200)
    t.ok(second.position > 100, 'it then goes on from where the other is')
  })

  await t.test('a record that Postgres refuses is put aside and holds up nothing', async t => {
    const one = await setting('refused', 100)
    const { journal } = await openFileJournal({
      directory: one.directories[0]!,
      committed: sequence => one.positions.set(0, 'committed', sequence),
    })
    const fact = (fx: unknown[]): string =>
      JSON.stringify({ k: 'c', id: 'comp_refused', env: one.environmentId, at: 1_773_568_800_000, fx })
    const record = (fx: unknown[]) => ({ flags: 2, month: 0, row: '', fact: fact(fx) })
    await journal.append([
      record([{ t: 'created', name: 'before', atMs: 1 }]),
      record([{ t: 'seen_set', atMs: 8.64e15 }]),
      record([{ t: 'named', name: 'between' }]),
      record([{ t: 'seen_set', atMs: 9e15 }]),
      { ...record([]), fact: 'no JSON' },
      record([{ t: 'named', name: 'after' }]),
    ])
    await journal.close()
    const projection = postgresOf(one, 0)
    while (projection.position < 106) await projection.project(106)
    const [row] = await stores.sql`select name from companies where id = 'comp_refused'`
    t.equal(row!.name, 'after')
    const failures = await stores.sql`
      select * from projection_failures where generation = ${one.generation} order by sequence`
    t.match(failures, [
      { sequence: '102', store: 'postgres', record: /seen_set/, error: /out of range/ },
      { sequence: '104', record: /seen_set/, error: /RangeError/ },
      { sequence: '105', record: 'no JSON' },
    ])
    t.equal(failures.length, 3)
  })

  await t.test('a line that ClickHouse refuses is put aside and holds up nothing', async t => {
    const one = await setting('garbled', 100)
    const { journal } = await openFileJournal({
      directory: one.directories[0]!,
      committed: sequence => one.positions.set(0, 'committed', sequence),
    })
    const row = (id: string, quantity: string): string =>
      `{"environment_id":"${one.environmentId}","id":"${id}","type":"track","quantity":${quantity},"captured_at":1773568800000}`
    const fact = JSON.stringify({ k: 'e', id: 'env', env: one.environmentId, at: 1, fx: [] })
    const append = (id: string, quantity: string) => ({
      flags: 1,
      month: 674,
      row: row(id, quantity),
      fact,
    })
    await journal.append([append('evt_x1', '1'), append('evt_x2', '"many"'), append('evt_x3', '3')])
    await journal.close()
    await runToEnd(one, shard => clickhouseOf(one, shard))
    const found = await stores.clickhouse.select<{ id: string }>(
      `SELECT id FROM events WHERE environment_id = {e:String} AND id LIKE 'evt_x%' ORDER BY id`,
      { e: one.environmentId },
    )
    t.same(found, [{ id: 'evt_x1' }, { id: 'evt_x3' }])
    const failures = await stores.sql`select * from projection_failures where generation = ${one.generation}`
    t.equal(failures.length, 1)
    t.match(failures[0], { store: 'clickhouse', record: /evt_x2/ })
  })
})
