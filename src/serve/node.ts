// A node among several: joins the others, and serves with them.
import { claimsAtOnce, eventClaims } from '../analytics/history.js'
import type { Cluster } from '../cluster/open.js'
import type { PairClaims } from '../cluster/pairs.js'
import { reloading } from '../cluster/reload.js'
import { windowMs } from '../entities/idempotency/dedupe.js'
import type { Limits } from '../front/http/admission/limits.js'
import type { Services } from '../kit/services.js'
import { packedClaimBytes } from '../wire/packed-claim.js'
import type { Memory } from './memory.js'
import type { Opening } from './opening.js'
import type { Projecting } from './projections.js'
import type { RunningShards } from './shards.js'
import type { Stores } from './stores.js'

/** A node that was put out exits with this: its supervisor starts it again. */
const outCode = 75

/** Join the other nodes of this Postgres; loaded only where there may be some. */
export async function joinCluster(
  { config, log, opened }: Opening,
  { addresses, sql }: Stores,
): Promise<Cluster> {
  const { Cluster } = await import('../cluster/open.js')
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

/** Own shards from now on, and answer the other nodes. */
export async function serveAsNode(
  { opened }: Opening,
  cluster: Cluster,
  services: Services,
  limits: Limits,
  parts: {
    readonly memory: Memory
    readonly running: RunningShards
    readonly projecting: Projecting
    readonly pairs: PairClaims
  },
): Promise<void> {
  const { directory, holdKeys, definitions } = parts.memory
  const { keys, clock, traits, catalogs } = definitions
  await cluster.seed(
    eventClaims(services.clickhouse, clock.wall() - windowMs, claimsAtOnce),
    packedClaimBytes,
  )
  opened.add(async () => cluster.node.takeNoMore())
  await cluster.serve({
    shards: parts.running.shared!,
    projections: parts.projecting.shared!,
    pairs: parts.pairs,
    memory: { directory, traits, holdKeys },
    limits,
    reload: reloading({ ...services, keys, clock, catalogs }),
  })
}
