// The queue of events: gathered, sent in batches, and sent again with the same idempotency keys until
// acknowledged. An event that is not counted is told to `failed` and to the logger, never dropped in silence.
import { retryAfterMs } from '../../../src/core/values/retry-after.js'
import { codeOf, type ErrorCode, reasonOf, TollgateError } from './errors.js'
import type { Teller } from './logger.js'
import { unref } from './stream.js'

/** An event as the interface takes it. */
export interface OutgoingEvent {
  readonly event_type: 'track' | 'identify' | 'inference' | 'flag_check'
  readonly body: object
  readonly idempotency_key: string
  readonly sent_at: string
  readonly trusted_client_clock?: true
  readonly backfill?: true
}

export interface EventOptions {
  /** Longest time an event waits for others, ms. Default 1 000. */
  readonly flushMs?: number
  /** Most events of one batch. Default 500. */
  readonly batchMax?: number
  /** Most events that wait together. Beyond it `track` returns null. Default 100 000. */
  readonly bufferMax?: number
  /** Most bytes of events that wait together, as JSON. Beyond it `track` returns null. Default 67 108 864. */
  readonly bufferBytesMax?: number
  /**
   * Called with events that do not count, or not yet.
   *
   * error  says why: `event_refused` (invalid), `event_failed` (stored as failed), `queue_full`, `closed`; or the
   *        reason why they wait.
   * kept   true: they stay in the queue and are sent again; told once for each outage. false: they are yours; `resend`
   *        puts them into the queue again.
   */
  readonly failed?: (error: TollgateError, events: readonly OutgoingEvent[], kept: boolean) => void
}

/** When and under which key an event is sent. */
export interface EventIdentity {
  /** Default a random one. The same key again counts once. */
  readonly idempotencyKey?: string
  /** When it happened; default the present. At most 34 days back; needs a secret key. */
  readonly at?: Date | string | number
  /** Past use that charges nothing; at most 365 days back. Needs `at`. */
  readonly backfill?: boolean
}

/** Sends a body. `keepAlive`: the page or process may end meanwhile. */
export type Post = (path: string, body: string, keepAlive: boolean) => Promise<Response>

/** Longest wait between attempts, ms. They begin with 100 and double. */
const waitMaxMs = 5_000
/** The same while the key is refused. */
const refusedMaxMs = 15_000
/** Largest body that a page may send while it is closed, bytes. */
const keepAliveBytesMax = 60_000
/** Longest wait that an answer may ask for, ms. */
const askedMaxMs = 3_600_000

interface QueueHooks {
  /** Idempotency keys of events that are sent. */
  readonly sent: (keys: readonly string[]) => void
  /** Idempotency keys of events that the service has acknowledged or refused for good. */
  readonly taken: (keys: readonly string[]) => void
}

/** An event as it was when it was added: what its caller changes afterwards is not sent. */
interface Queued {
  readonly key: string
  readonly json: string
  readonly bytes: number
}

export class Events {
  private waiting: Queued[] = []
  private inFlight: readonly Queued[] = []
  /** Bytes of both. */
  private bytes = 0
  private timer: ReturnType<typeof setTimeout> | null = null
  private sending: Promise<void> | null = null
  private failures = 0
  private closed = false
  /** Why the batch in flight was not taken; null: it was not tried yet. */
  private problem: TollgateError | null = null
  /** Ends the wait before the next attempt. */
  private wake: ((isForced: boolean) => void) | null = null
  /** Callers of `flush` that are told when the key is refused. */
  private readonly refusals = new Set<(error: TollgateError) => void>()

  constructor(
    private readonly post: Post,
    private readonly options: EventOptions,
    private readonly teller: Teller,
    private readonly hooks: QueueHooks,
  ) {}

  /** Events not acknowledged yet. */
  get size(): number {
    return this.waiting.length + this.inFlight.length
  }

