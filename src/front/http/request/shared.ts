// State shared by all requests of a server: services, counters, logging, and writing of responses.

import { type Config, checkingThreads } from '../../../config.js'
import { type ErrorCode, ServiceError } from '../../../errors.js'
import type { Services } from '../../../kit/services.js'
import type { Logger, RequestLine } from '../../../log.js'
import type { Metrics } from '../../../metrics.js'
import { ByteShares } from '../../../turns/byte-shares.js'
import type { AuditSink } from '../admission/audit-entry.js'
import { Cors } from '../admission/cors.js'
import type { Limits } from '../admission/limits.js'
import { UnauthenticatedLimiter } from '../admission/unauthenticated-limiter.js'
import type { App, AppResponse } from '../apps/app.js'
import { Head } from './head.js'
import { LongBodies } from './long-bodies.js'
import { headOf, isBodiless, type Reply } from './respond.js'
import { UnreadAnswers } from './unread-answers.js'

export interface SharedOptions {
  readonly config: Pick<
    Config,
    | 'apiKeyHeaders'
    | 'environmentHeaders'
    | 'trustProxy'
    | 'slowRequestMs'
    | 'drainMs'
    | 'bodiesBytesMax'
    | 'fronts'
    | 'authFailuresPerSecond'
    | 'corsOrigins'
    | 'chunkedBodies'
    | 'metricsToken'
    | 'metricsAddress'
    | 'publicUrl'
    | 'streamConnectionsMax'
    | 'streamConnectionsPerKeyMax'
    | 'streamPagesMax'
    | 'streamMessagesPerSecond'
  >
  readonly log: Logger
  readonly metrics: Metrics
  readonly limits: Limits
  /** Receives changes, reads of secrets, and failed authentications. */
  readonly audit?: AuditSink
  /** Whether the lease of this node, one among several, holds: without it requests hear 503. Absent: always. */
  readonly mayAnswer?: () => boolean
}

const always = (): boolean => true

/** The shared state of a server's requests. */
export class Shared {
  services: Services | null = null
  draining = false
  inFlight = 0
  /** Bytes of bodies being received or decompressed. */
  readonly buffered: ByteShares
  /** The same for unauthenticated callers. */
  keylessBytes = 0
  /** Large answers that their readers have not taken. */
  readonly unread: UnreadAnswers
  readonly longBodies = new LongBodies()
  readonly unauthenticated: UnauthenticatedLimiter
  readonly cors: Cors
  private whenIdle: (() => void) | null = null
  private requests = 0
  /** When a line of each kind was last logged, ms of the monotonic clock. */
  private readonly told = new Map<ErrorCode | 'slow', number>()
  // Distinguishes request ids of different starts.
  private readonly start = Date.now().toString(36)

  /** Whether this process may answer: always, unless it is one node among several. */
  readonly mayAnswer: () => boolean
  readonly log: Logger
  /** Whether every request is logged; determined once. */
  readonly logsRequests: boolean
  /** Headers of the request being started. */
  readonly head: Head

  constructor(
    readonly options: SharedOptions,
    readonly app: App,
  ) {
    this.log = options.log
    this.mayAnswer = options.mayAnswer ?? always
    this.buffered = new ByteShares(options.config.bodiesBytesMax)
    this.unread = new UnreadAnswers(checkingThreads(options.config))
    this.cors = new Cors(options.config.corsOrigins)
    this.unauthenticated = new UnauthenticatedLimiter({
      ratePerSecond: options.config.authFailuresPerSecond,
      log: options.log,
      metrics: options.metrics.authFailures,
      audit: options.audit,
    })
    this.logsRequests = options.log.isLevelEnabled('debug')
    this.head = new Head(options.config.apiKeyHeaders, options.config.environmentHeaders)
  }

  /** A request id for logs and error responses. */
  nextRequestId(): string {
    this.requests++
    return `req_${this.start}_${this.requests.toString(36)}`
  }

  left(): void {
    this.inFlight--
    if (this.inFlight === 0) this.whenIdle?.()
  }

  /** Resolves when no request is in flight, or at the deadline. */
  idle(deadlineMs: number): Promise<void> {
    if (this.inFlight === 0) return Promise.resolve()
    return new Promise(resolve => {
      const timer = setTimeout(resolve, deadlineMs)
      this.whenIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Log an error: bugs completely, refusals at most one line per second and kind. */
  logFailure(line: RequestLine, error: unknown): void {
    if (!(error instanceof ServiceError)) {
      this.log.error({ ...line, err: error }, 'failed')
      return
    }
    if (!this.mayTell(error.code)) return
    this.log.warn({ ...line, reason: error.message, err: error.cause }, 'unavailable')
  }

  /** Whether a line of a rate-limited kind may be logged now: one per second. */
  mayTell(kind: ErrorCode | 'slow'): boolean {
    const nowMs = performance.now()
    if (nowMs - (this.told.get(kind) ?? Number.NEGATIVE_INFINITY) < 1_000) return false
    this.told.set(kind, nowMs)
    return true
  }

  /** Write a complete response. The caller has corked it or is in a callback of the server. */
  write(res: AppResponse, reply: Reply, headOnly: boolean, cuts = false): void {
    this.writeHead(res, reply)
    if (!headOnly && !isBodiless(reply.status)) {
      res.end(reply.bytes ?? reply.body, this.draining || cuts)
      return
    }
    if (cuts && !headOnly) return void res.end('', true)
    // with a length argument, this build's `endWithoutBody` would leave the response pending
    if (headOnly) res.writeHeader('Content-Length', String(Buffer.byteLength(reply.body)))
    res.endWithoutBody()
  }

  readonly writeHead = (res: AppResponse, reply: Reply): void => {
    res.writeStatus(headOf(reply.status, reply.headers))
  }
}
