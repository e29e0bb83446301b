// Application of credit effects to an account, and the ledger entries of each effect. Replay and live traffic both
// end here.
import type {
  BillingCreditBurnStrategy,
  BillingCreditGrantReason,
  BillingCreditGrantZeroedOutReason,
  CreditEventType,
  CreditTransferReason,
  CreditUsageReason,
} from '../../../schemas/enums.js'
import type {
  CreditAccount,
  CreditEffect,
  GrantState,
  HoldState,
  NewGrant,
  Slice,
} from '../model/account-state.js'
import { type Amount, decodeAmount, encodeAmount, type Nanos } from '../values/amount.js'
import { interned } from '../values/shared-names.js'
import { countSpending } from './budget.js'
import { burningOf } from './burn-order.js'
import { grantId } from './grant.js'

/** Most closed holds, keys of one lease, and endless spent grants that an account remembers one by one. */
const closedHoldsMax = 256
const keysMax = 64
const spentForeverMax = 64
const closedHoldsMs = 24 * 3_600_000

type Effect<T extends CreditEffect['t']> = Extract<CreditEffect, { readonly t: T }>

/** The function that changes an account, beside `drawFromFirst`. Effects go in the order they were decided. */
export function applyCredit(account: CreditAccount, effect: CreditEffect): void {
  account.burning = null
  switch (effect.t) {
    case 'credit_grant':
      granted(account, effect)
      break
    case 'credit_draw':
      for (const slice of effect.s) left(account, slice, effect.now ?? effect.at)
      break
    case 'credit_refund':
      refunded(account, effect)
      break
    case 'credit_hold':
      held(account, effect)
      break
    case 'credit_commit':
      committed(account, effect)
      break
    case 'credit_release':
      released(account, effect)
      break
    case 'credit_zero_out':
      for (const slice of effect.s) zeroed(account, slice[0], effect)
      break
    case 'credit_transfer':
      left(account, effect.from, effect.at)
      left(account, effect.to, effect.at)
      break
    case 'credit_enrol':
      enrolled(account, effect)
      break
    case 'credit_renew': {
      const others = account.renewals.filter(other => other.seqs[0] !== effect.r.seqs[0])
      account.renewals = effect.r.nextMs === null ? others : [...others, effect.r]
      break
    }
    case 'credit_topup':
      account.topup = { settings: effect.settings, pending: effect.pending, failures: effect.failures }
      break
    case 'credit_external':
      account.external = {
        remaining: decodeAmount(effect.remaining),
        total: decodeAmount(effect.total),
        atMs: effect.at,
      }
      break
  }
  if ('b' in effect && effect.b !== undefined) countSpending(account, effect.b)
  account.sequence += entryCount(effect)
  if (account.overdraft !== null) noteDebt(account, timeOf(effect))
}

/**
 * Draw from the grant that burns first, when it alone pays and keeps something: decided and applied at once, which leaves
 * the account as `drawForEvent` and `applyCredit` of its effect do. Nearly every draw is of this kind.
 *
 * cost     nano-credits > 0, of a prepaid or postpaid account
 * returns  the grant afterwards; its entry has the account's sequence. null: nothing was done, because the draw is of
 *          another kind.
 * source   CR-20…23, CR-48, CR-89
 */
export function drawFromFirst(
  account: CreditAccount,
  strategy: BillingCreditBurnStrategy,
  cost: Amount,
  nowMs: number,
): Readonly<GrantState> | null {
  if (account.overdraft !== null) return null
  let { burning } = account
  if (
    burning === null ||
    nowMs >= burning.untilMs ||
    nowMs < burning.fromMs ||
    burning.strategy !== strategy
  ) {
    burning = burningOf(account, strategy, nowMs)
    account.burning = burning
    if (burning === null) return null
  }
  const { grant } = burning
  const left = grant.remaining - cost
  if (left <= 0n) return null
  grant.remaining = left
  account.sequence++
  return grant
}

