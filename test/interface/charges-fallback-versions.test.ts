// Use on the fallback plan is priced by the version that was the published one then (RA-6, EN-82).
import t from 'tap'
import { publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { offerPlans } from './billing-world.js'
import { ChargesWorld, told } from './charges-world.js'

t.test(
  'RA-6, EN-82 who has the fallback plan pays by the version published at the instant of use',
  async t => {
    const { client, tollgate } = await startHere(t)
    const world = await ChargesWorld.of(client)
    await world.clock('2031-07-01T00:00:00.000Z')
    const { id: feature_id } = await client.ok('POST', '/features', {
      name: 'calls',
      feature_type: 'event',
      event_subtype: 'call',
    })
    const plan = await client.ok('POST', '/plans', { name: 'Fallback', plan_type: 'plan' })
    const entitlement = await client.ok('POST', '/plan-entitlements', {
      plan_id: plan.id,
      feature_id,
      price_behavior: 'pay_as_you_go',
      monthly_unit_price: 3,
    })
    await publishDraftOf(client, plan.id)
    const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'falls' } })
    const lines = async () => told((await world.charges(company)).lines)
    await world.use('falls', 'call', 9)
    await world.clock('2031-07-02T00:00:00.000Z')
    await offerPlans(client, tollgate, { fallback: plan.id })
    t.same(await lines(), [], 'use before there was a fallback plan')
    await world.use('falls', 'call', 4)
    await world.clock('2031-07-10T00:00:00.000Z')
    t.same(await lines(), ['usage 4 12'])
    await client.ok('PUT', `/plan-entitlements/${entitlement.id}`, { monthly_unit_price: 5 })
    const { active_version: second } = await publishDraftOf(client, plan.id)
    t.same(await lines(), ['usage 4 12'], 'use before a version')
    await world.use('falls', 'call', 2)
    await world.clock('2031-07-20T00:00:00.000Z')
    t.same(await lines(), ['usage 4 12', 'usage 2 10'])
    await client.ok('DELETE', `/plans/version/${second.id}?promote_archived_version=true`)
    await world.use('falls', 'call', 1)
    await world.clock('2031-07-21T00:00:00.000Z')
    t.same(
      await lines(),
      ['usage 4 12', 'usage 2 10', 'usage 1 3'],
      'an archived version that is in force again',
    )
  },
)
