// Facts folded into the rows Postgres shows: many facts, one final row each. Pure.
//
// Each table is a set of ids to delete and of rows to put; deletes are executed first. A row that is removed and
// made again in one fold is therefore deleted and inserted, with its new creation time.

import type { EntityType } from '../../schemas/enums.js'
import { creditOf, featureOf } from '../../src/core/company/domain-events.js'
import { grantId } from '../../src/core/credits/grant.js'
import type { CreditEffect } from '../../src/core/model/account-state.js'
import type { OverrideState, PlanHolding, PlanSchedule } from '../../src/core/model/company-state.js'
import type { Effect, Fact } from '../../src/core/model/message.js'
import type { DatedDomainEvent, DomainEvent } from '../../src/core/model/notices.js'
import type { EndedTrial, PlanChangeRecord } from '../../src/core/model/plan-messages.js'
import { changesAt } from '../../src/core/plans/plan.js'
import { historyOf } from '../../src/core/rating/history.js'
import { type Amount, amountToDecimal, decodeAmount } from '../../src/core/values/amount.js'
import { derivedId } from '../../src/core/values/id.js'
import { historyRow, tookEffect } from './billing-history.js'

/** A row as Postgres takes it by name; times are RFC 3339. */
export type Row = Readonly<Record<string, unknown>>

/** Changes of the rows of one table. */
export class RowSet {
  readonly removed = new Set<string>()
  readonly rows = new Map<string, Row>()

  /** The later row wins, but the creation time of the first. */
  put(id: string, row: Row): void {
    const had = this.rows.get(id)
    this.rows.set(id, had === undefined ? row : { ...row, created_at: had.created_at })
  }

  /** Keeps an existing row. */
  putAbsent(id: string, row: Row): void {
    if (!this.rows.has(id)) this.rows.set(id, row)
  }

  remove(id: string): void {
    this.rows.delete(id)
    this.removed.add(id)
  }

  /** Drop rows of an entity that is gone. */
  forget(column: string, id: string): void {
    for (const [key, row] of this.rows) if (row[column] === id) this.rows.delete(key)
  }
}

/** Change of the row of one company or user. Null members keep their value. */
export interface EntityChange {
  readonly id: string
  readonly environmentId: string
  created: { readonly name: string; readonly at: string } | null
  name: string | null
  updatedAt: string | null
  /** An explicit last_seen_at (CU-46). */
  lastSeenAt: string | null
}

/** The plans of one kind a company is on from now, replacing those before. */
export interface PlanChange {
  readonly companyId: string
  readonly kind: 'base' | 'add_on'
  readonly rows: readonly Row[]
}

/** Change of the row of one grant after its birth. Null members keep their value. */
export interface GrantChange {
  readonly id: string
  /** To be added to the amount written off. */
  writtenOff: Amount
  zeroedOutAt: string | null
  zeroedOutReason: string | null
  quantity: string | null
  expiresAt: string | null
  updatedAt: string
}

/** Change of the row of one lease or reservation. Null members keep their value. */
export interface HoldChange {
  readonly id: string
  /** For one that was opened here: its owner, and its begin. */
  opened: Row | null
  /** To be added. */
  granted: Amount
  tracked: Amount
  expiresAt: string | null
  releasedAt: string | null
  releasedReason: string | null
  updatedAt: string
}

/** Effects that show in `listed`. */
const listedEffects: ReadonlySet<Effect['t']> = new Set([
  'created',
  'named',
  'key',
  'key_removed',
  'override',
  'override_removed',
  'plan',
  'add_ons',
  'subscription',
  'subscription_removed',
  'credit_grant',
])

