// Credits that come with a plan: issued when the plan is taken, again at every reset, taken back when it is left.

import type { PlanCreditGrantDef } from '../definitions.js'
import { recurrenceAfter } from '../usage/period.js'
import type {
  CreditAccount,
  CreditConfig,
  CreditEffect,
  Enrolment,
  ExpiryRule,
  GrantState,
  Renewal,
} from './account-state.js'
import { encodeAmount, wholeCredits } from './amount.js'
import { giveGrant } from './draw.js'
import { billingPeriodEnd, firstOfMonthAfter, resetAfter, rollsOver } from './grant.js'
import { type Draft, draftOf, put, zeroOut } from './ledger.js'
import { boundaryNow, cadenceOf, endOfGrant, followRenewals, renewalAfter, renewalsMoved } from './renewal.js'

/** A plan credit grant as a company holds it: the definition, and the plan or add-on it belongs to. */
export interface HeldPlanGrant {
  readonly def: PlanCreditGrantDef
  readonly planId: string
  readonly versionId: string
  /** Licences held; only counts when the grant scales by them. */
  readonly licences: number
}

/** One grant to issue: whole credits, and the licence instance where it is a licence's. */
export interface Share {
  readonly quantity: number
  readonly licence: number | null
}

/** The grants that one issue consists of; shares of 0 credits are none. source: CR-35 */
export function sharesOf(
  terms: Pick<PlanCreditGrantDef, 'scaling' | 'creditAmount' | 'companyCreditAmount'>,
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
    if (enrolment !== undefined && enrolment.leftUntilMs === null) {
      followTerms(draft, config, enrolment, grant, nowMs)
    } else enrol(draft, config, grant, enrolment, nowMs)
  }
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

/** Issue one plan grant; nothing when the company is enrolled already or left it within its period. source: CR-39 */
export function issuePlanGrants(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  held: HeldPlanGrant,
  nowMs: number,
): readonly CreditEffect[] {
  const earlier = enrolmentOf(account, held)
  if (earlier !== undefined && earlier.leftUntilMs === null) return []
  const draft = draftOf(account)
  enrol(draft, config, held, earlier, nowMs)
  return draft.effects
}

/** Leave a plan version: its grants and their rollovers are zeroed with `plan_change`. source: CR-39 */
export function leavePlan(
  account: Readonly<CreditAccount>,
  config: CreditConfig,
  versionId: string,
  nowMs: number,
): readonly CreditEffect[] {
  const draft = draftOf(account)
  for (const enrolment of account.enrolments) {
    if (enrolment.versionId === versionId && enrolment.leftUntilMs === null) {
      leave(draft, config, enrolment, nowMs)
    }
  }
  return draft.effects
}

/** Whether the subscription's period starts off the grid that resets count on. A renewal starts on it. */
function offGrid(e: Enrolment, config: CreditConfig): boolean {
  if (config.period === null || e.cadence === null || e.leftUntilMs !== null) return false
  const { startMs } = config.period
  return startMs !== e.anchorMs && recurrenceAfter(e.anchorMs, startMs - 1) !== startMs
}

/**
 * Let the resets follow a subscription that began anew: its period's start is the new anchor. Counted from the last
 * issue, so that a period reported late still begins with its credits. source: CR-40
 */
function followPeriod(draft: Draft, config: CreditConfig, e: Enrolment, nowMs: number): void {
  const renewalMs = renewalBoundary(e, config, nowMs)
  if (renewalMs !== e.nextResetMs) enrolAs(draft, { ...e, nextResetMs: renewalMs }, nowMs)
  if (!offGrid(e, config)) return
  const anchorMs = config.period!.startMs
  const nextResetMs = resetAfter(e.cadence!, e.resetStart, e.enrolledAtMs, anchorMs, e.issuedAtMs)
  enrolAs(draft, { ...e, anchorMs, nextResetMs }, nowMs)
}

/** The next boundary of an enrolment: by the subscription's current periods if it renews, else the stored one. */
function renewalBoundary(e: Enrolment, config: CreditConfig, nowMs: number): number | null {
  const { renewal, nextResetMs: nextMs, leftUntilMs } = e
  if (renewal === undefined || nextMs === null || leftUntilMs !== null) return nextMs
  const known = { beganMs: e.enrolledAtMs, issuedMs: e.issuedAtMs, nextMs }
  return boundaryNow(renewal.period, config.period, known, nowMs)
}

function enrolAs(draft: Draft, e: Enrolment, atMs: number): void {
  put(draft, { t: 'credit_enrol', c: draft.account.creditId, at: atMs, e })
}

