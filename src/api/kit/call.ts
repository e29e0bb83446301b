// What a handler receives and returns. No trace of the HTTP server: handlers are called directly in tests.

import type { Sql } from 'postgres'
import type { EnvironmentRecord, KeyRecord } from '../../engine/account/key-types.js'
import type { SignedContext } from '../../engine/account/signed-contexts.js'
import type { Standing } from '../../engine/cache/response-cache.js'
import type { Services } from './services.js'

export type {
  AddressList,
  EnvironmentRecord,
  KeyConditions,
  KeyRecord,
  PublishableKeyLimits,
} from '../../engine/account/key-types.js'

/** The key that an event names, with its environment and signed context. */
export interface Voice {
  readonly key: KeyRecord
  readonly environment: EnvironmentRecord | null
  readonly signed: SignedContext | null
}

/** A body as it was received (decompressed), for operations that parse it themselves. */
export interface RawBody {
  readonly byteLength: number
  /** Its media type in lower case, without parameters; '' when none was given. */
  readonly type: string
  /** Decoded as UTF-8. */
  text(): string
  /** A body that is not large, where it lies: to be read before the handler returns. */
  readonly lies?: Buffer
  /** Of a large body, which may be read on another thread: its bytes. Who hands them over puts back what comes back. */
  bytes?: Uint8Array
}

/** One request, authenticated, admitted and parsed. */
export interface Call<Body = undefined, Query = Readonly<Record<string, never>>> {
  readonly services: Services
  readonly key: KeyRecord
  /** The environment the request works in; throws `environment_required` (400) when the key is account-wide and none was named. */
  readonly environment: EnvironmentRecord
  /** The same, or null where the operation is account-level. */
  readonly environmentOrNull: EnvironmentRecord | null
  /** Path parameters by their name in the route. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** The body as it came, decompressed; '' where a handler parses it itself. */
  readonly text: string
  /** The environment's present (its test clock applied), epoch ms; the wall clock for account-level operations. */
  readonly nowMs: number
  readonly remoteIp: string
  readonly userAgent: string
  /** What a server signed for this caller, who holds a publishable key; absent or null: nothing. */
  readonly signed?: SignedContext | null
  /**
   * Writes the request's row of the audit log in the transaction of the change it asks for: without it there is no
   * change. Changes of definitions (`catalogs.change`) do so by themselves. Absent where no audit log is kept.
   */
  record?(tx: Sql): Promise<void>
  /** What the caller already has, as its ETag; '' or absent: nothing. Read where the row's protocol knows it. */
  readonly ifNoneMatch?: string
  /** Whether an answer that stands for a while is kept, if the handler says what it rests on. */
  readonly keeps?: boolean
  /**
   * Whose the keys are that events of the body name, each judged as if it stood in the header; null: nobody's, or one
   * that may not send events. errors: body_invalid (400) for more than ten; rate_limited (429) when one is over a limit.
   */
  readonly named?: (secrets: readonly string[]) => Promise<ReadonlyMap<string, Voice | null>>
  /** Whether the caller has left. */
  readonly gone?: boolean
}

/** What a handler answers; `params` is the echo of the path and query parameters given (AL-33). */
export interface Answer {
  /** Defaults to the route's status. */
  readonly status?: number
  readonly data?: unknown
  /** The serialised `data`, when the shard already wrote it. */
  readonly json?: string
  /** The same in pieces, where there is much of it: they are joined as they are written. */
  readonly pieces?: readonly string[]
  /** The whole serialised body, where a protocol says what it looks like. */
  readonly whole?: string
  /**
   * The same as bytes, envelope and all, of a request without parameters. Up to 64 KiB they are read at once, and may be
   * used again.
   */
  readonly bytes?: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** Of an answer that may be kept and given again: what it rests on. */
  readonly standing?: Standing
  /** Sent as it is, without an envelope, piece by piece as the caller takes it. A failure cuts the connection. */
  readonly stream?: Stream
}

/** Who is told of an answer that comes later. */
export interface Listener {
  succeed(answer: Answer): void
  fail(error: unknown): void
}

/**
 * An answer that comes later: what a promise is, for the hot paths, without the turns a promise takes. Told once, by
 * `resolve` or `reject`, and heard by one listener, whichever comes first.
 */
export class Later<Given = unknown> {
  private listener: Listener | null = null
  /** What was told before anyone listened. */
  private early: { readonly given: Given } | { readonly error: unknown } | null = null

  /** `make` makes the answer of what this is resolved with; what it throws is told as the failure. */
  constructor(private readonly make: ((given: Given) => Answer) | null) {}

  /** For those that make it themselves. */
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

/** An answer that is not gathered in memory. */
export interface Stream {
  /** Content-Type. */
  readonly type: string
  /** Of the file that a browser keeps it as, instead of showing it. */
  readonly name?: string
  readonly pieces: AsyncIterable<Uint8Array>
}

export type Handler<Body = undefined, Query = Readonly<Record<string, never>>> = (
  call: Call<Body, Query>,
) => Answer | Later | Promise<Answer>
