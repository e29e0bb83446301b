// The result of a check in the interface's own members, and its source.

import type { CheckResult } from '../../../src/core/flags/flag.js'
import type { EntitlementReport } from '../../../src/core/model/entitlement-report.js'
import type { Quantity } from '../../../src/core/values/quantity.js'

/** The source of a result. */
export type Source = 'local' | 'http' | 'default' | 'fixed'

/** The entitlement a check rests on. Absent members do not apply. */
export interface Entitlement {
  readonly feature_id: string
  readonly feature_key: string
  readonly value_type: string
  readonly allocation?: number
  readonly usage?: number
  readonly soft_limit?: number
  readonly event_name?: string
  readonly event_subtype?: string
  readonly metric_period?: string
  readonly month_reset?: string
  readonly metric_reset_at?: string
  readonly credit_id?: string
  readonly consumption_rate?: number
  readonly credit_total?: number
  readonly credit_used?: number
  readonly credit_remaining?: number
  readonly credit_reserved?: number
  readonly credit_settled?: number
  readonly quantity_rates?: Readonly<Record<string, number>>
  readonly warning_tiers?: readonly { readonly key: string; readonly value: number }[]
}

/** The result of a check, as in the answer of `POST /flags/{key}/check`. */
export interface Check {
  readonly flag: string
  readonly flag_id: string | null
  readonly value: boolean
  readonly reason: string
  readonly rule_id: string | null
  readonly rule_type: string | null
  readonly company_id: string | null
  readonly user_id: string | null
  readonly error: string | null
  readonly feature_allocation: number | null
  readonly feature_usage: number | null
  readonly feature_usage_event: string | null
  readonly feature_usage_period: string | null
  readonly feature_usage_reset_at: string | null
  readonly entitlement?: Entitlement
}

/** The same with its source. */
export interface Checked extends Check {
  readonly source: Source
  /** Computed from data of a lost connection. Absent: false. */
  readonly stale?: boolean
}

/** The interface uses JSON numbers. Values beyond their precision are rounded as JSON.parse rounds them. */
const number = (quantity: Quantity | null): number | null => (quantity === null ? null : Number(quantity))
const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** A result of the core in the interface's shape: equal to JSON.parse of `writeCheck`, without the text. */
export function checkOf(checked: CheckResult): Check {
  const made: Check = {
    flag: checked.flag,
    flag_id: checked.flagId,
    value: checked.value,
    reason: checked.reason,
    rule_id: checked.ruleId,
    rule_type: checked.ruleType,
    company_id: checked.companyId,
    user_id: checked.userId,
    error: checked.error,
    feature_allocation: checked.featureUsage === null ? null : number(checked.featureAllocation),
    feature_usage: number(checked.featureUsage),
    feature_usage_event: checked.featureUsage === null ? null : checked.featureUsageEvent,
    feature_usage_period: checked.featureUsage === null ? null : checked.featureUsagePeriod,
    feature_usage_reset_at: checked.featureUsage === null ? null : instant(checked.featureUsageResetAtMs),
  }
  return checked.entitlement === null ? made : { ...made, entitlement: entitlementOf(checked.entitlement) }
}

function entitlementOf(report: EntitlementReport): Entitlement {
  const made: Record<string, unknown> = {
    feature_id: report.featureId,
    feature_key: report.featureKey,
    value_type: report.valueType,
  }
  const add = (name: string, value: unknown) => {
    if (value !== null) made[name] = value
  }
  add('allocation', number(report.allocation))
  add('usage', number(report.usage))
  add('soft_limit', number(report.softLimit))
  add('event_name', report.eventName)
  add('event_subtype', report.eventSubtype)
  add('metric_period', report.metricPeriod)
  add('month_reset', report.monthReset)
  add('metric_reset_at', instant(report.metricResetAtMs))
  if (report.creditId !== null) {
    made.credit_id = report.creditId
    made.consumption_rate = report.consumptionRate
    made.credit_total = report.creditTotal
    made.credit_used = report.creditUsed
    made.credit_remaining = report.creditRemaining
    made.credit_reserved = report.creditReserved
    made.credit_settled = report.creditSettled
    add('quantity_rates', report.quantityRates)
  }
  add('warning_tiers', report.warningTiers?.map(({ key, value }) => ({ key, value: Number(value) })) ?? null)
  return made as unknown as Entitlement
}
