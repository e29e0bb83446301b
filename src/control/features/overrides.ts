// Deletes the overrides of a feature that is being deleted. Each deletion is a message to its company.
import { Refused } from '../../entities/shards/shards.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'

const atOnce = 100

/**
 * Delete every override of a feature in every environment of the account.
 *
 * errors  503 when a company's shard is down: the remaining ones stay, and a second call continues.
 * source  EN-64.
 */
export async function deleteOverridesOf(
  { sql, keys, shards, clock }: Pick<Services, 'sql' | 'keys' | 'shards' | 'clock'>,
  accountId: string,
  featureId: string,
): Promise<void> {
  const environmentIds = keys.environments(accountId).map(environment => environment.id)
  const rows = await sql<{ id: string; company_id: string; environment_id: string }[]>`
    select id, company_id, environment_id from company_overrides
    where feature_id = ${featureId} and environment_id in ${among(sql, environmentIds)}`
  for (let i = 0; i < rows.length; i += atOnce)
    await Promise.all(
      rows.slice(i, i + atOnce).map(row =>
        shards
          .ask(
            'c',
            row.environment_id,
            row.company_id,
            { type: 'delete_override', overrideId: row.id, isOver: true },
            clock.now(row.environment_id),
          )
          .catch((error: unknown) => {
            // another request deleted it, or its company, first
            if (!(error instanceof Refused)) throw error
          }),
      ),
    )
}
