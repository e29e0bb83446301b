// The version counters as the data stream compared them last.
import type { StreamChanges } from './services.js'

export class WatchedCounters {
  /** Counters of blocks and epochs of shards at the last comparison. */
  private readonly blocks: Int32Array
  private readonly epochs: Int32Array

  constructor(private readonly changes: StreamChanges) {
    this.blocks = new Int32Array(changes.blocks)
    this.epochs = new Int32Array(changes.shards)
  }

  /** Blocks of the version counters that changed since the last comparison. */
  changedBlocks(): number[] {
    const { changes } = this
    const changed: number[] = []
    for (let block = 0; block < this.blocks.length; block++) {
      const number = changes.block(block)
      if (number === this.blocks[block]) continue
      this.blocks[block] = number
      changed.push(block)
    }
    return changed
  }

  /** Whether the epoch of a shard changed: all its answers may differ. */
  shardsChanged(): boolean {
    const { changes } = this
    let changed = false
    for (let shard = 0; shard < this.epochs.length; shard++) {
      const epoch = changes.epoch(shard)
      changed ||= epoch !== this.epochs[shard]
      this.epochs[shard] = epoch
    }
    return changed
  }
}
