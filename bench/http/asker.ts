// Asks one route over connections that are kept, and at a steady rate. Speaks HTTP itself: a client that parses is slower
// than what it measures, and takes more of the cores it shares with it.
import { connect, type Socket } from 'node:net'
import { bytesOf } from '../population/prepared.js'

const tickMs = 1

/** Called at the end of each request: its status, or `closed` when the connection was lost. */
type Heard = (status: string, begunMs: number) => void

interface Connection {
  readonly socket: Socket
  /** When the time of the request under way begins; null while it is idle. */
  begunMs: number | null
  status: string
  /** Bytes of the answer that are still to come; -1 while its head is. */
  left: number
}

/**
 * One request at a time on each connection; those that find none free wait for one, first come, first served. A
 * request's time begins at the instant given to `ask`, so waiting counts: a stalled service cannot stop the clock.
 * The pacer gives the due time, paced.ts the real time of sending; the ticks of the timer are between the two.
 */
export class Asker {
  private readonly connections = new Set<Connection>()
  private readonly idle: Connection[] = []
  /** Times of requests that found no connection free; from `first` on. */
  private waiting: number[] = []
  private first = 0
  private port = 0
  private ending = false

  /**
   * next  the bytes of the next request; they are written before it is called again.
   * lost  called for connections that were lost while they were idle.
   */
  constructor(
    private readonly next: () => Buffer,
    private readonly heard: Heard,
    private readonly lost: () => void = () => {},
  ) {}

  async open(port: number, connections: number): Promise<void> {
    this.port = port
    await Promise.all(Array.from({ length: connections }, () => this.connected()))
  }

  ask(begunMs: number): void {
    // the one that was idle longest: at all but low rates none is idle until the server closes it
    const connection = this.idle.shift()
    if (connection) this.send(connection, begunMs)
    else this.waiting.push(begunMs)
  }

  close(): void {
    this.ending = true
    for (const { socket } of this.connections) socket.destroy()
  }

  /** Resolves once it is connected; rejects when it cannot be. */
  private connected(): Promise<void> {
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true })
    const connection: Connection = { socket, begunMs: null, status: '', left: -1 }
    this.connections.add(connection)
    socket.on('data', chunk => this.take(connection, chunk))
    socket.on('close', () => this.closed(connection))
    return new Promise((resolve, reject) => {
      socket.on('error', reject)
      socket.once('connect', () => {
        this.free(connection)
        resolve()
      })
    })
  }

  private send(connection: Connection, begunMs: number): void {
    connection.begunMs = begunMs
    connection.left = -1
    connection.socket.write(this.next())
  }

  private take(connection: Connection, chunk: Buffer): void {
    let { length } = chunk
    if (connection.left < 0) {
      // a head comes whole: it is a few hundred bytes, written at once
      const end = chunk.indexOf('\r\n\r\n') + 4
      const head = chunk.toString('latin1', 0, end)
      connection.status = head.slice(9, 12)
      connection.left = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      length -= end
    }
    connection.left -= length
    if (connection.left > 0) return
    const begunMs = connection.begunMs!
    connection.begunMs = null
    this.heard(connection.status, begunMs)
    this.free(connection)
  }

  private free(connection: Connection): void {
    const begunMs = this.waiting[this.first]
    if (begunMs === undefined) {
      this.idle.push(connection)
      return
    }
    if (++this.first === this.waiting.length) {
      this.waiting = []
      this.first = 0
    }
    this.send(connection, begunMs)
  }

  // A connection that is lost takes its request with it, and another takes its place.
  private closed(connection: Connection): void {
    this.connections.delete(connection)
    if (this.ending) return
    const place = this.idle.indexOf(connection)
    if (place >= 0) this.idle.splice(place, 1)
    if (connection.begunMs === null) this.lost()
    else this.heard('closed', connection.begunMs)
    // one that cannot be made is closed as well, and tried again
    if (!this.ending) this.connected().catch(() => {})
  }
}

/** One request again and again. */
export function constantly(path: string, body: string): () => Buffer {
  const request = Buffer.from(bytesOf(`POST ${path}`, body))
  return () => request
}

/** Call `ask` so many times a second, each with when it was due; returns what ends it. */
export function atRate(perSecond: number, ask: (dueMs: number) => void): () => void {
  const begunMs = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - begunMs) * perSecond) / 1_000)
    for (; sent < due; sent++) ask(begunMs + (sent * 1_000) / perSecond)
  }, tickMs)
  return () => clearInterval(timer)
}
