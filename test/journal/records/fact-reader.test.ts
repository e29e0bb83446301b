// Facts read from bytes are those that were written, in the form of today and in that of earlier versions.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Effect, Fact } from '../../../src/core/model/message.js'
import { printOfText, unknownPrint } from '../../../src/core/values/fingerprint.js'
import { decodeId, encodeId } from '../../../src/core/values/id.js'
import { factBytes } from '../../../src/journal/records/fact-bytes.js'
import { FactReader, factAsText } from '../../../src/journal/records/fact-reader.js'
import { drawRows } from '../../../src/journal/records/ledger-rows.js'
import { seed } from '../../random.js'
import { draw, fact, tellable } from '../facts.js'

const reader = new FactReader()
const prefixes = ['comp_', 'user_']

/** As it lies in a chunk: with something before and behind it. */
function laid(bytes: Buffer): readonly [bytes: Buffer, from: number, end: number] {
  return [Buffer.concat([Buffer.from('}]"1'), bytes, Buffer.from('123,"atMs":5}]}')]), 4, 4 + bytes.length]
}

/** As versions until 0.1.0 wrote it. */
const jsonOf = (fact: unknown): Buffer => Buffer.from(JSON.stringify(fact))

t.test('facts are read as they were written, in both forms', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(
      fact.map(one => structuredClone(one)),
      one => {
        const { ik: _, ...unclaimed } = one
        const actor = { id: one.id, environmentId: one.env }
        for (const bytes of [factBytes(one), jsonOf(one)]) {
          const place = laid(bytes)
          assert.deepEqual(reader.read(...place), one)
          const { ik: __, ...known } = reader.readOf(actor, ...place)
          assert.deepEqual(known, unclaimed)
          if (reader.seek(...place)) {
            assert.deepEqual(decodeId(prefixes[reader.kind]!, one.id), [reader.high, reader.low])
            assert.equal(reader.seekedId(), one.id)
            assert.equal(reader.seekedTime(), one.at)
          } else assert(bytes[0] === 0x7b || one.k !== 'c')
          assert.deepEqual(JSON.parse(factAsText(bytes)), JSON.parse(JSON.stringify(one)))
        }
      },
    ),
    { seed, numRuns: 1_000 },
  )
})

t.test('beside the rows of its draws a fact has nothing of them but what stayed uncovered', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fact, one => {
      const fx = one.fx.flatMap((effect): Effect[] => {
        if (effect.t !== 'credit_draw') return [effect]
        return effect.s.length > 0 && effect.un === undefined ? [] : [{ ...effect, s: [] }]
      })
      return factBytes(one, true).equals(factBytes({ ...one, fx }))
    }),
    { seed, numRuns: 2_000 },
  )
})

t.test('facts of 0.1.0: quantities beyond 2^53 are decimal text in JSON', async t => {
  const of = (effect: unknown) => jsonOf({ k: 'c', id: 'a', env: 'b', at: 1, fx: [effect] })
  const first = (bytes: Buffer) => reader.read(bytes, 0, bytes.length).fx[0]
  t.match(first(of({ t: 'used', subtype: 'x', quantity: '9007199254740993', atMs: 1 })), {
    quantity: 9007199254740993n,
  })
  const values = [{ subtype: 'x', value: '-9007199254740993', minMs: 0, maxMs: 0 }]
  t.match(first(of({ t: 'cycle_counted', startMs: 0, values })), {
    values: [{ value: -9007199254740993n }],
  })
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
      const written = factBytes(whole, true)
      const bytes = Buffer.concat([Buffer.from(`}\t1\n${rows}`), written, Buffer.from('1\n')])
      const rowsAt = 4
      const from = rowsAt + rows.length
      const place = [bytes, from, bytes.length - 2] as const
      const byRow = told.flatMap(({ c, seq, at, now, s }) =>
        s.map((slice, i) => ({ t: 'credit_draw', c, seq: seq + i, at, now, s: [slice] })),
      )
      const fact = reader.read(written, 0, written.length)
      const expected = JSON.parse(JSON.stringify({ ...fact, fx: [...fact.fx, ...byRow] }))
      assert.deepEqual(reader.read(...place, rowsAt), expected)
      const { ik: _, ...unclaimed } = expected
      const { ik: __, ...known } = reader.readOf({ id: one.id, environmentId: one.env }, ...place, rowsAt)
      assert.deepEqual(known, unclaimed)
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

t.test('EV-25 the claim of a fact', async t => {
  t.comment(`seed ${seed}`)
  const word = fc.nat({ max: 0xffff_ffff })
  const key = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.constantFrom('order-1', ',"ik":["', '","ik":["a","evt_23456789ABC",1]}', '\\', '"', ''),
  )
  const captured = fc.oneof(fc.maxSafeInteger(), fc.nat(), fc.constantFrom(0, -1, 1.5, 1e21))
  const claims = fc.tuple(fact, key, word, word, captured, fc.boolean(), fc.boolean())
  fc.assert(
    fc.property(claims, ([one, key, high, low, capturedAtMs, claims, tells]) => {
      const { ik: _, fx, ...rest } = one
      // what it tells is not looked at
      const tell = [{ subject: 'entity', type: 'company.created' }] as const
      const bare: Fact = tells ? { ...rest, tell, fx } : { ...rest, fx }
      const claiming: Fact = { ...bare, ik: [key, encodeId('evt_', high, low), capturedAtMs] }
      const [use] = fx
      const print =
        use?.t === 'used'
          ? printOfText('track', use.subtype, use.quantity, one.k === 'c' ? one.id : '')
          : unknownPrint
      const expected = { environmentId: one.env, key, eventHigh: high, eventLow: low, capturedAtMs, print }
      for (const write of [factBytes, jsonOf]) {
        const found = reader.claimed(...laid(write(claims ? claiming : bare)))
        if (claims) assert.deepEqual({ ...found }, expected)
        else assert.equal(found, null)
      }
    }),
    { seed, numRuns: 3_000 },
  )
})

t.test('bytes that are no fact are refused', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fact, fc.nat(), fc.boolean(), (one, at, isJson) => {
      const whole = isJson ? jsonOf(one) : factBytes(one)
      const cut = whole.subarray(0, at % whole.length)
      assert.throws(() => reader.read(...laid(cut)), SyntaxError)
    }),
    { seed, numRuns: 1_000 },
  )
  t.throws(() => reader.read(Buffer.from([2, 0x80]), 0, 2), SyntaxError, 'a form of a later version')
})
