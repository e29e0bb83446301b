// Charge lines of one company for one billing period, rated from its facts and its events.
import { chargedUsage, lateUsage } from '../../analytics/charges.js'
import type { BillingFacts, UsageReader } from '../../core/rating/facts.js'
import type { BillingPeriod } from '../../core/rating/periods.js'
import { type RatedPeriod, ratePeriod, windowEnds } from '../../core/rating/rate.js'
import { UsageNeeds, UsageTable } from '../../core/rating/usage.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'

/** The stores that rating reads. */
type RatingStores = Pick<Services, 'clickhouse' | 'sql'>

/**
 * Rate one period of a company. Everything acknowledged before must be in the stores.
 *
 * facts    of the company, without late events.
 * nowMs    events received at it or later do not count.
 * errors   store_away (503) while a store is down.
 * source   RA-1, RA-10, RA-12.
 */
export async function rated(
  { sql, clickhouse }: RatingStores,
  environmentId: string,
  facts: BillingFacts,
  period: BillingPeriod,
  nowMs: number,
): Promise<RatedPeriod> {
  const company = { environmentId, companyId: facts.companyId }
  const asOfMs = Math.min(nowMs, period.endMs)
  const late = await lateUsage(clickhouse, company, windowEnds(facts, asOfMs), period.startMs, asOfMs)
  const known = { ...facts, late }
  return withUsage({ sql, clickhouse }, company, reader => ratePeriod(known, period, reader, nowMs))
}

/**
 * Work something out from the use of a company, in two passes: the first tells which use is read.
 *
 * errors  store_away (503) while a store that is read is down.
 */
export async function withUsage<T>(
  { sql, clickhouse }: RatingStores,
  company: { readonly environmentId: string; readonly companyId: string },
  work: (reader: UsageReader) => T,
): Promise<T> {
  const needs = new UsageNeeds()
  const first = work(needs)
  const { bounds, received, subtypes, traits } = needs
  if (subtypes.length === 0 && traits.size === 0) return first
  const [pieces, values] = await Promise.all([
    chargedUsage(clickhouse, company, subtypes, bounds, received),
    traitValues({ sql }, company.companyId, [...traits]),
  ])
  return work(new UsageTable(pieces, values))
}

/** Whole values of traits of a company; what is no number counts as none. source: RA-18 */
async function traitValues(
  { sql }: Pick<Services, 'sql'>,
  companyId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  if (names.length === 0) return new Map()
  const rows = await sql<{ name: string; value: string }[]>`
    select name, value from entity_traits where entity_id = ${companyId} and name in ${among(sql, names)}`
  return new Map(
    rows.flatMap(({ name, value }) => {
      const whole = /^-?\d+/.exec(value.trim())?.[0]
      return whole === undefined ? [] : [[name, BigInt(whole)] as const]
    }),
  )
}
