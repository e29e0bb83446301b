// The effect of a migration or move on each company, and in sum: asked of the companies, decided by the code that moves them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { MigrationStrategy, PlanMoveReason } from '../../../schemas/enums.js'
import type {
  EntitlementChange,
  EntitlementTerms,
  FeatureCompanies,
  PreviewCompanyChange,
  PreviewTotals,
  PriceChange,
  StrategyOutcome,
} from '../../../schemas/plan-moves.js'
import type { StoredPrice } from '../../catalog/prices.js'
import {
  type OutlookChange,
  type OutlookTerms,
  type PlanOutlook,
  readOutlooks,
} from '../../core/company/outlook.js'
import type { SubscribedItem } from '../../core/model/company-state.js'
import type { CatalogData, PlanVersionDef } from '../../core/model/definitions.js'
import type { MigrationWanted } from '../../core/model/plan-messages.js'
import { addQuantity, type Quantity, readQuantity } from '../../core/values/quantity.js'
import type { Call } from '../../kit/call.js'
import { long } from '../../kit/long.js'
import { page, type QueryOf, query } from '../../kit/query.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { isoTimeOrNull } from '../../kit/time.js'
import { inParallel } from '../../turns/in-parallel.js'
import { amountOf, type SoldPrice, soldAs, soldBy } from '../billing/sold-price.js'
import type { BillingPriceRow } from '../prices/rows.js'
import type { AffectedCompany } from './rows.js'
import type { MoveTerms } from './terms.js'

/** Companies of a preview that are looked at. source: decision */
export const previewedMax = 20_000
/**
 * Companies in one message to their shard, and messages under way for each shard: one message is answered while the
 * companies of the next are read.
 */
const companiesPerMessage = 512
const messagesPerShard = 2
/** Companies whose figures are summed in one turn of the loop. */
const summedAtOnce = 512

const previewShape = { limit: page.limit, offset: page.offset } as const
export const previewQuery = query(previewShape)
export type PreviewQuery = QueryOf<typeof previewShape>

/** The object of a preview. */
interface Previewed {
  /** The companies concerned: `previewedMax` of them, and one where there are more. */
  readonly rows: readonly AffectedCompany[]
  /** Terms of each plan that companies leave, by its id ('': none). */
  readonly terms: ReadonlyMap<string, MoveTerms>
  readonly action: MigrationWanted['cause']['action']
  /** The version that they come to. */
  readonly versionId: string
  /** That version while it is a draft. */
  readonly draft: PlanVersionDef | null
}

/** A company of the page that is shown. */
interface PreviewedCompany extends PreviewCompanyChange {
  readonly company: AffectedCompany
  readonly outlook: PlanOutlook
  readonly paymentChanges: boolean
}

interface Asked {
  readonly company: AffectedCompany
  readonly outlook: PlanOutlook
  readonly changes: Changes
}

/** Changes that many companies share. */
interface Changes {
  readonly gains: readonly OutlookChange[]
  readonly losses: readonly OutlookChange[]
}

/**
 * Ask every company what would become of it.
 *
 * returns  the companies of the page, and the sum over all; deleted companies are in neither.
 * source   MI-1…5.
 */
export async function previewOf(
  call: Call<unknown, PreviewQuery>,
  previewed: Previewed,
): Promise<{ readonly companies: readonly PreviewedCompany[]; readonly totals: PreviewTotals }> {
  const { services, environment, nowMs, query: shown } = call
  const { rows, versionId } = previewed
  const asked = await outlooksOf(call, previewed)
  const prices = await pricesPaid(services.sql, versionId, asked)
  const { features } = services.catalogs.get(environment.id)
  const names = new Map(features.map(({ id, name }) => [id, name]))
  const totals = new Totals(prices, nowMs)
  for (const [i, one] of asked.entries()) {
    if (i % summedAtOnce === summedAtOnce - 1) await nextTurn()
    totals.add(one)
  }
  return {
    companies: asked
      .slice(shown.offset, shown.offset + shown.limit)
      .map(one => companyOf(one, prices, names)),
    totals: totals.view(features, rows.length > previewedMax),
  }
}

