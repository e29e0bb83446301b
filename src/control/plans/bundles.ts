// Plan bundles: a plan with all its parts in one request. Also plans made for one company.
import type { Sql } from 'postgres'
import type {
  BundleCreditGrantWrite,
  CustomPlanBundleCreate,
  CustomPlanCreate,
  PlanBundle,
  PlanBundleCreate,
  PlanBundleUpdate,
} from '../../../schemas/plans.js'
import type { BillingProductUpdate } from '../../../schemas/prices.js'
import type { EntitlementRow, PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { nativeProductId } from '../../catalog/prices.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import type { Exact } from '../../kit/long.js'
import { applyGrantBundle } from '../credits/plan-grant-write.js'
import { planGrantsOfVersions } from '../credits/view.js'
import { entitlementViews, planView, versionView } from '../entitlements/view.js'
import { applyBundle, type BundledChange } from '../entitlements/write.js'
import {
  copyParts,
  ensureDraft,
  findPlan,
  findVersion,
  lockPlan,
  placeOf,
  unknownPlan,
  unknownVersion,
} from '../plan-versions/version-rows.js'
import { adoptPrices } from '../prices/write.js'
import { announce } from '../webhooks/publish.js'
import {
  accountScope,
  announcePlan,
  billingView,
  detailOf,
  editDraft,
  makePlan,
  normaliseBilling,
} from './handlers.js'
import { updateBilling } from './store.js'

/** The parts of a bundle besides the plan itself. */
interface Parts {
  readonly entitlements?: Exact<PlanBundleCreate>['entitlements']
  readonly credit_grants?: readonly Exact<BundleCreditGrantWrite>[] | null | undefined
  readonly billing_product?: Exact<BillingProductUpdate> | null | undefined
}

// Writes all parts of a bundle to a draft and returns the updated draft.
async function applyParts(
  tx: Sql,
  call: Call<unknown, unknown>,
  plan: PlanRow,
  draft: PlanVersionRow,
  parts: Parts,
): Promise<Applied> {
  const environmentId = call.environment.id
  const { services, key } = call
  const place = { services, accountId: key.accountId, environmentId, nowMs: services.clock.wall() }
  const changes = await applyBundle(tx, place, plan, draft, parts.entitlements ?? [])
  await applyGrantBundle(tx, place, plan, draft, parts.credit_grants ?? [])
  if (parts.billing_product) await normaliseBilling(tx, call, draft, parts.billing_product)
  const version = (await findVersion(tx, environmentId, draft.id))!
  const rows = await tx<EntitlementRow[]>`
    select * from plan_entitlements where plan_version_id = ${version.id} order by created_at, id`
  const data: PlanBundle = {
    plan: planView(plan, version),
    plan_version: versionView(plan, version),
    billing_product: billingView(plan, version),
    entitlements: await entitlementViews(tx, { accountId: key.accountId, environmentId }, rows),
    credit_grants: (await planGrantsOfVersions(tx, [version.id])).get(version.id) ?? [],
  }
  return { data, changes }
}

/** The draft after a bundle, and the entitlement changes made. */
interface Applied {
  readonly data: PlanBundle
  readonly changes: readonly BundledChange[]
}

/** Publish webhooks for a bundle: for its plan, and for each entitlement as if written alone. */
async function announceBundle(
  tx: Sql,
  call: Call<unknown, unknown>,
  type: 'plan.created' | 'plan.updated',
  { data, changes }: Applied,
): Promise<void> {
  await announcePlan(tx, call, type, data.plan!.id)
  const { key, environment } = call
  const place = { accountId: key.accountId, environmentId: environment.id }
  for (const { type: what, row } of changes)
    await announce(
      tx,
      call,
      `plan.entitlement.${what}`,
      async () => (await entitlementViews(tx, place, [row]))[0],
      row.feature_id,
    )
}

/** POST /plan-bundles: creates a plan with its draft, prices and entitlements, or nothing. */
export const createPlanBundle: Handler<Exact<PlanBundleCreate>> = async call => {
  const applied = await call.services.catalogs.change(accountScope(call), async tx => {
    const { plan, draft } = await makePlan(tx, call, call.body.plan)
    const applied = await applyParts(tx, call, plan, draft, call.body)
    await announceBundle(tx, call, 'plan.created', applied)
    return applied
  })
  return { status: 201, data: applied.data }
}

/**
 * PUT /plan-bundles/{plan_id}: changes the draft, creating it if absent.
 *
 * errors  400 when `plan_version_id` names a version that is not the draft (PB-7).
 */
export const updatePlanBundle: Handler<Exact<PlanBundleUpdate>> = async call => {
  const { services, body } = call
  const applied = await services.catalogs.change(accountScope(call), async tx => {
    const plan = await lockPlan(tx, placeOf(call), call.params.plan_id!)
    if (body.plan_version_id != null) {
      const named = await findVersion(tx, call.environment.id, body.plan_version_id)
      if (named?.plan_id !== plan.id) throw unknownVersion('plan_version_id')
      if (named.status !== 'draft')
        throw new ServiceError(
          'state_conflict',
          `plan_version_id: a version that is ${named.status} is not edited`,
        )
    }
    const draft = await ensureDraft(tx, plan, call.environment.id, services.clock.wall())
    const edited = await editDraft(tx, call, draft, body.plan ?? {})
    const applied = await applyParts(tx, call, (await findPlan(tx, placeOf(call), plan.id))!, edited, body)
    await announceBundle(tx, call, 'plan.updated', applied)
    return applied
  })
  return { data: applied.data }
}

/** Create a custom plan with its draft, copied from another plan if one is named (PB-13). */
async function makeCustomPlan(tx: Sql, call: Call<unknown, unknown>, body: CustomPlanCreate) {
  const environmentId = call.environment.id
  if (!isKnown(call, 'company', body.company_id))
    throw new ServiceError('not_found', 'company_id: no such company')
  const source = await copied(tx, call, body)
  const custom = {
    companyId: body.company_id,
    environmentId,
    copiedFrom: body.copied_from_plan_id ?? null,
  }
  const made = await makePlan(tx, call, { ...body, plan_type: 'plan' }, { custom })
  if (!source) return made
  const nowMs = call.services.clock.wall()
  await copyParts(tx, source, made.draft, new Date(nowMs))
  const prices = body.copied_price_id
    ? source.prices.filter(price => price.id === body.copied_price_id)
    : source.prices
  if (body.copied_price_id && prices.length === 0)
    throw new ServiceError('not_found', 'copied_price_id: the copied plan has no such price')
  const own = nativeProductId(environmentId, source.plan_id, null)
  const { charge_type, billing_strategy, is_trialable, trial_days, currency } = source
  const draft = await updateBilling(
    tx,
    made.draft,
    {
      charge_type,
      billing_strategy,
      billing_product_id: source.billing_product_id === own ? null : source.billing_product_id,
      is_trialable,
      trial_days,
      currency,
      prices: adoptPrices(made.draft.id, prices),
    },
    nowMs,
  )
  return { plan: made.plan, draft }
}

/** The version to copy of a plan: the published one, else its draft. */
async function copied(
  tx: Sql,
  call: Call<unknown, unknown>,
  { copied_from_plan_id: id }: CustomPlanCreate,
): Promise<PlanVersionRow | null> {
  if (id == null) return null
  const plan = await findPlan(tx, placeOf(call), id)
  if (!plan) throw unknownPlan('copied_from_plan_id')
  const [version] = await tx<PlanVersionRow[]>`
    select * from plan_versions
    where plan_id = ${id} and environment_id = ${call.environment.id} and deleted_at is null
      and status in ('published', 'draft')
    order by status = 'published' desc limit 1`
  return version ?? null
}

/** POST /custom-plans: creates a plan for one company, as a draft. source: PB-13 */
export const createCustomPlan: Handler<CustomPlanCreate> = async call => {
  const data = await call.services.catalogs.change(accountScope(call), async tx => {
    const { plan, draft } = await makeCustomPlan(tx, call, call.body)
    const detail = await detailOf(tx, call, plan, draft.id)
    await announcePlan(tx, call, 'plan.created', plan.id)
    return detail
  })
  return { status: 201, data }
}

/** POST /custom-plan-bundles: createCustomPlan with prices and entitlements. */
export const createCustomPlanBundle: Handler<Exact<CustomPlanBundleCreate>> = async call => {
  const applied = await call.services.catalogs.change(accountScope(call), async tx => {
    const { plan, draft } = await makeCustomPlan(tx, call, call.body.plan)
    const applied = await applyParts(tx, call, plan, draft, call.body)
    await announceBundle(tx, call, 'plan.created', applied)
    return applied
  })
  return { status: 201, data: applied.data }
}
