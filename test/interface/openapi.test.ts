// Real answers against the document: whatever a first hour asks for has the shape that was promised.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { titleOf } from '../../src/front/http/routing/route.js'
import { openApi } from '../../src/serve/openapi/openapi.js'
import { routes } from '../../src/serve/routes.js'
import { startHere } from '../harness.js'

const { client } = await startHere(t, { TOLLGATE_LIMITS: '{"analytics":[1,20]}' })

const document = openApi(routes)
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'openapi.json', ...document }, 'openapi.json')
const validators = new Map<string, ValidateFunction>()
const asked = new Set<string>()

/** The schema of an answer with this status, following one reference. */
function validatorOf(template: string, method: string, status: number): ValidateFunction | null {
  const name = `${method} ${template} ${status}`
  const known = validators.get(name)
  if (known) return known
  const responses = document.paths[template]![method]!.responses as Record<string, { $ref?: string }>
  if (responses[status] === undefined) return null
  const pointer =
    responses[status].$ref ??
    `#/paths/${template.replaceAll('/', '~1').replaceAll(/[{}]/g, encodeURIComponent)}/${method}/responses/${status}`
  const made = ajv.compile({ $ref: `openapi.json${pointer}/content/application~1json/schema` })
  validators.set(name, made)
  return made
}

/** Ask, and hold the answer against the document; gives `data`. */
// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
async function holds(t: Test, method: string, template: string, path: string, body?: unknown): Promise<any> {
  const answer = await client.send(method, path, body)
  const title = `${method} ${template}`
  asked.add(title)
  const validate = validatorOf(template, method.toLowerCase(), answer.status)
  if (validate === null) t.fail(`${title} answered ${answer.status}, which the document does not know`)
  else t.ok(validate(answer.body), `${title} ${answer.status}: ${ajv.errorsText(validate.errors)}`)
  if (answer.status !== 429 && answer.status < 300) t.ok(answer.headers.get('x-ratelimit-limit'), title)
  return answer.body.data
}

const keys = { slug: 'acme' }
const posting = (t: Test) => (path: string, body: unknown) => holds(t, 'POST', path, path, body)

t.test('the clients generated from the document', async t => {
  const post = posting(t)
  const company = await post('/companies', { keys, name: 'Acme', traits: { seats: 5, plan: { tier: 'x' } } })
  const user = await post('/users', {
    keys: { email: 'ada@acme' },
    traits: { role: 'admin' },
    companies: [keys],
  })
  const plan = await post('/plans', { name: 'Starter', description: 'To begin with', plan_type: 'plan' })
  const feature = await post('/features', {
    name: 'API calls',
    description: '',
    feature_type: 'event',
    event_subtype: 'api_call',
    flag: {
      key: 'api-calls',
      name: 'API calls',
      description: '',
      flag_type: 'boolean',
      default_value: false,
    },
  })
  await post('/plan-entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    value_type: 'numeric',
    value_numeric: 100,
    metric_period: 'current_month',
  })
  await post('/company-overrides', {
    company_id: company.id,
    feature_id: feature.id,
    value_type: 'numeric',
    value_numeric: 10,
    metric_period: 'all_time',
    notes: 'asked for',
  })
  const flag = await post('/flags', {
    key: 'editor',
    name: 'Editor',
    description: '',
    flag_type: 'boolean',
    default_value: false,
  })
  const { id: traitId } = (await client.ok('GET', '/entity-trait-definitions'))[0]
  const condition = { operator: 'eq', resource_ids: [] }
  const rules = [
    {
      name: 'all of it',
      priority: 1,
      value: true,
      rule_type: 'standard',
      conditions: [
        { ...condition, condition_type: 'company', resource_ids: [company.id] },
        { ...condition, condition_type: 'trait', trait_id: traitId, trait_value: '5' },
        {
          ...condition,
          condition_type: 'metric',
          operator: 'lt',
          event_subtype: 'api_call',
          metric_period: 'all_time',
          metric_value: 3,
        },
      ],
      condition_groups: [{ conditions: [{ ...condition, condition_type: 'user', resource_ids: [user.id] }] }],
    },
  ]
  await holds(t, 'PUT', '/flags/{flag_id}/rules', `/flags/${flag.id}/rules`, { rules })
  const body = { event: 'api_call', company: keys, user: { email: 'ada@acme' }, quantity: 3 }
  const event = { event_type: 'track', idempotency_key: 'one', body }
  await post('/events', event)
  await post('/event-batch', { events: [event, { event_type: 'track', body }, { event_type: 'nothing' }] })
  await post('/batch', { events: [{ type: 'track', body }] })
  await post('/company-traits', { keys, trait: 'seats', incr: 1 })
  await post('/api-keys', { name: 'a key' })
  await post('/environments', { name: 'Trial', environment_type: 'staging' })
  const context = { company: keys, user: { email: 'ada@acme' } }
  await post('/flags/check', context)
  await post('/flags/check-bulk', { contexts: [context, 5, {}] })
  await holds(t, 'POST', '/flags/{key}/check', '/flags/api-calls/check', context)
  await holds(t, 'POST', '/flags/{key}/check', '/flags/editor/check', {})
  await post('/ofrep/v1/evaluate/flags', { context })
  await holds(t, 'POST', '/ofrep/v1/evaluate/flags/{key}', '/ofrep/v1/evaluate/flags/editor', { context })
  await holds(t, 'POST', '/ofrep/v1/evaluate/flags/{key}', '/ofrep/v1/evaluate/flags/none', { context })
  await holds(t, 'GET', '/companies/lookup', '/companies/lookup?slug=acme')
  await holds(t, 'GET', '/users/lookup', '/users/lookup?email=ada%40acme')
  const used = `company_id=${company.id}&feature_id=${feature.id}`
  await holds(t, 'GET', '/feature-usage', `/feature-usage?company_id=${company.id}`)
  await holds(t, 'GET', '/feature-usage/count', `/feature-usage/count?company_id=${company.id}`)
  const range = 'start_time=2026-01-01T00:00:00Z&end_time=2026-01-03T00:00:00Z'
  await holds(t, 'GET', '/feature-usage-timeseries', `/feature-usage-timeseries?${used}&${range}`)
  await holds(t, 'GET', '/feature-usage-history', `/feature-usage-history?${used}&${range}`)
})

