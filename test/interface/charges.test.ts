// Charges over HTTP: lines of open periods, their events, segments after a change of version, filters, pages
// and files.
import { setTimeout as sleep } from 'node:timers/promises'
import { parquetReadObjects } from 'hyparquet'
import t from 'tap'
import { eventFeature, publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { ChargesWorld, metered } from './charges-world.js'
import { CreditWorld } from './credit-world.js'

const { client } = await startHere(t)
const world = await ChargesWorld.of(client)
await world.clock('2031-01-01T00:00:00.000Z')
const calls = await eventFeature(client, 'calls', 'call')
const tiered = {
  ...metered,
  feature_id: calls.id,
  price_behavior: 'pay_as_you_go',
  tier_mode: 'graduated',
  monthly_price_tiers: [
    { up_to: 10, flat_amount: 100, per_unit_price: 5 },
    { flat_amount: 0, per_unit_price_decimal: '2.5', per_unit_price: 3 },
  ],
}
const basic = await world.sold('Basic', [tiered], { monthly_price: 1000 })

t.test('RA-1, RA-3, RA-13 lines of an open period: the fee, and each unit by its tier', async t => {
  const company = await world.subscribed('open', basic)
  await world.clock('2031-01-10T00:00:00.000Z')
  const first = await world.use('open', 'call', 7)
  const last = await world.use('open', 'call', 6)
  const charges = await client.ok('GET', `/companies/${company}/charges`)
  t.match(charges.period, {
    start_time: '2031-01-01T00:00:00.000Z',
    end_time: '2031-02-01T00:00:00.000Z',
    status: 'open',
    id: null,
  })
  t.equal(charges.as_of, '2031-01-10T00:00:00.000Z')
  t.match(charges.lines, [
    { kind: 'recurring', amount: 1000, quantity: 1, price_id: basic.monthly_price.id, currency: 'usd' },
    {
      kind: 'usage',
      feature_id: calls.id,
      quantity: 13,
      // 100 + 10 × 5 + 3 × 2.5 = 157.5
      amount: 158,
      amount_decimal: '157.5',
      plan_version: basic.active_version.version,
      tiers: [
        { up_to: 10, units: 10, flat_amount: '100', amount: '150' },
        { up_to: null, units: 3, flat_amount: '0', amount: '7.5' },
      ],
      events: { count: 2, quantity: 13, counter_before: 0, counter_after: 13 },
      due_at: '2031-02-01T00:00:00.000Z',
    },
  ])
  const ids = new Set([first.event_id, last.event_id])
  t.ok(ids.has(charges.lines[1].events.first_event_id) && ids.has(charges.lines[1].events.last_event_id))
  t.same(charges.totals, [{ currency: 'usd', digits: 2, amount: 1158 }])
  const none = await client.ok('GET', `/companies/${company}/charges?currency=eur`)
  t.same([none.lines, none.totals], [[], []])
  t.equal((await client.get(`/companies/${company}/charges?period=previous`)).status, 404)
  t.equal((await client.get(`/companies/${company}/charges?period=soon`)).status, 400)
  t.equal((await client.get('/companies/comp_none/charges')).status, 404)
})

t.test(
  'RA-6, RA-7 a migration in mid-period: each unit at the price of the version held when it was used',
  async t => {
    await world.clock('2031-03-01T00:00:00.000Z')
    const plan = await world.sold(
      'Moving',
      [{ ...metered, feature_id: calls.id, price_behavior: 'pay_as_you_go', monthly_unit_price: 10 }],
      { monthly_price: 0 },
    )
    const company = await world.subscribed('moved', plan)
    await world.use('moved', 'call', 3)
    await world.clock('2031-03-11T12:30:15.250Z')
    const draft = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
    await client.ok('PUT', `/plan-entitlements/${draft[0].id}`, { monthly_unit_price: 25 })
    await publishDraftOf(client, plan.id, { migration_strategy: 'immediate', excluded_company_ids: [] })
    await world.use('moved', 'call', 4)
    const { lines } = await client.ok('GET', `/companies/${company}/charges?period=current`)
    t.match(
      lines.filter((one: { kind: string }) => one.kind === 'usage'),
      [
        {
          quantity: 3,
          amount: 30,
          plan_version: 1,
          start_time: '2031-03-01T00:00:00.000Z',
          end_time: '2031-03-11T12:30:15.250Z',
        },
        { quantity: 4, amount: 100, plan_version: 2, events: { counter_before: 0, counter_after: 4 } },
      ],
    )
  },
)

t.test('RA-1 lines of all companies: filters, pages, and files of three formats', async t => {
  const all = await client.ok('GET', '/charges?period=current')
  t.same(
    all.map((one: { company_id: string }) => one.company_id),
    all.map((one: { company_id: string }) => one.company_id).sort(),
    'in the order of companies',
  )
  t.ok(all.length >= 4)
  const paged: unknown[] = []
  for (let cursor = ''; ; ) {
    const page = await client.get(`/charges?period=current&limit=1${cursor}`)
    paged.push(...page.body.data)
    const next = page.headers.get('X-Next-Cursor')
    if (next === null) break
    cursor = `&cursor=${next}`
  }
  t.same(paged, all, 'page by page')
  t.equal((await client.get('/charges?cursor=none')).status, 400)
  t.equal((await client.get('/charges?kinds=none')).status, 400)
  const usage = await client.ok('GET', `/charges?period=current&kinds=usage&feature_id=${calls.id}`)
  t.same(
    usage,
    all.filter((one: { kind: string }) => one.kind === 'usage'),
  )
  const file = async (format: string) => {
    const url = `${client.url}/export/charges?period=current&format=${format}`
    return fetch(url, { headers: { 'X-Service-Api-Key': client.key } })
  }
  const lines = (await (await file('ndjson')).text()).trimEnd().split('\n')
  t.same(
    lines.map(line => JSON.parse(line)),
    all,
    'NDJSON',
  )
  const csv = (await (await file('csv')).text()).trimEnd().split('\n')
  t.equal(csv.length, all.length + 1, 'CSV')
  t.match(csv[0], /^"company_id","period_id"/)
  const rows = await parquetReadObjects({ file: await (await file('parquet')).arrayBuffer() })
  t.same(
    rows.map(row => [row.company_id, row.kind, Number(row.amount)]),
    all.map((one: { company_id: string; kind: string; amount: number }) => [
      one.company_id,
      one.kind,
      one.amount,
    ]),
    'Parquet',
  )
})

t.test(
  'RA-17 credits below zero: as of now while the window is open, and charged when it closes',
  async t => {
    await world.clock('2031-07-01T00:00:00.000Z')
    const credits = new CreditWorld(client)
    const credit = await credits.credit()
    const { subtype, plan } = await credits.metered(credit.id, 1, [
      {
        credit_amount: 10,
        postpaid_enabled: true,
        overdraft_limit: 50,
        postpaid_rate_per_unit_decimal: '1.95',
      },
    ])
    const company = await credits.company({ base_plan_id: plan.id })
    await credits.track(subtype, company.keys, { quantity: 25 })
    await world.clock('2031-07-20T00:00:00.000Z')
    const open = await world.charges(company.id)
    // 15 × 1.95 = 29.25
    const owed = {
      kind: 'credit_overdraft',
      credit_id: credit.id,
      quantity: 15,
      amount: 29,
      amount_decimal: '29.25',
    }
    t.match(open.lines, [
      { ...owed, unit: 'credit', plan_id: plan.id, start_time: '2031-07-01T00:00:00.000Z' },
    ])
    await world.clock('2031-08-02T00:00:00.000Z')
    const closed = await world.closed(company.id)
    t.match(closed.lines, [{ ...owed, end_time: '2031-08-01T00:00:00.000Z', currency: 'usd' }])
    t.same((await world.charges(company.id)).lines, [], 'nothing is owed any more')

    await credits.track(subtype, company.keys, { quantity: 12 })
    await world.clock('2031-08-11T00:00:00.000Z')
    await client.ok('DELETE', `/companies/${company.id}`)
    const last = async () =>
      (await client.ok('GET', `/charges?company_ids=${company.id}`)).filter(
        (one: { period_start: string }) => one.period_start === '2031-08-01T00:00:00.000Z',
      )
    for (let tries = 0; tries < 100 && (await last()).length === 0; tries++) await sleep(100)
    t.match(
      await last(),
      [{ ...owed, quantity: 2, amount: 4, amount_decimal: '3.9', end_time: '2031-08-11T00:00:00.000Z' }],
      'the window ends with its company',
    )
  },
)

t.test('CR-54, RA-17 a debt is charged when its window closes, also if its plan was left before', async t => {
  await world.clock('2031-08-12T00:00:00.000Z')
  const credits = new CreditWorld(client)
  const credit = await credits.credit()
  const { subtype, plan } = await credits.metered(credit.id, 1, [
    {
      credit_amount: 10,
      postpaid_enabled: true,
      overdraft_limit: 50,
      postpaid_rate_per_unit_decimal: '1.95',
    },
  ])
  const company = await credits.company({ base_plan_id: plan.id })
  await credits.track(subtype, company.keys, { quantity: 25 })
  await world.clock('2031-08-20T00:00:00.000Z')
  await client.ok('PUT', `/company-plans/${company.id}`, { base_plan_id: null, add_on_ids: [] })
  await world.clock('2031-08-25T00:00:00.000Z')
  const owed = { kind: 'credit_overdraft', quantity: 15, amount_decimal: '29.25', plan_id: plan.id }
  t.match((await world.charges(company.id)).lines, [owed], 'at the rate of the plan that was left')
  await world.clock('2031-09-01T00:00:00.000Z')
  t.match((await world.closed(company.id)).lines, [{ ...owed, end_time: '2031-09-01T00:00:00.000Z' }])
  t.same((await world.charges(company.id)).lines, [], 'once')
})

t.test('RA-18 a trait feature is rated by its value', async t => {
  await world.clock('2031-09-01T00:00:00.000Z')
  const trait = await client.ok('POST', '/entity-trait-definitions', {
    entity_type: 'company',
    hierarchy: ['stored'],
    trait_type: 'number',
  })
  const stored = await client.ok('POST', '/features', {
    name: 'stored',
    description: '',
    feature_type: 'trait',
    trait_id: trait.id,
  })
  const entitlement = {
    feature_id: stored.id,
    value_type: 'unlimited',
    price_behavior: 'pay_as_you_go',
    monthly_unit_price: 4,
  }
  const plan = await world.sold('Stored', [entitlement], { monthly_price: 0 })
  const company = await world.subscribed('stored', plan)
  await client.ok('POST', '/company-traits', { keys: { slug: 'stored' }, trait: 'stored', set: '12.9' })
  const { lines } = await world.charges(company)
  t.match(lines, [
    { kind: 'recurring', amount: 0 },
    { kind: 'usage', feature_id: stored.id, quantity: 12, amount: 48, events: null },
  ])
})

t.test('RA-27 metered items are in the products of a subscription, with their use so far', async t => {
  await world.clock('2032-01-01T00:00:00.000Z')
  const exports = await eventFeature(client, 'exports', 'export')
  const over = {
    ...metered,
    feature_id: exports.id,
    value_type: 'numeric',
    value_numeric: 1_000,
    price_behavior: 'overage',
    soft_limit: 10,
    monthly_unit_price: 7,
    billing_threshold: 500,
  }
  const plan = await world.sold('Items', [tiered, over], { monthly_price: 1000 })
  const company = await world.subscribed('items', plan)
  const products = async (path = '/company-subscriptions') => {
    const [subscription] = await client.ok('GET', `${path}?company_id=${company}`)
    return subscription.products.map((one: { [member: string]: unknown }) => [
      one.usage_type,
      one.quantity,
      one.price,
      one.billing_threshold,
    ])
  }
  t.same((await products()).sort(), [
    ['licensed', 1, 1000, null],
    ['metered', 0, 0, null],
    ['metered', 0, 7, 500],
  ])
  await world.use('items', 'call', 12)
  await world.use('items', 'export', 14)
  t.same((await products()).sort(), [
    ['licensed', 1, 1000, null],
    ['metered', 12, 0, null],
    ['metered', 4, 7, 500],
  ])
  t.same((await products('/company-billing-entity-subscriptions')).length, 3)
  const [{ products: shown, total_price: total }] = await client.ok(
    'GET',
    `/company-subscriptions?company_id=${company}`,
  )
  t.equal(total, 1000, 'the total is what is paid in advance')
  t.match(shown[1], { price_tier: [{ up_to: 10 }, { up_to: null }], billing_scheme: 'tiered', name: /./ })
  await world.clock('2032-02-01T00:00:00.000Z')
  t.same((await products()).sort(), [
    ['licensed', 1, 1000, null],
    ['metered', 0, 0, null],
    ['metered', 0, 7, 500],
  ])
})
