// Trials over HTTP: chosen to convert or to end, cancelled while they run, shown and found whoever began them.
import t from 'tap'
import { eventFeature, publishDraftOf, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { offerPlans, seconds } from './billing-world.js'

t.test('trials', async t => {
  const { client, tollgate } = await startHere(t)
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const clock = (now: string) =>
    client.ok('PUT', `/environments/${environmentId}/clock`, { now, frozen: true })
  await clock('2031-01-01T00:00:00.000Z')
  const calls = await eventFeature(client, 'calls', 'call')
  const limit = (value_numeric: number) => ({
    feature_id: calls.id,
    value_type: 'numeric',
    value_numeric,
    metric_period: 'current_month',
  })
  const trialed = async (name: string, billing: object) => {
    const plan = await client.ok('POST', '/plans', { name, plan_type: 'plan' })
    await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...limit(20) })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
      is_trialable: true,
      trial_days: 14,
      ...billing,
    })
    return publishDraftOf(client, plan.id)
  }
  const free = await publishedPlan(client, 'Free', [limit(1)])
  const lapsed = await publishedPlan(client, 'Lapsed', [limit(2)])
  const basic = await trialed('Basic', { charge_type: 'recurring', monthly_price: 700, is_trialable: false })
  const tried = await trialed('Tried', { charge_type: 'recurring', monthly_price: 700 })
  const own = await trialed('Own', { charge_type: 'none' })
  await offerPlans(client, tollgate, { fallback: free.id, expiry: lapsed.id })
  const none = {
    credit_bundles: [],
    custom_field_values: [],
    pay_in_advance_entitlements: [],
    add_on_selections: [],
  }
  let made = 0
  const company = async () =>
    (await client.ok('POST', '/companies', { keys: { slug: `t${++made}` } })).id as string
  const show = (id: string) => client.ok('GET', `/companies/${id}`)
  const manage = (company_id: string, more: object) =>
    client.post('/manage-plan', {
      ...none,
      company_id,
      base_plan_id: tried.id,
      base_plan_price_id: tried.monthly_price.id,
      ...more,
    })
  const ids = async (query: string) =>
    (await client.ok('GET', `/companies?${query}`)).map((one: { id: string }) => one.id)
  const lastChange = async (id: string) =>
    (await client.ok('GET', `/plan-changes?company_id=${id}&limit=1`))[0]

  await t.test('decision 29: a trial converts or ends, as requested', async t => {
    const [one, two, three] = [await company(), await company(), await company()]
    t.match((await manage(one, {})).body.data.company.billing_subscription, {
      status: 'trialing',
      trial_end_setting: 'subscribe',
    })
    t.match((await manage(two, { trial_end_setting: 'cancel' })).body.data.company.billing_subscription, {
      status: 'trialing',
      trial_end: seconds('2031-01-15T00:00:00Z'),
      trial_end_setting: 'cancel',
    })
    await manage(three, {})
    t.match(
      (await manage(three, { trial_end_setting: 'cancel' })).body.data.company.billing_subscription,
      { status: 'trialing', trial_end_setting: 'cancel' },
      'while it runs, too',
    )
    const onBasic = { base_plan_id: basic.id, base_plan_price_id: basic.monthly_price.id }
    t.equal((await manage(await company(), { ...onBasic, trial_end_setting: 'cancel' })).status, 400)
    t.equal((await manage(await company(), { trial_end_setting: 'never' })).status, 400)
    await clock('2031-01-15T00:00:00.000Z')
    t.match(await show(one), { plan: { id: tried.id }, billing_subscription: { status: 'active' } })
    for (const id of [two, three]) {
      const ended = await show(id)
      t.match(ended, { plan: { id: lapsed.id }, billing_subscriptions: [{ status: 'canceled' }] }, 'EN-91')
      t.notOk('billing_subscription' in ended)
      t.match(await lastChange(id), { trial_status: 'expired', base_plan_action: 'trial_expiry' })
    }
  })

  await t.test('decision 29 (D4) cancelled during a trial it ends with the trial, unbilled', async t => {
    const id = await company()
    await manage(id, {})
    const cancelled = await client.ok('POST', '/manage-plan/subscription/cancel', {
      company_id: id,
      cancel_immediately: false,
    })
    t.match(cancelled.company, {
      plan: { id: tried.id },
      billing_subscription: { status: 'trialing', cancel_at_period_end: true },
      scheduled_downgrade: { effective_after: '2031-01-29T00:00:00.000Z', to_plan_id: lapsed.id },
    })
    await clock('2031-01-28T23:59:59.999Z')
    t.equal((await show(id)).plan.id, tried.id)
    await clock('2031-01-29T00:00:00.000Z')
    const ended = await show(id)
    t.match(ended, { plan: { id: lapsed.id }, billing_subscriptions: [{ status: 'canceled' }] })
    t.notOk('scheduled_downgrade' in ended)
    t.match(await lastChange(id), { trial_status: 'expired', created_at: '2031-01-29T00:00:00.000Z' })
    const [converted] = (await client.ok('GET', `/plan-changes?company_id=${id}`)).filter(
      (one: { trial_status: string }) => one.trial_status === 'converted',
    )
    t.equal(converted, undefined, 'never billed')
    await clock('2031-03-05T00:00:00.000Z')
    t.equal((await show(id)).plan.id, lapsed.id)
  })

  await t.test('EN-94, decision 29 what waits for the end of a trial follows it', async t => {
    await clock('2031-03-05T00:00:00.000Z')
    const cancelled = async () => {
      const id = await company()
      const { subscription_external_id: of } = (await manage(id, {})).body.data.company.billing_subscription
      await client.ok('POST', '/manage-plan/subscription/cancel', {
        company_id: id,
        cancel_immediately: false,
      })
      return {
        id,
        moved: (trial_end?: string) => client.ok('PUT', `/subscription/${of}/edit-trial-end`, { trial_end }),
      }
    }
    const [longer, shorter, now] = [await cancelled(), await cancelled(), await cancelled()]
    const due = async ({ id }: { id: string }) => (await show(id)).scheduled_downgrade?.effective_after
    t.equal(await due(longer), '2031-03-19T00:00:00.000Z')
    t.match(await longer.moved('2031-03-28T00:00:00Z'), { status: 'trialing', cancel_at_period_end: true })
    await shorter.moved('2031-03-12T00:00:00Z')
    await now.moved()
    t.equal(await due(longer), '2031-03-28T00:00:00.000Z')
    t.equal(await due(shorter), '2031-03-12T00:00:00.000Z')
    t.match(await show(now.id), { plan: { id: lapsed.id }, billing_subscriptions: [{ status: 'canceled' }] })
    await clock('2031-03-12T00:00:00.000Z')
    t.equal((await show(shorter.id)).plan.id, lapsed.id)
    await clock('2031-03-19T00:00:00.000Z')
    t.match(await show(longer.id), { plan: { id: tried.id }, billing_subscription: { status: 'trialing' } })
    await clock('2031-03-28T00:00:00.000Z')
    t.match(await show(longer.id), {
      plan: { id: lapsed.id },
      billing_subscriptions: [{ status: 'canceled' }],
    })
    const ended = { trial_status: 'expired', base_plan_action: 'trial_expiry' }
    for (const { id } of [longer, shorter, now]) {
      const changes = await client.ok('GET', `/plan-changes?company_id=${id}`)
      const [end] = changes.filter((one: { trial_status: string }) => one.trial_status === 'expired')
      t.match(end, ended)
    }
  })

  await t.test('cancel_immediately, absent, is true when every plan is removed', async t => {
    const behaviour = { scheduled_downgrade_behavior: 'end_of_billing_period' }
    await offerPlans(client, tollgate, { fallback: free.id, expiry: lapsed.id }, behaviour)
    const onBasic = { base_plan_id: basic.id, base_plan_price_id: basic.monthly_price.id }
    const [one, two, three] = [await company(), await company(), await company()]
    for (const id of [one, two, three]) await manage(id, onBasic)
    const nothing = { base_plan_id: null, base_plan_price_id: null }
    t.equal((await manage(one, nothing)).body.data.company.plan.id, free.id, 'at once')
    const kept = await manage(two, { ...nothing, cancel_immediately: false })
    t.match(kept.body.data.company, {
      plan: { id: basic.id },
      billing_subscription: { cancel_at_period_end: true },
    })
    const other = await manage(three, { base_plan_id: free.id, base_plan_price_id: null })
    t.equal(other.body.data.company.plan.id, basic.id, 'to another plan: as the plan group says')
    // created at one instant of the test clock: their order is that of their ids
    t.same([...(await ids('has_scheduled_downgrade=true'))].sort(), [three, two].sort())
    await client.ok('PUT', `/company-plans/${three}`, { base_plan_id: free.id, add_on_ids: [] })
    t.notOk('scheduled_downgrade' in (await show(three)))
    t.same(await ids('has_scheduled_downgrade=true'), [two], 'EN-95 what is overtaken is found no more')
    await offerPlans(client, tollgate, { fallback: free.id, expiry: lapsed.id })
  })

  await t.test('D18 a trial of the initial plan is shown as a subscription and found', async t => {
    await clock('2031-04-01T00:00:00.000Z')
    await offerPlans(client, tollgate, { fallback: free.id, expiry: lapsed.id, initial: own.id })
    const id = await company()
    const shown = await show(id)
    t.match(shown, {
      plan: { id: own.id },
      billing_subscription: {
        status: 'trialing',
        company_id: id,
        trial_end: seconds('2031-04-15T00:00:00Z'),
        trial_end_setting: 'cancel',
        total_price: 0,
        products: [],
      },
    })
    t.same(shown.billing_subscriptions, [shown.billing_subscription])
    t.same(await ids('subscription_types=trial'), [id])
    t.same(await ids('subscription_statuses=trialing'), [id])
    t.match(await client.ok('GET', '/companies/count?subscription_types=trial'), { count: 1 })
    await clock('2031-04-15T00:00:00.000Z')
    const over = await show(id)
    t.equal(over.plan.id, lapsed.id)
    t.notOk('billing_subscription' in over)
    t.same(await ids('subscription_types=trial'), [])
    t.same(await ids('subscription_statuses=trialing'), [])
  })

  await t.test(
    'EN-94, decision 34 a trial goes on with another trial alone; what else is bought is paid for',
    async t => {
      await clock('2033-04-01T00:00:00.000Z')
      const other = await trialed('Other', { charge_type: 'recurring', monthly_price: 900 })
      const extra = await client.ok('POST', '/plans', { name: 'Extra', plan_type: 'add_on' })
      await client.ok('PUT', `/plans/${extra.id}/billing_products`, {
        charge_type: 'recurring',
        is_trialable: false,
        monthly_price: 300,
      })
      const added = await publishDraftOf(client, extra.id)
      const priceOf = (plan: { id: string; monthly_price: { id: string } }) => ({
        base_plan_id: plan.id,
        base_plan_price_id: plan.monthly_price.id,
      })
      const trialing = async (setting: string) => {
        const id = await company()
        await manage(id, { trial_end_setting: setting })
        return id
      }
      const [bought, withExtra, higher, again] = [
        await trialing('cancel'),
        await trialing('cancel'),
        await trialing('subscribe'),
        await trialing('subscribe'),
      ]
      await clock('2033-04-05T00:00:00.000Z')
      const change = async (id: string, body: object) => {
        const preview = await client.ok('POST', '/manage-plan/preview', { ...none, company_id: id, ...body })
        await client.ok('POST', '/manage-plan', { ...none, company_id: id, ...body })
        return preview.subscription_change_preview.due_now
      }
      const paid = (total: number) => ({
        status: 'active',
        total_price: total,
        trial_end: seconds('2033-04-05T00:00:00Z'),
        period_start: seconds('2033-04-05T00:00:00Z'),
        period_end: seconds('2033-05-05T00:00:00Z'),
      })
      t.equal(await change(bought, priceOf(basic)), 700)
      t.match(await show(bought), { plan: { id: basic.id }, billing_subscription: paid(700) })
      t.equal(
        await change(withExtra, { ...priceOf(tried), add_on_selections: [{ plan_id: added.id }] }),
        1000,
      )
      t.match(await show(withExtra), { plan: { id: tried.id }, billing_subscription: paid(1000) })
      t.equal(await change(higher, priceOf(other)), 0)
      const runs = { status: 'trialing', trial_end: seconds('2033-04-15T00:00:00Z') }
      t.match(await show(higher), { plan: { id: other.id }, billing_subscription: runs })
      t.equal(await change(again, priceOf(other)), 0)
      t.equal(await change(again, priceOf(tried)), 700, 'EN-90 its trial was had')
      const { billing_subscription: of } = await show(bought)
      const edited = await client.put(`/subscription/${of.subscription_external_id}/edit-trial-end`, {
        trial_end: '2033-12-31T00:00:00Z',
      })
      t.equal(edited.status, 400)
      const { lines } = await client.ok('GET', `/companies/${bought}/charges`)
      t.same(
        lines.map(({ kind, amount }: { kind: string; amount: number }) => [kind, amount]),
        [['recurring', 700]],
      )
      await clock('2033-05-06T00:00:00.000Z')
      for (const id of [bought, withExtra])
        t.match(
          (await show(id)).billing_subscription,
          { status: 'active' },
          'the end of the trial ends nothing',
        )
      t.match(await show(higher), { plan: { id: other.id }, billing_subscription: { status: 'active' } })
    },
  )
})
