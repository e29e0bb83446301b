// Characters that JSON text may not contain.

import { inspect } from 'node:util'
import { array, assert, constantFrom, property } from 'fast-check'
import t from 'tap'
import { asWritten, hasHalfPair, jsonPieces, jsonText, mayBeRounded, parseExactly } from '../src/json.js'
import {
  assertPlain,
  depthMax,
  hasNul,
  outline,
  tooDeep,
  tooManyInLines,
  tooManyValues,
} from '../src/json-bounds.js'
import { Random, seed, times } from './random.js'

t.test('JSON text that is written already becomes a part of longer text', async t => {
  const rows = asWritten<object[]>('[{"a":9223372036854775807}]')
  const value = { first: rows, text: 'x"y', many: [rows, { deep: rows }], none: asWritten<null>('null') }
  const text = '[{"a":9223372036854775807}]'
  t.equal(jsonText(value), `{"first":${text},"text":"x\\"y","many":[${text},{"deep":${text}}],"none":null}`)
  t.equal(jsonText({ rows, n: 2n ** 62n }), `{"rows":${text},"n":4611686018427387904}`, 'beside bigints')
  t.equal(jsonText(rows), text)
  t.equal(
    Buffer.concat(jsonPieces(value).map(one => Buffer.from(one))).toString(),
    jsonText(value),
    'in pieces',
  )
  t.equal(jsonText({ plain: 1 }), '{"plain":1}')
  t.equal(JSON.stringify({ a: asWritten<object>('{"b":[1]}') }), '{"a":{"b":[1]}}', 'elsewhere it is a value')
  const cyclic: { rows: object; self?: unknown } = { rows }
  cyclic.self = cyclic
  t.throws(() => jsonText(cyclic))
  t.equal(jsonText({ rows: asWritten<number>('1') }), '{"rows":1}', 'a failure leaves nothing behind')
})

t.test('a body nests to a bound and no further', async t => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  t.doesNotThrow(() => assertPlain(nested(depthMax)))
  t.throws(() => assertPlain(nested(depthMax + 1)), /nested deeper than 64/)
  t.throws(() => assertPlain(`{"a":${'{"a":'.repeat(500_000)}`), /nested deeper/)
  t.doesNotThrow(() => assertPlain(JSON.stringify(Array.from({ length: 500 }, () => [{}]))))
  t.doesNotThrow(() => assertPlain(JSON.stringify({ text: '[{'.repeat(500) })), 'brackets in text are text')
})

t.test(
  'security 1 lists are counted, and what is too deep is cut out, before anything is parsed',
  async t => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const list = (count: number, entry = '{"a":[1,2],"b":"x,y"}') =>
      Array.from({ length: count }, () => entry).join(',')
    t.equal(outline(`{"events":[${list(10_001)}]}`).entries, 10_001)
    t.equal(outline(`[${list(12_345, '1')}]`).entries, 12_345)
    t.equal(outline(`{"a":[${list(10_002)}],"b":[1]}`).entries, 10_002)
    t.equal(outline(`{"events":[{"a":[${list(20_000, '1')}]}]}`).entries, 1, 'a list within an entry is none')
    t.equal(outline(`{${list(20_000, '"a":1')}}`).entries, 0, 'members are no entries')
    const whole = `{"events":[${list(12_000)}]}`
    t.equal(outline(whole).text, whole, 'what is not too deep stays as it is')
    const cut = outline(`{"events":[{"a":${nested(50_000)},"b":"]"},{"c":${nested(50_000)}},1]}`)
    t.ok(cut.text.length < 1_000)
    t.match(JSON.parse(cut.text), { events: [{ a: [[[]]], b: ']' }, { c: [[[]]] }, 1] })
    t.ok(tooDeep(cut.text, depthMax), 'still too deep for an event')
    t.equal(outline('['.repeat(100_000)).text, '', 'no JSON')
  },
)

t.test('depth is counted as a plain reading counts it', async t => {
  const piece = constantFrom('[', '{', ']', '}', '"', '\\', '\\"', 'a', '"a"', '"[\\""')
  const law = property(array(piece, { minLength: 8, maxLength: 60 }), pieces => {
    const text = pieces.join('')
    return tooDeep(text, 4) === slowlyTooDeep(text, 4)
  })
  t.doesNotThrow(() => assert(law, { seed, numRuns: 5_000 }), `seed ${seed}`)
})

t.test('an escaped U+0000 is found, an escaped backslash before u0000 is not one', async t => {
  t.ok(hasNul('{"a":"\\u0000"}'))
  t.notOk(hasNul('{"a":"\\\\u0000"}'))
  t.ok(hasNul('{"a":"\\\\u0000 \\u0000"}'))
  t.ok(hasNul('{"a":"\\\\\\u0000"}'))
  t.throws(() => assertPlain('{"a":"\\u0000"}'), /U\+0000/)
})

t.test('half a surrogate pair is found, a whole one is a character', async t => {
  for (const half of [
    '\\ud800',
    '\\uDC00',
    'a\\udbffb',
    '\\ud83d\\ud83d\\ude00',
    '\\ud83d\\ude00\\ude00',
    '\\\\\\ud800',
    '\\\\ud83d\\ude00',
  ])
    t.ok(hasHalfPair(`{"a":"${half}"}`), half)
  for (const whole of ['\\ud83d\\ude00', '\\uD83D\\uDE00', '\\u0041', '\\\\ud800', '\\ud7ff\\ue000'])
    t.notOk(hasHalfPair(`{"a":"${whole}"}`), whole)
})

