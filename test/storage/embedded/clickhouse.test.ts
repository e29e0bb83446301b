// The embedded ClickHouse against everything that happens to it: kills, orphans, a second process on its data.
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
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

/** Inodes of the sockets that a process holds; and those of the machine that listen at a TCP port. */
const held = (pid: number) =>
  readdirSync(`/proc/${pid}/fd`).flatMap(fd => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      return []
    }
  })
const linuxOnly = process.platform === 'linux' ? {} : { skip: 'no /proc to look at its connections' }
const listening = (pid: number) =>
  ['tcp', 'tcp6'].flatMap(kind =>
    readFileSync(`/proc/${pid}/net/${kind}`, 'utf8')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .flatMap(columns => (columns[3] === '0A' ? [columns[9]!] : [])),
  )

t.test(
  'it listens on a socket that nobody but us and root reaches, and at no port (security 37)',
  async t => {
    const directory = join(await temporaryDirectory(t), 'clickhouse')
    const server = await startEmbeddedClickHouse({ directory, log: silent, durable: false })
    t.teardown(() => server.stop())
    const { socketPath = '' } = server.address
    t.equal(socketPath, join(directory, 'socket', 'http'))
    t.equal(statSync(dirname(socketPath)).mode & 0o777, 0o700)
    const clickhouse = openClickHouse(server.address, { max: 2 })
    t.teardown(() => clickhouse.close())
    const answers = await Promise.all(
      [1, 2, 3, 4].map(n => clickhouse.select('SELECT {n: UInt8} AS n', { n })),
    )
    t.same(answers.flat(), [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }], 'more at once than connections')
    if (process.platform === 'linux') {
      const ports = new Set(listening(server.pid!))
      t.same(
        held(server.pid!).filter(inode => ports.has(inode)),
        [],
      )
    }
  },
)

t.test('unused connections are closed (security 37)', linuxOnly, async t => {
  const directory = join(await temporaryDirectory(t), 'clickhouse')
  const server = await startEmbeddedClickHouse({ directory, log: silent, durable: false })
  t.teardown(() => server.stop())
  const clickhouse = openClickHouse(server.address)
  t.teardown(() => clickhouse.close())
  const sockets = () => held(server.pid!).length
  const before = sockets()
  await Promise.all(Array.from({ length: 5 }, () => clickhouse.select('SELECT 1')))
  t.ok(sockets() > before)
  await eventually(async () => {
    if (sockets() > before) throw new Error('still open')
  })
})

t.test('a path too long for a socket gets its socket elsewhere, in a private directory', async t => {
  const directory = join(await temporaryDirectory(t), 'x'.repeat(110), 'clickhouse')
  const server = await startEmbeddedClickHouse({ directory, log: silent, durable: false })
  t.teardown(() => server.stop())
  const place = dirname(server.address.socketPath!)
  t.teardown(() => rmSync(place, { recursive: true, force: true }))
  t.ok(place.startsWith(tmpdir()))
  t.equal(statSync(place).mode & 0o777, 0o700)
  const clickhouse = openClickHouse(server.address)
  t.same(await clickhouse.select('SELECT 1 AS one'), [{ one: 1 }])
  await clickhouse.close()
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
