// Asks one route at a steady rate, whatever the answers take, and tells how long they took. A process of its own.
// Arguments: port, path, file of the body, requests a second, seconds, connections. Prints one line of JSON.
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
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
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
const options = {
  agent,
  host: '127.0.0.1',
  port: Number(port),
  path,
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'X-Service-Api-Key': secret,
  },
}
const tookMs: number[] = []
let sent = 0
let refused = 0
let open = 0
let ended = false
const warmUpMs = 500
const begunMs = performance.now()
const endMs = begunMs + warmUpMs + Number(seconds) * 1_000

// From when it is sent, and waiting for a free connection counts: a service that stops cannot stop the clock.
function ask(): void {
  const sentMs = performance.now()
  const counts = sentMs >= begunMs + warmUpMs
  open++
  const done = (ok: boolean) => {
    open--
    if (!ok) refused++
    else if (counts) tookMs.push(performance.now() - sentMs)
    if (ended && open === 0) tell()
  }
  const asked = request(options, reply => {
    reply.resume()
    reply.on('end', () => done(reply.statusCode! < 300))
  })
  asked.on('error', () => done(false))
  asked.end(body)
}

function tell(): void {
  agent.destroy()
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
  for (const due = ((nowMs - begunMs) * Number(rate)) / 1_000; sent < due; sent++) ask()
}, 1)
