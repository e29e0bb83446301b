// Credits as part of a company: configuration of each account by its plans, changes by time and by plans, and the
// draws of an event.
import type { BillingCreditBurnStrategy } from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import { due, nextDueMs } from '../credits/balance.js'
import { haveGroups } from '../credits/budget.js'
import { spendCap } from '../credits/config.js'
import { budgetRefusal, drawForEvent } from '../credits/draw.js'
import { grantId } from '../credits/grant.js'
import { applyCredit, copyAccount } from '../credits/ledger.js'
import { followPlan, type HeldPlanGrant } from '../credits/plan-grant.js'
import type { CompiledVersion, CreditDraw } from '../entitlements/entitlement.js'
import {
  type CreditAccount,
  type CreditConfig,
  type CreditContext,
  type CreditEffect,
  emptyAccount,
} from '../model/account-state.js'
import type { Company } from '../model/company-state.js'
import type { PlanCreditGrantDef } from '../model/definitions.js'
import { inferenceCredits, type Tokens } from '../model/model-price.js'
import type { AcceptedEvent, UseTraits } from '../model/requests.js'
import { plansChangeAt } from '../plans/plan.js'
import { effectsOf } from '../usage/counter.js'
import { amountToNumber, costOf } from '../values/amount.js'
import { creditDraws } from './feature.js'
import { LiveCompany, soleVersion } from './live-company.js'

/** The plan credit grants that a company holds now, by credit, base plan first (CR-35, CR-39). */
function heldPlanGrants(live: LiveCompany): ReadonlyMap<string, readonly HeldPlanGrant[]> {
  const held = new Map<string, HeldPlanGrant[]>()
  for (const { id: versionId, planId, creditGrants } of live.versions)
    for (const def of creditGrants) {
      const grant = { def, planId, versionId, licences: licencesOf(live, def) }
      const others = held.get(def.creditId)
      if (others) others.push(grant)
      else held.set(def.creditId, [grant])
    }
  return held
}

/** Licences held: the purchased quantity of the licence's feature (EN-71). */
function licencesOf({ company, catalog }: LiveCompany, { licenseId }: PlanCreditGrantDef): number {
  if (licenseId === null) return 0
  const feature = catalog.data.features.find(one => one.licenseId === licenseId)
  const trait = feature?.usageLimitTraitId ? catalog.traits.get(feature.usageLimitTraitId) : undefined
  const text = trait && company.traits.text(trait.name)
  return text && /^\d{1,9}$/.test(text) ? Number(text) : 0
}

/** Configuration of one credit of a company, with the spend policies of one of its users; null: unknown credit. */
export function configFor(
  live: LiveCompany,
  creditId: string,
  userId: string | null,
  traits: UseTraits | null = null,
): CreditConfig | null {
  const config = live.creditConfig(creditId)
  const { spendPolicies } = live.catalog.data
  if (config === null || spendPolicies.length === 0) return config
  const windows = live.budgetWindows(creditId, userId, traits)
  if (userId === null && windows.length === 0) return config
  return { ...config, maxPerDraw: spendCap(spendPolicies, creditId, live.id, userId), windows }
}

/** Traits of an event that groups of spend policies go by; null: no policy has a group, or the event has no traits. */
function groupTraits(catalog: Catalog, body: string | null): UseTraits | null {
  if (!haveGroups(catalog.data.spendPolicies) || !body?.includes('"traits"')) return null
  try {
    const { traits } = JSON.parse(body) as { traits?: Record<string, unknown> | null }
    return traits == null ? null : Object.fromEntries(Object.entries(traits).map(([k, v]) => [k, String(v)]))
  } catch {
    return null // a body that was cut off
  }
}

/** The accounts of a company and their configuration, for credit decisions. */
export function creditContext(
  company: Company,
  catalog: Catalog,
  userId: string | null,
  nowMs: number,
): CreditContext {
  const live = new LiveCompany(company, catalog, nowMs)
  return {
    companyId: company.id,
    accounts: company.credits,
    configOf: creditId => configFor(live, creditId, userId),
  }
}

/** The live figures of one grant, as JSON numbers; a grant that is absent has nothing left. */
export interface GrantFigures {
  readonly id: string
  readonly remaining: number
  /** Inside open holds. */
  readonly held: number
}

