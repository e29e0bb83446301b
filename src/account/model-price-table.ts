// The built-in price table (decision 36): prices of real models from a dated data file that the build makes, and two
// examples. Accounts set their own with PUT /model-prices.
import { readFileSync } from 'node:fs'
import type { ModelPrice } from '../core/model/model-price.js'

/** A row of the data file. `since` is a day, in UTC. */
interface Row extends Omit<ModelPrice, 'currency' | 'effectiveAtMs'> {
  readonly since: string
}

/** A test of a model's name. */
type Match =
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }
  | { readonly or: readonly Match[] }
  | { readonly and: readonly Match[] }

type Names = readonly (readonly [model: string, match: Match])[]

const file = JSON.parse(
  readFileSync(new URL('../../bundled/model-prices/prices.json', import.meta.url), 'utf8'),
) as {
  readonly date: string
  readonly prices: readonly Row[]
  /** By provider. */
  readonly names: Readonly<Record<string, Names>>
}

const dayMs = 86_400_000
const agedDays = 90

const sample = (
  model: string,
  input: string,
  cachedInput: string,
  cacheWrite: string,
  output: string,
): ModelPrice => ({
  provider: 'tollgate',
  model,
  currency: 'usd',
  effectiveAtMs: Date.UTC(2026, 0, 1),
  input,
  output,
  cachedInput,
  cacheWrite,
  reasoning: null,
  perRequest: null,
})

/** A small and a large example of the provider "tollgate", then the real models, in US dollars. */
export const builtInPrices: readonly ModelPrice[] = [
  sample('sample-small', '0.5', '0.05', '0.625', '2'),
  sample('sample-large', '3', '0.3', '3.75', '15'),
  ...file.prices.map(({ since, ...price }) => ({
    ...price,
    currency: 'usd',
    effectiveAtMs: Date.parse(`${since}T00:00:00Z`),
  })),
]

/** Names that were looked for, and the models found; at most so many. */
const found = new Map<string, string | null>()
const foundMax = 10_000

/**
 * Find the model of the built-in table that a provider means by a name: dated names and aliases stand for a model. The price
 * of the model may be unknown.
 *
 * returns  null for a provider or model that the table does not know.
 * source   decision 36, EV-67.
 */
export function builtInModel(provider: string, name: string): string | null {
  const key = JSON.stringify([provider, name])
  const known = found.get(key)
  if (known !== undefined) return known
  const names = Object.hasOwn(file.names, provider) ? file.names[provider]! : []
  const text = name.toLowerCase()
  const model =
    name.length > nameLengthMax ? null : (names.find(([, match]) => fits(match, text))?.[0] ?? null)
  if (found.size >= foundMax) found.clear()
  found.set(key, model)
  return model
}

const nameLengthMax = 200

function fits(match: Match, name: string): boolean {
  if ('equals' in match) return match.equals.toLowerCase() === name
  if ('starts_with' in match) return name.startsWith(match.starts_with.toLowerCase())
  if ('ends_with' in match) return name.endsWith(match.ends_with.toLowerCase())
  if ('contains' in match) return name.includes(match.contains.toLowerCase())
  if ('regex' in match) return new RegExp(match.regex).test(name)
  return 'or' in match ? match.or.some(one => fits(one, name)) : match.and.every(one => fits(one, name))
}

/** The day of the built-in prices, as YYYY-MM-DD. */
export const builtInPricesDate = file.date

/** A warning when the built-in prices are older than 90 days, else null. source: decision 36 */
export function agedPrices(nowMs: number, date: string = builtInPricesDate): string | null {
  const days = Math.floor((nowMs - Date.parse(`${date}T00:00:00Z`)) / dayMs)
  if (days <= agedDays) return null
  return `The built-in model prices are of ${date}, ${days} days ago: install a newer Tollgate, or set your own with PUT /model-prices.`
}
