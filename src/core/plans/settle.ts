// Changes of a company's plans and subscriptions by time alone, recorded in the order in which they were due.
import type { Catalog } from '../catalog.js'
import type { Company } from '../model/company-state.js'
import type { Effect } from '../model/message.js'
import { settleDowngrade } from './manage.js'
import { endsAt, isActive, migrationDue, renewsAt } from './plan.js'
import { settleMigrations } from './plan-change.js'
import { withEndedSeats } from './seats.js'
import { settleSubscriptions } from './subscription.js'
import { settleTrial } from './trial-end.js'

/**
 * The first change that is due by time and not yet recorded: a downgrade or migration that was agreed, the end of a
 * trial or of a subscription, a renewal. At one instant agreed changes come first.
 *
 * returns  its effects, for one record; none when nothing is due. Call again until there are none.
 * source   EN-91, EN-93, EN-95, EN-96, PB-34, PB-56, PB-58; the order by instants: decision.
 */
export function settleByTime(company: Readonly<Company>, catalog: Catalog, nowMs: number): readonly Effect[] {
  const effects = firstDue(company, catalog, nowMs)
  return effects.length === 0 ? effects : withEndedSeats(company, catalog, effects, nowMs)
}

function firstDue(company: Readonly<Company>, catalog: Catalog, nowMs: number): readonly Effect[] {
  const instants = dueInstants(company, nowMs)
  const first = instants[0] ?? Number.POSITIVE_INFINITY
  const renewal = Math.min(...company.subscriptions.map(one => renewalOf(one, nowMs)))
  if (renewal <= nowMs && renewal < first) {
    // many periods at once, as long as nothing else happens between them
    const effects = settleSubscriptions(company, catalog, Math.min(nowMs, first - 1))
    if (effects.length > 0) return effects
  }
  for (const atMs of instants) {
    const effects = settleAt(company, catalog, atMs)
    if (effects.length > 0) return effects
  }
  const renewed = renewal <= nowMs ? settleSubscriptions(company, catalog, nowMs) : []
  return renewed.length > 0 ? renewed : datesTold(company, nowMs)
}

/** Dates of migrations as they follow from the subscription now, where others were told last: timers go by them. */
function datesTold(company: Readonly<Company>, nowMs: number): Effect[] {
  const { schedule } = company
  if (schedule === null || schedule.migrations.length === 0) return []
  const migrations = schedule.migrations.map(one => {
    const effectiveAtMs = migrationDue(company, one, nowMs)
    return effectiveAtMs === one.effectiveAtMs ? one : { ...one, effectiveAtMs }
  })
  if (migrations.every((one, i) => one === schedule.migrations[i])) return []
  return [{ t: 'schedule', schedule: { ...schedule, migrations } }]
}

function settleAt(company: Readonly<Company>, catalog: Catalog, atMs: number): Effect[] {
  // a version comes before the change that keeps its plan: that one begins a period, and with it another date (N1)
  const { downgrade = null } = company.schedule ?? {}
  if (downgrade !== null && downgrade.effectiveAtMs <= atMs) {
    const kept = [downgrade.plan, ...downgrade.addOns].flatMap(held => held?.planId ?? [])
    const moved = settleMigrations(company, atMs, kept)
    if (moved.length > 0) return moved
  }
  const agreed = settleDowngrade(company, catalog, atMs)
  if (agreed.length > 0) return agreed
  const effects = settlePlans(company, catalog, atMs)
  return effects.length > 0 ? effects : settleSubscriptions(company, catalog, atMs)
}

/**
 * Effects of time on a company's plans that are not yet recorded: migrations that are due, a trial that is over. The
 * plans in force at an instant are computed without this (`plansInForce`); here they become state, and a record.
 *
 * source  EN-91, EN-93, EN-96, PB-34.
 */
export function settlePlans(company: Readonly<Company>, catalog: Catalog, nowMs: number): Effect[] {
  const moved = settleMigrations(company, nowMs)
  return moved.length > 0 ? moved : settleTrial(company, catalog, nowMs)
}

/** Instants up to now at which something other than a renewal is due, in order. */
function dueInstants(company: Readonly<Company>, nowMs: number): number[] {
  const { plan, schedule, subscriptions } = company
  const instants: number[] = []
  const add = (atMs: number | null | undefined) => {
    if (atMs != null && atMs <= nowMs) instants.push(atMs)
  }
  if (plan?.trial?.status === 'active') add(plan.trial.endMs)
  add(schedule?.downgrade?.effectiveAtMs)
  for (const one of schedule?.migrations ?? []) add(migrationDue(company, one, nowMs))
  for (const one of subscriptions) {
    if (one.status !== 'active' && one.status !== 'trialing' && one.status !== 'past_due') continue
    add(endsAt(one))
    if (one.status === 'trialing') add(one.trialEndMs)
  }
  return instants.sort((a, b) => a - b)
}

/**
 * The first instant at which a change of plans or subscriptions that is not recorded is due: after one, up to now. null: none.
 */
export function changesByTime(company: Readonly<Company>, afterMs: number, nowMs: number): number | null {
  const renewals = company.subscriptions.map(one => renewalOf(one, nowMs))
  const due = [...dueInstants(company, nowMs), ...renewals].filter(atMs => atMs > afterMs && atMs <= nowMs)
  return due.length === 0 ? null : Math.min(...due)
}

function renewalOf(one: Company['subscriptions'][number], nowMs: number): number {
  return isActive(one, Math.min(nowMs, renewsAt(one))) ? renewsAt(one) : Number.POSITIVE_INFINITY
}
