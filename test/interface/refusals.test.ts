// Every row of the route table and what it refuses, over a whole Tollgate: 401 without a key, 403 for keys that may not,
// 404 for an unknown id, 400 for each member and parameter of another type and for each that is missing.
import t from 'tap'
import type { Route } from '../../src/front/http/routing/route.js'
import { titleOf } from '../../src/front/http/routing/route.js'
import { openApi } from '../../src/serve/openapi/openapi.js'
import { routes } from '../../src/serve/routes.js'
import { startHere } from '../harness.js'
import { Sampler } from './sample.js'

const { client } = await startHere(t)
const document = openApi(routes)
const sampler = new Sampler(document)
const nobody = '23456789ABC'

const made = async (body: object): Promise<string> =>
  (await client.ok('POST', '/api-keys', { name: 'k', ...body })).secret
const { environment_id } = await client.ok('GET', '/whoami')
const { api_keys: given } = await client.ok('POST', '/environments', {
  name: 'e',
  environment_type: 'staging',
})
// a key made by another has read, write and capture; every row with every scope: test/serve/routes.test.ts
const keys = {
  ordinary: await made({ environment_id }),
  readonly: await made({ environment_id, readonly: true }),
  publishable: given[0].secret as string,
}

const methodOf = ({ method }: Route) => (method === 'del' ? 'DELETE' : method.toUpperCase())

type Schema = Readonly<Record<string, unknown>>
interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

/** The schema of a body; null: none, or one that is judged by hand. */
function bodyOf(route: Route): Schema | null {
  const operation = document.paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]![
    route.method === 'del' ? 'delete' : route.method
  ] as Operation
  return route.body === 'parsed' ? (operation.requestBody?.content['application/json']?.schema ?? null) : null
}

/** Ids that no resource has, in the right format. */
const unknown = (name: string) => (name === 'key' ? 'nobody' : `${name.slice(0, 4)}_${nobody}`)
const pathOf = (route: Route) => route.path.replaceAll(/:(\w+)/g, (_, name: string) => unknown(name))
const queryOf = (route: Route) => {
  const needed = (route.query?.parameters ?? []).filter(one => one.required)
  const values = needed.map(
    ({ name, schema, spelling }) => `${name}=${encodeURIComponent(rightFor(schema, spelling))}`,
  )
  return values.length === 0 ? '' : `?${values.join('&')}`
}

function rightFor(schema: Schema, spelling: string): string {
  if (spelling.startsWith('map')) return '{"slug":"nobody"}'
  if (Array.isArray(schema.enum)) return String(schema.enum[0])
  if (schema.format === 'date-time') return '2026-01-01T00:00:00Z'
  if (schema.type === 'boolean') return 'true'
  return schema.type === 'integer' ? '1' : unknown('feature')
}

const send = (route: Route, key: string, body: unknown = undefined, query = queryOf(route)) =>
  client
    .as(key)
    .send(methodOf(route), pathOf(route) + query, typeof body === 'string' ? JSON.stringify(body) : body)

/** A body that the parser takes, if the row wants one. */
const least = (route: Route): unknown => {
  const schema = bodyOf(route)
  if (schema !== null) return sampler.least(schema)
  return route.body === 'none' ? undefined : {}
}

/** Rows whose refusals, unlike those of all others, are of another protocol. */
const own = (route: Route) => route.ofrep

t.test('401 without a key and with an unknown one (AL-1)', async t => {
  for (const route of routes) {
    if (route.keysInBody !== null) continue
    for (const key of ['', 'sk_dev_nobody']) {
      const { status, body } = await send(route, key, least(route))
      if (status !== 401 || (!own(route) && !isError(body))) t.fail(titleOf(route), { key, status, body })
    }
  }
  t.pass(`${routes.length} rows`)
})

t.test('403 for a key that lacks the scope, a readonly one and a publishable one (AL-20…22)', async t => {
  const refused = async (route: Route, key: string, why: string) => {
    const { status, body } = await send(route, key, least(route))
    if (status !== 403 || !isError(body)) t.fail(`${titleOf(route)}: ${why}`, { status, body })
  }
  for (const route of routes) {
    if (route.scope === 'admin') await refused(route, keys.ordinary, 'scope')
    if (route.mutates) await refused(route, keys.readonly, 'readonly')
    if (!['check', 'capture'].includes(route.scope)) await refused(route, keys.publishable, 'publishable')
  }
  t.pass(`${routes.length} rows`)
})

