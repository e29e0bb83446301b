// The company: its state, how a message is decided, how an effect changes it. Start reading here.
import type { Catalog, CompiledPlan } from '../catalog.js'
import { checkAndReserve } from '../checks/reserve.js'
import { decideCredit } from '../credits/account.js'
import { archive } from '../credits/balance.js'
import { applyCredit, copyAccount } from '../credits/ledger.js'
import { creditContext, drawsOf, inferenceCreditsOf, trackCost } from '../live/company-accounts.js'
import { exceededLimits } from '../live/feature.js'
import { LiveCompany } from '../live/live-company.js'
import { type CreditEffect, emptyAccount } from '../model/account-state.js'
import type { Company, PlanHolding } from '../model/company-state.js'
import { Counters } from '../model/counters.js'
import type { PlanVersionDef } from '../model/definitions.js'
import type { WriteReply } from '../model/entity-state.js'
import type { CompanyMessage, Decision, Effect, EntityWrite } from '../model/message.js'
import type { MigrationReply, MigrationWanted, PlanMessage, PlansManaged } from '../model/plan-messages.js'
import type { AcceptedEvent, Refusal } from '../model/requests.js'
import { holding, holdingOf } from '../plans/holding.js'
import { decideManaged } from '../plans/manage.js'
import { cycleOf } from '../plans/plan.js'
import { decidePlans } from '../plans/plan-change.js'
import { planEffects } from '../plans/plan-effects.js'
import { changesPaidSeats, decidedWithSeats, withoutPaidSeats } from '../plans/seats.js'
import { decideSubscriptions } from '../plans/subscription.js'
import { decidedWithPayment } from '../plans/unheld.js'
import { addUsage, effectsOf, fitsUsage, setCycleUsage } from '../usage/counter.js'
import { minuteMs } from '../values/period.js'
import type { Quantity } from '../values/quantity.js'
import { interned, SmallMap } from '../values/shared-names.js'
import { NamedTexts } from '../values/text-map.js'
import {
  applyToEntity,
  clearEntity,
  decideEnsure,
  decideWrite,
  incremented,
  keyPairs,
  remaps,
} from './entity.js'
import { eventNamesMax } from './entity-bounds.js'

/** One shared empty list: a change makes a new list. */
const none: readonly never[] = []

export function newCompany(id: string, environmentId: string): Company {
  return {
    id,
    environmentId: interned(environmentId),
    exists: false,
    name: '',
    keys: new NamedTexts(),
    traits: new NamedTexts(),
    clientTraits: null,
    removedTraits: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    lastSeenAtMs: null,
    sequence: 0,
    plan: null,
    addOns: none,
    trialedPlanIds: none,
    subscriptions: none,
    schedule: null,
    overrides: none,
    overdraftLimit: null,
    counters: new Counters(),
    credits: new SmallMap(),
    idsMade: 0,
    timeMs: 0,
  }
}

/** Requests overtake each other by less than this. A company further ahead was under a test clock that is gone. */
const overtakenMsMax = 10 * minuteMs

/**
 * The company's present when a message arrives: its time never runs backwards.
 *
 * atMs     `now` of the message, epoch ms.
 * returns  the later of that and the last time applied; an instant far behind is returned unchanged, because the test
 *          clock of the environment was removed.
 * source   decision 22; the bound is a decision.
 */
export function presentOf(company: Readonly<Company>, atMs: number): number {
  return atMs < company.timeMs && company.timeMs - atMs <= overtakenMsMax ? company.timeMs : atMs
}

/**
 * Decide one message to a company. Reads no clock and no store: equal arguments, equal decision.
 *
 * company  as it is, not changed, its credits settled (company-accounts.ts); may not exist yet, then an upsert or
 *          identify creates it.
 * nowMs    the company's present (`presentOf`), epoch ms.
 * returns  the reply and the effects to apply and journal, or a refusal that changes nothing.
 */
