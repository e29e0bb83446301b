// Typical mistakes with the API, each with the one line that says what was wrong and what would be right (S3 to S6,
// decisions 38 to 40). A row is a request, the status, and what its answer says.
import t from 'tap'
import { startHere } from '../harness.js'

const { client } = await startHere(t)
const { environment_id } = await client.ok('GET', '/whoami')
const staging = await client.ok('POST', '/environments', { name: 'e', environment_type: 'staging' })
const publishable = staging.api_keys[0].secret as string
const readonly = (await client.ok('POST', '/api-keys', { name: 'r', environment_id, readonly: true }))
  .secret as string
const ordinary = (await client.ok('POST', '/api-keys', { name: 'o', environment_id })).secret as string
const plan = await client.ok('POST', '/plans', { name: 'Pro', plan_type: 'plan' })
await client.ok('POST', '/companies', { keys: { slug: 'acme' } })
await client.ok('POST', '/features', {
  name: 'Calls',
  description: '',
  feature_type: 'event',
  event_subtype: 'api.call',
})

interface Mistake {
  readonly what: string
  readonly send: readonly [
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ]
  /** Default: the first key, of all scopes. '' for none. */
  readonly key?: string
  readonly status: number
  /** The text of the error, or of the warning of a success. */
  readonly says: RegExp
}

const company = { keys: { slug: 'acme' } }
const track = { event_type: 'track', body: { event: 'api.call', company: { slug: 'acme' } } }

