// How long the lists of companies and users take, with every filter they have, when there are very many: one caller,
// one request after the other, the first page of 100 unless the name says otherwise.
// Companies: `npm run bench lists 100000`, or TOLLGATE_BENCH_COMPANIES (1 000 000). TOLLGATE_BENCH_DIR keeps what was
// filled and uses it again; TOLLGATE_BENCH_ONLY, a regular expression, asks only what it names, and keeps no results.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { residentMiB } from '../cpu.js'
import { post, secret, startProduct, stop } from '../product.js'
import { type Measured, record, root } from '../record.js'
import { fill, type World } from './lists-fill.js'

const requests = 30
const goalMs = 50

/** One question, asked again and again; `path` of the n-th time. */
interface Asked {
  readonly name: string
  readonly path: (n: number) => string
  /** Counts look at every company that matches, and have no goal of their own. */
  readonly goal: boolean
}

/** Fill, start, ask, keep the results. */
export async function benchLists(asked: readonly string[]): Promise<void> {
  const companies = Number(asked[0] ?? process.env.TOLLGATE_BENCH_COMPANIES ?? 1_000_000)
  const kept = process.env.TOLLGATE_BENCH_DIR
  const only = process.env.TOLLGATE_BENCH_ONLY
  const work = kept ?? join(root, 'data', `bench-lists-${process.pid}`)
  mkdirSync(work, { recursive: true })
  try {
    const world = await filled(work, companies)
    const product = await startProduct(join(work, 'data'))
    try {
      const rows: Measured[] = [
        row(
          `start with ${companies.toLocaleString('en')} companies and as many users`,
          product.readyMs / 1_000,
          's',
        ),
        row('the same: memory of the process', residentMiB(product.child.pid!), 'MiB'),
      ]
      const named = new RegExp(only ?? '')
      for (const one of questions(world, companies))
        if (named.test(one.name)) rows.push(await median(product.port, one))
      if (only === undefined) record('lists', rows)
    } finally {
      await stop(product.child)
    }
  } finally {
    if (kept === undefined) rmSync(work, { recursive: true, force: true })
  }
}

/** The data directory of this many companies; filled unless it was kept from before. */
async function filled(work: string, companies: number): Promise<World> {
  const note = join(work, 'world.json')
  if (existsSync(note)) {
    const before = JSON.parse(readFileSync(note, 'utf8')) as { companies: number; world: World }
    if (before.companies !== companies) throw new Error(`${work} holds ${before.companies} companies`)
    return before.world
  }
  const dataDir = join(work, 'data')
  const product = await startProduct(dataDir)
  const world = await define(product.port).finally(() => stop(product.child))
  await fill(dataDir, world, companies)
  writeFileSync(note, JSON.stringify({ companies, world }))
  return world
}

