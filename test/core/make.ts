// Small valid definitions and companies for the tests of the core; a test names only what matters to it.

import type { CreditAccount } from '../../src/core/model/account-state.js'
import type {
  Company,
  OverrideState,
  PlanHolding,
  SubscriptionState,
} from '../../src/core/model/company-state.js'
import { type Counter, Counters } from '../../src/core/model/counters.js'
import type {
  CatalogData,
  ConditionDef,
  CreditDef,
  EntitlementDef,
  FeatureDef,
  FlagDef,
  PlanCreditGrantDef,
  PlanDef,
  PlanVersionDef,
  RuleDef,
  StoredEntitlement,
  TraitDef,
} from '../../src/core/model/definitions.js'
import type { ItemPrice } from '../../src/core/rating/facts.js'
import type { RatedPrice } from '../../src/core/rating/line.js'
import { storedOrNull } from '../../src/core/values/quantity.js'
import { SmallMap } from '../../src/core/values/shared-names.js'
import { type NamedText, NamedTexts } from '../../src/core/values/text-map.js'

export const catalogData = (some: Partial<CatalogData> = {}): CatalogData => ({
  environmentId: 'env_1',
  accountId: 'acct_1',
  environmentType: 'development',
  version: 1,
  traits: [],
  features: [],
  flags: [],
  plans: [],
  credits: [],
  spendPolicies: [],
  initialPlanId: null,
  fallbackPlanId: null,
  trialExpiryPlanId: null,
  ...some,
})

export const trait = (name: string, some: Partial<TraitDef> = {}): TraitDef => ({
  id: `trt_${name}`,
  entityType: 'company',
  name,
  traitType: 'number',
  ...some,
})

/** An event feature counting its own id, unless said otherwise. */
export const feature = (id: string, some: Partial<FeatureDef> = {}): FeatureDef => ({
  id,
  name: id,
  featureType: 'event',
  eventSource: 'track',
  eventSubtype: some.featureType === undefined || some.featureType === 'event' ? id : null,
  traitId: null,
  usageLimitTraitId: null,
  licenseId: null,
  ...some,
})

/** The flag of the feature of the same name. */
export const flag = (key: string, some: Partial<FlagDef> = {}): FlagDef => ({
  id: `flag_${key}`,
  key,
  name: key,
  defaultValue: false,
  featureId: key,
  rules: [],
  ...some,
})

export const rule = (id: string, some: Partial<RuleDef> = {}): RuleDef => ({
  id,
  name: id,
  ruleType: 'standard',
  priority: 0,
  value: true,
  flagId: null,
  conditions: [],
  conditionGroups: [],
  ...some,
})

export const condition = (some: Partial<ConditionDef>): ConditionDef => ({
  id: 'cond_1',
  conditionType: 'trait',
  operator: 'eq',
  resourceIds: [],
  traitId: null,
  traitValue: '',
  comparisonTraitId: null,
  eventSubtype: null,
  metricPeriod: null,
  monthReset: null,
  metricValue: null,
  creditId: null,
  consumptionRate: null,
  quantityRates: null,
  ...some,
})

/** The entitlement of a plan or override to a feature; ids follow from `id`. */
export const entitlement = (
  featureId: string,
  some: Partial<EntitlementDef> & { readonly id?: string } = {},
): EntitlementDef => {
  const id = some.id ?? `ent_${featureId}`
  return {
    id,
    featureId,
    ruleId: `rule_${id}`,
    ruleIdUsageExceeded: `rule_${id}_over`,
    valueType: 'boolean',
    valueBool: null,
    valueNumeric: null,
    valueTraitId: null,
    valueCreditId: null,
    consumptionRate: null,
    quantityRates: null,
    metricPeriod: null,
    monthReset: null,
    priceBehavior: null,
    softLimit: null,
    tiers: null,
    tiersMode: null,
    unitPriceDecimal: null,
    warningTiers: [],
    ...some,
  }
}

export const planVersion = (id: string, some: Partial<PlanVersionDef> = {}): PlanVersionDef => ({
  id,
  version: 1,
  status: 'published',
  billingProductId: null,
  chargeType: 'none',
  isTrialable: false,
  trialDays: null,
  entitlements: [],
  creditGrants: [],
  ...some,
})

/** A plan with one published version, `<id>_v1`, unless versions are given. */
export const plan = (
  id: string,
  entitlements: readonly EntitlementDef[],
  some: Partial<PlanDef> = {},
): PlanDef => ({
  id,
  name: id,
  description: '',
  planType: 'plan',
  companyId: null,
  versions: [planVersion(`${id}_v1`, { entitlements })],
  publishedVersionId: `${id}_v1`,
  ...some,
})

