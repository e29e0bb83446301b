// Charges: the debts of companies for a billing period, line by line.
import type { BillingTiersMode } from './enums.js'

export const chargeKinds = [
  'bundle',
  'correction',
  'credit_overdraft',
  'discount',
  'overage',
  'recurring',
  'seat',
  'trial',
  'usage',
] as const
type ChargeKindName = (typeof chargeKinds)[number]

const chargePeriodStatuses = ['closed', 'closing', 'open'] as const
export type ChargePeriodStatus = (typeof chargePeriodStatuses)[number]

const chargeUnits = ['credit', 'item', 'seat', 'unit'] as const
type ChargeUnit = (typeof chargeUnits)[number]

/** A part of a line that one tier priced. */
export interface ChargeTier {
  /** The last unit of the tier, inclusive; null on the last tier. */
  up_to: number | null
  /** Units, or packages where the price sells packages. */
  units: number
  unit_price: string
  flat_amount: string
  /** Exact, in the smallest unit of the currency. */
  amount: string
}

/** The events behind a quantity. */
export interface ChargeEvents {
  count: number
  /** Their sum; negative quantities included. */
  quantity: number
  first_event_id: string | null
  last_event_id: string | null
  /** The counter before and after them: of the metric window for overage, else of the billing period. */
  counter_before: number
  counter_after: number
}

/** A window of time; the end is exclusive. */
export interface ChargeWindow {
  start_time: string
  end_time: string
}

/** A part of a period that a change in its middle is charged for. */
export interface ChargeProration {
  remaining_ms: number
  period_ms: number
}

/** One reason why a company owes money in a billing period. */
export interface ChargeLineView {
  /** Its place within the period, from 1. */
  line: number
  kind: ChargeKindName
  /** Kind of the charge that a correction, a discount or a trial is about; else the same as `kind`. */
  charge_kind: ChargeKindName
  subscription_id: string | null
  plan_id: string | null
  plan_version_id: string | null
  /** The number of the plan version. */
  plan_version: number | null
  feature_id: string | null
  credit_id: string | null
  bundle_id: string | null
  /** The coupon of a discount. */
  coupon_id: string | null
  quantity: number
  /** The same, exact: credits may be fractions. */
  quantity_decimal: string
  unit: ChargeUnit
  price_id: string | null
  /** The price of one unit, or of one package, without tiers; in the smallest unit of the currency. */
  unit_price: string | null
  package_size: number | null
  tiers_mode: BillingTiersMode | null
  tiers: ChargeTier[]
  /** In the smallest unit of the currency, rounded half up once. */
  amount: number
  /** Before it was rounded; exact, or 12 digits after the point where it is no decimal. */
  amount_decimal: string
  currency: string
  /** The time that the line is for. */
  start_time: string
  end_time: string
  /** When it falls due. */
  due_at: string
  proration: ChargeProration | null
  events: ChargeEvents | null
  /** The window in which units are billed; of a correction, the closed window that it belongs to. */
  window: ChargeWindow | null
}

export interface ChargeTotal {
  currency: string
  /** Digits after the point of an amount in the currency's main unit. */
  digits: number
  /** The sum of the rounded lines, in the smallest unit. */
  amount: number
}

/** A billing period of a company; the end is exclusive. */
export interface ChargePeriod {
  /** Null until it is closed. */
  id: string | null
  start_time: string
  end_time: string
  /** `closing`: it is over, and its lines are not yet written. */
  status: ChargePeriodStatus
  subscription_id: string | null
  closed_at: string | null
  /** SHA-256 of a closed period and its lines. */
  hash: string | null
}

/** The debt of a company for one billing period. */
export interface CompanyCharges {
  company_id: string
  period: ChargePeriod
  /** Starts of the billing periods before and after it; null where none has begun. */
  previous_period_start: string | null
  next_period_start: string | null
  /** The instant up to which lines count: the end of the period once it is over. */
  as_of: string
  lines: ChargeLineView[]
  totals: ChargeTotal[]
  /** Overage of windows that close after the period, as of now: owed in a later one. */
  accruing: ChargeLineView[]
}

/** A line of one of many companies. */
export interface CompanyChargeLine extends ChargeLineView {
  company_id: string
  period_id: string | null
  period_start: string
  period_end: string
  period_status: ChargePeriodStatus
}