/** A company's credits at one instant, as its actor describes them. */
export interface CreditsDescription {
  readonly name: string
  readonly accounts: readonly {
    readonly creditId: string
    /** Sequence of its last ledger entry: grants with a later one came after. */
    readonly sequence: number
    readonly remaining: number
    readonly reserved: number
    readonly settled: number
    readonly total: number
    readonly grants: readonly GrantFigures[]
  }[]
}

/** The credits of a company that exists; settled by then. source: CR-4, CR-5, CR-12 */
export function describeCredits(company: Company, catalog: Catalog, atMs: number): CreditsDescription {
  const live = new LiveCompany(company, catalog, atMs)
  return {
    name: company.name,
    accounts: [...company.credits.values()].map(({ companyId, creditId, sequence, grants, overdraft }) => {
      const { remaining, reserved, settled, total } = live.figures(creditId)
      const all = overdraft === null ? grants : [...grants, overdraft]
      return {
        creditId,
        sequence,
        remaining: amountToNumber(remaining),
        reserved: amountToNumber(reserved),
        settled: amountToNumber(settled),
        total: amountToNumber(total),
        grants: all.map(grant => ({
          id: grantId(companyId, creditId, grant.seq),
          remaining: amountToNumber(grant.remaining),
          held: amountToNumber(grant.held),
        })),
      }
    }),
  }
}

/** Result of `settle`, and the instant until which time alone changes nothing more. */
export interface Settlement {
  readonly effects: readonly CreditEffect[]
  /** Epoch ms; Infinity when nothing is foreseen. */
  readonly untilMs: number
}

/**
 * Bring a company's accounts up to now: expiries, resets, ends of holds, arrears; and the grants of the plans it
 * holds, issued or taken back. Runs before every message, so that every reader sees exact figures.
 *
 * source  CR-30, CR-35…44, CR-53, CR-76.
 */
export function settle(company: Company, catalog: Catalog, nowMs: number): Settlement {
  const live = new LiveCompany(company, catalog, nowMs)
  const held = heldPlanGrants(live)
  const effects: CreditEffect[] = []
  let untilMs = plansChangeAt(company, nowMs) // plans bring and take their grants
  for (const creditId of new Set([...company.credits.keys(), ...held.keys()])) {
    const config = live.creditConfig(creditId)
    if (config === null) continue
    // nearly always there is nothing to do, and nothing is copied for it
    let account = company.credits.get(creditId) ?? emptyAccount(company.id, creditId)
    const ended = due(account, config, nowMs)
    if (ended.length > 0) account = after(account, ended, effects)
    const followed = followPlan(account, config, held.get(creditId) ?? [], nowMs)
    if (followed.length > 0) account = after(account, followed, effects)
    untilMs = Math.min(untilMs, nextDueMs(account, config))
  }
  return { effects, untilMs }
}

/** The members of an event that a draw reads. `id` null: the writer of the draw adds the event's id. */
export type Metered = Pick<
  AcceptedEvent,
  'type' | 'subtype' | 'mode' | 'quantity' | 'userId' | 'capturedAtMs' | 'leaseId' | 'reservationId'
> & { readonly id: string | null }

/**
 * Draws of a track or inference event: one per distinct credit entitlement of a feature it meters, each by the
 * entitlement reported for that feature now.
 *
 * cost     credits (nano) the event costs at the rates of a draw.
 * body     the event's own, as groups of spend policies go by its traits; null: no policy has a group.
 * returns  effects in order; the event is never refused for lack of credits (CR-49). Text: the reason for which a spend
 *          policy, of single draws or of a window, lets the event fail as a whole, from whatever grants.
 * source   BU-3, EN-44, EN-45, CR-48, EV-16, EV-50, EV-64, decision 27.
 */
