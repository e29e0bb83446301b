// Plan credits in one reset window: the amount due under the plans held now, less the draws from plan grants in it.
import type { CreditAccount, Enrolment, GrantState } from '../model/account-state.js'
import { type Amount, decodeAmount, encodeAmount, lesser, wholeCredits } from '../values/amount.js'

/** One grant to issue: whole credits, and the licence instance where it is a licence's. */
export interface Share {
  readonly quantity: number
  readonly licence: number | null
}

/** A share less what was drawn of it. */
export interface Issue {
  /** Nano-credits > 0. */
  readonly amount: Amount
  readonly licence: number | null
}

/** The grants that one issue consists of; shares of 0 credits are none. source: CR-35 */
export function sharesOf(
  terms: Pick<Enrolment, 'scaling' | 'creditAmount' | 'companyCreditAmount'>,
  licences: number,
): Share[] {
  const shares: Share[] = []
  if (terms.scaling === 'fixed') shares.push({ quantity: terms.creditAmount, licence: null })
  else {
    shares.push({ quantity: terms.companyCreditAmount, licence: null })
    for (let licence = 1; licence <= licences; licence++) {
      shares.push({ quantity: terms.creditAmount, licence })
    }
  }
  return shares.filter(share => share.quantity > 0)
}

/** The sum of shares, nano-credits. */
export function amountOf(shares: readonly Share[]): Amount {
  return wholeCredits(shares.reduce((sum, { quantity }) => sum + quantity, 0))
}

/** The amount due to an enrolment in a window, nano-credits. */
export function dueOf(e: Enrolment): Amount {
  return amountOf(sharesOf(e, e.licences))
}

/** Shares of which so much was drawn already: of the first ones first, as draws do. */
export function lessened(shares: readonly Share[], drawn: Amount): Issue[] {
  let missing = drawn
  return shares.flatMap(({ quantity, licence }) => {
    const whole = wholeCredits(quantity)
    const gone = lesser(whole, missing)
    missing -= gone
    return whole === gone ? [] : [{ amount: whole - gone, licence }]
  })
}

/** When the window of an enrolment began, epoch ms. */
export function windowStart(e: Enrolment): number {
  return e.startMs ?? e.issuedAtMs
}

/** When it was to end as it began; null: it has no end, because the grants are issued once. */
export function windowEnd(e: Enrolment): number | null {
  return e.endMs ?? e.nextResetMs
}

/** Whether the window of an enrolment is not over: its plan is held, or was left before its end. */
export function isLive({ leftUntilMs }: Enrolment, atMs: number): boolean {
  return leftUntilMs === null || leftUntilMs > atMs
}

/** Whether draws on a grant count in the window of an enrolment, or did in one that it carried on. */
export function isCounting(e: Enrolment, { planGrantId }: Pick<GrantState, 'planGrantId'>): boolean {
  return planGrantId !== null && (e.planGrantId === planGrantId || e.counts?.includes(planGrantId) === true)
}

/** The grants of closed windows that holds still have, by their plan grants. */
export function heldIn(account: Readonly<CreditAccount>, closed: readonly Enrolment[]): readonly string[] {
  const ids = closed.flatMap(e => [e.planGrantId, ...(e.counts ?? [])])
  const isHeld = (id: string) =>
    account.grants.some(one => one.planGrantId === id && one.held > 0n && one.closed !== null)
  return [...new Set(ids)].filter(isHeld)
}

/** Credits drawn in the window of an enrolment, with those that its present grants do not show. */
export function drawnIn(account: Readonly<CreditAccount>, e: Enrolment): Amount {
  let drawn = decodeAmount(e.drawn ?? 0)
  for (const grant of account.grants) if (isOfWindow(grant, e)) drawn += grant.quantity - grant.remaining
  return drawn
}

/** The rest of the present grants of an enrolment, nano-credits. */
export function leftIn(account: Readonly<CreditAccount>, e: Enrolment): Amount {
  let left = 0n
  for (const grant of account.grants) if (isOfWindow(grant, e)) left += grant.remaining
  return left
}

function isOfWindow(grant: CreditAccount['grants'][number], e: Enrolment): boolean {
  return (
    grant.planGrantId === e.planGrantId &&
    grant.reason === 'plan' &&
    grant.closed === null &&
    grant.createdAtMs >= windowStart(e)
  )
}

