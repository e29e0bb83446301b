// Turns a selection of plans into a change: its action, its time, and the company's subscription afterwards.
import type { Sql } from 'postgres'
import type { ManagePlanRequest } from '../../../schemas/billing.js'
import type { PlanChangeSubscriptionAction } from '../../../schemas/enums.js'
import { newId } from '../../account/ids.js'
import type { TrialState } from '../../core/model/company-state.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import type { PlansManaged } from '../../core/model/plan-messages.js'
import { derivedId } from '../../core/values/id.js'
import { addMonthsClamped, dayMs, periodAt, recurrenceAfter } from '../../core/values/period.js'
import {
  addQuantity,
  isQuantity,
  type Quantity,
  readQuantity,
  storedQuantity,
  sumOf,
} from '../../core/values/quantity.js'
import type { Call } from '../../kit/call.js'
import { requireTime, wholeSeconds } from '../../kit/time.js'
import { withPlans } from '../billing/own-subscriptions.js'
import { defaultProfile } from '../billing/payment-gating.js'
import {
  type CouponRow,
  type ProfileRow,
  type SubscribedProduct,
  type SubscriptionRow,
  subscriptionNow,
  subscriptionState,
  subscriptionsOf,
} from '../billing/record-rows.js'
import { amountOf, monthsOf, type SoldPrice, subscribedProduct } from '../billing/sold-price.js'
import { causeOf } from '../billing/subscription-write.js'
import { isRunning } from '../billing/view.js'
import { redeemed } from '../charges/discounts.js'
import { requireCompatible } from '../plan-groups/add-on-compatibility.js'
import { type GroupSettings, groupSettings } from '../plan-groups/settings.js'
import { bundlesOf } from './bundles.js'
import type { Settled } from './plan-writes.js'
import {
  buysMore,
  conflict,
  invalid,
  type SelectedPlan,
  type Selection,
  selectionOf,
  type UsualPrice,
} from './selection.js'
import { topupsOf } from './topup-settings.js'
import { trialMembers, trialOf } from './trial.js'

/** One line of an invoice. */
export interface Line {
  readonly description: string
  readonly price: SoldPrice
  readonly quantity: number
  readonly amount: Quantity
}

/** A complete change, to be previewed or made. */
export interface Change {
  readonly action: PlanChangeSubscriptionAction | null
  readonly selection: Selection
  readonly message: PlansManaged
  /** The company's own subscription before and after; null: none. */
  readonly had: SubscriptionRow | null
  readonly row: SubscriptionRow | null
  /** Recurring charges after the change, and one-time charges. */
  readonly lines: readonly Line[]
  readonly once: readonly Line[]
  readonly currency: string
  /** Total of one billing period, in the smallest unit. */
  readonly total: Quantity
  /** Start of the first period, epoch ms. */
  readonly startMs: number
  readonly endMs: number
  /** EN-95; epoch ms. */
  readonly scheduledAtMs: number | null
  readonly trialEndMs: number | null
  readonly coupon: CouponRow | null
  /** The code that named the coupon, if one did. */
  readonly promoCode: string | null
  readonly invoice: Invoiced | null
  readonly settings: GroupSettings
}

/** A new subscription paid by invoice (PB-60). */
interface Invoiced {
  readonly onPayment: boolean
  readonly daysUntilDue: number
  readonly email: string | null
  readonly sendInvoice: boolean
}

/** Terms of a change that do not come from the request's body. */
export interface ManageTerms {
  /** Its payment arrived, so it waits no more (PB-60). */
  readonly paid?: boolean
  /** The billing that it settles. */
  readonly settles?: Settled | null
  /** When the subscription ends by an unpaid invoice, epoch seconds; null: by none; absent: as it does. */
  readonly cancelAt?: number | null
  /**
   * Set for a published custom plan: takes effect at once, whatever plan the company is on. Absent for a caller's
   * request.
   */
  readonly custom?: CustomPlan | null
}

export interface CustomPlan {
  readonly source: 'amendment' | 'custom_plan'
  /** For an amendment: the migration that moves the company. */
  readonly migrationId: string | null
  /** Its billing's own id: stored once, however often the change is tried. Absent: another each time. */
  readonly billingId?: string
}

