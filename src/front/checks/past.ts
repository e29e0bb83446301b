// An environment as it was at a past instant: its definitions, its companies and users, as far as they are kept (EX-6, EX-7).

import { keptSinceMs } from '../../analytics/history.js'
import { type PastGrant, pastCredits, pastUsage } from '../../analytics/past.js'
import { definitionsAt, definitionsSince, versionAt } from '../../catalog/history.js'
import { type Catalog, compileCatalog } from '../../core/catalog.js'
import { countPast, type PastGrantState, pastCompany } from '../../core/company/past.js'
import { haveBudgets } from '../../core/credits/budget.js'
import type {
  Company,
  OverrideState,
  PlanHolding,
  SubscriptionState,
} from '../../core/model/company-state.js'
import type { ConditionDef, FlagDef, StoredEntitlement } from '../../core/model/definitions.js'
import { cycleOf, plansInForce } from '../../core/plans/plan.js'
import type { HistoryEntry } from '../../core/rating/history.js'
import { amountFromDecimal } from '../../core/values/amount.js'
import { cycleNext, cycleStart, monthStart, weekStart } from '../../core/values/period.js'
import { type DirectoryKind, isServiceId } from '../../entities/directory/directory.js'
import type { Keys } from '../../entities/directory/entities.js'
import { ServiceError } from '../../errors.js'
import type { EntityPlace } from '../../kit/entities.js'
import { isoTime } from '../../kit/time.js'

/** Definitions of the versions asked for last, compiled: the same instant is often asked about again. */
const catalogsMax = 8
const compiled = new WeakMap<object, Map<string, Catalog>>()

/** The state of a key, a trait or a setting: `value` null, none. */
interface Slot {
  readonly slot: string
  readonly value: string | null
}

interface HeldRow {
  readonly kind: 'plan' | 'add_ons' | 'subscription' | 'gone'
  readonly subscription_id: string | null
  readonly at_ms: string
  readonly state: PlanHolding | readonly PlanHolding[] | SubscriptionState | null
}

interface OverrideRow {
  readonly override_id: string
  readonly entitlement: StoredEntitlement | null
  readonly expires_at: Date | null
}

interface GrantRow {
  readonly id: string
  readonly credit_id: string
  readonly sequence: string
  readonly reason: PastGrantState['grant']['reason']
  readonly quantity: string
  readonly valid_from: Date
  readonly expires_at: Date | null
  readonly plan_grant_id: string | null
  readonly created_at: Date
}

export class Past {
  private constructor(
    private readonly place: EntityPlace,
    readonly atMs: number,
    /** The definitions of that time. */
    readonly catalog: Catalog,
  ) {}

  /**
   * The environment at an instant, once the stores have everything acknowledged before the request.
   *
   * errors  value_invalid for an instant that lies ahead, or from which not everything is kept.
   */
  static async at(place: EntityPlace, atMs: number): Promise<Past> {
    const { services, environment, nowMs } = place
    if (atMs > nowMs) throw new ServiceError('value_invalid', 'at: the instant lies ahead')
    if (atMs < keptSinceMs(nowMs)) throw notKept(keptSinceMs(nowMs))
    const { projections, sql } = services
    await Promise.all([projections.barrier('postgres'), projections.barrierOf('clickhouse', environment.id)])
    const sinceMs = await definitionsSince(sql, environment.id)
    if (sinceMs === null || atMs < sinceMs) throw notKept(sinceMs ?? nowMs)
    const version = await versionAt(sql, environment.id, atMs)
    return new Past(place, atMs, await catalogOf(place, version!))
  }

  /**
   * The company or user that had these keys; null: none had.
   *
   * errors  keys_ambiguous when two had; value_invalid when one that was deleted since may have had them.
   */
  async find(kind: DirectoryKind, keys: Keys): Promise<string | null> {
    const { environment, services } = this.place
    const found = new Set<string>()
    for (const [name, value] of Object.entries(keys)) {
      const lower = services.directory.lowerOf(kind, environment.id, name, value)
      let ids = isServiceId(kind, name, value)
        ? [value].filter(() => services.directory.has(environment.id, value))
        : await this.ownersOf(kind, name, value)
      if (ids.length === 0 && lower !== value) ids = await this.ownersOf(kind, name, lower)
      for (const id of ids) found.add(id)
    }
    if (found.size > 1) throw new ServiceError('keys_ambiguous')
    const [id = null] = found
    if (id === null) await this.requireNoneGone(kind)
    return id
  }

