// The price of one credit in each currency, alone or in a bundle.
import type { CreditCurrencyPriceWrite } from '../../../schemas/credits.js'
import type { PriceTerms, StoredPrice } from '../../catalog/prices.js'
import { decimalToText, multiply, parseDecimal } from '../../core/credits/amount.js'
import { roundHalfUp } from '../../core/pricing/price.js'
import { ServiceError } from '../../errors.js'
import { whole } from '../kit/unchanged.js'
import { settlePrices } from '../prices/write.js'

/** Prices in a request: undefined is unchanged, null is no price. */
export interface UnitPriceWrite {
  readonly amount: number | null | undefined
  readonly exact: string | null | undefined
  readonly others: readonly CreditCurrencyPriceWrite[] | null | undefined
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
  const said = whole({ amount, exact }, { amount: had?.price ?? null, exact: had?.price_decimal ?? null }, [
    ['amount', 'exact'],
  ])
  const own = terms(currency, said.amount, said.exact)
  const listed: readonly PriceTerms[] =
    others === undefined ? former.filter(price => !isOwn(price)) : (others ?? []).flatMap(listedTerms)
  const twice = listed.find((price, i) => listed.findIndex(one => one.currency === price.currency) < i)
  if (twice) throw new ServiceError('value_invalid', `currency_prices: ${twice.currency} is priced twice`)
  return settlePrices(ownerId, listed.some(isOwn) ? listed : [...own, ...listed], former)
}

function listedTerms(price: CreditCurrencyPriceWrite): PriceTerms[] {
  return terms(price.currency, price.price_per_unit ?? null, price.price_per_unit_decimal ?? null)
}

function terms(currency: string, amount: number | null, exact: string | null): PriceTerms[] {
  if (amount === null && exact === null) return []
  const decimal = exact === null ? null : parseDecimal(exact)
  return [
    {
      currency,
      cadence: 'one_time',
      price: decimal === null ? (amount ?? 0) : roundHalfUp(decimal),
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
 */
export function bundlePrice(unit: StoredPrice, quantity: number | null): StoredPrice {
  const each = parseDecimal(unit.price_decimal ?? String(unit.price))!
  const whole = multiply(each, { units: BigInt(quantity ?? 1), scale: 0 })
  const isWhole = whole.units % 10n ** BigInt(whole.scale) === 0n
  const id = `${unit.id}w` // sql/postgres derives the same id for older bundles
  return {
    ...unit,
    id,
    external_id: id,
    price: roundHalfUp(whole),
    price_decimal: isWhole ? null : decimalToText(whole),
    minted_at: null,
  }
}
