// The head of a request: every header is looked at once, and what is needed of it kept until the next request begins.
import { headerBytesMax } from '../../../config.js'
import type { AppRequest } from '../apps/app.js'
import { Misframed } from './framing.js'

/** Most headers of a request; the native server reads no more than these. */
const headersMax = 100
/** Digits of a Content-Length. */
const lengthDigitsMax = 15

/** The header values that are read. */
type Part =
  | 'key'
  | 'environmentId'
  | 'authorization'
  | 'cloudVersion'
  | 'contentEncoding'
  | 'contentLength'
  | 'contentType'
  | 'forwardedFor'
  | 'host'
  | 'ifNoneMatch'
  | 'origin'
  | 'signedContext'
  | 'transferEncoding'
  | 'userAgent'

const parts: readonly (readonly [name: string, part: Part])[] = [
  ['authorization', 'authorization'],
  ['ce-specversion', 'cloudVersion'],
  ['content-encoding', 'contentEncoding'],
  ['content-length', 'contentLength'],
  ['content-type', 'contentType'],
  ['host', 'host'],
  ['if-none-match', 'ifNoneMatch'],
  ['origin', 'origin'],
  ['transfer-encoding', 'transferEncoding'],
  ['user-agent', 'userAgent'],
  ['x-forwarded-for', 'forwardedFor'],
  ['x-service-signed-context', 'signedContext'],
]

interface Wanted {
  readonly name: string
  readonly part: Part
  /** Its place among the names that stand for the same. */
  readonly rank: number
}

/**
 * Reads heads, one after the other: what it says is of the request read last, and lasts until the handler returns.
 * Texts are '' where the header is not there; of a header that comes twice the first counts.
 */
export class Head {
  /** Value of the first non-empty key header, in the order of the setting. */
  key = ''
  environmentId = ''
  authorization = ''
  /** Version of CloudEvents in binary mode. */
  cloudVersion = ''
  contentEncoding = ''
  contentLength = ''
  contentType = ''
  /** All lines of X-Forwarded-For as one list. */
  forwardedFor = ''
  ifNoneMatch = ''
  origin = ''
  signedContext = ''
  userAgent = ''
  private transferEncoding = ''
  private keyRank = 0
  private environmentRank = 0
  private lengths = 0
  private hosts = 0
  private codings = 0
  private headers = 0
  private bytes = 0
  /** By the length of their names. */
  private readonly wanted: (Wanted[] | undefined)[] = []

  /** Names of the headers that carry a key, and an environment's id: the first that is there counts. */
  constructor(keyHeaders: readonly string[], environmentHeaders: readonly string[]) {
    for (const [name, part] of parts) this.want(name, part, 0)
    for (const [rank, name] of keyHeaders.entries()) this.want(name, 'key', rank)
    for (const [rank, name] of environmentHeaders.entries()) this.want(name, 'environmentId', rank)
  }

  private want(header: string, part: Part, rank: number): void {
    const name = header.toLowerCase()
    const same = this.wanted[name.length] ?? []
    same.push({ name, part, rank })
    this.wanted[name.length] = same
  }

  /** Look at every header of a request. Whether it is framed well is asked separately. */
  read(req: AppRequest): void {
    this.key = ''
    this.environmentId = ''
    this.authorization = ''
    this.cloudVersion = ''
    this.contentEncoding = ''
    this.contentLength = ''
    this.contentType = ''
    this.forwardedFor = ''
    this.ifNoneMatch = ''
    this.origin = ''
    this.signedContext = ''
    this.userAgent = ''
    this.transferEncoding = ''
    this.keyRank = Number.MAX_SAFE_INTEGER
    this.environmentRank = Number.MAX_SAFE_INTEGER
    this.lengths = 0
    this.hosts = 0
    this.codings = 0
    this.headers = 0
    this.bytes = 0
    req.forEach(this.note)
  }

  private readonly note = (name: string, value: string): void => {
    this.headers++
    this.bytes += name.length + value.length + 4
    const wanted = this.wanted[name.length]
    if (wanted === undefined) return
    for (let i = 0; i < wanted.length; i++) {
      const one = wanted[i]!
      if (one.name === name) this.keep(one, value)
    }
  }

  private keep({ part, rank }: Wanted, value: string): void {
    switch (part) {
      case 'key':
        if (value === '' || rank >= this.keyRank) return
        this.keyRank = rank
        this.key = value
        return
      case 'environmentId':
        if (value === '' || rank >= this.environmentRank) return
        this.environmentRank = rank
        this.environmentId = value
        return
      case 'contentLength':
        this.lengths++
        if (!isLength(value)) this.lengths++
        if (this.lengths === 1) this.contentLength = value
        return
      case 'host':
        this.hosts++
        return
      case 'transferEncoding':
        this.codings++
        this.transferEncoding = value
        return
      case 'forwardedFor':
        this.forwardedFor += this.forwardedFor === '' ? value : `, ${value}`
        return
      case 'authorization':
      case 'cloudVersion':
      case 'contentEncoding':
      case 'contentType':
      case 'ifNoneMatch':
      case 'origin':
      case 'signedContext':
      case 'userAgent':
        if (this[part] === '') this[part] = value
    }
  }

  /** Whether the body comes in chunks. */
  get isChunked(): boolean {
    return this.codings > 0
  }

  /**
   * Refuse what two readers of this head could take differently (security 11).
   *
   * errors  Misframed: a second Content-Length, Host or Transfer-Encoding, a length that is no number, a coding that is
   *         not exactly `chunked`, a length beside a coding (400); a head beyond its bound (431).
   */
  assertFramed(): void {
    if (this.bytes > headerBytesMax || this.headers > headersMax) throw new Misframed('head_too_large')
    if (this.lengths > 1)
      throw new Misframed('framing_invalid', 'Content-Length must be one number, given once')
    if (this.hosts > 1) throw new Misframed('framing_invalid', 'Host must be given once')
    if (this.codings > 1 || (this.codings === 1 && this.transferEncoding !== 'chunked'))
      throw new Misframed('framing_invalid', 'Transfer-Encoding: only chunked is accepted, given once')
    if (this.codings > 0 && this.lengths > 0)
      throw new Misframed('framing_invalid', 'Content-Length and Transfer-Encoding exclude each other')
  }
}

function isLength(value: string): boolean {
  if (value.length === 0 || value.length > lengthDigitsMax) return false
  for (let i = 0; i < value.length; i++) {
    const digit = value.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return false
  }
  return true
}
