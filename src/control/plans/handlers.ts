// Plans and add-ons, defined in versions. Edits go to a draft; publishing puts it into effect (PB-1…13).
import type { Sql } from 'postgres'
import { type BillingStrategy, type ChargeType, planTypes } from '../../../schemas/enums.js'
import type { BillingLinkedPlanCreate, PlanCreate, PlanDetail, PlanUpdate } from '../../../schemas/plans.js'
import type { BillingProductPlan, BillingProductUpdate } from '../../../schemas/prices.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { nativeProductId, type StoredPrice } from '../../catalog/prices.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { boolean, list, oneOf, page, type QueryOf, query, required, string, text } from '../../kit/query.js'
import { whole } from '../../kit/unchanged.js'
import { mayChangePlan } from '../account/definitions-in-use.js'
import { companiesOn, type PlanPart, pendingMovesTo } from '../account/pending-uses.js'
import { versionView } from '../entitlements/view.js'
import { withEventsInside } from '../features/event-summaries.js'
import type { Outlook } from '../flags/view.js'
import { abandonMigrations } from '../migrations/rows.js'
import { soon } from '../migrations/run.js'
import {
  ensureDraft,
  findPlan,
  findVersion,
  insertPlan,
  lockPlan,
  lockVersion,
  placeOf,
  unknownPlan,
  unknownVersion,
  versionsOf,
} from '../plan-versions/version-rows.js'
import { findProduct } from '../prices/rows.js'
import { mainCurrency, namedPrices, planPrices } from '../prices/write.js'
import { announce } from '../webhooks/publish.js'
import { issuesOf } from './issues.js'
import {
  archivePlan,
  countPlanRows,
  findLinkedPlan,
  groupRole,
  listPlanRows,
  nameUnpublished,
  updateBilling,
  updateDraft,
} from './store.js'
import { draftDiff, planSummaries } from './summaries.js'
import { removeVersion } from './versions.js'
import { planDetails, shownVersion } from './view.js'

const listShape = {
  company_id: string,
  company_scoped_only: boolean,
  exclude_company_scoped: boolean,
  exclude_unused: boolean,
  for_fallback_plan: boolean,
  for_initial_plan: boolean,
  for_trial_expiry_plan: boolean,
  has_product_id: boolean,
  ids: list,
  include_draft_versions: boolean,
  plan_type: oneOf(planTypes),
  q: text(512),
  scoped_to_company_id: string,
  with_entitlements: boolean,
  with_published_version: boolean,
  without_entitlement_for_include_drafts: boolean,
  without_entitlement_for: string,
  without_paid_product_id: boolean,
  view: oneOf(['full', 'summary'] as const),
  ...page,
} as const
export const planListQuery = query(listShape)
type PlanListQuery = QueryOf<typeof listShape>

export function outlookOf({ services, key, environmentOrNull }: Call<unknown, unknown>): Outlook {
  return { services, accountId: key.accountId, environment: environmentOrNull }
}

/** The place of a request that requires an environment. */
export function listPlaceOf(call: Call<unknown, unknown>) {
  return { accountId: call.key.accountId, environmentId: call.environment.id }
}

/** The scope of a change that is visible in one environment only. */
function environmentScope(call: Call<unknown, unknown>) {
  return { accountId: call.key.accountId, environmentId: call.environment.id }
}

/** The scope of a change that is visible in every environment. */
export function accountScope(call: Call<unknown, unknown>) {
  return { accountId: call.key.accountId, environmentId: null }
}

/** GET /plans. source: interface document; decision 19 for `company_id` */
export const listPlans: Handler<undefined, PlanListQuery> = async call => {
  const { sql } = call.services
  const rows = await listPlanRows(sql, listPlaceOf(call), call.query, call.query)
  if (call.query.view === 'summary')
    return {
      data: await planSummaries(
        sql,
        outlookOf(call),
        call.environment.id,
        rows,
        call.query.with_entitlements === true,
      ),
    }
  const showing = {
    drafts: call.query.include_draft_versions === true,
    entitlements: call.query.with_entitlements === true,
  }
  const plans = await planDetails(sql, outlookOf(call), rows, showing)
  return { data: await withEventsInside(outlookOf(call), plans) }
}

