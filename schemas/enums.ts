// The enumerations of the interface.

export const apiKeyScopes = ['admin', 'capture', 'read', 'write'] as const

/** Scopes of a key: those of the interface document, and `check` for flag checks only (source: decision). */
const keyScopes = [...apiKeyScopes, 'check'] as const
export type KeyScope = (typeof keyScopes)[number]

const billingArrearsAnchors = ['billing_period_start', 'month_end'] as const
export type BillingArrearsAnchor = (typeof billingArrearsAnchors)[number]

const billingArrearsCadences = ['end_of_billing_period', 'monthly', 'quarterly'] as const
export type BillingArrearsCadence = (typeof billingArrearsCadences)[number]

const billingCollectionMethods = ['charge_automatically', 'send_invoice'] as const
export type BillingCollectionMethod = (typeof billingCollectionMethods)[number]

const billingCreditAutoTopupAvailabilities = ['off', 'automatic', 'user_controlled'] as const
export type BillingCreditAutoTopupAvailability = (typeof billingCreditAutoTopupAvailabilities)[number]

const billingCreditBundleStatuses = ['active', 'inactive'] as const
export type BillingCreditBundleStatus = (typeof billingCreditBundleStatuses)[number]

const billingCreditBurnStrategies = [
  'expiration_priority',
  'first_in_first_out',
  'last_in_first_out',
  'plan_first_then_credit_bundles_first_in_first_out',
] as const
export type BillingCreditBurnStrategy = (typeof billingCreditBurnStrategies)[number]

const billingCreditExpiryTypes = [
  'duration',
  'end_of_billing_period',
  'end_of_next_billing_period',
  'end_of_trial',
  'no_expiry',
] as const
export type BillingCreditExpiryType = (typeof billingCreditExpiryTypes)[number]

const billingCreditExpiryUnits = ['billing_periods', 'days'] as const
export type BillingCreditExpiryUnit = (typeof billingCreditExpiryUnits)[number]

const billingCreditGrantReasons = [
  'adjustment',
  'billing_credit_auto_topup',
  'free',
  'plan',
  'postpaid_forgiven',
  'postpaid_overdraft',
  'postpaid_settlement',
  'purchased',
  'rollover',
] as const
export type BillingCreditGrantReason = (typeof billingCreditGrantReasons)[number]

const billingCreditGrantZeroedOutReasons = [
  'customer_archived',
  'expired',
  'integration_uninstalled',
  'license_retired',
  'manual',
  'plan_change',
  'plan_period_reset',
  'reconciled',
] as const
export type BillingCreditGrantZeroedOutReason = (typeof billingCreditGrantZeroedOutReasons)[number]

const billingCreditLedgerauthorities = ['service_authoritative', 'external_mirror', 'external_rated'] as const
export type BillingCreditLedgerAuthority = (typeof billingCreditLedgerauthorities)[number]

const billingCreditRolloverPolicies = ['expire', 'none', 'rollover'] as const
export type BillingCreditRolloverPolicy = (typeof billingCreditRolloverPolicies)[number]

const billingPlanCreditGrantBillingModes = ['granted', 'billed'] as const
export type BillingPlanCreditGrantBillingMode = (typeof billingPlanCreditGrantBillingModes)[number]

const billingPlanCreditGrantResetCadences = [
  'daily',
  'every_6_months',
  'monthly',
  'quarterly',
  'weekly',
  'yearly',
] as const
export type BillingPlanCreditGrantResetCadence = (typeof billingPlanCreditGrantResetCadences)[number]

const billingPlanCreditGrantResetStarts = ['billing_period', 'first_of_month'] as const
export type BillingPlanCreditGrantResetStart = (typeof billingPlanCreditGrantResetStarts)[number]

const billingPlanCreditGrantResetTypes = ['no_reset', 'plan_period'] as const
export type BillingPlanCreditGrantResetType = (typeof billingPlanCreditGrantResetTypes)[number]

const billingPriceSchemes = ['per_unit', 'tiered'] as const
export type BillingPriceScheme = (typeof billingPriceSchemes)[number]

