// Writes credit grants of plan versions: validates what callers send, stores it, and copies it between versions.
import type { Sql } from 'postgres'
import type { CreditGrantTierWrite, PlanGrantCreate, PlanGrantUpdate } from '../../../schemas/credits.js'
import { validatePlanGrantCreate, validatePlanGrantUpdate } from '../../../schemas/credits.js'
import type { BundleCreditGrantWrite } from '../../../schemas/plans.js'
import { newId } from '../../account/ids.js'
import type { CreditRow, PlanCreditGrantRow, StoredCreditTier } from '../../catalog/credits.js'
import { numberOrNull, type PlanRow, type PlanVersionRow } from '../../catalog/plans.js'
import { rollsOver } from '../../core/credits/grant.js'
import { amountFromNumber, amountToDecimal } from '../../core/values/amount.js'
import { type Quantity, quantityOrNull, storedOrNull, storedQuantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import { type Exact, validExactly } from '../../kit/long.js'
import { asJson } from '../../kit/sql.js'
import { kept, whole } from '../../kit/unchanged.js'
import { touchVersion } from '../plan-versions/version-rows.js'
import { wholePrice } from '../prices/whole-price.js'

/** Where a plan credit grant is written. */
export interface GrantPlace {
  readonly accountId: string
  readonly environmentId: string
  readonly nowMs: number
}

function invalid(message: string): ServiceError {
  return new ServiceError('value_invalid', message)
}

type Terms = Omit<
  PlanCreditGrantRow,
  | 'id'
  | 'origin_id'
  | 'environment_id'
  | 'plan_id'
  | 'plan_version_id'
  | 'credit_id'
  | 'created_at'
  | 'updated_at'
>

/** Defaults: 0 credits per company, without charge, at every reset, prepaid, without top-up. */
const noTerms: Terms = {
  billing_mode: 'granted',
  scaling: 'fixed',
  license_id: null,
  credit_amount: 0,
  company_credit_amount: 0,
  reset_type: 'plan_period',
  reset_cadence: null,
  reset_start: null,
  rollover_percentage: 0,
  renewal_enabled: false,
  renewal_period: null,
  expiry_type: null,
  expiry_unit: null,
  expiry_unit_count: null,
  postpaid_enabled: false,
  postpaid_rate_per_unit: null,
  postpaid_rate_per_unit_decimal: null,
  overdraft_limit: null,
  arrears_cadence: null,
  arrears_anchor: null,
  auto_topup_availability: 'off',
  auto_topup_amount: null,
  auto_topup_amount_type: null,
  auto_topup_threshold_credits: null,
  auto_topup_threshold_percent: null,
  auto_topup_expiry_type: null,
  auto_topup_expiry_unit: null,
  auto_topup_expiry_unit_count: null,
  can_buy_bundles: true,
  unit_price: null,
  unit_price_decimal: null,
  tier_mode: null,
  price_tiers: [],
}

/**
 * The complete terms after a body is applied.
 *
 * former   the terms before; null for a new grant.
 * errors   400 naming the member that contradicts others; 404 for an unknown licence.
 * source   CR-32, CR-34, CR-35, CR-38, CR-40, CR-42, CR-55; interface document for `billed` and `quarterly`.
 */
async function normaliseTerms(
  tx: Sql,
  place: GrantPlace,
  plan: PlanRow,
  credit: CreditRow,
  body: Exact<PlanGrantUpdate>,
  former: Terms | null,
): Promise<Terms> {
  const was = former ?? noTerms
  const terms: Terms = {
    ...normaliseShare(body, was),
    ...normaliseReset(body, was, credit, former === null),
    ...normalisePrice(body, was),
    ...normaliseArrears(body, was),
    ...normaliseTopup(body, was),
    can_buy_bundles: body.can_buy_bundles ?? was.can_buy_bundles,
  }
  if (terms.billing_mode === 'billed' && plan.company_id === null)
    throw invalid('billing_mode: billed is for custom plans')
  if (terms.license_id !== null) await requireLicense(tx, place.accountId, terms.license_id)
  const priced = credit.prices.length > 0 || terms.unit_price !== null
  if (terms.auto_topup_availability !== 'off' && !priced)
    throw invalid('auto_topup_availability: the credit has no unit price')
  return terms
}

async function requireLicense(tx: Sql, accountId: string, id: string): Promise<void> {
  const rows = await tx`select 1 from licenses where id = ${id} and account_id = ${accountId}`
  if (rows.length === 0) throw new ServiceError('not_found', 'license_id: no such license')
}

/** CR-35. */
function normaliseShare(body: Exact<PlanGrantUpdate>, was: Terms) {
  const scaling = body.scaling ?? was.scaling
  const license = kept(body.license_id, was.license_id)
  const creditAmount = body.credit_amount ?? Number(was.credit_amount)
  // a switch to fixed drops the amount per licence unless the body gives a company amount
  const own = body.company_credit_amount ?? (scaling === was.scaling ? Number(was.company_credit_amount) : 0)
  if (scaling === 'fixed' && own > 0)
    throw invalid('company_credit_amount: only with scaling per_license; fixed has credit_amount')
  if (scaling === 'per_license' && !license) throw invalid('license_id: needed by scaling per_license')
  return {
    scaling,
    license_id: scaling === 'per_license' ? license : null,
    credit_amount: creditAmount,
    company_credit_amount: own,
  }
}

/** CR-32, CR-40, CR-42, decision 30. A resetting grant has no expiry of its own. */
function normaliseReset(body: Exact<PlanGrantUpdate>, was: Terms, credit: CreditRow, isNew: boolean) {
  const type = body.reset_type ?? was.reset_type
  const resets = type === 'plan_period'
  const cadence = kept(body.reset_cadence, was.reset_cadence) ?? (isNew && resets ? 'monthly' : null)
  const rolls = resets && cadence !== null && rollsOver(cadence)
  const usual = isNew && rolls && credit.default_rollover_policy === 'rollover' ? 100 : 0
  const rollover =
    body.rollover_percentage ??
    (isNew || body.rollover_percentage === null || !rolls ? usual : was.rollover_percentage)
  if (rollover > 0 && !rolls)
    throw invalid('rollover_percentage: only grants that reset monthly or less often roll over')
  if (resets && body.renewal_enabled === true)
    throw invalid('renewal_enabled: only with reset_type no_reset; what resets is granted anew anyway')
  const renews = !resets && (body.renewal_enabled ?? was.renewal_enabled)
  if (!renews && body.renewal_period != null) throw invalid('renewal_period: only with renewal_enabled')
  const periods = body.expiry_type == null ? (body.billing_periods_count ?? null) : null
  const expiry = {
    type: periods === null ? kept(body.expiry_type, was.expiry_type) : ('duration' as const),
    unit: periods === null ? kept(body.expiry_unit, was.expiry_unit) : ('billing_periods' as const),
    count: periods ?? kept(body.expiry_unit_count, numberOrNull(was.expiry_unit_count)),
  }
  if (!resets) requireDuration(expiry.type, expiry.count, 'expiry_unit_count')
  return {
    reset_type: type,
    reset_cadence: cadence,
    reset_start: kept(body.reset_start, was.reset_start) ?? (isNew && resets ? 'billing_period' : null),
    rollover_percentage: rollover,
    renewal_enabled: renews,
    renewal_period: renews
      ? (body.renewal_period ?? was.renewal_period ?? ('billing_period' as const))
      : null,
    expiry_type: resets ? null : expiry.type,
    expiry_unit: resets || expiry.type !== 'duration' ? null : (expiry.unit ?? ('days' as const)),
    expiry_unit_count: resets || expiry.type !== 'duration' ? null : expiry.count,
  }
}

function requireDuration(type: Terms['expiry_type'], count: number | null, member: string): void {
  if (type === 'duration' && count === null) throw invalid(`${member}: needed by a duration`)
}

/** CR-38. Tiers are used before a unit price. On an update the member sent now replaces the other one. */
function normalisePrice(body: Exact<PlanGrantUpdate>, was: Terms) {
  const mode = body.billing_mode ?? was.billing_mode
  const none = { unit_price: null, unit_price_decimal: null, tier_mode: null, price_tiers: [] } as const
  if (mode === 'granted') return { billing_mode: mode, ...none }
  const stated = body.price_tiers
  if (stated && stated.length > 0) {
    const tierMode = body.tier_mode ?? was.tier_mode
    if (tierMode === null) throw invalid('tier_mode: needed by price_tiers')
    return { billing_mode: mode, ...none, tier_mode: tierMode, price_tiers: normaliseTiers(stated) }
  }
  const { unit_price: amount, unit_price_decimal: given } = body
  if (amount != null || given != null) {
    const had = { unit_price: quantityOrNull(was.unit_price), unit_price_decimal: was.unit_price_decimal }
    const said = whole({ unit_price: amount, unit_price_decimal: given }, had, [
      ['unit_price', 'unit_price_decimal'],
    ])
    const exact = said.unit_price_decimal
    const price = wholePrice(said.unit_price, exact)
    return { billing_mode: mode, ...none, unit_price: storedQuantity(price), unit_price_decimal: exact }
  }
  const { unit_price, unit_price_decimal, tier_mode, price_tiers } = was
  if (unit_price === null && price_tiers.length === 0)
    throw invalid('unit_price: needed by billing_mode billed, unless tiers say it')
  return {
    billing_mode: mode,
    unit_price,
    unit_price_decimal,
    tier_mode: price_tiers.length > 0 ? (body.tier_mode ?? tier_mode) : null,
    price_tiers,
  }
}

function normaliseTiers(tiers: readonly Exact<CreditGrantTierWrite>[]): readonly StoredCreditTier[] {
  let below: Quantity = 0
  return tiers.map((tier, i) => {
    const last = i === tiers.length - 1
    if (last !== (tier.up_to == null)) throw invalid('price_tiers: the last tier, and only it, has no up_to')
    if (!last && tier.up_to! <= below) throw invalid('price_tiers: up_to must ascend from tier to tier')
    below = tier.up_to ?? below
    const exact = tier.per_unit_price_decimal ?? null
    return {
      up_to: storedOrNull(tier.up_to ?? null),
      per_unit_price: storedQuantity(wholePrice(tier.per_unit_price ?? null, exact)),
      per_unit_price_decimal: exact,
    }
  })
}

/** CR-51…53. */
function normaliseArrears(body: Exact<PlanGrantUpdate>, was: Terms) {
  const cadence = kept(body.arrears_cadence, was.arrears_cadence)
  const anchor = cadence === 'monthly' ? kept(body.arrears_anchor, was.arrears_anchor) : null
  if (cadence === 'quarterly') throw invalid('arrears_cadence: quarterly is not offered')
  if (body.arrears_anchor != null && cadence !== 'monthly')
    throw invalid('arrears_anchor: only with arrears_cadence monthly')
  const rate = whole(
    { amount: body.postpaid_rate_per_unit, exact: body.postpaid_rate_per_unit_decimal },
    { amount: quantityOrNull(was.postpaid_rate_per_unit), exact: was.postpaid_rate_per_unit_decimal },
    [['amount', 'exact']],
  )
  const { overdraft_limit: limit } = body
  return {
    postpaid_enabled: body.postpaid_enabled ?? was.postpaid_enabled,
    postpaid_rate_per_unit:
      rate.amount === null && rate.exact === null
        ? null
        : storedQuantity(wholePrice(rate.amount, rate.exact)),
    postpaid_rate_per_unit_decimal: rate.exact,
    overdraft_limit:
      limit === undefined
        ? was.overdraft_limit
        : limit === null
          ? null
          : amountToDecimal(amountFromNumber(Number(limit))),
    arrears_cadence: cadence,
    arrears_anchor: anchor,
  }
}

/** CR-34, CR-55. */
function normaliseTopup(body: Exact<PlanGrantUpdate>, was: Terms) {
  const availability = availabilityOf(body, was)
  const amount = kept(body.auto_topup_amount, numberOrNull(was.auto_topup_amount))
  const credits = kept(body.auto_topup_threshold_credits, numberOrNull(was.auto_topup_threshold_credits))
  const percent = kept(body.auto_topup_threshold_percent, was.auto_topup_threshold_percent)
  const type = kept(body.auto_topup_expiry_type, was.auto_topup_expiry_type)
  const count = kept(body.auto_topup_expiry_unit_count, numberOrNull(was.auto_topup_expiry_unit_count))
  if (availability !== 'off') {
    if (amount === null) throw invalid('auto_topup_amount: needed by an auto top-up')
    if (credits === null && percent === null)
      throw invalid('auto_topup_threshold_credits: an auto top-up needs a threshold')
  }
  if (type !== null && type !== 'duration' && type !== 'no_expiry')
    throw invalid('auto_topup_expiry_type: expected duration or no_expiry')
  requireDuration(type, count, 'auto_topup_expiry_unit_count')
  return {
    auto_topup_availability: availability,
    auto_topup_amount: amount,
    auto_topup_amount_type: amount === null ? null : 'credit',
    auto_topup_threshold_credits: credits,
    auto_topup_threshold_percent: percent,
    auto_topup_expiry_type: type,
    auto_topup_expiry_unit: kept(body.auto_topup_expiry_unit, was.auto_topup_expiry_unit),
    auto_topup_expiry_unit_count: count,
  }
}

/** Deprecated members count only if the body does not say the availability. */
function availabilityOf(body: Exact<PlanGrantUpdate>, was: Terms): Terms['auto_topup_availability'] {
  if (body.auto_topup_availability != null) return body.auto_topup_availability
  const { auto_topup_enabled: enabled, auto_topup_self_service: selfService } = body
  if (enabled == null && selfService == null) return was.auto_topup_availability
  const offered = enabled ?? (selfService === true || was.auto_topup_availability !== 'off')
  if (!offered) return 'off'
  return (selfService ?? was.auto_topup_availability === 'user_controlled') ? 'user_controlled' : 'automatic'
}

function columns(tx: Sql, terms: Terms) {
  return { ...terms, price_tiers: asJson(tx, terms.price_tiers) }
}

async function creditOf(tx: Sql, place: GrantPlace, id: string): Promise<CreditRow> {
  const [row] = await tx<CreditRow[]>`
    select * from billing_credits
    where id = ${id} and environment_id = ${place.environmentId} and deleted_at is null`
  if (!row) throw new ServiceError('not_found', 'credit_id: no such credit')
  return row
}

/**
 * Insert a new grant of a version.
 *
 * plan      locked; `version` is one of its versions.
 * originId  the grant it is a copy of; null for the first.
 * errors    those of normaliseTerms; 404 for an unknown credit.
 */
export async function insertPlanGrant(
  tx: Sql,
  place: GrantPlace,
  plan: PlanRow,
  version: PlanVersionRow,
  body: Exact<PlanGrantCreate>,
  originId: string | null = null,
): Promise<PlanCreditGrantRow> {
  const credit = await creditOf(tx, place, body.credit_id)
  const terms = await normaliseTerms(tx, place, plan, credit, body, null)
  const id = newId('pcgr_')
  const now = new Date(place.nowMs)
  const [row] = await tx<PlanCreditGrantRow[]>`
    insert into plan_credit_grants ${tx({
      id,
      origin_id: originId ?? id,
      environment_id: place.environmentId,
      plan_id: plan.id,
      plan_version_id: version.id,
      credit_id: credit.id,
      ...columns(tx, terms),
      created_at: now,
      updated_at: now,
    })} returning *`
  await touchVersion(tx, version.id, place.nowMs)
  return row!
}

/** Change a grant of a version. Errors: as for a new one. */
export async function updatePlanGrant(
  tx: Sql,
  place: GrantPlace,
  plan: PlanRow,
  former: PlanCreditGrantRow,
  body: Exact<PlanGrantUpdate>,
): Promise<PlanCreditGrantRow> {
  const credit = await creditOf(tx, place, former.credit_id)
  const terms = await normaliseTerms(tx, place, plan, credit, body, termsOf(former))
  const [row] = await tx<PlanCreditGrantRow[]>`
    update plan_credit_grants set ${tx({ ...columns(tx, terms), updated_at: new Date(place.nowMs) })}
    where id = ${former.id} returning *`
  await touchVersion(tx, former.plan_version_id, place.nowMs)
  return row!
}

function termsOf(row: PlanCreditGrantRow): Terms {
  const {
    id,
    origin_id,
    environment_id,
    plan_id,
    plan_version_id,
    credit_id,
    created_at,
    updated_at,
    ...terms
  } = row
  return terms
}

export async function removePlanGrant(tx: Sql, row: PlanCreditGrantRow, nowMs: number): Promise<void> {
  await tx`delete from plan_credit_grants where id = ${row.id}`
  await touchVersion(tx, row.plan_version_id, nowMs)
}

/** An existing grant of a version, or null. */
export async function findPlanGrant(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<PlanCreditGrantRow | null> {
  const [row] = await sql<PlanCreditGrantRow[]>`
    select g.* from plan_credit_grants g
    join plan_versions v on v.id = g.plan_version_id join plans p on p.id = g.plan_id
    where g.id = ${id} and g.environment_id = ${environmentId} and v.deleted_at is null and p.deleted_at is null`
  return row ?? null
}

/** The copy of a grant on another version of its plan. */
export async function planGrantIn(
  tx: Sql,
  version: Pick<PlanVersionRow, 'id'>,
  { origin_id }: Pick<PlanCreditGrantRow, 'origin_id'>,
): Promise<PlanCreditGrantRow | null> {
  const [row] = await tx<PlanCreditGrantRow[]>`
    select * from plan_credit_grants where plan_version_id = ${version.id} and origin_id = ${origin_id}`
  return row ?? null
}

/**
 * Apply the credit grants of a bundle to a draft, in the order given.
 *
 * errors  as of each write; 400 for an action without what it needs, 404 for a grant the plan does not have.
 */
export async function applyGrantBundle(
  tx: Sql,
  place: GrantPlace,
  plan: PlanRow,
  draft: PlanVersionRow,
  actions: readonly Exact<BundleCreditGrantWrite>[],
): Promise<void> {
  for (const { action, credit_grant_id: id, create_req, update_req } of actions) {
    if (action === 'create') {
      const body = validExactly(validatePlanGrantCreate, { ...create_req, plan_id: plan.id })
      if (!body.success) throw invalid(`credit_grants: create_req${body.errors[0]!.path.slice(6)} is invalid`)
      await insertPlanGrant(tx, place, plan, draft, body.data)
      continue
    }
    const named = id ? await findPlanGrant(tx, place.environmentId, id) : null
    const own = named?.plan_id === plan.id ? await planGrantIn(tx, draft, named) : null
    if (!own) throw new ServiceError('not_found', 'credit_grant_id: no such grant of the plan')
    if (action === 'delete') {
      await removePlanGrant(tx, own, place.nowMs)
      continue
    }
    const body = validExactly(validatePlanGrantUpdate, update_req)
    if (!body.success) throw invalid(`credit_grants: update_req${body.errors[0]!.path.slice(6)} is invalid`)
    await updatePlanGrant(tx, place, plan, own, body.data)
  }
}
