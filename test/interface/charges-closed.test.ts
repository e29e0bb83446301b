// Closed billing periods over HTTP: written once, with a hash, drafts and notifications; late events become corrections.
import { createHash } from 'node:crypto'
import t from 'tap'
import { closeBilling, watchThresholds } from '../../src/control/jobs/close-billing.js'
import { eventFeature, publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { offerPlans } from './billing-world.js'
import { ChargesWorld, metered, told } from './charges-world.js'
import { receiver } from './receiver.js'

const { client, tollgate } = await startHere(t, { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true' })
const { services } = tollgate
const world = await ChargesWorld.of(client)
const here = await receiver(t)
await world.clock('2031-01-15T10:30:00.000Z')
await client.ok('POST', '/webhooks', {
  name: 'billing',
  url: here.url,
  request_types: ['billing.period.closed', 'billing.overage_window.closed', 'billing.threshold.reached'],
})
const calls = await eventFeature(client, 'calls', 'call')
const paid = { ...metered, feature_id: calls.id, price_behavior: 'pay_as_you_go', monthly_unit_price: 3 }
const basic = await world.sold('Basic', [{ ...paid, billing_threshold: 60 }], { monthly_price: 1000 })
const late = (atIso: string) => ({ sent_at: atIso, trusted_client_clock: true })

t.test('RA-12, RA-20, RA-23 a period is written once; what comes late is a line of the next', async t => {
  const company = await world.subscribed('once', basic)
  await world.use('once', 'call', 10)
  await world.clock('2031-02-16T00:00:00.000Z')
  const closed = await world.closed(company)
  t.same(told(closed.lines), ['recurring 1 1000', 'usage 10 30'])
  t.match(closed.period, {
    id: /^bper_/,
    start_time: '2031-01-15T10:30:00.000Z',
    end_time: '2031-02-15T10:30:00.000Z',
  })
  t.same(closed.totals, [{ currency: 'usd', digits: 2, amount: 1030 }])
  const [start, end] = [closed.period.start_time, closed.period.end_time].map(text => Date.parse(text))
  const hash = createHash('sha256').update(`${company} ${start} ${end}\n`)
  for (const line of closed.lines) hash.update(`${JSON.stringify(line)}\n`)
  t.equal(closed.period.hash, hash.digest('hex'), 'the hash is over the lines as they are shown')

  const bounds = `start_time=${closed.period.start_time}&end_time=${closed.period.end_time}`
  await world.use('once', 'call', 2)
  const history = await client.ok('GET', `/feature-usage-history?company_ids=${company}&${bounds}`)
  t.match(history, [{ usage: 10, period_start: closed.period.start_time }], 'US-20 to the second')
  t.equal(history.length, 1)
  await world.use('once', 'call', -2)

  // an event of the closed period, and one that is imported
  await world.use('once', 'call', 4, late('2031-02-01T00:00:00.000Z'))
  await world.use('once', 'call', 5)
  await world.use('once', 'call', 100, { ...late('2031-02-01T00:00:00.000Z'), backfill: true })
  await services.sql`update billing_due set due_ms = 0, closed_ms = null`
  const close = () => closeBilling(services, [world.environmentId])
  await Promise.all([close(), close()])
  t.same(await world.charges(company, 'previous'), closed, 'closing again, twice at once, changes nothing')
  const open = await world.charges(company)
  t.same(told(open.lines), ['recurring 1 1000', 'correction 4 12', 'usage 5 15'])
  t.match(open.lines[1], {
    charge_kind: 'usage',
    window: { start_time: '2031-01-15T10:30:00.000Z', end_time: '2031-02-15T10:30:00.000Z' },
    events: { count: 1, quantity: 4 },
  })

  await world.clock('2031-03-16T00:00:00.000Z')
  const next = await world.closed(company)
  t.same(told(next.lines), ['recurring 1 1000', 'correction 4 12', 'usage 5 15'])
  const listed = await client.ok('GET', '/charges')
  t.equal(listed.length, 5, 'lines of both closed periods')
  t.same((await client.ok('GET', '/charges?kinds=correction'))[0].amount, 12)
  t.same(
    (await client.ok('GET', '/charges?end_time=2031-03-01T00:00:00Z')).length,
    2,
    'by the end of the period',
  )
  await t.rejects(services.sql`update charge_lines set kind = 'usage'`, /written once/, 'immutable')
  const { subscription_external_id: sold } = (
    await client.ok('GET', `/company-subscriptions?company_id=${company}`)
  )[0]
  const drafts = await client.ok(
    'GET',
    `/billing/invoices?customer_external_id=${company}&subscription_external_id=${sold}`,
  )
  t.match(drafts, [
    {
      status: 'draft',
      currency: 'usd',
      subtotal: 1027,
      amount_due: 1027,
      lines: [{ kind: 'recurring' }, { kind: 'correction' }, { kind: 'usage' }],
    },
    { status: 'draft', currency: 'usd', subtotal: 1030, billing_period_id: closed.period.id },
  ])
  await here.until(2)
  const told2 = here.of('billing.period.closed').map(one => one.json)
  t.equal(told2.length, 2, 'each period is told once')
  t.match(told2[0], { company_id: company, body: { id: closed.period.id, totals: closed.totals } })
})

t.test('RA-22 a threshold is told once, when the use of the period has cost so much', async t => {
  here.received.length = 0
  const company = await world.subscribed('much', basic)
  await world.use('much', 'call', 19)
  await services.projections.barrier('postgres')
  await closeBilling(services, [world.environmentId])
  await watchThresholds(services, 0)
  await services.outbox.drain()
  t.same(here.of('billing.threshold.reached'), [], '57 of 60')
  await world.use('much', 'call', 1)
  await watchThresholds(services, 0)
  await watchThresholds(services, 0)
  await here.until(1)
  await services.outbox.drain()
  t.match(
    here.of('billing.threshold.reached').map(one => one.json),
    [
      {
        company_id: company,
        feature_id: calls.id,
        body: { billing_threshold: 60, amount: 60, currency: 'usd' },
      },
    ],
  )
})

t.test('RA-8, RA-21 windows of overage close by their cadence, and are told', async t => {
  here.received.length = 0
  await world.clock('2031-04-01T00:00:00.000Z')
  const over = {
    ...metered,
    feature_id: calls.id,
    value_type: 'numeric',
    value_numeric: 1_000,
    price_behavior: 'overage',
    soft_limit: 10,
    overage_billing_cadence: 'monthly',
    overage_invoice_anchor: 'billing_period_start',
    quarterly_unit_price: 7,
  }
  const plan = await world.sold('Quarterly', [over], { quarterly_price: 3000 })
  const { quarterly_price: price } = plan as unknown as { quarterly_price: { id: string } }
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'over' } })
  await world.manage(company, { base_plan_id: plan.id, base_plan_price_id: price.id })
  await world.use('over', 'call', 14)
  await world.clock('2031-05-02T00:00:00.000Z')
  await world.use('over', 'call', 11)
  const windows = () => here.of('billing.overage_window.closed')
  while (windows().length === 0) await here.until(here.received.length + 1)
  const [window] = windows()
  t.match(window!.json, {
    company_id: company,
    feature_id: calls.id,
    body: {
      start_time: '2031-04-01T00:00:00.000Z',
      end_time: '2031-05-01T00:00:00.000Z',
      lines: [{ kind: 'overage', quantity: 4, amount: 28 }],
    },
  })
  const open = await world.charges(company)
  t.same(told(open.lines), ['recurring 1 3000', 'overage 4 28', 'overage 1 7'])
})

