// Requests to an actor: events, checks, preflights, and its refusals. Types only.
import type { EventType } from '../../../schemas/enums.js'
import type { Quantity } from '../values/quantity.js'
import type { Tokens } from './model-price.js'

/** How an event's time was determined (EV-15, EV-16). */
export type EventMode = 'normal' | 'trusted' | 'backfill'

/** An event as accepted: validated, keys resolved, time determined, its id made. */
export interface AcceptedEvent {
  readonly id: string
  readonly type: EventType
  /** track.event, inference.event, flag_check.flag_key, null for identify (EV-70). */
  readonly subtype: string | null
  /** The body as received, compact JSON. */
  readonly body: string
  readonly quantity: Quantity
  readonly mode: EventMode
  /** Effective time (EV-15), epoch ms. */
  readonly capturedAtMs: number
  readonly sentAtMs: number | null
  /** Server receipt, epoch ms. */
  readonly receivedAtMs: number
  readonly apiKeyId: string
  readonly idempotencyKey: string | null
  readonly companyId: string | null
  readonly userId: string | null
  readonly leaseId: string | null
  readonly reservationId: string | null
  /** Set: stored as failed with this message, without effect (EV-6, EV-7, EV-33). */
  readonly failure: string | null
  /** Set on the track event that an inference event fans out to (EV-66): the parent's id. */
  readonly derivedFrom: string | null
  /** Tokens and cost of an inference event (EV-61…63); null cost where no price is known. */
  readonly inference: { readonly tokens: Tokens; readonly cost: InferenceCost | null } | null
}

/** Traits of a use by name, as text: those that groups of spend policies go by (BU-2). */
export type UseTraits = Readonly<Record<string, string>>

/** Decimal text in a currency, and the price it was worked out from; null for a cost that came with the event. */
export interface InferenceCost {
  readonly amount: string
  readonly currency: string
  readonly priceId: string | null
}

/**
 * A check that holds the credits of what it allows, in one step (CR-84). The reply is CheckedAndReserved, or null for
 * an unknown flag.
 */
export interface CheckAndReserve {
  readonly type: 'check_and_reserve'
  readonly flagKey: string
  readonly preflight: Preflight | null
  readonly context: CheckContext
  /** Units; null: those of the preflight, or 1 without one. */
  readonly quantity: Quantity | null
  readonly expiresAtMs: number | null
  readonly key: string | null
  /** The key is known to have made a reservation of the company. */
  readonly used?: boolean
}

/** Reason of an actor's refusal; the API turns it into a status and message. */
export type Refusal =
  | 'not_found'
  | 'no_key_left'
  | 'key_remap'
  | 'no_key_given'
  | 'trait_not_a_number'
  /** A write of a trait would change seats that a subscription of the service bills; `detail` says which (EN-73). */
  | 'seats_paid'
  | 'plan_not_assignable'
  /** Nothing is bought while a downgrade waits (EN-95). */
  | 'downgrade_pending'
  | 'override_exists'
  | 'override_not_found'
  | 'expired'
  | 'insufficient_credits'
  | 'spend_cap'
  | 'credit_external'
  | 'amount_invalid'
  | 'expiry_invalid'
  | 'grant_not_found'
  | 'lease_not_found'
  | 'lease_closed'
  | 'reservation_not_found'
  | 'idempotency_reused'
  | 'idempotency_over'
  | 'no_trial'
  /** It would have too many keys, traits or names of events, or use beyond 64 bits; `detail` says which. */
  | 'entity_full'

/** The context of a check beyond the entities found, for its reason (FE-76). */
export interface CheckContext {
  readonly companyGiven: boolean
  readonly userGiven: boolean
  /** The context as requested, JSON with members `company` and `user`: read for the check's record alone (FE-100). */
  readonly asked: string
  /** The user named, when found. */
  readonly userId: string | null
  /** Its traits by name, when the catalog's rules read users' traits; else null. */
  readonly userTraits: readonly (readonly [name: string, text: string])[] | null
}

/** Hypothetical use given with a single check (FE-80…87). */
export interface Preflight {
  readonly usage: Quantity | null
  readonly eventUsage: { readonly eventSubtype: string; readonly quantity: Quantity } | null
  /** Credits by credit id. */
  readonly creditCost: Readonly<Record<string, number>> | null
}
