// The standing of one context, kept current: all its checks, its plan and its credits. For pages and for anything that shows
// them.
import { reasonOf } from './errors.js'
import type { Change, Context } from './options.js'
import type { Checked } from './result.js'
import { unref } from './stream.js'

/** A company's balance of one credit. */
export interface CreditBalance {
  /** Credits that may be used. */
  readonly remaining: number
  readonly reserved?: number
  readonly settled?: number
}

/** All checks of a context from one moment. */
export interface Standing {
  readonly flags: readonly Checked[]
  readonly plan: { readonly id: string; readonly name?: string } | null
  /** By credit id. */
  readonly credits: Readonly<Record<string, CreditBalance>>
}

export interface WatchOptions {
  /** Shown until the first answer: as a server rendered it. */
  readonly initial?: Standing | null
  /** Interval between two questions while nothing is pushed, ms; 0: none. Default 30 000. */
  readonly pollMs?: number
}

/** One state of a watch. A change makes another object. */
export interface Watched {
  readonly standing: Standing | null
  readonly flags: ReadonlyMap<string, Checked>
  /** Why the last question was not answered; null: it was. */
  readonly error: string | null
}

/** The client as a watch uses it. */
interface Source {
  readonly connected: boolean
  standing(context: Context): Promise<Standing>
  onChange(listener: (change: Change) => void): () => void
}

/** Changes within this time are asked about once, ms; and pages do not ask all at the same moment. */
const gatherMs = 100

/** Keeps a standing current: asks at each change that the client hears of, and from time to time while it hears none. */
export class Watch {
  private state: Watched
  private readonly listeners = new Set<() => void>()
  private asking: Promise<void> | null = null
  private again = false
  private closed = false
  private timer: ReturnType<typeof setTimeout> | null = null
  private poll: ReturnType<typeof setInterval> | null = null
  private stop: (() => void) | null = null

  constructor(
    private readonly client: Source,
    readonly context: Context,
    private readonly options: WatchOptions = {},
  ) {
    const { initial = null } = options
    this.state = stateOf(initial, null)
  }

  /** The state now: the same object until something changes. */
  readonly current = (): Watched => this.state

  /** Hear of changes; the first subscription begins to ask. Returns the function that ends it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    this.start()
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) this.rest()
    }
  }

  /** Ask now. Resolves when the answer is in `current`. Never rejects: `error` says what was wrong. */
  refresh(): Promise<void> {
    if (this.asking !== null) this.again = true
    else this.asking = this.ask()
    return this.asking
  }

  close(): void {
    this.closed = true
    this.listeners.clear()
    this.rest()
  }

  private start(): void {
    if (this.closed || this.stop !== null) return
    this.stop = this.client.onChange(({ type }) => {
      if (type !== 'disconnected') this.soon()
    })
    const pollMs = this.options.pollMs ?? 30_000
    if (pollMs > 0) {
      this.poll = setInterval(() => {
        if (!this.client.connected) void this.refresh()
      }, pollMs)
      unref(this.poll)
    }
    void this.refresh()
  }

  private rest(): void {
    this.stop?.()
    this.stop = null
    if (this.poll !== null) clearInterval(this.poll)
    if (this.timer !== null) clearTimeout(this.timer)
    this.poll = null
    this.timer = null
  }

  private soon(): void {
    if (this.timer !== null) return
    this.timer = setTimeout(() => {
      this.timer = null
      void this.refresh()
    }, gatherMs * Math.random())
    unref(this.timer)
  }

  private async ask(): Promise<void> {
    do {
      this.again = false
      try {
        this.set(await this.client.standing(this.context), null)
      } catch (error) {
        this.set(this.state.standing, reasonOf(error))
      }
    } while (this.again && !this.closed)
    // In the same turn as the look at `again`: a question between the two would be lost.
    this.asking = null
  }

  private set(standing: Standing | null, error: string | null): void {
    const isSame =
      error === this.state.error && JSON.stringify(standing) === JSON.stringify(this.state.standing)
    if (isSame || this.closed) return
    this.state = stateOf(standing, error)
    for (const listener of [...this.listeners]) listener()
  }
}

function stateOf(standing: Standing | null, error: string | null): Watched {
  return { standing, flags: new Map(standing?.flags.map(one => [one.flag, one])), error }
}
