// Rows for the rules that plan entitlements generate on a feature's flag (EN-5). They are not stored: the core
// generates them whenever a catalog is compiled, and this file shows the same rules.
import type { StoredCondition } from '../../catalog/rules.js'
import { type Gate, generatedRules } from '../../core/entitlements/entitlement.js'
import type {
  CatalogData,
  ConditionDef,
  EntitlementDef,
  FeatureDef,
  RuleDef,
} from '../../core/model/definitions.js'
import { storedOrNull, storedQuantity } from '../../core/values/quantity.js'
import { isoTime } from '../../kit/time.js'
import type { FlagRow, RuleRow } from './rows.js'

interface Grant {
  readonly entitlement: EntitlementDef
  readonly gate: Gate
}

/**
 * Generated rules of these flags in one environment, for published and archived versions, because a company may be on
 * either (EN-85). Rules of overrides belong to the company, not to the flag (FE-14).
 *
 * source  EN-5, PB-4. Their times are the flag's, because the catalog has none for entitlements: decision.
 */
export function generatedRows(catalog: CatalogData, flags: readonly FlagRow[]): RuleRow[] {
  const features = new Map(catalog.features.map(feature => [feature.id, feature]))
  const grants = grantsByFeature(catalog)
  return flags.flatMap(flag => {
    const feature = features.get(flag.feature_id ?? '')
    return feature ? rowsOf(catalog.environmentId, flag, feature, grants.get(feature.id) ?? []) : []
  })
}

function grantsByFeature(catalog: CatalogData): Map<string, Grant[]> {
  const found = new Map<string, Grant[]>()
  for (const plan of catalog.plans)
    for (const version of plan.versions)
      for (const entitlement of version.entitlements) {
        const gate: Gate = {
          type: 'plan_version',
          versionId: version.id,
          planId: plan.id,
          planName: plan.name,
        }
        const grants = found.get(entitlement.featureId)
        if (grants) grants.push({ entitlement, gate })
        else found.set(entitlement.featureId, [{ entitlement, gate }])
      }
  return found
}

function rowsOf(
  environmentId: string,
  flag: FlagRow,
  feature: FeatureDef,
  grants: readonly Grant[],
): RuleRow[] {
  return grants.flatMap(({ entitlement, gate }) =>
    generatedRules(feature, entitlement, gate).map(rule => row(environmentId, flag, rule)),
  )
}

function row(environmentId: string, flag: FlagRow, rule: RuleDef): RuleRow {
  const at = isoTime(flag.created_at.getTime())
  return {
    id: rule.id,
    flag_id: flag.id,
    environment_id: environmentId,
    name: rule.name,
    rule_type: rule.ruleType,
    priority: storedQuantity(rule.priority),
    value: rule.value,
    position: 0,
    conditions: rule.conditions.map(condition => stored(condition, at)),
    condition_groups: rule.conditionGroups.map((group, i) => ({
      id: `${rule.id}_${i}`,
      conditions: group.map(condition => stored(condition, at)),
      created_at: at,
      updated_at: at,
    })),
    created_at: flag.created_at,
    updated_at: flag.created_at,
  }
}

function stored(condition: ConditionDef, at: string): StoredCondition {
  return {
    id: condition.id,
    condition_type: condition.conditionType,
    operator: condition.operator,
    resource_ids: condition.resourceIds,
    trait_id: condition.traitId,
    trait_value: condition.traitValue,
    comparison_trait_id: condition.comparisonTraitId,
    event_subtype: condition.eventSubtype,
    metric_period: condition.metricPeriod,
    metric_period_month_reset: condition.monthReset,
    metric_value: storedOrNull(condition.metricValue),
    credit_id: condition.creditId,
    consumption_rate: condition.consumptionRate,
    ...(condition.quantityRates && { quantity_rates: condition.quantityRates }),
    created_at: at,
    updated_at: at,
  }
}
