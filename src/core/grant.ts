// Grants: what a company was given, in which order it burns, until when it lasts, and how a plan gives it again.
import type {
  BillingCreditExpiryType,
  BillingCreditExpiryUnit,
  BillingCreditGrantReason,
  BillingCreditGrantZeroedOutReason,
  BillingPlanCreditGrantResetCadence,
  BillingPlanCreditGrantResetStart,
  PlanCreditGrantScaling,
} from '../../schemas/enums.js'
import type { Amount, Nanos } from './amount.js'

/** A grant that can still move: usable, not yet valid, or closed with credits still inside holds. */
export interface GrantState {
  /** bcgr_…, derived from company, credit and `seq`. */
  readonly id: string
  /** Sequence of the ledger entry that made it; slices name a grant by it. */
  readonly seq: number
  readonly reason: BillingCreditGrantReason
  quantity: Amount
  /** Drawable part. Negative on the overdraft alone (CR-51). */
  remaining: Amount
  /** Unspent part inside open holds; not in `remaining`. */
  held: Amount
  readonly createdAtMs: number
  readonly validFromMs: number
  /** null: none of its own; a resetting plan grant ends at its reset (CR-40). */
  expiresAtMs: number | null
  /** The plan credit grant it was issued under; rollovers carry that of their source. */
  readonly planGrantId: string | null
  /** 1-based instance of a per-licence grant; null for others. */
  readonly licence: number | null
  /** Why it was zeroed; null while it lives. */
  closed: BillingCreditGrantZeroedOutReason | null
}

/** A grant that is used up and in no hold: it only counts in the total until it ends (CR-5, CR-12). */
export interface SpentGrant {
  readonly seq: number
  readonly quantity: Amount
  readonly expiresAtMs: number | null
}

/** What a movement did to one grant: its sequence, the credits moved (positive), what it has left after. */
export type Slice = readonly [seq: number, moved: Nanos, left: Nanos]

/** The birth of a grant, as an effect carries it. Absent members are null. */
export interface NewGrant {
  readonly reason: BillingCreditGrantReason
  readonly q: Nanos
  /** valid_from where it is not the creation time. */
  readonly from?: number
  readonly exp?: number
  /** Plan credit grant and plan it was issued under. */
  readonly pg?: string
  readonly plan?: string
  readonly licence?: number
  /** Sequence of the grant it was rolled over from. */
  readonly source?: number
  readonly bundle?: string
}

/** A company's standing under one plan credit grant: what its resets need, resolved when it was issued. */
export interface Enrolment {
  readonly planGrantId: string
  readonly planId: string
  readonly versionId: string
  /** Whole credits (CR-3). */
  readonly creditAmount: number
  readonly companyCreditAmount: number
  readonly scaling: PlanCreditGrantScaling
  readonly licences: number
  /** null: issued once. */
  readonly cadence: BillingPlanCreditGrantResetCadence | null
  readonly resetStart: BillingPlanCreditGrantResetStart | null
  readonly rolloverPercentage: number
  readonly enrolledAtMs: number
  /** What billing-period resets count from. */
  readonly anchorMs: number
  readonly nextResetMs: number | null
  /** Set once the plan was left: no reset, and no second issue before this instant (CR-39). */
  readonly leftUntilMs: number | null
}

/** How long a grant is to last (CR-32). */
export interface ExpiryRule {
  readonly type: BillingCreditExpiryType
  readonly unit: BillingCreditExpiryUnit | null
  readonly count: number | null
}

/** The billing period that dates are worked out from; null stands for a company without a subscription. */
export interface BillingPeriod {
  readonly startMs: number
  readonly endMs: number
  readonly intervalMonths: number
}
