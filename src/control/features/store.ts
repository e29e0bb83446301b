// Statements of features and licences.
import type { Sql } from 'postgres'
import type {
  BillingProviderType,
  FeatureEventSource,
  FeatureLifecyclePhase,
  FeatureType,
} from '../../../schemas/enums.js'
import type { Page } from '../../kit/query.js'
import { among, asJson, contains, newest } from '../../kit/sql.js'
import { type FeatureRow, featureSource } from '../flags/feature-view.js'

export interface FeatureFilter {
  readonly accountId: string
  /** List boolean features only if they name an event. */
  readonly booleanRequireEvent: boolean
  readonly featureTypes: readonly FeatureType[] | undefined
  readonly ids: readonly string[] | undefined
  readonly exceptIds: readonly string[]
  readonly managedBy: BillingProviderType | undefined
  /** Part of a name or id. */
  readonly q: string | undefined
  /** Leave out features that this company of the environment has an override of in force (EN-4). */
  readonly withoutOverrideFor:
    | { readonly environmentId: string; readonly companyId: string; readonly now: Date }
    | undefined
}

function matching(sql: Sql, filter: FeatureFilter) {
  const { featureTypes, ids, exceptIds, managedBy, q, withoutOverrideFor: without } = filter
  return sql`account_id = ${filter.accountId}
    ${filter.booleanRequireEvent ? sql`and (feature_type <> 'boolean' or event_subtype is not null)` : sql``}
    ${featureTypes ? sql`and feature_type in ${among(sql, featureTypes)}` : sql``}
    ${ids ? sql`and id in ${among(sql, ids)}` : sql``}
    ${exceptIds.length > 0 ? sql`and id not in ${among(sql, exceptIds)}` : sql``}
    ${managedBy ? sql`and managed_by = ${managedBy}` : sql``}
    ${q ? sql`and (${contains(sql, 'name', q)} or ${contains(sql, 'id', q)})` : sql``}
    ${
      without
        ? sql`and id not in (select feature_id from company_overrides
            where environment_id = ${without.environmentId} and company_id = ${without.companyId}
              and (expires_at is null or expires_at > ${without.now}))`
        : sql``
    }`
}

export function listFeatureRows(sql: Sql, filter: FeatureFilter, page: Page): Promise<readonly FeatureRow[]> {
  return sql<
    FeatureRow[]
  >`select * from ${featureSource(sql)} where ${matching(sql, filter)} ${newest(sql, page)}`
}

export async function countFeatureRows(sql: Sql, filter: FeatureFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from features where ${matching(sql, filter)}`
  return row!.count
}

export async function findFeature(sql: Sql, accountId: string, id: string): Promise<FeatureRow | null> {
  const [row] = await sql<FeatureRow[]>`
    select * from ${featureSource(sql)} where id = ${id} and account_id = ${accountId}`
  return row ?? null
}

export async function findLinkedFeature(
  sql: Sql,
  accountId: string,
  provider: BillingProviderType,
  resourceId: string,
): Promise<FeatureRow | null> {
  const [row] = await sql<FeatureRow[]>`
    select * from ${featureSource(sql)}
    where account_id = ${accountId} and managed_by = ${provider} and external_resource_id = ${resourceId}`
  return row ?? null
}

/** The stored members that a write may set. */
export interface FeatureMembers {
  readonly name: string
  readonly description: string
  readonly icon: string
  readonly event_source: FeatureEventSource
  readonly event_subtype: string | null
  readonly trait_hierarchy: readonly string[] | null
  readonly usage_limit_trait_hierarchy: readonly string[] | null
  readonly lifecycle_phase: FeatureLifecyclePhase | null
  readonly maintainer_account_member_id: string | null
  readonly plural_name: string | null
  readonly singular_name: string | null
}

interface NewFeature extends FeatureMembers {
  readonly id: string
  readonly account_id: string
  readonly feature_type: FeatureType
  readonly managed_by: BillingProviderType
  readonly external_resource_id: string | null
}

function columns<T extends FeatureMembers>(sql: Sql, members: T) {
  const { trait_hierarchy: trait, usage_limit_trait_hierarchy: limit, ...rest } = members
  return {
    ...rest,
    trait_hierarchy: trait && asJson(sql, trait),
    usage_limit_trait_hierarchy: limit && asJson(sql, limit),
  }
}

export async function insertFeature(sql: Sql, feature: NewFeature, nowMs: number): Promise<void> {
  const now = new Date(nowMs)
  await sql`insert into features ${sql({ ...columns(sql, feature), created_at: now, updated_at: now })}`
}

export async function updateFeature(
  sql: Sql,
  id: string,
  members: FeatureMembers,
  nowMs: number,
): Promise<void> {
  await sql`
    update features set ${sql({ ...columns(sql, members), updated_at: new Date(nowMs) })} where id = ${id}`
}

/** False when the account has no such feature. Its licence is deleted with it. */
export async function deleteFeatureRow(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`delete from features where id = ${id} and account_id = ${accountId} returning id`
  return rows.length > 0
}

/** Delete the flag of a feature; its rules go with it. */
export async function deleteFlagRows(sql: Sql, featureId: string): Promise<void> {
  await sql`delete from flags where feature_id = ${featureId}`
}

/** A row of licenses. */
export interface LicenseRow {
  readonly id: string
  readonly name: string
  readonly feature_id: string
  readonly created_at: Date
  readonly updated_at: Date
}

export async function insertLicense(
  sql: Sql,
  license: {
    readonly id: string
    readonly accountId: string
    readonly featureId: string
    readonly name: string
  },
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs)
  await sql`insert into licenses ${sql({
    id: license.id,
    account_id: license.accountId,
    feature_id: license.featureId,
    name: license.name,
    created_at: now,
    updated_at: now,
  })}`
}

export async function renameLicense(sql: Sql, featureId: string, name: string, nowMs: number): Promise<void> {
  await sql`
    update licenses set name = ${name}, updated_at = ${new Date(nowMs)}
    where feature_id = ${featureId} and name <> ${name}`
}

export interface LicenseFilter {
  readonly accountId: string
  readonly featureIds: readonly string[] | undefined
  readonly ids: readonly string[] | undefined
  /** Part of the name. */
  readonly name: string | undefined
}

function matchingLicenses(sql: Sql, filter: LicenseFilter) {
  const { featureIds, ids, name } = filter
  return sql`account_id = ${filter.accountId}
    ${featureIds ? sql`and feature_id in ${among(sql, featureIds)}` : sql``}
    ${ids ? sql`and id in ${among(sql, ids)}` : sql``}
    ${name ? sql`and ${contains(sql, 'name', name)}` : sql``}`
}

export function listLicenseRows(sql: Sql, filter: LicenseFilter, page: Page): Promise<readonly LicenseRow[]> {
  return sql<LicenseRow[]>`select * from licenses where ${matchingLicenses(sql, filter)} ${newest(sql, page)}`
}

export async function countLicenseRows(sql: Sql, filter: LicenseFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from licenses where ${matchingLicenses(sql, filter)}`
  return row!.count
}

export async function findLicense(sql: Sql, accountId: string, id: string): Promise<LicenseRow | null> {
  const [row] = await sql<LicenseRow[]>`select * from licenses where id = ${id} and account_id = ${accountId}`
  return row ?? null
}
