// Credits that come with a plan: issued when the plan is taken, again at every reset, taken back when it is left.

import type {
  CreditAccount,
  CreditConfig,
  CreditEffect,
  Enrolment,
  ExpiryRule,
  GrantState,
  Renewal,
} from '../model/account-state.js'
import type { PlanCreditGrantDef } from '../model/definitions.js'
import { type Amount, decodeAmount, encodeAmount, lesser } from '../values/amount.js'
import { anchorIn, isOn } from '../values/period.js'
import { billingPeriodEnd, firstOfMonthAfter, resetAfter, resetAnchor, rollsOver } from './grant.js'
import { type Draft, draftOf, put, zeroOut } from './ledger.js'
import {
  amountOf,
  type Carry,
  ClosedWindows,
  carriedOver,
  drawnIn,
  dueOf,
  heldIn,
  heldOf,
  type Issue,
  inWindow,
  isLive,
  leftIn,
  lessened,
  noCarry,
  relieved,
  sharesOf,
  windowEnd,
  windowStart,
} from './plan-window.js'
import { boundaryNow, cadenceOf, endOfGrant, followRenewals, renewalAfter, renewalsMoved } from './renewal.js'
import { giveGrant } from './repayment.js'

/** A plan credit grant as a company holds it: the definition, and the plan or add-on it belongs to. */
export interface HeldPlanGrant {
  readonly def: PlanCreditGrantDef
  readonly planId: string
  readonly versionId: string
  /** Licences held; only counts when the grant scales by them. */
  readonly licences: number
}

/**
 * Make an account hold exactly these plan grants: issue the new, take back those of plans that were left, follow
 * licences, terms and the subscription's period. The one call for every change of plan, add-on, version, licences or
 * subscription; it costs next to nothing when there is no change.
 *
 * held     grants of this credit, over the base plan and the add-ons; empty when the company has none
 * source   CR-35…40
 */
export function followPlan(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  held: readonly HeldPlanGrant[],
  nowMs: number,
): readonly CreditEffect[] {
  if (followsAlready(account, config, held, nowMs)) return []
  const draft = draftOf(account)
  for (const enrolment of account.enrolments) {
    const kept = held.some(grant => grant.def.id === enrolment.planGrantId)
    if (!kept && enrolment.leftUntilMs === null) leave(draft, config, enrolment, nowMs)
  }
  for (const grant of held) {
    const enrolment = enrolmentOf(draft.account, grant)
    if (enrolment?.leftUntilMs === null) followTerms(draft, config, enrolment, grant, nowMs)
  }
  enrolAll(
    draft,
    config,
    held.filter(grant => enrolmentOf(draft.account, grant)?.leftUntilMs !== null),
    nowMs,
  )
  cutKept(draft, config, nowMs)
  for (const enrolment of draft.account.enrolments) followPeriod(draft, config, enrolment, nowMs)
  followRenewals(draft, config, nowMs)
  return draft.effects
}

function enrolmentOf(account: Readonly<CreditAccount>, held: HeldPlanGrant): Enrolment | undefined {
  return account.enrolments.find(other => other.planGrantId === held.def.id)
}

function followsAlready(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  held: readonly HeldPlanGrant[],
  nowMs: number,
): boolean {
  let open = 0
  for (const enrolment of account.enrolments) {
    if (enrolment.leftUntilMs !== null) continue
    if (offGrid(enrolment, config) || renewalBoundary(enrolment, config, nowMs) !== enrolment.nextResetMs)
      return false
    open++
  }
  if (account.renewals.length > 0 && renewalsMoved(account, config, nowMs)) return false
  return (
    open === held.length &&
    held.every(grant => {
      const enrolment = enrolmentOf(account, grant)
      return enrolment !== undefined && enrolment.leftUntilMs === null && sameTerms(enrolment, grant)
    })
  )
}

