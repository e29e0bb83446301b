// Rules as stored: conditions and groups with wire names, each with its id and times.
import type {
  ComparableOperator,
  ComparableType,
  ConditionType,
  MetricPeriod,
  MonthReset,
} from '../../schemas/enums.js'
import type { StoredQuantity } from '../core/values/quantity.js'

/** A condition of a stored rule; members that do not belong to its type are null, `trait_value` is ''. */
export interface StoredCondition {
  readonly id: string
  readonly condition_type: ConditionType
  readonly operator: ComparableOperator
  readonly resource_ids: readonly string[]
  readonly trait_id: string | null
  readonly trait_value: string
  /** How a trait condition compares; absent: as the type of the trait says (FE-69). */
  readonly comparable_type?: ComparableType
  readonly comparison_trait_id: string | null
  readonly event_subtype: string | null
  readonly metric_period: MetricPeriod | null
  readonly metric_period_month_reset: MonthReset | null
  readonly metric_value: StoredQuantity | null
  readonly credit_id: string | null
  readonly consumption_rate: number | null
  /** For rules that entitlements generate. */
  readonly quantity_rates?: Readonly<Record<string, number>>
  readonly created_at: string
  readonly updated_at: string
}

export interface StoredGroup {
  readonly id: string
  readonly conditions: readonly StoredCondition[]
  readonly created_at: string
  readonly updated_at: string
}
