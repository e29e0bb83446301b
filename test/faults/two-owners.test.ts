// Two Tollgates on one Postgres and no Redis: the second does not start, and says who is there; the first goes on. An owner
// that was replaced writes nothing and ends.
import t from 'tap'
import { Holder } from '../../src/storage/holder.js'
import { newLook } from '../../src/storage/ownership.js'
import { openPostgres } from '../../src/storage/postgres.js'
import { Process, storesOf } from '../harness.js'
import { eventually } from '../storage/embedded/hold.js'
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

t.test('an owner that was replaced is told, and writes nothing', async t => {
  const { postgres, sql } = await startStores(t)
  const first = new Promise<string>(resolve => {
    void Holder.take(postgres, 'alone', silent, resolve).then(holder => t.teardown(() => holder.release()))
  })
  const epoch = await eventually(async () => {
    const [row] = await sql<{ epoch: string }[]>`select epoch from ownership where until > now()`
    if (row === undefined) throw new Error('not yet')
    return Number(row.epoch)
  })
  const pool = openPostgres({ ...postgres, owner: { epoch, looked: newLook() } }, { max: 2 })
  t.teardown(() => pool.end({ timeout: 0 }))
  await sql`create table written (n int primary key)`
  const write = (n: number) => pool`insert into written values (${n})`
  t.equal((await write(1)).count, 1, 'while it owns the database')
  await t.rejects(write(1), { code: '23505' }, 'with its own errors')
  t.same([...(await pool`with one as (select 1 as n) select n from one`)], [{ n: 1 }])
  t.equal((await pool.unsafe('update written set n = 2')).count, 1)
  t.same([...(await pool`insert into written select ${3}::int returning n`)], [{ n: 3 }])

  let proceed = () => {}
  const gate = new Promise<void>(resolve => {
    proceed = resolve
  })
  const under = pool.begin(async tx => {
    await tx`insert into written values (4)`
    await gate
  })
  await eventually(async () => {
    const [row] =
      await sql`select count(*)::int as n from pg_locks where locktype = 'advisory' and mode = 'ShareLock'
      and database = (select oid from pg_database where datname = current_database())`
    if (row!.n === 0) throw new Error('not yet')
  })
  const taken = sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(5021718304553)`
    await tx`update ownership set epoch = epoch + 1`
  })
  proceed()
  await Promise.all([under, taken])
  t.same(
    [...(await sql`select n from written order by n`)],
    [{ n: 2 }, { n: 3 }, { n: 4 }],
    'what was under way is whole',
  )
  const replaced = { code: 'TG503' }
  await t.rejects(write(5), replaced)
  await t.rejects(pool.unsafe('update written set n = n + 100'), replaced)
  await t.rejects(
    pool.begin(async tx => {
      await tx`insert into written values (6)`
    }),
    replaced,
  )
  await t.rejects(
    pool.begin(tx => [tx`insert into written values (7)`, tx`insert into written values (8)`]),
    replaced,
  )
  const [row] = await pool.begin('read only', tx => tx`select count(*)::int as n from written`)
  t.same(row, { n: 3 }, 'it may read')
  t.match(await first, /in use by tollgate, process/)
})

t.test('nodes of a cluster share it, and keep one alone out', async t => {
  const { postgres } = await startStores(t)
  const nobody = () => t.fail('nothing was lost')
  const nodes = [
    await Holder.take(postgres, 'shared', silent, nobody),
    await Holder.take(postgres, 'shared', silent, nobody),
  ]
  t.equal(nodes[0]!.ownership.epoch, nodes[1]!.ownership.epoch)
  await t.rejects(Holder.take(postgres, 'alone', silent, nobody), /tollgate node, process/)
  for (const node of nodes) await node.release()
  const alone = await Holder.take(postgres, 'alone', silent, nobody)
  t.ok(alone.ownership.epoch > nodes[0]!.ownership.epoch)
  await t.rejects(Holder.take(postgres, 'shared', silent, nobody), /in use by tollgate, process/)
  await alone.release()
})

t.test('a build before the lease keeps this one out', async t => {
  const { postgres, sql } = await startStores(t)
  const former = await sql.reserve()
  await former`select pg_advisory_lock(5021718304552)`
  await t.rejects(
    Holder.take(postgres, 'alone', silent, () => {}),
    /in use by tollgate, since 20/,
  )
  await former`select pg_advisory_unlock(5021718304552)`
  former.release()
  await (await Holder.take(postgres, 'alone', silent, () => {})).release()
})

t.test('a process that works on this machine keeps the database when its lease has run out', async t => {
  const { postgres, sql } = await startStores(t)
  const take = () => Holder.take(postgres, 'alone', silent, () => {})
  const first = await take()
  const [own] = await sql<{ machine: string; process: string }[]>`select machine, process from ownership`
  await first.release()
  const left = (process: string) => sql`
    update ownership set until = now() - interval '1 minute', machine = ${own!.machine}, process = ${process}`
  await left(own!.process)
  await t.rejects(take(), /in use by tollgate, process/)
  await left('4194304 1')
  await (await take()).release()
  await left(own!.process)
  await sql`update ownership set machine = 'another one'`
  await (await take()).release()
})

t.test('transactions that a killed owner left open are ended', async t => {
  const { postgres, sql } = await startStores(t)
  await (await Holder.take(postgres, 'alone', silent, () => {})).release()
  await sql`create table left_open (n int)`
  const [row] = await sql<{ epoch: string }[]>`select epoch from ownership`
  const pool = openPostgres(
    { ...postgres, owner: { epoch: Number(row!.epoch), looked: newLook() } },
    { max: 1 },
  )
  t.teardown(() => pool.end({ timeout: 0 }))
  const hangs = t.rejects(
    pool.begin(async tx => {
      await tx`insert into left_open values (1)`
      await new Promise(() => {})
    }),
  )
  await eventually(async () => {
    const [open] = await sql`select count(*)::int as n from pg_stat_activity
      where state = 'idle in transaction' and datname = current_database()`
    if (open!.n === 0) throw new Error('not yet')
  })
  const next = await Holder.take(postgres, 'alone', silent, () => {})
  t.teardown(() => next.release())
  await hangs
  t.same([...(await sql`select n from left_open`)], [])
})
