// Applies the parts of a document besides plans: each kind in a transaction of its own, in the order in which they refer
// to each other.
import { isDeepStrictEqual } from 'node:util'
import type { Sql } from 'postgres'
import type * as file from '../../../schemas/catalog.js'
import type { CreditBundleCreate, CreditCreate } from '../../../schemas/credits.js'
import type { ConditionWrite, RulesUpdate } from '../../../schemas/flags.js'
import type { PlanGroupWrite } from '../../../schemas/plan-groups.js'
import { newId } from '../../account/ids.js'
import { quantityFromText } from '../../core/values/quantity.js'
import type { Call } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { mayChangeFeature } from '../account/definitions-in-use.js'
import { changeBundle, makeBundle } from '../credits/bundles.js'
import { changeCredit, createCredit } from '../credits/handlers.js'
import { featureDetails } from '../features/handlers.js'
import {
  type FeatureMembers,
  insertFeature,
  insertLicense,
  renameLicense,
  updateFeature,
} from '../features/store.js'
import { traitNameOf } from '../features/write.js'
import { changeFlag, createFlag, putRules } from '../flags/handlers.js'
import { changePlanGroup, createPlanGroup } from '../plan-groups/handlers.js'
import { ensureFeatureTraits, ensureTrait } from '../traits/rows.js'
import { findTraitRow, updateTraitRow } from '../traits/store.js'
import { announce } from '../webhooks/publish.js'
import type { ObjectChange } from './compare.js'
import { inside } from './inner-call.js'
import type { Definitions } from './read.js'
import type { Resolver } from './resolve.js'

/** One transaction that applies some objects. */
export interface Step {
  readonly tx: Sql
  readonly call: Call<unknown, unknown>
  readonly world: Definitions
  readonly names: Resolver
}

/** Returns the id of a trait whose type changed: its entities are to be listed again. */
export async function applyTrait(step: Step, change: ObjectChange): Promise<string | null> {
  const { tx, call } = step
  const { services, environment } = call
  const to = change.to as file.CatalogTrait
  const nowMs = services.clock.wall()
  const id = await ensureTrait(tx, services.traits, {
    environmentId: environment.id,
    entityType: to.entity_type,
    hierarchy: to.hierarchy ?? [to.name],
    traitType: to.trait_type,
    displayName: to.display_name ?? '',
    nowMs,
  })
  const before = await findTraitRow(tx, environment.id, id)
  await updateTraitRow(
    tx,
    id,
    {
      traitType: to.trait_type,
      displayName: to.display_name ?? '',
      publishableWrites: to.publishable_writes ?? false,
    },
    nowMs,
  )
  return before !== null && before.trait_type !== to.trait_type ? id : null
}

/** EN-1, EN-2: features belong to the account, their traits exist in each of its environments. */
export async function applyFeature(step: Step, change: ObjectChange): Promise<void> {
  const { tx, call, world } = step
  const { services, key } = call
  const to = change.to as file.CatalogFeature
  const former = world.features.rowOf(change.ref)
  if (former) await mayChangeFeature(tx, call, former.id)
  const members = membersOf(to, step)
  const nowMs = services.clock.wall()
  const environmentIds = services.keys.environments(key.accountId).map(environment => environment.id)
  const traits = [members.trait_hierarchy, members.usage_limit_trait_hierarchy].filter(one => one !== null)
  await ensureFeatureTraits(tx, services.traits, environmentIds, traits, nowMs)
  const id = former?.id ?? newId('feat_')
  if (former) {
    const { maintainer_account_member_id } = former
    await updateFeature(tx, id, { ...members, maintainer_account_member_id }, nowMs)
    if (former.license_id !== null) await renameLicense(tx, id, members.name, nowMs)
  } else {
    await insertFeature(
      tx,
      {
        ...members,
        id,
        account_id: key.accountId,
        feature_type: to.feature_type,
        managed_by: to.provider ?? 'native',
        external_resource_id: to.external_resource_id ?? null,
      },
      nowMs,
    )
    if (to.feature_type === 'license')
      await insertLicense(
        tx,
        { id: newId('lice_'), accountId: key.accountId, featureId: id, name: to.name },
        nowMs,
      )
  }
  const outlook = { services, accountId: key.accountId, environment: call.environmentOrNull }
  const type = former ? 'feature.updated' : 'feature.created'
  await announce(
    tx,
    call,
    type,
    async () => {
      const rows = await tx<Parameters<typeof featureDetails>[2][number][]>`
        select f.*, l.id as license_id from features f left join licenses l on l.feature_id = f.id where f.id = ${id}`
      return (await featureDetails(tx, outlook, rows))[0]
    },
    id,
  )
}

