// Preview or change a company's plans: base plan, add-ons and quantities in one request (PB-30…34).
import type {
  ManagePlanPreview,
  ManagePlanRequest,
  ManagePlanResult,
  SubscriptionCancel,
} from '../../../schemas/billing.js'
import { newId } from '../../account/ids.js'
import { compileCatalog } from '../../core/catalog.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import type { SubscriptionReply } from '../../core/model/plan-messages.js'
import type { ChargeLine } from '../../core/rating/line.js'
import { linesOfChange } from '../../core/rating/rate.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import type { Refusals } from '../../kit/entities.js'
import { inTransaction } from '../../kit/sql.js'
import { uncredited, usageRowOf } from '../../wire/usage-rows.js'
import { withPlans } from '../billing/own-subscriptions.js'
import { subscriptionNow, subscriptionsOf } from '../billing/record-rows.js'
import { inTurn, recount } from '../billing/subscription-write.js'
import { isRunning } from '../billing/view.js'
import { billingFacts, type PlannedChange } from '../charges/facts.js'
import { withUsage } from '../charges/rated.js'
import { companyDetails, described } from '../companies/read.js'
import { replyWhenShown } from '../entities/write.js'
import { featuresInPlans } from '../plans/view.js'
import { featureMember, shared, usageView } from '../usage/view.js'
import { type Change, type CustomPlan, changeOf, type ManageTerms } from './change.js'
import {
  beginPlanWrite,
  dropPlanWrite,
  finishPlanWritesOf,
  insertBilling,
  type NewBilling,
  type PlanWrite,
  storePlanWrite,
} from './plan-writes.js'
import { previewOf } from './preview.js'
import { conflict, invalid, type Selection } from './selection.js'
import { copyOf, effectsOf, usageViolations, warnOverLimit } from './usage-violations.js'

type AnyCall = Call<unknown, unknown>

const refusals: Refusals = {
  not_found: ['not_found', 'Company not found'],
  plan_not_assignable: ['state_conflict', 'The company cannot be on these plans'],
}

/** Serialises plan changes of one company. Rows that an interrupted change left are stored first. */
export function companyTurn<T>(call: AnyCall, companyId: string, work: () => Promise<T>): Promise<T> {
  return inTurn(call, `plans of ${companyId}`, async () => {
    await finishPlanWritesOf(call, companyId)
    return work()
  })
}

/** POST /manage-plan: makes the whole change or nothing. source: PB-30…34 */
export const managePlan: Handler<ManagePlanRequest> = async call => {
  await companyTurn(call, call.body.company_id, () => manage(call, call.body))
  return { data: await resultOf(call, call.body.company_id) }
}

async function resultOf(call: AnyCall, companyId: string): Promise<ManagePlanResult> {
  const [company] = await companyDetails(call, [companyId])
  return { success: true, ...(company && { company }) }
}

async function prepared(call: AnyCall, body: ManagePlanRequest, terms: ManageTerms) {
  const company = await described(call, body.company_id)
  await requireNamed(call, body)
  const catalog = call.services.catalogs.get(call.environment.id)
  const change = await changeOf(call, catalog, company, body, terms)
  return { company, catalog, change }
}

/** Check what a body names besides plans. Errors: 404; 400 for an undefined checkout field. */
export async function requireNamed(
  { services, environment }: AnyCall,
  body: Pick<ManagePlanRequest, 'payment_method_external_id' | 'custom_field_values'>,
): Promise<void> {
  const { sql } = services
  if (body.payment_method_external_id != null) {
    const [method] = await sql`
      select 1 from billing_payment_methods
      where environment_id = ${environment.id} and external_id = ${body.payment_method_external_id}`
    if (!method) throw new ServiceError('not_found', 'payment_method_external_id: no such payment method')
  }
  if (body.custom_field_values.length > 0) {
    const [group] = await sql<{ settings: { custom_checkout_fields?: readonly { id: string }[] } }[]>`
      select settings from plan_groups where environment_id = ${environment.id}`
    const known = group?.settings.custom_checkout_fields ?? []
    const unknown = body.custom_field_values.find(({ id }) => !known.some(field => field.id === id))
    if (unknown) throw invalid(`custom_field_values: no checkout field ${unknown.id}`)
  }
}

