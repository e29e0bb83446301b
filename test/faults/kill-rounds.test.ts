// kill -9 at any moment under mixed load, again and again over one data directory (promises 1 to 3).
import t from 'tap'
import { embedded, Process } from '../harness.js'
import { Random, times } from '../random.js'
import { temporaryDirectory } from '../stores.js'
import { Load } from './load.js'

const rounds = times(3)
const random = new Random()
const clients = 12
const killedWithinMs = 2_000

t.test(`seed ${random.seed}, ${rounds} rounds`, async t => {
  const dataDir = await temporaryDirectory(t)
  // small segments and frequent checkpoints, so that kills meet every step of both
  const settings = {
    ...embedded,
    TOLLGATE_CHECKPOINT_INTERVAL_MS: '300',
    TOLLGATE_JOURNAL_SEGMENT_BYTES: '1048576',
  }
  let running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGTERM'))
  const load = new Load({ random, client: () => running.client })
  await load.prepare()
  let startsMs = 0
  for (let round = 1; round <= rounds; round++) {
    load.start(clients)
    const afterMs = random.below(random.chance(0.5) ? killedWithinMs : 30)
    await new Promise(resolve => setTimeout(resolve, afterMs))
    await running.end('SIGKILL')
    const began = performance.now()
    running = await Process.start(dataDir, settings)
    startsMs += performance.now() - began
    await load.stop()
    t.comment(`round ${round}: killed after ${afterMs} ms; ${load.answers} answers, ${load.refusals} retries`)
    await load.verify(t)
    // what the last checks have asked for twice must not have counted either
    if (round === rounds) await load.verify(t)
  }
  t.comment(`a start after a kill took ${Math.round(startsMs / rounds)} ms`)
  t.equal(await running.end('SIGTERM'), 0)
})