/**
 * Work out the change that a request makes to a company.
 *
 * errors  those of `selectionOf`; 400 for a request that contradicts itself or the company's present subscription.
 * source  PB-30…33, EN-86, EN-90, EN-94, EN-95.
 */
export async function changeOf(
  call: Call<unknown, unknown>,
  catalog: CatalogData,
  company: CompanyDescription,
  body: ManagePlanRequest,
  { paid = false, custom = null, cancelAt }: ManageTerms = {},
): Promise<Change> {
  const { services, nowMs } = call
  const { sql } = services
  const [settings, rows, coupon, profile] = await Promise.all([
    groupSettings(sql, call.environment.id),
    subscriptionsOf(sql, [company.state.id]).then(stored => withPlans(sql, stored, [company.state])),
    couponOf(sql, call.environment.id, body),
    defaultProfile(sql, company.state.id),
  ])
  const running = rows.map(row => subscriptionNow(row, nowMs)).filter(row => isRunning(row, nowMs))
  const had = running.find(row => row.own !== null) ?? null
  const usual = usualPriceOf(running, had, profile)
  // what was paid for, or published, takes effect as it was agreed, whatever the company has by now (PB-60)
  const isAsked = custom === null && !paid
  const selection = await selectionOf(sql, catalog, company, body, usual, custom !== null)
  const wanted = {
    basePlanId: body.base_plan_id ?? null,
    addOnIds: selection.addOns.map(({ plan }) => plan.id),
  }
  if (isAsked)
    requireCompatible(catalog, company, settings.add_on_compatibilities ?? [], wanted, 'add_on_selections')
  const { billed, elsewhere } = split(selection, running)
  const { lines, once } = linesOf(selection, billed)
  const currency =
    oneOf(lines, line => line.price.currency, 'currency') ?? had?.currency ?? usual?.currency ?? 'usd'
  const months = oneOf(lines, line => monthsOf(line.price)!, 'interval') ?? had?.own?.months ?? 1
  const total = sum(lines)
  const totalBefore = had ? readQuantity(had.total_price) : 0
  if (isAsked && had !== null && totalBefore > 0 && lines.length > 0 && currency !== had.currency)
    throw conflict(
      `base_plan_price_id: the subscription is paid in ${had.currency}; end it before one in ${currency} begins`,
    )
  const bundles = await bundlesOf(sql, call.environment.id, body, currency)
  for (const { name, price, quantity, amount } of bundles)
    if (price) once.push({ description: name, price, quantity, amount })
  if (!isQuantity(addQuantity(total, sum(once))))
    throw invalid('The charges of this change are beyond 64 bits')
  const billedElsewhere = elsewhere.length > 0
  if (isAsked && had === null) requireForNew(body)
  else if (isAsked) refuseForExisting(body)
  const trial = trialOf(company, selection, body, had, lines, nowMs)
  const action = actionOf(company, selection, {
    had,
    totalBefore,
    total,
    months,
    lines,
    billedElsewhere,
    bundles: body.credit_bundles.length,
  })
  const dearer = had !== null && total > 0 && isDearer(company, selection, had, months)
  if (isAsked) refuseWhilePending(company, selection, dearer, body)
  const scheduled = had !== null && isAsked && isScheduled(action, body, settings, had, lines)
  const restarts = had !== null && action === 'downgrade' && !scheduled
  // decision 34: a paid period begins with a change that ends the trial
  const converts = had?.status === 'trialing' && trial === null
  const fresh = had === null || restarts || converts
  const startMs = fresh ? nowMs : Number(had.period_start) * 1000
  const anchorMs = anchorOf(body, had, isAsked, nowMs)
  const firstEndMs =
    anchorMs === null ? addMonthsClamped(startMs, months) : recurrenceAfter(anchorMs, nowMs, months)
  const paidEndMs = fresh ? firstEndMs : endOfKept(had, months, nowMs)
  const periodEndMs = trial?.endMs ?? paidEndMs // decision 34: what is paid begins where the trial ends
  const scheduledAtMs = scheduled ? endOfTerm(had) * 1000 : null
  const invoice = custom === null && had !== null ? null : invoiceOf(body, lines)
  const products = lines.map(({ price, quantity }) => subscribedProduct(price, quantity))
  const billsOnMs = anchorMs ?? (fresh ? startMs : Number(had.own!.anchor) * 1000)
  const row = ownRow(call, company, body, {
    had,
    products,
    total,
    currency,
    months,
    startMs: wholeSeconds(startMs),
    endMs: wholeSeconds(periodEndMs),
    isFirstFree:
      anchorMs === null
        ? !fresh && months === had.own!.months && had.own!.first_free === true
        : body.prorate_first_period === false,
    anchorMs: wholeSeconds(billsOnMs),
    scheduledAtMs,
    trial,
    coupon,
    selection,
    expiryPlanId: had?.status === 'trialing' ? catalog.trialExpiryPlanId : null,
    cancelAtMs: invoice && !paid ? nowMs + invoice.daysUntilDue * dayMs : null,
    cancelAt,
    rows,
  })
  const message = messageOf(call, body, {
    selection,
    row,
    had,
    billed,
    elsewhere,
    trial,
    action,
    scheduledAtMs,
    purchases: bundles.map(({ purchase }) => purchase),
    topups: topupsOf(catalog, selection, body),
  })
  return {
    action,
    selection,
    message,
    had,
    row,
    lines,
    once,
    currency,
    total,
    startMs,
    endMs: periodEndMs,
    scheduledAtMs,
    trialEndMs: trial?.endMs ?? null,
    coupon,
    promoCode: body.promo_code ?? null,
    invoice,
    settings,
  }
}

