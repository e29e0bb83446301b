// Previews of migrations, drafts and moves: gains and losses, limits exceeded, prices, dates, failures, sums (MI-1…5).
import t from 'tap'
import { booleanFeature } from '../control/planned.js'
import { startHere } from '../harness.js'
import { type Body, MovesWorld } from './moves-world.js'

t.test('previews', async t => {
  const { client } = await startHere(t)
  const world = await MovesWorld.of(client)
  await world.clock('2031-01-10T00:00:00.000Z')
  const of = (preview: Body, id: string) => preview.companies.find((one: Body) => one.company_id === id)
  const changes = (list: Body[]) => list.map(one => [one.feature_name, one.before?.limit, one.after?.limit])
  const sso = await booleanFeature(client, 'SSO')
  const override = (company: string, value: number) =>
    client.ok('POST', '/company-overrides', {
      company_id: company,
      ...world.limit(value),
      metric_period: 'current_month',
    })

  await t.test('MI-1, MI-2 a draft: the publish does what the preview says', async t => {
    const plan = await world.plan(100, 4000, { seat: 200 })
    const [light, heavy, apart, seated] = [
      await world.payer(plan),
      await world.payer(plan),
      await world.payer(plan),
      await world.payer(plan, { seats: 4 }),
    ]
    await world.use(heavy, 70)
    await override(apart, 1000)
    await client.ok('POST', '/plan-entitlements', {
      plan_id: plan.id,
      feature_id: sso.id,
      value_type: 'boolean',
      value_bool: true,
    })
    const draft = await world.draft(plan.id, 50, 4500)
    const preview = await client.ok('POST', '/plan-version-migrations/preview', {
      plan_id: plan.id,
      plan_version_id_to: draft,
    })
    const before = await world.stands(light)
    t.match(of(preview, light), {
      would_fail: false,
      has_billing_changes: true,
      will_update_subscription: true,
    })
    t.same(changes(of(preview, light).losses), [['Calls', 100, 50]])
    t.same(changes(of(preview, light).gains), [['SSO', undefined, null]])
    t.same(of(preview, light).prices, [{ currency: 'usd', interval_months: 1, before: 4000, after: 4500 }])
    t.same(of(preview, seated).prices, [{ currency: 'usd', interval_months: 1, before: 4800, after: 5300 }])
    t.same(of(preview, light).end_of_billing_period_at, '2031-02-10T00:00:00.000Z')
    t.same(of(preview, light).exceeded_limits, [])
    t.match(of(preview, heavy).exceeded_limits, [{ feature_name: 'Calls', usage: 70, limit: 50 }])
    t.same(of(preview, apart).losses, [], 'MI-2 its override stays in force')
    t.match(preview.totals, {
      companies: 4,
      would_move: 4,
      would_fail: 0,
      exceeding: 1,
      losing: 3,
      gaining: 4,
      price_changing: 4,
      truncated: false,
      prices: [{ currency: 'usd', interval_months: 1, before: 16_800, after: 18_800 }],
    })
    t.match(preview.totals.losses, [{ feature_name: 'Calls', companies: 3 }])
    t.same(preview.totals.strategies, [
      { strategy: 'immediate', moves_now: 4, waits: 0, waits_without_date: 0, stays: 0, fails: 0 },
      {
        strategy: 'end_of_billing_period',
        moves_now: 0,
        waits: 4,
        waits_without_date: 0,
        stays: 0,
        fails: 0,
      },
      { strategy: 'scheduled', moves_now: 0, waits: 4, waits_without_date: 0, stays: 0, fails: 0 },
      { strategy: 'leave', moves_now: 0, waits: 0, waits_without_date: 0, stays: 4, fails: 0 },
    ])
    t.same(await world.stands(light), before, 'MI-1 nothing is changed')
    await client.ok('PUT', `/plans/version/${draft}/publish`, { migration_strategy: 'immediate' })
    t.match(await world.stands(light), { limit: 50, pays: '4500×1' })
    t.match(await world.stands(seated), { pays: '200×4 4500×1' })
  })

  await t.test('MI-4 pages show parts, the totals are those of all', async t => {
    const [from, to] = [await world.plan(10, null), await world.plan(20, null)]
    const ids = [await world.holder(from), await world.holder(from), await world.holder(from)].sort()
    const page = (query: string) =>
      client.ok('POST', `/plan-moves/preview?${query}`, { plan_id: to.id, filter: { plan_ids: [from.id] } })
    const [first, second] = [await page('limit=2'), await page('limit=2&offset=2')]
    t.same(
      [...first.companies, ...second.companies].map((one: Body) => one.company_id),
      ids,
    )
    t.same(first.totals, second.totals)
    t.match(first.totals, { companies: 3, gaining: 3, losing: 0 })
  })

  await t.test('MI-4, MI-5 dates that are unknown, and companies that fail', async t => {
    const [from, to] = [await world.plan(10, 5000), await world.plan(20, 6000)]
    const [ends, pays] = [await world.payer(from), await world.payer(from)]
    await client.ok('POST', '/manage-plan/subscription/cancel', {
      company_id: ends,
      cancel_immediately: false,
    })
    const given = await world.holder(await world.plan(1, null))
    const preview = await client.ok('POST', '/plan-moves/preview', {
      plan_id: to.id,
      filter: { company_ids: [ends, pays, given] },
    })
    t.match(of(preview, ends), { end_of_billing_period_at: null, would_fail: false })
    t.match(of(preview, given), { failure_reason: 'not_paid', would_fail: true, note: /manage-plan/ })
    t.same([of(preview, given).gains, of(preview, given).losses, of(preview, given).prices], [[], [], []])
    t.match(preview.totals, { companies: 3, would_move: 2, would_fail: 1, gaining: 2 })
    t.same(preview.totals.failures, [{ reason: 'not_paid', companies: 1 }])
    const [, atEnd] = preview.totals.strategies
    t.match(atEnd, { waits: 1, waits_without_date: 1, fails: 1, moves_now: 0 })
  })

  await t.test('MI-3 what is a gain and what a loss', async t => {
    const credit = await client.ok('POST', '/billing/credits', {
      name: 'Coins',
      description: '',
      currency: 'usd',
    })
    const other = await client.ok('POST', '/billing/credits', {
      name: 'Gems',
      description: '',
      currency: 'usd',
    })
    const limited = (value: number, period = 'current_month') => ({
      value_type: 'numeric',
      value_numeric: value,
      metric_period: period,
    })
    const paid = (rate: number, id = credit.id) => ({
      value_type: 'credit',
      value_credit_id: id,
      credit_consumption_rate: rate,
    })
    const open = { value_type: 'unlimited' }
    const cases: [string, object, object, 'gain' | 'loss' | 'none'][] = [
      ['a higher limit', limited(5), limited(6), 'gain'],
      ['a lower limit', limited(5), limited(4), 'loss'],
      ['the same limit', limited(5), limited(5), 'none'],
      ['no limit', limited(5), open, 'gain'],
      ['a limit', open, limited(5), 'loss'],
      ['another window', limited(5, 'current_day'), limited(50), 'loss'],
      ['a lower rate', paid(2), paid(1), 'gain'],
      ['a higher rate', paid(1), paid(2), 'loss'],
      ['another credit', paid(2), paid(1, other.id), 'loss'],
      ['credits in place of a limit', limited(5), paid(1), 'loss'],
      ['a limit in place of credits', paid(1), limited(5), 'loss'],
      ['no limit in place of credits', paid(1), open, 'gain'],
    ]
    for (const [name, before, after, expected] of cases) {
      const plan = async (terms: object) => {
        const made = await client.ok('POST', '/plans', {
          name: 'P',
          plan_type: 'plan',
          entitlements: [{ feature_id: world.calls.id, ...terms }],
        })
        const { draft_version: draft } = await client.ok('GET', `/plans/${made.id}`)
        await client.ok('PUT', `/plans/version/${draft.id}/publish`, { migration_strategy: 'leave' })
        return made
      }
      const [from, to] = [await plan(before), await plan(after)]
      await world.holder(from)
      const { totals } = await client.ok('POST', '/plan-moves/preview', {
        plan_id: to.id,
        filter: { plan_ids: [from.id] },
      })
      const found = totals.gaining === 1 ? 'gain' : totals.losing === 1 ? 'loss' : 'none'
      t.equal(found, expected, `${name} is ${expected}`)
    }
  })
})
