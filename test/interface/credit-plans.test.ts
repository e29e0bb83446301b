// Credits that come with plans, over HTTP: issued when the plan is taken, again at every reset, taken back when it is
// left; overdrafts; and the check that holds what it allows.
import t from 'tap'
import { publishDraftOf, publishedPlan } from '../control/planned.js'
import { isShaped } from '../control/shape.js'
import { startHere } from '../harness.js'
import { CreditWorld, creditShapes } from './credit-world.js'

const { client } = await startHere(t)
const world = new CreditWorld(client)

t.test(
  'plan credit grants: written to the draft, shown with plans and companies, issued with the plan',
  async t => {
    const credit = await world.credit({ per_unit_price: 5 })
    const plan = await publishedPlan(client, 'Grants')
    const body = {
      plan_id: plan.id,
      credit_id: credit.id,
      credit_amount: 50,
      reset_cadence: 'monthly',
      reset_start: 'billing_period',
      rollover_percentage: 25,
    }
    const made = await client.post('/billing/credits/plan-grants', body)
    t.equal(made.status, 201)
    const grant = made.body.data
    isShaped(t, grant, creditShapes.planGrant, 'BillingPlanCreditGrant')
    isShaped(t, grant.credit, creditShapes.credit, 'BillingPlanCreditGrant.credit')
    t.match(grant, {
      id: /^pcgr_/,
      billing_mode: 'granted',
      scaling: 'fixed',
      reset_type: 'plan_period',
      rollover_percentage: 25,
      company_credit_amount: 0,
      auto_topup_availability: 'off',
      auto_topup_enabled: false,
      price_tiers: [],
    })
    const early = await world.company({ base_plan_id: plan.id })
    t.same(await world.balance(early.id, credit.id), [0, 0, 0], 'PB-4 a draft grants nothing')
    const published = await publishDraftOf(client, plan.id)
    t.match(published, { credits: [{ id: credit.id }], included_credit_grants: [{ id: grant.id }] })
    const company = await world.company({ base_plan_id: plan.id })
    t.same(await world.balance(company.id, credit.id), [50, 0, 50], 'CR-39')
    const [issued] = await world.grants(company.id)
    t.match(issued, {
      grant_reason: 'plan',
      quantity: 50,
      plan_id: plan.id,
      plan_name: 'Grants',
      source_label: 'Grants',
      renewal_enabled: true,
      renewal_period: 'monthly',
      expires_at: null,
    })
    const detail = await client.ok('GET', `/companies/${company.id}`)
    t.match(detail.plan.included_credit_grants, [{ id: grant.id, credit_id: credit.id, credit_amount: 50 }])
    t.same(detail.billing_credit_balances, { [credit.id]: 50 })

    const path = `/billing/credits/plan-grants/${grant.id}`
    const edited = await client.ok('PUT', path, {
      credit_amount: 70,
      reset_cadence: 'monthly',
      reset_start: 'billing_period',
    })
    t.not(edited.id, grant.id, 'PB-3 the published one stays, its copy on the draft is changed')
    t.match(edited, { credit_amount: 70, rollover_percentage: 25 })
    t.match(await client.ok('GET', path), { credit_amount: 50 })
    t.equal((await client.ok('GET', `/billing/credits/plan-grants?plan_id=${plan.id}`))[0].id, grant.id)
    const ofDraft = `plan_version_id=${edited.plan_version_id}`
    t.equal((await client.ok('GET', `/billing/credits/plan-grants?${ofDraft}`))[0].id, edited.id)
    t.same(await client.ok('GET', `/billing/credits/plan-grants/count?${ofDraft}`), { count: 1 })
    t.same(await world.balance(company.id, credit.id), [50, 0, 50])
    const extra = await client.ok('POST', '/billing/credits/plan-grants', {
      ...body,
      credit_amount: 7,
      rollover_percentage: 0,
      apply_to_existing: true,
    })
    t.same(
      await world.balance(company.id, credit.id),
      [50, 0, 50],
      'N10 apply_to_existing edits the draft: the published version stays',
    )
    t.equal(extra.plan_version_id, edited.plan_version_id)
    await client.ok('DELETE', `/billing/credits/plan-grants/${extra.id}?apply_to_existing=true`)
    t.same(await client.ok('DELETE', path), { deleted: true })
    t.equal((await client.ok('GET', path)).id, grant.id, 'PB-3 the published one stays')
    await world.agrees(t, company.id, credit.id, 'CR-88 after changes of the plan')
  },
)