t.test('RA-5 the last period of a company that is deleted ends with it', async t => {
  await world.clock('2031-06-01T00:00:00.000Z')
  const company = await world.subscribed('gone', basic)
  await world.use('gone', 'call', 2)
  await world.clock('2031-06-11T00:00:00.000Z')
  await client.ok('DELETE', `/companies/${company}`)
  await services.projections.barrier('postgres')
  await closeBilling(services, [world.environmentId])
  const lines = await client.ok('GET', `/charges?company_ids=${company}`)
  t.same(told(lines), ['recurring 1 1000', 'usage 2 6'])
  t.match(lines[0], { period_end: '2031-06-11T00:00:00.000Z', period_status: 'closed' })
  await services.sql`update billing_due set due_ms = 0 where company_id = ${company}`
  await closeBilling(services, [world.environmentId])
  t.equal((await client.ok('GET', `/charges?company_ids=${company}`)).length, 2, 'and none follows')
})

t.test('RA-25 a company on the fallback plan alone owes for its use, and its months are closed', async t => {
  await world.clock('2031-07-10T00:00:00.000Z')
  const plan = await client.ok('POST', '/plans', { name: 'Fallback', plan_type: 'plan' })
  await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...paid })
  await publishDraftOf(client, plan.id)
  const make = async (slug: string) => (await client.ok('POST', '/companies', { keys: { slug } })).id
  // before there is a fallback plan: nothing is written down of what they hold
  const [used, idle] = [await make('fallen'), await make('idle')]
  await offerPlans(client, tollgate, { fallback: plan.id })
  await world.use('fallen', 'call', 4)
  const open = await client.ok('GET', '/charges?period=current')
  t.same(told(open.filter((one: { company_id: string }) => one.company_id === used)), ['usage 4 12'])
  t.same(told(await client.ok('GET', `/charges?period=current&company_ids=${used}`)), ['usage 4 12'])
  await world.clock('2031-08-01T00:00:00.000Z')
  const closed = await world.closed(used)
  t.same(told(closed.lines), ['usage 4 12'])
  t.match(closed.period, { start_time: '2031-07-01T00:00:00.000Z', subscription_id: null, hash: /./ })
  t.match(await world.charges(idle, 'previous'), { lines: [], period: { status: 'closed', hash: null } })
  const drafts = await client.ok(
    'GET',
    `/billing/invoices?customer_external_id=${used}&subscription_external_id=${used}`,
  )
  t.match(drafts, [{ subtotal: 12, billing_period_id: closed.period.id }], 'RA-23')

  await world.use('idle', 'call', 2, late('2031-07-20T00:00:00.000Z'))
  await world.clock('2031-09-01T00:00:00.000Z')
  t.same(told((await world.closed(idle)).lines), ['correction 2 6'], 'RA-12')
  const rows = await services.sql`select start_ms from billing_periods where company_id in (${used}, ${idle})`
  t.equal(rows.length, 2, 'a month without charges is not written down')
})

