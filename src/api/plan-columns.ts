// The plans companies are on, as statements see them.
import type { Sql } from 'postgres'
import type { CatalogData, PlanDef } from '../core/catalog.js'
import type { Condition, Fragment } from './entity-list.js'
import { among } from './sql.js'

/** A plan and the version of it that is assigned now. */
interface Assigned {
  readonly plan_id: string
  readonly version_id: string
}

/**
 * The plans of a company as conditions of lists. Its base plan is the one stored, unless its trial is over: then the
 * trial-expiry plan, else the fallback plan, which is also the plan of a company without one (EN-82, EN-91, EN-93).
 */
export class PlanColumns {
  readonly #fallback: Assigned | null
  readonly #afterTrial: Assigned | null

  constructor(
    private readonly sql: Sql,
    private readonly catalog: CatalogData,
    /** Name of the companies' rows in the statement. */
    private readonly company: string,
    private readonly nowMs: number,
  ) {
    this.#fallback = assigned(catalog, catalog.fallbackPlanId)
    this.#afterTrial = assigned(catalog, catalog.trialExpiryPlanId) ?? this.#fallback
  }

  get #id(): Fragment {
    return this.sql`${this.sql(`${this.company}.id`)}`
  }

  /** The trial of a row `p` is over, and with it the plan. */
  get #over(): Fragment {
    return this.sql`(p.trial_end_setting = 'cancel' and p.trial_status <> 'converted'
      and p.trial_end_at <= ${new Date(this.nowMs)})`
  }

  /** Of the base plan; null without one. */
  #base(column: keyof Assigned): Fragment {
    const { sql } = this
    return sql`coalesce((
      select case when ${this.#over} then ${this.#afterTrial?.[column] ?? null} else ${sql(`p.${column}`)} end
      from company_plans p where p.company_id = ${this.#id} and p.kind = 'base' limit 1),
      ${this.#fallback?.[column] ?? null})`
  }

  /** Ids of the companies whose base plan comes from a plan that `counts`: stored, after a trial, or as fallback. */
  #holders(stored: Fragment, counts: (plan: Assigned | null) => boolean): Fragment {
    const { sql } = this
    const here = sql`environment_id = ${this.catalog.environmentId}`
    const afterTrial = sql`
      union all select p.company_id from company_plans p where ${here} and p.kind = 'base' and ${this.#over}`
    const fallback = sql`union all select id from companies where ${here} and not on_plan`
    return sql`
      select p.company_id from company_plans p
      where ${here} and ${stored} and (p.kind = 'add_on' or ${this.#over} is not true)
      ${counts(this.#afterTrial) ? afterTrial : sql``} ${counts(this.#fallback) ? fallback : sql``}`
  }

  /** Without a base plan. */
  get without(): Condition {
    const test = this.sql`${this.#base('plan_id')} is null`
    return { test, hits: this.#holders(this.sql`false`, plan => plan === null) }
  }

  /** Base plan or an add-on is one of these. */
  on(column: keyof Assigned, values: readonly string[]): Condition {
    const { sql } = this
    const plans = this.#plansOf(column, values)
    const known = values.every(value =>
      plans.some(({ id, versions }) => id === value || versions.some(version => version.id === value)),
    )
    // what nobody knows may be either
    const basePlans = !known || plans.some(({ planType }) => planType !== 'add_on')
    const addOns = !known || plans.some(({ planType }) => planType === 'add_on')
    const one = among(sql, values)
    const base = sql`coalesce(${this.#base(column)} in ${one}, false)`
    const added = sql`exists (
      select 1 from company_plans p where p.company_id = ${this.#id} and p.kind = 'add_on'
        and ${sql(`p.${column}`)} in ${one})`
    const planIds = plans.map(({ id }) => id)
    const narrower = column === 'version_id' && known ? sql`p.plan_id in ${among(sql, planIds)} and` : sql``
    return {
      test: sql`(${basePlans ? base : sql`false`} or ${addOns ? added : sql`false`})`,
      hits: this.#holders(
        sql`${narrower} ${sql(`p.${column}`)} in ${one}`,
        plan => plan !== null && values.includes(plan[column]),
      ),
    }
  }

  /** The plans that these are, or these are versions of; those nobody knows are left out. */
  #plansOf(column: keyof Assigned, values: readonly string[]): PlanDef[] {
    return this.catalog.plans.filter(({ id, versions }) =>
      column === 'plan_id' ? values.includes(id) : versions.some(version => values.includes(version.id)),
    )
  }

  /** Base plan or an add-on is none of these. */
  off(column: keyof Assigned, values: readonly string[]): Condition {
    const { sql } = this
    const several = among(sql, values)
    return {
      test: sql`((${this.#base(column)} is not null and ${this.#base(column)} not in ${several}) or exists (
        select 1 from company_plans p where p.company_id = ${this.#id} and p.kind = 'add_on'
          and ${sql(`p.${column}`)} not in ${several}))`,
      hits: this.#holders(
        sql`${sql(`p.${column}`)} not in ${several}`,
        plan => plan !== null && !values.includes(plan[column]),
      ),
    }
  }

  /** One of its plans, or an override in force, entitles to the feature. */
  entitledTo(featureId: string): Condition {
    const { sql } = this
    const granting = this.catalog.plans
      .flatMap(plan => plan.versions)
      .filter(({ entitlements }) => entitlements.some(one => one.featureId === featureId))
    const planned = this.on(
      'version_id',
      granting.map(version => version.id),
    )
    const inForce = sql`o.feature_id = ${featureId}
      and (o.expires_at is null or o.expires_at > ${new Date(this.nowMs)})`
    return {
      test: sql`(${planned.test} or exists (
        select 1 from company_overrides o where o.company_id = ${this.#id} and ${inForce}))`,
      hits: sql`${planned.hits!} union all
        select o.company_id from company_overrides o
        where o.environment_id = ${this.catalog.environmentId} and ${inForce}`,
    }
  }
}

function assigned(catalog: CatalogData, planId: string | null): Assigned | null {
  const plan = catalog.plans.find(one => one.id === planId)
  return plan?.publishedVersionId ? { plan_id: plan.id, version_id: plan.publishedVersionId } : null
}
