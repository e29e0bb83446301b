// The closed unions that cross the thread boundary and the journal: requests to an actor, its replies and refusals,
// and the effects that change it. Plain, structured-cloneable data.
import type { TraitType } from '../../../schemas/enums.js'
import type { Quantity } from '../values/quantity.js'
import type { CreditEffect, CreditMessage } from './account-state.js'
import type { OverrideState, PlanHolding } from './company-state.js'
import type { PlanVersionDef } from './definitions.js'
import type { KeyPair } from './entity-state.js'
import type { DomainEvent } from './notices.js'
import type {
  MigrationWanted,
  PlanEffect,
  PlanMessage,
  PlansManaged,
  SubscriptionEffect,
  SubscriptionMessage,
} from './plan-messages.js'
import type { AcceptedEvent, CheckAndReserve, CheckContext, Preflight, Refusal } from './requests.js'

/** An event that its company took without effect: its id, and why it is stored as failed (decision 27). */
export type FailedEvent = readonly [eventId: string, reason: string, repeats?: RepeatOf]

/** The event that an idempotency key was used by first, and whether the repeat says something else. */
export interface RepeatOf {
  readonly eventId: string
  readonly capturedAtMs: number
  readonly other: boolean
}

/** A trait write as the directory prepared it: `value` null removes (CU-34). */
export interface TraitWrite {
  readonly name: string
  readonly value: string | null
  /** Set with a publishable key: shown where no other source set the trait, and never read by a decision. */
  readonly client?: true
}

/** A trait seen for the first time in its environment (CU-30, CU-31). */
export interface TraitIntroduction {
  readonly name: string
  readonly hierarchy: readonly string[]
  readonly traitType: TraitType
}

/**
 * The wanted state of an entity in an upsert or identify; the directory has already decided which pairs it may claim.
 */
export interface EntityWrite {
  /** Pairs to add or re-map (CU-12). */
  readonly addKeys: readonly (readonly [name: string, value: string])[]
  readonly removeKeys: readonly string[]
  readonly name: string | null
  readonly traits: readonly TraitWrite[]
  readonly introduces: readonly TraitIntroduction[]
  /** When a new entity was made elsewhere, epoch ms; absent: now. */
  readonly createdAtMs?: number
  /** Explicit last_seen_at: taken as given (CU-46). */
  readonly lastSeenAtMs: number | null
  /** Time of the trait writes: last write wins by it (EV-42). */
  readonly atMs: number
}

/** Messages to a company's actor. */
export type CompanyMessage =
  | { readonly type: 'event'; readonly event: AcceptedEvent }
  /** Create the company if it does not exist; before the first event that names it (EV-31). */
  | { readonly type: 'ensure'; readonly write: EntityWrite }
  /** The company half of an identify event: traits, name, keys, last seen; the event's record is the user's. */
  | {
      readonly type: 'identify'
      readonly write: EntityWrite
      readonly seenAtMs: number | null
    }
  | {
      readonly type: 'upsert'
      readonly write: EntityWrite
      readonly updateOnly: boolean
      /** CU-13: refuse instead of re-mapping a name that has another value. */
      readonly preventRemap: boolean
      readonly basePlanId: string | null
      readonly basePlanPriceId: string | null
      /** The reply has the company after the write, in outline or in short; absent: neither. */
      readonly shows?: ShownQuestion
    }
  | {
      readonly type: 'increment_trait'
      readonly write: EntityWrite
      readonly name: string
      readonly by: Quantity
      readonly updateOnly: boolean
      readonly shows?: ShownQuestion
    }
  /** ifSequence: only while no later fact has changed it. */
  | { readonly type: 'delete'; readonly ifSequence?: number }
  | {
      readonly type: 'put_override'
      readonly override: OverrideState
      /** False: 400 when the feature already has one that has not expired (EN-4). */
      readonly replace: boolean
    }
  /** isOver: it has expired, and a new one may have taken its place: only its row is left. */
  | { readonly type: 'delete_override'; readonly overrideId: string; readonly isOver?: boolean }
  /** The overdraft limit of the company's billing profile: credits as decimal text; null leaves it to its plans. */
  | { readonly type: 'limit_overdraft'; readonly limit: string | null }
  | SubscriptionMessage
  | { readonly type: 'seen'; readonly atMs: number }
  | PlanMessage
  | PlansManaged
  | CreditMessage
  | CheckAndReserve
