// Invoices, coupons, payment methods and meters. They are stored and shown; they affect no entitlement (PB-59).
import type { Sql } from 'postgres'
import type { BillingMeter, CouponWrite, InvoiceWrite } from '../../../schemas/billing.js'
import {
  type CouponUpsert,
  type InvoiceUpsert,
  type MeterUpsert,
  type PaymentMethodUpsert,
  validateCouponWrite,
  validateInvoiceWrite,
  validateMeterWrite,
  validatePaymentMethodWrite,
} from '../../../schemas/billing-upserts.js'
import type { ChargeLineView } from '../../../schemas/charges.js'
import { newId } from '../../account/ids.js'
import { numberOrNull } from '../../catalog/plans.js'
import { derivedId } from '../../core/values/id.js'
import {
  type Quantity,
  quantityOrNull,
  readQuantity,
  storedOrNull,
  storedQuantity,
} from '../../core/values/quantity.js'
import type { Call, Handler } from '../../kit/call.js'
import { type Exact, validExactly } from '../../kit/long.js'
import { boolean, oneOf, page, type QueryOf, query, required, string, text } from '../../kit/query.js'
import { among, contains, newest } from '../../kit/sql.js'
import { requireTime } from '../../kit/time.js'
import { told } from '../../kit/unchanged.js'
import { storedLine } from '../charges/closed.js'
import {
  type CouponRow,
  findCustomer,
  findSubscription,
  type InvoiceRow,
  type MeterRow,
  type PaymentMethodRow,
} from './record-rows.js'
import { defaultProvider, removeRecord } from './records.js'
import { couponView, invoiceView, paymentMethodView } from './view.js'

/** The company that a customer pays for; null while it is unknown. */
async function companyOfCustomer({ services, environment }: Call<unknown, unknown>, externalId: string) {
  const customer = await findCustomer(services.sql, environment.id, externalId)
  return customer?.company_id ?? null
}

const invoiceShape = {
  company_id: string,
  customer_external_id: required(text(255)),
  subscription_external_id: required(text(255)),
  view: oneOf(['full', 'summary'] as const),
  ...page,
} as const
export const invoiceListQuery = query(invoiceShape)

/** GET /billing/invoices of one subscription. Drafts of closed billing periods show their lines, but for summaries. source: RA-23 */
export const listInvoices: Handler<undefined, QueryOf<typeof invoiceShape>> = async call => {
  const { sql } = call.services
  const { company_id: companyId, customer_external_id: customer, subscription_external_id: sold } = call.query
  const rows = await sql<InvoiceRow[]>`
    select * from billing_invoices
    where environment_id = ${call.environment.id} and customer_external_id = ${customer}
      and subscription_external_id = ${sold} ${companyId ? sql`and company_id = ${companyId}` : sql``}
    ${newest(sql, call.query)}`
  const isShort = call.query.view === 'summary'
  const drafts = isShort ? new Map<string, ChargeLineView[]>() : await linesOfDrafts(sql, rows)
  return {
    data: rows.map(row => {
      const lines = drafts.get(row.charge_period_id ?? '')?.filter(one => one.currency === row.currency)
      const periodId = row.charge_period_id
      return {
        ...invoiceView(row),
        ...(periodId !== null && { billing_period_id: periodId }),
        ...(lines && { lines }),
      }
    }),
  }
}

/** Lines of the periods that drafts are for, by period. */
async function linesOfDrafts(sql: Sql, rows: readonly InvoiceRow[]): Promise<Map<string, ChargeLineView[]>> {
  const ids = [...new Set(rows.flatMap(row => row.charge_period_id ?? []))]
  if (ids.length === 0) return new Map()
  const lines = await sql<{ period_id: string; body: string }[]>`
    select period_id, body from charge_lines where period_id in ${among(sql, ids)} order by period_id, line`
  const stored = lines.map(one => ({ id: one.period_id, line: storedLine(one.body) }))
  const found = new Map(ids.map((id): [string, ChargeLineView[]] => [id, []]))
  for (const { id, line } of stored) found.get(id)!.push(line)
  return found
}