/** GET /plans/count. */
export const countPlans: Handler<undefined, PlanListQuery> = async call => ({
  data: { count: await countPlanRows(call.services.sql, listPlaceOf(call), call.query) },
})

/** GET /plans/{plan_id}/draft-diff: what publishing the draft would change; nothing without a draft. */
export const getDraftDiff: Handler = async call => {
  const { sql } = call.services
  const plan = await findPlan(sql, placeOf(call), call.params.plan_id!)
  if (!plan) throw unknownPlan()
  return { data: await draftDiff(sql, plan, call.environment.id, outlookOf(call)) }
}

const getShape = { plan_version_id: string } as const
export const planGetQuery = query(getShape)

/** GET /plans/{plan_id}: shows the published or the named version (PB-3). Also account-wide (AL-11). */
export const getPlan: Handler<undefined, QueryOf<typeof getShape>> = async call => {
  const { sql } = call.services
  const plan = await findPlan(sql, placeOf(call), call.params.plan_id!)
  if (!plan) throw unknownPlan()
  const versionId = call.query.plan_version_id
  if (versionId === undefined) return { data: await readOf(call, plan) }
  const version = await findVersion(sql, call.environment.id, versionId)
  if (version?.plan_id !== plan.id) throw unknownVersion('plan_version_id')
  return { data: await readOf(call, plan, versionId) }
}

/** A plan in full, its features with event counts. */
async function readOf(call: Call<unknown, unknown>, plan: PlanRow, versionId?: string): Promise<PlanDetail> {
  const detail = await detailOf(call.services.sql, call, plan, versionId)
  const [read] = await withEventsInside(outlookOf(call), [detail])
  return read!
}

/** A plan in full, with its entitlements. */
export async function detailOf(
  sql: Sql,
  call: Call<unknown, unknown>,
  plan: PlanRow,
  versionId?: string,
): Promise<PlanDetail> {
  const versionIds = versionId === undefined ? undefined : new Map([[plan.id, versionId]])
  const [detail] = await planDetails(sql, outlookOf(call), [plan], { versionIds, entitlements: true })
  return detail!
}

const defaultIcon = 'gray'

/** Create a plan with its first draft (PB-2). */
export async function makePlan(
  tx: Sql,
  call: Call<unknown, unknown>,
  body: PlanCreate,
  extra: Pick<Parameters<typeof insertPlan>[1], 'custom' | 'link'> = {},
): Promise<{ readonly plan: PlanRow; readonly draft: PlanVersionRow }> {
  const nowMs = call.services.clock.wall()
  const plan = await insertPlan(
    tx,
    {
      accountId: call.key.accountId,
      planType: body.plan_type ?? 'plan',
      name: body.name,
      description: body.description ?? '',
      icon: body.icon ?? defaultIcon,
      ...extra,
    },
    nowMs,
  )
  return { plan, draft: await ensureDraft(tx, plan, call.environment.id, nowMs) }
}

/** Publish the webhook of a plan, when the answer shows only a part of it. */
export function announcePlan(
  tx: Sql,
  call: Call<unknown, unknown>,
  type: 'plan.created' | 'plan.updated',
  planId: string,
) {
  return announce(tx, call, type, async () => {
    const plan = await findPlan(tx, listPlaceOf(call), planId)
    return plan && detailOf(tx, call, plan)
  })
}

/** Change name, description and icon of a draft. Each environment has its own versions (PB-1). */
export async function editDraft(
  tx: Sql,
  call: Call<unknown, unknown>,
  draft: PlanVersionRow,
  body: PlanUpdate,
): Promise<PlanVersionRow> {
  const nowMs = call.services.clock.wall()
  const { name, description, icon } = draft
  const said = whole(body, { name, description, icon })
  const change = { name: said.name ?? name, description: said.description ?? '', icon: said.icon ?? icon }
  const edited = await updateDraft(tx, draft, change, nowMs)
  await nameUnpublished(tx, edited, nowMs)
  return edited
}

/**
 * PUT /plans/{plan_id}: changes the draft, creating it if absent. The answer shows the draft.
 *
 * source  PB-3.
 */
