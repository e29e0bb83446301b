// Scans track events of the usual shape in a body's bytes without allocating objects: it only records positions.
// Anything unusual (escapes, unknown members, other types, odd numbers) is left to the parser and judge.ts. Every
// event that the scan accepts is valid by judge.ts, with the same result.
import { ascii } from '../bytes/ascii.js'
import { dataViewOf } from '../bytes/data-view.js'
import { parseTime } from '../core/values/instant.js'
import { allFinite, parseExactly } from '../json.js'
import { bodyText } from './text.js'

/** One scanned event: offsets into the body's bytes, which equal offsets into its text (`Scan.text`). */
export interface Scanned {
  /** The event's body as stored: its position if it is compact there, else `stored` has the text. */
  bodyAt: number
  bodyEnd: number
  stored: string | null
  nameAt: number
  nameEnd: number
  /** Equal to the start if there is none. */
  keyAt: number
  keyEnd: number
  quantity: number
  sentAtMs: number | null
  readonly company: ScannedKeys
  readonly user: ScannedKeys
}

/** Keys of a company or user. The first pair is separate, because nearly all have only one. */
export interface ScannedKeys {
  /** Number of pairs; 0 if none is named. */
  count: number
  nameAt: number
  nameEnd: number
  valueAt: number
  valueEnd: number
  /** Position of the whole object. */
  at: number
  end: number
}

const keysMax = 255
const namesMax = 12
/** A body with at most this many bytes is within the bound after any escaping. */
const storedBytesMax = 16_384

const {
  quote,
  comma,
  minus,
  zero,
  nine,
  colon,
  backslash,
  bracketOpen,
  bracketClose,
  braceOpen,
  braceClose,
} = ascii

/** Bytes that represent themselves in a string: no quote, escape, control character or non-ASCII byte. */
const plain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x80 && byte !== quote && byte !== backslash ? 1 : 0,
)
const blank = Uint8Array.from({ length: 256 }, (_, byte) => ([0x20, 0x09, 0x0a, 0x0d].includes(byte) ? 1 : 0))

const word = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'))
const words = {
  events: word('events'),
  event_type: word('event_type'),
  idempotency_key: word('idempotency_key'),
  sent_at: word('sent_at'),
  body: word('body'),
  track: word('track'),
  event: word('event'),
  company: word('company'),
  user: word('user'),
  quantity: word('quantity'),
  traits: word('traits'),
  null: word('null'),
  true: word('true'),
  false: word('false'),
}

// Bits of members seen; a duplicate member is not usual.
const hasType = 1
const hasKey = 2
const hasTime = 4
const hasBody = 8
const hasName = 1
const hasCompany = 2
const hasUser = 4
const hasQuantity = 8
const hasTraits = 16

const bytesMin = 4_096

const noKeys = (): ScannedKeys => ({
  count: 0,
  nameAt: 0,
  nameEnd: 0,
  valueAt: 0,
  valueEnd: 0,
  at: 0,
  end: 0,
})

/** A new result object; reuse it for many events. */
export function newScanned(): Scanned {
  return {
    bodyAt: 0,
    bodyEnd: 0,
    stored: null,
    nameAt: 0,
    nameEnd: 0,
    keyAt: 0,
    keyEnd: 0,
    quantity: 1,
    sentAtMs: null,
    company: noKeys(),
    user: noKeys(),
  }
}

/**
 * A body being scanned. The bytes are copied and end with a zero, at which every scan stops.
 * source  EV-7, EV-9, EV-10, decision 2: the same as judge.ts, for the usual shape.
 */
export class Scan {
  /** The body's text, one character per byte. */
  text = ''
  private bytes: Buffer = Buffer.alloc(bytesMin)
  /** The same bytes. */
  view = dataViewOf(this.bytes)
  private length = 0
  private at = 0
  /** The current event's body must be rewritten before it is stored. */
  private loose = false
  private readonly signs = new Int32Array(namesMax)

  /** text: the decoded body; byteLength: its length before decoding. Starts at the first byte. */
  begin(text: string, byteLength: number): void {
    const needed = (text.length === byteLength ? byteLength : 3 * text.length) + 1
    if (needed > this.bytes.length) this.resize(2 * needed)
    const { bytes } = this
    // equal lengths: all ASCII, or invalid UTF-8, whose replacement characters are non-ASCII
    if (text.length === byteLength) {
      bytes.write(text, 0, 'latin1')
      this.text = text
      this.length = byteLength
    } else {
      this.length = bytes.write(text, 0)
      this.text = bytes.toString('latin1', 0, this.length)
    }
    bytes[this.length] = 0
    this.at = 0
  }

