// The request and answer of a handler. This file does not depend on the HTTP server: tests call handlers directly.

import type { Sql } from 'postgres'
import type { EnvironmentRecord, KeyRecord } from '../account/key-types.js'
import type { SignedContext } from '../account/signed-contexts.js'
import type { Pieces } from '../json.js'
import type { Services } from './services.js'

export type {
  AddressList,
  EnvironmentRecord,
  KeyConditions,
  KeyRecord,
  PublishableKeyLimits,
} from '../account/key-types.js'

/** The key named by an event, with its environment and signed context. */
export interface NamedKey {
  readonly key: KeyRecord
  readonly environment: EnvironmentRecord | null
  readonly signed: SignedContext | null
}

/** A body as received (decompressed), for operations that parse it themselves. */
export interface RawBody {
  readonly byteLength: number
  /** Its media type in lower case, without parameters; '' when none was given. */
  readonly type: string
  /** Attributes of a CloudEvent in binary mode, by their names without `ce-`; absent: it is none. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Decoded as UTF-8. */
  text(): string
  /** View of a body that is not large. Read it before the handler returns: the server reuses the memory. */
  readonly view?: Buffer
  /** Bytes of a large body. They may be transferred to another thread; assign what comes back. */
  bytes?: Uint8Array
}

/** One request: authenticated, within its rate limits, and parsed. */
export interface Call<Body = undefined, Query = Readonly<Record<string, never>>> {
  readonly services: Services
  readonly key: KeyRecord
  /** The request's environment; throws `environment_required` (400) when the key is account-wide and none was named. */
  readonly environment: EnvironmentRecord
  /** The environment, or null for account-level operations. */
  readonly environmentOrNull: EnvironmentRecord | null
  /** Path parameters by their name in the route. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** The body's text, decompressed; '' where the handler parses it itself. */
  readonly text: string
  /** The environment's present (its test clock applied), epoch ms; the wall clock for account-level operations. */
  readonly nowMs: number
  readonly remoteIp: string
  readonly userAgent: string
  /** The signed context of a publishable key's holder; absent or null: none. */
  readonly signed?: SignedContext | null
  /**
   * Writes the request's audit row in the transaction of the change, so that neither is stored without the other.
   * `catalogs.change` calls it for changes of definitions. Absent where no audit log is kept.
   */
  record?(tx: Sql): Promise<void>
  /**
   * Asks the request's If-Match in the transaction of the change, under its lock and before anything is written (decision
   * 38). `catalogs.change` does it for changes of definitions. Absent: there is none. errors: precondition_failed (412).
   */
  holds?(tx: Sql): Promise<void>
  /**
   * Called when the request is durable: from then on the caller gets at least 202, even if a later step fails.
   * Absent: never called.
   */
  taken?(): void
  /**
   * Charges the key with what the request costs beyond its first token, before the work is done. Absent: nothing is
   * limited. errors: rate_limited (429) when the key's budget is overdrawn already.
   */
  charge?(tokens: number): void
  /** Charges the key with bytes that a signed context adds to events, and never refuses. Absent: nothing is limited. */
  chargeAdded?(bytes: number): void
  /** The ETag of the representation that the caller has; '' or absent: none. Read where the row's protocol knows it. */
  readonly ifNoneMatch?: string
  /** The caller wants a short answer (`Prefer: return=minimal`); absent where the route has no such answer. */
  readonly minimal?: boolean
  /**
   * Resolves keys named in the body, each checked like a key in the header; null: unknown, or not allowed to send
   * events. errors: body_invalid (400) for more than ten; rate_limited (429) when one exceeds its limit.
   */
  readonly named?: (secrets: readonly string[]) => Promise<ReadonlyMap<string, NamedKey | null>>
  /** Whether the caller has disconnected. */
  readonly gone?: boolean
}

/** A handler's answer; `params` echoes the path and query parameters of the request (AL-33). */
export interface Answer {
  /** Defaults to the route's status. */
  readonly status?: number
  readonly data?: unknown
  /** Its length was charged already. */
  readonly isPaid?: boolean
  /** The part of `data` that the audit log keeps; absent: all of it. */
  readonly noted?: unknown
  /** A change of `data` that waits for a publish: a part of the tag (decision 38). */
  readonly waiting?: string | null
  /** A write that made nothing though it succeeded: its idempotency key is free again (decision 37). */
  readonly madeNothing?: boolean
  /** The serialised `data`, if the shard already wrote it. */
  readonly json?: string
  /** The serialised `data` in pieces, for large answers; joined when written. */
  readonly pieces?: Pieces
  /** The complete serialised body, for routes with their own response format. */
  readonly whole?: string
  /**
   * The complete body as bytes, including the envelope, for a request without parameters. Up to 64 KiB they are
   * copied at once and the buffer may be reused.
   */
  readonly bytes?: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** Streamed without an envelope, as fast as the caller reads. A failure cuts the connection. */
  readonly stream?: Stream
}

/** Receives the answer of a `Later`. */
export interface Listener {
  succeed(answer: Answer): void
  fail(error: unknown): void
}

/**
 * A deferred answer: like a promise, but without microtasks, for the hot paths. Call `resolve` or `reject` once; one
 * listener receives the outcome, before or after.
 */
export class Deferred<Given = unknown> {
  private listener: Listener | null = null
  /** The outcome, if it came before the listener. */
  private early: { readonly given: Given } | { readonly error: unknown } | null = null

  /** `make` builds the answer from the resolved value; an error it throws becomes the failure. */
  constructor(private readonly make: ((given: Given) => Answer) | null) {}

  /** Subclasses may build the answer themselves. */
  protected answerOf(given: Given): Answer {
    return this.make!(given)
  }

  resolve(given: Given): void {
    const { listener } = this
    if (listener === null) {
      this.early = { given }
      return
    }
    let answer: Answer
    try {
      answer = this.answerOf(given)
    } catch (error) {
      listener.fail(error)
      return
    }
    listener.succeed(answer)
  }

  reject(error: unknown): void {
    if (this.listener === null) this.early = { error }
    else this.listener.fail(error)
  }

  listen(listener: Listener): void {
    this.listener = listener
    if (this.early === null) return
    if ('error' in this.early) this.reject(this.early.error)
    else this.resolve(this.early.given)
  }
}

/** A streamed answer. */
export interface Stream {
  /** Content-Type. */
  readonly type: string
  /** File name: browsers then save the answer instead of showing it. */
  readonly name?: string
  readonly pieces: AsyncIterable<Uint8Array>
}

export type Handler<Body = undefined, Query = Readonly<Record<string, never>>> = (
  call: Call<Body, Query>,
) => Answer | Deferred | Promise<Answer>
