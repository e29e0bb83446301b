// Companies: upserts and lookups by keys, lists with filters, and trait writes.
import type { CompanyUpsert, KeysBody, TraitUpsert } from '../../../schemas/companies.js'
import { sortDirections, subscriptionStatuses, subscriptionTypes } from '../../../schemas/enums.js'
import type { WriteReply } from '../../core/model/entity-state.js'
import type { CompanyMessage, ShownQuestion } from '../../core/model/message.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call, Handler } from '../../kit/call.js'
import { type EntityCall, entityUnknown, isKnown, type Refusals } from '../../kit/entities.js'
import { type Exact, long } from '../../kit/long.js'
import {
  boolean,
  datetime,
  list,
  listOf,
  mapOrBare,
  oneOf,
  page,
  type QueryOf,
  query,
  required,
  string,
  text,
} from '../../kit/query.js'
import { sortOf } from '../entities/list.js'
import { companyInShort, shortly } from '../entities/minimal.js'
import { companyBrief } from '../entities/view.js'
import {
  isRemovable,
  lookedUp,
  type ReadyWrite,
  readyCreate,
  readyTrait,
  readyUpsert,
  replyWhenShown,
} from '../entities/write.js'
import { companyPieces, shownWrite } from './kept-views.js'
import { companyDetails } from './read.js'
import { type CompanyFilter, countCompanyRows, isFreePrice, listCompanyIds } from './store.js'
import { closestCompanies, companySummaries, mostUsed, rankedMax } from './summaries.js'

const views = ['full', 'summary'] as const

const listShape = {
  credit_type_ids: list,
  has_scheduled_downgrade: boolean,
  ids: list,
  monetized_subscriptions: boolean,
  plan_id: string,
  plan_ids: list,
  plan_version_id: string,
  plan_version_ids: list,
  plan_version_unpublished: boolean,
  q: text(512),
  sort_order_column: text(255),
  sort_order_direction: oneOf(sortDirections),
  subscription_statuses: listOf(subscriptionStatuses),
  subscription_types: listOf(subscriptionTypes),
  with_entitlement_for: string,
  with_subscription: boolean,
  without_feature_override_for: string,
  without_plan: boolean,
  without_subscription: boolean,
  all_metrics: boolean,
  usage_feature_id: string,
  usage_start_time: datetime,
  usage_end_time: datetime,
  view: oneOf(views),
  ...page,
} as const
export const companyListQuery = query(listShape)
type CompanyListQuery = QueryOf<typeof listShape>

const lookupShape = { keys: required(mapOrBare), all_metrics: boolean } as const
const oneShape = { all_metrics: boolean } as const
export const companyQuery = query(oneShape)
export const companyLookupQuery = query(lookupShape, 'not_found')

const deleteShape = { cancel_subscription: boolean, prorate: boolean } as const
export const companyDeleteQuery = query(deleteShape)

/** Error code and message for each refusal of the company's actor. */
const refusals: Refusals = {
  not_found: ['not_found', 'Company not found'],
  no_key_given: ['value_invalid', 'keys: a new company needs at least one'],
  no_key_left: ['state_conflict', 'remove_keys: a company keeps at least one key'],
  key_remap: ['state_conflict', 'keys: a key has another value, and prevent_key_remap is set'],
  trait_not_a_number: ['state_conflict', 'incr: the trait is not a number'],
  seats_paid: ['state_conflict', 'traits: a subscription bills these seats; POST /manage-plan changes them'],
  plan_not_assignable: [
    'state_conflict',
    'base_plan_id: the plan needs a published version and no payment method; a billing-linked one its free price',
  ],
}

/** The query's filters in the store's form. source: CU-61 */
function filterOf(query: CompanyListQuery): CompanyFilter {
  const planIds = [query.plan_id === undefined ? undefined : [query.plan_id], query.plan_ids]
  return {
    ids: query.ids,
    q: query.q,
    planIds: planIds.filter(ids => ids !== undefined),
    planVersionIds:
      query.plan_version_ids ?? (query.plan_version_id === undefined ? undefined : [query.plan_version_id]),
    planVersionUnpublished: query.plan_version_unpublished,
    withoutPlan: query.without_plan,
    withEntitlementFor: query.with_entitlement_for,
    withoutFeatureOverrideFor: query.without_feature_override_for,
    creditIds: query.credit_type_ids,
    subscriptionStatuses: query.subscription_statuses,
    subscriptionTypes: query.subscription_types,
    monetized: query.monetized_subscriptions,
    withSubscription: query.with_subscription,
    withoutSubscription: query.without_subscription,
    hasScheduledDowngrade: query.has_scheduled_downgrade,
  }
}

/**
 * GET /companies. A company with more than 100 event names shows the figures of the most recently used ones, here and
 * wherever it is shown, unless the query asks for all: decision.
 *
 * source  CU-60, CU-61; companies are read from their actors.
 */
