// Token buckets that several threads take from: each is two numbers in shared memory, and one lock guards all. It is held
// for less than a microsecond.
import type { Bucket, Limit } from '../core/values/bucket.js'
import { atomicCells, type Cells } from './shared/cells.js'

/** Buckets there is room for. The system gives memory to those that were used alone. */
const bucketsMax = 1 << 18
/** The lock has a cache line to itself. */
const headBytes = 64
const bytesEach = 16
/** Looks at a lock that is taken, before the thread sleeps for a moment: the thread that holds it may wait for a core. */
const looksMax = 1_000
const sleepMs = 0.05

/** Access to levels and times. They are read and written under the lock alone. */
export interface Numbers {
  read(numbers: Float64Array, at: number): number
  write(numbers: Float64Array, at: number, value: number): void
}

const plainNumbers: Numbers = {
  read: (numbers, at) => numbers[at]!,
  write: (numbers, at, value) => {
    numbers[at] = value
  },
}

const cellsOfLock: Cells = {
  ...atomicCells,
  wait: (cells, at, value) => {
    Atomics.wait(cells, at, value, sleepMs)
  },
}

export class BucketCells {
  protected readonly lock: Int32Array
  private readonly numbers: Float64Array

  /** Every thread makes its own over the same memory. `cells`, `access`: a test puts a scheduler there. */
  constructor(
    readonly memory: SharedArrayBuffer,
    protected readonly cells: Cells = cellsOfLock,
    private readonly access: Numbers = plainNumbers,
  ) {
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
      this.cells.store(this.lock, 0, 0)
    }
  }

  protected enter(): void {
    const { lock, cells } = this
    for (let looks = 0; cells.exchangeIf(lock, 0, 0, 1) !== 0; looks++)
      if (looks >= looksMax) cells.wait(lock, 0, 1)
  }

  read(at: number): number {
    return this.access.read(this.numbers, at)
  }

  write(at: number, value: number): void {
    this.access.write(this.numbers, at, value)
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
    return this.cells.read(2 * this.place)
  }

  set level(level: number) {
    this.cells.write(2 * this.place, level)
  }

  get atMs(): number {
    return this.cells.read(2 * this.place + 1)
  }

  set atMs(atMs: number) {
    this.cells.write(2 * this.place + 1, atMs)
  }
}
