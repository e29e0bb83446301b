// Builds responses: the envelope, the common headers, and errors.

import { ServiceError } from '../../../errors.js'
import { jsonText, type Pieces } from '../../../json.js'
import type { Answer } from '../../../kit/call.js'
import type { Allowance } from '../admission/limits.js'
import { echoOf, enveloped } from './envelope.js'
import { nothing } from './request.js'

/** A response ready to be written. */
export interface Reply {
  readonly status: number
  /** Further header lines, each `\r\nName: value`; written together with the fixed ones. */
  readonly headers: string
  /** '' with 204 and 304, and for a body in pieces. */
  readonly body: string
  readonly pieces?: Pieces
  /** The body as bytes, if it was cached so. */
  readonly bytes?: Uint8Array
  /** The body as the audit log keeps it; absent: the whole body. */
  readonly noted?: string
}

/** The fixed headers as one value of Content-Type: one call into the native server instead of three. */
export const fixedHeaders = headersOf('application/json')

/** fixedHeaders for another content type. */
export function headersOf(contentType: string): string {
  return `${contentType}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store`
}

/** The header line of a download. `name` is never a caller's text. */
export function attachment(name: string): string {
  return `\r\nContent-Disposition: attachment; filename="${name}"`
}

/** These header lines, followed by the rate-limit headers if there is a limit (AL-42). */
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

// The last result: it repeats while a limit is hardly used.
let told = { limit: -1, remaining: -1, resetSeconds: -1, before: '', lines: '' }

// The last status and headers; kept as bytes from the second use on.
const last = { status: 0, headers: '', bytes: null as Buffer | null }

/** The response head from status to last header, written as the status: one call instead of two. */
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

/** Longest response, characters. Lists with rows that callers can make large are bounded earlier (page-weight.ts). */
const answerLengthMax = 134_217_728

/**
 * A handler's answer in its envelope (AL-33).
 *
 * paramsJson  the echo of the path and query parameters, serialised.
 * errors      query_invalid (400) for an answer that is too long; errors of JSON.stringify are bugs.
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
    return { status: code, headers: own, body: '', pieces, ...notedOf(answer) }
  }
  const data = answer.json ?? jsonText(answer.data ?? null)
  if (data.length > answerLengthMax)
    throw new ServiceError(
      'query_invalid',
      `The answer would be longer than ${answerLengthMax}; ask for less at once`,
    )
  const body = enveloped(data, paramsJson)
  return { status: code, headers: own, body, ...notedOf(answer) }
}

/** The body as the audit log keeps it, where it is not the whole. */
function notedOf({ noted }: Answer): Pick<Reply, 'noted'> {
  return noted === undefined ? {} : { noted: `{"data":${jsonText(noted)}}` }
}

/** The echo of a request as JSON; `params`: its path parameters, which may be all of it. */
export function echoed(
  echo: Readonly<Record<string, unknown>>,
  params: Readonly<Record<string, string>>,
): string {
  if (echo === nothing) return '{}'
  return echo === params ? echoOf(params) : jsonText(echo)
}

/** Concatenated pieces as bytes. */
export function bytesOf(pieces: Pieces): Buffer {
  if (pieces.length === 1 && typeof pieces[0] === 'string') return Buffer.from(pieces[0])
  const bytes = Buffer.allocUnsafe(lengthOf(pieces))
  writeInto(bytes, pieces)
  return bytes
}

/**
 * Memory for a body that is sent at once. Memory of its own for each body would lie outside the heap, where tens of megabytes
 * of it make the engine mark the whole heap: with 375 company views a second that was every 0.6 s.
 */
const scratch = Buffer.from(new SharedArrayBuffer(256 << 10))

/** As `bytesOf`; shared memory holds them until the next call. */
export function bytesForNow(pieces: Pieces): Buffer {
  const length = lengthOf(pieces)
  if (length > scratch.length) return bytesOf(pieces)
  writeInto(scratch, pieces)
  return scratch.subarray(0, length)
}

/** Characters of the texts and bytes of the rest: about the bytes that are sent. */
export function replyLength({ body, bytes, pieces }: Reply): number {
  return pieces === undefined ? (bytes?.length ?? body.length) : partsLength(pieces)
}

/** The same of pieces. */
export function partsLength(pieces: Pieces): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}

function lengthOf(pieces: Pieces): number {
  let length = 0
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  return length
}

function writeInto(bytes: Buffer, pieces: Pieces): void {
  let at = 0
  for (const piece of pieces)
    if (typeof piece === 'string') at += bytes.write(piece, at)
    else {
      bytes.set(piece, at)
      at += piece.length
    }
}

/** Whether responses with this status have no body. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304
}

/** An error response (AL-31); 429 and 503 have Retry-After. */
export function failure(error: ServiceError, headers: string): Reply {
  const retry = error.retryAfterSeconds === undefined ? '' : `\r\nRetry-After: ${error.retryAfterSeconds}`
  return {
    status: error.status,
    headers: headers + retry,
    body: JSON.stringify({ error: error.message, ...error.extra }),
  }
}

/** The error for unexpected exceptions: the caller gets no details. */
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
  302: '302 Found',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  402: '402 Payment Required',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  411: '411 Length Required',
  412: '412 Precondition Failed',
  429: '429 Too Many Requests',
  431: '431 Request Header Fields Too Large',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
}

/** A status with its reason phrase. */
export function statusLine(status: number): string {
  return reasons[status] ?? String(status)
}

/** A response in pieces, joined. */
export function joined(reply: Reply): Reply {
  return reply.pieces === undefined ? reply : { ...reply, bytes: bytesOf(reply.pieces) }
}
