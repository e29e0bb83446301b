// The facts that rating takes, read from Postgres for several companies at once.
import type { Sql } from 'postgres'
import type { ProrationBehavior } from '../../../schemas/enums.js'
import { grouped } from '../../catalog/plans.js'
import type { StoredPrice } from '../../catalog/prices.js'
import type { PlanHolding, SubscriptionState } from '../../core/model/company-state.js'
import type { Effect } from '../../core/model/message.js'
import {
  type BillingFacts,
  isMetered,
  type Overdraft,
  type Purchase,
  type RatedVersion,
} from '../../core/rating/facts.js'
import { effective, historyOf as entryOfEffect, type HistoryEntry } from '../../core/rating/history.js'
import type { RatedPrice } from '../../core/rating/line.js'
import { amountToDecimal, decodeAmount } from '../../core/values/amount.js'
import { monthStart } from '../../core/values/period.js'
import { among } from '../../kit/sql.js'
import type { RedeemedDiscount } from './coupon-terms.js'
import {
  type ArrearsTerms,
  arrearsTerms,
  itemPrices,
  offered,
  priorTerms,
  ratedVersions,
} from './definitions.js'
import { discountsOf } from './discounts.js'
import { paidUse } from './paid-use.js'
import {
  type FormerBehavior,
  formerProrations,
  noProfile,
  type ProfileTerms,
  paidIn,
  prorationOf,
} from './profile-terms.js'

interface HistoryRow {
  readonly company_id: string
  readonly kind: 'plan' | 'add_ons' | 'subscription' | 'gone'
  readonly subscription_id: string | null
  readonly at_ms: string
  readonly state: PlanHolding | readonly PlanHolding[] | SubscriptionState | null
}

interface GrantRow {
  readonly company_id: string
  readonly credit_id: string
  readonly reason: 'purchased' | 'billing_credit_auto_topup' | 'postpaid_settlement' | 'postpaid_overdraft'
  readonly quantity: string
  readonly bundle_id: string | null
  readonly currency: string | null
  readonly created_at: Date
}

interface SubscriptionRow {
  readonly id: string
  readonly company_id: string
  readonly currency: string
  readonly discounts: readonly RedeemedDiscount[]
}

/** How an environment charges changes inside a period, and what companies without a plan are on. */
interface GroupRow {
  readonly fallback_plan_id: string | null
  readonly settings: { readonly proration_behavior?: ProrationBehavior | null }
}

/** Credits that a company owes at present. */
export interface Debt {
  readonly creditId: string
  /** Exact decimal. */
  readonly credits: string
  /** The present, epoch ms. */
  readonly atMs: number
}

/** A change of a company that is not made yet: what would be written of it. */
export interface PlannedChange {
  readonly companyId: string
  readonly effects: readonly Effect[]
  /** The own subscription afterwards; null: none. */
  readonly subscription: Pick<SubscriptionRow, 'id' | 'currency' | 'discounts'> | null
  readonly atMs: number
}

/**
 * Facts of companies, by id; a company that holds and bought nothing has a history from its creation on. `late` is
 * empty: it is read with the usage.
 *
 * debts    credits owed at present, by company; for open periods.
 * planned  the facts are as after this change; null: as they are.
 * source  RA-5, RA-6, RA-14, RA-16, RA-17.
 */