/** How many ledger entries, and so sequence numbers, an effect has. */
export function entryCount(effect: CreditEffect): number {
  switch (effect.t) {
    case 'credit_grant':
    case 'credit_refund':
      return 1
    case 'credit_draw':
      return effect.s.length + (effect.ext === undefined ? 0 : 1)
    case 'credit_hold':
    case 'credit_commit':
    case 'credit_release':
      return effect.s.length
    case 'credit_zero_out':
      return effect.s.reduce((count, slice) => (slice[1] === 0 ? count : count + 1), 0)
    case 'credit_transfer':
      return 2
    case 'credit_enrol':
    case 'credit_renew':
    case 'credit_topup':
    case 'credit_external':
      return 0
  }
}

function timeOf(effect: CreditEffect): number {
  return 'now' in effect && effect.now !== undefined ? effect.now : effect.at
}

/** Credits used past zero and not yet paid for; the part taken by open holds is not owed yet. */
export function debtOf(account: Readonly<CreditAccount>): Amount {
  return account.overdraft === null ? 0n : -account.overdraft.remaining - account.overdraft.held
}

function noteDebt(account: CreditAccount, atMs: number): void {
  if (debtOf(account) === 0n) account.overdrawnSinceMs = null
  else account.overdrawnSinceMs ??= atMs
}

function granted(account: CreditAccount, effect: Effect<'credit_grant'>): void {
  const { g, seq, at } = effect
  const quantity = sharedAmount(g.q)
  const grant: GrantState = {
    seq,
    reason: g.reason,
    quantity,
    remaining: quantity,
    held: 0n,
    createdAtMs: at,
    validFromMs: g.from ?? at,
    expiresAtMs: g.exp ?? null,
    planGrantId: g.pg === undefined ? null : interned(g.pg),
    licence: g.licence ?? null,
    closed: null,
  }
  if (g.reason === 'postpaid_overdraft') {
    account.overdraft = grant
    return
  }
  // Creation time orders, creation sequence breaks ties (CR-23); time may step back when a test clock is removed.
  let place = account.grants.length
  while (place > 0 && account.grants[place - 1]!.createdAtMs > at) place--
  account.grants = account.grants.toSpliced(place, 0, grant)
}

/** The grant with this sequence. Throws when there is none: an effect was decided on another account. */
function grantOf(account: CreditAccount, seq: number): GrantState {
  const { grants, overdraft } = account
  if (overdraft !== null && overdraft.seq === seq) return overdraft
  const index = indexOf(grants, seq)
  if (index < 0) throw new Error(`no grant ${seq} in the account of ${account.companyId}`)
  return grants[index]!
}

/** Grants lie by creation time, and so nearly always by sequence: try where it would be before looking everywhere. */
function indexOf(grants: readonly GrantState[], seq: number): number {
  let low = 0
  let high = grants.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = grants[middle]!.seq
    if (found === seq) return middle
    if (found < seq) low = middle + 1
    else high = middle - 1
  }
  return grants.findIndex(grant => grant.seq === seq)
}

function left(account: CreditAccount, slice: Slice, atMs: number): void {
  const grant = grantOf(account, slice[0])
  grant.remaining = decodeAmount(slice[2])
  putAwayIfSpent(account, grant, atMs)
}

/** A grant with nothing left anywhere is put away: dropped when it is closed, else kept for the total (CR-5). */
function putAwayIfSpent(account: CreditAccount, grant: GrantState, atMs: number): void {
  if (grant.remaining !== 0n || grant.held !== 0n || grant === account.overdraft) return
  if (grant.closed === null) {
    // A plan grant ends with its period, the refund grant may grow again, a future one has yet to begin.
    if (grant.reason === 'plan' || grant.seq === account.refundSeq || grant.quantity === 0n) return
    putAway(account, grant, atMs)
  }
  account.grants = account.grants.toSpliced(indexOf(account.grants, grant.seq), 1)
}

function putAway(account: CreditAccount, grant: GrantState, atMs: number): void {
  const { seq, quantity, expiresAtMs } = grant
  const spent = account.spent.filter(other => other.expiresAtMs === null || other.expiresAtMs > atMs)
  spent.push({ seq, quantity, expiresAtMs })
  const endless = spent.filter(other => other.expiresAtMs === null)
  if (endless.length > spentForeverMax) {
    const oldest = endless[0]!
    account.spentForever += oldest.quantity
    spent.splice(spent.indexOf(oldest), 1)
  }
  account.spent = spent
}