t.test('contradictory settings are refused', async t => {
  const credit = await world.credit()
  const priced = await world.credit({ per_unit_price: 1 })
  const plan = await publishedPlan(client, 'Refusals')
  const refused = async (body: object) =>
    (
      await client.post('/billing/credits/plan-grants', {
        plan_id: plan.id,
        credit_id: credit.id,
        credit_amount: 1,
        reset_cadence: 'monthly',
        reset_start: 'billing_period',
        ...body,
      })
    ).status
  const topup = {
    auto_topup_availability: 'automatic',
    auto_topup_amount: 5,
    auto_topup_threshold_credits: 1,
  }
  t.equal(await refused({ company_credit_amount: 5 }), 400, 'CR-35')
  t.equal(await refused({ scaling: 'per_license' }), 400, 'CR-35 a licence is needed')
  t.equal(await refused({ scaling: 'per_license', license_id: 'lice_22222222222' }), 404)
  t.equal(await refused({ reset_cadence: 'weekly', rollover_percentage: 10 }), 400, 'CR-42')
  t.equal(await refused({ reset_type: 'no_reset', rollover_percentage: 10 }), 400, 'CR-40')
  t.equal(await refused({ reset_type: 'no_reset', expiry_type: 'duration' }), 400, 'CR-32')
  t.equal(await refused(topup), 400, 'CR-55 without a unit price')
  t.equal(await refused({ ...topup, credit_id: priced.id, auto_topup_amount: null }), 400, 'CR-55')
  t.equal(
    await refused({ ...topup, credit_id: priced.id, auto_topup_expiry_type: 'end_of_trial' }),
    400,
    'CR-34',
  )
  t.equal(await refused({ ...topup, credit_id: priced.id }), 201)
  t.equal(await refused({ arrears_cadence: 'quarterly' }), 400)
  t.equal(await refused({ arrears_anchor: 'month_end' }), 400, 'only with monthly')
  t.equal(await refused({ billing_mode: 'billed', unit_price: 1 }), 400, 'billed is for custom plans')
  t.equal(await refused({ rollover_percentage: 101 }), 400)
  t.equal(await refused({ credit_amount: -1 }), 400)
  t.equal(await refused({ credit_id: 'bcrd_22222222222' }), 404)
  t.equal(await refused({ plan_id: 'plan_22222222222' }), 404)
  t.equal(await refused({ plan_version_id: plan.active_version.id }), 400, 'PB-7')
})

t.test('CR-38 a custom plan may be billed by the credit, in tiers', async t => {
  const credit = await world.credit()
  const company = await world.company()
  const plan = await client.ok('POST', '/custom-plan-bundles', {
    plan: { company_id: company.id, name: 'Custom' },
    billing_product: { charge_type: 'none', is_trialable: false },
    entitlements: [],
    credit_grants: [
      {
        action: 'create',
        create_req: {
          credit_id: credit.id,
          plan_id: '',
          credit_amount: 9,
          reset_cadence: 'monthly',
          reset_start: 'first_of_month',
          billing_mode: 'billed',
          tier_mode: 'graduated',
          price_tiers: [{ up_to: 10, per_unit_price: 2 }, { per_unit_price_decimal: '1.5' }],
        },
      },
    ],
  })
  const [grant] = plan.credit_grants
  t.match(grant, {
    billing_mode: 'billed',
    tier_mode: 'graduated',
    price_tiers: [
      { from: 1, to: 10, per_unit_price: 2 },
      { from: 11, to: null, per_unit_price: 2, per_unit_price_decimal: '1.5' },
    ],
  })
  t.notOk(grant.price, 'not before it is published')
  const published = await publishDraftOf(client, plan.plan.id)
  isShaped(t, published.included_credit_grants[0], creditShapes.planGrant, 'billed')
  const { price } = published.included_credit_grants[0]
  t.match(price, { scheme: 'tiered', currency: 'usd' })
  t.match(await client.ok('GET', `/billing/price?ids=${price.id}`), [
    { id: price.id, tiers_mode: 'graduated', price_tier: [{ up_to: 10 }, { up_to: null }] },
  ])

  const { plan: onPlan } = await client.ok('GET', `/companies/${company.id}`)
  const [included] = onPlan.included_credit_grants
  t.equal(included.billing_product_price_id, price.id)
  t.match(included, {
    credit: { id: credit.id, burn_strategy: credit.burn_strategy, currency_prices: [] },
    price: {
      id: price.id,
      billing_scheme: 'tiered',
      is_active: true,
      price_tier: [{ up_to: 10 }, { up_to: null }],
    },
  })
  const held = (await client.ok('GET', `/companies/${company.id}`)).plan
  t.equal(held.included_credit_grants[0].billing_product_price_id, price.id)
})

