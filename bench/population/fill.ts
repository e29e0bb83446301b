// Loads the population into a running service through its interface.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { secret } from '../product.js'
import {
  booleanFeatures,
  type Company,
  companies,
  creditRates,
  eventNames,
  numericFeatures,
  ownFlags,
  periods,
  plans,
  type Size,
  userKeys,
  usersPerCompany,
  userTraits,
} from './data.js'

/** Ids that requests and changes need. */
export interface Filled {
  readonly companyIds: readonly string[]
  readonly planIds: readonly string[]
  /** Keys of all flags. */
  readonly flagKeys: readonly string[]
  /** Ids of the flags whose rules may be edited, and those rules. */
  readonly ownFlags: readonly { readonly id: string; readonly rules: readonly object[] }[]
}

// biome-ignore lint/suspicious/noExplicitAny: replies are looked at member by member
type Reply = any

/** A client that keeps its connections. Throws where a request is refused. */
export class Client {
  /** A connection that stood idle is given up before the service closes it, which takes ten seconds. */
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 5_000 })

  constructor(private readonly port: number) {}

  /** A busy service is asked again: filling measures nothing. */
  async ask(method: string, path: string, body?: object): Promise<Reply> {
    for (let tries = 1; ; tries++)
      try {
        return await this.once(method, path, body)
      } catch (error) {
        if (tries === 60 || !/: 503 /.test(String(error))) throw error
        await sleep(500)
      }
  }

  private once(method: string, path: string, body?: object): Promise<Reply> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = {
      'X-Service-Api-Key': secret,
      ...(body === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    }
    return new Promise((resolve, reject) => {
      const asked = request(
        { agent: this.agent, host: '127.0.0.1', port: this.port, method, path, headers },
        reply => {
          const chunks: Buffer[] = []
          reply.on('data', chunk => chunks.push(chunk))
          reply.on('end', () => {
            const answer = Buffer.concat(chunks).toString()
            if ((reply.statusCode ?? 500) >= 300)
              reject(new Error(`${method} ${path}: ${reply.statusCode} ${answer}`))
            else resolve(answer === '' ? null : JSON.parse(answer).data)
          })
        },
      )
      asked.on('error', reject).end(text)
    })
  }

  /** Work through a list, so many at a time. */
  async each<T>(items: readonly T[], atOnce: number, work: (item: T, index: number) => Promise<unknown>) {
    let next = 0
    const worker = async () => {
      while (next < items.length) {
        const index = next++
        await work(items[index]!, index)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }

  close(): void {
    this.agent.destroy()
  }
}

/** Fill an empty service. Resolves once everything is acknowledged. */
export async function fill(port: number, size: Size): Promise<Filled> {
  const client = new Client(port)
  const all = companies(size)
  await identify(client, all)
  const companyIds = await idsOf(client, all.length)
  const defined = await define(client, companyIds)
  await assign(client, all, companyIds, defined)
  await use(client, all.length)
  client.close()
  return { companyIds, ...defined }
}

/** Companies and their users. */
async function identify(client: Client, all: readonly Company[]): Promise<void> {
  const perBatch = 250
  const starts = Array.from({ length: Math.ceil(all.length / perBatch) }, (_, index) => index * perBatch)
  for (let which = 0; which < usersPerCompany; which++)
    await client.each(starts, 4, from =>
      client.ask('POST', '/event-batch', {
        events: all.slice(from, from + perBatch).map(({ keys, name, traits }, offset) => ({
          event_type: 'identify',
          body: {
            keys: userKeys(from + offset, which),
            traits: userTraits(from + offset, which),
            company: { keys, name, traits },
          },
        })),
      }),
    )
}

/** Ids by the number that is in the slug. */
async function idsOf(client: Client, count: number): Promise<readonly string[]> {
  const ids: string[] = new Array(count)
  const deadline = Date.now() + 300_000
  for (let found = 0; found < count; ) {
    if (Date.now() > deadline) throw new Error(`only ${found} of ${count} companies are listed`)
    found = 0
    for (let offset = 0; offset < count; offset += 250) {
      const page = (await client.ask('GET', `/companies?limit=250&offset=${offset}`)) as Reply[]
      for (const { id, keys } of page) {
        const { key, value } = keys.find((one: Reply) => one.key === 'slug') ?? keys[0]
        if (key !== 'slug') continue
        ids[Number(value.slice('company-'.length))] = id
        found++
      }
    }
  }
  return ids
}

/** Plans with their entitlements and grants, features, flags. */
async function define(client: Client, companyIds: readonly string[]) {
  const post = (path: string, body: object) => client.ask('POST', path, body)
  const feature = (name: string, more: object) => post('/features', { name, description: '', ...more })
  const metered = (name: string, event: string) =>
    feature(name, { feature_type: 'event', event_subtype: event })
  const credit = await post('/billing/credits', { name: 'Credit', description: '', currency: 'usd' })
  const entitlements: object[] = []
  for (let index = 0; index < booleanFeatures; index++) {
    const { id } = await feature(`Boolean ${index}`, { feature_type: 'boolean' })
    entitlements.push({ feature_id: id, value_type: 'boolean', value_bool: true })
  }
  const numericIds: string[] = []
  for (let index = 0; index < numericFeatures; index++) {
    const { id } = await metered(`Numeric ${index}`, eventNames[index % eventNames.length]!)
    numericIds.push(id)
    entitlements.push({
      feature_id: id,
      value_type: 'numeric',
      value_numeric: 10 ** (3 + (index % 6)),
      metric_period: periods[index % periods.length],
      ...(index === 0
        ? { price_behavior: 'overage', soft_limit: 5_000, warning_tiers: [{ key: 'half', value: 2_500 }] }
        : {}),
    })
  }
  for (const [event, rate] of creditRates) {
    const { id } = await metered(`Paid ${event}`, event)
    entitlements.push({
      feature_id: id,
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: rate,
      price_behavior: 'credit_burndown',
    })
  }
  const planIds: string[] = []
  for (const { name } of plans) planIds.push(await plan(client, name, 'plan', entitlements, credit.id))
  const addOnId = await plan(client, 'More', 'add_on', entitlements.slice(0, 2), null)
  const [seats] = await client.ask('GET', '/entity-trait-definitions?q=seats&entity_type=company')
  const own = []
  for (let index = 0; index < ownFlags; index++) {
    const flag = await post('/flags', {
      key: `own-${index}`,
      name: `Own ${index}`,
      description: '',
      flag_type: 'boolean',
      default_value: false,
    })
    const rules = rulesOf(index, companyIds, planIds, seats.id)
    await client.ask('PUT', `/flags/${flag.id}/rules`, { rules })
    own.push({ id: flag.id as string, rules })
  }
  const flags = (await client.ask('GET', '/flags?limit=100')) as Reply[]
  return {
    planIds,
    addOnId,
    creditId: credit.id as string,
    numericIds,
    ownFlags: own,
    flagKeys: flags.map(flag => flag.key as string).sort(),
  }
}

/** A published plan; with two grants a month where a credit is named. */
async function plan(
  client: Client,
  name: string,
  type: string,
  entitlements: readonly object[],
  creditId: string | null,
): Promise<string> {
  const { id } = await client.ask('POST', '/plans', { name, plan_type: type })
  for (const entitlement of entitlements)
    await client.ask('POST', '/plan-entitlements', { plan_id: id, ...entitlement })
  for (const amount of creditId === null ? [] : [20_000_000, 50_000_000])
    await client.ask('POST', '/billing/credits/plan-grants', {
      plan_id: id,
      credit_id: creditId,
      credit_amount: amount,
      reset_cadence: 'monthly',
      reset_start: 'billing_period',
    })
  const { draft_version: draft } = await client.ask('GET', `/plans/${id}`)
  await client.ask('PUT', `/plans/version/${draft.id}/publish`, {
    migration_strategy: 'leave',
    excluded_company_ids: [],
  })
  return id as string
}

/** Two rules: a list of five companies; a plan, a counter and a trait. */
function rulesOf(
  index: number,
  companyIds: readonly string[],
  planIds: readonly string[],
  seatsId: string,
): readonly object[] {
  const listed = Array.from({ length: 5 }, (_, n) => companyIds[(index * 401 + n * 37) % companyIds.length]!)
  const rule = (name: string, priority: number, conditions: readonly object[]) => ({
    name,
    priority,
    rule_type: 'standard',
    value: true,
    conditions,
    condition_groups: [],
  })
  return [
    rule('listed', 1, [{ condition_type: 'company', operator: 'eq', resource_ids: listed }]),
    rule('active', 2, [
      { condition_type: 'plan', operator: 'eq', resource_ids: [planIds[index % planIds.length]!] },
      {
        condition_type: 'metric',
        operator: 'lt',
        resource_ids: [],
        event_subtype: eventNames[index % eventNames.length],
        metric_period: periods[index % periods.length],
        metric_value: 10 ** (2 + (index % 5)),
      },
      {
        condition_type: 'trait',
        operator: 'gte',
        resource_ids: [],
        trait_id: seatsId,
        trait_value: String(50 + index * 10),
      },
    ]),
  ]
}

/** Plans, add-ons, overrides and purchased grants of companies. */
async function assign(
  client: Client,
  all: readonly Company[],
  ids: readonly string[],
  defined: Awaited<ReturnType<typeof define>>,
): Promise<void> {
  const { planIds, addOnId, creditId, numericIds } = defined
  await client.each(all, 64, async ({ plan, addOn, override, purchased }, index) => {
    const company_id = ids[index]!
    await client.ask('PUT', `/company-plans/${company_id}`, {
      base_plan_id: planIds[plan],
      add_on_ids: addOn ? [addOnId] : [],
    })
    if (override)
      await client.ask('POST', '/company-overrides', {
        company_id,
        feature_id: numericIds[1 + (index % 5)],
        value_type: 'numeric',
        value_numeric: 1_000_000,
        metric_period: 'current_month',
      })
    if (purchased)
      await client.ask('POST', '/billing/credits/grants/company', {
        company_id,
        credit_id: creditId,
        quantity: 10_000_000,
        reason: 'purchased',
      })
  })
}

/** Every company has used something under every name of event. */
async function use(client: Client, count: number): Promise<void> {
  const perBatch = 40
  const starts = Array.from({ length: Math.ceil(count / perBatch) }, (_, index) => index * perBatch)
  await client.each(starts, 4, from =>
    client.ask('POST', '/event-batch', {
      events: Array.from({ length: Math.min(perBatch, count - from) }, (_, offset) =>
        eventNames.map((event, n) => ({
          event_type: 'track',
          idempotency_key: `first-${from + offset}-${n}`,
          body: { event, company: { slug: `company-${from + offset}` }, quantity: 1 + ((from + n) % 9) },
        })),
      ).flat(),
    }),
  )
}
