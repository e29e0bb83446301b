// Links of products to plans that a kill, or a store that was away, has kept from reaching the companies.
import type { Services } from '../../kit/services.js'
import { applyLink, type PlanLinkRow } from '../plans/links.js'
import { asOfKey } from './as-of-key.js'

const perTurn = 10

/**
 * Put the subscribers of linked products on their plans.
 *
 * errors  those of Postgres. A link that cannot be applied now is retried in the next run.
 * source  PB-51.
 */
export async function applyLinks(services: Services): Promise<void> {
  const rows = await services.sql<PlanLinkRow[]>`select * from plan_links order by linked_at limit ${perTurn}`
  for (const row of rows) {
    const { environment_id: environmentId } = row
    const nowMs = services.clock.now(environmentId)
    const call = asOfKey(services, environmentId, row.api_key_id, undefined, nowMs)
    if (call === null) continue
    await applyLink(call, row.plan_version_id).catch(error =>
      services.log.warn(
        { err: error, environment_id: environmentId },
        'a linked product waits for its companies',
      ),
    )
  }
}
