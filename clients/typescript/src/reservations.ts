// A check that holds what it allows: the use is settled by an event, or given back.
import { TollgateError } from './errors.js'
import type { EventIdentity } from './events.js'
import type { Context, Preflight } from './options.js'
import type { Check } from './result.js'

/** A hold, in the interface's shape. */
export interface ReservationView {
  readonly id: string
  readonly company_id: string
  readonly credit_type_id: string
  readonly credits_reserved: number
  readonly quantity_reserved: number
  readonly consumption_rate: number
  readonly event_subtype: string | null
  readonly expires_at: string
}

export interface ReserveOptions {
  /** Units to hold; by default the units of the preflight, else 1. */
  readonly quantity?: number
  /** End of the hold; default in one minute, at most in one hour. */
  readonly expiresAt?: Date | string
  /** The same key again gives the same hold. Default a random one. */
  readonly idempotencyKey?: string
  readonly preflight?: Preflight | null
  /** Longest wait for the answer, ms. Default `httpMs` of the client. */
  readonly timeoutMs?: number
}

/** The use that settles a hold. */
export interface Settlement extends EventIdentity {
  /** Units that were used; default those that are held. */
  readonly quantity?: number
  /** Name of the event; default the one the feature counts. */
  readonly event?: string
  readonly traits?: object
}

interface ReservationCalls {
  track(body: object, identity: EventIdentity): string | null
  release(id: string): Promise<unknown>
}

/** The result of `reserve`. */
export class Reserved {
  private over = false

  constructor(
    /** The check that decided. */
    readonly checked: Check,
    /** The hold; null: denied, or the feature is not paid with credits and nothing has to be held. */
    readonly reservation: ReservationView | null,
    private readonly context: Context,
    private readonly calls: ReservationCalls,
  ) {}

  /** Whether the use is allowed. Only then do the work, and settle it. */
  get value(): boolean {
    return this.checked.value
  }

  /**
   * Report the use: the event takes it from the hold, and the rest is free again.
   *
   * returns  the event's idempotency key; null: the queue is full.
   * errors   TollgateError `request_invalid`: it was settled or released before, or has no event's name.
   */
  settle({ quantity, event, traits, ...identity }: Settlement = {}): string | null {
    const name = event ?? this.reservation?.event_subtype ?? this.checked.feature_usage_event
    if (this.over)
      throw new TollgateError(0, 'The reservation was settled or released before', 'request_invalid')
    if (!name)
      throw new TollgateError(
        0,
        'The feature counts no event: name one, `settle({ event })`',
        'request_invalid',
      )
    const { company, user } = this.context
    const key = this.calls.track(
      {
        event: name,
        ...(company && { company }),
        ...(user && { user }),
        quantity: quantity ?? this.reservation?.quantity_reserved ?? 1,
        ...(traits && { traits }),
        ...(this.reservation && { reservation_id: this.reservation.id }),
      },
      identity,
    )
    this.over = key !== null
    return key
  }

  /** Give everything back: the work was not done. */
  async release(): Promise<void> {
    if (this.over) return
    if (this.reservation !== null) await this.calls.release(this.reservation.id)
    this.over = true
  }
}
