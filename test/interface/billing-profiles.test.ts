// Effects of a company's billing profile: its overdraft limit is the floor of its postpaid credits, its currency prices
// requests without a currency ( CR-51, CR-52, FE-47, PB-43).
import t from 'tap'
import { publishDraftOf } from '../control/planned.js'
import { type Client, Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { linkedPlan, subscriptionBody } from './billing-world.js'
import { CreditWorld } from './credit-world.js'

const dataDir = await temporaryDirectory(t)
let running = await Process.start(dataDir)
let client: Client = running.client
let world = new CreditWorld(client)
t.teardown(() => running.end('SIGTERM'))

/** End it by this signal and start it again on what it left. */
async function again(signal: NodeJS.Signals): Promise<void> {
  await running.end(signal)
  running = await Process.start(dataDir)
  client = running.client
  world = new CreditWorld(client)
}

/** A company that billing knows, and its profile. */
async function billed(more: object = {}) {
  const company = await world.company(more)
  await client.ok('POST', '/billing/customer/upsert', {
    external_id: `cus_${company.id}`,
    company_id: company.id,
    email: 'a@b.c',
    name: 'Billed',
    meta: {},
  })
  const [profile] = await client.ok('GET', `/billing/profiles?company_id=${company.id}`)
  return {
    ...company,
    /** Change the profile. */
    say: (said: object) => client.ok('PUT', `/billing/profiles/${profile.id}`, said),
  }
}

/** A company on a plan of 10 credits, which may owe as many as `limit`, and what is asked of it. */
async function debtor(limit: number | null, more: object = { postpaid_enabled: true }) {
  const credit = await world.credit()
  const { subtype, plan, flag } = await world.metered(credit.id, 1, [
    { credit_amount: 10, ...(limit !== null && { overdraft_limit: limit }), ...more },
  ])
  const company = await billed({ base_plan_id: plan.id })
  const of = { company_id: company.id, credit_type_id: credit.id }
  const asked = { company: company.keys }
  const check = async (usage: number): Promise<boolean> =>
    (await client.ok('POST', `/flags/${flag.key}/check`, { ...asked, preflight: { usage } })).value
  const allowed = async (answer: Promise<{ readonly status: number }>) => (await answer).status < 300
  return {
    ...company,
    creditId: credit.id,
    use: (quantity: number) => world.track(subtype, company.keys, { quantity }),
    balance: async (): Promise<number> => (await world.balance(company.id, credit.id))[0],
    served: async (): Promise<boolean> => (await client.ok('POST', `/flags/${flag.key}/check`, asked)).value,
    check,
    reserves: (amount: number) => allowed(client.post('/billing/credits/reservations', { ...of, amount })),
    /** How much a lease of so much gets; 0 when it is refused. */
    leases: async (amount: number): Promise<number> => {
      const answer = await client.post('/billing/credits/lease', { ...of, requested_amount: amount })
      return answer.status < 300 ? answer.body.data.granted_amount : 0
    },
    holds: async (quantity: number): Promise<boolean> =>
      (await client.ok('POST', `/flags/${flag.key}/check-and-reserve`, { ...asked, quantity })).value,
    shown: async () =>
      (await client.ok('GET', `/companies/${company.id}`)).plan.included_credit_grants[0]
        .billing_credit_overdraft_limit,
  }
}

t.test('CR-52, FE-47 the limit of the profile takes the place of the plan, lower and higher', async t => {
  const one = await debtor(20)
  const grants = async (most: number, message: string) => {
    t.same([await one.check(most), await one.check(most + 1)], [true, false], `${message}: checks`)
    t.equal(await one.holds(most + 1), false, `${message}: check and reserve`)
    t.equal(await one.reserves(most + 1), false, `${message}: reservations`)
  }
  await grants(30, 'the plan alone')
  await one.say({ overdraft_limit: 5 })
  await grants(15, 'lower')
  t.equal(await one.shown(), 5)
  await one.say({ name: 'Main' })
  await grants(15, 'absent is unchanged')
  await one.say({ overdraft_limit: 100 })
  await grants(110, 'higher')
  await one.say({ overdraft_limit: 0 })
  await grants(10, 'none at all')
  await one.say({ overdraft_limit: null })
  await grants(30, 'null is the plan again')
  t.equal(await one.shown(), 20)
})

t.test('CR-51, CR-52 draws and holds go down to the limit of the profile', async t => {
  const one = await debtor(null)
  await one.say({ overdraft_limit: 15 })
  await one.use(12)
  t.equal(await one.balance(), -2)
  t.same([await one.served(), await one.check(13), await one.check(14)], [true, true, false])
  t.equal(await one.reserves(14), false)
  t.equal(await one.reserves(3), true)
  t.equal(await one.holds(11), false, 'what is held counts')
  t.equal(await one.holds(4), true)
  t.equal(await one.leases(7), 6, 'a lease gets what is left')
  t.equal(await one.served(), false)
  const two = await debtor(null)
  await two.say({ overdraft_limit: 15 })
  await two.use(40)
  t.equal(await two.balance(), -15, 'the rest is uncovered')
  await two.say({ overdraft_limit: 17 })
  t.equal(await two.served(), true)
  await two.use(40)
  t.equal(await two.balance(), -17)
  await world.agrees(t, two.id, two.creditId, 'CR-88 after limits came and went')
})

t.test('CR-52 a limit below the debt changes no debt and denies what follows', async t => {
  const one = await debtor(20)
  await one.use(22)
  t.equal(await one.balance(), -12)
  t.equal(await one.served(), true)
  await one.say({ overdraft_limit: 3 })
  t.equal(await one.balance(), -12)
  t.equal(await one.served(), false)
  await one.use(1)
  t.equal(await one.balance(), -12)
  t.same([await one.reserves(1), await one.leases(1), await one.holds(1)], [false, 0, false])
  await one.say({ overdraft_limit: null })
  t.equal(await one.served(), true)
  await one.use(10)
  t.equal(await one.balance(), -20)
  await world.agrees(t, one.id, one.creditId, 'CR-88 after the limit was below the debt')
})

t.test('CR-50 a limit makes no plan postpaid', async t => {
  const one = await debtor(null, {})
  await one.say({ overdraft_limit: 50 })
  t.same([await one.check(10), await one.check(11)], [true, false])
  t.equal(await one.shown(), null)
  await one.use(12)
  t.equal(await one.balance(), 0)
})

t.test('CR-51 it holds for every credit of the company, and for no other company', async t => {
  const [one, other] = [await debtor(20), await debtor(20)]
  const credit = await world.credit()
  const add = await client.ok('POST', '/plans', { name: `Add ${credit.id}`, plan_type: 'add_on' })
  await client.ok('POST', '/billing/credits/plan-grants', {
    plan_id: add.id,
    credit_id: credit.id,
    credit_amount: 10,
    reset_cadence: 'monthly',
    reset_start: 'billing_period',
    postpaid_enabled: true,
  })
  await publishDraftOf(client, add.id)
  const { plan } = await client.ok('GET', `/companies/${one.id}`)
  await client.ok('PUT', `/company-plans/${one.id}`, { base_plan_id: plan.id, add_on_ids: [add.id] })
  const reserve = async (amount: number) =>
    (
      await client.post('/billing/credits/reservations', {
        company_id: one.id,
        credit_type_id: credit.id,
        amount,
      })
    ).status
  await one.say({ overdraft_limit: 4 })
  t.same([await one.check(14), await one.check(15)], [true, false])
  t.same([await reserve(15), await reserve(14)], [402, 201])
  t.same([await other.check(30), await other.check(31)], [true, false])
})

t.test('a limit is known after a restart, and after a kill right behind the answer', async t => {
  const [one, two] = [await debtor(20), await debtor(20)]
  await one.say({ overdraft_limit: 5 })
  await again('SIGTERM')
  t.same([await one.check(15), await one.check(16)], [true, false], 'from its snapshot')
  await Promise.all([
    client.ok('PUT', `/billing/profiles/${await profileOf(one.id)}`, { overdraft_limit: 7 }),
    client.ok('PUT', `/billing/profiles/${await profileOf(two.id)}`, { overdraft_limit: 8 }),
  ])
  await again('SIGKILL')
  t.same([await one.check(17), await one.check(18)], [true, false], 'from the journal')
  t.same([await two.check(18), await two.check(19)], [true, false])
  await client.ok('PUT', `/billing/profiles/${await profileOf(one.id)}`, { overdraft_limit: null })
  await again('SIGKILL')
  t.same([await one.check(30), await one.check(31)], [true, false], 'null is the plan, after a kill too')
})

const profileOf = async (companyId: string): Promise<string> =>
  (await client.ok('GET', `/billing/profiles?company_id=${companyId}`))[0].id

// ── currency ─────────────────────────────────────────────────────────────────────────────────────

let sold = 0

/** A plan that the service bills, at these prices. */
async function plan(prices: object, more: object = {}) {
  const { id } = await client.ok('POST', '/plans', { name: `Sold ${++sold}`, plan_type: 'plan', ...more })
  await client.ok('PUT', `/plans/${id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    ...prices,
  })
  return publishDraftOf(client, id)
}

const both = {
  monthly_price: 1000,
  yearly_price: 10_000,
  currency_prices: [{ currency: 'eur', monthly_price: 900, yearly_price: 9000 }],
}
const nothing = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}
const manage = (id: string, body: object) =>
  client.post('/manage-plan', { ...nothing, company_id: id, ...body })
const preview = (id: string, body: object) =>
  client.post('/manage-plan/preview', { ...nothing, company_id: id, ...body })
const billing = async (id: string) => (await client.ok('GET', `/companies/${id}`)).billing_subscription

t.test('PB-43 a plan without a price named is sold in the currency of the profile', async t => {
  const basic = await plan(both)
  const extra = await plan(both, { plan_type: 'add_on' })
  const company = await billed()
  const chosen = { base_plan_id: basic.id }
  t.match(
    await manage(company.id, chosen),
    { status: 400, body: { error: /the plan has several prices, name one of/ } },
    'no profile says',
  )
  await company.say({ currency: 'eur' })
  t.match(await preview(company.id, chosen), {
    status: 200,
    body: { data: { subscription_change_preview: { due_now: 900, new_charges: 900 } } },
  })
  t.equal((await manage(company.id, chosen)).status, 200)
  t.match(await billing(company.id), { currency: 'eur', total_price: 900, interval: 'month' })
  await company.say({ currency: 'usd' })
  const added = { ...chosen, add_on_selections: [{ plan_id: extra.id }] }
  t.equal((await manage(company.id, added)).status, 200)
  t.match(await billing(company.id), { currency: 'eur', total_price: 1800 }, 'what runs wins')
  await again('SIGTERM')
  const other = await billed()
  await other.say({ currency: 'eur' })
  await again('SIGKILL')
  t.equal((await manage(other.id, chosen)).status, 200)
  t.match(await billing(other.id), { currency: 'eur' }, 'after a restart')
})

t.test('PB-43 a price that is named wins; its interval is that of what is added', async t => {
  const basic = await plan(both)
  const extra = await plan(both, { plan_type: 'add_on' })
  const company = await billed()
  await company.say({ currency: 'eur' })
  const usd = { base_plan_id: basic.id, base_plan_price_id: basic.yearly_price.id }
  t.equal((await manage(company.id, usd)).status, 200)
  t.match(await billing(company.id), { currency: 'usd', total_price: 10_000 })
  const added = { ...usd, add_on_selections: [{ plan_id: extra.id }] }
  t.equal((await manage(company.id, added)).status, 200)
  t.match(await billing(company.id), { currency: 'usd', total_price: 20_000, interval: 'year' })
})

t.test('PB-43 a plan without a price in the currency is refused, and nothing is changed', async t => {
  const basic = await plan({ monthly_price: 1000 })
  const company = await billed()
  await company.say({ currency: 'eur' })
  const before = (await client.ok('GET', `/companies/${company.id}`)).plan
  for (const ask of [manage, preview])
    t.match(await ask(company.id, { base_plan_id: basic.id }), {
      status: 400,
      body: { error: /base_plan_id: the plan has no price in eur/ },
    })
  t.same((await client.ok('GET', `/companies/${company.id}`)).plan, before)
  await company.say({ currency: null })
  t.equal(
    (await manage(company.id, { base_plan_id: basic.id })).status,
    200,
    'decision 41: its only price, where no currency is asked for',
  )
  t.match(await billing(company.id), { currency: 'usd', total_price: 1000 })
})

t.test(
  'PB-43 bundles are sold in the profile’s currency; a running subscription’s currency comes first',
  async t => {
    const credit = await world.credit()
    const bundle = (name: string, currency_prices: readonly object[]) =>
      client.ok('POST', '/billing/credits/bundles', {
        bundle_name: name,
        bundle_type: 'fixed',
        credit_id: credit.id,
        currency: 'usd',
        expiry_type: 'no_expiry',
        expiry_unit: 'days',
        price_per_unit: 2,
        quantity: 50,
        currency_prices,
      })
    const priced = await bundle('Both', [{ currency: 'eur', price_per_unit: 3 }])
    const dollars = await bundle('Dollars', [])
    const buy = ({ id }: { id: string }) => ({ credit_bundles: [{ bundle_id: id, quantity: 1 }] })
    const due = async (id: string, body: object) =>
      (await preview(id, body)).body.data?.subscription_change_preview.due_now
    const company = await billed()
    t.equal(await due(company.id, buy(priced)), 100)
    await company.say({ currency: 'eur' })
    t.equal(await due(company.id, buy(priced)), 150)
    t.match(await manage(company.id, buy(dollars)), {
      status: 400,
      body: { error: 'credit_bundles: Dollars has no price in eur' },
    })
    const linked = await linkedPlan(client, 'Provided')
    await client.ok('POST', '/billing/subscription/upsert', {
      ...subscriptionBody('sub_provided', `cus_${company.id}`, [linked], { status: 'active' }),
      period_start: Math.floor(Date.now() / 1000) - 60,
      period_end: Math.floor(Date.now() / 1000) + 30 * 86_400,
    })
    t.equal(
      await due(company.id, { base_plan_id: linked.plan.id, ...buy(priced) }),
      100,
      'what runs is in usd',
    )
  },
)

t.test('PB-43, PB-60 a custom plan is billed in the currency of its company', async t => {
  const company = await billed()
  await company.say({ currency: 'eur' })
  const custom = async (prices: object) => {
    const made = await client.ok('POST', '/custom-plans', { company_id: company.id, name: 'Custom' })
    await client.ok('PUT', `/plans/${made.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      ...prices,
    })
    return made.draft_version.id as string
  }
  const publish = (versionId: string) =>
    client.put(`/plans/version/${versionId}/publish`, {
      migration_strategy: 'leave',
      excluded_company_ids: [],
      customer_email: 'pay@example.com',
    })
  t.match(await publish(await custom({ monthly_price: 1000 })), {
    status: 400,
    body: { error: /no price in eur/ },
  })
  t.equal((await client.ok('GET', `/custom-plan-billings?company_id=${company.id}`)).length, 0)
  const answer = await publish(await custom(both))
  t.equal(answer.status, 200)
  t.match(await billing(company.id), { currency: 'eur', total_price: 900 })
})

