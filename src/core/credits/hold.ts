// Holds: the lease that callers share and the reservations of single uses. Both move credits right; release moves them back.
// A hold ends by time in `balance.ts`, like all that time alone changes in an account.

import type {
  Commit,
  CreditAccount,
  CreditConfig,
  CreditEffect,
  GrantState,
  HoldDecision,
  HoldRequest,
  HoldState,
  HoldView,
  Payment,
  Slice,
  UseLinks,
} from '../model/account-state.js'
import type { ClosedHold, HoldKind } from '../model/closed-holds.js'
import type { Preflight, Refusal } from '../model/requests.js'
import { type Amount, costOf, decodeAmount, encodeAmount, lesser } from '../values/amount.js'
import { holdId } from '../values/hold-id.js'
import { hourMs, minuteMs } from '../values/period.js'
import type { Quantity } from '../values/quantity.js'
import { budgetBack, budgetParts, overBudget, windowsBeside } from './budget.js'
import { pay } from './grant.js'
import { draftOf, entryCount, put } from './ledger.js'
import { capacityOf } from './overdraft.js'
import { isIssuedAgain, issueReturned, overdrawnIn } from './plan-return.js'

const defaultLifeMs = { lease: 5 * minuteMs, reservation: minuteMs } as const

/**
 * Open the lease of an account, or give back the one that is open.
 *
 * request  amount: nano-credits wanted; less is held when less may be drawn
 * errors   amount_invalid, expiry_invalid, credit_external, spend_cap, insufficient_credits (nothing drawable)
 * source   CR-70, CR-6, CR-52
 */
export function acquireLease(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  request: HoldRequest,
  nowMs: number,
): HoldDecision {
  const expiresAtMs = endOfHold('lease', request.expiresAtMs, nowMs)
  const refused = refusalOf(config, request.amount, expiresAtMs)
  if (refused !== null) return { refused }
  if (account.lease !== null) return { hold: viewHold(account, account.lease), effects: [], reused: true }
  const over = overBudget(account, config.windows, request.amount)
  if (over !== null) return { refused: 'spend_cap', detail: over }
  const payment = pay(account, config, request.amount, nowMs)
  if (payment.paid === 0n) return { refused: 'insufficient_credits' }
  return open(account, config, 'lease', payment, request, expiresAtMs!, nowMs)
}

/**
 * Hold an amount for one use, all or nothing. A known idempotency key gives the reservation it made.
 *
 * errors   as for a lease; idempotency_reused when the key was used with another amount; idempotency_over when its
 *          reservation ended so long ago that it is forgotten
 * source   CR-80, CR-52
 */
export function reserve(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  request: HoldRequest,
  nowMs: number,
): HoldDecision {
  const expiresAtMs = endOfHold('reservation', request.expiresAtMs, nowMs)
  const refused = refusalOf(config, request.amount, expiresAtMs)
  if (refused !== null) return { refused }
  const earlier = request.key == null ? undefined : reservationOf(account, request.key)
  if (earlier !== undefined) {
    return earlier.granted === request.amount
      ? { hold: earlier, effects: [], reused: true }
      : { refused: 'idempotency_reused' }
  }
  if (request.used) return { refused: 'idempotency_over' }
  const over = overBudget(account, config.windows, request.amount)
  if (over !== null) return { refused: 'spend_cap', detail: over }
  const capacity = capacityOf(account, config, nowMs)
  if (capacity !== null && capacity < request.amount) return { refused: 'insufficient_credits' }
  const payment = pay(account, config, request.amount, nowMs)
  return open(account, config, 'reservation', payment, request, expiresAtMs!, nowMs)
}

function reservationOf(account: Readonly<CreditAccount>, key: string): HoldView | undefined {
  const found =
    account.reservations.find(hold => hold.keys.includes(key)) ?? account.closed.withKey(key, 'reservation')
  return found === undefined ? undefined : viewHold(account, found)
}

/** Whether a reservation of the account was made with an idempotency key. */
export function isReservationKey(account: Readonly<CreditAccount>, key: string): boolean {
  return reservationOf(account, key) !== undefined
}

