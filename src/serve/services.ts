// Opens the services of handlers and jobs over the stores, the shards and the memory of the HTTP thread.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import { AccessTokens } from '../account/access-tokens.js'
import { AuditLog } from '../account/audit/audit.js'
import { setDefinitionBounds } from '../account/definition-bounds.js'
import type { Definitions } from '../account/definitions.js'
import { AccountLimits } from '../account/limits.js'
import { Sessions } from '../account/sessions.js'
import { type Config, checkingThreads, recordRates } from '../config.js'
import { composeHappened } from '../control/jobs/webhook-payloads.js'
import { Migrations } from '../control/migrations/migrations.js'
import { SelfReport } from '../control/self-report.js'
import { StoreLook } from '../control/store-look.js'
import { Deliveries } from '../control/webhooks/deliveries.js'
import { Outbox } from '../control/webhooks/outbox.js'
import { Webhooks } from '../control/webhooks/subscriptions.js'
import { Entities, type SharedPairs } from '../entities/directory/entities.js'
import { Quotas } from '../entities/directory/quotas.js'
import { PaidWrites } from '../entities/idempotency/paid-writes.js'
import { Pacing } from '../entities/turns/pacing.js'
import { StoreTurns } from '../entities/turns/store-turns.js'
import { Parsers } from '../front/events/parsing/parser-pool.js'
import type { FrontMemory } from '../front/extra/shared-memory.js'
import { Limits, limitTable } from '../front/http/admission/limits.js'
import { KeptSubscriptions } from '../front/stream/kept-subscriptions.js'
import { Streams } from '../front/stream/streams.js'
import { CompanyViews } from '../kept/company-views.js'
import { ResponseCache } from '../kept/response-cache.js'
import type { Services } from '../kit/services.js'
import { SharedReads } from '../kit/shared-reads.js'
import type { Opened } from '../opened.js'
import type { Journals } from '../recovery/journals.js'
import { productVersion } from './openapi/openapi.js'

const parserFile = new URL('../../served/parser.js', import.meta.url)
/** How long writes of events wait for a stalled Postgres. After this long they go ahead without it. */
const pacedMs = 5_000

/** Idempotency keys of paid writes that one environment may have in a day, and bytes of their answers. */
const paidWritesMax = { keysMax: 100_000, bytesMax: 268_435_456 }

/** Parts that are opened before the services. */
type Below = Pick<
  Services,
  | 'backlog'
  | 'checkedFlags'
  | 'clickhouse'
  | 'dedupe'
  | 'directory'
  | 'holdKeys'
  | 'metrics'
  | 'modelPrices'
  | 'postgres'
  | 'projections'
  | 'shards'
  | 'sql'
  | 'userSeen'
> & {
  readonly config: Config
  readonly log: Logger
  readonly opened: Opened
  readonly definitions: Definitions
  readonly journals: Journals
  /** The pool of Postgres connections for requests. */
  readonly requests: Sql
  /** Its connections. */
  readonly places: number
  /** Whether this node runs the services that run once in a cluster; absent: it does. */
  readonly isHere?: () => boolean
  /** Whether this node owns a shard; absent: it owns all. */
  readonly owns?: (shard: number) => boolean
  /** Version counters of every node, for the data stream; absent: this node's counters are all. */
  readonly streamed?: ConstructorParameters<typeof Streams>[0]['changes'] | undefined
  /** Memory of extra fronts; null: there are none. */
  readonly fronts: FrontMemory | null
  /** Decides new key pairs among several nodes; null: there is one node. */
  readonly pairs: SharedPairs | null
}

/**
 * Open the services in order. `opened` closes them. Outbox and deliveries are not started yet.
 *
 * errors  those of Postgres.
 */
export async function openServices(
  below: Below,
): Promise<{ services: Services; limits: Limits; answers: ResponseCache }> {
  const { config, log, opened, definitions, journals, directory, metrics, projections, shards, sql } = below
  const { keys, clock, traits, catalogs } = definitions
  await setDefinitionBounds(sql, config.definitionsMax)
  const audit = new AuditLog(sql, log, definitions.bootstrapped.accountId)
  await audit.open()
  opened.add(() => audit.flush())
  const { webhooks, deliveries, outbox } = await openNotifications(below, text =>
    composeHappened(services, text),
  )
  const migrations = openMigrations(below)
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
  const entities = new Entities(directory, shards, traits, quotas, undefined, pacingOf(below), below.pairs)
  const companyViews = new CompanyViews(journals.changes, config.companyViewsBytes, metrics.companyViews)
  // each thread keeps answers of its own
  const threads = checkingThreads(config)
  const answers = new ResponseCache(journals.changes, directory, recordRates(config, threads), threads)
  const { limits, accountLimits } = await openLimits(below)
  const { clickhouse, dedupe, holdKeys, userSeen, checkedFlags, modelPrices, backlog, postgres } = below
  const services: Services = {
    log,
    sql,
    clickhouse,
    turns: new StoreTurns({ sql: below.requests, clickhouse }, below.places),
    keys,
    sessions: new Sessions({ sql, keys, wallMs: () => clock.wall() }),
    accessTokens: new AccessTokens({ sql, keys, wallMs: () => clock.wall() }),
    clock,
    catalogs,
    traits,
    shards,
    parsers,
    directory,
    entities,
    companyViews,
    streams: openStreams(below, entities),
    dedupe,
    holdKeys,
    paidWrites: new PaidWrites({ shards, projections, shared: config.redisUrl !== null, ...paidWritesMax }),
    projections,
    postgres,
    migrations,
    userSeen,
    checkedFlags,
    reads: new SharedReads(),
    modelPrices,
    metrics,
    self: new SelfReport(productVersion(), new StoreLook(() => below.clickhouse.healthy())),
    backlog,
    audit,
    accountLimits,
    quotas,
    webhooks,
    outbox,
    deliveries,
    webhookPlainHttp: config.webhookPlainHttp,
    webhookPrivateAddresses: config.webhookPrivateAddresses,
  }
  followEnvironments(below, services)
  return { services, limits, answers }
}

