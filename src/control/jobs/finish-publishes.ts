// Publishes of custom plans that a kill, or a store that was away, has interrupted.
import type { Services } from '../../kit/services.js'
import { finish, type PublishRow } from '../manage-plan/custom-plan-publish.js'
import { asOfKey } from './as-of-key.js'

const perTurn = 100

/**
 * Finish them: their companies go on the plans and are billed from the publish on. An amendment waits for the migration
 * that moves its company.
 *
 * errors  those of Postgres. A publish that cannot be finished now is retried in the next run.
 * source  PB-13, PB-60.
 */
export async function finishPublishes(services: Services): Promise<void> {
  const rows = await services.sql<PublishRow[]>`
    select p.* from custom_plan_publishes p left join plan_version_migrations m on m.id = p.migration_id
    where m.id is null or m.status not in ('pending', 'in_progress')
    order by p.published_at limit ${perTurn}`
  for (const row of rows) {
    const { environment_id: environmentId, api_key_id: keyId, request, published_at: at } = row
    const call = asOfKey(services, environmentId, keyId, request, at.getTime())
    if (call === null) continue
    await finish(call, row.plan_version_id).catch(error =>
      services.log.warn({ err: error, company_id: row.company_id }, 'a custom plan is not billed yet'),
    )
  }
}
