// Statements of webhooks and their deliveries.
import type { Sql } from 'postgres'
import type { WebhookEventStatus, WebhookRequestType, WebhookStatus } from '../../../schemas/enums.js'
import type { WebhookCreate } from '../../../schemas/webhooks.js'
import type { Page } from '../../kit/query.js'
import { among, asJson, contains, newest } from '../../kit/sql.js'
import type { WebhookRow } from './subscriptions.js'

/** Filters of a list of webhooks. */
interface WebhookFilter {
  readonly environmentId: string
  /** Part of the name or URL. */
  readonly q: string | undefined
}

function matching(sql: Sql, { environmentId, q }: WebhookFilter) {
  return sql`environment_id = ${environmentId}
    ${q ? sql`and (${contains(sql, 'name', q)} or ${contains(sql, 'url', q)})` : sql``}`
}

export function listWebhookRows(sql: Sql, filter: WebhookFilter, page: Page): Promise<readonly WebhookRow[]> {
  return sql<WebhookRow[]>`select * from webhooks where ${matching(sql, filter)} ${newest(sql, page)}`
}

export async function countWebhookRows(sql: Sql, filter: WebhookFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhooks where ${matching(sql, filter)}`
  return row!.count
}

export async function findWebhook(sql: Sql, environmentId: string, id: string): Promise<WebhookRow | null> {
  const [row] = await sql<WebhookRow[]>`
    select * from webhooks where id = ${id} and environment_id = ${environmentId}`
  return row ?? null
}

export async function insertWebhook(
  sql: Sql,
  webhook: {
    readonly id: string
    readonly accountId: string
    readonly environmentId: string
    readonly secret: string
    readonly body: WebhookCreate
    readonly nowMs: number
    /** The environment's present: overrides that ended earlier are not published. */
    readonly presentMs: number
  },
): Promise<WebhookRow> {
  const { body } = webhook
  const now = new Date(webhook.nowMs)
  const [row] = await sql<WebhookRow[]>`
    insert into webhooks ${sql({
      id: webhook.id,
      account_id: webhook.accountId,
      environment_id: webhook.environmentId,
      name: body.name,
      url: body.url,
      secret: webhook.secret,
      status: 'active',
      request_types: asJson(sql, [...new Set(body.request_types)]),
      credit_trigger_configs: body.credit_trigger_configs ? asJson(sql, body.credit_trigger_configs) : null,
      entitlement_trigger_configs: body.entitlement_trigger_configs
        ? asJson(sql, body.entitlement_trigger_configs)
        : null,
      active_since: now,
      expiries_told_at: new Date(webhook.presentMs),
      created_at: now,
      updated_at: now,
    })} returning *`
  return row!
}

/** The members of a webhook that callers set. */
interface WebhookMembers {
  readonly name: string
  readonly url: string
  readonly status: WebhookStatus
  readonly request_types: readonly WebhookRequestType[]
  readonly credit_trigger_configs: WebhookRow['credit_trigger_configs']
  readonly entitlement_trigger_configs: WebhookRow['entitlement_trigger_configs']
}

export async function updateWebhookRow(
  sql: Sql,
  former: WebhookRow,
  members: WebhookMembers,
  nowMs: number,
  presentMs: number,
): Promise<WebhookRow> {
  const now = new Date(nowMs)
  const woken = former.status === 'inactive' && members.status === 'active'
  const asks = (types: readonly WebhookRequestType[]) => types.includes('company.override.expired')
  const retold = woken || (asks(members.request_types) && !asks(former.request_types))
  const { credit_trigger_configs: credits, entitlement_trigger_configs: features } = members
  const [row] = await sql<WebhookRow[]>`
    update webhooks set ${sql({
      name: members.name,
      url: members.url,
      status: members.status,
      request_types: asJson(sql, [...new Set(members.request_types)]),
      credit_trigger_configs: credits ? asJson(sql, credits) : null,
      entitlement_trigger_configs: features ? asJson(sql, features) : null,
      updated_at: now,
    })}
      ${woken ? sql`, active_since = ${now}` : sql``}
      ${retold ? sql`, expiries_told_at = ${new Date(presentMs)}` : sql``}
    where id = ${former.id} returning *`
  return row!
}

/** Store a new secret; the former one signs too until `untilMs`. Null when there is no such webhook. */
export async function rollSecretRow(
  sql: Sql,
  { id, environmentId }: { readonly id: string; readonly environmentId: string },
  secret: string,
  nowMs: number,
  untilMs: number,
): Promise<WebhookRow | null> {
  const [row] = await sql<WebhookRow[]>`
    update webhooks set previous_secret = secret, previous_secret_until = ${new Date(untilMs)}, secret = ${secret},
      updated_at = ${new Date(nowMs)}
    where id = ${id} and environment_id = ${environmentId} returning *`
  return row ?? null
}

export async function deleteWebhookRow(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<WebhookRow | null> {
  const [row] = await sql<WebhookRow[]>`
    delete from webhooks where id = ${id} and environment_id = ${environmentId} returning *`
  return row ?? null
}

/** A row of webhook_events. */
export interface WebhookEventRow {
  readonly id: string
  readonly webhook_id: string
  readonly request_type: WebhookRequestType
  readonly payload: string
  readonly status: WebhookEventStatus
  readonly attempt_count: number
  readonly response_code: number | null
  readonly sent_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Filters of a list of deliveries. */
export interface WebhookEventFilter {
  readonly environmentId: string
  readonly ids: readonly string[] | undefined
  /** Part of the type or payload. */
  readonly q: string | undefined
  readonly status: WebhookEventStatus | undefined
  readonly webhookId: string | undefined
}

function delivered(sql: Sql, { environmentId, ids, q, status, webhookId }: WebhookEventFilter) {
  return sql`environment_id = ${environmentId}
    ${ids ? sql`and id in ${among(sql, ids)}` : sql``}
    ${status ? sql`and status = ${status}` : sql``}
    ${webhookId ? sql`and webhook_id = ${webhookId}` : sql``}
    ${q ? sql`and (${contains(sql, 'request_type', q)} or ${contains(sql, 'payload', q)})` : sql``}`
}

export function listEventRows(
  sql: Sql,
  filter: WebhookEventFilter,
  page: Page,
): Promise<readonly WebhookEventRow[]> {
  return sql<
    WebhookEventRow[]
  >`select * from webhook_events where ${delivered(sql, filter)} ${newest(sql, page)}`
}

export async function countEventRows(sql: Sql, filter: WebhookEventFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhook_events where ${delivered(sql, filter)}`
  return row!.count
}