/** The stored record with this provider id, read before an upsert; null if there is none. */
async function knownBy<Row extends object>(
  { services, environment }: Call<unknown, unknown>,
  table: 'billing_coupons' | 'billing_invoices' | 'billing_meters' | 'billing_payment_methods',
  externalId: string | null,
): Promise<Row | null> {
  if (externalId === null) return null
  const { sql } = services
  const [row] = await sql<Row[]>`
    select * from ${sql(table)} where environment_id = ${environment.id} and external_id = ${externalId}`
  return row ?? null
}

/** The optional members of an invoice, filled from its row. */
function statedInvoice(row: InvoiceRow): Omit<Exact<InvoiceWrite>, 'external_id'> {
  return {
    customer_external_id: row.customer_external_id,
    collection_method: row.collection_method,
    currency: row.currency,
    amount_due: readQuantity(row.amount_due),
    amount_paid: readQuantity(row.amount_paid),
    amount_remaining: readQuantity(row.amount_remaining),
    subtotal: readQuantity(row.subtotal),
    subscription_external_id: row.subscription_external_id,
    payment_method_external_id: row.payment_method_external_id,
    status: row.status,
    starting_balance: readQuantity(row.starting_balance),
    ending_balance: readQuantity(row.ending_balance),
    due_date: row.due_date === null ? null : row.due_date.toISOString(),
    url: row.url,
  }
}

/**
 * POST /billing/invoices. Without an external id every call creates an invoice. Absent members of an existing one
 * are unchanged.
 */
export const upsertInvoice: Handler<Exact<InvoiceUpsert>> = async call => {
  const { services, environment, nowMs } = call
  const { sql } = services
  const externalId = call.body.external_id ?? null
  const had = await knownBy<InvoiceRow>(call, 'billing_invoices', externalId)
  const body = told(call.body, had && statedInvoice(had), one => validExactly(validateInvoiceWrite, one))
  const subscription =
    body.subscription_external_id == null
      ? null
      : await findSubscription(sql, environment.id, { externalId: body.subscription_external_id })
  const now = new Date(nowMs)
  const values = {
    provider_type: subscription?.provider_type ?? defaultProvider,
    customer_external_id: body.customer_external_id,
    subscription_external_id: body.subscription_external_id ?? null,
    payment_method_external_id: body.payment_method_external_id ?? null,
    company_id: subscription?.company_id ?? (await companyOfCustomer(call, body.customer_external_id)),
    status: body.status ?? null,
    collection_method: body.collection_method,
    currency: body.currency.toLowerCase(),
    amount_due: String(body.amount_due),
    amount_paid: String(body.amount_paid),
    amount_remaining: String(body.amount_remaining),
    subtotal: String(body.subtotal),
    starting_balance: String(body.starting_balance ?? 0),
    ending_balance: String(body.ending_balance ?? 0),
    due_date: body.due_date == null ? null : new Date(requireTime(body.due_date, 'due_date')),
    url: body.url ?? null,
    updated_at: now,
  }
  const made = {
    id: externalId === null ? newId('bilinv_') : derivedId('bilinv_', environment.id, externalId),
    environment_id: environment.id,
    external_id: externalId,
    created_at: now,
  }
  const [row] = await sql<InvoiceRow[]>`
    insert into billing_invoices ${sql({ ...values, ...made })}
    on conflict (environment_id, external_id) do update set ${sql(values)}
    returning *`
  return { data: invoiceView(row!) }
}

/** DELETE /billing/invoices/{billing_id}. */
export const deleteInvoice: Handler = call => removeRecord(call, 'billing_invoices', 'Invoice')

const couponShape = { is_active: boolean, q: text(512), ...page } as const
export const couponListQuery = query(couponShape)

