// Facts read from the journal's bytes: the packed form of fact-bytes.ts, and the JSON of earlier versions.
import { packed } from '../../bytes/packed.js'
import { PackedReader } from '../../bytes/packed-reader.js'
import type { Effect, Fact } from '../../core/model/message.js'
import { actorIdLength } from '../../core/usage/batch.js'
import { printOfText, unknownPrint } from '../../core/values/fingerprint.js'
import { decodeId, IdReader, idLetters } from '../../core/values/id.js'
import { putDraws } from './draw-decoder.js'
import { factFromJson, factMark } from './fact-bytes.js'
import { shapeOf, shapes } from './shapes.js'

// The beginning of a fact: mark, shape, `k`, `id`. Only the letter of `k` and the id are looked at where they lie.
const shapeAt = 1
const kindAt = 3
const idAt = 5
/** Length of comp_ and user_. */
const prefixLength = 5
/** Behind the mark: where the shape says what else there is. */
const head = [packed.text + 1, packed.text + actorIdLength] as const
const companyLetter = 0x63
const userLetter = 0x75
const ascii = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const companyPrefix = ascii('comp_')
const userPrefix = ascii('user_')
const eventPrefix = ascii('evt_')
/** Length of evt_ and its letters. */
const eventIdLength = eventPrefix.length + idLetters

/** The actor of a fact. */
interface FactActor {
  readonly id: string
  readonly environmentId: string
}

/** An idempotency key, and the event that has it by the 64 bits of its id (EV-25). */
export interface FactClaim {
  readonly environmentId: string
  readonly key: string
  readonly eventHigh: number
  readonly eventLow: number
  readonly capturedAtMs: number
  /** For a use: the fingerprint of its event (core/usage/fingerprint.ts). */
  readonly print: number
}

/** Kinds that `seek` finds. */
export const companyKind = 0
export const userKind = 1

/** Reads many facts; short texts that come again are made once. */
export class FactReader extends PackedReader {
  /** Actor of the fact that `seek` read: 0 company, 1 user, and the 64 bits of its id. */
  kind = 0
  high = 0
  low = 0
  private readonly ids = new IdReader()
  private readonly claim = {
    environmentId: '',
    key: '',
    eventHigh: 0,
    eventLow: 0,
    capturedAtMs: 0,
    print: unknownPrint,
  }

  constructor() {
    super(shapes)
  }

  /**
   * The fact in bytes [from, end), plus the draws in the rows before it.
   *
   * rowsAt  where these rows begin, of a record with RecordFlag.rows
   * errors  SyntaxError when it is none, or a row is none.
   */
  read(bytes: Buffer, from: number, end: number, rowsAt = from): Fact {
    const fact =
      bytes[from] === factMark
        ? (this.whole(bytes, from + 1, end) as Fact)
        : factFromJson(bytes.toString('utf8', from, end))
    if (rowsAt !== from) putDraws(bytes, rowsAt, from, fact.at, fact.fx as Effect[])
    return fact
  }

  /** The same for a fact whose actor is known, without its claim: its texts are not made again. */
  readOf(actor: FactActor, bytes: Buffer, from: number, end: number, rowsAt = from): Fact {
    const shape = bytes[from + shapeAt]! - packed.shape
    if (bytes[from] !== factMark || (shape !== shapeOf.fact && shape !== shapeOf.claimingFact))
      return this.read(bytes, from, end, rowsAt)
    this.begin(bytes, from + shapeAt + 1, end)
    const k = this.text() as Fact['k']
    this.skip()
    this.skip()
    const at = this.number()
    const fx = this.value() as Effect[]
    if (rowsAt !== from) putDraws(bytes, rowsAt, from, at, fx)
    return { k, id: actor.id, env: actor.environmentId, at, fx }
  }

  /**
   * Read only the actor of a fact: sets `kind`, `high` and `low`.
   *
   * returns  false for an id of another form than core/id.ts makes, or a fact of an earlier version.
   */
  seek(bytes: Buffer, from: number, end: number): boolean {
    if (bytes[from] !== factMark || bytes[from + 2] !== head[0] || bytes[from + 4] !== head[1]) return false
    const letter = bytes[from + kindAt]
    const isCompany = letter === companyLetter
    if (!isCompany && letter !== userLetter) return false
    if (!lies(isCompany ? companyPrefix : userPrefix, bytes, from + idAt)) return false
    const { ids } = this
    if (!ids.read(bytes, from + idAt + prefixLength)) return false
    this.kind = isCompany ? companyKind : userKind
    this.high = ids.high
    this.low = ids.low
    this.begin(bytes, from + idAt + actorIdLength, end)
    return true
  }