/**
 * The coupon that a request redeems, by its id or by the customer's code.
 *
 * errors  400 for an unknown or used-up coupon, and if code and id name different ones.
 * source  decision: sync brings no codes, so the name and the external id serve as codes, ignoring case.
 */
export async function couponOf(
  sql: Sql,
  environmentId: string,
  { coupon_external_id: id, promo_code: code }: Pick<ManagePlanRequest, 'coupon_external_id' | 'promo_code'>,
): Promise<CouponRow | null> {
  if (id == null && code == null) return null
  const rows = await sql<CouponRow[]>`
    select * from billing_coupons where environment_id = ${environmentId} and is_active
      and (max_redemptions is null or max_redemptions = 0 or times_redeemed < max_redemptions)
    order by created_at desc, id desc`
  const goesBy = ({ name, external_id }: CouponRow) =>
    [name, external_id].some(one => one.toLowerCase() === code?.toLowerCase())
  const named = id == null ? null : rows.find(row => row.external_id === id)
  const coded = code == null ? null : rows.find(row => (named ? row === named : true) && goesBy(row))
  if (named === undefined) throw conflict('coupon_external_id: no coupon of this id can be redeemed')
  if (coded === undefined) throw conflict('promo_code: no coupon that goes by this code can be redeemed')
  return named ?? coded
}

/**
 * Currency and interval for plans whose price the request does not name: those of the own subscription, else of the
 * newest running one, else the currency of the default billing profile. Null if the profile has no currency.
 *
 * source  interface document, CompanyBillingProfile: currency; PB-43; the order: decision.
 */
function usualPriceOf(
  running: readonly SubscriptionRow[],
  had: SubscriptionRow | null,
  profile: ProfileRow | null,
): UsualPrice | null {
  if (profile?.currency == null) return null
  const newest = [...running].sort((a, b) => Number(b.period_start) - Number(a.period_start))[0]
  const currency = had?.currency ?? newest?.currency ?? profile.currency
  return { currency, months: had?.own?.months ?? null }
}

/** Splits the plans into those that the service bills and those that a provider keeps billing. */
function split({ base, addOns }: Selection, running: readonly SubscriptionRow[]) {
  const plans = base ? [base, ...addOns] : [...addOns]
  const told = new Set(running.filter(row => row.own === null).map(row => row.id))
  const elsewhere = plans.filter(
    ({ held, price }) => held?.subscriptionId && told.has(held.subscriptionId) && price?.id === held.priceId,
  )
  return { billed: plans.filter(one => one.price !== null && !elsewhere.includes(one)), elsewhere }
}

function linesOf(
  { quantities }: Selection,
  billed: readonly SelectedPlan[],
): { readonly lines: Line[]; readonly once: Line[] } {
  const all = [
    ...billed.map(({ plan, price }) => line(plan.name, price!, 1)),
    ...quantities
      .filter(one => one.quantity > 0)
      .map(({ featureName, price, quantity }) => line(featureName, price, quantity)),
  ]
  return {
    lines: all.filter(one => monthsOf(one.price) !== null),
    once: all.filter(one => monthsOf(one.price) === null),
  }
}

