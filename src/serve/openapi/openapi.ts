// Generates the OpenAPI 3.1 document from the route table and the schemas.
import { readFileSync } from 'node:fs'
import { type KeyScope, type RateLimitBucket, rateLimitBuckets } from '../../../schemas/enums.js'
import { operationSchemas } from '../../../schemas/operations.js'
import { type ErrorCode, errorRows } from '../../errors.js'
import {
  type LimitKind,
  type Route,
  type Scope,
  taggedRead,
  templateOf,
  titleOf,
  verbs,
} from '../../front/http/routing/route.js'
import type { QueryParameter } from '../../kit/query.js'
import { exampleOf, parameterExample } from './examples.js'
import { parameterText } from './parameters.js'
import { sentenceOf } from './sentences.js'
import { examples, groups, introduction, otherBodies, tagTexts } from './texts.js'

/** A JSON object in the document. */
export interface Json {
  readonly [name: string]: unknown
}

export interface Document extends Json {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> } & Json
}

interface Schema extends Json {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly description?: string
}

/** Keywords whose order has no meaning. The compiler lists unions in the order in which it met their types. */
const unordered: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'enum'])

type Schemas = Readonly<Record<string, Schema>>
let sorted: Schemas | null = null

/** The schemas by name. Sorting takes some 40 ms, so it waits for the first use: a start needs none of them. */
function schemasByName(): Schemas {
  sorted ??= steadilyNamed(ordered(operationSchemas.components.schemas) as Schemas)
  return sorted
}

/** The same schemas. A name that consists of the words of a union has the words in one order for every build. */
function steadilyNamed(schemas: Schemas): Schemas {
  const steady = new Map<string, string>()
  for (const [name, { oneOf }] of Object.entries(schemas)) {
    const words = Array.isArray(oneOf) ? oneOf.flatMap(one => (one as Json).const ?? []) : []
    if (words.length > 1 && isMadeOf(name, words)) steady.set(name, `May${words.join('')}`)
  }
  // names of schemas, and references to them
  const named = JSON.stringify(schemas).replaceAll(/(?<=["/])May\w+(?=")/g, name => steady.get(name) ?? name)
  return JSON.parse(named) as Schemas
}

/** Whether a name is `May` and these words, in any order. */
function isMadeOf(name: string, words: readonly unknown[]): boolean {
  const letters = (text: string) => [...text].toSorted().join('')
  return name.startsWith('May') && letters(name) === letters(`May${words.join('')}`)
}

const operations = (): Schemas => schemasByName().Operations!.properties!
/** The same schema, with its unions in one order for every build. */
function ordered(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(ordered)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => {
      const inner = ordered(value)
      return [name, unordered.has(name) && Array.isArray(inner) ? inner.toSorted(byText) : inner]
    }),
  )
}

function byText(a: unknown, b: unknown): number {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Names that the compiler generates for anonymous types: these are inlined. */
const nameless = /^(__type|object$|(Readonly)?(Record|Array|Omit|Pick|Partial|May\())|\.\.\./

/** Routes without a line in `Operations`, and lines without a route; both must be empty. */
export function undescribed(routes: readonly Route[]): { missing: string[]; left: string[] } {
  const served = new Set(routes.map(titleOf))
  const described = operations()
  return {
    missing: [...served].filter(title => described[title] === undefined),
    left: Object.keys(described).filter(title => !served.has(title)),
  }
}

/** The document of these routes. */
export function openApi(routes: readonly Route[]): Document {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const path = templateOf(route.path)
    paths[path] ??= {}
    paths[path][verbs[route.method]] = operationOf(route, taggedRead(route, routes) !== null)
  }
  const order = Object.keys(tagTexts)
  const tags = [...new Set(routes.map(tagOf))].sort(
    (a, b) => rank(order, a) - rank(order, b) || (a < b ? -1 : 1),
  )
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: interfaceVersion,
      'x-product-version': productVersion(),
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...tags, operationTag].map(name => ({
      name,
      ...(tagTexts[name] ? { description: tagTexts[name] } : {}),
    })),
    security: [{ apiKey: [] }],
    paths: { ...paths, ...operatorPaths },
    components: { schemas: schemas(), responses: sharedResponses(), headers, parameters, securitySchemes },
  }
}

