// How a shard is started, and where it keeps its journal and snapshots.

import type { CatalogData } from '../../src/core/model/definitions.js'
import type { JournalDisk } from '../../src/journal/disk.js'
import type { Port } from '../../src/wire/port.js'
import type { ShardOptions } from '../../src/wire/shard-options.js'
import type { FlagChecks } from './checks/checks.js'
import type { EventClaims } from './events/claimed.js'
import type { SnapshotStore } from './snapshots/snapshots.js'

/** A shard's task from the HTTP thread, at its start. */
export interface ShardTask {
  readonly port: Port
  readonly options: ShardOptions
  /** The shard served before and died: the directory wants the identity effects of the tail. */
  readonly again: boolean
  /** The highest sequence whose reply arrived: claims of records beyond it are sent again. */
  readonly heard: number
  readonly catalogs: readonly CatalogData[]
  /** Memory for long replies (src/wire/reply-ring.ts); null: they cross as texts. */
  readonly ring: SharedArrayBuffer | null
}

/** A shard's interfaces outside of its thread; a simulation replaces them. */
export interface ShardStorage {
  readonly disk: JournalDisk
  readonly snapshots: SnapshotStore
  /** Several nodes only: claims idempotency keys, and sends entities to the other nodes first. */
  readonly shared?: EventClaims
  /** Several nodes only: the flag checks of all shards of the thread, which reports them every second. */
  readonly checks?: FlagChecks
}

/** The reason that callers hear when their records were not written. */
export const unwritten = ({ shared }: ShardStorage): string =>
  shared === undefined
    ? 'The journal failed; try again'
    : 'Redis, or a replica of it, does not keep the write; try again'

/** Whether a shard can go on. */
export class Fate {
  fail: (error: unknown) => void = () => {}
  /** Rejects when it cannot. */
  readonly failed = new Promise<never>((_, reject) => {
    this.fail = reject
  })

  constructor() {
    this.failed.catch(() => {})
  }
}
