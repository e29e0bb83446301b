// Keys and environments as the HTTP thread holds them: records, and what may be asked of them.
import type { EnvironmentType, KeyScope } from '../../../schemas/enums.js'
import type { ContextSecrets } from './signed-contexts.js'

/** The key that asks. */
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
  /** The first key: bound to an environment, and yet of the whole account (decision 14). Absent: false. */
  readonly bootstrap?: boolean
  /** When and from where it is taken; null or absent: always, from anywhere. */
  readonly conditions?: KeyConditions | null
}

/** What is asked of a key at each request, beside its scopes (src/api/keys/conditions.ts). */
export interface KeyConditions {
  readonly disabled: boolean
  /** Epoch ms. */
  readonly notBeforeMs: number | null
  /** Epoch ms, exclusive. */
  readonly expiresAtMs: number | null
  /** Null: any. */
  readonly addresses: AddressList | null
  /** The value that was shown is one that a roll has replaced; it is taken until `expiresAtMs`. */
  readonly replaced: boolean
}

/** Blocks of addresses. */
export interface AddressList {
  /** Whether the address lies in one of them; false for what is no address. */
  has(address: string): boolean
}

/** Permissions of a publishable key beside checks, identify and track. */
export interface PublishableKeyLimits {
  readonly createCompanies: boolean
  readonly addCompanyKeys: boolean
  /** Names of events that no definition counts. */
  readonly nameEvents: boolean
  readonly nameTraits: boolean
  /** The most that one event may count. */
  readonly quantityMax: number
  /** Some of it was set, and is not what environments of this type have. */
  readonly isOwn: boolean
}

export interface EnvironmentRecord {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly environmentType: EnvironmentType
  readonly requireContextSignature: boolean
  /** What its publishable key may do. */
  readonly publishable: PublishableKeyLimits
  /** What contexts are signed with; null: nothing yet. */
  readonly contextSecrets: ContextSecrets | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** A value that a roll replaced, as it is stored, and until when it is taken, epoch ms. */
export interface FormerValue {
  readonly hash: Uint8Array
  readonly untilMs: number
}

/** For whom an unknown key is looked up. */
export interface KeyAsker {
  mayAsk(): boolean
}

/** Keys and environments, in memory on the HTTP thread, backed by Postgres (src/engine/account/keys.ts). */
export interface Keys {
  /**
   * The key with this secret, or null. A known secret answers at once; an unknown one costs at most one look
   * into Postgres and is remembered briefly; all that are asked for in one tick share a statement. Throws `store_away`
   * when Postgres is needed and away.
   *
   * asker  whoever has asked too often for keys that nobody has is not looked up for; absent: always.
   */
  find(secret: string, asker?: KeyAsker): KeyRecord | null | Promise<KeyRecord | null>
  /** The key with this id, or null. Always in memory. */
  byId(keyId: string): KeyRecord | null
  /** The environment, or null. Always in memory. */
  environment(environmentId: string): EnvironmentRecord | null
  /** Environments of the account, oldest first. */
  environments(accountId: string): readonly EnvironmentRecord[]
  /** Notes a use at this time of the monotonic clock, ms; written at most once a minute per key (AL-4). */
  used(keyId: string, monotonicMs: number): void
  /** Writes to keys take turns, so that memory takes them over in the order of Postgres. */
  inOrder<T>(work: () => Promise<T>): Promise<T>
  /** What Postgres keeps of a value. */
  hash(value: string): Buffer
  /** Names the pepper of these hashes without telling it. */
  readonly pepperId: string
  /**
   * Takes over a key that was written; `hash` null: a key already known, changed. `former`: the value its last roll
   * replaced; left out, that of a key already known stays.
   */
  put(record: KeyRecord, hash: Uint8Array | null, former?: FormerValue | null): void
  /** The key is gone: from this tick nobody is let in by it (AL-3). */
  forget(keyId: string): void
  /** Takes over an environment that was written; one older than what is known is ignored. */
  putEnvironment(record: EnvironmentRecord): void
  /** The environment is gone, and its keys with it. */
  forgetEnvironment(environmentId: string): void
}
