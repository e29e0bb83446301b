// Erasure of a company and a person, and the export of everything held of them (ER).
import { once } from 'node:events'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import postgres, { type Sql } from 'postgres'
import t from 'tap'
import { openClickHouse } from '../../src/storage/clickhouse.js'
import { command } from '../command.js'
import { publishedPlan } from '../control/planned.js'
import { startHere, storesOf } from '../harness.js'

const dataDir = await mkdtemp(join(tmpdir(), 'erasure-'))
const stores = await storesOf(dataDir)
const { client } = await startHere(t, {
  TOLLGATE_DATA_DIR: dataDir,
  TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true',
})
const sql = postgres(stores.DATABASE_URL!, { max: 1, onnotice: () => {} })
t.teardown(() => sql.end())

/** Values of the person and the company that nothing else contains. */
const values = [
  'zq-mail-7781',
  'zq-name-7782',
  'zq-trait-7783',
  'zq-slug-7784',
  'zq-city-7785',
  'zq-note-7786',
  'zq-idem-7787',
]

/** Tables of Postgres and of ClickHouse with a row that contains one of the values. */
async function places(): Promise<string[]> {
  return [...(await inPostgres(sql)), ...(await inClickHouse())].sort()
}

async function inPostgres(sql: Sql): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE'`
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await sql`
      select from ${sql(name)} t
      where exists (select from unnest(${values}::text[]) v where position(v in (t.*)::text) > 0) limit 1`
    if (rows.length > 0) found.push(name)
  }
  return found
}

const clickhouse = await openClickHouse({ url: stores.CLICKHOUSE_URL! } as never)
t.teardown(() => clickhouse.close())

async function inClickHouse(): Promise<string[]> {
  const tables = await clickhouse.select<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await clickhouse.select(
      `SELECT 1 FROM (SELECT formatRow('JSONEachRow', *) AS line FROM ${name})
       WHERE multiSearchAny(line, {values:Array(String)}) LIMIT 1`,
      { values },
    )
    if (rows.length > 0) found.push(name)
  }
  return found
}

/** Files of a directory with one of the values, unpacked where they are packed. */
async function inFiles(directory: string): Promise<string[]> {
  const found: string[] = []
  for (const file of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
    const at = values.map(value => plain.indexOf(value)).find(place => place >= 0)
    if (at !== undefined) found.push(`${path}: ${plain.subarray(Math.max(0, at - 400), at + 60)}`)
  }
  return found
}

const hooks = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
await once(hooks, 'listening')
t.teardown(() => hooks.close())
await client.ok('POST', '/webhooks', {
  name: 'all',
  url: `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/`,
  request_types: [
    'company.created',
    'company.updated',
    'company.deleted',
    'user.created',
    'user.updated',
    'user.deleted',
  ],
})
const feature = await client.ok('POST', '/features', {
  name: 'Calls',
  description: '',
  feature_type: 'event',
  event_subtype: 'call',
  flag: { key: 'calls', name: 'Calls', description: '', flag_type: 'boolean', default_value: false },
})
const company = await client.ok('POST', '/companies', {
  keys: { slug: 'zq-slug-7784' },
  name: 'zq-name-7782 Ltd',
  traits: { city: 'zq-city-7785' },
})
const user = await client.ok('POST', '/users', {
  keys: { email: 'zq-mail-7781' },
  name: 'zq-name-7782',
  company: { slug: 'zq-slug-7784' },
  traits: { title: 'zq-trait-7783' },
})
const other = await client.ok('POST', '/companies', { keys: { slug: 'other' }, name: 'Other' })
// moves that were made by texts of the company, of the person, and of neither
const plan = await publishedPlan(client, 'Small', [])
const moved = async (filter: object): Promise<string> => {
  const body = { plan_id: plan.id, filter }
  await client.ok('POST', '/plan-moves/preview', body)
  const { id } = await client.ok('POST', '/plan-moves', body)
  await client.ok('POST', `/plan-moves/${id}/retry`, {})
  return id
}
const byName = await moved({ q: 'ZQ-name-7782' })
const byTrait = await moved({ traits: [{ name: 'city', value: 'zq-city-7785' }] })
const byPerson = await moved({ q: 'zq-mail-7781', company_ids: [other.id] })
const unlisted = await moved({ q: 'zq-slug-7784', traits: [{ name: 'city', value: 'none' }] })
const byOther = await moved({ q: 'other', traits: [{ name: 'city', value: 'none' }] })
await sql`
  update plan_version_migrations set listed_at = null, status = 'pending', paused_at = now() where id = ${unlisted}`
await client.ok('POST', '/company-overrides', {
  company_id: company.id,
  feature_id: feature.id,
  value_type: 'numeric',
  value_numeric: 100,
  note: 'zq-note-7786',
})
const credit = await client.ok('POST', '/billing/credits', {
  name: 'Units',
  description: '',
  currency: 'usd',
})
await client.ok('POST', '/billing/credits/grants/company', {
  company_id: company.id,
  credit_id: credit.id,
  reason: 'free',
  quantity: 10,
  idempotency_key: 'grant zq-idem-7787',
})
for (let i = 0; i < 3; i++)
  await client.ok('POST', '/events', {
    event_type: 'track',
    idempotency_key: `zq-idem-7787-${i}`,
    body: {
      event: 'call',
      company: { slug: 'zq-slug-7784' },
      user: { email: 'zq-mail-7781' },
      traits: { note: 'zq-trait-7783' },
    },
  })
await client.ok('POST', '/flags/calls/check', {
  company: { slug: 'zq-slug-7784' },
  user: { email: 'zq-mail-7781' },
})
// a failed event names the person without being theirs
await client.post('/events', {
  event_type: 'identify',
  body: {
    keys: { email: 'zq-mail-7781' },
    company: { keys: { slug: 'other' } },
    traits: { title: 'zq-trait-7783' },
  },
})

