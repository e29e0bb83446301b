// Credits and prices of the credit grants in companies' plans, in their wire form.
import type { Sql } from 'postgres'
import type { BillingCreditView } from '../../../schemas/credits.js'
import type { BillingPriceView } from '../../../schemas/prices.js'
import { type CreditRow, type PlanCreditGrantRow, planGrantPrice } from '../../catalog/credits.js'
import type { PlanHolding } from '../../core/model/company-state.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { creditBrief } from '../credits/view.js'
import { distinct } from '../entitlements/view.js'
import { productRows } from '../prices/rows.js'
import { meteredPriceView, type SoldAs } from '../prices/view.js'

/** Data that a CompanyPlanCreditGrant shows beside the grant itself. */
export interface HeldCredits {
  /** By credit id. */
  readonly credits: ReadonlyMap<string, BillingCreditView>
  /** By grant id; billed grants of published versions only (CR-38). */
  readonly prices: ReadonlyMap<string, BillingPriceView>
  /** None of the credits is sold as a product: only a new catalog changes what is shown. */
  readonly ofCatalog: boolean
}

export const noHeldCredits: HeldCredits = { credits: new Map(), prices: new Map(), ofCatalog: true }

type BilledGrantRow = PlanCreditGrantRow & {
  readonly plan_name: string
  readonly plan_currency: string
  readonly published_at: Date
}

/** The credits that holdings grant, and the prices of those grants that are billed. */
export async function heldCreditsOf(
  { sql, reads }: Pick<Services, 'sql' | 'reads'>,
  catalog: CatalogData,
  accountId: string,
  holdings: readonly PlanHolding[],
): Promise<HeldCredits> {
  const held = new Set(holdings.map(({ versionId }) => versionId))
  const grants = catalog.plans.flatMap(plan =>
    plan.versions.flatMap(version => (held.has(version.id) ? version.creditGrants : [])),
  )
  if (grants.length === 0) return noHeldCredits
  const creditIds = distinct(grants.map(({ creditId }) => creditId))
  const billed = grants.flatMap(({ id, priceId }) => (priceId ? [id] : []))
  const [shown, prices] = await Promise.all([
    creditBriefs({ sql, reads }, catalog, accountId, creditIds),
    reads.ofCatalog(catalog, 'held prices', billed, ids => grantPrices(sql, ids)),
  ])
  return { ...shown, prices }
}

/** Products are no definitions: credits that are sold as one are made anew each time. */
async function creditBriefs(
  { sql, reads }: Pick<Services, 'sql' | 'reads'>,
  catalog: CatalogData,
  accountId: string,
  ids: readonly string[],
): Promise<Omit<HeldCredits, 'prices'>> {
  const known = await reads.ofCatalog(catalog, 'held credits', ids, asked =>
    unsoldBriefs(sql, accountId, asked),
  )
  const held = ids.flatMap(id => known.get(id) ?? [])
  const productIds = distinct(held.flatMap(({ row }) => row.prices.map(price => price.product_id)))
  const products =
    productIds.length === 0
      ? new Map()
      : await reads.many(`products ${catalog.environmentId}`, productIds, asked => productRows(sql, asked))
  const credits = new Map(
    held.map(({ row, brief }) => {
      const product = products.get(row.prices[0]?.product_id ?? '')
      return [row.id, product === undefined ? brief : creditBrief(row, product, accountId)]
    }),
  )
  return { credits, ofCatalog: productIds.length === 0 }
}

async function unsoldBriefs(sql: Sql, accountId: string, ids: readonly string[]) {
  const rows = await sql<CreditRow[]>`select * from billing_credits where id in ${among(sql, ids)}`
  return new Map(rows.map(row => [row.id, { row, brief: creditBrief(row, undefined, accountId) }]))
}

async function grantPrices(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, BillingPriceView>> {
  const rows = await sql<BilledGrantRow[]>`
    select g.*, v.name as plan_name, v.currency as plan_currency, v.published_at
    from plan_credit_grants g join plan_versions v on v.id = g.plan_version_id
    where g.id in ${among(sql, ids)} and v.published_at is not null`
  return new Map(
    rows.map(row => {
      const price = { ...planGrantPrice(row, row.plan_currency), minted_at: row.published_at.toISOString() }
      return [row.id, meteredPriceView(price, soldAs(row), row.created_at.getTime())]
    }),
  )
}

/** A plan's credits are sold with the plan: the grant is their product. source: decision */
function soldAs(row: BilledGrantRow): SoldAs {
  return { id: row.id, externalId: row.id, name: row.plan_name }
}
