// A law over the wire: a client that holds what the stream tells checks as the service answers, in every member, for random
// flags, plans, companies, users and preflights, and after random changes of them. `TOLLGATE_RUNS` makes it run longer.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { Preflight } from '../../clients/typescript/src/index.js'
import { publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { rule } from '../interface/flags.js'
import { Random, times } from '../random.js'
import { changeOf, clientOf } from './make.js'

t.setTimeout(600_000)

const random = new Random()
const { client } = await startHere(t)
const world = new CreditWorld(client)
const events = ['call', 'mail', 'rare']
const periods = ['all_time', 'current_day', 'current_week', 'current_month']
const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte']
const toldMs = 60_000

interface Some {
  readonly plans: readonly string[]
  readonly companies: readonly { readonly id: string; readonly keys: Record<string, string> }[]
  readonly users: readonly Record<string, string>[]
  readonly flags: readonly { readonly id: string; readonly key: string }[]
  readonly credit: string
  readonly traits: ReadonlyMap<string, string>
}

function condition({ plans, companies, credit, traits }: Some): object {
  const base = { operator: random.pick(operators), resource_ids: [] }
  switch (random.below(6)) {
    case 0:
    case 1:
      return {
        ...base,
        condition_type: 'metric',
        event_subtype: random.pick(events),
        metric_period: random.pick(periods),
        metric_period_month_reset: random.pick(['first_of_month', 'billing_cycle']),
        metric_value: random.below(8),
      }
    case 2:
    case 3: {
      const [name, id] = random.pick([...traits])
      const trait_value = name === 'region' ? random.pick(['eu', 'us']) : String(random.below(6))
      const operator = name === 'region' ? random.pick(['eq', 'ne']) : base.operator
      return { ...base, operator, condition_type: 'trait', trait_id: id, trait_value }
    }
    case 4:
      return {
        ...base,
        condition_type: 'credit',
        operator: random.pick(['gte', 'lt']),
        credit_id: credit,
        consumption_rate: random.pick([0.5, 1, 3]),
      }
    default: {
      const isPlan = random.chance(0.5)
      return {
        condition_type: isPlan ? 'plan' : 'company',
        operator: random.pick(['eq', 'ne']),
        resource_ids: [isPlan ? random.pick(plans) : random.pick(companies).id],
      }
    }
  }
}

function rules(some: Some): object[] {
  const list = (max: number) => Array.from({ length: random.below(max) }, () => condition(some))
  return Array.from({ length: 1 + random.below(3) }, (_, i) =>
    rule(`rule ${i}`, list(3), {
      priority: random.below(3),
      value: random.chance(0.7),
      condition_groups: random.chance(0.3) ? [{ conditions: [condition(some), condition(some)] }] : [],
    }),
  )
}

/** Everything that checks are about. */
async function make(): Promise<Some> {
  const credit = await world.credit()
  const features = []
  for (const [name, more] of [
    ['Calls', { feature_type: 'event', event_subtype: 'call' }],
    ['Mails', { feature_type: 'event', event_subtype: 'mail' }],
    ['Single sign-on', { feature_type: 'boolean' }],
  ] as const) {
    const key = name.toLowerCase().replaceAll(' ', '-')
    const flag = { key, name, description: '', flag_type: 'boolean', default_value: false, rules: [] }
    features.push(await client.ok('POST', '/features', { name, description: '', ...more, flag }))
  }
  const [calls, mails, sso] = features
  const plans = []
  for (let i = 0; i < 3; i++) {
    const entitlements = [
      {
        feature_id: calls.id,
        value_type: 'numeric',
        value_numeric: random.below(8),
        metric_period: random.pick(periods),
      },
      random.chance(0.5)
        ? {
            feature_id: mails.id,
            value_type: 'credit',
            value_credit_id: credit.id,
            credit_consumption_rate: random.pick([0.5, 1, 2]),
            price_behavior: 'credit_burndown',
          }
        : { feature_id: mails.id, value_type: 'unlimited' },
      { feature_id: sso.id, value_type: 'boolean', value_bool: random.chance(0.5) },
    ]
    plans.push((await publishedPlan(client, `Plan ${i}`, entitlements)).id as string)
  }
  const companies = []
  for (let i = 0; i < 6; i++) {
    const made = await world.company(random.chance(0.8) ? { base_plan_id: random.pick(plans) } : {})
    const keys = made.keys as Record<string, string>
    await client.ok('POST', '/companies', { keys, traits: { seats: random.below(6), region: 'eu' } })
    companies.push({ id: made.id as string, keys })
  }
  const users = []
  for (let i = 0; i < 3; i++) {
    const keys = { mail: `user${i}@example.com` }
    await client.ok('POST', '/users', { keys, traits: { age: random.below(6) } })
    users.push(keys)
  }
  const traits = new Map<string, string>()
  for (const type of ['company', 'user'])
    for (const { id, hierarchy } of await client.ok('GET', `/entity-trait-definitions?entity_type=${type}`))
      traits.set(hierarchy[0], id)
  const made = { plans, companies, users, credit: credit.id as string, traits, flags: [] }
  const flags = features.map(({ flags: [flag] }) => ({ id: flag.id as string, key: flag.key as string }))
  for (let i = 0; i < 5; i++) {
    const body = { key: `rules-${i}`, name: `rules ${i}`, description: '', flag_type: 'boolean' }
    const flag = await client.ok('POST', '/flags', { ...body, default_value: random.chance(0.3) })
    await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: rules(made) })
    flags.push({ id: flag.id, key: flag.key })
  }
  return { ...made, flags }
}

