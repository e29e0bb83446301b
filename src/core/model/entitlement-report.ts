// A check's report of the entitlement it used. Types only.
import type { EntitlementValueType, MetricPeriod, MonthReset } from '../../../schemas/enums.js'
import type { Quantity } from '../values/quantity.js'

/** A check's report of the entitlement it used (EN-50). Null members are omitted on the wire. */
export interface EntitlementReport {
  readonly featureId: string
  readonly featureKey: string
  readonly valueType: EntitlementValueType
  readonly allocation: Quantity | null
  readonly usage: Quantity | null
  readonly softLimit: Quantity | null
  readonly eventName: string | null
  readonly eventSubtype: string | null
  readonly metricPeriod: MetricPeriod | null
  readonly monthReset: MonthReset | null
  readonly metricResetAtMs: number | null
  readonly creditId: string | null
  readonly consumptionRate: number | null
  readonly quantityRates: Readonly<Record<string, number>> | null
  readonly creditTotal: number | null
  readonly creditUsed: number | null
  readonly creditRemaining: number | null
  readonly creditReserved: number | null
  readonly creditSettled: number | null
  readonly warningTiers: readonly { readonly key: string; readonly value: number }[] | null
}