export const billingPriceUsageTypes = ['licensed', 'metered'] as const
export type BillingPriceUsageType = (typeof billingPriceUsageTypes)[number]

export const billingProductPriceIntervals = ['day', 'month', 'one-time', 'year'] as const
export type BillingProductPriceInterval = (typeof billingProductPriceIntervals)[number]

export const billingProviderTypes = ['ext_a', 'ext_b', 'native', 'psp'] as const
export type BillingProviderType = (typeof billingProviderTypes)[number]

const billingStrategies = ['service_managed', 'provider_managed', 'no_billing'] as const
export type BillingStrategy = (typeof billingStrategies)[number]

const billingSubscriptionTrialEndSettings = ['cancel', 'subscribe'] as const
export type BillingSubscriptionTrialEndSetting = (typeof billingSubscriptionTrialEndSettings)[number]

export const billingTiersModes = ['graduated', 'volume'] as const
export type BillingTiersMode = (typeof billingTiersModes)[number]

/** Terms of a spend policy that bounds a window. */
export type BudgetPeriod = 'hour' | 'day' | 'week' | 'month'
export type BudgetUnit = 'credits' | 'cost'
export type BudgetMode = 'hard' | 'soft'

const chargeTypes = ['free', 'none', 'one_time', 'recurring'] as const
export type ChargeType = (typeof chargeTypes)[number]

export const actorTypes = ['api_key', 'app_user', 'psp_app', 'system', 'temporary_access_token'] as const
export type ActorType = (typeof actorTypes)[number]

export const auditKinds = ['change', 'read', 'auth_failure', 'system'] as const
export type AuditKind = (typeof auditKinds)[number]

export const accountMemberRoles = ['admin', 'member'] as const
export type AccountMemberRole = (typeof accountMemberRoles)[number]

export const consoleRoles = ['viewer', 'support', 'editor', 'admin'] as const
export type ConsoleRole = (typeof consoleRoles)[number]

const memberSources = ['file', 'console', 'oidc', 'operator'] as const
export type MemberSource = (typeof memberSources)[number]

export const accountMemberPermissions = [
  'companies_edit',
  'company_users_edit',
  'components_edit',
  'custom_plans_edit',
  'data_exports_edit',
  'features_edit',
  'flag_rules_edit',
  'flags_edit',
  'overrides_edit',
  'plan_billing_edit',
  'plan_entitlements_edit',
  'plan_versions_edit',
  'plans_edit',
  'webhooks_edit',
  'webhooks_reveal_secret',
] as const
export type AccountMemberPermission = (typeof accountMemberPermissions)[number]

export const comparableOperators = ['eq', 'gt', 'gte', 'is_empty', 'lt', 'lte', 'not_empty', 'ne'] as const
export type ComparableOperator = (typeof comparableOperators)[number]

const conditionTypes = [
  'base_plan',
  'billing_product',
  'company',
  'credit',
  'metric',
  'plan',
  'plan_version',
  'trait',
  'user',
] as const
export type ConditionType = (typeof conditionTypes)[number]

export const creditEventTypes = ['grant', 'transfer', 'usage', 'zero_out'] as const
export type CreditEventType = (typeof creditEventTypes)[number]

const creditTransferReasons = [
  'overdraft_recovery',
  'postpaid_debt_moved',
  'postpaid_forgiven',
  'postpaid_paid',
] as const
export type CreditTransferReason = (typeof creditTransferReasons)[number]

const creditUsageReasons = [
  'lease_hold',
  'lease_release',
  'manual_adjustment',
  'reconciliation',
  'reservation_hold',
  'reservation_release',
  'track',
] as const
export type CreditUsageReason = (typeof creditUsageReasons)[number]

const entitlementPriceBehaviors = [
  'credit_burndown',
  'overage',
  'pay_as_you_go',
  'pay_in_advance',
  'tier',
] as const
export type EntitlementPriceBehavior = (typeof entitlementPriceBehaviors)[number]

const entitlementTypes = ['company_override', 'plan_entitlement', 'unknown'] as const
export type EntitlementType = (typeof entitlementTypes)[number]

