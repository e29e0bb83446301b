// Custom plans: what their publish makes owed, when unpaid access ends, and what an amendment owes anew (PB-60…62).
import t from 'tap'
import { publishedPlan } from '../control/planned.js'
import { isShaped } from '../control/shape.js'
import { startHere } from '../harness.js'
import { billingShapes } from './billing-shapes.js'
import { offerPlans, seconds } from './billing-world.js'

t.test('custom plans', async t => {
  const { client, tollgate } = await startHere(t)
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const clock = (now: string) =>
    client.ok('PUT', `/environments/${environmentId}/clock`, { now, frozen: true })
  await clock('2031-01-01T00:00:00.000Z')
  const free = await publishedPlan(client, 'Free')
  await offerPlans(client, tollgate, { fallback: free.id })
  const billing = (monthly_price: number) => ({
    charge_type: 'recurring',
    is_trialable: false,
    monthly_price,
  })
  let made = 0
  async function custom(monthly = 9000) {
    const { id } = await client.ok('POST', '/companies', { keys: { slug: `c${++made}` } })
    const plan = await client.ok('POST', '/custom-plans', { company_id: id, name: `Custom ${made}` })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, billing(monthly))
    return { id: id as string, planId: plan.id as string, draft: plan.draft_version.id as string }
  }
  const publish = (versionId: string, more: object = {}) =>
    client.put(`/plans/version/${versionId}/publish`, {
      migration_strategy: 'leave',
      excluded_company_ids: [],
      ...more,
    })
  const published = async (versionId: string, more: object = {}) => {
    const answer = await publish(versionId, more)
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  }
  const amended = async (planId: string, monthly: number, more: object = {}) => {
    await client.ok('PUT', `/plans/${planId}/billing_products`, billing(monthly))
    const { draft_version: draft } = await client.ok('GET', `/plans/${planId}`)
    await published(draft.id, more)
    return draft.id as string
  }
  const show = (id: string) => client.ok('GET', `/companies/${id}`)
  const owed = (id: string) => client.ok('GET', `/custom-plan-billings?company_id=${id}`)
  const paid = (id: string) => client.ok('PUT', `/custom-plan-billings/${id}/mark-paid`, {})

  await t.test('PB-60 (D3) published, the company has the plan and owes for it; unpaid it ends', async t => {
    const [one, two] = [await custom(), await custom()]
    for (const { draft } of [one, two])
      await published(draft, { days_until_due: 10, customer_email: 'pay@example.com' })
    const shown = await show(one.id)
    t.match(shown, {
      plan: { id: one.planId, plan_price: 9000 },
      billing_email: 'pay@example.com',
      billing_subscription: {
        status: 'active',
        total_price: 9000,
        cancel_at: seconds('2031-01-11T00:00:00Z'),
      },
      custom_plan_billings: [{ status: 'active' }],
    })
    const [record] = await owed(one.id)
    isShaped(t, record, billingShapes.customPlanBilling, 'CustomPlanBilling')
    t.match(record, {
      plan_id: one.planId,
      plan_billing_source: 'custom_plan',
      activation_strategy: 'on_publish',
      status: 'active',
      days_until_due: 10,
      migration_id: null,
      published_at: '2031-01-01T00:00:00.000Z',
    })
    const [second] = await owed(two.id)
    t.match(await paid(second.id), { status: 'paid' })
    await clock('2031-01-10T23:59:59.999Z')
    t.equal((await show(one.id)).plan.id, one.planId)
    await clock('2031-01-11T00:00:00.000Z')
    t.match(await show(one.id), { plan: { id: free.id }, custom_plan_billings: [{ status: 'expired' }] })
    t.match(await show(two.id), { plan: { id: two.planId }, billing_subscription: { cancel_at: null } })
    await client.ok('PUT', `/custom-plan-billings/${record.id}/retry`, { customer_email: 'p@example.com' })
    t.match(await show(one.id), {
      plan: { id: one.planId },
      custom_plan_billings: [{ status: 'active' }],
      billing_subscription: { cancel_at: seconds('2031-01-21T00:00:00Z') },
    })
  })

  await t.test('PB-60 without days_until_due thirty days; a plan without price owes nothing', async t => {
    const one = await custom()
    await published(one.draft)
    t.match(await owed(one.id), [{ status: 'active', days_until_due: 30, send_invoice: true }])
    const { id } = await client.ok('POST', '/companies', { keys: { slug: 'gratis' } })
    const plan = await client.ok('POST', '/custom-plans', { company_id: id, name: 'Gratis' })
    await published(plan.draft_version.id)
    t.equal((await show(id)).plan.id, plan.id)
    t.same(await owed(id), [])
  })

  await t.test('D3 what the body of a publish says takes effect, or is refused', async t => {
    await client.ok('POST', '/billing/coupons', {
      external_id: 'half',
      name: 'Half',
      amount_off: 0,
      percent_off: 50,
      duration: 'once',
      duration_in_months: 0,
      max_redemptions: 0,
      times_redeemed: 0,
    })
    const fields = { custom_checkout_fields: [{ id: 'field_1', name: 'VAT', required: false }] }
    await offerPlans(client, tollgate, { fallback: free.id }, fields)
    const one = await custom()
    const address = { city: 'Bern', country: 'CH', line1: 'A 1', line2: '', postal_code: '3000', state: '' }
    const refused = async (more: object, status = 400) =>
      t.equal((await publish(one.draft, more)).status, status)
    await refused({ billing_cycle_anchor: '2030-01-01T00:00:00Z' })
    await refused({ billing_cycle_anchor: 'soon' })
    await refused({ coupon_external_id: 'nobody' })
    await refused({ custom_field_values: [{ id: 'unknown', value: 'x' }] })
    await refused({ excluded_company_ids: [`comp_${'x'.repeat(20)}`] }, 404)
    t.notOk((await client.ok('GET', `/plans/${one.planId}`)).active_version, 'nothing was published')
    await published(one.draft, {
      billing_cycle_anchor: '2031-02-01T00:00:00Z',
      prorate_first_period: false,
      coupon_external_id: 'half',
      address,
      tax_id: { type: 'eu_vat', value: 'DE123' },
      phone: '+41 1',
      customer_email: 'bill@example.com',
      custom_field_values: [{ id: 'field_1', value: 'yes' }],
    })
    t.match(await show(one.id), {
      billing_email: 'bill@example.com',
      billing_subscription: {
        period_end: seconds('2031-02-01T00:00:00Z'),
        discounts: [{ coupon_name: 'Half' }],
      },
    })
    t.match(await owed(one.id), [
      { billing_cycle_anchor: '2031-02-01T00:00:00.000Z', prorate_first_period: false },
    ])
    t.match(await client.ok('GET', `/companies/${one.id}/billing-details`), {
      email: 'bill@example.com',
      phone: '+41 1',
      address,
      tax_ids: [{ type: 'eu_vat', value: 'DE123' }],
      custom_fields: [{ id: 'field_1', value: 'yes' }],
    })
    await client.ok('PUT', `/plans/${one.planId}/billing_products`, billing(9500))
    const { draft_version: draft } = await client.ok('GET', `/plans/${one.planId}`)
    t.equal((await publish(draft.id, { billing_cycle_anchor: '2031-03-01T00:00:00Z' })).status, 400)
    t.equal((await publish(draft.id, { coupon_external_id: 'half' })).status, 400)
    const standard = await client.ok('POST', '/plans', { name: 'Standard', plan_type: 'plan' })
    for (const more of [
      { phone: '1' },
      { coupon_external_id: 'half' },
      { activation_strategy: 'on_payment' },
    ])
      t.equal((await publish(standard.draft_version.id, more)).status, 400, 'only for custom plans')
    await offerPlans(client, tollgate, { fallback: free.id })
  })

  await t.test('PB-60 an amendment owes anew, when it changes what is paid', async t => {
    await clock('2031-03-01T00:00:00.000Z')
    const one = await custom()
    await published(one.draft, { days_until_due: 5 })
    await paid((await owed(one.id))[0].id)
    await clock('2031-03-01T00:00:01.000Z')
    const v2 = await amended(one.planId, 12_000, { days_until_due: 7 })
    t.match(await show(one.id), {
      plan: { plan_version_id: v2, plan_price: 12_000 },
      billing_subscription: { total_price: 12_000, cancel_at: seconds('2031-03-08T00:00:01Z') },
    })
    const [record] = await owed(one.id)
    const [migration] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${v2}`)
    t.match(record, {
      plan_billing_source: 'amendment',
      migration_id: migration.id,
      status: 'active',
      days_until_due: 7,
    })
    t.match(await client.ok('GET', '/custom-plan-billings?plan_billing_source=amendment'), [
      { id: record.id },
    ])
    await paid(record.id)
    t.equal((await show(one.id)).billing_subscription.cancel_at, null)
    await client.ok('PUT', `/plans/${one.planId}`, { name: 'Renamed' })
    const { draft_version: renamed } = await client.ok('GET', `/plans/${one.planId}`)
    await published(renamed.id)
    t.equal((await owed(one.id)).length, 2, 'nothing else to pay: nothing is owed')
    t.equal((await show(one.id)).plan.plan_version_id, renamed.id)

    await clock('2031-03-01T00:00:02.000Z')
    const v4 = await amended(one.planId, 13_000, { activation_strategy: 'on_payment', days_until_due: 3 })
    t.equal((await show(one.id)).plan.plan_version_id, renamed.id, 'it waits for its payment')
    const [waiting] = await owed(one.id)
    t.match(waiting, { plan_billing_source: 'amendment', status: 'pending', migration_id: null })
    await paid(waiting.id)
    t.match(await show(one.id), {
      plan: { plan_version_id: v4 },
      billing_subscription: { total_price: 13_000, cancel_at: null },
    })
  })

  await t.test(
    'PB-63 the price in force, published again while another waits, is not owed twice',
    async t => {
      const one = await custom()
      const seats = await client.ok('POST', '/features', {
        name: 'Seats',
        description: '',
        feature_type: 'license',
      })
      const sold = { value_type: 'trait', price_behavior: 'pay_in_advance', usage_quantity: 2 }
      await client.ok('POST', '/plan-entitlements', {
        plan_id: one.planId,
        feature_id: seats.id,
        monthly_unit_price: 300,
        ...sold,
      })
      const seat = async (monthly_unit_price: number) => {
        const [held] = await client.ok(
          'GET',
          `/plan-entitlements?plan_id=${one.planId}&feature_id=${seats.id}`,
        )
        await client.ok('PUT', `/plan-entitlements/${held.id}`, { ...sold, monthly_unit_price })
      }
      await published(one.draft)
      await paid((await owed(one.id))[0].id)
      t.match(await show(one.id), { billing_subscription: { total_price: 9600, cancel_at: null } })
      await amended(one.planId, 12_000, { activation_strategy: 'on_payment' })
      t.equal((await owed(one.id)).length, 2)

      const again = await amended(one.planId, 9000)
      t.match(await show(one.id), {
        plan: { plan_version_id: again, plan_price: 9000 },
        billing_subscription: { total_price: 9600, cancel_at: null },
      })
      t.equal((await owed(one.id)).length, 2, 'the same price has a new id')

      await seat(400)
      await amended(one.planId, 9000, { activation_strategy: 'on_payment' })
      await seat(300)
      await amended(one.planId, 9000)
      t.equal((await owed(one.id)).length, 3, 'the same price of a seat')
      t.equal((await show(one.id)).billing_subscription.total_price, 9600)
      await seat(400)
      await amended(one.planId, 9000)
      t.equal((await owed(one.id)).length, 4, 'another price of a seat')
      t.equal((await show(one.id)).billing_subscription.total_price, 9800)
      await amended(one.planId, 9001)
      t.equal((await owed(one.id)).length, 5, 'another price')
    },
  )

  await t.test('PB-60 (N14) a newer invoice of the plan takes the place of the older', async t => {
    const one = await custom()
    await published(one.draft, { days_until_due: 20 })
    await clock('2031-03-01T00:00:03.000Z')
    const ends = async () => (await show(one.id)).billing_subscription.cancel_at
    const statuses = async () => (await owed(one.id)).map((each: { status: string }) => each.status)
    await amended(one.planId, 9500, { days_until_due: 5, activation_strategy: 'on_payment' })
    t.same(await statuses(), ['pending', 'active'], 'one that waits for its payment closes none')
    t.equal(await ends(), seconds('2031-03-21T00:00:02Z'))
    await clock('2031-03-02T00:00:03.000Z')
    await amended(one.planId, 10_000, { days_until_due: 25 })
    t.same(await statuses(), ['active', 'expired', 'expired'])
    t.equal(await ends(), seconds('2031-03-27T00:00:03Z'))
    const [third, second, first] = await owed(one.id)
    for (const { id } of [first, second]) {
      t.equal((await client.put(`/custom-plan-billings/${id}/mark-paid`, {})).status, 400)
      const again = { customer_email: 'p@example.com', activation_strategy: 'on_publish' }
      t.match(await client.put(`/custom-plan-billings/${id}/retry`, again), {
        status: 400,
        body: { error: /newer billing/ },
      })
    }
    await clock('2031-03-22T00:00:00.000Z')
    t.match(
      await show(one.id),
      { plan: { id: one.planId, plan_price: 10_000 } },
      'the older due date ends nothing',
    )
    await paid(third.id)
    t.equal(await ends(), null)

    await t.test('one that waited and is paid closes the older, too', async t => {
      const two = await custom()
      await published(two.draft, { days_until_due: 20 })
      await clock('2031-03-22T00:00:01.000Z')
      await amended(two.planId, 9500, { activation_strategy: 'on_payment' })
      const [pending] = await owed(two.id)
      await paid(pending.id)
      t.match(await owed(two.id), [{ status: 'paid' }, { status: 'expired' }])
      t.match(await show(two.id), { billing_subscription: { total_price: 9500, cancel_at: null } })
    })
  })

  await t.test('PB-62 a version published before the first was paid takes its place', async t => {
    const one = await custom()
    await published(one.draft, { activation_strategy: 'on_payment' })
    const v2 = await amended(one.planId, 5000, { activation_strategy: 'on_payment' })
    const records = await owed(one.id)
    t.match(records, [{ status: 'pending', plan_billing_source: 'custom_plan' }])
    t.equal(records.length, 1)
    await paid(records[0].id)
    t.match(await show(one.id), {
      plan: { plan_version_id: v2, plan_price: 5000 },
      billing_subscription: { total_price: 5000 },
    })
  })

  await t.test('a company that pays already goes over to its custom plan', async t => {
    const pro = await client.ok('POST', '/plans', { name: 'Pro', plan_type: 'plan' })
    await client.ok('PUT', `/plans/${pro.id}/billing_products`, billing(20_000))
    await published(pro.draft_version.id)
    const { monthly_price: price } = await client.ok('GET', `/plans/${pro.id}`)
    const one = await custom(1000)
    await client.ok('POST', '/manage-plan', {
      company_id: one.id,
      base_plan_id: pro.id,
      base_plan_price_id: price.id,
      add_on_selections: [],
      credit_bundles: [],
      custom_field_values: [],
      pay_in_advance_entitlements: [],
    })
    const { billing_subscription: had } = await show(one.id)
    await published(one.draft, { days_until_due: 4 })
    t.match(await show(one.id), {
      plan: { id: one.planId },
      billing_subscription: { id: had.id, total_price: 1000, cancel_at: seconds('2031-03-26T00:00:01Z') },
      custom_plan_billings: [{ status: 'active' }],
    })
  })
})