export const listCompanies: Handler<undefined, CompanyListQuery> = async call => {
  const { services, environment, query, nowMs } = call
  if (isRanked(query)) return listRanked(call)
  const sort = sortOf(query.sort_order_column, query.sort_order_direction)
  await services.projections.barrier('postgres')
  if (sort.column === 'last_seen_at') await services.projections.seenBarrier()
  const catalog = services.catalogs.get(environment.id)
  const ids = await listCompanyIds(services.sql, catalog, filterOf(query), sort, query, nowMs)
  if (query.view === 'summary') return { data: await companySummaries(call, ids) }
  return { data: await companyDetails(call, ids, query.all_metrics) }
}

/** Whether ClickHouse sorts the list: by closeness to a limit, or by use of a feature. */
const isRanked = ({ sort_order_column: column }: CompanyListQuery): boolean =>
  column === 'closest_limit' || column === 'usage'

/** The list that ClickHouse sorts: of at most 500 companies the one that the other filters leave. */
async function listRanked(call: Call<undefined, CompanyListQuery>): Promise<Answer> {
  const { services, environment, query } = call
  const { limit, offset, sort_order_column: column, usage_feature_id: featureId } = query
  if (query.view !== 'summary')
    throw new ServiceError('query_invalid', `sort_order_column: ${column} needs view=summary`)
  if (column === 'usage' && featureId === undefined)
    throw new ServiceError('query_invalid', 'usage_feature_id: sort_order_column=usage needs it')
  await services.projections.barrierOf('clickhouse', environment.id)
  const window = { start_time: query.usage_start_time, end_time: query.usage_end_time }
  const used = column === 'usage' ? await mostUsed(call, featureId!, window) : null
  const ids = await leftOf(call, used?.map(one => one.companyId) ?? (await closestCompanies(call)))
  if (query.sort_order_direction === 'asc') ids.reverse()
  const rows = await companySummaries(call, ids.slice(offset, offset + limit))
  if (used === null) return { data: rows }
  const quantities = new Map(used.map(({ companyId, quantity }) => [companyId, long(quantity)]))
  return { data: rows.map(row => ({ ...row, usage: quantities.get(row.id)! })) }
}

/** Companies that the filters of a list leave, in their order. */
async function leftOf(
  call: Call<undefined, CompanyListQuery>,
  companyIds: readonly string[],
): Promise<string[]> {
  const { services, environment, query, nowMs } = call
  const asked = filterOf(query)
  const isFiltered = Object.entries(asked).some(([name, value]) =>
    name === 'planIds' ? (value as readonly unknown[]).length > 0 : value !== undefined,
  )
  // without a filter Postgres is not asked: a walk over every company for these few costs a hundred times as much
  if (!isFiltered) return companyIds.filter(id => isKnown(call, 'company', id))
  const catalog = services.catalogs.get(environment.id)
  const wanted = query.ids
  const filter = { ...asked, ids: wanted ? companyIds.filter(id => wanted.includes(id)) : companyIds }
  const everyone = { limit: rankedMax, offset: 0 }
  const left = new Set(
    await listCompanyIds(services.sql, catalog, filter, sortOf('created_at', 'desc'), everyone, nowMs),
  )
  return companyIds.filter(id => left.has(id))
}

/** GET /companies/count: the number of companies on all pages of the list. */
export const countCompanies: Handler<undefined, CompanyListQuery> = async call => {
  const { services, environment, query, nowMs } = call
  if (!isRanked(query)) sortOf(query.sort_order_column, query.sort_order_direction)
  await services.projections.barrier('postgres')
  const catalog = services.catalogs.get(environment.id)
  return { data: { count: await countCompanyRows(services.sql, catalog, filterOf(query), nowMs) } }
}

/** POST /companies. source: CU-10…18 */
export const upsertCompany: Handler<CompanyUpsert> = call =>
  write(call, () => readyUpsert(call, 'company', call.body))

/** POST /companies/create: 400 when a key is in use. */
export const createCompany: Handler<CompanyUpsert> = async call => ({
  ...(await write(call, () => readyCreate(call, 'company', call.body))),
  status: 201,
})

interface Answering {
  /** Part of the write's message. */
  readonly shows: ShownQuestion
  /** reply: of the write, when Postgres shows it. errors: not_found (404) when there is no company. */
  readonly answer: (reply: WriteReply) => Answer | Promise<Answer>
}

/**
 * The answer to a write of a company, the short one where the caller prefers it. The audit log keeps what the write can
 * change: entitlements, metrics and billing are most of a company, and not of this change (source: decision).
 */
function answering(call: EntityCall, companyId: string): Answering {
  if (call.minimal === true) return { ...shortly, answer: companyInShort }
  const { shows, view } = shownWrite(call, companyId)
  return {
    shows,
    answer: async reply => {
      const { pieces, detail } = await view(reply)
      const { id, environment_id, name, created_at, updated_at, last_seen_at, keys, traits } = detail
      const noted = { id, environment_id, name, created_at, updated_at, last_seen_at, keys, traits }
      return { pieces, noted }
    },
  }
}