export async function billingFacts(
  sql: Sql,
  environmentId: string,
  companyIds: readonly string[],
  debts: ReadonlyMap<string, readonly Debt[]> = new Map(),
  planned: PlannedChange | null = null,
): Promise<Map<string, BillingFacts>> {
  const [history, created, granted, subscribed, profiles, formerProfiles, group] = await Promise.all([
    sql<HistoryRow[]>`
      select company_id, kind, subscription_id, at_ms, state from billing_history
      where company_id in ${among(sql, companyIds)} order by place`,
    sql<{ id: string; created_at: Date }[]>`
      select id, created_at from companies where id in ${among(sql, companyIds)}`,
    sql<GrantRow[]>`
      select company_id, credit_id, reason, quantity, bundle_id, currency, created_at from credit_grants
      where company_id in ${among(sql, companyIds)}
        and (reason in ('billing_credit_auto_topup', 'postpaid_settlement', 'postpaid_overdraft')
          or (reason = 'purchased' and bundle_id is not null))
      order by created_at, id`,
    // those too that were a company's before they became another's
    sql<SubscriptionRow[]>`
      select id, company_id, currency, discounts from billing_subscriptions
      where company_id in ${among(sql, companyIds)} or id in (
        select subscription_id from billing_history
        where company_id in ${among(sql, companyIds)} and kind = 'subscription')`,
    sql<(ProfileTerms & { company_id: string })[]>`
      select company_id, proration_behavior, currency from company_billing_profiles
      where company_id in ${among(sql, companyIds)} and is_default`,
    priorTerms<ProfileTerms>(sql, environmentId, 'company_billing_profiles', companyIds),
    planGroup(sql, environmentId),
  ])
  const entriesOf = grouped(history, row => row.company_id)
  const creations = new Map(created.map(row => [row.id, row.created_at.getTime()]))
  const plannedOf = (id: string) => (planned?.companyId === id ? entriesIn(planned) : [])
  const histories = new Map(
    companyIds.map(id => [id, historyOf(entriesOf.get(id) ?? [], creations.get(id) ?? null, plannedOf(id))]),
  )
  const grants = planned ? [...granted, ...purchasesIn(planned)] : granted
  const subscriptions = planned ? withPlanned(subscribed, planned) : subscribed
  const fallback = await fallbackVersions(sql, environmentId, group)
  const all = [...histories.values()].flat()
  const versionIds = new Set([...all.flatMap(versionsIn), ...fallback.flatMap(one => one.versionId ?? [])])
  const [versions, prices, discounts, sold, formerlyPaid] = await Promise.all([
    ratedVersions(sql, environmentId, [...versionIds]),
    itemPrices(sql, environmentId, [...new Set(all.flatMap(pricesIn))]),
    discountsOf(sql, environmentId, subscriptions, histories),
    soldCredits(sql, environmentId, grants, [...versionIds], [...debts.values()].flat()),
    formerCurrencies(sql, environmentId, subscribed, planned),
  ])
  const written = await paidUse(sql, environmentId, histories, discounts)
  const behavior = group.now.settings.proration_behavior ?? null
  const facts = new Map<string, BillingFacts>()
  for (const [companyId, entries] of histories) {
    const profile = {
      now: profiles.find(one => one.company_id === companyId) ?? noProfile,
      former: formerProfiles.flatMap(({ id, terms, until_ms }) =>
        id === companyId ? [{ ...terms, untilMs: Number(until_ms) }] : [],
      ),
    }
    const known = new Set(entries.flatMap(entry => (entry.kind === 'subscription' ? [entry.id] : [])))
    const own = subscriptions.filter(one => one.company_id === companyId || known.has(one.id))
    const currencies = new Map(own.map(one => [one.id, one.currency]))
    const bought = grants.filter(one => one.company_id === companyId)
    const currencyAt = paidIn(entries, { currencies, formerlyPaid }, profile)
    const owing = { history: entries, versions, sold, currencyAt }
    const owed = (debts.get(companyId) ?? []).flatMap(({ creditId, credits, atMs }) =>
      owedCredits(creditId, credits, sinceOf(bought, creditId), atMs, owing),
    )
    facts.set(companyId, {
      companyId,
      history: entries,
      versions,
      fallback,
      itemPrices: prices,
      currencies,
      formerlyPaid,
      currency: profile.now.currency,
      formerCurrencies: profile.former,
      ...prorationOf(profile.now.proration_behavior ?? behavior),
      formerProrations: formerProrations(profile, { now: behavior, former: group.prorations }),
      purchases: bought.flatMap(one => purchaseOf(one, sold, currencyAt)),
      overdrafts: [...overdraftsOf(bought, owing), ...owed],
      discounts: own.flatMap(one => discounts.get(one.id) ?? []),
      paidUse: written.get(companyId) ?? [],
      late: [],
    })
  }
  return facts
}

function entryOf(row: HistoryRow): HistoryEntry {
  const atMs = Number(row.at_ms)
  switch (row.kind) {
    case 'plan':
      return { kind: 'plan', atMs, plan: row.state as PlanHolding | null }
    case 'add_ons':
      return { kind: 'add_ons', atMs, addOns: (row.state as readonly PlanHolding[] | null) ?? [] }
    case 'subscription':
      return { kind: 'subscription', atMs, id: row.subscription_id!, state: row.state as SubscriptionState }
    case 'gone':
      return { kind: 'gone', atMs }
  }
}

