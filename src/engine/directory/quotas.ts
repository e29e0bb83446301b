// How many companies, users and names of keys an environment may have; its names of events the shards count. Callers make them by naming them, all of them are
// in memory, so their number needs a bound that one environment reaches alone (security 7).
import type { KeyPair } from '../../core/company/entity.js'
import { quotaToldFrom } from '../../core/company/entity-bounds.js'
import type { ShardFigures } from '../../core/company/message.js'
import { ServiceError } from '../../errors.js'
import type { Directory, DirectoryKind } from './directory.js'

/** Bounds of one environment. */
export interface QuotaSettings {
  readonly companiesMax: number
  readonly usersMax: number
  /** Names of keys, of companies and of users each. */
  readonly keyNamesMax: number
}

export const noQuotas: QuotaSettings = {
  companiesMax: Number.POSITIVE_INFINITY,
  usersMax: Number.POSITIVE_INFINITY,
  keyNamesMax: Number.POSITIVE_INFINITY,
}

export type Quota = 'companies' | 'users' | 'key_names' | 'event_names'

export class Quotas {
  /** Writes and events that were refused. */
  readonly refused: Record<Quota, number> = { companies: 0, users: 0, key_names: 0, event_names: 0 }
  /** Part of its names of events that an environment has in the fullest shard. */
  private readonly eventNames = new Map<string, number>()

  constructor(
    private readonly directory: Directory,
    private readonly settings: QuotaSettings,
  ) {}

  /**
   * Why an entity cannot be made, or have these keys, or null.
   *
   * makes  it is not there yet.
   */
  refusal(
    kind: DirectoryKind,
    environmentId: string,
    makes: boolean,
    pairs: readonly KeyPair[],
  ): string | null {
    const { directory, settings } = this
    const plural = kind === 'company' ? 'companies' : 'users'
    if (makes) {
      const max = kind === 'company' ? settings.companiesMax : settings.usersMax
      if (directory.countOf(kind, environmentId) >= max) {
        this.refused[plural]++
        return `${plural}: the environment has as many as it may, ${max}`
      }
    }
    let names = -1
    for (const [name] of pairs) {
      // the name that service ids are given under is nobody's own (CU-2)
      if (name === 'id' || directory.hasKeyName(kind, environmentId, name)) continue
      if (names < 0) names = directory.keyNames(kind, environmentId)
      if (++names <= settings.keyNamesMax) continue
      this.refused.key_names++
      return `keys: the environment has as many names of keys of ${plural} as it may, ${settings.keyNamesMax}`
    }
    return null
  }

  /** Throws `quota_full` (429) for what `refusal` tells. */
  require(kind: DirectoryKind, environmentId: string, makes: boolean, pairs: readonly KeyPair[]): void {
    const refusal = this.refusal(kind, environmentId, makes, pairs)
    if (refusal !== null)
      throw new ServiceError('quota_full', refusal, {
        extra: { bucket: 'mutation' },
        retryAfterSeconds: 3_600,
      })
  }

  /** What the shards, which count names of events, say of them. */
  noteEventNames(shards: readonly Pick<ShardFigures, 'eventNames' | 'eventNamesRefused'>[]): void {
    this.eventNames.clear()
    let refused = 0
    for (const { eventNames, eventNamesRefused } of shards) {
      refused += eventNamesRefused
      for (const [environmentId, part] of eventNames)
        this.eventNames.set(environmentId, Math.max(part, this.eventNames.get(environmentId) ?? 0))
    }
    // a shard that died counts from nothing
    this.refused.event_names = Math.max(this.refused.event_names, refused)
  }

  /** Quotas that are nearly used up, by the part that is. */
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
        .filter(quota => parts[quota] >= quotaToldFrom)
        .map(quota => ({ environmentId, quota, part: parts[quota] }))
    })
  }
}
