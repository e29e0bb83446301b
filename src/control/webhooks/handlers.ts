// Webhooks and their deliveries. src/control/webhooks/deliveries.ts sends them.
import { type WebhookRequestType, webhookEventStatuses } from '../../../schemas/enums.js'
import type {
  TestWebhook,
  Webhook,
  WebhookCreate,
  WebhookEventDetail,
  WebhookRoll,
  WebhookTest,
  WebhookUpdate,
} from '../../../schemas/webhooks.js'
import { newId } from '../../account/ids.js'
import { ServiceError } from '../../errors.js'
import type { Call, EnvironmentRecord, Handler } from '../../kit/call.js'
import { list, oneOf, page, type QueryOf, query, string } from '../../kit/query.js'
import type { Services } from '../../kit/services.js'
import { inTransaction } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { whole } from '../../kit/unchanged.js'
import { giveUp } from './deliveries.js'
import { isSuccess, urlProblem } from './safe-http.js'
import {
  countEventRows,
  countWebhookRows,
  deleteWebhookRow,
  findEvent,
  findWebhook,
  insertTest,
  insertWebhook,
  listEventRows,
  listWebhookRows,
  redeliver,
  rollSecretRow,
  updateWebhookRow,
  type WebhookEventFilter,
  type WebhookEventRow,
  webhooksOf,
} from './store.js'
import { newSecret, payloadOf, type WebhookRow } from './subscriptions.js'

/** Most webhooks in one environment: every change is matched with each. source: decision */
const webhooksMax = 100

const listShape = { q: string, ...page } as const
export const webhookListQuery = query(listShape)
type WebhookListQuery = QueryOf<typeof listShape>

const eventListShape = {
  ids: list,
  q: string,
  status: oneOf(webhookEventStatuses),
  webhook_id: string,
  ...page,
} as const
export const webhookEventListQuery = query(eventListShape)
type EventListQuery = QueryOf<typeof eventListShape>