const entitlementValueTypes = ['boolean', 'credit', 'numeric', 'trait', 'unknown', 'unlimited'] as const
export type EntitlementValueType = (typeof entitlementValueTypes)[number]

export const entityTypes = ['company', 'user'] as const
export type EntityType = (typeof entityTypes)[number]

const environmentTypes = ['development', 'production', 'staging'] as const
export type EnvironmentType = (typeof environmentTypes)[number]

export const eventStatuses = ['enriched', 'failed', 'pending', 'processed', 'unknown'] as const
export type EventStatus = (typeof eventStatuses)[number]

export const eventTypes = ['flag_check', 'identify', 'inference', 'track'] as const
export type EventType = (typeof eventTypes)[number]

const featureLifecyclePhases = [
  'add_on',
  'alpha',
  'beta',
  'deprecated',
  'ga',
  'inactive',
  'in_plan',
  'internal_testing',
  'legacy',
] as const
export type FeatureLifecyclePhase = (typeof featureLifecyclePhases)[number]

export const featureTypes = ['boolean', 'event', 'license', 'trait'] as const
export type FeatureType = (typeof featureTypes)[number]

const invoiceStatuses = ['draft', 'open', 'paid', 'uncollectible', 'void'] as const
export type InvoiceStatus = (typeof invoiceStatuses)[number]

export const metricPeriods = ['all_time', 'current_day', 'current_month', 'current_week'] as const
export type MetricPeriod = (typeof metricPeriods)[number]

export const monthResets = ['billing_cycle', 'first_of_month'] as const
export type MonthReset = (typeof monthResets)[number]

const migrationErrorCodes = [
  'ambiguous_subscription_item',
  'multiple_subscriptions',
  'no_price_for_interval',
  'not_on_origin_version',
  'operation_item_not_found',
  'permanent_config',
  'permanent_decline',
  'transient_decline',
  'transient_infra',
  'transient_psp',
  'unknown',
  'would_leave_empty_subscription',
] as const
export type MigrationErrorCode = (typeof migrationErrorCodes)[number]

/** Why a company is not moved to another plan, or not moved back. */
const planMoveReasons = [
  'already_there',
  'changed_since',
  'company_deleted',
  'incompatible_add_on',
  'left_plan',
  'no_price',
  'not_assignable',
  'not_paid',
  'over_limit',
  'provider_billed',
  'version_gone',
] as const
export type PlanMoveReason = (typeof planMoveReasons)[number]

const migrationProrationBehaviors = ['always_invoice', 'create_prorations', 'none'] as const
export type MigrationProrationBehavior = (typeof migrationProrationBehaviors)[number]

export const planChangeActions = [
  'checkout',
  'company_upsert',
  'fallback_plan',
  'manage_plan',
  'migration',
  'plan_billing_product_changed',
  'plan_deleted',
  'plan_trait_change',
  'plan_version_migration',
  'quickstart',
  'subscription_change',
] as const
export type PlanChangeAction = (typeof planChangeActions)[number]

export const planChangeBasePlanActions = ['fallback', 'initial', 'trait', 'trial_expiry'] as const
export type PlanChangeBasePlanAction = (typeof planChangeBasePlanActions)[number]

const planChangeSubscriptionActions = [
  'adjustment',
  'downgrade',
  'invalid',
  'subscribe',
  'unsubscribe',
  'upgrade',
  'upgrade_trial',
] as const
export type PlanChangeSubscriptionAction = (typeof planChangeSubscriptionActions)[number]

const planCreditGrantScalings = ['fixed', 'per_license'] as const
export type PlanCreditGrantScaling = (typeof planCreditGrantScalings)[number]

export const iconColors = [
  'amber',
  'blue',
  'blueGray',
  'blueGreen',
  'cyan',
  'emerald',
  'fuchsia',
  'gray',
  'green',
  'indigo',
  'lightBlue',
  'lime',
  'orange',
  'pink',
  'purple',
  'red',
  'redOrange',
  'rose',
  'sky',
  'slate',
  'teal',
  'trueGray',
  'violet',
  'warmGray',
  'yellow',
] as const
export type IconColor = (typeof iconColors)[number]

