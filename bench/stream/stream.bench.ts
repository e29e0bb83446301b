// The stream and the client: checks in the caller's process, the memory of companies held, and the delay of a change.
// Prints: local checks a second and core, with p99; memory of 10,000 companies held; delay from the acknowledgement
// to 1, 100 and 1,000 subscribers; p99 of checks beside 1,000 subscribers and 1,000 changes a second.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { Store } from '../../clients/typescript/src/store.js'
import { evaluateWith } from '../../src/core/evaluator/evaluate.js'
import { secret, startProduct, stop } from '../product.js'

const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-stream-'))
const { child, port } = await startProduct(dataDir)
const url = `http://127.0.0.1:${port}`
const companies = 1_000

async function call(method: string, path: string, body: object): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: { 'X-Service-Api-Key': secret, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { readonly data: unknown }).data
}

const at = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
const told = (values: number[]): string => {
  values.sort((a, b) => a - b)
  return `p50 ${at(values, 0.5).toFixed(2)} ms, p99 ${at(values, 0.99).toFixed(2)} ms`
}

interface Listening {
  readonly ws: WebSocket
  heard: ((text: string) => void) | null
}

async function listen(slugs: readonly string[]): Promise<Listening> {
  const ws = new WebSocket(`ws://127.0.0.1:${port}/datastream`, ['tollgate'], {
    headers: { 'X-Service-Api-Key': secret },
  })
  const listening: Listening = { ws, heard: null }
  let missing = slugs.length
  await new Promise<void>((resolve, reject) => {
    ws.on('error', reject)
    ws.on('open', () => {
      for (const slug of slugs)
        ws.send(JSON.stringify({ data: { entity_type: 'rulesengine.Company', keys: { slug } } }))
    })
    ws.on('message', data => {
      if (missing > 0 && --missing === 0) resolve()
      else listening.heard?.(String(data))
    })
  })
  return listening
}

const flags = 50
for (let i = 0; i < flags; i++) {
  const flag = (await call('POST', '/flags', {
    key: `flag${i}`,
    name: `flag${i}`,
    description: '',
    flag_type: 'boolean',
    default_value: false,
  })) as { readonly id: string }
  const condition = {
    condition_type: 'metric',
    operator: 'lt',
    resource_ids: [],
    event_subtype: `use${i % 10}`,
    metric_period: 'current_month',
    metric_value: 1_000_000,
  }
  const rules = [
    {
      name: 'r',
      priority: 0,
      value: true,
      rule_type: 'standard',
      conditions: [condition],
      condition_groups: [],
    },
  ]
  await call('PUT', `/flags/${flag.id}/rules`, { rules })
}
const slugOf = (i: number) => `company${i}`
const track = (i: number, use: number) => ({
  event_type: 'track',
  body: { event: `use${use}`, company: { slug: slugOf(i) } },
})
for (let from = 0; from < companies; from += 100)
  await call('POST', '/event-batch', {
    events: Array.from({ length: 1_000 }, (_, n) => track(from + (n % 100), Math.floor(n / 100))),
  })

