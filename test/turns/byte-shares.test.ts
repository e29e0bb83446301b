// Bytes are shared between groups: what one takes is less than all, and what is given back is there again (security 5).
import t from 'tap'
import { ByteShares } from '../../src/turns/byte-shares.js'
import { Random } from '../random.js'

t.test('security 5: one group leaves room for the next', async t => {
  const shares = new ByteShares(1_000)
  let taken = 0
  while (shares.take('a', 10)) taken += 10
  t.ok(taken > 500 && taken <= 760, `one alone has ${taken} of 1000`)
  t.ok(shares.take('b', 200), 'another finds room')
  t.notOk(shares.take('c', 1_000), 'nobody more than there is')
  shares.give('a', taken)
  shares.give('b', 200)
  t.equal(shares.held, 0)
  t.ok(shares.take('c', 1_000), 'who holds nothing may have all')
})

t.test('never more than the bound, and all is given back', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const shares = new ByteShares(1_000)
  const held: [string, number][] = []
  for (let step = 0; step < 5_000; step++) {
    const group = `g${random.below(4)}`
    const bytes = random.below(300)
    if (random.chance(0.5) && shares.take(group, bytes)) held.push([group, bytes])
    else if (held.length > 0) shares.give(...held.splice(random.below(held.length), 1)[0]!)
    const sum = held.reduce((all, [, one]) => all + one, 0)
    if (shares.held !== sum || sum > 1_000) t.fail(`holds ${shares.held}, should ${sum}`)
  }
  for (const [group, bytes] of held) shares.give(group, bytes)
  t.equal(shares.held, 0)
})
