// What add-ons, seats, custom plans and a provider's subscriptions make of companies, told from the specification alone:
// no code of the product is used here. Rules: PB-6, PB-13, PB-24, PB-30…33, PB-50…54, PB-60, PB-61, EN-35, EN-82…97.
import { monthsAfter } from './plan-model.js'

export interface Version {
  readonly id: string
  /** A month, in the smallest unit; null: not billed here. */
  readonly price: number | null
  /** Of one seat; null: it sells none. */
  readonly seat: number | null
  readonly limit: number
}

export type PartName = 'basic' | 'extra' | 'free' | 'more' | 'pro' | 'told'

/** A company that the service bills, or that a provider does. */
export interface PartsCompany {
  plan: PartName
  version: Version
  addOn: { readonly plan: PartName; readonly version: Version } | null
  seats: number
  subscription: { startMs: number; anchorMs: number; endMs: number; ends: boolean } | null
}

export interface Billing {
  dueMs: number
  status: 'active' | 'expired' | 'paid' | 'pending'
}

/** A company with a plan of its own. */
export interface CustomCompany {
  /** Null: on the fallback plan. */
  version: Version | null
  price: number | null
  published: Version | null
  /** In the order they were made. */
  readonly billings: Billing[]
}

export class PartsModel {
  readonly published = new Map<PartName, Version>()
  readonly companies = new Map<string, PartsCompany>()
  readonly customs = new Map<string, CustomCompany>()

  constructor(public nowMs: number) {}

  create(id: string): void {
    this.companies.set(id, {
      plan: 'free',
      version: this.published.get('free')!,
      addOn: null,
      seats: 0,
      subscription: null,
    })
  }

  total({ version, addOn, seats }: PartsCompany): number {
    return (version.price ?? 0) + (addOn?.version.price ?? 0) + seats * (version.seat ?? 0)
  }

  advance(toMs: number): void {
    this.nowMs = toMs
    for (const company of this.companies.values()) {
      const { subscription } = company
      while (subscription && company.subscription && subscription.endMs <= toMs)
        if (subscription.ends) this.#free(company)
        else this.#renew(subscription)
    }
    for (const custom of this.customs.values()) {
      const due = custom.billings.filter(
        ({ status, dueMs }) => status !== 'paid' && status !== 'expired' && dueMs <= toMs,
      )
      // PB-60: what is not paid when it is due takes the access away
      if (due.some(({ status }) => status === 'active')) Object.assign(custom, { version: null, price: null })
      for (const one of due) one.status = 'expired'
    }
  }

  #renew(subscription: NonNullable<PartsCompany['subscription']>): void {
    subscription.startMs = subscription.endMs
    let months = 1
    while (monthsAfter(subscription.anchorMs, months) <= subscription.startMs) months++
    subscription.endMs = monthsAfter(subscription.anchorMs, months)
  }

  #free(company: PartsCompany): void {
    company.plan = 'free'
    company.version = this.published.get('free')!
    company.addOn = null
    company.seats = 0
    company.subscription = null
  }

  /** EN-95: while the end is agreed nothing more may be bought, but by a higher plan. */
  refuses(id: string, plan: PartName, addOn: boolean, seats: number): boolean {
    const company = this.companies.get(id)!
    if (!company.subscription?.ends) return false
    const comes = addOn && company.addOn === null
    const price = (plan === company.plan ? company.version : this.published.get(plan)!).price!
    const higher =
      plan !== company.plan && (price >= company.version.price! || comes || seats > company.seats)
    return !higher && (comes || seats > company.seats)
  }

  /** The whole wanted state of a company that the service bills (PB-30); versions stay where plans do (PB-31). */
  subscribe(id: string, plan: PartName, addOn: boolean, seats: number): void {
    const company = this.companies.get(id)!
    const before = { ...company, paid: this.total(company) }
    company.version = company.plan === plan ? company.version : this.published.get(plan)!
    company.plan = plan
    if (!addOn) company.addOn = null
    else company.addOn ??= { plan: 'extra', version: this.published.get('extra')! }
    company.seats = company.version.seat === null ? 0 : seats
    const { subscription } = company
    const fresh = {
      startMs: this.nowMs,
      anchorMs: this.nowMs,
      endMs: monthsAfter(this.nowMs, 1),
      ends: false,
    }
    if (subscription === null) {
      company.subscription = fresh
      return
    }
    subscription.ends = false
    const same =
      before.plan === company.plan && before.addOn === company.addOn && before.seats === company.seats
    // PB-32, in this order
    const up =
      company.version.price! >= before.version.price! ||
      (company.addOn !== null && before.addOn === null) ||
      company.seats > before.seats
    // PB-33: a downgrade restarts the period
    if (!same && !up) company.subscription = fresh
  }

  leave(id: string): void {
    this.#free(this.companies.get(id)!)
  }

  cancelLater(id: string): void {
    this.companies.get(id)!.subscription!.ends = true
  }

  /** A version goes into force; with `moves` companies on older ones go over at once (EN-97). */
  publish(plan: PartName, version: Version, moves: boolean): void {
    this.published.set(plan, version)
    if (!moves) return
    for (const company of this.companies.values()) {
      if (company.plan === plan) company.version = version
      if (company.addOn?.plan === plan) company.addOn = { plan, version }
    }
  }

  /** What a provider tells of a company's subscription: which products it sells, and whether it gives access (PB-51). */
  told(id: string, active: boolean, base: boolean, addOn: boolean): void {
    const company = this.companies.get(id)!
    if (!(active && base)) {
      company.plan = 'free'
      company.version = this.published.get('free')!
    } else if (company.plan !== 'told') {
      company.plan = 'told'
      company.version = this.published.get('told')!
    }
    if (!(active && addOn)) company.addOn = null
    else company.addOn ??= { plan: 'more', version: this.published.get('more')! }
  }

  /** A version of a custom plan goes into force, paid by invoice. */
  publishCustom(id: string, version: Version, days: number, onPayment: boolean): void {
    const custom = this.customs.get(id)!
    const waiting = custom.billings.find(({ status }) => status === 'pending')
    const first = custom.published === null
    custom.published = version
    const dueMs = this.nowMs + days * 86_400_000
    if (custom.version !== null) {
      if (onPayment) custom.billings.push({ dueMs, status: 'pending' })
      else {
        if (custom.price !== version.price) custom.billings.push({ dueMs, status: 'active' })
        Object.assign(custom, { version, price: version.price })
      }
      return
    }
    // the company has left the plan
    if (!first && waiting === undefined) return
    if (onPayment && waiting) waiting.dueMs = dueMs
    else if (onPayment) custom.billings.push({ dueMs, status: 'pending' })
    else {
      if (waiting) waiting.status = 'expired'
      custom.billings.push({ dueMs, status: 'active' })
      Object.assign(custom, { version, price: version.price })
    }
  }

  /** A billing is paid: of one that waited the version takes effect. */
  pay(id: string, place: number, version: Version): void {
    const custom = this.customs.get(id)!
    const billing = custom.billings[place]!
    if (billing.status === 'pending') Object.assign(custom, { version, price: version.price })
    billing.status = 'paid'
  }

  /** When access ends unless it is paid for: the first due date; null: not. */
  endsAt({ version, billings }: CustomCompany): number | null {
    const dues = billings.filter(({ status }) => status === 'active').map(({ dueMs }) => dueMs)
    return version === null || dues.length === 0 ? null : Math.min(...dues)
  }
}
