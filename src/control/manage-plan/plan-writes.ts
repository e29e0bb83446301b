// Rows that belong to a change of plans: noted before the company makes the change, stored behind it, by the next start
// if a kill or a store that was away comes between (PB-30, PB-60).
import type { Sql } from 'postgres'
import type { ManagePlanRequest } from '../../../schemas/billing.js'
import { newId } from '../../account/ids.js'
import { Counters } from '../../core/model/counters.js'
import type { CompanyDescription, CompanySnapshot } from '../../core/model/descriptions.js'
import { recountOf } from '../../core/plans/subscription.js'
import type { Call } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { storedLong } from '../../kit/long.js'
import { asJson, inTransaction } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import { storeDetails } from '../billing/details.js'
import { type CustomPlanBillingRow, type SubscriptionRow, subscriptionState } from '../billing/record-rows.js'
import { causeOf, recount, storeSubscription, tellCompany } from '../billing/subscription-write.js'
import { companyBriefs } from '../entities/read.js'
import { planSnapshots } from '../plan-changes/view.js'
import { announce } from '../webhooks/publish.js'

type AnyCall = Call<unknown, unknown>

/** After this time a change that its company has not made is given up, seconds. */
const givenUpSeconds = 60

/** A billing before it is stored. */
export interface NewBilling {
  /** A billing that has this id stays as it is. */
  readonly id: string
  readonly request: ManagePlanRequest
  readonly planId: string
  readonly versionId: string
  readonly source: CustomPlanBillingRow['plan_billing_source']
  readonly migrationId: string | null
  readonly status: 'active' | 'pending'
  readonly onPayment: boolean
  readonly daysUntilDue: number
  readonly email: string | null
  readonly sendInvoice: boolean
}

export async function insertBilling(
  { services, environment, nowMs }: Pick<AnyCall, 'services' | 'environment' | 'nowMs'>,
  billing: NewBilling,
  sql: Sql = services.sql,
): Promise<void> {
  const now = new Date(nowMs)
  const { request } = billing
  const anchor = request.billing_cycle_anchor
  await sql`
    insert into custom_plan_billings ${sql({
      id: billing.id,
      environment_id: environment.id,
      company_id: request.company_id,
      plan_id: billing.planId,
      plan_version_id: billing.versionId,
      plan_billing_source: billing.source,
      migration_id: billing.migrationId,
      activation_strategy: billing.onPayment ? 'on_payment' : 'on_publish',
      status: billing.status,
      days_until_due: billing.daysUntilDue,
      send_invoice: billing.sendInvoice,
      customer_email: billing.email,
      billing_cycle_anchor: anchor == null ? null : new Date(anchor),
      prorate_first_period: anchor == null ? null : (request.prorate_first_period ?? true),
      published_at: now,
      request: asJson(sql, request),
      created_at: now,
      updated_at: now,
    })} on conflict (id) do nothing`
  if (billing.status === 'active') await closeOlder(sql, billing.id, now)
}

/**
 * Close the company's unpaid billings of the same plan that are older than one that is in force: what they are due for is
 * replaced, and their due dates end nothing any more. One that waits for its payment closes none.
 *
 * source  PB-60, N14.
 */
async function closeOlder(sql: Sql, id: string, now: Date): Promise<void> {
  await sql`
    update custom_plan_billings as older set status = 'expired', updated_at = ${now}
    from custom_plan_billings newer
    where newer.id = ${id} and newer.status in ('active', 'paid') and older.id <> newer.id
      and older.company_id = newer.company_id and older.plan_id = newer.plan_id
      and older.status in ('active', 'pending') and older.published_at <= newer.published_at`
}

/** A billing that a change settles: paid, or in force again. Stored with the rows of the change, after the company. */
export interface Settled {
  readonly billingId: string
  /** Columns of the billing; instants as text. */
  readonly values: Readonly<Record<string, string | number | boolean | null>>
  /** The request that it stands for from now on; null: as it is. */
  readonly request: ManagePlanRequest | null
}

/** Store a billing as it is settled, and close the older ones. Once more it changes nothing. */
export async function settleBilling(
  sql: Sql,
  { billingId, values, request }: Settled,
  now: Date,
): Promise<void> {
  const columns = { ...values, ...(request && { request: asJson(sql, request) }) }
  await sql`update custom_plan_billings set ${sql(columns)} where id = ${billingId}`
  await closeOlder(sql, billingId, now)
}

/** Rows that belong to a change of plans. */
export interface PlanWrite {
  readonly companyId: string
  readonly row: SubscriptionRow | null
  /** The company had no subscription of the service before. */
  readonly isNew: boolean
  readonly billing: NewBilling | null
  readonly settles?: Settled | null
  /** A change of the subscription alone: an agreed downgrade in it was announced before. */
  readonly isQuiet?: boolean
  readonly fieldValues: ManagePlanRequest['custom_field_values']
  readonly plans: PlansHeld
}