export const changePlan: Handler<PlanUpdate> = async call => {
  const { catalogs, clock } = call.services
  const data = await catalogs.change(accountScope(call), async tx => {
    const plan = await lockPlan(tx, listPlaceOf(call), call.params.plan_id!)
    const draft = await ensureDraft(tx, plan, call.environment.id, clock.wall())
    const edited = await editDraft(tx, call, draft, call.body)
    const detail = await detailOf(tx, call, (await findPlan(tx, listPlaceOf(call), plan.id))!, edited.id)
    await announce(tx, call, 'plan.updated', detail)
    return detail
  })
  return { data }
}

/** POST /plans/billing-linked: create the plan linked to this provider's resource, or change its draft. */
export const putBillingLinkedPlan: Handler<BillingLinkedPlanCreate> = async call => {
  const { body, services } = call
  const data = await services.catalogs.change(accountScope(call), async tx => {
    const link = {
      provider: body.billing_provider,
      resourceId: body.external_resource_id,
      version: body.external_resource_version ?? null,
    }
    const known = await findLinkedPlan(tx, call.key.accountId, link.provider, link.resourceId)
    if (!known) {
      const { plan, draft } = await makePlan(tx, call, body, { link })
      const detail = await detailOf(tx, call, plan, draft.id)
      await announce(tx, call, 'plan.created', detail)
      return detail
    }
    if (body.plan_type != null && known.plan_type !== body.plan_type)
      throw new ServiceError('state_conflict', 'plan_type: fixed at creation')
    if (link.version !== known.external_resource_version) await mayChangePlan(tx, call, known.id)
    await tx`update plans set external_resource_version = ${link.version} where id = ${known.id}`
    const draft = await ensureDraft(tx, known, call.environment.id, services.clock.wall())
    await editDraft(tx, call, draft, body)
    const detail = await detailOf(tx, call, (await findPlan(tx, listPlaceOf(call), known.id))!, draft.id)
    await announce(tx, call, 'plan.updated', detail)
    return detail
  })
  return { status: 201, data }
}

/**
 * DELETE /plans/{plan_id}: archives it. It leaves all lists, and its entitlement rules leave the flags.
 *
 * errors  400 while a company is on any of its versions or is to move to it, and while a plan group names it; 403 while it is in use in
 *         another environment (definitions-in-use.ts).
 * source  PB-12. A company may be put on the plan during the deletion. Therefore companies are checked again once the
 *         plan cannot be assigned any more, and the plan is restored if one is found. `plan.updated` then follows `plan.deleted`.
 */
export const deletePlan: Handler = async call => {
  const { services } = call
  const { catalogs, clock, projections } = services
  const place = placeOf(call)
  const known = await findPlan(services.sql, place, call.params.plan_id!)
  if (!known) throw unknownPlan()
  await projections.barrier('postgres')
  const plan = await catalogs.change(accountScope(call), async tx => {
    const locked = await lockPlan(tx, place, call.params.plan_id!)
    await mayChangePlan(tx, call, locked.id)
    await requireUnused(tx, call, { planId: locked.id })
    const role = await groupRole(tx, locked.id)
    if (role) throw new ServiceError('state_conflict', `The plan is the ${role} plan of a plan group`)
    await announce(tx, call, 'plan.deleted', () => detailOf(tx, call, locked))
    await archivePlan(tx, locked.id, new Date(clock.wall()))
    await abandonMigrations(tx, locked.id, null, clock.wall())
    return locked
  })
  await projections.barrier('postgres')
  await requireUnused(services.sql, call, { planId: plan.id }).catch(async error => {
    await catalogs.change(accountScope(call), async tx => {
      await archivePlan(tx, plan.id, null)
      const everywhere = { services, key: call.key, environmentOrNull: null }
      await announce(tx, everywhere, 'plan.updated', () => detailOf(tx, call, plan))
    })
    throw error
  })
  return { data: { deleted: true }, noted: { deleted: true, name: plan.name } }
}

/** Throws 400 with the companies that are on a plan or version, or are to come to it (PB-12, N4). */
async function requireUnused(sql: Sql, call: Call<unknown, unknown>, part: PlanPart): Promise<void> {
  const what = part.versionId === undefined ? 'the plan' : 'this version'
  const companies = await companiesOn(sql, part)
  if (companies !== null) throw new ServiceError('state_conflict', `Companies are on ${what}: ${companies}`)
  const { clock } = call.services
  const pending = await pendingMovesTo(sql, part, environmentId => clock.now(environmentId))
  if (pending !== null)
    throw new ServiceError('state_conflict', `Companies are to move to ${what}. ${pending}`)
}

