// Rows of a front at a shard: they are there when the main thread has them taken, before their message was heard.
import { setImmediate } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { UsageBatchWriter } from '../../src/core/usage/batch.js'
import { type LodgedUses, UsesReader, UsesWriter } from '../../src/wire/front-uses.js'
import { Encoder, isLong, unpack } from '../../src/wire/message-codec.js'
import { isLodged, LodgedRows } from '../../workers/shard/lodged.js'

const id = (prefix: string, n: number) => `${prefix}${String(n).padStart(11, '2')}`
/** An event whose body is its name. */
const useOf = (text: string, name: string, n: number) => ({
  bodyAt: text.indexOf(name),
  bodyLength: name.length,
  nameAt: text.indexOf(name),
  nameLength: name.length,
  keyAt: 0,
  keyLength: 0,
  quantity: n,
  idHigh: 2 ** 31 + n,
  idLow: n,
  sentAtMs: null,
  companyId: id('comp_', n),
  userId: n % 2 ? id('user_', n) : null,
})

function rowsOf(text: string, names: readonly string[]): UsageBatchWriter {
  const rows = new UsageBatchWriter()
  for (const [n, name] of names.entries()) rows.add(useOf(text, name, n))
  return rows
}

t.test('rows of fronts and of the main thread are taken in the order of the messages', async t => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const others: unknown[] = []
  const failed: number[] = []
  const lodged = new LodgedRows(n => failed.push(n))
  lodged.open(7, port2, message => others.push(message))
  const writer = new UsesWriter(1)
  const lodge = (_: number, uses: LodgedUses) => {
    port1.postMessage(uses)
    return 1
  }
  const add = (n: number, text: string, names: readonly string[]) => {
    for (const [i, name] of names.entries()) writer.add(useOf(text, name, i), 0, null, 0)
    writer.end({ n, key: 0, edition: 0, keyEpoch: 0 }, text)
  }
  add(1, 'one two', ['one', 'two'])
  writer.add(useOf('gone', 'gone', 0), 0, null, 0)
  writer.drop()
  add(2, 'three four', ['three', 'four'])
  const first = writer.take(lodge)
  port1.postMessage(['a question'])
  add(3, 'five', ['five'])
  const second = writer.take(lodge)
  t.same([first.packet, second.packet], [1, 2])

  const encoder = new Encoder()
  const own = (n: number, text: string, names: readonly string[]) =>
    encoder.add(n, { at: n, env: 'env', apiKeyId: 'key', text, rows: rowsOf(text, names) })
  const take = (n: number, packet: number, from: number, count: number, front = 7) =>
    encoder.add(n, { at: n, env: 'env', apiKeyId: 'key', front, packet, from, count })
  own(10, 'before', ['before'])
  take(11, 1, 2, 2)
  own(12, 'x y', ['x', 'y'])
  take(13, 1, 0, 2)
  take(14, 2, 0, 1)
  take(15, 1, 0, 1)
  take(16, 1, 0, 1, 8)
  own(17, 'after', ['after'])
  const cells = structuredClone(encoder.take())
  t.notOk(isLong(cells))
  const seen: unknown[] = []
  unpack(
    cells,
    request => {
      if (!('uses' in request)) return void t.fail('another request')
      const { n, uses, from, count } = request
      seen.push([n, ...Array.from({ length: count }, (_, i) => uses.name(from + i))])
    },
    lodged,
  )
  t.same(seen, [
    [10, 'before'],
    [11, 'three', 'four'],
    [12, 'x', 'y'],
    [13, 'one', 'two'],
    [14, 'five'],
    [17, 'after'],
  ])
  t.same(failed, [15, 16], 'an earlier packet is over, and another front has none')
  t.same(others, [['a question']], 'what else had come is not lost')

  // one whose message was heard, and one of which nothing is taken
  port2.on('message', message => {
    if (isLodged(message)) lodged.keep(7, message)
  })
  add(4, 'six', ['six'])
  writer.take(lodge)
  while (lodged.find(7, 3) === null) await setImmediate()
  add(5, 'seven', ['seven'])
  writer.take(lodge)
  lodged.over(7, 4)
  t.ok(lodged.find(7, 3), 'packets before it stay')
  t.equal(lodged.find(7, 4), null)
  lodged.over(7, null)
  t.equal(lodged.find(7, 3), null)
})

t.test('the main thread reads of claims what a front has written', async t => {
  const writer = new UsesWriter(3)
  const place = { segment: 4_095, tag: 2 ** 32 - 1, middle: 5 }
  for (let n = 0; n < 200; n++)
    writer.add(useOf('name', 'name', n), n % 2 ? 2 : 0, n % 3 ? place : null, 2 ** 16 - 1)
  writer.end({ n: 9, key: 1, edition: 2, keyEpoch: 3 }, 'name')
  const lodged: LodgedUses[] = []
  const packet = writer.take((shard, uses) => {
    lodged.push(uses)
    return shard + 1
  })
  t.same(packet.generations, [1, 0, 3], 'a shard without rows gets none')
  t.equal(lodged.length, 2)
  const reader = new UsesReader()
  let visits = 0
  reader.read(structuredClone(packet), (request, from) => {
    visits++
    t.same([request, from], [{ n: 9, key: 1, edition: 2, keyEpoch: 3, count: 200 }, 0])
    for (let n = 0; n < 200; n++) {
      const { idHigh, idLow, companyId, userId } = useOf('name', 'name', n)
      const isKeyed = n % 3 > 0
      t.same(
        [
          reader.shard(n),
          reader.isKeyed(n),
          reader.idHigh(n),
          reader.idLow(n),
          reader.companyId(n),
          reader.userId(n),
        ],
        [n % 2 ? 2 : 0, isKeyed, idHigh, idLow, companyId, userId],
      )
      if (!isKeyed) continue
      t.same(
        [reader.segment(n), reader.tag(n), reader.middle(n), reader.print(n)],
        [place.segment, place.tag, place.middle, 2 ** 16 - 1],
      )
    }
  })
  t.equal(visits, 1)
  const many = new Encoder()
  many.add(1, { at: 1, env: 'e', apiKeyId: 'k', front: 1, packet: 1, from: 0, count: 64 })
  t.ok(isLong(many.take()), 'a shard deals with it in a turn of its own')
})