function enrol(
  draft: Draft,
  config: CreditConfig,
  held: HeldPlanGrant,
  earlier: Enrolment | undefined,
  nowMs: number,
): void {
  const terms = termsOf(held)
  if (earlier?.leftUntilMs != null && earlier.leftUntilMs > nowMs) {
    const comesAgain = terms.cadence !== null || terms.renewal !== undefined
    const nextResetMs = comesAgain ? earlier.leftUntilMs : null
    enrolAs(draft, { ...withoutRenewal(earlier), ...terms, nextResetMs, leftUntilMs: null }, nowMs)
    return
  }
  const anchorMs = config.period?.startMs ?? nowMs
  enrolAs(
    draft,
    {
      ...terms,
      enrolledAtMs: nowMs,
      anchorMs,
      issuedAtMs: nowMs,
      nextResetMs: firstAfter(terms, config, nowMs, anchorMs, nowMs),
      leftUntilMs: null,
    },
    nowMs,
  )
  issue(draft, config, held, sharesOf(held.def, held.licences), nowMs)
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

type Terms = Omit<Enrolment, 'enrolledAtMs' | 'anchorMs' | 'issuedAtMs' | 'nextResetMs' | 'leftUntilMs'>

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

function issue(
  draft: Draft,
  config: CreditConfig,
  held: HeldPlanGrant,
  shares: readonly Share[],
  nowMs: number,
): void {
  const exp = expiryOfIssue(held.def, config, nowMs)
  const renewalPeriod = held.def.resetType === 'no_reset' && held.def.renewalPeriod
  for (const share of shares) {
    giveGrant(
      draft,
      {
        reason: 'plan',
        q: encodeAmount(wholeCredits(share.quantity)),
        exp: exp ?? undefined,
        pg: held.def.id,
        plan: held.planId,
        licence: share.licence ?? undefined,
        rn: renewalPeriod ? cadenceOf(renewalPeriod, config.period) : undefined,
      },
      nowMs,
    )
  }
}

/**
 * Renew a plan's grants at their boundary, beside the rest of earlier ones, each with its own end. source: decision
 * 30
 */
export function renewPlanGrant(draft: Draft, config: CreditConfig, e: Enrolment, renewal: Renewal): void {
  const boundaryMs = e.nextResetMs!
  const exp = endOfGrant(renewal.expiry, config, boundaryMs) ?? undefined
  const rn = cadenceOf(renewal.period, config.period)
  for (const { quantity, licence } of sharesOf(e, e.licences)) {
    const q = encodeAmount(wholeCredits(quantity))
    const g = {
      reason: 'plan',
      q,
      exp,
      pg: e.planGrantId,
      plan: e.planId,
      licence: licence ?? undefined,
      rn,
    } as const
    giveGrant(draft, g, boundaryMs)
  }
  const nextResetMs = renewalAfter(renewal.period, config.period, e.enrolledAtMs, boundaryMs)
  enrolAs(draft, { ...e, issuedAtMs: boundaryMs, nextResetMs }, boundaryMs)
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

function leave(draft: Draft, config: CreditConfig, e: Enrolment, nowMs: number): void {
  zeroWhere(draft, grant => grant.planGrantId === e.planGrantId, 'plan_change', nowMs)
  const periodEndMs =
    config.period === null ? firstOfMonthAfter(1, nowMs) : billingPeriodEnd(config.period, nowMs, 1)
  enrolAs(draft, { ...e, nextResetMs: null, leftUntilMs: e.nextResetMs ?? periodEndMs }, nowMs)
}

/** New terms count from the next reset; another scaling re-issues at once, licences follow at once. source: CR-36, CR-37 */
function followTerms(
  draft: Draft,
  config: CreditConfig,
  e: Enrolment,
  held: HeldPlanGrant,
  nowMs: number,
): void {
  if (sameTerms(e, held)) return
  const terms = termsOf(held)
  const ours = (grant: GrantState): boolean => grant.planGrantId === e.planGrantId
  const sameTimes =
    terms.renewal?.period === e.renewal?.period &&
    terms.cadence === e.cadence &&
    (terms.cadence === null || terms.resetStart === e.resetStart)
  const nextResetMs = sameTimes ? e.nextResetMs : firstAfter(terms, config, e.enrolledAtMs, e.anchorMs, nowMs)
  // boundaries of a renewal that begins now count from now
  const issuedAtMs = sameTimes || terms.renewal === undefined ? e.issuedAtMs : nowMs
  enrolAs(draft, { ...withoutRenewal(e), ...terms, issuedAtMs, nextResetMs }, nowMs)
  if (terms.scaling !== e.scaling) {
    zeroWhere(draft, grant => ours(grant) && grant.reason === 'plan', 'plan_change', nowMs)
    issue(draft, config, held, sharesOf(held.def, held.licences), nowMs)
    return
  }
  const retired = (grant: GrantState): boolean => grant.licence !== null && grant.licence > terms.licences
  zeroWhere(draft, grant => ours(grant) && retired(grant), 'license_retired', nowMs)
  const added = sharesOf(held.def, terms.licences).filter(share => (share.licence ?? 0) > e.licences)
  issue(draft, config, held, added, nowMs)
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
 * source      CR-41, CR-42, CR-43
 */
export function resetPlanGrant(draft: Draft, e: Enrolment, boundaryMs: number, nextMs: number): void {
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
  for (const { quantity, licence } of sharesOf(e, e.licences)) {
    const q = encodeAmount(wholeCredits(quantity))
    giveGrant(draft, { reason: 'plan', q, ...base, licence: licence ?? undefined }, boundaryMs)
  }
  enrolAs(draft, { ...e, issuedAtMs: boundaryMs, nextResetMs: nextMs }, boundaryMs)
}

/** The reset that an enrolment has next, made at its boundary. */
export function resetDue(draft: Draft, e: Enrolment): void {
  const boundaryMs = e.nextResetMs!
  const nextMs = resetAfter(e.cadence!, e.resetStart, e.enrolledAtMs, e.anchorMs, boundaryMs)
  resetPlanGrant(draft, e, boundaryMs, nextMs)
}
