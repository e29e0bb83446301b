// PgBouncer in transaction mode before a Postgres of a test.
import { spawn, spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { closePostgres, openPostgres } from '../src/storage/postgres.js'
import { freePort } from './cluster/nodes.js'
import { eventually } from './storage/embedded/hold.js'
import { temporaryDirectory } from './stores.js'

/** The reason why tests behind a pooler are skipped here, or false. */
export const noPooler: string | false =
  spawnSync('pgbouncer', ['--version']).status === 0 ? false : 'pgbouncer is not installed'

/** A Postgres that listens on a socket. */
interface Server {
  readonly host: string
  readonly port?: number
  readonly user: string
  readonly password?: string | undefined
}

/**
 * Start a pooler that takes no parameters but its own, and gives a connection of the server for one transaction.
 *
 * size     connections to the server, of each database.
 * returns  the URL of a database behind it.
 */
export async function startPooler(
  t: Test,
  server: Server,
  size: number,
): Promise<(database: string) => string> {
  const directory = await temporaryDirectory(t)
  const port = await freePort()
  const { host, user, password = '' } = server
  const file = join(directory, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
* = host=${host} port=${server.port ?? 5432} user=${user} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${size}
max_client_conn = 500
`,
    { mode: 0o644 },
  )
  const asUser = process.getuid?.() === 0 ? ['-u', nameOf(statSync(host).uid)] : []
  const child = spawn('pgbouncer', [...asUser, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', piece => {
    said += piece
  })
  const exited = new Promise(resolve => child.on('exit', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const url = (database: string) => `postgres://tollgate@127.0.0.1:${port}/${database}`
  const probe = openPostgres({ url: url('postgres'), pooled: true }, { max: 1 })
  await eventually(() => probe`select 1`).catch(error => {
    throw new Error(`the pooler does not answer: ${error.message}\n${said}`)
  })
  await closePostgres(probe)
  return url
}

function nameOf(uid: number): string {
  const { status, stdout } = spawnSync('id', ['-nu', String(uid)], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : userInfo().username
}