function line(description: string, price: SoldPrice, quantity: number): Line {
  return { description, price, quantity, amount: amountOf(price, quantity) }
}

function sum(lines: readonly Line[]): Quantity {
  return sumOf(lines.map(({ amount }) => amount))
}

/** The single value that all lines share; null without lines. */
function oneOf<T>(lines: readonly Line[], of: (line: Line) => T, what: string): T | null {
  const values = new Set(lines.map(of))
  if (values.size > 1) throw invalid(`The prices of one subscription share their ${what}`)
  return values.size === 0 ? null : [...values][0]!
}

function requireForNew(body: ManagePlanRequest): void {
  const invoiced = body.collection_method === 'send_invoice'
  if (invoiced && !body.billing_email) throw invalid('billing_email: required when an invoice is sent')
  if (body.activate_on_payment && !invoiced)
    throw invalid('activate_on_payment: only for subscriptions that are invoiced')
  if (body.billing_entity_id != null && body.billing_entity_id !== body.company_id)
    throw conflict('billing_entity_id: a company pays for itself')
}

function refuseForExisting(body: ManagePlanRequest): void {
  const refuse = (member: string) => conflict(`${member}: only for a new subscription`)
  if (body.billing_entity_id != null) throw refuse('billing_entity_id')
  if (body.billing_cycle_anchor != null) throw refuse('billing_cycle_anchor')
  if (body.collection_method === 'send_invoice') throw refuse('collection_method')
  if (body.activate_on_payment) throw refuse('activate_on_payment')
  if (body.trial_end != null) throw refuse('trial_end')
}

interface Compared {
  readonly had: SubscriptionRow | null
  readonly totalBefore: Quantity
  readonly total: Quantity
  readonly months: number
  readonly lines: readonly Line[]
  readonly billedElsewhere: boolean
  readonly bundles: number
}

/** Whether the base plan is paid for longer, or costs as much or more: what is bought with it does not count. */
function isDearer(
  { state }: CompanyDescription,
  { base }: Selection,
  had: SubscriptionRow,
  months: number,
): boolean {
  const before = had.products.find(product => product.price_id === state.plan?.priceId)?.price ?? 0
  const held = had.own?.months ?? 1
  return months > held || (months === held && (base?.price?.price ?? 0) >= readQuantity(before))
}

/** The recorded action of a change. source: PB-32 */
function actionOf(
  company: CompanyDescription,
  selection: Selection,
  { had, totalBefore, total, months, lines, billedElsewhere, bundles }: Compared,
): PlanChangeSubscriptionAction | null {
  const { base, addOns } = selection
  const [paid, pays] = [totalBefore > 0, total > 0]
  if (!paid && !pays) return billedElsewhere || had === null ? null : 'adjustment'
  if (!paid) return 'subscribe'
  if (!pays) return 'unsubscribe'
  const { state } = company
  const quantity = (priceId: string) =>
    had!.products.find(product => product.price_id === priceId)?.quantity ?? 0
  const comes = addOns.some(addOn => addOn.held === null)
  const more = buysMore(company, selection)
  const same =
    lines.length === had!.products.length &&
    lines.every(one => quantity(one.price.id) === one.quantity) &&
    base?.plan.id === state.plan?.planId &&
    addOns.length === state.addOns.length &&
    !comes
  if (same && bundles === 0) return 'adjustment'
  const up = isDearer(company, selection, had!, months) || comes || more || bundles > 0
  if (!up) return 'downgrade'
  return had!.status === 'trialing' ? 'upgrade_trial' : 'upgrade'
}

/**
 * EN-95: while a downgrade is pending, nothing may be bought but with a dearer plan, which calls it off. A purchase makes no
 * other plan dearer (N18).
 */
function refuseWhilePending(
  company: CompanyDescription,
  selection: Selection,
  dearer: boolean,
  body: ManagePlanRequest,
): void {
  const { state } = company
  if (!state.schedule?.downgrade) return
  const { base, addOns } = selection
  if (base !== null && base.plan.id !== state.plan?.planId && dearer) return
  const comes = addOns.some(addOn => addOn.held === null)
  if (body.credit_bundles.length > 0 || comes || buysMore(company, selection))
    throw conflict(
      'A downgrade is pending: add-ons, quantities and credits cannot be bought until it is done',
    )
}

