// Credits over HTTP: what is defined and sold, what companies are given, draw, hold and get back (credits.md).
import t from 'tap'
import { publishedPlan } from '../control/planned.js'
import { isShaped } from '../control/shape.js'
import { type Client, startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { CreditWorld, creditShapes } from './credit-world.js'

const { client } = await startHere(t)
const world = new CreditWorld(client)
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()

t.test('credits are created, listed, changed and deleted; shapes exact', async t => {
  const made = await client.post('/billing/credits', {
    name: 'Tokens',
    description: 'For models',
    currency: 'usd',
    per_unit_price_decimal: '0.25',
    currency_prices: [{ currency: 'eur', price_per_unit: 2 }],
    default_expiry_unit_count: 30,
  })
  t.equal(made.status, 201)
  const credit = made.body.data
  isShaped(t, credit, creditShapes.credit, 'BillingCredit')
  t.match(credit, {
    id: /^bcrd_/,
    burn_strategy: 'plan_first_then_credit_bundles_first_in_first_out',
    ledger_authority: 'service_authoritative',
    default_expiry_unit: 'days',
    default_expiry_unit_count: 30,
    icon: null,
    price: { currency: 'usd', price: 0, price_decimal: '0.25', scheme: 'per_unit' },
    currency_prices: [{ currency: 'usd' }, { currency: 'eur', price: { price: 2 } }],
  })
  t.match(credit.product, { name: 'Tokens', provider_type: 'native', is_active: true })
  const sold = async () => {
    const rows = await client.ok('GET', `/billing/price?product_id=${credit.product.product_id}`)
    return rows.map(
      (one: { id: string; currency: string; price: number; price_decimal: string; is_active: boolean }) => [
        one.id,
        one.currency,
        one.price_decimal ?? one.price,
        one.is_active,
      ],
    )
  }
  const [usd, eur] = credit.currency_prices.map((one: { price: { id: string } }) => one.price.id)
  t.same(
    new Set((await sold()).map(String)),
    new Set([String([usd, 'usd', '0.25', true]), String([eur, 'eur', 2, true])]),
    'its prices are prices like others',
  )
  t.same(await client.ok('GET', `/billing/credits/${credit.id}`), credit)
  t.same(await client.ok('GET', '/billing/credits?name=token'), [credit])
  t.same(await client.ok('GET', `/billing/credits/count?ids=${credit.id}`), { count: 1 })
  const changed = await client.ok('PUT', `/billing/credits/${credit.id}`, {
    name: 'Tokens!',
    description: '',
    default_expiry_unit_count: null,
    burn_strategy: 'last_in_first_out',
  })
  t.match(changed, { name: 'Tokens!', default_expiry_unit_count: null, burn_strategy: 'last_in_first_out' })
  t.same(changed.currency_prices, credit.currency_prices, 'prices that are not named stay')
  t.equal(changed.product.name, 'Tokens!')
  await client.ok('PUT', `/billing/credits/${credit.id}`, {
    name: 'Tokens!',
    description: '',
    per_unit_price_decimal: '0.5',
    currency_prices: [],
  })
  t.same(
    new Set((await sold()).map(String)),
    new Set([String([usd, 'usd', '0.5', true]), String([eur, 'eur', 2, false])]),
    'changed in place, and inactive once taken away',
  )
  const { id: companyId } = await world.company()
  await world.grant(companyId, credit.id, 1)
  t.equal((await client.del(`/billing/credits/${credit.id}`)).status, 400, 'PB-72 with grants it stays')
  const unused = await world.credit()
  t.same(await client.ok('DELETE', `/billing/credits/${unused.id}`), { deleted: true })
  t.equal((await client.get(`/billing/credits/${unused.id}`)).status, 404)
  t.equal((await client.post('/billing/credits', { description: '' })).status, 400)
})

t.test('PB-72 a credit that an entitlement is paid with is not deleted', async t => {
  const credit = await world.credit()
  const { plan } = await world.metered(credit.id, 1)
  t.equal((await client.del(`/billing/credits/${credit.id}`)).status, 400)
  const { entitlements } = await client.ok('GET', `/plans/${plan.id}`)
  t.match(entitlements[0], { value_credit: { id: credit.id, name: credit.name } })
  isShaped(t, entitlements[0].value_credit, creditShapes.credit, 'PlanEntitlement.value_credit')
})

t.test('grants: given, listed with figures of now, ordered, zeroed out', async t => {
  const credit = await world.credit()
  const company = await world.company()
  const made = await client.post('/billing/credits/grants/company', {
    company_id: company.id,
    credit_id: credit.id,
    reason: 'free',
    quantity: 100,
    expiry_type: 'duration',
    expiry_unit: 'days',
    expiry_unit_count: 30,
  })
  t.equal(made.status, 201)
  const first = made.body.data
  isShaped(t, first, creditShapes.grant, 'BillingCreditGrant')
  t.match(first, {
    id: /^bcgr_/,
    company_name: company.keys.slug,
    grant_reason: 'free',
    quantity: 100,
    quantity_remaining: 100,
    quantity_used: 0,
    reserved: 0,
    settled: 100,
    source_label: 'Free',
    zeroed_out_date: null,
  })
  t.equal(Date.parse(first.expires_at) - Date.parse(first.created_at), 30 * 86_400_000, 'CR-32')
  const second = await world.grant(company.id, credit.id, 50, { expires_at: inMinutes(60) })
  const ids = async (query: string) => (await world.grants(company.id, query)).map(one => one.id)
  t.same(await ids(''), [second.id, first.id], 'newest first')
  t.same(await ids('order=expires_at&dir=asc'), [second.id, first.id])
  t.same(await ids('order=quantity&dir=desc'), [first.id, second.id])
  t.same(await ids('order=quantity_remaining&dir=asc&limit=1'), [second.id])
  t.same(await ids('limit=1&offset=1'), [first.id])
  const count = `/billing/credits/grants/company/count?company_id=${company.id}`
  t.same(await client.ok('GET', count), { count: 2 })
  t.equal((await client.ok('GET', `/billing/credits/grants/list?credit_id=${credit.id}`)).length, 2)
  t.same(await client.ok('GET', `/billing/credits/grants/count?credit_id=${credit.id}`), { count: 2 })
  const [balance] = await client.ok('GET', `/billing/credits/balance?company_id=${company.id}`)
  isShaped(t, balance, creditShapes.balance, 'CompanyCreditBalanceRecord')
  t.match(balance, { remaining: 150, reserved: 0, settled: 150, total: 150, source: 'native' })
  const byDay = (of: string) =>
    client.get(`/credits-by-day?days=2&billing_credit_id=${credit.id}&company_id=${of}`)
  t.match((await byDay(company.id)).body.data, [{ balance: null }, { balance: 150, consumed: 0 }], 'CR-99')
  t.equal((await byDay('comp_none')).status, 404)

  const path = `/billing/credits/grants/${first.id}/zero-out`
  const zeroed = await client.ok('PUT', path, {})
  t.match(zeroed, { quantity_remaining: 0, quantity_used: 0, zeroed_out_reason: 'manual' }, 'CR-45')
  t.ok(zeroed.zeroed_out_date)
  t.same(
    await client.ok('PUT', path, { reason: 'reconciled' }),
    zeroed,
    'CR-45 a second time changes nothing',
  )
  t.same(await world.balance(company.id, credit.id), [50, 0, 50])
  await world.agrees(t, company.id, credit.id, 'CR-88 after a zero-out')

  const refuses = async (body: object) =>
    (
      await client.post('/billing/credits/grants/company', {
        company_id: company.id,
        credit_id: credit.id,
        reason: 'free',
        quantity: 1,
        ...body,
      })
    ).status
  t.equal(await refuses({ reason: 'plan' }), 400, 'CR-10')
  t.equal(await refuses({ quantity: 0 }), 400, 'CR-3')
  t.equal(await refuses({ quantity: 1.5 }), 400, 'CR-3')
  t.equal(await refuses({ expires_at: inMinutes(-1) }), 400)
  t.equal(await refuses({ expiry_type: 'end_of_trial' }), 400, 'CR-32 without a trial')
  t.equal(await refuses({ expiry_type: 'duration' }), 400)
  t.equal(await refuses({ renewal_enabled: true, expires_at: inMinutes(1) }), 400)
  t.equal(await refuses({ company_id: 'comp_22222222222' }), 404)
  t.equal(await refuses({ credit_id: 'bcrd_22222222222' }), 404)
  t.equal((await client.put('/billing/credits/grants/bcgr_22222222222/zero-out', {})).status, 404)
})

t.test('CR-34 a credit’s own expiry is that of grants that name none', async t => {
  const credit = await world.credit({ default_expiry_unit: 'days', default_expiry_unit_count: 2 })
  const { id } = await world.company()
  const grant = await world.grant(id, credit.id, 1)
  t.equal(Date.parse(grant.expires_at) - Date.parse(grant.created_at), 2 * 86_400_000)
})

t.test(
  'CR-90 200 reservations of 1 at once against 50: exactly 50 succeed, 150 hear 402, nothing is left',
  async t => {
    const credit = await world.credit()
    const { id } = await world.company()
    await world.grant(id, credit.id, 50)
    const body = { company_id: id, credit_type_id: credit.id, amount: 1 }
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => client.post('/billing/credits/reservations', body)),
    )
    const statuses = answers.map(answer => answer.status)
    t.equal(statuses.filter(status => status === 201).length, 50)
    t.equal(statuses.filter(status => status === 402).length, 150)
    t.same(answers.find(({ status }) => status === 402)!.body, { error: 'insufficient credits' }, 'CR-97')
    const ids = answers.filter(({ status }) => status === 201).map(({ body: made }) => made.data.id)
    t.equal(new Set(ids).size, 50)
    t.same(await world.balance(id, credit.id), [0, 50, 50])
    await world.agrees(t, id, credit.id, 'CR-88 with 50 open holds')
    const [one] = answers.filter(({ status }) => status === 201)
    isShaped(t, one!.body.data, creditShapes.reservation, 'CreditReservation')
  },
)

