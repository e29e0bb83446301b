// Webhooks: the active ones in memory, who of them asks for what, and rows of their queue.
import { randomInt } from 'node:crypto'
import type { Sql } from 'postgres'
import type { WebhookRequestType, WebhookStatus } from '../../../schemas/enums.js'
import type { CreditTriggerConfig, EntitlementTriggerConfig } from '../../../schemas/webhooks.js'
import { newId } from '../../account/ids.js'
import { jsonText } from '../../json.js'

/** A row of webhooks. */
export interface WebhookRow {
  readonly id: string
  readonly account_id: string
  readonly environment_id: string
  readonly name: string
  readonly url: string
  readonly secret: string
  readonly status: WebhookStatus
  readonly request_types: readonly WebhookRequestType[]
  readonly credit_trigger_configs: readonly CreditTriggerConfig[] | null
  readonly entitlement_trigger_configs: readonly EntitlementTriggerConfig[] | null
  readonly expiries_told_at: Date
  /** Signs beside `secret` until its time is up (POST /webhooks/{id}/roll-secret). */
  readonly previous_secret: string | null
  readonly previous_secret_until: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Subject and scope of a notification. */
export interface Topic {
  readonly accountId: string
  /** Null: in every environment of the account. */
  readonly environmentId: string | null
  readonly type: WebhookRequestType
  readonly companyId?: string | null
  readonly featureId?: string | null
  readonly creditId?: string | null
}

/** Longest payload of a delivery, in bytes; a longer body is replaced by its id. */
export const payloadBytesMax = 65_536

export interface QueuedRow {
  readonly id: string
  readonly webhook_id: string
  readonly environment_id: string
  readonly request_type: WebhookRequestType
  readonly payload: string
  readonly at: string
}

const secretAlphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** A new signing secret: its form is a decision. */
export function newSecret(): string {
  return `whsec_${Array.from({ length: 32 }, () => secretAlphabet[randomInt(secretAlphabet.length)]).join('')}`
}

/**
 * The body of a delivery, as text. A body longer than `payloadBytesMax` is thin: its id, and a mark.
 *
 * source  interface document; the bound and the thin form: decision.
 */
export function payloadOf(
  webhook: Pick<WebhookRow, 'account_id' | 'environment_id'>,
  { type, companyId, featureId }: Pick<Topic, 'type' | 'companyId' | 'featureId'>,
  body: unknown,
): string {
  const text = (shown: unknown) =>
    jsonText({
      action: type,
      account_id: webhook.account_id,
      environment_id: webhook.environment_id,
      object_type: objectType(type),
      body: shown ?? {},
      ...(companyId != null && { company_id: companyId }),
      ...(featureId != null && { feature_id: featureId }),
    })
  const whole = text(body)
  return Buffer.byteLength(whole) <= payloadBytesMax ? whole : text(thin(body))
}

/** The thin form of a body: its id, with which a receiver can read it. */
function thin(body: unknown): object {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null
  return { ...(typeof id === 'string' && { id }), truncated: true }
}

/** The object type of a body. source: decision; the interface names the member, not its words */
function objectType(type: WebhookRequestType): string {
  if (type === 'company.plan_changed') return 'plan_change'
  if (type === 'flag_rules.updated') return 'rule'
  const nouns = type.split('.').slice(0, -1)
  return nouns[0] === 'entitlement' ? 'entitlement' : nouns.join('_')
}

/** The active webhooks of every environment. */
export class Webhooks {
  private byEnvironment = new Map<string, readonly WebhookRow[]>()

  constructor(
    private readonly options: {
      readonly sql: Sql
      readonly environmentIds: (accountId: string) => readonly string[]
      /** Rows are in the queue. */
      readonly queued: () => void
    },
  ) {}

