// The table as a whole: its order, and AL-20…22 row by row over the running server.
import { Agent } from 'node:http'
import t from 'tap'
import type { Route, Scope } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { ask, secretOf, start } from '../front/http/make.js'

const verbs = { get: 'GET', post: 'POST', put: 'PUT', del: 'DELETE' } as const
const titleOf = ({ method, path }: Route) => `${verbs[method]} ${path}`
const concrete = (path: string) => path.replaceAll(/:[^/]+/g, 'x')

/** The paths of AL-20, written down once more. */
function scopeOf({ method, path }: Route): Scope {
  if (
    /^\/(api-keys|console-links|environments|account-members|audit-log|temporary-access-tokens)\b/.test(path)
  )
    return 'admin'
  // Not in the table: what the commands of those who run Tollgate ask (decision).
  if (/^\/(export\/\w+|limits|reconcile|system)$/.test(path)) return 'admin'
  // Everything held of a person or company, and its end (ER-1, ER-7).
  if (/^\/erasures$|^\/(companies|users)\/:\w+\/(erase|export)$/.test(path)) return 'admin'
  if (/^\/flags\/(check|check-bulk|:key\/check)$|^\/ofrep\//.test(path)) return 'check'
  if (/^\/(events|event-batch|batch)$/.test(path) && method === 'post') return 'capture'
  if (path === '/whoami') return 'any'
  if (path === '/portal') return 'portal'
  if (path.startsWith('/model-prices') && method !== 'get') return 'admin'
  return method === 'get' ? 'read' : 'write'
}

/** The budgets of the interface document, likewise. */
function limitOf({ method, path }: Route): Route['limit'] {
  const analytics =
    /^\/(catalog|charges|costs|companies\/:company_id\/(charges|explain)|(companies|users)\/:\w+\/export|denied-checks|flag-checks|top-companies|usage-by-day|events|events\/count|feature-usage-timeseries|feature-usage-history|user-usage-by-company|user-usage-detail)$/
  if (/^\/(catalog\/diff|export\/\w+|reconcile)$/.test(path)) return 'analytics'
  if (method === 'get') return analytics.test(path) ? 'analytics' : 'read'
  if (scopeOf({ method, path } as Route) === 'capture') return 'ingest'
  if (/^\/flags\/(check|check-bulk|:key\/check)$|^\/ofrep\//.test(path)) return 'check'
  if (path === '/flags/:key/explain') return 'read'
  return 'mutation'
}

t.test('rows are sorted by path, and no two answer the same', async t => {
  const paths = routes.map(route => route.path.replace(/^\/v2/, '').replaceAll(':', '~'))
  t.same(paths, [...paths].sort())
  t.equal(new Set(routes.map(route => titleOf(route).replaceAll(/:[^/]+/g, ':'))).size, routes.length)
})

t.test('AL-20 every row asks for what the table of scopes says', async t => {
  for (const route of routes) {
    // A POST that changes nothing needs no more than a read.
    const expected =
      route.method !== 'get' && !route.mutates && scopeOf(route) === 'write' ? 'read' : scopeOf(route)
    t.equal(route.scope, expected, titleOf(route))
    t.equal(route.limit, limitOf(route), `section 8: ${titleOf(route)}`)
  }
})

/** A key whose scopes do not reach; null where every secret key's do, or none is made without them. */
const lacking: Readonly<Record<Scope, string | null>> = {
  read: secretOf.capturer,
  write: secretOf.reader,
  admin: secretOf.development,
  capture: secretOf.writer,
  check: null,
  any: null,
  portal: secretOf.capturer,
}

t.test('AL-1, AL-20…22 no row is open by mistake', async t => {
  const { server, port } = await start(routes)
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  t.teardown(async () => {
    agent.destroy()
    await server.close()
  })
  for (const route of routes) {
    const asked = { method: verbs[route.method], path: concrete(route.path), agent }
    if (route.keysInBody === null)
      t.equal((await ask(port, asked)).status, 401, `${titleOf(route)} without a key`)
    const key = lacking[route.scope]
    if (key !== null && route.keysInBody === null)
      t.equal((await ask(port, { ...asked, key })).status, 403, `${titleOf(route)} lacks ${route.scope}`)
    if (route.mutates) {
      t.equal(
        (await ask(port, { ...asked, key: secretOf.reader })).status,
        403,
        `${titleOf(route)} read-only`,
      )
    }
    if (route.scope !== 'check' && route.scope !== 'capture') {
      t.equal(
        (await ask(port, { ...asked, key: secretOf.publishable })).status,
        403,
        `${titleOf(route)} publishable`,
      )
    }
  }
})
