// The embedded Postgres against everything that happens to it: kills, orphans, closed directories, long paths.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startEmbeddedPostgres } from '../../../src/storage/embedded/postgres.js'
import { closePostgres, openPostgres, type PostgresAddress } from '../../../src/storage/postgres.js'
import { isPostmasterOf, startOf } from '../../../src/storage/process.js'
import { silent, temporaryDirectory } from '../../stores.js'
import { eventually, gone, hold, killHard } from './hold.js'

const asRoot = process.getuid?.() === 0
const nobody = 65_534

t.test('made at the first start, found again at the next', async t => {
  const directory = join(await temporaryDirectory(t), 'postgres')
  const first = await startEmbeddedPostgres({ directory, log: silent })
  let sql = openPostgres(first.address)
  await sql`create table kept as select 7 as value`
  const [settings] = await sql`
    select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      current_setting('server_version_num')::int / 10000 as version, current_setting('listen_addresses') as tcp,
      current_setting('TimeZone') as zone, upper('ä') as upper`
  t.same(settings, { fsync: 'on', commit: 'on', version: 18, tcp: '', zone: 'UTC', upper: 'Ä' })
  await closePostgres(sql)
  const pid = first.pid!
  await first.stop()
  t.equal(startOf(pid), null, 'stopped with us')
  t.notOk(existsSync(join(directory, 'data', 'postmaster.pid')), 'and properly')

  const second = await startEmbeddedPostgres({ directory, log: silent })
  sql = openPostgres(second.address)
  t.same(await sql`select value from kept`, [{ value: 7 }])
  await closePostgres(sql)
  await second.stop()
  await second.stop()
})

t.test('security 17: a login needs the password, and the service is no superuser', async t => {
  const directory = join(await temporaryDirectory(t), 'postgres')
  const first = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  const { address } = first
  if ('url' in address) throw new Error('it listens on a socket')
  const refused = async (other: Partial<typeof address>) => {
    const sql = openPostgres({ ...address, ...other }, { max: 1 })
    await t.rejects(
      sql`select 1`,
      JSON.stringify({ ...other, password: other.password === undefined ? 0 : 1 }),
    )
    await closePostgres(sql, 100)
  }
  await refused({ password: 'another' })
  await refused({ password: '' })
  await refused({ user: 'tollgate' })
  await refused({ user: 'tollgate', password: '' })
  const sql = openPostgres(address)
  const [role] = await sql`
    select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication from pg_roles where rolname = current_user`
  t.same(role, {
    rolsuper: false,
    rolcreaterole: false,
    rolcreatedb: false,
    rolbypassrls: false,
    rolreplication: false,
  })
  await t.rejects(sql`copy (select 1) to program 'true'`, /permission denied|must be superuser/)
  await t.rejects(sql`select pg_read_file('/etc/passwd')`, /permission denied/)
  await sql`create table kept as select 7 as value`
  await closePostgres(sql)
  const password = join(directory, 'password')
  t.equal((await stat(password)).mode & 0o777, 0o600)
  await first.stop()

  // as an earlier Tollgate made it: everybody on this machine's user is let in, and there is no password
  await writeFile(join(directory, 'data', 'pg_hba.conf'), 'local all all trust\n')
  await rm(password)
  const second = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  t.teardown(() => second.stop())
  await refused({})
  const again = openPostgres(second.address)
  t.same(await again`select value from kept`, [{ value: 7 }], 'what it held is there')
  await closePostgres(again)
})

t.test('killed, it comes back at the same address with what was committed', async t => {
  const directory = join(await temporaryDirectory(t), 'postgres')
  const server = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  t.teardown(() => server.stop())
  const sql = openPostgres(server.address)
  t.teardown(() => closePostgres(sql))
  await sql`create table kept (value int)`
  await sql`insert into kept values (1)`
  const pid = server.pid!
  await killHard(pid)
  t.same(await eventually(() => sql`select value from kept`), [{ value: 1 }])
  t.not(server.pid, pid)
})

t.test('a server that a killed Tollgate left behind is stopped, and its data served', async t => {
  const directory = join(await temporaryDirectory(t), 'postgres')
  const other = await hold(t, 'postgres', directory)
  const theirs = openPostgres(other.address as PostgresAddress)
  await theirs`create table kept as select 3 as value`
  await closePostgres(theirs)
  await killHard(other.process.pid!)
  t.not(startOf(other.pid), null, 'the orphan lives')

  const server = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  t.teardown(() => server.stop())
  t.equal(startOf(other.pid), null, 'the orphan is gone')
  const sql = openPostgres(server.address)
  t.same(await sql`select value from kept`, [{ value: 3 }])
  await closePostgres(sql)
})

