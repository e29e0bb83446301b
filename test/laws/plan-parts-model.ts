// A model of companies with add-ons, seats, custom plans and a provider's subscriptions, written from the
// specification alone, without code of the product. Rules: PB-6, PB-13, PB-21…24, PB-30…33, PB-50…54, PB-60,
// PB-61, EN-35, EN-82…97, decisions 28 and 29.
import { monthsAfter, trialDays } from './plan-model.js'
import { dayMs, type Pending, type Strategy } from './plan-walk.js'

export interface Version {
  readonly id: string
  /** Monthly price in the smallest unit; null: the service does not bill it. */
  readonly price: number | null
  /** Price of one seat; null: no seats are sold. */
  readonly seat: number | null
  readonly limit: number
}

export type PartName = 'basic' | 'extra' | 'free' | 'more' | 'pro' | 'told' | 'tried'

/** A monthly subscription that the service bills. */
export interface PartsSubscription {
  status: 'active' | 'trialing'
  startMs: number
  anchorMs: number
  endMs: number
  trialEndMs: number | null
  setting: 'cancel' | 'subscribe'
  /** Cancelled for the end of the period. */
  ends: boolean
}

/** A company that the service or a provider bills. */
export interface PartsCompany {
  plan: PartName
  version: Version
  addOn: { readonly plan: PartName; readonly version: Version } | null
  seats: number
  subscription: PartsSubscription | null
  /** Pending changes by plan. */
  readonly pending: Map<PartName, Pending<Version>>
  /** Whether it had the trial. */
  tried: boolean
}

export interface Billing {
  dueMs: number
  status: 'active' | 'expired' | 'paid' | 'pending'
}

/** A company with its own custom plan. */
export interface CustomCompany {
  /** Null: on the fallback plan. */
  version: Version | null
  price: number | null
  published: Version | null
  /** In order of creation. */
  readonly billings: Billing[]
}

export class PartsModel {
  readonly published = new Map<PartName, Version>()
  readonly companies = new Map<string, PartsCompany>()
  readonly customs = new Map<string, CustomCompany>()
  #migrations = 0

  constructor(public nowMs: number) {}

  create(id: string): void {
    this.companies.set(id, {
      plan: 'free',
      version: this.published.get('free')!,
      addOn: null,
      seats: 0,
      subscription: null,
      pending: new Map(),
      tried: false,
    })
  }

  total({ version, addOn, seats }: PartsCompany): number {
    return (version.price ?? 0) + (addOn?.version.price ?? 0) + seats * (version.seat ?? 0)
  }

  advance(toMs: number): void {
    this.nowMs = toMs
    for (const company of this.companies.values())
      for (let next = nextOf(company); next !== null && next.atMs <= toMs; next = nextOf(company))
        this.#happen(company, next)
    for (const custom of this.customs.values()) {
      const due = custom.billings.filter(
        ({ status, dueMs }) => status !== 'paid' && status !== 'expired' && dueMs <= toMs,
      )
      // PB-60: a billing that is overdue ends the access.
      if (due.some(({ status }) => status === 'active')) Object.assign(custom, { version: null, price: null })
      for (const one of due) one.status = 'expired'
    }
  }

