// The state of a credit account: grants, holds, renewals, top-ups, configuration, effects.

import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingCreditAutoTopupAvailability,
  BillingCreditBurnStrategy,
  BillingCreditExpiryType,
  BillingCreditExpiryUnit,
  BillingCreditGrantReason,
  BillingCreditGrantZeroedOutReason,
  BillingCreditLedgerAuthority,
  BillingPlanCreditGrantResetCadence,
  BillingPlanCreditGrantResetStart,
  BudgetPeriod,
  CreditTransferReason,
  PlanCreditGrantScaling,
} from '../../../schemas/enums.js'
import type { Amount, Nanos } from '../values/amount.js'
import { interned } from '../values/shared-names.js'
import { ClosedHolds, type HoldKind } from './closed-holds.js'
import type { Refusal } from './requests.js'

/**
 * The account of one (company, credit). Amounts are bigint and closed holds a list of their own, so JSON goes through
 * `encodeAccount`/`decodeAccount`. Changed by `applyCredit` and `drawFromFirst` alone.
 */
export interface CreditAccount {
  readonly companyId: string
  readonly creditId: string
  /** Sequence of the last ledger entry; strictly increasing (CR-89). */
  sequence: number
  /** Holds use past zero (CR-51); made with the first such use. */
  overdraft: GrantState | null
  /** Cached result of `drawFromFirst`; not in snapshots. */
  burning: Burning | null
  /** Oldest first (CR-23). */
  grants: GrantState[]
  /** The same grants in the order they burn (`inBurnOrder`), while the list is this one; null: not sorted. Not in snapshots. */
  order: {
    readonly of: readonly GrantState[]
    readonly strategy: BillingCreditBurnStrategy
    readonly grants: readonly GrantState[]
  } | null
  /** Begin of the overdraft; null while nothing is owed. */
  overdrawnSinceMs: number | null
  lease: HoldState | null
  reservations: readonly HoldState[]
  /** Recent, oldest first, at most 256. */
  closed: ClosedHolds
  spent: readonly SpentGrant[]
  /** Total of spent grants without an end that are no longer kept one by one. */
  spentForever: Amount
  enrolments: readonly Enrolment[]
  /** Grants by hand that are given again (decision 30). */
  renewals: readonly GrantRenewal[]
  topup: Readonly<TopupState>
  /** Sequence of the grant that takes refunds (CR-60); null before the first. */
  refundSeq: number | null
  /** Balance reported from outside, for accounts kept elsewhere (CR-6). */
  external: { readonly remaining: Amount; readonly total: Amount; readonly atMs: number } | null
  /** Credits spent in windows of spend policies (BU-1); nearly always empty. */
  spending: readonly SpentWindow[]
}

/** Credits spent and held in the window of a spend policy that began at an instant. */
export interface SpentWindow {
  readonly policyId: string
  readonly startMs: number
  readonly spent: Amount
}

/** A window of a spend policy that a use counts in (BU-1). */
export interface BudgetWindow {
  readonly policyId: string
  readonly label: string | null
  readonly period: BudgetPeriod
  readonly startMs: number
  /** Exclusive: when it resets. */
  readonly endMs: number
  readonly max: Amount
  readonly hard: boolean
}

/** A window as an effect carries it: credits that are spent in it (negative: given back), its bound and its end. */
export type BudgetPart = readonly [policyId: string, startMs: number, moved: Nanos, max: Nanos, endMs: number]

export interface TopupState {
  /** The company's own settings (CR-55, user_controlled); null before it chose. */
  settings: TopupSettings | null
  /** Waiting for a payment: none is started meanwhile. */
  pending: boolean
  /** Failures in a row (CR-56). */
  failures: number
}

/** Whole credits; null leaves the plan's value. */
export interface TopupSettings {
  readonly enabled: boolean
  readonly amount: number | null
  readonly thresholdCredits: number | null
}

