// The companies and users that the benchmark of lists looks through: written into the tables as the projector and the
// checkpoints would have left them, by the store itself, which takes minutes where requests would take hours.
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { derivedId } from '../../src/core/values/id.js'
import { startEmbeddedPostgres } from '../../src/storage/embedded/postgres.js'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'

/** Definitions of the environment, made through the interface. */
export interface World {
  readonly environmentId: string
  /** Version 1 of it is archived, version 2 published; sold as a product. */
  readonly pro: {
    readonly id: string
    readonly old: string
    readonly now: string
    readonly productId: string
  }
  /** On half of the oldest fifth of all companies, and nowhere else. */
  readonly legacy: Assignable
  /** A hundredth of all companies. */
  readonly enterprise: Assignable
  /** One company in 20 000. */
  readonly rare: Assignable
  /** One company in 20. */
  readonly addOn: Assignable
  /** Three companies in a hundred have an override of the first, one in 25 000 of the second. */
  readonly features: readonly [string, string]
  /** Three companies in ten were granted the first, one in 10 000 the second. */
  readonly credits: readonly [string, string]
}

interface Assignable {
  readonly id: string
  readonly now: string
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Fill a data directory that no process has open. */
export async function fill(dataDir: string, world: World, companies: number): Promise<void> {
  const postgres = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres'), log: silent })
  const sql = openPostgres(postgres.address, { max: 1, statementTimeoutMs: 0 })
  try {
    for (const [what, statement] of statements(world, companies)) {
      const begunMs = performance.now()
      await sql.unsafe(statement).simple()
      console.log(`filled: ${what} (${((performance.now() - begunMs) / 1_000).toFixed(1)} s)`)
    }
    await settle(sql)
  } finally {
    await closePostgres(sql)
    await postgres.stop()
  }
}

// Maintenance that the store would have done by the time it holds as much.
async function settle(sql: Sql): Promise<void> {
  const begunMs = performance.now()
  await sql.unsafe('vacuum analyze')
  console.log(`filled: statistics (${((performance.now() - begunMs) / 1_000).toFixed(1)} s)`)
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The same value for the same company at every run. `of` differs between uses. */
const dice = (of: number, sides: number) => `(abs(hashint8extended(n, ${of})) % ${sides})`

/** An id of 11 characters as the service makes them. */
const idOf = (prefix: string, n = 'n') =>
  `${quoted(prefix)} || translate(substr(lpad(to_hex(hashint8extended(${n}, 4)), 16, '0'), 6), '01', 'gh')`

const names = `(array['Acme','Borealis','Cobalt','Dynamo','Ember','Fathom','Granite','Harbor','Indigo','Juniper',
  'Kestrel','Lumen','Meridian','Nimbus','Orchard','Pioneer','Quartz','Ridge','Summit','Tandem'])`
const kinds = `(array['Analytics','Systems','Labs','Foods','Energy','Logistics','Media','Robotics','Software','Studio'])`
const regions = `(array['eu-west','eu-north','us-east','us-west','ap-south'])`
const started = `timestamptz '2023-01-01T00:00:00Z'`
const quarter = `(now() + interval '90 days')`

function statements(world: World, companies: number): readonly (readonly [string, string])[] {
  const env = quoted(world.environmentId)
  const { pro, legacy, enterprise, rare, addOn, features, credits } = world
  const definition = (prefix: string, kind: string, name: string) =>
    quoted(derivedId(prefix, world.environmentId, kind, name))
  const named = (table: string, kind: string, name: string, more: readonly [string, string]) => `
    insert into ${table} (id, environment_id, entity_type, ${more[0]}, created_at, updated_at) values
    (${definition(table === 'key_definitions' ? 'ekey_' : 'trt_', kind, name)}, ${env}, ${quoted(kind)}, ${more[1]},
      ${started}, ${started}) on conflict do nothing;`
  const key = (kind: string, name: string) => named('key_definitions', kind, name, ['key', quoted(name)])
  const trait = (kind: string, name: string, type: string) =>
    named('trait_definitions', kind, name, [
      'name, hierarchy, trait_type',
      `${quoted(name)}, ${quoted(JSON.stringify([name]))}, ${quoted(type)}`,
    ])
  const values = (table: string, kind: string, from: string, name: string, value: string) => `
    insert into ${table} select
      '${table === 'entity_keys' ? 'eky_' : 'etrt_'}' || substr(md5(id || ${quoted(name)}), 1, 16), ${env}, ${quoted(kind)}, id,
      ${definition(table === 'entity_keys' ? 'ekey_' : 'trt_', kind, name)}, ${quoted(name)}, ${value}, at, at from ${from};`
  const onPlan = `case
      when n < ${companies} / 5 and n % 2 = 0 then ${quoted(legacy.id)}
      when n % 20000 = 7 then ${quoted(rare.id)}
      when ${dice(11, 100)} < 1 then ${quoted(enterprise.id)}
      when ${dice(11, 100)} < 30 then ${quoted(pro.id)} end`
  return [
    [
      'definitions',
      key('company', 'slug') +
        key('company', 'crm') +
        key('user', 'email') +
        trait('company', 'region', 'string') +
        trait('company', 'domain', 'string') +
        trait('company', 'seats', 'number') +
        trait('user', 'role', 'string'),
    ],
    [
      'what each company is',
      `create unlogged table bench as select *, lower(replace(name, ' ', '-')) as slug,
        case plan when ${quoted(legacy.id)} then ${quoted(legacy.now)} when ${quoted(rare.id)} then ${quoted(rare.now)}
          when ${quoted(enterprise.id)} then ${quoted(enterprise.now)}
          when ${quoted(pro.id)} then case when ${dice(12, 5)} = 0 then ${quoted(pro.old)} else ${quoted(pro.now)} end
          end as version,
        case when plan = ${quoted(pro.id)} and ${dice(13, 20)} = 0
          then now() + (${dice(14, 40)} - 20) * interval '1 day' end as trial,
        case when plan = ${quoted(pro.id)} then (array['active','active','active','active','active','active','active',
          'active','trialing','canceled','past_due'])[1 + ${dice(15, 11)}] end as status
      from (select n, ${idOf('comp_')} as id, ${started} + n * interval '90 seconds' as at,
          ${names}[1 + ${dice(1, 20)}] || ' ' || ${kinds}[1 + ${dice(2, 10)}] || ' ' || n as name,
          ${regions}[1 + ${dice(3, 5)}] as region, ${dice(5, 500)} as seats, ${onPlan} as plan
        from generate_series(0, ${companies - 1}) n) rows`,
    ],
    [
      'companies',
      `insert into companies select id, ${env}, name, at, at,
        case when ${dice(6, 3)} > 0 then now() - ${dice(7, 100000)} * interval '1 minute' end from bench`,
    ],
    [
      'keys',
      values('entity_keys', 'company', 'bench', 'slug', 'slug') +
        values('entity_keys', 'company', 'bench', 'crm', `'crm-' || substr(md5(n::text), 1, 12)`),
    ],
    [
      'traits',
      values('entity_traits', 'company', 'bench', 'region', 'region') +
        values('entity_traits', 'company', 'bench', 'domain', `slug || '.example'`) +
        values('entity_traits', 'company', 'bench', 'seats', 'seats::text'),
    ],
    [
      'plans',
      `insert into company_plans select id, plan, 'base', ${env}, version, null, at, trial,
          case when trial is not null then 'cancel' end, case when trial is not null then 'active' end
        from bench where plan is not null;
      insert into company_plans select id, ${quoted(addOn.id)}, 'add_on', ${env}, ${quoted(addOn.now)}, null, at, null, null, null
        from bench where ${dice(16, 20)} = 0`,
    ],
    [
      'subscriptions',
      `insert into company_subscriptions select 'bilsub_' || substr(id, 6), ${env}, id, 'sub_' || n, status,
          ${subscription(pro.productId)}, at from bench where status is not null;
      insert into billing_subscriptions (id, environment_id, provider_type, external_id, customer_external_id, company_id,
          status, currency, "interval", total_price, period_start, period_end, cancel_at_period_end, created_at, updated_at, own)
        select 'bilsub_' || substr(id, 6), ${env}, 'ext_a', 'sub_' || n, 'cus_' || n, id, status, 'usd', 'month', 1000,
          extract(epoch from now())::bigint, extract(epoch from ${quarter})::bigint, false, at, at,
          case when n % 2000 < 20 then jsonb_build_object('scheduled',
            jsonb_build_object('effective_at', extract(epoch from ${quarter})::bigint)) end
        from bench where status is not null`,
    ],
    [
      'overrides and credits',
      `insert into company_overrides select 'cmov_' || substr(md5(id), 1, 16), ${env}, id, ${quoted(features[0])}, '{}',
          case when n % 5 = 0 then now() - interval '1 day' end, at, at from bench where ${dice(17, 100)} < 3;
      insert into company_overrides select 'cmov_' || substr(md5(id || 'b'), 1, 16), ${env}, id, ${quoted(features[1])}, '{}',
          null, at, at from bench where n % 25000 = 11;
      insert into company_credits select id, ${quoted(credits[0])}, ${env}, at from bench where ${dice(18, 10)} < 3;
      insert into company_credits select id, ${quoted(credits[1])}, ${env}, at from bench where n % 10000 = 13`,
    ],
    [
      'users',
      `create unlogged table bench_users as select n, id as company, ${idOf('user_', '(n + 5000000000)')} as id,
          'Person ' || n as name, 'person' || n || '@' || slug || '.example' as email,
          (array['admin','member','viewer'])[1 + ${dice(21, 3)}] as role, at from bench;
      insert into users select id, ${env}, name, at, at, null from bench_users;
      insert into memberships select 'cmem_' || substr(md5(id), 1, 16), ${env}, company, id, at, at from bench_users;` +
        values('entity_keys', 'user', 'bench_users', 'email', 'email') +
        values('entity_traits', 'user', 'bench_users', 'role', 'role'),
    ],
    [
      'snapshots',
      `insert into snapshots select id, 'c', ${env}, '-', 0, ${companyState(world, env)} from bench;
      insert into snapshots select id, 'u', ${env}, '-', 0, ${userState(env)} from bench_users`,
    ],
    [
      'rows of lists',
      // as they come one after the other: rows lie in the order they were made in
      `create index on bench (n); create index on bench_users (n);
      do $$ begin for begun in 0..${companies} by 5000 loop
        perform list_again(array(select id from bench where n >= begun and n < begun + 5000));
        perform list_again(array(select id from bench_users where n >= begun and n < begun + 5000));
      end loop; end $$`,
    ],
    ['scaffolding away', 'drop table bench; drop table bench_users'],
  ]
}

const ms = (at: string) => `floor(extract(epoch from ${at}) * 1000)::bigint`

function subscription(productId: string): string {
  return `jsonb_build_object('id', 'bilsub_' || substr(id, 6), 'externalId', 'sub_' || n, 'status', status,
    'periodStartMs', ${ms('now()')}, 'periodEndMs', ${ms(quarter)}, 'intervalMonths', 1, 'cancelAtPeriodEnd', false,
    'cancelAtMs', null, 'trialEndMs', null, 'trialEndSetting', null, 'productIds', jsonb_build_array(${quoted(productId)}))`
}

const pair = (name: string, value: string) =>
  `jsonb_build_array(${quoted(name)}, ${value}, ${ms('at')}, ${ms('at')})`

/** Keys, traits, plans and subscriptions; overrides and credits are looked for in their rows alone. */
function companyState({ pro, addOn }: World, env: string): string {
  const holding = (plan: string, version: string, trial: string) => `jsonb_build_object('planId', ${plan},
    'versionId', ${version}, 'addedAtMs', ${ms('at')}, 'priceId', null, 'trial', ${trial})`
  const trial = `case when trial is not null then
    jsonb_build_object('endMs', ${ms('trial')}, 'endSetting', 'cancel', 'status', 'active') end`
  return `jsonb_build_object('id', id, 'environmentId', ${env}, 'exists', true, 'name', name,
    'keys', jsonb_build_array(${pair('slug', 'slug')}, ${pair('crm', `'crm-' || substr(md5(n::text), 1, 12)`)}),
    'traits', jsonb_build_array(${pair('region', 'region')}, ${pair('domain', `slug || '.example'`)},
      ${pair('seats', 'seats::text')}),
    'createdAtMs', ${ms('at')}, 'updatedAtMs', ${ms('at')}, 'lastSeenAtMs', null, 'sequence', 0,
    'plan', case when plan is not null then ${holding('plan', 'version', trial)} end,
    'addOns', case when ${dice(16, 20)} = 0
      then jsonb_build_array(${holding(quoted(addOn.id), quoted(addOn.now), 'null::jsonb')}) else '[]' end,
    'trialedPlanIds', '[]'::jsonb,
    'subscriptions', case when status is not null then jsonb_build_array(${subscription(pro.productId)}) else '[]' end,
    'schedule', null, 'overrides', '[]'::jsonb, 'counters', '[]'::jsonb, 'credits', '[]'::jsonb, 'idsMade', 0)::text`
}

function userState(env: string): string {
  return `jsonb_build_object('id', id, 'environmentId', ${env}, 'exists', true, 'name', name,
    'keys', jsonb_build_array(${pair('email', 'email')}), 'traits', jsonb_build_array(${pair('role', 'role')}),
    'createdAtMs', ${ms('at')}, 'updatedAtMs', ${ms('at')}, 'lastSeenAtMs', null, 'sequence', 0,
    'memberships', jsonb_build_array(jsonb_build_array(company, ${ms('at')})))::text`
}
