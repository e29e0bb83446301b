// The audit log as evidence: written with the change, kept after the environment is gone, chained, and checked.
import { join } from 'node:path'
import t from 'tap'
import { auditHead, auditVerify } from '../../src/cli/audit.js'
import { Client as CommandClient } from '../../src/cli/client.js'
import { command } from '../command.js'
import { publishDraftOf, publishedPlan } from '../control/planned.js'
import { Process, startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const { client, tollgate } = await startHere(t)
const { sql } = tollgate.services
const flag = (key: string) => ({
  key,
  name: key,
  description: '',
  flag_type: 'boolean',
  default_value: false,
})
const newest = async (query = '') => (await client.ok('GET', `/audit-log?limit=1${query}`))[0]

/** Output and exit code of a command of `tollgate audit`. */
async function audit(head?: string): Promise<{ code: number; said: string }> {
  const said: string[] = []
  const io = { print: (line: string) => void said.push(line), note: () => {}, bar: null }
  const code = await auditVerify(new CommandClient({ url: client.url, key: client.key }), head, io)
  return { code, said: said.join('\n') }
}

t.test('security 10 kill -9 right after the answer loses no row', async t => {
  const dataDir = await temporaryDirectory(t)
  const first = await Process.start(dataDir)
  t.teardown(() => first.end('SIGKILL'))
  const { environment_id: environment } = await first.client.ok('GET', '/whoami')
  const changes: readonly [string, string, object][] = [
    ['POST', '/api-keys', { name: 'k' }],
    ['POST', '/flags', flag('killed')],
    ['PUT', '/limits', { limits: null }],
    ['PUT', `/environments/${environment}`, { name: 'Renamed' }],
  ]
  for (const [method, path, body] of changes.slice(0, -1)) await first.client.ok(method, path, body)
  const [method, path, body] = changes.at(-1)!
  await first.client.ok(method, path, body)
  await first.end('SIGKILL')
  const second = await Process.start(dataDir)
  t.teardown(() => second.end('SIGKILL'))
  const rows = await second.client.ok('GET', '/audit-log')
  for (const [asked, url] of changes)
    t.ok(
      rows.some((row: { method: string; url: string }) => row.method === asked && row.url === url),
      `${asked} ${url}`,
    )
  t.ok(
    rows.every((row: { seq: number }) => row.seq > 0),
    'all of them in the chain',
  )
  const reach = { TOLLGATE_URL: second.client.url, TOLLGATE_KEY: second.client.key }
  const head = await command(dataDir, ['audit', 'head'], reach)
  t.match(head, { code: 0, said: /^\d+:[0-9a-f]{64}$/m })
  t.match(await command(dataDir, ['audit', 'verify', '--head', head.said.trim()], reach), { code: 0 })
})

t.test('security 10 a row has the caller’s address and the request’s id', async t => {
  const answer = await client.post('/flags', flag('asked'), { 'User-Agent': 'a test/1.0' })
  const row = await newest()
  t.match(row, {
    kind: 'change',
    remote_ip: '127.0.0.1',
    user_agent: 'a test/1.0',
    request_id: answer.headers.get('x-request-id'),
    resp_code: 201,
    resource_name: 'asked',
  })
  t.match(row.hash, /^[0-9a-f]{64}$/)
})

t.test('security 10 rows outlive their environment', async t => {
  const made = await client.ok('POST', '/environments', { name: 'gone', environment_type: 'staging' })
  const key = await client.ok('POST', '/api-keys', { name: 'k', environment_id: made.id })
  await client.as(key.secret).ok('POST', '/flags', flag('left'))
  await client.ok('DELETE', `/environments/${made.id}`)
  const [row] = await client.ok('GET', `/audit-log?environment_id=${made.id}`)
  t.match(row, { method: 'POST', url: '/flags', environment_id: made.id })
})

t.test('security 10 rows of companies are written soon, also without reads of the log', async t => {
  const { id } = await client.ok('POST', '/companies', { keys: { slug: 'noted' } })
  const written = async () => {
    const [row] = await sql<{ seq: string | null }[]>`
      select seq from audit_logs where url = '/companies' and resp_body like ${`%${id}%`}`
    return row !== undefined && row.seq !== null
  }
  for (const end = Date.now() + 60_000; Date.now() < end && !(await written()); )
    await new Promise(resolve => setTimeout(resolve, 20))
  t.ok(await written(), 'and its place in the chain with it')
})

t.test('security 10 no audit, no change', async t => {
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
      begin raise exception 'no space' using errcode = '53100'; end $$;
    create trigger refuse before insert on audit_logs for each row execute function refuse()`)
  const before = (await client.ok('GET', '/api-keys/count?require_environment=false')).count
  t.equal((await client.post('/flags', flag('unaudited'))).status >= 500, true)
  t.equal((await client.post('/api-keys', { name: 'unaudited' })).status >= 500, true)
  t.equal((await client.put('/limits', { limits: 'off' })).status >= 500, true)
  await sql.unsafe('drop trigger refuse on audit_logs; drop function refuse()')
  t.equal((await client.get('/flags?q=unaudited')).body.data.length, 0)
  t.equal((await client.ok('GET', '/api-keys/count?require_environment=false')).count, before)
  t.match(await client.ok('GET', '/limits'), { limits: null })
})

t.test('security 10 no audit, no change of a migration', async t => {
  const plan = await publishedPlan(client, 'Migrated')
  const { id: companyId } = await client.ok('POST', '/companies', { keys: { slug: 'migrated' } })
  await client.ok('PUT', `/company-plans/${companyId}`, { base_plan_id: plan.id })
  await client.ok('PUT', `/plans/${plan.id}`, { name: 'Migrated again' })
  const { active_version: next } = await publishDraftOf(client, plan.id)
  const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const aim = {
    plan_id: plan.id,
    plan_version_id_to: next.id,
    target_plan_type: 'plan',
    strategy: 'scheduled',
    migration_scheduled_at: later(1),
  }
  const { id } = await client.ok('POST', '/plan-version-migrations', aim)
  const path = `/plan-version-migrations/${id}`
  // its companies are listed in the background
  const isWaiting = async () => {
    const { status, started_at } = await client.ok('GET', path)
    return status === 'pending' && started_at !== null
  }
  while (!(await isWaiting())) await new Promise(resolve => setTimeout(resolve, 20))
  const open = await client.ok('GET', path)
  t.match(open, { total_companies: 1, completed_companies: 0 })
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
      begin raise exception 'no space' using errcode = '53100'; end $$;
    create trigger refuse before insert on audit_logs for each row execute function refuse()`)
  for (const [what, body] of [
    ['cancel', undefined],
    ['complete-now', {}],
    ['retry', { error_codes: [] }],
  ] as const)
    t.equal((await client.post(`${path}/${what}`, body)).status >= 500, true, what)
  t.equal((await client.post('/plan-version-migrations', aim)).status >= 500, true, 'create')
  await sql.unsafe('drop trigger refuse on audit_logs; drop function refuse()')
  t.same(await client.ok('GET', path), open, 'it is as it was')
  t.equal((await client.ok('GET', `/plan-version-migrations?plan_version_id=${next.id}`)).length, 1)
  t.match(await client.ok('POST', `${path}/cancel`), { status: 'cancelled' })
})

