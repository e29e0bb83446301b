// Costs and margins (BU-7).

/** Cost and margin of use in a window. Members that rows are not made of are null. Money is decimal text in whole units. */
export interface CostAndMargin {
  company_id: string | null
  company_name: string | null
  /** Null also for use that was no inference. */
  model: string | null
  user_id: string | null
  /** Begin of the UTC day. */
  day: string | null
  currency: string
  inference_count: number
  /** The costs stored with inference events. */
  cost: string
  /** Costs in other currencies. */
  other_costs: { currency: string; cost: string }[]
  credits: { credit_id: string; quantity: string }[]
  /** The credits at their price; null: a credit has no price in the currency. */
  revenue: string | null
  margin: string | null
}

export interface CostOperations {
  /**
   * Costs of models, the credits that use burned at their price, and the margin, by company, model, user or day. The last 30
   * days unless a window is named.
   */
  'GET /costs': { id: 'listCosts'; data: CostAndMargin[] }
}
