// The world of the law of plan parts: its plans, prices and companies on a service, and the comparison of each
// company with the model.
import { eventFeature, publishDraftOf } from '../control/planned.js'
import type { Process } from '../harness.js'
import { type Linked, linkedPlan } from '../interface/billing-world.js'
import { trialDays } from './plan-model.js'
import {
  type CustomCompany,
  type PartName,
  type PartsCompany,
  PartsModel,
  type PartsSubscription,
  pendingAt,
  type Reported,
  type Version,
} from './plan-parts-model.js'
import {
  group,
  iso,
  pendingFound,
  pendingWanted,
  random,
  type Strategy,
  seconds,
  start,
  Walk,
} from './plan-walk.js'

const own = { basic: 1000, extra: 500, pro: 3000, tried: 2000 } as const
/** Plans that sell seats. */
const seated: readonly PartName[] = ['basic', 'pro']
/** Plans that grant credits, base plans and add-ons each of their own credit. */
const granting = { pro: 'base', told: 'base', extra: 'addOn', more: 'addOn' } as const
export const isAddOn = (plan: PartName): boolean => plan === 'extra' || plan === 'more'
export const versioned = ['basic', 'extra', 'gratis', 'more', 'pro', 'told', 'tried'] as const

/** A walk with the catalogue and companies of the law. */
export abstract class PartsWorld extends Walk<PartsModel, PartName> {
  /** Version id → its price id, and the price id of a seat. */
  readonly prices = new Map<string, string>()
  readonly seatPrices = new Map<string, string>()
  /**
   * Companies that the service bills, companies of a provider, and companies with a custom plan by the plan's
   * id.
   */
  readonly billed: string[] = []
  readonly told: string[] = []
  readonly customPlans = new Map<string, string>()
  /** Versions of the billings, in order of the billings. */
  readonly billedVersions = new Map<string, Version[]>()
  linked: Record<'more' | 'told', Linked> | null = null
  readonly credits = { base: '', addOn: '' }
  callsId = ''
  exportsId = ''
  seatsId = ''
  licenceId = ''

  constructor(process: Process, dataDir: string) {
    super(new PartsModel(start, random.chance(0.5)), process, dataDir)
  }

  protected async prepare(): Promise<void> {
    const { client } = this
    this.callsId = (await eventFeature(client, 'calls', 'call')).id
    this.exportsId = (await eventFeature(client, 'exports', 'export')).id
    const seats = { name: 'Seats', description: '', feature_type: 'license' }
    const made = await client.ok('POST', '/features', seats)
    this.seatsId = made.id
    this.licenceId = made.license_id
    for (const kind of ['base', 'addOn'] as const) {
      const credit = { name: kind, description: '', currency: 'usd' }
      this.credits[kind] = (await client.ok('POST', '/billing/credits', credit)).id
    }
    for (const plan of ['free', 'gratis'] as const) await this.unbilled(plan)
    for (const plan of ['basic', 'extra', 'pro', 'tried'] as const) {
      const plan_type = plan === 'extra' ? 'add_on' : 'plan'
      const { id } = await client.ok('POST', '/plans', { name: plan, plan_type })
      this.plans.set(plan, id)
      await client.ok('POST', '/plan-entitlements', { plan_id: id, ...this.limit(plan, 10) })
      const seat = seated.includes(plan) ? 300 : null
      if (seat !== null) await client.ok('POST', '/plan-entitlements', { plan_id: id, ...this.seat(seat) })
      await client.ok('PUT', `/plans/${id}/billing_products`, this.billing(own[plan], plan))
      const grant = plan in granting ? 100 : 0
      if (grant > 0) await this.granted(plan, id, grant)
      await this.published(plan, { price: own[plan], seat, limit: 10, grant })
    }
    const told = await linkedPlan(client, 'told', [this.limit('told', 10)])
    const more = await linkedPlan(client, 'more', [this.limit('more', 10)], { plan_type: 'add_on' })
    this.linked = { told, more }
    for (const [name, { plan }] of Object.entries(this.linked)) {
      this.plans.set(name as PartName, plan.id)
      await this.granted(name as PartName, plan.id, 100)
      await this.published(name as PartName, { price: null, seat: null, limit: 10, grant: 100 })
    }
    await client.ok('POST', '/plan-groups', {
      ...group,
      fallback_plan_id: this.plans.get('free'),
      scheduled_downgrade_behavior: this.model.waits ? 'end_of_billing_period' : 'none',
    })
    for (let i = 0; i < 4; i++) {
      const { id } = await client.ok('POST', '/companies', { keys: { slug: `parts${i}` } })
      this.model.create(id)
      if (i < 2) this.billed.push(id)
      else {
        this.told.push(id)
        const customer = { external_id: `cus_${id}`, name: 'C', email: 'c@x', meta: {}, company_id: id }
        await client.ok('POST', '/billing/customer/upsert', customer)
      }
    }
    for (let i = 0; i < 2; i++) await this.customer()
  }

