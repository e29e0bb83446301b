// The plans companies are on, as statements see them.
import type { Sql } from 'postgres'
import type { CatalogData } from '../core/catalog.js'
import type { Fragment } from './entity-list.js'
import { among } from './sql.js'

/** A plan and the version of it that is assigned now. */
interface Assigned {
  readonly plan_id: string
  readonly version_id: string
}

/**
 * The plans of a company as columns. Its base plan is the one stored, unless its trial is over: then the trial-expiry
 * plan, else the fallback plan, which is also the plan of a company without one (EN-82, EN-91, EN-93).
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

  /** Of the base plan; null without one. */
  base(column: keyof Assigned): Fragment {
    const { sql } = this
    return sql`coalesce((
      select case when p.trial_end_setting = 'cancel' and p.trial_status <> 'converted'
        and p.trial_end_at <= ${new Date(this.nowMs)} then ${this.#afterTrial?.[column] ?? null}
        else ${sql(`p.${column}`)} end
      from company_plans p where p.company_id = ${this.#id} and p.kind = 'base' limit 1),
      ${this.#fallback?.[column] ?? null})`
  }

  /** Base plan or an add-on is one of these. */
  on(column: keyof Assigned, values: readonly string[]): Fragment {
    const { sql } = this
    return sql`(coalesce(${this.base(column)} in ${among(sql, values)}, false) or exists (
      select 1 from company_plans p where p.company_id = ${this.#id} and p.kind = 'add_on'
        and ${sql(`p.${column}`)} in ${among(sql, values)}))`
  }

  /** Base plan or an add-on is none of these. */
  off(column: keyof Assigned, values: readonly string[]): Fragment {
    const { sql } = this
    return sql`((${this.base(column)} is not null and ${this.base(column)} not in ${among(sql, values)}) or exists (
      select 1 from company_plans p where p.company_id = ${this.#id} and p.kind = 'add_on'
        and ${sql(`p.${column}`)} not in ${among(sql, values)}))`
  }

  /** One of its plans, or an override in force, entitles to the feature. */
  entitledTo(featureId: string): Fragment {
    const { sql } = this
    const granting = this.catalog.plans
      .flatMap(plan => plan.versions)
      .filter(({ entitlements }) => entitlements.some(one => one.featureId === featureId))
    return sql`(${this.on(
      'version_id',
      granting.map(version => version.id),
    )} or exists (
      select 1 from company_overrides o where o.company_id = ${this.#id} and o.feature_id = ${featureId}
        and (o.expires_at is null or o.expires_at > ${new Date(this.nowMs)})))`
  }
}

function assigned(catalog: CatalogData, planId: string | null): Assigned | null {
  const plan = catalog.plans.find(one => one.id === planId)
  return plan?.publishedVersionId ? { plan_id: plan.id, version_id: plan.publishedVersionId } : null
}
