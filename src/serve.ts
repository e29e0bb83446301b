// Opens shards, projectors, directory and HTTP over the running stores, and closes them in reverse order.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import { claimsAtOnce, eventClaims } from './analytics/history.js'
import type { Services } from './api/kit/services.js'
import { SharedReads } from './api/kit/shared-reads.js'
import { loadCredits, loadPlanCreditGrants } from './catalog/credits.js'
import { plansLoader } from './catalog/plans.js'
import type { Config } from './config.js'
import type { CatalogData } from './core/catalog.js'
import type { CheckCounts, ShardNotice } from './core/company/message.js'
import { openDefinitions } from './engine/account/definitions.js'
import { AccountLimits } from './engine/account/limits.js'
import { ModelPrices } from './engine/account/model-prices.js'
import { AuditLog } from './engine/audit/audit.js'
import { Answers } from './engine/cache/response-cache.js'
import { Directory } from './engine/directory/directory.js'
import { Entities } from './engine/directory/entities.js'
import { CheckedFlags, UserSeen } from './engine/directory/last-seen.js'
import { Quotas } from './engine/directory/quotas.js'
import { Pacing } from './engine/fairness/pacing.js'
import { postgresPlaces, StoreTurns } from './engine/fairness/store-turns.js'
import { Yielding } from './engine/host/clickhouse-throttle.js'
import { Dedupe, keyBytes, segmentsPerTurn, windowMs } from './engine/idempotency/dedupe.js'
import { HoldKeys } from './engine/idempotency/hold-keys.js'
import { KeyArchive } from './engine/idempotency/key-archive.js'
import { Migrations } from './engine/migrations/migrations.js'
import { Parsers } from './engine/parsing/parser-pool.js'
import { Backlog } from './engine/recovery/backlog.js'
import { type KeptPoint, keepPoint } from './engine/recovery/backup.js'
import { ClockMark } from './engine/recovery/clock-mark.js'
import { ControlSocket } from './engine/recovery/control.js'
import { Projections, type ProjectionsOptions } from './engine/recovery/projections.js'
import type { Phases } from './engine/recovery/start-phases.js'
import { allOf, fillMemory, rememberAgain, restorePositions, storedIn } from './engine/recovery/warm-up.js'
import { Shards } from './engine/shards/shards.js'
import { shardFile } from './engine/shards/thread.js'
import { Streams } from './engine/stream/streams.js'
import { Deliveries } from './engine/webhooks/deliveries.js'
import { Outbox } from './engine/webhooks/outbox.js'
import { Webhooks } from './engine/webhooks/subscriptions.js'
import { collectWhenIdle } from './host/idle-gc.js'
import { Standby } from './host/thread-priority.js'
import { Limits, limitTable } from './http/admission/limits.js'
import { openApp } from './http/apps/open-app.js'
import { routes } from './http/routes.js'
import { Server } from './http/server.js'
import { finishPublishes } from './jobs/finish-publishes.js'
import { tellExpired } from './jobs/override-expiry.js'
import { settleDue } from './jobs/settle-due.js'
import { tellTrialEnds } from './jobs/trial-ends.js'
import { composeHappened } from './jobs/webhook-payloads.js'
import { nodeDisk } from './journal/disk.js'
import { journalGeneration, shardDirectory } from './journal/segment.js'
import { createMetrics, type Metrics } from './metrics.js'
import type { Addresses, Opened, Tollgate } from './opened.js'
import { Positions } from './protocol/positions.js'
import type { ProjectedChunk } from './protocol/projector-messages.js'
import type { ShardOptions } from './protocol/shard-options.js'
import { Changes } from './protocol/version-counters.js'
import { openClickHouse } from './storage/clickhouse.js'
import { dropClones } from './storage/dump.js'
import { migrate } from './storage/migrate.js'
import { closePostgres, openPostgres, type PostgresAddress, postgresHealthy } from './storage/postgres.js'

