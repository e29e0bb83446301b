// Changes by time alone in companies without requests, over restarts: trials end, agreed changes come, webhooks are
// sent.
import t from 'tap'
import { settleDue } from '../../src/control/jobs/settle-due.js'
import { tellTrialEnds } from '../../src/control/jobs/tell-trial-ends.js'
import { publishDraftOf } from '../control/planned.js'
import { type Client, startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { offerPlans, seconds } from './billing-world.js'
import { CreditWorld } from './credit-world.js'
import { receiver } from './receiver.js'

const settings = { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true' }
const nothingElse = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

async function sold(client: Client, name: string, billing: object) {
  const plan = await client.ok('POST', '/plans', { name, description: '', plan_type: 'plan' })
  await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    ...billing,
  })
  return publishDraftOf(client, plan.id)
}

t.test(
  'EN-91 trials that end while Tollgate is down are told once, of companies nobody asks about',
  async t => {
    const dataDir = await temporaryDirectory(t)
    const here = await receiver(t)
    const started = async () => {
      const { client, tollgate } = await startHere(t, { ...settings, TOLLGATE_DATA_DIR: dataDir })
      const { environment_id: id } = await client.ok('GET', '/whoami')
      const clock = (now: string) => client.ok('PUT', `/environments/${id}/clock`, { now, frozen: true })
      return { client, tollgate, clock }
    }
    const first = await started()
    await first.clock('2031-01-01T00:00:00Z')
    const free = await sold(first.client, 'Free', { charge_type: 'none' })
    const paid = await sold(first.client, 'Paid', { monthly_price: 700, is_trialable: true, trial_days: 14 })
    const own = await sold(first.client, 'Own', { charge_type: 'none', is_trialable: true, trial_days: 7 })
    await offerPlans(first.client, first.tollgate, { fallback: free.id })
    const webhook = await first.client.ok('POST', '/webhooks', {
      name: 'trials',
      url: here.url,
      request_types: ['subscription.trial.ended'],
    })
    const { id: subscribed } = await first.client.ok('POST', '/companies', { keys: { slug: 'subscribed' } })
    await first.client.ok('POST', '/manage-plan', {
      ...nothingElse,
      company_id: subscribed,
      base_plan_id: paid.id,
      base_plan_price_id: paid.monthly_price.id,
    })
    const { id: trying } = await first.client.ok('POST', '/companies', {
      keys: { slug: 'trying' },
      base_plan_id: own.id,
    })
    const { id: later } = await first.client.ok('POST', '/companies', { keys: { slug: 'later' } })
    await first.clock('2031-01-05T00:00:00Z')
    await first.client.ok('PUT', `/company-plans/${later}`, { base_plan_id: own.id, add_on_ids: [] })
    await first.tollgate.stop()
    t.same(here.received, [], 'nothing yet')

    // nobody asks about a company from here on: they are in no memory
    const second = await started()
    await second.clock('2031-01-15T00:00:00Z')
    await here.until(3, 20_000)
    const of = (id: string) => here.received.find(({ json }) => json.company_id === id)!.json
    t.match(of(subscribed), {
      action: 'subscription.trial.ended',
      object_type: 'subscription_trial',
      body: {
        company_id: subscribed,
        status: 'active',
        trial_end: seconds('2031-01-15T00:00:00Z'),
        total_price: 700,
      },
    })
    t.match(of(trying).body, {
      status: 'expired',
      trial_end: seconds('2031-01-08T00:00:00Z'),
      trial_end_setting: 'cancel',
      provider_type: 'native',
      products: [],
    })
    t.match(of(later).body, { trial_end: seconds('2031-01-12T00:00:00Z') })
    // EN-93 the lists know without anybody having asked
    const rows = await second.tollgate.services.sql`
      select company_id, plan_id from company_plans where plan_id = ${free.id} order by company_id`
    t.same(
      rows.map(row => row.company_id),
      [trying, later].sort(),
    )
    await second.tollgate.stop()

    const third = await started()
    const { environment_id: environmentId } = await third.client.ok('GET', '/whoami')
    await third.clock('2031-03-01T00:00:00Z')
    const { services } = third.tollgate
    for (let turn = 0; turn < 2; turn++) {
      await settleDue(services, [environmentId])
      await tellTrialEnds(services)
    }
    await services.projections.barrier('postgres')
    await services.outbox.drain()
    t.equal(here.received.length, 3, 'once, also over restarts')
    t.equal((await third.client.ok('GET', `/webhook-events?webhook_id=${webhook.id}`)).length, 3)
    const left = await third.tollgate.services.sql`select * from company_timers`
    t.same(left.length, 0, 'nothing is due any more')
  },
)

