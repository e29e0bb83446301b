// The format of what nodes keep in Redis: journals, claims, marks of owners. It is noted there, so that another build does not
// read it wrongly.
import { ConfigError } from '../config.js'
import type { RedisClient } from './redis.js'

/** Raised when a build could no longer read what an earlier one left, or the other way round. */
const format = '2'
/** This build reads it too: its first start notes the new one, and earlier builds refuse it from then on. */
const former = '1'

/**
 * Check that this build reads what is in Redis.
 *
 * errors  ConfigError with one line.
 */
export async function mustRead(redis: RedisClient): Promise<void> {
  const found = await redis.get(redis.key('format'))
  if (found === null || found === format || found === former) return
  throw new ConfigError(
    `REDIS_URL: its journals are in format ${found}, this build reads format ${format}: start the build that wrote them.`,
  )
}

/** Note the format of what this build writes. No node of an earlier build lives any more. */
export async function noteFormat(redis: RedisClient): Promise<void> {
  const key = redis.key('format')
  await redis.run('free', key, former)
  await redis.keep(key, format)
}