t.test('CR-80 reservations: keys, ends, releases', async t => {
  const credit = await world.credit()
  const other = await world.credit()
  const { id } = await world.company()
  await world.grant(id, credit.id, 10)
  await world.grant(id, other.id, 10)
  const body = { company_id: id, credit_type_id: credit.id, amount: 4, idempotency_key: 'r1' }
  const reserve = (more: object) => client.post('/billing/credits/reservations', { ...body, ...more })
  const first = await reserve({})
  const again = await reserve({})
  t.same(again.body.data, first.body.data, 'a key gives back the reservation it made')
  t.equal((await reserve({ amount: 5 })).status, 409)
  t.equal((await reserve({ credit_type_id: other.id })).status, 409)
  const life = Date.parse(first.body.data.expires_at) - Date.parse(first.body.data.created_at)
  t.equal(life, 60_000, 'a minute')
  t.equal((await reserve({ idempotency_key: 'r2', amount: 0 })).status, 400)
  t.equal((await reserve({ idempotency_key: 'r2', expires_at: inMinutes(61) })).status, 400)
  t.equal((await reserve({ idempotency_key: 'r2', expires_at: inMinutes(-1) })).status, 400)
  const release = `/billing/credits/reservations/${first.body.data.id}/release`
  const released = await client.ok('PUT', release)
  t.ok(released.released_at)
  t.same(await client.ok('PUT', release), released, 'releasing again changes nothing')
  t.same(await world.balance(id, credit.id), [10, 0, 10])
  t.equal((await client.put('/billing/credits/reservations/crlse_nothing/release')).status, 404)
  t.equal(
    (await client.put('/billing/credits/reservations/crlse_2222222222222222222222/release')).status,
    404,
  )
  await world.agrees(t, id, credit.id, 'CR-91 hold and release are both written')
})

