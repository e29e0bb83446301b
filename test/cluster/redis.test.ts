// Guarantees of nodes in Redis: an owner that was replaced writes nothing, late writes are refused, and an
// idempotency key is used up if and only if its event is in a journal.
import t, { type Test } from 'tap'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { shardDirectory } from '../../src/journal/segment.js'
import { isFenced, ShardClaims } from '../../src/redis/claims.js'
import { OwnedDisk, RedisDisk, redisRoot } from '../../src/redis/disk.js'
import { RedisClient } from '../../src/redis/redis.js'
import { skipped, TestRedis } from './nodes.js'

const directory = shardDirectory(redisRoot, 7)
const record = (text: string) => ({ flags: 0, month: 0, row: '', fact: JSON.stringify({ text }) })
const event = (key: string, eventId: string, receivedAtMs = 1_000_000_000_000) => ({
  env: 'env',
  key,
  eventId,
  capturedAtMs: 1,
  receivedAtMs,
  print: 7,
})

let prefixes = 0
async function start(t: Test, server: TestRedis) {
  const prefix = `test:{${++prefixes}}:`
  const redis = await RedisClient.open({ url: server.url, prefix, replicas: 0 })
  t.teardown(() => redis.close())
  const join = (node: string) => redis.run('join', node, '{}', 60_000, 64)
  const take = (node: string, shard = 7) => redis.run<string>('take', node, shard)
  return { redis, join, take }
}

async function read(redis: RedisClient, upTo: number): Promise<string[]> {
  const reader = new FileJournalReader({ directory, disk: new RedisDisk(redis) })
  const texts: string[] = []
  for await (const records of reader.read(0, upTo))
    for (const { fact } of records) texts.push((JSON.parse(fact.toString()) as { text: string }).text)
  await reader.close()
  return texts
}

t.test('Redis as nodes use it', { skip: skipped }, async t => {
  const server = await TestRedis.start(t)

  await t.test('a journal in Redis is read as it was written, also by its next owner', async t => {
    const { redis, join, take } = await start(t, server)
    await Promise.all([join('a'), join('b')])
    const mark = await take('a')
    t.equal(mark, '1:a')
    t.equal(await take('b'), '', 'a shard is one node’s')
    const disk = new OwnedDisk(redis, 7, mark)
    const { journal } = await openFileJournal({ directory, disk, segmentBytes: 256, padBytes: 0 })
    for (let i = 0; i < 50; i++) await journal.append([record(`first ${i}`)])
    t.equal(await redis.run('leave', 'a', ''), 0, 'one that lives is not put out')
    await redis.run('leave', 'a', '1')
    const next = new OwnedDisk(redis, 7, await take('b'))
    t.equal(next.mark, '2:b')
    const { journal: others, cutBytes } = await openFileJournal({
      directory,
      disk: next,
      segmentBytes: 256,
      padBytes: 0,
    })
    t.equal(cutBytes, 0)
    t.equal(others.committed, 50)
    const late = await journal.append([record('late')]).catch(error => error)
    t.ok(isFenced(late), 'who was replaced writes nothing')
    await t.rejects(journal.reopen(), { name: 'Fenced' })
    await others.append([record('second')])
    t.same(await read(redis, 51), [...Array.from({ length: 50 }, (_, i) => `first ${i}`), 'second'])
    await others.trim(40)
    t.equal((await read(redis, 51).catch(error => error)).name, 'JournalCorrupt', 'what was trimmed is gone')
    await others.close()
  })

  await t.test('a write sent before a cut that arrives after it is refused', async t => {
    const { redis, join, take } = await start(t, server)
    await join('a')
    const disk = new OwnedDisk(redis, 7, await take('a'))
    const { journal } = await openFileJournal({ directory, disk, padBytes: 0 })
    await journal.append([record('kept')])
    const before = disk.mark
    const [name] = await disk.list(directory)
    const key = redis.key(`file:7:${name}`)
    const length = await redis.length(key)
    await disk.cut(key, length)
    t.not(disk.mark, before)
    const late = redis.run('write', 7, before, key, length, Buffer.from('late'))
    t.ok(isFenced(await late.catch(error => error)))
    t.equal(await redis.length(key), length)
  })

  await t.test('a key is free when the write of its record failed and the record is cut', async t => {
    const { redis, join, take } = await start(t, server)
    await Promise.all([join('a'), join('b')])
    // There is no replica: the write is done, and reported as failed.
    const unsure = await RedisClient.open({ ...redis.address, replicas: 1 })
    t.teardown(() => unsure.close())
    const disk = new OwnedDisk(unsure, 7, await take('a'))
    const claims = new ShardClaims(unsure, 7, disk)
    const others = new ShardClaims(redis, 8, new OwnedDisk(redis, 8, await take('b', 8)))
    const certain = new OwnedDisk(redis, 7, disk.mark)
    await (await openFileJournal({ directory, disk: certain, padBytes: 0 })).journal.close()
    const { journal } = await openFileJournal({ directory, disk, padBytes: 0 })
    const [held] = await claims.claim([event('k', 'evt_1')], 0)
    if (typeof held !== 'object' || !('held' in held)) return t.fail('it is claimed')
    claims.write([held.held], 1)
    await t.rejects(journal.append([record('one')]), { cause: { message: '0 of 1 replicas have the write' } })
    t.match(await others.claim([event('k', 'evt_2')], 0), [{ first: { eventId: 'evt_1' } }], 'it was spent')
    await journal.reopen()
    t.same(await read(redis, 0), [])
    t.match(await others.claim([event('k', 'evt_3')], 0), [{ held: {} }], 'a repeat is the first event again')
  })

  await t.test('a key is used up with its record, and free when the epoch ended before', async t => {
    const { redis, join, take } = await start(t, server)
    await Promise.all([join('a'), join('b')])
    const disk = new OwnedDisk(redis, 7, await take('a'))
    const other = new OwnedDisk(redis, 8, await take('b', 8))
    const claims = new ShardClaims(redis, 7, disk)
    const others = new ShardClaims(redis, 8, other)
    const { journal } = await openFileJournal({ directory, disk, padBytes: 0 })
    const [held] = await claims.claim([event('k', 'evt_1')], 0)
    if (typeof held !== 'object' || !('held' in held)) return t.fail('it is claimed')
    t.same(
      await others.claim([event('k', 'evt_2')], 0),
      ['busy'],
      'while it is on its way nobody else has it',
    )
    claims.write([held.held], 1)
    await journal.append([record('one')])
    const first = { first: { eventId: 'evt_1', capturedAtMs: 1, print: 7 } }
    t.same(await others.claim([event('k', 'evt_2')], 0), [first], 'it is spent')
    const dayLater = event('k', 'evt_3', 1_000_000_000_000 + 24 * 3_600_000)
    t.match(await others.claim([dayLater], 0), [{ held: {} }], 'for a day (EV-26)')

    const [lost] = await claims.claim([event('l', 'evt_4')], 0)
    if (typeof lost !== 'object' || !('held' in lost)) return t.fail('it is claimed')
    await disk.cut(redis.key(`file:7:${(await disk.list(directory))[0]}`), 0)
    const [taken] = await others.claim([event('l', 'evt_5')], 0)
    t.match(taken, { held: {} }, 'a claim of an epoch that ended is free')
    disk.add([{ sequence: 1, ...lost.held }])
    const { journal: again } = await openFileJournal({ directory, disk, padBytes: 0 })
    disk.add([{ sequence: 1, ...lost.held }])
    const stolen = await again.append([record('two')]).catch(error => error)
    t.ok(isFenced(stolen), 'and a record of it is not written any more')
  })
})
