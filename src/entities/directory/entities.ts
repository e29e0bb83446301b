// Writes to companies and users from the HTTP thread: resolves and claims keys, flattens traits, asks the actor,
// updates the directory. All handlers and event intake use it, so that a pair never has two owners.
import type { LowercaseNames } from '../../account/key-types.js'
import type { TraitRegistry } from '../../catalog/traits.js'
import type { EntityBrief, KeyPair, WriteReply } from '../../core/model/entity-state.js'
import type {
  CompanyMessage,
  EntityWrite,
  TraitIntroduction,
  TraitWrite,
  UserMessage,
} from '../../core/model/message.js'
import { flattenTraits } from '../../core/values/trait-value.js'
import { ServiceError } from '../../errors.js'
import { type Answered, Refused, type Shards } from '../shards/shards.js'
import type { Pacing } from '../turns/pacing.js'
import { type Directory, type DirectoryKind, isServiceId } from './directory.js'
import { noQuotas, Quotas } from './quotas.js'

export type Keys = Readonly<Record<string, string>>

/** The given keys; null if empty. */
export function givenKeys(keys: Keys | null | undefined): Keys | null {
  if (!keys) return null
  for (const _ in keys) return keys
  return null
}

/** A requested write to an entity, in wire form. */
export interface Wanted {
  readonly keys: Keys
  readonly removeKeys?: readonly string[] | undefined
  readonly name?: string | null | undefined
  readonly traits?: Readonly<Record<string, unknown>> | null | undefined
  readonly lastSeenAtMs?: number | null | undefined
  /** When a new entity was made elsewhere. */
  readonly createdAtMs?: number | null | undefined
}

/** The entity of a write: found, or about to be created. */
export interface Target {
  readonly kind: DirectoryKind
  readonly environmentId: string
  readonly id: string
  /** The id was created for this write. */
  readonly minted: boolean
  /** Its creation is not known to be durable yet, so every write carries enough to create it. */
  readonly unconfirmed: boolean
  /** Pairs claimed for the duration of this write. */
  readonly claimed: readonly KeyPair[]
  /** Entities whose deletion must be durable before this write is sent, because they had some of its pairs. */
  readonly after: readonly string[]
}

/** The keys that a target claims, as they are kept. */
export function claimedKeys({ claimed }: Target): Keys {
  return Object.fromEntries(claimed)
}

/** Reply to a deletion: the entity as it was. */
export interface Removed {
  readonly was: EntityBrief | null
}

/** A deletion that is not known to be durable. */
interface Ending {
  readonly kind: DirectoryKind
  readonly environmentId: string
  readonly id: string
  readonly nowMs: number
  /** Deletions that must be durable before this one is sent. */
  readonly after: readonly string[]
  was: EntityBrief | null
  /** An attempt failed, but may have succeeded at the shard. */
  doubtful: boolean
  /** The attempt in flight. */
  attempt: Promise<Answered<Removed>> | null
  /** Timer until the next attempt. */
  timer: NodeJS.Timeout | null
}

/** A key of the write was claimed by another node for another entity: the request begins anew, and finds that one. */
export class PairTaken extends ServiceError {
  /** found  makes it known here. */
  constructor(readonly found: () => void) {
    super('overloaded', 'The keys were taken meanwhile; try again')
  }
}

/** Where nodes claim pairs that are new; absent on one alone. */
export interface SharedPairs {
  /** errors  PairTaken; store_away. */
  take(target: Target): Promise<void>
}

const shardKind = { company: 'c', user: 'u' } as const

export class Entities {
  /** Trait definitions introduced by writes that are not known to be durable. */
  private readonly introductions = new Map<string, TraitIntroduction>()
  /** By the id of the entity being deleted. */
  private readonly endings = new Map<string, Ending>()

  constructor(
    readonly directory: Directory,
    private readonly shards: Shards,
    private readonly traits: TraitRegistry,
    readonly quotas = new Quotas(directory, noQuotas),
    /** Wait between attempts at a deletion. */
    private readonly retryMs = 1_000,
    /** Limits concurrent writes caused by events; absent: no limit. */
    private readonly pacing: Pacing | null = null,
    private readonly shared: SharedPairs | null = null,
  ) {}

