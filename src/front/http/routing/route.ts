// Rows of the route table and their compiled form. Authentication, limits, envelope and errors are the same for every
// row, so rows do not mention them.
import type { IValidation } from 'typia'
import type { HoldKeyKind } from '../../../entities/idempotency/hold-keys.js'
import type { Call, Handler, RawBody } from '../../../kit/call.js'
import type { QueryShape } from '../../../kit/query.js'

export type Method = 'get' | 'post' | 'put' | 'del'

/**
 * The scope that a route needs (AL-20). `check`: read, capture or check. `any`: every secret key.
 * `portal`: read, and tokens of a company. Publishable keys may use `check` and `capture` only (AL-22).
 */
export type Scope = 'read' | 'write' | 'admin' | 'capture' | 'check' | 'any' | 'portal'

/** The rate-limit buckets of a route; every kind includes global. */
export type LimitKind = 'read' | 'check' | 'mutation' | 'ingest' | 'analytics'

/** A parser made by `typia.json.createValidateParse`. */
export type Parser<Body> = (text: string) => IValidation<Body>

interface Common<Body, Query> {
  readonly scope: Scope
  /** Defaults to `read` for GET and `mutation` for the rest. */
  readonly limit?: LimitKind
  /** `optional`: also account-wide (AL-11). Default `required`. */
  readonly environment?: 'required' | 'optional'
  /** An account-wide operation: not for keys bound to an environment. */
  readonly ofAccount?: boolean
  /**
   * Its change is seen in every environment: a person needs a role in each. Default: whether it works without an
   * environment, but for operations of admins on a part of one.
   */
  readonly seenEverywhere?: boolean
  /** A read that the audit log records: of secrets, of exports, of the log itself. */
  readonly recorded?: boolean
  /** Status of a success. Default 200. */
  readonly status?: number
  /** A POST or PUT that changes nothing, e.g. a preview: allowed for read-only keys (AL-21). */
  readonly safe?: boolean
  /** A write that is answered from the journal alone: it goes on while Postgres is away. */
  readonly journaled?: boolean
  /** Its write may be durable before the stores show it: 202 when they do not (decision 32). */
  readonly mayLag?: boolean
  /**
   * It honours an idempotency key (decision 37): `once` by its answer alone; `anew` likewise, but it is done again where
   * the first answer was lost, because it does nothing twice; the kind of key where its handler also knows what it held
   * under the key of a body (CR-73, CR-80): those keys are a namespace of their own.
   */
  readonly keyed?: 'anew' | 'once' | HoldKeyKind
  /** Never refused by rate limits, so that limits set too low can be undone. */
  readonly neverLimited?: boolean
  /** A read of a definition: it answers an ETag, which PUT and DELETE of the same path honour as If-Match (decision 38). */
  readonly tagged?: boolean
  /** The path of the tagged read whose ETag a write of another path honours. */
  readonly of?: string
  /** It honours `Prefer: return=minimal`: the handler leaves out parts of its answer that are costly to read (`Call.minimal`). */
  readonly prefers?: boolean
  /** A route of another protocol: accepts a bearer key, reads If-None-Match, has no envelope. */
  readonly protocol?: 'ofrep'
  /** Without a key in a header, the first known key in the body is used (decision 8: the collector). */
  readonly keysInBody?: boolean
  readonly handle: Handler<Body, Query>
}

/** How the handler's body is read: not at all, as received, or by a parser. */
type BodySpec<Body> = [Body] extends [undefined]
  ? { readonly body?: undefined; readonly raw?: undefined }
  : [Body] extends [RawBody]
    ? { readonly body?: undefined; readonly raw: 'one' | 'batch' }
    : { readonly body: Parser<Body>; readonly raw?: undefined }

/** The query of a row without query parameters. */
type NoQuery = Readonly<Record<string, never>>

type QuerySpec<Query> = NoQuery extends Query
  ? { readonly query?: QueryShape<Query> }
  : { readonly query: QueryShape<Query> }

/** A row: the handler's type determines the parser and the query shape. */
type RowSpec<Body, Query> = Common<Body, Query> & BodySpec<Body> & QuerySpec<Query>

