// Lines for one insert, gathered in one growing buffer.

export class Lines {
  #bytes = Buffer.allocUnsafe(64 << 10)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(line: Buffer): void {
    this.#reserve(line.length + 1)
    line.copy(this.#bytes, this.#length)
    this.#end(line.length)
  }

  /** Lines that have their newlines. */
  addWhole(lines: Buffer): void {
    this.#reserve(lines.length)
    lines.copy(this.#bytes, this.#length)
    this.#length += lines.length
  }

  addText(line: string): void {
    this.#reserve(line.length * 3 + 1)
    this.#end(this.#bytes.write(line, this.#length))
  }

  /** Valid until the next change. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Take out one line, counted from 0; gives its text. */
  remove(index: number): string {
    const bytes = this.bytes()
    let start = 0
    for (let i = 0; i < index; i++) start = bytes.indexOf(newline, start) + 1
    const end = bytes.indexOf(newline, start)
    const line = bytes.toString('utf8', start, end)
    bytes.copy(bytes, start, end + 1)
    this.#length -= end + 1 - start
    return line
  }

  #end(length: number): void {
    this.#length += length
    this.#bytes[this.#length++] = newline
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + more))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

const newline = 0x0a
