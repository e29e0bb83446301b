// GET and PUT /model-prices: the prices of inference events that carry no cost of their own (decision 18).
import type { ModelPriceView } from '../../../schemas/model-prices.js'
import type { ModelPrice } from '../../core/model/model-price.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../../kit/call.js'
import { isoTime, requireTime } from '../../kit/time.js'

/** The account's own prices first, then the built-in ones. The account's prices take precedence. */
export async function listModelPrices(call: Call): Promise<Answer> {
  const { modelPrices, sql } = call.services
  return { data: (await modelPrices.list(sql, call.key.accountId)).map(view) }
}

/** Replace all of the account's own prices. 400 for two prices of one model, currency and instant. */
export async function putModelPrices(call: Call<ModelPriceView[]>): Promise<Answer> {
  const prices = call.body.map(priceOf)
  const names = new Set(
    prices.map(one => JSON.stringify([one.provider, one.model, one.currency, one.effectiveAtMs])),
  )
  if (names.size < prices.length)
    throw new ServiceError('value_invalid', 'two prices of one provider, model, currency and effective_at')
  const { modelPrices, clock } = call.services
  await modelPrices.put(call.key.accountId, prices, clock.wall(), async tx => {
    await call.holds?.(tx)
    await call.record?.(tx)
  })
  return listModelPrices(call as unknown as Call)
}

function priceOf(body: ModelPriceView, index: number): ModelPrice {
  return {
    provider: body.provider,
    model: body.model,
    currency: body.currency.toLowerCase(),
    effectiveAtMs: requireTime(body.effective_at, `[${index}].effective_at`),
    input: body.input,
    output: body.output,
    cachedInput: body.cached_input ?? null,
    cacheWrite: body.cache_write ?? null,
    reasoning: body.reasoning ?? null,
    perRequest: body.per_request ?? null,
  }
}

function view(price: ModelPrice): ModelPriceView {
  return {
    provider: price.provider,
    model: price.model,
    currency: price.currency,
    effective_at: isoTime(price.effectiveAtMs),
    input: price.input,
    cached_input: price.cachedInput,
    cache_write: price.cacheWrite,
    output: price.output,
    reasoning: price.reasoning,
    per_request: price.perRequest,
  }
}