t.test('every list and count, and one of each list', async t => {
  const isFile = /^\/(export\/|reconcile$)/
  const lists = routes.filter(
    ({ method, parameters, path }) => method === 'get' && parameters.length === 0 && !isFile.test(path),
  )
  for (const route of lists) {
    const template = route.path
    if (asked.has(titleOf(route))) continue
    const rows = await holds(t, 'GET', template, template)
    const one = routes.find(
      ({ method, path }) => method === 'get' && new RegExp(`^${template}/:\\w+$`).test(path),
    )
    if (!one || !Array.isArray(rows) || typeof rows[0]?.id !== 'string') continue
    await holds(t, 'GET', one.path.replace(/:(\w+)/, '{$1}'), `${template}/${rows[0].id}`)
  }
  t.ok(asked.size > 40, `${asked.size} operations were asked`)
})

t.test('refusals', async t => {
  await holds(t, 'GET', '/companies/{company_id}', '/companies/comp_none')
  await posting(t)('/companies', { keys: 5 })
  await holds(t, 'GET', '/companies', '/companies?limit=x')
  const nobody = await client.as('sk_none').get('/companies')
  const validate = validatorOf('/companies', 'get', nobody.status)!
  t.ok(validate(nobody.body))
  const answers = await Promise.all(Array.from({ length: 30 }, () => client.get('/events?limit=1')))
  const answer = answers.find(one => one.status === 429)!
  t.equal(answer.status, 429)
  t.ok(validatorOf('/events', 'get', 429)!(answer.body), 'names its bucket')
  t.ok(answer.headers.get('retry-after'))
})

t.test('S11 the chain that the page begins with runs as it stands, and what it sends is counted', async t => {
  const [, chain] = /execute these as they stand: (.*?)\. /.exec(
    (document.info as { description: string }).description,
  )!
  const titles = [...chain!.matchAll(/`(\w+) ([^`]+)`/g)]
  t.ok(titles.length >= 5, chain!)
  for (const again of [1, 2]) {
    for (const [, method, template] of titles) {
      const { parameters = [], requestBody } = document.paths[template!]![method!.toLowerCase()]! as {
        parameters?: { in?: string; name?: string; example?: string | Record<string, string> }[]
        requestBody?: { content: Record<string, { example: unknown }> }
      }
      let path = template!
      for (const one of parameters) {
        if (one.in === 'path') path = path.replace(`{${one.name}}`, String(one.example))
        else if (one.example !== undefined)
          path += `?${new URLSearchParams(
            Object.entries(one.example).map(([name, value]): [string, string] => [
              `${one.name}[${name}]`,
              value,
            ]),
          )}`
      }
      const answer = await client.send(method!, path, requestBody?.content['application/json']?.example)
      const known = again === 2 && path === '/features'
      t.ok(known ? answer.status === 400 : answer.status < 300, `${method} ${path}: ${answer.status}`)
      if (path.startsWith('/companies/lookup')) {
        const counts = (answer.body.data.metrics as { event_subtype: string; value: number }[]).filter(
          one => one.event_subtype === 'export',
        )
        t.ok(counts.length > 0, 'the event counts')
        for (const { value } of counts) t.equal(value, 3 * again, 'each time it is sent')
      }
    }
  }
})
