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
} from '../../../schemas/enums.js'
import type { Decision } from '../company/message.js'
import { interned } from '../company/shared-names.js'
import { type Amount, decodeAmount, encodeAmount, type Nanos, wholeCredits } from './amount.js'
import {
  effectiveTopup,
  giveGrant,
  giveTopup,
  noteTopup,
  payDebt,
  repayFrom,
  repays,
  topupFailuresMax,
} from './draw.js'
import {
  type BillingPeriod,
  type Burning,
  type Enrolment,
  type ExpiryRule,
  expiryOf,
  type GrantState,
  grantId,
  type NewGrant,
  type Slice,
  type SpentGrant,
} from './grant.js'
import {
  acquireLease,
  type ClosedHold,
  extendLease,
  type HoldDecision,
  type HoldKind,
  type HoldState,
  type HoldView,
  releaseHold,
  reserve,
} from './hold.js'
import { type Draft, draftOf } from './ledger.js'
import { beginRenewal, type GrantRenewal, type RenewalPeriod, renewalOf } from './renewal.js'

/**
 * The account of one (company, credit). Plain data; amounts are bigint, so JSON goes through
 * `encodeAccount`/`decodeAccount`. Changed by `applyCredit` and `drawFromFirst` alone.
 */
export interface CreditAccount {
  readonly companyId: string
  readonly creditId: string
  /** Of the last ledger entry; strictly increasing (CR-89). */
  sequence: number
  /** Carries what was used past zero (CR-51); made with the first such use. */
  overdraft: GrantState | null
  /** What `drawFromFirst` found last, while it holds; not in snapshots. */
  burning: Burning | null
  /** Oldest first (CR-23). */
  grants: GrantState[]
  /** Which kinds of them there are (`kindsOf`): what burns first is found without looking at all. Not in snapshots. */
  kinds: number
  /** Since when the overdraft has stood; null while nothing is owed. */
  overdrawnSinceMs: number | null
  lease: HoldState | null
  reservations: readonly HoldState[]
  /** Recent, oldest first, at most 256. */
  closed: readonly ClosedHold[]
  spent: readonly SpentGrant[]
  /** Total of spent grants without an end that are no longer kept one by one. */
  spentForever: Amount
  enrolments: readonly Enrolment[]
  /** Grants by hand that are given again (decision 30). */
  renewals: readonly GrantRenewal[]
  topup: Readonly<TopupState>
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
  /** The credit's own, for grants that name none (CR-34). */
  readonly defaultExpiry: ExpiryRule
  readonly period: BillingPeriod | null
  /** End of the running trial; null when there is none. */
  readonly trialEndMs: number | null
  /** Smallest cap that applies to this company (and user); null: none. */
  readonly maxPerDraw: Amount | null
}

