// Facts read from bytes are what JSON.parse makes of them, whatever their form.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Fact } from '../../../src/core/company/message.js'
import { decodeId, encodeId } from '../../../src/core/id.js'
import { printOfText, unknownPrint } from '../../../src/core/usage/fingerprint.js'
import { FactReader } from '../../../src/journal/records/fact-decoder.js'
import { factText } from '../../../src/journal/records/fact-encoder.js'
import { drawRows } from '../../../src/journal/records/ledger-rows.js'
import { seed } from '../../random.js'
import { draw, fact, tellable } from '../facts.js'

const reader = new FactReader()
const prefixes = ['comp_', 'user_']

/** As it lies in a chunk: with something before and behind it. */
function laid(text: string): readonly [bytes: Buffer, from: number, end: number] {
  const bytes = Buffer.from(text)
  return [Buffer.concat([Buffer.from('}]"1'), bytes, Buffer.from('123,"atMs":5}]}')]), 4, 4 + bytes.length]
}

t.test('facts as the journal writes them', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fact, one => {
      const place = laid(factText(one))
      assert.deepEqual(reader.read(...place), JSON.parse(factText(one)))
      if (reader.seek(...place))
        assert.deepEqual(decodeId(prefixes[reader.kind]!, one.id), [reader.high, reader.low])
      else assert(one.k === 'e')
      const actor = { id: one.id, environmentId: one.env }
      assert.deepEqual({ ...reader.passing(...place, actor) }, JSON.parse(factText(one)))
    }),
    { seed, numRuns: 1_000 },
  )
})

t.test('CR-87, CR-88 draws that only rows contain are read from the rows', async t => {
  t.comment(`seed ${seed}`)
  const drawn = fc.tuple(fact, fc.array(draw, { minLength: 1, maxLength: 3 }))
  fc.assert(
    fc.property(drawn, ([one, draws]) => {
      const told = tellable(draws, one.at)
      const others = one.fx.filter(({ t }) => t !== 'credit_draw')
      const whole: Fact = { ...one, fx: [...others, ...told] }
      const rows = drawRows(one.env, one.id, one.at, whole.fx)
      const text = factText(whole, true)
      const bytes = Buffer.from(`}\t1\n${rows}${text}1\n`)
      const rowsAt = 4
      const from = rowsAt + rows.length
      const place = [bytes, from, bytes.length - 2] as const
      const byRow = told.flatMap(({ c, seq, at, now, s }) =>
        s.map((slice, i) => ({ t: 'credit_draw', c, seq: seq + i, at, now, s: [slice] })),
      )
      const fact = JSON.parse(text)
      const expected = JSON.parse(JSON.stringify({ ...fact, fx: [...fact.fx, ...byRow] }))
      assert.deepEqual(reader.read(...place, rowsAt), expected)
      const actor = { id: one.id, environmentId: one.env }
      assert.deepEqual({ ...reader.passing(...place, actor, rowsAt) }, expected)
    }),
    { seed, numRuns: 1_000 },
  )
  const row = 'env_1\tcomp_1\tbcrd_1\t5\tfeat_1\t1.5\t7\t3\tbcgr_1\t\tevt_1\t2\n'
  const text = '{"k":"c","id":"comp_1","env":"env_1","at":5,"fx":[]}'
  const read = (rows: string) => {
    const bytes = Buffer.from(rows + text)
    return reader.read(bytes, rows.length, bytes.length, 0).fx
  }
  const drawOf = { t: 'credit_draw', c: 'bcrd_1', seq: 7, at: 5, s: [[2, 1_500_000_000, 3_000_000_000]] }
  t.same(read(row), [drawOf])
  for (const [was, is] of [
    ['\t2\n', '\n'],
    ['\t2\n', '\t2\t\n'],
    ['\t2\n', '\t2'],
    ['\t2\n', '\tx\n'],
    ['\t2\n', '\t\n'],
    ['1.5', 'x'],
    ['1.5', ''],
    ['\t7\t', '\t7.5\t'],
  ] as const)
    t.throws(() => read(row.replace(was, is)), SyntaxError, JSON.stringify(is))
})

t.test('EV-25 the claim at the end of a fact', async t => {
  t.comment(`seed ${seed}`)
  const word = fc.nat({ max: 0xffff_ffff })
  const key = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.constantFrom('order-1', ',"ik":["', '","ik":["a","evt_23456789ABC",1]}', '\\', '"', ''),
  )
  const captured = fc.oneof(fc.maxSafeInteger(), fc.nat(), fc.constantFrom(0, -1, 1.5, 1e21))
  const claims = fc.tuple(fact, key, word, word, captured, fc.boolean())
  fc.assert(
    fc.property(claims, ([one, key, high, low, capturedAtMs, claims]) => {
      const { ik: _, ...rest } = one
      const claiming = { ...rest, ik: [key, encodeId('evt_', high, low), capturedAtMs] }
      // half a surrogate pair is U+FFFD in bytes
      const text = Buffer.from(claims ? JSON.stringify(claiming) : JSON.stringify(rest)).toString()
      const found = reader.claimed(...laid(text))
      if (!claims) assert.equal(found, null)
      else {
        const { k, id, env, fx, ik } = JSON.parse(text)
        const [use] = fx
        const print =
          use?.t === 'used'
            ? printOfText('track', use.subtype, use.quantity, k === 'c' ? id : '')
            : unknownPrint
        const expected = {
          environmentId: env,
          key: ik[0],
          eventHigh: high,
          eventLow: low,
          capturedAtMs: ik[2],
          print,
        }
        assert.deepEqual({ ...found }, expected)
      }
    }),
    { seed, numRuns: 3_000 },
  )
})

t.test('numbers of every form', async t => {
  const numbers = ['0', '-0', '-1', '1e3', '1.5', '9007199254740991', '123456789012345', '1234567890123456']
  for (const number of numbers)
    for (const text of [
      `{"k":"c","id":"a","env":"b","at":${number},"fx":[]}`,
      `{"k":"c","id":"a","env":"b","at":1,"fx":[{"t":"used","subtype":"x","quantity":${number},"atMs":1}]}`,
      `{"k":"c","id":"a","env":"b","at":1,"fx":[{"t":"seen","atMs":${number}}]}`,
      `{"k":"c","id":"a","env":"b","at":1,"fx":[],"ik":["k","e",${number}]}`,
    ])
      t.strictSame(reader.read(...laid(text)), JSON.parse(text), text)
})

t.test('bytes that are no fact are refused, never read as another fact', async t => {
  t.comment(`seed ${seed}`)
  const cut = fc.tuple(fact, fc.nat(), fc.nat(3), fc.constantFrom('', '1', '"', '}', ']', ',', '\\', '01'))
  fc.assert(
    fc.property(cut, ([one, at, length, put]) => {
      const whole = factText(one)
      const from = at % whole.length
      // half a surrogate pair that the cut left is U+FFFD in bytes
      const text = Buffer.from(whole.slice(0, from) + put + whole.slice(from + length)).toString()
      let expected: unknown
      try {
        expected = JSON.parse(text)
      } catch {
        assert.throws(() => reader.read(...laid(text)), SyntaxError)
        return
      }
      assert.deepEqual(reader.read(...laid(text)), expected)
    }),
    { seed, numRuns: 1_000 },
  )
})
