// Facts that the main thread tells a front of a key, so that the front answers its checks itself.
import type { RateLimitBucket } from '../../schemas/enums.js'
import type { Limit } from '../core/values/bucket.js'
import type { TestClock } from '../core/values/test-clock.js'

/** A bucket of several threads. */
export interface BucketPlace {
  readonly name: RateLimitBucket
  readonly place: number
  readonly limit: Limit
}

/** Buckets that a request takes a token from: the account's, and a capped key's own. */
export interface Budgets {
  readonly shared: readonly BucketPlace[]
  readonly own: readonly BucketPlace[]
}

/** The facts with which a front answers the checks of a key in an environment. They hold while both editions are the same. */
export interface KeyFacts {
  readonly edition: number
  readonly keyId: string
  readonly environmentId: string
  /** Its number in the directory's tables. */
  readonly environment: number
  readonly environmentEdition: number
  /** The test clock; null: none. */
  readonly clock: TestClock | null
  /** Budgets of checks. Null: no limits. */
  readonly budgets: Budgets | null
  /** The key may send events: its number, and their budgets. Null: the main thread takes its events. */
  readonly events: { readonly number: number; readonly budgets: Budgets | null } | null
  /** Rules read traits of users, which the front does not have. */
  readonly readsUserTraits: boolean
  /** A preflight may meet a budget, whose room also changes with time. */
  readonly haveBudgets: boolean
  /** Flags of the environment; beyond some a check of all of them is charged more. */
  readonly flags: number
  /** The key is a publishable one. */
  readonly isPublic: boolean
  /** Version of the definitions. */
  readonly version: number
}