/** Configuration of one account, from the definitions and the subscription, at this instant. */
export interface CreditConfig {
  readonly burnStrategy: BillingCreditBurnStrategy
  readonly ledgerAuthority: BillingCreditLedgerAuthority
  /** null: prepaid. `limit` null: no floor (CR-51). */
  readonly overdraft: {
    readonly limit: Amount | null
    readonly arrearsCadence: BillingArrearsCadence
    readonly arrearsAnchor: BillingArrearsAnchor
  } | null
  readonly topup: TopupConfig | null
  /** The credit's own, for grants that name none (CR-34). */
  readonly defaultExpiry: ExpiryRule
  readonly period: BillingPeriod | null
  /** End of the running trial; null when there is none. */
  readonly trialEndMs: number | null
  /** Smallest cap that applies to this company (and user); null: none. */
  readonly maxPerDraw: Amount | null
  /** Windows of spend policies that a use counts in; absent: none. */
  readonly windows?: readonly BudgetWindow[]
}

/** Reason of a top-up's final failure: the credit has no price, or the payment provider refused for good. */
export type TopupFailure = 'no_price' | 'payment_refused'

export interface TopupConfig {
  readonly availability: BillingCreditAutoTopupAvailability
  /** Whole credits. */
  readonly amount: number
  readonly thresholdCredits: number | null
  /** Threshold in percent of the plan grant's current quantity. */
  readonly thresholdPercent: number | null
  readonly planGrantId: string
  readonly expiry: ExpiryRule
  /** False: a payment comes first, and `credit_topup_result` reports it. */
  readonly atOnce: boolean
  /** False: the credit has lost its price since this was configured, and every attempt fails (CR-56). */
  readonly priced: boolean
}

/** The figures of one account at one instant, nano-credits (CR-4, CR-5). */
export interface CreditFigures {
  readonly remaining: bigint
  readonly reserved: bigint
  readonly settled: bigint
  readonly total: bigint
}

/**
 * A change of one account. `c` credit id; `seq` sequence of its first ledger entry; `at` entry time (epoch ms); `now`
 * processing time where it differs; `s` slices; `f`, `e`, `u` feature, event and user; `un` uncovered. Each carries
 * resolved amounts, so that replay needs no definitions.
 */
export type CreditEffect =
  /** A grant begins: +quantity. The grant's sequence is `seq`. */
  | {
      readonly t: 'credit_grant'
      readonly c: string
      readonly seq: number
      readonly at: number
      readonly g: NewGrant
    }
  /** A direct draw. `ext`: credits only recorded, the balance being kept elsewhere (CR-6). */
  | {
      readonly t: 'credit_draw'
      readonly c: string
      /** Windows that it counts in (BU-2); absent: none. */
      readonly b?: readonly BudgetPart[]
      readonly seq: number
      readonly at: number
      readonly now?: number
      readonly s: readonly Slice[]
      readonly un?: Nanos
      readonly ext?: Nanos
      readonly f?: string
      readonly e?: string
      readonly u?: string
    }
  /** Credits come back into the refund grant, whose quantity and end become `q` and `exp` (CR-60, CR-61). */
  | {
      readonly t: 'credit_refund'
      readonly c: string
      readonly seq: number
      readonly at: number
      readonly now?: number
      readonly s: Slice
      readonly q: Nanos
      readonly exp: number
      readonly f?: string
      readonly e?: string
      readonly u?: string
    }
  /** A hold opens (`open`) or a lease is extended. */
  | {
      readonly t: 'credit_hold'
      readonly c: string
      /** Windows that it counts in (BU-2); absent: none. */
      readonly b?: readonly BudgetPart[]
      readonly seq: number
      readonly at: number
      readonly h: string
      readonly k: HoldKind
      readonly open: boolean
      readonly s: readonly Slice[]
      readonly exp: number
      readonly key?: string
      readonly f?: string
      readonly u?: string
    }
  /** Use taken out of a hold: slices are (grant, credits). `cost` in full, `un` what the hold lacked (CR-74). */
  | {
      readonly t: 'credit_commit'
      readonly c: string
      /** Windows that it counts in and its hold does not (BU-4); absent: none. */
      readonly b?: readonly BudgetPart[]
      readonly seq: number
      readonly at: number
      readonly now?: number
      readonly h: string
      readonly k: HoldKind
      readonly s: readonly (readonly [seq: number, moved: Nanos])[]
      readonly cost: Nanos
      readonly un?: Nanos
      readonly f?: string
      readonly e?: string
      readonly u?: string
    }
  /** A hold ends; its unspent part returns. */
  | {
      readonly t: 'credit_release'
      readonly c: string
      /** Windows that it counts in (BU-2); absent: none. */
      readonly b?: readonly BudgetPart[]
      readonly seq: number
      readonly at: number
      readonly h: string
      readonly k: HoldKind
      readonly why: 'released' | 'expired' | 'settled' | 'archived'
      readonly s: readonly Slice[]
    }
  /** Grants end; slices are the credits written off, zero included. */
  | {
      readonly t: 'credit_zero_out'
      readonly c: string
      readonly seq: number
      readonly at: number
      readonly r: BillingCreditGrantZeroedOutReason
      readonly s: readonly Slice[]
    }
  | {
      readonly t: 'credit_transfer'
      readonly c: string
      readonly seq: number
      readonly at: number
      readonly r: CreditTransferReason
      readonly from: Slice
      readonly to: Slice
    }
  | { readonly t: 'credit_enrol'; readonly c: string; readonly at: number; readonly e: Enrolment }
  /** A renewal begins, gave its grants, moves, or is over. */
  | { readonly t: 'credit_renew'; readonly c: string; readonly at: number; readonly r: GrantRenewal }
  | {
      readonly t: 'credit_topup'
      readonly c: string
      readonly at: number
      readonly settings: TopupSettings | null
      readonly pending: boolean
      readonly failures: number
      /** Reason of a hard failure, which a retry does not mend. */
      readonly hard?: TopupFailure
    }
  | {
      readonly t: 'credit_external'
      readonly c: string
      readonly at: number
      readonly remaining: Nanos
      readonly total: Nanos
    }

