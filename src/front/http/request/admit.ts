// Stage 2 of a request, admit: its caller is found by the key, and let in by conditions, rate limits and scopes; or the answer
// says which of them is missing.
import { ServiceError } from '../../../errors.js'
import type { KeyRecord, NamedKey } from '../../../kit/call.js'
import type { Admission, Judgement } from '../admission/admit.js'
import { findCaller } from '../admission/callers.js'
import { charge, chargeAdded } from '../admission/charges.js'
import { whyNoKey, whyUnknown } from '../admission/key-faults.js'
import { keylessBytesMax } from '../admission/keys-in-body.js'
import { admitNamed, type Caller } from '../admission/named-keys.js'
import type { AppRequest } from '../apps/app.js'
import { bearerOf, forwardedAddress } from '../routing/headers.js'
import type { Compiled } from './compiled-route.js'
import type { Head } from './head.js'
import { encodingOf } from './parse-body.js'
import type { Incoming } from './read.js'
import type { ReplyStage } from './reply.js'
import { RequestAudit } from './request-audit.js'
import { allowanceHeaders } from './respond.js'

/** The stage that follows: the body, or the call where the route takes none. */
export interface Next {
  admitted(): void
}

/** The key in a head; '' without one. */
export function keyIn({ route }: Compiled, head: Head): string {
  return head.key || (route.ofrep ? bearerOf(head.authorization) : '')
}

/** The caller of one request. */
export class AdmitStage implements Caller {
  /** Null: not admitted yet. */
  admission: Admission | null = null
  /** No header has a key: the body is searched for one, and until then the caller is unauthenticated. */
  isKeyless = false
  /** Why there is no key, where there is none. */
  private keyFault = ''

  constructor(
    protected readonly incoming: Incoming,
    protected readonly reply: ReplyStage,
  ) {}

  secretOf(_req: AppRequest, head: Head): string {
    return keyIn(this.incoming.compiled, head)
  }

  /**
   * Start a request without a key. If the route accepts keys in the body, the body is read within the limit of the
   * caller's address; a compressed or large one is refused unread (source: decision).
   */
  beginKeyless(head: Head): void {
    const { shared, compiled, rawQuery, startedMs } = this.incoming
    this.keyFault = whyNoKey(this.keyHeader, head.authorization, rawQuery)
    if (!compiled.route.keysInBody) throw this.unknown('')
    const long = Number(head.contentLength) > keylessBytesMax
    if (long || encodingOf(head.contentEncoding) !== 'identity') throw this.unread()
    shared.unauthenticated.take(this.remoteIp(), startedMs)
    this.isKeyless = true
  }

  /** Admit the caller, then go on: at once when the key is in memory. Meanwhile the body arrives. */
  find(next: Next): void {
    const { shared, compiled, secret } = this.incoming
    const services = shared.services!
    const found =
      compiled.route.scope === 'portal'
        ? findCaller(services, secret, this)
        : services.keys.find(secret, this)
    if (found instanceof Promise) this.reply.after(found, key => this.enter(key, next))
    else this.enter(found, next)
  }

  protected enter(key: KeyRecord | null, next: Next): void {
    this.admit(key)
    next.admitted()
  }

  /** errors  401, 403, 429 of a caller that is not admitted. */
  admit(key: KeyRecord | null): void {
    const { incoming, reply } = this
    const { shared, compiled, secret, startedMs } = incoming
    if (key === null) throw this.unknown(secret)
    const { options, services } = shared
    if (compiled.route.noted && options.audit !== undefined)
      reply.audit = new RequestAudit(options.audit, incoming, key, this, reply)
    const { allowance, outcome } = this.judge(key)
    reply.headers = allowanceHeaders(allowance, reply.headers)
    services!.keys.used(key.id, startedMs)
    if (outcome instanceof ServiceError) {
      if (allowance?.refused) options.metrics.http.rejected[allowance.refused.bucket].count++
      throw outcome
    }
    this.admission = outcome
    reply.admission = outcome
  }

  private judge(key: KeyRecord): Judgement {
    const { shared, compiled, environmentId, startedMs, secret } = this.incoming
    const { options, services } = shared
    try {
      return compiled.last.admit(
        compiled.route,
        key,
        environmentId,
        services!.keys,
        options.limits,
        startedMs,
        this,
      )
    } catch (error) {
      // a disabled or expired key counts as unknown
      const failed = this.unknown(secret)
      throw failed.status === 401 ? error : failed
    }
  }

  /** The keys that a body's events name, each admitted like a key in a header. */
  named(secrets: readonly string[]): Promise<ReadonlyMap<string, NamedKey | null>> {
    const { shared, compiled, environmentId } = this.incoming
    const { limits } = shared.options
    const { keys } = shared.services!
    return admitNamed(
      { route: compiled.route, admission: this.admission!, environmentId, keys, limits },
      this,
      secrets,
    )
  }

  charge(tokens: number): void {
    const { shared, compiled } = this.incoming
    charge(shared.options, compiled.route, this.admission!, tokens)
  }

  chargeAdded(bytes: number): void {
    const { shared, compiled } = this.incoming
    chargeAdded(shared.options.limits, compiled.route, this.admission!, bytes)
  }

  get contextToken(): string {
    return this.incoming.contextToken
  }

  /** The client's address: the peer, or the entry of X-Forwarded-For that trusted proxies added. '' once answered. */
  remoteIp(): string {
    const { forwardedFor, shared } = this.incoming
    if (forwardedFor !== '') {
      const forwarded = forwardedAddress(forwardedFor, shared.options.config.trustProxy)
      if (forwarded !== '') return forwarded
    }
    return this.reply.peerAddress()
  }

  wallMs(): number {
    return this.incoming.shared.services!.clock.wall()
  }

  /** The 401, or a 429 when the address has failed too often. paid: its token was taken before. */
  unknown(secret: string, paid = false): ServiceError {
    const why = secret === '' ? this.keyFault : whyUnknown(this.keyHeader, secret)
    const { shared, startedMs } = this.incoming
    return shared.unauthenticated.failed(this.remoteIp(), secret, startedMs, paid, why)
  }

  /** The 401 for a body that is not searched. */
  unread(paid = false): ServiceError {
    const error = this.unknown('', paid)
    if (error.status !== 401) return error
    return new ServiceError(
      'key_unknown',
      `A compressed body, or one of more than ${keylessBytesMax} bytes, needs its key in a header`,
    )
  }

  private get keyHeader(): string {
    return this.incoming.shared.options.config.apiKeyHeaders[0] ?? 'X-Service-Api-Key'
  }

  /** Whether unknown keys of this caller may be looked up in the store. */
  mayAsk(): boolean {
    return this.incoming.shared.unauthenticated.may(this.remoteIp(), this.incoming.startedMs)
  }

  /** Report that a key in a known caller's body is unknown. */
  notKnown(secret: string): void {
    if (!this.reply.isFinished) this.unknown(secret)
  }
}
