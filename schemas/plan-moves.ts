// Moves of companies between plans, moves back, and what a migration or move would do.
import typia, { type tags } from 'typia'
import type {
  EntitlementValueType,
  MetricPeriod,
  MigrationProrationBehavior,
  MigrationStrategy,
  PlanMoveReason,
  PlanVersionCompanyMigrationStatus,
} from './enums.js'
import type { Keyed } from './keyed.js'

const planMoveKinds = ['move', 'revert'] as const
type PlanMoveKind = (typeof planMoveKinds)[number]

export const planMoveStatuses = [
  'cancelled',
  'completed',
  'failed',
  'in_progress',
  'paused',
  'pending',
] as const
export type PlanMoveStatus = (typeof planMoveStatuses)[number]

const planMoveTimes = ['at_period_end', 'now', 'scheduled'] as const
export type PlanMoveTime = (typeof planMoveTimes)[number]

/** The companies of a move: those for which every given member holds. */
export interface PlanMoveFilter {
  /** Every company; needed where nothing else is given. */
  all?: boolean | null | undefined
  /** Companies whose base plan is one of these. */
  plan_ids?: (string[] & tags.MinItems<1> & tags.MaxItems<100>) | null | undefined
  /** Companies whose base plan is held in one of these versions. */
  plan_version_ids?: (string[] & tags.MinItems<1> & tags.MaxItems<100>) | null | undefined
  company_ids?: (string[] & tags.MinItems<1> & tags.MaxItems<1000>) | null | undefined
  excluded_company_ids?: (string[] & tags.MaxItems<1000>) | null | undefined
  /** Companies without a base plan of their own, who have the fallback plan. */
  without_plan?: boolean | null | undefined
  /** Companies that have each of these traits with exactly this value, written as text. */
  traits?: (PlanMoveTrait[] & tags.MaxItems<10>) | null | undefined
  /** A text in a name, a key or a trait of the company, ignoring case, as in the list of companies. */
  q?: (string & tags.MinLength<1> & tags.MaxLength<512>) | null | undefined
}

export interface PlanMoveTrait {
  /** Its name; the parts of a hierarchy are joined by dots. */
  name: string & tags.MinLength<1> & tags.MaxLength<256>
  value: string & tags.MaxLength<1024>
}

/** A new move with its defaults. */
export interface PlanMoveCreate extends Keyed {
  /** The plan to move to. */
  plan_id: string
  /** Default: the published version. */
  plan_version_id?: string | null | undefined
  /** The price to be paid. Default: the one of the currency and interval in which each company pays now. */
  price_id?: string | null | undefined
  when: PlanMoveTime
  /** When companies move. Required by, and only for, `scheduled`; at most two years ahead. */
  scheduled_at?: string | null | undefined
  proration_behavior?: MigrationProrationBehavior | null | undefined
  filter: PlanMoveFilter
}

/** Body of POST /plan-moves and POST /plan-moves/preview. */
export interface PlanMoveCreateRequestBody extends Omit<PlanMoveCreate, 'when'> {
  /** Default: now. */
  when?: PlanMoveTime | null | undefined
}

export const parsePlanMoveCreate = typia.json.createValidateParse<PlanMoveCreateRequestBody>()

/** Body of POST /plan-moves/{plan_move_id}/retry. */
export interface PlanMoveRetry extends Keyed {
  /** Companies that failed for one of these reasons. Default: all that failed. */
  reasons?: (PlanMoveReason[] & tags.MaxItems<11>) | null | undefined
}

export const parsePlanMoveRetry = typia.json.createValidateParse<PlanMoveRetry>()

