// The route table: one line per operation, sorted by path.

import {
  parseBillingDetailsUpdate,
  parseCustomPlanBillingPaid,
  parseCustomPlanBillingRetry,
  parseManagePlanRequest,
  parseSubscriptionCancel,
  parseTrialEndUpdate,
} from '../../schemas/billing.js'
import { parseBillingProfileUpdate } from '../../schemas/billing-profile.js'
import {
  parseBillingCustomerUpsert,
  parseBillingPriceUpsert,
  parseBillingProductUpsert,
  parseBillingSubscriptionUpsert,
  parseCouponUpsert,
  parseInvoiceUpsert,
  parseMeterUpsert,
  parsePaymentMethodUpsert,
} from '../../schemas/billing-upserts.js'
import { parseCatalogWrite } from '../../schemas/catalog.js'
import { parseCheck, parseCheckAndReserve, parseCheckBulk } from '../../schemas/checks.js'
import {
  parseCompanyUpsert,
  parseKeysBody,
  parseMembershipCreate,
  parseTraitUpsert,
} from '../../schemas/companies.js'
import { parseExplain } from '../../schemas/console.js'
import {
  parseCompanyGrantCreate,
  parseCreditBundleCreate,
  parseCreditBundleUpdate,
  parseCreditCreate,
  parseCreditsReserve,
  parseCreditUpdate,
  parseGrantZeroOut,
  parseLeaseAcquire,
  parseLeaseExtend,
  parsePlanGrantCreate,
  parsePlanGrantUpdate,
  parseSpendPolicyCreate,
  parseSpendPolicyUpdate,
} from '../../schemas/credits.js'
import {
  parseBillingLinkedEntitlementCreate,
  parseCompanyOverrideCreate,
  parseCompanyOverrideUpdate,
  parseEntitlementsDuplicate,
  parsePlanEntitlementCreate,
  parsePlanEntitlementUpdate,
} from '../../schemas/entitlements.js'
import {
  parseClockUpdate,
  parseEnvironmentCreate,
  parseEnvironmentUpdate,
} from '../../schemas/environments.js'
import { parseErasureRequest } from '../../schemas/erasures.js'
import {
  parseBillingLinkedFeatureCreate,
  parseFeatureCreate,
  parseFeatureUpdate,
} from '../../schemas/features.js'
import { parseFlagUpdate, parseFlagWrite, parseRulesUpdate } from '../../schemas/flags.js'
import { parseApiKeyCreate, parseApiKeyRoll, parseApiKeyUpdate } from '../../schemas/keys.js'
import { parseLimitsUpdate } from '../../schemas/limits.js'
import {
  parseAccountMemberCreate,
  parseAccountMemberUpdate,
  parseConsoleLinkCreate,
} from '../../schemas/members.js'
import { parseModelPrices } from '../../schemas/model-prices.js'
import { parsePlanGroupUpdate, parsePlanGroupWrite } from '../../schemas/plan-groups.js'
import { parsePlanMoveCreate, parsePlanMoveRetry } from '../../schemas/plan-moves.js'
import {
  parseBillingLinkedPlanCreate,
  parseCompanyPlansUpdate,
  parseCustomPlanBundleCreate,
  parseCustomPlanCreate,
  parseMigrationCompleteNow,
  parseMigrationCreate,
  parseMigrationPreviewRequest,
  parseMigrationRetry,
  parsePlanBundleCreate,
  parsePlanBundleUpdate,
  parsePlanCreate,
  parsePlanPublish,
  parsePlanUpdate,
} from '../../schemas/plans.js'
import { parseTemporaryAccessTokenCreate } from '../../schemas/portal.js'
import { parseBillingProductUpdate } from '../../schemas/prices.js'
import { parseContextSecretRoll, parseSignedContextCreate } from '../../schemas/signed-contexts.js'
import { parseTraitDefinitionCreate, parseTraitDefinitionUpdate } from '../../schemas/traits.js'
import { parseUserUpsert } from '../../schemas/users.js'
import {
  parseWebhookCreate,
  parseWebhookRoll,
  parseWebhookTest,
  parseWebhookUpdate,
} from '../../schemas/webhooks.js'
import * as auditLog from '../control/audit-log/handlers.js'
import * as customers from '../control/billing/customers.js'
import * as invoices from '../control/billing/invoices.js'
import * as products from '../control/billing/products.js'
import * as profiles from '../control/billing/profiles.js'
import * as subscriptions from '../control/billing/subscriptions.js'
import * as catalogFile from '../control/catalog-file/handlers.js'
import { exportCharges, exportChargesQuery } from '../control/charges/export.js'
import * as charges from '../control/charges/handlers.js'
import * as companies from '../control/companies/handlers.js'
import * as entityKeys from '../control/companies/key-definitions.js'
import * as memberships from '../control/companies/memberships.js'
import * as companyPlans from '../control/company-plans/handlers.js'
import { costsQuery, listCosts } from '../control/costs/handlers.js'
import * as creditBundles from '../control/credits/bundles.js'
import * as grants from '../control/credits/grants.js'
import * as credits from '../control/credits/handlers.js'
import * as holds from '../control/credits/holds.js'
import * as ledger from '../control/credits/ledger.js'
import * as planGrants from '../control/credits/plan-grants.js'
import * as policies from '../control/credits/policies.js'
import * as entitlements from '../control/entitlements/handlers.js'
import * as environments from '../control/environments/handlers.js'
import * as erasure from '../control/erasure/handlers.js'
import * as exported from '../control/export/handlers.js'
import * as features from '../control/features/handlers.js'
import * as licenses from '../control/features/licenses.js'
import * as flags from '../control/flags/handlers.js'
import * as keys from '../control/keys/handlers.js'
import * as limits from '../control/limits/handlers.js'
import * as customPlanBillings from '../control/manage-plan/custom-plan-billings.js'
import { customPlanFlow } from '../control/manage-plan/custom-plan-publish.js'
import * as trialEnd from '../control/manage-plan/edit-trial-end.js'
import * as managing from '../control/manage-plan/handlers.js'
import { onCompany } from '../control/manage-plan/request.js'
import * as members from '../control/members/handlers.js'
import * as migrations from '../control/migrations/handlers.js'
import * as moves from '../control/migrations/moves.js'
import { previewQuery } from '../control/migrations/preview.js'
import * as modelPrices from '../control/model-prices/handlers.js'
import * as overrides from '../control/overrides/overrides.js'
import * as overview from '../control/overview/handlers.js'
import * as planChanges from '../control/plan-changes/handlers.js'
import * as planGroups from '../control/plan-groups/handlers.js'
import * as bundles from '../control/plans/bundles.js'
import { createPlan } from '../control/plans/create.js'
import * as plans from '../control/plans/handlers.js'
import * as productMatch from '../control/plans/product-match.js'
import * as publishing from '../control/plans/publish.js'
import * as portal from '../control/portal/handlers.js'
import * as reconciling from '../control/reconcile/handlers.js'
import * as searching from '../control/search/handlers.js'
import * as signedContexts from '../control/signed-contexts/handlers.js'
import * as stored from '../control/stored-events/stored.js'
import * as system from '../control/system/handlers.js'
import * as traits from '../control/traits/handlers.js'
import * as creditDays from '../control/usage/credit-days.js'
import * as usage from '../control/usage/handlers.js'
import * as users from '../control/users/handlers.js'
import * as webhooks from '../control/webhooks/handlers.js'
import { companyExplainQuery, explainCompany, explainFlag } from '../front/checks/explain.js'
import * as checks from '../front/checks/handlers.js'
import * as ofrep from '../front/checks/ofrep.js'
import * as events from '../front/events/handlers.js'
import { assertDistinct, del, get, post, put, type Route } from '../front/http/routing/route.js'
import * as defaults from '../kit/body-defaults.js'
import { filled } from '../kit/defaults.js'
import { exactly, exactTraits } from '../kit/long.js'

