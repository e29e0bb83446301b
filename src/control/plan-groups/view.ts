// Plan groups in their wire form: brief after a write, with full plans when read.
import type { Sql } from 'postgres'
import { planPriceCadences } from '../../../schemas/enums.js'
import type {
  OrderedPlan,
  PlanEntitlementsOrder,
  PlanGroup,
  PlanGroupDetail,
  PlanGroupPlanDetail,
} from '../../../schemas/plan-groups.js'
import type { PlanDetail } from '../../../schemas/plans.js'
import type { BillingPriceView } from '../../../schemas/prices.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { nativeProductId } from '../../catalog/prices.js'
import type { Call } from '../../kit/call.js'
import { among } from '../../kit/sql.js'
import { distinct } from '../entitlements/view.js'
import { withEventsInside } from '../features/event-summaries.js'
import { visiblePlans } from '../plan-versions/version-rows.js'
import { planDetails } from '../plans/view.js'
import { productRows } from '../prices/rows.js'
import { meteredPriceView } from '../prices/view.js'
import type { PlanGroupRow } from './store.js'

/** Members of both views. The deprecated default plan shows the fallback plan: decision. */
function common(row: PlanGroupRow) {
  const { settings: s } = row
  return {
    id: row.id,
    proration_behavior: s.proration_behavior,
    checkout_settings: {
      bundle_purchase_behavior: s.checkout_bundle_purchase_behavior ?? ('quantity' as const),
      collect_address: s.checkout_collect_address,
      collect_email: s.checkout_collect_email,
      collect_phone: s.checkout_collect_phone,
      collect_tax_id: s.checkout_collect_tax_id,
      opt_in_enabled: s.opt_in_enabled,
      opt_in_text: s.opt_in_text,
      opt_in_title: s.opt_in_title,
    },
    component_settings: {
      show_as_monthly_prices: s.show_as_monthly_prices,
      show_credits: s.show_credits,
      show_feature_description: s.show_feature_description,
      show_hard_limit: s.show_hard_limit,
      show_period_toggle: s.show_period_toggle,
      show_zero_price_as_free: s.show_zero_price_as_free,
    },
    prevent_downgrades_when_over_limit: s.prevent_downgrades_when_over_limit,
    prevent_self_service_downgrade: s.prevent_self_service_downgrade,
    prevent_self_service_downgrade_button_text: s.prevent_self_service_downgrade_button_text,
    prevent_self_service_downgrade_url: s.prevent_self_service_downgrade_url,
    show_as_monthly_prices: s.show_as_monthly_prices,
    show_credits: s.show_credits,
    show_period_toggle: s.show_period_toggle,
    show_zero_price_as_free: s.show_zero_price_as_free,
    sync_customer_billing_details: s.sync_customer_billing_details,
    tax_collection_enabled: s.enable_tax_collection,
    trial_eligibility_per_plan: s.trial_eligibility_per_plan ?? false,
    default_plan_id: row.fallback_plan_id,
    fallback_plan_id: row.fallback_plan_id,
    initial_plan_id: row.initial_plan_id,
    initial_plan_price_id: row.initial_plan_price_id,
    trial_expiry_plan_id: row.trial_expiry_plan_id,
    trial_expiry_plan_price_id: row.trial_expiry_plan_price_id,
    scheduled_downgrade_behavior: s.scheduled_downgrade_behavior,
    scheduled_downgrade_prevent_when_over_limit: s.scheduled_downgrade_prevent_when_over_limit,
    trial_payment_method_required: s.trial_payment_method_required,
    trial_days: s.trial_days,
  }
}

export function groupView(row: PlanGroupRow): PlanGroup {
  const { settings } = row
  return {
    ...common(row),
    add_on_compatibilities: settings.add_on_compatibilities ?? [],
    add_on_ids: settings.ordered_add_ons.map(one => one.plan_id),
    ordered_add_on_ids: settings.ordered_add_ons,
    plan_ids: settings.ordered_plans,
  }
}

