// Places are shared fairly between groups (security 5): by the order in which work is served, never by time.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { FairGate, type Leave } from '../../src/turns/fair-gate.js'
import { Random } from '../random.js'

/** Asks for places and notes who is served, in order. */
function watched(options: Partial<ConstructorParameters<typeof FairGate>[0]> = {}) {
  const gate = new FairGate({ places: 4, perGroup: 3, name: 'the store', ...options })
  const served: { readonly group: string; readonly leave: Leave }[] = []
  const ask = (group: string): Promise<void> =>
    gate.enter(group).then(leave => {
      served.push({ group, leave })
    })
  return { gate, served, ask, groups: () => served.map(({ group }) => group).join('') }
}

t.test('security 5: a group behind another’s long queue is served at once', async t => {
  const { ask, groups, served } = watched()
  for (let n = 0; n < 100; n++) void ask('A')
  await nextTurn()
  t.equal(groups(), 'AAA', 'one group has its part and no more')
  void ask('B')
  void ask('B')
  await nextTurn()
  t.equal(groups(), 'AAAB', 'a place was left for others')
  served[0]!.leave()
  await nextTurn()
  t.equal(groups(), 'AAABB', 'the place that is free next is for whom has fewer')
  served[1]!.leave()
  await nextTurn()
  t.equal(groups(), 'AAABBA')
  for (let n = 2; n < 102; n++) {
    served[n]!.leave()
    await nextTurn()
  }
  t.equal(served.length, 102)
})

t.test('security 5: three that want all of it take turns, each in its own order', async t => {
  const { gate, served, ask, groups } = watched({ places: 1, perGroup: 1 })
  for (const group of 'AAAAABBBCC') void ask(group)
  for (let n = 0; n < 10; n++) {
    await nextTurn()
    served[n]!.leave()
  }
  t.equal(groups(), 'ABCABCABAA')
  t.equal(gate.waiting, 0)
})

t.test('a place given back twice is given once; a failure gives it back', async t => {
  const { gate, served, ask, groups } = watched({ places: 1, perGroup: 1 })
  await ask('A')
  void ask('B')
  void ask('C')
  served[0]!.leave()
  served[0]!.leave()
  await nextTurn()
  t.equal(groups(), 'AB')
  served[1]!.leave()
  await nextTurn()
  served[2]!.leave()
  await t.rejects(
    gate.run('A', async () => {
      throw new Error('no')
    }),
    /no/,
  )
  t.equal(await gate.run('A', async () => 1), 1)
})

t.test('each group’s queue is bounded, in number and time', async t => {
  const { gate, ask } = watched({ places: 2, perGroup: 1, waitingMax: 2, patienceMs: 20 })
  await ask('A')
  const late = [gate.enter('A'), gate.enter('A')]
  await t.rejects(gate.enter('A'), { code: 'overloaded' })
  t.resolves(ask('B'))
  for (const one of late)
    await t.rejects(one, { code: 'overloaded', message: 'the store is busy; try again' })
  t.equal(gate.waiting, 0)
})

t.test('in any order of begin and end, no place is lost and no bound is passed', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const { gate, served, ask } = watched()
  const open = new Set<number>()
  let asked = 0
  let seen = 0
  const look = async () => {
    await nextTurn()
    for (; seen < served.length; seen++) open.add(seen)
    const held = new Map<string, number>()
    for (const n of open) held.set(served[n]!.group, (held.get(served[n]!.group) ?? 0) + 1)
    if (open.size > 4 || Math.max(0, ...held.values()) > 3) t.fail(`${open.size} places are held`)
  }
  for (let step = 0; step < 2_000; step++) {
    if (random.chance(0.5)) {
      void ask(random.pick(['A', 'A', 'A', 'B', 'C']))
      asked++
    } else if (open.size > 0) {
      const n = random.pick([...open])
      open.delete(n)
      served[n]!.leave()
    }
    await look()
  }
  while (open.size > 0) {
    for (const n of [...open]) {
      open.delete(n)
      served[n]!.leave()
    }
    await look()
  }
  t.equal(served.length, asked)
  t.equal(gate.waiting, 0)
})
