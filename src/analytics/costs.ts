// Reads the costs of use and the credits it burned from ClickHouse. Instants are epoch ms.
import { ask, type HistoryStore } from './history.js'

/** Members that rows of costs may be made of. */
export const costParts = ['company', 'model', 'user', 'day'] as const
export type CostPart = (typeof costParts)[number]

/** Most parts of an answer: one for each currency and credit of a row. */
export const costRowsMax = 10_000

interface CostFilter {
  readonly fromMs: number
  readonly toMs: number
  readonly companyId?: string | undefined
  readonly userId?: string | undefined
  readonly model?: string | undefined
  readonly by: readonly CostPart[]
}

/** The cost in one currency, or the credits of one kind. Texts that rows are not made of are ''; amounts decimal text. */
export interface CostRow {
  readonly companyId: string
  readonly model: string
  readonly userId: string
  /** 0: the rows are not by day. */
  readonly dayMs: number
  readonly currency: string
  readonly cost: string
  readonly creditId: string
  readonly credits: string
  readonly events: number
}

/** Costs of inference events and credits of all use in a window, by parts. source: BU-7 */
export async function costs(
  store: HistoryStore,
  environmentId: string,
  filter: CostFilter,
): Promise<CostRow[]> {
  const { by } = filter
  const ofModels = by.includes('model') || filter.model !== undefined
  const rows = await ask<{
    company_id: string
    model: string
    user_id: string
    day: number
    currency: string
    cost: string
    credit_id: string
    credits: string
    events: number | string
  }>(store, ofModels ? 'costs_of_models' : 'costs', {
    environment_id: environmentId,
    from_ms: filter.fromMs,
    to_ms: filter.toMs,
    company_id: filter.companyId,
    user_id: filter.userId,
    model: filter.model,
    by_model: ofModels ? by.includes('model') : undefined,
    by_company: by.includes('company'),
    by_user: by.includes('user'),
    by_day: by.includes('day'),
    limit: costRowsMax,
  })
  return rows.map(row => ({
    companyId: row.company_id,
    model: row.model,
    userId: row.user_id,
    dayMs: row.day * 1_000,
    currency: row.currency,
    cost: row.cost,
    creditId: row.credit_id,
    credits: row.credits,
    events: Number(row.events),
  }))
}
