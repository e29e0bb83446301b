// The built-in price table (decision 18). It has only example models: prices of real models change faster than
// releases, so accounts set their own with PUT /model-prices.
import type { ModelPrice } from '../../core/pricing/model-price.js'

const price = (
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

/** Examples: a small and a large model of the provider "tollgate". */
export const builtInPrices: readonly ModelPrice[] = [
  price('sample-small', '0.5', '0.05', '0.625', '2'),
  price('sample-large', '3', '0.3', '3.75', '15'),
]
