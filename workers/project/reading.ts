// How the embedded ClickHouse reads ready-made rows: the columns of the tables in sql/clickhouse, as plain ones.
import { drawColumns } from '../../src/journal/ledger-rows.js'
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

/** Columns whose default is not that of their type: what stands for a member that is left out. */
const eventDefaults: Readonly<Record<string, string>> = {
  quantity: 'ifNull(quantity, 1)',
  mode: "if(mode = '', 'normal', mode)",
}

/** Rows of events, as src/journal/event-row.ts writes them. */
export const eventReading: Reading = reading(eventColumns, eventDefaults)

/** Rows of credit_ledger, as src/journal/ledger-rows.ts writes them. */
export const drawReading: Reading = reading(
  Object.fromEntries(drawColumns.map(column => [column, drawType(column)])),
  {},
)

function drawType(column: (typeof drawColumns)[number]): string {
  switch (column) {
    case 'event_at':
      return time
    case 'sequence':
      return 'UInt64'
    case 'amount':
    case 'quantity_consumed':
    case 'grant_quantity_remaining':
      return 'Decimal(38, 9)'
    default:
      return 'String'
  }
}

function reading(
  types: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
): Reading {
  const columns = Object.keys(types)
  return {
    structure: columns.map(column => `${column} ${types[column]}`).join(', '),
    columns,
    select: columns.map(column => defaults[column] ?? column),
  }
}
