// Kills under writes that pay: a key stands for one effect through kill and restart, and invoices that are paid, billed
// again, or trials that are moved are whole afterwards (decision 37, PB-60, EN-91).
import postgres from 'postgres'
import t from 'tap'
import { publishDraftOf, publishedPlan } from '../control/planned.js'
import { type Client, Process, storesOf } from '../harness.js'
import { linkedPlan, subscriptionBody } from '../interface/billing-world.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'

t.setTimeout(480_000)

const under = (key: string) => ({ 'Idempotency-Key': key })

/** Ask until the answer is as wanted; after a minute the last answer is the error. */
async function until<T>(what: string, read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const endsMs = Date.now() + 60_000
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (Date.now() > endsMs) throw new Error(`${what}: ${JSON.stringify(value)?.slice(0, 2_000)}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

t.test('decision 37 a grant under a key is made once, whenever the process is killed', async t => {
  const random = new Random()
  const dataDir = await temporaryDirectory(t)
  let running = await Process.start(dataDir)
  t.teardown(() => running.end('SIGKILL'))
  const { id } = await running.client.ok('POST', '/companies', { keys: { slug: 'acme' } })
  const kind = { name: 'Token', description: '', currency: 'usd' }
  const { id: creditId } = await running.client.ok('POST', '/billing/credits', kind)
  const body = { company_id: id, credit_id: creditId, quantity: 10, reason: 'free' }
  const path = '/billing/credits/grants/company'
  for (let round = 1; round <= 6; round++) {
    const headers = under(`round-${round}`)
    running.client.post(path, body, headers).catch(() => {})
    await new Promise(resolve => setTimeout(resolve, random.below(40)))
    await running.end('SIGKILL')
    running = await Process.start(dataDir)
    const again = () => running.client.post(path, body, headers)
    await until('the grant is made', again, ({ status }) => status < 300)
    const replayed = await again()
    t.ok(replayed.status < 300)
    t.equal(replayed.headers.get('idempotency-replayed'), 'true')
    t.equal((await running.client.post(path, { ...body, quantity: 11 }, headers)).status, 409)
    const { billing_credit_balances: balances } = await running.client.ok('GET', `/companies/${id}`)
    t.equal(balances[creditId], 10 * round, `round ${round}: once`)
  }
})

/** Send a change whose rows cannot be stored, and kill the service once the company has changed. */
async function cutShort(
  running: Process,
  url: string,
  send: (client: Client) => Promise<unknown>,
): Promise<void> {
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  const held = await sql.reserve()
  await held`begin`
  await held`lock table billing_subscriptions in share row exclusive mode`
  send(running.client).catch(() => {})
  await until(
    'the change waits for its rows',
    () => sql`select 1 from pg_locks where relation = 'billing_subscriptions'::regclass and not granted`,
    rows => rows.length > 0,
  )
  await running.end('SIGKILL')
  await held`rollback`
  held.release()
  await sql.end()
}

t.test(
  'PB-60, decision 37 what a kill cuts off of a payment follows, and a repetition does nothing more',
  async t => {
    const dataDir = await temporaryDirectory(t)
    let running = await Process.start(dataDir)
    t.teardown(() => running.end('SIGKILL'))
    const { DATABASE_URL: url } = await storesOf(dataDir)
    const free = await publishedPlan(running.client, 'Free')
    const { id: planId } = await running.client.ok('POST', '/plans', { name: 'Pro', plan_type: 'plan' })
    const billing = { charge_type: 'recurring', is_trialable: false, monthly_price: 9000 }
    await running.client.ok('PUT', `/plans/${planId}/billing_products`, billing)
    const plan = await publishDraftOf(running.client, planId)
    const invoiced = async (slug: string, activate_on_payment: boolean) => {
      const { id } = await running.client.ok('POST', '/companies', { keys: { slug }, base_plan_id: free.id })
      await running.client.ok('POST', '/manage-plan', {
        company_id: id,
        base_plan_id: planId,
        base_plan_price_id: plan.monthly_price.id,
        add_on_selections: [],
        pay_in_advance_entitlements: [],
        credit_bundles: [],
        custom_field_values: [],
        collection_method: 'send_invoice',
        billing_email: 'pay@example.com',
        days_until_due: 10,
        activate_on_payment,
      })
      const [owed] = await running.client.ok('GET', `/custom-plan-billings?company_id=${id}`)
      return { id: id as string, billingId: owed.id as string }
    }
    const stands = async (id: string) => {
      const company = await running.client.ok('GET', `/companies/${id}`)
      const owed = await running.client.ok('GET', `/custom-plan-billings?company_id=${id}`)
      const { billing_subscription: subscription } = company
      return {
        plan: company.plan.id,
        total: subscription?.total_price ?? null,
        cancelAt: subscription?.cancel_at ?? null,
        billings: owed.map((one: { status: string }) => one.status),
      }
    }
    const whole = { plan: planId, total: 9000, cancelAt: null, billings: ['paid'] }
    for (const waits of [true, false])
      await t.test(waits ? 'one that waited for it' : 'one in force', async t => {
        const { id, billingId } = await invoiced(`paid-${waits}`, waits)
        const path = `/custom-plan-billings/${billingId}/mark-paid`
        const key = under(`paid-${waits}`)
        t.match(await stands(id), {
          plan: waits ? free.id : planId,
          billings: [waits ? 'pending' : 'active'],
        })
        await cutShort(running, url!, client => client.put(path, {}, key))
        running = await Process.start(dataDir)
        t.same(
          await until(
            'it is paid',
            () => stands(id),
            // its subscription's rows follow the payment
            ({ billings, total }) => billings[0] === 'paid' && total !== null,
          ),
          whole,
        )
        const again = await until(
          'a repetition',
          () => running.client.put(path, {}, key),
          ({ status }) => status !== 503,
        )
        t.ok(again.status < 300)
        t.equal(again.headers.get('idempotency-replayed'), 'true')
        t.same(await stands(id), whole)
      })

    await t.test('one that expired and is billed again', async t => {
      const { id, billingId } = await invoiced('again', true)
      const sql = postgres(url!, { max: 1 })
      await sql`
      update custom_plan_billings set published_at = published_at - interval '11 days' where id = ${billingId}`
      await sql.end()
      t.match(await stands(id), { billings: ['expired'] })
      const body = { customer_email: 'pay@example.com', activation_strategy: 'on_publish', days_until_due: 5 }
      const path = `/custom-plan-billings/${billingId}/retry`
      await cutShort(running, url!, client => client.put(path, body, under('retry')))
      running = await Process.start(dataDir)
      const found = await until(
        'it is active',
        () => stands(id),
        // its subscription's rows follow
        ({ billings, total }) => billings[0] === 'active' && total !== null,
      )
      t.match(found, { plan: planId, total: 9000, cancelAt: Number })
      const [owed] = await running.client.ok('GET', `/custom-plan-billings?company_id=${id}`)
      t.match(owed, { days_until_due: 5, activation_strategy: 'on_publish' })
    })

    await t.test('EN-91 a trial whose end is moved', async t => {
      const linked = await linkedPlan(running.client, 'Told')
      const { id } = await running.client.ok('POST', '/companies', { keys: { slug: 'tried' } })
      const now = Math.floor(Date.now() / 1000)
      const told = await running.client.ok('POST', '/billing/subscription/upsert', {
        ...subscriptionBody('sub_tried', 'cus_tried', [linked], {
          company_id: id,
          status: 'trialing',
          period_start: now - 86_400,
          period_end: now + 30 * 86_400,
          trial_end: now + 5 * 86_400,
        }),
      })
      const trialEnd = new Date((now + 9 * 86_400) * 1000).toISOString()
      const path = `/subscription/${told.id}/edit-trial-end`
      await cutShort(running, url!, client => client.put(path, { trial_end: trialEnd }, under('trial')))
      running = await Process.start(dataDir)
      const stored = async () => {
        const [one] = await running.client.ok('GET', `/company-subscriptions?company_id=${id}`)
        return one?.trial_end
      }
      const end = await until(
        'the record follows the company',
        stored,
        one => Date.parse(one) === Date.parse(trialEnd),
      )
      t.equal(Date.parse(end), Date.parse(trialEnd))
    })
  },
)
