// Use counted in this process that is not in the service's figures yet.
import type { EngineCompanyMetric } from '../../../src/core/evaluator/engine-shapes.js'
import { unref } from './stream.js'

/**
 * Events that are not known to be in a figure. One event per entry, or all acknowledged events of a lost
 * connection.
 */
interface Entry {
  quantity: number
  sent: boolean
  /** The service has acknowledged it. */
  taken: boolean
  /** A confirmation was requested after the acknowledgement. */
  asked: boolean
}

interface Counted {
  /** The all-time count of the event in the last received figures. */
  figure: number
  /** In the order in which they were tracked. */
  entries: Entry[]
}

interface Event {
  readonly companyId: string
  readonly subtype: string
  readonly entry: Entry
}

/** Delay between an acknowledgement and the request for a confirmation, if no figure showed the event, ms. */
const toldMs = 250

/**
 * Use by company and event name.
 *
 * An event counts from `add` until it is in the figures received over the stream. A figure that has grown by
 * it proves that, or a confirmation requested after the acknowledgement. Neither time nor the acknowledgement
 * proves it: figures and acknowledgements come over different connections. When other processes count the
 * same event, their use may be mistaken for this one until the next figure.
 */
export class Usage {
  private readonly counted = new Map<string, Map<string, Counted>>()
  /** The same in evaluation's shape: one map for each company. */
  private readonly totals = new Map<string, Map<string, number>>()
  /** Events that are not acknowledged yet. */
  private readonly open = new Map<string, Event>()
  /** Companies to confirm in the next message. */
  private readonly due = new Set<string>()
  /** Companies with use that are not in memory any more. */
  private readonly released = new Set<string>()

  constructor(
    /** Requests confirmations of companies from the service; false: the stream is down. */
    private readonly confirm: (companyIds: readonly string[]) => boolean,
    /** Called when a figure changes without a message of the service. */
    private readonly changed: () => void,
  ) {}

  /** Use that evaluation adds to a company's figures. The company is in memory until `release`. */
  of(companyId: string): ReadonlyMap<string, number> {
    this.released.delete(companyId)
    return this.totalOf(companyId)
  }

  /** Companies that take memory here. */
  get size(): number {
    return this.totals.size
  }

  /** A company is not in memory any more: what it used counts, and nothing else of it is kept. */
  release(companyId: string): void {
    const total = this.totals.get(companyId)
    if (total === undefined) return
    if (total.size > 0) this.released.add(companyId)
    else this.totals.delete(companyId)
  }

  private totalOf(companyId: string): Map<string, number> {
    let total = this.totals.get(companyId)
    if (total === undefined) {
      total = new Map()
      this.totals.set(companyId, total)
    }
    return total
  }

  /** A company was deleted. */
  forget(companyId: string): void {
    this.counted.delete(companyId)
    this.totals.delete(companyId)
    this.released.delete(companyId)
  }

  /** metrics  of the company in memory. */
  add(
    key: string,
    companyId: string,
    subtype: string,
    quantity: number,
    metrics: readonly EngineCompanyMetric[],
  ): void {
    // The same event again, while the first is on its way: it counts once.
    if (this.open.has(key)) return
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
    const entry = { quantity, sent: false, taken: false, asked: false }
    counted.entries.push(entry)
    this.open.set(key, { companyId, subtype, entry })
    const total = this.totalOf(companyId)
    const sum = (total.get(subtype) ?? 0) + quantity
    if (sum === 0) total.delete(subtype)
    else total.set(subtype, sum)
  }

  /** Events are sent, for the first time or again. */
  sent(keys: readonly string[]): void {
    for (const key of keys) {
      const event = this.open.get(key)
      if (event !== undefined) event.entry.sent = true
    }
  }

  /** The service has acknowledged events, or refused them for good. */
  taken(keys: readonly string[]): void {
    for (const key of keys) {
      const event = this.open.get(key)
      if (event === undefined) continue
      this.open.delete(key)
      event.entry.taken = true
      this.askLater(event.companyId)
    }
  }

