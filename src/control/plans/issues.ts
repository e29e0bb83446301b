// Issues of a plan version: they do not prevent publishing, but are probably mistakes.
import type { Sql } from 'postgres'
import type { PlanIssue } from '../../../schemas/plans.js'
import type { EntitlementRow, PlanVersionRow } from '../../catalog/plans.js'

type Entitled = EntitlementRow & { readonly feature_name: string; readonly flag_id: string | null }

/**
 * The issues of a version, first those of the plan.
 *
 * source  interface document, GET /plans/issues; the list of issues: decision.
 */
export async function issuesOf(sql: Sql, version: PlanVersionRow): Promise<PlanIssue[]> {
  const rows = await sql<Entitled[]>`
    select e.*, f.name as feature_name, g.id as flag_id
    from plan_entitlements e join features f on f.id = e.feature_id left join flags g on g.feature_id = f.id
    where e.plan_version_id = ${version.id} order by e.created_at, e.id`
  return [...billingIssues(version), ...rows.flatMap(row => entitlementIssues(version, row))]
}

function billingIssues(version: PlanVersionRow): PlanIssue[] {
  const issues: PlanIssue[] = []
  const charges = version.charge_type === 'recurring' || version.charge_type === 'one_time'
  if (charges && version.prices.length === 0)
    issues.push({
      code: 'price_missing',
      description: 'The plan charges but has no price',
      detail: version.charge_type,
    })
  if (version.is_trialable && !version.trial_days)
    issues.push({ code: 'trial_without_days', description: 'The plan can be tried but no days are set' })
  return issues
}

function entitlementIssues(version: PlanVersionRow, row: Entitled): PlanIssue[] {
  const issue = (code: string, description: string): PlanIssue => ({
    code,
    description,
    detail: row.feature_name,
    id: row.id,
  })
  const issues: PlanIssue[] = []
  if (row.flag_id === null)
    issues.push(issue('flag_missing', 'The feature has no flag that could be checked'))
  const sold = row.price_behavior !== null && row.price_behavior !== 'credit_burndown'
  if (sold && row.prices.length === 0)
    issues.push(issue('unit_price_missing', 'Units of the feature are sold but have no price'))
  if (row.price_behavior === 'tier' && row.prices.length > 0 && row.prices.every(price => !price.tiers))
    issues.push(issue('tiers_missing', 'The feature is sold by tiers but has none'))
  const priced = new Set(version.prices.map(price => price.currency))
  const missing = [...priced].filter(
    currency => row.prices.length > 0 && !row.prices.some(price => price.currency === currency),
  )
  if (missing.length > 0)
    issues.push({
      ...issue('currency_missing', 'The feature has no price in a currency of the plan'),
      detail: `${row.feature_name}: ${missing.join(', ')}`,
    })
  return issues
}