  #happen(company: PartsCompany, { what, atMs, plan }: Due): void {
    const { subscription } = company
    if (what === 'end' || what === 'trial ends') this.#free(company)
    else if (what === 'trial converts') subscription!.status = 'active'
    else if (what === 'migration') this.#migrate(company, plan!, company.pending.get(plan!)!.to)
    else {
      subscription!.startMs = atMs
      let months = 1
      while (monthsAfter(subscription!.anchorMs, months) <= atMs) months++
      subscription!.endMs = monthsAfter(subscription!.anchorMs, months)
    }
  }

  #free(company: PartsCompany): void {
    this.#byHand(company, () => {
      company.plan = 'free'
      company.version = this.published.get('free')!
      company.addOn = null
      company.seats = 0
      company.subscription = null
    })
  }

  /** EN-97: migrate the version of a plan or add-on that is held. */
  #migrate(company: PartsCompany, plan: PartName, to: Version): void {
    company.pending.delete(plan)
    if (company.plan === plan) company.version = to
    if (company.addOn?.plan === plan) company.addOn = { plan, version: to }
  }

  /** PB-23: pending changes are void for a plan that is left or that changes its version. */
  #byHand(company: PartsCompany, change: () => void): void {
    const before = new Map([...company.pending.keys()].map(plan => [plan, held(company, plan)]))
    change()
    for (const plan of before.keys())
      if (held(company, plan)?.id !== before.get(plan)?.id) company.pending.delete(plan)
  }

  /** EN-95: after a cancellation only an upgrade can be bought. */
  refuses(id: string, plan: PartName, addOn: boolean, seats: number): boolean {
    const company = this.companies.get(id)!
    if (!company.subscription?.ends) return false
    const comes = addOn && company.addOn === null
    const price = (plan === company.plan ? company.version : this.published.get(plan)!).price!
    const higher =
      plan !== company.plan && (price >= company.version.price! || comes || seats > company.seats)
    return !higher && (comes || seats > company.seats)
  }

  /** EN-90, EN-94: a trial is given once, without add-ons and seats. */
  tries(id: string, plan: PartName, addOn: boolean): boolean {
    const { subscription, tried } = this.companies.get(id)!
    return plan === 'tried' && subscription === null && !tried && !addOn
  }

  /**
   * Set the whole state of a company that the service bills (PB-30). Plans that stay keep their version
   * (PB-31).
   *
   * setting  of the trial that begins or runs; null: not given.
   */
  subscribe(
    id: string,
    plan: PartName,
    addOn: boolean,
    seats: number,
    setting: 'cancel' | 'subscribe' | null,
  ): void {
    const company = this.companies.get(id)!
    const tries = this.tries(id, plan, addOn)
    const before = { ...company, paid: this.total(company) }
    this.#byHand(company, () => {
      company.version = company.plan === plan ? company.version : this.published.get(plan)!
      company.plan = plan
      if (!addOn) company.addOn = null
      else company.addOn ??= { plan: 'extra', version: this.published.get('extra')! }
      company.seats = company.version.seat === null ? 0 : seats
    })
    const { subscription } = company
    const period = { startMs: this.nowMs, anchorMs: this.nowMs, endMs: monthsAfter(this.nowMs, 1) }
    if (tries) company.tried = true
    if (subscription === null) {
      company.subscription = {
        ...period,
        status: tries ? 'trialing' : 'active',
        trialEndMs: tries ? this.nowMs + trialDays * dayMs : null,
        setting: setting ?? 'subscribe',
        ends: false,
      }
      return
    }
    subscription.ends = false
    if (setting !== null) subscription.setting = setting
    const same =
      before.plan === company.plan && before.addOn === company.addOn && before.seats === company.seats
    // PB-32, in this order.
    const up =
      company.version.price! >= before.version.price! ||
      (company.addOn !== null && before.addOn === null) ||
      company.seats > before.seats
    // PB-33: a downgrade restarts the period. A trial continues unchanged.
    if (!same && !up) Object.assign(subscription, period)
  }

  leave(id: string): void {
    this.#free(this.companies.get(id)!)
  }

  cancelLater(id: string): void {
    this.companies.get(id)!.subscription!.ends = true
  }

  /** Publish a version. Companies on older versions move by the strategy (PB-6, EN-97). */
  publish(plan: PartName, version: Version, strategy: Strategy, dateMs: number | null): void {
    this.published.set(plan, version)
    const migration = ++this.#migrations
    for (const company of this.companies.values()) {
      // PB-23: pending moves to an earlier version are void.
      company.pending.delete(plan)
      if (strategy === 'leave' || held(company, plan) === null) continue
      const atMs = strategy === 'scheduled' ? dateMs : this.#atMs(company, strategy)
      if (atMs !== null && atMs <= this.nowMs) this.#migrate(company, plan, version)
      else company.pending.set(plan, { migration, to: version, atMs, strategy })
    }
  }

  /** PB-21: without subscription now; null: the subscription ends, so the next period is unknown. */
  #atMs({ subscription }: PartsCompany, strategy: Strategy): number | null {
    if (strategy === 'immediate' || subscription === null) return this.nowMs
    return subscription.ends ? null : subscription.endMs
  }

  /**
   * A provider's report on a company's subscription: the products sold, and whether it gives access (PB-51).
   */
  told(id: string, active: boolean, base: boolean, addOn: boolean): void {
    const company = this.companies.get(id)!
    this.#byHand(company, () => {
      if (!(active && base)) {
        company.plan = 'free'
        company.version = this.published.get('free')!
      } else if (company.plan !== 'told') {
        company.plan = 'told'
        company.version = this.published.get('told')!
      }
      if (!(active && addOn)) company.addOn = null
      else company.addOn ??= { plan: 'more', version: this.published.get('more')! }
    })
  }

  /** Publish a version of a custom plan, paid by invoice. */
  publishCustom(id: string, version: Version, days: number, onPayment: boolean): void {
    const custom = this.customs.get(id)!
    const waiting = custom.billings.find(({ status }) => status === 'pending')
    const first = custom.published === null
    custom.published = version
    const dueMs = this.nowMs + days * dayMs
    if (custom.version !== null) {
      if (onPayment) custom.billings.push({ dueMs, status: 'pending' })
      else {
        if (custom.price !== version.price) custom.billings.push({ dueMs, status: 'active' })
        Object.assign(custom, { version, price: version.price })
      }
      return
    }
    // The company has left the plan.
    if (!first && waiting === undefined) return
    if (onPayment && waiting) waiting.dueMs = dueMs
    else if (onPayment) custom.billings.push({ dueMs, status: 'pending' })
    else {
      if (waiting) waiting.status = 'expired'
      custom.billings.push({ dueMs, status: 'active' })
      Object.assign(custom, { version, price: version.price })
    }
  }

  /** Pay a billing. A pending version takes effect. */
  pay(id: string, place: number, version: Version): void {
    const custom = this.customs.get(id)!
    const billing = custom.billings[place]!
    if (billing.status === 'pending') Object.assign(custom, { version, price: version.price })
    billing.status = 'paid'
  }

  /** The end of access without a payment: the first due date; null: no end. */
  endsAt({ version, billings }: CustomCompany): number | null {
    const dues = billings.filter(({ status }) => status === 'active').map(({ dueMs }) => dueMs)
    return version === null || dues.length === 0 ? null : Math.min(...dues)
  }
}