/** Ids of the plans that a company has from a change on. */
interface PlansHeld {
  readonly base: string | null
  readonly addOns: readonly string[]
}

/** A row of plan_writes. */
export interface PlanWriteRow {
  readonly id: string
  readonly environment_id: string
  readonly company_id: string
  readonly api_key_id: string
  readonly subscription: SubscriptionRow | null
  readonly is_new: boolean
  readonly billing: NewBilling | null
  readonly field_values: PlanWrite['fieldValues']
  readonly plans: PlansHeld
  readonly settles: { readonly billing: Settled | null; readonly isQuiet: boolean } | null
  /** The rows are stored; billing-cycle counters may still wait for their recount. */
  readonly is_stored: boolean
  readonly changed_at: Date
}

/** Note what is to be stored. Returns the note's id; null: nothing is. */
export async function beginPlanWrite(
  { services, environment, key, nowMs }: AnyCall,
  { companyId, row, isNew, billing, settles = null, isQuiet = false, fieldValues, plans }: PlanWrite,
): Promise<string | null> {
  if (row === null && billing === null && settles === null && fieldValues.length === 0) return null
  const { sql } = services
  const id = newId('plwr_')
  await sql`
    insert into plan_writes ${sql({
      id,
      environment_id: environment.id,
      company_id: companyId,
      api_key_id: key.id,
      subscription: row && asJson(sql, row),
      is_new: isNew,
      billing: billing && asJson(sql, billing),
      field_values: asJson(sql, fieldValues),
      plans: asJson(sql, plans),
      settles: asJson(sql, { billing: settles, isQuiet }),
      changed_at: new Date(nowMs),
    })}`
  return id
}

/** The company has refused the change, or nothing of it is left to do. */
export async function dropPlanWrite({ services }: AnyCall, id: string | null): Promise<void> {
  if (id !== null) await services.sql`delete from plan_writes where id = ${id}`
}

/**
 * Store the rows, once: only the one that marks or removes their note stores them.
 *
 * id     of the note; null: there is none.
 * keeps  whether the note stays, for counters that are recounted afterwards.
 */
export async function storePlanWrite(
  call: AnyCall,
  id: string | null,
  write: PlanWrite,
  keeps: boolean,
): Promise<void> {
  await inTransaction(call.services.sql, async tx => {
    if (id !== null) {
      const taken = keeps
        ? await tx`update plan_writes set is_stored = true where id = ${id} and not is_stored returning id`
        : await tx`delete from plan_writes where id = ${id} and not is_stored returning id`
      if (taken.length === 0) return
    }
    await storeRows(tx, call, write, call.nowMs)
  })
}

async function storeRows(
  tx: Sql,
  call: AnyCall,
  { companyId, row, billing, settles, isQuiet, fieldValues: values }: Omit<PlanWrite, 'isNew' | 'plans'>,
  nowMs: number,
): Promise<void> {
  const { environment, services } = call
  if (row) {
    await storeSubscription(tx, row, nowMs)
    if (!isQuiet) await announceDowngrade(tx, call, row)
  }
  if (billing) await insertBilling({ services, environment, nowMs }, billing, tx)
  if (settles) await settleBilling(tx, settles, new Date(nowMs))
  if (values.length > 0) await storeDetails(tx, environment.id, companyId, { values }, nowMs)
}

/**
 * Change a subscription of a company alone: the company first, then the row, the billing that it settles, and the
 * counters. A note made before lets the job or the next change of the company's plans store what a kill leaves out. The
 * caller holds the turns of the company and of the subscription.
 *
 * returns  false when the company does not take it: nothing changed.
 * source   decision 37, PB-60; US-3.
 */
export async function changeSubscription(
  call: AnyCall,
  row: SubscriptionRow,
  settles: Settled | null = null,
): Promise<boolean> {
  const companyId = row.company_id!
  const plans = { base: null, addOns: [] }
  const write = {
    companyId,
    row,
    isNew: false,
    billing: null,
    settles,
    isQuiet: true,
    fieldValues: [],
    plans,
  }
  const noteId = await beginPlanWrite(call, write)
  const cause = causeOf(call, 'subscription_change')
  const message = { type: 'put_subscription', subscription: subscriptionState(row), cause } as const
  const reply = await tellCompany(call, companyId, message)
  if (!reply?.accepted) {
    await dropPlanWrite(call, noteId)
    return false
  }
  await storePlanWrite(call, noteId, write, reply.recount !== null)
  if (reply.recount === null) return true
  await recount(call, companyId, reply.recount)
  await dropPlanWrite(call, noteId)
  return true
}

