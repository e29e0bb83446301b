// The deliverer of webhooks: takes due rows of webhook_events, sends them a few at a time, writes what became of them.
import { setMaxListeners } from 'node:events'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import { newId } from '../../account/ids.js'
import { ServiceError } from '../../errors.js'
import { deliver, isSuccess, type Outcome } from './safe-http.js'
import type { Endpoint } from './signature.js'

/** Retries after the first attempt (interface document). */
const retriesMax = 5
/** Each wait is this many times the one before. */
const growth = 4
/** A wait is longer or shorter by up to this share, so that what failed together does not come back together. */
const jitter = 0.2
/** Concurrent calls in all, for one environment and to one endpoint, so that slow ones leave room for the others. */
const atOnceMax = 64
const perEnvironmentMax = 8
const perWebhookMax = 4
const idleMsMax = 30_000
const storeRetryMs = 1_000
const keptDays = 30
const pruneMs = 3_600_000
/** How long deliveries under way may go on at a stop. */
const stopMs = 2_000

interface DueRow {
  readonly id: string
  readonly webhook_id: string
  readonly environment_id: string
  readonly payload: string
  readonly attempt_count: number
  readonly url: string
  readonly secret: string
  readonly previous_secret: string | null
  readonly previous_secret_until: Date | null
}

/** A call in flight. */
interface Flight {
  readonly webhook_id: string
  readonly environment_id: string
}

/** Among several nodes: how often it is looked whether it is this one that sends. */
const elsewhereMs = 500

/** A webhook that was switched off because its endpoint fails. */
interface Deactivated {
  readonly webhookId: string
  readonly accountId: string
  readonly environmentId: string
}

interface DeliveriesOptions {
  readonly sql: Sql
  readonly log: Logger
  readonly privateAddresses: boolean
  /** The wait before the first retry, ms. */
  readonly retryMs: number
  readonly deactivated: (webhook: Deactivated) => void
  /** Whether this node is the one that sends; absent: it is. */
  readonly isHere?: () => boolean
}

/**
 * How long to wait after a failed attempt.
 *
 * attempts  made so far, 1…5.
 * random    in [0, 1).
 * returns   ms: the base, then four times as long each time, ± 20 %.
 * source    interface document; the numbers: decision.
 */
export function retryDelayMs(baseMs: number, attempts: number, random: number): number {
  return Math.round(baseMs * growth ** (attempts - 1) * (1 - jitter + 2 * jitter * random))
}

/** Delivers at least once: a delivery that was sent but not recorded when the process died is sent again. */
export class Deliveries {
  private readonly flying = new Map<string, Flight>()
  private readonly stopping = new AbortController()
  private timer: NodeJS.Timeout | null = null
  private pruning: NodeJS.Timeout | null = null
  private looking = false
  private again = false
  private landed: (() => void) | null = null

  constructor(private readonly options: DeliveriesOptions) {
    setMaxListeners(atOnceMax, this.stopping.signal) // each call listens to it
  }

  start(): void {
    this.pruning = setInterval(() => void this.prune(), pruneMs).unref()
    this.wake()
  }

  /** Look for due rows now. */
  wake(): void {
    if (this.stopping.signal.aborted) return
    this.again = true
    if (!this.looking) void this.look()
  }

  /** Send nothing more; calls in flight have a little time, then they are left for the next start. */
  async stop(): Promise<void> {
    if (this.timer) clearTimeout(this.timer)
    if (this.pruning) clearInterval(this.pruning)
    const timer = setTimeout(() => this.stopping.abort(), stopMs)
    this.again = false
    this.wake = () => {}
    if (this.flying.size > 0) await new Promise<void>(resolve => (this.landed = resolve))
    clearTimeout(timer)
    this.stopping.abort()
  }

  private async look(): Promise<void> {
    this.looking = true
    let waitMs = idleMsMax
    while (this.again) {
      this.again = false
      try {
        const { isHere } = this.options
        if (isHere?.() === false) waitMs = elsewhereMs
        else {
          const due = await this.due()
          for (const row of due) this.launch(row)
          if (due.length > 0) this.again = true
          else waitMs = Math.min(await this.untilNextMs(), isHere === undefined ? idleMsMax : elsewhereMs)
        }
      } catch (error) {
        this.options.log.warn({ err: error }, 'webhooks not read')
        waitMs = storeRetryMs
      }
    }
    this.looking = false
    if (this.timer) clearTimeout(this.timer)
    this.timer = setTimeout(() => this.wake(), waitMs).unref()
  }