/** The companies that exist, in the order of their rows. */
async function outlooksOf(
  { services, environment, key, nowMs }: Call<unknown, PreviewQuery>,
  { rows, terms, action, versionId, draft }: Previewed,
): Promise<readonly Asked[]> {
  const { shards } = services
  const companies = rows.slice(0, previewedMax)
  const all = {
    type: 'migrate_plan',
    migrationId: '',
    versionId,
    fromVersionIds: null,
    when: 'now',
    cause: { action, actorType: 'api_key', apiKeyId: key.id },
  } as const
  const shared = new Map<string, Changes>()
  const changesOf = (text: string): Changes => {
    let changes = shared.get(text)
    if (changes === undefined) {
      changes = apart(JSON.parse(text))
      shared.set(text, changes)
    }
    return changes
  }
  const asked: (Asked | null)[] = companies.map(() => null)
  const messages = messagesTo(companies, shards)
  await inParallel(messages, messagesPerShard * shards.count, async ({ shard, planId, places }) => {
    const question = { wanted: { ...all, planId, ...terms.get(planId)! }, draft }
    const ids = places.map(place => companies[place]!.company_id)
    const text = await shards.outlooks(shard, environment.id, ids, question, nowMs)
    const { outlooks, changes } = readOutlooks(text)
    const lists = changes.map(changesOf)
    for (const [i, outlook] of outlooks.entries())
      if (outlook !== null)
        asked[places[i]!] = { company: companies[places[i]!]!, outlook, changes: lists[outlook.changes]! }
  })
  return asked.filter(one => one !== null)
}

/** A message to a shard, about companies that leave the same plan ('': none). */
interface Message {
  readonly shard: number
  readonly planId: string
  /** The places of its companies in the list of all. */
  readonly places: number[]
}

function messagesTo(
  companies: readonly AffectedCompany[],
  shards: Pick<Services['shards'], 'indexOf'>,
): readonly Message[] {
  const messages: Message[] = []
  const open = new Map<string, Message>()
  for (const [place, { company_id: id, plan_id }] of companies.entries()) {
    const [shard, planId] = [shards.indexOf(id), plan_id ?? '']
    const name = `${shard} ${planId}`
    let message = open.get(name)
    if (message === undefined || message.places.length === companiesPerMessage) {
      message = { shard, planId, places: [] }
      open.set(name, message)
      messages.push(message)
    }
    message.places.push(place)
  }
  return messages
}

function apart(changes: readonly OutlookChange[]): Changes {
  return { gains: changes.filter(one => one.isGain), losses: changes.filter(one => !one.isGain) }
}

type Names = ReadonlyMap<string, string>
type Prices = ReadonlyMap<string, SoldPrice>

function companyOf({ company, outlook, changes }: Asked, prices: Prices, names: Names): PreviewedCompany {
  const { reason, outcome, exceeded, periodEndMs } = outlook
  return {
    company,
    outlook,
    gains: changes.gains.map(one => changeOf(one, names)),
    losses: changes.losses.map(one => changeOf(one, names)),
    exceeded_limits: exceeded.map(([featureId, usage, limit]) => ({
      feature_id: featureId,
      feature_name: names.get(featureId) ?? '',
      usage: long(readQuantity(usage)),
      limit: long(readQuantity(limit)),
    })),
    prices: priceOf(outlook, prices).map(shownPrice),
    failure_reason: outcome === 'completed' ? null : reason,
    end_of_billing_period_at: isoTimeOrNull(periodEndMs),
    paymentChanges: changesPayment(outlook),
  }
}

/** Whether the subscription charges something else afterwards. */
function changesPayment({ paid }: PlanOutlook): boolean {
  return paid !== null && JSON.stringify(paid.before) !== JSON.stringify(paid.after)
}

function changeOf({ featureId, before, after }: OutlookChange, names: Names): EntitlementChange {
  return {
    feature_id: featureId,
    feature_name: names.get(featureId) ?? '',
    before: before && termsView(before),
    after: after && termsView(after),
  }
}

function termsView({ valueType, limit, softLimit, period, creditId, rate }: OutlookTerms): EntitlementTerms {
  const number = (text: string | null) => (text === null ? null : long(readQuantity(text)))
  return {
    value_type: valueType,
    limit: number(limit),
    soft_limit: number(softLimit),
    metric_period: period,
    credit_id: creditId,
    consumption_rate: rate,
  }
}

interface Charge {
  readonly currency: string
  readonly months: number
  before: Quantity
  after: Quantity
}

const shownPrice = ({ currency, months, before, after }: Charge): PriceChange => ({
  currency,
  interval_months: months,
  before: long(before),
  after: long(after),
})

/** The subscription's charge for a period before and after, by currency: one has one. */
function priceOf({ paid }: PlanOutlook, prices: Prices): Charge[] {
  if (paid === null) return []
  const charges = new Map<string, Charge>()
  const add = (items: readonly SubscribedItem[], side: 'before' | 'after') => {
    for (const { priceId, quantity = 1 } of items) {
      const price = prices.get(priceId)
      if (price === undefined) continue
      const { currency } = price
      const charge = charges.get(currency) ?? { currency, months: paid.months, before: 0, after: 0 }
      charge[side] = addQuantity(charge[side], amountOf(price, quantity))
      charges.set(currency, charge)
    }
  }
  add(paid.before, 'before')
  add(paid.after, 'after')
  return [...charges.values()]
}

