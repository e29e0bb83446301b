// Answers that their readers have not taken: their bytes are kept until they are, so they are bounded together, and shared by
// environments (security H1).
import { ByteShares } from '../../../turns/byte-shares.js'
import type { AppResponse } from '../apps/app.js'
import { sendLarge } from './streamed-response.js'

/** Bytes of all of them, of which an environment has three quarters at most. source: decision */
const unreadBytesMax = 268_435_456
/** One answer counts as this part of them at most: the longest may be read slowly while few others are. */
const largestPart = 4

export class UnreadAnswers {
  private readonly bytesMax: number
  private readonly shares: ByteShares

  /** threads: those that take connections. Each has an equal part of the bytes. */
  constructor(threads: number) {
    this.bytesMax = Math.floor(unreadBytesMax / threads)
    this.shares = new ByteShares(this.bytesMax)
  }

  /** Bytes that wait. */
  get held(): number {
    return this.shares.held
  }

  /**
   * Send a body that may not fit the socket at once. Where too much waits for readers of its group already, the connection is
   * cut in a later turn.
   *
   * ended    called when its last byte is sent, if that is later.
   * returns  null: it is sent; else what must hear that it was sent, or that its reader has left.
   */
  send(res: AppResponse, bytes: Uint8Array, group: string, ended: () => void): Unread | null {
    if (sendLarge(res, bytes, ended)) return null
    const counted = Math.min(bytes.length, this.bytesMax / largestPart)
    const hasRoom = this.shares.take(group, counted)
    const unread = new Unread(this.shares, group, hasRoom ? counted : 0)
    if (!hasRoom)
      setImmediate(() => {
        if (!unread.isOver) res.close()
      })
    return unread
  }
}

/** One answer on its way. */
export class Unread {
  isOver = false

  constructor(
    private readonly shares: ByteShares,
    private readonly group: string,
    private readonly counted: number,
  ) {}

  /** It was sent, or its reader has left. */
  over(): void {
    if (this.isOver) return
    this.isOver = true
    this.shares.give(this.group, this.counted)
  }
}
