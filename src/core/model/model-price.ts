// Cost of an inference, in money and in credits: prices per million tokens, by provider, model, currency and date.
import {
  type Amount,
  costOf,
  type Decimal,
  decimalOf,
  decimalToText,
  multiply,
  parseDecimal,
  roundHalfEven,
  sum,
} from '../values/amount.js'
import { type Quantity, subtractQuantity } from '../values/quantity.js'

/** Token counts of one inference event. Cached and written tokens are part of input, reasoning tokens of output (EV-61). */
export interface Tokens {
  readonly input: Quantity
  readonly output: Quantity
  readonly cachedInput: Quantity
  readonly cacheWrite: Quantity
  readonly reasoning: Quantity
  readonly requests: Quantity
}

/** The price of a model from an instant on. Decimal texts, per million tokens; `perRequest` per request. */
export interface ModelPrice {
  readonly provider: string
  readonly model: string
  /** Lower case. */
  readonly currency: string
  readonly effectiveAtMs: number
  readonly input: string
  readonly output: string
  /** null: the price of plain input. */
  readonly cachedInput: string | null
  readonly cacheWrite: string | null
  /** null: the price of output. */
  readonly reasoning: string | null
  /** null: nothing. */
  readonly perRequest: string | null
}

/** Prices by name, latest first, for `priceOf`. */
export type PriceTable = ReadonlyMap<string, readonly ModelPrice[]>

/** Index prices for lookup. Among prices with the same names and instant, the last in the list counts. */
export function priceTable(prices: readonly ModelPrice[]): PriceTable {
  const table = new Map<string, ModelPrice[]>()
  for (const price of prices) {
    const name = nameOf(price.provider, price.model, price.currency)
    const others = (table.get(name) ?? []).filter(other => other.effectiveAtMs !== price.effectiveAtMs)
    others.push(price)
    table.set(
      name,
      others.sort((a, b) => b.effectiveAtMs - a.effectiveAtMs),
    )
  }
  return table
}

/** Names are taken verbatim (EV-67), so they may hold anything but are never joined ambiguously. */
function nameOf(provider: string, model: string, currency: string): string {
  return JSON.stringify([provider, model, currency.toLowerCase()])
}

/** The price in force at an instant, or null when none is known. source: EV-62, EV-63 */
export function priceOf(
  table: PriceTable,
  provider: string,
  model: string,
  currency: string,
  atMs: number,
): ModelPrice | null {
  const prices = table.get(nameOf(provider, model, currency)) ?? []
  return prices.find(price => price.effectiveAtMs <= atMs) ?? null
}

/** Input tokens that were neither cached nor written to a cache. source: EV-61 */
export function plainInput(tokens: Tokens): Quantity {
  return subtractQuantity(subtractQuantity(tokens.input, tokens.cachedInput), tokens.cacheWrite)
}

const costDigits = 12

/**
 * Cost of an inference at a price, as decimal text in the price's currency: exact, then rounded half-even to twelve
 * digits. Throws RangeError when a price is no decimal: prices are checked when they are set. source: EV-61, EV-62,
 * EV-63
 */
export function inferenceCost(tokens: Tokens, price: ModelPrice): string {
  const perMillion = total([
    [plainInput(tokens), decimal(price.input)],
    [tokens.cachedInput, decimal(price.cachedInput ?? price.input)],
    [tokens.cacheWrite, decimal(price.cacheWrite ?? price.input)],
    [subtractQuantity(tokens.output, tokens.reasoning), decimal(price.output)],
    [tokens.reasoning, decimal(price.reasoning ?? price.output)],
  ])
  const ofTokens = { units: perMillion.units, scale: perMillion.scale + 6 }
  const cost = sum(ofTokens, total([[tokens.requests, decimal(price.perRequest ?? '0')]]))
  return decimalToText({ units: roundHalfEven(cost, costDigits), scale: costDigits })
}

function decimal(text: string): Decimal {
  const value = parseDecimal(text)
  if (value === null) throw new RangeError(`not a decimal: ${text}`)
  return value
}

function total(terms: readonly (readonly [count: Quantity, each: Decimal])[]): Decimal {
  return terms.reduce<Decimal>(
    (all, [count, each]) => sum(all, multiply({ units: BigInt(count), scale: 0 }, each)),
    {
      units: 0n,
      scale: 0,
    },
  )
}

/** The quantity keys that a rate may name. source: EN-42 */
export const quantityKeys = [
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_creation_input_tokens',
  'reasoning_tokens',
] as const

/**
 * Credits that an inference draws.
 *
 * consumptionRate  credits per request; missing: 1, or 0 beside quantity rates
 * quantityRates    credits per unit by quantity key; other keys count nothing
 * returns          nano-credits, exact, then rounded half-even to nine digits
 * source           EV-65, EN-42: a priced subset leaves its parent, an unpriced one stays in it, an unpriced parent is free
 */
export function inferenceCredits(
  tokens: Tokens,
  consumptionRate: number | null,
  quantityRates: Readonly<Record<string, number>> | null,
): Amount {
  if (quantityRates === null) return costOf(tokens.requests, consumptionRate ?? 1)
  const rates = new Map(Object.entries(quantityRates))
  const cached = rates.has('cached_input_tokens') ? tokens.cachedInput : 0
  const written = rates.has('cache_creation_input_tokens') ? tokens.cacheWrite : 0
  const reasoning = rates.has('reasoning_tokens') ? tokens.reasoning : 0
  const priced = (name: string): Decimal => decimalOf(rates.get(name) ?? 0)
  const credits = total([
    [tokens.requests, decimalOf(consumptionRate ?? 0)],
    [subtractQuantity(subtractQuantity(tokens.input, cached), written), priced('input_tokens')],
    [cached, priced('cached_input_tokens')],
    [written, priced('cache_creation_input_tokens')],
    [subtractQuantity(tokens.output, reasoning), priced('output_tokens')],
    [reasoning, priced('reasoning_tokens')],
  ])
  return roundHalfEven(credits, 9)
}
