// Made by tools/client-types.mjs from the OpenAPI document; a test holds the two together.
export interface paths {
  "/account-members": {
    parameters: {};
    get: operations["listAccountMembers"];
    post: operations["createAccountMember"];
  };
  "/account-members/{account_member_id}": {
    parameters: {};
    get: operations["getAccountMember"];
    put: operations["updateAccountMember"];
    delete: operations["deleteAccountMember"];
  };
  "/account-members/{account_member_id}/sign-in-link": {
    parameters: {};
    post: operations["createSignInLink"];
  };
  "/account-members/count": {
    parameters: {};
    get: operations["countAccountMembers"];
  };
  "/api-keys": {
    parameters: {};
    get: operations["listApiKeys"];
    post: operations["createApiKey"];
  };
  "/api-keys/{api_key_id}": {
    parameters: {};
    get: operations["getApiKey"];
    put: operations["updateApiKey"];
    delete: operations["deleteApiKey"];
  };
  "/api-keys/{api_key_id}/roll": {
    parameters: {};
    post: operations["rollApiKey"];
  };
  "/api-keys/count": {
    parameters: {};
    get: operations["countApiKeys"];
  };
  "/audit-log": {
    parameters: {};
    get: operations["listAuditLogs"];
  };
  "/audit-log/{audit_log_id}": {
    parameters: {};
    get: operations["getAuditLog"];
  };
  "/audit-log/chain": {
    parameters: {};
    get: operations["listAuditChain"];
  };
  "/audit-log/count": {
    parameters: {};
    get: operations["countAuditLogs"];
  };
  "/audit-log/head": {
    parameters: {};
    get: operations["getAuditHead"];
  };
  "/batch": {
    parameters: {};
    post: operations["collectEvents"];
  };
  "/billing/coupons": {
    parameters: {};
    get: operations["listCoupons"];
    post: operations["upsertBillingCoupon"];
  };
  "/billing/coupons/{billing_id}": {
    parameters: {};
    delete: operations["deleteBillingCoupon"];
  };
  "/billing/credits": {
    parameters: {};
    get: operations["listBillingCredits"];
    post: operations["createBillingCredit"];
  };
  "/billing/credits/{credit_id}": {
    parameters: {};
    get: operations["getSingleBillingCredit"];
    put: operations["updateBillingCredit"];
    delete: operations["softDeleteBillingCredit"];
  };
  "/billing/credits/balance": {
    parameters: {};
    get: operations["listCompanyCreditBalances"];
  };
  "/billing/credits/bundles": {
    parameters: {};
    get: operations["listCreditBundles"];
    post: operations["createCreditBundle"];
  };
  "/billing/credits/bundles/{bundle_id}": {
    parameters: {};
    get: operations["getCreditBundle"];
    put: operations["updateCreditBundleDetails"];
    delete: operations["deleteCreditBundle"];
  };
  "/billing/credits/bundles/count": {
    parameters: {};
    get: operations["countCreditBundles"];
  };
  "/billing/credits/count": {
    parameters: {};
    get: operations["countBillingCredits"];
  };
  "/billing/credits/grants/{grant_id}/zero-out": {
    parameters: {};
    put: operations["zeroOutGrant"];
  };
  "/billing/credits/grants/company": {
    parameters: {};
    post: operations["grantBillingCreditsToCompany"];
  };
  "/billing/credits/grants/company/count": {
    parameters: {};
    get: operations["countCompanyGrants"];
  };
  "/billing/credits/grants/company/list": {
    parameters: {};
    get: operations["listCompanyGrants"];
  };
  "/billing/credits/grants/count": {
    parameters: {};
    get: operations["countBillingCreditsGrants"];
  };
  "/billing/credits/grants/list": {
    parameters: {};
    get: operations["listGrantsForCredit"];
  };
  "/billing/credits/lease": {
    parameters: {};
    get: operations["listCreditLeases"];
    post: operations["acquireCreditLease"];
  };
  "/billing/credits/lease/{lease_id}": {
    parameters: {};
    get: operations["getCreditLease"];
  };
  "/billing/credits/lease/{lease_id}/extend": {
    parameters: {};
    put: operations["extendCreditLease"];
  };
  "/billing/credits/lease/{lease_id}/release": {
    parameters: {};
    put: operations["releaseCreditLease"];
  };
  "/billing/credits/lease/count": {
    parameters: {};
    get: operations["countCreditLeases"];
  };
  "/billing/credits/ledger": {
    parameters: {};
    get: operations["getCreditLedger"];
  };
  "/billing/credits/plan-grants": {
    parameters: {};
    get: operations["listBillingPlanCreditGrants"];
    post: operations["createBillingPlanCreditGrant"];
  };
  "/billing/credits/plan-grants/{plan_grant_id}": {
    parameters: {};
    get: operations["getSingleBillingPlanCreditGrant"];
    put: operations["updateBillingPlanCreditGrant"];
    delete: operations["deleteBillingPlanCreditGrant"];
  };
  "/billing/credits/plan-grants/count": {
    parameters: {};
    get: operations["countBillingPlanCreditGrants"];
  };
  "/billing/credits/reservations": {
    parameters: {};
    get: operations["listCreditReservations"];
    post: operations["reserveCredits"];
  };
  "/billing/credits/reservations/{reservation_id}": {
    parameters: {};
    get: operations["getCreditReservation"];
  };
  "/billing/credits/reservations/{reservation_id}/release": {
    parameters: {};
    put: operations["releaseCreditReservation"];
  };
  "/billing/credits/reservations/count": {
    parameters: {};
    get: operations["countCreditReservations"];
  };
  "/billing/credits/spend-policies": {
    parameters: {};
    get: operations["listCreditSpendPolicies"];
    post: operations["createCreditSpendPolicy"];
  };
  "/billing/credits/spend-policies/{spend_policy_id}": {
    parameters: {};
    get: operations["getCreditSpendPolicy"];
    put: operations["updateCreditSpendPolicy"];
    delete: operations["deleteCreditSpendPolicy"];
  };
  "/billing/credits/spend-policies/count": {
    parameters: {};
    get: operations["countCreditSpendPolicies"];
  };
  "/billing/customer/{billing_id}": {
    parameters: {};
    delete: operations["deleteBillingCustomer"];
  };
  "/billing/customer/upsert": {
    parameters: {};
    post: operations["upsertBillingCustomer"];
  };
  "/billing/customers": {
    parameters: {};
    get: operations["listCustomersWithSubscriptions"];
  };
  "/billing/customers/count": {
    parameters: {};
    get: operations["countCustomers"];
  };
  "/billing/invoices": {
    parameters: {};
    get: operations["listInvoices"];
    post: operations["upsertInvoice"];
  };
  "/billing/invoices/{billing_id}": {
    parameters: {};
    delete: operations["deleteBillingInvoice"];
  };
  "/billing/meter": {
    parameters: {};
    get: operations["listMeters"];
  };
  "/billing/meter/upsert": {
    parameters: {};
    post: operations["upsertBillingMeter"];
  };
  "/billing/payment-methods": {
    parameters: {};
    get: operations["listPaymentMethods"];
    post: operations["upsertPaymentMethod"];
  };
  "/billing/payment-methods/{billing_id}": {
    parameters: {};
    delete: operations["deletePaymentMethodByExternalId"];
  };
  "/billing/price": {
    parameters: {};
    get: operations["listBillingPrices"];
  };
  "/billing/price/upsert": {
    parameters: {};
    post: operations["upsertBillingPrice"];
  };
  "/billing/product/{billing_id}": {
    parameters: {};
    delete: operations["deleteBillingProduct"];
  };
  "/billing/product/prices": {
    parameters: {};
    get: operations["listBillingProductPrices"];
  };
  "/billing/product/prices/{billing_id}": {
    parameters: {};
    delete: operations["deleteProductPrice"];
  };
  "/billing/product/upsert": {
    parameters: {};
    post: operations["upsertBillingProduct"];
  };
  "/billing/products": {
    parameters: {};
    get: operations["listBillingProducts"];
  };
  "/billing/products/count": {
    parameters: {};
    get: operations["countBillingProducts"];
  };
  "/billing/profiles": {
    parameters: {};
    get: operations["listCompanyBillingProfiles"];
  };
  "/billing/profiles/{billing_profile_id}": {
    parameters: {};
    put: operations["updateCompanyBillingProfile"];
  };
  "/billing/subscription/upsert": {
    parameters: {};
    post: operations["upsertBillingSubscription"];
  };
  "/catalog": {
    parameters: {};
    get: operations["getCatalog"];
  };
  "/catalog.schema.json": {
    parameters: {};
    get: operations["getCatalogSchema"];
  };
  "/catalog/apply": {
    parameters: {};
    post: operations["applyCatalog"];
  };
  "/catalog/diff": {
    parameters: {};
    post: operations["diffCatalog"];
  };
  "/charges": {
    parameters: {};
    get: operations["listCharges"];
  };
  "/companies": {
    parameters: {};
    get: operations["listCompanies"];
    post: operations["upsertCompany"];
  };
  "/companies/{company_id}": {
    parameters: {};
    get: operations["getCompany"];
    delete: operations["deleteCompany"];
  };
  "/companies/{company_id}/billing-details": {
    parameters: {};
    get: operations["getCompanyBillingDetails"];
    put: operations["updateCompanyBillingDetails"];
  };
  "/companies/{company_id}/charges": {
    parameters: {};
    get: operations["getCompanyCharges"];
  };
  "/companies/{company_id}/erase": {
    parameters: {};
    post: operations["eraseCompany"];
  };
  "/companies/{company_id}/explain": {
    parameters: {};
    get: operations["explainCompany"];
  };
  "/companies/{company_id}/export": {
    parameters: {};
    get: operations["exportCompany"];
  };
  "/companies/count": {
    parameters: {};
    get: operations["countCompanies"];
  };
  "/companies/create": {
    parameters: {};
    post: operations["createCompany"];
  };
  "/companies/delete": {
    parameters: {};
    post: operations["deleteCompanyByKeys"];
  };
  "/companies/lookup": {
    parameters: {};
    get: operations["lookupCompany"];
  };
  "/company-billing-entity": {
    parameters: {};
    get: operations["getCompanyBillingEntity"];
  };
  "/company-billing-entity-subscriptions": {
    parameters: {};
    get: operations["getBillingEntityChildSubscriptions"];
  };
  "/company-memberships": {
    parameters: {};
    get: operations["listCompanyMemberships"];
    post: operations["getOrCreateCompanyMembership"];
  };
  "/company-memberships/{company_membership_id}": {
    parameters: {};
    delete: operations["deleteCompanyMembership"];
  };
  "/company-overrides": {
    parameters: {};
    get: operations["listCompanyOverrides"];
    put: operations["putCompanyOverride"];
    post: operations["createCompanyOverride"];
  };
  "/company-overrides/{company_override_id}": {
    parameters: {};
    get: operations["getCompanyOverride"];
    put: operations["updateCompanyOverride"];
    post: operations["replaceCompanyOverride"];
    delete: operations["deleteCompanyOverride"];
  };
  "/company-overrides/count": {
    parameters: {};
    get: operations["countCompanyOverrides"];
  };
  "/company-plans/{company_id}": {
    parameters: {};
    put: operations["updateCompanyPlans"];
  };
  "/company-subscriptions": {
    parameters: {};
    get: operations["getActiveCompanySubscription"];
  };
  "/company-traits": {
    parameters: {};
    post: operations["upsertCompanyTrait"];
  };
  "/console-links": {
    parameters: {};
    post: operations["createConsoleLink"];
  };
  "/costs": {
    parameters: {};
    get: operations["listCosts"];
  };
  "/credits-by-day": {
    parameters: {};
    get: operations["listCreditDays"];
  };
  "/custom-plan-billings": {
    parameters: {};
    get: operations["listCustomPlanBillings"];
  };
  "/custom-plan-billings/{custom_plan_billing_id}/mark-paid": {
    parameters: {};
    put: operations["markCustomPlanBillingPaid"];
  };
  "/custom-plan-billings/{custom_plan_billing_id}/retry": {
    parameters: {};
    put: operations["retryCustomPlanBilling"];
  };
  "/custom-plan-bundles": {
    parameters: {};
    post: operations["createCustomPlanBundle"];
  };
  "/custom-plans": {
    parameters: {};
    post: operations["createCustomPlan"];
  };
  "/datastream": {
    parameters: {};
    get: operations["openDatastream"];
  };
  "/denied-checks": {
    parameters: {};
    get: operations["listDeniedChecks"];
  };
  "/entity-key-definitions": {
    parameters: {};
    get: operations["listEntityKeyDefinitions"];
  };
  "/entity-key-definitions/{entity_key_definition_id}": {
    parameters: {};
    delete: operations["deleteEntityKeyDefinition"];
  };
  "/entity-key-definitions/count": {
    parameters: {};
    get: operations["countEntityKeyDefinitions"];
  };
  "/entity-keys/count": {
    parameters: {};
    get: operations["countEntityKeys"];
  };
  "/entity-trait-definitions": {
    parameters: {};
    get: operations["listEntityTraitDefinitions"];
    post: operations["getOrCreateEntityTraitDefinition"];
  };
  "/entity-trait-definitions/{entity_trait_definition_id}": {
    parameters: {};
    get: operations["getEntityTraitDefinition"];
    put: operations["updateEntityTraitDefinition"];
    delete: operations["deleteEntityTraitDefinition"];
  };
  "/entity-trait-definitions/{entity_trait_definition_id}/usage": {
    parameters: {};
    get: operations["getEntityTraitDefinitionUsage"];
  };
  "/entity-trait-definitions/count": {
    parameters: {};
    get: operations["countEntityTraitDefinitions"];
  };
  "/entity-trait-values": {
    parameters: {};
    get: operations["getEntityTraitValues"];
  };
  "/entity-traits/count": {
    parameters: {};
    get: operations["countEntityTraits"];
  };
  "/environments": {
    parameters: {};
    get: operations["listEnvironments"];
    post: operations["createEnvironment"];
  };
  "/environments/{environment_id}": {
    parameters: {};
    get: operations["getEnvironment"];
    put: operations["updateEnvironment"];
    delete: operations["deleteEnvironment"];
  };
  "/environments/{environment_id}/clock": {
    parameters: {};
    get: operations["getEnvironmentClock"];
    put: operations["setEnvironmentClock"];
    delete: operations["deleteEnvironmentClock"];
  };
  "/environments/{environment_id}/context-secret": {
    parameters: {};
    get: operations["getContextSecret"];
    post: operations["rollContextSecret"];
  };
  "/erasures": {
    parameters: {};
    get: operations["listErasures"];
  };
  "/event-batch": {
    parameters: {};
    post: operations["createEventBatch"];
  };
  "/event-types": {
    parameters: {};
    get: operations["getEventSummaries"];
  };
  "/events": {
    parameters: {};
    get: operations["listEvents"];
    post: operations["createEvent"];
  };
  "/events/{event_id}": {
    parameters: {};
    get: operations["getEvent"];
  };
  "/events/count": {
    parameters: {};
    get: operations["countEvents"];
  };
  "/export/charges": {
    parameters: {};
    get: operations["exportCharges"];
  };
  "/export/events": {
    parameters: {};
    get: operations["exportEvents"];
  };
  "/export/ledger": {
    parameters: {};
    get: operations["exportLedger"];
  };
  "/export/usage": {
    parameters: {};
    get: operations["exportUsage"];
  };
  "/feature-companies": {
    parameters: {};
    get: operations["listFeatureCompanies"];
  };
  "/feature-companies/count": {
    parameters: {};
    get: operations["countFeatureCompanies"];
  };
  "/feature-usage": {
    parameters: {};
    get: operations["listFeatureUsage"];
  };
  "/feature-usage-history": {
    parameters: {};
    get: operations["listFeatureUsageHistory"];
  };
  "/feature-usage-timeseries": {
    parameters: {};
    get: operations["getFeatureUsageTimeSeries"];
  };
  "/feature-usage/count": {
    parameters: {};
    get: operations["countFeatureUsage"];
  };
  "/feature-users": {
    parameters: {};
    get: operations["listFeatureUsers"];
  };
  "/feature-users/count": {
    parameters: {};
    get: operations["countFeatureUsers"];
  };
  "/features": {
    parameters: {};
    get: operations["listFeatures"];
    post: operations["createFeature"];
  };
  "/features/{feature_id}": {
    parameters: {};
    get: operations["getFeature"];
    put: operations["updateFeature"];
    delete: operations["deleteFeature"];
  };
  "/features/billing-linked": {
    parameters: {};
    post: operations["upsertFeatureForBillingProduct"];
  };
  "/features/count": {
    parameters: {};
    get: operations["countFeatures"];
  };
  "/flag-checks": {
    parameters: {};
    get: operations["listFlagChecks"];
  };
  "/flags": {
    parameters: {};
    get: operations["listFlags"];
    post: operations["createFlag"];
  };
  "/flags/{flag_id}": {
    parameters: {};
    get: operations["getFlag"];
    put: operations["updateFlag"];
    delete: operations["deleteFlag"];
  };
  "/flags/{flag_id}/rules": {
    parameters: {};
    put: operations["updateFlagRules"];
  };
  "/flags/{key}/check": {
    parameters: {};
    post: operations["checkFlag"];
  };
  "/flags/{key}/check-and-reserve": {
    parameters: {};
    post: operations["checkAndReserveFlag"];
  };
  "/flags/{key}/explain": {
    parameters: {};
    post: operations["explainFlag"];
  };
  "/flags/check": {
    parameters: {};
    post: operations["checkFlags"];
  };
  "/flags/check-bulk": {
    parameters: {};
    post: operations["checkFlagsBulk"];
  };
  "/flags/count": {
    parameters: {};
    get: operations["countFlags"];
  };
  "/health/live": {
    parameters: {};
    get: operations["getLive"];
  };
  "/health/ready": {
    parameters: {};
    get: operations["getReady"];
  };
  "/licenses": {
    parameters: {};
    get: operations["listLicenses"];
  };
  "/licenses/{license_id}": {
    parameters: {};
    get: operations["getSingleLicense"];
  };
  "/licenses/count": {
    parameters: {};
    get: operations["countLicenses"];
  };
  "/limits": {
    parameters: {};
    get: operations["getLimits"];
    put: operations["setLimits"];
  };
  "/manage-plan": {
    parameters: {};
    post: operations["managePlan"];
  };
  "/manage-plan/preview": {
    parameters: {};
    post: operations["previewManagePlan"];
  };
  "/manage-plan/subscription/cancel": {
    parameters: {};
    post: operations["cancelSubscription"];
  };
  "/metrics": {
    parameters: {};
    get: operations["getMetrics"];
  };
  "/model-prices": {
    parameters: {};
    get: operations["listModelPrices"];
    put: operations["putModelPrices"];
  };
  "/ofrep/v1/evaluate/flags": {
    parameters: {};
    post: operations["evaluateFlags"];
  };
  "/ofrep/v1/evaluate/flags/{key}": {
    parameters: {};
    post: operations["evaluateFlag"];
  };
  "/openapi.json": {
    parameters: {};
    get: operations["getOpenApi"];
  };
  "/plan-bundles": {
    parameters: {};
    post: operations["createPlanBundle"];
  };
  "/plan-bundles/{plan_id}": {
    parameters: {};
    put: operations["updatePlanBundle"];
  };
  "/plan-changes": {
    parameters: {};
    get: operations["listPlanChanges"];
  };
  "/plan-changes/{plan_change_id}": {
    parameters: {};
    get: operations["getPlanChange"];
  };
  "/plan-entitlements": {
    parameters: {};
    get: operations["listPlanEntitlements"];
    post: operations["createPlanEntitlement"];
  };
  "/plan-entitlements/{plan_entitlement_id}": {
    parameters: {};
    get: operations["getPlanEntitlement"];
    put: operations["updatePlanEntitlement"];
    delete: operations["deletePlanEntitlement"];
  };
  "/plan-entitlements/billing-linked": {
    parameters: {};
    post: operations["upsertPlanEntitlementForBillingProduct"];
  };
  "/plan-entitlements/count": {
    parameters: {};
    get: operations["countPlanEntitlements"];
  };
  "/plan-entitlements/duplicate": {
    parameters: {};
    post: operations["duplicatePlanEntitlements"];
  };
  "/plan-groups": {
    parameters: {};
    get: operations["getPlanGroup"];
    post: operations["createPlanGroup"];
  };
  "/plan-groups/{plan_group_id}": {
    parameters: {};
    put: operations["updatePlanGroup"];
  };
  "/plan-moves": {
    parameters: {};
    get: operations["listPlanMoves"];
    post: operations["createPlanMove"];
  };
  "/plan-moves/{plan_move_id}": {
    parameters: {};
    get: operations["getPlanMove"];
  };
  "/plan-moves/{plan_move_id}/cancel": {
    parameters: {};
    post: operations["cancelPlanMove"];
  };
  "/plan-moves/{plan_move_id}/companies": {
    parameters: {};
    get: operations["listPlanMoveCompanies"];
  };
  "/plan-moves/{plan_move_id}/pause": {
    parameters: {};
    post: operations["pausePlanMove"];
  };
  "/plan-moves/{plan_move_id}/resume": {
    parameters: {};
    post: operations["resumePlanMove"];
  };
  "/plan-moves/{plan_move_id}/retry": {
    parameters: {};
    post: operations["retryPlanMove"];
  };
  "/plan-moves/{plan_move_id}/revert": {
    parameters: {};
    post: operations["revertPlanMove"];
  };
  "/plan-moves/count": {
    parameters: {};
    get: operations["countPlanMoves"];
  };
  "/plan-moves/preview": {
    parameters: {};
    post: operations["previewPlanMove"];
  };
  "/plan-version-company-migrations": {
    parameters: {};
    get: operations["listCompanyMigrations"];
  };
  "/plan-version-company-migrations/{plan_version_company_migration_id}/retry": {
    parameters: {};
    post: operations["retryCompanyMigration"];
  };
  "/plan-version-company-migrations/count": {
    parameters: {};
    get: operations["countCompanyMigrations"];
  };
  "/plan-version-migrations": {
    parameters: {};
    get: operations["listMigrations"];
    post: operations["createMigration"];
  };
  "/plan-version-migrations/{plan_version_migration_id}": {
    parameters: {};
    get: operations["getMigration"];
  };
  "/plan-version-migrations/{plan_version_migration_id}/cancel": {
    parameters: {};
    post: operations["cancelMigration"];
  };
  "/plan-version-migrations/{plan_version_migration_id}/complete-now": {
    parameters: {};
    post: operations["completeMigrationNow"];
  };
  "/plan-version-migrations/{plan_version_migration_id}/pause": {
    parameters: {};
    post: operations["pauseMigration"];
  };
  "/plan-version-migrations/{plan_version_migration_id}/resume": {
    parameters: {};
    post: operations["resumeMigration"];
  };
  "/plan-version-migrations/{plan_version_migration_id}/retry": {
    parameters: {};
    post: operations["retryMigration"];
  };
  "/plan-version-migrations/{plan_version_migration_id}/revert": {
    parameters: {};
    post: operations["revertMigration"];
  };
  "/plan-version-migrations/count": {
    parameters: {};
    get: operations["countMigrations"];
  };
  "/plan-version-migrations/preview": {
    parameters: {};
    post: operations["previewMigration"];
  };
  "/plans": {
    parameters: {};
    get: operations["listPlans"];
    post: operations["createPlan"];
  };
  "/plans/{plan_id}": {
    parameters: {};
    get: operations["getPlan"];
    put: operations["updatePlan"];
    delete: operations["deletePlan"];
  };
  "/plans/{plan_id}/billing_products": {
    parameters: {};
    put: operations["upsertBillingProductPlan"];
  };
  "/plans/{plan_id}/draft-diff": {
    parameters: {};
    get: operations["getPlanDraftDiff"];
  };
  "/plans/billing-linked": {
    parameters: {};
    post: operations["upsertPlanForBillingProduct"];
  };
  "/plans/billing-product-match-companies": {
    parameters: {};
    get: operations["listBillingProductMatchCompanies"];
  };
  "/plans/billing-product-match-companies/count": {
    parameters: {};
    get: operations["countBillingProductMatchCompanies"];
  };
  "/plans/count": {
    parameters: {};
    get: operations["countPlans"];
  };
  "/plans/issues": {
    parameters: {};
    get: operations["listPlanIssues"];
  };
  "/plans/version/{plan_version_id}": {
    parameters: {};
    delete: operations["deletePlanVersion"];
  };
  "/plans/version/{plan_version_id}/publish": {
    parameters: {};
    put: operations["publishPlanVersion"];
  };
  "/portal": {
    parameters: {};
    get: operations["getPortal"];
  };
  "/reconcile": {
    parameters: {};
    get: operations["reconcile"];
  };
  "/search": {
    parameters: {};
    get: operations["search"];
  };
  "/signed-contexts": {
    parameters: {};
    post: operations["createSignedContext"];
  };
  "/subscription/{subscription_id}/edit-trial-end": {
    parameters: {};
    put: operations["updateCustomerSubscriptionTrialEnd"];
  };
  "/system": {
    parameters: {};
    get: operations["getSystem"];
  };
  "/temporary-access-tokens": {
    parameters: {};
    post: operations["createTemporaryAccessToken"];
  };
  "/top-companies": {
    parameters: {};
    get: operations["listTopCompanies"];
  };
  "/usage-by-company": {
    parameters: {};
    get: operations["getFeatureUsageByCompany"];
  };
  "/usage-by-day": {
    parameters: {};
    get: operations["getUsageByDay"];
  };
  "/user-traits": {
    parameters: {};
    post: operations["upsertUserTrait"];
  };
  "/user-usage-by-company": {
    parameters: {};
    get: operations["getUserUsageByCompany"];
  };
  "/user-usage-detail": {
    parameters: {};
    get: operations["getUserUsageDetail"];
  };
  "/users": {
    parameters: {};
    get: operations["listUsers"];
    post: operations["upsertUser"];
  };
  "/users/{user_id}": {
    parameters: {};
    get: operations["getUser"];
    delete: operations["deleteUser"];
  };
  "/users/{user_id}/erase": {
    parameters: {};
    post: operations["eraseUser"];
  };
  "/users/{user_id}/export": {
    parameters: {};
    get: operations["exportUser"];
  };
  "/users/count": {
    parameters: {};
    get: operations["countUsers"];
  };
  "/users/create": {
    parameters: {};
    post: operations["createUser"];
  };
  "/users/delete": {
    parameters: {};
    post: operations["deleteUserByKeys"];
  };
  "/users/lookup": {
    parameters: {};
    get: operations["lookupUser"];
  };
  "/v2/billing/credits/ledger": {
    parameters: {};
    get: operations["listCreditEventLedger"];
  };
  "/v2/billing/credits/ledger/count": {
    parameters: {};
    get: operations["countCreditEventLedger"];
  };
  "/webhook-events": {
    parameters: {};
    get: operations["listWebhookEvents"];
  };
  "/webhook-events/{webhook_event_id}": {
    parameters: {};
    get: operations["getWebhookEvent"];
  };
  "/webhook-events/{webhook_event_id}/redeliver": {
    parameters: {};
    post: operations["redeliverWebhookEvent"];
  };
  "/webhook-events/count": {
    parameters: {};
    get: operations["countWebhookEvents"];
  };
  "/webhooks": {
    parameters: {};
    get: operations["listWebhooks"];
    post: operations["createWebhook"];
  };
  "/webhooks/{webhook_id}": {
    parameters: {};
    get: operations["getWebhook"];
    put: operations["updateWebhook"];
    delete: operations["deleteWebhook"];
  };
  "/webhooks/{webhook_id}/roll-secret": {
    parameters: {};
    post: operations["rollWebhookSecret"];
  };
  "/webhooks/{webhook_id}/test": {
    parameters: {};
    post: operations["sendTestWebhookAction"];
  };
  "/webhooks/count": {
    parameters: {};
    get: operations["countWebhooks"];
  };
  "/whoami": {
    parameters: {};
    get: operations["getWhoAmI"];
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    AccountLimits: {
      account_id: string;
      limits: components["schemas"]["Buckets"] | "off" | null;
    };
    AccountMember: {
      console_roles: {
        [key: string]: "admin" | "editor" | "support" | "viewer";
      };
      created_at: string;
      disabled: boolean;
      email: null | string;
      first_name: null | string;
      id: string;
      image_url: null | string;
      last_name: null | string;
      name: null | string;
      permissions: {
        [key: string]: ("companies_edit" | "company_users_edit" | "components_edit" | "custom_plans_edit" | "data_exports_edit" | "features_edit" | "flag_rules_edit" | "flags_edit" | "overrides_edit" | "plan_billing_edit" | "plan_entitlements_edit" | "plan_versions_edit" | "plans_edit" | "webhooks_edit" | "webhooks_reveal_secret")[];
      };
      role: "admin" | "member" | null;
      signed_in_at: null | string;
      source: "console" | "file" | "oidc" | "operator";
      updated_at: string;
    };
    AccountMemberCreate: {
      console_roles: {
        [key: string]: "admin" | "editor" | "support" | "viewer";
      };
      email?: null | string;
      name: components["schemas"]["Text.o1"];
    };
    AccountMemberUpdate: {
      console_roles?: {
        [key: string]: "admin" | "editor" | "support" | "viewer";
      } | null;
      disabled?: boolean | null;
      email?: null | string;
      name?: components["schemas"]["Text.o1"] | null;
    };
    Addresses: string[];
    ApiKey: {
      allowed_addresses: string[] | null;
      created_at: string;
      description: null | string;
      disabled: boolean;
      environment?: components["schemas"]["Environment"];
      environment_id: null | string;
      expires_at: null | string;
      id: string;
      integration?: components["schemas"]["ApiKeyIntegration"];
      last_four: null | string;
      last_used_at: null | string;
      name: string;
      not_before: null | string;
      previous_value_until: null | string;
      rate_limit_percent: null | number;
      readonly: boolean;
      scopes: ("admin" | "capture" | "check" | "read" | "write")[];
      secret?: string;
      updated_at: string;
    };
    ApiKeyCreate: {
      allowed_addresses?: components["schemas"]["Addresses"] | null;
      description?: null | string;
      environment_id?: null | string;
      expires_at?: null | string;
      name: string;
      not_before?: null | string;
      rate_limit_percent?: components["schemas"]["Percent"] | null;
      readonly?: boolean | null;
      scopes?: ("admin" | "capture" | "check" | "read" | "write")[] | null;
    };
    ApiKeyIntegration: {
      id: string;
      state: "active" | "created" | "pending";
      type: "ext_a" | "ext_b" | "idp_a" | "idp_b" | "psp" | "unknown";
    };
    ApiKeyRoll: {
      overlap_seconds?: number | null;
    };
    ApiKeyUpdate: {
      allowed_addresses?: components["schemas"]["Addresses"] | null;
      description?: null | string;
      disabled?: boolean | null;
      expires_at?: null | string;
      name?: null | string;
      not_before?: null | string;
      rate_limit_percent?: components["schemas"]["Percent"] | null;
    };
    AuditChainRow: {
      account_id: string;
      actor_type: string;
      api_key_id: null | string;
      ended_at: string;
      environment_id: null | string;
      erased?: boolean;
      hash: string;
      id: string;
      kind: string;
      method: string;
      previous_hash: string;
      remote_ip: null | string;
      req_body: null | string;
      request_id: null | string;
      resource_id: null | string;
      resource_name: null | string;
      resource_type: null | string;
      resp_body: null | string;
      resp_code: number;
      secondary_resource: null | string;
      seq: number;
      started_at: string;
      url: string;
      user_agent: null | string;
    };
    AuditHead: {
      hash: string;
      seq: number;
    };
    AuditLog: {
      account_member_id: null | string;
      actor_type: "api_key" | "app_user" | "psp_app" | "system" | "temporary_access_token";
      api_key?: components["schemas"]["ApiKey"];
      api_key_id: null | string;
      before: null | string;
      ended_at: string;
      environment?: components["schemas"]["Environment"];
      environment_id: null | string;
      feature_name: null | string;
      hash: null | string;
      id: string;
      kind: "auth_failure" | "change" | "read" | "system";
      method: string;
      plan_name: null | string;
      remote_ip: null | string;
      req_body: null | string;
      request_id: null | string;
      resource_id: null;
      resource_id_string: null | string;
      resource_name: null | string;
      resource_type: null | string;
      resp_body: null | string;
      resp_code: number;
      secondary_resource: null | string;
      seq: null | number;
      started_at: string;
      url: string;
      user_agent: null | string;
      user_id: null;
      user_name: null | string;
    };
    AuditLogList: {
      actor_type: "api_key" | "app_user" | "psp_app" | "system" | "temporary_access_token";
      api_key?: components["schemas"]["ApiKey"];
      api_key_id: null | string;
      ended_at: string;
      environment?: components["schemas"]["Environment"];
      environment_id: null | string;
      feature_name: null | string;
      hash: null | string;
      id: string;
      kind: "auth_failure" | "change" | "read" | "system";
      method: string;
      plan_name: null | string;
      remote_ip: null | string;
      request_id: null | string;
      resource_id: null;
      resource_id_string: null | string;
      resource_name: null | string;
      resource_type: null | string;
      resp_code: number;
      secondary_resource: null | string;
      seq: null | number;
      started_at: string;
      url: string;
      user_agent: null | string;
      user_name: null | string;
    };
    AutoTopupOverride: {
      amount?: number | null;
      credit_id: string;
      enabled: boolean;
      threshold_credits?: components["schemas"]["Units"] | null;
    };
    BillingAddress: {
      city: string;
      country: string;
      line1: string;
      line2: string;
      postal_code: string;
      state: string;
    };
    BillingCoupon: {
      account_id: string;
      amount_off: null | number;
      currency: null | string;
      duration: null | string;
      duration_in_months: null | number;
      environment_id: string;
      external_id: string;
      id: string;
      is_active: boolean;
      max_redemptions: null | number;
      metadata: {
        [key: string]: unknown;
      };
      name: string;
      percent_off: null | number;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      times_redeemed: number;
      valid_from: null | string;
      valid_until: null | string;
    };
    BillingCreditView: {
      account_id: string;
      burn_strategy: "expiration_priority" | "first_in_first_out" | "last_in_first_out" | "plan_first_then_credit_bundles_first_in_first_out";
      cost_editable: boolean;
      created_at: string;
      currency_prices: {
        currency: string;
        price?: components["schemas"]["BillingPriceView"];
      }[];
      default_expiry_unit: "billing_periods" | "days";
      default_expiry_unit_count: null | number;
      default_rollover_policy: "expire" | "none" | "rollover";
      description: string;
      environment_id: string;
      icon: null | string;
      id: string;
      ledger_authority: "external_mirror" | "external_rated" | "service_authoritative";
      name: string;
      plural_name: null | string;
      price?: components["schemas"]["BillingPriceView"];
      price_per_unit?: null | number;
      price_per_unit_decimal?: null | string;
      product?: components["schemas"]["BillingProductRecord"];
      singular_name: null | string;
      updated_at: string;
    };
    BillingCustomer: {
      company_id: null | string;
      deleted_at: null | string;
      email: string;
      external_id: string;
      id: string;
      name: string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      updated_at: string;
    };
    BillingCustomerSubscription: {
      currency: string;
      expired_at: null | string;
      interval: string;
      metered_usage: boolean;
      per_unit_price: number;
      total_price: number;
    };
    BillingCustomerUpsert: {
      company_id?: null | string;
      default_payment_method_id?: null | string;
      email?: components["schemas"]["Text255"];
      external_id: components["schemas"]["ExternalId"];
      meta?: {
        [key: string]: string;
      };
      name?: components["schemas"]["Text255"];
      provider_type?: "ext_a" | "ext_b" | "native" | "psp" | null;
    };
    BillingCustomerWithSubscriptions: {
      company_id: null | string;
      deleted_at: null | string;
      email: string;
      external_id: string;
      id: string;
      name: string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      subscriptions: components["schemas"]["BillingCustomerSubscription"][];
      updated_at: string;
    };
    BillingDetailsUpdate: {
      address?: components["schemas"]["BillingAddress"] | null;
      email?: components["schemas"]["Text255"] | null;
      phone?: components["schemas"]["Text255"] | null;
      tax_id?: null | {
        type: "ae_trn" | "au_abn" | "au_arn" | "br_cnpj" | "br_cpf" | "ca_bn" | "ca_gst_hst" | "ca_pst_bc" | "ca_pst_mb" | "ca_pst_sk" | "ca_qst" | "ch_uid" | "ch_vat" | "eu_vat" | "gb_vat" | "hk_br" | "id_npwp" | "il_vat" | "in_gst" | "jp_cn" | "jp_rn" | "jp_trn" | "kr_brn" | "mx_rfc" | "my_frp" | "my_itn" | "my_sst" | "no_vat" | "nz_gst" | "ph_tin" | "sa_vat" | "sg_gst" | "sg_uen" | "th_vat" | "tr_tin" | "tw_vat" | "us_ein" | "za_vat";
        value: string;
      };
      values?: {
        id: string;
        value: string;
      }[] | null;
    };
    BillingLinkedEntitlementCreate: {
      billing_product_id?: null | string;
      billing_provider: "ext_a" | "ext_b" | "native" | "psp";
      billing_threshold?: number | null;
      credit_consumption_rate?: components["schemas"]["Rate"] | null;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      currency_prices?: components["schemas"]["CurrencyPriceWrite"][] | null;
      external_resource_id: string;
      feature_id: string;
      metric_period?: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset?: "billing_cycle" | "first_of_month" | null;
      monthly_metered_price_id?: null | string;
      monthly_price_tiers?: components["schemas"]["Tiers"];
      monthly_unit_price?: components["schemas"]["Money"] | null;
      monthly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      overage_billing_cadence?: "end_of_billing_period" | "monthly" | "quarterly" | null;
      overage_billing_product_id?: null | string;
      overage_invoice_anchor?: "billing_period_start" | "month_end" | null;
      plan_id: string;
      plan_version_id?: null | string;
      price_behavior?: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
      price_tiers?: components["schemas"]["Tiers"];
      quantity_rates?: null | {
        [key: string]: components["schemas"]["Rate"];
      };
      quarterly_metered_price_id?: null | string;
      quarterly_price_tiers?: components["schemas"]["Tiers"];
      quarterly_unit_price?: components["schemas"]["Money"] | null;
      quarterly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      soft_limit?: components["schemas"]["Units.o1"] | null;
      tier_mode?: "graduated" | "volume" | null;
      usage_quantity?: components["schemas"]["Units.o1"] | null;
      value_bool?: boolean | null;
      value_credit_id?: null | string;
      value_numeric?: components["schemas"]["Units.o1"] | null;
      value_trait_id?: null | string;
      value_type?: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      warning_tiers?: components["schemas"]["WarningTierWrite"][] | null;
      yearly_metered_price_id?: null | string;
      yearly_price_tiers?: components["schemas"]["Tiers"];
      yearly_unit_price?: components["schemas"]["Money"] | null;
      yearly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
    };
    BillingLinkedFeatureCreate: {
      billing_provider: "ext_a" | "ext_b" | "native" | "psp";
      description?: null | string;
      event_source?: "inference" | "track" | null;
      event_subtype?: null | string;
      external_resource_id: string;
      feature_type: "boolean" | "event" | "license" | "trait";
      flag?: components["schemas"]["FlagWithFeature"] | null;
      icon?: null | string;
      lifecycle_phase?: "add_on" | "alpha" | "beta" | "deprecated" | "ga" | "in_plan" | "inactive" | "internal_testing" | "legacy" | null;
      maintainer_account_member_id?: null | string;
      name: string;
      plural_name?: null | string;
      singular_name?: null | string;
      trait_id?: null | string;
    };
    BillingLinkedPlanCreate: {
      billing_provider: "ext_a" | "ext_b" | "native" | "psp";
      description?: components["schemas"]["Description"] | null;
      external_resource_id: string;
      external_resource_version?: null | string;
      icon?: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow" | null;
      name: components["schemas"]["Name"];
      plan_type?: "add_on" | "plan" | null;
    };
    BillingLinkedResource: {
      billing_provider: "ext_a" | "ext_b" | "native" | "psp";
      external_resource_id: string;
      originator: "ext_a" | "ext_b" | "native" | "psp";
    };
    BillingMeter: {
      dispaly_name: string;
      event_name: string;
      event_payload_key: string;
      external_price_id: string;
      id: string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
    };
    BillingPrice: {
      currency: string;
      external_price_id: string;
      id: string;
      interval: "day" | "month" | "one-time" | "year";
      interval_count: number;
      nickname: null | string;
      price: number;
      price_decimal: null | string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      scheme: "per_unit" | "tiered";
    };
    BillingPriceTierWrite: {
      flat_amount?: components["schemas"]["Money"] | null;
      per_unit_decimal?: components["schemas"]["DecimalText"] | null;
      per_unit_price?: components["schemas"]["Money"] | null;
      price_external_id: components["schemas"]["Text255"];
      provider_type?: "ext_a" | "ext_b" | "native" | "psp" | null;
      up_to?: number | null;
    };
    BillingPriceUpsert: {
      billing_scheme?: "per_unit" | "tiered";
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
      external_account_id?: components["schemas"]["Text255"];
      interval?: components["schemas"]["Text255"];
      interval_count?: number | null;
      is_active?: boolean;
      meter_id?: components["schemas"]["Text255"] | null;
      nickname?: null | string;
      package_size?: number | null;
      price?: components["schemas"]["Money"];
      price_decimal?: components["schemas"]["DecimalText"] | null;
      price_external_id: components["schemas"]["ExternalId"];
      price_tiers?: components["schemas"]["BillingPriceTierWrite"][];
      product_external_id?: components["schemas"]["ExternalId"];
      provider_type?: "ext_a" | "ext_b" | "native" | "psp" | null;
      tiers_mode?: "graduated" | "volume" | null;
      usage_type?: "licensed" | "metered";
    };
    BillingPriceView: {
      billing_scheme: "per_unit" | "tiered";
      created_at: string;
      currency: string;
      id: string;
      interval: "day" | "month" | "one-time" | "year";
      interval_count: number;
      is_active: boolean;
      meter_event_name: null | string;
      meter_event_payload_key: null | string;
      meter_id: null | string;
      nickname: null | string;
      package_size: number;
      price: number;
      price_decimal: null | string;
      price_external_id: string;
      price_id: string;
      price_tier: components["schemas"]["PriceTierView"][];
      product_external_id: string;
      product_id: string;
      product_name: string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      tiers_mode: "graduated" | "volume" | null;
      updated_at: string;
      usage_type: "licensed" | "metered";
    };
    BillingProduct: {
      account_id: string;
      created_at: string;
      currency: null | string;
      environment_id: string;
      external_id: string;
      is_active: boolean;
      name: string;
      price: number;
      price_decimal: null | string;
      product_id: string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      quantity: number;
      updated_at: string;
    };
    BillingProductDetail: {
      account_id: string;
      created_at: string;
      currency: null | string;
      environment_id: string;
      external_id: string;
      is_active: boolean;
      name: string;
      price: number;
      price_decimal: null | string;
      prices: components["schemas"]["BillingPrice"][];
      product_id: string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      quantity: number;
      subscription_count: number;
      updated_at: string;
    };
    BillingProductForSubscription: {
      billing_scheme: "per_unit" | "tiered";
      billing_threshold: null | number;
      created_at: string;
      currency: string;
      environment_id: string;
      external_id: string;
      id: string;
      interval: string;
      interval_count: null | number;
      meter_id: null | string;
      name: string;
      package_size: number;
      price: number;
      price_decimal: null | string;
      price_external_id: string;
      price_id: string;
      price_tier: components["schemas"]["PriceTierView"][];
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      quantity: number;
      subscription_id: string;
      subscription_item_external_id: null | string;
      updated_at: string;
      usage_type: "licensed" | "metered";
    };
    BillingProductPlan: {
      account_id: string;
      billing_product_id: string;
      billing_strategy: "no_billing" | "provider_managed" | "service_managed";
      charge_type: "free" | "none" | "one_time" | "recurring";
      controlled_by: "ext_a" | "ext_b" | "native" | "psp";
      environment_id: string;
      is_trialable: boolean;
      monthly_price_id: null | string;
      one_time_price_id: null | string;
      plan_id: string;
      trial_days: null | number;
      yearly_price_id: null | string;
    };
    BillingProductPricing: {
      billing_threshold?: components["schemas"]["Long"] | null;
      currency: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
      interval: components["schemas"]["Text255"];
      meter_id?: null | string;
      package_size?: number | null;
      price: components["schemas"]["Money"];
      price_decimal?: components["schemas"]["DecimalText"] | null;
      price_external_id: components["schemas"]["Text255"];
      product_external_id: components["schemas"]["Text255"];
      quantity: components["schemas"]["Units"];
      subscription_item_external_id?: null | string;
      usage_type: "licensed" | "metered";
    };
    BillingProductRecord: {
      account_id: string;
      created_at: string;
      environment_id: string;
      external_id: string;
      id: string;
      is_active: boolean;
      name: string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      updated_at: string;
    };
    BillingProductUpdate: {
      billing_product_id?: null | string;
      billing_strategy?: "no_billing" | "provider_managed" | "service_managed" | null;
      charge_type?: "free" | "none" | "one_time" | "recurring";
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      currency_prices?: components["schemas"]["PlanCurrencyPriceWrite"][] | null;
      is_trialable?: boolean;
      monthly_price?: components["schemas"]["Money"] | null;
      monthly_price_id?: null | string;
      one_time_price?: components["schemas"]["Money"] | null;
      one_time_price_id?: null | string;
      quarterly_price?: components["schemas"]["Money"] | null;
      quarterly_price_id?: null | string;
      trial_days?: number | null;
      yearly_price?: components["schemas"]["Money"] | null;
      yearly_price_id?: null | string;
    };
    BillingProductUpsert: {
      external_id: components["schemas"]["ExternalId"];
      is_active?: boolean | null;
      name?: components["schemas"]["Text255"] | null;
      price?: number;
      provider_type?: "ext_a" | "ext_b" | "native" | "psp" | null;
    };
    BillingProductWrite: {
      billing_product_id?: null | string;
      billing_strategy?: "no_billing" | "provider_managed" | "service_managed" | null;
      charge_type?: "free" | "none" | "one_time" | "recurring";
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      currency_prices?: components["schemas"]["PlanCurrencyPriceWrite"][] | null;
      is_trialable?: boolean;
      monthly_price?: components["schemas"]["Money"] | null;
      monthly_price_id?: null | string;
      one_time_price?: components["schemas"]["Money"] | null;
      one_time_price_id?: null | string;
      quarterly_price?: components["schemas"]["Money"] | null;
      quarterly_price_id?: null | string;
      trial_days?: number | null;
      yearly_price?: components["schemas"]["Money"] | null;
      yearly_price_id?: null | string;
    };
    BillingProfileUpdate: {
      collection_method?: "charge_automatically" | "send_invoice";
      collector?: "external" | "psp_invoice" | "psp_payments" | null;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      days_until_due?: number | null;
      gating_days?: number | null;
      is_default?: boolean | null;
      name?: null | string;
      overdraft_limit?: number | null;
      payment_gating?: "keep_serving" | "revoke_after" | null;
      payment_method_id?: null | string;
      proration_behavior?: "create_prorations" | "invoice_immediately" | null;
      purchase_order?: null | string;
    };
    BillingSubscription: {
      application_id: null | string;
      cancel_at: null | number;
      cancel_at_period_end: boolean;
      company_id: null | string;
      created_at: string;
      currency: string;
      customer_external_id: string;
      default_payment_method_id: null | string;
      expired_at: null | string;
      id: string;
      interval: string;
      metadata?: {
        [key: string]: unknown;
      };
      period_end: number;
      period_start: number;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      status: string;
      subscription_external_id: string;
      total_price: number;
      trial_end: null | number;
      trial_end_setting: "cancel" | "subscribe" | null;
    };
    BillingSubscriptionDiscount: {
      coupon_external_id: string;
      customer_facing_code?: null | string;
      ended_at?: null | string;
      external_id: string;
      is_active: boolean;
      promo_code_external_id?: null | string;
      started_at: string;
    };
    BillingSubscriptionDiscountView: {
      amount_off: null | number;
      coupon_id: string;
      coupon_name: string;
      currency: null | string;
      customer_facing_code: null | string;
      discount_external_id: string;
      duration: string;
      duration_in_months: null | number;
      ended_at: null | string;
      is_active: boolean;
      percent_off: null | number;
      promo_code_external_id: null | string;
      started_at: string;
      subscription_external_id: string;
    };
    BillingSubscriptionUpsert: {
      application_id?: components["schemas"]["Text255"] | null;
      billing_cycle_anchor?: components["schemas"]["Seconds"] | null;
      cancel_at?: components["schemas"]["Seconds"] | null;
      cancel_at_period_end?: boolean;
      company_id?: null | string;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
      customer_external_id?: components["schemas"]["Text255"];
      default_payment_method_external_id?: components["schemas"]["Text255"] | null;
      default_payment_method_id?: null | string;
      discounts?: components["schemas"]["BillingSubscriptionDiscount"][];
      expired_at?: null | string;
      interval?: components["schemas"]["Text255"] | null;
      metadata?: null | {
        [key: string]: unknown;
      };
      period_end?: components["schemas"]["Seconds"] | null;
      period_start?: components["schemas"]["Seconds"] | null;
      product_external_ids?: components["schemas"]["BillingProductPricing"][];
      provider_event_at?: null | string;
      provider_type?: "ext_a" | "ext_b" | "native" | "psp" | null;
      started_at?: null | string;
      status?: components["schemas"]["Text255"] | null;
      subscription_external_id: components["schemas"]["ExternalId"];
      total_price?: components["schemas"]["Money"];
      trial_end?: components["schemas"]["Seconds"] | null;
      trial_end_setting?: "cancel" | "subscribe" | null;
    };
    BillingSubscriptionView: {
      application_id: null | string;
      cancel_at: null | number;
      cancel_at_period_end: boolean;
      company_id: null | string;
      created_at: string;
      currency: string;
      customer_external_id: string;
      default_payment_method_id: null | string;
      discounts: components["schemas"]["BillingSubscriptionDiscountView"][];
      expired_at: null | string;
      id: string;
      interval: string;
      latest_invoice?: components["schemas"]["Invoice"];
      metadata?: {
        [key: string]: unknown;
      };
      payment_method?: components["schemas"]["PaymentMethod"];
      period_end: number;
      period_start: number;
      products: components["schemas"]["BillingProductForSubscription"][];
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      status: string;
      subscription_external_id: string;
      total_price: number;
      trial_end: null | number;
      trial_end_setting: "cancel" | "subscribe" | null;
    };
    Buckets: {
      analytics?: components["schemas"]["RateAndBurst"];
      events_ingest?: components["schemas"]["RateAndBurst"];
      global?: components["schemas"]["RateAndBurst"];
      mutation?: components["schemas"]["RateAndBurst"];
    };
    BundleCreditGrantWrite: {
      action: "create" | "delete" | "update";
      create_req?: {
        [key: string]: unknown;
      };
      credit_grant_id?: null | string;
      delete_req?: {
        [key: string]: unknown;
      };
      update_req?: {
        [key: string]: unknown;
      };
    };
    BundledEntitlement: {
      billing_product_id?: null | string;
      billing_threshold?: number | null;
      credit_consumption_rate?: components["schemas"]["Rate"] | null;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      currency_prices?: components["schemas"]["CurrencyPriceWrite"][] | null;
      feature_id?: string;
      metric_period?: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset?: "billing_cycle" | "first_of_month" | null;
      monthly_metered_price_id?: null | string;
      monthly_price_tiers?: components["schemas"]["Tiers"];
      monthly_unit_price?: components["schemas"]["Money"] | null;
      monthly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      overage_billing_cadence?: "end_of_billing_period" | "monthly" | "quarterly" | null;
      overage_billing_product_id?: null | string;
      overage_invoice_anchor?: "billing_period_start" | "month_end" | null;
      plan_id?: string;
      plan_version_id?: null | string;
      price_behavior?: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
      price_tiers?: components["schemas"]["Tiers"];
      quantity_rates?: null | {
        [key: string]: components["schemas"]["Rate"];
      };
      quarterly_metered_price_id?: null | string;
      quarterly_price_tiers?: components["schemas"]["Tiers"];
      quarterly_unit_price?: components["schemas"]["Money"] | null;
      quarterly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      soft_limit?: components["schemas"]["Units.o1"] | null;
      tier_mode?: "graduated" | "volume" | null;
      usage_quantity?: components["schemas"]["Units.o1"] | null;
      value_bool?: boolean | null;
      value_credit_id?: null | string;
      value_numeric?: components["schemas"]["Units.o1"] | null;
      value_trait_id?: null | string;
      value_type?: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      warning_tiers?: components["schemas"]["WarningTierWrite"][] | null;
      yearly_metered_price_id?: null | string;
      yearly_price_tiers?: components["schemas"]["Tiers"];
      yearly_unit_price?: components["schemas"]["Money"] | null;
      yearly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
    };
    BundleEntitlementWrite: {
      action: "create" | "delete" | "update";
      entitlement_id?: null | string;
      req?: components["schemas"]["BundledEntitlement"];
    };
    Catalog: {
      bundles?: components["schemas"]["MayCatalogBundleMaxItems10000"];
      catalog: 1;
      credits?: components["schemas"]["MayCatalogCreditMaxItems10000"];
      features?: components["schemas"]["MayCatalogFeatureMaxItems10000"];
      flags?: components["schemas"]["MayCatalogFlagMaxItems10000"];
      model_prices?: components["schemas"]["MayModelPriceViewMaxItems10000"];
      plan_group?: components["schemas"]["CatalogPlanGroup"];
      plans?: components["schemas"]["MayCatalogPlanMaxItems10000"];
      publishable_limits?: components["schemas"]["PublishableLimitsWrite"];
      traits?: components["schemas"]["MayCatalogTraitMaxItems20000"];
    };
    CatalogApplied: {
      archived: number;
      changed: number;
      changes: components["schemas"]["CatalogChange"][];
      companies: components["schemas"]["CatalogCompanies"];
      made: number;
      problems: string[];
    };
    CatalogBundle: {
      compatible_plans?: components["schemas"]["MayRefMaxItems100"];
      credit: components["schemas"]["Ref"];
      currency: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
      expiry_type?: components["schemas"]["Maydurationend_of_billing_periodend_of_next_billing_periodend_of_trialno_expiry"];
      expiry_unit?: components["schemas"]["Maybilling_periodsdays"];
      expiry_unit_count?: components["schemas"]["MayCount"];
      name: string;
      prices?: components["schemas"]["MayCatalogPriceMaxItems50"];
      quantity?: components["schemas"]["MayCount"];
      status?: components["schemas"]["Mayactiveinactive"];
    };
    CatalogChange: {
      action: "archive" | "change" | "keep" | "make";
      changes: components["schemas"]["CatalogMemberChange"][];
      companies?: components["schemas"]["CatalogCompanies"];
      name: string;
      publishes?: boolean;
      section: string;
    };
    CatalogCheckoutField: {
      helper_text?: components["schemas"]["MayText"];
      name: string;
      psp_metadata_key: string;
      required: boolean;
      trait: components["schemas"]["TraitRef"];
    };
    CatalogCompanies: {
      companies: {
        id: string;
        name: string;
      }[];
      count: number;
    };
    CatalogCondition: {
      comparable_type?: components["schemas"]["Maybooldateintstringversion"];
      comparison_trait?: components["schemas"]["MayTraitRef"];
      condition_type: "base_plan" | "billing_product" | "company" | "credit" | "metric" | "plan" | "plan_version" | "trait" | "user";
      credit?: components["schemas"]["MayRef"];
      credit_cost?: components["schemas"]["MaynumberMinimum0"];
      event_subtype?: components["schemas"]["MaystringMaxLength255"];
      metric_period?: components["schemas"]["Mayall_timecurrent_daycurrent_monthcurrent_week"];
      metric_period_month_reset?: components["schemas"]["Maybilling_cyclefirst_of_month"];
      metric_value?: components["schemas"]["MayCatalogQuantity"];
      operator: "eq" | "gt" | "gte" | "is_empty" | "lt" | "lte" | "ne" | "not_empty";
      resources?: components["schemas"]["MayRefMaxItems1000"];
      trait?: components["schemas"]["MayTraitRef"];
      trait_value?: components["schemas"]["MayText"];
    };
    CatalogCredit: {
      burn_strategy?: components["schemas"]["Mayexpiration_priorityfirst_in_first_outlast_in_first_outplan_first_then_credit_bundles_first_in_first_out"];
      currency: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
      default_expiry_unit?: components["schemas"]["Maybilling_periodsdays"];
      default_expiry_unit_count?: components["schemas"]["MayCount"];
      default_rollover_policy?: components["schemas"]["Mayexpirenonerollover"];
      description?: components["schemas"]["MayText"];
      icon?: components["schemas"]["MaystringMaxLength64"];
      name: string;
      plural_name?: components["schemas"]["MayLabel"];
      prices?: components["schemas"]["MayCatalogPriceMaxItems50"];
      singular_name?: components["schemas"]["MayLabel"];
    };
    CatalogDiff: {
      changes: components["schemas"]["CatalogChange"][];
      companies: components["schemas"]["CatalogCompanies"];
      problems: string[];
    };
    CatalogEntitlement: {
      billing_threshold?: components["schemas"]["MayCatalogQuantity"];
      credit_consumption_rate?: components["schemas"]["MayRate"];
      external_resource_id?: components["schemas"]["MaystringMinLength1MaxLength255"];
      feature: components["schemas"]["Ref"];
      metric_period?: components["schemas"]["Mayall_timecurrent_daycurrent_monthcurrent_week"];
      metric_period_month_reset?: components["schemas"]["Maybilling_cyclefirst_of_month"];
      overage_billing_cadence?: components["schemas"]["Mayend_of_billing_periodmonthlyquarterly"];
      overage_product?: components["schemas"]["CatalogProduct"];
      price_behavior?: components["schemas"]["Maycredit_burndownoveragepay_as_you_gopay_in_advancetier"];
      prices?: components["schemas"]["MayCatalogPriceMaxItems150"];
      product?: components["schemas"]["CatalogProduct"];
      provider?: components["schemas"]["Mayext_aext_bnativepsp"];
      quantity_rates?: {
        [key: string]: components["schemas"]["Rate.o1"];
      };
      soft_limit?: components["schemas"]["MayCatalogQuantity"];
      usage_quantity?: components["schemas"]["MayCatalogQuantity"];
      value_bool?: components["schemas"]["Mayboolean"];
      value_credit?: components["schemas"]["MayRef"];
      value_numeric?: components["schemas"]["MayCatalogQuantity"];
      value_trait?: components["schemas"]["MayTraitRef"];
      value_type: "boolean" | "credit" | "numeric" | "trait" | "unlimited";
      warning_tiers?: components["schemas"]["MayCatalogWarningTierMaxItems10"];
    };
    CatalogFeature: {
      description?: components["schemas"]["MayText"];
      event_source?: components["schemas"]["Mayinferencetrack"];
      event_subtype?: components["schemas"]["MaystringMaxLength255"];
      external_resource_id?: components["schemas"]["MaystringMinLength1MaxLength255"];
      feature_type: "boolean" | "event" | "license" | "trait";
      icon?: components["schemas"]["MaystringMaxLength255"];
      lifecycle_phase?: components["schemas"]["Mayadd_onalphabetadeprecatedgain_planinactiveinternal_testinglegacy"];
      name: string;
      plural_name?: components["schemas"]["MaystringMaxLength255"];
      provider?: components["schemas"]["Mayext_aext_bnativepsp"];
      singular_name?: components["schemas"]["MaystringMaxLength255"];
      trait?: components["schemas"]["MayTraitRef"];
      usage_limit_trait?: components["schemas"]["MayTraitRef"];
    };
    CatalogFlag: {
      default_value?: components["schemas"]["Mayboolean"];
      description?: components["schemas"]["MayText"];
      feature?: components["schemas"]["MayRef"];
      key: string;
      name: string;
      rules?: components["schemas"]["MayCatalogRuleMaxItems100"];
    };
    CatalogMemberChange: {
      from: unknown;
      path: string;
      to: unknown;
    };
    CatalogOrderedPlan: {
      entitlements?: components["schemas"]["MayfeatureRefvisibleMaybooleanMaxItems1000"];
      plan: components["schemas"]["Ref"];
    };
    CatalogPlan: {
      draft?: components["schemas"]["CatalogPlanVersion"];
      external_resource_id?: components["schemas"]["MaystringMinLength1MaxLength255"];
      external_resource_version?: components["schemas"]["MaystringMaxLength64"];
      name: string;
      plan_type: "add_on" | "plan";
      provider?: components["schemas"]["Mayext_aext_bnativepsp"];
      published?: components["schemas"]["CatalogPlanVersion"];
    };
    CatalogPlanGrant: {
      arrears_anchor?: components["schemas"]["Maybilling_period_startmonth_end"];
      arrears_cadence?: components["schemas"]["Mayend_of_billing_periodmonthlyquarterly"];
      auto_topup_amount?: components["schemas"]["MayCount"];
      auto_topup_availability?: components["schemas"]["Mayautomaticoffuser_controlled"];
      auto_topup_expiry_type?: components["schemas"]["Maydurationend_of_billing_periodend_of_next_billing_periodend_of_trialno_expiry"];
      auto_topup_expiry_unit?: components["schemas"]["Maybilling_periodsdays"];
      auto_topup_expiry_unit_count?: components["schemas"]["MayCount"];
      auto_topup_threshold_credits?: components["schemas"]["MayCredits"];
      auto_topup_threshold_percent?: components["schemas"]["MaynumberTypeint32Minimum1Maximum100"];
      billing_mode?: components["schemas"]["Maybilledgranted"];
      can_buy_bundles?: components["schemas"]["Mayboolean"];
      company_credit_amount?: components["schemas"]["MayCredits"];
      credit: components["schemas"]["Ref"];
      credit_amount: components["schemas"]["Credits.o1"];
      expiry_type?: components["schemas"]["Maydurationend_of_billing_periodend_of_next_billing_periodend_of_trialno_expiry"];
      expiry_unit?: components["schemas"]["Maybilling_periodsdays"];
      expiry_unit_count?: components["schemas"]["MayCount"];
      license?: components["schemas"]["MayRef"];
      overdraft_limit?: components["schemas"]["MayDecimalText"];
      postpaid_enabled?: components["schemas"]["Mayboolean"];
      postpaid_rate_per_unit?: components["schemas"]["MayCatalogQuantity"];
      postpaid_rate_per_unit_decimal?: components["schemas"]["MayDecimalText"];
      price_tiers?: components["schemas"]["MayCatalogTierMaxItems100"];
      renewal_enabled?: components["schemas"]["Mayboolean"];
      renewal_period?: components["schemas"]["Maybilling_periodfirst_of_month"];
      reset_cadence?: components["schemas"]["Maydailyevery_6_monthsmonthlyquarterlyweeklyyearly"];
      reset_start?: components["schemas"]["Maybilling_periodfirst_of_month"];
      reset_type?: components["schemas"]["Mayno_resetplan_period"];
      rollover_percentage?: components["schemas"]["MaynumberTypeint32Minimum0Maximum100"];
      scaling?: components["schemas"]["Mayfixedper_license"];
      tier_mode?: components["schemas"]["Maygraduatedvolume"];
      unit_price?: components["schemas"]["MayCatalogQuantity"];
      unit_price_decimal?: components["schemas"]["MayDecimalText"];
    };
    CatalogPlanGroup: {
      add_on_compatibilities?: components["schemas"]["MayplanRefcompatible_plansRefMaxItems1000MaxItems100"];
      add_ons?: components["schemas"]["MayCatalogOrderedPlanMaxItems100"];
      bundles?: components["schemas"]["MayRefMaxItems100"];
      checkout_bundle_purchase_behavior?: components["schemas"]["Mayindividualquantity"];
      checkout_collect_address?: components["schemas"]["Mayboolean"];
      checkout_collect_email?: components["schemas"]["Mayboolean"];
      checkout_collect_phone?: components["schemas"]["Mayboolean"];
      checkout_collect_tax_id?: components["schemas"]["Mayboolean"];
      custom_checkout_fields?: components["schemas"]["MayCatalogCheckoutFieldMaxItems100"];
      custom_plan?: components["schemas"]["MayRef"];
      custom_plan_config?: components["schemas"]["CustomPlanConfig"];
      enable_tax_collection?: components["schemas"]["Mayboolean"];
      fallback_plan?: components["schemas"]["MayRef"];
      initial_plan?: components["schemas"]["MayRef"];
      initial_plan_price?: components["schemas"]["CatalogPriceRef"];
      opt_in_enabled?: components["schemas"]["Mayboolean"];
      opt_in_text?: components["schemas"]["MayText"];
      opt_in_title?: components["schemas"]["MaystringMaxLength80"];
      plans?: components["schemas"]["MayCatalogOrderedPlanMaxItems100"];
      prevent_downgrades_when_over_limit?: components["schemas"]["Mayboolean"];
      prevent_self_service_downgrade?: components["schemas"]["Mayboolean"];
      prevent_self_service_downgrade_button_text?: components["schemas"]["MaystringMaxLength255"];
      prevent_self_service_downgrade_url?: components["schemas"]["MayLabel"];
      proration_behavior?: components["schemas"]["Maycreate_prorationsinvoice_immediately"];
      scheduled_downgrade_behavior?: components["schemas"]["Mayend_of_billing_periodnone"];
      scheduled_downgrade_prevent_when_over_limit?: components["schemas"]["Mayboolean"];
      show_as_monthly_prices?: components["schemas"]["Mayboolean"];
      show_credits?: components["schemas"]["Mayboolean"];
      show_feature_description?: components["schemas"]["Mayboolean"];
      show_hard_limit?: components["schemas"]["Mayboolean"];
      show_period_toggle?: components["schemas"]["Mayboolean"];
      show_zero_price_as_free?: components["schemas"]["Mayboolean"];
      sync_customer_billing_details?: components["schemas"]["Mayboolean"];
      trial_days?: components["schemas"]["MayDays"];
      trial_eligibility_per_plan?: components["schemas"]["Mayboolean"];
      trial_expiry_plan?: components["schemas"]["MayRef"];
      trial_expiry_plan_price?: components["schemas"]["CatalogPriceRef"];
      trial_payment_method_required?: components["schemas"]["Mayboolean"];
    };
    CatalogPlanVersion: {
      billing_strategy?: components["schemas"]["Mayno_billingprovider_managedservice_managed"];
      charge_type?: components["schemas"]["Mayfreenoneone_timerecurring"];
      credit_grants?: components["schemas"]["MayCatalogPlanGrantMaxItems100"];
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      description?: components["schemas"]["MayText"];
      entitlements?: components["schemas"]["MayCatalogEntitlementMaxItems1000"];
      icon?: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow" | null;
      is_trialable?: components["schemas"]["Mayboolean"];
      name?: components["schemas"]["MaystringMinLength1MaxLength256"];
      prices?: components["schemas"]["MayCatalogPriceMaxItems150"];
      product?: components["schemas"]["CatalogProduct"];
      trial_days?: components["schemas"]["MayDays"];
    };
    CatalogPrice: {
      cadence?: components["schemas"]["Maymonthlyone_timequarterlyyearly"];
      currency: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
      external_id?: components["schemas"]["MaystringMaxLength255"];
      price?: components["schemas"]["MayCatalogQuantity"];
      price_decimal?: components["schemas"]["MayDecimalText"];
      provider?: components["schemas"]["Mayext_aext_bnativepsp"];
      tiers?: components["schemas"]["MayCatalogTierMaxItems100"];
      tiers_mode?: components["schemas"]["Maygraduatedvolume"];
      usage_type?: components["schemas"]["Maylicensedmetered"];
    };
    CatalogPriceRef: {
      cadence: "monthly" | "one_time" | "quarterly" | "yearly";
      currency: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
    };
    CatalogProduct: {
      external_id: string;
      provider: "ext_a" | "ext_b" | "native" | "psp";
    };
    CatalogQuantity: number | string;
    CatalogRule: {
      condition_groups?: components["schemas"]["CatalogCondition"][][] | null;
      conditions?: components["schemas"]["MayCatalogConditionMaxItems100"];
      name: string;
      priority: components["schemas"]["CatalogQuantity"];
      rule_type?: components["schemas"]["Maydefaultglobal_overridestandard"];
      value: boolean;
    };
    CatalogTier: {
      flat_amount?: components["schemas"]["MayCatalogQuantity"];
      per_unit_price?: components["schemas"]["MayCatalogQuantity"];
      per_unit_price_decimal?: components["schemas"]["MayDecimalText"];
      up_to?: components["schemas"]["MayCatalogQuantity"];
    };
    CatalogTrait: {
      display_name?: components["schemas"]["MaystringMaxLength255"];
      entity_type: "company" | "user";
      hierarchy?: string[] | null;
      name: string;
      publishable_writes?: components["schemas"]["Mayboolean"];
      trait_type: "boolean" | "currency" | "date" | "number" | "string" | "url";
    };
    CatalogWarningTier: {
      key: string;
      value: number;
    };
    CatalogWrite: {
      catalog: components["schemas"]["Catalog"];
      idempotency_key?: null | string;
      prune?: components["schemas"]["Mayboolean"];
      publish?: components["schemas"]["MayCatalogPublish"];
    };
    ChargeEvents: {
      count: number;
      counter_after: number;
      counter_before: number;
      first_event_id: null | string;
      last_event_id: null | string;
      quantity: number;
    };
    ChargeLineView: {
      amount: number;
      amount_decimal: string;
      bundle_id: null | string;
      charge_kind: "bundle" | "correction" | "credit_overdraft" | "discount" | "overage" | "recurring" | "seat" | "trial" | "usage";
      coupon_id: null | string;
      credit_id: null | string;
      currency: string;
      due_at: string;
      end_time: string;
      events: components["schemas"]["ChargeEvents"] | null;
      feature_id: null | string;
      kind: "bundle" | "correction" | "credit_overdraft" | "discount" | "overage" | "recurring" | "seat" | "trial" | "usage";
      line: number;
      package_size: null | number;
      plan_id: null | string;
      plan_version: null | number;
      plan_version_id: null | string;
      price_id: null | string;
      proration: components["schemas"]["ChargeProration"] | null;
      quantity: number;
      quantity_decimal: string;
      start_time: string;
      subscription_id: null | string;
      tiers: components["schemas"]["ChargeTier"][];
      tiers_mode: "graduated" | "volume" | null;
      unit: "credit" | "item" | "seat" | "unit";
      unit_price: null | string;
      window: components["schemas"]["ChargeWindow"] | null;
    };
    ChargePeriod: {
      closed_at: null | string;
      end_time: string;
      hash: null | string;
      id: null | string;
      start_time: string;
      status: "closed" | "closing" | "open";
      subscription_id: null | string;
    };
    ChargeProration: {
      period_ms: number;
      remaining_ms: number;
    };
    ChargeTier: {
      amount: string;
      flat_amount: string;
      unit_price: string;
      units: number;
      up_to: null | number;
    };
    ChargeTotal: {
      amount: number;
      currency: string;
      digits: number;
    };
    ChargeWindow: {
      end_time: string;
      start_time: string;
    };
    CheckAndReserveFlag: {
      company_id: null | string;
      entitlement?: components["schemas"]["FeatureEntitlement"];
      error: null | string;
      feature_allocation: null | number;
      feature_usage: null | number;
      feature_usage_event: null | string;
      feature_usage_period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      feature_usage_reset_at: null | string;
      flag: string;
      flag_id: string;
      reason: string;
      reservation?: components["schemas"]["FlagCheckReservation"];
      rule_id: null | string;
      rule_type: "company_override" | "company_override_usage_exceeded" | "default" | "global_override" | "plan_entitlement" | "plan_entitlement_usage_exceeded" | "standard" | null;
      user_id: null | string;
      value: boolean;
    };
    CheckAndReserveRequestBody: {
      company?: components["schemas"]["Keys.o2"] | null;
      expires_at?: null | string;
      idempotency_key?: null | string;
      preflight?: components["schemas"]["PreflightRequestBody"] | null;
      quantity?: number | null;
      user?: components["schemas"]["Keys.o2"] | null;
    };
    CheckCreditBalance: {
      remaining: number;
      reserved: number;
      settled: number;
    };
    CheckFlag: {
      company_id: null | string;
      entitlement?: components["schemas"]["FeatureEntitlement"];
      error: null | string;
      feature_allocation: null | number;
      feature_usage: null | number;
      feature_usage_event: null | string;
      feature_usage_period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      feature_usage_reset_at: null | string;
      flag: string;
      flag_id: string;
      reason: string;
      rule_id: null | string;
      rule_type: "company_override" | "company_override_usage_exceeded" | "default" | "global_override" | "plan_entitlement" | "plan_entitlement_usage_exceeded" | "standard" | null;
      user_id: null | string;
      value: boolean;
    };
    CheckFlagRequestBody: {
      company?: components["schemas"]["Keys.o2"] | null;
      preflight?: components["schemas"]["PreflightRequestBody"] | null;
      user?: components["schemas"]["Keys.o2"] | null;
    };
    CheckFlags: {
      credit_balances?: {
        [key: string]: components["schemas"]["CheckCreditBalance"];
      };
      error?: string;
      flags: components["schemas"]["CheckFlag"][];
      plan?: {
        id: string;
        name: string;
        trial_end_date: null | string;
        trial_status: "active" | "converted" | "expired" | null;
      };
    };
    CheckFlagsBulk: {
      data: components["schemas"]["CheckFlags"][];
    };
    CheckFlagsBulkRequestBody: {
      contexts: unknown[];
    };
    CheckoutField: {
      created_at: string;
      definition_id: string;
      helper_text: null | string;
      id: string;
      name: string;
      position: number;
      psp_metadata_key: string;
      required: boolean;
      trait_hierarchy: string[];
      updated_at: string;
    };
    CheckoutFieldInput: {
      definition_id?: null | string;
      helper_text?: null | string;
      id?: null | string;
      name: string;
      psp_metadata_key: string;
      required: boolean;
    };
    CheckoutFieldWithValue: {
      definition_id: string;
      helper_text: null | string;
      id: string;
      name: string;
      psp_metadata_key: string;
      required: boolean;
      value: null | string;
    };
    CheckoutProblem: {
      blocking: boolean;
      bundle_id?: null | string;
      code: string;
      currency?: null | string;
      detail?: null | string;
      feature_id?: null | string;
      field_id?: null | string;
      message: string;
      payment_method_id?: null | string;
      plan_id?: null | string;
      price_id?: null | string;
      source: string;
    };
    ClockUpdate: {
      frozen?: boolean | null;
      now?: null | string;
      offset_seconds?: null | number;
    };
    ClosestLimit: {
      feature_id: string;
      feature_name: string;
      limit: number;
      percent: null | number;
      resets_at: null | string;
      usage: number;
    };
    CloudEvent: {
      data?: unknown;
      id: string;
      source: string;
      specversion: "1.0";
      subject?: null | string;
      time?: null | string;
      type: string;
    };
    CollectorBatch: {
      events: components["schemas"]["CollectorEvent"][];
    };
    CollectorEvent: {
      api_key?: string;
      backfill?: boolean | null;
      body: Record<string, never>;
      idempotency_key?: null | string;
      sent_at?: null | string;
      trusted_client_clock?: boolean | null;
      type: "flag_check" | "identify" | "inference" | "track";
    };
    Company: {
      created_at: string;
      environment_id: string;
      id: string;
      last_seen_at: null | string;
      logo_url: null | string;
      name: string;
      updated_at: string;
    };
    CompanyBillingDetails: {
      address?: components["schemas"]["BillingAddress"];
      checkout_settings: {
        collect_address: boolean;
        collect_email: boolean;
        collect_phone: boolean;
        collect_tax_id: boolean;
      };
      custom_fields: components["schemas"]["CheckoutFieldWithValue"][];
      email: null | string;
      phone: null | string;
      tax_ids: components["schemas"]["CompanyTaxIdView"][];
    };
    CompanyBillingEntity: {
      billing_entity?: components["schemas"]["Company"];
      has_own_psp_customer: boolean;
    };
    CompanyBillingEntitySubscription: {
      cancel_at: null | string;
      cancel_at_period_end: boolean;
      company?: components["schemas"]["Company"];
      currency: string;
      customer_external_id: string;
      discounts: components["schemas"]["BillingSubscriptionDiscountView"][];
      expired_at: null | string;
      interval: string;
      is_initial: boolean;
      latest_invoice?: components["schemas"]["Invoice"];
      payment_method?: components["schemas"]["PaymentMethod"];
      plan_name: string;
      products: components["schemas"]["BillingProductForSubscription"][];
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      status: string;
      subscription_external_id: string;
      total_price: number;
      trial_end: null | string;
    };
    CompanyBillingProfile: {
      account_id: string;
      billing_customer_id: null | string;
      collection_method: "charge_automatically" | "send_invoice";
      collector: "external" | "psp_invoice" | "psp_payments" | null;
      company_id: string;
      created_at: string;
      currency: null | string;
      days_until_due: null | number;
      environment_id: string;
      gating_days: number;
      id: string;
      is_default: boolean;
      name: null | string;
      overdraft_limit: null | number;
      payment_gating: "keep_serving" | "revoke_after";
      payment_method_id: null | string;
      proration_behavior: "create_prorations" | "invoice_immediately" | null;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      purchase_order: null | string;
      updated_at: string;
    };
    CompanyChargeLine: {
      amount: number;
      amount_decimal: string;
      bundle_id: null | string;
      charge_kind: "bundle" | "correction" | "credit_overdraft" | "discount" | "overage" | "recurring" | "seat" | "trial" | "usage";
      company_id: string;
      coupon_id: null | string;
      credit_id: null | string;
      currency: string;
      due_at: string;
      end_time: string;
      events: components["schemas"]["ChargeEvents"] | null;
      feature_id: null | string;
      kind: "bundle" | "correction" | "credit_overdraft" | "discount" | "overage" | "recurring" | "seat" | "trial" | "usage";
      line: number;
      package_size: null | number;
      period_end: string;
      period_id: null | string;
      period_start: string;
      period_status: "closed" | "closing" | "open";
      plan_id: null | string;
      plan_version: null | number;
      plan_version_id: null | string;
      price_id: null | string;
      proration: components["schemas"]["ChargeProration"] | null;
      quantity: number;
      quantity_decimal: string;
      start_time: string;
      subscription_id: null | string;
      tiers: components["schemas"]["ChargeTier"][];
      tiers_mode: "graduated" | "volume" | null;
      unit: "credit" | "item" | "seat" | "unit";
      unit_price: null | string;
      window: components["schemas"]["ChargeWindow"] | null;
    };
    CompanyCharges: {
      accruing: components["schemas"]["ChargeLineView"][];
      as_of: string;
      company_id: string;
      lines: components["schemas"]["ChargeLineView"][];
      next_period_start: null | string;
      period: components["schemas"]["ChargePeriod"];
      previous_period_start: null | string;
      totals: components["schemas"]["ChargeTotal"][];
    };
    CompanyCreditBalanceRecord: {
      credit_id: string;
      remaining: number;
      reserved: number;
      settled: number;
      source: "ext_a" | "ext_b" | "native" | "psp";
      total: null | number;
    };
    CompanyDetail: {
      add_ons: components["schemas"]["CompanyPlan"][];
      billing_credit_balances: {
        [key: string]: number;
      };
      billing_email: null | string;
      billing_profile?: components["schemas"]["CompanyBillingProfile"];
      billing_profiles: components["schemas"]["CompanyBillingProfile"][];
      billing_subscription?: components["schemas"]["BillingSubscriptionView"];
      billing_subscriptions: components["schemas"]["BillingSubscriptionView"][];
      created_at: string;
      custom_plan_billings: components["schemas"]["CustomPlanBilling"][];
      default_payment_method?: components["schemas"]["PaymentMethod"];
      entitlements: components["schemas"]["FeatureEntitlement"][];
      entity_traits: components["schemas"]["EntityTraitDetail"][];
      environment_id: string;
      id: string;
      keys: components["schemas"]["EntityKeyDetail"][];
      last_seen_at: null | string;
      logo_url: null | string;
      metrics: components["schemas"]["CompanyEventPeriodMetrics"][];
      name: string;
      payment_methods: components["schemas"]["PaymentMethod"][];
      pending_migration?: components["schemas"]["PendingMigration"];
      plan?: components["schemas"]["CompanyPlan"];
      plans: components["schemas"]["PreviewObject"][];
      rules: components["schemas"]["Rule"][];
      scheduled_downgrade?: components["schemas"]["ScheduledDowngrade"];
      traits: components["schemas"]["TraitMap"];
      updated_at: string;
      user_count: number;
    };
    CompanyEventPeriodMetrics: {
      account_id: string;
      captured_at_max: string;
      captured_at_min: string;
      company_id: string;
      created_at: string;
      environment_id: string;
      event_subtype: string;
      month_reset: "billing_cycle" | "first_of_month";
      period: "all_time" | "current_day" | "current_month" | "current_week";
      valid_until: null | string;
      value: number;
    };
    CompanyGrantCreate: {
      billing_periods_count?: components["schemas"]["Count.o2"] | null;
      company_id: string;
      credit_bundle_id?: null | string;
      credit_id: string;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      expires_at?: null | string;
      expiry_type?: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      expiry_unit?: "billing_periods" | "days" | null;
      expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      idempotency_key?: null | string;
      quantity: number;
      reason: "adjustment" | "billing_credit_auto_topup" | "free" | "plan" | "postpaid_forgiven" | "postpaid_overdraft" | "postpaid_settlement" | "purchased" | "rollover";
      renewal_enabled?: boolean | null;
      renewal_period?: "billing_period" | "first_of_month" | null;
    };
    CompanyMembershipDetail: {
      company?: components["schemas"]["Company"];
      company_id: string;
      created_at: string;
      id: string;
      updated_at: string;
      user_id: string;
    };
    CompanyOverride: {
      company?: components["schemas"]["CompanyDetail"];
      company_id: string;
      consumption_rate: null | number;
      created_at: string;
      environment_id: string;
      expiration_date: null | string;
      feature?: components["schemas"]["Feature"];
      feature_id: string;
      id: string;
      metric_period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset: "billing_cycle" | "first_of_month" | null;
      notes: components["schemas"]["CompanyOverrideNote"][];
      quantity_rates?: {
        [key: string]: number;
      };
      rule_id: null | string;
      rule_id_usage_exceeded: null | string;
      updated_at: string;
      value_bool: boolean | null;
      value_credit?: components["schemas"]["Credit"];
      value_credit_id: null | string;
      value_numeric: null | number;
      value_trait?: components["schemas"]["EntityTraitDefinition"];
      value_trait_id: null | string;
      value_type: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
    };
    CompanyOverrideCreate: {
      company_id: string;
      credit_consumption_rate?: components["schemas"]["Rate"] | null;
      expiration_date?: null | string;
      feature_id: string;
      idempotency_key?: null | string;
      metric_period?: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset?: "billing_cycle" | "first_of_month" | null;
      note?: null | string;
      quantity_rates?: null | {
        [key: string]: components["schemas"]["Rate"];
      };
      value_bool?: boolean | null;
      value_credit_id?: null | string;
      value_numeric?: components["schemas"]["Units.o1"] | null;
      value_trait_id?: null | string;
      value_type?: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
    };
    CompanyOverrideNote: {
      created_at: string;
      external_user_id: string;
      external_user_name: string;
      id: string;
      note: string;
      updated_at: string;
    };
    CompanyOverrideUpdate: {
      credit_consumption_rate?: components["schemas"]["Rate"] | null;
      expiration_date?: null | string;
      idempotency_key?: null | string;
      metric_period?: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset?: "billing_cycle" | "first_of_month" | null;
      note?: null | string;
      quantity_rates?: null | {
        [key: string]: components["schemas"]["Rate"];
      };
      value_bool?: boolean | null;
      value_credit_id?: null | string;
      value_numeric?: components["schemas"]["Units.o1"] | null;
      value_trait_id?: null | string;
      value_type?: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
    };
    CompanyPlan: {
      added_on: null | string;
      billing_product_external_id: null | string;
      billing_product_id: null | string;
      description: null | string;
      id: string;
      image_url: null | string;
      included_credit_grants: components["schemas"]["CompanyPlanCreditGrant"][];
      name: string;
      plan_period: null | string;
      plan_price: null | number;
      plan_version_id: null | string;
    };
    CompanyPlanCreditGrant: {
      billing_credit_arrears_anchor: "billing_period_start" | "month_end" | null;
      billing_credit_arrears_cadence: "end_of_billing_period" | "monthly" | "quarterly" | null;
      billing_credit_auto_topup_amount: null | number;
      billing_credit_auto_topup_amount_type: null | string;
      billing_credit_auto_topup_availability: "automatic" | "off" | "user_controlled";
      billing_credit_auto_topup_enabled: boolean;
      billing_credit_auto_topup_expiry_type: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      billing_credit_auto_topup_expiry_unit: "billing_periods" | "days" | null;
      billing_credit_auto_topup_expiry_unit_count: null | number;
      billing_credit_auto_topup_self_service: boolean;
      billing_credit_auto_topup_threshold_credits: null | number;
      billing_credit_auto_topup_threshold_percent: null | number;
      billing_credit_can_buy_bundles: boolean;
      billing_credit_overdraft_limit: null | number;
      billing_credit_postpaid_enabled: boolean;
      billing_credit_postpaid_rate_per_unit: null | number;
      billing_credit_postpaid_rate_per_unit_decimal: null | string;
      billing_mode: "billed" | "granted";
      billing_product_price_id: null | string;
      company_auto_topup_amount: null | number;
      company_auto_topup_enabled: boolean | null;
      company_auto_topup_threshold_credits: null | number;
      company_credit_amount: number;
      created_at: string;
      credit?: components["schemas"]["BillingCreditView"];
      credit_amount: number;
      credit_description: string;
      credit_icon: null | string;
      credit_id: string;
      credit_name: string;
      expiry_type: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      expiry_unit: "billing_periods" | "days" | null;
      expiry_unit_count: null | number;
      id: string;
      license_id: null | string;
      plan?: components["schemas"]["PreviewObject"];
      plan_id: string;
      plan_version_id: null | string;
      plural_name: null | string;
      price?: components["schemas"]["BillingPriceView"];
      reset_cadence: "daily" | "every_6_months" | "monthly" | "quarterly" | "weekly" | "yearly" | null;
      reset_start: "billing_period" | "first_of_month" | null;
      reset_type: "no_reset" | "plan_period";
      rollover_percentage: number;
      scaling: "fixed" | "per_license";
      singular_name: null | string;
      updated_at: string;
    };
    CompanyPlansUpdate: {
      add_on_ids?: string[] | null;
      base_plan_id?: null | string;
      idempotency_key?: null | string;
    };
    CompanySubscription: {
      cancel_at: null | string;
      cancel_at_period_end: boolean;
      currency: string;
      customer_external_id: string;
      discounts: components["schemas"]["BillingSubscriptionDiscountView"][];
      expired_at: null | string;
      interval: string;
      is_initial: boolean;
      latest_invoice?: components["schemas"]["Invoice"];
      payment_method?: components["schemas"]["PaymentMethod"];
      products: components["schemas"]["BillingProductForSubscription"][];
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      status: string;
      subscription_external_id: string;
      total_price: number;
      trial_end: null | string;
    };
    CompanySummary: {
      add_on_count: number;
      closest_limit: components["schemas"]["ClosestLimit"] | null;
      created_at: string;
      credits: components["schemas"]["CreditSummary"][];
      id: string;
      last_seen_at: null | string;
      name: string;
      plan: null | {
        id: string;
        name: string;
      };
      usage?: number;
      user_count: number;
    };
    CompanyTaxIdView: {
      country: string;
      id: string;
      type: string;
      value: string;
      verification_status: null | string;
    };
    CompanyUpsert: {
      base_plan_id?: null | string;
      base_plan_price_id?: null | string;
      created_at?: null | string;
      id?: null | string;
      keys?: components["schemas"]["Keys"];
      last_seen_at?: null | string;
      name?: null | string;
      prevent_key_remap?: boolean | null;
      remove_keys?: string[];
      traits?: {
        [key: string]: unknown;
      };
      update_only?: boolean | null;
    };
    ComparedTrait: {
      comparable_type: "bool" | "date" | "int" | "string" | "version";
      entity_type: "company" | "user";
      id: string;
    };
    CompatiblePlans: {
      compatible_plan_ids: string[];
      source_plan_id: string;
    };
    Condition: {
      account_id: string;
      comparable_type?: "bool" | "date" | "int" | "string" | "version";
      comparison_trait_definition?: components["schemas"]["ComparedTrait"];
      condition_type: "base_plan" | "billing_product" | "company" | "credit" | "metric" | "plan" | "plan_version" | "trait" | "user";
      consumption_rate: null | number;
      credit_id: null | string;
      environment_id: string;
      event_subtype: null | string;
      id: string;
      metric_period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset: "billing_cycle" | "first_of_month" | null;
      metric_value: null | number;
      operator: "eq" | "gt" | "gte" | "is_empty" | "lt" | "lte" | "ne" | "not_empty";
      quantity_rates?: {
        [key: string]: number;
      };
      resource_ids: string[];
      trait_definition?: components["schemas"]["ComparedTrait"];
      trait_value: string;
    };
    ConditionGroupWrite: {
      conditions?: components["schemas"]["ConditionWrite"][] | null;
      flag_id?: null | string;
      id?: null | string;
    };
    ConditionWrite: {
      comparable_type?: "bool" | "date" | "int" | "string" | "version" | null;
      comparison_trait_id?: null | string;
      condition_type: "base_plan" | "billing_product" | "company" | "credit" | "metric" | "plan" | "plan_version" | "trait" | "user";
      credit_cost?: null | number;
      credit_id?: null | string;
      event_subtype?: null | string;
      id?: null | string;
      metric_period?: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset?: "billing_cycle" | "first_of_month" | null;
      metric_value?: components["schemas"]["Long"] | null;
      operator: "eq" | "gt" | "gte" | "is_empty" | "lt" | "lte" | "ne" | "not_empty";
      resource_ids?: string[] | null;
      trait_id?: null | string;
      trait_value?: null | string;
    };
    ConsoleLinkCreate: Record<string, never>;
    ContextSecretRoll: {
      overlap_seconds?: number | null;
    };
    ContextSecretView: {
      environment_id: string;
      former_until: null | string;
      secret: null | string;
    };
    CostAndMargin: {
      company_id: null | string;
      company_name: null | string;
      cost: string;
      credits: {
        credit_id: string;
        quantity: string;
      }[];
      currency: string;
      day: null | string;
      inference_count: number;
      margin: null | string;
      model: null | string;
      other_costs: {
        cost: string;
        currency: string;
      }[];
      revenue: null | string;
      user_id: null | string;
    };
    Count: {
      count: number;
    };
    "Count.o1": number;
    "Count.o2": number;
    "Count.o3": number;
    CouponUpsert: {
      amount_off?: components["schemas"]["Money"] | null;
      currency?: null | string;
      duration?: null | string;
      duration_in_months?: components["schemas"]["Count.o1"] | null;
      external_id: components["schemas"]["ExternalId"];
      max_redemptions?: components["schemas"]["Count.o1"] | null;
      name?: components["schemas"]["Text255"];
      percent_off?: null | number;
      times_redeemed?: components["schemas"]["Count.o1"];
    };
    Credit: {
      burn_strategy: "expiration_priority" | "first_in_first_out" | "last_in_first_out" | "plan_first_then_credit_bundles_first_in_first_out";
      cost_editable: boolean;
      created_at: string;
      currency_prices: components["schemas"]["CreditCurrencyPrice"][];
      default_expiry_unit: "billing_periods" | "days";
      default_expiry_unit_count: null | number;
      default_rollover_policy: "expire" | "none" | "rollover";
      description: string;
      icon: null | string;
      id: string;
      ledger_authority: "external_mirror" | "external_rated" | "service_authoritative";
      name: string;
      plural_name: null | string;
      price?: components["schemas"]["BillingPrice"];
      product?: components["schemas"]["BillingProduct"];
      singular_name: null | string;
      updated_at: string;
    };
    CreditBundle: {
      billing_invoice_id: null | string;
      bundle_type: "fixed";
      compatible_plan_ids: string[];
      created_at: string;
      credit_description?: string;
      credit_icon: null | string;
      credit_id: string;
      credit_name: string;
      currency_prices: components["schemas"]["CreditCurrencyPrice"][];
      expiry_type: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry";
      expiry_unit: "billing_periods" | "days";
      expiry_unit_count: null | number;
      has_grants: boolean;
      id: string;
      name: string;
      plural_name: null | string;
      price?: components["schemas"]["BillingPrice"];
      quantity: null | number;
      singular_name: null | string;
      status: "active" | "inactive";
      unit_price?: components["schemas"]["BillingPrice"];
      updated_at: string;
    };
    CreditBundleCreateRequestBody: {
      bundle_name: components["schemas"]["Name.o2"];
      bundle_type?: "fixed" | null;
      compatible_plan_ids?: string[] | null;
      credit_id: string;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      currency_prices?: components["schemas"]["CreditCurrencyPriceWrite"][] | null;
      expiry_type?: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      expiry_unit?: "billing_periods" | "days" | null;
      expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      price_per_unit: components["schemas"]["Money"];
      price_per_unit_decimal?: components["schemas"]["DecimalText"] | null;
      quantity?: components["schemas"]["Count.o2"] | null;
      status?: "active" | "inactive" | null;
    };
    CreditBundleUpdate: {
      bundle_name?: components["schemas"]["Name.o2"];
      compatible_plan_ids?: string[] | null;
      currency_prices?: components["schemas"]["CreditCurrencyPriceWrite"][] | null;
      expiry_type?: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      expiry_unit?: "billing_periods" | "days" | null;
      expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      price_per_unit?: components["schemas"]["Money"];
      price_per_unit_decimal?: components["schemas"]["DecimalText"] | null;
      quantity?: components["schemas"]["Count.o2"] | null;
      status?: "active" | "inactive" | null;
    };
    CreditCreateRequestBody: {
      burn_strategy?: "expiration_priority" | "first_in_first_out" | "last_in_first_out" | "plan_first_then_credit_bundles_first_in_first_out" | null;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      currency_prices?: components["schemas"]["CreditCurrencyPriceWrite"][] | null;
      default_expiry_unit?: "billing_periods" | "days" | null;
      default_expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      default_rollover_policy?: "expire" | "none" | "rollover" | null;
      description?: null | string;
      icon?: null | string;
      name: components["schemas"]["Name.o2"];
      per_unit_price?: components["schemas"]["Money"] | null;
      per_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      plural_name?: components["schemas"]["Label.o1"];
      singular_name?: components["schemas"]["Label.o1"];
    };
    CreditCurrencyPrice: {
      currency: string;
      price?: components["schemas"]["BillingPrice"];
    };
    CreditCurrencyPriceWrite: {
      currency: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
      price_per_unit?: components["schemas"]["Money"] | null;
      price_per_unit_decimal?: components["schemas"]["DecimalText"] | null;
    };
    CreditDay: {
      balance: null | number;
      consumed: number;
      day: string;
    };
    CreditGrant: {
      company_id: string;
      company_license_id: null | string;
      company_name: string;
      created_at: string;
      credit_bundle_id: null | string;
      credit_icon: null | string;
      credit_id: string;
      credit_name: string;
      currency: null | string;
      expires_at: null | string;
      grant_reason: "adjustment" | "billing_credit_auto_topup" | "free" | "plan" | "postpaid_forgiven" | "postpaid_overdraft" | "postpaid_settlement" | "purchased" | "rollover";
      id: string;
      license_name: null | string;
      plan_id: null | string;
      plan_name: null | string;
      postpaid_charge_amount: null | number;
      postpaid_charge_currency: null | string;
      postpaid_charged_credits: null | number;
      price?: components["schemas"]["BillingPrice"];
      quantity: number;
      quantity_remaining: number;
      quantity_used: number;
      renewal_enabled: boolean;
      renewal_period: "daily" | "every_6_months" | "monthly" | "quarterly" | "weekly" | "yearly" | null;
      reserved: null | number;
      settled: null | number;
      source_grant_id: null | string;
      source_label: string;
      transfers?: components["schemas"]["CreditTransfer"][];
      updated_at: string;
      valid_from: null | string;
      zeroed_out_date: null | string;
      zeroed_out_reason: "customer_archived" | "expired" | "integration_uninstalled" | "license_retired" | "manual" | "plan_change" | "plan_period_reset" | "reconciled" | null;
    };
    CreditGrantDetail: {
      credit_type_icon: null | string;
      expires_at: null | string;
      grant_reason: "adjustment" | "billing_credit_auto_topup" | "free" | "plan" | "postpaid_forgiven" | "postpaid_overdraft" | "postpaid_settlement" | "purchased" | "rollover";
      quantity: number;
    };
    CreditGrantTierWrite: {
      per_unit_price?: components["schemas"]["Money"] | null;
      per_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      up_to?: number | null;
    };
    CreditLease: {
      company_id: string;
      created_at: string;
      credit_type_id: string;
      expires_at: string;
      granted_amount: number;
      id: string;
      released_at: null | string;
      tracked_amount: number;
      updated_at: string;
    };
    CreditLedgerEntry: {
      amount: number;
      auto_topup_log_id: null | string;
      billing_credit_bundle_id: null | string;
      billing_credit_id: string;
      company?: {
        id: string;
        logo_url: null | string;
        name: string;
      };
      company_id: string;
      credit?: {
        description: null | string;
        icon: null | string;
        id: string;
        name: string;
        plural_name: null | string;
        singular_name: null | string;
      };
      credit_name: string;
      environment_id: string;
      event_at: string;
      event_id: string;
      event_type: "grant" | "transfer" | "usage" | "zero_out";
      expiry_type: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      expiry_unit: "billing_periods" | "days" | null;
      expiry_unit_count: null | number;
      feature?: {
        description: null | string;
        icon: null | string;
        id: string;
        name: string;
      };
      feature_id: null | string;
      from_grant_id: null | string;
      grant_expires_at: null | string;
      grant_id: null | string;
      grant_quantity: null | number;
      grant_quantity_remaining: null | number;
      grant_reason: "adjustment" | "billing_credit_auto_topup" | "free" | "plan" | "postpaid_forgiven" | "postpaid_overdraft" | "postpaid_settlement" | "purchased" | "rollover" | null;
      grant_valid_from: null | string;
      plan_id: null | string;
      quantity_consumed: null | number;
      quantity_remaining_at_zero_out: null | number;
      source_id: number;
      to_grant_id: null | string;
      transfer_reason: "overdraft_recovery" | "postpaid_debt_moved" | "postpaid_forgiven" | "postpaid_paid" | null;
      usage_event_id: null | string;
      usage_reason: "lease_hold" | "lease_release" | "manual_adjustment" | "reconciliation" | "reservation_hold" | "reservation_release" | "track" | null;
      zeroed_out_reason: "customer_archived" | "expired" | "integration_uninstalled" | "license_retired" | "manual" | "plan_change" | "plan_period_reset" | "reconciled" | null;
    };
    CreditReservation: {
      company_id: string;
      created_at: string;
      credit_type_id: string;
      expires_at: string;
      id: string;
      released_at: null | string;
      reserved_amount: number;
      settled_amount: number;
      updated_at: string;
    };
    Credits: number;
    "Credits.o1": number;
    CreditSpendPolicy: {
      billing_credit_id: string;
      company_id: null | string;
      created_at: string;
      currency?: string;
      group_trait?: string;
      group_value?: string;
      id: string;
      label: null | string;
      max_per_draw: null | number;
      max_spend?: number;
      mode?: "hard" | "soft";
      period?: "day" | "hour" | "month" | "week";
      scope_type: "company" | "group" | "user";
      unit?: "cost" | "credits";
      updated_at: string;
      user_id: null | string;
    };
    CreditsReserve: {
      amount: number;
      company_id: string;
      credit_type_id: string;
      expires_at?: null | string;
      idempotency_key?: null | string;
    };
    CreditSummary: {
      credit_id: string;
      name: string;
      remaining: number;
    };
    CreditTransfer: {
      amount: number;
      created_at: string;
      direction: string;
      id: string;
      reason: string;
      related_grant_id: string;
    };
    CreditTriggerConfig: {
      credit_id: string;
    };
    CreditTriggers: components["schemas"]["CreditTriggerConfig"][];
    CreditUpdate: {
      burn_strategy?: "expiration_priority" | "first_in_first_out" | "last_in_first_out" | "plan_first_then_credit_bundles_first_in_first_out" | null;
      currency_prices?: components["schemas"]["CreditCurrencyPriceWrite"][] | null;
      default_expiry_unit?: "billing_periods" | "days" | null;
      default_expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      default_rollover_policy?: "expire" | "none" | "rollover" | null;
      description?: string;
      icon?: null | string;
      name?: components["schemas"]["Name.o2"];
      per_unit_price?: components["schemas"]["Money"] | null;
      per_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      plural_name?: components["schemas"]["Label.o1"];
      singular_name?: components["schemas"]["Label.o1"];
    };
    CreditUsageAggregation: {
      usage_this_billing_period: number;
      usage_this_calendar_month: number;
      usage_this_week: number;
      usage_today: number;
    };
    CurrencyPriceWrite: {
      currency: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
      monthly_price_tiers?: components["schemas"]["Tiers"];
      monthly_unit_price?: components["schemas"]["Money"] | null;
      monthly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      quarterly_price_tiers?: components["schemas"]["Tiers"];
      quarterly_unit_price?: components["schemas"]["Money"] | null;
      quarterly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      yearly_price_tiers?: components["schemas"]["Tiers"];
      yearly_unit_price?: components["schemas"]["Money"] | null;
      yearly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
    };
    CustomPlanBilling: {
      activation_strategy: "on_payment" | "on_publish";
      billing_cycle_anchor: null | string;
      billing_start_date: null | string;
      checkout_id: null | string;
      company_id: string;
      created_at: string;
      days_until_due: number;
      external_invoice_id: null | string;
      id: string;
      migration_id: null | string;
      paid_at: null | string;
      plan_billing_source: "amendment" | "custom_plan" | "manage_plan";
      plan_id: string;
      problems: components["schemas"]["CheckoutProblem"][];
      prorate_first_period: boolean | null;
      psp_invoice_url: null | string;
      published_at: null | string;
      send_invoice: boolean;
      status: "active" | "expired" | "paid" | "pending";
      updated_at: string;
    };
    CustomPlanBillingPaid: {
      idempotency_key?: null | string;
    } & {
      [key: string]: unknown;
    };
    CustomPlanBillingRetry: {
      activation_strategy?: "on_payment" | "on_publish" | null;
      billing_cycle_anchor?: null | string;
      customer_email: components["schemas"]["ExternalId"];
      days_until_due?: number | null;
      idempotency_key?: null | string;
      prorate_first_period?: boolean | null;
      send_invoice?: boolean | null;
    };
    CustomPlanBundleCreate: {
      billing_product?: components["schemas"]["BillingProductWrite"] | null;
      credit_grants?: components["schemas"]["BundleCreditGrantWrite"][] | null;
      entitlements?: components["schemas"]["BundleEntitlementWrite"][] | null;
      idempotency_key?: null | string;
      plan: components["schemas"]["CustomPlanCreate"];
    };
    CustomPlanConfig: {
      cta_text: string;
      cta_web_site: string;
      price_text: string;
    };
    CustomPlanCreate: {
      company_id: string;
      copied_from_plan_id?: null | string;
      copied_price_id?: null | string;
      description?: components["schemas"]["Description"] | null;
      icon?: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow" | null;
      idempotency_key?: null | string;
      name: components["schemas"]["Name"];
    };
    Days: number;
    DecimalText: string;
    Deleted: {
      deleted: true;
    };
    DeniedChecks: {
      checks: number;
      company_id: null | string;
      company_name: null | string;
      flag_key: null | string;
      left_out: number;
      minute: null | string;
      reason: null | string;
    };
    Description: string;
    DraftChange: {
      after: null | string;
      before: null | string;
      change: "added" | "changed" | "removed";
      kind: "credit_grant" | "entitlement" | "plan" | "price";
      member: null | string;
      name: string;
    };
    DraftDiff: {
      changes: components["schemas"]["DraftChange"][];
      company_count: number;
      draft_version: components["schemas"]["PlanVersionSummary"] | null;
      plan_id: string;
      plan_name: string;
      plan_type: "add_on" | "plan";
      published_version: components["schemas"]["PlanVersionSummary"] | null;
      terms: components["schemas"]["PlanTerms"] | null;
      versions: components["schemas"]["PlanVersionSummary"][];
    };
    DuplicatedEntitlements: {
      data: components["schemas"]["PlanEntitlement"][];
      issues: components["schemas"]["PlanIssue"][];
      skipped: components["schemas"]["SkippedEntitlement"][];
    };
    EntitlementChange: {
      after: components["schemas"]["EntitlementTerms"] | null;
      before: components["schemas"]["EntitlementTerms"] | null;
      feature_id: string;
      feature_name: string;
    };
    EntitlementCurrencyPrices: {
      currency: string;
      monthly_price?: components["schemas"]["BillingPriceView"];
      quarterly_price?: components["schemas"]["BillingPriceView"];
      yearly_price?: components["schemas"]["BillingPriceView"];
    };
    EntitlementInPlan: {
      entitlement_id: string;
      visible?: boolean | null;
    };
    EntitlementsDuplicate: {
      source_plan_id: string;
      target_plan_id: string;
    };
    EntitlementSummary: {
      consumption_rate: null | number;
      credit_name: null | string;
      feature_id: string;
      feature_name: string;
      metric_period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      value_bool: boolean | null;
      value_numeric: null | number;
      value_type: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
    };
    EntitlementTerms: {
      consumption_rate: null | number;
      credit_id: null | string;
      limit: null | number;
      metric_period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      soft_limit: null | number;
      value_type: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
    };
    EntitlementTriggerConfig: {
      feature_id: string;
    };
    EntitlementTriggers: components["schemas"]["EntitlementTriggerConfig"][];
    EntityKeyDefinition: {
      created_at: string;
      entity_type: "company" | "user";
      id: string;
      key: string;
      updated_at: string;
    };
    EntityKeyDetail: {
      created_at: string;
      definition?: components["schemas"]["EntityKeyDefinition"];
      definition_id: string;
      entity_id: string;
      entity_type: "company" | "user";
      environment_id: string;
      id: string;
      key: string;
      updated_at: string;
      value: string;
    };
    EntityTraitDefinition: {
      created_at: string;
      display_name: string;
      entity_type: "company" | "user";
      hierarchy: string[];
      id: string;
      publishable_writes?: boolean;
      trait_type: "boolean" | "currency" | "date" | "number" | "string" | "url";
      updated_at: string;
    };
    EntityTraitDefinitionUsage: {
      checkout_field_config_count: number;
      company_override_count: number;
      feature_count: number;
      plan_entitlement_count: number;
      plan_trait_count: number;
      rule_condition_count: number;
    };
    EntityTraitDetail: {
      created_at: string;
      definition?: components["schemas"]["EntityTraitDefinition"];
      definition_id: string;
      environment_id: string;
      id: string;
      updated_at: string;
      value: string;
    };
    EntityTraitValue: {
      definition_id: string;
      value: string;
    };
    Environment: {
      created_at: string;
      environment_type: "development" | "production" | "staging";
      id: string;
      lowercase_keys?: components["schemas"]["LowercaseKeys"];
      name: string;
      publishable_limits?: components["schemas"]["PublishableLimits"];
      require_context_signature: boolean;
      updated_at: string;
    };
    EnvironmentClock: {
      environment_id: string;
      frozen: boolean;
      now: string;
      offset_seconds: null | number;
      test_clock: boolean;
    };
    EnvironmentCreate: {
      environment_type: "development" | "production" | "staging";
      name: string;
    };
    EnvironmentDetail: {
      api_keys: components["schemas"]["ApiKey"][];
      created_at: string;
      environment_type: "development" | "production" | "staging";
      id: string;
      lowercase_keys?: components["schemas"]["LowercaseKeys"];
      name: string;
      publishable_limits?: components["schemas"]["PublishableLimits"];
      require_context_signature: boolean;
      updated_at: string;
    };
    EnvironmentUpdate: {
      environment_type?: "development" | "production" | "staging" | null;
      lowercase_keys?: components["schemas"]["LowercaseKeysWrite"] | null;
      name?: null | string;
      publishable_limits?: components["schemas"]["PublishableLimitsWrite"];
      require_context_signature?: boolean | null;
    };
    Erasure: {
      api_key_id: null | string;
      entity_id: string;
      environment_id: string;
      erased_at: null | string;
      gone_from_backups_at: string;
      gone_from_files_at: null | string;
      id: string;
      kind: "company" | "user";
      removed: {
        [key: string]: number;
      };
      requested_at: string;
    };
    ErasureRequest: {
      backups_kept_days?: number | null;
    };
    Error: {
      error: string;
    };
    EventBatch: {
      events: components["schemas"]["EventCreate"][];
    };
    EventBodyFlagCheck: {
      company_id?: null | string;
      error?: null | string;
      flag_id?: null | string;
      flag_key: string;
      preflight?: boolean | null;
      reason: string;
      req_company?: null | {
        [key: string]: string;
      };
      req_user?: null | {
        [key: string]: string;
      };
      rule_id?: null | string;
      user_id?: null | string;
      value: boolean;
    };
    EventBodyIdentify: {
      company?: components["schemas"]["EventBodyIdentifyCompany"] | null;
      keys: components["schemas"]["Keys.o1"];
      name?: null | string;
      traits?: null | {
        [key: string]: unknown;
      };
    };
    EventBodyIdentifyCompany: {
      keys: components["schemas"]["Keys.o1"];
      name?: null | string;
      traits?: null | {
        [key: string]: unknown;
      };
    };
    EventBodyInference: {
      cache_creation_input_tokens?: number | null;
      cached_input_tokens?: number | null;
      company: components["schemas"]["Keys.o1"];
      cost?: null | string;
      currency?: null | string;
      event?: null | string;
      input_tokens: number;
      lease_id?: null | string;
      operation?: null | string;
      output_tokens: number;
      provider: string;
      reasoning_tokens?: number | null;
      request_model?: null | string;
      requests?: number | null;
      reservation_id?: null | string;
      response_model: string;
      user?: components["schemas"]["Keys.o1"] | null;
    };
    EventBodyTrack: {
      company?: components["schemas"]["Keys.o1"] | null;
      event: string;
      lease_id?: null | string;
      quantity?: number | null;
      reservation_id?: null | string;
      traits?: null | {
        [key: string]: unknown;
      };
      user?: components["schemas"]["Keys.o1"] | null;
    };
    EventCreate: components["schemas"]["FlagCheckEvent"] | components["schemas"]["IdentifyEvent"] | components["schemas"]["InferenceEvent"] | components["schemas"]["TrackEvent"];
    EventDetail: {
      api_key: null | string;
      api_key_view?: components["schemas"]["ApiKey"];
      body: {
        [key: string]: unknown;
      };
      body_preview: string;
      captured_at: string;
      company?: components["schemas"]["Preview"];
      company_id: null | string;
      cost?: null | string;
      currency?: null | string;
      derived_from?: null | string;
      enriched_at: null | string;
      environment_id: null | string;
      error_message: null | string;
      feature_ids: string[];
      features: components["schemas"]["Preview"][];
      id: string;
      idempotency_key: null | string;
      lease_id: null | string;
      loaded_at: null | string;
      price_id?: null | string;
      processed_at: null | string;
      quantity: number;
      reservation_id: null | string;
      sent_at: null | string;
      status: "enriched" | "failed" | "pending" | "processed" | "unknown";
      subtype: null | string;
      type: "flag_check" | "identify" | "inference" | "track";
      updated_at: null | string;
      user?: components["schemas"]["Preview"];
      user_id: null | string;
    };
    EventSummary: {
      company_count: number;
      environment_id: string;
      event_count: number;
      event_subtype: string;
      last_seen_at: null | string;
      user_count: number;
    };
    ExplainBody: {
      at?: null | string;
      company?: components["schemas"]["Keys.o2"] | null;
      company_id?: null | string;
      preflight?: components["schemas"]["PreflightRequestBody"] | null;
      user?: components["schemas"]["Keys.o2"] | null;
    };
    ExplainedCondition: {
      condition_type: "base_plan" | "billing_product" | "company" | "credit" | "metric" | "plan" | "plan_version" | "trait" | "user";
      expected: string;
      held: boolean;
      id: string;
      operator: "eq" | "gt" | "gte" | "is_empty" | "lt" | "lte" | "ne" | "not_empty";
      resets_at: null | string;
      resource_ids: string[];
      saw: null | string;
      subject: string;
    };
    ExplainedRule: {
      company_override_id: null | string;
      condition_groups: components["schemas"]["ExplainedCondition"][][];
      conditions: components["schemas"]["ExplainedCondition"][];
      decided: boolean;
      id: string;
      matched: boolean;
      name: string;
      origin: "flag" | "override" | "plan";
      plan_id: null | string;
      rule_type: "company_override" | "company_override_usage_exceeded" | "default" | "global_override" | "plan_entitlement" | "plan_entitlement_usage_exceeded" | "standard";
      value: boolean;
    };
    ExternalId: string;
    Feature: {
      created_at: string;
      description: string;
      event_source: "inference" | "track";
      event_subtype: null | string;
      feature_type: "boolean" | "event" | "license" | "trait";
      icon: string;
      id: string;
      license_id: null | string;
      lifecycle_phase: "add_on" | "alpha" | "beta" | "deprecated" | "ga" | "in_plan" | "inactive" | "internal_testing" | "legacy" | null;
      maintainer_account_member_id: null | string;
      name: string;
      plural_name: null | string;
      singular_name: null | string;
      trait_id: null | string;
      updated_at: string;
      usage_limit_trait_id: null | string;
    };
    FeatureCompanies: {
      companies: number;
      feature_id: string;
      feature_name: string;
    };
    FeatureCompany: {
      access: boolean;
      allocation: null | number;
      allocation_type: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      company?: components["schemas"]["Company"] | components["schemas"]["CompanyDetail"];
      company_override?: components["schemas"]["CompanyOverride"];
      credit_consumption_rate: null | number;
      credit_grant_counts?: {
        [key: string]: number;
      };
      credit_grant_details?: components["schemas"]["CreditGrantDetail"][];
      credit_grant_reason: "adjustment" | "billing_credit_auto_topup" | "free" | "plan" | "postpaid_forgiven" | "postpaid_overdraft" | "postpaid_settlement" | "purchased" | "rollover" | null;
      credit_remaining: null | number;
      credit_total: null | number;
      credit_type_icon?: null | string;
      credit_usage_aggregation?: components["schemas"]["CreditUsageAggregation"];
      credit_used: null | number;
      effective_limit: null | number;
      effective_price: null | number;
      entitlement_expiration_date: null | string;
      entitlement_id: string;
      entitlement_source: "company_override" | "plan";
      entitlement_type: "company_override" | "plan_entitlement" | "unknown";
      feature?: components["schemas"]["FeatureInPlan"];
      has_valid_allocation: boolean;
      is_unlimited: boolean;
      metric_reset_at: null | string;
      month_reset: "billing_cycle" | "first_of_month" | null;
      monthly_usage_based_price?: components["schemas"]["BillingPriceView"];
      overuse: null | number;
      percent_used: null | number;
      period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      plan?: components["schemas"]["Plan"];
      plan_entitlement?: components["schemas"]["PlanEntitlement"];
      price_behavior: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
      quarterly_usage_based_price?: components["schemas"]["BillingPriceView"];
      soft_limit: null | number;
      usage: null | number;
      yearly_usage_based_price?: components["schemas"]["BillingPriceView"];
    };
    FeatureCompanyUser: {
      access: boolean;
      allocation: null | number;
      allocation_type: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      company?: components["schemas"]["Company"] | components["schemas"]["CompanyDetail"];
      entitlement_id: string;
      entitlement_type: "company_override" | "plan_entitlement" | "unknown";
      feature?: components["schemas"]["FeatureDetail"];
      metric_reset_at: null | string;
      month_reset: "billing_cycle" | "first_of_month" | null;
      period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      plan?: components["schemas"]["Plan"];
      usage: null | number;
      user?: components["schemas"]["User"];
    };
    FeatureCreateRequestBody: {
      description?: null | string;
      event_source?: "inference" | "track" | null;
      event_subtype?: null | string;
      feature_type?: "boolean" | "event" | "license" | "trait" | null;
      flag?: components["schemas"]["FlagWithFeature"] | null;
      icon?: null | string;
      lifecycle_phase?: "add_on" | "alpha" | "beta" | "deprecated" | "ga" | "in_plan" | "inactive" | "internal_testing" | "legacy" | null;
      maintainer_account_member_id?: null | string;
      name: string;
      plural_name?: null | string;
      singular_name?: null | string;
      trait_id?: null | string;
    };
    FeatureDetail: {
      billing_linked_resource?: {
        billing_provider: "ext_a" | "ext_b" | "native" | "psp";
        external_resource_id: string;
        originator: "ext_a" | "ext_b" | "native" | "psp";
      };
      billing_product?: components["schemas"]["BillingProduct"];
      created_at: string;
      description: string;
      event_source: "inference" | "track";
      event_subtype: null | string;
      event_summary?: components["schemas"]["EventSummary"];
      feature_type: "boolean" | "event" | "license" | "trait";
      flags: components["schemas"]["FlagDetail"][];
      icon: string;
      id: string;
      license_id: null | string;
      lifecycle_phase: "add_on" | "alpha" | "beta" | "deprecated" | "ga" | "in_plan" | "inactive" | "internal_testing" | "legacy" | null;
      maintainer?: components["schemas"]["AccountMember"];
      maintainer_account_member_id: null | string;
      name: string;
      plans: components["schemas"]["PreviewObject"][];
      plural_name: null | string;
      singular_name: null | string;
      trait?: components["schemas"]["EntityTraitDefinition"];
      trait_id: null | string;
      updated_at: string;
      usage_limit_trait_id: null | string;
    };
    FeatureEntitlement: {
      allocation?: number;
      consumption_rate?: number;
      credit_id?: string;
      credit_remaining?: number;
      credit_reserved?: number;
      credit_settled?: number;
      credit_total?: number;
      credit_used?: number;
      event_name?: string;
      event_subtype?: string;
      feature_id: string;
      feature_key: string;
      metric_period?: "all_time" | "current_day" | "current_month" | "current_week";
      metric_reset_at?: string;
      month_reset?: "billing_cycle" | "first_of_month";
      quantity_rates?: {
        [key: string]: number;
      };
      soft_limit?: number;
      usage?: number;
      value_type: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      warning_tiers?: {
        readonly key: string;
        readonly value: number;
      }[];
    };
    FeatureInPlan: {
      billing_linked_resource?: components["schemas"]["BillingLinkedResource"];
      created_at: string;
      description: string;
      event_source: "inference" | "track";
      event_subtype: null | string;
      event_summary?: components["schemas"]["EventSummary"];
      feature_type: "boolean" | "event" | "license" | "trait";
      flags: components["schemas"]["FlagInPlan"][];
      icon: string;
      id: string;
      license_id: null | string;
      lifecycle_phase: "add_on" | "alpha" | "beta" | "deprecated" | "ga" | "in_plan" | "inactive" | "internal_testing" | "legacy" | null;
      maintainer_account_member_id: null | string;
      name: string;
      plans: components["schemas"]["PreviewObject"][];
      plural_name: null | string;
      singular_name: null | string;
      trait?: components["schemas"]["EntityTraitDefinition"];
      trait_id: null | string;
      updated_at: string;
      usage_limit_trait_id: null | string;
    };
    FeatureSummary: {
      description: string;
      event_subtype: null | string;
      feature_type: string;
      flag: null | {
        id: string;
        key: string;
      };
      id: string;
      name: string;
      plan_count: number;
    };
    FeatureUpdate: {
      description?: null | string;
      event_source?: "inference" | "track" | null;
      event_subtype?: null | string;
      feature_type?: "boolean" | "event" | "license" | "trait" | null;
      flag?: components["schemas"]["FlagWithFeature"] | null;
      icon?: null | string;
      lifecycle_phase?: "add_on" | "alpha" | "beta" | "deprecated" | "ga" | "in_plan" | "inactive" | "internal_testing" | "legacy" | null;
      maintainer_account_member_id?: null | string;
      name?: null | string;
      plural_name?: null | string;
      singular_name?: null | string;
      trait_id?: null | string;
    };
    FeatureUsage: {
      access: boolean;
      allocation: null | number;
      allocation_type: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      company_override?: components["schemas"]["CompanyOverride"];
      credit_consumption_rate: null | number;
      credit_grant_counts?: {
        [key: string]: number;
      };
      credit_grant_details?: components["schemas"]["CreditGrantDetail"][];
      credit_grant_reason: "adjustment" | "billing_credit_auto_topup" | "free" | "plan" | "postpaid_forgiven" | "postpaid_overdraft" | "postpaid_settlement" | "purchased" | "rollover" | null;
      credit_remaining: null | number;
      credit_total: null | number;
      credit_type_icon?: null | string;
      credit_usage_aggregation?: components["schemas"]["CreditUsageAggregation"];
      credit_used: null | number;
      effective_limit: null | number;
      effective_price: null | number;
      entitlement_expiration_date: null | string;
      entitlement_id: string;
      entitlement_source: "company_override" | "plan";
      entitlement_type: "company_override" | "plan_entitlement" | "unknown";
      feature?: components["schemas"]["FeatureInPlan"];
      has_valid_allocation: boolean;
      is_unlimited: boolean;
      metric_reset_at: null | string;
      month_reset: "billing_cycle" | "first_of_month" | null;
      monthly_usage_based_price?: components["schemas"]["BillingPriceView"];
      overuse: null | number;
      percent_used: null | number;
      period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      plan?: components["schemas"]["Plan"];
      plan_entitlement?: components["schemas"]["PlanEntitlement"];
      price_behavior: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
      quarterly_usage_based_price?: components["schemas"]["BillingPriceView"];
      soft_limit: null | number;
      usage: null | number;
      yearly_usage_based_price?: components["schemas"]["BillingPriceView"];
    };
    FeatureUsageDetail: {
      features: components["schemas"]["FeatureUsage"][];
    };
    FeatureUsageHistory: {
      company_id: string;
      event_subtype: string;
      feature_id: string;
      period_end: string;
      period_start: string;
      usage: number;
    };
    FeatureUsageTimeSeries: {
      feature_id: string;
      feature_type: "boolean" | "event" | "license" | "trait";
      limits: components["schemas"]["LimitTimeSeriesPoint"][];
      period_type: "all_time" | "current_day" | "current_month" | "current_week" | null;
      usage_points: components["schemas"]["UsageTimeSeriesPoint"][];
    };
    Flag: {
      created_at: string;
      default_value: boolean;
      description: string;
      feature_id: null | string;
      flag_type: "boolean";
      id: string;
      key: string;
      maintainer_account_member_id: null | string;
      name: string;
      updated_at: string;
    };
    FlagCheckEvent: {
      backfill?: boolean | null;
      body: components["schemas"]["EventBodyFlagCheck"];
      event_type: "flag_check";
      idempotency_key?: null | string;
      sent_at?: null | string;
      trusted_client_clock?: boolean | null;
    };
    FlagCheckReservation: {
      company_id: string;
      consumption_rate: number;
      credit_type_id: string;
      credits_reserved: number;
      event_subtype: null | string;
      expires_at: string;
      id: string;
      quantity_reserved: number;
    };
    FlagChecks: {
      checks: number;
      denied: number;
      flag_key: string;
      reason: null | string;
    };
    FlagCreateRequestBody: {
      default_value?: boolean | null;
      description?: null | string;
      feature_id?: null | string;
      flag_type?: "boolean" | null;
      key: string;
      maintainer_account_member_id?: null | string;
      name?: null | string;
    };
    FlagDetail: {
      created_at: string;
      default_value: boolean;
      description: string;
      feature?: components["schemas"]["Feature"];
      feature_id: null | string;
      flag_type: "boolean";
      id: string;
      key: string;
      last_checked_at: null | string;
      maintainer?: components["schemas"]["AccountMember"];
      maintainer_account_member_id: null | string;
      name: string;
      rules: components["schemas"]["RuleDetail"][];
      updated_at: string;
    };
    FlagExplanation: {
      at: string;
      company_id: null | string;
      company_name: null | string;
      default_value: boolean;
      error: null | string;
      flag: string;
      flag_id: string;
      reason: string;
      rule_id: null | string;
      rules: components["schemas"]["ExplainedRule"][];
      smallest_change: components["schemas"]["SmallestChange"] | null;
      user_id: null | string;
      value: boolean;
    };
    FlagInPlan: {
      created_at: string;
      default_value: boolean;
      description: string;
      feature?: components["schemas"]["Feature"];
      feature_id: null | string;
      flag_type: "boolean";
      id: string;
      key: string;
      last_checked_at: null | string;
      maintainer_account_member_id: null | string;
      name: string;
      rules: components["schemas"]["RuleDetail"][];
      updated_at: string;
    };
    FlagSummary: {
      default_value: boolean;
      feature_id: null | string;
      id: string;
      key: string;
      last_checked_at: null | string;
      name: string;
      rule_count: number;
    };
    FlagUpdate: {
      default_value?: boolean;
      description?: string;
      feature_id?: null | string;
      flag_type?: "boolean";
      key?: string;
      maintainer_account_member_id?: null | string;
      name?: string;
    };
    FlagWithFeature: {
      default_value?: boolean | null;
      description?: null | string;
      feature_id?: null | string;
      flag_type?: "boolean" | null;
      id?: null | string;
      key?: null | string;
      maintainer_account_member_id?: null | string;
      name?: null | string;
    };
    GrantZeroOut: {
      idempotency_key?: null | string;
      reason?: "customer_archived" | "expired" | "integration_uninstalled" | "license_retired" | "manual" | "plan_change" | "plan_period_reset" | "reconciled" | null;
    };
    IdentifyEvent: {
      backfill?: boolean | null;
      body: components["schemas"]["EventBodyIdentify"];
      event_type: "identify";
      idempotency_key?: null | string;
      sent_at?: null | string;
      trusted_client_clock?: boolean | null;
    };
    InferenceEvent: {
      backfill?: boolean | null;
      body: components["schemas"]["EventBodyInference"];
      event_type: "inference";
      idempotency_key?: null | string;
      sent_at?: null | string;
      trusted_client_clock?: boolean | null;
    };
    InvitedMember: {
      console_roles: {
        [key: string]: "admin" | "editor" | "support" | "viewer";
      };
      created_at: string;
      disabled: boolean;
      email: null | string;
      first_name: null | string;
      id: string;
      image_url: null | string;
      invitation: components["schemas"]["SignInLink"];
      last_name: null | string;
      name: null | string;
      permissions: {
        [key: string]: ("companies_edit" | "company_users_edit" | "components_edit" | "custom_plans_edit" | "data_exports_edit" | "features_edit" | "flag_rules_edit" | "flags_edit" | "overrides_edit" | "plan_billing_edit" | "plan_entitlements_edit" | "plan_versions_edit" | "plans_edit" | "webhooks_edit" | "webhooks_reveal_secret")[];
      };
      role: "admin" | "member" | null;
      signed_in_at: null | string;
      source: "console" | "file" | "oidc" | "operator";
      updated_at: string;
    };
    Invoice: {
      amount_due: number;
      amount_paid: number;
      amount_remaining: number;
      billing_period_id?: string;
      collection_method: string;
      company_id: null | string;
      created_at: string;
      currency: string;
      customer_external_id: string;
      due_date: null | string;
      ending_balance: number;
      environment_id: string;
      external_id: null | string;
      id: string;
      lines?: components["schemas"]["ChargeLineView"][];
      payment_method_external_id: null | string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      starting_balance: number;
      status: "draft" | "open" | "paid" | "uncollectible" | "void" | null;
      subscription_external_id: null | string;
      subtotal: number;
      total: number;
      updated_at: string;
      url: null | string;
    };
    InvoiceUpsert: {
      amount_due?: components["schemas"]["Long"];
      amount_paid?: components["schemas"]["Long"];
      amount_remaining?: components["schemas"]["Long"];
      collection_method?: string;
      currency?: string;
      customer_external_id?: components["schemas"]["ExternalId"];
      due_date?: null | string;
      ending_balance?: components["schemas"]["Long"] | null;
      external_id?: components["schemas"]["ExternalId"] | null;
      payment_method_external_id?: components["schemas"]["Text255"] | null;
      starting_balance?: components["schemas"]["Long"] | null;
      status?: "draft" | "open" | "paid" | "uncollectible" | "void" | null;
      subscription_external_id?: components["schemas"]["Text255"] | null;
      subtotal?: components["schemas"]["Long"];
      url?: null | string;
    };
    KeyNames: string[];
    Keys: {
      [key: string]: string;
    };
    "Keys.o1": {
      [key: string]: string;
    };
    "Keys.o2": {
      [key: string]: string;
    };
    "Keys.o3": {
      [key: string]: string;
    };
    KeysBody: {
      keys: components["schemas"]["Keys"];
    };
    Label: string;
    "Label.o1": null | string;
    LeaseAcquire: {
      company_id: string;
      credit_type_id: string;
      expires_at?: null | string;
      idempotency_key?: null | string;
      requested_amount: number;
    };
    LeaseExtend: {
      additional_amount: number;
      expires_at?: null | string;
      idempotency_key?: null | string;
    };
    License: {
      created_at: string;
      id: string;
      name: string;
      updated_at: string;
    };
    LimitExceeded: {
      feature_id: string;
      feature_name: string;
      limit: number;
      usage: number;
    };
    LimitsUpdate: {
      limits?: components["schemas"]["Buckets"] | "off" | null;
    };
    LimitTimeSeriesPoint: {
      effective_at: string;
      is_soft_limit: boolean;
      limit_source: "company_override" | "plan_entitlement" | "unknown";
      limit_value: null | number;
      plan_id: null | string;
      price_behavior: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
    };
    Long: number;
    LowercaseKeys: {
      company: string[];
      user: string[];
    };
    LowercaseKeysWrite: {
      company?: components["schemas"]["KeyNames"] | null;
      user?: components["schemas"]["KeyNames"] | null;
    };
    ManagePlanPreview: {
      subscription_change_preview?: components["schemas"]["PreviewSubscriptionChange"];
    };
    ManagePlanRequestBody: {
      activate_on_payment?: boolean | null;
      add_on_selections?: components["schemas"]["PlanSelection"][] | null;
      auto_topup_overrides?: components["schemas"]["AutoTopupOverride"][] | null;
      base_plan_id?: null | string;
      base_plan_price_id?: null | string;
      base_plan_version_id?: null | string;
      billing_cycle_anchor?: null | string;
      billing_email?: components["schemas"]["Text255"] | null;
      billing_entity_id?: null | string;
      cancel_immediately?: boolean | null;
      collection_method?: "charge_automatically" | "send_invoice" | null;
      company?: components["schemas"]["Keys"] | null;
      company_id?: null | string;
      coupon_external_id?: components["schemas"]["Text255"] | null;
      credit_bundles?: {
        bundle_id: string;
        quantity: number;
      }[] | null;
      custom_field_values?: {
        id: string;
        value: string;
      }[] | null;
      days_until_due?: number | null;
      idempotency_key?: null | string;
      pay_in_advance_entitlements?: {
        price_id: string;
        quantity: number;
      }[] | null;
      payment_method_external_id?: components["schemas"]["Text255"] | null;
      promo_code?: components["schemas"]["Text255"] | null;
      prorate?: boolean | null;
      prorate_first_period?: boolean | null;
      send_invoice?: boolean | null;
      trial_end?: null | string;
      trial_end_setting?: "cancel" | "subscribe" | null;
    };
    ManagePlanResult: {
      company?: components["schemas"]["CompanyDetail"];
      success: boolean;
    };
    Mayactiveinactive: "active" | "inactive" | null;
    Mayadd_onalphabetadeprecatedgain_planinactiveinternal_testinglegacy: "add_on" | "alpha" | "beta" | "deprecated" | "ga" | "in_plan" | "inactive" | "internal_testing" | "legacy" | null;
    Mayall_timecurrent_daycurrent_monthcurrent_week: "all_time" | "current_day" | "current_month" | "current_week" | null;
    Mayautomaticoffuser_controlled: "automatic" | "off" | "user_controlled" | null;
    Maybilledgranted: "billed" | "granted" | null;
    Maybilling_cyclefirst_of_month: "billing_cycle" | "first_of_month" | null;
    Maybilling_period_startmonth_end: "billing_period_start" | "month_end" | null;
    Maybilling_periodfirst_of_month: "billing_period" | "first_of_month" | null;
    Maybilling_periodsdays: "billing_periods" | "days" | null;
    Maybooldateintstringversion: "bool" | "date" | "int" | "string" | "version" | null;
    Mayboolean: boolean | null;
    MayCatalogBundleMaxItems10000: components["schemas"]["CatalogBundle"][] | null;
    MayCatalogCheckoutFieldMaxItems100: components["schemas"]["CatalogCheckoutField"][] | null;
    MayCatalogConditionMaxItems100: components["schemas"]["CatalogCondition"][] | null;
    MayCatalogCreditMaxItems10000: components["schemas"]["CatalogCredit"][] | null;
    MayCatalogEntitlementMaxItems1000: components["schemas"]["CatalogEntitlement"][] | null;
    MayCatalogFeatureMaxItems10000: components["schemas"]["CatalogFeature"][] | null;
    MayCatalogFlagMaxItems10000: components["schemas"]["CatalogFlag"][] | null;
    MayCatalogOrderedPlanMaxItems100: components["schemas"]["CatalogOrderedPlan"][] | null;
    MayCatalogPlanGrantMaxItems100: components["schemas"]["CatalogPlanGrant"][] | null;
    MayCatalogPlanMaxItems10000: components["schemas"]["CatalogPlan"][] | null;
    MayCatalogPriceMaxItems50: components["schemas"]["CatalogPrice"][] | null;
    MayCatalogPriceMaxItems150: components["schemas"]["CatalogPrice"][] | null;
    MayCatalogPublish: "end_of_billing_period" | "immediate" | "leave" | null;
    MayCatalogQuantity: number | null | string;
    MayCatalogRuleMaxItems100: components["schemas"]["CatalogRule"][] | null;
    MayCatalogTierMaxItems100: components["schemas"]["CatalogTier"][] | null;
    MayCatalogTraitMaxItems20000: components["schemas"]["CatalogTrait"][] | null;
    MayCatalogWarningTierMaxItems10: components["schemas"]["CatalogWarningTier"][] | null;
    MayCount: components["schemas"]["Count.o3"] | null;
    Maycreate_prorationsinvoice_immediately: "create_prorations" | "invoice_immediately" | null;
    Maycredit_burndownoveragepay_as_you_gopay_in_advancetier: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
    MayCredits: components["schemas"]["Credits.o1"] | null;
    Maydailyevery_6_monthsmonthlyquarterlyweeklyyearly: "daily" | "every_6_months" | "monthly" | "quarterly" | "weekly" | "yearly" | null;
    MayDays: components["schemas"]["Days"] | null;
    MayDecimalText: components["schemas"]["DecimalText"] | null;
    Maydefaultglobal_overridestandard: "default" | "global_override" | "standard" | null;
    Maydurationend_of_billing_periodend_of_next_billing_periodend_of_trialno_expiry: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
    Mayend_of_billing_periodmonthlyquarterly: "end_of_billing_period" | "monthly" | "quarterly" | null;
    Mayend_of_billing_periodnone: "end_of_billing_period" | "none" | null;
    Mayexpiration_priorityfirst_in_first_outlast_in_first_outplan_first_then_credit_bundles_first_in_first_out: "expiration_priority" | "first_in_first_out" | "last_in_first_out" | "plan_first_then_credit_bundles_first_in_first_out" | null;
    Mayexpirenonerollover: "expire" | "none" | "rollover" | null;
    Mayext_aext_bnativepsp: "ext_a" | "ext_b" | "native" | "psp" | null;
    MayfeatureRefvisibleMaybooleanMaxItems1000: {
      feature: components["schemas"]["Ref"];
      visible?: components["schemas"]["Mayboolean"];
    }[] | null;
    Mayfixedper_license: "fixed" | "per_license" | null;
    Mayfreenoneone_timerecurring: "free" | "none" | "one_time" | "recurring" | null;
    Maygraduatedvolume: "graduated" | "volume" | null;
    Mayindividualquantity: "individual" | "quantity" | null;
    Mayinferencetrack: "inference" | "track" | null;
    MayLabel: components["schemas"]["Label"] | null;
    Maylicensedmetered: "licensed" | "metered" | null;
    MayModelPriceViewMaxItems10000: components["schemas"]["ModelPriceView"][] | null;
    Maymonthlyone_timequarterlyyearly: "monthly" | "one_time" | "quarterly" | "yearly" | null;
    Mayno_billingprovider_managedservice_managed: "no_billing" | "provider_managed" | "service_managed" | null;
    Mayno_resetplan_period: "no_reset" | "plan_period" | null;
    MaynumberMinimum0: null | number;
    MaynumberTypeint32Minimum0Maximum100: number | null;
    MaynumberTypeint32Minimum1Maximum100: number | null;
    MayplanRefcompatible_plansRefMaxItems1000MaxItems100: {
      compatible_plans: components["schemas"]["Ref"][];
      plan: components["schemas"]["Ref"];
    }[] | null;
    MayRate: components["schemas"]["Rate.o1"] | null;
    MayRef: components["schemas"]["Ref"] | null;
    MayRefMaxItems100: components["schemas"]["Ref"][] | null;
    MayRefMaxItems1000: components["schemas"]["Ref"][] | null;
    MaystringMaxLength64: null | string;
    MaystringMaxLength80: null | string;
    MaystringMaxLength255: null | string;
    MaystringMinLength1MaxLength255: null | string;
    MaystringMinLength1MaxLength256: null | string;
    MayText: components["schemas"]["Text"] | null;
    MayTraitRef: components["schemas"]["TraitRef"] | null;
    MembershipCreate: {
      company_id: string;
      user_id: string;
    };
    MeterUpsert: {
      display_name?: components["schemas"]["Text255"];
      event_name?: components["schemas"]["Text255"];
      event_payload_key?: components["schemas"]["Text255"];
      external_id: components["schemas"]["ExternalId"];
      provider_type?: "ext_a" | "ext_b" | "native" | "psp" | null;
    };
    MigrationCompleteNow: {
      idempotency_key?: null | string;
      proration_behavior?: "always_invoice" | "create_prorations" | "none" | null;
    };
    MigrationCreateRequestBody: {
      company_ids?: string[] | null;
      excluded_company_ids?: string[] | null;
      idempotency_key?: null | string;
      migration_scheduled_at?: null | string;
      plan_id: string;
      plan_version_id_to: string;
      plan_version_ids_from?: string[] | null;
      proration_behavior?: "always_invoice" | "create_prorations" | "none" | null;
      strategy?: "end_of_billing_period" | "immediate" | "leave" | "scheduled" | null;
      target_plan_type?: "add_on" | "plan" | null;
    };
    MigrationPreviewRequest: {
      company_ids?: string[] | null;
      plan_id: string;
      plan_version_id_to: string;
      plan_version_ids_from?: string[] | null;
      target_plan_type?: "add_on" | "plan" | null;
    };
    MigrationRetry: {
      error_codes?: ("ambiguous_subscription_item" | "multiple_subscriptions" | "no_price_for_interval" | "not_on_origin_version" | "operation_item_not_found" | "permanent_config" | "permanent_decline" | "transient_decline" | "transient_infra" | "transient_psp" | "unknown" | "would_leave_empty_subscription")[] | null;
      idempotency_key?: null | string;
    };
    ModelPriceView: {
      cache_write?: components["schemas"]["Price"] | null;
      cached_input?: components["schemas"]["Price"] | null;
      currency: string;
      effective_at: string;
      input: components["schemas"]["Price"];
      model: string;
      output: components["schemas"]["Price"];
      per_request?: components["schemas"]["Price"] | null;
      provider: string;
      reasoning?: components["schemas"]["Price"] | null;
    };
    Money: number;
    Name: string;
    "Name.o1": string;
    "Name.o2": string;
    NewPlanEntitlement: {
      billing_product_id?: null | string;
      billing_threshold?: number | null;
      credit_consumption_rate?: components["schemas"]["Rate"] | null;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      currency_prices?: components["schemas"]["CurrencyPriceWrite"][] | null;
      feature_id: string;
      metric_period?: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset?: "billing_cycle" | "first_of_month" | null;
      monthly_metered_price_id?: null | string;
      monthly_price_tiers?: components["schemas"]["Tiers"];
      monthly_unit_price?: components["schemas"]["Money"] | null;
      monthly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      overage_billing_cadence?: "end_of_billing_period" | "monthly" | "quarterly" | null;
      overage_billing_product_id?: null | string;
      overage_invoice_anchor?: "billing_period_start" | "month_end" | null;
      price_behavior?: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
      price_tiers?: components["schemas"]["Tiers"];
      quantity_rates?: null | {
        [key: string]: components["schemas"]["Rate"];
      };
      quarterly_metered_price_id?: null | string;
      quarterly_price_tiers?: components["schemas"]["Tiers"];
      quarterly_unit_price?: components["schemas"]["Money"] | null;
      quarterly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      soft_limit?: components["schemas"]["Units.o1"] | null;
      tier_mode?: "graduated" | "volume" | null;
      usage_quantity?: components["schemas"]["Units.o1"] | null;
      value_bool?: boolean | null;
      value_credit_id?: null | string;
      value_numeric?: components["schemas"]["Units.o1"] | null;
      value_trait_id?: null | string;
      value_type?: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      warning_tiers?: components["schemas"]["WarningTierWrite"][] | null;
      yearly_metered_price_id?: null | string;
      yearly_price_tiers?: components["schemas"]["Tiers"];
      yearly_unit_price?: components["schemas"]["Money"] | null;
      yearly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
    };
    NewPlanGrant: {
      apply_to_existing?: boolean | null;
      arrears_anchor?: "billing_period_start" | "month_end" | null;
      arrears_cadence?: "end_of_billing_period" | "monthly" | "quarterly" | null;
      auto_topup_amount?: components["schemas"]["Count.o2"] | null;
      auto_topup_amount_type?: "credit" | null;
      auto_topup_availability?: "automatic" | "off" | "user_controlled" | null;
      auto_topup_enabled?: boolean | null;
      auto_topup_expiry_type?: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      auto_topup_expiry_unit?: "billing_periods" | "days" | null;
      auto_topup_expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      auto_topup_self_service?: boolean | null;
      auto_topup_threshold_credits?: components["schemas"]["Credits"] | null;
      auto_topup_threshold_percent?: components["schemas"]["Percent.o1"] | null;
      billing_mode?: "billed" | "granted" | null;
      billing_periods_count?: components["schemas"]["Count.o2"] | null;
      can_buy_bundles?: boolean | null;
      company_credit_amount?: components["schemas"]["Credits"] | null;
      credit_amount: components["schemas"]["Credits"];
      credit_id: string;
      expiry_type?: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      expiry_unit?: "billing_periods" | "days" | null;
      expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      license_id?: null | string;
      overdraft_limit?: null | number;
      postpaid_enabled?: boolean | null;
      postpaid_rate_per_unit?: components["schemas"]["Money"] | null;
      postpaid_rate_per_unit_decimal?: components["schemas"]["DecimalText"] | null;
      price_tiers?: components["schemas"]["CreditGrantTierWrite"][] | null;
      renewal_enabled?: boolean | null;
      renewal_period?: "billing_period" | "first_of_month" | null;
      reset_cadence?: "daily" | "every_6_months" | "monthly" | "quarterly" | "weekly" | "yearly" | null;
      reset_start?: "billing_period" | "first_of_month" | null;
      reset_type?: "no_reset" | "plan_period" | null;
      rollover_percentage?: number | null;
      scaling?: "fixed" | "per_license" | null;
      tier_mode?: "graduated" | "volume" | null;
      unit_price?: components["schemas"]["Money"] | null;
      unit_price_decimal?: components["schemas"]["DecimalText"] | null;
    };
    OfrepContext: {
      company?: {
        [key: string]: string;
      };
      companyKey?: string;
      companyKeyName?: string;
      targetingKey?: string;
      user?: {
        [key: string]: string;
      };
      userKey?: string;
      userKeyName?: string;
    };
    OfrepEvaluation: {
      key: string;
      metadata: {
        [key: string]: boolean | number | string;
      };
      reason: "DEFAULT" | "ERROR" | "TARGETING_MATCH";
      value: boolean;
      variant: "off" | "on";
    };
    OfrepEvaluations: {
      flags: components["schemas"]["OfrepEvaluation"][];
    };
    OfrepFailure: {
      errorCode: "FLAG_NOT_FOUND" | "INVALID_CONTEXT" | "PARSE_ERROR";
      errorDetails: string;
      key?: string;
    };
    OfrepRequest: {
      context?: components["schemas"]["OfrepContext"];
    };
    OrderedBundle: {
      bundleId: string;
    };
    OrderedPlan: {
      entitlements?: components["schemas"]["EntitlementInPlan"][] | null;
      plan_id: string;
    };
    PaymentMethod: {
      account_last4: null | string;
      account_name: null | string;
      bank_name: null | string;
      billing_email: null | string;
      billing_name: null | string;
      card_brand: null | string;
      card_exp_month: null | number;
      card_exp_year: null | number;
      card_last4: null | string;
      company_id: null | string;
      created_at: string;
      customer_external_id: string;
      environment_id: string;
      external_id: string;
      id: string;
      payment_method_type: string;
      provider_type: "ext_a" | "ext_b" | "native" | "psp";
      updated_at: string;
    };
    PaymentMethodUpsert: {
      account_last4?: null | string;
      account_name?: components["schemas"]["Text255"] | null;
      bank_name?: components["schemas"]["Text255"] | null;
      billing_email?: components["schemas"]["Text255"] | null;
      billing_name?: components["schemas"]["Text255"] | null;
      card_brand?: null | string;
      card_exp_month?: number | null;
      card_exp_year?: number | null;
      card_last4?: null | string;
      customer_external_id?: components["schemas"]["ExternalId"];
      external_id: components["schemas"]["ExternalId"];
      payment_method_type?: string;
    };
    PendingMigration: {
      effective_at: null | string;
      migration_id: string;
      proration_behavior: "always_invoice" | "create_prorations" | "none" | null;
      scheduled_for: null | string;
      strategy: "end_of_billing_period" | "scheduled";
      to_plan_id: string;
      to_plan_name: string;
      to_plan_version_id: string;
      to_plan_version_number: null | number;
    };
    Percent: number;
    "Percent.o1": number;
    Plan: {
      audience_type: null | string;
      company_id: null | string;
      copied_from_plan_id: null | string;
      created_at: string;
      description: string;
      icon: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow";
      id: string;
      name: string;
      plan_type: "add_on" | "plan";
      updated_at: string;
    };
    PlanBundle: {
      billing_product?: components["schemas"]["BillingProductPlan"];
      credit_grants?: components["schemas"]["PlanCreditGrant"][];
      entitlements?: components["schemas"]["PlanEntitlement"][];
      plan?: components["schemas"]["Plan"];
      plan_version?: components["schemas"]["PlanVersion"];
    };
    PlanBundleCreate: {
      billing_product?: components["schemas"]["BillingProductWrite"] | null;
      credit_grants?: components["schemas"]["BundleCreditGrantWrite"][] | null;
      entitlements?: components["schemas"]["BundleEntitlementWrite"][] | null;
      idempotency_key?: null | string;
      plan: components["schemas"]["PlanCreate"];
    };
    PlanBundleUpdate: {
      billing_product?: components["schemas"]["BillingProductUpdate"] | null;
      credit_grants?: components["schemas"]["BundleCreditGrantWrite"][] | null;
      entitlements?: components["schemas"]["BundleEntitlementWrite"][] | null;
      idempotency_key?: null | string;
      plan?: components["schemas"]["PlanUpdate"];
      plan_version_id?: null | string;
    };
    PlanCatalogMembership: {
      id: string;
      name: string;
    };
    PlanChange: {
      action: "checkout" | "company_upsert" | "fallback_plan" | "manage_plan" | "migration" | "plan_billing_product_changed" | "plan_deleted" | "plan_trait_change" | "plan_version_migration" | "quickstart" | "subscription_change";
      actor_type: "api_key" | "app_user" | "psp_app" | "system" | "temporary_access_token";
      add_ons_added: components["schemas"]["PlanSnapshot"][];
      add_ons_removed: components["schemas"]["PlanSnapshot"][];
      api_key?: components["schemas"]["ApiKey"];
      base_plan?: components["schemas"]["PlanSnapshot"];
      base_plan_action: "fallback" | "initial" | "trait" | "trial_expiry" | null;
      base_plan_version?: components["schemas"]["PlanVersionSnapshot"];
      company?: Record<string, never>;
      company_id: string;
      created_at: string;
      environment_id: string;
      id: string;
      is_version_upgrade: boolean;
      previous_base_plan?: components["schemas"]["PlanSnapshot"];
      previous_base_plan_version?: components["schemas"]["PlanVersionSnapshot"];
      request_id: null | string;
      subscription_change_action: "adjustment" | "downgrade" | "invalid" | "subscribe" | "unsubscribe" | "upgrade" | "upgrade_trial" | null;
      traits_updated: Record<string, never>[];
      trial_converted_at: null | string;
      trial_expires_at: null | string;
      trial_status: "active" | "converted" | "expired" | null;
      updated_at: string;
      user_id: null | string;
      user_name: null | string;
    };
    PlanCreate: {
      description?: components["schemas"]["Description"] | null;
      icon?: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow" | null;
      name: components["schemas"]["Name"];
      plan_type?: "add_on" | "plan" | null;
    };
    PlanCreateRequestBody: {
      billing_product?: components["schemas"]["BillingProductWrite"] | null;
      credit_grants?: components["schemas"]["NewPlanGrant"][] | null;
      description?: components["schemas"]["Description"] | null;
      entitlements?: components["schemas"]["NewPlanEntitlement"][] | null;
      icon?: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow" | null;
      idempotency_key?: null | string;
      name: components["schemas"]["Name"];
      plan_type?: "add_on" | "plan" | null;
    };
    PlanCreditGrant: {
      arrears_anchor: "billing_period_start" | "month_end" | null;
      arrears_cadence: "end_of_billing_period" | "monthly" | "quarterly" | null;
      auto_topup_amount: null | number;
      auto_topup_amount_type: null | string;
      auto_topup_availability: "automatic" | "off" | "user_controlled";
      auto_topup_enabled: boolean;
      auto_topup_expiry_type: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      auto_topup_expiry_unit: "billing_periods" | "days" | null;
      auto_topup_expiry_unit_count: null | number;
      auto_topup_self_service: boolean;
      auto_topup_threshold_credits: null | number;
      auto_topup_threshold_percent: null | number;
      billing_mode: "billed" | "granted";
      can_buy_bundles: boolean;
      company_credit_amount: number;
      created_at: string;
      credit?: components["schemas"]["Credit"];
      credit_amount: number;
      credit_id: string;
      credit_name: string;
      credit_plural_name: null | string;
      credit_singular_name: null | string;
      expiry_type: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      expiry_unit: "billing_periods" | "days" | null;
      expiry_unit_count: null | number;
      id: string;
      license_id: null | string;
      overdraft_limit: null | number;
      plan?: components["schemas"]["PreviewObject"];
      plan_id: string;
      plan_name: string;
      plan_version_id: null | string;
      postpaid_enabled: boolean;
      postpaid_rate_per_unit: null | number;
      postpaid_rate_per_unit_decimal: null | string;
      price?: components["schemas"]["BillingPrice"];
      price_tiers: components["schemas"]["PlanGrantTier"][];
      renewal_enabled?: boolean;
      renewal_period?: "billing_period" | "first_of_month";
      reset_cadence: "daily" | "every_6_months" | "monthly" | "quarterly" | "weekly" | "yearly" | null;
      reset_start: "billing_period" | "first_of_month" | null;
      reset_type: "no_reset" | "plan_period" | null;
      rollover_percentage: number;
      scaling: "fixed" | "per_license";
      tier_mode: "graduated" | "volume" | null;
      unit_price: null | number;
      unit_price_decimal: null | string;
      updated_at: string;
    };
    PlanCurrencyPrices: {
      currency: string;
      monthly_price?: components["schemas"]["BillingPrice"];
      one_time_price?: components["schemas"]["BillingPrice"];
      quarterly_price?: components["schemas"]["BillingPrice"];
      yearly_price?: components["schemas"]["BillingPrice"];
    };
    PlanCurrencyPriceWrite: {
      currency: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw";
      monthly_price?: components["schemas"]["Money"] | null;
      one_time_price?: components["schemas"]["Money"] | null;
      quarterly_price?: components["schemas"]["Money"] | null;
      yearly_price?: components["schemas"]["Money"] | null;
    };
    PlanDetail: {
      active_version?: components["schemas"]["PlanVersion"];
      audience_type: null | string;
      billing_linked_resource?: components["schemas"]["BillingLinkedResource"];
      billing_product?: components["schemas"]["BillingProductDetail"];
      billing_strategy: "no_billing" | "provider_managed" | "service_managed";
      catalogs?: components["schemas"]["PlanCatalogMembership"][];
      charge_type: "free" | "none" | "one_time" | "recurring";
      company_count: number;
      company_id: null | string;
      company_logo_url: null | string;
      company_name: null | string;
      controlled_by: "ext_a" | "ext_b" | "native" | "psp";
      copied_from_plan_id: null | string;
      created_at: string;
      credits: components["schemas"]["Credit"][];
      currency_prices: components["schemas"]["PlanCurrencyPrices"][];
      description: string;
      draft_version?: components["schemas"]["PlanVersion"];
      entitlements: components["schemas"]["PlanEntitlement"][] | null;
      features: components["schemas"]["FeatureInPlan"][];
      icon: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow";
      id: string;
      included_credit_grants?: components["schemas"]["PlanCreditGrant"][];
      is_default: boolean;
      is_free: boolean;
      is_trialable: boolean;
      monthly_price?: components["schemas"]["BillingPrice"];
      name: string;
      one_time_price?: components["schemas"]["BillingPrice"];
      plan_type: "add_on" | "plan";
      quarterly_price?: components["schemas"]["BillingPrice"];
      trial_days: null | number;
      updated_at: string;
      versions: components["schemas"]["PlanVersion"][];
      yearly_price?: components["schemas"]["BillingPrice"];
    };
    PlanEntitlement: {
      billing_linked_resource?: components["schemas"]["BillingLinkedResource"];
      billing_threshold: null | number;
      consumption_rate: null | number;
      created_at: string;
      currency_prices: components["schemas"]["EntitlementCurrencyPrices"][];
      environment_id: string;
      feature?: components["schemas"]["Feature"];
      feature_id: string;
      id: string;
      metered_monthly_price?: components["schemas"]["BillingPriceView"];
      metered_quarterly_price?: components["schemas"]["BillingPriceView"];
      metered_yearly_price?: components["schemas"]["BillingPriceView"];
      metric_period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset: "billing_cycle" | "first_of_month" | null;
      overage_billing_cadence: "end_of_billing_period" | "monthly" | "quarterly" | null;
      overage_invoice_anchor: "billing_period_start" | "month_end" | null;
      plan?: components["schemas"]["Plan"];
      plan_id: string;
      price_behavior: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
      quantity_rates?: {
        [key: string]: number;
      };
      rule_id: string;
      rule_id_usage_exceeded: null | string;
      soft_limit: null | number;
      updated_at: string;
      usage_based_product?: components["schemas"]["BillingProduct"];
      usage_quantity: null | number;
      value_bool: boolean | null;
      value_credit?: components["schemas"]["Credit"];
      value_numeric: null | number;
      value_trait?: components["schemas"]["EntityTraitDefinition"];
      value_trait_id: null | string;
      value_type: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      warning_tiers: components["schemas"]["WarningTierRecord"][];
    };
    PlanEntitlementCreate: {
      billing_product_id?: null | string;
      billing_threshold?: number | null;
      credit_consumption_rate?: components["schemas"]["Rate"] | null;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      currency_prices?: components["schemas"]["CurrencyPriceWrite"][] | null;
      feature_id: string;
      metric_period?: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset?: "billing_cycle" | "first_of_month" | null;
      monthly_metered_price_id?: null | string;
      monthly_price_tiers?: components["schemas"]["Tiers"];
      monthly_unit_price?: components["schemas"]["Money"] | null;
      monthly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      overage_billing_cadence?: "end_of_billing_period" | "monthly" | "quarterly" | null;
      overage_billing_product_id?: null | string;
      overage_invoice_anchor?: "billing_period_start" | "month_end" | null;
      plan_id: string;
      plan_version_id?: null | string;
      price_behavior?: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
      price_tiers?: components["schemas"]["Tiers"];
      quantity_rates?: null | {
        [key: string]: components["schemas"]["Rate"];
      };
      quarterly_metered_price_id?: null | string;
      quarterly_price_tiers?: components["schemas"]["Tiers"];
      quarterly_unit_price?: components["schemas"]["Money"] | null;
      quarterly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      soft_limit?: components["schemas"]["Units.o1"] | null;
      tier_mode?: "graduated" | "volume" | null;
      usage_quantity?: components["schemas"]["Units.o1"] | null;
      value_bool?: boolean | null;
      value_credit_id?: null | string;
      value_numeric?: components["schemas"]["Units.o1"] | null;
      value_trait_id?: null | string;
      value_type?: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      warning_tiers?: components["schemas"]["WarningTierWrite"][] | null;
      yearly_metered_price_id?: null | string;
      yearly_price_tiers?: components["schemas"]["Tiers"];
      yearly_unit_price?: components["schemas"]["Money"] | null;
      yearly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
    };
    PlanEntitlementsOrder: {
      entitlements: {
        plan_entitlement_id: string;
        visible: boolean | null;
      }[] | null;
      plan_id: string;
    };
    PlanEntitlementUpdate: {
      billing_product_id?: null | string;
      billing_threshold?: number | null;
      credit_consumption_rate?: components["schemas"]["Rate"] | null;
      currency?: "aed" | "afn" | "all" | "amd" | "ang" | "aoa" | "ars" | "aud" | "awg" | "azn" | "bam" | "bbd" | "bdt" | "bif" | "bmd" | "bnd" | "bob" | "brl" | "bsd" | "bwp" | "byn" | "bzd" | "cad" | "cdf" | "chf" | "clp" | "cny" | "cop" | "crc" | "cve" | "czk" | "djf" | "dkk" | "dop" | "dzd" | "egp" | "etb" | "eur" | "fjd" | "fkp" | "gbp" | "gel" | "gip" | "gmd" | "gnf" | "gtq" | "gyd" | "hkd" | "hnl" | "htg" | "huf" | "idr" | "ils" | "inr" | "isk" | "jmd" | "jpy" | "kes" | "kgs" | "khr" | "kmf" | "krw" | "kyd" | "kzt" | "lak" | "lbp" | "lkr" | "lrd" | "lsl" | "mad" | "mdl" | "mga" | "mkd" | "mmk" | "mnt" | "mop" | "mur" | "mvr" | "mwk" | "mxn" | "myr" | "mzn" | "nad" | "ngn" | "nio" | "nok" | "npr" | "nzd" | "pab" | "pen" | "pgk" | "php" | "pkr" | "pln" | "pyg" | "qar" | "ron" | "rsd" | "rub" | "rwf" | "sar" | "sbd" | "scr" | "sek" | "sgd" | "shp" | "sle" | "sos" | "srd" | "std" | "szl" | "thb" | "tjs" | "top" | "try" | "ttd" | "twd" | "tzs" | "uah" | "ugx" | "usd" | "uyu" | "uzs" | "vnd" | "vuv" | "wst" | "xaf" | "xcd" | "xcg" | "xof" | "xpf" | "yer" | "zar" | "zmw" | null;
      currency_prices?: components["schemas"]["CurrencyPriceWrite"][] | null;
      metric_period?: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset?: "billing_cycle" | "first_of_month" | null;
      monthly_metered_price_id?: null | string;
      monthly_price_tiers?: components["schemas"]["Tiers"];
      monthly_unit_price?: components["schemas"]["Money"] | null;
      monthly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      overage_billing_cadence?: "end_of_billing_period" | "monthly" | "quarterly" | null;
      overage_billing_product_id?: null | string;
      overage_invoice_anchor?: "billing_period_start" | "month_end" | null;
      price_behavior?: "credit_burndown" | "overage" | "pay_as_you_go" | "pay_in_advance" | "tier" | null;
      price_tiers?: components["schemas"]["Tiers"];
      quantity_rates?: null | {
        [key: string]: components["schemas"]["Rate"];
      };
      quarterly_metered_price_id?: null | string;
      quarterly_price_tiers?: components["schemas"]["Tiers"];
      quarterly_unit_price?: components["schemas"]["Money"] | null;
      quarterly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      soft_limit?: components["schemas"]["Units.o1"] | null;
      tier_mode?: "graduated" | "volume" | null;
      usage_quantity?: components["schemas"]["Units.o1"] | null;
      value_bool?: boolean | null;
      value_credit_id?: null | string;
      value_numeric?: components["schemas"]["Units.o1"] | null;
      value_trait_id?: null | string;
      value_type?: "boolean" | "credit" | "numeric" | "trait" | "unknown" | "unlimited";
      warning_tiers?: components["schemas"]["WarningTierWrite"][] | null;
      yearly_metered_price_id?: null | string;
      yearly_price_tiers?: components["schemas"]["Tiers"];
      yearly_unit_price?: components["schemas"]["Money"] | null;
      yearly_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
    };
    PlanGrantCreate: {
      apply_to_existing?: boolean | null;
      arrears_anchor?: "billing_period_start" | "month_end" | null;
      arrears_cadence?: "end_of_billing_period" | "monthly" | "quarterly" | null;
      auto_topup_amount?: components["schemas"]["Count.o2"] | null;
      auto_topup_amount_type?: "credit" | null;
      auto_topup_availability?: "automatic" | "off" | "user_controlled" | null;
      auto_topup_enabled?: boolean | null;
      auto_topup_expiry_type?: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      auto_topup_expiry_unit?: "billing_periods" | "days" | null;
      auto_topup_expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      auto_topup_self_service?: boolean | null;
      auto_topup_threshold_credits?: components["schemas"]["Credits"] | null;
      auto_topup_threshold_percent?: components["schemas"]["Percent.o1"] | null;
      billing_mode?: "billed" | "granted" | null;
      billing_periods_count?: components["schemas"]["Count.o2"] | null;
      can_buy_bundles?: boolean | null;
      company_credit_amount?: components["schemas"]["Credits"] | null;
      credit_amount: components["schemas"]["Credits"];
      credit_id: string;
      expiry_type?: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      expiry_unit?: "billing_periods" | "days" | null;
      expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      idempotency_key?: null | string;
      license_id?: null | string;
      overdraft_limit?: null | number;
      plan_id: string;
      plan_version_id?: null | string;
      postpaid_enabled?: boolean | null;
      postpaid_rate_per_unit?: components["schemas"]["Money"] | null;
      postpaid_rate_per_unit_decimal?: components["schemas"]["DecimalText"] | null;
      price_tiers?: components["schemas"]["CreditGrantTierWrite"][] | null;
      renewal_enabled?: boolean | null;
      renewal_period?: "billing_period" | "first_of_month" | null;
      reset_cadence?: "daily" | "every_6_months" | "monthly" | "quarterly" | "weekly" | "yearly" | null;
      reset_start?: "billing_period" | "first_of_month" | null;
      reset_type?: "no_reset" | "plan_period" | null;
      rollover_percentage?: number | null;
      scaling?: "fixed" | "per_license" | null;
      tier_mode?: "graduated" | "volume" | null;
      unit_price?: components["schemas"]["Money"] | null;
      unit_price_decimal?: components["schemas"]["DecimalText"] | null;
    };
    PlanGrantTier: {
      from: number;
      per_unit_price: null | number;
      per_unit_price_decimal: null | string;
      to: null | number;
    };
    PlanGrantUpdate: {
      apply_to_existing?: boolean | null;
      arrears_anchor?: "billing_period_start" | "month_end" | null;
      arrears_cadence?: "end_of_billing_period" | "monthly" | "quarterly" | null;
      auto_topup_amount?: components["schemas"]["Count.o2"] | null;
      auto_topup_amount_type?: "credit" | null;
      auto_topup_availability?: "automatic" | "off" | "user_controlled" | null;
      auto_topup_enabled?: boolean | null;
      auto_topup_expiry_type?: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      auto_topup_expiry_unit?: "billing_periods" | "days" | null;
      auto_topup_expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      auto_topup_self_service?: boolean | null;
      auto_topup_threshold_credits?: components["schemas"]["Credits"] | null;
      auto_topup_threshold_percent?: components["schemas"]["Percent.o1"] | null;
      billing_mode?: "billed" | "granted" | null;
      billing_periods_count?: components["schemas"]["Count.o2"] | null;
      can_buy_bundles?: boolean | null;
      company_credit_amount?: components["schemas"]["Credits"] | null;
      credit_amount?: components["schemas"]["Credits"] | null;
      expiry_type?: "duration" | "end_of_billing_period" | "end_of_next_billing_period" | "end_of_trial" | "no_expiry" | null;
      expiry_unit?: "billing_periods" | "days" | null;
      expiry_unit_count?: components["schemas"]["Count.o2"] | null;
      idempotency_key?: null | string;
      license_id?: null | string;
      overdraft_limit?: null | number;
      postpaid_enabled?: boolean | null;
      postpaid_rate_per_unit?: components["schemas"]["Money"] | null;
      postpaid_rate_per_unit_decimal?: components["schemas"]["DecimalText"] | null;
      price_tiers?: components["schemas"]["CreditGrantTierWrite"][] | null;
      renewal_enabled?: boolean | null;
      renewal_period?: "billing_period" | "first_of_month" | null;
      reset_cadence?: "daily" | "every_6_months" | "monthly" | "quarterly" | "weekly" | "yearly" | null;
      reset_start?: "billing_period" | "first_of_month" | null;
      reset_type?: "no_reset" | "plan_period" | null;
      rollover_percentage?: number | null;
      scaling?: "fixed" | "per_license" | null;
      tier_mode?: "graduated" | "volume" | null;
      unit_price?: components["schemas"]["Money"] | null;
      unit_price_decimal?: components["schemas"]["DecimalText"] | null;
    };
    PlanGroup: {
      add_on_compatibilities: components["schemas"]["CompatiblePlans"][];
      add_on_ids: string[];
      checkout_settings: {
        bundle_purchase_behavior: "individual" | "quantity";
        collect_address: boolean;
        collect_email: boolean;
        collect_phone: boolean;
        collect_tax_id: boolean;
        opt_in_enabled: boolean;
        opt_in_text: null | string;
        opt_in_title: null | string;
      };
      component_settings: {
        show_as_monthly_prices: boolean;
        show_credits: boolean;
        show_feature_description: boolean;
        show_hard_limit: boolean;
        show_period_toggle: boolean;
        show_zero_price_as_free: boolean;
      };
      default_plan_id: null | string;
      fallback_plan_id: null | string;
      id: string;
      initial_plan_id: null | string;
      initial_plan_price_id: null | string;
      ordered_add_on_ids: components["schemas"]["OrderedPlan"][];
      plan_ids: components["schemas"]["OrderedPlan"][];
      prevent_downgrades_when_over_limit: boolean;
      prevent_self_service_downgrade: boolean;
      prevent_self_service_downgrade_button_text: null | string;
      prevent_self_service_downgrade_url: null | string;
      proration_behavior: string;
      scheduled_downgrade_behavior: null | string;
      scheduled_downgrade_prevent_when_over_limit: boolean | null;
      show_as_monthly_prices: boolean;
      show_credits: boolean;
      show_period_toggle: boolean;
      show_zero_price_as_free: boolean;
      sync_customer_billing_details: boolean;
      tax_collection_enabled: boolean;
      trial_days: null | number;
      trial_eligibility_per_plan: boolean;
      trial_expiry_plan_id: null | string;
      trial_expiry_plan_price_id: null | string;
      trial_payment_method_required: boolean | null;
    };
    PlanGroupCreateRequestBody: {
      add_on_compatibilities?: components["schemas"]["CompatiblePlans"][] | null;
      add_on_ids?: string[];
      checkout_bundle_purchase_behavior?: "individual" | "quantity" | null;
      checkout_collect_address?: boolean;
      checkout_collect_email?: boolean;
      checkout_collect_phone?: boolean;
      checkout_collect_tax_id?: boolean;
      custom_checkout_fields?: components["schemas"]["CheckoutFieldInput"][] | null;
      custom_plan_config?: components["schemas"]["CustomPlanConfig"] | null;
      custom_plan_id?: null | string;
      enable_tax_collection?: boolean;
      fallback_plan_id?: null | string;
      initial_plan_id?: null | string;
      initial_plan_price_id?: null | string;
      opt_in_enabled?: boolean;
      opt_in_text?: null | string;
      opt_in_title?: null | string;
      ordered_add_ons?: components["schemas"]["OrderedPlan"][];
      ordered_bundle_list?: components["schemas"]["OrderedBundle"][];
      ordered_plans?: components["schemas"]["OrderedPlan"][];
      prevent_downgrades_when_over_limit?: boolean;
      prevent_self_service_downgrade?: boolean;
      prevent_self_service_downgrade_button_text?: null | string;
      prevent_self_service_downgrade_url?: null | string;
      proration_behavior?: "create_prorations" | "invoice_immediately";
      scheduled_downgrade_behavior?: "end_of_billing_period" | "none" | null;
      scheduled_downgrade_prevent_when_over_limit?: boolean | null;
      show_as_monthly_prices?: boolean;
      show_credits?: boolean;
      show_feature_description?: boolean;
      show_hard_limit?: boolean;
      show_period_toggle?: boolean;
      show_zero_price_as_free?: boolean;
      sync_customer_billing_details?: boolean;
      trial_days?: number | null;
      trial_eligibility_per_plan?: boolean | null;
      trial_expiry_plan_id?: null | string;
      trial_expiry_plan_price_id?: null | string;
      trial_payment_method_required?: boolean | null;
    };
    PlanGroupDetail: {
      add_ons: components["schemas"]["PlanGroupPlanDetail"][];
      checkout_settings: {
        bundle_purchase_behavior: "individual" | "quantity";
        collect_address: boolean;
        collect_email: boolean;
        collect_phone: boolean;
        collect_tax_id: boolean;
        opt_in_enabled: boolean;
        opt_in_text: null | string;
        opt_in_title: null | string;
      };
      component_settings: {
        show_as_monthly_prices: boolean;
        show_credits: boolean;
        show_feature_description: boolean;
        show_hard_limit: boolean;
        show_period_toggle: boolean;
        show_zero_price_as_free: boolean;
      };
      custom_checkout_fields: components["schemas"]["CheckoutField"][];
      custom_plan_config?: components["schemas"]["CustomPlanConfig"];
      custom_plan_id: null | string;
      default_plan?: components["schemas"]["PlanGroupPlanDetail"];
      default_plan_id: null | string;
      fallback_plan?: components["schemas"]["PlanGroupPlanDetail"];
      fallback_plan_id: null | string;
      id: string;
      initial_plan?: components["schemas"]["PlanGroupPlanDetail"];
      initial_plan_id: null | string;
      initial_plan_price?: components["schemas"]["BillingPriceView"];
      initial_plan_price_id: null | string;
      ordered_add_on_list: components["schemas"]["PlanEntitlementsOrder"][];
      ordered_bundle_list: components["schemas"]["OrderedBundle"][];
      ordered_plan_list: components["schemas"]["PlanEntitlementsOrder"][];
      plans: components["schemas"]["PlanGroupPlanDetail"][];
      prevent_downgrades_when_over_limit: boolean;
      prevent_self_service_downgrade: boolean;
      prevent_self_service_downgrade_button_text: null | string;
      prevent_self_service_downgrade_url: null | string;
      proration_behavior: string;
      scheduled_downgrade_behavior: null | string;
      scheduled_downgrade_prevent_when_over_limit: boolean | null;
      show_as_monthly_prices: boolean;
      show_credits: boolean;
      show_period_toggle: boolean;
      show_zero_price_as_free: boolean;
      sync_customer_billing_details: boolean;
      tax_collection_enabled: boolean;
      trial_days: null | number;
      trial_eligibility_per_plan: boolean;
      trial_expiry_plan?: components["schemas"]["PlanGroupPlanDetail"];
      trial_expiry_plan_id: null | string;
      trial_expiry_plan_price?: components["schemas"]["BillingPriceView"];
      trial_expiry_plan_price_id: null | string;
      trial_payment_method_required: boolean | null;
    };
    PlanGroupPlanDetail: {
      active_version?: components["schemas"]["PlanVersion"];
      audience_type: null | string;
      available_periods: ("monthly" | "quarterly" | "yearly")[];
      billing_linked_resource?: components["schemas"]["BillingLinkedResource"];
      billing_product?: components["schemas"]["BillingProductDetail"];
      billing_strategy: "no_billing" | "provider_managed" | "service_managed";
      catalogs?: components["schemas"]["PlanCatalogMembership"][];
      charge_type: "free" | "none" | "one_time" | "recurring";
      company_count: number;
      company_id: null | string;
      company_logo_url: null | string;
      company_name: null | string;
      compatible_plan_ids: string[];
      controlled_by: "ext_a" | "ext_b" | "native" | "psp";
      copied_from_plan_id: null | string;
      created_at: string;
      credits: components["schemas"]["Credit"][];
      currency_prices: components["schemas"]["PlanCurrencyPrices"][];
      custom_plan_config?: components["schemas"]["CustomPlanConfig"];
      description: string;
      draft_version?: components["schemas"]["PlanVersion"];
      entitlements: components["schemas"]["PlanEntitlement"][] | null;
      features: components["schemas"]["FeatureInPlan"][];
      icon: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow";
      id: string;
      included_credit_grants?: components["schemas"]["PlanCreditGrant"][];
      is_custom: boolean;
      is_default: boolean;
      is_free: boolean;
      is_trialable: boolean;
      monthly_price?: components["schemas"]["BillingPrice"];
      name: string;
      one_time_price?: components["schemas"]["BillingPrice"];
      plan_type: "add_on" | "plan";
      quarterly_price?: components["schemas"]["BillingPrice"];
      trial_days: null | number;
      updated_at: string;
      versions: components["schemas"]["PlanVersion"][];
      yearly_price?: components["schemas"]["BillingPrice"];
    };
    PlanGroupUpdate: {
      add_on_compatibilities?: components["schemas"]["CompatiblePlans"][] | null;
      add_on_ids?: string[];
      checkout_bundle_purchase_behavior?: "individual" | "quantity" | null;
      checkout_collect_address?: boolean;
      checkout_collect_email?: boolean;
      checkout_collect_phone?: boolean;
      checkout_collect_tax_id?: boolean;
      custom_checkout_fields?: components["schemas"]["CheckoutFieldInput"][] | null;
      custom_plan_config?: components["schemas"]["CustomPlanConfig"] | null;
      custom_plan_id?: null | string;
      enable_tax_collection?: boolean;
      fallback_plan_id?: null | string;
      initial_plan_id?: null | string;
      initial_plan_price_id?: null | string;
      opt_in_enabled?: boolean;
      opt_in_text?: null | string;
      opt_in_title?: null | string;
      ordered_add_ons?: components["schemas"]["OrderedPlan"][];
      ordered_bundle_list?: components["schemas"]["OrderedBundle"][];
      ordered_plans?: components["schemas"]["OrderedPlan"][];
      prevent_downgrades_when_over_limit?: boolean;
      prevent_self_service_downgrade?: boolean;
      prevent_self_service_downgrade_button_text?: null | string;
      prevent_self_service_downgrade_url?: null | string;
      proration_behavior?: "create_prorations" | "invoice_immediately";
      scheduled_downgrade_behavior?: "end_of_billing_period" | "none" | null;
      scheduled_downgrade_prevent_when_over_limit?: boolean | null;
      show_as_monthly_prices?: boolean;
      show_credits?: boolean;
      show_feature_description?: boolean;
      show_hard_limit?: boolean;
      show_period_toggle?: boolean;
      show_zero_price_as_free?: boolean;
      sync_customer_billing_details?: boolean;
      trial_days?: number | null;
      trial_eligibility_per_plan?: boolean | null;
      trial_expiry_plan_id?: null | string;
      trial_expiry_plan_price_id?: null | string;
      trial_payment_method_required?: boolean | null;
    };
    PlanIssue: {
      code: string;
      description: string;
      detail?: string;
      id?: string;
    };
    PlanMove: {
      cancelled_companies: number;
      completed_at: null | string;
      completed_companies: number;
      created_at: string;
      error: null | string;
      failed_companies: number;
      filter: components["schemas"]["PlanMoveFilter"] | null;
      id: string;
      kind: "move" | "revert";
      next_due_at: null | string;
      paused_at: null | string;
      pending_companies: number;
      plan_id: string;
      plan_version_id: string;
      price_id: null | string;
      proration_behavior: "always_invoice" | "create_prorations" | "none" | null;
      reverted_by_id: null | string;
      reverts_id: null | string;
      scheduled_at: null | string;
      skipped_companies: number;
      started_at: null | string;
      status: "cancelled" | "completed" | "failed" | "in_progress" | "paused" | "pending";
      total_companies: number;
      updated_at: string;
      when: "at_period_end" | "now" | "scheduled";
    };
    PlanMoveCompany: {
      company_id: string;
      company_name: string;
      completed_at: null | string;
      created_at: string;
      id: string;
      note: null | string;
      plan_id_from: null | string;
      plan_move_id: string;
      plan_version_id_from: null | string;
      plan_version_id_to: null | string;
      reason: "already_there" | "changed_since" | "company_deleted" | "incompatible_add_on" | "left_plan" | "no_price" | "not_assignable" | "not_paid" | "over_limit" | "provider_billed" | "version_gone" | null;
      scheduled_for: null | string;
      started_at: null | string;
      status: "cancelled" | "completed" | "failed" | "in_progress" | "pending" | "skipped";
      updated_at: string;
    };
    PlanMoveCreateRequestBody: {
      filter: components["schemas"]["PlanMoveFilter"];
      idempotency_key?: null | string;
      plan_id: string;
      plan_version_id?: null | string;
      price_id?: null | string;
      proration_behavior?: "always_invoice" | "create_prorations" | "none" | null;
      scheduled_at?: null | string;
      when?: "at_period_end" | "now" | "scheduled" | null;
    };
    PlanMoveFilter: {
      all?: boolean | null;
      company_ids?: string[] | null;
      excluded_company_ids?: string[] | null;
      plan_ids?: string[] | null;
      plan_version_ids?: string[] | null;
      q?: null | string;
      traits?: components["schemas"]["PlanMoveTrait"][] | null;
      without_plan?: boolean | null;
    };
    PlanMovePreview: {
      companies: components["schemas"]["PlanMovePreviewCompany"][];
      totals: components["schemas"]["PreviewTotals"];
    };
    PlanMovePreviewCompany: {
      company_id: string;
      end_of_billing_period_at: null | string;
      exceeded_limits: components["schemas"]["LimitExceeded"][];
      failure_reason: "already_there" | "changed_since" | "company_deleted" | "incompatible_add_on" | "left_plan" | "no_price" | "not_assignable" | "not_paid" | "over_limit" | "provider_billed" | "version_gone" | null;
      gains: components["schemas"]["EntitlementChange"][];
      losses: components["schemas"]["EntitlementChange"][];
      note: null | string;
      plan_id_from: null | string;
      plan_version_id_from: null | string;
      prices: components["schemas"]["PriceChange"][];
      would_fail: boolean;
    };
    PlanMoveRetry: {
      idempotency_key?: null | string;
      reasons?: ("already_there" | "changed_since" | "company_deleted" | "incompatible_add_on" | "left_plan" | "no_price" | "not_assignable" | "not_paid" | "over_limit" | "provider_billed" | "version_gone")[] | null;
    };
    PlanMoveTrait: {
      name: string;
      value: string;
    };
    PlanPublishRequestBody: {
      activation_strategy?: "on_payment" | "on_publish" | null;
      address?: components["schemas"]["BillingAddress"] | null;
      billing_cycle_anchor?: null | string;
      coupon_external_id?: null | string;
      custom_field_values?: {
        id: string;
        value: string;
      }[] | null;
      customer_email?: null | string;
      days_until_due?: number | null;
      excluded_company_ids?: string[] | null;
      idempotency_key?: null | string;
      migration_scheduled_at?: null | string;
      migration_strategy?: "end_of_billing_period" | "immediate" | "leave" | "scheduled" | null;
      phone?: null | string;
      prorate_first_period?: boolean | null;
      proration_behavior?: "always_invoice" | "create_prorations" | "none" | null;
      require_no_migration?: boolean | null;
      send_invoice?: boolean | null;
      tax_id?: null | {
        type: "ae_trn" | "au_abn" | "au_arn" | "br_cnpj" | "br_cpf" | "ca_bn" | "ca_gst_hst" | "ca_pst_bc" | "ca_pst_mb" | "ca_pst_sk" | "ca_qst" | "ch_uid" | "ch_vat" | "eu_vat" | "gb_vat" | "hk_br" | "id_npwp" | "il_vat" | "in_gst" | "jp_cn" | "jp_rn" | "jp_trn" | "kr_brn" | "mx_rfc" | "my_frp" | "my_itn" | "my_sst" | "no_vat" | "nz_gst" | "ph_tin" | "sa_vat" | "sg_gst" | "sg_uen" | "th_vat" | "tr_tin" | "tw_vat" | "us_ein" | "za_vat";
        value: string;
      };
    };
    PlanSelection: {
      plan_id: string;
      price_id?: null | string;
      version_id?: null | string;
    };
    PlanSnapshot: {
      deleted: boolean;
      description: string;
      icon: string;
      id: string;
      name: string;
    };
    PlanSummary: {
      company_count: number;
      company_id: null | string;
      description: string;
      draft_version: components["schemas"]["PlanVersionSummary"] | null;
      entitlement_count: number;
      entitlements?: components["schemas"]["EntitlementSummary"][];
      id: string;
      name: string;
      plan_group_position: null | number;
      plan_type: "add_on" | "plan";
      published_version: components["schemas"]["PlanVersionSummary"] | null;
      terms: components["schemas"]["PlanTerms"] | null;
    };
    PlanTerms: {
      charge_type: "free" | "none" | "one_time" | "recurring";
      currency: string;
      prices: {
        cadence: "monthly" | "one_time" | "quarterly" | "yearly";
        currency: string;
        id: string;
        price: string;
      }[];
      trial_days: null | number;
    };
    PlanUpdate: {
      description?: components["schemas"]["Description"] | null;
      icon?: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow" | null;
      name?: components["schemas"]["Name"];
    };
    PlanVersion: {
      created_at: string;
      description: string;
      environment_id: string;
      icon: "amber" | "blue" | "blueGray" | "blueGreen" | "cyan" | "emerald" | "fuchsia" | "gray" | "green" | "indigo" | "lightBlue" | "lime" | "orange" | "pink" | "purple" | "red" | "redOrange" | "rose" | "sky" | "slate" | "teal" | "trueGray" | "violet" | "warmGray" | "yellow";
      id: string;
      name: string;
      original_plan_id: null | string;
      plan_type: "add_on" | "plan";
      status: "archived" | "draft" | "published";
      updated_at: string;
      version: number;
    };
    PlanVersionCompanyMigration: {
      company_id: string;
      company_name: string;
      completed_at: null | string;
      created_at: string;
      error: null | string;
      error_code: "ambiguous_subscription_item" | "multiple_subscriptions" | "no_price_for_interval" | "not_on_origin_version" | "operation_item_not_found" | "permanent_config" | "permanent_decline" | "transient_decline" | "transient_infra" | "transient_psp" | "unknown" | "would_leave_empty_subscription" | null;
      id: string;
      migration_id: string;
      plan_version_id_from: null | string;
      scheduled_for: null | string;
      started_at: null | string;
      status: "cancelled" | "completed" | "failed" | "in_progress" | "pending" | "skipped";
      updated_at: string;
    };
    PlanVersionMigration: {
      completed_at: null | string;
      completed_companies: number;
      created_at: string;
      error: null | string;
      failed_companies: number;
      feature_id: null | string;
      feature_plan_rollout_id: null | string;
      id: string;
      next_due_at: null | string;
      paused_at: null | string;
      plan_id: string;
      plan_version_id_from: null | string;
      plan_version_id_to: string;
      plan_version_ids_from: string[];
      proration_behavior: "always_invoice" | "create_prorations" | "none" | null;
      skipped_companies: number;
      started_at: null | string;
      status: "cancelled" | "completed" | "failed" | "in_progress" | "pending";
      strategy: "end_of_billing_period" | "immediate" | "leave" | "scheduled";
      total_companies: number;
      updated_at: string;
    };
    PlanVersionMigrationPreview: {
      companies: components["schemas"]["PlanVersionMigrationPreviewCompany"][];
      has_billing_changes: boolean;
      totals: components["schemas"]["PreviewTotals"];
    };
    PlanVersionMigrationPreviewCompany: {
      company_id: string;
      end_of_billing_period_at: null | string;
      exceeded_limits: components["schemas"]["LimitExceeded"][];
      failure_reason: "already_there" | "changed_since" | "company_deleted" | "incompatible_add_on" | "left_plan" | "no_price" | "not_assignable" | "not_paid" | "over_limit" | "provider_billed" | "version_gone" | null;
      gains: components["schemas"]["EntitlementChange"][];
      has_billing_changes: boolean;
      has_custom_pricing: boolean;
      losses: components["schemas"]["EntitlementChange"][];
      note: null | string;
      plan_version_id_from: null | string;
      prices: components["schemas"]["PriceChange"][];
      will_update_subscription: boolean;
      would_fail: boolean;
    };
    PlanVersionSnapshot: {
      id: string;
      name: string;
      version: number;
    };
    PlanVersionSummary: {
      id: string;
      published_at: null | string;
      status: "archived" | "draft" | "published";
      updated_at: string;
      version: number;
    };
    Portal: {
      add_ons: {
        name: string;
      }[];
      company: {
        id: string;
        name: string;
      };
      credits: {
        name: string;
        remaining: number;
        total: number;
      }[];
      features: components["schemas"]["PortalFeature"][];
      plan: components["schemas"]["PortalPlan"] | null;
    };
    PortalFeature: {
      allowed: boolean;
      limit: null | number;
      name: string;
      resets_at: null | string;
      usage: null | number;
      value_type: string;
    };
    PortalPlan: {
      description: null | string;
      name: string;
      period: null | string;
      price: null | number;
    };
    PreflightRequestBody: {
      credit_cost?: null | {
        [key: string]: number;
      };
      event_usage?: null | {
        event_subtype: string;
        quantity: components["schemas"]["Long"];
      };
      usage?: components["schemas"]["Long"] | null;
    };
    Preview: {
      description?: null | string;
      id: string;
      image_url?: null | string;
      name: string;
    };
    PreviewLineItem: {
      amount: number;
      description: string;
      price_id: string;
      proration: boolean;
      quantity: number;
    };
    PreviewObject: {
      description: null | string;
      id: string;
      image_url: null | string;
      name: string;
    };
    PreviewSubscriptionChange: {
      amount_off: number;
      due_now: number;
      finance?: components["schemas"]["PreviewSubscriptionFinance"];
      is_scheduled_downgrade: boolean;
      new_charges: number;
      opt_in_required: boolean;
      opt_in_text: null | string;
      opt_in_title: null | string;
      payment_method_required: boolean;
      percent_off: number;
      period_start: string;
      promo_code_applied: boolean;
      proration: number;
      scheduled_change_time: null | string;
      trial_end: null | string;
      usage_violations: components["schemas"]["FeatureUsage"][];
    };
    PreviewSubscriptionDiscount: {
      amount_off: null | number;
      coupon_name: string;
      currency: null | string;
      customer_facing_code: null | string;
      duration: string;
      duration_in_months: null | number;
      ended_at: null | string;
      is_active: boolean;
      percent_off: null | number;
      promo_code_external_id: null | string;
      started_at: string;
    };
    PreviewSubscriptionFinance: {
      amount_off: number;
      discount_amount: number;
      discounts: components["schemas"]["PreviewSubscriptionDiscount"][];
      due_now: number;
      new_charges: number;
      percent_off: number;
      period_end: string;
      period_start: string;
      promo_code_applied: boolean;
      proration: number;
      proration_billed_at: null | string;
      tax_amount: null | number;
      tax_display_name: null | string;
      tax_require_billing_details: boolean;
      total_per_billing_period: number;
      trial_end: null | string;
      upcoming_invoice_line_items: components["schemas"]["PreviewLineItem"][];
    };
    PreviewTotals: {
      companies: number;
      exceeding: number;
      failures: {
        companies: number;
        reason: "already_there" | "changed_since" | "company_deleted" | "incompatible_add_on" | "left_plan" | "no_price" | "not_assignable" | "not_paid" | "over_limit" | "provider_billed" | "version_gone";
      }[];
      gaining: number;
      gains: components["schemas"]["FeatureCompanies"][];
      losing: number;
      losses: components["schemas"]["FeatureCompanies"][];
      price_changing: number;
      prices: components["schemas"]["PriceChange"][];
      strategies: components["schemas"]["StrategyOutcome"][];
      truncated: boolean;
      would_fail: number;
      would_move: number;
    };
    Price: string;
    PriceChange: {
      after: number;
      before: number;
      currency: string;
      interval_months: number;
    };
    PriceTierView: {
      flat_amount: null | number;
      per_unit_price: null | number;
      per_unit_price_decimal: null | string;
      up_to: null | number;
    };
    PriceTierWrite: {
      flat_amount?: components["schemas"]["Money"] | null;
      per_unit_price?: components["schemas"]["Money"] | null;
      per_unit_price_decimal?: components["schemas"]["DecimalText"] | null;
      up_to?: number | null;
    };
    PublishableLimits: {
      add_company_keys: boolean;
      add_user_keys: boolean;
      create_companies: boolean;
      create_users: number;
      name_events: boolean;
      name_traits: boolean;
      quantity_max: number;
    };
    PublishableLimitsWrite: {
      add_company_keys?: boolean | null;
      add_user_keys?: boolean | null;
      create_companies?: boolean | null;
      create_users?: number | null;
      name_events?: boolean | null;
      name_traits?: boolean | null;
      quantity_max?: number | null;
    };
    Rate: number;
    "Rate.o1": number;
    RateAndBurst: [
      number,
      number
    ];
    RateLimited: {
      bucket: "analytics" | "events_ingest" | "global" | "mutation";
      error: string;
    };
    RawEvent: {
      captured_at: string;
      content_differs?: true;
      duplicate?: true;
      error?: null | string;
      event_id: null | string;
      remote_addr: null | string;
      remote_ip: string;
      user_agent: string;
    };
    RawEventBatch: {
      events: components["schemas"]["RawEvent"][];
    };
    Ref: string;
    RequestTypes: ("auto.topup.hard.failure" | "auto.topup.retry.exceeded" | "auto.topup.success" | "billing.overage_window.closed" | "billing.period.closed" | "billing.threshold.reached" | "company.created" | "company.deleted" | "company.override.created" | "company.override.deleted" | "company.override.expired" | "company.override.updated" | "company.plan_changed" | "company.scheduled_downgrade" | "company.updated" | "credit.limit.reached" | "credit.limit.warning" | "credit.purchase.success" | "entitlement.limit.reached" | "entitlement.limit.warning" | "entitlement.soft_limit.reached" | "entitlement.soft_limit.warning" | "entitlement.tier_limit.reached" | "entitlement.tier_limit.warning" | "feature.created" | "feature.deleted" | "feature.updated" | "flag.created" | "flag.deleted" | "flag.updated" | "flag_rules.updated" | "plan.created" | "plan.deleted" | "plan.entitlement.created" | "plan.entitlement.deleted" | "plan.entitlement.updated" | "plan.updated" | "plan_version.deleted" | "rule.deleted" | "spend_policy.reached" | "subscription.trial.ended" | "test.send" | "user.created" | "user.deleted" | "user.updated")[];
    Rows: "application/vnd.apache.parquet" | "application/x-ndjson" | "text/csv";
    Rule: {
      account_id: string;
      condition_groups: {
        conditions: components["schemas"]["Condition"][];
      }[];
      conditions: components["schemas"]["Condition"][];
      environment_id: string;
      flag_id: null | string;
      id: string;
      name: string;
      priority: number;
      rule_type: "company_override" | "company_override_usage_exceeded" | "default" | "global_override" | "plan_entitlement" | "plan_entitlement_usage_exceeded" | "standard";
      value: boolean;
    };
    RuleConditionDetail: {
      account_id: string;
      comparable_type?: "bool" | "date" | "int" | "string" | "version";
      comparison_trait?: components["schemas"]["EntityTraitDefinition"];
      comparison_trait_definition?: components["schemas"]["ComparedTrait"];
      comparison_trait_id: null | string;
      condition_group_id: null | string;
      condition_type: "base_plan" | "billing_product" | "company" | "credit" | "metric" | "plan" | "plan_version" | "trait" | "user";
      consumption_rate: null | number;
      created_at: string;
      credit_id: null | string;
      environment_id: string;
      event_subtype: null | string;
      flag_id: null | string;
      id: string;
      metric_period: "all_time" | "current_day" | "current_month" | "current_week" | null;
      metric_period_month_reset: "billing_cycle" | "first_of_month" | null;
      metric_value: null | number;
      operator: "eq" | "gt" | "gte" | "is_empty" | "lt" | "lte" | "ne" | "not_empty";
      plan_versions?: {
        id: string;
        name: string;
        status: "archived" | "draft" | "published";
        version: number;
      }[];
      quantity_rates?: {
        [key: string]: number;
      };
      resource_ids: string[];
      resources: components["schemas"]["PreviewObject"][];
      rule_id: string;
      trait?: components["schemas"]["EntityTraitDefinition"];
      trait_definition?: components["schemas"]["ComparedTrait"];
      trait_entity_type: "company" | "user" | null;
      trait_id: null | string;
      trait_value: string;
      updated_at: string;
    };
    RuleConditionGroupDetail: {
      conditions: components["schemas"]["RuleConditionDetail"][];
      created_at: string;
      environment_id: string;
      flag_id: null | string;
      id: string;
      rule_id: string;
      updated_at: string;
    };
    RuleDetail: {
      account_id: string;
      condition_groups: components["schemas"]["RuleConditionGroupDetail"][];
      conditions: components["schemas"]["RuleConditionDetail"][];
      created_at: string;
      environment_id: string;
      flag_id: null | string;
      id: string;
      name: string;
      priority: number;
      rule_type: "company_override" | "company_override_usage_exceeded" | "default" | "global_override" | "plan_entitlement" | "plan_entitlement_usage_exceeded" | "standard";
      updated_at: string;
      value: boolean;
    };
    RulesDetail: {
      flag?: components["schemas"]["Flag"];
      rules: components["schemas"]["RuleDetail"][];
    };
    RulesUpdate: {
      rules?: components["schemas"]["RuleWrite"][];
    };
    RuleWrite: {
      condition_groups?: components["schemas"]["ConditionGroupWrite"][] | null;
      conditions?: components["schemas"]["ConditionWrite"][] | null;
      id?: null | string;
      name: string;
      priority: components["schemas"]["Long"];
      rule_type?: "company_override" | "company_override_usage_exceeded" | "default" | "global_override" | "plan_entitlement" | "plan_entitlement_usage_exceeded" | "standard" | null;
      value: boolean;
    };
    ScheduledDowngrade: {
      currency: string;
      effective_after: string;
      from_plan_id: string;
      from_plan_name: string;
      from_subscription_price: number;
      id: string;
      interval: string;
      scheduled_interval: null | string;
      scheduled_price: null | number;
      to_plan_id: string;
      to_plan_name: string;
    };
    SearchResult: {
      detail: null | string;
      id: string;
      name: string;
      type: "company" | "credit" | "feature" | "flag" | "plan" | "user";
    };
    Seconds: number;
    SignedContextCreate: {
      company?: components["schemas"]["Keys.o3"] | null;
      company_traits?: {
        [key: string]: unknown;
      } | null;
      expires_in_seconds?: number | null;
      user?: components["schemas"]["Keys.o3"] | null;
      user_traits?: {
        [key: string]: unknown;
      } | null;
    };
    SignedContextView: {
      expires_at: string;
      signed_context: string;
    };
    SignInLink: {
      account_member_id: string;
      expires_at: string;
      path: string;
      token: string;
    };
    SkippedEntitlement: {
      entitlement_id: string;
      errors: {
        message: string;
      }[];
      feature_id: string;
      feature_name: string;
    };
    SmallestChange: {
      at: null | string;
      condition_ids: string[];
      needs: "match" | "no_match";
      rule_id: string;
      text: string;
    };
    SpendBound: number;
    SpendPolicyCreate: {
      billing_credit_id: string;
      company_id?: null | string;
      currency?: null | string;
      group_trait?: null | string;
      group_value?: null | string;
      label?: null | string;
      max_per_draw?: components["schemas"]["SpendBound"] | null;
      max_spend?: components["schemas"]["SpendBound"] | null;
      mode?: "hard" | "soft" | null;
      period?: "day" | "hour" | "month" | "week" | null;
      unit?: "cost" | "credits" | null;
      user_id?: null | string;
    };
    SpendPolicyUpdate: {
      label?: null | string;
      max_per_draw?: components["schemas"]["SpendBound"] | null;
      max_spend?: components["schemas"]["SpendBound"] | null;
      mode?: "hard" | "soft" | null;
    };
    StrategyOutcome: {
      fails: number;
      moves_now: number;
      stays: number;
      strategy: "end_of_billing_period" | "immediate" | "leave" | "scheduled";
      waits: number;
      waits_without_date: number;
    };
    SubscriptionCancel: {
      cancel_immediately?: boolean | null;
      company_id: string;
      idempotency_key?: null | string;
      prorate?: boolean | null;
    };
    SystemStatus: {
      degraded: string[];
      fronts: {
        answers: boolean;
        front: number;
      }[];
      idempotency_keys: number;
      journal: {
        bytes: number;
        shard: number;
      }[];
      nodes: {
        node: string;
        shards: number;
        this_node: boolean;
      }[];
      now: string;
      quotas: {
        environment_id: string;
        quota: string;
        used_percent: number;
      }[];
      shards: {
        entities: number;
        heap_bytes: number;
        shard: number;
        waiting: number;
      }[];
      status: string;
      stores: {
        answers: boolean;
        lag_records: number;
        lag_seconds: number;
        name: string;
      }[];
      stream_connections: number;
      uptime_seconds: number;
      version: string;
    };
    Taken: {
      taken: true;
    };
    TemporaryAccessToken: {
      api_key_id?: string;
      created_at: string;
      environment_id: string;
      expired_at: string;
      id: string;
      issuer_type: "api_key";
      resource_type: "company";
      token: string;
      updated_at: string;
    };
    TemporaryAccessTokenCreate: {
      expires_in_seconds?: number | null;
      lookup: {
        [key: string]: string;
      };
      resource_type: "company";
    };
    TestWebhook: {
      failure_reason: null | string;
      response_code: number;
      success: boolean;
    };
    Text: string;
    "Text.o1": string;
    Text255: string;
    Tiers: components["schemas"]["PriceTierWrite"][] | null;
    TopCompany: {
      company_id: string;
      company_name: string;
      last_seen_at: string;
      quantity: number;
    };
    TrackEvent: {
      backfill?: boolean | null;
      body: components["schemas"]["EventBodyTrack"];
      event_type: "track";
      idempotency_key?: null | string;
      sent_at?: null | string;
      trusted_client_clock?: boolean | null;
    };
    TraitDefinitionCreate: {
      display_name?: null | string;
      entity_type: "company" | "user";
      hierarchy: string[];
      trait_type: "boolean" | "currency" | "date" | "number" | "string" | "url";
    };
    TraitDefinitionUpdate: {
      display_name?: null | string;
      publishable_writes?: boolean | null;
      trait_type?: "boolean" | "currency" | "date" | "number" | "string" | "url";
    };
    TraitMap: {
      [key: string]: boolean | number | string;
    };
    TraitRef: string;
    TraitUpsert: {
      idempotency_key?: null | string;
      incr?: components["schemas"]["Long"] | null;
      keys: components["schemas"]["Keys"];
      set?: null | string;
      trait: string;
      update_only?: boolean | null;
    };
    TrialEndUpdate: {
      idempotency_key?: null | string;
      trial_end?: null | string;
    };
    Units: number;
    "Units.o1": number;
    Url: string;
    UsageByDay: {
      event_subtype: string;
      feature_id: string;
      feature_name: string;
      points: {
        day: string;
        quantity: number;
      }[];
      total: number;
    };
    UsageTimeSeriesPoint: {
      period_end: null | string;
      period_start: null | string;
      timestamp: string;
      usage: number;
    };
    User: {
      created_at: string;
      environment_id: string;
      id: string;
      last_seen_at: null | string;
      name: string;
      updated_at: string;
    };
    UserCreditUsage: {
      billing_credit_id: string;
      credit_name: string;
      credits_used: number;
      share: number;
      user?: components["schemas"]["User"];
      user_id: null | string;
    };
    UserDailyCreditPoint: {
      credits_used: number;
      date: string;
    };
    UserDailyUsagePoint: {
      date: string;
      feature?: components["schemas"]["Feature"];
      value: number;
    };
    UserDetail: {
      company_memberships: components["schemas"]["CompanyMembershipDetail"][];
      created_at: string;
      entity_traits: components["schemas"]["EntityTraitDetail"][];
      environment_id: string;
      id: string;
      keys: components["schemas"]["EntityKeyDetail"][];
      last_seen_at: null | string;
      name: string;
      traits: components["schemas"]["TraitMap"];
      updated_at: string;
    };
    UserFeatureUsage: {
      feature?: components["schemas"]["Feature"];
      last_seen: string;
      share: number;
      user?: components["schemas"]["User"];
      user_id: null | string;
      value: number;
    };
    UserUpsert: {
      companies?: components["schemas"]["Keys"][] | null;
      company?: components["schemas"]["Keys"] | null;
      company_id?: null | string;
      company_ids?: string[] | null;
      created_at?: null | string;
      id?: null | string;
      keys?: components["schemas"]["Keys"];
      last_seen_at?: null | string;
      name?: null | string;
      remove_keys?: string[];
      traits?: {
        [key: string]: unknown;
      };
      update_only?: boolean | null;
    };
    UserUsageByCompany: {
      credits: components["schemas"]["UserCreditUsage"][];
      end_time: string;
      rows: components["schemas"]["UserFeatureUsage"][];
      start_time: string;
    };
    UserUsageDetail: {
      credits: components["schemas"]["UserCreditUsage"][];
      daily_credit_points: components["schemas"]["UserDailyCreditPoint"][];
      daily_points: components["schemas"]["UserDailyUsagePoint"][];
      end_time: string;
      feature_totals: components["schemas"]["UserFeatureUsage"][];
      start_time: string;
      user?: components["schemas"]["User"];
    };
    WarningTierRecord: {
      id: string;
      key: string;
      value: number;
    };
    WarningTierWrite: {
      key: string;
      value: number;
    };
    Webhook: {
      created_at: string;
      credit_trigger_configs: components["schemas"]["CreditTriggerConfig"][] | null;
      entitlement_trigger_configs: components["schemas"]["EntitlementTriggerConfig"][] | null;
      id: string;
      name: string;
      request_types: ("auto.topup.hard.failure" | "auto.topup.retry.exceeded" | "auto.topup.success" | "billing.overage_window.closed" | "billing.period.closed" | "billing.threshold.reached" | "company.created" | "company.deleted" | "company.override.created" | "company.override.deleted" | "company.override.expired" | "company.override.updated" | "company.plan_changed" | "company.scheduled_downgrade" | "company.updated" | "credit.limit.reached" | "credit.limit.warning" | "credit.purchase.success" | "entitlement.limit.reached" | "entitlement.limit.warning" | "entitlement.soft_limit.reached" | "entitlement.soft_limit.warning" | "entitlement.tier_limit.reached" | "entitlement.tier_limit.warning" | "feature.created" | "feature.deleted" | "feature.updated" | "flag.created" | "flag.deleted" | "flag.updated" | "flag_rules.updated" | "plan.created" | "plan.deleted" | "plan.entitlement.created" | "plan.entitlement.deleted" | "plan.entitlement.updated" | "plan.updated" | "plan_version.deleted" | "rule.deleted" | "spend_policy.reached" | "subscription.trial.ended" | "test.send" | "user.created" | "user.deleted" | "user.updated")[];
      secret: string;
      status: "active" | "inactive";
      updated_at: string;
      url: string;
    };
    WebhookCreate: {
      credit_trigger_configs?: components["schemas"]["CreditTriggers"] | null;
      entitlement_trigger_configs?: components["schemas"]["EntitlementTriggers"] | null;
      name: components["schemas"]["Name.o1"];
      request_types: components["schemas"]["RequestTypes"];
      url: components["schemas"]["Url"];
    };
    WebhookEventDetail: {
      attempt_count: number;
      created_at: string;
      id: string;
      payload: null | string;
      request_type: "auto.topup.hard.failure" | "auto.topup.retry.exceeded" | "auto.topup.success" | "billing.overage_window.closed" | "billing.period.closed" | "billing.threshold.reached" | "company.created" | "company.deleted" | "company.override.created" | "company.override.deleted" | "company.override.expired" | "company.override.updated" | "company.plan_changed" | "company.scheduled_downgrade" | "company.updated" | "credit.limit.reached" | "credit.limit.warning" | "credit.purchase.success" | "entitlement.limit.reached" | "entitlement.limit.warning" | "entitlement.soft_limit.reached" | "entitlement.soft_limit.warning" | "entitlement.tier_limit.reached" | "entitlement.tier_limit.warning" | "feature.created" | "feature.deleted" | "feature.updated" | "flag.created" | "flag.deleted" | "flag.updated" | "flag_rules.updated" | "plan.created" | "plan.deleted" | "plan.entitlement.created" | "plan.entitlement.deleted" | "plan.entitlement.updated" | "plan.updated" | "plan_version.deleted" | "rule.deleted" | "spend_policy.reached" | "subscription.trial.ended" | "test.send" | "user.created" | "user.deleted" | "user.updated";
      response_code: null | number;
      sent_at: null | string;
      status: "failure" | "pending" | "success";
      updated_at: string;
      webhook?: components["schemas"]["Webhook"];
      webhook_id: string;
    };
    WebhookRoll: {
      overlap_seconds?: number | null;
    };
    WebhookTest: {
      request_type: "auto.topup.hard.failure" | "auto.topup.retry.exceeded" | "auto.topup.success" | "billing.overage_window.closed" | "billing.period.closed" | "billing.threshold.reached" | "company.created" | "company.deleted" | "company.override.created" | "company.override.deleted" | "company.override.expired" | "company.override.updated" | "company.plan_changed" | "company.scheduled_downgrade" | "company.updated" | "credit.limit.reached" | "credit.limit.warning" | "credit.purchase.success" | "entitlement.limit.reached" | "entitlement.limit.warning" | "entitlement.soft_limit.reached" | "entitlement.soft_limit.warning" | "entitlement.tier_limit.reached" | "entitlement.tier_limit.warning" | "feature.created" | "feature.deleted" | "feature.updated" | "flag.created" | "flag.deleted" | "flag.updated" | "flag_rules.updated" | "plan.created" | "plan.deleted" | "plan.entitlement.created" | "plan.entitlement.deleted" | "plan.entitlement.updated" | "plan.updated" | "plan_version.deleted" | "rule.deleted" | "spend_policy.reached" | "subscription.trial.ended" | "test.send" | "user.created" | "user.deleted" | "user.updated";
    };
    WebhookUpdate: {
      credit_trigger_configs?: components["schemas"]["CreditTriggers"] | null;
      entitlement_trigger_configs?: components["schemas"]["EntitlementTriggers"] | null;
      name?: components["schemas"]["Name.o1"] | null;
      request_types?: components["schemas"]["RequestTypes"] | null;
      status?: "active" | "inactive" | null;
      url?: components["schemas"]["Url"] | null;
    };
    WhoAmI: {
      account_id: string;
      account_member: components["schemas"]["WhoAmIMember"] | null;
      account_name: string;
      actor_type: "api_key" | "app_user" | "psp_app" | "system" | "temporary_access_token";
      api_key_id: null | string;
      environment_id: null | string;
      environments: components["schemas"]["Environment"][];
      expires_at: null | string;
      name: string;
      onboarding_complete: boolean;
      readonly: boolean;
      scopes: ("admin" | "capture" | "check" | "read" | "write")[];
    };
    WhoAmIMember: {
      console_roles: {
        [key: string]: "admin" | "editor" | "support" | "viewer";
      };
      id: string;
      name: string;
    };
  };
  responses: {
    202: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        [name: string]: unknown;
      };
      content: {
        "application/json": {
          data: components["schemas"]["Taken"];
          params: {
            [key: string]: unknown;
          };
        };
      };
    };
    400: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    401: {
      headers: {
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    402: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    403: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    404: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    405: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    409: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    411: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    412: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    429: {
      headers: {
        "Retry-After": components["headers"]["Retry-After"];
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["RateLimited"];
      };
    };
    431: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    500: {
      headers: {
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    503: {
      headers: {
        "Retry-After": components["headers"]["Retry-After"];
        "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
        "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
        "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
        "X-Request-Id": components["headers"]["X-Request-Id"];
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
  };
  parameters: {
    Environment: string;
    IdempotencyKey: string;
    IfMatch: string;
    Prefer: string;
  };
  requestBodies: never;
  headers: {
    ETag: string;
    "Idempotency-Replayed": "true";
    "Preference-Applied": "return=minimal";
    "Retry-After": number;
    "X-Next-Cursor": string;
    "X-RateLimit-Limit": number;
    "X-RateLimit-Remaining": number;
    "X-RateLimit-Reset": number;
    "X-Request-Id": string;
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listAccountMembers: {
    parameters: {
      query?: {
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        role?: "admin" | "member";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["AccountMember"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createAccountMember: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AccountMemberCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["InvitedMember"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getAccountMember: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        account_member_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["AccountMember"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateAccountMember: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        account_member_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AccountMemberUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["AccountMember"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteAccountMember: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        account_member_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createSignInLink: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        account_member_id: string;
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["SignInLink"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countAccountMembers: {
    parameters: {
      query?: {
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        role?: "admin" | "member";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listApiKeys: {
    parameters: {
      query: {
        cursor?: string;
        environment_id?: string;
        limit?: number;
        offset?: number;
        require_environment: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ApiKey"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createApiKey: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ApiKeyCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ApiKey"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getApiKey: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        api_key_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ApiKey"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateApiKey: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        api_key_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ApiKeyUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ApiKey"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteApiKey: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        api_key_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  rollApiKey: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        api_key_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ApiKeyRoll"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ApiKey"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countApiKeys: {
    parameters: {
      query: {
        cursor?: string;
        environment_id?: string;
        limit?: number;
        offset?: number;
        require_environment: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listAuditLogs: {
    parameters: {
      query?: {
        actor_type?: "api_key" | "app_user" | "psp_app" | "system" | "temporary_access_token";
        company_id?: string;
        cursor?: string;
        end_time?: string;
        environment_id?: string;
        kind?: "auth_failure" | "change" | "read" | "system";
        limit?: number;
        offset?: number;
        q?: string;
        resource_id?: string;
        resource_type?: string;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["AuditLogList"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getAuditLog: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        audit_log_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["AuditLog"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listAuditChain: {
    parameters: {
      query?: {
        after?: number;
        limit?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["AuditChainRow"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countAuditLogs: {
    parameters: {
      query?: {
        actor_type?: "api_key" | "app_user" | "psp_app" | "system" | "temporary_access_token";
        company_id?: string;
        cursor?: string;
        end_time?: string;
        environment_id?: string;
        kind?: "auth_failure" | "change" | "read" | "system";
        limit?: number;
        offset?: number;
        q?: string;
        resource_id?: string;
        resource_type?: string;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getAuditHead: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["AuditHead"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  collectEvents: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CollectorBatch"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["RawEventBatch"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCoupons: {
    parameters: {
      query?: {
        cursor?: string;
        is_active?: boolean;
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingCoupon"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertBillingCoupon: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CouponUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingCoupon"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteBillingCoupon: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        billing_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listBillingCredits: {
    parameters: {
      query?: {
        cursor?: string;
        ids?: string[];
        limit?: number;
        name?: string;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Credit"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createBillingCredit: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreditCreateRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Credit"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getSingleBillingCredit: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        credit_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Credit"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateBillingCredit: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        credit_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreditUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Credit"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  softDeleteBillingCredit: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        credit_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCompanyCreditBalances: {
    parameters: {
      query: {
        company_id: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyCreditBalanceRecord"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCreditBundles: {
    parameters: {
      query?: {
        bundle_type?: "fixed";
        credit_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        status?: "active" | "inactive";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditBundle"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createCreditBundle: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreditBundleCreateRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditBundle"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCreditBundle: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        bundle_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditBundle"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateCreditBundleDetails: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        bundle_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreditBundleUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditBundle"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteCreditBundle: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        bundle_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCreditBundles: {
    parameters: {
      query?: {
        bundle_type?: "fixed";
        credit_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        status?: "active" | "inactive";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countBillingCredits: {
    parameters: {
      query?: {
        cursor?: string;
        ids?: string[];
        limit?: number;
        name?: string;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  zeroOutGrant: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        grant_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["GrantZeroOut"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditGrant"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  grantBillingCreditsToCompany: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CompanyGrantCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditGrant"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCompanyGrants: {
    parameters: {
      query: {
        company_id: string;
        cursor?: string;
        dir?: "asc" | "desc";
        limit?: number;
        offset?: number;
        order?: "created_at" | "expires_at" | "quantity" | "quantity_remaining";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCompanyGrants: {
    parameters: {
      query: {
        company_id: string;
        cursor?: string;
        dir?: "asc" | "desc";
        limit?: number;
        offset?: number;
        order?: "created_at" | "expires_at" | "quantity" | "quantity_remaining";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditGrant"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countBillingCreditsGrants: {
    parameters: {
      query?: {
        credit_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listGrantsForCredit: {
    parameters: {
      query?: {
        credit_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditGrant"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCreditLeases: {
    parameters: {
      query?: {
        company_id?: string;
        credit_type_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        state?: "expired" | "open" | "released" | "settled";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditLease"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  acquireCreditLease: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["LeaseAcquire"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditLease"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      402: components["responses"]["402"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCreditLease: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        lease_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditLease"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  extendCreditLease: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        lease_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["LeaseExtend"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditLease"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      402: components["responses"]["402"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  releaseCreditLease: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        lease_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditLease"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      402: components["responses"]["402"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCreditLeases: {
    parameters: {
      query?: {
        company_id?: string;
        credit_type_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        state?: "expired" | "open" | "released" | "settled";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCreditLedger: {
    parameters: {
      query: {
        billing_credit_id?: string;
        company_id: string;
        cursor?: string;
        end_time?: string;
        event_type?: "grant" | "transfer" | "usage" | "zero_out";
        feature_id?: string;
        limit?: number;
        offset?: number;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditLedgerEntry"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listBillingPlanCreditGrants: {
    parameters: {
      query?: {
        credit_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        plan_id?: string;
        plan_ids?: string[];
        plan_version_id?: string;
        plan_version_ids?: string[];
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanCreditGrant"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createBillingPlanCreditGrant: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanGrantCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanCreditGrant"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getSingleBillingPlanCreditGrant: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_grant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanCreditGrant"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateBillingPlanCreditGrant: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_grant_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanGrantUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanCreditGrant"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteBillingPlanCreditGrant: {
    parameters: {
      query?: {
        apply_to_existing?: boolean;
      };
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_grant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countBillingPlanCreditGrants: {
    parameters: {
      query?: {
        credit_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        plan_id?: string;
        plan_ids?: string[];
        plan_version_id?: string;
        plan_version_ids?: string[];
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCreditReservations: {
    parameters: {
      query?: {
        company_id?: string;
        credit_type_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        state?: "expired" | "open" | "released" | "settled";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditReservation"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  reserveCredits: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreditsReserve"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditReservation"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      402: components["responses"]["402"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCreditReservation: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        reservation_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditReservation"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  releaseCreditReservation: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        reservation_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditReservation"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      402: components["responses"]["402"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCreditReservations: {
    parameters: {
      query?: {
        company_id?: string;
        credit_type_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        state?: "expired" | "open" | "released" | "settled";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCreditSpendPolicies: {
    parameters: {
      query?: {
        billing_credit_id?: string;
        company_id?: string;
        cursor?: string;
        limit?: number;
        offset?: number;
        scope_type?: "company" | "group" | "user";
        user_id?: string;
        user_ids?: string[];
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditSpendPolicy"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createCreditSpendPolicy: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SpendPolicyCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditSpendPolicy"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCreditSpendPolicy: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        spend_policy_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditSpendPolicy"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateCreditSpendPolicy: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        spend_policy_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SpendPolicyUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditSpendPolicy"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteCreditSpendPolicy: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        spend_policy_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCreditSpendPolicies: {
    parameters: {
      query?: {
        billing_credit_id?: string;
        company_id?: string;
        cursor?: string;
        limit?: number;
        offset?: number;
        scope_type?: "company" | "group" | "user";
        user_id?: string;
        user_ids?: string[];
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteBillingCustomer: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        billing_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertBillingCustomer: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingCustomerUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingCustomer"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCustomersWithSubscriptions: {
    parameters: {
      query?: {
        company_ids?: string[];
        cursor?: string;
        limit?: number;
        name?: string;
        offset?: number;
        provider_type?: "ext_a" | "ext_b" | "native" | "psp";
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingCustomerWithSubscriptions"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCustomers: {
    parameters: {
      query?: {
        company_ids?: string[];
        cursor?: string;
        limit?: number;
        name?: string;
        offset?: number;
        provider_type?: "ext_a" | "ext_b" | "native" | "psp";
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listInvoices: {
    parameters: {
      query: {
        company_id?: string;
        cursor?: string;
        customer_external_id: string;
        limit?: number;
        offset?: number;
        subscription_external_id: string;
        view?: "full" | "summary";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Invoice"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertInvoice: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["InvoiceUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Invoice"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteBillingInvoice: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        billing_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listMeters: {
    parameters: {
      query?: {
        cursor?: string;
        display_name?: string;
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingMeter"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertBillingMeter: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MeterUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingMeter"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listPaymentMethods: {
    parameters: {
      query: {
        company_id?: string;
        cursor?: string;
        customer_external_id: string;
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PaymentMethod"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertPaymentMethod: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PaymentMethodUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PaymentMethod"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deletePaymentMethodByExternalId: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        billing_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listBillingPrices: {
    parameters: {
      query?: {
        currency?: string;
        cursor?: string;
        for_initial_plan?: boolean;
        for_trial_expiry_plan?: boolean;
        ids?: string[];
        interval?: string;
        interval_count?: number;
        is_active?: boolean;
        limit?: number;
        offset?: number;
        plan_version_id?: string;
        price?: number;
        product_id?: string;
        product_ids?: string[];
        provider_type?: "ext_a" | "ext_b" | "native" | "psp";
        q?: string;
        tiers_mode?: "graduated" | "volume";
        usage_type?: "licensed" | "metered";
        with_meter?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingPriceView"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertBillingPrice: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingPriceUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingPrice"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteBillingProduct: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        billing_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listBillingProductPrices: {
    parameters: {
      query?: {
        currency?: string;
        cursor?: string;
        for_initial_plan?: boolean;
        for_trial_expiry_plan?: boolean;
        ids?: string[];
        interval?: string;
        interval_count?: number;
        is_active?: boolean;
        limit?: number;
        offset?: number;
        plan_version_id?: string;
        price?: number;
        product_id?: string;
        product_ids?: string[];
        provider_type?: "ext_a" | "ext_b" | "native" | "psp";
        q?: string;
        tiers_mode?: "graduated" | "volume";
        usage_type?: "licensed" | "metered";
        with_meter?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingPriceView"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteProductPrice: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        billing_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertBillingProduct: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingProductUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingProduct"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listBillingProducts: {
    parameters: {
      query?: {
        cursor?: string;
        ids?: string[];
        is_active?: boolean;
        limit?: number;
        name?: string;
        offset?: number;
        price_usage_type?: "licensed" | "metered";
        provider_type?: "ext_a" | "ext_b" | "native" | "psp";
        q?: string;
        recurring_charges_only?: boolean;
        with_one_time_charges?: boolean;
        with_prices_only?: boolean;
        with_zero_price?: boolean;
        without_linked_to_plan?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingProductDetail"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countBillingProducts: {
    parameters: {
      query?: {
        cursor?: string;
        ids?: string[];
        is_active?: boolean;
        limit?: number;
        name?: string;
        offset?: number;
        price_usage_type?: "licensed" | "metered";
        provider_type?: "ext_a" | "ext_b" | "native" | "psp";
        q?: string;
        recurring_charges_only?: boolean;
        with_one_time_charges?: boolean;
        with_prices_only?: boolean;
        with_zero_price?: boolean;
        without_linked_to_plan?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCompanyBillingProfiles: {
    parameters: {
      query?: {
        company_id?: string;
        cursor?: string;
        is_default?: boolean;
        limit?: number;
        offset?: number;
        provider_type?: "ext_a" | "ext_b" | "native" | "psp";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyBillingProfile"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateCompanyBillingProfile: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        billing_profile_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingProfileUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyBillingProfile"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertBillingSubscription: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingSubscriptionUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingSubscription"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCatalog: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Catalog"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCatalogSchema: {
    parameters: {};
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/schema+json": Record<string, never>;
        };
      };
    };
  };
  applyCatalog: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CatalogWrite"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CatalogApplied"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  diffCatalog: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CatalogWrite"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CatalogDiff"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCharges: {
    parameters: {
      query?: {
        company_ids?: string[];
        currency?: string;
        cursor?: string;
        end_time?: string;
        feature_id?: string;
        kinds?: string[];
        limit?: number;
        period?: string;
        plan_id?: string;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyChargeLine"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCompanies: {
    parameters: {
      query?: {
        all_metrics?: boolean;
        credit_type_ids?: string[];
        cursor?: string;
        has_scheduled_downgrade?: boolean;
        ids?: string[];
        limit?: number;
        monetized_subscriptions?: boolean;
        offset?: number;
        plan_id?: string;
        plan_ids?: string[];
        plan_version_id?: string;
        plan_version_ids?: string[];
        plan_version_unpublished?: boolean;
        q?: string;
        sort_order_column?: string;
        sort_order_direction?: "asc" | "desc";
        subscription_statuses?: ("active" | "canceled" | "expired" | "incomplete" | "incomplete_expired" | "past_due" | "paused" | "trialing" | "unpaid")[];
        subscription_types?: ("free" | "one_time" | "paid" | "trial")[];
        usage_end_time?: string;
        usage_feature_id?: string;
        usage_start_time?: string;
        view?: "full" | "summary";
        with_entitlement_for?: string;
        with_subscription?: boolean;
        without_feature_override_for?: string;
        without_plan?: boolean;
        without_subscription?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyDetail"][] | components["schemas"]["CompanySummary"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertCompany: {
    parameters: {
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CompanyUpsert"];
      };
    };
    responses: {
      200: {
        headers: {
          "Preference-Applied": components["headers"]["Preference-Applied"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCompany: {
    parameters: {
      query?: {
        all_metrics?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteCompany: {
    parameters: {
      query?: {
        cancel_subscription?: boolean;
        prorate?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCompanyBillingDetails: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyBillingDetails"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateCompanyBillingDetails: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingDetailsUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyBillingDetails"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCompanyCharges: {
    parameters: {
      query?: {
        currency?: string;
        period?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyCharges"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  eraseCompany: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ErasureRequest"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Erasure"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  explainCompany: {
    parameters: {
      query?: {
        at?: string;
        cursor?: string;
        flag_key?: string;
        limit?: number;
        offset?: number;
        user_id?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FlagExplanation"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  exportCompany: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/x-ndjson": string;
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCompanies: {
    parameters: {
      query?: {
        all_metrics?: boolean;
        credit_type_ids?: string[];
        cursor?: string;
        has_scheduled_downgrade?: boolean;
        ids?: string[];
        limit?: number;
        monetized_subscriptions?: boolean;
        offset?: number;
        plan_id?: string;
        plan_ids?: string[];
        plan_version_id?: string;
        plan_version_ids?: string[];
        plan_version_unpublished?: boolean;
        q?: string;
        sort_order_column?: string;
        sort_order_direction?: "asc" | "desc";
        subscription_statuses?: ("active" | "canceled" | "expired" | "incomplete" | "incomplete_expired" | "past_due" | "paused" | "trialing" | "unpaid")[];
        subscription_types?: ("free" | "one_time" | "paid" | "trial")[];
        usage_end_time?: string;
        usage_feature_id?: string;
        usage_start_time?: string;
        view?: "full" | "summary";
        with_entitlement_for?: string;
        with_subscription?: boolean;
        without_feature_override_for?: string;
        without_plan?: boolean;
        without_subscription?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createCompany: {
    parameters: {
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CompanyUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "Preference-Applied": components["headers"]["Preference-Applied"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteCompanyByKeys: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["KeysBody"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Company"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  lookupCompany: {
    parameters: {
      query: {
        all_metrics?: boolean;
        keys: {
          [key: string]: string;
        };
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCompanyBillingEntity: {
    parameters: {
      query: {
        company_id: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyBillingEntity"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getBillingEntityChildSubscriptions: {
    parameters: {
      query: {
        company_id: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyBillingEntitySubscription"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCompanyMemberships: {
    parameters: {
      query?: {
        company_id?: string;
        cursor?: string;
        limit?: number;
        offset?: number;
        user_id?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyMembershipDetail"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getOrCreateCompanyMembership: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MembershipCreate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyMembershipDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteCompanyMembership: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_membership_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCompanyOverrides: {
    parameters: {
      query?: {
        company_id?: string;
        company_ids?: string[];
        cursor?: string;
        feature_id?: string;
        feature_ids?: string[];
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        without_expired?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyOverride"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  putCompanyOverride: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CompanyOverrideCreate"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyOverride"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createCompanyOverride: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CompanyOverrideCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyOverride"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getCompanyOverride: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_override_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyOverride"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateCompanyOverride: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_override_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CompanyOverrideUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyOverride"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  replaceCompanyOverride: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_override_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CompanyOverrideUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyOverride"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteCompanyOverride: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_override_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCompanyOverrides: {
    parameters: {
      query?: {
        company_id?: string;
        company_ids?: string[];
        cursor?: string;
        feature_id?: string;
        feature_ids?: string[];
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        without_expired?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateCompanyPlans: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        company_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CompanyPlansUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getActiveCompanySubscription: {
    parameters: {
      query?: {
        company_id?: string;
        company_ids?: string[];
        cursor?: string;
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanySubscription"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertCompanyTrait: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TraitUpsert"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "Preference-Applied": components["headers"]["Preference-Applied"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createConsoleLink: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ConsoleLinkCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["SignInLink"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCosts: {
    parameters: {
      query?: {
        by?: ("company" | "day" | "model" | "user")[];
        company_id?: string;
        currency?: string;
        cursor?: string;
        end_time?: string;
        limit?: number;
        model?: string;
        offset?: number;
        start_time?: string;
        user_id?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CostAndMargin"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCreditDays: {
    parameters: {
      query: {
        billing_credit_id: string;
        company_id: string;
        days?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditDay"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCustomPlanBillings: {
    parameters: {
      query?: {
        company_id?: string;
        cursor?: string;
        limit?: number;
        offset?: number;
        plan_billing_source?: "amendment" | "custom_plan" | "manage_plan";
        plan_id?: string;
        status?: "active" | "expired" | "paid" | "pending";
        statuses?: ("active" | "expired" | "paid" | "pending")[];
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CustomPlanBilling"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  markCustomPlanBillingPaid: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        custom_plan_billing_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CustomPlanBillingPaid"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CustomPlanBilling"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  retryCustomPlanBilling: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        custom_plan_billing_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CustomPlanBillingRetry"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CustomPlanBilling"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createCustomPlanBundle: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CustomPlanBundleCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanBundle"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createCustomPlan: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CustomPlanCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  openDatastream: {
    parameters: {};
    responses: {
      101: {
        headers: {
          [name: string]: unknown;
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      429: components["responses"]["429"];
      503: components["responses"]["503"];
    };
  };
  listDeniedChecks: {
    parameters: {
      query?: {
        by?: ("company" | "flag" | "minute" | "reason")[];
        company_id?: string;
        cursor?: string;
        end_time?: string;
        flag_key?: string;
        limit?: number;
        offset?: number;
        reason?: string;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["DeniedChecks"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listEntityKeyDefinitions: {
    parameters: {
      query?: {
        cursor?: string;
        entity_type?: "company" | "user";
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EntityKeyDefinition"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteEntityKeyDefinition: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        entity_key_definition_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countEntityKeyDefinitions: {
    parameters: {
      query?: {
        cursor?: string;
        entity_type?: "company" | "user";
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countEntityKeys: {
    parameters: {
      query?: {
        cursor?: string;
        definition_id?: string;
        entity_type?: "company" | "user";
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listEntityTraitDefinitions: {
    parameters: {
      query?: {
        cursor?: string;
        entity_type?: "company" | "user";
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        trait_type?: "boolean" | "currency" | "date" | "number" | "string" | "url";
        trait_types?: ("boolean" | "currency" | "date" | "number" | "string" | "url")[];
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EntityTraitDefinition"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getOrCreateEntityTraitDefinition: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TraitDefinitionCreate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EntityTraitDefinition"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getEntityTraitDefinition: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        entity_trait_definition_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EntityTraitDefinition"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateEntityTraitDefinition: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        entity_trait_definition_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TraitDefinitionUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EntityTraitDefinition"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteEntityTraitDefinition: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        entity_trait_definition_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getEntityTraitDefinitionUsage: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        entity_trait_definition_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EntityTraitDefinitionUsage"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countEntityTraitDefinitions: {
    parameters: {
      query?: {
        cursor?: string;
        entity_type?: "company" | "user";
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        trait_type?: "boolean" | "currency" | "date" | "number" | "string" | "url";
        trait_types?: ("boolean" | "currency" | "date" | "number" | "string" | "url")[];
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getEntityTraitValues: {
    parameters: {
      query: {
        cursor?: string;
        definition_id: string;
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EntityTraitValue"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countEntityTraits: {
    parameters: {
      query?: {
        cursor?: string;
        definition_id?: string;
        entity_type?: "company" | "user";
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listEnvironments: {
    parameters: {
      query?: {
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Environment"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createEnvironment: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EnvironmentCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EnvironmentDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getEnvironment: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        environment_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Environment"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateEnvironment: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        environment_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EnvironmentUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Environment"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteEnvironment: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        environment_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getEnvironmentClock: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        environment_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EnvironmentClock"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  setEnvironmentClock: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        environment_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ClockUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EnvironmentClock"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteEnvironmentClock: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        environment_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getContextSecret: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        environment_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ContextSecretView"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  rollContextSecret: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        environment_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ContextSecretRoll"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ContextSecretView"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listErasures: {
    parameters: {
      query?: {
        cursor?: string;
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Erasure"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createEventBatch: {
    parameters: {
      query?: {
        any_age?: boolean;
        report?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/cloudevents-batch+json": components["schemas"]["CloudEvent"][];
        "application/json": components["schemas"]["EventBatch"];
        "application/x-ndjson": string;
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["RawEventBatch"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getEventSummaries: {
    parameters: {
      query?: {
        cursor?: string;
        event_subtypes?: string[];
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EventSummary"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listEvents: {
    parameters: {
      query?: {
        company_id?: string;
        cursor?: string;
        end_time?: string;
        event_subtype?: string;
        event_types?: ("flag_check" | "identify" | "inference" | "track")[];
        flag_id?: string;
        flag_key?: string;
        idempotency_key?: string;
        limit?: number;
        max_value?: number;
        min_value?: number;
        offset?: number;
        reason?: string;
        start_time?: string;
        status?: "enriched" | "failed" | "pending" | "processed" | "unknown";
        user_id?: string;
        value?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EventDetail"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createEvent: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/cloudevents-batch+json": components["schemas"]["CloudEvent"][];
        "application/cloudevents+json": components["schemas"]["CloudEvent"];
        "application/json": components["schemas"]["EventCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["RawEvent"] | components["schemas"]["RawEventBatch"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getEvent: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        event_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["EventDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countEvents: {
    parameters: {
      query?: {
        company_id?: string;
        cursor?: string;
        end_time?: string;
        event_subtype?: string;
        event_types?: ("flag_check" | "identify" | "inference" | "track")[];
        flag_id?: string;
        flag_key?: string;
        idempotency_key?: string;
        limit?: number;
        max_value?: number;
        min_value?: number;
        offset?: number;
        reason?: string;
        start_time?: string;
        status?: "enriched" | "failed" | "pending" | "processed" | "unknown";
        user_id?: string;
        value?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  exportCharges: {
    parameters: {
      query: {
        company_ids?: string[];
        currency?: string;
        end_time?: string;
        feature_id?: string;
        format: "csv" | "ndjson" | "parquet";
        kinds?: string[];
        period?: string;
        plan_id?: string;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          undefined: string;
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  exportEvents: {
    parameters: {
      query: {
        company_id?: string;
        format: "csv" | "ndjson" | "parquet";
        from?: string;
        raw?: boolean;
        to?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          undefined: string;
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  exportLedger: {
    parameters: {
      query: {
        company_id?: string;
        format: "csv" | "ndjson" | "parquet";
        from?: string;
        raw?: boolean;
        to?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          undefined: string;
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  exportUsage: {
    parameters: {
      query: {
        company_id?: string;
        format: "csv" | "ndjson" | "parquet";
        from?: string;
        raw?: boolean;
        to?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          undefined: string;
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listFeatureCompanies: {
    parameters: {
      query: {
        cursor?: string;
        feature_id: string;
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureCompany"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countFeatureCompanies: {
    parameters: {
      query: {
        cursor?: string;
        feature_id: string;
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listFeatureUsage: {
    parameters: {
      query?: {
        company_id?: string;
        company_keys?: {
          [key: string]: string;
        };
        cursor?: string;
        feature_ids?: string[];
        include_usage_aggregation?: boolean;
        limit?: number;
        managed_by?: "ext_a" | "ext_b" | "native" | "psp";
        offset?: number;
        q?: string;
        without_negative_entitlements?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureUsage"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listFeatureUsageHistory: {
    parameters: {
      query: {
        company_ids?: string[];
        cursor?: string;
        end_time: string;
        feature_ids?: string[];
        granularity?: "daily" | "hourly" | "monthly" | "weekly";
        limit?: number;
        offset?: number;
        start_time: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureUsageHistory"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getFeatureUsageTimeSeries: {
    parameters: {
      query: {
        company_id: string;
        end_time: string;
        feature_id: string;
        granularity?: "daily" | "hourly" | "monthly" | "weekly";
        start_time: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureUsageTimeSeries"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countFeatureUsage: {
    parameters: {
      query?: {
        company_id?: string;
        company_keys?: {
          [key: string]: string;
        };
        cursor?: string;
        feature_ids?: string[];
        include_usage_aggregation?: boolean;
        limit?: number;
        managed_by?: "ext_a" | "ext_b" | "native" | "psp";
        offset?: number;
        q?: string;
        without_negative_entitlements?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listFeatureUsers: {
    parameters: {
      query: {
        cursor?: string;
        feature_id: string;
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureCompanyUser"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countFeatureUsers: {
    parameters: {
      query: {
        cursor?: string;
        feature_id: string;
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listFeatures: {
    parameters: {
      query?: {
        boolean_require_event?: boolean;
        cursor?: string;
        feature_type?: ("boolean" | "event" | "license" | "trait")[];
        ids?: string[];
        limit?: number;
        managed_by?: "ext_a" | "ext_b" | "native" | "psp";
        offset?: number;
        plan_version_id?: string;
        q?: string;
        view?: "full" | "summary";
        without_company_override_for?: string;
        without_plan_entitlement_for?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureDetail"][] | components["schemas"]["FeatureSummary"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createFeature: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FeatureCreateRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getFeature: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        feature_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateFeature: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        feature_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FeatureUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteFeature: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        feature_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertFeatureForBillingProduct: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingLinkedFeatureCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countFeatures: {
    parameters: {
      query?: {
        boolean_require_event?: boolean;
        cursor?: string;
        feature_type?: ("boolean" | "event" | "license" | "trait")[];
        ids?: string[];
        limit?: number;
        managed_by?: "ext_a" | "ext_b" | "native" | "psp";
        offset?: number;
        plan_version_id?: string;
        q?: string;
        view?: "full" | "summary";
        without_company_override_for?: string;
        without_plan_entitlement_for?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listFlagChecks: {
    parameters: {
      query?: {
        by?: ("flag" | "reason")[];
        cursor?: string;
        end_time?: string;
        flag_key?: string;
        limit?: number;
        offset?: number;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FlagChecks"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listFlags: {
    parameters: {
      query?: {
        cursor?: string;
        feature_id?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        view?: "full" | "summary";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FlagDetail"][] | components["schemas"]["FlagSummary"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createFlag: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FlagCreateRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FlagDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getFlag: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        flag_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FlagDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateFlag: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        flag_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FlagUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FlagDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteFlag: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        flag_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateFlagRules: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        flag_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RulesUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["RulesDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  checkFlag: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        key: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CheckFlagRequestBody"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CheckFlag"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  checkAndReserveFlag: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        key: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CheckAndReserveRequestBody"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CheckAndReserveFlag"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      402: components["responses"]["402"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  explainFlag: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        key: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ExplainBody"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FlagExplanation"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  checkFlags: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CheckFlagRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CheckFlags"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  checkFlagsBulk: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CheckFlagsBulkRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CheckFlagsBulk"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countFlags: {
    parameters: {
      query?: {
        cursor?: string;
        feature_id?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        view?: "full" | "summary";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getLive: {
    parameters: {};
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            degraded?: string[];
            status?: string;
            version?: string;
          };
        };
      };
    };
  };
  getReady: {
    parameters: {};
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            degraded?: string[];
            status?: string;
            version?: string;
          };
        };
      };
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            error: string;
          };
        };
      };
    };
  };
  listLicenses: {
    parameters: {
      query?: {
        cursor?: string;
        feature_ids?: string[];
        ids?: string[];
        limit?: number;
        name?: string;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["License"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getSingleLicense: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        license_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["License"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countLicenses: {
    parameters: {
      query?: {
        cursor?: string;
        feature_ids?: string[];
        ids?: string[];
        limit?: number;
        name?: string;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getLimits: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["AccountLimits"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  setLimits: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["LimitsUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["AccountLimits"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  managePlan: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ManagePlanRequestBody"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ManagePlanResult"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  previewManagePlan: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ManagePlanRequestBody"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ManagePlanPreview"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  cancelSubscription: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SubscriptionCancel"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ManagePlanResult"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getMetrics: {
    parameters: {};
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/plain": string;
        };
      };
    };
  };
  listModelPrices: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ModelPriceView"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  putModelPrices: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ModelPriceView"][];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["ModelPriceView"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  evaluateFlags: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["OfrepRequest"];
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OfrepEvaluations"];
        };
      };
      304: {
        headers: {
          [name: string]: unknown;
        };
      };
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OfrepFailure"];
        };
      };
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OfrepFailure"];
        };
      };
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  evaluateFlag: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        key: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["OfrepRequest"];
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OfrepEvaluation"];
        };
      };
      304: {
        headers: {
          [name: string]: unknown;
        };
      };
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OfrepFailure"];
        };
      };
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OfrepFailure"];
        };
      };
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getOpenApi: {
    parameters: {};
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": Record<string, never>;
        };
      };
    };
  };
  createPlanBundle: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanBundleCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanBundle"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updatePlanBundle: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanBundleUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanBundle"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listPlanChanges: {
    parameters: {
      query?: {
        action?: "checkout" | "company_upsert" | "fallback_plan" | "manage_plan" | "migration" | "plan_billing_product_changed" | "plan_deleted" | "plan_trait_change" | "plan_version_migration" | "quickstart" | "subscription_change";
        base_plan_action?: "fallback" | "initial" | "trait" | "trial_expiry";
        company_id?: string;
        company_ids?: string[];
        cursor?: string;
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanChange"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getPlanChange: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_change_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanChange"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listPlanEntitlements: {
    parameters: {
      query?: {
        cursor?: string;
        feature_id?: string;
        feature_ids?: string[];
        ids?: string[];
        limit?: number;
        offset?: number;
        plan_id?: string;
        plan_ids?: string[];
        plan_version_id?: string;
        plan_version_ids?: string[];
        q?: string;
        with_metered_products?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanEntitlement"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createPlanEntitlement: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanEntitlementCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanEntitlement"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getPlanEntitlement: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_entitlement_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanEntitlement"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updatePlanEntitlement: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_entitlement_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanEntitlementUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanEntitlement"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deletePlanEntitlement: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_entitlement_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertPlanEntitlementForBillingProduct: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingLinkedEntitlementCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanEntitlement"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countPlanEntitlements: {
    parameters: {
      query?: {
        cursor?: string;
        feature_id?: string;
        feature_ids?: string[];
        ids?: string[];
        limit?: number;
        offset?: number;
        plan_id?: string;
        plan_ids?: string[];
        plan_version_id?: string;
        plan_version_ids?: string[];
        q?: string;
        with_metered_products?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  duplicatePlanEntitlements: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EntitlementsDuplicate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["DuplicatedEntitlements"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getPlanGroup: {
    parameters: {
      query?: {
        include_company_counts?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanGroupDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createPlanGroup: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanGroupCreateRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanGroup"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updatePlanGroup: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_group_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanGroupUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanGroup"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listPlanMoves: {
    parameters: {
      query?: {
        cursor?: string;
        limit?: number;
        offset?: number;
        plan_id?: string;
        status?: "cancelled" | "completed" | "failed" | "in_progress" | "paused" | "pending";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMove"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createPlanMove: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanMoveCreateRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMove"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getPlanMove: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_move_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMove"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  cancelPlanMove: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_move_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMove"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listPlanMoveCompanies: {
    parameters: {
      query?: {
        cursor?: string;
        limit?: number;
        offset?: number;
        q?: string;
        status?: "cancelled" | "completed" | "failed" | "in_progress" | "pending" | "skipped";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_move_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMoveCompany"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  pausePlanMove: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_move_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMove"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  resumePlanMove: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_move_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMove"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  retryPlanMove: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_move_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanMoveRetry"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMove"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  revertPlanMove: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_move_id: string;
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMove"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countPlanMoves: {
    parameters: {
      query?: {
        cursor?: string;
        limit?: number;
        offset?: number;
        plan_id?: string;
        status?: "cancelled" | "completed" | "failed" | "in_progress" | "paused" | "pending";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  previewPlanMove: {
    parameters: {
      query?: {
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanMoveCreateRequestBody"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMovePreview"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCompanyMigrations: {
    parameters: {
      query: {
        cursor?: string;
        limit?: number;
        migration_id: string;
        offset?: number;
        q?: string;
        status?: "cancelled" | "completed" | "failed" | "in_progress" | "pending" | "skipped";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionCompanyMigration"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  retryCompanyMigration: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_company_migration_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionCompanyMigration"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCompanyMigrations: {
    parameters: {
      query: {
        cursor?: string;
        limit?: number;
        migration_id: string;
        offset?: number;
        q?: string;
        status?: "cancelled" | "completed" | "failed" | "in_progress" | "pending" | "skipped";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listMigrations: {
    parameters: {
      query: {
        cursor?: string;
        feature_id?: string;
        limit?: number;
        offset?: number;
        plan_version_id: string;
        status?: "cancelled" | "completed" | "failed" | "in_progress" | "pending";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionMigration"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createMigration: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MigrationCreateRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionMigration"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getMigration: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_migration_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionMigration"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  cancelMigration: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_migration_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionMigration"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  completeMigrationNow: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_migration_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MigrationCompleteNow"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionMigration"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  pauseMigration: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_migration_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionMigration"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  resumeMigration: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_migration_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionMigration"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  retryMigration: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_migration_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MigrationRetry"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionMigration"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  revertMigration: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_migration_id: string;
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanMove"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countMigrations: {
    parameters: {
      query: {
        cursor?: string;
        feature_id?: string;
        limit?: number;
        offset?: number;
        plan_version_id: string;
        status?: "cancelled" | "completed" | "failed" | "in_progress" | "pending";
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  previewMigration: {
    parameters: {
      query?: {
        limit?: number;
        offset?: number;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MigrationPreviewRequest"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersionMigrationPreview"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listPlans: {
    parameters: {
      query?: {
        company_id?: string;
        company_scoped_only?: boolean;
        cursor?: string;
        exclude_company_scoped?: boolean;
        exclude_unused?: boolean;
        for_fallback_plan?: boolean;
        for_initial_plan?: boolean;
        for_trial_expiry_plan?: boolean;
        has_product_id?: boolean;
        ids?: string[];
        include_draft_versions?: boolean;
        limit?: number;
        offset?: number;
        plan_type?: "add_on" | "plan";
        q?: string;
        scoped_to_company_id?: string;
        view?: "full" | "summary";
        with_entitlements?: boolean;
        with_published_version?: boolean;
        without_entitlement_for?: string;
        without_entitlement_for_include_drafts?: boolean;
        without_paid_product_id?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanDetail"][] | components["schemas"]["PlanSummary"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createPlan: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanCreateRequestBody"];
      };
    };
    responses: {
      201: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getPlan: {
    parameters: {
      query?: {
        plan_version_id?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updatePlan: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deletePlan: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertBillingProductPlan: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingProductUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingProductPlan"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getPlanDraftDiff: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["DraftDiff"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertPlanForBillingProduct: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BillingLinkedPlanCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listBillingProductMatchCompanies: {
    parameters: {
      query: {
        cursor?: string;
        limit?: number;
        offset?: number;
        plan_id: string;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CompanyDetail"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countBillingProductMatchCompanies: {
    parameters: {
      query: {
        cursor?: string;
        limit?: number;
        offset?: number;
        plan_id: string;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countPlans: {
    parameters: {
      query?: {
        company_id?: string;
        company_scoped_only?: boolean;
        cursor?: string;
        exclude_company_scoped?: boolean;
        exclude_unused?: boolean;
        for_fallback_plan?: boolean;
        for_initial_plan?: boolean;
        for_trial_expiry_plan?: boolean;
        has_product_id?: boolean;
        ids?: string[];
        include_draft_versions?: boolean;
        limit?: number;
        offset?: number;
        plan_type?: "add_on" | "plan";
        q?: string;
        scoped_to_company_id?: string;
        view?: "full" | "summary";
        with_entitlements?: boolean;
        with_published_version?: boolean;
        without_entitlement_for?: string;
        without_entitlement_for_include_drafts?: boolean;
        without_paid_product_id?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listPlanIssues: {
    parameters: {
      query: {
        plan_id: string;
        plan_version_id?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanIssue"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deletePlanVersion: {
    parameters: {
      query?: {
        promote_archived_version?: boolean;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  publishPlanVersion: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        plan_version_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PlanPublishRequestBody"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["PlanVersion"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getPortal: {
    parameters: {
      query?: {
        company_id?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Portal"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  reconcile: {
    parameters: {
      query?: {
        company_id?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/x-ndjson": string;
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  search: {
    parameters: {
      query: {
        limit?: number;
        q: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["SearchResult"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createSignedContext: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SignedContextCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["SignedContextView"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateCustomerSubscriptionTrialEnd: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        subscription_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TrialEndUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["BillingSubscriptionView"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getSystem: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["SystemStatus"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createTemporaryAccessToken: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TemporaryAccessTokenCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["TemporaryAccessToken"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listTopCompanies: {
    parameters: {
      query: {
        end_time?: string;
        feature_id: string;
        limit?: number;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["TopCompany"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getFeatureUsageByCompany: {
    parameters: {
      query: {
        keys: {
          [key: string]: string;
        };
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["FeatureUsageDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getUsageByDay: {
    parameters: {
      query?: {
        days?: number;
        feature_ids?: string[];
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["UsageByDay"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertUserTrait: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TraitUpsert"];
      };
    };
    responses: {
      200: {
        headers: {
          "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
          "Preference-Applied": components["headers"]["Preference-Applied"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["UserDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      409: components["responses"]["409"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getUserUsageByCompany: {
    parameters: {
      query: {
        company_id: string;
        end_time?: string;
        feature_id?: string;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["UserUsageByCompany"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getUserUsageDetail: {
    parameters: {
      query: {
        company_id: string;
        end_time?: string;
        start_time?: string;
        user_id: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["UserUsageDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listUsers: {
    parameters: {
      query?: {
        company_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        plan_id?: string;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["UserDetail"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  upsertUser: {
    parameters: {
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserUpsert"];
      };
    };
    responses: {
      200: {
        headers: {
          "Preference-Applied": components["headers"]["Preference-Applied"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["UserDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getUser: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        user_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["UserDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteUser: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        user_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  eraseUser: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        user_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ErasureRequest"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Erasure"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  exportUser: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        user_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/x-ndjson": string;
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countUsers: {
    parameters: {
      query?: {
        company_id?: string;
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        plan_id?: string;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createUser: {
    parameters: {
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserUpsert"];
      };
    };
    responses: {
      201: {
        headers: {
          "Preference-Applied": components["headers"]["Preference-Applied"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["UserDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteUserByKeys: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["KeysBody"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["User"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      202: components["responses"]["202"];
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  lookupUser: {
    parameters: {
      query: {
        keys: {
          [key: string]: string;
        };
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["UserDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listCreditEventLedger: {
    parameters: {
      query: {
        billing_credit_id?: string;
        company_id: string;
        cursor?: string;
        end_time?: string;
        event_type?: "grant" | "transfer" | "usage" | "zero_out";
        feature_id?: string;
        limit?: number;
        offset?: number;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["CreditLedgerEntry"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countCreditEventLedger: {
    parameters: {
      query: {
        billing_credit_id?: string;
        company_id: string;
        cursor?: string;
        end_time?: string;
        event_type?: "grant" | "transfer" | "usage" | "zero_out";
        feature_id?: string;
        limit?: number;
        offset?: number;
        start_time?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listWebhookEvents: {
    parameters: {
      query?: {
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        status?: "failure" | "pending" | "success";
        webhook_id?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["WebhookEventDetail"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getWebhookEvent: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        webhook_event_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["WebhookEventDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  redeliverWebhookEvent: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        webhook_event_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["WebhookEventDetail"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countWebhookEvents: {
    parameters: {
      query?: {
        cursor?: string;
        ids?: string[];
        limit?: number;
        offset?: number;
        q?: string;
        status?: "failure" | "pending" | "success";
        webhook_id?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  listWebhooks: {
    parameters: {
      query?: {
        cursor?: string;
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Webhook"][];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  createWebhook: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["WebhookCreate"];
      };
    };
    responses: {
      201: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Webhook"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getWebhook: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        webhook_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          ETag: components["headers"]["ETag"];
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Webhook"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  updateWebhook: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        webhook_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["WebhookUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Webhook"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  deleteWebhook: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        webhook_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Deleted"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      412: components["responses"]["412"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  rollWebhookSecret: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        webhook_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["WebhookRoll"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Webhook"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  sendTestWebhookAction: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
      path: {
        webhook_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["WebhookTest"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["TestWebhook"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  countWebhooks: {
    parameters: {
      query?: {
        cursor?: string;
        limit?: number;
        offset?: number;
        q?: string;
      };
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["Count"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
  getWhoAmI: {
    parameters: {
      header?: {
        "X-Service-Environment-Id"?: components["parameters"]["Environment"];
      };
    };
    responses: {
      200: {
        headers: {
          "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
          "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
          "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            data: components["schemas"]["WhoAmI"];
            params: {
              [key: string]: unknown;
            };
          };
        };
      };
      400: components["responses"]["400"];
      401: components["responses"]["401"];
      403: components["responses"]["403"];
      404: components["responses"]["404"];
      429: components["responses"]["429"];
      500: components["responses"]["500"];
      503: components["responses"]["503"];
    };
  };
}