  /** Read the active webhooks, of one environment or of all. */
  async load(environmentId: string | null = null): Promise<void> {
    const { sql } = this.options
    const rows = await sql<WebhookRow[]>`
      select * from webhooks where status = 'active'
        ${environmentId === null ? sql`` : sql`and environment_id = ${environmentId}`} order by created_at, id`
    if (environmentId !== null) {
      this.byEnvironment.set(environmentId, rows)
      return
    }
    const found = new Map<string, WebhookRow[]>()
    for (const row of rows) found.set(row.environment_id, [...(found.get(row.environment_id) ?? []), row])
    this.byEnvironment = found
  }

  forgetEnvironment(environmentId: string): void {
    this.byEnvironment.delete(environmentId)
  }

  /** Webhooks that asked for a topic, of one environment or of the whole account. */
  receivers({ accountId, environmentId, type, featureId, creditId }: Topic): readonly WebhookRow[] {
    if (this.byEnvironment.size === 0) return []
    const environmentIds = environmentId === null ? this.options.environmentIds(accountId) : [environmentId]
    return environmentIds.flatMap(id =>
      (this.byEnvironment.get(id) ?? []).filter(webhook => asksFor(webhook, type, featureId, creditId)),
    )
  }

  /** Environments in which some active webhook asks for a type. */
  environmentsWanting(type: WebhookRequestType): readonly string[] {
    return [...this.byEnvironment]
      .filter(([, of]) => of.some(one => one.request_types.includes(type)))
      .map(([id]) => id)
  }

  /** Rows of the queue were written. */
  queued(): void {
    this.options.queued()
  }
}

/** A row of the queue: one notification to one webhook. */
export function queuedRow(
  webhook: Pick<WebhookRow, 'id' | 'account_id' | 'environment_id'>,
  { type }: Pick<Topic, 'type'>,
  payload: string,
): QueuedRow {
  return {
    id: newId('whev_'),
    webhook_id: webhook.id,
    environment_id: webhook.environment_id,
    request_type: type,
    payload,
    at: new Date().toISOString(),
  }
}

/**
 * Rows of the queue, due at once. A webhook that is gone, or is being deleted, gets none: its row is waited for and
 * left out, the others are written.
 */
export async function insertEvents(sql: Sql, rows: readonly QueuedRow[]): Promise<void> {
  if (rows.length === 0) return
  // a payload for many webhooks is sent to Postgres once
  const payloads = [...new Set(rows.map(row => row.payload))]
  const places = new Map(payloads.map((payload, n) => [payload, n + 1]))
  const given = rows.map(({ payload, ...row }) => ({ ...row, n: places.get(payload)! }))
  await sql`
    insert into webhook_events (id, webhook_id, environment_id, request_type, payload, status, next_attempt_at,
      created_at, updated_at)
    select r.id, r.webhook_id, r.environment_id, r.request_type, p.payload, 'pending', r.at,
      r.at + r.n * interval '1 microsecond', r.at
    from jsonb_to_recordset(${sql.json(given)}) as r (
      id text, webhook_id text, environment_id text, request_type text, n bigint, at timestamptz)
    join unnest(${payloads}::text[]) with ordinality as p (payload, n) on p.n = r.n
    join webhooks w on w.id = r.webhook_id and w.status = 'active'
    for key share of w
    on conflict (id) do nothing`
}

/** Whether a webhook asks for a type, and for this feature or credit where it names some. */
function asksFor(
  webhook: WebhookRow,
  type: WebhookRequestType,
  featureId: string | null | undefined,
  creditId: string | null | undefined,
): boolean {
  if (!webhook.request_types.includes(type)) return false
  const features = webhook.entitlement_trigger_configs ?? []
  const credits = webhook.credit_trigger_configs ?? []
  if (type.startsWith('entitlement.') && features.length > 0)
    return features.some(one => one.feature_id === featureId)
  if (type.startsWith('credit.limit.') && credits.length > 0)
    return credits.some(one => one.credit_id === creditId)
  return true
}
