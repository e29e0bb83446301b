// Changes of a company's plans: by assignment, by migration to another version, by time alone. Each appends a record.
import type { MigrationProrationBehavior, PlanType } from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import type {
  Commitment,
  Company,
  MigrationTerms,
  PlanChangeCause,
  PlanHolding,
  PlannedCompany,
  PlanSchedule,
  ScheduledMigration,
  SubscriptionState,
} from '../model/company-state.js'
import type { Decision, Effect } from '../model/message.js'
import type {
  Migrated,
  MigrationReply,
  MigrationWanted,
  PlanMessage,
  PlanRestored,
  PlansWanted,
} from '../model/plan-messages.js'
import { holding, holdingOf } from './holding.js'
import { movedBy, moveProblem, withMoved } from './move.js'
import { billingBlock, migrated, migratedSubscription, migrationDue } from './plan.js'
import { keptSchedule, planEffects, sameSchedule } from './plan-effects.js'
import { restoredPlans } from './restore.js'

/**
 * Decide what an assignment or a migration does to a company that exists.
 *
 * returns  `migrate_plan` and `restore_plan`: MigrationReply; the others: null. `plan_not_assignable` for a
 *          plan, add-on or version this company cannot be on: nothing changes then (PB-34).
 * source   EN-84…86, PB-13, PB-20…24, PB-30, PB-31.
 */
export function decidePlans(
  company: Readonly<Company>,
  catalog: Catalog,
  message: PlanMessage,
  nowMs: number,
): Decision {
  switch (message.type) {
    case 'change_plans':
      return decideChange(company, catalog, message, nowMs)
    case 'migrate_plan':
      return decideMigration(company, catalog, message, nowMs)
    case 'restore_plan':
      return decideRestore(company, catalog, message, nowMs)
    case 'settle':
      return { reply: null, effects: [] }
    case 'cancel_migration': {
      return { reply: null, effects: withoutMigration(company, message.migrationId) }
    }
  }
}

/** The end of an agreement to migrate; none where there is none. */
function withoutMigration(company: Readonly<Company>, migrationId: string): Effect[] {
  const kept = company.schedule?.migrations.filter(one => one.migrationId !== migrationId)
  if (!company.schedule || kept?.length === company.schedule.migrations.length) return []
  const schedule = { ...company.schedule, migrations: kept! }
  return [{ t: 'schedule', schedule: keptSchedule(company, { ...company, schedule }) }]
}

function decideChange(
  company: Readonly<Company>,
  catalog: Catalog,
  message: PlansWanted,
  nowMs: number,
): Decision {
  const next = assembled(company, catalog, message, nowMs)
  if ('refused' in next) return next
  const { plan, addOns, why } = next
  // A change of base plan cancels changes agreed for the former one (EN-95).
  const left = company.plan?.planId !== plan?.planId
  const schedule = company.schedule && { ...company.schedule, ...(left && { downgrade: null }) }
  const effects = planEffects(company, { plan, addOns, schedule }, message.cause, why, nowMs)
  return { reply: null, effects: [...committed(company, message.commitments, nowMs), ...effects] }
}

/** Plans as a company would hold them, or the refusal. */
export function assembled(
  company: Readonly<Company>,
  catalog: Catalog,
  message: Pick<PlansWanted, 'basePlanId' | 'addOnIds' | 'versionIds' | 'priceIds'>,
  nowMs: number,
):
  | { readonly plan: PlanHolding | null; readonly addOns: PlanHolding[]; readonly why: 'fallback' | null }
  | { readonly refused: 'plan_not_assignable'; readonly detail: string } {
  const { basePlanId, addOnIds } = message
  const fallback = basePlanId === null
  const plan = fallback
    ? fallbackHolding(company, catalog, nowMs)
    : wanted(company, catalog, message, basePlanId, 'plan', nowMs)
  if (plan === undefined) return unassignable('base_plan_id', basePlanId)
  const addOns: PlanHolding[] = []
  for (const id of new Set(addOnIds ?? company.addOns.map(one => one.planId))) {
    const addOn = wanted(company, catalog, message, id, 'add_on', nowMs)
    if (addOn === undefined) return unassignable('add_on_ids', id)
    addOns.push(addOn)
  }
  addOns.sort((a, b) => a.addedAtMs - b.addedAtMs) // by date added (EN-23)
  return { plan, addOns, why: fallback && plan ? 'fallback' : null }
}

