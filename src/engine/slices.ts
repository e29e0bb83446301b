// Long work of the HTTP thread in slices: one a turn of the event loop, whosever it is, so that other requests are
// answered in between; and not many on their way to the shards, so that those are not kept from others either.

export class Slices {
  private readonly waiting: (() => void)[] = []
  private inFlight = 0
  private scheduled = false

  /** inFlightMax  slices that have begun and are not durable yet. */
  constructor(private readonly inFlightMax: number) {}

  /** Resolves when the next slice may begin, in the order of asking; `left` tells when it has ended. */
  enter(): Promise<void> {
    return new Promise(resolve => {
      this.waiting.push(resolve)
      this.schedule()
    })
  }

  left(): void {
    this.inFlight--
    this.schedule()
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
