// Promise 11: the shards of a node that stops are handed over first, whatever is in flight; its last requests are answered afterwards.
// The test holds locks in Postgres, so that the snapshots of its shards and an answer wait.
import t from 'tap'
import { openPostgres } from '../../src/storage/postgres.js'
import { ownAll, skipped, TestCluster, until } from './nodes.js'
import { ClusterLoad } from './under-load.js'

t.test('promise 11: a stop hands over first, then drains', { skip: skipped }, async t => {
  // no lease ends on a busy machine
  const cluster = await TestCluster.start(t, 2, { TOLLGATE_DRAIN_MS: '120000', TOLLGATE_LEASE_MS: '30000' })
  const [stays, goes] = cluster.living
  const load = await ClusterLoad.prepare(t, cluster)
  const sql = openPostgres({ url: cluster.databaseUrl }, { max: 2, statementTimeoutMs: 0 })
  t.teardown(() => sql.end({ timeout: 1 }))

  await load.during(t, 'stopped', async () => {
    load.leftOut.add(goes!)
    const snapshots = await held(sql, 'lock table snapshots in share mode')
    const logs = await held(sql, 'lock table audit_logs in access exclusive mode')
    let answered = false
    const asked = goes!.client.get('/audit-log').then(() => {
      answered = true
    })
    const ended = goes!.process.end('SIGTERM')
    await until(() => ownAll([stays!]), 'the other node owns all shards')
    t.notOk(answered, 'a request is still in flight, and the node with it')
    t.equal(goes!.process.child.exitCode, null)
    snapshots()
    logs()
    await asked
    t.ok(answered, 'it is answered before the node ends')
    t.equal(await ended, 0, 'it ends by itself')
  })
  t.same(load.load.wrong, [])
})

/** Runs a statement in a transaction. Resolves once it holds, with what ends it. */
async function held(sql: ReturnType<typeof openPostgres>, statement: string): Promise<() => void> {
  let release = (): void => {}
  const over = new Promise<void>(resolve => {
    release = resolve
  })
  await new Promise<void>((resolve, reject) => {
    sql
      .begin(async inside => {
        await inside.unsafe(statement)
        resolve()
        await over
      })
      .catch(reject)
  })
  return release
}
