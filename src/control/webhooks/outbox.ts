// The outbox of webhooks: notifications stored with the changes that caused them, made into deliveries.
//
//   change ──(one transaction)──▶ webhook_outbox ──(one transaction)──▶ webhook_events, one row for each receiver
//
// No caller waits for the second step. A process that dies anywhere finds every row unchanged, so each notification
// becomes its deliveries exactly once, and those are sent at least once.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { WebhookRequestType } from '../../../schemas/enums.js'
import { newId } from '../../account/ids.js'
import { jsonText, parseExactly } from '../../json.js'
import { isAway } from '../../storage/away.js'
import { inParallel } from '../../turns/in-parallel.js'
import {
  insertEvents,
  payloadBytesMax,
  payloadOf,
  type QueuedRow,
  queuedRow,
  type Topic,
  type Webhooks,
} from './subscriptions.js'

/** A row of webhook_outbox. */
interface OutboxRow {
  readonly id: string
  readonly environment_id: string
  readonly type: WebhookRequestType
  readonly company_id: string | null
  readonly feature_id: string | null
  readonly credit_id: string | null
  /** JSON of core/company/domain-events.ts, DatedDomainEvent. */
  readonly happened: string | null
  /** JSON. */
  readonly body: string | null
}

/** Rows taken at once, of them from one environment, and composed at the same time. */
const rowsPerTurn = 64
const rowsPerEnvironment = 16
const composedAtOnce = 8
/** Notifications that wait in one environment; beyond, the oldest are dropped with a log line. */
const waitingMax = 100_000
/** How often that bound is seen to, and what waits for room is looked at again. */
const boundMs = 30_000
const idleMs = 2_000
/** Among several nodes: how often it is looked whether it is this one that does it. */
const elsewhereMs = 250
/** Validity of the measured backlog. */
const roomMs = 1_000
const retryMs = 1_000
/** Failures after which a body is replaced by its id. */
const attemptsMax = 5

interface OutboxOptions {
  /** Whether this node is the one that does it; absent: it is. */
  readonly isHere?: () => boolean
  readonly sql: Sql
  readonly log: Logger
  readonly webhooks: Webhooks
  /** Payloads that wait to be sent in one environment, bytes; beyond, its notifications wait in the outbox. */
  readonly pendingBytesMax: number
  /** The account of an environment; null when it is gone. */
  readonly accountOf: (environmentId: string) => string | null
  /** The body for receivers of a journaled change. */
  readonly compose: (happened: string) => Promise<unknown>
  /** So many notifications were dropped. */
  readonly dropped: (count: number) => void
}

/**
 * Store a notification in the transaction of the change that causes it; nothing where no webhook asks.
 *
 * tx    the transaction of the change.
 * body  body for receivers, JSON.
 */
export async function notify(tx: Sql, webhooks: Webhooks, topic: Topic, body: unknown): Promise<void> {
  const environmentIds = [...new Set(webhooks.receivers(topic).map(one => one.environment_id))]
  if (environmentIds.length === 0) return
  const whole = jsonText(body ?? {})
  const id = typeof body === 'object' && body !== null && 'id' in body ? { id: body.id } : {}
  const text =
    Buffer.byteLength(whole) <= payloadBytesMax ? whole : JSON.stringify({ ...id, truncated: true })
  const rows = environmentIds.map(environmentId => ({
    id: newId('ntc_'),
    environment_id: environmentId,
    type: topic.type,
    company_id: topic.companyId ?? null,
    feature_id: topic.featureId ?? null,
    credit_id: topic.creditId ?? null,
    body: text,
  }))
  await tx`insert into webhook_outbox ${tx(rows)}`
}

/** Makes deliveries of what is in the outbox, each environment in its turn. */
export class Outbox {
  private readonly attempts = new Map<string, number>()
  private running: Promise<void> | null = null
  private again = false
  private timer: NodeJS.Timeout | null = null
  private boundedAtMs = 0
  private pending = new Map<string, number>()
  private pendingAtMs = 0
  private stopped = false

  constructor(private readonly options: OutboxOptions) {}

  /** Look for rows now. */
  wake(): void {
    if (this.stopped) return
    this.again = true
    this.running ??= this.run().finally(() => {
      this.running = null
      if (!this.stopped && this.again) this.wake()
    })
  }

  /** Begin, with what an earlier process left. */
  start(): void {
    this.wake()
  }

  /** Make deliveries of everything in the outbox, as far as there is room; for tests. */
  async drain(): Promise<void> {
    this.wake()
    while (this.running) await this.running
  }

  async stop(): Promise<void> {
    this.stopped = true
    if (this.timer) clearTimeout(this.timer)
    await this.running
  }

  private async run(): Promise<void> {
    if (this.timer) clearTimeout(this.timer)
    let waitMs = this.options.isHere === undefined ? idleMs : elsewhereMs
    if (this.options.isHere?.() === false) this.again = false
    try {
      while (this.again && !this.stopped) {
        this.again = false
        await this.bound()
        while (!this.stopped && (await this.turn()));
      }
    } catch (error) {
      this.options.log.warn({ err: error }, 'notifications wait in the outbox')
      waitMs = retryMs
      this.again = false
    }
    if (!this.stopped) this.timer = setTimeout(() => this.wake(), waitMs).unref()
  }