  /** The service has sent figures of a company. */
  told(companyId: string, metrics: readonly EngineCompanyMetric[]): void {
    for (const [subtype, counted] of this.counted.get(companyId) ?? []) {
      const figure = figureOf(metrics, subtype)
      if (figure === null) continue
      let more = figure - counted.figure
      counted.figure = figure
      let shown = 0
      for (const { sent, quantity } of counted.entries) {
        if (!sent || (quantity < 0 ? quantity < more : quantity > more)) break
        more -= quantity
        shown++
      }
      if (shown > 0) this.keep(companyId, subtype, counted, counted.entries.slice(shown))
    }
  }

  /** A confirmation arrived: the company's figures contain every event acknowledged before the request. */
  confirmed(companyId: string): void {
    const counts = this.counted.get(companyId)
    if (counts === undefined) return
    for (const [subtype, counted] of counts) {
      const left = counted.entries.filter(({ asked }) => !asked)
      if (left.length < counted.entries.length) this.keep(companyId, subtype, counted, left)
    }
    this.askLater(companyId)
    this.changed()
  }

  /** The connection is new: requests of the last one get no answer. */
  reconnected(): void {
    for (const counts of this.counted.values())
      for (const { entries } of counts.values()) for (const entry of entries) entry.asked = false
    this.ask(this.counted.keys())
  }

  private askLater(companyId: string): void {
    if (this.due.size === 0)
      unref(
        setTimeout(() => {
          const companyIds = [...this.due]
          this.due.clear()
          this.ask(companyIds)
        }, toldMs),
      )
    this.due.add(companyId)
  }

  /** Request confirmations for companies with acknowledged events that no figure showed, one per company. */
  private ask(companyIds: Iterable<string>): void {
    const wanted: Entry[] = []
    const named: string[] = []
    for (const id of companyIds) {
      const entries = [...(this.counted.get(id)?.values() ?? [])].flatMap(one => one.entries)
      const taken = entries.filter(one => one.taken)
      if (taken.length === 0 || taken.some(({ asked }) => asked)) continue
      named.push(id)
      wanted.push(...taken)
    }
    if (named.length === 0) return
    if (this.confirm(named)) for (const entry of wanted) entry.asked = true
    else for (const id of named) this.gather(id)
  }

  /**
   * Without a stream, acknowledged events are merged into one entry per name. The number of events is
   * unbounded, the number of names is not.
   */
  private gather(companyId: string): void {
    for (const counted of this.counted.get(companyId)?.values() ?? []) {
      const taken = counted.entries.filter(one => one.taken)
      const quantity = taken.reduce((sum, one) => sum + one.quantity, 0)
      if (taken.length < 2) continue
      counted.entries = counted.entries.filter(one => !one.taken)
      counted.entries.unshift({ quantity, sent: true, taken: true, asked: false })
    }
  }

  /** Keep these events of a name only. */
  private keep(companyId: string, subtype: string, counted: Counted, entries: Entry[]): void {
    counted.entries = entries
    const total = this.totalOf(companyId)
    const sum = entries.reduce((all, { quantity }) => all + quantity, 0)
    if (sum === 0) total.delete(subtype)
    else total.set(subtype, sum)
    if (total.size === 0 && this.released.delete(companyId)) this.totals.delete(companyId)
    if (entries.length > 0) return
    const counts = this.counted.get(companyId)
    counts?.delete(subtype)
    if (counts?.size === 0) this.counted.delete(companyId)
  }
}

/** The all-time count of an event; null: not in the figures. */
function figureOf(metrics: readonly EngineCompanyMetric[], subtype: string): number | null {
  const found = metrics.find(one => one.event_subtype === subtype && one.period === 'all_time')
  return found === undefined ? null : Number(found.value)
}
