// The built-in price table (decision 36): prices of real models from a dated data file that the build makes, and two
// examples. Accounts set their own with PUT /model-prices.
import { readFileSync } from 'node:fs'
import type { ModelPrice } from '../core/model/model-price.js'

/** A row of the data file. `since` is a day, in UTC. */
interface Row extends Omit<ModelPrice, 'currency' | 'effectiveAtMs'> {
  readonly since: string
}

const file = JSON.parse(
  readFileSync(new URL('../../bundled/model-prices/prices.json', import.meta.url), 'utf8'),
) as { readonly date: string; readonly prices: readonly Row[] }

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

/** The day of the built-in prices, as YYYY-MM-DD. */
export const builtInPricesDate = file.date

/** A warning when the built-in prices are older than 90 days, else null. source: decision 36 */
export function agedPrices(nowMs: number, date: string = builtInPricesDate): string | null {
  const days = Math.floor((nowMs - Date.parse(`${date}T00:00:00Z`)) / dayMs)
  if (days <= agedDays) return null
  return `The built-in model prices are of ${date}, ${days} days ago: install a newer Tollgate, or set your own with PUT /model-prices.`
}