function refunded(account: CreditAccount, effect: Effect<'credit_refund'>): void {
  const grant = grantOf(account, effect.s[0])
  grant.quantity = decodeAmount(effect.q)
  grant.remaining = decodeAmount(effect.s[2])
  grant.expiresAtMs = effect.exp
  account.order = null
  account.refundSeq = grant.seq
}

function held(account: CreditAccount, effect: Effect<'credit_hold'>): void {
  const hold = effect.open ? openHold(account, effect) : holdOf(account, effect.h)
  hold.expiresAtMs = effect.exp
  hold.updatedAtMs = effect.at
  if (effect.b !== undefined) hold.budget = [...(hold.budget ?? []), ...effect.b]
  if (effect.key !== undefined) hold.keys = [...hold.keys, effect.key].slice(-keysMax)
  for (const [seq, moved, leftOver] of effect.s) {
    const amount = decodeAmount(moved)
    const grant = grantOf(account, seq)
    grant.remaining = decodeAmount(leftOver)
    grant.held += amount
    hold.granted += amount
    hold.slices.push({ seq, left: amount })
  }
}

function openHold(account: CreditAccount, effect: Effect<'credit_hold'>): HoldState {
  const hold: HoldState = {
    id: effect.h,
    kind: effect.k,
    slices: [],
    granted: 0n,
    tracked: 0n,
    createdAtMs: effect.at,
    updatedAtMs: effect.at,
    expiresAtMs: effect.exp,
    keys: [],
  }
  if (effect.k === 'lease') account.lease = hold
  else account.reservations = account.reservations.concat(hold)
  return hold
}

function holdOf(account: CreditAccount, id: string): HoldState {
  const hold = account.lease?.id === id ? account.lease : account.reservations.find(other => other.id === id)
  if (hold === undefined) throw new Error(`no hold ${id} in the account of ${account.companyId}`)
  return hold
}

function committed(account: CreditAccount, effect: Effect<'credit_commit'>): void {
  const hold = holdOf(account, effect.h)
  const atMs = effect.now ?? effect.at
  hold.tracked += decodeAmount(effect.cost)
  hold.updatedAtMs = atMs
  for (const [seq, moved] of effect.s) {
    const amount = decodeAmount(moved)
    const grant = grantOf(account, seq)
    // Slices are used up in the order they were taken (CR-78), so the first is always the one.
    const first = hold.slices[0]!
    first.left -= amount
    if (first.left === 0n) hold.slices.shift()
    grant.held -= amount
    putAwayIfSpent(account, grant, atMs)
  }
}

function released(account: CreditAccount, effect: Effect<'credit_release'>): void {
  const hold = holdOf(account, effect.h)
  if (account.lease === hold) account.lease = null
  else account.reservations = account.reservations.filter(other => other !== hold)
  for (const [seq, moved, leftOver] of effect.s) {
    const grant = grantOf(account, seq)
    grant.remaining = decodeAmount(leftOver)
    grant.held -= decodeAmount(moved)
  }
  const { id, kind, granted, tracked, createdAtMs, expiresAtMs, keys } = hold
  const over = { id, kind, granted, tracked, createdAtMs, expiresAtMs, releasedAtMs: effect.at, keys }
  account.closed = account.closed.with(account.companyId, over, closedHoldsMax, effect.at - closedHoldsMs)
}

function zeroed(account: CreditAccount, seq: number, effect: Effect<'credit_zero_out'>): void {
  const spent = account.spent.findIndex(other => other.seq === seq)
  if (spent >= 0) {
    account.spent = account.spent.toSpliced(spent, 1)
    return
  }
  const grant = grantOf(account, seq)
  if (grant.reason === 'plan' && endsForGood.has(effect.r)) noteGone(account, grant)
  grant.remaining = 0n
  grant.closed = effect.r
  putAwayIfSpent(account, grant, effect.at)
}

