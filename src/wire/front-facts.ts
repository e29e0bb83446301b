// Facts that the main thread tells a front of a key, so that the front answers its checks itself.
import type { Limit } from '../core/values/bucket.js'

/** A bucket of several threads. */
export interface BucketPlace {
  readonly place: number
  readonly limit: Limit
}

/** A key in an environment whose checks pass without a further look. They hold while both editions are the same. */
export interface KeyFacts {
  readonly edition: number
  readonly keyId: string
  readonly environmentId: string
  /** Its number in the directory's tables. */
  readonly environment: number
  readonly environmentEdition: number
  /** The test clock: a running offset from the wall clock, or an instant; null: none. */
  readonly clock:
    | { readonly kind: 'ticking'; readonly offsetMs: number }
    | { readonly kind: 'frozen'; readonly atMs: number }
    | null
  /** Buckets that a check takes a token from: the account's, and a capped key's own. Null: no limits. */
  readonly budgets: { readonly shared: readonly BucketPlace[]; readonly own: readonly BucketPlace[] } | null
  /** Rules read traits of users, which the front does not have. */
  readonly readsUserTraits: boolean
  /** A preflight may meet a budget, whose room also changes with time. */
  readonly haveBudgets: boolean
  /** Flags of the environment; beyond some a check of all of them is charged more. */
  readonly flags: number
}