  /**
   * begin for a body in bytes. Invalid UTF-8 in it is detected when an event's body is parsed before it is stored.
   */
  beginBytes(body: Buffer): void {
    const { length } = body
    if (length >= this.bytes.length) this.resize(2 * length + 1)
    this.bytes.set(body)
    this.bytes[length] = 0
    this.text = body.toString('latin1')
    this.length = length
    this.at = 0
  }

  /** Release the body. */
  end(): void {
    this.text = ''
    if (this.bytes.length > 1 << 20) this.resize(bytesMin)
  }

  private resize(bytes: number): void {
    this.bytes = Buffer.allocUnsafeSlow(bytes)
    this.view = dataViewOf(this.bytes)
  }

  /** Whether the body begins with `{"events":[` and a non-empty list. */
  list(): boolean {
    if (this.token() !== braceOpen || this.token() !== quote) return false
    const at = this.at
    const end = this.string(at)
    if (end < 0 || !this.is(words.events, at, end)) return false
    this.at = end + 1
    if (this.token() !== colon || this.token() !== bracketOpen) return false
    this.skip()
    return this.bytes[this.at] !== bracketClose
  }

  /** After an event of a list: whether another follows; null when list and body end correctly here. */
  next(): boolean | null {
    const byte = this.token()
    if (byte === comma) return true
    if (byte !== bracketClose || this.token() !== braceClose) return false
    return this.isAtEnd() ? null : false
  }

  isAtEnd(): boolean {
    this.skip()
    return this.at === this.length
  }

  /**
   * Scan one event.
   *
   * negative  whether its quantity may be below zero.
   * returns   false when it is not of the usual shape; the position is undefined then.
   */
  event(found: Scanned, negative: boolean): boolean {
    if (this.token() !== braceOpen) return false
    let has = 0
    found.keyAt = 0
    found.keyEnd = 0
    found.sentAtMs = null
    for (;;) {
      if (this.token() !== quote) return false
      const at = this.at
      const end = this.string(at)
      if (end < 0) return false
      this.at = end + 1
      if (this.token() !== colon) return false
      this.skip()
      let member = 0
      if (this.is(words.body, at, end)) {
        member = hasBody
        if (!this.body(found, negative)) return false
      } else if (this.is(words.event_type, at, end)) {
        member = hasType
        if (this.token() !== quote) return false
        const from = this.at
        const to = this.string(from)
        if (to < 0 || !this.is(words.track, from, to)) return false
        this.at = to + 1
      } else if (this.is(words.idempotency_key, at, end)) {
        member = hasKey
        if (!this.isNull()) {
          if (!this.name()) return false
          found.keyAt = this.from
          found.keyEnd = this.to
        }
      } else if (this.is(words.sent_at, at, end)) {
        member = hasTime
        if (!this.isNull()) {
          if (!this.name()) return false
          found.sentAtMs = parseTime(this.text.slice(this.from, this.to))
          if (found.sentAtMs === null) return false
        }
      } else return false
      if ((has & member) !== 0) return false
      has |= member
      const next = this.token()
      if (next === braceClose) return (has & (hasType | hasBody)) === (hasType | hasBody)
      if (next !== comma) return false
    }
  }

