// The head of one request and its caller: what is copied from the request object, which is invalid after its callback
// returns, and what a caller without a known key hears.
import { performance } from 'node:perf_hooks'
import { ServiceError } from '../../../errors.js'
import { whyUnknown } from '../admission/key-faults.js'
import { keylessBytesMax } from '../admission/keys-in-body.js'
import type { AppRequest, AppResponse } from '../apps/app.js'
import { bearerOf, cloudAttributes, forwardedAddress, parametersOf } from '../routing/headers.js'
import { type Encoding, encodingOf } from './body.js'
import type { Compiled } from './compiled-route.js'
import type { Head } from './head.js'
import { idempotencyHeader } from './once.js'
import { matchHeader } from './precondition.js'
import { askNobody, none } from './request.js'
import type { Shared } from './shared.js'
import { takesGzip } from './zipped.js'

const letterP = 0x70

/** One request as it was asked. */
export class Asked {
  protected readonly startedMs = performance.now()
  /** Answered or aborted: the response must not be used any more. */
  isFinished = false
  protected secret = ''
  /** Why there is no key, where there is none. */
  protected keyFault = ''
  contextToken = ''
  protected environmentId = ''
  protected parameters: readonly string[] = none
  protected rawQuery = ''
  protected userAgent = ''
  protected idempotencyKey = ''
  protected forwardedFor = ''
  ifNoneMatch = ''
  protected ifMatch = ''
  protected encoding: Encoding | ServiceError = 'identity'
  /** The caller takes gzip, and the route may answer so. */
  protected zips = false
  /** Content-Type of a body that its handler parses. */
  protected contentType = ''
  /** Attributes of a CloudEvent in binary mode; null: it is none. */
  protected attributes: Readonly<Record<string, string>> | null = null
  /** The path, for the audit log; set for changes only. */
  protected url = ''

  constructor(
    protected readonly shared: Shared,
    protected readonly compiled: Compiled,
    protected readonly res: AppResponse,
  ) {}

  /** Whether the key in the header is in memory. */
  protected isKnown(req: AppRequest): boolean {
    const { services, head } = this.shared
    head.read(req)
    const secret = this.secretOf(head)
    const found = secret === '' ? null : (services?.keys.find(secret, askNobody) ?? null)
    return found !== null && !(found instanceof Promise)
  }

  protected secretOf(head: Head): string {
    return head.key || (this.compiled.route.ofrep ? bearerOf(head.authorization) : '')
  }

  /** The client's address: the peer, or the entry of X-Forwarded-For that trusted proxies added. '' once answered. */
  remoteIp(): string {
    if (this.forwardedFor !== '') {
      const forwarded = forwardedAddress(this.forwardedFor, this.shared.options.config.trustProxy)
      if (forwarded !== '') return forwarded
    }
    return this.isFinished ? '' : this.shared.app.addressOf(this.res)
  }

  wallMs(): number {
    return this.shared.services!.clock.wall()
  }

  protected copy(req: AppRequest, head: Head): void {
    const { route } = this.compiled
    this.environmentId = head.environmentId
    if (route.noted) this.url = req.getUrl()
    if (route.parameters.length > 0) this.parameters = parametersOf(req, route.parameters.length)
    if (this.compiled.mayZip) this.zips = takesGzip(req.getHeader('accept-encoding'))
    // checks do not record the user agent
    if (route.limit !== 'check') this.userAgent = head.userAgent
    if (route.ofrep) this.ifNoneMatch = head.ifNoneMatch
    if (this.compiled.tagged !== null) this.ifMatch = req.getHeader(matchHeader)
    if (route.keyed !== null) this.idempotencyKey = req.getHeader(idempotencyHeader)
    // a publishable key begins with "p"
    if (this.secret.charCodeAt(0) === letterP) this.contextToken = head.signedContext
    if (route.body === 'none') return
    this.encoding = encodingOf(head.contentEncoding)
    if (route.parse !== null) return
    this.contentType = head.contentType
    if (head.cloudVersion !== '') this.attributes = cloudAttributes(req)
  }

  /** The 401, or a 429 when the address has failed too often. paid: its token was taken before. */
  protected unknown(secret: string, paid = false): ServiceError {
    const why = secret === '' ? this.keyFault : whyUnknown(this.keyHeader, secret)
    return this.shared.strangers.failed(this.remoteIp(), secret, this.startedMs, paid, why)
  }

  protected get keyHeader(): string {
    return this.shared.options.config.apiKeyHeaders[0] ?? 'X-Service-Api-Key'
  }

  /** The 401 for a body that is not searched. */
  protected unread(paid = false): ServiceError {
    const error = this.unknown('', paid)
    if (error.status !== 401) return error
    return new ServiceError(
      'key_unknown',
      `A compressed body, or one of more than ${keylessBytesMax} bytes, needs its key in a header`,
    )
  }

  /** Whether unknown keys of this caller may be looked up in the store. */
  mayAsk(): boolean {
    return this.shared.strangers.may(this.remoteIp(), this.startedMs)
  }
}
