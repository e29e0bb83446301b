// Flags and rules in their wire form.
import type { Sql } from 'postgres'
import type { ComparedTrait } from '../../../schemas/companies.js'
import type { PreviewObject } from '../../../schemas/envelope.js'
import type {
  Flag,
  FlagDetail,
  RuleConditionDetail,
  RuleConditionGroupDetail,
  RuleDetail,
} from '../../../schemas/flags.js'
import type { EntityTraitDefinition } from '../../../schemas/traits.js'
import type { StoredCondition, StoredGroup } from '../../catalog/rules.js'
import { comparableType } from '../../core/values/trait.js'
import type { EnvironmentRecord } from '../../kit/call.js'
import { storedLong } from '../../kit/long.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { memberViews } from '../members/rows.js'
import { traitViews } from '../traits/rows.js'
import { featureViews } from './feature-view.js'
import { generatedRows } from './generated-rules.js'
import type { FlagRow, RuleRow } from './rows.js'
import { type PlanVersionPreview, type Previews, previewsOf } from './rule-references.js'

export type { FlagRow, RuleRow } from './rows.js'

/** The account, and the environment of the view; an account-wide view shows the rules of all environments. */
export interface Outlook {
  readonly services: Services
  readonly accountId: string
  readonly environment: EnvironmentRecord | null
}

export function flagView(row: FlagRow): Flag {
  return {
    id: row.id,
    key: row.key,
    name: row.name,
    description: row.description,
    flag_type: row.flag_type,
    default_value: row.default_value,
    feature_id: row.feature_id,
    maintainer_account_member_id: row.maintainer_account_member_id,
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** Flags in full, in the order of the rows; generated rules follow the written ones. `sql` may be a transaction. */
export async function flagDetails(
  sql: Sql,
  outlook: Outlook,
  rows: readonly FlagRow[],
): Promise<FlagDetail[]> {
  if (rows.length === 0) return []
  const ids = rows.map(row => row.id)
  const environmentIds = environmentsSeen(outlook)
  const rules = await sql<RuleRow[]>`
    select * from rules where flag_id in ${among(sql, ids)} and environment_id in ${among(sql, environmentIds)}
    order by environment_id, position, id`
  const seen = await sql<{ flag_id: string; at: Date }[]>`
    select flag_id, max(last_checked_at) as at from flag_last_checks
    where flag_id in ${among(sql, ids)} and environment_id in ${among(sql, environmentIds)} group by flag_id`
  const { catalogs, checkedFlags } = outlook.services
  const generated = environmentIds.flatMap(id => generatedRows(catalogs.get(id), rows))
  const details = await ruleDetails(sql, outlook, [...rules, ...generated])
  const byFlag = new Map(ids.map(id => [id, [] as RuleDetail[]]))
  for (const rule of details) byFlag.get(rule.flag_id!)?.push(rule)
  const checkedAt = new Map(seen.map(row => [row.flag_id, row.at.getTime()]))
  const features = await featureViews(
    sql,
    present(rows.map(row => row.feature_id)),
    outlook.environment?.id ?? null,
  )
  const members = await memberViews(sql, present(rows.map(row => row.maintainer_account_member_id)))
  // This process may know of a later check that is not stored yet (FE-102).
  const latest = (row: FlagRow) => {
    const seenMs = environmentIds.map(id => checkedFlags.of(id, row.key) ?? 0)
    return Math.max(checkedAt.get(row.id) ?? 0, ...seenMs) || null
  }
  return rows.map(row => {
    const feature = features.get(row.feature_id ?? '')
    const maintainer = members.get(row.maintainer_account_member_id ?? '')
    return {
      ...flagView(row),
      rules: byFlag.get(row.id) ?? [],
      ...(feature && { feature }),
      ...(maintainer && { maintainer }),
      last_checked_at: isoTimeOrNull(latest(row)),
    }
  })
}

function environmentsSeen({ services, accountId, environment }: Outlook): readonly string[] {
  return environment ? [environment.id] : services.keys.environments(accountId).map(({ id }) => id)
}

function present(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.filter(id => id !== null))]
}

