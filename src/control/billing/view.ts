// Billing records in their wire form.

import type { Sql } from 'postgres'
import type {
  BillingCoupon,
  BillingCustomer,
  BillingProductForSubscription,
  BillingSubscription,
  BillingSubscriptionDiscountView,
  BillingSubscriptionView,
  CompanySubscription,
  CustomPlanBilling,
  Invoice,
  PaymentMethod,
  ScheduledDowngrade,
} from '../../../schemas/billing.js'
import type { CompanyBillingProfile } from '../../../schemas/billing-profile.js'
import type { CustomPlanBillingStatus } from '../../../schemas/enums.js'
import type { CatalogData } from '../../core/model/definitions.js'
import { endsAt, isActive, isGated } from '../../core/plans/plan.js'
import { dayMs } from '../../core/values/period.js'
import { readQuantity } from '../../core/values/quantity.js'
import { long, storedLong, storedLongOrNull } from '../../kit/long.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull, parseTimeOrDate } from '../../kit/time.js'
import { type BillingPriceRow, type BillingProductRow, productRows } from '../prices/rows.js'
import { tierViews } from '../prices/view.js'
import { type PlansOfCompany, withPlans } from './own-subscriptions.js'
import {
  type CouponRow,
  type CustomerRow,
  type CustomPlanBillingRow,
  type InvoiceRow,
  type PaymentMethodRow,
  type ProfileRow,
  plainSubscription,
  type SubscriptionRow,
  subscriptionNow,
  subscriptionState,
  subscriptionsOf,
} from './record-rows.js'
import { runningTrial } from './unbilled-trial.js'

const iso = (date: Date): string => isoTime(date.getTime())
const isoOrNull = (date: Date | null): string | null => (date === null ? null : iso(date))

/** Related records that views of subscriptions need. */
interface SubscriptionParts {
  readonly products: ReadonlyMap<string, BillingProductRow>
  readonly prices: ReadonlyMap<string, BillingPriceRow>
  /** By external id. */
  readonly coupons: ReadonlyMap<string, CouponRow>
  /** The newest invoice of each subscription, by the subscription's external id. */
  readonly invoices: ReadonlyMap<string, InvoiceRow>
  readonly paymentMethods: readonly PaymentMethodRow[]
}

/** Load the related records of these subscriptions of one environment. */
export async function subscriptionParts(
  sql: Sql,
  environmentId: string,
  rows: readonly SubscriptionRow[],
): Promise<SubscriptionParts> {
  if (rows.length === 0)
    return {
      products: new Map(),
      prices: new Map(),
      coupons: new Map(),
      invoices: new Map(),
      paymentMethods: [],
    }
  const items = rows.flatMap(row => [...row.products, ...(row.own?.scheduled?.products ?? [])])
  const [products, prices, coupons, invoices, paymentMethods] = await Promise.all([
    productRows(sql, [...new Set(items.map(item => item.product_id))]),
    sql<BillingPriceRow[]>`
      select * from billing_prices where id in ${among(sql, [...new Set(items.map(item => item.price_id))])}`,
    sql<CouponRow[]>`
      select * from billing_coupons where environment_id = ${environmentId} and external_id in ${among(
        sql,
        rows.flatMap(row => row.discounts.map(discount => discount.coupon_external_id)),
      )}`,
    sql<InvoiceRow[]>`
      select distinct on (subscription_external_id) * from billing_invoices
      where environment_id = ${environmentId} and charge_period_id is null and subscription_external_id in ${among(
        sql,
        rows.map(row => row.external_id),
      )} order by subscription_external_id, created_at desc, id desc`,
    sql<PaymentMethodRow[]>`
      select * from billing_payment_methods where environment_id = ${environmentId} and customer_external_id in ${among(
        sql,
        rows.map(row => row.customer_external_id),
      )}`,
  ])
  return {
    products,
    prices: new Map(prices.map(row => [row.id, row])),
    coupons: new Map(coupons.map(row => [row.external_id, row])),
    invoices: new Map(invoices.map(row => [row.subscription_external_id!, row])),
    paymentMethods,
  }
}

/**
 * The present status: a subscription whose term has ended is canceled; an overdue one stays overdue.
 *
 * source  PB-56, PB-58.
 */
function statusNow(row: SubscriptionRow, nowMs: number): string {
  const state = subscriptionState(row)
  const active = state.status === 'active' || state.status === 'trialing' || state.status === 'past_due'
  return active && endsAt(state) <= nowMs && !isGated(state, nowMs) ? 'canceled' : row.status
}