  /** Due rows there is room for: environments with the fewest calls under way first. */
  private async due(): Promise<readonly DueRow[]> {
    if (atOnceMax <= this.flying.size) return []
    const { sql } = this.options
    const { flying, environments, webhooks } = this.full()
    const rows = await sql<DueRow[]>`
      ${pendingEnvironments(sql)}
      select due.* from named cross join lateral (
        select e.id, e.webhook_id, e.environment_id, e.payload, e.attempt_count, w.url, w.secret,
          w.previous_secret, w.previous_secret_until
        from webhook_events e join webhooks w on w.id = e.webhook_id
        where e.environment_id = named.environment_id and e.status = 'pending' and e.next_attempt_at <= ${new Date()}
          and e.id <> all (${flying}::text[]) and e.webhook_id <> all (${webhooks}::text[])
        order by e.next_attempt_at, e.created_at limit ${perEnvironmentMax}) due
      where named.environment_id <> all (${environments}::text[])`
    const room = atOnceMax - this.flying.size
    return fairly(rows, room, this.counts('environment_id'), this.counts('webhook_id'))
  }

  /** Calls under way, and the environments and webhooks that have no free place. */
  private full() {
    const of = (counts: ReadonlyMap<string, number>, max: number) =>
      [...counts].filter(([, count]) => count >= max).map(([id]) => id)
    return {
      flying: [...this.flying.keys()],
      environments: of(this.counts('environment_id'), perEnvironmentMax),
      webhooks: of(this.counts('webhook_id'), perWebhookMax),
    }
  }

  private counts(member: keyof Flight): Map<string, number> {
    const counts = new Map<string, number>()
    for (const flight of this.flying.values()) add(counts, flight[member])
    return counts
  }

  /**
   * One attempt now, beside the queue but within its bounds.
   *
   * errors  overloaded (503) when the webhook or its environment has as many calls under way as it may.
   */
  async once(webhook: Endpoint & { readonly id: string; readonly environment_id: string }, payload: string) {
    const flight: Flight = { webhook_id: webhook.id, environment_id: webhook.environment_id }
    const of = (member: keyof Flight) => this.counts(member).get(flight[member]) ?? 0
    const isFull =
      this.flying.size >= atOnceMax ||
      of('environment_id') >= perEnvironmentMax ||
      of('webhook_id') >= perWebhookMax
    if (isFull || this.stopping.signal.aborted)
      throw new ServiceError('overloaded', 'Too many webhooks of this environment are being sent; try again')
    const id = newId('whev_')
    this.flying.set(id, flight)
    try {
      return { id, outcome: await this.deliver(webhook, id, payload) }
    } finally {
      this.flew(id)
    }
  }

  private deliver(endpoint: Endpoint, id: string, payload: string): Promise<Outcome> {
    const { privateAddresses } = this.options
    return deliver(
      endpoint,
      { id, payload },
      { privateAddresses, nowMs: Date.now(), signal: this.stopping.signal },
    )
  }

  private flew(id: string): void {
    this.flying.delete(id)
    if (this.flying.size === 0) this.landed?.()
    this.wake()
  }

  /** Time until the next row is due that has a free place. For others a call that lands looks again. */
  private async untilNextMs(): Promise<number> {
    if (atOnceMax <= this.flying.size) return idleMsMax
    const { sql } = this.options
    const { flying, environments, webhooks } = this.full()
    const [row] = await sql<{ at: Date | null }[]>`
      ${pendingEnvironments(sql)}
      select min(next.at) as at from named cross join lateral (
        select e.next_attempt_at as at from webhook_events e
        where e.environment_id = named.environment_id and e.status = 'pending'
          and e.id <> all (${flying}::text[]) and e.webhook_id <> all (${webhooks}::text[])
        order by e.next_attempt_at limit 1) next
      where named.environment_id <> all (${environments}::text[])`
    if (!row?.at) return idleMsMax
    return Math.min(idleMsMax, Math.max(1, row.at.getTime() - Date.now()))
  }

  private launch(row: DueRow): void {
    this.flying.set(row.id, row)
    void this.deliver(row, row.id, row.payload)
      .then(outcome => this.store(row, outcome))
      .catch(error => this.options.log.error({ err: error, event: row.id }, 'webhook failed'))
      .finally(() => this.flew(row.id))
  }

  /** Write down how an attempt ended, trying until Postgres takes it. One that was cut off by the stop never was. */
  private async store(row: DueRow, outcome: Outcome): Promise<void> {
    if (outcome.reason === 'stopped') return
    for (;;) {
      try {
        await this.recordOutcome(row, outcome)
        return
      } catch (error) {
        this.options.log.warn({ err: error, event: row.id }, 'webhook outcome not written')
        if (this.stopping.signal.aborted) return
        await new Promise(resolve => setTimeout(resolve, storeRetryMs))
      }
    }
  }

