// What every operation takes and gives, by method and path: the page that the OpenAPI document is made from.
// A row of src/http/routes.ts has its line here; a test holds the two together.

import typia, { type tags } from 'typia'
import type { AuditChainRow, AuditHead, AuditLog, AuditLogList } from './audit-log.js'
import type {
  BillingCoupon,
  BillingCustomer,
  BillingCustomerWithSubscriptions,
  BillingDetailsUpdate,
  BillingMeter,
  BillingPriceWrite,
  BillingProductUpsert,
  BillingSubscription,
  BillingSubscriptionView,
  BillingSubscriptionWrite,
  CompanyBillingDetails,
  CompanyBillingEntity,
  CompanyBillingEntitySubscription,
  CompanySubscription,
  CustomPlanBilling,
  CustomPlanBillingPaid,
  CustomPlanBillingRetry,
  Invoice,
  InvoiceWrite,
  ManagePlanPreview,
  ManagePlanRequest,
  ManagePlanResult,
  PaymentMethod,
  SubscriptionCancel,
  TrialEndUpdate,
} from './billing.js'
import type { BillingProfileUpdate, CompanyBillingProfile } from './billing-profile.js'
import type {
  BillingCustomerUpsert,
  CouponUpsert,
  MeterUpsert,
  PaymentMethodUpsert,
} from './billing-upserts.js'
import type {
  CheckFlag,
  CheckFlagRequestBody,
  CheckFlags,
  CheckFlagsBulk,
  CheckFlagsBulkRequestBody,
} from './checks.js'
import type {
  Company,
  CompanyDetail,
  CompanyMembershipDetail,
  CompanyUpsert,
  EntityKeyDefinition,
  EntityTraitValue,
  KeysBody,
  MembershipCreate,
  TraitUpsert,
} from './companies.js'
import type { CreditOperations } from './credit-operations.js'
import type {
  BillingLinkedEntitlementCreate,
  CompanyOverride,
  CompanyOverrideCreate,
  CompanyOverrideUpdate,
  DuplicatedEntitlements,
  EntitlementsDuplicate,
  PlanEntitlement,
  PlanEntitlementCreate,
  PlanEntitlementUpdate,
} from './entitlements.js'
import type { Count, Deleted } from './envelope.js'
import type {
  ClockUpdate,
  Environment,
  EnvironmentClock,
  EnvironmentCreate,
  EnvironmentDetail,
  EnvironmentUpdate,
} from './environments.js'
import type {
  CloudEvent,
  CreateEventRequestBody,
  EventBodyFlagCheck,
  EventBodyIdentify,
  EventBodyInference,
  EventBodyTrack,
  EventDetail,
  EventSummary,
  RawEvent,
} from './events.js'
import type {
  BillingLinkedFeatureCreate,
  FeatureCreate,
  FeatureDetail,
  FeatureUpdate,
  License,
} from './features.js'
import type { FlagDetail, FlagUpdate, FlagWrite, RulesDetail, RulesUpdate } from './flags.js'
import type { ApiKey, ApiKeyCreate, ApiKeyRoll, ApiKeyUpdate, WhoAmI } from './keys.js'
import type { AccountLimits, LimitsUpdate } from './limits.js'
import type { AccountMember } from './members.js'
import type { ModelPriceView } from './model-prices.js'
import type { OfrepEvaluation, OfrepEvaluations, OfrepFailure, OfrepRequest } from './ofrep.js'
import type { PlanGroup, PlanGroupDetail, PlanGroupUpdate, PlanGroupWrite } from './plan-groups.js'
import type {
  BillingLinkedPlanCreate,
  CompanyPlansUpdate,
  CustomPlanBundleCreate,
  CustomPlanCreate,
  MigrationCompleteNow,
  MigrationCreate,
  MigrationPreviewRequest,
  MigrationRetry,
  PlanBundle,
  PlanBundleCreate,
  PlanBundleUpdate,
  PlanChange,
  PlanCreate,
  PlanDetail,
  PlanIssue,
  PlanPublish,
  PlanUpdate,
  PlanVersion,
  PlanVersionCompanyMigration,
  PlanVersionMigration,
  PlanVersionMigrationPreview,
} from './plans.js'
import type {
  BillingPrice,
  BillingPriceView,
  BillingProduct,
  BillingProductDetail,
  BillingProductPlan,
  BillingProductUpdate,
} from './prices.js'
import type {
  ContextSecretRoll,
  ContextSecretView,
  SignedContextCreate,
  SignedContextView,
} from './signed-contexts.js'
import type {
  EntityTraitDefinition,
  EntityTraitDefinitionUsage,
  TraitDefinitionCreate,
  TraitDefinitionUpdate,
} from './traits.js'
import type {
  FeatureCompany,
  FeatureCompanyUser,
  FeatureUsage,
  FeatureUsageDetail,
  FeatureUsageHistory,
  FeatureUsageTimeSeries,
  UserUsageByCompany,
  UserUsageDetail,
} from './usage.js'
import type { User, UserDetail, UserUpsert } from './users.js'
import type {
  TestWebhook,
  Webhook,
  WebhookCreate,
  WebhookEventDetail,
  WebhookRoll,
  WebhookTest,
  WebhookUpdate,
} from './webhooks.js'

