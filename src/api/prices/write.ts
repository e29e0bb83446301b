// Prices as callers state them, settled into what is stored: per currency and cadence, tiers checked, decimals winning.
import { isDeepStrictEqual } from 'node:util'
import type { Sql } from 'postgres'
import type { BillingPriceUsageType, BillingTiersMode } from '../../../schemas/enums.js'
import type {
  BillingProductWrite,
  CurrencyPriceWrite,
  EntitlementPriceWrite,
  PriceTierWrite,
} from '../../../schemas/prices.js'
import {
  type Cadence,
  cadenceOf,
  draftPriceId,
  type PriceTerms,
  type StoredPrice,
  type StoredTier,
  sameTerms,
} from '../../catalog/prices.js'
import { parseDecimal } from '../../core/credits/amount.js'
import { roundHalfUp } from '../../core/pricing/price.js'
import { ServiceError } from '../../errors.js'
import { type BillingPriceRow, findPrice } from './rows.js'

/** The currency meant where none is named (gaps.md). */
export const defaultCurrency = 'usd'

const unitCadences = ['monthly', 'quarterly', 'yearly'] as const
type UnitCadence = (typeof unitCadences)[number]

/** What a body says of one price: undefined is unchanged, null clears (decision 26). */
interface Slot {
  readonly amount?: number | null | undefined
  readonly exact?: string | null | undefined
  readonly tiers?: readonly PriceTierWrite[] | null | undefined
}

/** What a body says of the prices of one thing. */
interface PriceChange {
  /** Of the members beside the list. */
  readonly currency: string
  /** Those that the thing is charged by; prices of others go. */
  readonly cadences: readonly Cadence[]
  /** The members beside the list. */
  readonly slot: (cadence: Cadence) => Slot
  /** The prices in other currencies, as a whole; undefined: they stay. */
  readonly listed: readonly PriceTerms[] | undefined
  /** Of tiers; null or undefined: as they are, or graduated. */
  readonly mode: BillingTiersMode | null | undefined
  /** Null: as they are. */
  readonly usageType: BillingPriceUsageType | null
  readonly named: NamedPrices
}

/**
 * The prices of a plan after a body was heard.
 *
 * currency  of the members beside the list.
 * former    as they were; empty for a plan without.
 * returns   prices of the cadences its charge type knows; none for a plan that charges nothing.
 * errors    400 for a price given twice.
 * source    PB-42, PB-43, decision 26.
 */
export function planPrices(
  ownerId: string,
  body: BillingProductWrite,
  currency: string,
  named: NamedPrices,
  former: readonly StoredPrice[],
): StoredPrice[] {
  const cadences: readonly Cadence[] =
    body.charge_type === 'recurring' ? unitCadences : body.charge_type === 'one_time' ? ['one_time'] : []
  const listed = body.currency_prices?.flatMap(prices =>
    cadences.flatMap(cadence => {
      const slot = { amount: prices[`${cadence}_price`] }
      return termsOf(slot, { currency: prices.currency, cadence, mode: 'graduated', usageType: 'licensed' })
    }),
  )
  const change: PriceChange = {
    currency,
    cadences,
    slot: cadence => ({ amount: body[`${cadence}_price`] }),
    listed: body.currency_prices === null ? [] : listed,
    mode: null,
    usageType: null,
    named,
  }
  return changedPrices(ownerId, change, former)
}

/**
 * What a unit of an entitlement costs after a body was heard.
 *
 * usageType  licensed where units are bought in advance, else metered; null: as it was.
 * errors     400 for a price given twice, for tiers that do not ascend or whose last one is closed.
 * source     PB-40, PB-41, PB-43, decision 26.
 */
