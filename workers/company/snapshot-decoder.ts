// Snapshots decoded from the bytes that encodeCompany and JSON.stringify wrote. Common members of companies are
// decoded in place, in a fraction of the time of JSON.parse, and equal values are shared. The rest of a company, and
// snapshots of any other form, go through JSON.parse.
import { ascii } from '../../src/bytes/ascii.js'
import type { CompanySnapshot, UserSnapshot } from '../../src/core/company/descriptions.js'
import { isText, TextCache } from '../../src/journal/records/text-cache.js'

const literal = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const id = literal('{"id":')
const environmentId = literal(',"environmentId":')
const exists = literal(',"exists":true')
const name = literal(',"name":')
const keys = literal(',"keys":')
const traits = literal(',"traits":')
const createdAtMs = literal(',"createdAtMs":')
const updatedAtMs = literal(',"updatedAtMs":')
const lastSeenAtMs = literal(',"lastSeenAtMs":')
const sequence = literal(',"sequence":')
const plan = literal(',"plan":')
const addOns = literal(',"addOns":')
const trialedPlanIds = literal(',"trialedPlanIds":')
const subscriptions = literal(',"subscriptions":')
const schedule = literal(',"schedule":')
const overrides = literal(',"overrides":')
const counters = literal(',"counters":')
const credits = literal(',"credits":')
const idsMade = literal(',"idsMade":')
const timeMs = literal(',"timeMs":')
const nothing = literal('null')

const { quote, comma, minus, zero, backslash, bracketOpen, bracketClose, braceOpen, braceClose } = ascii
/** Digits that any number of them is a safe integer. */
const digitsMax = 15
/** Names of keys, traits and events that come again. */
const namesMax = 1 << 12

const none: readonly never[] = []

type Stored = CompanySnapshot['keys'][number]
type StoredCounter = CompanySnapshot['counters'][number]

/** Thrown and caught here: not of the common form. */
const other = new Error('another form')

/** Reads many snapshots, one at a time. */
export class SnapshotReader {
  readonly #texts = new TextCache(namesMax)
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0

  /**
   * The company or user in bytes [from, end): equal to what JSON.parse gives. Lists without an entry are one list.
   *
   * errors  SyntaxError when it is no JSON.
   */
  read(kind: 'c', bytes: Buffer, from: number, end: number): CompanySnapshot
  read(kind: 'u', bytes: Buffer, from: number, end: number): UserSnapshot
  read(kind: 'c' | 'u', bytes: Buffer, from: number, end: number): CompanySnapshot | UserSnapshot {
    if (kind === 'c')
      try {
        this.#bytes = bytes
        this.#at = from
        this.#end = end
        return this.#company()
      } catch (error) {
        if (error !== other) throw error
      }
    return JSON.parse(bytes.toString('utf8', from, end))
  }

  #company(): CompanySnapshot {
    this.#skip(id)
    const ownId = this.#text()
    this.#skip(environmentId)
    const environment = this.#name()
    this.#skip(exists)
    this.#skip(name)
    const ownName = this.#text()
    this.#skip(keys)
    const ownKeys = this.#stored(ownName)
    this.#skip(traits)
    const ownTraits = this.#stored(ownName)
    const company: CompanySnapshot = {
      id: ownId,
      environmentId: environment,
      exists: true,
      name: ownName,
      keys: ownKeys,
      traits: ownTraits,
      createdAtMs: this.#number(createdAtMs),
      updatedAtMs: this.#number(updatedAtMs),
      lastSeenAtMs: this.#numberOrNull(lastSeenAtMs),
      sequence: this.#number(sequence),
      plan: this.#value(plan),
      addOns: this.#list(addOns),
      trialedPlanIds: this.#list(trialedPlanIds),
      subscriptions: this.#list(subscriptions),
      schedule: this.#value(schedule),
      overrides: this.#list(overrides),
      counters: this.#counters(),
      credits: this.#list(credits),
      idsMade: this.#number(idsMade),
      timeMs: this.#number(timeMs),
    }
    this.#byte(braceClose)
    if (this.#at !== this.#end) throw other
    return company
  }