/** Why a top-up failed for good: the credit has no price, or whoever collects the money says so. */
export type TopupFailure = 'no_price' | 'payment_refused'

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
  /** A renewal begins, gave its grants, moves, or is over. */
  | { readonly t: 'credit_renew'; readonly c: string; readonly at: number; readonly r: GrantRenewal }
  | {
      readonly t: 'credit_topup'
      readonly c: string
      readonly at: number
      readonly settings: TopupSettings | null
      readonly pending: boolean
      readonly failures: number
      /** Of a hard failure, which trying again does not mend: why. */
      readonly hard?: TopupFailure
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

/** One empty list for all accounts, and one state of top-ups before there is any: what changes is a new one. */
const none: never[] = []
const noTopup: Readonly<TopupState> = { settings: null, pending: false, failures: 0 }

export function emptyAccount(companyId: string, creditId: string): CreditAccount {
  // what draws look at lies together
  return {
    sequence: 0,
    overdraft: null,
    burning: null,
    companyId,
    creditId: interned(creditId),
    grants: none,
    kinds: 0,
    overdrawnSinceMs: null,
    lease: null,
    reservations: none,
    closed: none,
    spent: none,
    spentForever: 0n,
    enrolments: none,
    renewals: none,
    topup: noTopup,
    refundSeq: null,
    external: null,
  }
}

/** The accounts of one company by credit. */
interface Accounts {
  get(creditId: string): CreditAccount | undefined
  values(): Iterable<CreditAccount>
}

/** What the core asks about the credits of the company a message is for. */
export interface CreditContext {
  readonly companyId: string
  readonly accounts: Accounts
  /** null: no such credit. */
  configOf(creditId: string): CreditConfig | null
}

/**
 * Decide one credit message. `due` of every account comes first, applied.
 *
 * reply    grants made or touched, the hold as it then stands, or done
 * errors   see Refusal; not_found for a credit that the environment does not have
 * source   CR-10…13, CR-32, CR-45, CR-55, CR-56, CR-70…80, CR-97
 */
export function decideCredit(
  context: CreditContext,
  message: CreditMessage,
  nowMs: number,
): Decision<CreditReply> {
  const creditId = creditOf(context.accounts, message)
  if (creditId === null) {
    return {
      refused: message.type === 'credit_reservation_release' ? 'reservation_not_found' : 'lease_not_found',
    }
  }
  const config = context.configOf(creditId)
  if (config === null) return { refused: 'not_found' }
  const account = context.accounts.get(creditId) ?? emptyAccount(context.companyId, creditId)
  switch (message.type) {
    case 'credit_grant':
      return grantByHand(account, config, message, nowMs)
    case 'credit_zero_out':
      return zeroOutByHand(account, message, nowMs)
    case 'credit_lease':
      return holdReply(acquireLease(account, config, message, nowMs))
    case 'credit_extend':
      return extendOnce(context, account, config, message, nowMs)
    case 'credit_release':
      return holdReply(releaseHold(account, 'lease', message.leaseId, nowMs))
    case 'credit_reserve':
      return reserveAnywhere(context, account, config, message, nowMs)
    case 'credit_reservation_release':
      return holdReply(releaseHold(account, 'reservation', message.reservationId, nowMs))
    case 'credit_topup_settings':
      return done([
        { t: 'credit_topup', c: creditId, at: nowMs, ...account.topup, settings: message.settings },
      ])
    case 'credit_topup_result':
      return done(topupEnded(account, config, message, nowMs))
    case 'credit_forgive': {
      const draft = draftOf(account)
      payDebt(draft, 'postpaid_forgiven', 'postpaid_forgiven', nowMs)
      return done(draft.effects)
    }
    case 'credit_external_balance':
      return done([
        {
          t: 'credit_external',
          c: creditId,
          at: nowMs,
          remaining: encodeAmount(message.remaining),
          total: encodeAmount(message.total),
        },
      ])
  }
}

/** The credit a message is about; for one that names a hold, that of the hold. null when the hold is unknown. */
export function creditOf(accounts: Accounts, message: CreditMessage): string | null {
  if ('creditId' in message) return message.creditId
  const id = message.type === 'credit_reservation_release' ? message.reservationId : message.leaseId
  for (const account of accounts.values()) {
    const holds: readonly { readonly id: string }[] = [...account.reservations, ...account.closed]
    if (account.lease?.id === id || holds.some(hold => hold.id === id)) return account.creditId
  }
  return null
}

function done(effects: readonly CreditEffect[]): Decision<CreditReply> {
  return { reply: { type: 'done' }, effects }
}

function holdReply(decision: HoldDecision): Decision<CreditReply> {
  if ('refused' in decision) return decision
  return { reply: { type: 'hold', hold: decision.hold }, effects: decision.effects }
}

/** An idempotency key is one extension's over all leases of the company. source: CR-73 */
function extendOnce(
  context: CreditContext,
  account: CreditAccount,
  config: CreditConfig,
  message: Extract<CreditMessage, { type: 'credit_extend' }>,
  nowMs: number,
): Decision<CreditReply> {
  const { key, leaseId } = message
  if (key !== null) {
    const elsewhere = (hold: HoldState | ClosedHold): boolean =>
      hold.kind === 'lease' && hold.id !== leaseId && hold.keys.includes(key)
    for (const { lease, closed } of context.accounts.values())
      if ((lease !== null && elsewhere(lease)) || closed.some(elsewhere))
        return { refused: 'idempotency_reused' }
  }
  return holdReply(extendLease(account, config, leaseId, message, nowMs))
}

/** An idempotency key is one reservation's over all credits of the company. source: CR-80 */
function reserveAnywhere(
  context: CreditContext,
  account: CreditAccount,
  config: CreditConfig,
  message: Extract<CreditMessage, { type: 'credit_reserve' }>,
  nowMs: number,
): Decision<CreditReply> {
  const { key } = message
  if (key !== null) {
    const known = (hold: HoldState | ClosedHold): boolean =>
      hold.kind === 'reservation' && hold.keys.includes(key)
    for (const other of context.accounts.values()) {
      if (other.creditId === account.creditId) continue
      if (other.reservations.some(known) || other.closed.some(known)) return { refused: 'idempotency_reused' }
    }
  }
  return holdReply(reserve(account, config, message, nowMs))
}

/** Reasons that callers may grant for; the others are the service's own. source: CR-10 */
const grantable: readonly BillingCreditGrantReason[] = ['free', 'purchased', 'adjustment']
const grantsAtOnceMax = 1_000

function grantByHand(
  account: CreditAccount,
  config: CreditConfig,
  message: Extract<CreditMessage, { type: 'credit_grant' }>,
  nowMs: number,
): Decision<CreditReply> {
  const { quantity, count, reason } = message
  const whole = Number.isSafeInteger(quantity) && quantity > 0
  const some = Number.isSafeInteger(count) && count > 0 && count <= grantsAtOnceMax
  if (!whole || !some || !grantable.includes(reason)) return { refused: 'amount_invalid' }
  const fromMs = message.validFromMs ?? nowMs
  const rule = message.expiry ?? config.defaultExpiry
  const end = message.expiresAtMs ?? expiryOf(rule, nowMs, config.period, config.trialEndMs)
  if (end === 'no_trial') return { refused: 'no_trial' }
  if (end !== null && (end <= nowMs || end <= fromMs)) return { refused: 'expiry_invalid' }
  const draft = draftOf(account)
  const made: number[] = []
  if (message.renewal) {
    const { renewal: period, bundleId: bundle, currency = null } = message
    const terms = { reason, quantity, count, period, expiry: rule, bundle, currency }
    made.push(...beginRenewal(draft, config, terms, nowMs))
    return {
      reply: { type: 'grants', grants: made.map(seq => viewGrant(draft, seq, nowMs)) },
      effects: draft.effects,
    }
  }
  for (let i = 0; i < count; i++) {
    const seq = giveGrant(
      draft,
      {
        reason,
        q: encodeAmount(wholeCredits(quantity)),
        from: fromMs === nowMs ? undefined : fromMs,
        exp: end ?? undefined,
        bundle: message.bundleId ?? undefined,
        cur: message.currency ?? undefined,
      },
      nowMs,
    )
    made.push(seq)
    if (repays(reason)) repayFrom(draft, seq, nowMs)
  }
  return {
    reply: { type: 'grants', grants: made.map(seq => viewGrant(draft, seq, nowMs)) },
    effects: draft.effects,
  }
}

/** A grant as it stands in a draft; one that a debt swallowed whole is told from its birth. */
function viewGrant(draft: Draft, seq: number, nowMs: number): GrantView {
  const grant = draft.account.grants.find(other => other.seq === seq)
  if (grant !== undefined) return viewOf(draft.account, grant)
  const birth = draft.effects.find(effect => effect.t === 'credit_grant' && effect.seq === seq)
  const g = (birth as Extract<CreditEffect, { t: 'credit_grant' }>).g
  return {
    id: grantId(draft.account.companyId, draft.account.creditId, seq),
    seq,
    reason: g.reason,
    quantity: decodeAmount(g.q),
    remaining: 0n,
    held: 0n,
    createdAtMs: nowMs,
    validFromMs: g.from ?? nowMs,
    expiresAtMs: g.exp ?? null,
    planGrantId: null,
    licence: null,
    closed: null,
  }
}

function viewOf({ companyId, creditId }: CreditAccount, grant: GrantState): GrantView {
  return { ...grant, id: grantId(companyId, creditId, grant.seq) }
}

/** Zero a grant out; one that is over already stays as it is. One that renews is given no more. source: CR-45, decision */
function zeroOutByHand(
  account: CreditAccount,
  message: Extract<CreditMessage, { type: 'credit_zero_out' }>,
  nowMs: number,
): Decision<CreditReply> {
  const idOf = (seq: number): string => grantId(account.companyId, account.creditId, seq)
  const renewal = renewalOf(account, seq => idOf(seq) === message.grantId)
  const ends: readonly CreditEffect[] = renewal
    ? [{ t: 'credit_renew', c: account.creditId, at: nowMs, r: { ...renewal, nextMs: null } }]
    : []
  const grant = account.grants.find(other => idOf(other.seq) === message.grantId)
  if (grant?.closed != null)
    return { reply: { type: 'grants', grants: [viewOf(account, grant)] }, effects: ends }
  if (grant === undefined) {
    const spent = account.spent.find(other => idOf(other.seq) === message.grantId)
    if (spent === undefined) return renewal ? done(ends) : { refused: 'grant_not_found' }
    return done([zeroOutEffect(account, spent.seq, 0n, message.reason, nowMs), ...ends])
  }
  const effect = zeroOutEffect(account, grant.seq, grant.remaining, message.reason, nowMs)
  const view: GrantView = { ...viewOf(account, grant), remaining: 0n, closed: message.reason }
  return { reply: { type: 'grants', grants: [view] }, effects: [effect, ...ends] }
}

function zeroOutEffect(
  account: CreditAccount,
  seq: number,
  amount: Amount,
  reason: BillingCreditGrantZeroedOutReason,
  atMs: number,
): CreditEffect {
  return {
    t: 'credit_zero_out',
    c: account.creditId,
    seq: account.sequence + 1,
    at: atMs,
    r: reason,
    s: [[seq, encodeAmount(amount), 0]],
  }
}

/** The payment of a top-up ended. `failures` reaching the bound is when "retries exceeded" is told. source: CR-56 */
function topupEnded(
  account: CreditAccount,
  config: CreditConfig,
  { paid, final }: Extract<CreditMessage, { type: 'credit_topup_result' }>,
  nowMs: number,
): readonly CreditEffect[] {
  if (!account.topup.pending) return []
  const draft = draftOf(account)
  const failures = paid ? 0 : Math.min(account.topup.failures + 1, topupFailuresMax)
  const hard = !paid && final ? 'payment_refused' : undefined
  noteTopup(draft, { pending: false, failures, hard }, nowMs)
  const plan = effectiveTopup(account, config)
  if (paid && plan !== null) giveTopup(draft, config, plan, nowMs)
  return draft.effects
}
