// SQL conditions on the plans of companies.
import type { Sql } from 'postgres'
import type { SortDirection } from '../../../schemas/enums.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { Condition, Fragment } from '../entities/list.js'

/** A plan and the version of it that companies get now. */
interface Assigned {
  readonly plan_id: string
  readonly version_id: string
}

/**
 * Conditions on the plans of companies. The base plan is the stored one unless its trial is over: then it is the
 * trial-expiry plan, else the fallback plan. A company without a base plan is on the fallback plan (EN-82, EN-91,
 * EN-93).
 */
export class PlanColumns {
  private readonly fallback: Assigned | null
  private readonly afterTrial: Assigned | null

  constructor(
    private readonly sql: Sql,
    private readonly catalog: CatalogData,
    /** Alias of the `listed` row in the statement. */
    private readonly company: string,
    private readonly nowMs: number,
  ) {
    this.fallback = assigned(catalog, catalog.fallbackPlanId)
    this.afterTrial = assigned(catalog, catalog.trialExpiryPlanId) ?? this.fallback
  }

  private of(column: 'id' | 'plan_id' | 'version_id' | 'plan_until' | 'add_ons' | 'overridden'): Fragment {
    return this.sql`${this.sql(`${this.company}.${column}`)}`
  }

  /** A column of the effective base plan; null without one. */
  private base(column: keyof Assigned): Fragment {
    const { sql } = this
    const over = sql`${this.of('plan_until')} <= ${new Date(this.nowMs)}`
    return sql`coalesce(
      case when ${over} then ${this.afterTrial?.[column] ?? null} else ${this.of(column)} end,
      ${this.fallback?.[column] ?? null})`
  }

  /** Ids of companies that hold a plan matching `stored`, or whose trial-expiry or fallback plan matches `counts`. */
  private holders(stored: Fragment, counts: (plan: Assigned | null) => boolean): Fragment {
    const { sql } = this
    const here = sql`environment_id = ${this.catalog.environmentId}`
    const now = new Date(this.nowMs)
    const afterTrial = sql`union all select id from listed where ${here} and plan_until <= ${now}`
    const fallback = sql`union all select id from listed where ${here} and kind = 'company' and plan_id is null`
    return sql`
      select p.company_id from company_plans p
      where ${here} and ${stored} and (p.kind = 'add_on' or (p.trial_end_setting = 'cancel'
        and p.trial_status <> 'converted' and p.trial_end_at <= ${now}) is not true)
      ${counts(this.afterTrial) ? afterTrial : sql``} ${counts(this.fallback) ? fallback : sql``}`
  }

  /** The company has no base plan. */
  get without(): Condition {
    const test = this.sql`${this.base('plan_id')} is null`
    return {
      test,
      hits: this.holders(this.sql`false`, plan => plan === null),
      inOrder: (direction, most) => this.inOrder([], null, plan => plan === null, direction, most),
    }
  }

  /** The first holders of these plans, limited to these versions, in the order the companies were created. */
  private inOrder(
    planIds: readonly string[],
    versionIds: readonly string[] | null,
    counts: (plan: Assigned | null) => boolean,
    direction: SortDirection,
    most: number,
  ): Fragment {
    const { sql } = this
    const here = sql`l.environment_id = ${this.catalog.environmentId}`
    const companies = sql`${here} and l.kind = 'company'`
    const now = new Date(this.nowMs)
    const version = (row: 'l' | 'p') =>
      versionIds === null
        ? sql``
        : sql`and ${sql(`${row}.version_id`)} = any(${versionIds as string[]}::text[])`
    const first =
      direction === 'asc'
        ? sql`order by l.created_at asc, l.id asc limit ${most}`
        : sql`order by l.created_at desc, l.id desc limit ${most}`
    const afterTrial = sql`
      union all select l.id, l.created_at from listed l where ${here} and l.plan_until <= ${now}`
    const fallback = sql`
      union all (select l.id, l.created_at from listed l where ${companies} and l.plan_id is null ${first})`
    return sql`
      select h.id, h.created_at from unnest(${planIds as string[]}::text[]) p (id) cross join lateral (
        select l.id, l.created_at from listed l where ${companies} and l.plan_id = p.id ${version('l')}
          and (l.plan_until is null or l.plan_until > ${now}) ${first}) h
      union all select l.id, l.created_at from company_plans p join listed l on l.id = p.company_id
        where p.environment_id = ${this.catalog.environmentId} and p.kind = 'add_on'
          and p.plan_id = any(${planIds as string[]}::text[]) ${version('p')}
      ${counts(this.afterTrial) ? afterTrial : sql``} ${counts(this.fallback) ? fallback : sql``}`
  }

