// Changes of a company's plans: messages, effects, and the records they leave. Types only.

import type {
  BillingSubscriptionTrialEndSetting,
  MigrationProrationBehavior,
  PlanChangeBasePlanAction,
  TrialStatus,
} from '../../../schemas/enums.js'
import type {
  BoughtQuantity,
  Commitment,
  PlanChangeCause,
  PlanHolding,
  PlanSchedule,
  SubscriptionState,
  TrialState,
} from '../company/company-state.js'
import type { CreditMessage } from '../credits/account-state.js'
import type { Quantity } from '../usage/quantity.js'

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
  /** Of the base plan (EN-94). */
  readonly trial: TrialState | null
  /** Subscriptions that change now. */
  readonly subscriptions: readonly SubscriptionState[]
  /** When the rest takes effect, epoch ms; null: now (EN-95). */
  readonly effectiveAtMs: number | null
  /** The subscription as it is from then on. */
  readonly subscriptionThen: SubscriptionState | null
  /** Credits bought with it, at once (CR-13). */
  readonly purchases: readonly (CreditMessage & { readonly type: 'credit_grant' })[]
  /** What the company chose about automatic top-up, by credit (CR-55). */
  readonly topups?: readonly (CreditMessage & { readonly type: 'credit_topup_settings' })[]
  readonly cause: PlanChangeCause
}

/** A plan at a version, as a record names it. */
export interface HeldVersion {
  readonly planId: string
  readonly versionId: string
}

/** What changed, once and for all (PB-34). */
export interface PlanChangeRecord extends PlanChangeCause {
  readonly id: string
  readonly atMs: number
  /** Why this base plan, when nobody chose it. */
  readonly basePlanAction: PlanChangeBasePlanAction | null
  readonly from: HeldVersion | null
  readonly to: HeldVersion | null
  /** Plan ids. */
  readonly addOnsAdded: readonly string[]
  readonly addOnsRemoved: readonly string[]
  readonly trialStatus: TrialStatus | null
  readonly trialEndMs: number | null
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

/** A plan held that is to go over to another version. */
export interface MigrationWanted {
  readonly type: 'migrate_plan'
  readonly migrationId: string
  readonly planId: string
  readonly versionId: string
  /** Versions it may come from; null: any. */
  readonly fromVersionIds: readonly string[] | null
  /** At once, at the end of the running billing period, or at `dueMs` (PB-6). */
  readonly when: 'now' | 'period_end' | 'scheduled'
  /** The instant that was named for this company, epoch ms; null: none yet. */
  readonly dueMs?: number | null
  readonly proration?: MigrationProrationBehavior | null
  readonly priceIds: Readonly<Record<string, string>>
  readonly productIds?: Readonly<Record<string, string>>
  readonly ended?: readonly string[]
  readonly commitments: readonly Commitment[]
  readonly cause: PlanChangeCause
}

/** A migration that is not to happen any more. */
export interface MigrationWithdrawn {
  readonly type: 'cancel_migration'
  readonly migrationId: string
}

/** Nothing but what every message begins with: what time has changed is written down. Answered when it is durable. */
export interface Settling {
  readonly type: 'settle'
}

export type PlanMessage = PlansWanted | MigrationWanted | MigrationWithdrawn | Settling

/** What became of a migration of one company. */
export interface MigrationReply {
  readonly outcome: 'completed' | 'scheduled' | 'skipped'
  readonly fromVersionId: string | null
  /** Of a scheduled one; null while no date can be named. */
  readonly effectiveAtMs: number | null
}

/** A trial that is over. */
export interface EndedTrial {
  /** Null: a plan's own, that no subscription bills. */
  readonly subscriptionId: string | null
  /** Null: of a subscription that no plan rests on. */
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
  /** Changes nothing: for those who are told. */
  | { readonly t: 'trial_ended'; readonly trial: EndedTrial }
  | { readonly t: 'schedule'; readonly schedule: PlanSchedule | null }

/** Plans and what was agreed for later, as they are to be. */
export interface NextPlans {
  readonly plan: PlanHolding | null
  readonly addOns: readonly PlanHolding[]
  readonly schedule: PlanSchedule | null
}

export type PlansHeld = Pick<NextPlans, 'plan' | 'addOns'>

/** Plans, what is agreed for later and what is paid, as a migration leaves them. */
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
  /** What history says of a billing cycle that began in the middle of a window (US-3); epoch ms. */
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

/** What an actor answers to a subscription. */
export interface SubscriptionReply {
  /** False: out of order, ignored (PB-54), or not there. */
  readonly accepted: boolean
  /** Billing-cycle counters that cannot tell their new window exactly: to be recounted from history (US-3). */
  readonly recount: CycleRecount | null
}

export interface CycleRecount {
  /** Start of the cycle, epoch ms. */
  readonly startMs: number
  readonly subtypes: readonly string[]
}

/** What history knows of one event from before and after the start of a billing cycle. */
export interface CountedBefore {
  readonly subtype: string
  /** Quantity of all events before the start. */
  readonly before: Quantity
  /** Time of the first event since, epoch ms; null without one. */
  readonly firstMs: number | null
}