/** Whether the subscription's period starts off the grid that resets count on. A renewal starts on it. */
function offGrid(e: Enrolment, config: CreditConfig): boolean {
  if (config.period === null || e.cadence === null || e.leftUntilMs !== null) return false
  const { startMs } = config.period
  const anchorMs = anchorIn(config.period)
  const isTheirs = resetAnchor(anchorMs, e.anchorMs, e.cadence) === e.anchorMs
  return !(isTheirs && isOn(anchorMs, startMs)) && resetAnchor(anchorMs, startMs, e.cadence) !== e.anchorMs
}

/**
 * Let the resets follow a subscription that began anew: its period's start is the new anchor. Counted from the last
 * issue, so that a period reported late still begins with its credits. source: CR-40
 */
function followPeriod(draft: Draft, config: CreditConfig, e: Enrolment, nowMs: number): void {
  const renewalMs = renewalBoundary(e, config, nowMs)
  if (renewalMs !== e.nextResetMs) enrolAs(draft, { ...e, ...foreseen(e), nextResetMs: renewalMs }, nowMs)
  if (!offGrid(e, config)) return
  const anchorMs = resetAnchor(anchorIn(config.period!), config.period!.startMs, e.cadence)
  const nextResetMs = resetAfter(e.cadence!, e.resetStart, e.enrolledAtMs, anchorMs, e.issuedAtMs)
  enrolAs(draft, { ...e, ...foreseen(e), anchorMs, nextResetMs }, nowMs)
}

/** The end of a window stays as it was foreseen when its boundary moves: one that comes earlier ends it before its time. */
function foreseen(e: Enrolment): Pick<Enrolment, 'endMs'> {
  const endMs = windowEnd(e)
  return endMs === null ? {} : { endMs }
}

/** The next boundary of an enrolment: by the subscription's current periods if it renews, else the stored one. */
function renewalBoundary(e: Enrolment, config: CreditConfig, nowMs: number): number | null {
  const { renewal, nextResetMs: nextMs, leftUntilMs } = e
  if (renewal === undefined || nextMs === null || leftUntilMs !== null) return nextMs
  const known = { beganMs: e.enrolledAtMs, issuedMs: e.issuedAtMs, nextMs }
  return boundaryNow(renewal.period, config.period, known, nowMs)
}

export function enrolAs(draft: Draft, e: Enrolment, atMs: number): void {
  put(draft, { t: 'credit_enrol', c: draft.account.creditId, at: atMs, e })
}

/**
 * Enrol in plan grants that were not held: each window gets what is due, less what was drawn in windows that are closed.
 *
 * source  decision 33, CR-39
 */
