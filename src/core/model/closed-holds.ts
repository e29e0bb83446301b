// The holds of an account that are over, remembered for a while: their numbers lie in one list, of which the collector traces
// none. An account whose uses are reserved remembers 256 of them.

import { type Amount, decodeAmount, encodeAmount } from '../values/amount.js'
import { holdPrefix } from '../values/hold-id.js'
import { decodeId, encodeId } from '../values/id.js'

export type HoldKind = 'lease' | 'reservation'

/** A hold that is over, remembered for a while so that a repeat of its release or request is answered. */
export interface ClosedHold {
  readonly id: string
  readonly kind: HoldKind
  readonly granted: Amount
  readonly tracked: Amount
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly releasedAtMs: number
  readonly keys: readonly string[]
}

/** Numbers of a hold, in this order. */
const high = 0
const low = 1
const kindAt = 2
const granted = 3
const tracked = 4
const createdMs = 5
const expiresMs = 6
const releasedMs = 7
const stride = 8

const kinds: readonly HoldKind[] = ['lease', 'reservation']
/** In place of the bits of an id that is not made as the others are. */
const otherId = -1

/** Rows by which a list grows at most, and forgotten rows that a list may hold. */
const spareRows = 64

/** The rest of a hold: nothing, its one idempotency key, or several and an id that is not made as the others are. */
type Rest = null | string | { readonly id: string | null; readonly keys: readonly string[] }

/** Rows that several lists read: each sees a part of them. They are only added at the end. */
interface Rows {
  /** Ids begin with it. */
  readonly prefix: string
  numbers: number[]
  readonly rests: Rest[]
  /** Amounts beyond 2^53, which are NaN among the numbers, by their place there. */
  beyond: Map<number, Amount> | null
}

/** A list of holds that are over, oldest first. It never changes: `with` gives another one. */
export class ClosedHolds {
  static readonly none = new ClosedHolds({ prefix: '', numbers: [], rests: [], beyond: null }, 0, 0)

  private constructor(
    private readonly rows: Rows,
    /** The part of the rows that is this list. */
    private readonly from: number,
    private readonly to: number,
  ) {}

  static of(companyId: string, holds: Iterable<ClosedHold>): ClosedHolds {
    const rows = newRows(holdPrefix(companyId))
    for (const hold of holds) add(rows, hold)
    return rows.rests.length === 0 ? ClosedHolds.none : new ClosedHolds(rows, 0, rows.rests.length)
  }

  get length(): number {
    return this.to - this.from
  }

  /**
   * This list and one more hold of the company.
   *
   * most     holds that are kept; the oldest are forgotten.
   * sinceMs  those that ended earlier are forgotten, too, as far as they are the oldest.
   */
  with(companyId: string, hold: ClosedHold, most: number, sinceMs: number): ClosedHolds {
    let from = this.from + Math.max(0, this.length + 1 - most)
    while (from < this.to && this.number(from, releasedMs) < sinceMs) from++
    if (from === this.to) return ClosedHolds.of(companyId, [hold])
    // Another list may have gone on from here already, and rows that no list sees any more are left behind now and then.
    const isOwn = this.to === this.rows.rests.length && from < spareRows
    const rows = isOwn ? this.rows : copied(this.rows, from, this.to)
    add(rows, hold)
    return new ClosedHolds(rows, isOwn ? from : 0, rows.rests.length)
  }

  /** The hold with an id, of a kind if one is given. */
  withId(id: string, kind?: HoldKind): ClosedHold | undefined {
    const { prefix, numbers, rests } = this.rows
    const bits = decodeId(prefix, id)
    for (let row = this.from; row < this.to; row++) {
      const at = row * stride
      const isIt =
        bits === null
          ? numbers[at + high] === otherId && idIn(rests[row]!) === id
          : numbers[at + high] === bits[0] && numbers[at + low] === bits[1]
      if (isIt && (kind === undefined || kinds[numbers[at + kindAt]!] === kind)) return this.hold(row)
    }
    return undefined
  }

  /** The first hold of a kind that has an idempotency key. */
  withKey(key: string, kind: HoldKind): ClosedHold | undefined {
    for (const hold of this.allWithKey(key, kind)) return hold
    return undefined
  }

