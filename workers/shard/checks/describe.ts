// Description of a company by its actor: its state, and figures that only the core can compute.

import type { Catalog } from '../../../src/core/catalog.js'
import { snapshotUntil } from '../../../src/core/checks/cacheable-until.js'
import { keyPairs } from '../../../src/core/company/entity.js'
import { shownEventNamesMax } from '../../../src/core/company/entity-bounds.js'
import { briefOf, encodeCompany, encodeHead } from '../../../src/core/company/state.js'
import { reportEntitlement, resolveEntitlement } from '../../../src/core/entitlements/entitlement.js'
import { featureUsages } from '../../../src/core/live/feature.js'
import { LiveCompany } from '../../../src/core/live/live-company.js'
import type { Company } from '../../../src/core/model/company-state.js'
import type { Counter } from '../../../src/core/model/counters.js'
import type { CompanyDescription, CompanyLine } from '../../../src/core/model/descriptions.js'
import type { EntitlementReport } from '../../../src/core/model/entitlement-report.js'
import type { WriteReply } from '../../../src/core/model/entity-state.js'
import type { Effect, Question, ShownQuestion } from '../../../src/core/model/message.js'
import { scheduleShown } from '../../../src/core/plans/landing.js'
import { lastUseMs, readAll } from '../../../src/core/usage/counter.js'
import { amountToNumber } from '../../../src/core/values/amount.js'
import { dayMs, dayStart } from '../../../src/core/values/period.js'
import type { TraitRef } from '../../../src/core/values/trait.js'
import { entitlementsJson, MetricsJson, packOutline } from '../../../src/wire/company-outline.js'
import { packUsage } from '../../../src/wire/usage-rows.js'
import { type Actor, answered, type CompanyActor, showFigures } from '../actors.js'

/**
 * Everything about a company at one instant, as plain data; its credits are settled by then.
 *
 * company  one that exists.
 * atMs     the environment's present, epoch ms: trials, overrides and holds that end by it have ended.
 * eventNamesMax  figures of the names used last, at most so many.
 * source   EN-23, EN-50, EN-93, US-1, CR-4.
 */
export function describeCompany(
  company: Company,
  catalog: Catalog,
  atMs: number,
  eventNamesMax = Number.POSITIVE_INFINITY,
): CompanyDescription {
  const live = new LiveCompany(company, catalog, atMs)
  const cycle = live.cycle()
  return {
    state: { ...encodeCompany(company), schedule: scheduleShown(company, catalog) },
    plan: live.inForce.plan,
    addOns: live.inForce.addOns,
    metrics: latest([...company.counters], eventNamesMax).flatMap(([eventSubtype, counter]) =>
      readAll(counter, atMs, cycle).map(reading => ({ ...reading, eventSubtype })),
    ),
    entitlements: reported(live, catalog),
    balances: Object.fromEntries(
      [...company.credits.keys()].map(creditId => {
        const { remaining, reserved, settled, total } = live.figures(creditId)
        return [
          creditId,
          {
            remaining: amountToNumber(remaining),
            reserved: amountToNumber(reserved),
            settled: amountToNumber(settled),
            total: amountToNumber(total),
          },
        ]
      }),
    ),
  }
}

/** The same in short, as a packed `CompanyOutline`: what views of companies show, with figures of the 100 event names used last. */
export function outlineCompany(
  company: Company,
  catalog: Catalog,
  atMs: number,
  eventNamesMax = shownEventNamesMax,
): string {
  const live = new LiveCompany(company, catalog, atMs)
  return packOutline({
    ...headOf(live),
    entitlements: entitlementsJson(reported(live, catalog)),
    metrics: metricsJson(live, eventNamesMax),
    balances: balancesJson(live),
  })
}

/**
 * The same for an asker that keeps figures: it hears again only those that may be others than before. Metrics rest on the
 * company's use and on time, entitlements and balances on the catalog and some traits, too.
 *
 * edition  of the catalog.
 * known    mark of the figures that the asker keeps.
 * next     a mark that was never used.
 */
function outlineAgain(
  actor: CompanyActor,
  catalog: Catalog,
  edition: number,
  atMs: number,
  known: string,
  next: () => string,
): string {
  showFigures(actor)
  const { state, outlined, settledUntilMs } = actor
  const live = new ReadCompany(state, catalog, atMs)
  const head = headOf(live)
  const holds =
    outlined !== null && outlined.mark === known && atMs >= outlined.fromMs && atMs < outlined.untilMs
  if (holds && outlined.edition === edition)
    return packOutline({ ...head, entitlements: '', metrics: '', balances: '' }, known)
  const entitlements = entitlementsJson(reported(live, catalog))
  const metrics = holds ? '' : metricsJson(live)
  const untilMs = Math.min(snapshotUntil(state, settledUntilMs, atMs), dayStart(atMs) + dayMs)
  const mark = next()
  actor.outlined = {
    mark,
    edition,
    fromMs: atMs,
    untilMs: holds ? Math.min(untilMs, outlined.untilMs) : untilMs,
    traits: live.traitsRead,
  }
  return packOutline({ ...head, entitlements, metrics, balances: balancesJson(live) }, mark)
}

/** The part of a write's reply that shows the written entity. */
export type Shown = Pick<WriteReply, 'brief' | 'outline'>

/** Outlines of a shard's companies. `run` names this life of the shard. */
export class Outlines {
  /** Marks of figures given so far. */
  private marks = 0

  constructor(private readonly run: string) {}

