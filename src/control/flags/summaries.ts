// Short lists of flags.
import type { Sql } from 'postgres'
import type { FlagSummary } from '../../../schemas/console.js'
import { among } from '../../kit/sql.js'
import { isoTimeOrNull } from '../../kit/time.js'
import type { FlagRow, Outlook } from './view.js'

/** A line for each flag, with its rules and last check in the outlook's environment, or account-wide in any. */
export async function flagSummaries(
  sql: Sql,
  { environment }: Outlook,
  rows: readonly FlagRow[],
): Promise<FlagSummary[]> {
  const ids = rows.map(({ id }) => id)
  const here = environment === null ? sql`` : sql`and environment_id = ${environment.id}`
  const [rules, checks] = await Promise.all([
    sql<{ flag_id: string; count: number }[]>`
      select flag_id, count(*)::int as count from rules where flag_id in ${among(sql, ids)} ${here} group by flag_id`,
    sql<{ flag_id: string; at: Date }[]>`
      select flag_id, max(last_checked_at) as at from flag_last_checks
      where flag_id in ${among(sql, ids)} ${here} group by flag_id`,
  ])
  const counts = new Map(rules.map(row => [row.flag_id, row.count]))
  const times = new Map(checks.map(row => [row.flag_id, row.at.getTime()]))
  return rows.map(row => ({
    id: row.id,
    key: row.key,
    name: row.name,
    default_value: row.default_value,
    feature_id: row.feature_id,
    rule_count: counts.get(row.id) ?? 0,
    last_checked_at: isoTimeOrNull(times.get(row.id) ?? null),
  }))
}