  /** All holds of a kind that have an idempotency key. */
  *allWithKey(key: string, kind: HoldKind): Generator<ClosedHold> {
    for (let row = this.from; row < this.to; row++)
      if (hasKey(this.rows.rests[row]!, key) && kinds[this.number(row, kindAt)] === kind) yield this.hold(row)
  }

  *[Symbol.iterator](): Generator<ClosedHold> {
    for (let row = this.from; row < this.to; row++) yield this.hold(row)
  }

  private number(row: number, field: number): number {
    return this.rows.numbers[row * stride + field]!
  }

  private amount(row: number, field: number): Amount {
    const value = this.number(row, field)
    return Number.isNaN(value) ? this.rows.beyond!.get(row * stride + field)! : decodeAmount(value)
  }

  private hold(row: number): ClosedHold {
    const rest = this.rows.rests[row]!
    return {
      id: idIn(rest) ?? encodeId(this.rows.prefix, this.number(row, high), this.number(row, low)),
      kind: kinds[this.number(row, kindAt)]!,
      granted: this.amount(row, granted),
      tracked: this.amount(row, tracked),
      createdAtMs: this.number(row, createdMs),
      expiresAtMs: this.number(row, expiresMs),
      releasedAtMs: this.number(row, releasedMs),
      keys: keysIn(rest),
    }
  }
}

const newRows = (prefix: string): Rows => ({ prefix, numbers: [], rests: [], beyond: null })

function copied(rows: Rows, from: number, to: number): Rows {
  const copy = newRows(rows.prefix)
  copy.numbers = rows.numbers.slice(from * stride, to * stride)
  copy.rests.push(...rows.rests.slice(from, to))
  for (const [place, amount] of rows.beyond ?? [])
    if (place >= from * stride && place < to * stride) keepBeyond(copy, place - from * stride, amount)
  return copy
}

function add(rows: Rows, hold: ClosedHold): void {
  const row = rows.rests.length
  const bits = decodeId(rows.prefix, hold.id)
  rows.rests.push(restOf(hold, bits === null))
  const at = row * stride
  if (at === rows.numbers.length) rows.numbers = rows.numbers.concat(room(row))
  const { numbers } = rows
  numbers[at + high] = bits?.[0] ?? otherId
  numbers[at + low] = bits?.[1] ?? otherId
  numbers[at + kindAt] = kinds.indexOf(hold.kind)
  numbers[at + createdMs] = hold.createdAtMs
  numbers[at + expiresMs] = hold.expiresAtMs
  numbers[at + releasedMs] = hold.releasedAtMs
  setAmount(rows, at + granted, hold.granted)
  setAmount(rows, at + tracked, hold.tracked)
}

function setAmount(rows: Rows, place: number, amount: Amount): void {
  const nanos = encodeAmount(amount)
  if (typeof nanos === 'string') keepBeyond(rows, place, amount)
  rows.numbers[place] = typeof nanos === 'string' ? Number.NaN : nanos
}

function keepBeyond(rows: Rows, place: number, amount: Amount): void {
  rows.beyond ??= new Map()
  rows.beyond.set(place, amount)
}

/** Room for further rows: as many as there are, within bounds. It is made of doubles, so that the list stays one of doubles. */
function room(rows: number): number[] {
  return new Array<number>(stride * Math.min(spareRows, Math.max(1, rows))).fill(0.5)
}

function restOf({ id, keys }: ClosedHold, isOther: boolean): Rest {
  if (isOther) return { id, keys }
  return keys.length < 2 ? (keys[0] ?? null) : { id: null, keys }
}

const idIn = (rest: Rest): string | null => (rest === null || typeof rest === 'string' ? null : rest.id)

const noKeys: readonly string[] = []

function keysIn(rest: Rest): readonly string[] {
  if (rest === null) return noKeys
  return typeof rest === 'string' ? [rest] : rest.keys
}

const hasKey = (rest: Rest, key: string): boolean =>
  rest !== null && (typeof rest === 'string' ? rest === key : rest.keys.includes(key))
