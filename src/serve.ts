// Opens everything over the stores in order and closes it in the opposite order: shards, projectors, directory, HTTP.
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import { claimsAtOnce, eventClaims } from './analytics/history.js'
import type { Services } from './api/kit/services.js'
import { loadCredits, loadPlanCreditGrants } from './catalog/credits.js'
import { plansLoader } from './catalog/plans.js'
import type { Cluster } from './cluster/open.js'
import { reloading } from './cluster/reload.js'
import type { Config } from './config.js'
import type { CheckCounts } from './core/company/message.js'
import type { ShardNotice } from './core/company/shard-request.js'
import type { CatalogData } from './core/definitions.js'
import { openDefinitions } from './engine/account/definitions.js'
import { ModelPrices } from './engine/account/model-prices.js'
import { Directory } from './engine/directory/directory.js'
import { CheckedFlags, UserSeen } from './engine/directory/last-seen.js'
import type { Quotas } from './engine/directory/quotas.js'
import { postgresPlaces } from './engine/fairness/store-turns.js'
import { Yielding } from './engine/host/clickhouse-throttle.js'
import { Dedupe, keyBytes, segmentsPerTurn, windowMs } from './engine/idempotency/dedupe.js'
import { HoldKeys } from './engine/idempotency/hold-keys.js'
import { KeyArchive } from './engine/idempotency/key-archive.js'
import { Backlog } from './engine/recovery/backlog.js'
import { type KeptPoint, keepPoint } from './engine/recovery/backup.js'
import { ClockMark } from './engine/recovery/clock-mark.js'
import { ControlSocket } from './engine/recovery/control.js'
import {
  drainJournals,
  keepShardCount,
  openJournals,
  removeDrained,
  shardCount,
  startProjections,
} from './engine/recovery/journals.js'
import { LateClickHouse } from './engine/recovery/late-clickhouse.js'
import { PostgresWatch } from './engine/recovery/postgres-watch.js'
import type { Projections } from './engine/recovery/projections.js'
import type { Phases } from './engine/recovery/start-phases.js'
import { allOf, fillMemory, isFirstGeneration, rememberAgain, storedIn } from './engine/recovery/warm-up.js'
import { Shards } from './engine/shards/shards.js'
import { shardFile } from './engine/shards/thread.js'
import type { Outbox } from './engine/webhooks/outbox.js'
import { collectWhenIdle } from './host/idle-gc.js'
import { IdlePriority } from './host/thread-priority.js'
import { openApp } from './http/apps/open-app.js'
import { routes } from './http/routes.js'
import { Server } from './http/server.js'
import { telling } from './http/telling.js'
import { createMetrics, type Metrics } from './metrics.js'
import type { Addresses, Opened, Tollgate } from './opened.js'
import { packedClaimBytes } from './protocol/packed-claim.js'
import type { ProjectedChunk } from './protocol/projector-messages.js'
import { startJobs } from './serve/jobs.js'
import { openServices } from './serve/services.js'
import { openClickHouse } from './storage/clickhouse.js'
import { ClickHouseGate } from './storage/clickhouse-gate.js'
import { Holder, type Holding } from './storage/holder.js'
import { closePostgres, openPostgres, postgresHealthy } from './storage/postgres.js'

/** A node that was put out exits with this: its supervisor starts it again. */
const outCode = 75
/** How often keys of holds that are over for a day are removed from Postgres. */
const pruneMs = 3_600_000
/**
 * Serve over running stores.
 *
 * from     `opened` collects what must be closed again, also when this throws; time starts no earlier than `floorMs`.
 * errors   as `start`, except for the lock and the stores.
 */
