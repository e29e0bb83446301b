// Usage rows in their wire form: the figures as the company's actor wrote them, and the stored feature, plan and override.
import type { CompanyOverride, PlanEntitlement } from '../../../schemas/entitlements.js'
import type { FeatureInPlan } from '../../../schemas/plans.js'
import type { CreditUsageAggregation, FeatureUsage } from '../../../schemas/usage.js'
import { asWritten, jsonText, parseExactly } from '../../json.js'
import type { UsageRow } from '../../wire/usage-rows.js'

/** Definitions shown beside the figures, by id. */
export interface Surroundings {
  readonly features: ReadonlyMap<string, Shared<Pick<FeatureUsage, 'feature'>>>
  readonly entitlements: ReadonlyMap<string, Shared<PlanMembers>>
  readonly overrides: ReadonlyMap<string, CompanyOverride>
}

/** Credits a company consumed, by credit id; empty unless they are asked for. */
export type Aggregations = ReadonlyMap<string, CreditUsageAggregation>

/** Members that many answers repeat, written once: as a view's members, and as the bytes that end a longer object. */
export interface Shared<Members> {
  readonly members: Members
  /** Each member with a comma before it. */
  readonly bytes: Uint8Array
}

/** These members, written out; undefined ones are left out. */
export function shared<Members extends object>(members: Members): Shared<Members> {
  const texts = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, jsonText(value)] as const],
  )
  return {
    members: Object.fromEntries(texts.map(([name, text]) => [name, asWritten(text)])) as Members,
    bytes: Buffer.from(texts.map(([name, text]) => `,${JSON.stringify(name)}:${text}`).join('')),
  }
}

/** The JSON of a list of rows, in pieces: definitions are most of it, and not copied into a longer text. */
export function usagePieces(
  rows: readonly UsageRow[],
  { features, entitlements, overrides }: Surroundings,
  aggregations: Aggregations,
): (string | Uint8Array)[] {
  const pieces: (string | Uint8Array)[] = []
  let text = '['
  for (const row of rows) {
    text += row.json
    const aggregation = aggregations.get(row.creditId ?? '')
    if (aggregation) text += `,"credit_usage_aggregation":${JSON.stringify(aggregation)}`
    const override = overrides.get(row.entitlementId)
    pieces.push(text)
    text = ''
    const feature = features.get(row.featureId)
    if (feature) pieces.push(feature.bytes)
    const entitlement = entitlements.get(row.entitlementId)
    if (entitlement) pieces.push(entitlement.bytes)
    if (override) text += `,"company_override":${jsonText(override)}`
    text += '},'
  }
  pieces.push(rows.length === 0 ? '[]' : `${text.slice(0, -1)}]`)
  return pieces
}

/** One row as members of another view. source: US-5…7 */
export function usageView(row: UsageRow, { features, entitlements, overrides }: Surroundings): FeatureUsage {
  const override = overrides.get(row.entitlementId)
  return {
    ...(parseExactly(`${row.json}}`) as FeatureUsage),
    ...features.get(row.featureId)?.members,
    ...entitlements.get(row.entitlementId)?.members,
    ...(override && { company_override: override }),
  }
}

/** The member of a usage row that repeats its feature. */
export const featureMember = (feature: FeatureInPlan): Pick<FeatureUsage, 'feature'> => ({ feature })

/** Members of a usage row that repeat its plan entitlement. */
type PlanMembers = Pick<
  FeatureUsage,
  | 'plan_entitlement'
  | 'plan'
  | 'monthly_usage_based_price'
  | 'quarterly_usage_based_price'
  | 'yearly_usage_based_price'
>

export function planMembers(entitlement: PlanEntitlement): PlanMembers {
  const { plan, metered_monthly_price, metered_quarterly_price, metered_yearly_price } = entitlement
  return {
    plan_entitlement: entitlement,
    ...(plan && { plan }),
    ...(metered_monthly_price && { monthly_usage_based_price: metered_monthly_price }),
    ...(metered_quarterly_price && { quarterly_usage_based_price: metered_quarterly_price }),
    ...(metered_yearly_price && { yearly_usage_based_price: metered_yearly_price }),
  }
}
