// Connections to Postgres that a process opens, and which parts have them.

/** Connections of each part. */
export interface Connections {
  /** Requests. */
  readonly requests: number
  /** Everything else in the main thread. */
  readonly own: number
  /** Each thread of shards. */
  readonly thread: number
  readonly projector: number
}

const asUseful: Connections = { requests: 12, own: 8, thread: 2, projector: 8 }
const behindPooler = 10
/** Fewer, and parts would wait for each other. */
const least = 3

/**
 * Divide the connections of TOLLGATE_POSTGRES_CONNECTIONS. One of them renews the lease of the owner. Threads and projector
 * have one each before requests have more than three. Short work has further ones: a start, a backup, sealing of keys.
 */
export function connectionsOf(config: {
  readonly postgresConnections: number
  readonly postgresPooler: boolean
  readonly shards: number
}): Connections {
  const most = config.postgresConnections || (config.postgresPooler ? behindPooler : null)
  if (most === null) return asUseful
  const { shards } = config
  let left = most - shards - 2
  const take = (wanted: number, atLeast: number, atMost: number): number => {
    const taken = Math.max(atLeast, Math.min(wanted, atMost))
    left -= taken
    return taken
  }
  const own = take(Math.floor(left / 3), least, asUseful.own)
  const requests = take(left, least, asUseful.requests)
  const projector = 1 + take(left, 0, asUseful.projector - 1)
  return { requests, own, projector, thread: left >= shards ? asUseful.thread : 1 }
}
