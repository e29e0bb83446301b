// Facts read from bytes are what JSON.parse makes of them, whatever their form.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { decodeId, encodeId } from '../../src/core/id.js'
import { FactReader } from '../../src/journal/fact-read.js'
import { factText } from '../../src/journal/fact-text.js'
import { fact } from './facts.js'

const seed = Number(process.env.TOLLGATE_SEED ?? Date.now() % 2 ** 31)
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
        const { env, ik } = JSON.parse(text)
        const expected = {
          environmentId: env,
          key: ik[0],
          eventHigh: high,
          eventLow: low,
          capturedAtMs: ik[2],
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

t.test('what is no fact is refused, never read as another', async t => {
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
