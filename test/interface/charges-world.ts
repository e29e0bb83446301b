// Builders for tests of charges: plans that the service bills itself, subscribed companies, use, and closed periods.
import { setTimeout as sleep } from 'node:timers/promises'
import { publishDraftOf } from '../control/planned.js'
import type { Client } from '../harness.js'

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

export interface Sold {
  readonly id: string
  readonly monthly_price: { readonly id: string }
  readonly yearly_price: { readonly id: string }
  readonly active_version: { readonly id: string; readonly version: number }
}

/** A metered entitlement without a limit, in months of the subscription. */
export const metered = {
  value_type: 'unlimited',
  metric_period: 'current_month',
  metric_period_month_reset: 'billing_cycle',
}

const nothingElse = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}

export class ChargesWorld {
  private constructor(
    readonly client: Client,
    readonly environmentId: string,
  ) {}

  static async of(client: Client): Promise<ChargesWorld> {
    const { environment_id: id } = await client.ok('GET', '/whoami')
    return new ChargesWorld(client, id)
  }

  /** Stop the environment's clock at an instant. */
  clock(now: string): Promise<Body> {
    return this.client.ok('PUT', `/environments/${this.environmentId}/clock`, { now, frozen: true })
  }

  /** A plan that the service bills itself. */
  async sold(
    name: string,
    entitlements: readonly object[],
    billing: object,
    more: object = {},
  ): Promise<Sold> {
    const { client } = this
    const plan = await client.ok('POST', '/plans', { name, plan_type: 'plan', ...more })
    for (const one of entitlements)
      await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...one })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      ...billing,
    })
    return publishDraftOf(client, plan.id)
  }

  /** A company that is subscribed to a plan. */
  async subscribed(slug: string, plan: Sold, more: object = {}): Promise<string> {
    const { id } = await this.client.ok('POST', '/companies', { keys: { slug } })
    await this.manage(id, {
      base_plan_id: plan.id,
      base_plan_price_id: plan.monthly_price.id,
      ...more,
    })
    return id
  }

  manage(companyId: string, body: object): Promise<Body> {
    return this.client.ok('POST', '/manage-plan', { ...nothingElse, company_id: companyId, ...body })
  }

  use(slug: string, event: string, quantity: number, more: object = {}): Promise<Body> {
    return this.client.ok('POST', '/events', {
      event_type: 'track',
      body: { event, company: { slug }, quantity },
      ...more,
    })
  }

  charges(companyId: string, period = 'current'): Promise<Body> {
    return this.client.ok('GET', `/companies/${companyId}/charges?period=${period}`)
  }

  /** The charges of a period, once it is closed. */
  async closed(companyId: string, period = 'previous'): Promise<Body> {
    for (let tries = 0; tries < 300; tries++) {
      const charges = await this.charges(companyId, period)
      if (charges.period.status === 'closed') return charges
      await sleep(100)
    }
    throw new Error('the period was not closed')
  }
}

/** Kind, quantity and amount of lines. */
export const told = (lines: readonly Body[]): string[] =>
  lines.map(({ kind, quantity, amount }) => `${kind} ${quantity} ${amount}`)