export function isRunning(row: SubscriptionRow, nowMs: number): boolean {
  return isActive(subscriptionState(subscriptionNow(row, nowMs)), nowMs)
}

/** A subscription in short form, as its upsert answers it. */
export function subscriptionBrief(stored: SubscriptionRow, nowMs: number): BillingSubscription {
  const row = subscriptionNow(stored, nowMs)
  const plain = plainSubscription(row)
  return {
    id: row.id,
    subscription_external_id: row.external_id,
    customer_external_id: row.customer_external_id,
    company_id: row.company_id,
    status: statusNow(row, nowMs),
    currency: row.currency,
    interval: row.interval,
    total_price: storedLong(plain.total_price),
    period_start: plain.period_start,
    period_end: plain.period_end,
    trial_end: plain.trial_end,
    trial_end_setting: row.trial_end_setting,
    cancel_at: plain.cancel_at,
    cancel_at_period_end: row.cancel_at_period_end,
    expired_at: isoOrNull(row.expired_at),
    application_id: row.application_id,
    default_payment_method_id: row.default_payment_method_id,
    ...(row.metadata && { metadata: row.metadata }),
    provider_type: row.provider_type,
    created_at: iso(row.created_at),
  }
}

export function subscriptionView(
  stored: SubscriptionRow,
  parts: SubscriptionParts,
  nowMs: number,
): BillingSubscriptionView {
  const row = subscriptionNow(stored, nowMs)
  const { invoice, paymentMethod } = beside(row, parts)
  return {
    ...subscriptionBrief(stored, nowMs),
    discounts: discountViews(row, parts),
    products: productViews(row, parts),
    ...(invoice && { latest_invoice: invoiceView(invoice) }),
    ...(paymentMethod && { payment_method: paymentMethodView(paymentMethod) }),
  }
}

/** A subscription in the lists of companies' subscriptions. */
export function companySubscription(
  stored: SubscriptionRow,
  parts: SubscriptionParts,
  initialProducts: ReadonlySet<string>,
  nowMs: number,
): CompanySubscription {
  const row = subscriptionNow(stored, nowMs)
  const plain = plainSubscription(row)
  const { invoice, paymentMethod } = beside(row, parts)
  const time = (seconds: number | null) => isoTimeOrNull(seconds === null ? null : seconds * 1000)
  return {
    subscription_external_id: row.external_id,
    customer_external_id: row.customer_external_id,
    status: statusNow(row, nowMs),
    currency: row.currency,
    interval: row.interval,
    total_price: storedLong(plain.total_price),
    cancel_at_period_end: row.cancel_at_period_end,
    is_initial: row.products.some(product => initialProducts.has(product.product_id)),
    discounts: discountViews(row, parts),
    products: productViews(row, parts),
    provider_type: row.provider_type,
    ...(invoice && { latest_invoice: invoiceView(invoice) }),
    ...(paymentMethod && { payment_method: paymentMethodView(paymentMethod) }),
    cancel_at: time(plain.cancel_at),
    expired_at: isoOrNull(row.expired_at),
    trial_end: time(plain.trial_end),
  }
}

function beside(row: SubscriptionRow, { invoices, paymentMethods }: SubscriptionParts) {
  const { default_payment_method_id: id, default_payment_method_external_id: externalId } = row
  return {
    invoice: invoices.get(row.external_id),
    paymentMethod: paymentMethods.find(
      one => (id !== null && one.id === id) || (externalId !== null && one.external_id === externalId),
    ),
  }
}

function productViews(
  row: SubscriptionRow,
  { products, prices }: SubscriptionParts,
): BillingProductForSubscription[] {
  return row.products.map(item => {
    const product = products.get(item.product_id)
    const price = prices.get(item.price_id)
    return {
      id: item.product_id,
      external_id: product?.external_id ?? item.product_id,
      environment_id: row.environment_id,
      name: product?.name ?? item.product_id,
      subscription_id: row.id,
      price_id: item.price_id,
      price_external_id: price?.external_id ?? item.price_id,
      price: storedLong(item.price),
      price_decimal: item.price_decimal,
      price_tier: tierViews(price?.price_tiers ?? []),
      billing_scheme: price?.billing_scheme ?? 'per_unit',
      usage_type: item.usage_type,
      currency: item.currency,
      interval: item.interval,
      interval_count: price?.interval_count ?? null,
      package_size: item.package_size,
      quantity: item.quantity,
      provider_type: product?.provider_type ?? row.provider_type,
      billing_threshold: storedLongOrNull(item.billing_threshold),
      meter_id: item.meter_id,
      subscription_item_external_id: item.subscription_item_external_id,
      created_at: iso(product?.created_at ?? row.created_at),
      updated_at: iso(product?.updated_at ?? row.updated_at),
    }
  })
}

