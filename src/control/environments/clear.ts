// Clears the stores after an environment is deleted, once the projectors have caught up.

import type { Services } from '../../kit/services.js'
import { clonePrefix } from '../../storage/dump.js'
import { deleteRowsOf } from './store.js'

const catchUpMs = 60_000

/**
 * Delete rows that were still on their way when the environment was deleted, its events and its figures. Runs in the
 * background: those rows are invisible already. A store that is down is logged. Never rejects.
 *
 * source  AL-13.
 */
export async function clearStores(
  { sql, clickhouse, projections, log }: Pick<Services, 'sql' | 'clickhouse' | 'projections' | 'log'>,
  environmentId: string,
): Promise<void> {
  try {
    await projections.barrier('postgres', catchUpMs)
    await deleteRowsOf(sql, environmentId)
    await projections.barrier('clickhouse', catchUpMs)
    const tables = await clickhouse.select<{ name: string }>(
      `select distinct c.table as name
      from system.columns c join system.tables t on t.database = c.database and t.name = c.table
      where c.database = currentDatabase() and c.name = 'environment_id' and t.engine like '%MergeTree'
        and not startsWith(c.table, '${clonePrefix}')`,
    )
    for (const { name } of tables)
      await clickhouse.command('delete from {table: Identifier} where environment_id = {id: String}', {
        table: name,
        id: environmentId,
      })
  } catch (error) {
    log.warn({ err: error, environment_id: environmentId }, 'rows of a deleted environment were left behind')
  }
}