// The same question, one character after the other.
function slowlyTooDeep(text: string, max: number): boolean {
  let depth = 0
  let inText = false
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (inText && character === '\\') i++
    else if (character === '"') inText = !inText
    else if (!inText && '[{'.includes(character) && ++depth > max) return true
    else if (!inText && ']}'.includes(character)) depth--
  }
  return false
}

t.test('security H5 a numeral that no double holds never becomes a bigint', async t => {
  for (const digits of [20, 309, 310, 1_000_000]) {
    const { a } = parseExactly(`{"a":${'9'.repeat(digits)}}`) as { a: unknown }
    t.equal(typeof a, digits < 310 ? 'bigint' : 'number', `${digits}`)
  }
  t.same(parseExactly('[-9223372036854775807,9223372036854775807]'), [-(2n ** 63n - 1n), 2n ** 63n - 1n])
})

/** As `parseExactly`, in the plain way: character by character. */
function plainly(text: string): unknown {
  if (!mayBeRounded(text)) return JSON.parse(text)
  const mark = 'plain mark '
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, token => {
    if (token.startsWith('"') || token.length < 16 || token.length > 1_236) return token
    if (/^-?[1-9]\d*$/.test(token)) return token.length > 300 ? token : `"${mark}${token}"`
    const [, sign = '', whole = '', fraction = '', exponent = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? []
    const digits = BigInt(`${whole}${fraction}`)
    const by = Number(exponent) - fraction.length
    if (Math.abs(by) > 250 || `${digits}`.length > 300) return token
    if (by >= 0) return `"${mark}${sign}${digits * 10n ** BigInt(by)}"`
    const unit = 10n ** BigInt(-by)
    return digits % unit === 0n ? `"${mark}${sign}${digits / unit}"` : token
  })
  return JSON.parse(marked, (_, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value
    const digits = value.slice(mark.length)
    return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits)
  })
}

t.test('security H5 exact numbers are found among strings, escapes and forms of numbers', t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const digits = (length: number) =>
    `${1 + random.below(9)}${Array.from({ length: length - 1 }, () => random.below(10)).join('')}`
  const number = () => {
    const sign = random.chance(0.3) ? '-' : ''
    const whole = digits(1 + random.below(random.chance(0.2) ? 60 : 22))
    const fraction = random.chance(0.3) ? `.${random.pick(['0', '000000000000000000', digits(4)])}` : ''
    const exponent = random.chance(0.2)
      ? `${random.pick(['e', 'E'])}${random.pick(['', '+', '-'])}${random.below(12)}`
      : ''
    return `${sign}${whole}${fraction}${exponent}`
  }
  const string = () =>
    JSON.stringify(
      Array.from({ length: random.below(5) }, () =>
        random.pick(['"', '\\', number(), 'ü', '__proto__', ' ', '-', '\n']),
      ).join(''),
    )
  const value = (depth: number): string => {
    if (depth === 0 || random.chance(0.6)) return random.pick([number, number, string])()
    const list = Array.from({ length: random.below(5) }, () => value(depth - 1))
    if (random.chance(0.5)) return `[${list.join(random.pick([',', ' , ']))}]`
    return `{${list.map(one => `${string()}:${one}`).join()}}`
  }
  for (let round = 0; round < times(4_000); round++) {
    const text = value(3)
    const [exact, plain] = [parseExactly(text), plainly(text)]
    // a text cannot tell a member __proto__ from a prototype: both are compared as they were made
    if (inspect(exact, { depth: 9 }) === inspect(plain, { depth: 9 })) continue
    t.strictSame(exact, plain, text)
    return t.end()
  }
  t.end()
})

t.test('security H5 values are counted, commas in texts are not', async t => {
  const list = (count: number, value: string) => `[${Array(count).fill(value).join(',')}]`
  t.notOk(tooManyValues(list(10_000, '1')))
  t.ok(tooManyValues(list(15_000, '1')))
  t.ok(tooManyValues(list(9_000, '{}')))
  t.notOk(tooManyValues(list(20_000, '"a text of sixteen or more"')), 'long values may be many')
  t.notOk(tooManyValues(JSON.stringify([','.repeat(500_000), '{'.repeat(500_000)])))
  t.ok(outline(`{"events":${list(40_000, '1')}}`).isCrowded)
  for (const event of [
    '{"event_type":"track","body":{"event":"e"}}',
    '{"event_type":"track","body":{"event":"e","company":{"a":"b"}}}',
    '{"event_type":"identify","body":{"keys":{"a":"b"}}}',
  ])
    t.notOk(
      outline(`{"events":${list(10_000, event)}}`).isCrowded,
      'EV-4 a batch of as many short events as there may be',
    )
  const members = (count: number) =>
    `{${Array.from({ length: count }, (_, n) => `"name ${n}":"value"`).join()}}`
  t.notOk(tooManyValues(members(12_000)))
  t.ok(tooManyValues(members(30_000)), 'names that differ cost more than other values')
  t.notOk(tooManyValues(JSON.stringify([':'.repeat(500_000)])), 'colons in texts are text')
  t.throws(() => assertPlain(members(10_001), true), /too many values/, 'a check or an event holds fewer')
  t.doesNotThrow(() => assertPlain(members(9_000), true))
  const nested = '['.repeat(20_000) + ']'.repeat(20_000)
  t.notOk(tooManyValues(nested), 'values below the depth that is parsed cost nothing')
  t.notOk(outline(`{"events":[${nested}]}`).isCrowded)
  for (const open of ['"', '['.repeat(200)])
    t.ok(tooManyInLines(`${open}\n${list(15_000, '1')}`), 'a line that never closes hides no other')
})
