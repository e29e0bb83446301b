// Changes of a company's plans: messages, effects, and the records they leave. Types only.

import type {
  BillingSubscriptionTrialEndSetting,
  MigrationProrationBehavior,
  PlanChangeBasePlanAction,
  PlanMoveReason,
  TrialStatus,
} from '../../../schemas/enums.js'
import type { Quantity } from '../values/quantity.js'
import type { CreditMessage } from './account-state.js'
import type {
  BoughtQuantity,
  Commitment,
  Moved,
  PlanChangeCause,
  PlanHolding,
  PlanSchedule,
  SubscriptionState,
  TrialState,
} from './company-state.js'

/** The state a company is to be in, as a whole (PB-30). */
export interface PlansManaged {
  readonly type: 'manage_plan'
  /** Null: the fallback plan. */
  readonly basePlanId: string | null
  readonly addOnIds: readonly string[]
  /** Plan id → version, price, and the subscription it is billed by. */
  readonly versionIds: Readonly<Record<string, string>>
  readonly priceIds: Readonly<Record<string, string>>
  readonly billedBy: Readonly<Record<string, string>>
  readonly quantities: readonly BoughtQuantity[]
  /** Trial of the base plan (EN-94). */
  readonly trial: TrialState | null
  /** Subscriptions that change now. */
  readonly subscriptions: readonly SubscriptionState[]
  /** When the rest takes effect, epoch ms; null: now (EN-95). */
  readonly effectiveAtMs: number | null
  /** The subscription as it is from then on. */
  readonly subscriptionThen: SubscriptionState | null
  /** The running period is neither charged nor credited for the change (RA-29). */
  readonly unprorated?: true
  /** Credits bought with it, at once (CR-13). */
  readonly purchases: readonly (CreditMessage & { readonly type: 'credit_grant' })[]
  /** The company's settings for automatic top-up, by credit (CR-55). */
  readonly topups?: readonly (CreditMessage & { readonly type: 'credit_topup_settings' })[]
  readonly cause: PlanChangeCause
}

/** A plan at a version, as a record names it. */
export interface HeldVersion {
  readonly planId: string
  readonly versionId: string
}

/** The record of a change; never edited (PB-34). */
export interface PlanChangeRecord extends PlanChangeCause {
  readonly id: string
  readonly atMs: number
  /** Reason for this base plan, when no caller chose it. */
  readonly basePlanAction: PlanChangeBasePlanAction | null
  readonly from: HeldVersion | null
  readonly to: HeldVersion | null
  /** Plan ids. */
  readonly addOnsAdded: readonly string[]
  readonly addOnsRemoved: readonly string[]
  readonly trialStatus: TrialStatus | null
  readonly trialEndMs: number | null
  /** The way back from a migration or move; absent in older records. */
  readonly moved?: Moved
}

/** The plans a company is to be on, as a whole (PB-30). */
export interface PlansWanted {
  readonly type: 'change_plans'
  /** Null: the fallback plan. */
  readonly basePlanId: string | null
  /** Null: as they are. */
  readonly addOnIds: readonly string[] | null
  /** Plan id → the version asked for; else the one held, else the published one (PB-31). */
  readonly versionIds: Readonly<Record<string, string>>
  /** Plan id → the price it is sold at. */
  readonly priceIds: Readonly<Record<string, string>>
  readonly commitments: readonly Commitment[]
  readonly cause: PlanChangeCause
}

/** A plan held that is to go over to another version, or the base plan to another plan. */
export interface MigrationWanted {
  readonly type: 'migrate_plan'
  readonly migrationId: string
  /** The plan held; '': none, for a move. */
  readonly planId: string
  readonly versionId: string
  /** For a move: the plan that `versionId` is a version of. */
  readonly toPlanId?: string
  readonly isPaid?: boolean
  /** For a move: add-ons that the plan group does not allow beside the new plan. */
  readonly incompatible?: readonly string[]
  /** For a move: a company that uses more than the new limits allow stays (EN-87). */
  readonly withinLimits?: boolean
  /** Versions it may come from; null: any. */
  readonly fromVersionIds: readonly string[] | null
  /** At once, at the end of the running billing period, or at `dueMs` (PB-6). */
  readonly when: 'now' | 'period_end' | 'scheduled'
  /** The instant that was named for this company, epoch ms; null: none yet. */
  readonly dueMs?: number | null
  /** The company has agreed to it before: where it knows nothing of it any more, it was called off there (PB-23). */
  readonly agreed?: boolean
  readonly proration?: MigrationProrationBehavior | null
  readonly priceIds: Readonly<Record<string, string>>
  readonly productIds?: Readonly<Record<string, string>>
  readonly ended?: readonly string[]
  readonly unsold?: readonly string[]
  readonly unpaidFrom?: readonly string[]
  readonly commitments: readonly Commitment[]
  readonly cause: PlanChangeCause
}

