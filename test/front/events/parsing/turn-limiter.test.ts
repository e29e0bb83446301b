// Slices of long work: one a turn of the event loop, a few in flight, in the order of asking.
import t from 'tap'
import { TurnLimiter } from '../../../../src/front/events/parsing/turn-limiter.js'

const turn = () => new Promise(resolve => setImmediate(resolve))

t.test('one slice a turn, whosever it is', async t => {
  const slices = new TurnLimiter(100)
  const begun: string[] = []
  for (const name of ['a', 'b', 'c']) void slices.enter().then(() => begun.push(name))
  t.same(begun, [])
  await turn()
  t.same(begun, ['a'])
  await turn()
  t.same(begun, ['a', 'b'])
  await turn()
  t.same(begun, ['a', 'b', 'c'])
})

t.test('no more in flight than are allowed', async t => {
  const slices = new TurnLimiter(2)
  let begun = 0
  for (let n = 0; n < 5; n++) void slices.enter().then(() => begun++)
  for (let n = 0; n < 10; n++) await turn()
  t.equal(begun, 2)
  slices.lasts(Promise.resolve())
  for (let n = 0; n < 10; n++) await turn()
  t.equal(begun, 3)
  slices.lasts(Promise.reject(new Error('refused')))
  slices.lasts(Promise.resolve())
  for (let n = 0; n < 10; n++) await turn()
  t.equal(begun, 5)
})

t.test('one that waits for a store keeps the others from nothing for long', async t => {
  const slices = new TurnLimiter(1)
  await slices.enter()
  let settle = () => {}
  slices.lasts(
    new Promise<void>(resolve => {
      settle = resolve
    }),
  )
  const next = slices.enter()
  let begun = false
  void next.then(() => {
    begun = true
  })
  for (let n = 0; n < 10; n++) await turn()
  t.notOk(begun)
  await next
  settle()
  let third = false
  void slices.enter().then(() => {
    third = true
  })
  for (let n = 0; n < 10; n++) await turn()
  t.notOk(third, 'it is not counted out twice')
})
