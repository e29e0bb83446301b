// Moves of companies between plans over HTTP: who goes, who stays and why, held and taken back (MI-10…33).
import t from 'tap'
import { startHere } from '../harness.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'
import { type Body, MovesWorld } from './moves-world.js'

t.test('moves between plans', async t => {
  const { client, tollgate } = await startHere(t)
  const world = await MovesWorld.of(client)
  await world.clock('2031-01-10T00:00:00.000Z')
  const free = await world.plan(1, null)
  const planless = await world.company()
  await offerPlans(client, tollgate, { fallback: free.id })
  const move = (body: object) => client.ok('POST', '/plan-moves', body)
  const refused = async (body: object) => (await client.post('/plan-moves', body)).status

  await t.test('MI-13, MI-14, MI-30 paid to paid: price and seats in place, and back as it was', async t => {
    const [from, to] = [await world.plan(10, 5000, { seat: 300 }), await world.plan(20, 7000, { seat: 400 })]
    const id = await world.payer(from, { seats: 3 })
    await world.use(id, 4)
    const before = await world.stands(id)
    t.match(before, { plan: from.id, pays: '300×3 5000×1', limit: 10 })
    await world.clock('2031-01-12T00:00:00.000Z')
    const made = await move({ plan_id: to.id, filter: { company_ids: [id] } })
    t.match(made, {
      kind: 'move',
      status: 'completed',
      total_companies: 1,
      completed_companies: 1,
      when: 'now',
    })
    const after = await world.stands(id)
    t.match(after, {
      plan: to.id,
      version: to.active_version.id,
      pays: '400×3 7000×1',
      limit: 20,
      periodEnd: before.periodEnd,
    })
    const usage = await client.ok('GET', `/feature-usage?company_id=${id}`)
    t.equal(usage.find((row: Body) => row.feature.id === world.calls.id).usage, 4, 'MI-14 usage stays')
    const [change] = await client.ok('GET', `/plan-changes?company_id=${id}`)
    t.match(change, { action: 'migration', actor_type: 'api_key' })
    const back = await client.ok('POST', `/plan-moves/${made.id}/revert`)
    t.match(back, { kind: 'revert', status: 'completed', reverts_id: made.id, completed_companies: 1 })
    t.same(await world.stands(id), before, 'everything is what it was')
    t.equal((await client.ok('GET', `/plan-moves/${made.id}`)).reverted_by_id, back.id)
    t.equal((await client.post(`/plan-moves/${back.id}/revert`)).status, 400, 'MI-33')
    const again = await client.ok('POST', `/plan-moves/${made.id}/revert`)
    t.same(await world.outcomes(again.id), { [id]: 'skipped changed_since' }, 'MI-31 twice is once')
  })

  await t.test('MI-13, MI-32 paid to free ends the payment; back it runs again', async t => {
    const [from, to] = [await world.plan(10, 5000, { seat: 300 }), await world.plan(3, null)]
    const id = await world.payer(from, { seats: 2 })
    const before = await world.stands(id)
    const made = await move({ plan_id: to.id, filter: { plan_ids: [from.id] } })
    t.match(await world.stands(id), { plan: to.id, price: null, pays: null, limit: 3 })
    await client.ok('POST', `/plan-moves/${made.id}/revert`)
    t.same(await world.stands(id), before)
    const later = await move({ plan_id: to.id, filter: { plan_ids: [from.id] } })
    await world.clock('2031-02-20T00:00:00.000Z')
    await client.ok('POST', `/plan-moves/${later.id}/revert`)
    const stands = await world.stands(id)
    t.match(stands, { plan: from.id, pays: before.pays, since: before.since })
    t.equal(stands.periodEnd, seconds('2031-03-12T00:00:00Z'), 'in the period of now')
  })

  await t.test('MI-13 no payment begins or is passed by', async t => {
    const paid = await world.plan(10, 5000)
    const yearly = await world.plan(10, 5000, { yearly: 50_000 })
    const given = await world.holder(free)
    const bare = await world.company()
    const byYear = await world.payer(yearly, { yearly: true })
    const sold = await linkedPlan(client, 'sold')
    const told = await world.company()
    await client.ok('POST', '/billing/customer/upsert', {
      external_id: 'cus_told',
      name: 'told',
      email: 'told@example.com',
      meta: {},
      company_id: told,
    })
    const period = {
      period_start: seconds('2031-02-20T00:00:00Z'),
      period_end: seconds('2031-03-20T00:00:00Z'),
    }
    await client.ok(
      'POST',
      '/billing/subscription/upsert',
      subscriptionBody('sub_told', 'cus_told', [sold], { status: 'active', ...period }),
    )
    t.equal((await world.stands(told)).plan, sold.plan.id)
    const companies = [given, bare, byYear, told]
    const stood = await Promise.all(companies.map(id => world.stands(id)))
    const made = await move({ plan_id: paid.id, filter: { company_ids: companies } })
    t.match(made, { status: 'failed', failed_companies: 4, completed_companies: 0 })
    t.same(await world.outcomes(made.id), {
      [given]: 'failed not_paid',
      [bare]: 'failed not_paid',
      [byYear]: 'failed no_price',
      [told]: 'failed provider_billed',
    })
    t.same(await Promise.all(companies.map(id => world.stands(id))), stood, 'nothing of them has changed')
    const retried = await client.ok('POST', `/plan-moves/${made.id}/retry`, { reasons: ['no_price'] })
    t.match(retried, { status: 'failed', failed_companies: 4 })
  })

  await t.test('MI-13 the price that is named counts', async t => {
    const [from, to] = [await world.plan(10, 5000), await world.plan(10, 6000, { yearly: 60_000 })]
    const id = await world.payer(from)
    const byYear = await move({ plan_id: to.id, price_id: to.yearly_price.id, filter: { company_ids: [id] } })
    t.same(await world.outcomes(byYear.id), { [id]: 'failed no_price' })
    const byMonth = await move({
      plan_id: to.id,
      price_id: to.monthly_price.id,
      filter: { company_ids: [id] },
    })
    t.same(await world.outcomes(byMonth.id), { [id]: 'completed' })
    t.equal(await refused({ plan_id: to.id, price_id: 'bilpp_none', filter: { company_ids: [id] } }), 404)
  })

  await t.test(
    'MI-10 filters: plans, versions, traits, texts, those without a plan; all members hold',
    async t => {
      const [a, b, to] = [await world.plan(5, null), await world.plan(6, null), await world.plan(7, null)]
      const inA = await world.holder(a, { traits: { region: 'eu', size: 5 } })
      const alsoA = await world.holder(a, { traits: { region: 'us', size: 5 } })
      const inB = await world.holder(b, { traits: { region: 'eu' } })
      const bare = await world.company({ name: 'Needle in hay' })
      const preview = async (filter: object) => {
        const { companies, totals } = await client.ok('POST', '/plan-moves/preview?limit=250', {
          plan_id: to.id,
          filter,
        })
        t.equal(totals.companies, companies.length)
        return companies.map((one: Body) => one.company_id).sort()
      }
      const sorted = (...ids: string[]) => ids.sort()
      t.same(await preview({ plan_ids: [a.id] }), sorted(inA, alsoA))
      t.same(await preview({ plan_ids: [a.id, b.id] }), sorted(inA, alsoA, inB))
      t.same(await preview({ plan_version_ids: [b.active_version.id] }), [inB])
      const eu = [{ name: 'region', value: 'eu' }]
      t.same(await preview({ traits: eu }), sorted(inA, inB))
      t.same(await preview({ traits: [...eu, { name: 'size', value: '5' }] }), [inA])
      t.same(await preview({ plan_ids: [a.id], excluded_company_ids: [inA] }), [alsoA])
      t.same(await preview({ q: 'needle' }), [bare])
      t.same(await preview({ without_plan: true }), [planless])
      const fallen = await preview({ plan_ids: [free.id] })
      t.ok(fallen.includes(planless) && fallen.includes(bare), 'who has the fallback plan')
      for (const filter of [{}, { excluded_company_ids: [inA] }, { traits: [] }, { without_plan: false }])
        t.equal(await refused({ plan_id: to.id, filter }), 400, JSON.stringify(filter))
      for (const filter of [
        { plan_ids: ['plan_none'] },
        { plan_version_ids: ['plvr_none'] },
        { company_ids: ['comp_none'] },
      ])
        t.equal(await refused({ plan_id: to.id, filter }), 404, JSON.stringify(filter))
      const first = await move({ plan_id: to.id, filter: { without_plan: true } })
      t.same(await world.outcomes(first.id), { [planless]: 'completed' })
      t.equal((await world.stands(planless)).plan, to.id)
      await client.ok('POST', `/plan-moves/${first.id}/revert`)
      t.equal((await world.stands(planless)).plan, free.id, 'the fallback plan again')
      const made = await move({ plan_id: to.id, filter: { plan_ids: [a.id, b.id], traits: eu } })
      t.same(await world.outcomes(made.id), { [inA]: 'completed', [inB]: 'completed' })
      t.match([await world.stands(inA), await world.stands(alsoA)], [{ plan: to.id }, { plan: a.id }])
      const all = await client.ok('POST', '/plan-moves/preview', { plan_id: to.id, filter: { all: true } })
      t.ok(all.totals.companies > 4)
    },
  )

  await t.test('MI-11 who has left the plan, is there already or is deleted is skipped', async t => {
    const [from, to, other] = [
      await world.plan(5, null),
      await world.plan(6, null),
      await world.plan(7, null),
    ]
    const [leaver, there, gone, goer] = [
      await world.holder(from),
      await world.holder(from),
      await world.holder(from),
      await world.holder(from),
    ]
    const made = await move({
      plan_id: to.id,
      when: 'scheduled',
      scheduled_at: '2031-04-01T00:00:00Z',
      filter: { plan_ids: [from.id] },
    })
    t.match(made, { status: 'pending', pending_companies: 4, next_due_at: '2031-04-01T00:00:00.000Z' })
    t.equal((await world.stands(goer)).pending, to.id)
    await client.ok('PUT', `/company-plans/${leaver}`, { base_plan_id: other.id })
    await client.ok('PUT', `/company-plans/${there}`, { base_plan_id: to.id })
    await client.ok('DELETE', `/companies/${gone}`)
    const late = await world.holder(from)
    await world.clock('2031-04-01T00:00:00.000Z')
    t.equal((await world.stands(goer)).plan, to.id, 'at that instant')
    t.match(await world.until(made.id, 'completed'), { completed_companies: 1, skipped_companies: 3 })
    t.same(await world.outcomes(made.id), {
      [leaver]: 'skipped left_plan',
      [there]: 'skipped already_there',
      [gone]: 'skipped company_deleted',
      [goer]: 'completed',
    })
    t.equal((await world.stands(late)).plan, from.id, 'MI-10 who came later stays')
  })

  await t.test('MI-16, MI-20, MI-21, MI-22 at the end of the period; paused, resumed, cancelled', async t => {
    const [from, to] = [await world.plan(10, 5000), await world.plan(20, 7000)]
    const [one, two] = [await world.payer(from), await world.payer(from)]
    const end = '2031-05-01T00:00:00.000Z'
    const made = await move({ plan_id: to.id, when: 'at_period_end', filter: { plan_ids: [from.id] } })
    t.match(made, { status: 'pending', pending_companies: 2, next_due_at: end })
    const [row] = await client.ok('GET', `/plan-moves/${made.id}/companies`)
    t.match(row, { status: 'pending', scheduled_for: end, plan_id_from: from.id })
    const paused = await client.ok('POST', `/plan-moves/${made.id}/pause`)
    t.match(paused, { status: 'paused', paused_at: '2031-04-01T00:00:00.000Z' })
    t.equal((await client.post(`/plan-moves/${made.id}/pause`)).status, 400)
    t.same(
      [(await client.ok('GET', '/plan-moves?status=paused')).length, (await world.stands(one)).pending],
      [1, null],
    )
    await world.clock('2031-05-02T00:00:00.000Z')
    t.match([await world.stands(one), await world.stands(two)], [{ plan: from.id }, { plan: from.id }])
    const resumed = await client.ok('POST', `/plan-moves/${made.id}/resume`)
    t.match(resumed, { status: 'pending', paused_at: null, next_due_at: '2031-06-01T00:00:00.000Z' })
    t.equal((await client.post(`/plan-moves/${made.id}/resume`)).status, 400)
    // a new version of the plan that is left does not end what waits
    await world.draft(from.id, 11, 5500)
    const { draft_version: draft } = await client.ok('GET', `/plans/${from.id}`)
    await client.ok('PUT', `/plans/version/${draft.id}/publish`, { migration_strategy: 'leave' })
    t.equal((await client.ok('GET', `/plan-moves/${made.id}`)).pending_companies, 2)
    await world.clock('2031-06-01T00:00:00.000Z')
    t.match(await world.stands(one), {
      plan: to.id,
      pays: '7000×1',
      periodEnd: seconds('2031-07-01T00:00:00Z'),
    })
    t.match(await world.until(made.id, 'completed'), { completed_companies: 2 })
    const charges = await client.ok('GET', `/companies/${one}/charges?period=current`)
    t.same(
      charges.lines.filter((line: Body) => line.kind === 'recurring').map((line: Body) => line.amount),
      [7000],
      'one fee in the period that begins',
    )
    const next = await move({ plan_id: from.id, when: 'at_period_end', filter: { plan_ids: [to.id] } })
    t.match(await client.ok('POST', `/plan-moves/${next.id}/cancel`), {
      status: 'cancelled',
      cancelled_companies: 2,
    })
    t.equal((await client.post(`/plan-moves/${next.id}/cancel`)).status, 400)
    await world.clock('2031-07-02T00:00:00.000Z')
    t.equal((await world.stands(one)).plan, to.id)
    const back = await client.ok('POST', `/plan-moves/${made.id}/revert`)
    t.match(back, { completed_companies: 2, status: 'completed' })
    t.match(
      await world.stands(one),
      { plan: from.id, pays: '5000×1', limit: 10 },
      'its former version and price',
    )
  })

  await t.test('MI-20, MI-30 migrations to a version pause, go on, and go back', async t => {
    const plan = await world.plan(10, 5000)
    const id = await world.payer(plan)
    const before = await world.stands(id)
    const draftId = await world.draft(plan.id, 30, 6000)
    await client.ok('PUT', `/plans/version/${draftId}/publish`, {
      migration_strategy: 'end_of_billing_period',
    })
    const [migration] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${draftId}`)
    const path = `/plan-version-migrations/${migration.id}`
    t.match(await client.ok('POST', `${path}/pause`), { paused_at: '2031-07-02T00:00:00.000Z' })
    await world.clock('2031-08-02T00:00:01.000Z')
    t.match(await world.stands(id), { version: before.version })
    t.match(await client.ok('POST', `${path}/resume`), { paused_at: null })
    await client.ok('POST', `${path}/complete-now`, {})
    t.match(await world.stands(id), { version: draftId, pays: '6000×1', limit: 30 })
    const back = await client.ok('POST', `${path}/revert`)
    t.match(back, { kind: 'revert', reverts_id: migration.id, completed_companies: 1 })
    t.match(await world.stands(id), { version: before.version, pays: '5000×1', limit: 10 })
    t.equal((await client.ok('GET', '/plan-moves?limit=1'))[0].id, back.id)
    t.equal((await client.post('/plan-version-migrations/pvmg_none/revert')).status, 404)
  })

  await t.test('MI-31, MI-32 what changed since stays; a version that is gone is not restored', async t => {
    const [from, to, other] = [
      await world.plan(5, null),
      await world.plan(6, null),
      await world.plan(7, null),
    ]
    const [stays, goes] = [await world.holder(from), await world.holder(from)]
    const made = await move({ plan_id: to.id, filter: { plan_ids: [from.id] } })
    await client.ok('PUT', `/company-plans/${stays}`, { base_plan_id: other.id })
    const back = await client.ok('POST', `/plan-moves/${made.id}/revert`)
    t.same(await world.outcomes(back.id), { [stays]: 'skipped changed_since', [goes]: 'completed' })
    await client.ok('PUT', `/company-plans/${stays}`, { base_plan_id: from.id })
    const again = await move({ plan_id: to.id, filter: { plan_ids: [from.id] } })
    await client.ok('DELETE', `/plans/${from.id}`)
    const gone = await client.ok('POST', `/plan-moves/${again.id}/revert`)
    t.same(await world.outcomes(gone.id), { [stays]: 'failed version_gone', [goes]: 'failed version_gone' })
    t.equal((await world.stands(goes)).plan, to.id)
  })

  await t.test('MI-15 add-ons that do not go with the plan, and limits that would be exceeded', async t => {
    const [from, to] = [await world.plan(10, null), await world.plan(5, null)]
    const addOn = await client.ok('POST', '/plans', { name: 'Extra', plan_type: 'add_on' })
    const { draft_version: draft } = await client.ok('GET', `/plans/${addOn.id}`)
    await client.ok('PUT', `/plans/version/${draft.id}/publish`, { migration_strategy: 'leave' })
    const [plain, extra, heavy] = [
      await world.holder(from),
      await world.holder(from),
      await world.holder(from),
    ]
    await client.ok('PUT', `/company-plans/${extra}`, { add_on_ids: [addOn.id] })
    await world.use(heavy, 6)
    const add_on_compatibilities = [{ source_plan_id: addOn.id, compatible_plan_ids: [from.id] }]
    const settings = { add_on_compatibilities, prevent_downgrades_when_over_limit: true }
    await offerPlans(client, tollgate, { fallback: free.id }, settings)
    const preview = await client.ok('POST', '/plan-moves/preview', {
      plan_id: to.id,
      filter: { plan_ids: [from.id] },
    })
    t.match(preview.totals, { would_move: 1, would_fail: 2 }, 'MI-5')
    t.same(preview.totals.failures, [
      { reason: 'incompatible_add_on', companies: 1 },
      { reason: 'over_limit', companies: 1 },
    ])
    const made = await move({ plan_id: to.id, filter: { plan_ids: [from.id] } })
    t.same(await world.outcomes(made.id), {
      [plain]: 'completed',
      [extra]: 'failed incompatible_add_on',
      [heavy]: 'failed over_limit',
    })
    await offerPlans(client, tollgate, { fallback: free.id })
    await client.ok('POST', `/plan-moves/${made.id}/retry`, {})
    t.same(await world.outcomes(made.id), {
      [plain]: 'completed',
      [extra]: 'completed',
      [heavy]: 'completed',
    })
  })

  await t.test('MI-10 targets and dates that are refused', async t => {
    const to = await world.plan(5, null)
    const filter = { all: true }
    const addOn = await client.ok('POST', '/plans', { name: 'Added', plan_type: 'add_on' })
    const id = await world.company()
    const custom = await client.ok('POST', '/custom-plans', { company_id: id, name: 'Own' })
    const unpublished = await client.ok('POST', '/plans', { name: 'Draft', plan_type: 'plan' })
    t.equal(await refused({ plan_id: 'plan_none', filter }), 404)
    t.equal(await refused({ plan_id: to.id, plan_version_id: 'plvr_none', filter }), 404)
    for (const plan of [addOn, custom, unpublished]) t.equal(await refused({ plan_id: plan.id, filter }), 400)
    t.equal(await refused({ plan_id: to.id, filter, when: 'scheduled' }), 400)
    t.equal(await refused({ plan_id: to.id, filter, scheduled_at: '2032-01-01T00:00:00Z' }), 400)
    t.equal(
      await refused({ plan_id: to.id, filter, when: 'scheduled', scheduled_at: '2030-01-01T00:00:00Z' }),
      400,
    )
    t.equal((await client.get('/plan-moves/pmov_none')).status, 404)
    const body = { plan_id: to.id, filter: { company_ids: [id] }, idempotency_key: 'move-once' }
    const [first, second] = [await client.post('/plan-moves', body), await client.post('/plan-moves', body)]
    t.same([first.status, second.body.data.id], [201, first.body.data.id], 'decision 37')
  })
})
