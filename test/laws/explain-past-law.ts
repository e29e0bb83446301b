// The law of past explanations: whatever happened since, each recorded decision is explained with its value, its reason and
// its rule (EX-6). Definitions, plans, traits, overrides, grants and use are random, before and after.
import type { Test } from 'tap'
import { publishDraftOf } from '../control/planned.js'
import { type Client, startHere } from '../harness.js'
import { Random, seed } from '../random.js'

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

/** The instant at which the environment's clock begins. */
const beganMs = Date.UTC(2031, 0, 28, 9)
/** Decisions between two steps of the clock. */
const decisionsPerStep = 6
const explainedAtOnce = 6

/** An environment in which random things happen. */
class PastWorld {
  private nowMs = beganMs
  private environmentId = ''
  private credit: Body
  private features: Body[] = []
  private flags: Body[] = []
  private plans: Body[] = []
  private traits = new Map<string, string>()
  private companies = ['acme']
  private readonly users = ['ann', 'bob']
  private overrides: Body[] = []
  private made = 0

  constructor(
    private readonly client: Client,
    private readonly random: Random,
  ) {}

  async begin(): Promise<void> {
    const { client } = this
    this.environmentId = (await client.ok('GET', '/whoami')).environment_id
    await this.setClock()
    this.credit = await client.ok('POST', '/billing/credits', {
      name: 'Token',
      description: '',
      currency: 'usd',
    })
    for (const [name, more] of [
      ['Calls', { feature_type: 'event', event_subtype: 'call' }],
      ['Burns', { feature_type: 'event', event_subtype: 'burn' }],
      ['Export', { feature_type: 'boolean' }],
    ] as const) {
      const feature = await client.ok('POST', '/features', { name, description: '', ...more })
      this.features.push(feature)
      this.flags.push(...(await client.ok('GET', `/flags?feature_id=${feature.id}`)))
    }
    for (const key of ['beta', 'dark'])
      this.flags.push(
        await client.ok('POST', '/flags', {
          key,
          name: key,
          description: '',
          default_value: this.random.chance(0.5),
          flag_type: 'boolean',
        }),
      )
    for (const name of ['Free', 'Team']) {
      const plan = await client.ok('POST', '/plans', { name, description: '', plan_type: 'plan' })
      this.plans.push(plan)
      await this.writeEntitlements(plan)
      if (!(await client.ok('GET', `/plans/${plan.id}`)).active_version) await publishDraftOf(client, plan.id)
    }
    await client.ok('POST', '/companies', {
      name: 'acme',
      keys: { slug: 'acme' },
      traits: { tier: 'gold', seats: 3 },
    })
    for (const name of this.users)
      await client.ok('POST', '/users', {
        name,
        keys: { email: `${name}@acme.example` },
        traits: { role: 'reader' },
      })
    for (const one of await client.ok('GET', '/entity-trait-definitions?limit=100'))
      this.traits.set(`${one.entity_type} ${one.hierarchy.join('.')}`, one.id)
    await this.writeRules()
  }

  /** The clock stands still between two steps, so that each instant has one state of everything. */
  async step(): Promise<void> {
    const changes = 1 + this.random.below(3)
    for (let i = 0; i < changes; i++) await this.change()
    for (let i = 0; i < decisionsPerStep; i++) await this.decide()
    this.nowMs += this.random.pick([1_000, 61_000, 3_600_000, 30_000_000, 90_000_000, 400_000_000])
    await this.setClock()
  }

  private setClock(): Promise<Body> {
    const now = new Date(this.nowMs).toISOString()
    return this.client.ok('PUT', `/environments/${this.environmentId}/clock`, { now, frozen: true })
  }

  private async decide(): Promise<void> {
    const { random } = this
    const { key } = random.pick(this.flags)
    const user = random.chance(0.5) ? { user: { email: `${random.pick(this.users)}@acme.example` } } : {}
    const slug = random.chance(0.05) ? 'nobody' : random.pick(this.companies)
    await this.client.ok('POST', `/flags/${key}/check`, { company: { slug }, ...user })
  }

