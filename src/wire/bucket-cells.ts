// Token buckets that several threads take from: each is two numbers in shared memory, and one lock guards all. It is held
// for less than a microsecond.
import type { Bucket, Limit } from '../core/values/bucket.js'

/** Buckets there is room for. The system gives memory to those that were used alone. */
const bucketsMax = 1 << 18
/** The lock has a cache line to itself. */
const headBytes = 64
const bytesEach = 16
/** Looks at a lock that is taken, before the thread sleeps for a moment: the thread that holds it may wait for a core. */
const looksMax = 1_000
const sleepMs = 0.05

export class BucketCells {
  private readonly lock: Int32Array
  readonly numbers: Float64Array

  /** Every thread makes its own over the same memory. */
  constructor(readonly memory: SharedArrayBuffer) {
    this.lock = new Int32Array(memory, 0, 1)
    this.numbers = new Float64Array(memory, headBytes)
  }

  static make(buckets = bucketsMax): BucketCells {
    return new BucketCells(new SharedArrayBuffer(headBytes + buckets * bytesEach))
  }

  /** Buckets there is room for. */
  get room(): number {
    return this.numbers.length / 2
  }

  /** Do something while no other thread looks at buckets. It must not come back here. */
  alone<T>(work: () => T): T {
    this.enter()
    try {
      return work()
    } finally {
      Atomics.store(this.lock, 0, 0)
    }
  }

  private enter(): void {
    const { lock } = this
    for (let looks = 0; Atomics.compareExchange(lock, 0, 0, 1) !== 0; looks++)
      if (looks >= looksMax) Atomics.wait(lock, 0, 1, sleepMs)
  }
}

/** A bucket of several threads, read and changed under their lock alone. */
export class SharedBucket implements Bucket {
  /** place: its number. */
  constructor(
    private readonly cells: BucketCells,
    readonly place: number,
    readonly limit: Limit,
  ) {}

  get level(): number {
    return this.cells.numbers[2 * this.place]!
  }

  set level(level: number) {
    this.cells.numbers[2 * this.place] = level
  }

  get atMs(): number {
    return this.cells.numbers[2 * this.place + 1]!
  }

  set atMs(atMs: number) {
    this.cells.numbers[2 * this.place + 1] = atMs
  }
}
