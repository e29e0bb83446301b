// Publishing a custom plan: its company starts on it, or its subscription is amended (PB-13, PB-60…62).
import type { Sql } from 'postgres'
import type { ManagePlanRequest } from '../../../schemas/billing.js'
import type { PlanPublish } from '../../../schemas/plans.js'
import type { EntitlementRow, PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { intervalOf, leadingPrice, type StoredPrice, sameTerms } from '../../catalog/prices.js'
import type { SubscribedItem } from '../../core/model/company-state.js'
import type { CompanySnapshot } from '../../core/model/descriptions.js'
import type { Migrated } from '../../core/model/plan-messages.js'
import { isActive, lacksPrice } from '../../core/plans/plan.js'
import { migratedPlans } from '../../core/plans/plan-change.js'
import { derivedId } from '../../core/values/id.js'
import { ServiceError } from '../../errors.js'
import type { Call } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { asJson, inTransaction } from '../../kit/sql.js'
import { requireTime } from '../../kit/time.js'
import { storeDetails } from '../billing/details.js'
import { withPlans } from '../billing/own-subscriptions.js'
import { defaultProfile } from '../billing/payment-gating.js'
import { intervalMonths, type SubscriptionRow, subscriptionsOf } from '../billing/record-rows.js'
import { isRunning } from '../billing/view.js'
import { described } from '../companies/read.js'
import { replyWhenShown } from '../entities/write.js'
import { noPrice } from '../migrations/reasons.js'
import { commitmentsOf, pricesOf, termsOf } from '../migrations/terms.js'
import { findPlan, findVersion } from '../plan-versions/version-rows.js'
import type {
  CompanyBefore,
  CustomPlanFlow,
  CustomPublished,
  PublishedFor,
} from '../plans/custom-plan-billing.js'
import { couponOf } from './change.js'
import { endUnlessPaid } from './custom-plan-billings.js'
import { companyTurn, manage, requireNamed } from './handlers.js'
import { insertBilling } from './plan-writes.js'
import { conflict, invalid } from './selection.js'

type PublishCall = Call<PlanPublish, unknown>

const daysUntilDue = 30

/**
 * The hooks of a publish.
 *
 * source  PB-13, PB-60…62, EN-35; refusing the publish if it cannot take effect: decision.
 */
export const customPlanFlow: CustomPlanFlow = {
  prepare,
  begin,
  published: finish,
}

async function prepare(
  call: PublishCall,
  plan: PlanRow,
  draft: PlanVersionRow,
): Promise<CompanyBefore | null> {
  const { body, services, nowMs } = call
  const companyId = plan.company_id!
  await requireNamed(call, { custom_field_values: body.custom_field_values ?? [] })
  if (body.excluded_company_ids.includes(companyId) || !isKnown(call, 'company', companyId)) return null
  const { state } = await described(call, companyId)
  const onPlan = state.plan?.planId === plan.id
  const rows = await withPlans(services.sql, await subscriptionsOf(services.sql, [companyId]), [state])
  const own = rows.find(row => row.own !== null && isRunning(row, nowMs)) ?? null
  const present = { state: keptOf(state), onPlan, waits: false, currency: null }
  const sells = draft.prices.length > 0 || (await unitsSold(call, draft, null, state)).length > 0
  const starts = own === null && sells
  const only = (member: string) => conflict(`${member}: only for a publish that starts a subscription`)
  if (body.billing_cycle_anchor != null) {
    if (!starts) throw only('billing_cycle_anchor')
    if (requireTime(body.billing_cycle_anchor, 'billing_cycle_anchor') <= nowMs)
      throw invalid('billing_cycle_anchor: must be in the future')
  }
  if (body.coupon_external_id != null) {
    if (onPlan || !sells) throw only('coupon_external_id')
    await couponOf(services.sql, call.environment.id, body)
  }
  if (!onPlan && own !== null) requireOneSubscription(draft, state, own)
  if (onPlan) {
    const terms = await termsOf(services.sql, plan.id, draft.id)
    const move = { ...terms, planId: plan.id, versionId: draft.id }
    if (lacksPrice(state, move)) throw conflict(`${noPrice}: ${own?.currency}, ${own?.own?.months} months`)
  }
  const currency =
    own === null && !(onPlan && state.plan?.priceId) ? await usualCurrency(call, companyId) : null
  if (
    currency !== null &&
    draft.prices.length > 0 &&
    draft.prices.every(price => price.currency !== currency)
  )
    throw conflict(`The plan has no price in ${currency}, the currency of its company's billing profile`)
  const before = { ...present, currency, waits: body.activation_strategy === 'on_payment' && sells }
  await requestOf(call, plan, draft, before) // refuses what cannot be billed
  return before
}

/** The currency for a company without a running subscription, from its default billing profile. */
async function usualCurrency({ services }: PublishCall, companyId: string): Promise<string | null> {
  return (await defaultProfile(services.sql, companyId))?.currency ?? null
}

/** Add-ons share the company's subscription, which has one currency and one interval. */
function requireOneSubscription(draft: PlanVersionRow, { addOns }: PublishedFor, own: SubscriptionRow): void {
  const price = leadingPrice(draft.prices, draft.currency)
  const billed = addOns.some(({ subscriptionId }) => subscriptionId === own.id)
  if (price && billed && (price.currency !== own.currency || monthsOf(price) !== own.own!.months))
    throw conflict('The company has add-ons that are billed in another currency or interval')
}

function monthsOf(price: StoredPrice): number {
  const { interval, interval_count: count } = intervalOf(price.cadence)
  return intervalMonths(interval) * count
}

/** A trait that is a quantity has no more characters. */
const quantityCharactersMax = 40

/** The part of a company that is stored until the publish is done. */
function keptOf({ id, plan, addOns, subscriptions, schedule, traits }: CompanySnapshot): PublishedFor {
  const quantities = traits.filter(([, text]) => text.length <= quantityCharactersMax)
  return { id, plan, addOns, subscriptions, schedule, traits: quantities }
}

/** A row of custom_plan_publishes. */
export interface PublishRow {
  readonly plan_version_id: string
  readonly environment_id: string
  readonly plan_id: string
  readonly company_id: string
  readonly api_key_id: string
  readonly request: PlanPublish
  readonly before: CompanyBefore
  readonly is_first: boolean
  readonly migration_id: string | null
  readonly replaces_id: string | null
  readonly published_at: Date
}

async function begin(
  tx: Sql,
  { environment, key, body, nowMs }: PublishCall,
  { plan, version, before, first, migrationId }: CustomPublished,
): Promise<void> {
  await tx`
    insert into custom_plan_publishes ${tx({
      plan_version_id: version.id,
      environment_id: environment.id,
      plan_id: plan.id,
      company_id: before.state.id,
      api_key_id: key.id,
      request: asJson(tx, body),
      before: asJson(tx, before),
      is_first: first,
      migration_id: migrationId,
      replaces_id: await unpaid(tx, plan, nowMs),
      published_at: new Date(nowMs),
    })}`
}

/**
 * Do what the publish of a version left to do, if nobody has done it. A refusal is final.
 *
 * errors  what refuses the change (4xx); 503 while a store is down: it is to be tried again.
 */
export async function finish(call: PublishCall, versionId: string): Promise<void> {
  const { sql } = call.services
  const read = () =>
    sql<PublishRow[]>`select * from custom_plan_publishes where plan_version_id = ${versionId}`
  const done = () => sql`delete from custom_plan_publishes where plan_version_id = ${versionId}`
  const [begun] = await read()
  if (!begun) return
  await companyTurn(call, begun.company_id, async () => {
    const [row] = await read()
    if (!row) return
    const { environment_id: environmentId, plan_id: planId } = row
    const version = await findVersion(sql, environmentId, versionId)
    const plan = await findPlan(sql, { accountId: call.key.accountId, environmentId }, planId)
    const { before, is_first: first, migration_id: migrationId, replaces_id: replaces } = row
    try {
      if (version && plan) await afterPublish(call, { plan, version, before, first, migrationId, replaces })
    } catch (error) {
      if (error instanceof ServiceError && error.status < 500) await done()
      throw error
    }
    await done()
  })
}

/** The billing of a published version: one, however often its publish is taken up again. */
const billingIdOf = (versionId: string): string => derivedId('cpbl_', versionId)

async function afterPublish(
  call: PublishCall,
  published: CustomPublished & { readonly replaces: string | null },
): Promise<void> {
  const { plan, version, before, first, replaces } = published
  await keepDetails(call, before.state.id)
  if (before.onPlan) return amend(call, published)
  if (!first && replaces === null) return // the company has left the plan
  const request = await requestOf(call, plan, version, before)
  if (request === null) return beginUnbilled(call, plan, version)
  if (replaces !== null && before.waits) return takePlace(call, replaces, version, request)
  const billingId = billingIdOf(version.id)
  await manage(call, request, { custom: { source: 'custom_plan', migrationId: null, billingId } })
  if (replaces !== null) await voidBilling(call, replaces)
}

/** Store the billing details that the publish request carries. */
async function keepDetails(call: PublishCall, companyId: string): Promise<void> {
  const { address, tax_id, phone, customer_email: email, custom_field_values: values } = call.body
  if (!address && !tax_id && phone == null && email == null && !values?.length) return
  const given = {
    values: values ?? [],
    ...(address && { address }),
    ...(tax_id && { tax_id }),
    ...(phone != null && { phone }),
    ...(email != null && { email }),
  }
  const { services, environment, nowMs } = call
  await inTransaction(services.sql, tx => storeDetails(tx, environment.id, companyId, given, nowMs))
}

/** Put the company on a plan without cost; its add-ons stay. */
async function beginUnbilled(call: PublishCall, plan: PlanRow, version: PlanVersionRow): Promise<void> {
  const { services, environment, key, nowMs } = call
  const message = {
    type: 'change_plans',
    basePlanId: plan.id,
    addOnIds: null,
    versionIds: {},
    priceIds: {},
    commitments: await commitmentsOf(services.sql, plan.id, version.id),
    cause: { action: 'manage_plan', actorType: 'api_key', apiKeyId: key.id },
  } as const
  await replyWhenShown(call, services.shards.ask('c', environment.id, plan.company_id!, message, nowMs), {
    not_found: ['not_found', 'The company of the plan is gone'],
    plan_not_assignable: ['state_conflict', 'The company of the plan cannot be put on it'],
  })
}

/**
 * The manage-plan request for the published version, paid by invoice; null if nothing recurring is sold.
 *
 * errors  400 for units without a price in the currency and period of the plan.
 */
async function requestOf(
  call: PublishCall,
  plan: PlanRow,
  version: PlanVersionRow,
  { state, currency }: CompanyBefore,
): Promise<ManagePlanRequest | null> {
  const { body, services } = call
  const held = state.plan?.planId === plan.id ? state.plan.priceId : null
  const { priceIds } = await termsOf(services.sql, plan.id, version.id)
  const follows = version.prices.find(({ id }) => held !== null && id === (priceIds[held] ?? held))
  const price = follows ?? leadingPrice(version.prices, currency ?? version.currency)
  if (price?.cadence === 'one_time') return null
  const units = await unitsSold(call, version, price, state)
  if (price === null && units.length === 0) return null
  return {
    company_id: state.id,
    base_plan_id: plan.id,
    base_plan_version_id: version.id,
    base_plan_price_id: price?.id ?? null,
    add_on_selections: state.addOns.map(({ planId }) => ({ plan_id: planId })),
    credit_bundles: [],
    custom_field_values: [],
    pay_in_advance_entitlements: units,
    activate_on_payment: body.activation_strategy === 'on_payment',
    collection_method: 'send_invoice',
    billing_email: body.customer_email ?? null,
    days_until_due: body.days_until_due ?? daysUntilDue,
    send_invoice: body.send_invoice ?? true,
    billing_cycle_anchor: body.billing_cycle_anchor ?? null,
    prorate_first_period: body.prorate_first_period ?? null,
    prorate: body.proration_behavior !== 'none',
    coupon_external_id: body.coupon_external_id ?? null,
  }
}

/**
 * EN-35: quantities bought in advance that cost something: the larger of committed and present.
 *
 * base    the price of the plan, whose currency and period they share; null: it has none.
 * errors  400 for units without such a price.
 */
async function unitsSold(
  { services }: PublishCall,
  version: PlanVersionRow,
  base: StoredPrice | null,
  { traits }: Pick<PublishedFor, 'traits'>,
): Promise<ManagePlanRequest['pay_in_advance_entitlements']> {
  const rows = await services.sql<(EntitlementRow & { trait: string | null })[]>`
    select e.*, t.name as trait
    from plan_entitlements e left join trait_definitions t on t.id = e.value_trait_id
    where e.plan_version_id = ${version.id} and e.price_behavior = 'pay_in_advance'`
  return rows.flatMap(({ prices, usage_quantity, trait }) => {
    const present = Number(traits.find(([name]) => name === trait)?.[1] ?? 0)
    const quantity = Math.max(Number(usage_quantity ?? 0), present)
    if (quantity === 0 || prices.length === 0) return []
    const price =
      base === null
        ? leadingPrice(prices, version.currency)
        : prices.find(one => one.currency === base.currency && one.cadence === base.cadence)
    if (!price) throw conflict(`${quantity} units have no price in ${base?.currency}, ${base?.cadence}`)
    return [{ price_id: price.id, quantity }]
  })
}

/** The id of the plan's billing that waits for payment, or null. */
async function unpaid(sql: Sql, plan: PlanRow, nowMs: number): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from custom_plan_billings
    where company_id = ${plan.company_id} and plan_id = ${plan.id} and status = 'pending'
      and published_at + days_until_due * interval '24 hours' > ${new Date(nowMs)}
    order by created_at desc limit 1`
  return row?.id ?? null
}

/** Replace a version that was never paid: its pending billing is now for this version, due from now on. */
async function takePlace(
  { services, nowMs }: PublishCall,
  billingId: string,
  version: PlanVersionRow,
  request: ManagePlanRequest,
): Promise<void> {
  const { sql } = services
  const now = new Date(nowMs)
  await sql`
    update custom_plan_billings set ${sql({
      plan_version_id: version.id,
      request: asJson(sql, request),
      days_until_due: request.days_until_due ?? daysUntilDue,
      send_invoice: request.send_invoice ?? true,
      customer_email: request.billing_email ?? null,
      published_at: now,
      updated_at: now,
    })} where id = ${billingId}`
}

/** Expire a pending billing, because the plan takes effect without it. */
async function voidBilling({ services, nowMs }: PublishCall, billingId: string): Promise<void> {
  await services.sql`
    update custom_plan_billings set status = 'expired', updated_at = ${new Date(nowMs)} where id = ${billingId}`
}

/**
 * Whether a move to another version changes what the company pays for: a product, a price's terms or a quantity.
 *
 * A price that has a new id and the terms of the one in force is the same price: a draft that follows a version with
 * another price gets a new id when it goes back.
 * source  PB-63.
 */
async function isSoldAnew(sql: Sql, planId: string, was: PublishedFor, next: Migrated): Promise<boolean> {
  const prices = await pricesOf(sql, planId)
  const costsTheSame = (a: string | null, b: string | null) => {
    if (a === b) return true
    const [had, gets] = [a, b].map(id => (id === null ? undefined : prices.get(id)))
    return had !== undefined && gets !== undefined && sameTerms(had, gets)
  }
  const isTheSame = (a: SubscribedItem, b: SubscribedItem | undefined) =>
    b !== undefined &&
    a.productId === b.productId &&
    (a.quantity ?? 1) === (b.quantity ?? 1) &&
    costsTheSame(a.priceId, b.priceId)
  if (!costsTheSame(was.plan?.priceId ?? null, next.plan?.priceId ?? null)) return true
  return next.subscriptions.some(({ id, items: gets = [] }) => {
    const had = was.subscriptions.find(one => one.id === id)?.items ?? []
    return had.length !== gets.length || !had.every((item, i) => isTheSame(item, gets[i]))
  })
}

/** PB-60: an amendment of a paid plan is billed from its publish on. */
async function amend(
  call: PublishCall,
  { plan, version, before, migrationId }: CustomPublished,
): Promise<void> {
  const { services } = call
  const { state } = before
  const request = await requestOf(call, plan, version, before)
  if (request === null) return
  if (!state.subscriptions.some(one => one.anchorMs != null && isActive(one, call.nowMs))) {
    // nothing was paid for so far, so there is no subscription to amend
    const custom = { source: 'amendment', migrationId, billingId: billingIdOf(version.id) } as const
    await manage(call, request, { custom })
    return
  }
  const terms = await termsOf(services.sql, plan.id, version.id)
  const next = migratedPlans(state, { ...terms, planId: plan.id, versionId: version.id }, call.nowMs)
  if (!before.waits && !(await isSoldAnew(services.sql, plan.id, state, next))) return
  const email = request.billing_email ?? null
  const days = request.days_until_due ?? daysUntilDue
  await insertBilling(call, {
    id: billingIdOf(version.id),
    request,
    planId: plan.id,
    versionId: version.id,
    source: 'amendment',
    migrationId,
    status: before.waits ? 'pending' : 'active',
    onPayment: before.waits,
    daysUntilDue: days,
    email,
    sendInvoice: request.send_invoice ?? true,
  })
  if (!before.waits) await endUnlessPaid(call, state.id)
}
