// Random catalogue documents: valid, sparse, and with names that repeat, end like numbers or need quotes.
import type * as file from '../../schemas/catalog.js'
import { iconColors } from '../../schemas/enums.js'
import type { Random } from '../random.js'

const words = ['Pro', 'Pro', 'Basic#2', 'Team: EU', 'é ü', '- dash', 'yes', '"q"', '10', 'a.b']
const currencies = ['usd', 'eur', 'jpy'] as const
const unitCadences = ['monthly', 'quarterly', 'yearly'] as const

/** One random document. */
export class CatalogWorld {
  private readonly traits: string[] = []
  private readonly features: { readonly ref: string; readonly made: file.CatalogFeature }[] = []
  private readonly credits: string[] = []
  private readonly plans: { readonly ref: string; readonly made: file.CatalogPlan }[] = []

  constructor(private readonly random: Random) {}

  private maybe<T>(share: number, make: () => T): T | undefined {
    return this.random.chance(share) ? make() : undefined
  }

  private some<T>(most: number, make: (i: number) => T): T[] {
    return Array.from({ length: this.random.below(most + 1) }, (_, i) => make(i))
  }

  private name(): string {
    const { random } = this
    return random.chance(0.5) ? random.pick(words) : `${random.pick(words)} ${random.below(50)}`
  }

  /** The reference of the next object with this name among those before it. */
  private refs(): (name: string) => string {
    const seen = new Map<string, number>()
    return name => {
      const n = (seen.get(name) ?? 0) + 1
      seen.set(name, n)
      return n === 1 && !/#[1-9]\d*$/.test(name) ? name : `${name}#${n}`
    }
  }

  /** Whole numbers, some beyond what JSON's number keeps. */
  private quantity(least = 0): file.CatalogQuantity {
    return this.random.chance(0.1) ? '9007199254740993' : least + this.random.below(5_000)
  }

  document(): file.Catalog {
    return {
      catalog: 1,
      traits: this.madeTraits(),
      features: this.madeFeatures(),
      credits: this.madeCredits(),
      plans: this.madePlans(),
      flags: this.madeFlags(),
      bundles: this.madeBundles(),
      plan_group: this.madeGroup(),
      model_prices: this.some(2, i => ({
        provider: 'acme',
        model: `model ${i}`,
        currency: this.random.pick(['usd', 'EUR']),
        effective_at: '2026-01-01T00:00:00Z',
        input: '1.5',
        output: '3',
        cached_input: this.random.chance(0.5) ? '0.1' : null,
      })),
      publishable_limits:
        this.maybe(0.5, () => ({ create_users: this.random.below(9), name_events: true })) ?? {},
    }
  }

  private madeTraits(): file.CatalogTrait[] {
    const made = new Map<string, file.CatalogTrait>()
    for (let i = 0; i < 4; i++) {
      const nested = this.random.chance(0.3)
      const name = nested ? `deep.t${i}` : `trait_${this.random.below(9)}`
      const entity_type = this.random.pick(['company', 'user'] as const)
      this.traits.push(`${entity_type}:${name}`)
      made.set(`${entity_type} ${name}`, {
        entity_type,
        name,
        trait_type: this.random.pick(['boolean', 'number', 'string', 'date'] as const),
        ...(nested && this.random.chance(0.7) && { hierarchy: ['deep', `t${i}`] }),
        display_name: this.maybe(0.4, () => this.name()),
        publishable_writes: this.maybe(0.3, () => true),
      })
    }
    return [...made.values()]
  }

  private ofCompany(): string | undefined {
    return this.traits.find(one => one.startsWith('company:'))
  }

