// Jobs on timers: one run of each at a time, and none after a stop.
import type { Logger } from 'pino'

export class Schedule {
  private readonly timers: NodeJS.Timeout[] = []
  private readonly running = new Set<Promise<unknown>>()

  constructor(private readonly log: Logger) {}

  /**
   * Run a job at an interval, for the first time after one interval. A run is skipped while the last one is
   * still in progress.
   *
   * everyMs  interval.
   * failure  log text when a run fails; the next run tries again.
   */
  every(everyMs: number, failure: string, job: () => unknown): void {
    let busy = false
    const run = async (): Promise<void> => {
      try {
        await job()
      } catch (error) {
        this.log.warn({ err: error }, failure)
      }
      busy = false
    }
    const timer = setInterval(() => {
      if (busy) return
      busy = true
      const done = run().finally(() => this.running.delete(done))
      this.running.add(done)
    }, everyMs)
    this.timers.push(timer)
  }

  /** Start no more runs. Resolves when the runs in progress have ended. */
  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer)
    await Promise.all(this.running)
  }
}
