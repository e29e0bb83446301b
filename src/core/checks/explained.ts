// Conditions and rules as an explanation tells them.
import type { ComparableOperator, RuleType } from '../../../schemas/enums.js'
import type { ConditionDef } from '../model/definitions.js'

/** A condition and the value it saw. */
export interface ExplainedCondition {
  readonly id: string
  readonly conditionType: ConditionDef['conditionType']
  readonly operator: ComparableOperator
  readonly held: boolean
  /** In words: `usage of api_call, current_month`. */
  readonly subject: string
  /** The value it was compared with, as text; of a list of ids, the ids. */
  readonly expected: string
  readonly resourceIds: readonly string[]
  /** The value found; null: the company or user has none, or none was named. */
  readonly saw: string | null
  /** When the counter starts again, epoch ms; null: it is none, or never. */
  readonly resetAtMs: number | null
  /** It comes out the other way once the counter has started again. */
  readonly turnsAtReset: boolean
}

/** Where a rule comes from. */
export type RuleOrigin = 'flag' | 'override' | 'plan'

export interface ExplainedRule {
  readonly id: string
  readonly name: string
  readonly ruleType: RuleType
  readonly value: boolean
  readonly origin: RuleOrigin
  /** The plan whose version has the rule; null: none. */
  readonly planId: string | null
  readonly overrideId: string | null
  /** It matches whatever its conditions say (FE-11). */
  readonly always: boolean
  /** Every condition held, and of each group at least one. Rules after the one that decided are judged, too. */
  readonly matched: boolean
  readonly decided: boolean
  readonly conditions: readonly ExplainedCondition[]
  readonly conditionGroups: readonly (readonly ExplainedCondition[])[]
}
