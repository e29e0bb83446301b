// Custom plan billings: amounts owed for invoiced plans; pending, active, paid or expired (PB-60…62).
import type { Sql } from 'postgres'
import type {
  CustomPlanBillingPaid,
  CustomPlanBillingRetry,
  ManagePlanRequest,
} from '../../../schemas/billing.js'
import { customPlanBillingStatuses } from '../../../schemas/enums.js'
import { dayMs } from '../../core/values/period.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { listOf, oneOf, page, type QueryOf, query, string } from '../../kit/query.js'
import { among, inTransaction, newest } from '../../kit/sql.js'
import { requireTime } from '../../kit/time.js'
import { currentSubscriptions } from '../billing/own-subscriptions.js'
import {
  type CustomPlanBillingRow,
  type SubscriptionRow,
  subscriptionNow,
  subscriptionsOf,
} from '../billing/record-rows.js'
import { inTurn } from '../billing/subscription-write.js'
import { billingStatusNow, customPlanBillingView, isRunning } from '../billing/view.js'
import { described } from '../companies/read.js'
import { allOf } from '../entities/list.js'
import type { CustomPlan } from './change.js'
import { companyTurn, manage } from './handlers.js'
import { changeSubscription, type Settled, settleBilling } from './plan-writes.js'
import { conflict, invalid } from './selection.js'

type AnyCall = Call<unknown, unknown>

const listShape = {
  company_id: string,
  plan_id: string,
  plan_billing_source: oneOf(['custom_plan', 'manage_plan', 'amendment']),
  status: oneOf(customPlanBillingStatuses),
  statuses: listOf(customPlanBillingStatuses),
  ...page,
} as const
export const customPlanBillingListQuery = query(listShape)

/** GET /custom-plan-billings. */
export const listCustomPlanBillings: Handler<undefined, QueryOf<typeof listShape>> = async call => {
  const { services, environment, query: asked, nowMs } = call
  const { sql } = services
  const wanted = [asked.status === undefined ? undefined : [asked.status], asked.statuses].filter(
    statuses => statuses !== undefined,
  )
  const statusNow = sql`case when status in ('active', 'pending')
    and published_at + days_until_due * interval '24 hours' <= ${new Date(nowMs)} then 'expired' else status end`
  const conditions = [sql`environment_id = ${environment.id}`]
  if (asked.company_id) conditions.push(sql`company_id = ${asked.company_id}`)
  if (asked.plan_id) conditions.push(sql`plan_id = ${asked.plan_id}`)
  if (asked.plan_billing_source) conditions.push(sql`plan_billing_source = ${asked.plan_billing_source}`)
  for (const statuses of wanted) conditions.push(sql`${statusNow} in ${among(sql, statuses)}`)
  const rows = await sql<CustomPlanBillingRow[]>`
    select * from custom_plan_billings where ${allOf(sql, conditions)} ${newest(sql, asked)}`
  return { data: rows.map(row => customPlanBillingView(row, nowMs)) }
}

async function found({ services, environment, params }: AnyCall): Promise<CustomPlanBillingRow> {
  const [row] = await services.sql<CustomPlanBillingRow[]>`
    select * from custom_plan_billings
    where id = ${params.custom_plan_billing_id!} and environment_id = ${environment.id}`
  if (!row) throw new ServiceError('not_found', 'Custom plan billing not found')
  return row
}

/**
 * PUT /custom-plan-billings/{custom_plan_billing_id}/mark-paid. One that waited puts its plan into force first.
 *
 * A kill between the steps leaves a note, by which the rest is done: whoever paid has the plan, and the billing is paid.
 * source  PB-60, PB-61, decision 37.
 */
