// A model of companies with add-ons, seats, custom plans and a provider's subscriptions, written from the
// specification alone, without code of the product. Rules: PB-6, PB-13, PB-21…24, PB-30…34, PB-50…56, PB-60,
// PB-61, EN-35, EN-82…97, CR-35, CR-36, CR-39, decisions 28 and 29.
import { monthsAfter, trialDays } from './plan-model.js'
import { dayMs, type Pending, type Strategy } from './plan-walk.js'

export interface Version {
  readonly id: string
  /** Monthly price in the smallest unit; null: the service does not bill it. */
  readonly price: number | null
  /** Price of one seat; null: no seats are sold. */
  readonly seat: number | null
  readonly limit: number
  /** Credits that it grants; `pro` grants them for each seat. */
  readonly grant: number
}

export type PartName = 'basic' | 'extra' | 'free' | 'gratis' | 'more' | 'pro' | 'told' | 'tried'

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
  /** Its products. Plans that are given or taken by hand change nothing of it. */
  sold: { readonly base: Version; readonly addOn: Version | null; readonly seats: number }
}

/** A change that waits for the end of the period (EN-95). */
export interface Downgrade {
  readonly plan: PartName
  version: Version
  addOn: { readonly plan: PartName; readonly version: Version } | null
  readonly seats: number
  readonly atMs: number
}

/** A subscription as its provider reports it. */
export interface Reported {
  readonly status: string
  /** Whether it gives access (PB-51). */
  readonly active: boolean
  /** The end of its access by its own terms (PB-56, PB-58); null: none. */
  readonly endMs: number | null
  /** The end of its trial; null: no trial. */
  readonly trialEndMs: number | null
  /** Its products, and the sum. */
  readonly base: boolean
  readonly addOn: boolean
  readonly total: number
  readonly products: readonly string[]
}

/** A company that the service or a provider bills. */
export interface PartsCompany {
  plan: PartName
  version: Version
  addOn: { readonly plan: PartName; readonly version: Version } | null
  seats: number
  /** Whether the subscription of the service bills the base plan. */
  billed: boolean
  subscription: PartsSubscription | null
  downgrade: Downgrade | null
  reported: Reported | null
  /** Pending changes by plan. */
  readonly pending: Map<PartName, Pending<Version>>
  /** Whether it had the trial. */
  tried: boolean
  /** Base version and add-on held so far, in order, each with its start. */
  readonly history: { readonly base: string; readonly addOn: PartName | null; readonly atMs: number }[]
  /** Every version held so far, once for each time. */
  readonly versions: string[]
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

  /** `waits`: downgrades wait for the end of the period. */
  constructor(
    public nowMs: number,
    readonly waits = false,
  ) {}

  create(id: string): void {
    const version = this.published.get('free')!
    this.companies.set(id, {
      plan: 'free',
      version,
      addOn: null,
      seats: 0,
      billed: false,
      subscription: null,
      downgrade: null,
      reported: null,
      pending: new Map(),
      tried: false,
      history: [{ base: version.id, addOn: null, atMs: this.nowMs }],
      versions: [version.id],
    })
  }

  /** The products of a subscription: price and quantity of each. */
  products({ sold: { base, addOn, seats } }: PartsSubscription): [price: number, quantity: number][] {
    return [
      [base.price!, 1],
      ...(addOn ? [[addOn.price!, 1] as [number, number]] : []),
      ...(seats > 0 ? [[base.seat!, seats] as [number, number]] : []),
    ]
  }

  /** CR-35: the credits of the base plan and of the add-on; null: granted before in this period (CR-39). */
  credits({ plan, version, addOn, seats, versions }: PartsCompany): (number | null)[] {
    const once = (id: string) => versions.filter(one => one === id).length === 1
    const base = plan === 'pro' ? seats * version.grant : version.grant
    return [
      once(version.id) ? base : null,
      addOn === null ? 0 : once(addOn.version.id) ? addOn.version.grant : null,
    ]
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
    const { subscription, reported } = company
    if (what === 'end' || what === 'trial ends') this.#unsubscribed(company, atMs)
    else if (what === 'downgrade') this.#downgrade(company, atMs)
    else if (what === 'provider ends') {
      company.reported = { ...reported!, active: false, endMs: null }
      this.#follow(company, atMs)
    } else if (what === 'trial converts')
      // decision 34: the first period that is paid for begins here
      Object.assign(subscription!, { status: 'active', ...monthFrom(atMs) })
    else if (what === 'migration') this.#migrate(company, plan!, company.pending.get(plan!)!.to, atMs)
    else {
      subscription!.startMs = atMs
      let months = 1
      while (monthsAfter(subscription!.anchorMs, months) <= atMs) months++
      subscription!.endMs = monthsAfter(subscription!.anchorMs, months)
    }
  }