t.test('security 10 reads of secrets and of the log, exports, failed authentications', async t => {
  await client.ok('GET', '/webhooks')
  await fetch(`${client.url}/export/events?format=csv`, { headers: { 'X-Service-Api-Key': client.key } })
  await client.as('sk_dev_nobody').get('/flags')
  const reads = await client.ok('GET', '/audit-log?kind=read')
  t.ok(reads.every((row: { remote_ip: string }) => row.remote_ip === '127.0.0.1'))
  const urls = reads.map((row: { url: string }) => row.url)
  for (const url of ['/webhooks', '/export/events?format=csv', '/audit-log?limit=1'])
    t.ok(urls.includes(url), url)
  t.match(await newest('&kind=auth_failure'), {
    actor_type: 'system',
    resp_code: 401,
    remote_ip: '127.0.0.1',
  })
  t.equal((await newest()).kind, 'change', 'neither is among the changes')
})

t.test('security 10 the chain finds what was altered, removed or put in', async t => {
  for (let i = 0; i < 5; i++) await client.ok('POST', '/flags', flag(`chained-${i}`))
  const kept: string[] = []
  const io = { print: (line: string) => void kept.push(line), note: () => {}, bar: null }
  await auditHead(new CommandClient({ url: client.url, key: client.key }), io)
  t.match(await audit(kept[0]), { code: 0, said: /each as it was written/ })
  const [row] = await sql<{ seq: string; id: string; url: string }[]>`
    select seq, id, url from audit_logs where resource_name = 'chained-2'`
  const seq = Number(row!.seq)

  await sql`update audit_logs set url = '/other' where id = ${row!.id}`
  t.match(await audit(), { code: 3, said: `row ${seq} was altered (${row!.id})` })
  await sql`update audit_logs set url = ${row!.url} where id = ${row!.id}`
  t.match(await audit(), { code: 0 })

  await sql`create table taken as select * from audit_logs where id = ${row!.id}`
  await sql`delete from audit_logs where id = ${row!.id}`
  t.match(await audit(), { code: 3, said: new RegExp(`^row ${seq} was removed`) })
  await sql`update audit_logs set seq = seq - 1 where seq > ${seq} and seq <= ${seq + 1}`
  t.match(
    await audit(),
    { code: 3, said: new RegExp(`^row ${seq} does not follow`) },
    'also when the gap is closed',
  )
  await sql`update audit_logs set seq = seq + 1 where seq = ${seq}`
  await sql`insert into audit_logs overriding system value select * from taken`
  t.match(await audit(kept[0]), { code: 0 })

  const [last] = await sql<{ seq: string }[]>`select max(seq) as seq from audit_logs`
  await sql`delete from audit_logs where seq > ${seq}`
  t.match(await audit(kept[0]), {
    code: 3,
    said: /rows up to \d+ were there|is not the one whose hash was kept/,
  })
  t.ok(Number(last!.seq) > seq)
})

