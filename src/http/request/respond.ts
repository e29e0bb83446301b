// What leaves: the envelope, the headers every response has, and errors as statuses.
import type { Answer } from '../../api/kit/call.js'
import { ServiceError } from '../../errors.js'
import { jsonText } from '../../json.js'
import type { Allowance } from '../admission/limits.js'

/** A response ready to be written. */
export interface Reply {
  readonly status: number
  /** Further header lines, each `\r\nName: value`; they follow the fixed ones in one write. */
  readonly headers: string
  /** '' with 204 and 304, and where it comes in pieces. */
  readonly body: string
  readonly pieces?: readonly string[]
  /** The body as bytes, where it was kept so. */
  readonly bytes?: Uint8Array
}

/** The headers of every response as one value of Content-Type: one crossing into the server instead of three. */
export const fixedHeaders = headersOf('application/json')

/** The same for an answer of another type. */
export function headersOf(contentType: string): string {
  return `${contentType}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store`
}

/** The header line of an answer that is kept as a file. `name`: ours, never a caller's. */
export function attachment(name: string): string {
  return `\r\nContent-Disposition: attachment; filename="${name}"`
}

/** These header lines, and figures of the tightest budget where something is limited (AL-42). */
export function allowanceHeaders(allowance: Allowance | null, before: string): string {
  if (allowance === null) return before
  const { limit, remaining, resetSeconds } = allowance
  if (
    limit !== told.limit ||
    remaining !== told.remaining ||
    resetSeconds !== told.resetSeconds ||
    before !== told.before
  ) {
    const lines = `${before}\r\nX-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${resetSeconds}`
    told = { limit, remaining, resetSeconds, before, lines }
  }
  return told.lines
}

// What was told last: a budget that is hardly used looks the same again and again.
let told = { limit: -1, remaining: -1, resetSeconds: -1, before: '', lines: '' }

// The head that was written last; as bytes from its second time on.
const last = { status: 0, headers: '', bytes: null as Buffer | null }

/** Everything from the status to the last header of a reply, to be written as the status: one crossing instead of two. */
export function headOf(status: number, headers: string): string | Buffer {
  if (status === last.status && headers === last.headers) {
    last.bytes ??= Buffer.from(headText(status, headers))
    return last.bytes
  }
  last.status = status
  last.headers = headers
  last.bytes = null
  return headText(status, headers)
}

const headText = (status: number, headers: string): string =>
  `${statusLine(status)}\r\nContent-Type: ${fixedHeaders}${headers}`

/** Characters of an answer. Lists whose rows callers make large are bounded before they are written (page-weight.ts). */
const answerLengthMax = 134_217_728

/**
 * A handler's answer in its envelope (AL-33).
 *
 * paramsJson  the echo of the path and query parameters given, serialised.
 * errors      query_invalid (400) for one that is too long; what JSON.stringify throws: our bug.
 */
export function success(answer: Answer, status: number, paramsJson: string, headers: string): Reply {
  const own = answer.headers === undefined ? headers : headers + lines(answer.headers)
  const code = answer.status ?? status
  if (isBodiless(code)) return { status: code, headers: own, body: '' }
  if (answer.whole !== undefined) return { status: code, headers: own, body: answer.whole }
  const { bytes } = answer
  if (bytes !== undefined) return { status: code, headers: own, body: '', bytes }
  if (answer.pieces !== undefined) {
    const pieces = ['{"data":', ...answer.pieces, `,"params":${paramsJson}}`]
    return { status: code, headers: own, body: '', pieces }
  }
  const data = answer.json ?? jsonText(answer.data ?? null)
  if (data.length > answerLengthMax)
    throw new ServiceError(
      'query_invalid',
      `The answer would be longer than ${answerLengthMax}; ask for less at once`,
    )
  return { status: code, headers: own, body: `{"data":${data},"params":${paramsJson}}` }
}

/** Path parameters as they are echoed: their names are the routes' own and need no escapes. */
export function echoOf(params: Readonly<Record<string, string>>): string {
  let json = ''
  for (const name in params) json += `${json === '' ? '{' : ','}"${name}":${JSON.stringify(params[name])}`
  return json === '' ? '{}' : `${json}}`
}

/** Texts one after the other, as bytes. */
export function bytesOf(pieces: readonly string[]): Buffer {
  let length = 0
  for (const piece of pieces) length += Buffer.byteLength(piece)
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const piece of pieces) at += bytes.write(piece, at)
  return bytes
}

/** Statuses whose answers end with their head. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304
}

/** A failure the caller is told of (AL-31); 429 and 503 say when to come back. */
export function failure(error: ServiceError, headers: string): Reply {
  const retry = error.retryAfterSeconds === undefined ? '' : `\r\nRetry-After: ${error.retryAfterSeconds}`
  return {
    status: error.status,
    headers: headers + retry,
    body: JSON.stringify({ error: error.message, ...error.extra }),
  }
}

/** Anything we did not name is our bug: the caller learns no more than that. */
export const internalError = new ServiceError('internal')

function lines(headers: Readonly<Record<string, string>>): string {
  let text = ''
  for (const [name, value] of Object.entries(headers))
    text += `\r\n${name}: ${value.replaceAll(/[\r\n]/g, ' ')}`
  return text
}

const reasons: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  204: '204 No Content',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  402: '402 Payment Required',
  403: '403 Forbidden',
  404: '404 Not Found',
  409: '409 Conflict',
  411: '411 Length Required',
  429: '429 Too Many Requests',
  431: '431 Request Header Fields Too Large',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
}

/** A status with its reason, as the status line has it. */
export function statusLine(status: number): string {
  return reasons[status] ?? String(status)
}
