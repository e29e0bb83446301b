// The companies that are on a plan, and those that are to come to it: nothing of it is deleted under them (PB-12, N4).
import type { Sql } from 'postgres'
import { dayMs } from '../../core/values/period.js'

/** Companies named in an error; the others are counted. */
const namedMax = 3

interface Found {
  readonly company_id: string
}

/** The part of a plan that is to be deleted: all of it, or one version. */
export interface PlanPart {
  readonly planId: string
  readonly versionId?: string
}

/** The companies on a plan, in any environment, in words; null: none. */
export async function companiesOn(sql: Sql, { planId, versionId }: PlanPart): Promise<string | null> {
  return inWords(
    await sql<Found[]>`
      select distinct company_id from company_plans where plan_id = ${planId}
        ${versionId === undefined ? sql`` : sql`and version_id = ${versionId}`}
      order by company_id limit 1000`,
  )
}

/**
 * Moves to a plan that wait for their time or for a payment, in any environment, in words; null: none.
 *
 * Migrations are not among them: they move companies that are on the plan.
 *
 * now     the present of an environment, epoch ms.
 * source  PB-12, N4: a downgrade, a change under way, an invoice that is to be paid first, a publish under way.
 */
export async function pendingMovesTo(
  sql: Sql,
  part: PlanPart,
  now: (environmentId: string) => number,
): Promise<string | null> {
  const downgrades = await downgradesTo(sql, part)
  if (downgrades !== null) return `A downgrade to it waits in ${downgrades}`
  if (part.versionId !== undefined) return null
  const { planId } = part
  const changes = inWords(
    await sql<Found[]>`
      select distinct company_id from plan_writes
      where plans->>'base' = ${planId} or plans->'addOns' @> ${JSON.stringify([planId])}::text::jsonb
      union select company_id from custom_plan_publishes where plan_id = ${planId}
      order by company_id limit 1000`,
  )
  if (changes !== null) return `A change to it is under way in ${changes}`
  const invoices = await sql<(Found & Invoice)[]>`
    select company_id, environment_id, published_at, days_until_due from custom_plan_billings
    where status = 'pending' and (plan_id = ${planId} or request->>'base_plan_id' = ${planId}
      or request->'add_on_selections' @> ${JSON.stringify([{ plan_id: planId }])}::text::jsonb)
      and exists (select 1 from companies e where e.id = company_id)
    order by company_id limit 1000`
  const open = inWords(invoices.filter(one => dueMs(one) > now(one.environment_id)))
  return open === null ? null : `It comes with the payment of an invoice in ${open}`
}

interface Invoice {
  readonly environment_id: string
  readonly published_at: Date
  readonly days_until_due: number
}

const dueMs = ({ published_at, days_until_due: days }: Invoice): number =>
  published_at.getTime() + days * dayMs

/** Companies with a downgrade that waits and lands on the plan, or on the version if it is not replaced meanwhile. */
async function downgradesTo(sql: Sql, { planId, versionId }: PlanPart): Promise<string | null> {
  const aim = JSON.stringify([versionId === undefined ? { plan_id: planId } : { version_id: versionId }])
  const base = versionId === undefined ? sql`or own->'scheduled'->>'to_plan_id' = ${planId}` : sql``
  return inWords(
    await sql<Found[]>`
      select distinct company_id from billing_subscriptions b
      where status in ('active', 'past_due', 'trialing') and own->>'scheduled' is not null
        and (own->'scheduled'->'lands' @> ${aim}::text::jsonb ${base})
        and exists (select 1 from companies e where e.id = b.company_id)
      order by company_id limit 1000`,
  )
}

function inWords(found: readonly Found[]): string | null {
  if (found.length === 0) return null
  const ids = [...new Set(found.map(one => one.company_id))]
  const more = ids.length - namedMax
  return `${ids.slice(0, namedMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
