// Opens the connections to both stores, keeps other Tollgates off them, and migrates them.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { Addresses, Opened } from '../opened.js'
import { LateClickHouse } from '../recovery/late-clickhouse.js'
import { openClickHouse } from '../storage/clickhouse.js'
import { ClickHouseGate } from '../storage/clickhouse-gate.js'
import { connectionsOf } from '../storage/connections.js'
import { Holder, type Holding } from '../storage/holder.js'
import type { Ownership } from '../storage/ownership.js'
import { closePostgres, openPostgres, type PostgresAddress } from '../storage/postgres.js'
import { failOverLoss, replicationOf } from '../storage/standbys.js'
import type { Opening } from './opening.js'

export interface Stores {
  /** As connections are opened to them. */
  readonly addresses: Addresses
  /** The pool of Postgres connections for everything but requests. */
  readonly sql: Sql
  /** The pool of Postgres connections for requests. */
  readonly requests: Sql
  /** Its connections. */
  readonly places: number
  readonly clickhouse: ClickHouseGate
  /** Knows whether ClickHouse is away, and waits for it. */
  readonly late: LateClickHouse
}

/**
 * Connect to the stores and migrate them. ClickHouse may be away where this is the only node.
 *
 * errors  as `start`, except for the lock and the stores.
 */
export async function connectStores({
  config,
  log,
  opened,
  phases,
  addresses: given,
  later,
}: Opening): Promise<Stores> {
  // Postgres ends a transaction that idles longer than a lease: the node that takes over a shard waits for its locks.
  const idle = config.redisUrl === null ? {} : { idleTransactionMs: config.leaseMs }
  const { requests: places, own, ...shares } = connectionsOf(config)
  const holding = config.redisUrl === null ? 'alone' : 'shared'
  const owner = config.databaseUrl === null ? {} : await holdPostgres(given.postgres, holding, log, opened)
  const addresses: Addresses = {
    clickhouse: given.clickhouse,
    postgres: { ...given.postgres, ...idle, ...owner, shares },
  }
  const sql = openPostgres(addresses.postgres, { max: own })
  opened.add(() => closePostgres(sql))
  if (config.databaseUrl !== null) {
    const loss = failOverLoss(await replicationOf(sql))
    if (loss !== null) log.warn(loss)
  }
  const closed = () => later.postgres?.doubt()
  const requests = openPostgres(addresses.postgres, { max: places, closed })
  opened.add(() => closePostgres(requests))
  const store = openClickHouse(addresses.clickhouse, { max: 32, asked: more => later.yielding?.asked(more) })
  const clickhouse = new ClickHouseGate(store)
  opened.add(() => clickhouse.close())
  if (config.redisUrl !== null) {
    const { Cluster } = await import('../cluster/open.js')
    await Cluster.mustFit(config, sql)
  }
  const late = new LateClickHouse({ postgres: addresses.postgres, store, gate: clickhouse, log })
  await phases.time('migrate', () => late.migrate(config.redisUrl === null))
  return { addresses, sql, requests, places, clickhouse, late }
}

/** Keep other Tollgates off this Postgres; a process that another one replaces ends. */
async function holdPostgres(
  address: PostgresAddress,
  holding: Holding,
  log: Logger,
  opened: Opened,
): Promise<{ readonly owner: Ownership }> {
  const holder = await Holder.take(address, holding, log, message => {
    log.fatal({ reason: message }, 'stopped: the stores have another owner')
    log.flush(() => process.exit(1))
  })
  opened.add(() => holder.release())
  return { owner: holder.ownership }
}
