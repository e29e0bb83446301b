// Guarantees of nodes in Redis: an owner that was replaced writes nothing, late writes are refused, and an
// idempotency key is used up if and only if its event is in a journal (src/redis/README.md).
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { encodeId } from '../../src/core/values/id.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { RecordFlag } from '../../src/journal/journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { shardDirectory } from '../../src/journal/segment.js'
import { type ClaimedEvent, type Held, isFenced, ShardClaims } from '../../src/redis/claims.js'
import { epochOf, OwnedDisk, RedisDisk, redisRoot } from '../../src/redis/disk.js'
import type { RedisClient } from '../../src/redis/redis.js'
import { prefixesOf, RedisSlots } from '../../src/redis/slots.js'
import { Sweep } from '../../src/redis/sweep.js'
import { tailOf } from '../../src/redis/tail.js'
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

/** A record with the claim of an event. */
const keyed = ({ env, key, eventId }: ClaimedEvent) => ({
  flags: RecordFlag.event,
  month: 0,
  row: '',
  fact: JSON.stringify({ k: 'e', id: '', env, at: 1, fx: [], ik: [key, eventId, 1], text: key }),
})

const own = (slots: RedisSlots, mark: string, shard = 7): Promise<OwnedDisk> =>
  OwnedDisk.reopen(slots, shard, mark.slice(mark.indexOf(':') + 1))

/** A shard as its owner has it: its journal, its claims, and what was held. */
async function open(slots: RedisSlots, mark: string, shard = 7, segmentBytes = 1 << 20) {
  const directory = shardDirectory(redisRoot, shard)
  const disk = await own(slots, mark, shard)
  const { journal } = await openFileJournal({ directory, disk, padBytes: 0, segmentBytes })
  const claims = new ShardClaims(slots, shard, disk, tailOf(disk, directory))
  await claims.begin(journal.committed)
  const claim = async (one: ClaimedEvent) => {
    const answer = await claims.claim([one], 0)
    return answer === 'unsealed' ? answer : answer[0]!
  }
  const hold = async (one: ClaimedEvent): Promise<Held> => {
    const answer = await claim(one)
    if (typeof answer === 'string' || !('held' in answer)) throw new Error(`${one.key} is not held`)
    return answer.held
  }
  const keep = async (one: ClaimedEvent) => {
    claims.write(await hold(one), journal.committed + 1)
    await journal.append([keyed(one)])
  }
  return { disk, journal, claims, claim, hold, keep }
}

/** The fate of a key as a shard hears it in the end: `busy` is asked again. */
async function heard(shard: { claim(one: ClaimedEvent): Promise<unknown> }, one: ClaimedEvent) {
  for (;;) {
    const answer = await shard.claim(one)
    if (answer !== 'busy') return answer
    await sleep(20)
  }
}

const evt = (n: number): string => encodeId('evt_', 1, n)
const first = (eventId: string) => ({ first: { eventId, capturedAtMs: 1, print: 7 } })

let prefixes = 0
/** count: of slots. */
async function start(t: Test, server: TestRedis, count: number) {
  const address = { url: server.url, ...prefixesOf(`test-${++prefixes}`, count), replicas: 0 }
  const slots = await RedisSlots.open(address)
  t.teardown(() => slots.close())
  const { root } = slots
  const join = (node: string) => root.run('join', node, '{}', 60_000, 64)
  const take = (node: string, shard = 7) => root.run<string>('take', node, shard)
  /** The slot of the event's key. */
  const slotOf = ({ slot }: Held): RedisClient => slots.all[slot]!
  return { slots, root, join, take, slotOf }
}

/** A connection with some methods changed. */
const changed = (redis: RedisClient, methods: Partial<Pick<RedisClient, 'run' | 'append'>>): RedisClient =>
  new Proxy(redis, {
    get(to, name) {
      const found = (methods as Record<string | symbol, unknown>)[name] ?? Reflect.get(to, name, to)
      return typeof found === 'function' ? found.bind(to) : found
    },
  })

async function read(slots: RedisSlots, upTo: number): Promise<string[]> {
  const reader = new FileJournalReader({ directory, disk: new RedisDisk(slots) })
  const texts: string[] = []
  for await (const records of reader.read(0, upTo))
    for (const { fact } of records) texts.push((JSON.parse(fact.toString()) as { text: string }).text)
  await reader.close()
  return texts
}