/** guarded  whether it honours If-Match. */
function operationOf(route: Route, guarded: boolean): Json {
  const title = titleOf(route)
  const told = operations()[title]
  const { id, body, data, file } = told?.properties ?? {}
  const operationId =
    (id?.const as string | undefined) ?? `${route.method}${route.path.replaceAll(/\W+/g, '_')}`
  return {
    tags: [tagOf(route)],
    operationId,
    summary: sentence(operationId),
    description: [told?.description ?? sentenceOf(title), needs(route)].filter(Boolean).join('\n\n'),
    ...(route.ofrep ? { security: [{ apiKey: [] }, { bearer: [] }] } : {}),
    parameters: [
      ...pathParameters(route),
      ...(route.query?.parameters ?? []).map(parameterOf),
      environmentParameter,
      ...(route.keyed === null ? [] : [keyParameter]),
      ...(guarded ? [matchParameter] : []),
      ...(route.prefers ? [preferParameter] : []),
    ],
    ...(route.body === 'none' ? {} : { requestBody: bodyOf(route, body, title) }),
    responses: {
      [route.status]: file ? fileOf(file) : answerOf(route, data, title),
      ...takenOf(route),
      ...errorsOf(route),
      ...(guarded ? { 412: { $ref: '#/components/responses/412' } } : {}),
    },
    'x-scope': route.scope,
    'x-rate-limit-buckets': bucketsOf[route.limit],
  }
}

const bucketsOf: Readonly<Record<LimitKind, readonly RateLimitBucket[]>> = {
  read: ['global'],
  check: ['global'],
  mutation: ['global', 'mutation'],
  ingest: ['global', 'events_ingest'],
  analytics: ['global', 'analytics'],
}

const scopeTexts: Readonly<Record<Scope, string>> = {
  read: 'Needs the scope `read`',
  write: 'Needs the scope `write`',
  admin: 'Needs the scope `admin`',
  capture: 'Needs the scope `capture`; publishable keys are allowed',
  check: 'Needs the scope `check`, `read` or `capture`; publishable keys are allowed',
  any: 'Any secret key is allowed',
  portal: 'Needs the scope `read`, or a token of the company',
} satisfies Record<Scope | KeyScope, string>

function needs(route: Route): string {
  const buckets = bucketsOf[route.limit].map(name => `\`${name}\``).join(' and ')
  const readOnly = route.mutates ? '; not for read-only keys' : ''
  const account = route.environmentRequired ? '' : ' Works without an environment.'
  return `${scopeTexts[route.scope]}${readOnly}. Counts against ${buckets}.${account}`
}

function bodyOf(route: Route, schema: Schema | undefined, title: string): Json {
  const example = examples[title]?.body ?? exampleOf(schema ?? {}, schemasByName())
  return {
    required: true,
    content: {
      'application/json': { schema: schemaOf(schema ?? { type: 'object' }), example },
      ...otherBodies[title],
    },
    description: `At most ${route.body === 'batch' ? '10 000 events and 8 MiB' : '1 MiB'}, \`Content-Encoding: gzip\` accepted.`,
  }
}

/** Whether a route answers a page of a list, which a cursor goes on from (decision 38). */
const isPaged = ({ path, query }: Route): boolean =>
  query?.parameters.some(({ name }) => name === 'cursor') === true && !path.endsWith('/count')