function enrolAll(
  draft: Draft,
  config: CreditConfig,
  opening: readonly HeldPlanGrant[],
  nowMs: number,
): void {
  if (opening.length === 0) return
  const closed = new ClosedWindows(draft.account, nowMs)
  const begun = opening.map(held => {
    const terms = termsOf(held)
    const earlier = closed.before(terms)
    const enrolledAtMs = earlier?.enrolledAtMs ?? nowMs
    const { period } = config
    const anchorMs =
      period === null
        ? (earlier?.anchorMs ?? nowMs)
        : resetAnchor(anchorIn(period), period.startMs, terms.cadence)
    const nextResetMs = firstAfter(terms, config, enrolledAtMs, anchorMs, nowMs)
    return {
      held,
      e: { ...terms, enrolledAtMs, anchorMs, issuedAtMs: nowMs, nextResetMs, leftUntilMs: null },
    }
  })
  const ends = [...new Set(begun.map(({ e }) => e.nextResetMs))]
  const windows = ends.map(endMs => ({ endMs, ...closed.into(endMs, false) }))
  const others = closed.into(windows[0]!.endMs, true)
  const kept = draft.account.enrolments.filter(e => e.leftUntilMs === null)
  for (const [i, { endMs, ...window }] of windows.entries()) {
    const same = endMs === null ? [] : kept.filter(e => windowEnd(e) === endMs)
    const startMs = Math.min(window.startMs, ...same.map(windowStart))
    const used = i === 0 ? [...window.used, ...others.used] : window.used
    for (const one of used) enrolAs(draft, { ...one, leftUntilMs: nowMs }, nowMs)
    const group = begun.filter(({ e }) => e.nextResetMs === endMs)
    const counts = [...heldIn(draft.account, used)]
    let drawn = i === 0 ? window.drawn + others.drawn : window.drawn
    let inside = i === 0 ? window.held + others.held : window.held
    // a window that was to end later keeps what does not count here: its plan may be held again
    let room = group.reduce((sum, { held }) => sum + amountOf(sharesOf(held.def, held.licences)), 0n) - drawn
    for (const [one, carried] of i === 0 ? others.later : []) {
      const counted = room > 0n ? lesser(carried, room) : 0n
      if (counted === 0n) continue
      room -= counted
      drawn += counted
      inside += heldOf(draft.account, [one], counted, nowMs)
      counts.push(...heldIn(draft.account, [one]))
      enrolAs(draft, relieved(one, counted), nowMs)
    }
    for (const [place, { held, e }] of group.entries()) {
      const shares = sharesOf(held.def, held.licences)
      // the last one keeps what is drawn beyond all that is due
      const counted = place === group.length - 1 ? drawn : lesser(drawn, amountOf(shares))
      drawn -= counted
      const inHolds = lesser(inside, counted)
      inside -= inHolds
      const begins = inWindow(e, { startMs, endMs, drawn: counted, held: inHolds })
      enrolAs(draft, counts.length > 0 ? { ...begins, counts } : begins, nowMs)
      issue(draft, config, e, expiryOfIssue(held.def, config, nowMs), lessened(shares, counted), nowMs)
    }
  }
}

/**
 * Draws beyond all that is due under plan grants of a window are taken from those that were kept in it.
 *
 * source  decision 33
 */
export function cutKept(draft: Draft, config: CreditConfig, nowMs: number): void {
  for (const over of draft.account.enrolments) {
    if (!isLive(over, nowMs)) continue
    const gone = decodeAmount(over.drawn ?? 0)
    const most = over.leftUntilMs === null ? drawnIn(draft.account, over) - dueOf(over) : gone
    let excess = most
    if (excess <= 0n) continue
    let held = decodeAmount(over.heldBefore ?? 0)
    for (const kept of draft.account.enrolments) {
      const sameWindow = windowEnd(kept) !== null && windowEnd(kept) === windowEnd(over)
      if (kept.planGrantId === over.planGrantId || kept.leftUntilMs !== null || !sameWindow) continue
      const cut = lesser(excess, leftIn(draft.account, kept))
      if (cut <= 0n) continue
      excess -= cut
      const stays = lesser(held, gone - (most - excess))
      const moved = decodeAmount(kept.heldBefore ?? 0) + held - stays
      held = stays
      reissue(draft, config, kept, drawnIn(draft.account, kept) + cut, nowMs, moved)
    }
    // more than is due was drawn from grants that are over
    if (excess < most) enrolAs(draft, relieved(over, most - excess), nowMs)
  }
}

/** Zero the grants of an enrolment, and issue what is due less what was drawn. */
export function reissue(
  draft: Draft,
  config: CreditConfig,
  e: Enrolment,
  drawn: Amount,
  nowMs: number,
  held: Amount = decodeAmount(e.heldBefore ?? 0),
): void {
  zeroWhere(draft, grant => isIssued(grant, e), 'plan_change', nowMs)
  enrolAs(draft, inWindow(e, { startMs: windowStart(e), endMs: windowEnd(e), drawn, held }), nowMs)
  const exp = e.renewal ? endOfGrant(e.renewal.expiry, config, nowMs) : null
  issue(draft, config, e, exp, lessened(sharesOf(e, e.licences), drawn), nowMs)
}

function isIssued(grant: GrantState, e: Enrolment): boolean {
  return grant.planGrantId === e.planGrantId && grant.reason === 'plan'
}