  async change(): Promise<void> {
    const { client, random } = this
    const slug = random.pick(this.companies)
    const company = { slug }
    switch (random.below(13)) {
      case 0:
      case 1:
        return this.writeRules()
      case 2: {
        const flag = random.pick(this.flags)
        await client.ok('PUT', `/flags/${flag.id}`, { default_value: random.chance(0.5) })
        return
      }
      case 3:
        return this.writeEntitlements()
      case 4:
        await client.ok('POST', '/companies', {
          keys: company,
          traits: { tier: random.pick(['gold', 'tin', null]), seats: random.below(9) },
        })
        return
      case 5: {
        const keys = { email: `${random.pick(this.users)}@acme.example` }
        await client.ok('POST', '/users', { keys, traits: { role: random.pick(['reader', 'writer']) } })
        return
      }
      case 6: {
        const plan = random.chance(0.8) ? random.pick(this.plans).id : null
        await client.ok('PUT', `/company-plans/${await this.idOf(slug)}`, { base_plan_id: plan })
        return
      }
      case 7:
        return this.override(slug)
      case 8:
        await client.ok('POST', '/billing/credits/grants/company', {
          company_id: await this.idOf(slug),
          credit_id: this.credit.id,
          quantity: 1 + random.below(20),
          reason: 'free',
          expires_at: random.chance(0.5) ? new Date(this.nowMs + 40_000_000).toISOString() : null,
        })
        return
      case 9: {
        if (this.companies.length >= 5) return
        const name = `company${++this.made}`
        this.companies.push(name)
        await client.ok('POST', '/companies', {
          name,
          keys: { slug: name },
          traits: { seats: random.below(9) },
        })
        return
      }
      default:
        return this.use(company)
    }
  }