t.test('CR-73, CR-80 a key is unique in its environment, also over a restart', async t => {
  const dataDir = await temporaryDirectory(t)
  const first = await startHere(t, { TOLLGATE_DATA_DIR: dataDir })
  const here = new CreditWorld(first.client)
  const credit = await here.credit()
  const { plan, flag } = await here.metered(credit.id, 5)
  const [one, two] = [
    await here.company({ base_plan_id: plan.id }),
    await here.company({ base_plan_id: plan.id }),
  ]
  for (const { id } of [one, two]) await here.grant(id, credit.id, 100)
  const reserve = (by: Client, company_id: string, idempotency_key: string, amount = 4) =>
    by.post('/billing/credits/reservations', {
      company_id,
      credit_type_id: credit.id,
      amount,
      idempotency_key,
    })
  const made = await reserve(first.client, one.id, 'mine')
  t.equal(made.status, 201)
  t.match(await reserve(first.client, two.id, 'mine'), { status: 409 }, 'another company’s')
  t.same((await reserve(first.client, one.id, 'mine')).body, made.body)
  t.equal((await reserve(first.client, one.id, 'much', 1_000)).status, 402)
  t.equal((await reserve(first.client, two.id, 'much')).status, 201, 'a key that held nothing is free')

  const lease = async (company_id: string) =>
    first.client.ok('POST', '/billing/credits/lease', {
      company_id,
      credit_type_id: credit.id,
      requested_amount: 10,
    })
  const [mine, other] = [await lease(one.id), await lease(two.id)]
  const extend = (by: Client, leaseId: string, idempotency_key: string) =>
    by.put(`/billing/credits/lease/${leaseId}/extend`, { additional_amount: 5, idempotency_key })
  t.match(await extend(first.client, mine.id, 'mine'), {
    status: 200,
    body: { data: { granted_amount: 15 } },
  })
  t.equal((await extend(first.client, other.id, 'mine')).status, 409, 'CR-73 over all extends')
  t.match(await extend(first.client, mine.id, 'mine'), {
    status: 200,
    body: { data: { granted_amount: 15 } },
  })

  const path = `/flags/${flag.key}/check-and-reserve`
  const check = (company: object, idempotency_key: string, quantity = 1) =>
    first.client.post(path, { company, idempotency_key, quantity })
  t.equal((await check(two.keys, 'mine')).status, 409)
  t.equal((await check(one.keys, 'checked', 1_000)).body.data.reservation, undefined)
  t.match((await check(two.keys, 'checked')).body.data, { value: true, reservation: { company_id: two.id } })

  await first.tollgate.stop()
  const { client: again } = await startHere(t, { TOLLGATE_DATA_DIR: dataDir })
  t.equal((await reserve(again, two.id, 'mine')).status, 409)
  t.same((await reserve(again, one.id, 'mine')).body, made.body)
  t.equal((await extend(again, other.id, 'mine')).status, 409)
  t.match(await extend(again, mine.id, 'mine'), { status: 200, body: { data: { granted_amount: 15 } } })
  t.equal((await reserve(again, one.id, 'new')).status, 201)
})

