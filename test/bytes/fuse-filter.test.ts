// Filters of idempotency keys: no key of the set is ever missed; few others are found.
import t from 'tap'
import { buildFilter, filterCells, mayHold, shapeOf } from '../../src/bytes/fuse-filter.js'
import { Random } from '../random.js'

t.test('every key of a set is found, one in some hundred others, in ten bits a key', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  for (const count of [0, 1, 2, 3, 5, 10, 33, 100, 1_000, 9_000, 40_000]) {
    const highs = Uint32Array.from({ length: count }, () => random.below(2 ** 32))
    const lows = Uint32Array.from({ length: count }, (_, i) => i)
    const filter = new Uint8Array(filterCells(count))
    const seed = buildFilter(highs, lows, count, filter)
    if (count === 0) continue
    // filters lie one after the other in one array
    const before = random.below(100)
    const filters = new Uint8Array(before + filter.length)
    filters.set(filter, before)
    const { segmentLength, firsts } = shapeOf(count)
    const holds = (high: number, low: number) =>
      mayHold(filters, before, segmentLength, firsts, seed, high, low)
    let missed = 0
    for (let i = 0; i < count; i++) if (!holds(highs[i]!, lows[i]!)) missed++
    t.equal(missed, 0, `${count} keys`)
    let wrong = 0
    for (let i = 0; i < 20_000; i++) if (holds(random.below(2 ** 32), count + i)) wrong++
    t.ok(wrong < 200, `${wrong} of 20,000 others among ${count}`)
    if (count >= 9_000) t.ok(filter.length < 1.35 * count, `${filter.length} bytes for ${count} keys`)
  }
})

t.test('with cells of 16 bits no key is missed, and one in 65,536 others is found', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const count = 20_000
  const highs = Uint32Array.from({ length: count }, () => random.below(2 ** 32))
  const lows = Uint32Array.from({ length: count }, (_, i) => i)
  const filter = new Uint16Array(filterCells(count))
  const seed = buildFilter(highs, lows, count, filter)
  const { segmentLength, firsts } = shapeOf(count)
  const holds = (high: number, low: number) => mayHold(filter, 0, segmentLength, firsts, seed, high, low)
  let missed = 0
  for (let i = 0; i < count; i++) if (!holds(highs[i]!, lows[i]!)) missed++
  t.equal(missed, 0)
  let wrong = 0
  for (let i = 0; i < 400_000; i++) if (holds(random.below(2 ** 32), count + i)) wrong++
  t.ok(wrong < 40, `${wrong} of 400,000 others; 6 are expected`)
})

t.test('keys that are alike make no filter', async t => {
  const twice = new Uint32Array([7, 7])
  t.throws(() => buildFilter(twice, twice, 2, new Uint8Array(filterCells(2))), { message: /repeated/ })
})
