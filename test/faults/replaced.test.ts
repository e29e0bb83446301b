// An owner that hangs for longer than its lease and wakes beside the next one: nothing acknowledged is lost, nothing is counted
// twice, and it ends. The next one starts on a copy of its files, as on a volume that was moved to another machine.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ownStores } from '../cluster/own-stores.js'
import { Process } from '../harness.js'
import { noPooler, startPooler } from '../pooler.js'
import { Random, times } from '../random.js'
import { temporaryDirectory } from '../stores.js'
import { Load } from './load.js'
import { reconciled } from './reconciled.js'

const rounds = times(2)
const clients = 8
/** Events that are sent to the owner while it hangs. */
const late = 20
const random = new Random()

t.test(`seed ${random.seed}, ${rounds} rounds`, async t => {
  const { postgres, settings: direct } = await ownStores(t)
  if ('url' in postgres.address) throw new Error('the embedded Postgres listens on a socket')
  const { CLICKHOUSE_URL } = direct
  const settings = {
    ...(noPooler
      ? direct
      : {
          DATABASE_URL: (await startPooler(t, postgres.address, 6))('postgres'),
          TOLLGATE_POSTGRES_POOLER: 'true',
          CLICKHOUSE_URL,
        }),
    TOLLGATE_CHECKPOINT_INTERVAL_MS: '300',
  }
  let dataDir = join(await temporaryDirectory(t), 'data')
  let running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGKILL'))
  const load = new Load({ random, companies: 4, client: () => running.client })
  await load.prepare()
  for (let round = 1; round <= rounds; round++) {
    load.start(clients)
    await load.answered(60 + random.below(200))
    const former = running
    process.kill(former.child.pid!, 'SIGSTOP')
    t.teardown(() => former.end('SIGKILL'))
    const next = join(await temporaryDirectory(t), 'data')
    cpSync(dataDir, next, { recursive: true, filter: path => !/(\.lock|\/socket)$/.test(path) })
    const asked = Array.from({ length: late }, (_, n) =>
      former.client
        .post('/events', {
          event_type: 'track',
          idempotency_key: `late ${round} ${n}`,
          body: { event: 'late', company: { slug: 'co0' } },
        })
        .then(
          ({ status }) => status,
          () => 0,
        ),
    )
    running = await Process.start(next, settings)
    dataDir = next
    process.kill(former.child.pid!, 'SIGCONT')
    t.same(
      (await Promise.all(asked)).filter(status => status < 300 && status > 0),
      [],
      'it acknowledges nothing',
    )
    t.equal(await former.exited, 1, 'it ends')
    await load.answered(60)
    await load.stop()
    await load.verify(t)
    await reconciled(t, running.client)
  }
  t.equal(await running.end('SIGTERM'), 0)
})
