// Rows of plans and versions, for all handlers that read or edit them: visible plans, the draft that edits go to, and
// the copy that a new draft starts as.
import type { Sql } from 'postgres'
import type { IconColor, PlanType } from '../../../schemas/enums.js'
import { newId } from '../../account/ids.js'
import type { PlanCreditGrantRow } from '../../catalog/credits.js'
import type { EntitlementRow, PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import type { Quantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { Call } from '../../kit/call.js'
import { asJson } from '../../kit/sql.js'
import { adoptPrices } from '../prices/write.js'

/** The account and environment of a lookup. Without an environment only account-wide plans are visible. */
export interface Place {
  readonly accountId: string
  readonly environmentId: string | null
}

/** The place of a request. */
export function placeOf({ key, environmentOrNull }: Call<unknown, unknown>): Place {
  return { accountId: key.accountId, environmentId: environmentOrNull?.id ?? null }
}

/** Plans visible from a place: the account's own, and custom plans of companies in its environment (PB-13, AL-10). */
export function visiblePlans(sql: Sql, { accountId, environmentId }: Place) {
  return sql`plans.account_id = ${accountId} and plans.deleted_at is null
    ${environmentId === null ? sql`` : sql`and (plans.environment_id is null or plans.environment_id = ${environmentId})`}`
}

export async function findPlan(sql: Sql, place: Place, id: string): Promise<PlanRow | null> {
  const [row] = await sql<PlanRow[]>`select * from plans where id = ${id} and ${visiblePlans(sql, place)}`
  return row ?? null
}

/** The plan, locked until the transaction ends. Throws 404, naming `member` if given. */
export async function lockPlan(tx: Sql, place: Place, id: string, member?: string): Promise<PlanRow> {
  const [row] = await tx<PlanRow[]>`
    select * from plans where id = ${id} and ${visiblePlans(tx, place)} for update`
  if (!row) throw unknownPlan(member)
  return row
}

export function unknownPlan(member?: string): ServiceError {
  return new ServiceError('not_found', member ? `${member}: no such plan` : 'Plan not found')
}

export function unknownVersion(member?: string): ServiceError {
  return new ServiceError('not_found', member ? `${member}: no such plan version` : 'Plan version not found')
}

/** A version and its plan, locked. Throws 404. */
export async function lockVersion(
  tx: Sql,
  place: Place,
  versionId: string,
): Promise<{ readonly plan: PlanRow; readonly version: PlanVersionRow }> {
  const found = await findVersion(tx, place.environmentId!, versionId)
  if (!found) throw unknownVersion()
  const plan = await lockPlan(tx, place, found.plan_id)
  // read again: the version may have changed while this transaction waited for the plan's lock
  const version = await findVersion(tx, place.environmentId!, versionId)
  if (!version) throw unknownVersion()
  return { plan, version }
}

export async function findVersion(
  sql: Sql,
  environmentId: string,
  versionId: string,
): Promise<PlanVersionRow | null> {
  const [row] = await sql<PlanVersionRow[]>`
    select * from plan_versions
    where id = ${versionId} and environment_id = ${environmentId} and deleted_at is null`
  return row ?? null
}

/** Versions of a plan in an environment, newest first. */
export function versionsOf(
  sql: Sql,
  environmentId: string,
  planId: string,
): Promise<readonly PlanVersionRow[]> {
  return sql<PlanVersionRow[]>`
    select * from plan_versions
    where plan_id = ${planId} and environment_id = ${environmentId} and deleted_at is null order by version desc`
}

interface NewPlan {
  readonly accountId: string
  readonly planType: PlanType
  readonly name: string
  readonly description: string
  readonly icon: IconColor
  readonly custom?: {
    readonly companyId: string
    readonly environmentId: string
    readonly copiedFrom: string | null
  }
  readonly link?: {
    readonly provider: PlanRow['controlled_by']
    readonly resourceId: string
    readonly version: string | null
  }
}

export async function insertPlan(tx: Sql, plan: NewPlan, nowMs: number): Promise<PlanRow> {
  const now = new Date(nowMs)
  const [row] = await tx<PlanRow[]>`
    insert into plans ${tx({
      id: newId('plan_'),
      account_id: plan.accountId,
      plan_type: plan.planType,
      name: plan.name,
      description: plan.description,
      icon: plan.icon,
      company_id: plan.custom?.companyId ?? null,
      environment_id: plan.custom?.environmentId ?? null,
      copied_from_plan_id: plan.custom?.copiedFrom ?? null,
      controlled_by: plan.link?.provider ?? 'native',
      external_resource_id: plan.link?.resourceId ?? null,
      external_resource_version: plan.link?.version ?? null,
      created_at: now,
      updated_at: now,
    })} returning *`
  return row!
}

/** The draft of a plan in an environment; undefined: none. */
export async function findDraft(
  sql: Sql,
  planId: string,
  environmentId: string,
): Promise<PlanVersionRow | undefined> {
  const [draft] = await sql<PlanVersionRow[]>`
    select * from plan_versions
    where plan_id = ${planId} and environment_id = ${environmentId} and status = 'draft'`
  return draft
}

/**
 * The draft that edits of a plan go to. If absent, it is created as a copy of the published version, or as the first
 * version in this environment.
 *
 * plan     locked.
 * source   PB-2, PB-3, PB-10: numbers continue from the highest ever published.
 */
export async function ensureDraft(
  tx: Sql,
  plan: PlanRow,
  environmentId: string,
  nowMs: number,
): Promise<PlanVersionRow> {
  const draft = await findDraft(tx, plan.id, environmentId)
  if (draft) return draft
  const [published] = await tx<PlanVersionRow[]>`
    select * from plan_versions
    where plan_id = ${plan.id} and environment_id = ${environmentId} and status = 'published' and deleted_at is null`
  const [highest] = await tx<{ version: number | null }[]>`
    select max(version) as version from plan_versions
    where plan_id = ${plan.id} and environment_id = ${environmentId}`
  const now = new Date(nowMs)
  const { name, description, icon } = plan
  const [made] = await tx<PlanVersionRow[]>`
    insert into plan_versions ${tx({
      id: newId('plvr_'),
      plan_id: plan.id,
      environment_id: environmentId,
      version: (highest?.version ?? 0) + 1,
      status: 'draft',
      name,
      description,
      icon,
      ...(published && { ...copiedOf(published), prices: asJson(tx, published.prices) }),
      created_at: now,
      updated_at: now,
    })} returning *`
  if (published) await copyParts(tx, published, made!, now)
  return made!
}

/**
 * Members of a version, and their source in a new draft: the draft's own, or copied from the published version. A column
 * that is missing here does not compile.
 */
const draftMembers: Readonly<Record<keyof PlanVersionRow, 'own' | 'copied'>> = {
  id: 'own',
  plan_id: 'own',
  environment_id: 'own',
  version: 'own',
  status: 'own',
  name: 'copied',
  description: 'copied',
  icon: 'copied',
  charge_type: 'copied',
  billing_strategy: 'copied',
  billing_product_id: 'copied',
  is_trialable: 'copied',
  trial_days: 'copied',
  currency: 'copied',
  prices: 'copied',
  created_at: 'own',
  updated_at: 'own',
  published_at: 'own',
  deleted_at: 'own',
}

/** The members that a draft takes from the published version. */
function copiedOf(published: PlanVersionRow): Partial<PlanVersionRow> {
  const copied = Object.entries(published).filter(
    ([name]) => draftMembers[name as keyof PlanVersionRow] === 'copied',
  )
  return Object.fromEntries(copied) as Partial<PlanVersionRow>
}

/** Copy a version's entitlements and credit grants to another version. */
export async function copyParts(
  tx: Sql,
  from: Pick<PlanVersionRow, 'id' | 'plan_id'>,
  to: Pick<PlanVersionRow, 'id' | 'plan_id' | 'environment_id'>,
  now: Date,
): Promise<void> {
  await copyEntitlements(tx, from, to, now)
  await copyPlanGrants(tx, from, to, now)
}

/** Copy credit grants to another version. Within a plan a copy keeps its original's origin id. */
async function copyPlanGrants(
  tx: Sql,
  from: Pick<PlanVersionRow, 'id' | 'plan_id'>,
  to: Pick<PlanVersionRow, 'id' | 'plan_id' | 'environment_id'>,
  now: Date,
): Promise<void> {
  const rows = await tx<PlanCreditGrantRow[]>`
    select * from plan_credit_grants where plan_version_id = ${from.id} order by created_at, id`
  for (const [i, row] of rows.entries()) {
    const id = newId('pcgr_')
    const at = new Date(now.getTime() + i)
    await tx`insert into plan_credit_grants ${tx({
      ...row,
      id,
      origin_id: from.plan_id === to.plan_id ? row.origin_id : id,
      plan_id: to.plan_id,
      plan_version_id: to.id,
      environment_id: to.environment_id,
      price_tiers: asJson(tx, row.price_tiers),
      created_at: at,
      updated_at: at,
    })}`
  }
}

/**
 * Copy entitlements to another version, with new ids and rules. Within a plan they keep the same prices (PB-3); from
 * another plan the prices are copied too.
 */
async function copyEntitlements(
  tx: Sql,
  from: Pick<PlanVersionRow, 'id' | 'plan_id'>,
  to: Pick<PlanVersionRow, 'id' | 'plan_id' | 'environment_id'>,
  now: Date,
): Promise<void> {
  const rows = await tx<EntitlementRow[]>`
    select * from plan_entitlements where plan_version_id = ${from.id} order by created_at, id`
  for (const [i, row] of rows.entries()) {
    // one millisecond apart, so that lists keep the order of the originals
    const at = new Date(now.getTime() + i)
    const id = newId('pltl_')
    await insertEntitlementRow(tx, {
      ...row,
      id,
      plan_id: to.plan_id,
      plan_version_id: to.id,
      environment_id: to.environment_id,
      rule_id: newId('rule_'),
      rule_id_usage_exceeded: row.rule_id_usage_exceeded && newId('rule_'),
      prices: from.plan_id === to.plan_id ? row.prices : adoptPrices(id, row.prices),
      created_at: at,
      updated_at: at,
    })
  }
}

/** Insert an entitlement row. A second one of the same version and feature fails (EN-4). */
export async function insertEntitlementRow(tx: Sql, row: EntitlementRow): Promise<void> {
  await tx`insert into plan_entitlements ${tx(entitlementColumns(tx, row))}`
}

export async function updateEntitlementRow(tx: Sql, row: EntitlementRow): Promise<void> {
  await tx`update plan_entitlements set ${tx(entitlementColumns(tx, row))} where id = ${row.id}`
}

function entitlementColumns(tx: Sql, row: EntitlementRow) {
  return {
    ...row,
    quantity_rates: row.quantity_rates && asJson(tx, row.quantity_rates),
    value_numeric: column(row.value_numeric),
    soft_limit: column(row.soft_limit),
    usage_quantity: column(row.usage_quantity),
    prices: asJson(tx, row.prices),
    warning_tiers: asJson(tx, row.warning_tiers),
  }
}

/** A value for a bigint column: the driver knows no bigint. */
function column(value: string | Quantity | null): string | number | null {
  return typeof value === 'bigint' ? String(value) : value
}

/** Record the time of an edit of a draft. */
export async function touchVersion(tx: Sql, versionId: string, nowMs: number): Promise<void> {
  await tx`update plan_versions set updated_at = ${new Date(nowMs)} where id = ${versionId}`
}