const deleteVersionShape = { promote_archived_version: boolean } as const
export const versionDeleteQuery = query(deleteVersionShape)

/**
 * DELETE /plans/version/{plan_version_id}: discards a draft; see removeVersion for other versions.
 *
 * source  PB-7, PB-10.
 */
export const deleteVersion: Handler<undefined, QueryOf<typeof deleteVersionShape>> = async call => {
  const { services, query } = call
  const versionId = call.params.plan_version_id!
  const known = await findVersion(services.sql, call.environment.id, versionId)
  if (!known) throw unknownVersion()
  if (known.status !== 'draft') await services.projections.barrier('postgres')
  const calledOff = await services.catalogs.change(environmentScope(call), async tx => {
    const { version } = await lockVersion(tx, listPlaceOf(call), versionId)
    if (version.status !== 'draft')
      await requireUnused(tx, call, { planId: version.plan_id, versionId: version.id })
    const promote = query.promote_archived_version === true
    const abandoned = await removeVersion(tx, version, promote, services.clock.wall())
    await announce(tx, call, 'plan_version.deleted', async () => {
      const plan = await findPlan(tx, listPlaceOf(call), known.plan_id)
      return plan && versionView(plan, known)
    })
    return abandoned
  })
  await soon(call, ...calledOff)
  return { data: { deleted: true } }
}

const issuesShape = { plan_id: required(string), plan_version_id: string } as const
export const planIssuesQuery = query(issuesShape)

/** GET /plans/issues: defects that would keep the version from selling or granting as intended. */
export const listPlanIssues: Handler<undefined, QueryOf<typeof issuesShape>> = async call => {
  const { sql } = call.services
  const plan = await findPlan(sql, placeOf(call), call.query.plan_id)
  if (!plan) throw unknownPlan('plan_id')
  const versions = await versionsOf(sql, call.environment.id, plan.id)
  const version = shownVersion(versions, { versionId: call.query.plan_version_id, drafts: true })
  if (!version && call.query.plan_version_id !== undefined) throw unknownVersion('plan_version_id')
  return { data: version ? await issuesOf(sql, version) : [] }
}

/**
 * The billing terms of a plan after a body is applied, for its draft.
 *
 * errors  404 for an unknown product or price; 400 for contradicting prices.
 * source  PB-3, PB-42, PB-43, decision 26. Default strategy: the provider's if a product is named, the service's
 *         own if there is a charge, else none: decision.
 */
export async function normaliseBilling(
  tx: Sql,
  call: Call<unknown, unknown>,
  draft: PlanVersionRow,
  given: Exact<BillingProductUpdate>,
): Promise<PlanVersionRow> {
  const environmentId = call.environment.id
  const own = nativeProductId(environmentId, draft.plan_id, null)
  const body = whole(
    { ...given, ...impliedTerms(given, draft) },
    {
      charge_type: draft.charge_type,
      is_trialable: draft.is_trialable,
      trial_days: draft.trial_days,
      billing_product_id: draft.billing_product_id,
    },
  )
  const productId = body.billing_product_id === own ? null : (body.billing_product_id ?? null)
  if (productId !== null && !(await findProduct(tx, environmentId, productId)))
    throw new ServiceError('not_found', 'billing_product_id: no such product')
  const named = await namedPrices(
    tx,
    environmentId,
    [
      ['monthly', 'monthly_price_id', body.monthly_price_id],
      ['quarterly', 'quarterly_price_id', body.quarterly_price_id],
      ['yearly', 'yearly_price_id', body.yearly_price_id],
      ['one_time', 'one_time_price_id', body.one_time_price_id],
    ],
    productId,
    draft.prices,
  )
  const currency = body.currency ?? draft.currency
  const prices = planPrices(draft.id, body, currency, named, draft.prices)
  const charges = isCharged(body.charge_type)
  return updateBilling(
    tx,
    draft,
    {
      charge_type: body.charge_type,
      billing_strategy: body.billing_strategy ?? strategyOf(draft, productId, charges),
      billing_product_id: productId ?? keptProduct(draft, charges),
      is_trialable: body.is_trialable,
      trial_days: body.is_trialable ? (body.trial_days ?? null) : null,
      currency:
        body.currency ??
        (prices.some(price => price.currency === currency) ? currency : mainCurrency(prices)),
      prices,
    },
    call.services.clock.wall(),
  )
}