t.test('CR-35, CR-36 per licence: one grant each, and the company’s own once', async t => {
  const credit = await world.credit()
  const seats = await client.ok('POST', '/features', {
    name: 'Seats',
    description: '',
    feature_type: 'license',
  })
  const { plan } = await world.metered(credit.id, 1, [
    {
      credit_amount: 1000,
      company_credit_amount: 2000,
      scaling: 'per_license',
      license_id: seats.license_id,
      rollover_percentage: 0,
    },
  ])
  const trait = await client.ok('GET', `/entity-trait-definitions?ids=${seats.usage_limit_trait_id}`)
  const name = trait[0].hierarchy.join('.')
  const company = await world.company({ base_plan_id: plan.id, traits: { [name]: 5 } })
  t.same(await world.balance(company.id, credit.id), [7000, 0, 7000])
  t.equal((await world.grants(company.id)).length, 6)
  await client.ok('POST', '/companies', { keys: company.keys, traits: { [name]: 10 } })
  t.same(await world.balance(company.id, credit.id), [12000, 0, 12000])
  await client.ok('POST', '/companies', { keys: company.keys, traits: { [name]: 4 } })
  t.same(await world.balance(company.id, credit.id), [6000, 0, 6000])
  const retired = (await world.grants(company.id)).filter(one => one.zeroed_out_reason === 'license_retired')
  t.equal(retired.length, 6)
  t.equal(retired[0].license_name, 'Seats')
  const instances = (await world.grants(company.id, 'limit=250')).map(one => one.company_license_id)
  t.equal(new Set(instances.filter(id => id !== null)).size, 10, 'CR-35 one licence instance each')
  t.match(
    instances.find(id => id !== null),
    /^clic_/,
  )
  t.ok(instances.includes(null), 'and none for what the company gets once')
  await world.agrees(t, company.id, credit.id, 'CR-88 after licences came and went')
})

t.test('CR-51, CR-52 an overdraft goes down to its limit; CR-53 a grant repays it', async t => {
  const credit = await world.credit()
  const { subtype, plan, flag } = await world.metered(credit.id, 1, [
    {
      credit_amount: 10,
      postpaid_enabled: true,
      overdraft_limit: 20,
      postpaid_rate_per_unit_decimal: '1.95',
    },
  ])
  const company = await world.company({ base_plan_id: plan.id })
  const balance = () => world.balance(company.id, credit.id)
  await world.track(subtype, company.keys, { quantity: 25 })
  t.same(await balance(), [-15, 0, -15])
  const overdraft = (await world.grants(company.id)).find(one => one.grant_reason === 'postpaid_overdraft')
  t.match(overdraft, {
    quantity: 0,
    quantity_remaining: -15,
    quantity_used: 15,
    postpaid_charged_credits: 15,
    postpaid_charge_amount: 29, // 15 × 1.95 = 29.25
    postpaid_charge_currency: 'usd',
  })
  const [shown] = (await client.ok('GET', `/companies/${company.id}`)).plan.included_credit_grants
  t.match(shown, {
    billing_credit_postpaid_rate_per_unit: 2,
    billing_credit_postpaid_rate_per_unit_decimal: '1.95',
    billing_credit_can_buy_bundles: true,
  })
  const body = { company_id: company.id, credit_type_id: credit.id, amount: 6 }
  t.equal((await client.post('/billing/credits/reservations', body)).status, 402, 'CR-52')
  await world.track(subtype, company.keys, { quantity: 10 })
  t.same(await balance(), [-20, 0, -20], '5 are uncovered')
  const check = await client.ok('POST', `/flags/${flag.key}/check`, { company: company.keys })
  t.equal(check.value, false)
  await world.grant(company.id, credit.id, 100, { reason: 'purchased' })
  t.same(await balance(), [80, 0, 80])
  await world.agrees(t, company.id, credit.id, 'CR-88 after the debt is paid')
  const moved = await world.ledger(company.id, 'event_type=transfer')
  t.same(moved.map(one => [one.amount, one.transfer_reason]).sort(), [
    [-20, 'overdraft_recovery'],
    [20, 'overdraft_recovery'],
  ])
})