/** The prices that companies pay before or after, by id. The prices of a draft are not stored yet: its version has them. */
async function pricesPaid(sql: Sql, versionId: string, asked: readonly Asked[]): Promise<Prices> {
  const ids = new Set<string>()
  for (const { outlook } of asked)
    for (const { priceId } of outlook.paid ? [...outlook.paid.before, ...outlook.paid.after] : [])
      ids.add(priceId)
  if (ids.size === 0) return new Map()
  const kept = await sql<{ prices: readonly StoredPrice[] }[]>`
    select prices from plan_versions where id = ${versionId}
    union all
    select prices from plan_entitlements where plan_version_id = ${versionId} and price_behavior = 'pay_in_advance'`
  const rows = await sql<BillingPriceRow[]>`select * from billing_prices where id in ${among(sql, [...ids])}`
  const drafted = kept.flatMap(({ prices }) => prices.map(price => soldAs(price, '')))
  return new Map([...drafted, ...rows.map(row => soldBy(row, 'native'))].map(price => [price.id, price]))
}

/** Sums over the companies of a preview. */
class Totals {
  private readonly failures = new Map<PlanMoveReason, number>()
  private readonly gains = new Map<string, number>()
  private readonly losses = new Map<string, number>()
  private readonly charges = new Map<string, Charge>()
  private companies = 0
  private stays = 0
  private readonly sums = {
    exceeding: 0,
    losing: 0,
    gaining: 0,
    price_changing: 0,
    would_move: 0,
    would_fail: 0,
  }
  private readonly dates = { now: 0, later: 0, none: 0 }

  constructor(
    private readonly prices: Prices,
    private readonly nowMs: number,
  ) {}

  add({ outlook, changes }: Asked): void {
    const { sums } = this
    const { outcome, reason, periodEndMs } = outlook
    this.companies++
    if (outcome === 'skipped') this.stays++
    if (outcome !== 'completed') {
      if (outcome === 'failed') sums.would_fail++
      if (reason !== null) count(this.failures, reason)
      return
    }
    sums.would_move++
    this.dates[periodEndMs === null ? 'none' : periodEndMs > this.nowMs ? 'later' : 'now']++
    if (outlook.exceeded.length > 0) sums.exceeding++
    if (changes.losses.length > 0) sums.losing++
    if (changes.gains.length > 0) sums.gaining++
    for (const { featureId } of changes.gains) count(this.gains, featureId)
    for (const { featureId } of changes.losses) count(this.losses, featureId)
    const paid = priceOf(outlook, this.prices)
    if (paid.some(({ before, after }) => before !== after)) sums.price_changing++
    for (const charge of paid) this.charge(charge)
  }

  private charge(charge: Charge): void {
    const key = `${charge.currency} ${charge.months}`
    const all = this.charges.get(key)
    if (all === undefined) {
      this.charges.set(key, { ...charge })
      return
    }
    all.before = addQuantity(all.before, charge.before)
    all.after = addQuantity(all.after, charge.after)
  }

  /** truncated: there are more companies than were looked at. */
  view(features: CatalogData['features'], truncated: boolean): PreviewTotals {
    const byFeature = (counts: ReadonlyMap<string, number>): FeatureCompanies[] =>
      features.flatMap(({ id, name }) =>
        counts.has(id) ? [{ feature_id: id, feature_name: name, companies: counts.get(id)! }] : [],
      )
    return {
      companies: this.companies,
      ...this.sums,
      failures: [...this.failures]
        .map(([reason, companies]) => ({ reason, companies }))
        .sort((a, b) => b.companies - a.companies || (a.reason < b.reason ? -1 : 1)),
      gains: byFeature(this.gains),
      losses: byFeature(this.losses),
      prices: [...this.charges.values()].map(shownPrice),
      strategies: strategiesOf({ ...this.sums, stays: this.stays }, this.dates, this.companies),
      truncated,
    }
  }
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function strategiesOf(
  { would_move: moves, would_fail: fails, stays }: Record<'would_move' | 'would_fail' | 'stays', number>,
  dates: Record<'now' | 'later' | 'none', number>,
  companies: number,
): StrategyOutcome[] {
  const of = (strategy: MigrationStrategy, some: Partial<StrategyOutcome>): StrategyOutcome => ({
    strategy,
    moves_now: 0,
    waits: 0,
    waits_without_date: 0,
    stays,
    fails,
    ...some,
  })
  return [
    of('immediate', { moves_now: moves }),
    of('end_of_billing_period', {
      moves_now: dates.now,
      waits: dates.later,
      waits_without_date: dates.none,
    }),
    of('scheduled', { waits: moves }),
    of('leave', { stays: companies, fails: 0 }),
  ]
}
