// Streams a response of unknown length as fast as its reader takes it.
import type { AppResponse } from '../apps/app.js'
import { copyIfShared } from '../apps/copy-if-shared.js'

/** Larger responses may not fit the socket at once. */
export const largeLength = 65_536

/** Writes pieces to a response with written headers. It holds one piece besides the socket's buffer. */
export class StreamedResponse {
  private over = false
  private writable: (() => void) | null = null

  /** `ended` is called once: with null, or with the error that stopped the stream. */
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

  /** Write `first` and the rest. An error cuts the connection, so that an incomplete response is noticed. */
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

  /** The reader has disconnected: the response must not be used any more. */
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
 * Send a response that may not fit the socket at once.
 *
 * bytes    shared memory may be used again as soon as this returns.
 * ended    called when its last byte is sent, if that is later.
 * returns  whether it is sent already.
 */
export function sendLarge(res: AppResponse, bytes: Uint8Array, ended: () => void): boolean {
  const [, whole] = res.tryEnd(bytes, bytes.length)
  if (whole) return true
  const kept = copyIfShared(bytes)
  res.onWritable(offset => {
    const [taken, over] = res.tryEnd(kept.subarray(offset), kept.length)
    if (over) ended()
    return taken
  })
  return false
}