/** Holdings that a change not made yet would change. */
const entriesIn = ({ effects, atMs }: PlannedChange): HistoryEntry[] =>
  effects.flatMap(effect => entryOfEffect(effect, atMs) ?? [])

/** Credits that it would buy. */
function purchasesIn({ companyId, effects, atMs }: PlannedChange): GrantRow[] {
  return effects.flatMap((effect): GrantRow[] => {
    if (effect.t !== 'credit_grant' || effect.g.reason !== 'purchased') return []
    const { c: creditId, g } = effect
    return [
      {
        company_id: companyId,
        credit_id: creditId,
        reason: 'purchased',
        quantity: amountToDecimal(decodeAmount(g.q)),
        bundle_id: g.bundle ?? null,
        currency: g.cur ?? null,
        created_at: new Date(atMs),
      },
    ]
  })
}

/** The subscriptions of companies, with one as it would be. */
function withPlanned(
  rows: readonly SubscriptionRow[],
  { companyId, subscription }: PlannedChange,
): SubscriptionRow[] {
  if (subscription === null) return [...rows]
  const { id, currency, discounts } = subscription
  const next = { id, company_id: companyId, currency, discounts }
  return rows.some(one => one.id === id) ? rows.map(one => (one.id === id ? next : one)) : [...rows, next]
}

/** The currencies that subscriptions had until instants, ascending, by id. source: RA-6 */
async function formerCurrencies(
  sql: Sql,
  environmentId: string,
  rows: readonly SubscriptionRow[],
  planned: PlannedChange | null,
): Promise<NonNullable<BillingFacts['formerlyPaid']>> {
  const ids = rows.map(one => one.id)
  const told = await priorTerms<{ currency: string }>(sql, environmentId, 'billing_subscriptions', ids)
  const former = told.map(({ id, terms, until_ms }) => ({ id, ...terms, untilMs: Number(until_ms) }))
  const now = rows.find(one => one.id === planned?.subscription?.id)
  if (planned && now && now.currency !== planned.subscription!.currency)
    former.push({ id: now.id, currency: now.currency, untilMs: planned.atMs })
  return grouped(former, one => one.id)
}

function historyOf(
  rows: readonly HistoryRow[],
  createdMs: number | null,
  planned: readonly HistoryEntry[],
): HistoryEntry[] {
  const entries = rows.map(entryOf)
  const [first] = entries
  // a company that is gone: when it was made is not known; the months that were over by then are closed, but maybe the last
  const madeMs = createdMs ?? (first?.kind === 'gone' ? monthStart(monthStart(first.atMs) - 1) : null)
  // what a company bought or used before it held anything is billed too
  const begins =
    madeMs !== null && (first === undefined || first.atMs > madeMs)
      ? [{ kind: 'add_ons', atMs: madeMs, addOns: [] } as const]
      : []
  return effective([...begins, ...entries, ...planned])
}

function versionsIn(entry: HistoryEntry): string[] {
  if (entry.kind === 'plan') return entry.plan ? [entry.plan.versionId] : []
  return entry.kind === 'add_ons' ? entry.addOns.map(one => one.versionId) : []
}

function pricesIn(entry: HistoryEntry): string[] {
  // the one-time price of a plan: no subscription has it
  if (entry.kind === 'plan') return entry.plan?.priceId ? [entry.plan.priceId] : []
  if (entry.kind === 'add_ons') return entry.addOns.flatMap(one => one.priceId ?? [])
  return entry.kind === 'subscription' ? (entry.state?.items ?? []).map(one => one.priceId) : []
}

interface Group {
  readonly now: GroupRow
  /** Until there was one, it has no fallback plan. */
  readonly former: readonly { readonly terms: Partial<GroupRow>; readonly until_ms: string }[]
  /** How changes were charged until instants, also before there was a group. */
  readonly prorations: readonly FormerBehavior[]
}

async function planGroup(sql: Sql, environmentId: string): Promise<Group> {
  const [[row], all] = await Promise.all([
    sql<
      GroupRow[]
    >`select fallback_plan_id, settings from plan_groups where environment_id = ${environmentId}`,
    sql<{ kind: string; terms: GroupRow; until_ms: string }[]>`
      select kind, terms, until_ms from prior_terms
      where environment_id = ${environmentId} and kind in ('no_plan_group', 'plan_groups') order by place`,
  ])
  return {
    now: row ?? { fallback_plan_id: null, settings: {} },
    former: all,
    prorations: all.map(({ terms, until_ms }) => ({
      behavior: terms.settings.proration_behavior ?? null,
      untilMs: Number(until_ms),
    })),
  }
}

