// Full views of companies, read from their actors.
import type { Sql } from 'postgres'
import type { CompanyDetail } from '../../../schemas/companies.js'
import { eventNamesMax } from '../../core/company/entity-bounds.js'
import type { PlanHolding } from '../../core/model/company-state.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import type { WriteReply } from '../../core/model/entity-state.js'
import type { OutlineQuestion } from '../../core/model/message.js'
import { billingSubscription } from '../../core/plans/plan.js'
import { jsonPieces, type Pieces } from '../../json.js'
import type { Beside } from '../../kept/company-views.js'
import { type EntityCall, type EntityPlace, entityUnknown, isKnown } from '../../kit/entities.js'
import { storedLong } from '../../kit/long.js'
import { askForPage, textBytes } from '../../kit/page-weight.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { type CompanyOutline, type MarkedFigures, unpackOutline } from '../../wire/company-outline.js'
import { type BilledCompanies, billedCompanies, billingOfCompanies } from '../billing/view.js'
import { areKnown, definitionsOf } from '../entities/view.js'
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

/**
 * One company in full, as its JSON; null if it is deleted. The same bytes are given again while the same view would be made.
 * A view rests on the company's version numbers, the catalog, the trait definitions and its number of users; one that shows
 * anything else of Postgres is not kept. Whether billing is stored of the company is asked each time.
 */
export async function companyPieces(call: EntityPlace, id: string): Promise<Pieces | null> {
  const { services, environment, nowMs } = call
  const { companyViews: views, shards } = services
  const billed = billedCompanies(services, environment.id, [id])
  const beside = besideOf(call, id)
  views.ask(id)
  const kept = views.find(id, nowMs, beside)
  if (kept !== null && !(await billed).has(id)) return kept
  const stamp = views.stamp(environment.id, id, nowMs)
  const known = views.figures(id)
  const isWanted = views.isWanted(id)
  const question = outlineBeside(known, isWanted)
  const { reply, untilMs = 0 } = await shards.ask<string | null>('c', environment.id, id, question, nowMs)
  if (reply === null) return null
  const { outline, figures } = unpackOutline(reply, known)
  const surroundings = await surroundingsOf(call, [outline], billed)
  const pieces = jsonPieces(companyDetail(outline, services.directory.membersOf(id), surroundings))
  if (!isWanted) return pieces
  const isLasting = isOfDefinitions(outline, surroundings) && !(await billed).has(id)
  const { catalog, traits, members } = besideOf(call, id)
  const isSame = catalog === beside.catalog && traits === beside.traits && members === beside.members
  if (stamp !== null && isLasting && isSame && catalog === surroundings.catalog) {
    const until = Math.min(untilMs, changesAt(outline, nowMs))
    views.keep(id, stamp, until, beside, joined(pieces, figures), figures)
  } else views.keepFigures(id, figures)
  return pieces
}

/** Asks for an outline without the figures that are kept; with a mark of its figures where they are to be kept. */
function outlineBeside(known: MarkedFigures | null, isWanted: boolean): OutlineQuestion {
  return isWanted ? { type: 'outline', known: known?.mark ?? '' } : { type: 'outline' }
}

/** The pieces as bytes of their own but for the figures, which are kept once. */
function joined(pieces: Pieces, figures: MarkedFigures | null): Uint8Array[] {
  const all: Uint8Array[] = []
  let gathered: Uint8Array[] = []
  const gather = () => {
    if (gathered.length > 0) all.push(Buffer.concat(gathered))
    gathered = []
  }
  for (const piece of pieces)
    if (piece === figures?.entitlements || piece === figures?.metrics) {
      gather()
      all.push(piece)
    } else gathered.push(typeof piece === 'string' ? Buffer.from(piece) : piece)
  gather()
  return all
}

/** A write of a company whose reply has the company's outline, to be shown when the write is. */
interface ShownWrite {
  /** Part of the write's message. */
  readonly shows: OutlineQuestion
  /**
   * The company as the write left it, with what is stored beside it now.
   *
   * reply   of the write, when Postgres shows it.
   * errors  not_found (404) when there is no company.
   */
  view(reply: WriteReply): Promise<{ readonly pieces: Pieces; readonly detail: CompanyDetail }>
}

/** Write a company and show it. `id`: of the company, known or to be made. */
export function shownWrite(call: EntityPlace, id: string): ShownWrite {
  const { services, environment } = call
  const { companyViews: views } = services
  views.ask(id)
  const known = views.figures(id)
  const isWanted = views.isWanted(id)
  return {
    shows: outlineBeside(known, isWanted),
    view: async ({ outline: text }) => {
      if (text == null) throw entityUnknown('company')
      const billed = billedCompanies(services, environment.id, [id])
      const { outline, figures } = unpackOutline(text, known)
      if (isWanted) views.keepFigures(id, figures)
      const surroundings = await surroundingsOf(call, [outline], billed)
      const detail = companyDetail(outline, services.directory.membersOf(id), surroundings)
      return { pieces: jsonPieces(detail), detail }
    },
  }
}

/** Things that kept answers about a company rest on beside its version numbers. */
export function besideOf({ services, environment }: EntityPlace, id: string): Beside {
  return {
    catalog: services.catalogs.get(environment.id),
    traits: services.traits.list(environment.id),
    members: services.directory.membersOf(id),
  }
}

/**
 * The first instant after now at which this thread writes a view otherwise, epoch ms. The time of a company may be ahead
 * of its environment's (decision 22); the shard tells only what comes after the former.
 */
function changesAt({ state, plan }: CompanyOutline, nowMs: number): number {
  const instants = [plan?.trial?.endMs, ...state.overrides.map(({ expiresAtMs }) => expiresAtMs)]
  return instants.reduce<number>(
    (first, atMs) => (atMs != null && atMs > nowMs && atMs < first ? atMs : first),
    Number.POSITIVE_INFINITY,
  )
}

/** Whether a view shows nothing but its company and definitions that are stored. */
function isOfDefinitions({ state }: CompanyOutline, { definitions, billing }: Surroundings): boolean {
  return billing.ofCatalog && billing.held.ofCatalog && areKnown('company', state, definitions)
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

async function surroundingsOf(
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

async function pricesOf(
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