t.test('CR-84, CR-85 check and reserve', async t => {
  const credit = await world.credit()
  const { subtype, plan, flag } = await world.metered(credit.id, 5)
  const company = await world.company({ base_plan_id: plan.id })
  await world.grant(company.id, credit.id, 50)
  const path = `/flags/${flag.key}/check-and-reserve`
  const ask = (more: object = {}) => client.post(path, { company: company.keys, ...more })
  const first = await ask({ quantity: 2, idempotency_key: 'k' })
  t.equal(first.status, 200)
  const { reservation } = first.body.data
  t.equal(first.body.data.value, true)
  isShaped(t, reservation, creditShapes.checkReservation, 'FlagCheckReservation')
  t.match(reservation, {
    credits_reserved: 10,
    quantity_reserved: 2,
    consumption_rate: 5,
    event_subtype: subtype,
    company_id: company.id,
    credit_type_id: credit.id,
  })
  t.same(await world.balance(company.id, credit.id), [40, 10, 50])
  const again = await ask({ quantity: 2, idempotency_key: 'k' })
  t.same(again.body.data.reservation, reservation, 'a key gives back its reservation')
  t.equal((await ask({ quantity: 3, idempotency_key: 'k' })).status, 409)
  const cost = await ask({ preflight: { credit_cost: { [credit.id]: 7.5 } }, quantity: 3 })
  t.match(cost.body.data.reservation, { credits_reserved: 7.5, quantity_reserved: 3 })
  const usage = await ask({ preflight: { usage: 4 } })
  t.match(usage.body.data.reservation, { credits_reserved: 20, quantity_reserved: 4 })
  const event = await ask({ preflight: { event_usage: { event_subtype: subtype, quantity: 1 }, usage: 9 } })
  t.match(event.body.data, { value: true, reservation: { credits_reserved: 5 } }, 'of its own events first')
  t.same(await world.balance(company.id, credit.id), [7.5, 42.5, 50])
  const short = await ask({ quantity: 2 })
  t.equal(short.status, 200, 'no 402 here (CR-97)')
  t.match(short.body.data, { value: false, reason: 'Insufficient credits', company_id: company.id })
  t.notOk(short.body.data.reservation)
  t.match((await ask({ preflight: { usage: 100 } })).body.data, {
    value: false,
    reason: 'Insufficient credits',
  })
  await world.track(subtype, company.keys, { quantity: 2, reservation_id: reservation.id })
  t.same(await world.balance(company.id, credit.id), [7.5, 32.5, 40], 'CR-81 settled')
  t.match(
    (await ask({ preflight: { credit_cost: { [credit.id]: 0 } } })).body.data,
    { value: true },
    '0 is free',
  )
  t.same(await world.balance(company.id, credit.id), [7.5, 32.5, 40])

  t.equal((await client.post('/flags/nothing/check-and-reserve', { company: company.keys })).status, 404)
  t.equal((await ask({ quantity: 1, expires_at: '2020-01-01T00:00:00Z' })).status, 400)
  t.equal((await ask({ quantity: -1 })).status, 400)
  const unknown = await client.ok('POST', path, { company: { slug: 'nobody' } })
  t.match(unknown, { value: false, reason: 'Company not found', company_id: null })
  const environment = await client.ok('POST', '/environments', { name: 'S', environment_type: 'staging' })
  const publishable = environment.api_keys.find((key: { secret?: string }) => key.secret)
  t.equal((await client.as(publishable.secret).post(path, {})).status, 403, 'a secret key is needed')
  await world.agrees(t, company.id, credit.id, 'CR-88 after holds of checks')
})

t.test('decision 33, CR-78 a lease that is open over a change of plan gives its rest back', async t => {
  const credit = await world.credit()
  const { plan } = await world.metered(credit.id, 1, [{ credit_amount: 100 }])
  const { subtype, plan: other } = await world.metered(credit.id, 1, [{ credit_amount: 80 }])
  const { id, keys } = await world.company({ base_plan_id: plan.id })
  const move = (planId: string) =>
    client.ok('POST', '/manage-plan', {
      company_id: id,
      base_plan_id: planId,
      add_on_selections: [],
      credit_bundles: [],
      pay_in_advance_entitlements: [],
      custom_field_values: [],
    })
  const lease = await client.ok('POST', '/billing/credits/lease', {
    company_id: id,
    credit_type_id: credit.id,
    requested_amount: 60,
  })
  t.same((await world.balance(id, credit.id)).slice(0, 2), [40, 60])
  await move(other.id)
  t.same((await world.balance(id, credit.id)).slice(0, 2), [20, 60], 'what is held counts as drawn')
  await world.track(subtype, keys, { quantity: 10, lease_id: lease.id })
  await client.ok('PUT', `/billing/credits/lease/${lease.id}/release`)
  t.same(await world.balance(id, credit.id), [70, 0, 70], 'ten were drawn, and nothing else')
  await world.agrees(t, id, credit.id, 'CR-88')
  await move(plan.id)
  t.same((await world.balance(id, credit.id))[0], 90)
  await move(other.id)
  t.same((await world.balance(id, credit.id))[0], 70, 'and no more after any number of changes')
  await world.agrees(t, id, credit.id, 'CR-88 after changes')
})

