// Statements of exports: columns, and pages along the table's sorting key. The cost of a page does not depend on its
// position.
import { inertExpression } from './formulas.js'

/** One column of a sorting key, and how its value is passed to ClickHouse. */
interface KeyPart {
  readonly column: string
  readonly kind: 'text' | 'milliseconds' | 'seconds' | 'number'
}

/** The definition of an export. */
export interface Exported {
  readonly table: string
  /** The sorting key after environment_id. */
  readonly key: readonly KeyPart[]
  /** The column that `from` and `to` filter. */
  readonly time: KeyPart
  /** The exported columns. */
  readonly columns: string
  /** Columns with text from callers: as written in `columns`, and the expression that reads the text. */
  readonly texts: readonly (readonly [shown: string, read: string])[]
  /** Whether rows of equal key are summed. */
  readonly summed: boolean
}

const company: KeyPart = { column: 'company_id', kind: 'text' }
const capturedAt: KeyPart = { column: 'captured_at', kind: 'milliseconds' }
const hour: KeyPart = { column: 'hour', kind: 'seconds' }
const eventAt: KeyPart = { column: 'event_at', kind: 'milliseconds' }

// Keys of publishable API keys are stored with a prefix byte that separates the two namespaces (decision 23).
const ownKey = (key: string): string => `if(startsWith(${key}, '\\0'), substring(${key}, 2), ${key})`

export const exports: Readonly<Record<'events' | 'usage' | 'ledger', Exported>> = {
  events: {
    table: 'events',
    key: [company, capturedAt, { column: 'id', kind: 'text' }],
    time: capturedAt,
    columns: `id, type, subtype, company_id, user_id, quantity, status, error_message, mode, captured_at, sent_at,
      loaded_at, processed_at, api_key_id,
      ${ownKey('idempotency_key')} AS idempotency_key, lease_id, reservation_id, feature_ids, flag_id,
      derived_from, cost, currency, price_id, body`,
    texts: [
      ['subtype', 'subtype'],
      ['error_message', 'error_message'],
      [`${ownKey('idempotency_key')} AS idempotency_key`, ownKey('events.idempotency_key')],
      ['lease_id', 'lease_id'],
      ['reservation_id', 'reservation_id'],
      ['body', 'body'],
    ],
    summed: false,
  },
  usage: {
    table: 'usage_by_hour',
    key: [company, { column: 'subtype', kind: 'text' }, hour],
    time: hour,
    columns: `company_id, subtype AS event_subtype, hour, sum(usage_by_hour.quantity) AS quantity,
      sum(usage_by_hour.events) AS events`,
    texts: [['subtype AS event_subtype', 'subtype']],
    summed: true,
  },
  ledger: {
    table: 'credit_ledger',
    key: [company, { column: 'credit_id', kind: 'text' }, eventAt, { column: 'sequence', kind: 'number' }],
    time: eventAt,
    columns: `company_id, credit_id, sequence, event_at, event_type, usage_reason, amount, quantity_consumed, grant_id,
      grant_quantity_remaining, from_grant_id, to_grant_id, transfer_reason, zeroed_out_reason, feature_id, user_id,
      usage_event_id, hold_id, grant_reason, grant_quantity, grant_valid_from, grant_expires_at, plan_id,
      plan_grant_id, billing_credit_bundle_id, source_grant_id`,
    texts: [
      ['usage_event_id', 'usage_event_id'],
      ['hold_id', 'hold_id'],
    ],
    summed: false,
  },
}

/** A position in key order: the values as ClickHouse gives them; null is before the first and after the last row. */
export type Place = readonly (string | number)[] | null

/**
 * The exported rows: of an environment, optionally one company, from an instant (inclusive) to another (exclusive).
 */
export interface Selection {
  readonly environmentId: string
  readonly companyId: string
  readonly fromMs: number
  readonly toMs: number
}

export interface Statement {
  readonly sql: string
  readonly parameters: Readonly<Record<string, string | number>>
}

/** The position of the page's last row, `rows` rows after a position; one row (a, b, …), or none at the end. */
export function pageEnd(one: Exported, selection: Selection, after: Place, rows: number): Statement {
  const shown = one.key.map((part, index) => `${asNumber(part)} AS k${index}`).join(', ')
  const { where, parameters } = conditions(one, selection, after, null)
  return {
    sql: `SELECT ${shown} FROM ${one.table} WHERE ${where} ORDER BY ${names(one)} LIMIT 1 OFFSET ${rows - 1}`,
    parameters,
  }
}

/**
 * The rows after one position up to and including another, without a FORMAT clause.
 *
 * inert  prefix texts that a spreadsheet would run as a formula with a quote.
 */
export function pageRows(
  one: Exported,
  selection: Selection,
  after: Place,
  upTo: Place,
  inert = false,
): Statement {
  const { where, parameters } = conditions(one, selection, after, upTo)
  const columns = inert ? inertColumns(one) : one.columns
  const group = one.summed ? `GROUP BY ${names(one)} ` : ''
  return {
    sql: `SELECT ${columns} FROM ${one.table} WHERE ${where} ${group}ORDER BY ${names(one)}`,
    parameters,
  }
}

// The table's own column is meant, even if the export shows another value under its name.
function inertColumns({ table, columns, texts }: Exported): string {
  let written = columns
  for (const [shown, read] of texts) {
    const text = `toString(ifNull(${read.includes('(') ? read : `${table}.${read}`}, ''))`
    const safe = inertExpression(text)
    const alias = shown.split(' AS ')[1] ?? shown
    const exactly = shown.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    written = written.replace(
      new RegExp(`(^|[\\s,])${exactly}(?=,|$)`),
      (_, before) => `${before}${safe} AS ${alias}`,
    )
  }
  return written
}

const names = ({ key }: Exported): string => key.map(part => part.column).join(', ')

function conditions(
  one: Exported,
  { environmentId, companyId, fromMs, toMs }: Selection,
  after: Place,
  upTo: Place,
) {
  const { time } = one
  const scale = time.kind === 'seconds' ? 1_000 : 1
  const where = [
    'environment_id = {environment_id:String}',
    `${time.column} >= ${value(time, 'from')}`,
    `${time.column} < ${value(time, 'to')}`,
  ]
  const parameters: Record<string, string | number> = {
    environment_id: environmentId,
    from: Math.ceil(fromMs / scale),
    to: Math.ceil(toMs / scale),
  }
  if (companyId !== '') {
    where.push('company_id = {company_id:String}')
    parameters.company_id = companyId
  }
  for (const [name, place, sign] of [
    ['after', after, '>'],
    ['upto', upTo, '<='],
  ] as const) {
    if (place === null) continue
    // company_id alone first: the primary index uses it better than the tuple comparison
    where.push(`company_id ${sign[0]}= {${name}0:String}`)
    const values = one.key.map((part, index) => value(part, `${name}${index}`)).join(', ')
    where.push(`(${names(one)}) ${sign} (${values})`)
    for (const [index, part] of place.entries()) parameters[`${name}${index}`] = part
  }
  return { where: where.join(' AND '), parameters }
}

function value({ kind }: KeyPart, name: string): string {
  switch (kind) {
    case 'text':
      return `{${name}:String}`
    case 'milliseconds':
      return `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`
    case 'seconds':
      return `toDateTime({${name}:Int64}, 'UTC')`
    case 'number':
      return `{${name}:UInt64}`
  }
}

function asNumber({ column, kind }: KeyPart): string {
  if (kind === 'milliseconds') return `toUnixTimestamp64Milli(${column})`
  return kind === 'seconds' ? `toUnixTimestamp(${column})` : column
}
