// Ids by key pair, in shared memory: a keyed hash of environment, kind, name and value leads to the id. The texts are not
// kept, so a pair costs 30 to 60 bytes whatever its length, and nothing of it concerns the collector.
//
//   a slot   hash (2 words) │ environment and kind │ hash │ id (2 words)
//
// 96 bits of a keyed hash tell pairs of one environment and kind apart: among a hundred million pairs two share them once
// in ten million million such sets, and no caller can bring it about.
import type { EntityType } from '../../../schemas/enums.js'
import { decodeId, encodeId } from '../../core/values/id.js'
import type { LentTable } from '../../wire/front-task.js'
import { HashState, KeyedHash, newHashKey } from '../../wire/shared/keyed-hash.js'
import { ownChunks } from '../../wire/shared/segments.js'
import { Table, type TableShape } from '../../wire/shared/table.js'
import type { EnvironmentNumbers } from './environment-numbers.js'

export const servicePrefix = { company: 'comp_', user: 'user_' } as const

/** 65,536 segments of 4,096 slots: some 150 million pairs. */
export const directoryShape = { slots: 4_096, indexBits: 16, thirdMask: -1 } as const
const shape: TableShape = { ...directoryShape, keyWords: 4 }

/** Environment and kind as the third word of a key. */
export const groupOf = (environment: number, kind: EntityType): number =>
  (environment << 1) | (kind === 'user' ? 1 : 0)

/** The hash of the pairs of one name, before the value. */
export function hashOfName(
  hash: KeyedHash,
  root: HashState,
  kind: EntityType,
  environmentId: string,
  name: string,
): HashState {
  return hash.after(hash.after(root, `${environmentId} ${kind}`), name)
}

/** One name of a kind: the number of its pairs, and the state of their hash before the value. */
interface Name {
  readonly state: HashState
  count: number
}

interface Names {
  readonly company: Map<string, Name>
  readonly user: Map<string, Name>
}

// not by a dynamic member name, whose lookup would cost as much as a map
function namesOf(environment: Names, kind: EntityType): Map<string, Name> {
  return kind === 'company' ? environment.company : environment.user
}

export class PairIndex {
  /** Gives memory to other threads, before it is used. */
  hand: (memory: SharedArrayBuffer) => void = () => {}
  private readonly table = Table.make(
    shape,
    ownChunks(memory => this.hand(memory)),
  )
  private readonly environments = new Map<string, Names>()
  private readonly hash = new KeyedHash()
  readonly hashKey = newHashKey()
  private readonly root = HashState.of(this.hashKey)
  /** Rises with every pair that is set. */
  changes = 0

  constructor(private readonly numbers: EnvironmentNumbers) {}

  get size(): number {
    return this.table.size
  }

  /** The table as another thread opens it now. */
  get shared(): LentTable {
    return { table: this.table.shared, chunks: this.table.chunks }
  }

  /** The id that a pair leads to. */
  get(kind: EntityType, environmentId: string, name: string, value: string): string | undefined {
    const environment = this.environments.get(environmentId)
    const known = environment && namesOf(environment, kind).get(name)
    if (known === undefined || !this.find(kind, environmentId, known, value)) return undefined
    return encodeId(servicePrefix[kind], this.table.fifth, this.table.sixth)
  }

  /** Number of names of a kind. */
  names(kind: EntityType, environmentId: string): number {
    const environment = this.environments.get(environmentId)
    return environment === undefined ? 0 : namesOf(environment, kind).size
  }

  hasName(kind: EntityType, environmentId: string, name: string): boolean {
    const environment = this.environments.get(environmentId)
    return environment !== undefined && namesOf(environment, kind).has(name)
  }

  /** errors  Error for a text that is no id of this kind. */
  set(kind: EntityType, environmentId: string, name: string, value: string, id: string): void {
    const words = decodeId(servicePrefix[kind], id)
    if (words === null) throw new Error('a pair belongs to no id')
    const known = this.nameOf(kind, environmentId, name)
    if (!this.find(kind, environmentId, known, value)) known.count++
    const { first, second, third } = this.hash
    this.table.set(first, second, this.groupOf(kind, environmentId), third, words[0] | 0, words[1] | 0)
    this.changes++
  }

  delete(kind: EntityType, environmentId: string, name: string, value: string): void {
    const environment = this.environments.get(environmentId)
    if (environment === undefined) return
    const names = namesOf(environment, kind)
    const known = names.get(name)
    if (known === undefined) return
    this.hash.hash(known.state, value)
    const { first, second, third } = this.hash
    if (!this.table.delete(first, second, this.groupOf(kind, environmentId), third)) return
    if (--known.count === 0) names.delete(name)
  }

  forgetEnvironment(environmentId: string): void {
    if (!this.environments.delete(environmentId)) return
    this.table.deleteAll(this.numbers.of(environmentId))
  }

  private find(kind: EntityType, environmentId: string, { state }: Name, value: string): boolean {
    this.hash.hash(state, value)
    const { first, second, third } = this.hash
    return this.table.find(first, second, this.groupOf(kind, environmentId), third)
  }

  private groupOf(kind: EntityType, environmentId: string): number {
    return groupOf(this.numbers.of(environmentId), kind)
  }

  private nameOf(kind: EntityType, environmentId: string, name: string): Name {
    let environment = this.environments.get(environmentId)
    if (environment === undefined) {
      environment = { company: new Map(), user: new Map() }
      this.environments.set(environmentId, environment)
    }
    const names = namesOf(environment, kind)
    let known = names.get(name)
    if (known === undefined) {
      known = { state: hashOfName(this.hash, this.root, kind, environmentId, name), count: 0 }
      names.set(name, known)
    }
    return known
  }
}