  async unbilled(plan: 'free' | 'gratis'): Promise<void> {
    const { id } = await this.client.ok('POST', '/plans', { name: plan, plan_type: 'plan' })
    this.plans.set(plan, id)
    await this.client.ok('POST', '/plan-entitlements', { plan_id: id, ...this.limit(plan, 1) })
    await this.published(plan, { price: null, seat: null, limit: 1, grant: 0 })
  }

  /** The grant of a plan, once a company; that of `pro` for each seat. */
  async granted(plan: PartName, plan_id: string, credit_amount: number): Promise<void> {
    const terms = { reset_type: 'no_reset', reset_cadence: 'monthly', reset_start: 'billing_period' }
    const { included_credit_grants: grants } = await this.client.ok('GET', `/plans/${plan_id}`)
    if (grants.length > 0)
      return this.client.ok('PUT', `/billing/credits/plan-grants/${grants[0].id}`, {
        credit_amount,
        ...terms,
      })
    const credit_id = this.credits[granting[plan as keyof typeof granting]]
    const seats = { scaling: 'per_license', license_id: this.licenceId, company_credit_amount: 0 }
    const body = { plan_id, credit_id, credit_amount, ...terms, ...(plan === 'pro' && seats) }
    await this.client.ok('POST', '/billing/credits/plan-grants', body)
  }

  /** A company with a custom plan that is not published yet. */
  async customer(): Promise<void> {
    const slug = `custom${this.customPlans.size}`
    const { id } = await this.client.ok('POST', '/companies', { keys: { slug } })
    const plan = await this.client.ok('POST', '/custom-plans', { company_id: id, name: slug })
    this.customPlans.set(id, plan.id)
    this.billedVersions.set(id, [])
    this.model.customs.set(id, { version: null, price: null, published: null, billings: [] })
  }

  /** An add-on limits another feature than base plans do. */
  limit(plan: PartName, value_numeric: number) {
    const feature_id = isAddOn(plan) ? this.exportsId : this.callsId
    return { feature_id, value_type: 'numeric', value_numeric, metric_period: 'all_time' }
  }

  seat(monthly_unit_price: number) {
    return {
      feature_id: this.seatsId,
      value_type: 'trait',
      price_behavior: 'pay_in_advance',
      monthly_unit_price,
    }
  }

  billing(monthly_price: number, plan: PartName | null = null) {
    const trial = plan === 'tried' ? { is_trialable: true, trial_days: trialDays } : { is_trialable: false }
    return { charge_type: 'recurring', ...trial, monthly_price }
  }

  async published(
    plan: PartName,
    terms: Omit<Version, 'id'>,
    strategy: Strategy = 'leave',
    dateMs: number | null = null,
    excluded: readonly string[] = [],
  ): Promise<void> {
    const id = this.plans.get(plan)!
    const shown = await publishDraftOf(this.client, id, {
      migration_strategy: strategy,
      excluded_company_ids: excluded,
      ...this.dated(dateMs),
    })
    const version = { id: shown.active_version.id, ...terms }
    const number = this.model.publish(plan, version, strategy, dateMs, excluded)
    await this.noteMigration(number, version.id)
    if (shown.monthly_price) this.prices.set(version.id, shown.monthly_price.id)
    if (!seated.includes(plan)) return
    const [seat] = await this.client.ok('GET', `/plan-entitlements?plan_id=${id}&feature_id=${this.seatsId}`)
    this.seatPrices.set(version.id, seat.metered_monthly_price.id)
  }

  /** Oldest first. */
  async billings(id: string) {
    return (await this.client.ok('GET', `/custom-plan-billings?company_id=${id}&limit=250`)).reverse()
  }

  async check(): Promise<void> {
    for (const [id, company] of this.model.companies)
      this.same(id, await this.found(id, company), this.wanted(company))
    for (const [id, custom] of this.model.customs)
      this.same(id, await this.foundCustom(id, custom), this.wantedCustom(custom, id))
  }

  wanted(company: PartsCompany) {
    const { plan, version, addOn, seats, billed, subscription, reported, pending, history } = company
    const shown = pending.get(plan) ?? [...pending.values()][0] ?? null
    const { downgrade } = company
    return {
      plan: this.plans.get(plan),
      version: version.id,
      price: plan === 'told' ? 'the provider’s' : billed ? version.price : null,
      limit: version.limit,
      grants: [version.grant, addOn?.version.grant ?? null],
      credits: this.model.credits(company),
      addOns: addOn === null ? [] : [addOn.version.id],
      addOnPrice: addOn?.version.price ?? null,
      exports: addOn?.version.limit ?? null,
      seats: version.seat === null ? null : seats,
      // When several are pending, the base plan's is shown.
      pending: pendingWanted(shown && { ...shown, atMs: pendingAt(company, shown) }),
      subscription: subscription ? this.wantedOf(subscription) : this.reported(reported),
      downgrade: downgrade && `${this.plans.get(downgrade.plan)} ${iso(downgrade.atMs)}`,
      history: history.map(one => `${one.base} ${one.addOn ?? ''} ${iso(one.atMs)}`),
    }
  }

