// The packed form: what is written is read again, whatever it is, and shorter bytes are refused.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { dataViewOf } from '../../src/bytes/data-view.js'
import { PackedWriter, putPackedNumber, putTextLength, Shapes } from '../../src/bytes/packed.js'
import { PackedReader } from '../../src/bytes/packed-reader.js'
import { seed } from '../random.js'

t.comment(`seed ${seed}`)

const shapes = new Shapes([['id', 'at'], ['id'], ['id', 'at', 'fx']])
const writer = new PackedWriter(shapes)
const reader = new PackedReader(shapes)

const bytesOf = (value: unknown): Buffer => {
  writer.value(value)
  return Buffer.from(writer.take())
}

/** Read where it lies among other bytes, between which it must not look. */
const again = (bytes: Buffer): unknown => {
  const among = Buffer.concat([Buffer.from([0xff, 0x8b]), bytes, Buffer.from([0x90, 0x31])])
  return reader.whole(among, 2, 2 + bytes.length)
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ minLength: 25, maxLength: 300 }),
  fc.constantFrom(
    '',
    '\ud800',
    'a\udc00b',
    '\u0000',
    'é'.repeat(16),
    'x'.repeat(31),
    'x'.repeat(32),
    '__proto__',
  ),
)
const edges = [0, 127, 128, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 48 - 1, 2 ** 48]
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double().map(one => (Object.is(one, -0) ? 0 : one)),
  fc.constantFrom(...edges, ...edges.map(one => -one || 0)),
)
const scalar = fc.oneof(
  text,
  number,
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
  fc.boolean(),
  fc.constant(null),
)
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 20 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    fc.record({ id: tie('value'), at: tie('value'), fx: tie('value') }, { requiredKeys: ['id'] }),
  ),
}))

t.test('whatever is written is read again, and skipped as a whole', async () => {
  fc.assert(
    fc.property(value, one => {
      const bytes = bytesOf(one)
      assert.deepStrictEqual(plain(again(bytes)), plain(one))
      reader.begin(bytes, 0, bytes.length)
      reader.skip()
      assert.throws(() => reader.skip(), SyntaxError, 'nothing is left')
    }),
    { seed, numRuns: 2_000 },
  )
})

t.test('bytes that end before the value does are refused', async () => {
  fc.assert(
    fc.property(value, fc.nat(), (one, n) => {
      const bytes = bytesOf(one)
      assert.throws(() => again(bytes.subarray(0, n % bytes.length)), SyntaxError)
    }),
    { seed, numRuns: 1_000 },
  )
})

t.test('any bytes are a value or refused, and take no more than they are', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
      try {
        again(Buffer.from(bytes))
      } catch (error) {
        assert(error instanceof SyntaxError, String(error))
      }
    }),
    { seed, numRuns: 20_000 },
  )
})

t.test('parts written apart are those of the writer', async () => {
  const bytes = Buffer.alloc(400)
  const view = dataViewOf(bytes)
  fc.assert(
    fc.property(number, text, (one, name) => {
      const end = putPackedNumber(view, 0, one)
      assert.deepEqual(bytes.subarray(0, end), bytesOf(one))
      if (/\p{Surrogate}/u.test(name) || name.length > 100) return
      const from = putTextLength(view, 0, Buffer.byteLength(name))
      assert.deepEqual(bytes.subarray(0, from + bytes.write(name, from)), bytesOf(name))
    }),
    { seed, numRuns: 1_000 },
  )
})

t.test('members that are undefined are left out, in a shape as without one', async t => {
  t.same(again(bytesOf({ id: 1, at: undefined })), { id: 1 })
  t.same(again(bytesOf({ other: undefined, id: [undefined] })), { id: [null] })
  t.equal(bytesOf({ id: 1, at: 2 }).length, 3)
  t.throws(() => bytesOf(() => 1), TypeError)
})

/** Objects without a prototype of their own, as fast-check makes some. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}