/** Reasons for which a plan grant ends within its window and is not to come back in it. */
const endsForGood: ReadonlySet<BillingCreditGrantZeroedOutReason> = new Set([
  'expired',
  'manual',
  'reconciled',
  'integration_uninstalled',
])

/** All of a plan grant that ended by itself or by hand counts as drawn in its window (decision 33). */
function noteGone(account: CreditAccount, grant: GrantState): void {
  account.enrolments = account.enrolments.map(e =>
    e.planGrantId === grant.planGrantId &&
    e.leftUntilMs === null &&
    grant.createdAtMs >= (e.startMs ?? e.issuedAtMs)
      ? { ...e, drawn: encodeAmount(decodeAmount(e.drawn ?? 0) + grant.quantity) }
      : e,
  )
}

function enrolled(account: CreditAccount, effect: Effect<'credit_enrol'>): void {
  const others = account.enrolments.filter(
    other =>
      other.planGrantId !== effect.e.planGrantId &&
      (other.leftUntilMs === null || other.leftUntilMs > effect.at),
  )
  account.enrolments = [...others, effect.e]
}

/** A copy that `applyCredit` may change without the original noticing. */
export function copyAccount(account: Readonly<CreditAccount>): CreditAccount {
  const copyHold = (hold: HoldState): HoldState => ({
    ...hold,
    slices: hold.slices.map(slice => ({ ...slice })),
  })
  return {
    ...account,
    burning: null,
    order: null,
    grants: account.grants.map(grant => ({ ...grant })),
    overdraft: account.overdraft === null ? null : { ...account.overdraft },
    lease: account.lease === null ? null : copyHold(account.lease),
    reservations: account.reservations.map(copyHold),
  }
}

/** An account in the middle of a decision: each effect is applied as it is decided, so the next one sees it. */
export interface Draft {
  readonly account: CreditAccount
  readonly effects: CreditEffect[]
}

export function draftOf(account: Readonly<CreditAccount>): Draft {
  return { account: copyAccount(account), effects: [] }
}

export function put(draft: Draft, effect: CreditEffect): void {
  applyCredit(draft.account, effect)
  draft.effects.push(effect)
}

/** Take the rest of these grants, in one effect; no effect for no grants. */
export function zeroOut(
  draft: Draft,
  grants: readonly GrantState[],
  reason: BillingCreditGrantZeroedOutReason,
  atMs: number,
): void {
  if (grants.length === 0) return
  put(draft, {
    t: 'credit_zero_out',
    c: draft.account.creditId,
    seq: draft.account.sequence + 1,
    at: atMs,
    r: reason,
    s: grants.map((grant): Slice => [grant.seq, encodeAmount(grant.remaining), 0]),
  })
}

/** Quantities are few and grants are many: equal ones are one bigint, as long as they are remembered. */
const quantitiesMax = 1_000
const quantities = new Map<Nanos, Amount>()

/** The amount of these nano-credits, one for all who have as much. */
export function sharedAmount(nanos: Nanos): Amount {
  const known = quantities.get(nanos)
  if (known !== undefined) return known
  if (quantities.size >= quantitiesMax) quantities.clear()
  const amount = decodeAmount(nanos)
  quantities.set(nanos, amount)
  return amount
}

/** One ledger entry (CR-86…89). Amounts in nano-credits; members that do not apply are null. */
export interface LedgerEntry {
  readonly seq: number
  readonly type: CreditEventType
  readonly creditId: string
  readonly atMs: number
  /** null where no grant moved: a draw recorded for a ledger kept elsewhere. */
  readonly grantId: string | null
  /** Signed effect on the grant's remaining. */
  readonly amount: Amount
  /** Credits consumed; negative for refunds. */
  readonly consumed: Amount
  /** Cost that nothing paid for, on the first entry of a use (CR-88 e). */
  readonly uncovered: Amount
  /** The grant's rest afterwards; null where it did not change. */
  readonly left: Amount | null
  readonly usageReason: CreditUsageReason | null
  readonly zeroedOutReason: BillingCreditGrantZeroedOutReason | null
  readonly transferReason: CreditTransferReason | null
  readonly fromGrantId: string | null
  readonly toGrantId: string | null
  readonly holdId: string | null
  readonly featureId: string | null
  readonly eventId: string | null
  readonly userId: string | null
  /** For entries of type grant. */
  readonly grant: {
    readonly reason: BillingCreditGrantReason
    readonly quantity: Amount
    readonly validFromMs: number
    readonly expiresAtMs: number | null
    readonly planId: string | null
    readonly planGrantId: string | null
    readonly bundleId: string | null
    readonly licence: number | null
    readonly sourceGrantId: string | null
  } | null
}