const mistakes: readonly Mistake[] = [
  // keys
  {
    what: 'no key',
    send: ['GET', '/companies'],
    key: '',
    status: 401,
    says: /^X-Service-Api-Key is missing: send the API key in this header$/,
  },
  {
    what: 'the key as a bearer token',
    send: ['GET', '/companies', undefined, { Authorization: `Bearer ${ordinary}` }],
    key: '',
    status: 401,
    says: /bearer token in Authorization, send it as X-Service-Api-Key/,
  },
  {
    what: 'basic authentication',
    send: ['GET', '/companies', undefined, { Authorization: 'Basic eDp5' }],
    key: '',
    status: 401,
    says: /Authorization is not read, send the key as X-Service-Api-Key/,
  },
  {
    what: 'the key in the query',
    send: ['GET', `/companies?api_key=${ordinary}`],
    key: '',
    status: 401,
    says: /a key in the query is not read/,
  },
  {
    what: 'a bearer prefix in the right header',
    send: ['GET', '/companies'],
    key: `Bearer ${ordinary}`,
    status: 401,
    says: /has the key alone, without "Bearer"/,
  },
  {
    what: 'a key of another service',
    send: ['GET', '/companies'],
    key: 'abc123',
    status: 401,
    says: /not a key of this service: keys begin with sk_ or pk_/,
  },
  {
    what: 'a deleted key',
    send: ['GET', '/companies'],
    key: 'sk_dev_nobody',
    status: 401,
    says: /not known here: the key was deleted or rolled/,
  },
  {
    what: 'a publishable key on a server route',
    send: ['GET', '/companies'],
    key: publishable,
    status: 403,
    says: /publishable key .*use a secret key/,
  },
  {
    what: 'a write with a read-only key',
    send: ['POST', '/companies', company],
    key: readonly,
    status: 403,
    says: /read-only/,
  },
  {
    what: 'a key without the scope',
    send: ['GET', '/api-keys?require_environment=true'],
    key: ordinary,
    status: 403,
    says: /lacks the scope admin/,
  },
  // paths and methods
  { what: 'a path that is none', send: ['GET', '/company'], status: 404, says: /No such route/ },
  {
    what: 'GET where it is POST',
    send: ['GET', '/manage-plan'],
    status: 405,
    says: /^GET is not served at this path: use POST$/,
  },
  {
    what: 'PATCH for an update',
    send: ['PATCH', `/plans/${plan.id}`, { name: 'x' }],
    status: 405,
    says: /^PATCH is not served at this path: use DELETE, GET, PUT$/,
  },
  { what: 'GET of a check', send: ['GET', '/flags/calls/check'], status: 405, says: /use POST/ },
  { what: 'an id that is none', send: ['GET', '/plans/plan_x'], status: 404, says: /not found/i },
  // queries
  {
    what: 'an empty filter',
    send: ['GET', '/events?company_id='],
    status: 400,
    says: /^company_id is empty/,
  },
  { what: 'an empty list', send: ['GET', '/companies?ids='], status: 400, says: /^ids is empty/ },
  {
    what: 'a limit of 0',
    send: ['GET', '/companies?limit=0'],
    status: 400,
    says: /^limit: expected a whole number of at least 1/,
  },
  {
    what: 'a negative offset',
    send: ['GET', '/companies?offset=-1'],
    status: 400,
    says: /^offset: expected a whole number/,
  },
  {
    what: 'yes for true',
    send: ['GET', '/plans?with_entitlements=yes'],
    status: 400,
    says: /^with_entitlements: expected true or false/,
  },
  {
    what: 'a word that is none',
    send: ['GET', '/plans?plan_type=base'],
    status: 400,
    says: /^plan_type: expected one of plan, add_on/,
  },
  {
    what: 'a parameter twice',
    send: ['GET', '/companies?plan_id=a&plan_id=b'],
    status: 400,
    says: /exactly one value/,
  },
  {
    what: 'a misspelt parameter',
    send: ['GET', '/companies?limt=5'],
    status: 200,
    says: /^unknown parameter "limt" \(did you mean "limit"\?\)$/,
  },
  {
    what: 'a misspelt parameter, strictly',
    send: ['GET', '/companies?limt=5&strict=true'],
    status: 400,
    says: /^unknown parameter "limt" \(did you mean "limit"\?\)$/,
  },
  {
    what: 'a lookup without keys',
    send: ['GET', '/companies/lookup'],
    status: 404,
    says: /keys is required/,
  },
  // bodies
  { what: 'no JSON', send: ['POST', '/companies', '{keys: 1}'], status: 400, says: /not valid JSON/ },
  {
    what: 'a list for an object',
    send: ['POST', '/companies', []],
    status: 400,
    says: /expected an object, got an empty list/,
  },
  { what: 'no keys', send: ['POST', '/companies', { name: 'Acme' }], status: 400, says: /keys: none given/ },
  {
    what: 'a key that is a number',
    send: ['POST', '/companies', { keys: { id: 7 } }],
    status: 400,
    says: /^keys\.id: expected a text of 1 to 255 characters, got the number 7$/,
  },
  {
    what: 'keys as a list',
    send: ['POST', '/companies', { keys: ['acme'] }],
    status: 400,
    says: /^keys: expected an object, got a list of 1$/,
  },
  {
    what: 'a misspelt member',
    send: ['POST', '/companies', { ...company, nmae: 'Acme' }],
    status: 200,
    says: /^unknown member "nmae" \(did you mean "name"\?\)$/,
  },
  {
    what: 'a misspelt member, strictly',
    send: ['POST', '/companies?strict=true', { ...company, nmae: 'Acme' }],
    status: 400,
    says: /^unknown member "nmae"/,
  },
  {
    what: 'a name that is missing',
    send: ['POST', '/plans', { plan_type: 'plan' }],
    status: 400,
    says: /^name is required: a text/,
  },
  {
    what: 'a plan type that is none',
    send: ['POST', '/plans', { name: 'P', plan_type: 'base' }],
    status: 400,
    says: /^plan_type: expected one of "add_on", "plan" or null, got a text$/,
  },
  {
    what: 'a currency that is none',
    send: ['POST', '/billing/credits', { name: 'c', description: '', currency: 'usdd' }],
    status: 400,
    says: /^currency: expected one of \d+ words, such as "usd" or null, got a text$/,
  },
  {
    what: 'a number in quotes',
    send: ['POST', '/api-keys', { name: 'k', rate_limit_percent: '50' }],
    status: 400,
    says: /^rate_limit_percent: expected a whole number.*, got a text$/,
  },
  {
    what: 'a text for true',
    send: ['POST', '/api-keys', { name: 'k', readonly: 'true' }],
    status: 400,
    says: /^readonly: expected true or false or null, got a text$/,
  },
  {
    what: 'a time without a zone',
    send: ['POST', '/companies', { ...company, last_seen_at: '2026-01-02T03:04:05' }],
    status: 400,
    says: /^last_seen_at: expected a date and time with its zone, as 2024-/,
  },
  {
    what: 'a bare date',
    send: ['POST', '/companies', { ...company, created_at: '2026-01-02' }],
    status: 400,
    says: /^created_at: expected a date and time with its zone/,
  },
  {
    what: 'a last seen of the year 9999',
    send: ['POST', '/companies', { ...company, last_seen_at: '9999-01-01T00:00:00Z' }],
    status: 400,
    says: /^last_seen_at: at most 5 minutes in the future/,
  },
  {
    what: 'a number beyond 1e308',
    send: ['POST', '/companies', '{"keys":{"slug":"acme"},"traits":{"n":1e309}}'],
    status: 400,
    says: /1e308/,
  },
  {
    what: 'a plan that is none',
    send: ['POST', '/plan-entitlements', { plan_id: 'plan_x', feature_id: 'feat_x', value_type: 'boolean' }],
    status: 404,
    says: /^plan_id: no such plan/,
  },
  {
    what: 'a webhook without an address',
    send: ['POST', '/webhooks', { name: 'w', request_types: ['company.updated'] }],
    status: 400,
    says: /^url is required: a text/,
  },
  // checks and events
  {
    what: 'a check with an id for keys',
    send: ['POST', '/flags/calls/check', { company: 'acme' }],
    status: 400,
    says: /^company: expected an object or null, got a text$/,
  },
  {
    what: 'a misspelt member of a check',
    send: ['POST', '/flags/calls/check?strict=true', { compny: { slug: 'acme' } }],
    status: 400,
    says: /^unknown member "compny" \(did you mean "company"\?\)$/,
  },
  {
    what: 'an event without a type',
    send: ['POST', '/events', { body: track.body }],
    status: 400,
    says: /^event_type is required: one of "flag_check", "identify", "inference", "track"$/,
  },
  {
    what: 'an event without a name',
    send: ['POST', '/events', { event_type: 'track', body: { company: { slug: 'acme' } } }],
    status: 400,
    says: /^body\.event is required: a text of 1 to 255 characters$/,
  },
  {
    what: 'an event of a type that is none',
    send: ['POST', '/events', { ...track, event_type: 'page' }],
    status: 400,
    says: /^event_type: expected one of "flag_check"/,
  },
  {
    what: 'a fraction as quantity',
    send: ['POST', '/events', { ...track, body: { ...track.body, quantity: 1.5 } }],
    status: 400,
    says: /^body\.quantity: expected a whole number.*not whole$/,
  },
  {
    what: 'an event with a misspelt company',
    send: [
      'POST',
      '/events?report=true',
      { event_type: 'track', body: { event: 'api.call', compny: { slug: 'acme' } } },
    ],
    status: 201,
    says: /unknown member "body\.compny" \(did you mean "company"\?\); event "api\.call" names no company, so it counts nowhere/,
  },
  {
    what: 'an event that no feature counts',
    send: [
      'POST',
      '/events?strict=true',
      { event_type: 'track', body: { event: 'api.cal', company: { slug: 'acme' } } },
    ],
    status: 400,
    says: /^event "api\.cal" is counted by no feature \(did you mean "api\.call"\?\)$/,
  },
  {
    what: 'a backfill without its clock',
    send: ['POST', '/events', { ...track, backfill: true }],
    status: 400,
    says: /backfill requires trusted_client_clock/,
  },
  {
    what: 'a sent_at without a zone',
    send: ['POST', '/events', { ...track, sent_at: '2026-01-02T03:04:05' }],
    status: 400,
    says: /sent_at must be an RFC 3339 date-time with its zone/,
  },
  {
    what: 'a batch that is a list',
    send: ['POST', '/event-batch', [track]],
    status: 400,
    says: /^events must be a list/,
  },
  {
    what: 'a CloudEvent with a text as data',
    send: [
      'POST',
      '/events',
      { specversion: '1.0', id: '1', source: 's', type: 'api.call', subject: 'acme', data: 'x' },
      { 'Content-Type': 'application/cloudevents+json' },
    ],
    status: 400,
    says: /^data must be an object, not a string$/,
  },
  {
    what: 'an export of a company that is none',
    send: ['GET', '/export/events?format=csv&company_id=comp_x'],
    status: 404,
    says: /^company_id: no company has this id/,
  },
]

