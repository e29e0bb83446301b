// Checks at a fixed rate, whatever becomes of them: each is timed from when it was due, so that a service which stands
// still for a second is seen by everyone who would have asked in it. Speaks HTTP itself: a client that parses is slower
// than what it measures.
import { connect, type Socket } from 'node:net'
import { secret } from '../product.js'

const tickMs = 1
/** Times are kept in steps of a fiftieth of a millisecond, up to a minute. */
const stepsPerMs = 50
const slowestMs = 60_000

/** Times of requests. */
export class Times {
  private readonly counts = new Uint32Array(slowestMs * stepsPerMs + 1)
  count = 0
  slowestMs = 0

  add(ms: number): void {
    this.counts[Math.min(this.counts.length - 1, Math.floor(ms * stepsPerMs))]!++
    this.count++
    this.slowestMs = Math.max(this.slowestMs, ms)
  }

  /** The time that this share of the requests took at most, ms. */
  quantile(share: number): number {
    let left = Math.ceil(this.count * share)
    for (let step = 0; step < this.counts.length; step++) {
      left -= this.counts[step]!
      if (left <= 0) return (step + 1) / stepsPerMs
    }
    return slowestMs
  }
}

interface Connection {
  readonly socket: Socket
  /** When the request under way was due, ms; null while it is idle. */
  dueMs: number | null
  heard: string
}

export class Pacer {
  times = new Times()
  /** Answers that were no 200, by status. */
  readonly wrong = new Map<string, number>()
  private readonly connections: Connection[] = []
  private readonly idle: Connection[] = []
  /** When requests were due that found no connection free; from `first` on. */
  private waiting: number[] = []
  private first = 0
  private readonly request: Buffer
  /** Requests a second; null: as many as there are connections, each after the one before. */
  private perSecond: number | null = null
  private timer: NodeJS.Timeout | null = null
  private ending = false

  constructor(path: string, body: string) {
    this.request = Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Service-Api-Key: ${secret}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  }

  async open(port: number, connections: number): Promise<void> {
    for (let index = 0; index < connections; index++) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      await new Promise((resolve, reject) =>
        socket.once('connect', () => resolve(null)).once('error', reject),
      )
      const connection: Connection = { socket, dueMs: null, heard: '' }
      socket.on('data', data => this.hear(connection, data))
      socket.on('close', () => this.closed())
      this.connections.push(connection)
      this.idle.push(connection)
    }
  }

  /** Send at this rate from now on. */
  start(perSecond: number | null): void {
    this.stop()
    this.perSecond = perSecond
    this.times = new Times()
    if (perSecond === null) {
      for (const connection of this.idle.splice(0)) this.send(connection, performance.now())
      return
    }
    const begunMs = performance.now()
    let sent = 0
    this.timer = setInterval(() => {
      const due = Math.floor(((performance.now() - begunMs) * perSecond) / 1_000)
      for (; sent < due; sent++) this.ask(begunMs + (sent * 1_000) / perSecond)
    }, tickMs)
  }

  /** Send no more; what is under way is still heard. */
  stop(): void {
    this.perSecond = 0
    if (this.timer) clearInterval(this.timer)
    this.timer = null
  }

  close(): void {
    this.ending = true
    this.stop()
    for (const { socket } of this.connections) socket.destroy()
  }

  private ask(dueMs: number): void {
    const connection = this.idle.pop()
    if (connection) this.send(connection, dueMs)
    else this.waiting.push(dueMs)
  }

  private send(connection: Connection, dueMs: number): void {
    connection.dueMs = dueMs
    connection.socket.write(this.request)
  }

  private hear(connection: Connection, data: Buffer): void {
    connection.heard += data.toString('latin1')
    const head = connection.heard.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = Number(/content-length: (\d+)/i.exec(connection.heard)?.[1] ?? 0)
    if (connection.heard.length < head + 4 + length) return
    const status = connection.heard.slice(9, 12)
    connection.heard = ''
    if (status !== '200') this.wrong.set(status, (this.wrong.get(status) ?? 0) + 1)
    this.times.add(performance.now() - connection.dueMs!)
    connection.dueMs = null
    if (this.perSecond === null) return this.send(connection, performance.now())
    const next = this.waiting[this.first]
    if (next === undefined) {
      this.idle.push(connection)
      return
    }
    if (++this.first === this.waiting.length) {
      this.waiting = []
      this.first = 0
    }
    this.send(connection, next)
  }

  private closed(): void {
    if (!this.ending) this.wrong.set('closed', (this.wrong.get('closed') ?? 0) + 1)
  }
}
