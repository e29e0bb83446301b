// Starts the projections of the journals into the stores, and the watches over what waits for them.
import type { Cluster } from '../cluster/open.js'
import type { ClusterProjections } from '../cluster/projections.js'
import { IdlePriority } from '../host/thread-priority.js'
import type { Opened } from '../opened.js'
import { Backlog } from '../recovery/backlog.js'
import { Yielding } from '../recovery/clickhouse-throttle.js'
import { startProjections } from '../recovery/journals.js'
import { PostgresWatch } from '../recovery/postgres-watch.js'
import type { Projections } from '../recovery/projections.js'
import { postgresHealthy } from '../storage/postgres.js'
import type { Memory } from './memory.js'
import type { Opening } from './opening.js'
import type { RunningShards } from './shards.js'
import type { Stores } from './stores.js'
import type { Traced } from './tracing.js'

export interface Projecting {
  readonly projections: Projections
  /** The same, where other nodes project some of the journals. */
  readonly shared: ClusterProjections | null
  /** Bytes that wait in the journals. */
  readonly backlog: Backlog
  readonly postgres: PostgresWatch
}

/** Start to project. `opened` ends it. A ClickHouse that is away is waited for in the background. */
export async function startProjecting(
  { config, log, opened, later }: Opening,
  { addresses, sql, late }: Stores,
  { dedupe }: Memory,
  { journals, shards, missingMs }: RunningShards,
  cluster: Cluster | null,
  traced: Traced | null,
): Promise<Projecting> {
  const hears = {
    waiting: late.isAway ? (['clickhouse'] as const) : [],
    chunk: traced?.chunk,
    announced: () => later.outbox?.wake(),
    lastOf: (environmentId: string) => shards.lastOf(environmentId),
  }
  const shared = (await cluster?.startProjections({ ...addresses, log, ...hears })) ?? null
  const projections = shared ?? (await startProjections(journals, addresses, log, hears))
  later.projections = projections
  opened.add(() => projections.stop())
  // the last counts, before the thread that writes them ends
  opened.add(() => shards.tellChecks())
  if (late.isAway) late.begin({ projections, dedupe, sinceMs: missingMs })
  opened.add(() => late.stop())
  later.yielding = config.clickhouseThrottle ? openYielding(opened, projections) : null
  const directories = journals.options.map(one => one.journalDir)
  const backlog = cluster?.backlog ?? new Backlog(directories, config.journalBacklogBytesMax)
  opened.add(async () => backlog.stop())
  const postgres = new PostgresWatch(() => postgresHealthy(sql))
  later.postgres = postgres
  opened.add(() => postgres.stop())
  return { projections, shared, backlog, postgres }
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
