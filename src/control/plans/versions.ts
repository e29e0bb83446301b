// Publishing and removing plan versions, and creating their products and prices.
import type { Sql } from 'postgres'
import { type PlanCreditGrantRow, planGrantPrice } from '../../catalog/credits.js'
import type { EntitlementRow, PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { nativeProductId, type StoredPrice } from '../../catalog/prices.js'
import { ServiceError } from '../../errors.js'
import { asJson } from '../../kit/sql.js'
import { entitledName } from '../entitlements/view.js'
import { abandonMigrations } from '../migrations/rows.js'
import { mintPrices, mintProduct } from '../prices/mint.js'

/**
 * Publish a draft: the former version is archived, products and prices are created.
 *
 * plan, draft  locked.
 * returns      the published version.
 * errors       400 for a version that is not a draft, and for a draft without a name.
 * source       PB-5, PB-7.
 */
export async function publishDraft(
  tx: Sql,
  plan: PlanRow,
  draft: PlanVersionRow,
  nowMs: number,
): Promise<PlanVersionRow> {
  if (draft.status !== 'draft')
    throw new ServiceError('state_conflict', `A version that is ${draft.status} cannot be published again`)
  if (draft.name.trim() === '')
    throw new ServiceError('state_conflict', 'A version without a name cannot be published')
  const now = new Date(nowMs)
  await tx`
    update plan_versions set status = 'archived', updated_at = ${now}
    where plan_id = ${plan.id} and environment_id = ${draft.environment_id} and status = 'published'
      and deleted_at is null`
  await mintEntitlements(tx, draft, now)
  await mintGrants(tx, draft, now)
  const minted = await mintPlan(tx, draft, now)
  const [version] = await tx<PlanVersionRow[]>`
    update plan_versions set status = 'published', published_at = ${now}, updated_at = ${now},
      billing_product_id = ${minted.productId}, prices = ${asJson(tx, minted.prices)}
    where id = ${draft.id} returning *`
  await tx`
    update plans set name = ${draft.name}, description = ${draft.description}, icon = ${draft.icon}, updated_at = ${now}
    where id = ${plan.id}`
  return version!
}

/** Create the product of a charging plan unless it names one (PB-5). */
async function mintPlan(
  tx: Sql,
  draft: PlanVersionRow,
  now: Date,
): Promise<{ readonly productId: string | null; readonly prices: readonly StoredPrice[] }> {
  const charges = draft.charge_type === 'recurring' || draft.charge_type === 'one_time'
  if (!charges) return { productId: draft.billing_product_id, prices: draft.prices }
  const productId =
    draft.billing_product_id ??
    (await mintProduct(
      tx,
      draft.environment_id,
      nativeProductId(draft.environment_id, draft.plan_id, null),
      draft.name,
      now,
    ))
  return { productId, prices: await mintPrices(tx, draft.prices, productId, draft.environment_id, now) }
}

async function mintEntitlements(tx: Sql, draft: PlanVersionRow, now: Date): Promise<void> {
  const rows = await tx<(EntitlementRow & { feature_name: string })[]>`
    select e.*, f.name as feature_name from plan_entitlements e join features f on f.id = e.feature_id
    where e.plan_version_id = ${draft.id} order by e.created_at, e.id`
  for (const row of rows) {
    if (row.prices.every(price => price.minted_at !== null)) continue
    const productId =
      row.billing_product_id ??
      (await mintProduct(
        tx,
        draft.environment_id,
        nativeProductId(draft.environment_id, draft.plan_id, row.feature_id),
        entitledName(draft.name, row.feature_name),
        now,
      ))
    const prices = await mintPrices(tx, row.prices, productId, draft.environment_id, now)
    await tx`update plan_entitlements set prices = ${asJson(tx, prices)} where id = ${row.id}`
  }
}

/** Store prices of billed plan grants as rows of billing_prices, under the ids already shown (CR-38). */
async function mintGrants(tx: Sql, draft: PlanVersionRow, now: Date): Promise<void> {
  const rows = await tx<(PlanCreditGrantRow & { credit_name: string })[]>`
    select g.*, c.name as credit_name from plan_credit_grants g join billing_credits c on c.id = g.credit_id
    where g.plan_version_id = ${draft.id} and g.billing_mode = 'billed' order by g.created_at, g.id`
  for (const row of rows) {
    const productId = await mintProduct(
      tx,
      draft.environment_id,
      nativeProductId(draft.environment_id, draft.plan_id, row.credit_id),
      entitledName(draft.name, row.credit_name),
      now,
    )
    await mintPrices(tx, [planGrantPrice(row, draft.currency)], productId, draft.environment_id, now)
  }
}

/**
 * Remove a version. A draft is discarded, an archived version is deleted, a published one is replaced by the newest
 * archived version.
 *
 * version        locked; `hasCompanies`: whether any company is on the version.
 * returns        the migrations that were cancelled with it; their companies must be informed.
 * errors         400 for a version with companies, and for a published one without `promote` or without an archived
 *                one.
 * source         PB-7, PB-10 (its number is not reused); `promote_archived_version`: decision.
 */
export async function removeVersion(
  tx: Sql,
  version: PlanVersionRow,
  promote: boolean,
  nowMs: number,
): Promise<readonly string[]> {
  const now = new Date(nowMs)
  if (version.status === 'draft') {
    await tx`delete from plan_versions where id = ${version.id}`
    return []
  }
  if (version.status === 'published' && !promote)
    throw new ServiceError(
      'state_conflict',
      'The published version is in force; promote_archived_version=true puts the newest archived one in its place',
    )
  await tx`update plan_versions set deleted_at = ${now}, updated_at = ${now} where id = ${version.id}`
  const calledOff = await abandonMigrations(tx, version.plan_id, version.id, nowMs)
  if (version.status === 'published') await promoteArchived(tx, version, now)
  return calledOff
}

async function promoteArchived(
  tx: Sql,
  { plan_id, environment_id }: PlanVersionRow,
  now: Date,
): Promise<void> {
  const rows = await tx`
    update plan_versions set status = 'published', updated_at = ${now}
    where id = (select id from plan_versions
      where plan_id = ${plan_id} and environment_id = ${environment_id} and status = 'archived' and deleted_at is null
      order by version desc limit 1)
    returning id`
  if (rows.length === 0)
    throw new ServiceError('state_conflict', 'The plan has no archived version to put in its place')
}