  /** The entities that had a pair then. */
  private async ownersOf(kind: DirectoryKind, name: string, value: string): Promise<readonly string[]> {
    const { environment, services } = this.place
    const rows = await services.sql<{ entity_id: string }[]>`
      select h.entity_id from entity_history h
      where h.environment_id = ${environment.id} and h.kind = ${kind} and h.slot = ${`key:${name}`}
        and left(h.value, 200) = left(${value}, 200) and h.value = ${value} and h.at_ms <= ${this.atMs}
        and h.slot like 'key:%' and not exists (
          select from entity_history later
          where later.entity_id = h.entity_id and later.slot = h.slot and later.place > h.place
            and later.at_ms <= ${this.atMs})`
    return rows.map(({ entity_id: id }) => id)
  }

  private async requireNoneGone(kind: DirectoryKind): Promise<void> {
    const { environment, services } = this.place
    const [gone] = await services.sql`
      select from entity_history
      where environment_id = ${environment.id} and kind = ${kind} and slot = 'gone' and at_ms > ${this.atMs} limit 1`
    if (gone !== undefined)
      throw new ServiceError(
        'value_invalid',
        `at: a ${kind} that had these keys then may have been deleted since`,
      )
  }

  /** Traits of a user; null: there was none. */
  async userTraits(id: string): Promise<readonly (readonly [name: string, text: string])[] | null> {
    const slots = await this.slotsOf(id)
    return slots.some(({ slot }) => slot === 'created') ? traitsIn(slots) : null
  }

  /**
   * A company with the use that rules of these flags may read; null: there was none.
   *
   * errors  value_invalid where a rule reads a balance that is kept elsewhere (CR-6).
   */
  async company(id: string, flags: readonly FlagDef[]): Promise<Company | null> {
    const { services, environment } = this.place
    const { sql, clickhouse } = services
    const moment = { environmentId: environment.id, companyId: id, atMs: this.atMs }
    const [slots, held, overrides, granted, left] = await Promise.all([
      this.slotsOf(id),
      sql<HeldRow[]>`
        select kind, subscription_id, at_ms, state from billing_history where company_id = ${id} order by place`,
      sql<OverrideRow[]>`
        select distinct on (override_id) override_id, entitlement, expires_at from override_changes
        where company_id = ${id} and changed_at <= ${new Date(this.atMs)} order by override_id, changed_at desc`,
      sql<GrantRow[]>`
        select id, credit_id, sequence, reason, quantity, valid_from, expires_at, plan_grant_id, created_at
        from credit_grants where company_id = ${id} and created_at <= ${new Date(this.atMs)} order by sequence`,
      pastCredits(clickhouse, moment),
    ])
    if (!slots.some(({ slot }) => slot === 'created')) return null
    const company = pastCompany(
      {
        id,
        environmentId: environment.id,
        traits: traitsIn(slots),
        history: held.map(entryOf),
        overrides: overrides.flatMap(overrideOf),
        overdraftLimit: slots.find(({ slot }) => slot === 'overdraft')?.value ?? null,
        grants: grantsOf(granted, left.grants),
      },
      this.atMs,
    )
    this.requireBalances(company, flags, left.recordedOnly)
    const cycle = cycleOf(company, this.atMs)
    const bounds = cycle === null ? [] : [cycleStart(cycle, this.atMs), cycleNext(cycle, this.atMs)]
    const sinceMs = Math.min(monthStart(this.atMs), weekStart(this.atMs), ...bounds)
    const uses = await pastUsage(clickhouse, moment, this.subtypesOf(flags), sinceMs, bounds)
    countPast(company, uses, cycle, this.atMs)
    return company
  }

  private slotsOf(id: string): Promise<readonly Slot[]> {
    return this.place.services.sql<Slot[]>`
      select distinct on (slot) slot, value from entity_history
      where entity_id = ${id} and at_ms <= ${this.atMs} order by slot, place desc`
  }

  /** Sums spent in windows of spend policies are not kept. */
  requireNoBudgets(): void {
    if (haveBudgets(this.catalog.data.spendPolicies))
      throw new ServiceError(
        'value_invalid',
        'at: what was spent in the windows of spend policies is not kept; ask without preflight',
      )
  }

  /** Names of events whose use rules of flags may read. */
  private subtypesOf(flags: readonly FlagDef[]): string[] {
    const names = new Set<string>()
    for (const flag of flags) {
      const feature = flag.featureId === null ? undefined : this.catalog.featuresById.get(flag.featureId)
      for (const name of [feature?.def.eventSubtype, ...conditionsOf(flag).map(one => one.eventSubtype)])
        if (name != null) names.add(name)
    }
    return [...names]
  }

