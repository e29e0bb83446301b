// A subscriber of the data stream that reads as little as can be: a client that parses is slower than what it measures,
// and takes more of the cores it shares with it.
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { secret } from '../product.js'

/** Told of every frame, with its text if it was asked for. */
export type HeardFrame = (text: string) => void

const textFrame = 0x81
const pingFrame = 0x89
const headEnd = Buffer.from('\r\n\r\n')

export class StreamSocket {
  heard: HeardFrame = () => {}
  private pieces: Buffer = Buffer.alloc(0)
  private isOpen = false

  private constructor(
    private readonly socket: Socket,
    private readonly opened: () => void,
    /** Whether frames are told with their texts. */
    readonly reads: boolean,
  ) {
    socket.on('data', piece => this.take(piece))
  }

  /** errors: those of the connection, and an Error with the answer where the upgrade is refused. */
  static open(port: number, reads = false): Promise<StreamSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      const stream: StreamSocket = new StreamSocket(socket, () => resolve(stream), reads)
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`closed: ${stream.pieces.toString().slice(0, 200)}`)))
      socket.on('connect', () =>
        socket.write(
          `GET /datastream HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
            `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n` +
            `Sec-WebSocket-Protocol: tollgate\r\nX-Service-Api-Key: ${secret}\r\n\r\n`,
        ),
      )
    })
  }

  ask(data: object): void {
    const text = Buffer.from(JSON.stringify({ data }))
    const head =
      text.length < 126
        ? Buffer.from([textFrame, 0x80 | text.length, 0, 0, 0, 0])
        : Buffer.from([textFrame, 0x80 | 126, text.length >> 8, text.length & 255, 0, 0, 0, 0])
    this.socket.write(Buffer.concat([head, text]))
  }

  /** Resolves with the next frames. */
  next(count: number): Promise<readonly string[]> {
    return new Promise(resolve => {
      const texts: string[] = []
      this.heard = text => {
        texts.push(text)
        if (texts.length < count) return
        this.heard = () => {}
        resolve(texts)
      }
    })
  }

  end(): void {
    this.socket.destroy()
  }

  private take(piece: Buffer): void {
    this.pieces = this.pieces.length === 0 ? piece : Buffer.concat([this.pieces, piece])
    if (!this.isOpen) {
      const end = this.pieces.indexOf(headEnd)
      if (end < 0) return
      if (!this.pieces.subarray(0, end).toString().startsWith('HTTP/1.1 101')) {
        this.socket.end()
        return
      }
      this.pieces = this.pieces.subarray(end + headEnd.length)
      this.isOpen = true
      this.opened()
    }
    for (;;) {
      const { pieces } = this
      if (pieces.length < 2) return
      const short = pieces[1]! & 127
      const head = short < 126 ? 2 : short === 126 ? 4 : 10
      if (pieces.length < head) return
      const length =
        short < 126 ? short : short === 126 ? pieces.readUInt16BE(2) : Number(pieces.readBigUInt64BE(2))
      if (pieces.length < head + length) return
      this.pieces = pieces.subarray(head + length)
      if (pieces[0] === pingFrame) continue
      this.heard(this.reads ? pieces.subarray(head, head + length).toString() : '')
    }
  }
}
