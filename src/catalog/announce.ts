// Says to the shards "environment E is now at version V", again and again until they have it.
import type { Logger } from 'pino'
import type { CatalogData } from '../core/catalog.js'

/**
 * Hands a catalog to every shard; resolves once all of them have it. Posts before it first waits, so that whatever is
 * asked of a shard afterwards meets the new definitions. Rejects when a shard could not take it: it is called again.
 */
export type Announce = (data: CatalogData) => Promise<void>

/** Milliseconds before the next try: doubling from 50 ms, at most 5 s. */
export function retryDelayMs(failures: number): number {
  return Math.min(5_000, 50 * 2 ** Math.min(failures - 1, 10))
}

/** Log a try that failed; the first and then every tenth, so that a long outage does not fill the log. */
export function logFailure(log: Logger, environmentId: string, failures: number, error: unknown): void {
  if (failures === 1 || failures % 10 === 0)
    log.warn(
      { err: error, environment_id: environmentId, failures },
      'catalog not handed to every shard; trying again',
    )
}