function membersOf(to: file.CatalogFeature, { names, world }: Step): FeatureMembers {
  // a trait that the document does not define has a plain name, or one of parts
  const path = (ref: string | null | undefined) =>
    ref == null
      ? null
      : (world.traits.get(names.trait(ref))?.hierarchy ?? ref.slice(ref.indexOf(':') + 1).split('.'))
  const counts = to.feature_type === 'trait' || to.feature_type === 'license'
  const name = traitNameOf(to.name)
  return {
    name: to.name,
    description: to.description ?? '',
    icon: to.icon ?? '',
    event_source: to.event_source ?? 'track',
    event_subtype: to.event_subtype || null,
    trait_hierarchy: path(to.trait) ?? (counts ? [name] : null),
    usage_limit_trait_hierarchy:
      path(to.usage_limit_trait) ?? (to.feature_type === 'license' ? [`${name}_limit`] : null),
    lifecycle_phase: to.lifecycle_phase ?? null,
    maintainer_account_member_id: null,
    plural_name: to.plural_name ?? null,
    singular_name: to.singular_name ?? null,
  }
}

/** A flag without its rules: these may name plans that do not exist yet. */
export async function applyFlag(step: Step, change: ObjectChange): Promise<void> {
  const { tx, call, world, names } = step
  const { rules: _, ...to } = change.to as file.CatalogFlag
  const { rules: __, ...from } = (change.from ?? {}) as file.CatalogFlag
  if (change.from !== null && isDeepStrictEqual(from, to)) return
  const body = {
    key: to.key,
    name: to.name,
    description: to.description ?? '',
    default_value: to.default_value ?? false,
    flag_type: 'boolean' as const,
    feature_id: to.feature == null ? null : names.feature(to.feature),
  }
  const row = world.flagRows.find(one => one.key === to.key)
  if (row) await changeFlag(inside(call, tx, { params: { flag_id: row.id }, body }))
  else await createFlag(inside(call, tx, { body }))
}

/** The rules of a flag, as a whole. Rules and conditions that stay the same keep their ids. */
export async function applyRules(step: Step, change: ObjectChange): Promise<void> {
  const { tx, call, world } = step
  const to = change.to as file.CatalogFlag
  const from = change.from as file.CatalogFlag | null
  const rules = to.rules ?? []
  if (isDeepStrictEqual(from?.rules ?? [], rules)) return
  const flag = world.flagRows.find(one => one.key === to.key)!
  const present = [...(world.rules.get(flag.id) ?? [])]
  const body: RulesUpdate = { rules: [] }
  for (const rule of rules) {
    const at = present.findIndex(one => one.name === rule.name)
    const [former] = at < 0 ? [] : present.splice(at, 1)
    body.rules!.push({
      ...(former && { id: former.id }),
      name: rule.name,
      priority: exact(rule.priority) as number,
      value: rule.value,
      rule_type: rule.rule_type ?? 'standard',
      conditions: await conditionsOf(step, rule.conditions ?? []),
      condition_groups: await Promise.all(
        (rule.condition_groups ?? []).map(async group => ({ conditions: await conditionsOf(step, group) })),
      ),
    })
  }
  await putRules(inside(call, tx, { params: { flag_id: flag.id }, body: body as Exact<RulesUpdate> }))
}

const exact = (given: file.CatalogQuantity) => (typeof given === 'string' ? quantityFromText(given) : given)

async function conditionsOf(
  { tx, names }: Step,
  conditions: readonly file.CatalogCondition[],
): Promise<ConditionWrite[]> {
  const written: ConditionWrite[] = []
  for (const one of conditions) {
    const ids: string[] = []
    for (const ref of one.resources ?? []) ids.push(await names.resource(tx, one.condition_type, ref))
    written.push({
      condition_type: one.condition_type,
      operator: one.operator,
      resource_ids: ids,
      trait_id: names.traitOrNull(one.trait),
      trait_value: one.trait_value ?? '',
      comparable_type: one.comparable_type ?? null,
      comparison_trait_id: names.traitOrNull(one.comparison_trait),
      event_subtype: one.event_subtype ?? null,
      metric_period: one.metric_period ?? null,
      metric_period_month_reset: one.metric_period_month_reset ?? null,
      metric_value: one.metric_value == null ? null : (exact(one.metric_value) as number),
      credit_id: one.credit == null ? null : names.credit(one.credit),
      credit_cost: one.credit_cost ?? null,
    })
  }
  return written
}

function unitPrices(prices: readonly file.CatalogPrice[] | null | undefined) {
  return (prices ?? []).map(one => ({
    currency: one.currency,
    price_per_unit: one.price == null ? null : (exact(one.price) as number),
    price_per_unit_decimal: one.price_decimal ?? null,
  }))
}

export async function applyCredit(step: Step, change: ObjectChange): Promise<void> {
  const { tx, call, world } = step
  const to = change.to as file.CatalogCredit
  const body = {
    name: to.name,
    description: to.description ?? '',
    burn_strategy: to.burn_strategy ?? null,
    default_expiry_unit: to.default_expiry_unit ?? null,
    default_expiry_unit_count: to.default_expiry_unit_count ?? null,
    default_rollover_policy: to.default_rollover_policy ?? null,
    icon: to.icon ?? null,
    plural_name: to.plural_name ?? null,
    singular_name: to.singular_name ?? null,
    per_unit_price: null,
    per_unit_price_decimal: null,
    currency_prices: unitPrices(to.prices),
  }
  const row = world.credits.rowOf(change.ref)
  if (row) await changeCredit(inside(call, tx, { params: { credit_id: row.id }, body }))
  else await createCredit(inside<Exact<CreditCreate>>(call, tx, { body: { ...body, currency: to.currency } }))
}