t.test('each mistake answers one line', async t => {
  t.ok(mistakes.length >= 43, `${mistakes.length} mistakes`)
  for (const { what, send, key, status, says } of mistakes) {
    const [method, path, body, headers] = send
    const answer = await client.as(key ?? client.key).send(method, path, body, { ...headers })
    const told = answer.status < 300 ? (answer.headers.get('x-service-warning') ?? '') : answer.body.error
    t.equal(answer.status, status, `${what}: ${told}`)
    t.match(told, says, what)
    t.notMatch(told, /[<>&|]|__type|undefined|\n/, `${what}: no notation of the compiler, one line`)
  }
})

t.test('S5 Allow, HEAD of probes, and a slash at the end', async t => {
  const wrong = await fetch(`${client.url}/manage-plan`)
  t.equal(wrong.headers.get('allow'), 'POST, OPTIONS')
  await wrong.text()
  for (const path of ['/health/live', '/health/ready']) {
    const head = await fetch(client.url + path, { method: 'HEAD' })
    t.equal(head.status, 200, path)
  }
  const headers = { 'X-Service-Api-Key': client.key }
  const [plain, slash] = await Promise.all([
    fetch(`${client.url}/plans/${plan.id}`, { headers }),
    fetch(`${client.url}/plans/${plan.id}/`, { headers }),
  ])
  t.equal(slash.status, 200)
  t.equal(await slash.text(), await plain.text())
  const listed = await fetch(`${client.url}/plans/`, { headers })
  t.equal(listed.status, 200)
  t.ok(Array.isArray(((await listed.json()) as { data: unknown }).data))
})

