// Plans to move between, companies that pay for them, and what a test looks at.
import { eventFeature, publishDraftOf, publishedPlan } from '../control/planned.js'
import type { Client } from '../harness.js'

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
export type Body = any

const nothing = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}

export class MovesWorld {
  private made = 0

  private constructor(
    readonly client: Client,
    readonly environmentId: string,
    readonly calls: Body,
    readonly seats: Body,
  ) {}

  static async of(client: Client): Promise<MovesWorld> {
    const { environment_id: environmentId } = await client.ok('GET', '/whoami')
    const seats = { name: 'Seats', description: '', feature_type: 'license' }
    return new MovesWorld(
      client,
      environmentId,
      await eventFeature(client, 'Calls', 'call'),
      await client.ok('POST', '/features', seats),
    )
  }

  /** The same world, on a service that was started again. */
  on(client: Client): MovesWorld {
    const world = new MovesWorld(client, this.environmentId, this.calls, this.seats)
    world.made = this.made
    return world
  }

  clock(now: string): Promise<Body> {
    return this.client.ok('PUT', `/environments/${this.environmentId}/clock`, { now, frozen: true })
  }

  limit(value_numeric: number): object {
    return {
      feature_id: this.calls.id,
      value_type: 'numeric',
      value_numeric,
      metric_period: 'current_month',
    }
  }

  /** A published plan that allows so many calls; `monthly` null: without charge. */
  async plan(
    calls: number,
    monthly: number | null,
    more: { yearly?: number; seat?: number } = {},
  ): Promise<Body> {
    const { client } = this
    const name = `Plan ${++this.made}`
    if (monthly === null) return publishedPlan(client, name, [this.limit(calls)])
    const plan = await client.ok('POST', '/plans', { name, plan_type: 'plan' })
    await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...this.limit(calls) })
    if (more.seat !== undefined)
      await client.ok('POST', '/plan-entitlements', {
        plan_id: plan.id,
        feature_id: this.seats.id,
        value_type: 'trait',
        price_behavior: 'pay_in_advance',
        monthly_unit_price: more.seat,
      })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      monthly_price: monthly,
      ...(more.yearly !== undefined && { yearly_price: more.yearly }),
    })
    return publishDraftOf(client, plan.id)
  }

  /** A draft of a plan that allows so many calls and costs so much a month. */
  async draft(planId: string, calls: number, monthly: number): Promise<string> {
    const { client } = this
    await this.limitDraft(planId, calls)
    await client.ok('PUT', `/plans/${planId}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      monthly_price: monthly,
      yearly_price: null,
    })
    return (await client.ok('GET', `/plans/${planId}`)).draft_version.id
  }

  /** A draft of a plan without charge that allows so many calls. */
  async limitDraft(planId: string, calls: number): Promise<void> {
    const { entitlements } = await this.client.ok('GET', `/plans/${planId}`)
    const own = entitlements.find((one: Body) => one.feature_id === this.calls.id)
    await this.client.ok('PUT', `/plan-entitlements/${own.id}`, this.limit(calls))
  }

  /** Let a company buy a plan. */
  buy(companyId: string, planId: string, priceId: string): Promise<Body> {
    const body = { ...nothing, company_id: companyId, base_plan_id: planId, base_plan_price_id: priceId }
    return this.client.ok('POST', '/manage-plan', body)
  }

  /** A company without a plan of its own. */
  async company(more: object = {}): Promise<string> {
    const slug = `c${++this.made}`
    return (await this.client.ok('POST', '/companies', { keys: { slug }, name: slug, ...more })).id
  }

  /** A company that pays for a plan, by the month or the year. */
  async payer(plan: Body, more: { yearly?: boolean; seats?: number; traits?: object } = {}): Promise<string> {
    const { client } = this
    const id = await this.company(more.traits ? { traits: more.traits } : {})
    const price = more.yearly ? plan.yearly_price : plan.monthly_price
    const [seat] =
      more.seats === undefined
        ? []
        : await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}&feature_id=${this.seats.id}`)
    await client.ok('POST', '/manage-plan', {
      ...nothing,
      company_id: id,
      base_plan_id: plan.id,
      base_plan_price_id: price.id,
      ...(seat && {
        pay_in_advance_entitlements: [{ price_id: seat.metered_monthly_price.id, quantity: more.seats }],
      }),
    })
    return id
  }

  /** A company that was given a plan. */
  async holder(plan: Body, more: object = {}): Promise<string> {
    const id = await this.company(more)
    await this.client.ok('PUT', `/company-plans/${id}`, { base_plan_id: plan.id })
    return id
  }

  async use(companyId: string, quantity: number): Promise<void> {
    await this.client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'call', quantity, company: { id: companyId } },
    })
  }

  /** Plan, version, limit, price and payment of a company. */
  async stands(id: string): Promise<Body> {
    const company = await this.client.ok('GET', `/companies/${id}`)
    const { plan, billing_subscription: paid, entitlements } = company
    return {
      plan: plan?.id ?? null,
      version: plan?.plan_version_id ?? null,
      price: plan?.plan_price ?? null,
      since: plan?.added_on ?? null,
      limit: entitlements.find((one: Body) => one.feature_id === this.calls.id)?.allocation ?? null,
      seats: company.traits?.seats ?? null,
      pays:
        paid?.products
          .map((one: Body) => `${one.price}×${one.quantity}`)
          .sort()
          .join(' ') ?? null,
      periodEnd: paid?.period_end ?? null,
      pending: company.pending_migration?.to_plan_id ?? null,
    }
  }

  /** Companies of a move with status and reason. */
  async outcomes(moveId: string): Promise<Record<string, string>> {
    const rows = await this.client.ok('GET', `/plan-moves/${moveId}/companies?limit=250`)
    return Object.fromEntries(
      rows.map((row: Body) => [row.company_id, row.reason ? `${row.status} ${row.reason}` : row.status]),
    )
  }

  /** Ask until a move is in this status. */
  async until(moveId: string, status: string): Promise<Body> {
    for (const endMs = Date.now() + 60_000; ; ) {
      const move = await this.client.ok('GET', `/plan-moves/${moveId}`)
      if (move.status === status || Date.now() > endMs) return move
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}
