// The OpenAPI document: valid, whole, and held against what is really answered.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { operationSchemas } from '../../../schemas/operations.js'
import { parseBody } from '../../../src/front/http/request/parse-body.js'
import type { Route } from '../../../src/front/http/routing/route.js'
import { titleOf } from '../../../src/front/http/routing/route.js'
import { openApi, undescribed } from '../../../src/serve/openapi/openapi.js'
import { guides, tasks } from '../../../src/serve/openapi/pages.js'
import { sentences } from '../../../src/serve/openapi/sentences.js'
import { examples } from '../../../src/serve/openapi/texts.js'
import { routes } from '../../../src/serve/routes.js'
import { endpoints, types } from '../../documented.js'
import { ask, start } from '../../front/http/make.js'
import { read, root } from '../../house/source.js'

const document = openApi(routes)
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'openapi.json', ...document }, 'openapi.json')

type Members = Readonly<Record<string, unknown>>
const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((found, name) => (found as Members | undefined)?.[name], value)

const operationOf = (route: Route) =>
  document.paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]![route.method === 'del' ? 'delete' : route.method]!

t.test('it is a valid document of OpenAPI 3.1', async t => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(document) as Record<string, unknown>)
  t.same(result.errors ?? [], [])
  t.ok(result.valid)
  t.equal(validator.version, '3.1')
})

t.test('every row of the table is described, and nothing else is', async t => {
  t.same(undescribed(routes), { missing: [], left: [] }, 'add the operation to schemas/operations.ts')
})

t.test('references lead somewhere, operations have names of their own', async t => {
  const names = new Set<string>()
  const ids: string[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === '$ref' && typeof member === 'string') names.add(member)
      if (name === 'operationId' && typeof member === 'string') ids.push(member)
      walk(member)
    }
  }
  walk(document)
  for (const name of names) t.ok(at(document, ...name.slice(2).split('/')), name)
  t.equal(new Set(ids).size, ids.length, 'operation ids are distinct')
  const schemas = Object.keys(document.components.schemas)
  t.same(
    schemas.filter(name => !/^[A-Z]\w*(\.o\d+)?$/.test(name)),
    [],
    'schemas are named',
  )
})

t.test('every operation and every parameter has a description', async t => {
  for (const route of routes) {
    const { summary, description, parameters } = operationOf(route)
    t.ok(summary && description, titleOf(route))
    const silent = (parameters as Members[]).filter(one => !one.$ref && !one.description)
    t.same(
      silent.map(({ name }) => name),
      [],
      `${titleOf(route)}: add them to src/serve/openapi/parameters.ts`,
    )
  }
})

t.test('S11 every operation has a sentence of its own, every path parameter an example', async t => {
  const served = new Set(routes.map(titleOf))
  for (const route of routes) {
    const { summary, description, parameters } = operationOf(route)
    t.ok(summary, titleOf(route))
    t.notMatch(
      description,
      /^(Needs the scope|Any secret key)/,
      `${titleOf(route)}: a line in src/serve/openapi/sentences.ts`,
    )
    for (const one of parameters as Members[])
      if (one.in === 'path') t.match(one.example, /^[a-z]+(_\w{11}|s)$/, `${titleOf(route)}: ${one.name}`)
  }
  for (const title of Object.keys(sentences)) {
    t.ok(served.has(title), title)
    t.notOk(
      at(operationSchemas.components.schemas, 'Operations', 'properties', title, 'description'),
      `${title} has two sentences`,
    )
  }
})

t.test('every member has a schema, with any name', async t => {
  const bad: string[] = []
  const walk = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === 'properties' && place.includes('/schema'))
        for (const [one, schema] of Object.entries(member as Members))
          if (typeof schema !== 'object') bad.push(`${place}/${one}`)
      walk(member, `${place}/${name}`)
    }
  }
  walk(document, '')
  t.same(bad, [])
  t.type(at(document, 'components', 'schemas', 'PlanCreate', 'properties', 'description'), 'object')
})

t.test('bodies and parameters are those the server reads', async t => {
  for (const route of routes) {
    const operation = operationOf(route)
    t.equal('requestBody' in operation, route.body !== 'none', titleOf(route))
    const given = operation.parameters as { name?: string; in?: string }[]
    t.same(
      given.filter(one => one.in === 'path').map(one => one.name),
      route.parameters,
    )
    t.same(
      given.filter(one => one.in === 'query').map(one => one.name),
      (route.query?.parameters ?? []).map(one => one.name),
    )
  }
})