function isScheduled(
  action: PlanChangeSubscriptionAction | null,
  body: ManagePlanRequest,
  settings: GroupSettings,
  had: SubscriptionRow,
  lines: readonly Line[],
): boolean {
  const waits = settings.scheduled_downgrade_behavior === 'end_of_billing_period'
  // interface document: removing all plans takes effect at once by default
  const nothing = body.base_plan_id == null && body.add_on_selections.length === 0
  if (action === 'unsubscribe' || lines.length === 0)
    return body.cancel_immediately == null ? waits && !nothing : !body.cancel_immediately
  return action === 'downgrade' && waits && had.status !== 'trialing'
}

/** The anchor of a new subscription, which begins its second period; an invoice may be paid after the one that it named. */
function anchorOf(
  body: ManagePlanRequest,
  had: SubscriptionRow | null,
  isAsked: boolean,
  nowMs: number,
): number | null {
  if (body.billing_cycle_anchor == null || had !== null) return null
  const anchorMs = requireTime(body.billing_cycle_anchor, 'billing_cycle_anchor')
  if (isAsked && anchorMs <= nowMs) throw invalid('billing_cycle_anchor: must be in the future')
  return anchorMs
}

/**
 * When a change agreed for later takes effect: at the end of the period or of the running trial, epoch seconds.
 *
 * source  decision 29.
 */
function endOfTerm({ status, trial_end, period_end }: SubscriptionRow): number {
  const end = Number(period_end)
  return status === 'trialing' && trial_end !== null ? Math.min(Number(trial_end), end) : end
}

/** PB-33: an upgrade keeps the start of the period; with a longer interval it ends later. */
function endOfKept(had: SubscriptionRow, months: number, nowMs: number): number {
  if (months === had.own!.months) return Number(had.period_end) * 1000
  const anchorMs = Number(had.own!.anchor) * 1000
  return periodAt(anchorMs, months, nowMs, Number(had.period_start) * 1000).nextMs
}

function invoiceOf(body: ManagePlanRequest, lines: readonly Line[]): Invoiced | null {
  if (body.collection_method !== 'send_invoice' || lines.length === 0) return null
  return {
    onPayment: body.activate_on_payment === true,
    daysUntilDue: body.days_until_due ?? 30,
    email: body.billing_email ?? null,
    sendInvoice: body.send_invoice ?? true,
  }
}

interface OwnTerms {
  readonly had: SubscriptionRow | null
  readonly products: readonly SubscribedProduct[]
  readonly total: Quantity
  readonly currency: string
  readonly months: number
  readonly startMs: number
  readonly endMs: number
  readonly anchorMs: number
  /** The part of an interval before the first anchor costs nothing. */
  readonly isFirstFree: boolean
  readonly scheduledAtMs: number | null
  readonly trial: TrialState | null
  readonly coupon: CouponRow | null
  readonly selection: Selection
  readonly cancelAtMs: number | null
  /** Epoch seconds; takes the place of both; undefined: not said. */
  readonly cancelAt: number | null | undefined
  /** The plan after a cancelled trial; null: the fallback plan, or no trial (EN-91). */
  readonly expiryPlanId: string | null
  /** Every subscription of the company, including ended ones. */
  readonly rows: readonly SubscriptionRow[]
}