t.test('RA-18, RA-25 a company on the fallback plan alone owes for a trait', async t => {
  const trait = { entity_type: 'company', hierarchy: ['stored'], trait_type: 'number' }
  const { id: traitId } = await client.ok('POST', '/entity-trait-definitions', trait)
  const feature = { name: 'stored', description: '', feature_type: 'trait', trait_id: traitId }
  const stored = await client.ok('POST', '/features', feature)
  const make = async (slug: string) => (await client.ok('POST', '/companies', { keys: { slug } })).id
  // both are made while no fallback plan prices anything of theirs
  await offerPlans(client, tollgate, {})
  const [both, without] = [await make('stores'), await make('stores-not')]
  const plan = await client.ok('POST', '/plans', { name: 'By what is stored', plan_type: 'plan' })
  const byTrait = { feature_id: stored.id, value_type: 'unlimited', price_behavior: 'pay_as_you_go' }
  await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...byTrait, monthly_unit_price: 4 })
  await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...paid })
  await publishDraftOf(client, plan.id)
  await offerPlans(client, tollgate, { fallback: plan.id })
  await client.ok('POST', '/company-traits', { keys: { slug: 'stores' }, trait: 'stored', set: '7.5' })
  await world.use('stores', 'call', 3)
  const walked: { company_id: string }[] = []
  for (let next: string | null = ''; next !== null; ) {
    const page = await client.get(`/charges?period=current&limit=1${next && `&cursor=${next}`}`)
    walked.push(...page.body.data)
    next = page.headers.get('X-Next-Cursor')
  }
  const own = (lines: readonly { company_id: string }[]) =>
    told(lines.filter(one => one.company_id === both)).sort()
  t.same(own(walked), ['usage 3 9', 'usage 7 28'], 'a page may end between two lines of it')
  t.same(own(await client.ok('GET', '/charges?period=current')), ['usage 3 9', 'usage 7 28'])
  await world.clock('2031-10-01T00:00:00.000Z')
  t.same(told((await world.closed(both)).lines).sort(), ['usage 3 9', 'usage 7 28'])
  t.match(await world.charges(without, 'previous'), { lines: [], period: { status: 'closed', hash: null } })
})