export class Fold {
  readonly companies = new Map<string, EntityChange>()
  readonly users = new Map<string, EntityChange>()
  /** Deleted companies and users: their rows everywhere go. */
  readonly goneCompanies = new Set<string>()
  readonly goneUsers = new Set<string>()
  readonly keys = new RowSet()
  readonly traits = new RowSet()
  readonly keyDefinitions = new RowSet()
  readonly traitDefinitions = new RowSet()
  readonly memberships = new RowSet()
  readonly overrides = new RowSet()
  readonly overrideChanges = new RowSet()
  readonly subscriptions = new RowSet()
  readonly credits = new RowSet()
  /** Grants outlive their company, as the ledger does (CR-12, CR-46). */
  readonly grants = new RowSet()
  readonly grantChanges = new Map<string, GrantChange>()
  /** Records of changed plans: they outlive their company (PB-34). */
  readonly planChanges = new RowSet()
  readonly plans = new Map<string, PlanChange>()
  /** Instants at which time alone changes a company's plans. */
  readonly timers = new RowSet()
  /** Leases and reservations; they outlive their company, as the ledger does. */
  readonly holds = new Map<string, HoldChange>()
  /** Companies that have no downgrade agreed for later any more. */
  readonly calledOff = new Set<string>()
  /** Idempotency keys of holds; they outlive their company, as the window does. */
  readonly holdKeys = new RowSet()
  /** Idempotency keys under which something was changed (decision 37). */
  readonly paidEffects = new RowSet()
  /** Trials that are over, for webhooks. */
  readonly endedTrials = new RowSet()
  /** Changes of what companies hold, in order: they outlive their company (RA-6). */
  readonly billingHistory: Row[] = []
  /** Changes of keys and traits, in order (EX-6). */
  entityHistory: Row[] = []
  /** Traits of companies that are deleted in this fold, as they were told in it. */
  readonly goneTraits: Row[] = []
  /** Companies whose billing is to be looked at, and since when; they outlive their company. */
  readonly billingDue = new Map<string, Row>()
  /** Domain events for the outbox; ids come from the record's place in the journal. */
  readonly notices = new RowSet()
  /** Companies and users whose row of `listed` may be another from now on. */
  readonly relisted = new Set<string>()
  /** The same where a trait has another value, which shows in `listed` if it is a text: pairs of entity and definition. */
  readonly relistedByTrait: (readonly [entityId: string, definitionId: string])[] = []
  /** Facts added. */
  facts = 0

  /** `place` names the record among all journals. */
  add(fact: Fact, place: string): void {
    if (fact.k === 'e') return
    this.facts++
    fact.tell?.forEach((notice, n) => {
      this.#tell(fact, fact.k as 'c' | 'u', notice, `${place}.${n}`)
    })
    const entity: EntityType = fact.k === 'c' ? 'company' : 'user'
    for (const [i, effect] of fact.fx.entries()) {
      if (listedEffects.has(effect.t)) this.relisted.add(fact.id)
      this.#effect(fact, entity, effect)
      if (entity === 'company') this.#held(fact, effect, i)
    }
  }

