// The effect that a migration or move would have on a company now: its outcome, the features it gains and loses, the limits it exceeds, and
// what it pays. Decided by the code that does it, on a copy (MI-1…5).
import type { EntitlementValueType, MetricPeriod } from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import {
  type CompiledEntitlement,
  CompiledVersion,
  consumptionRateOf,
  limitOf,
  resolveEntitlement,
} from '../entitlements/entitlement.js'
import { exceededLimits } from '../live/feature.js'
import { LiveCompany } from '../live/live-company.js'
import type { Company, SubscribedItem } from '../model/company-state.js'
import type { PlanVersionDef } from '../model/definitions.js'
import type { OutlookQuestion } from '../model/message.js'
import type { MigrationReply, MigrationWanted, MoveReason } from '../model/plan-messages.js'
import { migrationDue } from '../plans/plan.js'
import { decideCompany, withEffects } from './company.js'

/** Terms of a feature as a company has them; whole numbers as text. */
export interface OutlookTerms {
  readonly valueType: EntitlementValueType
  readonly limit: string | null
  readonly softLimit: string | null
  readonly period: MetricPeriod | null
  readonly creditId: string | null
  readonly rate: number | null
}

/** A feature whose terms change. */
export interface OutlookChange {
  readonly featureId: string
  readonly isGain: boolean
  /** Null: without the feature. */
  readonly before: OutlookTerms | null
  readonly after: OutlookTerms | null
}

export interface PlanOutlook {
  readonly outcome: MigrationReply['outcome']
  readonly reason: MoveReason | null
  /** The plan that would change: its price before and after. */
  readonly priceBefore: string | null
  readonly priceAfter: string | null
  /** When it would happen at the end of the billing period, epoch ms; null: no date can be named. */
  readonly periodEndMs: number | null
  /** Features of which more is used than is allowed then; numbers as text. */
  readonly exceeded: readonly (readonly [featureId: string, usage: string, limit: string])[]
  /** The charges of the own subscription before and after; null: none. */
  readonly paid: {
    readonly months: number
    readonly before: readonly SubscribedItem[]
    readonly after: readonly SubscribedItem[]
  } | null
  /** A provider bills the subscription of the plan. */
  readonly billedElsewhere: boolean
}

/** The outlook and the changes, apart: many companies share the second text. */
export function outlookOf(
  company: Company,
  known: Catalog,
  { wanted, draft }: OutlookQuestion,
  nowMs: number,
): string {
  const catalog = draft === null ? known : withDraft(known, wanted.toPlanId ?? wanted.planId, draft)
  const decided = decideCompany(company, catalog, { ...wanted, when: 'now' }, nowMs)
  const reply: Pick<MigrationReply, 'outcome' | 'reason'> =
    'refused' in decided ? { outcome: 'failed', reason: 'not_assignable' } : (decided.reply as MigrationReply)
  const effects = 'refused' in decided || reply.outcome !== 'completed' ? [] : decided.effects
  const after = effects.length === 0 ? company : withEffects(company, effects, nowMs)
  const live = new LiveCompany(company, known, nowMs)
  const then = new LiveCompany(after, catalog, nowMs)
  const [held, next] = [heldBy(company, wanted), heldBy(after, wanted)]
  const by = company.subscriptions.find(({ id }) => id === held?.subscriptionId)
  const outlook: PlanOutlook = {
    outcome: reply.outcome,
    reason: reply.reason ?? null,
    priceBefore: held?.priceId ?? null,
    priceAfter: next?.priceId ?? null,
    periodEndMs: reply.outcome === 'completed' ? periodEndOf(company, wanted, nowMs) : null,
    exceeded:
      reply.outcome === 'completed'
        ? exceededLimits(then).map(
            ({ featureId, usage, limit }) => [featureId, String(usage), String(limit)] as const,
          )
        : [],
    paid: paidBy(company, after),
    billedElsewhere: by !== undefined && by.anchorMs == null,
  }
  return `${JSON.stringify(outlook)}\n${after === company ? '[]' : changesText(live, then)}`
}

/** The text of an outlook, taken apart. `changes` is the JSON of OutlookChange[]. */
export function readOutlook(text: string): { readonly outlook: PlanOutlook; readonly changes: string } {
  const end = text.indexOf('\n')
  return { outlook: JSON.parse(text.slice(0, end)) as PlanOutlook, changes: text.slice(end + 1) }
}

