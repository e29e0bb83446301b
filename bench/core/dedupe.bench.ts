// Cost of the idempotency window with ten million keys: bytes per key, time per claim, longest pause.
import { performance } from 'node:perf_hooks'
import { encodeId } from '../../src/core/values/id.js'
import { Dedupe, segmentsPerTurn, windowMs } from '../../src/entities/idempotency/dedupe.js'

const sizes = [100_000, 1_000_000, 10_000_000]
const start = Date.UTC(2026, 0, 1)
const atOnce = 1_000

const window = new Dedupe(sizes.at(-1)! + 1)
const collect = globalThis.gc ?? (() => {})
collect()
const before = process.memoryUsage()
const event = (n: number) => ({
  eventId: encodeId('evt_', n, n ^ 0x5bd1_e995),
  capturedAtMs: start + n,
})

let keys = 0
for (const size of sizes) {
  const from = keys
  let longestMs = 0
  const begunMs = performance.now()
  while (keys < size) {
    const atMs = performance.now()
    for (let i = 0; i < atOnce; i++, keys++)
      window.claim('env_bench', `order-${keys}-attempt`, event(keys), start + (keys >> 3))
    longestMs = Math.max(longestMs, performance.now() - atMs)
  }
  const claimNs = ((performance.now() - begunMs) * 1e6) / (size - from)
  const againMs = performance.now()
  for (let i = 0; i < 100_000; i++)
    window.claim('env_bench', `order-${(i * 7_919) % size}-attempt`, event(0), start + (keys >> 3))
  const againNs = ((performance.now() - againMs) * 1e6) / 100_000
  collect()
  collect() // twice: buffers are given back by the second
  const now = process.memoryUsage()
  const grown = now.arrayBuffers + now.heapUsed - before.arrayBuffers - before.heapUsed
  console.log(
    `${size.toLocaleString('en').padStart(10)} keys: ${(window.bytes / size).toFixed(1)} bytes per key in the tables, ` +
      `${(grown / size).toFixed(1)} with all they hang on; a new key ${claimNs.toFixed(0)} ns, ` +
      `a duplicate ${againNs.toFixed(0)} ns; longest ${atOnce} claims ${longestMs.toFixed(1)} ms`,
  )
}

// A turn of the sweep, while nothing and then while everything is old.
for (const [what, nowMs] of [
  ['nothing is old', start],
  ['all is old', start + 2 * windowMs],
] as const) {
  const atMs = performance.now()
  window.sweep(nowMs, segmentsPerTurn)
  console.log(`a turn of the sweep, ${what}: ${(performance.now() - atMs).toFixed(2)} ms`)
}