type Sent = Omit<CreateEventRequestBody, 'event_type' | 'body'>

interface TrackEvent extends Sent {
  event_type: 'track'
  body: EventBodyTrack
}

interface IdentifyEvent extends Sent {
  event_type: 'identify'
  body: EventBodyIdentify
}

interface InferenceEvent extends Sent {
  event_type: 'inference'
  body: EventBodyInference
}

interface FlagCheckEvent extends Sent {
  event_type: 'flag_check'
  body: EventBodyFlagCheck
}

/** Body of POST /events. */
export type EventCreate = TrackEvent | IdentifyEvent | InferenceEvent | FlagCheckEvent

/** Body of POST /event-batch. */
export interface EventBatch {
  events: EventCreate[] & tags.MaxItems<10_000>
}

/** Body of POST /batch: what an event has, its type as `type`, and the key that authorises it. */
export interface CollectorBatch {
  events: (Sent & { api_key?: string; type: CreateEventRequestBody['event_type']; body: object })[] &
    tags.MaxItems<10_000>
}

/** One acknowledgement for each event. */
export interface RawEventBatch {
  events: RawEvent[]
}

type Rows = 'text/csv' | 'application/x-ndjson' | 'application/vnd.apache.parquet'

/**
 * `id`: the operation's name in generated clients. `body`: what is sent. `data`: what the answer's `data` is; where
 * the answer is a file instead, `file` says of which types.
 */
