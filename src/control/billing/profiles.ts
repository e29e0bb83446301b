// Billing profiles, billing details, and which company pays for which: how a company pays and where its invoices go.

import type { Sql } from 'postgres'
import type {
  BillingDetailsUpdate,
  CheckoutFieldWithValue,
  CompanyBillingDetails,
  CompanyBillingEntity,
  CompanyBillingEntitySubscription,
  CompanyTaxIdView,
} from '../../../schemas/billing.js'
import type { BillingProfileUpdate } from '../../../schemas/billing-profile.js'
import { billingProviderTypes } from '../../../schemas/enums.js'
import type { EntityBrief } from '../../core/model/entity-state.js'
import { derivedId } from '../../core/values/id.js'
import { quantityOrNull, storedOrNull } from '../../core/values/quantity.js'
import { Refused } from '../../entities/shards/shards.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { boolean, oneOf, page, type QueryOf, query, required, string } from '../../kit/query.js'
import { inTransaction, newest } from '../../kit/sql.js'
import { whole } from '../../kit/unchanged.js'
import { companyBrief } from '../entities/view.js'
import { type DetailsRow, lockDetails, storeDetails } from './details.js'
import { withMeteredItems } from './metered-items.js'
import { currentSubscriptions } from './own-subscriptions.js'
import { defaultProfile, overdue } from './payment-gating.js'
import { findSubscription, type ProfileRow, subscriptionsOf } from './record-rows.js'
import { requireCompany } from './records.js'
import { inTurn, putSubscription } from './subscription-write.js'
import { initialProducts } from './subscriptions.js'
import { companySubscription, isRunning, profileView, subscriptionParts } from './view.js'

const profileShape = {
  company_id: string,
  is_default: boolean,
  provider_type: oneOf(billingProviderTypes),
  ...page,
} as const
export const profileListQuery = query(profileShape)

/** GET /billing/profiles. */
export const listBillingProfiles: Handler<undefined, QueryOf<typeof profileShape>> = async call => {
  const { services, environment, key, query: asked } = call
  const { sql } = services
  const { company_id: companyId, is_default: isDefault, provider_type: provider } = asked
  const rows = await sql<ProfileRow[]>`
    select * from company_billing_profiles where environment_id = ${environment.id}
      ${companyId ? sql`and company_id = ${companyId}` : sql``}
      ${isDefault === undefined ? sql`` : sql`and is_default = ${isDefault}`}
      ${provider ? sql`and provider_type = ${provider}` : sql``}
    ${newest(sql, asked)}`
  return { data: rows.map(row => profileView(row, key.accountId)) }
}

/**
 * PUT /billing/profiles/{billing_profile_id}. Absent members are unchanged, null clears. The change applies at once
 * to payments that are already overdue (payment-gating.ts) and to the company's overdraft limit.
 *
 * errors  404 for an unknown profile or payment method; 400 for unsetting the default profile; 503 when the company
 *         cannot be updated: the profile is then unchanged.
 */
export const updateBillingProfile: Handler<Exact<BillingProfileUpdate>> = async call => {
  const { services, key } = call
  const row = await inTransaction(services.sql, async tx => {
    const stored = await storeProfile(tx, call)
    await limitOverdraft(tx, call, stored.company_id)
    return stored
  })
  await gate(call, row.company_id)
  return { data: profileView(row, key.accountId) }
}

async function storeProfile(
  tx: Sql,
  { environment, params, body, nowMs }: Call<Exact<BillingProfileUpdate>>,
): Promise<ProfileRow> {
  const [had] = await tx<ProfileRow[]>`
    select * from company_billing_profiles
    where id = ${params.billing_profile_id!} and environment_id = ${environment.id} for update`
  if (!had) throw new ServiceError('not_found', 'Billing profile not found')
  if (body.is_default === false && had.is_default)
    throw new ServiceError('state_conflict', 'is_default: a company keeps a default profile')
  if (body.payment_method_id != null) {
    const [method] = await tx`
      select 1 from billing_payment_methods
      where id = ${body.payment_method_id} and environment_id = ${environment.id}`
    if (!method) throw new ServiceError('not_found', 'payment_method_id: no such payment method')
  }
  if (body.is_default)
    await tx`
      update company_billing_profiles set is_default = false
      where company_id = ${had.company_id} and id <> ${had.id} and is_default`
  const said = whole(body, had)
  const [stored] = await tx<ProfileRow[]>`
    update company_billing_profiles set ${tx({
      collection_method: said.collection_method,
      collector: said.collector,
      currency: said.currency,
      days_until_due: said.days_until_due,
      gating_days: said.gating_days ?? 0,
      is_default: said.is_default ?? had.is_default,
      name: said.name,
      overdraft_limit: storedOrNull(quantityOrNull(said.overdraft_limit)),
      payment_gating: said.payment_gating ?? 'keep_serving',
      payment_method_id: said.payment_method_id,
      proration_behavior: said.proration_behavior,
      purchase_order: said.purchase_order,
      updated_at: new Date(nowMs),
    })} where id = ${had.id} returning *`
  return stored!
}

