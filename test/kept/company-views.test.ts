// Views of companies that are kept: until when they are given again, and how many bytes they take.
import t from 'tap'
import { type Beside, CompanyViews } from '../../src/kept/company-views.js'
import { Changes } from '../../src/wire/version-counters.js'
import { catalogData } from '../core/make.js'

function world(bytesMax = 8_000) {
  const changes = Changes.make(2)
  changes.open(0)
  changes.open(1)
  let bytes = 0
  const metrics = {
    again: { count: 0 },
    bytes: {
      set: (value: number) => {
        bytes = value
      },
    },
  }
  const views = new CompanyViews(changes, bytesMax, metrics)
  const beside: Beside = { catalog: catalogData(), traits: [], members: 1 }
  const keep = (id: string, untilMs = 2_000, length = 100) => {
    const stamp = views.stamp('env_1', id, 1_000)
    if (stamp !== null)
      views.keep(
        { name: id, nowMs: 1_000, beside },
        { pieces: [Buffer.alloc(length)], figures: null },
        { stamp, untilMs },
      )
    return stamp
  }
  const has = (id: string, nowMs = 1_000, more: Partial<Beside> = {}) =>
    views.find({ name: id, nowMs, beside: { ...beside, ...more } }) !== null
  const weight = () => {
    views.tick()
    return bytes
  }
  return { changes, metrics, views, beside, keep, has, weight }
}

t.test('FE-105 a view is given again until its company changes or uses something', async t => {
  const { changes, metrics, keep, has } = world()
  for (const change of ['changed', 'used'] as const) {
    keep('comp_1')
    changes[change]('comp_2')
    t.ok(has('comp_1'))
    changes[change]('comp_1')
    t.notOk(has('comp_1'), change)
  }
  for (const change of ['renew', 'close'] as const) {
    keep('comp_1')
    t.ok(has('comp_1'))
    for (const shard of [0, 1]) changes[change](shard)
    t.notOk(has('comp_1'), change)
  }
  t.equal(keep('comp_1'), null, 'none is kept of a shard that is not there')
  t.equal(metrics.again.count, 4)
})

t.test('a view rests on the catalog, the traits, the number of users, and time', async t => {
  const { keep, has } = world()
  keep('comp_1')
  t.ok(has('comp_1', 1_999))
  t.notOk(has('comp_1', 2_000), 'time would change it')
  t.notOk(has('comp_1', 999), 'the test clock was taken back')
  t.ok(has('comp_1'))
  for (const more of [{ catalog: catalogData() }, { traits: [] }, { members: 2 }]) {
    t.notOk(has('comp_1', 1_000, more))
    keep('comp_1')
    t.ok(has('comp_1'))
  }
})

t.test('a view that is late is not kept: its company changed while it was made', async t => {
  const { changes, views, beside, has } = world()
  const stamp = views.stamp('env_1', 'comp_1', 1_000)!
  changes.used('comp_1')
  views.keep(
    { name: 'comp_1', nowMs: 1_000, beside },
    { pieces: [Buffer.alloc(10)], figures: null },
    { stamp, untilMs: 2_000 },
  )
  t.notOk(has('comp_1'))
})

t.test(
  'promise 8: views have a bound of bytes, and those that were not asked for lately go first',
  async t => {
    const { keep, has, weight } = world(1_000)
    for (let i = 0; i < 10; i++) keep(`comp_${i}`)
    t.equal(weight(), 1_000)
    t.ok(has('comp_0'))
    keep('comp_10')
    t.equal(weight(), 1_000)
    t.ok(has('comp_0'), 'asked for lately')
    t.notOk(has('comp_1'))
    keep('comp_11', 2_000, 126)
    t.notOk(has('comp_11'), 'too large a part of the whole')
    keep('comp_0', 2_000, 50)
    t.equal(weight(), 950, 'a view takes the place of the one before')
    const off = world(0)
    t.equal(off.keep('comp_1'), null)
  },
)

t.test('views give their memory back after a minute, or when they end', async t => {
  const { changes, keep, has, weight } = world()
  keep('comp_1', 100_000)
  keep('comp_2', 100_000)
  t.equal(weight(), 200)
  changes.changed('comp_2')
  t.equal(weight(), 100)
  for (let second = 0; second < 60; second++) weight()
  t.notOk(has('comp_1'))
  t.equal(weight(), 0)
})