// ── checks in the caller's process, and what holding costs ─────────────────────────────────────
{
  const listening = await listen([slugOf(0)])
  const full = (ask: object) =>
    new Promise<Record<string, unknown>>(resolve => {
      listening.heard = text => resolve(JSON.parse(text))
      listening.ws.send(JSON.stringify({ data: ask }))
    })
  const allFlags = await full({ entity_type: 'rulesengine.Flags' })
  const company = (await full({ entity_type: 'rulesengine.Company', keys: { slug: slugOf(0) } })) as {
    readonly data: { readonly metrics: readonly object[] }
  }
  listening.ws.close()
  const store = new Store(10_000, () => {}, { of: () => new Map() })
  store.take(allFlags as never, Date.now())
  const text = JSON.stringify(company)
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 10_000; i++) {
    const one = JSON.parse(text) as { entity_id: string; data: { id: string; keys: object } }
    one.entity_id = one.data.id = `comp_${i}`
    one.data.keys = { slug: `held${i}` }
    store.take(one as never, Date.now())
  }
  const flag = store.flags.get('flag7')!
  const finds = Array.from({ length: 10_000 }, (_, i) => ({ slug: `held${i}` }))
  for (const keys of finds) evaluateWith(flag, store.companies.find(keys)!, null, null, Date.now())
  globalThis.gc?.()
  const heldBytes = process.memoryUsage().heapUsed - before
  console.log(
    `10,000 companies held, each with ${company.data.metrics.length} metrics (${text.length} bytes as told): ` +
      `${(heldBytes / 1e6).toFixed(1)} MB, ${Math.round(heldBytes / 10_000)} bytes each`,
  )
  const rounds = 1_000_000
  const begun = performance.now()
  for (let i = 0; i < rounds; i++)
    evaluateWith(flag, store.companies.find(finds[(i * 7_919) % 10_000]!)!, null, null, Date.now())
  const seconds = (performance.now() - begun) / 1_000
  const times: number[] = []
  for (let i = 0; i < 200_000; i++) {
    const start = process.hrtime.bigint()
    evaluateWith(flag, store.companies.find(finds[(i * 7_919) % 10_000]!)!, null, null, Date.now())
    times.push(Number(process.hrtime.bigint() - start) / 1e6)
  }
  times.sort((a, b) => a - b)
  console.log(
    `local checks: ${Math.round(rounds / seconds).toLocaleString('en')}/s on one core, ` +
      `p50 ${(at(times, 0.5) * 1_000).toFixed(2)} µs, p99 ${(at(times, 0.99) * 1_000).toFixed(2)} µs`,
  )
}

// ── from the acknowledgement to the subscribers ─────────────────────────────────────────────────
for (const subscribers of [1, 100, 1_000]) {
  const all: Listening[] = []
  for (let from = 0; from < subscribers; from += 50)
    all.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, subscribers - from) }, () => listen([slugOf(1)])),
      )),
    )
  const delays: number[] = []
  for (let round = 0; round < 50; round++) {
    let acknowledgedMs = 0
    const heardMs: number[] = []
    const everybody = new Promise<void>(resolve => {
      for (const one of all)
        one.heard = () => {
          one.heard = null
          heardMs.push(performance.now())
          if (heardMs.length === subscribers) resolve()
        }
    })
    await call('POST', '/events', track(1, 1))
    acknowledgedMs = performance.now()
    await everybody
    delays.push(...heardMs.map(ms => Math.max(0, ms - acknowledgedMs)))
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  console.log(`acknowledgement to ${subscribers} subscribers: ${told(delays)}`)
  for (const { ws } of all) ws.terminate()
}

// ── checks beside it ────────────────────────────────────────────────────────────────────────────
async function checksFor(ms: number): Promise<string> {
  const times: number[] = []
  const until = performance.now() + ms
  while (performance.now() < until) {
    const begun = performance.now()
    await call('POST', `/flags/flag${times.length % flags}/check`, {
      company: { slug: slugOf(times.length % companies) },
    })
    times.push(performance.now() - begun)
  }
  return `${times.length} checks on one connection, ${told(times)}`
}

async function changesUntil(stopped: () => boolean): Promise<number> {
  let sent = 0
  for (const begun = performance.now(); !stopped(); ) {
    await call('POST', '/event-batch', {
      events: Array.from({ length: 50 }, () => track(sent++ % companies, sent % 10)),
    })
    const aheadMs = sent - (performance.now() - begun)
    if (aheadMs > 0) await new Promise(resolve => setTimeout(resolve, aheadMs))
  }
  return sent
}

async function beside(what: string, changes: boolean): Promise<void> {
  let over = false
  const changing = changes ? changesUntil(() => over) : Promise.resolve(0)
  const line = await checksFor(5_000)
  over = true
  console.log(`${what}: ${line}; ${Math.round((await changing) / 5)} changes a second`)
}

await beside('checks alone', false)
await beside('checks beside 1,000 changes a second and nobody subscribed', true)
const all: Listening[] = []
let messages = 0
for (let from = 0; from < 1_000; from += 50)
  all.push(...(await Promise.all(Array.from({ length: 50 }, (_, i) => listen([slugOf(from + i)])))))
for (const one of all)
  one.heard = () => {
    messages++
  }
await beside('checks beside 1,000 changes a second and 1,000 subscribers, one company each', true)
console.log(`messages told meanwhile: ${messages}`)
for (const { ws } of all) ws.terminate()

await stop(child)
await rm(dataDir, { recursive: true, force: true })
