// Lists of names that many entities have alike (traits, keys, event subtypes, credits), each kept once.

/** Longer lists are hardly ever alike: each is its owner's own. */
const sharedMax = 32
/** Shared lists in the cache, at most; then the cache is emptied, and lists in use stay in use. */
const listsMax = 10_000
/** Up to here looking at each name is quicker than a table. */
const lookedThrough = 8

/**
 * Names in the order they were added, without repeats. A short list is shared by everybody who added the same names in
 * the same order, and never changes; a long one belongs to its only holder.
 */
export class Names {
  private index: Map<string, number> | null = null
  /** The lists that are one name longer. */
  private longer: Map<string, Names> | null = null

  private constructor(
    readonly list: string[],
    private readonly shared: boolean,
  ) {}

  static readonly none = new Names([], true)

  /** Index of a name; -1 when it is absent. */
  place(name: string): number {
    const { list } = this
    if (list.length <= lookedThrough) {
      for (let i = 0; i < list.length; i++) if (list[i] === name) return i
      return -1
    }
    this.index ??= new Map(list.map((one, i) => [one, i]))
    return this.index.get(name) ?? -1
  }

  /** These names and one more, which is not among them. The caller holds on to the result instead of to this. */
  with(name: string): Names {
    if (!this.shared) {
      this.list.push(name)
      this.index?.set(name, this.list.length - 1)
      return this
    }
    if (this.list.length === sharedMax) return new Names([...this.list, name], false)
    let longer = this.longer?.get(name)
    if (longer === undefined) {
      if (listsMade++ >= listsMax) forgetAll()
      longer = new Names(this.list.concat(name), true)
      this.longer ??= new Map()
      this.longer.set(name, longer)
    }
    return longer
  }

  /** These names but one. */
  without(place: number): Names {
    return Names.of(this.list.toSpliced(place, 1))
  }

  /** The list for a second holder. */
  copy(): Names {
    return this.shared ? this : new Names([...this.list], false)
  }

  static of(names: Iterable<string>): Names {
    let made = Names.none
    for (const name of names) made = made.with(name)
    return made
  }

  static forget(): void {
    Names.none.longer = null
  }
}

let listsMade = 0

function forgetAll(): void {
  Names.forget()
  listsMade = 0
}

/**
 * A map for few entries of which there are millions: its keys are a shared list, its values an array of their size.
 * In the order the keys were added, as a Map.
 */
export class SmallMap<V> {
  private names = Names.none
  private held: readonly V[] = none

  static of<V>(entries: Iterable<readonly [string, V]>): SmallMap<V> {
    const made = new SmallMap<V>()
    for (const [name, value] of entries) made.set(name, value)
    return made
  }

  get size(): number {
    return this.held.length
  }

  get(name: string): V | undefined {
    const place = this.names.place(name)
    return place < 0 ? undefined : this.held[place]
  }

  has(name: string): boolean {
    return this.names.place(name) >= 0
  }

  set(name: string, value: V): this {
    const place = this.names.place(name)
    if (place < 0) {
      this.names = this.names.with(name)
      this.held = this.held.concat([value])
    } else if (this.held[place] !== value) this.held = this.held.with(place, value)
    return this
  }

  keys(): Iterable<string> {
    return this.names.list
  }

  values(): Iterable<V> {
    return this.held
  }

  *[Symbol.iterator](): Generator<[string, V]> {
    for (let i = 0; i < this.held.length; i++) yield [this.names.list[i]!, this.held[i]!]
  }
}

const none: readonly never[] = []

/** Texts that come again and again, as ids of environments and credits, each kept once. */
const textsMax = 10_000
const texts = new Map<string, string>()

/** An equal text: one shared string while it is in the cache. */
export function interned(text: string): string {
  const known = texts.get(text)
  if (known !== undefined) return known
  if (texts.size >= textsMax) texts.clear()
  texts.set(text, text)
  return text
}