function refusalOf(config: CreditConfig, amount: Amount, expiresAtMs: number | null): Refusal | null {
  if (config.ledgerAuthority !== 'service_authoritative') return 'credit_external'
  if (amount <= 0n) return 'amount_invalid'
  if (expiresAtMs === null) return 'expiry_invalid'
  return config.maxPerDraw !== null && amount > config.maxPerDraw ? 'spend_cap' : null
}

/** When a hold is to end: after now, at most an hour on; null when it may not. */
function endOfHold(kind: HoldKind, wantedMs: number | null, nowMs: number): number | null {
  const endMs = wantedMs ?? nowMs + defaultLifeMs[kind]
  return endMs > nowMs && endMs <= nowMs + hourMs ? endMs : null
}

function open(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  kind: HoldKind,
  payment: Payment,
  request: HoldRequest,
  expiresAtMs: number,
  nowMs: number,
): HoldDecision {
  const id = holdId(account.companyId, account.creditId, payment.seq)
  const effect: CreditEffect = {
    t: 'credit_hold',
    c: account.creditId,
    seq: payment.seq,
    at: nowMs,
    h: id,
    k: kind,
    open: true,
    s: payment.slices,
    exp: expiresAtMs,
    key: request.key ?? undefined,
    f: request.featureId ?? undefined,
    u: request.userId ?? undefined,
    ...countedIn(config, payment.paid),
  }
  const hold: HoldView = {
    id,
    creditId: account.creditId,
    kind,
    granted: payment.paid,
    tracked: 0n,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs,
    releasedAtMs: null,
  }
  return { hold, effects: [...payment.opens, effect], reused: false }
}

/** The member of an effect that says in which windows it counts; nothing where there are none. */
function countedIn({ windows }: CreditConfig, amount: Amount): Pick<HoldEffect, 'b'> {
  const b = budgetParts(windows, amount)
  return b === undefined ? {} : { b }
}
type HoldEffect = Extract<CreditEffect, { readonly t: 'credit_hold' }>

/**
 * Debit more for a lease and move its end. Less, even nothing, is added when less may be drawn.
 *
 * request  amount ≥ 0; expiresAtMs null keeps the end; a key used before changes nothing
 * errors   lease_not_found, lease_closed, amount_invalid, expiry_invalid, spend_cap
 * source   CR-73
 */
export function extendLease(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  leaseId: string,
  request: HoldRequest,
  nowMs: number,
): HoldDecision {
  const lease = account.lease?.id === leaseId ? account.lease : account.closed.withId(leaseId, 'lease')
  if (lease === undefined) return { refused: 'lease_not_found' }
  if (request.key != null && (request.used || lease.keys.includes(request.key))) {
    return { hold: viewHold(account, lease), effects: [], reused: true }
  }
  if ('releasedAtMs' in lease) return { refused: 'lease_closed' }
  if (request.amount < 0n) return { refused: 'amount_invalid' }
  const expiresAtMs =
    request.expiresAtMs === null ? lease.expiresAtMs : endOfHold('lease', request.expiresAtMs, nowMs)
  if (expiresAtMs === null) return { refused: 'expiry_invalid' }
  if (config.maxPerDraw !== null && request.amount > config.maxPerDraw) return { refused: 'spend_cap' }
  const over = overBudget(account, config.windows, request.amount)
  if (over !== null) return { refused: 'spend_cap', detail: over }
  const payment = pay(account, config, request.amount, nowMs)
  const effect: CreditEffect = {
    t: 'credit_hold',
    c: account.creditId,
    seq: payment.seq,
    at: nowMs,
    h: leaseId,
    k: 'lease',
    open: false,
    s: payment.slices,
    exp: expiresAtMs,
    key: request.key ?? undefined,
    ...countedIn(config, payment.paid),
  }
  const hold = {
    ...viewHold(account, lease),
    granted: lease.granted + payment.paid,
    updatedAtMs: nowMs,
    expiresAtMs,
  }
  return { hold, effects: [...payment.opens, effect], reused: false }
}

