// Publishing a draft, and migrating the companies on older versions.
import type { Sql } from 'postgres'
import type { PlanPublish, PlanVersion } from '../../../schemas/plans.js'
import { newId } from '../../account/ids.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { versionView } from '../entitlements/view.js'
import { affected, callOffOlder, insertMigration, type NewMigration } from '../migrations/rows.js'
import { requireCompanies, scheduledAt, soon } from '../migrations/run.js'
import {
  findPlan,
  findVersion,
  lockVersion,
  unknownVersion,
  versionsOf,
} from '../plan-versions/version-rows.js'
import type { CompanyBefore, CustomPlanFlow } from './custom-plan-billing.js'
import { accountScope, announcePlan, listPlaceOf } from './handlers.js'
import { applyLink, noteLink } from './links.js'
import { requireFit } from './roles.js'
import { publishDraft } from './versions.js'

export interface Published {
  readonly plan: PlanRow
  readonly version: PlanVersionRow
  readonly migrationId: string | null
  /** Migrations that this publish cancels. */
  readonly calledOff: readonly string[]
  /** The version links a product to the plan that companies may subscribe to already (PB-51). */
  readonly links: boolean
  /** No version was published before. */
  readonly first: boolean
}

/**
 * PUT /plans/version/{plan_version_id}/publish: the draft is in force from the answer on. Companies on older versions
 * move as the strategy says. A custom plan's company moves at once: when the plan is first published, or when paid.
 *
 * errors  400 for a version that is not a draft, a draft without name, a strategy without its date,
 *         `require_no_migration` while a company would move, and a version that does not fit a role of its plan in
 *         the plan group.
 * source  PB-5…9, PB-13, EN-35, EN-82, EN-83; decision 28 for `scheduled`. The answer waits some seconds for
 *         companies that move at once.
 */
export const publisher =
  (custom: CustomPlanFlow): Handler<PlanPublish> =>
  async call => {
    const { services, body } = call
    requireCompanies(call, body.excluded_company_ids, 'excluded_company_ids')
    const before = await prepared(call, custom)
    if (body.require_no_migration === true) await services.projections.barrier('postgres')
    const { plan, version, migrationId, calledOff, links } = await services.catalogs.change(
      accountScope(call),
      async tx => {
        const published = await publish(tx, call, body, before?.onPlan === true && before.waits)
        if (before) await custom.begin(tx, call, { ...published, before })
        return published
      },
    )
    await soon(call, ...(migrationId === null ? [] : [migrationId]), ...calledOff)
    if (before) await custom.published(call, version.id)
    if (links) await linked(call, version.id)
    return { data: versionView(plan, version) satisfies PlanVersion }
  }

/** Longest wait of a publish for the subscribers of its product; a job goes on afterwards. source: decision */
const patienceMs = 10_000

/** The subscribers of a product that was linked come to the plan. */
async function linked(call: Call<unknown, unknown>, versionId: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, patienceMs)
  })
  const applied = applyLink(call, versionId).catch(error =>
    call.services.log.warn({ err: error }, 'a linked product waits for its companies'),
  )
  await Promise.race([applied, late])
  clearTimeout(timer)
}

/** The company of a custom plan before the publish; null for other plans. */
async function prepared(call: Call<PlanPublish>, custom: CustomPlanFlow): Promise<CompanyBefore | null> {
  const { services, environment, params, body } = call
  const draft = await findVersion(services.sql, environment.id, params.plan_version_id!)
  const plan = draft && (await findPlan(services.sql, listPlaceOf(call), draft.plan_id))
  if (!plan || !draft) throw unknownVersion()
  if (plan.company_id !== null) return custom.prepare(call, plan, draft)
  refuseForStandard(body)
  return null
}

/**
 * Publish the draft in the path inside a transaction of the whole account. The caller then starts the migration.
 *
 * waits  the custom plan takes effect when its payment arrives.
 */
export async function publish(
  tx: Sql,
  call: Call<unknown, unknown>,
  body: PlanPublish,
  waits: boolean,
): Promise<Published> {
  const { services, environment } = call
  const { plan, version: draft } = await lockVersion(tx, listPlaceOf(call), call.params.plan_version_id!)
  await requireFit(tx, plan, draft)
  const version = await publishDraft(tx, plan, draft, services.clock.wall())
  const others = await versionsOf(tx, environment.id, plan.id)
  const from = others.filter(each => each.id !== version.id)
  const migration = migrationOf(call, body, plan, version, from)
  if (body.require_no_migration === true && (await moves(tx, migration)))
    throw new ServiceError('state_conflict', 'require_no_migration: companies would move')
  const needed = from.length > 0 && migration.strategy !== 'leave' && !waits
  if (needed) await insertMigration(tx, migration, call.nowMs)
  const calledOff = await callOffOlder(tx, migration, call.nowMs) // PB-23
  const links = await noteLink(tx, call, version)
  await announcePlan(tx, call, 'plan.updated', plan.id)
  return {
    plan,
    version,
    migrationId: needed ? migration.id : null,
    calledOff,
    links,
    first: from.length === 0,
  }
}

function migrationOf(
  call: Call<unknown, unknown>,
  body: PlanPublish,
  plan: PlanRow,
  version: PlanVersionRow,
  from: readonly PlanVersionRow[],
): NewMigration {
  const { migration_strategy: asked, migration_scheduled_at: given } = body
  const scheduledAtMs = scheduledAt(asked, given ?? null, call.nowMs)
  return {
    id: newId('pvmg_'),
    environmentId: call.environment.id,
    planId: plan.id,
    versionId: version.id,
    fromVersionIds: from.map(each => each.id),
    strategy: plan.company_id === null ? asked : 'immediate', // PB-13: a custom plan's company moves at once
    scheduledAtMs,
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

/** Throws 400 for members that only custom plans accept. */
function refuseForStandard(body: PlanPublish): void {
  const members = {
    billing_cycle_anchor: body.billing_cycle_anchor,
    coupon_external_id: body.coupon_external_id,
    address: body.address,
    tax_id: body.tax_id,
    phone: body.phone,
    customer_email: body.customer_email,
    custom_field_values: body.custom_field_values?.length ? body.custom_field_values : null,
    activation_strategy: body.activation_strategy === 'on_payment' ? body.activation_strategy : null,
  }
  const given = Object.entries(members).find(([, value]) => value != null)
  if (given) throw new ServiceError('state_conflict', `${given[0]}: only for the plan of one company`)
}