t.test('CR-85 100 checks at once for 10 credits: exactly 10 hold one', async t => {
  const credit = await world.credit()
  const { plan, flag } = await world.metered(credit.id, 1)
  const company = await world.company({ base_plan_id: plan.id })
  await world.grant(company.id, credit.id, 10)
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      client.ok('POST', `/flags/${flag.key}/check-and-reserve`, { company: company.keys }),
    ),
  )
  t.equal(answers.filter(one => one.value && one.reservation).length, 10)
  t.equal(answers.filter(one => !one.value && !one.reservation).length, 90)
  t.same(await world.balance(company.id, credit.id), [0, 10, 10])
})

t.test('CR-40…44 months pass: resets, rollovers that never roll twice, ends of holds', async t => {
  t.teardown(() => world.clock(null))
  const credit = await world.credit()
  const { subtype, plan } = await world.metered(credit.id, 1, [
    { credit_amount: 50, rollover_percentage: 25 },
  ])
  const begin = new Date()
  begin.setUTCFullYear(begin.getUTCFullYear() + 1, 0, 31)
  begin.setUTCHours(9, 0, 0, 0)
  const at = (month: number, day: number, hour = 9, minute = 0) =>
    new Date(Date.UTC(begin.getUTCFullYear(), month, day, hour, minute)).toISOString()
  await world.clock(at(0, 31))
  const company = await world.company({ base_plan_id: plan.id })
  const balance = () => world.balance(company.id, credit.id)
  t.same(await balance(), [50, 0, 50])
  await world.track(subtype, company.keys, { quantity: 17 })
  const lastDay = new Date(Date.UTC(begin.getUTCFullYear(), 2, 0)).getUTCDate()
  await world.clock(at(1, lastDay, 8, 59))
  t.same(await balance(), [33, 0, 33], 'one minute before')
  await world.clock(at(1, lastDay))
  t.same(await balance(), [58, 0, 58], 'CR-42 8 roll over, 25 are discarded')
  const rolled = (await world.grants(company.id)).find(one => one.grant_reason === 'rollover')
  t.match(rolled, { quantity: 8, expires_at: at(2, 31) }, 'CR-40 the 31st is back in March')
  t.ok(rolled.source_grant_id)
  await world.agrees(t, company.id, credit.id, 'CR-88 after the first reset')
  await world.track(subtype, company.keys, { quantity: 5 })
  t.match(
    (await world.grants(company.id)).find(one => one.id === rolled.id),
    { quantity_remaining: 3 },
    'CR-21 rollovers burn before plan grants',
  )
  const hold = await client.ok('POST', '/billing/credits/reservations', {
    company_id: company.id,
    credit_type_id: credit.id,
    amount: 10,
    expires_at: at(1, lastDay, 9, 30),
  })
  t.same(await balance(), [43, 10, 53])
  await world.clock(at(1, lastDay, 9, 30))
  t.same(await balance(), [53, 0, 53], 'CR-82 the hold ended to the minute')
  t.ok((await client.ok('PUT', `/billing/credits/reservations/${hold.id}/release`)).released_at)
  await world.clock(at(2, 31))
  t.same(await balance(), [62, 0, 62], 'CR-42 12 of 50, nothing of the rollover')
  await world.clock(at(5, 30))
  t.same(await balance(), [62, 0, 62], 'CR-44 missed resets are made up one by one')
  await world.agrees(t, company.id, credit.id, 'CR-88 after missed resets')
  const resets = await world.ledger(company.id, 'event_type=zero_out')
  t.ok(
    resets.some(one => one.zeroed_out_reason === 'plan_period_reset' && one.event_at === at(3, 30)),
    'CR-44',
  )
  t.ok(
    resets.some(one => one.zeroed_out_reason === 'expired'),
    'CR-33',
  )
})