/** A move of companies to a plan, or back. */
export interface PlanMove {
  id: string
  kind: PlanMoveKind
  status: PlanMoveStatus
  /** The plan and version that companies come to; of a revert, those that they leave. */
  plan_id: string
  plan_version_id: string
  price_id: string | null
  when: PlanMoveTime
  scheduled_at: string | null
  proration_behavior: MigrationProrationBehavior | null
  /** Null for a revert. */
  filter: PlanMoveFilter | null
  /** The move or migration that a revert takes back. */
  reverts_id: string | null
  /** The last revert of this move. */
  reverted_by_id: string | null
  total_companies: number
  pending_companies: number
  completed_companies: number
  failed_companies: number
  skipped_companies: number
  cancelled_companies: number
  /** When the next company that waits for a date moves. */
  next_due_at: string | null
  error: string | null
  paused_at: string | null
  started_at: string | null
  completed_at: string | null
  created_at: string
  updated_at: string
}

/** One company of a move. */
export interface PlanMoveCompany {
  id: string
  plan_move_id: string
  company_id: string
  company_name: string
  plan_id_from: string | null
  plan_version_id_from: string | null
  plan_version_id_to: string | null
  status: PlanVersionCompanyMigrationStatus
  /** Why it failed or was skipped. */
  reason: PlanMoveReason | null
  /** The reason in words. */
  note: string | null
  scheduled_for: string | null
  started_at: string | null
  completed_at: string | null
  created_at: string
  updated_at: string
}

/** A company's terms of one feature. */
export interface EntitlementTerms {
  value_type: EntitlementValueType
  /** Null: without a limit. */
  limit: number | null
  soft_limit: number | null
  metric_period: MetricPeriod | null
  credit_id: string | null
  consumption_rate: number | null
}

/** A feature that a company gains, loses, or has on other terms. */
export interface EntitlementChange {
  feature_id: string
  feature_name: string
  /** Null: it does not have the feature. */
  before: EntitlementTerms | null
  after: EntitlementTerms | null
}

/** A limit that a company exceeds from the first instant on. */
export interface LimitExceeded {
  feature_id: string
  feature_name: string
  usage: number
  limit: number
}

/** The charge for each period of an interval, in the smallest unit of the currency. */
export interface PriceChange {
  currency: string
  interval_months: number
  before: number
  after: number
}

export interface FeatureCompanies {
  feature_id: string
  feature_name: string
  companies: number
}

/** The fate of the companies if they went over in this way. */
export interface StrategyOutcome {
  strategy: MigrationStrategy
  /** Moved at once. */
  moves_now: number
  /** Moved at a date that is known. */
  waits: number
  /** Moved when a date is known: a subscription is overdue, or ends with its period. */
  waits_without_date: number
  /** Kept as they are. */
  stays: number
  fails: number
}

/** The sum of a preview over all its companies, on whichever page they are. */
export interface PreviewTotals {
  companies: number
  would_move: number
  would_fail: number
  failures: { reason: PlanMoveReason; companies: number }[]
  /** Companies that exceed a limit, lose something, gain something, or pay something else. */
  exceeding: number
  losing: number
  gaining: number
  price_changing: number
  gains: FeatureCompanies[]
  losses: FeatureCompanies[]
  prices: PriceChange[]
  strategies: StrategyOutcome[]
  /** Whether there are more companies than a preview looks at. The sums are then over the companies looked at. */
  truncated: boolean
}

/** One company of a preview. */
export interface PreviewCompanyChange {
  /** Gains: a feature, or better terms of one. */
  gains: EntitlementChange[]
  /** Losses: a feature, or terms; a change that cannot be compared is here. */
  losses: EntitlementChange[]
  exceeded_limits: LimitExceeded[]
  prices: PriceChange[]
  failure_reason: PlanMoveReason | null
  /** When it would move at the end of its billing period; null: no date can be named. */
  end_of_billing_period_at: string | null
}

export interface PlanMovePreviewCompany extends PreviewCompanyChange {
  company_id: string
  plan_id_from: string | null
  plan_version_id_from: string | null
  would_fail: boolean
  /** The failure in words, or what has to be done elsewhere. */
  note: string | null
}

export interface PlanMovePreview {
  companies: PlanMovePreviewCompany[]
  totals: PreviewTotals
}