/** The part of what an enrolment allows whose time has passed, nano-credits; all of it once the window is over. */
function elapsedShare(e: Enrolment, atMs: number): Amount {
  const endMs = windowEnd(e)
  if (endMs === null) return 0n
  const startMs = windowStart(e)
  if (endMs <= atMs || endMs <= startMs) return dueOf(e)
  const elapsed = BigInt(Math.max(0, Math.trunc(atMs - startMs)))
  return (dueOf(e) * elapsed) / BigInt(Math.trunc(endMs - startMs))
}

/**
 * The amount that a window which ends before its time carries into the next: the draws beyond its elapsed share.
 *
 * drawn    in the window, nano-credits
 * ending   enrolments in it, and when each ended
 * returns  nano-credits. The share is rounded down to whole credits, so that a change a moment later brings nothing
 *          back: decision, as CR-41 rounds.
 * source   decision 33
 */
function carriedFrom(drawn: Amount, ending: readonly (readonly [Enrolment, number])[]): Amount {
  const share = ending.reduce((sum, [e, atMs]) => sum + elapsedShare(e, atMs), 0n)
  const whole = share - (share % wholeCredits(1))
  return drawn > whole ? drawn - whole : 0n
}

/** Draws of windows that count in the next one, nano-credits, and the part of them that is inside holds. */
export interface Carry {
  readonly drawn: Amount
  readonly held: Amount
}

/** Nothing is carried into a window that follows one which ended in its time. */
export const noCarry: Carry = { drawn: 0n, held: 0n }

/**
 * The part inside holds of what ended windows carry into the next, nano-credits. A hold tells from which grant it drew: one of
 * another window that goes on does not count here. Draws on grants of plans that were left count in a window that notes them;
 * where one goes on that notes some, they are not known to be of these.
 *
 * carried  what they carry
 * source   decision 33
 */
export function heldOf(
  account: Readonly<CreditAccount>,
  ended: readonly Enrolment[],
  carried: Amount,
  atMs: number,
): Amount {
  if (ended.length === 0) return 0n
  const others = account.enrolments.filter(e => isLive(e, atMs) && !ended.includes(e))
  const startMs = Math.min(...ended.map(windowStart))
  let held = ended.reduce((sum, e) => sum + decodeAmount(e.heldBefore ?? 0), 0n)
  for (const grant of account.grants) {
    const { reason, createdAtMs, held: inside } = grant
    if (reason !== 'plan' || inside === 0n) continue
    const own = ended.find(e => isCounting(e, grant))
    const isOfOther = others.some(e => isCounting(e, grant) || decodeAmount(e.drawn ?? 0) > 0n)
    if (own ? createdAtMs >= windowStart(own) : createdAtMs >= startMs && !isOfOther) held += inside
  }
  return lesser(held, carried)
}

/** Amounts that enrolments carry over a reset, by plan grant, and the closed windows that count in it. */
interface Carried {
  readonly into: ReadonlyMap<string, Carry>
  readonly used: readonly Enrolment[]
}

/**
 * Amounts that windows carry over their resets at an instant: none where they end in their time.
 *
 * source  decision 33
 */
export function carriedOver(
  account: Readonly<CreditAccount>,
  ending: readonly Enrolment[],
  atMs: number,
): Carried {
  const into = new Map<string, Carry>()
  const used: Enrolment[] = []
  const early = ending.filter(e => (windowEnd(e) ?? atMs) > atMs)
  for (const endMs of new Set(early.map(windowEnd))) {
    const group = early.filter(e => windowEnd(e) === endMs)
    const closed = account.enrolments.filter(
      e => e.leftUntilMs !== null && e.leftUntilMs > atMs && windowEnd(e) === endMs,
    )
    used.push(...closed)
    let all = closed.reduce((sum, e) => sum + decodeAmount(e.drawn ?? 0), 0n)
    for (const e of group) all += drawnIn(account, e)
    let rest = carriedFrom(
      all,
      group.map(e => [e, atMs] as const),
    )
    let inside = heldOf(account, [...group, ...closed], rest, atMs)
    for (const [place, e] of group.entries()) {
      const drawn = place === group.length - 1 ? rest : lesser(rest, dueOf(e))
      const held = lesser(inside, drawn)
      into.set(e.planGrantId, { drawn, held })
      rest -= drawn
      inside -= held
    }
  }
  return { into, used }
}

