// A coupon for one charge, of a subscription that sells a trait by use: former values are not kept for ever (RA-16, EX-7).
import t from 'tap'
import { pruneHistory } from '../../src/control/jobs/prune-history.js'
import { startHere } from '../harness.js'
import { ChargesWorld, told } from './charges-world.js'

t.test(
  'RA-16 once is off the first charge alone, also when the value that it was for is removed',
  async t => {
    const { client, tollgate } = await startHere(t)
    const here = await ChargesWorld.of(client)
    await here.clock('2031-01-01T00:00:00.000Z')
    const trait = { entity_type: 'company', hierarchy: ['stored'], trait_type: 'number' }
    const { id: trait_id } = await client.ok('POST', '/entity-trait-definitions', trait)
    const feature = { name: 'stored', description: '', feature_type: 'trait', trait_id }
    const { id: feature_id } = await client.ok('POST', '/features', feature)
    const byTrait = { feature_id, value_type: 'unlimited', price_behavior: 'pay_as_you_go' }
    const plan = await here.sold('Stored', [{ ...byTrait, monthly_unit_price: 4 }], { monthly_price: 0 })
    const coupon = { external_id: 'half', name: 'Half', duration: 'once', percent_off: 50, amount_off: 0 }
    const counts = { duration_in_months: 0, max_redemptions: 0, times_redeemed: 0 }
    await client.ok('POST', '/billing/coupons', { ...coupon, ...counts })
    const company = await here.subscribed('stores', plan, { coupon_external_id: 'half' })
    const store = (set: string) =>
      client.ok('POST', '/company-traits', { keys: { slug: 'stores' }, trait: 'stored', set })
    /** The lines of the month before that cost something. */
    const month = async () => told((await here.closed(company)).lines).filter(line => !line.endsWith(' 0'))
    await store('5')
    await here.clock('2031-02-01T00:00:00.000Z')
    t.same((await month()).sort(), ['discount 5 -10', 'usage 5 20'])
    await store('0')
    await here.clock('2032-06-01T00:00:00.000Z')
    t.same(await month(), [])
    await store('7')
    await pruneHistory(tollgate.services.sql, Date.parse('2032-06-02T00:00:00.000Z'))
    t.same(
      told((await here.charges(company)).lines).filter(line => !line.endsWith(' 0')),
      ['usage 7 28'],
    )
    await here.clock('2032-07-01T00:00:00.000Z')
    t.same(await month(), ['usage 7 28'])
  },
)
