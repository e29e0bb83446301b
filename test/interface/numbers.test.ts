// F3, L7, CU-32: whole numbers beyond 2^53 keep their digits at every door that takes traits, and a number beyond 1e308 is
// refused at every door that takes numbers.
import t from 'tap'
import { titleOf } from '../../src/front/http/routing/route.js'
import { openApi } from '../../src/serve/openapi/openapi.js'
import { routes } from '../../src/serve/routes.js'
import { startHere } from '../harness.js'
import { Sampler } from './sample.js'

const { client } = await startHere(t)
const document = openApi(routes)
const sampler = new Sampler(document)

/** How a number is written, and the text that a trait has of it. */
const forms: readonly (readonly [written: string, stored: string])[] = [
  ['9223372036854775807', '9223372036854775807'],
  ['-9223372036854775807', '-9223372036854775807'],
  ['9007199254740993', '9007199254740993'],
  ['9007199254740993.0', '9007199254740993'],
  ['9.007199254740993e15', '9007199254740993'],
  ['9007199254740993000e-3', '9007199254740993'],
  ['123456789012345678901234567890', '123456789012345678901234567890'],
  ['9007199254740991', '9007199254740991'],
  ['1e3', '1000'],
  ['1e20', '100000000000000000000'],
  ['1e21', '1000000000000000000000'],
  ['-1E+21', '-1000000000000000000000'],
  ['1.5e21', '1500000000000000000000'],
  ['1e23', `1${'0'.repeat(23)}`],
  ['123456789012345678901e1', '1234567890123456789010'],
  ['1e300', `1${'0'.repeat(300)}`],
  ['[1e21,{"a":1.5e21}]', '[1000000000000000000000,{"a":1500000000000000000000}]'],
  ['0.5', '0.5'],
  ['-0', '0'],
  ['[9223372036854775807,{"a":9007199254740993}]', '[9223372036854775807,{"a":9007199254740993}]'],
]
const tooLarge = ['1e309', '-1e309', `1${'0'.repeat(309)}`, '[1e309]']

let made = 0
const slug = () => `n${made++}`

/** Each door: sends traits of a company or user, and says where the entity is found. */
const doors: Readonly<
  Record<
    string,
    (traits: string, key: string) => Promise<{ status: number; error?: string; failed?: boolean }>
  >
> = {
  'POST /companies': (traits, key) => send('/companies', `{"keys":{"slug":"${key}"},"traits":${traits}}`),
  'POST /companies/create': (traits, key) =>
    send('/companies/create', `{"keys":{"slug":"${key}"},"traits":${traits}}`),
  'identify, company': (traits, key) => send('/events', identify(key, traits)),
  'batch of identifies': (traits, key) => sendBatch('/event-batch', `{"events":[${identify(key, traits)}]}`),
  'large batch of identifies': (traits, key) =>
    sendBatch('/event-batch', `{"events":[${identify(key, traits)}${filling}]}`),
  'lines of identifies': (traits, key) =>
    sendBatch('/event-batch', identify(key, traits), { 'Content-Type': 'application/x-ndjson' }),
  collector: (traits, key) =>
    sendBatch('/batch', `{"events":[${identify(key, traits).replace('event_type', 'type')}]}`),
}
const filling = `,{"event_type":"track","body":{"event":"x"}}`.repeat(3_000)

const identify = (key: string, traits: string) =>
  `{"event_type":"identify","body":{"keys":{"mail":"${key}"},"name":"x","company":{"keys":{"slug":"${key}"},"name":"x","traits":${traits}}}}`

async function send(path: string, body: string) {
  const { status, body: answer } = await client.post(path, body)
  return { status, error: answer.error as string | undefined }
}

/** An event that is refused alone is stored as failed, in every kind of list. */
async function sendBatch(path: string, body: string, headers = {}) {
  const { status } = await client.post(path, body, headers)
  return { status, failed: true }
}

const companyOf = (key: string) => client.get(`/companies/lookup?keys[slug]=${key}`)

const traitOf = async (key: string): Promise<string | undefined> => {
  const { body } = await companyOf(key)
  return body.data?.entity_traits.find((one: { definition: { display_name: string } }) => one !== null)?.value
}

t.test('CU-32 (F3) every form of a number at every door', async t => {
  for (const [door, ask] of Object.entries(doors))
    for (const [written, stored] of forms) {
      const key = slug()
      const { status, error } = await ask(`{"n":${written}}`, key)
      if (status > 201) t.fail(`${door} ${written}: ${status} ${error}`)
      const found = await traitOf(key)
      if (found !== stored) t.equal(found, stored, `${door} ${written}`)
    }
  t.pass(`${forms.length} forms at ${Object.keys(doors).length} doors`)
})

