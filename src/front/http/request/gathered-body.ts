// A body that comes in pieces, in one memory: pieces kept one by one would take some 200 bytes each beside their own, and a caller
// may send a byte in each (security H1).
import { Buffer } from 'node:buffer'

export class GatheredBody {
  private bytes: Buffer
  private length = 0

  /** announced: bytes by its Content-Length; not a number, or less than come, where that is not known. */
  constructor(private readonly announced: number) {
    this.bytes = Buffer.alloc(0)
  }

  /** The bytes of a piece are copied. */
  add(piece: ArrayBuffer): void {
    const needed = this.length + piece.byteLength
    if (needed > this.bytes.length) {
      const twice = Math.max(needed, 2 * this.bytes.length)
      const larger = Buffer.allocUnsafeSlow(
        this.announced >= needed ? Math.min(twice, this.announced) : twice,
      )
      this.bytes.copy(larger, 0, 0, this.length)
      this.bytes = larger
    }
    this.bytes.set(new Uint8Array(piece), this.length)
    this.length = needed
  }

  /** All of it, with memory of its own. */
  whole(): Buffer {
    if (this.length === this.bytes.length) return this.bytes
    const own = Buffer.allocUnsafeSlow(this.length)
    this.bytes.copy(own, 0, 0, this.length)
    return own
  }
}
