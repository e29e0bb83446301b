// The services that the data stream needs.
import type { LowercaseNames } from '../../account/key-types.js'
import type { compileCatalog } from '../../core/catalog.js'
import type { Answered } from '../../entities/shards/shards.js'
import type { Metrics } from '../../metrics.js'
import type { Changes } from '../../wire/version-counters.js'
import type { EntityKind } from './frames.js'
import type { KeptSubscriptions } from './kept-subscriptions.js'

/** The version counters, of this node or of all. */
export interface StreamChanges
  extends Pick<
    Changes,
    'shards' | 'blocks' | 'placeOf' | 'placeOfUser' | 'blockOf' | 'block' | 'at' | 'usageVersion' | 'epoch'
  > {
  /** Follow the counters of other nodes, for as long as this is called. */
  follow?(): void
}

/** The services that the stream needs. */
export interface StreamServices {
  readonly shards: {
    put(
      kind: 'c' | 'u',
      environmentId: string,
      id: string,
      message: { readonly type: 'engine'; readonly since: string; readonly usedOnly: boolean },
      nowMs: number,
      waiting: { resolve(answered: Answered<unknown>): void; reject(error: Error): void },
    ): void
    indexOf(id: string): number
    /**
     * Whether this node owns the shard; absent: it owns all. Counters raised on another node arrive a little
     * later.
     */
    owns?(index: number): boolean
  }
  readonly catalogs: { get(environmentId: string): Parameters<typeof compileCatalog>[0] }
  readonly clock: {
    now(environmentId: string): number
    onJump(jumped: (environmentId: string) => void): void
  }
  readonly entities: {
    /** Rises when keys that were nobody's may be somebody's. */
    readonly keyChanges: number
    /**
     * The company or user with these keys; null: none.
     *
     * errors  ServiceError when the keys match two.
     */
    find(kind: EntityKind, environmentId: string, keys: Readonly<Record<string, string>>): string | null
    /** Names of keys whose values are kept in lower case (CU-4); null: there are none. */
    lowercaseNames(environmentId: string): LowercaseNames | null
    /** The pairs among these keys that are read in lower case (CU-4); null: there are none. */
    readLower(
      kind: EntityKind,
      environmentId: string,
      keys: Readonly<Record<string, string>>,
    ): Readonly<Record<string, string>> | null
  }
  readonly changes: StreamChanges
  readonly metrics: Pick<Metrics, 'stream'>
  /** Subscriptions that hold over a restart. */
  readonly kept: Pick<KeptSubscriptions, 'set' | 'seen' | 'read'>
}
