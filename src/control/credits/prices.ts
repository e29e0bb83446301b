// The price of one credit in each currency, alone or in a bundle.
import type { CreditCurrencyPriceWrite } from '../../../schemas/credits.js'
import type { PriceTerms, StoredPrice } from '../../catalog/prices.js'
import { roundHalfUp } from '../../core/pricing/price.js'
import { decimalToText, multiply, parseDecimal } from '../../core/values/amount.js'
import { isQuantity, type Quantity, readQuantity, storedQuantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { Exact } from '../../kit/long.js'
import { whole } from '../../kit/unchanged.js'
import { wholePrice } from '../prices/whole-price.js'
import { normalisePrices } from '../prices/write.js'

/** Prices in a request: undefined is unchanged, null is no price. */
interface UnitPriceWrite {
  readonly amount: Quantity | null | undefined
  readonly exact: string | null | undefined
  readonly others: readonly Exact<CreditCurrencyPriceWrite>[] | null | undefined
}

/**
 * The prices of one credit: first the one in its own currency, then those of the list. The list replaces the stored
 * list. If it names the credit's own currency too, the list wins.
 *
 * errors  400 for a currency listed twice.
 * source  PB-41 (the decimal wins), PB-43, decision 26.
 */
export function unitPrices(
  ownerId: string,
  currency: string,
  { amount, exact, others }: UnitPriceWrite,
  former: readonly StoredPrice[],
): StoredPrice[] {
  const isOwn = (price: PriceTerms): boolean => price.currency === currency
  const had = former.find(isOwn)
  const said = whole(
    { amount, exact },
    { amount: had ? readQuantity(had.price) : null, exact: had?.price_decimal ?? null },
    [['amount', 'exact']],
  )
  const own = terms(currency, said.amount, said.exact)
  const listed: readonly PriceTerms[] =
    others === undefined ? former.filter(price => !isOwn(price)) : (others ?? []).flatMap(listedTerms)
  const twice = listed.find((price, i) => listed.findIndex(one => one.currency === price.currency) < i)
  if (twice) throw new ServiceError('value_invalid', `currency_prices: ${twice.currency} is priced twice`)
  return normalisePrices(ownerId, listed.some(isOwn) ? listed : [...own, ...listed], former)
}

function listedTerms(price: Exact<CreditCurrencyPriceWrite>): PriceTerms[] {
  return terms(price.currency, price.price_per_unit ?? null, price.price_per_unit_decimal ?? null)
}

function terms(currency: string, amount: Quantity | null, exact: string | null): PriceTerms[] {
  if (amount === null && exact === null) return []
  return [
    {
      currency,
      cadence: 'one_time',
      price: storedQuantity(wholePrice(amount, exact)),
      price_decimal: exact,
      tiers: null,
      tiers_mode: null,
      usage_type: 'licensed',
    },
  ]
}

/**
 * The price of a whole bundle, stored beside the price of one credit (PB-73). If the buyer chooses the quantity, it
 * is the price of one credit.
 *
 * errors  400 for a price beyond 64 bits.
 */
export function bundlePrice(unit: StoredPrice, quantity: number | null): StoredPrice {
  const each = parseDecimal(unit.price_decimal ?? String(unit.price))!
  const whole = multiply(each, { units: BigInt(quantity ?? 1), scale: 0 })
  const price = roundHalfUp(whole)
  if (!isQuantity(price))
    throw new ServiceError('value_invalid', 'The price of the whole bundle is beyond 64 bits')
  const isWhole = whole.units % 10n ** BigInt(whole.scale) === 0n
  const id = `${unit.id}w`
  return {
    ...unit,
    id,
    external_id: id,
    price: storedQuantity(price),
    price_decimal: isWhole ? null : decimalToText(whole),
    minted_at: null,
  }
}