/** Names of what is metered: events, and traits. */
export interface MeteredNames {
  readonly subtypes: readonly string[]
  readonly traits: readonly string[]
}

/** Events and traits that the versions of an environment's fallback plans meter at a price, now and formerly. source: RA-25 */
export async function meteredOfFallback(sql: Sql, environmentId: string): Promise<MeteredNames> {
  const fallback = await fallbackVersions(sql, environmentId, await planGroup(sql, environmentId))
  const ids = [...new Set(fallback.flatMap(one => one.versionId ?? []))]
  const versions = [...(await ratedVersions(sql, environmentId, ids)).values()]
  const priced = versions
    .flatMap(({ entitlements }) => entitlements.filter(isMetered))
    .flatMap(one => [one, ...(one.formerly ?? [])])
  return {
    subtypes: [...new Set(priced.flatMap(one => one.subtype ?? []))],
    traits: [...new Set(priced.flatMap(one => one.trait ?? []))],
  }
}

/** The version of the fallback plan from an instant on (EN-82). source: RA-6 */
async function fallbackVersions(
  sql: Sql,
  environmentId: string,
  { now, former }: Group,
): Promise<BillingFacts['fallback']> {
  const spans = [...former.map(one => one.terms), now].map(({ fallback_plan_id: planId }, i) => ({
    planId: planId ?? null,
    fromMs: i === 0 ? 0 : Number(former[i - 1]!.until_ms),
    untilMs: former[i] ? Number(former[i].until_ms) : Number.POSITIVE_INFINITY,
  }))
  const planIds = [...new Set(spans.flatMap(one => one.planId ?? []))]
  if (planIds.length === 0) return []
  const [published, until] = await Promise.all([
    sql<{ id: string; plan_id: string }[]>`
      select distinct on (plan_id) id, plan_id from plan_versions
      where environment_id = ${environmentId} and plan_id in ${among(sql, planIds)} and published_at is not null
      order by plan_id, (status = 'published' and deleted_at is null) desc, published_at desc, version desc`,
    priorTerms<{ version_id: string }>(sql, environmentId, 'published_versions', planIds),
  ])
  return spans.flatMap(({ planId, fromMs, untilMs }) => {
    const ended = until
      .filter(one => one.id === planId)
      .map(one => ({ versionId: one.terms.version_id, endMs: Number(one.until_ms) }))
      .filter(({ endMs }) => endMs > fromMs)
    const last = published.find(one => one.plan_id === planId)?.id ?? null
    const versions = [...ended, { versionId: last, endMs: Number.POSITIVE_INFINITY }]
    return versions
      .map(({ versionId }, i) => ({ fromMs: ended[i - 1]?.endMs ?? fromMs, versionId }))
      .filter(one => one.fromMs < untilMs)
  })
}

/** Prices of credits: of bundles, of one credit, and of one past zero. */
interface SoldCredits {
  bundlePrice(bundleId: string, currency: string | null, atMs: number): RatedPrice | null
  creditPrice(creditId: string, currency: string | null, atMs: number): RatedPrice | null
  /** The currency of a rate past zero: that of the credit. */
  currencyOf(creditId: string): string
  readonly arrears: readonly ArrearsTerms[]
}

interface PricedRow {
  readonly id: string
  readonly currency: string
  readonly prices: readonly StoredPrice[]
}

async function soldCredits(
  sql: Sql,
  environmentId: string,
  grants: readonly GrantRow[],
  versionIds: readonly string[],
  debts: readonly Debt[],
): Promise<SoldCredits> {
  const bundleIds = [...new Set(grants.flatMap(one => one.bundle_id ?? []))]
  const [arrears, bundles, formerBundles] = await Promise.all([
    arrearsTerms(sql, environmentId, versionIds),
    sql<PricedRow[]>`select id, currency, prices from credit_bundles where id in ${among(sql, bundleIds)}`,
    priorTerms<PricedRow>(sql, environmentId, 'credit_bundles', bundleIds),
  ])
  const creditIds = [...new Set([...grants.map(one => one.credit_id), ...debts.map(one => one.creditId)])]
  const [credits, formerCredits] = await Promise.all([
    sql<PricedRow[]>`select id, currency, prices from billing_credits where id in ${among(sql, creditIds)}`,
    priorTerms<PricedRow>(sql, environmentId, 'billing_credits', creditIds),
  ])
  const priceAt =
    (present: readonly PricedRow[], former: typeof formerBundles) =>
    (id: string, currency: string | null, atMs: number): RatedPrice | null => {
      const row =
        former.find(one => one.id === id && Number(one.until_ms) > atMs)?.terms ??
        present.find(one => one.id === id)
      if (row === undefined) return null
      const price =
        row.prices.find(one => one.currency === (currency ?? row.currency)) ??
        row.prices.find(one => one.currency === row.currency) ??
        row.prices[0]
      return price ? offered(price, 1) : null
    }
  return {
    arrears,
    bundlePrice: priceAt(bundles, formerBundles),
    creditPrice: priceAt(credits, formerCredits),
    currencyOf: id => credits.find(one => one.id === id)?.currency ?? 'usd',
  }
}

