// The journals of one node alone: opened in its data directory, and drained when the number of its shards changes.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import { type Config, ConfigError, recordRates } from '../config.js'
import { Shards } from '../entities/shards/shards.js'
import { shardFile } from '../entities/shards/thread.js'
import { nodeDisk } from '../journal/disk.js'
import { journalGeneration, shardDirectory } from '../journal/segment.js'
import type { ClickHouseAddress } from '../storage/clickhouse.js'
import type { PostgresAddress } from '../storage/postgres.js'
import { Positions } from '../wire/positions.js'
import type { ShardOptions } from '../wire/shard-options.js'
import { Changes } from '../wire/version-counters.js'
import { Projections, type ProjectionsOptions } from './projections.js'
import { restorePositions, storedIn } from './warm-up.js'

/** Where the stores are. */
interface Addresses {
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouseAddress
}

/** How long draining may wait for a store. */
const drainMsMax = 600_000

/** The journals of all shards, and how each is started. */
export interface Journals {
  readonly directory: string
  readonly generation: string
  readonly positions: Positions
  readonly changes: Changes
  readonly options: readonly ShardOptions[]
}

/** The journals of `count` shards, their checkpoints read from Postgres. */
export async function openJournals(
  config: Config,
  sql: Sql,
  postgres: PostgresAddress,
  count: number,
): Promise<Journals> {
  const directory = join(config.dataDir, 'journal')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await mustRead(directory)
  const generation = await journalGeneration(nodeDisk, directory)
  const positions = Positions.make(count)
  const changes = Changes.make(count)
  await restorePositions(storedIn(sql), generation, positions)
  const options = Array.from({ length: count }, (_, index) => ({
    index,
    count,
    journalDir: shardDirectory(directory, index),
    segmentBytes: config.journalSegmentBytes,
    generation,
    postgres,
    positions: positions.memory,
    changes: changes.memory,
    pendingBytesMax: config.journalPendingBytesMax,
    checkpointMs: config.checkpointIntervalMs,
    actorsMax: config.actorsMax,
    records: recordRates(config),
    eventNamesMax: config.eventNamesMax,
  }))
  return { directory, generation, positions, changes, options }
}

/** Raised when a build could no longer read what an earlier one wrote, or the other way round. */
const format = '1'

/**
 * Check that this build reads the journals of a directory, and note their format. A build before formats were noted wrote
 * format 1.
 *
 * errors  ConfigError with one line.
 */
async function mustRead(directory: string): Promise<void> {
  const path = join(directory, 'format')
  const found = await readFile(path, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (found === null) return writeFile(path, `${format}\n`, { mode: 0o600, flush: true })
  if (found.trim() === format || found.trim() === '') return
  throw new ConfigError(
    `The journal in ${directory} is in format ${found.trim()}, this build reads format ${format}: start the build that wrote it.`,
  )
}

/** Bring the journals' content into the stores, in a thread of its own. */
export function startProjections(
  journals: Journals,
  addresses: Addresses,
  log: Logger,
  more: Pick<ProjectionsOptions, 'chunk' | 'announced' | 'lastOf' | 'waiting'> = {},
): Promise<Projections> {
  return Projections.start({
    positions: journals.positions,
    generation: journals.generation,
    journalDirectory: journals.directory,
    postgres: addresses.postgres,
    clickhouse: addresses.clickhouse,
    log,
    ...more,
  })
}

/**
 * The number of shards has changed, and with it the owner of each id: bring everything from the old journals into the
 * stores, under the old number, and begin new journals.
 */
export async function drainJournals(from: {
  config: Config
  log: Logger
  sql: Sql
  addresses: Addresses
  count: number
}): Promise<void> {
  const { config, log, sql, addresses, count } = from
  log.info({ from: count, to: config.shards }, 'the number of shards has changed: journals are drained')
  const journals = await openJournals(config, sql, addresses.postgres, count)
  const shards = await Shards.start({
    shards: journals.options,
    workerFile: shardFile,
    log,
    catalogs: () => [],
    onNotice: () => {},
  })
  try {
    const projections = await startProjections(journals, addresses, log)
    try {
      await projections.barrier('postgres', drainMsMax)
      await projections.barrier('clickhouse', drainMsMax)
      await shards.checkpoint()
    } finally {
      await projections.stop()
    }
  } finally {
    await shards.close()
  }
  // Set aside in one step: a start that dies while it clears them away must not find half of them.
  await rename(journals.directory, drainedDirectory(journals.directory))
}

/** Where drained journals wait to be removed. */
const drainedDirectory = (directory: string): string => `${directory}.drained`

/** Remove journals that were drained. */
export async function removeDrained(directory: string): Promise<void> {
  await rm(drainedDirectory(directory), { recursive: true, force: true })
}

/**
 * The number of shards the journals on disk were written by; null before the first start.
 *
 * errors  Error naming the file when it holds no such number: the number decides which journals are read.
 */
export async function shardCount(directory: string): Promise<number | null> {
  const path = join(directory, 'shards')
  const text = await readFile(path, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  if (/^[1-9]\d{0,2}\n$/.test(text)) return Number(text)
  throw new Error(`${path} does not hold the number of shards that its journals were written by`)
}

/** Write it down in one step: a start that dies here leaves the old number or the new one. */
export async function keepShardCount(directory: string, count: number): Promise<void> {
  if ((await shardCount(directory)) === count) return
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const draft = join(directory, 'shards.new')
  await writeFile(draft, `${count}\n`, { mode: 0o600, flush: true })
  await rename(draft, join(directory, 'shards'))
}