/** A compiled row. Its type parameters are erased. */
export interface Route {
  readonly method: Method
  /** With `:name` parameters. */
  readonly path: string
  readonly parameters: readonly string[]
  readonly scope: Scope
  readonly limit: LimitKind
  readonly environmentRequired: boolean
  readonly ofAccount: boolean
  /** It changes what belongs to the whole account: a person needs a role in every environment. */
  readonly changesAccount: boolean
  readonly status: number
  /** Not for read-only keys (AL-21). */
  readonly mutates: boolean
  /** Its answer waits for Postgres: nothing is done while that is away. */
  readonly waitsForPostgres: boolean
  /** It answers 202 when its write is durable and cannot be shown yet (decision 32). */
  readonly mayLag: boolean
  /** It honours an idempotency key (decision 37). */
  readonly keyed: 'anew' | 'once' | HoldKeyKind | null
  /** The audit log records it. */
  readonly noted: boolean
  /**
   * `none`: the body is ignored; `parsed`; `one` and `batch`: as received, with the bound of an ordinary body or of
   * a batch.
   */
  readonly body: 'none' | 'parsed' | 'one' | 'batch'
  readonly parse: Parser<unknown> | null
  readonly query: QueryShape<unknown> | null
  readonly ofrep: boolean
  /** Its answer has an ETag (decision 38). */
  readonly tagged: boolean
  /** The path of the read whose ETag it honours as If-Match, if that read is tagged. */
  readonly of: string
  /** It honours `Prefer: return=minimal`. */
  readonly prefers: boolean
  readonly neverLimited: boolean
  readonly keysInBody: boolean
  readonly handle: (call: Call<unknown, unknown>) => ReturnType<Handler>
}

/** A GET route: reads; limited by global only, unless `limit` is `analytics`. */
export function get<Query = NoQuery>(path: string, spec: RowSpec<undefined, Query>): Route {
  return compile('get', path, spec)
}

export function post<Body = undefined, Query = NoQuery>(path: string, spec: RowSpec<Body, Query>): Route {
  return compile('post', path, spec)
}

export function put<Body = undefined, Query = NoQuery>(path: string, spec: RowSpec<Body, Query>): Route {
  return compile('put', path, spec)
}

export function del<Body = undefined, Query = NoQuery>(path: string, spec: RowSpec<Body, Query>): Route {
  return compile('del', path, spec)
}

/** The same operation under a second path, e.g. a documented path and one that clients use. */
export function also(path: string, route: Route): Route {
  return { ...route, path, parameters: parametersOf(path) }
}

function compile<Body, Query>(method: Method, path: string, spec: RowSpec<Body, Query>): Route {
  const limit = spec.limit ?? (method === 'get' ? 'read' : 'mutation')
  const mutates = limit === 'mutation' && method !== 'get' && spec.safe !== true
  return {
    method,
    path,
    parameters: parametersOf(path),
    scope: spec.scope,
    limit,
    environmentRequired: spec.environment !== 'optional',
    ofAccount: spec.ofAccount === true,
    changesAccount: mutates && (spec.seenEverywhere ?? isWide(spec)),
    status: spec.status ?? 200,
    mutates,
    waitsForPostgres: mutates && spec.journaled !== true,
    // a key whose answer was lost is answered so, too
    mayLag: spec.mayLag === true || spec.keyed !== undefined,
    keyed: spec.keyed ?? null,
    noted: mutates || spec.recorded === true,
    body: spec.raw ?? (spec.body === undefined ? 'none' : 'parsed'),
    parse: spec.body ?? null,
    query: spec.query ?? null,
    tagged: spec.tagged === true,
    of: spec.of ?? (method === 'post' ? '' : path),
    ofrep: spec.protocol === 'ofrep',
    prefers: spec.prefers === true,
    neverLimited: spec.neverLimited === true,
    keysInBody: spec.keysInBody === true,
    // the row's type has checked that parser, query and handler fit; the table mixes rows of all types
    handle: spec.handle as unknown as Route['handle'],
  }
}

function isWide({
  scope,
  environment,
  ofAccount,
}: Pick<Common<never, never>, 'scope' | 'environment' | 'ofAccount'>): boolean {
  return environment === 'optional' && (scope !== 'admin' || ofAccount === true)
}

/** The tagged read of what a write changes, or null: such a write ignores If-Match. */
export function taggedRead(route: Route, routes: readonly Route[]): Route | null {
  if (!route.mutates) return null
  return routes.find(({ method, path, tagged }) => tagged && method === 'get' && path === route.of) ?? null
}

function parametersOf(path: string): readonly string[] {
  const names = path.split('/').filter(part => part.startsWith(':'))
  return names.map(name => name.slice(1))
}

/** Throws if two rows have the same method and path. Called once, when the table is loaded. */
export function assertDistinct(routes: readonly Route[]): void {
  const seen = new Set<string>()
  for (const route of routes) {
    const shape = `${route.method} ${route.path.replaceAll(/:[^/]+/g, ':')}`
    if (seen.has(shape)) throw new Error(`Two routes answer ${route.method} ${route.path}`)
    seen.add(shape)
  }
}

/** HTTP methods by the names that routes give them. */
export const verbs = { get: 'get', post: 'post', put: 'put', del: 'delete' } as const

/** The name of a row in `Operations`: `GET /companies/{company_id}`. */
export function titleOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${verbs[method].toUpperCase()} ${templateOf(path)}`
}

/** A path as the OpenAPI document writes it: `/companies/{company_id}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}
