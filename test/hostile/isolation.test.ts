// Ids, keys and words of one environment, given by keys of another: 403 or 404, never its data, never a change to it.
import t from 'tap'
import type { Route } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { Process } from '../harness.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'
import { readTakes } from './grammar.js'
import { Maker } from './make.js'
import { fill, KnownIds, marker, portrait, sendRaw } from './world.js'

const random = new Random()
const takes = readTakes()
/** Requests for each row of the table. */
const perRoute = 4

/** Resources of the account, not of an environment (PB-1): any of its environments may name them. */
const ofTheAccount = /:(flag_id|feature_id|plan_id|license_id|plan_group_id|key|billing_id)\b/

t.test(`seed ${random.seed}: another environment's key`, async t => {
  const tollgate = await Process.start(await temporaryDirectory(t))
  t.teardown(() => tollgate.end('SIGTERM'))
  const { client } = tollgate
  await fill(client)
  const known = new KnownIds()
  const before = await portrait(client, known)
  t.ok(known.ids.get('company_id')!.length >= 3, 'there is something to be found')

  const { environments } = await client.ok('GET', '/whoami')
  const other = environments.find((one: { name: string }) => one.name === 'Production').id as string
  const bound = await client.ok('POST', '/api-keys', { name: 'other', environment_id: other })
  const account = await client.ok('POST', '/api-keys', { name: 'account' })
  const callers = [
    { key: bound.secret as string, environment: null },
    { key: account.secret as string, environment: other },
  ]
  const words = ['acme', 'bolt', 'core', 'slug', 'mail']
  const maker = new Maker(random, { ids: known.ids, words }, 0)
  const send = async (route: Route, path: string, caller: (typeof callers)[number]) => {
    const { body } = takes.get(`${route.method} ${route.path}`)!
    const bytes = body === null ? null : Buffer.from(maker.body(body))
    const headers: Record<string, string> = { 'X-Service-Api-Key': caller.key }
    if (caller.environment !== null) headers['X-Service-Environment-Id'] = caller.environment
    if (bytes !== null) headers['Content-Length'] = String(bytes.length)
    return sendRaw(
      client.url,
      route.method === 'del' ? 'DELETE' : route.method.toUpperCase(),
      path,
      headers,
      bytes,
    )
  }

  await t.test('ids in paths', async t => {
    let tried = 0
    for (const route of routes) {
      if (!route.environmentRequired || route.parameters.length === 0 || ofTheAccount.test(route.path))
        continue
      for (const id of (known.ids.get(route.parameters[0]!) ?? []).slice(0, 3))
        for (const caller of callers) {
          const { status, text } = await send(route, route.path.replaceAll(/:\w+/g, id), caller)
          tried++
          if (![400, 403, 404].includes(status) || text.includes(marker))
            t.fail(`${route.method} ${route.path} answered ${status}`, { text: text.slice(0, 500) })
        }
    }
    t.ok(tried > 50, `${tried} times`)
  })

  await t.test('ids, keys and words in queries and bodies', async t => {
    for (const route of routes) {
      if (!route.environmentRequired || (route.mutates && ofTheAccount.test(route.path))) continue
      const { query } = takes.get(`${route.method} ${route.path}`)!
      for (let i = 0; i < perRoute; i++) {
        const path = route.path.replaceAll(/:(\w+)/g, (_, name) => maker.segment(name)) + maker.query(query)
        const { text } = await send(route, path, callers[i % callers.length]!)
        if (text.includes(marker)) t.fail(`${route.method} ${path} shows data`, { text: text.slice(0, 500) })
      }
    }
  })

  await t.test('a key of one environment cannot name another', async t => {
    const names = { key: bound.secret as string, environment: environments[0].id as string }
    for (const route of routes) {
      if (!route.environmentRequired || route.method !== 'get' || route.parameters.length > 0) continue
      const { status, text } = await send(route, route.path, names)
      if (status !== 403 || text.includes(marker)) t.fail(`${route.path} answered ${status}`)
    }
  })

  const after = await portrait(client, known)
  t.ok(
    before.has('/companies') && before.has('/users') && before.has('/company-overrides'),
    'there is something to change',
  )
  for (const [path, shown] of before)
    if (!/feature|flag|plan|licen|usage|audit/.test(path))
      t.same(after.get(path), shown, `${path} is as it was`)
})