t.test('EN-35, PB-43 what an amendment commits to is billed in the currency that runs', async t => {
  const company = await billed()
  await company.say({ currency: 'eur' })
  const seats = await client.ok('POST', '/features', {
    name: 'Seats of a custom plan',
    description: '',
    feature_type: 'trait',
  })
  const made = await client.ok('POST', '/custom-plans', { company_id: company.id, name: 'Seated' })
  const seat = {
    feature_id: seats.id,
    value_type: 'trait',
    price_behavior: 'pay_in_advance',
    monthly_unit_price: 400,
    currency_prices: [{ currency: 'eur', monthly_unit_price: 300 }],
  }
  const { id } = await client.ok('POST', '/plan-entitlements', {
    plan_id: made.id,
    ...seat,
    usage_quantity: 2,
  })
  await client.ok('PUT', `/plans/${made.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    ...both,
  })
  const publish = async (strategy: string) => {
    const { draft_version: draft } = await client.ok('GET', `/plans/${made.id}`)
    await client.ok('PUT', `/plans/version/${draft.id}/publish`, {
      migration_strategy: strategy,
      excluded_company_ids: [],
      customer_email: 'pay@example.com',
    })
  }
  await publish('leave')
  t.match(await billing(company.id), { currency: 'eur', total_price: 900 + 2 * 300 })
  await client.ok('PUT', `/plan-entitlements/${id}`, { ...seat, usage_quantity: 5 })
  await publish('immediate')
  const amended = await billing(company.id)
  t.equal(amended.total_price, 900 + 5 * 300)
  t.same(
    amended.products.map((one: { currency: string; quantity: number }) => [one.currency, one.quantity]),
    [
      ['eur', 1],
      ['eur', 5],
    ],
  )
})