  /** Add an event to the queue. Returns its idempotency key; null: it was not taken, and `failed` is told. */
  add(type: OutgoingEvent['event_type'], body: object, identity: EventIdentity = {}): string | null {
    const { idempotencyKey, at, backfill } = identity
    const event: OutgoingEvent = {
      event_type: type,
      body,
      idempotency_key: idempotencyKey ?? crypto.randomUUID(),
      sent_at: timeOf(at),
      ...((at !== undefined || backfill) && { trusted_client_clock: true }),
      ...(backfill && { backfill: true }),
    }
    return this.put(event) ? event.idempotency_key : null
  }

  /** Put an event into the queue as it is. Returns whether it was taken; else `failed` is told. */
  put(event: OutgoingEvent): boolean {
    if (this.closed) return this.leaveOut(event, 'The client is closed: an event was not taken', 'closed')
    const { bufferMax: max = 100_000, bufferBytesMax: bytesMax = 2 ** 26 } = this.options
    const full = (many: string) =>
      this.leaveOut(event, `${many} already: an event was not taken${because(this.problem)}`, 'queue_full')
    if (this.size >= max) return full(`${max} events wait`)
    const json = textOf(event)
    if (json instanceof Error)
      return this.leaveOut(event, `An event was refused: it is no JSON: ${json.message}`, 'event_refused')
    const bytes = bytesOf(json)
    if (this.bytes + bytes > bytesMax) return full(`${this.bytes} bytes of events wait`)
    this.bytes += bytes
    this.waiting.push({ key: event.idempotency_key, json, bytes })
    if (this.waiting.length >= this.batchMax) this.begin()
    else if (this.timer === null && this.sending === null) {
      this.timer = setTimeout(() => this.begin(), this.options.flushMs ?? 1_000)
      unref(this.timer)
    }
    return true
  }

  private leaveOut(event: OutgoingEvent, why: string, code: ErrorCode): false {
    this.tell(new TollgateError(0, why, code), [event], false)
    return false
  }

  /**
   * Send the queue. Resolves when everything added until now is acknowledged or given up.
   *
   * errors  TollgateError `events_waiting`: the key is refused, or the time is over. The events stay in the queue.
   */
  async flush(timeoutMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    let refuse: (error: TollgateError) => void = () => {}
    const refused = new Promise<never>((_, reject) => {
      refuse = reject
    })
    this.refusals.add(refuse)
    if (Number.isFinite(timeoutMs))
      timer = setTimeout(() => refuse(this.late(`for ${timeoutMs} ms`)), timeoutMs)
    try {
      await Promise.race([this.drain(), refused])
    } finally {
      clearTimeout(timer)
      this.refusals.delete(refuse)
    }
  }

  private async drain(): Promise<void> {
    this.retry()
    while (this.size > 0 && !this.closed) {
      this.begin()
      await this.sending
    }
  }

  private late(how: string): TollgateError {
    const { size, problem } = this
    return new TollgateError(
      problem?.status ?? 0,
      `${size} ${size === 1 ? 'event is' : 'events are'} not acknowledged ${how} and stay in the queue${because(problem)}`,
      'events_waiting',
      { cause: problem },
    )
  }

  /** Try again now; or, where the service named a time to wait for, then. */
  retry(): void {
    this.wake?.(false)
  }

  /** The key is another one: what the former one was told means nothing. */
  keyChanged(): void {
    this.wake?.(true)
  }

