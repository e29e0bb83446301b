// Custom plan billings: amounts owed for invoiced plans; pending, active, paid or expired (PB-60…62).
import type { Sql } from 'postgres'
import type { CustomPlanBillingPaid, CustomPlanBillingRetry } from '../../../schemas/billing.js'
import { customPlanBillingStatuses } from '../../../schemas/enums.js'
import { dayMs } from '../../core/values/period.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { listOf, oneOf, page, type QueryOf, query, string } from '../../kit/query.js'
import { among, asJson, newest } from '../../kit/sql.js'
import { requireTime } from '../../kit/time.js'
import { currentSubscriptions } from '../billing/own-subscriptions.js'
import { type CustomPlanBillingRow, subscriptionNow, subscriptionsOf } from '../billing/record-rows.js'
import { inTurn, putSubscription } from '../billing/subscription-write.js'
import { billingStatusNow, customPlanBillingView, isRunning } from '../billing/view.js'
import { described } from '../companies/read.js'
import { allOf } from '../entities/list.js'
import type { CustomPlan } from './change.js'
import { companyTurn, manage } from './handlers.js'
import { closeOlder } from './plan-writes.js'
import { conflict } from './selection.js'

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

/** PUT /custom-plan-billings/{custom_plan_billing_id}/mark-paid. source: PB-60, PB-61 */
export const markPaid: Handler<CustomPlanBillingPaid> = async call => {
  const { services, nowMs } = call
  const { company_id: companyId } = await found(call)
  const row = await companyTurn(call, companyId, async () => {
    const billing = await found(call)
    const status = billingStatusNow(billing, nowMs)
    if (status !== 'pending' && status !== 'active') throw conflict(`It is ${status}`)
    if (status === 'pending' && billing.request)
      await manage(call, billing.request, { paid: true, custom: customOf(billing) })
    const now = new Date(nowMs)
    const [stored] = await services.sql<CustomPlanBillingRow[]>`
      update custom_plan_billings set status = 'paid', paid_at = ${now}, updated_at = ${now}
      where id = ${billing.id} returning *`
    await closeOlder(services.sql, billing.id, now)
    await endUnlessPaid(call, companyId)
    return stored!
  })
  return { data: customPlanBillingView(row, nowMs) }
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
    if (activates) await manage(call, request, { paid: true, custom: customOf(billing) })
    const now = new Date(nowMs)
    const [stored] = await sql<CustomPlanBillingRow[]>`
      update custom_plan_billings set ${sql({
        status: activates ? 'active' : 'pending',
        activation_strategy: strategy,
        days_until_due: days,
        send_invoice: body.send_invoice ?? billing.send_invoice,
        customer_email: body.customer_email,
        billing_cycle_anchor: anchor === null ? null : new Date(anchor),
        prorate_first_period: anchor === null ? null : (body.prorate_first_period ?? true),
        request: request && asJson(sql, request),
        published_at: now,
        paid_at: null,
        updated_at: now,
      })} where id = ${billing.id} returning *`
    if (activates) {
      await closeOlder(sql, billing.id, now)
      await endUnlessPaid(call, companyId)
    }
    return stored!
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
  const { services, nowMs } = call
  const rows = await currentSubscriptions(call, await subscriptionsOf(services.sql, [companyId]))
  const own = rows
    .map(row => subscriptionNow(row, nowMs))
    .find(row => row.own !== null && isRunning(row, nowMs))
  if (!own) return
  const { state } = await described(call, companyId)
  const held = [state.plan, ...state.addOns].flatMap(one => one?.planId ?? [])
  const billings = await services.sql<CustomPlanBillingRow[]>`
    select * from custom_plan_billings
    where company_id = ${companyId} and status = 'active' and plan_id in ${among(services.sql, held)}`
  const dues = billings
    .filter(one => billingStatusNow(one, nowMs) === 'active')
    .map(one => one.published_at!.getTime() + one.days_until_due * dayMs)
  const cancelAt = dues.length === 0 ? null : Math.floor(Math.min(...dues) / 1000)
  const present = own.cancel_at === null ? null : Number(own.cancel_at)
  if (cancelAt === present) return
  await inTurn(call, own.external_id, () =>
    putSubscription(call, own, { ...own, cancel_at: cancelAt, updated_at: new Date(nowMs) }),
  )
}
