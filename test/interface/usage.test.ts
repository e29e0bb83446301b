// Usage over HTTP (usage.md): what companies used now, over time and by user, told from real events.

import t from 'tap'
import { companyOf, eventFeature, publishDraftOf, publishedPlan } from '../control/planned.js'
import { isShaped, type Shape } from '../control/shape.js'
import { entitlement, stored } from '../core/make.js'
import { type Client, startHere } from '../harness.js'
import { seed } from '../random.js'
import { randomFrom } from '../workers/history.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const iso = (ms: number): string => new Date(ms).toISOString()
const today = Math.floor(Date.now() / dayMs) * dayMs

const figures = `allocation credit_consumption_rate credit_grant_reason credit_remaining credit_total credit_used
  effective_limit effective_price entitlement_expiration_date metric_reset_at month_reset overuse percent_used period
  price_behavior soft_limit usage`
const usageShape: Shape = {
  required:
    'access allocation_type entitlement_id entitlement_type entitlement_source has_valid_allocation is_unlimited',
  nullable: figures,
  optional: `company_override credit_grant_counts credit_grant_details credit_usage_aggregation feature
    monthly_usage_based_price plan plan_entitlement quarterly_usage_based_price yearly_usage_based_price`,
}
const seriesShape: Shape = {
  required: 'feature_id feature_type limits usage_points',
  nullable: 'period_type',
}
const limitShape: Shape = {
  required: 'effective_at is_soft_limit limit_source',
  nullable: 'limit_value plan_id price_behavior',
}
const historyShape: Shape = {
  required: 'company_id event_subtype feature_id period_end period_start usage',
}

/** Quantities sent, to be summed by hand. */
interface Sent {
  readonly atMs: number
  readonly quantity: number
  readonly user: string | null
}

async function send(client: Client, event: string, slug: string, sent: readonly Sent[]): Promise<void> {
  for (let i = 0; i < sent.length; i += 500) {
    const events = sent.slice(i, i + 500).map(({ atMs, quantity, user }) => ({
      event_type: 'track',
      backfill: true,
      trusted_client_clock: true,
      sent_at: iso(atMs),
      body: { event, company: { slug }, quantity, ...(user && { user: { email: user } }) },
    }))
    const { status } = await client.post('/event-batch', { events })
    if (status !== 201) throw new Error(`batch answered ${status}`)
  }
}

const subscribed = {
  id: 'sub_1',
  externalId: 'sub_1',
  status: 'active',
  intervalMonths: 1,
  cancelAtPeriodEnd: false,
  cancelAtMs: null,
  trialEndMs: null,
  trialEndSetting: null,
  productIds: [],
} as const

/** The caller that changes plans and subscriptions here. */
const cause = { action: 'manage_plan', actorType: 'api_key', apiKeyId: null } as const

const total = (sent: readonly Sent[], fromMs: number, toMs: number): number =>
  sent.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).reduce((sum, one) => sum + one.quantity, 0)