/** A stored time in the common format (decision 9). */
function shownTime(given: string): string {
  const ms = parseTimeOrDate(given)
  return ms === null ? given : isoTime(ms)
}

/** Discounts with the terms that they were redeemed with (RA-16). A coupon without a record is named by its external id. */
function discountViews(
  row: SubscriptionRow,
  { coupons }: SubscriptionParts,
): BillingSubscriptionDiscountView[] {
  const shown = row.discounts.filter(one => one.unreported !== true)
  return shown.map(discount => {
    const known = coupons.get(discount.coupon_external_id)
    const terms = discount.terms ?? known
    return {
      coupon_id: terms?.id ?? discount.coupon_external_id,
      coupon_name: known?.name ?? terms?.name ?? discount.coupon_external_id,
      discount_external_id: discount.external_id,
      duration: terms?.duration ?? '',
      subscription_external_id: row.external_id,
      is_active: discount.is_active,
      started_at: shownTime(discount.started_at),
      ended_at: discount.ended_at == null ? null : shownTime(discount.ended_at),
      amount_off: storedLongOrNull(terms?.amount_off ?? null),
      percent_off: terms?.percent_off ?? null,
      currency: terms?.currency ?? null,
      duration_in_months: storedLongOrNull(terms?.duration_in_months ?? null),
      customer_facing_code: discount.customer_facing_code ?? null,
      promo_code_external_id: discount.promo_code_external_id ?? null,
    }
  })
}

export function customerView(row: CustomerRow): BillingCustomer {
  return {
    id: row.id,
    external_id: row.external_id,
    name: row.name,
    email: row.email,
    provider_type: row.provider_type,
    company_id: row.company_id,
    updated_at: iso(row.updated_at),
    deleted_at: isoOrNull(row.deleted_at),
  }
}

/** `total` equals the subtotal: taxes and discounts are unknown. source: interface document; decision */
export function invoiceView(row: InvoiceRow): Invoice {
  return {
    id: row.id,
    environment_id: row.environment_id,
    external_id: row.external_id,
    customer_external_id: row.customer_external_id,
    subscription_external_id: row.subscription_external_id,
    payment_method_external_id: row.payment_method_external_id,
    company_id: row.company_id,
    status: row.status,
    collection_method: row.collection_method,
    currency: row.currency,
    amount_due: long(readQuantity(row.amount_due)),
    amount_paid: long(readQuantity(row.amount_paid)),
    amount_remaining: long(readQuantity(row.amount_remaining)),
    subtotal: long(readQuantity(row.subtotal)),
    total: long(readQuantity(row.subtotal)),
    starting_balance: long(readQuantity(row.starting_balance)),
    ending_balance: long(readQuantity(row.ending_balance)),
    due_date: isoOrNull(row.due_date),
    url: row.url,
    provider_type: row.provider_type,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }
}

export function paymentMethodView(row: PaymentMethodRow): PaymentMethod {
  return { ...row, created_at: iso(row.created_at), updated_at: iso(row.updated_at) }
}

export function couponView(row: CouponRow, accountId: string): BillingCoupon {
  return {
    id: row.id,
    account_id: accountId,
    environment_id: row.environment_id,
    external_id: row.external_id,
    name: row.name,
    is_active: row.is_active,
    metadata: {},
    provider_type: row.provider_type,
    times_redeemed: storedLong(row.times_redeemed),
    amount_off: storedLongOrNull(row.amount_off),
    percent_off: row.percent_off,
    currency: row.currency,
    duration: row.duration,
    duration_in_months: storedLongOrNull(row.duration_in_months),
    max_redemptions: storedLongOrNull(row.max_redemptions),
    valid_from: null,
    valid_until: null,
  }
}

export function profileView(row: ProfileRow, accountId: string): CompanyBillingProfile {
  return {
    id: row.id,
    account_id: accountId,
    environment_id: row.environment_id,
    company_id: row.company_id,
    name: row.name,
    is_default: row.is_default,
    provider_type: row.provider_type,
    collection_method: row.collection_method,
    days_until_due: row.days_until_due,
    proration_behavior: row.proration_behavior,
    payment_method_id: row.payment_method_id,
    billing_customer_id: row.billing_customer_id,
    gating_days: row.gating_days,
    payment_gating: row.payment_gating,
    collector: row.collector,
    currency: row.currency,
    overdraft_limit: storedLongOrNull(row.overdraft_limit),
    purchase_order: row.purchase_order,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }
}

