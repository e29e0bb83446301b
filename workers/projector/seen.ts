// last_seen_at of companies and users, gathered from records without parsing most of them.
//
// Nearly every event carries a `seen` effect; a statement per event would overload Postgres. So the latest time per
// entity is gathered and written now and then, with a position of its own: times not written when the process died
// are gathered again from there.
import type { Fact } from '../../src/core/model/message.js'
import { decodeId, encodeId } from '../../src/core/values/id.js'
import { IdTable } from '../../src/core/values/id-table.js'
import { type JournalRecord, RecordFlag } from '../../src/journal/journal.js'
import { companyKind, FactReader } from '../../src/journal/records/fact-reader.js'

/** `absolute`: an explicit time came in between, so the row's own time counts no more (CU-46). */
export interface Seen {
  readonly kind: 'c' | 'u'
  readonly atMs: number
  readonly absolute: boolean
}

/** In a fact with such an effect; and perhaps in others, whose texts are anything. */
const needle = Buffer.from('seen')
const companyPrefix = 'comp_'
const facts = new FactReader()

export class SeenTimes {
  readonly #times = new Map<string, Seen>()
  /** Companies of plain uses: a repeat makes no object. Halves of ids, and times; 0: in #times. */
  readonly #uses = new IdTable()
  readonly #used: number[] = []

  get times(): ReadonlyMap<string, Seen> {
    for (let place = 0; place < this.#uses.count; place++) this.#flushUses(place)
    return this.#times
  }

  /** Put one in that was gathered elsewhere. */
  set(id: string, seen: Seen): void {
    this.#flushUsesOf(id)
    this.#times.set(id, seen)
  }

  /** Gather from a record with RecordFlag.use, whose fact lies in bytes [from, end). */
  addUse(bytes: Buffer, from: number, end: number): void {
    if (!facts.seek(bytes, from, end) || facts.kind !== companyKind) {
      this.#addSeen(facts.read(bytes, from, end))
      return
    }
    const { high, low } = facts
    const atMs = facts.seekedTime()
    const place = this.#uses.find(0, high, low)
    if (place < 0) {
      this.#uses.add(0, high, low)
      this.#used.push(high, low, atMs)
    } else if (this.#used[3 * place + 2]! < atMs) this.#used[3 * place + 2] = atMs
  }

  /** Gather from a record whose explicit times, if any, are applied by the caller (`explicit`, `gone`). */
  add({ flags, fact }: JournalRecord): void {
    if (flags & RecordFlag.use) return this.addUse(fact, 0, fact.length)
    if (fact.includes(needle)) this.#addSeen(facts.read(fact, 0, fact.length))
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
      this.addFact(facts.read(record.fact, 0, record.fact.length))
    } catch (error) {
      // It was put aside when its turn came.
      if (!(error instanceof SyntaxError)) throw error
    }
  }

  #addSeen({ k, id, fx }: Fact): void {
    if (k === 'e') return
    for (const effect of fx) if (effect.t === 'seen') this.#seen(k, id, effect.atMs)
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
