import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises'
import t from 'tap'
import type { Effect, Fact } from '../../src/core/model/message.js'
import { encodeId } from '../../src/core/values/id.js'
import { RecordFlag } from '../../src/journal/journal.js'
import { factBytes } from '../../src/journal/records/fact-bytes.js'
import { Positions } from '../../src/wire/positions.js'
import { CheckWriter } from '../../workers/projector/checks.js'
import { PositionMoved } from '../../workers/projector/chunks.js'
import { gatherMs } from '../../workers/projector/gather.js'
import { Lines, Pieces } from '../../workers/projector/lines.js'
import { SeenTimes } from '../../workers/projector/seen.js'
import { type Projection, Stream, type StreamOptions } from '../../workers/projector/stream.js'
import { Random } from '../random.js'

/** Projects ten records at a time into nothing; fails while told to. */
class FakeProjection implements Projection {
  readonly store = 'clickhouse'
  readonly shard = 0
  readonly owes = false
  position = 0
  fails = 0
  error = new Error('away')
  attempts = 0
  finished = false

  async project(upTo: number): Promise<void> {
    this.attempts++
    if (this.fails > 0) {
      this.fails--
      throw this.error
    }
    this.position = Math.min(upTo, this.position + 10)
  }

  async finish(): Promise<void> {
    this.finished = true
  }
}

function begin(more: Partial<StreamOptions> = {}) {
  const positions = Positions.make(1)
  const projection = new FakeProjection()
  const told: string[] = []
  const stream = new Stream(projection, {
    positions,
    gatherMs: () => 0,
    gatherMax: 1_000,
    retryMinMs: 1,
    retryMaxMs: 5,
    now: Date.now,
    moved: () => {},
    failing: (_, error) => told.push(String(error)),
    recovered: () => told.push('recovered'),
    ...more,
  })
  return { positions, projection, stream, told }
}

async function until(condition: () => boolean): Promise<void> {
  for (const endMs = Date.now() + 60_000; !condition(); await sleep(5))
    if (Date.now() > endMs) throw new Error('it did not come to it')
}

t.test('a stream projects to the committed end by itself, and ends when it is there', async t => {
  const { positions, projection, stream } = begin()
  positions.set(0, 'committed', 35)
  await until(() => projection.position === 35)
  t.equal(projection.position, 35)
  positions.set(0, 'committed', 40)
  stream.stop(false)
  await stream.ended
  t.equal(projection.position, 40)
  t.ok(projection.finished)
})

t.test(
  'a position that the former owner of a shard moved is read again; twice in a row is a failure',
  async t => {
    const once = begin()
    once.projection.error = new PositionMoved('clickhouse', { generation: 'g', shard: 0 }, 0)
    once.projection.fails = 1
    once.positions.set(0, 'committed', 10)
    await until(() => once.projection.position === 10)
    once.stream.stop(true)
    await once.stream.ended
    t.same(once.told, [])
    const twice = begin()
    twice.projection.error = once.projection.error
    twice.projection.fails = 2
    twice.positions.set(0, 'committed', 10)
    await until(() => twice.told.length === 2)
    t.match(twice.told, [/PositionMoved/, 'recovered'])
    twice.stream.stop(true)
    await twice.stream.ended
  },
)

t.test(
  'a failing store is tried again without end; its first failure and its return are told once',
  async t => {
    const { positions, projection, stream, told } = begin()
    projection.fails = 6
    positions.set(0, 'committed', 10)
    await until(() => projection.position === 10)
    t.ok(projection.attempts >= 7)
    t.same(told, ['Error: away', 'recovered'])
    stream.stop(false)
    await stream.ended
  },
)

t.test('records gather until time or number is up, or somebody waits', async t => {
  const { positions, projection, stream } = begin({ gatherMs: () => 600_000, gatherMax: 100 })
  await until(() => projection.attempts === 1) // reads the stored position
  positions.set(0, 'committed', 5)
  // a stream that begins later and does not gather comes to its end first
  const other = begin()
  other.positions.set(0, 'committed', 5)
  await until(() => other.projection.position === 5)
  t.equal(other.projection.position, 5)
  t.equal(projection.position, 0, 'nobody waits')
  other.stream.stop(true)
  await other.stream.ended
  stream.want(5)
  await until(() => projection.position === 5)
  t.equal(projection.position, 5)
  positions.set(0, 'committed', 200)
  await until(() => projection.position > 100)
  t.ok(projection.position > 100, 'many are projected at once')
  stream.stop(true)
  await stream.ended
})

t.test('records wait for more as long as is right for their number', async t => {
  const asked: number[] = []
  const { positions, projection, stream } = begin({
    gatherMs: records => {
      asked.push(records)
      return records < 50 ? 600_000 : 0
    },
  })
  await until(() => projection.attempts === 1)
  positions.set(0, 'committed', 49)
  stream.poke()
  await until(() => asked.includes(49))
  t.equal(projection.position, 0)
  positions.set(0, 'committed', 50)
  await until(() => projection.position > 0)
  stream.stop(true)
  await stream.ended
})

