// A kill while a change of plans is stored: the company is on its plans once the journal has them, and its subscription,
// its billing and its checkout fields follow after the next start (PB-30, PB-60).
import postgres from 'postgres'
import t from 'tap'
import { publishDraftOf } from '../api/planned.js'
import { type Client, Process, storesOf } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

t.setTimeout(240_000)

const none = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}

/** Ask until the answer is as wanted; the test's timeout ends it. */
async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read()
    if (holds(value)) return value
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
async function cutShort(running: Process, url: string, request: object): Promise<void> {
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  const held = await sql.reserve()
  await held`begin`
  await held`lock table billing_subscriptions in share row exclusive mode`
  running.client.send('POST', '/manage-plan', request).catch(() => {})
  await until(
    () => sql`select 1 from pg_locks where relation = 'billing_subscriptions'::regclass and not granted`,
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
      () => sql`select 1 from plan_writes`,
      rows => rows.length === 0,
    )
    t.match((await plansOf(running.client, id)).company.billing_subscription, { total_price: 12_000 })
  },
)
