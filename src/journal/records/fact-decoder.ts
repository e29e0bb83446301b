// Facts decoded from the journal's bytes. Nearly all are the use of one event, as fact-encoder.ts writes it: those
// are decoded in place, in a fraction of the time of JSON.parse. All others go through JSON.parse.
import { ascii } from '../../bytes/ascii.js'
import type { Effect, Fact } from '../../core/company/message.js'
import { decodeId, IdReader, idLetters } from '../../core/id.js'
import { printOfText, unknownPrint } from '../../core/usage/fingerprint.js'
import { putDraws } from './draw-decoder.js'
import { parseFact } from './fact-encoder.js'
import { TextCache } from './text-cache.js'

const literal = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const head = literal('{"k":"')
const company = literal('{"k":"c","id":"comp_')
const user = literal('{"k":"u","id":"user_')
const id = literal('","id":"')
const env = literal('","env":"')
const at = literal('","at":')
const fx = literal(',"fx":[')
const used = literal('{"t":"used","subtype":"')
const quantity = literal('","quantity":')
const usedAt = literal(',"atMs":')
const seen = literal('{"t":"seen","atMs":')
const claim = literal(',"ik":["')
const claimKey = literal('"ik":["')
const event = literal('"evt_')
const { quote, comma, minus, zero, nine, backslash, bracketClose, braceClose } = ascii
/** Length of comp_ and user_. */
const prefixLength = 5
/** Digits that any number of them is a safe integer. */
const digitsMax = 15

/** Not of the common form. */
const other = Symbol('other')
/** An end that nothing reaches. */
const notThis = -1

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** The actor of a fact. */
export interface FactActor {
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

/** Reads many facts; texts that come again and again are made once. */
export class FactReader {
  /** Actor of the fact that `seek` read: 0 company, 1 user, and the 64 bits of its id. */
  kind = 0
  high = 0
  low = 0
  readonly #ids = new IdReader()
  readonly #claimed = {
    environmentId: '',
    key: '',
    eventHigh: 0,
    eventLow: 0,
    capturedAtMs: 0,
    print: unknownPrint,
  }
  readonly #texts = new TextCache()
  /** Read into again and again by `passing`; effects by their place in the fact. */
  readonly #scratch: Mutable<Fact> & { readonly fx: Effect[] } = { k: 'c', id: '', env: '', at: 0, fx: [] }
  readonly #uses: Mutable<Extract<Effect, { readonly t: 'used' }>>[] = []
  readonly #seen: Mutable<Extract<Effect, { readonly t: 'seen' }>>[] = []
  #passing = false
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0

  /**
   * The fact in bytes [from, end): equal to the result of JSON.parse, plus the draws in the rows before it.
   *
   * rowsAt  where these rows begin, of a record with RecordFlag.rows
   * errors  SyntaxError when it is no JSON, or a row is none.
   */
  read(bytes: Buffer, from: number, end: number, rowsAt = from): Fact {
    this.#bytes = bytes
    this.#at = from
    this.#end = end
    const fact = this.#fact(null)
    const told = fact === other ? parseFact(bytes.toString('utf8', from, end)) : fact
    return rowsAt === from ? told : withDraws(told, bytes, rowsAt, from)
  }

  /**
   * The same for a fact whose actor `seek` has read, into objects that the next fact reuses: callers must keep none
   * of it. A use or a time seen makes no object.
   */
  passing(bytes: Buffer, from: number, end: number, actor: FactActor, rowsAt = from): Fact {
    this.#bytes = bytes
    this.#at = from
    this.#end = end
    this.#passing = true
    const fact = this.#fact(actor)
    this.#passing = false
    const told = fact === other ? parseFact(bytes.toString('utf8', from, end)) : fact
    return rowsAt === from ? told : withDraws(told, bytes, rowsAt, from)
  }