t.test('S10 a CloudEvent in binary mode', async t => {
  const sent = await client.post(
    '/events',
    { quantity: 2, region: 'eu' },
    {
      'ce-specversion': '1.0',
      'ce-id': 'b-1',
      'ce-source': 'shop',
      'ce-type': 'api.call',
      'ce-subject': 'slug=acme',
    },
  )
  t.equal(sent.status, 201, sent.body.error)
  const found = await client.ok('GET', '/companies/lookup?keys[slug]=acme')
  const metric = found.metrics.find((one: { event_subtype: string }) => one.event_subtype === 'api.call')
  t.equal(metric?.value, 2)
  const wrong = await client.post('/events', { a: 1 }, { 'ce-specversion': '1.0', 'ce-id': 'b-2' })
  t.equal(wrong.status, 400)
  t.match(wrong.body.error, /^source is required: a text/)
})

t.test('created_at is used at creation alone', async t => {
  const at = '2020-02-03T04:05:06.000Z'
  for (const path of ['/companies', '/users']) {
    const keys = { mail: 'old' }
    const made = await client.ok('POST', path, { keys, created_at: at })
    t.equal(made.created_at, at)
    t.ok(made.updated_at > at)
    const again = await client.ok('POST', path, { keys, created_at: '2021-02-03T04:05:06.000Z' })
    t.equal(again.created_at, at)
    const [listed] = await client.ok('GET', `${path}?ids=${made.id}`)
    t.equal(listed.created_at, at)
  }
})