/** Catalogs with a draft beside what is published, by the draft. */
const drafted = new WeakMap<PlanVersionDef, { readonly known: Catalog; readonly made: Catalog }>()

function withDraft(known: Catalog, planId: string, draft: PlanVersionDef): Catalog {
  const kept = drafted.get(draft)
  if (kept?.known === known) return kept.made
  const plan = known.plans.get(planId)
  const version = new CompiledVersion(
    draft,
    planId,
    plan?.def.name ?? '',
    known.features,
    id => known.traits.get(id) ?? null,
    known.featuresById,
  )
  const made: Catalog = {
    ...known,
    versions: new Map([...known.versions, [draft.id, version]]),
    plans: plan
      ? new Map([
          ...known.plans,
          [planId, { ...plan, def: { ...plan.def, versions: [...plan.def.versions, draft] } }],
        ])
      : known.plans,
    overrides: new WeakMap(),
  }
  drafted.set(draft, { known, made })
  return made
}

/** The holding that changes: the base plan for a move, else the plan or add-on whose version changes. */
function heldBy({ plan, addOns }: Company, { planId, toPlanId }: MigrationWanted) {
  if (toPlanId !== undefined) return plan
  return [plan, ...addOns].find(one => one?.planId === planId) ?? null
}

function periodEndOf(company: Company, wanted: MigrationWanted, nowMs: number): number | null {
  return migrationDue(
    company,
    { ...wanted, effectiveAtMs: null, agreedAtMs: nowMs, strategy: 'end_of_billing_period' },
    nowMs,
  )
}

/** The charges of the company's own subscription: the one that changes, else the first that runs. */
function paidBy(before: Company, after: Company): PlanOutlook['paid'] {
  const own = before.subscriptions.filter(
    one =>
      one.anchorMs != null &&
      (one.status === 'active' || one.status === 'trialing' || one.status === 'past_due'),
  )
  const changed = own.find(one => after.subscriptions.find(({ id }) => id === one.id) !== one)
  const was = changed ?? own[0]
  if (was === undefined) return null
  const is = after.subscriptions.find(({ id }) => id === was.id)
  return {
    months: was.intervalMonths,
    before: was.items ?? [],
    after: is === undefined || is.status === 'canceled' ? [] : (is.items ?? []),
  }
}

function changesText(live: LiveCompany, then: LiveCompany): string {
  const changes: OutlookChange[] = []
  for (const feature of live.catalog.features) {
    const before = termsOf(resolveEntitlement(live, feature), live)
    const after = termsOf(resolveEntitlement(then, feature), then)
    const isGain = isBetter(before, after)
    if (isGain !== null) changes.push({ featureId: feature.def.id, isGain, before, after })
  }
  return JSON.stringify(changes)
}

/** Null: nothing is granted. */
function termsOf(entitlement: CompiledEntitlement | null, live: LiveCompany): OutlookTerms | null {
  if (entitlement === null) return null
  const { def, valueType, period, subtype } = entitlement
  if (valueType === 'unknown' || (valueType === 'boolean' && def.valueBool !== true)) return null
  const limit = limitOf(entitlement, live)
  const isCredit = valueType === 'credit'
  return {
    valueType,
    limit: limit === null ? null : String(limit),
    softLimit: def.softLimit === null ? null : String(def.softLimit),
    period: limit !== null && subtype !== null ? period : null,
    creditId: isCredit ? def.valueCreditId : null,
    rate: isCredit ? consumptionRateOf(def) : null,
  }
}

/** Whether terms get better (MI-3); null: they are the same. A change that cannot be compared is no gain. */
function isBetter(before: OutlookTerms | null, after: OutlookTerms | null): boolean | null {
  if (before === null || after === null) return before === after ? null : before === null
  if (JSON.stringify(before) === JSON.stringify(after)) return null
  const open = (terms: OutlookTerms) => terms.valueType === 'unlimited' || terms.valueType === 'boolean'
  if (open(before) || open(after)) return open(before) && open(after) ? null : open(after)
  if (before.creditId !== after.creditId || before.period !== after.period) return false
  if (before.rate !== null && after.rate !== null) return after.rate < before.rate
  if (before.limit === null || after.limit === null) return false
  if (before.limit !== after.limit) return BigInt(after.limit) > BigInt(before.limit)
  if (before.softLimit === after.softLimit) return null
  return (
    after.softLimit === null ||
    (before.softLimit !== null && BigInt(after.softLimit) > BigInt(before.softLimit))
  )
}
