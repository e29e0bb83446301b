// A kill, or an outage of Postgres, while a change of plans is stored: the company is on its plans once the journal has
// them; its subscription, its billing, its checkout fields and its billing-cycle counters follow (PB-30, PB-60, US-3).
import postgres from 'postgres'
import t from 'tap'
import { publishDraftOf, publishedPlan } from '../control/planned.js'
import { type Client, Process, startHere, storesOf } from '../harness.js'
import { startStores, temporaryDirectory } from '../stores.js'
import { road } from './road.js'

t.setTimeout(480_000)

const none = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}

/** Ask until the answer is as wanted; after a minute the last answer is the error. */
async function until<T>(what: string, read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const endsMs = Date.now() + 60_000
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (Date.now() > endsMs)
      throw new Error(`${what}: a minute later the answer is ${JSON.stringify(value)?.slice(0, 2_000)}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

async function planOf(client: Client, name: string, monthly_price: number) {
  const { id } = await client.ok('POST', '/plans', { name, plan_type: 'plan' })
  const billing = { charge_type: 'recurring', is_trialable: false, monthly_price }
  await client.ok('PUT', `/plans/${id}/billing_products`, billing)
  const shown = await publishDraftOf(client, id)
  return { id: id as string, priceId: shown.monthly_price.id as string }
}

const plansOf = async (client: Client, id: string) => {
  const company = await client.ok('GET', `/companies/${id}`)
  const owed = await client.ok('GET', `/custom-plan-billings?company_id=${id}`)
  return { company, owed }
}

/** Send a change whose rows cannot be stored, and kill the service once the company is on the plan. */
async function cutShort(
  running: Process,
  url: string,
  request: object,
  table = 'billing_subscriptions',
): Promise<void> {
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  const held = await sql.reserve()
  await held`begin`
  await held`lock table ${held(table)} in share row exclusive mode`
  running.client.send('POST', '/manage-plan', request).catch(() => {})
  await until(
    'the change waits for its rows',
    () => sql`select 1 from pg_locks where relation = ${table}::regclass and not granted`,
    rows => rows.length > 0,
  )
  await running.end('SIGKILL')
  await held`rollback`
  held.release()
  await sql.end()
}

t.test(
  'PB-30, PB-60 a change of plans that a kill cuts short has its subscription and its billing',
  async t => {
    const dataDir = await temporaryDirectory(t)
    let running = await Process.start(dataDir)
    t.teardown(() => running.end('SIGKILL'))
    const { DATABASE_URL: url } = await storesOf(dataDir)
    const { id } = await running.client.ok('POST', '/companies', { keys: { slug: 'acme' } })
    const basic = await planOf(running.client, 'basic', 9000)
    const pro = await planOf(running.client, 'pro', 12_000)
    const change = (plan: typeof basic, more: object = {}) => ({
      ...none,
      company_id: id,
      base_plan_id: plan.id,
      base_plan_price_id: plan.priceId,
      ...more,
    })
    const invoiced = {
      collection_method: 'send_invoice',
      billing_email: 'pay@example.com',
      days_until_due: 10,
    }
    await cutShort(running, url!, change(basic, invoiced))
    running = await Process.start(dataDir)
    const bought = await until(
      'the subscription and its billing',
      () => plansOf(running.client, id),
      ({ company, owed }) => company.billing_subscription != null && owed.length > 0,
    )
    t.match(bought.company, {
      plan: { id: basic.id, plan_price: 9000 },
      billing_subscription: { status: 'active', total_price: 9000 },
    })
    t.match(bought.owed, [{ status: 'active', plan_billing_source: 'manage_plan', days_until_due: 10 }])
    await running.client.ok('PUT', `/custom-plan-billings/${bought.owed[0].id}/mark-paid`, {})

    await cutShort(running, url!, change(pro))
    running = await Process.start(dataDir)
    const raised = await until(
      'the total of the upgrade',
      () => plansOf(running.client, id),
      ({ company }) => company.billing_subscription?.total_price === 12_000,
    )
    t.match(raised.company.plan, { id: pro.id, plan_price: 12_000 })
    t.equal(raised.company.billing_subscriptions.length, 1)
    t.equal(raised.owed.length, 1, 'an upgrade is not billed by invoice')

    // The next change comes before the job: it finds what the one before it bought.
    await cutShort(running, url!, change(basic))
    running = await Process.start(dataDir)
    await running.client.ok('POST', '/manage-plan', change(pro))
    const again = await plansOf(running.client, id)
    t.match(again.company, { plan: { id: pro.id }, billing_subscription: { total_price: 12_000 } })
    t.equal(again.company.billing_subscriptions.length, 1)
    const sql = postgres(url!, { max: 1 })
    t.teardown(() => sql.end())
    await until(
      'no change is left half stored',
      () => sql`select 1 from plan_writes`,
      rows => rows.length === 0,
    )
    t.match((await plansOf(running.client, id)).company.billing_subscription, { total_price: 12_000 })
  },
)

t.test('US-3 a kill before the billing cycle is recounted: it is recounted after the next start', async t => {
  const dataDir = await temporaryDirectory(t)
  let running = await Process.start(dataDir)
  t.teardown(() => running.end('SIGKILL'))
  const { DATABASE_URL: url } = await storesOf(dataDir)
  const company = { slug: 'acme' }
  const { id } = await running.client.ok('POST', '/companies', { keys: company })
  const basic = await planOf(running.client, 'basic', 9000)
  const use = (quantity: number, aheadMs: number) =>
    running.client.ok('POST', '/events', {
      event_type: 'track',
      trusted_client_clock: true,
      sent_at: new Date(Date.now() + aheadMs).toISOString(),
      body: { event: 'call', company, quantity },
    })
  const inCycle = async () => {
    const { metrics } = await running.client.ok('GET', `/companies/${id}`)
    const wanted = { period: 'current_month', month_reset: 'billing_cycle' }
    return metrics.find((one: typeof wanted) =>
      Object.entries(wanted).every(([k, v]) => one[k as 'period'] === v),
    )?.value
  }
  // The cycle starts between the two.
  await use(3, -60_000)
  await use(2, 240_000)
  const bought = { ...none, company_id: id, base_plan_id: basic.id, base_plan_price_id: basic.priceId }
  await cutShort(running, url!, bought)
  running = await Process.start(dataDir)
  t.equal(await until('uses in the billing cycle', inCycle, value => value === 2), 2)
})

t.test('PB-30 a kill leaves the checkout fields of a plan without a price', async t => {
  const dataDir = await temporaryDirectory(t)
  let running = await Process.start(dataDir)
  t.teardown(() => running.end('SIGKILL'))
  const { DATABASE_URL: url } = await storesOf(dataDir)
  const { id } = await running.client.ok('POST', '/companies', { keys: { slug: 'acme' } })
  const free = await publishedPlan(running.client, 'Free')
  const { environment_id: environmentId } = await running.client.ok('GET', '/whoami')
  const fields = { custom_checkout_fields: [{ id: 'field_1', name: 'VAT', required: false }] }
  const sql = postgres(url!, { max: 1 })
  t.teardown(() => sql.end())
  await sql`
    insert into plan_groups (id, environment_id, settings, created_at, updated_at)
    values ('plgr_1', ${environmentId}, ${JSON.stringify(fields)}::text::jsonb, now(), now())
    on conflict (environment_id) do update set settings = excluded.settings`
  const custom_field_values = [{ id: 'field_1', value: 'yes' }]
  const change = { ...none, company_id: id, base_plan_id: free.id, custom_field_values }
  await cutShort(running, url!, change, 'company_billing_details')
  running = await Process.start(dataDir)
  const details = await until(
    'the checkout fields',
    () => running.client.ok('GET', `/companies/${id}/billing-details`),
    ({ custom_fields: [field] }) => field?.value != null,
  )
  t.match(details.custom_fields, custom_field_values)
  t.match(await running.client.ok('GET', `/companies/${id}`), { plan: { id: free.id } })
  const other = [{ id: 'field_1', value: 'no' }]
  await running.client.ok('POST', '/manage-plan', { ...change, custom_field_values: other })
  const { custom_fields } = await running.client.ok('GET', `/companies/${id}/billing-details`)
  t.match(custom_fields, other, 'a change without a kill stores them too')
})

const beginning = 'insert into plan_writes'
const moments = [
  ['before the company changes', beginning],
  ['after the company has changed', 'is_stored'],
  ['while the rows are stored', 'insert into billing_subscriptions'],
] as const

t.test('PB-30, PB-60 an outage of Postgres', async t => {
  const { postgres: server } = await startStores(t, { migrated: false, own: true })
  if ('url' in server) throw new Error('the embedded Postgres listens on a socket')
  let awaited: string | null = null
  let hasCut = () => {}
  const way = await road(t, { path: `${server.host}/.s.PGSQL.${server.port}` }, bytes => {
    if (awaited === null || !bytes.includes(awaited)) return true
    awaited = null
    setImmediate(() => {
      way.cut()
      hasCut()
    })
    return false
  })
  const url = `postgres://${server.user}:${server.password}@127.0.0.1:${way.port}/${server.database}`
  const { client } = await startHere(t, { DATABASE_URL: url })
  const basic = await planOf(client, 'basic', 9000)
  for (const [number, [moment, statement]] of moments.entries())
    await t.test(moment, async t => {
      // New connections have prepared nothing: the statement is sent with its text.
      way.cut()
      way.mend()
      const { body } = await until(
        'a company can be made again',
        () => client.post('/companies', { keys: { slug: `company-${number}` } }),
        ({ status }) => status === 200,
      )
      const { id } = body.data
      const change = { ...none, company_id: id, base_plan_id: basic.id, base_plan_price_id: basic.priceId }
      const bill = { collection_method: 'send_invoice', billing_email: 'pay@example.com' }
      const isChanged = statement !== beginning
      const cut = new Promise<void>(resolve => {
        hasCut = resolve
      })
      awaited = statement
      const asked = client.post('/manage-plan', { ...change, ...bill })
      await cut
      t.equal((await asked).status, isChanged ? 202 : 503)
      way.mend()
      await until(
        'the service is whole again',
        () => client.get('/health/ready'),
        ({ body }) => body.degraded.length === 0,
      )
      if (!isChanged) {
        const { company, owed } = await plansOf(client, id)
        t.not(company.plan?.id, basic.id, 'nothing was changed')
        t.same(owed, [])
        await client.ok('POST', '/manage-plan', { ...change, ...bill })
      }
      const bought = await until(
        'the subscription and its billing',
        () => plansOf(client, id),
        ({ company, owed }) => company.billing_subscription != null && owed.length > 0,
      )
      t.match(bought.company, {
        plan: { id: basic.id, plan_price: 9000 },
        billing_subscription: { status: 'active', total_price: 9000 },
      })
      await client.ok('POST', '/manage-plan', change)
      const again = await plansOf(client, id)
      t.equal(again.company.billing_subscriptions.length, 1, 'a repeat buys nothing more')
      t.equal(again.owed.length, 1, 'and is not billed again')
    })
})
