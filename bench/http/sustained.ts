// Sustained load: batches for a while, from other threads to the service in a process of its own: events a second,
// how far the stores fall behind, memory. Seconds, events per batch, senders, events a second at most (0: as they are
// answered), 1 for events with idempotency keys: `node dist/bench/http/sustained.js 600 500 8 0 1`.
import { mkdirSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { residentMiB } from '../cpu.js'
import { cpuOf, secret, startProduct, stop } from '../product.js'
import { root } from '../record.js'

interface Told {
  readonly port: number
  readonly perBatch: number
  /** A batch is due this often, ms; 0: whenever the last is answered. */
  readonly everyMs: number
  readonly untilMs: number
  readonly name: string
  readonly keyed: boolean
}

interface Sent {
  readonly acknowledged: number
  readonly refused: number
}

const companies = 1_000
const keyDigits = 9
/** Senders of one thread: making batches must not take the cores of the service. */
const perThread = 4

if (isMainThread) await measure()
else await sendAll(workerData as Told[])

async function measure(): Promise<void> {
  const [seconds = 60, perBatch = 500, senders = 8, rate = 0, keyed = 1] = process.argv.slice(2).map(Number)
  const everySeconds = Math.max(5, Math.min(60, seconds / 10))
  const work = join(root, 'data', `bench-${process.pid}`)
  mkdirSync(work, { recursive: true })
  const product = await startProduct(join(work, 'data'), {})
  const pid = product.child.pid!
  try {
    const begunMs = Date.now()
    const untilMs = begunMs + seconds * 1_000
    const everyMs = rate === 0 ? 0 : (1_000 * perBatch * senders) / rate
    const told = Array.from({ length: senders }, (_, index) => ({
      port: product.port,
      perBatch,
      everyMs,
      untilMs,
      name: `s${index}`,
      keyed: keyed === 1,
    }))
    const tallies: Sent[] = told.map(() => ({ acknowledged: 0, refused: 0 }))
    const threads = Promise.all(
      Array.from({ length: Math.ceil(senders / perThread) }, (_, index) =>
        run(told.slice(index * perThread, (index + 1) * perThread), index * perThread, tallies),
      ),
    )
    threads.catch(() => {}) // the error is reported below
    let last = { ms: performance.now(), events: 0, cpu: cpuOf(pid) }
    while (Date.now() + 500 < untilMs) {
      await sleep(Math.min(everySeconds * 1_000, untilMs - Date.now()))
      const now = { ms: performance.now(), events: sum(tallies).acknowledged, cpu: cpuOf(pid) }
      const shown = await metrics(product.port)
      const events = now.events - last.events
      const perSecond = (events * 1_000) / (now.ms - last.ms)
      console.log(
        `${Math.round((Date.now() - begunMs) / 1_000)} s: ${Math.round(perSecond).toLocaleString('en')} events/s; ` +
          `behind: ${lagOf(shown, 'postgres')}, ${lagOf(shown, 'clickhouse')}; ` +
          `resident ${residentMiB(pid)} MiB (heap ${mebibytes(shown('nodejs_heap_size_used_bytes'))} of the HTTP thread, ` +
          `${mebibytes(shown('tollgate_actor_bytes'))} of the shards, outside ${mebibytes(shown('nodejs_external_memory_bytes'))}); ` +
          `${shown('tollgate_dedupe_keys').toLocaleString('en')} keys; journal kept ${mebibytes(shown('tollgate_journal_backlog_bytes'))} MiB; ` +
          `CPU of the HTTP thread ${((now.cpu.httpUs - last.cpu.httpUs) / events).toFixed(2)} µs an event`,
      )
      last = now
    }
    await threads
    const tookMs = Date.now() - begunMs
    const { acknowledged, refused } = sum(tallies)
    const endedMs = performance.now()
    while ((await metrics(product.port))('tollgate_projector_lag_records') > 0) await sleep(200)
    console.log(
      `${acknowledged.toLocaleString('en')} events in ${(tookMs / 1_000).toFixed(1)} s ` +
        `(${Math.round((acknowledged * 1_000) / tookMs).toLocaleString('en')} events/s, ${refused} refused); ` +
        `both stores had all of them ${((performance.now() - endedMs) / 1_000).toFixed(1)} s later`,
    )
    await sleep(10_000)
    console.log(`resident after ten seconds of rest: ${residentMiB(pid)} MiB`)
  } finally {
    await stop(product.child)
    rmSync(work, { recursive: true, force: true })
  }
}

function sum(tallies: readonly Sent[]): Sent {
  return tallies.reduce(
    (all, one) => ({ acknowledged: all.acknowledged + one.acknowledged, refused: all.refused + one.refused }),
    { acknowledged: 0, refused: 0 },
  )
}

function run(told: readonly Told[], from: number, tallies: Sent[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: told })
    worker.on('message', ({ index, sent }: { index: number; sent: Sent }) => {
      tallies[from + index] = sent
    })
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20)
}

/** The sum of the series of a family in /metrics that have this label. */
async function metrics(port: number): Promise<(name: string, label?: string) => number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const lines = text.split('\n')
  return (name, label = '') =>
    lines
      .filter(line => line.startsWith(name) && line.includes(label) && /[ {]/.test(line[name.length] ?? ''))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
}

function lagOf(shown: (name: string, label?: string) => number, store: string): string {
  const label = `"${store}"`
  const records = shown('tollgate_projector_lag_records', label)
  const seconds = shown('tollgate_projector_lag_seconds', label)
  return `${store} ${records.toLocaleString('en')} (${seconds.toFixed(1)} s)`
}

async function sendAll(told: readonly Told[]): Promise<void> {
  await Promise.all(told.map((one, index) => send(one, sent => parentPort!.postMessage({ index, sent }))))
  parentPort!.close()
}

/** Batches one after the other, each event with its own key: its digits overwrite those of the last. */
async function send(
  { port, perBatch, everyMs, untilMs, name, keyed }: Told,
  tell: (sent: Sent) => void,
): Promise<void> {
  const mark = '0'.repeat(keyDigits)
  const events = Array.from({ length: perBatch }, (_, index) => ({
    event_type: 'track',
    ...(keyed ? { idempotency_key: `${name}-${mark}-${index}` } : {}),
    body: { event: 'api_call', company: { slug: `co${index % companies}` } },
  }))
  const body = Buffer.from(JSON.stringify({ events }))
  const places: number[] = []
  for (let at = body.indexOf(`-${mark}-`); at >= 0; at = body.indexOf(`-${mark}-`, at + 1))
    places.push(at + 1)
  const agent = new Agent({ keepAlive: true })
  const begunMs = Date.now()
  let [acknowledged, refused] = [0, 0]
  for (let round = 1; Date.now() < untilMs; round++) {
    const waitMs = begunMs + round * everyMs - Date.now()
    if (everyMs > 0 && waitMs > 0) await sleep(waitMs)
    const digits = String(round).padStart(keyDigits, '0')
    for (const at of places) body.write(digits, at, 'latin1')
    const status = await post(agent, port, body)
    if (status === 201) acknowledged += perBatch
    else if (status === 503) {
      refused += perBatch
      await sleep(1_000)
    } else throw new Error(`a batch answered ${status}`)
    tell({ acknowledged, refused })
  }
  agent.destroy()
}

function post(agent: Agent, port: number, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'X-Service-Api-Key': secret,
    }
    const asked = request(
      { agent, port, host: '127.0.0.1', path: '/event-batch', method: 'POST', headers },
      reply => {
        reply.on('end', () => resolve(reply.statusCode ?? 0)).resume()
      },
    )
    asked.on('error', reject).end(body)
  })
}
