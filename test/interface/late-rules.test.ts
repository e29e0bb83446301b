// Rules about events that come after something has changed: a repeat, a new rate, a deleted company.
import t from 'tap'
import { startHere } from '../harness.js'
import { CreditWorld } from './credit-world.js'

t.test('rules added later', async t => {
  const { client } = await startHere(t)
  const world = new CreditWorld(client)

  await t.test('CR-92 a repeated event draws once', async t => {
    const credit = await world.credit()
    const { subtype, plan } = await world.metered(credit.id, 2)
    const { id, keys } = await world.company({ base_plan_id: plan.id })
    await world.grant(id, credit.id, 100)
    for (let i = 0; i < 3; i++)
      await world.track(subtype, keys, { quantity: 5 }, { idempotency_key: 'draw-1' })
    t.same(await world.balance(id, credit.id), [90, 0, 90])
    await world.track(subtype, keys, { quantity: 5 }, { idempotency_key: 'draw-2' })
    t.same(await world.balance(id, credit.id), [80, 0, 80])
  })

  await t.test('EN-46 a new rate applies to later draws and to no earlier one', async t => {
    const credit = await world.credit()
    const { subtype, feature, plan } = await world.metered(credit.id, 2)
    const { id, keys } = await world.company({ base_plan_id: plan.id })
    await world.grant(id, credit.id, 100)
    await world.track(subtype, keys)
    await client.ok('POST', '/company-overrides', {
      company_id: id,
      feature_id: feature.id,
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: 1,
    })
    await world.track(subtype, keys)
    const drawn = (await world.ledger(id)).filter(entry => entry.usage_reason === 'track')
    t.same(drawn.map(entry => entry.quantity_consumed).sort(), [1, 2])
    t.same(await world.balance(id, credit.id), [97, 0, 97])
  })

  await t.test('CU-53 events before a deletion are recorded, later ones make a new company', async t => {
    const { id, keys } = await world.company()
    const before = await world.track('late_use', keys)
    await client.ok('DELETE', `/companies/${id}`)
    const after = await world.track('late_use', keys)
    const [first, second] = [
      await client.ok('GET', `/events/${before.event_id}`),
      await client.ok('GET', `/events/${after.event_id}`),
    ]
    t.equal(first.company_id, id)
    t.not(second.company_id, id)
    const made = await client.ok('GET', `/companies/${second.company_id}`)
    t.match(made.keys, [{ key: 'slug', value: keys.slug }])
    t.match(made.metrics, [{ event_subtype: 'late_use', value: 1 }], 'without the history of the other')
  })
})
