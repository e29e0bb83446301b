// Encodes validated events for the transfer from the parser thread to the HTTP thread. The cost of a structured clone
// depends on the number of values, so a sub-batch of events is one list of numbers and one text, both transferred.
// Repeated keys and reasons are written once and referred to by number. The receiver decodes one sub-batch at a time.

import { type EventType, eventTypes } from '../../schemas/enums.js'
import type { EventBodyFlagCheck, EventBodyIdentify, InferenceRead } from '../../schemas/events.js'
import type { EventMode } from '../core/model/requests.js'
import { type Quantity, quantityFromText } from '../core/values/quantity.js'
import { parseExactly } from '../json.js'
import type { Judged } from './judge.js'
import { failedBody } from './text.js'

/** Events per sub-batch: the HTTP thread takes one in a turn, or a part of it where they cost more (slices.ts). */
export const eventsPerSubBatch = 128

/** An encoded sub-batch of events, in order. Its buffers are transferred, not copied. */
export interface SubBatch {
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

/** Encodes validated events one after the other. */
export class JudgedWriting {
  /** Number of events with an idempotency key. */
  keyed = 0
  private readonly subBatches: SubBatch[] = []
  private readonly known = new Map<string, number>()
  private readonly encoder = new TextEncoder()
  private numbers: number[] = []
  private text = ''
  private count = 0

  /** Add an invalid event; `body` is the text to store. */
  failed(type: EventType, body: string, reason: string): void {
    this.numbers.push(failed, eventTypes.indexOf(type), body.length)
    this.text += body
    this.refer(reason)
    this.added()
  }

  /** Add a valid event. body: `bodyText` of its body; event: the whole event. */
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
      // the receiver checks the traits and may refuse them (CU-33)
      this.piece(judged.type === 'identify' ? failedBody(event) : null)
    }
    this.added()
  }

  end(): readonly SubBatch[] {
    if (this.count > 0) this.cut()
    return this.subBatches
  }

  private added(): void {
    this.count++
    if (this.count === eventsPerSubBatch) this.cut()
  }

  private cut(): void {
    const { count } = this
    this.subBatches.push({
      count,
      numbers: Float64Array.from(this.numbers),
      text: this.encoder.encode(this.text),
    })
    this.numbers = []
    this.text = ''
    this.count = 0
  }

  /** Write a quantity; a bigint is written as NaN and its digits. */
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

  /** Write a value that may repeat: its number, and on first use the value. */
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

/** Receives the decoded events. */
export interface Taking {
  failed(type: EventType, body: string, reason: string): void
  /**
   * judged  for a track event, only the body members that the service reads.
   * body    the text to store.
   * whole   the text to store if the event is refused later; null if it cannot be.
   */
  judged(judged: Judged, body: string, whole: string | null): void
}

/** Decodes sub-batches in their order. Texts are substrings of the sub-batch's text (`ownText` copies one). */
export class JudgedReading {
  private readonly known: unknown[] = []
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  private numbers = new Float64Array()
  private at = 0
  private text = ''
  private textAt = 0
  /** Events of the sub-batch that are not decoded yet. */
  private left = 0

  /** nowMs  effective time of events without their own, epoch ms. */
  constructor(private readonly nowMs: number) {}

  /** Decode a whole sub-batch. */
  read(subBatch: SubBatch, taking: Taking): void {
    this.begin(subBatch)
    while (this.isReading) this.next(taking)
  }

  /** Begin a sub-batch, whose events `next` decodes one by one. */
  begin(subBatch: SubBatch): void {
    this.numbers = subBatch.numbers as typeof this.numbers
    this.text = this.decoder.decode(subBatch.text)
    this.at = 0
    this.textAt = 0
    this.left = subBatch.count
  }

  /** Whether the sub-batch has more events. */
  get isReading(): boolean {
    return this.left > 0
  }

  next(taking: Taking): void {
    this.left--
    this.event(taking)
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
    const body: unknown = parseExactly(text)
    const time = { mode, capturedAtMs, sentAtMs, idempotencyKey }
    if (type === 'identify') taking.judged({ ...time, type, body: body as EventBodyIdentify }, text, whole)
    else if (type === 'inference') taking.judged({ ...time, type, body: body as InferenceRead }, text, null)
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
    // parsed, so that the kept value does not reference the sub-batch's text
    if (number === this.known.length) this.known.push(JSON.parse(this.piece()!))
    return this.known[number] as T
  }
}
