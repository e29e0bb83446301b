// Types of keys and environments in memory on the HTTP thread.
import type { EnvironmentType, KeyScope } from '../../schemas/enums.js'
import type { RoleMap } from '../core/console-role.js'
import type { ContextSecrets } from './signed-contexts.js'

/** An API key. */
export interface KeyRecord {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly description: string | null
  readonly kind: 'secret' | 'publishable'
  readonly scopes: readonly KeyScope[]
  readonly readonly: boolean
  /** null: an account-wide key. */
  readonly environmentId: string | null
  readonly rateLimitPercent: number | null
  /**
   * The bootstrap key: bound to an environment, but with rights on the whole account (decision 14). Absent: false.
   */
  readonly bootstrap?: boolean
  /** When and from where it is accepted; null or absent: always, from anywhere. */
  readonly conditions?: KeyConditions | null
  /** The person or token that acts, where it is not a key; `id` is its id then. Absent: a key. */
  readonly actor?: Actor
  /** The one company that a token reads. */
  readonly companyId?: string
}

/** A person in the console, or the holder of a token for one company. */
export interface Actor {
  readonly type: 'app_user' | 'temporary_access_token'
  readonly id: string
  readonly name: string
  /** Roles of a person. */
  readonly roles: RoleMap
}

/** Conditions checked at each request, besides scopes (src/account/conditions.ts). */
export interface KeyConditions {
  readonly disabled: boolean
  /** Epoch ms. */
  readonly notBeforeMs: number | null
  /** Epoch ms, exclusive. */
  readonly expiresAtMs: number | null
  /** Null: any. */
  readonly addresses: AddressList | null
  /** The value used is one replaced by a roll; it is accepted until `expiresAtMs`. */
  readonly replaced: boolean
}

/** A list of address blocks. */
export interface AddressList {
  /** Whether the address is in one of the blocks; false for an invalid address. */
  has(address: string): boolean
}

/** Rights and limits of a publishable key besides checks, identify and track. */
export interface PublishableKeyLimits {
  readonly createCompanies: boolean
  readonly addCompanyKeys: boolean
  /** Most users created in an hour. */
  readonly createUsers: number
  readonly addUserKeys: boolean
  /** Event names that no definition counts. */
  readonly nameEvents: boolean
  readonly nameTraits: boolean
  /** Largest quantity of one event. */
  readonly quantityMax: number
  /** Some of them were set and differ from the defaults of this type of environment. */
  readonly isOwn: boolean
}

/** Names of keys whose values are kept in lower case (CU-4). */
export interface LowercaseNames {
  readonly company: readonly string[]
  readonly user: readonly string[]
}

export interface EnvironmentRecord {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly environmentType: EnvironmentType
  readonly requireContextSignature: boolean
  /** Limits of its publishable keys. */
  readonly publishable: PublishableKeyLimits
  /** Secrets for signed contexts; null: none yet. */
  readonly contextSecrets: ContextSecrets | null
  /** Null: none. */
  readonly lowercaseKeys: LowercaseNames | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Hash of a value replaced by a roll, and the time until which it is accepted, epoch ms. */
export interface FormerValue {
  readonly hash: Uint8Array
  readonly untilMs: number
}

/** The caller for whom an unknown key is looked up. */
export interface KeyAsker {
  mayAsk(): boolean
}

/** Keys and environments in memory on the HTTP thread, stored in Postgres (src/account/keys.ts). */
export interface Keys {
  /**
   * The key with this secret, or null. A known secret is found at once. An unknown one costs at most one Postgres
   * lookup and is remembered briefly; lookups of one tick share a statement. Throws `store_away` when Postgres is
   * needed but down.
   *
   * asker  no lookup is made for a caller with too many unknown keys; absent: always looked up.
   */
  find(secret: string, asker?: KeyAsker): KeyRecord | null | Promise<KeyRecord | null>
  /** The key with this id, or null. Always in memory. */
  byId(keyId: string): KeyRecord | null
  /**
   * The record of a key for one of its values: the present one, or the one before the last roll until its overlap ends. null: it
   * is no value of the key any more.
   *
   * hash  of the value, as `hash` makes it.
   */
  ofValue(keyId: string, hash: Uint8Array): KeyRecord | null
  /** The environment, or null. Always in memory. */
  environment(environmentId: string): EnvironmentRecord | null
  /** Environments of the account, oldest first. */
  environments(accountId: string): readonly EnvironmentRecord[]
  /** Note a use at this time of the monotonic clock, ms; written at most once a minute per key (AL-4). */
  used(keyId: string, monotonicMs: number): void
  /** Serialises writes of keys, so that memory changes in the order of Postgres. */
  inOrder<T>(work: () => Promise<T>): Promise<T>
  /** The stored hash of a value. */
  hash(value: string): Buffer
  /** Identifies the pepper without revealing it. */
  readonly pepperId: string
  /**
   * Store a written key in memory. `hash` null: a changed known key. `former`: the value replaced by its last roll;
   * absent: unchanged.
   */
  put(record: KeyRecord, hash: Uint8Array | null, former?: FormerValue | null): void
  /** Remove a deleted key; it is refused from this tick on (AL-3). */
  forget(keyId: string): void
  /** Store a written environment in memory; one older than the known one is ignored. */
  putEnvironment(record: EnvironmentRecord): void
  /** Remove a deleted environment and its keys. */
  forgetEnvironment(environmentId: string): void
}
