// Options of the client and of its checks.
import type { EventIdentity, EventOptions } from './events.js'
import type { KeySource } from './http.js'
import type { Logger } from './logger.js'
import type { Check, Source } from './result.js'
import type { Keys } from './store.js'
import type { OpenSocket } from './stream.js'

/** The company and user of a check. */
export interface Context {
  readonly company?: Keys | null | undefined
  readonly user?: Keys | null | undefined
}

/** Use that a check assumes (FE-80…87). */
export interface Preflight {
  readonly usage?: number | null
  readonly event_usage?: { readonly event_subtype: string; readonly quantity: number } | null
  readonly credit_cost?: Readonly<Record<string, number>> | null
}

export interface CheckOptions {
  readonly preflight?: Preflight | null
  /** The value when no source answers. Absent: `defaults` of the client, else false. */
  readonly default?: boolean
  /** Absent: the order of the client. */
  readonly order?: readonly Source[]
  /** Longest wait for an answer over HTTP, ms. Absent: `httpMs` of the client. */
  readonly timeoutMs?: number
}

/** The members of a track event beside its name. */
export interface TrackOptions extends Context, EventIdentity {
  /** Default 1. */
  readonly quantity?: number
  readonly traits?: object
  /** The lease that the use is settled from. */
  readonly lease_id?: string
  /** The hold that the use settles. */
  readonly reservation_id?: string
}

/** A fixed result of a flag: its value, or members of a check. */
export type FixedValue = boolean | (Partial<Check> & { readonly value: boolean })

export interface ClientOptions {
  /** Base of the interface, e.g. `https://tollgate.example.com`. */
  readonly url?: string | undefined
  /** A key, or a function that gives the one that is valid now: it is called for each request. */
  readonly key?: KeySource | undefined
  /** With an account-wide key. */
  readonly environmentId?: string | undefined
  /** With a publishable key: the context that a server signed for this page. Called before each request. */
  readonly signedContext?: (() => string | Promise<string>) | undefined
  /** Keep definitions and companies in memory, fed by the stream. Needs a secret key. Default false. */
  readonly local?: boolean
  /**
   * With a publishable key and a signed context: hear over the stream when a check of this page may have changed.
   * Default: wherever both are given and the runtime has a `WebSocket`. false: pages ask from time to time.
   */
  readonly push?: boolean
  /** Sources of a check, in order. Default `local` (where it is on), `http`, `default`. */
  readonly order?: readonly Source[]
  /** Values of flags when no source answers. */
  readonly defaults?: Readonly<Record<string, boolean>>
  /** Values of flags that are fixed: no source is asked for them. For tests and development. */
  readonly values?: Readonly<Record<string, FixedValue>>
  /**
   * Ask and send nothing; `url` and `key` may be absent. Checks answer with `values`, then `defaults`; events are kept in
   * `recordedEvents`. For tests.
   */
  readonly offline?: boolean
  /** Where the client tells what goes wrong. Default the console; null: nowhere. */
  readonly logger?: Logger | null
  /** Longest wait for an answer over HTTP, ms. Default 2 000. */
  readonly httpMs?: number
  /** Longest wait for an entity that is not in memory yet, ms. Default 1 000. */
  readonly entityMs?: number
  /** Most companies, and most users, in memory. Default 10 000 of each. */
  readonly entitiesMax?: number
  /** Data in memory expires after the stream was disconnected for this long, ms. Default a day. */
  readonly staleMs?: number
  readonly events?: EventOptions
  /** Default the global one. */
  readonly fetch?: typeof fetch
  /** Default the global `WebSocket`; in Node before 22, which has none, the one of the package `ws`. */
  readonly webSocket?: OpenSocket
}

/** A change that listeners receive. */
export type Change =
  | { readonly type: 'ready' }
  /** Flags whose definitions changed. */
  | { readonly type: 'flags'; readonly keys: readonly string[] }
  /** A company or user changed. */
  | { readonly type: 'entity' }
  | { readonly type: 'connected' }
  | { readonly type: 'disconnected'; readonly reason: string }