export function decideCompany(
  company: Company,
  catalog: Catalog,
  message: CompanyMessage,
  nowMs: number,
): Decision {
  switch (message.type) {
    case 'event':
      return decideEvent(company, catalog, message.event, nowMs)
    case 'ensure': {
      const decided = decideEnsure(company, message.write, nowMs)
      return company.exists || 'refused' in decided
        ? decided
        : withFirstPlan(company, catalog, decided.reply, decided.effects, nowMs)
    }
    case 'identify': {
      const write = withoutPaidSeats(company, catalog, message.write, nowMs)
      const decided = decideEntity(company, catalog, write, nowMs, false)
      if ('refused' in decided || message.seenAtMs === null) return decided
      return { reply: decided.reply, effects: [...decided.effects, { t: 'seen', atMs: message.seenAtMs }] }
    }
    case 'upsert':
      return decidedWithSeats(company, catalog, decideUpsert(company, catalog, message, nowMs), nowMs)
    case 'increment_trait': {
      if (!company.exists && message.updateOnly) return { refused: 'not_found' }
      const text = incremented(company, message.name, message.by)
      if (text === null) return { refused: 'trait_not_a_number' }
      const write = { ...message.write, traits: [{ name: message.name, value: text }] }
      const paid = changesPaidSeats(company, catalog, write, nowMs)
      if (paid !== null) return { refused: 'seats_paid', detail: paid }
      return decideEntity(company, catalog, write, nowMs, true)
    }
    case 'seen':
      return { reply: null, effects: company.exists ? [{ t: 'seen', atMs: message.atMs }] : [] }
    case 'delete': {
      const { ifSequence = company.sequence } = message
      if (!company.exists || company.sequence !== ifSequence) return { refused: 'not_found' }
      const keys = keyPairs(company)
      const archived = [...company.credits.values()].flatMap(account => archive(account, nowMs))
      return {
        reply: { created: false, freed: keys } satisfies WriteReply,
        effects: [...archived, { t: 'deleted', keys }],
      }
    }
    case 'put_override':
      return company.exists ? putOverride(company, message, nowMs) : { refused: 'not_found' }
    case 'delete_override':
      if (
        !company.exists ||
        (!message.isOver && !company.overrides.some(one => one.id === message.overrideId))
      )
        return { refused: 'override_not_found' }
      return { reply: null, effects: [{ t: 'override_removed', overrideId: message.overrideId }] }
    case 'limit_overdraft': {
      if (!company.exists) return { refused: 'not_found' }
      const { limit } = message
      return {
        reply: null,
        effects: limit === company.overdraftLimit ? [] : [{ t: 'overdraft_limit', limit }],
      }
    }
    case 'migrate_plan':
      if (company.exists && message.withinLimits === true && exceeds(company, catalog, message, nowMs))
        return { reply: overLimit, effects: [] }
      return planned(company, catalog, message, nowMs)
    case 'change_plans':
    case 'restore_plan':
    case 'cancel_migration':
    case 'settle':
      return planned(company, catalog, message, nowMs)
    case 'manage_plan':
      return company.exists
        ? decidedWithSeats(company, catalog, managed(company, catalog, message, nowMs), nowMs)
        : { refused: 'not_found' }
    case 'put_subscription':
    case 'drop_subscription':
    case 'cycle_counted':
      return company.exists
        ? decidedWithSeats(
            company,
            catalog,
            decidedWithPayment(
              company,
              catalog,
              decideSubscriptions(company, catalog, message, nowMs),
              nowMs,
            ),
            nowMs,
          )
        : { refused: 'not_found' }
    case 'check_and_reserve':
      return checkAndReserve(company, catalog, message, nowMs)
    case 'credit_grant':
    case 'credit_release':
    case 'credit_zero_out':
    case 'credit_lease':
    case 'credit_extend':
    case 'credit_reserve':
    case 'credit_reservation_release':
    case 'credit_topup_settings':
    case 'credit_topup_result':
    case 'credit_forgive':
    case 'credit_external_balance': {
      if (!company.exists) return { refused: 'not_found' }
      // EN-95 (N18); what comes with a change of plans is decided with it
      if (message.type === 'credit_grant' && message.reason === 'purchased' && company.schedule?.downgrade)
        return { refused: 'downgrade_pending' }
      const userId = 'userId' in message ? message.userId : null
      return decideCredit(creditContext(company, catalog, userId, nowMs), message, nowMs)
    }
  }
}

/** A change of plans, with the end of payments and quantities that it leaves without a plan. */
function planned(company: Company, catalog: Catalog, message: PlanMessage, nowMs: number): Decision {
  if (!company.exists) return { refused: 'not_found' }
  const decided = decidePlans(company, catalog, message, nowMs)
  return decidedWithSeats(company, catalog, decidedWithPayment(company, catalog, decided, nowMs), nowMs)
}