for (const count of [1, 3])
  t.test(`Redis as nodes use it, with ${count} slots`, { skip: skipped }, async t => {
    const server = await TestRedis.start(t)

    await t.test('a journal in Redis is read as it was written, also by its next owner', async t => {
      const { slots, root, join, take } = await start(t, server, count)
      await Promise.all([join('a'), join('b')])
      const mark = await take('a')
      t.equal(mark, '1:a')
      t.equal(await take('b'), '', 'a shard is one node’s')
      const disk = await own(slots, mark)
      const { journal } = await openFileJournal({ directory, disk, segmentBytes: 256, padBytes: 0 })
      for (let i = 0; i < 50; i++) await journal.append([record(`first ${i}`)])
      t.equal(await root.run('leave', 'a', ''), 0, 'one that lives is not put out')
      await root.run('leave', 'a', '1')
      const next = await own(slots, await take('b'))
      t.match(next.mark, /^[3-9]:b$/)
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
      t.same(await read(slots, 51), [...Array.from({ length: 50 }, (_, i) => `first ${i}`), 'second'])
      await others.trim(40)
      t.equal(
        (await read(slots, 51).catch(error => error)).name,
        'JournalCorrupt',
        'what was trimmed is gone',
      )
      await others.close()
    })

    await t.test('a journal in Redis writes nothing ahead, and what it trims is gone from Redis', async t => {
      const { slots, join, take } = await start(t, server, count)
      await join('a')
      const disk = await own(slots, await take('a'))
      const { journal } = await openFileJournal({ directory, disk, segmentBytes: 256 })
      for (let i = 0; i < 50; i++) await journal.append([record(`${i}`)])
      const before = await disk.list(directory)
      t.notOk(
        before.some(name => name.endsWith('.spare')),
        'a text grows as it is written',
      )
      await journal.trim(25)
      await journal.trim(40)
      t.same(
        (await disk.list(directory)).filter(name => Number(name.slice(0, 20)) < 30),
        [],
      )
      await journal.close()
    })

    await t.test('a write sent before a cut that arrives after it is refused', async t => {
      const { slots, join, take } = await start(t, server, count)
      await join('a')
      const disk = await own(slots, await take('a'))
      const { journal } = await openFileJournal({ directory, disk, padBytes: 0 })
      await journal.append([record('kept')])
      const before = disk.mark
      const [name] = await disk.list(directory)
      const redis = slots.ofShard(7)
      const key = redis.key(`file:7:${name}`)
      const length = await redis.length(key)
      await disk.cut(key, length)
      t.not(disk.mark, before)
      const late = redis.run('write', 7, before, key, length, Buffer.from('late'), '')
      t.same(await late, ['FENCED'])
      t.equal(await redis.length(key), length)
    })

    await t.test('a key is free when the write of its record failed and the record is cut', async t => {
      const { slots, root, join, take } = await start(t, server, count)
      await Promise.all([join('a'), join('b')])
      const mark = await take('a')
      const other = await open(slots, await take('b', 8), 8)
      // the write is done, and reported as failed
      const append: RedisClient['append'] = async (...given) => {
        await slots.ofShard(7).append(...given)
        throw new Error('0 of 1 replicas have the write')
      }
      const unsure = new RedisSlots(
        root,
        slots.all.map(one => changed(one, { append })),
      )
      const { journal, claims, hold } = await open(unsure, mark)
      claims.write(await hold(event('k', evt(1))), 1)
      await t.rejects(journal.append([keyed(event('k', evt(1)))]), {
        cause: { message: '0 of 1 replicas have the write' },
      })
      t.equal(await other.claim(event('k', evt(2))), 'busy', 'it may be there, and is not for certain')
      await journal.reopen()
      t.same(await read(slots, 0), [])
      claims.close()
      await (await open(slots, '0:a')).claims.close()
      t.match(await other.claim(event('k', evt(3))), { held: {} }, 'a repeat is the first event again')
      other.claims.close()
    })

    await t.test('a key is used up with its record, and nobody writes "done"', async t => {
      const { slots, join, take, slotOf } = await start(t, server, count)
      await Promise.all([join('a'), join('b')])
      const one = await open(slots, await take('a'))
      const other = await open(slots, await take('b', 8), 8)
      const held = await one.hold(event('k', evt(1)))
      t.equal(await other.claim(event('k', evt(2))), 'busy', 'while it is on its way nobody else has it')
      t.equal(await one.claim(event('k', evt(2))), 'busy')
      one.claims.write(held, 1)
      await one.journal.append([keyed(event('k', evt(1)))])
      t.equal(await slotOf(held).get(held.key), held.value, 'the write touches no key')
      t.same(await one.claim(event('k', evt(2))), first(evt(1)), 'its shard knows at once')
      t.same(await heard(other, event('k', evt(2))), first(evt(1)), 'others when the floor is beyond it')
      const dayLater = event('k', evt(3), 1_000_000_000_000 + 24 * 3_600_000)
      t.match(await other.claim(dayLater), { held: {} }, 'for a day (EV-26)')

      const refused = await one.hold(event('r', evt(4)))
      one.claims.free([refused])
      t.match(await heard(other, event('r', evt(5))), { held: {} }, 'EV-28 a key that was given back is free')
      for (const { claims } of [one, other]) claims.close()
    })

    await t.test(
      'an epoch that is over: a claim holds if its record is behind the floor, else it is free',
      async t => {
        const { slots, root, join, take } = await start(t, server, count)
        await Promise.all([join('a'), join('b')])
        const one = await open(slots, await take('a'))
        const other = await open(slots, await take('b', 8), 8)
        await one.keep(event('before', evt(1)))
        const lost = await one.hold(event('lost', evt(2)))
        await one.keep(event('kept', evt(3)))
        // killed: its floor stays where it is
        one.claims.close()
        await root.run('leave', 'a', '1')
        const mark = await take('b')
        t.equal(await other.claim(event('kept', evt(4))), 'busy', 'until the next owner has read the journal')
        t.equal(await other.claim(event('lost', evt(4))), 'busy')
        const next = await open(slots, mark)
        t.same(await other.claim(event('kept', evt(4))), first(evt(3)))
        t.same(await next.claim(event('before', evt(4))), first(evt(1)))
        t.match(await other.claim(event('lost', evt(5))), { held: {} })
        one.disk.add(lost, 4)
        t.ok(isFenced(await one.journal.append([keyed(event('lost', evt(2)))]).catch(error => error)))
        for (const { claims } of [next, other]) claims.close()
      },
    )

    await t.test('a claim of an epoch that is over is not written by the next one', async t => {
      const { slots, join, take } = await start(t, server, count)
      await join('a')
      const { disk, journal, claims, hold } = await open(slots, await take('a'))
      const held = await hold(event('k', evt(1)))
      await disk.cut(slots.ofShard(7).key(`file:7:${(await disk.list(directory))[0]}`), 0)
      await claims.begin(0)
      claims.write(held, 1)
      t.ok(isFenced(await journal.append([keyed(event('k', evt(1)))]).catch(error => error)))
      claims.close()
    })

    await t.test('a record is not written when another Redis lacks its claim', async t => {
      const { slots, join, take, slotOf } = await start(t, server, count)
      await join('a')
      const { journal, claims, hold } = await open(slots, await take('a'))
      const held = await hold(event('k', evt(1)))
      // what a fail-over does: the claim is gone, and the connection is another one
      await slotOf(held).run('free', held.key, held.value)
      claims.write({ ...held, connection: -1 }, 1)
      t.ok(isFenced(await journal.append([keyed(event('k', evt(1)))]).catch(error => error)))
      await journal.reopen()
      await claims.begin(0)
      const again = await hold(event('k', evt(2)))
      claims.write({ ...again, connection: -1 }, 1)
      await journal.append([keyed(event('k', evt(2)))])
      t.equal(journal.committed, 1, 'one that stands is written')
      claims.close()
    })

    await t.test('a claim that comes after its call was given up is free', async t => {
      const { slots, join, take, slotOf } = await start(t, server, count)
      await Promise.all([join('a'), join('b')])
      const one = await open(slots, await take('a'))
      const other = await open(slots, await take('b', 8), 8)
      const lost = await one.hold(event('k', evt(1)))
      await slotOf(lost).run('free', lost.key, lost.value)
      await slots.ofShard(7).run('void', 7, `${lost.call.epoch}:${lost.call.n}`, 60_000)
      one.disk.calls.void(lost.call)
      await slotOf(lost).claim(60_000, 0, [lost.key, lost.value])
      await one.keep(event('other', evt(2)))
      await sleep(300)
      t.match(await other.claim(event('k', evt(3))), { held: {} }, 'though the floor is beyond it')
      for (const { claims } of [one, other]) claims.close()
    })

    await t.test('EV-28 a claim that is given back after it was seen is no repeat', async t => {
      const { slots, root, join, take } = await start(t, server, count)
      await Promise.all([join('a'), join('b')])
      const one = await open(slots, await take('a'))
      const lost = await one.hold(event('k', evt(1)))
      // the first question about the key waits while it is given back, and the floor rises
      const slow = slots.all.map(redis => {
        const run: RedisClient['run'] = async (name, ...given) => {
          if (name === 'fates' && one.disk.calls.isOpen(lost.call.n)) {
            one.claims.free([lost])
            while (one.disk.calls.isOpen(lost.call.n)) await sleep(5)
            await one.disk.tell()
          }
          return redis.run(name, ...given)
        }
        return changed(redis, { run })
      })
      const disk = await own(slots, await take('b', 8), 8)
      const other = new ShardClaims(new RedisSlots(root, slow), 8, disk, async function* () {})
      disk.calls.begin(epochOf(disk.mark), 1, 0)
      t.same(await other.claim([event('k', evt(2))], 0), ['busy'])
      t.match(await other.claim([event('k', evt(3))], 0), [{ held: {} }])
      for (const claims of [one.claims, other]) claims.close()
    })

    await t.test('a build that did not number its claims: they are free once its epoch is over', async t => {
      const { slots, join, take, slotOf } = await start(t, server, count)
      await Promise.all([join('a'), join('b')])
      const one = await open(slots, await take('a'))
      const other = await open(slots, await take('b', 8), 8)
      const payload = `${epochOf(one.disk.mark)}|${evt(1)}|1|1000000000000|7`
      const before = await other.hold(event('k', evt(9)))
      await slotOf(before).run('swap', 60_000, before.key, before.value, `p7:${payload}`)
      t.equal(await other.claim(event('k', evt(2))), 'busy')
      one.claims.close()
      await (await open(slots, '0:a')).claims.close()
      t.match(await other.claim(event('k', evt(3))), { held: {} })
      other.claims.close()
    })

    await t.test('EV-26 keys whose day is over are swept from Redis, and no others', async t => {
      const { slots, root, join, take, slotOf } = await start(t, server, count)
      await join('a')
      const { claims, hold } = await open(slots, await take('a'))
      const nowMs = Date.now()
      const { held } = await claims
        .claim(
          Array.from({ length: 1_200 }, (_, i) => event(`k${i}`, evt(i), nowMs)),
          0,
        )
        .then(all => (all as readonly { readonly held: Held }[])[1_199]!)
      t.equal(await slotOf(held).get(held.key), held.value)
      const ahead = await hold(event('of a test clock', evt(1), nowMs + 9 * 86_400_000))
      await root.keep(root.key('h:another'), 'd|evt|1|1|7')
      const sweep = new Sweep(slots.all)
      const all = async (atMs: number): Promise<number> => {
        let gone = 0
        // a turn takes a part of a large Redis
        for (let turn = 0; turn < 5; turn++) gone += await sweep.turn(atMs)
        return gone
      }
      t.equal(await all(nowMs + 25 * 3_600_000 - 1), 0)
      t.equal(await all(nowMs + 25 * 3_600_000 + 1), 1_200)
      t.equal(await slotOf(held).get(held.key), null)
      t.equal(await slotOf(ahead).get(ahead.key), ahead.value, 'Redis forgets this one by itself')
      t.equal(await root.get(root.key('h:another')), 'd|evt|1|1|7')
      claims.close()
    })

    await t.test('records behind the floor stay in the journal', async t => {
      const { slots, join, take } = await start(t, server, count)
      await join('a')
      const { claims, hold, keep, disk } = await open(slots, await take('a'))
      await keep(event('one', evt(1)))
      const held = await hold(event('two', evt(2)))
      for (let i = 3; i < 9; i++) await keep(event(`k ${i}`, evt(i)))
      await sleep(300)
      t.equal(claims.needed, 1, 'as long as a claim before them is open')
      claims.free([held])
      while (disk.calls.needed === 1) await sleep(20)
      t.equal(claims.needed, 7)
      claims.close()
    })
  })