  /** Rises when keys that were nobody's may be somebody's. */
  get keyChanges(): number {
    return this.directory.pairs.changes
  }

  /** Names whose values are kept in lower case; null: none. source: CU-4 */
  lowercaseNames(environmentId: string): LowercaseNames | null {
    return this.directory.lowercaseNames(environmentId)
  }

  /** Pairs that are read in lower case, since nobody has them as they are given; null: none. source: CU-4 */
  readLower(kind: DirectoryKind, environmentId: string, keys: Keys): Keys | null {
    return this.directory.readLower(kind, environmentId, keys)
  }

  /** Whether other nodes may claim the same pairs. */
  get isShared(): boolean {
    return this.shared !== null
  }

  /**
   * Make sure that no other node has what these targets claim, before anything is written.
   *
   * errors  PairTaken: then all of them are released; store_away.
   */
  async secure(targets: readonly Target[]): Promise<void> {
    const { shared } = this
    if (shared === null) return
    const fates = await Promise.allSettled(targets.map(target => shared.take(target)))
    const failed = fates.find(fate => fate.status === 'rejected')
    if (failed === undefined) return
    for (const target of targets) this.release(target)
    for (const fate of fates)
      if (fate.status === 'rejected' && fate.reason instanceof PairTaken) fate.reason.found()
    throw failed.reason
  }

  /**
   * Claim the keys of a write for the entity they name, or for a new one.
   *
   * id       the entity already found, or null: it is to be created.
   * returns  the target; end it with `confirm` or `release`.
   * errors   quota_full (429) when the environment may have no more entities or key names.
   */
  target(kind: DirectoryKind, environmentId: string, id: string | null, keys: Keys): Target {
    const minted = id === null
    const pairs = this.directory.kept(kind, environmentId, keys)
    this.quotas.require(kind, environmentId, minted, pairs)
    const owner = id ?? this.directory.mint(kind, environmentId)
    const claimed = pairs.filter(([name, value]) => !(name === 'id' && value === owner))
    this.directory.claim(kind, environmentId, owner, claimed)
    return {
      kind,
      environmentId,
      id: owner,
      minted,
      unconfirmed: this.directory.isUnconfirmed(owner),
      claimed,
      after: this.directory.awaited(owner),
    }
  }

  /** Settle a durable write. */
  confirm(target: Target, freed: readonly KeyPair[]): void {
    this.directory.confirm(target.kind, target.environmentId, target.id, target.claimed, freed)
  }

  /** Settle a refused or lost write. */
  release(target: Target): void {
    this.directory.release(target.kind, target.environmentId, target.id, target.claimed)
  }

  /**
   * The write in the actor's form: traits flattened, their definitions found or introduced.
   *
   * atMs    time of the trait writes (EV-42).
   * client  sent with a publishable key: trusted only for traits whose definition allows it.
   * errors  value_invalid (400) for traits that are too deep, too many, or invalid.
   * source  CU-30…34.
   */
  write(
    kind: DirectoryKind,
    environmentId: string,
    wanted: Wanted,
    atMs: number,
    client = false,
  ): EntityWrite {
    const traits: TraitWrite[] = []
    const introduces: TraitIntroduction[] = []
    const flat = wanted.traits ? flattenTraits(wanted.traits) : []
    if ('refused' in flat) throw new ServiceError('value_invalid', flat.refused)
    for (const { name, hierarchy, text, inferredType } of flat) {
      const believed = !client || this.traits.find(environmentId, kind, name)?.publishableWrites === true
      traits.push(believed ? { name, value: text } : { name, value: text, client: true })
      if (text === null) continue
      const introduction = this.introduce(kind, environmentId, name, hierarchy, inferredType, client)
      if (introduction) introduces.push(introduction)
    }
    return {
      // a service id addresses an entity and is not one of its keys (CU-2)
      addKeys: this.directory
        .kept(kind, environmentId, wanted.keys)
        .filter(([name, value]) => !isServiceId(kind, name, value)),
      removeKeys: wanted.removeKeys ?? [],
      name: wanted.name ?? null,
      traits,
      introduces,
      lastSeenAtMs: wanted.lastSeenAtMs ?? null,
      ...(wanted.createdAtMs != null && { createdAtMs: wanted.createdAtMs }),
      atMs,
    }
  }

