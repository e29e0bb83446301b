// Opens the HTTP server, and the one for metrics where it has its own address.

import type { Cluster } from '../cluster/open.js'
import { ConfigError, connectionBounds } from '../config.js'
import type { Quotas } from '../entities/directory/quotas.js'
import type { Dedupe } from '../entities/idempotency/dedupe.js'
import type { Limits } from '../front/http/admission/limits.js'
import type { Bound } from '../front/http/apps/connections.js'
import { type OpenedApp, openApp } from '../front/http/apps/open-app.js'
import type { PassedApp } from '../front/http/apps/passed-app.js'
import { refusedMessage, refusedTeller } from '../front/http/apps/refused-connections.js'
import { broadcasting } from '../front/http/broadcast.js'
import { Server } from '../front/http/server.js'
import type { Services } from '../kit/services.js'
import type { LateClickHouse } from '../recovery/late-clickhouse.js'
import { registerDocuments } from './openapi/pages.js'
import type { Opening } from './opening.js'
import { routes } from './routes.js'
import type { Traced } from './tracing.js'

/** Connections to a port for metrics alone. They are of the files that are kept for the process. */
const metricsConnectionsMax = 64

/** Open the server; it does not listen yet. errors: a metrics address that is not available. */
export async function openServer(
  { config, log, opened, later }: Opening,
  { shards, projections, dedupe, quotas, postgres, audit, metrics, self }: Services,
  parts: {
    readonly limits: Limits
    readonly late: LateClickHouse
    readonly environmentIds: () => readonly string[]
    readonly cluster: Cluster | null
    readonly traced: Traced | null
    readonly accountId: string
  },
): Promise<{ readonly server: Server; readonly passed: PassedApp | null }> {
  const { limits, late, environmentIds, cluster, traced, accountId } = parts
  const tellRefused = refusedTeller(line => log.warn(line, refusedMessage))
  const refused = (bound: Bound, address: string): void => {
    metrics.connectionsRefused[bound].count++
    tellRefused(bound, address)
  }
  const http = await openApp(config.http, { ...connectionBounds(config), threads: config.fronts, refused })
  const passed = config.fronts > 1 ? await sharing(http) : null
  if (http.changed) log.warn({ reason: http.reason }, 'the native HTTP server is not loaded')
  log.info({ server: http.name, reason: http.reason }, 'HTTP server')
  const signOn =
    config.oidc === null || config.publicUrl === null
      ? null
      : // loaded only where it is used
        new (await import('../front/http/console/sign-on.js')).SignOn(
          config.oidc,
          config.publicUrl,
          () => accountId,
        )
  const server: Server = new Server(passed ?? http.app, {
    config,
    log,
    metrics,
    limits,
    health: {
      ready: () => server.serving && (cluster === null || cluster.node.isReady),
      degraded: (): readonly string[] => [
        ...(cluster?.degraded() ?? []),
        ...shards.degraded.map(shard => `shard ${shard}`),
        ...(later.fronts?.degraded ?? []),
        ...(postgres === undefined || postgres.answers ? [] : ['Postgres']),
        ...late.degraded(dedupe),
        ...projections.degraded(),
        ...fullWindows(dedupe),
        ...fullQuotas(quotas, environmentIds()),
      ],
    },
    routes: cluster === null ? routes : broadcasting(routes, cluster.changing),
    ...(cluster && { mayAnswer: () => cluster.node.members.isAlive }),
    audit,
    documents: registerDocuments,
    stages: traced?.stages,
    fronts: () => later.fronts,
    signOn,
  })
  self.degraded = () => server.degraded
  self.redis = () => (cluster === null ? null : cluster.redisAnswers)
  self.fronts = () => {
    const silent = later.fronts?.degraded ?? []
    const answers = (front: number) => !silent.includes(`front ${front}`)
    const numbers = config.fronts === 1 ? [0] : Array.from({ length: config.fronts }, (_, i) => i + 1)
    return numbers.map(front => ({ front, answers: answers(front) }))
  }
  self.nodes = () =>
    cluster === null
      ? [{ node: 'this node', shards: config.shards, isSelf: true }]
      : cluster.node.members.seen(cluster.node.name)
  if (config.metricsAddress !== null) {
    const { host, port } = config.metricsAddress
    const bounds = { total: metricsConnectionsMax, perAddress: metricsConnectionsMax, threads: 1, refused }
    const { app } = await openApp(config.http, bounds)
    server.registerMetrics(app)
    await app.listen(host, port, false)
    opened.add(async () => {
      app.stopListening()
      app.close()
    })
  }
  return { server, passed }
}

/** The server of the main thread, behind extra fronts. errors: ConfigError where the native server does not load. */
async function sharing({ app, name, reason }: OpenedApp): Promise<PassedApp> {
  if (name !== 'uWebSockets.js')
    throw new ConfigError(`TOLLGATE_FRONTS: Node's http has one front. ${reason}`)
  const { PassedApp } = await import('../front/http/apps/passed-app.js')
  return new PassedApp(app)
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