function unassignable(member: string, planId: string | null) {
  const detail = `${member}: the company cannot be on plan ${planId}`
  return { refused: 'plan_not_assignable', detail } as const
}

/** EN-82, PB-30: one that is on it already stays as it is. */
function fallbackHolding(company: Readonly<Company>, catalog: Catalog, nowMs: number): PlanHolding | null {
  const { fallbackPlanId } = catalog.data
  if (company.plan !== null && company.plan.planId === fallbackPlanId) return company.plan
  return holdingOf(catalog, fallbackPlanId, null, nowMs, company)
}

/** A plan as the company would hold it; undefined when it cannot. */
function wanted(
  company: Readonly<Company>,
  catalog: Catalog,
  message: Pick<PlansWanted, 'versionIds' | 'priceIds'>,
  planId: string,
  planType: PlanType,
  nowMs: number,
): PlanHolding | undefined {
  const def = catalog.plans.get(planId)?.def
  if (!def || def.planType !== planType) return undefined
  if (def.companyId !== null && def.companyId !== company.id) return undefined // PB-13
  const held = planType === 'plan' ? company.plan : company.addOns.find(one => one.planId === planId)
  const present = held?.planId === planId ? held : undefined
  const versionId = message.versionIds[planId] ?? present?.versionId ?? def.publishedVersionId
  const priceId = message.priceIds[planId] ?? present?.priceId ?? null
  if (present && present.versionId === versionId) return { ...present, priceId }
  const version = def.versions.find(one => one.id === versionId)
  if (!version) return undefined
  return present
    ? { ...present, versionId: version.id, priceId }
    : holding(planId, version, priceId, nowMs, company)
}

function decideMigration(
  company: Readonly<Company>,
  catalog: Catalog,
  message: MigrationWanted,
  nowMs: number,
): Decision<MigrationReply> {
  const { planId, versionId, migrationId, toPlanId } = message
  const held =
    toPlanId === undefined
      ? [company.plan, ...company.addOns].find(one => one?.planId === planId)
      : company.plan?.planId === planId
        ? company.plan
        : null
  const reply = (
    outcome: MigrationReply['outcome'],
    reason: MigrationReply['reason'] = null,
    effectiveAtMs: number | null = null,
  ): MigrationReply => ({
    outcome,
    ...(reason !== null && { reason }),
    fromVersionId: held?.versionId ?? null,
    effectiveAtMs,
  })
  const failed = (reason: MigrationReply['reason']) => ({
    reply: reply('failed', reason),
    effects: withoutMigration(company, migrationId),
  })
  if (toPlanId !== undefined) {
    const problem = moveProblem(company, catalog, message)
    if (problem !== null)
      return problem.outcome === 'failed'
        ? failed(problem.reason)
        : { reply: reply(problem.outcome, problem.reason), effects: [] }
    if (!held) return decideFirstPlan(company, catalog, message, reply, nowMs)
  }
  if (!held) return { reply: reply('skipped', 'left_plan'), effects: [] }
  if (held.versionId === versionId) return { reply: reply('completed'), effects: [] }
  if (message.fromVersionIds && !message.fromVersionIds.includes(held.versionId))
    return { reply: reply('skipped', 'left_plan'), effects: [] }
  const waits = company.schedule?.migrations.some(one => one.migrationId === migrationId) === true
  if (message.agreed === true && !waits) return { reply: reply('skipped', 'left_plan'), effects: [] }
  if (!catalog.versions.has(versionId)) return { refused: 'plan_not_assignable' }
  const block = billingBlock(company, message)
  if (block !== null) return failed(block)

  const agreed = company.schedule?.migrations.find(one => one.migrationId === migrationId)
  const agreedAtMs = agreed ? (agreed.agreedAtMs ?? 0) : nowMs
  const dueMs = dueOf(company, message, agreedAtMs, nowMs)
  if (dueMs === null || dueMs > nowMs) {
    const {
      when,
      proration = null,
      priceIds,
      productIds,
      ended,
      unsold,
      unpaidFrom,
      commitments,
      isPaid,
    } = message
    const schedule = scheduleWith(company, {
      migrationId,
      planId,
      versionId,
      effectiveAtMs: dueMs,
      agreedAtMs,
      priceIds,
      ...(when === 'scheduled' && { strategy: when, proration }),
      ...(productIds && { productIds }),
      ...(ended && ended.length > 0 && { ended }),
      ...(unsold && unsold.length > 0 && { unsold }),
      ...(unpaidFrom && unpaidFrom.length > 0 && { unpaidFrom }),
      ...(commitments.length > 0 && { commitments }),
      ...(toPlanId !== undefined && { toPlanId }),
      ...(isPaid && { isPaid }),
    })
    const known = sameSchedule(company.schedule, schedule)
    return { reply: reply('scheduled', null, dueMs), effects: known ? [] : [{ t: 'schedule', schedule }] }
  }
  return { reply: reply('completed'), effects: migrationEffects(company, message, message.cause, nowMs) }
}