/** The first reset or renewal after now; null when it is issued once. */
function firstAfter(
  { cadence, resetStart, renewal }: Terms,
  config: CreditConfig,
  enrolledAtMs: number,
  anchorMs: number,
  nowMs: number,
): number | null {
  if (renewal !== undefined) return renewalAfter(renewal.period, config.period, enrolledAtMs, nowMs)
  return cadence === null ? null : resetAfter(cadence, resetStart, enrolledAtMs, anchorMs, nowMs)
}

function withoutRenewal({ renewal: _, ...rest }: Enrolment): Omit<Enrolment, 'renewal'> {
  return rest
}

type Terms = Omit<
  Enrolment,
  | 'enrolledAtMs'
  | 'anchorMs'
  | 'issuedAtMs'
  | 'nextResetMs'
  | 'leftUntilMs'
  | 'leftAtMs'
  | 'startMs'
  | 'endMs'
  | 'drawn'
>

function termsOf(held: HeldPlanGrant): Terms {
  const { def } = held
  const cadence = def.resetType === 'plan_period' ? def.resetCadence : null
  return {
    planGrantId: def.id,
    planId: held.planId,
    versionId: held.versionId,
    creditAmount: def.creditAmount,
    companyCreditAmount: def.companyCreditAmount,
    scaling: def.scaling,
    licences: def.scaling === 'per_license' ? held.licences : 0,
    cadence,
    resetStart: def.resetStart,
    rolloverPercentage: cadence !== null && rollsOver(cadence) ? def.rolloverPercentage : 0,
    ...(cadence === null &&
      def.renewalPeriod && { renewal: { period: def.renewalPeriod, expiry: ruleOf(def) } }),
  }
}

/** The expiry that a plan grant names; null: the credit's own. */
function ruleOf({
  expiryType: type,
  expiryUnit: unit,
  expiryUnitCount: count,
}: PlanCreditGrantDef): ExpiryRule | null {
  return type === null ? null : { type, unit, count }
}

/** exp: their end, epoch ms; null: none of their own. */
export function issue(
  draft: Draft,
  config: CreditConfig,
  e: Enrolment,
  exp: number | null,
  issues: readonly Issue[],
  atMs: number,
): void {
  for (const { amount, licence } of issues) {
    giveGrant(
      draft,
      {
        reason: 'plan',
        q: encodeAmount(amount),
        exp: exp ?? undefined,
        pg: e.planGrantId,
        plan: e.planId,
        licence: licence ?? undefined,
        rn: e.renewal ? cadenceOf(e.renewal.period, config.period) : undefined,
      },
      atMs,
    )
  }
}

/**
 * Renew a plan's grants at their boundary, beside the rest of earlier ones, each with its own end. source: decision
 * 30
 */
function renewPlanGrant(
  draft: Draft,
  config: CreditConfig,
  e: Enrolment,
  renewal: Renewal,
  carry: Carry,
): void {
  const boundaryMs = e.nextResetMs!
  const exp = endOfGrant(renewal.expiry, config, boundaryMs)
  issue(draft, config, e, exp, lessened(sharesOf(e, e.licences), carry.drawn), boundaryMs)
  const endMs = renewalAfter(renewal.period, config.period, e.enrolledAtMs, boundaryMs)
  const next = { ...e, issuedAtMs: boundaryMs, nextResetMs: endMs }
  enrolAs(draft, inWindow(next, { startMs: boundaryMs, endMs, ...carry }), boundaryMs)
}

/** A resetting grant ends at its reset; one issued once ends by its own rule, or by the credit's. source: CR-32, CR-34, CR-40 */
function expiryOfIssue(def: PlanCreditGrantDef, config: CreditConfig, nowMs: number): number | null {
  if (def.resetType === 'plan_period' && def.resetCadence !== null) return null
  return endOfGrant(ruleOf(def), config, nowMs)
}

/** Zero those grants of an enrolment that are not over yet. */
function zeroWhere(
  draft: Draft,
  which: (grant: GrantState) => boolean,
  reason: Extract<CreditEffect, { t: 'credit_zero_out' }>['r'],
  atMs: number,
): void {
  const grants = draft.account.grants.filter(grant => grant.closed === null && which(grant))
  zeroOut(draft, grants, reason, atMs)
}