t.test('RA-18 a company that is deleted owes for a trait as it was then', async t => {
  await world.clock('2031-11-01T00:00:00.000Z')
  const definitions = await client.ok('GET', '/features?q=stored')
  const byTrait = { feature_id: definitions[0].id, value_type: 'unlimited', price_behavior: 'pay_as_you_go' }
  const plan = await world.sold('Stores', [{ ...byTrait, monthly_unit_price: 4 }], { monthly_price: 1000 })
  const company = await world.subscribed('stored-gone', plan)
  const store = (set: string) =>
    client.ok('POST', '/company-traits', { keys: { slug: 'stored-gone' }, trait: 'stored', set })
  await store('9')
  await world.clock('2031-11-05T00:00:00.000Z')
  await store('7.5')
  await store('many')
  await store('7.5')
  await world.clock('2031-11-11T00:00:00.000Z')
  await client.ok('DELETE', `/companies/${company}`)
  await services.projections.barrier('postgres')
  await closeBilling(services, [world.environmentId])
  const lines = await client.ok('GET', `/charges?company_ids=${company}`)
  t.same(told(lines).sort(), ['recurring 1 1000', 'usage 7 28'])
  t.same(await services.sql`select name from gone_traits`, [], 'nothing of it is kept longer')

  // all of its life in a moment
  await client.ok('PUT', `/environments/${world.environmentId}/clock`, {
    now: '2031-11-12T00:00:00.000Z',
    frozen: false,
  })
  const short = await world.subscribed('short', plan)
  const set = { keys: { slug: 'short' }, trait: 'stored', set: '5' }
  await client.ok('POST', '/company-traits', set)
  await client.ok('DELETE', `/companies/${short}`)
  await services.projections.barrier('postgres')
  await closeBilling(services, [world.environmentId])
  const all = await client.ok('GET', `/charges?company_ids=${short}`)
  t.same(told(all).sort(), ['recurring 1 1000', 'usage 5 20'])
})

t.test('RA-28 the work for a page is bounded: a page is short if few lines pass the filter', async t => {
  // companies of which something is written down, and that owe nothing
  await services.sql`
    insert into billing_due (company_id, environment_id, due_ms)
    select 'a' || n, ${world.environmentId}, 0 from generate_series(1, 700) as n`
  await world.use('stores', 'call', 1)
  const filter = 'period=current&kinds=usage&limit=100'
  const first = await client.get(`/charges?${filter}`)
  t.same(first.body.data, [])
  const next = await client.get(`/charges?${filter}&cursor=${first.headers.get('X-Next-Cursor')}`)
  t.ok(next.body.data.length > 0, 'the page after it has what is there')
  t.equal(next.headers.get('X-Next-Cursor'), null)
  await services.sql`delete from billing_due where company_id like 'a%'`
  // a place in the lines of another environment's company
  const other = await client.ok('POST', '/environments', { name: 'Other', environment_type: 'development' })
  const { secret } = await client.ok('POST', '/api-keys', { name: 'other', environment_id: other.id })
  const { company_id: foreign } = next.body.data[0]
  const forged = Buffer.from(JSON.stringify([foreign, 0, 0])).toString('base64url')
  const there = (query: string) => client.as(secret).ok('GET', `/charges?period=current&${query}`)
  t.same(await there(`cursor=${forged}`), [], 'AL-11')
  t.same(await there(`company_ids=${foreign}&cursor=${forged}`), [], 'AL-11')
  t.equal((await client.get('/charges?cursor=WyJhIiwwLDkwMDcxOTkyNTQ3NDA5OTFd')).status, 400, 'no line')
})
