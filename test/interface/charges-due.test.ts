// Charges that follow a change are what POST /manage-plan/preview says is due.
import t from 'tap'
import { startHere } from '../harness.js'
import { ChargesWorld, told } from './charges-world.js'

t.test(
  'PB-33, RA-13, RA-14 what a preview says is due is what is charged, where the plan group prorates',
  async t => {
    const own = await startHere(t)
    const here = await ChargesWorld.of(own.client)
    await own.client.ok('POST', '/plan-groups', { proration_behavior: 'create_prorations' })
    await here.clock('2031-01-31T09:00:00.000Z')
    const seats = await own.client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
    const seat = {
      feature_id: seats.id,
      price_behavior: 'pay_in_advance',
      monthly_unit_price: 310,
      yearly_unit_price: 3650,
    }
    const prices = { monthly_price: 1001, yearly_price: 10_007 }
    const low = await here.sold('Low', [seat], prices)
    const high = await here.sold('High', [seat], { monthly_price: 2003, yearly_price: 20_011 })
    const priceOf = async (plan: { id: string }, name: string) =>
      (await own.client.ok('GET', `/plans/${plan.id}`))[`${name}_price`].id
    const seatPrice = async (plan: { id: string }) =>
      (await own.client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`))[0].metered_monthly_price.id
    const charged = async (id: string): Promise<number> =>
      (await here.charges(id)).totals.reduce((sum: number, one: { amount: number }) => sum + one.amount, 0)
    let made = 0
    const company = async () =>
      (await own.client.ok('POST', '/companies', { keys: { slug: `due${++made}` } })).id as string
    /** Change the plans: so much is charged, worked out by hand, and it is what the preview says. */
    const change = async (id: string, what: string, wantedMore: number, body: object) => {
      const before = await charged(id)
      const wanted = {
        company_id: id,
        add_on_selections: [],
        pay_in_advance_entitlements: [],
        credit_bundles: [],
        custom_field_values: [],
        ...body,
      }
      const { subscription_change_preview: said } = await own.client.ok(
        'POST',
        '/manage-plan/preview',
        wanted,
      )
      await own.client.ok('POST', '/manage-plan', wanted)
      const more = (await charged(id)) - before
      t.equal(more, wantedMore, `${what}: charged`)
      // a credit that is left over is carried on
      t.equal(said.new_charges + said.proration, wantedMore, `${what}: said`)
    }
    const of = async (plan: { id: string }, name = 'monthly') => ({
      base_plan_id: plan.id,
      base_plan_price_id: await priceOf(plan, name),
    })
    const some = async (plan: { id: string }, quantity: number) => ({
      pay_in_advance_entitlements: [{ price_id: await seatPrice(plan), quantity }],
    })
    const anchor = { billing_cycle_anchor: '2031-02-10T09:00:00Z' }
    const [whole, short, free, yearly] = [await company(), await company(), await company(), await company()]
    await change(whole, 'a whole period', 1001 + 930, { ...(await of(low)), ...(await some(low, 3)) })
    await change(short, 'until the anchor', Math.round((1001 * 10) / 31), {
      ...(await of(low)),
      ...anchor,
    })
    await change(free, 'free until the anchor', 0, {
      ...(await of(low)),
      ...anchor,
      prorate_first_period: false,
    })
    await change(yearly, 'a month', 1001, await of(low))
    await here.clock('2031-02-05T09:00:00.000Z')
    await change(whole, 'more seats', Math.round((620 * 23) / 28), {
      ...(await of(low)),
      ...(await some(low, 5)),
    })
    await change(short, 'seats before the anchor', 100, { ...(await of(low)), ...(await some(low, 2)) })
    await change(free, 'seats in the free time', 0, { ...(await of(low)), ...(await some(low, 2)) })
    // 360 of 365 days of the year, less 23 of 28 days of the month
    await change(yearly, 'a year in place of a month', 9870 - 822, await of(low, 'yearly'))
    await here.clock('2031-02-20T09:00:00.000Z')
    await change(whole, 'a higher plan', 572 - 286, { ...(await of(high)), ...(await some(high, 5)) })
    t.equal(await charged(free), 1001 + 620, 'the first whole period')
    // 355 of 365 days of the year, less 18 of 28 days of the month
    await change(free, 'a year after free time', 19_463 - 644 - 399, await of(high, 'yearly'))
  },
)

t.test(
  'RA-29 a change that is not prorated is neither charged nor credited in the running period',
  async t => {
    const own = await startHere(t)
    const { client } = own
    const here = await ChargesWorld.of(client)
    await client.ok('POST', '/plan-groups', { proration_behavior: 'create_prorations' })
    await here.clock('2031-04-01T00:00:00.000Z')
    const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
    const seat = { feature_id: seats.id, price_behavior: 'pay_in_advance', monthly_unit_price: 300 }
    const low = await here.sold('Low', [seat], { monthly_price: 1000, yearly_price: 9000 })
    const high = await here.sold('High', [], { monthly_price: 3000 })
    const [{ metered_monthly_price: price }] = await client.ok('GET', `/plan-entitlements?plan_id=${low.id}`)
    const yearly = (await client.ok('GET', `/plans/${low.id}`)).yearly_price.id
    const of = (plan: typeof low, more: object = {}) => ({
      base_plan_id: plan.id,
      base_plan_price_id: plan.monthly_price.id,
      ...more,
    })
    const some = (quantity: number) => ({ pay_in_advance_entitlements: [{ price_id: price.id, quantity }] })
    const lines = async (id: string, period = 'current'): Promise<string[]> =>
      told((await here.charges(id, period)).lines)
    const named = async (name: string) => here.subscribed(name, low, some(2))
    const start = ['recurring 1 1000', 'seat 2 600']
    const [up, seat2, over, year, moved, published, restarts] = [
      await named('up'),
      await named('seats'),
      await named('over'),
      await named('year'),
      await named('moved'),
      await named('published'),
      await here.subscribed('restarts', high),
    ]
    await here.clock('2031-04-16T00:00:00.000Z')

    await here.manage(up, of(high, { prorate: false }))
    t.same(await lines(up), start, 'a higher plan')
    await here.manage(seat2, of(low, { ...some(5), prorate: false }))
    t.same(await lines(seat2), start, 'more seats')
    await client.ok('POST', '/manage-plan/subscription/cancel', { company_id: over, prorate: false })
    t.same(await lines(over, '2031-04-01T00:00:00.000Z'), start, 'an end')
    t.same(await lines(over), [], 'and nothing in the period that begins')
    await here.manage(year, { ...of(low), base_plan_price_id: yearly, prorate: false })
    t.same(
      await lines(year),
      [...start, `recurring 1 ${9000 - Math.round((9000 * 15) / 366)}`],
      'a longer period',
    )
    await here.manage(restarts, of(low, { prorate: false }))
    t.same(await lines(restarts), ['recurring 1 1000'], 'a period that begins is charged')
    const none = { proration_behavior: 'none' }
    const company_ids = [moved]
    const move = { plan_id: high.id, filter: { company_ids }, when: 'now', ...none }
    const made = await client.ok('POST', '/plan-moves', move)
    t.match((await client.ok('GET', `/companies/${moved}`)).plan, { id: high.id })
    t.same(await lines(moved), start, 'a move')

    await here.clock('2031-04-21T00:00:00.000Z')
    await here.manage(up, of(low, some(2)))
    t.match(
      await lines(up),
      ['recurring 1 1000', 'seat 2 600'],
      'what was not charged is not credited when a period ends early',
    )
    await here.manage(seat2, of(low, some(6)))
    t.same(await lines(seat2), [...start, 'seat 1 100'], 'one seat for a third of the period')
    await here.clock('2031-04-22T00:00:00.000Z')
    await here.manage(seat2, of(low, some(1)))
    t.same(
      await lines(seat2),
      [...start, 'seat 1 100', 'seat -2 -180'],
      'of five seats that go, two were paid for: 2 × 300 × 9 of 30 days',
    )
    await client.ok('POST', `/plan-moves/${made.id}/revert`)
    t.match((await client.ok('GET', `/companies/${moved}`)).plan, { id: low.id })
    t.same(await lines(moved), start, 'and its way back')
    await client.ok('PUT', `/plans/${low.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      monthly_price: 2000,
      yearly_price: 9000,
    })
    const { draft_version: draft } = await client.ok('GET', `/plans/${low.id}`)
    await client.ok('PUT', `/plans/version/${draft.id}/publish`, {
      excluded_company_ids: [up, seat2, year, restarts, moved],
      migration_strategy: 'immediate',
      ...none,
    })
    t.match((await client.ok('GET', `/companies/${published}`)).plan, { plan_version_id: draft.id })
    t.same(await lines(published), start, 'a publish')
    await here.clock('2031-05-01T00:00:00.000Z')
    t.same(
      await lines(published),
      ['recurring 1 2000', 'seat 2 600'],
      'its prices count from the next period',
    )
  },
)

