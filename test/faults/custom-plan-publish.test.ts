// A kill between the publish of a custom plan and its billing: the next start puts the company on the plan and bills it
// from the publish on, once (PB-13, PB-60).
import postgres from 'postgres'
import t from 'tap'
import { type Client, Process, storesOf } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

t.setTimeout(400_000)

const billing = (monthly_price: number) => ({
  billing_strategy: 'service_managed',
  charge_type: 'recurring',
  is_trialable: false,
  monthly_price,
})
const publish = { migration_strategy: 'immediate', excluded_company_ids: [] }
const invoiced = { ...publish, customer_email: 'pay@example.com', days_until_due: 10, phone: '123' }

/** Ask until the answer is as wanted. */
async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (const endMs = Date.now() + 120_000; ; ) {
    const value = await read()
    if (holds(value) || Date.now() > endMs) return value
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

/** Another transaction with a lock on this table, which delays a publish. */
async function holding(url: string, table: string) {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const held = await sql.reserve()
  await held`begin`
  await held`lock table ${held(table)} in share row exclusive mode`
  let over = false
  return async () => {
    if (over) return
    over = true
    await held`rollback`
    held.release()
    await sql.end()
  }
}

const plansOf = async (client: Client, id: string) => {
  const company = await client.ok('GET', `/companies/${id}`)
  const owed = await client.ok('GET', `/custom-plan-billings?company_id=${id}`)
  const changes = await client.ok('GET', `/plan-changes?company_id=${id}`)
  return { company, owed, changes }
}

for (const [table, where] of [
  ['company_billing_details', 'before the company is on the plan'],
  ['billing_subscriptions', 'when the company is on the plan and its subscription is not stored'],
  ['custom_plan_billings', 'when the subscription is stored and the billing is not'],
] as const)
  t.test(`PB-60 a custom plan whose publish a kill cuts short is billed once: ${where}`, async t => {
    const dataDir = await temporaryDirectory(t)
    const first = await Process.start(dataDir)
    t.teardown(() => first.child.kill('SIGKILL'))
    const { client } = first
    const { id } = await client.ok('POST', '/companies', { keys: { slug: 'acme' } })
    const plan = await client.ok('POST', '/custom-plans', { company_id: id, name: 'Custom' })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, billing(9000))
    const { DATABASE_URL: url } = await storesOf(dataDir)
    const release = await holding(url!, table)
    t.teardown(release)
    const versionId = plan.draft_version.id
    client.send('PUT', `/plans/version/${versionId}/publish`, invoiced).catch(() => {})
    const waits = postgres(url!, { max: 1 })
    t.teardown(() => waits.end())
    const waiting = () => waits`select 1 from pg_locks where relation = ${table}::regclass and not granted`
    t.ok((await until(waiting, rows => rows.length > 0)).length > 0, 'the publish has come to the table')
    await first.end('SIGKILL')
    await release()

    const second = await Process.start(dataDir)
    t.teardown(() => second.end('SIGTERM'))
    const found = await until(
      () => plansOf(second.client, id),
      ({ owed, company }) => owed.length > 0 && company.billing_subscription?.cancel_at != null,
    )
    t.match(found.company.plan, { id: plan.id, plan_version_id: versionId, plan_price: 9000 })
    t.match(found.company.billing_subscription, { total_price: 9000, status: 'active' })
    t.equal(found.company.billing_subscriptions.length, 1)
    t.match(found.owed, [{ status: 'active', plan_id: plan.id, days_until_due: 10 }])
    t.equal(found.owed.length, 1)
    t.equal(found.changes.length, 1, 'one change of plans in its history')
    const dueMs = Date.parse(found.owed[0].published_at) + 10 * 86_400_000
    t.equal(found.company.billing_subscription.cancel_at, Math.floor(dueMs / 1000), 'due from the publish on')

    // an amendment that a kill cuts short
    await second.client.ok('PUT', `/plans/${plan.id}/billing_products`, billing(12_000))
    const { draft_version: draft } = await second.client.ok('GET', `/plans/${plan.id}`)
    const releaseAgain = await holding(url!, 'custom_plan_billings')
    t.teardown(releaseAgain)
    second.client
      .send('PUT', `/plans/version/${draft.id}/publish`, { ...publish, customer_email: 'pay@example.com' })
      .catch(() => {})
    const stuck = () =>
      waits`select 1 from pg_locks where relation = 'custom_plan_billings'::regclass and not granted`
    t.ok((await until(stuck, rows => rows.length > 0)).length > 0)
    await second.end('SIGKILL')
    await releaseAgain()
    const third = await Process.start(dataDir)
    t.teardown(() => third.end('SIGTERM'))
    const amended = await until(
      () => plansOf(third.client, id),
      ({ owed }) => owed.length > 1,
    )
    t.equal(amended.owed.length, 2)
    t.match(amended.owed[0], { plan_billing_source: 'amendment', status: 'active' })
    t.match(amended.company.plan, { plan_version_id: draft.id, plan_price: 12_000 })
  })