export const markPaid: Handler<CustomPlanBillingPaid> = async call => {
  const { nowMs } = call
  const { company_id: companyId } = await found(call)
  const row = await companyTurn(call, companyId, async () => {
    const billing = await found(call)
    const status = billingStatusNow(billing, nowMs)
    if (status !== 'pending' && status !== 'active') throw conflict(`It is ${status}`)
    const at = new Date(nowMs).toISOString()
    const settles = {
      billingId: billing.id,
      values: { status: 'paid', paid_at: at, updated_at: at },
      request: null,
    }
    if (status === 'pending' && billing.request) {
      const request = await requestNow(call, billing, billing.request)
      const cancelAt = await earliestDue(call, companyId, plansOf(request), billing)
      await manage(call, request, { paid: true, custom: customOf(billing), settles, cancelAt })
    } else await settleOnly(call, companyId, billing, settles)
    return found(call)
  })
  return { data: customPlanBillingView(row, nowMs) }
}

const plansOf = ({ base_plan_id: base, add_on_selections: addOns }: ManagePlanRequest): string[] => [
  ...(base == null ? [] : [base]),
  ...addOns.map(one => one.plan_id),
]

/** The request of a billing as it is now: a custom plan takes the place of a base plan, beside the add-ons of now. */
async function requestNow(
  call: AnyCall,
  { company_id: companyId, plan_billing_source: source }: CustomPlanBillingRow,
  request: ManagePlanRequest,
): Promise<ManagePlanRequest> {
  if (source === 'manage_plan') return request
  const { state } = await described(call, companyId)
  return { ...request, add_on_selections: state.addOns.map(({ planId }) => ({ plan_id: planId })) }
}

/** Settle a billing that changes no plans: the subscription no longer ends by it. */
async function settleOnly(
  call: AnyCall,
  companyId: string,
  billing: CustomPlanBillingRow,
  settles: Settled,
): Promise<void> {
  const own = await runningSubscription(call, companyId)
  const cancelAt = own && (await earliestDue(call, companyId, await plansHeld(call, companyId), billing))
  if (own && cancelAt !== endOf(own)) {
    const changed = { ...own, cancel_at: cancelAt, updated_at: new Date(call.nowMs) }
    if (await inTurn(call, own.external_id, () => changeSubscription(call, changed, settles))) return
  }
  await inTransaction(call.services.sql, async tx => {
    await settleBilling(tx, settles, new Date(call.nowMs))
    await call.record?.(tx)
  })
}

function customOf(billing: CustomPlanBillingRow): CustomPlan | null {
  const { plan_billing_source: source, migration_id: migrationId } = billing
  return source === 'manage_plan' ? null : { source, migrationId }
}

/**
 * PUT /custom-plan-billings/{custom_plan_billing_id}/retry: bills the same plan again, due from now on.
 *
 * errors  404; 400 for a billing that has not expired.
 * source  PB-61, PB-62.
 */
export const retryBilling: Handler<CustomPlanBillingRetry> = async call => {
  const { services, body, nowMs } = call
  const { sql } = services
  const { company_id: companyId } = await found(call)
  const anchor =
    body.billing_cycle_anchor == null ? null : requireTime(body.billing_cycle_anchor, 'billing_cycle_anchor')
  if (anchor !== null && anchor <= nowMs) throw invalid('billing_cycle_anchor: must be in the future')
  const row = await companyTurn(call, companyId, async () => {
    const billing = await found(call)
    const status = billingStatusNow(billing, nowMs)
    if (status !== 'expired') throw conflict(`It is ${status}, not expired`)
    await requireNewest(sql, billing)
    const strategy = body.activation_strategy ?? billing.activation_strategy
    const days = body.days_until_due ?? billing.days_until_due
    const request = billing.request && {
      ...billing.request,
      billing_email: body.customer_email,
      billing_cycle_anchor: anchor === null ? null : new Date(anchor).toISOString(),
      prorate_first_period: body.prorate_first_period ?? true,
      activate_on_payment: strategy === 'on_payment',
      days_until_due: days,
    }
    const activates = strategy === 'on_publish' && request !== null
    const at = new Date(nowMs).toISOString()
    const settles = {
      billingId: billing.id,
      values: {
        status: activates ? 'active' : 'pending',
        activation_strategy: strategy,
        days_until_due: days,
        send_invoice: body.send_invoice ?? billing.send_invoice,
        customer_email: body.customer_email,
        billing_cycle_anchor: anchor === null ? null : new Date(anchor).toISOString(),
        prorate_first_period: anchor === null ? null : (body.prorate_first_period ?? true),
        published_at: at,
        paid_at: null,
        updated_at: at,
      },
      request,
    }
    if (activates) {
      const again = { ...billing, published_at: new Date(nowMs) }
      const wanted = await requestNow(call, billing, request)
      const others = await earliestDue(call, companyId, plansOf(wanted), again)
      const cancelAt = Math.min(others ?? Number.POSITIVE_INFINITY, Math.floor((nowMs + days * dayMs) / 1000))
      await manage(call, wanted, { paid: true, custom: customOf(billing), settles, cancelAt })
    } else
      await inTransaction(sql, async tx => {
        await settleBilling(tx, settles, new Date(nowMs))
        await call.record?.(tx)
      })
    return found(call)
  })
  return { data: customPlanBillingView(row, nowMs) }
}