  private body(found: Scanned, negative: boolean): boolean {
    const { bytes } = this
    const bodyAt = this.at
    this.loose = false
    let has = 0
    found.quantity = 1
    found.company.count = 0
    found.user.count = 0
    if (bytes[this.at++] !== braceOpen) return false
    for (;;) {
      if (this.tight() !== quote) return false
      const at = this.at
      const end = this.string(at)
      if (end < 0) return false
      this.at = end + 1
      if (this.tight() !== colon) return false
      this.tighten()
      let member = 0
      if (this.is(words.company, at, end)) {
        member = hasCompany
        if (!this.isNull() && !this.keys(found.company)) return false
      } else if (this.is(words.event, at, end)) {
        member = hasName
        if (!this.name()) return false
        found.nameAt = this.from
        found.nameEnd = this.to
      } else if (this.is(words.user, at, end)) {
        member = hasUser
        if (!this.isNull() && !this.keys(found.user)) return false
      } else if (this.is(words.quantity, at, end)) {
        member = hasQuantity
        if (!this.isNull() && !this.quantity(found, negative)) return false
      } else if (this.is(words.traits, at, end)) {
        member = hasTraits
        if (!this.isNull() && (bytes[this.at] !== braceOpen || !this.value(0))) return false
      } else return false
      if ((has & member) !== 0) return false
      has |= member
      const next = this.tight()
      if (next === braceClose) break
      if (next !== comma) return false
    }
    if ((has & hasName) === 0 || this.at - bodyAt > storedBytesMax) return false
    found.bodyAt = bodyAt
    found.bodyEnd = this.at
    found.stored = null
    return this.loose ? this.compact(found) : true
  }

  /** Rewrite a body that is not compact. */
  private compact(found: Scanned): boolean {
    try {
      const text = this.bytes.toString('utf8', found.bodyAt, found.bodyEnd)
      if (text.includes('\ufffd')) return false // perhaps invalid UTF-8, which the parser reports
      const body = parseExactly(text) as object
      found.stored = bodyText(body, false)
      return allFinite(body) // the parser refuses others
    } catch {
      return false // an error that the parser reports
    }
  }

  /** Scan keys of a company or user: at least one pair, plain text. */
  private keys(found: ScannedKeys): boolean {
    const { bytes, signs } = this
    found.at = this.at
    if (bytes[this.at++] !== braceOpen) return false
    for (let count = 0; ; ) {
      this.tighten()
      if (!this.name()) return false
      const { from, to } = this
      if (count === 4 || this.isNumeral(from) || this.wasMet(from, to, count)) return false
      signs[count] = this.sign(from, to)
      if (this.tight() !== colon) return false
      this.tighten()
      if (!this.name()) return false
      if (count === 0) {
        found.nameAt = from
        found.nameEnd = to
        found.valueAt = this.from
        found.valueEnd = this.to
      }
      count++
      const next = this.tight()
      if (next === braceClose) {
        found.count = count
        found.end = this.at
        return true
      }
      if (next !== comma) return false
    }
  }

  /** Scan any value within traits. One that would be written differently makes the body loose. */
  private value(depth: number): boolean {
    const { bytes } = this
    const byte = bytes[this.at]!
    if (byte === quote) return this.anyString()
    if (byte === braceOpen) return depth > 8 ? false : this.members(depth)
    if (byte === bracketOpen) return depth > 8 ? false : this.items(depth)
    if (byte === minus || (byte >= zero && byte <= nine)) return this.number()
    return this.isWord(words.true) || this.isWord(words.false) || this.isWord(words.null)
  }

  private members(depth: number): boolean {
    const { bytes, signs } = this
    // duplicate names are detected at the first level only; deeper objects are rewritten
    if (depth > 0) this.loose = true
    this.at++
    this.tighten()
    if (bytes[this.at] === braceClose) {
      this.at++
      return true
    }
    for (let count = 0; ; count++) {
      if (this.tight() !== quote) return false
      const from = this.at
      if (!this.anyStringFrom(from)) return false
      const to = this.at - 1
      if (!this.loose) {
        if (count === namesMax || this.isNumeral(from) || this.wasMet(from, to, count)) this.loose = true
        else signs[count] = this.sign(from, to)
      }
      if (this.tight() !== colon) return false
      this.tighten()
      if (!this.value(depth + 1)) return false
      const next = this.tight()
      if (next === braceClose) return true
      if (next !== comma) return false
    }
  }

  private items(depth: number): boolean {
    this.at++
    this.tighten()
    if (this.bytes[this.at] === bracketClose) {
      this.at++
      return true
    }
    for (;;) {
      this.tighten()
      if (!this.value(depth + 1)) return false
      const next = this.tight()
      if (next === bracketClose) return true
      if (next !== comma) return false
    }
  }

