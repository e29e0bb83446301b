// A scheduler for long bodies: a limited amount per turn of the event loop, with checks first. A small request then
// waits for one long body at most. A turn lets pending checks complete first, because a check would otherwise wait
// for a turn twice: before it is sent to its shard, and after its reply.

/** Bodies of this size and more are long: parsing one takes 0.05 ms and more. */
export const longBytes = 8_192

/** Bytes per turn, or one larger body: about half a millisecond of work. */
const turnBytes = 49_152

/** How long a turn waits for checks, ms. A check that must load its company takes longer. */
const usualMs = 1

interface Waiting {
  readonly bytes: number
  readonly work: () => void
}

export class LongBodies {
  private waiting: Waiting[] = []
  /** Bodies of unauthenticated callers: one per turn, when no other waits. */
  private last: Waiting[] = []
  /** Checks sent to a shard so far, and how many were answered. */
  private asked = 0
  private answered = 0
  /** While a turn waits: the number of answers it waits for, which is the number of checks sent when it came. */
  private until = Number.POSITIVE_INFINITY
  private gaveWay = false
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly givesWayMs = usualMs) {}

  /** Checks in flight. */
  get checks(): number {
    return this.asked - this.answered
  }

  /** Queue the work for a body, in order, for a later turn. `work` must not throw. */
  add(bytes: number, work: () => void): void {
    this.waiting.push({ bytes, work })
    if (this.waiting.length + this.last.length === 1) setImmediate(this.turn)
  }

  /** add, after everything that `add` was or will be given. */
  addLast(bytes: number, work: () => void): void {
    this.last.push({ bytes, work })
    if (this.waiting.length + this.last.length === 1) setImmediate(this.turn)
  }

  /** A check is sent to its shard. Call `checked` once when it is answered or fails. */
  checking(): void {
    this.asked++
  }

  checked(): void {
    this.answered++
    if (this.answered < this.until) return
    this.until = Number.POSITIVE_INFINITY
    clearTimeout(this.timer)
    setImmediate(this.turn)
  }

  // Between two turns the event loop reads its sockets.
  private readonly turn = (): void => {
    if (this.givesWay()) return
    if (this.waiting.length === 0) {
      const { work } = this.last.shift()!
      work()
      if (this.waiting.length + this.last.length > 0) setImmediate(this.turn)
      return
    }
    let done = 0
    for (let bytes = 0; done < this.waiting.length; done++) {
      bytes += this.waiting[done]!.bytes
      if (done > 0 && bytes > turnBytes) break
      this.waiting[done]!.work()
    }
    this.waiting = this.waiting.slice(done)
    if (this.waiting.length + this.last.length > 0) setImmediate(this.turn)
  }

  /**
   * Whether the turn waits for checks in flight. Only once, so that a constant stream of checks does not block it.
   */
  private givesWay(): boolean {
    this.until = Number.POSITIVE_INFINITY
    this.gaveWay = !this.gaveWay && this.checks > 0
    if (!this.gaveWay) return false
    this.until = this.asked
    this.timer = setTimeout(this.turn, this.givesWayMs)
    return true
  }
}
