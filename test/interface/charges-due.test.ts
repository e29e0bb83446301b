// Charges that follow a change are what POST /manage-plan/preview says is due.
import t from 'tap'
import { startHere } from '../harness.js'
import { ChargesWorld } from './charges-world.js'

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
    /** Change the plans; what it says is due, and what is charged, differ by the rounding of lines at most. */
    const change = async (id: string, what: string, body: object) => {
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
      // a credit that is left over is carried on
      const due = said.new_charges + said.proration
      t.ok(Math.abs(more - due) <= 2, `${what}: ${more} is charged, ${due} is said`)
      return { said, more }
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
    await change(whole, 'a whole period', { ...(await of(low)), ...(await some(low, 3)) })
    const cut = await change(short, 'until the anchor', { ...(await of(low)), ...anchor })
    t.equal(cut.more, Math.round((1001 * 10) / 31))
    const none = await change(free, 'free until the anchor', {
      ...(await of(low)),
      ...anchor,
      prorate_first_period: false,
    })
    t.equal(none.more, 0)
    await change(yearly, 'a month', await of(low))
    await here.clock('2031-02-05T09:00:00.000Z')
    await change(whole, 'more seats', { ...(await of(low)), ...(await some(low, 5)) })
    await change(short, 'seats before the anchor', { ...(await of(low)), ...(await some(low, 2)) })
    const beside = await change(free, 'seats in the free time', {
      ...(await of(low)),
      ...(await some(low, 2)),
    })
    t.equal(beside.more, 0)
    await change(yearly, 'a year in place of a month', await of(low, 'yearly'))
    await here.clock('2031-02-20T09:00:00.000Z')
    await change(whole, 'a higher plan', { ...(await of(high)), ...(await some(high, 5)) })
    t.equal(await charged(free), 1001 + 620, 'the first whole period')
    await change(free, 'a year after free time', await of(high, 'yearly'))
  },
)