/** End a hold by hand. One that is over already is given back as it ended. source: CR-75, CR-80 */
export function releaseHold(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  kind: HoldKind,
  id: string,
  nowMs: number,
): HoldDecision {
  const open = openHoldOf(account, kind, id)
  if (open !== undefined) {
    const hold = { ...viewHold(account, open), updatedAtMs: nowMs, releasedAtMs: nowMs }
    return { hold, effects: endHold(account, config, open, 'released', nowMs), reused: false }
  }
  const closed = account.closed.withId(id, kind)
  if (closed !== undefined) return { hold: viewHold(account, closed), effects: [], reused: true }
  return { refused: kind === 'lease' ? 'lease_not_found' : 'reservation_not_found' }
}

export function openHoldOf(
  account: Readonly<CreditAccount>,
  kind: HoldKind,
  id: string,
): HoldState | undefined {
  if (kind === 'lease') return account.lease?.id === id ? account.lease : undefined
  return account.reservations.find(hold => hold.id === id)
}

function viewHold(account: Readonly<CreditAccount>, hold: HoldState | ClosedHold): HoldView {
  const { id, kind, granted, tracked, createdAtMs, expiresAtMs } = hold
  const releasedAtMs = 'releasedAtMs' in hold ? hold.releasedAtMs : null
  const updatedAtMs = 'updatedAtMs' in hold ? hold.updatedAtMs : hold.releasedAtMs
  return {
    id,
    creditId: account.creditId,
    kind,
    granted,
    tracked,
    createdAtMs,
    updatedAtMs,
    expiresAtMs,
    releasedAtMs,
  }
}

/** Unspent credits of a hold. */
export function unspentOf(hold: Readonly<HoldState>): Amount {
  return hold.slices.reduce((sum, slice) => sum + slice.left, 0n)
}

/**
 * The effects of a hold's end: unspent credits return to their grants; those of a grant that has ended meanwhile are
 * written off with that grant's reason, and issued again where a change of plan has ended it.
 *
 * config   null: the company is deleted, and nothing is issued
 * settled  what was taken by a commit decided before this, nano-credits, and the effects of that; slices go in the order
 *          they were taken
 * source   CR-75, CR-78, decision 33
 */
export function endHold(
  account: Readonly<CreditAccount>,
  config: CreditConfig | null,
  hold: Readonly<HoldState>,
  why: Extract<CreditEffect, { t: 'credit_release' }>['why'],
  atMs: number,
  settled: Settled = nothingSettled,
): CreditEffect[] {
  const seq = settled.effects.reduce((next, effect) => next + entryCount(effect), account.sequence + 1)
  let spent = settled.taken
  const left = new Map<number, Amount>()
  const slices: Slice[] = []
  for (const slice of hold.slices) {
    const kept = lesser(slice.left, spent)
    spent -= kept
    const back = slice.left - kept
    if (back === 0n) continue
    const before = left.get(slice.seq) ?? remainingOf(account, slice.seq)
    left.set(slice.seq, before + back)
    slices.push([slice.seq, encodeAmount(back), encodeAmount(before + back)])
  }
  const b = budgetBack(
    hold,
    slices.reduce((sum, [, moved]) => sum + decodeAmount(moved), 0n),
  )
  const release: CreditEffect = {
    t: 'credit_release',
    c: account.creditId,
    seq,
    at: atMs,
    h: hold.id,
    k: hold.kind,
    why,
    s: slices,
    ...(b !== undefined && { b }),
  }
  const effects: CreditEffect[] = [release]
  let next = seq + entryCount(release)
  const again: (readonly [GrantState, Amount])[] = []
  for (const [source, amount] of left) {
    const grant = account.grants.find(one => one.seq === source)
    const reason = grant?.closed ?? null
    if (grant === undefined || reason === null) continue
    if (isIssuedAgain(grant)) again.push([grant, amount])
    effects.push({
      t: 'credit_zero_out',
      c: account.creditId,
      seq: next,
      at: atMs,
      r: reason,
      s: [[source, encodeAmount(amount), 0]],
    })
    next++
  }
  if (config === null || left.size === 0 || account.enrolments.length === 0) return effects
  const overdrawn = overdrawnIn(account)
  if (again.length === 0 && overdrawn.length === 0 && account.enrolments.length === 1) return effects
  const draft = draftOf(account)
  for (const effect of [...settled.effects, ...effects]) put(draft, effect)
  const before = draft.effects.length
  issueReturned(draft, config, again, overdrawn, atMs)
  return [...effects, ...draft.effects.slice(before)]
}

