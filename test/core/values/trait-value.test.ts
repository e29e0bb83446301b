import t from 'tap'
import { flattenTraits, inferType, traitJson, traitText } from '../../../src/core/values/trait-value.js'

t.test('CU-33 nested objects flatten into paths, arrays stay compact JSON text', async t => {
  t.same(flattenTraits({ address: { city: 'X', geo: { lat: 1.5 } }, tags: ['a', { b: 1 }] }), [
    { name: 'address.city', hierarchy: ['address', 'city'], text: 'X', inferredType: 'string' },
    { name: 'address.geo.lat', hierarchy: ['address', 'geo', 'lat'], text: '1.5', inferredType: 'number' },
    { name: 'tags', hierarchy: ['tags'], text: '["a",{"b":1}]', inferredType: 'string' },
  ])
  t.same(flattenTraits({ empty: {} }), [], 'an object without members is no trait')
})

t.test('CU-33 five levels are taken, six are not; 200 traits are taken, 201 are not', async t => {
  t.match(flattenTraits({ a: { b: { c: { d: { e: 1 } } } } }), [{ name: 'a.b.c.d.e' }])
  t.match(flattenTraits({ a: { b: { c: { d: { e: { f: 1 } } } } } }), { refused: /deeper than 5/ })
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, i]))
  t.equal((flattenTraits(many(200)) as unknown[]).length, 200)
  t.match(flattenTraits(many(201)), { refused: /more than 200/ })
  let deep: object = {}
  for (let i = 0; i < 20_000; i++) deep = { d: deep }
  t.match(flattenTraits({ deep }), { refused: /deeper/ }, 'depth is bounded before the stack is')
})

t.test('CU-33 names are never empty nor endless, and "__proto__" is a name', async t => {
  t.match(flattenTraits({ '': 1 }), { refused: /empty/ })
  t.match(flattenTraits({ a: { '': 1 } }), { refused: /empty/ })
  t.match(flattenTraits({ ['n'.repeat(256)]: 1 }), { refused: /longer than 255/ })
  t.match(flattenTraits(JSON.parse('{"__proto__":{"x":1}}')), [{ name: '__proto__.x', text: '1' }])
})

t.test('CU-34 null removes, the empty string is a value', async t => {
  t.match(flattenTraits({ gone: null, empty: '' }), [
    { name: 'gone', text: null },
    { name: 'empty', text: '' },
  ])
})

t.test(
  'CU-32 numbers are stored in their shortest decimal form, booleans as words, strings verbatim',
  async t => {
    t.equal(traitText(5.0), '5')
    t.equal(traitText(-0), '0')
    t.equal(traitText(0.1), '0.1')
    t.equal(traitText(1e21), '1000000000000000000000')
    t.equal(traitText(-1.5e21), '-1500000000000000000000')
    t.equal(
      traitText(1e23),
      `1${'0'.repeat(23)}`,
      'digits are kept as the caller wrote them; a double would change them',
    )
    t.equal(traitText(1e300), `1${'0'.repeat(300)}`)
    t.equal(traitText([1e21, { a: -1e22 }, 1e-7]), `[1${'0'.repeat(21)},{"a":-1${'0'.repeat(22)}},1e-7]`)
    t.equal(traitText(1e-7), '1e-7')
    t.equal(traitText(true), 'true')
    t.equal(traitText(' 5.0 '), ' 5.0 ')
  },
)

t.test('CU-31 the type is inferred from the first value', async t => {
  const cases: [unknown, string][] = [
    [true, 'boolean'],
    [3, 'number'],
    ['3', 'string'],
    ['2026-02-28', 'date'],
    ['2026-02-30', 'string'],
    ['2026-02-28T10:00:00Z', 'date'],
    ['2026-02-28T10:00:00.123456+02:00', 'date'],
    ['2026-02-28T25:00:00Z', 'string'],
    ['2026-02-28T10:00:00', 'string'],
    ['20260228', 'string'],
    ['http://x', 'url'],
    ['https://x', 'url'],
    ['ftp://x', 'string'],
    [['2026-02-28'], 'string'],
  ]
  for (const [value, type] of cases) t.equal(inferType(value), type, JSON.stringify(value))
})

t.test('CU-32 the map view gives numbers and booleans back when the text fits the type', async t => {
  t.equal(traitJson('5', 'number'), 5)
  t.equal(traitJson('-1.5e3', 'number'), -1500)
  t.equal(traitJson('5', 'currency'), 5)
  t.equal(traitJson('5', 'string'), '5')
  t.equal(traitJson('abc', 'number'), 'abc')
  t.equal(traitJson('', 'number'), '')
  t.equal(traitJson('0x10', 'number'), '0x10')
  t.equal(traitJson('1e999', 'number'), '1e999')
  t.equal(traitJson('9007199254740993', 'number'), '9007199254740993', 'never another number than was stored')
  t.equal(traitJson('true', 'boolean'), true)
  t.equal(traitJson('false', 'boolean'), false)
  t.equal(traitJson('1', 'boolean'), '1')
  t.equal(traitJson('2026-01-01', 'date'), '2026-01-01')
})
