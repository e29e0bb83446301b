// Bodies: bounded before they are kept, decompressed within the same bound, checked before they are parsed.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { IValidation } from 'typia'
import type { RawBody } from '../api/call.js'
import { ServiceError } from '../errors.js'
import type { Parser, Route } from './route.js'

/** Bounds of a body as received and as decompressed, bytes (decision 2). */
export const bodyBytesMax = 1_048_576
export const batchBytesMax = 8_388_608
/** Deepest nesting of arrays and objects; serialising one deeper could exhaust the stack. */
export const depthMax = 64

/** The bound of a route's body. */
export function boundOf(route: Route): number {
  return route.body === 'batch' ? batchBytesMax : bodyBytesMax
}

/** 400 naming the bound (decision 2, EV-4). */
export function tooLarge(route: Route): ServiceError {
  if (route.body === 'batch') {
    return new ServiceError(
      'batch_too_large',
      `batch too large: at most 10000 events and ${batchBytesMax} bytes`,
      {
        extra: { max_size: 10_000, max_bytes: batchBytesMax },
      },
    )
  }
  return new ServiceError('body_too_large', `The request body is larger than ${bodyBytesMax} bytes`)
}

/** How a body is compressed. */
export type Encoding = 'identity' | 'gzip'

/** Of a Content-Encoding header; '' is none. 400 for those we do not read. */
export function encodingOf(header: string): Encoding | ServiceError {
  const name = header.trim().toLowerCase()
  if (name === '' || name === 'identity') return 'identity'
  if (name === 'gzip' || name === 'x-gzip') return 'gzip'
  return new ServiceError('body_malformed', 'Content-Encoding: only gzip is accepted')
}

const inflate = promisify(gunzip) as (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** Decompress within the route's bound: a bomb is stopped when it reaches it. */
export async function decompress(bytes: Buffer, route: Route): Promise<Buffer> {
  try {
    return await inflate(bytes, { maxOutputLength: boundOf(route) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(route)
    throw new ServiceError('body_malformed', 'The request body is not valid gzip', { cause: error })
  }
}

/** A body for a handler that parses it itself. */
export function rawBody(bytes: Buffer): RawBody {
  let decoded: string | null = null
  return {
    bytes,
    text() {
      decoded ??= bytes.toString()
      return decoded
    },
  }
}

/**
 * A body through its row's parser.
 *
 * text    the whole body; empty stands for an object without members, so that the message names what is missing.
 * errors  `body_malformed`: no JSON, too deep, or U+0000 in it; `body_invalid`: naming the members at fault.
 */
export function parseBody<Body>(text: string, parse: Parser<Body>): Body {
  assertPlain(text)
  let parsed: IValidation<Body>
  try {
    parsed = parse(text === '' ? '{}' : text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ServiceError('body_malformed')
    throw error
  }
  if (parsed.success) return parsed.data
  throw new ServiceError('body_invalid', describe(parsed.errors))
}

/**
 * Refuses what no store and no serialiser should meet: nesting beyond `depthMax`, and U+0000.
 * Handlers of raw bodies call it on what they keep.
 */
export function assertPlain(text: string): void {
  if (tooDeep(text, depthMax))
    throw new ServiceError('body_malformed', `The request body is nested deeper than ${depthMax}`)
  if (hasNul(text)) throw new ServiceError('body_malformed', 'The request body contains U+0000')
}

/** Whether JSON text nests deeper than `max`. Text with few brackets is answered by counting them. */
export function tooDeep(text: string, max: number): boolean {
  // Every level costs an opening and, sooner or later, a closing bracket.
  if (text.length < 2 * max || fewBrackets(text, max)) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if ((code | 0x20) === 0x7b && ++depth > max) return true
    else if ((code | 0x20) === 0x7d) depth--
  }
  return false
}

const quote = 0x22
const backslash = 0x5c

// The loops of `indexOf` run in native code: cheaper than looking at every character of an ordinary body.
function fewBrackets(text: string, max: number): boolean {
  let count = 0
  for (let i = text.indexOf('{'); i >= 0; i = text.indexOf('{', i + 1)) if (++count > max) return false
  for (let i = text.indexOf('['); i >= 0; i = text.indexOf('[', i + 1)) if (++count > max) return false
  return true
}

// The index of the closing quote, or the end of a text that lacks it.
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && escaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

// Whether an odd number of backslashes stands before the index.
function escaped(text: string, index: number): boolean {
  let before = index - 1
  while (text.charCodeAt(before) === backslash) before--
  return (index - before) % 2 === 0
}

/** Whether JSON text holds an escaped U+0000. (A bare one is no JSON.) */
export function hasNul(text: string): boolean {
  for (let i = text.indexOf('\\u0000'); i >= 0; i = text.indexOf('\\u0000', i + 1))
    if (!escaped(text, i)) return true
  return false
}

// At most three members at fault, by path and expectation, never by value.
function describe(errors: readonly IValidation.IError[]): string {
  const told = errors.slice(0, 3).map(({ path, expected, value }) => {
    const member = path.replace(/^\$input\.?/, '').slice(0, 100) || 'body'
    const wanted = expected.replaceAll(/^\(|\)$/g, '').slice(0, 300)
    return value === undefined && !wanted.includes('undefined')
      ? `${member} is required (${wanted})`
      : `${member}: expected ${wanted}`
  })
  return told.join('; ')
}
