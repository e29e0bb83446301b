// Coupons over time: the terms that a discount was redeemed with, and the one charge that `once` is for, over HTTP.
import t from 'tap'
import { eventFeature } from '../control/planned.js'
import { startHere } from '../harness.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'
import { ChargesWorld, metered, told } from './charges-world.js'

const coupon = { duration_in_months: 0, max_redemptions: 0, times_redeemed: 0 }

t.test('RA-16 a discount has the terms that its coupon had when it was redeemed', async t => {
  const { client } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await here.clock('2031-04-01T09:00:00.000Z')
  const plan = await here.sold('Low', [], { monthly_price: 1000 })
  const terms = { ...coupon, external_id: 'quarter', name: 'Quarter', duration: 'forever' }
  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 0, percent_off: 25 })
  const lines = async (id: string, period = 'current') => told((await here.charges(id, period)).lines)
  const start = ['discount 1 -250', 'recurring 1 1000']
  const early = await here.subscribed('early', plan, { coupon_external_id: 'quarter' })
  t.same(await lines(early), start)

  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 700, percent_off: 0 })
  const late = await here.subscribed('late', plan, { coupon_external_id: 'quarter' })
  const shown = async (id: string) =>
    (await client.ok('GET', `/companies/${id}`)).billing_subscription.discounts[0]
  const check = async (what: string) => {
    t.same(await lines(early), start, `${what}: redeemed before`)
    t.same(await lines(late), ['discount 1 -700', 'recurring 1 1000'], `${what}: redeemed with the new terms`)
    t.match(await shown(early), { percent_off: 25, amount_off: null, duration: 'forever' })
    t.match(await shown(late), { percent_off: null, amount_off: 700, duration: 'forever' })
  }
  await check('changed in the same instant')
  await here.clock('2031-04-10T09:00:00.000Z')
  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 1, percent_off: 0, duration: 'once' })
  await check('changed again')
  await here.clock('2031-06-01T09:00:00.000Z')
  await check('in a later period')
  await client.ok('DELETE', '/billing/coupons/quarter')
  await check('removed')
})

t.test('RA-16 a discount that a provider reports keeps its terms', async t => {
  const { client, tollgate } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {})
  await here.clock('2031-01-15T00:00:00.000Z')
  const plan = await linkedPlan(client, 'monthly')
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'reported' } })
  const terms = { ...coupon, external_id: 'some', name: 'Some', duration: 'forever', percent_off: 0 }
  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 100 })
  const report = (month: number, more: object) => {
    const [period_start, period_end] = [month, month + 1].map(n =>
      seconds(`2031-${String(n).padStart(2, '0')}-15T00:00:00Z`),
    )
    const all = { company_id: company, status: 'active', expired_at: null, period_start, period_end }
    return client.ok(
      'POST',
      '/billing/subscription/upsert',
      subscriptionBody('sub', company, [plan], { ...all, ...more }),
    )
  }
  const discounts = [
    {
      coupon_external_id: 'some',
      external_id: 'disc',
      is_active: true,
      started_at: '2031-01-15T00:00:00Z',
    },
  ]
  const lines = async () => told((await here.charges(company)).lines)
  await report(1, { discounts })
  t.same(await lines(), ['discount 1 -100', 'recurring 1 1000'])
  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 900 })
  t.same(await lines(), ['discount 1 -100', 'recurring 1 1000'], 'changed')
  await here.clock('2031-02-15T01:00:00.000Z')
  await report(2, { discounts })
  const { billing_subscription: shown } = await client.ok('GET', `/companies/${company}`)
  t.match(shown.discounts, [{ amount_off: 100 }])
  t.same(await lines(), ['discount 1 -100', 'recurring 1 1000'], 'reported again')
})

