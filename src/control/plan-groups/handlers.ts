// The plan group of an environment, at most one.
import { isDeepStrictEqual } from 'node:util'
import type { Sql } from 'postgres'
import type {
  CheckoutField,
  CheckoutFieldInput,
  OrderedPlan,
  PlanGroup,
  PlanGroupUpdate,
  PlanGroupWrite,
} from '../../../schemas/plan-groups.js'
import { newId } from '../../account/ids.js'
import { traitId } from '../../catalog/traits.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { boolean, type QueryOf, query } from '../../kit/query.js'
import { isoTime } from '../../kit/time.js'
import { whole } from '../../kit/unchanged.js'
import { traitNameOf } from '../features/write.js'
import { type PlanRole, unfit } from '../plans/roles.js'
import { ensureTrait } from '../traits/rows.js'
import {
  findGroup,
  offeredPlans,
  type PlanGroupRow,
  putGroup,
  type References,
  references,
  type Settings,
} from './store.js'
import { groupDetail, groupView } from './view.js'

const getShape = { include_company_counts: boolean } as const
export const planGroupQuery = query(getShape)

function unknownGroup(): ServiceError {
  return new ServiceError('not_found', 'The environment has no plan group')
}

/** GET /plan-groups. Companies are always counted, because it is cheap. */
export const getPlanGroup: Handler<undefined, QueryOf<typeof getShape>> = async call => {
  const { sql } = call.services
  const row = await findGroup(sql, call.environment.id)
  if (!row) throw unknownGroup()
  return { data: await groupDetail(sql, call, row) }
}

/**
 * POST /plan-groups.
 *
 * errors  400 when the environment has one, and for a plan that cannot have its role; 404 for an unknown plan,
 *         price or trait.
 * source  EN-82, EN-83; one per environment: decision.
 */
export const createPlanGroup: Handler<PlanGroupWrite> = async call => ({
  status: 201,
  data: await write(call, async tx => {
    if (await findGroup(tx, call.environment.id))
      throw new ServiceError('state_conflict', 'The environment has a plan group')
    return { former: null, body: call.body }
  }),
})

/** PUT /plan-groups/{plan_group_id}. Absent members are unchanged, null clears (decision 26). */
export const changePlanGroup: Handler<PlanGroupUpdate> = async call => ({
  data: await write(call, async tx => {
    const former = await findGroup(tx, call.environment.id)
    if (!former || former.id !== call.params.plan_group_id) throw unknownGroup()
    return { former, body: whole(call.body, statedGroup(call.body, former)) }
  }),
})

/**
 * The optional members of a group, filled from its row. Checkout fields are handled separately. The deprecated list
 * of add-ons changes nothing if it names the present ones.
 */
function statedGroup(given: PlanGroupUpdate, row: PlanGroupRow): PlanGroupWrite {
  const { custom_checkout_fields: _, ...settings } = row.settings
  const ids = settings.ordered_add_ons.map(one => one.plan_id)
  const relisted = given.add_on_ids !== undefined && !isDeepStrictEqual(given.add_on_ids, ids)
  return {
    ...settings,
    ...(Object.fromEntries(references.map(member => [member, row[member]])) as unknown as References),
    ordered_add_ons: relisted ? [] : settings.ordered_add_ons,
    add_on_ids: given.ordered_add_ons === undefined ? ids : [],
  }
}

/** A group before and after a request. */
interface Wanted {
  readonly body: PlanGroupWrite
  readonly former: PlanGroupRow | null
}

function write(call: Call<unknown>, wanted: (tx: Sql) => Promise<Wanted>): Promise<PlanGroup> {
  const { services, key, environment } = call
  return services.catalogs.change({ accountId: key.accountId, environmentId: environment.id }, async tx => {
    const row = await normaliseGroup(tx, call, await wanted(tx))
    await putGroup(tx, row)
    return groupView(row)
  })
}

async function normaliseGroup(tx: Sql, call: Call<unknown>, { body, former }: Wanted): Promise<PlanGroupRow> {
  const { environment, services } = call
  const nowMs = services.clock.wall()
  const row: PlanGroupRow = {
    id: former?.id ?? newId('plgr_'),
    environment_id: environment.id,
    ...normaliseReferences(body),
    settings: await normaliseSettings(tx, call, body, former?.settings ?? null, nowMs),
    created_at: former?.created_at ?? new Date(nowMs),
    updated_at: new Date(nowMs),
  }
  await requirePlans(tx, call, row)
  return row
}

function normaliseReferences(body: PlanGroupWrite): References {
  return Object.fromEntries(references.map(member => [member, body[member] ?? null])) as unknown as References
}

const optional = {
  checkout_bundle_purchase_behavior: 'quantity',
  custom_plan_config: null,
  scheduled_downgrade_behavior: null,
  scheduled_downgrade_prevent_when_over_limit: null,
  trial_eligibility_per_plan: false,
  trial_payment_method_required: null,
  trial_days: null,
  add_on_compatibilities: [],
  opt_in_text: null,
  opt_in_title: null,
  prevent_self_service_downgrade_button_text: null,
  prevent_self_service_downgrade_url: null,
} as const