function questions(world: World, companies: number): readonly Asked[] {
  const { pro, legacy, enterprise, rare, addOn, features, credits } = world
  const list = (name: string, query: string | ((n: number) => string)) => ({ name, query, goal: true })
  const filters = [
    list('no filter', ''),
    list('limit=250', 'limit=250'),
    list('offset 10,000', n => `offset=${10_000 + n * 100}`),
    list(`offset ${(companies / 2).toLocaleString('en')}`, n => `offset=${companies / 2 + n * 100}`),
    list('by name', 'sort_order_column=name'),
    list('by name, descending', 'sort_order_column=name&sort_order_direction=desc'),
    list('by last_seen_at', 'sort_order_column=last_seen_at'),
    list('by last_seen_at, ascending', 'sort_order_column=last_seen_at&sort_order_direction=asc'),
    list('by created_at, ascending', 'sort_order_column=created_at&sort_order_direction=asc'),
    list('q: one company', n => `q=${(n * 7_919) % companies}.example`),
    list('q: a word in a twentieth of the names', n => `q=${['acme', 'Lumen', 'ORCHARD'][n % 3]}`),
    list('q: two words, one in 200', n => `q=${['acme labs', 'Lumen Media', 'Orchard Foods'][n % 3]}`),
    list('q: a fifth, by a trait', 'q=eu-north'),
    list('q: nobody', n => `q=nobody-${n}`),
    list('q: two letters', n => `q=${['ac', 'lu', 'or'][n % 3]}`),
    list('q: by name', n => `q=${['acme', 'Lumen', 'ORCHARD'][n % 3]}&sort_order_column=name`),
    list('plan_id: three companies in ten', `plan_id=${pro.id}`),
    list('plan_id: one company in 100', `plan_id=${enterprise.id}`),
    list('plan_id: one company in 20,000', `plan_id=${rare.id}`),
    list('plan_id: a tenth, the oldest', `plan_id=${legacy.id}`),
    list('plan_id: an add-on', `plan_id=${addOn.id}`),
    list('plan_ids: two', `plan_ids=${rare.id}&plan_ids=${enterprise.id}`),
    list('plan_id, by name', `plan_id=${enterprise.id}&sort_order_column=name`),
    list('plan_version_id: published', `plan_version_id=${pro.now}`),
    list('plan_version_ids: archived', `plan_version_ids=${pro.old}`),
    list('plan_version_unpublished=true', 'plan_version_unpublished=true'),
    list('plan_version_unpublished=false', 'plan_version_unpublished=false'),
    list('without_plan=true', 'without_plan=true'),
    list('without_plan=false', 'without_plan=false'),
    list('with_entitlement_for: a plan and overrides', `with_entitlement_for=${features[0]}`),
    list('with_entitlement_for: few overrides', `with_entitlement_for=${features[1]}`),
    list('without_feature_override_for', `without_feature_override_for=${features[0]}`),
    list('credit_type_ids: three in ten', `credit_type_ids=${credits[0]}`),
    list('credit_type_ids: one in 10,000', `credit_type_ids=${credits[1]}`),
    list('subscription_statuses=active', 'subscription_statuses=active'),
    list('subscription_statuses=past_due', 'subscription_statuses=past_due'),
    list('subscription_statuses: nobody', 'subscription_statuses=unpaid'),
    list('subscription_types=paid', 'subscription_types=paid'),
    list('subscription_types=trial', 'subscription_types=trial'),
    list('subscription_types: nobody', 'subscription_types=one_time'),
    list('monetized_subscriptions=true', 'monetized_subscriptions=true'),
    list('monetized_subscriptions=false', 'monetized_subscriptions=false'),
    list('with_subscription=true', 'with_subscription=true'),
    list('without_subscription=true', 'without_subscription=true'),
    list('has_scheduled_downgrade=true', 'has_scheduled_downgrade=true'),
    list('has_scheduled_downgrade=false', 'has_scheduled_downgrade=false'),
    list('q, plan_id and subscription_statuses', `q=acme&plan_id=${pro.id}&subscription_statuses=active`),
  ]
  const counted = new Set([
    'no filter',
    'q: one company',
    'q: a word in a twentieth of the names',
    'plan_id: three companies in ten',
    'plan_id: one company in 20,000',
    'without_plan=true',
    'with_entitlement_for: few overrides',
    'credit_type_ids: three in ten',
    'subscription_types=paid',
    'has_scheduled_downgrade=true',
  ])
  const at = (path: string, { name, query, goal }: (typeof filters)[number]): Asked => ({
    name: `GET ${path}, ${name}`,
    path: n => `${path}?${typeof query === 'string' ? query : query(n)}`,
    goal,
  })
  return [
    ...filters.map(one => at('/companies', one)),
    ...filters
      .filter(({ name }) => counted.has(name))
      .map(one => at('/companies/count', { ...one, goal: false })),
    ...[
      list('no filter', ''),
      list('q: one user', n => `q=person${(n * 7_919) % companies}@`),
      list('q: a word in a twentieth', n => `q=${['acme', 'Lumen', 'ORCHARD'][n % 3]}`),
      list('q: nobody', n => `q=nobody-${n}`),
      list('plan_id: three in ten', `plan_id=${pro.id}`),
      list('plan_id: one in 20,000', `plan_id=${rare.id}`),
      list(`offset ${(companies / 2).toLocaleString('en')}`, n => `offset=${companies / 2 + n * 100}`),
    ].map(one => at('/users', one)),
    at('/users/count', { ...list('no filter', ''), goal: false }),
  ]
}

