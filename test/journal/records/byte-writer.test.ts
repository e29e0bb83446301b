// Templates keep every bit, also of bytes that are no number as a double.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { dataViewOf } from '../../../src/bytes/data-view.js'
import { ByteTemplate, putTemplate } from '../../../src/journal/records/byte-writer.js'
import { seed } from '../../random.js'

t.test('a template is written as it is', async t => {
  t.comment(`seed ${seed}`)
  const byte = fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0x7f, 0xff, 0xf0, 0xf1, 0xf8))
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), bytes => {
      const into = Buffer.alloc(64, 0x11)
      const given = Buffer.from(bytes)
      const end = putTemplate(dataViewOf(into), 3, new ByteTemplate(given.toString('latin1')))
      assert.deepEqual(into.subarray(3, end), given)
      assert.deepEqual(into.subarray(0, 3), Buffer.alloc(3, 0x11))
    }),
    { seed, numRuns: 5_000 },
  )
})
