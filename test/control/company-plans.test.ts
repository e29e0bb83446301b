// The plans of a company over HTTP: set as a whole, refused as a whole, and the record of each change.
import t from 'tap'
import { type Client, startHere } from '../harness.js'
import { booleanFeature, publishDraftOf, publishedPlan } from './planned.js'
import { isShaped, shapes } from './shape.js'

const company = (client: Client, slug: string, more: object = {}) =>
  client.ok('POST', '/companies', { keys: { slug }, ...more })

t.test('PUT /company-plans', async t => {
  const { client } = await startHere(t)
  const dark = await booleanFeature(client, 'Dark mode')
  const granting = [{ feature_id: dark.id, value_type: 'boolean', value_bool: true }]
  const pro = await publishedPlan(client, 'Pro', granting)
  const basic = await publishedPlan(client, 'Basic')
  const addOn = await publishedPlan(client, 'Extra', [], { plan_type: 'add_on' })
  const more = await publishedPlan(client, 'More', [], { plan_type: 'add_on' })
  const acme = await company(client, 'acme')
  const put = (body: object, id = acme.id) => client.put(`/company-plans/${id}`, body)
  const check = () => client.ok('POST', '/flags/dark-mode/check', { company: { slug: 'acme' } })

  await t.test('EN-84, EN-86 the next check sees the plan', async t => {
    t.match(await check(), { value: false })
    const answer = await put({ base_plan_id: pro.id, add_on_ids: [addOn.id] })
    t.equal(answer.status, 200)
    t.match(answer.body.data, {
      id: acme.id,
      plan: { id: pro.id, plan_version_id: pro.active_version.id },
      add_ons: [{ id: addOn.id }],
    })
    t.match(await check(), { value: true })
    t.equal((await client.ok('GET', `/plans/${pro.id}`)).company_count, 1)
  })

  await t.test('PB-30, PB-34 the whole is replaced, and each change leaves a record', async t => {
    await put({ base_plan_id: basic.id, add_on_ids: [more.id] })
    await put({ base_plan_id: basic.id, add_on_ids: [more.id] })
    const changes = await client.ok('GET', `/plan-changes?company_id=${acme.id}`)
    t.equal(changes.length, 2, 'what changes nothing leaves none')
    isShaped(t, changes[0], shapes.planChange, 'PlanChange')
    isShaped(t, changes[0].base_plan, shapes.planSnapshot, 'PlanSnapshotView')
    isShaped(t, changes[0].base_plan_version, shapes.planVersionSnapshot, 'PlanVersionSnapshotView')
    t.match(changes[0], {
      id: /^plch_/,
      action: 'manage_plan',
      actor_type: 'api_key',
      base_plan: { id: basic.id, name: 'Basic', deleted: false },
      previous_base_plan: { id: pro.id, name: 'Pro' },
      previous_base_plan_version: { id: pro.active_version.id, version: 1 },
      add_ons_added: [{ id: more.id }],
      add_ons_removed: [{ id: addOn.id }],
      is_version_upgrade: false,
      base_plan_action: null,
      company: { id: acme.id },
    })
    const one = await client.ok('GET', `/plan-changes/${changes[0].id}`)
    // the key is in use meanwhile
    const { last_used_at } = one.api_key
    t.same(one, { ...changes[0], api_key: { ...changes[0].api_key, last_used_at } })
    t.equal((await client.get('/plan-changes/plch_none')).status, 404)
    t.equal((await client.ok('GET', '/plan-changes?action=migration')).length, 0)
    t.equal((await client.ok('GET', `/plan-changes?company_ids=${acme.id}&action=manage_plan`)).length, 2)
    t.equal((await client.get('/plan-changes?action=other')).status, 400)
  })

  await t.test('PB-13, PB-34, EN-84 what is refused changes nothing', async t => {
    const draft = await client.ok('POST', '/plans', { name: 'Draft', plan_type: 'plan' })
    const other = await company(client, 'other')
    const custom = await client.ok('POST', '/custom-plans', { company_id: other.id, name: 'Custom' })
    await publishDraftOf(client, custom.id)
    const paid = await client.ok('POST', '/plans', { name: 'Paid', plan_type: 'plan' })
    const costs = { charge_type: 'recurring', is_trialable: false, monthly_price: 5 }
    await client.ok('PUT', `/plans/${paid.id}/billing_products`, costs)
    await publishDraftOf(client, paid.id)
    t.equal((await put({ base_plan_id: draft.id, add_on_ids: [] })).status, 400, 'EN-84 no published version')
    t.equal((await put({ base_plan_id: addOn.id, add_on_ids: [] })).status, 400)
    t.equal((await put({ base_plan_id: pro.id, add_on_ids: [basic.id] })).status, 400)
    t.equal((await put({ base_plan_id: custom.id, add_on_ids: [] })).status, 400, 'PB-13')
    const linked = await put({ base_plan_id: paid.id, add_on_ids: [] })
    t.equal(linked.status, 400)
    t.match(linked.body.error, /manage-plan/)
    t.equal((await put({ base_plan_id: 'plan_none', add_on_ids: [] })).status, 404)
    t.equal((await put({ base_plan_id: pro.id, add_on_ids: ['plan_none'] })).status, 404)
    t.equal((await put({ base_plan_id: pro.id, add_on_ids: [] }, 'comp_none')).status, 404)
    t.match(await client.ok('GET', `/companies/${acme.id}`), {
      plan: { id: basic.id },
      add_ons: [{ id: more.id }],
    })
  })

  await t.test('PB-12 a plan of a company is not deleted; one that was left is', async t => {
    t.equal((await client.del(`/plans/${basic.id}`)).status, 400)
    await put({ base_plan_id: pro.id, add_on_ids: [] })
    t.equal((await client.del(`/plans/${basic.id}`)).status, 200)
    const [change] = await client.ok('GET', `/plan-changes?company_id=${acme.id}&limit=1`)
    t.match(change.previous_base_plan, { id: basic.id, name: 'Basic', deleted: true })
  })
})