/** The window stays on record until it would have ended: what was drawn in it counts in what is issued next. */
function leave(draft: Draft, config: CreditConfig, e: Enrolment, nowMs: number): void {
  const drawn = drawnIn(draft.account, e)
  zeroWhere(draft, grant => grant.planGrantId === e.planGrantId, 'plan_change', nowMs)
  const periodEndMs =
    config.period === null ? firstOfMonthAfter(1, nowMs) : billingPeriodEnd(config.period, nowMs, 1)
  const left = inWindow(e, { startMs: windowStart(e), endMs: windowEnd(e), drawn })
  const leftUntilMs = e.nextResetMs ?? periodEndMs
  enrolAs(draft, { ...left, nextResetMs: null, leftUntilMs, leftAtMs: nowMs }, nowMs)
}

/** New amounts count from the next reset; another scaling and other licences count at once. source: CR-36, CR-37, decision 33 */
function followTerms(
  draft: Draft,
  config: CreditConfig,
  e: Enrolment,
  held: HeldPlanGrant,
  nowMs: number,
): void {
  if (sameTerms(e, held)) return
  const terms = termsOf(held)
  const sameTimes =
    terms.renewal?.period === e.renewal?.period &&
    terms.cadence === e.cadence &&
    (terms.cadence === null || terms.resetStart === e.resetStart)
  const nextResetMs = sameTimes ? e.nextResetMs : firstAfter(terms, config, e.enrolledAtMs, e.anchorMs, nowMs)
  // boundaries of a renewal that begins now count from now
  const issuedAtMs = sameTimes || terms.renewal === undefined ? e.issuedAtMs : nowMs
  const next = { ...withoutRenewal(e), ...foreseen(e), ...terms, issuedAtMs, nextResetMs }
  const drawn = drawnIn(draft.account, e)
  enrolAs(draft, next, nowMs)
  if (terms.scaling !== e.scaling) reissueAll(draft, config, next, held, drawn, nowMs)
  else if (terms.licences !== e.licences) followLicences(draft, config, e, next, held, drawn, nowMs)
}

function reissueAll(
  draft: Draft,
  config: CreditConfig,
  e: Enrolment,
  held: HeldPlanGrant,
  drawn: Amount,
  nowMs: number,
): void {
  zeroWhere(draft, grant => isIssued(grant, e), 'plan_change', nowMs)
  enrolAs(draft, inWindow(e, { startMs: windowStart(e), endMs: windowEnd(e), drawn }), nowMs)
  const exp = expiryOfIssue(held.def, config, nowMs)
  issue(draft, config, e, exp, lessened(sharesOf(e, e.licences), drawn), nowMs)
}

/**
 * Grants of retired licences are zeroed, those of added ones are issued. All together allow what is due now less what
 * was drawn: where more is left, all are issued again.
 *
 * was     the enrolment before
 * source  CR-36, decision 33
 */
function followLicences(
  draft: Draft,
  config: CreditConfig,
  was: Enrolment,
  e: Enrolment,
  held: HeldPlanGrant,
  drawn: Amount,
  nowMs: number,
): void {
  const retired = (grant: GrantState): boolean => grant.licence !== null && grant.licence > e.licences
  zeroWhere(draft, grant => grant.planGrantId === e.planGrantId && retired(grant), 'license_retired', nowMs)
  const all = dueOf(e)
  const allowed = all > drawn ? all - drawn : 0n
  const left = leftIn(draft.account, e)
  if (left > allowed) return reissueAll(draft, config, e, held, drawn, nowMs)
  const shown = drawnIn(draft.account, inWindow(e, { startMs: windowStart(e), endMs: null, drawn: 0n }))
  const window = { startMs: windowStart(e), endMs: windowEnd(e), drawn: drawn - shown }
  enrolAs(draft, inWindow(e, window), nowMs)
  const added = sharesOf(e, e.licences).filter(share => (share.licence ?? 0) > was.licences)
  const missing = amountOf(added) - (allowed - left)
  const exp = expiryOfIssue(held.def, config, nowMs)
  issue(draft, config, e, exp, lessened(added, missing > 0n ? missing : 0n), nowMs)
}

