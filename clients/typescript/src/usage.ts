// Use counted in this process that the service's figures do not show yet.
import type { EngineCompanyMetric } from '../../../src/core/evaluator/engine-shapes.js'
import { unref } from './stream.js'

/** An event that a figure is not known to hold. */
interface Entry {
  readonly key: string
  readonly quantity: number
  sent: boolean
  /** The service has acknowledged it. */
  taken: boolean
}

interface Counted {
  /** All that was ever counted of the event, as told last. */
  figure: number
  /** In the order in which they were tracked. */
  entries: Entry[]
}

/** How long after an acknowledgement its figure is told at the latest, while connected, ms. */
const toldMs = 500

/**
 * What was counted, by company and name of event.
 *
 * An event counts from `add` until a figure was told that is larger by it: the service tells figures before and after
 * it acknowledges. Where others count the same, theirs may stand for it for the moment until the next figure.
 */
export class Usage {
  private readonly counted = new Map<string, Map<string, Counted>>()
  /** The same as evaluation reads it: one map for each company. */
  private readonly totals = new Map<string, Map<string, number>>()
  private readonly byEvent = new Map<
    string,
    { readonly companyId: string; readonly subtype: string; readonly entry: Entry }
  >()

  constructor(
    private readonly isConnected: () => boolean,
    /** Told where a figure is another without a message of the service. */
    private readonly changed: () => void,
  ) {}

  /** What evaluation adds to a company's figures. */
  of(companyId: string): Map<string, number> {
    let total = this.totals.get(companyId)
    if (total === undefined) {
      total = new Map()
      this.totals.set(companyId, total)
    }
    return total
  }

  /** A company is not held any more. */
  forget(companyId: string): void {
    if (!this.counted.has(companyId)) this.totals.delete(companyId)
  }

  /** metrics  of the company as it is held. */
  add(
    key: string,
    companyId: string,
    subtype: string,
    quantity: number,
    metrics: readonly EngineCompanyMetric[],
  ): void {
    let counts = this.counted.get(companyId)
    if (counts === undefined) {
      counts = new Map()
      this.counted.set(companyId, counts)
    }
    let counted = counts.get(subtype)
    if (counted === undefined) {
      counted = { figure: figureOf(metrics, subtype) ?? 0, entries: [] }
      counts.set(subtype, counted)
    }
    const entry = { key, quantity, sent: false, taken: false }
    counted.entries.push(entry)
    this.byEvent.set(key, { companyId, subtype, entry })
    this.tell(companyId, subtype, counted)
  }

  /** Events leave for the first time, or again. */
  sent(keys: readonly string[]): void {
    for (const key of keys) {
      const event = this.byEvent.get(key)
      if (event !== undefined) event.entry.sent = true
    }
  }

  /** The service has taken events. */
  taken(keys: readonly string[]): void {
    for (const key of keys) {
      const event = this.byEvent.get(key)
      if (event !== undefined) event.entry.taken = true
    }
    const late = setTimeout(() => {
      if (this.isConnected()) this.settle(keys)
    }, toldMs)
    unref(late)
  }

  /** The service has told figures of a company; `whole`: all of them, as they are now. */
  told(companyId: string, metrics: readonly EngineCompanyMetric[], whole: boolean): void {
    for (const [subtype, counted] of this.counted.get(companyId) ?? []) {
      const figure = figureOf(metrics, subtype)
      if (figure !== null) {
        let more = figure - counted.figure
        counted.figure = figure
        for (const entry of counted.entries) {
          if (!entry.sent || entry.quantity > more) break
          more -= entry.quantity
          this.byEvent.delete(entry.key)
        }
      }
      // one that was acknowledged before a whole is told is in it
      if (whole) for (const { key, taken } of counted.entries) if (taken) this.byEvent.delete(key)
      this.tell(companyId, subtype, counted)
    }
  }

  /** No figure was told that is larger by these events: others have made it smaller, or nothing reads it. */
  private settle(keys: readonly string[]): void {
    let isOther = false
    for (const key of keys) {
      const event = this.byEvent.get(key)
      if (event === undefined) continue
      this.byEvent.delete(key)
      const counted = this.counted.get(event.companyId)?.get(event.subtype)
      if (counted !== undefined) this.tell(event.companyId, event.subtype, counted)
      isOther = true
    }
    if (isOther) this.changed()
  }

  private tell(companyId: string, subtype: string, counted: Counted): void {
    counted.entries = counted.entries.filter(({ key }) => this.byEvent.has(key))
    const total = this.of(companyId)
    const sum = counted.entries.reduce((all, { quantity }) => all + quantity, 0)
    if (sum === 0) total.delete(subtype)
    else total.set(subtype, sum)
    if (counted.entries.length > 0) return
    const counts = this.counted.get(companyId)
    counts?.delete(subtype)
    if (counts?.size === 0) this.counted.delete(companyId)
  }
}

/** All that was ever counted of an event; null: it is not told. */
function figureOf(metrics: readonly EngineCompanyMetric[], subtype: string): number | null {
  const found = metrics.find(one => one.event_subtype === subtype && one.period === 'all_time')
  return found === undefined ? null : Number(found.value)
}
