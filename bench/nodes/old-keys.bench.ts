// Idempotency keys that leave Redis: its memory for them before and after, the filters that take their place, and the cost of
// a look into a day of filters. Needs redis-server. BENCH_KEYS sets the number of keys of one hour (1,000,000).
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeId } from '../../src/core/values/id.js'
import { bytesOf, hashOf, nameOf, OldKeys } from '../../src/redis/old-keys.js'
import { buildSpan, forgetSpan } from '../../src/redis/sealing.js'
import { prefixesOf, RedisSlots } from '../../src/redis/slots.js'
import { eventPrefix, packedClaimBytes } from '../../src/wire/packed-claim.js'
import { root } from '../record.js'

const keys = Number(process.env.BENCH_KEYS ?? 1_000_000)
const hours = 24
const looks = 200_000
const perPage = 200_000
const beginsMs = Date.UTC(2026, 5, 1)
const port = 20_000 + (process.pid % 10_000)
const directory = join(root, 'data', `bench-old-keys-${process.pid}`)

const idOf = (n: number): string => encodeId(eventPrefix, n >>> 0, 7)

/** Claims as ClickHouse gives them, in pages. */
async function* pages(): AsyncGenerator<Buffer> {
  for (let from = 0; from < keys; from += perPage) {
    const count = Math.min(perPage, keys - from)
    const page = Buffer.alloc(count * packedClaimBytes)
    for (let i = 0; i < count; i++) {
      const at = i * packedClaimBytes
      hashOf('env_23456789ABC', `key-${from + i}`).copy(page, at)
      page.write(idOf(from + i), at + 17, 'latin1')
      page.writeBigInt64LE(BigInt(beginsMs), at + packedClaimBytes - 8)
    }
    yield page
  }
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [result: T, cpuUs: number]> {
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return [result, user + system]
}

mkdirSync(directory, { recursive: true })
const server = spawn('redis-server', ['--port', String(port), '--save', '', '--dir', directory], {
  stdio: 'ignore',
})
try {
  const url = `redis://127.0.0.1:${port}`
  const slots = await RedisSlots.open({ url, ...prefixesOf('bench-gener', 1), replicas: 0 })
  const { root: redis } = slots
  const used = async () => Number((await redis.info('memory')).get('used_memory'))
  const emptyBytes = await used()
  for (let n = 0; n < keys; ) {
    const some = Array.from({ length: Math.min(500, keys - n) }, () => {
      const name = hashOf('env_23456789ABC', `key-${n}`)
      return redis.keep(
        redis.key(`i:${name.toString('base64url')}`),
        `d|${idOf(n++)}|${beginsMs}|${beginsMs}|12345`,
        86_400_000,
      )
    })
    await Promise.all(some)
  }
  const fullBytes = await used()
  const [span, buildUs] = await timed(() => buildSpan(pages(), beginsMs, beginsMs + 3_600_000))
  const [gone, forgetUs] = await timed(() => forgetSpan(pages(), span, slots))
  if (gone !== keys) throw new Error(`${gone} of ${keys} keys left Redis`)
  await sleep(1_000)
  const leftBytes = await used()
  await redis.close()

  const spans = Array.from({ length: hours }, (_, hour) => ({ ...span, toMs: span.toMs + hour }))
  const old = new OldKeys({ untilMs: span.toMs + hours, spans })
  const names = Array.from({ length: looks }, (_, i) => nameOf('env', `other-${i}`))
  const before = process.cpuUsage()
  let hits = 0
  for (const name of names) hits += old.spansOf(name, 0).length
  const { user } = process.cpuUsage(before)
  for (const [what, value] of [
    ['keys of one hour', keys],
    ['Redis for a key, bytes', ((fullBytes - emptyBytes) / keys).toFixed(1)],
    ['Redis for all of them before, MB', ((fullBytes - emptyBytes) / 1e6).toFixed(1)],
    ['Redis for all of them after, MB', ((leftBytes - emptyBytes) / 1e6).toFixed(1)],
    ['filters for a key, bytes', (bytesOf([span]) / keys).toFixed(2)],
    ['CPU of the sealer for a key: filters, µs', (buildUs / keys).toFixed(2)],
    ['CPU of the sealer for a key: deletion, µs', (forgetUs / keys).toFixed(2)],
    [`CPU of a look of a new key into ${hours} hours, µs`, (user / looks).toFixed(2)],
    ['false hits of new keys in one hour', `${hits / hours} of ${looks}`],
  ])
    console.log(`${what}: ${value}`)
} finally {
  server.kill()
  rmSync(directory, { recursive: true, force: true })
}
