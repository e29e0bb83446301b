// Subscriptions: a provider's sync writes them, and they put companies on plans (PB-50…58).
import type { Sql } from 'postgres'
import type { BillingProductPricing, BillingSubscriptionWrite } from '../../../schemas/billing.js'
import {
  type BillingSubscriptionUpsert,
  validateBillingSubscriptionWrite,
} from '../../../schemas/billing-upserts.js'
import {
  type BillingProviderType,
  type CurrencyCode,
  type SubscriptionStatus,
  subscriptionStatuses,
} from '../../../schemas/enums.js'
import { newId } from '../../account/ids.js'
import { derivedId } from '../../core/values/id.js'
import { periodAt } from '../../core/values/period.js'
import { readQuantity, storedOrNull, storedQuantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { type Exact, validExactly } from '../../kit/long.js'
import { list, page, type QueryOf, query, string } from '../../kit/query.js'
import { inTransaction } from '../../kit/sql.js'
import { requireTime } from '../../kit/time.js'
import { told, whole } from '../../kit/unchanged.js'
import { withTerms } from '../charges/coupon-terms.js'
import { asReported } from '../charges/discounts.js'
import { withMeteredItems } from './metered-items.js'
import { currentSubscriptions } from './own-subscriptions.js'
import { overdue } from './payment-gating.js'
import { intervalFrom } from './products.js'
import {
  findCustomer,
  findSubscription,
  intervalMonths,
  plainSubscription,
  providerAnchor,
  type SubscribedProduct,
  type SubscriptionRow,
} from './record-rows.js'
import { defaultProvider, requireCompany } from './records.js'
import { priceByExternalId, productByExternalId, runningSubscriptions, upsertPrice } from './store.js'
import { inTurn, putSubscription } from './subscription-write.js'
import {
  companySubscription,
  isRunning,
  subscriptionBrief,
  subscriptionParts,
  subscriptionView,
} from './view.js'

/**
 * POST /billing/subscription/upsert. Absent members are unchanged. Answers the stored record; a message out of order
 * changes nothing, and the header X-Service-Warning says so (PB-54).
 *
 * errors  400 for an unknown status or a period that ends before it begins; 404 for an unknown company or product.
 * source  PB-50…54.
 */
export const upsertBillingSubscription: Handler<Exact<BillingSubscriptionUpsert>> = async call => {
  const { services, environment, body } = call
  const eventAt = providerEventAt(call)
  const [row, ignored] = await inTurn(call, body.subscription_external_id, async () => {
    const found = await findSubscription(services.sql, environment.id, {
      externalId: body.subscription_external_id,
    })
    const [had = null] = await currentSubscriptions(call, found ? [found] : [])
    const last = had?.provider_event_at ?? null
    if (had && last && eventAt && eventAt < last)
      return [had, `provider_event_at: older than the last message, of ${last.toISOString()}`] as const
    const wanted = { ...(await subscriptionFrom(call, had)), provider_event_at: eventAt ?? last }
    const sinceMs = saidSinceMs(call, Number(wanted.period_start), had)
    if (await putSubscription(call, had, wanted, sinceMs)) return [wanted, null] as const
    return [had ?? wanted, 'period_start: an earlier period than the one known'] as const
  })
  const data = subscriptionBrief(row, call.nowMs)
  return ignored === null
    ? { data }
    : { data, headers: { 'X-Service-Warning': `ignored, because out of order: ${ignored}` } }
}

/** Providers' clocks may be ahead by as much. source: decision, as for last_seen_at */
const aheadMs = 5 * 60_000

/** When the provider made the message; null: not said. */
function providerEventAt({ body, nowMs, services }: Call<Exact<BillingSubscriptionUpsert>>): Date | null {
  if (body.provider_event_at == null) return null
  const atMs = requireTime(body.provider_event_at, 'provider_event_at')
  if (atMs > Math.max(nowMs, services.clock.wall()) + aheadMs)
    throw new ServiceError('value_invalid', 'provider_event_at: more than five minutes ahead')
  return new Date(atMs)
}

/** A subscription in full. */
export async function fullSubscription(call: Call<unknown, unknown>, row: SubscriptionRow) {
  const parts = await subscriptionParts(call.services.sql, call.environment.id, [row])
  return subscriptionView(row, parts, call.nowMs)
}

/** The optional members of a subscription, filled from its row. Period and payment method are handled separately. */
function statedSubscription(row: SubscriptionRow) {
  const { trial_end, cancel_at } = plainSubscription(row)
  return {
    customer_external_id: row.customer_external_id,
    currency: row.currency as CurrencyCode,
    total_price: readQuantity(row.total_price),
    cancel_at_period_end: row.cancel_at_period_end,
    expired_at: row.expired_at === null ? null : row.expired_at.toISOString(),
    discounts: [...row.discounts],
    // stored products are not as bodies say them
    product_external_ids: [],
    trial_end,
    cancel_at,
    status: row.status,
    interval: row.interval,
    provider_type: row.provider_type,
    trial_end_setting: row.trial_end_setting,
    started_at: row.started_at === null ? null : row.started_at.toISOString(),
    application_id: row.application_id,
    metadata: row.metadata,
  } satisfies Partial<Exact<BillingSubscriptionWrite>>
}

async function subscriptionFrom(
  call: Call<Exact<BillingSubscriptionUpsert>>,
  had: SubscriptionRow | null,
): Promise<SubscriptionRow> {
  const { services, environment, nowMs } = call
  const { sql } = services
  const known = had && plainSubscription(had)
  const body = told(call.body, had && statedSubscription(had), one =>
    validExactly(validateBillingSubscriptionWrite, one),
  )
  const interval = (body.interval ?? body.product_external_ids[0]?.interval ?? 'month') || 'month'
  const provider = body.provider_type ?? defaultProvider
  const startedAt = body.started_at == null ? null : new Date(requireTime(body.started_at, 'started_at'))
  const expiredAt = body.expired_at === null ? 0 : requireTime(body.expired_at, 'expired_at')
  for (const { started_at, ended_at } of body.discounts) {
    requireTime(started_at, 'discounts.started_at')
    if (ended_at != null) requireTime(ended_at, 'discounts.ended_at')
  }
  const start = body.period_start ?? known?.period_start ?? Math.floor((startedAt?.getTime() ?? nowMs) / 1000)
  // a new start without an end: a new period of the same interval
  const kept = start === known?.period_start ? known.period_end : null
  const end = body.period_end ?? kept ?? periodEnd(start, interval, call.body.billing_cycle_anchor, had)
  if (end <= start) throw new ServiceError('value_invalid', 'period_end: must be after period_start') // PB-52
  const companyId = await companyOf(call, body.customer_external_id, had)
  const status = statusFrom(body.status ?? 'active')
  return {
    id: had?.id ?? derivedId('bilsub_', environment.id, body.subscription_external_id),
    environment_id: environment.id,
    provider_type: provider,
    external_id: body.subscription_external_id,
    customer_external_id: body.customer_external_id,
    company_id: companyId,
    status,
    currency: body.currency,
    interval,
    total_price: storedQuantity(body.total_price),
    period_start: start,
    period_end: end,
    trial_end: body.trial_end ?? null,
    trial_end_setting: body.trial_end_setting ?? null,
    cancel_at: body.cancel_at ?? null,
    cancel_at_period_end: body.cancel_at_period_end,
    started_at: startedAt,
    expired_at: expiredAt <= 0 ? null : new Date(expiredAt),
    application_id: body.application_id ?? null,
    ...(await paymentMethodOf(call, had)),
    metadata: body.metadata ?? null,
    products:
      had && !call.body.product_external_ids
        ? had.products
        : await inTransaction(sql, tx => subscribedProducts(tx, call, body.product_external_ids, provider)),
    discounts: call.body.discounts
      ? asReported(
          await withTerms(sql, environment.id, body.discounts, had?.discounts ?? []),
          had?.discounts ?? [],
          saidSinceMs(call, start, had),
          nowMs,
        )
      : (had?.discounts ?? []),
    own: null, // from now on its provider owns it
    billing_cycle_anchor: providerAnchor(call.body.billing_cycle_anchor, had, [start, end]),
    provider_event_at: null,
    ...(await overdue(sql, companyId, { status, had, nowMs })),
    created_at: had?.created_at ?? new Date(nowMs),
    updated_at: new Date(nowMs),
  }
}

/** Since when it is as a provider's message says: since a period that it begins, else since the message. Epoch ms, whole seconds. */
function saidSinceMs(
  call: Call<Exact<BillingSubscriptionUpsert>>,
  start: number,
  had: SubscriptionRow | null,
): number {
  const toldMs = Math.min(call.nowMs, providerEventAt(call)?.getTime() ?? call.nowMs)
  const begun = had !== null && start > Number(had.period_start) && start * 1000 <= toldMs
  return begun ? start * 1000 : Math.floor(toldMs / 1000) * 1000
}

/** The default end of a period: one interval after its start, on the day of the anchor. source: decision */
function periodEnd(
  start: number,
  interval: string,
  told: number | null | undefined,
  had: SubscriptionRow | null,
): number {
  if (interval === 'day') return start + 86_400
  const anchorMs = providerAnchor(told, had, [start, start]) * 1000
  return periodAt(anchorMs, intervalMonths(interval), start * 1000, start * 1000).nextMs / 1000
}

function statusFrom(given: string): SubscriptionStatus {
  const status = subscriptionStatuses.find(one => one === given)
  if (!status)
    throw new ServiceError('value_invalid', `status: expected one of ${subscriptionStatuses.join(', ')}`)
  return status
}

/** PB-50: the company named by the body, else the customer's. A known company is kept. */
async function companyOf(
  call: Call<Exact<BillingSubscriptionUpsert>>,
  customerExternalId: string,
  had: SubscriptionRow | null,
): Promise<string | null> {
  const { services, environment, body } = call
  if (body.company_id != null) {
    requireCompany(call, body.company_id, 'company_id')
    return body.company_id
  }
  if (had?.company_id && body.customer_external_id === undefined) return had.company_id
  const customer = await findCustomer(services.sql, environment.id, customerExternalId)
  return customer?.company_id ?? had?.company_id ?? null
}

/** The payment method by id or external id. An external id is resolved if that method is known. */
async function paymentMethodOf(
  { services, environment, body }: Call<Exact<BillingSubscriptionUpsert>>,
  had: SubscriptionRow | null,
): Promise<Pick<SubscriptionRow, 'default_payment_method_id' | 'default_payment_method_external_id'>> {
  const { default_payment_method_id: id, default_payment_method_external_id: externalId } = body
  const former = {
    default_payment_method_id: had?.default_payment_method_id ?? null,
    default_payment_method_external_id: had?.default_payment_method_external_id ?? null,
  }
  if (externalId === undefined) return whole({ default_payment_method_id: id }, former)
  if (id !== undefined || externalId === null)
    return { default_payment_method_id: id ?? null, default_payment_method_external_id: externalId }
  const [known] = await services.sql<{ id: string }[]>`
    select id from billing_payment_methods
    where environment_id = ${environment.id} and external_id = ${externalId}`
  return { default_payment_method_id: known?.id ?? null, default_payment_method_external_id: externalId }
}

/** The products of a subscription. An unknown price is created from the body. */
async function subscribedProducts(
  tx: Sql,
  call: Call<unknown>,
  given: readonly Exact<BillingProductPricing>[],
  provider: BillingProviderType,
): Promise<SubscribedProduct[]> {
  const { environment } = call
  const items: SubscribedProduct[] = []
  for (const item of given) {
    const product = await productByExternalId(tx, environment.id, item.product_external_id, provider)
    if (!product)
      throw new ServiceError('not_found', `product_external_ids: no product ${item.product_external_id}`)
    const price =
      (await priceByExternalId(tx, environment.id, product.id, item.price_external_id)) ??
      (await madePrice(tx, call, item, product.id, provider))
    items.push({
      product_id: product.id,
      price_id: price.id,
      // a `double` of the interface document: the schema bounds it
      quantity: Number(item.quantity),
      currency: item.currency,
      interval: item.interval,
      price: storedQuantity(item.price),
      price_decimal: item.price_decimal ?? null,
      usage_type: item.usage_type,
      package_size: item.package_size ?? price.package_size,
      billing_threshold: storedOrNull(item.billing_threshold ?? null),
      meter_id: item.meter_id ?? null,
      subscription_item_external_id: item.subscription_item_external_id ?? null,
    })
  }
  return items
}

function madePrice(
  tx: Sql,
  { environment, nowMs }: Call<unknown>,
  item: Exact<BillingProductPricing>,
  productId: string,
  provider: BillingProviderType,
) {
  const { interval, count } = intervalFrom(item.interval, 1)
  const now = new Date(nowMs)
  return upsertPrice(tx, {
    id: newId('bilpp_'),
    environment_id: environment.id,
    product_id: productId,
    external_id: item.price_external_id,
    provider_type: provider,
    currency: item.currency,
    interval,
    interval_count: count,
    price: storedQuantity(item.price),
    price_decimal: item.price_decimal ?? null,
    billing_scheme: 'per_unit',
    tiers_mode: null,
    price_tiers: [],
    usage_type: item.usage_type,
    package_size: item.package_size ?? 1,
    is_active: true,
    nickname: null,
    meter_id: item.meter_id ?? null,
    external_account_id: null,
    created_at: now,
    updated_at: now,
  })
}

const listShape = { company_id: string, company_ids: list, ...page } as const
export const companySubscriptionQuery = query(listShape)

/** GET /company-subscriptions: those that give access now, newest first. */
export const listCompanySubscriptions: Handler<undefined, QueryOf<typeof listShape>> = async call => {
  const { services, environment, query: asked, nowMs } = call
  const named = [...(asked.company_id === undefined ? [] : [asked.company_id]), ...(asked.company_ids ?? [])]
  const rows = await runningSubscriptions(services.sql, environment.id, named.length > 0 ? named : null)
  const page = rows
    .filter(row => isRunning(row, nowMs) && services.directory.has(environment.id, row.company_id!))
    .slice(asked.offset, asked.offset + asked.limit)
  const running = (await currentSubscriptions(call, page)).filter(row => isRunning(row, nowMs))
  const shown = await withMeteredItems(call, running)
  const parts = await subscriptionParts(services.sql, environment.id, shown)
  const initial = initialProducts(call)
  return { data: shown.map(row => companySubscription(row, parts, initial, nowMs)) }
}

/** Products of the environment's initial plan. */
export function initialProducts({ services, environment }: Call<unknown, unknown>): ReadonlySet<string> {
  const { plans, initialPlanId } = services.catalogs.get(environment.id)
  const plan = plans.find(one => one.id === initialPlanId)
  return new Set(plan?.versions.flatMap(version => version.billingProductId ?? []))
}
