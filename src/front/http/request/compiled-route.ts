// A route prepared for serving: size bound, name, counters.
import type { Metrics, Spread, Tally } from '../../../metrics.js'
import { LastAdmission } from '../admission/admit.js'
import type { Route } from '../routing/route.js'
import type { Wrapper } from '../routing/wrapper.js'
import { boundOf } from './parse-body.js'
import { mayZip } from './zipped.js'

/** A route with its counters. */
export class Compiled {
  readonly bodyBytesMax: number
  /** Pages of other origins may use it, because publishable keys or tokens of companies may. */
  readonly isOpen: boolean
  /** One of the hot paths: it asks no store. */
  readonly isHot: boolean
  /** Its long answers are compressed for callers who take gzip. */
  readonly mayZip: boolean
  readonly label: string
  readonly method: string
  readonly seconds: Spread
  readonly last = new LastAdmission()
  /** It sees bodies before they are parsed; null: the handler alone answers. */
  wrapper: Wrapper | null = null
  private readonly statuses = new Map<number, Tally>()
  private lastStatus = 0
  private lastTally: Tally | null = null

  constructor(
    readonly route: Route,
    private readonly metrics: Metrics,
    /** The read whose tag a write honours (decision 38). */
    readonly tagged: Route | null = null,
  ) {
    this.bodyBytesMax = boundOf(route)
    this.isOpen = route.scope === 'check' || route.scope === 'capture' || route.scope === 'portal'
    this.isHot = route.limit === 'check' || route.limit === 'ingest'
    this.mayZip = mayZip(route)
    this.method = route.method === 'del' ? 'DELETE' : route.method.toUpperCase()
    this.label = `${this.method} ${route.path}`
    this.seconds = metrics.http.durations.child({ route: this.label })
  }

  answered(status: number): void {
    if (status !== this.lastStatus) {
      this.lastStatus = status
      this.lastTally = this.tallyOf(status)
    }
    this.lastTally!.count++
  }

  /** Requests that another front answered. */
  answeredElsewhere(status: number, count: number): void {
    if (count > 0) this.tallyOf(status).count += count
  }

  private tallyOf(status: number): Tally {
    let tally = this.statuses.get(status)
    if (tally === undefined) {
      tally = this.metrics.http.requests.child({ route: this.label, status: String(status) })
      this.statuses.set(status, tally)
    }
    return tally
  }
}
