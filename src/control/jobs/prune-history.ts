// Former definitions, keys and traits are removed a year after they were replaced, as events are (EX-7).
import type { Sql } from 'postgres'
import { keptSinceMs } from '../../analytics/history.js'

/** Rows of one statement. */
const rowsAtOnce = 20_000

/** Remove rows that explain no instant any more, some at a time. errors: those of Postgres. */
export async function pruneHistory(sql: Sql, nowMs: number): Promise<void> {
  const untilMs = keptSinceMs(nowMs)
  await untilFew(
    () => sql`
      delete from entity_history where place in (
        select place from (
          select place, lead(place) over (partition by entity_id, slot order by place) as next
          from entity_history where at_ms < ${untilMs}) as old
        where next is not null limit ${rowsAtOnce})`,
  )
  await untilFew(
    () => sql`
      delete from definition_history where place in (
        select place from (
          select place, lead(place) over (partition by environment_id, kind, id order by version) as next
          from definition_history where since_ms < ${untilMs}) as old
        where next is not null limit ${rowsAtOnce})`,
  )
}

/** Repeat a statement until it removes fewer rows than it may. */
async function untilFew(remove: () => Promise<{ readonly count: number }>): Promise<void> {
  while ((await remove()).count === rowsAtOnce);
}