/** Change something. */
async function change(some: Some): Promise<unknown> {
  const company = random.pick(some.companies)
  switch (random.below(6)) {
    case 0:
      return client.ok('PUT', `/company-plans/${company.id}`, { base_plan_id: random.pick(some.plans) })
    case 1:
      return world.grant(company.id, some.credit, 1 + random.below(10))
    case 2: {
      const traits = { seats: random.below(6), region: random.pick(['eu', 'us']) }
      return client.ok('POST', '/companies', { keys: company.keys, traits })
    }
    case 3: {
      const { id } = random.pick(some.flags.filter(({ key }) => key.startsWith('rules')))
      return client.ok('PUT', `/flags/${id}/rules`, { rules: rules(some) })
    }
    case 4:
      return client.ok('POST', '/users', {
        keys: random.pick(some.users),
        traits: { age: random.below(6) },
      })
    default: {
      const body = {
        event: random.pick(events),
        company: company.keys,
        quantity: random.pick([1, 1, 2, 5, -1]),
      }
      return client.ok('POST', '/events', { event_type: 'track', body })
    }
  }
}

function preflight(credit: string): Preflight | null {
  switch (random.below(5)) {
    case 0:
      return { usage: random.below(6) }
    case 1:
      return { event_usage: { event_subtype: random.pick(events), quantity: random.below(6) } }
    case 2:
      return { credit_cost: { [credit]: random.pick([0.5, 1, 7]) } }
    default:
      return null
  }
}

t.test('what a client works out is what the service answers, in every member', async t => {
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const some = await make()
  const tollgate = clientOf(t, client, { entityMs: toldMs })
  await tollgate.ready()
  let [compared, differed] = [0, 0]
  for (let round = 0; round < times(24); round++) {
    for (let i = random.below(5); i > 0; i--) await change(some)
    for (let i = 0; i < 2; i++) {
      const company = random.chance(0.9) ? random.pick(some.companies).keys : null
      const user = random.chance(0.4) ? random.pick(some.users) : null
      const context = { ...(company && { company }), ...(user && { user }) }
      for (const { key: flag } of some.flags) {
        const asked = preflight(some.credit)
        await tollgate.check(flag, context, { order: ['local'] })
        const expected = await client.ok('POST', `/flags/${flag}/check`, {
          ...context,
          ...(asked && { preflight: asked }),
        })
        // a change may still be on its way: it is told, and then nothing may differ
        for (const endMs = performance.now() + toldMs; ; ) {
          const told = changeOf(tollgate, () => true)
          const { source, ...held } = tollgate.checkHeld(flag, context, asked)!
          compared++
          if (isDeepStrictEqual(held, expected)) break
          differed++
          let timer: NodeJS.Timeout | undefined
          const late = new Promise<null>(resolve => {
            timer = setTimeout(() => resolve(null), endMs - performance.now())
          })
          const heard = await Promise.race([told, late])
          clearTimeout(timer)
          if (heard !== null) continue
          t.same(held, expected, `${flag} ${JSON.stringify({ ...context, asked })} (${source})`)
          return
        }
      }
    }
  }
  t.comment(`${compared} checks compared, ${differed} before a change was told`)
  t.ok(compared >= times(24) * 2 * some.flags.length)
})