/** Requests to a company about one credit. Amounts are nano-credits, quantities whole credits. */
export type CreditMessage =
  | {
      readonly type: 'credit_grant'
      readonly creditId: string
      readonly reason: BillingCreditGrantReason
      readonly quantity: number
      /** Bundles bought: one grant each (CR-13). */
      readonly count: number
      readonly validFromMs: number | null
      /** Wins over `expiry`. */
      readonly expiresAtMs: number | null
      /** null: the credit's default. */
      readonly expiry: ExpiryRule | null
      readonly bundleId: string | null
      readonly currency?: string | null
      /** Given again at each boundary of this period; then `expiresAtMs` and `validFromMs` are null. */
      readonly renewal?: RenewalPeriod | null
    }
  | {
      readonly type: 'credit_zero_out'
      readonly creditId: string
      readonly grantId: string
      readonly reason: BillingCreditGrantZeroedOutReason
    }
  | {
      readonly type: 'credit_lease'
      readonly creditId: string
      readonly amount: Amount
      readonly expiresAtMs: number | null
    }
  | {
      readonly type: 'credit_extend'
      readonly leaseId: string
      readonly amount: Amount
      readonly expiresAtMs: number | null
      readonly key: string | null
      /** The key is known to have extended a lease of the company. */
      readonly used?: boolean
    }
  | { readonly type: 'credit_release'; readonly leaseId: string }
  | {
      readonly type: 'credit_reserve'
      readonly creditId: string
      readonly amount: Amount
      readonly expiresAtMs: number | null
      readonly key: string | null
      /** The key is known to have made a reservation of the company. */
      readonly used?: boolean
      readonly featureId: string | null
      readonly userId: string | null
    }
  | { readonly type: 'credit_reservation_release'; readonly reservationId: string }
  | {
      readonly type: 'credit_topup_settings'
      readonly creditId: string
      readonly settings: TopupSettings | null
    }
  /** How a payment for a top-up ended. `final`: not to be tried again by itself (CR-56). */
  | {
      readonly type: 'credit_topup_result'
      readonly creditId: string
      readonly paid: boolean
      readonly final: boolean
    }
  | { readonly type: 'credit_forgive'; readonly creditId: string }
  | {
      readonly type: 'credit_external_balance'
      readonly creditId: string
      readonly remaining: Amount
      readonly total: Amount
    }

