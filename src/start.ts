// Locks the data directory and starts the stores; meanwhile the server's modules (serve.ts) are loaded.
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { type Config, ConfigError, plainStores, rootAdvice } from './config.js'
import { WaitingServer } from './front/http/waiting.js'
import { chooseMechanisms } from './host/few-cores.js'
import { afterRequests } from './host/thread-priority.js'
import { type Addresses, Opened, type Tollgate } from './opened.js'
import { clockFloor } from './recovery/clock-mark.js'
import { Phases } from './recovery/start-phases.js'
import type { ClickHouseAddress } from './storage/clickhouse.js'
import { startEmbeddedClickHouse } from './storage/embedded/clickhouse.js'
import { mustHaveStores } from './storage/embedded/installed.js'
import { startEmbeddedPostgres } from './storage/embedded/postgres.js'
import { lockDataDir } from './storage/lock.js'
import { mustBeFree, mustTakeFiles } from './storage/look-first.js'
import type { PostgresAddress } from './storage/postgres.js'
import { untilPostgresAnswers } from './storage/postgres-wait.js'

export type { Tollgate } from './opened.js'

/**
 * Start Tollgate.
 *
 * A Postgres that is named by URL and does not answer is waited for: health answers meanwhile.
 *
 * signal  ends that waiting with an AbortError.
 * errors  any failure, after everything opened is closed again: a locked data directory, a store that refuses, a
 *         changed migration, a corrupt journal, a port in use.
 */
export async function start(config: Config, log: Logger, signal?: AbortSignal): Promise<Tollgate> {
  const opened = new Opened()
  try {
    return await open(config, log, opened, signal)
  } catch (error) {
    await opened.close(log)
    throw error
  }
}

async function open(
  config: Config,
  log: Logger,
  opened: Opened,
  signal: AbortSignal | undefined,
): Promise<Tollgate> {
  // before any thread starts
  chooseMechanisms(config)
  const phases = new Phases()
  mustHaveStores(config)
  mustTakeFiles(config.dataDir)
  const lock = await lockDataDir(config.dataDir)
  opened.add(async () => lock.release())
  mustBeWhole(config.dataDir)
  await mustBeFree(config)
  closeToOthers(config.dataDir, log)
  warnOfRisks(config, log)
  const floorMs = await clockFloor(config.dataDir, Date.now(), config.clockBack, log)
  // the stores are separate processes, so loading modules meanwhile costs no time
  const starting = phases.time('stores', () => openStores(config, log, opened))
  const loading = phases.time('modules', () => load(config, opened))
  await Promise.allSettled([starting, loading])
  const { serve } = await loading
  const addresses = await starting
  const port = config.databaseUrl === null ? config.port : await untilThere(addresses, config, log, signal)
  return serve({ config: { ...config, port }, log, opened, phases, floorMs, addresses })
}

/** Wait for Postgres. Returns the port to listen on: health may have answered there already. */
async function untilThere(
  { postgres }: Addresses,
  { host, port, sharedPort }: Config,
  log: Logger,
  signal: AbortSignal | undefined,
): Promise<number> {
  let waiting: WaitingServer | null = null
  try {
    await untilPostgresAnswers(
      postgres,
      async reason => {
        // On a shared port it would answer clients of the other nodes.
        if (!sharedPort) waiting = await WaitingServer.listen(host, port, 'waiting for Postgres')
        log.warn({ err: reason }, 'Postgres does not answer: the start waits for it')
      },
      signal,
    )
    return (waiting as WaitingServer | null)?.port ?? port
  } finally {
    await (waiting as WaitingServer | null)?.close()
  }
}

async function load({ shards }: Config, opened: Opened): Promise<typeof import('./serve.js')> {
  const { prepareThreads, shardFile } = await import('./entities/shards/thread.js')
  opened.add(prepareThreads(shardFile, shards))
  return import('./serve.js')
}

/**
 * Migrate the stores to this version's schema and stop again. Starts the embedded ones if no URLs are given.
 *
 * returns  the applied files, in order; empty when there were none.
 * errors   as `start`.
 */
export async function migrateStores(config: Config, log: Logger): Promise<readonly string[]> {
  const opened = new Opened()
  try {
    mustHaveStores(config)
    mustTakeFiles(config.dataDir)
    const lock = await lockDataDir(config.dataDir)
    opened.add(async () => lock.release())
    const addresses = await openStores(config, log, opened)
    const [{ openClickHouse }, { migrate }] = await Promise.all([
      import('./storage/clickhouse.js'),
      import('./storage/migrate.js'),
    ])
    const clickhouse = openClickHouse(addresses.clickhouse)
    opened.add(() => clickhouse.close())
    return (await migrate({ postgres: addresses.postgres, clickhouse })).applied
  } finally {
    await opened.close(log)
  }
}

/** Connect to the stores named by URL, or start the embedded ones concurrently. */
export async function openStores(config: Config, log: Logger, opened: Opened): Promise<Addresses> {
  const embedded = async <T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
    const store = await starting
    opened.add(() => store.stop())
    return store
  }
  const { databaseUrl, clickhouseUrl, dataDir } = config
  const outcomes = await Promise.allSettled([
    databaseUrl === null
      ? embedded(startEmbeddedPostgres({ directory: join(dataDir, 'postgres'), log })).then(
          one => one.address,
        )
      : { url: databaseUrl, pooled: config.postgresPooler },
    clickhouseUrl === null
      ? embedded(startEmbeddedClickHouse({ directory: join(dataDir, 'clickhouse'), log })).then(one => {
          // until then requests wait for its results
          if (config.threadPriorities) opened.whenServing(() => one.lower(afterRequests))
          opened.clickhouse = one
          return one.address
        })
      : { url: clickhouseUrl },
  ])
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  const [postgres, clickhouse] = outcomes as [
    PromiseFulfilledResult<PostgresAddress>,
    PromiseFulfilledResult<ClickHouseAddress>,
  ]
  return { postgres: postgres.value, clickhouse: clickhouse.value }
}

/** Marks a data directory that a restore is filling. */
export const restoringFile = 'restoring'

function mustBeWhole(dataDir: string): void {
  if (existsSync(join(dataDir, restoringFile)))
    throw new ConfigError(
      `A restore into ${dataDir} did not come to its end: empty the directory, and the stores if they are your own, ` +
        'and restore again.',
    )
}

/** Log risks. They do not prevent a start. */
function warnOfRisks(config: Config, log: Logger): void {
  if (process.getuid?.() === 0) log.warn(rootAdvice)
  for (const risk of plainStores(config)) log.warn(risk)
}

/**
 * Close the data directory to other users. If started by root, Postgres runs as another user, who must pass through.
 */
function closeToOthers(dataDir: string, log: Logger): void {
  const isRoot = process.getuid?.() === 0
  try {
    chmodSync(dataDir, isRoot ? 0o711 : 0o700)
    const journal = join(dataDir, 'journal')
    if (existsSync(journal)) chmodSync(journal, 0o700)
  } catch (error) {
    // the volume may belong to another user and give us access through our group
    log.warn({ err: error }, 'others may look into the data directory: its mode cannot be changed')
  }
}
