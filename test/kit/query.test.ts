// Query strings: types, spellings, bounds and echo (AL-32, AL-33, AL-50).
import t from 'tap'
import {
  boolean,
  datetime,
  integer,
  list,
  listOf,
  map,
  mapOrBare,
  oneOf,
  page,
  query,
  required,
  string,
  text,
  withDefault,
} from '../../src/kit/query.js'

const shape = query({
  ...page,
  q: text(512),
  company_id: string,
  ids: list,
  kinds: listOf(['plan', 'add_on']),
  plan_type: oneOf(['plan', 'add_on']),
  with_entitlements: boolean,
  start_time: datetime,
  price: integer(1, 100),
  keys: map,
})

const read = (raw: string) => shape.read(raw)
const refuses = (raw: string, message: RegExp) => t.throws(() => read(raw), message, raw)

t.test('AL-33 what was not given has its default, and is not echoed', async t => {
  t.same(read(''), { query: { limit: 100, offset: 0 }, echo: {} })
})

t.test('AL-33 what was given is echoed with its JSON type; a list always as a list', async t => {
  const raw =
    'limit=5&offset=10&q=a%20b+c&company_id=comp_1&ids=x&kinds=plan&kinds=add_on&plan_type=plan&with_entitlements=true&start_time=2024-01-02T03:04:05Z&price=7&keys=%7B%22id%22%3A%22a%22%7D'
  const { query, echo } = read(raw)
  t.same(echo, {
    limit: 5,
    offset: 10,
    q: 'a b c',
    company_id: 'comp_1',
    ids: ['x'],
    kinds: ['plan', 'add_on'],
    plan_type: 'plan',
    with_entitlements: true,
    start_time: '2024-01-02T03:04:05.000Z',
    price: 7,
    keys: { id: 'a' },
  })
  t.same(query, { ...echo, start_time: Date.UTC(2024, 0, 2, 3, 4, 5) })
})

t.test('AL-50 limit is 1 to 250, larger is clamped; offset is at least 0', async t => {
  t.match(read('limit=250'), { query: { limit: 250 }, echo: { limit: 250 } })
  t.match(read('limit=100000'), { query: { limit: 250 }, echo: { limit: 250 } })
  for (const wrong of ['0', '-1', '1.5', 'x', '1e2', '99999999999999999999']) {
    refuses(`limit=${wrong}`, /^limit: expected a whole number of at least 1/)
  }
  refuses('offset=-1', /^offset: expected a whole number of at least 0/)
  refuses('price=101', /^price: expected a whole number from 1 to 100/)
})

t.test('AL-32 unknown parameters are ignored; known ones of a wrong kind are refused by name', async t => {
  t.same(read('colour=red&colour=blue&%5B%5D=1&=&&a[b]=c').echo, {})
  refuses('with_entitlements=yes', /^with_entitlements: expected true or false/)
  refuses('plan_type=trial', /^plan_type: expected one of plan, add_on/)
  refuses('kinds=plan&kinds=trial', /^kinds: expected one of plan, add_on/)
  refuses('start_time=tomorrow', /^start_time: expected a date and time/)
  refuses('q=a&q=b', /^q: expected exactly one value/)
  refuses(`q=${'x'.repeat(513)}`, /^q is longer than 512 characters/)
  refuses('q=%E0%A4%A', /not valid percent-encoding/)
  refuses('q=%00', /U\+0000/)
})

t.test('a list holds at most 100 values; an empty one is refused (decision 38)', async t => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `ids=i${i}`).join('&')
  t.equal(read(many(100)).query.ids?.length, 100)
  refuses(many(101), /^ids has more than 100 values/)
  for (const raw of ['ids=', 'ids', 'ids[]=', 'ids=&ids=a', 'ids=a,', 'ids=,', 'ids[0]=a&ids[1]='])
    refuses(raw, /^ids (is empty|has an empty value)/)
})

t.test('api/README (D17) a list is repeated, bracketed or joined by commas', async t => {
  for (const raw of [
    'ids=a&ids=b',
    'ids=a,b',
    'ids=a%2Cb',
    'ids[]=a&ids[]=b',
    'ids%5B0%5D=a&ids[1]=b',
    'ids=a&ids[]=b',
  ])
    t.same(read(raw).query.ids, ['a', 'b'], raw)
  t.same(read('kinds=plan,add_on').query.kinds, ['plan', 'add_on'])
  refuses('kinds[]=trial', /^kinds: expected one of plan, add_on/)
  refuses('ids[name]=a', /^ids: expected ids=… repeated/)
  refuses(`ids=${'a,'.repeat(100)}a`, /^ids has more than 100 values/)
  t.same(query({ ids: required(list) }, 'not_found').read('ids=a').query, { ids: ['a'] })
  t.throws(() => query({ ids: required(list) }, 'not_found').read(''), { code: 'not_found' })
})

t.test('a map is a JSON object or bracketed pairs', async t => {
  t.same(read('keys={"a":"1","b":"2"}').query.keys, { a: '1', b: '2' })
  t.same(read('keys[a]=1&keys%5Bb%5D=2').query.keys, { a: '1', b: '2' })
  t.same(read('keys[a%20b]=%26').query.keys, { 'a b': '&' })
  t.same(read('a=1').query.keys, undefined, 'bare names are for the lookups')
  for (const wrong of ['1', 'null', '["a","b"]', '{', '"x"'])
    refuses(`keys=${wrong}`, /^keys: expected a JSON object/)
  refuses('keys={"a":1}', /^keys: every value must be a string/)
  refuses('keys={"a":"\\u0000"}', /^keys: every value must be a string/)
})

t.test('the lookups also take bare pairs, when no other spelling is used', async t => {
  const lookup = query({ keys: mapOrBare })
  t.same(lookup.read('id=a&email=b%40c').echo, { keys: { id: 'a', email: 'b@c' } })
  t.same(lookup.read('keys[id]=a&utm=x').echo, { keys: { id: 'a' } })
  t.same(lookup.read('keys={"id":"a"}&utm=x').echo, { keys: { id: 'a' } })
  t.same(lookup.read('').echo, {})
})

t.test('a name like __proto__ is data and pollutes nothing', async t => {
  const found = query({ keys: mapOrBare }).read('keys[__proto__]=x&keys={"constructor":"y"}').query.keys
  t.same(Object.entries(found ?? {}), [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
  t.equal(({} as Record<string, unknown>).x, undefined)
})

t.test('missing required parameters are refused, defaults filled in', async t => {
  const strict = query({ ids: required(list), flag: withDefault(boolean, false) })
  t.throws(() => strict.read(''), /^ids is required/)
  t.throws(() => strict.read('ids='), /^ids is empty/)
  t.same(strict.read('ids=a'), { query: { ids: ['a'], flag: false }, echo: { ids: ['a'] } })
})

t.test('a date takes any offset, also with its plus unescaped', async t => {
  const ms = Date.UTC(2024, 0, 2, 1, 4, 5)
  for (const raw of [
    '2024-01-02T03:04:05+02:00',
    '2024-01-02T03:04:05%2B02:00',
    '2024-01-02T01:04:05.000Z',
  ]) {
    t.equal(read(`start_time=${raw}`).query.start_time, ms, raw)
  }
})