export interface Operations extends CreditOperations {
  'GET /account-members': { id: 'listAccountMembers'; data: AccountMember[] }
  'GET /account-members/count': { id: 'countAccountMembers'; data: Count }
  'GET /account-members/{account_member_id}': { id: 'getAccountMember'; data: AccountMember }
  'GET /api-keys': { id: 'listApiKeys'; data: ApiKey[] }
  /** Makes a key. `secret` is shown in this answer alone. */
  'POST /api-keys': { id: 'createApiKey'; body: ApiKeyCreate; data: ApiKey }
  'GET /api-keys/count': { id: 'countApiKeys'; data: Count }
  'GET /api-keys/{api_key_id}': { id: 'getApiKey'; data: ApiKey }
  'PUT /api-keys/{api_key_id}': { id: 'updateApiKey'; body: ApiKeyUpdate; data: ApiKey }
  'DELETE /api-keys/{api_key_id}': { id: 'deleteApiKey'; data: Deleted }
  /** Gives a key another value, shown in this answer alone; the present one is taken until the overlap ends. */
  'POST /api-keys/{api_key_id}/roll': { id: 'rollApiKey'; body: ApiKeyRoll; data: ApiKey }
  'GET /audit-log': { id: 'listAuditLogs'; data: AuditLogList[] }
  /** Rows of the chain behind `after`, whole: what `tollgate audit verify` reads. At most 100. */
  'GET /audit-log/chain': { id: 'listAuditChain'; data: AuditChainRow[] }
  'GET /audit-log/count': { id: 'countAuditLogs'; data: Count }
  /** The end of the chain of hashes. Kept elsewhere, it shows later that nothing before it was changed. */
  'GET /audit-log/head': { id: 'getAuditHead'; data: AuditHead }
  'GET /audit-log/{audit_log_id}': { id: 'getAuditLog'; data: AuditLog }
  /** The collector that client libraries send to: each event may carry the key that authorises it. */
  'POST /batch': { id: 'collectEvents'; body: CollectorBatch; data: RawEventBatch }
  'GET /billing/coupons': { id: 'listCoupons'; data: BillingCoupon[] }
  'POST /billing/coupons': { id: 'upsertBillingCoupon'; body: CouponUpsert; data: BillingCoupon }
  'DELETE /billing/coupons/{billing_id}': { id: 'deleteBillingCoupon'; data: Deleted }
  'POST /billing/customer/upsert': {
    id: 'upsertBillingCustomer'
    body: BillingCustomerUpsert
    data: BillingCustomer
  }
  'DELETE /billing/customer/{billing_id}': { id: 'deleteBillingCustomer'; data: Deleted }
  'GET /billing/customers': { id: 'listCustomersWithSubscriptions'; data: BillingCustomerWithSubscriptions[] }
  'GET /billing/customers/count': { id: 'countCustomers'; data: Count }
  'GET /billing/invoices': { id: 'listInvoices'; data: Invoice[] }
  'POST /billing/invoices': { id: 'upsertInvoice'; body: InvoiceWrite; data: Invoice }
  'DELETE /billing/invoices/{billing_id}': { id: 'deleteBillingInvoice'; data: Deleted }
  'GET /billing/meter': { id: 'listMeters'; data: BillingMeter[] }
  'POST /billing/meter/upsert': { id: 'upsertBillingMeter'; body: MeterUpsert; data: BillingMeter }
  'GET /billing/payment-methods': { id: 'listPaymentMethods'; data: PaymentMethod[] }
  'POST /billing/payment-methods': {
    id: 'upsertPaymentMethod'
    body: PaymentMethodUpsert
    data: PaymentMethod
  }
  'DELETE /billing/payment-methods/{billing_id}': { id: 'deletePaymentMethodByExternalId'; data: Deleted }
  'GET /billing/price': { id: 'listBillingPrices'; data: BillingPriceView[] }
  'POST /billing/price/upsert': { id: 'upsertBillingPrice'; body: BillingPriceWrite; data: BillingPrice }
  'GET /billing/product/prices': { id: 'listBillingProductPrices'; data: BillingPriceView[] }
  'DELETE /billing/product/prices/{billing_id}': { id: 'deleteProductPrice'; data: Deleted }
  'POST /billing/product/upsert': {
    id: 'upsertBillingProduct'
    body: BillingProductUpsert
    data: BillingProduct
  }
  'DELETE /billing/product/{billing_id}': { id: 'deleteBillingProduct'; data: Deleted }
  'GET /billing/products': { id: 'listBillingProducts'; data: BillingProductDetail[] }
  'GET /billing/products/count': { id: 'countBillingProducts'; data: Count }
  'GET /billing/profiles': { id: 'listCompanyBillingProfiles'; data: CompanyBillingProfile[] }
  'PUT /billing/profiles/{billing_profile_id}': {
    id: 'updateCompanyBillingProfile'
    body: BillingProfileUpdate
    data: CompanyBillingProfile
  }
  'POST /billing/subscription/upsert': {
    id: 'upsertBillingSubscription'
    body: BillingSubscriptionWrite
    data: BillingSubscription
  }
  /** Companies with their plans, traits, usage and entitlements. Which members are filled follows from the parameters. */
  'GET /companies': { id: 'listCompanies'; data: CompanyDetail[] }
  /** Makes the company, or changes the one that its keys name: keys and traits given are added, the rest stays. */
  'POST /companies': { id: 'upsertCompany'; body: CompanyUpsert; data: CompanyDetail }
  'GET /companies/count': { id: 'countCompanies'; data: Count }
  /** The same, and the company must not exist yet. */
  'POST /companies/create': { id: 'createCompany'; body: CompanyUpsert; data: CompanyDetail }
  /** Deletes the company that these keys name. */
  'POST /companies/delete': { id: 'deleteCompanyByKeys'; body: KeysBody; data: Company }
  /** One company by its keys, as `?keys[slug]=acme` or simply `?slug=acme`. */
  'GET /companies/lookup': { id: 'lookupCompany'; data: CompanyDetail }
  'GET /companies/{company_id}': { id: 'getCompany'; data: CompanyDetail }
  'DELETE /companies/{company_id}': { id: 'deleteCompany'; data: Deleted }
  'GET /companies/{company_id}/billing-details': {
    id: 'getCompanyBillingDetails'
    data: CompanyBillingDetails
  }
  'PUT /companies/{company_id}/billing-details': {
    id: 'updateCompanyBillingDetails'
    body: BillingDetailsUpdate
    data: CompanyBillingDetails
  }
  'GET /company-billing-entity': { id: 'getCompanyBillingEntity'; data: CompanyBillingEntity[] }
  'GET /company-billing-entity-subscriptions': {
    id: 'getBillingEntityChildSubscriptions'
    data: CompanyBillingEntitySubscription[]
  }
  'GET /company-memberships': { id: 'listCompanyMemberships'; data: CompanyMembershipDetail[] }
  'POST /company-memberships': {
    id: 'getOrCreateCompanyMembership'
    body: MembershipCreate
    data: CompanyMembershipDetail
  }
  'DELETE /company-memberships/{company_membership_id}': { id: 'deleteCompanyMembership'; data: Deleted }
  'GET /company-overrides': { id: 'listCompanyOverrides'; data: CompanyOverride[] }
  /** What one company is granted of a feature, whatever its plan says. */
  'POST /company-overrides': {
    id: 'createCompanyOverride'
    body: CompanyOverrideCreate
    data: CompanyOverride
  }
  'GET /company-overrides/count': { id: 'countCompanyOverrides'; data: Count }
  'GET /company-overrides/{company_override_id}': { id: 'getCompanyOverride'; data: CompanyOverride }
  /** The same as PUT. */
  'POST /company-overrides/{company_override_id}': {
    id: 'replaceCompanyOverride'
    body: CompanyOverrideUpdate
    data: CompanyOverride
  }
  'PUT /company-overrides/{company_override_id}': {
    id: 'updateCompanyOverride'
    body: CompanyOverrideUpdate
    data: CompanyOverride
  }
  'DELETE /company-overrides/{company_override_id}': { id: 'deleteCompanyOverride'; data: Deleted }
  'GET /company-subscriptions': { id: 'getActiveCompanySubscription'; data: CompanySubscription[] }
  'PUT /company-plans/{company_id}': {
    id: 'updateCompanyPlans'
    body: CompanyPlansUpdate
    data: CompanyDetail
  }
  /** Sets, raises or lowers one trait of the company that the keys name. */
  'POST /company-traits': { id: 'upsertCompanyTrait'; body: TraitUpsert; data: CompanyDetail }
  'GET /custom-plan-billings': { id: 'listCustomPlanBillings'; data: CustomPlanBilling[] }
  'PUT /custom-plan-billings/{custom_plan_billing_id}/mark-paid': {
    id: 'markCustomPlanBillingPaid'
    body: CustomPlanBillingPaid
    data: CustomPlanBilling
  }
  'PUT /custom-plan-billings/{custom_plan_billing_id}/retry': {
    id: 'retryCustomPlanBilling'
    body: CustomPlanBillingRetry
    data: CustomPlanBilling
  }
  'POST /custom-plan-bundles': {
    id: 'createCustomPlanBundle'
    body: CustomPlanBundleCreate
    data: PlanBundle
  }
  'POST /custom-plans': { id: 'createCustomPlan'; body: CustomPlanCreate; data: PlanDetail }
  'GET /entity-key-definitions': { id: 'listEntityKeyDefinitions'; data: EntityKeyDefinition[] }
  'GET /entity-key-definitions/count': { id: 'countEntityKeyDefinitions'; data: Count }
  'DELETE /entity-key-definitions/{entity_key_definition_id}': {
    id: 'deleteEntityKeyDefinition'
    data: Deleted
  }
  'GET /entity-keys/count': { id: 'countEntityKeys'; data: Count }
  'GET /entity-trait-definitions': { id: 'listEntityTraitDefinitions'; data: EntityTraitDefinition[] }
  'POST /entity-trait-definitions': {
    id: 'getOrCreateEntityTraitDefinition'
    body: TraitDefinitionCreate
    data: EntityTraitDefinition
  }
  'GET /entity-trait-definitions/count': { id: 'countEntityTraitDefinitions'; data: Count }
  'GET /entity-trait-definitions/{entity_trait_definition_id}': {
    id: 'getEntityTraitDefinition'
    data: EntityTraitDefinition
  }
  'PUT /entity-trait-definitions/{entity_trait_definition_id}': {
    id: 'updateEntityTraitDefinition'
    body: TraitDefinitionUpdate
    data: EntityTraitDefinition
  }
  'DELETE /entity-trait-definitions/{entity_trait_definition_id}': {
    id: 'deleteEntityTraitDefinition'
    data: Deleted
  }
  'GET /entity-trait-definitions/{entity_trait_definition_id}/usage': {
    id: 'getEntityTraitDefinitionUsage'
    data: EntityTraitDefinitionUsage
  }
  'GET /entity-trait-values': { id: 'getEntityTraitValues'; data: EntityTraitValue[] }
  'GET /entity-traits/count': { id: 'countEntityTraits'; data: Count }
  'GET /environments': { id: 'listEnvironments'; data: Environment[] }
  /** Makes an environment with its publishable key. */
  'POST /environments': { id: 'createEnvironment'; body: EnvironmentCreate; data: EnvironmentDetail }
  'GET /environments/{environment_id}': { id: 'getEnvironment'; data: Environment }
  'PUT /environments/{environment_id}': {
    id: 'updateEnvironment'
    body: EnvironmentUpdate
    data: Environment
  }
  'DELETE /environments/{environment_id}': { id: 'deleteEnvironment'; data: Deleted }
  'GET /environments/{environment_id}/clock': { id: 'getEnvironmentClock'; data: EnvironmentClock }
  /** Shifts every `now` of a non-production environment: `now` goes on ticking, with `frozen` it stands still. */
  'PUT /environments/{environment_id}/clock': {
    id: 'setEnvironmentClock'
    body: ClockUpdate
    data: EnvironmentClock
  }
  'DELETE /environments/{environment_id}/clock': { id: 'deleteEnvironmentClock'; data: Deleted }
  /** What contexts of the environment are signed with. */
  'GET /environments/{environment_id}/context-secret': { id: 'getContextSecret'; data: ContextSecretView }
  /** Makes a new secret; contexts signed with the one before are believed for `overlap_seconds` more. */
  'POST /environments/{environment_id}/context-secret': {
    id: 'rollContextSecret'
    body: ContextSecretRoll
    data: ContextSecretView
  }
  /** Takes up to 10 000 events and 8 MiB, `Content-Encoding: gzip` accepted. Each event is judged alone; the list of acknowledgements is in the order of the events, and a refused one has no `event_id`. */
  'POST /event-batch': { id: 'createEventBatch'; body: EventBatch; data: RawEventBatch }
  'GET /event-types': { id: 'getEventSummaries'; data: EventSummary[] }
  /** Stored events, newest first. */
  'GET /events': { id: 'listEvents'; data: EventDetail[] }
  /** Takes one event. When this is answered the event is on disk, and the next check of its company has counted it. Sent again under the same `idempotency_key` it is counted once. */
  'POST /events': { id: 'createEvent'; body: EventCreate; data: RawEvent | RawEventBatch }
  'GET /events/{event_id}': { id: 'getEvent'; data: EventDetail }
  /** Events as stored, everything acknowledged before the request. A file that ends early was cut off. */
  'GET /export/events': { id: 'exportEvents'; file: Rows }
  /** Every movement of credits. */
  'GET /export/ledger': { id: 'exportLedger'; file: Rows }
  /** Sums by company, event and hour. */
  'GET /export/usage': { id: 'exportUsage'; file: Rows }
  'GET /feature-companies': { id: 'listFeatureCompanies'; data: FeatureCompany[] }
  'GET /feature-companies/count': { id: 'countFeatureCompanies'; data: Count }
  /** Entitled features of a company with their figures now. */
  'GET /feature-usage': { id: 'listFeatureUsage'; data: FeatureUsage[] }
  /** Usage by period; rows can be summed. */
  'GET /feature-usage-history': { id: 'listFeatureUsageHistory'; data: FeatureUsageHistory[] }
  /** Usage of one feature over time with its limits. */
  'GET /feature-usage-timeseries': { id: 'getFeatureUsageTimeSeries'; data: FeatureUsageTimeSeries }
  'GET /feature-usage/count': { id: 'countFeatureUsage'; data: Count }
  'GET /feature-users': { id: 'listFeatureUsers'; data: FeatureCompanyUser[] }
  'GET /feature-users/count': { id: 'countFeatureUsers'; data: Count }
  'GET /features': { id: 'listFeatures'; data: FeatureDetail[] }
  /** Makes a feature and its flag. An event feature counts the track events of its `event_subtype`, a trait feature reads a trait. */
  'POST /features': { id: 'createFeature'; body: FeatureCreate; data: FeatureDetail }
  'POST /features/billing-linked': {
    id: 'upsertFeatureForBillingProduct'
    body: BillingLinkedFeatureCreate
    data: FeatureDetail
  }
  'GET /features/count': { id: 'countFeatures'; data: Count }
  'GET /features/{feature_id}': { id: 'getFeature'; data: FeatureDetail }
  'PUT /features/{feature_id}': { id: 'updateFeature'; body: FeatureUpdate; data: FeatureDetail }
  'DELETE /features/{feature_id}': { id: 'deleteFeature'; data: Deleted }
  'GET /flags': { id: 'listFlags'; data: FlagDetail[] }
  'POST /flags': { id: 'createFlag'; body: FlagWrite; data: FlagDetail }
  /** Every flag of the environment for one context, from one snapshot of the company. */
  'POST /flags/check': { id: 'checkFlags'; body: CheckFlagRequestBody; data: CheckFlags }
  /** Every flag for up to 100 contexts, in order; a bad context fails alone. */
  'POST /flags/check-bulk': { id: 'checkFlagsBulk'; body: CheckFlagsBulkRequestBody; data: CheckFlagsBulk }
  'GET /flags/count': { id: 'countFlags'; data: Count }
  'GET /flags/{flag_id}': { id: 'getFlag'; data: FlagDetail }
  'PUT /flags/{flag_id}': { id: 'updateFlag'; body: FlagUpdate; data: FlagDetail }
  'DELETE /flags/{flag_id}': { id: 'deleteFlag'; data: Deleted }
  /** Replaces the whole list of rules: those with an `id` are changed, those without are made, absent ones are removed. */
  'PUT /flags/{flag_id}/rules': { id: 'updateFlagRules'; body: RulesUpdate; data: RulesDetail }
  /** May this company, or this user, go on? Answered from memory. `preflight` asks what would be if so much were used. */
  'POST /flags/{key}/check': { id: 'checkFlag'; body: CheckFlagRequestBody; data: CheckFlag }
  'GET /licenses': { id: 'listLicenses'; data: License[] }
  'GET /licenses/count': { id: 'countLicenses'; data: Count }
  'GET /licenses/{license_id}': { id: 'getSingleLicense'; data: License }
  /** The account's own budgets; null: those of everyone. */
  'GET /limits': { id: 'getLimits'; data: AccountLimits }
  /** In force for the next request; budgets that are not named keep the common numbers. */
  'PUT /limits': { id: 'setLimits'; body: LimitsUpdate; data: AccountLimits }
  /** Prices per million tokens that inference events are costed with: the built-in table and your own. */
  'POST /manage-plan': { id: 'managePlan'; body: ManagePlanRequest; data: ManagePlanResult }
  'POST /manage-plan/preview': {
    id: 'previewManagePlan'
    body: ManagePlanRequest
    data: ManagePlanPreview
  }
  'POST /manage-plan/subscription/cancel': {
    id: 'cancelSubscription'
    body: SubscriptionCancel
    data: ManagePlanResult
  }
  'GET /model-prices': { id: 'listModelPrices'; data: ModelPriceView[] }
  /** Replaces your own prices. */
  'PUT /model-prices': { id: 'putModelPrices'; body: ModelPriceView[]; data: ModelPriceView[] }
  /** Every flag for a client of OpenFeature. The context names who asks as a check does: `company` and `user` are objects of keys; flat contexts use `companyKey` (with `companyKeyName`, else `id`) and `userKey` (with `userKeyName`); `targetingKey` stands for `userKey`. The ETag covers definitions, context and result. */
  'POST /ofrep/v1/evaluate/flags': { id: 'evaluateFlags'; body: OfrepRequest; data: OfrepEvaluations }
  /** One flag for a client of OpenFeature: the same check as POST /flags/{key}/check, its verdict as OFREP words it. */
  'POST /ofrep/v1/evaluate/flags/{key}': { id: 'evaluateFlag'; body: OfrepRequest; data: OfrepEvaluation }
  'POST /plan-bundles': { id: 'createPlanBundle'; body: PlanBundleCreate; data: PlanBundle }
  'PUT /plan-bundles/{plan_id}': { id: 'updatePlanBundle'; body: PlanBundleUpdate; data: PlanBundle }
  'GET /plan-changes': { id: 'listPlanChanges'; data: PlanChange[] }
  'GET /plan-changes/{plan_change_id}': { id: 'getPlanChange'; data: PlanChange }
  'GET /plan-entitlements': { id: 'listPlanEntitlements'; data: PlanEntitlement[] }
  /** What a plan grants of a feature. */
  'POST /plan-entitlements': {
    id: 'createPlanEntitlement'
    body: PlanEntitlementCreate
    data: PlanEntitlement
  }
  'POST /plan-entitlements/billing-linked': {
    id: 'upsertPlanEntitlementForBillingProduct'
    body: BillingLinkedEntitlementCreate
    data: PlanEntitlement
  }
  'GET /plan-entitlements/count': { id: 'countPlanEntitlements'; data: Count }
  'POST /plan-entitlements/duplicate': {
    id: 'duplicatePlanEntitlements'
    body: EntitlementsDuplicate
    data: DuplicatedEntitlements
  }
  'GET /plan-entitlements/{plan_entitlement_id}': { id: 'getPlanEntitlement'; data: PlanEntitlement }
  'PUT /plan-entitlements/{plan_entitlement_id}': {
    id: 'updatePlanEntitlement'
    body: PlanEntitlementUpdate
    data: PlanEntitlement
  }
  'DELETE /plan-entitlements/{plan_entitlement_id}': { id: 'deletePlanEntitlement'; data: Deleted }
  'GET /plan-groups': { id: 'getPlanGroup'; data: PlanGroupDetail }
  'POST /plan-groups': { id: 'createPlanGroup'; body: PlanGroupWrite; data: PlanGroup }
  'PUT /plan-groups/{plan_group_id}': { id: 'updatePlanGroup'; body: PlanGroupUpdate; data: PlanGroup }
  'GET /plan-version-company-migrations': { id: 'listCompanyMigrations'; data: PlanVersionCompanyMigration[] }
  'GET /plan-version-company-migrations/count': { id: 'countCompanyMigrations'; data: Count }
  'POST /plan-version-company-migrations/{plan_version_company_migration_id}/retry': {
    id: 'retryCompanyMigration'
    data: PlanVersionCompanyMigration
  }
  'GET /plan-version-migrations': { id: 'listMigrations'; data: PlanVersionMigration[] }
  'POST /plan-version-migrations': {
    id: 'createMigration'
    body: MigrationCreate
    data: PlanVersionMigration
  }
  'GET /plan-version-migrations/count': { id: 'countMigrations'; data: Count }
  'POST /plan-version-migrations/preview': {
    id: 'previewMigration'
    body: MigrationPreviewRequest
    data: PlanVersionMigrationPreview
  }
  'GET /plan-version-migrations/{plan_version_migration_id}': {
    id: 'getMigration'
    data: PlanVersionMigration
  }
  'POST /plan-version-migrations/{plan_version_migration_id}/cancel': {
    id: 'cancelMigration'
    data: PlanVersionMigration
  }
  'POST /plan-version-migrations/{plan_version_migration_id}/complete-now': {
    id: 'completeMigrationNow'
    body: MigrationCompleteNow
    data: PlanVersionMigration
  }
  'POST /plan-version-migrations/{plan_version_migration_id}/retry': {
    id: 'retryMigration'
    body: MigrationRetry
    data: PlanVersionMigration
  }
  /** Plans and add-ons with the entitlements, prices and grants of their published version. */
  'GET /plans': { id: 'listPlans'; data: PlanDetail[] }
  'POST /plans': { id: 'createPlan'; body: PlanCreate; data: PlanDetail }
  'POST /plans/billing-linked': {
    id: 'upsertPlanForBillingProduct'
    body: BillingLinkedPlanCreate
    data: PlanDetail
  }
  /** Companies whose subscription sells what the plan is sold as, on it or not. */
  'GET /plans/billing-product-match-companies': {
    id: 'listBillingProductMatchCompanies'
    data: CompanyDetail[]
  }
  'GET /plans/billing-product-match-companies/count': {
    id: 'countBillingProductMatchCompanies'
    data: Count
  }
  'GET /plans/count': { id: 'countPlans'; data: Count }
  'GET /plans/issues': { id: 'listPlanIssues'; data: PlanIssue[] }
  'DELETE /plans/version/{plan_version_id}': { id: 'deletePlanVersion'; data: Deleted }
  /** Makes a draft what companies get. */
  'PUT /plans/version/{plan_version_id}/publish': {
    id: 'publishPlanVersion'
    body: PlanPublish
    data: PlanVersion
  }
  'GET /plans/{plan_id}': { id: 'getPlan'; data: PlanDetail }
  'PUT /plans/{plan_id}': { id: 'updatePlan'; body: PlanUpdate; data: PlanDetail }
  'DELETE /plans/{plan_id}': { id: 'deletePlan'; data: Deleted }
  'PUT /plans/{plan_id}/billing_products': {
    id: 'upsertBillingProductPlan'
    body: BillingProductUpdate
    data: BillingProductPlan
  }
  /** Signs what a server says of company and user, for the holder of the publishable key to send in `X-Service-Signed-Context`. */
  'POST /signed-contexts': { id: 'createSignedContext'; body: SignedContextCreate; data: SignedContextView }
  'PUT /subscription/{subscription_id}/edit-trial-end': {
    id: 'updateCustomerSubscriptionTrialEnd'
    body: TrialEndUpdate
    data: BillingSubscriptionView
  }
  /** Compares what is counted in memory with what is stored: a line for each difference, and a last one with totals. */
  'GET /reconcile': { id: 'reconcile'; file: 'application/x-ndjson' }
  'GET /usage-by-company': { id: 'getFeatureUsageByCompany'; data: FeatureUsageDetail }
  'POST /user-traits': { id: 'upsertUserTrait'; body: TraitUpsert; data: UserDetail }
  'GET /user-usage-by-company': { id: 'getUserUsageByCompany'; data: UserUsageByCompany }
  'GET /user-usage-detail': { id: 'getUserUsageDetail'; data: UserUsageDetail }
  'GET /users': { id: 'listUsers'; data: UserDetail[] }
  'POST /users': { id: 'upsertUser'; body: UserUpsert; data: UserDetail }
  'GET /users/count': { id: 'countUsers'; data: Count }
  'POST /users/create': { id: 'createUser'; body: UserUpsert; data: UserDetail }
  'POST /users/delete': { id: 'deleteUserByKeys'; body: KeysBody; data: User }
  'GET /users/lookup': { id: 'lookupUser'; data: UserDetail }
  'GET /users/{user_id}': { id: 'getUser'; data: UserDetail }
  'DELETE /users/{user_id}': { id: 'deleteUser'; data: Deleted }
  'GET /webhook-events': { id: 'listWebhookEvents'; data: WebhookEventDetail[] }
  'GET /webhook-events/count': { id: 'countWebhookEvents'; data: Count }
  'GET /webhook-events/{webhook_event_id}': { id: 'getWebhookEvent'; data: WebhookEventDetail }
  'POST /webhook-events/{webhook_event_id}/redeliver': {
    id: 'redeliverWebhookEvent'
    data: WebhookEventDetail
  }
  'GET /webhooks': { id: 'listWebhooks'; data: Webhook[] }
  'POST /webhooks': { id: 'createWebhook'; body: WebhookCreate; data: Webhook }
  'GET /webhooks/count': { id: 'countWebhooks'; data: Count }
  'GET /webhooks/{webhook_id}': { id: 'getWebhook'; data: Webhook }
  'PUT /webhooks/{webhook_id}': { id: 'updateWebhook'; body: WebhookUpdate; data: Webhook }
  'DELETE /webhooks/{webhook_id}': { id: 'deleteWebhook'; data: Deleted }
  'POST /webhooks/{webhook_id}/roll-secret': { id: 'rollWebhookSecret'; body: WebhookRoll; data: Webhook }
  'POST /webhooks/{webhook_id}/test': { id: 'sendTestWebhookAction'; body: WebhookTest; data: TestWebhook }
  /** The key that asks, its account and its environments. */
  'GET /whoami': { id: 'getWhoAmI'; data: WhoAmI }
}

/** The schema of `Operations`, and under it every schema by name. */
export const operationSchemas = typia.json.schemas<[Operations, OfrepFailure, CloudEvent], '3.1'>()