/** The node on which work runs that is done once in a cluster. */
const onceOf = ({ isHere }: Below) => (isHere === undefined ? {} : { isHere })

/** Webhooks, their deliveries and the outbox, which hands over what `compose` makes of a notification. */
async function openNotifications(
  below: Below,
  compose: (text: string) => Promise<unknown>,
): Promise<Pick<Services, 'webhooks' | 'deliveries' | 'outbox'>> {
  const {
    config,
    log,
    metrics,
    opened,
    sql,
    definitions: { keys },
  } = below
  const once = onceOf(below)
  const deliveries = new Deliveries({
    sql,
    log,
    privateAddresses: config.webhookPrivateAddresses,
    retryMs: config.webhookRetryMs,
    ...once,
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
  const outbox = new Outbox({
    sql,
    log,
    ...once,
    webhooks,
    pendingBytesMax: config.webhookPendingBytesMax,
    accountOf: id => keys.environment(id)?.accountId ?? null,
    compose,
    dropped: count => {
      metrics.notificationsDropped.count += count
    },
  })
  opened.add(() => outbox.stop())
  return { webhooks, deliveries, outbox }
}

/** Migrations and moves, started. */
function openMigrations(below: Below): Migrations {
  const {
    log,
    opened,
    projections,
    shards,
    sql,
    definitions: { catalogs, clock },
  } = below
  const migrations = new Migrations({
    sql,
    log,
    ...onceOf(below),
    shards,
    projections,
    now: id => clock.now(id),
    fallbackPlanOf: id => (catalogs.ids().includes(id) ? catalogs.get(id).fallbackPlanId : null),
    knows: (id, planId, versionId) =>
      catalogs.ids().includes(id) &&
      catalogs
        .get(id)
        .plans.some(plan => plan.id === planId && plan.versions.some(version => version.id === versionId)),
  })
  migrations.start()
  opened.add(() => migrations.stop())
  return migrations
}

/** Limits of requests, with those that operators set for an account. */
async function openLimits({
  config,
  sql,
  fronts,
}: Below): Promise<{ limits: Limits; accountLimits: AccountLimits }> {
  const limits = new Limits(limitTable(config.limits), config.limitsScope)
  if (fronts !== null) limits.lend(fronts.buckets, () => fronts.editions.raiseAll())
  const accountLimits = new AccountLimits(sql, (accountId, setting) =>
    limits.setAccount(accountId, setting === undefined ? undefined : limitTable(setting)),
  )
  await accountLimits.load()
  return { limits, accountLimits }
}

/** The data stream, on the version counters of every node. */
function openStreams(below: Below, entities: Entities): Streams {
  const {
    config,
    journals,
    log,
    metrics,
    shards,
    sql,
    definitions: { catalogs, clock },
  } = below
  const changes = below.streamed ?? journals.changes
  const kept = new KeptSubscriptions(sql, log)
  return new Streams({ shards, catalogs, clock, entities, changes, metrics, kept }, config)
}

/** How writes of events wait for Postgres, for the shards of this node. */
function pacingOf({ config, journals, owns, projections }: Below): Pacing {
  return new Pacing({
    behindMax: config.writesBehindMax,
    position: shard =>
      owns === undefined || owns(shard) ? journals.positions.get(shard, 'postgres') : Number.MAX_SAFE_INTEGER,
    reached: (shard, sequence) => projections.reached('postgres', shard, sequence, pacedMs),
  })
}

/** Tell those that keep parts of environments which are there and which are gone. */
function followEnvironments({ definitions: { keys }, log }: Below, services: Services): void {
  const { directory, quotas, shards, streams, webhooks } = services
  keys.onEnvironment(({ id, lowercaseKeys }) => {
    if (directory.lowercase(id, lowercaseKeys)) streams.lowercased(id)
  })
  keys.onEnvironmentRemoved(id => {
    directory.forgetEnvironment(id)
    quotas.forgetEnvironment(id)
    webhooks.forgetEnvironment(id)
    shards
      .forgetEnvironment(id)
      .catch(error => log.warn({ err: error }, 'a shard keeps a deleted environment'))
  })
}
