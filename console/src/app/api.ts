// Typed calls of the service with the session's cookie. Answers are read without rounding.
import createClient from 'openapi-fetch'
import type { components, paths } from '../../../clients/typescript/src/api-types.js'
import { parseExact } from '../../../clients/typescript/src/exact.js'

export type Schemas = components['schemas']
type Verb = 'get' | 'post' | 'put' | 'delete'
type Op<P extends keyof paths, V extends Verb> = V extends keyof paths[P] ? paths[P][V] : never
type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? Q : never
type BodyOf<O> = O extends { requestBody?: infer R }
  ? NonNullable<R> extends { content: { 'application/json': infer B } }
    ? B
    : undefined
  : undefined
type Json<R> = R extends { content: { 'application/json': infer B } } ? B : never
type AnswerOf<O> = O extends { responses: infer R }
  ? Json<R[Extract<keyof R, 200 | 201>]> extends { data: infer D }
    ? D
    : never
  : never

/** Paths that have this method. */
type With<V extends Verb> = {
  [P in keyof paths]: paths[P] extends { [K in V]: object } ? P : never
}[keyof paths]

interface Ask<O> {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: QueryOf<O> | undefined
  readonly body?: BodyOf<O>
  /** The environment; absent: that of this tab. null: none. */
  readonly environment?: string | null
  readonly signal?: AbortSignal
}

/** A refusal of the service, with its words for people. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
    this.name = 'Refused'
  }
}

/** Whether a later try may succeed: the service, a store or a proxy did not answer, or the service asked to wait. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Refused && [0, 429, 502, 503, 504].includes(error.status)

/** Address of the console's folder, whatever prefix it is behind. */
export const base = new URL('./', document.baseURI)

/** A body as JSON; whole numbers beyond 2^53 have all their digits. No field of a page holds U+0000. */
const exactText = (body: unknown): string =>
  JSON.stringify(body, (_, one: unknown) => (typeof one === 'bigint' ? `\0${one}` : one)).replaceAll(
    /"\\u0000(-?\d+)"/g,
    '$1',
  )

const client = createClient<paths>({ baseUrl: new URL('api', base).href, bodySerializer: exactText })

let environmentId = ''
/** The environment of this tab, sent with each request. */
export function setEnvironment(id: string): void {
  environmentId = id
}

const listeners = new Set<() => void>()
/** Called when the service says that nobody is signed in any more. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

async function ask<V extends Verb, P extends With<V>>(
  verb: V,
  path: P,
  given: Ask<Op<P, V>> = {},
): Promise<AnswerOf<Op<P, V>>> {
  const { text } = await textOf(verb, path, given)
  return (parseExact(text ?? 'null') as { data: AnswerOf<Op<P, V>> }).data
}

/** A page of a list, and where the next one begins; null: this is the last. */
export interface ListPage<T> {
  readonly data: T
  readonly next: string | null
}

async function askPage<P extends With<'get'>>(
  path: P,
  given: Ask<Op<P, 'get'>> = {},
): Promise<ListPage<AnswerOf<Op<P, 'get'>>>> {
  const { text, response } = await textOf('get', path, given)
  const { data } = parseExact(text ?? 'null') as { data: AnswerOf<Op<P, 'get'>> }
  return { data, next: response.headers.get('X-Next-Cursor') }
}

/** Rows of a request for all, and requests for all rows of a list: more than any catalogue has. */
const allLimit = 250
const allRequestsMax = 40

/** All rows of a list. */
async function askAll<P extends With<'get'>>(
  path: P,
  given: Ask<Op<P, 'get'>> = {},
): Promise<AnswerOf<Op<P, 'get'>>> {
  const rows: unknown[] = []
  let cursor: string | null = null
  for (let asked = 0; asked < allRequestsMax; asked++) {
    const query: object = { ...(given.query as object), limit: allLimit, ...(cursor !== null && { cursor }) }
    const page: ListPage<unknown> = await askPage(path, { ...given, query: query as never })
    rows.push(...(page.data as readonly unknown[]))
    cursor = page.next
    if (cursor === null) break
  }
  return rows as AnswerOf<Op<P, 'get'>>
}

async function textOf<V extends Verb, P extends With<V>>(
  verb: V,
  path: P,
  given: Ask<Op<P, V>>,
): Promise<{ text: string | undefined; response: Response }> {
  const { environment = environmentId } = given
  const answer = await client
    .request(
      verb,
      path as never,
      {
        params: { path: given.path, query: given.query },
        ...(given.body === undefined ? {} : { body: given.body }),
        headers: environment ? { 'X-Service-Environment-Id': environment } : {},
        parseAs: 'text',
        signal: given.signal,
      } as never,
    )
    .catch((error: unknown) => {
      if (given.signal?.aborted) throw error
      throw unanswered()
    })
  const { response, data, error } = answer as { response: Response; data?: string; error?: unknown }
  if (response.status === 401) for (const listener of listeners) listener()
  if (!response.ok) throw new Refused(response.status, wordsOf(error, response.status))
  return { text: data, response }
}

/** The error of a request that nothing answered. */
export const unanswered = () => new Refused(0, 'Tollgate does not answer. It is tried again.')

function wordsOf(error: unknown, status: number): string {
  const body = typeof error === 'string' ? safely(error) : error
  const words = (body as { error?: unknown } | null)?.error
  return typeof words === 'string' ? words : `The service answered ${status}`
}

function safely(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const api = {
  get: <P extends With<'get'>>(path: P, given?: Ask<Op<P, 'get'>>) => ask('get', path, given),
  page: <P extends With<'get'>>(path: P, given?: Ask<Op<P, 'get'>>) => askPage(path, given),
  /** All rows of a list of definitions, however many requests that takes. */
  all: <P extends With<'get'>>(path: P, given?: Ask<Op<P, 'get'>>) => askAll(path, given),
  /** The text of a file. */
  file: async <P extends With<'get'>>(path: P, given: Ask<Op<P, 'get'>> = {}) =>
    (await textOf('get', path, given)).text ?? '',
  post: <P extends With<'post'>>(path: P, given?: Ask<Op<P, 'post'>>) => ask('post', path, given),
  put: <P extends With<'put'>>(path: P, given?: Ask<Op<P, 'put'>>) => ask('put', path, given),
  del: <P extends With<'delete'>>(path: P, given?: Ask<Op<P, 'delete'>>) => ask('delete', path, given),
}

/** Who is signed in, as /console/session tells. */
export interface Session {
  readonly signed_in: {
    readonly name: string | null
    readonly api_key_id: string | null
    readonly expires_at: string
  } | null
  readonly sign_on: boolean
}

async function session(method: string, body?: object): Promise<Session> {
  const response = await fetch(new URL('session', base), {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  }).catch(() => {
    throw unanswered()
  })
  const text = await response.text()
  if (!response.ok) throw new Refused(response.status, wordsOf(text, response.status))
  return (JSON.parse(text) as { data: Session }).data
}

export const readSession = () => session('GET')
export const signIn = (by: { key: string } | { token: string }) => session('POST', by)
export const signOut = () => session('DELETE')

/** Send an event with the environment's publishable key, which is no secret; the cookie never sends events. */
export async function sendEvent(publishableKey: string, event: object): Promise<void> {
  const response = await fetch(new URL('../events', base), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Service-Api-Key': publishableKey },
    body: exactText(event),
    credentials: 'omit',
  })
  if (!response.ok) throw new Refused(response.status, wordsOf(await response.text(), response.status))
}