  private madeFeatures(): file.CatalogFeature[] {
    const ref = this.refs()
    return this.some(5, i => {
      const feature_type = this.random.pick(['boolean', 'event', 'event', 'license', 'trait'] as const)
      const name = this.name()
      const counts = feature_type === 'trait' || feature_type === 'license'
      const made: file.CatalogFeature = {
        name,
        description: this.maybe(0.5, () => `What ${i} is`),
        feature_type,
        event_subtype: feature_type === 'event' ? `event_${this.random.below(5)}` : undefined,
        event_source: feature_type === 'event' && this.random.chance(0.3) ? 'inference' : undefined,
        icon: this.maybe(0.3, () => 'box'),
        lifecycle_phase: this.maybe(0.3, () => 'beta' as const),
        plural_name: this.maybe(0.3, () => 'things'),
        trait: counts ? (this.maybe(0.5, () => this.ofCompany()!) ?? undefined) : undefined,
      }
      this.features.push({ ref: ref(name), made })
      return made
    })
  }

  private tiers(): file.CatalogTier[] {
    return [
      { up_to: 10, per_unit_price: this.quantity(), flat_amount: this.maybe(0.5, () => 100) },
      { per_unit_price_decimal: this.maybe(0.7, () => '0.25') },
    ]
  }

  private price(cadence: file.CatalogPrice['cadence'], tiered: boolean): Omit<file.CatalogPrice, 'currency'> {
    if (tiered && this.random.chance(0.3))
      return { cadence, tiers: this.tiers(), tiers_mode: this.maybe(0.5, () => 'volume' as const) }
    if (this.random.chance(0.3)) return { cadence, price_decimal: '12.75' }
    return { cadence, price: this.quantity() }
  }

  private prices(cadences: readonly file.CatalogPrice['cadence'][], tiered = false): file.CatalogPrice[] {
    return currencies.flatMap(currency =>
      cadences.flatMap(cadence =>
        this.random.chance(0.4) ? [{ currency, ...this.price(cadence, tiered) }] : [],
      ),
    )
  }

  private madeCredits(): file.CatalogCredit[] {
    const ref = this.refs()
    return this.some(3, () => {
      const name = this.name()
      this.credits.push(ref(name))
      return {
        name,
        description: this.maybe(0.5, () => 'A unit'),
        currency: this.random.pick(currencies),
        burn_strategy: this.maybe(0.4, () => 'first_in_first_out' as const),
        default_expiry_unit: this.maybe(0.4, () => 'billing_periods' as const),
        default_expiry_unit_count: this.maybe(0.4, () => 3),
        default_rollover_policy: this.maybe(0.4, () => 'rollover' as const),
        icon: this.maybe(0.3, () => 'coin'),
        singular_name: this.maybe(0.3, () => 'credit'),
        prices: this.prices(['one_time']),
      }
    })
  }

  private madePlans(): file.CatalogPlan[] {
    const ref = this.refs()
    return this.some(4, () => {
      const name = this.name()
      const published = this.maybe(0.7, () => this.version())
      const made: file.CatalogPlan = {
        name,
        plan_type: this.random.pick(['plan', 'plan', 'add_on'] as const),
        published,
        draft:
          published === undefined || this.random.chance(0.4)
            ? this.version(published !== undefined)
            : undefined,
      }
      this.plans.push({ ref: ref(name), made })
      return made
    })
  }

  private version(renamed = false): file.CatalogPlanVersion {
    const charge_type = this.random.pick(['none', 'free', 'one_time', 'recurring', 'recurring'] as const)
    const cadences =
      charge_type === 'recurring' ? unitCadences : charge_type === 'one_time' ? (['one_time'] as const) : []
    const features = this.features.filter(() => this.random.chance(0.6))
    return {
      name: renamed ? this.maybe(0.3, () => this.name()) : undefined,
      description: this.maybe(0.5, () => 'For many'),
      icon: this.maybe(0.5, () => this.random.pick(iconColors)),
      charge_type,
      is_trialable: this.maybe(0.4, () => true),
      trial_days: this.maybe(0.4, () => 14),
      currency: this.maybe(0.4, () => 'eur' as const),
      prices: this.prices(cadences),
      entitlements: features.flatMap(one => this.entitlement(one) ?? []),
      credit_grants: this.credits.length === 0 ? [] : this.some(3, () => this.grant()),
    }
  }

