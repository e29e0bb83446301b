// A model of companies' plans, written from the specification alone, without code of the product.
//
// Companies have one base plan and at most one monthly subscription. Rules: PB-6, PB-21…24, PB-30…34,
// EN-84…97, decisions 28 and 29.
import { dayMs, type Pending, type Strategy } from './plan-walk.js'

export type PlanName = 'basic' | 'free' | 'gratis' | 'lapsed' | 'pro' | 'tried'

export interface Version {
  readonly id: string
  readonly plan: PlanName
  /** Monthly price in the smallest unit; null: not billed. */
  readonly price: number | null
  readonly limit: number
  /** Credits that it grants. */
  readonly grant: number
}

export interface Subscription {
  status: 'active' | 'trialing'
  total: number
  anchorMs: number
  startMs: number
  endMs: number
  trialEndMs: number | null
  setting: 'cancel' | 'subscribe'
  /** Cancelled for the end of the period. */
  ends: boolean
}

export interface CompanyModel {
  version: Version
  /** Whether the subscription bills the plan. */
  billed: boolean
  price: number | null
  subscription: Subscription | null
  pending: Pending<Version> | null
  readonly trialed: Set<PlanName>
  /** Versions held so far, in order, each with its start. */
  readonly history: { readonly id: string; readonly atMs: number }[]
}

export const trialDays = 14

/** The anchor's day, so many months later; the last day of a month that is too short. */
export function monthsAfter(anchorMs: number, months: number): number {
  const at = new Date(anchorMs)
  const first = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1))
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  const day = Math.min(at.getUTCDate(), last)
  return Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), day) + (anchorMs % dayMs)
}

/** A period that begins here. */
const monthFrom = (atMs: number) => ({ anchorMs: atMs, startMs: atMs, endMs: monthsAfter(atMs, 1) })

export class PlanModel {
  readonly companies = new Map<string, CompanyModel>()
  readonly published = new Map<PlanName, Version>()
  #migrations = 0

  constructor(public nowMs: number) {}

  create(id: string): void {
    const version = this.published.get('free')!
    this.companies.set(id, {
      version,
      billed: false,
      price: null,
      subscription: null,
      pending: null,
      trialed: new Set(),
      history: [{ id: version.id, atMs: this.nowMs }],
    })
  }

  /** Applies changes by time, company by company, in order of their instants. */
  advance(toMs: number): void {
    this.nowMs = toMs
    for (const company of this.companies.values())
      for (let next = nextOf(company); next !== null && next.atMs <= toMs; next = nextOf(company))
        this.#happen(company, next)
  }