t.test('few records gather three times as long for ClickHouse, those of many shards longer', async t => {
  const ms = (records: number, shards: number) => [
    gatherMs('postgres', records, shards, {}),
    gatherMs('clickhouse', records, shards, {}),
  ]
  t.same(ms(19_999, 1), [200, 3_000])
  t.same(ms(20_000, 1), [200, 1_000])
  t.same(ms(1, 16), [800, 5_000], 'up to a bound')
  t.same(ms(20_000, 16), [800, 4_000])
  t.same(ms(1, 32), [1_600, 8_000], 'never shorter than many')
})

t.test('an abandoned stream ends though its store is away', async t => {
  const { positions, projection, stream } = begin({ retryMinMs: 60_000, retryMaxMs: 60_000 })
  projection.fails = 1_000
  positions.set(0, 'committed', 5)
  await until(() => projection.attempts > 1)
  stream.stop(false)
  await tick()
  stream.stop(true)
  await stream.ended
  t.equal(projection.position, 0)
})

t.test(
  'FE-101…103: checks wait for ClickHouse up to a bound, and are sent again with the same token',
  async t => {
    const sent: { table: string; lines: number; token: string | undefined }[] = []
    let away = true
    let dropped = 0
    const writer = new CheckWriter(
      {
        insertRaw: async ({ table, rows, token }) => {
          sent.push({ table, lines: rows.toString().split('\n').length, token })
          if (away) throw new Error('away')
        },
      },
      lines => {
        dropped += lines
      },
    )
    writer.add(['1', '2'], ['a'])
    await writer.flush()
    away = false
    writer.add(['3'], [])
    await writer.flush()
    const counts = sent.filter(one => one.table === 'flag_checks')
    t.same(
      counts.map(one => one.lines),
      [2, 2, 1],
    )
    t.equal(counts[0]!.token, counts[1]!.token)
    t.not(counts[1]!.token, counts[2]!.token)
    writer.add(
      Array.from({ length: 200_010 }, () => 'x'),
      [],
    )
    t.equal(dropped, 10)
  },
)

t.test('FE-101: the last rows are sent although a flush of another table is in progress', async t => {
  const sent: string[] = []
  let stored = (): void => {}
  const slow = new Promise<void>(resolve => {
    stored = resolve
  })
  const insertRaw = async ({ table, rows }: { table: string; rows: string | Buffer }) => {
    if (table === 'events') await slow
    sent.push(`${table} ${rows}`)
  }
  const writer = new CheckWriter({ insertRaw }, () => {})
  writer.add(['1'], ['a'])
  const flushed = writer.flush()
  // the counts are sent, and their loop has ended
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  writer.add(['2'], [])
  const finished = writer.finish()
  stored()
  await Promise.all([flushed, finished])
  t.same(sent, ['flag_checks 1', 'events a', 'flag_checks 2'])
})

t.test('FE-101: few rows wait for more, many are sent at the next tick', async t => {
  const sent: number[] = []
  const insertRaw = async ({ rows }: { rows: unknown }) => {
    sent.push(String(rows).split('\n').length)
  }
  const writer = new CheckWriter({ insertRaw }, () => {})
  const after: number[] = []
  for (let second = 0; second < 6; second++) {
    writer.add([], ['a'])
    writer.tick()
    await writer.sent
    after.push(sent.length)
  }
  t.same(after, [0, 0, 1, 1, 1, 2])
  t.same(sent, [3, 3])
  writer.add(
    Array.from({ length: 5_000 }, () => 'x'),
    [],
  )
  writer.tick()
  t.equal(sent.at(-1), 5_000)
  await writer.sent
})

t.test('FE-101: no row is lost or sent twice while inserts of the other table fail', async t => {
  const events: string[] = []
  let fail = (): void => {}
  let store = (): void => {}
  const insertRaw = ({ table, rows }: { table: string; rows: string | Buffer }) => {
    if (table === 'flag_checks') return Promise.reject(new Error('away'))
    events.push(rows.toString())
    return new Promise<void>((resolve, reject) => {
      store = resolve
      fail = () => reject(new Error('away'))
    })
  }
  const turns = async () => {
    for (let turn = 0; turn < 5; turn++) await tick()
  }
  const writer = new CheckWriter({ insertRaw }, () => {})
  writer.add(['1'], ['a'])
  void writer.flush()
  await turns()
  void writer.flush()
  await turns()
  t.same(events, ['a'], 'the insert under way is waited for')
  writer.add([], ['b'])
  store()
  await turns()
  t.same(events, ['a', 'b'])
  fail()
  await turns()
  void writer.flush()
  await turns()
  t.same(events, ['a', 'b', 'b'], 'what failed is sent again')
  store()
})

