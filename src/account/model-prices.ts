// Prices of inference models, in memory on the HTTP thread: the built-in table and each account's own.
import type { Sql } from 'postgres'
import {
  inferenceCost,
  type ModelPrice,
  type PriceTable,
  priceOf,
  priceTable,
  type Tokens,
} from '../core/model/model-price.js'
import type { InferenceCost } from '../core/model/requests.js'
import { derivedId } from '../core/values/id.js'
import { builtInModel, builtInPrices } from './model-price-table.js'

interface PriceRow {
  readonly account_id: string
  readonly provider: string
  readonly model: string
  readonly currency: string
  readonly effective_at: Date
  readonly input: string
  readonly cached_input: string | null
  readonly cache_write: string | null
  readonly output: string
  readonly reasoning: string | null
  readonly per_request: string | null
}

const builtIn = priceTable(builtInPrices)

/** Id of a price in stored events, derived from its key members. */
const priceId = (accountId: string, price: ModelPrice): string =>
  derivedId('mpri_', accountId, price.provider, price.model, price.currency, price.effectiveAtMs)

export class ModelPrices {
  private prices = new Map<string, readonly ModelPrice[]>()
  private tables = new Map<string, PriceTable>()

  constructor(private readonly sql: Sql) {}

  /** Load every account's prices, at start. */
  async load(): Promise<void> {
    const rows = await this.sql<PriceRow[]>`select * from model_prices order by created_at, id`
    const prices = new Map<string, ModelPrice[]>()
    for (const row of rows) {
      const list = prices.get(row.account_id) ?? []
      list.push(priceOfRow(row))
      prices.set(row.account_id, list)
    }
    this.prices = prices
    this.tables = new Map([...prices].map(([accountId, list]) => [accountId, priceTable(list)]))
  }

  /** The account's own prices as they are stored, then the built-in ones. */
  async list(sql: Sql, accountId: string): Promise<readonly ModelPrice[]> {
    const rows = await sql<PriceRow[]>`
      select * from model_prices where account_id = ${accountId}
      order by provider collate "C", model collate "C", currency, effective_at`
    return [...rows.map(priceOfRow), ...builtInPrices]
  }

  /**
   * Replace the account's own prices; they apply to events from now on (decision 18).
   *
   * first  runs in its transaction before anything is changed, under its lock.
   */
  async put(
    accountId: string,
    prices: readonly ModelPrice[],
    nowMs: number,
    first: (tx: Sql) => Promise<void> = async () => {},
  ): Promise<void> {
    await this.sql.begin(async tx => {
      await tx`select pg_advisory_xact_lock(hashtextextended('model prices ' || ${accountId}, 0))`
      await first(tx as unknown as Sql)
      await tx`delete from model_prices where account_id = ${accountId}`
      if (prices.length === 0) return
      const rows = prices.map(price => ({
        id: priceId(accountId, price),
        account_id: accountId,
        provider: price.provider,
        model: price.model,
        currency: price.currency,
        effective_at: new Date(price.effectiveAtMs),
        input: price.input,
        cached_input: price.cachedInput,
        cache_write: price.cacheWrite,
        output: price.output,
        reasoning: price.reasoning,
        per_request: price.perRequest,
        created_at: new Date(nowMs),
      }))
      await tx`insert into model_prices ${tx(rows)}`
    })
    this.prices.set(accountId, prices)
    this.tables.set(accountId, priceTable(prices))
  }

  /**
   * The cost of an inference, by the account's price in force at its time, else the built-in one, else the built-in one of
   * the model that the provider means by the name.
   *
   * returns  null without a price (EV-63).
   * source   EV-62, EV-67: names of own prices are compared exactly; decision 36.
   */
  cost(
    accountId: string,
    provider: string,
    model: string,
    currency: string,
    atMs: number,
    tokens: Tokens,
  ): InferenceCost | null {
    const own = this.tables.get(accountId)
    const price =
      (own && priceOf(own, provider, model, currency, atMs)) ??
      priceOf(builtIn, provider, model, currency, atMs) ??
      builtInOf(provider, model, currency, atMs)
    if (!price) return null
    return {
      amount: inferenceCost(tokens, price),
      currency: price.currency,
      priceId: priceId(accountId, price),
    }
  }
}

/** The built-in price of a model by another of its names. */
function builtInOf(provider: string, name: string, currency: string, atMs: number): ModelPrice | null {
  const model = builtInModel(provider, name)
  return model === null ? null : priceOf(builtIn, provider, model, currency, atMs)
}

function priceOfRow(row: PriceRow): ModelPrice {
  return {
    provider: row.provider,
    model: row.model,
    currency: row.currency,
    effectiveAtMs: row.effective_at.getTime(),
    input: row.input,
    output: row.output,
    cachedInput: row.cached_input,
    cacheWrite: row.cache_write,
    reasoning: row.reasoning,
    perRequest: row.per_request,
  }
}