export function unitPrices(
  ownerId: string,
  body: EntitlementPriceWrite,
  usageType: BillingPriceUsageType | null,
  named: NamedPrices,
  former: readonly StoredPrice[],
): StoredPrice[] {
  const slotOf = (prices: Partial<CurrencyPriceWrite>, cadence: UnitCadence): Slot => ({
    amount: prices[`${cadence}_unit_price`],
    exact: prices[`${cadence}_unit_price_decimal`],
    tiers: prices[`${cadence}_price_tiers`],
  })
  const mode = body.tier_mode ?? former.find(price => price.tiers_mode !== null)?.tiers_mode ?? 'graduated'
  const listed = body.currency_prices?.flatMap(prices =>
    unitCadences.flatMap(cadence =>
      termsOf(slotOf(prices, cadence), {
        currency: prices.currency,
        cadence,
        mode,
        usageType: usageType ?? 'metered',
      }),
    ),
  )
  const base = { ...body, monthly_price_tiers: body.monthly_price_tiers ?? body.price_tiers }
  const change: PriceChange = {
    currency: body.currency ?? mainCurrency(former),
    cadences: unitCadences,
    slot: cadence => (cadence === 'one_time' ? {} : slotOf(base as Partial<CurrencyPriceWrite>, cadence)),
    listed: body.currency_prices === null ? [] : listed,
    mode: body.tier_mode,
    usageType,
    named,
  }
  return changedPrices(ownerId, change, former)
}

/** The currency of the prices that are shown without one: the default where they have it (gaps.md). */
export function mainCurrency(prices: readonly StoredPrice[]): string {
  const usual = prices.length === 0 || prices.some(price => price.currency === defaultCurrency)
  return usual ? defaultCurrency : prices[0]!.currency
}

/**
 * Prices by currency and cadence: those that are not spoken of stay the prices they were, in the order they have; named
 * ones win over stated ones.
 */
function changedPrices(ownerId: string, change: PriceChange, former: readonly StoredPrice[]): StoredPrice[] {
  const { currency, listed, named } = change
  const listsOwn = listed?.some(price => price.currency === currency) === true
  const after = new Map<string, StoredPrice | PriceTerms | null>()
  for (const had of former) {
    if (!change.cadences.includes(had.cadence)) continue
    const stays = had.currency === currency ? !listsOwn : listed === undefined
    after.set(placeOf(had), stays ? retold(had, change) : null)
  }
  const own = new Set<string>()
  for (const cadence of change.cadences) {
    const slot = change.slot(cadence)
    const place = placeOf({ currency, cadence })
    if (named.cleared.includes(cadence) && isOfProvider(after.get(place))) after.set(place, null)
    if (isSilent(slot)) continue
    const price = restated(slot, currency, cadence, after.get(place) ?? null, change)
    after.set(place, price)
    if (price !== null) own.add(place)
  }
  const seen = new Set(own)
  for (const price of listed ?? []) {
    const place = placeOf(price)
    if (seen.has(place))
      throw new ServiceError('value_invalid', `currency_prices: ${price.currency} is priced twice`)
    seen.add(place)
    after.set(place, price)
  }
  for (const price of named.prices) after.set(placeOf(price), price)
  const prices = [...after.values()].filter(price => price !== null)
  return prices.map(price => ('id' in price ? price : settlePrices(ownerId, [price], former)[0]!))
}

function placeOf({ currency, cadence }: Pick<PriceTerms, 'currency' | 'cadence'>): string {
  return `${currency} ${cadence}`
}

function isOfProvider(price: StoredPrice | PriceTerms | null | undefined): boolean {
  return price != null && 'id' in price && price.provider_type !== 'native'
}

function isSilent({ amount, exact, tiers }: Slot): boolean {
  return amount === undefined && exact === undefined && tiers === undefined
}

/** A price nobody spoke of, in another mode of tiers or for another kind of use if those were. */
function retold(had: StoredPrice, { mode, usageType }: PriceChange): StoredPrice | PriceTerms {
  const wanted = {
    tiers_mode: had.tiers === null ? null : (mode ?? had.tiers_mode),
    usage_type: usageType ?? had.usage_type,
  }
  if (wanted.tiers_mode === had.tiers_mode && wanted.usage_type === had.usage_type) return had
  const { currency, cadence, price, price_decimal, tiers } = had
  return { currency, cadence, price, price_decimal, tiers, ...wanted }
}

