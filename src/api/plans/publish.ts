// Publishing a draft, and what it means for the companies on older versions.
import type { Sql } from 'postgres'
import type { PlanPublish, PlanVersion } from '../../../schemas/plans.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { newId } from '../../engine/ids.js'
import { affected, commitmentsOf, insertMigration, type NewMigration } from '../../engine/migrations.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../call.js'
import { versionView } from '../entitlement-view.js'
import { settled } from '../entity-write.js'
import { soon } from '../migration-run.js'
import { requireFit } from '../plan-roles.js'
import { lockVersion, versionsOf } from '../plan-versions.js'
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
 * move as the strategy says; a custom plan's company moves at once, and is put on the plan when it is first published.
 *
 * errors  400 for a version that is no draft, a draft without name, a strategy that needs a date nothing carries, and
 *         for `require_no_migration` while a company would move; for a version that does not fit a part its plan
 *         plays in the plan group.
 * source  PB-5…9, PB-13, EN-35, EN-82, EN-83; gaps.md for `scheduled`. A custom plan with `on_payment` puts nobody on it: who records
 *         the payment does: decision. The answer waits for companies that move at once, for a while.
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
  announcePlan(call, 'plan.updated', plan.id)
  if (migrationId !== null) await soon(call, migrationId)
  if (begins && body.activation_strategy !== 'on_payment') await beginCustom(call, plan, version)
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
