// Charge lines of one company for one billing period, rated from its facts and its events.
import { chargedUsage, lateUsage } from '../../analytics/charges.js'
import { keptSinceMs } from '../../analytics/history.js'
import type { BillingFacts, UsageReader } from '../../core/rating/facts.js'
import type { BillingPeriod } from '../../core/rating/periods.js'
import { type RatedPeriod, ratePeriod, windowEnds } from '../../core/rating/rate.js'
import { type TraitValue, UsageNeeds, UsageTable } from '../../core/rating/usage.js'
import type { Services } from '../../kit/services.js'

/** The stores that rating reads. */
type RatingStores = Pick<Services, 'clickhouse' | 'clock' | 'sql'>

/**
 * Rate one period of a company. Everything acknowledged before must be in the stores.
 *
 * facts    of the company, without late events.
 * nowMs    events received at it or later do not count.
 * errors   store_away (503) while a store is down.
 * source   RA-1, RA-10, RA-12.
 */
export async function rated(
  stores: RatingStores,
  environmentId: string,
  facts: BillingFacts,
  period: BillingPeriod,
  nowMs: number,
): Promise<RatedPeriod> {
  const company = { environmentId, companyId: facts.companyId }
  const asOfMs = Math.min(nowMs, period.endMs)
  const late = await lateUsage(stores.clickhouse, company, windowEnds(facts, asOfMs), period.startMs, asOfMs)
  const known = { ...facts, late }
  return withUsage(stores, company, reader => ratePeriod(known, period, reader, nowMs))
}

/**
 * Work something out from the use of a company, in two passes: the first tells which use is read.
 *
 * errors  store_away (503) while a store that is read is down.
 */
export async function withUsage<T>(
  { sql, clickhouse, clock }: RatingStores,
  company: { readonly environmentId: string; readonly companyId: string },
  work: (reader: UsageReader) => T,
): Promise<T> {
  const needs = new UsageNeeds()
  const first = work(needs)
  const { bounds, received, subtypes, traits } = needs
  if (subtypes.length === 0 && traits.length === 0) return first
  const [pieces, values] = await Promise.all([
    chargedUsage(clickhouse, company, subtypes, bounds, received, keptSinceMs(clock.wall())),
    traitValues({ sql }, company.companyId, traits),
  ])
  return work(new UsageTable(pieces, values))
}

/** Whole values that traits of a company had before instants; what is no number counts as none. source: RA-18 */
async function traitValues(
  { sql }: Pick<Services, 'sql'>,
  companyId: string,
  needs: UsageNeeds['traits'],
): Promise<readonly TraitValue[]> {
  if (needs.length === 0) return []
  const names = needs.map(one => one.name)
  const instants = needs.map(one => one.beforeMs)
  const rows = await sql<{ name: string; before_ms: string; value: string | null }[]>`
    select asked.name, asked.before_ms, (
      select value from (
        select place, at_ms, value from entity_history
        where entity_id = ${companyId} and slot = 'trait:' || asked.name
        union all
        select place, at_ms, value from gone_traits where company_id = ${companyId} and name = asked.name) as known
      where at_ms < asked.before_ms order by place desc limit 1) as value
    from unnest(${names}::text[], ${instants}::bigint[]) as asked (name, before_ms)`
  return rows.flatMap(({ name, before_ms: before, value }) => {
    const whole = /^-?\d+/.exec(value?.trim() ?? '')?.[0]
    return whole === undefined ? [] : [{ name, beforeMs: Number(before), value: BigInt(whole) }]
  })
}
