// Judged events on their way from the thread that read them. What a clone costs is counted in values, so a slice of
// events is one list of numbers and one text, both handed over as they are; keys of companies and users and reasons
// of failures stand there once and are meant by number afterwards. The receiver decodes one slice at a time.

import { type EventType, eventTypes } from '../../schemas/enums.js'
import type { EventBodyFlagCheck, EventBodyIdentify, EventBodyInference } from '../../schemas/events.js'
import type { EventMode } from '../core/company/message.js'
import { type Quantity, quantityFromText } from '../core/usage/quantity.js'
import type { Judged } from './judge.js'
import { failedBody } from './text.js'

/** Events of a slice: what the HTTP thread does with them takes it less than a millisecond. */
export const eventsPerSlice = 128

/** Some events, in order. Its bytes are transferred, not copied. */
export interface Slice {
  readonly count: number
  readonly numbers: Float64Array
  /** UTF-8. */
  readonly text: Uint8Array
}

const failed = 0
const track = 1
const other = 2

const modes: readonly EventMode[] = ['normal', 'trusted', 'backfill']
const none = -1

/** Events as they are judged, one after the other. */
export class JudgedWriting {
  /** Events with an idempotency key so far. */
  keyed = 0
  private readonly slices: Slice[] = []
  private readonly known = new Map<string, number>()
  private readonly encoder = new TextEncoder()
  private numbers: number[] = []
  private text = ''
  private count = 0

  /** An event that broke a rule; `body` as it is kept of it. */
  failed(type: EventType, body: string, reason: string): void {
    this.numbers.push(failed, eventTypes.indexOf(type), body.length)
    this.text += body
    this.refer(reason)
    this.added()
  }

  /** One that passed. body: `bodyText` of its own; event: the whole, as it was judged. */
  judged(judged: Judged, body: string, event: unknown): void {
    const { numbers } = this
    const { mode, capturedAtMs, sentAtMs, idempotencyKey } = judged
    numbers.push(
      judged.type === 'track' ? track : other,
      modes.indexOf(mode),
      capturedAtMs,
      sentAtMs ?? Number.NaN,
      body.length,
    )
    this.text += body
    this.piece(idempotencyKey)
    if (idempotencyKey !== null) this.keyed++
    if (judged.type === 'track') {
      const { event: name, quantity, company, user, lease_id, reservation_id } = judged.body
      this.piece(name)
      this.quantity(quantity ?? 1)
      this.refer(company)
      this.refer(user)
      this.piece(lease_id)
      this.piece(reservation_id)
    } else {
      numbers.push(eventTypes.indexOf(judged.type))
      // its traits are looked at by the receiver, who may refuse them (CU-33)
      this.piece(judged.type === 'identify' ? failedBody(event) : null)
    }
    this.added()
  }

  end(): readonly Slice[] {
    if (this.count > 0) this.cut()
    return this.slices
  }

  private added(): void {
    this.count++
    if (this.count === eventsPerSlice) this.cut()
  }

  private cut(): void {
    const { count } = this
    this.slices.push({
      count,
      numbers: Float64Array.from(this.numbers),
      text: this.encoder.encode(this.text),
    })
    this.numbers = []
    this.text = ''
    this.count = 0
  }

  /** One that no number holds is NaN, and its digits. */
  private quantity(quantity: Quantity): void {
    if (typeof quantity === 'number') this.numbers.push(quantity)
    else {
      this.numbers.push(Number.NaN)
      this.piece(String(quantity))
    }
  }

  private piece(text: string | null | undefined): void {
    if (text === null || text === undefined) this.numbers.push(none)
    else {
      this.numbers.push(text.length)
      this.text += text
    }
  }

  /** A value that others may have too: its number, and at its first sight the value. */
  private refer(value: string | object | null | undefined): void {
    if (value === null || value === undefined) {
      this.numbers.push(none)
      return
    }
    const json = JSON.stringify(value)
    const number = this.known.get(json)
    this.numbers.push(number ?? this.known.size)
    if (number !== undefined) return
    this.known.set(json, this.known.size)
    this.piece(json)
  }
}

/** What is done with each event of a slice. */
export interface Taking {
  failed(type: EventType, body: string, reason: string): void
  /**
   * judged  of a track event's body only the members that the service reads.
   * body    as it is stored.
   * whole   what is kept of the event if it is refused yet; null of one that cannot be.
   */
  judged(judged: Judged, body: string, whole: string | null): void
}

/** The same events again; slices are read in their order. Texts are parts of their slice's one text (`ownText`). */
export class JudgedReading {
  private readonly known: unknown[] = []
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  private numbers = new Float64Array()
  private at = 0
  private text = ''
  private textAt = 0

  /** nowMs  effective time of events that tell none, epoch ms. */
  constructor(private readonly nowMs: number) {}

  read(slice: Slice, taking: Taking): void {
    this.numbers = slice.numbers as typeof this.numbers
    this.text = this.decoder.decode(slice.text)
    this.at = 0
    this.textAt = 0
    for (let i = 0; i < slice.count; i++) this.event(taking)
  }

  private event(taking: Taking): void {
    const kind = this.number()
    if (kind === failed) {
      const type = eventTypes[this.number()]!
      const body = this.slice(this.number())
      taking.failed(type, body, this.value<string>()!)
      return
    }
    const mode = modes[this.number()]!
    const givenAtMs = this.number()
    const capturedAtMs = mode === 'normal' ? this.nowMs : givenAtMs
    const sent = this.number()
    const sentAtMs = Number.isNaN(sent) ? null : sent
    const text = this.slice(this.number())
    const idempotencyKey = this.piece()
    if (kind === track) {
      const body = {
        event: this.piece()!,
        quantity: this.quantity(),
        company: this.value<Record<string, string>>(),
        user: this.value<Record<string, string>>(),
        lease_id: this.piece(),
        reservation_id: this.piece(),
      }
      taking.judged({ type: 'track', mode, capturedAtMs, sentAtMs, idempotencyKey, body }, text, null)
      return
    }
    const type = eventTypes[this.number()]!
    const whole = this.piece()
    const body: unknown = JSON.parse(text)
    const time = { mode, capturedAtMs, sentAtMs, idempotencyKey }
    if (type === 'identify') taking.judged({ ...time, type, body: body as EventBodyIdentify }, text, whole)
    else if (type === 'inference')
      taking.judged({ ...time, type, body: body as EventBodyInference }, text, null)
    else if (type === 'flag_check')
      taking.judged({ ...time, type, body: body as EventBodyFlagCheck }, text, null)
  }

  private number(): number {
    return this.numbers[this.at++]!
  }

  private quantity(): Quantity {
    const quantity = this.number()
    return Number.isNaN(quantity) ? quantityFromText(this.piece()!) : quantity
  }

  private slice(length: number): string {
    const from = this.textAt
    this.textAt = from + length
    return this.text.slice(from, from + length)
  }

  private piece(): string | null {
    const length = this.number()
    return length === none ? null : this.slice(length)
  }

  private value<T>(): T | null {
    const number = this.number()
    if (number === none) return null
    // parsed, so that what is kept of it is a text of its own
    if (number === this.known.length) this.known.push(JSON.parse(this.piece()!))
    return this.known[number] as T
  }
}
