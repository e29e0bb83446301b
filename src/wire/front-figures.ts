// Figures of a front's own answers, in memory that the main thread reads when metrics are asked for.

import { type RateLimitBucket, rateLimitBuckets } from '../../schemas/enums.js'

/** Routes that a front answers itself, in the order of their figures. */
export const frontRoutes = [
  'POST /flags/:key/check',
  'POST /flags/check',
  'POST /events',
  'POST /event-batch',
] as const
/** Statuses that it answers with. */
export const frontStatuses = [200, 201, 404, 429, 500, 503] as const

const flagsAt = 0
const againAt = 1
const abortedAt = 2
const inFlightAt = 3
/** A number for each bucket. */
const refusedAt = 4
const routesAt = refusedAt + rateLimitBuckets.length
/** A route has a number for each status, and the sum and the buckets of durations. */
const strideOf = (bounds: number): number => frontStatuses.length + 1 + bounds

export class FrontFigures {
  readonly numbers: Float64Array

  /** bounds: of durations, seconds. */
  constructor(
    readonly memory: SharedArrayBuffer,
    private readonly bounds: readonly number[],
  ) {
    this.numbers = new Float64Array(memory)
  }

  static make(bounds: readonly number[]): FrontFigures {
    const count = routesAt + frontRoutes.length * strideOf(bounds.length)
    return new FrontFigures(new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT), bounds)
  }

  // the front's side

  /** Flags were evaluated. */
  checked(flags: number): void {
    this.numbers[flagsAt]! += flags
  }

  again(): void {
    this.numbers[flagsAt]!++
    this.numbers[againAt]!++
  }

  aborted(): void {
    this.numbers[abortedAt]!++
  }

  /** A bucket was empty. */
  refused(bucket: RateLimitBucket): void {
    this.numbers[refusedAt + rateLimitBuckets.indexOf(bucket)]!++
  }

  set inFlight(count: number) {
    this.numbers[inFlightAt] = count
  }

  answered(route: number, status: (typeof frontStatuses)[number], seconds: number): void {
    const { numbers, bounds } = this
    const at = routesAt + route * strideOf(bounds.length)
    numbers[at + frontStatuses.indexOf(status)]!++
    const sumAt = at + frontStatuses.length
    numbers[sumAt]! += seconds
    for (let i = 0; i < bounds.length; i++)
      if (seconds <= bounds[i]!) {
        numbers[sumAt + 1 + i]!++
        return
      }
  }

  // the main thread's side

  get inFlight(): number {
    return this.numbers[inFlightAt]!
  }

  /** The numbers added since an earlier look. `before`: the numbers at the earlier look; this call overwrites them with the present numbers. */
  since(before: Float64Array): {
    readonly flags: number
    readonly again: number
    readonly aborted: number
    /** By the order of `rateLimitBuckets`. */
    readonly refused: Float64Array
    readonly routes: readonly RouteFigures[]
  } {
    const now = this.numbers.slice()
    const more = now.map((number, i) => number - before[i]!)
    before.set(now)
    const routes = frontRoutes.map((_, route): RouteFigures => {
      const at = routesAt + route * strideOf(this.bounds.length)
      const sumAt = at + frontStatuses.length
      return {
        statuses: more.subarray(at, sumAt),
        seconds: more[sumAt]!,
        buckets: more.subarray(sumAt + 1, sumAt + 1 + this.bounds.length),
      }
    })
    return {
      flags: more[flagsAt]!,
      again: more[againAt]!,
      aborted: more[abortedAt]!,
      refused: more.subarray(refusedAt, routesAt),
      routes,
    }
  }
}

/** Answers of one route. */
interface RouteFigures {
  /** By the order of `frontStatuses`. */
  readonly statuses: Float64Array
  readonly seconds: number
  readonly buckets: Float64Array
}
