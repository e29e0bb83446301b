// The effect that a migration or move would have on companies now: its outcome, the features they gain and lose, the limits they exceed, and
// what they pay. Decided by the code that does it, on a copy (MI-1…5).
import type { EntitlementValueType, MetricPeriod } from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import {
  type CompiledEntitlement,
  type CompiledFeature,
  CompiledVersion,
  consumptionRateOf,
  limitOf,
  resolveEntitlement,
} from '../entitlements/entitlement.js'
import { exceededLimit } from '../live/feature.js'
import { LiveCompany } from '../live/live-company.js'
import type { Company, ScheduledMigration, SubscribedItem } from '../model/company-state.js'
import type { PlanVersionDef } from '../model/definitions.js'
import type { OutlookQuestion } from '../model/message.js'
import type { MigrationReply, MigrationWanted, MoveReason } from '../model/plan-messages.js'
import { migrationDue } from '../plans/plan.js'
import type { Quantity } from '../values/quantity.js'
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

/** The answer to an OutlookQuestion (`Outlooks`). */
export interface PlanOutlooks {
  /** In the order in which they were asked; null: there is no such company. `changes`: the place of its changes below. */
  readonly outlooks: readonly ((PlanOutlook & { readonly changes: number }) | null)[]
  /** OutlookChange[] each, as text. Many companies share one. */
  readonly changes: readonly string[]
}

export function readOutlooks(text: string): PlanOutlooks {
  return JSON.parse(text) as PlanOutlooks
}

/** Gathers the outlooks of many companies. */
export class Outlooks {
  /** Each as JSON, in any order. */
  private readonly outlooks: string[]
  /** Places of lists of changes, by the ids of the changes. */
  private readonly places = new Map<string, number>()
  private readonly lists: string[] = []
  private readonly terms = new Map<CompiledEntitlement, Map<Quantity | null, OutlookTerms | null>>()
  private readonly known = new Map<
    CompiledFeature,
    Map<OutlookTerms | null, Map<OutlookTerms | null, number>>
  >()
  /** By id. */
  private readonly changes: OutlookChange[] = []

  private readonly wanted: MigrationWanted
  /** `wanted`, agreed for the end of the billing period; at the present of the company that was added last. */
  private agreed: ScheduledMigration | null = null

  constructor(
    private readonly question: OutlookQuestion,
    companies: number,
  ) {
    this.outlooks = Array.from({ length: companies }, () => 'null')
    this.wanted = { ...question.wanted, when: 'now' }
  }

  /** place: the company's index in the question's list. known: the catalog without the draft. */
  add(place: number, company: Company, known: Catalog, nowMs: number): void {
    const { wanted } = this
    const { draft } = this.question
    const catalog = draft === null ? known : withDraft(known, wanted.toPlanId ?? wanted.planId, draft)
    const decided = decideCompany(company, catalog, wanted, nowMs)
    const { outcome, reason = null }: Pick<MigrationReply, 'outcome' | 'reason'> =
      'refused' in decided
        ? { outcome: 'failed', reason: 'not_assignable' }
        : (decided.reply as MigrationReply)
    const isDone = outcome === 'completed'
    const effects = 'refused' in decided || !isDone ? [] : decided.effects
    const after = effects.length === 0 ? company : withEffects(company, effects, nowMs)
    const live = new LiveCompany(company, known, nowMs)
    const then = new LiveCompany(after, catalog, nowMs)
    const [held, next] = [heldBy(company, wanted), heldBy(after, wanted)]
    const by = company.subscriptions.find(({ id }) => id === held?.subscriptionId)
    const { changes, exceeded } = this.compared(live, then)
    const outlook: PlanOutlooks['outlooks'][number] = {
      outcome,
      reason,
      priceBefore: held?.priceId ?? null,
      priceAfter: next?.priceId ?? null,
      periodEndMs: isDone ? this.periodEndOf(company, nowMs) : null,
      exceeded: isDone ? exceeded : [],
      paid: paidBy(company, after),
      billedElsewhere: by !== undefined && by.anchorMs == null,
      changes: this.listOf(changes),
    }
    this.outlooks[place] = JSON.stringify(outlook)
  }

  /** PlanOutlooks as JSON. Companies that were not added are null. */
  text(): string {
    return `{"outlooks":[${this.outlooks.join(',')}],"changes":${JSON.stringify(this.lists)}}`
  }

  private periodEndOf(company: Company, nowMs: number): number | null {
    if (this.agreed?.agreedAtMs !== nowMs) {
      const strategy = 'end_of_billing_period'
      this.agreed = { ...this.wanted, effectiveAtMs: null, agreedAtMs: nowMs, strategy }
    }
    return migrationDue(company, this.agreed, nowMs)
  }

  /** The ids of the changes from one state of a company to the next, and the limits that the next exceeds. */
  private compared(live: LiveCompany, then: LiveCompany) {
    const changes: number[] = []
    const exceeded: PlanOutlook['exceeded'][number][] = []
    for (const feature of live.catalog.features) {
      const next = resolveEntitlement(then, feature)
      const over = next && exceededLimit(next, then)
      if (over) exceeded.push([feature.def.id, String(over.usage), String(over.limit)])
      if (live.company === then.company) continue
      const [before, after] = [
        this.termsOf(resolveEntitlement(live, feature), live),
        this.termsOf(next, then),
      ]
      const change = before === after ? none : this.changeOf(feature, before, after)
      if (change !== none) changes.push(change)
    }
    return { changes, exceeded }
  }

  /** The same object for the same entitlement and limit. Null: nothing is granted. */
  private termsOf(entitlement: CompiledEntitlement | null, live: LiveCompany): OutlookTerms | null {
    if (entitlement === null) return null
    const limit = limitOf(entitlement, live)
    const byLimit = entryOf(this.terms, entitlement)
    let terms = byLimit.get(limit)
    if (terms === undefined) {
      terms = termsWith(entitlement, limit)
      byLimit.set(limit, terms)
    }
    return terms
  }

  /** The id of a change; `none`: the terms are the same. */
  private changeOf(
    feature: CompiledFeature,
    before: OutlookTerms | null,
    after: OutlookTerms | null,
  ): number {
    const from = entryOf(entryOf(this.known, feature), before)
    const known = from.get(after)
    if (known !== undefined) return known
    const isGain = isBetter(before, after)
    const id =
      isGain === null ? none : this.changes.push({ featureId: feature.def.id, isGain, before, after }) - 1
    from.set(after, id)
    return id
  }

  private listOf(changes: readonly number[]): number {
    const ids = changes.join()
    const known = this.places.get(ids)
    if (known !== undefined) return known
    const place = this.lists.push(JSON.stringify(changes.map(id => this.changes[id]))) - 1
    this.places.set(ids, place)
    return place
  }
}

const none = -1

/** The map at a key of a map of maps. */
function entryOf<Key, Inner, Value>(maps: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  let map = maps.get(key)
  if (map === undefined) {
    map = new Map()
    maps.set(key, map)
  }
  return map
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

/** Null: nothing is granted. */
function termsWith(entitlement: CompiledEntitlement, limit: Quantity | null): OutlookTerms | null {
  const { def, valueType, period, subtype } = entitlement
  if (valueType === 'unknown' || (valueType === 'boolean' && def.valueBool !== true)) return null
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