t.test('agreed changes, top-ups and refusals are published', async t => {
  const here = await receiver(t)
  const { client, tollgate } = await startHere(t, settings)
  const told = async (type: string) => {
    await tollgate.services.projections.barrier('postgres')
    await tollgate.services.outbox.drain()
    for (const end = Date.now() + 60_000; Date.now() < end; await pause(20)) {
      const events: { status: string }[] = await client.ok('GET', '/webhook-events')
      if (here.of(type).length > 0 && events.every(({ status }) => status === 'success')) break
    }
    return here.of(type).map(({ json }) => json)
  }
  await client.ok('POST', '/webhooks', {
    name: 'all',
    url: here.url,
    request_types: [
      'company.scheduled_downgrade',
      'auto.topup.success',
      'auto.topup.hard.failure',
      'auto.topup.retry.exceeded',
    ],
  })

  await t.test('EN-95 a downgrade is published when it is agreed', async t => {
    const [basic, pro] = [
      await sold(client, 'Basic', { monthly_price: 1000 }),
      await sold(client, 'Pro', { monthly_price: 3000 }),
    ]
    await offerPlans(client, tollgate, {}, { scheduled_downgrade_behavior: 'end_of_billing_period' })
    const { id } = await client.ok('POST', '/companies', { keys: { slug: 'down' }, name: 'Down' })
    const put = async (plan: typeof pro) =>
      (
        await client.ok('POST', '/manage-plan', {
          ...nothingElse,
          company_id: id,
          base_plan_id: plan.id,
          base_plan_price_id: plan.monthly_price.id,
        })
      ).company
    await put(pro)
    const { scheduled_downgrade: agreed } = await put(basic)
    t.match(await told('company.scheduled_downgrade'), [
      {
        company_id: id,
        body: {
          id: agreed.id,
          execute_after: agreed.effective_after,
          company: { id, name: 'Down' },
          from_plan: { id: pro.id, name: 'Pro' },
          to_plan: { id: basic.id, name: 'Basic' },
          scheduled_interval: 'month',
          scheduled_price: 1000,
        },
      },
    ])
  })

  const world = new CreditWorld(client)
  const topup = { credit_amount: 20, auto_topup_amount: 30, auto_topup_threshold_credits: 5 }

  await t.test('CR-55, CR-57 a draw down to the threshold buys once, as one grant in the ledger', async t => {
    const credit = await world.credit({ per_unit_price: 3 })
    const { plan, subtype } = await world.metered(credit.id, 1, [
      { ...topup, auto_topup_availability: 'automatic' },
    ])
    const { id, keys } = await world.company({ base_plan_id: plan.id })
    await world.track(subtype, keys, { quantity: 14 })
    t.same(await world.balance(id, credit.id), [6, 0, 6], 'above the threshold')
    await world.track(subtype, keys, { quantity: 1 })
    t.same(await world.balance(id, credit.id), [35, 0, 35], 'at it')
    const grants = await world.grants(id)
    const bought = grants.filter(one => one.grant_reason === 'billing_credit_auto_topup')
    t.match(bought, [{ quantity: 30, quantity_remaining: 30, expires_at: null, source_label: 'Auto top-up' }])
    const entries = await world.ledger(id, 'event_type=grant')
    t.match(
      entries.filter(one => one.grant_id === bought[0].id),
      [{ amount: 30, quantity_consumed: 0, grant_reason: 'billing_credit_auto_topup' }],
    )
    await world.agrees(t, id, credit.id, 'CR-88 with a top-up')
    t.match(await told('auto.topup.success'), [
      { company_id: id, body: { grant_id: bought[0].id, quantity: 30, credit: { id: credit.id } } },
    ])
    // simultaneous uses of 1 from 35: each draw down to 5 buys once, and no more than that
    await Promise.all(Array.from({ length: 60 }, () => world.track(subtype, keys)))
    t.same(await world.balance(id, credit.id), [35, 0, 35], '35 − 60 + 2 × 30')
    await world.agrees(t, id, credit.id, 'CR-88 with simultaneous top-ups')
  })

  await t.test('CR-55 user_controlled: nothing until the company chose, then its own values', async t => {
    const credit = await world.credit({ per_unit_price: 3 })
    const { plan, subtype } = await world.metered(credit.id, 1, [
      { ...topup, auto_topup_availability: 'user_controlled' },
    ])
    const { id, keys } = await world.company({ base_plan_id: plan.id })
    await world.track(subtype, keys, { quantity: 16 })
    t.same(await world.balance(id, credit.id), [4, 0, 4])
    const choose = (auto_topup_overrides: object[], base_plan_id: string = plan.id) =>
      client.post('/manage-plan', { ...nothingElse, company_id: id, base_plan_id, auto_topup_overrides })
    const other = await world.credit({ per_unit_price: 3 })
    t.equal((await choose([{ credit_id: other.id, enabled: true }])).status, 400, 'no choice about it')
    t.equal((await choose([{ credit_id: 'bcrd_22222222222', enabled: true }])).status, 404)
    const wish = { credit_id: credit.id, enabled: true, amount: 7, threshold_credits: 3 }
    t.equal((await choose([wish, wish])).status, 400, 'twice')
    const chosen = await choose([wish])
    t.match(chosen.body.data.company.plan.included_credit_grants, [
      {
        company_auto_topup_enabled: true,
        company_auto_topup_amount: 7,
        company_auto_topup_threshold_credits: 3,
      },
    ])
    await world.track(subtype, keys, { quantity: 1 })
    t.same(await world.balance(id, credit.id), [10, 0, 10], '3 and 7 bought')
    await choose([{ credit_id: credit.id, enabled: false }])
    await world.track(subtype, keys, { quantity: 9 })
    t.same(await world.balance(id, credit.id), [1, 0, 1])
    await choose([])
    await choose([{ credit_id: credit.id, enabled: true }])
    await world.track(subtype, keys, { quantity: 1 })
    t.same(await world.balance(id, credit.id), [30, 0, 30], 'the plan’s values where it gave none')
  })

  await t.test('CR-56 a top-up that cannot be charged changes nothing and is published', async t => {
    const credit = await world.credit({ per_unit_price: 3 })
    const { plan, subtype } = await world.metered(credit.id, 1, [
      { ...topup, auto_topup_availability: 'automatic' },
    ])
    const { id, keys } = await world.company({ base_plan_id: plan.id })
    await client.ok('PUT', `/billing/credits/${credit.id}`, {
      name: credit.name,
      description: '',
      currency_prices: [],
      per_unit_price: null,
    })
    for (const quantity of [15, 1, 1, 1, 1, 1]) await world.track(subtype, keys, { quantity })
    t.same(await world.balance(id, credit.id), [0, 0, 0])
    const body = { company: { id }, credit: { id: credit.id, name: credit.name } }
    const failures = await told('auto.topup.hard.failure')
    t.equal(failures.length, 5)
    t.match(failures[0].body, {
      ...body,
      error_message: 'The credit has no unit price',
      psp_error_code: null,
    })
    t.match(await told('auto.topup.retry.exceeded'), [{ body: { ...body, consecutive_failures: 5 } }])
  })
})
