// Events of the usual kind across threads and into the journal: the same as one by one.
import t from 'tap'
import { itemsOf, UsageBatch, UsageBatchWriter } from '../../../src/core/usage/batch.js'
import { encodeId, writeId } from '../../../src/core/values/id.js'
import { Group } from '../../../src/journal/frame.js'
import { RecordFlag } from '../../../src/journal/journal.js'
import { eventRow, monthOf } from '../../../src/journal/records/event-row.js'
import { factBytes, isInRows } from '../../../src/journal/records/fact-bytes.js'
import { type Draw, drawRows } from '../../../src/journal/records/ledger-rows.js'
import { UseKind, UseRecords } from '../../../src/journal/records/use-record-encoder.js'
import { Encoder, unpack } from '../../../src/wire/message-codec.js'
import { Random } from '../../random.js'

const word = (random: Random) => random.next() * 2 ** 32

function randomUses(random: Random) {
  const rows = new UsageBatchWriter()
  let text = ''
  const put = (piece: string) => {
    const at = text.length
    text += Buffer.from(piece).toString('latin1')
    return { at, length: text.length - at }
  }
  for (let i = random.below(20); i >= 0; i--) {
    const name = put(random.pick(['call', 'call', 'n'.repeat(255)]))
    const key = random.chance(0.5) ? put(`key ${random.below(1e9)}`) : { at: 0, length: 0 }
    const body = put(
      `{"event":"call","traits":{"a":"${random.pick(['x', 'Zürich', '東京', 'y'.repeat(1_000)])}"}}`,
    )
    const use = {
      bodyAt: body.at,
      bodyLength: body.length,
      nameAt: name.at,
      nameLength: name.length,
      keyAt: key.at,
      keyLength: key.length,
      quantity: random.pick([1, 1, 5, -3, 999_999_999]),
      idHigh: word(random) >>> 0,
      idLow: word(random) >>> 0,
      sentAtMs: random.chance(0.3) ? Math.floor(random.next() * 2e12) : null,
      companyId: encodeId('comp_', random.below(3), 7),
      userId: random.chance(0.5) ? encodeId('user_', word(random), word(random)) : null,
    }
    rows.add(use)
  }
  const env = encodeId('env_', random.below(2), 1)
  // any of the years 2001 to 2286, their neighbours, and a test clock's first
  const at = random.pick([
    1_773_568_800_000 + random.below(3),
    1e12 + Math.floor(random.next() * 9e12),
    ...[1e12 - 1, 1e12, 1e13 - 1, 1e13, 0],
  ])
  return { at, env, apiKeyId: 'apik_3mK9tQxYzAb', text, rows }
}

/** An event's draws: mostly none, or from one grant. */
function randomDraws(random: Random, at: number, e: string, u: string | undefined): Draw[] {
  const nanos = () =>
    random.pick([
      0,
      random.below(1_000),
      Math.floor(random.next() * 2 ** 53),
      1e9,
      999_999_999,
      '12345678901234567890123',
    ])
  const left = () => random.pick([nanos(), -random.below(2 ** 31), '-12345678901234567890'])
  return Array.from({ length: random.pick([0, 1, 1, 2]) }, () => ({
    t: 'credit_draw',
    c: `bcrd_${random.below(2)}`,
    seq: random.pick([random.below(100), Math.floor(random.next() * 2 ** 53)]),
    at,
    f: random.chance(0.9) ? `feat_${random.below(2)}` : undefined,
    e,
    u,
    s: Array.from({ length: random.below(4) }, () => [random.below(30), nanos(), left()] as const),
    un: random.chance(0.3) ? nanos() : undefined,
  }))
}

t.test('ids as bytes are the ids as text', async t => {
  const random = new Random()
  const bytes = Buffer.alloc(11)
  const edges = [0, 1, 56, 57, 58, 185_192, 185_193, 2 ** 31, 2 ** 32 - 1]
  const pairs = edges.flatMap(high => edges.map(low => [high, low] as const))
  for (let i = 0; i < 20_000; i++) pairs.push([word(random) >>> 0, word(random) >>> 0])
  for (const [high, low] of pairs) {
    writeId(bytes, 0, high, low)
    if (bytes.toString('latin1') !== encodeId('', high, low)) t.fail(`${high} ${low}`)
  }
  t.pass()
})