  /** As `flush`, within this time, ms. Returns the number of events that were not acknowledged. */
  async close(withinMs: number): Promise<number> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, withinMs)
    })
    // the process ends: there is no later time
    this.wake?.(true)
    await Promise.race([this.drain(), late])
    clearTimeout(timer)
    const left = [...this.inFlight, ...this.waiting]
    if (left.length > 0 && !this.closed) {
      const line = `The client closed with ${left.length} events that were not acknowledged in ${withinMs} ms`
      this.tell(new TollgateError(0, `${line}${because(this.problem)}`, 'closed'), left.map(eventOf), false)
    }
    this.closed = true
    this.wake?.(true)
    return left.length
  }

  /**
   * The page is closing: send the whole queue once, without waiting for answers. Events in flight are sent
   * again; the idempotency key makes them count once.
   */
  leave(): void {
    const send = (texts: readonly string[]) =>
      this.post('/event-batch', `{"events":[${texts.join(',')}]}`, true).catch(() => {})
    let texts: string[] = []
    let bytes = 0
    for (const event of [...this.inFlight, ...this.waiting]) {
      const more = event.bytes + 1
      if (texts.length > 0 && bytes + more > keepAliveBytesMax) {
        send(texts)
        texts = []
        bytes = 0
      }
      texts.push(event.json)
      bytes += more
    }
    if (texts.length > 0) send(texts)
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

  /** Send one batch until the service has taken or refused every event of it. */
  private async send(): Promise<void> {
    const batch = this.waiting.splice(0, this.batchMax)
    this.inFlight = batch
    const parts: (readonly Queued[])[] = [batch]
    while (parts.length > 0 && !this.closed) {
      const [events] = parts as [readonly Queued[]]
      const outcome = await this.attempt(events)
      if (outcome === 'done') {
        parts.shift()
        for (const { bytes } of events) this.bytes -= bytes
        this.inFlight = parts.flat()
      } else if (outcome === 'halve') {
        const half = events.length >> 1
        parts.splice(0, 1, events.slice(0, half), events.slice(half))
      } else await this.pause(outcome)
    }
  }

  /** Returns 'done', 'halve' for events of which one is invalid, or the least delay before the next attempt, ms. */
  private async attempt(events: readonly Queued[]): Promise<'done' | 'halve' | number> {
    let response: Response
    let text: string
    const body = `{"events":[${events.map(({ json }) => json).join(',')}]}`
    this.hooks.sent(keysOf(events))
    try {
      response = await this.post('/event-batch?report=true', body, false)
      text = await response.text()
    } catch (error) {
      const known =
        error instanceof TollgateError ? error : new TollgateError(0, reasonOf(error), 'unreachable')
      return this.keep(known, events, 0)
    }
    const { status } = response
    const { acknowledged, message, isRefusal } = readAnswer(text)
    if (response.ok && acknowledged !== null) {
      this.taken(events, acknowledged)
      return 'done'
    }
    const invalid = !response.ok && codeOf(status) === 'request_invalid'
    // A proxy may refuse anything for reasons of its own. Only that a body is too large is a matter of the body.
    if (invalid && (isRefusal || status === 413)) return this.refuse(events, status, message)
    const error = new TollgateError(status, message, response.ok || invalid ? 'unexpected_answer' : undefined)
    const { headers } = response
    const askedMs = retryAfterMs(headers.get('retry-after'), headers.get('date'), Date.now())
    return this.keep(error, events, Math.min(askedMs, askedMaxMs))
  }

  /** An event that is alone is given up; several are halved, to find the one that is meant. */
  private refuse(events: readonly Queued[], status: number, why: string): 'done' | 'halve' {
    if (events.length > 1) return 'halve'
    this.hooks.taken(keysOf(events))
    const error = new TollgateError(status, `An event was refused: ${why}`, 'event_refused')
    this.tell(error, events.map(eventOf), false)
    return 'done'
  }

  private taken(events: readonly Queued[], answers: readonly Acknowledgement[]): void {
    this.failures = 0
    this.problem = null
    if (this.teller.over('events')) this.teller.info('events are acknowledged again')
    this.hooks.taken(keysOf(events))
    const failed = new Map<string, OutgoingEvent[]>()
    for (const [at, { error }] of answers.entries()) {
      const queued = events[at]
      if (error == null || queued === undefined) continue
      const event = eventOf(queued)
      const same = failed.get(error)
      if (same) same.push(event)
      else failed.set(error, [event])
    }
    for (const [why, some] of failed)
      this.tell(
        new TollgateError(200, `Stored as failed, and counted nowhere: ${why}`, 'event_failed'),
        some,
        false,
      )
  }

  /** The events stay. Logger and `failed` are told at the first attempt of an outage, and when its reason changes. */
  private keep(error: TollgateError, events: readonly Queued[], leastMs: number): number {
    const isNew = this.problem?.code !== error.code
    this.problem = error
    if (isNew) this.teller.over('events')
    const line = `${this.size} events wait and are sent again: ${error.message}`
    if (error.code === 'rate_limited') this.teller.warn('events', line)
    else this.teller.error('events', line)
    if (isNew) this.call(error, events.map(eventOf), true)
    if (error.code === 'key_refused' || error.code === 'forbidden')
      for (const refuse of [...this.refusals]) refuse(this.late(''))
    return leastMs
  }

  /** Events that do not count. */
  private tell(error: TollgateError, events: readonly OutgoingEvent[], kept: boolean): void {
    const keys = events.slice(0, 3).map(one => one.idempotency_key)
    const more = events.length > keys.length ? ` and ${events.length - keys.length} more` : ''
    this.teller.error(error.code, `${error.message} (${keys.join(', ')}${more})`)
    this.call(error, events, kept)
  }

  /** A caller's function that throws is the caller's bug, and must not stop the queue. */
  private call(error: TollgateError, events: readonly OutgoingEvent[], kept: boolean): void {
    try {
      this.options.failed?.(error, events, kept)
    } catch (thrown) {
      this.teller.error('failed', `events.failed threw: ${reasonOf(thrown)}`)
    }
  }

  private pause(leastMs: number): Promise<void> {
    const { code } = this.problem ?? {}
    const maxMs = code === 'key_refused' || code === 'forbidden' ? refusedMaxMs : waitMaxMs
    const waitMs = Math.max(leastMs, Math.min(maxMs, 100 * 2 ** this.failures) * (0.5 + Math.random() / 2))
    this.failures++
    const askedUntilMs = Date.now() + leastMs
    return new Promise(resolve => {
      const wait = (ms: number) => {
        const timer = setTimeout(done, ms)
        unref(timer)
        return timer
      }
      const done = () => {
        clearTimeout(timer)
        this.wake = null
        resolve()
      }
      let timer = wait(waitMs)
      this.wake = isForced => {
        // a clock that was set back adds nothing
        const leftMs = Math.min(leastMs, askedUntilMs - Date.now())
        if (isForced || leftMs <= 0) return done()
        clearTimeout(timer)
        timer = wait(leftMs)
      }
    })
  }
}

