// Publishing a draft, and what it means for the companies on older versions.
import type { Sql } from 'postgres'
import type { ManagePlanRequest } from '../../../schemas/billing.js'
import type { PlanPublish, PlanVersion } from '../../../schemas/plans.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { leadingPrice } from '../../catalog/prices.js'
import { newId } from '../../engine/ids.js'
import { affected, commitmentsOf, insertMigration, type NewMigration } from '../../engine/migrations.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../call.js'
import { companyDetails } from '../company-read.js'
import { versionView } from '../entitlement-view.js'
import { settled } from '../entity-write.js'
import { soon } from '../migration-run.js'
import { requireFit } from '../plan-roles.js'
import { lockVersion, versionsOf } from '../plan-versions.js'
import { asJson } from '../sql.js'
import { accountScope, announcePlan, listPlaceOf } from './handlers.js'
import { publishDraft } from './versions.js'

interface Published {
  readonly plan: PlanRow
  readonly version: PlanVersionRow
  readonly migrationId: string | null
  /** The custom plan is in force for the first time. */
  readonly begins: boolean
}

/**
 * PUT /plans/version/{plan_version_id}/publish: the draft is in force from the answer on. Companies on older versions
 * move as the strategy says; a custom plan's company moves at once, and is put on the plan when it is first published, or when it has paid.
 *
 * errors  400 for a version that is no draft, a draft without name, a strategy that needs a date nothing carries, and
 *         for `require_no_migration` while a company would move; for a version that does not fit a part its plan
 *         plays in the plan group.
 * source  PB-5…9, PB-13, EN-35, EN-82, EN-83; gaps.md for `scheduled`. The answer waits for companies that move at once, for a while.
 */
export const publishVersion: Handler<PlanPublish> = async call => {
  const { services, body } = call
  if (body.migration_strategy === 'scheduled')
    throw new ServiceError(
      'value_invalid',
      'migration_strategy: scheduled needs a date, which is not offered here',
    )
  if (body.require_no_migration === true) await services.projections.barrier('postgres')
  const { plan, version, migrationId, begins } = await services.catalogs.change(accountScope(call), tx =>
    publish(tx, call, body),
  )
  if (migrationId !== null) await soon(call, migrationId)
  if (begins && body.activation_strategy === 'on_payment' && version.prices.length > 0)
    await owe(call, plan, version)
  else if (begins) await beginCustom(call, plan, version)
  return { data: versionView(plan, version) satisfies PlanVersion }
}

async function publish(tx: Sql, call: Call<unknown, unknown>, body: PlanPublish): Promise<Published> {
  const { services, environment } = call
  const { plan, version: draft } = await lockVersion(tx, listPlaceOf(call), call.params.plan_version_id!)
  await requireFit(tx, plan, draft)
  const version = await publishDraft(tx, plan, draft, services.clock.wall())
  const others = await versionsOf(tx, environment.id, plan.id)
  const from = others.filter(each => each.id !== version.id)
  const migration = migrationOf(call, body, plan, version, from)
  if (body.require_no_migration === true && (await moves(tx, migration)))
    throw new ServiceError('state_conflict', 'require_no_migration: companies would move')
  const needed = from.length > 0 && migration.strategy !== 'leave'
  if (needed) await insertMigration(tx, migration, call.nowMs)
  await announcePlan(tx, call, 'plan.updated', plan.id)
  const excluded = plan.company_id !== null && body.excluded_company_ids.includes(plan.company_id)
  return {
    plan,
    version,
    migrationId: needed ? migration.id : null,
    begins: plan.company_id !== null && from.length === 0 && !excluded,
  }
}

function migrationOf(
  call: Call<unknown, unknown>,
  body: PlanPublish,
  plan: PlanRow,
  version: PlanVersionRow,
  from: readonly PlanVersionRow[],
): NewMigration {
  // PB-13: a custom plan's company goes along at once
  const asked = body.migration_strategy === 'scheduled' ? 'leave' : body.migration_strategy
  return {
    id: newId('pvmg_'),
    environmentId: call.environment.id,
    planId: plan.id,
    versionId: version.id,
    fromVersionIds: from.map(each => each.id),
    strategy: plan.company_id === null ? asked : 'immediate',
    prorationBehavior: body.proration_behavior ?? null,
    companyIds: null,
    excludedCompanyIds: body.excluded_company_ids,
    apiKeyId: call.key.id,
  }
}

async function moves(tx: Sql, migration: NewMigration): Promise<boolean> {
  const rows = await affected(
    tx,
    {
      environment_id: migration.environmentId,
      plan_id: migration.planId,
      plan_version_id_to: migration.versionId,
      plan_version_ids_from: migration.fromVersionIds,
      strategy: migration.strategy,
      company_ids: null,
      excluded_company_ids: migration.excludedCompanyIds,
    },
    '',
    1,
  )
  return rows.length > 0
}

/** Put the company of a custom plan on it; its add-ons stay. A company that is gone is passed over. */
async function beginCustom(
  call: Call<unknown, unknown>,
  plan: PlanRow,
  version: PlanVersionRow,
): Promise<void> {
  const { services, environment, key, nowMs } = call
  if (!services.directory.has(environment.id, plan.company_id!)) return
  const message = {
    type: 'change_plans',
    basePlanId: plan.id,
    addOnIds: null,
    versionIds: {},
    priceIds: {},
    commitments: await commitmentsOf(services.sql, version.id),
    cause: { action: 'manage_plan', actorType: 'api_key', apiKeyId: key.id },
  } as const
  await settled(call, services.shards.ask('c', environment.id, plan.company_id!, message, nowMs), {
    not_found: ['not_found', 'The company of the plan is gone'],
    plan_not_assignable: ['state_conflict', 'The company of the plan cannot be put on it'],
  })
}

const daysUntilDue = 30

/** The plan waits for its payment; recording it puts the company on the plan, its add-ons kept (PB-60). */
async function owe(call: Call<PlanPublish>, plan: PlanRow, version: PlanVersionRow): Promise<void> {
  const { services, environment, body, nowMs } = call
  const { sql } = services
  const now = new Date(nowMs)
  const days = body.days_until_due ?? daysUntilDue
  const [company] = await companyDetails(call, [plan.company_id!])
  if (!company) return
  const request: ManagePlanRequest = {
    company_id: company.id,
    base_plan_id: plan.id,
    base_plan_version_id: version.id,
    base_plan_price_id: leadingPrice(version.prices, version.currency)!.id,
    add_on_selections: company.add_ons.map(addOn => ({ plan_id: addOn.id })),
    credit_bundles: [],
    custom_field_values: [],
    pay_in_advance_entitlements: [],
    activate_on_payment: true,
    collection_method: 'send_invoice',
    billing_email: body.customer_email,
    days_until_due: days,
    send_invoice: body.send_invoice,
  }
  await sql`
    insert into custom_plan_billings ${sql({
      id: newId('cpbl_'),
      environment_id: environment.id,
      company_id: company.id,
      plan_id: plan.id,
      plan_version_id: version.id,
      plan_billing_source: 'custom_plan',
      activation_strategy: 'on_payment',
      status: 'pending',
      days_until_due: days,
      send_invoice: body.send_invoice ?? true,
      customer_email: body.customer_email ?? null,
      published_at: now,
      request: asJson(sql, request),
      created_at: now,
      updated_at: now,
    })}`
}