const parserFile = new URL('../workers/parse.js', import.meta.url)
/** Interval of the search for ended trials, subscriptions and overrides. */
const expiriesMs = 2_000
/** Interval of health checks of Postgres. */
const healthMs = 2_000
/** Interval at which idempotency keys of holds that ended a day ago are deleted from Postgres. */
const pruneMs = 3_600_000
/** How long writes of events wait for a stalled Postgres. Afterwards they go ahead until it moves again. */
const pacedMs = 5_000
/** Longest wait of a drain for a store. */
const drainMsMax = 600_000

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
  const { config, log, opened, phases, floorMs, addresses } = from
  const sql = openPostgres(addresses.postgres, { max: 8 })
  opened.add(() => closePostgres(sql))
  const requests = openPostgres(addresses.postgres, { max: postgresPlaces.places })
  opened.add(() => closePostgres(requests))
  let yielding: Yielding | null = null
  const clickhouse = openClickHouse(addresses.clickhouse, { max: 32, asked: more => yielding?.asked(more) })
  opened.add(() => clickhouse.close())
  await phases.time('migrate', () => migrate({ postgres: addresses.postgres, clickhouse }))
  // left over from a backup whose service was killed
  await dropClones(clickhouse)

  let running: Shards | null = null
  const announce = async (data: CatalogData) => running?.announce(data)
  const loaders = { plans: plansLoader(loadPlanCreditGrants), credits: loadCredits }
  const definitions = await phases.time('definitions', () =>
    openDefinitions({ sql, log, config, announce, loaders, floorMs }),
  )
  opened.add(() => definitions.close())
  const { keys, clock, traits, catalogs } = definitions
  const mark = new ClockMark(config.dataDir, () => clock.wall(), log)
  opened.add(() => mark.stop())

  const directory = new Directory()
  const idempotencyKeysMax = Math.floor(config.idempotencyBytes / keyBytes)
  const dedupe = new Dedupe(idempotencyKeysMax)
  const holdKeys = new HoldKeys(idempotencyKeysMax)
  const userSeen = new UserSeen()
  const checkedFlags = new CheckedFlags()
  const modelPrices = new ModelPrices(sql)
  await modelPrices.load()
  const metrics = createMetrics()
  const traced = config.tracesUrl === null ? null : await traceEverything(config.tracesUrl, log, opened)

  const journalDir = join(config.dataDir, 'journal')
  await removeDrained(journalDir)
  const count = await shardCount(journalDir)
  if (count !== null && count !== config.shards) {
    await drainJournals({ config, log, sql, addresses, count })
    await removeDrained(journalDir)
  }
  await keepShardCount(journalDir, config.shards)
  const journals = await openJournals(config, sql, addresses.postgres, config.shards)

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
  const starting = phases.time('replay', () =>
    (traced?.Shards ?? Shards).start({
      shards: journals.options.map(options => ({ ...options, tellsGroups: traced !== null })),
      workerFile: shardFile,
      log,
      catalogs: () => catalogs.ids().map(id => catalogs.get(id)),
      onNotice: heard,
    }),
  )
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
  }
  const memory = { directory, dedupe, traits, holdKeys }
  const filling = fillMemory(stored, memory, clock.wall(), phases).finally(() => closePostgres(unbounded))
  const [shards] = await allOf([starting, filling])
  running = shards
  await phases.time('catalogs', () => catalogs.start())

  projections = await startProjections(journals, addresses, log, {
    chunk: traced?.chunk,
    announced: () => outbox?.wake(),
    lastOf: environmentId => shards.lastOf(environmentId),
  })
  opened.add(() => projections!.stop())
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
    oldKeys
      .rotate(dedupe, clock.wall())
      .catch(error => log.warn({ err: error }, 'idempotency keys stay in memory'))
  }, 1_000)
  const pruning = setInterval(
    () => void holdKeys.prune(sql).catch(error => log.warn({ err: error }, 'old keys are not removed')),
    pruneMs,
  )
  opened.add(async () => {
    clearInterval(sweeping)
    oldKeys.close()
    clearInterval(pruning)
  })

  const backlog = new Backlog(
    journals.options.map(one => one.journalDir),
    config.journalBacklogBytesMax,
  )
  opened.add(async () => backlog.stop())
  const audit = new AuditLog(sql, log, definitions.bootstrapped.accountId)
  await audit.open()
  opened.add(() => audit.flush())
  const deliveries = new Deliveries({
    sql,
    log,
    privateAddresses: config.webhookPrivateAddresses,
    retryMs: config.webhookRetryMs,
    deactivated: ({ environmentId }) =>
      void webhooks.load(environmentId).catch(error => log.warn({ err: error }, 'webhooks not read')),
  })
  const webhooks = new Webhooks({
    sql,
    environmentIds: accountId => keys.environments(accountId).map(({ id }) => id),
    queued: () => deliveries.wake(),
  })
  await webhooks.load()
  opened.add(() => deliveries.stop())
  const notices = new Outbox({
    sql,
    log,
    webhooks,
    pendingBytesMax: config.webhookPendingBytesMax,
    accountOf: id => keys.environment(id)?.accountId ?? null,
    compose: happened => composeHappened(services, happened),
    dropped: count => {
      metrics.notificationsDropped.count += count
    },
  })
  opened.add(() => notices.stop())
  const migrations = new Migrations({
    sql,
    log,
    shards,
    projections,
    now: id => clock.now(id),
    knows: (id, planId, versionId) =>
      catalogs.ids().includes(id) &&
      catalogs
        .get(id)
        .plans.some(plan => plan.id === planId && plan.versions.some(version => version.id === versionId)),
  })
  migrations.start()
  opened.add(() => migrations.stop())

  const parsers = new Parsers({
    workerFile: parserFile,
    threads: config.parseThreads,
    shards: config.shards,
    bytesMax: config.bodiesBytesMax,
    log,
    metrics: metrics.largeBodies,
  })
  opened.add(() => parsers.close())
  const quotas = new Quotas(directory, config)
  const pacing = new Pacing({
    behindMax: config.writesBehindMax,
    position: shard => journals.positions.get(shard, 'postgres'),
    reached: (shard, sequence) => projections!.reached('postgres', shard, sequence, pacedMs),
  })
  const entities = new Entities(directory, shards, traits, quotas, undefined, pacing)
  const answers = new Answers(journals.changes, directory, config.flagCheckRowsPerSecond)
  const limits = new Limits(limitTable(config.limits))
  const accountLimits = new AccountLimits(sql, (accountId, setting) =>
    limits.setAccount(accountId, setting === undefined ? undefined : limitTable(setting)),
  )
  await accountLimits.load()
  const services: Services = {
    log,
    sql,
    clickhouse,
    turns: new StoreTurns({ sql: requests, clickhouse }),
    keys,
    clock,
    catalogs,
    traits,
    shards,
    parsers,
    directory,
    entities,
    answers,
    streams: new Streams({ shards, catalogs, clock, entities, changes: journals.changes, metrics }, config),
    dedupe,
    holdKeys,
    projections,
    migrations,
    userSeen,
    checkedFlags,
    reads: new SharedReads(),
    modelPrices,
    metrics,
    backlog,
    audit,
    accountLimits,
    quotas,
    webhooks,
    outbox: notices,
    deliveries,
    webhookPlainHttp: config.webhookPlainHttp,
    webhookPrivateAddresses: config.webhookPrivateAddresses,
  }
  outbox = notices
  keys.onEnvironmentRemoved(id => {
    directory.forgetEnvironment(id)
    webhooks.forgetEnvironment(id)
    shards
      .forgetEnvironment(id)
      .catch(error => log.warn({ err: error }, 'a shard keeps a deleted environment'))
  })
  const tellAnswers = setInterval(() => {
    answers.tick()
    tellOne()
  }, 1_000)
  // in parts, so that requests are served in between
  const tellOne = (): void => {
    const given = answers.takeCounts()
    if (given === null) return
    noteChecks(given)
    setImmediate(tellOne)
  }
  const flushSeen = () => Promise.all([userSeen.flush(shards, id => clock.now(id)), checkedFlags.flush(sql)])
  const seenTimer = setInterval(() => void flushSeen(), 1_000)
  opened.add(async () => {
    clearInterval(seenTimer)
    clearInterval(tellAnswers)
    for (let given = answers.takeCounts(); given !== null; given = answers.takeCounts()) noteChecks(given)
    await flushSeen()
  })

  const looks = [() => settleDue(services, catalogs.ids()), finishPublishes, tellTrialEnds, tellExpired]
  let looking: Promise<void> | null = null
  const look = async (): Promise<void> => {
    for (const one of looks)
      await one(services).catch(error => log.warn({ err: error }, 'what time has ended waits for a store'))
    looking = null
  }
  const expiries = setInterval(() => {
    looking ??= look()
  }, expiriesMs)
  opened.add(async () => {
    clearInterval(expiries)
    await looking
  })

  const stopCollecting = collectWhenIdle()
  opened.add(async () => stopCollecting())
  const gauges = setInterval(() => void report(services, metrics, yielding, catalogs.ids()), 2_000)
  opened.add(async () => clearInterval(gauges))
  let postgresAnswers = true
  let asking: Promise<void> | null = null
  const askPostgres = async (): Promise<void> => {
    postgresAnswers = await postgresHealthy(sql)
    asking = null
  }
  const asks = setInterval(() => {
    asking ??= askPostgres()
  }, healthMs)
  opened.add(async () => {
    clearInterval(asks)
    await asking
  })
  const http = await openApp(config.http)
  if (http.changed) log.warn({ reason: http.reason }, 'the native HTTP server is not loaded')
  log.info({ server: http.name, reason: http.reason }, 'HTTP server')
  const server: Server = new Server(http.app, {
    config,
    log,
    metrics,
    limits,
    health: {
      ready: () => server.serving,
      degraded: () => [
        ...shards.degraded.map(shard => `shard ${shard}`),
        ...(postgresAnswers ? [] : ['Postgres']),
        ...projections!.degraded(),
        ...fullWindows(dedupe),
        ...fullQuotas(quotas, catalogs.ids()),
      ],
    },
    routes,
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
  const port = await server.listen(config.host, config.port)
  opened.add(() => server.close())
  server.serve(services)
  opened.serves()
  log.info({ ms: phases.told() }, 'ready')
  notices.start()
  deliveries.start()
  await listenToOperator(config, log, opened, async () => {
    // the audit log records every backup
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
      stopping ??= opened.close(log)
      return stopping
    },
  }
}

/**
 * Start throttling the embedded ClickHouse in favour of requests; null without one, or if the system does not
 * permit it.
 */
function openYielding(opened: Opened, projections: Projections): Yielding | null {
  const { clickhouse } = opened
  const standby = clickhouse === null ? null : Standby.open()
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

interface Journals {
  readonly directory: string
  readonly generation: string
  readonly positions: Positions
  readonly changes: Changes
  readonly options: readonly ShardOptions[]
}

/** The journals of `count` shards, with their checkpoints from Postgres. */
async function openJournals(
  config: Config,
  sql: Sql,
  postgres: PostgresAddress,
  count: number,
): Promise<Journals> {
  const directory = join(config.dataDir, 'journal')
  await mkdir(directory, { recursive: true, mode: 0o700 })
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
    checkRowsPerSecond: config.flagCheckRowsPerSecond,
    eventNamesMax: config.eventNamesMax,
  }))
  return { directory, generation, positions, changes, options }
}

