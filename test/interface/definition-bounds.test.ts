// Definitions are bounded, by whatever route they come, and a test environment leaves a part to production (security M4).
import t from 'tap'
import { startHere } from '../harness.js'

const { client, tollgate } = await startHere(t, { TOLLGATE_DEFINITIONS_MAX: '40' })
const { environments } = await client.ok('GET', '/whoami')
const idOf = (name: string): string => environments.find((one: { name: string }) => one.name === name).id
const bound = async (name: string) =>
  client.as((await client.ok('POST', '/api-keys', { name, environment_id: idOf(name) })).secret)
const development = await bound('Development')
const production = await bound('Production')

t.test('M4 a test environment leaves features, flags and plans to production', async t => {
  const kinds: readonly (readonly [string, (n: number) => object])[] = [
    ['/features', n => ({ name: `feature ${n}`, description: '', feature_type: 'trait' })],
    [
      '/flags',
      n => ({ key: `f-${n}`, name: 'f', description: '', flag_type: 'boolean', default_value: false }),
    ],
    ['/plans', n => ({ name: `plan ${n}`, plan_type: 'plan' })],
  ]
  for (const [path, body] of kinds) {
    const heard = new Map<number, number>()
    for (let n = 0; n < 50; n++) {
      const { status } = await development.post(path, body(n))
      heard.set(status, (heard.get(status) ?? 0) + 1)
    }
    // a feature makes a flag of its own, which counts among the flags
    t.same([...heard.keys()].sort(), path === '/flags' ? [429] : [201, 429], path)
    t.ok((heard.get(201) ?? 0) <= 30, `${path}: three quarters`)
    t.equal((await production.post(path, body(1_000))).status, 201, `${path}: production has room`)
  }
})

t.test('M4 webhooks of an environment are bounded, each environment for itself', async t => {
  const hook = (n: number) => ({
    name: `hook ${n}`,
    url: `https://example.com/${n}`,
    request_types: ['flag.created'],
  })
  const statuses: number[] = []
  for (let n = 0; n < 41; n++) statuses.push((await development.post('/webhooks', hook(n))).status)
  t.equal(statuses[0], 201)
  t.same(statuses.slice(39), [201, 429])
  t.equal((await production.post('/webhooks', hook(0))).status, 201)
})

t.test('M4 overrides of a company are bounded, expired ones too', async t => {
  const { sql } = tollgate.services
  const { data: company } = (await development.post('/companies', { keys: { slug: 'many' } })).body
  const [feature] = await production.ok('GET', '/features')
  const override = { company_id: company.id, feature_id: feature.id, value_type: 'trait', value_bool: true }
  await sql`
    insert into company_overrides (id, environment_id, company_id, feature_id, entitlement, expires_at, created_at, updated_at)
    select 'cmov_old' || n, ${idOf('Development')}, ${company.id}, ${feature.id}, '{}', now(), now(), now()
    from generate_series(1, 40) as n`
  const refused = await development.post('/company-overrides', override)
  t.equal(refused.status, 429)
  t.match(JSON.stringify(refused.body), /company overrides: the company has as many/)
})

t.test('M4 every table that requests insert into has a bound, or a reason why not', async t => {
  const { sql } = tollgate.services
  const held = await sql<{ name: string }[]>`
    select distinct event_object_table as name from information_schema.triggers where trigger_name = 'held_in_bounds'`
  const owned = await sql<{ name: string }[]>`
    select distinct c.table_name as name from information_schema.columns c
    join information_schema.tables b using (table_schema, table_name)
    where c.table_schema = current_schema() and c.column_name in ('environment_id', 'account_id')
      and b.table_type = 'BASE TABLE'`
  const names = new Set(held.map(({ name }) => name))
  const free = owned.map(({ name }) => name).filter(name => !names.has(name) && !(name in reasons))
  t.same(free, [])
  t.same(
    Object.keys(reasons).filter(name => names.has(name)),
    [],
    'a reason is not needed for what is held',
  )
})

const entity = 'rows of companies and users, which have quotas and bounds of their own'
const projected = 'written from the journal, after the request was answered'
const operator = 'written by a start, or by an admin key as one row'
const reasons: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['companies', 'users', 'entity_keys', 'entity_traits', 'memberships', 'key_definitions', 'listed'].map(
      name => [name, entity],
    ),
  ),
  ...Object.fromEntries(
    [
      'override_changes',
      'company_plans',
      'company_subscriptions',
      'company_credits',
      'company_timers',
      'ended_trials',
      'credit_grants',
      'credit_holds',
      'hold_keys',
      'plan_changes',
      'webhook_outbox',
      'webhook_events',
    ].map(name => [name, projected]),
  ),
  ...Object.fromEntries(
    ['account_limits', 'account_members', 'bootstrap_values', 'model_prices'].map(name => [name, operator]),
  ),
  audit_logs: 'bounded rows of one key (floods.ts), changes by the rate limit',
  trait_definitions: 'a bound of its own (catalog/traits.ts)',
  flag_last_checks: 'one row for a flag and an environment',
  licenses: 'one for a feature',
  company_overrides: 'as many of a company as definitions, counted before it is asked',
  paid_writes: 'removed after a day',
  ...Object.fromEntries(
    ['billing_history', 'billing_due', 'billing_periods', 'billing_told', 'charge_lines'].map(name => [
      name,
      'follows what companies hold and the periods of their billing',
    ]),
  ),
  fallback_billing: 'one for an environment',
  definition_history:
    'one for a changed part of a definition, by the rate limit of writes; removed a year later',
  entity_history: 'one for a changed key or trait; removed with its entity, or a year later',
  erasures: 'one for an entity that was removed, by an admin key',
  plan_links: 'one for a published version, until its companies are on the plan',
  prior_terms:
    'one for a change of what is sold, by the rate limit of writes; kept, as charges are rated from it',
  console_links: 'made by people and admin keys within their rate limit, removed when they expire',
  console_sessions: 'made by people who sign in, removed when they expire',
  temporary_access_tokens: 'made within the rate limit of a key, removed when they expire',
  snapshots: 'as many as shards',
  stream_keys: 'from open connections, which are bounded',
  stream_subscriptions: 'from open connections, which are bounded',
  plan_writes: 'deleted when the write ended',
  plan_version_company_migrations: 'one for a company of a migration',
  custom_plan_publishes: 'deleted when the publish ended',
}