/** The present status: unpaid past its due date means expired, stored or not. source: PB-61 */
export function billingStatusNow(row: CustomPlanBillingRow, nowMs: number): CustomPlanBillingStatus {
  const { status, published_at: since, days_until_due: days } = row
  if (status !== 'active' && status !== 'pending') return status
  return since !== null && since.getTime() + days * dayMs <= nowMs ? 'expired' : status
}

export function customPlanBillingView(row: CustomPlanBillingRow, nowMs: number): CustomPlanBilling {
  return {
    id: row.id,
    company_id: row.company_id,
    plan_id: row.plan_id,
    plan_billing_source: row.plan_billing_source,
    activation_strategy: row.activation_strategy,
    status: billingStatusNow(row, nowMs),
    days_until_due: row.days_until_due,
    send_invoice: row.send_invoice,
    problems: [],
    external_invoice_id: row.external_invoice_id,
    psp_invoice_url: row.invoice_url,
    paid_at: isoOrNull(row.paid_at),
    published_at: isoOrNull(row.published_at),
    billing_cycle_anchor: isoOrNull(row.billing_cycle_anchor),
    prorate_first_period: row.prorate_first_period,
    billing_start_date: isoOrNull(row.published_at),
    checkout_id: null,
    migration_id: row.migration_id,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }
}

/** The billing members of a company's full view. */
export interface CompanyBilling {
  readonly billing_email: string | null
  readonly billing_profile?: CompanyBillingProfile
  readonly billing_profiles: CompanyBillingProfile[]
  readonly billing_subscriptions: BillingSubscriptionView[]
  readonly billing_subscription?: BillingSubscriptionView
  readonly custom_plan_billings: CustomPlanBilling[]
  readonly payment_methods: PaymentMethod[]
  readonly default_payment_method?: PaymentMethod
  readonly scheduled_downgrade?: ScheduledDowngrade
}

export const noBilling: CompanyBilling = {
  billing_email: null,
  billing_profiles: [],
  billing_subscriptions: [],
  custom_plan_billings: [],
  payment_methods: [],
}

/** The billing part of a company's state. */
interface BillingState {
  /** PB-53. */
  readonly billingSubscriptionId: string | null
  readonly plans: PlansOfCompany
}

/** EN-95: the change agreed for the period's end. Without a target plan it goes to the fallback plan. */
function scheduledDowngrade(row: SubscriptionRow, catalog: CatalogData): ScheduledDowngrade | null {
  const scheduled = row.own?.scheduled
  if (!scheduled) return null
  const toPlanId = scheduled.to_plan_id ?? catalog.fallbackPlanId ?? ''
  const nameOf = (id: string) => catalog.plans.find(plan => plan.id === id)?.name ?? id
  const fromPlanId = scheduled.from_plan_id ?? ''
  return {
    id: scheduled.id,
    currency: row.currency,
    effective_after: isoTime(scheduled.effective_at * 1000),
    from_plan_id: fromPlanId,
    from_plan_name: nameOf(fromPlanId),
    from_subscription_price: storedLong(row.total_price),
    interval: row.interval,
    to_plan_id: toPlanId,
    to_plan_name: nameOf(toPlanId),
    scheduled_interval: scheduled.products === null ? null : scheduled.interval,
    scheduled_price: scheduled.products === null ? null : storedLong(scheduled.total_price),
  }
}

/**
 * The stored billing data of companies.
 *
 * companies  by id.
 * asked      the answer of `billedCompanies` for them.
 * source     interface document (Company); PB-53 for `billing_subscription`.
 */
export async function billingOfCompanies(
  { sql }: Pick<Services, 'sql'>,
  catalog: CatalogData,
  companies: ReadonlyMap<string, BillingState>,
  asked: BilledCompanies,
  nowMs: number,
): Promise<ReadonlyMap<string, CompanyBilling>> {
  const all = [...companies.keys()]
  const billed = await asked
  const unbilled = all.filter(id => !billed.has(id))
  const stored = await storedBilling(
    sql,
    catalog,
    new Map([...companies].filter(([id]) => billed.has(id))),
    nowMs,
  )
  const alone = unbilled.map((id): [string, CompanyBilling] => {
    const trial = runningTrial(id, companies.get(id)!.plans.plan, nowMs)
    const shown = trial ? { billing_subscriptions: [trial], billing_subscription: trial } : {}
    return [id, { ...noBilling, ...shown }]
  })
  return new Map([...stored, ...alone])
}

/** Companies of which anything is stored beside their plans. */
export type BilledCompanies = Promise<ReadonlyMap<string, true>>

