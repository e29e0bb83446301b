// The built-in price table of models (N19, decision 36).
import t from 'tap'
import { parseModelPrices } from '../../../schemas/model-prices.js'
import {
  agedPrices,
  builtInModel,
  builtInPrices,
  builtInPricesDate,
} from '../../../src/account/model-price-table.js'
import { inferenceCost, priceOf, priceTable } from '../../../src/core/model/model-price.js'

t.test('N19 real models have a price, from the day of the data on', async t => {
  const table = priceTable(builtInPrices)
  const since = Date.parse(builtInPricesDate)
  const price = priceOf(table, 'openai', 'gpt-4o', 'USD', since)
  t.ok(price)
  t.equal(priceOf(table, 'openai', 'gpt-4o', 'USD', since - 1), null)
  const tokens = {
    input: 1_000_000,
    output: 1_000_000,
    cachedInput: 0,
    cacheWrite: 0,
    reasoning: 0,
    requests: 1,
  }
  t.equal(Number(inferenceCost(tokens, price!)), Number(price!.input) + Number(price!.output))
  t.ok(new Set(builtInPrices.map(one => one.provider)).size > 10)
})

t.test('N19 a model is found by the dated names that providers answer with', async t => {
  for (const [provider, name, model] of [
    ['openai', 'gpt-4o-2024-08-06', 'gpt-4o'],
    ['openai', 'gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
    ['openai', 'GPT-4o-2024-08-06', 'gpt-4o'],
    ['anthropic', 'claude-3-5-sonnet-20241022', 'claude-3-5-sonnet'],
    ['anthropic', 'claude-sonnet-4-20250514', 'claude-sonnet-4-0'],
    ['mistral', 'mistral-large-latest', 'mistral-large'],
    // priced by tier: known, and without a price
    ['anthropic', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['openai', 'nothing-of-theirs', null],
    ['nobody', 'gpt-4o', null],
    ['constructor', 'gpt-4o', null],
    ['openai', 'gpt-4o'.padEnd(300, 'o'), null],
  ] as const)
    for (const again of [false, true]) t.equal(builtInModel(provider, name), model, `${name} ${again}`)
  const table = priceTable(builtInPrices)
  const since = Date.parse(builtInPricesDate)
  t.ok(priceOf(table, 'anthropic', 'claude-3-5-sonnet', 'usd', since))
  t.equal(priceOf(table, 'anthropic', 'claude-sonnet-4-5', 'usd', since), null)
})

t.test('decision 36 every built-in price is one that PUT /model-prices takes', async t => {
  const rows = builtInPrices.map(one => ({
    provider: one.provider,
    model: one.model,
    currency: one.currency,
    effective_at: new Date(one.effectiveAtMs).toISOString(),
    input: one.input,
    cached_input: one.cachedInput,
    cache_write: one.cacheWrite,
    output: one.output,
    reasoning: one.reasoning,
    per_request: one.perRequest,
  }))
  t.match(parseModelPrices(JSON.stringify(rows)), { success: true })
  const names = rows.map(one => JSON.stringify([one.provider, one.model, one.effective_at]))
  t.equal(new Set(names).size, names.length, 'no two prices of one model and day')
})

t.test('decision 36 prices warn after 90 days, not before', async t => {
  const day = 86_400_000
  const date = '2026-09-23'
  t.equal(agedPrices(Date.parse(date) + 90 * day, date), null)
  t.match(agedPrices(Date.parse(date) + 91 * day, date), /2026-09-23, 91 days ago/)
})
