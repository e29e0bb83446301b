// Cost of a webhook for others, and guarantees for its receiver (security 12, 23, 24).
import { Webhook as Verifier } from 'standardwebhooks'
import t from 'tap'
import { fairly } from '../../src/control/webhooks/deliveries.js'
import { isPrivateAddress, ownAddresses, urlProblem } from '../../src/control/webhooks/safe-http.js'
import { insertEvents, payloadBytesMax, queuedRow } from '../../src/control/webhooks/subscriptions.js'
import { type Client, startHere } from '../harness.js'
import { isSigned, type Received, receiver } from './receiver.js'

const settings = {
  TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true',
  TOLLGATE_WEBHOOK_RETRY_MS: '5',
  TOLLGATE_WEBHOOK_PENDING_BYTES: '1048576',
}
const { client, tollgate } = await startHere(t, settings)
const { sql } = tollgate.services

const hook = (url: string, types: readonly string[], by: Client = client) =>
  by.ok('POST', '/webhooks', { name: 'hook', url, request_types: types })

const flagBody = (key: string) => ({
  key,
  name: key,
  description: '',
  flag_type: 'boolean',
  default_value: false,
})

async function eventually(holds: () => Promise<boolean> | boolean, ms = 60_000): Promise<boolean> {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await holds()) return true
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return false
}

async function settled(): Promise<void> {
  await tollgate.services.projections.barrier('postgres')
  await tollgate.services.outbox.drain()
}

/** A client of an environment of its own. */
async function elsewhere(name: string, type = 'development'): Promise<Client> {
  const environment = await client.ok('POST', '/environments', { name, environment_type: type })
  const key = await client.ok('POST', '/api-keys', { name, environment_id: environment.id })
  return client.as(key.secret)
}

const standardHeaders = ({ headers }: Received): Record<string, string> => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
})

/** Whether a receiver that knows one secret takes a delivery as Standard Webhooks says. */
function verifies(one: Received, secret: string): boolean {
  try {
    new Verifier(secret).verify(one.text, standardHeaders(one))
    return true
  } catch {
    return false
  }
}

t.test(
  'security 12: deliveries carry a signed id, as Standard Webhooks says, the same at every attempt',
  async t => {
    const here = await receiver(t)
    const webhook = await hook(here.url, ['flag.created'])
    here.answers.push(500)
    await client.ok('POST', '/flags', flagBody('signed'))
    await here.until(2)
    const [first, second] = here.received as [Received, Received]
    t.ok(verifies(first, webhook.secret))
    t.ok(verifies(second, webhook.secret))
    t.ok(isSigned(first, webhook.secret), 'and as the interface says')
    t.notOk(verifies({ ...first, text: `${first.text} ` }, webhook.secret), 'not another body')
    const forged = { ...first, headers: { ...first.headers, 'webhook-id': 'whev_other' } }
    t.notOk(verifies(forged, webhook.secret), 'not another id')
    t.equal(second.headers['webhook-id'], first.headers['webhook-id'])
    const [row] = await client.ok('GET', `/webhook-events?webhook_id=${webhook.id}`)
    t.equal(first.headers['webhook-id'], row.id)
    await client.ok('DELETE', `/webhooks/${webhook.id}`)
  },
)

t.test(
  'security 12: while a secret is changed both sign, and only the answer that makes it shows it',
  async t => {
    const here = await receiver(t)
    const made = await hook(here.url, ['flag.created'])
    const rolled = await client.ok('POST', `/webhooks/${made.id}/roll-secret`, { overlap_seconds: 3_600 })
    t.match(rolled.secret, /^whsec_[0-9A-Za-z]{32}$/)
    t.not(rolled.secret, made.secret)
    const shown = await client.ok('GET', `/webhooks/${made.id}`)
    t.equal(shown.secret, `whsec_${'*'.repeat(28)}${rolled.secret.slice(-4)}`)
    await client.ok('POST', '/flags', flagBody('rolled'))
    const [both] = (await here.until(1)) as [Received]
    t.ok(verifies(both, made.secret), 'a receiver that knows the former secret')
    t.ok(verifies(both, rolled.secret), 'a receiver that knows the new one')
    t.ok(isSigned(both, made.secret), 'the plain header is the former secret during the overlap')
    const next = {
      ...both.headers,
      'x-service-webhook-signature': both.headers['x-service-webhook-signature-next'],
    }
    t.ok(isSigned({ ...both, headers: next }, rolled.secret), 'and beside it the new one')
    const last = await client.ok('POST', `/webhooks/${made.id}/roll-secret`, { overlap_seconds: 0 })
    await client.ok('POST', '/flags', flagBody('rolled-2'))
    const alone = (await here.until(2))[1]!
    t.ok(verifies(alone, last.secret))
    t.notOk(verifies(alone, rolled.secret), 'without an overlap the former secret is over')
    t.ok(isSigned(alone, last.secret))
    t.equal((await client.post(`/webhooks/${made.id}/roll-secret`, { overlap_seconds: 604_801 })).status, 400)
    t.equal((await client.post('/webhooks/whk_22222222222/roll-secret', {})).status, 404)
    await client.ok('DELETE', `/webhooks/${made.id}`)
  },
)

