// Events that are taken and count nowhere, for callers who ask: with ?report=true or ?strict=true (decision 39).
import type { CatalogData } from '../../core/model/definitions.js'
import { ServiceError } from '../../errors.js'
import { nearest } from '../../faults.js'
import { assertPlain } from '../../json-bounds.js'
import type { RawBody } from '../../kit/call.js'
import { eventNames } from './publishable.js'

/** Bytes of a body that is looked through beside being taken. */
const reportBytesMax = 65_536
const strictBytesMax = 1_048_576
const toldMax = 5

/**
 * The event or list of events in a body of JSON; null where it is too large, in another format, or not JSON, which is
 * told elsewhere.
 *
 * isOne   the body is one event.
 * errors  body_invalid (400) for one that is too large to be looked through strictly; body_malformed (400) for one that holds too
 *         many values or is too deep for that (security H5).
 */
export function eventsIn(body: RawBody, isStrict: boolean, isOne: boolean): object | null {
  if (body.byteLength > (isStrict ? strictBytesMax : reportBytesMax)) {
    if (!isStrict) return null
    throw new ServiceError('body_invalid', `strict=true takes bodies of at most ${strictBytesMax} bytes`)
  }
  if (body.type !== '' && body.type !== 'application/json') return null
  try {
    const text = body.text()
    assertPlain(text, isOne)
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' ? parsed : null
  } catch (error) {
    if (isStrict && error instanceof ServiceError) throw error
    return null
  }
}

interface Loose {
  readonly event_type?: unknown
  readonly type?: unknown
  readonly body?: { readonly event?: unknown; readonly company?: unknown; readonly user?: unknown } | null
  readonly events?: unknown
}

/** The events among these that count nowhere, one line each. */
export function uncountedEvents(given: object, catalog: CatalogData): readonly string[] {
  const { events } = given as Loose
  const list = Array.isArray(events) ? (events as readonly unknown[]) : [given]
  const told = new Set<string>()
  for (const one of list) {
    if (told.size >= toldMax) break
    const line = typeof one === 'object' && one !== null ? lineOf(one, catalog) : null
    if (line !== null) told.add(line)
  }
  return [...told]
}

function lineOf({ event_type, type, body }: Loose, catalog: CatalogData): string | null {
  if ((event_type ?? type) !== 'track' || typeof body !== 'object' || body === null) return null
  const { event, company, user } = body
  if (typeof event !== 'string') return null
  const name = quoted(event)
  if (isNothing(company) && isNothing(user)) return `event ${name} names no company, so it counts nowhere`
  const names = eventNames(catalog)
  if (names.has(event)) return null
  const near = nearest(event, names)
  return `event ${name} is counted by no feature${near === null ? '' : ` (did you mean ${quoted(near)}?)`}`
}

const isNothing = (keys: unknown): boolean =>
  typeof keys !== 'object' || keys === null || Object.keys(keys).length === 0

/** In quotes, printable in a header. */
const quoted = (name: string): string =>
  JSON.stringify(name.slice(0, 60)).replaceAll(
    /[^\x20-\x7e]/g,
    letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
