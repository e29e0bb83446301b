// The law of payments through the whole service: histories of many companies in one environment, by POST /manage-plan and
// its neighbours, publishes with every strategy, steps of the test clock, and a provider whose messages come late, doubled
// and in any order. Views are compared with a model after each round:
// 1. a subscription of the service is there exactly while a plan or add-on is held that costs (N3);
// 2. its total is the sum of the prices of the versions held, for the seats granted (N4, N5, N6);
// 3. seats granted are seats sold, whatever traits are written (N7, N8, EN-73);
// 4. nothing that waits is overdue (N1, N2); 5. periods end on the anchor's day (F1);
// 6. a provider's plan is held exactly while its latest message says so, by its own time (PB-54).
import t from 'tap'
import { isOn } from '../../src/core/values/period.js'
import type { Response } from '../harness.js'
import { seconds, subscriptionBody } from '../interface/billing-world.js'
import { paymentWorld } from '../interface/payment-world.js'
import { Random, times } from '../random.js'

const dayMs = 86_400_000
const intervals = ['month', 'year'] as const
type Interval = (typeof intervals)[number]

/** A version as it was published. */
interface Version {
  readonly planId: string
  readonly prices: Readonly<Partial<Record<Interval, Sold>>>
  readonly seats: Readonly<Partial<Record<Interval, Sold>>> | null
}
interface Sold {
  readonly id: string
  readonly amount: number
}
interface Company {
  readonly id: string
  readonly key: string
  /** The last message of a provider, by its own time; null: none yet. */
  told: { readonly atMs: number; readonly status: string } | null
  readonly steps: string[]
}
// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

