// A version that is not sold in the currency or at the interval a company pays in: the company stays where it is, and
// the migration says why (EN-97, PB-43, N6).
import t from 'tap'
import { paymentWorld } from './payment-world.js'

const behaviour = { scheduled_downgrade_behavior: 'end_of_billing_period' }

t.test('EN-97, PB-43 (N6) a company does not move to a version without its price', async t => {
  const { client, clock, priced, bill, publish, manage, company, show, due } = await paymentWorld(
    t,
    behaviour,
  )
  const rowsOf = async (versionId: string) => {
    const [migration] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${versionId}`)
    // a look at the migration makes the steps that are due
    const shown = await client.ok('GET', `/plan-version-migrations/${migration.id}`)
    const rows = await client.ok('GET', `/plan-version-company-migrations?migration_id=${migration.id}`)
    return {
      migration: shown,
      rows,
      of: (id: string) => rows.find((one: { company_id: string }) => one.company_id === id),
    }
  }
  const preview = async (planId: string, versionId: string) => {
    const { companies } = await client.ok('POST', '/plan-version-migrations/preview', {
      plan_id: planId,
      plan_version_id_to: versionId,
      target_plan_type: 'plan',
    })
    return (id: string) => companies.find((one: { company_id: string }) => one.company_id === id)
  }
  const failed = { status: 'failed', error_code: 'no_price_for_interval', error: /no price/ }
  const stays = (versionId: string, total: number) => ({
    plan: { plan_version_id: versionId, plan_price: total },
    billing_subscription: { status: 'active', total_price: total },
  })

  await t.test(
    'another interval; the preview says so, and a retry after a change of interval moves it',
    async t => {
      const plan = await priced('Pro', 100, 1000)
      const v1 = plan.active_version.id
      const [monthly, yearly] = [await company(), await company()]
      await manage(monthly, plan.id, plan.monthly_price.id)
      await manage(yearly, plan.id, plan.yearly_price.id)
      await bill(plan.id, null, 1500)
      const { draft_version: draft } = await client.ok('GET', `/plans/${plan.id}`)
      const foreseen = await preview(plan.id, draft.id)
      t.match(foreseen(monthly), {
        would_fail: true,
        has_billing_changes: false,
        will_update_subscription: false,
        note: /no price/,
      })
      t.match(foreseen(yearly), { would_fail: false, has_billing_changes: true })
      const v2 = await publish(plan.id, null, 1500, 'immediate')
      const { migration, of } = await rowsOf(v2)
      t.match(migration, { status: 'failed', completed_companies: 1, failed_companies: 1 })
      t.match(of(monthly), failed)
      t.match(of(yearly), { status: 'completed', error_code: null })
      t.match(await show(monthly), stays(v1, 100))
      t.match(await show(yearly), stays(v2, 1500))
      await manage(monthly, plan.id, plan.yearly_price.id, { base_plan_version_id: v1 })
      await client.ok('POST', `/plan-version-migrations/${migration.id}/retry`, {
        error_codes: ['no_price_for_interval'],
      })
      t.match((await rowsOf(v2)).of(monthly), { status: 'completed' })
      t.match(await show(monthly), stays(v2, 1500))
    },
  )

  await t.test('another currency', async t => {
    const plan = await client.ok('POST', '/plans', { name: 'Euro', plan_type: 'plan' })
    const euro = { currency_prices: [{ currency: 'eur', monthly_price: 90 }] }
    await bill(plan.id, 100, null, euro)
    const { draft_version: first } = await client.ok('GET', `/plans/${plan.id}`)
    const leave = { migration_strategy: 'leave', excluded_company_ids: [] }
    await client.ok('PUT', `/plans/version/${first.id}/publish`, leave)
    const shown = await client.ok('GET', `/plans/${plan.id}`)
    const price = shown.currency_prices.find(
      (one: { currency: string }) => one.currency === 'eur',
    ).monthly_price
    const id = await company()
    await manage(id, plan.id, price.id)
    t.match(await show(id), { billing_subscription: { currency: 'eur', total_price: 90 } })
    await bill(plan.id, 200, null, { currency_prices: null })
    const v2 = await publish(plan.id, 200, null, 'immediate')
    t.match((await rowsOf(v2)).of(id), failed)
    t.match(await show(id), {
      plan: { plan_version_id: first.id },
      billing_subscription: { total_price: 90 },
    })
  })

  await t.test(
    'an interval taken while the migration waits: it has no date, and fails when its date comes',
    async t => {
      const plan = await priced('Waits', 100, 1000)
      const v1 = plan.active_version.id
      const id = await company()
      await manage(id, plan.id, plan.monthly_price.id)
      const v2 = await publish(plan.id, 150, null)
      const at = await due(id)
      t.type(at, 'string')
      await manage(id, plan.id, plan.yearly_price.id, { base_plan_version_id: v1 })
      t.equal(await due(id), null)
      await clock(at)
      t.match(await show(id), stays(v1, 1000))
      t.match((await rowsOf(v2)).of(id), failed)
      t.equal(await due(id), undefined, 'nothing is pending any more')
      t.match(await show(id), stays(v1, 1000))
    },
  )

  await t.test('a downgrade that waits pays at an interval that is not sold', async t => {
    const plan = await priced('Falls', 100, 1000)
    const v1 = plan.active_version.id
    const id = await company()
    await manage(id, plan.id, plan.yearly_price.id)
    await manage(id, plan.id, plan.monthly_price.id)
    t.match(await show(id), { scheduled_downgrade: { scheduled_price: 100 } })
    const v2 = await publish(plan.id, null, 1500, 'immediate')
    t.match((await rowsOf(v2)).of(id), failed)
    t.match(await show(id), { ...stays(v1, 1000), scheduled_downgrade: { scheduled_price: 100 } })
  })

  await t.test('seats that are not sold at the interval', async t => {
    const seats = await client.ok('POST', '/features', {
      name: 'Seats',
      description: '',
      feature_type: 'license',
    })
    const sold = (prices: object) => ({
      feature_id: seats.id,
      value_type: 'trait',
      price_behavior: 'pay_in_advance',
      ...prices,
    })
    const made = await client.ok('POST', '/plans', { name: 'Seated', plan_type: 'plan' })
    await client.ok('POST', '/plan-entitlements', { plan_id: made.id, ...sold({ monthly_unit_price: 30 }) })
    await bill(made.id, 100, 1000)
    const { draft_version: first } = await client.ok('GET', `/plans/${made.id}`)
    const leave = { migration_strategy: 'leave', excluded_company_ids: [] }
    await client.ok('PUT', `/plans/version/${first.id}/publish`, leave)
    const plan = await client.ok('GET', `/plans/${made.id}`)
    const list = `/plan-entitlements?plan_id=${made.id}&feature_id=${seats.id}`
    const [seat] = await client.ok('GET', list)
    const [seated, unseated] = [await company(), await company()]
    await manage(seated, made.id, plan.monthly_price.id, {
      pay_in_advance_entitlements: [{ price_id: seat.metered_monthly_price.id, quantity: 2 }],
    })
    await manage(unseated, made.id, plan.monthly_price.id)
    const prices = { monthly_unit_price: null, yearly_unit_price: 300 }
    await client.ok('PUT', `/plan-entitlements/${seat.id}`, sold(prices))
    const v2 = await publish(made.id, 120, 1200, 'immediate')
    const { of } = await rowsOf(v2)
    t.match(of(seated), failed)
    t.match(of(unseated), { status: 'completed' }, 'it pays for no seats')
    t.match(await show(seated), { billing_subscription: { total_price: 160 } })
    t.match(await show(unseated), { billing_subscription: { total_price: 120 } })
  })

  await t.test('a version that costs nothing ends the price', async t => {
    const plan = await priced('Given', 100, null)
    const id = await company()
    await manage(id, plan.id, plan.monthly_price.id)
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, { charge_type: 'free', is_trialable: false })
    const { draft_version: draft } = await client.ok('GET', `/plans/${plan.id}`)
    const now = { migration_strategy: 'immediate', excluded_company_ids: [] }
    await client.ok('PUT', `/plans/version/${draft.id}/publish`, now)
    t.match((await rowsOf(draft.id)).of(id), { status: 'completed' })
    const shown = await show(id)
    t.match(shown, { plan: { plan_version_id: draft.id, plan_price: null } })
    t.notOk('billing_subscription' in shown)
  })

  await t.test('the publish of a custom plan is refused', async t => {
    const id = await company()
    const plan = await client.ok('POST', '/custom-plans', { company_id: id, name: 'Own' })
    await bill(plan.id, 100, null)
    const publishCustom = async () => {
      const { draft_version: draft } = await client.ok('GET', `/plans/${plan.id}`)
      const body = { migration_strategy: 'immediate', excluded_company_ids: [] }
      return { id: draft.id, answer: await client.put(`/plans/version/${draft.id}/publish`, body) }
    }
    const first = await publishCustom()
    t.equal(first.answer.status, 200)
    await bill(plan.id, null, 1200)
    const second = await publishCustom()
    t.match(second.answer, { status: 400, body: { error: /no price/ } })
    t.match(await show(id), stays(first.id, 100))
    t.equal(
      (await client.ok('GET', `/plans/${plan.id}`)).active_version.id,
      first.id,
      'nothing was published',
    )
  })
})
