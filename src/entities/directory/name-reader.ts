// The directory as an extra front reads it: entities by their pairs, in memory that the main thread writes.
import type { EntityType } from '../../../schemas/enums.js'
import { encodeId } from '../../core/values/id.js'
import type { LentTable, SharedNames } from '../../wire/front-task.js'
import { HashState, KeyedHash } from '../../wire/shared/keyed-hash.js'
import { handedChunks } from '../../wire/shared/segments.js'
import { Table } from '../../wire/shared/table.js'
import { marked } from './entity-table.js'
import { KeyLookupCache, type Sent, type SentKey } from './key-lookup-cache.js'
import { groupOf, hashOfName, servicePrefix } from './pair-index.js'

/** Memory that a table has got since. */
export interface NamesChunk {
  readonly table: 'pairs' | 'entities'
  readonly memory: SharedArrayBuffer
}

/** Most names whose hashes are kept. Callers choose names. */
const namesMax = 1_000

/** An environment, and its number in the tables. */
export interface Numbered {
  readonly environmentId: string
  readonly environment: number
}

export class NameReader {
  private readonly pairs: Table
  private readonly entities: Table
  private readonly epochs: Int32Array
  private readonly root: HashState
  private readonly hash = new KeyedHash()
  /** Hashes of names, by environment, kind and name. */
  private readonly states = new Map<string, HashState>()
  /** Memory that was handed over and is not used yet. */
  private readonly met = { company: new KeyLookupCache(), user: new KeyLookupCache() }
  private readonly handed: Record<NamesChunk['table'], SharedArrayBuffer[]> = { pairs: [], entities: [] }

  /** take: the next memory that was handed to this thread; null: there is none. */
  constructor({ pairs, entities, hashKey, epochs }: SharedNames, take: () => NamesChunk | null) {
    const chunksOf = (name: NamesChunk['table'], { chunks }: LentTable) =>
      handedChunks(chunks, () => {
        for (let next = take(); next !== null; next = take()) this.handed[next.table].push(next.memory)
        return this.handed[name].shift() ?? null
      })
    this.pairs = Table.open(pairs.table, chunksOf('pairs', pairs))
    this.entities = Table.open(entities.table, chunksOf('entities', entities))
    this.epochs = epochs
    this.root = HashState.of(hashKey)
  }

  /** As the directory's. */
  get keyEpoch(): number {
    return Atomics.load(this.epochs, 0)
  }

  /**
   * The entity that keys name.
   *
   * returns  its id; null: there may be none or several, or a write under way concerns it. The main thread knows.
   */
  find(kind: EntityType, where: Numbered, keys: Readonly<Record<string, string>>): string | null {
    let found: string | null = null
    for (const name in keys) {
      const id = this.findOne(kind, where, name, keys[name]!)
      if (id === null || (found !== null && found !== id)) return null
      found = id
    }
    return found
  }

  /** `find` for one key at its position in a body, whose text has one character per byte. */
  findSent(kind: EntityType, where: Numbered, { text, view }: Sent, key: SentKey): string | null {
    const met = kind === 'company' ? this.met.company : this.met.user
    const { at, end } = key
    // before the tables are read: what changes meanwhile raises it
    const { keyEpoch } = this
    const known = met.get(where.environmentId, view, at, end, keyEpoch)
    if (known !== null) return known
    const name = text.slice(key.nameAt, key.nameEnd)
    const id = this.findOne(kind, where, name, text.slice(key.valueAt, key.valueEnd))
    if (id !== null) met.put(view, at, end, keyEpoch, id)
    return id
  }

  private findOne(
    kind: EntityType,
    { environmentId, environment }: Numbered,
    name: string,
    value: string,
  ): string | null {
    // a service id stands in place of a pair: the main thread knows whose it is
    if (name === 'id' && value.startsWith(servicePrefix[kind])) return null
    const group = groupOf(environment, kind)
    const { hash, pairs, entities } = this
    hash.hash(this.stateOf(kind, environmentId, name), value)
    if (!pairs.find(hash.first, hash.second, group, hash.third)) return null
    const { fifth, sixth } = pairs
    // the kind alone tells ids apart; the environment is a value
    if (!entities.find(fifth, sixth, 2 | (group & 1))) return null
    if (entities.third !== group || (entities.fourth & marked) !== 0) return null
    return encodeId(servicePrefix[kind], fifth, sixth)
  }

  private stateOf(kind: EntityType, environmentId: string, name: string): HashState {
    const named = `${environmentId} ${kind} ${name}`
    let state = this.states.get(named)
    if (state === undefined) {
      if (this.states.size >= namesMax) this.states.clear()
      state = hashOfName(this.hash, this.root, kind, environmentId, name)
      this.states.set(named, state)
    }
    return state
  }
}
