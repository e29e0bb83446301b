// Counters of 64 bits against sums of BigInt: random quantities, over facts of the journal and over
// snapshots.

import fc from 'fast-check'
import t from 'tap'
import { applyUse, hasRoomFor, newCompany } from '../../src/core/company/company.js'
import { decodeCompany, encodeCompany } from '../../src/core/company/state.js'
import type { Fact } from '../../src/core/model/message.js'
import { readCounter } from '../../src/core/usage/counter.js'
import { type Quantity, quantityMax, quantityOf } from '../../src/core/values/quantity.js'
import { factBytes } from '../../src/journal/records/fact-bytes.js'
import { FactReader } from '../../src/journal/records/fact-reader.js'
import { SnapshotReader, snapshotText } from '../../src/journal/records/snapshot-text.js'
import { seed } from '../random.js'

const noon = Date.UTC(2026, 2, 11, 12)
const reader = new FactReader()
const snapshots = new SnapshotReader()

const quantity = fc.oneof(
  fc.bigInt({ min: -quantityMax, max: quantityMax }),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
  fc.bigInt({ min: -3n, max: 3n }),
)
const through = fc.constantFrom('memory', 'fact', 'snapshot')

/** A use after a round trip through the journal. */
function replayed(used: Quantity): Quantity {
  const fact: Fact = {
    k: 'c',
    id: 'comp_1',
    env: 'env_1',
    at: noon,
    fx: [{ t: 'used', subtype: 'x', quantity: used, atMs: noon }],
  }
  const bytes = factBytes(fact)
  const [effect] = reader.read(bytes, 0, bytes.length).fx
  return effect?.t === 'used' ? effect.quantity : Number.NaN
}

t.test('long: every counter is the exact sum of the quantities it had room for', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fc.array(fc.tuple(quantity, through), { maxLength: 30 }), uses => {
      let company = newCompany('comp_1', 'env_1')
      let sum = 0n
      for (const [exact, way] of uses) {
        const used = quantityOf(exact)
        const fits = sum + exact <= quantityMax && sum + exact >= -quantityMax
        if (hasRoomFor(company, 'x', used, noon, noon) !== fits) return false
        if (!fits) continue
        sum += exact
        applyUse(company, 'x', way === 'fact' ? replayed(used) : used, noon, noon)
        if (way === 'snapshot') {
          const bytes = Buffer.from(snapshotText(encodeCompany(company)))
          company = decodeCompany(snapshots.read('c', bytes, 0, bytes.length))
        }
        for (const period of ['all_time', 'current_day', 'current_week', 'current_month'] as const)
          if (
            readCounter(company.counters.get('x')!, period, 'first_of_month', noon, null) !== quantityOf(sum)
          )
            return false
      }
      return true
    }),
    { seed, numRuns: 500 },
  )
})