/** A bundle, or an automatic top-up, at the price of its time. source: PB-73 */
function purchaseOf(
  grant: GrantRow,
  sold: SoldCredits,
  currencyAt: (atMs: number) => string | null,
): Purchase[] {
  const { reason, bundle_id: bundleId, credit_id: creditId, quantity } = grant
  if (reason === 'postpaid_settlement' || reason === 'postpaid_overdraft') return []
  const atMs = grant.created_at.getTime()
  const price =
    bundleId !== null
      ? sold.bundlePrice(bundleId, grant.currency, atMs)
      : sold.creditPrice(creditId, currencyAt(atMs), atMs)
  return price === null ? [] : [{ atMs, creditId, bundleId, credits: quantity, price }]
}

/** The facts that decide the price of credits owed. */
interface Owing {
  readonly history: readonly HistoryEntry[]
  readonly versions: ReadonlyMap<string, RatedVersion>
  readonly sold: SoldCredits
  readonly currencyAt: (atMs: number) => string | null
}

/** Credits below zero that ends of windows charged (CR-53). `grants`: of one company, oldest first. source: RA-17 */
function overdraftsOf(grants: readonly GrantRow[], owing: Owing): Overdraft[] {
  return grants.flatMap((grant, i) => {
    if (grant.reason !== 'postpaid_settlement') return []
    const atMs = grant.created_at.getTime()
    return owedCredits(
      grant.credit_id,
      grant.quantity,
      sinceOf(grants.slice(0, i), grant.credit_id),
      atMs,
      owing,
    )
  })
}

/** When the overdraft that stands after these grants began: with the first use past zero since the last payment. */
function sinceOf(grants: readonly GrantRow[], creditId: string): number | null {
  const last = grants.findLast(
    one =>
      one.credit_id === creditId &&
      (one.reason === 'postpaid_overdraft' || one.reason === 'postpaid_settlement'),
  )
  return last?.created_at.getTime() ?? null
}

/**
 * Credits owed at an instant, at the rate of what was held last before it that lets credits go below zero; else at the
 * credit's price. source: RA-17, CR-53, CR-54
 */
function owedCredits(
  creditId: string,
  credits: string,
  sinceMs: number | null,
  atMs: number,
  { history, versions, sold, currencyAt }: Owing,
): Overdraft[] {
  let plan: PlanHolding | null = null
  let addOns: readonly PlanHolding[] = []
  let terms: ArrearsTerms | undefined
  for (const entry of history) {
    if (entry.atMs >= atMs) break
    if (entry.kind === 'plan') plan = entry.plan
    if (entry.kind === 'add_ons') addOns = entry.addOns
    const held = (plan === null ? addOns : [plan, ...addOns]).map(one => one.versionId)
    const own = sold.arrears.find(one => one.credit_id === creditId && held.includes(one.plan_version_id))
    terms = own ?? terms
  }
  const version = terms && versions.get(terms.plan_version_id)
  const basis = sold.creditPrice(creditId, currencyAt(atMs), atMs)
  const price = terms?.rate == null ? basis : rateOf(terms.id, terms.rate, sold.currencyOf(creditId))
  if (price === null) return []
  const soldIn = version && { planId: version.planId, versionId: version.versionId, version: version.version }
  return [{ creditId, atMs, sinceMs: sinceMs ?? atMs, credits, price, sold: soldIn ?? null }]
}

const rateOf = (id: string, unit: string, currency: string): RatedPrice => ({
  id,
  currency,
  unit,
  tiers: null,
  mode: 'graduated',
  packageSize: 1,
})