/**
 * Send the company the overdraft limit of its default profile. The row lock is held meanwhile, so company and row
 * agree on which of two changes is last. A deleted company has no credits to limit.
 */
async function limitOverdraft(
  tx: Sql,
  { services, environment, nowMs }: Call<Exact<BillingProfileUpdate>>,
  companyId: string,
): Promise<void> {
  const profile = await defaultProfile(tx, companyId)
  const limit = profile?.overdraft_limit == null ? null : String(profile.overdraft_limit)
  const message = { type: 'limit_overdraft', limit } as const
  try {
    await services.shards.ask('c', environment.id, companyId, message, nowMs)
  } catch (error) {
    if (!(error instanceof Refused && error.refusal === 'not_found')) throw error
  }
}

/** Send the company the instants at which its overdue subscriptions stop giving access, by the current profile. */
async function gate(call: Call<Exact<BillingProfileUpdate>>, companyId: string): Promise<void> {
  const { sql } = call.services
  for (const { external_id, environment_id } of await subscriptionsOf(sql, [companyId]))
    await inTurn(call, external_id, async () => {
      const had = await findSubscription(sql, environment_id, { externalId: external_id })
      if (had?.company_id !== companyId || had.status !== 'past_due') return
      const { status } = had
      const gating = await overdue(sql, companyId, { status, had, nowMs: call.nowMs })
      await putSubscription(call, had, { ...had, ...gating })
    })
}

/** An environment's requirements at checkout. */
interface CheckoutSettings {
  readonly checkout_collect_address?: boolean
  readonly checkout_collect_email?: boolean
  readonly checkout_collect_phone?: boolean
  readonly checkout_collect_tax_id?: boolean
  readonly custom_checkout_fields?: readonly Partial<CheckoutFieldWithValue>[] | null
}

async function checkoutSettings(sql: Sql, environmentId: string): Promise<CheckoutSettings> {
  const [group] = await sql<{ settings: CheckoutSettings }[]>`
    select settings from plan_groups where environment_id = ${environmentId}`
  return group?.settings ?? {}
}

async function detailsOf(sql: Sql, environmentId: string, companyId: string): Promise<CompanyBillingDetails> {
  const [settings, [row]] = await Promise.all([
    checkoutSettings(sql, environmentId),
    sql<DetailsRow[]>`select * from company_billing_details where company_id = ${companyId}`,
  ])
  return {
    checkout_settings: {
      collect_address: settings.checkout_collect_address === true,
      collect_email: settings.checkout_collect_email === true,
      collect_phone: settings.checkout_collect_phone === true,
      collect_tax_id: settings.checkout_collect_tax_id === true,
    },
    custom_fields: (settings.custom_checkout_fields ?? []).map(field => ({
      id: field.id ?? '',
      definition_id: field.definition_id ?? '',
      name: field.name ?? '',
      psp_metadata_key: field.psp_metadata_key ?? '',
      required: field.required === true,
      helper_text: field.helper_text ?? null,
      value: row?.field_values[field.id ?? ''] ?? null,
    })),
    tax_ids: (row?.tax_ids ?? []).map(taxIdView),
    ...(row?.address && { address: row.address }),
    email: row?.email ?? null,
    phone: row?.phone ?? null,
  }
}

/** The country is the prefix of the tax id's type; it is not verified. source: decision */
function taxIdView({ id, type, value }: DetailsRow['tax_ids'][number]): CompanyTaxIdView {
  return { id, type, value, country: type.slice(0, 2).toUpperCase(), verification_status: null }
}

function companyOfPath(call: Call<unknown, unknown>): string {
  const id = call.params.company_id!
  requireCompany(call, id, 'company_id')
  return id
}

