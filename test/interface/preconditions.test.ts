// Lost updates (decision 38): every write of a definition whose read has an ETag honours If-Match. Held over the route table.
import t from 'tap'
import { taggedRead, titleOf } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { startHere } from '../harness.js'
import { times } from '../random.js'
import { type UpdateCase, updateCases } from './update-cases.js'

t.setTimeout(times(600_000))

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

/** A body that changes the definition, another for each number. */
const changes: Readonly<Record<string, (n: number, said: Body) => object>> = {
  'PUT /companies/{company_id}/billing-details': n => ({ email: `mail${n}@acme.example` }),
  'PUT /limits': n => ({ limits: { global: [1_000_000, 2_000_000 + n] } }),
  'PUT /model-prices': n => [
    {
      provider: 'p',
      model: 'm',
      currency: 'usd',
      effective_at: '2031-01-01T00:00:00Z',
      input: `${n}`,
      output: '1',
    },
  ],
  'PUT /billing/credits/bundles/{bundle_id}': n => ({ bundle_name: `Bundle ${n}` }),
  'PUT /billing/credits/plan-grants/{plan_grant_id}': n => ({ credit_amount: 100 + n }),
  'PUT /billing/credits/spend-policies/{spend_policy_id}': n => ({ label: `label ${n}` }),
  'PUT /billing/credits/{credit_id}': n => ({ description: `text ${n}` }),
  'PUT /entity-trait-definitions/{entity_trait_definition_id}': n => ({ display_name: `Name ${n}` }),
  'PUT /features/{feature_id}': n => ({ description: `text ${n}` }),
  'PUT /flags/{flag_id}': n => ({ description: `text ${n}` }),
  'PUT /flags/{flag_id}/rules': (n, { rules }) => ({
    rules: rules.map((rule: Body) => ({ ...rule, name: `rule ${n}` })),
  }),
  'PUT /plan-bundles/{plan_id}': n => ({ plan: { name: 'Pro', description: `text ${n}` } }),
  'PUT /plan-entitlements/{plan_entitlement_id}': n => ({ soft_limit: 100 + n }),
  'PUT /plan-groups/{plan_group_id}': (n, said) => ({ ...said, trial_days: n }),
  'PUT /plans/{plan_id}': n => ({ description: `text ${n}` }),
  'PUT /plans/{plan_id}/billing_products': (n, said) => ({ ...said, trial_days: n }),
  'PUT /webhooks/{webhook_id}': n => ({ name: `Hook ${n}` }),
}

const { client } = await startHere(t)
const cases = await updateCases(client)
const guarded = routes.filter(route => taggedRead(route, routes) !== null)
let next = 1

/** A list that is replaced as one. */
function whole(title: string): UpdateCase {
  const path = title.replace('PUT ', '')
  return { path, read: () => client.ok('GET', path), said: read => read }
}

/** Where a write's definition is read. */
function readOf(title: string, path: string): string {
  if (title.startsWith('PUT /plan-groups')) return '/plan-groups'
  return path.replace('/plan-bundles/', '/plans/').replace(/\/(rules|billing_products)$/, '')
}

async function tagAt(path: string): Promise<string> {
  const { status, headers } = await client.get(path)
  t.equal(status, 200, path)
  return headers.get('etag') ?? ''
}

t.test('decision 38: every tagged read has a write here, and the other way round', async t => {
  const puts = guarded.filter(({ method }) => method === 'put').map(titleOf)
  t.strictSame([...puts].sort(), Object.keys(changes).sort())
  for (const route of routes.filter(({ tagged }) => tagged))
    t.ok(
      guarded.some(one => taggedRead(one, routes) === route),
      titleOf(route),
    )
})

for (const [title, change] of Object.entries(changes))
  t.test(`decision 38: ${title} refuses a lost update, and one of parallel writes holds`, async t => {
    const [{ path, read, said } = whole(title)] = cases[title] as UpdateCase[]
    const at = readOf(title, path)
    const write = async (tag: string) =>
      client.put(path, change(next++, said(await read())), { 'If-Match': tag })
    const first = await tagAt(at)
    t.match(first, /^"[\w-]{20,}"$/, 'a strong tag')
    t.equal(await tagAt(at), first, 'the same while nothing changes')
    const made = await write(first)
    t.equal(made.status, 200, JSON.stringify(made.body.error))
    const second = await tagAt(at)
    t.not(second, first, 'another after a change')
    const lost = await write(first)
    t.equal(lost.status, 412)
    t.type(lost.body.error, 'string')
    t.equal(await tagAt(at), second, 'nothing was done')
    t.equal((await write(`"other", ${second}`)).status, 200, 'one of several tags')
    t.equal((await write('*')).status, 200)
    t.equal((await write('abc')).status, 400, 'no tag')
    const third = await tagAt(at)
    t.equal((await write(`W/${third}`)).status, 412, 'a weak tag is none')
    const bodies = await Promise.all(
      Array.from({ length: 5 }, async () => change(next++, said(await read()))),
    )
    const answers = await Promise.all(bodies.map(body => client.put(path, body, { 'If-Match': third })))
    t.strictSame(answers.map(({ status }) => status).sort(), [200, 412, 412, 412, 412])
  })

