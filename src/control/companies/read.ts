// Full views of companies, read from their actors.
import type { Sql } from 'postgres'
import type { CompanyDetail } from '../../../schemas/companies.js'
import { eventNamesMax } from '../../core/company/entity-bounds.js'
import type { PlanHolding } from '../../core/model/company-state.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import { billingSubscription } from '../../core/plans/plan.js'
import { type EntityCall, type EntityPlace, entityUnknown, isKnown } from '../../kit/entities.js'
import { storedLong } from '../../kit/long.js'
import { askForPage, textBytes } from '../../kit/page-weight.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { type CompanyOutline, unpackOutline } from '../../wire/company-outline.js'
import { type BilledCompanies, billedCompanies, billingOfCompanies } from '../billing/view.js'
import { definitionsOf } from '../entities/view.js'
import { heldCreditsOf } from './held-credits.js'
import { companyDetail, type HeldBilling, type Surroundings } from './view.js'

/**
 * Companies in full, in the order of the ids; deleted ones are left out.
 *
 * wholly  include the figures of all event names that a company may have, not only of the 100 used last (security H6).
 * errors  query_invalid (400) when the views together are too large.
 */
export async function companyDetails(
  call: EntityPlace,
  ids: readonly string[],
  wholly = false,
): Promise<CompanyDetail[]> {
  const { services, environment, nowMs } = call
  const question = { type: 'outline', eventNamesMax: wholly ? eventNamesMax : undefined } as const
  const billed = billedCompanies(services, environment.id, ids)
  const companies = await askForPage(
    call,
    ids,
    async id => {
      const { reply } = await services.shards.ask<string | null>('c', environment.id, id, question, nowMs)
      return reply === null ? null : unpackOutline(reply).outline
    },
    weightOf,
  )
  return companyDetailsOf(
    call,
    companies.filter(company => company !== null),
    billed,
  )
}

/** Approximate size of a company's view in bytes. */
function weightOf(company: CompanyOutline | null): number {
  if (company === null) return 0
  const { state, metrics, entitlements } = company
  return textBytes(state.keys) + textBytes(state.traits) + metrics.length + entitlements.length
}

/** The present description of one company, from its actor. Throws 404. */
export async function described(call: EntityCall, companyId: string): Promise<CompanyDescription> {
  const { services, environment, nowMs } = call
  if (!isKnown(call, 'company', companyId)) throw entityUnknown('company')
  const { reply } = await services.shards.ask<CompanyDescription | null>(
    'c',
    environment.id,
    companyId,
    { type: 'describe' },
    nowMs,
  )
  if (reply === null) throw entityUnknown('company')
  return reply
}

/** Companies in full, from outlines already read. */
export async function companyDetailsOf(
  call: EntityPlace,
  companies: readonly CompanyOutline[],
  billed: BilledCompanies = billedCompanies(
    call.services,
    call.environment.id,
    companies.map(({ state }) => state.id),
  ),
): Promise<CompanyDetail[]> {
  const { services } = call
  const surroundings = await surroundingsOf(call, companies, billed)
  return companies.map(company =>
    companyDetail(company, services.directory.membersOf(company.state.id), surroundings),
  )
}

export async function surroundingsOf(
  call: EntityPlace,
  companies: readonly CompanyOutline[],
  billed: BilledCompanies,
): Promise<Surroundings> {
  const { services, environment, nowMs } = call
  const catalog = services.catalogs.get(environment.id)
  const holdings = companies.flatMap(({ plan, addOns }) => (plan ? [plan, ...addOns] : addOns))
  const subscriptions = new Map(
    companies.map(({ state }) => [
      state.id,
      {
        billingSubscriptionId: billingSubscription(state, nowMs)?.id ?? null,
        plans: state,
      },
    ]),
  )
  const [definitions, billing, companyBilling] = await Promise.all([
    definitionsOf(
      services,
      catalog,
      'company',
      companies.map(({ state }) => state),
    ),
    billingOf(services, catalog, environment.accountId, holdings),
    billingOfCompanies(services, catalog, subscriptions, billed, nowMs),
  ])
  return { catalog, registry: services.traits, definitions, billing, companyBilling, nowMs }
}

/** The prices that bill these holdings, the products their versions are linked to, and the credits they grant. */
export async function billingOf(
  services: Pick<Services, 'sql' | 'reads'>,
  catalog: CatalogData,
  accountId: string,
  holdings: readonly PlanHolding[],
): Promise<HeldBilling> {
  const [held, billed] = await Promise.all([
    heldCreditsOf(services, catalog, accountId, holdings),
    pricesOf(services.sql, catalog, holdings),
  ])
  return { ...billed, held }
}

const nothingBilled = { prices: new Map(), externalProductIds: new Map(), ofCatalog: true }

/** The prices that bill these holdings, and the products that their versions are linked to. */
export async function pricesOf(
  sql: Sql,
  catalog: CatalogData,
  holdings: readonly PlanHolding[],
): Promise<Omit<HeldBilling, 'held'>> {
  const priceIds = new Set(holdings.flatMap(({ priceId }) => priceId ?? []))
  const held = new Set(holdings.map(({ versionId }) => versionId))
  const products = catalog.plans.flatMap(plan =>
    plan.versions.flatMap(({ id, billingProductId }) => (held.has(id) ? (billingProductId ?? []) : [])),
  )
  if (priceIds.size === 0 && products.length === 0) return nothingBilled
  const [prices, external] = await Promise.all([
    sql<{ id: string; price: string; interval: string; interval_count: number }[]>`
      select id, price, "interval", interval_count from billing_prices
      where id in ${among(sql, [...priceIds])}`,
    sql<{ id: string; external_id: string }[]>`
      select id, external_id from billing_products where id in ${among(sql, products)}`,
  ])
  return {
    prices: new Map(prices.map(row => [row.id, { price: storedLong(row.price), period: periodOf(row) }])),
    externalProductIds: new Map(external.map(row => [row.id, row.external_id])),
    ofCatalog: false,
  }
}

/** A price's period by name; three months are a quarter. source: decision */
function periodOf(price: { readonly interval: string; readonly interval_count: number }): string {
  if (price.interval === 'month' && price.interval_count === 3) return 'quarter'
  return price.interval
}
