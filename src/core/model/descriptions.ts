// An actor's state as snapshots and descriptions carry it. Types only.

import type { Quantity } from '../values/quantity.js'
import type { StoredText } from '../values/text-map.js'
import type { AccountJson } from './account-json.js'
import type { TopupSettings } from './account-state.js'
import type { OverrideState, PlanHolding, PlanSchedule, SubscriptionState } from './company-state.js'
import type { CounterReading, StoredCounter } from './counters.js'
import type { EntitlementReport } from './entitlement-report.js'

export interface EntitySnapshot {
  readonly id: string
  readonly environmentId: string
  readonly exists: boolean
  readonly name: string
  readonly keys: readonly StoredText[]
  readonly traits: readonly StoredText[]
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly lastSeenAtMs: number | null
  readonly sequence: number
  /** Traits set with publishable keys; absent: none. */
  readonly clientTraits?: readonly StoredText[]
  /** Traits that were removed, each without a value; absent: none. The last member. */
  readonly removedTraits?: readonly StoredText[]
}

/** A company without its counters and ledgers, which are most of it. */
export interface CompanyHead extends EntitySnapshot {
  readonly plan: PlanHolding | null
  readonly subscriptions: readonly SubscriptionState[]
  readonly schedule: PlanSchedule | null
  readonly overrides: readonly OverrideState[]
  /** Overdraft limit of the billing profile, credits as decimal text; absent: none. */
  readonly overdraftLimit?: string
  /** Chosen settings of auto top-up, by credit id. */
  readonly topups: readonly (readonly [creditId: string, settings: TopupSettings])[]
}

export interface CompanySnapshot extends EntitySnapshot {
  readonly plan: PlanHolding | null
  readonly addOns: readonly PlanHolding[]
  readonly trialedPlanIds: readonly string[]
  readonly subscriptions: readonly SubscriptionState[]
  readonly schedule: PlanSchedule | null
  readonly overrides: readonly OverrideState[]
  readonly counters: readonly (readonly [subtype: string, counter: StoredCounter])[]
  readonly credits: readonly AccountJson[]
  readonly idsMade: number
  /** The company's time, epoch ms: that of its last fact. */
  readonly timeMs: number
  /** Overdraft limit of the billing profile, credits as decimal text; absent: none. */
  readonly overdraftLimit?: string
}

export interface UserSnapshot extends EntitySnapshot {
  readonly memberships: readonly (readonly [companyId: string, joinedAtMs: number])[]
}

/** A company as its actor describes it at an instant: the state, and figures that only the core can compute. */
export interface CompanyDescription extends CompanyFigures {
  readonly state: CompanySnapshot
}

/** A company in a line of a list. */
export interface CompanyLine {
  readonly id: string
  readonly name: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number | null
  readonly planId: string | null
  readonly addOns: number
  /** The limited feature of which the largest part is used; null: none has a limit. */
  readonly closest: {
    readonly featureId: string
    readonly usage: Quantity
    readonly limit: Quantity
    readonly resetAtMs: number | null
  } | null
  /** Remaining credits by credit id. */
  readonly balances: Readonly<Record<string, number>>
}

/** Figures of a company at an instant. */
export interface CompanyFigures {
  /** Base plan and add-ons that count now (EN-93, PB-56…58), base plan first when there is one. */
  readonly plan: PlanHolding | null
  readonly addOns: readonly PlanHolding[]
  /** All windows of every counter as they read now. */
  readonly metrics: readonly (CounterReading & { readonly eventSubtype: string })[]
  /** The reported entitlement of each feature it has one for, by feature name (EN-23, EN-50). */
  readonly entitlements: readonly EntitlementReport[]
  /** Remaining, reserved, settled and total by credit id, as JSON numbers. */
  readonly balances: Readonly<
    Record<string, { remaining: number; reserved: number; settled: number; total: number }>
  >
}
