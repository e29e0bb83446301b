// Two Tollgates on one Postgres and no Redis: the second does not start, and says who is there; the first goes on. A
// process that lost its lock to another ends before it writes.
import t from 'tap'
import { Holder } from '../../src/storage/holder.js'
import { openPostgres } from '../../src/storage/postgres.js'
import { Process, storesOf } from '../harness.js'
import { silent, startStores, temporaryDirectory } from '../stores.js'

t.test('a second process on the same stores is refused', async t => {
  const first = await temporaryDirectory(t)
  const running = await Process.start(first)
  t.teardown(() => running.end('SIGTERM'))
  const stores = await storesOf(first)
  if (stores.DATABASE_URL === undefined) return t.comment('skipped: the run shares no Postgres')
  const child = Process.spawn(await temporaryDirectory(t), stores, undefined, 'pipe')
  let said = ''
  child.stderr!.on('data', piece => {
    said += piece
  })
  const code = await new Promise(resolve => child.on('close', resolve))
  t.equal(code, 1)
  t.match(said, new RegExp(`in use by tollgate, process ${running.child.pid}`))
  t.match(said, /since 20\d\d-/)
  const company = await running.client.post('/companies', { keys: { slug: 'acme' } })
  t.equal(company.status, 200, 'the first goes on')
  await running.end('SIGKILL')
  const again = await Process.start(first, stores)
  t.equal(
    (await again.client.get('/companies/lookup?slug=acme')).status,
    200,
    'a restart after a kill is let in',
  )
  await again.end('SIGTERM')
})

t.test('a lock that another took meanwhile ends the process that lost it', async t => {
  const { postgres, sql } = await startStores(t)
  const told: string[] = []
  let tell = () => {}
  const lost = new Promise<void>(resolve => {
    tell = resolve
  })
  const holder = await Holder.take(postgres, 'alone', silent, message => {
    told.push(message)
    tell()
  })
  t.teardown(() => holder.release())
  await holder.begin()
  const other = openPostgres(postgres, { max: 1 })
  t.teardown(() => other.end({ timeout: 0 }))
  const lock = await other.reserve()
  // its place is taken in the moment in which its connection dies
  const taken = lock`select pg_advisory_lock(5021718304552)`
  await sql`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and granted and pid in (
      select pid from pg_stat_activity
      where application_name like 'tollgate, process %' and datname = current_database())`
  await taken
  await lost
  t.match(told[0], /in use by|used this Postgres meanwhile/)
  lock.release()
})

t.test('nodes of a cluster share it, and keep one alone out', async t => {
  const { postgres } = await startStores(t)
  const nobody = () => t.fail('nothing was lost')
  const nodes = [
    await Holder.take(postgres, 'shared', silent, nobody),
    await Holder.take(postgres, 'shared', silent, nobody),
  ]
  await t.rejects(Holder.take(postgres, 'alone', silent, nobody), /tollgate node, process/)
  for (const node of nodes) await node.release()
  const alone = await Holder.take(postgres, 'alone', silent, nobody)
  await t.rejects(Holder.take(postgres, 'shared', silent, nobody), /in use by tollgate, process/)
  await alone.release()
})