/** The group with its plans in full. Plans deleted since are left out. */
export async function groupDetail(
  sql: Sql,
  call: Call<unknown, unknown>,
  row: PlanGroupRow,
): Promise<PlanGroupDetail> {
  const { settings } = row
  const plans = await offered(sql, call, row)
  const listed = (order: readonly OrderedPlan[]) => order.flatMap(one => plans.get(one.plan_id) ?? [])
  const named = (member: string, id: string | null) => {
    const plan = plans.get(id ?? '')
    return plan ? { [member]: plan } : {}
  }
  return {
    ...common(row),
    plans: listed(settings.ordered_plans),
    add_ons: listed(settings.ordered_add_ons),
    ordered_plan_list: settings.ordered_plans.map(entitlementsOrder),
    ordered_add_on_list: settings.ordered_add_ons.map(entitlementsOrder),
    ordered_bundle_list: settings.ordered_bundle_list,
    custom_checkout_fields: [...settings.custom_checkout_fields],
    custom_plan_id: row.custom_plan_id,
    ...(settings.custom_plan_config && { custom_plan_config: settings.custom_plan_config }),
    ...named('default_plan', row.fallback_plan_id),
    ...named('fallback_plan', row.fallback_plan_id),
    ...named('initial_plan', row.initial_plan_id),
    ...named('trial_expiry_plan', row.trial_expiry_plan_id),
    ...(await priceNamed(sql, 'initial_plan_price', row.initial_plan_id, row.initial_plan_price_id)),
    ...(await priceNamed(
      sql,
      'trial_expiry_plan_price',
      row.trial_expiry_plan_id,
      row.trial_expiry_plan_price_id,
    )),
  }
}

function entitlementsOrder({ plan_id, entitlements }: OrderedPlan): PlanEntitlementsOrder {
  return {
    plan_id,
    entitlements:
      entitlements?.map(one => ({
        plan_entitlement_id: one.entitlement_id,
        visible: one.visible ?? null,
      })) ?? null,
  }
}

async function offered(
  sql: Sql,
  call: Call<unknown, unknown>,
  row: PlanGroupRow,
): Promise<ReadonlyMap<string, PlanGroupPlanDetail>> {
  const { key, environment, services } = call
  const { settings } = row
  const ids = distinct([
    ...settings.ordered_plans.map(one => one.plan_id),
    ...settings.ordered_add_ons.map(one => one.plan_id),
    row.initial_plan_id,
    row.fallback_plan_id,
    row.trial_expiry_plan_id,
  ])
  const place = { accountId: key.accountId, environmentId: environment.id }
  const rows = await sql<PlanRow[]>`
    select * from plans where id in ${among(sql, ids)} and ${visiblePlans(sql, place)}`
  const outlook = { services, accountId: key.accountId, environment }
  const details = await withEventsInside(
    outlook,
    await planDetails(sql, outlook, rows, { entitlements: true }),
  )
  return new Map(details.map(detail => [detail.id, planInGroup(detail, row)]))
}

function planInGroup(plan: PlanDetail, { settings, custom_plan_id }: PlanGroupRow): PlanGroupPlanDetail {
  const custom = plan.id === custom_plan_id || plan.company_id !== null
  return {
    ...plan,
    available_periods: planPriceCadences.filter(cadence =>
      plan.currency_prices.some(prices => prices[`${cadence}_price`] !== undefined),
    ),
    compatible_plan_ids: (settings.add_on_compatibilities ?? []).flatMap(one =>
      one.source_plan_id === plan.id ? one.compatible_plan_ids : [],
    ),
    ...(custom && settings.custom_plan_config && { custom_plan_config: settings.custom_plan_config }),
    is_custom: custom,
  }
}

/** A price of a plan by its id, from any version. */
async function priceNamed(
  sql: Sql,
  member: 'initial_plan_price' | 'trial_expiry_plan_price',
  planId: string | null,
  priceId: string | null,
): Promise<Partial<Record<typeof member, BillingPriceView>>> {
  if (planId === null || priceId === null) return {}
  const versions = await sql<PlanVersionRow[]>`
    select * from plan_versions where plan_id = ${planId} order by version desc`
  const version = versions.find(each => each.prices.some(price => price.id === priceId))
  const price = version?.prices.find(each => each.id === priceId)
  if (!version || !price) return {}
  const own = nativeProductId(version.environment_id, planId, null)
  const productId = price.product_id ?? version.billing_product_id ?? own
  const product = (await productRows(sql, [productId])).get(productId)
  const soldAs = {
    id: productId,
    externalId: product?.external_id ?? productId,
    name: product?.name ?? version.name,
  }
  return { [member]: meteredPriceView(price, soldAs, version.updated_at.getTime()) }
}