  /** The base plan or an add-on is one of these. */
  on(column: keyof Assigned, values: readonly string[]): Condition {
    const { sql } = this
    const plans = this.catalog.plans.filter(({ id, versions }) =>
      column === 'plan_id' ? values.includes(id) : versions.some(version => values.includes(version.id)),
    )
    const known = plans.flatMap(({ id, versions }) => [id, ...versions.map(version => version.id)])
    const planIds = plans.map(({ id }) => id)
    // the indexes begin with the plan id
    const ofPlans = column === 'version_id' && values.every(value => known.includes(value))
    const narrower = ofPlans ? sql`p.plan_id = any(${planIds}::text[]) and` : sql``
    const counts = (plan: Assigned | null) => plan !== null && values.includes(plan[column])
    const inOrder: Condition['inOrder'] = (direction, most) =>
      column === 'plan_id'
        ? this.inOrder(values, null, counts, direction, most)
        : this.inOrder(planIds, values, counts, direction, most)
    return {
      test: sql`(coalesce(${this.base(column)} = any(${values as string[]}::text[]), false)
        or ${this.of('add_ons')} && ${values as string[]}::text[])`,
      hits: this.holders(sql`${narrower} ${sql(`p.${column}`)} = any(${values as string[]}::text[])`, counts),
      ...((column === 'plan_id' || ofPlans) && { inOrder }),
    }
  }

  /** The base plan or an add-on is a version that is no longer published (PB-8). */
  get unpublished(): Condition {
    const { sql } = this
    const published = this.catalog.plans.flatMap(plan => plan.publishedVersionId ?? [])
    const addOn = sql`exists (
      select 1 from company_plans p where p.company_id = ${this.of('id')} and p.kind = 'add_on'
        and p.version_id <> all(${published}::text[]) offset 0)`
    return {
      test: sql`((${this.base('version_id')} is not null and ${this.base('version_id')} <> all(${published}::text[]))
        or (${this.of('add_ons')} <> '{}' and ${addOn}))`,
      hits: this.holders(
        sql`p.version_id <> all(${published}::text[])`,
        plan => plan !== null && !published.includes(plan.version_id),
      ),
    }
  }

  /** A plan of the company, or an active override, entitles it to the feature. */
  entitledTo(featureId: string): Condition {
    const { sql } = this
    const granting = this.catalog.plans
      .flatMap(plan => plan.versions)
      .filter(({ entitlements }) => entitlements.some(one => one.featureId === featureId))
    const planned = this.on(
      'version_id',
      granting.map(version => version.id),
    )
    const own = this.overriding(featureId)
    return {
      test: sql`(${planned.test} or ${own.test})`,
      hits: sql`${planned.hits!} union all ${own.hits}`,
    }
  }

  /** The company has an override of the feature that has not expired (EN-4). */
  overriding(featureId: string): Condition & { readonly hits: Fragment } {
    const { sql } = this
    const inForce = sql`o.feature_id = ${featureId}
      and (o.expires_at is null or o.expires_at > ${new Date(this.nowMs)})`
    return {
      test: sql`(${featureId} = any(${this.of('overridden')}) and exists (
        select 1 from company_overrides o where o.company_id = ${this.of('id')} and ${inForce} offset 0))`,
      apart: true,
      hits: sql`
        select o.company_id from company_overrides o
        where o.environment_id = ${this.catalog.environmentId} and ${inForce}`,
    }
  }
}

function assigned(catalog: CatalogData, planId: string | null): Assigned | null {
  const plan = catalog.plans.find(one => one.id === planId)
  return plan?.publishedVersionId ? { plan_id: plan.id, version_id: plan.publishedVersionId } : null
}
