// How traits' texts are read and compared (FE-63…68, FE-84).
import t, { type Test } from 'tap'
import type { ComparableOperator, ComparableType } from '../../../schemas/enums.js'
import {
  byteOrder,
  comparableType,
  compareTexts,
  plusUsage,
  readInstant,
  readNumber,
  strictInteger,
  testAgainst,
} from '../../../src/core/values/trait.js'

type Row = readonly [left: string, operator: ComparableOperator, right: string, holds: boolean]

const compares = (t: Test, type: ComparableType, rows: readonly Row[]) => {
  for (const [left, operator, right, holds] of rows) {
    const title = `${JSON.stringify(left)} ${operator} ${JSON.stringify(right)}`
    t.equal(compareTexts(type, operator, left, right), holds, title)
    t.equal(testAgainst(type, operator, right)(left), holds, `${title}, literal read once`)
  }
}

t.test('FE-63 strings compare byte-wise', async t => {
  compares(t, 'string', [
    ['10', 'lt', '9', true],
    ['Z', 'lte', 'a', true],
    ['a ', 'eq', 'a', false],
    ['', 'is_empty', 'x', true],
    ['', 'not_empty', 'x', false],
    ['é', 'ne', 'e\u0301', true],
    ['ab', 'gt', 'a', true],
  ])
})

t.test('FE-63 the order is that of UTF-8, where UTF-16 differs too', async t => {
  const texts = ['', 'a', 'é', '\ud7ff', '\ue000', '\uffee', '😀', '\u{10ffff}', 'a😀', 'a\uffee']
  for (const a of texts)
    for (const b of texts)
      t.equal(Math.sign(byteOrder(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)), `${a} and ${b}`)
})

t.test('FE-64 integers within 64 bits compare exactly', async t => {
  compares(t, 'int', [
    ['9007199254740993', 'eq', '9007199254740992', false],
    ['9007199254740993', 'gt', '9007199254740992', true],
    ['9223372036854775807', 'gt', '9223372036854775806', true],
    ['-9223372036854775808', 'lt', '-9223372036854775807', true],
    ['+0012', 'eq', '12', true],
    ['-0', 'eq', '0', true],
    ['9007199254740993', 'gt', '5', true],
    ['1', 'lt', '9223372036854775807', true],
  ])
})

t.test('FE-64 beyond 64 bits, or with a fraction, both are read as decimals', async t => {
  compares(t, 'int', [
    ['9223372036854775808', 'gt', '9223372036854775807', false],
    ['9223372036854775808', 'eq', '9223372036854775807', true],
    ['9007199254740993', 'eq', '9007199254740992.0', true],
    ['.5', 'gt', '0', true],
    ['5.', 'eq', '5', true],
    ['1E3', 'eq', '1000', true],
    ['-2', 'not_empty', '', false],
    ['-2', 'is_empty', '', false],
  ])
})

t.test('FE-64 what is no number reads as 0', async t => {
  for (const text of [
    '',
    ' 5',
    '5 ',
    '0x10',
    '1,000',
    'NaN',
    'Infinity',
    '-inf',
    '1e400',
    '.',
    '+',
    '1e',
    '--5',
  ])
    t.equal(readNumber(text), 0, JSON.stringify(text))
})

t.test('FE-68 the strict reading takes integers only', async t => {
  for (const [text, value] of [
    ['3', 3],
    ['-7', -7],
    ['+5', 5],
    ['2.0', null],
    ['1e3', null],
    ['', null],
    ['9223372036854775808', null],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
  ] as const)
    t.equal(strictInteger(text), value, text)
})

t.test('FE-84 preflight usage is added to the strict reading', async t => {
  t.equal(plusUsage('2.7', 1), 1)
  t.equal(plusUsage('4', 2), 6)
  t.equal(plusUsage('9007199254740991', 1), 9007199254740992n)
  t.equal(plusUsage('-9007199254740993', 9), -9007199254740984)
})

