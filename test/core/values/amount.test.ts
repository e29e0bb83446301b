// Exact credits: the arithmetic of CR-2.

import fc from 'fast-check'
import t, { type Test } from 'tap'
import {
  amountFromDecimal,
  amountFromNumber,
  amountToDecimal,
  amountToNumber,
  costOf,
  decimalOf,
  decimalToText,
  decodeAmount,
  encodeAmount,
  lesser,
  parseDecimal,
  roundHalfEven,
  sum,
  wholeCredits,
} from '../../../src/core/values/amount.js'
import { seed } from '../../random.js'

t.comment(`seed ${seed}`)

function holds(t: Test, property: Parameters<typeof fc.assert>[0]): void {
  t.doesNotThrow(() => fc.assert(property, { seed, numRuns: 2_000 }))
}

t.test('CR-2 ten draws of a tenth from one leave exactly nothing', async t => {
  let left = wholeCredits(1)
  for (let i = 0; i < 10; i++) left -= costOf(1, 0.1)
  t.equal(left, 0n)
})

t.test('CR-2 a cost is exact, then rounded half-even to nine digits', async t => {
  t.equal(costOf(1_234_567, 2e-6), 2_469_134_000n)
  t.equal(costOf(3, 2.5), 7_500_000_000n)
  t.equal(costOf(1, 0.0000000005), 0n, 'a tie goes to the even digit below')
  t.equal(costOf(3, 0.0000000005), 2n, 'and to the even digit above')
  t.equal(costOf(1, 0.00000000051), 1n)
  t.equal(costOf(-3, 2.5), -7_500_000_000n)
  t.equal(costOf(-3, 0.0000000005), -2n)
  t.equal(costOf(0, 1.1), 0n)
})

t.test('CR-2 amounts of more than 64 bits are as exact as small ones', async t => {
  const rate = 9_999_999_999
  t.equal(costOf(9_007_199_254_740_991, rate), 9_007_199_254_740_991n * 9_999_999_999n * 1_000_000_000n)
  t.equal(wholeCredits(9_999_999_999) * 2n ** 40n + 1n - 1n, wholeCredits(9_999_999_999) * 2n ** 40n)
})

t.test('CR-2 a JSON number means its shortest decimal', async t => {
  t.equal(amountFromNumber(0.1), 100_000_000n)
  t.equal(amountFromNumber(1e-9), 1n)
  t.equal(amountFromNumber(1234567.123456789), 1_234_567_123_456_789n)
  t.equal(amountFromNumber(1e21), 10n ** 30n)
  t.equal(amountFromNumber(-0), 0n)
  t.equal(amountFromNumber(2.0000000005), 2_000_000_000n)
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY])
    t.throws(() => amountFromNumber(wrong), RangeError)
})

t.test('decimal texts are read exactly, other texts not at all', async t => {
  t.equal(amountFromDecimal('12.5'), 12_500_000_000n)
  t.equal(amountFromDecimal('-0.000000001'), -1n)
  t.equal(amountFromDecimal('1e3'), 1_000_000_000_000n)
  t.equal(amountFromDecimal('+.5'), null)
  for (const wrong of ['', ' 1', '1.', 'NaN', '0x10', '1e99999', '1,5', '9'.repeat(201)]) {
    t.equal(amountFromDecimal(wrong), null, JSON.stringify(wrong.slice(0, 8)))
  }
})

t.test('CR-2 an amount is shown as its shortest decimal', async t => {
  t.equal(amountToDecimal(2_469_134_000n), '2.469134')
  t.equal(amountToDecimal(-1n), '-0.000000001')
  t.equal(amountToDecimal(0n), '0')
  t.equal(amountToDecimal(10n ** 19n), '10000000000')
  t.equal(JSON.stringify(amountToNumber(97_530_866_000n)), '97.530866')
  t.equal(amountToNumber(10n ** 19n), 1e10)
})

t.test('the shortest decimal of an amount is the amount, and what JSON says of it', async t => {
  holds(
    t,
    fc.property(fc.bigInt(-(2n ** 96n), 2n ** 96n), amount => {
      const text = amountToDecimal(amount)
      return amountFromDecimal(text) === amount && (!text.includes('.') || /[1-9]$/.test(text))
    }),
  )
  holds(
    t,
    fc.property(fc.bigInt(-(10n ** 15n), 10n ** 15n), amount => {
      const json = JSON.stringify(amountToNumber(amount))
      return amountFromNumber(JSON.parse(json)) === amount
    }),
  )
})

t.test('the quick way of a rate gives what the exact way gives', async t => {
  holds(
    t,
    fc.property(
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      (quantity, rate) => {
        const exact = decimalOf(rate)
        const expected = roundHalfEven({ units: exact.units * BigInt(quantity), scale: exact.scale }, 9)
        return costOf(quantity, rate) === expected
      },
    ),
  )
  holds(
    t,
    fc.property(
      fc.integer(),
      fc.integer({ min: 0, max: 10 ** 9 }),
      fc.integer({ min: 0, max: 9 }),
      (quantity, units, scale) => {
        const rate = Number(decimalToText({ units: BigInt(units), scale }))
        return costOf(quantity, rate) === BigInt(quantity) * BigInt(units) * 10n ** BigInt(9 - scale)
      },
    ),
  )
})

t.test('amounts survive JSON and structured clones', async t => {
  holds(
    t,
    fc.property(fc.bigInt(-(2n ** 96n), 2n ** 96n), amount => {
      const json = JSON.parse(JSON.stringify({ left: encodeAmount(amount) }))
      return decodeAmount(json.left) === amount && structuredClone(amount) === amount
    }),
  )
  t.type(encodeAmount(2n ** 53n - 1n), 'number')
  t.type(encodeAmount(2n ** 53n), 'string')
})

t.test('sums, rounding and the lesser of two', async t => {
  t.same(sum(parseDecimal('0.1')!, parseDecimal('0.02')!), { units: 12n, scale: 2 })
  t.equal(roundHalfEven(parseDecimal('2.5')!, 0), 2n)
  t.equal(roundHalfEven(parseDecimal('3.5')!, 0), 4n)
  t.equal(roundHalfEven(parseDecimal('-2.51')!, 0), -3n)
  t.equal(roundHalfEven(parseDecimal('7')!, 3), 7000n)
  t.equal(lesser(1n, 2n), 1n)
  t.equal(lesser(2n, 1n), 1n)
})
