// The counters of one company: all their numbers in one list, so that a company with twelve counters has two objects for
// them, of which the collector traces none of the numbers.

import type { MetricPeriod, MonthReset } from '../../../schemas/enums.js'
import {
  addQuantity,
  type Quantity,
  readQuantity,
  type StoredQuantity,
  storedQuantity,
} from '../values/quantity.js'
import { Names } from '../values/shared-names.js'

/** One window of a counter as it reads at an instant. */
export interface CounterReading {
  readonly period: MetricPeriod
  readonly monthReset: MonthReset
  readonly value: Quantity
  /** First and last event time inside the window, epoch ms; null without events. */
  readonly capturedAtMinMs: number | null
  readonly capturedAtMaxMs: number | null
  readonly createdAtMs: number
  /** End of the window; null for all_time (US-2). */
  readonly validUntilMs: number | null
}

/** A counter as snapshots keep it: values beyond ±(2^53 − 1) are decimal text. See counter.ts for its numbers. */
export type StoredCounter = readonly StoredQuantity[]

/** Numbers of a counter without a billing cycle, and with one. */
export const plainLength = 14
export const cycleLength = 20

/** The largest number of counters whose list has no room to spare: further ones make it grow by half. */
const exactMax = 32

/** Whether any counter of this thread has ever had a value beyond ±(2^53 − 1): until then no search is needed. */
let large = false

/** The same, for callers of a search. */
export function isAnyLarge(): boolean {
  return large
}

const none: readonly never[] = []

/**
 * Counters by event subtype, in the order they were added. Only `Counter` knows where a number lies.
 *
 * `numbers` has `stride` doubles for each counter. They are doubles and nothing else: a value beyond ±(2^53 − 1) is NaN
 * there and lies in `beyond`. Events dated ahead lie in `ahead`. Both are null in nearly every company.
 */
export class Counters {
  private names = Names.none
  private numbers: number[] = none as readonly number[] as number[]
  private stride = plainLength
  /** By place of the counter × 32 + field. */
  private beyond: Map<number, bigint> | null = null
  /** By place of the counter: time, quantity, time, quantity…, ascending. */
  private ahead: Map<number, Quantity[]> | null = null

  /** From a snapshot, each name once. */
  static from(stored: readonly (readonly [subtype: string, counter: StoredCounter])[]): Counters {
    const made = new Counters()
    if (stored.length === 0) return made
    if (stored.some(([, numbers]) => hasCycle(numbers))) made.stride = cycleLength
    const numbers: number[] = []
    for (let place = 0; place < stored.length; place++) {
      const [subtype, all] = stored[place]!
      made.names = made.names.with(subtype)
      for (let field = 0; field < made.stride; field++) {
        const value = readQuantity(all[field] ?? 0)
        numbers.push(typeof value === 'number' ? value : Number.NaN)
        if (typeof value === 'bigint') made.keepBeyond(place, field, value)
      }
      if (all.length > cycleLength) made.setAhead(place, all.slice(cycleLength).map(readQuantity))
    }
    // a copy has no room to spare
    made.numbers = numbers.slice()
    return made
  }

  /** Counters of others, copied. */
  static of(entries: Iterable<readonly [string, Counter]>): Counters {
    return Counters.from([...entries].map(([subtype, counter]) => [subtype, counter.stored()]))
  }

  get size(): number {
    return this.names.list.length
  }

  has(subtype: string): boolean {
    return this.names.place(subtype) >= 0
  }

  get(subtype: string): Counter | undefined {
    const place = this.names.place(subtype)
    return place < 0 ? undefined : new Counter(this, place)
  }

  /** A counter that has seen nothing, for a name that has none. */
  add(subtype: string, nowMs: number): Counter {
    const place = this.size
    this.names = this.names.with(subtype)
    const fresh = this.stride === plainLength ? freshPlain : freshWithCycle
    fresh[0] = nowMs
    if (place < exactMax) this.numbers = this.numbers.concat(fresh)
    else for (let i = 0; i < fresh.length; i++) this.numbers.push(fresh[i]!)
    return new Counter(this, place)
  }

  keys(): readonly string[] {
    return this.names.list
  }

  *[Symbol.iterator](): Generator<[string, Counter]> {
    for (let place = 0; place < this.size; place++) yield [this.names.list[place]!, new Counter(this, place)]
  }

  /** A number that is no value: a time, or a mark. */
  number(place: number, field: number): number {
    return this.numbers[place * this.stride + field]!
  }

  setNumber(place: number, field: number, value: number): void {
    this.numbers[place * this.stride + field] = value
  }

  value(place: number, field: number): Quantity {
    const value = this.numbers[place * this.stride + field]!
    return Number.isNaN(value) ? this.beyond!.get(32 * place + field)! : value
  }

  setValue(place: number, field: number, value: Quantity): void {
    const at = place * this.stride + field
    if (typeof value === 'bigint') {
      this.keepBeyond(place, field, value)
      this.numbers[at] = Number.NaN
      return
    }
    if (this.beyond !== null) this.beyond.delete(32 * place + field)
    this.numbers[at] = value
  }

  /** Add a quantity to the window whose value, first and last time begin at a field. */
  count(place: number, window: number, quantity: Quantity, atMs: number): void {
    const { numbers } = this
    const at = place * this.stride + window
    // NaN, which says that the value is elsewhere, is in no range
    const sum = typeof quantity === 'number' ? numbers[at]! + quantity : Number.NaN
    if (sum <= Number.MAX_SAFE_INTEGER && sum >= -Number.MAX_SAFE_INTEGER) numbers[at] = sum
    else this.setValue(place, window, addQuantity(this.value(place, window), quantity))
    const firstMs = numbers[at + 1]!
    if (firstMs === 0 || atMs < firstMs) numbers[at + 1] = atMs
    if (atMs > numbers[at + 2]!) numbers[at + 2] = atMs
  }

