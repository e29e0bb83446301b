// Exports: events, usage by hour and the credit ledger, written by ClickHouse itself and passed on page by page.
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../call.js'
import { datetime, oneOf, type QueryOf, query, required, string } from '../query.js'
import { type Exported, exports, type Place, pageEnd, pageRows, type Selection } from './statements.js'

const formats = {
  csv: { type: 'text/csv; charset=utf-8', first: 'CSVWithNames', next: 'CSV' },
  ndjson: { type: 'application/x-ndjson', first: 'JSONEachRow', next: 'JSONEachRow' },
  parquet: { type: 'application/vnd.apache.parquet', first: 'Parquet', next: 'Parquet' },
} as const

const rowsPerPage = 20_000
/** A Parquet file is one piece that ClickHouse holds until it is whole. */
const parquetRowsMax = 2_000_000
/** The last instant a DateTime holds. */
const endOfTimeMs = Date.UTC(2106, 1, 7)

const shape = {
  format: required(oneOf(['csv', 'ndjson', 'parquet'])),
  from: datetime,
  to: datetime,
  company_id: string,
} as const
export const exportQuery = query(shape)
type ExportCall = Call<undefined, QueryOf<typeof shape>>

/** GET /export/events: as stored (EV-70). */
export const exportEvents = (call: ExportCall): Promise<Answer> => exported(call, exports.events)

/** GET /export/usage: sums per company, event and UTC hour (US-1). */
export const exportUsage = (call: ExportCall): Promise<Answer> => exported(call, exports.usage)

/** GET /export/ledger: every movement of credits (CR-86). */
export const exportLedger = (call: ExportCall): Promise<Answer> => exported(call, exports.ledger)

/**
 * Everything acknowledged before the request, sorted by company and time.
 *
 * query    `from` inclusive and `to` exclusive, by the time of the rows; of one company with `company_id`.
 * returns  the file itself, without an envelope. A failure on the way cuts the connection: no end, no whole.
 * errors   400 for a Parquet file of more than 2 000 000 rows; 503 while ClickHouse is away.
 * source   decision
 */
async function exported(call: ExportCall, one: Exported): Promise<Answer> {
  const { services, environment, query } = call
  const selection: Selection = {
    environmentId: environment.id,
    companyId: query.company_id ?? '',
    fromMs: query.from ?? 0,
    toMs: query.to ?? endOfTimeMs,
  }
  await services.projections.barrier('clickhouse')
  const format = formats[query.format]
  if (query.format !== 'parquet')
    return { stream: { type: format.type, pieces: pages(call, one, selection) } }
  const all = pageRows(one, selection, null, null)
  const [count] = await services.clickhouse.select<{ rows: number }>(
    `SELECT count() AS rows FROM (${all.sql})`,
    all.parameters,
  )
  if (count!.rows > parquetRowsMax)
    throw new ServiceError(
      'query_invalid',
      `${count!.rows} rows: a Parquet file holds at most ${parquetRowsMax}; narrow it with from, to or company_id`,
    )
  const pieces = services.clickhouse.bytes(`${all.sql} FORMAT Parquet`, all.parameters)
  return { stream: { type: format.type, pieces } }
}

/** A page's end is looked up first, so that the page itself can go by as bytes nobody reads. */
async function* pages(
  { services, query }: ExportCall,
  one: Exported,
  selection: Selection,
): AsyncGenerator<Buffer> {
  const { clickhouse } = services
  const { first, next } = formats[query.format]
  let after: Place = null
  do {
    const found: Readonly<Record<string, string | number>>[] = await endOf(after)
    const upTo: Place = found[0] === undefined ? null : one.key.map((_, index) => found[0]![`k${index}`]!)
    const rows = pageRows(one, selection, after, upTo)
    yield* clickhouse.bytes(`${rows.sql} FORMAT ${after === null ? first : next}`, rows.parameters)
    after = upTo
  } while (after !== null)

  function endOf(place: Place) {
    const { sql, parameters } = pageEnd(one, selection, place, rowsPerPage)
    return clickhouse.select<Record<string, string | number>>(sql, parameters)
  }
}
