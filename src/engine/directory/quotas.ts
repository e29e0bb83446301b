// Quotas of companies, users and key names per environment; shards count event names. Callers create these by naming
// them and all are in memory, so each environment needs its own bound.
import { quotaReportedFrom } from '../../core/company/entity-bounds.js'
import type { KeyPair } from '../../core/company/entity-state.js'
import type { ShardFigures } from '../../core/company/shard-request.js'
import { ServiceError } from '../../errors.js'
import type { Directory, DirectoryKind } from './directory.js'

/** Bounds of one environment. */
export interface QuotaSettings {
  readonly companiesMax: number
  readonly usersMax: number
  /** Key names, for companies and for users each. */
  readonly keyNamesMax: number
}

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

  constructor(
    private readonly directory: Directory,
    private readonly settings: QuotaSettings,
  ) {}

  /**
   * The reason why an entity cannot be created or get these keys, or null.
   *
   * makes  it does not exist yet.
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
      // the reserved name of service ids does not count (CU-2)
      if (name === 'id' || directory.hasKeyName(kind, environmentId, name)) continue
      if (names < 0) names = directory.keyNames(kind, environmentId)
      if (++names <= settings.keyNamesMax) continue
      this.refused.key_names++
      return `keys: the environment has as many names of keys of ${plural} as it may, ${settings.keyNamesMax}`
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
