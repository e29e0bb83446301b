// The nodes that leave when nodes do not reach each other. All nodes compute the same result, and the rest
// reach one another.
import t from 'tap'
import { cutOff } from '../../src/cluster/cut-off.js'
import { Random } from '../random.js'

const node = (sinceMs: number, ...unreached: string[]) => ({ sinceMs, unreached })

t.test('a node that misses two others leaves; the two stay', async t => {
  const nodes = new Map([
    ['a', node(1, 'b', 'c')],
    ['b', node(2)],
    ['c', node(3, 'a')],
  ])
  t.same([...cutOff(nodes)], ['a'])
})

t.test('the younger of two nodes leaves, whichever of them reports the other', async t => {
  for (const [a, b] of [
    [['b'], []],
    [[], ['a']],
    [['b'], ['a']],
  ] as const)
    t.same(
      [
        ...cutOff(
          new Map([
            ['a', node(1, ...a)],
            ['b', node(2, ...b)],
            ['c', node(3)],
          ]),
        ),
      ],
      ['b'],
    )
  t.same([...cutOff(new Map([['a', node(1, 'gone')]]))], [], 'one that is no node any more is not missed')
})

t.test('the rest reach one another, and no node leaves without a reason', async t => {
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  for (let run = 0; run < 300; run++) {
    const ids = Array.from({ length: 1 + random.below(7) }, (_, i) => `n${i}`)
    const nodes = new Map(
      ids.map(id => [id, node(random.below(5), ...ids.filter(other => other !== id && random.chance(0.2)))]),
    )
    const leaving = cutOff(nodes)
    for (const [id, { unreached }] of nodes)
      for (const other of unreached)
        if (!leaving.has(id) && !leaving.has(other)) t.fail(`${id} and ${other} stay`)
    const named = new Set(
      [...nodes].flatMap(([id, { unreached }]) => (unreached.length > 0 ? [id, ...unreached] : [])),
    )
    t.ok([...leaving].every(id => named.has(id)))
    t.ok(leaving.size < ids.length, 'somebody stays')
  }
})