/** A plan that a migration or move changed is to be what it was (MI-30). */
export interface PlanRestored {
  readonly type: 'restore_plan'
  /** The revert, and what it takes back. */
  readonly migrationId: string
  readonly moved: Moved
  readonly proration?: MigrationProrationBehavior | null
  readonly cause: PlanChangeCause
}

/** A migration that is not to happen any more. */
interface MigrationWithdrawn {
  readonly type: 'cancel_migration'
  readonly migrationId: string
}

/**
 * Only the common part of every message: changes that are due by time are journaled. Answered when they are durable.
 */
export interface Settling {
  readonly type: 'settle'
}

export type PlanMessage = PlansWanted | MigrationWanted | PlanRestored | MigrationWithdrawn | Settling

/** Why a company is not moved, or not moved back. */
export type MoveReason = PlanMoveReason

/** Result of a migration of one company. */
export interface MigrationReply {
  readonly outcome: 'completed' | 'failed' | 'scheduled' | 'skipped'
  /** Why it failed or was skipped. */
  readonly reason?: MoveReason | null
  readonly fromVersionId: string | null
  /** For a scheduled one; null while no date is known. */
  readonly effectiveAtMs: number | null
}

/** A trial that is over. */
export interface EndedTrial {
  /** Null: a plan's own, that no subscription bills. */
  readonly subscriptionId: string | null
  /** Null for a subscription that no plan depends on. */
  readonly planId: string | null
  readonly beganMs: number
  readonly endMs: number
  readonly endSetting: BillingSubscriptionTrialEndSetting
  readonly status: Exclude<TrialStatus, 'active'>
  /** When it was over: its end, or the instant at which it was cut short. */
  readonly atMs: number
}

export type PlanEffect =
  | { readonly t: 'plan_changed'; readonly change: PlanChangeRecord }
  /** Changes no state: for webhooks. */
  | { readonly t: 'trial_ended'; readonly trial: EndedTrial }
  | { readonly t: 'schedule'; readonly schedule: PlanSchedule | null }

/** The new plans, and the changes agreed for later. */
export interface NextPlans {
  readonly plan: PlanHolding | null
  readonly addOns: readonly PlanHolding[]
  readonly schedule: PlanSchedule | null
}

export type PlansHeld = Pick<NextPlans, 'plan' | 'addOns'>

/** Plans, scheduled changes and payment after a migration. */
export interface Migrated {
  readonly plan: PlanHolding | null
  readonly addOns: readonly PlanHolding[]
  readonly schedule: PlanSchedule | null
  /** Subscriptions that change. */
  readonly subscriptions: readonly SubscriptionState[]
}

export type SubscriptionMessage =
  | {
      readonly type: 'put_subscription'
      readonly subscription: SubscriptionState
      readonly cause: PlanChangeCause
    }
  /** It is another company's now. */
  | {
      readonly type: 'drop_subscription'
      readonly subscriptionId: string
      readonly cause: PlanChangeCause
    }
  /** Usage from history for a billing cycle that began in the middle of a window (US-3); epoch ms. */
  | { readonly type: 'cycle_counted'; readonly startMs: number; readonly counted: readonly CountedBefore[] }

export type SubscriptionEffect =
  | { readonly t: 'subscription'; readonly subscription: SubscriptionState }
  | { readonly t: 'subscription_removed'; readonly subscriptionId: string }
  /** Billing-cycle values put right; times epoch ms, 0 without events. */
  | {
      readonly t: 'cycle_counted'
      readonly startMs: number
      readonly values: readonly {
        readonly subtype: string
        readonly value: Quantity
        readonly minMs: number
        readonly maxMs: number
      }[]
    }

/** Reply to a subscription message. */
export interface SubscriptionReply {
  /** False: out of order, ignored (PB-54), or not there. */
  readonly accepted: boolean
  /** Billing-cycle counters whose new window is inexact: they must be recounted from history (US-3). */
  readonly recount: CycleRecount | null
}

export interface CycleRecount {
  /** Start of the cycle, epoch ms. */
  readonly startMs: number
  readonly subtypes: readonly string[]
}

/** Usage of one event before and after the start of a billing cycle, from history. */
interface CountedBefore {
  readonly subtype: string
  /** Quantity of all events before the start. */
  readonly before: Quantity
  /** Time of the first event since, epoch ms; null without one. */
  readonly firstMs: number | null
}
