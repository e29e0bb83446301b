// What a client is told when it is made, and what a check is about.
import type { EventOptions } from './events.js'
import type { Source } from './result.js'
import type { Keys } from './store.js'
import type { OpenSocket } from './stream.js'

/** Whom a check is about. */
export interface Context {
  readonly company?: Keys | null
  readonly user?: Keys | null
}

/** Use that a check supposes (FE-80…87). */
export interface Preflight {
  readonly usage?: number | null
  readonly event_usage?: { readonly event_subtype: string; readonly quantity: number } | null
  readonly credit_cost?: Readonly<Record<string, number>> | null
}

export interface CheckOptions {
  readonly preflight?: Preflight | null
  /** The value where nobody can be asked. Absent: `defaults` of the client, else false. */
  readonly default?: boolean
  /** Absent: that of the client. */
  readonly order?: readonly Source[]
}

export interface ClientOptions {
  /** Base of the interface, e.g. `https://tollgate.example.com`. */
  readonly url: string
  readonly key: string
  /** With an account-wide key. */
  readonly environmentId?: string
  /** With a publishable key: what a server signed for this page; asked before each request. */
  readonly signedContext?: () => string | Promise<string>
  /** Hold definitions and companies here, fed by the stream. Needs a secret key. Default false. */
  readonly local?: boolean
  /** Who is asked for a check, in order. Default `local` (where it is on), `http`, `default`. */
  readonly order?: readonly Source[]
  /** Values of flags where nobody can be asked. */
  readonly defaults?: Readonly<Record<string, boolean>>
  /** Longest wait for an answer over HTTP, ms. Default 2 000. */
  readonly httpMs?: number
  /** Longest wait for an entity that is not held yet, ms. Default 1 000. */
  readonly entityMs?: number
  /** Companies, and users, that are held. Default 10 000 of each. */
  readonly entitiesMax?: number
  /** Once the stream is down for this long, what is held answers no more, ms. Default a day. */
  readonly staleMs?: number
  readonly events?: EventOptions
  /** Default the global one. */
  readonly fetch?: typeof fetch
  /** Default the global `WebSocket`. Node before 22 has none: pass `(url, protocols) => new WebSocket(url, protocols)` of the package `ws`. */
  readonly webSocket?: OpenSocket
}

/** What is told to listeners. */
export type Change =
  | { readonly type: 'ready' }
  /** Flags whose definitions changed. */
  | { readonly type: 'flags'; readonly keys: readonly string[] }
  /** A company or user changed. */
  | { readonly type: 'entity' }
  | { readonly type: 'connected' }
  | { readonly type: 'disconnected'; readonly reason: string }
