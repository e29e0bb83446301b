// Writes to companies and users from the HTTP thread: keys resolved and claimed, traits flattened, the actor asked,
// the directory told. Rooms and ingestion go through here, so that a pair is never owned twice.
import type { TraitRegistry } from '../catalog/traits.js'
import type { KeyPair, WriteReply } from '../core/entity.js'
import type {
  CompanyMessage,
  EntityWrite,
  TraitIntroduction,
  TraitWrite,
  UserMessage,
} from '../core/message.js'
import { flattenTraits } from '../core/trait-value.js'
import { ServiceError } from '../errors.js'
import { type Directory, type DirectoryKind, isServiceId } from './directory.js'
import { type Answered, Refused, type Shards } from './shards.js'

export type Keys = Readonly<Record<string, string>>

/** What a caller wants written to an entity, as the wire says it. */
export interface Wanted {
  readonly keys: Keys
  readonly removeKeys?: readonly string[] | undefined
  readonly name?: string | null | undefined
  readonly traits?: Readonly<Record<string, unknown>> | null | undefined
  readonly lastSeenAtMs?: number | null | undefined
}

/** An entity that a write is going to: found, or about to be created. */
export interface Target {
  readonly kind: DirectoryKind
  readonly environmentId: string
  readonly id: string
  /** The id was made for this write. */
  readonly minted: boolean
  /** Its creation is not known to be durable yet: every write carries enough to create it. */
  readonly unconfirmed: boolean
  /** Pairs claimed for the time of this write. */
  readonly claimed: readonly KeyPair[]
}

const shardKind = { company: 'c', user: 'u' } as const

export class Entities {
  /** Trait definitions introduced by writes that are not known to be durable. */
  private readonly introductions = new Map<string, TraitIntroduction>()

  constructor(
    readonly directory: Directory,
    private readonly shards: Shards,
    private readonly traits: TraitRegistry,
    /** Between attempts at a deletion. */
    private readonly retryMs = 1_000,
  ) {}

  /**
   * Claim the keys of a write for the entity they name, or for a new one.
   *
   * id       the entity found already, or null: it is to be created.
   * returns  the target; it must be settled by `confirm` or `release`.
   */
  target(kind: DirectoryKind, environmentId: string, id: string | null, keys: Keys): Target {
    const minted = id === null
    const owner = id ?? this.directory.mint(kind, environmentId)
    const claimed = Object.entries(keys).filter(([name, value]) => !(name === 'id' && value === owner))
    this.directory.claim(kind, environmentId, owner, claimed)
    return {
      kind,
      environmentId,
      id: owner,
      minted,
      unconfirmed: this.directory.isUnconfirmed(owner),
      claimed,
    }
  }

  /** The write is durable. */
  confirm(target: Target, freed: readonly KeyPair[]): void {
    this.directory.confirm(target.kind, target.environmentId, target.id, target.claimed, freed)
  }

  /** The write was refused or lost. */
  release(target: Target): void {
    this.directory.release(target.kind, target.environmentId, target.id, target.claimed)
  }

  /**
   * The write as the actor takes it: traits flattened, their definitions found or introduced.
   *
   * atMs    time of the trait writes (EV-42).
   * errors  value_invalid (400) where traits are too deep, too many, or no traits at all.
   * source  CU-30…34.
   */
  write(kind: DirectoryKind, environmentId: string, wanted: Wanted, atMs: number): EntityWrite {
    const traits: TraitWrite[] = []
    const introduces: TraitIntroduction[] = []
    const flat = wanted.traits ? flattenTraits(wanted.traits) : []
    if ('refused' in flat) throw new ServiceError('value_invalid', flat.refused)
    for (const { name, hierarchy, text, inferredType } of flat) {
      traits.push({ name, value: text })
      if (text === null) continue
      const introduction = this.introduce(kind, environmentId, name, hierarchy, inferredType)
      if (introduction) introduces.push(introduction)
    }
    return {
      // a service id addresses an entity and is no key of it (CU-2)
      addKeys: Object.entries(wanted.keys).filter(([name, value]) => !isServiceId(kind, name, value)),
      removeKeys: wanted.removeKeys ?? [],
      name: wanted.name ?? null,
      traits,
      introduces,
      lastSeenAtMs: wanted.lastSeenAtMs ?? null,
      atMs,
    }
  }