/** The company's version of a plan or add-on; null: it has none. */
function held(company: PartsCompany, plan: PartName): Version | null {
  if (company.plan === plan) return company.version
  return company.addOn?.plan === plan ? company.addOn.version : null
}

interface Due {
  readonly what: 'end' | 'migration' | 'renewal' | 'trial converts' | 'trial ends'
  readonly atMs: number
  readonly plan?: PartName
}

/** The next change by time. At equal instants agreed changes come first. */
function nextOf({ subscription, pending }: PartsCompany): Due | null {
  const dues: Due[] = []
  const trialing = subscription?.status === 'trialing'
  if (subscription?.ends)
    dues.push({ what: 'end', atMs: trialing ? subscription.trialEndMs! : subscription.endMs })
  for (const [plan, { atMs }] of pending) if (atMs !== null) dues.push({ what: 'migration', atMs, plan })
  if (trialing)
    dues.push({
      what: subscription.setting === 'cancel' ? 'trial ends' : 'trial converts',
      atMs: subscription.trialEndMs!,
    })
  if (subscription && !subscription.ends) dues.push({ what: 'renewal', atMs: subscription.endMs })
  return dues.reduce<Due | null>(
    (first, one) => (first === null || one.atMs < first.atMs ? one : first),
    null,
  )
}
