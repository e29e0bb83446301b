// Keeps one projection going: waits for records, gathers a little, tries again after failures without end.
import type { Sequence } from '../../src/journal/journal.js'
import type { Positions } from '../../src/wire/positions.js'
import type { ProjectedStore } from '../../src/wire/projector-messages.js'
import { PositionMoved } from './chunks.js'

/** One shard's journal into one store. */
export interface Projection {
  readonly store: ProjectedStore
  readonly shard: number
  /** Sequence up to which records are in the store, as far as is known. */
  readonly position: Sequence
  /** Whether something is to be written though no record is new. */
  readonly owes: boolean
  /**
   * Project the next chunk up to `upTo`; after it, `position` has moved. Rejects when the store is away; the same
   * chunk is then tried again.
   */
  project(upTo: Sequence): Promise<void>
  /** Write everything held back; before a stop. */
  finish(): Promise<void>
  /** No chunk is begun from now on, not even one that waits for its turn. */
  abandon?(): void
  /** Write last-seen times up to this sequence as soon as they are gathered. */
  wantSeen?(sequence: Sequence): void
}

export interface StreamOptions {
  readonly positions: Positions
  /** Longest time that so many records gather before they are projected, when no caller waits, ms. */
  readonly gatherMs: (records: number) => number
  /** Records at which gathering ends early. */
  readonly gatherMax: number
  readonly retryMinMs: number
  readonly retryMaxMs: number
  readonly now: () => number
  /** Begin nothing before `release`. */
  readonly held?: boolean
  readonly moved: (projection: Projection) => void
  /** The first failure of a series, and its end. */
  readonly failing: (projection: Projection, error: unknown) => void
  readonly recovered: (projection: Projection) => void
  /** Every attempt that moved the position, and every one that failed. */
  readonly attempted?: (projection: Projection, attempt: Attempt) => void
}

export interface Attempt {
  /** Records that are in the store since. */
  readonly records: number
  readonly failed: boolean
  readonly ms: number
}

export class Stream {
  readonly #projection: Projection
  readonly #options: StreamOptions
  #wanted: Sequence = 0
  #stopping = false
  #held = false
  /** The attempt under way. */
  #attempting: Promise<void> = Promise.resolve()
  #wake: (() => void) | null = null
  #firstNewMs: number | null = null
  #fails = 0
  #toldFailing = false
  #abandoned = false
  // The first attempt reads the stored position, whether or not there is anything to project.
  #started = false
  readonly ended: Promise<void>

  constructor(projection: Projection, options: StreamOptions) {
    this.#projection = projection
    this.#options = options
    this.#held = options.held ?? false
    this.ended = this.#run()
  }

  /** Somebody waits for this sequence: project now, also in the middle of a pause. */
  want(sequence: Sequence): void {
    this.#wanted = Math.max(this.#wanted, sequence)
    this.poke()
  }

  /** Somebody waits for the last-seen times up to this sequence. */
  wantSeen(sequence: Sequence): void {
    this.#projection.wantSeen?.(sequence)
    this.want(sequence)
  }

  /** Look again. */
  poke(): void {
    this.#wake?.()
  }

  /** Begin nothing more; resolves when the attempt in progress has ended, well or not. */
  hold(): Promise<void> {
    this.#held = true
    return this.#attempting
  }

  /** Go on after a hold. */
  release(): void {
    this.#held = false
    this.poke()
  }

  /** Project everything committed, then end; with `now`, end after the attempt in progress. */
  stop(now: boolean): void {
    this.#held = false
    this.#stopping = true
    this.#abandoned ||= now
    if (now) this.#projection.abandon?.()
    this.poke()
  }

  async #run(): Promise<void> {
    for (;;) {
      const committed = this.#options.positions.get(this.#projection.shard, 'committed')
      if (this.#abandoned) return
      if (this.#held) await this.#pause(idleMs)
      else if (this.#due(committed)) await this.#attempt(committed)
      else if (this.#stopping) break
      else await this.#pause(this.#waitMs(committed))
    }
    await this.#projection.finish().catch(() => {})
  }

  #due(committed: Sequence): boolean {
    const { position, owes } = this.#projection
    if (committed <= position) {
      this.#firstNewMs = null
      return owes || !this.#started
    }
    this.#firstNewMs ??= this.#options.now()
    if (this.#stopping || this.#wanted > position || !this.#started) return true
    const records = committed - position
    if (records >= this.#options.gatherMax) return true
    return this.#options.now() - this.#firstNewMs >= this.#options.gatherMs(records)
  }

  async #attempt(committed: Sequence): Promise<void> {
    const from = this.#stored
    const beganMs = performance.now()
    const projecting = this.#projection.project(committed)
    this.#attempting = projecting.catch(() => {})
    try {
      await projecting
      this.#tell(from, beganMs, false)
      this.#started = true
      this.#firstNewMs = null
      if (this.#toldFailing) this.#options.recovered(this.#projection)
      this.#toldFailing = false
      this.#fails = 0
      this.#options.moved(this.#projection)
    } catch (error) {
      if (this.#abandoned) return
      this.#tell(from, beganMs, true)
      // A shard's former owner may have ended its chunk in between: the next attempt reads the position again.
      const moved = error instanceof PositionMoved && this.#fails === 0
      if (!moved && !this.#toldFailing) {
        this.#toldFailing = true
        this.#options.failing(this.#projection, error)
      }
      this.#fails++
      const { retryMinMs, retryMaxMs } = this.#options
      await this.#pause(Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(20, this.#fails - 1)), true)
    }
  }

  /** The store's position, also while the projection does not know its own. */
  get #stored(): Sequence {
    const { store, shard } = this.#projection
    return this.#options.positions.get(shard, store)
  }

  #tell(from: Sequence, beganMs: number, failed: boolean): void {
    const records = this.#stored - from
    if (records === 0 && !failed) return
    this.#options.attempted?.(this.#projection, { records, failed, ms: performance.now() - beganMs })
  }

  #waitMs(committed: Sequence): number {
    const records = committed - this.#projection.position
    if (records <= 0 || this.#firstNewMs === null) return idleMs
    const dueMs = this.#firstNewMs + this.#options.gatherMs(records)
    return Math.max(1, Math.min(idleMs, dueMs - this.#options.now()))
  }

  /** `fixed`: wanted records do not end it, or callers would hammer a store that is away. */
  #pause(ms: number, fixed = false): Promise<void> {
    return new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer)
        this.#wake = null
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#wake = () => {
        if (!fixed || this.#abandoned) done()
      }
    })
  }
}

/** How often a stream without work looks whether the shard has committed more. */
const idleMs = 50
