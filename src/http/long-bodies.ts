// Bodies that take long to be dealt with: a little of them in every turn of the loop. Whoever asks for little in between
// waits for one of them at most, not for all that came together.

/** From this size on a body is one that takes long: half a tenth of a millisecond and more, as events. */
export const longBytes = 8_192

/** Bytes dealt with in one turn, or one body where that is larger: as events about half a millisecond. */
const turnBytes = 49_152

interface Waiting {
  readonly bytes: number
  readonly work: () => void
}

export class LongBodies {
  private waiting: Waiting[] = []

  /** Have a body of so many bytes dealt with in the order they came; never at once. `work` must not throw. */
  add(bytes: number, work: () => void): void {
    this.waiting.push({ bytes, work })
    if (this.waiting.length === 1) setImmediate(this.turn)
  }

  // Between two turns the loop reads what its sockets have.
  private readonly turn = (): void => {
    let done = 0
    for (let bytes = 0; done < this.waiting.length; done++) {
      bytes += this.waiting[done]!.bytes
      if (done > 0 && bytes > turnBytes) break
      this.waiting[done]!.work()
    }
    this.waiting = this.waiting.slice(done)
    if (this.waiting.length > 0) setImmediate(this.turn)
  }
}
