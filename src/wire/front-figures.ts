// Figures of a front's own answers, in memory that the main thread reads when metrics are asked for.

import { type RateLimitBucket, rateLimitBuckets } from '../../schemas/enums.js'

/** Routes that a front answers itself, in the order of their figures. */
export const frontRoutes = [
  'POST /flags/:key/check',
  'POST /flags/check',
  'POST /events',
  'POST /event-batch',
  'POST /flags/check-bulk',
  'POST /ofrep/v1/evaluate/flags',
  'POST /ofrep/v1/evaluate/flags/:key',
] as const
/** Statuses that it answers with. */
export const frontStatuses = [200, 201, 304, 404, 429, 500, 503] as const
/**
 * Why a front passes a request of these routes on: its head asks for more than a front answers; the key is not known there
 * (now), or the main thread judges each of its requests; the body is refused, or asks for more; it names a company or user
 * that is not known there; the shard does not answer a front; the main thread could not claim its keys.
 */
export const passReasons = ['head', 'key', 'body', 'names', 'shard', 'claims'] as const
export type PassReason = (typeof passReasons)[number]

const flagsAt = 0
const againAt = 1
const abortedAt = 2
const inFlightAt = 3
/** Two counts of refused connections: by the bound of all connections, and by the bound of one address. */
const closedAt = 4
/** A number for each bucket. */
const refusedAt = 6
const routesAt = refusedAt + rateLimitBuckets.length
/** A route has a number for each status, and the sum and the buckets of durations. */
const strideOf = (bounds: number): number => frontStatuses.length + 1 + bounds
/** Behind the routes: numbers of requests passed on, by route and reason, and of other routes. */
const passedCount = frontRoutes.length * passReasons.length + 1

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
    const count = routesAt + frontRoutes.length * strideOf(bounds.length) + passedCount
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

  /** A connection was closed at a bound. */
  closed(bound: 'total' | 'address'): void {
    this.numbers[closedAt + (bound === 'total' ? 0 : 1)]!++
  }

  /** A bucket was empty. */
  refused(bucket: RateLimitBucket): void {
    this.numbers[refusedAt + rateLimitBuckets.indexOf(bucket)]!++
  }

  /** A request of a route that a front answers is passed on. */
  passed(route: number, reason: PassReason): void {
    this.numbers[this.passedAt + route * passReasons.length + passReasons.indexOf(reason)]!++
  }

  /** Another request is passed on. */
  passedOther(): void {
    this.numbers[this.passedAt + passedCount - 1]!++
  }

  private get passedAt(): number {
    return routesAt + frontRoutes.length * strideOf(this.bounds.length)
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
    /** Two counts of refused connections: by the bound of all connections, and by the bound of one address. */
    readonly closed: Float64Array
    /** By the order of `rateLimitBuckets`. */
    readonly refused: Float64Array
    readonly routes: readonly RouteFigures[]
    /** Requests passed on: by route, then by the order of `passReasons`; then those of other routes. */
    readonly passed: Float64Array
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
      closed: more.subarray(closedAt, refusedAt),
      refused: more.subarray(refusedAt, routesAt),
      routes,
      passed: more.subarray(this.passedAt),
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
