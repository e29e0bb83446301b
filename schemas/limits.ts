// Rate limits of an account. The operator sets them.
import typia, { type tags } from 'typia'

/** Requests per second, and burst. */
type RateAndBurst = [
  number & tags.ExclusiveMinimum<0> & tags.Maximum<1_000_000_000>,
  number & tags.Type<'uint32'> & tags.Minimum<1> & tags.Maximum<1_000_000_000>,
]

interface Buckets {
  global?: RateAndBurst
  mutation?: RateAndBurst
  events_ingest?: RateAndBurst
  analytics?: RateAndBurst
}

/**
 * Body of PUT /limits: null for the defaults, "off" for no limits, else the limits that differ. Absent: unchanged.
 */
export interface LimitsUpdate {
  limits?: Buckets | 'off' | null | undefined
}

/** Response of GET and PUT /limits. */
export interface AccountLimits {
  account_id: string
  limits: Buckets | 'off' | null
}

export const parseLimitsUpdate = typia.json.createValidateParse<LimitsUpdate>()
