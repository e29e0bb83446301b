// An answer of unknown length on its way out: written as its reader takes it, never gathered.
import type { AppResponse } from '../apps/app.js'

/** Writes pieces to a response whose head is written. Holds one piece at a time beside what the socket buffers. */
export class Outflow {
  private over = false
  private writable: (() => void) | null = null

  /** `ended` hears once how it ended: null, or what made the rest impossible. */
  constructor(
    private readonly res: AppResponse,
    private readonly pieces: AsyncIterator<Uint8Array>,
    private readonly ended: (error: unknown) => void,
  ) {
    res.onWritable(() => {
      this.writable?.()
      return true
    })
  }

  /** Write `first` and what follows. A failure cuts the connection, so that no reader takes a part for the whole. */
  async run(first: IteratorResult<Uint8Array>): Promise<void> {
    try {
      for (let next = first; !this.over && next.done !== true; next = await this.pieces.next())
        await this.write(next.value)
      if (this.over) return
      this.over = true
      this.res.cork(() => this.res.end())
      void this.pieces.return?.().catch(() => {})
      this.ended(null)
    } catch (error) {
      if (this.over) return
      this.over = true
      this.res.close()
      this.ended(error)
    }
  }

  /** The reader has left: the response must not be touched any more. */
  abort(): void {
    if (this.over) return
    this.over = true
    this.writable?.()
    void this.pieces.return?.().catch(() => {})
    this.ended(null)
  }

  private async write(piece: Uint8Array): Promise<void> {
    if (this.over || piece.length === 0) return
    let taken = true
    this.res.cork(() => {
      taken = this.res.write(piece)
    })
    if (taken) return
    await new Promise<void>(resolve => {
      this.writable = resolve
    })
    this.writable = null
  }
}

/**
 * Send an answer that may not fit the socket at once, as its reader takes it.
 *
 * ended    hears when its last byte has left, where that is later.
 * returns  whether it has left already.
 */
export function sendLarge(res: AppResponse, bytes: Uint8Array, ended: () => void): boolean {
  const [, whole] = res.tryEnd(bytes, bytes.length)
  if (whole) return true
  res.onWritable(offset => {
    const [taken, over] = res.tryEnd(bytes.subarray(offset), bytes.length)
    if (over) ended()
    return taken
  })
  return false
}
