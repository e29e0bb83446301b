// Converts prices from requests to their stored form: per currency and cadence; tiers are validated, decimals win.
import { isDeepStrictEqual } from 'node:util'
import type { Sql } from 'postgres'
import type { BillingPriceUsageType, BillingTiersMode, ChargeType } from '../../../schemas/enums.js'
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
import { type Quantity, readQuantity, storedOrNull, storedQuantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { Exact } from '../../kit/long.js'
import { type BillingPriceRow, findPrice } from './rows.js'
import { wholePrice } from './whole-price.js'

/** The currency used when none is named. source: decision */
const defaultCurrency = 'usd'

const unitCadences = ['monthly', 'quarterly', 'yearly'] as const
type UnitCadence = (typeof unitCadences)[number]

/** The members of a body for one price: undefined is unchanged, null clears (decision 26). */
interface Slot {
  readonly amount?: Quantity | null | undefined
  readonly exact?: string | null | undefined
  readonly tiers?: readonly Exact<PriceTierWrite>[] | null | undefined
}

/** All price members of a body for one owner. */
interface PriceChange {
  /** Currency of the members outside the list. */
  readonly currency: string
  /** Cadences that apply to the owner; prices of other cadences are removed. */
  readonly cadences: readonly Cadence[]
  /** The members outside the list. */
  readonly slot: (cadence: Cadence) => Slot
  /** The complete list of prices in other currencies; undefined: unchanged. */
  readonly listed: readonly PriceTerms[] | undefined
  /** Mode of tiers; null or undefined: unchanged, or graduated. */
  readonly mode: BillingTiersMode | null | undefined
  /** Null: unchanged. */
  readonly usageType: BillingPriceUsageType | null
  readonly named: NamedPrices
}

/**
 * The prices of a plan after a body is applied.
 *
 * currency  of the members outside the list.
 * former    the prices before; empty for a plan without.
 * returns   prices of the cadences of its charge type; none for a free plan.
 * errors    400 for a price given twice.
 * source    PB-42, PB-43, decision 26.
 */
export function planPrices(
  ownerId: string,
  body: Exact<BillingProductWrite> & { readonly charge_type: ChargeType },
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
 * The unit prices of an entitlement after a body is applied.
 *
 * usageType  licensed where units are bought in advance, else metered; null: unchanged.
 * errors     400 for a price given twice, for tiers that do not ascend or whose last one is not open.
 * source     PB-40, PB-41, PB-43, decision 26.
 */
export function unitPrices(
  ownerId: string,
  body: Exact<EntitlementPriceWrite>,
  usageType: BillingPriceUsageType | null,
  named: NamedPrices,
  former: readonly StoredPrice[],
): StoredPrice[] {
  const slotOf = (prices: Partial<Exact<CurrencyPriceWrite>>, cadence: UnitCadence): Slot => ({
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
    slot: cadence =>
      cadence === 'one_time' ? {} : slotOf(base as Partial<Exact<CurrencyPriceWrite>>, cadence),
    listed: body.currency_prices === null ? [] : listed,
    mode: body.tier_mode,
    usageType,
    named,
  }
  return changedPrices(ownerId, change, former)
}

/** The currency of the members outside the list: the default currency if there are prices in it, else the first. */
export function mainCurrency(prices: readonly StoredPrice[]): string {
  const usual = prices.length === 0 || prices.some(price => price.currency === defaultCurrency)
  return usual ? defaultCurrency : prices[0]!.currency
}

/**
 * Prices by currency and cadence. Prices that the body does not mention keep their identity and order; prices named
 * by id take precedence over stated ones.
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
  return prices.map(price => ('id' in price ? price : normalisePrices(ownerId, [price], former)[0]!))
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

/** A price that the body does not mention, adapted to a new mode of tiers or usage type. */
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
 * One price from the members outside the list. If it equals the former price, that price is kept. Otherwise it
 * replaces the former completely, so that the former decimal or tiers do not override the new amount.
 */
function restated(
  slot: Slot,
  currency: string,
  cadence: Cadence,
  had: StoredPrice | PriceTerms | null,
  { mode, usageType }: PriceChange,
): StoredPrice | PriceTerms | null {
  const tiers =
    slot.tiers === undefined ? undefined : normaliseTiers(slot.tiers ?? [], `${cadence}_price_tiers`)
  const isSame =
    had !== null &&
    (slot.amount === undefined || isPrice(slot.amount, had)) &&
    (slot.exact === undefined || slot.exact === had.price_decimal) &&
    (tiers === undefined || isDeepStrictEqual(tiers, had.tiers ?? []))
  if (isSame) return had
  const onlyClears = slot.amount === undefined && slot.exact == null && !slot.tiers?.length
  const former = had === null ? null : readQuantity(had.price)
  const stated = onlyClears ? { amount: had?.tiers ? former || null : former } : slot
  const [price] = termsOf(stated, {
    currency,
    cadence,
    mode: mode ?? had?.tiers_mode ?? 'graduated',
    usageType: usageType ?? had?.usage_type ?? 'licensed',
  })
  return price ?? null
}

function isPrice(amount: Quantity | null, had: StoredPrice | PriceTerms): boolean {
  return amount !== null && amount === readQuantity(had.price)
}

/** The price of a slot; empty if the slot has no value. */
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
  const tiers = normaliseTiers(slot.tiers ?? [], `${cadence}_price_tiers`)
  if (amount === null && exact === null && tiers.length === 0) return []
  return [
    {
      currency,
      cadence,
      price: storedQuantity(wholePrice(amount, exact)),
      price_decimal: exact,
      tiers: tiers.length === 0 ? null : tiers,
      tiers_mode: tiers.length === 0 ? null : mode,
      usage_type: usageType,
    },
  ]
}

function normaliseTiers(tiers: readonly Exact<PriceTierWrite>[], member: string): StoredTier[] {
  let below: Quantity = 0
  return tiers.map((tier, i) => {
    const last = i === tiers.length - 1
    if (last !== (tier.up_to == null))
      throw new ServiceError('value_invalid', `${member}: the last tier, and only it, has no up_to`)
    if (!last && tier.up_to! <= below)
      throw new ServiceError('value_invalid', `${member}: up_to must ascend from tier to tier`)
    below = tier.up_to ?? below
    return {
      up_to: storedOrNull(tier.up_to ?? null),
      flat_amount: storedQuantity(tier.flat_amount ?? 0),
      per_unit_price: storedQuantity(
        wholePrice(tier.per_unit_price ?? null, tier.per_unit_price_decimal ?? null),
      ),
      per_unit_price_decimal: tier.per_unit_price_decimal ?? null,
    }
  })
}

/**
 * Assign ids to prices from a body. An unchanged price keeps its id; a new one belongs to the draft until published.
 *
 * ownerId  the draft version, or an entitlement of it.
 */
export function normalisePrices(
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

/** Prices copied from another plan: the service's own get new ids, a provider's are kept. */
export function adoptPrices(ownerId: string, prices: readonly StoredPrice[]): readonly StoredPrice[] {
  return prices.map(price =>
    price.provider_type === 'native' ? normalisePrices(ownerId, [price], [])[0]! : price,
  )
}

/** Prices that a body names by id, and the cadences whose id it clears. */
interface NamedPrices {
  readonly prices: readonly StoredPrice[]
  readonly cleared: readonly Cadence[]
}

/**
 * Look up existing prices that a body names by id. They win over a stated price of the same cadence and currency.
 *
 * former  the owner's prices: their ids are accepted even before they are stored as rows.
 * errors  404 for an unknown price, 400 for one of another cadence or product.
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

export function storedPrice(row: BillingPriceRow, cadence: Cadence): StoredPrice {
  return {
    id: row.id,
    currency: row.currency,
    cadence,
    price: storedQuantity(readQuantity(row.price)),
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
