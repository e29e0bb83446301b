// Upserts of a provider's products, prices, subscriptions and invoices: what they need, and what they leave as it is.
import t from 'tap'
import { startHere } from '../harness.js'

const { client } = await startHere(t)

t.test(
  'decision 26: an upsert of a new record needs its members, one of a known record keeps what it leaves out',
  async t => {
    const company = await client.ok('POST', '/companies', { keys: { slug: 'kept' } })
    const customer = { external_id: 'cus_kept', name: 'Kept', email: 'k@x', meta: {}, company_id: company.id }
    await client.ok('POST', '/billing/customer/upsert', customer)
    const product = { external_id: 'prod_kept', price: 12, name: 'Kept' }
    const price = {
      price_external_id: 'price_kept',
      product_external_id: 'prod_kept',
      external_account_id: 'acct',
      currency: 'usd',
      interval: 'month',
      price: 12,
      billing_scheme: 'tiered',
      price_tiers: [{ price_external_id: 'price_kept', per_unit_price: 4 }],
      usage_type: 'licensed',
      is_active: true,
    }
    const subscription = {
      subscription_external_id: 'sub_kept',
      customer_external_id: 'cus_kept',
      product_external_ids: [
        {
          product_external_id: 'prod_kept',
          price_external_id: 'price_kept',
          currency: 'usd',
          interval: 'month',
          price: 12,
          quantity: 3,
          usage_type: 'licensed',
        },
      ],
      discounts: [],
      currency: 'usd',
      total_price: 36,
      cancel_at_period_end: false,
      expired_at: null,
    }
    const invoice = {
      external_id: 'in_kept',
      customer_external_id: 'cus_kept',
      subscription_external_id: 'sub_kept',
      amount_due: 5,
      amount_paid: 1,
      amount_remaining: 4,
      subtotal: 5,
      collection_method: 'send_invoice',
      currency: 'usd',
    }
    const records: readonly (readonly [
      path: string,
      body: Record<string, unknown>,
      names: readonly string[],
      needed: readonly string[],
    ])[] = [
      ['/billing/product/upsert', product, ['external_id'], ['price']],
      [
        '/billing/price/upsert',
        price,
        ['price_external_id'],
        [
          'product_external_id',
          'external_account_id',
          'currency',
          'interval',
          'price',
          'billing_scheme',
          'price_tiers',
          'usage_type',
          'is_active',
        ],
      ],
      [
        '/billing/subscription/upsert',
        subscription,
        ['subscription_external_id'],
        [
          'customer_external_id',
          'product_external_ids',
          'discounts',
          'currency',
          'total_price',
          'cancel_at_period_end',
          'expired_at',
        ],
      ],
      [
        '/billing/invoices',
        invoice,
        ['external_id'],
        [
          'customer_external_id',
          'amount_due',
          'amount_paid',
          'amount_remaining',
          'subtotal',
          'collection_method',
          'currency',
        ],
      ],
    ]
    for (const [path, body, names, needed] of records) {
      for (const member of needed) {
        const { [member]: _, ...rest } = body
        const refused = await client.send('POST', path, rest)
        t.match(
          refused,
          { status: 400, body: { error: `${member}: needed by a new one` } },
          `${path} ${member}`,
        )
      }
      const made = await client.ok('POST', path, body)
      const named = Object.fromEntries(names.map(name => [name, body[name]]))
      const { updated_at: _, ...again } = await client.ok('POST', path, named)
      const { updated_at: __, ...before } = made
      t.same(again, before, `${path}: the names alone`)
    }
    const detail = await client.ok('GET', '/billing/price?limit=250')
    const kept = detail.find((one: { price_external_id: string }) => one.price_external_id === 'price_kept')
    t.match(kept, { price_tier: [{ up_to: null, per_unit_price: 4 }], product_external_id: 'prod_kept' })
    const sold = { subscription_external_id: 'sub_kept', total_price: 40 }
    t.match(await client.ok('POST', '/billing/subscription/upsert', sold), {
      total_price: 40,
      company_id: company.id,
    })
    t.match(await client.ok('GET', `/companies/${company.id}`), {
      billing_subscription: { total_price: 40, products: [{ external_id: 'prod_kept', quantity: 3 }] },
    })
    const { id, ...anew } = await client.ok('POST', '/billing/invoices', { ...invoice, external_id: null })
    t.match(anew, { external_id: null, amount_due: 5 })
    t.not(id, null, 'without an external id it is a new one')
  },
)
