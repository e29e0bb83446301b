// Query strings, declared once per route: the parameters, their types, and what `params` echoes.
import { isQuantity, type Quantity, quantityFromText } from '../core/values/quantity.js'
import { ServiceError } from '../errors.js'
import { isoTime, parseTimeOrDate } from './time.js'

/** Longest list of values in one parameter. */
const listLengthMax = 100
/** Page bounds (AL-50). */
const limitMax = 250
const limitDefault = 100

/**
 * One declared parameter. `T` is the handler's type; it includes `undefined` if the parameter may be absent and has
 * no default.
 */
export interface Field<T> {
  /** Accepted forms: name=value once; the name repeated; one of the forms of a map. */
  readonly spelling: 'one' | 'many' | 'map' | 'map_or_bare'
  readonly required: boolean
  /** JSON Schema of a value, for OpenAPI. */
  readonly schema: Readonly<Record<string, unknown>>
  /** The handler's value if the parameter is absent. */
  readonly absent: T
  /** Parses what was sent; throws `query_invalid`; undefined counts as absent. */
  readonly read: (given: Given, name: string) => T
  /** The form that `params` shows, if not the value itself. */
  echo?(value: T): unknown
}

/** The decoded values of one name: `name=value`, and `name[key]=value` or bare pairs for a map. */
interface Given {
  readonly values: string[]
  readonly pairs: [name: string, value: string][]
}

type Fields = { readonly [name: string]: Field<unknown> }
type ValueOf<F> = F extends Field<infer T> ? T : never
type Present<S> = { [K in keyof S]: undefined extends ValueOf<S[K]> ? never : K }[keyof S]
type Flat<T> = { readonly [K in keyof T]: T[K] }

/** The handler's type for a shape: absent parameters without default are absent members. */
export type QueryOf<S> = Flat<
  { [K in Present<S>]: ValueOf<S[K]> } & { [K in Exclude<keyof S, Present<S>>]?: ValueOf<S[K]> }
>

/** A parameter as OpenAPI describes it. */
export interface QueryParameter extends Pick<Field<unknown>, 'spelling' | 'required' | 'schema'> {
  readonly name: string
}

type Unreadable = 'query_invalid' | 'not_found'

/** A compiled shape. */
export interface QueryShape<Q> {
  readonly parameters: readonly QueryParameter[]
  /** The error code for an invalid query. */
  readonly unreadable: Unreadable
  /**
   * raw      the query string without "?", still percent-encoded.
   * returns  the typed values, and the echo of those that were given (AL-33).
   * errors   `unreadable`, naming the parameter and what it should be. Unknown parameters are ignored (AL-32).
   */
  read(raw: string): { readonly query: Q; readonly echo: Readonly<Record<string, unknown>> }
}

/**
 * Declare the query of a route.
 *
 * unreadable  the error code for an invalid query. The lookups use 404: without keys no entity is named, and the
 *             interface document lists no 400 for them.
 */
export function query<const S extends Fields>(
  shape: S,
  unreadable: Unreadable = 'query_invalid',
): QueryShape<QueryOf<S>> {
  const fields = Object.entries<Field<unknown>>(shape)
  const bare = fields.find(([, field]) => field.spelling === 'map_or_bare')
  const names = new Set(Object.keys(shape))
  return {
    unreadable,
    parameters: fields.map(([name, { spelling, required, schema, absent }]) => ({
      name,
      spelling,
      required,
      schema: absent === undefined ? schema : { ...schema, default: absent },
    })),
    read: raw => refusedAs(unreadable, () => readAll(raw)),
  }

  function readAll(raw: string) {
    const given = gather(raw, names, bare?.[0])
    const values: Record<string, unknown> = {}
    const echo: Record<string, unknown> = {}
    for (const [name, field] of fields) {
      const texts = given.get(name)
      if (texts !== undefined) assertFilled(texts, name)
      const value = texts === undefined ? undefined : field.read(texts, name)
      if (value !== undefined) {
        values[name] = value
        echo[name] = field.echo === undefined ? value : field.echo(value)
      } else if (field.required) throw invalid(`${name} is required`)
      else if (field.absent !== undefined) values[name] = field.absent
    }
    return { query: values as QueryOf<S>, echo }
  }
}

/**
 * Refuse a parameter that is there without a value: read as absent, it would widen the answer to everybody.
 *
 * source  decision 38.
 */
function assertFilled({ values, pairs }: Given, name: string): void {
  const isFilled = (value: string) => value !== ''
  if (values.every(isFilled) && pairs.every(([, value]) => isFilled(value))) return
  throw invalid(`${name} is empty: give it a value, or leave it out`)
}

function refusedAs<T>(code: Unreadable, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (code === 'query_invalid' || !(error instanceof ServiceError)) throw error
    throw new ServiceError(code, error.message)
  }
}

