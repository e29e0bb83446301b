// Decision 37 over the route table: under one key every keyed write is made once, however it is repeated: at the same time, later,
// by the member, with another body, from another environment.
import t from 'tap'
import { titleOf } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { publishedPlan, publishOnly } from '../control/planned.js'
import { type Response, startHere } from '../harness.js'
import { times } from '../random.js'
import { CreditWorld } from './credit-world.js'
import { type Body, MovesWorld } from './moves-world.js'

t.setTimeout(times(600_000))

/** One write that can be made, and its body; undefined: it has none. */
interface Write {
  readonly path: string
  readonly body?: object
}

const { client, tollgate } = await startHere(t)
const world = new CreditWorld(client)
const moves = await MovesWorld.of(client)
const nothing = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}
const credit = await world.credit()
const calls = moves.calls as Body
const [paid, cheap, free] = [
  await moves.plan(10, 5000),
  await moves.plan(5, 2000),
  await publishedPlan(client, 'Free'),
]
const { flag, subtype, plan: metered } = await world.metered(credit.id, 1)
let made = 0
const name = (): string => `Made ${++made}`

const company = async (): Promise<string> => (await world.company()).id
const rich = async (more: object = {}) => {
  const one = await world.company(more)
  await world.grant(one.id, credit.id, 100)
  return one
}
const lease = async (): Promise<string> => {
  const { id } = await rich()
  const body = { company_id: id, credit_type_id: credit.id, requested_amount: 3 }
  return (await client.ok('POST', '/billing/credits/lease', body)).id
}
const grantOf = (plan_id: string) => ({
  plan_id,
  credit_id: credit.id,
  credit_amount: 5,
  reset_cadence: 'monthly',
  reset_start: 'billing_period',
})
const planGrant = async (): Promise<string> => {
  const plan = await publishedPlan(client, name())
  return (await client.ok('POST', '/billing/credits/plan-grants', grantOf(plan.id))).id
}
const customDraft = async () => {
  const id = await company()
  const plan = await client.ok('POST', '/custom-plans', { company_id: id, name: name() })
  await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
    charge_type: 'recurring',
    monthly_price: 900,
  })
  return { id, draft: plan.draft_version.id as string }
}
const billing = async (): Promise<string> => {
  const { id, draft } = await customDraft()
  await client.ok('PUT', `/plans/version/${draft}/publish`, {
    ...publishOnly,
    days_until_due: 10,
    customer_email: 'pay@example.com',
  })
  return (await client.ok('GET', `/custom-plan-billings?company_id=${id}`))[0].id
}
const payer = (): Promise<string> => moves.payer(paid)
const move = async (more: object = {}) => {
  const id = await payer()
  const body = { plan_id: cheap.id, filter: { company_ids: [id] }, ...more }
  const { id: moveId } = await client.ok('POST', '/plan-moves', body)
  return { id, moveId: moveId as string }
}
const waiting = { when: 'at_period_end' }
const doneMove = async (): Promise<string> => {
  const { moveId } = await move()
  await moves.until(moveId, 'completed')
  return moveId
}
/** A migration of a plan's one company to its second version, that waits for the period's end. */
const migration = async (migration_strategy = 'end_of_billing_period'): Promise<string> => {
  const plan = await moves.plan(7, 3000)
  await moves.payer(plan)
  const draft = await moves.draft(plan.id, 8, 3500)
  await client.ok('PUT', `/plans/version/${draft}/publish`, { migration_strategy, excluded_company_ids: [] })
  const [one] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${draft}`)
  return one.id
}
const failedMigration = async (): Promise<{ readonly id: string; readonly ofCompany: string }> => {
  const id = await migration('immediate')
  const [row] = await client.ok('GET', `/plan-version-company-migrations?migration_id=${id}`)
  await tollgate.services.sql`
    update plan_version_company_migrations set status = 'failed', error_code = 'unknown' where migration_id = ${id}`
  return { id, ofCompany: row.id }
}
const trial = async (): Promise<string> => {
  const plan = await client.ok('POST', '/plans', {
    name: name(),
    billing_product: { monthly_price: 100, trial_days: 14 },
  })
  await client.ok('PUT', `/plans/version/${plan.draft_version.id}/publish`)
  const id = await company()
  await client.ok('POST', '/manage-plan', { company_id: id, base_plan_id: plan.id })
  return (await client.ok('GET', `/companies/${id}`)).billing_subscription.id
}
const override = async (): Promise<string> => {
  const body = { company_id: await company(), feature_id: calls.id, value_type: 'numeric', value_numeric: 6 }
  return (await client.ok('POST', '/company-overrides', body)).id
}
const drafted = async (): Promise<string> =>
  (await client.ok('POST', '/plans', { name: name(), plan_type: 'plan' })).draft_version.id

const cases: Readonly<Record<string, () => Promise<Write>>> = {
  'POST /billing/credits/grants/company': async () => ({
    path: '/billing/credits/grants/company',
    body: { company_id: await company(), credit_id: credit.id, quantity: 10, reason: 'free' },
  }),
  'PUT /billing/credits/grants/{grant_id}/zero-out': async () => ({
    path: `/billing/credits/grants/${(await world.grant(await company(), credit.id, 5)).id}/zero-out`,
    body: {},
  }),
  'POST /billing/credits/lease': async () => ({
    path: '/billing/credits/lease',
    body: { company_id: (await rich()).id, credit_type_id: credit.id, requested_amount: 3 },
  }),
  'PUT /billing/credits/lease/{lease_id}/extend': async () => ({
    path: `/billing/credits/lease/${await lease()}/extend`,
    body: { additional_amount: 2 },
  }),
  'PUT /billing/credits/lease/{lease_id}/release': async () => ({
    path: `/billing/credits/lease/${await lease()}/release`,
  }),
  'POST /billing/credits/plan-grants': async () => ({
    path: '/billing/credits/plan-grants',
    body: grantOf((await publishedPlan(client, name())).id),
  }),
  'PUT /billing/credits/plan-grants/{plan_grant_id}': async () => ({
    path: `/billing/credits/plan-grants/${await planGrant()}`,
    body: { credit_amount: 9 },
  }),
  'DELETE /billing/credits/plan-grants/{plan_grant_id}': async () => ({
    path: `/billing/credits/plan-grants/${await planGrant()}`,
  }),
  'POST /billing/credits/reservations': async () => ({
    path: '/billing/credits/reservations',
    body: { company_id: (await rich()).id, credit_type_id: credit.id, amount: 2 },
  }),
  'PUT /billing/credits/reservations/{reservation_id}/release': async () => {
    const body = { company_id: (await rich()).id, credit_type_id: credit.id, amount: 2 }
    const { id } = await client.ok('POST', '/billing/credits/reservations', body)
    return { path: `/billing/credits/reservations/${id}/release` }
  },
  'POST /catalog/apply': async () => ({
    path: '/catalog/apply',
    body: { catalog: { catalog: 1, plans: [{ name: name(), plan_type: 'plan', draft: {} }] } },
  }),
  'POST /company-overrides': async () => ({
    path: '/company-overrides',
    body: { company_id: await company(), feature_id: calls.id, value_type: 'numeric', value_numeric: 6 },
  }),
  'PUT /company-overrides': async () => ({
    path: '/company-overrides',
    body: { company_id: await company(), feature_id: calls.id, value_type: 'numeric', value_numeric: 7 },
  }),
  'POST /company-overrides/{company_override_id}': async () => ({
    path: `/company-overrides/${await override()}`,
    body: { value_numeric: 8, note: 'eight' },
  }),
  'PUT /company-overrides/{company_override_id}': async () => ({
    path: `/company-overrides/${await override()}`,
    body: { value_numeric: 9, note: 'nine' },
  }),
  'DELETE /company-overrides/{company_override_id}': async () => ({
    path: `/company-overrides/${await override()}`,
  }),
  'PUT /company-plans/{company_id}': async () => ({
    path: `/company-plans/${await company()}`,
    body: { base_plan_id: free.id, add_on_ids: [] },
  }),
  'POST /company-traits': async () => ({
    path: '/company-traits',
    body: { keys: (await world.company()).keys, trait: 'seats', incr: 5 },
  }),
  'POST /user-traits': async () => {
    const keys = { email: `${++made}@example.com` }
    await client.ok('POST', '/users', { keys })
    return { path: '/user-traits', body: { keys, trait: 'seats', incr: 5 } }
  },
  'PUT /custom-plan-billings/{custom_plan_billing_id}/mark-paid': async () => ({
    path: `/custom-plan-billings/${await billing()}/mark-paid`,
    body: {},
  }),
  'PUT /custom-plan-billings/{custom_plan_billing_id}/retry': async () => {
    const id = await billing()
    await tollgate.services.sql`update custom_plan_billings set status = 'expired' where id = ${id}`
    return { path: `/custom-plan-billings/${id}/retry`, body: { customer_email: 'again@example.com' } }
  },
  'POST /custom-plan-bundles': async () => ({
    path: '/custom-plan-bundles',
    body: { plan: { company_id: await company(), name: name() } },
  }),
  'POST /custom-plans': async () => ({
    path: '/custom-plans',
    body: { company_id: await company(), name: name() },
  }),
  'POST /flags/{key}/check-and-reserve': async () => {
    const { keys } = await rich({ base_plan_id: metered.id })
    return {
      path: `/flags/${flag.key}/check-and-reserve`,
      body: { company: keys, preflight: { event_subtype: subtype, quantity: 1 } },
    }
  },
  'POST /manage-plan': async () => ({
    path: '/manage-plan',
    body: {
      ...nothing,
      company_id: await company(),
      base_plan_id: paid.id,
      base_plan_price_id: paid.monthly_price.id,
    },
  }),
  'POST /manage-plan/subscription/cancel': async () => ({
    path: '/manage-plan/subscription/cancel',
    body: { company_id: await payer() },
  }),
  'POST /plan-bundles': async () => ({
    path: '/plan-bundles',
    body: { plan: { name: name(), description: '', plan_type: 'plan' } },
  }),
  'PUT /plan-bundles/{plan_id}': async () => ({
    path: `/plan-bundles/${(await publishedPlan(client, name())).id}`,
    body: { plan: { name: name() } },
  }),
  'POST /plan-moves': async () => ({
    path: '/plan-moves',
    body: { plan_id: cheap.id, filter: { company_ids: [await payer()] } },
  }),
  'POST /plan-moves/{plan_move_id}/cancel': async () => ({
    path: `/plan-moves/${(await move(waiting)).moveId}/cancel`,
  }),
  'POST /plan-moves/{plan_move_id}/pause': async () => ({
    path: `/plan-moves/${(await move(waiting)).moveId}/pause`,
  }),
  'POST /plan-moves/{plan_move_id}/resume': async () => {
    const { moveId } = await move(waiting)
    await client.ok('POST', `/plan-moves/${moveId}/pause`)
    return { path: `/plan-moves/${moveId}/resume` }
  },
  'POST /plan-moves/{plan_move_id}/retry': async () => ({
    path: `/plan-moves/${await doneMove()}/retry`,
    body: {},
  }),
  'POST /plan-moves/{plan_move_id}/revert': async () => ({ path: `/plan-moves/${await doneMove()}/revert` }),
  'POST /plan-version-company-migrations/{plan_version_company_migration_id}/retry': async () => ({
    path: `/plan-version-company-migrations/${(await failedMigration()).ofCompany}/retry`,
  }),
  'POST /plan-version-migrations': async () => {
    const plan = await moves.plan(7, 3000)
    await moves.payer(plan)
    const draft = await moves.draft(plan.id, 8, 3500)
    await client.ok('PUT', `/plans/version/${draft}/publish`, publishOnly)
    return { path: '/plan-version-migrations', body: { plan_id: plan.id, plan_version_id_to: draft } }
  },
  'POST /plan-version-migrations/{plan_version_migration_id}/cancel': async () => ({
    path: `/plan-version-migrations/${await migration()}/cancel`,
  }),
  'POST /plan-version-migrations/{plan_version_migration_id}/complete-now': async () => ({
    path: `/plan-version-migrations/${await migration()}/complete-now`,
    body: {},
  }),
  'POST /plan-version-migrations/{plan_version_migration_id}/pause': async () => ({
    path: `/plan-version-migrations/${await migration()}/pause`,
  }),
  'POST /plan-version-migrations/{plan_version_migration_id}/resume': async () => {
    const id = await migration()
    await client.ok('POST', `/plan-version-migrations/${id}/pause`)
    return { path: `/plan-version-migrations/${id}/resume` }
  },
  'POST /plan-version-migrations/{plan_version_migration_id}/retry': async () => ({
    path: `/plan-version-migrations/${(await failedMigration()).id}/retry`,
    body: { error_codes: [] },
  }),
  'POST /plan-version-migrations/{plan_version_migration_id}/revert': async () => ({
    path: `/plan-version-migrations/${await migration('immediate')}/revert`,
  }),
  'POST /plans': async () => ({ path: '/plans', body: { name: name(), plan_type: 'plan' } }),
  'PUT /plans/version/{plan_version_id}/publish': async () => ({
    path: `/plans/version/${await drafted()}/publish`,
    body: publishOnly,
  }),
  'PUT /subscription/{subscription_id}/edit-trial-end': async () => ({
    path: `/subscription/${await trial()}/edit-trial-end`,
    body: { trial_end: new Date(Date.now() + 30 * 86_400_000).toISOString() },
  }),
}

const environments = (await client.ok('GET', '/environments')) as Body[]
const elsewhere = environments.find(one => one.environment_type === 'production').id as string
const account = (await client.ok('POST', '/api-keys', { name: 'account' })).secret as string
const abroad = client.as(account, { 'X-Service-Environment-Id': elsewhere })

const replayed = ({ headers }: Response) => headers.get('idempotency-replayed')

t.test('decision 37: every keyed route has a case, and the other way round', async t => {
  const titles = routes.filter(({ keyed }) => keyed !== null).map(titleOf)
  t.strictSame([...titles].sort(), Object.keys(cases).sort())
})

for (const [title, make] of Object.entries(cases))
  t.test(`decision 37: ${title} is made once under a key`, async t => {
    const method = title.split(' ')[0]!
    const { path, body } = await make()
    const key = `once-${++made}`
    const send = (said: object | undefined, header: string | null, by = client) =>
      by.send(method, path, said, header === null ? {} : { 'Idempotency-Key': header })
    const other = await make()

    const strange = await send(body, key, abroad)
    t.notOk(strange.status === 409 || strange.status >= 500, `elsewhere: ${strange.status}`)
    const bad = {
      company_id: 'comp_none',
      plan_id: 'plan_none',
      plan: 5,
      name: 5,
      company: 5,
      catalog: 5,
      trait: 5,
    }
    const wrongPath = path.replace(/(\w{4}_)\w+/, '$1none')
    const wrong = await client.send(method, wrongPath, { ...body, ...bad }, { 'Idempotency-Key': key })
    t.ok(wrong.status >= 400 && wrong.status < 500, `refused first: ${wrong.status}`)

    const both = await Promise.all([send(body, key), send(body, key), send(body, key)])
    const text = JSON.stringify(both.map(one => one.body)).slice(0, 800)
    t.ok(
      both.every(one => one.status < 300),
      `${both.map(one => one.status)} ${text}`,
    )
    t.strictSame(both.map(replayed).sort(), [null, 'true', 'true'].sort(), 'one is made')
    for (const one of both) t.strictSame(one.body, both[0]!.body)
    if (body !== undefined) {
      const member = await send({ ...body, idempotency_key: key }, null)
      t.equal(replayed(member), 'true', 'the member is the same key')
      t.strictSame(member.body, both[0]!.body)
      const mixed = await send({ ...body, idempotency_key: `${key}x` }, key)
      t.equal(mixed.status, 400, 'two keys')
      for (const long of ['x'.repeat(256), '']) {
        const { status } = await send({ ...body, idempotency_key: long }, null)
        t.equal(status, 400, `a member of ${long.length} characters`)
      }
    }
    const changed = await client.send(
      method,
      other.path,
      { ...other.body, extra: 1 },
      { 'Idempotency-Key': key },
    )
    t.equal(changed.status, 409, 'another request')
    t.equal((await send(body, 'x y')).status, 400, 'no key')
    const fresh = await client.send(method, other.path, other.body, { 'Idempotency-Key': `${key}.2` })
    t.ok(
      fresh.status < 300,
      `nothing of the other request was done: ${fresh.status} ${JSON.stringify(fresh.body.error)}`,
    )
    t.equal(replayed(fresh), null)
  })
