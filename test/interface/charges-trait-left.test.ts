// A trait that is sold by use counts as it was when its plan was left (RA-6, RA-18).
import t from 'tap'
import { startHere } from '../harness.js'
import { ChargesWorld, told } from './charges-world.js'

t.test('RA-6, RA-18 a trait counts as it was when the plan that sells it was left', async t => {
  const { client } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await world.clock('2031-01-01T00:00:00.000Z')
  const trait = { entity_type: 'company', hierarchy: ['stored'], trait_type: 'number' }
  const { id: trait_id } = await client.ok('POST', '/entity-trait-definitions', trait)
  const stored = await client.ok('POST', '/features', {
    name: 'stored',
    description: '',
    feature_type: 'trait',
    trait_id,
  })
  const byTrait = { feature_id: stored.id, value_type: 'unlimited', price_behavior: 'pay_as_you_go' }
  const metered = await world.sold('Metered', [{ ...byTrait, monthly_unit_price: 4 }], {
    monthly_price: 1000,
  })
  const flat = await world.sold('Flat', [], { monthly_price: 3100 })
  const company = await world.subscribed('leaves', metered)
  const store = (set: string) =>
    client.ok('POST', '/company-traits', { keys: { slug: 'leaves' }, trait: 'stored', set })
  await store('5')
  await world.clock('2031-01-11T00:00:00.000Z')
  await world.manage(company, { base_plan_id: flat.id, base_plan_price_id: flat.monthly_price.id })
  await world.clock('2031-01-20T00:00:00.000Z')
  await store('500')
  await world.clock('2031-02-01T00:00:00.000Z')
  const { lines } = await world.closed(company)
  t.same(
    told(lines).filter(line => line.startsWith('usage')),
    ['usage 5 20'],
  )
})