/** The company's own subscription as it is to be stored; null if it needs none. */
function ownRow(
  { environment, nowMs }: Call<unknown, unknown>,
  { state }: CompanyDescription,
  body: ManagePlanRequest,
  terms: OwnTerms,
): SubscriptionRow | null {
  const { had, products, total, currency, months, scheduledAtMs, trial, coupon, selection } = terms
  const now = new Date(nowMs)
  const interval = months === 12 ? 'year' : 'month'
  // periods begin on whole seconds: the first is discounted too (RA-16)
  const discounts = coupon
    ? redeemed(had, coupon, wholeSeconds(nowMs), body.promo_code ?? null)
    : (had?.discounts ?? [])
  if (had !== null && scheduledAtMs !== null) {
    const ends = products.length === 0
    return {
      ...had,
      discounts,
      cancel_at_period_end: ends,
      own: {
        ...had.own!,
        scheduled: {
          id: newId('schd_'),
          effective_at: scheduledAtMs / 1000,
          from_plan_id: state.plan?.planId ?? null,
          to_plan_id: selection.base?.plan.id ?? terms.expiryPlanId,
          lands: [...(selection.base ? [selection.base] : []), ...selection.addOns].map(one => ({
            plan_id: one.plan.id,
            version_id: one.version.id,
          })),
          products: ends ? null : products,
          total_price: storedQuantity(total),
          interval,
          months,
        },
      },
      updated_at: now,
    }
  }
  if (products.length === 0)
    return had && { ...had, status: 'canceled', own: { ...had.own!, scheduled: null }, updated_at: now }
  const count = terms.rows.filter(row => row.own !== null).length
  const externalId = had?.external_id ?? `${state.id}_${count + 1}`
  return {
    id: had?.id ?? derivedId('bilsub_', environment.id, externalId),
    environment_id: environment.id,
    provider_type: 'native',
    external_id: externalId,
    customer_external_id: had?.customer_external_id ?? state.id,
    company_id: state.id,
    status: trial ? 'trialing' : 'active',
    currency,
    interval,
    total_price: storedQuantity(total),
    period_start: terms.startMs / 1000,
    period_end: terms.endMs / 1000,
    ...trialMembers(had, trial, nowMs),
    cancel_at: cancelAtOf(terms),
    cancel_at_period_end: false,
    started_at: had?.started_at ?? now,
    expired_at: null,
    application_id: null,
    default_payment_method_id: had?.default_payment_method_id ?? null,
    default_payment_method_external_id:
      body.payment_method_external_id ?? had?.default_payment_method_external_id ?? null,
    metadata: had?.metadata ?? null,
    products,
    discounts,
    own: {
      anchor: terms.anchorMs / 1000,
      months,
      ...(terms.isFirstFree && { first_free: true }),
      scheduled: null,
    },
    billing_cycle_anchor: null,
    provider_event_at: null,
    overdue_since: null,
    gated_at: null,
    created_at: had?.created_at ?? now,
    updated_at: now,
  }
}

function cancelAtOf({ cancelAt, cancelAtMs, had }: OwnTerms): SubscriptionRow['cancel_at'] {
  if (cancelAt !== undefined) return cancelAt
  return cancelAtMs === null ? (had?.cancel_at ?? null) : Math.floor(cancelAtMs / 1000)
}

interface Planned {
  readonly selection: Selection
  readonly row: SubscriptionRow | null
  readonly had: SubscriptionRow | null
  readonly billed: readonly SelectedPlan[]
  readonly elsewhere: readonly SelectedPlan[]
  readonly trial: TrialState | null
  readonly action: PlanChangeSubscriptionAction | null
  readonly scheduledAtMs: number | null
  readonly purchases: PlansManaged['purchases']
  readonly topups: NonNullable<PlansManaged['topups']>
}

function messageOf(call: Call<unknown, unknown>, body: ManagePlanRequest, planned: Planned): PlansManaged {
  const { selection, row, billed, elsewhere, scheduledAtMs } = planned
  const plans = selection.base ? [selection.base, ...selection.addOns] : [...selection.addOns]
  const recurring = billed.filter(({ price }) => monthsOf(price!) !== null)
  const then = row && scheduledAtMs !== null ? subscriptionNow(row, scheduledAtMs) : null
  return {
    type: 'manage_plan',
    basePlanId: body.base_plan_id ?? null,
    addOnIds: selection.addOns.map(({ plan }) => plan.id),
    versionIds: Object.fromEntries(plans.map(({ plan, version }) => [plan.id, version.id])),
    priceIds: Object.fromEntries(plans.flatMap(({ plan, price }) => (price ? [[plan.id, price.id]] : []))),
    billedBy: Object.fromEntries([
      ...(row ? recurring.map(({ plan }) => [plan.id, row.id]) : []),
      ...elsewhere.map(({ plan, held }) => [plan.id, held!.subscriptionId!]),
    ]),
    quantities: selection.bought,
    trial: planned.trial,
    subscriptions: row ? [subscriptionState(row)] : [],
    effectiveAtMs: scheduledAtMs,
    ...(body.prorate === false && { unprorated: true }),
    subscriptionThen: then && subscriptionState(then),
    purchases: planned.purchases,
    topups: planned.topups,
    cause: { ...causeOf(call, 'manage_plan'), subscriptionAction: planned.action },
  }
}
