// Every scope alone, and all of them, against every row of the table: what opens and what does not, over HTTP.
import t from 'tap'
import type { Route, Scope } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { startHere } from '../harness.js'
import { sendRaw } from './world.js'

/** AL-20, written down once more: what a scope opens. */
const opens: Readonly<Record<string, readonly Scope[]>> = {
  admin: ['admin', 'write', 'read', 'check', 'any'],
  write: ['write', 'read', 'check', 'any'],
  read: ['read', 'check', 'any'],
  capture: ['capture', 'check', 'any'],
  check: ['check', 'any'],
}

/** Resources of the account as a whole, by their paths. */
const ofTheAccount =
  /^(\w+ \/account-members.*|post \/console-links|get \/system|post \/environments|get \/limits|put \/limits|put \/model-prices|get \/audit-log\/(head|chain))$/

/** Not asked: the collector changes what the others are asked of, and the portal is for access tokens alone. */
const leftOut = /^\/(batch|portal)$/

t.test('security 18 the matrix of scopes is exact', async t => {
  const { client } = await startHere(t)
  const { environment_id: environment } = await client.ok('GET', '/whoami')
  const callers = new Map<string, { secret: string; scopes: readonly string[]; account: boolean }>()
  for (const scope of Object.keys(opens))
    for (const account of [true, false]) {
      const key = await client.ok('POST', '/api-keys', {
        name: scope,
        scopes: [scope],
        environment_id: account ? null : environment,
      })
      callers.set(`${scope}${account ? ' of the account' : ''}`, {
        secret: key.secret,
        scopes: [scope],
        account,
      })
    }
  const open = (route: Route, scopes: readonly string[], account: boolean): boolean =>
    scopes.some(scope => opens[scope]!.includes(route.scope)) &&
    (account || !ofTheAccount.test(`${route.method} ${route.path}`))

  let asked = 0
  for (const route of routes) {
    if (leftOut.test(route.path)) continue
    const path = route.path.replaceAll(/:\w+/g, 'x')
    const body = route.body === 'none' ? null : Buffer.from('{"limits":1}')
    for (const [name, { secret, scopes, account }] of callers) {
      const headers: Record<string, string> = { 'X-Service-Api-Key': secret }
      if (account) headers['X-Service-Environment-Id'] = environment
      if (body !== null) headers['Content-Length'] = String(body.length)
      const method = route.method === 'del' ? 'DELETE' : route.method.toUpperCase()
      const { status, text } = await sendRaw(client.url, method, path, headers, body)
      asked++
      const expected = open(route, scopes, account)
      const opened = status !== 403 && status !== 401
      if (opened !== expected || status >= 500)
        t.fail(`${method} ${route.path} by ${name} answered ${status}`, { text: text.slice(0, 200) })
    }
  }
  t.ok(asked > 2_000, `${asked} requests`)
})
