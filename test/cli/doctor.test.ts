// tollgate doctor: one precondition broken at a time, named alone, with what to do about it.
import { chmod, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { doctor, node } from '../../src/cli/doctor.js'
import { lockDataDir } from '../../src/storage/lock.js'
import { temporaryDirectory } from '../stores.js'

const directory = await temporaryDirectory(t)
const well = { TOLLGATE_DATA_DIR: join(directory, 'data'), TOLLGATE_PORT: '0' }

/** The lines about what is broken, and the exit code. */
async function examine(env: Readonly<Record<string, string>>) {
  const lines: string[] = []
  const code = await doctor(
    { ...well, ...env },
    { print: line => void lines.push(line), note() {}, bar: null },
  )
  return { code, broken: lines.filter(line => line.startsWith('BROKEN')), lines }
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as { port: number }).port
}

t.test('nothing is broken', async t => {
  const { code, broken, lines } = await examine({})
  t.equal(code, 0)
  t.same(broken, [])
  const warned = lines.filter(line => line.startsWith('WARNING'))
  t.equal(warned.length, process.getuid?.() === 0 ? 1 : 0, 'security 17: a process of root is spoken of')
  t.equal(
    lines.length - warned.length,
    9,
    'all is named: settings, Node, platform, HTTP server, directory, room, port, two stores',
  )
})

t.test('another Node', async t => {
  for (const version of ['18.20.8', '20.18.3', '9.99.0'])
    t.match(node(version), { what: `Node ${version}`, advice: /Node >=20\.19: install Node 24/ })
  for (const version of ['20.19.0', '22.0.0', '24.21.0', process.versions.node])
    t.equal(node(version).advice, null, version)
})

t.test('a directory that cannot be written', async t => {
  const file = join(directory, 'file')
  await writeFile(file, '')
  const under = await examine({ TOLLGATE_DATA_DIR: join(file, 'data') })
  t.equal(under.code, 3)
  t.match(under.broken, [/BROKEN {2}data directory .*\n.*EACCES|ENOTDIR/])
  t.match(under.broken, [/Give this user the right to write there, or set TOLLGATE_DATA_DIR/])
  t.equal(under.broken.length, 1)
})

t.test(
  'a directory of somebody else',
  { skip: process.getuid?.() === 0 && 'root may write anywhere' },
  async t => {
    const locked = await temporaryDirectory(t)
    await chmod(locked, 0o500)
    const { code, broken } = await examine({ TOLLGATE_DATA_DIR: join(locked, 'data') })
    t.equal(code, 3)
    t.match(broken, [/BROKEN {2}data directory .*\n.*EACCES.*set TOLLGATE_DATA_DIR/])
  },
)

t.test('a directory that another Tollgate works in', async t => {
  const used = join(directory, 'used')
  const lock = await lockDataDir(used)
  const { code, broken } = await examine({ TOLLGATE_DATA_DIR: used })
  t.equal(code, 3)
  t.match(broken, [new RegExp(`BROKEN {2}data directory .*\\n.*process ${process.pid}\\).*stop that one`)])
  lock.release()
  t.equal((await examine({ TOLLGATE_DATA_DIR: used })).code, 0)
})

t.test('a port that is taken, and an address that is not ours', async t => {
  const port = await listening(createServer())
  const taken = await examine({ TOLLGATE_PORT: String(port) })
  t.equal(taken.code, 3)
  t.match(taken.broken, [new RegExp(`BROKEN {2}port 127.0.0.1:${port}\\n.*EADDRINUSE.*set TOLLGATE_PORT`)])
  t.equal(taken.broken.length, 1)
  const foreign = await examine({ TOLLGATE_HOST: '192.0.2.1' })
  t.match(foreign.broken, [/BROKEN {2}port 192\.0\.2\.1:0\n.*EADDRNOTAVAIL.*TOLLGATE_HOST/])
})

t.test('stores that are not to be reached', async t => {
  const postgres = await examine({ DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/none' })
  t.equal(postgres.code, 3)
  t.match(postgres.broken, [/BROKEN {2}Postgres\n.*ECONNREFUSED.*See DATABASE_URL/])
  t.equal(postgres.broken.length, 1)
  const clickhouse = await examine({ CLICKHOUSE_URL: 'http://u:hidden@127.0.0.1:1/none' })
  t.equal(clickhouse.code, 3)
  t.match(clickhouse.broken, [/BROKEN {2}ClickHouse\n.*ECONNREFUSED.*See CLICKHOUSE_URL/])
  t.equal(clickhouse.broken.length, 1)
  t.notMatch([...postgres.lines, ...clickhouse.lines].join('\n'), 'hidden')
})

// It ends, so it does not wait for ever.
t.test('stores that take a connection and say nothing', async t => {
  const port = await listening(createServer(socket => socket.on('error', () => {})))
  const [postgres, clickhouse] = await Promise.all([
    examine({ DATABASE_URL: `postgres://127.0.0.1:${port}/none` }),
    examine({ CLICKHOUSE_URL: `http://127.0.0.1:${port}` }),
  ])
  t.match(postgres.broken, [/BROKEN {2}Postgres\n.*See DATABASE_URL/])
  t.match(clickhouse.broken, [/BROKEN {2}ClickHouse\n.*See CLICKHOUSE_URL/])
})

t.test('a setting that makes no sense', async t => {
  const { code, broken } = await examine({ TOLLGATE_SHARDS: 'many' })
  t.equal(code, 3)
  t.match(broken, [/BROKEN {2}settings\n.*TOLLGATE_SHARDS: expected a whole number/])
})
