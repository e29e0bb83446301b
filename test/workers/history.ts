// A made-up history of an environment: facts with every effect the projectors look at, and what the stores must
// show of them, worked out by core's own apply.

import { applyToEntity, clearEntity } from '../../src/core/company/entity.js'
import { applyToUser, newUser } from '../../src/core/company/user.js'
import type { User } from '../../src/core/model/entity-state.js'
import type { Effect, Fact } from '../../src/core/model/message.js'
import { derivedId } from '../../src/core/values/id.js'
import { type NewRecord, RecordFlag } from '../../src/journal/journal.js'
import { eventRow, monthOf } from '../../src/journal/records/event-row.js'
import { factBytes } from '../../src/journal/records/fact-bytes.js'
import { drawRows } from '../../src/journal/records/ledger-rows.js'
import { entitlement, stored } from '../core/make.js'

/** A repeatable source of numbers; the seed is printed by who uses it. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Held {
  /** Keys, traits, name and times; a company has no memberships. */
  readonly state: User
  plans: { kind: string; planId: string }[]
  readonly overrides: Map<string, string>
  readonly credits: Set<string>
}

export interface Counted {
  events: number
  failed: number
  /** Sum of track events that did not fail. */
  tracked: number
  quantity: number
  ledger: number
  consumed: number
  claims: number
}

// Recent: what is older than its table keeps is dropped by the store.
const startMs = Date.now() - 6 * 3_600_000
const monthMs = 31 * 86_400_000

/** One shard's history. Ids carry the shard, so that several may be projected into one store. */
export class History {
  readonly environmentId: string
  readonly counted: Counted = {
    events: 0,
    failed: 0,
    tracked: 0,
    quantity: 0,
    ledger: 0,
    consumed: 0,
    claims: 0,
  }
  readonly #random: (below: number) => number
  readonly #shard: number
  readonly #companies = new Map<string, Held>()
  readonly #users = new Map<string, Held>()
  #made = 0
  #now = startMs
  readonly #ledgerSeq = new Map<string, number>()

  constructor(random: (below: number) => number, shard: number, environmentId: string) {
    this.#random = random
    this.#shard = shard
    this.environmentId = environmentId
  }

  records(count: number): NewRecord[] {
    return Array.from({ length: count }, () => this.#record())
  }

  #record(): NewRecord {
    this.#now += this.#random(5_000)
    const kind = this.#random(4) === 0 ? 'u' : 'c'
    const entities = kind === 'c' ? this.#companies : this.#users
    const living = [...entities.keys()]
    const create = living.length === 0 || this.#random(12) === 0
    const id = create ? this.#id(kind === 'c' ? 'comp_' : 'user_') : living[this.#random(living.length)]!
    const held = entities.get(id) ?? this.#make(entities, id)
    const fx = create ? this.#creation(held) : this.#change(kind, held)
    this.#apply(kind, held, fx)
    return this.#write(kind, id, fx)
  }

  #write(kind: 'c' | 'u', id: string, fx: readonly Effect[]): NewRecord {
    const used = fx.find(effect => effect.t === 'used')
    const event = used ?? (this.#random(8) === 0 ? { subtype: 'other', quantity: 2 } : null)
    const ledger = fx.some(effect => effect.t.startsWith('credit_'))
    const identity = fx.some(
      effect => effect.t !== 'used' && effect.t !== 'seen' && !effect.t.startsWith('credit_'),
    )
    const key = event !== null && this.#random(3) === 0 ? `key ${this.#made++}` : null
    const eventId = this.#id('evt_')
    const capturedAtMs = this.#random(5) === 0 ? this.#now - monthMs : this.#now
    const failed = event !== null && used === undefined
    const fact: Fact = {
      k: kind,
      id,
      env: this.environmentId,
      at: this.#now,
      fx,
      ...(key !== null && !failed ? { ik: [key, eventId, capturedAtMs] as const } : {}),
    }
    let row = ''
    if (event !== null) {
      row = eventRow(
        {
          id: eventId,
          type: 'track',
          subtype: event.subtype,
          body: '{"note":"é \\"😀\\" \\n"}',
          quantity: event.quantity,
          mode: 'normal',
          capturedAtMs,
          sentAtMs: null,
          receivedAtMs: this.#now,
          apiKeyId: 'key_1',
          idempotencyKey: key,
          companyId: kind === 'c' ? id : null,
          userId: kind === 'u' ? id : null,
          leaseId: null,
          reservationId: null,
          failure: failed ? 'keys match multiple companies' : null,
          derivedFrom: null,
        },
        { environmentId: this.environmentId, featureIds: ['feat_1'], at: this.#now },
      )
      this.#count(Number(event.quantity), failed, key !== null)
    }
    const draw = fx.find(effect => effect.t === 'credit_draw')
    // with rows, which the fact omits then, or without
    const readyMade = event === null && draw !== undefined && this.#random(2) === 0
    const rows = readyMade ? drawRows(this.environmentId, id, draw.now ?? draw.at, fx) : ''
    return {
      flags:
        (readyMade ? RecordFlag.draws : 0) |
        (event === null ? 0 : RecordFlag.event) |
        (identity ? RecordFlag.identity : 0) |
        (ledger ? RecordFlag.ledger : 0),
      month: event !== null ? monthOf(capturedAtMs) : readyMade ? monthOf(draw.at) : 0,
      row,
      ledger: rows,
      fact: factBytes(fact, rows !== ''),
    }
  }

  #count(quantity: number, failed: boolean, claimed: boolean): void {
    this.counted.events++
    if (failed) this.counted.failed++
    else {
      this.counted.tracked++
      this.counted.quantity += quantity
      if (claimed) this.counted.claims++
    }
  }

