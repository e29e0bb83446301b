// Costs and credits of inferences against the specification's cases and rules.
import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  inferenceCost,
  inferenceCredits,
  type ModelPrice,
  plainInput,
  priceOf,
  priceTable,
  type Tokens,
} from '../../../src/core/model/model-price.js'
import { amountToNumber } from '../../../src/core/values/amount.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/conformance-vectors.json', import.meta.url), 'utf8'),
)

type Numbers = Readonly<Record<string, number | undefined>>

function tokensOf(input: Numbers): Tokens {
  return {
    input: input.input_tokens ?? 0,
    output: input.output_tokens ?? 0,
    cachedInput: input.cached_input_tokens ?? 0,
    cacheWrite: input.cache_creation_input_tokens ?? 0,
    reasoning: input.reasoning_tokens ?? 0,
    requests: input.requests ?? 1,
  }
}

function price(changes: Partial<ModelPrice> = {}): ModelPrice {
  return {
    provider: 'maker',
    model: 'm-1',
    currency: 'usd',
    effectiveAtMs: 0,
    input: '3',
    output: '15',
    cachedInput: null,
    cacheWrite: null,
    reasoning: null,
    perRequest: null,
    ...changes,
  }
}

function priceFrom(pricing: Numbers): ModelPrice {
  const text = (value: number | undefined): string | null => (value === undefined ? null : String(value))
  return price({
    input: String(pricing.input),
    output: String(pricing.output),
    cachedInput: text(pricing.cached_input),
    cacheWrite: text(pricing.cache_creation_input),
    reasoning: text(pricing.reasoning),
    perRequest: text(pricing.request),
  })
}

t.test('inference costs of the conformance cases (EV-61, EV-62)', async t => {
  for (const { id, input, expected } of vectors.inference_cost) {
    const tokens = tokensOf(input)
    const actual = {
      plain_input_tokens: plainInput(tokens),
      cost: inferenceCost(tokens, priceFrom(input.pricing)),
    }
    t.same(actual, expected, id)
  }
})

t.test('inference credits of the conformance cases (EV-65, EN-42)', async t => {
  for (const { id, input, expected } of vectors.inference_credits) {
    const credits = inferenceCredits(
      tokensOf(input),
      input.consumption_rate ?? null,
      input.quantity_rates ?? null,
    )
    t.equal(amountToNumber(credits), expected.credits, id)
  }
})

const million = tokensOf({ input_tokens: 1_000_000, output_tokens: 0 })

t.test('EV-62 the price is the one in force at the instant', async t => {
  const table = priceTable([
    price({ effectiveAtMs: 1000, input: '5' }),
    price({ effectiveAtMs: 0, input: '3' }),
  ])
  const at = (ms: number): string => inferenceCost(million, priceOf(table, 'maker', 'm-1', 'usd', ms)!)
  t.equal(at(999), '3')
  t.equal(at(1000), '5')
})

t.test('EV-62 a later entry for the same names and instant replaces the earlier', async t => {
  const table = priceTable([price({ input: '3' }), price({ input: '4' })])
  t.equal(inferenceCost(million, priceOf(table, 'maker', 'm-1', 'usd', 5)!), '4')
})

t.test('EV-63 no price known: null, and currencies are kept apart', async t => {
  const table = priceTable([price()])
  t.equal(priceOf(table, 'maker', 'm-2', 'usd', 5), null)
  t.equal(priceOf(table, 'maker', 'm-1', 'eur', 5), null)
  t.equal(priceOf(table, 'maker', 'm-1', 'usd', -1), null)
  t.not(priceOf(table, 'maker', 'm-1', 'USD', 5), null)
})

t.test('EV-67 names are taken verbatim', async t => {
  const table = priceTable([price({ provider: 'a","b', model: '__proto__' })])
  t.not(priceOf(table, 'a","b', '__proto__', 'usd', 0), null)
  t.equal(priceOf(table, 'a', 'b","__proto__', 'usd', 0), null)
})

t.test('EV-63 a cost is rounded half-even to twelve digits', async t => {
  const one = tokensOf({ input_tokens: 1 })
  t.equal(inferenceCost(one, price({ input: '0.0000005' })), '0')
  t.equal(inferenceCost(one, price({ input: '0.0000015' })), '0.000000000002')
  t.equal(inferenceCost(one, price({ input: '0.00000050001' })), '0.000000000001')
})

t.test('EV-65 a missing rate is 1 alone, 0 beside quantity rates', async t => {
  const tokens = tokensOf({ input_tokens: 10, requests: 2 })
  t.equal(inferenceCredits(tokens, null, null), 2_000_000_000n)
  t.equal(inferenceCredits(tokens, null, { input_tokens: 0.5 }), 5_000_000_000n)
  t.equal(inferenceCredits(tokens, null, { something_else: 7 }), 0n)
})

t.test('EN-42 credits are summed exactly and rounded once', async t => {
  const tokens = tokensOf({ input_tokens: 1, output_tokens: 1, requests: 0 })
  // Each half a nano: rounded one by one they would vanish.
  t.equal(inferenceCredits(tokens, null, { input_tokens: 5e-10, output_tokens: 5e-10 }), 1n)
})

t.test('a price that is no decimal is our mistake', async t => {
  t.throws(() => inferenceCost(million, price({ input: 'cheap' })), RangeError)
})
