// Typed calls for every operation of the interface.
import createClient, { type Client } from 'openapi-fetch'
import type { paths } from './api-types.js'
import type { Http } from './http.js'

/** One method for each HTTP method, typed by path: `api.GET('/companies/{company_id}', { params: … })`. */
export type Api = Client<paths>

export function makeApi(http: Http): Api {
  const api = createClient<paths>({
    baseUrl: http.url,
    redirect: 'manual',
    fetch: request => http.fetch(request),
  })
  api.use({
    async onRequest({ request }) {
      for (const [name, value] of Object.entries(await http.headers())) request.headers.set(name, value)
      return request
    },
  })
  return api
}