t.test('FE-65 bools: only eq and ne mean something', async t => {
  compares(t, 'bool', [
    ['1', 'eq', 'true', true],
    ['True', 'eq', 'true', false],
    ['', 'eq', 'false', true],
    ['no', 'ne', 'true', true],
    ['', 'is_empty', '', false],
    ['false', 'not_empty', '', true],
    ['true', 'gte', 'false', false],
  ])
})

t.test('FE-66 dates: accepted formats', async t => {
  const noon = Date.UTC(2026, 2, 15, 12)
  for (const [text, ms] of [
    ['2026-03-15T12:00:00Z', noon],
    ['2026-03-15t12:00:00z', noon],
    ['2026-03-15T14:30:00+02:30', noon],
    ['2026-03-15T11:00:00-01:00', noon],
    ['2026-03-15T12:00:00.25Z', noon + 250],
    ['2026-03-15T12:00:00.250999999999Z', noon + 250],
    ['2026-03-15', Date.UTC(2026, 2, 15)],
    ['2026-03-15 12:00:00', noon],
    ['2026-03-15 12:00:00 UTC', noon],
    ['2026-03-15 12:00:00Z', noon],
    ['Sun Mar 15 2026', Date.UTC(2026, 2, 15)],
    ['Sun Mar 15 2026 12:00:00 UTC', noon],
    ['Sun Mar 15 2026 14:00:00 GMT+0200', noon],
    ['Sun Mar 15 2026 07:00:00 GMT-0500 (Central Time (US))', null],
    ['Sun Mar 15 2026 07:00:00 GMT-0500 (Central Daylight Time)', noon],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['0000-01-01T00:00:00Z', new Date('0000-01-01T00:00:00Z').getTime()],
  ] as const)
    t.equal(readInstant(text)?.ms ?? null, ms, text)
})

t.test('FE-66 dates: anything else is none', async t => {
  for (const text of [
    '',
    '1773576000',
    '03/15/2026',
    '2026-3-15',
    '2026-02-29',
    '2026-13-01',
    '2026-03-15T12:00:00',
    '2026-03-15T24:00:00Z',
    '2026-03-15T12:00:60Z',
    '2026-03-15T12:00:00+24:00',
    '2026-03-15T12:00Z',
    ' 2026-03-15',
    '2026-03-15 12:00',
    'Sun Mar 15 2026 12:00:00',
    'Xxx Mar 15 2026',
    'Sun Feb 30 2026',
  ])
    t.equal(readInstant(text), null, JSON.stringify(text))
})

t.test('FE-66 dates: comparison, none included', async t => {
  const [early, late, none] = ['2026-01-15T00:00:00Z', '2026-01-15T00:00:00.000000001Z', 'x']
  compares(t, 'date', [
    [early, 'lt', late, true],
    [late, 'gt', early, true],
    [early, 'eq', late, false],
    [none, 'eq', 'y', true],
    [none, 'gte', 'y', true],
    [none, 'lt', early, true],
    [none, 'gt', early, false],
    [early, 'gt', none, true],
    [early, 'lt', none, false],
    [none, 'ne', early, true],
    [none, 'is_empty', '', true],
    [early, 'not_empty', '', true],
  ])
})

t.test('FE-67 how trait types compare', async t => {
  t.same((['currency', 'number', 'boolean', 'date', 'string', 'url'] as const).map(comparableType), [
    'int',
    'int',
    'bool',
    'date',
    'string',
    'string',
  ])
})

t.test('section 4: an unknown type or operator never holds', async t => {
  t.equal(compareTexts('uuid' as ComparableType, 'eq', 'a', 'a'), false)
  for (const type of ['string', 'int', 'bool', 'date'] as const)
    t.equal(compareTexts(type, 'like' as ComparableOperator, '1', '1'), false, type)
})

t.test('security H5 texts of a million digits are read in one pass', async t => {
  const digits = '1'.repeat(1_000_000)
  t.equal(readNumber(digits), 0, 'no finite number')
  t.equal(readNumber(`${digits}x`), 0)
  t.equal(readNumber(`1.${digits}x`), 0)
  t.equal(strictInteger(digits), null)
  t.equal(strictInteger(`${'0'.repeat(1_000_000)}7`), 7)
})
