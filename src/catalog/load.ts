// Loads the definitions of one environment from Postgres, in a few statements of one snapshot.
import type { Sql } from 'postgres'
import type {
  EnvironmentType,
  FeatureEventSource,
  FeatureType,
  RuleType,
  WebhookRequestType,
} from '../../schemas/enums.js'
import { decidedByActors } from '../core/company/domain-events.js'
import type {
  CatalogData,
  ConditionDef,
  CreditDef,
  FeatureDef,
  FlagDef,
  PlanDef,
  RuleDef,
  SpendPolicyDef,
  Watches,
} from '../core/model/definitions.js'
import { quantityOrNull, readQuantity } from '../core/values/quantity.js'
import type { StoredCondition, StoredGroup } from './rules.js'
import { type TraitRow, traitId, traitRows } from './traits.js'

/** The environment being loaded, read in the same snapshot. */
export interface LoadedEnvironment {
  readonly id: string
  readonly accountId: string
}

/** The result of the loader of plans. */
export interface LoadedPlans {
  readonly plans: readonly PlanDef[]
  readonly initialPlanId: string | null
  readonly fallbackPlanId: string | null
  readonly trialExpiryPlanId: string | null
}

/** The result of the loader of credits. */
export interface LoadedCredits {
  readonly credits: readonly CreditDef[]
  readonly spendPolicies: readonly SpendPolicyDef[]
}

/** Loaders in other files. An absent loader loads nothing. */
export interface Loaders {
  readonly plans?: (sql: Sql, environment: LoadedEnvironment) => Promise<LoadedPlans>
  readonly credits?: (sql: Sql, environment: LoadedEnvironment) => Promise<LoadedCredits>
}

/** A catalog without traits, and the trait definitions in Postgres. The registry may have more. */
export interface Loaded {
  readonly data: Omit<CatalogData, 'traits'>
  readonly traits: readonly TraitRow[]
}

const noPlans: LoadedPlans = { plans: [], initialPlanId: null, fallbackPlanId: null, trialExpiryPlanId: null }
const noCredits: LoadedCredits = { credits: [], spendPolicies: [] }

/**
 * Read the definitions of an environment in one transaction.
 *
 * returns  the definitions and their version, or null when the environment is deleted.
 * errors   those of the database.
 */
export async function loadCatalog(sql: Sql, environmentId: string, loaders: Loaders): Promise<Loaded | null> {
  return sql.begin('isolation level repeatable read read only', transaction =>
    loadWithin(transaction as unknown as Sql, environmentId, loaders),
  )
}

/** loadCatalog in a transaction that is open, where nobody else changes these definitions meanwhile. */
export async function loadWithin(tx: Sql, environmentId: string, loaders: Loaders): Promise<Loaded | null> {
  const [row] = await tx<EnvironmentVersionRow[]>`
      select account_id, environment_type, catalog_version from environments where id = ${environmentId}`
  if (!row) return null
  const environment = { id: environmentId, accountId: row.account_id }
  const traits = await loadTraits(tx, environment)
  const data = {
    environmentId,
    accountId: row.account_id,
    environmentType: row.environment_type,
    version: Number(row.catalog_version),
    features: await loadFeatures(tx, environment),
    flags: await loadFlags(tx, environment),
    ...((await loaders.plans?.(tx, environment)) ?? noPlans),
    ...((await loaders.credits?.(tx, environment)) ?? noCredits),
    watches: await loadWatches(tx, environment),
  }
  return { data, traits }
}

interface WebhookRow {
  readonly request_types: readonly WebhookRequestType[]
  readonly credit_trigger_configs: readonly { readonly credit_id: string }[] | null
  readonly entitlement_trigger_configs: readonly { readonly feature_id: string }[] | null
}

/** The changes that the active webhooks subscribe to, combined. */
async function loadWatches(sql: Sql, environment: LoadedEnvironment): Promise<Watches | null> {
  const rows = await sql<WebhookRow[]>`
    select request_types, credit_trigger_configs, entitlement_trigger_configs from webhooks
    where environment_id = ${environment.id} and status = 'active'`
  const asked = new Set(rows.flatMap(row => row.request_types))
  const types = decidedByActors.filter(type => asked.has(type))
  if (types.length === 0) return null
  const features = rows.filter(row => row.request_types.some(type => type.startsWith('entitlement.')))
  const credits = rows.filter(row => row.request_types.some(type => type.startsWith('credit.limit.')))
  return {
    types,
    featureIds: together(features.map(row => row.entitlement_trigger_configs?.map(one => one.feature_id))),
    creditIds: together(credits.map(row => row.credit_trigger_configs?.map(one => one.credit_id))),
  }
}

