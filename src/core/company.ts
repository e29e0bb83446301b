// The company: its state, how a message is decided, how an effect changes it. Start reading here.
import type {
  BillingSubscriptionTrialEndSetting,
  SubscriptionStatus,
  TrialStatus,
} from '../../schemas/enums.js'
import type { EntitlementDef } from './catalog.js'
import type { CreditAccount } from './credit.js'
import type { Entity } from './entity.js'
import type { Counter } from './usage.js'

/**
 * All live state of one company. Owned by one shard thread and changed by `apply` alone.
 * Plain data with Maps: keys from callers ("__proto__" included) are data.
 */
export interface Company extends Entity {
  plan: PlanHolding | null
  /** By date added (EN-23). */
  addOns: PlanHolding[]
  /** Plans whose trial this company has already had (EN-90). */
  trialedPlanIds: string[]
  subscriptions: SubscriptionState[]
  overrides: OverrideState[]
  /** By event subtype (US-1). */
  counters: Map<string, Counter>
  /** By credit id. */
  credits: Map<string, CreditAccount>
  /** Ids made for this company so far; see core/id.ts. */
  idsMade: number
}

/** A plan or add-on a company is on, pinned to a version (EN-85). */
export interface PlanHolding {
  readonly planId: string
  readonly versionId: string
  readonly addedAtMs: number
  readonly priceId: string | null
  readonly trial: TrialState | null
}

export interface TrialState {
  readonly endMs: number
  readonly endSetting: BillingSubscriptionTrialEndSetting
  readonly status: TrialStatus
}

/** A billing subscription as the core needs it; its full record is stored beside (PB-50…58). */
export interface SubscriptionState {
  readonly id: string
  readonly externalId: string
  readonly status: SubscriptionStatus
  readonly periodStartMs: number
  readonly periodEndMs: number
  readonly intervalMonths: number
  readonly cancelAtPeriodEnd: boolean
  readonly cancelAtMs: number | null
  readonly trialEndMs: number | null
  readonly trialEndSetting: BillingSubscriptionTrialEndSetting | null
  readonly productIds: readonly string[]
}

/** A company override (EN-60…64): an entitlement of its own, with an optional end. */
export interface OverrideState {
  readonly id: string
  readonly entitlement: EntitlementDef
  readonly expiresAtMs: number | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}
