// A new plan with what it grants and costs, in one request: all of it is made, or nothing.
import type { Sql } from 'postgres'
import type { PlanCreateRequestBody } from '../../../schemas/plans.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { applyGrantBundle } from '../credits/plan-grant-write.js'
import { entitlementViews } from '../entitlements/view.js'
import { type WritePlace, writeEntitlement } from '../entitlements/write.js'
import { findPlan } from '../plan-versions/version-rows.js'
import { announce } from '../webhooks/publish.js'
import { accountScope, detailOf, makePlan, normaliseBilling } from './handlers.js'

type Body = Exact<PlanCreateRequestBody>

/**
 * POST /plans: creates version 1 as a draft in this environment, with its entitlements, prices and credit grants.
 *
 * errors  those of each part as if written alone, under the path of the part: `entitlements[1].feature_id: …`. Nothing is
 *         made then.
 * source  PB-2, decision 41; the default icon is gray: decision.
 */
export const createPlan: Handler<Body> = async call => {
  const data = await call.services.catalogs.change(accountScope(call), async tx => {
    const { plan, draft } = await makePlan(tx, call, call.body)
    const written = await writeParts(tx, call, plan, draft)
    const detail = await detailOf(tx, call, (await findPlan(tx, written.place, plan.id))!, draft.id)
    await announce(tx, call, 'plan.created', detail)
    for (const view of written.entitlements)
      await announce(tx, call, 'plan.entitlement.created', view, view.feature_id)
    return detail
  })
  return { status: 201, data }
}

async function writeParts(tx: Sql, call: Call<Body>, plan: PlanRow, draft: PlanVersionRow) {
  const { services, key, environment, body } = call
  const place: WritePlace = {
    services,
    accountId: key.accountId,
    environmentId: environment.id,
    nowMs: services.clock.wall(),
  }
  const rows = []
  for (const [i, given] of (body.entitlements ?? []).entries()) {
    const { feature_id: featureId, ...terms } = given
    const written = writeEntitlement(tx, place, draft, featureId, terms, null)
    rows.push(await within(`entitlements[${i}]`, written))
  }
  if (body.billing_product)
    await within('billing_product', normaliseBilling(tx, call, draft, body.billing_product))
  for (const [i, create_req] of (body.credit_grants ?? []).entries())
    await within(
      `credit_grants[${i}]`,
      applyGrantBundle(tx, place, plan, draft, [{ action: 'create', create_req }]),
    )
  return { place, entitlements: await entitlementViews(tx, place, rows) }
}

/** The work on one part of the body. Its errors name the path of the part. */
async function within<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const [, member, said] = /^([a-z_]+(?:\[\d+\]|\.[a-z_]+)*): (.*)$/s.exec(error.message) ?? []
    const message = member === undefined ? `${path}: ${error.message}` : `${path}.${member}: ${said}`
    throw new ServiceError(error.code, message, { cause: error })
  }
}
