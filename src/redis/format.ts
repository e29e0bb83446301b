// The format of what nodes keep in Redis: journals, claims, marks of owners. It is noted there, so that another build does not
// read it wrongly.
import { ConfigError } from '../config.js'
import type { RedisClient } from './redis.js'

/** Raised when a build could no longer read what an earlier one left, or the other way round. */
const format = '1'

/**
 * Check that this build reads what is in Redis, and note its format. A build before formats were noted left format 1.
 *
 * errors  ConfigError with one line.
 */
export async function mustRead(redis: RedisClient): Promise<void> {
  const key = redis.key('format')
  await redis.keep(key, format)
  const found = await redis.get(key)
  if (found === null || found === format) return
  throw new ConfigError(
    `REDIS_URL: its journals are in format ${found}, this build reads format ${format}: start the build that wrote them.`,
  )
}