/** The schema of a body or an answer, as a reference into the document. */
const pointer = (path: string, method: string, place: string): string =>
  `openapi.json#/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${method}/${place}/content/application~1json/schema`

t.test('every operation has examples, and they match their schemas', async t => {
  for (const route of routes) {
    const title = titleOf(route)
    const operation = operationOf(route)
    const [, method, path] = /^(\w+) (.*)$/.exec(title)!
    const status = Object.keys(operation.responses as object)[0]!
    for (const [place, media] of [
      ['requestBody', at(operation.requestBody, 'content', 'application/json')],
      [`responses/${status}`, at(operation.responses, status, 'content', 'application/json')],
    ] as const) {
      if (media === undefined) continue
      const { example } = media as Members
      if (example === undefined) t.fail(`${title} has no example in ${place}`)
      else if (!ajv.validate({ $ref: pointer(path!, method!.toLowerCase(), place) }, example))
        t.fail(`${title} ${place}: ${ajv.errorsText()}\n${JSON.stringify(example)}`)
    }
    const body = at(operation.requestBody, 'content', 'application/json', 'example')
    if (body !== undefined && route.parse !== null)
      t.doesNotThrow(() => parseBody(JSON.stringify(body), route.parse!), `${title}: the server reads it`)
  }
  const served = routes.map(titleOf)
  for (const title of Object.keys(examples)) t.ok(served.includes(title), title)
})

t.test(
  'decision 32 a write that may be durable before it is shown documents 202, and nothing else does',
  async t => {
    for (const route of routes)
      t.equal(at(operationOf(route), 'responses', '202') !== undefined, route.mayLag, titleOf(route))
    const schema = { $ref: 'openapi.json#/components/responses/202/content/application~1json/schema' }
    t.ok(ajv.validate(schema, { data: { taken: true }, params: {} }))
    t.notOk(ajv.validate(schema, { data: { taken: true, id: 'x' }, params: {} }))
  },
)

t.test('document and page are served without a key, by this host alone', async t => {
  const { server, port } = await start(routes)
  t.teardown(() => server.close())
  const got = await ask(port, { method: 'GET', path: '/openapi.json' })
  t.equal(got.status, 200)
  t.same(JSON.parse(got.text), JSON.parse(JSON.stringify(document)))
  const page = await ask(port, { method: 'GET', path: '/docs/' })
  t.match(page.headers['content-security-policy'], /default-src 'none'; script-src 'self'/)
  t.match(page.headers['cache-control'], 'no-store')
  t.notMatch(page.text, /https?:/)
  for (const [, file] of page.text.matchAll(/(?:src|href)="([^"]+)"/g))
    t.equal((await ask(port, { method: 'GET', path: `/docs/${file}` })).status, 200, file!)
  t.match(await ask(port, { method: 'GET', path: '/docs' }), { status: 302, headers: { location: 'docs/' } })
  t.equal((await ask(port, { method: 'GET', path: '/docs/other.js' })).status, 404)
})

t.test('L5 callers without a key share a budget of bytes of pages, and operations go on', async t => {
  const { server, port } = await start(routes)
  t.teardown(() => server.close())
  const { text: page } = await ask(port, { method: 'GET', path: '/console/' })
  const [, script] = /src="\.?\/?(assets\/[^"]+\.js)"/.exec(page) ?? []
  for (const path of ['/docs/swagger-ui-bundle.js', `/console/${script}`]) {
    const first = await ask(port, { method: 'GET', path })
    t.equal(first.status, 200, path)
    // the budget is 32 MiB at once and 16 MiB a second
    const most = Math.ceil((32 << 20) / first.text.length) + 1
    const asked = Math.min(4 * most, 400)
    const answers = await Promise.all(Array.from({ length: asked }, () => ask(port, { method: 'GET', path })))
    const statuses = new Set(answers.map(one => one.status))
    t.same([...statuses].sort(), [200, 429], `${path}: some are told to come again`)
    const refused = answers.find(one => one.status === 429)!
    t.match(refused.headers, { 'retry-after': /^[1-9]/, 'x-content-type-options': 'nosniff' })
    t.equal((await ask(port, { method: 'GET', path: '/health/live' })).status, 200)
  }
})