/** GET /companies/{company_id}/billing-details. */
export const getBillingDetails: Handler = async call => ({
  data: await detailsOf(call.services.sql, call.environment.id, companyOfPath(call)),
})

/**
 * PUT /companies/{company_id}/billing-details. Absent members are unchanged; null clears; a tax id replaces the one
 * of its type.
 *
 * errors  400 for a value of a custom field that the environment does not define.
 */
export const updateBillingDetails: Handler<BillingDetailsUpdate> = async call => {
  const { services, environment, body, nowMs } = call
  const companyId = companyOfPath(call)
  const { custom_checkout_fields: fields } = await checkoutSettings(services.sql, environment.id)
  const values = body.values ?? []
  const unknown = values.find(({ id }) => !fields?.some(field => field.id === id))
  if (unknown) throw new ServiceError('value_invalid', `values: no checkout field ${unknown.id}`)
  await inTransaction(services.sql, async tx => {
    await lockDetails(tx, companyId)
    await call.holds?.(tx)
    await storeDetails(tx, environment.id, companyId, body, nowMs)
  })
  return { data: await detailsOf(services.sql, environment.id, companyId) }
}

const entityShape = { company_id: required(string) } as const
export const billingEntityQuery = query(entityShape)
type EntityQuery = QueryOf<typeof entityShape>

/** GET /company-billing-entity: a company always pays for itself; no other can be named. source: decision */
export const getBillingEntity: Handler<undefined, EntityQuery> = async call => {
  const { services, environment, query: asked } = call
  requireCompany(call, asked.company_id, 'company_id')
  const [brief, [own]] = await Promise.all([
    briefOf(call, asked.company_id),
    services.sql`
      select 1 from billing_customers
      where environment_id = ${environment.id} and company_id = ${asked.company_id} and provider_type = 'psp'
        and deleted_at is null limit 1`,
  ])
  const entity: CompanyBillingEntity = {
    ...(brief && { billing_entity: companyBrief(brief) }),
    has_own_psp_customer: own !== undefined,
  }
  return { data: [entity] }
}

async function briefOf({ services, environment, nowMs }: Call<unknown, unknown>, companyId: string) {
  const { reply } = await services.shards.ask<EntityBrief | null>(
    'c',
    environment.id,
    companyId,
    { type: 'brief' },
    nowMs,
  )
  return reply
}

/** GET /company-billing-entity-subscriptions: the subscriptions that a company pays for, which are its own. */
export const listBillingEntitySubscriptions: Handler<undefined, EntityQuery> = async call => {
  const { services, environment, query: asked, nowMs } = call
  requireCompany(call, asked.company_id, 'company_id')
  const [brief, all] = await Promise.all([
    briefOf(call, asked.company_id),
    subscriptionsOf(services.sql, [asked.company_id]).then(rows => currentSubscriptions(call, rows)),
  ])
  const rows = await withMeteredItems(
    call,
    all.filter(row => isRunning(row, nowMs)),
  )
  const parts = await subscriptionParts(services.sql, environment.id, rows)
  const initial = initialProducts(call)
  const { plans } = services.catalogs.get(environment.id)
  const data = rows.map((row): CompanyBillingEntitySubscription => {
    const sold = new Set(row.products.map(product => product.product_id))
    const plan = plans.find(
      ({ planType, versions }) =>
        planType === 'plan' && versions.some(one => one.billingProductId && sold.has(one.billingProductId)),
    )
    return {
      ...companySubscription(row, parts, initial, nowMs),
      plan_name: plan?.name ?? parts.products.get(row.products[0]?.product_id ?? '')?.name ?? '',
      ...(brief && { company: companyBrief(brief) }),
    }
  })
  return { data }
}

/** Create the default profile of a company if it has none. */
export async function ensureProfile(
  tx: Sql,
  {
    environmentId,
    companyId,
    customerId,
    provider,
    nowMs,
  }: {
    readonly environmentId: string
    readonly companyId: string
    readonly customerId: string | null
    readonly provider: string
    readonly nowMs: number
  },
): Promise<void> {
  const now = new Date(nowMs)
  await tx`
    insert into company_billing_profiles ${tx({
      id: derivedId('bprf_', companyId),
      environment_id: environmentId,
      company_id: companyId,
      provider_type: provider,
      is_default: true,
      billing_customer_id: customerId,
      created_at: now,
      updated_at: now,
    })} on conflict do nothing`
}
