// A law over the route table: every request of a publishable, a read-only and a low-scope key is charged to a budget of its
// own, and what it can make the service keep is bounded. A new route is covered without being listed (security H4, M2, M4).
import t from 'tap'
import { routes } from '../../src/serve/routes.js'
import { startHere } from '../harness.js'
import { sendRaw } from './world.js'

/** Rows of one key in ten seconds: refused requests, recorded reads, and the rest of both (src/account/audit/floods.ts). */
const rowsOfTenSeconds = 20 + 100 + 2
const rounds = 3

/** Budgets that are large, and refill slower than they are used. */
const budget = [1, 100_000]
const limits = { global: budget, mutation: budget, events_ingest: budget, analytics: budget }
const { client, tollgate } = await startHere(t, { TOLLGATE_LIMITS: JSON.stringify(limits) })
const { sql } = tollgate.services
const { environment_id: environment } = await client.ok('GET', '/whoami')
const listed = await client.ok(
  'GET',
  `/api-keys?limit=250&require_environment=true&environment_id=${environment}`,
)
const callers: { name: string; id: string; secret: string }[] = listed
  .filter((key: { secret?: string }) => key.secret?.startsWith('pk_'))
  .map((key: { id: string; secret: string }) => ({ name: 'publishable', id: key.id, secret: key.secret }))
for (const scope of ['read', 'check', 'capture']) {
  const made = await client.ok('POST', '/api-keys', {
    name: scope,
    scopes: [scope],
    environment_id: environment,
  })
  callers.push({ name: scope, id: made.id, secret: made.secret })
}

/** Rows of each table that requests define into, and of the names and entities. */
async function kept(): Promise<Record<string, number>> {
  const held = await sql<{ name: string }[]>`
    select distinct event_object_table as name from information_schema.triggers where trigger_name = 'held_in_bounds'`
  const names = [
    ...held.map(({ name }) => name),
    'trait_definitions',
    'key_definitions',
    'companies',
    'users',
    'company_overrides',
    'credit_grants',
  ]
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = Number((await sql`select count(*) as n from ${sql(name)}`)[0]!.n)
  return counts
}

/** Bodies that name and make things where a route takes them. */
const bodies = [
  '{}',
  '{"name":"n","keys":{"slug":"n"},"traits":{"t":1},"description":"","feature_type":"trait","plan_type":"plan"}',
  '{"key":"k","name":"n","flag_type":"boolean","default_value":false,"description":"","url":"https://example.com","request_types":[]}',
]

t.test('H4 M2 M4 no route keeps more for a low key than that key may use up', async t => {
  t.equal(callers[0]?.name, 'publishable')
  const before = await kept()
  const began = Date.now()
  const free: string[] = []
  let asked = 0
  for (const caller of callers)
    for (const route of routes) {
      const method = route.method === 'del' ? 'DELETE' : route.method.toUpperCase()
      const path = route.path.replaceAll(/:\w+/g, 'x')
      for (let round = 0; round < rounds; round++) {
        const body = route.body === 'none' ? null : Buffer.from(bodies[round % bodies.length]!)
        const headers: Record<string, string> = { 'X-Service-Api-Key': caller.secret }
        if (body !== null) headers['Content-Length'] = String(body.length)
        const answer = await sendRaw(client.url, method, path, headers, body)
        asked++
        if (answer.status >= 500) t.fail(`${method} ${path} by ${caller.name}: ${answer.status}`)
        const limit = Number(answer.headers['x-ratelimit-limit'])
        const left = Number(answer.headers['x-ratelimit-remaining'])
        if (!route.neverLimited && !(left < limit)) free.push(`${method} ${path} by ${caller.name}`)
      }
    }
  t.ok(asked > 2_000, `${asked} requests`)
  t.same([...new Set(free)], [], 'each is charged')
  t.same(await kept(), before, 'nothing is defined, named or made')

  // reading the log waits until what was noted is in it
  await client.ok('GET', '/audit-log?limit=1')
  const windows = Math.ceil((Date.now() - began) / 10_000) + 1
  for (const { id, name } of callers) {
    const [row] = await sql`select count(*) as n from audit_logs where api_key_id = ${id}`
    const rows = Number(row!.n)
    t.ok(rows <= (name === 'publishable' ? 2 : rowsOfTenSeconds) * windows, `${name}: ${rows} rows`)
  }
})
