// Latency of single checks while large batches come in: read by the HTTP thread itself (before), and on a thread of
// their own (after), turn by turn. Seconds of one turn, MiB of a body, senders, turns of each kind, and how long each
// sender rests between two bodies, ms: `node dist/bench/http/large-bodies.js 10 8 2 2 0`.
import { mkdirSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { cpuOf, post, secret, startProduct, stop } from '../product.js'
import { root } from '../record.js'

interface Told {
  readonly port: number
  readonly bytes: number
  readonly untilMs: number
  readonly restMs: number
  readonly name: string
}

/** Checks begin this often, whether or not the last one is answered. */
const everyMs = 4
const eventsPerBody = 10_000
const keyDigits = 9

if (isMainThread) await compare()
else await send(workerData as Told)

async function compare(): Promise<void> {
  const [seconds = 10, mebibytes = 8, senders = 2, turns = 2, restMs = 0] = process.argv.slice(2).map(Number)
  const work = join(root, 'data', `bench-${process.pid}`)
  mkdirSync(work, { recursive: true })
  try {
    for (let turn = 0; turn < turns; turn++)
      for (const threads of [0, 1]) {
        const product = await startProduct(join(work, `${turn}-${threads}`), {
          TOLLGATE_PARSE_THREADS: String(threads),
        })
        try {
          const flag = JSON.stringify({
            key: 'bench-flag',
            name: 'bench-flag',
            description: '',
            default_value: false,
            flag_type: 'boolean',
          })
          await post(product.port, '/flags', flag)
          const quiet = await checks(product.port, 2_000)
          const bytes = Math.min(Math.round(mebibytes * 2 ** 20), 8 * 2 ** 20)
          const before = cpuOf(product.child.pid!)
          const untilMs = Date.now() + seconds * 1_000
          const sending = Array.from({ length: senders }, (_, index) =>
            sender({ port: product.port, bytes, untilMs, restMs, name: `${turn}${index}` }),
          )
          const [waited, ...sent] = await Promise.all([checks(product.port, seconds * 1_000), ...sending])
          const after = cpuOf(product.child.pid!)
          const events = sent.reduce((sum, one) => sum + one, 0)
          console.log(
            `${threads === 0 ? 'before' : 'after '}: checks alone ${tell(quiet)}; ` +
              `with ${senders} × ${mebibytes} MiB at a time ${tell(waited)}; ` +
              `${Math.round(events / seconds).toLocaleString('en')} events/s, ` +
              `HTTP thread ${((after.httpUs - before.httpUs) / events).toFixed(2)} µs an event`,
          )
        } finally {
          await stop(product.child)
        }
      }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function sender(told: Told): Promise<number> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: told })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

/** Single checks at a steady pace; the latency of each, ms, ascending. */
async function checks(port: number, forMs: number): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const body = JSON.stringify({ company: { slug: 'co1' }, user: { id: 'someone' } })
  const waited: number[] = []
  const begunMs = performance.now()
  const under: Promise<void>[] = []
  for (let n = 0; n * everyMs < forMs; n++) {
    const dueMs = begunMs + n * everyMs
    const waitMs = dueMs - performance.now()
    if (waitMs > 0.5) await sleep(waitMs)
    // from when it was due: a check that could not begin has waited too
    under.push(
      ask(agent, port, '/flags/bench-flag/check', body).then(status => {
        if (status !== 200) throw new Error(`a check answered ${status}`)
        waited.push(performance.now() - Math.max(dueMs, begunMs))
      }),
    )
  }
  await Promise.all(under)
  agent.destroy()
  return waited.sort((a, b) => a - b)
}

function ask(agent: Agent, port: number, path: string, body: string | Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'X-Service-Api-Key': secret,
    }
    const asked = request({ agent, port, host: '127.0.0.1', path, method: 'POST', headers }, reply => {
      reply.on('end', () => resolve(reply.statusCode ?? 0)).resume()
    })
    asked.on('error', reject).end(body)
  })
}

function tell(waited: readonly number[]): string {
  const at = (share: number) => waited[Math.floor((waited.length - 1) * share)]!.toFixed(1)
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms`
}

/** Bodies one after the other, each event with its own key: its digits overwrite those of the last. */
async function send({ port, bytes, untilMs, restMs, name }: Told): Promise<void> {
  const filler = 'x'.repeat(Math.max(0, Math.floor(bytes / eventsPerBody) - 190))
  const mark = '0'.repeat(keyDigits)
  const events = Array.from({ length: eventsPerBody }, (_, index) => ({
    event_type: 'track',
    idempotency_key: `${name}-${mark}-${index}`,
    body: { event: 'api_call', company: { slug: `co${index % 1_000}` }, traits: { filler, at: index } },
  }))
  const body = Buffer.from(JSON.stringify({ events }))
  const places: number[] = []
  for (let at = body.indexOf(`-${mark}-`); at >= 0; at = body.indexOf(`-${mark}-`, at + 1))
    places.push(at + 1)
  const agent = new Agent({ keepAlive: true })
  let sent = 0
  for (let round = 1; Date.now() < untilMs; round++) {
    const digits = String(round).padStart(keyDigits, '0')
    for (const at of places) body.write(digits, at, 'latin1')
    const status = await ask(agent, port, '/event-batch', body)
    if (status === 201) sent += eventsPerBody
    else if (status === 503) await sleep(1_000)
    else throw new Error(`a batch answered ${status}`)
    if (restMs > 0) await sleep(restMs)
  }
  agent.destroy()
  parentPort!.postMessage(sent)
}