t.test('usage', async t => {
  t.comment(`seed ${seed}`)
  const random = randomFrom(seed)
  const { client, tollgate } = await startHere(t)
  const override = (body: object) => client.ok('POST', '/company-overrides', body)
  const usageOf = (query: string) => client.ok('GET', `/feature-usage?${query}`)

  await t.test('feature usage', async t => {
    const calls = await eventFeature(client, 'Calls', 'usage_call')
    const exports = await eventFeature(client, 'Exports', 'usage_export')
    const seats = await client.ok('POST', '/features', {
      name: 'Seats',
      description: '',
      feature_type: 'trait',
    })
    const beta = await client.ok('POST', '/features', {
      name: 'beta',
      description: '',
      feature_type: 'boolean',
    })
    const companyId = await companyOf(client, tollgate, 'acme')

    await t.test(
      'US-5 without entitlement no row; one by plan and override; negative ones on request not',
      async t => {
        t.same(await usageOf(`company_id=${companyId}`), [])
        const plan = await publishedPlan(client, 'Usage', [
          { feature_id: calls.id, value_type: 'numeric', value_numeric: 100, metric_period: 'current_month' },
          { feature_id: beta.id, value_type: 'boolean', value_bool: false },
        ])
        await client.ok('POST', '/companies', { keys: { slug: 'planned' }, base_plan_id: plan.id })
        const rows = await usageOf('company_keys[slug]=planned')
        t.match(
          rows,
          [
            {
              feature: { id: calls.id },
              plan: { id: plan.id },
              plan_entitlement: { plan_id: plan.id, value_numeric: 100 },
            },
            { feature: { id: beta.id }, allocation_type: 'boolean', access: false, usage: null },
          ],
          'US-8 by name',
        )
        t.equal(rows[0].entitlement_source, 'plan')
        t.equal(rows[0].entitlement_id, rows[0].plan_entitlement.id)
        for (const row of rows) isShaped(t, row, usageShape, 'FeatureUsage')
        const positive = await usageOf('company_keys[slug]=planned&without_negative_entitlements=true')
        t.same(
          positive.map((row: { feature: { id: string } }) => row.feature.id),
          [calls.id],
        )
      },
    )

    await t.test('US-6, US-51 figures are those of the check, at once', async t => {
      const overridden = await override({
        company_id: companyId,
        feature_id: calls.id,
        value_type: 'numeric',
        value_numeric: 3,
        metric_period: 'current_day',
        expiration_date: iso(Date.now() + dayMs),
        note: 'for a day',
      })
      for (const quantity of [1, 1, 1]) {
        const [row] = await usageOf(`company_id=${companyId}`)
        t.equal(row.access, true)
        await client.ok('POST', '/events', {
          event_type: 'track',
          body: { event: 'usage_call', company: { slug: 'acme' }, quantity },
        })
      }
      const [row] = await usageOf(`company_id=${companyId}`)
      t.match(row, {
        access: false,
        allocation: 3,
        allocation_type: 'numeric',
        usage: 3,
        effective_limit: 3,
        percent_used: 100,
        overuse: null,
        period: 'current_day',
        month_reset: null,
        metric_reset_at: iso(today + dayMs),
        entitlement_id: overridden.id,
        entitlement_type: 'company_override',
        entitlement_source: 'company_override',
        entitlement_expiration_date: overridden.expiration_date,
        is_unlimited: false,
        has_valid_allocation: true,
      })
      const { company: _, ...alone } = overridden
      t.same(row.company_override, alone)
      isShaped(t, row, usageShape, 'FeatureUsage')
      const flag = await client.ok('POST', `/flags/${calls.flags[0].key}/check`, {
        company: { slug: 'acme' },
      })
      t.equal(row.access, flag.value)
    })

    await t.test('US-6 worked example: soft limit 500, hard limit 5000 at 2 cents', async t => {
      const draft = await client.ok('POST', '/plans', { name: 'Overage', plan_type: 'plan' })
      await client.ok('POST', '/plan-entitlements', {
        plan_id: draft.id,
        feature_id: exports.id,
        value_type: 'numeric',
        value_numeric: 5000,
        metric_period: 'current_month',
        price_behavior: 'overage',
        soft_limit: 500,
        monthly_unit_price: 2,
        currency: 'usd',
      })
      const plan = await publishDraftOf(client, draft.id)
      await client.ok('POST', '/companies', { keys: { slug: 'over' }, base_plan_id: plan.id })
      const use = (quantity: number) =>
        client.ok('POST', '/events', {
          event_type: 'track',
          body: { event: 'usage_export', company: { slug: 'over' }, quantity },
        })
      t.match(await usageOf('company_keys[slug]=over'), [
        { usage: 0, effective_price: 0, percent_used: 0, overuse: 0 },
      ])
      await use(1500)
      t.match(await usageOf('company_keys[slug]=over'), [
        {
          usage: 1500,
          soft_limit: 500,
          effective_limit: 500,
          overuse: 1000,
          percent_used: 300,
          effective_price: 2,
          access: true,
          price_behavior: 'overage',
          monthly_usage_based_price: { price: 2 },
        },
      ])
      await use(3500)
      t.match(await usageOf('company_keys[slug]=over'), [{ usage: 5000, access: false }])
    })

    await t.test('US-6 a limit by trait is valid when the trait is a number', async t => {
      const limit = await client.ok('POST', '/entity-trait-definitions', {
        entity_type: 'company',
        hierarchy: ['seat_limit'],
        trait_type: 'number',
      })
      const id = await companyOf(client, tollgate, 'seated')
      await override({ company_id: id, feature_id: seats.id, value_type: 'trait', value_trait_id: limit.id })
      t.match(await usageOf(`company_id=${id}`), [{ has_valid_allocation: false, allocation: 0, usage: 0 }])
      await client.ok('POST', '/companies', { keys: { slug: 'seated' }, traits: { seat_limit: 5, seats: 2 } })
      t.match(await usageOf(`company_id=${id}`), [
        { has_valid_allocation: true, allocation: 5, usage: 2, percent_used: 40, period: null, access: true },
      ])
    })

    await t.test('US-8 filters, pages and counts', async t => {
      const id = await companyOf(client, tollgate, 'many')
      for (const feature of [calls, exports, seats, beta])
        await override({
          company_id: id,
          feature_id: feature.id,
          value_type: feature === beta ? 'boolean' : 'unlimited',
          value_bool: true,
        })
      const names = async (query: string) =>
        (await usageOf(`company_id=${id}&${query}`)).map(
          (row: { feature: { name: string } }) => row.feature.name,
        )
      t.same(await names(''), ['Calls', 'Exports', 'Seats', 'beta'])
      t.same(await names('limit=2&offset=1'), ['Exports', 'Seats'])
      t.same(await names('q=eXPORT'), ['Exports'])
      t.same(await names(`feature_ids=${seats.id}&feature_ids=${calls.id}`), ['Calls', 'Seats'])
      t.same(await names('managed_by=native'), ['Calls', 'Exports', 'Seats', 'beta'])
      t.same(await names('managed_by=psp'), [])
      t.same(await client.ok('GET', `/feature-usage/count?company_id=${id}&q=export&limit=1`), { count: 1 })
      const byKeys = await client.ok('GET', '/usage-by-company?keys[slug]=many')
      t.same(byKeys.features, await usageOf(`company_id=${id}`))
      t.same((await client.ok('GET', '/usage-by-company?slug=many')).features.length, 4)
    })

    await t.test('the subject: 400 without one, 404 for an unknown one', async t => {
      const status = async (path: string) => (await client.get(path)).status
      t.equal(await status('/feature-usage'), 400)
      t.equal(await status('/feature-usage/count'), 400)
      t.equal(await status('/feature-usage?company_id=comp_22222222222'), 404)
      t.equal(await status('/feature-usage?company_keys[slug]=nobody'), 404)
      t.equal(await status('/usage-by-company'), 400)
      t.equal(await status('/usage-by-company?keys[slug]=nobody'), 404)
      t.equal(await status(`/feature-usage?company_id=${companyId}&managed_by=me`), 400)
    })
  })

  // sixty days of random use, corrections among it
  const feature = await eventFeature(client, 'Runs', 'usage_run')
  const twin = await eventFeature(client, 'Runs too', 'usage_run')
  const other = await eventFeature(client, 'Walks', 'usage_walk')
  const users = ['u1@x', 'u2@x', null]
  const randomUse = (count: number): Sent[] =>
    Array.from({ length: count }, () => ({
      atMs: today - 60 * dayMs + random(60 * 24 * 60) * 60_000 + random(60_000),
      quantity: [-2, -1, 1, 2, 3, 4, 5][random(7)]!, // never 0 (EV-10)
      user: users[random(3)]!,
    }))
  const runs = randomUse(700)
  const rivals = randomUse(200)
  const walks = randomUse(100)
  await send(client, 'usage_run', 'runner', runs)
  await send(client, 'usage_run', 'rival', rivals)
  await send(client, 'usage_walk', 'runner', walks)
  const runner = (await client.ok('GET', '/companies/lookup?slug=runner')).id
  const rival = (await client.ok('GET', '/companies/lookup?slug=rival')).id

  await t.test('time series', async t => {
    const series = (query: string) =>
      client.ok('GET', `/feature-usage-timeseries?company_id=${runner}&feature_id=${feature.id}&${query}`)
    const window = (fromMs: number, toMs: number) => `start_time=${iso(fromMs)}&end_time=${iso(toMs)}`

    await t.test(
      'US-11 without a period values are cumulative since ever; days without usage have a point',
      async t => {
        const [fromMs, toMs] = [today - 70 * dayMs, today - 40 * dayMs + 90 * 60_000 + 7]
        const answer = await series(window(fromMs, toMs))
        isShaped(t, answer, seriesShape, 'FeatureUsageTimeSeries')
        t.match(answer, {
          feature_id: feature.id,
          feature_type: 'event',
          period_type: 'all_time',
          limits: [],
        })
        const expected = Array.from({ length: 31 }, (_, i) => {
          const endMs = Math.min(fromMs + (i + 1) * dayMs, toMs)
          return { timestamp: iso(endMs), usage: total(runs, 0, endMs), period_start: null, period_end: null }
        })
        t.same(answer.usage_points, expected)
        t.equal(answer.usage_points[0].usage, 0, 'before the first event')
      },
    )

    const overridden = await override({
      company_id: runner,
      feature_id: feature.id,
      value_type: 'numeric',
      value_numeric: 50,
      metric_period: 'current_month',
    })
    const monthOf = (ms: number): number =>
      Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth(), 1)

    await t.test(
      'US-10, decision 16 values fall back at each reset; the day that ends there shows the full period',
      async t => {
        const [fromMs, toMs] = [today - 59 * dayMs, today]
        const { usage_points: points, period_type } = await series(window(fromMs, toMs))
        t.equal(period_type, 'current_month')
        t.same(
          points.map((point: { usage: number }) => point.usage),
          Array.from({ length: 59 }, (_, i) => {
            const endMs = fromMs + (i + 1) * dayMs
            return total(runs, monthOf(endMs - 1), endMs)
          }),
        )
        const reset = points.find(
          (point: { timestamp: string }) =>
            Date.parse(point.timestamp) === monthOf(Date.parse(point.timestamp)),
        )
        const endMs = Date.parse(reset.timestamp)
        t.equal(reset.usage, total(runs, monthOf(endMs - 1), endMs), 'the whole month')
        t.equal(reset.period_end, reset.timestamp)
      },
    )

    await t.test('US-11, US-12 other granularities', async t => {
      const fromMs = today - 20 * dayMs + 25 * 60_000
      const hourly = await series(`${window(fromMs, fromMs + 30 * hourMs)}&granularity=hourly`)
      t.same(
        hourly.usage_points.map((point: { timestamp: string; usage: number }) => [
          point.timestamp,
          point.usage,
        ]),
        Array.from({ length: 31 }, (_, i) => {
          const endMs = Math.min(today - 20 * dayMs + (i + 1) * hourMs, fromMs + 30 * hourMs)
          return [iso(endMs), total(runs, monthOf(endMs - 1), endMs)]
        }),
      )
      const weekly = await series(`${window(today - 40 * dayMs, today)}&granularity=weekly`)
      for (const point of weekly.usage_points.slice(0, -1))
        t.equal(new Date(point.timestamp).getUTCDay(), 0, 'weeks end on Sunday 0:00')
      const monthly = await series(`${window(today - 59 * dayMs, today)}&granularity=monthly`)
      t.equal(monthly.usage_points.at(-1).usage, total(runs, monthOf(today - 1), today))
    })

    await t.test('US-13 limits with the instant they came into force', async t => {
      const { limits } = await series(window(today - 3 * dayMs, today + dayMs))
      t.same(limits, [
        {
          effective_at: overridden.created_at,
          is_soft_limit: false,
          limit_source: 'company_override',
          limit_value: 50,
          plan_id: null,
          price_behavior: null,
        },
      ])
      isShaped(t, limits[0], limitShape, 'LimitTimeSeriesPoint')
    })

    await t.test(
      'US-10, US-51 what a series ends with now is what feature usage counts, in every period',
      async t => {
        const counted = await eventFeature(client, 'Cycled', 'usage_cycled')
        const company = await client.ok('POST', '/companies', { keys: { slug: 'cycled' } })
        const periodStartMs = today - 10 * dayMs + 5 * hourMs + 20 * 60_000
        const subscription = {
          ...subscribed,
          id: 'sub_cycled',
          externalId: 'sub_cycled',
          periodStartMs,
          periodEndMs: periodStartMs + 28 * dayMs,
        }
        const put = { type: 'put_subscription', subscription, cause } as const
        await tollgate.services.shards.ask('c', company.environment_id, company.id, put, Date.now())
        const given = await override({
          company_id: company.id,
          feature_id: counted.id,
          value_type: 'unlimited',
        })
        const used = [
          ...randomUse(300).map(one => ({ ...one, atMs: today - random(30 * 24 * 3_600) * 1_000 })),
          { atMs: Date.now() - 1, quantity: 2, user: null },
        ]
        for (let i = 0; i < used.length; i += 100) {
          const events = used.slice(i, i + 100).map(({ atMs, quantity }) => ({
            event_type: 'track',
            trusted_client_clock: true,
            sent_at: iso(atMs),
            body: { event: 'usage_cycled', company: { slug: 'cycled' }, quantity },
          }))
          await client.ok('POST', '/event-batch', { events })
        }
        for (const [metric_period, metric_period_month_reset, fromMs] of [
          ['all_time', null, 0],
          ['current_day', null, today],
          ['current_week', null, today - new Date(today).getUTCDay() * dayMs],
          ['current_month', 'first_of_month', monthOf(today)],
          ['current_month', 'billing_cycle', periodStartMs],
        ] as const) {
          const value = {
            value_type: 'numeric',
            value_numeric: 1_000,
            metric_period,
            metric_period_month_reset,
          }
          await client.ok('PUT', `/company-overrides/${given.id}`, value)
          const [row] = await usageOf(`company_id=${company.id}`)
          const { usage_points: points } = await client.ok(
            'GET',
            `/feature-usage-timeseries?company_id=${company.id}&feature_id=${counted.id}&${window(today - 2 * dayMs, today + dayMs)}`,
          )
          const name = `${metric_period} ${metric_period_month_reset}`
          t.equal(row.usage, total(used, fromMs, Date.now()), name)
          t.equal(points.at(-1).usage, row.usage, name)
          t.equal(points.at(-1).period_end, row.metric_reset_at, name)
        }
      },
    )

    await t.test('US-13 every change of plan and override inside the range is listed', async t => {
      const counted = await eventFeature(client, 'Changing', 'usage_changing')
      const limit = (value_numeric: number) => ({
        feature_id: counted.id,
        value_type: 'numeric',
        value_numeric,
        metric_period: 'current_month',
      })
      const first = await publishedPlan(client, 'Changing 1', [limit(10)])
      const second = await publishedPlan(client, 'Changing 2', [limit(20)])
      const before = Date.now()
      const company = await client.ok('POST', '/companies', {
        keys: { slug: 'changing' },
        base_plan_id: first.id,
      })
      const pause = () => new Promise(resolve => setTimeout(resolve, 5))
      await pause()
      const given = await override({ company_id: company.id, ...limit(30) })
      await pause()
      await client.ok('PUT', `/company-overrides/${given.id}`, limit(40))
      await pause()
      await client.ok('DELETE', `/company-overrides/${given.id}`)
      await pause()
      const change = {
        type: 'change_plans',
        basePlanId: second.id,
        addOnIds: [],
        versionIds: {},
        priceIds: {},
        commitments: [],
        cause,
      } as const
      await tollgate.services.shards.ask('c', company.environment_id, company.id, change, Date.now())
      const { limits } = await client.ok(
        'GET',
        `/feature-usage-timeseries?company_id=${company.id}&feature_id=${counted.id}&${window(today - dayMs, today + 2 * dayMs)}`,
      )
      const told = limits.map(
        (one: { limit_value: number; limit_source: string; plan_id: string | null }) => [
          one.limit_value,
          one.limit_source,
          one.plan_id,
        ],
      )
      t.same(told, [
        [10, 'plan_entitlement', first.id],
        [30, 'company_override', null],
        [40, 'company_override', null],
        [10, 'plan_entitlement', first.id],
        [20, 'plan_entitlement', second.id],
      ])
      const times = limits.map((one: { effective_at: string }) => Date.parse(one.effective_at))
      t.same(
        times,
        [...times].sort((a, b) => a - b),
      )
      t.ok(times[0] >= before && times.at(-1) <= Date.now())
    })

    await t.test('US-51 an acknowledged event is in the next answer', async t => {
      const query = window(today, today + dayMs)
      const before = (await series(query)).usage_points[0].usage
      await client.ok('POST', '/events', {
        event_type: 'track',
        body: { event: 'usage_run', company: { slug: 'runner' }, quantity: 5 },
      })
      runs.push({ atMs: Date.now(), quantity: 5, user: null })
      t.equal((await series(query)).usage_points[0].usage, before + 5)
    })

    await t.test('US-11 trait features: the value last known', async t => {
      const trait = await client.ok('POST', '/features', {
        name: 'Desks',
        description: '',
        feature_type: 'trait',
      })
      await client.ok('POST', '/companies', { keys: { slug: 'runner' }, traits: { desks: 7 } })
      const answer = await client.ok(
        'GET',
        `/feature-usage-timeseries?company_id=${runner}&feature_id=${trait.id}&${window(today - dayMs, today + dayMs)}`,
      )
      t.match(answer, {
        feature_type: 'trait',
        period_type: null,
        usage_points: [{ usage: 0 }, { usage: 7 }],
      })
    })

    await t.test('US-12 what is refused', async t => {
      const status = async (query: string, company = runner, of = feature.id) =>
        (await client.get(`/feature-usage-timeseries?company_id=${company}&feature_id=${of}&${query}`)).status
      const day = window(today - dayMs, today)
      t.equal(await status(day), 200)
      t.equal(await status(window(today, today)), 400, 'start = end')
      t.equal(await status(window(today, today - dayMs)), 400)
      t.equal(await status(window(today - 366 * dayMs, today)), 200, '366 buckets')
      t.equal(await status(window(today - 366 * dayMs, today + 1)), 400, '367 buckets')
      t.equal(await status(`${day}&granularity=yearly`), 400)
      t.equal(await status(`start_time=${iso(today)}`), 400)
      t.equal(await status(day, 'comp_22222222222'), 404)
      t.equal(await status(day, runner, 'feat_22222222222'), 404)
    })
  })

  await t.test('history', async t => {
    const history = (query: string) => client.ok('GET', `/feature-usage-history?${query}`)
    const window = (fromMs: number, toMs: number) => `start_time=${iso(fromMs)}&end_time=${iso(toMs)}`
    interface Row {
      company_id: string
      event_subtype: string
      feature_id: string
      period_start: string
      period_end: string
      usage: number
    }
    const [fromMs, toMs] = [today - 30 * dayMs + 5 * hourMs, today - 10 * dayMs + 11 * hourMs]

    await t.test(
      'US-20, US-22 without granularity one row per company and feature; two features on one event, two rows',
      async t => {
        const rows: Row[] = await history(
          `${window(fromMs, toMs)}&feature_ids=${feature.id}&feature_ids=${twin.id}&feature_ids=${other.id}`,
        )
        const expected = [runner, rival].sort().flatMap(companyId => {
          const row = (featureId: string, subtype: string, usage: number) => ({
            company_id: companyId,
            feature_id: featureId,
            event_subtype: subtype,
            period_start: iso(fromMs),
            period_end: iso(toMs),
            usage,
          })
          const used = total(companyId === runner ? runs : rivals, fromMs, toMs)
          const both = [row(feature.id, 'usage_run', used), row(twin.id, 'usage_run', used)]
          return companyId === runner
            ? [...both, row(other.id, 'usage_walk', total(walks, fromMs, toMs))]
            : both
        })
        t.same(rows, expected)
        for (const row of rows) isShaped(t, row, historyShape, 'FeatureUsageHistory')
      },
    )

    for (const granularity of ['hourly', 'daily', 'weekly', 'monthly'] as const)
      await t.test(
        `US-20, US-21, US-24 ${granularity} increments sum to the window; none without events`,
        async t => {
          const from = granularity === 'hourly' ? toMs - 200 * hourMs : fromMs
          const rows: Row[] = await history(
            `${window(from, toMs)}&feature_ids=${feature.id}&granularity=${granularity}&limit=250&company_ids=${runner}`,
          )
          t.equal(
            rows.reduce((sum, row) => sum + row.usage, 0),
            total(runs, from, toMs),
          )
          t.ok(
            Date.parse(rows[0]!.period_start) >= from && Date.parse(rows.at(-1)!.period_end) <= toMs,
            'clamped',
          )
          for (const row of rows) {
            const [start, end] = [Date.parse(row.period_start), Date.parse(row.period_end)]
            const inside = runs.filter(({ atMs }) => atMs >= start && atMs < end)
            t.ok(inside.length > 0, 'events in every row')
            t.equal(row.usage, total(runs, start, end))
          }
          const starts = rows.map(row => row.period_start)
          t.same(starts, [...starts].sort(), 'by time')
        },
      )

    await t.test('US-21 a net 0 with events is a row, a correction may make it negative', async t => {
      const atMs = today - 5 * dayMs + hourMs
      const given = (quantity: number, offset: number): Sent => ({
        atMs: atMs + offset,
        quantity,
        user: null,
      })
      await send(client, 'usage_walk', 'zero', [given(4, 0), given(-4, 1), given(-3, hourMs)])
      const zero = (await client.ok('GET', '/companies/lookup?slug=zero')).id
      const rows: Row[] = await history(
        `${window(atMs, atMs + 5 * hourMs)}&company_ids=${zero}&granularity=hourly`,
      )
      t.same(
        rows.map(row => row.usage),
        [0, -3],
      )
    })

    await t.test('US-22 pages are over company, event and bucket', async t => {
      const query = `${window(fromMs, toMs)}&feature_ids=${feature.id}&feature_ids=${twin.id}&granularity=daily`
      const all: Row[] = await history(`${query}&limit=250`)
      const paged: Row[] = []
      for (let offset = 0; ; offset += 7) {
        const page: Row[] = await history(`${query}&limit=7&offset=${offset}`)
        if (page.length === 0) break
        t.ok(page.length <= 14)
        paged.push(...page)
      }
      t.same(paged, all)
      t.ok(all.length > 40, 'two rows per page entry')
    })

    await t.test('US-20, US-22 what is refused; US-23 only secret keys', async t => {
      const get = (query: string, from = client) => from.get(`/feature-usage-history?${query}`)
      const gone = today - 370 * dayMs
      t.match(await get(window(gone + 1, toMs)), { status: 400, body: { error: /hour/ } })
      t.match(await get(window(gone, gone + 60_000)), { status: 400, body: { error: /hour/ } })
      t.equal((await get(window(toMs, fromMs))).status, 400)
      t.equal((await get(`start_time=${iso(fromMs)}`)).status, 400)
      t.equal((await get(`${window(today - 16 * dayMs, today)}&granularity=hourly`)).status, 400)
      t.equal((await get(window(today - 1_000 * dayMs, today))).status, 200, 'one bucket may be long')
      const staging = await client.ok('POST', '/environments', {
        name: 'Public',
        environment_type: 'staging',
      })
      const publishable = client.as(staging.api_keys[0].secret)
      t.equal((await get(window(fromMs, toMs), publishable)).status, 403)
    })
  })

  await t.test('users', async t => {
    const window = (fromMs: number, toMs: number) => `start_time=${iso(fromMs)}&end_time=${iso(toMs)}`
    const byCompany = (query: string) =>
      client.ok('GET', `/user-usage-by-company?company_id=${runner}&${query}`)
    const userId = async (email: string): Promise<string> =>
      (await client.ok('GET', `/users/lookup?email=${encodeURIComponent(email)}`)).id
    const ids = new Map([
      ['u1@x', await userId('u1@x')],
      ['u2@x', await userId('u2@x')],
    ])
    interface Row {
      user_id: string | null
      user?: { id: string }
      feature: { id: string }
      value: number
      share: number
      last_seen: string
    }
    const named = new Map([
      ['usage_run', [feature.id, twin.id]],
      ['usage_walk', [other.id]],
    ])
    const sentTo = (event: string) => (event === 'usage_run' ? runs : walks)

    /** Rows as plain counting tells them, in the order of US-32. */
    function expected(fromMs: number, toMs: number) {
      const rows = [...named].flatMap(([event, featureIds]) => {
        const inside = sentTo(event).filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
        const all = total(inside, fromMs, toMs)
        return users.flatMap(user => {
          const own = inside.filter(one => one.user === user)
          if (own.length === 0) return []
          const value = total(own, fromMs, toMs)
          const share = all > 0 ? Math.min(1, Math.max(0, value / all)) : 0
          const last_seen = iso(Math.max(...own.map(one => one.atMs)))
          const user_id = user === null ? null : ids.get(user)!
          return featureIds.map(featureId => ({ user_id, feature: featureId, value, share, last_seen }))
        })
      })
      return rows
    }
    const told = (rows: readonly Row[]) =>
      rows.map(({ user_id, feature, value, share, last_seen }) => ({
        user_id,
        feature: feature.id,
        value,
        share,
        last_seen,
      }))
    const key = (row: { user_id: string | null; feature: string }) => `${row.feature} ${row.user_id}`
    const sorted = <T extends { user_id: string | null; feature: string }>(rows: readonly T[]) =>
      [...rows].sort((a, b) => (key(a) < key(b) ? -1 : 1))

    for (const [title, fromMs, toMs] of [
      ['whole hours', today - 45 * dayMs, today - 3 * dayMs],
      ['inside hours', today - 31 * dayMs + 12 * 60_000 + 345, today - 2 * dayMs + 47 * 60_000 + 9],
      ['inside one hour', today - 30 * dayMs + 60_000, today - 30 * dayMs + 50 * 60_000],
    ] as const)
      await t.test(
        `US-30, US-32 ${title}: value, share and last seen of each user, rows sum to the company's`,
        async t => {
          const answer = await byCompany(window(fromMs, toMs))
          t.match(answer, { start_time: iso(fromMs), end_time: iso(toMs), credits: [] })
          t.same(sorted(told(answer.rows)), sorted(expected(fromMs, toMs)))
          const values = answer.rows.map((row: Row) => row.value)
          t.same(
            values,
            [...values].sort((a, b) => b - a),
            'value descending',
          )
          const sum = answer.rows
            .filter((row: Row) => row.feature.id === feature.id)
            .reduce((all: number, row: Row) => all + row.value, 0)
          t.equal(sum, total(runs, fromMs, toMs))
          for (const row of answer.rows as Row[]) {
            isShaped(
              t,
              row,
              { required: 'last_seen value share', nullable: 'user_id', optional: 'feature user' },
              'UserFeatureUsage',
            )
            t.equal(row.user?.id ?? null, row.user_id)
          }
        },
      )

    await t.test('US-30 by default the 30 days ending now; one feature on request', async t => {
      const before = Date.now()
      const answer = await byCompany(`feature_id=${other.id}`)
      const endMs = Date.parse(answer.end_time)
      t.ok(endMs >= before && endMs <= Date.now())
      t.equal(Date.parse(answer.start_time), endMs - 30 * dayMs)
      const wanted = expected(endMs - 30 * dayMs, endMs).filter(row => row.feature === other.id)
      t.same(sorted(told(answer.rows)), sorted(wanted))
    })

    await t.test('US-35 one user: totals, and points of the days with usage', async t => {
      const [fromMs, toMs] = [today - 20 * dayMs + 30 * 60_000, today - 4 * dayMs]
      const id = ids.get('u1@x')!
      const answer = await client.ok(
        'GET',
        `/user-usage-detail?company_id=${runner}&user_id=${id}&${window(fromMs, toMs)}`,
      )
      isShaped(
        t,
        answer,
        {
          required: 'start_time end_time credits daily_credit_points daily_points feature_totals',
          optional: 'user',
        },
        'UserUsageDetail',
      )
      t.equal(answer.user.id, id)
      const own = expected(fromMs, toMs).filter(row => row.user_id === id)
      t.same(sorted(told(answer.feature_totals)), sorted(own))
      const days = new Map<string, number>()
      for (const [event, featureIds] of named)
        for (const { atMs, quantity, user } of sentTo(event)) {
          if (user !== 'u1@x' || atMs < fromMs || atMs >= toMs) continue
          const day = iso(Math.floor(atMs / dayMs) * dayMs)
          for (const featureId of featureIds) {
            const name = `${day} ${featureId}`
            days.set(name, (days.get(name) ?? 0) + quantity)
          }
        }
      const points = answer.daily_points.map(
        (point: { date: string; feature: { id: string }; value: number }) => [
          `${point.date} ${point.feature.id}`,
          point.value,
        ],
      )
      t.same(new Map(points), days)
      t.equal(points.length, days.size, 'one point per day and feature')
      const dates = answer.daily_points.map((point: { date: string }) => point.date)
      t.same(dates, [...dates].sort())
    })

    await t.test('US-36 a user that is no member is answered; an unknown one is not found', async t => {
      const id = ids.get('u2@x')!
      const memberships = await client.ok('GET', `/company-memberships?user_id=${id}&company_id=${runner}`)
      for (const one of memberships) await client.ok('DELETE', `/company-memberships/${one.id}`)
      const detail = (company: string, user: string, more = '') =>
        client.get(`/user-usage-detail?company_id=${company}&user_id=${user}${more}`)
      const answer = await detail(runner, id)
      t.equal(answer.status, 200)
      t.ok(answer.body.data.feature_totals.length > 0)
      const stranger = await client.ok('POST', '/users', { keys: { email: 'stranger@x' } })
      t.match((await detail(runner, stranger.id)).body.data, {
        feature_totals: [],
        daily_points: [],
        user: { id: stranger.id },
      })
      t.equal((await detail(runner, 'user_22222222222')).status, 404)
      t.equal((await detail('comp_22222222222', id)).status, 404)
      t.equal((await detail(runner, id, `&${window(today, today)}`)).status, 400)
      t.equal((await client.get('/user-usage-by-company?company_id=comp_22222222222')).status, 404)
      t.equal(
        (await client.get(`/user-usage-by-company?company_id=${runner}&feature_id=feat_none`)).status,
        404,
      )
      t.equal((await client.get('/user-usage-by-company')).status, 400)
    })

    await t.test('US-32 a total of 0 or less gives no shares', async t => {
      const atMs = today - 2 * dayMs
      await send(client, 'usage_run', 'even', [
        { atMs, quantity: 4, user: 'u1@x' },
        { atMs, quantity: -6, user: null },
      ])
      const even = (await client.ok('GET', '/companies/lookup?slug=even')).id
      const { rows } = await client.ok(
        'GET',
        `/user-usage-by-company?company_id=${even}&feature_id=${feature.id}`,
      )
      t.match(rows, [
        { user_id: ids.get('u1@x'), value: 4, share: 0 },
        { user_id: null, value: -6, share: 0 },
      ])
    })
  })

  await t.test('credits of usage', async t => {
    const id = (await client.ok('POST', '/companies', { keys: { slug: 'payer' } })).id
    const { environment_id: environmentId } = await client.ok('GET', '/whoami')
    const userNamed = async (email: string): Promise<string> =>
      (await client.ok('POST', '/users', { keys: { email } })).id
    const [alice, bob] = [await userNamed('alice@pay'), await userNamed('bob@pay')]
    let sequence = 0
    const entry = (atMs: number, consumed: number, more: object = {}) =>
      JSON.stringify({
        environment_id: environmentId,
        company_id: id,
        credit_id: 'bcrd_1',
        event_at: iso(atMs).replace('T', ' ').replace('Z', ''),
        sequence: ++sequence,
        event_type: 'usage',
        usage_reason: 'track',
        amount: String(-consumed),
        quantity_consumed: String(consumed),
        feature_id: feature.id,
        ...more,
      })
    const now = Date.now()
    const monday = today - ((new Date(today).getUTCDay() + 6) % 7) * dayMs
    const month = Date.UTC(new Date(today).getUTCFullYear(), new Date(today).getUTCMonth(), 1)
    const draws = [
      { atMs: today, used: 1.5, user: alice },
      { atMs: today + 1, used: -0.5, user: alice },
      { atMs: monday, used: 8, user: bob },
      { atMs: monday - 1, used: 16, user: '' },
      { atMs: month, used: 32, user: bob },
      { atMs: month - 1, used: 64, user: bob },
      { atMs: today - 25 * dayMs, used: 0.000000001, user: alice },
    ]
    const rows = [
      ...draws.map(({ atMs, used, user }) => entry(atMs, used, { user_id: user })),
      // a hold is no consumption
      entry(today, 0, { usage_reason: 'reservation_hold', amount: '-500', user_id: alice }),
      entry(today, 3, { credit_id: 'bcrd_2', user_id: alice, feature_id: other.id }),
    ]
    await tollgate.services.clickhouse.insertRaw({ table: 'credit_ledger', rows: rows.join('\n') })
    const since = (fromMs: number, user?: string): number =>
      draws
        .filter(({ atMs, user: own }) => atMs >= fromMs && (user === undefined || own === user))
        .reduce((sum, { used }) => sum + used, 0)

    await t.test(
      'US-7 credits used today, since Monday, this month and this billing period; holds excluded',
      async t => {
        const credited = {
          id: 'cmov_credited111',
          entitlement: stored(
            entitlement(feature.id, {
              id: 'cmov_credited111',
              ruleId: 'rule_1',
              ruleIdUsageExceeded: 'rule_2',
              valueType: 'credit',
              valueCreditId: 'bcrd_1',
              consumptionRate: 1,
            }),
          ),
          expiresAtMs: null,
          createdAtMs: now,
          updatedAtMs: now,
        } as const
        const { shards } = tollgate.services
        await shards.ask(
          'c',
          environmentId,
          id,
          { type: 'put_override', override: credited, replace: false },
          now,
        )
        const [plain] = await usageOf(`company_id=${id}`)
        t.notOk('credit_usage_aggregation' in plain)
        t.match(plain, { allocation: null, usage: null, credit_used: 0, credit_consumption_rate: 1 })
        const aggregated = async () => (await usageOf(`company_id=${id}&include_usage_aggregation=true`))[0]
        const row = await aggregated()
        isShaped(t, row, usageShape, 'FeatureUsage')
        t.same(row.credit_usage_aggregation, {
          usage_today: since(today),
          usage_this_week: since(monday),
          usage_this_calendar_month: since(month),
          usage_this_billing_period: since(month),
        })
        // a billing period that began in the middle of a day, inside it and inside the month before
        const periodStartMs = month - 1
        const subscription = {
          id: 'sub_1',
          externalId: 'sub_1',
          status: 'active',
          periodStartMs,
          periodEndMs: periodStartMs + 90 * dayMs,
          intervalMonths: 3,
          cancelAtPeriodEnd: false,
          cancelAtMs: null,
          trialEndMs: null,
          trialEndSetting: null,
          productIds: [],
        } as const
        await shards.ask('c', environmentId, id, { type: 'put_subscription', subscription, cause }, now)
        t.equal((await aggregated()).credit_usage_aggregation.usage_this_billing_period, since(periodStartMs))
      },
    )

    await t.test('US-31 credits per user and credit, net, with their share', async t => {
      const fromMs = today - 40 * dayMs
      const query = `company_id=${id}&start_time=${iso(fromMs)}`
      const { credits } = await client.ok('GET', `/user-usage-by-company?${query}`)
      const all = since(fromMs)
      const wanted = [alice, bob, ''].map(user => ({
        user_id: user || null,
        billing_credit_id: 'bcrd_1',
        credit_name: '',
        credits_used: since(fromMs, user),
        share: since(fromMs, user) / all,
      }))
      const second = {
        user_id: alice,
        billing_credit_id: 'bcrd_2',
        credit_name: '',
        credits_used: 3,
        share: 1,
      }
      for (const one of credits) t.equal(one.user?.id ?? null, one.user_id)
      const bare = (all: readonly { user?: object }[]) => all.map(({ user: _, ...one }) => one)
      t.same(
        bare(credits),
        [...wanted, second].sort((a, b) => b.credits_used - a.credits_used),
      )
      const only = await client.ok('GET', `/user-usage-by-company?${query}&feature_id=${other.id}`)
      t.same(bare(only.credits), [second], 'of the feature asked for')
    })

    await t.test(
      'US-35, US-40 credits of one user: totals, and net points per UTC day from the ledger',
      async t => {
        const fromMs = today - 40 * dayMs
        const answer = await client.ok(
          'GET',
          `/user-usage-detail?company_id=${id}&user_id=${alice}&start_time=${iso(fromMs)}`,
        )
        t.match(answer.credits, [
          { billing_credit_id: 'bcrd_2', credits_used: 3, share: 1 },
          {
            billing_credit_id: 'bcrd_1',
            credits_used: since(fromMs, alice),
            share: since(fromMs, alice) / since(fromMs),
          },
        ])
        t.same(answer.daily_credit_points, [
          { date: iso(today - 25 * dayMs), credits_used: 0.000000001 },
          { date: iso(today), credits_used: 1.5 - 0.5 + 3 },
        ])
        t.same(answer.feature_totals, [])
      },
    )
  })

  await t.test('entitled companies and users', async t => {
    const shared = await client.ok('POST', '/features', {
      name: 'Shared',
      description: '',
      feature_type: 'event',
      event_subtype: 'usage_shared',
    })
    const plan = await publishedPlan(client, 'Sharing', [
      { feature_id: shared.id, value_type: 'numeric', value_numeric: 10, metric_period: 'current_month' },
    ])
    const made = async (slug: string, base?: string) =>
      (
        await client.ok('POST', '/companies', {
          keys: { slug },
          name: slug,
          ...(base && { base_plan_id: base }),
        })
      ).id
    const planned = await made('share_a', plan.id)
    const overridden = await made('share_b')
    const expired = await made('share_c')
    await made('share_d')
    await override({
      company_id: overridden,
      feature_id: shared.id,
      value_type: 'numeric',
      value_numeric: 0,
      metric_period: 'current_day',
    })
    const soon = Date.now() + 400
    await override({
      company_id: expired,
      feature_id: shared.id,
      value_type: 'unlimited',
      expiration_date: iso(soon),
    })
    for (const [email, company] of [
      ['ann@share', planned],
      ['ben@share', planned],
      ['cat@share', overridden],
    ])
      await client.ok('POST', '/users', { keys: { email }, name: email, company_ids: [company] })
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'usage_shared', company: { slug: 'share_a' }, quantity: 4 },
    })
    await new Promise(resolve => setTimeout(resolve, Math.max(0, soon - Date.now() + 5)))

    // the event counts of a feature's view come from ClickHouse
    await tollgate.services.projections.barrier('clickhouse')

    await t.test('companies of a feature, newest first, with their usage', async t => {
      const companies = await client.ok('GET', `/feature-companies?feature_id=${shared.id}`)
      t.match(companies, [
        {
          company: { id: overridden },
          access: false,
          usage: 0,
          entitlement_type: 'company_override',
          allocation: 0,
        },
        {
          company: { id: planned, keys: [{ key: 'slug', value: 'share_a' }] },
          access: true,
          usage: 4,
          plan: { id: plan.id },
          feature: { id: shared.id },
        },
      ])
      for (const one of companies)
        isShaped(
          t,
          one,
          { ...usageShape, optional: `${usageShape.optional} company credit_usage` },
          'FeatureCompany',
        )
      t.same(await client.ok('GET', `/feature-companies/count?feature_id=${shared.id}`), { count: 2 })
      const found = await client.ok('GET', `/feature-companies?feature_id=${shared.id}&q=share_A`)
      t.same(found, [companies[1]])
      t.same(await client.ok('GET', `/feature-companies?feature_id=${shared.id}&limit=1&offset=1`), [
        companies[1],
      ])
      t.equal((await client.get('/feature-companies?feature_id=feat_none')).status, 404)
      t.equal((await client.get('/feature-companies')).status, 400)
    })

    await t.test('users of these companies', async t => {
      const members = await client.ok('GET', `/feature-users?feature_id=${shared.id}`)
      t.match(members, [
        { user: { name: 'cat@share' }, company: { id: overridden }, access: false },
        {
          user: { name: 'ben@share' },
          company: { id: planned },
          access: true,
          usage: 4,
          allocation: 10,
          period: 'current_month',
        },
        {
          user: { name: 'ann@share' },
          company: { id: planned },
          feature: { id: shared.id },
          plan: { id: plan.id },
        },
      ])
      for (const one of members)
        isShaped(
          t,
          one,
          {
            required: 'allocation_type entitlement_id entitlement_type access',
            nullable: 'allocation usage metric_reset_at month_reset period',
            optional: 'company feature plan user',
          },
          'FeatureCompanyUser',
        )
      t.same(await client.ok('GET', `/feature-users?feature_id=${shared.id}&q=BEN`), [members[1]])
      t.same(await client.ok('GET', `/feature-users/count?feature_id=${shared.id}&q=share`), { count: 3 })
      t.equal((await client.get('/feature-users/count?feature_id=feat_none')).status, 404)
    })
  })
})

t.test(
  'US-50 the analytics budget: time series, history and users draw on it, feature usage does not',
  async t => {
    const { client } = await startHere(t, { TOLLGATE_LIMITS: 'default' })
    const remaining = async (path: string): Promise<number> =>
      Number((await client.get(path)).headers.get('x-ratelimit-limit'))
    t.equal(await remaining('/feature-usage?company_id=x'), await remaining('/features'))
    const analytics = await remaining('/events')
    for (const path of [
      '/feature-usage-timeseries',
      '/feature-usage-history',
      '/user-usage-by-company',
      '/user-usage-detail',
    ])
      t.equal(await remaining(path), analytics, path)
  },
)
