// Budgets that several threads take from: at every interleaving of their accesses each token is taken once, and with three
// deliberate faults that the scheduler must find.
import t from 'tap'
import { type Bucket, hasToken, type Limit, refill, take } from '../../src/core/values/bucket.js'
import { BucketCells, SharedBucket } from '../../src/wire/bucket-cells.js'
import type { Cells } from '../../src/wire/shared/cells.js'
import { Random, seed, times } from '../random.js'
import { interleave, SteppedThread } from './shared/stepped.js'

class NoLock extends BucketCells {
  override alone<T>(work: () => T): T {
    return work()
  }
}

/** It looks whether the lock is free, and takes it: two steps. */
class LookThenTake extends BucketCells {
  protected override enter(): void {
    const { cells, lock } = this
    while (cells.load(lock, 0) !== 0) cells.wait(lock, 0, 1)
    cells.store(lock, 0, 1)
  }
}

/** It gives the lock back before it works. */
class EarlyEnd extends BucketCells {
  override alone<T>(work: () => T): T {
    super.alone(() => {})
    return work()
  }
}

const bursts = [4, 2]
const limits = bursts.map((burst): Limit => ({ ratePerSecond: 1_000, burst }))

/** A request that takes from some buckets, all or none, and may be given back. */
interface Request {
  readonly places: readonly number[]
  readonly nowMs: number
  readonly isGivenBack: boolean
}

function admitted(shared: BucketCells, { places, nowMs, isGivenBack }: Request): boolean {
  const buckets = places.map((place): Bucket => new SharedBucket(shared, place, limits[place]!))
  const isTaken = shared.alone(() => {
    for (const bucket of buckets) refill(bucket, nowMs)
    if (!buckets.every(hasToken)) return false
    for (const bucket of buckets) take(bucket)
    return true
  })
  if (!isTaken || !isGivenBack) return isTaken
  shared.alone(() => {
    for (const bucket of buckets) bucket.level = Math.min(bucket.level + 1, bucket.limit.burst)
  })
  return false
}

/** Interleaves threads once. Returns the fault, or null. */
function faultOf(Kind: typeof BucketCells, random: Random, threads: number): string | null {
  const { memory } = BucketCells.make(bursts.length)
  const start = new BucketCells(memory)
  for (const [place, burst] of bursts.entries()) start.write(2 * place, burst)
  const givesBack = random.chance(0.5)
  // the clock adds one token to each while they run
  const refills = random.chance(0.5)
  const taken = bursts.map(() => 0)
  let [refused, ran] = [0, 0]
  const scripts = Array.from({ length: threads }, () => {
    let left = 1 + random.below(4)
    return () => {
      if (left-- === 0) return null
      const request: Request = {
        places: random.pick([[0], [1], [0, 1]]),
        nowMs: refills && random.chance(0.5) ? 1 : 0,
        isGivenBack: givesBack && random.chance(0.5),
      }
      const work = (cells: Cells): boolean => {
        const numbers = {
          read: (of: Float64Array, at: number) => cells.read(of as unknown as Int32Array, at),
          write: (of: Float64Array, at: number, value: number) =>
            cells.write(of as unknown as Int32Array, at, value),
        }
        return admitted(new Kind(memory, cells, numbers), request)
      }
      const thread = new SteppedThread<boolean>(work)
      const ended = () => {
        ran++
        if (thread.result!.value) for (const place of request.places) taken[place]!++
        else if (!request.isGivenBack) refused++
      }
      return { thread, ended }
    }
  })
  try {
    interleave(scripts, random, { now: 0 })
  } catch (error) {
    return (error as Error).message
  }
  for (const [place, burst] of bursts.entries()) {
    const level = start.read(2 * place)
    if (level < 0 || level > burst) return `a level of ${level}`
    // a token more at most where time went on
    const more = level + taken[place]! - burst
    if (more < 0 || more > (refills ? 1 : 0)) return `${taken[place]} taken of ${burst}, ${level} left`
  }
  const isAnyEmpty = bursts.some((_, place) => start.read(2 * place) < 1)
  if (refused > 0 && !givesBack && !refills && !isAnyEmpty)
    return `${refused} of ${ran} refused though there were tokens`
  return null
}

t.test('every token is taken once, whatever the threads interleave', async t => {
  for (const threads of [2, 3]) {
    const random = new Random(seed)
    for (let run = 0; run < times(1_500); run++) {
      const fault = faultOf(BucketCells, random, threads)
      if (fault !== null) return t.fail(`seed ${seed}, run ${run}, ${threads} threads: ${fault}`)
    }
    t.pass(`${threads} threads`)
  }
})

for (const Kind of [NoLock, LookThenTake, EarlyEnd])
  t.test(`the scheduler finds a deliberate fault: ${Kind.name}`, async t => {
    const random = new Random(seed)
    for (let run = 0; run < times(1_500); run++) {
      const fault = faultOf(Kind, random, 2)
      if (fault !== null) return t.pass(`run ${run}: ${fault}`)
    }
    t.fail(`seed ${seed}: not found`)
  })
