// Closed billing periods as they were written: read, and written once.
import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import type { ChargeLineView, ChargePeriod, ChargeTotal } from '../../../schemas/charges.js'
import type { BillingPeriod } from '../../core/rating/periods.js'
import { derivedId } from '../../core/values/id.js'
import { jsonText, parseExactly } from '../../json.js'
import { among } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import { totalViews } from './view.js'

/** A later instant than any: a company that is gone, or pays for nothing, is looked at no more. */
export const never = Number.MAX_SAFE_INTEGER

/** A row of billing_periods. */
export interface ClosedRow {
  readonly id: string
  readonly environment_id: string
  readonly company_id: string
  readonly subscription_id: string | null
  readonly start_ms: string
  readonly end_ms: string
  readonly line_count: number
  readonly totals: ChargeTotal[]
  readonly hash: string
  readonly closed_at: Date
}

/** A closed period with its lines. */
interface ClosedCharges {
  readonly row: ClosedRow
  readonly lines: readonly ChargeLineView[]
}

/** Members of a line that have 64 bits. */
const longMembers: ReadonlySet<string> = new Set([
  'quantity',
  'up_to',
  'units',
  'amount',
  'counter_before',
  'counter_after',
])

/** A line from its stored text. */
export const storedLine = (body: string): ChargeLineView => parseExactly(body, longMembers) as ChargeLineView

/** Id of a period: the same however often it is closed. */
export function periodId(companyId: string, startMs: number): string {
  return derivedId('bper_', companyId, String(startMs))
}

/** Closed periods of companies, by `company id start`. `startMs` null: all. */
async function closedRows(
  sql: Sql,
  companyIds: readonly string[],
  startMs: number | null,
): Promise<ClosedRow[]> {
  return sql<ClosedRow[]>`
    select * from billing_periods where company_id in ${among(sql, companyIds)}
      ${startMs === null ? sql`` : sql`and start_ms = ${startMs}`}
    order by company_id, start_ms`
}

/** The closed period of a company that begins at an instant, with its lines; null: there is none. */
export async function closedCharges(
  sql: Sql,
  companyId: string,
  startMs: number,
): Promise<ClosedCharges | null> {
  const [row] = await closedRows(sql, [companyId], startMs)
  if (row === undefined) return null
  const lines = await sql<{ body: string }[]>`
    select body from charge_lines where period_id = ${row.id} order by line`
  return { row, lines: lines.map(({ body }) => storedLine(body)) }
}

export function closedView(row: ClosedRow): ChargePeriod {
  return {
    id: row.id,
    start_time: isoTime(Number(row.start_ms)),
    end_time: isoTime(Number(row.end_ms)),
    status: 'closed',
    subscription_id: row.subscription_id,
    closed_at: isoTime(row.closed_at.getTime()),
    hash: row.hash,
  }
}

/** The hash of a closed period: over company, bounds, and the texts of its lines in order, each ended by a line feed. source: RA-20 */
export function hashOf(
  companyId: string,
  { startMs, endMs }: BillingPeriod,
  bodies: readonly string[],
): string {
  const hash = createHash('sha256')
  hash.update(`${companyId} ${startMs} ${endMs}\n`)
  for (const body of bodies) hash.update(`${body}\n`)
  return hash.digest('hex')
}

/**
 * Write a closed period and its lines, in the transaction of `tx`.
 *
 * returns  the row; null where the period was closed before: nothing is written then.
 * source   RA-20.
 */
export async function writeClosed(
  tx: Sql,
  environmentId: string,
  companyId: string,
  period: BillingPeriod,
  lines: readonly ChargeLineView[],
  now: Date,
): Promise<ClosedRow | null> {
  const bodies = lines.map(line => jsonText(line))
  const id = periodId(companyId, period.startMs)
  const [row] = await tx<ClosedRow[]>`
    insert into billing_periods (id, environment_id, company_id, subscription_id, start_ms, end_ms, line_count, totals,
      hash, closed_at)
    values (${id}, ${environmentId}, ${companyId}, ${period.subscriptionId}, ${period.startMs}, ${period.endMs},
      ${lines.length}, ${jsonText(totalViews(lines))}::text::jsonb, ${hashOf(companyId, period, bodies)}, ${now})
    on conflict do nothing returning *`
  if (row === undefined) return null
  const rows = lines.map((line, i) => ({
    period_id: id,
    line: line.line,
    environment_id: environmentId,
    company_id: companyId,
    period_start_ms: period.startMs,
    kind: line.kind,
    currency: line.currency,
    body: bodies[i]!,
  }))
  for (let at = 0; at < rows.length; at += 1_000)
    await tx`insert into charge_lines ${tx(rows.slice(at, at + 1_000))}`
  return row
}