  /** The definition of a trait. It is introduced at first use, and again until a write that carries it is durable. */
  introduce(
    kind: DirectoryKind,
    environmentId: string,
    name: string,
    hierarchy: readonly string[],
    inferredType: TraitIntroduction['traitType'],
    isPublic = false,
  ): TraitIntroduction | null {
    const { trait, fresh } = this.traits.introduce(
      environmentId,
      kind,
      name,
      hierarchy,
      inferredType,
      isPublic,
    )
    if (fresh) this.introductions.set(trait.id, { name, hierarchy, traitType: trait.traitType })
    return this.introductions.get(trait.id) ?? null
  }

  /**
   * Ask the actor of a target, and confirm or release the target by the reply.
   *
   * errors  Refused; 503 when the write, or a deletion it waits for, could not be made durable.
   */
  async ask(
    target: Target,
    message: CompanyMessage | UserMessage,
    nowMs: number,
  ): Promise<Answered<WriteReply>> {
    // awaited only when necessary, so that requests are sent in their order
    if (target.after.length > 0 || !this.holds(target)) await this.becomeFree(target)
    if (this.shared !== null && this.undecided(target)) await this.secure([target])
    try {
      const answered = await this.shards.ask<WriteReply>(
        shardKind[target.kind],
        target.environmentId,
        target.id,
        message,
        nowMs,
        target.minted,
      )
      this.pacing?.written(target.environmentId, answered.shard, answered.sequence)
      // an event that repeats another's key: nothing was written
      if (Array.isArray(answered.reply)) {
        this.release(target)
        return answered
      }
      const { freed, joined, left } = answered.reply
      this.confirm(target, freed)
      for (const companyId of joined ?? []) this.directory.join(target.id, companyId)
      for (const companyId of left ?? []) this.directory.leave(target.id, companyId)
      if ('write' in message && message.write) this.introduced(target, message.write)
      return answered
    } catch (error) {
      // a shard that died may have made the write durable and reports it after its restart; until then the claim
      // stays
      if (error instanceof Refused) this.release(target)
      else void this.shards.restarted(target.id).then(() => this.release(target))
      throw error
    }
  }

  /**
   * Run writes caused by events of an environment, once few enough of them are ahead of Postgres.
   *
   * writes  their number; 0: only wait until there is room.
   */
  paced<T>(environmentId: string, writes: number, work: () => Promise<T>): Promise<T> {
    return this.pacing === null ? work() : this.pacing.run(environmentId, writes, work)
  }

  private undecided({ kind, environmentId, claimed }: Target): boolean {
    return this.directory.undecided(kind, environmentId, claimed).length > 0
  }

  private holds({ kind, environmentId, id, claimed }: Target): boolean {
    return this.directory.holds(kind, environmentId, id, claimed)
  }

  /**
   * Wait until a target's pairs are free for good. Two journals have no common order: if this write were durable
   * first, a kill would bring back the former owner, and the pair would have two.
   */
  private async becomeFree(target: Target): Promise<void> {
    try {
      await this.ended(target.after)
      if (!this.holds(target))
        throw new ServiceError('overloaded', 'The keys were taken meanwhile; try again')
    } catch (error) {
      this.release(target)
      throw error
    }
  }

  /**
   * Delete a company or user. From this tick on it is not found, and its keys may be claimed by others, whose
   * writes wait for the deletion. A deletion that failed to become durable is retried until it succeeds; requests
   * for the entity meanwhile get the outcome.
   *
   * errors  Refused `not_found` when it is deleted already; 503 when it is not durable yet.
   * source  CU-50, CU-52.
   */
  remove(kind: DirectoryKind, environmentId: string, id: string, nowMs: number): Promise<Answered<Removed>> {
    let ending = this.endings.get(id)
    if (ending === undefined) {
      const after = this.directory.awaited(id)
      const begun = { was: null, doubtful: false, attempt: null, timer: null }
      ending = { kind, environmentId, id, nowMs, after, ...begun }
      this.endings.set(id, ending)
      this.directory.retire(kind, environmentId, id)
    }
    return this.attempt(ending)
  }

