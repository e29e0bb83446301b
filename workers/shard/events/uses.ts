// Fast path for plain track events: a known company, only counting and draws, no domain event. They are applied and
// encoded in place; any other event is handed back to be decided like every message.

import type { Catalog } from '../../../src/core/catalog.js'
import { apply, applyUse, hasRoomFor, hasTooManyNames } from '../../../src/core/company/company.js'
import { haveGroups } from '../../../src/core/credits/budget.js'
import { drawFromFirst } from '../../../src/core/credits/ledger.js'
import type { CompiledVersion } from '../../../src/core/entitlements/entitlement.js'
import {
  drawsOf,
  type Metered,
  type SoleDraw,
  soleDrawOf,
  trackCost,
} from '../../../src/core/live/company-accounts.js'
import { isPlanAlone, soleVersion } from '../../../src/core/live/live-company.js'
import type { CreditEffect } from '../../../src/core/model/account-state.js'
import { isAnyLarge } from '../../../src/core/model/counters.js'
import { actorIdLength, type UsesRequest } from '../../../src/core/usage/batch.js'
import { type Amount, costOf, encodeAmount, type Nanos } from '../../../src/core/values/amount.js'
import { type FramedRecords, RecordFlag } from '../../../src/journal/journal.js'
import { GrantIdBytes } from '../../../src/journal/records/draw-encoder.js'
import { monthOf } from '../../../src/journal/records/event-row.js'
import { isInRows } from '../../../src/journal/records/fact-bytes.js'
import type { Draw } from '../../../src/journal/records/ledger-rows.js'
import { UseKind, UseRecords } from '../../../src/journal/records/use-record-encoder.js'
import type { Changes } from '../../../src/wire/version-counters.js'
import type { Actor, CompanyActor } from '../actors.js'
import { tellUsed } from '../checks/answer.js'
import { leavesTimeAlone } from '../kinds.js'
import { EventNames } from './event-names.js'
import { featureIdsOf } from './row-extra.js'

interface Named {
  readonly name: string
  kind: UseKind
  /** Features count it: it may draw credits. */
  readonly metered: boolean
  /** The draw of companies on the last version, and its cost for so many units. */
  version: CompiledVersion | null
  sole: SoleDraw | null
  quantity: number
  cost: Amount
  moved: Nanos
  /** They cost more than nothing. */
  draws: boolean
}

/** Records are copied into the journal before more of them are gathered. */
const gatheredBytesMax = 1 << 20

/** Names that are kept of an environment and key: each takes some 2 kB. */
const namesMax = 256

/** Plain uses, counted and recorded. */
export class PlainUses {
  constructor(
    private readonly changes: Changes,
    /** Event names in use in each environment. */
    readonly eventNames = new EventNames(undefined, noCompanies),
  ) {}

  private readonly records = new UseRecords()
  private readonly actors: Actor[] = []
  private readonly metered = new MeteredUse()
  /** The draw that most events make, written over by each. */
  private readonly slice: [seq: number, moved: Nanos, left: Nanos] = [0, 0, 0]
  private readonly draw: Mutable<Draw> = { t: 'credit_draw', c: '', seq: 0, at: 0, f: '', s: [this.slice] }
  private readonly simple: readonly Draw[] = [this.draw]
  /** By name, as long as environment, key and catalog stay the same. */
  private readonly known = new Map<string, Named>()
  private last: Named | null = null
  /** The row that `last` is the name of. */
  private lastRow = -1
  private env = ''
  private apiKeyId = ''
  private at = 0
  private month = 0
  private catalog: Catalog | null = null
  /** A spend policy has a group, which traits of events decide: they are read with the whole event. */
  private goesByTraits = false

  /** Records that wait for `take`. */
  get count(): number {
    return this.records.count
  }

  /** Whether the gathered records should go into the journal now. */
  get isMuch(): boolean {
    return this.records.byteLength > gatheredBytesMax
  }

