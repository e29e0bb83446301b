// Bounds that hold on every way in, over a whole Tollgate: pages, limits, entities, environments (security 5, 7, 21, 34).
import t from 'tap'
import { startHere } from '../harness.js'

t.setTimeout(240_000)

const { client } = await startHere(t, { TOLLGATE_LIMITS: '{"global":[1000000,1000000]}' })

t.test('security 34 a page with a filter that lies far away is refused with the bound', async t => {
  const plan = await client.ok('POST', '/plans', { name: 'Pro', description: '', plan_type: 'plan' })
  for (const path of [
    `/companies?plan_id=${plan.id}`,
    '/companies?q=a',
    '/users?q=a',
    '/events?event_types=track',
  ]) {
    t.match(await client.get(`${path}&offset=100001`), { status: 400, body: { error: /offset.*100000/ } })
    t.equal((await client.get(`${path}&offset=100000`)).status, 200, path)
  }
  t.equal((await client.get('/companies?offset=100001')).status, 200, 'without a filter any page is near')
})

t.test('security 21 PUT /limits cannot lock its caller out', async t => {
  const tight = { limits: { global: [0.000001, 1], mutation: [0.000001, 1] } }
  await client.ok('PUT', '/limits', tight)
  for (let i = 0; i < 3; i++) await client.ok('PUT', '/limits', tight)
  await client.get('/companies')
  t.equal((await client.get('/companies')).status, 429)
  t.same((await client.ok('GET', '/limits')).limits, tight.limits)
  await client.ok('PUT', '/limits', { limits: null })
  t.equal((await client.get('/companies')).status, 200)
})