/** Ask which of these companies anything is stored of beside their plans, while their actors are asked for the rest. */
export function billedCompanies(
  { sql, reads }: Pick<Services, 'sql' | 'reads'>,
  environmentId: string,
  ids: readonly string[],
): BilledCompanies {
  const asked = reads.many(`billed companies ${environmentId}`, ids, some => billedAmong(sql, some))
  asked.catch(() => {}) // its readers get the error; without a reader it must not end the process
  return asked
}

/** Companies that anything is stored of beside their plans: most are in none of these tables. */
async function billedAmong(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, true>> {
  const rows = await sql<{ id: string }[]>`
    select asked.id from jsonb_array_elements_text(${sql.json([...ids])}) as asked (id)
    where exists (select from billing_subscriptions t where t.company_id = asked.id)
      or exists (select from billing_payment_methods t where t.company_id = asked.id)
      or exists (select from company_billing_profiles t where t.company_id = asked.id)
      or exists (select from billing_customers t where t.company_id = asked.id)
      or exists (select from company_billing_details t where t.company_id = asked.id)
      or exists (select from custom_plan_billings t where t.company_id = asked.id)`
  return new Map(rows.map(({ id }) => [id, true]))
}

async function storedBilling(
  sql: Sql,
  catalog: CatalogData,
  companies: ReadonlyMap<string, BillingState>,
  nowMs: number,
): Promise<ReadonlyMap<string, CompanyBilling>> {
  const companyIds = [...companies.keys()]
  if (companyIds.length === 0) return new Map()
  const among_ = among(sql, companyIds)
  const [stored, methods, profiles, customers, details, owed] = await Promise.all([
    subscriptionsOf(sql, companyIds),
    sql<PaymentMethodRow[]>`
      select * from billing_payment_methods where company_id in ${among_} order by created_at desc, id desc`,
    sql<ProfileRow[]>`
      select * from company_billing_profiles where company_id in ${among_} order by created_at desc, id desc`,
    sql<CustomerRow[]>`
      select * from billing_customers where company_id in ${among_} and deleted_at is null
      order by created_at desc, id desc`,
    sql<{ company_id: string; email: string | null }[]>`
      select company_id, email from company_billing_details where company_id in ${among_}`,
    sql<CustomPlanBillingRow[]>`
      select * from custom_plan_billings where company_id in ${among_} order by created_at desc, id desc`,
  ])
  const told = [...companies.values()].map(one => one.plans)
  const subscriptions = await withPlans(sql, stored, told)
  const parts = await subscriptionParts(sql, catalog.environmentId, subscriptions)
  const of = <R extends { readonly company_id: string | null }>(rows: readonly R[], id: string): R[] =>
    rows.filter(row => row.company_id === id)
  return new Map(
    companyIds.map((id): [string, CompanyBilling] => {
      const trial = runningTrial(id, companies.get(id)?.plans.plan ?? null, nowMs)
      const billed = of(subscriptions, id).map(row => subscriptionView(row, parts, nowMs))
      const own = trial ? [trial, ...billed] : billed
      const ownProfiles = of(profiles, id)
      const profile = ownProfiles.find(row => row.is_default)
      const ownMethods = of(methods, id)
      const wanted = [
        profile?.payment_method_id,
        ...of(customers, id).map(row => row.default_payment_method_id),
      ]
      const chosen = ownMethods.find(row => wanted.includes(row.id) || wanted.includes(row.external_id))
      const current = own.find(one => one.id === companies.get(id)?.billingSubscriptionId) ?? trial
      const downgrade = companies.get(id)?.plans.schedule?.downgrade
        ? of(subscriptions, id)
            .filter(row => isRunning(row, nowMs))
            .map(row => scheduledDowngrade(subscriptionNow(row, nowMs), catalog))
            .find(one => one !== null)
        : undefined
      return [
        id,
        {
          ...(downgrade && { scheduled_downgrade: downgrade }),
          billing_email: of(details, id)[0]?.email ?? of(customers, id)[0]?.email ?? null,
          ...(profile && { billing_profile: profileView(profile, catalog.accountId) }),
          billing_profiles: ownProfiles.map(row => profileView(row, catalog.accountId)),
          billing_subscriptions: own,
          ...(current && { billing_subscription: current }),
          custom_plan_billings: of(owed, id).map(row => customPlanBillingView(row, nowMs)),
          payment_methods: ownMethods.map(paymentMethodView),
          ...(chosen && { default_payment_method: paymentMethodView(chosen) }),
        },
      ]
    }),
  )
}
