// Version stamps: the version numbers in shared memory that an answer about a company rests on, taken before its
// request leaves. The answer is fresh while they are the same.
import { shardOf } from '../core/values/id.js'
import type { Changes } from '../wire/version-counters.js'

/** Version numbers of a company and its shard. */
export interface VersionStamp {
  /** The environment's present, epoch ms. */
  readonly sinceMs: number
  readonly shard: number
  readonly epoch: number
  /** Index of the company's version number, and its value; -1 without company. */
  readonly place: number
  readonly change: number
  /** The number of the company's use. */
  readonly uses: number
  /** Index of the flag's version number, and its value; -1 where the answer rests on all flags: `epoch` counts them then. */
  readonly flagPlace: number
  readonly flag: number
}

/**
 * The version numbers for a request that leaves now; null when its answer may not be cached.
 *
 * environmentId  its own actor answers where no company is named.
 * sinceMs        the environment's present, epoch ms.
 * flagKey        the one flag that the answer rests on; null: all definitions.
 */
export function stampOf(
  changes: Changes,
  environmentId: string,
  companyId: string | null,
  sinceMs: number,
  flagKey: string | null = null,
): VersionStamp | null {
  const shard = shardOf(companyId ?? environmentId, changes.shards)
  const epoch = flagKey === null ? changes.epoch(shard) : changes.epochBesideFlags(shard)
  if (epoch % 2 === 0) return null
  const place = companyId === null ? -1 : changes.placeOf(companyId)
  const change = place < 0 ? 0 : changes.at(place)
  const uses = place < 0 ? 0 : changes.usageVersion(place)
  const flagPlace = flagKey === null ? -1 : changes.placeOfFlag(shard, environmentId, flagKey)
  const flag = flagPlace < 0 ? 0 : changes.at(flagPlace)
  return { sinceMs, shard, epoch, place, change, uses, flagPlace, flag }
}

/**
 * Whether nothing has changed that an answer rests on, time apart.
 *
 * figures  it may show figures of the company's use: any use ends it, too.
 */
export function isFresh(changes: Changes, stamp: VersionStamp, figures: boolean): boolean {
  const { shard, epoch, place, change, uses, flagPlace, flag } = stamp
  if (flagPlace < 0) {
    if (changes.epoch(shard) !== epoch) return false
  } else if (changes.epochBesideFlags(shard) !== epoch || changes.at(flagPlace) !== flag) return false
  return place < 0 || (changes.at(place) === change && (!figures || changes.usageVersion(place) === uses))
}