/** Settings after a request; cleared ones, and absent ones of a new group, get their defaults. */
async function normaliseSettings(
  tx: Sql,
  call: Call<unknown>,
  body: PlanGroupWrite,
  former: Settings | null,
  nowMs: number,
): Promise<Settings> {
  const settings: Record<string, unknown> = { ...body }
  for (const member of [...references, 'add_on_ids']) delete settings[member]
  for (const [member, absent] of Object.entries(optional)) {
    const name = member as keyof typeof optional
    settings[name] = body[name] ?? absent
  }
  if (body.ordered_add_ons.length === 0) settings.ordered_add_ons = ordered(body.add_on_ids)
  settings.custom_checkout_fields =
    body.custom_checkout_fields === undefined
      ? (former?.custom_checkout_fields ?? [])
      : await checkoutFields(tx, call, body.custom_checkout_fields ?? [], former, nowMs)
  return settings as unknown as Settings
}

function ordered(ids: readonly string[]): OrderedPlan[] {
  return ids.map(id => ({ plan_id: id }))
}

/** Checkout fields, each with the company trait that stores its answers. */
async function checkoutFields(
  tx: Sql,
  call: Call<unknown>,
  inputs: readonly CheckoutFieldInput[],
  former: Settings | null,
  nowMs: number,
): Promise<readonly CheckoutField[]> {
  const fields: CheckoutField[] = []
  for (const [position, given] of inputs.entries()) {
    const known = former?.custom_checkout_fields.find(field => field.id === given.id)
    const { definition_id, helper_text } = known ?? {}
    const input = known ? whole(given, { definition_id, helper_text }) : given
    const { id: definitionId, hierarchy } = await fieldTrait(tx, call, input, nowMs)
    fields.push({
      id: known?.id ?? newId('chkf_'),
      definition_id: definitionId,
      trait_hierarchy: hierarchy,
      name: input.name,
      psp_metadata_key: input.psp_metadata_key,
      position,
      required: input.required,
      helper_text: input.helper_text ?? null,
      created_at: known?.created_at ?? isoTime(nowMs),
      updated_at: isoTime(nowMs),
    })
  }
  return fields
}

async function fieldTrait(
  tx: Sql,
  { services, environment }: Call<unknown>,
  input: CheckoutFieldInput,
  nowMs: number,
): Promise<{ readonly id: string; readonly hierarchy: readonly string[] }> {
  if (input.definition_id != null) {
    const trait = services.traits.byId(environment.id, input.definition_id)
    if (!trait) throw new ServiceError('not_found', 'custom_checkout_fields: no such trait')
    if (trait.entityType !== 'company')
      throw new ServiceError('value_invalid', 'custom_checkout_fields: must be a company trait')
    return trait
  }
  const hierarchy = [traitNameOf(input.name)]
  await ensureTrait(tx, services.traits, {
    environmentId: environment.id,
    entityType: 'company',
    hierarchy,
    traitType: 'string',
    displayName: input.name,
    nowMs,
  })
  return { id: traitId(environment.id, 'company', hierarchy[0]!), hierarchy }
}

const roles = {
  initial: 'initial_plan_id',
  fallback: 'fallback_plan_id',
  trial_expiry: 'trial_expiry_plan_id',
} as const satisfies Record<PlanRole, keyof PlanGroupRow>

/** Check that every plan and price a group names exists and fits its role (EN-82, EN-83). */
async function requirePlans(tx: Sql, call: Call<unknown>, row: PlanGroupRow): Promise<void> {
  const { settings } = row
  const listed: (readonly [member: string, id: string])[] = [
    ...settings.ordered_plans.map(one => ['ordered_plans', one.plan_id] as const),
    ...settings.ordered_add_ons.map(one => ['ordered_add_ons', one.plan_id] as const),
    ...(settings.add_on_compatibilities ?? []).flatMap(one => [
      ['add_on_compatibilities', one.source_plan_id] as const,
      ...one.compatible_plan_ids.map(id => ['add_on_compatibilities', id] as const),
    ]),
  ]
  for (const member of ['custom_plan_id', ...Object.values(roles)] as const)
    if (row[member] !== null) listed.push([member, row[member]])
  const place = { accountId: call.key.accountId, environmentId: call.environment.id }
  const plans = await offeredPlans(
    tx,
    place,
    listed.map(([, id]) => id),
  )
  for (const [member, id] of listed) {
    const type = plans.get(id)?.plan.plan_type
    if (type === undefined) throw new ServiceError('not_found', `${member}: no such plan`)
    if (member === 'ordered_plans' && type !== 'plan')
      throw new ServiceError('value_invalid', 'ordered_plans: is an add-on')
    if (member === 'ordered_add_ons' && type !== 'add_on')
      throw new ServiceError('value_invalid', 'ordered_add_ons: is not an add-on')
  }
  const needsPayment = settings.trial_payment_method_required === true
  for (const [role, member] of Object.entries(roles) as [PlanRole, (typeof roles)[PlanRole]][]) {
    const offered = plans.get(row[member] ?? '')
    const why = offered && unfit(role, offered.plan, offered.version, needsPayment)
    if (why) throw new ServiceError('state_conflict', `${member}: the plan ${why}`)
  }
  for (const role of ['initial', 'trial_expiry'] as const) {
    const priceId = row[`${role}_plan_price_id`]
    const prices = plans.get(row[`${role}_plan_id`] ?? '')?.version?.prices ?? []
    if (priceId !== null && !prices.some(price => price.id === priceId))
      throw new ServiceError('not_found', `${role}_plan_price_id: no such price of the plan`)
  }
}
