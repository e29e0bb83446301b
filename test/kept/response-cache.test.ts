// Answers that are kept: by whom they may be given, until when, and how many.
import t from 'tap'
import { type CheckRequest, hashOfRequest, ResponseCache } from '../../src/kept/response-cache.js'
import { noRecords, type RecordRates } from '../../src/wire/record-budget.js'
import { Changes } from '../../src/wire/version-counters.js'

const view = (text: string): DataView => {
  const bytes = new TextEncoder().encode(text)
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
const told = (flag: string) =>
  JSON.stringify({
    data: {
      flag,
      flag_id: 'flag_1',
      value: true,
      reason: 'r',
      company_id: 'comp_1',
      user_id: null,
      feature_allocation: 1,
    },
  })

const request = (name: string, text: string, nowMs = 1_000, environmentId = 'env_1'): CheckRequest => ({
  hash: hashOfRequest(name, view(text)),
  environmentId,
  name,
  body: view(text),
  nowMs,
})

function world(records: Partial<RecordRates> = {}) {
  const changes = Changes.make(2)
  changes.open(0)
  changes.open(1)
  const directory = { keyEpoch: 0 }
  const answers = new ResponseCache(changes, directory, { ...noRecords, ...records })
  const find = (name: string, text: string, atMs = 1_000, env = 'env_1') => {
    const bytes = answers.find(request(name, text, atMs, env))
    return bytes && Buffer.from(bytes)
  }
  /** Ask twice, and keep what the second was told. */
  const keep = (
    name: string,
    text: string,
    answer = told(name),
    companyId: string | null = 'comp_1',
    standing = { untilMs: 2_000, figures: false },
  ) => {
    const ask = (): CheckRequest | null => answers.repeated(request(name, text))
    const asked = ask() ?? ask()
    const stamp = answers.stamp('env_1', companyId, name, 1_000)
    if (asked && stamp) answers.keep(asked, answer, { ...stamp, ...standing })
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

t.test('FE-105 a change of one flag ends the answers of that flag alone', async t => {
  const { changes, find, keep } = world()
  for (const name of ['a', 'b']) keep(name, '{}')
  t.ok(find('a', '{}') && find('b', '{}'))
  for (const shard of [0, 1]) changes.definitionsChanged(shard, 'env_1', ['a'])
  t.equal(find('a', '{}'), null)
  t.ok(find('b', '{}'), 'another flag')
  keep('a', '{}')
  for (const shard of [0, 1]) changes.definitionsChanged(shard, 'env_2', ['a'])
  t.ok(find('a', '{}'), 'the flag of another environment')
  for (const shard of [0, 1]) changes.renew(shard)
  t.equal(find('a', '{}'), null)
  t.equal(find('b', '{}'), null, 'other definitions changed')
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
  const { answers, find, keep } = world({ perSecond: 3 })
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
  const { rows, counts } = answers.takeCounts(10_000)!
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
  t.strictSame(answers.takeCounts(10_000)!.rows, [], 'none is left in this second')
  answers.tick()
  find('b', '{}', 1_006)
  t.equal(answers.takeCounts(10_000)!.rows.length, 1)
})

t.test('FE-101 counts of answers given again gather for ten seconds, or until the process ends', async t => {
  const { answers, find, keep } = world()
  keep('a', '{}')
  const checks = (nowMs: number, all = false) =>
    answers.takeCounts(nowMs, all)?.counts.map(row => JSON.parse(row).checks)
  find('a', '{}', 1_001)
  t.strictSame(checks(10_000), [1])
  for (const atMs of [1_002, 1_003]) {
    find('a', '{}', atMs)
    t.strictSame(checks(10_000 + atMs), [], 'its flag was checked, and the count waits')
  }
  t.equal(checks(19_999), undefined)
  t.strictSame(checks(20_000), [2], 'both in one row')
  find('a', '{}', 1_004)
  t.strictSame(checks(20_001, true), [1])
  t.equal(checks(20_001, true), undefined)
})

t.test('a change while the answer is in flight keeps it from being cached', async t => {
  const { changes, answers, find } = world()
  answers.repeated(request('a', '{}'))
  const asked = answers.repeated(request('a', '{}'))!
  const stamp = answers.stamp('env_1', 'comp_1', 'a', 1_000)!
  changes.changed('comp_1')
  answers.keep(asked, told('a'), { ...stamp, untilMs: 2_000, figures: false })
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

t.test('each is counted once, a part at a time; bytes are bounded and given back', async t => {
  const { changes, answers, find, keep } = world()
  const big = JSON.stringify({
    data: {
      flag: 'f',
      flag_id: 'flag_1',
      value: true,
      reason: 'a reason of some length '.repeat(2_000),
      company_id: null,
      user_id: 'user_1',
      feature_allocation: null,
    },
  })
  let kept = 0
  for (let i = 0; i < 2_000; i++) {
    keep('', `{"user":{"id":"${i}"}}`, big, null)
    if (find('', `{"user":{"id":"${i}"}}`)) kept++
  }
  t.ok(kept * big.length < 40 << 20 && kept > 300, `${kept} of 2000 answers of ${big.length} bytes`)
  const rows: { flag_id: string; checks: number }[] = []
  let parts = 0
  const take = () => answers.takeCounts(10_000)
  for (let taken = take(); taken !== null; taken = take()) {
    parts++
    rows.push(...taken.counts.map(row => JSON.parse(row)))
    t.same(taken.users[0]?.ids, ['user_1'])
  }
  t.ok(parts > 10, `${parts} parts`)
  t.strictSame(
    rows.map(({ checks }) => checks),
    [kept],
    'the same of one minute is one row',
  )
  for (const shard of [0, 1]) changes.renew(shard)
  t.ok(passSecond(answers) > 10, 'a second is swept in parts, too')
  keep('', '{"user":{"id":"new"}}', big, null)
  t.ok(find('', '{"user":{"id":"new"}}'), 'there is room again')
})

t.test('entries without requests are evicted', async t => {
  const { answers, find, keep } = world()
  keep('a', '{}')
  for (let second = 0; second < 5; second++) passSecond(answers)
  t.ok(find('a', '{}'), 'the clock of its environment may stand still')
  passSecond(answers)
  t.equal(find('a', '{}'), null)
})

/** A second passes, and all places are swept. returns the parts in which they were. */
function passSecond(answers: ResponseCache): number {
  answers.tick()
  let parts = 1
  while (answers.sweepSome()) parts++
  return parts
}

t.test(
  'EX-5 answers that deny are recorded beyond the rate, within a bound of each company and minute',
  async t => {
    const { answers, find, keep } = world({ deniedPerMinute: 2, deniedPerSecond: 10 })
    const denied = told('a').replace('"value":true', '"value":false')
    keep('a', '{}', denied)
    keep('b', '{}')
    for (let i = 0; i < 5; i++) {
      find('a', '{}', 1_100 + i)
      find('b', '{}', 1_100 + i)
    }
    const rows = answers.takeCounts(0, true)!.rows.map(row => JSON.parse(row) as { subtype: string })
    t.same(
      rows.map(row => row.subtype),
      ['a', 'a'],
    )
  },
)