const overLimit: MigrationReply = {
  outcome: 'failed',
  reason: 'over_limit',
  fromVersionId: null,
  effectiveAtMs: null,
}

/** Whether a company would use more than a move at once would allow it (EN-87). */
function exceeds(company: Company, catalog: Catalog, message: MigrationWanted, nowMs: number): boolean {
  const decided = planned(company, catalog, { ...message, when: 'now' }, nowMs)
  if ('refused' in decided || !decided.effects.some(effect => effect.t === 'plan_changed')) return false
  return (
    exceededLimits(new LiveCompany(withEffects(company, decided.effects, nowMs), catalog, nowMs)).length > 0
  )
}

/** A company as it is after these effects, which are none of counters and credits. */
export function withEffects(company: Company, effects: readonly Effect[], nowMs: number): Company {
  const after = { ...company, traits: company.traits.copy() }
  for (const effect of effects) if (!isCreditEffect(effect)) apply(after, effect, nowMs)
  return after
}

/**
 * One override per feature (EN-4); one that has expired makes room for a new one.
 *
 * returns  the id of the one that made room, or null.
 * errors   override_exists; override_not_found; expired, unless it ends as it did before (EN-61).
 */
function putOverride(
  company: Company,
  { override, replace }: Extract<CompanyMessage, { readonly type: 'put_override' }>,
  nowMs: number,
): Decision {
  const had = company.overrides.find(one => one.entitlement.featureId === override.entitlement.featureId)
  const isOver = (endMs: number | null) => endMs !== null && endMs <= nowMs
  const isSame = replace && had?.expiresAtMs === override.expiresAtMs
  if (isOver(override.expiresAtMs) && !isSame) return { refused: 'expired' }
  if (!had) return replace ? { refused: 'override_not_found' } : put([])
  if (replace) return had.id === override.id ? put([]) : { refused: 'override_exists' }
  if (!isOver(had.expiresAtMs)) return { refused: 'override_exists' }
  return put([{ t: 'override_over', overrideId: had.id }])

  function put(first: readonly Effect[]): Decision {
    return { reply: first.length > 0 ? had!.id : null, effects: [...first, { t: 'override', override }] }
  }
}

/** A managed change with the credits bought by it: everything or nothing (PB-34). */
function managed(company: Company, catalog: Catalog, message: PlansManaged, nowMs: number): Decision {
  const decided = decideManaged(company, catalog, message, nowMs)
  const asked = [...(message.topups ?? []), ...message.purchases]
  if ('refused' in decided || asked.length === 0) return decided
  // bought on the new plans: their periods say when credits end
  const after: Company = {
    ...company,
    traits: company.traits.copy(),
    credits: SmallMap.of([...company.credits].map(([id, account]) => [id, copyAccount(account)])),
  }
  for (const effect of decided.effects) apply(after, effect, nowMs)
  const bought: Effect[] = []
  for (const one of asked) {
    const credit = decideCredit(creditContext(after, catalog, null, nowMs), one, nowMs)
    if ('refused' in credit) return credit
    for (const effect of credit.effects) apply(after, effect, nowMs)
    bought.push(...credit.effects)
  }
  return { reply: decided.reply, effects: [...decided.effects, ...bought] }
}

/** Apply the effect `used`. atMs: time of the event; nowMs: time of its message. */
export function applyUse(
  company: Company,
  subtype: string,
  quantity: Quantity,
  atMs: number,
  nowMs: number,
): void {
  const { counters } = company
  const counter = counters.get(subtype) ?? counters.add(subtype, nowMs)
  addUsage(counter, quantity, atMs, nowMs, cycleOf(company, nowMs))
}