t.test('CU-32 (L7) a number beyond 1e308 at every door of traits', async t => {
  for (const [door, ask] of Object.entries(doors))
    for (const written of tooLarge) {
      const key = slug()
      const { status, error, failed } = await ask(`{"n":${written}}`, key)
      if (failed) t.equal((await companyOf(key)).status, 404, `${door} ${written.slice(0, 9)}`)
      else {
        t.equal(status, 400, `${door} ${written.slice(0, 9)}`)
        t.match(error, /1e308/)
      }
    }
})

t.test('F3 users and signed contexts', async t => {
  const body = '{"keys":{"mail":"u"},"traits":{"n":9223372036854775807}}'
  t.equal((await client.post('/users', body)).body.data.traits.n, '9223372036854775807')
  t.equal((await client.post('/users', body.replace('9223372036854775807', '1e309'))).status, 400)
  const { environment_id: id } = await client.ok('GET', '/whoami')
  await client.ok('POST', `/environments/${id}/context-secret`, {})
  const { body: signed } = await client.post(
    '/signed-contexts',
    '{"company":{"slug":"s"},"company_traits":{"n":9223372036854775807}}',
  )
  const [, payload] = signed.data.signed_context.split('.')
  t.match(Buffer.from(payload, 'base64url').toString(), /"n":9223372036854775807/)
  t.equal((await client.post('/signed-contexts', '{"company_traits":{"n":1e309}}')).status, 400)
})

t.test('F3 a track event keeps the digits of its traits, and one beyond 1e308 is refused', async t => {
  await client.ok('POST', '/companies', { keys: { slug: 'tracked' } })
  const event = (n: string, spaced = '') =>
    `{"event_type":"track","body":{${spaced}"event":"e","company":{"slug":"tracked"},"traits":{"n":${n}}}}`
  for (const spaced of ['', ' ']) {
    const sent = await client.post('/events', event('9223372036854775807', spaced))
    t.equal(sent.status, 201)
    let response = ''
    // ClickHouse shows an event a moment after its answer
    while (!response.includes('"data"')) {
      await new Promise(resolve => setTimeout(resolve, 20))
      const raw = await fetch(`${client.url}/events/${sent.body.data.event_id}`, {
        headers: { 'X-Service-Api-Key': client.key },
      })
      response = await raw.text()
    }
    t.match(response, /"n":9223372036854775807/)
    const refused = await client.post('/events', event('1e400', spaced))
    t.equal(refused.status, 400)
    t.match(refused.body.error, /1e308/)
  }
})

t.test('F3 a limit by a trait beyond 2^53', async t => {
  const trait = await client.ok('POST', '/entity-trait-definitions', {
    entity_type: 'company',
    trait_type: 'number',
    hierarchy: ['room'],
  })
  const feature = await client.ok('POST', '/features', {
    name: 'Rooms',
    description: '',
    feature_type: 'event',
    event_subtype: 'room.used',
  })
  const { data: company } = (
    await client.post('/companies', '{"keys":{"slug":"roomy"},"traits":{"room":9223372036854775807}}')
  ).body
  await client.ok('POST', '/company-overrides', {
    company_id: company.id,
    feature_id: feature.id,
    value_type: 'trait',
    value_trait_id: trait.id,
    metric_period: 'all_time',
  })
  const raw = await fetch(`${client.url}/feature-usage?company_id=${company.id}`, {
    headers: { 'X-Service-Api-Key': client.key },
  })
  t.match(await raw.text(), /"allocation":9223372036854775807/)
})

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly type?: string
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
}

t.test('L7 a number beyond 1e308 in each number of each body', async t => {
  let asked = 0
  for (const route of routes) {
    if (route.body !== 'parsed') continue
    const method = route.method === 'del' ? 'delete' : route.method
    const operation = document.paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]![method] as {
      requestBody?: { content: Record<string, { schema: Schema }> }
    }
    const schema = operation.requestBody?.content['application/json']?.schema
    if (schema === undefined) continue
    const least = sampler.least(schema as Record<string, unknown>)
    if (typeof least !== 'object' || least === null || Array.isArray(least)) continue
    for (const name of numbersOf(schema)) {
      const text = JSON.stringify({ ...least, [name]: '@' }).replace('"@"', '1e309')
      const path = route.path.replaceAll(/:(\w+)/g, 'x_23456789ABC')
      const { status } = await client.send(
        route.method === 'del' ? 'DELETE' : method.toUpperCase(),
        path,
        text,
      )
      asked++
      if (status !== 400) t.fail(`${titleOf(route)} ${name}: ${status}`)
    }
  }
  t.ok(asked > 30, `${asked} numbers`)
})

function numbersOf(schema: Schema): readonly string[] {
  const resolved = (one: Schema): Schema =>
    one.$ref === undefined
      ? one
      : (one.$ref
          .slice(2)
          .split('/')
          .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as Schema)
  const isNumber = (one: Schema): boolean =>
    one.type === 'integer' || one.type === 'number' || (one.anyOf ?? []).some(isNumber)
  return Object.entries(resolved(schema).properties ?? {})
    .filter(([, one]) => isNumber(one))
    .map(([name]) => name)
}
