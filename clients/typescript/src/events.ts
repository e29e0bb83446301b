// The queue of events: gathered, sent in batches, and sent again with the same idempotency keys until
// acknowledged.
import { unref } from './stream.js'

/** An event as the interface takes it. */
export interface OutgoingEvent {
  readonly event_type: 'track' | 'identify' | 'inference' | 'flag_check'
  readonly body: object
  readonly idempotency_key: string
  readonly sent_at: string
}

export interface EventOptions {
  /** Longest time an event waits for others, ms. Default 1 000. */
  readonly flushMs?: number
  /** Most events of one batch. Default 500. */
  readonly batchMax?: number
  /** Most events that wait together. Beyond it `add` refuses. Default 100 000. */
  readonly bufferMax?: number
  /** Called with events that were given up: the service refused them as invalid. */
  readonly failed?: (error: Error, events: readonly OutgoingEvent[]) => void
}

/** Sends a body. `keepAlive`: the page or process may end meanwhile. */
export type Post = (path: string, body: string, keepAlive: boolean) => Promise<Response>

/** Longest wait between attempts, ms. They begin with 100 and double. */
const waitMaxMs = 5_000
/** Largest body that a page may send while it is closed, bytes. */
const keepAliveBytesMax = 60_000

export class Events {
  private waiting: OutgoingEvent[] = []
  private inFlight: readonly OutgoingEvent[] = []
  private timer: ReturnType<typeof setTimeout> | null = null
  private sending: Promise<void> | null = null
  private failures = 0
  private closed = false
  /** Ends the wait before the next attempt. */
  private wake: (() => void) | null = null

  constructor(
    private readonly post: Post,
    private readonly options: EventOptions,
    /** Called with events that are sent. */
    private readonly sent: (events: readonly OutgoingEvent[]) => void,
    /** Called with events that the service has acknowledged or refused for good. */
    private readonly taken: (events: readonly OutgoingEvent[]) => void,
  ) {}

  /** Events not acknowledged yet. */
  get size(): number {
    return this.waiting.length + this.inFlight.length
  }

  /** Add an event to the queue. Returns its idempotency key; null: the queue is full. */
  add(type: OutgoingEvent['event_type'], body: object, idempotencyKey?: string): string | null {
    if (this.closed || this.size >= (this.options.bufferMax ?? 100_000)) return null
    const key = idempotencyKey ?? crypto.randomUUID()
    const sent_at = new Date().toISOString()
    this.waiting.push({ event_type: type, body, idempotency_key: key, sent_at })
    if (this.waiting.length >= this.batchMax) this.begin()
    else if (this.timer === null && this.sending === null) {
      this.timer = setTimeout(() => this.begin(), this.options.flushMs ?? 1_000)
      unref(this.timer)
    }
    return key
  }

  /** Send the queue. Resolves when everything added until now is acknowledged or given up. */
  async flush(): Promise<void> {
    this.wake?.()
    while (this.size > 0 && !this.closed) {
      this.begin()
      await this.sending
    }
  }

  /** As `flush`, within this time, ms. Returns the number of events that were not acknowledged. */
  async close(withinMs: number): Promise<number> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, withinMs)
    })
    await Promise.race([this.flush(), late])
    clearTimeout(timer)
    this.closed = true
    this.wake?.()
    return this.size
  }

  /**
   * The page is closing: send the whole queue once, without waiting for answers. Events in flight are sent
   * again; the idempotency key makes them count once.
   */
  leave(): void {
    const events = [...this.inFlight, ...this.waiting]
    for (let at = 0; at < events.length; ) {
      let body = ''
      let count = 0
      while (at + count < events.length) {
        const next = JSON.stringify(events[at + count])
        if (count > 0 && body.length + next.length > keepAliveBytesMax) break
        body += count === 0 ? next : `,${next}`
        count++
      }
      this.post('/event-batch', `{"events":[${body}]}`, true).catch(() => {})
      at += count
    }
  }

  private get batchMax(): number {
    return this.options.batchMax ?? 500
  }

  private begin(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
    if (this.waiting.length === 0 || this.closed) return
    this.sending ??= this.send().finally(() => {
      this.sending = null
      if (this.waiting.length > 0 && !this.closed) this.begin()
    })
  }

  /** Send one batch until the service has taken or refused it. */
  private async send(): Promise<void> {
    const events = this.waiting.splice(0, this.batchMax)
    this.inFlight = events
    const body = JSON.stringify({ events })
    while (!this.closed) {
      const outcome = await this.attempt(body, events)
      if (outcome === 'done') break
      await this.pause(outcome)
    }
    if (!this.closed) this.inFlight = []
  }

  /** Returns 'done', or the least delay before the next attempt, ms. */
  private async attempt(body: string, events: readonly OutgoingEvent[]): Promise<'done' | number> {
    let response: Response
    let text = ''
    this.sent(events)
    try {
      response = await this.post('/event-batch', body, false)
      text = await response.text()
    } catch {
      return 0
    }
    if (response.ok) {
      this.failures = 0
      this.taken(events)
      return 'done'
    }
    const { status } = response
    if (status === 429 || status === 408 || status >= 500)
      return Number(response.headers.get('retry-after') ?? 0) * 1_000
    this.options.failed?.(new Error(`The events were refused with ${status}: ${text}`), events)
    this.taken(events)
    return 'done'
  }

  private pause(leastMs: number): Promise<void> {
    const waitMs = Math.max(
      leastMs,
      Math.min(waitMaxMs, 100 * 2 ** this.failures) * (0.5 + Math.random() / 2),
    )
    this.failures++
    return new Promise(resolve => {
      const timer = setTimeout(resolve, waitMs)
      unref(timer)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
