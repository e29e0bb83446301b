// Before a node joins: whether it reaches every other node, and why it does not.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ConfigError } from '../config.js'
import type { RedisClient } from '../redis/redis.js'
import { Members, type NodeInfo } from './leases.js'
import { hearsNothing, Peer } from './link.js'
import { faultOfSpeech } from './protocol.js'
import type { LinkSecurity } from './security.js'
import { FaultLog } from './tls-faults.js'

/** Pause before the nodes that were missed are asked again. */
const againMs = 250
/** How long a node may take to be reached. */
const reachedMs = 2_000

/** Writes to the log why the connection with another node was refused. */
export const faultsOf = (log: Logger): FaultLog =>
  new FaultLog((node, reason) => log.warn({ node, reason }, 'the connection with another node failed'))

/**
 * Resolves when every live node is reached. An unreachable node would wait for this one, and all writes with
 * it.
 *
 * errors  ConfigError when a live node is of a build that this one does not work beside.
 */
export async function reachAll(
  redis: RedisClient,
  security: LinkSecurity,
  log: Logger,
  faults: FaultLog,
): Promise<void> {
  for (;;) {
    const living = await livingNodes(redis)
    const reached = await Promise.all(
      living.map(one => reaches(one, security, reason => faults.tell(one.name, reason))),
    )
    const missed = living.filter((_, i) => !reached[i]).map(({ name }) => name)
    if (missed.length === 0) return
    log.warn({ nodes: missed }, 'waiting until these nodes are reached')
    await sleep(againMs)
  }
}

/**
 * Find the nodes that live.
 *
 * errors  ConfigError when one of them is of a build that this one does not work beside.
 */
export async function livingNodes(redis: RedisClient): Promise<readonly NodeInfo[]> {
  const { nodes, leases } = await Members.look(redis)
  const living = [...nodes].flatMap(([id, info]) => (leases.get(id)! > 0 ? [info] : []))
  for (const { name, version, oldest } of living) {
    const fault = faultOfSpeech(version, oldest)
    if (fault !== null) throw new ConfigError(`REDIS_URL: the node ${name} ${fault}.`)
  }
  return living
}

/** Whether a node is reached within two seconds. */
export async function reaches(
  where: { readonly host: string; readonly port: number },
  security: LinkSecurity,
  refused: (reason: string) => void = () => {},
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  let peer: Peer | undefined
  const up = new Promise<boolean>(resolve => {
    const hears = { ...hearsNothing, up: () => resolve(true), refused }
    peer = new Peer('', where, { node: 'visitor', slot: -1 }, security, reachedMs, hears)
    timer = setTimeout(resolve, reachedMs, false)
  })
  const reached = await up
  clearTimeout(timer)
  peer!.close()
  return reached
}
