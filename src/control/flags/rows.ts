// Rows of flags and rules.
import type { RuleType } from '../../../schemas/enums.js'
import type { StoredCondition, StoredGroup } from '../../catalog/rules.js'

/** A row of flags. */
export interface FlagRow {
  readonly id: string
  readonly account_id: string
  readonly key: string
  readonly name: string
  readonly description: string
  readonly flag_type: 'boolean'
  readonly default_value: boolean
  readonly feature_id: string | null
  readonly maintainer_account_member_id: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of rules. */
export interface RuleRow {
  readonly id: string
  readonly flag_id: string
  readonly environment_id: string
  readonly name: string
  readonly rule_type: RuleType
  readonly priority: string | number
  readonly value: boolean
  readonly position: number
  readonly conditions: readonly StoredCondition[]
  readonly condition_groups: readonly StoredGroup[]
  readonly created_at: Date
  readonly updated_at: Date
}
