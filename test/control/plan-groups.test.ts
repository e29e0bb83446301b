// The plan group over HTTP: where companies begin and fall back to, what fits those parts, settings kept and shown.
import t from 'tap'
import { startHere } from '../harness.js'
import { publishDraftOf, publishedPlan } from './planned.js'
import { isShaped, shapes } from './shape.js'

const settings = {
  checkout_collect_address: true,
  checkout_collect_email: false,
  checkout_collect_phone: true,
  checkout_collect_tax_id: false,
  enable_tax_collection: true,
  opt_in_enabled: true,
  prevent_downgrades_when_over_limit: true,
  prevent_self_service_downgrade: false,
  show_as_monthly_prices: true,
  show_credits: false,
  show_feature_description: true,
  show_hard_limit: false,
  show_period_toggle: true,
  show_zero_price_as_free: false,
  sync_customer_billing_details: true,
  proration_behavior: 'create_prorations',
  add_on_ids: [],
  ordered_add_ons: [],
  ordered_bundle_list: [],
  ordered_plans: [],
}

t.test('plan groups', async t => {
  const { client } = await startHere(t)
  const plan = (name: string, more: object = {}) => publishedPlan(client, name, [], more)
  async function priced(name: string, costs: object) {
    const made = await client.ok('POST', '/plans', { name, plan_type: 'plan' })
    await client.ok('PUT', `/plans/${made.id}/billing_products`, { is_trialable: false, ...costs })
    return publishDraftOf(client, made.id)
  }
  const free = await plan('Free')
  const begin = await plan('Begin')
  const addOn = await plan('Extra', { plan_type: 'add_on' })
  const paid = await priced('Paid', { charge_type: 'recurring', monthly_price: 900 })
  const trial = await priced('Trial', {
    charge_type: 'recurring',
    monthly_price: 5,
    is_trialable: true,
    trial_days: 7,
  })
  const company = async (slug: string) => client.ok('POST', '/companies', { keys: { slug } })

  await t.test('there is none at first, and one at most', async t => {
    t.equal((await client.get('/plan-groups')).status, 404)
    t.equal((await client.put('/plan-groups/plgr_none', settings)).status, 404)
    t.equal((await client.post('/plan-groups', { add_on_ids: 'none' })).status, 400)
    const made = await client.post('/plan-groups', settings)
    t.equal(made.status, 201)
    isShaped(t, made.body.data, shapes.planGroup, 'PlanGroup')
    t.equal((await client.post('/plan-groups', settings)).status, 400)
  })
  const { id } = await client.ok('GET', '/plan-groups')
  const put = (body: object) => client.put(`/plan-groups/${id}`, { ...settings, ...body })

  await t.test('settings are kept and shown; absent stays, null clears', async t => {
    const more = {
      opt_in_text: 'I agree',
      trial_days: 30,
      trial_payment_method_required: false,
      scheduled_downgrade_behavior: 'end_of_billing_period',
      custom_plan_config: { cta_text: 'Talk', cta_web_site: 'https://x.example', price_text: 'Ask' },
      custom_checkout_fields: [{ name: 'Cost centre', psp_metadata_key: 'cc', required: true }],
      add_on_compatibilities: [{ source_plan_id: addOn.id, compatible_plan_ids: [paid.id] }],
      ordered_plans: [
        { plan_id: paid.id, entitlements: [{ entitlement_id: 'pltl_x', visible: false }] },
        { plan_id: free.id },
      ],
      ordered_add_ons: [{ plan_id: addOn.id }],
      ordered_bundle_list: [{ bundleId: 'bcbn_x' }],
    }
    const written = (await put(more)).body.data
    isShaped(t, written, shapes.planGroup, 'PlanGroup')
    t.match(written, {
      add_on_ids: [addOn.id],
      plan_ids: [{ plan_id: paid.id }, { plan_id: free.id }],
      add_on_compatibilities: more.add_on_compatibilities,
      checkout_settings: {
        collect_address: true,
        collect_email: false,
        opt_in_enabled: true,
        opt_in_text: 'I agree',
        bundle_purchase_behavior: 'quantity',
      },
      component_settings: { show_credits: false, show_feature_description: true },
      tax_collection_enabled: true,
      trial_days: 30,
    })
    const shown = await client.ok('GET', '/plan-groups?include_company_counts=true')
    isShaped(t, shown, shapes.planGroupDetail, 'PlanGroupDetail')
    isShaped(t, shown.plans[0], shapes.planGroupPlanDetail, 'PlanGroupPlanDetail')
    t.match(shown, {
      plans: [
        { id: paid.id, available_periods: ['monthly'], is_custom: false },
        { id: free.id, available_periods: [] },
      ],
      add_ons: [{ id: addOn.id, compatible_plan_ids: [paid.id] }],
      ordered_plan_list: [
        { plan_id: paid.id, entitlements: [{ plan_entitlement_id: 'pltl_x', visible: false }] },
        { plan_id: free.id, entitlements: null },
      ],
      ordered_bundle_list: [{ bundleId: 'bcbn_x' }],
      custom_plan_config: more.custom_plan_config,
      custom_checkout_fields: [
        {
          name: 'Cost centre',
          position: 0,
          required: true,
          trait_hierarchy: ['cost_centre'],
          helper_text: null,
        },
      ],
    })
    const [field] = shown.custom_checkout_fields
    const uses = await client.ok('GET', `/entity-trait-definitions/${field.definition_id}/usage`)
    t.equal(uses.checkout_field_config_count, 1)
    isShaped(
      t,
      field,
      {
        required:
          'created_at updated_at definition_id id name psp_metadata_key position required trait_hierarchy',
        nullable: 'helper_text',
      },
      'CheckoutField',
    )
    t.equal(
      (await client.ok('GET', `/entity-trait-definitions/${field.definition_id}`)).display_name,
      'Cost centre',
    )
    await put({ opt_in_text: null })
    const kept = await client.ok('GET', '/plan-groups')
    t.match(kept, {
      trial_days: 30,
      custom_checkout_fields: [{ id: field.id }],
      checkout_settings: { opt_in_text: null },
    })
    t.same(kept.plans, [], 'what is required is replaced')
  })

  await t.test('EN-80, EN-82, EN-84 companies begin on the initial plan, else the fallback plan', async t => {
    t.notOk('plan' in (await company('none')))
    await put({ fallback_plan_id: free.id })
    t.match(await company('fell'), { plan: { id: free.id } })
    t.match(
      await client.ok('GET', '/companies/lookup?slug=none'),
      { plan: { id: free.id } },
      'any company without one',
    )
    const counted = async (id: string) => (await client.ok('GET', `/plans/${id}`)).company_count
    t.equal(await counted(free.id), 2, 'PB-12 with those that have no other')
    await put({ initial_plan_id: begin.id })
    const begun = await company('begun')
    t.match(begun, { plan: { id: begin.id } })
    const [change] = await client.ok('GET', `/plan-changes?company_id=${begun.id}`)
    t.match(change, {
      action: 'company_upsert',
      base_plan_action: 'initial',
      actor_type: 'system',
      base_plan: { id: begin.id },
    })
    const cleared = await client.ok('PUT', `/company-plans/${begun.id}`, {
      base_plan_id: null,
    })
    t.match(cleared, { plan: { id: free.id } }, 'PB-30')
    t.same([await counted(free.id), await counted(begin.id)], [3, 0])
    t.match(
      await client.ok('GET', '/plan-groups'),
      {
        initial_plan: { id: begin.id, is_default: true },
        fallback_plan: { id: free.id, is_default: true },
        default_plan_id: free.id,
      },
      'PB-11 is_default follows from the roles',
    )
  })

  await t.test('EN-82, EN-83 what fits the parts', async t => {
    const status = async (body: object) => (await put(body)).status
    t.equal(await status({ fallback_plan_id: paid.id }), 400)
    t.equal(await status({ initial_plan_id: paid.id }), 400)
    t.equal(await status({ initial_plan_id: trial.id }), 200, 'a trial that ends by itself')
    t.equal(await status({ initial_plan_id: trial.id, trial_payment_method_required: true }), 400)
    t.equal(await status({ initial_plan_id: trial.id, initial_plan_price_id: 'bilpp_none' }), 404)
    t.equal(await status({ initial_plan_id: trial.id, initial_plan_price_id: trial.monthly_price.id }), 200)
    const shown = await client.ok('GET', '/plan-groups')
    isShaped(t, shown.initial_plan_price, shapes.billingPriceView, 'BillingPriceView')
    t.equal(
      await status({ initial_plan_id: null, initial_plan_price_id: null, trial_expiry_plan_id: trial.id }),
      400,
      'can be tried',
    )
    t.equal(await status({ trial_expiry_plan_id: free.id }), 200)
    t.equal(await status({ fallback_plan_id: addOn.id }), 400)
    t.equal(await status({ fallback_plan_id: 'plan_none' }), 404)
    t.equal(await status({ ordered_plans: [{ plan_id: addOn.id }] }), 400)
    t.equal(await status({ ordered_add_ons: [{ plan_id: free.id }] }), 400)
    const acme = await company('acme')
    const custom = await client.ok('POST', '/custom-plans', { company_id: acme.id, name: 'Custom' })
    t.equal(await status({ initial_plan_id: custom.id }), 400, 'PB-13')
  })

  await t.test('PB-12, EN-82 a plan keeps fit for its part as long as it has it', async t => {
    await put({ fallback_plan_id: free.id })
    t.equal((await client.del(`/plans/${free.id}`)).status, 400)
    await client.ok('PUT', `/plans/${free.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      monthly_price: 1,
    })
    const { draft_version: draft } = await client.ok('GET', `/plans/${free.id}`)
    const publish = { migration_strategy: 'leave', excluded_company_ids: [] }
    t.equal((await client.put(`/plans/version/${draft.id}/publish`, publish)).status, 400)
  })

  await t.test('EN-91 a trial ends on the trial-expiry plan', async t => {
    const { environment_id: environmentId } = await client.ok('GET', '/whoami')
    const lapsed = await plan('Lapsed')
    await put({ initial_plan_id: trial.id, trial_expiry_plan_id: lapsed.id })
    const tried = await company('tried')
    t.match(tried, { plan: { id: trial.id } })
    const later = new Date(Date.now() + 8 * 86_400_000).toISOString()
    await client.ok('PUT', `/environments/${environmentId}/clock`, { now: later })
    t.match(await client.ok('GET', `/companies/${tried.id}`), { plan: { id: lapsed.id } })
    const [ended] = await client.ok(
      'GET',
      `/plan-changes?company_id=${tried.id}&base_plan_action=trial_expiry`,
    )
    t.match(ended, { trial_status: 'expired', previous_base_plan: { id: trial.id } })
    await client.ok('DELETE', `/environments/${environmentId}/clock`)
  })
})
