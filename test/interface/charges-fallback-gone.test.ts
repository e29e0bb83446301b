// A company on the fallback plan alone owes for its use when it is deleted (RA-18, RA-25).
import t from 'tap'
import { closeBilling } from '../../src/control/jobs/close-billing.js'
import { publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { offerPlans } from './billing-world.js'
import { ChargesWorld, told } from './charges-world.js'

t.test(
  'RA-18, RA-25 a company on the fallback plan alone that is deleted owes for its last month',
  async t => {
    const { client, tollgate } = await startHere(t)
    const { services } = tollgate
    const world = await ChargesWorld.of(client)
    await world.clock('2031-11-01T00:00:00.000Z')
    const trait = { entity_type: 'company', hierarchy: ['stored'], trait_type: 'number' }
    const { id: trait_id } = await client.ok('POST', '/entity-trait-definitions', trait)
    const stored = await client.ok('POST', '/features', {
      name: 'stored',
      description: '',
      feature_type: 'trait',
      trait_id,
    })
    const calls = await client.ok('POST', '/features', {
      name: 'calls',
      feature_type: 'event',
      event_subtype: 'call',
    })
    const plan = await client.ok('POST', '/plans', { name: 'By use', plan_type: 'plan' })
    for (const [feature_id, monthly_unit_price] of [
      [stored.id, 4],
      [calls.id, 3],
    ])
      await client.ok('POST', '/plan-entitlements', {
        plan_id: plan.id,
        feature_id,
        price_behavior: 'pay_as_you_go',
        monthly_unit_price,
      })
    await publishDraftOf(client, plan.id)
    const make = async (slug: string) => (await client.ok('POST', '/companies', { keys: { slug } })).id
    const use = async (slug: string) => {
      await client.ok('POST', '/company-traits', { keys: { slug }, trait: 'stored', set: '7.5' })
      await world.use(slug, 'call', 2)
    }
    const before = await make('before')
    await offerPlans(client, tollgate, { fallback: plan.id })
    const after = await make('after')
    await world.clock('2031-11-05T00:00:00.000Z')
    for (const slug of ['before', 'after']) await use(slug)
    await world.clock('2031-12-01T00:00:00.000Z')
    for (const id of [before, after])
      t.same(told((await world.closed(id)).lines).sort(), ['usage 2 6', 'usage 7 28'])
    await world.clock('2031-12-11T00:00:00.000Z')
    await world.use('after', 'call', 5)
    const brief = await make('brief')
    await use('brief')
    await world.clock('2031-12-12T00:00:00.000Z')
    for (const id of [before, after, brief]) await client.ok('DELETE', `/companies/${id}`)
    await services.projections.barrier('postgres')
    await closeBilling(services, [world.environmentId])
    const december = async (id: string) =>
      told(
        (await client.ok('GET', `/charges?company_ids=${id}`)).filter(
          (one: { period_start: string }) => one.period_start === '2031-12-01T00:00:00.000Z',
        ),
      ).sort()
    t.same(await december(before), ['usage 7 28'])
    t.same(await december(after), ['usage 5 15', 'usage 7 28'])
    t.same(await december(brief), ['usage 2 6', 'usage 7 28'])
    const periods =
      await services.sql`select start_ms from billing_periods where company_id in (${before}, ${after}, ${brief})`
    t.equal(periods.length, 5, 'two months of two companies, and one of the third')
  },
)
