// How texts are read and compared as versions (FE-69).
import t, { type Test } from 'tap'
import type { ComparableOperator } from '../../../schemas/enums.js'
import { compareTexts, testAgainst } from '../../../src/core/values/trait.js'
import { compareVersions, readVersion } from '../../../src/core/values/version.js'
import { Random } from '../../random.js'

const order = (left: string, right: string) =>
  Math.sign(compareVersions(readVersion(left)!, readVersion(right)!))

t.test('FE-69 versions in ascending order', async t => {
  const ascending = [
    '0',
    '0.0.1',
    '0.9',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.0.1',
    '1.2',
    '1.9',
    '1.10',
    'v2-rc-1',
    'V2.0.0+build.7',
    '2.0.0.0.1',
    '10.0',
    '9007199254740993.1',
    '9007199254740993.2',
    '123456789012345678901234567890',
  ]
  for (const [i, left] of ascending.entries())
    for (const [j, right] of ascending.entries())
      t.equal(order(left, right), Math.sign(i - j), `${left} and ${right}`)
})

t.test('FE-69 what is equal, and what is no version', async t => {
  for (const [left, right] of [
    ['1.2', '1.2.0'],
    ['v1.2.0', '1.2'],
    ['1.02', '1.2'],
    ['1.0.0+a', '1.0.0+b.c'],
    ['0', '0.0.0'],
    ['1-01', '1-1'],
  ] as const)
    t.equal(order(left, right), 0, `${left} and ${right}`)
  const none = ['', ' ', '1.', '.1', '1..2', 'v', '1.x', 'latest', '1.2 ', '1.2-', '1-a..b', '1+', '１.2']
  for (const text of none) t.equal(readVersion(text), null, JSON.stringify(text))
  t.equal(readVersion(`${'1.'.repeat(100_000)}x`), null, 'a long text is refused in one pass')
})

const compares = (t: Test, rows: readonly (readonly [string, ComparableOperator, string, boolean])[]) => {
  for (const [left, operator, right, holds] of rows) {
    const title = `${JSON.stringify(left)} ${operator} ${JSON.stringify(right)}`
    t.equal(compareTexts('version', operator, left, right), holds, title)
    t.equal(testAgainst('version', operator, right)(left), holds, `${title}, literal read once`)
  }
}

t.test('FE-69 operators; a text that is no version has no place in the order', async t => {
  compares(t, [
    ['1.10', 'gt', '1.9', true],
    ['1.10', 'lt', '1.9', false],
    ['1.9.9', 'lte', '1.10', true],
    ['1.2', 'eq', '1.2.0', true],
    ['1.2', 'ne', '1.2.0', false],
    ['2.0.0-rc.1', 'gte', '2.0.0', false],
    ['', 'lt', '1.0', false],
    ['latest', 'gt', '1.0', false],
    ['latest', 'gte', 'latest', false],
    ['latest', 'eq', 'latest', false],
    ['', 'ne', '1.0', true],
    ['', 'is_empty', '', true],
    ['latest', 'is_empty', '', true],
    ['1.0', 'not_empty', '', true],
    ['1.0', 'is_empty', '', false],
  ])
})

t.test('FE-69 the order is total: random versions', async t => {
  const draw = new Random()
  const some = () => {
    const numbers = Array.from({ length: 1 + draw.below(4) }, () => draw.below(12)).join('.')
    const words = Array.from({ length: draw.below(3) }, () => ['a', 'b', '1', '10', '2', 'rc'][draw.below(6)])
    return words.length > 0 ? `${numbers}-${words.join('.')}` : numbers
  }
  for (let i = 0; i < 2_000; i++) {
    const [a, b, c] = [some(), some(), some()]
    if (order(a, b) !== 0 - order(b, a)) return t.fail(`${a} and ${b}`)
    if (order(a, b) <= 0 && order(b, c) <= 0 && order(a, c) > 0) return t.fail(`${a}, ${b}, ${c}`)
  }
})
