// Answers that are kept: by whom they may be given, until when, and how many.
import t from 'tap'
import { hashOfRequest, ResponseCache } from '../../../src/engine/cache/response-cache.js'
import { Changes } from '../../../src/protocol/version-counters.js'

const view = (text: string): DataView => {
  const bytes = new TextEncoder().encode(text)
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
const told = (flag: string) =>
  JSON.stringify({
    data: { flag, flag_id: 'flag_1', value: true, reason: 'r', company_id: 'comp_1', user_id: null },
  })

function world(recordsPerSecond = 0) {
  const changes = Changes.make(2)
  changes.open(0)
  changes.open(1)
  const directory = { keyEpoch: 0 }
  const answers = new ResponseCache(changes, directory, recordsPerSecond)
  const find = (name: string, text: string, atMs = 1_000, env = 'env_1') =>
    answers.find(hashOfRequest(name, view(text)), env, name, view(text), atMs)
  /** Keep what a question was told. */
  const keep = (
    name: string,
    text: string,
    answer = told(name),
    companyId: string | null = 'comp_1',
    standing = { untilMs: 2_000, figures: false },
  ) => {
    const stamp = answers.stamp('env_1', companyId, 1_000)
    const hash = hashOfRequest(name, view(text))
    if (stamp) answers.keep({ hash, name, body: text }, { stamp, ...standing }, answer)
  }
  return { changes, directory, answers, find, keep }
}

t.test('an entry answers only the same question, while it is valid', async t => {
  const { changes, directory, find, keep } = world()
  keep('a', '{"company":{"id":"x"}}')
  t.equal(find('a', '{"company":{"id":"x"}}')?.toString(), told('a'))
  t.equal(find('b', '{"company":{"id":"x"}}'), null, 'another flag')
  t.equal(find('a', '{"company":{"id":"y"}}'), null, 'another body')
  t.equal(find('a', '{"company":{"id":"x"}}', 1_000, 'env_2'), null, 'another environment')
  t.ok(find('a', '{"company":{"id":"x"}}', 1_999))
  t.equal(find('a', '{"company":{"id":"x"}}', 2_000), null, 'time would change it')
  t.equal(find('a', '{"company":{"id":"x"}}', 999), null, 'the test clock was taken back')
  changes.changed('comp_other')
  t.ok(find('a', '{"company":{"id":"x"}}'))
  changes.changed('comp_1')
  t.equal(find('a', '{"company":{"id":"x"}}'), null, 'its company changed')
  keep('a', '{"company":{"id":"x"}}')
  t.ok(find('a', '{"company":{"id":"x"}}'))
  directory.keyEpoch++
  t.equal(find('a', '{"company":{"id":"x"}}'), null, 'keys may find somebody else')
  for (const end of ['renew', 'close'] as const) {
    keep('a', '{"company":{"id":"x"}}')
    t.ok(find('a', '{"company":{"id":"x"}}'))
    for (const shard of [0, 1]) changes[end](shard)
    t.equal(find('a', '{"company":{"id":"x"}}'), null, end)
  }
  keep('a', '{"company":{"id":"x"}}')
  t.equal(find('a', '{"company":{"id":"x"}}'), null, 'none is kept of a shard that is not there')
})

t.test('FE-105 use ends answers that show figures, and those alone', async t => {
  const { changes, find, keep } = world()
  keep('a', '{}')
  keep('b', '{}', told('b'), 'comp_1', { untilMs: 2_000, figures: true })
  t.ok(find('a', '{}') && find('b', '{}'))
  changes.used('comp_other')
  t.ok(find('a', '{}') && find('b', '{}'))
  changes.used('comp_1')
  t.ok(find('a', '{}'))
  t.equal(find('b', '{}'), null)
  keep('b', '{}', told('b'), 'comp_1', { untilMs: 2_000, figures: true })
  changes.changed('comp_1')
  t.equal(find('a', '{}'), null)
  t.equal(find('b', '{}'), null)
})

t.test('FE-103 an entry ends after five seconds', async t => {
  const { find, keep } = world()
  keep('a', '{}', told('a'), 'comp_1', { untilMs: 60_000, figures: false })
  t.ok(find('a', '{}', 5_999))
  t.equal(find('a', '{}', 6_000), null)
})

t.test('FE-100 answers given again are recorded one by one, so many a second', async t => {
  const { answers, find, keep } = world(3)
  const asked = '{"company":{"id":"x"},"user":{},"preflight":{"usage":1}}'
  keep('a', asked)
  keep('b', '{}')
  for (const atMs of [1_001, 1_002]) find('a', asked, atMs)
  for (const atMs of [1_003, 1_004]) find('b', '{}', atMs)
  interface Row {
    readonly id: string
    readonly captured_at: number
    readonly body: string
  }
  const { rows, counts } = answers.takeCounts(true)!
  const records = rows.map(row => JSON.parse(row) as Row)
  t.strictSame(
    records.map(({ captured_at }) => captured_at).sort(),
    [1_001, 1_002, 1_003],
    'the fourth is only counted',
  )
  t.strictSame(
    counts.map(row => JSON.parse(row).checks),
    [2, 2],
  )
  const first = records.find(({ captured_at }) => captured_at === 1_001)!
  t.match(first, {
    environment_id: 'env_1',
    type: 'flag_check',
    mode: 'recorded',
    subtype: 'a',
    flag_id: 'flag_1',
    company_id: 'comp_1',
    user_id: undefined,
  })
  t.strictSame(JSON.parse(first.body), {
    flag_key: 'a',
    flag_id: 'flag_1',
    value: true,
    reason: 'r',
    rule_id: null,
    company_id: 'comp_1',
    user_id: null,
    req_company: { id: 'x' },
    req_user: null,
    error: null,
    preflight: true,
  })
  t.notOk('preflight' in JSON.parse(records.find(({ captured_at }) => captured_at === 1_003)!.body))
  t.equal(new Set(records.map(({ id }) => id)).size, 3)
  find('b', '{}', 1_005)
  t.strictSame(answers.takeCounts(true)!.rows, [], 'none is left in this second')
  answers.tick()
  find('b', '{}', 1_006)
  t.equal(answers.takeCounts(true)!.rows.length, 1)
})

t.test('a change while the answer is in flight keeps it from being cached', async t => {
  const { changes, answers, find } = world()
  const asked = { hash: hashOfRequest('a', view('{}')), name: 'a', body: '{}' }
  const stamp = answers.stamp('env_1', 'comp_1', 1_000)!
  changes.changed('comp_1')
  answers.keep(asked, { stamp, untilMs: 2_000, figures: false }, told('a'))
  t.equal(find('a', '{}'), null)
})

t.test('bodies of any length are distinguished', async t => {
  const { find, keep } = world()
  const texts = Array.from({ length: 40 }, (_, i) => 'x'.repeat(i))
  for (const text of texts) keep('a', text, told(`f${text.length}`))
  for (const text of texts) {
    const kept = find('a', text)
    if (kept !== null) t.equal(kept.toString(), told(`f${text.length}`))
  }
  t.ok(texts.filter(text => find('a', text) !== null).length > 35, 'hardly any in the place of another')
})

t.test('hits are reported after ten seconds, and once; FE-102 last checks of flags each second', async t => {
  const { answers, find, keep } = world()
  keep('a', '{}')
  for (const atMs of [1_001, 1_003, 1_005]) find('a', '{}', atMs)
  answers.tick()
  t.strictSame(answers.takeCounts(), { counts: [], rows: [], flags: [['env_1', 'a', 1_005]], users: [] })
  for (let second = 1; second < 9; second++) answers.tick()
  t.equal(answers.takeCounts(), null)
  answers.tick()
  const { counts, flags, users } = answers.takeCounts()!
  t.strictSame([counts.map(row => JSON.parse(row).checks), flags, users], [[3], [], []])
  t.equal(answers.takeCounts(true), null)
})

t.test(
  'FE-100 an answer kept again goes on counting; another one, or one of another minute, begins anew',
  async t => {
    const { answers, find, changes } = world()
    const keepAt = (sinceMs: number, answer: string, name = 'a') => {
      const stamp = answers.stamp('env_1', 'comp_1', sinceMs)!
      const hash = hashOfRequest(name, view('{}'))
      answers.keep({ hash, name, body: '{}' }, { stamp, untilMs: 1e9, figures: false }, answer)
      t.equal(find(name, '{}', sinceMs)?.toString(), answer)
    }
    keepAt(50_000, told('a'))
    changes.changed('comp_1')
    keepAt(56_000, told('a'))
    keepAt(61_000, told('a'))
    keepAt(62_000, told('a').replace('true', 'false'))
    const { counts } = answers.takeCounts(true)!
    const found = counts.map(row => JSON.parse(row) as { minute: number; value: unknown; checks: number })
    t.strictSame(
      found.map(({ minute, value, checks }) => [minute, Boolean(value), checks]),
      [
        [0, true, 2],
        [60, true, 1],
        [60, false, 1],
      ],
    )
  },
)

t.test('the oldest entries make room for the newest, and none of their hits is lost', async t => {
  const { answers, find, keep } = world()
  const big = JSON.stringify({
    data: {
      flag: 'f',
      flag_id: 'flag_1',
      value: true,
      reason: 'a reason of some length '.repeat(2_000),
      company_id: null,
      user_id: 'user_1',
    },
  })
  const asked = (i: number) => `{"user":{"id":"${i}"}}`
  // in three rounds the ring comes round several times; lengths differ, so that entries never lie where one lay before
  const count = 3_000
  for (let i = 0; i < count; i++) {
    keep('', asked(i), big + ' '.repeat(i % 97), null)
    t.ok(find('', asked(i)), { diagnostic: false })
  }
  const left = Array.from({ length: count }, (_, i) => i).filter(i => find('', asked(i)) !== null)
  t.ok(left.length > 300 && left.length * big.length < 33 << 20, `${left.length} of ${count} are there`)
  t.ok(
    left.every(i => i >= count - left.length - 40),
    'the newest, but for some whose place another took',
  )
  const rows: { flag_id: string; checks: number }[] = []
  let parts = 0
  for (let taken = answers.takeCounts(true); taken !== null; taken = answers.takeCounts(true)) {
    parts++
    rows.push(...taken.counts.map(row => JSON.parse(row)))
    t.equal(taken.users[0]?.[1], 'user_1')
  }
  t.ok(parts > 10, `${parts} parts`)
  t.equal(
    rows.reduce((sum, { checks }) => sum + checks, 0),
    count + left.length,
  )
})

t.test('entries without requests are evicted', async t => {
  const { answers, find, keep } = world()
  keep('a', '{}')
  for (let second = 0; second < 5; second++) answers.tick()
  t.ok(find('a', '{}'), 'the clock of its environment may stand still')
  answers.tick()
  t.equal(find('a', '{}'), null)
})
