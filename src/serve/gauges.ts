// Gauges of the metrics, updated from reports of shards, projectors and the node.

import type { Cluster } from '../cluster/open.js'
import type { Services } from '../kit/services.js'
import type { Metrics } from '../metrics.js'
import type { Yielding } from '../recovery/clickhouse-throttle.js'

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
  wholes: actors.wholesAgain.child(label),
})

/** Update the gauges from reports of shards and projectors. */
export async function report(
  { shards, projections, dedupe, backlog, parsers, quotas, metrics }: Services,
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
  for (const { shard, actors, heapBytes, waiting, coldLoads, wholesAgain, groups } of figures) {
    const label = { shard: String(shard) }
    const { records, seconds, cold, wholes } = childrenOf(metrics, shard)
    for (const [count, time] of groups) {
      records.observe(count)
      seconds.observe(time)
    }
    cold.count = Math.max(cold.count, coldLoads)
    wholes.count = Math.max(wholes.count, wholesAgain)
    metrics.actors.count.set(label, actors)
    metrics.actors.bytes.set(label, heapBytes)
    metrics.actors.queueDepth.set(label, waiting)
  }
}

/** Update the gauges of a node among several. */
export function reportNode({ node }: Cluster, { cluster }: Metrics): void {
  const { node: name, shards, allShards, leaseSeconds, epochChanges, passedOn, redisSeconds } = node.figures()
  cluster.shards.set({ node: name }, shards)
  cluster.allShards.set({}, allShards)
  cluster.leaseSeconds.set({ node: name }, leaseSeconds)
  cluster.epochChanges.count = epochChanges
  cluster.passedOn.count = passedOn
  for (const seconds of redisSeconds) cluster.redisSeconds.observe(seconds)
}