export async function applyBundle(step: Step, change: ObjectChange): Promise<void> {
  const { tx, call, world, names } = step
  const to = change.to as file.CatalogBundle
  const body = {
    bundle_name: to.name,
    status: to.status ?? 'active',
    quantity: to.quantity ?? null,
    expiry_type: to.expiry_type ?? 'no_expiry',
    expiry_unit: to.expiry_unit ?? 'days',
    expiry_unit_count: to.expiry_unit_count ?? null,
    compatible_plan_ids: (to.compatible_plans ?? []).map(ref => names.plan(ref)),
    price_per_unit: null as unknown as number,
    price_per_unit_decimal: null,
    currency_prices: unitPrices(to.prices),
  }
  const row = world.bundles.rowOf(change.ref)
  if (row) {
    await changeBundle(inside(call, tx, { params: { bundle_id: row.id }, body }))
    return
  }
  const made: Exact<CreditBundleCreate> = {
    ...body,
    credit_id: names.credit(to.credit),
    currency: to.currency,
  }
  await makeBundle(tx, inside(call, tx, { body: made }))
}

const off = {
  checkout_collect_address: false,
  checkout_collect_email: false,
  checkout_collect_phone: false,
  checkout_collect_tax_id: false,
  enable_tax_collection: false,
  opt_in_enabled: false,
  prevent_downgrades_when_over_limit: false,
  prevent_self_service_downgrade: false,
  show_as_monthly_prices: false,
  show_credits: false,
  show_feature_description: false,
  show_hard_limit: false,
  show_period_toggle: false,
  show_zero_price_as_free: false,
  sync_customer_billing_details: false,
} as const

/** Optional settings: null clears (decision 26). */
const cleared = {
  checkout_bundle_purchase_behavior: null,
  custom_plan_config: null,
  scheduled_downgrade_behavior: null,
  scheduled_downgrade_prevent_when_over_limit: null,
  trial_eligibility_per_plan: null,
  trial_payment_method_required: null,
  trial_days: null,
  opt_in_text: null,
  opt_in_title: null,
  prevent_self_service_downgrade_button_text: null,
  prevent_self_service_downgrade_url: null,
} as const

export async function applyGroup(step: Step, change: ObjectChange): Promise<void> {
  const { tx, call, world } = step
  const body = groupBody(step, change.to as file.CatalogPlanGroup)
  const { group } = world
  if (group) await changePlanGroup(inside(call, tx, { params: { plan_group_id: group.id }, body }))
  else await createPlanGroup(inside(call, tx, { body }))
}

function groupBody({ names, world }: Step, to: file.CatalogPlanGroup): PlanGroupWrite {
  const { plans, add_ons, bundles, add_on_compatibilities, custom_checkout_fields, ...rest } = to
  const { initial_plan, fallback_plan, trial_expiry_plan, custom_plan, ...more } = rest
  const { initial_plan_price, trial_expiry_plan_price, proration_behavior, ...settings } = more
  const ordered = (all: file.CatalogPlanGroup['plans']) =>
    (all ?? []).map(one => ({
      plan_id: names.plan(one.plan),
      entitlements:
        one.entitlements?.flatMap(({ feature, visible }) => {
          const id = names.entitlement(one.plan, feature)
          return id === null ? [] : [{ entitlement_id: id, ...(visible == null ? {} : { visible }) }]
        }) ?? null,
    }))
  return {
    ...off,
    ...cleared,
    ...(settings as Partial<typeof off>),
    proration_behavior: proration_behavior ?? 'create_prorations',
    add_on_ids: [],
    ordered_plans: ordered(plans),
    ordered_add_ons: ordered(add_ons),
    ordered_bundle_list: (bundles ?? []).map(ref => ({ bundleId: names.bundle(ref) })),
    add_on_compatibilities: (add_on_compatibilities ?? []).map(one => ({
      source_plan_id: names.plan(one.plan),
      compatible_plan_ids: one.compatible_plans.map(ref => names.plan(ref)),
    })),
    custom_checkout_fields: (custom_checkout_fields ?? []).map(field => ({
      id: world.group?.settings.custom_checkout_fields.find(one => one.name === field.name)?.id ?? null,
      name: field.name,
      psp_metadata_key: field.psp_metadata_key,
      required: field.required,
      definition_id: names.trait(field.trait),
      helper_text: field.helper_text ?? null,
    })),
    initial_plan_id: names.planOrNull(initial_plan),
    initial_plan_price_id: names.planPrice(initial_plan, initial_plan_price),
    fallback_plan_id: names.planOrNull(fallback_plan),
    trial_expiry_plan_id: names.planOrNull(trial_expiry_plan),
    trial_expiry_plan_price_id: names.planPrice(trial_expiry_plan, trial_expiry_plan_price),
    custom_plan_id: names.planOrNull(custom_plan),
  }
}
