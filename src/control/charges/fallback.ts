// Companies on the fallback plan alone: nothing that they hold names them to billing, so their use does (RA-25).
import type { Sql } from 'postgres'
import { usedCompanies } from '../../analytics/charges.js'
import { dayMs, monthStart } from '../../core/values/period.js'
import { inOrder } from '../../core/values/text-order.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { never } from './closed.js'
import { type MeteredNames, meteredOfFallback } from './facts.js'

type Stores = Pick<Services, 'clickhouse' | 'sql'>

/** Companies found at a time. */
const atOnce = 1_000
/** Events may be this late (EV-8): they become corrections of the month in which they come. */
const lateMs = 35 * dayMs

/**
 * Companies with use that the fallback plan prices, by id: events since an instant, or a trait.
 *
 * after   the id before the first.
 * source  RA-25; RA-18 for traits.
 */
export async function usingFallback(
  { sql, clickhouse }: Stores,
  environmentId: string,
  { subtypes, traits }: MeteredNames,
  sinceMs: number,
  after: string,
  limit: number,
): Promise<string[]> {
  const [users, owners] = await Promise.all([
    usedCompanies(clickhouse, environmentId, subtypes, Math.max(sinceMs, 0), after, limit),
    ownersOf(sql, environmentId, traits, after, limit),
  ])
  return [...new Set([...users, ...owners])].sort(inOrder).slice(0, limit)
}

async function ownersOf(
  sql: Sql,
  environmentId: string,
  traits: readonly string[],
  after: string,
  limit: number,
): Promise<string[]> {
  if (traits.length === 0) return []
  const rows = await sql<{ id: string }[]>`
    select distinct entity_id collate "C" as id from entity_traits
    where environment_id = ${environmentId} and entity_type = 'company' and name in ${among(sql, traits)}
      and entity_id collate "C" > ${after}
    order by 1 limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Environments in which a month has ended since companies were found. */
interface EndedMonth {
  readonly environmentId: string
  /** Null: companies were never looked for. */
  readonly knownMs: number | null
  readonly monthMs: number
}

/** The environments among these whose month is a new one. `uptoMs`: what ended at or before it is over, epoch ms. */
export async function endedMonths(
  sql: Sql,
  places: readonly { readonly id: string; readonly uptoMs: number }[],
): Promise<EndedMonth[]> {
  const months = new Map(places.map(({ id, uptoMs }) => [id, monthStart(uptoMs)]))
  const rows = await sql<{ environment_id: string; month_ms: string }[]>`
    select environment_id, month_ms from fallback_billing where environment_id in ${among(sql, [...months.keys()])}`
  const known = new Map(rows.map(row => [row.environment_id, Number(row.month_ms)]))
  return [...months].flatMap(([environmentId, monthMs]) => {
    const knownMs = known.get(environmentId) ?? null
    return knownMs !== null && knownMs >= monthMs ? [] : [{ environmentId, knownMs, monthMs }]
  })
}

/**
 * Note the companies that used, in the months that ended, anything with a price in the fallback plan. Their periods are
 * closed like the periods of companies with a plan.
 *
 * source  RA-25.
 */
export async function noteUsers(
  services: Stores & Pick<Services, 'projections'>,
  { environmentId, knownMs, monthMs }: EndedMonth,
): Promise<void> {
  const { sql, projections } = services
  const metered = await meteredOfFallback(sql, environmentId)
  if (metered.subtypes.length + metered.traits.length > 0)
    await Promise.all([projections.barrierOf('clickhouse', environmentId), projections.barrier('postgres')])
  const sinceMs = knownMs === null ? 0 : knownMs - lateMs
  for (let after = ''; ; ) {
    const ids = await usingFallback(services, environmentId, metered, sinceMs, after, atOnce)
    if (ids.length === 0) break
    after = ids.at(-1)!
    // months before the last look were closed, or cost nothing
    await sql`
      insert into billing_due (company_id, environment_id, due_ms, closed_ms)
      select id, environment_id, 0, ${knownMs}::bigint from companies
      where environment_id = ${environmentId} and id in ${among(sql, ids)}
      on conflict (company_id) do update set due_ms = 0 where billing_due.due_ms = ${never}`
  }
  await sql`
    insert into fallback_billing (environment_id, month_ms)
    select id, ${monthMs}::bigint from environments where id = ${environmentId}
    on conflict (environment_id) do update set month_ms = greatest(fallback_billing.month_ms, excluded.month_ms)`
}
