// Starts the shards over their journals, and meanwhile fills the memory of the HTTP thread.
import { join } from 'node:path'
import { claimsAtOnce, claimsOfEnvironment, eventClaims } from '../analytics/history.js'
import type { Cluster } from '../cluster/open.js'
import type { ClusterShards } from '../cluster/shards.js'
import type { ShardNotice } from '../core/company/shard-request.js'
import { windowMs } from '../entities/idempotency/dedupe.js'
import { KeyArchive } from '../entities/idempotency/key-archive.js'
import { Shards } from '../entities/shards/shards.js'
import { shardFile } from '../entities/shards/thread.js'
import type { Tail } from '../recovery/journal-tail.js'
import {
  drainJournals,
  type Journals,
  keepShardCount,
  openJournals,
  removeDrained,
  shardCount,
} from '../recovery/journals.js'
import { allOf, fillMemory, isFirstGeneration, rememberAgain, storedIn } from '../recovery/warm-up.js'
import { closePostgres, openPostgres } from '../storage/postgres.js'
import type { Memory } from './memory.js'
import type { Opening } from './opening.js'
import type { Stores } from './stores.js'
import type { Traced } from './tracing.js'

export interface RunningShards {
  readonly journals: Journals
  readonly shards: Shards
  /** The same, where other nodes have some of them. */
  readonly shared: ClusterShards | null
  /** Idempotency keys that are not in memory any more. */
  readonly oldKeys: KeyArchive
  /** From where on keys are in ClickHouse alone, epoch ms. */
  readonly missingMs: number
}

/**
 * Start the shards and fill the memory at once; then hand the definitions to the shards. `opened` closes them.
 *
 * errors  JournalCorrupt; store_away; those of Postgres.
 */
export async function startShards(
  opening: Opening,
  stores: Stores,
  memory: Memory,
  cluster: Cluster | null,
  traced: Traced | null,
): Promise<RunningShards> {
  const { config, log, opened, phases, later } = opening
  const { dedupe, definitions, idempotencyKeysMax } = memory
  const { catalogs, clock } = definitions
  const journals = await readyJournals(opening, stores, cluster)
  const options = {
    workerFile: shardFile,
    log,
    catalogs: () => catalogs.ids().map(id => catalogs.get(id)),
    onNotice: (notice: ShardNotice, shard: number): void => {
      if (notice.notice === 'ready') later.fronts?.meet(shard)
      if (notice.notice === 'identity') rememberAgain(memory, notice.facts)
      if (notice.notice === 'checks') memory.noteChecks(notice.checks)
    },
  }
  const shared = cluster?.startShards(options) ?? null
  const starting: Promise<Shards> = phases.time(
    'replay',
    async () =>
      shared ??
      (traced?.Shards ?? Shards).start({
        ...options,
        shards: journals.options.map(one => ({ ...one, tellsGroups: traced !== null })),
      }),
  )
  if (cluster !== null) opened.add(() => cluster.closeThreads())
  opened.add(() =>
    starting.then(
      shards => shards.close(),
      () => {},
    ),
  )
  const oldKeys = KeyArchive.open(
    {
      directory: join(config.dataDir, 'idempotency'),
      shares: dedupe.shares,
      windowMs,
      keysMany: idempotencyKeysMax / 8,
    },
    clock.wall(),
  )
  opened.add(async () => oldKeys.close())
  dedupe.keepOldIn(oldKeys)
  const missingMs = oldKeys.missingSince(clock.wall() - windowMs)
  const filling =
    cluster === null
      ? fill(opening, stores, memory, journals, oldKeys)
      : cluster.fill({ ...memory, traits: definitions.traits }, phases)
  const [shards, tail] = await allOf([starting, filling])
  dedupe.lacksSome = stores.late.isAway && (tail?.claimsSinceMs ?? 0) > missingMs
  later.shards = shards
  await phases.time('catalogs', () => catalogs.start())
  memory.divide()
  return { journals, shards, shared, oldKeys, missingMs }
}

/** The journals of this start: drained first where another number of shards, or a node alone, wrote them. */
async function readyJournals(
  { config, log }: Opening,
  { addresses, sql }: Stores,
  cluster: Cluster | null,
): Promise<Journals> {
  const directory = join(config.dataDir, 'journal')
  await removeDrained(directory)
  const count = await shardCount(directory)
  if (count !== null && (cluster !== null || count !== config.shards)) {
    await drainJournals({ config, log, sql, addresses, count })
    await removeDrained(directory)
  }
  if (cluster !== null) return cluster.journals
  await keepShardCount(directory, config.shards)
  return openJournals(config, sql, addresses.postgres, config.shards)
}

/** Fill the memory of a node alone from the stores and the ends of the journals. */
async function fill(
  { phases }: Opening,
  { addresses, sql, clickhouse, late }: Stores,
  { definitions, directory, dedupe, holdKeys }: Memory,
  journals: Journals,
  oldKeys: KeyArchive,
): Promise<Tail> {
  const { clock, traits } = definitions
  // without time limit: it reads millions of rows, and a limit would bound the number of companies
  const unbounded = openPostgres(addresses.postgres, { max: 1, statementTimeoutMs: 0 })
  try {
    const stored = {
      journals,
      entities: storedIn(unbounded),
      claims: (openedMs: number) => eventClaims(clickhouse, oldKeys.missingSince(openedMs), claimsAtOnce),
      presents: clock.presents(),
      claimsBehind: (environmentId: string, fromMs: number, untilMs: number) =>
        claimsOfEnvironment(clickhouse, environmentId, { fromMs, untilMs }, claimsAtOnce),
      holdKeys: () => holdKeys.load(sql),
      ...(late.isAway && { claimsIn: { begins: await isFirstGeneration(sql, journals.generation) } }),
    }
    return await fillMemory(stored, { directory, dedupe, traits, holdKeys }, clock.wall(), phases)
  } finally {
    await closePostgres(unbounded)
  }
}