/** A use that ends its hold. */
interface Settled {
  /** Nano-credits. */
  readonly taken: Amount
  readonly effects: readonly CreditEffect[]
}

const nothingSettled: Settled = { taken: 0n, effects: [] }

function remainingOf(account: Readonly<CreditAccount>, seq: number): Amount {
  if (account.overdraft?.seq === seq) return account.overdraft.remaining
  return account.grants.find(grant => grant.seq === seq)!.remaining
}

/**
 * Take a use out of a hold: slices in the order they were taken, at most the unspent rest. The effect reports `over`
 * as uncovered; a reservation's excess is drawn separately and is not uncovered. It counts in those `windows` of spend
 * policies that the hold is not counted in. source: CR-71, CR-74, CR-78, BU-4
 */
export function commit(
  account: Readonly<CreditAccount>,
  hold: Readonly<HoldState>,
  windows: CreditConfig['windows'],
  cost: Amount,
  links: UseLinks,
  nowMs: number,
): Commit {
  let missing = cost
  const slices: [number, number | string][] = []
  for (const slice of hold.slices) {
    if (missing === 0n) break
    const part = lesser(slice.left, missing)
    missing -= part
    slices.push([slice.seq, encodeAmount(part)])
  }
  const over = hold.kind === 'lease' && missing > 0n ? encodeAmount(missing) : undefined
  const taken = cost - missing
  const b = budgetParts(windowsBeside(windows, hold), taken)
  const effect: Commit['effect'] = {
    t: 'credit_commit',
    c: account.creditId,
    seq: account.sequence + 1,
    at: links.atMs,
    now: links.atMs === nowMs ? undefined : nowMs,
    h: hold.id,
    k: hold.kind,
    s: slices,
    cost: encodeAmount(cost),
    un: over,
    f: links.featureId ?? undefined,
    e: links.eventId ?? undefined,
    u: links.userId ?? undefined,
  }
  return { taken, effect: b === undefined ? effect : { ...effect, b } }
}

/**
 * How much a check-and-reserve holds.
 *
 * entitlement  rate in credits per unit; null is 1, or 0 beside quantity rates (EN-40, EN-42)
 * quantity     units asked for; else those of the preflight, else 1
 * returns      credits: nano-credits, 0 when nothing is to be held; quantity: units
 * source       CR-84
 */
export function holdSize(
  entitlement: {
    readonly creditId: string
    readonly consumptionRate: number | null
    readonly quantityRates?: Readonly<Record<string, number>> | null
    readonly eventSubtype: string | null
  },
  quantity: Quantity | null,
  preflight: Preflight | null,
): { readonly credits: Amount; readonly quantity: Quantity } {
  const event = preflight?.eventUsage ?? null
  const asked = quantity !== null && quantity > 0 ? quantity : null
  const events =
    event !== null && event.quantity > 0 && event.eventSubtype === entitlement.eventSubtype
      ? event.quantity
      : null
  const usage = preflight?.usage != null && preflight.usage > 0 ? preflight.usage : null
  const units = asked ?? events ?? usage ?? 1
  const given = preflight?.creditCost
  const rate = entitlement.consumptionRate ?? (entitlement.quantityRates == null ? 1 : 0)
  return given != null && Object.hasOwn(given, entitlement.creditId)
    ? { credits: costOf(given[entitlement.creditId]!, 1), quantity: units }
    : { credits: costOf(units, rate), quantity: units }
}
