// Trials that are over: told to webhooks once each, whoever or whatever ended them.
import type { Sql } from 'postgres'
import type { BillingSubscriptionView } from '../../schemas/billing.js'
import type { BillingSubscriptionTrialEndSetting, TrialStatus } from '../../schemas/enums.js'
import { insertEvents, payloadOf, type QueuedRow, queuedRow, type WebhookRow } from '../engine/webhooks.js'
import type { SubscriptionRow } from './billing-records.js'
import { subscriptionParts, subscriptionView } from './billing-view.js'
import type { EnvironmentRecord } from './call.js'
import type { Services } from './services.js'
import { among } from './sql.js'
import { isoTime } from './time.js'

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
 * Tell the webhooks that ask for it of every trial that ended: the deliveries queued and the trial marked as told are
 * one transaction, so that a process that dies in between neither forgets nor repeats it. Where nobody asks, what ended
 * is passed over.
 *
 * source  EN-91, EN-93, api/webhooks.md.
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
  const rows = await sql<SubscriptionRow[]>`
    select * from billing_subscriptions where id in ${among(sql, ids)}`
  const parts = await subscriptionParts(sql, environment.id, rows)
  return ended.map(one => {
    const row = rows.find(({ id }) => id === one.subscription_id)
    return row ? subscriptionView(row, parts, nowMs) : unbilledView(one)
  })
}

/** A plan's own trial as a subscription that costs nothing, known by the company and plan. source: decision */
function unbilledView(one: EndedTrialRow): BillingSubscriptionView {
  const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
  return {
    id: one.subscription_id ?? one.plan_id ?? '',
    subscription_external_id: one.subscription_id ?? one.plan_id ?? '',
    customer_external_id: one.company_id,
    company_id: one.company_id,
    status: one.status === 'converted' ? 'active' : 'expired',
    currency: 'usd',
    interval: 'month',
    total_price: 0,
    period_start: seconds(one.began_at),
    period_end: seconds(one.trial_end_at),
    trial_end: seconds(one.trial_end_at),
    trial_end_setting: one.trial_end_setting,
    cancel_at: null,
    cancel_at_period_end: one.trial_end_setting === 'cancel',
    expired_at: one.status === 'expired' ? isoTime(one.trial_end_at.getTime()) : null,
    application_id: null,
    default_payment_method_id: null,
    discounts: [],
    products: [],
    provider_type: 'native',
    created_at: isoTime(one.began_at.getTime()),
  }
}
