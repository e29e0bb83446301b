// The embedded ClickHouse against everything that happens to it: kills, orphans, a second process on its data.
import { join } from 'node:path'
import t from 'tap'
import { openClickHouse } from '../../../src/storage/clickhouse.js'
import { startEmbeddedClickHouse } from '../../../src/storage/embedded/clickhouse.js'
import { startOf } from '../../../src/storage/process.js'
import { silent, temporaryDirectory } from '../../stores.js'
import { eventually, gone, hold, killHard } from './hold.js'

t.test('rows acknowledged before a kill are there after it, at the same address', async t => {
  const directory = join(await temporaryDirectory(t), 'clickhouse')
  const server = await startEmbeddedClickHouse({ directory, log: silent })
  t.teardown(() => server.stop())
  const clickhouse = openClickHouse(server.address)
  t.teardown(() => clickhouse.close())
  await clickhouse.command('CREATE TABLE kept (value Int64) ENGINE = MergeTree ORDER BY value')
  await clickhouse.insertRaw({ table: 'kept', rows: '{"value":1}\n{"value":2}' })
  const pid = server.pid!
  await killHard(pid)
  await t.rejects(clickhouse.select('SELECT 1'), { code: 'store_away', message: /ClickHouse is away/ })
  t.same(await eventually(() => clickhouse.select('SELECT value FROM kept')), [{ value: 1 }, { value: 2 }])
  t.not(server.pid, pid)
})

t.test('stopped with us, and the data is found at the next start', async t => {
  const directory = join(await temporaryDirectory(t), 'clickhouse')
  const first = await startEmbeddedClickHouse({ directory, log: silent })
  let clickhouse = openClickHouse(first.address)
  await clickhouse.command('CREATE TABLE kept (value Int64) ENGINE = MergeTree ORDER BY value')
  await clickhouse.insertRaw({ table: 'kept', rows: '{"value":1}' })
  await clickhouse.close()
  const pid = first.pid!
  await first.stop()
  t.equal(startOf(pid), null)

  const second = await startEmbeddedClickHouse({ directory, log: silent })
  clickhouse = openClickHouse(second.address)
  t.same(await clickhouse.select('SELECT value FROM kept'), [{ value: 1 }])
  t.not(second.address.password, first.address.password, 'a new password at every start')
  await clickhouse.close()
  await second.stop()
})

t.test('the child of a killed Tollgate leaves by itself, and the next start waits for it', async t => {
  const directory = join(await temporaryDirectory(t), 'clickhouse')
  const other = await hold(t, 'clickhouse', directory)
  await killHard(other.process.pid!)
  const server = await startEmbeddedClickHouse({ directory, log: silent })
  await gone(other.pid)
  t.ok(server.pid)
  await server.stop()
})

t.test('an insert is on disk before it is answered, and memory is bounded', async t => {
  const directory = join(await temporaryDirectory(t), 'clickhouse')
  const server = await startEmbeddedClickHouse({ directory, log: silent, memoryBytesMax: 2 ** 30 })
  t.teardown(() => server.stop())
  const clickhouse = openClickHouse(server.address)
  t.teardown(() => clickhouse.close())
  const rows = await clickhouse.select<{ name: string; value: string }>(
    `SELECT name, value FROM system.merge_tree_settings WHERE name IN ('fsync_after_insert', 'fsync_part_directory')
     UNION ALL SELECT name, value FROM system.server_settings WHERE name = 'max_server_memory_usage'
     UNION ALL SELECT name, value FROM system.settings WHERE name IN ('max_memory_usage', 'max_threads', 'max_result_bytes', 'max_execution_time')`,
  )
  t.same(Object.fromEntries(rows.map(row => [row.name, row.value])), {
    fsync_after_insert: '1',
    fsync_part_directory: '1',
    max_server_memory_usage: String(2 ** 30),
    max_memory_usage: String(2 ** 29),
    max_threads: '2',
    max_result_bytes: '268435456',
    max_execution_time: '120',
  })
  await t.rejects(clickhouse.select('SELECT groupArray(number) FROM numbers(200000000)'), {
    code: 'store_away',
  })
  t.ok(await clickhouse.healthy(), 'one greedy query does not take the engine down')
})
