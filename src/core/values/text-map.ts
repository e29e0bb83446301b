// Keys and traits of an entity: texts by name with their times, in three lists instead of an object each.
import { Names } from './shared-names.js'

/** `value` is the stored text (CU-32). `updatedAtMs` is the captured time of the last write (EV-42). */
export interface NamedText {
  readonly value: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** A text as a snapshot has it: name, value, created at, updated at (epoch ms). */
export type StoredText = readonly [name: string, value: string, createdAtMs: number, updatedAtMs: number]

/**
 * Texts by name, in the order they were added, as a Map. Names are shared with all who have the same ones; times are
 * kept once while all entries have the same, as those of a first write have.
 */
export class NamedTexts {
  private names = Names.none
  private values: readonly string[] = noValues
  /**
   * Created at, updated at: two numbers for all entries, or two for each. A pair of two is shared and never changed.
   */
  private times: readonly number[] = noTimes

  static of(entries: Iterable<readonly [string, NamedText]>): NamedTexts {
    const made = new NamedTexts()
    for (const [name, { value, createdAtMs, updatedAtMs }] of entries)
      made.put(name, value, createdAtMs, updatedAtMs)
    return made
  }

  /** As a snapshot has them, each name once. */
  static from(stored: readonly StoredText[]): NamedTexts {
    const made = new NamedTexts()
    const [first] = stored
    if (first === undefined) return made
    made.names = Names.of(stored.map(([name]) => name))
    made.values = stored.map(([, value]) => value)
    const [, , createdAtMs, updatedAtMs] = first
    made.times = stored.every(one => one[2] === createdAtMs && one[3] === updatedAtMs)
      ? pairOf(createdAtMs, updatedAtMs)
      : stored.flatMap(one => [one[2], one[3]]).slice()
    return made
  }

  get size(): number {
    return this.values.length
  }

  has(name: string): boolean {
    return this.names.place(name) >= 0
  }

  /** The text alone. */
  text(name: string): string | undefined {
    const place = this.names.place(name)
    return place < 0 ? undefined : this.values[place]
  }

  get(name: string): NamedText | undefined {
    const place = this.names.place(name)
    return place < 0 ? undefined : this.at(place)
  }

  put(name: string, value: string, createdAtMs: number, updatedAtMs: number): void {
    const had = this.names.place(name)
    const place = had < 0 ? this.values.length : had
    if (had < 0) {
      this.names = this.names.with(name)
      this.values = this.values.concat(value)
    } else if (this.values[place] !== value) this.values = this.values.with(place, value)
    this.time(place, createdAtMs, updatedAtMs)
  }

  delete(name: string): boolean {
    const place = this.names.place(name)
    if (place < 0) return false
    const { length } = this.times
    this.names = this.names.without(place)
    this.values = this.values.toSpliced(place, 1)
    if (this.values.length === 0) this.times = noTimes
    else if (length > 2) {
      const times = this.times.toSpliced(2 * place, 2)
      this.times = times.length === 2 ? pairOf(times[0]!, times[1]!) : times
    }
    return true
  }

  /** For somebody who may change it without this one noticing. */
  copy(): NamedTexts {
    const copy = new NamedTexts()
    copy.names = this.names.copy()
    copy.values = this.values
    copy.times = this.times.length === 2 ? this.times : this.times.slice()
    return copy
  }

  *[Symbol.iterator](): Generator<[string, NamedText]> {
    for (let i = 0; i < this.values.length; i++) yield [this.names.list[i]!, this.at(i)]
  }

  private at(place: number): NamedText {
    const { times } = this
    const from = times.length === 2 ? 0 : 2 * place
    return { value: this.values[place]!, createdAtMs: times[from]!, updatedAtMs: times[from + 1]! }
  }

  private time(place: number, createdAtMs: number, updatedAtMs: number): void {
    const count = this.values.length
    const { times } = this
    if (count === 1) {
      this.times = pairOf(createdAtMs, updatedAtMs)
      return
    }
    if (times.length === 2) {
      if (times[0] === createdAtMs && times[1] === updatedAtMs) return
      this.times = Array.from({ length: 2 * count }, (_, i) => times[i % 2]!)
    } else if (times.length < 2 * count) this.times = times.concat([0, 0])
    const own = this.times as number[]
    own[2 * place] = createdAtMs
    own[2 * place + 1] = updatedAtMs
  }
}

const noValues: readonly string[] = []
const noTimes: readonly number[] = []

/** The keys and the traits of an entity have nearly always come at the same time: one pair then does for both. */
let last: readonly [number, number] = [0, 0]

function pairOf(createdAtMs: number, updatedAtMs: number): readonly number[] {
  if (last[0] !== createdAtMs || last[1] !== updatedAtMs) last = [createdAtMs, updatedAtMs]
  return last
}