t.test('CR-70…78 the courses of leases', async t => {
  const credit = await world.credit()
  const { subtype, plan } = await world.metered(credit.id, 1)
  const company = await world.company({ base_plan_id: plan.id })
  await world.grant(company.id, credit.id, 500)
  const acquire = (amount: number) =>
    client.post('/billing/credits/lease', {
      company_id: company.id,
      credit_type_id: credit.id,
      requested_amount: amount,
    })
  const commit = (quantity: number, leaseId: string) =>
    world.track(subtype, company.keys, { quantity, lease_id: leaseId })
  const balance = () => world.balance(company.id, credit.id)

  const acquired = await acquire(400)
  t.equal(acquired.status, 201)
  const lease = acquired.body.data
  isShaped(t, lease, creditShapes.lease, 'CreditLease')
  t.match(lease, { granted_amount: 400, tracked_amount: 0, released_at: null })
  t.equal(Date.parse(lease.expires_at) - Date.parse(lease.created_at), 300_000, 'CR-70 five minutes')
  t.same(await balance(), [100, 400, 500])
  t.same((await acquire(300)).body.data, lease, 'CR-70 the open lease, whatever the amount')
  await commit(260, lease.id)
  await commit(90, lease.id)
  const released = await client.ok('PUT', `/billing/credits/lease/${lease.id}/release`)
  t.match(released, { granted_amount: 400, tracked_amount: 350 })
  t.same(await balance(), [150, 0, 150], '50 came back')
  t.same(await client.ok('PUT', `/billing/credits/lease/${lease.id}/release`), released, 'CR-75')
  const extendReleased = await client.put(`/billing/credits/lease/${lease.id}/extend`, {
    additional_amount: 1,
  })
  t.equal(extendReleased.status, 400, 'CR-73')
  await world.agrees(t, company.id, credit.id, 'CR-88 after the first course')

  // the second course, from 500 again
  await world.grant(company.id, credit.id, 350)
  const { id } = (await acquire(400)).body.data
  await commit(260, id)
  t.same(await balance(), [100, 140, 240])
  const extend = async (amount: number, key?: string) =>
    client.ok('PUT', `/billing/credits/lease/${id}/extend`, {
      additional_amount: amount,
      idempotency_key: key ?? null,
    })
  t.match(await extend(160, 'x1'), { granted_amount: 500 }, 'only 100 were there')
  t.match(await extend(160, 'x1'), { granted_amount: 500 }, 'CR-73 the same key adds nothing')
  t.same(await balance(), [0, 240, 240])
  t.match(await extend(60), { granted_amount: 500 }, 'adding nothing is no error')
  await commit(240, id)
  t.same(await balance(), [0, 0, 0])
  t.match(await client.ok('PUT', `/billing/credits/lease/${id}/release`), { tracked_amount: 500 })
  t.same(await balance(), [0, 0, 0])
  const short = await acquire(1)
  t.equal(short.status, 402, 'CR-97 nothing drawable')
  t.same(short.body, { error: 'insufficient credits' })
  await world.agrees(t, company.id, credit.id, 'CR-88 after the second course')
  const reasons = (await world.ledger(company.id, 'event_type=usage')).map(one => one.usage_reason)
  t.ok(
    reasons.includes('lease_hold') && reasons.includes('lease_release') && reasons.includes('track'),
    'CR-91',
  )
})