/** GET /billing/coupons. */
export const listCoupons: Handler<undefined, QueryOf<typeof couponShape>> = async call => {
  const { services, environment, key, query: asked } = call
  const { sql } = services
  const { q, is_active: active } = asked
  const rows = await sql<CouponRow[]>`
    select * from billing_coupons where environment_id = ${environment.id}
      ${active === undefined ? sql`` : sql`and is_active = ${active}`}
      ${q ? sql`and (${contains(sql, 'name', q)} or ${contains(sql, 'external_id', q)})` : sql``}
    ${newest(sql, asked)}`
  return { data: rows.map(row => couponView(row, key.accountId)) }
}

/** The optional members of a body that would write this coupon unchanged. */
function statedCoupon(row: CouponRow): Omit<Exact<CouponWrite>, 'external_id'> {
  const { name, duration, currency } = row
  return {
    name,
    duration,
    currency,
    amount_off: quantityOrNull(row.amount_off),
    percent_off: numberOrNull(row.percent_off),
    duration_in_months: quantityOrNull(row.duration_in_months),
    max_redemptions: quantityOrNull(row.max_redemptions),
    times_redeemed: readQuantity(row.times_redeemed),
  }
}

/**
 * POST /billing/coupons. Absent members of an existing coupon are unchanged. An amount of 0 means the coupon has no
 * amount of that kind.
 *
 * source  decision.
 */
export const upsertCoupon: Handler<Exact<CouponUpsert>> = async call => {
  const { services, environment, key, nowMs } = call
  const { external_id: externalId } = call.body
  const had = await knownBy<CouponRow>(call, 'billing_coupons', externalId)
  const body = told(call.body, had && statedCoupon(had), one => validExactly(validateCouponWrite, one))
  const { sql } = services
  const now = new Date(nowMs)
  const some = (value: Quantity | null) => storedOrNull(value || null)
  const values = {
    provider_type: defaultProvider,
    name: body.name,
    is_active: !body.max_redemptions || body.times_redeemed < body.max_redemptions,
    amount_off: some(body.amount_off),
    percent_off: body.percent_off || null,
    currency: body.currency?.toLowerCase() ?? null,
    duration: body.duration,
    duration_in_months: some(body.duration_in_months),
    max_redemptions: some(body.max_redemptions),
    times_redeemed: storedQuantity(body.times_redeemed),
    updated_at: now,
  }
  const made = {
    id: derivedId('bilcpn_', environment.id, body.external_id),
    environment_id: environment.id,
    external_id: body.external_id,
    created_at: now,
  }
  const [row] = await sql<CouponRow[]>`
    insert into billing_coupons ${sql({ ...values, ...made })}
    on conflict (environment_id, external_id) do update set ${sql(values)}
    returning *`
  return { data: couponView(row!, key.accountId) }
}

/** DELETE /billing/coupons/{billing_id}. */
export const deleteCoupon: Handler = call => removeRecord(call, 'billing_coupons', 'Coupon')

const methodShape = { company_id: string, customer_external_id: required(text(255)), ...page } as const
export const paymentMethodListQuery = query(methodShape)

/** GET /billing/payment-methods of one customer. */
export const listPaymentMethods: Handler<undefined, QueryOf<typeof methodShape>> = async call => {
  const { sql } = call.services
  const { company_id: companyId, customer_external_id: customer } = call.query
  const rows = await sql<PaymentMethodRow[]>`
    select * from billing_payment_methods
    where environment_id = ${call.environment.id} and customer_external_id = ${customer}
      ${companyId ? sql`and company_id = ${companyId}` : sql``}
    ${newest(sql, call.query)}`
  return { data: rows.map(paymentMethodView) }
}

