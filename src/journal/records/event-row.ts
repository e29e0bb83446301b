// An accepted event as the line of JSON that ClickHouse stores, written once, where the event is decided.
// The projector only concatenates these lines. Members that hold their column's default are left out.

import type { EventStatus } from '../../../schemas/enums.js'
import type { AcceptedEvent } from '../../core/model/requests.js'

/** The event, as its row needs it. */
export type RowEvent = Omit<AcceptedEvent, 'inference'>

/** Additions of deciding to the event (EV-70). */
export interface RowExtra {
  readonly environmentId: string
  /** Features linked by subtype (EV-70), ids. */
  readonly featureIds: readonly string[]
  /** When it was decided, epoch ms: processed_at and enriched_at of an event that did not fail. */
  readonly at: number
  /** Company and user that deciding found; absent: the event's own. */
  readonly companyId?: string | null
  readonly userId?: string | null
  /** Set where deciding failed the event. */
  readonly failure?: string | null
  /** The flag of a flag check that names it (EV-72's filter). */
  readonly flagId?: string | null
  /** Cost of an inference event: decimal text, and the price used (EV-62, decision 18). */
  readonly cost?: {
    readonly amount: string
    readonly currency: string
    readonly priceId: string | null
  } | null
}

/**
 * One line of JSONEachRow for table events (sql/clickhouse/0001_events_and_keys.sql), without its newline.
 * Times are whole epoch milliseconds, which DateTime64(3) takes as they are. No id, type, mode or status needs
 * escaping; everything a caller wrote does.
 * source  EV-6, EV-33, EV-70.
 */
export function eventRow(event: RowEvent, extra: RowExtra): string {
  const companyId = extra.companyId === undefined ? event.companyId : extra.companyId
  const userId = extra.userId === undefined ? event.userId : extra.userId
  const failure = extra.failure ?? event.failure
  const status: EventStatus = failure === null ? 'enriched' : 'failed'
  let row = rowStart(
    extra.environmentId,
    event.type,
    event.capturedAtMs,
    event.receivedAtMs,
    status,
    event.apiKeyId,
  )
  if (failure === null) row += `,"processed_at":${extra.at}`
  if (event.subtype !== null) row += `,"subtype":${text(event.subtype)}`
  if (extra.featureIds.length > 0) row += `,"feature_ids":["${extra.featureIds.join('","')}"]`
  row += `,"id":"${event.id}"`
  if (companyId !== null) row += `,"company_id":"${companyId}"`
  if (userId !== null) row += `,"user_id":"${userId}"`
  if (event.quantity !== 1) row += `,"quantity":${event.quantity}`
  if (event.sentAtMs !== null) row += `,"sent_at":${event.sentAtMs}`
  if (event.idempotencyKey !== null) row += `,"idempotency_key":${text(event.idempotencyKey)}`
  if (event.mode !== 'normal') row += `,"mode":"${event.mode}"`
  if (event.leaseId !== null) row += `,"lease_id":${text(event.leaseId)}`
  if (event.reservationId !== null) row += `,"reservation_id":${text(event.reservationId)}`
  if (event.derivedFrom !== null) row += `,"derived_from":"${event.derivedFrom}"`
  if (failure !== null) row += `,"error_message":${text(failure)}`
  if (extra.flagId) row += `,"flag_id":${text(extra.flagId)}`
  if (extra.cost) row += costMembers(extra.cost)
  // A valid event's body is an object, which the store keeps as its text; a failed event's body may be anything.
  return `${row},"body":${failure === null ? event.body : text(event.body)}}`
}

/** The start of a row, which many rows share. */
export function rowStart(
  environmentId: string,
  type: RowEvent['type'],
  capturedAtMs: number,
  receivedAtMs: number,
  status: EventStatus,
  apiKeyId: string,
): string {
  return (
    `{"environment_id":"${environmentId}","type":"${type}","captured_at":${capturedAtMs}` +
    `,"loaded_at":${receivedAtMs},"status":"${status}","api_key_id":"${apiKeyId}"`
  )
}

/** Where the instants of a row's start lie in it: nothing of a caller's precedes them. */
export function instantsOfStart(start: string): readonly number[] {
  return ['"captured_at":', '"loaded_at":'].map(member => start.indexOf(member) + member.length)
}

const loadedAtMember = Buffer.from('"loaded_at":')
/** Where it began in the row before: nearly always where it begins in the next. */
let loadedAtUsual = 0

/** When the event of a row was received, epoch ms: read from the row's bytes, where nothing of a caller's precedes it. */
export function loadedAt(bytes: Buffer, rowAt: number): number {
  let at = rowAt + loadedAtUsual
  for (let i = 0; i < loadedAtMember.length; i++)
    if (bytes[at + i] !== loadedAtMember[i]) {
      at = bytes.indexOf(loadedAtMember, rowAt)
      loadedAtUsual = at - rowAt
      break
    }
  let epochMs = 0
  for (at += loadedAtMember.length; ; at++) {
    const digit = bytes[at]! - 0x30
    if (!(digit >= 0 && digit <= 9)) return epochMs
    epochMs = epochMs * 10 + digit
  }
}

function costMembers(cost: NonNullable<RowExtra['cost']>): string {
  const price = cost.priceId === null ? '' : `,"price_id":${text(cost.priceId)}`
  return `,"cost":"${cost.amount}","currency":${text(cost.currency)}${price}`
}

/**
 * A JSON string. JSON.stringify writes half a surrogate pair as an escape that ClickHouse refuses, and one refused
 * row would hold up its whole chunk: such a half becomes U+FFFD, as in UTF-8.
 */
export function text(value: string): string {
  const quoted = JSON.stringify(value)
  return quoted.includes('\\ud') ? JSON.stringify(Buffer.from(value).toString()) : quoted
}

let monthStartMs = 0
let monthEndMs = 0
let month = 0

/** Months since 1970-01 (UTC) of an epoch time: the ClickHouse partition of a row. Most calls hit the last month. */
export function monthOf(epochMs: number): number {
  if (epochMs >= monthStartMs && epochMs < monthEndMs) return month
  const date = new Date(epochMs)
  const year = date.getUTCFullYear()
  const inYear = date.getUTCMonth()
  monthStartMs = Date.UTC(year, inYear, 1)
  monthEndMs = Date.UTC(year, inYear + 1, 1)
  month = (year - 1970) * 12 + inYear
  return month
}