t.test('figures are kept when their view ends, and counted once', async t => {
  const { changes, views, beside, has, weight } = world()
  const figures = {
    mark: 'a 1',
    entitlements: Buffer.alloc(40),
    metrics: Buffer.alloc(50),
    balances: '{}',
  }
  const pieces = [Buffer.alloc(10), figures.entitlements, figures.metrics]
  views.keep(
    { name: 'comp_1', nowMs: 1_000, beside },
    { pieces: pieces, figures },
    { stamp: views.stamp('env_1', 'comp_1', 1_000)!, untilMs: 2_000 },
  )
  t.equal(weight(), 102)
  t.same(views.find({ name: 'comp_1', nowMs: 1_000, beside }), pieces)
  changes.changed('comp_1')
  t.notOk(has('comp_1'), 'its view has ended')
  t.equal(views.figures('comp_1'), figures)
  t.equal(weight(), 92)
  const late = views.stamp('env_1', 'comp_1', 1_000)!
  changes.changed('comp_1')
  views.keep(
    { name: 'comp_1', nowMs: 1_000, beside },
    { pieces: pieces, figures },
    { stamp: late, untilMs: 2_000 },
  )
  t.notOk(has('comp_1'), 'a view that is late is not kept')
  t.equal(views.figures('comp_1'), figures, 'its figures are: their shard says whether they are the same')
  for (let second = 0; second < 61; second++) weight()
  t.equal(views.figures('comp_1'), null)
  const off = world(0)
  off.views.keepFigures('comp_1', figures)
  t.equal(off.views.figures('comp_1'), null)
})

t.test(
  'when views are full a company needs more questions than the one whose place it would take',
  async t => {
    const { views, keep } = world(1_000)
    t.ok(views.isWanted('comp_10'), 'there is room')
    for (let i = 0; i < 10; i++) keep(`comp_${i}`)
    for (let i = 0; i < 3; i++) views.ask('comp_0')
    for (let i = 0; i < 3; i++) views.ask('comp_10')
    t.notOk(views.isWanted('comp_10'), 'comp_0 was asked for as often')
    t.ok(views.isWanted('comp_1'), 'what is kept stays wanted')
    views.ask('comp_10')
    t.ok(views.isWanted('comp_10'))
    t.notOk(world(0).views.isWanted('comp_1'))
  },
)

t.test('counts of questions fade: a company that was asked for once gives way', async t => {
  const { views, keep } = world(1_000)
  for (let i = 0; i < 10; i++) keep(`comp_${i}`)
  for (let i = 0; i < 200; i++) views.ask('comp_0')
  for (let i = 0; i < 7 << 15; i++) views.ask('comp_11')
  for (let i = 0; i < 5; i++) views.ask('comp_10')
  t.ok(views.isWanted('comp_10'))
})

t.test('a company that changes faster than it is asked for is kept more and more rarely', async t => {
  const { changes, views, keep, has } = world()
  const pass = (): number => {
    let passed = 0
    while (!views.isWanted('comp_1')) passed++
    return passed
  }
  const passed = []
  for (let i = 0; i < 8; i++) {
    passed.push(pass())
    keep('comp_1')
    changes.changed('comp_1')
    t.notOk(has('comp_1'))
  }
  t.same(passed, [0, 1, 3, 7, 15, 31, 31, 31])
  pass()
  keep('comp_1')
  t.ok(has('comp_1'))
  changes.changed('comp_1')
  t.notOk(has('comp_1'))
  t.equal(pass(), 0, 'it was of use')
})

t.test('figures that are the same again were of use', async t => {
  const { views } = world()
  const part = (mark: string) => ({
    mark,
    entitlements: Buffer.alloc(4),
    metrics: Buffer.alloc(5),
    balances: '{}',
  })
  const first = part('a 1')
  views.keepFigures('comp_1', first)
  views.keepFigures('comp_1', { ...part('a 2'), metrics: first.metrics })
  t.ok(views.isWanted('comp_1'))
  views.keepFigures('comp_1', part('a 3'))
  t.ok(views.isWanted('comp_1'), 'its metrics were')
  views.keepFigures('comp_1', part('a 4'))
  t.notOk(views.isWanted('comp_1'))
})
