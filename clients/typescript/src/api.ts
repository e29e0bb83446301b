// Typed calls for every operation of the interface.
import createClient, { type Client } from 'openapi-fetch'
import type { paths } from './api-types.js'

/** One method for each HTTP method, typed by path: `api.GET('/companies/{company_id}', { params: … })`. */
export type Api = Client<paths>

export interface Connection {
  readonly url: string
  readonly key: string
  readonly environmentId?: string | undefined
  /** A signed context, with a publishable key. */
  readonly signedContext?: (() => string | Promise<string>) | undefined
  readonly fetch: typeof fetch
}

/** Headers of a request. */
export async function headersOf({
  key,
  environmentId,
  signedContext,
}: Connection): Promise<Record<string, string>> {
  const headers: Record<string, string> = { 'X-Service-Api-Key': key }
  if (environmentId !== undefined) headers['X-Service-Environment-Id'] = environmentId
  if (signedContext !== undefined) headers['X-Service-Signed-Context'] = await signedContext()
  return headers
}

export function makeApi(connection: Connection): Api {
  const api = createClient<paths>({ baseUrl: connection.url, fetch: request => connection.fetch(request) })
  api.use({
    async onRequest({ request }) {
      for (const [name, value] of Object.entries(await headersOf(connection)))
        request.headers.set(name, value)
      return request
    },
  })
  return api
}