export async function serve(from: {
  readonly config: Config
  readonly log: Logger
  readonly opened: Opened
  readonly phases: Phases
  readonly floorMs: number
  readonly addresses: Addresses
}): Promise<Tollgate> {
  const { config, log, opened, phases, floorMs } = from
  const { clickhouse: clickhouseAddress, postgres: postgresAddress } = from.addresses
  // the locks of a node that hangs end with its lease: whoever has its shards by then waits for them
  const idle = config.redisUrl === null ? {} : { idleTransactionMs: config.leaseMs }
  const addresses: Addresses = { clickhouse: clickhouseAddress, postgres: { ...postgresAddress, ...idle } }
  const sql = openPostgres(addresses.postgres, { max: 8 })
  opened.add(() => closePostgres(sql))
  let watch: PostgresWatch | null = null
  const closed = () => watch?.doubt()
  const requests = openPostgres(addresses.postgres, { max: postgresPlaces.places, closed })
  opened.add(() => closePostgres(requests))
  let yielding: Yielding | null = null
  const store = openClickHouse(addresses.clickhouse, { max: 32, asked: more => yielding?.asked(more) })
  const clickhouse = new ClickHouseGate(store)
  opened.add(() => clickhouse.close())
  const holding = config.redisUrl === null ? 'alone' : 'shared'
  const holder = config.databaseUrl === null ? null : await holdPostgres(addresses, holding, log, opened)
  const late = new LateClickHouse({ postgres: addresses.postgres, store, gate: clickhouse, log })
  await phases.time('migrate', () => late.migrate(config.redisUrl === null))
  await holder?.begin()

  const cluster = config.redisUrl === null ? null : await joinCluster({ ...from, addresses }, sql)

  let running: Shards | null = null
  const announce = async (data: CatalogData) => running?.announce(data)
  const loaders = { plans: plansLoader(loadPlanCreditGrants), credits: loadCredits }
  const definitions = await phases.time('definitions', () =>
    openDefinitions({ sql, log, config, announce, loaders, floorMs, ...(cluster && { told: cluster.told }) }),
  )
  opened.add(() => definitions.close())
  const { keys, clock, traits, catalogs } = definitions
  const mark = new ClockMark(config.dataDir, () => clock.wall(), log)
  opened.add(() => mark.stop())

  const directory = new Directory()
  const idempotencyKeysMax = Math.floor(config.idempotencyBytes / keyBytes)
  const dedupe = cluster?.window ?? new Dedupe(idempotencyKeysMax)
  const holdKeys = new HoldKeys(idempotencyKeysMax)
  if (cluster !== null) holdKeys.shared = cluster.holdKey
  const isHere = () => cluster === null || cluster.node.isFirst
  const once = cluster === null ? {} : { isHere }
  const userSeen = new UserSeen()
  const checkedFlags = new CheckedFlags()
  const modelPrices = new ModelPrices(sql)
  await modelPrices.load()
  const metrics = createMetrics()
  const traced = config.tracesUrl === null ? null : await traceEverything(config.tracesUrl, log, opened)

  const journalDir = join(config.dataDir, 'journal')
  await removeDrained(journalDir)
  const count = await shardCount(journalDir)
  if (count !== null && (cluster !== null || count !== config.shards)) {
    await drainJournals({ config, log, sql, addresses, count })
    await removeDrained(journalDir)
  }
  if (cluster === null) await keepShardCount(journalDir, config.shards)
  const journals = cluster?.journals ?? (await openJournals(config, sql, addresses.postgres, config.shards))

  let projections: Projections | null = null
  let outbox: Outbox | null = null
  const heard = (notice: ShardNotice): void => {
    if (notice.notice === 'identity') rememberAgain({ directory, dedupe }, notice.facts)
    if (notice.notice === 'checks') noteChecks(notice.checks)
  }
  const noteChecks = ({ flags, users, rows, counts }: CheckCounts): void => {
    for (const [environmentId, flagKey, atMs] of flags) checkedFlags.note(environmentId, flagKey, atMs)
    for (const [environmentId, userId, atMs] of users) userSeen.note(userId, environmentId, atMs)
    projections?.recordChecks(rows, counts)
  }
  const shared = cluster?.startShards({
    workerFile: shardFile,
    log,
    catalogs: () => catalogs.ids().map(id => catalogs.get(id)),
    onNotice: heard,
  })
  const starting: Promise<Shards> = phases.time(
    'replay',
    async () =>
      shared ??
      (traced?.Shards ?? Shards).start({
        shards: journals.options.map(options => ({ ...options, tellsGroups: traced !== null })),
        workerFile: shardFile,
        log,
        catalogs: () => catalogs.ids().map(id => catalogs.get(id)),
        onNotice: heard,
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
  dedupe.keepOldIn(oldKeys)
  // without time limit: it reads millions of rows, and a limit would bound the number of companies
  const unbounded = openPostgres(addresses.postgres, { max: 1, statementTimeoutMs: 0 })
  const stored = {
    journals,
    entities: storedIn(unbounded),
    claims: (openedMs: number) => eventClaims(clickhouse, oldKeys.missingSince(openedMs), claimsAtOnce),
    holdKeys: () => holdKeys.load(sql),
    ...(late.isAway && { claimsIn: { begins: await isFirstGeneration(sql, journals.generation) } }),
  }
  const missingMs = oldKeys.missingSince(clock.wall() - windowMs)
  const memory = { directory, dedupe, traits, holdKeys }
  const filling = (
    cluster === null ? fillMemory(stored, memory, clock.wall(), phases) : cluster.fill(memory, phases)
  ).finally(() => closePostgres(unbounded))
  const [shards, tail] = await allOf([starting, filling])
  dedupe.lacksSome = late.isAway && (tail?.claimsSinceMs ?? 0) > missingMs
  running = shards
  await phases.time('catalogs', () => catalogs.start())

  const hears = {
    waiting: late.isAway ? (['clickhouse'] as const) : [],
    chunk: traced?.chunk,
    announced: () => outbox?.wake(),
    lastOf: (environmentId: string) => shards.lastOf(environmentId),
  }
  const sharedProjections = await cluster?.startProjections({ ...addresses, log, ...hears })
  projections = sharedProjections ?? (await startProjections(journals, addresses, log, hears))
  opened.add(() => projections!.stop())
  if (late.isAway) late.begin({ projections, dedupe, sinceMs: missingMs })
  opened.add(() => late.stop())
  yielding = openYielding(opened, projections)
  let divided = 0
  const divide = (): void => {
    const environments = catalogs.ids().length
    if (environments === divided) return
    divided = environments
    dedupe.divide(environments)
    holdKeys.divide(environments)
  }
  divide()
  const sweeping = setInterval(() => {
    divide()
    dedupe.sweep(clock.wall(), segmentsPerTurn)
    holdKeys.sweep(clock.wall(), segmentsPerTurn)
    if (!dedupe.lacksSome)
      oldKeys
        .rotate(dedupe, clock.wall())
        .catch(error => log.warn({ err: error }, 'idempotency keys stay in memory'))
  }, 1_000)
  const pruning = setInterval(
    () =>
      isHere() &&
      void holdKeys.prune(sql).catch(error => log.warn({ err: error }, 'old keys are not removed')),
    pruneMs,
  )
  opened.add(async () => {
    clearInterval(sweeping)
    oldKeys.close()
    clearInterval(pruning)
  })

  const backlog =
    cluster?.backlog ??
    new Backlog(
      journals.options.map(one => one.journalDir),
      config.journalBacklogBytesMax,
    )
  opened.add(async () => backlog.stop())
  const postgres = new PostgresWatch(() => postgresHealthy(sql))
  watch = postgres
  opened.add(() => postgres.stop())
  const pairs = cluster?.pairs(directory) ?? null
  const { services, limits } = await openServices({
    config,
    log,
    opened,
    sql,
    requests,
    clickhouse,
    definitions,
    journals,
    shards,
    projections,
    backlog,
    directory,
    dedupe,
    holdKeys,
    userSeen,
    checkedFlags,
    modelPrices,
    metrics,
    postgres,
    pairs,
    streamed: cluster?.streamed,
    ...once,
    ...(shared && { owns: shard => shared.owns(shard) }),
  })
  const { audit, quotas } = services
  outbox = services.outbox
  startJobs(services, opened, { isHere, noteChecks, environmentIds: () => catalogs.ids() })

  const stopCollecting = collectWhenIdle()
  opened.add(async () => stopCollecting())
  const gauges = setInterval(() => {
    void report(services, metrics, yielding, catalogs.ids())
    if (cluster !== null) reportNode(cluster, metrics)
  }, 2_000)
  opened.add(async () => clearInterval(gauges))
  const http = await openApp(config.http)
  if (http.changed) log.warn({ reason: http.reason }, 'the native HTTP server is not loaded')
  log.info({ server: http.name, reason: http.reason }, 'HTTP server')
  const server: Server = new Server(http.app, {
    config,
    log,
    metrics,
    limits,
    health: {
      ready: () => server.serving && (cluster === null || cluster.node.isReady),
      degraded: () => [
        ...(cluster?.degraded() ?? []),
        ...shards.degraded.map(shard => `shard ${shard}`),
        ...(postgres.answers ? [] : ['Postgres']),
        ...late.degraded(dedupe),
        ...projections!.degraded(),
        ...fullWindows(dedupe),
        ...fullQuotas(quotas, catalogs.ids()),
      ],
    },
    routes: cluster === null ? routes : telling(routes, cluster.changing),
    ...(cluster && { mayAnswer: () => cluster.node.members.isAlive }),
    audit,
    exchange: traced?.Exchange,
  })
  if (config.metricsAddress !== null) {
    const { host, port } = config.metricsAddress
    const { app } = await openApp(config.http)
    server.registerMetrics(app)
    await app.listen(host, port)
    opened.add(async () => {
      app.stopListening()
      app.close()
    })
  }
  if (cluster !== null) {
    await cluster.seed(eventClaims(clickhouse, clock.wall() - windowMs, claimsAtOnce), packedClaimBytes)
    await cluster.serve({
      shards: shared!,
      projections: sharedProjections!,
      pairs: pairs!,
      memory,
      limits,
      reload: reloading({ ...services, keys, clock, catalogs }),
    })
  }
  const port = await server.listen(config.host, config.port)
  opened.add(() => server.close())
  server.serve(services)
  opened.serves()
  log.info({ ms: phases.told() }, 'ready')
  services.outbox.start()
  services.deliveries.start()
  if (cluster === null)
    await listenToOperator(config, log, opened, async () => {
      // no backup that the log does not tell of
      const { accountId } = definitions.bootstrapped
      await audit.record({ kind: 'system', accountId, what: 'backup', resourceType: 'backup' })
      return keepPoint({
        shards,
        projections: projections!,
        positions: journals.positions,
        generation: journals.generation,
        postgres: addresses.postgres,
        clickhouse,
        clickhouseAddress: addresses.clickhouse,
        flush: () => audit.flush(),
      })
    })
  let stopping: Promise<void> | null = null
  return {
    port,
    services,
    madeKey: definitions.bootstrapped.madeKey,
    stop: () => {
      stopping ??= (cluster?.drain(config.drainMs) ?? Promise.resolve()).then(() => opened.close(log))
      return stopping
    },
  }
}

/** Join the other nodes of this Postgres; loaded only where there may be some. */
async function joinCluster(
  { config, log, opened, addresses }: Parameters<typeof serve>[0],
  sql: Sql,
): Promise<Cluster> {
  const { Cluster } = await import('./cluster/open.js')
  const cluster = await Cluster.open({
    config,
    log,
    sql,
    ...addresses,
    out: () => {
      log.fatal('this node was silent for longer than its lease: it ends, to be started anew')
      log.flush(() => process.exit(outCode))
    },
  })
  opened.add(() => cluster.close())
  return cluster
}

/** Keep other Tollgates off this Postgres; a process that loses it to another one ends. */
async function holdPostgres(
  addresses: Addresses,
  holding: Holding,
  log: Logger,
  opened: Opened,
): Promise<Holder> {
  const holder = await Holder.take(addresses.postgres, holding, log, message => {
    log.fatal({ reason: message }, 'stopped: the stores have another owner')
    log.flush(() => process.exit(1))
  })
  opened.add(() => holder.release())
  return holder
}

/** Have the embedded ClickHouse give way to requests; null where there is none, or it cannot be told to. */
function openYielding(opened: Opened, projections: Projections): Yielding | null {
  const { clickhouse } = opened
  const standby = clickhouse === null ? null : IdlePriority.open()
  if (clickhouse === null || standby === null) return null
  const behind = () => projections.lag('clickhouse').seconds
  const yielding = new Yielding({ standby, pid: () => clickhouse.pid, behind })
  opened.add(() => yielding.stop())
  return yielding
}

/** Exhausted quotas of environments, in words. */
function fullQuotas(quotas: Quotas, environmentIds: readonly string[]): string[] {
  return quotas
    .used(environmentIds)
    .filter(({ part }) => part >= 1)
    .map(({ environmentId, quota }) => `quota of ${quota} of ${environmentId}`)
}

/** Parts of the idempotency window without free places, in words. */
function fullWindows(dedupe: Dedupe): string[] {
  return dedupe
    .full()
    .map(
      ({ environmentId, publishable }) =>
        `idempotency window of ${publishable ? 'publishable' : 'secret'} keys of ${environmentId ?? 'a deleted environment'}`,
    )
}

/** Open the operator's socket. A data directory without support for sockets does not prevent serving. */
async function listenToOperator(
  config: Config,
  log: Logger,
  opened: Opened,
  keep: () => Promise<KeptPoint>,
): Promise<void> {
  try {
    const control = await ControlSocket.listen(config.dataDir, keep, log)
    opened.add(() => control.close())
  } catch (error) {
    log.warn({ err: error }, 'no backup can be taken while this Tollgate runs')
  }
}

const shardChildren = new Map<number, ReturnType<typeof newChildren>>()

function childrenOf(metrics: Metrics, shard: number): ReturnType<typeof newChildren> {
  const children = shardChildren.get(shard) ?? newChildren(metrics, { shard: String(shard) })
  shardChildren.set(shard, children)
  return children
}

const newChildren = ({ journal, actors }: Metrics, label: { shard: string }) => ({
  records: journal.groupRecords.child(label),
  seconds: journal.fsyncSeconds.child(label),
  cold: actors.coldLoads.child(label),
})

/** Update the gauges from reports of shards and projectors. */
async function report(
  { shards, projections, dedupe, backlog, parsers, quotas }: Services,
  metrics: Metrics,
  yielding: Yielding | null,
  environmentIds: readonly string[],
): Promise<void> {
  metrics.projector.clickhouseYields.set(yielding?.yields ? 1 : 0)
  metrics.dedupeKeys.set(dedupe.size)
  metrics.quotaUsed.reset()
  for (const { environmentId, quota, part } of quotas.used(environmentIds))
    metrics.quotaUsed.set({ environment: environmentId, quota }, part)
  for (const quota of ['companies', 'users', 'key_names', 'event_names'] as const)
    metrics.quotaRefused[quota].count = quotas.refused[quota]
  metrics.dedupeFull.reset()
  for (const { environmentId, publishable } of dedupe.full())
    metrics.dedupeFull.set(
      { environment: environmentId ?? '', keys: publishable ? 'publishable' : 'secret' },
      1,
    )
  metrics.largeBodies.bytes.set(parsers.held)
  for (const store of ['postgres', 'clickhouse'] as const) {
    const { records, seconds } = projections.lag(store)
    metrics.projector.lagRecords.set({ store }, records)
    metrics.projector.lagSeconds.set({ store }, seconds)
  }
  for (const [index, bytes] of backlog.perShard.entries())
    metrics.journal.backlogBytes.set({ shard: String(index) }, bytes)
  const figures = await shards.stats()
  quotas.noteEventNames(figures)
  for (const { shard, actors, heapBytes, waiting, coldLoads, groups } of figures) {
    const label = { shard: String(shard) }
    const { records, seconds, cold } = childrenOf(metrics, shard)
    for (const [count, time] of groups) {
      records.observe(count)
      seconds.observe(time)
    }
    cold.count = Math.max(cold.count, coldLoads)
    metrics.actors.count.set(label, actors)
    metrics.actors.bytes.set(label, heapBytes)
    metrics.actors.queueDepth.set(label, waiting)
  }
}

function reportNode({ node }: Cluster, { cluster }: Metrics): void {
  const { node: name, shards, leaseSeconds, epochChanges, passedOn, redisSeconds } = node.figures()
  cluster.shards.set({ node: name }, shards)
  cluster.leaseSeconds.set({ node: name }, leaseSeconds)
  cluster.epochChanges.count = epochChanges
  cluster.passedOn.count = passedOn
  for (const seconds of redisSeconds) cluster.redisSeconds.observe(seconds)
}

/** Parts that are replaced when tracing is on; loaded only then. */
async function traceEverything(url: string, log: Logger, opened: Opened) {
  const [{ Tracing }, { tracedShards }, { tracedExchange }] = await Promise.all([
    import('./tracing.js'),
    import('./engine/shards/traced-shards.js'),
    import('./http/request/traced.js'),
  ])
  const tracing = await Tracing.open(url, log)
  opened.add(() => tracing.close())
  const chunk = ({ store, shard, records, failed, fromMs, toMs }: ProjectedChunk) => {
    const attributes = { 'tollgate.shard': shard, 'tollgate.records': records }
    tracing.alone({ name: `project to ${store}`, fromMs, toMs, attributes, failed })
  }
  return { Shards: tracedShards(tracing), Exchange: tracedExchange(tracing), chunk }
}