export const planPriceCadences = ['monthly', 'quarterly', 'yearly'] as const
export type PlanPriceCadence = (typeof planPriceCadences)[number]

export const planTypes = ['plan', 'add_on'] as const
export type PlanType = (typeof planTypes)[number]

export const planVersionCompanyMigrationStatuses = [
  'cancelled',
  'completed',
  'failed',
  'in_progress',
  'pending',
  'skipped',
] as const
export type PlanVersionCompanyMigrationStatus = (typeof planVersionCompanyMigrationStatuses)[number]

export const planVersionMigrationStatuses = [
  'cancelled',
  'completed',
  'failed',
  'in_progress',
  'pending',
] as const
export type PlanVersionMigrationStatus = (typeof planVersionMigrationStatuses)[number]

const planVersionStatuses = ['published', 'draft', 'archived'] as const
export type PlanVersionStatus = (typeof planVersionStatuses)[number]

export const prorationBehaviors = ['create_prorations', 'invoice_immediately'] as const
export type ProrationBehavior = (typeof prorationBehaviors)[number]

export const ruleTypes = [
  'company_override',
  'company_override_usage_exceeded',
  'default',
  'global_override',
  'plan_entitlement',
  'plan_entitlement_usage_exceeded',
  'standard',
] as const
export type RuleType = (typeof ruleTypes)[number]

export const sortDirections = ['asc', 'desc'] as const
export type SortDirection = (typeof sortDirections)[number]

export const subscriptionStatuses = [
  'active',
  'canceled',
  'expired',
  'incomplete',
  'incomplete_expired',
  'past_due',
  'paused',
  'trialing',
  'unpaid',
] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

export const subscriptionTypes = ['free', 'one_time', 'paid', 'trial'] as const
export type SubscriptionType = (typeof subscriptionTypes)[number]

export const timeSeriesGranularities = ['daily', 'hourly', 'monthly', 'weekly'] as const
export type TimeSeriesGranularity = (typeof timeSeriesGranularities)[number]

/** `version` is of conditions alone: no type of a trait compares so by itself. */
const comparableTypes = ['bool', 'date', 'int', 'string', 'version'] as const
export type ComparableType = (typeof comparableTypes)[number]

export const traitTypes = ['boolean', 'currency', 'date', 'number', 'string', 'url'] as const
export type TraitType = (typeof traitTypes)[number]

const trialStatuses = ['active', 'converted', 'expired'] as const
export type TrialStatus = (typeof trialStatuses)[number]

export const webhookEventStatuses = ['failure', 'pending', 'success'] as const
export type WebhookEventStatus = (typeof webhookEventStatuses)[number]

const webhookRequestTypes = [
  'subscription.trial.ended',
  'billing.overage_window.closed',
  'billing.period.closed',
  'billing.threshold.reached',
  'spend_policy.reached',
  'company.created',
  'company.deleted',
  'company.override.created',
  'company.override.deleted',
  'company.override.expired',
  'company.override.updated',
  'company.plan_changed',
  'company.scheduled_downgrade',
  'company.updated',
  'credit.limit.reached',
  'credit.limit.warning',
  'credit.purchase.success',
  'entitlement.limit.reached',
  'entitlement.limit.warning',
  'entitlement.soft_limit.reached',
  'entitlement.soft_limit.warning',
  'entitlement.tier_limit.reached',
  'entitlement.tier_limit.warning',
  'feature.created',
  'feature.deleted',
  'feature.updated',
  'flag.created',
  'flag.deleted',
  'flag_rules.updated',
  'flag.updated',
  'plan.created',
  'plan.deleted',
  'plan.entitlement.created',
  'plan.entitlement.deleted',
  'plan.entitlement.updated',
  'plan.updated',
  'plan_version.deleted',
  'rule.deleted',
  'test.send',
  'user.created',
  'user.deleted',
  'user.updated',
  'auto.topup.hard.failure',
  'auto.topup.retry.exceeded',
  'auto.topup.success',
] as const
export type WebhookRequestType = (typeof webhookRequestTypes)[number]

const webhookStatuses = ['active', 'inactive'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]

