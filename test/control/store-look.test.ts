// A look at a store: one question for all that look within two seconds, and no long wait for a store that hangs.
import t from 'tap'
import { StoreLook } from '../../src/control/store-look.js'

t.test('a store is asked once in two seconds, however many look', async t => {
  let now = 0
  let asked = 0
  let isThere = true
  const look = new StoreLook(
    async () => {
      asked++
      return isThere
    },
    () => now,
  )
  t.same(await Promise.all([look.answers(), look.answers()]), [true, true])
  isThere = false
  now = 1_999
  t.equal(await look.answers(), true, 'the answer holds')
  t.equal(asked, 1)
  now = 2_000
  t.same(await Promise.all([look.answers(), look.answers()]), [false, false])
  t.equal(asked, 2)
  isThere = true
  now = 4_000
  t.equal(await look.answers(), true, 'it is there again')
})

t.test('a store that hangs is shown as it was until the question fails', async t => {
  let now = 0
  let answer: (answers: boolean) => void = () => {}
  const look = new StoreLook(
    () => new Promise(resolve => (answer = resolve)),
    () => now,
  )
  t.equal(await look.answers(), true, 'nothing else is known yet')
  answer(false)
  await new Promise(resolve => setImmediate(resolve))
  t.equal(await look.answers(), false)
  now = 5_000
  t.equal(await look.answers(), false, 'while it is asked again')
})
