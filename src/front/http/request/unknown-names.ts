// Members of bodies and parameters of queries that nobody reads: named in a header, with the nearest known name, and
// refused where the caller asks for it with ?strict=true (decision 39).

import { operationSchemas } from '../../../../schemas/operations.js'
import type { CatalogData } from '../../../core/model/definitions.js'
import { ServiceError } from '../../../errors.js'
import { nearest } from '../../../faults.js'
import type { RawBody } from '../../../kit/call.js'
import { eventsIn, uncountedEvents } from '../../events/uncounted.js'
import { type Route, titleOf } from '../routing/route.js'
import type { Compiled } from './compiled-route.js'

/** A name that is not known. */
interface Unknown {
  readonly kind: 'member' | 'parameter'
  readonly path: string
  readonly nearest: string | null
}

interface Schema {
  readonly $ref?: string
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}

/** Names that a warning lists. */
const unknownMax = 5
/** Values looked at in one body. */
const valuesMax = 20_000
const nameLengthMax = 60

const all = operationSchemas.components.schemas as unknown as Readonly<Record<string, Schema>>

/** Parameters that every route takes. */
const commonParameters: ReadonlySet<string> = new Set(['strict', 'report'])

/** The schemas that a value may have, unions and references resolved. */
function resolved(schema: Schema | undefined): readonly Schema[] {
  if (schema === undefined) return []
  if (schema.$ref !== undefined) return resolved(all[schema.$ref.split('/').at(-1)!])
  const union = schema.oneOf ?? schema.anyOf
  return union === undefined ? [schema] : union.flatMap(resolved)
}

/** The forms of an object whose constants it has; all of them where it has none. */
function fitting(forms: readonly Schema[], value: object): readonly Schema[] {
  const fits = forms.filter(({ properties }) =>
    Object.entries(properties ?? {}).every(([name, one]) => {
      const constants = resolved(one).filter(({ const: constant }) => constant !== undefined)
      const given = (value as Readonly<Record<string, unknown>>)[name]
      return (
        constants.length === 0 ||
        given === undefined ||
        constants.some(({ const: constant }) => constant === given)
      )
    }),
  )
  return fits.length > 0 ? fits : forms
}

/** Looks through one body. */
class Search {
  readonly found: Unknown[] = []
  private left = valuesMax

  value(value: unknown, schemas: readonly Schema[], path: string): void {
    // what has no schema is not read, however deep it is
    if (typeof value !== 'object' || value === null || schemas.length === 0) return
    if (this.found.length >= unknownMax || this.left-- <= 0) return
    if (Array.isArray(value)) {
      const items = schemas.flatMap(({ items: one }) => resolved(one))
      for (const [at, one] of value.entries()) this.value(one, items, `${path}[${at}]`)
      return
    }
    const forms = schemas.filter(({ properties, additionalProperties }) => properties ?? additionalProperties)
    if (forms.length > 0) this.object(value, fitting(forms, value), path)
  }

  private object(value: object, forms: readonly Schema[], path: string): void {
    const free = forms.find(
      ({ additionalProperties }) => additionalProperties !== undefined && additionalProperties !== false,
    )
    const names = new Set(forms.flatMap(({ properties }) => Object.keys(properties ?? {})))
    for (const [name, one] of Object.entries(value)) {
      if (this.found.length >= unknownMax) return
      const at = path === '' ? name : `${path}.${name}`
      const known = forms.flatMap(({ properties }) =>
        properties !== undefined && Object.hasOwn(properties, name) ? resolved(properties[name]) : [],
      )
      if (names.has(name)) this.value(one, known, at)
      else if (free === undefined)
        this.found.push({ kind: 'member', path: at, nearest: nearest(name, names) })
      else if (typeof free.additionalProperties === 'object')
        this.value(one, resolved(free.additionalProperties), at)
    }
  }
}

/** The schemas of a route's body; empty: it has none, or any member is read. */
function bodySchemas(route: Route): readonly Schema[] {
  let known = bodies.get(route)
  if (known === undefined) {
    const operation = all.Operations!.properties![titleOf(route)]
    known = resolved(resolved(operation)[0]?.properties?.body)
    bodies.set(route, known)
  }
  return known
}

const bodies = new WeakMap<Route, readonly Schema[]>()

/** Members of a body that its route does not read. */
function unknownMembers(route: Route, body: unknown): readonly Unknown[] {
  const search = new Search()
  search.value(body, bodySchemas(route), '')
  return search.found
}

/** Parameters that a route does not read. `raw`: the query without "?". */
function unknownParameters(route: Route, raw: string): readonly Unknown[] {
  if (raw === '') return []
  const shapes = route.query?.parameters ?? []
  if (shapes.some(({ spelling }) => spelling === 'map_or_bare')) return []
  const names = new Set([...shapes.map(({ name }) => name), ...commonParameters])
  const found: Unknown[] = []
  for (const pair of raw.split('&', valuesMax)) {
    const name = nameOf(pair)
    if (name === '' || names.has(name) || found.some(({ path }) => path === name)) continue
    if (found.length < unknownMax)
      found.push({ kind: 'parameter', path: name, nearest: nearest(name, names) })
  }
  return found
}

function nameOf(pair: string): string {
  const [sent = ''] = pair.split('=', 1)
  try {
    return decodeURIComponent(sent.replaceAll('+', ' ')).replace(/\[.*\]$/s, '')
  } catch {
    return sent
  }
}

/** Whether a query asks with `name=true`. */
function asks(raw: string, name: 'strict' | 'report'): boolean {
  return raw !== '' && raw.split('&').includes(`${name}=true`)
}

/** Warnings as one line of printable ASCII, for a header or an error. */
function warningText(unknown: readonly Unknown[], others: readonly string[] = []): string {
  const lines = unknown.map(
    ({ kind, path, nearest: near }) =>
      `unknown ${kind} ${shown(path)}${near === null ? '' : ` (did you mean ${shown(near)}?)`}`,
  )
  return [...lines, ...others].join('; ')
}

/** A name in quotes, printable in a header. */
const shown = (name: string): string =>
  JSON.stringify(name.slice(0, nameLengthMax)).replaceAll(
    /[^\x20-\x7e]/g,
    letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/**
 * One line that names the members and parameters nobody reads; '' where there are none. The hot routes look only when asked.
 *
 * body     parsed, or as received where its handler parses it.
 * catalog  the definitions that say which events count; null: no environment.
 * errors   body_invalid (400) with the same line, where `strict=true` asks for it.
 * source   decision 39
 */
export function unknownNames(
  { route, isHot }: Pick<Compiled, 'route' | 'isHot'>,
  rawQuery: string,
  body: unknown,
  catalog: () => CatalogData | null,
): string {
  if (isHot && rawQuery === '') return ''
  const isStrict = asks(rawQuery, 'strict')
  if (isHot && !isStrict && !asks(rawQuery, 'report')) return ''
  const events = route.limit === 'ingest' ? eventsIn(body as RawBody, isStrict, route.body === 'one') : null
  const given = events ?? (route.body === 'parsed' ? body : null)
  const unknown = [...unknownParameters(route, rawQuery), ...unknownMembers(route, given)]
  const known = events === null ? null : catalog()
  const uncounted = events === null || known === null ? [] : uncountedEvents(events, known)
  const text = warningText(unknown, uncounted)
  if (isStrict && text !== '') throw new ServiceError('body_invalid', text)
  return text
}