t.test(
  'RA-16 once is for the first charge after its redemption, whenever that is, and for no other',
  async t => {
    const { client } = await startHere(t)
    const here = await ChargesWorld.of(client)
    await here.clock('2031-03-01T00:00:00.000Z')
    await client.ok('POST', '/plan-groups', { proration_behavior: 'create_prorations' })
    const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
    const seat = { feature_id: seats.id, price_behavior: 'pay_in_advance', monthly_unit_price: 310 }
    const plan = await here.sold('Low', [{ ...seat, yearly_unit_price: 3650 }], {
      monthly_price: 1000,
      yearly_price: 12_000,
    })
    const yearly = await client.ok('GET', `/plans/${plan.id}`)
    const [entitlement] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
    const monthlySeat = entitlement.metered_monthly_price.id
    const once = { ...coupon, duration: 'once' }
    await client.ok('POST', '/billing/coupons', {
      ...once,
      external_id: 'half',
      name: 'H',
      percent_off: 50,
      amount_off: 0,
    })
    await client.ok('POST', '/billing/coupons', {
      ...once,
      external_id: 'some',
      name: 'S',
      amount_off: 300,
      percent_off: 0,
    })
    const lines = async (id: string, period = 'current') => told((await here.charges(id, period)).lines)
    const byYear = { base_plan_id: plan.id, base_plan_price_id: yearly.yearly_price.id }
    const byMonth = { base_plan_id: plan.id, base_plan_price_id: plan.monthly_price.id }
    const [year, changed, kept] = [
      await here.subscribed('year', plan, byYear),
      await here.subscribed('changed', plan),
      await here.subscribed('kept', plan),
    ]
    const two = { pay_in_advance_entitlements: [{ price_id: monthlySeat, quantity: 2 }] }

    await here.clock('2031-03-16T12:00:00.000Z')
    await here.manage(year, { ...byYear, coupon_external_id: 'half' })
    await here.manage(kept, { ...byMonth, coupon_external_id: 'half' })
    const redeems = { ...byMonth, ...two, coupon_external_id: 'some' }
    const { subscription_change_preview: said } = await client.ok('POST', '/manage-plan/preview', {
      company_id: changed,
      add_on_selections: [],
      credit_bundles: [],
      custom_field_values: [],
      ...redeems,
    })
    t.equal(said.due_now, 310 - 300, 'the preview knows it')
    await here.manage(changed, redeems)
    // two seats for half of March
    const inMarch = ['recurring 1 1000', 'discount 1 -300', 'seat 2 310'].sort()
    t.same((await lines(changed)).sort(), inMarch, 'the change that it came with')
    t.same(await lines(kept), ['recurring 1 1000'], 'what was charged before is not discounted')
    t.same(await lines(year), ['recurring 1 12000'])

    await here.clock('2031-04-01T00:00:00.000Z')
    t.same((await lines(changed)).sort(), ['recurring 1 1000', 'seat 2 620'], 'not the renewal too')
    t.same((await lines(kept)).sort(), ['discount 1 -500', 'recurring 1 1000'])
    await here.clock('2031-04-16T00:00:00.000Z')
    await here.manage(kept, { ...byMonth, ...two })
    const inApril = ['discount 1 -500', 'recurring 1 1000', 'seat 2 310']
    t.same((await lines(kept)).sort(), inApril, 'a later change in the same period is not discounted')

    await here.clock('2032-03-01T00:00:00.000Z')
    t.same((await lines(year)).sort(), ['discount 1 -6000', 'recurring 1 12000'], 'the renewal of a year')
    await here.manage(year, { ...byYear, coupon_external_id: 'half' })
    await here.clock('2033-03-01T00:00:00.000Z')
    t.same(await lines(year), ['recurring 1 12000'], 'named again it does not begin anew')
  },
)