t.test('CR-48…50 events draw; missing credits are uncovered; CR-60 a negative quantity returns', async t => {
  const credit = await world.credit()
  const { subtype, plan, feature } = await world.metered(credit.id, 5)
  const company = await world.company({ base_plan_id: plan.id })
  await world.grant(company.id, credit.id, 57)
  const balance = () => world.balance(company.id, credit.id)
  const { event_id: eventId } = await world.track(subtype, company.keys, { quantity: 10 })
  t.same(await balance(), [7, 0, 7])
  await world.track(subtype, company.keys, { quantity: 2 })
  t.same(await balance(), [0, 0, 0], 'CR-50 it stops at zero')
  await world.grant(company.id, credit.id, 100)
  t.same(await balance(), [100, 0, 100], 'CR-50 uncovered use is no debt')
  await world.track(subtype, company.keys, { quantity: -2 })
  t.same(await balance(), [110, 0, 110])
  await world.track(subtype, company.keys, { quantity: 1 })
  const adjustment = (await world.grants(company.id)).find(one => one.grant_reason === 'adjustment')
  t.match(adjustment, { quantity: 10, quantity_remaining: 5, quantity_used: 5 }, 'CR-22 burned first')
  await world.agrees(t, company.id, credit.id, 'CR-88 after draws and refunds')
  const entries = await world.ledger(company.id)
  isShaped(t, entries[0], creditShapes.ledger, 'CreditEventLedger')
  t.match(entries[0], { feature: { id: feature.id }, company: { id: company.id }, credit: { id: credit.id } })
  const drawn = entries.find(one => one.usage_event_id === eventId)
  t.match(drawn, { amount: -50, quantity_consumed: 50, event_type: 'usage', usage_reason: 'track' }, 'CR-87')
  const given = (await world.ledger(company.id, 'event_type=grant')).map(one => one.grant_quantity)
  t.same(given, [0, 100, 57], 'CR-61 the refund grant begins empty')
  t.equal((await world.ledger(company.id, `feature_id=${feature.id}`)).length, 4)
  t.equal((await world.ledger(company.id, `start_time=${inMinutes(1)}`)).length, 0)
  t.equal((await world.ledger(company.id, `end_time=${inMinutes(1)}`)).length, entries.length)
  const seed = await client.ok('GET', `/billing/credits/ledger?company_id=${company.id}`)
  t.same(seed, entries, 'both paths')
  const count = await client.ok('GET', `/v2/billing/credits/ledger/count?company_id=${company.id}`)
  t.same(count, { count: entries.length })
  t.equal((await client.get('/v2/billing/credits/ledger')).status, 400, 'CR-91 a company is needed')
})