/** An enrolment in a window: `drawn` was drawn before, or carried in. held: the part carried in with holds; absent: as it was. */
export function inWindow(
  e: Enrolment,
  window: {
    readonly startMs: number
    readonly endMs: number | null
    readonly drawn: Amount
    readonly held?: Amount
  },
): Enrolment {
  const { startMs: _s, endMs: _e, drawn: _d, leftAtMs: _l, heldBefore, counts, ...rest } = e
  const held = lesser(window.held ?? decodeAmount(heldBefore ?? 0), window.drawn)
  return {
    ...rest,
    ...(window.startMs !== e.issuedAtMs && { startMs: window.startMs }),
    ...(window.endMs !== null && { endMs: window.endMs }),
    ...(window.drawn > 0n && { drawn: encodeAmount(window.drawn) }),
    ...(held > 0n && { heldBefore: encodeAmount(held) }),
    ...(counts && window.drawn > 0n && { counts }),
  }
}

/** Windows that a change has closed, and whose time is not over: what was drawn in them counts in the next. */
export class ClosedWindows {
  private readonly records: Enrolment[]

  constructor(
    private readonly account: Readonly<CreditAccount>,
    private readonly nowMs: number,
  ) {
    this.records = account.enrolments.filter(e => e.leftUntilMs !== null && e.leftUntilMs > nowMs)
  }

  /** The window that goes on in this enrolment: of the same plan grant, or of the plan in an earlier version. */
  before(e: Pick<Enrolment, 'planGrantId' | 'planId' | 'cadence'>): Enrolment | undefined {
    return (
      this.records.find(one => one.planGrantId === e.planGrantId) ??
      this.records.findLast(one => one.planId === e.planId && one.cadence === e.cadence)
    )
  }

  /**
   * Draws that count in a window, and when that began. Each closed window counts once; `used` are those that
   * count here. One that was to end later is told apart: what it allows may be held again, so it stays on record.
   *
   * endMs  the end of the new window; null: it has none
   * last   no other window takes what has another end
   */
  into(endMs: number | null, last: boolean): Counted {
    const used = this.records.filter(one => last || windowEnd(one) === endMs)
    for (const one of used) this.records.splice(this.records.indexOf(one), 1)
    const isLater = (one: Enrolment): boolean => endMs !== null && (windowEnd(one) ?? 0) > endMs
    const same = used.filter(one => windowEnd(one) === endMs)
    const later = used.filter(isLater)
    const cut = used.filter(one => windowEnd(one) !== endMs && !isLater(one))
    const sumOf = (name: 'drawn' | 'heldBefore') =>
      same.reduce((sum, one) => sum + decodeAmount(one[name] ?? 0), 0n)
    const carried = this.carried(cut)
    return {
      drawn: sumOf('drawn') + carried,
      held: sumOf('heldBefore') + heldOf(this.account, cut, carried, this.nowMs),
      startMs: Math.min(this.nowMs, ...same.map(windowStart)),
      used: [...same, ...cut],
      later: later.map(one => [one, this.carried([one])] as const),
    }
  }

  private carried(cut: readonly Enrolment[]): Amount {
    const drawn = cut.reduce((sum, one) => sum + decodeAmount(one.drawn ?? 0), 0n)
    return carriedFrom(
      drawn,
      cut.map(one => [one, one.leftAtMs ?? this.nowMs] as const),
    )
  }
}

/** Closed windows as they count in a new one. */
interface Counted extends Carry {
  readonly startMs: number
  readonly used: readonly Enrolment[]
  /** Windows that were to end after it, and what each carries into it. */
  readonly later: readonly (readonly [Enrolment, Amount])[]
}

/** A window in which so much counts no longer. held: the part of it that was carried in with holds. */
export function relieved(e: Enrolment, counted: Amount, held = 0n): Enrolment {
  const { drawn, heldBefore, ...rest } = e
  const left = decodeAmount(drawn ?? 0) - counted
  const inside = lesser(decodeAmount(heldBefore ?? 0) - held, left)
  return {
    ...rest,
    ...(left > 0n && { drawn: encodeAmount(left) }),
    ...(inside > 0n && { heldBefore: encodeAmount(inside) }),
  }
}
