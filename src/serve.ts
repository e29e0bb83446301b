// Serves over running stores: opens everything in order, and closes it in the opposite order.

import { operatorLink } from './account/member-records.js'
import { KeptChecks } from './front/checks/kept-checks.js'
import { createMetrics } from './metrics.js'
import type { Tollgate } from './opened.js'
import { openMemory } from './serve/memory.js'
import { joinCluster, serveAsNode } from './serve/node.js'
import { nothingYet, type Opening, type Start } from './serve/opening.js'
import { listenToOperator } from './serve/operator.js'
import { startProjecting } from './serve/projections.js'
import { openServer } from './serve/server.js'
import { openServices } from './serve/services.js'
import { startShards } from './serve/shards.js'
import { connectStores } from './serve/stores.js'
import { startTasks } from './serve/tasks.js'
import { traceEverything } from './serve/tracing.js'

/**
 * Serve over running stores.
 *
 * start    its `opened` collects what must be closed again, also when this throws; time starts no earlier than its
 *          `floorMs`.
 * errors   as `start`, except for the lock and the stores.
 */
export async function serve(start: Start): Promise<Tollgate> {
  const opening: Opening = { ...start, later: nothingYet() }
  const { config, log, opened, phases, later } = opening

  const stores = await connectStores(opening)
  const cluster = config.redisUrl === null ? null : await joinCluster(opening, stores)
  const memory = await openMemory(opening, stores, cluster)
  const traced = config.tracesUrl === null ? null : await traceEverything(config.tracesUrl, opening)
  const running = await startShards(opening, stores, memory, cluster, traced)
  const projecting = await startProjecting(opening, stores, memory, running, cluster, traced)

  const { bootstrapped, catalogs } = memory.definitions
  const { shared } = running
  const pairs = cluster?.pairs(memory.directory) ?? null
  const { services, limits, answers } = await openServices({
    config,
    log,
    opened,
    ...stores,
    ...memory,
    ...running,
    ...projecting,
    metrics: createMetrics(),
    pairs,
    streamed: cluster?.streamed,
    ...(cluster && { isHere: () => cluster.node.isFirst }),
    ...(shared && { owns: (shard: number) => shared.owns(shard) }),
  })
  later.outbox = services.outbox
  startTasks(opening, services, answers, memory, running.oldKeys, cluster)

  const environmentIds = () => catalogs.ids()
  const { server, passed } = await openServer(opening, services, {
    limits,
    late: stores.late,
    environmentIds,
    cluster,
    traced,
    accountId: bootstrapped.accountId,
  })
  if (cluster !== null)
    await serveAsNode(opening, cluster, services, limits, { memory, running, projecting, pairs: pairs! })
  const port = await server.listen(config.host, config.port, config.sharedPort)
  // closed after the server, which drains their requests too
  opened.add(async () => later.fronts?.close())
  opened.add(() => server.close())
  server.serve(services, new Map([['POST /flags/:key/check', new KeptChecks(answers)]]))
  if (passed !== null) {
    const { openFronts } = await import('./serve/fronts.js')
    later.fronts = openFronts(opening, services, {
      app: passed,
      port,
      memory: memory.fronts!,
      limits,
      changes: running.journals.changes,
      noteChecks: memory.noteChecks,
    })
    await later.fronts.start()
  }
  opened.serves()
  log.info({ ms: phases.told() }, 'ready')
  services.outbox.start()
  services.deliveries.start()
  if (cluster === null)
    await listenToOperator(opening, stores, services, running.journals, bootstrapped.accountId)

  let stopping: Promise<void> | null = null
  return {
    port,
    services,
    madeKey: bootstrapped.madeKey,
    signInToken: async () => {
      const { sql, keys, clock } = services
      return (await operatorLink(sql, keys, bootstrapped.accountId, clock.wall())).token
    },
    stop: () => {
      stopping ??= (cluster?.drain(config.drainMs) ?? Promise.resolve()).then(() => opened.close(log))
      return stopping
    },
  }
}
