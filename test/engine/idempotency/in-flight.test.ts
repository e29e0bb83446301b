// In-flight claims, against a Map.
import t from 'tap'
import { InFlightClaims } from '../../../src/engine/idempotency/in-flight.js'
import { Random } from '../../random.js'

t.test('EV-27: a table of what is under way answers as a Map does', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const table = new InFlightClaims()
  const map = new Map<string, Promise<void>>()
  let wrong = 0
  for (let i = 0; i < 60_000; i++) {
    // few low words: many ids want the same slot, at the end of the table too
    const high = random.below(40)
    const low = random.pick([0, 1, 255, 256 * 7 + 255, 2 ** 32 - 1, random.below(2 ** 32)])
    const name = `${high} ${low}`
    if (random.chance(i % 20_000 < 10_000 ? 0.6 : 0.3)) {
      const promise = Promise.resolve()
      table.put(high, low, promise)
      map.set(name, promise)
    } else {
      const [some] = map.keys()
      const gone = some !== undefined && random.chance(0.7) ? some : name
      const [goneHigh, goneLow] = gone.split(' ').map(Number) as [number, number]
      table.delete(goneHigh, goneLow)
      map.delete(gone)
    }
    if (table.get(high, low) !== (map.get(name) ?? null) || table.size !== map.size) wrong++
  }
  for (const [name, promise] of map) {
    const [high, low] = name.split(' ').map(Number) as [number, number]
    if (table.get(high, low) !== promise) wrong++
  }
  t.equal(wrong, 0)
})