/** A grant with its id, which follows from its sequence. */
export type GrantView = Readonly<GrantState> & { readonly id: string }

export type CreditReply =
  | { readonly type: 'grants'; readonly grants: readonly GrantView[] }
  | { readonly type: 'hold'; readonly hold: HoldView }
  | { readonly type: 'done' }

/** One shared empty list for all accounts, and one initial state of top-ups: a change makes a new one. */
export const none: never[] = []

const noTopup: Readonly<TopupState> = { settings: null, pending: false, failures: 0 }

export function emptyAccount(companyId: string, creditId: string): CreditAccount {
  // members that draws read are next to each other
  return {
    sequence: 0,
    overdraft: null,
    burning: null,
    companyId,
    creditId: interned(creditId),
    grants: none,
    order: null,
    overdrawnSinceMs: null,
    lease: null,
    reservations: none,
    closed: ClosedHolds.none,
    spent: none,
    spentForever: 0n,
    enrolments: none,
    renewals: none,
    topup: noTopup,
    refundSeq: null,
    external: null,
    spending: none,
  }
}

/** The accounts of one company by credit. */
export interface Accounts {
  get(creditId: string): CreditAccount | undefined
  values(): Iterable<CreditAccount>
}

/** The credits of one company, as the core reads them for one message. */
export interface CreditContext {
  readonly companyId: string
  readonly accounts: Accounts
  /** null: no such credit. */
  configOf(creditId: string): CreditConfig | null
}

/** A grant that can still move: usable, not yet valid, or closed with credits still inside holds. */
export interface GrantState {
  /** Sequence of the ledger entry that made it; slices name a grant by it, and its id (`grantId`) follows from it. */
  readonly seq: number
  readonly reason: BillingCreditGrantReason
  quantity: Amount
  /** Drawable part. Negative on the overdraft alone (CR-51). */
  remaining: Amount
  /** Unspent part inside open holds; not in `remaining`. */
  held: Amount
  readonly createdAtMs: number
  readonly validFromMs: number
  /** null: no end of its own; a resetting plan grant ends at its reset (CR-40). */
  expiresAtMs: number | null
  /** The plan credit grant it was issued under; rollovers carry that of their source. */
  readonly planGrantId: string | null
  /** 1-based instance of a per-licence grant; null for others. */
  readonly licence: number | null
  /** Why it was zeroed; null while it lives. */
  closed: BillingCreditGrantZeroedOutReason | null
}

/** A grant that is used up and in no hold: it only counts in the total until it ends (CR-5, CR-12). */
interface SpentGrant {
  readonly seq: number
  readonly quantity: Amount
  readonly expiresAtMs: number | null
}

/** A movement of one grant: its sequence, the credits moved (positive), its rest afterwards. */
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
  /** Currency it was paid in; nothing is decided by it. */
  readonly cur?: string
  /** Cadence of a grant that renews, as callers see it. */
  readonly rn?: BillingPlanCreditGrantResetCadence
}

/** A company's enrolment in one plan credit grant: everything its resets need, resolved when it was issued. */
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
  /** Renewal beside the rest; absent: no renewal. */
  readonly renewal?: Renewal
  readonly enrolledAtMs: number
  /** Anchor of billing-period resets. */
  readonly anchorMs: number
  /** Time of the last reset or renewal, or of the enrolment before the first. */
  readonly issuedAtMs: number
  /** Time of the next reset or renewal; null: none, because it is issued once or the plan was left. */
  readonly nextResetMs: number | null
  /** Set once the plan was left: until then what was drawn counts in what is issued next (decision 33). */
  readonly leftUntilMs: number | null
  /** When the plan was left; absent while it is held. */
  readonly leftAtMs?: number
  /** Begin of the window, where grants were issued again within it; absent: `issuedAtMs`. */
  readonly startMs?: number
  /** End of the window as foreseen when it began; absent: `nextResetMs`. */
  readonly endMs?: number
  /** Drawn in the window from grants that are over, or carried into it; absent: nothing. */
  readonly drawn?: Nanos
  /** The part of `drawn` that was carried in and lay inside holds: it counts no longer once they give it back. Absent: nothing. */
  readonly heldBefore?: Nanos
  /** Plan grants that were left, whose draws count in this window while some of them lie inside holds; absent: none. */
  readonly counts?: readonly string[]
}

