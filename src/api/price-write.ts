// Prices as callers state them, settled into what is stored: per currency and cadence, tiers checked, decimals winning.
import type { Sql } from 'postgres'
import type { BillingPriceUsageType, BillingTiersMode } from '../../schemas/enums.js'
import type {
  BillingProductWrite,
  CurrencyPriceWrite,
  EntitlementPriceWrite,
  PlanCurrencyPriceWrite,
  PriceTierWrite,
} from '../../schemas/prices.js'
import {
  type Cadence,
  cadenceOf,
  draftPriceId,
  type PriceTerms,
  type StoredPrice,
  type StoredTier,
  sameTerms,
} from '../catalog/prices.js'
import { parseDecimal } from '../core/amount.js'
import { roundHalfUp } from '../core/price.js'
import { ServiceError } from '../errors.js'
import { type BillingPriceRow, findPrice } from './billing-rows.js'

/** The currency meant where none is named (gaps.md). */
export const defaultCurrency = 'usd'

const unitCadences = ['monthly', 'quarterly', 'yearly'] as const

/** Amounts of a plan in one currency. */
type PlanAmounts = Omit<PlanCurrencyPriceWrite, 'currency'>

/**
 * What a plan costs.
 *
 * returns  prices of the cadences its charge type knows, each currency once; none for a plan that charges nothing.
 * errors   400 for a currency given twice.
 * source   PB-42, PB-43.
 */
export function planPriceTerms(body: BillingProductWrite): PriceTerms[] {
  const charged: readonly Cadence[] =
    body.charge_type === 'recurring' ? unitCadences : body.charge_type === 'one_time' ? ['one_time'] : []
  const terms: PriceTerms[] = []
  const add = (currency: string, amounts: PlanAmounts) => {
    for (const cadence of charged) {
      const price = amounts[`${cadence}_price`]
      if (price != null)
        terms.push({ ...noTiers, currency: currency.toLowerCase(), cadence, price, usage_type: 'licensed' })
    }
  }
  add(body.currency ?? defaultCurrency, body)
  for (const prices of body.currency_prices ?? []) add(prices.currency, prices)
  return distinct(terms)
}

const noTiers = { price_decimal: null, tiers: null, tiers_mode: null } as const

/**
 * What a unit of an entitlement costs.
 *
 * usageType  licensed where units are bought in advance, else metered.
 * errors     400 for a currency given twice, for tiers that do not ascend or whose last one is closed.
 * source     PB-40, PB-41, PB-43.
 */
export function unitPriceTerms(body: EntitlementPriceWrite, usageType: BillingPriceUsageType): PriceTerms[] {
  const mode = body.tier_mode ?? 'graduated'
  const base: CurrencyPriceWrite = {
    ...body,
    currency: body.currency ?? defaultCurrency,
    monthly_price_tiers: body.monthly_price_tiers ?? body.price_tiers,
  }
  const terms = [base, ...(body.currency_prices ?? [])].flatMap(prices => unitTerms(prices, mode, usageType))
  return distinct(terms)
}

function unitTerms(
  prices: CurrencyPriceWrite,
  mode: BillingTiersMode,
  usageType: BillingPriceUsageType,
): PriceTerms[] {
  const terms: PriceTerms[] = []
  for (const cadence of unitCadences) {
    const amount = prices[`${cadence}_unit_price`] ?? null
    const exact = prices[`${cadence}_unit_price_decimal`] ?? null
    const tiers = settleTiers(prices[`${cadence}_price_tiers`] ?? [], `${cadence}_price_tiers`)
    if (amount === null && exact === null && tiers.length === 0) continue
    terms.push({
      currency: prices.currency.toLowerCase(),
      cadence,
      price: rounded(amount, exact),
      price_decimal: exact,
      tiers: tiers.length === 0 ? null : tiers,
      tiers_mode: tiers.length === 0 ? null : mode,
      usage_type: usageType,
    })
  }
  return terms
}

/** PB-41: the decimal wins and is rounded half-up. */
function rounded(amount: number | null, exact: string | null): number {
  const decimal = exact === null ? null : parseDecimal(exact)
  return decimal === null ? (amount ?? 0) : roundHalfUp(decimal)
}