t.test(
  'requests of one post arrive in order; records are those of their events one by one (EV-70)',
  async t => {
    const random = new Random()
    t.comment(`TOLLGATE_SEED=${random.seed}`)
    const packing = new Encoder()
    /** Kept from one time to the next, as a shard keeps them. */
    const kinds = new Map<string, UseKind>()
    for (let round = 0; round < 200; round++) {
      const given = Array.from({ length: 1 + random.below(4) }, () => randomUses(random))
      for (const [n, request] of given.entries()) packing.add(n, request)
      packing.add(99, { control: { type: 'stats' } })
      const cells = structuredClone(packing.take())
      const records = new UseRecords()
      const group = new Group()
      const apart = new Group()
      group.begin(1)
      apart.begin(1)
      const order: number[] = []
      const features = random.pick([[], ['feat_1', 'feat_2']])
      unpack(cells, request => {
        order.push(request.n)
        if (!('uses' in request)) return
        const { uses, from, count, env, apiKeyId, at } = request
        const items = itemsOf(request)
        const drawn = items.map(({ m }) => randomDraws(random, at, m.event.id, m.event.userId ?? undefined))
        // one whose draws stay in its fact counts at its own time
        const presents = drawn.map(draws =>
          draws.every(isInRows) ? at + random.pick([0, 0, 1, 86_400_000]) : at,
        )
        for (let i = from; i < from + count; i++) {
          const of = [env, apiKeyId, uses.name(i), ...features].join()
          let kind = kinds.get(of)
          if (kind === undefined || !kind.setTimes(at, presents[i - from]!))
            kind = new UseKind(env, apiKeyId, at, uses.name(i), features, presents[i - from]!)
          kinds.set(of, kind)
          const draws = drawn[i - from]!.map(({ e, ...draw }) => draw)
          records.add(uses, i, kind, monthOf(at), draws, uses.companyId(i))
          if (random.chance(0.2)) group.addFramed(records.take())
          if (i === from) continue
          t.equal(uses.isSameCompany(i), uses.companyId(i) === uses.companyId(i - 1))
          t.equal(uses.isSameName(i), uses.name(i) === uses.name(i - 1))
        }
        for (const [i, { id, m }] of items.entries()) {
          const { event } = m
          const subtype = event.subtype!
          const present = presents[i]!
          const ik =
            event.idempotencyKey === null ? {} : { ik: [event.idempotencyKey, event.id, at] as const }
          const fx = [
            { t: 'used', subtype, quantity: event.quantity, atMs: at },
            ...drawn[i]!.map(draw => (present === at ? draw : { ...draw, now: present })),
            { t: 'seen', atMs: at },
          ] as const
          const ledger = drawRows(env, id, present, fx)
          apart.add({
            flags:
              RecordFlag.event |
              (present === at ? RecordFlag.use : 0) |
              (drawn[i]!.length > 0 ? RecordFlag.ledger | RecordFlag.draws : 0),
            month: monthOf(at),
            ledger,
            row: eventRow(event, {
              environmentId: env,
              featureIds: features,
              at: present,
              cost: null,
              flagId: null,
            }),
            fact: factBytes({ k: 'c', id, env, at: present, fx, ...ik }, ledger !== ''),
          })
        }
      })
      group.addFramed(records.take())
      if (order.join() !== [...given.keys(), 99].join()) t.fail(`${order}`)
      if (group.count !== apart.count) t.fail('records are missing')
      if (!group.seal().equals(apart.seal())) t.fail('the records differ')
    }
  },
)

t.test('a company id is read back exactly, however many companies come and go', t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  let wrong = 0
  for (let post = 0; post < 40; post++) {
    const ids = Array.from({ length: 2_000 }, () =>
      // few low words and few high ones: ids that differ in a letter or two
      encodeId(
        'comp_',
        random.chance(0.5) ? random.below(4) : random.below(2 ** 32),
        random.chance(0.5) ? random.below(2_000) : random.below(2 ** 32),
      ),
    )
    const rows = new UsageBatchWriter()
    for (const companyId of ids)
      rows.add({
        bodyAt: 0,
        bodyLength: 0,
        nameAt: 0,
        nameLength: 0,
        keyAt: 0,
        keyLength: 0,
        quantity: 1,
        idHigh: 0,
        idLow: 0,
        sentAtMs: null,
        companyId,
        userId: null,
      })
    const uses = new UsageBatch('', rows.take())
    for (const [i, id] of ids.entries()) if (uses.companyId(i) !== id) wrong++
  }
  t.equal(wrong, 0)
  t.end()
})