type Entry = { -readonly [Name in keyof LedgerEntry]: LedgerEntry[Name] }

/** The ledger entries of an effect, in order; none for effects that move no credits. source: CR-86…91 */
export function ledgerEntries(companyId: string, effect: CreditEffect): LedgerEntry[] {
  const entries = entriesOf(companyId, effect)
  if ('un' in effect && effect.un !== undefined && entries.length > 0) {
    entries[0]!.uncovered = decodeAmount(effect.un)
  }
  return entries
}

function entriesOf(companyId: string, effect: CreditEffect): Entry[] {
  const creditId = effect.c
  const idOf = (seq: number): string => grantId(companyId, creditId, seq)
  switch (effect.t) {
    case 'credit_grant': {
      const quantity = decodeAmount(effect.g.q)
      const entry = newEntry(effect, 0, 'grant', idOf(effect.seq), quantity, 0n)
      entry.left = quantity
      entry.grant = grantColumns(effect.g, effect.at, idOf)
      return [entry]
    }
    case 'credit_draw': {
      const entries = effect.s.map(([seq, moved, leftOver], i) => {
        const amount = decodeAmount(moved)
        const entry = useEntry(effect, i, idOf(seq), -amount, amount)
        entry.left = decodeAmount(leftOver)
        return entry
      })
      if (effect.ext === undefined) return entries
      return [...entries, useEntry(effect, entries.length, null, 0n, decodeAmount(effect.ext))]
    }
    case 'credit_refund': {
      const amount = decodeAmount(effect.s[1])
      const entry = useEntry(effect, 0, idOf(effect.s[0]), amount, -amount)
      entry.left = decodeAmount(effect.s[2])
      return [entry]
    }
    case 'credit_hold':
    case 'credit_release':
      return effect.s.map(([seq, moved, leftOver], i) => {
        const amount = decodeAmount(moved)
        const opens = effect.t === 'credit_hold'
        const entry = newEntry(effect, i, 'usage', idOf(seq), opens ? -amount : amount, 0n)
        entry.usageReason = `${effect.k}_${opens ? 'hold' : 'release'}`
        entry.holdId = effect.h
        entry.left = decodeAmount(leftOver)
        if (effect.t === 'credit_hold') {
          entry.featureId = effect.f ?? null
          entry.userId = effect.u ?? null
        }
        return entry
      })
    case 'credit_commit':
      return effect.s.map(([seq, moved], i) => {
        const entry = useEntry(effect, i, idOf(seq), 0n, decodeAmount(moved))
        entry.holdId = effect.h
        return entry
      })
    case 'credit_zero_out':
      return effect.s
        .filter(slice => slice[1] !== 0)
        .map(([seq, moved, leftOver], i) => {
          const entry = newEntry(effect, i, 'zero_out', idOf(seq), -decodeAmount(moved), 0n)
          entry.zeroedOutReason = effect.r
          entry.left = decodeAmount(leftOver)
          return entry
        })
    case 'credit_transfer': {
      const ends = [effect.from, effect.to] as const
      return ends.map(([seq, moved, leftOver], i) => {
        const amount = decodeAmount(moved)
        const entry = newEntry(effect, i, 'transfer', idOf(seq), i === 0 ? -amount : amount, 0n)
        entry.transferReason = effect.r
        entry.fromGrantId = idOf(effect.from[0])
        entry.toGrantId = idOf(effect.to[0])
        entry.left = decodeAmount(leftOver)
        return entry
      })
    }
    case 'credit_enrol':
    case 'credit_renew':
    case 'credit_topup':
    case 'credit_external':
      return []
  }
}

