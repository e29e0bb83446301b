// Publishes a notification for every override that ended by its date.
import type { Sql } from 'postgres'
import type { EnvironmentRecord } from '../../kit/call.js'
import type { Services } from '../../kit/services.js'
import { type OverrideRow, overrideViews } from '../entitlements/override-view.js'
import { insertEvents, payloadOf, queuedRow, type WebhookRow } from '../webhooks/subscriptions.js'

const type = 'company.override.expired' as const
const perTurn = 1_000

/**
 * Notify webhooks of every override that ended since the last run, once each: the notification and the time of the
 * run are one transaction. Environments without such webhooks cost nothing.
 *
 * source  EN-61, interface document.
 */
export async function tellExpired(services: Services): Promise<void> {
  for (const environmentId of services.webhooks.environmentsWanting(type)) {
    const environment = services.keys.environment(environmentId)
    if (environment === null) continue
    const nowMs = services.clock.now(environmentId)
    // overrides not in Postgres yet would be missed
    await services.projections.barrier('postgres')
    await services.sql.begin(tx => tellOf(tx as unknown as Sql, environment, new Date(nowMs)))
    services.webhooks.queued()
  }
}

async function tellOf(sql: Sql, environment: EnvironmentRecord, now: Date): Promise<void> {
  const webhooks = await sql<WebhookRow[]>`
    select * from webhooks
    where environment_id = ${environment.id} and status = 'active' and request_types ? ${type}
      and expiries_told_at < ${now}
    order by id for update`
  for (const webhook of webhooks) {
    const rows = await sql<OverrideRow[]>`
      select * from company_overrides
      where environment_id = ${environment.id} and expires_at > ${webhook.expiries_told_at} and expires_at <= ${now}
      order by expires_at fetch first ${perTurn} rows with ties`
    const toldAt = rows.length < perTurn ? now : rows.at(-1)!.expires_at
    await sql`update webhooks set expiries_told_at = ${toldAt} where id = ${webhook.id}`
    const views = await overrideViews(sql, environment.id, rows)
    const topics = views.map(view => ({ type, companyId: view.company_id, featureId: view.feature_id }))
    await insertEvents(
      sql,
      topics.map((topic, n) => queuedRow(webhook, topic, payloadOf(webhook, topic, views[n]))),
    )
  }
}
