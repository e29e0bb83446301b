import t from 'tap'
import { Positions } from '../../src/wire/positions.js'

t.test('positions are seen by every holder of the memory, and trimming waits for the slowest', async t => {
  const one = Positions.make(2)
  const two = new Positions(one.memory)
  t.equal(two.shards, 2)
  one.set(1, 'committed', 2 ** 40)
  one.set(1, 'checkpointed', 70)
  one.set(1, 'postgres', 65)
  one.set(1, 'seen', 60)
  one.set(1, 'clickhouse', 50)
  t.equal(two.get(1, 'committed'), 2 ** 40)
  t.equal(two.trimmable(1), 50)
  one.set(1, 'seen', 40)
  t.equal(two.trimmable(1), 40, 'last seen times that are not stored are gathered again from there')
  t.equal(two.trimmable(0), 0)
  t.equal(two.stored(1), 2 ** 40)
  one.set(0, 'clickhouse', 5)
  t.equal(two.stored(0), 5)
  t.throws(() => two.get(2, 'committed'), RangeError)
})