  /** The subscription is over, and with it what it billed (EN-82). */
  #unsubscribed(company: PartsCompany, atMs: number): void {
    this.#byHand(company, atMs, () => {
      if (company.billed) this.#base(company, 'free')
      company.addOn = null
      company.subscription = null
      company.downgrade = null
    })
  }

  #downgrade(company: PartsCompany, atMs: number): void {
    const { plan, version, addOn, seats } = company.downgrade!
    company.downgrade = null
    this.#byHand(company, atMs, () => Object.assign(company, { plan, version, addOn, seats, billed: true }))
    const sold = { base: version, addOn: addOn?.version ?? null, seats }
    Object.assign(company.subscription!, { sold })
  }

  /** A base plan that no subscription bills, in its published version (EN-84). */
  #base(company: PartsCompany, plan: PartName): void {
    company.billed = false
    if (company.plan === plan) return
    company.downgrade = null
    company.plan = plan
    company.version = this.published.get(plan)!
  }

  /** EN-97: migrate the version of a plan or add-on that is held, and what is paid for it. */
  #migrate(company: PartsCompany, plan: PartName, to: Version, atMs: number): void {
    const { subscription, downgrade } = company
    company.pending.delete(plan)
    if (downgrade?.plan === plan) downgrade.version = to
    if (downgrade?.addOn?.plan === plan) downgrade.addOn = { plan, version: to }
    const before = this.#before(company)
    if (company.plan === plan) {
      company.version = to
      if (subscription && company.billed) subscription.sold = { ...subscription.sold, base: to }
    }
    if (company.addOn?.plan === plan) {
      company.addOn = { plan, version: to }
      if (subscription) subscription.sold = { ...subscription.sold, addOn: to }
    }
    this.#record(company, before, atMs)
  }

  /** PB-23: pending changes are void for a plan that is left or that changes its version. */
  #byHand(company: PartsCompany, atMs: number, change: () => void): void {
    const pending = new Map([...company.pending.keys()].map(plan => [plan, held(company, plan)]))
    const before = this.#before(company)
    change()
    for (const plan of pending.keys())
      if (held(company, plan)?.id !== pending.get(plan)?.id) company.pending.delete(plan)
    this.#record(company, before, atMs)
  }

  #before({ version, addOn }: PartsCompany): readonly (string | undefined)[] {
    return [version.id, addOn?.version.id]
  }

  /** PB-34: a change of plans leaves a record. */
  #record(company: PartsCompany, before: readonly (string | undefined)[], atMs: number): void {
    const { version, addOn, history, versions } = company
    for (const id of [version.id, addOn?.version.id])
      if (id !== undefined && !before.includes(id)) versions.push(id)
    const last = history.at(-1)!
    const now = { base: version.id, addOn: addOn?.plan ?? null, atMs }
    if (last.base !== now.base || last.addOn !== now.addOn) history.push(now)
  }

  /** EN-95: after a cancellation only an upgrade can be bought. */
  refuses(id: string, plan: PartName, addOn: boolean, seats: number): boolean {
    const company = this.companies.get(id)!
    if (!company.subscription?.ends && company.downgrade === null) return false
    const comes = addOn && company.addOn === null
    const price = (plan === company.plan ? company.version : this.published.get(plan)!).price!
    const higher =
      plan !== company.plan && (price >= (company.version.price ?? 0) || comes || seats > company.seats)
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
    const before = { ...company }
    const waiting = this.#waiting(company, plan, addOn, seats)
    company.downgrade = waiting
    if (waiting !== null) {
      company.subscription!.ends = false
      return
    }
    this.#byHand(company, this.nowMs, () => {
      company.version = company.plan === plan ? company.version : this.published.get(plan)!
      company.plan = plan
      company.billed = true
      if (!addOn) company.addOn = null
      else company.addOn ??= { plan: 'extra', version: this.published.get('extra')! }
      company.seats = company.version.seat === null ? 0 : seats
    })
    const { subscription, version, seats: bought } = company
    const sold = { base: version, addOn: company.addOn?.version ?? null, seats: bought }
    const period = monthFrom(this.nowMs)
    if (tries) company.tried = true
    if (subscription === null) {
      company.subscription = {
        ...period,
        ...(tries && { endMs: this.nowMs + trialDays * dayMs }),
        status: tries ? 'trialing' : 'active',
        trialEndMs: tries ? this.nowMs + trialDays * dayMs : null,
        setting: setting ?? 'subscribe',
        ends: false,
        sold,
      }
      return
    }
    Object.assign(subscription, { ends: false, sold })
    if (setting !== null) subscription.setting = setting
    const same =
      before.plan === company.plan && before.addOn === company.addOn && before.seats === company.seats
    // PB-32, in this order.
    const up =
      company.version.price! >= (before.version.price ?? 0) ||
      (company.addOn !== null && before.addOn === null) ||
      company.seats > before.seats
    // PB-33: a downgrade restarts the period. A trial continues unchanged.
    if (!same && !up) Object.assign(subscription, period)
    if (subscription.status === 'trialing') subscription.endMs = subscription.trialEndMs!
  }

  /** EN-95, PB-32: the change as it waits for the end of the period; null: it is made at once. */
  #waiting(company: PartsCompany, plan: PartName, addOn: boolean, wanted: number): Downgrade | null {
    const { subscription, billed } = company
    if (!this.waits || subscription?.status !== 'active' || !billed) return null
    const version = company.plan === plan ? company.version : this.published.get(plan)!
    const seats = version.seat === null ? 0 : wanted
    const same = company.plan === plan && addOn === (company.addOn !== null) && seats === company.seats
    const up = version.price! >= company.version.price! || (addOn && !company.addOn) || seats > company.seats
    if (same || up) return null
    return { plan, version, addOn: addOn ? company.addOn : null, seats, atMs: subscription.endMs }
  }

  /** Take every plan now. */
  leave(id: string): void {
    const company = this.companies.get(id)!
    this.#byHand(company, this.nowMs, () => {
      this.#base(company, 'free')
      company.addOn = null
      company.seats = 0
      company.subscription = null
      company.downgrade = null
    })
  }

  /** PUT /company-plans: a base plan that is not billed; the add-on stays or goes. The subscription ends. */
  assign(id: string, plan: 'free' | 'gratis', keep: boolean): void {
    const company = this.companies.get(id)!
    this.#byHand(company, this.nowMs, () => {
      this.#base(company, plan)
      if (!keep) company.addOn = null
      if (company.subscription === null) return
      company.subscription = null
      company.downgrade = null
      company.seats = 0
    })
  }

  cancelLater(id: string): void {
    const company = this.companies.get(id)!
    company.subscription!.ends = true
    company.downgrade = null
  }

  cancelNow(id: string): void {
    this.#unsubscribed(this.companies.get(id)!, this.nowMs)
  }

  /**
   * Publish a version. Companies on older versions move by the strategy (PB-6, EN-97); `excluded` ones stay.
   *
   * returns  the number of the migration
   */
  publish(
    plan: PartName,
    version: Version,
    strategy: Strategy,
    dateMs: number | null,
    excluded: readonly string[] = [],
  ): number {
    this.published.set(plan, version)
    // PB-23: pending moves to an earlier version are void.
    for (const company of this.companies.values()) company.pending.delete(plan)
    const ids = [...this.companies.keys()].filter(id => !excluded.includes(id))
    return this.migrate(plan, strategy, dateMs, ids)
  }

  /** These companies move from other versions of a plan to the published one, by the strategy. */
  migrate(plan: PartName, strategy: Strategy, dateMs: number | null, ids: readonly string[]): number {
    const to = this.published.get(plan)!
    const migration = ++this.#migrations
    for (const id of ids) {
      const company = this.companies.get(id)!
      const had = held(company, plan)
      if (had === null) continue
      if (strategy === 'leave') company.pending.delete(plan)
      if (strategy === 'leave' || had.id === to.id) continue
      const atMs = strategy === 'scheduled' ? dateMs : this.#atMs(company, strategy)
      if (atMs !== null && atMs <= this.nowMs) this.#migrate(company, plan, to, this.nowMs)
      else company.pending.set(plan, { migration, to, atMs, strategy })
    }
    return migration
  }

  callOff(migration: number): void {
    for (const { pending } of this.companies.values())
      for (const [plan, one] of pending) if (one.migration === migration) pending.delete(plan)
  }

  /** PB-21: without subscription now; null: the subscription ends, so the next period is unknown. */
  #atMs({ subscription }: PartsCompany, strategy: Strategy): number | null {
    if (strategy === 'immediate' || subscription === null) return this.nowMs
    const ends = subscription.status === 'trialing' && subscription.setting === 'cancel'
    return subscription.ends || ends ? null : subscription.endMs
  }

  /** A provider's report on a company's subscription. */
  told(id: string, reported: Reported): void {
    const company = this.companies.get(id)!
    company.reported = reported
    this.#follow(company, this.nowMs)
  }

  /** PB-51: plans follow the products of an active subscription. */
  #follow(company: PartsCompany, atMs: number): void {
    const { active, base, addOn } = company.reported!
    this.#byHand(company, atMs, () => {
      if (active && base) this.#base(company, 'told')
      else if (company.plan === 'told') this.#base(company, 'free')
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
        if (custom.price !== version.price) this.#owe(custom, dueMs)
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
      this.#owe(custom, dueMs)
      Object.assign(custom, { version, price: version.price })
    }
  }

  /** N14: a billing in force takes the place of the older ones. */
  #owe(custom: CustomCompany, dueMs: number): void {
    this.#close(custom, custom.billings.length)
    custom.billings.push({ dueMs, status: 'active' })
  }

  #close({ billings }: CustomCompany, place: number): void {
    for (const one of billings.slice(0, place))
      if (one.status === 'active' || one.status === 'pending') one.status = 'expired'
  }

  /** Pay a billing. A pending version takes effect. */
  pay(id: string, place: number, version: Version): void {
    const custom = this.customs.get(id)!
    const billing = custom.billings[place]!
    if (billing.status === 'pending') Object.assign(custom, { version, price: version.price })
    billing.status = 'paid'
    this.#close(custom, place)
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
  readonly what:
    | 'downgrade'
    | 'end'
    | 'migration'
    | 'provider ends'
    | 'renewal'
    | 'trial converts'
    | 'trial ends'
  readonly atMs: number
  readonly plan?: PartName
}

