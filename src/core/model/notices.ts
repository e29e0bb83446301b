// Domain events that webhooks may ask for, and the readings they are worked out from. Types only.

import type { WebhookRequestType } from '../../../schemas/enums.js'
import type { Quantity } from '../values/quantity.js'
import type { TopupFailure } from './account-state.js'
import type { OverrideState } from './company-state.js'
import type { CompanyDescription, UserSnapshot } from './descriptions.js'
import type { PlanChangeRecord } from './plan-messages.js'

/** The subject of an event: data that only the actor has. */
export type Subject =
  /** Made or changed: as it is now. */
  | { readonly subject: 'entity' }
  /** As it was; null when that is more than `lastBytesMax`. */
  | { readonly subject: 'company_gone'; readonly last: CompanyDescription | null }
  | { readonly subject: 'user_gone'; readonly last: UserSnapshot | null }
  | { readonly subject: 'override'; readonly override: OverrideState }
  | { readonly subject: 'plans'; readonly change: PlanChangeRecord }
  | { readonly subject: 'limit'; readonly limit: LimitCrossing }
  | { readonly subject: 'credit'; readonly credit: CreditCrossing }
  | { readonly subject: 'budget'; readonly budget: BudgetCrossing }
  /** Credits bought, in a bundle or by auto top-up; quantity as the wire shows it. */
  | {
      readonly subject: 'granted'
      readonly creditId: string
      readonly grantId: string
      readonly quantity: number
      readonly bundleId: string | null
    }
  | {
      readonly subject: 'topup_failed'
      readonly creditId: string
      readonly failures: number
      /** Null: it may still succeed. */
      readonly hard: TopupFailure | null
    }

/** A domain event beside a fact's effects: a type that some webhook asks for, and its subject. Plain JSON. */
export type DomainEvent = Subject & { readonly type: WebhookRequestType }

/** A notice with the company or user it is about, as the outbox keeps it. */
export type DatedDomainEvent = DomainEvent & {
  readonly k: 'c' | 'u'
  readonly id: string
  readonly env: string
  /** Epoch ms. */
  readonly at: number
}

/** Usage of one feature against everything that is warned about, at one instant. */
export interface LimitReading {
  readonly featureId: string
  readonly entitlementId: string
  readonly usage: Quantity
  readonly allocation: Quantity | null
  readonly softLimit: Quantity | null
  /** Inclusive ends of the price tiers that have one. */
  readonly tierLimits: readonly Quantity[]
  readonly warningTiers: readonly WarningTier[]
  /** When the usage starts again, epoch ms; null: never. */
  readonly resetAtMs: number | null
}

export interface WarningTier {
  readonly key: string
  readonly value: number
}

/** A point that usage came to or passed. */
export interface LimitCrossing extends Omit<LimitReading, 'tierLimits' | 'warningTiers' | 'softLimit'> {
  readonly type: WebhookRequestType
  /** The limit the point belongs to. */
  readonly limit: Quantity
  /** The caller's own warning tier. */
  readonly warningTier: WarningTier | null
}

export interface Point {
  readonly type: WebhookRequestType
  readonly at: Quantity
  readonly limit: Quantity
  readonly warningTier: WarningTier | null
}

/** How much of a credit is used, in billionths. */
export interface CreditReading {
  readonly used: bigint
  readonly total: bigint
  readonly remaining: bigint
}

/** The bound of a spend policy that use of a credit came to or passed in a window; credits as the wire shows them. */
interface BudgetCrossing {
  readonly policyId: string
  readonly creditId: string
  readonly spent: number
  readonly max: number
  /** Epoch ms. */
  readonly resetAtMs: number
}

/** A point that use of a credit came to or passed; credits as the wire shows them. */
export interface CreditCrossing {
  readonly type: WebhookRequestType
  readonly creditId: string
  readonly balance: number
  readonly limit: number
}
