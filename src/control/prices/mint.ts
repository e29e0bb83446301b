// Creates the service's own products and prices when the object they sell is published (PB-5).
import type { Sql } from 'postgres'
import { intervalOf, type StoredPrice } from '../../catalog/prices.js'
import { among, asJson } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'

/** Create or rename the product with this id. */
export async function mintProduct(
  tx: Sql,
  environmentId: string,
  id: string,
  name: string,
  now: Date,
): Promise<string> {
  await tx`
    insert into billing_products ${tx({
      id,
      environment_id: environmentId,
      external_id: id,
      name,
      provider_type: 'native',
      created_at: now,
      updated_at: now,
    })} on conflict (id) do update set name = excluded.name, updated_at = excluded.updated_at`
  return id
}

/** Store a draft's prices as rows of billing_prices. */
export async function mintPrices(
  tx: Sql,
  prices: readonly StoredPrice[],
  productId: string,
  environmentId: string,
  now: Date,
): Promise<readonly StoredPrice[]> {
  const minted: StoredPrice[] = []
  for (const price of prices) {
    if (price.minted_at !== null) {
      minted.push(price)
      continue
    }
    const terms = {
      currency: price.currency,
      ...intervalOf(price.cadence),
      price: price.price,
      price_decimal: price.price_decimal,
      billing_scheme: price.tiers ? 'tiered' : 'per_unit',
      tiers_mode: price.tiers_mode,
      price_tiers: asJson(tx, price.tiers ?? []),
      usage_type: price.usage_type,
      is_active: true,
      updated_at: now,
    }
    await tx`
      insert into billing_prices ${tx({
        id: price.id,
        environment_id: environmentId,
        product_id: productId,
        external_id: price.id,
        provider_type: 'native',
        ...terms,
        created_at: now,
      })} on conflict (id) do update set ${tx(terms)}`
    minted.push({ ...price, external_id: price.id, product_id: productId, minted_at: isoTime(now.getTime()) })
  }
  return minted
}

/**
 * Store the prices of an object without versions, a credit or a bundle. They are on sale at once, updated in place,
 * and set inactive when removed. Without prices there is no product.
 */
export async function mintUnversioned(
  tx: Sql,
  environmentId: string,
  { productId, name }: { readonly productId: string; readonly name: string },
  prices: readonly StoredPrice[],
  now: Date,
): Promise<readonly StoredPrice[]> {
  if (prices.length > 0) await mintProduct(tx, environmentId, productId, name, now)
  const minted = await mintPrices(tx, prices, productId, environmentId, now)
  await tx`
    update billing_prices set is_active = false, updated_at = ${now}
    where product_id = ${productId} and is_active and id not in ${among(
      tx,
      minted.map(price => price.id),
    )}`
  return minted
}
