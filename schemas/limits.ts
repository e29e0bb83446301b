// Request limits of an account, for those who run Tollgate.
import typia, { type tags } from 'typia'

/** Requests per second, and how many at once. */
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

/** Body of PUT /limits: null for those of everyone, "off" for none, else those that differ. Absent: as they are. */
export interface LimitsUpdate {
  limits?: Buckets | 'off' | null | undefined
}

/** Answer of GET and PUT /limits. */
export interface AccountLimits {
  account_id: string
  limits: Buckets | 'off' | null
}

export const parseLimitsUpdate = typia.json.createValidateParse<LimitsUpdate>()