/** The page of a list: `...page` declares `limit`, `offset` (AL-50) and `cursor` (decision 38). */
const limit: Field<number> = one(
  limitDefault,
  { type: 'integer', minimum: 1, description: `At most ${limitMax}; more is taken as ${limitMax}.` },
  (text, name) => Math.min(wholeNumber(text, name, 1, Number.MAX_SAFE_INTEGER), limitMax),
)
const offset: Field<number> = one(
  0,
  { type: 'integer', minimum: 0, description: 'Rows to pass over.' },
  (text, name) => wholeNumber(text, name, 0, Number.MAX_SAFE_INTEGER),
)
export const cursor: Field<string | undefined> = one<string | undefined>(
  undefined,
  {
    type: 'string',
    description:
      'The `X-Next-Cursor` of the page before: the page after it, though rows came or went meanwhile.',
  },
  value => value,
)
export const page = { limit, offset, cursor } as const

/** The part of a list that a statement reads, in rows. */
export interface Page {
  readonly limit: number
  readonly offset: number
}

/** Largest offset in a filtered list, because every skipped row must be found first. */
const filteredOffsetMax = 100_000

/**
 * Refuse an offset so large that finding the page would keep a store busy.
 *
 * errors  query_invalid (400) with the bound.
 * source  decision.
 */
export function requireNear(page: { readonly offset: number }): void {
  if (page.offset > filteredOffsetMax)
    throw invalid(`offset: at most ${filteredOffsetMax} with a filter; narrow the filter, or export`)
}

/** Text of at most `lengthMax` characters. */
export function text(lengthMax: number): Field<string | undefined> {
  return one<string | undefined>(undefined, { type: 'string', maxLength: lengthMax }, (value, name) => {
    if (value.length > lengthMax) throw invalid(`${name} is longer than ${lengthMax} characters`)
    return value
  })
}

/** An id, a name or other short text. */
export const string: Field<string | undefined> = text(512)

export const boolean: Field<boolean | undefined> = one<boolean | undefined>(
  undefined,
  { type: 'boolean' },
  (value, name) => {
    if (value === 'true') return true
    if (value === 'false') return false
    throw invalid(`${name}: expected true or false`)
  },
)

/** A whole number within bounds. */
export function integer(min = 0, max = Number.MAX_SAFE_INTEGER): Field<number | undefined> {
  const bounds = max === Number.MAX_SAFE_INTEGER ? { minimum: min } : { minimum: min, maximum: max }
  return one<number | undefined>(undefined, { type: 'integer', ...bounds }, (value, name) =>
    wholeNumber(value, name, min, max),
  )
}

/** An integer within ±(2^63 − 1), with all its digits. */
export const long: Field<Quantity | undefined> = {
  ...one<Quantity | undefined>(undefined, { type: 'integer', format: 'int64' }, (value, name) => {
    const given = /^-?\d{1,19}$/.test(value) ? quantityFromText(value) : null
    if (given === null || !isQuantity(given)) throw invalid(`${name}: expected an integer of 64 bits`)
    return given
  }),
}

/** An instant; the handler gets epoch ms, `params` shows the text in UTC. */
export const datetime: Field<number | undefined> = {
  ...one<number | undefined>(undefined, { type: 'string', format: 'date-time' }, (value, name) => {
    // An unescaped "+" of an offset arrives as a space.
    const ms = parseTimeOrDate(value.replace(/ (\d{2}:?\d{2})$/, '+$1'))
    if (ms === null) throw invalid(`${name}: expected a date and time, as 2024-01-02T03:04:05.000Z`)
    return ms
  }),
  echo: value => (value === undefined ? undefined : isoTime(value)),
}

/** One of a closed list of words. */
export function oneOf<const T extends readonly string[]>(words: T): Field<T[number] | undefined> {
  return one<T[number] | undefined>(undefined, { type: 'string', enum: words }, (value, name) =>
    word(words, value, name),
  )
}

/**
 * A repeated parameter, at most 100 values; always echoed as a list. An empty value is refused. `ids=a&ids=b`,
 * `ids=a,b`, `ids[]=a&ids[]=b` and `ids[0]=a` are equal, because no id and no word contains a comma.
 */
export const list: Field<readonly string[] | undefined> = many({ type: 'string' }, value => value)

/** A repeated parameter of a closed list of words. */
export function listOf<const T extends readonly string[]>(words: T): Field<readonly T[number][] | undefined> {
  return many<T[number]>({ type: 'string', enum: words }, (value, name) => word(words, value, name))
}

/** Name and value pairs, as a JSON object or as `keys[name]=value`. */
export const map: Field<Readonly<Record<string, string>> | undefined> = {
  spelling: 'map',
  required: false,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  absent: undefined,
  read: readMap,
}

/** A map that also accepts bare `name=value` pairs if neither other form is used. The two lookups use it. */
export const mapOrBare: Field<Readonly<Record<string, string>> | undefined> = {
  ...map,
  spelling: 'map_or_bare',
}

