// Flag checks on the wire (api/flags.md).
import typia, { type tags } from 'typia'
import type { FeatureEntitlement } from './companies.js'
import type { MetricPeriod, RuleType, TrialStatus } from './enums.js'

/** Names and values of a company's or user's keys. */
interface Keys {
  [name: string]: string
}

/** Hypothetical use, on single checks only (FE-80…87). */
export interface PreflightRequestBody {
  /** Credits by credit id; wins over usage for that credit; 0 is free. */
  credit_cost?: { [creditId: string]: number } | null
  event_usage?: {
    event_subtype: string & tags.MaxLength<128>
    /** 0 has no effect. */
    quantity: number
  } | null
  /** Added to any numeric condition; 0 has no effect. */
  usage?: number | null
}

/** Body of a check; every pair of `company` names the same company, likewise `user`. */
export interface CheckFlagRequestBody {
  company?: Keys | null
  user?: Keys | null
  preflight?: PreflightRequestBody | null
}

/** Body of POST /flags/check-bulk: each context is judged alone (FE-92). */
export interface CheckFlagsBulkRequestBody {
  /** At most 100; anything, since a bad one fails alone. */
  contexts: unknown[]
}

/** Body of POST /flags/{key}/check-and-reserve. */
export interface CheckAndReserveRequestBody extends CheckFlagRequestBody {
  /** Of the hold: a minute from now when absent, an hour at most. */
  expires_at?: string | null
  idempotency_key?: (string & tags.MinLength<1> & tags.MaxLength<255>) | null
  /** Units to hold for; else those of the preflight, else 1. */
  quantity?: (number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<9_999_999_999>) | null
}

export const parseCheckAndReserve = typia.json.createValidateParse<CheckAndReserveRequestBody>()
export const parseCheck = typia.json.createValidateParse<CheckFlagRequestBody>()
export const parseCheckBulk = typia.json.createValidateParse<CheckFlagsBulkRequestBody>()
export const validateContext = typia.createValidate<CheckFlagRequestBody>()

/** Answer of a check: the flag's value for this context, and why. */
export interface CheckFlag {
  /** The key asked for. */
  flag: string
  flag_id: string
  /** Of an entitlement: whether more may be used. */
  value: boolean
  reason: string
  rule_id: string | null
  rule_type: RuleType | null
  /** null: no such company, or none was named. */
  company_id: string | null
  user_id: string | null
  error: string | null
  feature_allocation: number | null
  feature_usage: number | null
  feature_usage_event: string | null
  feature_usage_period: MetricPeriod | null
  feature_usage_reset_at: string | null
  /** When an entitlement decided. */
  entitlement?: FeatureEntitlement
}

/** What was held by a check that reserves. */
export interface FlagCheckReservation {
  id: string
  company_id: string
  credit_type_id: string
  credits_reserved: number
  /** Units that it covers. */
  quantity_reserved: number
  /** Credits per unit. */
  consumption_rate: number
  /** To be sent in the event that settles it. */
  event_subtype: string | null
  expires_at: string
}

export interface CheckAndReserveFlag extends CheckFlag {
  /** Absent where nothing is held: denied, or not paid with credits. */
  reservation?: FlagCheckReservation
}

/** Credits a company holds of one kind. */
export interface CheckCreditBalance {
  remaining: number
  reserved: number
  settled: number
}

/** Answer of POST /flags/check: every flag, ordered by key, from one snapshot of the company (FE-90). */
export interface CheckFlags {
  flags: CheckFlag[]
  /** The base plan; absent without one. */
  plan?: { id: string; name: string; trial_end_date: string | null; trial_status: TrialStatus | null }
  /** By credit id; absent without a company. */
  credit_balances?: { [creditId: string]: CheckCreditBalance }
  /** In a bulk check: why this context could not be checked (FE-92). */
  error?: string
}

/** Answer of POST /flags/check-bulk, in the order asked. */
export interface CheckFlagsBulk {
  data: CheckFlags[]
}