const featureEventSources = ['inference', 'track'] as const
export type FeatureEventSource = (typeof featureEventSources)[number]

const billingCollectors = ['external', 'psp_invoice', 'psp_payments'] as const
export type BillingCollector = (typeof billingCollectors)[number]

const paymentGatings = ['keep_serving', 'revoke_after'] as const
export type PaymentGating = (typeof paymentGatings)[number]

const migrationStrategies = ['end_of_billing_period', 'immediate', 'leave', 'scheduled'] as const
export type MigrationStrategy = (typeof migrationStrategies)[number]

export const rateLimitBuckets = ['global', 'mutation', 'events_ingest', 'analytics'] as const
export type RateLimitBucket = (typeof rateLimitBuckets)[number]

export const customPlanBillingStatuses = ['active', 'expired', 'paid', 'pending'] as const
export type CustomPlanBillingStatus = (typeof customPlanBillingStatuses)[number]

export const currencyCodes = [
  'aed',
  'afn',
  'all',
  'amd',
  'ang',
  'aoa',
  'ars',
  'aud',
  'awg',
  'azn',
  'bam',
  'bbd',
  'bdt',
  'bif',
  'bmd',
  'bnd',
  'bob',
  'brl',
  'bsd',
  'bwp',
  'byn',
  'bzd',
  'cad',
  'cdf',
  'chf',
  'clp',
  'cny',
  'cop',
  'crc',
  'cve',
  'czk',
  'djf',
  'dkk',
  'dop',
  'dzd',
  'egp',
  'etb',
  'eur',
  'fjd',
  'fkp',
  'gbp',
  'gel',
  'gip',
  'gmd',
  'gnf',
  'gtq',
  'gyd',
  'hkd',
  'hnl',
  'htg',
  'huf',
  'idr',
  'ils',
  'inr',
  'isk',
  'jmd',
  'jpy',
  'kes',
  'kgs',
  'khr',
  'kmf',
  'krw',
  'kyd',
  'kzt',
  'lak',
  'lbp',
  'lkr',
  'lrd',
  'lsl',
  'mad',
  'mdl',
  'mga',
  'mkd',
  'mmk',
  'mnt',
  'mop',
  'mur',
  'mvr',
  'mwk',
  'mxn',
  'myr',
  'mzn',
  'nad',
  'ngn',
  'nio',
  'nok',
  'npr',
  'nzd',
  'pab',
  'pen',
  'pgk',
  'php',
  'pkr',
  'pln',
  'pyg',
  'qar',
  'ron',
  'rsd',
  'rub',
  'rwf',
  'sar',
  'sbd',
  'scr',
  'sek',
  'sgd',
  'shp',
  'sle',
  'sos',
  'srd',
  'std',
  'szl',
  'thb',
  'tjs',
  'top',
  'try',
  'ttd',
  'twd',
  'tzs',
  'uah',
  'ugx',
  'usd',
  'uyu',
  'uzs',
  'vnd',
  'vuv',
  'wst',
  'xaf',
  'xcd',
  'xcg',
  'xof',
  'xpf',
  'yer',
  'zar',
  'zmw',
] as const
export type CurrencyCode = (typeof currencyCodes)[number]

const taxIdTypes = [
  'ae_trn',
  'au_abn',
  'au_arn',
  'br_cnpj',
  'br_cpf',
  'ca_bn',
  'ca_gst_hst',
  'ca_pst_bc',
  'ca_pst_mb',
  'ca_pst_sk',
  'ca_qst',
  'ch_uid',
  'ch_vat',
  'eu_vat',
  'gb_vat',
  'hk_br',
  'id_npwp',
  'il_vat',
  'in_gst',
  'jp_cn',
  'jp_rn',
  'jp_trn',
  'kr_brn',
  'mx_rfc',
  'my_frp',
  'my_itn',
  'my_sst',
  'no_vat',
  'nz_gst',
  'ph_tin',
  'sa_vat',
  'sg_gst',
  'sg_uen',
  'th_vat',
  'tr_tin',
  'tw_vat',
  'us_ein',
  'za_vat',
] as const
export type TaxIdType = (typeof taxIdTypes)[number]
