// Writing a subscription: the company decides, the record is stored, then its counters are corrected.
import type { Sql } from 'postgres'
import type { PlanChangeAction } from '../../../schemas/enums.js'
import { firstUse, usageBetween } from '../../analytics/history.js'
import type { PlanChangeCause } from '../../core/model/company-state.js'
import type { CycleRecount, SubscriptionMessage, SubscriptionReply } from '../../core/model/plan-messages.js'
import { isLate } from '../../core/plans/subscription.js'
import { addQuantity, type Quantity } from '../../core/values/quantity.js'
import { Refused } from '../../entities/shards/shards.js'
import { KeyedMutex } from '../../entities/turns/one-at-a-time.js'
import type { Call } from '../../kit/call.js'
import { asJson } from '../../kit/sql.js'
import { plainSubscription, type SubscriptionRow, subscriptionState } from './record-rows.js'

type AnyCall = Call<unknown, unknown>

const turns = new KeyedMutex()

/** Serialises the writes of one subscription, so that company and record agree on the last one. */
export function inTurn<T>(call: AnyCall, externalId: string, work: () => Promise<T>): Promise<T> {
  return turns.run(`${call.environment.id} ${externalId}`, work)
}

/** The cause that plan changes of this call are recorded with. */
export function causeOf(call: AnyCall, action: PlanChangeAction): PlanChangeCause {
  return { action, actorType: 'api_key', apiKeyId: call.key.id }
}

/**
 * Apply a subscription to its company and store it. The caller holds the subscription's turn (inTurn).
 *
 * had      the stored record; null for a new one.
 * sinceMs  since when it is paid in its currency.
 * returns  false when the message is out of order: nothing changed (PB-54).
 * errors   503 while a store is down; repeating the message completes the write.
 * source   PB-50, PB-51, US-3.
 */
export async function putSubscription(
  call: AnyCall,
  had: SubscriptionRow | null,
  row: SubscriptionRow,
  sinceMs = call.nowMs,
): Promise<boolean> {
  const { sql } = call.services
  const cause = causeOf(call, 'subscription_change')
  const subscription = subscriptionState(row)
  if (had && isLate(subscriptionState(had), subscription)) return false
  if (had?.company_id && had.company_id !== row.company_id)
    await dropSubscription(call, had.company_id, row.id, cause)
  const reply =
    row.company_id === null
      ? null
      : await tellCompany(call, row.company_id, { type: 'put_subscription', subscription, cause })
  if (reply && !reply.accepted) return false
  await storeSubscription(sql, row, sinceMs)
  if (reply) await recount(call, row.company_id!, reply.recount)
  return true
}

/** Remove the subscription from its former company, and its rows, before the next company gets it. */
async function dropSubscription(
  call: AnyCall,
  companyId: string,
  subscriptionId: string,
  cause: PlanChangeCause,
): Promise<void> {
  await tellCompany(call, companyId, { type: 'drop_subscription', subscriptionId, cause })
  await call.services.projections.barrier('postgres')
}

/** Send a message to the company. Returns null when the company is gone. */
export async function tellCompany(
  { services, environment, nowMs }: AnyCall,
  companyId: string,
  message: SubscriptionMessage,
): Promise<SubscriptionReply | null> {
  try {
    const { reply } = await services.shards.ask<SubscriptionReply>(
      'c',
      environment.id,
      companyId,
      message,
      nowMs,
    )
    return reply
  } catch (error) {
    if (error instanceof Refused && error.refusal === 'not_found') return null
    throw error
  }
}

/**
 * Recount the billing-cycle counters of a company whose cycle started anew within a window.
 *
 * source  US-3.
 */
export async function recount(call: AnyCall, companyId: string, wanted: CycleRecount | null): Promise<void> {
  if (wanted === null) return
  const { services, environment } = call
  const { clickhouse, clock } = services
  await services.projections.barrierOf('clickhouse', environment.id)
  const counted = await Promise.all(
    wanted.subtypes.map(async subtype => {
      const [before, firstMs] = await Promise.all([
        usageBetween(clickhouse, environment.id, companyId, subtype, [0, wanted.startMs], clock.wall()),
        firstUse(clickhouse, environment.id, companyId, subtype, wanted.startMs),
      ])
      return {
        subtype,
        before: before.reduce<Quantity>((sum, { quantity }) => addQuantity(sum, quantity), 0),
        firstMs,
      }
    }),
  )
  await tellCompany(call, companyId, { type: 'cycle_counted', startMs: wanted.startMs, counted })
}

/**
 * Store a record. Its former currency is kept: use before was charged in it.
 *
 * sinceMs  since when it is paid in its currency.
 * source   RA-6.
 */
export async function storeSubscription(sql: Sql, row: SubscriptionRow, sinceMs: number): Promise<void> {
  const { metadata, products, discounts, own, created_at, ...plain } = plainSubscription(row)
  const values = {
    ...plain,
    metadata: metadata && asJson(sql, metadata),
    products: asJson(sql, products),
    discounts: asJson(sql, discounts),
    own: own && asJson(sql, own),
  }
  await sql`
    with former as (
      insert into prior_terms (environment_id, kind, id, terms, until_ms)
      select environment_id, 'billing_subscriptions', id, jsonb_build_object('currency', currency), ${sinceMs}::bigint
      from billing_subscriptions where id = ${row.id} and currency <> ${row.currency})
    insert into billing_subscriptions ${sql({ ...values, created_at })}
    on conflict (environment_id, external_id) do update set ${sql(values)}`
}
