// Options of the client and of its checks.
import type { EventOptions } from './events.js'
import type { Source } from './result.js'
import type { Keys } from './store.js'
import type { OpenSocket } from './stream.js'

/** The company and user of a check. */
export interface Context {
  readonly company?: Keys | null
  readonly user?: Keys | null
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
}

export interface ClientOptions {
  /** Base of the interface, e.g. `https://tollgate.example.com`. */
  readonly url: string
  readonly key: string
  /** With an account-wide key. */
  readonly environmentId?: string
  /** With a publishable key: the context that a server signed for this page. Called before each request. */
  readonly signedContext?: () => string | Promise<string>
  /** Keep definitions and companies in memory, fed by the stream. Needs a secret key. Default false. */
  readonly local?: boolean
  /** Sources of a check, in order. Default `local` (where it is on), `http`, `default`. */
  readonly order?: readonly Source[]
  /** Values of flags when no source answers. */
  readonly defaults?: Readonly<Record<string, boolean>>
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
  /**
   * Default the global `WebSocket`. Node before 22 has none. There, pass
   * `(url, protocols) => new WebSocket(url, protocols)` of the package `ws`.
   */
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
