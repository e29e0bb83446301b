import t from 'tap'
import { Projections } from '../../src/recovery/projections.js'
import { Positions } from '../../src/wire/positions.js'
import { silent } from '../stores.js'

t.test('a projectors’ thread that dies is started again, and waiting callers are answered', async t => {
  const positions = Positions.make(1)
  positions.set(0, 'committed', 7)
  const projections = await Projections.start({
    positions,
    generation: 'g',
    journalDirectory: '/nowhere',
    postgres: { url: 'postgres://127.0.0.1:1/none' },
    clickhouse: { url: 'http://127.0.0.1:1' },
    log: silent,
    workerFile: new URL('./dying-projector.js', import.meta.url),
  })
  await t.rejects(projections.reached('clickhouse', 0, 7, 1), { code: 'store_away', status: 503 })
  await projections.reached('postgres', 0, 7, 10_000)
  t.equal(positions.get(0, 'checkpointed'), 3, 'it died twice')
  await projections.barrier('clickhouse', 10_000)
  const waiting = t.rejects(projections.reached('postgres', 0, 1_000, 60_000), {
    code: 'starting',
    status: 503,
  })
  await projections.stop(100)
  await waiting
  await projections.stop()
})
