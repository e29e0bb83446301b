// Migrations as one change: version, limits, price and subscription together, and what is agreed for later gone for good
// when something newer takes its place.
import t from 'tap'
import { eventFeature, publishDraftOf, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'

t.test('migrations of companies that pay', async t => {
  const { client, tollgate } = await startHere(t)
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const clock = (now: string) =>
    client.ok('PUT', `/environments/${environmentId}/clock`, { now, frozen: true })
  await clock('2031-01-01T00:00:00.000Z')
  const calls = await eventFeature(client, 'calls', 'call')
  const seats = await client.ok('POST', '/features', {
    name: 'Seats',
    description: '',
    feature_type: 'license',
  })
  const limit = (value_numeric: number) => ({
    feature_id: calls.id,
    value_type: 'numeric',
    value_numeric,
    metric_period: 'current_month',
  })
  const billing = (monthly_price: number) => ({
    charge_type: 'recurring',
    is_trialable: false,
    monthly_price,
    yearly_price: monthly_price * 10,
  })
  const free = await publishedPlan(client, 'Free', [limit(1)])
  await offerPlans(client, tollgate, { fallback: free.id })
  const none = {
    credit_bundles: [],
    custom_field_values: [],
    pay_in_advance_entitlements: [],
    add_on_selections: [],
  }
  let made = 0
  const show = (id: string) => client.ok('GET', `/companies/${id}`)

  /** A plan at 5000 a month and 10 calls, with a company that pays for it. */
  async function scene(seated = false) {
    const plan = await client.ok('POST', '/plans', { name: `Pro ${++made}`, plan_type: 'plan' })
    await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...limit(10) })
    if (seated)
      await client.ok('POST', '/plan-entitlements', {
        plan_id: plan.id,
        feature_id: seats.id,
        value_type: 'trait',
        price_behavior: 'pay_in_advance',
        monthly_unit_price: 300,
      })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, billing(5000))
    const first = await publishDraftOf(client, plan.id)
    const { id } = await client.ok('POST', '/companies', { keys: { slug: `m${made}` } })
    const [seat] = seated
      ? await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}&feature_id=${seats.id}`)
      : []
    await client.ok('POST', '/manage-plan', {
      ...none,
      company_id: id,
      base_plan_id: plan.id,
      base_plan_price_id: first.monthly_price.id,
      ...(seat && {
        pay_in_advance_entitlements: [{ price_id: seat.metered_monthly_price.id, quantity: 3 }],
      }),
    })
    return { planId: plan.id as string, id: id as string, first }
  }
  /** A draft that costs 1000 more, with 10 more calls, for each version before it. */
  async function draft(planId: string, monthly: number, calls: number) {
    const { entitlements } = await client.ok('GET', `/plans/${planId}`)
    const own = entitlements.find((one: { value_type: string }) => one.value_type === 'numeric')
    await client.ok('PUT', `/plan-entitlements/${own.id}`, limit(calls))
    await client.ok('PUT', `/plans/${planId}/billing_products`, billing(monthly))
    return (await client.ok('GET', `/plans/${planId}`)).draft_version.id as string
  }
  const publish = async (planId: string, monthly: number, calls: number, more: object) => {
    const versionId = await draft(planId, monthly, calls)
    await client.ok('PUT', `/plans/version/${versionId}/publish`, { excluded_company_ids: [], ...more })
    return versionId
  }
  const now = { migration_strategy: 'immediate' }
  const atEnd = { migration_strategy: 'end_of_billing_period' }
  /** A company's plan and payment. */
  const stands = async (id: string) => {
    const company = await show(id)
    const subscription = company.billing_subscription
    return {
      version: company.plan.plan_version_id,
      price: company.plan.plan_price,
      limit: company.entitlements.find((one: { feature_id: string }) => one.feature_id === calls.id)
        ?.allocation,
      total: subscription?.total_price,
      products: subscription?.products.map((one: { price: number }) => one.price),
      pending: company.pending_migration?.to_plan_version_id ?? null,
    }
  }
  const on = (version: string, price: number, limit: number, pending: string | null = null) => ({
    version,
    price,
    limit,
    total: price,
    products: [price],
    pending,
  })
  const timers = (id: string) =>
    tollgate.services.sql`select * from company_timers where id = ${`${id} schedule`}`

  await t.test('PB-23 (D1) what supersedes a pending migration leaves nothing of it behind', async t => {
    const aim = (planId: string, versionId: string, more: object) => ({
      plan_id: planId,
      plan_version_id_to: versionId,
      target_plan_type: 'plan',
      ...more,
    })
    const cases: [string, (s: Awaited<ReturnType<typeof scene>>, v2: string) => Promise<unknown>][] = [
      ['publish, immediate', s => publish(s.planId, 7000, 30, now)],
      ['publish, leave', s => publish(s.planId, 7000, 30, { migration_strategy: 'leave' })],
      ['publish, excluded', s => publish(s.planId, 7000, 30, { ...atEnd, excluded_company_ids: [s.id] })],
      [
        'migrate, immediate',
        (s, v2) =>
          client.ok('POST', '/plan-version-migrations', aim(s.planId, v2, { strategy: 'immediate' })),
      ],
      [
        'migrate, leave',
        (s, v2) => client.ok('POST', '/plan-version-migrations', aim(s.planId, v2, { strategy: 'leave' })),
      ],
      [
        'another version by hand',
        (s, v2) =>
          client.ok('POST', '/manage-plan', {
            ...none,
            company_id: s.id,
            base_plan_id: s.planId,
            base_plan_version_id: v2,
          }),
      ],
      [
        'another plan',
        s => client.ok('PUT', `/company-plans/${s.id}`, { base_plan_id: free.id, add_on_ids: [] }),
      ],
      [
        'cancelled',
        async s => {
          const { migration_id } = (await show(s.id)).pending_migration
          await client.ok('POST', `/plan-version-migrations/${migration_id}/cancel`)
        },
      ],
      ['subscription cancelled', s => client.ok('POST', '/manage-plan', { ...none, company_id: s.id })],
    ]
    const after: { title: string; id: string; was: unknown; history: number }[] = []
    for (const [title, supersede] of cases) {
      const s = await scene()
      const v2 = await publish(s.planId, 6000, 20, atEnd)
      t.equal((await stands(s.id)).pending, v2, `${title}: it waits`)
      await supersede(s, v2)
      const was = await stands(s.id)
      t.equal(was.pending, null, `${title}: nothing waits`)
      t.same(await timers(s.id), [], `${title}: nothing is due`)
      const history = (await client.ok('GET', `/plan-changes?company_id=${s.id}`)).length
      after.push({ title, id: s.id, was, history })
    }
    await clock('2031-02-01T00:00:00.000Z')
    for (const { title, id, was, history } of after) {
      t.same(await stands(id), was, `${title}: and nothing comes of it`)
      t.equal((await client.ok('GET', `/plan-changes?company_id=${id}`)).length, history, title)
    }
    await clock('2031-02-02T00:00:00.000Z')
  })

  await t.test('EN-97, PB-24 (D2) version, limits, price and subscription move together', async t => {
    const s = await scene()
    const before = (await show(s.id)).billing_subscription
    const id = await draft(s.planId, 6000, 20)
    const preview = await client.ok('POST', '/plan-version-migrations/preview', {
      plan_id: s.planId,
      plan_version_id_to: id,
      target_plan_type: 'plan',
    })
    t.match(
      preview,
      { has_billing_changes: true, companies: [{ company_id: s.id, will_update_subscription: true }] },
      'a draft is seen before it is published',
    )
    await client.ok('PUT', `/plans/version/${id}/publish`, { ...now, excluded_company_ids: [] })
    t.same(await stands(s.id), on(id, 6000, 20))
    const { billing_subscription: after } = await show(s.id)
    t.equal(after.id, before.id)
    t.same([after.period_start, after.period_end], [before.period_start, before.period_end], 'PB-33')
    t.not(after.products[0].price_id, before.products[0].price_id)
    t.equal(after.products[0].price_id, (await client.ok('GET', `/plans/${s.planId}`)).monthly_price.id)
    t.match(await client.ok('GET', `/company-subscriptions?company_id=${s.id}`), [{ total_price: 6000 }])

    const v3 = await publish(s.planId, 7000, 30, atEnd)
    t.same(await stands(s.id), on(id, 6000, 20, v3), 'PB-8 until its date nothing moves')
    await clock('2031-03-01T23:59:59.999Z')
    t.same(await stands(s.id), on(id, 6000, 20, v3))
    await clock('2031-03-02T00:00:00.000Z')
    t.same(await stands(s.id), on(v3, 7000, 30))
    t.match((await show(s.id)).billing_subscription, { period_start: seconds('2031-03-02T00:00:00Z') })

    const v4 = await publish(s.planId, 8000, 40, { migration_strategy: 'leave' })
    t.same(await stands(s.id), on(v3, 7000, 30), 'PB-8 left: limits and price of before')
    const made = await client.ok('POST', '/plan-version-migrations', {
      plan_id: s.planId,
      plan_version_id_to: v4,
      target_plan_type: 'plan',
      strategy: 'immediate',
      company_ids: [s.id],
    })
    t.match(made, { status: 'completed', completed_companies: 1 })
    t.same(await stands(s.id), on(v4, 8000, 40))
    const again = await client.ok('POST', '/manage-plan', {
      ...none,
      company_id: s.id,
      base_plan_id: s.planId,
    })
    t.equal(again.company.billing_subscription.total_price, 8000, 'and is stored so')
  })

  await t.test('EN-97 (D2) quantities stay, at the price of the version', async t => {
    const s = await scene(true)
    t.equal((await show(s.id)).billing_subscription.total_price, 5900)
    const [seat] = await client.ok('GET', `/plan-entitlements?plan_id=${s.planId}&feature_id=${seats.id}`)
    await client.ok('PUT', `/plan-entitlements/${seat.id}`, {
      feature_id: seats.id,
      value_type: 'trait',
      price_behavior: 'pay_in_advance',
      monthly_unit_price: 400,
    })
    await publish(s.planId, 6000, 20, now)
    t.match((await show(s.id)).billing_subscription, {
      total_price: 6000 + 3 * 400,
      products: [
        { price: 6000, quantity: 1 },
        { price: 400, quantity: 3 },
      ],
    })
  })

  await t.test('PB-51 what a provider bills costs what the provider says', async t => {
    await clock('2031-05-01T00:00:00.000Z')
    const linked = await linkedPlan(client, 'Told')
    const { id } = await client.ok('POST', '/companies', { keys: { slug: 'told' } })
    await client.ok('POST', '/billing/subscription/upsert', {
      ...subscriptionBody('sub_told', 'cus_told', [linked]),
      company_id: id,
      period_start: seconds('2031-05-01T00:00:00Z'),
    })
    await client.ok('POST', '/plan-entitlements', { plan_id: linked.plan.id, ...limit(77) })
    const { draft_version: next } = await client.ok('GET', `/plans/${linked.plan.id}`)
    await client.ok('PUT', `/plans/version/${next.id}/publish`, { ...now, excluded_company_ids: [] })
    const company = await show(id)
    t.match(company, { plan: { plan_version_id: next.id }, billing_subscription: { total_price: 1000 } })
  })

  await t.test('decision 28: strategy scheduled moves at its date', async t => {
    const s = await scene()
    const id = await draft(s.planId, 6000, 20)
    const at = { migration_strategy: 'scheduled', excluded_company_ids: [] }
    const refused = async (more: object) =>
      (await client.put(`/plans/version/${id}/publish`, { ...at, ...more })).status
    t.equal(await refused({}), 400, 'without a date')
    t.equal(await refused({ migration_scheduled_at: '2031-05-01T00:00:00Z' }), 400, 'not in the future')
    t.equal(await refused({ migration_scheduled_at: '2033-05-02T00:00:00Z' }), 400, 'too far ahead')
    t.equal(await refused({ migration_scheduled_at: 'soon' }), 400)
    const date = { migration_scheduled_at: '2031-05-10T12:00:00Z' }
    t.equal(await refused({ ...date, migration_strategy: 'leave' }), 400, 'only for scheduled')
    t.equal((await client.ok('GET', `/plans/${s.planId}`)).draft_version.id, id, 'nothing was published')
    await client.ok('PUT', `/plans/version/${id}/publish`, { ...at, ...date, proration_behavior: 'none' })
    t.match((await show(s.id)).pending_migration, {
      strategy: 'scheduled',
      to_plan_version_id: id,
      effective_at: '2031-05-10T12:00:00.000Z',
      scheduled_for: '2031-05-10T12:00:00.000Z',
      proration_behavior: 'none',
    })
    const [migration] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${id}`)
    t.match(migration, { strategy: 'scheduled', status: 'pending', next_due_at: '2031-05-10T12:00:00.000Z' })
    await clock('2031-05-10T11:59:59.999Z')
    t.equal((await stands(s.id)).price, 5000)
    await clock('2031-05-10T12:00:00.000Z')
    t.same(await stands(s.id), on(id, 6000, 20))
    t.match(await client.ok('GET', `/plan-version-migrations/${migration.id}`), {
      status: 'completed',
      completed_companies: 1,
    })
    const third = await publish(s.planId, 7000, 30, { migration_strategy: 'leave' })
    const post = (more: object) =>
      client.post('/plan-version-migrations', {
        plan_id: s.planId,
        plan_version_id_to: third,
        target_plan_type: 'plan',
        strategy: 'scheduled',
        ...more,
      })
    t.equal((await post({})).status, 400)
    t.equal((await post({ migration_scheduled_at: '2031-05-20T00:00:00Z' })).status, 201)
    t.equal((await stands(s.id)).pending, third)
    const sooner = { migration_scheduled_at: '2031-05-15T00:00:00Z' }
    t.equal((await post(sooner)).status, 201, 'PB-23 a newer one takes its place')
    t.equal((await show(s.id)).pending_migration.effective_at, '2031-05-15T00:00:00.000Z')
    await clock('2031-05-15T00:00:00.000Z')
    t.same(await stands(s.id), on(third, 7000, 30))
  })

  await t.test('D19: companies that are not there are refused, and nothing is done', async t => {
    const s = await scene()
    const v2 = await publish(s.planId, 6000, 20, { migration_strategy: 'leave' })
    const body = {
      plan_id: s.planId,
      plan_version_id_to: v2,
      target_plan_type: 'plan',
      strategy: 'immediate',
    }
    const unknown = `comp_${'x'.repeat(20)}`
    for (const [path, more] of [
      ['/plan-version-migrations', { company_ids: [s.id, unknown] }],
      ['/plan-version-migrations', { excluded_company_ids: [unknown] }],
      ['/plan-version-migrations/preview', { company_ids: [unknown] }],
    ] as const) {
      const answer = await client.post(path, { ...body, ...more })
      t.equal(answer.status, 404, path)
      t.match(answer.body.error, unknown)
    }
    t.equal((await stands(s.id)).price, 5000)
    t.same(await client.ok('GET', `/plan-version-migrations?plan_version_id=${v2}`), [])
  })

  await t.test('EN-95, PB-23 (D1) a downgrade that waits lands on the version the plan moved to', async t => {
    const behaviour = { scheduled_downgrade_behavior: 'end_of_billing_period' }
    await offerPlans(client, tollgate, { fallback: free.id }, behaviour)
    const s = await scene()
    const manage = (priceId: string) =>
      client.ok('POST', '/manage-plan', {
        ...none,
        company_id: s.id,
        base_plan_id: s.planId,
        base_plan_price_id: priceId,
      })
    await manage(s.first.yearly_price.id)
    const { company: waits } = await manage(s.first.monthly_price.id)
    const { effective_after: atEndOfYear } = waits.scheduled_downgrade
    t.match(waits, { plan: { plan_price: 50_000 }, scheduled_downgrade: { scheduled_price: 5000 } })
    const v2 = await publish(s.planId, 4000, 20, now)
    t.same(await stands(s.id), on(v2, 40_000, 20))
    t.match((await show(s.id)).scheduled_downgrade, {
      from_subscription_price: 40_000,
      scheduled_price: 4000,
      effective_after: atEndOfYear,
    })
    await clock(atEndOfYear)
    t.same(await stands(s.id), on(v2, 4000, 20), 'and not on the one that was left')
  })

  await t.test('PB-23 a version taken by hand stays when the date of a migration comes', async t => {
    const byHand = (id: string, planId: string, versionId: string) =>
      client.ok('POST', '/manage-plan', {
        ...none,
        company_id: id,
        base_plan_id: planId,
        base_plan_version_id: versionId,
      })
    const scenes = []
    for (const back of [false, true]) {
      const s = await scene()
      const v1 = s.first.active_version.id
      // a change between versions of one price is made at once (EN-95)
      const v2 = await publish(s.planId, 5000, 20, { migration_strategy: 'leave' })
      await byHand(s.id, s.planId, v2)
      const v3 = await publish(s.planId, 7000, 30, atEnd)
      t.equal((await stands(s.id)).pending, v3, 'it waits')
      await byHand(s.id, s.planId, v1)
      if (back) await byHand(s.id, s.planId, v2)
      const was = await stands(s.id)
      t.match(was, { version: back ? v2 : v1, pending: null }, 'nothing waits any more')
      const [migration] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${v3}`)
      scenes.push({ ...s, was, migration: migration.id as string })
    }
    const { period_end: endsAt } = (await show(scenes[0]!.id)).billing_subscription
    await clock(new Date(endsAt * 1000 + 60_000).toISOString())
    for (const { id, was, migration } of scenes) {
      await tollgate.services.migrations.run(migration)
      t.same(await stands(id), was, 'and nothing comes of it')
      const [row] = await client.ok('GET', `/plan-version-company-migrations?migration_id=${migration}`)
      t.equal(row.status, 'skipped', 'PB-20')
    }
  })
})