/** Throws 400 if a newer billing of the same plan is in force: its version took the place of this one's (N14). */
async function requireNewest(sql: Sql, billing: CustomPlanBillingRow): Promise<void> {
  const [newer] = await sql<{ id: string }[]>`
    select id from custom_plan_billings
    where company_id = ${billing.company_id} and plan_id = ${billing.plan_id} and id <> ${billing.id}
      and status in ('active', 'paid') and created_at >= ${billing.created_at} and published_at > ${billing.published_at}
    limit 1`
  if (newer) throw conflict(`A newer billing of the plan has taken its place: ${newer.id}`)
}

/**
 * End the company's own subscription at the earliest due date of an unpaid invoice of a plan that it holds; without one
 * it continues. The caller holds the company's turn.
 *
 * source  PB-60, PB-61.
 */
export async function endUnlessPaid(call: AnyCall, companyId: string): Promise<void> {
  const own = await runningSubscription(call, companyId)
  if (!own) return
  const cancelAt = await earliestDue(call, companyId, await plansHeld(call, companyId), null)
  if (cancelAt === endOf(own)) return
  const changed = { ...own, cancel_at: cancelAt, updated_at: new Date(call.nowMs) }
  await inTurn(call, own.external_id, () => changeSubscription(call, changed))
}

const endOf = ({ cancel_at: at }: SubscriptionRow): number | null => (at === null ? null : Number(at))

async function runningSubscription(call: AnyCall, companyId: string): Promise<SubscriptionRow | null> {
  const rows = await currentSubscriptions(call, await subscriptionsOf(call.services.sql, [companyId]))
  const running = rows.map(row => subscriptionNow(row, call.nowMs))
  return running.find(row => row.own !== null && isRunning(row, call.nowMs)) ?? null
}

async function plansHeld(call: AnyCall, companyId: string): Promise<string[]> {
  const { state } = await described(call, companyId)
  return [state.plan, ...state.addOns].flatMap(one => one?.planId ?? [])
}

/**
 * The earliest due date of a company's unpaid billings of these plans, epoch seconds; null: none is due.
 *
 * settled  one that is being settled, and closes the older ones of its plan; null: none.
 */
async function earliestDue(
  { services, nowMs }: AnyCall,
  companyId: string,
  planIds: readonly string[],
  settled: CustomPlanBillingRow | null,
): Promise<number | null> {
  const { sql } = services
  const billings = await sql<CustomPlanBillingRow[]>`
    select * from custom_plan_billings
    where company_id = ${companyId} and status = 'active' and plan_id in ${among(sql, planIds)}`
  const closes = (one: CustomPlanBillingRow) =>
    settled !== null &&
    (one.id === settled.id ||
      (one.plan_id === settled.plan_id && one.published_at!.getTime() <= settled.published_at!.getTime()))
  const dues = billings
    .filter(one => billingStatusNow(one, nowMs) === 'active' && !closes(one))
    .map(one => one.published_at!.getTime() + one.days_until_due * dayMs)
  return dues.length === 0 ? null : Math.floor(Math.min(...dues) / 1000)
}
