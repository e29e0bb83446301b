// Mistakes of a start (S7, S9): each answers one line that says what was wrong and what would be right.
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { inOneLine } from '../../src/host/failure.js'
import { lockDataDir } from '../../src/storage/lock.js'
import { roomFault } from '../../src/storage/look-first.js'
import { command } from '../command.js'
import { temporaryDirectory } from '../stores.js'

const directory = await temporaryDirectory(t)
const file = join(directory, 'file')
await writeFile(file, '')
const taken = await listening()
const used = join(directory, 'used')
const lock = await lockDataDir(used)
t.teardown(() => lock.release())
const half = join(directory, 'half')
await mkdir(half)
await writeFile(join(half, 'restoring'), '')
const old = join(directory, 'old')
await mkdir(join(old, 'postgres', 'data'), { recursive: true })
await writeFile(join(old, 'postgres', 'data', 'PG_VERSION'), '11\n')

async function listening(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as { port: number }).port
}

interface Mistake {
  readonly name: string
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Patterns of the fault and of the advice. */
  readonly says: readonly [RegExp, RegExp]
  /** Exit code; 1 unless given. */
  readonly code?: number
}

const postgres = { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d' }
const both = { ...postgres, CLICKHOUSE_URL: 'http://127.0.0.1:1' }
const redis = { ...both, REDIS_URL: 'redis://127.0.0.1:1' }

const mistakes: readonly Mistake[] = [
  {
    name: 'a port in words',
    env: { TOLLGATE_PORT: 'http' },
    says: [/TOLLGATE_PORT.*"http"/, /whole number from 0 to 65535/],
  },
  {
    name: 'a misspelt setting',
    env: { TOLLGATE_PROT: '80' },
    says: [/TOLLGATE_PROT is not a setting/, /TOLLGATE_PORT\b/],
  },
  { name: 'no shard', env: { TOLLGATE_SHARDS: '0' }, says: [/TOLLGATE_SHARDS.*"0"/, /from 1 to 256/] },
  {
    name: 'an unknown log level',
    env: { TOLLGATE_LOG_LEVEL: 'loud' },
    says: [/TOLLGATE_LOG_LEVEL.*"loud"/, /debug, info, warn/],
  },
  {
    name: 'a yes that is none',
    env: { TOLLGATE_CLOCK_BACK: 'yes' },
    says: [/TOLLGATE_CLOCK_BACK.*"yes"/, /true or false/],
  },
  {
    name: 'another database',
    env: { DATABASE_URL: 'mysql://h/d' },
    says: [/DATABASE_URL.*mysql:/, /postgres:/],
  },
  {
    name: 'a store without a scheme',
    env: { CLICKHOUSE_URL: 'localhost' },
    says: [/CLICKHOUSE_URL.*no scheme/, /http: or https:/],
  },
  {
    name: 'a secret given twice',
    env: { ...postgres, DATABASE_URL_FILE: file },
    says: [/DATABASE_URL and DATABASE_URL_FILE/, /keep one/],
  },
  {
    name: 'a secret file that is not there',
    env: { TOLLGATE_PEPPER_FILE: `${file}.none` },
    says: [/TOLLGATE_PEPPER_FILE/, /no such file/],
  },
  {
    name: 'an empty secret file',
    env: { TOLLGATE_PEPPER_FILE: file },
    says: [/TOLLGATE_PEPPER_FILE/, /is empty/],
  },
  {
    name: 'a first key too short',
    env: { TOLLGATE_BOOTSTRAP_KEY: 'abc' },
    says: [/TOLLGATE_BOOTSTRAP_KEY/, /16 to 256 printable/],
  },
  {
    name: 'limits that are no JSON',
    env: { TOLLGATE_LIMITS: 'many' },
    says: [/TOLLGATE_LIMITS.*"many"/, /default, off, or/],
  },
  {
    name: 'an origin with a path',
    env: { TOLLGATE_CORS_ORIGINS: 'https://a.b/c' },
    says: [/TOLLGATE_CORS_ORIGINS.*a\.b\/c/, /https:\/\/app\.example\.com/],
  },
  {
    name: 'several nodes without stores',
    env: { REDIS_URL: 'redis://127.0.0.1:1' },
    says: [/REDIS_URL/, /DATABASE_URL, the same on each/],
  },
  {
    name: 'a weak cluster secret',
    env: { ...redis, TOLLGATE_PEPPER: 'p'.repeat(32), TOLLGATE_CLUSTER_SECRET: 'short' },
    says: [/TOLLGATE_CLUSTER_SECRET.*5 characters/, /32 characters or more/],
  },
  {
    name: 'a shared port of one node',
    env: { TOLLGATE_SHARED_PORT: 'true' },
    says: [/TOLLGATE_SHARED_PORT/, /set REDIS_URL/],
  },
  {
    name: 'half of TLS between nodes',
    env: { TOLLGATE_NODE_TLS_CERT: file },
    says: [/TOLLGATE_NODE_TLS_CERT/, /all three files or none/],
  },
  {
    name: 'a port in use',
    env: { TOLLGATE_PORT: String(taken) },
    says: [new RegExp(`127\\.0\\.0\\.1:${taken} is in use`), /stop the program.*TOLLGATE_PORT/],
  },
  {
    name: 'an address of another machine',
    env: { TOLLGATE_HOST: '192.0.2.1' },
    says: [/192\.0\.2\.1:0 is no address of this machine/, /TOLLGATE_HOST/],
  },
  {
    name: 'a metrics port in use',
    env: { TOLLGATE_METRICS_ADDRESS: `127.0.0.1:${taken}` },
    says: [new RegExp(`:${taken} is in use`), /TOLLGATE_METRICS_ADDRESS/],
  },
  {
    name: 'a data directory below a file',
    env: { TOLLGATE_DATA_DIR: join(file, 'data') },
    says: [/takes no files.*ENOTDIR/, /Set TOLLGATE_DATA_DIR/i],
  },
  {
    name: 'a data directory that takes nothing',
    env: { TOLLGATE_DATA_DIR: '/proc/tollgate' },
    says: [/\/proc\/tollgate takes no files/, /set TOLLGATE_DATA_DIR/i],
  },
  {
    name: 'a data directory in use',
    env: { TOLLGATE_DATA_DIR: used },
    says: [new RegExp(`process ${process.pid}`), /Stop that one first/],
  },
  {
    name: 'an unfinished restore',
    env: { TOLLGATE_DATA_DIR: half },
    says: [/did not come to its end/, /restore again/],
  },
  {
    name: 'data of another Postgres',
    env: { TOLLGATE_DATA_DIR: old, CLICKHOUSE_URL: 'http://127.0.0.1:1' },
    says: [/made by Postgres 11/, /brings Postgres 18/],
  },
  {
    name: 'an argument',
    args: ['start', '--port', '80'],
    says: [/--port is not known/, /TOLLGATE_PORT/],
    code: 2,
  },
  {
    name: 'a word after start',
    args: ['start', 'now'],
    says: [/now is not known/, /environment variables/],
    code: 2,
  },
  { name: 'a misspelt command', args: ['strat'], says: [/unknown command 'strat'/, /start/], code: 2 },
]

for (const { name, env = {}, args = ['start'], says, code = 1 } of mistakes)
  t.test(`S7: ${name}`, async t => {
    const ran = await command(join(directory, 'data'), args, { TOLLGATE_PORT: '0', ...env })
    t.equal(ran.code, code, ran.said)
    const lines = ran.said.trim().split('\n')
    for (const said of says) t.match(lines.join('\n'), said)
    t.notMatch(ran.said, /\n {4}at /, 'no stack')
    t.equal(lines.filter(line => !/^\{|--help|Did you mean/.test(line)).length, 1, `one line: ${ran.said}`)
  })

t.test('S7: faults that need a machine of their own', async t => {
  t.equal(roomFault('/d', 64 * 2 ** 20), null)
  t.match(roomFault('/d', 2 ** 20), /disk of the data directory \/d is full: 1 MiB are free.*Make room/)
  const coded = (code: string, message: string) => inOneLine(Object.assign(new Error(message), { code }))
  t.match(coded('ENOSPC', 'no space left, write'), /^no space left, write\. The disk is full: make room/)
  t.match(
    coded('28P01', 'password authentication failed for user "u"'),
    /failed for user "u"\. .*see DATABASE_URL/,
  )
  t.match(coded('3D000', 'database "d" does not exist'), /Create the database, or name another/)
  t.equal(inOneLine(new Error('first\n  second')), 'first | second')
  t.match(inOneLine(new TypeError('a mistake in the code')), /\n {4}at /, 'keeps its stack')
})

t.test('S9: the version, on request', async t => {
  const { said, code } = await command(directory, ['--version'])
  t.equal(code, 0)
  t.match(said, /^\d+\.\d+\.\d+\n$/)
})