  private async recordOutcome(row: DueRow, outcome: Outcome): Promise<void> {
    const { sql, retryMs, log } = this.options
    const attempts = row.attempt_count + 1
    const success = isSuccess(outcome)
    const over = success || attempts > retriesMax
    const now = new Date()
    const next = over ? now : new Date(now.getTime() + retryDelayMs(retryMs, attempts, Math.random()))
    const status = success ? 'success' : over ? 'failure' : 'pending'
    // one that was given up meanwhile, with its webhook, stays so
    await sql`
      update webhook_events set status = ${status}, attempt_count = ${attempts}, response_code = ${outcome.status},
        sent_at = ${now}, next_attempt_at = ${next}, updated_at = ${now}
      where id = ${row.id} and status = 'pending'`
    if (success) return
    log.debug({ event: row.id, webhook: row.webhook_id, attempts, ...outcome }, 'webhook attempt failed')
    if (over) await this.judge(row.webhook_id, now)
  }

  /** Switch an endpoint off that fails ≥ 90 % of ≥ 25 deliveries in 24 hours. source: interface document */
  private async judge(webhookId: string, now: Date): Promise<void> {
    const { sql, log, deactivated } = this.options
    const since = new Date(now.getTime() - 86_400_000)
    const [row] = await sql<{ account_id: string; environment_id: string }[]>`
      update webhooks w set status = 'inactive', updated_at = ${now}
      where w.id = ${webhookId} and w.status = 'active' and (
        select count(*) >= 25 and count(*) filter (where e.status = 'failure') * 10 >= count(*) * 9
        from webhook_events e
        where e.webhook_id = w.id and not e.test and e.status <> 'pending'
          and e.sent_at > greatest(${since}::timestamptz, w.active_since))
      returning w.account_id, w.environment_id`
    if (!row) return
    await giveUp(sql, webhookId, now)
    log.warn({ webhook: webhookId }, 'webhook deactivated: its endpoint fails')
    deactivated({ webhookId, accountId: row.account_id, environmentId: row.environment_id })
  }

  private async prune(): Promise<void> {
    const { sql, log } = this.options
    const before = new Date(Date.now() - keptDays * 86_400_000)
    await sql`delete from webhook_events where status <> 'pending' and created_at < ${before}`.catch(error =>
      log.warn({ err: error }, 'old webhook deliveries not deleted'),
    )
  }
}

/** The environments in which deliveries wait, as `named`: one step in the index for each, however many wait in it. */
const pendingEnvironments = (sql: Sql) => sql`
  with recursive named as (
    (select environment_id from webhook_events where status = 'pending' order by environment_id limit 1)
    union all
    select (select e.environment_id from webhook_events e
      where e.status = 'pending' and e.environment_id > named.environment_id order by e.environment_id limit 1)
    from named where named.environment_id is not null
  )`

/**
 * The due rows that may leave now: one of each environment in turn, those with the fewest calls first.
 *
 * counts  calls under way by environment and by webhook.
 */
export function fairly<Row extends Flight>(
  rows: readonly Row[],
  room: number,
  environments: ReadonlyMap<string, number>,
  webhooks: ReadonlyMap<string, number>,
): Row[] {
  const ofEnvironment = new Map(environments)
  const ofWebhook = new Map(webhooks)
  const left = [...rows]
  const taken: Row[] = []
  while (taken.length < room && left.length > 0) {
    const count = (row: Row) => ofEnvironment.get(row.environment_id) ?? 0
    let best = 0
    for (let n = 1; n < left.length; n++) if (count(left[n]!) < count(left[best]!)) best = n
    const [row] = left.splice(best, 1)
    if (count(row!) >= perEnvironmentMax) break
    if ((ofWebhook.get(row!.webhook_id) ?? 0) >= perWebhookMax) continue
    add(ofEnvironment, row!.environment_id)
    add(ofWebhook, row!.webhook_id)
    taken.push(row!)
  }
  return taken
}

function add(counts: Map<string, number>, id: string): void {
  counts.set(id, (counts.get(id) ?? 0) + 1)
}

/** Deliveries that wait for a webhook when it is switched off are not sent. source: decision */
export async function giveUp(sql: Sql, webhookId: string, now: Date): Promise<void> {
  await sql`
    update webhook_events set status = 'failure', updated_at = ${now}
    where webhook_id = ${webhookId} and status = 'pending'`
}