  /** Whether there is room for billing cycles. */
  get hasCycles(): boolean {
    return this.stride === cycleLength
  }

  /** Make it: for all counters, as they have the same subscription. */
  makeRoomForCycles(): void {
    if (this.stride === cycleLength) return
    const wide: number[] = []
    for (let place = 0; place < this.size; place++) {
      for (let field = 0; field < plainLength; field++) wide.push(this.number(place, field))
      for (let field = plainLength; field < cycleLength; field++) wide.push(0)
    }
    this.numbers = wide.slice()
    this.stride = cycleLength
  }

  aheadOf(place: number): readonly Quantity[] {
    return this.ahead === null ? none : (this.ahead.get(place) ?? none)
  }

  setAhead(place: number, ahead: Quantity[]): void {
    if (ahead.length > 0) {
      this.ahead ??= new Map()
      this.ahead.set(place, ahead)
    } else if (this.ahead?.delete(place) && this.ahead.size === 0) this.ahead = null
  }

  /** Add one to them, in its place. */
  keepAhead(place: number, atMs: number, quantity: Quantity): void {
    const ahead = this.ahead?.get(place)
    if (ahead === undefined) return this.setAhead(place, [atMs, quantity])
    let i = ahead.length
    while (i > 0 && isAfter(ahead, i - 2, atMs, quantity)) i -= 2
    ahead.splice(i, 0, atMs, quantity)
  }

  /** Whether a counter has a value beyond ±(2^53 − 1). */
  isLarge(place: number): boolean {
    if (this.beyond === null) return false
    for (let field = 0; field < this.stride; field++) if (this.beyond.has(32 * place + field)) return true
    return false
  }

  /** Make the only counter of these one like another. */
  become({ all, place }: Counter): void {
    this.stride = all.stride
    this.beyond = null
    this.ahead = null
    for (let field = 0; field < all.stride; field++) this.setValue(0, field, all.value(place, field))
    this.setAhead(0, all.aheadOf(place).slice())
  }

  private keepBeyond(place: number, field: number, value: bigint): void {
    large = true
    this.beyond ??= new Map()
    this.beyond.set(32 * place + field, value)
  }
}

const freshPlain = Array.from({ length: plainLength }, () => 0)
const freshWithCycle = Array.from({ length: cycleLength }, () => 0)

function isAfter(ahead: readonly Quantity[], at: number, atMs: number, quantity: Quantity): boolean {
  return ahead[at]! > atMs || (ahead[at] === atMs && ahead[at + 1]! > quantity)
}

/** Where the end of a billing cycle lies: each ends after the beginning of all times. */
const cycleEnd = 15

function hasCycle(stored: StoredCounter): boolean {
  return stored.length > plainLength && stored[cycleEnd] !== 0
}

/** One counter of a company. It knows only its place: do not keep it longer than a message. */
export class Counter {
  constructor(
    readonly all: Counters,
    readonly place: number,
  ) {}

  /** A number that is no value: a time, or a mark. */
  number(field: number): number {
    return this.all.number(this.place, field)
  }

  setNumber(field: number, value: number): void {
    this.all.setNumber(this.place, field, value)
  }

  value(field: number): Quantity {
    return this.all.value(this.place, field)
  }

  setValue(field: number, value: Quantity): void {
    this.all.setValue(this.place, field, value)
  }

  count(window: number, quantity: Quantity, atMs: number): void {
    this.all.count(this.place, window, quantity, atMs)
  }

  /** Whether it has a billing cycle. */
  get hasCycle(): boolean {
    return this.all.hasCycles && this.number(cycleEnd) !== 0
  }

  /** Events dated after the end of a current window, as time, quantity, time, quantity…, ascending. */
  get ahead(): readonly Quantity[] {
    return this.all.aheadOf(this.place)
  }

  setAhead(ahead: Quantity[]): void {
    this.all.setAhead(this.place, ahead)
  }

  keepAhead(atMs: number, quantity: Quantity): void {
    this.all.keepAhead(this.place, atMs, quantity)
  }

  /** Whether it has a value beyond ±(2^53 − 1). */
  get isLarge(): boolean {
    return this.all.isLarge(this.place)
  }

  /** As a snapshot keeps it. */
  stored(): StoredCounter {
    const { ahead, hasCycle } = this
    const length = hasCycle || ahead.length > 0 ? cycleLength : plainLength
    const stored: StoredQuantity[] = []
    for (let field = 0; field < length; field++)
      stored.push(field < plainLength || hasCycle ? storedQuantity(this.value(field)) : 0)
    for (const one of ahead) stored.push(storedQuantity(one))
    return stored
  }

  /** Whether a snapshot of it would be this one. */
  isStoredAs(stored: StoredCounter): boolean {
    const { ahead, hasCycle } = this
    const length = hasCycle || ahead.length > 0 ? cycleLength : plainLength
    if (stored.length !== length + ahead.length) return false
    for (let field = 0; field < length; field++)
      if (stored[field] !== (field < plainLength || hasCycle ? storedQuantity(this.value(field)) : 0))
        return false
    return ahead.every((one, i) => stored[length + i] === storedQuantity(one))
  }
}