t.test('CU-46: last seen times are the latest, unless an explicit one came in between', async t => {
  const record = (flags: number, fact: unknown) => ({
    sequence: 1,
    flags,
    month: 0,
    row: Buffer.alloc(0),
    ledger: Buffer.alloc(0),
    fact: Buffer.from(JSON.stringify(fact)),
  })
  const fact = (id: string, fx: unknown[], kind = 'c') => ({ k: kind, id, env: 'e', at: 1, fx })
  const seen = (atMs: number) => ({ t: 'seen', atMs })
  const times = new SeenTimes()
  times.add(
    record(1, fact('a', [{ t: 'used', subtype: 'x{"t":"seen","atMs":9', quantity: 1, atMs: 3 }, seen(5)])),
  )
  times.add(record(1, fact('a', [seen(3)])))
  times.add(record(1, fact('b', [seen(1), seen(7), seen(6)], 'u')))
  times.add(record(1, { id: 'c', k: 'c', fx: [seen(8)], env: 'e', at: 1 }))
  times.add(record(1, fact('d', [])))
  times.addAgain(record(2, fact('a', [{ t: 'seen_set', atMs: 2 }])))
  times.add(record(1, fact('a', [seen(4)])))
  t.same(
    [...times.times],
    [
      ['a', { kind: 'c', atMs: 4, absolute: true }],
      ['b', { kind: 'u', atMs: 7, absolute: false }],
      ['c', { kind: 'c', atMs: 8, absolute: false }],
    ],
  )
})

t.test('CU-46: last seen times of plain uses are those of their facts', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  for (let round = 0; round < 300; round++) {
    const [marked, parsed] = [new SeenTimes(), new SeenTimes()]
    for (let n = random.below(30); n >= 0; n--) {
      // ids that are like others but for one bit, and one that is none of ours
      const id = random.pick([
        encodeId('comp_', 1, 1),
        encodeId('comp_', 1, 2),
        encodeId('comp_', 0xffff_ffff, 0xffff_ffff),
        'comp_0lI0lI0lI0l',
      ])
      const at = 1_773_568_800_000 + random.below(20)
      const used = { t: 'used', subtype: 'x{"t":"seen","atMs":9', quantity: 1, atMs: at } as const
      const [flags, fx]: readonly [number, readonly Effect[]] = random.chance(0.8)
        ? [RecordFlag.event | RecordFlag.use, [used, { t: 'seen', atMs: at }]]
        : random.pick([
            [RecordFlag.event, [{ t: 'seen', atMs: at }]],
            [RecordFlag.identity, [{ t: 'seen_set', atMs: at }]],
            [RecordFlag.identity, [{ t: 'deleted', keys: [] }]],
          ])
      const fact: Fact = { k: 'c', id, env: encodeId('env_', 1, 1), at, fx }
      const record = {
        sequence: 1,
        flags,
        month: 0,
        row: Buffer.alloc(0),
        ledger: Buffer.alloc(0),
        fact: factBytes(fact),
      }
      marked.addAgain(record)
      parsed.addFact(fact)
    }
    const sorted = ({ times }: SeenTimes) => [...times].sort(([a], [b]) => (a < b ? -1 : 1))
    t.same(sorted(marked), sorted(parsed))
    t.same(sorted(marked), sorted(parsed), 'asked twice')
  }
})

t.test('lines are gathered and taken out whole', async t => {
  const pool = new Pieces()
  const long = 'long '.repeat(300_000)
  const lines = new Lines(pool)
  const expected: string[] = []
  const put = (line: string): void => {
    const bytes = Buffer.from(`..${line}\n..`)
    if (expected.length % 3 === 0) lines.addText(line)
    else if (expected.length % 3 === 1) lines.add(bytes, 2, bytes.length - 3)
    else lines.addWhole(bytes, 2, bytes.length - 2)
    expected.push(line)
  }
  for (let i = 0; i < 50_000; i++) put(i === 20_000 ? long : `zeile € ${i} ${'x'.repeat(i % 60)}`)
  for (const index of [49_999, 0, 1, 20_000, 19_998, 31_234]) {
    t.equal(lines.remove(index), expected[index])
    expected.splice(index, 1)
  }
  put('after')
  const text = Buffer.concat(lines.pieces()).toString()
  t.ok(text === `${expected.join('\n')}\n`, 'the rest, in order')
  t.ok(lines.taken.length > 2)

  // what was used is used again, and no more is kept than was
  pool.release(lines.taken)
  const again = new Lines(pool)
  again.addText('one')
  t.ok(lines.taken.includes(again.taken[0]!))
  t.equal(Buffer.concat(again.pieces()).toString(), 'one\n')
  pool.release(again.taken)
  const third = new Lines(pool)
  for (let i = 0; i < 3; i++) third.addText('y'.repeat(300_000))
  t.equal(third.taken.filter(piece => lines.taken.includes(piece)).length, 1)
})
