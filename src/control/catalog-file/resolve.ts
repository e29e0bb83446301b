// Names of a document back to ids of the environment, and its prices to stored ones.
import type { Sql } from 'postgres'
import type * as file from '../../../schemas/catalog.js'
import type { BillingPriceUsageType } from '../../../schemas/enums.js'
import { nativeProductId, type PriceTerms, type StoredPrice, type StoredTier } from '../../catalog/prices.js'
import { traitId } from '../../catalog/traits.js'
import { quantityFromText, storedOrNull } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import { normalisePrices, storedPrice } from '../prices/write.js'
import { wholeOf } from './members.js'
import type { Definitions } from './read.js'
import type { Index } from './references.js'

function unknown(what: string, ref: string): ServiceError {
  return new ServiceError('not_found', `there is no ${what} ${ref}`)
}

/** Looks names up among the present definitions. errors: 404 naming what is not there. */
export class Resolver {
  constructor(private readonly world: Definitions) {}

  private id(index: Index<{ readonly id: string }>, what: string, prefix: string, ref: string): string {
    const row = index.rowOf(ref)
    if (row) return row.id
    if (ref.startsWith(prefix)) return ref
    throw unknown(what, ref)
  }

  feature(ref: string): string {
    return this.id(this.world.features, 'feature', 'feat_', ref)
  }

  credit(ref: string): string {
    return this.id(this.world.credits, 'credit', 'bcrd_', ref)
  }

  plan(ref: string): string {
    return this.id(this.world.plans, 'plan', 'plan_', ref)
  }

  planOrNull(ref: string | null | undefined): string | null {
    return ref == null ? null : this.plan(ref)
  }

  bundle(ref: string): string {
    return this.id(this.world.bundles, 'bundle', 'bcbn_', ref)
  }

  license(ref: string | null | undefined): string | null {
    if (ref == null) return null
    const row = this.world.features.rowOf(ref)
    if (row?.license_id) return row.license_id
    if (ref.startsWith('lice_')) return ref
    throw new ServiceError('value_invalid', `license: ${ref} is no feature of type license`)
  }

  /** Ids of traits are derived from their names. */
  trait(ref: string): string {
    if (ref.startsWith('trt_')) return ref
    const at = ref.indexOf(':')
    const entity = ref.slice(0, at) as 'company' | 'user'
    return traitId(this.world.environmentId, entity, ref.slice(at + 1))
  }

  traitOrNull(ref: string | null | undefined): string | null {
    return ref == null ? null : this.trait(ref)
  }

  product(given: file.CatalogProduct | null | undefined): string | null {
    if (given == null) return null
    for (const row of this.world.products.values())
      if (row.provider_type === given.provider && row.external_id === given.external_id) return row.id
    throw unknown('product', `${given.provider} ${given.external_id}`)
  }

  /** The id of the entitlement to a feature in the plan's published version, else in its draft; null for none. */
  entitlement(planRef: string, feature: string): string | null {
    const plan = this.world.plans.rowOf(planRef)
    const featureId = this.world.features.rowOf(feature)?.id
    for (const status of ['published', 'draft'] as const) {
      const version = plan?.versions.find(one => one.status === status)
      const found =
        version && this.world.entitlements.get(version.id)?.find(one => one.feature_id === featureId)
      if (found) return found.id
    }
    return null
  }

  planPrice(planRef: string | null | undefined, ref: file.CatalogPriceRef | null | undefined): string | null {
    if (planRef == null || ref == null) return null
    const plan = this.world.plans.rowOf(planRef)
    for (const status of ['published', 'draft'] as const) {
      const version = plan?.versions.find(one => one.status === status)
      const price = version?.prices.find(one => one.currency === ref.currency && one.cadence === ref.cadence)
      if (price) return price.id
    }
    throw unknown('price', `${ref.currency} ${ref.cadence} of ${planRef}`)
  }