t.test('RA-16, RA-29 a preview knows that use had a discount that is for once', async t => {
  const { client } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await here.clock('2031-03-01T00:00:00.000Z')
  const call = await eventFeature(client, 'call', 'call')
  const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
  const entitlements = [
    { feature_id: seats.id, price_behavior: 'pay_in_advance', yearly_unit_price: 3650 },
    {
      ...metered,
      feature_id: call.id,
      value_type: 'numeric',
      value_numeric: 1_000,
      price_behavior: 'overage',
      soft_limit: 0,
      overage_billing_cadence: 'monthly',
      overage_invoice_anchor: 'billing_period_start',
      yearly_unit_price: 10,
    },
  ]
  const plan = await here.sold('By year', entitlements, { yearly_price: 12_000 })
  const [seat] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}&feature_id=${seats.id}`)
  const half = { ...coupon, external_id: 'half', name: 'H', duration: 'once', percent_off: 50, amount_off: 0 }
  await client.ok('POST', '/billing/coupons', half)
  const base = { base_plan_id: plan.id, base_plan_price_id: plan.yearly_price.id }
  const more = {
    ...base,
    add_on_selections: [],
    credit_bundles: [],
    custom_field_values: [],
    pay_in_advance_entitlements: [{ price_id: seat.metered_yearly_price.id, quantity: 1 }],
  }
  const uses = { slug: 'uses', units: 6, charged: 3251 }
  const idle = { slug: 'idle', units: 0, charged: 1625 }
  const ids = new Map<string, string>()
  for (const { slug } of [uses, idle]) {
    const { id } = await client.ok('POST', '/companies', { keys: { slug } })
    await here.manage(id, base)
    ids.set(slug, id)
  }
  await here.clock('2031-03-10T00:00:00.000Z')
  for (const id of ids.values()) await here.manage(id, { ...base, coupon_external_id: 'half' })
  await here.use('uses', 'call', uses.units)
  await here.clock('2031-04-10T00:00:00.000Z')
  for (const { slug, units, charged } of [uses, idle]) {
    const company_id = ids.get(slug)!
    const sum = async () =>
      (await here.charges(company_id)).lines.reduce(
        (all: number, one: { amount: number }) => all + one.amount,
        0,
      )
    const before = await sum()
    t.equal(before, 12_000 + units * 5, slug)
    const { subscription_change_preview: said } = await client.ok('POST', '/manage-plan/preview', {
      company_id,
      ...more,
    })
    await here.manage(company_id, more)
    // a seat for 326 of 366 days
    t.equal((await sum()) - before, charged, `${slug}: charged`)
    t.equal(said.due_now, charged, `${slug}: said`)
  }
})

t.test('RA-16, RA-18 once is for the use of a trait as it was when its window closed', async t => {
  const { client } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await here.clock('2031-03-01T00:00:00.000Z')
  const trait = { entity_type: 'company', hierarchy: ['stored'], trait_type: 'number' }
  const { id: trait_id } = await client.ok('POST', '/entity-trait-definitions', trait)
  const stored = await client.ok('POST', '/features', { name: 'stored', feature_type: 'trait', trait_id })
  const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
  const entitlements = [
    { feature_id: seats.id, price_behavior: 'pay_in_advance', yearly_unit_price: 3660 },
    {
      feature_id: stored.id,
      value_type: 'numeric',
      value_numeric: 1_000,
      price_behavior: 'overage',
      soft_limit: 0,
      overage_billing_cadence: 'monthly',
      overage_invoice_anchor: 'month_end',
      yearly_unit_price: 10,
    },
  ]
  const plan = await here.sold('By year', entitlements, { yearly_price: 12_000 })
  const [seat] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}&feature_id=${seats.id}`)
  const half = { ...coupon, external_id: 'half', name: 'H', duration: 'once', percent_off: 50, amount_off: 0 }
  await client.ok('POST', '/billing/coupons', half)
  const base = { base_plan_id: plan.id, base_plan_price_id: plan.yearly_price.id }
  const companies = new Map<string, string>()
  for (const slug of ['first', 'later']) {
    const { id } = await client.ok('POST', '/companies', { keys: { slug } })
    await here.manage(id, base)
    companies.set(slug, id)
  }
  const store = (slug: string, set: string) =>
    client.ok('POST', '/company-traits', { keys: { slug }, trait: 'stored', set })
  const lines = async (slug: string) => told((await here.charges(companies.get(slug)!)).lines).sort()
  await here.clock('2031-03-10T00:00:00.000Z')
  for (const id of companies.values()) await here.manage(id, { ...base, coupon_external_id: 'half' })
  await store('first', '6')
  await here.clock('2031-04-05T00:00:00.000Z')
  await store('first', '0')
  await store('later', '8')
  await here.clock('2031-04-10T00:00:00.000Z')
  for (const id of companies.values())
    await here.manage(id, {
      ...base,
      pay_in_advance_entitlements: [{ price_id: seat.metered_yearly_price.id, quantity: 1 }],
    })
  // a seat for 326 of 366 days
  const march = ['overage 6 60', 'discount 6 -30']
  t.same(await lines('first'), ['recurring 1 12000', 'seat 1 3260', ...march].sort())
  t.same(
    await lines('later'),
    ['recurring 1 12000', 'seat 1 3260', 'discount 1 -1630', 'overage 8 80'].sort(),
    'nothing was stored in March',
  )
})

t.test('RA-16 a discount that a provider reports no more keeps what it took off', async t => {
  const { client, tollgate } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {})
  await here.clock('2031-01-15T00:00:00.000Z')
  const plan = await linkedPlan(client, 'monthly')
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'reported' } })
  const terms = { ...coupon, external_id: 'some', name: 'Some', duration: 'forever', percent_off: 0 }
  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 100 })
  const report = (month: number, discounts: readonly object[]) => {
    const [period_start, period_end] = [month, month + 1].map(n =>
      seconds(`2031-${String(n).padStart(2, '0')}-15T00:00:00Z`),
    )
    const all = {
      company_id: company,
      status: 'active',
      expired_at: null,
      period_start,
      period_end,
      discounts,
    }
    return client.ok('POST', '/billing/subscription/upsert', subscriptionBody('sub', company, [plan], all))
  }
  const started_at = '2031-01-15T00:00:00Z'
  const discount = { coupon_external_id: 'some', external_id: 'disc', is_active: true, started_at }
  const lines = async () => told((await here.charges(company)).lines)
  const off = ['discount 1 -100', 'recurring 1 1000']
  await report(1, [discount])
  t.same(await lines(), off)
  await here.clock('2031-01-20T00:00:00.000Z')
  const shown = async () => (await client.ok('GET', `/companies/${company}`)).billing_subscription.discounts
  t.match(await shown(), [{ discount_external_id: 'disc' }])
  await report(1, [])
  t.same(await shown(), [], 'it is shown no more')
  t.same(await lines(), off, 'what was charged with it')
  await report(1, [discount])
  await report(1, [])
  t.same(await lines(), off, 'reported by turns')
  await here.clock('2031-02-15T01:00:00.000Z')
  await report(2, [])
  t.same(await lines(), ['recurring 1 1000'], 'and nothing more')
  // one that is there again, and not with the renewal, of which the provider tells an hour later
  await here.clock('2031-02-20T00:00:00.000Z')
  await report(2, [{ ...discount, external_id: 'again', started_at: '2031-02-15T00:00:00Z' }])
  t.same(await lines(), off)
  await here.clock('2031-03-15T01:00:00.000Z')
  await report(3, [])
  t.same(await lines(), ['recurring 1 1000'])
  t.same(told((await here.charges(company, '2031-02-15T00:00:00.000Z')).lines), off)
})