  wantedOf(subscription: PartsSubscription) {
    const { status, startMs, endMs, trialEndMs, ends } = subscription
    const products = this.model.products(subscription)
    return {
      status,
      total: products.reduce((sum, [price, quantity]) => sum + price * quantity, 0),
      products: products.map(([price, quantity]) => `${quantity} for ${price}`).sort(),
      period: [seconds(startMs), seconds(endMs)],
      trialEnd: status === 'trialing' ? seconds(trialEndMs!) : null,
      ends,
    }
  }

  /** As its provider told it; null where it gives no access. */
  reported(reported: Reported | null) {
    if (!reported?.active) return null
    const { status, trialEndMs, total, products } = reported
    const isOver = trialEndMs !== null && trialEndMs <= this.model.nowMs
    return { status: isOver ? 'over' : status, total, products: [...products].sort() }
  }

  async found(id: string, { version, addOn, subscription: own, reported }: PartsCompany) {
    const shown = await this.client.ok('GET', `/companies/${id}`)
    const changes = await this.client.ok('GET', `/plan-changes?company_id=${id}&limit=250`)
    const { plan, add_ons: addOns, billing_subscription: subscription } = shown
    const allocation = (featureId: string) =>
      shown.entitlements.find((one: { feature_id: string }) => one.feature_id === featureId)?.allocation ??
      null
    const credits = this.model.credits(this.model.companies.get(id)!)
    const balance = (kind: 'addOn' | 'base') => shown.billing_credit_balances[this.credits[kind]] ?? 0
    return {
      plan: plan.id,
      version: plan.plan_version_id,
      price: plan.id === this.plans.get('told') ? 'the provider’s' : plan.plan_price,
      limit: allocation(this.callsId),
      grants: [
        plan.included_credit_grants[0]?.credit_amount ?? 0,
        addOn && (addOns[0]?.included_credit_grants[0]?.credit_amount ?? 0),
      ],
      credits: [credits[0] === null ? null : balance('base'), credits[1] === null ? null : balance('addOn')],
      addOns: addOns.map((one: { plan_version_id: string }) => one.plan_version_id),
      addOnPrice: addOn?.version.price == null ? null : addOns[0]?.plan_price,
      exports: allocation(this.exportsId),
      seats: version.seat === null ? null : allocation(this.seatsId),
      pending: pendingFound(shown),
      subscription: own || reported?.active ? this.foundOf(subscription, own, reported) : null,
      downgrade:
        shown.scheduled_downgrade && !own?.ends
          ? `${shown.scheduled_downgrade.to_plan_id} ${shown.scheduled_downgrade.effective_after}`
          : null,
      history: this.historyOf(changes),
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
  foundOf(shown: any, own: PartsSubscription | null, reported: Reported | null) {
    if (!shown) return null
    const amounts = shown.products.map(
      (one: { price: number; quantity: number }) => `${one.quantity} for ${one.price}`,
    )
    const common = { total: shown.total_price, products: amounts.sort() }
    const trialEndMs = reported?.trialEndMs ?? null
    const isOver = trialEndMs !== null && trialEndMs <= this.model.nowMs
    if (own === null) return { status: isOver ? 'over' : shown.status, ...common }
    return {
      status: shown.status,
      ...common,
      period: [shown.period_start, shown.period_end],
      trialEnd: shown.status === 'trialing' ? shown.trial_end : null,
      ends: shown.cancel_at_period_end,
    }
  }

  /** Base version and add-on after each change of either. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
  historyOf(changes: readonly any[]): string[] {
    const names = new Map([...this.plans].map(([name, id]) => [id, name]))
    const found: string[] = []
    const held = new Set<string>()
    let last = ''
    for (const change of [...changes].reverse()) {
      for (const { id } of change.add_ons_removed) held.delete(names.get(id)!)
      for (const { id } of change.add_ons_added) held.add(names.get(id)!)
      const now = `${change.base_plan_version.id} ${[...held].join()}`
      if (now !== last) found.push(`${now} ${change.created_at}`)
      last = now
    }
    return found
  }

  wantedCustom(custom: CustomCompany, id: string) {
    const endsAt = this.model.endsAt(custom)
    return {
      plan: custom.version === null ? this.plans.get('free') : this.customPlans.get(id),
      version: custom.version === null ? this.model.published.get('free')!.id : custom.version.id,
      price: custom.price,
      total: custom.price,
      endsAt: endsAt === null ? null : seconds(endsAt),
      billings: custom.billings.map(({ status }) => status),
    }
  }

  async foundCustom(id: string, custom: CustomCompany) {
    const { plan, billing_subscription: subscription } = await this.client.ok('GET', `/companies/${id}`)
    const running = custom.version === null ? null : subscription
    const billings = await this.billings(id)
    return {
      plan: plan.id,
      version: plan.plan_version_id,
      price: plan.plan_price,
      total: running?.total_price ?? null,
      endsAt: running?.cancel_at ?? null,
      billings: billings.map((one: { status: string }) => one.status),
    }
  }
}
