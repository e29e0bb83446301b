// Definitions of flags and rules. Requests and responses of checks are in checks.ts.
import typia, { type tags } from 'typia'
import type { ComparedTrait } from './companies.js'
import type {
  ComparableOperator,
  ComparableType,
  ConditionType,
  EntityType,
  MetricPeriod,
  MonthReset,
  PlanVersionStatus,
  RuleType,
} from './enums.js'
import type { PreviewObject } from './envelope.js'
import type { Feature } from './features.js'
import type { Long } from './long.js'
import type { AccountMember } from './members.js'
import type { EntityTraitDefinition } from './traits.js'

/** A flag with its defaults. */
export interface FlagWrite {
  key: string & tags.MinLength<1> & tags.MaxLength<512>
  name: string & tags.MinLength<1> & tags.MaxLength<512>
  description: string & tags.MaxLength<1024>
  default_value: boolean
  flag_type: 'boolean'
  feature_id?: string | null | undefined
  maintainer_account_member_id?: string | null | undefined
}

/** Body of POST /flags. */
export interface FlagCreateRequestBody {
  key: FlagWrite['key']
  /** Default: the key. */
  name?: FlagWrite['name'] | null | undefined
  description?: FlagWrite['description'] | null | undefined
  /** The value where no rule decides. Default: false. */
  default_value?: boolean | null | undefined
  flag_type?: 'boolean' | null | undefined
  feature_id?: string | null | undefined
  maintainer_account_member_id?: string | null | undefined
}

export const parseFlagWrite = typia.json.createValidateParse<FlagCreateRequestBody>()

/** Body of PUT /flags/{flag_id}. Absent members are unchanged; null clears the last two (decision 26). */
export interface FlagUpdate extends Partial<FlagWrite> {}

export const parseFlagUpdate = typia.json.createValidateParse<FlagUpdate>()

/** A flag in the body of a feature; `id` names an existing flag. */
export interface FlagWithFeature {
  id?: string | null | undefined
  key?: (string & tags.MinLength<1> & tags.MaxLength<512>) | null | undefined
  name?: (string & tags.MinLength<1> & tags.MaxLength<512>) | null | undefined
  description?: (string & tags.MaxLength<1024>) | null | undefined
  default_value?: boolean | null | undefined
  flag_type?: 'boolean' | null | undefined
  feature_id?: string | null | undefined
  maintainer_account_member_id?: string | null | undefined
}

/** A condition in a request; `id` names an existing one of the rule. Members of other condition types are ignored. */
export interface ConditionWrite {
  id?: string | null | undefined
  condition_type: ConditionType
  operator: ComparableOperator
  /** Default: none. */
  resource_ids?: (string[] & tags.MaxItems<1000>) | null | undefined
  trait_id?: string | null | undefined
  trait_value?: (string & tags.MaxLength<1024>) | null | undefined
  /** How a trait condition compares, `version` for one; default: as the type of the trait says. */
  comparable_type?: ComparableType | null | undefined
  comparison_trait_id?: string | null | undefined
  event_subtype?: (string & tags.MaxLength<255>) | null | undefined
  metric_period?: MetricPeriod | null | undefined
  metric_period_month_reset?: MonthReset | null | undefined
  metric_value?: Long | null | undefined
  credit_id?: string | null | undefined
  /** Credits per unit. */
  credit_cost?: (number & tags.Minimum<0>) | null | undefined
}

export interface ConditionGroupWrite {
  id?: string | null | undefined
  /** Default: none; with an id: unchanged. */
  conditions?: (ConditionWrite[] & tags.MaxItems<100>) | null | undefined
  flag_id?: string | null | undefined
}

export interface RuleWrite {
  id?: string | null | undefined
  name: string & tags.MaxLength<512>
  priority: Long
  value: boolean
  /** Default: standard. Generated types are refused (EN-5). */
  rule_type?: RuleType | null | undefined
  /** Default: none; with an id: unchanged. So are the groups. */
  conditions?: (ConditionWrite[] & tags.MaxItems<100>) | null | undefined
  condition_groups?: (ConditionGroupWrite[] & tags.MaxItems<100>) | null | undefined
}

/** The complete rule set of a flag in one environment. */
export interface RulesWrite {
  rules: RuleWrite[] & tags.MaxItems<100>
}

/**
 * Body of PUT /flags/{flag_id}/rules. Without `rules` nothing changes. Absent optional members of an entry with an
 * id are unchanged.
 */
export interface RulesUpdate extends Partial<RulesWrite> {}

export const parseRulesUpdate = typia.json.createValidateParse<RulesUpdate>()

export interface Flag {
  id: string
  key: string
  name: string
  description: string
  flag_type: 'boolean'
  default_value: boolean
  feature_id: string | null
  maintainer_account_member_id: string | null
  created_at: string
  updated_at: string
}

export interface FlagDetail extends Flag {
  rules: RuleDetail[]
  feature?: Feature
  maintainer?: AccountMember
  last_checked_at: string | null
}

export interface RuleDetail {
  id: string
  account_id: string
  environment_id: string
  flag_id: string | null
  name: string
  rule_type: RuleType
  priority: number
  value: boolean
  conditions: RuleConditionDetail[]
  condition_groups: RuleConditionGroupDetail[]
  created_at: string
  updated_at: string
}

export interface RuleConditionGroupDetail {
  id: string
  environment_id: string
  flag_id: string | null
  rule_id: string
  conditions: RuleConditionDetail[]
  created_at: string
  updated_at: string
}

export interface RuleConditionDetail {
  id: string
  account_id: string
  environment_id: string
  flag_id: string | null
  rule_id: string
  condition_group_id: string | null
  condition_type: ConditionType
  operator: ComparableOperator
  resource_ids: readonly string[]
  /** References to the existing ids. */
  resources: PreviewObject[]
  plan_versions?: { id: string; name: string; status: PlanVersionStatus; version: number }[]
  trait_id: string | null
  trait?: EntityTraitDefinition
  trait_definition?: ComparedTrait
  trait_entity_type: EntityType | null
  trait_value: string
  /** How the condition compares; absent: as the type of the trait says. */
  comparable_type?: ComparableType
  comparison_trait_id: string | null
  comparison_trait?: EntityTraitDefinition
  comparison_trait_definition?: ComparedTrait
  event_subtype: string | null
  metric_period: MetricPeriod | null
  metric_period_month_reset: MonthReset | null
  metric_value: number | null
  credit_id: string | null
  consumption_rate: number | null
  /** Rates of a rule generated from a credit entitlement, by event member. */
  quantity_rates?: Readonly<Record<string, number>>
  created_at: string
  updated_at: string
}

export interface RulesDetail {
  rules: RuleDetail[]
  flag?: Flag
}
