// Whether a store answers, asked only while somebody looks: the service itself may have nothing to read or write there for
// minutes, and would not notice that the store went away.

/** How long an answer holds. */
const heldMs = 2_000
/** Longest wait of somebody who looks. A store that hangs is shown as it was until the question fails. */
const waitMs = 500

export class StoreLook {
  private known = true
  private untilMs = Number.NEGATIVE_INFINITY
  private asking: Promise<void> | null = null

  /** ask  whether it answers now; never rejects, and ends within seconds. */
  constructor(
    private readonly ask: () => Promise<boolean>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether it answers. However many look, it is asked once in two seconds. */
  async answers(): Promise<boolean> {
    if (this.now() >= this.untilMs) this.asking ??= this.look()
    if (this.asking === null) return this.known
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, waitMs)
    })
    await Promise.race([this.asking, late])
    clearTimeout(timer)
    return this.known
  }

  private async look(): Promise<void> {
    this.known = await this.ask()
    this.untilMs = this.now() + heldMs
    this.asking = null
  }
}
