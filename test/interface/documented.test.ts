// The check of every answer against the specification (test/documented.ts, by the harness), and answers that no other
// test asks for.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { publishedPlan } from '../control/planned.js'
import { endpointOf, endpoints, faultsOf } from '../documented.js'
import { startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

t.test('a member too few, one too many, one of another kind', async t => {
  t.equal(endpoints.length, 247)
  t.equal(endpointOf('GET', '/companies/count?q=x')?.data, 'CountResponse')
  t.equal(endpointOf('GET', '/companies/comp_1')?.path, '/companies/{company_id}')
  t.equal(endpointOf('GET', '/health/ready'), null)
  const users = endpointOf('GET', '/users/count')!
  const count = (data: unknown, more: object = {}) => faultsOf(users, { data, params: {}, ...more })
  t.same(count({ count: 1 }), [])
  t.same(count({ count: 1, total: 1 }), ['data.total undocumented'])
  t.same(count({ count: '1' }), ['data.count is "1", not a long'])
  t.same(count({ count: 1 }, { extra: 1 }), ['extra undocumented'])
  t.same(faultsOf(users, { data: {} }), ['params missing'])
  const memberships = endpointOf('GET', '/company-memberships')!
  const at = '2026-01-01T00:00:00.000Z'
  const membership = { id: 'a', company_id: 'b', user_id: 'c', created_at: at, updated_at: at }
  const list = (one: object) => faultsOf(memberships, { data: [membership, one], params: {} })
  t.same(list(membership), [])
  t.same(list({ ...membership, id: null, updated_at: '2026' }), [
    'data[].id is null',
    'data[].updated_at is "2026", not a datetime',
  ])
  t.same(list({ ...membership, company: {} }).length, 5, 'also further in')
})

t.test('answers that no other test asks for', async t => {
  const directory = await temporaryDirectory(t)
  const members = join(directory, 'members.json')
  await writeFile(members, JSON.stringify([{ email: 'ada@example.com', name: 'Ada', role: 'admin' }]))
  const { client, tollgate } = await startHere(t, { TOLLGATE_MEMBERS_FILE: members })
  const { sql } = tollgate.services

  await t.test('members, keys, environments', async t => {
    const [ada] = await client.ok('GET', '/account-members')
    t.match(await client.ok('GET', `/account-members/${ada.id}`), { email: 'ada@example.com', role: 'admin' })
    const key = await client.ok('POST', '/api-keys', { name: 'one' })
    t.match(await client.ok('PUT', `/api-keys/${key.id}`, { name: 'two' }), { name: 'two' })
    t.ok((await client.ok('GET', '/api-keys/count?require_environment=true')).count >= 2)
    const environment = await client.ok('POST', '/environments', { name: 'e', environment_type: 'staging' })
    t.match(await client.ok('PUT', `/environments/${environment.id}`, { name: 'f' }), { name: 'f' })
  })

  await t.test('trait definitions, licences, linked features, spend policies', async t => {
    const trait = { entity_type: 'company', trait_type: 'string', hierarchy: ['region'] }
    const { id } = await client.ok('POST', '/entity-trait-definitions', trait)
    t.match(await client.ok('GET', `/entity-trait-definitions/${id}/usage`), { feature_count: 0 })
    t.same(await client.ok('DELETE', `/entity-trait-definitions/${id}`), { deleted: true })
    await client.ok('POST', '/features', { name: 'Seats', description: '', feature_type: 'license' })
    const [licence] = await client.ok('GET', '/licenses')
    t.match(await client.ok('GET', `/licenses/${licence.id}`), { id: licence.id })
    const linked = { name: 'Linked', description: '', feature_type: 'boolean' }
    const resource = { billing_provider: 'psp', external_resource_id: 'prod_1' }
    t.match(await client.ok('POST', '/features/billing-linked', { ...linked, ...resource }), {
      name: 'Linked',
    })
    const credit = await client.ok('POST', '/billing/credits', {
      name: 'c',
      description: '',
      currency: 'usd',
    })
    const company = await client.ok('POST', '/companies', { keys: { slug: 'acme' } })
    const policy = { billing_credit_id: credit.id, max_per_draw: 10, company_id: company.id }
    const made = await client.ok('POST', '/billing/credits/spend-policies', policy)
    t.match(await client.ok('GET', `/billing/credits/spend-policies/${made.id}`), { max_per_draw: 10 })
  })

  await t.test('migrations that are tried again', async t => {
    const plan = await publishedPlan(client, 'Pro')
    const { id } = await client.ok('POST', '/companies', { keys: { slug: 'mover' }, base_plan_id: plan.id })
    const feature = await client.ok('POST', '/features', {
      name: 'F',
      description: '',
      feature_type: 'boolean',
    })
    const entitlement = { plan_id: plan.id, feature_id: feature.id, value_type: 'boolean', value_bool: true }
    await client.ok('POST', '/plan-entitlements', entitlement)
    const { draft_version: draft } = await client.ok('GET', `/plans/${plan.id}`)
    await client.ok('PUT', `/plans/version/${draft.id}/publish`, {
      migration_strategy: 'immediate',
      excluded_company_ids: [],
    })
    const [migration] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${draft.id}`)
    await client.ok('GET', `/plan-version-migrations/${migration.id}`) // makes the steps that are due
    const moved = async () =>
      (await client.ok('GET', `/plan-version-company-migrations?migration_id=${migration.id}`))[0]
    const failed = async () => {
      const { id } = await moved()
      await sql`update plan_version_company_migrations set status = 'failed', error_code = 'unknown' where id = ${id}`
    }
    t.match(await moved(), { company_id: id })
    await failed()
    const again = `/plan-version-company-migrations/${(await moved()).id}/retry`
    t.match(await client.ok('POST', again), { company_id: id })
    await failed()
    const all = await client.ok('POST', `/plan-version-migrations/${migration.id}/retry`, { error_codes: [] })
    t.match(all, { id: migration.id })
    t.match(await client.ok('GET', `/plan-version-migrations/${migration.id}`), { plan_id: plan.id })
  })
})
