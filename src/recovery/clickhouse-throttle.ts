// Throttle of the embedded ClickHouse: it gives way to requests entirely while it keeps up and no read is waiting.
import type { IdlePriority } from '../host/thread-priority.js'

/** Lag in seconds beyond which it gets its CPU share again: reads may be five seconds old (US-51). */
const behindSeconds = 4
const lookMs = 500
/** Time without lag and without reads before it gives way again. */
const quietMs = 2_000

interface YieldingOptions {
  readonly standby: IdlePriority
  /** The process; null while there is none. */
  readonly pid: () => number | null
  /** How far it is behind the journals, seconds. */
  readonly behind: () => number
  readonly lookMs?: number
  readonly quietMs?: number
}

export class Yielding {
  readonly #options: YieldingOptions
  readonly #looking: NodeJS.Timeout
  readonly #quietMs: number
  /** Statements that somebody waits for. */
  #asked = 0
  /** Whether it gives way, and the process that has this priority; a new process does not have it yet. */
  #yields = false
  #told: number | null = null
  /** Threads made during a change of priority may miss it: the change is made twice. */
  #again = false
  #busyMs: number

  constructor(options: YieldingOptions) {
    this.#options = options
    this.#quietMs = options.quietMs ?? quietMs
    this.#busyMs = performance.now()
    this.#looking = setInterval(() => this.#look(), options.lookMs ?? lookMs)
    this.#looking.unref()
  }

  /** Whether it gives way now. */
  get yields(): boolean {
    return this.#yields
  }

  /** A statement that somebody waits for begins (1), or has ended (-1). */
  asked(more: 1 | -1): void {
    this.#asked += more
    this.#busyMs = performance.now()
    if (this.#yields && this.#asked > 0) this.#turn(false)
  }

  /** It has its share again, for good. */
  async stop(): Promise<void> {
    clearInterval(this.#looking)
    this.#turn(false)
    await this.#options.standby.close()
  }

  #look(): void {
    const nowMs = performance.now()
    if (this.#asked > 0 || this.#options.behind() > behindSeconds) this.#busyMs = nowMs
    const yields = nowMs - this.#busyMs >= this.#quietMs
    if (yields !== this.#yields) this.#turn(yields)
    else if (this.#again || (yields && this.#options.pid() !== this.#told)) this.#tell(false)
  }

  #turn(yields: boolean): void {
    this.#yields = yields
    this.#tell(true)
  }

  #tell(again: boolean): void {
    const pid = this.#options.pid()
    this.#again = again
    this.#told = pid
    if (pid !== null) this.#options.standby.set(pid, this.#yields)
  }
}
