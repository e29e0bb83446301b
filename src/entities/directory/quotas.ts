// Quotas of companies, users and key names per environment; shards count event names. Callers create these by naming
// them and all are in memory, so each environment needs its own bound, and servers keep a part that publishable keys
// cannot use up.

import { quotaReportedFrom } from '../../core/company/entity-bounds.js'
import type { ShardFigures } from '../../core/company/shard-request.js'
import type { KeyPair } from '../../core/model/entity-state.js'
import { type Bucket, fullBucket, hasToken, refill, take } from '../../core/values/bucket.js'
import { ServiceError } from '../../errors.js'
import { ownText } from '../../wire/message-codec.js'
import type { Directory, DirectoryKind } from './directory.js'

/** Bounds of one environment. */
interface QuotaSettings {
  readonly companiesMax: number
  readonly usersMax: number
  /** Key names, for companies and for users each. */
  readonly keyNamesMax: number
  /** Event names of a shard; absent: no bound. */
  readonly eventNamesMax?: number
}

/** Part of every quota that publishable keys may use up; the rest is for servers (security H4, M3: decision). */
const publishablePart = 0.75
/** Part of the event names that publishable keys may use besides those that definitions count: decision. */
const publicNamesPart = 0.25
const hourSeconds = 3_600

export const noQuotas: QuotaSettings = {
  companiesMax: Number.POSITIVE_INFINITY,
  usersMax: Number.POSITIVE_INFINITY,
  keyNamesMax: Number.POSITIVE_INFINITY,
}

export type Quota = 'companies' | 'users' | 'key_names' | 'event_names'

export class Quotas {
  /** Refused writes and events. */
  readonly refused: Record<Quota, number> = { companies: 0, users: 0, key_names: 0, event_names: 0 }
  /** The environment's share of event names in the fullest shard. */
  private readonly eventNames = new Map<string, number>()
  /** Users that publishable keys may still create, by environment. */
  private readonly publicUsers = new Map<string, Bucket>()
  /** Event names used by publishable keys that no definition counts, by environment. */
  private readonly publicNames = new Map<string, Set<string>>()

  constructor(
    private readonly directory: Directory,
    private readonly settings: QuotaSettings,
  ) {}

  /**
   * The reason why an entity cannot be created or get these keys, or null.
   *
   * makes     it does not exist yet.
   * isPublic  by a publishable key, which has a part of the quota only.
   */
  refusal(
    kind: DirectoryKind,
    environmentId: string,
    makes: boolean,
    pairs: readonly KeyPair[],
    isPublic = false,
  ): string | null {
    const { directory, settings } = this
    const part = isPublic ? publishablePart : 1
    const by = isPublic ? ' by publishable keys' : ''
    const plural = kind === 'company' ? 'companies' : 'users'
    if (makes) {
      const max = Math.floor(part * (kind === 'company' ? settings.companiesMax : settings.usersMax))
      if (directory.countOf(kind, environmentId) >= max) {
        this.refused[plural]++
        return `${plural}: the environment has as many as it may${by}, ${max}`
      }
    }
    const namesMax = Math.floor(part * settings.keyNamesMax)
    let names = -1
    for (const [name] of pairs) {
      // the reserved name of service ids does not count (CU-2)
      if (name === 'id' || directory.hasKeyName(kind, environmentId, name)) continue
      if (names < 0) names = directory.keyNames(kind, environmentId)
      if (++names <= namesMax) continue
      this.refused.key_names++
      return `keys: the environment has as many names of keys of ${plural} as it may${by}, ${namesMax}`
    }
    return null
  }

  /** Throws `quota_full` (429) with the reason from `refusal`. */
  require(kind: DirectoryKind, environmentId: string, makes: boolean, pairs: readonly KeyPair[]): void {
    const refusal = this.refusal(kind, environmentId, makes, pairs)
    if (refusal !== null)
      throw new ServiceError('quota_full', refusal, {
        extra: { bucket: 'mutation' },
        retryAfterSeconds: 3_600,
      })
  }

  /**
   * Take one of the users that publishable keys of an environment may create in an hour.
   *
   * perHour  their number, all of which may be created at once.
   * nowMs    a monotonic clock.
   * returns  whether there was one left. The count is of this process.
   */
  takePublicUser(environmentId: string, perHour: number, nowMs: number): boolean {
    let bucket = this.publicUsers.get(environmentId)
    if (bucket?.limit.burst !== perHour) {
      bucket = fullBucket({ ratePerSecond: perHour / hourSeconds, burst: perHour }, nowMs)
      this.publicUsers.set(environmentId, bucket)
    }
    refill(bucket, nowMs)
    const may = hasToken(bucket)
    if (may) take(bucket)
    else this.refused.users++
    return may
  }

  /** Whether publishable keys may use this event name, which no definition counts; one that they may counts from now on. */
  takePublicName(environmentId: string, name: string): boolean {
    let names = this.publicNames.get(environmentId)
    if (names === undefined) {
      names = new Set()
      this.publicNames.set(environmentId, names)
    }
    if (names.has(name)) return true
    if (
      names.size >= Math.floor(publicNamesPart * (this.settings.eventNamesMax ?? Number.POSITIVE_INFINITY))
    ) {
      this.refused.event_names++
      return false
    }
    // a copy: the name is a part of the whole body
    names.add(ownText(name))
    return true
  }

  /** Drop what was counted of a deleted environment. */
  forgetEnvironment(environmentId: string): void {
    this.publicUsers.delete(environmentId)
    this.publicNames.delete(environmentId)
  }

  /** Record the figures of the shards, which count event names. */
  noteEventNames(shards: readonly Pick<ShardFigures, 'eventNames' | 'eventNamesRefused'>[]): void {
    this.eventNames.clear()
    let refused = 0
    for (const { eventNames, eventNamesRefused } of shards) {
      refused += eventNamesRefused
      for (const [environmentId, part] of eventNames)
        this.eventNames.set(environmentId, Math.max(part, this.eventNames.get(environmentId) ?? 0))
    }
    // a restarted shard counts from zero
    this.refused.event_names = Math.max(this.refused.event_names, refused)
  }

  /** Nearly exhausted quotas, by their used share. */
  used(
    environmentIds: readonly string[],
  ): readonly { readonly environmentId: string; readonly quota: Quota; readonly part: number }[] {
    const { directory, settings } = this
    return environmentIds.flatMap(environmentId => {
      const names = Math.max(
        directory.keyNames('company', environmentId),
        directory.keyNames('user', environmentId),
      )
      const parts = {
        companies: directory.countOf('company', environmentId) / settings.companiesMax,
        users: directory.countOf('user', environmentId) / settings.usersMax,
        key_names: names / settings.keyNamesMax,
        event_names: this.eventNames.get(environmentId) ?? 0,
      }
      return (Object.keys(parts) as Quota[])
        .filter(quota => parts[quota] >= quotaReportedFrom)
        .map(quota => ({ environmentId, quota, part: parts[quota] }))
    })
  }
}