  /** Take some rows of every environment that has room. Returns whether there may be more. */
  private async turn(): Promise<boolean> {
    const { sql, pendingBytesMax } = this.options
    await this.lookAtRoom()
    const full = [...this.pending].filter(([, bytes]) => bytes >= pendingBytesMax).map(([id]) => id)
    const rows = await sql<OutboxRow[]>`
      with recursive named as (
        (select environment_id from webhook_outbox order by environment_id limit 1)
        union all
        select (select o.environment_id from webhook_outbox o
          where o.environment_id > named.environment_id order by o.environment_id limit 1)
        from named where named.environment_id is not null
      )
      select o.id, o.environment_id, o.type, o.company_id, o.feature_id, o.credit_id, o.happened, o.body
      from named cross join lateral (
        select * from webhook_outbox where environment_id = named.environment_id order by n limit ${rowsPerEnvironment}) o
      where named.environment_id <> all (${full}::text[])
      order by row_number() over (partition by o.environment_id order by o.n), o.n limit ${rowsPerTurn}`
    if (rows.length === 0) return false
    const made = await inParallel(rows, composedAtOnce, row => this.deliveriesOf(row))
    const done = rows.filter((_, n) => made[n] !== null).map(row => row.id)
    const deliveries = made.flatMap(one => one ?? [])
    if (done.length === 0) throw new Error('no body could be composed')
    await sql.begin(async transaction => {
      const tx = transaction as unknown as Sql
      await tx`delete from webhook_outbox where id = any(${done}::text[])`
      await insertEvents(tx, deliveries)
    })
    for (const id of done) this.attempts.delete(id)
    for (const { environment_id: id, payload } of deliveries)
      this.pending.set(id, (this.pending.get(id) ?? 0) + Buffer.byteLength(payload))
    if (deliveries.length > 0) this.options.webhooks.queued()
    return true
  }

  /** Bytes of waiting payloads by environment: the last measurement, plus the bytes added since. */
  private async lookAtRoom(): Promise<void> {
    if (Date.now() < this.pendingAtMs + roomMs) return
    const { sql } = this.options
    const rows = await sql<{ environment_id: string; bytes: number }[]>`
      select environment_id, sum(octet_length(payload))::float8 as bytes from webhook_events
      where status = 'pending' group by environment_id`
    this.pending = new Map(rows.map(row => [row.environment_id, row.bytes]))
    this.pendingAtMs = Date.now()
  }

  /** One row for each receiver; none when there is no receiver any more; null to try again later. */
  private async deliveriesOf(row: OutboxRow): Promise<readonly QueuedRow[] | null> {
    const { webhooks, accountOf } = this.options
    const accountId = accountOf(row.environment_id)
    if (accountId === null) return []
    const topic: Topic = {
      accountId,
      environmentId: row.environment_id,
      type: row.type,
      companyId: row.company_id,
      featureId: row.feature_id,
      creditId: row.credit_id,
    }
    const receivers = webhooks.receivers(topic)
    if (receivers.length === 0) return []
    const body = await this.bodyOf(row)
    if (body === null) return null
    const payload = payloadOf(receivers[0]!, topic, body.shown)
    return receivers.map(webhook => queuedRow(webhook, topic, payload))
  }

  private async bodyOf(row: OutboxRow): Promise<{ readonly shown: unknown } | null> {
    if (row.body !== null) return { shown: parseExactly(row.body) }
    try {
      return { shown: await this.options.compose(row.happened!) }
    } catch (error) {
      if (isAway(error)) return null
      const attempts = (this.attempts.get(row.id) ?? 0) + 1
      this.attempts.set(row.id, attempts)
      this.options.log.warn(
        { err: error, type: row.type, attempts },
        'the body of a notification is not composed',
      )
      if (attempts < attemptsMax) return null
      const { id } = JSON.parse(row.happened!) as { readonly id: string }
      return { shown: { id, truncated: true } }
    }
  }

  /** Drop the oldest notifications of an environment that has too many, and those of environments that are gone. */
  private async bound(): Promise<void> {
    const { sql, log, dropped } = this.options
    if (Date.now() < this.boundedAtMs + boundMs) return
    this.boundedAtMs = Date.now()
    const gone = await sql`
      delete from webhook_outbox o using (
        select environment_id, max(n) as n from (
          select environment_id, n, row_number() over (partition by environment_id order by n desc) as place
          from webhook_outbox) numbered
        where place > ${waitingMax} group by environment_id) old
      where o.environment_id = old.environment_id and o.n <= old.n`
    if (gone.count === 0) return
    dropped(gone.count)
    log.error({ notifications: gone.count }, 'notifications are dropped: too many wait for their webhooks')
  }
}