  private requireBalances(
    company: Company,
    flags: readonly FlagDef[],
    recordedOnly: ReadonlySet<string>,
  ): void {
    const credits = flags.flatMap(flag => [
      ...conditionsOf(flag).map(one => one.creditId),
      ...this.entitlementsOf(company, flag.featureId).map(one => one.valueCreditId),
    ])
    const elsewhere = credits.find(id => {
      const credit = id === null ? undefined : this.catalog.credits.get(id)
      if (credit === undefined) return false
      return credit.ledgerAuthority !== 'service_authoritative' || recordedOnly.has(credit.id)
    })
    if (elsewhere != null)
      throw new ServiceError(
        'value_invalid',
        `at: the balance of ${this.catalog.credits.get(elsewhere)!.name} is kept elsewhere, and its past is not known`,
      )
  }

  private entitlementsOf(company: Company, featureId: string | null) {
    if (featureId === null) return []
    const { plan, addOns } = plansInForce(company, this.catalog, this.atMs)
    const held = new Set([plan, ...addOns].map(one => one?.versionId))
    const versions = this.catalog.data.plans.flatMap(one => one.versions).filter(({ id }) => held.has(id))
    return [
      ...company.overrides.map(({ entitlement }) => entitlement),
      ...versions.flatMap(version => version.entitlements),
    ].filter(one => one.featureId === featureId)
  }
}

const notKept = (sinceMs: number): ServiceError =>
  new ServiceError('value_invalid', `at: nothing is kept from before ${isoTime(sinceMs)}`)

async function catalogOf({ services, environment }: EntityPlace, version: number): Promise<Catalog> {
  let known = compiled.get(services.catalogs)
  if (known === undefined) {
    known = new Map()
    compiled.set(services.catalogs, known)
  }
  const name = `${environment.id} ${version}`
  const had = known.get(name)
  if (had !== undefined) return had
  const traits = services.traits.list(environment.id)
  const catalog = compileCatalog(await definitionsAt(services.sql, environment.id, version, traits))
  if (known.size >= catalogsMax) known.delete(known.keys().next().value!)
  known.set(name, catalog)
  return catalog
}

const conditionsOf = ({ rules }: FlagDef): readonly ConditionDef[] =>
  rules.flatMap(rule => [...rule.conditions, ...rule.conditionGroups.flat()])

const traitsIn = (slots: readonly Slot[]): (readonly [name: string, text: string])[] =>
  slots.flatMap(({ slot, value }) =>
    slot.startsWith('trait:') && value !== null ? [[slot.slice('trait:'.length), value]] : [],
  )

function entryOf({ kind, subscription_id, at_ms, state }: HeldRow): HistoryEntry {
  const atMs = Number(at_ms)
  switch (kind) {
    case 'plan':
      return { kind, atMs, plan: state as PlanHolding | null }
    case 'add_ons':
      return { kind, atMs, addOns: state as readonly PlanHolding[] }
    case 'subscription':
      return { kind, atMs, id: subscription_id!, state: state as SubscriptionState | null }
    case 'gone':
      return { kind, atMs }
  }
}

const overrideOf = ({ override_id: id, entitlement, expires_at }: OverrideRow): OverrideState[] =>
  entitlement === null
    ? []
    : [{ id, entitlement, expiresAtMs: expires_at?.getTime() ?? null, createdAtMs: 0, updatedAtMs: 0 }]

function grantsOf(rows: readonly GrantRow[], left: readonly PastGrant[]): PastGrantState[] {
  const remaining = new Map(left.map(one => [one.grantId, one.remaining]))
  return rows.flatMap(row => {
    const isOverdraft = row.reason === 'postpaid_overdraft'
    const rest = amountFromDecimal(remaining.get(row.id) ?? '0') ?? 0n
    if (rest === 0n && !isOverdraft) return []
    const grant = {
      seq: Number(row.sequence),
      reason: row.reason,
      quantity: amountFromDecimal(row.quantity) ?? 0n,
      remaining: rest,
      held: 0n,
      createdAtMs: row.created_at.getTime(),
      validFromMs: row.valid_from.getTime(),
      expiresAtMs: row.expires_at?.getTime() ?? null,
      planGrantId: row.plan_grant_id,
      licence: null,
      closed: null,
    }
    return [{ creditId: row.credit_id, isOverdraft, grant }]
  })
}
