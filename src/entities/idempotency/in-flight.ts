// Claims under way: first events that are not durable yet. Events that are acknowledged together share one ticket, which
// each of their claims holds in the window; their duplicates wait for its promise. So a batch costs one entry here.

const placesMin = 256
/** The next ticket after this one is 1. */
const ticketMax = 0xffff_ffff

/** Promises by their tickets, which are drawn one after the other; at least half of the places are free. */
export class InFlightClaims {
  private promises: (Promise<void> | null)[] = new Array<null>(placesMin).fill(null)
  private tickets = new Uint32Array(placesMin)
  private last = 0
  private count = 0

  get size(): number {
    return this.count
  }

  /** A ticket for claims whose outcome is this promise; never 0. */
  open(outcome: Promise<void>): number {
    if (2 * this.count >= this.promises.length) this.resize(2 * this.promises.length)
    do this.last = this.last === ticketMax ? 1 : this.last + 1
    while (this.promises[this.placeOf(this.last)] !== null)
    this.put(this.last, outcome)
    return this.last
  }

  /** The outcome that claims with a ticket wait for; null when it is closed, or 0. */
  get(ticket: number): Promise<void> | null {
    if (ticket === 0 || this.count === 0) return null
    const place = this.placeOf(ticket)
    return this.tickets[place] === ticket ? this.promises[place]! : null
  }

  /** All claims with a ticket are durable, or given back. */
  close(ticket: number): void {
    const place = this.placeOf(ticket)
    if (this.tickets[place] !== ticket || this.promises[place] === null) return
    this.promises[place] = null
    this.tickets[place] = 0
    this.count--
    if (this.count === 0 && this.promises.length > 1 << 16) this.resize(placesMin)
  }

  private placeOf(ticket: number): number {
    return ticket & (this.promises.length - 1)
  }

  private put(ticket: number, outcome: Promise<void>): void {
    const place = this.placeOf(ticket)
    this.promises[place] = outcome
    this.tickets[place] = ticket
    this.count++
  }

  private resize(places: number): void {
    const { promises, tickets } = this
    this.promises = new Array<null>(places).fill(null)
    this.tickets = new Uint32Array(places)
    this.count = 0
    for (const [place, outcome] of promises.entries())
      if (outcome !== null) this.put(tickets[place]!, outcome)
  }
}
