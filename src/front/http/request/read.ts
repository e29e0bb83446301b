// Stage 1 of a request, read: its parameters and headers are copied, because the server's request object is invalid after its
// callback returns.
import { performance } from 'node:perf_hooks'
import type { ServiceError } from '../../../errors.js'
import type { AppRequest } from '../apps/app.js'
import { cloudAttributes, parametersOf, prefersMinimal, valuesOf } from '../routing/headers.js'
import type { Compiled } from './compiled-route.js'
import type { Head } from './head.js'
import { idempotencyHeader } from './idempotency-key.js'
import { type Encoding, encodingOf } from './parse-body.js'
import { matchHeader } from './precondition.js'
import { none } from './request.js'
import type { Shared } from './shared.js'
import { takesGzip } from './zipped.js'

const letterP = 0x70

/** A request as it came. */
export class Incoming {
  readonly startedMs = performance.now()
  secret = ''
  contextToken = ''
  environmentId = ''
  parameters: readonly string[] = none
  rawQuery = ''
  userAgent = ''
  idempotencyKey = ''
  forwardedFor = ''
  ifNoneMatch = ''
  ifMatch = ''
  /** The caller prefers a short answer, and the route has one. */
  minimal = false
  encoding: Encoding | ServiceError = 'identity'
  /** The caller takes gzip, and the route may answer so. */
  zips = false
  /** Content-Length of a body, as it was sent. */
  contentLength = ''
  /** Content-Type of a body that its handler parses. */
  contentType = ''
  /** Attributes of a CloudEvent in binary mode; null: it is none. */
  attributes: Readonly<Record<string, string>> | null = null
  /** The path, for the audit log; set for changes only. */
  url = ''

  constructor(
    readonly shared: Shared,
    readonly compiled: Compiled,
  ) {}

  copy(req: AppRequest, head: Head): void {
    const { route } = this.compiled
    this.environmentId = head.environmentId
    if (route.noted) this.url = req.getUrl()
    if (route.parameters.length === 1) this.parameters = [req.getParameter(0)]
    else if (route.parameters.length > 1) this.parameters = parametersOf(req, route.parameters.length)
    if (this.compiled.mayZip) this.zips = takesGzip(req.getHeader('accept-encoding'))
    // checks do not record the user agent
    if (route.limit !== 'check') this.userAgent = head.userAgent
    if (route.ofrep) this.ifNoneMatch = head.ifNoneMatch
    if (this.compiled.tagged !== null) this.ifMatch = req.getHeader(matchHeader)
    if (route.prefers) this.minimal = prefersMinimal(req.getHeader('prefer'))
    // two that differ are no key
    if (route.keyed !== null) this.idempotencyKey = valuesOf(req, idempotencyHeader)
    // a publishable key begins with "p"
    if (this.secret.charCodeAt(0) === letterP) this.contextToken = head.signedContext
    if (route.body === 'none') return
    this.contentLength = head.contentLength
    if (head.contentEncoding !== '') this.encoding = encodingOf(head.contentEncoding)
    if (route.parse !== null) return
    this.contentType = head.contentType
    if (head.cloudVersion !== '') this.attributes = cloudAttributes(req)
  }
}
