// Requests from the HTTP thread to a shard, and notices that a shard sends by itself. Types only.

import type { CatalogData } from '../model/definitions.js'
import type {
  BackupFreeze,
  CheckCounts,
  CompanyMessage,
  EnvironmentMessage,
  Fact,
  IngestItem,
  OutlookQuestion,
  Question,
  UserMessage,
} from '../model/message.js'
import type { UsesRequest } from '../usage/batch.js'
import type { TestClock } from '../values/test-clock.js'

/** A request to a shard. `n` numbers it for its reply. */
export type ShardRequest =
  | {
      readonly n: number
      readonly k: 'c' | 'u' | 'e'
      readonly id: string
      readonly env: string
      /** `now` of the message, epoch ms. */
      readonly at: number
      /** The id was made for this request: there is nothing to load. */
      readonly fresh: boolean
      readonly m: CompanyMessage | UserMessage | EnvironmentMessage | Question
      /** The claim of the request's idempotency key (decision 37): its record names it. */
      readonly once?: string
    }
  /** Events that are acknowledged together: one reply when all are durable. */
  | { readonly n: number; readonly at: number; readonly events: readonly IngestItem[] }
  /** The same of track events of the usual kind. */
  | UsesRequest
  | OutlooksRequest
  | { readonly n: number; readonly control: ShardControl }

/**
 * From a front, over its own port: whether the shard has all of these companies in memory. It is asked before questions that
 * belong together, because a front hears `starting` of a company that must be loaded, and none of them may be counted then.
 */
export interface PresenceQuestion {
  readonly n: number
  readonly present: readonly string[]
}

/** A question to many companies of a shard; the reply is PlanOutlooks as text. Other requests are answered in between. */
export interface OutlooksRequest {
  readonly n: number
  readonly env: string
  /** `now`, epoch ms. */
  readonly at: number
  readonly companyIds: readonly string[]
  readonly question: OutlookQuestion
}

export type ShardControl =
  | { readonly type: 'catalog'; readonly data: CatalogData }
  | { readonly type: 'catalog_gone'; readonly environmentId: string }
  /** Freezes the parts that a backup reads; the reply is the freeze that was in force until now. */
  | { readonly type: 'hold'; readonly still: BackupFreeze }
  /** Write every changed actor's snapshot. */
  | { readonly type: 'checkpoint' }
  /** A checkpoint, after which the journal keeps no bytes of what came before, as soon as it may be trimmed. */
  | { readonly type: 'renew' }
  /** The reply leaves when everything before it is durable and answered. */
  | { readonly type: 'settle' }
  /**
   * Write down what has ended by time alone in the companies at hand: grants, holds, periods. `wallMs`: the wall clock, epoch ms.
   * `clocks`: test clocks, by environment; a frozen one stands here too (decision 11).
   */
  | { readonly type: 'sweep'; readonly wallMs: number; readonly clocks: Readonly<Record<string, TestClock>> }
  /** Report every check that is counted and not reported yet (FE-101). */
  | { readonly type: 'checks' }
  | { readonly type: 'stats' }
  /** The sequence behind which the shard has no record of the environment. */
  | { readonly type: 'last'; readonly environmentId: string }

/** Notices that a shard sends without a request. */
export type ShardNotice =
  | { readonly notice: 'ready'; readonly replayed: number }
  /** Failed writes are cut off the journal: none of them is durable. */
  | { readonly notice: 'mended' }
  /**
   * Found in a replay after a thread's death: identity effects, which the directory applies again, and idempotency
   * claims.
   */
  | { readonly notice: 'identity'; readonly facts: readonly Fact[] }
  /**
   * Several nodes only: a group is durable, and other nodes receive its entities before these replies (a packet, or
   * null) leave.
   */
  | { readonly notice: 'durable'; readonly facts: readonly Fact[]; readonly replies: unknown }
  /** Flag checks since the last notice (FE-100…103): counts, raw rows for ClickHouse, last check per flag. */
  | { readonly notice: 'checks'; readonly checks: CheckCounts }
  /** Where requests are traced: a group of records became durable; its write began and ended at these times, ms of the clock that all threads share. */
  | {
      readonly notice: 'group'
      readonly first: number
      readonly last: number
      readonly fromMs: number
      readonly toMs: number
    }

/** A shard's figures, on request. */
export interface ShardFigures {
  /** Actors in memory, and how many of them changed since their snapshot. */
  readonly actors: number
  readonly dirty: number
  /** Heap of its thread. */
  readonly heapBytes: number
  readonly journalPendingBytes: number
  /** Actors asked of storage since its thread started. */
  readonly coldLoads: number
  /** Checks of all flags answered again since then. */
  readonly wholesAgain: number
  /** Environments that have nearly as many names of events as a shard allows, with the part they have; refused uses. */
  readonly eventNames: readonly (readonly [environmentId: string, part: number])[]
  readonly eventNamesRefused: number
  /** Groups written since it was last asked: records, and seconds until they were durable. */
  readonly groups: readonly (readonly [records: number, seconds: number])[]
}