  #creation(held: Held): Effect[] {
    const name = `name ${this.#made++}`
    return [
      { t: 'created', name, atMs: this.#now },
      { t: 'key', name: 'ext', value: `v${this.#made++}`, was: null },
      ...this.#traitEffects(held),
      ...(this.#random(2) === 0 ? [{ t: 'seen', atMs: this.#now } as const] : []),
    ]
  }

  #change(kind: 'c' | 'u', held: Held): Effect[] {
    const { state } = held
    switch (this.#random(kind === 'c' ? 16 : 10)) {
      case 0:
        return [{ t: 'named', name: `other name ${this.#made++}\u0000` }, { t: 'touched' }]
      case 1: {
        const name = `k${this.#random(3)}`
        const had = state.keys.get(name)
        return had && this.#random(2) === 0
          ? [{ t: 'key_removed', name, value: had.value }]
          : [{ t: 'key', name, value: `w${this.#made++}`, was: had?.value ?? null }]
      }
      case 2:
        return this.#traitEffects(held)
      case 3:
        return [{ t: 'seen_set', atMs: this.#now - this.#random(10_000_000) }]
      case 4:
        return kind === 'u' ? this.#membership(state) : [{ t: 'touched' }]
      case 5:
        return this.#random(3) === 0
          ? [{ t: 'deleted', keys: [...state.keys].map(([name, key]) => [name, key.value] as const) }]
          : [{ t: 'seen', atMs: this.#now }]
      case 10:
        return this.#plans()
      case 11:
        return this.#override(held)
      case 12:
      case 13:
        return this.#credits(state.id)
      default:
        return [
          { t: 'used', subtype: `event ${this.#random(3)}`, quantity: this.#random(7) - 2, atMs: this.#now },
          { t: 'seen', atMs: this.#now - this.#random(1_000) },
        ]
    }
  }

  #traitEffects(held: Held): Effect[] {
    const name = `t${this.#random(4)}`
    const value = held.state.traits.has(name) && this.#random(3) === 0 ? null : `text ${this.#made++}`
    return [
      { t: 'trait_introduced', trait: { name, hierarchy: [name], traitType: 'string' } },
      { t: 'trait', name, value, atMs: this.#now },
    ]
  }

  #membership(user: User): Effect[] {
    const joined = [...user.memberships.keys()]
    if (joined.length > 0 && this.#random(2) === 0)
      return [{ t: 'left', companyId: joined[this.#random(joined.length)]! }]
    const companies = [...this.#companies.keys()]
    const companyId = companies[this.#random(companies.length)]
    return companyId === undefined || user.memberships.has(companyId)
      ? [{ t: 'touched' }]
      : [{ t: 'joined', companyId }]
  }

  #plans(): Effect[] {
    const holding = (planId: string) => ({
      planId,
      versionId: 'pver_1',
      addedAtMs: this.#now,
      priceId: null,
      trial: null,
    })
    return this.#random(2) === 0
      ? [{ t: 'plan', plan: this.#random(4) === 0 ? null : holding(`plan_${this.#random(3)}`) }]
      : [{ t: 'add_ons', addOns: Array.from({ length: this.#random(3) }, (_, i) => holding(`plan_a${i}`)) }]
  }

  #override(held: Held): Effect[] {
    const [existing] = held.overrides.keys()
    if (existing !== undefined && this.#random(2) === 0)
      return [{ t: 'override_removed', overrideId: existing }]
    const granted = entitlement(`feat_${this.#random(3)}`, {
      id: 'ent_1',
      ruleId: 'rule_1',
      ruleIdUsageExceeded: null,
      valueBool: true,
    })
    const override = {
      id: this.#id('covr_'),
      entitlement: stored(granted),
      expiresAtMs: null,
      createdAtMs: this.#now,
      updatedAtMs: this.#now,
    }
    return [{ t: 'override', override }]
  }

  #credits(companyId: string): Effect[] {
    const c = `bcrd_${this.#random(2)}`
    const key = `${companyId} ${c}`
    const seq = (this.#ledgerSeq.get(key) ?? 0) + 1
    this.#ledgerSeq.set(key, seq)
    this.counted.ledger++
    if (seq === 1)
      return [{ t: 'credit_grant', c, seq, at: this.#now, g: { reason: 'free', q: 1_000_000_000_000 } }]
    const credits = 1 + this.#random(9)
    this.counted.consumed += credits
    const at = this.#random(4) === 0 ? this.#now - monthMs : this.#now
    return [{ t: 'credit_draw', c, seq, at, s: [[1, credits * 1_000_000_000, 5_000_000_000]], f: 'feat_1' }]
  }

  #apply(kind: 'c' | 'u', held: Held, fx: readonly Effect[]): void {
    for (const effect of fx) {
      if (effect.t === 'used') continue
      if (kind === 'u') applyToUser(held.state, effect, this.#now)
      else if (!applyToEntity(held.state, effect, this.#now)) this.#applyToCompany(held, effect)
    }
    if (!held.state.exists) (kind === 'c' ? this.#companies : this.#users).delete(held.state.id)
  }

  #applyToCompany(held: Held, effect: Effect): void {
    if (effect.t === 'deleted') {
      clearEntity(held.state)
      for (const { state } of this.#users.values()) state.memberships.delete(held.state.id)
    } else if (effect.t === 'plan') {
      held.plans = held.plans.filter(plan => plan.kind !== 'base')
      if (effect.plan) held.plans.push({ kind: 'base', planId: effect.plan.planId })
    } else if (effect.t === 'add_ons') {
      held.plans = held.plans.filter(plan => plan.kind !== 'add_on')
      for (const { planId } of effect.addOns) held.plans.push({ kind: 'add_on', planId })
    } else if (effect.t === 'override')
      held.overrides.set(effect.override.id, effect.override.entitlement.featureId)
    else if (effect.t === 'override_removed') held.overrides.delete(effect.overrideId)
    else if (effect.t === 'credit_grant') held.credits.add(effect.c)
  }

  #make(entities: Map<string, Held>, id: string): Held {
    const held = {
      state: newUser(id, this.environmentId),
      plans: [],
      overrides: new Map(),
      credits: new Set<string>(),
    }
    entities.set(id, held)
    return held
  }

  #id(prefix: string): string {
    return derivedId(prefix, this.environmentId, this.#shard, this.#made++)
  }

  /** The rows that Postgres must show, in the shape of `shown`. */
  expected(): Shown {
    const rows: Shown = emptyShown()
    for (const [kind, entities] of [
      ['company', this.#companies],
      ['user', this.#users],
    ] as const)
      for (const { state, plans, overrides, credits } of entities.values()) {
        rows.entities.push(
          line(kind, state.id, state.name, state.createdAtMs, state.updatedAtMs, state.lastSeenAtMs),
        )
        for (const [name, key] of state.keys)
          rows.keys.push(line(state.id, name, key.value, key.createdAtMs, key.updatedAtMs))
        for (const [name, trait] of state.traits)
          rows.traits.push(line(state.id, name, trait.value, trait.createdAtMs, trait.updatedAtMs))
        for (const [companyId, joinedMs] of state.memberships)
          rows.memberships.push(line(state.id, companyId, joinedMs))
        for (const { kind: planKind, planId } of plans) rows.plans.push(line(state.id, planKind, planId))
        for (const [overrideId, featureId] of overrides)
          rows.overrides.push(line(state.id, overrideId, featureId))
        for (const creditId of credits) rows.credits.push(line(state.id, creditId))
      }
    return sorted(rows)
  }
}

/** Rows as text, so that a difference reads well. */
export interface Shown {
  readonly entities: string[]
  readonly keys: string[]
  readonly traits: string[]
  readonly memberships: string[]
  readonly plans: string[]
  readonly overrides: string[]
  readonly credits: string[]
}

export function emptyShown(): Shown {
  return { entities: [], keys: [], traits: [], memberships: [], plans: [], overrides: [], credits: [] }
}

export function sorted(shown: Shown): Shown {
  for (const rows of Object.values(shown) as string[][]) rows.sort()
  return shown
}

/** NUL cannot be stored and is shown as U+FFFD. */
export const line = (...parts: readonly (string | number | null)[]): string =>
  parts.join(' | ').replaceAll('\0', '\ufffd')