/** Messages to a user's actor. */
export type UserMessage =
  | {
      readonly type: 'event'
      readonly event: AcceptedEvent
      readonly write: EntityWrite | null
      readonly joins: readonly string[]
    }
  | {
      readonly type: 'upsert'
      readonly write: EntityWrite
      readonly updateOnly: boolean
      readonly preventRemap: boolean
      /** Companies to add. */
      readonly joins: readonly string[]
      /** The exhaustive list (CU-20); null leaves memberships as they are. */
      readonly exactly: readonly string[] | null
      /** The reply has the user after the write, in short; absent: it has not. */
      readonly shows?: BriefQuestion
    }
  | {
      readonly type: 'increment_trait'
      readonly write: EntityWrite
      readonly name: string
      readonly by: Quantity
      readonly updateOnly: boolean
      readonly shows?: BriefQuestion
    }
  /** Create the user if it does not exist, and see to its memberships (EV-31, EV-35). */
  | { readonly type: 'ensure'; readonly write: EntityWrite; readonly joins: readonly string[] }
  | { readonly type: 'seen'; readonly atMs: number }
  | { readonly type: 'join'; readonly companyId: string }
  | { readonly type: 'leave'; readonly companyId: string }
  | { readonly type: 'delete' }

/** Messages to an environment's own actor: events that name no company (and no user). */
export type EnvironmentMessage = { readonly type: 'event'; readonly event: AcceptedEvent }
/** The changes of a company or user. Each carries resolved amounts and times, so that replay needs no definitions. */
export type Effect =
  | {
      readonly t: 'created'
      readonly name: string
      readonly atMs: number
    }
  /** `was`: the value the name had, whose pair is free again (CU-12). */
  | { readonly t: 'key'; readonly name: string; readonly value: string; readonly was: string | null }
  | { readonly t: 'key_removed'; readonly name: string; readonly value: string }
  | { readonly t: 'named'; readonly name: string }
  | { readonly t: 'trait_introduced'; readonly trait: TraitIntroduction }
  | { readonly t: 'trait'; readonly name: string; readonly value: string | null; readonly atMs: number }
  /** A trait set with a publishable key. */
  | {
      readonly t: 'client_trait'
      readonly name: string
      readonly value: string | null
      readonly atMs: number
    }
  /** Traits that a later write left as they were: their value, or that they are not there, holds from then (EV-42). */
  | { readonly t: 'traits_held'; readonly names: readonly string[]; readonly atMs: number }
  | { readonly t: 'touched' }
  /** The request under an idempotency key that made this record (decision 37): found again after a kill. No state. */
  | { readonly t: 'once'; readonly claim: string }
  | { readonly t: 'seen'; readonly atMs: number }
  /** An explicit last_seen_at, also backwards (CU-46). */
  | { readonly t: 'seen_set'; readonly atMs: number }
  | {
      readonly t: 'used'
      readonly subtype: string
      readonly quantity: Quantity
      readonly atMs: number
    }
  | { readonly t: 'joined'; readonly companyId: string }
  | { readonly t: 'left'; readonly companyId: string }
  /** With the pairs that are free again (CU-50). */
  | { readonly t: 'deleted'; readonly keys: readonly KeyPair[] }
  | { readonly t: 'override'; readonly override: OverrideState }
  | { readonly t: 'override_removed'; readonly overrideId: string }
  /** An expired override makes room for a new one; its row stays readable (EN-60). */
  | { readonly t: 'override_over'; readonly overrideId: string }
  /** Overdraft limit of the company's billing profile: credits as decimal text; null leaves it to the plans. */
  | { readonly t: 'overdraft_limit'; readonly limit: string | null }
  | { readonly t: 'plan'; readonly plan: PlanHolding | null }
  | { readonly t: 'add_ons'; readonly addOns: readonly PlanHolding[] }
  | PlanEffect
  | SubscriptionEffect
  | CreditEffect

/**
 * One journal record: the decision for one actor at one instant. Member names are short, because there are millions.
 */
export interface Fact {
  /** Actor kind: c, u or e. */
  readonly k: 'c' | 'u' | 'e'
  readonly id: string
  readonly env: string
  /** `now` of the message, epoch ms. */
  readonly at: number
  /**
   * Domain events for webhooks (company/domain-events.ts): the outbox gets them in the transaction that projects the
   * fact. The member precedes the effects: readers of the ledger read a fact from its credit movements to its end.
   */
  readonly tell?: readonly DomainEvent[]
  readonly fx: readonly Effect[]
  /** Idempotency claim of an event: key, event id, captured_at ms (EV-25…27). */
  readonly ik?: readonly [key: string, eventId: string, capturedAtMs: number]
}

/** The result of deciding. A refusal has no effects. */
export type Decision<Reply = unknown> =
  | { readonly reply: Reply; readonly effects: readonly Effect[] }
  | { readonly refused: Refusal; readonly detail?: string }
/**
 * Asks for the outline of a company.
 *
 * eventNamesMax  figures of the names used last, at most so many; absent: 100.
 * known          the mark of figures that the asker keeps: the same ones are left out. '': none are kept yet. Absent: nothing
 *                is to be kept.
 */