/** The one function that changes a company: live traffic and replay both end here. */
export function apply(company: Company, effect: Effect, atMs: number): void {
  if (isCreditEffect(effect)) return applyToAccount(company, effect)
  if (applyToEntity(company, effect, atMs)) return
  switch (effect.t) {
    case 'used':
      return applyUse(company, effect.subtype, effect.quantity, effect.atMs, atMs)
    case 'plan':
      company.plan = effect.plan
      if (effect.plan?.trial) rememberTrial(company, effect.plan.planId)
      return
    case 'add_ons':
      company.addOns = effect.addOns.length === 0 ? none : effect.addOns.slice()
      return
    case 'plan_changed':
      company.idsMade++
      return
    case 'trial_ended':
      return
    case 'schedule':
      company.schedule = effect.schedule
      return
    case 'subscription': {
      const others = company.subscriptions.filter(one => one.externalId !== effect.subscription.externalId)
      company.subscriptions = [...others, effect.subscription]
      return
    }
    case 'subscription_removed':
      company.subscriptions = company.subscriptions.filter(one => one.id !== effect.subscriptionId)
      return
    case 'cycle_counted':
      for (const { subtype, ...counted } of effect.values) {
        const counter = company.counters.get(subtype)
        if (counter) setCycleUsage(counter, effect.startMs, counted, atMs, cycleOf(company, atMs))
      }
      return
    case 'override': {
      const { override } = effect
      const isChanged = company.overrides.some(one => one.id === override.id)
      company.overrides = isChanged
        ? company.overrides.map(one => (one.id === override.id ? override : one))
        : [...company.overrides, override]
      return
    }
    case 'override_over':
    case 'override_removed':
      company.overrides = company.overrides.filter(one => one.id !== effect.overrideId)
      return
    case 'overdraft_limit':
      company.overdraftLimit = effect.limit
      return
    case 'deleted':
      clearEntity(company)
      company.plan = null
      company.addOns = none
      company.trialedPlanIds = none
      company.subscriptions = none
      company.schedule = null
      company.overrides = none
      company.overdraftLimit = null
      company.counters = new Counters()
      company.credits = new SmallMap()
      return
    case 'trait':
    case 'created':
    case 'key':
    case 'key_removed':
    case 'named':
    case 'trait_introduced':
    case 'client_trait':
    case 'traits_held':
    case 'touched':
    case 'once':
    case 'seen':
    case 'seen_set':
    case 'joined':
    case 'left':
      throw new Error(`a company knows no effect ${effect.t}`)
  }
  // a record of a newer build may hold one that this build does not know
  effect satisfies never
  throw new Error('an effect of a newer build')
}

function applyToAccount(company: Company, effect: CreditEffect): void {
  let account = company.credits.get(effect.c)
  if (account === undefined) {
    account = emptyAccount(company.id, effect.c)
    company.credits.set(account.creditId, account)
  }
  applyCredit(account, effect)
}

const isCreditEffect = (effect: Effect): effect is CreditEffect => effect.t.startsWith('credit_')

/** Why an event fails whose name would be one too many for its company. */
const tooManyNames = `event: the company has used ${eventNamesMax} names of events`

/** Whether a use of this name would give a company one counter too many. */
export function hasTooManyNames({ counters }: Readonly<Company>, name: string): boolean {
  return counters.size >= eventNamesMax && !counters.has(name)
}

/** Why an event fails whose quantity would take a sum beyond 64 bits. */
const tooMuchUse = 'body.quantity: the usage of the event would be out of range'

/** Whether a use can be counted without a sum beyond 64 bits; arguments as those of `applyUse`. */
export function hasRoomFor(
  company: Company,
  subtype: string,
  quantity: Quantity,
  atMs: number,
  nowMs: number,
): boolean {
  return fitsUsage(company.counters.get(subtype), quantity, atMs, nowMs, cycleOf(company, nowMs))
}

/** EV-16, EV-45, EV-46, EV-55: effects of an accepted event on its company. */
function decideEvent(company: Company, catalog: Catalog, event: AcceptedEvent, nowMs: number): Decision {
  // deleted meanwhile: recorded without effect (CU-53)
  if (event.failure !== null || !company.exists) return { reply: null, effects: [] }
  const effects: Effect[] = []
  if (event.type === 'track' && event.subtype !== null) {
    if (hasTooManyNames(company, event.subtype)) return { refused: 'entity_full', detail: tooManyNames }
    if (!hasRoomFor(company, event.subtype, event.quantity, event.capturedAtMs, nowMs))
      return { refused: 'entity_full', detail: tooMuchUse }
    effects.push({ t: 'used', subtype: event.subtype, quantity: event.quantity, atMs: event.capturedAtMs })
    const draws = drawsOf(company, catalog, event, trackCost(event), nowMs, event.body)
    if (typeof draws === 'string') return { refused: 'spend_cap', detail: draws }
    for (const draw of draws) effects.push(draw)
  }
  if (event.inference !== null) {
    const cost = inferenceCreditsOf(event.inference.tokens)
    const draws = drawsOf(company, catalog, event, cost, nowMs, event.body)
    if (typeof draws === 'string') return { refused: 'spend_cap', detail: draws }
    for (const draw of draws) effects.push(draw)
  }
  if (effectsOf(event.mode).seen) effects.push({ t: 'seen', atMs: event.capturedAtMs })
  return { reply: null, effects }
}