/** A move of a company without a base plan: nothing of it is billed, so it waits for a date alone. */
function decideFirstPlan(
  company: Readonly<Company>,
  catalog: Catalog,
  message: MigrationWanted,
  reply: (
    outcome: MigrationReply['outcome'],
    reason?: MigrationReply['reason'],
    effectiveAtMs?: number | null,
  ) => MigrationReply,
  nowMs: number,
): Decision<MigrationReply> {
  const { toPlanId, versionId, migrationId, when, dueMs } = message
  if (message.isPaid) return { reply: reply('failed', 'not_paid'), effects: [] }
  if (when === 'scheduled' && dueMs != null && dueMs > nowMs)
    return { reply: reply('scheduled', null, dueMs), effects: [] }
  const version = catalog.plans.get(toPlanId!)!.def.versions.find(one => one.id === versionId)!
  const plan = holding(toPlanId!, version, null, nowMs, company)
  const { addOns, schedule } = company
  const cause = { ...message.cause, migrationId }
  const effects = planEffects(company, { plan, addOns, schedule }, cause, null, nowMs)
  const moved = { was: null, is: plan, subscription: null, prices: {}, added: [] }
  return { reply: reply('completed'), effects: withMoved(effects, moved) }
}

/** A plan is again what it was before a migration or move, where nothing else has changed it since (MI-30…32). */
function decideRestore(
  company: Readonly<Company>,
  catalog: Catalog,
  message: PlanRestored,
  nowMs: number,
): Decision<MigrationReply> {
  const { moved, migrationId } = message
  const reply = { fromVersionId: moved.is?.versionId ?? null, effectiveAtMs: null }
  const next = restoredPlans(company, catalog, moved, nowMs)
  if ('reason' in next) return { reply: { ...reply, ...next }, effects: [] }
  const { subscriptions, quantities, ...plans } = next
  const cause = { ...message.cause, migrationId }
  const trial = plans.plan?.trial ?? null
  return {
    reply: { ...reply, outcome: 'completed' },
    effects: [
      ...quantities.map(
        ({ trait, quantity }): Effect => ({ t: 'trait', name: trait, value: String(quantity), atMs: nowMs }),
      ),
      ...subscriptions.map(
        (one): Effect => ({ t: 'subscription', subscription: prorated(one, message.proration, nowMs) }),
      ),
      ...planEffects(company, plans, cause, null, nowMs, trial),
    ],
  }
}

/** When a migration is to happen, epoch ms; null while no date can be named. */
function dueOf(
  company: Readonly<Company>,
  { when, dueMs, migrationId, planId, versionId, priceIds }: MigrationWanted,
  agreedAtMs: number,
  nowMs: number,
): number | null {
  if (when === 'now') return nowMs
  if (when === 'scheduled') return dueMs ?? nowMs
  return migrationDue(
    company,
    { migrationId, planId, versionId, priceIds, effectiveAtMs: null, agreedAtMs },
    nowMs,
  )
}

/**
 * A company's plans after a migration: the holding, the changes agreed for later, and the payment.
 *
 * source  EN-35, EN-97, PB-24.
 */