t.test('security 10 what the operator does is in the log: start, pepper, members, backup', async t => {
  const directory = await temporaryDirectory(t)
  const dataDir = join(directory, 'data')
  const first = await Process.start(dataDir)
  t.teardown(() => first.end('SIGKILL'))
  const taken = await command(dataDir, ['backup', join(directory, 'backup')])
  t.equal(taken.code, 0, taken.said)
  const seen = async (of: typeof first) =>
    (await of.client.ok('GET', '/audit-log?kind=system')).map((row: { url: string }) => row.url)
  t.same((await seen(first)).sort(), ['backup', 'first-key/made'])
  await first.end('SIGKILL')
  const pepper = 'another pepper, given by a setting'
  const key = 'sk_dev_9cQ2wErT5yUiOp8aSdFgH3jKlZxC6vBnM1qAzWsXeD4'
  const second = await Process.start(dataDir, { TOLLGATE_PEPPER: pepper, TOLLGATE_BOOTSTRAP_KEY: key })
  t.teardown(() => second.end('SIGKILL'))
  const rows = await second.client.as(key).ok('GET', '/audit-log?kind=system')
  const urls = rows.map((row: { url: string }) => row.url)
  for (const url of ['pepper/changed', 'first-key/replaced']) t.ok(urls.includes(url), url)
  await second.end('SIGKILL')
})