  #skip(expected: Uint8Array): void {
    const bytes = this.#bytes
    const start = this.#at
    for (let i = 0; i < expected.length; i++) if (bytes[start + i] !== expected[i]) throw other
    this.#at = start + expected.length
  }

  #byte(expected: number): void {
    if (this.#bytes[this.#at++] !== expected) throw other
  }

  /** Whether this byte comes next; it is passed then. */
  #next(expected: number): boolean {
    if (this.#bytes[this.#at] !== expected) return false
    this.#at++
    return true
  }

  /** A text; `same` when it is that one. */
  #text(same = ''): string {
    const bytes = this.#bytes
    this.#byte(quote)
    const start = this.#at
    let end = start
    for (; ; end++) {
      const byte = bytes[end]!
      if (byte === quote) break
      if (byte === backslash || byte >= 0x80) return this.#anyText(start - 1)
      if (end >= this.#end) throw other
    }
    this.#at = end + 1
    return isText(same, bytes, start, end) ? same : bytes.toString('latin1', start, end)
  }

  /** A text that others have too. */
  #name(): string {
    const bytes = this.#bytes
    this.#byte(quote)
    const start = this.#at
    let hash = 0x811c9dc5
    let end = start
    for (; ; end++) {
      const byte = bytes[end]!
      if (byte === quote) break
      if (byte === backslash || byte >= 0x80) return this.#anyText(start - 1)
      if (end >= this.#end) throw other
      hash = Math.imul(hash ^ byte, 0x01000193)
    }
    this.#at = end + 1
    return this.#texts.of(bytes, start, end, hash)
  }

  /** A text with escapes, or of more than ASCII. */
  #anyText(start: number): string {
    this.#at = this.#past(start)
    return JSON.parse(this.#bytes.toString('utf8', start, this.#at))
  }

  /** A list of names, texts and their times; texts that are `same` as that one are it. */
  #stored(same: string): readonly Stored[] {
    this.#byte(bracketOpen)
    if (this.#next(bracketClose)) return none
    const all: Stored[] = []
    do {
      this.#byte(bracketOpen)
      const of = this.#name()
      this.#byte(comma)
      const text = this.#text(same)
      this.#byte(comma)
      const created = this.#digits()
      this.#byte(comma)
      all.push([of, text, created, this.#digits()])
      this.#byte(bracketClose)
    } while (this.#next(comma))
    this.#byte(bracketClose)
    return all
  }

  #counters(): readonly StoredCounter[] {
    this.#skip(counters)
    this.#byte(bracketOpen)
    if (this.#next(bracketClose)) return none
    const all: StoredCounter[] = []
    do {
      this.#byte(bracketOpen)
      const of = this.#name()
      this.#byte(comma)
      // one of version 0.1.0 is an object
      all.push([of, this.#bytes[this.#at] === bracketOpen ? this.#numbers() : this.#any()])
      this.#byte(bracketClose)
    } while (this.#next(comma))
    this.#byte(bracketClose)
    return all
  }

  #numbers(): number[] {
    this.#byte(bracketOpen)
    const all: number[] = []
    do all.push(this.#digits())
    while (this.#next(comma))
    this.#byte(bracketClose)
    return all
  }

  #number(member: Uint8Array): number {
    this.#skip(member)
    return this.#digits()
  }

  #numberOrNull(member: Uint8Array): number | null {
    this.#skip(member)
    if (this.#bytes[this.#at] !== nothing[0]) return this.#digits()
    this.#skip(nothing)
    return null
  }

  /** A plain integer. */
  #digits(): number {
    const bytes = this.#bytes
    const negative = this.#next(minus)
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
    if (digits === 0 || digits > digitsMax || (bytes[start] === zero && (digits > 1 || negative))) throw other
    this.#at = end
    return negative ? -value : value
  }

  #list<T>(member: Uint8Array): readonly T[] {
    this.#skip(member)
    if (this.#bytes[this.#at] !== bracketOpen) throw other
    if (this.#bytes[this.#at + 1] !== bracketClose) return this.#any()
    this.#at += 2
    return none
  }

  #value<T>(member: Uint8Array): T {
    this.#skip(member)
    return this.#any()
  }

  /** Any value. */
  #any<T>(): T {
    const start = this.#at
    const first = this.#bytes[start]
    if (first === nothing[0]) {
      this.#skip(nothing)
      return null as T
    }
    if (first !== braceOpen && first !== bracketOpen) throw other
    this.#at = this.#past(start)
    return JSON.parse(this.#bytes.toString('utf8', start, this.#at))
  }

  /** Behind the text, list or object that begins at a place. */
  #past(start: number): number {
    const bytes = this.#bytes
    let depth = 0
    for (let at = start; at < this.#end; at++) {
      const byte = bytes[at]!
      if (byte === quote) {
        for (at++; bytes[at] !== quote; at++) {
          if (at >= this.#end) throw other
          if (bytes[at] === backslash) at++
        }
        if (depth === 0) return at + 1
      } else if (byte === bracketOpen || byte === braceOpen) depth++
      else if (byte === bracketClose || byte === braceClose) {
        if (--depth <= 0) return at + 1
      }
    }
    throw other
  }
}