export function drawsOf(
  company: Company,
  catalog: Catalog,
  event: Metered,
  cost: (draw: CreditDraw) => bigint,
  nowMs: number,
  body: string | null = null,
): readonly CreditEffect[] | string {
  if (event.subtype === null || !effectsOf(event.mode).draws) return none
  if (!catalog.featuresBySubtype.has(event.subtype)) return none // nothing is metered by it: the common case
  const only = soleVersion(company, catalog)
  const known = event.type === 'track' ? only?.draws.get(event.subtype) : undefined
  if (known?.length === 0) return none
  let live: LiveCompany | null = null
  let draws = known
  if (draws === undefined) {
    live = new LiveCompany(company, catalog, nowMs)
    draws = creditDraws(catalog, live, event.subtype, event.type === 'inference' ? 'inference' : 'track')
    if (event.type === 'track') only?.draws.set(event.subtype, draws)
  }
  const shared = catalog.data.spendPolicies.length === 0 ? only : null
  let effects: readonly CreditEffect[] = none
  for (const draw of draws) {
    let config: CreditConfig | null = shared?.configs.get(draw.creditId) ?? null
    if (config === null) {
      live ??= new LiveCompany(company, catalog, nowMs)
      config = configFor(live, draw.creditId, event.userId, groupTraits(catalog, body))
    }
    if (config === null) continue
    const amount = cost(draw)
    if (config.maxPerDraw !== null && amount > config.maxPerDraw) return aboveCap
    const own = company.credits.get(draw.creditId) ?? emptyAccount(company.id, draw.creditId)
    // the account after the earlier draws; a second draw on one credit is rare
    const before = effects.length === 0 ? effects : effects.filter(({ c }) => c === draw.creditId)
    const account = before.length === 0 ? own : after(own, before, [])
    const refund = event.quantity < 0
    const use = {
      cost: amount,
      featureId: draw.featureId,
      eventId: event.id,
      userId: event.userId,
      atMs: event.capturedAtMs,
      leaseId: refund ? null : event.leaseId,
      reservationId: refund ? null : event.reservationId,
    }
    const over = budgetRefusal(account, config, use)
    if (over !== null) return over
    const made = drawForEvent(account, config, use, nowMs).effects
    effects = effects.length === 0 ? made : [...effects, ...made]
  }
  return effects
}

const none: readonly never[] = []
/** Why an event fails that costs more than a spend policy allows (decision 27). */
const aboveCap = 'the event costs more credits than a spend policy lets one draw take'

/**
 * The draw of a track event of one name for companies that one version alone decides: from one account, at one rate.
 */
export interface SoleDraw {
  readonly creditId: string
  readonly featureId: string
  /** Credits per unit. */
  readonly rate: number
  readonly burnStrategy: BillingCreditBurnStrategy
}

/**
 * The one draw that `drawsOf` finds for an event of this name, where nothing can come of it but that draw.
 *
 * returns  null where there are none or several, a top-up may follow, the ledger is kept elsewhere or a policy applies;
 *          and until `drawsOf` was called for such an event.
 */
export function soleDrawOf(version: CompiledVersion, catalog: Catalog, subtype: string): SoleDraw | null {
  if (catalog.data.spendPolicies.length > 0) return null
  const draws = version.draws.get(subtype)
  if (draws?.length !== 1) return null
  const { creditId, featureId, rate } = draws[0]!
  const config = version.configs.get(creditId)
  if (config?.ledgerAuthority !== 'service_authoritative' || config.topup !== null) return null
  return { creditId, featureId, rate, burnStrategy: config.burnStrategy }
}

/** The cost of a track event: quantity × rate (CR-48, EN-40). */
export function trackCost(event: Pick<Metered, 'quantity'>): (draw: CreditDraw) => bigint {
  return ({ rate }) => costOf(event.quantity, rate)
}

/** The credits of an inference event: requests × rate and quantity rates (EV-65, EN-42). */
export function inferenceCreditsOf(tokens: Tokens): (draw: CreditDraw) => bigint {
  return ({ rate, quantityRates }) => inferenceCredits(tokens, rate, quantityRates)
}

/** The account as these effects leave it, which are added to `effects`; the account itself stays as it is. */
function after(
  account: Readonly<CreditAccount>,
  made: readonly CreditEffect[],
  effects: CreditEffect[],
): CreditAccount {
  const copy = copyAccount(account)
  for (const effect of made) {
    applyCredit(copy, effect)
    effects.push(effect)
  }
  return copy
}