t.test('CR-81, CR-82 a reservation is settled by one event; the excess is drawn', async t => {
  const credit = await world.credit()
  const { subtype, plan } = await world.metered(credit.id, 1)
  const company = await world.company({ base_plan_id: plan.id })
  await world.grant(company.id, credit.id, 100)
  const reserve = async () =>
    (
      await client.ok('POST', '/billing/credits/reservations', {
        company_id: company.id,
        credit_type_id: credit.id,
        amount: 40,
      })
    ).id
  const first = await reserve()
  await world.track(subtype, company.keys, { quantity: 25, reservation_id: first })
  t.same(await world.balance(company.id, credit.id), [75, 0, 75], '15 came back')
  const second = await reserve()
  await world.track(subtype, company.keys, { quantity: 55, reservation_id: second })
  t.same(await world.balance(company.id, credit.id), [20, 0, 20], '15 more were drawn')
  await world.track(subtype, company.keys, { quantity: 5, reservation_id: second })
  t.same(await world.balance(company.id, credit.id), [15, 0, 15], 'a second settle draws on the grants')
  const released = await client.ok('PUT', `/billing/credits/reservations/${second}/release`)
  t.match(released, { reserved_amount: 40, settled_amount: 55 })
  await world.agrees(t, company.id, credit.id, 'CR-88 after settlements')
})

