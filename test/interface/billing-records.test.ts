// Invoices, coupons, payment methods, meters, profiles and details over HTTP: stored and shown as they were told.
import t from 'tap'
import { isShaped } from '../control/shape.js'
import { startHere } from '../harness.js'
import { billingShapes } from './billing-shapes.js'
import { linkedPlan, subscriptionBody } from './billing-world.js'

t.test('billing records', async t => {
  const { client, tollgate } = await startHere(t)
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const pro = await linkedPlan(client, 'Pro')
  const company = await client.ok('POST', '/companies', { keys: { slug: 'acme' }, name: 'Acme' })
  const customer = {
    external_id: 'cus_1',
    name: 'Acme',
    email: 'billing@acme.example',
    meta: {},
    company_id: company.id,
  }
  await client.ok('POST', '/billing/customer/upsert', customer)
  const subscription = subscriptionBody('sub_1', 'cus_1', [pro], {
    default_payment_method_external_id: 'pm_1',
    discounts: [
      {
        coupon_external_id: 'half',
        external_id: 'di_1',
        is_active: true,
        started_at: '2030-01-01T00:00:00Z',
      },
    ],
  })
  await client.ok('POST', '/billing/subscription/upsert', subscription)
  const show = () => client.ok('GET', `/companies/${company.id}`)

  await t.test('invoices', async t => {
    const body = {
      external_id: 'in_1',
      customer_external_id: 'cus_1',
      subscription_external_id: 'sub_1',
      amount_due: 1000,
      amount_paid: 0,
      amount_remaining: 1000,
      subtotal: 1000,
      collection_method: 'charge_automatically',
      currency: 'usd',
      due_date: '2030-02-01T00:00:00Z',
      status: 'open',
    }
    const posted = await client.post('/billing/invoices', body)
    t.equal(posted.status, 201)
    isShaped(t, posted.body.data, billingShapes.invoice, 'Invoice')
    t.match(posted.body.data, { company_id: company.id, total: 1000, currency: 'usd', starting_balance: 0 })
    const paid = await client.ok('POST', '/billing/invoices', { ...body, status: 'paid', amount_paid: 1000 })
    t.match(paid, { id: posted.body.data.id, status: 'paid' })
    const list = '/billing/invoices?customer_external_id=cus_1&subscription_external_id=sub_1'
    t.same(await client.ok('GET', list), [paid])
    t.same(await client.ok('GET', `${list}&company_id=comp_none`), [])
    t.equal((await client.get('/billing/invoices?customer_external_id=cus_1')).status, 400)
    t.match((await show()).billing_subscription.latest_invoice, { id: paid.id })
    t.equal((await client.post('/billing/invoices', { ...body, status: 'lost' })).status, 400)
    t.equal((await client.post('/billing/invoices', { ...body, due_date: 'soon' })).status, 400)
    const one = await client.ok('POST', '/billing/invoices', { ...body, external_id: null })
    const two = await client.ok('POST', '/billing/invoices', { ...body, external_id: null })
    t.not(one.id, two.id, 'without external id each is a new one')
    t.equal((await client.del(`/billing/invoices/${two.id}`)).status, 200)
    t.equal((await client.del(`/billing/invoices/${two.id}`)).status, 404)
    t.same((await client.ok('GET', `${list}&limit=1&offset=1`)).length, 1)
  })

  await t.test('coupons', async t => {
    const body = {
      external_id: 'half',
      name: 'Half price',
      amount_off: 0,
      percent_off: 50,
      duration: 'forever',
      duration_in_months: 0,
      max_redemptions: 2,
      times_redeemed: 1,
    }
    const posted = await client.post('/billing/coupons', body)
    t.equal(posted.status, 201)
    isShaped(t, posted.body.data, billingShapes.coupon, 'BillingCoupon')
    t.match(posted.body.data, { percent_off: 50, amount_off: null, is_active: true })
    t.match((await show()).billing_subscription.discounts, [
      { coupon_id: posted.body.data.id, coupon_name: 'Half price', duration: 'forever', percent_off: 50 },
    ])
    await client.ok('POST', '/billing/coupons', { ...body, times_redeemed: 2 })
    t.same(await client.ok('GET', '/billing/coupons?is_active=true'), [], 'used up')
    t.match(await client.ok('GET', '/billing/coupons?q=HALF'), [
      { id: posted.body.data.id, times_redeemed: 2 },
    ])
    t.equal((await client.post('/billing/coupons', { ...body, percent_off: 101 })).status, 400)
    t.equal((await client.del('/billing/coupons/half')).status, 200)
    t.equal((await client.del('/billing/coupons/half')).status, 404)
  })

  await t.test('payment methods, and which one is the default', async t => {
    const body = {
      external_id: 'pm_1',
      customer_external_id: 'cus_1',
      payment_method_type: 'card',
      card_brand: 'visa',
      card_last4: '4242',
      card_exp_month: 12,
      card_exp_year: 2031,
    }
    const posted = await client.post('/billing/payment-methods', body)
    t.equal(posted.status, 201)
    isShaped(t, posted.body.data, billingShapes.paymentMethod, 'PaymentMethod')
    t.match(posted.body.data, { company_id: company.id, card_last4: '4242' })
    t.same(await client.ok('GET', '/billing/payment-methods?customer_external_id=cus_1'), [posted.body.data])
    t.equal((await client.get('/billing/payment-methods')).status, 400)
    t.equal((await client.post('/billing/payment-methods', { ...body, card_last4: '42424' })).status, 400)
    t.notOk('default_payment_method' in (await show()))
    await client.ok('POST', '/billing/customer/upsert', { ...customer, default_payment_method_id: 'pm_1' })
    const shown = await show()
    t.match(shown, {
      payment_methods: [{ external_id: 'pm_1' }],
      default_payment_method: { external_id: 'pm_1' },
    })
    t.match(shown.billing_subscription.payment_method, { external_id: 'pm_1' })
    const other = await client.ok('POST', '/billing/payment-methods', { ...body, external_id: 'pm_2' })
    t.equal((await client.del(`/billing/payment-methods/${other.id}`)).status, 200)
    t.equal((await client.del('/billing/payment-methods/pm_2')).status, 404)
  })

  await t.test('meters', async t => {
    const body = {
      external_id: 'mtr_1',
      display_name: 'Calls',
      event_name: 'call',
      event_payload_key: 'value',
    }
    const posted = await client.post('/billing/meter/upsert', body)
    t.equal(posted.status, 201)
    isShaped(t, posted.body.data, billingShapes.meter, 'BillingMeter')
    t.match(await client.ok('GET', '/billing/meter?display_name=call'), [{ dispaly_name: 'Calls' }])
    t.same(await client.ok('GET', '/billing/meter?display_name=other'), [])
    await client.ok('POST', '/billing/price/upsert', {
      price_external_id: 'price_metered',
      product_external_id: pro.product,
      external_account_id: 'acct',
      currency: 'usd',
      interval: 'month',
      price: 1,
      billing_scheme: 'per_unit',
      price_tiers: [],
      usage_type: 'metered',
      is_active: true,
      meter_id: 'mtr_1',
    })
    t.match(await client.ok('GET', '/billing/meter'), [{ external_price_id: 'price_metered' }])
    t.match(await client.ok('GET', '/billing/price?with_meter=true'), [
      { meter_event_name: 'call', meter_event_payload_key: 'value' },
    ])
    t.equal((await client.post('/billing/meter/upsert', { external_id: 'x' })).status, 400)
  })

  await t.test('profiles: one default, changed member by member', async t => {
    const [profile] = await client.ok('GET', `/billing/profiles?company_id=${company.id}&is_default=true`)
    isShaped(t, profile, billingShapes.profile, 'CompanyBillingProfile')
    t.match(await show(), { billing_profile: { id: profile.id }, billing_email: customer.email })
    const path = `/billing/profiles/${profile.id}`
    const changed = await client.ok('PUT', path, { collection_method: 'send_invoice', days_until_due: 14 })
    t.match(changed, { collection_method: 'send_invoice', days_until_due: 14, is_default: true })
    const kept = await client.ok('PUT', path, { collection_method: 'send_invoice', name: 'Main' })
    t.match(kept, { days_until_due: 14, name: 'Main' })
    const put = async (body: object, to = path) => (await client.put(to, body)).status
    t.equal(await put({ collection_method: 'barter' }), 400)
    t.equal(await put({ collection_method: 'send_invoice', is_default: false }), 400)
    t.equal(await put({ collection_method: 'send_invoice', payment_method_id: 'bpaymth_none' }), 404)
    t.equal(await put({ collection_method: 'send_invoice' }, '/billing/profiles/bprf_none'), 404)
    t.same(await client.ok('GET', '/billing/profiles?provider_type=ext_a'), [])
  })

  await t.test('billing details of a company', async t => {
    const path = `/companies/${company.id}/billing-details`
    const before = await client.ok('GET', path)
    isShaped(t, before, billingShapes.details, 'CompanyBillingDetails')
    t.same(before.tax_ids, [])
    const address = {
      city: 'Oslo',
      country: 'NO',
      line1: 'Gate 1',
      line2: '',
      postal_code: '0150',
      state: '',
    }
    const after = await client.ok('PUT', path, {
      values: [],
      address,
      email: 'money@acme.example',
      tax_id: { type: 'no_vat', value: '123' },
    })
    t.match(after, {
      address,
      email: 'money@acme.example',
      phone: null,
      tax_ids: [{ type: 'no_vat', country: 'NO' }],
    })
    const again = await client.ok('PUT', path, { values: [], tax_id: { type: 'no_vat', value: '456' } })
    t.match(again, { address, tax_ids: [{ value: '456' }] }, 'absent members stay, a tax id is replaced')
    t.equal(again.tax_ids.length, 1)
    t.notOk('address' in (await client.ok('PUT', path, { values: [], address: null })))
    t.equal((await show()).billing_email, 'money@acme.example')
    const put = async (body: object, to = path) => (await client.put(to, body)).status
    t.equal(await put({ values: [{ id: 'x', value: 'y' }] }), 400, 'a field nobody asks for')
    t.equal(await put({ values: [], tax_id: { type: 'xx_vat', value: '1' } }), 400)
    t.equal(await put({ values: 'none' }), 400)
    t.equal(await put({ values: [] }, '/companies/comp_none/billing-details'), 404)
    t.equal((await client.get('/companies/comp_none/billing-details')).status, 404)
  })

  await t.test('the company that pays, and what it pays for', async t => {
    const [entity] = await client.ok('GET', `/company-billing-entity?company_id=${company.id}`)
    t.match(entity, { billing_entity: { id: company.id, name: 'Acme' }, has_own_psp_customer: true })
    const [paid] = await client.ok('GET', `/company-billing-entity-subscriptions?company_id=${company.id}`)
    isShaped(t, paid, billingShapes.companyBillingEntitySubscription, 'CompanyBillingEntitySubscription')
    t.match(paid, { plan_name: 'Pro', company: { id: company.id }, subscription_external_id: 'sub_1' })
    t.equal((await client.get('/company-billing-entity')).status, 400)
    t.equal((await client.get('/company-billing-entity?company_id=comp_none')).status, 404)
    t.equal((await client.get('/company-billing-entity-subscriptions?company_id=comp_none')).status, 404)
  })

  await t.test('AL-11 records belong to one environment', async t => {
    const other = await client.ok('POST', '/environments', { name: 'Other', environment_type: 'development' })
    const key = await client.ok('POST', '/api-keys', { name: 'other', environment_id: other.id })
    const there = client.as(key.secret)
    t.same(await there.ok('GET', '/billing/customers'), [])
    t.same(await there.ok('GET', '/billing/products'), [])
    t.equal((await there.get(`/companies/${company.id}/billing-details`)).status, 404)
    t.not(other.id, environmentId)
  })

  await t.test('CU-50 the subscription of a deleted company has no effect', async t => {
    await client.ok('DELETE', `/companies/${company.id}`)
    t.same(await client.ok('GET', '/company-subscriptions'), [])
    t.equal((await client.post('/billing/subscription/upsert', subscription)).status, 201)
    t.equal(tollgate.services.directory.has(environmentId, company.id), false)
  })
})
