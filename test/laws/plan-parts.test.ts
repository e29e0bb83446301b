// A law over the parts of plans: add-ons and seats of subscriptions that the service bills, plans that follow
// a provider's subscriptions, and custom plans with their billings. Versions are published, migrated, assigned
// and cancelled, over time and kills. Every company must have the versions, limits, credits, prices,
// subscription, pending change and history of a simple model. The seed is printed; TOLLGATE_SEED repeats a run.
import t from 'tap'
import { subscriptionBody } from '../interface/billing-world.js'
import { times } from '../random.js'
import type { PartName } from './plan-parts-model.js'
import { isAddOn, PartsWorld, versioned } from './plan-parts-world.js'
import { dayMs, iso, law, none, random, type Strategy, seconds, start } from './plan-walk.js'

t.setTimeout(times(600_000))

/** Plans that POST /manage-plan is asked for. */
type Bought = 'basic' | 'pro' | 'tried'

class World extends PartsWorld {
  /** The provider decides the end of its periods. Unknown dates are tested by the law of plan changes. */
  strategy(plan: PartName): Strategy {
    const all: Strategy[] = ['immediate', 'immediate', 'leave', 'scheduled', 'end_of_billing_period']
    const undated = [...this.model.companies.values()].some(
      one =>
        (one.subscription?.ends || one.reported !== null) && (one.plan === plan || one.addOn?.plan === plan),
    )
    return random.pick(undated ? all.slice(0, 4) : all)
  }

  async publish(
    plan: PartName = random.pick(versioned),
    strategy: Strategy = this.strategy(plan),
    stays = 0.2,
  ): Promise<void> {
    const id = this.plans.get(plan)!
    const had = this.model.published.get(plan)!
    const version = {
      price: had.price === null ? null : 500 + random.below(5000),
      seat: had.seat === null ? null : 100 + random.below(400),
      limit: 1 + random.below(100),
      grant: had.grant === 0 ? 0 : 1 + random.below(100),
    }
    const dateMs = this.dateOf(strategy)
    const excluded = this.companyIds().filter(() => random.chance(stays))
    this.note(`publish ${plan} ${JSON.stringify(version)} ${strategy} but ${excluded}`)
    const { entitlements } = await this.client.ok('GET', `/plans/${id}`)
    for (const one of entitlements)
      await this.client.ok(
        'PUT',
        `/plan-entitlements/${one.id}`,
        one.feature_id === this.seatsId ? this.seat(version.seat!) : this.limit(plan, version.limit),
      )
    if (version.grant > 0) await this.granted(plan, id, version.grant)
    if (version.price === null)
      await this.client.ok('PUT', `/plan-bundles/${id}`, { plan: { description: `${random.below(1e9)}` } })
    else await this.client.ok('PUT', `/plans/${id}/billing_products`, this.billing(version.price, plan))
    await this.published(plan, version, strategy, dateMs, excluded)
  }

  async migrate(): Promise<void> {
    const plan = random.pick(versioned)
    const to = this.model.published.get(plan)!
    const ids = this.companyIds().filter(() => random.chance(0.6))
    const strategy = this.strategy(plan)
    const dateMs = this.dateOf(strategy)
    this.note(`migrate ${ids} to ${plan} ${to.id} ${strategy}`)
    const { id } = await this.client.ok('POST', '/plan-version-migrations', {
      plan_id: this.plans.get(plan),
      plan_version_id_to: to.id,
      target_plan_type: isAddOn(plan) ? 'add_on' : 'plan',
      company_ids: ids,
      strategy,
      ...this.dated(dateMs),
    })
    this.migrations.set(this.model.migrate(plan, strategy, dateMs, ids), id)
  }

  async callOff(): Promise<void> {
    await this.callOffOne(
      [...this.model.companies.values()].flatMap(({ pending }) =>
        [...pending.values()].map(({ migration }) => migration),
      ),
    )
  }

  async assign(): Promise<void> {
    const id = random.pick(this.companyIds())
    const company = this.model.companies.get(id)!
    const plan = random.pick(['free', 'gratis'] as const)
    const keep = random.chance(0.5) && company.subscription === null
    this.note(`assign ${id} to ${plan}, ${keep ? 'its add-on stays' : 'no add-on'}`)
    await this.client.ok('PUT', `/company-plans/${id}`, {
      base_plan_id: this.plans.get(plan),
      add_on_ids: keep && company.addOn ? [this.plans.get(company.addOn.plan)] : [],
    })
    this.model.assign(id, plan, keep)
  }

  async subscribe(): Promise<void> {
    const id = random.pick(this.billed)
    const company = this.model.companies.get(id)!
    const stays = random.chance(0.5) && company.billed
    const plan = stays ? (company.plan as Bought) : random.pick(['basic', 'pro', 'tried'] as const)
    const addOn = random.chance(plan === 'tried' ? 0.2 : 0.5)
    const version = company.plan === plan ? company.version : this.model.published.get(plan)!
    await this.take(id, plan, addOn, version.seat === null ? 0 : random.below(6))
  }