/**
 * One price as the members beside the list state it. What equals the price it is now leaves it that price; anything
 * else takes its place whole, so that a new amount is not outvoted by the former decimal or tiers.
 */
function restated(
  slot: Slot,
  currency: string,
  cadence: Cadence,
  had: StoredPrice | PriceTerms | null,
  { mode, usageType }: PriceChange,
): StoredPrice | PriceTerms | null {
  const tiers = slot.tiers === undefined ? undefined : settleTiers(slot.tiers ?? [], `${cadence}_price_tiers`)
  const isSame =
    had !== null &&
    (slot.amount === undefined || slot.amount === had.price) &&
    (slot.exact === undefined || slot.exact === had.price_decimal) &&
    (tiers === undefined || isDeepStrictEqual(tiers, had.tiers ?? []))
  if (isSame) return had
  const onlyClears = slot.amount === undefined && slot.exact == null && !slot.tiers?.length
  const stated = onlyClears ? { amount: had?.tiers ? had.price || null : (had?.price ?? null) } : slot
  const [price] = termsOf(stated, {
    currency,
    cadence,
    mode: mode ?? had?.tiers_mode ?? 'graduated',
    usageType: usageType ?? had?.usage_type ?? 'licensed',
  })
  return price ?? null
}

/** The price that a slot states; none where it says nothing. */
function termsOf(
  slot: Slot,
  place: {
    readonly currency: string
    readonly cadence: Cadence
    readonly mode: BillingTiersMode
    readonly usageType: BillingPriceUsageType
  },
): PriceTerms[] {
  const { currency, cadence, mode, usageType } = place
  const amount = slot.amount ?? null
  const exact = slot.exact ?? null
  const tiers = settleTiers(slot.tiers ?? [], `${cadence}_price_tiers`)
  if (amount === null && exact === null && tiers.length === 0) return []
  return [
    {
      currency,
      cadence,
      price: rounded(amount, exact),
      price_decimal: exact,
      tiers: tiers.length === 0 ? null : tiers,
      tiers_mode: tiers.length === 0 ? null : mode,
      usage_type: usageType,
    },
  ]
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

/** Prices that a body names by their ids, and the cadences of which it names none any more. */
export interface NamedPrices {
  readonly prices: readonly StoredPrice[]
  readonly cleared: readonly Cadence[]
}

/**
 * Prices that exist already, named instead of stated. They win over one stated for the same cadence and currency.
 *
 * former  those the thing has: they may be named too, also before they are minted.
 * errors  404 for one the environment does not have, 400 for one of another cadence or product.
 */
export async function namedPrices(
  tx: Sql,
  environmentId: string,
  named: readonly (readonly [cadence: Cadence, member: string, id: string | null | undefined])[],
  productId: string | null,
  former: readonly StoredPrice[],
): Promise<NamedPrices> {
  const prices: StoredPrice[] = []
  for (const [cadence, member, id] of named) {
    if (id == null) continue
    const own = former.find(price => price.id === id && price.cadence === cadence)
    if (own) {
      prices.push(own)
      continue
    }
    const row = await findPrice(tx, environmentId, id)
    if (!row) throw new ServiceError('not_found', `${member}: no such price`)
    if (cadenceOf(row.interval, row.interval_count) !== cadence)
      throw new ServiceError('value_invalid', `${member}: the price has another interval`)
    if (productId !== null && row.product_id !== productId)
      throw new ServiceError('value_invalid', `${member}: the price is of another product`)
    prices.push(storedPrice(row, cadence))
  }
  const cleared = named.flatMap(([cadence, , id]) => (id === null ? [cadence] : []))
  return { prices, cleared }
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