/**
 * Make a change of plans. The caller holds the company's turn.
 *
 * source  PB-30…34, EN-87, EN-95, PB-60.
 */
export async function manage(
  call: AnyCall,
  body: ManagePlanRequest,
  terms: ManageTerms = {},
): Promise<Change> {
  const { services, environment, nowMs } = call
  const { paid = false, custom = null, settles = null } = terms
  const { company, catalog, change } = await prepared(call, body, terms)
  const { message, had, row, invoice } = change
  const prevented =
    change.scheduledAtMs === null
      ? change.settings.prevent_downgrades_when_over_limit
      : change.settings.scheduled_downgrade_prevent_when_over_limit
  const falls = change.action === 'downgrade' || change.action === 'unsubscribe'
  const violations = usageViolations(catalog, company, message, nowMs)
  if (prevented && falls && custom === null && !paid && violations.length > 0)
    throw conflict('The company uses more than the new plans allow') // EN-87
  if (invoice?.onPayment && !paid) {
    const billing = billingOf(body, change, 'pending', custom)
    await inTransaction(services.sql, async tx => {
      await insertBilling(call, billing, tx)
      await call.record?.(tx)
    })
    return change
  }
  const write: PlanWrite = {
    companyId: body.company_id,
    row,
    isNew: had === null,
    billing: invoice && !paid ? billingOf(body, change, 'active', custom) : null,
    settles,
    fieldValues: body.custom_field_values,
    plans: { base: message.basePlanId ?? catalog.fallbackPlanId, addOns: message.addOnIds },
  }
  // The publish of a custom plan has a note of its own, and is done again as a whole.
  const noteId = custom?.billingId === undefined ? await beginPlanWrite(call, write) : null
  const asked = services.shards.ask<SubscriptionReply>('c', environment.id, body.company_id, message, nowMs)
  const reply = await replyWhenShown(call, asked, refusals).catch(async error => {
    if (error instanceof ServiceError && error.status < 500) await dropPlanWrite(call, noteId)
    throw error
  })
  const recounts = reply.recount !== null
  await storePlanWrite(call, noteId, write, recounts)
  if (recounts) {
    await recount(call, body.company_id, reply.recount)
    await dropPlanWrite(call, noteId)
  }
  warnOverLimit(call, body.company_id, violations)
  return change
}

/** A request whose versions and prices are named, so that it is for the same whenever it is paid. source: PB-5, PB-62 */
function named(body: ManagePlanRequest, { base, addOns }: Selection): ManagePlanRequest {
  return {
    ...body,
    base_plan_version_id: base?.version.id ?? null,
    base_plan_price_id: base?.price?.id ?? null,
    add_on_selections: addOns.map(({ plan, version, price }) => ({
      plan_id: plan.id,
      version_id: version.id,
      price_id: price?.id ?? null,
    })),
  }
}

/** PB-60: the billing of an invoiced subscription. */
function billingOf(
  body: ManagePlanRequest,
  { invoice, selection }: Change,
  status: 'active' | 'pending',
  custom: CustomPlan | null,
): NewBilling {
  const { plan, version } = (selection.base ?? selection.addOns[0])!
  return {
    id: custom?.billingId ?? newId('cpbl_'),
    request: named(body, selection),
    planId: plan.id,
    versionId: version.id,
    source: custom?.source ?? 'manage_plan',
    migrationId: custom?.migrationId ?? null,
    status,
    onPayment: invoice!.onPayment,
    daysUntilDue: invoice!.daysUntilDue,
    email: invoice!.email,
    sendInvoice: invoice!.sendInvoice,
  }
}

