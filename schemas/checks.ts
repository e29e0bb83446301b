// Flag checks on the wire (api/flags.md).
import typia, { type tags } from 'typia'

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

export const parseCheck = typia.json.createValidateParse<CheckFlagRequestBody>()
export const parseCheckBulk = typia.json.createValidateParse<CheckFlagsBulkRequestBody>()
export const validateContext = typia.createValidate<CheckFlagRequestBody>()