  /** Scan a number. Unless written as JavaScript would, the body is loose, and the parser validates it. */
  private number(): boolean {
    const { bytes } = this
    const from = this.at
    let at = from
    if (bytes[at] === minus) at++
    const digitsAt = at
    while (isDigit(bytes[at]!)) at++
    const digits = at - digitsAt
    const next = bytes[at]!
    const isWhole = next !== 0x2e && next !== 0x65 && next !== 0x45 && next !== 0x2b && next !== minus
    if (
      isWhole &&
      digits > 0 &&
      digits < 16 &&
      (bytes[digitsAt] !== zero || (digits === 1 && at === from + 1))
    ) {
      this.at = at
      return true
    }
    while (isNumeric(bytes[at]!)) at++
    const text = this.text.slice(from, at)
    if (String(Number(text)) !== text) this.loose = true
    this.at = at
    return true
  }

  /** Scan 1 to 9 digits, not 0; fractions and exponents are not usual. */
  private quantity(found: Scanned, negative: boolean): boolean {
    const { bytes } = this
    let at = this.at
    const isNegative = bytes[at] === minus
    if (isNegative && !negative) return false
    if (isNegative) at++
    const from = at
    let quantity = 0
    while (isDigit(bytes[at]!)) quantity = quantity * 10 + bytes[at++]! - zero
    if (at === from || at - from > 9 || bytes[from] === zero || isNumeric(bytes[at]!)) return false
    found.quantity = isNegative ? -quantity : quantity
    this.at = at
    return true
  }

  // ── tokens ───────────────────────────────────────────────────────────────────────────────────

  /** Bounds of the name, key or value read last. */
  private from = 0
  private to = 0

  /** Scan a string of 1 to 255 plain characters. */
  private name(): boolean {
    if (this.bytes[this.at] !== quote) return false
    const from = this.at + 1
    const to = this.string(from)
    if (to < 0 || to === from || to - from > keysMax) return false
    this.from = from
    this.to = to
    this.at = to + 1
    return true
  }

  /** The closing quote of a plain string whose text starts here; -1 if it is not plain. */
  private string(from: number): number {
    const { bytes } = this
    let at = from
    while (plain[bytes[at]!] === 1) at++
    return bytes[at] === quote ? at : -1
  }

  private anyString(): boolean {
    return this.anyStringFrom(this.at + 1)
  }

  /** Scan any string. Escapes and non-ASCII bytes make the body loose. */
  private anyStringFrom(from: number): boolean {
    const { bytes } = this
    let at = from
    for (;;) {
      while (plain[bytes[at]!] === 1) at++
      const byte = bytes[at]!
      if (byte === quote) {
        this.at = at + 1
        return true
      }
      if (byte < 0x20) return false
      this.loose = true
      at += byte === backslash ? 2 : 1
      if (at > this.length) return false
    }
  }

  /** Return the next non-blank byte and move past it. */
  private token(): number {
    this.skip()
    return this.bytes[this.at++]!
  }

  private skip(): void {
    const { bytes } = this
    while (blank[bytes[this.at]!] === 1) this.at++
  }

  /** token within a body, where blanks are not stored. */
  private tight(): number {
    this.tighten()
    return this.bytes[this.at++]!
  }

  private tighten(): void {
    if (blank[this.bytes[this.at]!] === 0) return
    this.loose = true
    this.skip()
  }

  private is(name: Uint8Array, from: number, to: number): boolean {
    if (to - from !== name.length) return false
    const { bytes } = this
    for (let i = 0; i < name.length; i++) if (bytes[from + i] !== name[i]) return false
    return true
  }

  private isWord(name: Uint8Array): boolean {
    if (!this.is(name, this.at, this.at + name.length)) return false
    this.at += name.length
    return true
  }

  private isNull(): boolean {
    return this.isWord(words.null)
  }

  /** Whether a name is an array index: JSON.parse orders such members first. */
  private isNumeral(from: number): boolean {
    return isDigit(this.bytes[from]!)
  }

  /** Whether a name may repeat an earlier one: same length, first and last character. */
  private wasMet(from: number, to: number, count: number): boolean {
    const sign = this.sign(from, to)
    for (let i = 0; i < count; i++) if (this.signs[i] === sign) return true
    return false
  }

  private sign(from: number, to: number): number {
    return ((to - from) << 16) | (this.bytes[from]! << 8) | this.bytes[to - 1]!
  }
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine

const isNumeric = (byte: number): boolean =>
  isDigit(byte) || byte === minus || byte === 0x2b || byte === 0x2e || byte === 0x65 || byte === 0x45
