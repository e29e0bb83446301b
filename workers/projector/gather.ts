// How long records gather before they are written to a store.
import type { ProjectedStore, ProjectorOptions } from '../../src/wire/projector-messages.js'

/** So many shards may write their chunks as often as one does; more take turns. */
const shardsAtEase = 4
/** Fewer records than these gather so many times as long before they go to ClickHouse, up to a bound, ms. */
const fewRecords = 20_000
const fewTimes = 3
const fewMsMax = 5_000

/**
 * Longest time that records of one shard gather when no caller waits for them, ms. It is longer with many shards, and for
 * few records on their way to ClickHouse: a chunk costs a store about as much whatever it holds. In ClickHouse most of
 * that is merges of the part that it adds to each table.
 *
 * records  of the shard, not in the store yet.
 * shards   whose records this process writes.
 */
export function gatherMs(
  store: ProjectedStore,
  records: number,
  shards: number,
  { postgresMs = 200, clickhouseMs = 1_000 }: Pick<ProjectorOptions, 'postgresMs' | 'clickhouseMs'>,
): number {
  const times = Math.max(1, shards / shardsAtEase)
  if (store === 'postgres') return postgresMs * times
  const ofMany = clickhouseMs * times
  return records >= fewRecords ? ofMany : Math.max(ofMany, Math.min(fewMsMax, fewTimes * ofMany))
}
