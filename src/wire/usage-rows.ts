// Rows of feature usage, from a company's actor to the HTTP thread: one text, since a structured clone costs more the more
// values there are. The actor's thread writes each row in its wire form, up to the definitions that are shown beside it.

import { usable } from '../core/credits/burn-order.js'
import type { FeatureUsage } from '../core/live/feature.js'
import type { Company, OverrideState } from '../core/model/company-state.js'
import type { CatalogData } from '../core/model/definitions.js'
import { amountToNumber } from '../core/values/amount.js'
import { isoTime } from '../core/values/instant.js'
import type { Quantity } from '../core/values/quantity.js'
import { quotedName } from '../core/values/quoted.js'

/** One row as the HTTP thread gets it. */
export interface UsageRow {
  readonly featureId: string
  /** Id of the plan entitlement or of the override. */
  readonly entitlementId: string
  /** Null for an entitlement of a plan. */
  readonly override: OverrideState | null
  /** Null: not paid by credits. */
  readonly creditId: string | null
  /** JSON of the row's own members, without the closing brace: definitions follow. */
  readonly json: string
}

/** JSON has neither: they separate the parts of a row, and rows. */
const partEnd = '\t'
const rowEnd = '\n'

/** The rows of a company at an instant (epoch ms). source: US-5, US-6 */
export function packUsage(
  rows: readonly FeatureUsage[],
  company: Company,
  catalog: CatalogData,
  atMs: number,
): string {
  const grants = new Map<string, string>()
  const grantsOf = (creditId: string): string => {
    let json = grants.get(creditId)
    if (json === undefined) {
      json = grantsJson(company, creditId, catalog, atMs)
      grants.set(creditId, json)
    }
    return json
  }
  let packed = ''
  for (const row of rows) {
    const credits = row.creditId === null ? uncredited : grantsOf(row.creditId)
    const found = company.overrides.find(one => one.id === row.entitlementId) ?? null
    const { featureId, entitlementId, override, creditId, json } = usageRowOf(row, found, credits)
    const stored = override === null ? '' : JSON.stringify(override)
    packed +=
      (packed === '' ? '' : rowEnd) +
      `${featureId}${partEnd}${entitlementId}${partEnd}${stored}${partEnd}${creditId ?? ''}${partEnd}${json}`
  }
  return packed
}

/** Members about grants of a row that is not paid by credits. */
export const uncredited = ',"credit_grant_reason":null'

/**
 * A row in the form in which it crosses.
 *
 * override  null for an entitlement of a plan.
 * credits   its members about grants, as JSON with a comma before them.
 */
export function usageRowOf(row: FeatureUsage, override: OverrideState | null, credits: string): UsageRow {
  const { featureId, entitlementId, creditId } = row
  return { featureId, entitlementId, override, creditId, json: rowJson(row) + credits }
}

/** The rows that `packUsage` wrote. */
export function unpackUsage(packed: string): UsageRow[] {
  if (packed === '') return []
  return packed.split(rowEnd).map(row => {
    const [featureId, entitlementId, override, creditId, json] = row.split(partEnd)
    return {
      featureId: featureId!,
      entitlementId: entitlementId!,
      override: override === '' ? null : (JSON.parse(override!) as OverrideState),
      creditId: creditId === '' ? null : creditId!,
      json: json!,
    }
  })
}

/** The figures of a row, without its last brace. source: US-5…7 */
function rowJson(row: FeatureUsage): string {
  const source = row.entitlementType === 'company_override' ? 'company_override' : 'plan'
  return (
    `{"access":${row.access},"allocation":${row.allocation},"allocation_type":"${row.allocationType}",` +
    `"entitlement_id":${quotedName(row.entitlementId)},"entitlement_type":"${row.entitlementType}",` +
    `"entitlement_source":"${source}","entitlement_expiration_date":${instant(row.entitlementExpiresAtMs)},` +
    `"has_valid_allocation":${row.hasValidAllocation},"is_unlimited":${row.isUnlimited},"usage":${row.usage},` +
    `"soft_limit":${row.softLimit},"effective_limit":${row.effectiveLimit},` +
    `"effective_price":${number(row.effectivePrice)},"percent_used":${number(row.percentUsed)},` +
    `"overuse":${number(row.overuse)},"price_behavior":${quotedOrNull(row.priceBehavior)},` +
    `"period":${quotedOrNull(row.period)},"month_reset":${quotedOrNull(row.monthReset)},` +
    `"metric_reset_at":${instant(row.metricResetAtMs)},` +
    `"credit_consumption_rate":${number(row.creditConsumptionRate)},` +
    `"credit_remaining":${number(row.creditRemaining)},"credit_used":${number(row.creditUsed)},` +
    `"credit_total":${number(row.creditTotal)}`
  )
}

/** The company's grants of one credit that can be drawn from now, oldest first, with their sums by reason. */
function grantsJson(company: Company, creditId: string, catalog: CatalogData, atMs: number): string {
  const icon = JSON.stringify(catalog.credits.find(credit => credit.id === creditId)?.icon ?? null)
  const counts: Record<string, number> = {}
  let first: string | null = null
  let details = ''
  for (const grant of company.credits.get(creditId)?.grants ?? []) {
    if (!usable(grant, atMs)) continue
    const quantity = amountToNumber(grant.quantity)
    first ??= grant.reason
    counts[grant.reason] = (counts[grant.reason] ?? 0) + quantity
    const comma = details === '' ? '' : ','
    details += `${comma}{"grant_reason":"${grant.reason}","quantity":${number(quantity)},"expires_at":${instant(grant.expiresAtMs)},"credit_type_icon":${icon}}`
  }
  return `,"credit_grant_reason":${quotedOrNull(first)},"credit_grant_counts":${JSON.stringify(counts)},"credit_grant_details":[${details}]`
}

/** As JSON.stringify writes it. */
const number = (value: Quantity | null): string =>
  typeof value === 'bigint' || Number.isFinite(value) ? String(value) : 'null'

/** A word of an enumeration. */
const quotedOrNull = (word: string | null): string => (word === null ? 'null' : `"${word}"`)

const instant = (ms: number | null): string => (ms === null ? 'null' : `"${isoTime(ms)}"`)
