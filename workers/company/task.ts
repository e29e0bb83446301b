// How a shard is started, and where it keeps its journal and snapshots.

import type { CatalogData } from '../../src/core/definitions.js'
import type { JournalDisk } from '../../src/journal/disk.js'
import type { Port } from '../../src/protocol/port.js'
import type { ShardOptions } from '../../src/protocol/shard-options.js'
import type { EventClaims } from './claimed.js'
import type { SnapshotStore } from './snapshots.js'

/** What the HTTP thread gives a shard at its start. */
export interface ShardTask {
  readonly port: Port
  readonly options: ShardOptions
  /** The shard served before and died: the directory wants the identity effects of the tail. */
  readonly again: boolean
  /** The highest sequence whose reply arrived: claims of records beyond it are told once more. */
  readonly heard: number
  readonly catalogs: readonly CatalogData[]
}

/** What a shard reaches outside of its thread; a simulation has others. */
export interface ShardStorage {
  readonly disk: JournalDisk
  readonly snapshots: SnapshotStore
  /** Of one node among several: where idempotency keys are claimed, and that others are told of entities first. */
  readonly shared?: EventClaims
}

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
