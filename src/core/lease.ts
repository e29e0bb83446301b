// Holds: the lease that callers share and the reservations of single uses. Both move credits right; release moves them back.
import type { Amount } from './amount.js'

export type HoldKind = 'lease' | 'reservation'

/** What is left of one slice of a hold, in the order it was taken (CR-78). */
export interface HoldSlice {
  readonly seq: number
  left: Amount
}

/** An open hold. Its unspent part is the sum of its slices. */
export interface HoldState {
  /** crlse_…, for both kinds. */
  readonly id: string
  readonly kind: HoldKind
  slices: HoldSlice[]
  /** Lease: granted_amount; reservation: reserved_amount. */
  granted: Amount
  /** Lease: tracked_amount; reservation: settled_amount. May exceed `granted`. */
  tracked: Amount
  readonly createdAtMs: number
  updatedAtMs: number
  expiresAtMs: number
  /** Idempotency key of the reservation. */
  readonly key: string | null
  /** Idempotency keys of the lease's extensions so far. */
  extendKeys: string[]
}

/** A hold that is over, remembered for a while so that a repeat of its release or request is answered. */
export interface ClosedHold {
  readonly id: string
  readonly kind: HoldKind
  readonly granted: Amount
  readonly tracked: Amount
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly releasedAtMs: number
  readonly key: string | null
}

/** A hold as callers see it. */
export interface HoldView {
  readonly id: string
  readonly creditId: string
  readonly kind: HoldKind
  readonly granted: Amount
  readonly tracked: Amount
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly expiresAtMs: number
  /** null while open. */
  readonly releasedAtMs: number | null
}
