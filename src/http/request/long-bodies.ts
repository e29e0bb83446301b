// Bodies that take long to be dealt with: a little of them in every turn of the loop, and checks first. Whoever asks for
// little in between waits for one of them at most, not for all that came together. A check on its way to its shard is
// answered before the next one's turn: it would wait for that before it leaves, and again when it has come back.

/** From this size on a body is one that takes long: half a tenth of a millisecond and more, as events. */
export const longBytes = 8_192

/** Bytes dealt with in one turn, or one body where that is larger: as events about half a millisecond. */
const turnBytes = 49_152

/** How long a turn waits for checks, ms: one whose company must be loaded first takes longer. */
const usualMs = 1

interface Waiting {
  readonly bytes: number
  readonly work: () => void
}

export class LongBodies {
  private waiting: Waiting[] = []
  /** Of callers who have shown no key yet: dealt with, one a turn, while no other waits. */
  private last: Waiting[] = []
  /** Checks that went to a shard so far, and how many of them have been answered. */
  private asked = 0
  private answered = 0
  /** Set while a turn waits: for as many answers as had been asked for when it came. */
  private until = Number.POSITIVE_INFINITY
  private gaveWay = false
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly givesWayMs = usualMs) {}

  /** Checks under way. */
  get checks(): number {
    return this.asked - this.answered
  }

  /** Have a body of so many bytes dealt with in the order they came; never at once. `work` must not throw. */
  add(bytes: number, work: () => void): void {
    this.waiting.push({ bytes, work })
    if (this.waiting.length + this.last.length === 1) setImmediate(this.turn)
  }

  /** The same behind all that `add` was or will be given. */
  addLast(bytes: number, work: () => void): void {
    this.last.push({ bytes, work })
    if (this.waiting.length + this.last.length === 1) setImmediate(this.turn)
  }

  /** A check goes to its shard; `checked` is to be called once, whatever becomes of it. */
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

  // Between two turns the loop reads what its sockets have.
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

  /** Whether the turn waits for the checks under way: once, so that it comes where there are always some. */
  private givesWay(): boolean {
    this.until = Number.POSITIVE_INFINITY
    this.gaveWay = !this.gaveWay && this.checks > 0
    if (!this.gaveWay) return false
    this.until = this.asked
    this.timer = setTimeout(this.turn, this.givesWayMs)
    return true
  }
}
