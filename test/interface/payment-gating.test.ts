// Billing profiles of companies: what is written is stored and shown, and payments that are overdue end access when the
// profile says so (CompanyBillingProfile in the interface document).
import t from 'tap'
import { type Client, startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { linkedPlan, offerPlans, subscriptionBody } from './billing-world.js'

const dayMs = 86_400_000
const startMs = Date.parse('2030-01-10T00:00:00Z')

const dataDir = await temporaryDirectory(t)
const settings = { TOLLGATE_DATA_DIR: dataDir }
const began = await startHere(t, settings)
let client: Client = began.client
const { environment_id: environmentId } = await client.ok('GET', '/whoami')

/** The environment's clock stands still, so many ms after its beginning. */
const at = (ms: number) =>
  client.ok('PUT', `/environments/${environmentId}/clock`, {
    now: new Date(startMs + ms).toISOString(),
    frozen: true,
  })

await at(0)
const feature = await client.ok('POST', '/features', {
  name: 'Paid',
  description: '',
  feature_type: 'boolean',
})
const flagKey: string = feature.flags[0].key
const pro = await linkedPlan(client, 'Pro', [
  { feature_id: feature.id, value_type: 'boolean', value_bool: true },
])
const free = await client.ok('POST', '/plans', { name: 'Free', plan_type: 'plan' })
await client.ok('PUT', `/plans/version/${free.draft_version.id}/publish`, {
  migration_strategy: 'leave',
  excluded_company_ids: [],
})
await offerPlans(client, began.tollgate, { fallback: free.id })

let made = 0

/** A company with a subscription to Pro, and what is done to it. */
async function subscriber() {
  const slug = `co${++made}`
  const { id } = await client.ok('POST', '/companies', { keys: { slug } })
  await client.ok('POST', '/billing/customer/upsert', {
    external_id: `cus_${slug}`,
    company_id: id,
    email: 'a@b.c',
    name: slug,
    meta: {},
  })
  const told = (status: string) =>
    client.ok('POST', '/billing/subscription/upsert', {
      ...subscriptionBody(`sub_${slug}`, `cus_${slug}`, [pro], { status }),
      period_start: startMs / 1000,
      period_end: startMs / 1000 + 30 * 86_400,
    })
  await told('active')
  const [profile] = await client.ok('GET', `/billing/profiles?company_id=${id}`)
  return {
    id,
    told,
    profile,
    put: (more: object) =>
      client.put(`/billing/profiles/${profile.id}`, { collection_method: 'charge_automatically', ...more }),
    served: async (): Promise<boolean> =>
      (await client.ok('POST', `/flags/${flagKey}/check`, { company: { slug } })).value,
    plan: async (): Promise<string> => (await client.ok('GET', `/companies/${id}`)).plan.id,
  }
}

t.test('every member is written, stored and shown; absent stays, null clears', async t => {
  const { id, put, profile } = await subscriber()
  t.match(profile, { payment_gating: 'keep_serving', gating_days: 0, currency: null, overdraft_limit: null })
  const members = {
    payment_gating: 'revoke_after',
    gating_days: 14,
    collector: 'external',
    currency: 'eur',
    overdraft_limit: 250,
    purchase_order: 'PO 7',
    name: 'Main',
    days_until_due: 30,
  }
  t.match(await put(members), { status: 200, body: { data: members } })
  t.match(await put({ name: 'Other' }), { status: 200, body: { data: { ...members, name: 'Other' } } })
  t.match((await client.ok('GET', `/billing/profiles?company_id=${id}`))[0], { ...members, name: 'Other' })
  const company = await client.ok('GET', `/companies/${id}`)
  t.match(company.billing_profile, { ...members, name: 'Other' })
  t.match(company.billing_profiles, [{ ...members, name: 'Other' }])
  const nothing = {
    payment_gating: null,
    gating_days: null,
    collector: null,
    currency: null,
    overdraft_limit: null,
    purchase_order: null,
  }
  t.match(await put(nothing), {
    status: 200,
    body: { data: { ...nothing, payment_gating: 'keep_serving', gating_days: 0 } },
  })
  for (const wrong of [
    { payment_gating: 'never' },
    { gating_days: -1 },
    { gating_days: 1.5 },
    { collector: 'nobody' },
    { currency: 'xyz' },
    { overdraft_limit: -1 },
    { purchase_order: 'x'.repeat(256) },
  ])
    t.match(await put(wrong), { status: 400, body: { error: String } }, JSON.stringify(wrong))
})

t.test(
  'keep_serving: an overdue subscription gives access for as long as it is past_due (PB-51, PB-57)',
  async t => {
    const { told, served } = await subscriber()
    await told('past_due')
    await at(dayMs)
    t.equal(await served(), true)
  },
)

t.test(
  'revoke_after: access ends gating_days after the payment was overdue, exactly, and comes back when paid',
  async t => {
    const { id, told, put, served, plan } = await subscriber()
    t.equal((await put({ payment_gating: 'revoke_after', gating_days: 3 })).status, 200)
    await at(2 * dayMs)
    await told('past_due')
    await at(4 * dayMs)
    await told('past_due')
    await at(5 * dayMs - 1)
    t.equal(await served(), true, 'told again, it does not begin anew')
    await at(5 * dayMs)
    t.equal(await served(), false, 'at the instant')
    t.equal(await plan(), free.id, 'EN-82 it is on the fallback plan')
    const { status } = await told('past_due')
    t.equal(status, 'past_due', 'the record is as the provider told')
    t.equal(await served(), false)
    await told('active')
    t.equal(await served(), true, 'paid')
    t.equal(await plan(), pro.plan.id)
    await told('past_due')
    await at(8 * dayMs - 1)
    t.equal(await served(), true, 'overdue anew')
    await at(8 * dayMs)
    t.equal(await served(), false)
    t.equal((await client.ok('GET', `/company-subscriptions?company_id=${id}`)).length, 0)
  },
)

t.test('a profile that is changed acts at once on what is overdue already', async t => {
  const { told, put, served } = await subscriber()
  await told('past_due')
  t.equal(await served(), true)
  await put({ payment_gating: 'revoke_after', gating_days: 0 })
  t.equal(await served(), false)
  await put({ gating_days: 1 })
  t.equal(await served(), true)
  await put({ gating_days: 0 })
  t.equal(await served(), false)
  await put({ payment_gating: 'keep_serving' })
  t.equal(await served(), true)
})

t.test('it holds again after a restart, for companies without requests', async t => {
  const one = await subscriber()
  await one.put({ payment_gating: 'revoke_after', gating_days: 2 })
  await one.told('past_due')
  await began.tollgate.stop()
  client = (await startHere(t, settings)).client
  t.equal(await one.served(), true)
  await at(11 * dayMs)
  t.equal(await one.served(), false)
  await one.told('active')
  t.equal(await one.served(), true)
})
