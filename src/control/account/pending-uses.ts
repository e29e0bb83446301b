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
 * Ways to a plan that wait for their time or for a payment, in any environment, in words; null: none.
 *
 * Migrations are not among them: they move companies that are on the plan. Neither is a move to a version: it ends with it.
 *
 * now     the present of an environment, epoch ms.
 * source  PB-12, N4: a downgrade, an invoice that is to be paid first, a change or publish under way, a move.
 */
export async function pendingMovesTo(
  sql: Sql,
  part: PlanPart,
  now: (environmentId: string) => number,
): Promise<string | null> {
  const downgrades = await downgradesTo(sql, part)
  if (downgrades !== null) return `A downgrade to it waits in ${downgrades}`
  const invoices = await invoicesFor(sql, part)
  const open = inWords(invoices.filter(one => dueMs(one) > now(one.environment_id)))
  if (open !== null) return `It comes with the payment of an invoice in ${open}`
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
  const moves = inWords(
    await sql<Found[]>`
      select distinct c.company_id from plan_version_company_migrations c
      join plan_version_migrations m on m.id = c.migration_id and m.kind = 'move' and m.plan_id = ${planId}
      where c.status in ('in_progress', 'pending') and exists (select 1 from companies e where e.id = c.company_id)
      order by company_id limit 1000`,
  )
  return moves === null ? null : `A move to it waits in ${moves}`
}

/** Invoices that bring a company to the plan, or to the version, once they are paid. */
async function invoicesFor(sql: Sql, { planId, versionId }: PlanPart): Promise<readonly (Found & Invoice)[]> {
  const addOn = JSON.stringify([versionId === undefined ? { plan_id: planId } : { version_id: versionId }])
  const isFor =
    versionId === undefined
      ? sql`plan_id = ${planId} or request->>'base_plan_id' = ${planId}`
      : sql`plan_version_id = ${versionId} or request->>'base_plan_version_id' = ${versionId}`
  return sql<(Found & Invoice)[]>`
    select company_id, environment_id, published_at, days_until_due from custom_plan_billings
    where status = 'pending' and (${isFor} or request->'add_on_selections' @> ${addOn}::text::jsonb)
      and exists (select 1 from companies e where e.id = company_id)
    order by company_id limit 1000`
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

/** Plans named in an error; the others are counted. */
const plansNamedMax = 5

/**
 * The plans by which companies have a feature, or are to get it by what waits (a downgrade, a migration, a move, the end
 * of a trial), in any environment, with the companies, in words; null: none.
 *
 * source  EN-64, PB-12.
 */
export async function featureInUse(sql: Sql, featureId: string): Promise<string | null> {
  const plans = await sql<{ plan_id: string; name: string; company_ids: readonly string[] }[]>`
    with entitling as (
      select v.id, v.plan_id, v.environment_id, v.status, p.name from plan_entitlements e
      join plan_versions v on v.id = e.plan_version_id and v.deleted_at is null and v.status <> 'draft'
      join plans p on p.id = v.plan_id and p.deleted_at is null
      where e.feature_id = ${featureId}),
    used as (
      select t.plan_id, t.name, c.company_id from entitling t join company_plans c on c.version_id = t.id
      union
      select t.plan_id, t.name, b.company_id from entitling t
      join billing_subscriptions b on b.status in ('active', 'past_due', 'trialing')
        and (b.own->'scheduled'->'lands' @> jsonb_build_array(jsonb_build_object('version_id', t.id))
          -- it lands on the version published then (EN-95)
          or t.status = 'published'
            and b.own->'scheduled'->'lands' @> jsonb_build_array(jsonb_build_object('plan_id', t.plan_id)))
      where exists (select 1 from companies e where e.id = b.company_id)
      union
      select t.plan_id, t.name, m.company_id from entitling t
      join plan_version_company_migrations m on m.plan_version_id_to = t.id and m.status in ('in_progress', 'pending')
      where exists (select 1 from companies e where e.id = m.company_id)
      union
      -- a trial that is not paid for ends on the plan of that role, or has ended there already (EN-91)
      select t.plan_id, t.name, h.company_id from entitling t
      join plan_groups g on g.environment_id = t.environment_id
        and coalesce(g.trial_expiry_plan_id, g.fallback_plan_id) = t.plan_id
      join company_plans h on h.environment_id = t.environment_id and h.kind = 'base'
        and h.trial_end_setting = 'cancel' and h.trial_status <> 'converted'
      where t.status = 'published'
      union
      -- companies without a base plan are on the fallback plan (EN-82)
      select t.plan_id, t.name, c.id from entitling t
      join plan_groups g on g.environment_id = t.environment_id and g.fallback_plan_id = t.plan_id
      join companies c on c.environment_id = t.environment_id
      where t.status = 'published' and not exists (
        select 1 from company_plans h where h.company_id = c.id and h.kind = 'base'))
    select plan_id, name, array_agg(distinct company_id) as company_ids from used group by plan_id, name
    order by name, plan_id limit 1000`
  if (plans.length === 0) return null
  const named = plans
    .slice(0, plansNamedMax)
    .map(one => `plan ${one.name} (${inWords(one.company_ids.map(id => ({ company_id: id })))})`)
  const more = plans.length - named.length
  return `${named.join(', ')}${more > 0 ? ` and ${more} more plans` : ''}`
}
