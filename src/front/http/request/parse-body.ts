// Request bodies: bounded while they are received, decompressed within the same bound, checked before they are
// parsed.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { IValidation } from 'typia'
import { ServiceError } from '../../../errors.js'
import { faultsText } from '../../../faults.js'
import { decodeUtf8, hasHalfPair } from '../../../json.js'
import { assertPlain } from '../../../json-bounds.js'
import type { RawBody } from '../../../kit/call.js'
import { FairGate } from '../../../turns/fair-gate.js'
import { largeBytes } from '../../events/parsing/parser-pool.js'
import type { Parser, Route } from '../routing/route.js'

/** Bounds of a body as received and as decompressed, bytes (decision 2). */
export const bodyBytesMax = 1_048_576
export const batchBytesMax = 8_388_608

/** The size bound of a route's body. */
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

/** Content encodings of bodies. */
export type Encoding = 'identity' | 'gzip'

/** The encoding of a Content-Encoding header; '' is identity. 400 for unsupported ones. */
export function encodingOf(header: string): Encoding | ServiceError {
  if (header === '') return 'identity'
  const name = header.trim().toLowerCase()
  if (name === '' || name === 'identity') return 'identity'
  if (name === 'gzip' || name === 'x-gzip') return 'gzip'
  return new ServiceError('body_malformed', 'Content-Encoding: only gzip is accepted')
}

const inflate = promisify(gunzip) as (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

// Each takes a thread of the four that files are written by, too. How many wait is bounded by their bytes.
const inflations = new FairGate({
  places: 3,
  perGroup: 2,
  waitingMax: Number.POSITIVE_INFINITY,
  patienceMs: null,
  name: 'decompression',
})

/**
 * Decompress within the route's bound: a bomb is stopped when it reaches it. A few at a time, the rest wait.
 *
 * group  the environment the body is of: environments take turns (security 5).
 */
export async function decompress(bytes: Buffer, route: Route, group: string): Promise<Buffer> {
  return inflations.run(group, async () => {
    try {
      return await inflate(bytes, { maxOutputLength: boundOf(route) })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(route)
      throw new ServiceError('body_malformed', 'The request body is not valid gzip', { cause: error })
    }
  })
}

/**
 * A body for a handler that parses it itself.
 *
 * contentType  the header.
 * attributes   of a CloudEvent in binary mode; null: it is none.
 */
export function rawBody(
  bytes: Buffer,
  contentType = '',
  attributes: Readonly<Record<string, string>> | null = null,
): RawBody {
  const type = mediaType(contentType)
  if (attributes !== null) return { byteLength: bytes.length, type, attributes, text: textOf(bytes) }
  if (bytes.length >= largeBytes)
    return { byteLength: bytes.length, type, text: () => decodeUtf8(bytes), bytes }
  return new SmallBody(bytes, type)
}

function textOf(bytes: Buffer): () => string {
  const text = decodeUtf8(bytes)
  return () => text
}

/** A body in the server's memory. The server reuses the bytes when the callback returns; they are decoded before. */
export class SmallBody implements RawBody {
  readonly byteLength: number
  private decoded: string | null = null
  private fault: unknown = null

  constructor(
    readonly view: Buffer,
    readonly type: string,
  ) {
    this.byteLength = view.length
  }

  text(): string {
    if (this.fault !== null) throw this.fault
    this.decoded ??= decodeUtf8(this.view)
    return this.decoded
  }

  /** Decode now, because the bytes will be reused. `text` reports a decoding error. */
  keep(): void {
    try {
      this.text()
    } catch (error) {
      this.fault = error
    }
  }

  /** The same as text alone, once it was kept: its bytes are another body's by now. */
  kept(): RawBody {
    return { byteLength: this.byteLength, type: this.type, text: () => this.text() }
  }
}

// The media type without parameters. The two most common headers are recognised by one comparison.
function mediaType(header: string): string {
  if (header === 'application/json' || header === '') return header
  return header.split(';', 1)[0]!.trim().toLowerCase()
}

/**
 * Parse a body with its route's parser.
 *
 * text    the whole body; empty counts as an object without members, so that the error names what is missing.
 * isHot   a check: its schema bounds every number it has.
 * errors  `body_malformed`: invalid JSON, too deep, with U+0000 or an unpaired surrogate; `body_invalid`: naming the
 *         invalid members.
 */
export function parseBody<Body>(text: string, parse: Parser<Body>, isHot = false): Body {
  assertPlain(text, isHot)
  if (hasHalfPair(text))
    throw new ServiceError('body_malformed', 'The request body contains half a surrogate pair')
  let parsed: IValidation<Body>
  try {
    parsed = parse(text === '' ? '{}' : text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ServiceError('body_malformed')
    throw error
  }
  if (!parsed.success) throw new ServiceError('body_invalid', faultsText(parsed.errors))
  if (!isHot) assertFinite(parsed.data, '')
  return parsed.data
}

/** Refuse a number beyond 1e308, which JSON.parse reads as Infinity (L7). */
function assertFinite(value: unknown, path: string): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new ServiceError('body_invalid', `${path.slice(0, 100)}: a number is at most 1e308`)
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value))
    assertFinite(member, path === '' ? name : `${path}.${name}`)
}