async function median(port: number, { name, path, goal }: Asked): Promise<Measured> {
  const times: number[] = []
  for (let n = 0; n < requests; n++) {
    const begunMs = performance.now()
    await get(port, path(n))
    times.push(performance.now() - begunMs)
    // a time far beyond its goal is known after a few
    if (n >= 4 && times.every(one => one > 10 * goalMs)) break
  }
  times.sort((a, b) => a - b)
  const [middle, worst] = [times[times.length >> 1]!, times.at(-1)!]
  console.log(`${name}: ${middle.toFixed(1)} ms, slowest ${worst.toFixed(1)} ms`)
  return row(name, middle, 'ms', goal ? `< ${goalMs} ms` : '')
}

async function get(port: number, path: string): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'X-Service-Api-Key': secret } })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`GET ${path}: ${reply.status} ${text}`)
}

function row(name: string, value: number, unit: string, goal = ''): Measured {
  return { name, value: Math.round(value * 10) / 10, unit, goal }
}

/** Plans, features and credits through the interface, as an administrator makes them. */
async function define(port: number): Promise<World> {
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at member by member
  const ask = async (method: string, path: string, body?: object): Promise<any> => {
    const text =
      method === 'GET' ? await read(port, path) : await post(port, path, JSON.stringify(body ?? {}), method)
    return JSON.parse(text).data
  }
  const feature = (name: string) =>
    ask('POST', '/features', { name, description: name, feature_type: 'boolean' })
  const plan = async (name: string, more: object = {}) => {
    const made = await ask('POST', '/plans', { name, description: name, plan_type: 'plan', ...more })
    return publish(made.id)
  }
  const publish = async (id: string) => {
    const { draft_version: draft } = await ask('GET', `/plans/${id}`)
    await ask('PUT', `/plans/version/${draft.id}/publish`, {
      migration_strategy: 'leave',
      excluded_company_ids: [],
    })
    return { id, now: draft.id as string }
  }
  const [first, second] = [await feature('First'), await feature('Second')]
  const free = await plan('Free')
  const product = await ask('POST', '/billing/product/upsert', {
    external_id: 'prod_pro',
    name: 'Pro',
    price: 10,
  })
  const draft = await ask('POST', '/plans', { name: 'Pro', description: 'Pro', plan_type: 'plan' })
  await ask('PUT', `/plans/${draft.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    billing_product_id: product.product_id,
  })
  const old = await publish(draft.id)
  const entitlement = { plan_id: draft.id, feature_id: first.id, value_type: 'boolean', value_bool: true }
  await ask('POST', '/plan-entitlements', entitlement)
  const now = await publish(draft.id)
  const credit = (name: string) =>
    ask('POST', '/billing/credits', { name, description: name, currency: 'usd' })
  await ask('POST', '/plan-groups', { ...offer, fallback_plan_id: free.id })
  const { environment_id: environmentId } = await ask('GET', '/whoami')
  return {
    environmentId,
    pro: { id: draft.id, old: old.now, now: now.now, productId: product.product_id },
    legacy: await plan('Legacy'),
    enterprise: await plan('Enterprise'),
    rare: await plan('Rare'),
    addOn: await plan('More', { plan_type: 'add_on' }),
    features: [first.id, second.id],
    credits: [(await credit('First')).id, (await credit('Second')).id],
  }
}

async function read(port: number, path: string): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'X-Service-Api-Key': secret } })
  return reply.text()
}

const offer = {
  checkout_collect_address: false,
  checkout_collect_email: false,
  checkout_collect_phone: false,
  checkout_collect_tax_id: false,
  enable_tax_collection: false,
  opt_in_enabled: false,
  prevent_downgrades_when_over_limit: false,
  prevent_self_service_downgrade: false,
  show_as_monthly_prices: false,
  show_credits: false,
  show_feature_description: false,
  show_hard_limit: false,
  show_period_toggle: false,
  show_zero_price_as_free: false,
  sync_customer_billing_details: false,
  proration_behavior: 'create_prorations',
  add_on_ids: [],
  ordered_add_ons: [],
  ordered_bundle_list: [],
  ordered_plans: [],
}
