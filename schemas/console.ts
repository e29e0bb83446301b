// Reads of the console: short lists, searches, figures over all companies, and why a flag has its value.
import typia from 'typia'
import type { CheckFlagRequestBody } from './checks.js'
import type {
  ChargeType,
  ComparableOperator,
  ConditionType,
  EntitlementValueType,
  MetricPeriod,
  PlanPriceCadence,
  PlanType,
  PlanVersionStatus,
  RuleType,
} from './enums.js'

/** A company in a short list (`view=summary`). */
export interface CompanySummary {
  id: string
  name: string
  created_at: string
  last_seen_at: string | null
  user_count: number
  plan: { id: string; name: string } | null
  add_on_count: number
  /** The limited feature of which the largest part is used; null: no feature is limited. */
  closest_limit: ClosestLimit | null
  credits: CreditSummary[]
  /** Use of the feature that the list is sorted by, in its window. Only there. */
  usage?: number
}

export interface ClosestLimit {
  feature_id: string
  feature_name: string
  usage: number
  limit: number
  /** Percent, rounded down; null: the limit is 0. */
  percent: number | null
  resets_at: string | null
}

export interface CreditSummary {
  credit_id: string
  name: string
  remaining: number
}

/** A plan in a short list (`view=summary`). */
export interface PlanSummary {
  id: string
  name: string
  plan_type: PlanType
  company_id: string | null
  company_count: number
  entitlement_count: number
  published_version: PlanVersionSummary | null
  draft_version: PlanVersionSummary | null
  /** The price of the published version, else of the draft; null: the plan has neither. */
  terms: PlanTerms | null
  /** Place among the plans that the plan group offers, from 1; null: not offered. */
  plan_group_position: number | null
  /** The description of the published version, else of the draft. */
  description: string
  /** The entitlements of that version, in its order. Only with `with_entitlements=true`. */
  entitlements?: EntitlementSummary[]
}

/** A plan's entitlement to a feature, as a price page tells it. */
export interface EntitlementSummary {
  feature_id: string
  feature_name: string
  value_type: EntitlementValueType
  value_bool: boolean | null
  value_numeric: number | null
  metric_period: MetricPeriod | null
  /** Credits for a unit, and the credit's name. */
  consumption_rate: number | null
  credit_name: string | null
}

export interface PlanVersionSummary {
  id: string
  version: number
  status: PlanVersionStatus
  published_at: string | null
  updated_at: string
}

/** A feature in a short list (`view=summary`). */
export interface FeatureSummary {
  id: string
  name: string
  description: string
  feature_type: string
  event_subtype: string | null
  flag: { id: string; key: string } | null
  plan_count: number
}

/** A flag in a short list (`view=summary`). */
export interface FlagSummary {
  id: string
  key: string
  name: string
  default_value: boolean
  feature_id: string | null
  /** In this environment. */
  rule_count: number
  last_checked_at: string | null
}

export interface SearchResult {
  type: 'company' | 'user' | 'feature' | 'flag' | 'plan' | 'credit'
  id: string
  name: string
  /** The text that matched, where it is not the name. */
  detail: string | null
}

/** Use of one feature over all companies by UTC day. */
export interface UsageByDay {
  feature_id: string
  feature_name: string
  event_subtype: string
  total: number
  /** One for each day of the window. */
  points: { day: string; quantity: number }[]
}

export interface TopCompany {
  company_id: string
  company_name: string
  quantity: number
  last_seen_at: string
}

/** Checks that answered false. Members that rows are not made of are null. */
export interface DeniedChecks {
  flag_key: string | null
  reason: string | null
  company_id: string | null
  company_name: string | null
  minute: string | null
  checks: number
  /** Checks of these that are only counted; the others are single records among the events. */
  left_out: number
}

/** Checks of a flag, all and those that answered false. */
export interface FlagChecks {
  flag_key: string
  /** null: the rows are not by reason. It has the id of the rule that decided in brackets. */
  reason: string | null
  checks: number
  denied: number
}

/** The service itself, for its operators. */
export interface SystemStatus {
  status: string
  degraded: string[]
  now: string
  uptime_seconds: number
  version: string
  /** Each is asked at most every two seconds. Redis, where there are several nodes, is behind nothing. */
  stores: { name: string; answers: boolean; lag_records: number; lag_seconds: number }[]
  journal: { shard: number; bytes: number }[]
  shards: { shard: number; entities: number; heap_bytes: number; waiting: number }[]
  nodes: { node: string; this_node: boolean; shards: number }[]
  /** Threads of this node that take connections; 0 is the main thread. */
  fronts: { front: number; answers: boolean }[]
  idempotency_keys: number
  quotas: { environment_id: string; quota: string; used_percent: number }[]
  stream_connections: number
}

/** Body of POST /flags/{key}/explain. */
export interface ExplainBody extends Pick<CheckFlagRequestBody, 'company' | 'user' | 'preflight'> {
  /** By id, in place of keys. */
  company_id?: string | null | undefined
  /** A past instant; default: now. */
  at?: string | null | undefined
}
export const parseExplain = typia.json.createValidateParse<ExplainBody>()

export interface ExplainedCondition {
  id: string
  condition_type: ConditionType
  operator: ComparableOperator
  held: boolean
  /** In words. */
  subject: string
  expected: string
  resource_ids: readonly string[]
  /** The value that was found; null: none. */
  saw: string | null
  resets_at: string | null
}

export interface ExplainedRule {
  id: string
  name: string
  rule_type: RuleType
  value: boolean
  /** The flag itself, an override of the company, or a plan of the company. */
  origin: 'flag' | 'override' | 'plan'
  plan_id: string | null
  company_override_id: string | null
  matched: boolean
  decided: boolean
  conditions: ExplainedCondition[]
  condition_groups: ExplainedCondition[][]
}

/** Why a flag has its value, or had it at a past instant: every rule in the order it is tried. */
export interface FlagExplanation {
  flag: string
  flag_id: string
  value: boolean
  default_value: boolean
  reason: string
  error: string | null
  rule_id: string | null
  company_id: string | null
  company_name: string | null
  user_id: string | null
  at: string
  rules: ExplainedRule[]
  /** The change of fewest conditions after which the flag has the other value; null: none is known. */
  smallest_change: SmallestChange | null
}

export interface SmallestChange {
  rule_id: string
  needs: 'match' | 'no_match'
  condition_ids: readonly string[]
  text: string
  /** When time alone brings it; null: it does not. */
  at: string | null
}

/** A member that a draft changes. */
export interface DraftChange {
  kind: 'plan' | 'entitlement' | 'credit_grant' | 'price'
  change: 'added' | 'removed' | 'changed'
  name: string
  /** The member; null: all of it was added or removed. */
  member: string | null
  before: string | null
  after: string | null
}

/** The changes that publishing the draft of a plan would make. */
export interface DraftDiff {
  plan_id: string
  plan_name: string
  plan_type: PlanType
  /** The latest 50, newest first. */
  versions: PlanVersionSummary[]
  published_version: PlanVersionSummary | null
  draft_version: PlanVersionSummary | null
  company_count: number
  /** The price of the draft, else of the published version; null: the plan has neither. */
  terms: PlanTerms | null
  changes: DraftChange[]
}

/** The price of a version of a plan. */
export interface PlanTerms {
  charge_type: ChargeType
  /** The main one. */
  currency: string
  /** null: no trial. */
  trial_days: number | null
  prices: {
    id: string
    currency: string
    cadence: PlanPriceCadence | 'one_time'
    /** Decimal text in the smallest unit. */
    price: string
  }[]
}
