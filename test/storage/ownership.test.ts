// A process that hung acknowledges nothing before it has looked whether it still owns the database.
import t from 'tap'
import { acknowledging, leaseMs, moment, newLook, noteLook } from '../../src/storage/ownership.js'

t.test('it may acknowledge for the length of a lease after a look began', async t => {
  const looked = newLook()
  const may = acknowledging({ epoch: 1, looked })!
  noteLook(looked, moment())
  t.equal(may(), null)
  const { steady, wall } = moment()
  const ago = Math.ceil(leaseMs / 10)
  for (const hung of [
    { steady: (steady - ago) | 0, wall: (wall - ago) | 0 },
    { steady, wall: (wall - ago) | 0 },
    { steady: (steady - ago) | 0, wall },
  ]) {
    noteLook(looked, hung)
    const held = may()
    t.ok(held, 'by either clock')
    let isOver = false
    void held!.then(() => {
      isOver = true
    })
    await new Promise(resolve => setTimeout(resolve, 30))
    t.notOk(isOver)
    noteLook(looked, moment())
    await held
  }
  noteLook(looked, { steady: (steady + 50) | 0, wall: (wall + 50) | 0 })
  t.equal(may(), null, 'a wall clock that was set back')
  t.equal(acknowledging(undefined), undefined, 'without a lease there is nothing to ask')
})