t.test('a pid file with another process’s pid does no harm', async t => {
  const directory = join(await temporaryDirectory(t), 'postgres')
  const first = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  const file = join(directory, 'data', 'postmaster.pid')
  const text = readFileSync(file, 'latin1')
  await killHard(first.pid!)
  await first.stop()
  const bystander = await hold(t, 'lock', join(directory, '..'))
  writeFileSync(file, text.replace(/^\d+/, String(bystander.pid)))
  t.notOk(isPostmasterOf(bystander.pid, join(directory, 'data')))

  const second = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  t.teardown(() => second.stop())
  t.not(startOf(bystander.pid), null)
})

t.test('data of another version is refused by name', async t => {
  const directory = join(await temporaryDirectory(t), 'postgres')
  mkdirSync(join(directory, 'data'), { recursive: true })
  writeFileSync(join(directory, 'data', 'PG_VERSION'), '16\n')
  await t.rejects(startEmbeddedPostgres({ directory, log: silent, durable: false }), {
    message: /made by Postgres 16/,
  })
})

t.test('a first start that was cut short is begun again', async t => {
  const directory = join(await temporaryDirectory(t), 'postgres')
  mkdirSync(join(directory, 'data.draft'), { recursive: true })
  writeFileSync(join(directory, 'data.draft', 'half'), '')
  const server = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  await server.stop()
  t.notOk(existsSync(join(directory, 'data.draft')))
})

t.test('a path too long for a socket gets its socket elsewhere, in a private directory', async t => {
  const directory = join(await temporaryDirectory(t), 'x'.repeat(110), 'postgres')
  const server = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  t.teardown(() => server.stop())
  const { host } = server.address as { host: string }
  t.teardown(() => rmSync(host, { recursive: true, force: true }))
  t.ok(host.startsWith(tmpdir()))
  t.equal(statSync(host).mode & 0o777, 0o700)
  const sql = openPostgres(server.address)
  t.same(await sql`select 1 as one`, [{ one: 1 }])
  await closePostgres(sql)
})

t.test('only the owner and root may enter the socket directory or the data', async t => {
  const directory = join(await temporaryDirectory(t), 'postgres')
  const server = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  t.teardown(() => server.stop())
  t.equal(statSync((server.address as { host: string }).host).mode & 0o777, 0o700)
  t.equal(statSync(join(directory, 'data')).mode & 0o777, 0o700)
})

if (asRoot) {
  t.test('started by root it runs as another user', async t => {
    const directory = join(await temporaryDirectory(t), 'postgres')
    const server = await startEmbeddedPostgres({ directory, log: silent, durable: false })
    t.teardown(() => server.stop())
    t.not(statSync(`/proc/${server.pid}`).uid, 0)
  })

  t.test('data and programs below a directory closed to all but root are no obstacle', async t => {
    const directory = await temporaryDirectory(t)
    const closed = join(directory, 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o700)
    const at = join(closed, 'postgres')
    const first = await startEmbeddedPostgres({ directory: at, log: silent, durable: false })
    let sql = openPostgres(first.address)
    await sql`create table kept as select 5 as value`
    process.kill(first.pid!, 'SIGHUP')
    t.notOk((first.address as { host: string }).host.startsWith(closed), 'the socket lies in the open')
    await closePostgres(sql)
    await killHard(first.pid!)
    sql = openPostgres(first.address)
    t.same(await eventually(() => sql`select value from kept`), [{ value: 5 }])
    await closePostgres(sql)
    t.ok(isPostmasterOf(first.pid!, join(at, 'data')))
    await first.stop()
    rmSync((first.address as { host: string }).host, { recursive: true })
  })

  t.test('an ordinary user runs it too, and root takes the data over afterwards', async t => {
    const parent = await temporaryDirectory(t)
    chownSync(parent, nobody, nobody)
    const directory = join(parent, 'postgres')
    const other = await hold(t, 'postgres', directory, { uid: nobody, gid: nobody })
    t.equal(statSync(`/proc/${other.pid}`).uid, nobody)
    await killHard(other.process.pid!)
    const server = await startEmbeddedPostgres({ directory, log: silent, durable: false })
    t.equal(statSync(`/proc/${server.pid}`).uid, nobody, 'as the owner of the data')
    await server.stop()
    await gone(other.pid)
  })
}
