// Usage by user of a company, and the credits it took.
import type { Feature } from '../../../schemas/features.js'
import type {
  UserCreditUsage,
  UserDailyCreditPoint,
  UserDailyUsagePoint,
  UserFeatureUsage,
  UserUsageByCompany,
  UserUsageDetail,
} from '../../../schemas/usage.js'
import type { User } from '../../../schemas/users.js'
import { type UserCreditsRow, type UserUsageRow, userCredits, userUsage } from '../../analytics/history.js'
import type { FeatureDef } from '../../core/model/definitions.js'
import { amountToNumber } from '../../core/values/amount.js'
import { dayMs } from '../../core/values/period.js'
import { addQuantity, type Quantity } from '../../core/values/quantity.js'
import { inOrder } from '../../core/values/text-order.js'
import type { EntityCall } from '../../kit/entities.js'
import { long } from '../../kit/long.js'
import { isoTime } from '../../kit/time.js'
import { userBrief } from '../entities/view.js'
import { distinct } from '../entitlements/view.js'
import { featureViews } from '../flags/feature-view.js'
import { type Range, requireRange } from './buckets.js'
import { amount } from './credits.js'
import { userRows } from './store.js'

/** Default length of the window. source: US-30 */
const defaultMs = 30 * dayMs

/**
 * The requested window; by default the 30 days ending now.
 *
 * errors  query_invalid (400) unless start < end.
 * source  US-30.
 */
export function windowOf(startMs: number | undefined, endMs: number | undefined, nowMs: number): Range {
  const end = endMs ?? nowMs
  const range = { startMs: startMs ?? end - defaultMs, endMs: end }
  requireRange(range)
  return range
}

/**
 * Usage of a company by user and feature, with each user's credits.
 *
 * features  the features to report; only event features have users.
 * only      the feature named in the query: credits are then those drawn for it. source: decision
 * source    US-30…32.
 */
export async function usageByUser(
  call: EntityCall,
  companyId: string,
  features: readonly FeatureDef[],
  only: string | undefined,
  range: Range,
): Promise<UserUsageByCompany> {
  const asked = new Questions(call, companyId, features, range)
  const [usage, credits] = await Promise.all([asked.usage(false), asked.credits(false, { featureId: only })])
  const shown = await shownWith(call, features, [...usage, ...credits])
  return {
    start_time: isoTime(range.startMs),
    end_time: isoTime(range.endMs),
    rows: featureTotals(usage, usage, features, shown),
    credits: creditTotals(credits, credits, shown),
  }
}

/**
 * Usage of one user of a company: totals with their share of the company's, and points per UTC day with usage.
 *
 * source  US-35, US-36. Daily points of credits are sums over all credits, because the shape has no credit id:
 *         decision.
 */
export async function usageOfUser(
  call: EntityCall,
  companyId: string,
  userId: string,
  features: readonly FeatureDef[],
  range: Range,
): Promise<UserUsageDetail> {
  const asked = new Questions(call, companyId, features, range)
  const [usage, days, credits, creditDays] = await Promise.all([
    asked.usage(false),
    asked.usage(true, userId),
    asked.credits(false, {}),
    asked.credits(true, { userId }),
  ])
  const ofUser = <Row extends { readonly userId: string | null }>(rows: readonly Row[]): Row[] =>
    rows.filter(row => row.userId === userId)
  const shown = await shownWith(call, features, [{ userId }])
  const user = shown.users.get(userId)
  return {
    start_time: isoTime(range.startMs),
    end_time: isoTime(range.endMs),
    ...(user && { user }),
    feature_totals: featureTotals(ofUser(usage), usage, features, shown),
    daily_points: dailyPoints(days, features, shown),
    credits: creditTotals(ofUser(credits), credits, shown),
    daily_credit_points: dailyCredits(creditDays),
  }
}

/** The queries for one company and window. */
class Questions {
  private readonly subtypes: readonly string[]
  private readonly window: { readonly fromMs: number; readonly toMs: number }

  constructor(
    private readonly call: EntityCall,
    private readonly companyId: string,
    features: readonly FeatureDef[],
    range: Range,
  ) {
    this.subtypes = distinct(features.filter(isCounted).map(feature => feature.eventSubtype))
    this.window = { fromMs: range.startMs, toMs: range.endMs }
  }

  usage(daily: boolean, userId?: string): Promise<UserUsageRow[]> {
    const { services, environment } = this.call
    const { clickhouse, clock } = services
    const subtypes = this.subtypes
    const window = this.window
    return userUsage(
      clickhouse,
      environment.id,
      this.companyId,
      subtypes,
      window,
      daily,
      clock.wall(),
      userId,
    )
  }

  credits(
    daily: boolean,
    only: { readonly userId?: string | undefined; readonly featureId?: string | undefined },
  ): Promise<UserCreditsRow[]> {
    const { services, environment } = this.call
    return userCredits(services.clickhouse, environment.id, this.companyId, this.window, daily, only)
  }
}

function isCounted({ featureType, eventSubtype }: FeatureDef): boolean {
  return featureType === 'event' && eventSubtype !== null
}