  /** Notes a change of what a company holds (RA-6), and a purchase. */
  #held(fact: Fact, effect: Effect, index: number): void {
    const buys = effect.t === 'credit_grant' && boughtReasons.has(effect.g.reason)
    const entry = historyOf(effect, fact.at)
    if (entry === null && !buys) return
    const atMs = entry === null ? fact.at : tookEffect(fact, index)
    const place = { environment_id: fact.env, company_id: fact.id }
    if (entry !== null) this.billingHistory.push({ ...place, ...historyRow({ ...entry, atMs }) })
    this.billingDue.set(fact.id, { ...place, due_ms: atMs })
  }

  #tell({ id, env, at }: Fact, k: 'c' | 'u', notice: DomainEvent, noticeId: string): void {
    const happened: DatedDomainEvent = { ...notice, k, id, env, at }
    this.notices.put(noticeId, {
      id: noticeId,
      environment_id: env,
      type: notice.type,
      company_id: k === 'c' ? id : null,
      feature_id: featureOf(happened),
      credit_id: creditOf(happened),
      happened: JSON.stringify(happened, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    })
  }

  #effect(fact: Fact, entity: EntityType, effect: Effect): void {
    const at = time(fact.at)
    switch (effect.t) {
      case 'created': {
        const change = this.#change(fact, entity)
        change.created = { name: effect.name, at: time(effect.atMs) }
        change.name = null
        change.updatedAt = time(Math.max(effect.atMs, fact.at))
        this.#keep(fact, entity, 'created', null)
        return
      }
      case 'named':
        this.#touch(fact, entity, at).name = effect.name
        return
      case 'override_over':
        return // its row stays (EN-60)
      case 'once':
        this.paidEffects.put(effect.claim, { claim: effect.claim })
        return
      case 'touched':
        this.#touch(fact, entity, at)
        return
      case 'seen_set':
        this.#change(fact, entity).lastSeenAt = time(effect.atMs)
        return
      case 'key':
        this.#touch(fact, entity, at)
        this.#key(fact, entity, effect.name, effect.value, at)
        this.#keep(fact, entity, `key:${effect.name}`, effect.value)
        return
      case 'key_removed':
        this.#touch(fact, entity, at)
        this.keys.remove(derivedId('eky_', fact.id, effect.name))
        this.#keep(fact, entity, `key:${effect.name}`, null)
        return
      case 'trait_introduced':
        this.traitDefinitions.putAbsent(derivedId('trt_', fact.env, entity, effect.trait.name), {
          id: derivedId('trt_', fact.env, entity, effect.trait.name),
          environment_id: fact.env,
          entity_type: entity,
          name: effect.trait.name,
          hierarchy: effect.trait.hierarchy,
          trait_type: effect.trait.traitType,
          created_at: at,
          updated_at: at,
        })
        return
      case 'trait':
        this.#touch(fact, entity, at)
        this.relistedByTrait.push([fact.id, derivedId('trt_', fact.env, entity, effect.name)])
        this.#trait(fact, entity, effect.name, effect.value, at, effect.atMs)
        this.#keep(fact, entity, `trait:${effect.name}`, effect.value)
        return
      case 'traits_held':
      case 'client_trait':
        // said by anybody: shown with its entity, and in no list
        return
      case 'joined':
        this.#joined(fact, effect.companyId, at)
        return
      case 'left':
        this.memberships.remove(derivedId('cmem_', fact.id, effect.companyId))
        return
      case 'deleted':
        this.#deleted(fact, entity)
        this.#keep(fact, entity, 'gone', null)
        return
      case 'overdraft_limit':
        this.#keep(fact, entity, 'overdraft', effect.limit)
        return
      case 'override': {
        const { override } = effect
        this.overrides.put(override.id, {
          id: override.id,
          environment_id: fact.env,
          company_id: fact.id,
          feature_id: override.entitlement.featureId,
          entitlement: override.entitlement,
          expires_at: timeOrNull(override.expiresAtMs),
          created_at: time(override.createdAtMs),
          updated_at: time(override.updatedAtMs),
        })
        this.#overrideChanged(fact, override.id, override)
        return
      }
      case 'override_removed':
        this.overrides.remove(effect.overrideId)
        this.#overrideChanged(fact, effect.overrideId, null)
        return
      case 'plan':
        this.#planned(fact, 'base', effect.plan === null ? [] : [effect.plan])
        this.#timer(
          fact,
          `${fact.id} trial`,
          effect.plan?.trial?.status === 'active' ? effect.plan.trial.endMs : null,
        )
        return
      case 'add_ons':
        this.#planned(fact, 'add_on', effect.addOns)
        return
      case 'subscription':
        this.subscriptions.put(effect.subscription.id, {
          id: effect.subscription.id,
          environment_id: fact.env,
          company_id: fact.id,
          external_id: effect.subscription.externalId,
          status: effect.subscription.status,
          state: effect.subscription,
          updated_at: at,
        })
        this.#timer(fact, effect.subscription.id, changesAt(effect.subscription))
        return
      case 'schedule':
        this.#timer(fact, `${fact.id} schedule`, scheduledAt(effect.schedule))
        if (effect.schedule?.downgrade) this.calledOff.delete(fact.id)
        else this.calledOff.add(fact.id)
        return
      case 'trial_ended':
        this.#trialEnded(fact, effect.trial)
        return
      case 'plan_changed':
        this.planChanges.put(effect.change.id, planChangeRow(fact, effect.change))
        return
      case 'subscription_removed':
        this.subscriptions.remove(effect.subscriptionId)
        this.timers.remove(effect.subscriptionId)
        return
      case 'credit_grant':
        this.credits.putAbsent(`${fact.id} ${effect.c}`, {
          company_id: fact.id,
          credit_id: effect.c,
          environment_id: fact.env,
          created_at: at,
        })
        this.#granted(fact, effect)
        return
      case 'credit_zero_out':
        for (const [seq, moved] of effect.s) {
          const change = this.#grantChange(fact, effect, seq)
          change.writtenOff += decodeAmount(moved)
          change.zeroedOutAt ??= time(effect.at)
          change.zeroedOutReason ??= effect.r
        }
        return
      case 'credit_commit': {
        const change = this.#hold(effect.h, effect.now ?? effect.at)
        change.tracked += decodeAmount(effect.cost)
        return
      }
      case 'credit_release': {
        const change = this.#hold(effect.h, effect.at)
        change.releasedAt = time(effect.at)
        change.releasedReason = effect.why
        return
      }
      case 'credit_hold': {
        this.#holdChanged(fact, effect)
        if (effect.key === undefined) return
        const kind = effect.k === 'lease' ? 'extension' : 'reservation'
        const id = `${fact.env} ${kind} ${effect.key}`
        const row = { id, environment_id: fact.env, kind, key: effect.key, company_id: fact.id, used_at: at }
        this.holdKeys.put(id, row)
        return
      }
      case 'credit_refund': {
        const change = this.#grantChange(fact, effect, effect.s[0])
        change.quantity = amountToDecimal(decodeAmount(effect.q))
        change.expiresAt = time(effect.exp)
        return
      }
      // Shown by ClickHouse, or written in one go with the last_seen_at of many (seen.ts).
      case 'seen':
      case 'used':
      case 'cycle_counted':
      case 'credit_draw':
      case 'credit_transfer':
      case 'credit_enrol':
      case 'credit_renew':
      case 'credit_topup':
      case 'credit_external':
        return
    }
  }

  /** Note the value of a key, a trait or a setting from this fact on; null: none. */
  #keep(fact: Fact, kind: EntityType, slot: string, value: string | null): void {
    const { id, env, at } = fact
    this.entityHistory.push({ environment_id: env, kind, entity_id: id, slot, at_ms: at, value })
  }

  #change(fact: Fact, entity: EntityType): EntityChange {
    const changes = entity === 'company' ? this.companies : this.users
    const had = changes.get(fact.id)
    if (had !== undefined) return had
    const change: EntityChange = {
      id: fact.id,
      environmentId: fact.env,
      created: null,
      name: null,
      updatedAt: null,
      lastSeenAt: null,
    }
    changes.set(fact.id, change)
    return change
  }

  #touch(fact: Fact, entity: EntityType, at: string): EntityChange {
    const change = this.#change(fact, entity)
    change.updatedAt = at
    return change
  }

  #key(fact: Fact, entity: EntityType, name: string, value: string, at: string): void {
    const definitionId = derivedId('ekey_', fact.env, entity, name)
    this.keyDefinitions.putAbsent(definitionId, {
      id: definitionId,
      environment_id: fact.env,
      entity_type: entity,
      key: name,
      created_at: at,
      updated_at: at,
    })
    const id = derivedId('eky_', fact.id, name)
    this.keys.put(id, {
      id,
      environment_id: fact.env,
      entity_type: entity,
      entity_id: fact.id,
      definition_id: definitionId,
      name,
      value,
      created_at: at,
      updated_at: at,
    })
  }

  #trait(
    fact: Fact,
    entity: EntityType,
    name: string,
    value: string | null,
    at: string,
    writtenAtMs: number,
  ): void {
    const id = derivedId('etrt_', fact.id, name)
    if (value === null) this.traits.remove(id)
    else
      this.traits.put(id, {
        id,
        environment_id: fact.env,
        entity_type: entity,
        entity_id: fact.id,
        definition_id: derivedId('trt_', fact.env, entity, name),
        name,
        value,
        created_at: at,
        updated_at: time(writtenAtMs),
      })
  }

  #joined(fact: Fact, companyId: string, at: string): void {
    const id = derivedId('cmem_', fact.id, companyId)
    this.memberships.put(id, {
      id,
      environment_id: fact.env,
      company_id: companyId,
      user_id: fact.id,
      created_at: at,
      updated_at: at,
    })
  }

  #planned(fact: Fact, kind: 'base' | 'add_on', holdings: readonly PlanHolding[]): void {
    this.plans.set(`${fact.id} ${kind}`, {
      companyId: fact.id,
      kind,
      rows: holdings.map(holding => ({
        company_id: fact.id,
        plan_id: holding.planId,
        kind,
        environment_id: fact.env,
        version_id: holding.versionId,
        price_id: holding.priceId,
        added_at: time(holding.addedAtMs),
        trial_end_at: timeOrNull(holding.trial?.endMs ?? null),
        trial_end_setting: holding.trial?.endSetting ?? null,
        trial_status: holding.trial?.status ?? null,
      })),
    })
  }

  /** Null and Infinity: never. */
  #timer(fact: Fact, id: string, atMs: number | null): void {
    if (atMs === null || atMs === Number.POSITIVE_INFINITY) this.timers.remove(id)
    else this.timers.put(id, { id, environment_id: fact.env, company_id: fact.id, due_at: time(atMs) })
  }

  #trialEnded(fact: Fact, trial: EndedTrial): void {
    const id = `${fact.id} ${time(trial.endMs)}`
    this.endedTrials.putAbsent(id, {
      id,
      environment_id: fact.env,
      company_id: fact.id,
      subscription_id: trial.subscriptionId,
      plan_id: trial.planId,
      began_at: time(trial.beganMs),
      trial_end_at: time(trial.endMs),
      trial_end_setting: trial.endSetting,
      status: trial.status,
      created_at: time(trial.atMs),
    })
  }

  #holdChanged(fact: Fact, effect: Extract<CreditEffect, { readonly t: 'credit_hold' }>): void {
    const change = this.#hold(effect.h, effect.at)
    for (const [, moved] of effect.s) change.granted += decodeAmount(moved)
    change.expiresAt = time(effect.exp)
    if (effect.open)
      change.opened = {
        environment_id: fact.env,
        company_id: fact.id,
        credit_id: effect.c,
        kind: effect.k,
        created_at: time(effect.at),
      }
  }

  #hold(id: string, atMs: number): HoldChange {
    const change = this.holds.get(id) ?? {
      id,
      opened: null,
      granted: 0n,
      tracked: 0n,
      expiresAt: null,
      releasedAt: null,
      releasedReason: null,
      updatedAt: '',
    }
    change.updatedAt = time(atMs)
    this.holds.set(id, change)
    return change
  }

  #granted(fact: Fact, { c, seq, at, g }: Extract<CreditEffect, { readonly t: 'credit_grant' }>): void {
    const id = grantId(fact.id, c, seq)
    this.grants.put(id, {
      id,
      environment_id: fact.env,
      company_id: fact.id,
      credit_id: c,
      sequence: seq,
      reason: g.reason,
      quantity: amountToDecimal(decodeAmount(g.q)),
      valid_from: time(g.from ?? at),
      expires_at: timeOrNull(g.exp ?? null),
      plan_id: g.plan ?? null,
      plan_grant_id: g.pg ?? null,
      licence: g.licence ?? null,
      bundle_id: g.bundle ?? null,
      source_grant_id: g.source === undefined ? null : grantId(fact.id, c, g.source),
      currency: g.cur ?? null,
      renewal_period: g.rn ?? null,
      created_at: time(at),
      updated_at: time(at),
    })
  }

  #grantChange(fact: Fact, effect: { readonly c: string; readonly at: number }, seq: number): GrantChange {
    const id = grantId(fact.id, effect.c, seq)
    const change = this.grantChanges.get(id) ?? {
      id,
      writtenOff: 0n,
      zeroedOutAt: null,
      zeroedOutReason: null,
      quantity: null,
      expiresAt: null,
      updatedAt: '',
    }
    change.updatedAt = time(effect.at)
    this.grantChanges.set(id, change)
    return change
  }

  // CU-50, CU-52: everything of the entity is deleted, including changes earlier in this fold.
  #deleted(fact: Fact, entity: EntityType): void {
    this.keys.forget('entity_id', fact.id)
    this.traits.forget('entity_id', fact.id)
    if (entity === 'company')
      this.goneTraits.push(
        ...this.entityHistory.filter(
          row => row.entity_id === fact.id && (row.slot as string).startsWith('trait:'),
        ),
      )
    this.entityHistory = this.entityHistory.filter(row => row.entity_id !== fact.id)
    if (entity === 'user') {
      this.users.delete(fact.id)
      this.goneUsers.add(fact.id)
      this.memberships.forget('user_id', fact.id)
      return
    }
    this.companies.delete(fact.id)
    this.goneCompanies.add(fact.id)
    this.memberships.forget('company_id', fact.id)
    const sets = [this.overrides, this.overrideChanges, this.subscriptions, this.credits, this.timers]
    for (const set of sets) set.forget('company_id', fact.id)
    for (const [key, change] of this.plans) if (change.companyId === fact.id) this.plans.delete(key)
  }

  /** US-13: the override from this instant on; null: removed. */
  #overrideChanged(fact: Fact, overrideId: string, override: OverrideState | null): void {
    const id = `${overrideId} ${time(fact.at)}`
    this.overrideChanges.put(id, {
      id,
      environment_id: fact.env,
      company_id: fact.id,
      override_id: overrideId,
      entitlement: override?.entitlement ?? null,
      expires_at: timeOrNull(override?.expiresAtMs ?? null),
      changed_at: time(fact.at),
    })
  }
}

