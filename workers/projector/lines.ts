// Lines for one insert, gathered in pieces: nothing that was gathered is copied again when there is more of it.

const pieceBytes = 1 << 20
const newline = 0x0a

/** Buffers that are reused: fresh memory costs the kernel more than the copy into it. */
export class Pieces {
  #free: Buffer[] = []
  #taken = 0

  /** Buffers that were taken and not released belong to the taker. */
  begin(): void {
    this.#taken = 0
  }

  take(): Buffer {
    this.#taken++
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(pieceBytes)
  }

  /** Nothing that was taken is looked at any more: keep as many as that, no more. */
  release(pieces: readonly Buffer[]): void {
    const kept = this.#free.concat(pieces)
    this.#free = kept.slice(0, this.#taken)
    this.begin()
  }
}

/** A line is never split between two buffers. */
export class Lines {
  readonly #pool: Pieces
  readonly #full: Buffer[] = []
  readonly #taken: Buffer[] = []
  #piece: Buffer = Buffer.alloc(0)
  #length = 0

  constructor(pool = new Pieces()) {
    this.#pool = pool
  }

  /** The pool's buffers that hold it. */
  get taken(): readonly Buffer[] {
    return this.#taken
  }

  /** Add the line in bytes [from, to). */
  add(bytes: Buffer, from: number, to: number): void {
    this.addWhole(bytes, from, to, 1)
    this.#piece[this.#length++] = newline
  }

  /** Lines that have their newlines; room is made for `more`. */
  addWhole(bytes: Buffer, from: number, to: number, more = 0): void {
    this.#reserve(to - from + more)
    bytes.copy(this.#piece, this.#length, from, to)
    this.#length += to - from
  }

  addText(line: string): void {
    this.#reserve(line.length * 3 + 1)
    this.#length += this.#piece.write(line, this.#length)
    this.#piece[this.#length++] = newline
  }

  /** Valid until the next change. */
  pieces(): readonly Buffer[] {
    return this.#length === 0 ? this.#full : [...this.#full, this.#piece.subarray(0, this.#length)]
  }

  /** Take out one line, counted from 0; gives its text. */
  remove(index: number): string {
    this.#close()
    for (let left = index, at = 0; at < this.#full.length; at++) {
      const piece = this.#full[at]!
      let start = 0
      for (; left > 0 && start < piece.length; left--) start = piece.indexOf(newline, start) + 1
      if (start === piece.length) continue
      const end = piece.indexOf(newline, start)
      const line = piece.toString('utf8', start, end)
      piece.copy(piece, start, end + 1)
      this.#full[at] = piece.subarray(0, piece.length - (end + 1 - start))
      return line
    }
    return ''
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#piece.length) return
    this.#close()
    if (more > pieceBytes) {
      this.#piece = Buffer.allocUnsafeSlow(more)
      return
    }
    this.#piece = this.#pool.take()
    this.#taken.push(this.#piece)
  }

  #close(): void {
    if (this.#length > 0) this.#full.push(this.#piece.subarray(0, this.#length))
    this.#piece = Buffer.alloc(0)
    this.#length = 0
  }
}
