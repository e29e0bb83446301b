// Exports of events, hourly usage and the credit ledger. ClickHouse formats the pages; they are streamed unchanged.
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../../kit/call.js'
import { boolean, datetime, oneOf, type QueryOf, query, required, string } from '../../kit/query.js'
import { type Exported, exports, type Place, pageEnd, pageRows, type Selection } from './statements.js'

const formats = {
  csv: { type: 'text/csv; charset=utf-8', first: 'CSVWithNames', next: 'CSV' },
  ndjson: { type: 'application/x-ndjson', first: 'JSONEachRow', next: 'JSONEachRow' },
  parquet: { type: 'application/vnd.apache.parquet', first: 'Parquet', next: 'Parquet' },
} as const

/** Cells without a value are empty: spreadsheets show `\\N` as it is. */
const emptyNulls = "SETTINGS format_csv_null_representation = ''"

const rowsPerPage = 20_000
/** ClickHouse error code: the result exceeds max_result_bytes. */
const tooLarge = '396'
/** Concurrent exports per environment; the time after which a stalled export no longer counts. */
const atOnceMax = 2
const idleMs = 60_000
const running = new Map<string, Set<{ touchedMs: number }>>()
/** A Parquet file is a single piece that ClickHouse builds in memory. */
const parquetRowsMax = 2_000_000
/** The last instant of ClickHouse's DateTime. */
const endOfTimeMs = Date.UTC(2106, 1, 7)

const shape = {
  format: required(oneOf(['csv', 'ndjson', 'parquet'])),
  from: datetime,
  to: datetime,
  company_id: string,
  raw: boolean,
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
 * Stream everything acknowledged before the request, sorted by company and time.
 *
 * query    `from` inclusive and `to` exclusive, by the rows' time; `company_id` selects one company.
 * returns  the file without an envelope. A failure midway cuts the connection, so a complete response is a complete
 *          file.
 * errors   404 for a company that is not there and has no rows; 400 for a Parquet file of more than 2 000 000 rows; 503 while ClickHouse is down.
 * source   decision.
 */
async function exported(call: ExportCall, one: Exported): Promise<Answer> {
  const { services, environment, query } = call
  const selection: Selection = {
    environmentId: environment.id,
    companyId: query.company_id ?? '',
    fromMs: query.from ?? 0,
    toMs: query.to ?? endOfTimeMs,
  }
  const slot = slotOf(environment.id)
  await services.projections.barrierOf('clickhouse', environment.id).catch(error => {
    release(environment.id, slot)
    throw error
  })
  await requireCompany(call, one, selection).catch(error => {
    release(environment.id, slot)
    throw error
  })
  const format = formats[query.format]
  const name = `${one.table}.${query.format}`
  const within = (pieces: AsyncIterable<Uint8Array>) => ({
    stream: { type: format.type, name, pieces: counted(environment.id, slot, pieces) },
  })
  if (query.format !== 'parquet') return within(pages(call, one, selection))
  const all = pageRows(one, selection, null, null)
  const [count] = await services.clickhouse
    .select<{ rows: number }>(`SELECT count() AS rows FROM (${all.sql})`, all.parameters)
    .catch(error => {
      release(environment.id, slot)
      throw error
    })
  if (count!.rows > parquetRowsMax) {
    release(environment.id, slot)
    throw new ServiceError(
      'query_invalid',
      `${count!.rows} rows: a Parquet file holds at most ${parquetRowsMax}; narrow it with from, to or company_id`,
    )
  }
  const pieces = services.clickhouse.bytes(`${all.sql} FORMAT Parquet`, all.parameters)
  return within(pieces)
}

/** errors  not_found (404) for a company that neither is nor was: an empty file would hide a misspelt id. */
async function requireCompany(
  { services, environment, query }: ExportCall,
  one: Exported,
  selection: Selection,
): Promise<void> {
  const { company_id: id } = query
  if (id === undefined || services.directory.has(environment.id, id)) return
  const { sql, parameters } = pageRows(one, { ...selection, fromMs: 0, toMs: endOfTimeMs }, null, null)
  const found = await services.clickhouse.select(`SELECT 1 FROM (${sql}) LIMIT 1`, parameters)
  if (found.length === 0)
    throw new ServiceError('not_found', 'company_id: no company has this id (it begins with comp_)')
}

/** errors  overloaded (503) at the environment's limit of concurrent exports. */
function slotOf(environmentId: string): { touchedMs: number } {
  const slots = running.get(environmentId) ?? new Set()
  const nowMs = performance.now()
  for (const slot of slots) if (nowMs - slot.touchedMs > idleMs) slots.delete(slot)
  if (slots.size >= atOnceMax)
    throw new ServiceError('overloaded', `${atOnceMax} exports of this environment are running; try again`, {
      retryAfterSeconds: 5,
    })
  const slot = { touchedMs: nowMs }
  running.set(environmentId, slots.add(slot))
  return slot
}

function release(environmentId: string, slot: { touchedMs: number }): void {
  const slots = running.get(environmentId)
  slots?.delete(slot)
  if (slots?.size === 0) running.delete(environmentId)
}

async function* counted(
  environmentId: string,
  slot: { touchedMs: number },
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of pieces) {
      slot.touchedMs = performance.now()
      yield piece
    }
  } finally {
    release(environmentId, slot)
  }
}

/**
 * Generate the pages. The end of each page is looked up first, so that its bytes can pass through unparsed. A page
 * that exceeds ClickHouse's result limit is requested again with half the rows.
 */
async function* pages(
  { services, query }: ExportCall,
  one: Exported,
  selection: Selection,
): AsyncGenerator<Buffer> {
  const { clickhouse } = services
  const { first, next } = formats[query.format]
  const inert = query.format === 'csv' && query.raw !== true
  let after: Place = null
  let most = rowsPerPage
  for (;;) {
    const upTo: Place = await endOf(after)
    const rows = pageRows(one, selection, after, upTo, inert)
    let passed = false
    try {
      for await (const piece of clickhouse.bytes(
        `${rows.sql} ${query.format === 'csv' ? emptyNulls : ''} FORMAT ${after === null ? first : next}`,
        rows.parameters,
      )) {
        passed = true
        yield piece
      }
    } catch (error) {
      if (passed || most === 1 || (error as { code?: string }).code !== tooLarge) throw error
      most = Math.ceil(most / 2)
      continue
    }
    if (upTo === null) return
    after = upTo
  }

  async function endOf(place: Place): Promise<Place> {
    const { sql, parameters } = pageEnd(one, selection, place, most)
    const [found] = await clickhouse.select<Record<string, string | number>>(sql, parameters)
    return found === undefined ? null : one.key.map((_, index) => found[`k${index}`]!)
  }
}