export async function findEvent(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<WebhookEventRow | null> {
  const [row] = await sql<WebhookEventRow[]>`
    select * from webhook_events where id = ${id} and environment_id = ${environmentId}`
  return row ?? null
}

/** Schedule a delivery again from its first attempt; null for one that is still pending. */
export async function redeliver(sql: Sql, id: string, now: Date): Promise<WebhookEventRow | null> {
  const [row] = await sql<WebhookEventRow[]>`
    update webhook_events set status = 'pending', attempt_count = 0, next_attempt_at = ${now}, updated_at = ${now}
    where id = ${id} and status <> 'pending' returning *`
  return row ?? null
}

/** The webhooks of some deliveries, by id. */
export async function webhooksOf(
  sql: Sql,
  rows: readonly WebhookEventRow[],
): Promise<ReadonlyMap<string, WebhookRow>> {
  const ids = [...new Set(rows.map(row => row.webhook_id))]
  const webhooks = await sql<WebhookRow[]>`select * from webhooks where id in ${among(sql, ids)}`
  return new Map(webhooks.map(webhook => [webhook.id, webhook]))
}

/** Store the finished delivery of a test. */
export async function insertTest(
  sql: Sql,
  event: {
    readonly id: string
    readonly webhook: WebhookRow
    readonly type: WebhookRequestType
    readonly payload: string
    readonly success: boolean
    readonly status: number | null
  },
): Promise<void> {
  const now = new Date()
  await sql`
    insert into webhook_events ${sql({
      id: event.id,
      webhook_id: event.webhook.id,
      environment_id: event.webhook.environment_id,
      request_type: event.type,
      payload: event.payload,
      status: event.success ? 'success' : 'failure',
      attempt_count: 1,
      response_code: event.status,
      sent_at: now,
      next_attempt_at: now,
      test: true,
      created_at: now,
      updated_at: now,
    })}`
}