/** POST /billing/payment-methods. Subscriptions that already name its external id get its id. */
export const upsertPaymentMethod: Handler<PaymentMethodUpsert> = async call => {
  const { services, environment, nowMs } = call
  const { sql } = services
  const had = await knownBy<PaymentMethodRow>(call, 'billing_payment_methods', call.body.external_id)
  const body = told(call.body, had, validatePaymentMethodWrite)
  const now = new Date(nowMs)
  const values = {
    provider_type: defaultProvider,
    customer_external_id: body.customer_external_id,
    company_id: await companyOfCustomer(call, body.customer_external_id),
    payment_method_type: body.payment_method_type,
    account_last4: body.account_last4 ?? null,
    account_name: body.account_name ?? null,
    bank_name: body.bank_name ?? null,
    billing_email: body.billing_email ?? null,
    billing_name: body.billing_name ?? null,
    card_brand: body.card_brand ?? null,
    card_last4: body.card_last4 ?? null,
    card_exp_month: body.card_exp_month ?? null,
    card_exp_year: body.card_exp_year ?? null,
    updated_at: now,
  }
  const made = {
    id: derivedId('bpaymth_', environment.id, body.external_id),
    environment_id: environment.id,
    external_id: body.external_id,
    created_at: now,
  }
  const [row] = await sql<PaymentMethodRow[]>`
    with method as (
      insert into billing_payment_methods ${sql({ ...values, ...made })}
      on conflict (environment_id, external_id) do update set ${sql(values)}
      returning *
    ), named as (
      update billing_subscriptions s set default_payment_method_id = m.id from method m
      where s.environment_id = m.environment_id and s.default_payment_method_external_id = m.external_id
        and s.default_payment_method_id is null
    )
    select * from method`
  return { data: paymentMethodView(row!) }
}

/** DELETE /billing/payment-methods/{billing_id}. */
export const deletePaymentMethod: Handler = call =>
  removeRecord(call, 'billing_payment_methods', 'Payment method')

const meterShape = { display_name: text(255), ...page } as const
export const meterListQuery = query(meterShape)

/** GET /billing/meter. */
export const listMeters: Handler<undefined, QueryOf<typeof meterShape>> = async call => {
  const { sql } = call.services
  const { display_name: name } = call.query
  const rows = await sql<MeterRow[]>`
    select * from billing_meters where environment_id = ${call.environment.id}
      ${name ? sql`and ${contains(sql, 'display_name', name)}` : sql``}
    ${newest(sql, call.query)}`
  return { data: await meterViews(sql, rows) }
}

/** POST /billing/meter/upsert. */
export const upsertMeter: Handler<MeterUpsert> = async call => {
  const { services, environment, nowMs } = call
  const { sql } = services
  const had = await knownBy<MeterRow>(call, 'billing_meters', call.body.external_id)
  const body = told(call.body, had, validateMeterWrite)
  const now = new Date(nowMs)
  const values = {
    provider_type: body.provider_type ?? defaultProvider,
    display_name: body.display_name,
    event_name: body.event_name,
    event_payload_key: body.event_payload_key,
    updated_at: now,
  }
  const made = {
    id: derivedId('bilmtr_', environment.id, body.external_id),
    environment_id: environment.id,
    external_id: body.external_id,
    created_at: now,
  }
  const rows = await sql<MeterRow[]>`
    insert into billing_meters ${sql({ ...values, ...made })}
    on conflict (environment_id, external_id) do update set ${sql(values)}
    returning *`
  const [view] = await meterViews(sql, rows)
  return { data: view }
}

/** `external_price_id`: the newest price that this meter measures; empty if there is none. source: decision */
async function meterViews(sql: Sql, rows: readonly MeterRow[]): Promise<BillingMeter[]> {
  if (rows.length === 0) return []
  const prices = await sql<{ meter_id: string; external_id: string }[]>`
    select distinct on (meter_id) meter_id, external_id from billing_prices
    where environment_id = ${rows[0]!.environment_id}
      and meter_id = any(${rows.flatMap(row => [row.id, row.external_id])}::text[])
    order by meter_id, created_at desc, id desc`
  return rows.map(row => ({
    id: row.id,
    dispaly_name: row.display_name,
    event_name: row.event_name,
    event_payload_key: row.event_payload_key,
    external_price_id:
      prices.find(price => price.meter_id === row.id || price.meter_id === row.external_id)?.external_id ??
      '',
    provider_type: row.provider_type,
  }))
}