function decideUpsert(
  company: Readonly<Company>,
  catalog: Catalog,
  message: CompanyMessage & { type: 'upsert' },
  nowMs: number,
): Decision {
  if (!company.exists && message.updateOnly) return { refused: 'not_found' }
  if (message.preventRemap && remaps(company, message.write.addKeys)) return { refused: 'key_remap' }
  const paid = changesPaidSeats(company, catalog, message.write, nowMs)
  if (paid !== null) return { refused: 'seats_paid', detail: paid }
  const decided = decideWrite(company, message.write, nowMs, true)
  if ('refused' in decided || company.exists) return decided // a base plan counts at creation only (CU-18)
  const plan = firstPlan(company, catalog, message.basePlanId, message.basePlanPriceId, nowMs)
  if (typeof plan === 'string') return { refused: plan }
  const chosen = message.basePlanId !== null
  return {
    reply: decided.reply,
    effects: [...decided.effects, ...begunWith(company, catalog, plan, chosen, nowMs)],
  }
}

/** A write that may create the company, with its first plan (EN-80, EV-31). */
function decideEntity(
  company: Readonly<Company>,
  catalog: Catalog,
  write: EntityWrite,
  nowMs: number,
  touches: boolean,
): Decision {
  const decided = decideWrite(company, write, nowMs, touches)
  if ('refused' in decided || company.exists) return decided
  return withFirstPlan(company, catalog, decided.reply, decided.effects, nowMs)
}

function withFirstPlan(
  company: Readonly<Company>,
  catalog: Catalog,
  reply: WriteReply,
  effects: readonly Effect[],
  nowMs: number,
): Decision {
  const plan = firstPlan(company, catalog, null, null, nowMs)
  if (plan === null || typeof plan === 'string') return { reply, effects }
  return { reply, effects: [...effects, ...begunWith(company, catalog, plan, false, nowMs)] }
}

/** The first plan, with its record (EN-80, PB-34). */
function begunWith(
  company: Readonly<Company>,
  catalog: Catalog,
  plan: PlanHolding | null,
  chosen: boolean,
  nowMs: number,
): Effect[] {
  const initial = plan?.planId === catalog.data.initialPlanId
  return planEffects(
    company,
    { plan, addOns: [], schedule: null },
    { action: 'company_upsert', actorType: chosen ? 'api_key' : 'system', apiKeyId: null },
    chosen ? null : initial ? 'initial' : 'fallback',
    nowMs,
  )
}

/**
 * The plan of a company that is being created.
 *
 * returns  the holding; null for none; a refusal when the base plan asked for cannot be given.
 * source   EN-80, EN-81, EN-84.
 */
function firstPlan(
  company: Readonly<Company>,
  catalog: Catalog,
  basePlanId: string | null,
  priceId: string | null,
  nowMs: number,
): PlanHolding | null | Refusal {
  if (basePlanId !== null) {
    const plan = catalog.plans.get(basePlanId)
    const version = plan && publishedVersion(plan)
    if (!plan || !version || plan.def.planType !== 'plan') return 'plan_not_assignable'
    if (plan.def.companyId !== null && plan.def.companyId !== company.id) return 'plan_not_assignable' // PB-13
    const linked = version.billingProductId !== null
    if (linked !== (priceId !== null)) return 'plan_not_assignable' // a price is required for a linked plan, forbidden otherwise
    return holding(basePlanId, version, priceId, nowMs, company)
  }
  return (
    holdingOf(catalog, catalog.data.initialPlanId, null, nowMs, company) ??
    holdingOf(catalog, catalog.data.fallbackPlanId, null, nowMs, company)
  )
}

const publishedVersion = ({ def }: CompiledPlan): PlanVersionDef | undefined =>
  def.versions.find(version => version.id === def.publishedVersionId)

function rememberTrial(company: Company, planId: string): void {
  if (!company.trialedPlanIds.includes(planId)) company.trialedPlanIds = [...company.trialedPlanIds, planId]
}
