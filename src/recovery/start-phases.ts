// Named phases of a start, some beside each other, and the time of each, for the log line when all is up.

export class Phases {
  private readonly begunMs = performance.now()
  private readonly spans: Record<string, readonly [fromMs: number, toMs: number]> = {}

  /** Time one phase, from now until the work is done. Errors as the work's. */
  async time<T>(name: string, work: () => Promise<T>): Promise<T> {
    const fromMs = this.sinceMs()
    try {
      return await work()
    } finally {
      this.spans[name] = [fromMs, this.sinceMs()]
    }
  }

  /** Begin and end of each phase, whole ms since the start. */
  told(): Readonly<Record<string, readonly [fromMs: number, toMs: number]>> {
    return { ...this.spans, ready: [0, this.sinceMs()] }
  }

  private sinceMs(): number {
    return Math.round(performance.now() - this.begunMs)
  }
}
