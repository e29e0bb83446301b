// Whether Postgres answers, known before a write of state is journaled: while it is away, a write that would wait for
// its row is refused, so that a 503 means that nothing was done.
import { performance } from 'node:perf_hooks'
import { ServiceError } from '../errors.js'

/** An answer proves for so long that Postgres is there. */
const provenMs = 250
/** Interval of probes while it is away, and while there are no writes. */
const againMs = 250
const idleMs = 2_000
/** Longest wait for a Postgres that was away. */
const lateMs = 300

export class PostgresWatch {
  private provenAtMs = Number.NEGATIVE_INFINITY
  private away = false
  private asking: Promise<boolean> | null = null
  private timer: NodeJS.Timeout
  private stopped = false

  /** ask  whether it answers now; never rejects, and ends within seconds. */
  constructor(private readonly ask: () => Promise<boolean>) {
    this.timer = this.later()
  }

  /** Whether the last question was answered. */
  get answers(): boolean {
    return !this.away
  }

  /**
   * Make sure that Postgres answers.
   *
   * returns  null when it did a moment ago; else resolves once it does.
   * errors   store_away (503): soon where it was away before.
   */
  proven(): Promise<void> | null {
    if (!this.away && performance.now() - this.provenAtMs < provenMs) return null
    const late = new Promise<boolean>(resolve => setTimeout(resolve, lateMs, false).unref())
    return (this.away ? Promise.race([this.look(), late]) : this.look()).then(answers => {
      if (!answers) throw new ServiceError('store_away', 'Postgres is away; try again')
    })
  }

  /** A connection was closed: whether Postgres is there is not known any more. */
  doubt(): void {
    this.provenAtMs = Number.NEGATIVE_INFINITY
  }

  async stop(): Promise<void> {
    this.stopped = true
    clearTimeout(this.timer)
    await this.asking
  }

  private look(): Promise<boolean> {
    this.asking ??= this.ask().then(answers => {
      this.asking = null
      this.away = !answers
      if (answers) this.provenAtMs = performance.now()
      return answers
    })
    return this.asking
  }

  private later(): NodeJS.Timeout {
    const again = async (): Promise<void> => {
      await this.look()
      if (!this.stopped) this.timer = this.later()
    }
    return setTimeout(() => void again(), this.away ? againMs : idleMs)
  }
}
