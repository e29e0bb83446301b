// Something of everything, as an installation of 0.1.0 has it, and what of it every later version must show. Nothing
// here runs out with time: the backup of it is read for years.
import type { Test } from 'tap'
import { eventFeature, publishedPlan } from '../control/planned.js'
import type { Client } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'

/** Data from the maker that the check needs. */
export interface Remembered {
  readonly company: string
  readonly user: string
  readonly plan: string
  readonly credit: string
  readonly grant: string
  /** Value of a key that was made for it. */
  readonly secret: string
  readonly drawing: string
}

const calls = { a: [3, 4], b: [5] } as const

/** Data that is in snapshots once it is stopped. */
export async function fill(client: Client): Promise<Remembered> {
  const metered = await eventFeature(client, 'Calls', 'call')
  const flag = { key: 'beta', name: 'Beta', description: 'd', flag_type: 'boolean', default_value: false }
  const plain = await client.ok('POST', '/features', {
    name: 'Plain',
    description: '',
    feature_type: 'boolean',
    flag,
  })
  const plan = await publishedPlan(client, 'Basic', [
    { feature_id: metered.id, value_type: 'numeric', value_numeric: 10, metric_period: 'all_time' },
  ])
  const a = await client.ok('POST', '/companies', {
    keys: { slug: 'a', region: 'eu' },
    name: 'Ada Œuvre “A”',
    traits: { seats: 7, paid: true, since: '2026-01-02' },
    base_plan_id: plan.id,
  })
  const b = await client.ok('POST', '/companies', { keys: { slug: 'b' }, name: 'Bolt\tand\nCo\\' })
  await client.ok('POST', '/company-overrides', {
    company_id: b.id,
    feature_id: plain.id,
    value_type: 'boolean',
    value_bool: true,
  })
  const user = await client.ok('POST', '/users', {
    keys: { mail: 'ada@a' },
    name: 'Ada',
    traits: { admin: true },
    company: { slug: 'a' },
  })
  const world = new CreditWorld(client)
  const credit = await world.credit()
  const { subtype, plan: drawing } = await world.metered(credit.id, 2)
  const c = await client.ok('POST', '/companies', { keys: { slug: 'c' }, base_plan_id: drawing.id })
  const { id: grant } = await world.grant(c.id, credit.id, 100)
  const { secret } = await client.ok('POST', '/api-keys', { name: 'of 0.1.0' })
  const product = { external_id: 'prod_1', name: 'Product', price: 10 }
  await client.ok('POST', '/billing/product/upsert', product)
  await use(client, 'a', calls.a[0], 'first')
  await use(client, 'c', 5, 'drawn', subtype)
  await client.ok('POST', '/events', {
    event_type: 'identify',
    body: { keys: { mail: 'bob@b' }, traits: { seen: 1 }, company: { keys: { slug: 'b' } } },
  })
  return { company: a.id, user: user.id, plan: plan.id, credit: credit.id, grant, secret, drawing: subtype }
}

/** Data that only the journal has when the backup is taken. */
export async function fillMore(client: Client, { drawing }: Remembered): Promise<void> {
  await use(client, 'a', calls.a[1], 'last')
  await use(client, 'b', calls.b[0], 'other')
  await use(client, 'c', 3, 'drawn more', drawing)
  await client.ok('POST', '/company-traits', { keys: { slug: 'a' }, trait: 'seats', incr: 2 })
}

function use(client: Client, slug: string, quantity: number, key: string, event = 'call') {
  return client.ok('POST', '/events', {
    event_type: 'track',
    idempotency_key: key,
    body: {
      event,
      company: { slug },
      user: { mail: `ada@${slug}` },
      quantity,
      traits: { text: 'é\t\\"\n€' },
    },
  })
}

/** All of it is there as it was. */
export async function expectAll(t: Test, client: Client, known: Remembered): Promise<void> {
  const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)
  const a = await client.ok('GET', '/companies/lookup?slug=a')
  t.match(a, {
    id: known.company,
    name: 'Ada Œuvre “A”',
    traits: { seats: 9, paid: true, since: '2026-01-02' },
  })
  t.equal(allTime(a, 'call'), sum(calls.a))
  t.equal(a.user_count, 1)
  const b = await client.ok('GET', '/companies/lookup?slug=b')
  t.equal(b.name, 'Bolt\tand\nCo\\')
  t.equal(allTime(b, 'call'), sum(calls.b))
  t.equal(b.user_count, 2)
  t.equal((await client.ok('GET', '/companies/lookup?region=eu')).id, known.company, 'its other key')
  t.match(await client.ok('GET', '/users/lookup?mail=ada@a'), { id: known.user, traits: { admin: true } })
  t.equal((await client.ok('GET', '/companies/count')).count, 3)
  t.equal((await client.ok('GET', '/users/count')).count, 4)

  t.equal(
    (await client.ok('POST', '/flags/beta/check', { company: { slug: 'b' } })).value,
    true,
    'an override',
  )
  t.equal((await client.ok('POST', '/flags/beta/check', { company: { slug: 'a' } })).value, false)
  t.match(await client.ok('GET', `/plans/${known.plan}`), { name: 'Basic' })
  const usage = await client.ok('GET', `/feature-usage?company_id=${known.company}`)
  t.match(
    usage.find((one: { allocation?: number }) => one.allocation === 10),
    { usage: sum(calls.a) },
    'its plan grants and counts',
  )

  const c = await client.ok('GET', '/companies/lookup?slug=c')
  const [balance] = await client.ok('GET', `/billing/credits/balance?company_id=${c.id}`)
  t.match(
    balance,
    { credit_id: known.credit, remaining: 100 - 2 * (5 + 3) },
    'credits are what events left of them',
  )
  const ledger = await client.ok('GET', `/v2/billing/credits/ledger/count?company_id=${c.id}`)
  t.equal(ledger.count, 3, 'a grant and two draws')
  t.equal((await client.ok('GET', '/billing/products')).length, 1)
  t.equal((await client.as(known.secret).get('/whoami')).status, 200, 'its keys are known')
}

function allTime(company: { metrics: Metric[] }, subtype: string): number | undefined {
  return company.metrics.find(one => one.event_subtype === subtype && one.period === 'all_time')?.value
}

interface Metric {
  readonly event_subtype: string
  readonly period: string
  readonly value: number
}