  /** A cheaper base plan with no more than there was, often over the end of the period (EN-95, PB-32). */
  async fall(): Promise<void> {
    const id = random.pick(this.billed)
    const { billed, version, addOn, seats } = this.model.companies.get(id)!
    const cheaper = (['basic', 'pro', 'tried'] as const).filter(
      plan => this.model.published.get(plan)!.price! < version.price!,
    )
    if (!billed || cheaper.length === 0) return this.subscribe()
    const plan = random.pick(cheaper)
    const sells = this.model.published.get(plan)!.seat !== null
    await this.take(id, plan, addOn !== null && random.chance(0.7), sells ? random.below(seats + 1) : 0)
    await this.pass(1000)
    if (random.chance(0.4)) await this.publish(addOn !== null && random.chance(0.5) ? addOn.plan : plan)
    if (random.chance(0.6)) await this.days()
  }

  /** POST /manage-plan with the whole state of a company. */
  async take(id: string, plan: Bought, addOn: boolean, seats: number): Promise<void> {
    const company = this.model.companies.get(id)!
    const version = company.plan === plan ? company.version : this.model.published.get(plan)!
    const extra = company.addOn?.version ?? this.model.published.get('extra')!
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

  async cancel(id: string, now = false): Promise<void> {
    const { subscription, billed, plan, pending } = this.model.companies.get(id)!
    if (subscription === null) return
    // The date of a migration outside the subscription would become unknown.
    if (!now && !billed && (plan === 'gratis' || pending.size > 0)) return
    this.note(`cancel ${id} ${now ? 'now' : 'later'}`)
    const body = { company_id: id, cancel_immediately: now }
    await this.client.ok('POST', '/manage-plan/subscription/cancel', body)
    if (now) this.model.cancelNow(id)
    else this.model.cancelLater(id)
  }

  async tell(): Promise<void> {
    const id = random.pick(this.told)
    const states = [
      'active',
      'active',
      'active',
      'past_due',
      'trialing',
      'canceled',
      'unpaid',
      'paused',
    ] as const
    const status = random.pick(states)
    const [base, addOn] = [random.chance(0.7), random.chance(0.5)]
    const sold = [...(base ? [this.linked!.told] : []), ...(addOn ? [this.linked!.more] : [])]
    const active = status === 'active' || status === 'past_due' || status === 'trialing'
    const laterMs = this.model.nowMs + (1 + random.below(40)) * dayMs
    const trialEndMs = status === 'trialing' ? laterMs : null
    const setting = random.pick(['cancel', 'subscribe'] as const)
    const cancelled = status === 'active' && random.chance(0.3)
    const endMs = cancelled || (trialEndMs !== null && setting === 'cancel') ? laterMs : null
    const priced = sold.map(() => ({ price: random.below(5000), quantity: 1 + random.below(5) }))
    const total = random.below(9000)
    this.note(
      `provider: ${id} ${status} ${base ? 'told' : ''} ${addOn ? 'more' : ''} until ${endMs && iso(endMs)}`,
    )
    const body = subscriptionBody(`sub_${id}`, `cus_${id}`, sold, {
      status,
      total_price: total,
      period_start: seconds(start),
      period_end: seconds(cancelled ? laterMs : start + 4000 * dayMs),
      cancel_at_period_end: cancelled,
      expired_at: null,
      trial_end: trialEndMs && seconds(trialEndMs),
      trial_end_setting: trialEndMs && setting,
    })
    const products = body.product_external_ids.map((one, i) => ({ ...one, ...priced[i] }))
    await this.client.ok('POST', '/billing/subscription/upsert', { ...body, product_external_ids: products })
    const amounts = priced.map(({ price, quantity }) => `${quantity} for ${price}`)
    this.model.told(id, {
      status,
      active,
      // The provider's seconds.
      endMs: endMs && seconds(endMs) * 1000,
      trialEndMs: trialEndMs && seconds(trialEndMs) * 1000,
      base,
      addOn,
      total,
      products: amounts,
    })
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
    const version = { id: draft.id, price, seat: null, limit: 0, grant: 0 }
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

  /** A migration at a date and the end of the subscription, with no request until both are over: PB-34. */
  async foundLate(id: string): Promise<void> {
    const { plan, addOn, subscription, billed } = this.model.companies.get(id)!
    if (subscription === null || !billed) return this.days()
    await this.publish(addOn !== null && random.chance(0.5) ? addOn.plan : plan, 'scheduled', 0)
    await this.cancel(id)
    this.note('80 days pass')
    await this.pass(80 * dayMs)
  }

  protected async change(): Promise<void> {
    const at = random.next()
    if (at < 0.13) await this.publish()
    else if (at < 0.2) await this.migrate()
    else if (at < 0.23) await this.callOff()
    else if (at < 0.3) await this.fall()
    else if (at < 0.44) await this.subscribe()
    else if (at < 0.46) await this.leave()
    else if (at < 0.5) await this.assign()
    else if (at < 0.53) await this.cancel(random.pick(this.billed))
    else if (at < 0.55) await this.cancel(random.pick(this.billed), true)
    else if (at < 0.68) await this.tell()
    else if (at < 0.75) await this.publishCustom()
    else if (at < 0.79) await this.pay()
    else if (at < 0.8) await this.kill()
    else if (at < 0.84) await this.foundLate(random.pick(this.billed))
    else await this.days()
  }
}

law(
  'add-ons, seats, trials, custom plans and a provider over random changes',
  times(60),
  (process, dataDir) => new World(process, dataDir),
)