t.test('404 for an unknown id', async t => {
  let asked = 0
  for (const route of routes) {
    if (route.parameters.length === 0) continue
    const { status, body } = await send(route, client.key, least(route))
    asked++
    if (status !== 404 || (!own(route) && !isError(body))) t.fail(titleOf(route), { status, body })
  }
  t.ok(asked > 80, `${asked} rows`)
})

t.test('400 for a body with a member of another type, without one it needs, or of another form', async t => {
  let asked = 0
  for (const route of routes) {
    const schema = bodyOf(route)
    if (schema === null) continue
    for (const { what, body } of sampler.wrong(schema)) {
      const answer = await send(route, client.key, body)
      asked++
      if (answer.status !== 400 || (!own(route) && !isError(answer.body)))
        t.fail(`${titleOf(route)} ${what}`, { status: answer.status, body: answer.body })
    }
    for (const body of ['{', '{"a":1,}', 'nothing']) {
      const answer = await client.send(methodOf(route), pathOf(route), body)
      if (answer.status !== 400) t.fail(`${titleOf(route)} ${body}`, { status: answer.status })
    }
  }
  t.ok(asked > 800, `${asked} bodies`)
})

t.test('400 for a query parameter of another type, twice, too long, or missing', async t => {
  let asked = 0
  for (const route of routes) {
    const needed = queryOf(route).slice(1)
    for (const { name, schema, spelling, required } of route.query?.parameters ?? []) {
      const others = needed
        .split('&')
        .filter(one => one !== '' && !one.startsWith(`${name}=`))
        .join('&')
      const wrong = wrongValues(schema, spelling).map(value => `${name}=${encodeURIComponent(value)}`)
      if (spelling === 'one')
        wrong.push(`${name}=${rightFor(schema, spelling)}&${name}=${rightFor(schema, spelling)}`)
      if (required && !spelling.startsWith('map')) wrong.push('')
      for (const one of wrong) {
        const { status, body } = await send(route, client.key, least(route), `?${[others, one].join('&')}`)
        asked++
        // operations that list no 400: who is asked for cannot be read, so nobody is found (interface document)
        const expected = route.query?.unreadable === 'not_found' ? 404 : 400
        if (status !== expected || !isError(body))
          t.fail(`${titleOf(route)} ${one.slice(0, 60)}`, { status, error: body?.error })
      }
    }
  }
  t.ok(asked > 600, `${asked} queries`)
})

t.test('F2, decision 38: every parameter of every query, left empty, is refused with its name', async t => {
  let asked = 0
  for (const route of routes) {
    const needed = queryOf(route).slice(1)
    for (const { name, spelling } of route.query?.parameters ?? []) {
      const others = needed.split('&').filter(one => one !== '' && !one.startsWith(`${name}=`))
      const empties = [`${name}=`, name, `${name}=&${name}=`]
      if (spelling !== 'one') empties.push(`${name}[]=`, `${name}[a]=`)
      if (spelling === 'many') empties.push(`${name}=a,`, `${name}=,`, `${name}=a&${name}=`)
      if (spelling.startsWith('map')) empties.push(`${name}={}`, `${name}={"a":""}`, `${name}[]=a`)
      for (const empty of empties) {
        const { status, body } = await send(
          route,
          client.key,
          least(route),
          `?${[...others, empty].join('&')}`,
        )
        asked++
        const expected = route.query?.unreadable === 'not_found' ? 404 : 400
        if (status !== expected || !isError(body) || !body.error.startsWith(name))
          t.fail(`${titleOf(route)} ${empty}`, { status, error: body?.error })
      }
    }
  }
  t.ok(asked > 1_000, `${asked} queries`)
})

function wrongValues(schema: Schema, spelling: string): readonly string[] {
  if (spelling.startsWith('map')) return ['5', '[]', '{"slug":5}', '{']
  const one = spelling === 'many' ? (schema.items as Schema) : schema
  if (spelling === 'many' && one.enum === undefined) return []
  if (Array.isArray(one.enum)) return ['nonsense']
  if (one.format === 'date-time') return ['yesterday', '2026-13-01T00:00:00Z', '5']
  if (one.type === 'integer')
    return ['x', '1.5', ...(one.format === 'int64' ? [] : ['-1']), '99999999999999999999']
  if (one.type === 'boolean') return ['maybe', '1', 'TRUE']
  return typeof one.maxLength === 'number' ? ['x'.repeat(one.maxLength + 1)] : []
}

/** Every refusal: `{error}` and nothing else. */
function isError(body: unknown): boolean {
  const { error, ...more } = (body ?? {}) as { error?: unknown }
  return typeof error === 'string' && error !== '' && Object.keys(more).length === 0
}