/** Rules in full, in the order of the rows, with the names of listed objects. */
export async function ruleDetails(
  sql: Sql,
  outlook: Outlook,
  rows: readonly RuleRow[],
): Promise<RuleDetail[]> {
  const conditions = rows.flatMap(row => [
    ...row.conditions,
    ...row.condition_groups.flatMap(group => group.conditions),
  ])
  const traitIds = conditions.flatMap(condition => [condition.trait_id, condition.comparison_trait_id])
  const traits = await traitViews(sql, present(traitIds))
  const previews = await previewsOf(sql, outlook.services.catalogs, environmentsSeen(outlook), conditions)
  return rows.map(row => ruleDetail(row, outlook.accountId, traits, previews))
}

type Traits = ReadonlyMap<string, EntityTraitDefinition>

function ruleDetail(row: RuleRow, accountId: string, traits: Traits, previews: Previews): RuleDetail {
  const shown = { row, accountId, traits, previews }
  return {
    id: row.id,
    account_id: accountId,
    environment_id: row.environment_id,
    flag_id: row.flag_id,
    name: row.name,
    rule_type: row.rule_type,
    priority: storedLong(row.priority),
    value: row.value,
    conditions: row.conditions.map(condition => conditionDetail(shown, null, condition)),
    condition_groups: row.condition_groups.map(group => groupDetail(shown, group)),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** A rule with its conditions and the previews of listed ids. */
interface ShownRule {
  readonly row: RuleRow
  readonly accountId: string
  readonly traits: Traits
  readonly previews: Previews
}

function groupDetail(shown: ShownRule, group: StoredGroup): RuleConditionGroupDetail {
  const { row } = shown
  return {
    id: group.id,
    environment_id: row.environment_id,
    flag_id: row.flag_id,
    rule_id: row.id,
    conditions: group.conditions.map(condition => conditionDetail(shown, group.id, condition)),
    created_at: group.created_at,
    updated_at: group.updated_at,
  }
}

function conditionDetail(
  { row, accountId, traits, previews }: ShownRule,
  groupId: string | null,
  condition: StoredCondition,
): RuleConditionDetail {
  const trait = traits.get(condition.trait_id ?? '')
  const comparison = traits.get(condition.comparison_trait_id ?? '')
  return {
    id: condition.id,
    account_id: accountId,
    environment_id: row.environment_id,
    flag_id: row.flag_id,
    rule_id: row.id,
    condition_group_id: groupId,
    condition_type: condition.condition_type,
    operator: condition.operator,
    resource_ids: condition.resource_ids,
    resources: named(previews.resources, condition.resource_ids),
    ...(condition.condition_type === 'plan_version' && {
      plan_versions: named<PlanVersionPreview>(previews.planVersions, condition.resource_ids),
    }),
    trait_id: condition.trait_id,
    ...(trait && { trait, trait_definition: comparedTrait(trait) }),
    trait_entity_type: trait?.entity_type ?? null,
    trait_value: condition.trait_value,
    ...(condition.comparable_type && { comparable_type: condition.comparable_type }),
    comparison_trait_id: condition.comparison_trait_id,
    ...(comparison && {
      comparison_trait: comparison,
      comparison_trait_definition: comparedTrait(comparison),
    }),
    event_subtype: condition.event_subtype,
    metric_period: condition.metric_period,
    metric_period_month_reset: condition.metric_period_month_reset,
    metric_value: condition.metric_value === null ? null : storedLong(condition.metric_value),
    credit_id: condition.credit_id,
    consumption_rate: condition.consumption_rate,
    ...(condition.quantity_rates && { quantity_rates: condition.quantity_rates }),
    created_at: condition.created_at,
    updated_at: condition.updated_at,
  }
}

function comparedTrait({ id, entity_type, trait_type }: EntityTraitDefinition): ComparedTrait {
  return { id, entity_type, comparable_type: comparableType(trait_type) }
}

function named<T = PreviewObject>(known: ReadonlyMap<string, T>, ids: readonly string[]): T[] {
  return ids.map(id => known.get(id)).filter(found => found !== undefined) as T[]
}
