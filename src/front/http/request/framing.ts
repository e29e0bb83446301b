// Requests that do not say plainly where they end: they are refused, and the connection is cut, so that nothing behind
// such a request is read as another one (security 11).
import { type ErrorCode, ServiceError } from '../../../errors.js'
import type { AppResponse } from '../apps/app.js'
import type { Reply } from './respond.js'

/** A request with ambiguous framing, or with too large headers. Its connection is cut. */
export class Misframed extends ServiceError {
  constructor(
    code: Extract<ErrorCode, 'framing_invalid' | 'length_required' | 'head_too_large'>,
    detail?: string,
  ) {
    super(code, detail)
  }
}

// More than the native server buffers before it writes, so that the response is sent while the connection is read.
const writtenAtOnce = 20_000

/**
 * Answer and cut the connection. The response ends in a later turn of the loop. Until then the server treats data
 * after the request as pipelining, which it answers by closing the connection.
 *
 * isGone  whether the response must not be used any more.
 */
export function cutOff(
  res: AppResponse,
  writeHead: (res: AppResponse, reply: Reply) => void,
  reply: Reply,
  isGone: () => boolean,
): void {
  res.cork(() => {
    writeHead(res, { ...reply, headers: `${reply.headers}\r\nConnection: close` })
    // trailing blanks are allowed in JSON
    res.write(Buffer.from(reply.body.padEnd(writtenAtOnce)))
  })
  setImmediate(() => {
    if (!isGone()) res.cork(() => res.end('', true))
  })
}
