// Does a large import end with exact totals, and how long do the questions about it take then?
// Events, companies and runs per question: `node dist/bench/shards/import.bench.js 10000000 2000 9`.
import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { usageByCompany } from '../../src/analytics/history.js'
import { readConfig } from '../../src/config.js'
import { createLogger } from '../../src/log.js'
import { start } from '../../src/start.js'

const [events = 200_000, companies = 500, runs = 9] = process.argv.slice(2).map(Number)
const key = 'sk_dev_W5hTzK2pVq8LnXb3RcJ7mYd9GsFa1EuQo4NiC6tBwHv'
const perBatch = 5_000
const backlogMax = 2_000_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const largest = 'co0'

const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
await chmod(directory, 0o711)
const config = readConfig({
  TOLLGATE_DATA_DIR: directory,
  TOLLGATE_PORT: '0',
  TOLLGATE_LIMITS: 'off',
  TOLLGATE_LOG_LEVEL: 'warn',
  TOLLGATE_BOOTSTRAP_KEY: key,
})
const tollgate = await start(config, createLogger(config, 2))
const url = `http://127.0.0.1:${tollgate.port}`
const { projections } = tollgate.services

async function ask(method: string, path: string, body?: string, type = 'application/json'): Promise<string> {
  const headers = { 'X-Service-Api-Key': key, ...(body === undefined ? {} : { 'Content-Type': type }) }
  const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
  return text
}

/** One event in eight is the largest company's, the rest are spread; over the last 60 days, as backfill. */
function line(n: number): string {
  const company = n % 8 === 0 ? largest : `co${n % companies}`
  const sentAt = new Date(now - ((n * 7_919) % (60 * 24 * 60)) * 60_000).toISOString()
  const body = `{"event":"api_call","company":{"slug":"${company}"},"quantity":${1 + (n % 3)}}`
  return `{"event_type":"track","backfill":true,"trusted_client_clock":true,"sent_at":"${sentAt}","idempotency_key":"i${n}","body":${body}}`
}

const now = Date.now()
try {
  const begunMs = performance.now()
  let expected = 0
  for (let at = 0; at < events; at += perBatch) {
    const lines: string[] = []
    for (let n = at; n < Math.min(events, at + perBatch); n++) {
      lines.push(line(n))
      expected += 1 + (n % 3)
    }
    await ask('POST', '/event-batch', lines.join('\n'), 'application/x-ndjson')
    while (projections.lag('clickhouse').records > backlogMax) await sleep(100)
  }
  const takenSeconds = (performance.now() - begunMs) / 1_000
  await projections.barrier('clickhouse', 3_600_000)
  await projections.barrier('postgres', 3_600_000)
  const shownSeconds = (performance.now() - begunMs) / 1_000
  const usage = (await ask('GET', '/export/usage?format=ndjson')).trim().split('\n')
  const total = usage.reduce((sum, row) => sum + (JSON.parse(row) as { quantity: number }).quantity, 0)
  const differences = JSON.parse((await ask('GET', '/reconcile')).trim().split('\n').at(-1)!) as object
  const { rss, arrayBuffers } = process.memoryUsage()
  console.log(
    `${events} events of ${companies} companies: ${Math.round(events / takenSeconds)} events/s acknowledged, ` +
      `${Math.round(events / shownSeconds)} events/s until all are in both stores`,
  )
  console.log(
    `sum ${total}, sent ${expected}: ${total === expected ? 'exact' : 'WRONG'}; reconcile ${JSON.stringify(differences)}`,
  )
  console.log(
    `memory ${Math.round(rss / 2 ** 20)} MiB, of it buffers ${Math.round(arrayBuffers / 2 ** 20)} MiB; the stores are processes of their own`,
  )
  await questions()
  if (total !== expected) process.exitCode = 1
} finally {
  await tollgate.stop()
  rmSync(directory, { recursive: true })
}

async function questions(): Promise<void> {
  const feature = data<{ id: string }>(
    await ask(
      'POST',
      '/features',
      '{"name":"Calls","description":"","feature_type":"event","event_subtype":"api_call"}',
    ),
  )
  const company = data<{ id: string }>(await ask('GET', `/companies/lookup?slug=${largest}`))
  const at = (back: number) => new Date(now - back).toISOString()
  const series = (granularity: string, back: number) =>
    `/feature-usage-timeseries?company_id=${company.id}&feature_id=${feature.id}&granularity=${granularity}` +
    `&start_time=${at(back)}&end_time=${at(0)}`
  await median('usage of one company over 30 days, daily', series('daily', 30 * dayMs))
  await median('usage of one company over 14 days, hourly', series('hourly', 14 * dayMs))
  await median('a page of 100 events of one company', `/events?company_id=${company.id}&limit=100`)
  await median('a page of 100 events of all companies', '/events?limit=100')
  const { environment_id: environmentId } = data<{ environment_id: string }>(await ask('GET', '/whoami'))
  const month = { fromMs: now - 30 * dayMs, toMs: now }
  const top = () =>
    usageByCompany(tollgate.services.clickhouse, environmentId, 'api_call', month, { limit: 20, offset: 0 })
  await median('the 20 companies that used most in 30 days, asked of ClickHouse', top)
}

function data<T>(text: string): T {
  return (JSON.parse(text) as { data: T }).data
}

async function median(what: string, question: string | (() => Promise<unknown>)): Promise<void> {
  const times: number[] = []
  try {
    for (let run = 0; run < runs; run++) {
      const begunMs = performance.now()
      await (typeof question === 'string' ? ask('GET', question) : question())
      times.push(performance.now() - begunMs)
    }
  } catch (error) {
    console.log(`${what}: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
    return
  }
  times.sort((a, b) => a - b)
  console.log(`${what}: median ${times[runs >> 1]!.toFixed(1)} ms, slowest ${times.at(-1)!.toFixed(1)} ms`)
}
