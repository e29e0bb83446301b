// The shape of a charge line, and of the price it names. Types only.
import type { BillingTiersMode } from '../../../schemas/enums.js'
import type { PriceTier } from '../model/definitions.js'
import type { Window } from '../values/period.js'
import type { Fraction } from './fraction.js'

export type ChargeKind =
  | 'recurring'
  | 'seat'
  | 'usage'
  | 'overage'
  | 'credit_overdraft'
  | 'bundle'
  | 'discount'
  | 'trial'
  | 'correction'

/** A price as rating needs it. Amounts in the smallest unit of the currency, as decimal text. */
export interface RatedPrice {
  readonly id: string
  /** Lower case. */
  readonly currency: string
  readonly unit: string
  /** Null: every unit costs the same. */
  readonly tiers: readonly PriceTier[] | null
  readonly mode: BillingTiersMode
  /** Units sold together, 1 or more (PB-42). */
  readonly packageSize: number
}

/** A part of a line that one tier priced. */
export interface TierPart {
  /** Inclusive; null on the last tier. */
  readonly upTo: string | null
  /** Units, or packages where the price sells them. */
  readonly units: bigint
  readonly unit: string
  readonly flat: string
  readonly amount: string
}

/** The events behind a quantity. */
export interface EventSum {
  readonly quantity: bigint
  readonly count: number
  readonly firstId: string | null
  readonly lastId: string | null
}

/** The plan version that sold what a line charges. */
export interface SoldIn {
  readonly planId: string
  readonly versionId: string
  readonly version: number
}

/** One reason why a company owes money in one billing period. Times are epoch ms. */
export interface ChargeLine {
  readonly kind: ChargeKind
  /** Kind of the charge that a correction, a discount or a trial is about; else `kind`. */
  readonly of: ChargeKind
  readonly subscriptionId: string | null
  readonly sold: SoldIn | null
  readonly featureId: string | null
  readonly creditId: string | null
  readonly bundleId: string | null
  /** Units: whole, but for credits. */
  readonly quantity: Fraction
  readonly unit: 'credit' | 'item' | 'seat' | 'unit'
  readonly price: RatedPrice | null
  readonly currency: string
  readonly tiers: readonly TierPart[]
  readonly exact: Fraction
  /** `exact`, rounded half up once. */
  readonly amount: bigint
  /** The time it is for. */
  readonly fromMs: number
  readonly untilMs: number
  /** When it falls due. */
  readonly dueMs: number
  /** When a provider reported it, if that was later than it fell due. */
  readonly saidMs?: number
  /** When the charge was made that a credit takes back; absent: it is no credit of one. */
  readonly takesBackMs?: number
  /** The part of a period that a change in its middle is charged for. */
  readonly proration: { readonly leftMs: number; readonly wholeMs: number } | null
  readonly events: (EventSum & { readonly before: bigint; readonly after: bigint }) | null
  /** The window in which units are billed; of a correction, the closed one that it belongs to. */
  readonly window: Window | null
  /** The coupon of a discount. */
  readonly couponId: string | null
}
