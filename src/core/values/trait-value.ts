// Trait values: from JSON to stored text and back, and the type a value suggests at first sight (CU-30…34).
import type { TraitType } from '../../../schemas/enums.js'
import { allFinite, wholeDigits } from './exact-json.js'

const depthMax = 5
const traitsMax = 200
const nameLengthMax = 255

/** One trait of a call. `text` null removes the value; the inferred type means nothing then. */
interface FlatTrait {
  /** The hierarchy joined by ".". */
  readonly name: string
  readonly hierarchy: readonly string[]
  readonly text: string | null
  readonly inferredType: TraitType
}

/** Why a map of traits cannot be taken; the text is for people. */
interface TraitsRefused {
  readonly refused: string
}

/**
 * A map of traits as a flat list.
 *
 * json     member names and values as the caller sent them; nested objects are paths, arrays are values.
 * returns  the traits in the order given; or the refusal: deeper than 5, more than 200, a name empty or too long.
 *          A path given twice ({"a.b": 1, "a": {"b": 2}}) is there twice: the last counts.
 * source   CU-33, CU-34; an object without members is no trait, null in the place of an object removes the trait of
 *          that very path: decisions.
 */
export function flattenTraits(json: Readonly<Record<string, unknown>>): FlatTrait[] | TraitsRefused {
  const found: FlatTrait[] = []
  const refused = collect(json, [], found)
  return refused === null ? found : { refused }
}

// The reason to refuse, or null.
function collect(json: object, path: readonly string[], found: FlatTrait[]): string | null {
  for (const [part, value] of Object.entries(json)) {
    const hierarchy = [...path, part]
    const name = hierarchy.join('.')
    if (part === '') return 'traits: a name is empty'
    if (name.length > nameLengthMax) return `traits: a name is longer than ${nameLengthMax} characters`
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      if (hierarchy.length >= depthMax && Object.keys(value).length > 0)
        return `traits: nested deeper than ${depthMax}`
      const refused = collect(value, hierarchy, found)
      if (refused !== null) return refused
      continue
    }
    if (found.length === traitsMax) return `traits: more than ${traitsMax}`
    if (!allFinite(value)) return `traits: ${name} has a number beyond 1e308`
    found.push({ name, hierarchy, text: traitText(value), inferredType: inferType(value) })
  }
  return null
}

/**
 * A value as it is stored: numbers shortest, booleans as words, strings verbatim, arrays as compact JSON. A whole number
 * is written in digits, however large it is: one that JSON.parse would round comes as bigint.
 *
 * source  CU-32, CU-33.
 */
export function traitText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return numberText(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return compact(value)
}

/** A finite number, shortest. From 1e21 on JavaScript would write whole numbers with an exponent. */
function numberText(value: number | bigint): string {
  const text = String(value === 0 ? 0 : value) // -0 is 0
  return text.includes('e+') ? (wholeDigits(text) ?? text) : text
}

/** JSON text of a value, with the digits of bigints, which JSON.stringify refuses. */
function compact(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return numberText(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(compact).join(',')}]`
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}:${compact(one)}`)
    .join(',')}}`
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$/
const webAddress = /^https?:\/\//

/** The type a definition gets from the first value seen (CU-31); `currency` comes from administrators alone. */
export function inferType(value: unknown): TraitType {
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'number' || typeof value === 'bigint') return 'number'
  if (typeof value !== 'string') return 'string'
  if (rfc3339.test(value) && isInstant(value)) return 'date'
  return webAddress.test(value) ? 'url' : 'string'
}

// Date.parse takes 30 February for 1 March: the day must still be there when it is written again.
function isInstant(text: string): boolean {
  const day = text.slice(0, 10)
  const ms = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day) return false
  return text.length === 10 || !Number.isNaN(Date.parse(text.replace(' ', 'T')))
}

const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

/**
 * A stored value as the map view shows it: a number or boolean when the text is one and the type says so, else text.
 *
 * source  CU-32. A whole number beyond 2^53 stays text, because a JSON number would not say the same: decision.
 */
export function traitJson(text: string, type: TraitType): string | number | boolean {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type !== 'number' && type !== 'currency') return text
  if (!decimal.test(text)) return text
  const number = Number(text)
  if (!Number.isFinite(number)) return text
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? text : number
}