t.test('security 12: a delivery is sent again on request, with its id', async t => {
  const here = await receiver(t)
  const webhook = await hook(here.url, ['flag.created'])
  await client.ok('POST', '/flags', flagBody('again'))
  await here.until(1)
  const [row] = await client.ok('GET', `/webhook-events?webhook_id=${webhook.id}`)
  await eventually(async () => (await client.ok('GET', `/webhook-events/${row.id}`)).status === 'success')
  await client.ok('POST', `/webhook-events/${row.id}/redeliver`)
  await here.until(2)
  t.equal(here.received[1]!.headers['webhook-id'], row.id)
  t.equal(here.received[1]!.text, here.received[0]!.text)
  t.equal((await client.post('/webhook-events/whev_22222222222/redeliver')).status, 404)
  await client.ok('PUT', `/webhooks/${webhook.id}`, { status: 'inactive' })
  t.equal((await client.post(`/webhook-events/${row.id}/redeliver`)).status, 400)
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('security 12: a large company is published by its id alone', async t => {
  const here = await receiver(t)
  const webhook = await hook(here.url, ['company.created', 'company.deleted'])
  const traits = { note: 'x'.repeat(payloadBytesMax) }
  const company = await client.ok('POST', '/companies', { keys: { slug: 'large' }, traits })
  await client.ok('DELETE', `/companies/${company.id}`)
  await here.until(2)
  for (const one of here.received) {
    t.ok(Buffer.byteLength(one.text) < payloadBytesMax, one.json.action)
    t.same(one.json.body, { id: company.id, truncated: true })
    t.equal(one.json.company_id, company.id)
  }
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test(
  'security 12: payloads that wait are bounded by bytes, for each environment, and none is lost',
  async t => {
    const here = await receiver(t)
    const other = await elsewhere('Unharmed')
    const beside = await hook(here.url, ['company.created'], other)
    const webhook = await hook('http://127.0.0.1:1/', ['company.created'])
    // nothing of the first is sent while the bound is looked at
    await sql`update webhooks set url = 'http://127.0.0.1:1/' where id = ${webhook.id}`
    const note = 'x'.repeat(payloadBytesMax - 10_000)
    const count = 40
    const pending = async () => {
      const [row] = await sql<{ bytes: number; rows: number }[]>`
      select coalesce(sum(octet_length(payload)), 0)::float8 as bytes, count(*)::int as rows from webhook_events
      where webhook_id = ${webhook.id} and status = 'pending'`
      return row!
    }
    await sql`update webhook_events set status = 'failure' where status = 'pending'`
    const slow = tollgate.services.deliveries.wake
    tollgate.services.deliveries.wake = () => {}
    for (let n = 0; n < count; n++)
      await client.ok('POST', '/companies', { keys: { slug: `heavy${n}` }, traits: { note } })
    await settled()
    const { bytes, rows } = await pending()
    t.ok(bytes > 0 && bytes < 1_048_576 + 17 * payloadBytesMax, `${bytes} bytes of ${rows} payloads wait`)
    const [waiting] = await sql<{ count: number }[]>`select count(*)::int as count from webhook_outbox`
    t.equal(waiting!.count + rows, count, 'the others wait in the outbox')
    await other.ok('POST', '/companies', { keys: { slug: 'light' } })
    tollgate.services.deliveries.wake = slow
    await sql`update webhooks set url = ${here.url} where id = ${webhook.id}`
    await settled()
    slow.call(tollgate.services.deliveries)
    t.ok(await eventually(() => here.received.length === count + 1), 'all are delivered in the end')
    const ids = here.of('company.created').map(({ json }) => json.body.id)
    t.equal(new Set(ids).size, count + 1, 'each once')
    for (const [by, id] of [
      [client, webhook.id],
      [other, beside.id],
    ] as const)
      await by.ok('DELETE', `/webhooks/${id}`)
  },
)

t.test('security 12: endpoints that never answer keep no other environment waiting', async t => {
  const silent = await receiver(t)
  const here = await receiver(t)
  const other = await elsewhere('Prompt')
  const slow: string[] = []
  for (let n = 0; n < 16; n++) slow.push((await hook(silent.url, ['flag.created'])).id)
  silent.answers.push(...Array.from({ length: 200 }, () => 'never' as const))
  for (let n = 0; n < 4; n++) await client.ok('POST', '/flags', flagBody(`tarpit${n}`))
  await silent.until(8)
  const webhook = await hook(here.url, ['company.created'], other)
  await other.ok('POST', '/companies', { keys: { slug: 'prompt' } })
  await here.until(1)
  const [ended] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhook_events where webhook_id = any(${slow}::text[]) and attempt_count > 0`
  t.equal(ended!.count, 0, 'it was told before any call of the other had ended')
  t.equal(silent.received.length, 8, 'as many calls as one environment may have')
  for (const id of slow) await client.ok('DELETE', `/webhooks/${id}`)
  await other.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('security 12: tests of webhooks pass the same gate', async t => {
  const silent = await receiver(t)
  const webhook = await hook(silent.url, [])
  silent.answers.push(...Array.from({ length: 20 }, () => 'never' as const))
  const tests = Array.from({ length: 12 }, () =>
    client.post(`/webhooks/${webhook.id}/test`, { request_type: 'test.send' }),
  )
  const answers = await Promise.all(tests)
  const refused = answers.filter(({ status }) => status === 503)
  t.ok(refused.length >= 4, `${refused.length} are refused`)
  t.ok(refused.every(({ headers }) => headers.has('retry-after')))
  t.ok(silent.received.length <= 4 * 2, `${silent.received.length} calls went out`)
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('security 12: a webhook that is deleted while rows are written costs its own row alone', async t => {
  const { id: keptId } = await hook('http://127.0.0.1:1/', [])
  const { id: goneId } = await hook('http://127.0.0.1:1/', [])
  const rows = await sql<{ id: string; account_id: string; environment_id: string }[]>`
    select id, account_id, environment_id from webhooks where id in (${keptId}, ${goneId}) order by id = ${goneId}`
  const queued = rows.map(row => queuedRow(row, { type: 'flag.created' }, '{}'))
  let inserting: Promise<void> = Promise.resolve()
  await sql.begin(async tx => {
    await tx`delete from webhooks where id = ${goneId}`
    inserting = insertEvents(sql, queued)
    // it waits for this transaction; the old statement had read the webhook by now and failed when it was gone
    await eventually(async () => {
      const [blocked] = await sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into webhook_events%'`
      return blocked !== undefined
    })
  })
  await t.resolves(inserting)
  const stored = await sql<{ webhook_id: string }[]>`
    select webhook_id from webhook_events where id = any(${queued.map(row => row.id)}::text[])`
  t.same(
    stored.map(row => row.webhook_id),
    [keptId],
  )
  await client.ok('DELETE', `/webhooks/${keptId}`)
})

