// Places of buckets in memory that extra fronts take from, too.
import type { Bucket } from '../../../core/values/bucket.js'
import { type BucketCells, SharedBucket } from '../../../wire/bucket-cells.js'

export class BucketPlaces {
  private used = 0

  constructor(
    readonly cells: BucketCells,
    /** Called when buckets were replaced: fronts must forget the places that they know. */
    readonly forgotten: () => void,
  ) {}

  /** The same bucket in shared memory; null: there is no room, and fronts leave its requests to this thread. */
  make({ limit, level, atMs }: Bucket): SharedBucket | null {
    if (this.used === this.cells.room) return null
    const bucket = new SharedBucket(this.cells, this.used++, limit)
    bucket.level = level
    bucket.atMs = atMs
    return bucket
  }
}
