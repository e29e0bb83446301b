// Requests that do not say plainly where they end: they are refused, and the connection is cut, so that nothing behind
// such a request is read as another one (security 11).
import { type ErrorCode, ServiceError } from '../../errors.js'
import type { AppResponse } from '../apps/app.js'
import type { Reply } from './respond.js'

/** A request whose end is not certain, or whose head is too large: its connection is cut. */
export class Misframed extends ServiceError {
  constructor(
    code: Extract<ErrorCode, 'framing_invalid' | 'length_required' | 'head_too_large'>,
    detail?: string,
  ) {
    super(code, detail)
  }
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
    if (!isGone()) res.cork(() => res.end('', true))
  })
}
