// Billing customers: who is billed, and for which company.
import type { BillingCustomerWithSubscriptions, BillingCustomerWrite } from '../../../schemas/billing.js'
import { type BillingCustomerUpsert, validateBillingCustomerWrite } from '../../../schemas/billing-upserts.js'
import { billingProviderTypes } from '../../../schemas/enums.js'
import { derivedId } from '../../core/values/id.js'
import { ServiceError } from '../../errors.js'
import type { Handler } from '../../kit/call.js'
import { storedLong } from '../../kit/long.js'
import { list, oneOf, page, type QueryOf, query, text } from '../../kit/query.js'
import { inTransaction } from '../../kit/sql.js'
import { isoTimeOrNull } from '../../kit/time.js'
import { told } from '../../kit/unchanged.js'
import { currentSubscriptions } from './own-subscriptions.js'
import { ensureProfile } from './profiles.js'
import { type CustomerRow, findCustomer, findSubscription, type SubscriptionRow } from './record-rows.js'
import { defaultProvider, requireCompany } from './records.js'
import { countCustomerRows, listCustomerRows, subscriptionsOfCustomers, upsertCustomer } from './store.js'
import { inTurn, putSubscription } from './subscription-write.js'
import { customerView } from './view.js'

const listShape = {
  company_ids: list,
  name: text(255),
  provider_type: oneOf(billingProviderTypes),
  q: text(512),
  ...page,
} as const
export const customerListQuery = query(listShape)
type CustomerListQuery = QueryOf<typeof listShape>

/** The optional members of a body that would write this customer unchanged. */
function statedCustomer(row: CustomerRow): Omit<BillingCustomerWrite, 'external_id'> {
  const { name, email, meta, company_id, default_payment_method_id, provider_type } = row
  return { name, email, meta, company_id, default_payment_method_id, provider_type }
}

/**
 * POST /billing/customer/upsert. Absent members are unchanged. Once the customer has a company, subscriptions that
 * arrived earlier are attached to it.
 *
 * source  PB-50.
 */
export const upsertBillingCustomer: Handler<BillingCustomerUpsert> = async call => {
  const { services, environment, body, nowMs } = call
  if (body.company_id != null) requireCompany(call, body.company_id, 'company_id')
  const now = new Date(nowMs)
  const row = await inTransaction(services.sql, async tx => {
    const had = await findCustomer(tx, environment.id, body.external_id)
    const said = told(body, had && statedCustomer(had), validateBillingCustomerWrite)
    const stored: CustomerRow = {
      id: had?.id ?? derivedId('bilcus_', environment.id, body.external_id),
      environment_id: environment.id,
      external_id: body.external_id,
      provider_type: said.provider_type ?? defaultProvider,
      name: said.name,
      email: said.email,
      meta: said.meta,
      company_id: said.company_id ?? null,
      default_payment_method_id: said.default_payment_method_id ?? null,
      created_at: now,
      updated_at: now,
      deleted_at: null,
    }
    const customer = await upsertCustomer(tx, stored)
    if (customer.company_id !== null) {
      await tx`
        update billing_payment_methods set company_id = ${customer.company_id}
        where environment_id = ${environment.id} and customer_external_id = ${customer.external_id}`
      const { id: customerId, company_id: companyId, provider_type: provider } = customer
      await ensureProfile(tx, { environmentId: environment.id, companyId, customerId, provider, nowMs })
    }
    return customer
  })
  if (row.company_id !== null) {
    const waiting = await subscriptionsOfCustomers(services.sql, environment.id, [row.external_id])
    for (const { external_id: externalId, company_id: companyId } of waiting)
      if (companyId === null)
        await inTurn(call, externalId, async () => {
          const had = await findSubscription(services.sql, environment.id, { externalId })
          if (had?.company_id === null)
            await putSubscription(call, had, { ...had, company_id: row.company_id, updated_at: now })
        })
  }
  return { data: customerView(row) }
}

/** GET /billing/customers. */
export const listBillingCustomers: Handler<undefined, CustomerListQuery> = async call => {
  const { services, environment } = call
  const rows = await listCustomerRows(services.sql, environment.id, call.query, call.query)
  const ids = rows.map(row => row.external_id)
  const stored = await subscriptionsOfCustomers(services.sql, environment.id, ids)
  const subscriptions = await currentSubscriptions(call, stored)
  const data = rows.map(
    (row): BillingCustomerWithSubscriptions => ({
      ...customerView(row),
      subscriptions: subscriptions
        .filter(one => one.customer_external_id === row.external_id)
        .map(subscriptionInBrief),
    }),
  )
  return { data }
}

/** The unit price is the price of the first product. source: decision */
function subscriptionInBrief(row: SubscriptionRow) {
  return {
    currency: row.currency,
    interval: row.interval,
    metered_usage: row.products.some(product => product.usage_type === 'metered'),
    per_unit_price: storedLong(row.products[0]?.price ?? 0),
    total_price: storedLong(row.total_price),
    expired_at: isoTimeOrNull(row.expired_at?.getTime()),
  }
}

/** GET /billing/customers/count. */
export const countBillingCustomers: Handler<undefined, CustomerListQuery> = async call => ({
  data: { count: await countCustomerRows(call.services.sql, call.environment.id, call.query) },
})

/** DELETE /billing/customer/{billing_id}. Its subscriptions stay with the company. source: decision */
export const deleteBillingCustomer: Handler = async ({ services, environment, params, nowMs }) => {
  const named = params.billing_id!
  const deleted = await services.sql`
    update billing_customers set deleted_at = ${new Date(nowMs)} where id = (
      select id from billing_customers
      where environment_id = ${environment.id} and deleted_at is null
        and (external_id = ${named} or id = ${named})
      order by external_id = ${named} desc limit 1)`
  if (deleted.count === 0) throw new ServiceError('not_found', 'Billing customer not found')
  return { data: { deleted: true } }
}
