// Charges of companies for a period: written ones as they are, others rated now.
import type { ChargeLineView, CompanyCharges } from '../../../schemas/charges.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import type { BillingFacts } from '../../core/rating/facts.js'
import type { ChargeLine } from '../../core/rating/line.js'
import type { BillingPeriod } from '../../core/rating/periods.js'
import { isPriced, isSold, periodsOf } from '../../core/rating/rate.js'
import { amountToDecimal, decodeAmount } from '../../core/values/amount.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { inParallel } from '../../turns/in-parallel.js'
import { closedCharges, closedView } from './closed.js'
import { billingFacts, type Debt } from './facts.js'
import { rated } from './rated.js'
import { lineView, periodView, totalViews } from './view.js'

/** The period that is asked for: the running one, the one before, or one that begins at an instant (epoch ms). */
export type WantedPeriod = 'current' | 'previous' | number

/** Where charges are read, and when. */
export interface ChargesPlace {
  readonly services: Services
  readonly environment: { readonly id: string }
  readonly nowMs: number
}

/** Companies rated at the same time. */
const atOnce = 4

/** Wait until both stores have what was acknowledged. */
export async function awaitStores({ services, environment }: ChargesPlace): Promise<void> {
  const { projections } = services
  await Promise.all([projections.barrierOf('clickhouse', environment.id), projections.barrier('postgres')])
}

/**
 * Credits that companies owe at present, by company. The debt of a company that is gone was charged with its deletion.
 *
 * source  RA-17.
 */
export async function debtsOf(
  { services, environment, nowMs }: ChargesPlace,
  companyIds: readonly string[],
): Promise<Map<string, readonly Debt[]>> {
  const { sql, directory, shards } = services
  const overdrawn = await sql<{ company_id: string }[]>`
    select distinct company_id from credit_grants
    where company_id in ${among(sql, companyIds)} and reason = 'postpaid_overdraft'`
  const debts = new Map<string, readonly Debt[]>()
  const ids = overdrawn.map(one => one.company_id).filter(id => directory.has(environment.id, id))
  for (const id of ids) {
    const question = { type: 'describe' } as const
    const { reply } = await shards.ask<CompanyDescription | null>('c', environment.id, id, question, nowMs)
    const owed = (reply?.state.credits ?? []).flatMap(stored => {
      if (stored.overdraft === null) return []
      const owed = -decodeAmount(stored.overdraft.remaining)
      // owed at the end of this millisecond: what ended until now was charged
      return owed > 0n ? [{ creditId: stored.creditId, credits: amountToDecimal(owed), atMs: nowMs + 1 }] : []
    })
    if (owed.length > 0) debts.set(id, owed)
  }
  return debts
}

/**
 * Charges of companies for one period each; a company without such a period is left out.
 *
 * Wait with `awaitStores` before. Companies are rated a few at a time, in the order of the ids.
 * source  RA-1, RA-10, RA-20.
 */
export async function chargesOf(
  place: ChargesPlace,
  companyIds: readonly string[],
  wanted: WantedPeriod,
  debts: ReadonlyMap<string, readonly Debt[]>,
): Promise<CompanyCharges[]> {
  const { services, environment } = place
  const facts = await billingFacts(services.sql, environment.id, companyIds, debts)
  const found = await inParallel(companyIds, atOnce, id => chargesIn(place, facts.get(id)!, wanted))
  return found.filter(one => one !== null)
}

/** The period that is asked for, of those that have begun; null: the company has none such. */
function wantedPeriod(periods: readonly BillingPeriod[], wanted: WantedPeriod): BillingPeriod | null {
  if (typeof wanted === 'number') return periods.find(one => one.startMs === wanted) ?? null
  const last = periods.at(-1) ?? null
  if (wanted === 'current') return last
  return periods.at(-2) ?? null
}

async function chargesIn(
  { services, environment, nowMs }: ChargesPlace,
  facts: BillingFacts,
  wanted: WantedPeriod,
): Promise<CompanyCharges | null> {
  const { companyId } = facts
  const periods = periodsOf(facts, nowMs).filter(one => one.startMs <= nowMs)
  const period = wantedPeriod(periods, wanted)
  const startMs = period?.startMs ?? (typeof wanted === 'number' ? wanted : null)
  if (startMs === null) return null
  const beside = {
    previous_period_start: isoTimeOrNull(periods.findLast(one => one.startMs < startMs)?.startMs ?? null),
    next_period_start: isoTimeOrNull(periods.find(one => one.startMs > startMs)?.startMs ?? null),
  }
  const isOver = period === null || period.endMs <= nowMs
  const closed = isOver ? await closedCharges(services.sql, companyId, startMs) : null
  if (closed !== null)
    return {
      company_id: companyId,
      period: closedView(closed.row),
      ...beside,
      as_of: isoTime(Number(closed.row.end_ms)),
      lines: [...closed.lines],
      totals: closed.row.totals,
      accruing: [],
    }
  if (period === null) return null
  // what was received in this very millisecond counts in an open period
  const { lines, accruing } = isPriced(facts)
    ? await rated(services, environment.id, facts, period, isOver ? nowMs : nowMs + 1)
    : { lines: [], accruing: [] }
  const shown = lineViews(lines)
  return {
    company_id: companyId,
    period: periodView(period, !isOver ? 'open' : isSold(facts) || lines.length > 0 ? 'closing' : 'closed'),
    ...beside,
    as_of: isoTime(Math.min(nowMs, period.endMs)),
    lines: shown,
    totals: totalViews(shown),
    accruing: lineViews(accruing),
  }
}

export const lineViews = (lines: readonly ChargeLine[]): ChargeLineView[] =>
  lines.map((line, i) => lineView(line, i + 1))
