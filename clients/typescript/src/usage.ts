// Use counted in this process that the service's figures do not show yet.
import { unref } from './stream.js'

interface Counted {
  /** Of events that are not acknowledged. */
  unsent: number
  /** Of events that are, whose figure has not been told. */
  untold: number
  /** When a figure was last told, by the count of what happened here. */
  toldAt: number
}

interface Tracked {
  readonly companyId: string
  readonly subtype: string
  readonly quantity: number
  /** When it was first sent, by the count of what happened here. */
  sentAt: number
}

/** How long after an acknowledgement its figure is told at the latest, while connected, ms. */
const toldMs = 500

/**
 * What was counted, by company and name of event.
 *
 * An event counts from `add` until a figure that holds it was told. While it is on its way a figure may hold it already:
 * then it is counted twice for that moment, which never grants too much.
 */
export class Usage {
  private readonly counted = new Map<string, Map<string, Counted>>()
  /** The same as evaluation reads it: one map for each company, the same for as long as the company is held. */
  private readonly totals = new Map<string, Map<string, number>>()
  private readonly byEvent = new Map<string, Tracked>()
  private happened = 0

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

  add(eventKey: string, companyId: string, subtype: string, quantity: number): void {
    this.byEvent.set(eventKey, { companyId, subtype, quantity, sentAt: Number.POSITIVE_INFINITY })
    const counted = this.countedOf(companyId, subtype)
    counted.unsent += quantity
    this.tell(companyId, subtype, counted)
  }

  /** Events leave for the first time, or again. */
  sent(eventKeys: readonly string[]): void {
    const now = ++this.happened
    for (const key of eventKeys) {
      const event = this.byEvent.get(key)
      if (event !== undefined && event.sentAt > now) event.sentAt = now
    }
  }

  /** The service has taken events. Figures told since they were sent hold them: it tells what is not acknowledged yet. */
  taken(eventKeys: readonly string[]): void {
    for (const key of eventKeys) {
      const event = this.byEvent.get(key)
      if (event === undefined) continue
      this.byEvent.delete(key)
      const { companyId, subtype, quantity, sentAt } = event
      const counted = this.countedOf(companyId, subtype)
      counted.unsent -= quantity
      if (counted.toldAt <= sentAt) {
        counted.untold += quantity
        this.tellLate(companyId, subtype)
      } else this.tell(companyId, subtype, counted)
    }
  }

  private tellLate(companyId: string, subtype: string): void {
    const late = setTimeout(() => {
      if (!this.isConnected()) return
      this.told(companyId, subtype)
      this.changed()
    }, toldMs)
    unref(late)
  }

  /** The service has told its figure of an event (null: of all) of a company. */
  told(companyId: string, subtype: string | null): void {
    const counts = this.counted.get(companyId)
    const now = ++this.happened
    if (counts === undefined) return
    for (const [name, counted] of counts) {
      if (subtype !== null && name !== subtype) continue
      counted.untold = 0
      counted.toldAt = now
      this.tell(companyId, name, counted)
    }
  }

  private countedOf(companyId: string, subtype: string): Counted {
    let counts = this.counted.get(companyId)
    if (counts === undefined) {
      counts = new Map()
      this.counted.set(companyId, counts)
    }
    let counted = counts.get(subtype)
    if (counted === undefined) {
      counted = { unsent: 0, untold: 0, toldAt: 0 }
      counts.set(subtype, counted)
    }
    return counted
  }

  private tell(companyId: string, subtype: string, { unsent, untold }: Counted): void {
    const total = this.of(companyId)
    if (unsent + untold !== 0) {
      total.set(subtype, unsent + untold)
      return
    }
    total.delete(subtype)
    const counts = this.counted.get(companyId)
    counts?.delete(subtype)
    if (counts?.size === 0) this.counted.delete(companyId)
  }
}
