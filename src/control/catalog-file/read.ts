// Everything that an environment defines, as rows, with an index of names for each kind.
import type { Sql } from 'postgres'
import type { CreditBundleRow, CreditRow, PlanCreditGrantRow } from '../../catalog/credits.js'
import { type EntitlementRow, grouped, type PlanRow, type PlanVersionRow } from '../../catalog/plans.js'
import { type FeatureRow, featureSource } from '../flags/feature-view.js'
import type { FlagRow, RuleRow } from '../flags/rows.js'
import { findGroup, type PlanGroupRow } from '../plan-groups/store.js'
import type { BillingPriceRow, BillingProductRow } from '../prices/rows.js'
import type { TraitDefinitionRow } from '../traits/rows.js'
import { Index } from './references.js'

/** A plan with its versions in the environment. */
export interface PlanHere extends PlanRow {
  /** Its name in this environment: of the published version, else of the draft, else the plan's own. */
  readonly title: string
  readonly versions: readonly PlanVersionRow[]
}

/** The rows of an environment's definitions. Custom plans are left out: they belong to one company each (CA-1). */
export interface Definitions {
  readonly environmentId: string
  readonly traits: ReadonlyMap<string, TraitDefinitionRow>
  readonly features: Index<FeatureRow>
  readonly featureRows: readonly FeatureRow[]
  readonly flagRows: readonly FlagRow[]
  readonly rules: ReadonlyMap<string, readonly RuleRow[]>
  readonly credits: Index<CreditRow>
  readonly creditRows: readonly CreditRow[]
  readonly bundles: Index<CreditBundleRow>
  readonly bundleRows: readonly CreditBundleRow[]
  readonly plans: Index<PlanHere>
  readonly planRows: readonly PlanHere[]
  /** By version. */
  readonly entitlements: ReadonlyMap<string, readonly EntitlementRow[]>
  readonly grants: ReadonlyMap<string, readonly PlanCreditGrantRow[]>
  readonly group: PlanGroupRow | null
  readonly modelPrices: readonly ModelPriceRow[]
  readonly publishableLimits: Readonly<Record<string, unknown>> | null
  readonly products: ReadonlyMap<string, BillingProductRow>
  readonly foreignPrices: readonly BillingPriceRow[]
  /** The first key of companies and users that rules name, as `name=value`, by id. */
  readonly keys: ReadonlyMap<string, string>
}

interface ModelPriceRow {
  readonly provider: string
  readonly model: string
  readonly currency: string
  readonly effective_at: Date
  readonly input: string
  readonly cached_input: string | null
  readonly cache_write: string | null
  readonly output: string
  readonly reasoning: string | null
  readonly per_request: string | null
}

interface Place {
  readonly accountId: string
  readonly environmentId: string
}

/** Read all definitions in one transaction, so that they fit each other. */
export async function readDefinitions(sql: Sql, place: Place): Promise<Definitions> {
  const read = await sql.begin('isolation level repeatable read read only', transaction =>
    readRows(transaction as unknown as Sql, place),
  )
  return read as unknown as Definitions
}

