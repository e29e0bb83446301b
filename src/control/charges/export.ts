// GET /export/charges: charge lines as CSV, NDJSON or Parquet, in the order of the list.
import { parquetWriteBuffer } from 'hyparquet-writer'
import type { CompanyChargeLine } from '../../../schemas/charges.js'
import { ServiceError } from '../../errors.js'
import { jsonText } from '../../json.js'
import type { Handler } from '../../kit/call.js'
import { oneOf, type QueryOf, query, required } from '../../kit/query.js'
import { inertText } from '../export/formulas.js'
import { filterIn, linesShape, ready } from './handlers.js'
import { linesOf } from './lines.js'

const types = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
} as const

/** Bytes of one piece of a text file, approximately. */
const pieceBytes = 65_536
/** A Parquet file is made in memory. */
const parquetLinesMax = 100_000

const shape = { ...linesShape, format: required(oneOf(['csv', 'ndjson', 'parquet'])) } as const
export const exportChargesQuery = query(shape)

/** A column of a file: its Parquet type, and its cell of a line. */
interface Column {
  readonly name: string
  readonly type: 'DOUBLE' | 'INT64' | 'STRING'
  cell(line: CompanyChargeLine): number | bigint | string | null
}

const text = (name: keyof CompanyChargeLine & string): Column => ({
  name,
  type: 'STRING',
  cell: line => line[name] as string | null,
})
const whole = (name: string, of: (line: CompanyChargeLine) => number | bigint | null): Column => ({
  name,
  type: 'INT64',
  cell: of,
})
const told = (name: string, of: (line: CompanyChargeLine) => string | null): Column => ({
  name,
  type: 'STRING',
  cell: of,
})

const columns: readonly Column[] = [
  text('company_id'),
  text('period_id'),
  text('period_start'),
  text('period_end'),
  text('period_status'),
  whole('line', one => one.line),
  text('kind'),
  text('charge_kind'),
  text('subscription_id'),
  text('plan_id'),
  text('plan_version_id'),
  whole('plan_version', one => one.plan_version),
  text('feature_id'),
  text('credit_id'),
  text('bundle_id'),
  text('coupon_id'),
  text('quantity_decimal'),
  text('unit'),
  text('price_id'),
  text('unit_price'),
  whole('package_size', one => one.package_size),
  text('tiers_mode'),
  told('tiers', one => (one.tiers.length === 0 ? null : jsonText(one.tiers))),
  whole('amount', one => one.amount),
  text('amount_decimal'),
  text('currency'),
  text('start_time'),
  text('end_time'),
  text('due_at'),
  whole('prorated_ms', one => one.proration?.remaining_ms ?? null),
  whole('period_ms', one => one.proration?.period_ms ?? null),
  whole('events', one => one.events?.count ?? null),
  whole('events_quantity', one => one.events?.quantity ?? null),
  told('first_event_id', one => one.events?.first_event_id ?? null),
  told('last_event_id', one => one.events?.last_event_id ?? null),
  whole('counter_before', one => one.events?.counter_before ?? null),
  whole('counter_after', one => one.events?.counter_after ?? null),
  told('window_start', one => one.window?.start_time ?? null),
  told('window_end', one => one.window?.end_time ?? null),
]

/**
 * GET /export/charges. A complete response is a complete file: a failure midway cuts the connection.
 *
 * errors  400 for a Parquet file of more than 100 000 lines; as for the list.
 * source  RA-1.
 */
export const exportCharges: Handler<undefined, QueryOf<typeof shape>> = async call => {
  const { format } = call.query
  const filter = filterIn(call.query)
  await ready(call, filter)
  const lines = linesOf(call, filter)
  const stream = { type: types[format], name: `charges.${format}` }
  if (format !== 'parquet') {
    const rows = format === 'csv' ? csvRows(lines) : jsonRows(lines)
    return { stream: { ...stream, pieces: pieces(rows) } }
  }
  const all: CompanyChargeLine[] = []
  for await (const line of lines) if (all.push(line) > parquetLinesMax) throw tooMany()
  return { stream: { ...stream, pieces: once(parquetOf(all)) } }
}

function tooMany(): ServiceError {
  return new ServiceError(
    'query_invalid',
    `A Parquet file holds at most ${parquetLinesMax} lines: narrow it with start_time, end_time or company_ids`,
  )
}

function parquetOf(lines: readonly CompanyChargeLine[]): Uint8Array {
  const columnData = columns.map(({ name, type, cell }) => ({
    name,
    type,
    nullable: true,
    data: lines.map(line => {
      const value = cell(line)
      return type === 'INT64' && value !== null ? BigInt(value) : value
    }),
  }))
  return new Uint8Array(parquetWriteBuffer({ columnData }))
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* csvRows(lines: AsyncIterable<CompanyChargeLine>): AsyncGenerator<string> {
  yield `${columns.map(({ name }) => `"${name}"`).join(',')}\n`
  for await (const line of lines) yield `${columns.map(({ cell }) => csvCell(cell(line))).join(',')}\n`
}

const csvCell = (value: string | number | bigint | null): string => {
  if (value === null) return ''
  return typeof value === 'string' ? `"${inertText(value).replaceAll('"', '""')}"` : String(value)
}

async function* jsonRows(lines: AsyncIterable<CompanyChargeLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${jsonText(line)}\n`
}

/** Rows gathered into pieces, so that a large file is not sent line by line. */
async function* pieces(rows: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let gathered = ''
  for await (const row of rows) {
    gathered += row
    if (gathered.length < pieceBytes) continue
    yield Buffer.from(gathered)
    gathered = ''
  }
  if (gathered !== '') yield Buffer.from(gathered)
}