/** How long a grant is to last (CR-32). */
export interface ExpiryRule {
  readonly type: BillingCreditExpiryType
  readonly unit: BillingCreditExpiryUnit | null
  readonly count: number | null
}

/** The billing period from which dates are computed; null for a company without a subscription. */
export interface BillingPeriod {
  readonly startMs: number
  readonly endMs: number
  readonly intervalMonths: number
  /** Its day of month and time begin its months; absent: as the bounds show it (decision 34). */
  readonly anchorMs?: number
}

/** One grant's part of a draw. */
export interface Take {
  readonly grant: Readonly<GrantState>
  readonly amount: Amount
}

/** The grant that burns first, and for which times that is so while only draws happen that leave it something. */
export interface Burning {
  readonly grant: GrantState
  readonly strategy: BillingCreditBurnStrategy
  /** Inclusive, epoch ms. */
  readonly fromMs: number
  /** Exclusive, epoch ms: then it ends, or another begins to be valid. */
  readonly untilMs: number
}

/** Where credits come from: slices of grants and, past them, of the overdraft. */
export interface Payment {
  /** The birth of the overdraft grant, before anything takes from it. */
  readonly opens: readonly CreditEffect[]
  readonly slices: readonly Slice[]
  readonly paid: Amount
  /** The part that went past zero. */
  readonly overdrawn: Amount
  /** Sequence of the first entry of the repaid use. */
  readonly seq: number
}

/** Rest of one slice of a hold, in the order it was taken (CR-78). */
interface HoldSlice {
  readonly seq: number
  left: Amount
}

/** An open hold. Its unspent part is the sum of its slices. */
export interface HoldState {
  /** crlse_…, for both kinds; see `holdId`. */
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
  /** Idempotency keys of the reservation, or of the lease's latest extensions. */
  keys: readonly string[]
  /** Windows that it was counted in; absent: none. */
  budget?: readonly BudgetPart[]
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

/** Result of a request about a hold: the hold afterwards and its effects, or the refusal. */
export type HoldDecision =
  | { readonly hold: HoldView; readonly effects: readonly CreditEffect[]; readonly reused: boolean }
  | { readonly refused: Refusal; readonly detail?: string }

export interface HoldRequest {
  readonly amount: Amount
  /** null: the default life. */
  readonly expiresAtMs: number | null
  readonly key?: string | null
  /** The key has been used before, even where the company no longer remembers for what. */
  readonly used?: boolean
  readonly featureId?: string | null
  readonly userId?: string | null
}

/** How a use names itself in the ledger. */
export interface UseLinks {
  readonly featureId: string | null
  readonly eventId: string | null
  readonly userId: string | null
  /** Entry time: the event's effective time (CR-89). */
  readonly atMs: number
}

export interface Commit {
  readonly effect: CreditEffect
  readonly taken: Amount
}

/**
 * Boundaries of renewals: of the billing period (without one, of months since the first grant), or of calendar
 * months.
 */
export type RenewalPeriod = BillingPlanCreditGrantResetStart

/** How a plan grant renews. */
export interface Renewal {
  readonly period: RenewalPeriod
  /** How long each grant lasts; null: as the credit says. */
  readonly expiry: ExpiryRule | null
}

/** A grant by hand that renews. */
export interface GrantRenewal {
  /** Sequences of its grants, oldest first: the first names it, of the others the latest are kept. */
  readonly seqs: readonly number[]
  readonly reason: BillingCreditGrantReason
  /** Whole credits of each grant, and how many grants at once (CR-13). */
  readonly quantity: number
  readonly count: number
  readonly period: RenewalPeriod
  readonly expiry: ExpiryRule
  readonly bundle: string | null
  readonly currency: string | null
  readonly beganMs: number
  readonly issuedMs: number
  /** null: it is over. */
  readonly nextMs: number | null
}