t.test('the page leads with the guides and tasks, and each of them is served', async t => {
  const { server, port } = await start(routes)
  t.teardown(() => server.close())
  const page = await ask(port, { method: 'GET', path: '/docs/' })
  const shown = { guides, tasks }
  const served = Object.entries(shown).flatMap(([folder, pages]) =>
    pages.map(([name]) => `/docs/${folder}/${name}`),
  )
  for (const [folder, pages] of Object.entries(shown)) {
    const names = readdirSync(join(root, 'docs', folder)).filter(name => name !== 'README.md')
    t.same(pages.map(([name]) => `${name}.md`).sort(), names.sort())
    for (const [name] of pages) {
      const path = `/docs/${folder}/${name}`
      t.ok(page.text.includes(`href="${folder}/${name}"`), path)
      t.ok(page.text.indexOf(`href="${folder}/${name}"`) < page.text.indexOf('id="docs"'), path)
      const text = await ask(port, { method: 'GET', path })
      t.equal(text.status, 200, path)
      t.match(text.text, folder === 'guides' ? /<h1>.*<pre><code/s : /<h1>.*<(pre|table)>/s)
      const main = /<main>.*<\/main>/s.exec(text.text)![0]
      for (const [, link] of main.matchAll(/href="([^"]+)"/g))
        if (!link!.startsWith('https://'))
          t.ok(served.includes(new URL(link!, `http://here${path}`).pathname), `${path}: ${link}`)
    }
    t.equal((await ask(port, { method: 'GET', path: `/docs/${folder}/none` })).status, 404)
  }
})

t.test('the operations that the interface document names are served', async t => {
  const fixture = JSON.parse(read('test/fixtures/endpoints.json')) as {
    path: string
    method: string
    tag: string
  }[]
  const shape = (method: string, path: string) => `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`
  const served = new Set(routes.map(route => titleOf(route).replaceAll(/\{[^}]+\}/g, '{}')))
  const missing = fixture.filter(one => one.tag === 'seed' && !served.has(shape(one.method, one.path)))
  t.ok(fixture.length > 200)
  t.same(
    missing.map(one => `${one.method} ${one.path}`),
    [],
  )
})

t.test(
  'every operation of the interface document with its statuses and every member of its answer',
  async t => {
    const faults: string[] = []
    for (const one of endpoints.filter(({ tag }) => tag === 'seed')) {
      const shape = (path: string) => path.replaceAll(/\{[^}]+\}/g, '{}')
      const path = Object.keys(document.paths).find(served => shape(served) === shape(one.path))!
      const operation = at(document.paths, path, one.method.toLowerCase())
      const name = `${one.method} ${one.path}`
      for (const status of [one.status, ...one.errors])
        if (at(operation, 'responses', String(status)) === undefined) faults.push(`${name}: no ${status}`)
      const schema = at(operation, 'responses', String(one.status), 'content', 'application/json', 'schema')
      if (one.data !== null) faults.push(...membersMissing(one.data, membersOf(schema).data, name, []))
    }
    t.same(faults, [])
  },
)

/** Documented members that a schema does not have, by where they are. */
function membersMissing(type: string, schema: unknown, where: string, within: readonly string[]): string[] {
  const bare = type.replace(/^(?:R|ON|O) /, '')
  const [, item] = /^list<(.*)>$/.exec(bare) ?? []
  if (item !== undefined) {
    const items = alternatives(schema).find(one => at(one, 'items') !== undefined)
    return items === undefined
      ? [`${where}: no list`]
      : membersMissing(item, at(items, 'items'), `${where}[]`, within)
  }
  const members = types[bare]
  if (members === undefined || typeof members === 'string' || within.includes(bare)) return []
  const shown = membersOf(schema)
  return Object.entries(members).flatMap(([name, of]) =>
    name in shown
      ? membersMissing(of, shown[name], `${where}.${name}`, [...within, bare])
      : [`${where}.${name} (${bare})`],
  )
}

/** A schema and what it is made of, references followed. */
function alternatives(schema: unknown): readonly unknown[] {
  const named = at(schema, '$ref')
  if (typeof named === 'string') return alternatives(at(document, ...named.slice(2).split('/')))
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap(how => (at(schema, how) as unknown[] | undefined) ?? [])
  return [schema, ...parts.flatMap(alternatives)]
}

const membersOf = (schema: unknown): Members =>
  Object.assign({}, ...alternatives(schema).map(one => at(one, 'properties') ?? {}))