  /** The actor of each event, in order, valid until the next call; null when one is to be loaded first: all are looked for. */
  actorsOf(
    { uses, from, count }: UsesRequest,
    find: (companyId: string) => Actor | undefined,
  ): readonly Actor[] | null {
    const { actors } = this
    actors.length = 0
    let missing = false
    for (let i = 0; i < count; i++) {
      const same = i > 0 && uses.isSameCompany(from + i)
      const actor = same ? actors[i - 1] : find(uses.companyId(from + i))
      if (actor === undefined) missing = true
      actors.push(actor!)
    }
    return missing ? null : actors
  }

  begin({ env, apiKeyId, at }: UsesRequest, catalog: Catalog): void {
    // rows of an earlier request may have had the same numbers
    this.lastRow = -1
    this.at = at
    this.month = monthOf(at)
    if (env === this.env && apiKeyId === this.apiKeyId && catalog === this.catalog) return
    this.env = env
    this.apiKeyId = apiKeyId
    this.catalog = catalog
    this.goesByTraits = haveGroups(catalog.data.spendPolicies)
    this.last = null
    this.known.clear()
  }

  /**
   * Count one event and gather its record, when it is plain.
   *
   * i        its row; the rows of one `begin` are given in order.
   * actor    settled by now.
   * present  when it counts for the actor, epoch ms (`timeOf`).
   * returns  false when it is not plain: then nothing was done.
   */
  add(actor: CompanyActor, request: UsesRequest, i: number, present: number): boolean {
    const { state } = actor
    const { uses, at } = request
    if (!state.exists || this.catalog!.data.watches || this.goesByTraits) return false
    const named = this.named(request, i)
    // a company's first use of a name may be one too many: that is judged with all there is to say
    if (!state.counters.has(named.name) && !this.admits(state, named.name)) return false
    const quantity = uses.quantity(i)
    if (isAnyLarge() && !hasRoomFor(state, named.name, quantity, at, present)) return false
    let draws: readonly Draw[] = none
    let grant: GrantIdBytes | null = null
    if (named.metered && !this.drewSimply(actor, named, quantity, present)) {
      const decided = this.draws(actor, request, i, named.name, present)
      if (decided === null) return false
      draws = decided
      for (let d = 0; d < draws.length; d++) apply(state, draws[d]!, present)
      if (draws.length > 0 && !leavesTimeAlone(state, draws, ofDraws)) actor.settledUntilMs = 0
    } else if (named.metered) {
      draws = this.simple
      grant = actor.drawing!.grant
    }
    applyUse(state, named.name, quantity, at, present)
    state.timeMs = present
    if (state.lastSeenAtMs === null || state.lastSeenAtMs < at) state.lastSeenAtMs = at
    tellUsed(actor, named.name, present, this.changes)
    if (!named.kind.setTimes(at, present)) named.kind = this.kindOf(named.name, present)
    this.records.add(uses, i, named.kind, this.month, draws, state.id, grant)
    return true
  }

  private admits(state: CompanyActor['state'], name: string): boolean {
    return !hasTooManyNames(state, name) && this.eventNames.admits(this.env, name)
  }

  take(): FramedRecords {
    return this.records.take()
  }

  /** The taken records are in the journal. */
  clear(): void {
    this.records.clear()
  }

