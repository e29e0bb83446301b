// A company's account in one credit: its state, what may be asked of it, what changes it, and its figures.
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingCreditAutoTopupAvailability,
  BillingCreditBurnStrategy,
  BillingCreditGrantReason,
  BillingCreditGrantZeroedOutReason,
  BillingCreditLedgerAuthority,
  CreditTransferReason,
} from '../../schemas/enums.js'
import type { Amount, Nanos } from './amount.js'
import type {
  BillingPeriod,
  Enrolment,
  ExpiryRule,
  GrantState,
  NewGrant,
  Slice,
  SpentGrant,
} from './grant.js'
import type { ClosedHold, HoldKind, HoldState, HoldView } from './lease.js'

/**
 * The account of one (company, credit). Plain data; amounts are bigint, so JSON goes through
 * `encodeAccount`/`decodeAccount`. Changed by `applyCredit` alone.
 */
export interface CreditAccount {
  readonly companyId: string
  readonly creditId: string
  /** Of the last ledger entry; strictly increasing (CR-89). */
  sequence: number
  /** Oldest first (CR-23). */
  grants: GrantState[]
  /** Carries what was used past zero (CR-51); made with the first such use. */
  overdraft: GrantState | null
  /** Since when the overdraft has stood; null while nothing is owed. */
  overdrawnSinceMs: number | null
  lease: HoldState | null
  reservations: HoldState[]
  /** Recent, oldest first, at most 256. */
  closed: ClosedHold[]
  spent: SpentGrant[]
  /** Total of spent grants without an end that are no longer kept one by one. */
  spentForever: Amount
  enrolments: Enrolment[]
  topup: TopupState
  /** Sequence of the grant that takes refunds (CR-60); null before the first. */
  refundSeq: number | null
  /** Balance told from outside, for accounts kept elsewhere (CR-6). */
  external: { readonly remaining: Amount; readonly total: Amount; readonly atMs: number } | null
}

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

/** What the definitions and the subscription say about one account now. */
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
  readonly period: BillingPeriod | null
  /** End of the running trial; null when there is none. */
  readonly trialEndMs: number | null
  /** Smallest cap that applies to this company (and user); null: none. */
  readonly maxPerDraw: Amount | null
}

export interface TopupConfig {
  readonly availability: BillingCreditAutoTopupAvailability
  /** Whole credits. */
  readonly amount: number
  readonly thresholdCredits: number | null
  /** Of the plan grant's current quantity. */
  readonly thresholdPercent: number | null
  readonly planGrantId: string
  readonly expiry: ExpiryRule
  /** False: a payment comes first, and `credit_topup_result` tells of it. */
  readonly atOnce: boolean
}

/** The figures of one account at one instant, nano-credits (CR-4, CR-5). */
export interface CreditFigures {
  readonly remaining: bigint
  readonly reserved: bigint
  readonly settled: bigint
  readonly total: bigint
}

/**
 * What changed in one account. `c` credit id; `seq` sequence of its first ledger entry; `at` entry time (epoch ms);
 * `now` processing time where it differs; `s` slices; `f`, `e`, `u` feature, event and user; `un` uncovered.
 * Each carries resolved amounts, so that replay needs no definitions.
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
      readonly seq: number
      readonly at: number
      readonly h: string
      readonly k: HoldKind
      readonly why: 'released' | 'expired' | 'settled' | 'archived'
      readonly s: readonly Slice[]
    }
  /** Grants end; slices are what was written off, zero included. */
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
  | {
      readonly t: 'credit_topup'
      readonly c: string
      readonly at: number
      readonly settings: TopupSettings | null
      readonly pending: boolean
      readonly failures: number
    }
  | {
      readonly t: 'credit_external'
      readonly c: string
      readonly at: number
      readonly remaining: Nanos
      readonly total: Nanos
    }

/** What may be asked of a company about one credit. Amounts are nano-credits, quantities whole credits. */
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
    }
  | { readonly type: 'credit_release'; readonly leaseId: string }
  | {
      readonly type: 'credit_reserve'
      readonly creditId: string
      readonly amount: Amount
      readonly expiresAtMs: number | null
      readonly key: string | null
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

export interface GrantView {
  readonly id: string
  readonly seq: number
  readonly reason: BillingCreditGrantReason
  readonly quantity: Amount
  readonly remaining: Amount
  readonly held: Amount
  readonly createdAtMs: number
  readonly validFromMs: number
  readonly expiresAtMs: number | null
  readonly planGrantId: string | null
  readonly licence: number | null
  readonly closed: BillingCreditGrantZeroedOutReason | null
}

export type CreditReply =
  | { readonly type: 'grants'; readonly grants: readonly GrantView[] }
  | { readonly type: 'hold'; readonly hold: HoldView }
  | { readonly type: 'done' }

export function emptyAccount(companyId: string, creditId: string): CreditAccount {
  return {
    companyId,
    creditId,
    sequence: 0,
    grants: [],
    overdraft: null,
    overdrawnSinceMs: null,
    lease: null,
    reservations: [],
    closed: [],
    spent: [],
    spentForever: 0n,
    enrolments: [],
    topup: { settings: null, pending: false, failures: 0 },
    refundSeq: null,
    external: null,
  }
}
