// Publishing over HTTP, and what becomes of the companies on older versions: moved, left, or waiting for their date.
import t from 'tap'
import type { SubscriptionState } from '../../src/core/model/company-state.js'
import type { Tollgate } from '../../src/start.js'
import { type Client, startHere } from '../harness.js'
import { booleanFeature, publishDraftOf, publishedPlan } from './planned.js'
import { isShaped, shapes } from './shape.js'

/** Give a company a billing subscription, as billing will. */
async function subscribe(
  { services }: Tollgate,
  environmentId: string,
  companyId: string,
  some: Partial<SubscriptionState>,
): Promise<void> {
  const nowMs = services.clock.now(environmentId)
  const subscription: SubscriptionState = {
    id: `bilsub_${companyId}`,
    externalId: `sub ${companyId}`,
    status: 'active',
    periodStartMs: nowMs - 86_400_000,
    periodEndMs: nowMs + 10 * 86_400_000,
    intervalMonths: 1,
    cancelAtPeriodEnd: false,
    cancelAtMs: null,
    trialEndMs: null,
    trialEndSetting: null,
    productIds: [],
    ...some,
  }
  const cause = { action: 'subscription_change', actorType: 'system', apiKeyId: null } as const
  const message = { type: 'put_subscription', subscription, cause } as const
  await services.shards.ask('c', environmentId, companyId, message, nowMs)
}

const company = (client: Client, slug: string, more: object = {}) =>
  client.ok('POST', '/companies', { keys: { slug }, ...more })

