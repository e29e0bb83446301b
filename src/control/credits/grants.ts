// Credits granted to companies and their balances. Postgres lists the grants; the company's actor says what is left
// of each at the moment of the request.
import type {
  CompanyCreditBalanceRecord,
  CompanyGrantCreate,
  CreditGrant,
  GrantZeroOut,
} from '../../../schemas/credits.js'
import type {
  BillingCreditGrantReason,
  BillingCreditGrantZeroedOutReason,
  BillingPlanCreditGrantResetCadence,
} from '../../../schemas/enums.js'
import { numberOrNull } from '../../catalog/plans.js'
import type { StoredPrice } from '../../catalog/prices.js'
import type { CreditsDescription, GrantFigures } from '../../core/live/company-accounts.js'
import type { CreditReply, ExpiryRule } from '../../core/model/account-state.js'
import { roundHalfUp } from '../../core/pricing/price.js'
import {
  type Amount,
  amountFromDecimal,
  amountFromNumber,
  amountToDecimal,
  amountToNumber,
  multiply,
  parseDecimal,
} from '../../core/values/amount.js'
import { derivedId } from '../../core/values/id.js'
import type { Quantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { isKnown, type Refusals } from '../../kit/entities.js'
import { long } from '../../kit/long.js'
import { list, oneOf, page, type QueryOf, query, required, string } from '../../kit/query.js'
import { isoTime, isoTimeOrNull, requireTime } from '../../kit/time.js'
import { replyWhenShown } from '../entities/write.js'
import { priceView } from '../prices/view.js'
import {
  countGrantRows,
  type FoundBundle,
  type GrantFilter,
  type GrantRow,
  listGrantRows,
  requireBundle,
  requireCredit,
  type StoredGrantOrder,
} from './store.js'

/** Throws 404, naming the member, if the environment has no such company. */
export function requireCompany(call: Call<unknown, unknown>, id: string): void {
  if (!isKnown(call, 'company', id)) throw new ServiceError('not_found', 'company_id: no such company')
}

/** The present credits of a company; null if it is deleted. */
async function creditsOf(
  { services, environment, nowMs }: Call<unknown, unknown>,
  companyId: string,
): Promise<CreditsDescription | null> {
  const question = { type: 'credits' } as const
  const { reply } = await services.shards.ask<CreditsDescription | null>(
    'c',
    environment.id,
    companyId,
    question,
    nowMs,
  )
  return reply
}

/** Credit figures by company id, each read once. */
type Figures = ReadonlyMap<string, CreditsDescription>

async function figuresOf(call: Call<unknown, unknown>, companyIds: Iterable<string>): Promise<Figures> {
  const found = new Map<string, CreditsDescription>()
  await Promise.all(
    [...new Set(companyIds)].map(async id => {
      const credits = isKnown(call, 'company', id) ? await creditsOf(call, id) : null
      if (credits) found.set(id, credits)
    }),
  )
  return found
}

/** Whether the figures are recent enough to include this grant. */
function isWithin(figures: Figures, row: GrantRow): boolean {
  const credits = figures.get(row.company_id)
  if (!credits) return true
  const account = credits.accounts.find(one => one.creditId === row.credit_id)
  return account !== undefined && Number(row.sequence) <= account.sequence
}

function figuresOfGrant(figures: Figures, row: GrantRow): GrantFigures | undefined {
  const account = figures.get(row.company_id)?.accounts.find(one => one.creditId === row.credit_id)
  return account?.grants.find(grant => grant.id === row.id)
}

/** A grant with its figures. A grant its company no longer keeps has nothing left (CR-12). */
function grantView(row: GrantRow, figures: Figures): CreditGrant {
  const { remaining, held } = figuresOfGrant(figures, row) ?? { remaining: 0, held: 0 }
  const exact = (value: string) => amountFromDecimal(value) ?? 0n
  const open = amountFromNumber(remaining) + amountFromNumber(held)
  const used = exact(row.quantity) - exact(row.written_off) - open
  const overdraft = row.reason === 'postpaid_overdraft'
  const charge = overdraft ? chargeOf(row, -open) : null
  const price = boughtAt(row)
  const renewal = row.renewal_period ?? (row.reason === 'plan' ? row.reset_cadence : null)
  return {
    id: row.id,
    company_id: row.company_id,
    company_name: figures.get(row.company_id)?.name ?? row.company_id,
    credit_id: row.credit_id,
    credit_name: row.credit_name,
    credit_icon: row.credit_icon,
    grant_reason: row.reason as BillingCreditGrantReason,
    source_label: row.bundle_name ?? row.plan_name ?? labels[row.reason as BillingCreditGrantReason],
    quantity: Number(row.quantity),
    quantity_remaining: remaining,
    quantity_used: amountToNumber(used),
    reserved: held,
    settled: amountToNumber(open),
    valid_from: isoTime(row.valid_from.getTime()),
    expires_at: isoTimeOrNull(row.expires_at?.getTime()),
    renewal_enabled: renewal !== null,
    renewal_period: renewal as BillingPlanCreditGrantResetCadence | null,
    plan_id: row.plan_id,
    plan_name: row.plan_name,
    license_name: row.license_name,
    company_license_id:
      row.licence === null ? null : derivedId('clic_', row.company_id, row.plan_grant_id ?? '', row.licence),
    credit_bundle_id: row.bundle_id,
    source_grant_id: row.source_grant_id,
    currency: row.currency,
    postpaid_charge_amount: long(charge),
    postpaid_charge_currency: charge === null ? null : row.credit_currency,
    postpaid_charged_credits: overdraft ? amountToNumber(-open) : null,
    zeroed_out_date: isoTimeOrNull(row.zeroed_out_at?.getTime()),
    zeroed_out_reason: row.zeroed_out_reason as BillingCreditGrantZeroedOutReason | null,
    ...(price && { price: priceView(price) }),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** The price of one credit of a purchase: the bundle's, else the credit's own. */
function boughtAt(row: GrantRow): StoredPrice | undefined {
  if (row.reason !== 'purchased' && row.reason !== 'billing_credit_auto_topup') return undefined
  const currency = row.currency ?? row.credit_currency
  return (row.bundle_prices ?? row.credit_prices)?.find(price => price.currency === currency)
}

/**
 * The charge for overdraft so far, in the smallest unit: by the plan's rate, else by the credit's price.
 *
 * source  CR-53.
 */
function chargeOf(row: GrantRow, credits: Amount): Quantity | null {
  const own = row.credit_prices?.find(price => price.currency === row.credit_currency)
  const rate = row.postpaid_rate ?? own?.price_decimal ?? (own ? String(own.price) : null)
  const unit = rate === null ? null : parseDecimal(rate)
  const used = parseDecimal(amountToDecimal(credits))
  return unit === null || used === null ? null : roundHalfUp(multiply(unit, used))
}

/** The origin shown for a grant that comes from neither a plan nor a bundle. */
const labels: Readonly<Record<BillingCreditGrantReason, string>> = {
  adjustment: 'Adjustment',
  billing_credit_auto_topup: 'Auto top-up',
  free: 'Free',
  plan: 'Plan',
  postpaid_forgiven: 'Forgiven',
  postpaid_overdraft: 'Overdraft',
  postpaid_settlement: 'Settlement',
  purchased: 'Purchased',
  rollover: 'Rollover',
}

/** Error code and message for each refusal of the company's actor. */
export const creditRefusals: Refusals = {
  not_found: ['not_found', 'No such company or credit'],
  downgrade_pending: [
    'state_conflict',
    'reason: a downgrade is pending, so no credits are purchased until it is done',
  ],
  amount_invalid: ['value_invalid', 'The amount must be positive and within bounds'],
  expiry_invalid: ['value_invalid', 'expires_at: must be later than now, for a hold at most an hour'],
  no_trial: ['value_invalid', 'expiry_type: the company has no running trial'],
  grant_not_found: ['not_found', 'Grant not found'],
  lease_not_found: ['not_found', 'Lease not found'],
  lease_closed: ['state_conflict', 'The lease is released'],
  reservation_not_found: ['not_found', 'Reservation not found'],
  insufficient_credits: ['insufficient_credits', 'insufficient credits'],
  spend_cap: ['insufficient_credits', 'insufficient credits: above the most that one draw may take'],
  credit_external: ['value_invalid', 'The ledger of this credit is kept elsewhere'],
  idempotency_reused: ['idempotency_reused', 'The idempotency key was used with other inputs'],
  idempotency_over: ['idempotency_reused', 'What the idempotency key held is over'],
}

const grantableReasons: readonly BillingCreditGrantReason[] = ['free', 'purchased', 'adjustment']

/**
 * POST /billing/credits/grants/company.
 *
 * returns  the grant; for several bundles their first grant.
 * errors   400 for a reason reserved for the service, an expiry in the past, a bundle that is not for sale to the
 *          company, a purchase while a downgrade waits (EN-95); 404 for an unknown company, credit or bundle.
 * source   CR-10, CR-13, CR-32, CR-34, PB-43, PB-70. `quantity` counts credits, also with a bundle, and must be a
 *          multiple of the bundle's: decision. `renewal_enabled` repeats the grant at each boundary of
 *          `renewal_period`. Each repeat has its own expiry. Repeats stop when one grant is zeroed out by hand:
 *          decision 30.
 */
export const grantToCompany: Handler<CompanyGrantCreate> = async call => {
  const { body, services, environment, nowMs } = call
  requireCompany(call, body.company_id)
  await requireCredit(services.sql, environment.id, body.credit_id, 'credit_id')
  if (!grantableReasons.includes(body.reason))
    throw new ServiceError('value_invalid', `reason: expected one of ${grantableReasons.join(', ')}`)
  if (body.renewal_enabled !== true && body.renewal_period != null)
    throw new ServiceError('value_invalid', 'renewal_period: only with renewal_enabled')
  if (body.renewal_enabled === true && body.expires_at != null)
    throw new ServiceError(
      'value_invalid',
      'expires_at: each grant of a renewal has its own end, so expiry_type says it',
    )
  const bundle = body.credit_bundle_id
    ? await requireBundle(services.sql, environment.id, body.credit_bundle_id, 'credit_bundle_id')
    : null
  if (bundle) await requireForSale(call, bundle)
  const size = numberOrNull(bundle?.quantity ?? null) ?? body.quantity
  if (body.quantity % size !== 0)
    throw new ServiceError('value_invalid', `quantity: the bundle is sold in lots of ${size}`)
  const message = {
    type: 'credit_grant',
    creditId: body.credit_id,
    reason: body.reason,
    quantity: size,
    count: body.quantity / size,
    validFromMs: null,
    expiresAtMs: body.expires_at == null ? null : requireTime(body.expires_at, 'expires_at'),
    expiry: expiryOf(body, bundle),
    bundleId: bundle?.id ?? null,
    currency: body.currency?.toLowerCase() ?? bundle?.currency ?? null,
    ...(body.renewal_enabled === true && { renewal: body.renewal_period ?? 'billing_period' }),
  } as const
  const asked = services.shards.ask<CreditReply>('c', environment.id, body.company_id, message, nowMs)
  const reply = await replyWhenShown(call, asked, creditRefusals)
  return { status: 201, data: await grantById(call, body.company_id, madeIn(reply)) }
}

function madeIn(reply: CreditReply): string {
  if (reply.type !== 'grants') throw new Error('the company made no grant')
  return reply.grants[0]!.id
}

async function requireForSale(call: Call<CompanyGrantCreate, unknown>, bundle: FoundBundle): Promise<void> {
  const { body, services, environment } = call
  if (bundle.credit_id !== body.credit_id)
    throw new ServiceError('value_invalid', 'credit_bundle_id: a bundle of another credit')
  if (bundle.status !== 'active')
    throw new ServiceError('state_conflict', 'credit_bundle_id: the bundle is inactive')
  if (body.reason !== 'purchased') throw new ServiceError('value_invalid', 'reason: a bundle is purchased')
  const currency = body.currency?.toLowerCase() ?? bundle.currency
  if (!bundle.prices.some(price => price.currency === currency))
    throw new ServiceError('value_invalid', `currency: the bundle has no price in ${currency}`)
  if (bundle.compatible_plan_ids.length === 0) return
  const held = await heldPlans(call, body.company_id)
  if (!held.some(id => bundle.compatible_plan_ids.includes(id)))
    throw new ServiceError('state_conflict', 'credit_bundle_id: not for companies on this plan')

  async function heldPlans(of: Call<unknown, unknown>, companyId: string): Promise<readonly string[]> {
    const question = { type: 'describe' } as const
    const { reply } = await services.shards.ask<Held | null>(
      'c',
      environment.id,
      companyId,
      question,
      of.nowMs,
    )
    return reply ? [...(reply.plan ? [reply.plan] : []), ...reply.addOns].map(({ planId }) => planId) : []
  }
}

/** The part of a company's description that this file reads. */
interface Held {
  readonly plan: { readonly planId: string } | null
  readonly addOns: readonly { readonly planId: string }[]
}

/** How long the grant lasts: the body's expiry, else the bundle's, else (null) the credit's (CR-34). */
function expiryOf(body: CompanyGrantCreate, bundle: FoundBundle | null): ExpiryRule | null {
  const { billing_periods_count: periods } = body
  const type = body.expiry_type ?? (periods == null ? null : 'duration')
  if (type === null)
    return (
      bundle && {
        type: bundle.expiry_type,
        unit: bundle.expiry_unit,
        count: numberOrNull(bundle.expiry_unit_count),
      }
    )
  if (type !== 'duration') return { type, unit: null, count: null }
  const count = body.expiry_unit_count ?? periods ?? null
  if (count === null)
    throw new ServiceError('value_invalid', 'expiry_unit_count: needed by expiry_type duration')
  return { type, unit: body.expiry_unit ?? (periods == null ? 'days' : 'billing_periods'), count }
}

async function grantById(
  call: Call<unknown, unknown>,
  companyId: string,
  grantId: string,
): Promise<CreditGrant> {
  const figures = await figuresOf(call, [companyId])
  const { services, environment } = call
  const [row] = await listGrantRows(services.sql, environment.id, { ids: [grantId] }, newestFirst, null)
  if (!row) throw new ServiceError('store_away', 'The grant is made; Postgres is behind')
  return grantView(row, figures)
}

const newestFirst = { by: 'created_at', ascending: false } as const

/**
 * PUT /billing/credits/grants/{grant_id}/zero-out. A second call changes nothing.
 *
 * source  CR-45, CR-46.
 */
export const zeroOutGrant: Handler<GrantZeroOut> = async call => {
  const { body, services, environment, nowMs, params } = call
  await services.projections.barrier('postgres')
  const ids = [params.grant_id!]
  const [row] = await listGrantRows(services.sql, environment.id, { ids }, newestFirst, null)
  if (!row) throw new ServiceError('not_found', 'Grant not found')
  if (row.zeroed_out_at === null && isKnown(call, 'company', row.company_id)) {
    const message = {
      type: 'credit_zero_out',
      creditId: row.credit_id,
      grantId: row.id,
      reason: body.reason ?? 'manual',
    } as const
    const asked = services.shards.ask<CreditReply>('c', environment.id, row.company_id, message, nowMs)
    await replyWhenShown(call, asked, creditRefusals)
  }
  return { data: await grantById(call, row.company_id, row.id) }
}

const companyListShape = {
  company_id: required(string),
  order: oneOf(['created_at', 'expires_at', 'quantity', 'quantity_remaining']),
  dir: oneOf(['asc', 'desc']),
  ...page,
} as const
export const companyGrantListQuery = query(companyListShape)
type CompanyGrantListQuery = QueryOf<typeof companyListShape>

/**
 * GET /billing/credits/grants/company/list: all grants ever made, with their present figures (CR-12). Newest first
 * by default.
 */
export const listCompanyGrants: Handler<undefined, CompanyGrantListQuery> = async call => {
  const { query, services, environment } = call
  const { company_id, limit, offset } = query
  requireCompany(call, company_id)
  const figures = await figuresOf(call, [company_id])
  await services.projections.barrier('postgres')
  const { order = 'created_at', dir = 'desc' } = query
  const ascending = dir === 'asc'
  const by: StoredGrantOrder = order === 'quantity_remaining' ? 'created_at' : order
  const found = await listGrantRows(services.sql, environment.id, { company_id }, { by, ascending }, null)
  const rows = found.filter(row => isWithin(figures, row))
  const left = (row: GrantRow) => figuresOfGrant(figures, row)?.remaining ?? 0
  if (order === 'quantity_remaining') rows.sort((a, b) => (ascending ? 1 : -1) * (left(a) - left(b)))
  return { data: rows.slice(offset, offset + limit).map(row => grantView(row, figures)) }
}

/** GET /billing/credits/grants/company/count. */
export const countCompanyGrants: Handler<undefined, CompanyGrantListQuery> = async call => {
  requireCompany(call, call.query.company_id)
  await creditsOf(call, call.query.company_id)
  return count(call, { company_id: call.query.company_id })
}

const creditListShape = { credit_id: string, ids: list, ...page } as const
export const creditGrantListQuery = query(creditListShape)
type CreditGrantListQuery = QueryOf<typeof creditListShape>

/** GET /billing/credits/grants/list: grants of all companies, newest first. */
export const listCreditGrants: Handler<undefined, CreditGrantListQuery> = async call => {
  const { query, services, environment } = call
  await services.projections.barrier('postgres')
  const rows = await listGrantRows(services.sql, environment.id, query, newestFirst, query)
  const figures = await figuresOf(
    call,
    rows.map(row => row.company_id),
  )
  return { data: rows.map(row => grantView(row, figures)) }
}

/** GET /billing/credits/grants/count. */
export const countCreditGrants: Handler<undefined, CreditGrantListQuery> = call => count(call, call.query)

async function count({ services, environment }: Call<unknown, unknown>, filter: GrantFilter) {
  await services.projections.barrier('postgres')
  return { data: { count: await countGrantRows(services.sql, environment.id, filter) } }
}

const balanceShape = { company_id: required(string) } as const
export const balanceQuery = query(balanceShape)

/** GET /billing/credits/balance: every credit that the company was ever granted (CR-4, CR-5). */
export const listBalances: Handler<undefined, QueryOf<typeof balanceShape>> = async call => {
  requireCompany(call, call.query.company_id)
  const credits = await creditsOf(call, call.query.company_id)
  const data: CompanyCreditBalanceRecord[] = (credits?.accounts ?? []).map(account => ({
    credit_id: account.creditId,
    remaining: account.remaining,
    reserved: account.reserved,
    settled: account.settled,
    source: 'native',
    total: account.total,
  }))
  return { data }
}
