// Can it go on like this? Events at full speed for a while: events a second, how far the stores fall behind, memory.
// Seconds, events per batch and senders: `node dist/bench/http/sustained.js 600 500 8`.
import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../../src/config.js'
import { createLogger } from '../../src/log.js'
import { start } from '../../src/start.js'

const [seconds = 60, perBatch = 500, senders = 8] = process.argv.slice(2).map(Number)
const everySeconds = Math.max(1, Math.min(10, seconds / 6))
const key = 'sk_dev_bench_of_a_sustained_run'
const companies = 1_000

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
const { projections, dedupe } = tollgate.services
const url = `http://127.0.0.1:${tollgate.port}/event-batch`
const untilMs = performance.now() + seconds * 1_000
let acknowledged = 0
let refused = 0
let made = 0

async function send(): Promise<void> {
  while (performance.now() < untilMs) {
    const events = Array.from({ length: perBatch }, () => ({
      event_type: 'track',
      idempotency_key: `s${++made}`,
      body: { event: 'api_call', company: { slug: `co${made % companies}` } },
    }))
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'X-Service-Api-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ events }),
    })
    await response.arrayBuffer()
    if (response.status === 201) acknowledged += perBatch
    else {
      refused += perBatch
      await sleep(1_000 * Number(response.headers.get('retry-after') ?? 1))
    }
  }
}

function tell(sinceMs: number, before: number): void {
  const [postgres, clickhouse] = [projections.lag('postgres'), projections.lag('clickhouse')]
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)
  console.log(
    `${Math.round(((acknowledged - before) * 1_000) / (performance.now() - sinceMs))} events/s; ` +
      `behind: Postgres ${postgres.records} (${postgres.seconds.toFixed(1)} s), ` +
      `ClickHouse ${clickhouse.records} (${clickhouse.seconds.toFixed(1)} s); ` +
      `memory ${mebibytes(rss)} MiB (heap ${mebibytes(heapUsed)}, buffers ${mebibytes(arrayBuffers)}); ` +
      `${dedupe.size} keys`,
  )
}

try {
  const begunMs = performance.now()
  const sending = Promise.all(Array.from({ length: senders }, send))
  while (performance.now() < untilMs) {
    const [sinceMs, before] = [performance.now(), acknowledged]
    await sleep(everySeconds * 1_000)
    tell(sinceMs, before)
  }
  await sending
  const sent = performance.now() - begunMs
  await projections.barrier('clickhouse', 3_600_000)
  const caughtUp = (performance.now() - begunMs - sent) / 1_000
  console.log(
    `${acknowledged} events in ${(sent / 1_000).toFixed(1)} s (${refused} refused); ` +
      `ClickHouse had all of them ${caughtUp.toFixed(1)} s later`,
  )
} finally {
  await tollgate.stop()
  rmSync(directory, { recursive: true })
}
