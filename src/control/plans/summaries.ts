// Short lists of plans, and what a draft changes.
import type { Sql } from 'postgres'
import type {
  DraftChange,
  DraftDiff,
  EntitlementSummary,
  PlanSummary,
  PlanTerms,
  PlanVersionSummary,
} from '../../../schemas/console.js'
import type { PlanCreditGrantRow } from '../../catalog/credits.js'
import type { EntitlementRow, PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import type { StoredPrice } from '../../catalog/prices.js'
import type { CatalogData } from '../../core/model/definitions.js'
import { quantityOrNull } from '../../core/values/quantity.js'
import { long } from '../../kit/long.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import type { Outlook } from '../flags/view.js'
import { companyCounts } from './view.js'

/** Short rows of plans. `withEntitlements`: what each allows, too. */
export async function planSummaries(
  sql: Sql,
  outlook: Outlook,
  environmentId: string,
  rows: readonly PlanRow[],
  withEntitlements: boolean,
): Promise<PlanSummary[]> {
  const ids = rows.map(({ id }) => id)
  const [versions, entitled, counts, offered] = await Promise.all([
    sql<PlanVersionRow[]>`
      select * from plan_versions where environment_id = ${environmentId} and plan_id in ${among(sql, ids)}
        and status <> 'archived' and deleted_at is null`,
    sql<{ plan_version_id: string; count: number }[]>`
      select plan_version_id, count(*)::int as count from plan_entitlements
      where environment_id = ${environmentId} and plan_id in ${among(sql, ids)} group by plan_version_id`,
    companyCounts(sql, outlook, ids),
    offeredOrder(sql, environmentId),
  ])
  const catalog = outlook.services.catalogs.get(environmentId)
  const allowed = withEntitlements ? await entitlementsOf(sql, versions) : null
  const places = new Map(offered.map((id, i) => [id, i + 1]))
  const entitlements = new Map(entitled.map(row => [row.plan_version_id, row.count]))
  return rows.map(plan => {
    const own = versions.filter(version => version.plan_id === plan.id)
    const published = own.find(({ status }) => status === 'published')
    const draft = own.find(({ status }) => status === 'draft')
    const shown = published ?? draft
    return {
      id: plan.id,
      name: shown?.name ?? plan.name,
      plan_type: plan.plan_type,
      company_id: plan.company_id,
      company_count: counts.get(plan.id) ?? 0,
      entitlement_count: entitlements.get(shown?.id ?? '') ?? 0,
      published_version: published ? versionSummary(published) : null,
      draft_version: draft ? versionSummary(draft) : null,
      terms: termsOf(shown ?? null),
      plan_group_position: places.get(plan.id) ?? null,
      description: shown?.description ?? '',
      ...(allowed && {
        entitlements: allowed
          .filter(row => row.plan_version_id === shown?.id)
          .map(row => entitlementSummary(row, catalog)),
      }),
    }
  })
}

function entitlementsOf(sql: Sql, versions: readonly PlanVersionRow[]): Promise<readonly EntitlementRow[]> {
  const ids = versions.map(({ id }) => id)
  return sql<EntitlementRow[]>`
    select * from plan_entitlements where plan_version_id in ${among(sql, ids)} order by created_at, id`
}

function entitlementSummary(row: EntitlementRow, { features, credits }: CatalogData): EntitlementSummary {
  return {
    feature_id: row.feature_id,
    feature_name: features.find(({ id }) => id === row.feature_id)?.name ?? '',
    value_type: row.value_type,
    value_bool: row.value_bool,
    value_numeric: long(quantityOrNull(row.value_numeric)),
    metric_period: row.metric_period,
    consumption_rate: row.consumption_rate,
    credit_name: credits.find(({ id }) => id === row.value_credit_id)?.name ?? null,
  }
}

/** Ids of the plans that the plan group offers, in its order. */
async function offeredOrder(sql: Sql, environmentId: string): Promise<readonly string[]> {
  const [group] = await sql<{ ordered: readonly { plan_id: string }[] }[]>`
    select settings->'ordered_plans' as ordered from plan_groups where environment_id = ${environmentId}`
  return group?.ordered.map(one => one.plan_id) ?? []
}

function versionSummary(row: PlanVersionRow): PlanVersionSummary {
  return {
    id: row.id,
    version: row.version,
    status: row.status,
    published_at: isoTimeOrNull(row.published_at?.getTime() ?? null),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** Versions of a plan that its differences list. */
const versionsMax = 50

/** The changes that publishing the draft would make, member by member; nothing without a draft. */
export async function draftDiff(
  sql: Sql,
  plan: PlanRow,
  environmentId: string,
  outlook: Outlook,
): Promise<DraftDiff> {
  const versions = await sql<PlanVersionRow[]>`
    select * from plan_versions where environment_id = ${environmentId} and plan_id = ${plan.id}
      and deleted_at is null order by version desc`
  const published = versions.find(({ status }) => status === 'published') ?? null
  const draft = versions.find(({ status }) => status === 'draft') ?? null
  const counts = await companyCounts(sql, outlook, [plan.id])
  return {
    plan_id: plan.id,
    plan_name: plan.name,
    plan_type: plan.plan_type,
    versions: versions.slice(0, versionsMax).map(versionSummary),
    published_version: published && versionSummary(published),
    draft_version: draft && versionSummary(draft),
    company_count: counts.get(plan.id) ?? 0,
    terms: termsOf(draft ?? published),
    changes: draft === null ? [] : await changesOf(sql, published, draft),
  }
}

function termsOf(version: PlanVersionRow | null): PlanTerms | null {
  return (
    version && {
      charge_type: version.charge_type,
      currency: version.currency,
      trial_days: version.is_trialable ? version.trial_days : null,
      prices: version.prices.map(({ id, currency, cadence, price, price_decimal: exact }) => ({
        id,
        currency,
        cadence,
        price: exact ?? String(price),
      })),
    }
  )
}

async function changesOf(
  sql: Sql,
  published: PlanVersionRow | null,
  draft: PlanVersionRow,
): Promise<DraftChange[]> {
  const ids = [published?.id ?? '', draft.id]
  const [entitlements, grants, names] = await Promise.all([
    sql<EntitlementRow[]>`select * from plan_entitlements where plan_version_id in ${among(sql, ids)}`,
    sql<PlanCreditGrantRow[]>`select * from plan_credit_grants where plan_version_id in ${among(sql, ids)}`,
    sql<{ id: string; name: string }[]>`
      select id, name from features where account_id = (select account_id from plans where id = ${draft.plan_id})
      union all select id, name from billing_credits where environment_id = ${draft.environment_id}`,
  ])
  const nameOf = new Map(names.map(({ id, name }) => [id, name]))
  const of = <Row extends { plan_version_id: string }>(
    rows: readonly Row[],
    version: PlanVersionRow | null,
  ) => rows.filter(row => row.plan_version_id === version?.id)
  const planMembers = (version: PlanVersionRow) => ({
    name: version.name,
    description: version.description,
    charge_type: version.charge_type,
    trial_days: version.is_trialable ? version.trial_days : null,
  })
  return [
    ...(published === null ? [] : compared('plan', draft.name, planMembers(published), planMembers(draft))),
    ...compared('price', draft.name, pricesOf(published?.prices ?? []), pricesOf(draft.prices)),
    ...paired(of(entitlements, published), of(entitlements, draft), ({ feature_id: id }) => id).flatMap(
      ({ key, before, after }) =>
        whole(
          'entitlement',
          nameOf.get(key) ?? key,
          before && entitlementMembers(before),
          after && entitlementMembers(after),
        ),
    ),
    ...paired(of(grants, published), of(grants, draft), ({ origin_id: id }) => id).flatMap(
      ({ before, after }) =>
        whole(
          'credit_grant',
          nameOf.get((after ?? before)!.credit_id) ?? '',
          before && grantMembers(before),
          after && grantMembers(after),
        ),
    ),
  ]
}

type Members = Readonly<Record<string, unknown>>

const entitlementMembers = (row: EntitlementRow): Members => ({
  value: entitledValue(row),
  period: row.metric_period,
  soft_limit: row.soft_limit,
  price_behavior: row.price_behavior,
  consumption_rate: row.consumption_rate,
  ...pricesOf(row.prices),
})

function entitledValue(row: EntitlementRow): unknown {
  switch (row.value_type) {
    case 'boolean':
      return row.value_bool === true ? 'on' : 'off'
    case 'numeric':
      return row.value_numeric
    case 'credit':
    case 'trait':
    case 'unknown':
    case 'unlimited':
      return row.value_type
  }
}

const grantMembers = (row: PlanCreditGrantRow): Members => ({
  credits: row.credit_amount,
  reset: row.reset_type,
  cadence: row.reset_cadence,
  rollover_percentage: row.rollover_percentage,
})

const pricesOf = (prices: readonly StoredPrice[]): Members =>
  Object.fromEntries(
    prices.map(price => [
      `price ${price.currency} ${price.cadence}`,
      price.tiers && price.tiers.length > 0
        ? JSON.stringify(price.tiers)
        : (price.price_decimal ?? price.price),
    ]),
  )

function paired<Row>(before: readonly Row[], after: readonly Row[], keyOf: (row: Row) => string) {
  const keys = [...new Set([...before, ...after].map(keyOf))]
  return keys.map(key => ({
    key,
    before: before.find(row => keyOf(row) === key) ?? null,
    after: after.find(row => keyOf(row) === key) ?? null,
  }))
}

/** Something that one of the two may lack. */
function whole(
  kind: DraftChange['kind'],
  name: string,
  before: Members | null,
  after: Members | null,
): DraftChange[] {
  if (before !== null && after !== null) return compared(kind, name, before, after)
  const change = before === null ? 'added' : 'removed'
  const told = textOf((after ?? before)!.value ?? (after ?? before)!.credits)
  return [{ kind, change, name, member: null, before: before && told, after: after && told }]
}

function compared(kind: DraftChange['kind'], name: string, before: Members, after: Members): DraftChange[] {
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return members.flatMap(member => {
    const [was, is] = [textOf(before[member]), textOf(after[member])]
    return was === is ? [] : [{ kind, change: 'changed' as const, name, member, before: was, after: is }]
  })
}

const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value)
