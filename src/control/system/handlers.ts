// The service itself as JSON: health, lag, journal, shards, fronts, nodes, quotas.
import { performance } from 'node:perf_hooks'
import type { SystemStatus } from '../../../schemas/console.js'
import type { Handler } from '../../kit/call.js'
import { isoTime } from '../../kit/time.js'

/** GET /system. Figures of shards and fronts are of this node. */
export const getSystem: Handler = async ({ services, key }) => {
  const { projections, shards, backlog, postgres, dedupe, quotas, keys, clock, self } = services
  const environments = keys.environments(key.accountId).map(({ id }) => id)
  const [stats, clickhouse] = await Promise.all([shards.stats(), self.clickhouse.answers()])
  const redis = self.redis()
  const known = self.degraded()
  const answers = { postgres: postgres?.answers ?? true, clickhouse }
  const degraded = clickhouse || known.some(isClickHouse) ? [...known] : [...known, 'ClickHouse']
  const status: SystemStatus = {
    status: degraded.length === 0 ? 'ready' : 'degraded',
    degraded,
    now: isoTime(clock.wall()),
    uptime_seconds: Math.floor(performance.now() / 1_000),
    version: self.version,
    stores: [
      ...(['postgres', 'clickhouse'] as const).map(name => {
        const { records, seconds } = projections.lag(name)
        const lag_seconds = Math.round(seconds * 10) / 10
        return { name, answers: answers[name], lag_records: records, lag_seconds }
      }),
      ...(redis === null ? [] : [{ name: 'redis', answers: redis, lag_records: 0, lag_seconds: 0 }]),
    ],
    journal: backlog.perShard.map((bytes, shard) => ({ shard, bytes })),
    shards: stats.map(({ shard, actors, heapBytes, waiting }) => ({
      shard,
      entities: actors,
      heap_bytes: heapBytes,
      waiting,
    })),
    nodes: self
      .nodes()
      .map(({ node, shards: owned, isSelf }) => ({ node, shards: owned, this_node: isSelf })),
    fronts: [...self.fronts()],
    idempotency_keys: dedupe.size,
    quotas: quotas.used(environments).map(({ environmentId, quota, part }) => ({
      environment_id: environmentId,
      quota,
      used_percent: Math.round(part * 1_000) / 10,
    })),
    stream_connections: environments.reduce((sum, id) => sum + services.streams.connectionsOf(id, '').all, 0),
  }
  return { data: status }
}

const isClickHouse = (problem: string): boolean => /clickhouse/i.test(problem)