export function migratedPlans(
  company: PlannedCompany,
  terms: MigrationTerms & { readonly planId: string },
  atMs: number,
): Migrated {
  const { plan, addOns, subscriptions, schedule } = company
  const go = (one: PlanHolding): PlanHolding =>
    one.planId === terms.planId && one.versionId !== terms.versionId
      ? migrated(one, terms, subscriptions, atMs)
      : one
  const bills = (id: string) =>
    [plan, ...addOns].some(held => held?.planId === terms.planId && held.subscriptionId === id)
  // a move is a change of the base plan: it takes the place of a downgrade that waits (EN-95)
  const downgrade = terms.toPlanId === undefined ? schedule?.downgrade : null
  const stays = [downgrade?.plan, ...(downgrade?.addOns ?? [])].some(one => one?.planId === terms.planId)
  const staying = stays ? (terms.commitments ?? []) : []
  return {
    plan: plan && go(plan),
    addOns: addOns.map(go),
    schedule: schedule && {
      ...schedule,
      ...(!downgrade && { downgrade: null }),
      ...(downgrade && {
        downgrade: {
          ...downgrade,
          plan: downgrade.plan && go(downgrade.plan),
          addOns: downgrade.addOns.map(go),
          ...(downgrade.subscription && {
            subscription: migratedSubscription(downgrade.subscription, { ...terms, commitments: staying }),
          }),
          ...(downgrade.quantities && {
            quantities: downgrade.quantities.map(one => {
              const { atLeast = 0 } = staying.find(({ trait }) => trait === one.trait) ?? {}
              return one.quantity < atLeast ? { ...one, quantity: atLeast } : one
            }),
          }),
        },
      }),
    },
    subscriptions: subscriptions.flatMap(one => {
      const next = bills(one.id) ? migratedSubscription(one, terms) : one
      return next === one ? [] : [next]
    }),
  }
}

function migrationEffects(
  company: Readonly<Company>,
  terms: MigrationTerms & Pick<ScheduledMigration, 'migrationId' | 'planId' | 'proration'>,
  by: PlanChangeCause,
  atMs: number,
): Effect[] {
  const { subscriptions: changed, ...next } = migratedPlans(company, terms, atMs)
  const subscriptions = changed.map(one => prorated(one, terms.proration, atMs))
  const cause = { ...by, migrationId: terms.migrationId }
  const effects = [
    ...committed(company, terms.commitments ?? [], atMs),
    ...subscriptions.map((subscription): Effect => ({ t: 'subscription', subscription })),
    ...planEffects(company, next, cause, null, atMs),
  ]
  return withMoved(effects, movedBy(company, { ...next, subscriptions }, terms))
}

/** A subscription that a migration or move changes; with `none` the change is not prorated. source: RA-29 */
function prorated(
  subscription: SubscriptionState,
  proration: MigrationProrationBehavior | null | undefined,
  atMs: number,
): SubscriptionState {
  return proration === 'none' ? { ...subscription, unproratedAtMs: atMs } : subscription
}

/** EN-35: the quantity bought in advance is at least the new version's commitment. */
function committed(company: Readonly<Company>, commitments: readonly Commitment[], nowMs: number): Effect[] {
  return commitments.flatMap(({ trait, atLeast }): Effect[] => {
    const bought = Number(company.traits.text(trait) ?? 0)
    if (bought >= atLeast) return []
    return [{ t: 'trait', name: trait, value: String(atLeast), atMs: nowMs }]
  })
}

function scheduleWith(company: Readonly<Company>, migration: ScheduledMigration): PlanSchedule {
  const others = company.schedule?.migrations.filter(one => one.planId !== migration.planId) ?? []
  return { downgrade: company.schedule?.downgrade ?? null, migrations: [...others, migration] }
}

const byTime: PlanChangeCause = { action: 'plan_version_migration', actorType: 'system', apiKeyId: null }
const movedByTime: PlanChangeCause = { ...byTime, action: 'migration' }

/**
 * The first migration that is due, as state and record; none while all wait.
 *
 * planIds  only those that stay on one of these plans; absent: any.
 */
export function settleMigrations(
  company: Readonly<Company>,
  nowMs: number,
  planIds?: readonly string[],
): Effect[] {
  for (const one of company.schedule?.migrations ?? []) {
    if (planIds !== undefined && (one.toPlanId !== undefined || !planIds.includes(one.planId))) continue
    const dueMs = migrationDue(company, one, nowMs)
    if (dueMs !== null && dueMs <= nowMs)
      return migrationEffects(company, one, one.toPlanId === undefined ? byTime : movedByTime, dueMs)
  }
  return []
}
