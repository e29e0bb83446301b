// A law over the parts of plans: add-ons and seats of subscriptions that the service bills, plans that follow
// a provider's subscriptions, and custom plans with their billings. Random changes, time and kills are
// compared with a simple model. The seed is printed; TOLLGATE_SEED repeats a run.
import t from 'tap'
import { eventFeature, publishDraftOf } from '../api/planned.js'
import type { Process } from '../harness.js'
import { times } from '../random.js'
import { type Linked, linkedPlan, subscriptionBody } from '../wire/billing-world.js'
import { trialDays } from './plan-model.js'
import {
  type CustomCompany,
  type PartName,
  type PartsCompany,
  PartsModel,
  type PartsSubscription,
  type Version,
} from './plan-parts-model.js'
import {
  dayMs,
  group,
  law,
  none,
  pendingFound,
  pendingWanted,
  random,
  type Strategy,
  seconds,
  start,
  Walk,
} from './plan-walk.js'

t.setTimeout(times(600_000))

const own = { basic: 1000, extra: 500, pro: 3000, tried: 2000 } as const
/** Plans that sell seats. */
const seated: readonly PartName[] = ['basic', 'pro']

class World extends Walk<PartsModel> {
  readonly plans = new Map<PartName, string>()
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
  callsId = ''
  seatsId = ''

  constructor(process: Process, dataDir: string) {
    super(new PartsModel(start), process, dataDir)
  }

