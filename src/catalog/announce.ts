// Hands new catalog versions to the shards, with retries.
import type { Logger } from 'pino'
import type { CatalogData } from '../core/model/definitions.js'

/**
 * Hand a catalog to every shard; resolves once all have it. It posts before it first awaits, so that later messages
 * to a shard meet the new definitions. Rejects when a shard could not take it; the caller retries.
 */
export type Announce = (data: CatalogData) => Promise<void>

/** Milliseconds before the next try: doubling from 50 ms, at most 5 s. */
export function retryDelayMs(failures: number): number {
  return Math.min(5_000, 50 * 2 ** Math.min(failures - 1, 10))
}

/** Log a failed try: the first and every tenth, so that a long outage does not fill the log. */
export function logFailure(log: Logger, environmentId: string, failures: number, error: unknown): void {
  if (failures === 1 || failures % 10 === 0)
    log.warn(
      { err: error, environment_id: environmentId, failures },
      'catalog not handed to every shard; trying again',
    )
}
