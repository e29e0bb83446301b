// Use counted in this process that the service's figures do not show yet.
import type { EngineCompanyMetric } from '../../../src/core/evaluator/engine-shapes.js'
import { unref } from './stream.js'

/** Events that a figure is not known to hold. One entry, unless those of a lost connection were put together. */
interface Entry {
  quantity: number
  sent: boolean
  /** The service has acknowledged it. */
  taken: boolean
  /** The service was asked to confirm the company's figures after it had acknowledged it. */
  asked: boolean
}

interface Counted {
  /** All that was ever counted of the event, as told last. */
  figure: number
  /** In the order in which they were tracked. */
  entries: Entry[]
}

interface Event {
  readonly companyId: string
  readonly subtype: string
  readonly entry: Entry
}

/** How long after an acknowledgement the service is asked for a confirmation, where no figure showed the event, ms. */
const toldMs = 250

/**
 * What was counted, by company and name of event.
 *
 * An event counts from `add` until it is in the figures that the stream told: a figure larger by it shows that, or a
 * confirmation that was asked for after the acknowledgement. No time says so, and no acknowledgement: figures and
 * acknowledgements come over different connections. Where others count the same, theirs may stand for it until the
 * next figure, as if theirs were not told yet.
 */
export class Usage {
  private readonly counted = new Map<string, Map<string, Counted>>()
  /** The same as evaluation reads it: one map for each company. */
  private readonly totals = new Map<string, Map<string, number>>()
  /** Events that are not acknowledged yet. */
  private readonly open = new Map<string, Event>()
  /** Companies to ask for at the next turn; a turn is one message. */
  private readonly due = new Set<string>()

  constructor(
    /** Asks the service to confirm companies; false: the stream is down. */
    private readonly confirm: (companyIds: readonly string[]) => boolean,
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

  /** A company is no more. */
  forget(companyId: string): void {
    this.counted.delete(companyId)
    this.totals.delete(companyId)
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
    const entry = { quantity, sent: false, taken: false, asked: false }
    counted.entries.push(entry)
    this.open.set(key, { companyId, subtype, entry })
    const total = this.of(companyId)
    const sum = (total.get(subtype) ?? 0) + quantity
    if (sum === 0) total.delete(subtype)
    else total.set(subtype, sum)
  }

  /** Events leave for the first time, or again. */
  sent(keys: readonly string[]): void {
    for (const key of keys) {
      const event = this.open.get(key)
      if (event !== undefined) event.entry.sent = true
    }
  }

  /** The service has taken events, or refused them for good. */
  taken(keys: readonly string[]): void {
    for (const key of keys) {
      const event = this.open.get(key)
      if (event === undefined) continue
      this.open.delete(key)
      event.entry.taken = true
      this.askLater(event.companyId)
    }
  }

  /** The service has told figures of a company. */
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

  /** What was asked for has been told: the company's figures hold whatever was acknowledged when they were asked for. */
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

  /** The connection is another: what was asked on the last one is not answered any more. */
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

  /** Ask for confirmations of those companies that have acknowledged events no figure showed, once each. */
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

  /** While nobody can confirm them, acknowledged events are kept as one: their number is not bounded, that of names is. */
  private gather(companyId: string): void {
    for (const counted of this.counted.get(companyId)?.values() ?? []) {
      const taken = counted.entries.filter(one => one.taken)
      const quantity = taken.reduce((sum, one) => sum + one.quantity, 0)
      if (taken.length < 2) continue
      counted.entries = counted.entries.filter(one => !one.taken)
      counted.entries.unshift({ quantity, sent: true, taken: true, asked: false })
    }
  }

  /** These events are left of a name's. */
  private keep(companyId: string, subtype: string, counted: Counted, entries: Entry[]): void {
    counted.entries = entries
    const total = this.of(companyId)
    const sum = entries.reduce((all, { quantity }) => all + quantity, 0)
    if (sum === 0) total.delete(subtype)
    else total.set(subtype, sum)
    if (entries.length > 0) return
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
