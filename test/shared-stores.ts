// The stores that all files of one run of the tests share: `node dist/test/shared-stores.js DIRECTORY`, started by
// tools/test. Prints one line, the settings that lead tests to them, as JSON; ends when its standard input does.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { startEmbeddedClickHouse } from '../src/storage/embedded/clickhouse.js'
import { startEmbeddedPostgres } from '../src/storage/embedded/postgres.js'
import { makeTemplate } from './databases.js'

const template = 'tollgate_template'
const directory = process.argv[2]
if (directory === undefined) throw new Error('usage: shared-stores DIRECTORY')
mkdirSync(directory, { mode: 0o711, recursive: true })

const ended = new Promise(resolve => process.stdin.resume().on('end', resolve))
// A store that dies under the tests is told of: they would only say that it is away.
const log = pino({ level: 'error' }, pino.destination(2))
const [postgres, clickhouse] = await Promise.all([
  startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    log,
    durable: false,
    createsDatabases: true,
  }),
  startEmbeddedClickHouse({
    directory: join(directory, 'clickhouse'),
    log,
    durable: false,
    memoryBytesMax: 2e9,
    tcp: true,
  }),
])
const { url, user, password } = clickhouse.address
if ('url' in postgres.address) throw new Error('the embedded Postgres listens on a socket')
// The driver takes no socket in a URL: what the URL leaves out comes from its own variables.
const client = {
  PGHOST: postgres.address.host,
  PGUSER: postgres.address.user,
  PGPASSWORD: postgres.address.password ?? '',
}
Object.assign(process.env, client)
const urls = {
  postgres: 'postgres:///postgres',
  clickhouse: url.replace('//', `//${user}:${password}@`),
}
await makeTemplate(urls, template)
const settings = {
  ...client,
  TOLLGATE_TEST_DATABASE_URL: urls.postgres,
  TOLLGATE_TEST_CLICKHOUSE_URL: urls.clickhouse,
  TOLLGATE_TEST_TEMPLATE: template,
}
process.stdout.write(`${JSON.stringify(settings)}\n`)
await ended
await Promise.all([postgres.stop(), clickhouse.stop()])
// the run may have been killed, and the files be in memory
rmSync(directory, { recursive: true, force: true })
