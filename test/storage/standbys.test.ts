// The loss that a fail-over of Postgres may bring is told where it can be seen.
import t from 'tap'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'
import { failOverLoss, replicationOf } from '../../src/storage/standbys.js'
import { command } from '../command.js'
import { startStores, temporaryDirectory } from '../stores.js'

t.test('standbys, and what the server waits for', async t => {
  const of = (commit: string, names: string, standbys: number) => failOverLoss({ commit, names, standbys })
  t.equal(of('on', '', 0), null, 'no standby')
  for (const commit of ['on', 'remote_apply', 'remote_write'])
    t.equal(of(commit, 'FIRST 1 (a, b)', 2), null, commit)
  t.match(of('on', '', 1), /standbys and none is synchronous: a fail-over may lose/)
  t.match(of('local', 'FIRST 1 (a)', 1), /synchronous_commit = local/)
  t.match(of('off', '', 0), /synchronous_commit = off: a crash loses/)
  t.match(of('off', 'a', 1), /Set synchronous_commit = on/)
})

t.test('a server is asked, and doctor warns', async t => {
  const { postgres, sql } = await startStores(t, { migrated: false })
  t.equal(failOverLoss(await replicationOf(sql)), null)
  const [row] = await sql<{ name: string }[]>`select current_database() as name`
  await sql.unsafe(`alter role current_user in database ${row!.name} set synchronous_commit = off`)
  const next = openPostgres(postgres, { max: 1 })
  t.teardown(() => closePostgres(next))
  t.match(failOverLoss(await replicationOf(next)), /synchronous_commit = off/)
  if (!('url' in postgres)) return t.comment('doctor is asked where the run shares a Postgres')
  const { said } = await command(await temporaryDirectory(t), ['doctor'], { DATABASE_URL: postgres.url })
  t.match(said, /WARNING Postgres has synchronous_commit = off/)
})