/** The same parameter, with 400 when it is absent. */
export function required<T>(field: Field<T>): Field<Exclude<T, undefined>> {
  return { ...field, required: true } as unknown as Field<Exclude<T, undefined>>
}

/** The same parameter with a default. */
export function withDefault<T>(field: Field<T>, absent: Exclude<T, undefined>): Field<Exclude<T, undefined>> {
  return { ...field, absent } as unknown as Field<Exclude<T, undefined>>
}

// Collects the values sent, by declared name.
function gather(raw: string, names: ReadonlySet<string>, bare: string | undefined): Map<string, Given> {
  const given = new Map<string, Given>()
  const loose: Given = { values: [], pairs: [] }
  if (raw === '') return given
  for (const pair of raw.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    if (names.has(name)) {
      under(given, name).values.push(value)
      continue
    }
    const bracket = name.indexOf('[')
    if (bracket > 0 && name.endsWith(']') && names.has(name.slice(0, bracket))) {
      under(given, name.slice(0, bracket)).pairs.push([name.slice(bracket + 1, -1), value])
    } else if (name !== 'strict') loose.pairs.push([name, value])
  }
  if (bare !== undefined && loose.pairs.length > 0 && !given.has(bare)) given.set(bare, loose)
  return given
}

function under(given: Map<string, Given>, name: string): Given {
  const known = given.get(name)
  if (known !== undefined) return known
  const made: Given = { values: [], pairs: [] }
  given.set(name, made)
  return made
}

function decode(part: string): string {
  const spaced = part.includes('+') ? part.replaceAll('+', ' ') : part
  if (!spaced.includes('%')) return spaced
  let decoded: string
  try {
    if (notAscii.test(spaced)) throw new URIError('not encoded')
    decoded = decodeURIComponent(spaced)
  } catch {
    throw invalid('The query string is not valid percent-encoding')
  }
  // No store can hold U+0000 in text.
  if (decoded.includes('\0')) throw invalid('The query string contains U+0000')
  return decoded
}

const notAscii = /[^\x20-\x7e]/

function readMap({ values, pairs }: Given, name: string): Readonly<Record<string, string>> {
  const entries = [...pairs]
  for (const value of values) {
    for (const [key, text] of Object.entries(jsonObject(value, name))) entries.push([key, asText(text, name)])
  }
  if (entries.length > listLengthMax) throw invalid(`${name} has more than ${listLengthMax} entries`)
  if (entries.length === 0 || entries.some(([key, text]) => key === '' || text === ''))
    throw invalid(`${name} is empty: give it a name and a value, or leave it out`)
  // fromEntries defines own members, so "__proto__" is an ordinary name.
  return Object.fromEntries(entries)
}

function jsonObject(value: string, name: string): object {
  let parsed: unknown
  try {
    parsed = JSON.parse(value)
  } catch {
    parsed = null
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw invalid(`${name}: expected a JSON object or ${name}[name]=value`)
  }
  return parsed
}

function asText(value: unknown, name: string): string {
  if (typeof value === 'string' && !value.includes('\0')) return value
  throw invalid(`${name}: every value must be a string`)
}

function one<T>(absent: T, schema: Field<T>['schema'], read: (text: string, name: string) => T): Field<T> {
  return {
    spelling: 'one',
    required: false,
    schema,
    absent,
    read({ values }, name) {
      if (values.length !== 1) throw invalid(`${name}: expected exactly one value`)
      return read(values[0]!, name)
    },
  }
}

function many<T>(
  items: Field<T>['schema'],
  read: (text: string, name: string) => T,
): Field<readonly T[] | undefined> {
  return {
    spelling: 'many',
    required: false,
    schema: { type: 'array', items, maxItems: listLengthMax },
    absent: undefined,
    read({ values, pairs }, name) {
      const indexed = pairs.map(([index, value]) => {
        if (/^\d{0,4}$/.test(index)) return value
        throw invalid(`${name}: expected ${name}=… repeated, or ${name}[]=…`)
      })
      const given = [...values, ...indexed].flatMap(value => value.split(','))
      if (given.includes('')) throw invalid(`${name} has an empty value: give it one, or leave it out`)
      if (given.length > listLengthMax) throw invalid(`${name} has more than ${listLengthMax} values`)
      return given.map(value => read(value, name))
    },
  }
}

function word<T extends readonly string[]>(words: T, value: string, name: string): T[number] {
  if (words.includes(value)) return value
  throw invalid(`${name}: expected one of ${words.join(', ')}`)
}

function wholeNumber(value: string, name: string, min: number, max: number): number {
  const number = /^-?\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw invalid(
    `${name}: expected a whole number${max === Number.MAX_SAFE_INTEGER ? ` of at least ${min}` : ` from ${min} to ${max}`}`,
  )
}

function invalid(message: string): ServiceError {
  return new ServiceError('query_invalid', message)
}
