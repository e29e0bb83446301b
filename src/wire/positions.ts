// How far each shard's journal is durable, checkpointed and projected: numbers in shared memory, so that shards,
// projectors and the HTTP thread see them without a message.
import type { Sequence } from '../journal/journal.js'

/**
 * committed    durable in the journal; written by the shard
 * checkpointed included in actor snapshots in Postgres; written by the shard
 * postgres     projected into Postgres; written by the projector
 * seen         up to here every last_seen_at is in Postgres, too; it may lag; written by the projector
 * clickhouse   projected into ClickHouse; written by the projector
 */
const marks = ['committed', 'checkpointed', 'postgres', 'seen', 'clickhouse'] as const
export type Mark = (typeof marks)[number]

const readers: readonly Mark[] = ['checkpointed', 'postgres', 'seen', 'clickhouse']
const stores: readonly Mark[] = ['committed', 'checkpointed', 'postgres', 'clickhouse']

// One cache line per shard, so that shards do not slow each other.
const stride = 8

/** Every thread makes its own over the same memory. Each mark has one writer. */
export class Positions {
  readonly shards: number
  readonly #cells: BigInt64Array

  constructor(readonly memory: SharedArrayBuffer) {
    this.#cells = new BigInt64Array(memory)
    this.shards = this.#cells.length / stride
  }

  static make(shards: number): Positions {
    return new Positions(new SharedArrayBuffer(shards * stride * BigInt64Array.BYTES_PER_ELEMENT))
  }

  get(shard: number, mark: Mark): Sequence {
    return Number(Atomics.load(this.#cells, this.#cell(shard, mark)))
  }

  set(shard: number, mark: Mark, sequence: Sequence): void {
    Atomics.store(this.#cells, this.#cell(shard, mark), BigInt(sequence))
  }

  /**
   * Records that no reader needs any more: every projector and the checkpoint are past them, and no last_seen_at
   * would have to be gathered from them again.
   */
  trimmable(shard: number): Sequence {
    return Math.min(...readers.map(mark => this.get(shard, mark)))
  }

  /** A sequence known to be durable or in some store already: a journal that ends before it has lost records. */
  stored(shard: number): Sequence {
    return Math.max(...stores.map(mark => this.get(shard, mark)))
  }

  #cell(shard: number, mark: Mark): number {
    if (shard < 0 || shard >= this.shards) throw new RangeError(`no shard ${shard}`)
    return shard * stride + marks.indexOf(mark)
  }
}
