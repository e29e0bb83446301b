// Rows of billing records, and the conversion of a subscription row to the core's state.
import type { Sql } from 'postgres'
import type { ManagePlanRequest } from '../../../schemas/billing.js'
import type {
  BillingCollectionMethod,
  BillingCollector,
  BillingPriceUsageType,
  BillingProviderType,
  BillingSubscriptionTrialEndSetting,
  CustomPlanBillingStatus,
  InvoiceStatus,
  PaymentGating,
  ProrationBehavior,
  SubscriptionStatus,
} from '../../../schemas/enums.js'
import type { SubscriptionState } from '../../core/model/company-state.js'
import { billingAnchor, isActive } from '../../core/plans/plan.js'
import { renewed } from '../../core/plans/subscription.js'
import { anchorKept, laterDay } from '../../core/values/period.js'
import { readQuantity, type StoredQuantity, storedQuantity } from '../../core/values/quantity.js'
import { among } from '../../kit/sql.js'
import type { RedeemedDiscount } from '../charges/coupon-terms.js'

interface Recorded {
  readonly id: string
  readonly environment_id: string
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of billing_customers. */
export interface CustomerRow extends Recorded {
  readonly provider_type: BillingProviderType
  readonly external_id: string
  readonly name: string
  readonly email: string
  readonly meta: Readonly<Record<string, string>>
  readonly company_id: string | null
  readonly default_payment_method_id: string | null
  readonly deleted_at: Date | null
}

/** One product of a subscription; amounts in the smallest unit. */
export interface SubscribedProduct {
  readonly product_id: string
  readonly price_id: string
  readonly quantity: number
  readonly currency: string
  readonly interval: string
  readonly price: StoredQuantity
  readonly price_decimal: string | null
  readonly usage_type: BillingPriceUsageType
  readonly package_size: number
  readonly billing_threshold: StoredQuantity | null
  readonly meter_id: string | null
  readonly subscription_item_external_id: string | null
}

/** A row of billing_subscriptions. Instants without time zone are epoch seconds; bigints come as text. */
export interface SubscriptionRow extends Recorded {
  readonly provider_type: BillingProviderType
  readonly external_id: string
  readonly customer_external_id: string
  readonly company_id: string | null
  readonly status: SubscriptionStatus
  readonly currency: string
  readonly interval: string
  readonly total_price: string | number
  readonly period_start: string | number
  readonly period_end: string | number
  readonly trial_end: string | number | null
  readonly trial_end_setting: BillingSubscriptionTrialEndSetting | null
  readonly cancel_at: string | number | null
  readonly cancel_at_period_end: boolean
  readonly started_at: Date | null
  readonly expired_at: Date | null
  readonly application_id: string | null
  readonly default_payment_method_id: string | null
  readonly default_payment_method_external_id: string | null
  readonly metadata: { readonly [member: string]: unknown } | null
  readonly products: readonly SubscribedProduct[]
  readonly discounts: readonly RedeemedDiscount[]
  /** Set when the service bills this subscription itself. Periods renew from the anchor, epoch seconds. */
  readonly own: OwnSubscription | null
  /** Day and time of a provider's periods, epoch seconds; null in older rows. */
  readonly billing_cycle_anchor: string | number | null
  /** When the provider's last message about it was made. */
  readonly provider_event_at: Date | null
  /** Start of the overdue time, while the status is past_due. */
  readonly overdue_since: Date | null
  /** When it stops giving access for lack of payment. */
  readonly gated_at: Date | null
}

/** Extra data of a subscription that the service bills itself. */
interface OwnSubscription {
  readonly anchor: number
  readonly months: number
  /** The part of an interval before the first anchor costs nothing. */
  readonly first_free?: true
  /** A change agreed for later (EN-95); null products: the subscription ends then. */
  readonly scheduled: ScheduledSubscription | null
}

export interface ScheduledSubscription {
  readonly id: string
  /** Epoch seconds. */
  readonly effective_at: number
  readonly from_plan_id: string | null
  readonly to_plan_id: string | null
  /** Plans and add-ons from then on, each in the version agreed; absent in older rows. */
  readonly lands?: readonly { readonly plan_id: string; readonly version_id: string }[]
  readonly products: readonly SubscribedProduct[] | null
  readonly total_price: StoredQuantity
  readonly interval: string
  readonly months: number
}

/** A row of billing_invoices. */
export interface InvoiceRow extends Recorded {
  readonly provider_type: BillingProviderType
  readonly external_id: string | null
  readonly customer_external_id: string
  readonly subscription_external_id: string | null
  readonly payment_method_external_id: string | null
  readonly company_id: string | null
  readonly status: InvoiceStatus | null
  readonly collection_method: string
  readonly currency: string
  readonly amount_due: string | number
  readonly amount_paid: string | number
  readonly amount_remaining: string | number
  readonly subtotal: string | number
  readonly starting_balance: string | number
  readonly ending_balance: string | number
  readonly due_date: Date | null
  readonly url: string | null
  /** The closed period that a draft is for. */
  readonly charge_period_id: string | null
}

/** A row of billing_coupons. */
export interface CouponRow extends Recorded {
  readonly provider_type: BillingProviderType
  readonly external_id: string
  readonly name: string
  readonly is_active: boolean
  readonly amount_off: string | number | null
  readonly percent_off: number | null
  readonly currency: string | null
  readonly duration: string | null
  readonly duration_in_months: string | number | null
  readonly max_redemptions: string | number | null
  readonly times_redeemed: string | number
}

/** A row of billing_payment_methods. */
export interface PaymentMethodRow extends Recorded {
  readonly provider_type: BillingProviderType
  readonly external_id: string
  readonly customer_external_id: string
  readonly company_id: string | null
  readonly payment_method_type: string
  readonly account_last4: string | null
  readonly account_name: string | null
  readonly bank_name: string | null
  readonly billing_email: string | null
  readonly billing_name: string | null
  readonly card_brand: string | null
  readonly card_last4: string | null
  readonly card_exp_month: number | null
  readonly card_exp_year: number | null
}

/** A row of billing_meters. */
export interface MeterRow extends Recorded {
  readonly provider_type: BillingProviderType
  readonly external_id: string
  readonly display_name: string
  readonly event_name: string
  readonly event_payload_key: string
}

/** A row of company_billing_profiles. */
export interface ProfileRow extends Recorded {
  readonly company_id: string
  readonly provider_type: BillingProviderType
  readonly name: string | null
  readonly is_default: boolean
  readonly collection_method: BillingCollectionMethod
  readonly days_until_due: number | null
  readonly proration_behavior: ProrationBehavior | null
  readonly payment_method_id: string | null
  readonly billing_customer_id: string | null
  readonly payment_gating: PaymentGating
  readonly gating_days: number
  readonly collector: BillingCollector | null
  readonly currency: string | null
  readonly overdraft_limit: string | number | null
  readonly purchase_order: string | null
}

/** A row of custom_plan_billings. */
export interface CustomPlanBillingRow extends Recorded {
  readonly company_id: string
  readonly plan_id: string
  readonly plan_version_id: string | null
  readonly plan_billing_source: 'amendment' | 'custom_plan' | 'manage_plan'
  /** For an amendment: the migration that moved the company. */
  readonly migration_id: string | null
  /** The POST /manage-plan request that created it. */
  readonly request: ManagePlanRequest | null
  readonly activation_strategy: 'on_payment' | 'on_publish'
  readonly status: CustomPlanBillingStatus
  readonly days_until_due: number
  readonly send_invoice: boolean
  readonly customer_email: string | null
  readonly billing_cycle_anchor: Date | null
  readonly prorate_first_period: boolean | null
  readonly external_invoice_id: string | null
  readonly invoice_url: string | null
  readonly published_at: Date | null
  readonly paid_at: Date | null
}

const numberOrNull = (value: string | number | null | undefined): number | null =>
  value == null ? null : Number(value)

/** A subscription as core state. source: PB-52 */
export function subscriptionState(row: SubscriptionRow): SubscriptionState {
  const ms = (seconds: string | number) => Number(seconds) * 1000
  const msOrNull = (seconds: string | number | null) => (seconds === null ? null : ms(seconds))
  return {
    id: row.id,
    externalId: row.external_id,
    status: row.status,
    periodStartMs: ms(row.period_start),
    periodEndMs: ms(row.period_end),
    intervalMonths: row.own?.months ?? intervalMonths(row.interval),
    cancelAtPeriodEnd: row.cancel_at_period_end,
    cancelAtMs: msOrNull(row.cancel_at),
    trialEndMs: msOrNull(row.trial_end),
    trialEndSetting: row.trial_end_setting,
    productIds: row.products.map(product => product.product_id),
    items: row.products.map(({ product_id, price_id, quantity }) => ({
      productId: product_id,
      priceId: price_id,
      quantity,
    })),
    ...(row.own
      ? { anchorMs: ms(row.own.anchor), ...(row.own.first_free && { isFirstFree: true }) }
      : row.billing_cycle_anchor != null && { cycleAnchorMs: ms(row.billing_cycle_anchor) }),
    ...(row.gated_at && { gatedAtMs: row.gated_at.getTime() }),
  }
}

/**
 * The present state of an own subscription: due changes are applied and periods renewed. A provider's subscription is
 * returned unchanged.
 */
export function subscriptionNow(row: SubscriptionRow, nowMs: number): SubscriptionRow {
  const { own } = row
  if (own === null) return row
  const { scheduled } = own
  if (scheduled !== null && scheduled.effective_at * 1000 <= nowMs)
    return afterSchedule(row, scheduled, nowMs)
  const state = subscriptionState(row)
  if (!isActive(state, nowMs)) return row
  const trialOver = row.status === 'trialing' && state.trialEndMs !== null && state.trialEndMs <= nowMs
  return inPeriod({ ...row, status: trialOver ? 'active' : row.status }, renewed(state, nowMs))
}

function inPeriod(row: SubscriptionRow, now: ReturnType<typeof renewed>): SubscriptionRow {
  return {
    ...row,
    period_start: now.periodStartMs / 1000,
    period_end: now.periodEndMs / 1000,
    own: { ...row.own!, anchor: now.anchorMs / 1000 },
  }
}

function afterSchedule(
  row: SubscriptionRow,
  scheduled: ScheduledSubscription,
  nowMs: number,
): SubscriptionRow {
  const { effective_at, products, total_price, interval, months } = scheduled
  if (products === null) return { ...row, status: 'canceled', own: { ...row.own!, scheduled: null } }
  const sold = { ...row, products, total_price, interval, own: { ...row.own!, months, scheduled: null } }
  const then = { ...subscriptionState(sold), status: row.status, periodEndMs: effective_at * 1000 }
  return inPeriod(sold, renewed(then, nowMs))
}

/**
 * The anchor of a provider's subscription, epoch seconds: the one told, else the one known as long as the bounds agree
 * with it, else the one that they show. Bounds that show a later day, of which the one told or known is the last of a
 * short month, are right: some providers tell the first day on which they billed.
 *
 * told    null: none any more; undefined: nothing said.
 * source  decision 34.
 */
export function providerAnchor(
  told: number | null | undefined,
  had: SubscriptionRow | null,
  [startSeconds, endSeconds]: readonly [number, number],
): number {
  const [startMs, endMs] = [startSeconds * 1000, endSeconds * 1000]
  if (told != null) return Math.floor((laterDay(told * 1000, startMs, endMs) ?? told * 1000) / 1000)
  const known = told === null || had === null ? null : billingAnchor(subscriptionState(had))
  return Math.floor(anchorKept(known, startMs, endMs) / 1000)
}

/** Months in a price's or subscription's interval; a day counts as one month. */
export function intervalMonths(interval: string): number {
  if (interval === 'year') return 12
  return interval === 'quarter' ? 3 : 1
}

/** A subscription row with its numeric texts converted to numbers. */
export function plainSubscription(row: SubscriptionRow) {
  return {
    ...row,
    total_price: storedQuantity(readQuantity(row.total_price)),
    period_start: Number(row.period_start),
    period_end: Number(row.period_end),
    trial_end: numberOrNull(row.trial_end),
    billing_cycle_anchor: numberOrNull(row.billing_cycle_anchor),
    cancel_at: numberOrNull(row.cancel_at),
  }
}

export async function findCustomer(
  sql: Sql,
  environmentId: string,
  externalId: string,
): Promise<CustomerRow | null> {
  const [row] = await sql<CustomerRow[]>`
    select * from billing_customers
    where environment_id = ${environmentId} and external_id = ${externalId} and deleted_at is null`
  return row ?? null
}

export async function findSubscription(
  sql: Sql,
  environmentId: string,
  by: { readonly externalId: string } | { readonly id: string },
): Promise<SubscriptionRow | null> {
  const [row] = await sql<SubscriptionRow[]>`
    select * from billing_subscriptions where environment_id = ${environmentId}
      and ${'id' in by ? sql`(id = ${by.id} or external_id = ${by.id})` : sql`external_id = ${by.externalId}`}
    order by ${'id' in by ? sql`id = ${by.id} desc` : sql`id`} limit 1`
  return row ?? null
}

/** Subscriptions of companies, newest first. */
export async function subscriptionsOf(
  sql: Sql,
  companyIds: readonly string[],
): Promise<readonly SubscriptionRow[]> {
  if (companyIds.length === 0) return []
  return sql<SubscriptionRow[]>`
    select * from billing_subscriptions where company_id in ${among(sql, companyIds)}
    order by created_at desc, id desc`
}