  private entitlement({
    ref: feature,
    made,
  }: {
    ref: string
    made: file.CatalogFeature
  }): file.CatalogEntitlement {
    const [credit] = this.credits
    const trait = this.ofCompany()
    const inference = made.event_source === 'inference'
    switch (made.feature_type) {
      case 'boolean':
        return { feature, value_type: 'boolean', value_bool: this.random.chance(0.5) }
      case 'license':
      case 'trait':
        if (this.random.chance(0.4))
          return {
            feature,
            value_type: 'trait',
            price_behavior: 'pay_in_advance',
            usage_quantity: this.maybe(0.5, () => this.quantity()),
            prices: this.prices(unitCadences, true),
          }
        return { feature, value_type: 'numeric', value_numeric: this.quantity() }
    }
    if (credit !== undefined && this.random.chance(0.3))
      return {
        feature,
        value_type: 'credit',
        value_credit: credit,
        credit_consumption_rate: this.maybe(0.5, () => 2.5),
        quantity_rates: inference
          ? this.maybe(0.5, () => ({ output_tokens: 0.5, input_tokens: 1 }))
          : undefined,
      }
    if (inference) return { feature, value_type: 'unlimited' }
    const metered = {
      metric_period: this.maybe(0.7, () => this.random.pick(['current_month', 'current_day'] as const)),
      metric_period_month_reset: this.maybe(0.5, () =>
        this.random.pick(['billing_cycle', 'first_of_month'] as const),
      ),
    }
    if (trait !== undefined && this.random.chance(0.2))
      return { feature, value_type: 'trait', value_trait: trait, ...metered }
    if (this.random.chance(0.5))
      return {
        feature,
        value_type: 'numeric',
        value_numeric: this.quantity(1),
        ...metered,
        warning_tiers: this.maybe(0.4, () => [
          { key: 'half', value: 50 },
          { key: 'all', value: 100 },
        ]),
      }
    return {
      feature,
      value_type: 'unlimited',
      price_behavior: this.random.pick(['overage', 'pay_as_you_go'] as const),
      soft_limit: this.quantity(),
      billing_threshold: this.maybe(0.3, () => 5_000),
      overage_billing_cadence: this.maybe(0.5, () =>
        this.random.pick(['monthly', 'end_of_billing_period'] as const),
      ),
      prices: this.prices(unitCadences, true),
      ...metered,
    }
  }

  private grant(): file.CatalogPlanGrant {
    const credit = this.random.pick(this.credits)
    const license = this.features.find(one => one.made.feature_type === 'license')
    if (this.random.chance(0.4))
      return {
        credit,
        credit_amount: 1 + this.random.below(50),
        reset_type: 'no_reset',
        reset_cadence: 'monthly',
        reset_start: 'billing_period',
        renewal_enabled: this.maybe(0.5, () => true),
        expiry_type: this.maybe(0.5, () => 'duration' as const),
        expiry_unit_count: 3,
        can_buy_bundles: this.maybe(0.5, () => false),
      }
    return {
      credit,
      credit_amount: this.random.below(50),
      ...(license && this.random.chance(0.5)
        ? { scaling: 'per_license' as const, license: license.ref, company_credit_amount: 5 }
        : {}),
      reset_cadence: this.random.pick(['monthly', 'yearly', 'daily'] as const),
      reset_start: this.random.pick(['billing_period', 'first_of_month'] as const),
      postpaid_enabled: this.maybe(0.5, () => true),
      postpaid_rate_per_unit: this.maybe(0.5, () => 20),
      overdraft_limit: this.maybe(0.5, () => this.random.pick(['10', '2.5'])),
      arrears_cadence: this.maybe(0.5, () => 'monthly' as const),
      arrears_anchor: this.maybe(0.5, () => 'month_end' as const),
    }
  }

