// Long work of the HTTP thread in turns: one per turn of the event loop, for any caller, so that other requests are
// answered in between; and not many on their way to the shards, so that those are not kept from others either.

/** A turn that lasts longer waits for a store, and keeps no shard busy. */
const slowMs = 250

export class TurnLimiter {
  private readonly waiting: (() => void)[] = []
  private inFlight = 0
  private scheduled = false

  /** inFlightMax  turns whose work is not durable yet. */
  constructor(private readonly inFlightMax: number) {}

  /** Resolves when the next turn may begin, in the order of the calls; pass the promise of its work to `lasts`. */
  enter(): Promise<void> {
    return new Promise(resolve => {
      this.waiting.push(resolve)
      this.schedule()
    })
  }

  /** A turn is in flight until its work ends, or it is slow. */
  lasts(work: Promise<unknown>): void {
    let over = false
    const end = () => {
      if (over) return
      over = true
      clearTimeout(timer)
      this.inFlight--
      this.schedule()
    }
    const timer = setTimeout(end, slowMs)
    work.then(end, end)
  }

  private schedule(): void {
    if (this.scheduled || this.waiting.length === 0 || this.inFlight >= this.inFlightMax) return
    this.scheduled = true
    setImmediate(() => {
      this.scheduled = false
      this.inFlight++
      this.waiting.shift()!()
      this.schedule()
    })
  }
}