/** The secret is shown only when it is created; later views mask it, except for its last letters. source: decision */
function webhookView(row: WebhookRow, shown: 'masked' | 'whole' = 'masked'): Webhook {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    secret: shown === 'whole' ? row.secret : `whsec_${'*'.repeat(28)}${row.secret.slice(-4)}`,
    status: row.status,
    request_types: row.request_types,
    credit_trigger_configs: row.credit_trigger_configs,
    entitlement_trigger_configs: row.entitlement_trigger_configs,
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

function unknownWebhook(): ServiceError {
  return new ServiceError('not_found', 'Webhook not found')
}

/** GET /webhooks. */
export const listWebhooks: Handler<undefined, WebhookListQuery> = async call => {
  const { services, environment, query } = call
  const filter = { environmentId: environment.id, q: query.q }
  const rows = await listWebhookRows(services.sql, filter, query)
  return { data: rows.map(row => webhookView(row)) }
}

/** GET /webhooks/count. */
export const countWebhooks: Handler<undefined, WebhookListQuery> = async ({
  services,
  environment,
  query,
}) => ({
  data: { count: await countWebhookRows(services.sql, { environmentId: environment.id, q: query.q }) },
})

/** GET /webhooks/{webhook_id}. */
export const getWebhook: Handler = async ({ services, environment, params }) => {
  const row = await findWebhook(services.sql, environment.id, params.webhook_id!)
  if (!row) throw unknownWebhook()
  return { data: webhookView(row) }
}

function assertUrl(url: string, services: Services, environment: EnvironmentRecord): void {
  const plain = environment.environmentType !== 'production' || services.webhookPlainHttp
  const problem = urlProblem(url, services.webhookPrivateAddresses, plain)
  if (problem !== null) throw new ServiceError('value_invalid', `url: ${problem}`)
}

/**
 * POST /webhooks.
 *
 * errors  400 for an invalid URL, one with a password, a private address or a port of another protocol, and for
 *         http in a production environment;
 *         400 beyond 100 webhooks.
 */
export const createWebhook: Handler<WebhookCreate> = async call => {
  const { services, environment, key, body, nowMs } = call
  assertUrl(body.url, services, environment)
  const row = await services.catalogs.change(scopeOf(call), async tx => {
    if ((await countWebhookRows(tx, { environmentId: environment.id, q: undefined })) >= webhooksMax)
      throw new ServiceError('state_conflict', `An environment has at most ${webhooksMax} webhooks`)
    return insertWebhook(tx, {
      id: newId('whk_'),
      accountId: key.accountId,
      environmentId: environment.id,
      secret: newSecret(),
      body,
      nowMs: services.clock.wall(),
      presentMs: nowMs,
    })
  })
  await services.webhooks.load(environment.id)
  return { status: 201, data: webhookView(row, 'whole') }
}

// The shards' catalogs contain the subscribed topics, so a webhook changes like a definition.
function scopeOf({ key, environment }: Call<unknown, unknown>) {
  return { accountId: key.accountId, environmentId: environment.id }
}

/** PUT /webhooks/{webhook_id}. Absent members are unchanged. Deactivation gives up pending deliveries. */
export const updateWebhook: Handler<WebhookUpdate> = async call => {
  const { services, environment, params, body, nowMs } = call
  if (body.url != null) assertUrl(body.url, services, environment)
  const row = await services.catalogs.change(scopeOf(call), async tx => {
    const former = await findWebhook(tx, environment.id, params.webhook_id!)
    if (!former) throw unknownWebhook()
    const { name, url, status, request_types, credit_trigger_configs, entitlement_trigger_configs } = former
    const had = { name, url, status, request_types, credit_trigger_configs, entitlement_trigger_configs }
    const said = whole(body, had)
    const members = {
      ...had,
      name: said.name ?? name,
      url: said.url ?? url,
      status: said.status ?? status,
      request_types: said.request_types ?? request_types,
      credit_trigger_configs: said.credit_trigger_configs,
      entitlement_trigger_configs: said.entitlement_trigger_configs,
    }
    const wallMs = services.clock.wall()
    if (members.status === 'inactive') await giveUp(tx, former.id, new Date(wallMs))
    return updateWebhookRow(tx, former, members, wallMs, nowMs)
  })
  await services.webhooks.load(environment.id)
  return { data: webhookView(row) }
}

/** Default time during which both secrets sign: one day. */
const overlapSeconds = 86_400

/**
 * POST /webhooks/{webhook_id}/roll-secret: creates a new secret, shown only here. Until the overlap ends,
 * deliveries are signed with both.
 *
 * source  decision.
 */
export const rollSecret: Handler<WebhookRoll> = async call => {
  const { services, environment, params, body } = call
  const nowMs = services.clock.wall()
  const overlap = body.overlap_seconds ?? overlapSeconds
  const former = { id: params.webhook_id!, environmentId: environment.id }
  const row = await inTransaction(services.sql, async tx => {
    const rolled = await rollSecretRow(tx, former, newSecret(), nowMs, nowMs + overlap * 1_000)
    await call.record?.(tx)
    return rolled
  })
  if (!row) throw unknownWebhook()
  await services.webhooks.load(environment.id)
  return { data: webhookView(row, 'whole') }
}

/** DELETE /webhooks/{webhook_id}, with its deliveries. */
export const deleteWebhook: Handler = async call => {
  const { services, environment, params } = call
  const { name } = await services.catalogs.change(scopeOf(call), async tx => {
    const row = await deleteWebhookRow(tx, environment.id, params.webhook_id!)
    if (row === null) throw unknownWebhook()
    return row
  })
  await services.webhooks.load(environment.id)
  return { data: { deleted: true }, noted: { deleted: true, name } }
}

/**
 * POST /webhooks/{webhook_id}/test: one attempt at once, also to an inactive webhook. It is not retried and does not
 * affect the webhook's state.
 *
 * errors  503 while the webhook or its environment is at its limit of deliveries in flight.
 */
export const sendTestWebhookAction: Handler<WebhookTest> = async call => {
  const { services, environment, params, body } = call
  const webhook = await findWebhook(services.sql, environment.id, params.webhook_id!)
  if (!webhook) throw unknownWebhook()
  const type: WebhookRequestType = body.request_type
  const payload = payloadOf(webhook, { type }, { test: true, webhook_id: webhook.id })
  const { id, outcome } = await services.deliveries.once(webhook, payload)
  const success = isSuccess(outcome)
  await insertTest(services.sql, { id, webhook, type, payload, success, status: outcome.status })
  const reason = outcome.reason ?? `The endpoint answered ${outcome.status}`
  return {
    data: {
      success,
      response_code: outcome.status ?? 0,
      failure_reason: success ? null : reason,
    } satisfies TestWebhook,
  }
}

function eventFilterOf({ environment, query }: Call<undefined, EventListQuery>): WebhookEventFilter {
  const { ids, q, status, webhook_id: webhookId } = query
  return { environmentId: environment.id, ids, q, status, webhookId }
}

/** GET /webhook-events: deliveries of the last 30 days. */
export const listWebhookEvents: Handler<undefined, EventListQuery> = async call => {
  const { sql } = call.services
  const rows = await listEventRows(sql, eventFilterOf(call), call.query)
  const webhooks = await webhooksOf(sql, rows)
  return { data: rows.map(row => eventView(row, webhooks)) }
}

/** GET /webhook-events/count. */
export const countWebhookEvents: Handler<undefined, EventListQuery> = async call => ({
  data: { count: await countEventRows(call.services.sql, eventFilterOf(call)) },
})

/** GET /webhook-events/{webhook_event_id}. */
export const getWebhookEvent: Handler = async ({ services, environment, params }) => {
  const row = await findEvent(services.sql, environment.id, params.webhook_event_id!)
  if (!row) throw new ServiceError('not_found', 'Webhook event not found')
  return { data: eventView(row, await webhooksOf(services.sql, [row])) }
}

/**
 * POST /webhook-events/{webhook_event_id}/redeliver: sends a past or abandoned delivery again, with the same id and
 * all its retries.
 *
 * errors  404; 400 while its webhook is inactive.
 * source  decision.
 */
export const redeliverEvent: Handler = async ({ services, environment, params }) => {
  const { sql } = services
  const row = await findEvent(sql, environment.id, params.webhook_event_id!)
  if (!row) throw new ServiceError('not_found', 'Webhook event not found')
  const webhooks = await webhooksOf(sql, [row])
  if (webhooks.get(row.webhook_id)?.status !== 'active')
    throw new ServiceError('state_conflict', 'The webhook is inactive')
  const again = await redeliver(sql, row.id, new Date(services.clock.wall()))
  services.webhooks.queued()
  return { data: eventView(again ?? row, webhooks) }
}

function eventView(row: WebhookEventRow, webhooks: ReadonlyMap<string, WebhookRow>): WebhookEventDetail {
  const webhook = webhooks.get(row.webhook_id)
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    ...(webhook && { webhook: webhookView(webhook) }),
    request_type: row.request_type,
    status: row.status,
    attempt_count: row.attempt_count,
    payload: row.payload,
    response_code: row.response_code,
    sent_at: isoTimeOrNull(row.sent_at?.getTime()),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}