  /**
   * Read only the actor of a fact: sets `kind`, `high` and `low`.
   *
   * returns  false for an id of another form than core/id.ts makes, or a fact of another.
   */
  seek(bytes: Buffer, from: number, end: number): boolean {
    this.#bytes = bytes
    this.#at = from
    this.#end = end
    if (this.#skip(company)) this.kind = companyKind
    else if (this.#skip(user)) this.kind = userKind
    else return false
    const ids = this.#ids
    if (bytes[this.#at + idLetters] !== quote || !ids.read(bytes, this.#at)) return false
    this.high = ids.high
    this.low = ids.low
    return true
  }

  /**
   * The idempotency key that the fact in bytes [from, end) claims, or null: read backwards, as it is the last member.
   *
   * returns  the same object for every fact.
   * errors   as `read`.
   */
  claimed(bytes: Buffer, from: number, end: number): FactClaim | null {
    // a claim is the last member and ends with a number; a list of effects ends with none
    if (bytes[end - 1] !== braceClose || bytes[end - 2] !== bracketClose || !isDigit(bytes[end - 3]!))
      return null
    return this.#claimAtEnd(bytes, from, end) ? this.#claimed : this.#claimedInFull(bytes, from, end)
  }

  #claimAtEnd(bytes: Buffer, from: number, end: number): boolean {
    let at = end - 3
    let captured = 0
    for (let unit = 1; isDigit(bytes[at]!); unit *= 10) captured += (bytes[at--]! - zero) * unit
    const idAt = at - 1 - idLetters
    if (end - 3 - at > digitsMax || bytes[at] !== comma || bytes[at - 1] !== quote) return false
    if (!this.#ids.read(bytes, idAt) || !lies(event, bytes, idAt - event.length)) return false
    const keyEnd = idAt - event.length - 2
    if (bytes[keyEnd] !== quote || bytes[keyEnd + 1] !== comma) return false
    let keyAt = keyEnd
    for (let byte = bytes[keyAt - 1]!; byte !== quote; byte = bytes[keyAt - 1]!) {
      if (byte === backslash || byte >= 0x80 || keyAt <= from) return false
      keyAt--
    }
    if (!lies(claimKey, bytes, keyAt - claimKey.length)) return false
    this.#bytes = bytes
    this.#at = from
    this.#end = end
    if (!this.#skip(head)) return false
    const kind = this.#kind()
    if (kind === null || !this.#skip(id)) return false
    const ownerAt = this.#at
    while (this.#at < end && bytes[this.#at] !== quote) this.#at++
    const ownerEnd = this.#at
    if (!this.#skip(env)) return false
    const environmentId = this.#text()
    if (environmentId === null) return false
    const companyId = kind === 'c' ? bytes.toString('latin1', ownerAt, ownerEnd) : ''
    const found = this.#claimed
    found.environmentId = environmentId
    found.key = bytes.toString('latin1', keyAt, keyEnd)
    found.eventHigh = this.#ids.high
    found.eventLow = this.#ids.low
    found.capturedAtMs = captured
    const print = this.#printOfUse(companyId)
    found.print = print ?? unknownPrint
    return print !== null
  }

  /** The fingerprint of a fact's first use, behind its environment; null where the use has another form. */
  #printOfUse(companyId: string): number | null {
    if (!this.#skip(at)) return null
    this.#number()
    if (!this.#skip(fx)) return null
    if (!this.#skip(used)) return unknownPrint
    const subtype = this.#text()
    if (subtype === null || !this.#skip(quantity)) return null
    const count = this.#number()
    return Number.isNaN(count) ? null : printOfText('track', subtype, count, companyId)
  }

  #claimedInFull(bytes: Buffer, from: number, end: number): FactClaim | null {
    const { k, id: owner, env: environmentId, fx: effects, ik } = this.read(bytes, from, end)
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
    return Object.assign(this.#claimed, { environmentId, key, eventHigh, eventLow, capturedAtMs, print })
  }

  /** The id of the fact that `seek` read last, if it has one. */
  seekedId(): string {
    const at = this.#at
    return this.#bytes.toString('latin1', at - prefixLength, at + idLetters)
  }

  #fact(actor: FactActor | null): Fact | typeof other {
    if (!this.#skip(head)) return other
    const k = this.#kind()
    if (k === null || !this.#skip(id)) return other
    const whose = actor === null ? this.#text() : this.#past(actor.id)
    if (whose === null || !this.#skip(env)) return other
    const environmentId = actor === null ? this.#text() : this.#past(actor.environmentId)
    if (environmentId === null || !this.#skip(at)) return other
    const atMs = this.#number()
    if (!this.#skip(fx)) return other
    const effects: Effect[] = this.#passing ? this.#scratch.fx : []
    effects.length = 0
    if (this.#bytes[this.#at] !== bracketClose)
      for (;;) {
        const effect = this.#effect(effects.length)
        if (effect === null) return other
        effects.push(effect)
        if (this.#bytes[this.#at] !== comma) break
        this.#at++
      }
    if (!this.#byte(bracketClose)) return other
    const fact = this.#passing ? this.#scratch : { k, id: whose, env: environmentId, at: atMs, fx: effects }
    if (this.#passing) {
      const scratch = this.#scratch
      scratch.k = k
      scratch.id = whose
      scratch.env = environmentId
      scratch.at = atMs
    }
    if (this.#bytes[this.#at] === comma) {
      const ik = this.#claim()
      if (ik === null) return other
      return this.#isWhole() ? { ...fact, ik } : other
    }
    return this.#isWhole() ? fact : other
  }

  #isWhole(): boolean {
    return this.#byte(braceClose) && this.#at === this.#end
  }

  #effect(index: number): Effect | null {
    if (this.#skip(used)) {
      const subtype = this.#text()
      if (subtype === null || !this.#skip(quantity)) return null
      const count = this.#number()
      if (!this.#skip(usedAt)) return null
      const atMs = this.#number()
      if (!this.#byte(braceClose)) return null
      if (!this.#passing) return { t: 'used', subtype, quantity: count, atMs }
      let effect = this.#uses[index]
      if (effect === undefined) {
        effect = { t: 'used', subtype, quantity: count, atMs }
        this.#uses[index] = effect
      }
      effect.subtype = subtype
      effect.quantity = count
      effect.atMs = atMs
      return effect
    }
    if (!this.#skip(seen)) return null
    const atMs = this.#number()
    if (!this.#byte(braceClose)) return null
    if (!this.#passing) return { t: 'seen', atMs }
    let effect = this.#seen[index]
    if (effect === undefined) {
      effect = { t: 'seen', atMs }
      this.#seen[index] = effect
    }
    effect.atMs = atMs
    return effect
  }

  #claim(): Fact['ik'] | null {
    if (!this.#skip(claim)) return null
    const key = this.#text(false)
    if (key === null || !this.#byte(quote) || !this.#byte(comma) || !this.#byte(quote)) return null
    const eventId = this.#text(false)
    if (eventId === null || !this.#byte(quote) || !this.#byte(comma)) return null
    const capturedAtMs = this.#number()
    return this.#byte(bracketClose) ? [key, eventId, capturedAtMs] : null
  }

  #kind(): Fact['k'] | null {
    switch (this.#bytes[this.#at++]) {
      case 0x63:
        return 'c'
      case 0x75:
        return 'u'
      case 0x65:
        return 'e'
      default:
        return null
    }
  }

  #skip(expected: Uint8Array): boolean {
    const bytes = this.#bytes
    const start = this.#at
    for (let i = 0; i < expected.length; i++) if (bytes[start + i] !== expected[i]) return false
    this.#at = start + expected.length
    return true
  }

  #byte(expected: number): boolean {
    if (this.#bytes[this.#at] !== expected) return false
    this.#at++
    return true
  }

  /** Past a text that is known to be here. */
  #past(text: string): string {
    this.#at += text.length
    return text
  }

  /** Up to the closing quote; null where something is escaped or no ASCII. */
  #text(again = true): string | null {
    const bytes = this.#bytes
    const start = this.#at
    let hash = 0x811c9dc5
    let end = start
    for (; end < this.#end; end++) {
      const byte = bytes[end]!
      if (byte === quote) break
      if (byte === backslash || byte >= 0x80) return null
      hash = Math.imul(hash ^ byte, 0x01000193)
    }
    this.#at = end
    return again ? this.#texts.of(bytes, start, end, hash) : bytes.toString('latin1', start, end)
  }

  /** NaN where it is no plain integer: the fact is not of the common form then. */
  #number(): number {
    const bytes = this.#bytes
    const negative = bytes[this.#at] === minus
    if (negative) this.#at++
    const start = this.#at
    let value = 0
    let end = start
    for (; end - start <= digitsMax; end++) {
      const digit = bytes[end]! - zero
      if (!(digit >= 0 && digit <= 9)) break
      value = value * 10 + digit
    }
    const digits = end - start
    // "-0" is another number than 0, "01" is none
    if (digits === 0 || digits > digitsMax || (bytes[start] === zero && (digits > 1 || negative))) {
      this.#end = notThis
      return Number.NaN
    }
    this.#at = end
    return negative ? -value : value
  }
}

/** A fact with the draws of its rows behind its effects: nothing else that a use does touches credits. */
function withDraws(fact: Fact, bytes: Buffer, from: number, end: number): Fact {
  const fx = fact.fx as Effect[]
  putDraws(bytes, from, end, fact.at, fx)
  return fact
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine

function lies(expected: Uint8Array, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false
  return true
}