function sameTerms(e: Enrolment, held: HeldPlanGrant): boolean {
  const { renewal, ...terms } = termsOf(held)
  return (
    (Object.keys(terms) as (keyof typeof terms)[]).every(name => e[name] === terms[name]) &&
    isSameRenewal(e.renewal, renewal)
  )
}

function isSameRenewal(one: Renewal | undefined, other: Renewal | undefined): boolean {
  return (
    one?.period === other?.period &&
    one?.expiry?.type === other?.expiry?.type &&
    one?.expiry?.unit === other?.expiry?.unit &&
    one?.expiry?.count === other?.expiry?.count
  )
}

/**
 * One reset, at its boundary: the last rollover ends, the unused rest ends, part of it rolls over, the next issue
 * begins.
 *
 * boundaryMs  when it counts from, however late it is made up
 * nextMs      the reset after it
 * carry       from a window that ended before its time (decision 33)
 * source      CR-41, CR-42, CR-43
 */
export function resetPlanGrant(
  draft: Draft,
  e: Enrolment,
  boundaryMs: number,
  nextMs: number,
  carry: Carry = noCarry,
): void {
  const ours = (grant: GrantState): boolean => grant.planGrantId === e.planGrantId
  zeroWhere(draft, grant => ours(grant) && grant.reason === 'rollover', 'expired', boundaryMs)
  const ending = draft.account.grants.filter(
    grant => ours(grant) && grant.reason === 'plan' && grant.closed === null,
  )
  const unused = ending.map(({ seq, licence, remaining }) => ({ seq, licence, remaining }))
  zeroWhere(draft, grant => ours(grant) && grant.reason === 'plan', 'plan_period_reset', boundaryMs)
  const base = { pg: e.planGrantId, plan: e.planId } as const
  for (const { seq, licence, remaining } of unused) {
    const whole = (remaining * BigInt(e.rolloverPercentage)) / 100_000_000_000n
    if (whole === 0n) continue
    giveGrant(
      draft,
      {
        reason: 'rollover',
        q: encodeAmount(whole * 1_000_000_000n),
        exp: nextMs,
        ...base,
        licence: licence ?? undefined,
        source: seq,
      },
      boundaryMs,
    )
  }
  for (const { amount, licence } of lessened(sharesOf(e, e.licences), carry.drawn)) {
    giveGrant(
      draft,
      { reason: 'plan', q: encodeAmount(amount), ...base, licence: licence ?? undefined },
      boundaryMs,
    )
  }
  const next = { ...e, issuedAtMs: boundaryMs, nextResetMs: nextMs }
  enrolAs(draft, inWindow(next, { startMs: boundaryMs, endMs: nextMs, ...carry }), boundaryMs)
}

/** Resets and renewals of plan grants that are due at an instant. */
export function resetsDue(draft: Draft, config: CreditConfig, atMs: number): void {
  const ending = draft.account.enrolments.filter(e => e.nextResetMs !== null && e.nextResetMs <= atMs)
  if (ending.length === 0) return
  const carried = carriedOver(draft.account, ending, atMs)
  for (const one of carried.used) enrolAs(draft, { ...one, leftUntilMs: atMs }, atMs)
  for (const e of ending) {
    const carry = carried.into.get(e.planGrantId) ?? noCarry
    if (e.renewal !== undefined) renewPlanGrant(draft, config, e, e.renewal, carry)
    else {
      const boundaryMs = e.nextResetMs!
      const nextMs = resetAfter(e.cadence!, e.resetStart, e.enrolledAtMs, e.anchorMs, boundaryMs)
      resetPlanGrant(draft, e, boundaryMs, nextMs, carry)
    }
  }
}