function answerOf(route: Route, schema: Schema | undefined, title: string): Json {
  const example = examples[title]?.data ?? exampleOf(schema ?? {}, schemasByName())
  const data = schemaOf(schema ?? {})
  const params = examples[title]?.params ?? {}
  const shown = { example: route.ofrep ? example : { data: example, params } }
  return {
    description: route.status === 201 ? 'Created' : 'Success',
    headers: headerReferences([
      ...rateLimitHeaders,
      ...(route.ofrep || route.tagged ? ['ETag'] : []),
      ...(route.keyed === null ? [] : ['Idempotency-Replayed']),
      ...(route.prefers ? ['Preference-Applied'] : []),
      ...(isPaged(route) ? ['X-Next-Cursor'] : []),
    ]),
    content: { 'application/json': { schema: route.ofrep ? data : enveloped(data), ...shown } },
  }
}

function enveloped(data: Json): Json {
  return {
    type: 'object',
    properties: {
      data,
      params: {
        type: 'object',
        description: 'The path and query parameters of the request.',
        additionalProperties: true,
      },
    },
    required: ['data', 'params'],
  }
}

function fileOf(types: Schema): Json {
  const constants = (types.oneOf ?? [types]) as readonly { readonly const: string }[]
  const content = Object.fromEntries(constants.map(type => [type.const, { schema: { type: 'string' } }]))
  return {
    description: 'The file, without an envelope',
    headers: headerReferences(rateLimitHeaders),
    content,
  }
}

/** The answer of a write that is durable and cannot be shown yet. */
function takenOf(route: Route): Json {
  return route.mayLag ? { 202: { $ref: '#/components/responses/202' } } : {}
}

/** Paths that may answer 402: the balance is too small. */
const spends = /lease|reserv/

function errorsOf(route: Route): Json {
  const statuses = new Set([400, 401, 403, 404, 429, 500, 503])
  if (spends.test(route.path) && route.method !== 'get') statuses.add(402)
  if (route.keyed !== null) statuses.add(409)
  const responses: Record<string, Json> = {}
  for (const status of [...statuses].sort()) responses[status] = { $ref: `#/components/responses/${status}` }
  if (route.ofrep) {
    const failure = { $ref: '#/components/schemas/OfrepFailure' }
    for (const status of ['400', '404'])
      responses[status] = {
        description: 'The error in OFREP form',
        content: { 'application/json': { schema: failure } },
      }
    responses['304'] = { description: 'Unchanged since the ETag in If-None-Match' }
  }
  return responses
}

function pathParameters(route: Route): readonly Json[] {
  return route.parameters.map(name => ({
    name,
    in: 'path',
    required: true,
    description: parameterText(name),
    schema: { type: 'string' },
    example: parameterExample(name),
  }))
}

function parameterOf({ name, spelling, required, schema }: QueryParameter): Json {
  const { description = parameterText(name), ...plain } = schema
  const map = spelling === 'map' || spelling === 'map_or_bare'
  return {
    name,
    in: 'query',
    required,
    ...(description === undefined ? {} : { description }),
    ...(map ? { style: 'deepObject', explode: true, description: mapText(name, spelling) } : {}),
    schema: plain,
    ...(name === 'keys' && map ? { example: { slug: 'acme' } } : {}),
  }
}

function mapText(name: string, spelling: QueryParameter['spelling']): string {
  const bare = spelling === 'map_or_bare' ? ', or simply `?name=value`' : ''
  return `\`?${name}[name]=value\`, or a JSON object${bare}.`
}

/** The named schemas, without compiler-generated names. */
function schemas(): Record<string, Json> {
  const named: Record<string, Json> = {}
  for (const [name, schema] of Object.entries(schemasByName()))
    if (name !== 'Operations' && !nameless.test(name)) named[name] = schemaOf(schema)
  named.Error = errorSchema
  named.RateLimited = rateLimitedSchema
  named.Taken = takenSchema
  return named
}