t.test('N1…N8, F1, PB-54, EN-73 what is held is paid for, through the whole service', async t => {
  const random = new Random()
  const {
    client,
    clock,
    free,
    manage: _,
    ...world
  } = await paymentWorld(t, {
    scheduled_downgrade_behavior: 'end_of_billing_period',
  })
  let nowMs = Date.UTC(2031, 0, 31, 9)
  await clock(new Date(nowMs).toISOString())
  const versions = new Map<string, Version>()
  const published = new Map<string, string>()
  const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
  const { hierarchy } = await client.ok('GET', `/entity-trait-definitions/${seats.usage_limit_trait_id}`)
  const seatTrait = hierarchy.join('.')

  /** Publish the next version of a plan, at one or both intervals. */
  async function publish(planId: string, sellsSeats: boolean, strategy: string): Promise<void> {
    const monthly = random.chance(0.8) ? 100 + random.below(900) : null
    const yearly = monthly === null || random.chance(0.7) ? 1_000 + random.below(9_000) : null
    await world.bill(planId, monthly, yearly)
    const [had] = await client.ok('GET', `/plan-entitlements?plan_id=${planId}&feature_id=${seats.id}`)
    if (sellsSeats) {
      const terms = {
        price_behavior: 'pay_in_advance',
        value_type: 'trait',
        monthly_unit_price: monthly === null ? null : 1 + random.below(50),
        yearly_unit_price: yearly === null ? null : 10 + random.below(500),
      }
      if (had) await client.ok('PUT', `/plan-entitlements/${had.id}`, terms)
      else await client.ok('POST', '/plan-entitlements', { plan_id: planId, feature_id: seats.id, ...terms })
    } else if (had) await client.ok('DELETE', `/plan-entitlements/${had.id}`)
    const { draft_version: draft } = await client.ok('GET', `/plans/${planId}`)
    await client.ok('PUT', `/plans/version/${draft.id}/publish`, {
      excluded_company_ids: [],
      migration_strategy: strategy,
    })
    const plan = await client.ok('GET', `/plans/${planId}`)
    const [entitlement] = await client.ok(
      'GET',
      `/plan-entitlements?plan_version_id=${draft.id}&feature_id=${seats.id}`,
    )
    const sold = (one: Body): Sold | undefined => (one ? { id: one.id, amount: one.price } : undefined)
    const both = (month: Body, year: Body) => ({ month: sold(month), year: sold(year) })
    versions.set(draft.id, {
      planId,
      prices: both(plan.monthly_price, plan.yearly_price),
      seats: entitlement ? both(entitlement.metered_monthly_price, entitlement.metered_yearly_price) : null,
    })
    published.set(planId, draft.id)
    if (strategy === 'leave') return
    const [migration] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${draft.id}`)
    if (migration) await client.ok('GET', `/plan-version-migrations/${migration.id}`)
  }

  const make = async (name: string, type: string) =>
    (await client.ok('POST', '/plans', { name, plan_type: type })).id as string
  const [basic, pro, extra] = [
    await make('Basic', 'plan'),
    await make('Pro', 'plan'),
    await make('Extra', 'add_on'),
  ]
  const bases = [basic, pro]
  for (const id of [basic, pro, extra]) await publish(id, id === basic, 'leave')

  const product = await client.ok('POST', '/billing/product/upsert', {
    external_id: 'told',
    name: 'Told',
    price: 10,
  })
  const told = await client.ok('POST', '/plans', { name: 'Told', plan_type: 'plan' })
  await client.ok('PUT', `/plans/${told.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    billing_product_id: product.product_id,
  })
  await client.ok('PUT', `/plans/version/${told.draft_version.id}/publish`, {
    migration_strategy: 'leave',
    excluded_company_ids: [],
  })

  const companies: Company[] = []
  for (let i = 0; i < 24; i++) {
    const key = `law${i}`
    const { id } = await client.ok('POST', '/companies', { keys: { law: key } })
    companies.push({ id, key, told: null, steps: [] })
  }
  const provided = companies.splice(18)

  /** A refusal is an answer too, as long as nothing has changed: the next look says so. */
  const asked = ({ status, body }: Response, one: Company, what: string) => {
    one.steps.push(`${what}: ${status} ${status === 200 ? '' : body.error}`)
    if (status >= 300 && status !== 400) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`)
  }

  async function manage(one: Company): Promise<void> {
    const planId = random.pick(bases)
    const interval = random.pick(intervals)
    const quantity = random.below(5)
    const addOn = random.chance(0.3) ? versions.get(published.get(extra)!)!.prices[interval] : undefined
    const version = versions.get(published.get(planId)!)!
    const price = version.prices[interval]
    const seat = version.seats?.[interval]
    if (!price) return
    asked(
      await client.post('/manage-plan', {
        company_id: one.id,
        base_plan_id: planId,
        base_plan_version_id: published.get(planId),
        base_plan_price_id: price.id,
        add_on_selections: addOn ? [{ plan_id: extra, price_id: addOn.id }] : [],
        pay_in_advance_entitlements: seat ? [{ price_id: seat.id, quantity }] : [],
      }),
      one,
      `manage ${planId === basic ? 'basic' : 'pro'} ${interval} ${quantity} ${addOn ? 'extra' : ''}`,
    )
  }

  async function step(one: Company): Promise<void> {
    const at = random.next()
    if (at < 0.55) return manage(one)
    if (at < 0.7) {
      const now = random.chance(0.5)
      const body = { company_id: one.id, cancel_immediately: now }
      return asked(await client.post('/manage-plan/subscription/cancel', body), one, `cancel ${now}`)
    }
    if (at < 0.8)
      return asked(
        await client.put(`/company-plans/${one.id}`, { base_plan_id: free.id, add_on_ids: [] }),
        one,
        'put on free',
      )
    const write = { keys: { law: one.key }, traits: { [seatTrait]: 1 + random.below(9) } }
    if (at < 0.9) return asked(await client.post('/companies', write), one, 'seats as a trait')
    await client.ok('POST', '/events', {
      event_type: 'identify',
      body: { keys: { user: 'someone' }, company: write },
    })
    one.steps.push('identify')
  }

  /** Messages with their own times: some new, some old, some twice, in any order. */
  async function provide(one: Company): Promise<void> {
    const messages = Array.from({ length: 1 + random.below(3) }, () => ({
      atMs: nowMs - random.below(5) * 1_000 - (random.chance(0.3) ? 20 * dayMs : 0),
      status: random.pick(['active', 'past_due', 'canceled', 'incomplete', 'trialing']),
    }))
    if (random.chance(0.4)) messages.push(messages[0]!)
    for (const { atMs, status } of messages) {
      const answer = await client.post('/billing/subscription/upsert', {
        ...subscriptionBody(
          `sub_${one.key}`,
          `cus_${one.key}`,
          [{ product: 'told', price: 'price_told' }] as never,
          {
            company_id: one.id,
            status,
            period_start: seconds('2031-01-01T00:00:00Z'),
            period_end: seconds('2061-01-01T00:00:00Z'),
            expired_at: '2061-01-01T00:00:00Z',
            provider_event_at: new Date(atMs).toISOString(),
            ...(status === 'trialing' && { trial_end: seconds('2061-01-01T00:00:00Z') }),
          },
        ),
      })
      asked({ ...answer, status: answer.status === 201 ? 200 : answer.status }, one, `${status} at ${atMs}`)
      if (one.told === null || atMs >= one.told.atMs) one.told = { atMs, status }
    }
  }

  function check(one: Company, shown: Body): void {
    const must = (holds: boolean, what: string) => {
      if (holds) return
      const { plan, add_ons, billing_subscriptions, scheduled_downgrade, pending_migration, traits } = shown
      throw new Error(
        `${what}\n${one.steps.join('\n')}\n${JSON.stringify({ plan, add_ons, billing_subscriptions, scheduled_downgrade, pending_migration, traits }, null, 1).slice(0, 6_000)}`,
      )
    }
    if (one.told !== null) {
      const gives = ['active', 'past_due', 'trialing'].includes(one.told.status)
      must((shown.plan?.id === told.id) === gives, `6. ${one.told.status} is what the provider said last`)
      return
    }
    const held = [shown.plan, ...shown.add_ons].filter(plan => plan && plan.id !== free.id)
    const running = shown.billing_subscriptions.filter((each: Body) =>
      ['active', 'trialing'].includes(each.status),
    )
    must(
      running.length === (held.length > 0 ? 1 : 0),
      `1. ${held.length} plans held, ${running.length} subscriptions`,
    )
    const granted = shown.entitlements.find((each: Body) => each.feature_id === seats.id)?.allocation ?? 0
    const [own] = running
    if (own) {
      const interval: Interval = own.interval
      let total = 0
      let units = 0
      for (const plan of held) {
        const version = versions.get(plan.plan_version_id)!
        const price = version.prices[interval]
        must(price !== undefined, `2. ${plan.name} has a price each ${interval}`)
        must(plan.plan_price === price!.amount, `2. ${plan.plan_price} is the price of the version`)
        total += price!.amount
        if (!version.seats) continue
        units = granted
        total += granted * (version.seats[interval]?.amount ?? 0)
      }
      must(own.total_price === total, `2. ${own.total_price} is charged, ${total} is held`)
      must(granted === units, `3. ${granted} seats without a version that sells them`)
      const start = Number(own.period_start) * 1_000
      const end = Number(own.period_end) * 1_000
      must(start <= nowMs && (end > nowMs || own.cancel_at_period_end), '5. the period is of now')
    } else must(granted === 0 || shown.traits[seatTrait] !== undefined, '3. no seats without a plan')
    const { scheduled_downgrade: downgrade, pending_migration: migration } = shown
    must(!downgrade || Date.parse(downgrade.effective_after) > nowMs, '4. no downgrade is overdue')
    must(!migration?.effective_at || Date.parse(migration.effective_at) > nowMs, '4. no migration is overdue')
    if (migration && own && !own.cancel_at_period_end && migration.strategy === 'end_of_billing_period')
      must(
        migration.effective_at === null ||
          Date.parse(migration.effective_at) === Number(own.period_end) * 1_000,
        '4. the date of a migration is the end of the period',
      )
    if (migration?.effective_at && own)
      must(isOn(Date.parse(migration.effective_at), Number(own.period_end) * 1_000), '5.')
  }

  const everyone = [...companies, ...provided]
  for (let round = 0; round < times(12); round++) {
    const at = random.next()
    if (at < 0.35) {
      const planId = random.pick([basic, pro, extra])
      const strategy = random.pick(['immediate', 'end_of_billing_period', 'leave'])
      const sells = planId === basic && random.chance(0.8)
      await publish(planId, sells, strategy)
      for (const one of companies)
        one.steps.push(`publish ${planId} ${strategy} ${sells ? 'with seats' : ''}`)
    } else if (at < 0.75) {
      nowMs += random.pick([0, 1, 3, 20, 28, 31, 59, 366]) * dayMs + random.below(dayMs / 1_000) * 1_000
      await clock(new Date(nowMs).toISOString())
      for (const one of everyone) one.steps.push(new Date(nowMs).toISOString())
    }
    await Promise.all(companies.map(step))
    await Promise.all(provided.map(provide))
    for (const one of everyone) check(one, await world.show(one.id))
  }
  const taken = companies.flatMap(({ steps }) => steps).filter(each => /^manage .*: 200/.test(each)).length
  t.ok(taken >= companies.length, `${taken} changes of plans were made, and every history agrees`)
})