/** Only the preflight of a check has 64-bit members. */
const checkBody = exactly(parseCheck, ({ preflight }) => preflight)
const companyBody = exactTraits(parseCompanyUpsert, 'traits')
const userBody = exactTraits(parseUserUpsert, 'traits')
const contextBody = exactTraits(parseSignedContextCreate, 'company_traits', 'user_traits')

// biome-ignore format: one line per operation, however long.
export const routes: readonly Route[] = [
  get('/account-members', { scope: 'admin', environment: 'optional', ofAccount: true, query: members.memberListQuery, handle: members.listAccountMembers }),
  post('/account-members', { scope: 'admin', environment: 'optional', ofAccount: true, status: 201, body: parseAccountMemberCreate, handle: members.createAccountMember }),
  get('/account-members/count', { scope: 'admin', environment: 'optional', ofAccount: true, query: members.memberListQuery, handle: members.countAccountMembers }),
  get('/account-members/:account_member_id', { scope: 'admin', environment: 'optional', ofAccount: true, handle: members.getAccountMember }),
  put('/account-members/:account_member_id', { scope: 'admin', environment: 'optional', ofAccount: true, body: parseAccountMemberUpdate, handle: members.updateAccountMember }),
  del('/account-members/:account_member_id', { scope: 'admin', environment: 'optional', ofAccount: true, handle: members.deleteAccountMember }),
  post('/account-members/:account_member_id/sign-in-link', { scope: 'admin', environment: 'optional', ofAccount: true, status: 201, handle: members.createSignInLink }),
  get('/api-keys', { recorded: true, scope: 'admin', environment: 'optional', query: keys.keyListQuery, handle: keys.listApiKeys }),
  post('/api-keys', { scope: 'admin', environment: 'optional', status: 201, body: parseApiKeyCreate, handle: keys.createApiKey }),
  get('/api-keys/count', { recorded: true, scope: 'admin', environment: 'optional', query: keys.keyListQuery, handle: keys.countApiKeys }),
  get('/api-keys/:api_key_id', { recorded: true, scope: 'admin', environment: 'optional', handle: keys.getApiKey }),
  put('/api-keys/:api_key_id', { scope: 'admin', environment: 'optional', body: parseApiKeyUpdate, handle: keys.updateApiKey }),
  del('/api-keys/:api_key_id', { scope: 'admin', environment: 'optional', handle: keys.deleteApiKey }),
  post('/api-keys/:api_key_id/roll', { scope: 'admin', environment: 'optional', body: parseApiKeyRoll, handle: keys.rollApiKey }),
  get('/audit-log', { recorded: true, scope: 'admin', environment: 'optional', query: auditLog.auditListQuery, handle: auditLog.listAuditLogs }),
  get('/audit-log/chain', { recorded: true, scope: 'admin', environment: 'optional', ofAccount: true, query: auditLog.chainQuery, handle: auditLog.listChain }),
  get('/audit-log/count', { recorded: true, scope: 'admin', environment: 'optional', query: auditLog.auditListQuery, handle: auditLog.countAuditLogs }),
  get('/audit-log/head', { recorded: true, scope: 'admin', environment: 'optional', ofAccount: true, handle: auditLog.getChainHead }),
  get('/audit-log/:audit_log_id', { recorded: true, scope: 'admin', environment: 'optional', handle: auditLog.getAuditLog }),
  post('/batch', { scope: 'capture', limit: 'ingest', raw: 'batch', environment: 'optional', keysInBody: true, handle: events.collect }),
  get('/billing/coupons', { scope: 'read', query: invoices.couponListQuery, handle: invoices.listCoupons }),
  post('/billing/coupons', { scope: 'write', status: 201, body: exactly(parseCouponUpsert), handle: invoices.upsertCoupon }),
  del('/billing/coupons/:billing_id', { scope: 'write', handle: invoices.deleteCoupon }),
  get('/billing/credits', { scope: 'read', query: credits.creditListQuery, handle: credits.listCredits }),
  post('/billing/credits', { scope: 'write', status: 201, body: filled(exactly(parseCreditCreate), defaults.ofCredit), handle: credits.createCredit }),
  get('/billing/credits/balance', { scope: 'read', query: grants.balanceQuery, handle: grants.listBalances }),
  get('/billing/credits/bundles', { scope: 'read', query: creditBundles.bundleListQuery, handle: creditBundles.listBundles }),
  post('/billing/credits/bundles', { scope: 'write', status: 201, body: filled(exactly(parseCreditBundleCreate), defaults.ofCreditBundle), handle: creditBundles.createBundle }),
  get('/billing/credits/bundles/count', { scope: 'read', query: creditBundles.bundleListQuery, handle: creditBundles.countBundles }),
  get('/billing/credits/bundles/:bundle_id', { tagged: true, scope: 'read', handle: creditBundles.getBundle }),
  put('/billing/credits/bundles/:bundle_id', { scope: 'write', body: exactly(parseCreditBundleUpdate), handle: creditBundles.changeBundle }),
  del('/billing/credits/bundles/:bundle_id', { scope: 'write', handle: creditBundles.deleteBundle }),
  get('/billing/credits/count', { scope: 'read', query: credits.creditListQuery, handle: credits.countCredits }),
  post('/billing/credits/grants/company', { scope: 'write', keyed: 'once', mayLag: true, status: 201, body: parseCompanyGrantCreate, handle: grants.grantToCompany }),
  get('/billing/credits/grants/company/count', { scope: 'read', query: grants.companyGrantListQuery, handle: grants.countCompanyGrants }),
  get('/billing/credits/grants/company/list', { scope: 'read', query: grants.companyGrantListQuery, handle: grants.listCompanyGrants }),
  get('/billing/credits/grants/count', { scope: 'read', query: grants.creditGrantListQuery, handle: grants.countCreditGrants }),
  get('/billing/credits/grants/list', { scope: 'read', query: grants.creditGrantListQuery, handle: grants.listCreditGrants }),
  put('/billing/credits/grants/:grant_id/zero-out', { scope: 'write', keyed: 'once', mayLag: true, body: parseGrantZeroOut, handle: grants.zeroOutGrant }),
  get('/billing/credits/lease', { scope: 'read', query: holds.holdListQuery, handle: holds.listLeases }),
  post('/billing/credits/lease', { scope: 'write', keyed: 'once', journaled: true, status: 201, body: parseLeaseAcquire, handle: holds.acquireLease }),
  get('/billing/credits/lease/count', { scope: 'read', query: holds.holdListQuery, handle: holds.countLeases }),
  get('/billing/credits/lease/:lease_id', { scope: 'read', handle: holds.getLease }),
  put('/billing/credits/lease/:lease_id/extend', { scope: 'write', keyed: 'extension', journaled: true, body: parseLeaseExtend, handle: holds.extendLease }),
  put('/billing/credits/lease/:lease_id/release', { scope: 'write', keyed: 'once', journaled: true, handle: holds.releaseLease }),
  get('/billing/credits/ledger', { scope: 'read', query: ledger.ledgerQuery, handle: ledger.listLedger }),
  get('/v2/billing/credits/ledger', { scope: 'read', query: ledger.ledgerQuery, handle: ledger.listLedger }),
  get('/v2/billing/credits/ledger/count', { scope: 'read', query: ledger.ledgerQuery, handle: ledger.countLedger }),
  get('/billing/credits/plan-grants', { scope: 'read', query: planGrants.planGrantListQuery, handle: planGrants.listPlanGrants }),
  post('/billing/credits/plan-grants', { scope: 'write', keyed: 'once', status: 201, body: exactly(parsePlanGrantCreate), handle: planGrants.createPlanGrant }),
  get('/billing/credits/plan-grants/count', { scope: 'read', query: planGrants.planGrantListQuery, handle: planGrants.countPlanGrants }),
  get('/billing/credits/plan-grants/:plan_grant_id', { tagged: true, scope: 'read', handle: planGrants.getPlanGrant }),
  put('/billing/credits/plan-grants/:plan_grant_id', { scope: 'write', keyed: 'once', body: exactly(parsePlanGrantUpdate), handle: planGrants.changePlanGrant }),
  del('/billing/credits/plan-grants/:plan_grant_id', { scope: 'write', keyed: 'once', query: planGrants.planGrantDeleteQuery, handle: planGrants.deletePlanGrant }),
  get('/billing/credits/reservations', { scope: 'read', query: holds.holdListQuery, handle: holds.listReservations }),
  post('/billing/credits/reservations', { scope: 'write', keyed: 'reservation', journaled: true, status: 201, body: parseCreditsReserve, handle: holds.reserveCredits }),
  get('/billing/credits/reservations/count', { scope: 'read', query: holds.holdListQuery, handle: holds.countReservations }),
  get('/billing/credits/reservations/:reservation_id', { scope: 'read', handle: holds.getReservation }),
  put('/billing/credits/reservations/:reservation_id/release', { scope: 'write', keyed: 'once', journaled: true, handle: holds.releaseReservation }),
  get('/billing/credits/spend-policies', { scope: 'read', query: policies.policyListQuery, handle: policies.listPolicies }),
  post('/billing/credits/spend-policies', { scope: 'write', status: 201, body: parseSpendPolicyCreate, handle: policies.createPolicy }),
  get('/billing/credits/spend-policies/count', { scope: 'read', query: policies.policyListQuery, handle: policies.countPolicies }),
  get('/billing/credits/spend-policies/:spend_policy_id', { tagged: true, scope: 'read', handle: policies.getPolicy }),
  put('/billing/credits/spend-policies/:spend_policy_id', { scope: 'write', body: parseSpendPolicyUpdate, handle: policies.changePolicy }),
  del('/billing/credits/spend-policies/:spend_policy_id', { scope: 'write', handle: policies.deletePolicy }),
  get('/billing/credits/:credit_id', { tagged: true, scope: 'read', handle: credits.getCredit }),
  put('/billing/credits/:credit_id', { scope: 'write', body: exactly(parseCreditUpdate), handle: credits.changeCredit }),
  del('/billing/credits/:credit_id', { scope: 'write', handle: credits.deleteCredit }),
  post('/billing/customer/upsert', { scope: 'write', status: 201, body: parseBillingCustomerUpsert, handle: customers.upsertBillingCustomer }),
  del('/billing/customer/:billing_id', { scope: 'write', handle: customers.deleteBillingCustomer }),
  get('/billing/customers', { scope: 'read', query: customers.customerListQuery, handle: customers.listBillingCustomers }),
  get('/billing/customers/count', { scope: 'read', query: customers.customerListQuery, handle: customers.countBillingCustomers }),
  get('/billing/invoices', { scope: 'read', query: invoices.invoiceListQuery, handle: invoices.listInvoices }),
  post('/billing/invoices', { scope: 'write', status: 201, body: exactly(parseInvoiceUpsert), handle: invoices.upsertInvoice }),
  del('/billing/invoices/:billing_id', { scope: 'write', handle: invoices.deleteInvoice }),
  get('/billing/meter', { scope: 'read', query: invoices.meterListQuery, handle: invoices.listMeters }),
  post('/billing/meter/upsert', { scope: 'write', status: 201, body: parseMeterUpsert, handle: invoices.upsertMeter }),
  get('/billing/payment-methods', { scope: 'read', query: invoices.paymentMethodListQuery, handle: invoices.listPaymentMethods }),
  post('/billing/payment-methods', { scope: 'write', status: 201, body: parsePaymentMethodUpsert, handle: invoices.upsertPaymentMethod }),
  del('/billing/payment-methods/:billing_id', { scope: 'write', handle: invoices.deletePaymentMethod }),
  get('/billing/price', { scope: 'read', query: products.billingPriceListQuery, handle: products.listBillingPrices }),
  post('/billing/price/upsert', { scope: 'write', status: 201, body: exactly(parseBillingPriceUpsert), handle: products.upsertBillingPrice }),
  get('/billing/product/prices', { scope: 'read', query: products.billingPriceListQuery, handle: products.listBillingPrices }),
  del('/billing/product/prices/:billing_id', { scope: 'write', handle: products.deleteBillingPrice }),
  post('/billing/product/upsert', { scope: 'write', status: 201, body: parseBillingProductUpsert, handle: products.upsertBillingProduct }),
  del('/billing/product/:billing_id', { scope: 'write', handle: products.deleteBillingProduct }),
  get('/billing/products', { scope: 'read', query: products.billingProductListQuery, handle: products.listBillingProducts }),
  get('/billing/products/count', { scope: 'read', query: products.billingProductListQuery, handle: products.countBillingProducts }),
  get('/billing/profiles', { scope: 'read', query: profiles.profileListQuery, handle: profiles.listBillingProfiles }),
  put('/billing/profiles/:billing_profile_id', { scope: 'write', body: exactly(parseBillingProfileUpdate), handle: profiles.updateBillingProfile }),
  post('/billing/subscription/upsert', { scope: 'write', status: 201, body: exactly(parseBillingSubscriptionUpsert), handle: subscriptions.upsertBillingSubscription }),
  get('/catalog', { scope: 'read', limit: 'analytics', handle: catalogFile.getCatalog }),
  post('/catalog/apply', { scope: 'write', keyed: 'anew', body: parseCatalogWrite, handle: catalogFile.applyCatalog }),
  post('/catalog/diff', { scope: 'read', limit: 'analytics', safe: true, body: parseCatalogWrite, handle: catalogFile.diffCatalog }),
  get('/charges', { scope: 'read', limit: 'analytics', query: charges.chargesQuery, handle: charges.listCharges }),
  get('/companies', { scope: 'read', query: companies.companyListQuery, handle: companies.listCompanies }),
  post('/companies', { prefers: true, scope: 'write', mayLag: true, body: companyBody, handle: companies.upsertCompany }),
  get('/companies/count', { scope: 'read', query: companies.companyListQuery, handle: companies.countCompanies }),
  post('/companies/create', { prefers: true, scope: 'write', mayLag: true, status: 201, body: companyBody, handle: companies.createCompany }),
  post('/companies/delete', { scope: 'write', mayLag: true, body: parseKeysBody, handle: companies.deleteCompanyByKeys }),
  get('/companies/lookup', { scope: 'read', query: companies.companyLookupQuery, handle: companies.lookupCompany }),
  get('/companies/:company_id', { scope: 'read', query: companies.companyQuery, handle: companies.getCompany }),
  del('/companies/:company_id', { scope: 'write', mayLag: true, query: companies.companyDeleteQuery, handle: companies.deleteCompany }),
  get('/companies/:company_id/billing-details', { tagged: true, scope: 'read', handle: profiles.getBillingDetails }),
  put('/companies/:company_id/billing-details', { scope: 'write', body: parseBillingDetailsUpdate, handle: profiles.updateBillingDetails }),
  get('/companies/:company_id/charges', { scope: 'read', limit: 'analytics', query: charges.companyChargesQuery, handle: charges.getCompanyCharges }),
  post('/companies/:company_id/erase', { scope: 'admin', body: parseErasureRequest, handle: erasure.eraseCompany }),
  get('/companies/:company_id/explain', { scope: 'read', limit: 'analytics', query: companyExplainQuery, handle: explainCompany }),
  get('/companies/:company_id/export', { recorded: true, scope: 'admin', limit: 'analytics', handle: erasure.exportCompany }),
  get('/company-billing-entity', { scope: 'read', query: profiles.billingEntityQuery, handle: profiles.getBillingEntity }),
  get('/company-billing-entity-subscriptions', { scope: 'read', query: profiles.billingEntityQuery, handle: profiles.listBillingEntitySubscriptions }),
  get('/company-memberships', { scope: 'read', query: memberships.membershipListQuery, handle: memberships.listCompanyMemberships }),
  post('/company-memberships', { scope: 'write', mayLag: true, body: parseMembershipCreate, handle: memberships.getOrCreateMembership }),
  del('/company-memberships/:company_membership_id', { scope: 'write', mayLag: true, handle: memberships.deleteCompanyMembership }),
  get('/company-overrides', { scope: 'read', query: overrides.overrideListQuery, handle: overrides.listCompanyOverrides }),
  post('/company-overrides', { scope: 'write', keyed: 'once', mayLag: true, status: 201, body: exactly(parseCompanyOverrideCreate), handle: overrides.createCompanyOverride }),
  put('/company-overrides', { scope: 'write', keyed: 'once', mayLag: true, body: exactly(parseCompanyOverrideCreate), handle: overrides.putCompanyOverride }),
  get('/company-overrides/count', { scope: 'read', query: overrides.overrideListQuery, handle: overrides.countCompanyOverrides }),
  get('/company-overrides/:company_override_id', { scope: 'read', handle: overrides.getCompanyOverride }),
  post('/company-overrides/:company_override_id', { scope: 'write', keyed: 'once', mayLag: true, body: exactly(parseCompanyOverrideUpdate), handle: overrides.changeCompanyOverride }),
  put('/company-overrides/:company_override_id', { scope: 'write', keyed: 'once', mayLag: true, body: exactly(parseCompanyOverrideUpdate), handle: overrides.changeCompanyOverride }),
  del('/company-overrides/:company_override_id', { scope: 'write', keyed: 'once', mayLag: true, handle: overrides.deleteCompanyOverride }),
  put('/company-plans/:company_id', { scope: 'write', keyed: 'once', mayLag: true, body: parseCompanyPlansUpdate, handle: companyPlans.putCompanyPlans }),
  get('/company-subscriptions', { scope: 'read', query: subscriptions.companySubscriptionQuery, handle: subscriptions.listCompanySubscriptions }),
  post('/company-traits', { prefers: true, scope: 'write', keyed: 'once', mayLag: true, body: exactly(parseTraitUpsert), handle: companies.upsertCompanyTrait }),
  post('/console-links', { scope: 'admin', environment: 'optional', ofAccount: true, status: 201, body: parseConsoleLinkCreate, handle: members.createConsoleLink }),
  get('/costs', { scope: 'read', limit: 'analytics', query: costsQuery, handle: listCosts }),
  get('/credits-by-day', { scope: 'read', query: creditDays.creditDaysQuery, handle: creditDays.listCreditDays }),
  get('/custom-plan-billings', { scope: 'read', query: customPlanBillings.customPlanBillingListQuery, handle: customPlanBillings.listCustomPlanBillings }),
  put('/custom-plan-billings/:custom_plan_billing_id/mark-paid', { scope: 'write', keyed: 'once', mayLag: true, body: parseCustomPlanBillingPaid, handle: customPlanBillings.markPaid }),
  put('/custom-plan-billings/:custom_plan_billing_id/retry', { scope: 'write', keyed: 'once', mayLag: true, body: parseCustomPlanBillingRetry, handle: customPlanBillings.retryBilling }),
  post('/custom-plan-bundles', { scope: 'write', keyed: 'once', status: 201, body: exactly(parseCustomPlanBundleCreate), handle: bundles.createCustomPlanBundle }),
  post('/custom-plans', { scope: 'write', keyed: 'once', status: 201, body: parseCustomPlanCreate, handle: bundles.createCustomPlan }),
  get('/denied-checks', { scope: 'read', limit: 'analytics', query: overview.deniedQuery, handle: overview.listDeniedChecks }),
  get('/entity-key-definitions', { scope: 'read', query: entityKeys.keyDefinitionListQuery, handle: entityKeys.listEntityKeyDefinitions }),
  get('/entity-key-definitions/count', { scope: 'read', query: entityKeys.keyDefinitionListQuery, handle: entityKeys.countEntityKeyDefinitions }),
  del('/entity-key-definitions/:entity_key_definition_id', { scope: 'write', handle: entityKeys.deleteEntityKeyDefinition }),
  get('/entity-keys/count', { scope: 'read', query: entityKeys.entityCountQuery, handle: entityKeys.countEntityKeys }),
  get('/entity-trait-definitions', { scope: 'read', query: traits.traitListQuery, handle: traits.listTraitDefinitions }),
  post('/entity-trait-definitions', { scope: 'write', body: parseTraitDefinitionCreate, handle: traits.getOrCreateTraitDefinition }),
  get('/entity-trait-definitions/count', { scope: 'read', query: traits.traitListQuery, handle: traits.countTraitDefinitions }),
  get('/entity-trait-definitions/:entity_trait_definition_id', { tagged: true, scope: 'read', handle: traits.getTraitDefinition }),
  put('/entity-trait-definitions/:entity_trait_definition_id', { scope: 'write', body: parseTraitDefinitionUpdate, handle: traits.updateTraitDefinition }),
  del('/entity-trait-definitions/:entity_trait_definition_id', { scope: 'write', handle: traits.deleteTraitDefinition }),
  get('/entity-trait-definitions/:entity_trait_definition_id/usage', { scope: 'read', handle: traits.getTraitDefinitionUsage }),
  get('/entity-trait-values', { scope: 'read', query: entityKeys.traitValueListQuery, handle: entityKeys.listEntityTraitValues }),
  get('/entity-traits/count', { scope: 'read', query: entityKeys.entityCountQuery, handle: entityKeys.countEntityTraits }),
  get('/environments', { scope: 'admin', environment: 'optional', query: environments.environmentListQuery, handle: environments.listEnvironments }),
  post('/environments', { scope: 'admin', environment: 'optional', ofAccount: true, status: 201, body: parseEnvironmentCreate, handle: environments.createEnvironment }),
  get('/environments/:environment_id', { scope: 'admin', environment: 'optional', handle: environments.getEnvironment }),
  put('/environments/:environment_id', { scope: 'admin', environment: 'optional', body: parseEnvironmentUpdate, handle: environments.changeEnvironment }),
  del('/environments/:environment_id', { scope: 'admin', environment: 'optional', handle: environments.removeEnvironment }),
  get('/environments/:environment_id/clock', { scope: 'admin', environment: 'optional', handle: environments.getClock }),
  put('/environments/:environment_id/clock', { scope: 'admin', environment: 'optional', body: parseClockUpdate, handle: environments.setClock }),
  del('/environments/:environment_id/clock', { scope: 'admin', environment: 'optional', handle: environments.removeClock }),
  get('/environments/:environment_id/context-secret', { recorded: true, scope: 'admin', environment: 'optional', handle: signedContexts.getContextSecret }),
  post('/environments/:environment_id/context-secret', { scope: 'admin', environment: 'optional', body: parseContextSecretRoll, handle: signedContexts.rollContextSecret }),
  get('/erasures', { scope: 'admin', query: erasure.erasureListQuery, handle: erasure.listErasures }),
  post('/event-batch', { scope: 'capture', limit: 'ingest', status: 201, raw: 'batch', query: events.batchQuery, handle: events.createEventBatch }),
  get('/event-types', { scope: 'read', query: stored.eventTypesQuery, handle: stored.listEventTypes }),
  get('/events', { scope: 'read', limit: 'analytics', query: stored.eventListQuery, handle: stored.listEvents }),
  post('/events', { scope: 'capture', limit: 'ingest', status: 201, raw: 'one', handle: events.createEvent }),
  get('/events/count', { scope: 'read', limit: 'analytics', query: stored.eventListQuery, handle: stored.countEvents }),
  get('/events/:event_id', { scope: 'read', handle: stored.getEvent }),
  get('/export/charges', { recorded: true, scope: 'admin', limit: 'analytics', query: exportChargesQuery, handle: exportCharges }),
  get('/export/events', { recorded: true, scope: 'admin', limit: 'analytics', query: exported.exportQuery, handle: exported.exportEvents }),
  get('/export/ledger', { recorded: true, scope: 'admin', limit: 'analytics', query: exported.exportQuery, handle: exported.exportLedger }),
  get('/export/usage', { recorded: true, scope: 'admin', limit: 'analytics', query: exported.exportQuery, handle: exported.exportUsage }),
  get('/feature-companies', { scope: 'read', query: usage.entitledQuery, handle: usage.listFeatureCompanies }),
  get('/feature-companies/count', { scope: 'read', query: usage.entitledQuery, handle: usage.countFeatureCompanies }),
  get('/feature-usage', { scope: 'read', query: usage.featureUsageQuery, handle: usage.listFeatureUsage }),
  get('/feature-usage-history', { scope: 'read', limit: 'analytics', query: usage.historyQuery, handle: usage.listFeatureUsageHistory }),
  get('/feature-usage-timeseries', { scope: 'read', limit: 'analytics', query: usage.timeSeriesQuery, handle: usage.getFeatureUsageTimeSeries }),
  get('/feature-usage/count', { scope: 'read', query: usage.featureUsageQuery, handle: usage.countFeatureUsage }),
  get('/feature-users', { scope: 'read', query: usage.entitledQuery, handle: usage.listFeatureUsers }),
  get('/feature-users/count', { scope: 'read', query: usage.entitledQuery, handle: usage.countFeatureUsers }),
  get('/features', { scope: 'read', environment: 'optional', query: features.featureListQuery, handle: features.listFeatures }),
  post('/features', { scope: 'write', environment: 'optional', status: 201, body: filled(parseFeatureCreate, defaults.ofFeature), handle: features.createFeature }),
  post('/features/billing-linked', { scope: 'write', environment: 'optional', status: 201, body: parseBillingLinkedFeatureCreate, handle: features.putBillingLinkedFeature }),
  get('/features/count', { scope: 'read', environment: 'optional', query: features.featureListQuery, handle: features.countFeatures }),
  get('/features/:feature_id', { tagged: true, scope: 'read', environment: 'optional', handle: features.getFeature }),
  put('/features/:feature_id', { scope: 'write', environment: 'optional', body: parseFeatureUpdate, handle: features.changeFeature }),
  del('/features/:feature_id', { scope: 'write', environment: 'optional', handle: features.deleteFeature }),
  get('/flag-checks', { scope: 'read', limit: 'analytics', query: overview.flagChecksQuery, handle: overview.listFlagChecks }),
  get('/flags', { scope: 'read', environment: 'optional', query: flags.flagListQuery, handle: flags.listFlags }),
  post('/flags', { scope: 'write', environment: 'optional', status: 201, body: filled(parseFlagWrite, defaults.ofFlag), handle: flags.createFlag }),
  post('/flags/check', { scope: 'check', limit: 'check', status: 201, body: checkBody, handle: checks.checkFlags }),
  post('/flags/check-bulk', { scope: 'check', limit: 'check', status: 201, body: parseCheckBulk, handle: checks.checkFlagsBulk }),
  get('/flags/count', { scope: 'read', environment: 'optional', query: flags.flagListQuery, handle: flags.countFlags }),
  get('/flags/:flag_id', { tagged: true, scope: 'read', environment: 'optional', handle: flags.getFlag }),
  put('/flags/:flag_id', { scope: 'write', environment: 'optional', body: parseFlagUpdate, handle: flags.changeFlag }),
  del('/flags/:flag_id', { scope: 'write', environment: 'optional', handle: flags.deleteFlag }),
  put('/flags/:flag_id/rules', { of: '/flags/:flag_id', scope: 'write', body: exactly(parseRulesUpdate), handle: flags.putRules }),
  post('/flags/:key/check', { scope: 'check', limit: 'check', body: checkBody, handle: checks.checkFlag }),
  post('/flags/:key/check-and-reserve', { scope: 'write', keyed: 'reservation', journaled: true, body: exactly(parseCheckAndReserve), handle: checks.checkAndReserveFlag }),
  post('/flags/:key/explain', { scope: 'read', limit: 'read', body: exactly(parseExplain, ({ preflight }) => preflight), handle: explainFlag }),
  get('/licenses', { scope: 'read', environment: 'optional', query: licenses.licenseListQuery, handle: licenses.listLicenses }),
  get('/licenses/count', { scope: 'read', environment: 'optional', query: licenses.licenseListQuery, handle: licenses.countLicenses }),
  get('/licenses/:license_id', { scope: 'read', environment: 'optional', handle: licenses.getLicense }),
  get('/limits', { tagged: true, scope: 'admin', environment: 'optional', ofAccount: true, neverLimited: true, handle: limits.getLimits }),
  put('/limits', { scope: 'admin', environment: 'optional', ofAccount: true, neverLimited: true, body: parseLimitsUpdate, handle: limits.setLimits }),
  post('/manage-plan', { scope: 'write', keyed: 'once', mayLag: true, body: parseManagePlanRequest, handle: onCompany(managing.managePlan, 'made') }),
  post('/manage-plan/preview', { scope: 'read', safe: true, body: parseManagePlanRequest, handle: onCompany(managing.previewManagePlan, 'known') }),
  post('/manage-plan/subscription/cancel', { scope: 'write', keyed: 'once', mayLag: true, body: parseSubscriptionCancel, handle: managing.cancelSubscription }),
  get('/model-prices', { tagged: true, scope: 'read', environment: 'optional', handle: modelPrices.listModelPrices }),
  put('/model-prices', { scope: 'admin', environment: 'optional', ofAccount: true, body: parseModelPrices, handle: modelPrices.putModelPrices }),
  post('/ofrep/v1/evaluate/flags', { scope: 'check', limit: 'check', raw: 'one', protocol: 'ofrep', handle: ofrep.evaluateFlags }),
  post('/ofrep/v1/evaluate/flags/:key', { scope: 'check', limit: 'check', raw: 'one', protocol: 'ofrep', handle: ofrep.evaluateFlag }),
  post('/plan-bundles', { scope: 'write', seenEverywhere: true, keyed: 'once', status: 201, body: exactly(parsePlanBundleCreate), handle: bundles.createPlanBundle }),
  put('/plan-bundles/:plan_id', { of: '/plans/:plan_id', scope: 'write', keyed: 'once', body: exactly(parsePlanBundleUpdate), handle: bundles.updatePlanBundle }),
  get('/plan-changes', { scope: 'read', query: planChanges.planChangeListQuery, handle: planChanges.listPlanChanges }),
  get('/plan-changes/:plan_change_id', { scope: 'read', handle: planChanges.getPlanChange }),
  get('/plan-entitlements', { scope: 'read', query: entitlements.entitlementListQuery, handle: entitlements.listPlanEntitlements }),
  post('/plan-entitlements', { scope: 'write', status: 201, body: exactly(parsePlanEntitlementCreate), handle: entitlements.createPlanEntitlement }),
  post('/plan-entitlements/billing-linked', { scope: 'write', status: 201, body: exactly(parseBillingLinkedEntitlementCreate), handle: entitlements.putBillingLinkedEntitlement }),
  get('/plan-entitlements/count', { scope: 'read', query: entitlements.entitlementListQuery, handle: entitlements.countPlanEntitlements }),
  post('/plan-entitlements/duplicate', { scope: 'write', status: 201, body: parseEntitlementsDuplicate, handle: entitlements.duplicatePlanEntitlements }),
  get('/plan-entitlements/:plan_entitlement_id', { tagged: true, scope: 'read', handle: entitlements.getPlanEntitlement }),
  put('/plan-entitlements/:plan_entitlement_id', { scope: 'write', body: exactly(parsePlanEntitlementUpdate), handle: entitlements.changePlanEntitlement }),
  del('/plan-entitlements/:plan_entitlement_id', { scope: 'write', handle: entitlements.deletePlanEntitlement }),
  get('/plan-groups', { tagged: true, scope: 'read', query: planGroups.planGroupQuery, handle: planGroups.getPlanGroup }),
  post('/plan-groups', { scope: 'write', status: 201, body: filled(parsePlanGroupWrite, defaults.ofPlanGroup), handle: planGroups.createPlanGroup }),
  put('/plan-groups/:plan_group_id', { of: '/plan-groups', scope: 'write', body: parsePlanGroupUpdate, handle: planGroups.changePlanGroup }),
  get('/plan-moves', { scope: 'read', query: moves.moveListQuery, handle: moves.listPlanMoves }),
  post('/plan-moves', { scope: 'write', keyed: 'once', status: 201, body: filled(parsePlanMoveCreate, defaults.ofMove), handle: moves.createPlanMove }),
  get('/plan-moves/count', { scope: 'read', query: moves.moveListQuery, handle: moves.countPlanMoves }),
  post('/plan-moves/preview', { scope: 'read', safe: true, query: previewQuery, body: filled(parsePlanMoveCreate, defaults.ofMove), handle: moves.previewPlanMove }),
  get('/plan-moves/:plan_move_id', { scope: 'read', handle: moves.getPlanMove }),
  post('/plan-moves/:plan_move_id/cancel', { scope: 'write', keyed: 'once', handle: moves.cancelPlanMove }),
  get('/plan-moves/:plan_move_id/companies', { scope: 'read', query: moves.moveCompaniesQuery, handle: moves.listPlanMoveCompanies }),
  post('/plan-moves/:plan_move_id/pause', { scope: 'write', keyed: 'once', handle: moves.pausePlanMove }),
  post('/plan-moves/:plan_move_id/resume', { scope: 'write', keyed: 'once', handle: moves.resumePlanMove }),
  post('/plan-moves/:plan_move_id/retry', { scope: 'write', keyed: 'once', body: parsePlanMoveRetry, handle: moves.retryPlanMove }),
  post('/plan-moves/:plan_move_id/revert', { scope: 'write', keyed: 'once', status: 201, handle: moves.revertPlanMove }),
  get('/plan-version-company-migrations', { scope: 'read', query: migrations.companyMigrationListQuery, handle: migrations.listCompanyMigrations }),
  get('/plan-version-company-migrations/count', { scope: 'read', query: migrations.companyMigrationListQuery, handle: migrations.countCompanyMigrations }),
  post('/plan-version-company-migrations/:plan_version_company_migration_id/retry', { scope: 'write', keyed: 'once', handle: migrations.retryCompanyMigration }),
  get('/plan-version-migrations', { scope: 'read', query: migrations.migrationListQuery, handle: migrations.listMigrations }),
  post('/plan-version-migrations', { scope: 'write', keyed: 'once', status: 201, body: filled(parseMigrationCreate, defaults.ofMigration), handle: migrations.createMigration }),
  get('/plan-version-migrations/count', { scope: 'read', query: migrations.migrationListQuery, handle: migrations.countMigrations }),
  post('/plan-version-migrations/preview', { scope: 'read', safe: true, query: previewQuery, body: parseMigrationPreviewRequest, handle: migrations.previewMigration }),
  get('/plan-version-migrations/:plan_version_migration_id', { scope: 'read', handle: migrations.getMigration }),
  post('/plan-version-migrations/:plan_version_migration_id/cancel', { scope: 'write', keyed: 'once', handle: migrations.cancelMigration }),
  post('/plan-version-migrations/:plan_version_migration_id/complete-now', { scope: 'write', keyed: 'once', body: parseMigrationCompleteNow, handle: migrations.completeMigrationNow }),
  post('/plan-version-migrations/:plan_version_migration_id/pause', { scope: 'write', keyed: 'once', handle: migrations.pauseMigration }),
  post('/plan-version-migrations/:plan_version_migration_id/resume', { scope: 'write', keyed: 'once', handle: migrations.resumeMigration }),
  post('/plan-version-migrations/:plan_version_migration_id/retry', { scope: 'write', keyed: 'once', body: parseMigrationRetry, handle: migrations.retryMigration }),
  post('/plan-version-migrations/:plan_version_migration_id/revert', { scope: 'write', keyed: 'once', status: 201, handle: moves.revertMigration }),
  get('/plans', { scope: 'read', query: plans.planListQuery, handle: plans.listPlans }),
  post('/plans', { scope: 'write', seenEverywhere: true, keyed: 'once', status: 201, body: exactly(parsePlanCreate), handle: createPlan }),
  post('/plans/billing-linked', { scope: 'write', seenEverywhere: true, status: 201, body: exactly(parseBillingLinkedPlanCreate), handle: plans.putBillingLinkedPlan }),
  get('/plans/billing-product-match-companies', { scope: 'read', query: productMatch.productMatchQuery, handle: productMatch.listMatches }),
  get('/plans/billing-product-match-companies/count', { scope: 'read', query: productMatch.productMatchQuery, handle: productMatch.countMatches }),
  get('/plans/count', { scope: 'read', query: plans.planListQuery, handle: plans.countPlans }),
  get('/plans/issues', { scope: 'read', query: plans.planIssuesQuery, handle: plans.listPlanIssues }),
  del('/plans/version/:plan_version_id', { scope: 'write', query: plans.versionDeleteQuery, handle: plans.deleteVersion }),
  put('/plans/version/:plan_version_id/publish', { scope: 'write', keyed: 'once', mayLag: true, body: filled(parsePlanPublish, defaults.ofPublish), handle: publishing.publisher(customPlanFlow) }),
  get('/plans/:plan_id', { tagged: true, scope: 'read', environment: 'optional', query: plans.planGetQuery, handle: plans.getPlan }),
  put('/plans/:plan_id', { scope: 'write', body: parsePlanUpdate, handle: plans.changePlan }),
  del('/plans/:plan_id', { scope: 'write', environment: 'optional', handle: plans.deletePlan }),
  put('/plans/:plan_id/billing_products', { of: '/plans/:plan_id', scope: 'write', body: exactly(parseBillingProductUpdate), handle: plans.putBillingProduct }),
  get('/plans/:plan_id/draft-diff', { scope: 'read', handle: plans.getDraftDiff }),
  get('/portal', { scope: 'portal', query: portal.portalQuery, handle: portal.getPortal }),
  get('/reconcile', { scope: 'admin', limit: 'analytics', query: reconciling.reconcileQuery, handle: reconciling.reconcile }),
  get('/search', { scope: 'read', query: searching.searchQuery, handle: searching.search }),
  post('/signed-contexts', { scope: 'write', status: 201, body: contextBody, handle: signedContexts.createSignedContext }),
  put('/subscription/:subscription_id/edit-trial-end', { scope: 'write', keyed: 'once', body: parseTrialEndUpdate, handle: trialEnd.editTrialEnd }),
  get('/system', { scope: 'admin', environment: 'optional', ofAccount: true, handle: system.getSystem }),
  post('/temporary-access-tokens', { scope: 'admin', status: 201, body: parseTemporaryAccessTokenCreate, handle: portal.createTemporaryAccessToken }),
  get('/top-companies', { scope: 'read', limit: 'analytics', query: overview.topCompaniesQuery, handle: overview.listTopCompanies }),
  get('/usage-by-company', { scope: 'read', query: usage.usageByCompanyQuery, handle: usage.getUsageByCompany }),
  get('/usage-by-day', { scope: 'read', limit: 'analytics', query: overview.usageByDayQuery, handle: overview.getUsageByDay }),
  post('/user-traits', { prefers: true, scope: 'write', keyed: 'once', mayLag: true, body: exactly(parseTraitUpsert), handle: users.upsertUserTrait }),
  get('/user-usage-by-company', { scope: 'read', limit: 'analytics', query: usage.userUsageByCompanyQuery, handle: usage.getUserUsageByCompany }),
  get('/user-usage-detail', { scope: 'read', limit: 'analytics', query: usage.userUsageDetailQuery, handle: usage.getUserUsageDetail }),
  get('/users', { scope: 'read', query: users.userListQuery, handle: users.listUsers }),
  post('/users', { prefers: true, scope: 'write', mayLag: true, body: userBody, handle: users.upsertUser }),
  get('/users/count', { scope: 'read', query: users.userListQuery, handle: users.countUsers }),
  post('/users/create', { prefers: true, scope: 'write', mayLag: true, status: 201, body: userBody, handle: users.createUser }),
  post('/users/delete', { scope: 'write', mayLag: true, body: parseKeysBody, handle: users.deleteUserByKeys }),
  get('/users/lookup', { scope: 'read', query: users.userLookupQuery, handle: users.lookupUser }),
  get('/users/:user_id', { scope: 'read', handle: users.getUser }),
  del('/users/:user_id', { scope: 'write', mayLag: true, handle: users.deleteUser }),
  post('/users/:user_id/erase', { scope: 'admin', body: parseErasureRequest, handle: erasure.eraseUser }),
  get('/users/:user_id/export', { recorded: true, scope: 'admin', limit: 'analytics', handle: erasure.exportUser }),
  get('/webhook-events', { scope: 'read', query: webhooks.webhookEventListQuery, handle: webhooks.listWebhookEvents }),
  get('/webhook-events/count', { scope: 'read', query: webhooks.webhookEventListQuery, handle: webhooks.countWebhookEvents }),
  get('/webhook-events/:webhook_event_id', { scope: 'read', handle: webhooks.getWebhookEvent }),
  post('/webhook-events/:webhook_event_id/redeliver', { scope: 'write', handle: webhooks.redeliverEvent }),
  get('/webhooks', { recorded: true, scope: 'read', query: webhooks.webhookListQuery, handle: webhooks.listWebhooks }),
  post('/webhooks', { scope: 'write', status: 201, body: parseWebhookCreate, handle: webhooks.createWebhook }),
  get('/webhooks/count', { recorded: true, scope: 'read', query: webhooks.webhookListQuery, handle: webhooks.countWebhooks }),
  get('/webhooks/:webhook_id', { tagged: true, recorded: true, scope: 'read', handle: webhooks.getWebhook }),
  put('/webhooks/:webhook_id', { scope: 'write', body: parseWebhookUpdate, handle: webhooks.updateWebhook }),
  del('/webhooks/:webhook_id', { scope: 'write', handle: webhooks.deleteWebhook }),
  post('/webhooks/:webhook_id/roll-secret', { scope: 'write', body: parseWebhookRoll, handle: webhooks.rollSecret }),
  post('/webhooks/:webhook_id/test', { scope: 'write', body: parseWebhookTest, handle: webhooks.sendTestWebhookAction }),
  get('/whoami', { scope: 'any', environment: 'optional', handle: keys.whoAmI }),
]

assertDistinct(routes)
