// The body and response of every operation, by method and path. The OpenAPI document is generated from this file.
// A test checks that each row of src/serve/routes.ts has its line here.
import typia, { type tags } from 'typia'
import type { AuditChainRow, AuditHead, AuditLog, AuditLogList } from './audit-log.js'
import type {
  BillingCoupon,
  BillingCustomer,
  BillingCustomerWithSubscriptions,
  BillingDetailsUpdate,
  BillingMeter,
  BillingSubscription,
  BillingSubscriptionView,
  CompanyBillingDetails,
  CompanyBillingEntity,
  CompanyBillingEntitySubscription,
  CompanySubscription,
  CustomPlanBilling,
  CustomPlanBillingPaid,
  CustomPlanBillingRetry,
  Invoice,
  ManagePlanPreview,
  ManagePlanRequestBody,
  ManagePlanResult,
  PaymentMethod,
  SubscriptionCancel,
  TrialEndUpdate,
} from './billing.js'
import type { BillingProfileUpdate, CompanyBillingProfile } from './billing-profile.js'
import type {
  BillingCustomerUpsert,
  BillingPriceUpsert,
  BillingProductUpsert,
  BillingSubscriptionUpsert,
  CouponUpsert,
  InvoiceUpsert,
  MeterUpsert,
  PaymentMethodUpsert,
} from './billing-upserts.js'
import type { CatalogOperations } from './catalog-operations.js'
import type { CompanyChargeLine, CompanyCharges } from './charges.js'
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
import type { CompanySummary, FeatureSummary, FlagSummary, PlanSummary } from './console.js'
import type { ConsoleOperations } from './console-operations.js'
import type { CostOperations } from './costs.js'
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
import type { ErasureOperations } from './erasure-operations.js'
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
  FeatureCreateRequestBody,
  FeatureDetail,
  FeatureUpdate,
  License,
} from './features.js'
import type { FlagCreateRequestBody, FlagDetail, FlagUpdate, RulesDetail, RulesUpdate } from './flags.js'
import type { ApiKey, ApiKeyCreate, ApiKeyRoll, ApiKeyUpdate, WhoAmI } from './keys.js'
import type { AccountLimits, LimitsUpdate } from './limits.js'
import type { AccountMember } from './members.js'
import type { ModelPriceView } from './model-prices.js'
import type { OfrepEvaluation, OfrepEvaluations, OfrepFailure, OfrepRequest } from './ofrep.js'
import type {
  PlanGroup,
  PlanGroupCreateRequestBody,
  PlanGroupDetail,
  PlanGroupUpdate,
} from './plan-groups.js'
import type { PlanMoveOperations } from './plan-move-operations.js'
import type {
  BillingLinkedPlanCreate,
  CompanyPlansUpdate,
  CustomPlanBundleCreate,
  CustomPlanCreate,
  MigrationCreateRequestBody,
  MigrationPreviewRequest,
  PlanBundle,
  PlanBundleCreate,
  PlanBundleUpdate,
  PlanChange,
  PlanCreateRequestBody,
  PlanDetail,
  PlanIssue,
  PlanPublishRequestBody,
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

/** An event with its type as `type` and the key that authorises it. */
export interface CollectorEvent extends Sent {
  api_key?: string
  type: CreateEventRequestBody['event_type']
  body: object
}

/** Body of POST /batch. */
export interface CollectorBatch {
  events: CollectorEvent[] & tags.MaxItems<10_000>
}

/** One acknowledgement per event. */
export interface RawEventBatch {
  events: RawEvent[]
}

type Rows = 'text/csv' | 'application/x-ndjson' | 'application/vnd.apache.parquet'

/**
 * `id`: the operation's name in generated clients. `body`: the request body. `data`: the response's `data`. For a
 * response that is a file, `file` has the media types instead.
 */
export interface Operations
  extends CatalogOperations,
    ConsoleOperations,
    CostOperations,
    CreditOperations,
    ErasureOperations,
    PlanMoveOperations {
  'GET /account-members': { id: 'listAccountMembers'; data: AccountMember[] }
  'GET /account-members/count': { id: 'countAccountMembers'; data: Count }
  'GET /account-members/{account_member_id}': { id: 'getAccountMember'; data: AccountMember }
  'GET /api-keys': { id: 'listApiKeys'; data: ApiKey[] }
  /** Creates a key. `secret` is shown only in this response. */
  'POST /api-keys': { id: 'createApiKey'; body: ApiKeyCreate; data: ApiKey }
  'GET /api-keys/count': { id: 'countApiKeys'; data: Count }
  'GET /api-keys/{api_key_id}': { id: 'getApiKey'; data: ApiKey }
  'PUT /api-keys/{api_key_id}': { id: 'updateApiKey'; body: ApiKeyUpdate; data: ApiKey }
  'DELETE /api-keys/{api_key_id}': { id: 'deleteApiKey'; data: Deleted }
  /** Creates a new value for a key, shown only in this response. The present one is accepted until the overlap ends. */
  'POST /api-keys/{api_key_id}/roll': { id: 'rollApiKey'; body: ApiKeyRoll; data: ApiKey }
  'GET /audit-log': { id: 'listAuditLogs'; data: AuditLogList[] }
  /** Complete rows of the hash chain after `after`, at most 100. `tollgate audit verify` reads them. */
  'GET /audit-log/chain': { id: 'listAuditChain'; data: AuditChainRow[] }
  'GET /audit-log/count': { id: 'countAuditLogs'; data: Count }
  /** The end of the hash chain. A copy kept elsewhere proves later that no earlier entry was changed. */
  'GET /audit-log/head': { id: 'getAuditHead'; data: AuditHead }
  'GET /audit-log/{audit_log_id}': { id: 'getAuditLog'; data: AuditLog }
  /** The collector for client libraries: each event may carry the key that authorises it. */
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
  'POST /billing/invoices': { id: 'upsertInvoice'; body: InvoiceUpsert; data: Invoice }
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
  'POST /billing/price/upsert': { id: 'upsertBillingPrice'; body: BillingPriceUpsert; data: BillingPrice }
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
    body: BillingSubscriptionUpsert
    data: BillingSubscription
  }
  /**
   * Charge lines of all companies, by company, period and line. Without `period`: of closed periods that ended in
   * `[start_time, end_time)`. `X-Next-Cursor` of the answer is the `cursor` of the next page. A page may have fewer lines than
   * `limit`, or none, and be followed by another: the work for one page is bounded.
   */
  'GET /charges': { id: 'listCharges'; data: CompanyChargeLine[] }
  /**
   * Companies with plans, traits, usage and entitlements. The parameters decide which members are filled. With
   * `view=summary`, `sort_order_column` may also be `closest_limit`, or `usage` of the feature `usage_feature_id`: of the
   * 500 companies that come first, those that the other filters leave.
   */
  'GET /companies': { id: 'listCompanies'; data: CompanyDetail[] | CompanySummary[] }
  /** Creates a company, or updates the one that the keys name. Keys and traits are added; others are unchanged. */
  'POST /companies': { id: 'upsertCompany'; body: CompanyUpsert; data: CompanyDetail }
  'GET /companies/count': { id: 'countCompanies'; data: Count }
  /** Creates a company. It must not exist yet. */
  'POST /companies/create': { id: 'createCompany'; body: CompanyUpsert; data: CompanyDetail }
  /** Deletes the company with these keys. */
  'POST /companies/delete': { id: 'deleteCompanyByKeys'; body: KeysBody; data: Company }
  /** Finds a company by its keys: `?keys[slug]=acme` or `?slug=acme`. */
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
  /** The debt of a company for one billing period, line by line: written once it is closed, as of now before. */
  'GET /companies/{company_id}/charges': { id: 'getCompanyCharges'; data: CompanyCharges }
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
  /** Grants a feature to one company, independently of its plan. */
  'POST /company-overrides': {
    id: 'createCompanyOverride'
    body: CompanyOverrideCreate
    data: CompanyOverride
  }
  /** Changes the company's override of the feature, or makes it where there is none in force. */
  'PUT /company-overrides': {
    id: 'putCompanyOverride'
    body: CompanyOverrideCreate
    data: CompanyOverride
  }
  'GET /company-overrides/count': { id: 'countCompanyOverrides'; data: Count }
  'GET /company-overrides/{company_override_id}': { id: 'getCompanyOverride'; data: CompanyOverride }
  /** Same as PUT. */
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
  /** Sets or increments one trait of the company that the keys name. */
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
  /** Creates an environment and its publishable key. */
  'POST /environments': { id: 'createEnvironment'; body: EnvironmentCreate; data: EnvironmentDetail }
  'GET /environments/{environment_id}': { id: 'getEnvironment'; data: Environment }
  'PUT /environments/{environment_id}': {
    id: 'updateEnvironment'
    body: EnvironmentUpdate
    data: Environment
  }
  'DELETE /environments/{environment_id}': { id: 'deleteEnvironment'; data: Deleted }
  'GET /environments/{environment_id}/clock': { id: 'getEnvironmentClock'; data: EnvironmentClock }
  /** Sets the test clock of a non-production environment. The clock continues from `now`; with `frozen` it stops. */
  'PUT /environments/{environment_id}/clock': {
    id: 'setEnvironmentClock'
    body: ClockUpdate
    data: EnvironmentClock
  }
  'DELETE /environments/{environment_id}/clock': { id: 'deleteEnvironmentClock'; data: Deleted }
  /** The secret that signs contexts of the environment. */
  'GET /environments/{environment_id}/context-secret': { id: 'getContextSecret'; data: ContextSecretView }
  /** Creates a new secret. Contexts signed with the former one are accepted for `overlap_seconds` more. */
  'POST /environments/{environment_id}/context-secret': {
    id: 'rollContextSecret'
    body: ContextSecretRoll
    data: ContextSecretView
  }
  /**
   * Takes up to 10 000 events and 8 MiB; `Content-Encoding: gzip` is accepted. Each event is validated on its own.
   * Acknowledgements have the order of the events; that of a refused event has no `event_id`.
   */
  'POST /event-batch': { id: 'createEventBatch'; body: EventBatch; data: RawEventBatch }
  'GET /event-types': { id: 'getEventSummaries'; data: EventSummary[] }
  /** Stored events, newest first. */
  'GET /events': { id: 'listEvents'; data: EventDetail[] }
  /**
   * Takes one event. When this is answered, the event is on disk, and the next check of its company counts it.
   * Events with the same `idempotency_key` are counted once.
   */
  'POST /events': { id: 'createEvent'; body: EventCreate; data: RawEvent | RawEventBatch }
  'GET /events/{event_id}': { id: 'getEvent'; data: EventDetail }
  /** Charge lines, as `GET /charges` lists them. If the connection is cut, the file is incomplete. */
  'GET /export/charges': { id: 'exportCharges'; file: Rows }
  /**
   * Events as stored, including everything acknowledged before the request. If the connection is cut, the file is
   * incomplete.
   */
  'GET /export/events': { id: 'exportEvents'; file: Rows }
  /** Every movement of credits. */
  'GET /export/ledger': { id: 'exportLedger'; file: Rows }
  /** Usage by company, event and hour. */
  'GET /export/usage': { id: 'exportUsage'; file: Rows }
  'GET /feature-companies': { id: 'listFeatureCompanies'; data: FeatureCompany[] }
  'GET /feature-companies/count': { id: 'countFeatureCompanies'; data: Count }
  /** Entitled features of a company with their present figures. */
  'GET /feature-usage': { id: 'listFeatureUsage'; data: FeatureUsage[] }
  /** Usage by period; rows can be summed. */
  'GET /feature-usage-history': { id: 'listFeatureUsageHistory'; data: FeatureUsageHistory[] }
  /** Usage of one feature over time with its limits. */
  'GET /feature-usage-timeseries': { id: 'getFeatureUsageTimeSeries'; data: FeatureUsageTimeSeries }
  'GET /feature-usage/count': { id: 'countFeatureUsage'; data: Count }
  'GET /feature-users': { id: 'listFeatureUsers'; data: FeatureCompanyUser[] }
  'GET /feature-users/count': { id: 'countFeatureUsers'; data: Count }
  'GET /features': { id: 'listFeatures'; data: FeatureDetail[] | FeatureSummary[] }
  /**
   * Creates a feature and its flag. An event feature counts the track events named `event_subtype`; a trait feature
   * reads a trait.
   */
  'POST /features': { id: 'createFeature'; body: FeatureCreateRequestBody; data: FeatureDetail }
  'POST /features/billing-linked': {
    id: 'upsertFeatureForBillingProduct'
    body: BillingLinkedFeatureCreate
    data: FeatureDetail
  }
  'GET /features/count': { id: 'countFeatures'; data: Count }
  'GET /features/{feature_id}': { id: 'getFeature'; data: FeatureDetail }
  'PUT /features/{feature_id}': { id: 'updateFeature'; body: FeatureUpdate; data: FeatureDetail }
  'DELETE /features/{feature_id}': { id: 'deleteFeature'; data: Deleted }
  'GET /flags': { id: 'listFlags'; data: FlagDetail[] | FlagSummary[] }
  'POST /flags': { id: 'createFlag'; body: FlagCreateRequestBody; data: FlagDetail }
  /** Evaluates every flag of the environment for one context, from one snapshot of the company. */
  'POST /flags/check': { id: 'checkFlags'; body: CheckFlagRequestBody; data: CheckFlags }
  /** Evaluates every flag for up to 100 contexts, in order. An invalid context fails alone. */
  'POST /flags/check-bulk': { id: 'checkFlagsBulk'; body: CheckFlagsBulkRequestBody; data: CheckFlagsBulk }
  'GET /flags/count': { id: 'countFlags'; data: Count }
  'GET /flags/{flag_id}': { id: 'getFlag'; data: FlagDetail }
  'PUT /flags/{flag_id}': { id: 'updateFlag'; body: FlagUpdate; data: FlagDetail }
  'DELETE /flags/{flag_id}': { id: 'deleteFlag'; data: Deleted }
  /**
   * Replaces the whole list of rules: rules with an `id` are changed, rules without are created, absent ones are
   * deleted.
   */
  'PUT /flags/{flag_id}/rules': { id: 'updateFlagRules'; body: RulesUpdate; data: RulesDetail }
  /** Evaluates one flag for a company or user, from memory. With `preflight` it evaluates hypothetical usage. */
  'POST /flags/{key}/check': { id: 'checkFlag'; body: CheckFlagRequestBody; data: CheckFlag }
  'GET /licenses': { id: 'listLicenses'; data: License[] }
  'GET /licenses/count': { id: 'countLicenses'; data: Count }
  'GET /licenses/{license_id}': { id: 'getSingleLicense'; data: License }
  /** The account's own rate limits; null: the defaults. */
  'GET /limits': { id: 'getLimits'; data: AccountLimits }
  /** Applies from the next request on. Limits not named keep the defaults. */
  'PUT /limits': { id: 'setLimits'; body: LimitsUpdate; data: AccountLimits }
  /** Changes a company's plans, add-ons and quantities in one request. */
  'POST /manage-plan': { id: 'managePlan'; body: ManagePlanRequestBody; data: ManagePlanResult }
  'POST /manage-plan/preview': {
    id: 'previewManagePlan'
    body: ManagePlanRequestBody
    data: ManagePlanPreview
  }
  'POST /manage-plan/subscription/cancel': {
    id: 'cancelSubscription'
    body: SubscriptionCancel
    data: ManagePlanResult
  }
  /** Prices per million tokens for inference events: the built-in table and the account's own prices. */
  'GET /model-prices': { id: 'listModelPrices'; data: ModelPriceView[] }
  /** Replaces the account's own prices. */
  'PUT /model-prices': { id: 'putModelPrices'; body: ModelPriceView[]; data: ModelPriceView[] }
  /**
   * Evaluates every flag for an OpenFeature client. The context names company and user as a check does: `company`
   * and `user` are objects of keys. Flat contexts use `companyKey` (its name in `companyKeyName`, default `id`) and
   * `userKey` (`userKeyName`); `targetingKey` is used as `userKey` if that is absent. The ETag covers definitions,
   * context and result.
   */
  'POST /ofrep/v1/evaluate/flags': { id: 'evaluateFlags'; body: OfrepRequest; data: OfrepEvaluations }
  /** Evaluates one flag for an OpenFeature client: the check of POST /flags/{key}/check, with OFREP's response. */
  'POST /ofrep/v1/evaluate/flags/{key}': { id: 'evaluateFlag'; body: OfrepRequest; data: OfrepEvaluation }
  'POST /plan-bundles': { id: 'createPlanBundle'; body: PlanBundleCreate; data: PlanBundle }
  'PUT /plan-bundles/{plan_id}': { id: 'updatePlanBundle'; body: PlanBundleUpdate; data: PlanBundle }
  'GET /plan-changes': { id: 'listPlanChanges'; data: PlanChange[] }
  'GET /plan-changes/{plan_change_id}': { id: 'getPlanChange'; data: PlanChange }
  'GET /plan-entitlements': { id: 'listPlanEntitlements'; data: PlanEntitlement[] }
  /** Grants a feature to the companies of a plan. */
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
  'POST /plan-groups': { id: 'createPlanGroup'; body: PlanGroupCreateRequestBody; data: PlanGroup }
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
    body: MigrationCreateRequestBody
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
  /** Plans and add-ons with the entitlements, prices and credit grants of their published version. */
  'GET /plans': { id: 'listPlans'; data: PlanDetail[] | PlanSummary[] }
  'POST /plans': { id: 'createPlan'; body: PlanCreateRequestBody; data: PlanDetail }
  'POST /plans/billing-linked': {
    id: 'upsertPlanForBillingProduct'
    body: BillingLinkedPlanCreate
    data: PlanDetail
  }
  /** Companies with a subscription to the plan's product, whether or not they are on the plan. */
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
  /** Puts a draft into effect for companies. */
  'PUT /plans/version/{plan_version_id}/publish': {
    id: 'publishPlanVersion'
    body: PlanPublishRequestBody
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
  /** Signs a company and user for the holder of a publishable key, who sends it in `X-Service-Signed-Context`. */
  'POST /signed-contexts': { id: 'createSignedContext'; body: SignedContextCreate; data: SignedContextView }
  'PUT /subscription/{subscription_id}/edit-trial-end': {
    id: 'updateCustomerSubscriptionTrialEnd'
    body: TrialEndUpdate
    data: BillingSubscriptionView
  }
  /** Compares counters in memory with stored usage: one line per difference, and a last line with totals. */
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
  /** The calling key, its account and its environments. */
  'GET /whoami': { id: 'getWhoAmI'; data: WhoAmI }
}

/** The schema of `Operations`, and under it every schema by name. */
export const operationSchemas = typia.json.schemas<[Operations, OfrepFailure, CloudEvent], '3.1'>()