  private async use(company: object): Promise<void> {
    const { client, random } = this
    const event = random.pick(['call', 'call', 'burn'])
    const quantity = random.chance(0.1) ? -1 : 1 + random.below(4)
    const late = {
      sent_at: new Date(this.nowMs - random.below(30) * 3_600_000).toISOString(),
      trusted_client_clock: true,
    }
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event, company, quantity },
      ...(random.chance(0.3) && late),
    })
  }

  private async override(slug: string): Promise<void> {
    const { client, random } = this
    const known = this.overrides.pop()
    if (known !== undefined) {
      await client.del(`/company-overrides/${known.id}`)
      return
    }
    const expires = new Date(this.nowMs + 50_000_000).toISOString()
    const made = await client.post('/company-overrides', {
      company_id: await this.idOf(slug),
      ...this.value(random.below(3)),
      expiration_date: random.chance(0.5) ? expires : null,
    })
    if (made.status === 201) this.overrides.push(made.body.data)
  }

  private value(feature: number): object {
    const { random } = this
    const feature_id = this.features[feature].id
    if (feature === 2) return { feature_id, value_type: 'boolean', value_bool: random.chance(0.7) }
    if (feature === 1)
      return {
        feature_id,
        value_type: 'credit',
        value_credit_id: this.credit.id,
        credit_consumption_rate: random.pick([0.5, 1, 2]),
        price_behavior: 'credit_burndown',
      }
    return {
      feature_id,
      value_type: 'numeric',
      value_numeric: random.below(12),
      metric_period: random.pick(['current_day', 'current_week', 'current_month', 'all_time']),
    }
  }

  /** Another draft of a plan, published for all its companies. */
  private async writeEntitlements(plan = this.random.pick(this.plans)): Promise<void> {
    const { client, random } = this
    const draft = { plan_id: plan.id }
    const old: Body[] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}&limit=100`)
    for (let feature = 0; feature < this.features.length; feature++) {
      if (random.chance(0.3)) continue
      const known = old.find(one => one.feature_id === this.features[feature].id)
      const { feature_id: _, price_behavior: __, ...value } = this.value(feature) as Body
      // a value may not suit what the entitlement was: then it stays
      const made = known
        ? await client.put(`/plan-entitlements/${known.id}`, value)
        : await client.post('/plan-entitlements', { ...draft, ...this.value(feature) })
      if (made.status >= 500) throw new Error(JSON.stringify(made.body))
    }
    const { draft_version: waiting } = await client.ok('GET', `/plans/${plan.id}`)
    if (waiting)
      await publishDraftOf(client, plan.id, {
        migration_strategy: random.pick(['immediate', 'leave']),
        excluded_company_ids: [],
      })
  }

  private async writeRules(): Promise<void> {
    const { client, random } = this
    const flag = random.pick(this.flags)
    const rules = Array.from({ length: random.below(4) }, (_, i) => ({
      name: `rule ${i}`,
      priority: random.below(5),
      value: random.chance(0.6),
      conditions: Array.from({ length: random.below(3) }, () => this.condition()),
      ...(random.chance(0.3) && { condition_groups: [{ conditions: [this.condition(), this.condition()] }] }),
    }))
    await client.ok('PUT', `/flags/${flag.id}/rules`, { rules })
  }

  private condition(): object {
    const { random } = this
    const trait = (name: string) => this.traits.get(name) ?? null
    switch (random.below(6)) {
      case 0:
        return {
          condition_type: 'plan',
          operator: random.pick(['eq', 'ne']),
          resource_ids: [random.pick(this.plans).id],
        }
      case 1:
        return {
          condition_type: 'trait',
          operator: random.pick(['eq', 'ne']),
          trait_id: trait('company tier'),
          trait_value: 'gold',
        }
      case 2:
        return {
          condition_type: 'trait',
          operator: random.pick(['lt', 'gte']),
          trait_id: trait('company seats'),
          trait_value: String(random.below(9)),
        }
      case 3:
        return {
          condition_type: 'trait',
          operator: 'eq',
          trait_id: trait('user role'),
          trait_value: 'writer',
        }
      case 4:
        return {
          condition_type: 'credit',
          operator: 'lt',
          credit_id: this.credit.id,
          credit_cost: random.below(12),
        }
      default:
        return {
          condition_type: 'metric',
          operator: random.pick(['lt', 'gte']),
          event_subtype: random.pick(['call', 'burn']),
          metric_period: random.pick(['current_day', 'current_week', 'current_month', 'all_time']),
          metric_value: random.below(15),
        }
    }
  }

  private readonly ids = new Map<string, string>()

  private async idOf(slug: string): Promise<string> {
    let id = this.ids.get(slug)
    if (id === undefined) {
      id = (await this.client.ok('GET', `/companies/lookup?slug=${slug}`)).id as string
      this.ids.set(slug, id)
    }
    return id
  }
}

/** Let random things happen until so many decisions are recorded, change more, and explain each of them. */
export async function pastLaw(t: Test, decisions: number): Promise<void> {
  const { client, tollgate } = await startHere(t, { TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND: '100000' })
  const world = new PastWorld(client, new Random(seed))
  await world.begin()
  const steps = Math.ceil(decisions / decisionsPerStep)
  for (let i = 0; i < steps; i++) await world.step()
  for (let i = 0; i < 20; i++) await world.change()
  const records = await recorded(client, tollgate, steps * decisionsPerStep)
  t.equal(records.length, steps * decisionsPerStep, `seed ${seed}: every decision is recorded`)
  let wrong = 0
  const explain = async ({ body, captured_at: at }: Body): Promise<void> => {
    const { flag_key: key, req_company: company, req_user: user } = body
    const told = await client.ok('POST', `/flags/${key}/explain`, { at, company, user })
    const decided = told.rules.find((one: Body) => one.decided)?.id ?? null
    const same =
      told.value === body.value &&
      told.reason === body.reason &&
      told.rule_id === body.rule_id &&
      decided === body.rule_id &&
      told.company_id === body.company_id &&
      told.user_id === body.user_id
    if (!same && ++wrong <= 3) t.same(shortened(told), { at, ...body }, `seed ${seed}: EX-6 ${key} at ${at}`)
  }
  for (let from = 0; from < records.length; from += explainedAtOnce)
    await Promise.all(records.slice(from, from + explainedAtOnce).map(explain))
  t.equal(wrong, 0, `seed ${seed}: EX-6 of ${records.length} decisions each has its value, reason and rule`)
}

const shortened = ({ flag, value, reason, rule_id, company_id, user_id, rules }: Body) => ({
  flag,
  value,
  reason,
  rule_id,
  company_id,
  user_id,
  saw: JSON.stringify(rules),
})

/** Records of checks reach the list some seconds after them. */
async function recorded(client: Client, tollgate: { services: Body }, wanted: number): Promise<Body[]> {
  await tollgate.services.shards.tellChecks()
  let rows: Body[] = []
  for (let tries = 0; tries < 240 && rows.length < wanted; tries++) {
    await new Promise(resolve => setTimeout(resolve, 500))
    const { count } = await client.ok('GET', '/events/count?event_types=flag_check')
    if (count < wanted) continue
    rows = []
    for (let offset = 0; offset < wanted; offset += 250)
      rows.push(...(await client.ok('GET', `/events?event_types=flag_check&limit=250&offset=${offset}`)))
  }
  return rows
}
