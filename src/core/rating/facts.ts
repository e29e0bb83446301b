// The input of rating: the history of a company, the definitions it held, and its usage.
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  EntitlementPriceBehavior,
  EntitlementValueType,
  MetricPeriod,
  MonthReset,
} from '../../../schemas/enums.js'
import type { HistoryEntry } from './history.js'
import type { EventSum, RatedPrice } from './line.js'

/** A price that a version sells something at: `months` of its cadence, null for one-time. */
export interface OfferedPrice extends RatedPrice {
  readonly months: number | null
  /** Other sizes of packages until instants, ascending; absent: ever the same. source: RA-6 */
  readonly formerSizes?: readonly { readonly packageSize: number; readonly untilMs: number }[]
}

/** The thing counted: an event name, or a trait; both null: nothing. */
interface Counter {
  readonly subtype: string | null
  readonly trait: string | null
}

/** An entitlement of a version as rating needs it. */
export interface RatedEntitlement extends Counter {
  readonly id: string
  readonly featureId: string
  /** Other things that were counted until instants, ascending; absent: ever the same. */
  readonly formerly?: readonly (Counter & { readonly untilMs: number })[]
  readonly valueType: EntitlementValueType
  readonly behavior: EntitlementPriceBehavior | null
  readonly softLimit: bigint
  readonly metricPeriod: MetricPeriod
  readonly monthReset: MonthReset
  readonly cadence: BillingArrearsCadence
  readonly anchor: BillingArrearsAnchor
  /** Cost in one period, in the smallest unit, at which it is told; absent or null: none. */
  readonly threshold?: bigint | null
  readonly prices: readonly OfferedPrice[]
}

/** Whether an entitlement's use costs money. */
export const isMetered = ({ behavior, prices }: RatedEntitlement): boolean =>
  (behavior === 'pay_as_you_go' || behavior === 'tier' || behavior === 'overage') && prices.length > 0

export interface RatedVersion {
  readonly planId: string
  readonly versionId: string
  readonly version: number
  /** The currency of prices that are named without one. */
  readonly currency: string
  readonly entitlements: readonly RatedEntitlement[]
  /** Ids of prices and products of the version's fee, and of units bought in advance, by feature. */
  readonly feePriceIds: ReadonlySet<string>
  readonly feeProductId: string | null
  readonly seatPriceIds: ReadonlyMap<string, string>
}

/** Terms of prices of subscriptions from an instant on, ascending by it. */
export interface ItemPrice extends OfferedPrice {
  readonly fromMs: number
  readonly isMetered: boolean
  /** The interval of a price by days; absent: by months. */
  readonly days?: number
}

/** Something bought once: a bundle, or an automatic top-up. */
export interface Purchase {
  readonly atMs: number
  readonly creditId: string
  readonly bundleId: string | null
  /** Credits, exact decimal. */
  readonly credits: string
  /** Price of one credit. */
  readonly price: RatedPrice
}

/** Credits that were below zero when a window closed, or are so now. */
export interface Overdraft {
  readonly creditId: string
  readonly atMs: number
  readonly sinceMs: number
  readonly credits: string
  readonly price: RatedPrice
  readonly sold: { readonly planId: string; readonly versionId: string; readonly version: number } | null
}

/** A discount of a subscription: percent or amount off. */
export interface Discount {
  readonly couponId: string
  readonly subscriptionId: string
  readonly fromMs: number
  /** Exclusive; null: for good. */
  readonly untilMs: number | null
  /** Decimal text; null: none. */
  readonly percentOff: string | null
  readonly amountOff: bigint | null
  /** Null: any. */
  readonly currency: string | null
  /** It is for one charge alone. Absent: for all that is charged in its time. */
  readonly once?: OnceFor
}

/** The first charge of its time, whatever that is; once that is known, one in advance, or use. source: RA-16 */
type OnceFor = 'first' | 'advance' | 'use'

/** A window whose use cost something. */
export interface PaidUse {
  readonly subscriptionId: string
  readonly currency: string
  /** End of the window. */
  readonly endMs: number
}

type Proration = Pick<BillingFacts, 'prorates' | 'invoicesAtOnce'>

/** How a change inside a period was charged at its instant. source: RA-14, RA-15 */
export function prorationAt({ formerProrations = [], ...now }: BillingFacts, atMs: number): Proration {
  return formerProrations.find(({ untilMs }) => atMs < untilMs) ?? now
}

/** The currency of a subscription at an instant; undefined: it is not known. source: RA-6 */
export function paidInAt(
  { currencies, formerlyPaid }: Pick<BillingFacts, 'currencies' | 'formerlyPaid'>,
  id: string,
  atMs: number,
): string | undefined {
  const former = formerlyPaid?.get(id)?.find(({ untilMs }) => atMs < untilMs)
  return former?.currency ?? currencies.get(id)
}

/** The currency of what no subscription sells, at an instant. source: RA-6 */
export function currencyAt({ formerCurrencies = [], currency }: BillingFacts, atMs: number): string | null {
  const former = formerCurrencies.find(({ untilMs }) => atMs < untilMs)
  return former ? former.currency : currency
}

export interface BillingFacts {
  readonly companyId: string
  /** As `effective` gives them. */
  readonly history: readonly HistoryEntry[]
  readonly versions: ReadonlyMap<string, RatedVersion>
  /** The version of the fallback plan from an instant on, for a company without base plan (EN-82). */
  readonly fallback: readonly { readonly fromMs: number; readonly versionId: string | null }[]
  readonly itemPrices: ReadonlyMap<string, readonly ItemPrice[]>
  /** Currency of each subscription. */
  readonly currencies: ReadonlyMap<string, string>
  /** The same as it was until instants, ascending; absent: ever as it is. */
  readonly formerlyPaid?: ReadonlyMap<
    string,
    readonly { readonly currency: string; readonly untilMs: number }[]
  >
  /** Companies without subscription; null: as their plan. */
  readonly currency: string | null
  /** The same as it was until instants, ascending; absent: ever as it is. */
  readonly formerCurrencies?: readonly { readonly currency: string | null; readonly untilMs: number }[]
  /** Unused time of what is left is credited (plan group). */
  readonly prorates: boolean
  /** Changes inside a period are charged at once, not with its closing. */
  readonly invoicesAtOnce: boolean
  /** Both as they were until instants, ascending; absent: ever as they are. */
  readonly formerProrations?: readonly (Proration & { readonly untilMs: number })[]
  readonly purchases: readonly Purchase[]
  readonly overdrafts: readonly Overdraft[]
  readonly discounts: readonly Discount[]
  /** Windows of closed periods whose use cost something, as it was written; needed where a discount is for one charge alone. */
  readonly paidUse?: readonly PaidUse[]
  /** Captured times of events that came late, by event name. */
  readonly late: readonly {
    readonly subtype: string
    readonly capturedMs: number
    readonly receivedMs: number
  }[]
}

/** Usage of one company, without backfill: it never becomes money. */
export interface UsageReader {
  /** Events captured in `[fromMs, untilMs)` and received before `receivedMs`. */
  sum(subtype: string, fromMs: number, untilMs: number, receivedMs: number): EventSum
  /** The value that a trait had before an instant; 0 without one. */
  trait(name: string, beforeMs: number): bigint
}