t.test('CR-13, PB-70…73 bundles: sold, frozen once bought, refused where they do not fit', async t => {
  const credit = await world.credit()
  const onPlan = await publishedPlan(client, 'Bundle plan')
  const made = await client.post('/billing/credits/bundles', {
    credit_id: credit.id,
    bundle_name: 'Big',
    currency: 'usd',
    price_per_unit: 3,
    quantity: 100,
    compatible_plan_ids: [onPlan.id],
    currency_prices: [{ currency: 'eur', price_per_unit_decimal: '0.5' }],
  })
  t.equal(made.status, 201)
  const bundle = made.body.data
  isShaped(t, bundle, creditShapes.bundle, 'BillingCreditBundle')
  t.match(bundle, {
    id: /^bcbn_/,
    status: 'active',
    has_grants: false,
    price: { price: 300 },
    unit_price: { price: 3 },
    currency_prices: [{ currency: 'usd' }, { currency: 'eur', price: { price: 50, price_decimal: null } }],
  })
  t.equal((await client.ok('GET', `/billing/credits/bundles?credit_id=${credit.id}&status=active`)).length, 1)
  t.same(await client.ok('GET', `/billing/credits/bundles/count?ids=${bundle.id}`), { count: 1 })
  const outside = await world.company()
  const inside = await world.company({ base_plan_id: onPlan.id })
  const buy = (companyId: string, more: object = {}) =>
    client.post('/billing/credits/grants/company', {
      company_id: companyId,
      credit_id: credit.id,
      credit_bundle_id: bundle.id,
      reason: 'purchased',
      quantity: 100,
      ...more,
    })
  t.equal((await buy(outside.id)).status, 400, 'CR-13 of another plan')
  t.equal((await buy(inside.id, { quantity: 150 })).status, 400)
  t.equal((await buy(inside.id, { currency: 'gbp' })).status, 400, 'PB-43')
  const bought = await buy(inside.id, { quantity: 200 })
  t.match(bought.body.data, {
    quantity: 100,
    credit_bundle_id: bundle.id,
    source_label: 'Big',
    currency: 'usd',
  })
  t.match(bought.body.data.price, { currency: 'usd', price: 3 }, 'what a credit of it cost')
  t.match(await client.ok('GET', `/billing/price?ids=${bundle.unit_price.id}`), [
    { price: 3, product_name: 'Big' },
  ])
  t.equal((await world.grants(inside.id)).length, 2, 'CR-13 one grant per bundle')
  const path = `/billing/credits/bundles/${bundle.id}`
  t.equal((await client.ok('GET', path)).has_grants, true)
  t.equal((await client.put(path, { bundle_name: 'B', price_per_unit: 1, quantity: 5 })).status, 400, 'PB-70')
  const renamed = await client.ok('PUT', path, {
    bundle_name: 'B',
    price_per_unit: 1,
    compatible_plan_ids: [],
  })
  t.match(renamed, { name: 'B', quantity: 100, compatible_plan_ids: [], price: { price: 100 } }, 'PB-71')
  t.equal((await buy(outside.id)).status, 201, 'PB-71 empty means every plan')
  await client.ok('PUT', path, { bundle_name: 'B', price_per_unit: 1, status: 'inactive' })
  t.equal((await buy(outside.id)).status, 400, 'PB-70 inactive')
  t.same(await client.ok('DELETE', path), { deleted: true })
  t.match(await client.ok('GET', path), { status: 'inactive' }, 'PB-72 archived')
  const bundleBody = { credit_id: credit.id, bundle_name: 'x', currency: 'usd', price_per_unit: 0 }
  const unsold = await client.ok('POST', '/billing/credits/bundles', bundleBody)
  await client.ok('DELETE', `/billing/credits/bundles/${unsold.id}`)
  t.equal((await client.get(`/billing/credits/bundles/${unsold.id}`)).status, 404)
})

t.test('spend policies cap one draw', async t => {
  const credit = await world.credit()
  const { id } = await world.company()
  await world.grant(id, credit.id, 100)
  const body = { billing_credit_id: credit.id, max_per_draw: 10.5, company_id: id }
  const policy = await client.ok('POST', '/billing/credits/spend-policies', body)
  isShaped(t, policy, creditShapes.policy, 'CreditSpendPolicy')
  t.match(policy, { id: /^cspl_/, scope_type: 'company', max_per_draw: 10.5 })
  t.equal((await client.post('/billing/credits/spend-policies', body)).status, 400, 'a second one')
  const neither = { billing_credit_id: credit.id, max_per_draw: 1 }
  t.equal((await client.post('/billing/credits/spend-policies', neither)).status, 400)
  const both = { ...body, user_id: '' }
  t.equal((await client.post('/billing/credits/spend-policies', both)).status, 400, 'an empty id is one')
  const reserve = (amount: number) =>
    client.post('/billing/credits/reservations', { company_id: id, credit_type_id: credit.id, amount })
  t.equal((await reserve(11)).status, 402)
  t.equal((await reserve(10)).status, 201)
  const path = `/billing/credits/spend-policies/${policy.id}`
  t.match(await client.ok('PUT', path, { max_per_draw: 20, label: 'l' }), { max_per_draw: 20, label: 'l' })
  t.equal((await reserve(11)).status, 201)
  t.same(await client.ok('GET', `/billing/credits/spend-policies/count?company_id=${id}`), { count: 1 })
  t.equal((await client.ok('GET', '/billing/credits/spend-policies?scope_type=user')).length, 0)
  t.same(await client.ok('DELETE', path), { deleted: true })
  t.equal((await client.get(path)).status, 404)
})
