// CPU time of Redis and of one thread for keyed events among nodes: claims and journal writes of the 16 shards of one thread,
// in batches of 500, without HTTP and without counting. Needs redis-server. BENCH_BATCHES sets the number of batches (200).
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { encodeId } from '../../src/core/values/id.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { shardDirectory } from '../../src/journal/segment.js'
import { ShardClaims } from '../../src/redis/claims.js'
import { OwnedDisk, redisRoot } from '../../src/redis/disk.js'
import { prefixesOf, RedisSlots } from '../../src/redis/slots.js'
import { tailOf } from '../../src/redis/tail.js'
import { processUs } from '../cpu.js'
import { root } from '../record.js'
import { startRedis } from '../stores.js'

const batches = Number(process.env.BENCH_BATCHES ?? 200)
const warmUp = 30
const events = 500
const shards = 16
const record = { flags: 0, month: 0, row: 'r'.repeat(200), fact: 'f'.repeat(120) }

const directory = join(root, 'data', `bench-claims-${process.pid}`)
mkdirSync(directory, { recursive: true })
const server = await startRedis(directory)
const slots = await RedisSlots.open({ url: server.url, ...prefixesOf('bench-gener', 1), replicas: 0 })
const { root: redis } = slots
await redis.run('join', 'a', '{}', 3_600_000, 64)

async function open(index: number) {
  await redis.run('take', 'a', index)
  const disk = await OwnedDisk.reopen(slots, index, 'a')
  const where = shardDirectory(redisRoot, index)
  const { journal } = await openFileJournal({ directory: where, disk, padBytes: 0 })
  const claims = new ShardClaims(slots, index, disk, tailOf(disk, where))
  await claims.begin(journal.committed)
  return { journal, claims, next: journal.committed + 1 }
}

let keys = 0
async function send(shard: Awaited<ReturnType<typeof open>>, count: number): Promise<void> {
  const now = Date.now()
  const wanted = Array.from({ length: count }, () => ({
    env: 'env_23456789ABC',
    key: `key of a request ${++keys}`,
    eventId: encodeId('evt_', keys, 7),
    capturedAtMs: now,
    receivedAtMs: now,
    print: 123_456_789,
  }))
  const answer = await shard.claims.claim(wanted, 0)
  if (answer === 'unsealed') throw new Error('nothing was sealed')
  for (const one of answer)
    if (typeof one === 'object' && 'held' in one) shard.claims.write(one.held, shard.next++)
  await shard.journal.append(answer.map(() => record))
}

try {
  const all = await Promise.all(Array.from({ length: shards }, (_, index) => open(index)))
  const batch = () => Promise.all(all.map((shard, i) => send(shard, Math.floor((events + i) / shards))))
  for (let i = 0; i < warmUp; i++) await batch()
  const before = { redisUs: processUs(server.pid), cpu: process.cpuUsage(), keys }
  for (let i = 0; i < batches; i++) await batch()
  const { user, system } = process.cpuUsage(before.cpu)
  const count = keys - before.keys
  console.log(`Redis for an event, µs: ${((processUs(server.pid) - before.redisUs) / count).toFixed(1)}`)
  console.log(`the thread for an event, µs: ${((user + system) / count).toFixed(1)}`)
  for (const { claims } of all) claims.close()
} finally {
  await redis.close()
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
}
