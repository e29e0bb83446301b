// Snapshots of an actor for the data stream: only the parts changed since the last one. A change of one
// counter among many costs that counter only. Text is made only for parts that are sent.
import { randomBytes } from 'node:crypto'
import type { Catalog } from '../../../src/core/catalog.js'
import { snapshotUntil } from '../../../src/core/checks/cacheable-until.js'
import {
  countedSubtypes,
  engineBalances,
  engineRest,
  engineUser,
  entitlementsText,
  metricTexts,
} from '../../../src/core/evaluator/engine-shapes.js'
import { LiveCompany } from '../../../src/core/live/live-company.js'
import type { Counter, StoredCounter } from '../../../src/core/model/counters.js'
import type { Question } from '../../../src/core/model/message.js'
import { readAll } from '../../../src/core/usage/counter.js'
import type { Cycle } from '../../../src/core/values/period.js'
import { jsonText } from '../../../src/json.js'
import { writeParts } from '../../../src/wire/snapshot-parts.js'
import { type Actor, answered, type CompanyActor } from '../actors.js'

type EngineQuestion = Extract<Question, { readonly type: 'engine' }>

/** Random, so that marks of two runs of a shard's thread differ. */
const life = randomBytes(9).toString('base64url')
let made = 0

interface Member {
  text: string
  /** The answer in which it got this text. */
  since: number
}

/** A counter in its last sent state. */
interface Reading {
  readonly numbers: StoredCounter
  readonly cycle: Cycle | null
  readonly atMs: number
  /** When the first of its windows ends, epoch ms. */
  readonly untilMs: number
  readonly since: number
}

/**
 * The last sent parts of one actor. Clients receive additions and changes only, so a removed part starts a
 * new one.
 */
class Told {
  private readonly name = `${life}.${++made}`
  /** Number of answers that contained parts. */
  private count = 0
  private readonly members = new Map<string, Member>()
  private readonly counters = new Map<string, Reading>()
  private untilMs = 0

  /** Compare the whole company. Returns false when a member, a name in one, or a counter was removed. */
  lookAtCompany(actor: CompanyActor, catalog: Catalog, at: number, usedOnly: boolean): boolean {
    const live = new LiveCompany(actor.state, catalog, at)
    const next = this.count + 1
    let isSame = true
    let names = 0
    const member = (name: string, text: string): boolean => {
      const known = this.members.get(name)
      if (known?.text === text) return true
      if (known !== undefined && merged.has(name) && losesName(known.text, text)) return false
      this.members.set(name, { text, since: next })
      isSame = false
      return true
    }
    if (!usedOnly)
      for (const [name, value] of Object.entries(engineRest(live))) {
        names++
        if (!member(name, jsonText(value))) return false
      }
    const { credit_balances: balances, credit_balance_texts: texts } = engineBalances(live)
    if (!member('credit_balances', jsonText(balances))) return false
    if (texts && !member('credit_balance_texts', jsonText(texts))) return false
    if (!texts && this.members.has('credit_balance_texts')) return false
    member('entitlements', entitlementsText(live))
    if (!usedOnly && this.members.size > names + (texts ? 3 : 2)) return false
    const found = this.lookAtCounters(live, catalog, next)
    if (found === null) return false
    if (!isSame || found) this.count = next
    this.untilMs = snapshotUntil(actor.state, actor.settledUntilMs, at)
    return true
  }

  /** Compare a user. Returns false when a member or a key was removed. */
  lookAtUser(actor: Extract<Actor, { readonly k: 'u' }>, catalog: Catalog): boolean {
    const next = this.count + 1
    const snapshot = Object.entries(engineUser(actor.state, catalog))
    for (const [name, value] of snapshot) {
      const text = jsonText(value)
      const known = this.members.get(name)
      if (known?.text === text) continue
      if (known !== undefined && merged.has(name) && losesName(known.text, text)) return false
      this.members.set(name, { text, since: next })
      this.count = next
    }
    this.untilMs = Number.POSITIVE_INFINITY
    return this.members.size === snapshot.length
  }

  /** Whether a mark belongs to it. */
  has(mark: string): boolean {
    return mark.startsWith(`${this.name}.`)
  }

  /** Parts changed since a mark; all parts if the mark is unknown. */
  write(since: string, live: () => LiveCompany): string {
    const isWhole = !this.has(since)
    const after = isWhole ? 0 : Number(since.slice(this.name.length + 1))
    const members = new Map<string, string>()
    for (const [name, member] of this.members) if (member.since > after) members.set(name, member.text)
    const metrics: string[] = []
    let company: LiveCompany | null = null
    for (const [subtype, reading] of this.counters) {
      if (reading.since <= after) continue
      company ??= live()
      metrics.push(...metricTexts(company, subtype, company.company.counters.get(subtype)!))
    }
    return writeParts({
      mark: `${this.name}.${this.count}`,
      isWhole,
      untilMs: this.untilMs,
      members,
      metrics,
    })
  }

  /** Compare the counters. Returns whether one changed; null when one was removed. */
  private lookAtCounters(live: LiveCompany, catalog: Catalog, next: number): boolean | null {
    const { company, nowMs } = live
    const counted = countedSubtypes(catalog)
    const cycle = live.cycle()
    let changed = false
    let count = 0
    for (const [subtype, counter] of company.counters) {
      if (!counted.has(subtype)) continue
      count++
      const known = this.counters.get(subtype)
      if (known !== undefined && stands(known, counter, cycle, nowMs)) continue
      let untilMs = Number.POSITIVE_INFINITY
      for (const { validUntilMs } of readAll(counter, nowMs, cycle))
        if (validUntilMs !== null && validUntilMs < untilMs) untilMs = validUntilMs
      this.counters.set(subtype, { numbers: counter.stored(), cycle, atMs: nowMs, untilMs, since: next })
      changed = true
    }
    return count < this.counters.size ? null : changed
  }
}

/** Whether a counter still reads the same. */
function stands(known: Reading, counter: Counter, cycle: Cycle | null, nowMs: number): boolean {
  const { numbers, atMs, untilMs } = known
  if (nowMs < atMs || nowMs >= untilMs) return false
  if (known.cycle?.startMs !== cycle?.startMs || known.cycle?.endMs !== cycle?.endMs) return false
  return counter.isStoredAs(numbers)
}

/** Members that a client merges by name. */
const merged: ReadonlySet<string> = new Set(['keys', 'credit_balances'])

function losesName(before: string, after: string): boolean {
  const is = JSON.parse(after) as object
  return Object.keys(JSON.parse(before) as object).some(name => !Object.hasOwn(is, name))
}

/** Lives as long as the actor is in memory. */
const told = new WeakMap<Actor, Told>()

/**
 * The snapshot of an actor. Any use shows in a company's snapshot, so it counts as an answer with usage
 * figures.
 */
export function toldOf(actor: Actor, catalog: Catalog, at: number, question: EngineQuestion): string {
  const { since, usedOnly } = question
  const look = (known: Told, used: boolean) =>
    actor.k === 'c' ? known.lookAtCompany(actor, catalog, at, used) : known.lookAtUser(actor, catalog)
  if (actor.k === 'c' && actor.answeredFigures === answered.none) actor.answeredFigures = answered.checks
  let known = told.get(actor)
  // Without a last sent state, or after a removal, the snapshot starts anew.
  if (known === undefined || !look(known, usedOnly && known.has(since))) {
    known = new Told()
    told.set(actor, known)
    look(known, false)
  }
  return known.write(since, () => new LiveCompany((actor as CompanyActor).state, catalog, at))
}