/** Reasons of grants that are paid for. */
const boughtReasons: ReadonlySet<string> = new Set([
  'purchased',
  'billing_credit_auto_topup',
  'postpaid_settlement',
])

/** The first instant of a scheduled change; null while no date is known. */
function scheduledAt(schedule: PlanSchedule | null): number | null {
  const instants = (schedule?.migrations ?? []).flatMap(({ effectiveAtMs }) => effectiveAtMs ?? [])
  if (schedule?.downgrade) instants.push(schedule.downgrade.effectiveAtMs)
  return instants.length === 0 ? null : Math.min(...instants)
}

const time = (epochMs: number): string => new Date(epochMs).toISOString()
const timeOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : time(epochMs))

function planChangeRow(fact: Fact, change: PlanChangeRecord): Row {
  return {
    id: change.id,
    environment_id: fact.env,
    company_id: fact.id,
    action: change.action,
    base_plan_action: change.basePlanAction,
    subscription_change_action: change.subscriptionAction ?? null,
    actor_type: change.actorType,
    api_key_id: change.apiKeyId,
    previous_plan_id: change.from?.planId ?? null,
    previous_version_id: change.from?.versionId ?? null,
    plan_id: change.to?.planId ?? null,
    version_id: change.to?.versionId ?? null,
    add_ons_added: change.addOnsAdded,
    add_ons_removed: change.addOnsRemoved,
    trial_status: change.trialStatus,
    trial_ends_at: timeOrNull(change.trialEndMs),
    created_at: time(change.atMs),
    migration_id: change.migrationId ?? null,
    moved: change.moved ?? null,
  }
}