/**
 * Write a company and answer its detail.
 *
 * ready   finds or reserves the company; the write is sent in the same tick.
 * errors  those of `ready`; 404 for an unknown base plan, 400 for one that cannot be assigned.
 * source  CU-18, EN-81.
 */
async function write(call: Call<CompanyUpsert>, ready: () => ReadyWrite): Promise<Answer> {
  const { services, body, nowMs } = call
  const basePlan = await basePlanOf(call)
  const { target, write, creates } = ready()
  if (creates && basePlan?.refused) {
    services.entities.release(target)
    throw basePlan.refused
  }
  const { shows, answer } = answering(call, target.id)
  const message: CompanyMessage = {
    type: 'upsert',
    write,
    updateOnly: body.update_only === true,
    preventRemap: body.prevent_key_remap === true,
    basePlanId: basePlan?.planId ?? null,
    basePlanPriceId: basePlan?.priceId ?? null,
    shows,
  }
  return answer(await replyWhenShown(call, services.entities.ask(target, message, nowMs), refusals))
}

interface BasePlan {
  readonly planId: string
  readonly priceId: string | null
  /** The error if the company is new and cannot get this plan. Ignored for an existing company. */
  readonly refused: ServiceError | null
}

async function basePlanOf(call: Call<CompanyUpsert>): Promise<BasePlan | null> {
  const { services, environment, body } = call
  const { base_plan_id: planId, base_plan_price_id: priceId } = body
  if (planId == null) return null
  const plan = services.catalogs.get(environment.id).plans.find(one => one.id === planId)
  const common = { planId, priceId: priceId ?? null }
  if (!plan) return { ...common, refused: new ServiceError('not_found', 'base_plan_id: no such plan') }
  const product = plan.versions.find(version => version.id === plan.publishedVersionId)?.billingProductId
  if (priceId == null || product == null) return { ...common, refused: null } // the actor decides the rest
  const free = await isFreePrice(services.sql, environment.id, product, priceId)
  const refused = free
    ? null
    : new ServiceError('state_conflict', 'base_plan_price_id: not a free price of the plan')
  return { ...common, refused }
}

/** POST /company-traits. source: CU-36 */
export const upsertCompanyTrait: Handler<Exact<TraitUpsert>> = async call => {
  const { target, message } = readyTrait(call, 'company', call.body, (write, updateOnly) => ({
    type: 'upsert',
    write,
    updateOnly,
    preventRemap: false,
    basePlanId: null,
    basePlanPriceId: null,
  }))
  const { shows, answer } = answering(call, target.id)
  const asked = { ...message, shows } as CompanyMessage & typeof message
  return answer(await replyWhenShown(call, call.services.entities.ask(target, asked, call.nowMs), refusals))
}

/** GET /companies/lookup. source: CU-3, decision 15 */
export const lookupCompany: Handler<undefined, QueryOf<typeof lookupShape>> = call =>
  shown(call, lookedUp(call, 'company', call.query.keys), call.query.all_metrics)

/** GET /companies/{company_id}. */
export const getCompany: Handler<undefined, QueryOf<typeof oneShape>> = async call => {
  const id = call.params.company_id!
  if (!isKnown(call, 'company', id)) throw entityUnknown('company')
  return shown(call, id, call.query.all_metrics)
}

/** One company as it was written before, if that is still so. Throws 404 if it is deleted. */
async function shown(call: EntityCall, id: string, wholly = false): Promise<Answer> {
  if (wholly) {
    const [detail] = await companyDetails(call, [id], true)
    if (detail === undefined) throw entityUnknown('company')
    return { data: detail }
  }
  const pieces = await companyPieces(call, id)
  if (pieces === null) throw entityUnknown('company')
  return { pieces }
}

/** DELETE /companies/{company_id}. No subscription with a provider is cancelled. source: CU-50, AL-34 */
export const deleteCompany: Handler<undefined, QueryOf<typeof deleteShape>> = async call => {
  const id = call.params.company_id!
  if (!isRemovable(call, 'company', id)) throw entityUnknown('company')
  const { was } = await replyWhenShown(call, remove(call, id), refusals)
  return { data: { deleted: true }, noted: { deleted: true, name: was?.name } }
}

/** POST /companies/delete: answers the company as it was before. source: CU-51, decision 15 */
export const deleteCompanyByKeys: Handler<KeysBody> = async (call): Promise<Answer> => {
  const { services, environment, body } = call
  const id = services.entities.removable('company', environment.id, body.keys)
  if (id === null) throw entityUnknown('company')
  const { was } = await replyWhenShown(call, remove(call, id), refusals)
  if (was === null) throw entityUnknown('company')
  return { data: companyBrief(was) }
}

function remove(call: EntityCall, id: string) {
  return call.services.entities.remove('company', call.environment.id, id, call.nowMs)
}