  /**
   * Take back an entity that a request has just made and does not want any more. One that something has changed since
   * stays.
   *
   * sequence  of its creation.
   * source    decision 41.
   */
  async takeBack({ kind, environmentId, id }: Target, sequence: number, nowMs: number): Promise<void> {
    const message = { type: 'delete', ifSequence: sequence } as const
    try {
      const { reply } = await this.shards.ask<WriteReply>(shardKind[kind], environmentId, id, message, nowMs)
      this.directory.retire(kind, environmentId, id)
      this.directory.free(kind, environmentId, id, reply.freed)
      this.directory.forget(environmentId, id)
    } catch (error) {
      unlessRefused(error)
    }
  }

  /**
   * The entity of a deletion by keys: an existing one, or one whose deletion is not durable yet.
   *
   * returns  its id, or null for none.
   * errors   keys_ambiguous (400) when pairs match two entities.
   * source   CU-51.
   */
  removable(kind: DirectoryKind, environmentId: string, keys: Keys): string | null {
    return this.find(kind, environmentId, keys) ?? this.directory.findEnding(kind, environmentId, keys)
  }

  /** The attempt in flight, or a new one. */
  private attempt(ending: Ending): Promise<Answered<Removed>> {
    ending.attempt ??= this.end(ending)
    return ending.attempt
  }

  private async end(ending: Ending): Promise<Answered<Removed>> {
    const { directory } = this
    const { kind, environmentId, id, after } = ending
    try {
      if (after.length > 0) await this.ended(after)
      const { reply, shard, sequence } = await this.askToEnd(ending)
      directory.free(kind, environmentId, id, reply.freed)
      this.over(ending)
      return { reply: { was: ending.was }, shard, sequence }
    } catch (error) {
      if (!(error instanceof Refused)) {
        this.endLater(ending)
        throw error
      }
      this.over(ending)
      if (!ending.doubtful) throw error
      // an attempt that seemed to fail has succeeded
      return { reply: { was: ending.was }, shard: 0, sequence: 0 }
    }
  }

  /** Read the entity and delete it, in one batch. */
  private async askToEnd(ending: Ending): Promise<Answered<WriteReply>> {
    const { kind, environmentId, id, nowMs } = ending
    const ask = <Reply>(type: 'brief' | 'delete') =>
      this.shards.ask<Reply>(shardKind[kind], environmentId, id, { type }, nowMs)
    const noted = ask<EntityBrief | null>('brief').then(
      ({ reply }) => {
        ending.was = reply ?? ending.was
      },
      () => {},
    )
    const [answered] = await Promise.all([ask<WriteReply>('delete'), noted])
    return answered
  }

  private over(ending: Ending): void {
    if (ending.timer) clearTimeout(ending.timer)
    this.endings.delete(ending.id)
    this.directory.forget(ending.environmentId, ending.id)
  }

  private endLater(ending: Ending): void {
    ending.doubtful = true
    ending.attempt = null
    if (ending.timer) return
    const again = () => {
      ending.timer = null
      this.attempt(ending).catch(() => {})
    }
    ending.timer = setTimeout(again, this.retryMs).unref()
  }

  /** Resolves when these deletions are durable; rejects with 503 if that fails now. */
  private async ended(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const ending = this.endings.get(id)
      if (ending) await this.attempt(ending).catch(unlessRefused)
    }
  }

  /** Register the definitions that a durable write carried; they are on their way to Postgres. */
  introduced(target: Pick<Target, 'kind' | 'environmentId'>, write: EntityWrite): void {
    for (const { name } of write.introduces) {
      const trait = this.traits.find(target.environmentId, target.kind, name)
      if (trait) this.introductions.delete(trait.id)
    }
  }

  /**
   * Find the entity of a lookup, deletion or check.
   *
   * returns  its id, or null if none matches.
   * errors   keys_ambiguous (400) when pairs match two entities.
   * source   CU-3, FE-77.
   */
  find(kind: DirectoryKind, environmentId: string, keys: Keys): string | null {
    const resolution = this.directory.resolve(kind, environmentId, keys)
    if (resolution.found === null && resolution.reason === 'ambiguous')
      throw new ServiceError(
        'keys_ambiguous',
        `keys match multiple ${kind === 'company' ? 'companies' : 'users'}`,
      )
    return resolution.found
  }
}

function unlessRefused(error: unknown): void {
  if (!(error instanceof Refused)) throw error
}