function startProjections(
  journals: Journals,
  addresses: Addresses,
  log: Logger,
  more: Pick<ProjectionsOptions, 'chunk' | 'announced' | 'lastOf'> = {},
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
 * Handle a changed number of shards, which changes the owner of each company: write everything in the old journals to
 * the stores under the old number, then start new journals.
 */
async function drainJournals(from: {
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
  // renamed in one step, so that a start after a crash does not find a partly deleted directory
  await rename(journals.directory, drainedDirectory(journals.directory))
}

/** Directory of drained journals that wait for deletion. */
const drainedDirectory = (directory: string): string => `${directory}.drained`

async function removeDrained(directory: string): Promise<void> {
  await rm(drainedDirectory(directory), { recursive: true, force: true })
}

/**
 * The number of shards that wrote the journals on disk; null before the first start.
 *
 * errors  Error naming the file when it contains no valid number, because the number decides which journals are read.
 */
async function shardCount(directory: string): Promise<number | null> {
  const path = join(directory, 'shards')
  const text = await readFile(path, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  if (/^[1-9]\d{0,2}\n$/.test(text)) return Number(text)
  throw new Error(`${path} does not hold the number of shards that its journals were written by`)
}

/** Store the number in one step: after a crash the file has the old number or the new one. */
async function keepShardCount(directory: string, count: number): Promise<void> {
  if ((await shardCount(directory)) === count) return
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const draft = join(directory, 'shards.new')
  await writeFile(draft, `${count}\n`, { flush: true })
  await rename(draft, join(directory, 'shards'))
}