/** Data shown beside totals and points. */
interface Shown {
  readonly features: ReadonlyMap<string, Feature>
  readonly users: ReadonlyMap<string, User>
  readonly creditNames: ReadonlyMap<string, string>
}

async function shownWith(
  { services, environment }: EntityCall,
  features: readonly FeatureDef[],
  rows: readonly { readonly userId: string | null }[],
): Promise<Shown> {
  const { sql, catalogs, userSeen } = services
  const counted = features.filter(isCounted).map(feature => feature.id)
  const [views, users] = await Promise.all([
    featureViews(sql, counted, environment.id),
    userRows(sql, environment.id, distinct(rows.map(row => row.userId))),
  ])
  return {
    features: views,
    users: new Map(users.map(user => [user.id, userBrief(user, userSeen.of(user.id))])),
    creditNames: new Map(catalogs.get(environment.id).credits.map(credit => [credit.id, credit.name])),
  }
}

/** US-30, US-32: value descending; equal values by feature and user. `all`: the company's totals, for shares. */
function featureTotals(
  rows: readonly UserUsageRow[],
  all: readonly UserUsageRow[],
  features: readonly FeatureDef[],
  shown: Shown,
): UserFeatureUsage[] {
  const totals = new Map<string, Quantity>()
  for (const { subtype, quantity } of all)
    totals.set(subtype, addQuantity(totals.get(subtype) ?? 0, quantity))
  const views = rows.flatMap(({ userId, subtype, quantity, lastSeenMs }) =>
    features
      .filter(feature => isCounted(feature) && feature.eventSubtype === subtype)
      .map(({ id }) => ({
        ...whose(userId, shown),
        ...ofFeature(id, shown),
        value: long(quantity),
        share: share(quantity, totals.get(subtype)!),
        last_seen: isoTime(lastSeenMs),
      })),
  )
  return views.sort(
    (a, b) =>
      descending(a.value, b.value) ||
      byText(a.feature?.name, b.feature?.name) ||
      byText(a.user_id, b.user_id),
  )
}

/** US-31. */
function creditTotals(
  rows: readonly UserCreditsRow[],
  all: readonly UserCreditsRow[],
  shown: Shown,
): UserCreditUsage[] {
  const totals = new Map<string, bigint>()
  for (const { creditId, consumed } of all)
    totals.set(creditId, (totals.get(creditId) ?? 0n) + amount(consumed))
  const views = rows.map(({ userId, creditId, consumed }) => {
    const used = amountToNumber(amount(consumed))
    return {
      ...whose(userId, shown),
      billing_credit_id: creditId,
      credit_name: shown.creditNames.get(creditId) ?? '',
      credits_used: used,
      share: share(used, amountToNumber(totals.get(creditId)!)),
    }
  })
  return views.sort(
    (a, b) =>
      b.credits_used - a.credits_used ||
      byText(a.billing_credit_id, b.billing_credit_id) ||
      byText(a.user_id, b.user_id),
  )
}

/** US-35: days without usage have no point. */
function dailyPoints(
  rows: readonly UserUsageRow[],
  features: readonly FeatureDef[],
  shown: Shown,
): UserDailyUsagePoint[] {
  return [...rows]
    .sort((a, b) => a.dayMs - b.dayMs || byText(a.subtype, b.subtype))
    .flatMap(({ dayMs: atMs, subtype, quantity }) =>
      features
        .filter(feature => isCounted(feature) && feature.eventSubtype === subtype)
        .map(({ id }) => ({ date: isoTime(atMs), value: long(quantity), ...ofFeature(id, shown) })),
    )
}

function dailyCredits(rows: readonly UserCreditsRow[]): UserDailyCreditPoint[] {
  const days = new Map<number, bigint>()
  for (const { dayMs: atMs, consumed } of rows) days.set(atMs, (days.get(atMs) ?? 0n) + amount(consumed))
  return [...days]
    .sort(([a], [b]) => a - b)
    .map(([atMs, used]) => ({ date: isoTime(atMs), credits_used: amountToNumber(used) }))
}

function whose(userId: string | null, { users }: Shown): { user_id: string | null; user?: User } {
  const user = userId === null ? undefined : users.get(userId)
  return { user_id: userId, ...(user && { user }) }
}

function ofFeature(id: string, { features }: Shown): { feature?: Feature } {
  const feature = features.get(id)
  return feature ? { feature } : {}
}

/** US-32: 0 without a positive total; kept within 0…1 despite corrections (decision). */
function share(value: Quantity, total: Quantity): number {
  return total > 0 ? Math.min(1, Math.max(0, Number(value) / Number(total))) : 0
}

/** Compares figures, which are bigints beyond 2^53: they may be compared but not subtracted. */
function descending(a: number, b: number): number {
  return a > b ? -1 : a < b ? 1 : 0
}

/** Texts ascending, missing ones last. */
function byText(a: string | null | undefined, b: string | null | undefined): number {
  if (a == null || b == null) return a == null ? (b == null ? 0 : 1) : -1
  return inOrder(a, b)
}