export const credit = (id: string, some: Partial<CreditDef> = {}): CreditDef => ({
  id,
  name: id,
  burnStrategy: 'first_in_first_out',
  ledgerAuthority: 'service_authoritative',
  defaultExpiryUnit: 'days',
  defaultExpiryUnitCount: null,
  defaultRolloverPolicy: 'none',
  ...some,
})

/** A plan grant that exists for its overdraft. */
export const postpaid = (creditId: string, overdraftLimit: string | null): PlanCreditGrantDef => ({
  id: `pcgr_${creditId}`,
  creditId,
  creditAmount: 1,
  companyCreditAmount: 0,
  scaling: 'fixed',
  licenseId: null,
  billingMode: 'granted',
  resetType: 'no_reset',
  resetCadence: null,
  resetStart: null,
  rolloverPercentage: 0,
  expiryType: null,
  expiryUnit: null,
  expiryUnitCount: null,
  postpaidEnabled: true,
  overdraftLimit,
  arrearsCadence: null,
  arrearsAnchor: null,
  autoTopupAvailability: 'off',
  autoTopupAmount: null,
  autoTopupThresholdCredits: null,
  autoTopupThresholdPercent: null,
  autoTopupExpiryType: null,
  autoTopupExpiryUnit: null,
  autoTopupExpiryUnitCount: null,
})

export const holding = (planId: string, some: Partial<PlanHolding> = {}): PlanHolding => ({
  planId,
  versionId: `${planId}_v1`,
  addedAtMs: 0,
  priceId: null,
  trial: null,
  ...some,
})

/** An entitlement as overrides keep it. */
export const stored = (def: EntitlementDef): StoredEntitlement => ({
  ...def,
  valueNumeric: storedOrNull(def.valueNumeric),
  softLimit: null,
  tiers: null,
})

export const override = (
  featureId: string,
  some: Partial<EntitlementDef>,
  expiresAtMs: number | null = null,
): OverrideState => ({
  id: `cmov_${featureId}`,
  entitlement: stored(entitlement(featureId, { id: `cmov_${featureId}`, ...some })),
  expiresAtMs,
  createdAtMs: 0,
  updatedAtMs: 0,
})

export const subscription = (some: Partial<SubscriptionState> = {}): SubscriptionState => ({
  id: 'bilsub_1',
  externalId: 'sub_1',
  status: 'active',
  periodStartMs: 0,
  periodEndMs: 0,
  intervalMonths: 1,
  cancelAtPeriodEnd: false,
  cancelAtMs: null,
  trialEndMs: null,
  trialEndSetting: null,
  productIds: [],
  ...some,
})

type Parts = Omit<Company, 'keys' | 'traits' | 'counters' | 'credits'> & {
  readonly keys: Iterable<readonly [string, NamedText]>
  readonly traits: Readonly<Record<string, string>>
  readonly counters: Iterable<readonly [string, Counter]>
  readonly credits: Iterable<readonly [string, CreditAccount]>
}

/** A company that exists; `traits` by name as text. */
export const company = (some: Partial<Parts> = {}): Company => {
  const { keys, traits = {}, counters = [], credits = [], ...rest } = some
  return {
    id: 'comp_1',
    environmentId: 'env_1',
    exists: true,
    name: 'Acme',
    keys: NamedTexts.of(keys ?? [['id', { value: 'acme', createdAtMs: 0, updatedAtMs: 0 }]]),
    createdAtMs: 0,
    updatedAtMs: 0,
    lastSeenAtMs: null,
    sequence: 0,
    plan: null,
    addOns: [],
    trialedPlanIds: [],
    subscriptions: [],
    schedule: null,
    overrides: [],
    overdraftLimit: null,
    counters: Counters.of(counters),
    credits: SmallMap.of(credits),
    idsMade: 0,
    timeMs: 0,
    clientTraits: null,
    removedTraits: null,
    ...rest,
    traits: NamedTexts.of(
      Object.entries(traits).map(([name, value]) => [name, { value, createdAtMs: 0, updatedAtMs: 0 }]),
    ),
  }
}

/** A price as rating takes it: in usd, without tiers. */
export const ratedPrice = (some: Partial<RatedPrice> = {}): RatedPrice => ({
  id: 'p',
  currency: 'usd',
  unit: '0',
  tiers: null,
  mode: 'graduated',
  packageSize: 1,
  ...some,
})

/** The price of an item of a subscription, by months; null: it is paid once. */
export const itemPrice = (
  id: string,
  unit: string,
  months: number | null,
  some: Partial<ItemPrice> = {},
): ItemPrice => ({ ...ratedPrice({ id, unit }), months, fromMs: 0, isMetered: false, ...some })
