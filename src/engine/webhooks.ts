// Who is to be told of what: the active webhooks in memory, and announcements on their way into the queue.
import { randomInt } from 'node:crypto'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { WebhookRequestType, WebhookStatus } from '../../schemas/enums.js'
import type { CreditTriggerConfig, EntitlementTriggerConfig } from '../../schemas/webhooks.js'
import { isAway } from '../storage/away.js'
import { newId } from './ids.js'

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
  readonly created_at: Date
  readonly updated_at: Date
}

/** Something that happened, for whoever asked to be told. */
export interface Announcement {
  readonly accountId: string
  /** Null: in every environment of the account. */
  readonly environmentId: string | null
  readonly type: WebhookRequestType
  /** What the receiver is shown, or how to get it: asked only if somebody is to be told. */
  readonly body: unknown | (() => unknown)
  readonly companyId?: string | null
  readonly featureId?: string | null
  readonly creditId?: string | null
}

/** Announcements on their way to Postgres at once; beyond, new ones are dropped with a log line. */
const pendingMax = 10_000
const retryMs = 1_000
const rowsPerStatement = 200

export interface QueuedRow {
  readonly id: string
  readonly webhook_id: string
  readonly environment_id: string
  readonly request_type: WebhookRequestType
  readonly payload: string
  readonly at: string
}

const secretAlphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** A new signing secret. source: gaps.md */
export function newSecret(): string {
  return `whsec_${Array.from({ length: 32 }, () => secretAlphabet[randomInt(secretAlphabet.length)]).join('')}`
}

/** The body of a delivery, as text. source: api/webhooks.md */
export function payloadOf(
  webhook: Pick<WebhookRow, 'account_id' | 'environment_id'>,
  { type, companyId, featureId }: Pick<Announcement, 'type' | 'companyId' | 'featureId'>,
  body: unknown,
): string {
  return JSON.stringify({
    action: type,
    account_id: webhook.account_id,
    environment_id: webhook.environment_id,
    object_type: objectType(type),
    body: body ?? {},
    ...(companyId != null && { company_id: companyId }),
    ...(featureId != null && { feature_id: featureId }),
  })
}

/** What a body is of. source: decision; the interface names the member, not its words */
function objectType(type: WebhookRequestType): string {
  if (type === 'company.plan_changed') return 'plan_change'
  if (type === 'flag_rules.updated') return 'rule'
  const nouns = type.split('.').slice(0, -1)
  return nouns[0] === 'entitlement' ? 'entitlement' : nouns.join('_')
}

/**
 * The active webhooks of every environment, and the way from an announcement to rows of webhook_events.
 *
 * Announcing never waits and never fails: rows are written right behind it, tried again while Postgres is away. What
 * was announced and not written when the process dies is lost; what is written is delivered at least once.
 */
export class Webhooks {
  #byEnvironment = new Map<string, readonly WebhookRow[]>()
  #pending: QueuedRow[] = []
  #composing = new Set<Promise<void>>()
  #writing: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(
    private readonly options: {
      readonly sql: Sql
      readonly log: Logger
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
      this.#byEnvironment.set(environmentId, rows)
      return
    }
    const found = new Map<string, WebhookRow[]>()
    for (const row of rows) found.set(row.environment_id, [...(found.get(row.environment_id) ?? []), row])
    this.#byEnvironment = found
  }

  forgetEnvironment(environmentId: string): void {
    this.#byEnvironment.delete(environmentId)
  }

  /** Whether anybody would be told. */
  wants(announced: Omit<Announcement, 'body'>): boolean {
    return this.#receivers(announced).length > 0
  }

  /** Environments in which some active webhook asks for a type. */
  environmentsWanting(type: WebhookRequestType): readonly string[] {
    return [...this.#byEnvironment]
      .filter(([, of]) => of.some(one => one.request_types.includes(type)))
      .map(([id]) => id)
  }

  /** Tell everyone who asked. */
  announce(announced: Announcement): void {
    const receivers = this.#receivers(announced)
    if (receivers.length === 0) return
    const { body } = announced
    if (typeof body !== 'function') {
      this.#queue(announced, receivers, body)
      return
    }
    const composing = (async () => this.#queue(announced, receivers, await body()))()
      .catch(error => this.options.log.warn({ err: error, type: announced.type }, 'webhook not composed'))
      .finally(() => this.#composing.delete(composing))
    this.#composing.add(composing)
  }

  /** Rows were written by somebody else. */
  queued(): void {
    this.options.queued()
  }

  /** Write what was announced so far; for the end, and for tests. */
  async flush(): Promise<void> {
    while (this.#composing.size > 0) await Promise.all(this.#composing)
    this.#write()
    await this.#writing
  }

  #receivers({
    accountId,
    environmentId,
    type,
    featureId,
    creditId,
  }: Omit<Announcement, 'body'>): WebhookRow[] {
    if (this.#byEnvironment.size === 0) return []
    const environmentIds = environmentId === null ? this.options.environmentIds(accountId) : [environmentId]
    return environmentIds.flatMap(id =>
      (this.#byEnvironment.get(id) ?? []).filter(webhook => asksFor(webhook, type, featureId, creditId)),
    )
  }

  #queue(announced: Announcement, receivers: readonly WebhookRow[], body: unknown): void {
    if (this.#pending.length + receivers.length > pendingMax) {
      this.options.log.error({ type: announced.type }, 'webhook dropped: too many wait for Postgres')
      return
    }
    for (const webhook of receivers) this.#pending.push(queuedRow(webhook, announced, body))
    setImmediate(() => this.#write())
  }

  #write(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
    })
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending.slice(0, rowsPerStatement)
      try {
        await insertEvents(this.options.sql, batch)
      } catch (error) {
        this.options.log.warn({ err: error, rows: this.#pending.length }, 'webhooks not queued')
        if (isAway(error)) {
          this.#timer = setTimeout(() => this.#write(), retryMs).unref()
          return
        }
      }
      this.#pending.splice(0, batch.length)
      this.options.queued()
    }
  }
}

/** A row of the queue: one announcement to one webhook. */
export function queuedRow(
  webhook: WebhookRow,
  announced: Pick<Announcement, 'type' | 'companyId' | 'featureId'>,
  body: unknown,
): QueuedRow {
  return {
    id: newId('whev_'),
    webhook_id: webhook.id,
    environment_id: webhook.environment_id,
    request_type: announced.type,
    payload: payloadOf(webhook, announced, body),
    at: new Date().toISOString(),
  }
}

/** Rows of the queue, due at once; a webhook that is gone meanwhile gets none. */
export async function insertEvents(sql: Sql, rows: readonly QueuedRow[]): Promise<void> {
  await sql`
    insert into webhook_events (id, webhook_id, environment_id, request_type, payload, status, next_attempt_at,
      created_at, updated_at)
    select r.id, r.webhook_id, r.environment_id, r.request_type, r.payload, 'pending', r.at, r.at, r.at
    from jsonb_to_recordset(${sql.json(rows as unknown as Parameters<Sql['json']>[0])}) as r (
      id text, webhook_id text, environment_id text, request_type text, payload text, at timestamptz)
    join webhooks w on w.id = r.webhook_id and w.status = 'active'
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