  protected async prepare(): Promise<void> {
    const { client } = this
    this.callsId = (await eventFeature(client, 'calls', 'call')).id
    const seats = { name: 'Seats', description: '', feature_type: 'license' }
    this.seatsId = (await client.ok('POST', '/features', seats)).id
    await this.unbilled()
    for (const plan of ['basic', 'extra', 'pro', 'tried'] as const) {
      const plan_type = plan === 'extra' ? 'add_on' : 'plan'
      const { id } = await client.ok('POST', '/plans', { name: plan, plan_type })
      this.plans.set(plan, id)
      await client.ok('POST', '/plan-entitlements', { plan_id: id, ...this.limit(plan, 10) })
      const seat = seated.includes(plan) ? 300 : null
      if (seat !== null) await client.ok('POST', '/plan-entitlements', { plan_id: id, ...this.seat(seat) })
      await client.ok('PUT', `/plans/${id}/billing_products`, this.billing(own[plan], plan))
      await this.published(plan, { price: own[plan], seat, limit: 10 })
    }
    const told = await linkedPlan(client, 'told', [this.limit('told', 10)])
    const more = await linkedPlan(client, 'more', [], { plan_type: 'add_on' })
    this.linked = { told, more }
    for (const [name, { plan }] of Object.entries(this.linked)) {
      this.plans.set(name as PartName, plan.id)
      const version = { id: plan.active_version.id, price: null, seat: null, limit: 10 }
      this.model.publish(name as PartName, version, 'leave', null)
    }
    await client.ok('POST', '/plan-groups', { ...group, fallback_plan_id: this.plans.get('free') })
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

  async unbilled(): Promise<void> {
    const { id } = await this.client.ok('POST', '/plans', { name: 'free', plan_type: 'plan' })
    this.plans.set('free', id)
    await this.client.ok('POST', '/plan-entitlements', { plan_id: id, ...this.limit('free', 1) })
    await this.published('free', { price: null, seat: null, limit: 1 })
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

  /** The add-on grants another feature: the base plan alone sets the limit of calls. */
  limit(plan: PartName, value_numeric: number) {
    const value = { value_type: 'numeric', value_numeric, metric_period: 'all_time' }
    return plan === 'extra'
      ? { feature_id: this.callsId, ...value, value_numeric: 0 }
      : { feature_id: this.callsId, ...value }
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
  ): Promise<void> {
    const id = this.plans.get(plan)!
    const shown = await publishDraftOf(this.client, id, {
      migration_strategy: strategy,
      excluded_company_ids: [],
      ...this.dated(dateMs),
    })
    const version = { id: shown.active_version.id, ...terms }
    this.model.publish(plan, version, strategy, dateMs)
    if (shown.monthly_price) this.prices.set(version.id, shown.monthly_price.id)
    if (!seated.includes(plan)) return
    const [seat] = await this.client.ok('GET', `/plan-entitlements?plan_id=${id}&feature_id=${this.seatsId}`)
    this.seatPrices.set(version.id, seat.metered_monthly_price.id)
  }

  /** The provider decides the end of its periods. Unknown dates are tested by the law of plan changes. */
  strategy(plan: PartName): Strategy {
    const all: Strategy[] = ['immediate', 'immediate', 'leave', 'scheduled', 'end_of_billing_period']
    const undated = [...this.model.companies.values()].some(
      one => one.subscription?.ends && (one.plan === plan || one.addOn?.plan === plan),
    )
    return random.pick(plan === 'told' || plan === 'more' || undated ? all.slice(0, 4) : all)
  }

  async publish(
    plan: PartName = random.pick(['basic', 'extra', 'pro', 'tried', 'told', 'more'] as const),
    strategy: Strategy = this.strategy(plan),
  ): Promise<void> {
    const id = this.plans.get(plan)!
    const had = this.model.published.get(plan)!
    const version = {
      price: had.price === null ? null : 500 + random.below(5000),
      seat: had.seat === null ? null : 100 + random.below(400),
      limit: 1 + random.below(100),
    }
    const dateMs = this.dateOf(strategy)
    this.note(`publish ${plan} ${JSON.stringify(version)} ${strategy}`)
    const { entitlements } = await this.client.ok('GET', `/plans/${id}`)
    for (const one of entitlements)
      await this.client.ok(
        'PUT',
        `/plan-entitlements/${one.id}`,
        one.feature_id === this.seatsId ? this.seat(version.seat!) : this.limit(plan, version.limit),
      )
    if (version.price === null)
      await this.client.ok('PUT', `/plan-bundles/${id}`, { plan: { description: `${random.below(1e9)}` } })
    else await this.client.ok('PUT', `/plans/${id}/billing_products`, this.billing(version.price, plan))
    await this.published(plan, version, strategy, dateMs)
  }

  async subscribe(): Promise<void> {
    const id = random.pick(this.billed)
    const company = this.model.companies.get(id)!
    const plan =
      random.chance(0.5) && company.plan !== 'free'
        ? company.plan
        : random.pick(['basic', 'pro', 'tried'] as const)
    const addOn = random.chance(plan === 'tried' ? 0.2 : 0.5)
    const version = company.plan === plan ? company.version : this.model.published.get(plan)!
    const extra = company.addOn?.version ?? this.model.published.get('extra')!
    const seats = version.seat === null ? 0 : random.below(6)
    const said =
      this.model.tries(id, plan, addOn) || (company.subscription?.status === 'trialing' && random.chance(0.4))
    const setting = said ? random.pick(['cancel', 'subscribe'] as const) : null
    this.note(`subscribe ${id} to ${plan} ${addOn ? 'and extra' : ''} ${seats} seats ${setting ?? ''}`)
    const answer = await this.client.post('/manage-plan', {
      ...none,
      company_id: id,
      base_plan_id: this.plans.get(plan),
      base_plan_price_id: this.prices.get(version.id),
      add_on_selections: addOn
        ? [{ plan_id: this.plans.get('extra'), price_id: this.prices.get(extra.id) }]
        : [],
      pay_in_advance_entitlements:
        seats === 0 ? [] : [{ price_id: this.seatPrices.get(version.id), quantity: seats }],
      ...(setting && { trial_end_setting: setting }),
    })
    const refused = this.model.refuses(id, plan, addOn, seats)
    if (answer.status !== (refused ? 400 : 200))
      throw new Error(`answered ${answer.status} ${JSON.stringify(answer.body.error)}, refused: ${refused}`)
    if (refused) return
    this.model.subscribe(id, plan, addOn, seats, setting)
  }

  async leave(): Promise<void> {
    const id = random.pick(this.billed)
    this.note(`take every plan of ${id}`)
    await this.client.ok('POST', '/manage-plan', { ...none, company_id: id })
    this.model.leave(id)
  }

  async cancelLater(id: string): Promise<void> {
    if (this.model.companies.get(id)!.subscription === null) return
    this.note(`cancel ${id} later`)
    const body = { company_id: id, cancel_immediately: false }
    await this.client.ok('POST', '/manage-plan/subscription/cancel', body)
    this.model.cancelLater(id)
  }

  async tell(): Promise<void> {
    const id = random.pick(this.told)
    const status = random.pick(['active', 'active', 'past_due', 'canceled', 'unpaid', 'paused'] as const)
    const [base, addOn] = [random.chance(0.7), random.chance(0.5)]
    this.note(`provider: ${id} ${status} ${base ? 'told' : ''} ${addOn ? 'more' : ''}`)
    const sold = [...(base ? [this.linked!.told] : []), ...(addOn ? [this.linked!.more] : [])]
    const period = { period_start: seconds(start), period_end: seconds(start + 4000 * dayMs) }
    await this.client.ok(
      'POST',
      '/billing/subscription/upsert',
      subscriptionBody(`sub_${id}`, `cus_${id}`, sold, { status, ...period, expired_at: null }),
    )
    this.model.told(id, status === 'active' || status === 'past_due', base, addOn)
  }

  async publishCustom(): Promise<void> {
    const id = random.pick([...this.customPlans.keys()])
    const planId = this.customPlans.get(id)!
    const custom = this.model.customs.get(id)!
    // One change at a time can wait for its payment.
    const waits = custom.billings.some(({ status }) => status === 'pending')
    // The price in force is not billed again, also while another version waits for its payment.
    const isSame = custom.price !== null && random.chance(0.3)
    const price = isSame ? custom.price! : 500 + random.below(5000)
    const onPayment = random.chance(0.3) && !(waits && custom.version !== null)
    const days = 5 + random.below(30)
    this.note(`publish the plan of ${id} for ${price}, due in ${days} days ${onPayment ? 'on payment' : ''}`)
    await this.client.ok('PUT', `/plans/${planId}/billing_products`, this.billing(price))
    const { draft_version: draft } = await this.client.ok('GET', `/plans/${planId}`)
    await this.client.ok('PUT', `/plans/version/${draft.id}/publish`, {
      migration_strategy: 'immediate',
      excluded_company_ids: [],
      customer_email: 'pay@example.com',
      days_until_due: days,
      ...(onPayment && { activation_strategy: 'on_payment' }),
    })
    const version = { id: draft.id, price, seat: null, limit: 0 }
    const before = custom.billings.length
    const waiting = custom.billings.findIndex(({ status }) => status === 'pending')
    this.model.publishCustom(id, version, days, onPayment)
    const versions = this.billedVersions.get(id)!
    if (custom.billings.length > before) versions.push(version)
    else if (onPayment && waiting >= 0) versions[waiting] = version
  }

  async pay(): Promise<void> {
    const id = random.pick([...this.customPlans.keys()])
    const custom = this.model.customs.get(id)!
    const open = custom.billings.flatMap(({ status }, place) =>
      status === 'active' || status === 'pending' ? [place] : [],
    )
    if (open.length === 0) return
    const place = random.pick(open)
    this.note(`billing ${place} of ${id} is paid`)
    const shown = await this.billings(id)
    await this.client.ok('PUT', `/custom-plan-billings/${shown[place].id}/mark-paid`, {})
    this.model.pay(id, place, this.billedVersions.get(id)![place]!)
  }

  /** Oldest first. */
  async billings(id: string) {
    return (await this.client.ok('GET', `/custom-plan-billings?company_id=${id}&limit=250`)).reverse()
  }

  /** A migration at a date and the end of the subscription, with no request until both are over: PB-34. */
  async foundLate(id: string): Promise<void> {
    const { plan, addOn, subscription } = this.model.companies.get(id)!
    if (subscription === null) return this.days()
    await this.publish(addOn !== null && random.chance(0.5) ? addOn.plan : plan, 'scheduled')
    await this.cancelLater(id)
    this.note('80 days pass')
    await this.pass(80 * dayMs)
  }

  protected async change(): Promise<void> {
    const at = random.next()
    if (at < 0.17) await this.publish()
    else if (at < 0.42) await this.subscribe()
    else if (at < 0.45) await this.leave()
    else if (at < 0.49) await this.cancelLater(random.pick(this.billed))
    else if (at < 0.62) await this.tell()
    else if (at < 0.72) await this.publishCustom()
    else if (at < 0.78) await this.pay()
    else if (at < 0.8) await this.kill()
    else if (at < 0.84) await this.foundLate(random.pick(this.billed))
    else await this.days()
  }

  async check(): Promise<void> {
    for (const [id, company] of this.model.companies)
      this.same(id, await this.found(id, company), this.wanted(id, company))
    for (const [id, custom] of this.model.customs)
      this.same(id, await this.foundCustom(id, custom), this.wantedCustom(custom, id))
  }

  wanted(id: string, company: PartsCompany) {
    const { plan, version, addOn, seats, subscription, pending } = company
    const isBilled = this.billed.includes(id)
    return {
      plan: this.plans.get(plan),
      version: version.id,
      price: isBilled ? version.price : 'the provider’s',
      limit: version.limit,
      addOns: addOn === null ? [] : [addOn.version.id],
      seats: version.seat === null ? null : seats,
      // When several are pending, the base plan's is shown.
      pending: pendingWanted(pending.get(plan) ?? [...pending.values()][0] ?? null),
      subscription: isBilled ? subscription && this.wantedOf(subscription, company) : 'the provider’s',
    }
  }

  wantedOf(subscription: PartsSubscription, company: PartsCompany) {
    const { status, startMs, endMs, trialEndMs, ends } = subscription
    return {
      status,
      total: this.model.total(company),
      period: [seconds(startMs), seconds(endMs)],
      trialEnd: status === 'trialing' ? seconds(trialEndMs!) : null,
      ends,
    }
  }

  async found(id: string, { version }: PartsCompany) {
    const shown = await this.client.ok('GET', `/companies/${id}`)
    const { plan, add_ons: addOns, billing_subscription: subscription } = shown
    const of = (featureId: string) =>
      shown.entitlements.find((one: { feature_id: string }) => one.feature_id === featureId)
    const isBilled = this.billed.includes(id)
    return {
      plan: plan.id,
      version: plan.plan_version_id,
      price: isBilled ? plan.plan_price : 'the provider’s',
      limit: of(this.callsId).allocation,
      addOns: addOns.map((one: { plan_version_id: string }) => one.plan_version_id),
      seats: version.seat === null ? null : of(this.seatsId).allocation,
      pending: pendingFound(shown),
      subscription: isBilled
        ? subscription
          ? {
              status: subscription.status,
              total: subscription.total_price,
              period: [subscription.period_start, subscription.period_end],
              trialEnd: subscription.status === 'trialing' ? subscription.trial_end : null,
              ends: subscription.cancel_at_period_end,
            }
          : null
        : 'the provider’s',
    }
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

law(
  'add-ons, seats, trials, custom plans and a provider over random changes',
  times(60),
  (process, dataDir) => new World(process, dataDir),
)
