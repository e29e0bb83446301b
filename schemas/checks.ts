// Requests and responses of flag checks.
import typia, { type tags } from 'typia'
import type { FeatureEntitlement } from './companies.js'
import type { MetricPeriod, RuleType, TrialStatus } from './enums.js'
import type { Long } from './long.js'

/** Keys of a company or user: names and values. */
interface Keys {
  [name: string]: string
}

/** Hypothetical usage, in single checks only (FE-80…87). */
export interface PreflightRequestBody {
  /** Credits by credit id; takes precedence over usage for that credit; 0 is free. */
  credit_cost?: { [creditId: string]: number } | null
  event_usage?: {
    event_subtype: string & tags.MaxLength<128>
    /** 0 has no effect. */
    quantity: Long
  } | null
  /** Added to any numeric condition; 0 has no effect. */
  usage?: Long | null
}

/** Body of a check. All pairs in `company` name one company, all in `user` one user. */
export interface CheckFlagRequestBody {
  company?: Keys | null
  user?: Keys | null
  preflight?: PreflightRequestBody | null
}

/** Body of POST /flags/check-bulk: each context is checked on its own (FE-92). */
export interface CheckFlagsBulkRequestBody {
  /** At most 100. Any value is accepted, because an invalid context fails alone. */
  contexts: unknown[]
}

/** Body of POST /flags/{key}/check-and-reserve. */
export interface CheckAndReserveRequestBody extends CheckFlagRequestBody {
  /** End of the hold: by default in one minute, at most in one hour. */
  expires_at?: string | null
  idempotency_key?: (string & tags.MinLength<1> & tags.MaxLength<255>) | null
  /** Units to hold; by default those of the preflight, else 1. */
  quantity?: (Long & tags.Minimum<0>) | null
}

export const parseCheckAndReserve = typia.json.createValidateParse<CheckAndReserveRequestBody>()
export const parseCheck = typia.json.createValidateParse<CheckFlagRequestBody>()
export const parseCheckBulk = typia.json.createValidateParse<CheckFlagsBulkRequestBody>()
export const validateContext = typia.createValidate<CheckFlagRequestBody>()

/** Response of a check: the flag's value for this context, and the reason. */
export interface CheckFlag {
  /** The requested flag's key. */
  flag: string
  flag_id: string
  /** With an entitlement: whether more may be used. */
  value: boolean
  reason: string
  rule_id: string | null
  rule_type: RuleType | null
  /** null: unknown company, or none was named. */
  company_id: string | null
  user_id: string | null
  error: string | null
  feature_allocation: number | null
  feature_usage: number | null
  feature_usage_event: string | null
  feature_usage_period: MetricPeriod | null
  feature_usage_reset_at: string | null
  /** Present if an entitlement decided. */
  entitlement?: FeatureEntitlement
}

/** The hold made by check-and-reserve. */
export interface FlagCheckReservation {
  id: string
  company_id: string
  credit_type_id: string
  credits_reserved: number
  /** Units held. */
  quantity_reserved: number
  /** Credits per unit. */
  consumption_rate: number
  /** Event name for the event that settles the hold. */
  event_subtype: string | null
  expires_at: string
}

export interface CheckAndReserveFlag extends CheckFlag {
  /** Absent if nothing is held: denied, or not paid with credits. */
  reservation?: FlagCheckReservation
}

/** A company's balance of one credit. */
export interface CheckCreditBalance {
  remaining: number
  reserved: number
  settled: number
}

/** Response of POST /flags/check: every flag, ordered by key, from one snapshot of the company (FE-90). */
export interface CheckFlags {
  flags: CheckFlag[]
  /** The base plan; absent without one. */
  plan?: { id: string; name: string; trial_end_date: string | null; trial_status: TrialStatus | null }
  /** By credit id; absent without a company. */
  credit_balances?: { [creditId: string]: CheckCreditBalance }
  /** In a bulk check: the error of this context (FE-92). */
  error?: string
}

/** Response of POST /flags/check-bulk, in the order of the contexts. */
export interface CheckFlagsBulk {
  data: CheckFlags[]
}
