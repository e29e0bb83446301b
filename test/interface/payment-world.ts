// The world of tests of what companies pay for: plans at monthly and yearly prices, under a frozen clock.
import type { Test } from 'tap'
import { publishDraftOf, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { offerPlans } from './billing-world.js'

/** A frozen clock, a free fallback plan, and calls for plans that the service bills. */
export async function paymentWorld(t: Test, settings: object = {}) {
  const { client, tollgate } = await startHere(t)
  const { environment_id: environment } = await client.ok('GET', '/whoami')
  const clock = (now: string) => client.ok('PUT', `/environments/${environment}/clock`, { now, frozen: true })
  await clock('2031-01-10T00:00:00.000Z')
  const free = await publishedPlan(client, 'Free', [])
  await offerPlans(client, tollgate, { fallback: free.id }, settings)
  const priced = async (name: string, monthly_price: number, yearly_price: number | null, type = 'plan') => {
    const plan = await client.ok('POST', '/plans', { name, plan_type: type })
    await bill(plan.id, monthly_price, yearly_price)
    return publishDraftOf(client, plan.id)
  }
  const bill = (
    planId: string,
    monthly_price: number | null,
    yearly_price: number | null,
    more: object = {},
  ) =>
    client.ok('PUT', `/plans/${planId}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      monthly_price,
      yearly_price,
      ...more,
    })
  /** The next version, at these prices; each company goes over to it at the end of its period, or as `strategy` says. */
  const publish = async (
    planId: string,
    monthly: number | null,
    yearly: number | null,
    strategy = 'end_of_billing_period',
  ) => {
    await bill(planId, monthly, yearly)
    const { draft_version: draft } = await client.ok('GET', `/plans/${planId}`)
    await client.ok('PUT', `/plans/version/${draft.id}/publish`, {
      excluded_company_ids: [],
      migration_strategy: strategy,
    })
    return draft.id as string
  }
  const body = (id: string, planId: string, priceId: string, more: object = {}) => ({
    credit_bundles: [],
    custom_field_values: [],
    pay_in_advance_entitlements: [],
    add_on_selections: [],
    company_id: id,
    base_plan_id: planId,
    base_plan_price_id: priceId,
    ...more,
  })
  const manage = (id: string, planId: string, priceId: string, more: object = {}) =>
    client.ok('POST', '/manage-plan', body(id, planId, priceId, more))
  let made = 0
  const company = async () =>
    (await client.ok('POST', '/companies', { keys: { slug: `p${++made}` } })).id as string
  const show = (id: string) => client.ok('GET', `/companies/${id}`)
  const due = async (id: string) => (await show(id)).pending_migration?.effective_at
  return { client, tollgate, clock, free, priced, bill, publish, body, manage, company, show, due }
}
