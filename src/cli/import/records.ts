// Overrides, credit grants and subscriptions of an import.
import { createHash } from 'node:crypto'
import type { BillingSubscriptionView } from '../../../schemas/billing.js'
import type { CompanyDetail } from '../../../schemas/companies.js'
import type { CreditGrant } from '../../../schemas/credits.js'
import type { CompanyOverride } from '../../../schemas/entitlements.js'
import type { FeatureDetail } from '../../../schemas/features.js'
import { keysLabel, keysText } from './keys.js'
import {
  byEntity,
  type Context,
  changedBy,
  difference,
  type Kind,
  made,
  type Outcome,
  taken,
  unchanged,
} from './kind.js'
import { MemberFault, type Row, shown } from './members.js'

const text = { type: 'text' } as const
const time = { type: 'time' } as const
const whole = { type: 'whole' } as const
const pageSize = 250

export const overrides: Kind = {
  name: 'overrides',
  members: {
    company: { type: 'map', required: true },
    feature: { type: 'text', required: true },
    value: { type: 'json', required: true },
    metric_period: text,
    metric_period_month_reset: text,
    credit: text,
    consumption_rate: { type: 'number' },
    expires_at: { type: 'time', clears: true },
    note: text,
  },
  label: ({ company, feature }) => `${keysLabel(company)} ${String(feature)}`,
  ...byEntity('company', writeOverride),
}

/** Create the override of a company and feature, or change the one that is there. */
async function writeOverride({ client, names, dryRun }: Context, row: Row): Promise<Outcome> {
  const companyId = await names.companyId('company', row.company)
  const feature = await names.feature('feature', row.feature as string)
  const body = {
    ...(await overrideValue(names, feature, row)),
    metric_period: row.metric_period,
    metric_period_month_reset: row.metric_period_month_reset,
    expiration_date: row.expires_at,
  } as Row
  const query = `company_id=${companyId}&feature_id=${feature.id}&without_expired=true&limit=1`
  const [had] = taken<CompanyOverride[]>(await client.attempt('GET', `/company-overrides?${query}`))
  const changes = had ? overrideChanges(had, body) : []
  const named = { ...body, company_id: companyId, feature_id: feature.id, note: row.note }
  if (!dryRun && (!had || changes.length > 0)) taken(await client.attempt('PUT', '/company-overrides', named))
  return had ? changedBy(changes) : made
}

function overrideChanges(had: CompanyOverride, body: Row): string[] {
  const shownAs: Readonly<Record<string, string>> = { credit_consumption_rate: 'consumption_rate' }
  return Object.entries(body).flatMap(([member, to]) => {
    const from = (had as unknown as Row)[shownAs[member] ?? member] ?? null
    return to === undefined || from === (to ?? null) ? [] : [difference(member, from, to)]
  })
}

async function overrideValue(
  names: Context['names'],
  feature: FeatureDetail,
  { value, credit, consumption_rate }: Row,
): Promise<Row> {
  if (credit !== undefined)
    return {
      value_type: 'credit',
      value_credit_id: (await names.credit('credit', credit as string)).id,
      credit_consumption_rate: consumption_rate,
    }
  const said = String(value).trim()
  const lower = said.toLowerCase()
  if (feature.feature_type === 'boolean') {
    if (['true', 'yes', 'on', '1'].includes(lower)) return { value_type: 'boolean', value_bool: true }
    if (['false', 'no', 'off', '0'].includes(lower)) return { value_type: 'boolean', value_bool: false }
    throw new MemberFault('value', `value: ${shown(value)} is neither true nor false, as ${feature.name} is`)
  }
  if (lower === 'unlimited') return { value_type: 'unlimited' }
  if (lower.startsWith('trait:'))
    return {
      value_type: 'trait',
      value_trait_id: (await names.trait('value', said.slice('trait:'.length).trim())).id,
    }
  if (/^\d{1,15}$/.test(said)) return { value_type: 'numeric', value_numeric: Number(said) }
  throw new MemberFault(
    'value',
    `value: ${shown(value)} is no limit of ${feature.name}: expected a whole number, unlimited, or trait:NAME`,
  )
}

export const grants: Kind = {
  name: 'grants',
  members: {
    company: { type: 'map', required: true },
    credit: { type: 'text', required: true },
    quantity: { type: 'whole', required: true },
    reason: text,
    expires_at: time,
  },
  label: ({ company, credit, quantity }) => `${keysLabel(company)} ${String(quantity)} ${String(credit)}`,
  // `nth` counts like grants in the file: a company that has as many like it already has this one
  prepare: (row, seen) => {
    const like = [keysText(row.company), row.credit, String(row.quantity), row.reason, row.expires_at]
    const hash = createHash('sha256').update(JSON.stringify(like)).digest('base64').slice(0, 14)
    const nth = (seen.get(hash) ?? 0) + 1
    seen.set(hash, nth)
    return { ...row, nth }
  },
  ...byEntity('company', writeGrant),
}

