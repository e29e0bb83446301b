// Asks one route at a steady rate, whatever the answers take, and tells how long they took. A process of its own.
// Arguments: port, path, file of the body, requests a second, seconds, connections. Prints one line of JSON.
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { secret } from '../product.js'

/** What it prints; times of those answered, ms. */
export interface Paced {
  readonly answered: number
  readonly refused: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

const [port, path, bodyFile, rate, seconds, connections] = process.argv.slice(2)
const body = readFileSync(bodyFile!)
const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nX-Service-Api-Key: ${secret}\r\n\r\n`
/** What each asks: put together once, so that who measures takes little of the cores it shares with whom it measures. */
const asked = Buffer.concat([Buffer.from(head), body])
const tookMs: number[] = []
let sent = 0
let refused = 0
let open = 0
let ended = false
const warmUpMs = 500
const begunMs = performance.now()
const endMs = begunMs + warmUpMs + Number(seconds) * 1_000

/** Connections that wait for nothing, and when those were due that wait for one. */
const free: Connection[] = []
const due: number[] = []

/** One request at a time. */
class Connection {
  private readonly socket: Socket
  private sentMs = 0
  private ok = false
  /** Bytes of the answer that are still to come; -1 while its head is. */
  private left = -1

  constructor() {
    this.socket = connect(Number(port), '127.0.0.1', () => this.next())
    this.socket.setNoDelay(true)
    this.socket.on('data', chunk => this.take(chunk))
    this.socket.on('error', () => {})
    this.socket.on('close', () => this.leave())
  }

  ask(sentMs: number): void {
    this.sentMs = sentMs
    this.left = -1
    this.socket.write(asked)
  }

  close(): void {
    this.socket.destroy()
  }

  private next(): void {
    const dueMs = due.shift()
    if (dueMs === undefined) free.push(this)
    else this.ask(dueMs)
  }

  private take(chunk: Buffer): void {
    let { length } = chunk
    if (this.left < 0) {
      // a head comes whole: it is a few hundred bytes, written at once
      const end = chunk.indexOf('\r\n\r\n') + 4
      const text = chunk.toString('latin1', 0, end)
      this.ok = text.startsWith('HTTP/1.1 2')
      this.left = Number(/content-length: (\d+)/i.exec(text)?.[1])
      length -= end
    }
    this.left -= length
    if (this.left > 0) return
    done(this.sentMs, this.ok)
    this.sentMs = 0
    this.next()
  }

  // A connection that is lost takes its request with it, and another takes its place.
  private leave(): void {
    if (this.sentMs > 0) done(this.sentMs, false)
    const place = free.indexOf(this)
    if (place >= 0) free.splice(place, 1)
    if (!ended) all.push(new Connection())
  }
}

const all = Array.from({ length: Number(connections) }, () => new Connection())

// From when it is sent, and waiting for a free connection counts: a service that stops cannot stop the clock.
function ask(): void {
  const sentMs = performance.now()
  open++
  const connection = free.pop()
  if (connection === undefined) due.push(sentMs)
  else connection.ask(sentMs)
}

function done(sentMs: number, ok: boolean): void {
  open--
  if (!ok) refused++
  else if (sentMs >= begunMs + warmUpMs) tookMs.push(performance.now() - sentMs)
  if (ended && open === 0) tell()
}

function tell(): void {
  for (const connection of all) connection.close()
  tookMs.sort((a, b) => a - b)
  const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(share * tookMs.length))] ?? 0
  const told: Paced = {
    answered: tookMs.length,
    refused,
    perSecond: tookMs.length / Number(seconds),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
  }
  process.stdout.write(`${JSON.stringify(told)}\n`)
}

const pace = setInterval(() => {
  const nowMs = performance.now()
  if (nowMs >= endMs) {
    clearInterval(pace)
    ended = true
    if (open === 0) tell()
    return
  }
  for (const total = ((nowMs - begunMs) * Number(rate)) / 1_000; sent < total; sent++) ask()
}, 1)