interface Acknowledgement {
  readonly error?: string | null
}

/** The acknowledgements of an answer; null: the answer is not Tollgate's, and acknowledges nothing. */
function readAnswer(text: string): {
  readonly acknowledged: readonly Acknowledgement[] | null
  readonly message: string
  /** It says why, as Tollgate does. */
  readonly isRefusal: boolean
} {
  try {
    const { data, error } = JSON.parse(text) as { data?: { events?: unknown }; error?: unknown }
    const acknowledged = Array.isArray(data?.events) ? (data.events as Acknowledgement[]) : null
    if (typeof error === 'string') return { acknowledged, message: error, isRefusal: true }
    return { acknowledged, message: 'The answer names no reason', isRefusal: false }
  } catch {
    return { acknowledged: null, message: 'The answer is no JSON: is it Tollgate?', isRefusal: false }
  }
}

const eventOf = ({ json }: Queued): OutgoingEvent => JSON.parse(json) as OutgoingEvent

const keysOf = (events: readonly Queued[]): readonly string[] => events.map(({ key }) => key)

const encoder = new TextEncoder()

const bytesOf = (text: string): number => encoder.encode(text).length

/** JSON, or why there is none: a bigint, a circle, a text beyond what the runtime can hold. */
function textOf(value: object): string | Error {
  try {
    return JSON.stringify(value)
  } catch (error) {
    return error instanceof Error ? error : new Error(reasonOf(error))
  }
}

function timeOf(at: EventIdentity['at']): string {
  const time = at === undefined ? new Date() : new Date(at)
  if (Number.isNaN(time.getTime()))
    throw new TollgateError(0, `\`at\` is no time: ${String(at)}`, 'options_invalid')
  return time.toISOString()
}

const because = (problem: TollgateError | null): string => (problem === null ? '' : `: ${problem.message}`)
