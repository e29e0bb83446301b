// How far writes that events cause may be ahead of Postgres (security 5): by order, over positions that the test moves.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Pacing } from '../../../src/entities/turns/pacing.js'

/** Two shards whose positions the test moves; each write that is done is the next record of a shard. */
function paced(behindMax: number) {
  const committed = [0, 0]
  const shown = [0, 0]
  const waiters = new Set<{
    readonly shard: number
    readonly sequence: number
    readonly resolve: () => void
    readonly reject: (error: Error) => void
  }>()
  const pacing = new Pacing({
    behindMax,
    position: shard => shown[shard]!,
    reached: (shard, sequence) =>
      new Promise((resolve, reject) => {
        if (shown[shard]! >= sequence) resolve()
        else waiters.add({ shard, sequence, resolve, reject })
      }),
  })
  const done: string[] = []
  const write = (environment: string, writes = 1): Promise<void> =>
    pacing.run(environment, writes, async () => {
      for (let n = 0; n < writes; n++) {
        const shard = (committed[0]! + committed[1]!) % 2
        pacing.written(environment, shard, ++committed[shard]!)
        done.push(environment)
      }
    })
  const show = async (shard: number, sequence = committed[shard]!): Promise<void> => {
    shown[shard] = sequence
    for (const waiter of waiters)
      if (waiter.shard === shard && waiter.sequence <= sequence) {
        waiters.delete(waiter)
        waiter.resolve()
      }
    await nextTurn()
  }
  const away = async (): Promise<void> => {
    for (const { reject } of waiters) reject(new Error('away'))
    waiters.clear()
    await nextTurn()
  }
  const count = (environment: string) => done.filter(one => one === environment).length
  return { pacing, write, show, away, done, count, committed, waiters }
}

t.test(
  'security 5: an environment is no further ahead of Postgres than its bound; others pass it',
  async t => {
    const { write, show, count, committed } = paced(10)
    const all = Array.from({ length: 100 }, () => write('A'))
    await nextTurn()
    t.equal(count('A'), 10, 'as many as may be ahead')
    await write('B')
    t.equal(count('B'), 1, 'another does not wait')
    t.equal(committed[0]! + committed[1]!, 11, 'and its record stands behind no more than these')
    for (let ahead = 10; count('A') < 100; ) {
      await show(0)
      await show(1)
      t.ok(count('A') > ahead, 'those that Postgres shows make room')
      t.ok(count('A') - ahead <= 10)
      ahead = count('A')
    }
    await Promise.all(all)
  },
)

t.test('writes that come together are done together, in the order of asking', async t => {
  const { pacing, show } = paced(3)
  const order: number[] = []
  let sequence = 0
  const run = (n: number, writes: number) =>
    pacing.run('A', writes, async () => {
      for (let i = 0; i < writes; i++) pacing.written('A', 0, ++sequence)
      order.push(n)
    })
  const all = [run(1, 5), run(2, 1), run(3, 4), run(4, 0), run(5, 1)]
  await nextTurn()
  t.same(order, [1])
  while (order.length < 5) await show(0, sequence)
  t.same(order, [1, 2, 3, 4, 5])
  await Promise.all(all)
})

t.test('where Postgres stands still nothing waits, until it moves again', async t => {
  const { write, show, away, count, waiters } = paced(10)
  const all = Array.from({ length: 30 }, () => write('A'))
  await nextTurn()
  t.equal(count('A'), 10)
  await away()
  await Promise.all(all)
  for (let n = 0; n < 100; n++) await write('A')
  t.equal(count('A'), 130, 'events are taken as ever')
  t.equal(waiters.size, 0)
  await show(0, 1)
  await show(1, 1)
  void write('A')
  await nextTurn()
  t.equal(count('A'), 130, 'it moves: whoever is far ahead waits again')
  await show(0)
  await show(1)
  await nextTurn()
  t.equal(count('A'), 131)
})

t.test('writes under way count too, and a failure gives their room back', async t => {
  const { pacing } = paced(2)
  let fail: (error: Error) => void = () => {}
  const first = pacing.run(
    'A',
    2,
    () =>
      new Promise<void>((_, reject) => {
        fail = reject
      }),
  )
  let isDone = false
  const second = pacing.run('A', 1, async () => {
    isDone = true
  })
  await nextTurn()
  t.notOk(isDone)
  fail(new Error('lost'))
  await t.rejects(first, /lost/)
  await second
  t.ok(isDone)
})
