// docs/empty-fields.md, row by row: each field is as the page says, and stays so whatever a caller does.
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { publishDraftOf, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'

const page = readFileSync(new URL('../../../docs/empty-fields.md', import.meta.url), 'utf8')
const rows = page
  .slice(0, page.indexOf('\n# Numbers'))
  .split('\n')
  .filter(line => line.startsWith('| ') && !line.startsWith('| object'))
  .map(line => line.split('|').map(cell => cell.trim()))
  .map(([, object, field, , reason]) => ({
    name: `${object}: ${field}`.replaceAll('`', ''),
    reason: reason!,
  }))

const { client } = await startHere(t)
const openapi = (await client.get('/openapi.json')).body

/** A company on its own published plan, which owes for it, and the body that published it. */
async function custom(slug: string) {
  const { id } = await client.ok('POST', '/companies', { keys: { slug } })
  const customer = {
    external_id: `cus_${slug}`,
    name: slug,
    email: 'c@example.com',
    meta: {},
    company_id: id,
  }
  await client.ok('POST', '/billing/customer/upsert', customer)
  const plan = await client.ok('POST', '/custom-plans', { company_id: id, name: slug })
  const billing = { charge_type: 'recurring', is_trialable: false, monthly_price: 900 }
  await client.ok('PUT', `/plans/${plan.id}/billing_products`, billing)
  const publish = { migration_strategy: 'leave', excluded_company_ids: [], customer_email: 'pay@example.com' }
  await publishDraftOf(client, plan.id, publish)
  const [billed] = await client.ok('GET', `/custom-plan-billings?company_id=${id}`)
  const [profile] = await client.ok('GET', `/billing/profiles?company_id=${id}`)
  return { company: await client.ok('GET', `/companies/${id}`), billed, profile }
}

const { company, billed, profile } = await custom('empty')
const plans = await client.ok('GET', '/plans')

const checks: Readonly<Record<string, (t: Test) => unknown>> = {
  'ApiKey: integration': async t => {
    const keys = await client.ok('GET', '/api-keys?require_environment=false')
    t.ok(keys.length > 0)
    for (const key of keys) t.notOk('integration' in key)
    const { properties } = openapi.components.schemas.ApiKeyIntegration
    t.same(Object.keys(properties).sort(), ['id', 'state', 'type'])
  },
  'Plan: catalogs': t => {
    t.ok(plans.length > 0)
    for (const plan of plans) t.notOk('catalogs' in plan)
    t.ok(JSON.stringify(openapi.components.schemas).includes('"catalogs"'), 'the shape is described')
  },
  'Plan: audience_type': t => {
    for (const plan of plans) t.equal(plan.audience_type, null)
  },
  'Plan: company_logo_url': t => {
    for (const plan of plans) t.equal(plan.company_logo_url, null)
  },
  'CompanyPlan, plans of a company: image_url': t => {
    t.equal(company.plan.image_url, null)
    for (const plan of company.plans) t.equal(plan.image_url, null)
  },
  'Company: logo_url': async t => {
    t.equal(company.logo_url, null)
    const again = { keys: { slug: 'empty' }, logo_url: 'https://example.com/logo.png' }
    t.equal((await client.ok('POST', '/companies', again)).logo_url, null)
  },
  'CustomPlanBilling: problems': t => t.same(billed.problems, []),
  'CustomPlanBilling: checkout_id': t => t.equal(billed.checkout_id, null),
  'CustomPlanBilling: psp_invoice_url, external_invoice_id': t =>
    t.match(billed, { psp_invoice_url: null, external_invoice_id: null }),
  'CompanyBillingProfile: collector, purchase_order': async t => {
    t.match(profile, { collector: null, purchase_order: null })
    const said = { collector: 'external', purchase_order: 'PO 7' }
    const body = { collection_method: 'charge_automatically', ...said }
    t.match(await client.ok('PUT', `/billing/profiles/${profile.id}`, body), said)
  },
  'publish, migrations, moves: proration_behavior: always_invoice': async t => {
    const plan = await publishedPlan(client, 'Prorated')
    const { id } = await client.ok('POST', '/companies', {
      keys: { slug: 'prorated' },
      base_plan_id: plan.id,
    })
    const pending = async (more: object) => {
      await client.ok('PUT', `/plan-bundles/${plan.id}`, { plan: { description: JSON.stringify(more) } })
      await publishDraftOf(client, plan.id, {
        migration_strategy: 'scheduled',
        migration_scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
        excluded_company_ids: [],
        ...more,
      })
      return (await client.ok('GET', `/companies/${id}`)).pending_migration
    }
    t.match(await pending({ proration_behavior: 'create_prorations' }), {
      proration_behavior: 'create_prorations',
    })
    t.match(await pending({ proration_behavior: 'always_invoice' }), {
      proration_behavior: 'always_invoice',
    })
  },
  'BillingCreditSpendPolicy: hourly and daily limits, and a read of what is used of them': async t => {
    const credit = { name: 'c', description: '', currency: 'usd' }
    const { id } = await client.ok('POST', '/billing/credits', credit)
    const made = await client.ok('POST', '/billing/credits/spend-policies', {
      billing_credit_id: id,
      company_id: company.id,
      max_per_draw: 10,
    })
    t.same(
      Object.keys(made).filter(name => /max|limit|hour|da(?:y|ily)|used/.test(name)),
      ['max_per_draw'],
    )
  },
}

t.test(
  'every row of docs/empty-fields.md has a check here and a reason, and every check has a row',
  async t => {
    t.same(rows.map(({ name }) => name).sort(), Object.keys(checks).sort())
    t.same(
      rows.filter(({ reason }) => reason.length < 10),
      [],
    )
  },
)

for (const { name } of rows) t.test(name, async t => checks[name]?.(t))
