// last_seen_at of companies and users, gathered from records without parsing most of them.
//
// Nearly every event carries a `seen` effect; a statement per event would overload Postgres. So the latest time per
// entity is gathered and written now and then, with a position of its own: times not written when the process died
// are gathered again from there.
import { ascii } from '../../src/bytes/ascii.js'
import type { Fact } from '../../src/core/company/message.js'
import { decodeId, encodeId, IdReader } from '../../src/core/id.js'
import { IdTable } from '../../src/core/id-table.js'
import { actorIdLength } from '../../src/core/usage/batch.js'
import { type JournalRecord, RecordFlag } from '../../src/journal/journal.js'

/** `absolute`: an explicit time came in between, so the row's own time counts no more (CU-46). */
export interface Seen {
  readonly kind: 'c' | 'u'
  readonly atMs: number
  readonly absolute: boolean
}

// The JSON of such an effect. A caller's text cannot contain it: its quotes are escaped.
const needle = Buffer.from('{"t":"seen","atMs":')
const head = Buffer.from('{"k":"')
const idAt = '{"k":"c","id":"'.length
const companyPrefix = 'comp_'
const beforeEnv = '","env":"'.length
const beforeTime = '","at":'.length
const { quote, zero } = ascii

export class SeenTimes {
  readonly #times = new Map<string, Seen>()
  /** Companies of plain uses: a repeat makes no object. Halves of ids, and times; 0: in #times. */
  readonly #uses = new IdTable()
  readonly #used: number[] = []
  readonly #id = new IdReader()

  get times(): ReadonlyMap<string, Seen> {
    for (let place = 0; place < this.#uses.count; place++) this.#flushUses(place)
    return this.#times
  }

  /** Put one in that was gathered elsewhere. */
  set(id: string, seen: Seen): void {
    this.#flushUsesOf(id)
    this.#times.set(id, seen)
  }

  /** Gather from a record with RecordFlag.use, whose fact begins there. */
  addUse(bytes: Buffer, factAt: number): void {
    const id = this.#id
    const from = factAt + idAt
    let at = from + actorIdLength + beforeEnv
    while (bytes[at] !== quote) at++
    const atMs = number(bytes, at + beforeTime)
    if (!id.read(bytes, from + companyPrefix.length)) {
      this.#seen('c', bytes.toString('latin1', from, from + actorIdLength), atMs)
      return
    }
    const place = this.#uses.find(0, id.high, id.low)
    if (place < 0) {
      this.#uses.add(0, id.high, id.low)
      this.#used.push(id.high, id.low, atMs)
    } else if (this.#used[3 * place + 2]! < atMs) this.#used[3 * place + 2] = atMs
  }

  /** Gather from a record whose explicit times, if any, are applied by the caller (`explicit`, `gone`). */
  add(record: JournalRecord): void {
    const { fact } = record
    if (record.flags & RecordFlag.use) return this.addUse(fact, 0)
    let at = fact.indexOf(needle)
    if (at === -1) return
    if (fact.compare(head, 0, head.length, 0, head.length) !== 0) {
      this.addFact(JSON.parse(fact.toString()) as Fact)
      return
    }
    const kind = fact[head.length] === 0x63 ? 'c' : 'u'
    const id = fact.toString('latin1', idAt, fact.indexOf(quote, idAt))
    for (; at !== -1; at = fact.indexOf(needle, at + 1))
      this.#seen(kind, id, number(fact, at + needle.length))
  }

  /** The same, and explicit times too: for facts projected before but not yet written. */
  addFact(fact: Fact): void {
    if (fact.k === 'e') return
    for (const effect of fact.fx)
      if (effect.t === 'seen') this.#seen(fact.k, fact.id, effect.atMs)
      else if (effect.t === 'seen_set') this.set(fact.id, { kind: fact.k, atMs: effect.atMs, absolute: true })
      else if (effect.t === 'deleted') {
        this.#flushUsesOf(fact.id)
        this.#times.delete(fact.id)
      }
  }

  /** Gather again from a record before the position of the identity rows. */
  addAgain(record: JournalRecord): void {
    if ((record.flags & RecordFlag.identity) === 0) return this.add(record)
    try {
      this.addFact(JSON.parse(record.fact.toString()) as Fact)
    } catch (error) {
      // It was put aside when its turn came.
      if (!(error instanceof SyntaxError)) throw error
    }
  }

  #seen(kind: 'c' | 'u', id: string, atMs: number): void {
    const had = this.#times.get(id)
    if (had === undefined) this.#times.set(id, { kind, atMs, absolute: false })
    else if (had.atMs < atMs) this.#times.set(id, { kind, atMs, absolute: had.absolute })
  }

  #flushUsesOf(id: string): void {
    const halves = this.#uses.count === 0 ? null : decodeId(companyPrefix, id)
    if (halves !== null) this.#flushUses(this.#uses.find(0, ...halves))
  }

  /** The times gathered from a company's uses come before its new time. */
  #flushUses(place: number): void {
    const at = 3 * place
    const atMs = place < 0 ? 0 : this.#used[at + 2]!
    if (atMs === 0) return
    this.#used[at + 2] = 0
    this.#seen('c', encodeId(companyPrefix, this.#used[at]!, this.#used[at + 1]!), atMs)
  }
}

function number(bytes: Buffer, from: number): number {
  let value = 0
  for (let at = from; ; at++) {
    const digit = bytes[at]! - zero
    if (digit < 0 || digit > 9) return value
    value = value * 10 + digit
  }
}