  private condition(): file.CatalogCondition {
    const { random } = this
    const kinds = ['trait', 'metric', 'plan', 'credit', 'plan_version'] as const
    const kind = random.pick(kinds)
    const trait = this.traits[0]
    const [plan] = this.plans
    const [credit] = this.credits
    if (kind === 'trait' && trait !== undefined)
      return { condition_type: 'trait', operator: 'eq', trait, trait_value: random.pick(['a', '', '7']) }
    if (kind === 'credit' && credit !== undefined)
      return { condition_type: 'credit', operator: 'eq', credit, credit_cost: this.maybe(0.5, () => 2) }
    if (kind === 'plan' && plan !== undefined)
      return { condition_type: 'plan', operator: random.pick(['eq', 'ne']), resources: [plan.ref] }
    if (kind === 'plan_version' && plan?.made.published)
      return { condition_type: 'plan_version', operator: 'eq', resources: [`${plan.ref}@published`] }
    return {
      condition_type: 'metric',
      operator: random.pick(['gte', 'lt'] as const),
      event_subtype: 'call',
      metric_period: this.maybe(0.7, () =>
        random.pick(['current_month', 'current_week', 'all_time'] as const),
      ),
      metric_period_month_reset: this.maybe(0.5, () =>
        random.pick(['billing_cycle', 'first_of_month'] as const),
      ),
      metric_value: this.quantity(),
    }
  }

  private madeFlags(): file.CatalogFlag[] {
    const free = this.features.filter(() => this.random.chance(0.7))
    return this.some(5, i => ({
      key: `flag-${i}`,
      name: this.name(),
      description: this.maybe(0.5, () => 'Decides'),
      default_value: this.maybe(0.3, () => true),
      feature: free[i]?.ref,
      rules: this.some(3, () => ({
        name: this.name(),
        rule_type: this.maybe(0.3, () => 'global_override' as const),
        priority: this.random.chance(0.1) ? '9007199254740995' : this.random.below(5),
        value: this.random.chance(0.5),
        conditions: this.some(2, () => this.condition()),
        condition_groups: this.some(2, () => [this.condition()]),
      })),
    }))
  }

  private madeBundles(): file.CatalogBundle[] {
    if (this.credits.length === 0) return []
    return this.some(3, () => ({
      name: this.name(),
      credit: this.random.pick(this.credits),
      currency: this.random.pick(currencies),
      status: this.maybe(0.3, () => 'inactive' as const),
      quantity: this.maybe(0.6, () => 500),
      expiry_type: this.maybe(0.5, () => this.random.pick(['duration', 'end_of_billing_period'] as const)),
      expiry_unit: this.maybe(0.5, () => 'billing_periods' as const),
      expiry_unit_count: 2,
      compatible_plans: this.plans.filter(() => this.random.chance(0.3)).map(one => one.ref),
      prices: this.prices(['one_time']),
    }))
  }

  private madeGroup(): file.CatalogPlanGroup {
    const ofType = (type: file.CatalogPlan['plan_type']) =>
      this.plans.filter(one => one.made.plan_type === type)
    const ordered = (all: typeof this.plans) =>
      all.map(({ ref, made }) => ({
        plan: ref,
        entitlements: this.maybe(0.5, () =>
          ((made.published ?? made.draft)?.entitlements ?? []).map(({ feature }) => ({
            feature,
            visible: this.maybe(0.5, () => this.random.chance(0.5)),
          })),
        ),
      }))
    const free = ofType('plan').find(one =>
      ['free', 'none'].includes((one.made.published ?? one.made.draft)?.charge_type ?? ''),
    )
    const company = this.ofCompany()
    return {
      fallback_plan: free?.ref,
      plans: ordered(ofType('plan')),
      add_ons: ordered(ofType('add_on')),
      show_credits: this.maybe(0.5, () => true),
      trial_days: this.maybe(0.5, () => 7),
      trial_payment_method_required: this.maybe(0.5, () => false),
      proration_behavior: this.maybe(0.5, () => 'invoice_immediately' as const),
      custom_plan_config: this.maybe(0.3, () => ({
        price_text: 'ask',
        cta_text: 'Write',
        cta_web_site: 'https://example.com',
      })),
      custom_checkout_fields:
        company === undefined
          ? undefined
          : [
              {
                name: 'VAT',
                psp_metadata_key: 'vat',
                required: true,
                trait: company,
                helper_text: this.maybe(0.5, () => 'Your number'),
              },
            ],
    }
  }
}