  /** Resources of a condition. Companies and users are looked up by their keys. */
  async resource(sql: Sql, type: file.CatalogCondition['condition_type'], ref: string): Promise<string> {
    switch (type) {
      case 'plan':
      case 'base_plan':
        return this.plan(ref)
      case 'plan_version':
        return this.version(ref)
      case 'billing_product':
        return this.productNamed(ref)
      case 'company':
      case 'user':
        return this.entity(sql, type, ref)
      case 'credit':
      case 'metric':
      case 'trait':
        return ref
    }
  }

  private version(ref: string): string {
    const at = ref.lastIndexOf('@')
    if (at < 0) return ref
    const which = ref.slice(at + 1)
    const found = this.world.plans
      .rowOf(ref.slice(0, at))
      ?.versions.find(one =>
        which === 'published' || which === 'draft' ? one.status === which : String(one.version) === which,
      )
    if (!found) throw unknown('plan version', ref)
    return found.id
  }

  private productNamed(ref: string): string {
    const at = ref.indexOf(':')
    if (at < 0) return ref
    const provider = ref.slice(0, at)
    const rest = ref.slice(at + 1)
    if (provider === 'plan') return nativeProductId(this.world.environmentId, this.plan(rest), null)
    return this.product({ provider: provider as file.CatalogProduct['provider'], external_id: rest })!
  }

  private async entity(sql: Sql, type: 'company' | 'user', ref: string): Promise<string> {
    const at = ref.indexOf('=')
    if (at < 0) return ref
    const [row] = await sql<{ entity_id: string }[]>`
      select entity_id from entity_keys
      where environment_id = ${this.world.environmentId} and entity_type = ${type}
        and name = ${ref.slice(0, at)} and value = ${ref.slice(at + 1)}
      order by entity_id limit 1`
    if (!row) throw unknown(type, ref)
    return row.entity_id
  }

  /**
   * The stored prices of an owner. Unchanged ones keep their id.
   *
   * errors  404 for a provider's price that is not there; 400 for tiers that do not ascend or whose last is not open.
   */
  prices(
    ownerId: string,
    given: readonly file.CatalogPrice[] | null | undefined,
    usual: BillingPriceUsageType,
    former: readonly StoredPrice[],
  ): StoredPrice[] {
    return (given ?? []).map(one => {
      if (one.provider != null) return this.foreignPrice(one)
      return normalisePrices(ownerId, [termsOf(one, usual)], former)[0]!
    })
  }

  private foreignPrice(one: file.CatalogPrice): StoredPrice {
    const row = this.world.foreignPrices.find(
      each => each.provider_type === one.provider && each.external_id === one.external_id,
    )
    if (!row) throw unknown('price', `${one.provider} ${one.external_id}`)
    return storedPrice(row, one.cadence ?? 'one_time')
  }
}

function termsOf(one: file.CatalogPrice, usual: BillingPriceUsageType): PriceTerms {
  const tiers = tiersOf(one.tiers ?? [])
  return {
    currency: one.currency,
    cadence: one.cadence ?? 'one_time',
    price: wholeOf(one.price, one.price_decimal),
    price_decimal: one.price_decimal ?? null,
    tiers: tiers.length === 0 ? null : tiers,
    tiers_mode: tiers.length === 0 ? null : (one.tiers_mode ?? 'graduated'),
    usage_type: one.usage_type ?? usual,
  }
}

/** Tiers as stored (PB-40). */
function tiersOf(tiers: readonly file.CatalogTier[]): StoredTier[] {
  let below: number | bigint = 0
  return tiers.map((tier, i) => {
    const last = i === tiers.length - 1
    if (last !== (tier.up_to == null))
      throw new ServiceError('value_invalid', 'tiers: the last one, and only it, has no up_to')
    const upTo =
      tier.up_to == null ? null : typeof tier.up_to === 'string' ? quantityFromText(tier.up_to) : tier.up_to
    if (upTo !== null && upTo <= below)
      throw new ServiceError('value_invalid', 'tiers: up_to must ascend from tier to tier')
    below = upTo ?? below
    return {
      up_to: storedOrNull(upTo),
      flat_amount: wholeOf(tier.flat_amount, null),
      per_unit_price: wholeOf(tier.per_unit_price, tier.per_unit_price_decimal),
      per_unit_price_decimal: tier.per_unit_price_decimal ?? null,
    }
  })
}