t.test('RA-16 a coupon that is redeemed with a subscription is off its first period', async t => {
  const { client } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await here.clock('2031-04-01T09:00:00.789Z')
  const plan = await here.sold('Low', [], { monthly_price: 1000 })
  const once = {
    amount_off: 0,
    duration: 'once',
    duration_in_months: 0,
    max_redemptions: 0,
    times_redeemed: 0,
  }
  await client.ok('POST', '/billing/coupons', { ...once, external_id: 'half', name: 'Half', percent_off: 50 })
  const lines = async (id: string) => told((await here.charges(id)).lines)
  const [half, same, other, falls] = [
    await here.subscribed('half', plan, { coupon_external_id: 'half' }),
    await here.subscribed('same', plan, { coupon_external_id: 'half' }),
    await here.subscribed('other', plan, { coupon_external_id: 'half' }),
    await here.subscribed('falls', plan),
  ]
  const start = ['discount 1 -500', 'recurring 1 1000']
  t.same(await lines(half), start)
  await here.clock('2031-04-10T12:00:00.500Z')
  await client.ok('POST', '/billing/coupons', { ...once, external_id: 'tenth', name: 'T', percent_off: 10 })
  const again = { base_plan_id: plan.id, base_plan_price_id: plan.monthly_price.id }
  await here.manage(same, { ...again, coupon_external_id: 'half' })
  t.same(await lines(same), start, 'the same coupon again')
  await here.manage(other, { ...again, coupon_external_id: 'tenth' })
  t.same(await lines(other), start, 'another coupon takes nothing back')
  const { billing_subscription: subscription } = await client.ok('GET', `/companies/${other}`)
  t.match(subscription.discounts, [
    { coupon_name: 'Half', is_active: false, ended_at: '2031-04-10T12:00:00.000Z' },
    { coupon_name: 'T', is_active: true, ended_at: null },
  ])
  await client.ok('POST', '/plan-groups', { scheduled_downgrade_behavior: 'end_of_billing_period' })
  const low = await here.sold('Lower', [], { monthly_price: 600 })
  await here.manage(falls, {
    base_plan_id: low.id,
    base_plan_price_id: low.monthly_price.id,
    coupon_external_id: 'half',
  })
  const trial = { is_trialable: true, trial_days: 45, monthly_price: 1000 }
  const tried = await here.subscribed('tried', await here.sold('Tried', [], trial), {
    coupon_external_id: 'half',
  })
  await here.clock('2031-05-01T09:00:00.000Z')
  t.same(await lines(half), ['recurring 1 1000'])
  t.same(await lines(same), ['recurring 1 1000'], 'a coupon that goes on does not begin anew')
  t.same(await lines(other), ['discount 1 -100', 'recurring 1 1000'])
  t.same(await lines(falls), ['discount 1 -300', 'recurring 1 600'], 'redeemed with a downgrade that waits')
  await here.clock('2031-05-25T12:00:00.000Z')
  t.same(await lines(tried), start, 'redeemed with a trial')
  await here.clock('2031-06-25T12:00:00.000Z')
  t.same(await lines(tried), ['recurring 1 1000'])
})