/** The union of the lists; null (all) if one list is absent or empty. */
function together(lists: readonly (readonly string[] | undefined)[]): readonly string[] | null {
  return lists.some(list => !list?.length) ? null : [...new Set(lists.flatMap(list => list ?? []))]
}

interface EnvironmentVersionRow {
  readonly account_id: string
  readonly environment_type: EnvironmentType
  readonly catalog_version: string | number
}

function loadTraits(sql: Sql, environment: LoadedEnvironment): Promise<readonly TraitRow[]> {
  return traitRows(sql, environment.id)
}

interface FeatureRow {
  readonly id: string
  readonly name: string
  readonly feature_type: FeatureType
  readonly event_source: FeatureEventSource
  readonly event_subtype: string | null
  readonly trait_hierarchy: readonly string[] | null
  readonly usage_limit_trait_hierarchy: readonly string[] | null
  readonly license_id: string | null
}

/** Features belong to the account; their traits are those of this environment. */
async function loadFeatures(sql: Sql, environment: LoadedEnvironment): Promise<readonly FeatureDef[]> {
  const rows = await sql<FeatureRow[]>`
    select f.id, f.name, f.feature_type, f.event_source, f.event_subtype, f.trait_hierarchy,
      f.usage_limit_trait_hierarchy, l.id as license_id
    from features f left join licenses l on l.feature_id = f.id
    where f.account_id = ${environment.accountId} order by f.created_at, f.id`
  return rows.map(row => ({
    id: row.id,
    name: row.name,
    featureType: row.feature_type,
    eventSource: row.event_source,
    eventSubtype: row.event_subtype,
    traitId: companyTraitId(environment.id, row.trait_hierarchy),
    usageLimitTraitId: companyTraitId(environment.id, row.usage_limit_trait_hierarchy),
    licenseId: row.license_id,
  }))
}

/** Id of the company trait with this path in one environment. */
export function companyTraitId(environmentId: string, hierarchy: readonly string[] | null): string | null {
  return hierarchy === null ? null : traitId(environmentId, 'company', hierarchy.join('.'))
}

interface FlagRow {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly default_value: boolean
  readonly feature_id: string | null
}

interface RuleRow {
  readonly id: string
  readonly flag_id: string
  readonly name: string
  readonly rule_type: RuleType
  readonly priority: string | number
  readonly value: boolean
  readonly conditions: readonly StoredCondition[]
  readonly condition_groups: readonly StoredGroup[]
}

async function loadFlags(sql: Sql, environment: LoadedEnvironment): Promise<readonly FlagDef[]> {
  const flags = await sql<FlagRow[]>`
    select id, key, name, default_value, feature_id from flags
    where account_id = ${environment.accountId} order by key collate "C"`
  const rows = await sql<RuleRow[]>`
    select id, flag_id, name, rule_type, priority, value, conditions, condition_groups from rules
    where environment_id = ${environment.id} order by flag_id, position, id`
  const rules = new Map<string, RuleDef[]>()
  for (const row of rows) {
    const of = rules.get(row.flag_id)
    if (of) of.push(ruleDef(row))
    else rules.set(row.flag_id, [ruleDef(row)])
  }
  return flags.map(row => ({
    id: row.id,
    key: row.key,
    name: row.name,
    defaultValue: row.default_value,
    featureId: row.feature_id,
    rules: rules.get(row.id) ?? [],
  }))
}

function ruleDef(row: RuleRow): RuleDef {
  return {
    id: row.id,
    name: row.name,
    ruleType: row.rule_type,
    priority: readQuantity(row.priority),
    value: row.value,
    flagId: null,
    conditions: row.conditions.map(conditionDef),
    conditionGroups: row.condition_groups.map(group => group.conditions.map(conditionDef)),
  }
}

function conditionDef(condition: StoredCondition): ConditionDef {
  return {
    id: condition.id,
    conditionType: condition.condition_type,
    operator: condition.operator,
    resourceIds: condition.resource_ids,
    traitId: condition.trait_id,
    traitValue: condition.trait_value,
    ...(condition.comparable_type && { comparableType: condition.comparable_type }),
    comparisonTraitId: condition.comparison_trait_id,
    eventSubtype: condition.event_subtype,
    metricPeriod: condition.metric_period,
    monthReset: condition.metric_period_month_reset,
    metricValue: quantityOrNull(condition.metric_value),
    creditId: condition.credit_id,
    consumptionRate: condition.consumption_rate,
    quantityRates: null,
  }
}