/** One literal for all, so that every entry has one shape: projectors make millions. */
function newEntry(
  effect: { readonly c: string; readonly seq: number; readonly at: number },
  index: number,
  type: CreditEventType,
  grant: string | null,
  amount: Amount,
  consumed: Amount,
): Entry {
  return {
    seq: effect.seq + index,
    type,
    creditId: effect.c,
    atMs: effect.at,
    grantId: grant,
    amount,
    consumed,
    uncovered: 0n,
    left: null,
    usageReason: null,
    zeroedOutReason: null,
    transferReason: null,
    fromGrantId: null,
    toGrantId: null,
    holdId: null,
    featureId: null,
    eventId: null,
    userId: null,
    grant: null,
  }
}

/** An entry of use, with what the use names. */
function useEntry(
  effect: Effect<'credit_draw'> | Effect<'credit_refund'> | Effect<'credit_commit'>,
  index: number,
  grant: string | null,
  amount: Amount,
  consumed: Amount,
): Entry {
  const entry = newEntry(effect, index, 'usage', grant, amount, consumed)
  entry.usageReason = 'track'
  entry.featureId = effect.f ?? null
  entry.eventId = effect.e ?? null
  entry.userId = effect.u ?? null
  return entry
}

function grantColumns(g: NewGrant, atMs: number, idOf: (seq: number) => string): LedgerEntry['grant'] {
  return {
    reason: g.reason,
    quantity: decodeAmount(g.q),
    validFromMs: g.from ?? atMs,
    expiresAtMs: g.exp ?? null,
    planId: g.plan ?? null,
    planGrantId: g.pg ?? null,
    bundleId: g.bundle ?? null,
    licence: g.licence ?? null,
    sourceGrantId: g.source === undefined ? null : idOf(g.source),
  }
}

/** New values of one grant's row after an effect. Absolute values, so that a row may be written twice. */
export interface GrantChange {
  readonly grantId: string
  /** For a new grant; its creation time is the effect's. */
  readonly birth: LedgerEntry['grant']
  readonly atMs: number
  /** Drawable part after; null where it did not change. */
  readonly left: Amount | null
  /** New quantity and end of the refund grant (CR-61). */
  readonly grown: { readonly quantity: Amount; readonly expiresAtMs: number } | null
  readonly zeroedOutReason: BillingCreditGrantZeroedOutReason | null
}

/** Changes of grants' rows, in order; also those that the ledger has no entry for, as the end of an empty grant. */
export function grantChanges(companyId: string, effect: CreditEffect): GrantChange[] {
  const idOf = (seq: number): string => grantId(companyId, effect.c, seq)
  const change = (seq: number, left: Nanos, more: Partial<GrantChange> = {}): GrantChange => ({
    grantId: idOf(seq),
    birth: null,
    atMs: effect.at,
    left: decodeAmount(left),
    grown: null,
    zeroedOutReason: null,
    ...more,
  })
  switch (effect.t) {
    case 'credit_grant':
      return [change(effect.seq, effect.g.q, { birth: grantColumns(effect.g, effect.at, idOf) })]
    case 'credit_draw':
    case 'credit_hold':
    case 'credit_release':
      return effect.s.map(([seq, , left]) => change(seq, left))
    case 'credit_zero_out':
      return effect.s.map(([seq, , left]) => change(seq, left, { zeroedOutReason: effect.r }))
    case 'credit_refund': {
      const grown = { quantity: decodeAmount(effect.q), expiresAtMs: effect.exp }
      return [change(effect.s[0], effect.s[2], { grown })]
    }
    case 'credit_transfer':
      return [effect.from, effect.to].map(([seq, , left]) => change(seq, left))
    case 'credit_commit':
    case 'credit_enrol':
    case 'credit_renew':
    case 'credit_topup':
    case 'credit_external':
      return []
  }
}