const nothingBeside = { entitlements: new Map(), overrides: new Map() }

/** POST /manage-plan/preview: the same checks without the change. */
export const previewManagePlan: Handler<ManagePlanRequest> = async call => {
  const { services, body, nowMs } = call
  const { company, catalog, change } = await prepared(call, body, {})
  const violations = usageViolations(catalog, company, change.message, nowMs)
  const [methods] = await services.sql<{ count: string }[]>`
    select count(*) from billing_payment_methods where company_id = ${body.company_id}`
  const features = await featuresInPlans(
    services.sql,
    { services, accountId: call.key.accountId, environment: call.environment },
    violations.map(row => row.featureId),
  )
  const beside = {
    ...nothingBeside,
    features: new Map([...features].map(([id, view]) => [id, shared(featureMember(view))])),
  }
  const data: ManagePlanPreview = {
    subscription_change_preview: previewOf({
      change,
      lines: await linesOf(call, company, catalog, change),
      // none of them is paid by credits: those have no limit
      violations: violations.map(row => usageView(usageRowOf(row, null, uncredited), beside)),
      paymentMethods: Number(methods!.count),
      catalog,
      nowMs,
    }),
  }
  return { data }
}

/** The lines that a change would make among the charges of its company. source: PB-33, RA-29 */
async function linesOf(
  { services, environment, nowMs }: AnyCall,
  company: CompanyDescription,
  catalog: CatalogData,
  { message, row }: Change,
): Promise<readonly ChargeLine[]> {
  const companyId = company.state.id
  const effects = effectsOf(compileCatalog(catalog), copyOf(company), message, nowMs)
  const planned = { companyId, effects, subscription: row, atMs: nowMs }
  // what was acknowledged before is written
  await services.projections.barrierOf('postgres', environment.id)
  const factsOf = async (change: PlannedChange | null) =>
    (await billingFacts(services.sql, environment.id, [companyId], new Map(), change)).get(companyId)!
  const [before, after] = await Promise.all([factsOf(null), factsOf(planned)])
  // the use that a discount for the first charge alone may have been for
  if (before.discounts.some(one => one.once === 'first'))
    await services.projections.barrierOf('clickhouse', environment.id)
  return withUsage(services, { environmentId: environment.id, companyId }, reader =>
    linesOfChange(before, after, reader, nowMs),
  )
}

/**
 * POST /manage-plan/subscription/cancel: at once, or at the end of its period. Plans it does not bill stay.
 *
 * errors  404; 400 without an own subscription of the company.
 * source  PB-51, PB-56, EN-82, EN-95.
 */
export const cancelSubscription: Handler<SubscriptionCancel> = async call => {
  const { services, body, nowMs } = call
  await companyTurn(call, body.company_id, async () => {
    const { state } = await described(call, body.company_id)
    const rows = await withPlans(services.sql, await subscriptionsOf(services.sql, [body.company_id]), [
      state,
    ])
    const running = rows.map(row => subscriptionNow(row, nowMs)).filter(row => isRunning(row, nowMs))
    const own = running.find(row => row.own !== null)
    if (!own)
      throw conflict(
        running.length > 0
          ? 'A provider bills the subscription: it is canceled there'
          : 'The company has no active subscription',
      )
    const stays = [state.plan, ...state.addOns].filter(
      held => held !== null && held.subscriptionId !== own.id,
    )
    const base = state.plan !== null && stays.includes(state.plan) ? state.plan : null
    const addOns = state.addOns.filter(addOn => stays.includes(addOn))
    await manage(call, {
      company_id: body.company_id,
      base_plan_id: base?.planId ?? null,
      add_on_selections: addOns.map(({ planId }) => ({ plan_id: planId })),
      pay_in_advance_entitlements: [],
      credit_bundles: [],
      custom_field_values: [],
      cancel_immediately: body.cancel_immediately ?? true,
      prorate: body.prorate ?? true,
    })
  })
  return { data: await resultOf(call, body.company_id) }
}
