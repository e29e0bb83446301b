// Changes of plans whose rows a kill, or a store that was away, has kept from being stored.
import type { Services } from '../../kit/services.js'
import { finishPlanWrite, type PlanWriteRow } from '../manage-plan/plan-writes.js'
import { asOfKey } from './as-of-key.js'

const perTurn = 100

/**
 * Store what they left, if their companies have made them.
 *
 * errors  those of Postgres. A write that cannot be finished now is retried in the next run.
 * source  PB-30, PB-60.
 */
export async function finishPlanWrites(services: Services): Promise<void> {
  const rows = await services.sql<PlanWriteRow[]>`
    select * from plan_writes order by begun_at, id limit ${perTurn}`
  for (const row of rows) {
    const call = asOfKey(services, row.environment_id, row.api_key_id, undefined, row.changed_at.getTime())
    if (call === null) continue
    await finishPlanWrite(call, row).catch(error =>
      services.log.warn({ err: error, company_id: row.company_id }, 'a change of plans is not stored yet'),
    )
  }
}