  /** An entity as its asker wants it: in short, or its outline; figures that the asker has are left out of that. */
  shown(
    actor: Actor | null,
    catalog: Catalog,
    edition: number,
    atMs: number,
    question: ShownQuestion,
  ): Shown {
    if (question.type === 'brief')
      return actor?.state.exists ? { brief: { ...briefOf(actor.state), keys: keyPairs(actor.state) } } : {}
    if (actor?.k !== 'c' || !actor.state.exists) return { outline: null }
    const { known = '' } = question
    const mark = () => `${this.run} ${++this.marks}`
    return { outline: outlineAgain(actor, catalog, edition, atMs, known, mark) }
  }
}

const noTraits: ReadonlySet<string> = new Set()

/** Remembers which traits were read. */
class ReadCompany extends LiveCompany {
  traitsRead = noTraits

  override traitText(trait: TraitRef): string | null {
    this.traitsRead = new Set([...this.traitsRead, trait.name])
    return super.traitText(trait)
  }
}

/** Whether figures of an outline are the same after these effects: they change its head alone. */
export function keepsFigures({ outlined, answeredFigures }: CompanyActor, fx: readonly Effect[]): boolean {
  if (outlined === null || answeredFigures !== answered.view) return false
  return fx.every(effect => {
    switch (effect.t) {
      case 'trait':
        return !outlined.traits.has(effect.name)
      case 'named':
      case 'touched':
      case 'key':
      case 'key_removed':
      case 'trait_introduced':
      case 'client_trait':
      case 'traits_held':
      case 'seen_set':
        return true
      case 'plan':
      case 'created':
      case 'once':
      case 'seen':
      case 'used':
      case 'joined':
      case 'left':
      case 'deleted':
      case 'override':
      case 'override_removed':
      case 'override_over':
      case 'overdraft_limit':
      case 'add_ons':
      case 'plan_changed':
      case 'trial_ended':
      case 'schedule':
      case 'subscription':
      case 'subscription_removed':
      case 'cycle_counted':
      case 'credit_grant':
      case 'credit_draw':
      case 'credit_refund':
      case 'credit_hold':
      case 'credit_commit':
      case 'credit_release':
      case 'credit_zero_out':
      case 'credit_transfer':
      case 'credit_enrol':
      case 'credit_renew':
      case 'credit_topup':
      case 'credit_external':
        return false
    }
    effect satisfies never
    return false
  })
}

const headOf = ({ company, catalog, inForce }: LiveCompany) => ({
  state: { ...encodeHead(company), schedule: scheduleShown(company, catalog) },
  plan: inForce.plan,
  addOns: inForce.addOns,
})

function metricsJson(live: LiveCompany, eventNamesMax = shownEventNamesMax): string {
  const { company, catalog, nowMs } = live
  const cycle = live.cycle()
  const metrics = new MetricsJson(catalog.data.accountId, company)
  for (const [eventSubtype, counter] of latest([...company.counters], eventNamesMax))
    for (const reading of readAll(counter, nowMs, cycle)) metrics.add(eventSubtype, reading)
  return metrics.end()
}

function balancesJson(live: LiveCompany): string {
  const balances: Record<string, number> = {}
  for (const creditId of live.company.credits.keys())
    balances[creditId] = amountToNumber(live.figures(creditId).remaining)
  return JSON.stringify(balances)
}

/** One line about a company. */
export function lineOf(company: Company, catalog: Catalog, atMs: number): CompanyLine {
  const live = new LiveCompany(company, catalog, atMs)
  let closest: CompanyLine['closest'] = null
  let most = -1
  for (const { featureId, usage, allocation, metricResetAtMs } of reported(live, catalog)) {
    if (usage === null || allocation === null) continue
    const part = allocation > 0 ? Number(usage) / Number(allocation) : usage > 0 ? Number.MAX_VALUE : 1
    if (part <= most) continue
    most = part
    closest = { featureId, usage, limit: allocation, resetAtMs: metricResetAtMs }
  }
  const { state, plan, addOns } = headOf(live)
  return {
    id: state.id,
    name: state.name,
    createdAtMs: state.createdAtMs,
    lastSeenAtMs: state.lastSeenAtMs,
    planId: plan?.planId ?? null,
    addOns: addOns.length,
    closest,
    balances: JSON.parse(balancesJson(live)) as Record<string, number>,
  }
}

/** Its usage of the features it is entitled to, as `packUsage` writes it. source: US-5, US-8 */
export function usageOfFeatures(
  company: Company,
  catalog: Catalog,
  atMs: number,
  { withoutNegative, featureIds }: Extract<Question, { readonly type: 'feature_usage' }>,
): string {
  const live = new LiveCompany(company, catalog, atMs)
  const rows = featureUsages(live, { negative: withoutNegative }, featureIds)
  return packUsage(rows, company, catalog.data, atMs)
}

/** By feature, in the catalog's order (EN-23, EN-50). */
function reported(live: LiveCompany, catalog: Catalog): EntitlementReport[] {
  const reports: EntitlementReport[] = []
  for (const feature of catalog.features) {
    const entitlement = resolveEntitlement(live, feature)
    if (entitlement !== null) reports.push(reportEntitlement(entitlement, live))
  }
  return reports
}

/** In the order they came, those that were used last. */
function latest(
  counters: readonly (readonly [name: string, counter: Counter])[],
  max: number,
): readonly (readonly [name: string, counter: Counter])[] {
  if (counters.length <= max) return counters
  const used = counters.map(([, counter]) => lastUseMs(counter)).sort((a, b) => b - a)
  let equal = max - used.filter(ms => ms > used[max - 1]!).length
  return counters.filter(([, counter]) => {
    const ms = lastUseMs(counter)
    return ms > used[max - 1]! || (ms === used[max - 1]! && equal-- > 0)
  })
}