  #happen(company: CompanyModel, { what, atMs }: Due): void {
    const { subscription, pending } = company
    switch (what) {
      case 'end':
      case 'trial ends': {
        const trialing = subscription!.status === 'trialing'
        company.subscription = null
        if (company.billed) this.#move(company, this.published.get(trialing ? 'lapsed' : 'free')!, atMs)
        return
      }
      case 'trial converts':
        // decision 34: the first period that is paid for begins here
        Object.assign(subscription!, { status: 'active', ...monthFrom(atMs) })
        return
      case 'migration':
        return this.#migrate(company, pending!.to, atMs)
      case 'renewal': {
        subscription!.startMs = atMs
        let months = 1
        while (monthsAfter(subscription!.anchorMs, months) <= atMs) months++
        subscription!.endMs = monthsAfter(subscription!.anchorMs, months)
        return
      }
    }
  }

  /** Move to another plan, or away from the billed one. Pending changes of the former plan are void. */
  #move(company: CompanyModel, to: Version, atMs: number): void {
    if (company.version.id !== to.id) company.history.push({ id: to.id, atMs })
    if (company.version.id !== to.id) company.pending = null
    company.version = to
    company.billed = false
    company.price = null
  }

  /** EN-97: limits, price and subscription. */
  #migrate(company: CompanyModel, to: Version, atMs: number): void {
    const { billed, subscription } = company
    if (company.version.id !== to.id) company.history.push({ id: to.id, atMs })
    company.version = to
    company.pending = null
    if (!billed || to.price === null) return
    company.price = to.price
    subscription!.total = to.price
  }

  /** Publish a version; `excluded` companies stay. Returns the number of the migration. */
  publish(version: Version, strategy: Strategy, dateMs: number | null, excluded: readonly string[]): number {
    this.published.set(version.plan, version)
    // PB-23: pending moves to an earlier version are void.
    for (const company of this.companies.values())
      if (company.pending?.to.plan === version.plan) company.pending = null
    return this.migrate(version.plan, strategy, dateMs, [...this.companies.keys()], excluded)
  }

  /** Companies on another version of a plan move to the published one, by the strategy. */
  migrate(
    plan: PlanName,
    strategy: Strategy,
    dateMs: number | null,
    ids: readonly string[],
    excluded: readonly string[] = [],
  ): number {
    const to = this.published.get(plan)!
    const migration = ++this.#migrations
    for (const id of ids) {
      const company = this.companies.get(id)!
      if (excluded.includes(id) || company.version.plan !== plan) continue
      if (strategy === 'leave') company.pending = null
      if (strategy === 'leave' || company.version.id === to.id) continue
      const atMs =
        strategy === 'immediate' ? this.nowMs : strategy === 'scheduled' ? dateMs : this.#periodEnd(company)
      if (atMs !== null && atMs <= this.nowMs) this.#migrate(company, to, this.nowMs)
      else company.pending = { migration, to, atMs, strategy }
    }
    return migration
  }

  /** PB-21: without subscription now; null: the subscription ends, so the next period is unknown. */
  #periodEnd({ subscription }: CompanyModel): number | null {
    if (subscription === null) return this.nowMs
    const ends = subscription.status === 'trialing' && subscription.setting === 'cancel'
    return subscription.ends || ends ? null : subscription.endMs
  }

  callOff(migration: number): void {
    for (const company of this.companies.values())
      if (company.pending?.migration === migration) company.pending = null
  }

  /** POST /manage-plan to a billed version. `setting` of the trial, if one begins. */
  subscribe(id: string, to: Version, setting: 'cancel' | 'subscribe'): void {
    const company = this.companies.get(id)!
    const { subscription: had } = company
    const price = to.price!
    if (had === null) {
      const tries = to.plan === 'tried' && !company.trialed.has('tried') && company.version.plan !== 'tried'
      if (tries) company.trialed.add('tried')
      company.subscription = {
        status: tries ? 'trialing' : 'active',
        total: price,
        anchorMs: this.nowMs,
        startMs: this.nowMs,
        endMs: tries ? this.nowMs + trialDays * dayMs : monthsAfter(this.nowMs, 1),
        trialEndMs: tries ? this.nowMs + trialDays * dayMs : null,
        setting: tries ? setting : 'subscribe',
        ends: false,
      }
    } else {
      const falls = price < (company.price ?? 0)
      had.total = price
      had.ends = false
      // PB-33: a downgrade restarts the period
      if (falls) Object.assign(had, monthFrom(this.nowMs))
      if (had.status === 'trialing') had.endMs = had.trialEndMs!
      // A trial continues with the next plan.
      if (had.status === 'trialing') company.trialed.add(to.plan)
    }
    this.#move(company, to, this.nowMs)
    company.billed = true
    company.price = price
  }

  /** PUT /company-plans to a plan that is not billed. The subscription ends with the plan that it billed. */
  assign(id: string, plan: PlanName): void {
    const company = this.companies.get(id)!
    if (company.version.plan === plan) return
    if (company.billed) company.subscription = null
    this.#move(company, this.published.get(plan)!, this.nowMs)
  }

  /** Remove every plan now. */
  leave(id: string): void {
    const company = this.companies.get(id)!
    company.subscription = null
    if (company.version.plan !== 'free') this.#move(company, this.published.get('free')!, this.nowMs)
  }

  /** Cancel the subscription for the end of its period, or of the trial (decision 29). */
  cancelLater(id: string): void {
    this.companies.get(id)!.subscription!.ends = true
  }
}

interface Due {
  readonly what: 'end' | 'migration' | 'renewal' | 'trial converts' | 'trial ends'
  readonly atMs: number
}

/** When the pending migration happens as things stand now (PB-21, N1); null: no date can be named. */
export function pendingAt({ subscription, pending }: CompanyModel): number | null {
  if (pending === null || pending.strategy !== 'end_of_billing_period') return pending?.atMs ?? null
  if (subscription === null) return pending.atMs
  const ends = subscription.status === 'trialing' && subscription.setting === 'cancel'
  return subscription.ends || ends ? null : subscription.endMs
}

/** The next change by time. At equal instants agreed changes come first. */
function nextOf(company: CompanyModel): Due | null {
  const { subscription } = company
  const migratesMs = pendingAt(company)
  const dues: Due[] = []
  const trialing = subscription?.status === 'trialing'
  if (subscription?.ends)
    dues.push({ what: 'end', atMs: trialing ? subscription.trialEndMs! : subscription.endMs })
  if (migratesMs !== null) dues.push({ what: 'migration', atMs: migratesMs })
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
