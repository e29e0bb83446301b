// The page of charges worked by hand (docs/tasks/charges.md), held against the answers of the service.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { eventFeature, publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { offerPlans } from './billing-world.js'
import { ChargesWorld, metered } from './charges-world.js'

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

const page = readFileSync(new URL('../../../docs/tasks/charges.md', import.meta.url), 'utf8')
const { client, tollgate } = await startHere(t)
const world = await ChargesWorld.of(client)

/** Rows `line quantity amount` of the table under a heading, sorted, and the total below it. */
function worked(heading: string) {
  const text = page.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!
  const rows = [...text.matchAll(/^\| (.*?) \| (-?\d+) \| (-?\d+) \|/gm)]
  const total = Number(/The total is (\d+)/.exec(text)![1])
  return { lines: rows.map(([, line, quantity, amount]) => `${line} ${quantity} ${amount}`).sort(), total }
}

const features = new Map<string, string>()

/** The same of charges. */
function shown({ lines, totals }: Body, currency: string) {
  return {
    lines: lines
      .map(({ kind, feature_id: id, quantity, amount }: Body) =>
        [kind, kind === 'seat' ? undefined : features.get(id), quantity, amount]
          .filter(one => one !== undefined)
          .join(' '),
      )
      .sort(),
    total: totals.find((one: Body) => one.currency === currency).amount,
  }
}

async function feature(name: string): Promise<string> {
  const { id } = await eventFeature(client, name, name)
  features.set(id, name)
  return id
}

