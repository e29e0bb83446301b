// A product that is linked to a plan after companies have subscribed to it: the plan reaches them at the link, not with
// their provider's next message (PB-51).
import type { Sql } from 'postgres'
import type { PlanVersionRow } from '../../catalog/plans.js'
import { nativeProductId } from '../../catalog/prices.js'
import type { Call } from '../../kit/call.js'
import { currentSubscriptions } from '../billing/own-subscriptions.js'
import { findSubscription } from '../billing/record-rows.js'
import { inTurn, putSubscription } from '../billing/subscription-write.js'

type AnyCall = Call<unknown, unknown>

/** A row of plan_links. */
export interface PlanLinkRow {
  readonly plan_version_id: string
  readonly environment_id: string
  readonly product_id: string
  readonly api_key_id: string
  readonly linked_at: Date
}

/**
 * In the transaction of a publish: note the product that the version links to its plan, unless an earlier version did.
 *
 * returns  whether there is one.
 */
export async function noteLink(tx: Sql, call: AnyCall, version: PlanVersionRow): Promise<boolean> {
  const { plan_id: planId, environment_id: environmentId, billing_product_id: productId } = version
  if (productId === null || productId === nativeProductId(environmentId, planId, null)) return false
  const noted = await tx`
    insert into plan_links (plan_version_id, environment_id, product_id, api_key_id, linked_at)
    select ${version.id}, ${environmentId}, ${productId}, ${call.key.id}, ${new Date(call.nowMs)}
    where not exists (
      select 1 from plan_versions v where v.plan_id = ${planId} and v.environment_id = ${environmentId}
        and v.id <> ${version.id} and v.billing_product_id = ${productId} and v.status <> 'draft' and v.deleted_at is null)
    on conflict do nothing returning plan_version_id`
  return noted.length > 0
}

/** Companies read at a time. */
const batch = 100
/** Companies asked at a time. */
const atOnce = 8

/**
 * Let every active subscription to a linked product take effect once more, as if its provider had told of it now. Every
 * shard knows the link by then. A company that goes over to another plan afterwards stays there, because the row goes.
 *
 * errors  503 while a store is down: the row stays, and the job goes on with it.
 * source  PB-51.
 */
export async function applyLink(call: AnyCall, versionId: string): Promise<void> {
  const { sql, projections } = call.services
  const [link] = await sql<PlanLinkRow[]>`select * from plan_links where plan_version_id = ${versionId}`
  if (!link) return
  await projections.barrier('postgres')
  for (let after = ''; ; ) {
    const found = await sql<{ id: string; external_id: string }[]>`
      select id, external_id from company_subscriptions
      where environment_id = ${link.environment_id} and id > ${after}
        and state->'productIds' @> ${JSON.stringify([link.product_id])}::text::jsonb
        and status in ('active', 'past_due', 'trialing')
      order by id limit ${batch}`
    if (found.length === 0) break
    for (let i = 0; i < found.length; i += atOnce)
      await Promise.all(found.slice(i, i + atOnce).map(one => again(call, one.external_id)))
    after = found.at(-1)!.id
  }
  await sql`delete from plan_links where plan_version_id = ${versionId}`
}

function again(call: AnyCall, externalId: string): Promise<void> {
  const { services, environment } = call
  return inTurn(call, externalId, async () => {
    const row = await findSubscription(services.sql, environment.id, { externalId })
    const [now] = await currentSubscriptions(call, row ? [row] : [])
    if (now?.company_id != null && now.own === null) await putSubscription(call, now, now)
  })
}