t.test('decision 38: a DELETE with an old tag deletes nothing; with the tag it is asked as ever', async t => {
  for (const route of guarded.filter(({ method }) => method === 'del')) {
    const title = titleOf(route)
    const known = cases[title.replace('DELETE', 'PUT')]?.at(-1)
    if (known === undefined) {
      t.fail(title)
      continue
    }
    const tag = await tagAt(known.path)
    t.equal((await client.del(known.path, { 'If-Match': '"old"' })).status, 412, title)
    t.equal(await tagAt(known.path), tag, title)
    const { status } = await client.del(known.path, { 'If-Match': tag })
    t.ok(status === 200 || status === 400, `${title} ${status}`)
  }
})

t.test('decision 38: a read with a query has no tag, nor has a list', async t => {
  const path = cases['PUT /features/{feature_id}']![1]!.path
  t.equal((await client.get('/features')).headers.get('etag'), null)
  const { headers } = await client.get(`${path}?strict=true`)
  t.equal(headers.get('etag'), null)
})

t.test(
  'decision 38: the tag of a published version has the edits that wait in the draft, and no use',
  async t => {
    const event = 'preconditions'
    const feature = await client.ok('POST', '/features', {
      name: event,
      event_subtype: event,
      flag: { key: event },
    })
    const kind = { name: 'Tagged', description: '', currency: 'usd' }
    const { id: credit_id } = await client.ok('POST', '/billing/credits', kind)
    const bundle = await client.ok('POST', '/billing/credits/bundles', {
      bundle_name: 'Tagged',
      credit_id,
      currency: 'usd',
      price_per_unit: 3,
      quantity: 10,
    })
    const made = await client.ok('POST', '/plans', {
      name: 'Tagged',
      plan_type: 'plan',
      billing_product: { monthly_price: 1000 },
      entitlements: [{ feature_id: feature.id, value_numeric: 5 }],
      credit_grants: [{ credit_id, credit_amount: 50 }],
    })
    await client.ok('PUT', `/plans/version/${made.draft_version.id}/publish`, {})
    const [entitlement] = await client.ok('GET', `/plan-entitlements?plan_id=${made.id}`)
    const [grant] = await client.ok('GET', `/billing/credits/plan-grants?plan_id=${made.id}`)
    const paths = {
      bundle: `/billing/credits/bundles/${bundle.id}`,
      credit: `/billing/credits/${credit_id}`,
      entitlement: `/plan-entitlements/${entitlement.id}`,
      feature: `/features/${feature.id}`,
      flag: `/flags/${feature.flags[0].id}`,
      grant: `/billing/credits/plan-grants/${grant.id}`,
      plan: `/plans/${made.id}`,
    }
    const tags = async () =>
      Object.fromEntries(
        await Promise.all(Object.entries(paths).map(async ([name, path]) => [name, await tagAt(path)])),
      )
    const before = await tags()
    const { id: company_id } = await client.ok('POST', '/companies', { keys: { slug: 'tagged' } })
    await client.ok('POST', '/manage-plan', {
      company_id,
      base_plan_id: made.id,
      add_on_selections: [],
      pay_in_advance_entitlements: [],
      credit_bundles: [{ bundle_id: bundle.id, quantity: 1 }],
    })
    await client.ok('POST', '/events', { event_type: 'track', body: { event, company: { slug: 'tagged' } } })
    await client.ok('POST', `/flags/${event}/check`, { company: { slug: 'tagged' } })
    const isCounted = async () => {
      const [shown, bought] = await Promise.all([
        client.ok('GET', paths.plan),
        client.ok('GET', paths.bundle),
      ])
      return shown.company_count === 1 && shown.billing_product.subscription_count === 1 && bought.has_grants
    }
    while (!(await isCounted())) await new Promise(resolve => setTimeout(resolve, 25))
    t.strictSame(await tags(), before, 'use moves no tag')

    const grantTag = before.grant!
    const entitlementTag = before.entitlement!
    const put = (path: string, body: object, tag: string) => client.put(path, body, { 'If-Match': tag })
    t.equal((await put(paths.entitlement, { value_numeric: 100 }, entitlementTag)).status, 200)
    t.equal(await tagAt(paths.grant), grantTag, 'a draft that others began')
    t.equal((await put(paths.grant, { credit_amount: 70 }, grantTag)).status, 200)
    for (const [path, tag, body] of [
      [paths.entitlement, entitlementTag, { value_numeric: 7 }],
      [paths.grant, grantTag, { credit_amount: 7 }],
    ] as const) {
      t.equal((await put(path, body, tag)).status, 412, path)
      t.equal((await client.del(path, { 'If-Match': tag })).status, 412, path)
      const now = await tagAt(path)
      t.not(now, tag)
      t.equal((await put(path, body, now)).status, 200)
      const removed = await tagAt(path)
      t.equal((await client.del(path, { 'If-Match': now })).status, 412)
      t.equal((await client.del(path, { 'If-Match': removed })).status, 200)
      t.not(await tagAt(path), removed, 'its removal waits')
    }
  },
)