/** Store the rows of an interrupted change as they were noted. Their note stays. */
async function storeNoted(call: AnyCall, id: string): Promise<void> {
  await inTransaction(call.services.sql, async tx => {
    const [noted] = await tx<PlanWriteRow[]>`
      update plan_writes set is_stored = true where id = ${id} and not is_stored returning *`
    if (!noted) return
    const { company_id: companyId, subscription, billing, field_values: fieldValues } = noted
    const row = subscription && revived(subscription)
    // notes of older versions say nothing of billings
    const { billing: settles, isQuiet } = noted.settles ?? { billing: null, isQuiet: false }
    const write = { companyId, row, billing, settles, isQuiet, fieldValues }
    await storeRows(tx, call, write, noted.changed_at.getTime())
  })
}

/** A subscription row as it was before it was JSON. */
function revived(row: SubscriptionRow): SubscriptionRow {
  const date = (value: Date | string | null) => (value === null ? null : new Date(value))
  return {
    ...row,
    started_at: date(row.started_at),
    expired_at: date(row.expired_at),
    overdue_since: date(row.overdue_since),
    gated_at: date(row.gated_at),
    provider_event_at: date(row.provider_event_at ?? null), // absent in notes of older versions
    created_at: new Date(row.created_at),
    updated_at: new Date(row.updated_at),
  }
}

/** Store what changes of a company that were interrupted left. The caller holds the company's turn. */
export async function finishPlanWritesOf(call: AnyCall, companyId: string): Promise<void> {
  const writes = await call.services.sql<PlanWriteRow[]>`
    select * from plan_writes where company_id = ${companyId} order by begun_at, id`
  for (const write of writes) await finishPlanWrite(call, write)
}

/**
 * Store what an interrupted change left, and recount its billing-cycle counters (US-3), if its company has made the
 * change. If not, the note stays for a minute: its request may still be under way.
 */
export async function finishPlanWrite(call: AnyCall, write: PlanWriteRow): Promise<void> {
  const { services, environment } = call
  const { id, company_id: companyId } = write
  const nowMs = services.clock.now(environment.id)
  const state = isKnown(call, 'company', companyId)
    ? (
        await services.shards.ask<CompanyDescription | null>(
          'c',
          environment.id,
          companyId,
          { type: 'describe' },
          nowMs,
        )
      ).reply?.state
    : undefined
  if (state && (write.is_stored || isMade(state, write))) {
    await storeNoted(call, id)
    const counters = Counters.from(state.counters)
    await recount(call, companyId, recountOf({ counters }, state, nowMs))
    await dropPlanWrite(call, id)
  } else
    await services.sql`
      delete from plan_writes where id = ${id} and begun_at < now() - ${givenUpSeconds} * interval '1 second'`
}

/**
 * Whether a company has made a change: it has the new subscription, or sells what the changed one sells, now and later;
 * for a change without a subscription, it has these plans. The company's state prevails over the stored row in these members, so the row's other members are all that it can miss.
 */
function isMade({ plan, addOns, subscriptions, schedule }: CompanySnapshot, write: PlanWriteRow): boolean {
  const { subscription: row, is_new: isNew, plans } = write
  if (row === null)
    return (
      plans.base === (plan?.planId ?? null) &&
      plans.addOns.length === addOns.length &&
      addOns.every(({ planId }) => plans.addOns.includes(planId))
    )
  const had = subscriptions.find(({ id }) => id === row.id)
  if (had === undefined || isNew) return had !== undefined
  const { items, cancelAtPeriodEnd, cancelAtMs, trialEndMs } = subscriptionState(row)
  const has = [had.items, had.cancelAtPeriodEnd, had.cancelAtMs, had.trialEndMs]
  const laterMs = (row.own?.scheduled?.effective_at ?? 0) * 1000
  return (
    JSON.stringify(has) === JSON.stringify([items, cancelAtPeriodEnd, cancelAtMs, trialEndMs]) &&
    (schedule?.downgrade?.effectiveAtMs ?? 0) === laterMs
  )
}

/** Publish a change agreed for later, at the time of the agreement. source: EN-95, interface document */
async function announceDowngrade(tx: Sql, call: AnyCall, row: SubscriptionRow): Promise<void> {
  const scheduled = row.own?.scheduled
  if (row.company_id == null || !scheduled) return
  const { id, effective_at, from_plan_id: fromId, products, interval, total_price } = scheduled
  const toId = scheduled.to_plan_id ?? call.services.catalogs.get(call.environment.id).fallbackPlanId
  const companyId = row.company_id
  await announce(
    tx,
    call,
    'company.scheduled_downgrade',
    async () => {
      const [companies, plans] = await Promise.all([
        companyBriefs(call, [companyId]),
        planSnapshots(
          tx,
          [fromId, toId].filter(one => one !== null),
        ),
      ])
      const company = companies.get(companyId)
      const [from, to] = [plans.get(fromId ?? ''), plans.get(toId ?? '')]
      return {
        id,
        execute_after: isoTime(effective_at * 1000),
        ...(company && { company }),
        ...(from && { from_plan: from }),
        ...(to && { to_plan: to }),
        scheduled_interval: products === null ? null : interval,
        scheduled_price: products === null ? null : storedLong(total_price),
      }
    },
    { companyId },
  )
}
