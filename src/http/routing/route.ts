// Rows of the route table and what a row is compiled to. Authentication, limits, envelope and errors are
// the same for every row, so no row mentions them.
import type { IValidation } from 'typia'
import type { Call, Handler, RawBody } from '../../api/kit/call.js'
import type { QueryShape } from '../../api/kit/query.js'

export type Method = 'get' | 'post' | 'put' | 'del'

/**
 * What a key needs (AL-20). `check`: read or capture. `any`: every secret key.
 * Publishable keys pass `check` and `capture` only (AL-22).
 */
export type Scope = 'read' | 'write' | 'admin' | 'capture' | 'check' | 'any'

/** Which budgets a request takes from (service.md section 8); every one takes from global. */
export type LimitKind = 'read' | 'check' | 'mutation' | 'ingest' | 'analytics'

/** A parser made by `typia.json.createValidateParse`. */
export type Parser<Body> = (text: string) => IValidation<Body>

interface Common<Body, Query> {
  readonly scope: Scope
  /** Defaults to `read` for GET and `mutation` for the rest. */
  readonly limit?: LimitKind
  /** `optional`: works at the level of the account too (AL-11). Defaults to `required`. */
  readonly environment?: 'required' | 'optional'
  /** It belongs to the account as a whole: not for keys that are bound to an environment. */
  readonly ofAccount?: boolean
  /** A read that the audit log keeps: of secrets, of what leaves the house, of the log itself. */
  readonly recorded?: boolean
  /** Status of a success. Defaults to 200. */
  readonly status?: number
  /** A POST or PUT that changes nothing, e.g. a preview: open to readonly keys (AL-21). */
  readonly safe?: boolean
  /** Its answers may be kept and given again while they stand: they rest on body, path and environment alone. */
  readonly keeps?: boolean
  /** No exhausted budget refuses who may call it: the way to undo limits that were set too low. */
  readonly neverLimited?: boolean
  /** Spoken by clients of another protocol: a bearer key is one, If-None-Match is read, answers have no envelope. */
  readonly protocol?: 'ofrep'
  /** Where no header carries a key, the first known one that the body names speaks for it (decision 8: the collector). */
  readonly keysInBody?: boolean
  readonly handle: Handler<Body, Query>
}

/** How a row says what its handler's body is: not at all, as received, or through a parser. */
type BodySpec<Body> = [Body] extends [undefined]
  ? { readonly body?: undefined; readonly raw?: undefined }
  : [Body] extends [RawBody]
    ? { readonly body?: undefined; readonly raw: 'one' | 'batch' }
    : { readonly body: Parser<Body>; readonly raw?: undefined }

/** What a row without query parameters has. */
type NoQuery = Readonly<Record<string, never>>

type QuerySpec<Query> = NoQuery extends Query
  ? { readonly query?: QueryShape<Query> }
  : { readonly query: QueryShape<Query> }

/** A row: the handler's type decides which parser and which query shape fit it. */
export type RowSpec<Body, Query> = Common<Body, Query> & BodySpec<Body> & QuerySpec<Query>

/** A compiled row. What the types tied together at the row is opaque from here on. */
export interface Route {
  readonly method: Method
  /** With `:name` parameters. */
  readonly path: string
  readonly parameters: readonly string[]
  readonly scope: Scope
  readonly limit: LimitKind
  readonly environmentRequired: boolean
  readonly ofAccount: boolean
  readonly status: number
  /** A readonly key may not call it (AL-21). */
  readonly mutates: boolean
  /** The audit log is told of it. */
  readonly noted: boolean
  /** `none`: a body is not looked at; `parsed`; `one` and `batch`: as received, with the bound of an ordinary body or of a batch. */
  readonly body: 'none' | 'parsed' | 'one' | 'batch'
  readonly parse: Parser<unknown> | null
  readonly query: QueryShape<unknown> | null
  readonly ofrep: boolean
  readonly keeps: boolean
  readonly neverLimited: boolean
  readonly keysInBody: boolean
  readonly handle: (call: Call<unknown, unknown>) => ReturnType<Handler>
}

/** GET: reads; counts against global only, unless `limit` says `analytics`. */
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

/** One operation under two paths, e.g. a documented one and the one clients really use. */
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
    status: spec.status ?? 200,
    mutates,
    noted: mutates || spec.recorded === true,
    body: spec.raw ?? (spec.body === undefined ? 'none' : 'parsed'),
    parse: spec.body ?? null,
    query: spec.query ?? null,
    ofrep: spec.protocol === 'ofrep',
    keeps: spec.keeps === true,
    neverLimited: spec.neverLimited === true,
    keysInBody: spec.keysInBody === true,
    // The row's type has tied parser, query and handler together; the table holds rows of every type.
    handle: spec.handle as unknown as Route['handle'],
  }
}

function parametersOf(path: string): readonly string[] {
  const names = path.split('/').filter(part => part.startsWith(':'))
  return names.map(name => name.slice(1))
}

/** Throws when two rows answer the same method and path: called once, when the table is loaded. */
export function assertDistinct(routes: readonly Route[]): void {
  const seen = new Set<string>()
  for (const route of routes) {
    const shape = `${route.method} ${route.path.replaceAll(/:[^/]+/g, ':')}`
    if (seen.has(shape)) throw new Error(`Two routes answer ${route.method} ${route.path}`)
    seen.add(shape)
  }
}
