// The window of idempotency keys in Postgres: it is of the environment's time, whatever time passes outside.
import type { PendingQuery, Row, Sql } from 'postgres'
import { windowMs } from './dedupe.js'

/**
 * Whether a row with `environment_id` and `used_at` is in the window. Under a test clock that stands still it stays there. One
 * of a time that is yet to come was used before that clock went back.
 *
 * source  EV-26, decision 37.
 */
export const isInWindow = (sql: Sql): PendingQuery<Row[]> => sql`exists (
  select from environments where id = environment_id
    and extract(epoch from used_at) * 1000 > environment_present(id) - ${windowMs}::bigint
    and extract(epoch from used_at) * 1000 <= environment_present(id))`