/** A period that begins here. */
const monthFrom = (atMs: number) => ({ startMs: atMs, anchorMs: atMs, endMs: monthsAfter(atMs, 1) })

/** When a pending migration happens as things stand now (PB-21, N1); null: no date can be named. */
export function pendingAt(
  { subscription }: PartsCompany,
  { strategy, atMs }: { readonly strategy: Strategy; readonly atMs: number | null },
): number | null {
  if (strategy !== 'end_of_billing_period' || subscription === null) return atMs
  const ends = subscription.status === 'trialing' && subscription.setting === 'cancel'
  return subscription.ends || ends ? null : subscription.endMs
}

/** The next change by time. At equal instants agreed changes come first. */
function nextOf(company: PartsCompany): Due | null {
  const { subscription, downgrade, pending, reported } = company
  const dues: Due[] = []
  const trialing = subscription?.status === 'trialing'
  if (subscription?.ends)
    dues.push({ what: 'end', atMs: trialing ? subscription.trialEndMs! : subscription.endMs })
  if (downgrade) dues.push({ what: 'downgrade', atMs: downgrade.atMs })
  for (const [plan, one] of pending) {
    const atMs = pendingAt(company, one)
    if (atMs !== null) dues.push({ what: 'migration', atMs, plan })
  }
  if (reported?.active && reported.endMs !== null) dues.push({ what: 'provider ends', atMs: reported.endMs })
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