t.test('publishing and migrations', async t => {
  const { client, tollgate } = await startHere(t)
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const dark = await booleanFeature(client, 'Dark mode')
  let made = 0

  /** A published plan with companies on it, and a draft of it that grants the feature. */
  async function scene(slugs: readonly string[], planType = 'plan') {
    const plan = await publishedPlan(client, `Scene ${++made}`, [], { plan_type: planType })
    const companies = []
    for (const slug of slugs) {
      const one = await company(client, slug)
      const plans =
        planType === 'plan' ? { base_plan_id: plan.id, add_on_ids: [] } : { add_on_ids: [plan.id] }
      await client.ok('PUT', `/company-plans/${one.id}`, plans)
      companies.push(one)
    }
    await client.ok('POST', '/plan-entitlements', {
      plan_id: plan.id,
      feature_id: dark.id,
      value_type: 'boolean',
      value_bool: true,
    })
    const { draft_version: draft } = await client.ok('GET', `/plans/${plan.id}`)
    return { plan, companies, draft }
  }
  const publish = (versionId: string, more: object) =>
    client.put(`/plans/version/${versionId}/publish`, { excluded_company_ids: [], ...more })
  const granted = async (slug: string) =>
    (await client.ok('POST', '/flags/dark-mode/check', { company: { slug } })).value
  const migrationOf = async (versionId: string) =>
    (await client.ok('GET', `/plan-version-migrations?plan_version_id=${versionId}`))[0]

  await t.test('PB-6, EN-85 leave: companies stay on their version; PB-8 and can be found', async t => {
    const { plan, draft } = await scene(['left'])
    t.equal((await publish(draft.id, { migration_strategy: 'leave' })).status, 200)
    t.equal(await granted('left'), false)
    t.same(await client.ok('GET', `/plan-version-migrations?plan_version_id=${draft.id}`), [])
    const found = await client.ok('GET', `/companies?plan_version_unpublished=true&plan_id=${plan.id}`)
    t.equal(found.length, 1)
  })

  await t.test('PB-6, PB-20, PB-24 immediate: all but the excluded are moved before the answer', async t => {
    const { plan, companies, draft } = await scene(['m1', 'm2', 'm3'])
    const body = { migration_strategy: 'immediate', excluded_company_ids: [companies[2].id] }
    t.equal((await publish(draft.id, body)).status, 200)
    t.same([await granted('m1'), await granted('m2'), await granted('m3')], [true, true, false])
    const migration = await migrationOf(draft.id)
    isShaped(t, migration, shapes.migration, 'PlanVersionMigration')
    t.match(migration, {
      id: /^pvmg_/,
      plan_id: plan.id,
      plan_version_id_to: draft.id,
      plan_version_id_from: plan.active_version.id,
      strategy: 'immediate',
      proration_behavior: 'create_prorations',
      status: 'completed',
      total_companies: 2,
      completed_companies: 2,
      failed_companies: 0,
      next_due_at: null,
    })
    const listed = await client.ok('GET', `/plan-version-company-migrations?migration_id=${migration.id}`)
    t.equal(listed.length, 2)
    isShaped(t, listed[0], shapes.companyMigration, 'PlanVersionCompanyMigration')
    t.match(listed[0], {
      status: 'completed',
      plan_version_id_from: plan.active_version.id,
      scheduled_for: null,
    })
    const [change] = await client.ok('GET', `/plan-changes?company_id=${companies[0].id}&limit=1`)
    t.match(change, {
      action: 'plan_version_migration',
      is_version_upgrade: true,
      base_plan_version: { id: draft.id, version: 2 },
      previous_base_plan_version: { version: 1 },
    })
    const one = await client.ok('GET', `/companies/${companies[0].id}`)
    t.notOk('pending_migration' in one, 'PB-21 immediate never shows')
    const count = (path: string) => client.ok('GET', path).then(({ count }) => count)
    t.equal(await count(`/plan-version-migrations/count?plan_version_id=${draft.id}&status=completed`), 1)
    t.equal(await count(`/plan-version-migrations/count?plan_version_id=${draft.id}&feature_id=feat_x`), 0)
    t.equal(await count(`/plan-version-company-migrations/count?migration_id=${migration.id}&q=m1`), 1)
    t.equal((await client.get('/plan-version-migrations')).status, 400, 'plan_version_id is required')
    t.equal((await client.get('/plan-version-company-migrations')).status, 400)
    t.equal((await client.get('/plan-version-migrations/pvmg_none')).status, 404)
    t.equal((await client.post('/plan-version-company-migrations/pvcm_none/retry')).status, 404)
    t.equal((await client.post(`/plan-version-company-migrations/${listed[0].id}/retry`)).status, 400)
  })

  await t.test('PB-9 add-ons move by themselves', async t => {
    const { draft } = await scene(['a1'], 'add_on')
    await publish(draft.id, { migration_strategy: 'immediate' })
    t.equal(await granted('a1'), true)
  })

  await t.test('PB-6 require_no_migration refuses as long as somebody would move', async t => {
    const { plan, companies, draft } = await scene(['r1'])
    const body = { migration_strategy: 'immediate', require_no_migration: true }
    t.equal((await publish(draft.id, body)).status, 400)
    t.equal((await client.ok('GET', `/plans/${plan.id}`)).draft_version.id, draft.id, 'nothing is published')
    t.equal((await publish(draft.id, { ...body, excluded_company_ids: [companies[0].id] })).status, 200)
  })

  await t.test(
    'PB-21, PB-22, EN-96 end_of_billing_period: at its instant, by a company’s own clock',
    async t => {
      const { plan, companies, draft } = await scene(['p1', 'p2', 'p3'])
      await subscribe(tollgate, environmentId, companies[0].id, {})
      await subscribe(tollgate, environmentId, companies[1].id, { status: 'past_due' })
      await publish(draft.id, { migration_strategy: 'end_of_billing_period' })
      t.same(
        [await granted('p1'), await granted('p2'), await granted('p3')],
        [false, false, true],
        'p3 pays nothing: at once',
      )
      const migration = await migrationOf(draft.id)
      t.match(migration, {
        status: 'pending',
        proration_behavior: 'none',
        completed_companies: 1,
        total_companies: 3,
      })
      const dated = await client.ok('GET', `/companies/${companies[0].id}`)
      t.same(dated.pending_migration, {
        migration_id: migration.id,
        to_plan_id: plan.id,
        to_plan_name: plan.name,
        to_plan_version_id: draft.id,
        to_plan_version_number: 2,
        strategy: 'end_of_billing_period',
        effective_at: migration.next_due_at,
        scheduled_for: migration.next_due_at,
        proration_behavior: 'none',
      })
      const undated = await client.ok('GET', `/companies/${companies[1].id}`)
      t.equal(undated.pending_migration.effective_at, null)

      const due = Date.parse(migration.next_due_at)
      const clock = (ms: number) =>
        client.ok('PUT', `/environments/${environmentId}/clock`, {
          now: new Date(ms).toISOString(),
          frozen: true,
        })
      await clock(due - 1)
      t.equal(await granted('p1'), false)
      await clock(due)
      t.equal(await granted('p1'), true, 'from that instant')
      t.notOk('pending_migration' in (await client.ok('GET', `/companies/${companies[0].id}`)))
      t.equal(await granted('p2'), false)
      const changes = await client.ok('GET', `/plan-changes?company_id=${companies[0].id}&limit=1`)
      t.match(changes[0], {
        action: 'plan_version_migration',
        actor_type: 'system',
        created_at: migration.next_due_at,
      })

      const hurried = await client.ok('POST', `/plan-version-migrations/${migration.id}/complete-now`, {})
      t.match(hurried, { status: 'completed', completed_companies: 3 })
      t.equal(await granted('p2'), true)
      t.equal(
        (await client.post(`/plan-version-migrations/${migration.id}/cancel`)).status,
        400,
        'it has ended',
      )
      t.equal((await client.post(`/plan-version-migrations/${migration.id}/complete-now`, {})).status, 400)
      await client.ok('DELETE', `/environments/${environmentId}/clock`)
    },
  )

  await t.test('PB-20, PB-23 called off, and replaced by a newer one', async t => {
    const { plan, companies, draft } = await scene(['c1'])
    await subscribe(tollgate, environmentId, companies[0].id, {})
    await publish(draft.id, { migration_strategy: 'end_of_billing_period' })
    const first = await migrationOf(draft.id)
    await client.ok('PUT', `/plans/${plan.id}`, { name: 'Again' })
    const next = await publishDraftOf(client, plan.id, {
      migration_strategy: 'end_of_billing_period',
      excluded_company_ids: [],
    })
    const second = await migrationOf(next.active_version.id)
    const statuses = async (id: string) =>
      (await client.ok('GET', `/plan-version-company-migrations?migration_id=${id}`)).map(
        (each: { status: string }) => each.status,
      )
    t.same(await statuses(first.id), ['cancelled'])
    t.same(await statuses(second.id), ['pending'])
    t.equal(
      (await client.ok('GET', `/companies/${companies[0].id}`)).pending_migration.migration_id,
      second.id,
    )
    const cancelled = await client.ok('POST', `/plan-version-migrations/${second.id}/cancel`)
    t.match(cancelled, { status: 'cancelled', total_companies: 1 })
    t.same(await statuses(second.id), ['cancelled'])
    t.notOk('pending_migration' in (await client.ok('GET', `/companies/${companies[0].id}`)))
    t.equal(
      (await client.post(`/plan-version-migrations/${second.id}/retry`, { error_codes: [] })).status,
      400,
    )
  })

  await t.test('POST /plan-version-migrations moves those who stayed', async t => {
    const { plan, companies, draft } = await scene(['s1', 's2'])
    await publish(draft.id, { migration_strategy: 'leave' })
    const aim = { plan_id: plan.id, plan_version_id_to: draft.id, target_plan_type: 'plan' }
    const preview = await client.ok('POST', '/plan-version-migrations/preview', aim)
    isShaped(t, preview, shapes.migrationPreview, 'PlanVersionMigrationPreview')
    isShaped(t, preview.companies[0], shapes.migrationPreviewCompany, 'PlanVersionMigrationPreviewCompany')
    t.equal(preview.companies.length, 2)
    const body = { ...aim, strategy: 'immediate', company_ids: [companies[0].id] }
    const answer = await client.post('/plan-version-migrations', body)
    t.equal(answer.status, 201)
    t.match(answer.body.data, { status: 'completed', total_companies: 1 })
    t.same([await granted('s1'), await granted('s2')], [true, false])
    const status = async (more: object) =>
      (await client.post('/plan-version-migrations', { ...body, ...more })).status
    t.equal(await status({ plan_id: 'plan_none' }), 404)
    t.equal(await status({ plan_version_id_to: 'plvr_none' }), 404)
    t.equal(await status({ plan_version_id_to: plan.active_version.id }), 400, 'not in force')
    t.equal(await status({ target_plan_type: 'add_on' }), 400)
    t.equal(await status({ strategy: 'scheduled' }), 400)
    t.equal(await status({ plan_version_ids_from: ['plvr_none'] }), 404)
    const nobody = await client.ok('POST', '/plan-version-migrations', { ...body, strategy: 'leave' })
    t.match(nobody, { status: 'completed', total_companies: 0 })
  })

  await t.test(
    'PB-13, EN-35 publishing a custom plan puts its company on it, then along with it',
    async t => {
      const seats = await client.ok('POST', '/features', {
        name: 'Seats',
        description: '',
        feature_type: 'license',
      })
      const own = await company(client, 'own')
      const extra = await publishedPlan(client, 'Kept', [], { plan_type: 'add_on' })
      await client.ok('PUT', `/company-plans/${own.id}`, { add_on_ids: [extra.id] })
      const plan = await client.ok('POST', '/custom-plans', { company_id: own.id, name: 'Own' })
      const sold = { feature_id: seats.id, value_type: 'trait', price_behavior: 'pay_in_advance' }
      const bought = await client.ok('POST', '/plan-entitlements', {
        plan_id: plan.id,
        ...sold,
        usage_quantity: 5,
      })
      await publishDraftOf(client, plan.id)
      const first = await client.ok('GET', `/companies/${own.id}`)
      t.match(first, { plan: { id: plan.id }, add_ons: [{ id: extra.id }] })
      const trait = bought.value_trait.hierarchy.join('.')
      t.equal(first.traits[trait], 5, 'EN-35 the commitment is the quantity')
      const published = await client.ok('GET', `/plans/${plan.id}`)
      await client.ok('PUT', `/plan-entitlements/${published.entitlements[0].id}`, {
        ...sold,
        usage_quantity: 3,
      })
      const second = await publishDraftOf(client, plan.id)
      const then = await client.ok('GET', `/companies/${own.id}`)
      t.equal(then.plan.plan_version_id, second.active_version.id, 'with any strategy')
      t.equal(then.traits[trait], 5, 'the larger of committed and present')
    },
  )

  await t.test('PB-60 a custom plan that is to be paid first waits for its payment', async t => {
    const payer = await company(client, 'payer')
    const plan = await client.ok('POST', '/custom-plans', { company_id: payer.id, name: 'Paid first' })
    const costs = { charge_type: 'recurring', is_trialable: false, monthly_price: 9000 }
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, costs)
    const body = {
      migration_strategy: 'leave',
      activation_strategy: 'on_payment',
      days_until_due: 14,
      customer_email: 'pay@x.example',
    }
    t.equal((await publish(plan.draft_version.id, body)).status, 200)
    t.notOk('plan' in (await client.ok('GET', `/companies/${payer.id}`)))
    const [owed] = await client.ok('GET', `/custom-plan-billings?company_id=${payer.id}`)
    t.match(owed, {
      status: 'pending',
      plan_id: plan.id,
      plan_billing_source: 'custom_plan',
      days_until_due: 14,
    })
    await client.ok('PUT', `/custom-plan-billings/${owed.id}/mark-paid`, {})
    t.match(await client.ok('GET', `/companies/${payer.id}`), { plan: { id: plan.id } })
  })

  await t.test('EN-63 overrides survive a migration', async t => {
    const { companies, draft } = await scene(['o1'])
    await client.ok('POST', '/company-overrides', {
      company_id: companies[0].id,
      feature_id: dark.id,
      value_type: 'boolean',
      value_bool: false,
    })
    await publish(draft.id, { migration_strategy: 'immediate' })
    t.equal(await granted('o1'), false)
  })

  await t.test('EN-90, EN-91 a trial runs out and is reported', async t => {
    const plan = await client.ok('POST', '/plans', { name: 'Try', plan_type: 'plan' })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
      charge_type: 'free',
      is_trialable: true,
      trial_days: 7,
    })
    await publishDraftOf(client, plan.id)
    const tried = await company(client, 'tried')
    await client.ok('PUT', `/company-plans/${tried.id}`, { base_plan_id: plan.id, add_on_ids: [] })
    const nowMs = Date.now()
    await client.ok('PUT', `/environments/${environmentId}/clock`, {
      now: new Date(nowMs + 8 * 86_400_000).toISOString(),
    })
    t.notOk('plan' in (await client.ok('GET', `/companies/${tried.id}`)))
    const [ended, begun] = await client.ok('GET', `/plan-changes?company_id=${tried.id}`)
    t.match(begun, { trial_status: 'active', trial_expires_at: ended.trial_expires_at })
    t.match(ended, { action: 'fallback_plan', trial_status: 'expired', created_at: begun.trial_expires_at })
    await client.ok('DELETE', `/environments/${environmentId}/clock`)
  })
})