async function writeGrant({ client, names, dryRun }: Context, row: Row): Promise<Outcome> {
  const companyId = await names.companyId('company', row.company)
  const credit = await names.credit('credit', row.credit as string)
  const { quantity, reason = 'adjustment', expires_at } = row
  const isLike = (one: CreditGrant) =>
    one.credit_id === credit.id &&
    one.quantity === quantity &&
    one.grant_reason === reason &&
    (expires_at === undefined || one.expires_at === expires_at)
  let there = 0
  for (let offset = 0; ; offset += pageSize) {
    const query = `company_id=${companyId}&limit=${pageSize}&offset=${offset}`
    const page = taken<CreditGrant[]>(
      await client.attempt('GET', `/billing/credits/grants/company/list?${query}`),
    )
    there += page.filter(isLike).length
    if (there >= (row.nth as number)) return unchanged
    if (page.length < pageSize) break
  }
  const body = { company_id: companyId, credit_id: credit.id, reason, quantity, expires_at }
  if (!dryRun) taken(await client.attempt('POST', '/billing/credits/grants/company', body))
  return made
}

export const subscriptions: Kind = {
  name: 'subscriptions',
  members: {
    id: { type: 'text', required: true },
    company: { type: 'map', required: true },
    customer: text,
    status: text,
    currency: { type: 'text', required: true },
    interval: text,
    period_start: time,
    period_end: time,
    billing_cycle_anchor: time,
    started_at: time,
    trial_end: { type: 'time', clears: true },
    cancel_at: { type: 'time', clears: true },
    cancel_at_period_end: { type: 'flag' },
    expired_at: { type: 'time', clears: true },
    total_price: whole,
    product: text,
    price: text,
    quantity: whole,
    unit_price: whole,
    usage_type: text,
    provider: text,
    items: { type: 'json' },
  },
  label: ({ id }) => String(id),
  joinedBy: ({ id }) => (id === undefined ? null : String(id)),
  merge: (first, next) => ({ ...first, items: [...itemsOf(first), ...itemsOf(next)] }),
  ...byEntity('company', writeSubscription),
}

/** A product of a subscription, from one line. */
interface Item {
  readonly product: string
  readonly price: string
  readonly quantity: number
  readonly unit_price: number
  readonly usage_type: string
}

function itemsOf(row: Row): readonly Item[] {
  if (Array.isArray(row.items)) return row.items as Item[]
  const { product, price, quantity = 1, unit_price = 0, usage_type = 'licensed' } = row
  return [{ product, price, quantity, unit_price, usage_type } as Item]
}

const seconds = (at: unknown): number | null | undefined =>
  typeof at === 'string' ? Math.floor(Date.parse(at) / 1_000) : (at as null | undefined)

async function writeSubscription({ client, names, dryRun }: Context, row: Row): Promise<Outcome> {
  const companyId = await names.companyId('company', row.company)
  const items = itemsOf(row)
  for (const { product, price } of items) {
    if (typeof price !== 'string') throw new MemberFault('price', 'price: missing')
    if (typeof product !== 'string') throw new MemberFault('product', 'product: missing')
    await names.product('product', product)
  }
  const { interval = 'month', currency, status = 'active', provider } = row
  const sum = items.reduce((total, one) => total + Number(one.quantity) * Number(one.unit_price), 0)
  const body = {
    subscription_external_id: row.id,
    customer_external_id: row.customer ?? String(Object.values(row.company as Row)[0]),
    company_id: companyId,
    status,
    currency: String(currency).toLowerCase(),
    interval,
    total_price: row.total_price ?? sum,
    cancel_at_period_end: row.cancel_at_period_end ?? false,
    expired_at: row.expired_at ?? null,
    period_start: seconds(row.period_start),
    period_end: seconds(row.period_end),
    billing_cycle_anchor: seconds(row.billing_cycle_anchor),
    started_at: row.started_at,
    trial_end: seconds(row.trial_end),
    cancel_at: seconds(row.cancel_at),
    provider_type: provider,
    discounts: [],
    product_external_ids: items.map(one => ({
      product_external_id: one.product,
      price_external_id: one.price,
      currency: String(currency).toLowerCase(),
      interval,
      price: one.unit_price,
      quantity: one.quantity,
      usage_type: one.usage_type,
    })),
  }
  const company = taken<CompanyDetail>(await client.attempt('GET', `/companies/${companyId}`))
  const had = company.billing_subscriptions.find(one => one.subscription_external_id === row.id)
  const changes = had ? subscriptionChanges(had, body) : []
  if (!dryRun && (!had || changes.length > 0))
    taken(await client.attempt('POST', '/billing/subscription/upsert', body))
  return had ? changedBy(changes) : made
}

const compared = [
  'customer_external_id',
  'status',
  'currency',
  'interval',
  'total_price',
  'cancel_at_period_end',
  'expired_at',
  'period_start',
  'period_end',
  'trial_end',
  'cancel_at',
] as const

function subscriptionChanges(had: BillingSubscriptionView, body: Row): string[] {
  const changes = compared.flatMap(member => {
    const [from, to] = [had[member] ?? null, body[member]]
    return to === undefined || from === to ? [] : [difference(member, from, to)]
  })
  const line = (product: unknown, price: unknown, quantity: unknown) =>
    `${String(product)} ${String(price)} × ${String(quantity)}`
  const before = had.products.map(one => line(one.external_id, one.price_external_id, one.quantity)).sort()
  const items = body.product_external_ids as readonly Row[]
  const after = items.map(one => line(one.product_external_id, one.price_external_id, one.quantity)).sort()
  return before.join('\n') === after.join('\n')
    ? changes
    : [...changes, difference('products', before.join(', '), after.join(', '))]
}