t.test('security 12: a production environment delivers by https alone', async t => {
  const production = await elsewhere('Live', 'production')
  const body = { name: 'x', url: 'http://hooks.example.com/', request_types: [] }
  t.match(await production.post('/webhooks', body), { status: 400, body: { error: /https/ } })
  const made = await production.ok('POST', '/webhooks', { ...body, url: 'https://hooks.example.com/' })
  t.equal((await production.put(`/webhooks/${made.id}`, { url: body.url })).status, 400)
  t.equal((await client.post('/webhooks', body)).status, 201, 'others may be told in plain')
  const { client: allowed } = await startHere(t, { TOLLGATE_WEBHOOK_PLAIN_HTTP: 'true' })
  const environment = await allowed.ok('POST', '/environments', { name: 'L', environment_type: 'production' })
  const key = await allowed.ok('POST', '/api-keys', { name: 'L', environment_id: environment.id })
  t.equal((await allowed.as(key.secret).post('/webhooks', body)).status, 201, 'where a setting allows it')
})

t.test('security 24: a failure reveals no names, addresses and ports', async t => {
  const webhook = await hook('http://127.0.0.1:1/', [])
  const { client: strict, tollgate: other } = await startHere(t)
  const closed = await strict.ok('POST', '/webhooks', {
    name: 'x',
    url: 'https://x.example.com/',
    request_types: [],
  })
  const reasonOf = async (by: Client, id: string, one: typeof tollgate, url: string) => {
    await one.services.sql`update webhooks set url = ${url} where id = ${id}`
    return (await by.ok('POST', `/webhooks/${id}/test`, { request_type: 'test.send' })).failure_reason
  }
  const reasons = [
    await reasonOf(client, webhook.id, tollgate, 'http://127.0.0.1:1/'),
    await reasonOf(client, webhook.id, tollgate, 'http://no-such-name.invalid/'),
    await reasonOf(strict, closed.id, other, 'http://127.0.0.1:1/'),
  ]
  t.same([...new Set(reasons)], ['The endpoint could not be reached'])
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('security 23: services of clouds, relays and this machine itself are not called', async t => {
  for (const address of ['168.63.129.16', '192.88.99.1', '192.88.99.255', '::ffff:168.63.129.16'])
    t.equal(isPrivateAddress(address), true, address)
  t.equal(isPrivateAddress('168.63.129.17'), false)
  t.equal(urlProblem('http://168.63.129.16/', false), 'names a private address')
  const own = ownAddresses({
    eth0: [
      {
        address: '8.8.4.4',
        netmask: '255.255.255.0',
        family: 'IPv4',
        mac: '',
        internal: false,
        cidr: null,
      },
    ],
  })
  t.ok(own.has('8.8.4.4'), 'an address of this machine, though it is public')
})

t.test('security 12: environments share the calls that may leave', async t => {
  const rows = [
    ...Array.from({ length: 20 }, (_, n) => ({ environment_id: 'a', webhook_id: `a${n % 3}` })),
    { environment_id: 'b', webhook_id: 'b' },
    { environment_id: 'c', webhook_id: 'c' },
  ]
  const taken = fairly(rows, 4, new Map([['a', 2]]), new Map())
  t.same(
    taken.map(row => row.environment_id),
    ['b', 'c', 'b', 'c'].slice(0, 2).concat('a', 'a'),
    'those with the fewest calls first',
  )
  t.equal(fairly(rows, 100, new Map(), new Map()).filter(row => row.environment_id === 'a').length, 8)
  t.equal(
    fairly(rows.slice(0, 20), 100, new Map(), new Map([['a0', 4]])).some(row => row.webhook_id === 'a0'),
    false,
  )
})

t.test('security 12: a plan is deleted and its event stored in one transaction', async t => {
  const here = await receiver(t)
  const webhook = await hook(here.url, ['plan.deleted', 'plan.updated'])
  const make = (name: string) => client.ok('POST', '/plans', { name, description: '', plan_type: 'plan' })
  const trigger = (on: string, when: string, body: string) =>
    sql.unsafe(`
      create function meddle() returns trigger language plpgsql as $$ begin ${body}; return new; end $$;
      create trigger meddle ${when} on ${on} for each row execute function meddle()`)
  const untrigger = (on: string) => sql.unsafe(`drop trigger meddle on ${on}; drop function meddle()`)

  const kept = await make('Kept')
  await trigger(
    'webhook_outbox',
    'before insert',
    "if new.type = 'plan.deleted' then raise exception 'no space' using errcode = '53100'; end if",
  )
  t.ok((await client.del(`/plans/${kept.id}`)).status >= 500)
  await untrigger('webhook_outbox')
  t.equal((await client.get(`/plans/${kept.id}`)).status, 200, 'not told of, not deleted')

  const taken = await make('Taken')
  await trigger(
    'plans',
    'after update',
    `if new.deleted_at is not null then
      insert into company_plans (company_id, plan_id, kind, environment_id, version_id, added_at)
      values ('comp_late', new.id, 'base', 'env', 'version', now()); end if`,
  )
  t.equal((await client.del(`/plans/${taken.id}`)).status, 400, 'somebody came onto it meanwhile')
  await untrigger('plans')
  await sql`delete from company_plans where company_id = 'comp_late'`
  t.equal((await client.get(`/plans/${taken.id}`)).status, 200)
  await settled()
  await here.until(2)
  t.same(
    here.received.map(({ json }) => [json.action, (json.body as { id: string }).id]).sort(),
    [
      ['plan.deleted', taken.id],
      ['plan.updated', taken.id],
    ],
    'who was told that it is gone is told that it is not',
  )

  await client.ok('DELETE', `/plans/${kept.id}`)
  await here.until(3)
  t.match(here.of('plan.deleted')[1]!.json, { body: { id: kept.id, name: 'Kept' } })
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})