/** The plan of the page. */
async function plan() {
  const seats = await client.ok('POST', '/features', {
    name: 'Seats',
    description: '',
    feature_type: 'license',
  })
  await client.ok('POST', '/billing/product/upsert', { external_id: 'pages', name: 'Pages', price: 35 })
  const price = await client.ok('POST', '/billing/price/upsert', {
    price_external_id: 'page_packs',
    product_external_id: 'pages',
    external_account_id: 'acct',
    currency: 'usd',
    interval: 'month',
    price: 35,
    billing_scheme: 'per_unit',
    price_tiers: [],
    usage_type: 'metered',
    package_size: 100,
    is_active: true,
  })
  const credit = await client.ok('POST', '/billing/credits', {
    name: 'Credits',
    description: '',
    currency: 'usd',
  })
  const payg = { ...metered, price_behavior: 'pay_as_you_go' }
  const overage = { ...metered, value_type: 'numeric', value_numeric: 100_000, price_behavior: 'overage' }
  const entitlements = [
    { feature_id: seats.id, value_type: 'trait', price_behavior: 'pay_in_advance', monthly_unit_price: 1200 },
    {
      ...payg,
      feature_id: await feature('calls'),
      tier_mode: 'graduated',
      currency_prices: [
        {
          currency: 'usd',
          monthly_price_tiers: [
            { up_to: 1000, flat_amount: 500, per_unit_price: 2 },
            { up_to: 5000, per_unit_price_decimal: '1.25' },
            { per_unit_price_decimal: '0.4' },
          ],
        },
        { currency: 'eur', monthly_unit_price_decimal: '1.005' },
        { currency: 'jpy', monthly_unit_price_decimal: '0.5' },
      ],
    },
    {
      ...payg,
      feature_id: await feature('mails'),
      tier_mode: 'volume',
      monthly_price_tiers: [
        { up_to: 100, per_unit_price: 10 },
        { flat_amount: 250, per_unit_price: 3 },
      ],
    },
    { ...payg, feature_id: await feature('pages'), monthly_metered_price_id: price.id ?? price.price_id },
    { ...overage, feature_id: await feature('exports'), soft_limit: 10, monthly_unit_price: 15 },
    {
      ...overage,
      feature_id: await feature('storage'),
      soft_limit: 50,
      monthly_unit_price: 8,
      overage_billing_cadence: 'quarterly',
      overage_invoice_anchor: 'billing_period_start',
    },
    {
      feature_id: await feature('burns'),
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: 1,
      price_behavior: 'credit_burndown',
    },
  ]
  const made = await client.ok('POST', '/plans', { name: 'Works', plan_type: 'plan' })
  for (const one of entitlements) await client.ok('POST', '/plan-entitlements', { plan_id: made.id, ...one })
  await client.ok('PUT', `/plans/${made.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    currency_prices: [
      { currency: 'usd', monthly_price: 4900 },
      { currency: 'eur', monthly_price: 4500 },
      { currency: 'jpy', monthly_price: 6000 },
    ],
  })
  await client.ok('POST', '/billing/credits/plan-grants', {
    plan_id: made.id,
    credit_id: credit.id,
    credit_amount: 10,
    reset_cadence: 'monthly',
    reset_start: 'billing_period',
    postpaid_enabled: true,
    overdraft_limit: 100,
    postpaid_rate_per_unit_decimal: '1.95',
  })
  const published = await publishDraftOf(client, made.id)
  const [seatEntitlement] = await client.ok(
    'GET',
    `/plan-entitlements?plan_id=${made.id}&feature_id=${seats.id}`,
  )
  const pagesId = [...features].find(([, name]) => name === 'pages')![0]
  const [pages] = await client.ok('GET', `/plan-entitlements?plan_id=${made.id}&feature_id=${pagesId}`)
  t.equal(
    pages.metered_monthly_price.package_size,
    100,
    'PB-42 an entitlement shows the packages of its price',
  )
  return { published, seatPrice: seatEntitlement.metered_monthly_price.id }
}

await world.clock('2031-04-01T00:00:00.000Z')
await offerPlans(client, tollgate, {}, { proration_behavior: 'create_prorations' })
const { published, seatPrice } = await plan()
const priceIn = (currency: string) =>
  published.currency_prices.find((one: Body) => one.currency === currency).monthly_price.id

t.test('RA-1…9, RA-13, RA-14, RA-17, RA-19 every line and total of the page', async t => {
  const ids = new Map<string, string>()
  const base = (currency: string) => ({ base_plan_id: published.id, base_plan_price_id: priceIn(currency) })
  const withSeats = (quantity: number) => ({
    ...base('usd'),
    pay_in_advance_entitlements: [{ price_id: seatPrice, quantity }],
  })
  for (const currency of ['usd', 'eur', 'jpy']) {
    const { id } = await client.ok('POST', '/companies', { keys: { slug: currency } })
    ids.set(currency, id)
    await world.manage(id, currency === 'usd' ? withSeats(3) : base(currency))
  }
  const [usd, eur, jpy] = ['usd', 'eur', 'jpy'].map(currency => ids.get(currency)!)
  await world.clock('2031-04-03T08:00:00.000Z')
  for (const [event, quantity] of [
    ['calls', 6_000],
    ['mails', 140],
    ['pages', 230],
    ['exports', 14],
    ['storage', 70],
    ['burns', 25],
  ] as const)
    await world.use('usd', event, quantity)
  await world.use('usd', 'calls', 300)
  await world.use('eur', 'calls', 100)
  await world.use('jpy', 'calls', 13)
  await world.clock('2031-04-16T00:00:00.000Z')
  await world.manage(usd!, withSeats(5))
  await world.clock('2031-04-21T00:00:00.000Z')
  await world.manage(usd!, withSeats(4))
  const open = await world.charges(usd!)
  t.same(shown(open, 'usd'), worked('April in dollars'), 'April in dollars, open')
  t.match(open.accruing, [{ kind: 'overage', quantity: 20, amount: 160 }], 'the quarter runs on')

  await world.clock('2031-05-02T00:00:00.000Z')
  t.same(shown(await world.closed(usd!), 'usd'), worked('April in dollars'), 'April in dollars, closed')
  t.same(shown(await world.closed(eur!), 'eur'), worked('April in euros'), 'April in euros')
  const yen = await world.closed(jpy!)
  t.same(shown(yen, 'jpy'), worked('April in yen'), 'April in yen')
  t.equal(yen.totals[0].digits, 0, 'RA-19')
  await world.use('usd', 'storage', 40)
  await world.clock('2031-06-02T00:00:00.000Z')
  await world.use('usd', 'storage', 95)
  await world.clock('2031-07-02T00:00:00.000Z')
  t.same(shown(await world.closed(usd!), 'usd'), worked('June in dollars'), 'June in dollars')
})
