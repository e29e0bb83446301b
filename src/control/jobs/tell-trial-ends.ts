// Publishes a notification for every ended trial, once each, whatever ended it.
import type { Sql } from 'postgres'
import type { BillingSubscriptionView } from '../../../schemas/billing.js'
import type { BillingSubscriptionTrialEndSetting, TrialStatus } from '../../../schemas/enums.js'
import type { SubscriptionState } from '../../core/model/company-state.js'
import type { EnvironmentRecord } from '../../kit/call.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { withPlans } from '../billing/own-subscriptions.js'
import type { SubscriptionRow } from '../billing/record-rows.js'
import { unbilledTrial } from '../billing/unbilled-trial.js'
import { subscriptionParts, subscriptionView } from '../billing/view.js'
import {
  insertEvents,
  payloadOf,
  type QueuedRow,
  queuedRow,
  type WebhookRow,
} from '../webhooks/subscriptions.js'

const type = 'subscription.trial.ended' as const
const perTurn = 500

/** A row of ended_trials. */
interface EndedTrialRow {
  readonly id: string
  readonly company_id: string
  readonly subscription_id: string | null
  readonly plan_id: string | null
  readonly began_at: Date
  readonly trial_end_at: Date
  readonly trial_end_setting: BillingSubscriptionTrialEndSetting
  readonly status: Exclude<TrialStatus, 'active'>
}

/**
 * Notify webhooks of every ended trial. The deliveries and the mark on the trial are one transaction, so that a crash
 * neither loses nor repeats a notification. Without such webhooks, ended trials are skipped.
 *
 * source  EN-91, EN-93, interface document.
 */
export async function tellTrialEnds(services: Services): Promise<void> {
  const { sql, webhooks, keys } = services
  const wanting = webhooks.environmentsWanting(type)
  await sql`
    update ended_trials set told = true where not told and environment_id <> all(${[...wanting]}::text[])`
  for (const environmentId of wanting) {
    const environment = keys.environment(environmentId)
    if (environment === null) continue
    const told = await sql.begin(tx => tellOf(services, tx as unknown as Sql, environment))
    if (told) webhooks.queued()
  }
}

async function tellOf(services: Services, sql: Sql, environment: EnvironmentRecord): Promise<boolean> {
  const ended = await sql<EndedTrialRow[]>`
    update ended_trials set told = true where id in (
      select id from ended_trials where environment_id = ${environment.id} and not told
      order by created_at limit ${perTurn} for update skip locked)
    returning *`
  if (ended.length === 0) return false
  const receivers = await sql<WebhookRow[]>`
    select * from webhooks
    where environment_id = ${environment.id} and status = 'active' and request_types ? ${type} order by id`
  const views = await viewsOf(sql, environment, ended, services.clock.now(environment.id))
  const rows: QueuedRow[] = []
  for (const webhook of receivers)
    for (const [i, { company_id: companyId }] of ended.entries())
      rows.push(queuedRow(webhook, { type }, payloadOf(webhook, { type, companyId }, views[i])))
  if (rows.length > 0) await insertEvents(sql, rows)
  return rows.length > 0
}

async function viewsOf(
  sql: Sql,
  environment: EnvironmentRecord,
  ended: readonly EndedTrialRow[],
  nowMs: number,
): Promise<BillingSubscriptionView[]> {
  const ids = ended.flatMap(one => one.subscription_id ?? [])
  const stored = await sql<SubscriptionRow[]>`
    select * from billing_subscriptions where id in ${among(sql, ids)}`
  const states = await sql<{ company_id: string; state: SubscriptionState }[]>`
    select company_id, state from company_subscriptions where id in ${among(sql, ids)}`
  const told = states.map(({ company_id: id, state }) => ({
    id,
    plan: null,
    schedule: null,
    subscriptions: [state],
  }))
  const rows = await withPlans(sql, stored, told)
  const parts = await subscriptionParts(sql, environment.id, rows)
  return ended.map(one => {
    const row = rows.find(({ id }) => id === one.subscription_id)
    if (row) return subscriptionView(row, parts, nowMs)
    return unbilledTrial({
      companyId: one.company_id,
      id: one.subscription_id ?? one.plan_id ?? '',
      beganMs: one.began_at.getTime(),
      endMs: one.trial_end_at.getTime(),
      endSetting: one.trial_end_setting,
      status: one.status,
    })
  })
}
