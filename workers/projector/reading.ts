// How ClickHouse reads ready-made rows: the columns of the tables in sql/clickhouse, as plain ones.
import { drawColumns, fullDrawColumns } from '../../src/journal/records/ledger-rows.js'
import type { Reading } from '../../src/storage/clickhouse.js'

const time = "DateTime64(3, 'UTC')"

const eventColumns = {
  environment_id: 'String',
  company_id: 'String',
  captured_at: time,
  id: 'String',
  type: 'String',
  subtype: 'String',
  user_id: 'String',
  quantity: 'Nullable(Int64)',
  status: 'String',
  error_message: 'String',
  mode: 'String',
  sent_at: `Nullable(${time})`,
  loaded_at: time,
  processed_at: `Nullable(${time})`,
  api_key_id: 'String',
  idempotency_key: 'String',
  lease_id: 'String',
  reservation_id: 'String',
  feature_ids: 'Array(String)',
  flag_id: 'String',
  derived_from: 'String',
  cost: 'Nullable(Decimal(38, 12))',
  currency: 'String',
  price_id: 'String',
  body: 'String',
}

/** Columns whose default is not that of their type: the value of an omitted member. */
const eventDefaults: Readonly<Record<string, string>> = {
  quantity: 'ifNull(quantity, 1)',
  mode: "if(mode = '', 'normal', mode)",
}

/** Rows of events, as src/journal/records/event-row.ts writes them. */
export const eventReading: Reading = reading(eventColumns, eventDefaults)

/** Rows of credit_ledger, as src/journal/records/ledger-rows.ts writes them, with what all of them have alike. */
export const drawReading: Reading = drawsRead()

function drawsRead(): Reading {
  const columns = drawColumns.filter(column => column !== 'grant_sequence')
  return {
    structure: structureOf(drawTypes(drawColumns)),
    columns: [...columns, 'event_type', 'usage_reason', 'amount'],
    select: [...columns, "'usage'", "'track'", '-quantity_consumed'],
    inFull: fullLines,
  }
}

const inRow: readonly string[] = drawColumns
const places = fullDrawColumns.map(column => inRow.indexOf(column))
const consumed = inRow.indexOf('quantity_consumed')

/** The same lines with every column of the table that they fill; a line that is no row is unchanged. */
function fullLines(lines: Buffer): Buffer {
  const full = (line: string): string => {
    const values = line.split('\t')
    return values.length === drawColumns.length ? places.map((_, i) => fullValue(values, i)).join('\t') : line
  }
  return Buffer.from(lines.toString('latin1').split('\n').map(full).join('\n'), 'latin1')
}

function fullValue(values: readonly string[], i: number): string {
  switch (fullDrawColumns[i]!) {
    case 'event_type':
      return 'usage'
    case 'usage_reason':
      return 'track'
    case 'amount':
      return values[consumed] === '0' ? '0' : `-${values[consumed]}`
    case 'credit_id':
    case 'environment_id':
    case 'company_id':
    case 'event_at':
    case 'sequence':
    case 'quantity_consumed':
    case 'grant_id':
    case 'grant_quantity_remaining':
    case 'feature_id':
    case 'user_id':
    case 'usage_event_id':
      return values[places[i]!]!
  }
}

function drawTypes(columns: readonly DrawColumn[]): Readonly<Record<string, string>> {
  return Object.fromEntries(columns.map(column => [column, drawType(column)]))
}

type DrawColumn = (typeof drawColumns)[number]

function drawType(column: DrawColumn): string {
  switch (column) {
    case 'event_at':
      return time
    case 'sequence':
    case 'grant_sequence':
      return 'UInt64'
    case 'quantity_consumed':
    case 'grant_quantity_remaining':
      return 'Decimal(38, 9)'
    case 'credit_id':
    case 'environment_id':
    case 'company_id':
    case 'grant_id':
    case 'feature_id':
    case 'user_id':
    case 'usage_event_id':
      return 'String'
  }
}

function reading(
  types: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
): Reading {
  const columns = Object.keys(types)
  return {
    structure: structureOf(types),
    columns,
    select: columns.map(column => defaults[column] ?? column),
  }
}

function structureOf(types: Readonly<Record<string, string>>): string {
  return Object.entries(types)
    .map(([column, type]) => `${column} ${type}`)
    .join(', ')
}
