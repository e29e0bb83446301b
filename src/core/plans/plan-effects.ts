// The effects that bring a company from its plans to others, and the record of the change (PB-34).
import type { PlanChangeBasePlanAction } from '../../../schemas/enums.js'
import type {
  Company,
  PlanChangeCause,
  PlanHolding,
  PlanSchedule,
  TrialState,
} from '../model/company-state.js'
import type { Effect } from '../model/message.js'
import type {
  EndedTrial,
  HeldVersion,
  NextPlans,
  PlanChangeRecord,
  PlansHeld,
} from '../model/plan-messages.js'
import { derivedId } from '../values/id.js'

/**
 * The effects that bring a company from its plans to others, with the record of the change; none when nothing changes.
 *
 * source  PB-34.
 */
export function planEffects(
  company: Readonly<Company>,
  next: NextPlans,
  cause: PlanChangeCause,
  basePlanAction: PlanChangeBasePlanAction | null,
  atMs: number,
  trial: Pick<TrialState, 'status' | 'endMs'> | null = next.plan?.trial ?? null,
): Effect[] {
  const effects: Effect[] = []
  if (!same(company.plan, next.plan)) effects.push({ t: 'plan', plan: next.plan })
  if (!sameAddOns(company.addOns, next.addOns)) effects.push({ t: 'add_ons', addOns: next.addOns })
  const changed = effects.length > 0
  const schedule = keptSchedule(company, next)
  if (!sameSchedule(company.schedule, schedule)) effects.push({ t: 'schedule', schedule })
  if (!changed) return effects
  const change: PlanChangeRecord = {
    ...cause,
    id: derivedId('plch_', company.id, company.idsMade),
    atMs,
    basePlanAction,
    from: heldVersion(company.plan),
    to: heldVersion(next.plan),
    addOnsAdded: without(next.addOns, company.addOns),
    addOnsRemoved: without(company.addOns, next.addOns),
    trialStatus: trial?.status ?? null,
    trialEndMs: trial?.endMs ?? null,
  }
  const ended = endedTrial(company.plan, next.plan, atMs)
  return [
    ...effects,
    { t: 'plan_changed', change },
    ...(ended ? [{ t: 'trial_ended', trial: ended } as const] : []),
  ]
}

/** The running trial of a plan, when it does not go on with the next; one may be handed on to a higher plan. */
function endedTrial(was: PlanHolding | null, next: PlanHolding | null, atMs: number): EndedTrial | null {
  const trial = was?.trial
  if (!was || trial?.status !== 'active') return null
  const stays = next?.planId === was.planId
  if (next?.trial?.status === 'active' && (stays || next.trial.endMs === trial.endMs)) return null
  return {
    subscriptionId: was.subscriptionId ?? null,
    planId: was.planId,
    beganMs: was.addedAtMs,
    endMs: trial.endMs,
    endSetting: trial.endSetting,
    status: stays ? 'converted' : 'expired',
    atMs,
  }
}

function heldVersion(held: PlanHolding | null): HeldVersion | null {
  return held && { planId: held.planId, versionId: held.versionId }
}

function without(of: readonly PlanHolding[], others: readonly PlanHolding[]): string[] {
  return of.map(({ planId }) => planId).filter(id => !others.some(({ planId }) => planId === id))
}

function same(a: PlanHolding | null, b: PlanHolding | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.planId === b.planId &&
    a.versionId === b.versionId &&
    a.priceId === b.priceId &&
    a.addedAtMs === b.addedAtMs &&
    (a.subscriptionId ?? null) === (b.subscriptionId ?? null) &&
    a.trial?.status === b.trial?.status &&
    a.trial?.endMs === b.trial?.endMs &&
    a.trial?.endSetting === b.trial?.endSetting
  )
}

function sameAddOns(a: readonly PlanHolding[], b: readonly PlanHolding[]): boolean {
  return a.length === b.length && a.every((one, i) => same(one, b[i]!))
}

/**
 * Changes agreed for plans that are left, or for a version that has been replaced, are void.
 *
 * source  PB-23.
 */
export function keptSchedule(was: PlansHeld, next: NextPlans): PlanSchedule | null {
  const { schedule } = next
  if (schedule === null) return null
  const migrations = schedule.migrations.filter(({ planId, versionId }) => {
    const held = versionHeld(next, planId)
    return held !== null && held !== versionId && held === versionHeld(was, planId)
  })
  if (migrations.length === 0 && schedule.downgrade === null) return null
  return { downgrade: schedule.downgrade, migrations }
}

function versionHeld({ plan, addOns }: PlansHeld, planId: string): string | null {
  if (plan?.planId === planId) return plan.versionId
  return addOns.find(one => one.planId === planId)?.versionId ?? null
}

export function sameSchedule(a: PlanSchedule | null, b: PlanSchedule | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