const counted = async () => {
  const usage = await clickhouse.select<{ quantity: number; events: number }>(
    `SELECT sum(quantity) AS quantity, sum(events) AS events FROM usage_by_hour WHERE company_id = {id:String}`,
    { id: company.id },
  )
  const byUser = await clickhouse.select(
    'SELECT sum(quantity) AS quantity FROM usage_by_user_hour WHERE user_id = {id:String}',
    {
      id: user.id,
    },
  )
  const ledger = await clickhouse.select(
    `SELECT * FROM credit_ledger WHERE company_id = {id:String} AND event_type != 'zero_out' ORDER BY sequence`,
    { id: company.id },
  )
  return { usage, byUser, grants: ledger }
}

t.test('ER-7 the export of a person and a company is everything held', async t => {
  const read = async (path: string) => {
    const response = await fetch(client.url + path, { headers: { 'X-Service-Api-Key': client.key } })
    t.equal(response.status, 200)
    const rows = (await response.text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { table: string })
    return { text: JSON.stringify(rows), tables: new Set(rows.map(row => row.table)) }
  }
  const company_ = await read(`/companies/${company.id}/export`)
  for (const table of [
    'companies',
    'entity_keys',
    'entity_traits',
    'memberships',
    'company_overrides',
    'events',
    'audit_logs',
  ])
    t.ok(company_.tables.has(table), `${table} of the company`)
  for (const value of ['zq-slug-7784', 'zq-city-7785', 'zq-note-7786']) t.match(company_.text, value)
  const user_ = await read(`/users/${user.id}/export`)
  for (const table of [
    'users',
    'entity_keys',
    'entity_traits',
    'memberships',
    'events',
    'usage_by_user_hour',
  ])
    t.ok(user_.tables.has(table), `${table} of the user`)
  for (const value of ['zq-mail-7781', 'zq-trait-7783']) t.match(user_.text, value)
  t.equal((await client.get('/users/user_00000000000/export')).status, 404)
})

t.test('ER-1 after an erasure no store has a byte of the values; ER-2 counts and ledger stay', async t => {
  const before = await counted()
  t.ok((await places()).length > 5, 'the values are in the stores before')
  const erased = await client.ok('POST', `/users/${user.id}/erase`, {})
  t.match(erased, { kind: 'user', entity_id: user.id, removed: { users: 1 } })
  t.ok(erased.erased_at)
  t.equal((await client.get(`/users/${user.id}`)).status, 404)
  const record = await client.ok('POST', `/companies/${company.id}/erase`, { backups_kept_days: 7 })
  t.ok(record.removed.events >= 3, 'ER-6 the record says what was removed')
  t.equal(Date.parse(record.gone_from_backups_at) - Date.parse(record.requested_at), 7 * 86_400_000)
  t.same(await places(), [], 'ER-1')
  const snapshots = await sql<{ state: string }[]>`select state from snapshots`
  for (const { state } of snapshots)
    for (const value of values) t.notOk(Buffer.from(state, 'base64').includes(value), 'ER-1 snapshots')
  t.same(await counted(), before, 'ER-2 what was counted stays under the id')
  t.equal((await client.get(`/companies/${company.id}`)).status, 404)
  t.equal((await client.ok('GET', `/companies/${other.id}`)).name, 'Other', 'others are as they were')
  t.equal(record.removed.move_filters, 3, 'ER-8 filters of moves')
  t.match(await client.ok('GET', `/plan-moves/${byName}`), { filter: { q: 'Erased' }, status: 'completed' })
  t.match(await client.ok('GET', `/plan-moves/${byTrait}`), {
    filter: { traits: [{ name: 'city', value: 'Erased' }] },
  })
  t.match(await client.ok('GET', `/plan-moves/${byPerson}`), {
    filter: { q: 'Erased', company_ids: [other.id] },
  })
  t.match(await client.ok('GET', `/plan-moves/${unlisted}`), { status: 'cancelled' }, 'not listed yet')
  t.match(await client.ok('GET', `/plan-moves/${byOther}`), {
    filter: { q: 'other', traits: [{ name: 'city', value: 'none' }] },
  })
  const events = await client.ok('GET', `/events?company_id=${company.id}`)
  t.ok(events.length >= 3, 'ER-3 events stay, without their bodies')
})

t.test('ER-4 an erasure may be asked for again', async t => {
  const again = await client.ok('POST', `/companies/${company.id}/erase`, {})
  const all = await client.ok('GET', '/erasures')
  t.equal(all.length, 2)
  t.equal(again.id, all[0].id)
  t.equal((await client.post('/companies/comp_00000000000/erase', {})).status, 404)
})

t.test('ER-6 a backup that is taken afterwards holds none of the values', async t => {
  const directory = join(dataDir, 'backup')
  // segments of the journal go when last-seen times are stored, too
  while ((await inFiles(join(dataDir, 'journal'))).length > 0) await setTimeout(200)
  const taken = await command(dataDir, ['backup', directory], stores)
  t.equal(taken.code, 0, taken.said)
  t.same(await inFiles(directory), [])
})

t.test('ER-5 the chain of the audit log holds, and a row that was blanked otherwise is found', async t => {
  const verify = () =>
    command(dataDir, ['audit', 'verify'], { TOLLGATE_URL: client.url, TOLLGATE_KEY: client.key })
  const held = await verify()
  t.equal(held.code, 0, held.said)
  await sql`
    update audit_logs set erased = true, req_body = null
    where seq = (select min(seq) from audit_logs where not erased and seq is not null)`
  const broken = await verify()
  t.equal(broken.code, 3)
  t.match(broken.said, 'was blanked, and no erasure says so')
})