/** A schema with anonymous types inlined, and without rule numbers in its texts. */
function schemaOf(schema: unknown): Json {
  if (Array.isArray(schema)) return schema.map(schemaOf) as unknown as Json
  if (typeof schema !== 'object' || schema === null) return schema as unknown as Json
  const { $ref, ...rest } = schema as Schema & { $ref?: string }
  const name = $ref?.split('/').at(-1)
  if (name !== undefined && nameless.test(name)) return schemaOf({ ...schemasByName()[name], ...rest })
  const made: Record<string, unknown> = name === undefined ? {} : { $ref }
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'required' && Array.isArray(value) && value.length === 0) continue
    // schemas of a union may overlap: the short and the full view of an entity
    const wide = key === 'oneOf' && !('discriminator' in rest) ? 'anyOf' : key
    // the name may also be that of a member
    made[wide] = key === 'description' && typeof value === 'string' ? withoutRules(value) : schemaOf(value)
  }
  return made
}

function withoutRules(text: string): string {
  return text.replaceAll(/ \((?:[A-Z]{2}-\d|decision \d)[^)]*\)/g, '')
}

/** `listCompanyOverrides` reads "List company overrides". */
function sentence(id: string): string {
  const words = id.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function tagOf({ path }: Route): string {
  const parts = path.replace(/^\/v2/, '').slice(1).split('/')
  const name = parts[0] === 'billing' && parts[1] === 'credits' ? 'Credits' : groups[parts[0]!]
  if (name !== undefined) return name
  const words = parts[0]!.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

// The most used groups come first.
function rank(order: readonly string[], tag: string): number {
  const at = order.indexOf(tag)
  return at < 0 ? order.length : at
}

const operationTag = 'Operation'

const errorSchema = {
  type: 'object',
  properties: { error: { type: 'string', description: 'The error message.' } },
  required: ['error'],
}

const rateLimitedSchema = {
  type: 'object',
  properties: {
    error: { type: 'string' },
    bucket: { type: 'string', enum: rateLimitBuckets, description: 'The rate limit that was exceeded.' },
  },
  required: ['error', 'bucket'],
}

const rateLimitHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

const number = { type: 'integer', minimum: 0 }
const headers = {
  'X-RateLimit-Limit': {
    description: 'Size of the limit with the least left; absent without limits.',
    schema: number,
  },
  'X-RateLimit-Remaining': { description: 'Requests left.', schema: number },
  'X-RateLimit-Reset': { description: 'Seconds until the limit is full again.', schema: number },
  'Retry-After': { description: 'Seconds to wait before a retry.', schema: number },
  'X-Request-Id': { description: 'Identifies the request in the log.', schema: { type: 'string' } },
  'Idempotency-Replayed': {
    description: 'The first answer to the idempotency key, given again.',
    schema: { type: 'string', const: 'true' },
  },
  'X-Next-Cursor': {
    description: 'While more rows may follow: the `cursor` of the next page.',
    schema: { type: 'string' },
  },
  'Preference-Applied': {
    description: 'The answer is the short one that `Prefer` asked for.',
    schema: { type: 'string', const: 'return=minimal' },
  },
  ETag: {
    description: 'Identifies this response: of a check, for If-None-Match; of a definition, for If-Match.',
    schema: { type: 'string' },
  },
}

function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

const parameters = {
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description:
      'The `ETag` of the read that the change is based on, or several, or `*`. A definition that was changed since: 412, and nothing is done.',
    schema: { type: 'string' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description:
      '`return=minimal`: `data` has `id`, `environment_id`, `name`, `keys` (values by name), `created_at`, `updated_at` and `last_seen_at` alone. The write costs less so, and is as durable.',
    schema: { type: 'string', example: 'return=minimal' },
  },
  Environment: {
    name: 'X-Service-Environment-Id',
    in: 'header',
    required: false,
    description:
      'The environment of the request. Required with account-wide keys; other keys have their own.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A key of your own for this change, honoured for 24 hours: the same request under it is made once and answers the first answer again, with `Idempotency-Replayed: true`. Another request under it: 409. Answers of 4xx leave the key free. In a body the member `idempotency_key` says the same. Two different keys in one request: 400.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
}
const preferParameter = { $ref: '#/components/parameters/Prefer' }
const matchParameter = { $ref: '#/components/parameters/IfMatch' }
const keyParameter = { $ref: '#/components/parameters/IdempotencyKey' }
const environmentParameter = { $ref: '#/components/parameters/Environment' }

const securitySchemes = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Api-Key',
    description:
      'A secret key (`sk_…`), or a publishable one (`pk_…`) for checks and for track and identify events.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same key, in the form of OFREP clients.' },
}

/** The 202 of writes, and one response per status in the table of errors. */
function sharedResponses(): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const [code, [status]] of Object.entries(errorRows) as [ErrorCode, readonly [number, string]][])
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  const made: Record<string, Json> = { 202: taken }
  for (const [status, codes] of byStatus) {
    const names = ['X-Request-Id']
    if (status === 429 || status === 503) names.push('Retry-After')
    if (status !== 401) names.push(...rateLimitHeaders)
    const name = status === 429 ? 'RateLimited' : 'Error'
    const [first] = codes
    const error = errorRows[first!][1]
    made[status] = {
      description: [...new Set(codes.map(code => errorRows[code][1]))].join(' · '),
      headers: headerReferences(names),
      content: {
        'application/json': {
          schema: { $ref: `#/components/schemas/${name}` },
          example:
            status === 429
              ? { error: 'Too many requests: the global limit is exhausted', bucket: 'global' }
              : { error },
        },
      },
    }
  }
  return made
}