export interface OutlineQuestion {
  readonly type: 'outline'
  readonly eventNamesMax?: number | undefined
  readonly known?: string
}
/** Its name and times: EntityBrief; null when there is none. After a write its pairs too: WrittenEntity. */
export interface BriefQuestion {
  readonly type: 'brief'
}

/** How the reply to a write shows what was written. */
export type ShownQuestion = OutlineQuestion | BriefQuestion

/** Asks what a migration or move would do to companies at once: PlanOutlooks (company/outlook.ts). */
export interface OutlookQuestion {
  readonly wanted: MigrationWanted
  /** The version that `wanted` names, while it is a draft and no catalog has it. */
  readonly draft: PlanVersionDef | null
}

/** Reads: answered at once, from memory; they change nothing and are not journaled. */
export type Question =
  /**
   * One flag; the reply is the serialised CheckFlag, or null for an unknown key.
   *
   * timed  the reply says until when it holds, and whether it rests on usage
   */
  | {
      readonly type: 'check'
      readonly timed: boolean
      readonly flagKey: string
      readonly preflight: Preflight | null
      readonly context: CheckContext
    }
  /**
   * Every flag; the reply is the serialised CheckFlags.
   *
   * whole  the reply is the whole body of a response without parameters, and may be bytes (src/wire/reply-ring.ts): for
   *        one of the same process, who sends it at once
   */
  | { readonly type: 'check_all'; readonly whole: boolean; readonly context: CheckContext }
  /**
   * The whole entity as plain data: CompanyDescription or UserSnapshot; null when it does not exist. A company with
   * more event names than `eventNamesMax` includes only the figures of the most recently used ones.
   */
  | { readonly type: 'describe'; readonly eventNamesMax?: number }
  /** The parts of a company that its view shows (src/wire/company-outline.ts), as one text; null as above. */
  | OutlineQuestion
  /** A line about a company for lists: CompanyLine; null when it does not exist. */
  | { readonly type: 'line' }
  /** Why a flag has its value: Explanation; null for an unknown key (flags/explain.ts). Nothing is counted. */
  | {
      readonly type: 'explain'
      readonly flagKey: string
      readonly preflight: Preflight | null
      readonly context: CheckContext
    }
  /** Usage of the entitled features, or of some, by feature name (US-5, US-8), as one text (src/wire/usage-rows.ts). */
  | {
      readonly type: 'feature_usage'
      readonly withoutNegative: boolean
      readonly featureIds?: readonly string[] | undefined
    }
  | BriefQuestion
  /**
   * The snapshot from which a client evaluates flags, in parts (src/wire/snapshot-parts.ts); null when there is none.
   *
   * since     the mark of the last answer: only parts changed since; '': all parts
   * usedOnly  nothing but use has changed since then
   */
  | { readonly type: 'engine'; readonly since: string; readonly usedOnly: boolean }
  /** Its credits: CreditsDescription; null when there is none. Answered once what time moved is durable. */
  | { readonly type: 'credits' }

const questions: ReadonlySet<string> = new Set<Question['type']>([
  'check',
  'check_all',
  'brief',
  'credits',
  'describe',
  'engine',
  'explain',
  'feature_usage',
  'line',
  'outline',
])

/** Whether a message changes nothing. */
export function isQuestion(m: { readonly type: string }): m is Question {
  return questions.has(m.type)
}

/** A request before it has its number. */
export type Unnumbered<Request> = Request extends unknown ? Omit<Request, 'n'> : never

/** One event on its way to the actor that keeps its record. */
export interface IngestItem {
  readonly k: 'c' | 'u' | 'e'
  readonly id: string
  readonly env: string
  readonly fresh: boolean
  readonly m: (CompanyMessage | UserMessage | EnvironmentMessage) & { readonly type: 'event' }
}

/** Nothing; the journal's beginning; the stored snapshots too. */
export type BackupFreeze = 'nothing' | 'journal' | 'snapshots'

/** Flag checks gathered by a shard. */
export interface CheckCounts {
  /** Rows as JSONEachRow text of table flag_checks. */
  readonly counts: readonly string[]
  /** Rows as JSONEachRow text of table events. */
  readonly rows: readonly string[]
  /** Latest check per flag, epoch ms. */
  readonly flags: readonly (readonly [environmentId: string, flagKey: string, atMs: number])[]
  readonly users: readonly SeenUsers[]
}

/** Users of an environment by id, and the latest check of each, epoch ms. Two flat lists cross between threads cheaply. */
export interface SeenUsers {
  readonly environmentId: string
  readonly ids: readonly string[]
  readonly atMs: readonly number[]
}
