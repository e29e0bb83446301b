// The state of a company: plans, subscription, overrides, counters, accounts. Types only.

import type {
  ActorType,
  BillingSubscriptionTrialEndSetting,
  MigrationProrationBehavior,
  PlanChangeAction,
  PlanChangeBasePlanAction,
  PlanChangeSubscriptionAction,
  SubscriptionStatus,
  TrialStatus,
} from '../../../schemas/enums.js'
import type { SmallMap } from '../values/shared-names.js'
import type { CreditAccount } from './account-state.js'
import type { Counters } from './counters.js'
import type { StoredEntitlement } from './definitions.js'
import type { Entity } from './entity-state.js'

/**
 * All live state of one company. Owned by one shard thread and changed by `apply` alone.
 * Plain data, and little of it: names are kept once for all (`SmallMap`, `NamedTexts`), empty lists are one list.
 */
export interface Company extends Entity {
  plan: PlanHolding | null
  /** By date added (EN-23). */
  addOns: readonly PlanHolding[]
  /** Plans whose trial this company has already had (EN-90). */
  trialedPlanIds: readonly string[]
  subscriptions: readonly SubscriptionState[]
  /** Changes agreed for later; null for none (EN-95, EN-96). */
  schedule: PlanSchedule | null
  overrides: readonly OverrideState[]
  /**
   * The overdraft limit of its billing profile: credits as decimal text. It takes the place of the limits of its
   * plans that are postpaid; null leaves those in force.
   */
  overdraftLimit: string | null
  /** By event subtype (US-1). */
  counters: Counters
  /** By credit id. */
  credits: SmallMap<CreditAccount>
  /** Ids made for this company so far; see core/id.ts. */
  idsMade: number
  /** `now` of the last fact applied, epoch ms; 0 before the first. */
  timeMs: number
}

/** A plan or add-on a company is on, pinned to a version (EN-85). */
export interface PlanHolding {
  readonly planId: string
  readonly versionId: string
  readonly addedAtMs: number
  readonly priceId: string | null
  readonly trial: TrialState | null
  /** The subscription it came with (PB-51, PB-53). */
  readonly subscriptionId?: string | null
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
  /** Product, price and quantity of each item; absent in older states. */
  readonly items?: readonly SubscribedItem[]
  /** No provider reports renewals: periods begin on this instant's day of month and time, epoch ms. */
  readonly anchorMs?: number | null
  /** The same day and time of one that a provider reports, epoch ms; absent in older states. See `billingAnchor`. */
  readonly cycleAnchorMs?: number
  /** While it is past_due: from when on it gives no access, epoch ms. */
  readonly gatedAtMs?: number
  /** The part of an interval before the first anchor costs nothing (`prorate_first_period` false). */
  readonly isFirstFree?: true
  /** The last change of it that was not to be prorated, epoch ms; absent: none was (RA-29). */
  readonly unproratedAtMs?: number
}

export interface SubscribedItem {
  readonly productId: string
  readonly priceId: string
  readonly quantity?: number
}

/** A company override (EN-60…64): an entitlement of its own, with an optional end. */
export interface OverrideState {
  readonly id: string
  readonly entitlement: StoredEntitlement
  readonly expiresAtMs: number | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Units of a feature bought in advance, by the trait that carries them (EN-34). */
export interface BoughtQuantity {
  readonly trait: string
  readonly quantity: number
}

/** Author and operation of a plan change. */
export interface PlanChangeCause {
  readonly action: PlanChangeAction
  readonly actorType: ActorType
  readonly apiKeyId: string | null
  /** Effect on the subscription, for changes between billed plans (PB-32). */
  readonly subscriptionAction?: PlanChangeSubscriptionAction | null
  /** The migration or move that makes it: the record names it (MI-12). */
  readonly migrationId?: string
}

/** A migration's or move's change of a company: the way back (MI-30). */
export interface Moved {
  /** The plan or add-on before and after; null: none. */
  readonly was: PlanHolding | null
  readonly is: PlanHolding | null
  /** The own subscription that billed it, as it was; null: none. */
  readonly subscription: SubscriptionState | null
  /** Price paid before → the one in its place; null: it ended. */
  readonly prices: Readonly<Record<string, string | null>>
  /** Prices that nothing was paid for before (EN-35). */
  readonly added: readonly string[]
  /** Quantities bought in advance that ended, for the new version does not sell them (EN-71). */
  readonly seats?: readonly BoughtQuantity[]
}

/** Changes of plan already agreed that take effect by time alone (EN-95, EN-96). */
export interface PlanSchedule {
  /** The plans from that instant on. */
  readonly downgrade: {
    readonly effectiveAtMs: number
    readonly plan: PlanHolding | null
    readonly addOns: readonly PlanHolding[]
    /** The rest of the change: quantities bought in advance, and the subscription as it is then. */
    readonly quantities?: readonly BoughtQuantity[]
    readonly subscription?: SubscriptionState | null
    readonly cause?: PlanChangeCause
    readonly why?: PlanChangeBasePlanAction | null
  } | null
  /** At most one per plan (PB-23). */
  readonly migrations: readonly ScheduledMigration[]
}

/** A plan held that goes over to another version. */
export interface ScheduledMigration {
  readonly migrationId: string
  readonly planId: string
  readonly versionId: string
  /** The date of strategy `scheduled`; for others the date last told. `migrationDue` has the present one. */
  readonly effectiveAtMs: number | null
  /** When the company agreed: it waits for the first end of a period after that. Absent in older states. */
  readonly agreedAtMs?: number
  /** Absent: at the end of the billing period. */
  readonly strategy?: 'end_of_billing_period' | 'scheduled'
  readonly proration?: MigrationProrationBehavior | null
  /** Price of the present version → the one that takes its place (EN-97). */
  readonly priceIds: Readonly<Record<string, string>>
  /** The product of each price that takes a place. */
  readonly productIds?: Readonly<Record<string, string>>
  /** Prices of the plan that end, for the version does not sell what they were paid for. */
  readonly ended?: readonly string[]
  /** Prices for which the version has none of the same currency and interval: who pays one cannot move (N6). */
  readonly unsold?: readonly string[]
  /** Versions that cost nothing, where this one costs something: a company on one moves by payment alone (EN-97). */
  readonly unpaidFrom?: readonly string[]
  readonly commitments?: readonly Commitment[]
  /** For a move: the plan that `versionId` is a version of; absent: the same plan. */
  readonly toPlanId?: string
  /** For a move: the version costs something, so only who pays for a plan moves there (MI-13). */
  readonly isPaid?: boolean
}

/** A trait that carries a bought quantity, and the quantity a version commits its company to (EN-35). */
export interface Commitment {
  readonly trait: string
  readonly atLeast: number
  /** The prices at which the version sells a unit, one for each interval; absent: units cost nothing. */
  readonly sold?: readonly { readonly priceId: string; readonly productId: string; readonly months: number }[]
}

/** Billing terms of a move to another version. */
export type MigrationTerms = Pick<
  ScheduledMigration,
  | 'versionId'
  | 'priceIds'
  | 'productIds'
  | 'ended'
  | 'unsold'
  | 'unpaidFrom'
  | 'commitments'
  | 'toPlanId'
  | 'isPaid'
>

/** A company's state as far as its plans go. */
export type PlannedCompany = Pick<Company, 'plan' | 'addOns' | 'subscriptions' | 'schedule'>

/** The plans that count at an instant. */
export interface PlansInForce {
  readonly plan: PlanHolding | null
  /** By date added. */
  readonly addOns: readonly PlanHolding[]
}
