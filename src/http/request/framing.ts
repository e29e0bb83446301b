// How a request says where its body ends. What two readers of it could take differently is refused, and the connection
// is cut: what lies behind such a request must not be read as another one (security 11).
import { headerBytesMax } from '../../config.js'
import { type ErrorCode, ServiceError } from '../../errors.js'
import type { AppRequest, AppResponse } from '../apps/app.js'
import type { Reply } from './respond.js'

/** Most headers of a request; the native server reads no more than these. */
const headersMax = 100

/** A request whose end is not certain, or whose head is too large: its connection is cut. */
export class Misframed extends ServiceError {
  constructor(
    code: Extract<ErrorCode, 'framing_invalid' | 'length_required' | 'head_too_large'>,
    detail?: string,
  ) {
    super(code, detail)
  }
}

// What the headers of the request at hand say; a walk over them makes no object.
const seen = { lengths: 0, hosts: 0, codings: 0, coding: '', headers: 0, bytes: 0, forwardedFor: '' }

function note(name: string, value: string): void {
  seen.headers++
  seen.bytes += name.length + value.length + 4
  switch (name) {
    case 'content-length':
      seen.lengths++
      if (!/^\d{1,15}$/.test(value)) seen.lengths++
      return
    case 'host':
      seen.hosts++
      return
    case 'transfer-encoding':
      seen.codings++
      seen.coding = value
      return
    case 'x-forwarded-for':
      seen.forwardedFor += seen.forwardedFor === '' ? value : `, ${value}`
      return
  }
}

/** What a walk over the headers found. */
export interface Framing {
  readonly isChunked: boolean
  /** All lines of X-Forwarded-For as one list; '' without one. */
  readonly forwardedFor: string
}

/**
 * Look at every header of a request.
 *
 * errors  Misframed: a second Content-Length, Host or Transfer-Encoding, a length that is no number, a coding that is not
 *         exactly `chunked` (400); a head beyond its bound (431).
 */
export function framingOf(req: AppRequest): Framing {
  seen.lengths = 0
  seen.hosts = 0
  seen.codings = 0
  seen.coding = ''
  seen.headers = 0
  seen.bytes = 0
  seen.forwardedFor = ''
  req.forEach(note)
  if (seen.bytes > headerBytesMax || seen.headers > headersMax) throw new Misframed('head_too_large')
  if (seen.lengths > 1)
    throw new Misframed('framing_invalid', 'Content-Length must be one number, given once')
  if (seen.hosts > 1) throw new Misframed('framing_invalid', 'Host must be given once')
  if (seen.codings > 1 || (seen.codings === 1 && seen.coding !== 'chunked'))
    throw new Misframed('framing_invalid', 'Transfer-Encoding: only chunked is accepted, given once')
  return { isChunked: seen.codings === 1, forwardedFor: seen.forwardedFor }
}

// More than the native server gathers before it writes: the answer leaves although more of the connection is read.
const writtenAtOnce = 20_000

/**
 * Answer, and cut the connection. The response ends in a later turn of the loop: until then the server takes what lies
 * behind the request for pipelining, which it answers by closing.
 *
 * isGone  whether the response must not be touched any more.
 */
export function cutOff(
  res: AppResponse,
  writeHead: (res: AppResponse, reply: Reply) => void,
  reply: Reply,
  isGone: () => boolean,
): void {
  res.cork(() => {
    writeHead(res, { ...reply, headers: `${reply.headers}\r\nConnection: close` })
    // blanks behind JSON mean nothing
    res.write(Buffer.from(reply.body.padEnd(writtenAtOnce)))
  })
  setImmediate(() => {
    if (!isGone()) res.end('', true)
  })
}