/** Cadences and the members of a body that price them. */
const recurringMembers = ['monthly_price', 'quarterly_price', 'yearly_price'] as const

/**
 * The charge type and trial of a body that says neither: prices on a plan without charge make it charge, trial days make a trial.
 *
 * errors  400 for prices of both kinds. source: decision 41
 */
function impliedTerms(given: Exact<BillingProductUpdate>, draft: PlanVersionRow) {
  const listed = [given, ...(given.currency_prices ?? [])] as readonly Exact<BillingProductUpdate>[]
  const recurs =
    listed.some(prices => recurringMembers.some(name => prices[name] != null)) ||
    recurringMembers.some(name => given[`${name}_id`] != null)
  const once = listed.some(prices => prices.one_time_price != null) || given.one_time_price_id != null
  const starts = given.charge_type === undefined && !isCharged(draft.charge_type)
  if (starts && recurs && once)
    throw new ServiceError(
      'value_invalid',
      'charge_type: needed where recurring and one-time prices are given',
    )
  return {
    ...(starts && recurs && { charge_type: 'recurring' as const }),
    ...(starts && once && { charge_type: 'one_time' as const }),
    ...(given.is_trialable === undefined && (given.trial_days ?? 0) > 0 && { is_trialable: true }),
  }
}

function isCharged(type: ChargeType): boolean {
  return type === 'recurring' || type === 'one_time'
}

/**
 * Unchanged unless the plan starts or stops charging, or gets another product: then the default for the new terms.
 */
function strategyOf(draft: PlanVersionRow, productId: string | null, charges: boolean): BillingStrategy {
  const own = nativeProductId(draft.environment_id, draft.plan_id, null)
  const before = draft.billing_product_id === own ? null : draft.billing_product_id
  if (charges === isCharged(draft.charge_type) && productId === before) return draft.billing_strategy
  return productId !== null ? 'provider_managed' : charges ? 'service_managed' : 'no_billing'
}

/** The plan's own product, created by an earlier publish, is kept as long as the plan charges. */
function keptProduct(draft: PlanVersionRow, charges: boolean): string | null {
  const own = nativeProductId(draft.environment_id, draft.plan_id, null)
  return charges && draft.billing_product_id === own ? own : null
}

/**
 * PUT /plans/{plan_id}/billing_products: charge type, trial and prices of the draft. Absent members are unchanged.
 */
export const putBillingProduct: Handler<Exact<BillingProductUpdate>> = async call => {
  const { catalogs, clock } = call.services
  const data = await catalogs.change(environmentScope(call), async tx => {
    const plan = await lockPlan(tx, listPlaceOf(call), call.params.plan_id!)
    const draft = await ensureDraft(tx, plan, call.environment.id, clock.wall())
    const view = billingView(plan, await normaliseBilling(tx, call, draft, call.body))
    await announcePlan(tx, call, 'plan.updated', plan.id)
    return view
  })
  return { data }
}

/** The prices of a version. A charging draft without product shows the product that publishing will create. */
export function billingView(plan: PlanRow, version: PlanVersionRow): BillingProductPlan {
  const own = isCharged(version.charge_type) ? nativeProductId(version.environment_id, plan.id, null) : ''
  const priceId = (cadence: StoredPrice['cadence']) =>
    version.prices.find(price => price.cadence === cadence && price.currency === version.currency)?.id ?? null
  return {
    account_id: plan.account_id,
    environment_id: version.environment_id,
    plan_id: plan.id,
    billing_product_id: version.billing_product_id ?? own,
    billing_strategy: version.billing_strategy,
    charge_type: version.charge_type,
    controlled_by: plan.controlled_by,
    is_trialable: version.is_trialable,
    trial_days: version.trial_days,
    monthly_price_id: priceId('monthly'),
    one_time_price_id: priceId('one_time'),
    yearly_price_id: priceId('yearly'),
  }
}