t.test('PB-33, RA-13 a period that a downgrade begins inside a second is charged once', async t => {
  const { client } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await here.clock('2031-04-01T00:00:00.250Z')
  await client.ok('POST', '/plan-groups', { proration_behavior: 'create_prorations' })
  const [low, high] = [
    await here.sold('Low', [], { monthly_price: 1000 }),
    await here.sold('High', [], { monthly_price: 3000 }),
  ]
  const id = await here.subscribed('falls', high)
  await here.clock('2031-04-16T00:00:00.750Z')
  await here.manage(id, { base_plan_id: low.id, base_plan_price_id: low.monthly_price.id })
  t.same(told((await here.charges(id, '2031-04-01T00:00:00.000Z')).lines), ['recurring 1 3000'])
  t.same(told((await here.charges(id)).lines), ['recurring 1 1000', 'recurring -1 -1500'])
})

t.test('RA-14 a plan group that comes later credits nothing that was changed before', async t => {
  const { client } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await here.clock('2031-01-01T00:00:00.000Z')
  const { id: feature_id } = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
  const seat = { feature_id, price_behavior: 'pay_in_advance', monthly_unit_price: 310 }
  const plan = await here.sold('Low', [seat], { monthly_price: 1000 })
  const [entitlement] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
  const price_id = entitlement.metered_monthly_price.id
  const some = (quantity: number) => ({
    base_plan_id: plan.id,
    base_plan_price_id: plan.monthly_price.id,
    pay_in_advance_entitlements: [{ price_id, quantity }],
  })
  const lines = async (id: string) => told((await here.charges(id)).lines).sort()
  const before = await here.subscribed('before', plan, some(4))
  const after = await here.subscribed('after', plan, some(4))
  await here.clock('2031-01-11T00:00:00.000Z')
  await here.manage(before, some(1))
  const whole = ['recurring 1 1000', 'seat 4 1240']
  t.same(await lines(before), whole)
  await here.clock('2031-01-21T00:00:00.000Z')
  await client.ok('POST', '/plan-groups', { proration_behavior: 'create_prorations' })
  t.same(await lines(before), whole, 'a change without a plan group')
  await here.manage(after, some(1))
  // 3 seats for 11 of 31 days
  t.same(await lines(after), ['recurring 1 1000', 'seat -3 -330', 'seat 4 1240'])
})