const taken = {
  description:
    'Taken: the change is durable and holds for checks, and a store went away before its result could be read. Reads show it when the store is back. Do not send it again.',
  headers: headerReferences(rateLimitHeaders),
  content: {
    'application/json': {
      schema: enveloped({ $ref: '#/components/schemas/Taken' }),
      example: { data: { taken: true }, params: {} },
    },
  },
}

const takenSchema = {
  type: 'object',
  properties: { taken: { const: true, description: 'The change is durable.' } },
  required: ['taken'],
  additionalProperties: false,
}

const health = {
  type: 'object',
  properties: {
    status: { type: 'string' },
    version: { type: 'string', description: 'Of Tollgate; only where the process says that it lives.' },
    degraded: {
      type: 'array',
      items: { type: 'string' },
      description: 'What works less well than it should.',
    },
  },
}

function open(operationId: string, description: string, type: string, schema: Json, more: Json = {}): Json {
  const responses = { 200: { description: 'Done', content: { [type]: { schema } } }, ...more }
  return {
    get: {
      tags: [operationTag],
      operationId,
      summary: sentence(operationId),
      description,
      security: [],
      responses,
    },
  }
}

const notReady = {
  503: { description: 'Starting or stopping', content: { 'application/json': { schema: errorSchema } } },
}
const datastream = {
  get: {
    tags: [operationTag],
    operationId: 'openDatastream',
    summary: sentence('openDatastream'),
    description:
      'Opens a WebSocket that tells flags, companies and users, and every change of them. Needs the scope `read`. docs/datastream.md describes its messages.',
    responses: {
      101: { description: 'Switching Protocols' },
      ...Object.fromEntries(
        [400, 401, 403, 429, 503].map(status => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  },
}

const operatorPaths = {
  '/catalog.schema.json': open(
    'getCatalogSchema',
    'The JSON schema of a catalogue document, for editors. Needs no key.',
    'application/schema+json',
    { type: 'object' },
  ),
  '/datastream': datastream,
  '/health/live': open('getLive', 'The process turns. Needs no key.', 'application/json', health),
  '/health/ready': open('getReady', 'It serves. Needs no key.', 'application/json', health, notReady),
  '/metrics': open('getMetrics', 'Numbers for Prometheus. Needs no key.', 'text/plain', { type: 'string' }),
  '/openapi.json': open('getOpenApi', 'This document. Needs no key.', 'application/json', { type: 'object' }),
} as unknown as Document['paths']

/** The version of the interface; the product's own version is separate. source: interface document */
const interfaceVersion = '1.0.0'

export function productVersion(): string {
  const text = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
