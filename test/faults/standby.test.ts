// Postgres fails over to a standby under load. A synchronous standby has all that was acknowledged; a start tells where none is
// synchronous.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startEmbeddedPostgres } from '../../src/storage/embedded/postgres.js'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'
import { failOverLoss, replicationOf } from '../../src/storage/standbys.js'
import { Process } from '../harness.js'
import { Random } from '../random.js'
import { eventually } from '../storage/embedded/hold.js'
import { silent, temporaryDirectory } from '../stores.js'
import { Load } from './load.js'
import { reconciled } from './reconciled.js'

const clients = 6
/** Requests answered in each round. */
const answers = 120
const user = 'tollgate_service'
/** A role that copies, and that makes the standby the primary. */
const copier = 'copier'

/** A server whose socket lies in a directory of its own. */
class Server {
  private constructor(
    readonly directory: string,
    private readonly child: ChildProcess,
  ) {}

  /** more: settings. Resolves when it answers. */
  static async start(t: Test, directory: string, program: string, more: Readonly<Record<string, string>>) {
    const data = join(directory, 'data')
    const settings = {
      listen_addresses: '',
      unix_socket_directories: directory,
      io_method: 'sync',
      fsync: 'off',
      timezone: 'UTC',
      ...more,
    }
    const child = spawn(
      program,
      ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { ...ownerOf(data), cwd: data, env: {}, stdio: 'ignore' },
    )
    const server = new Server(directory, child)
    t.teardown(() => server.kill())
    await eventually(() => server.asked(sql => sql`select 1`))
    return server
  }

  /** Ask it something. */
  async asked<T>(ask: (sql: ReturnType<typeof openPostgres>) => Promise<T>, as = user): Promise<T> {
    const place = { host: this.directory, port: 5432, user: as, database: 'postgres' }
    const sql = openPostgres(place, { max: 1 })
    try {
      return await ask(sql)
    } finally {
      await closePostgres(sql)
    }
  }

  /** Kill it. Resolves when it is gone. */
  async kill(): Promise<void> {
    const { child } = this
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise(resolve => child.on('exit', resolve))
    child.kill('SIGKILL')
    await exited
  }
}

const ownerOf = (path: string) => {
  const { uid, gid } = statSync(path)
  return process.getuid?.() === 0 ? { uid, gid } : {}
}

/** A primary and its standby, which is asynchronous at first. */
async function pair(t: Test, directory: string) {
  const first = join(directory, 'first')
  const made = await startEmbeddedPostgres({ directory: first, log: silent, durable: false })
  const program = readlinkSync(`/proc/${made.pid}/exe`)
  await made.stop()
  const data = join(first, 'data')
  const role = spawnSync(program, ['--single', '-D', data, 'postgres'], {
    ...ownerOf(data),
    cwd: data,
    env: {},
    input: `create role ${copier} superuser login;\n`,
    encoding: 'utf8',
  })
  t.equal(role.status, 0, role.stderr)
  writeFileSync(join(data, 'pg_hba.conf'), 'local all all trust\nlocal replication all trust\n')
  const second = join(directory, 'second')
  spawnSync('cp', ['-a', first, second])
  writeFileSync(join(second, 'data', 'standby.signal'), '')
  const primary = await Server.start(t, first, program, {})
  const standby = await Server.start(t, second, program, {
    primary_conninfo: `host=${first} user=${copier} application_name=second`,
  })
  return { primary, standby }
}

t.test(
  'a fail-over to a synchronous standby',
  { skip: process.platform !== 'linux' && 'it finds the program in /proc' },
  async t => {
    const directory = await temporaryDirectory(t)
    const { primary, standby } = await pair(t, directory)
    const told = () => primary.asked(async sql => failOverLoss(await replicationOf(sql)))
    const state = () =>
      primary.asked(async sql => (await sql`select sync_state from pg_stat_replication`)[0]?.sync_state)

    const becomes = (wanted: string) =>
      eventually(async () => {
        if ((await state()) !== wanted) throw new Error(`the standby is not ${wanted} yet`)
      })

    await becomes('async')
    t.match(await told(), /standbys and none is synchronous/)
    await primary.asked(async sql => {
      await sql`alter system set synchronous_standby_names = 'second'`
      await sql`select pg_reload_conf()`
    }, copier)
    await becomes('sync')
    t.equal(await told(), null)

    // clients find the primary here
    const here = join(directory, 'primary')
    symlinkSync(primary.directory, here)
    const settings = { DATABASE_URL: 'postgres:///postgres', PGHOST: here, PGUSER: user }
    const running = await Process.start(await temporaryDirectory(t), settings)
    t.teardown(() => running.end('SIGKILL'))
    const random = new Random()
    t.comment(`seed ${random.seed}`)
    const load = new Load({ random, companies: 4, client: () => running.client })
    await load.prepare()
    load.start(clients)
    await load.answered(answers)

    await primary.kill()
    await standby.asked(sql => sql`select pg_promote()`, copier)
    rmSync(here)
    symlinkSync(standby.directory, here)

    await load.answered(answers)
    await load.stop()
    await load.verify(t)
    await reconciled(t, running.client)
    t.equal(await running.end('SIGTERM'), 0)
  },
)