  /** Set what `seek` sets from the id of a company or user; false for an id of another form. */
  sought(k: 'c' | 'u', id: string): boolean {
    const words = decodeId(k === 'c' ? 'comp_' : 'user_', id)
    if (words === null) return false
    this.kind = k === 'c' ? companyKind : userKind
    this.high = words[0]
    this.low = words[1]
    return true
  }

  /** The id of the fact that `seek` just read. */
  seekedId(): string {
    return this.bytes.toString('latin1', this.at - actorIdLength, this.at)
  }

  /** The time of the fact that `seek` just read, epoch ms. */
  seekedTime(): number {
    this.skip()
    return this.number()
  }

  /**
   * The idempotency key that the fact in bytes [from, end) claims, or null.
   *
   * returns  the same object for every fact.
   * errors   as `read`.
   */
  claimed(bytes: Buffer, from: number, end: number): FactClaim | null {
    if (bytes[from] !== factMark) return this.claimOf(this.read(bytes, from, end))
    const shape = bytes[from + shapeAt]! - packed.shape
    if (shape === shapeOf.fact || shape === shapeOf.toldFact) return null
    if (shape !== shapeOf.claimingFact) return this.claimOf(this.read(bytes, from, end))
    this.begin(bytes, from + shapeAt + 1, end)
    const k = this.text()
    const ownerId = this.value() as string
    const environmentId = this.text()
    this.skip()
    const { claim } = this
    claim.print = this.printOfUse(k === 'c' ? ownerId : '')
    if (this.length() !== 3) throw new SyntaxError('a claim has three members')
    const key = this.text()
    const eventAt = this.at + 1
    if (!this.isEvent()) return this.claimOf(this.read(bytes, from, end))
    claim.environmentId = environmentId
    claim.key = key
    claim.eventHigh = this.ids.high
    claim.eventLow = this.ids.low
    this.at = eventAt + eventIdLength
    claim.capturedAtMs = this.number()
    return claim
  }

  /** Passes the effects. Returns the fingerprint of the first, if it is a use. */
  private printOfUse(companyId: string): number {
    const count = this.length()
    let print = unknownPrint
    if (count > 0) {
      const first = this.value() as Effect
      if (first.t === 'used') print = printOfText('track', first.subtype, first.quantity, companyId)
    }
    for (let i = 1; i < count; i++) this.skip()
    return print
  }

  /** Whether the id of an event comes next: `ids` has its bits then. */
  private isEvent(): boolean {
    const { bytes, at } = this
    if (bytes[at] !== packed.text + eventIdLength || !lies(eventPrefix, bytes, at + 1)) return false
    return this.ids.read(bytes, at + 1 + eventPrefix.length)
  }

  private claimOf({ k, id: owner, env: environmentId, fx: effects, ik }: Fact): FactClaim | null {
    if (ik === undefined) return null
    const [key, eventId, capturedAtMs] = ik
    const words = decodeId('evt_', eventId)
    if (words === null) throw new SyntaxError(`${eventId} is no id of an event`)
    const [eventHigh, eventLow] = words
    const [use] = effects
    const print =
      use?.t === 'used'
        ? printOfText('track', use.subtype, use.quantity, k === 'c' ? owner : '')
        : unknownPrint
    return Object.assign(this.claim, { environmentId, key, eventHigh, eventLow, capturedAtMs, print })
  }

  /** The effects of most facts, without a look at their names. */
  protected override ofShape(shape: number): object {
    if (shape === shapeOf.used)
      return { t: this.text(), subtype: this.text(), quantity: this.value(), atMs: this.number() }
    if (shape === shapeOf.seen) return { t: this.text(), atMs: this.number() }
    return super.ofShape(shape)
  }
}

/** A fact as JSON, for people; bytes that are none as UTF-8. */
export function factAsText(fact: Buffer): string {
  if (fact[0] !== factMark) return fact.toString()
  try {
    const told = new FactReader().read(fact, 0, fact.length)
    return JSON.stringify(told, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  } catch {
    return fact.toString()
  }
}

function lies(expected: Uint8Array, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false
  return true
}
