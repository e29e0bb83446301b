// Companies and users by id, in shared memory: their environment, the number of a company's users, and the company of a
// user who is a member of one, as nearly all are.
//
//   a slot   id (2 words) │ environment and kind │ users of a company; memberships of a user: 0, 1, or 2 for more; a mark
//            │ id of the company (2 words)
import { encodeId, IdReader } from '../../core/values/id.js'
import type { LentTable } from '../../wire/front-task.js'
import { ownChunks } from '../../wire/shared/segments.js'
import { Table, type TableShape } from '../../wire/shared/table.js'
import type { EnvironmentNumbers } from './environment-numbers.js'
import { directoryShape, servicePrefix } from './pair-index.js'

/** An id is told apart by its kind too; its environment is a value. */
const entityShape: TableShape = { ...directoryShape, keyWords: 3, thirdMask: 1 }

/** Entities of an environment. */
interface Count {
  entities: number
  users: number
}

/** A bit beside the fourth word's number: other threads do not answer for the entity. */
export const marked = 1 << 30
const number = marked - 1

const noCompanies: readonly string[] = []
const many = 2

export class EntityTable {
  /** Gives memory to other threads, before it is used. */
  hand: (memory: SharedArrayBuffer) => void = () => {}
  private readonly table = Table.make(
    entityShape,
    ownChunks(memory => this.hand(memory)),
  )
  private readonly counts = new Map<string, Count>()
  /** Companies of users with several, oldest first. */
  private readonly several = new Map<string, string[]>()
  /** Memberships of entities that are not here yet: facts of two shards have no common order. */
  private readonly earlyCompanies = new Map<string, readonly string[]>()
  private readonly earlyUsers = new Map<string, number>()
  private readonly ids = new IdReader()
  private kind = 0

  constructor(private readonly numbers: EnvironmentNumbers) {}

  get size(): number {
    return this.table.size
  }

  /** The table as another thread opens it now. */
  get shared(): LentTable {
    return { table: this.table.shared, chunks: this.table.chunks }
  }

  /** Mark an entity, or unmark it. */
  mark(id: string, on: boolean): void {
    if (!this.find(id)) return
    const { third, fourth, fifth, sixth } = this.table
    const now = (fourth & number) | (on ? marked : 0)
    if (now !== fourth) this.table.set(this.ids.high | 0, this.ids.low | 0, third, now, fifth, sixth)
  }

  /** Companies and users of an environment. */
  countOf(environmentId: string): Readonly<Count> {
    return this.counts.get(environmentId) ?? nobody
  }

  has(environmentId: string, id: string): boolean {
    return this.find(id) && this.table.third >>> 1 === this.numbers.of(environmentId)
  }

  /** Add an entity; one that is here stays as it is. errors: Error for a text that is no id. */
  add(environmentId: string, id: string): void {
    if (this.find(id)) return
    if (this.kind < 0) throw new Error('an entity has no id')
    const count = this.counts.get(environmentId) ?? { entities: 0, users: 0 }
    this.counts.set(environmentId, count)
    count.entities++
    count.users += this.kind
    const { high, low } = this.ids
    const third = (this.numbers.of(environmentId) << 1) | this.kind
    const users = this.earlyUsers.size > 0 ? (this.earlyUsers.get(id) ?? 0) : 0
    this.table.set(high | 0, low | 0, third, users, 0, 0)
    if (this.earlyUsers.size > 0) this.earlyUsers.delete(id)
    const joined = this.earlyCompanies.size > 0 ? this.earlyCompanies.get(id) : undefined
    if (joined === undefined) return
    this.earlyCompanies.delete(id)
    this.keep(id, joined)
  }

  /** Remove an entity, with its memberships and its number of users. */
  remove(environmentId: string, id: string): void {
    this.several.delete(id)
    this.earlyCompanies.delete(id)
    this.earlyUsers.delete(id)
    if (!this.has(environmentId, id)) return
    this.table.delete(this.ids.high | 0, this.ids.low | 0, this.table.third)
    const count = this.counts.get(environmentId)!
    count.entities--
    count.users -= this.kind
  }

  /** Ids of all entities of an environment. */
  idsOf(environmentId: string): readonly string[] {
    const ids: string[] = []
    if (this.countOf(environmentId).entities > 0)
      this.table.each(this.numbers.of(environmentId), (high, low, third) => {
        ids.push(encodeId(third & 1 ? servicePrefix.user : servicePrefix.company, high >>> 0, low >>> 0))
      })
    return ids
  }

  /** An environment is gone, and its entities with it. */
  forgetEnvironment(environmentId: string): void {
    this.counts.delete(environmentId)
  }

  /** Companies of a user, oldest membership first. */
  companiesOf(userId: string): readonly string[] {
    if (!this.find(userId)) return this.earlyCompanies.get(userId) ?? noCompanies
    const { fifth, sixth } = this.table
    const fourth = this.table.fourth & number
    if (fourth === 0) return noCompanies
    if (fourth === many) return this.several.get(userId) ?? noCompanies
    return [encodeId(servicePrefix.company, fifth >>> 0, sixth >>> 0)]
  }

  isMember(userId: string, companyId: string): boolean {
    if (!this.find(userId)) return this.earlyCompanies.get(userId)?.includes(companyId) === true
    const { fifth, sixth } = this.table
    const fourth = this.table.fourth & number
    if (fourth === many) return this.several.get(userId)?.includes(companyId) === true
    if (fourth === 0 || !this.read(companyId)) return false
    return (this.ids.high | 0) === fifth && (this.ids.low | 0) === sixth
  }

  /** Replace the companies of a user. */
  keep(userId: string, companyIds: readonly string[]): void {
    this.several.delete(userId)
    if (!this.find(userId)) {
      if (companyIds.length === 0) this.earlyCompanies.delete(userId)
      else this.earlyCompanies.set(userId, companyIds)
      return
    }
    const { high, low } = this.ids
    const { third } = this.table
    const mark = this.table.fourth & marked
    if (companyIds.length !== 1) {
      if (companyIds.length > 1) this.several.set(userId, [...companyIds])
      this.table.set(high | 0, low | 0, third, mark | Math.min(companyIds.length, many), 0, 0)
      return
    }
    if (!this.read(companyIds[0]!)) throw new Error('a user joins a company without an id')
    this.table.set(high | 0, low | 0, third, mark | 1, this.ids.high | 0, this.ids.low | 0)
  }

  /** Number of users of a company. */
  usersOf(companyId: string): number {
    return this.find(companyId) ? this.table.fourth & number : (this.earlyUsers.get(companyId) ?? 0)
  }

  /** Add to the number of a company's users. */
  countUsers(companyId: string, more: number): void {
    const users = Math.max(0, this.usersOf(companyId) + more)
    if (this.find(companyId)) {
      const mark = this.table.fourth & marked
      this.table.set(this.ids.high | 0, this.ids.low | 0, this.table.third, mark | users, 0, 0)
    } else if (users > 0) this.earlyUsers.set(companyId, users)
    else this.earlyUsers.delete(companyId)
  }

  private find(id: string): boolean {
    return this.read(id) && this.table.find(this.ids.high | 0, this.ids.low | 0, 2 | this.kind)
  }

  /** Read the 64 bits and the kind of an id; false for any other text. */
  private read(id: string): boolean {
    this.kind = id.startsWith(servicePrefix.company) ? 0 : id.startsWith(servicePrefix.user) ? 1 : -1
    if (this.kind >= 0 && this.ids.readWhole(id, servicePrefix.company.length)) return true
    this.kind = -1
    return false
  }
}

const nobody: Readonly<Count> = { entities: 0, users: 0 }