async function readRows(tx: Sql, place: Place): Promise<Definitions> {
  const { accountId, environmentId } = place
  const traits = await tx<TraitDefinitionRow[]>`
    select * from trait_definitions where environment_id = ${environmentId} order by created_at, id`
  const featureRows = await tx<FeatureRow[]>`
    select * from ${featureSource(tx)} where account_id = ${accountId} order by created_at, id`
  const flagRows = await tx<
    FlagRow[]
  >`select * from flags where account_id = ${accountId} order by created_at, id`
  const rules = await tx<RuleRow[]>`
    select * from rules where environment_id = ${environmentId} order by flag_id, position, id`
  const creditRows = await tx<CreditRow[]>`
    select * from billing_credits
    where environment_id = ${environmentId} and deleted_at is null order by created_at, id`
  const bundleRows = await tx<CreditBundleRow[]>`
    select * from credit_bundles
    where environment_id = ${environmentId} and deleted_at is null order by created_at, id`
  const planRows = await readPlans(tx, place)
  const entitlements = await tx<EntitlementRow[]>`
    select e.* from plan_entitlements e join plan_versions v on v.id = e.plan_version_id
    where e.environment_id = ${environmentId} and v.deleted_at is null
    order by e.plan_version_id, e.created_at, e.id`
  const grants = await tx<PlanCreditGrantRow[]>`
    select g.* from plan_credit_grants g join plan_versions v on v.id = g.plan_version_id
    where g.environment_id = ${environmentId} and v.deleted_at is null
    order by g.plan_version_id, g.created_at, g.id`
  const modelPrices = await tx<ModelPriceRow[]>`select * from model_prices where account_id = ${accountId}`
  const [environment] = await tx<{ publishable_limits: Record<string, unknown> | null }[]>`
    select publishable_limits from environments where id = ${environmentId}`
  const products = await tx<BillingProductRow[]>`
    select * from billing_products where environment_id = ${environmentId}`
  const foreignPrices = await tx<BillingPriceRow[]>`
    select * from billing_prices where environment_id = ${environmentId} and provider_type <> 'native'`
  return {
    environmentId,
    traits: new Map(traits.map(row => [row.id, row])),
    features: new Index(featureRows, row => row.name),
    featureRows,
    flagRows,
    rules: grouped(rules, row => row.flag_id),
    credits: new Index(creditRows, row => row.name),
    creditRows,
    bundles: new Index(bundleRows, row => row.name),
    bundleRows,
    plans: new Index(planRows, row => row.title),
    planRows,
    entitlements: grouped(entitlements, row => row.plan_version_id),
    grants: grouped(grants, row => row.plan_version_id),
    group: await findGroup(tx, environmentId),
    modelPrices,
    publishableLimits: environment?.publishable_limits ?? null,
    products: new Map(products.map(row => [row.id, row])),
    foreignPrices,
    keys: await readKeys(tx, environmentId, rules),
  }
}

async function readPlans(tx: Sql, { accountId, environmentId }: Place): Promise<readonly PlanHere[]> {
  const plans = await tx<PlanRow[]>`
    select * from plans
    where account_id = ${accountId} and deleted_at is null and company_id is null order by created_at, id`
  const versions = await tx<PlanVersionRow[]>`
    select * from plan_versions
    where environment_id = ${environmentId} and deleted_at is null order by version desc`
  const versionsOf = grouped(versions, version => version.plan_id)
  return plans.map(plan => {
    const own = versionsOf.get(plan.id) ?? []
    return {
      ...plan,
      versions: own,
      title: (versionOf(own, 'published') ?? versionOf(own, 'draft') ?? plan).name,
    }
  })
}

/** The published version or the draft of a plan. */
export function versionOf(
  versions: readonly PlanVersionRow[],
  status: 'draft' | 'published',
): PlanVersionRow | null {
  return versions.find(version => version.status === status) ?? null
}

async function readKeys(
  tx: Sql,
  environmentId: string,
  rules: readonly RuleRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = rules
    .flatMap(rule => [...rule.conditions, ...rule.condition_groups.flatMap(group => group.conditions)])
    .flatMap(one =>
      one.condition_type === 'company' || one.condition_type === 'user' ? one.resource_ids : [],
    )
  if (ids.length === 0) return new Map()
  const rows = await tx<{ entity_id: string; name: string; value: string }[]>`
    select distinct on (entity_id) entity_id, name, value from entity_keys
    where environment_id = ${environmentId} and entity_id = any(${ids}::text[]) and position('=' in name) = 0
    order by entity_id, name collate "C", value collate "C"`
  return new Map(rows.map(row => [row.entity_id, `${row.name}=${row.value}`]))
}
