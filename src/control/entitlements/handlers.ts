// Plan entitlements: what each plan version grants. Edits go to the plan's draft (PB-3).
import type { Sql } from 'postgres'
import type {
  BillingLinkedEntitlementCreate,
  DuplicatedEntitlements,
  EntitlementsDuplicate,
  PlanEntitlementCreate,
  PlanEntitlementUpdate,
  SkippedEntitlement,
} from '../../../schemas/entitlements.js'
import { newId } from '../../account/ids.js'
import type { EntitlementRow, PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { boolean, list, page, type QueryOf, query, string, text } from '../../kit/query.js'
import {
  ensureDraft,
  findVersion,
  insertEntitlementRow,
  lockPlan,
  type Place,
  placeOf,
  touchVersion,
  unknownVersion,
} from '../plan-versions/version-rows.js'
import { waitingEdit } from '../plan-versions/waiting-edit.js'
import { adoptPrices } from '../prices/write.js'
import { announce } from '../webhooks/publish.js'
import { countEntitlementRows, listEntitlementRows } from './store.js'
import { entitlementViews } from './view.js'
import {
  type EntitlementLink,
  entitlementInDraft,
  findEntitlement,
  removeEntitlement,
  touchesAccount,
  type WritePlace,
  writeEntitlement,
} from './write.js'

const listShape = {
  feature_id: string,
  feature_ids: list,
  ids: list,
  plan_id: string,
  plan_ids: list,
  plan_version_id: string,
  plan_version_ids: list,
  q: text(512),
  with_metered_products: boolean,
  ...page,
} as const
export const entitlementListQuery = query(listShape)
type EntitlementListQuery = QueryOf<typeof listShape>

function viewPlace(call: Call<unknown, unknown>) {
  return { accountId: call.key.accountId, environmentId: call.environment.id }
}

function writePlace(call: Call<unknown, unknown>): WritePlace {
  const { services } = call
  return { ...viewPlace(call), services, nowMs: services.clock.wall() }
}

function unknownEntitlement(): ServiceError {
  return new ServiceError('not_found', 'Plan entitlement not found')
}

async function viewOf(sql: Sql, call: Call<unknown, unknown>, row: EntitlementRow) {
  const [view] = await entitlementViews(sql, viewPlace(call), [row])
  return view!
}

/**
 * GET /plan-entitlements. Without a version in the query: of each plan's published version, else of its draft:
 * decision.
 */
export const listPlanEntitlements: Handler<undefined, EntitlementListQuery> = async call => {
  const { sql } = call.services
  const rows = await listEntitlementRows(sql, call.environment.id, call.query, call.query)
  return { data: await entitlementViews(sql, viewPlace(call), rows) }
}

/** GET /plan-entitlements/count. */
export const countPlanEntitlements: Handler<undefined, EntitlementListQuery> = async call => ({
  data: { count: await countEntitlementRows(call.services.sql, call.environment.id, call.query) },
})

/** GET /plan-entitlements/{plan_entitlement_id}. */
export const getPlanEntitlement: Handler = async call => {
  const { sql } = call.services
  const row = await findEntitlement(sql, call.environment.id, call.params.plan_entitlement_id!)
  if (!row) throw unknownEntitlement()
  const waiting = await waitingEdit(sql, row, draft => entitlementInDraft(sql, draft, row))
  return { data: await viewOf(sql, call, row), waiting }
}

// Runs a change of entitlements. Its scope is the whole account if it creates a trait (EN-2).
function changing<T>(
  call: Call<unknown, unknown>,
  body: Pick<Exact<PlanEntitlementUpdate>, 'price_behavior'>,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  const { accountId, environmentId } = viewPlace(call)
  const scope = { accountId, environmentId: touchesAccount(body) ? null : environmentId }
  return call.services.catalogs.change(scope, work)
}

/** The draft to edit: the plan's, or the version named by the body, which must be a draft (PB-7). */
async function draftOf(
  tx: Sql,
  place: Place & { readonly environmentId: string },
  plan: PlanRow,
  versionId: string | null | undefined,
  nowMs: number,
): Promise<PlanVersionRow> {
  if (versionId == null || versionId === '') return ensureDraft(tx, plan, place.environmentId, nowMs)
  const version = await findVersion(tx, place.environmentId, versionId)
  if (version?.plan_id !== plan.id) throw unknownVersion('plan_version_id')
  if (version.status !== 'draft')
    throw new ServiceError(
      'state_conflict',
      `plan_version_id: a version that is ${version.status} is not edited`,
    )
  return version
}

async function create(
  tx: Sql,
  call: Call<unknown, unknown>,
  body: Exact<PlanEntitlementCreate>,
  link: EntitlementLink | null = null,
): Promise<EntitlementRow> {
  const place = writePlace(call)
  const plan = await lockPlan(tx, place, body.plan_id, 'plan_id')
  const draft = await draftOf(tx, place, plan, body.plan_version_id, place.nowMs)
  return writeEntitlement(tx, place, draft, body.feature_id, body, null, link)
}

/**
 * POST /plan-entitlements: adds to the plan's draft, creating the draft if absent.
 *
 * errors  see writeEntitlement; 400 for a version that is not a draft.
 * source  EN-4, EN-18, EN-30…35, PB-3, PB-7.
 */
export const createPlanEntitlement: Handler<Exact<PlanEntitlementCreate>> = async call => {
  const data = await changing(call, call.body, async tx => {
    const view = await viewOf(tx, call, await create(tx, call, call.body))
    await announce(tx, call, 'plan.entitlement.created', view, view.feature_id)
    return view
  })
  return { status: 201, data }
}

/**
 * POST /plan-entitlements/billing-linked: create or change the draft's entitlement that is linked to this
 * provider's resource.
 */
export const putBillingLinkedEntitlement: Handler<Exact<BillingLinkedEntitlementCreate>> = async call => {
  const { body } = call
  const data = await changing(call, body, async tx => {
    const place = writePlace(call)
    const link = { provider: body.billing_provider, resourceId: body.external_resource_id }
    const plan = await lockPlan(tx, place, body.plan_id, 'plan_id')
    const draft = await draftOf(tx, place, plan, body.plan_version_id, place.nowMs)
    const [known] = await tx<EntitlementRow[]>`
      select * from plan_entitlements
      where plan_version_id = ${draft.id} and billing_provider = ${link.provider}
        and external_resource_id = ${link.resourceId}`
    if (known && known.feature_id !== body.feature_id)
      throw new ServiceError('state_conflict', 'feature_id: the resource entitles to another feature')
    const written = await writeEntitlement(tx, place, draft, body.feature_id, body, known ?? null, link)
    const view = await viewOf(tx, call, written)
    const type = known ? 'plan.entitlement.updated' : 'plan.entitlement.created'
    await announce(tx, call, type, view, view.feature_id)
    return view
  })
  return { status: 201, data }
}

/**
 * PUT /plan-entitlements/{plan_entitlement_id}: replaces it. An entitlement of the published version is changed on
 * the draft, so the answer may carry the id of its copy there.
 *
 * errors  400 for one of an archived version; 404 when the draft no longer has it.
 * source  PB-3, PB-7.
 */
export const changePlanEntitlement: Handler<Exact<PlanEntitlementUpdate>> = async call => {
  const place = writePlace(call)
  const data = await changing(call, call.body, async tx => {
    const { own, draft } = await toEdit(tx, call, place)
    const written = await writeEntitlement(tx, place, draft, own.feature_id, call.body, own)
    const view = await viewOf(tx, call, written)
    await announce(tx, call, 'plan.entitlement.updated', view, view.feature_id)
    return view
  })
  return { data }
}

/**
 * DELETE /plan-entitlements/{plan_entitlement_id}: removes it from the draft; the published version grants it until
 * the next publish.
 */
export const deletePlanEntitlement: Handler = async call => {
  const place = writePlace(call)
  const { plan_id, feature_id } = await changing(call, {}, async tx => {
    const { own } = await toEdit(tx, call, place)
    await announce(tx, call, 'plan.entitlement.deleted', () => viewOf(tx, call, own), own.feature_id)
    await removeEntitlement(tx, own, place.nowMs)
    return own
  })
  return { data: { deleted: true }, noted: { deleted: true, plan_id, feature_id } }
}

/** The entitlement in the path, as it is on the plan's draft. */
async function toEdit(
  tx: Sql,
  call: Call<unknown, unknown>,
  place: WritePlace,
): Promise<{ readonly own: EntitlementRow; readonly draft: PlanVersionRow }> {
  const id = call.params.plan_entitlement_id!
  const named = await findEntitlement(tx, place.environmentId, id)
  if (!named) throw unknownEntitlement()
  const plan = await lockPlan(tx, placeOf(call), named.plan_id)
  const version = await findVersion(tx, place.environmentId, named.plan_version_id)
  if (version?.status === 'archived')
    throw new ServiceError('state_conflict', 'The entitlement belongs to an archived version')
  const draft = await ensureDraft(tx, plan, place.environmentId, place.nowMs)
  const own = await entitlementInDraft(tx, draft, named)
  if (!own) throw unknownEntitlement()
  return { own, draft }
}

/**
 * POST /plan-entitlements/duplicate: copies entitlements of one plan to another plan's draft. Features that the
 * target already grants are skipped.
 *
 * returns  the created entitlements; the skipped ones with the reason.
 * source   interface document; keeping existing entitlements: decision.
 */
export const duplicatePlanEntitlements: Handler<EntitlementsDuplicate> = async call => {
  const { body, services } = call
  const place = writePlace(call)
  const data = await services.catalogs.change(viewPlace(call), async tx => {
    const source = await lockPlan(tx, place, body.source_plan_id, 'source_plan_id')
    const target = await lockPlan(tx, place, body.target_plan_id, 'target_plan_id')
    const draft = await ensureDraft(tx, target, place.environmentId, place.nowMs)
    const rows = await tx<(EntitlementRow & { feature_name: string; held: boolean })[]>`
      select e.*, f.name as feature_name, exists (select 1 from plan_entitlements t
        where t.plan_version_id = ${draft.id} and t.feature_id = e.feature_id) as held
      from plan_entitlements e join features f on f.id = e.feature_id
      where e.plan_version_id = (select id from plan_versions
        where plan_id = ${source.id} and environment_id = ${place.environmentId} and deleted_at is null
          and status in ('published', 'draft')
        order by status = 'published' desc limit 1)
      order by e.created_at, e.id`
    const made: EntitlementRow[] = []
    for (const { feature_name: _, held, ...row } of rows)
      if (!held) made.push(await duplicate(tx, row, draft, place.nowMs + made.length))
    await touchVersion(tx, draft.id, place.nowMs)
    const views = await entitlementViews(tx, viewPlace(call), made)
    for (const one of views) await announce(tx, call, 'plan.entitlement.created', one, one.feature_id)
    return {
      data: views,
      issues: [],
      skipped: rows.filter(row => row.held).map(skipped),
    } satisfies DuplicatedEntitlements
  })
  return { status: 201, data }
}

async function duplicate(
  tx: Sql,
  row: EntitlementRow,
  draft: PlanVersionRow,
  nowMs: number,
): Promise<EntitlementRow> {
  const id = newId('pltl_')
  const copy: EntitlementRow = {
    ...row,
    id,
    plan_id: draft.plan_id,
    plan_version_id: draft.id,
    rule_id: newId('rule_'),
    rule_id_usage_exceeded: row.rule_id_usage_exceeded && newId('rule_'),
    prices: adoptPrices(id, row.prices),
    billing_provider: null,
    external_resource_id: null,
    created_at: new Date(nowMs),
    updated_at: new Date(nowMs),
  }
  await insertEntitlementRow(tx, copy)
  return copy
}

function skipped(row: EntitlementRow & { readonly feature_name: string }): SkippedEntitlement {
  return {
    entitlement_id: row.id,
    feature_id: row.feature_id,
    feature_name: row.feature_name,
    errors: [{ message: 'The target plan already entitles to this feature' }],
  }
}
