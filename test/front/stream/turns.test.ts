// Work of the data stream on the HTTP thread: a bounded part in each turn of the event loop, in the order of its arrival.
import t from 'tap'
import { Turns } from '../../../src/front/stream/turns.js'

/** Work that takes longer than a turn may. */
function long(): void {
  for (const endMs = performance.now() + 2; performance.now() < endMs; );
}

/** The event loop turns once: what waited for this turn has run. */
const nextTurn = () => new Promise<void>(resolve => setImmediate(resolve))

/** Turns the event loop until no work waits. Returns the number of turns. */
async function untilDone(turns: Turns): Promise<number> {
  let count = 0
  for (; turns.size > 0; count++) await nextTurn()
  return count
}

t.test('short work runs at once while nothing waits', async t => {
  const turns = new Turns()
  const done: number[] = []
  turns.run(() => done.push(1))
  t.same(done, [1])
  t.equal(turns.size, 0)
})

t.test(
  'a turn that has used its time leaves the rest to later turns, so other work comes between',
  async t => {
    const turns = new Turns()
    const done: string[] = []
    for (const name of ['a', 'b', 'c', 'd'])
      turns.run(() => {
        long()
        done.push(name)
      })
    t.same(done, ['a'], 'one ran at once and used up the turn')
    t.equal(turns.size, 3)
    while (turns.size > 0) {
      // Other work of the HTTP thread, such as a check.
      setImmediate(() => done.push('check'))
      await nextTurn()
    }
    t.match(done.join(' '), /b( check)+ c( check)+ d/, 'other work runs between any two')
    t.same(
      done.filter(name => name !== 'check'),
      ['a', 'b', 'c', 'd'],
    )
  },
)

t.test(
  'work runs in the order of its arrival: nobody overtakes, and what work adds goes to the end',
  async t => {
    const turns = new Turns()
    const done: string[] = []
    turns.run(long)
    // One peer with much work, and two with a little.
    for (let i = 0; i < 100; i++)
      turns.run(() => {
        done.push(`many ${i}`)
        if (i === 0) turns.run(() => done.push('added'))
      })
    turns.run(() => done.push('second'))
    turns.run(() => done.push('third'))
    turns.run(() => done.push('fourth'))
    t.same(done, [], 'short work does not overtake what waits')
    await untilDone(turns)
    t.same(done, [
      ...Array.from({ length: 100 }, (_, i) => `many ${i}`),
      'second',
      'third',
      'fourth',
      'added',
    ])
  },
)

t.test('the order holds over many turns, and work that came meanwhile is done', async t => {
  const turns = new Turns()
  const done: number[] = []
  const added = 10_000
  turns.run(long)
  for (let i = 0; i < added; i++)
    turns.run(() => {
      done.push(i)
      if (i % 1_000 === 0) long()
      if (i % 10 === 0) turns.run(() => done.push(added + i / 10))
    })
  t.ok((await untilDone(turns)) >= 10, 'one turn follows another, also when work adds work')
  t.same(
    done,
    Array.from({ length: added + added / 10 }, (_, i) => i),
  )
  t.equal(turns.size, 0)
})

t.test('security H2 work that adds itself again lets others run, and is never nested', async t => {
  const turns = new Turns()
  const done: string[] = []
  let left = 50_000
  const again = () => {
    if (--left > 0) turns.run(again)
    else done.push('many')
  }
  turns.run(again)
  turns.run(() => done.push('one'))
  await untilDone(turns)
  t.same(done, ['one', 'many'])
})

t.test('security H2 groups take turns: one with very much work keeps no other waiting', async t => {
  const turns = new Turns()
  const done: string[] = []
  turns.run(long)
  for (let i = 0; i < 1_000; i++) turns.run(() => done.push(`many ${i}`), 'many')
  for (let i = 0; i < 3; i++) turns.run(() => done.push(`few ${i}`), 'few')
  await untilDone(turns)
  t.ok(done.indexOf('few 2') <= 6, 'the few are done within as many of the others')
  const of = (name: string) => done.filter(one => one.startsWith(name))
  t.same(
    of('many'),
    Array.from({ length: 1_000 }, (_, i) => `many ${i}`),
    'each in its order',
  )
  t.same(of('few'), ['few 0', 'few 1', 'few 2'])
})

t.test('work for each of many is one task for some of them', async t => {
  const turns = new Turns()
  const done: number[] = []
  const many = new Set(Array.from({ length: 70 }, (_, i) => i))
  turns.run(long)
  turns.forEach(many, 32, one => done.push(one))
  t.equal(turns.size, 3)
  many.clear()
  await untilDone(turns)
  t.same(
    done,
    Array.from({ length: 70 }, (_, i) => i),
    'those who were there when it was asked for',
  )
})
