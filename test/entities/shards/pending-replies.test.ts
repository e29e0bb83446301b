// Pending replies of a shard: every number yields its own caller, once.
import t from 'tap'
import { PendingReplies } from '../../../src/entities/shards/pending-replies.js'
import { Random } from '../../random.js'

t.test('a number finds the one who waits under it, once', async t => {
  const waiters = new PendingReplies<string>()
  const a = waiters.add('a')
  const b = waiters.add('b')
  t.equal(waiters.size, 2)
  t.equal(waiters.take(b), 'b')
  t.equal(waiters.take(b), undefined, 'answered before')
  t.equal(waiters.take(a), 'a')
  t.equal(waiters.take(1e15), undefined, 'a number that was never given')
  t.equal(waiters.size, 0)
})

t.test('a late reply finds nobody, also when its place is taken again', async t => {
  const waiters = new PendingReplies<string>()
  const old = waiters.add('old')
  waiters.take(old)
  const now = waiters.add('new')
  t.not(now, old)
  t.equal(waiters.take(old), undefined)
  t.equal(waiters.take(now), 'new')
})

const random = new Random()

t.test(`seed ${random.seed}: as a map would, through 20 000 comings and goings`, async t => {
  const waiters = new PendingReplies<number>()
  const model = new Map<number, number>()
  const gone: number[] = []
  let wrong = 0
  for (let step = 0; step < 20_000; step++) {
    if (model.size < 500 && random.chance(0.52)) {
      const number = waiters.add(step)
      if (model.has(number)) wrong++
      model.set(number, step)
    } else if (model.size > 0) {
      const number = random.pick([...model.keys()])
      if (waiters.take(number) !== model.get(number)) wrong++
      model.delete(number)
      gone.push(number)
    }
    if (gone.length > 0 && waiters.take(random.pick(gone)) !== undefined) wrong++
    if (waiters.size !== model.size) wrong++
    if (random.chance(0.001)) {
      const all = [...waiters.takeAll()].sort((a, b) => a - b)
      if (JSON.stringify(all) !== JSON.stringify([...model.values()].sort((a, b) => a - b))) wrong++
      gone.push(...model.keys())
      model.clear()
    }
  }
  t.equal(wrong, 0)
})
