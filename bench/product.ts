// The service as its users start it, in a process of its own, for benchmarks that speak to it over HTTP.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { endedWithUs } from './interrupted.js'
import { root } from './record.js'

/** The key every benchmark uses. */
export const secret = 'sk_dev_bXv3kQ8TqPz1mLw7Rj5YcN2uHs9DfGa4EoKi6WtBhJe'

/** The program that runs a service, and the HTTP library it serves with. */
export interface Runtime {
  /** Path of a Node. */
  readonly node: string
  readonly http: 'uws' | 'node'
}

export const here: Runtime = { node: process.execPath, http: 'uws' }

/** A process that listens. */
export interface Started {
  readonly child: ChildProcess
  readonly port: number
  /** From its start until it was ready. */
  readonly readyMs: number
}

/** A start over 50 million entities is the longest. */
const longestStartMs = 45 * 60_000

/**
 * Start the service over a data directory, with settings and flags of Node's, and wait until it is ready.
 *
 * from  the root of the built project that is started; by default this one.
 * node  the Node that runs it; by default this one.
 */
export async function startProduct(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
  from = root,
  node = process.execPath,
): Promise<Started> {
  const port = await freePort()
  // Limits are on, so that their work is measured, and too high to be reached.
  const plenty = [1e9, 1e9]
  const limits = { global: plenty, mutation: plenty, events_ingest: plenty, analytics: plenty }
  const begunMs = performance.now()
  const child = endedWithUs(
    spawn(node, [...flags, join(from, 'dist/src/main.js')], {
      env: {
        MALLOC_MMAP_THRESHOLD_: '262144',
        MALLOC_TRIM_THRESHOLD_: '1048576',
        ...process.env,
        TOLLGATE_PORT: String(port),
        TOLLGATE_DATA_DIR: dataDir,
        TOLLGATE_BOOTSTRAP_KEY: secret,
        TOLLGATE_LIMITS: JSON.stringify(limits),
        TOLLGATE_LOG_LEVEL: 'error',
        ...settings,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    }),
  )
  const deadline = Date.now() + longestStartMs
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`The service left with ${child.exitCode}`)
    const ready = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
      reply => reply.ok,
      () => false,
    )
    if (ready) return { child, port, readyMs: performance.now() - begunMs }
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  await stop(child)
  throw new Error('The service was not ready within 45 minutes')
}

/** End a process and wait until it is gone. */
export async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

/** One request that must succeed; its body as text. */
export async function post(port: number, path: string, body: string, method = 'POST'): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    body,
    headers: { 'Content-Type': 'application/json', 'X-Service-Api-Key': secret },
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
  return text
}

/** Companies whose counters in memory differ from their stored events. */
export async function differencesOf(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/reconcile`, {
    headers: { 'X-Service-Api-Key': secret },
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`GET /reconcile: ${answer.status} ${text}`)
  return (JSON.parse(text.trim().split('\n').at(-1)!) as { differences: number }).differences
}

/** A past to start with: events of companies that begin with them, half of the events with an idempotency key. */
export async function sendPast(port: number, events: number, companies: number): Promise<void> {
  const perBatch = 1_000
  for (let done = 0; done < events; done += perBatch) {
    const sent = Array.from({ length: perBatch }, (_, i) => ({
      event_type: 'track',
      ...(i % 2 === 0 ? { idempotency_key: `key-${done + i}` } : {}),
      body: { event: 'api_call', company: { slug: `company-${(done + i) % companies}` } },
    }))
    await post(port, '/event-batch', JSON.stringify({ events: sent }))
  }
}

/** A port of this machine that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

/** CPU time so far of a process's first thread and of its others, as Linux counts it, µs. */
export function cpuOf(pid: number): { readonly httpUs: number; readonly othersUs: number } {
  let httpUs = 0
  let othersUs = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const usedUs = Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1_000
    if (Number(thread) === pid) httpUs = usedUs
    else othersUs += usedUs
  }
  return { httpUs, othersUs }
}

/**
 * Resolves once both stores have everything acknowledged, so that one measurement leaves no work for the next; or when
 * the time is over.
 */
export async function caughtUp(port: number, msMax = 120_000): Promise<void> {
  const deadline = Date.now() + msMax
  // the figures are taken every two seconds: the first may be an old one
  for (let zeros = 0; zeros < 2 && Date.now() < deadline; ) {
    await new Promise(resolve => setTimeout(resolve, 2_100))
    const text = await fetch(`http://127.0.0.1:${port}/metrics`).then(reply => reply.text())
    const lags = [...text.matchAll(/^tollgate_projector_lag_records\{[^}]*\} (\S+)$/gm)].map(([, lag]) =>
      Number(lag),
    )
    zeros = lags.length > 0 && lags.every(lag => lag === 0) ? zeros + 1 : 0
  }
}