function settleTiers(tiers: readonly PriceTierWrite[], member: string): StoredTier[] {
  let below = 0
  return tiers.map((tier, i) => {
    const last = i === tiers.length - 1
    if (last !== (tier.up_to == null))
      throw new ServiceError('value_invalid', `${member}: the last tier, and only it, has no up_to`)
    if (!last && tier.up_to! <= below)
      throw new ServiceError('value_invalid', `${member}: up_to must ascend from tier to tier`)
    below = tier.up_to ?? below
    return {
      up_to: tier.up_to ?? null,
      flat_amount: tier.flat_amount ?? 0,
      per_unit_price: rounded(tier.per_unit_price ?? null, tier.per_unit_price_decimal ?? null),
      per_unit_price_decimal: tier.per_unit_price_decimal ?? null,
    }
  })
}

function distinct(terms: PriceTerms[]): PriceTerms[] {
  const seen = new Set<string>()
  for (const { currency, cadence } of terms) {
    if (seen.has(`${currency} ${cadence}`))
      throw new ServiceError('value_invalid', `currency_prices: ${currency} is priced twice`)
    seen.add(`${currency} ${cadence}`)
  }
  return terms
}

/**
 * Give stated prices their identity: one that is unchanged stays the price it was, another is the draft's own until it
 * is published.
 *
 * ownerId  the draft version, or the entitlement of one.
 */
export function settlePrices(
  ownerId: string,
  terms: readonly PriceTerms[],
  former: readonly StoredPrice[],
): StoredPrice[] {
  return terms.map(
    wanted =>
      former.find(price => sameTerms(price, wanted)) ?? {
        ...wanted,
        id: draftPriceId(ownerId, wanted),
        provider_type: 'native',
        external_id: null,
        product_id: null,
        minted_at: null,
      },
  )
}

/** The prices of another plan, to be this one's own: those minted here begin anew, a provider's stay the provider's. */
export function adoptPrices(ownerId: string, prices: readonly StoredPrice[]): readonly StoredPrice[] {
  return prices.map(price =>
    price.provider_type === 'native' ? settlePrices(ownerId, [price], [])[0]! : price,
  )
}

/**
 * Prices that exist already, named instead of stated. They win over one stated for the same cadence and currency.
 *
 * errors  404 for one the environment does not have, 400 for one of another cadence or product.
 */
export async function namedPrices(
  tx: Sql,
  environmentId: string,
  named: readonly (readonly [cadence: Cadence, member: string, id: string | null | undefined])[],
  productId: string | null,
): Promise<StoredPrice[]> {
  const prices: StoredPrice[] = []
  for (const [cadence, member, id] of named) {
    if (id == null) continue
    const row = await findPrice(tx, environmentId, id)
    if (!row) throw new ServiceError('not_found', `${member}: no such price`)
    if (cadenceOf(row.interval, row.interval_count) !== cadence)
      throw new ServiceError('value_invalid', `${member}: the price has another interval`)
    if (productId !== null && row.product_id !== productId)
      throw new ServiceError('value_invalid', `${member}: the price is of another product`)
    prices.push(storedPrice(row, cadence))
  }
  return prices
}

function storedPrice(row: BillingPriceRow, cadence: Cadence): StoredPrice {
  return {
    id: row.id,
    currency: row.currency,
    cadence,
    price: Number(row.price),
    price_decimal: row.price_decimal,
    tiers: row.price_tiers.length === 0 ? null : row.price_tiers,
    tiers_mode: row.tiers_mode,
    usage_type: row.usage_type,
    provider_type: row.provider_type,
    external_id: row.external_id,
    product_id: row.product_id,
    minted_at: row.created_at.toISOString(),
  }
}

/** Named prices, and those stated that no named one stands for. */
export function mergePrices(named: readonly StoredPrice[], stated: readonly StoredPrice[]): StoredPrice[] {
  const taken = new Set(named.map(price => `${price.currency} ${price.cadence}`))
  return [...named, ...stated.filter(price => !taken.has(`${price.currency} ${price.cadence}`))]
}