  /**
   * Draw at once where one grant of one account pays: `simple` is the draw then. Otherwise nothing is done. The draw
   * brings no earlier change by time alone.
   */
  private drewSimply(actor: CompanyActor, named: Named, quantity: number, present: number): boolean {
    const catalog = this.catalog!
    const { state, drawing } = actor
    const isSame = drawing !== null && drawing.plan === state.plan && drawing.catalog === catalog
    const version = isSame && isPlanAlone(state) ? drawing.version : soleVersion(state, catalog)
    if (version === null) return false
    if (version !== named.version || named.sole === null) {
      named.version = version
      named.sole = soleDrawOf(version, catalog, named.name)
      named.quantity = Number.NaN
    }
    const { sole } = named
    if (sole === null) return false
    let account = isSame ? drawing.account : undefined
    if (account?.creditId !== sole.creditId) {
      account = state.credits.get(sole.creditId)
      if (account === undefined) return false
      actor.drawing = { plan: state.plan!, catalog, version, account, grant: null }
    }
    if (named.quantity !== quantity) {
      named.quantity = quantity
      named.cost = costOf(quantity, sole.rate)
      named.moved = encodeAmount(named.cost)
      named.draws = named.cost > 0n
    }
    if (!named.draws) return false
    const grant = drawFromFirst(account, sole.burnStrategy, named.cost, present)
    if (grant === null) return false
    const from = actor.drawing!
    if (from.grant?.seq !== grant.seq) from.grant = new GrantIdBytes(state.id, sole.creditId, grant.seq)
    const { draw, slice } = this
    draw.c = sole.creditId
    draw.f = sole.featureId
    draw.seq = account.sequence
    // of its event's time (CR-48)
    draw.at = this.at
    slice[0] = grant.seq
    slice[1] = named.moved
    slice[2] = encodeAmount(grant.remaining)
    return true
  }

  /** The event's draws; null when it has other effects too, or fails. */
  private draws({ state }: CompanyActor, request: UsesRequest, i: number, name: string, present: number) {
    this.metered.set(request, i, name)
    const effects = drawsOf(state, this.catalog!, this.metered, trackCost(this.metered), present)
    if (typeof effects === 'string') return null
    if (!effects.every(isPlainDraw)) return null
    const draws = effects as readonly Draw[]
    // one whose effect stays in the fact would tell there when it counts
    return present === request.at || draws.every(isInRows) ? draws : null
  }

  private named({ uses, from }: UsesRequest, i: number): Named {
    const follows = i > from && this.lastRow === i - 1
    this.lastRow = i
    if (follows && this.last !== null && uses.isSameName(i)) return this.last
    const name = uses.name(i)
    let named = this.known.get(name)
    if (named === undefined) {
      const catalog = this.catalog!
      named = {
        name,
        kind: this.kindOf(name, this.at),
        metered: catalog.featuresBySubtype.has(name),
        version: null,
        sole: null,
        quantity: Number.NaN,
        cost: 0n,
        moved: 0,
        draws: false,
      }
      if (this.known.size >= namesMax) this.known.clear()
      this.known.set(name, named)
    }
    this.last = named
    return named
  }

  private kindOf(name: string, present: number): UseKind {
    const featureIds = featureIdsOf(this.catalog!, name, 'track')
    return new UseKind(this.env, this.apiKeyId, this.at, name, featureIds, present)
  }
}

const noCompanies = { *companies() {} }

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

const none: readonly never[] = []
const ofDraws = RecordFlag.ledger | RecordFlag.draws

/** A draw on grants; not one that is only recorded for a ledger kept elsewhere. */
function isPlainDraw(effect: CreditEffect): boolean {
  return effect.t === 'credit_draw' && effect.ext === undefined && effect.b === undefined
}

/** An event as draws ask for it, set again for each. Its record has its id, and is the one its draws lie in. */
class MeteredUse implements Metered {
  readonly id = null
  readonly type = 'track'
  readonly mode = 'normal'
  readonly leaseId = null
  readonly reservationId = null
  subtype = ''
  quantity = 0
  capturedAtMs = 0
  private request: UsesRequest | null = null
  private row = 0

  set(request: UsesRequest, i: number, name: string): void {
    this.request = request
    this.row = i
    this.subtype = name
    this.quantity = request.uses.quantity(i)
    this.capturedAtMs = request.at
  }

  get userId(): string | null {
    const { uses } = this.request!
    if (!uses.hasUser(this.row)) return null
    const at = uses.userAt(this.row)
    return uses.rows.toString('latin1', at, at + actorIdLength)
  }
}