  /** The definition of a trait, introduced at first sight and again until a write that carries it is durable. */
  introduce(
    kind: DirectoryKind,
    environmentId: string,
    name: string,
    hierarchy: readonly string[],
    inferredType: TraitIntroduction['traitType'],
  ): TraitIntroduction | null {
    const { trait, fresh } = this.traits.introduce(environmentId, kind, name, hierarchy, inferredType)
    if (fresh) this.introductions.set(trait.id, { name, hierarchy, traitType: trait.traitType })
    return this.introductions.get(trait.id) ?? null
  }

  /** Ask the actor of a target; settle the target by what it answers. */
  async ask(
    target: Target,
    message: CompanyMessage | UserMessage,
    nowMs: number,
  ): Promise<Answered<WriteReply>> {
    try {
      const answered = await this.shards.ask<WriteReply>(
        shardKind[target.kind],
        target.environmentId,
        target.id,
        message,
        nowMs,
        target.minted,
      )
      const { freed, joined, left } = answered.reply
      this.confirm(target, freed)
      for (const companyId of joined ?? []) this.directory.join(target.id, companyId)
      for (const companyId of left ?? []) this.directory.leave(target.id, companyId)
      if ('write' in message && message.write) this.introduced(target, message.write)
      return answered
    } catch (error) {
      // a shard that died may have made the write durable: it tells with its restart, and until then the pairs are held
      if (error instanceof Refused) this.release(target)
      else void this.shards.restarted(target.id).then(() => this.release(target))
      throw error
    }
  }

  /**
   * Delete a company or user. From this tick on nobody finds it, and its keys may be another's: so a deletion that
   * could not be made durable is tried again until it is.
   *
   * errors  Refused `not_found` when it is gone already; 503 when it is not durable yet.
   * source  CU-50, CU-52.
   */
  async remove(
    kind: DirectoryKind,
    environmentId: string,
    id: string,
    nowMs: number,
  ): Promise<Answered<WriteReply>> {
    this.directory.retire(id)
    try {
      return await this.end(kind, environmentId, id, nowMs)
    } catch (error) {
      if (!(error instanceof Refused)) this.endLater(kind, environmentId, id, nowMs)
      throw error
    }
  }

  private async end(
    kind: DirectoryKind,
    environmentId: string,
    id: string,
    nowMs: number,
  ): Promise<Answered<WriteReply>> {
    const { directory } = this
    const message = { type: 'delete' } as const
    try {
      const answered = await this.shards.ask<WriteReply>(shardKind[kind], environmentId, id, message, nowMs)
      directory.free(kind, environmentId, id, answered.reply.freed)
      directory.forget(environmentId, id)
      return answered
    } catch (error) {
      if (error instanceof Refused) directory.forget(environmentId, id)
      throw error
    }
  }

  private endLater(kind: DirectoryKind, environmentId: string, id: string, nowMs: number): void {
    const again = () => {
      this.end(kind, environmentId, id, nowMs).catch(error => {
        if (!(error instanceof Refused)) this.endLater(kind, environmentId, id, nowMs)
      })
    }
    setTimeout(again, this.retryMs).unref()
  }

  /** The definitions that a durable write carried are on their way to Postgres. */
  introduced(target: Pick<Target, 'kind' | 'environmentId'>, write: EntityWrite): void {
    for (const { name } of write.introduces) {
      const trait = this.traits.find(target.environmentId, target.kind, name)
      if (trait) this.introductions.delete(trait.id)
    }
  }

  /**
   * Find the entity that a lookup, delete or check means.
   *
   * returns  its id, or null when nothing matches.
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
