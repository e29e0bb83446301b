// Acknowledgements of events as bytes. Most differ in the event's id alone.
import { Buffer } from 'node:buffer'
import { encodeId, writeId } from '../../core/values/id.js'
import { isoTime } from '../../kit/time.js'

/** The caller, as acknowledgements describe it. */
export interface Caller {
  readonly remoteIp: string
  readonly userAgent: string
}

export interface Acknowledged extends Caller {
  /** When its events were received, epoch ms. */
  readonly nowMs: number
}

/** Extra members in the acknowledgement of a duplicate, and of one with other content. */
export const repeatJson = ',"duplicate":true'
export const otherJson = `${repeatJson},"content_differs":true`

// A caller usually sends many events, so its JSON is kept.
let lastCaller = { remoteIp: '', userAgent: '', json: ',"remote_addr":"","remote_ip":"","user_agent":""' }

export function callerJson({ remoteIp, userAgent }: Caller): string {
  if (lastCaller.remoteIp !== remoteIp || lastCaller.userAgent !== userAgent) {
    const ip = JSON.stringify(remoteIp)
    const agent = JSON.stringify(userAgent)
    const json = `,"remote_addr":${ip},"remote_ip":${ip},"user_agent":${agent}`
    lastCaller = { remoteIp, userAgent, json }
  }
  return lastCaller.json
}

const capturedAtFrom = '{"captured_at":"'.length
export const tail = ',"params":{}}'
export const dataFrom = '{"data":'.length
const timeFrom = dataFrom + capturedAtFrom
const timeLength = 24
const idFrom = timeFrom + timeLength + '","event_id":"evt_'.length

/** The reply to one event, used again for the next: most differ in the id alone. */
const reply = { caller: '', ms: -1, bytes: Buffer.alloc(0) }

/** The whole answer to one event; its bytes are used again for the next. */
export function acknowledgement(to: Acknowledged, high: number, low: number): Buffer {
  const { nowMs } = to
  const caller = callerJson(to)
  if (reply.caller !== caller || reply.ms !== nowMs) {
    const time = isoTime(nowMs)
    const made = reply.caller === caller && time.length === timeLength && reply.bytes.length > 0
    if (made) reply.bytes.write(time, timeFrom, 'latin1')
    else {
      reply.bytes = Buffer.from(
        `{"data":{"captured_at":"${time}","event_id":"evt_           "${caller}}${tail}`,
      )
      reply.caller = caller
    }
    reply.ms = nowMs
  }
  writeId(reply.bytes, idFrom, high, low)
  return reply.bytes
}

/** Events acknowledged together: the 64 bits of each one's id. */
interface ListedIds {
  readonly ids: Uint32Array
  readonly count: number
}

/** An acknowledgement that differs in more than its id. */
export interface Unusual {
  readonly place: number
  readonly bytes: Buffer
}

/** The rest of an acknowledgement, besides its id. */
interface Said {
  readonly capturedAtMs: number
  /** `error` as JSON; null: it was not asked for. */
  readonly error: string | null
  /** The event repeats an earlier one, of the same content or another. */
  readonly repeats: '' | 'same' | 'other'
}

/** One acknowledgement and a comma. */
export function unusualBytes(
  to: Caller,
  high: number,
  low: number,
  { capturedAtMs, error, repeats }: Said,
): Buffer {
  const id = encodeId('evt_', high, low)
  const told = error === null ? '' : `,"error":${error}`
  const repeated = repeats === '' ? '' : repeats === 'same' ? repeatJson : otherJson
  return Buffer.from(
    `{"captured_at":"${isoTime(capturedAtMs)}","event_id":"${id}"${callerJson(to)}${told}${repeated}},`,
  )
}

/**
 * Acknowledgements between the bytes `before` and `after`. Most differ in the id alone: one is written and copied, then
 * each copy gets its id.
 *
 * listed  at least one event.
 * report  each has `error`.
 * others  the acknowledgements that are written by themselves, in order.
 */
export function acknowledgements(
  to: Acknowledged,
  { ids, count }: ListedIds,
  report: boolean,
  others: readonly Unusual[],
  before: Buffer,
  after: Buffer,
): Buffer {
  const start = `{"captured_at":"${isoTime(to.nowMs)}","event_id":"evt_`
  const usual = Buffer.from(`${start}           "${callerJson(to)}${report ? ',"error":null' : ''}},`)
  const usualBytes = usual.length * (count - others.length)
  const otherBytes = others.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const bytes = Buffer.allocUnsafe(before.length + usualBytes + otherBytes + after.length)
  before.copy(bytes)
  let at = before.length
  let from = 0
  for (const { place, bytes: other } of others) {
    at = writeUsual(bytes, at, usual, start.length, ids, from, place)
    at += other.copy(bytes, at)
    from = place + 1
  }
  at = writeUsual(bytes, at, usual, start.length, ids, from, count)
  // over the last one's comma
  after.copy(bytes, at - 1)
  return bytes.subarray(0, at - 1 + after.length)
}

/** Copies of an acknowledgement for the events from `from` until before `to`, each with its id; returns their end. */
function writeUsual(
  bytes: Buffer,
  at: number,
  usual: Buffer,
  idAt: number,
  ids: Uint32Array,
  from: number,
  to: number,
): number {
  if (from === to) return at
  const { length } = usual
  const end = at + length * (to - from)
  usual.copy(bytes, at)
  for (let filled = length; at + filled < end; filled *= 2)
    bytes.copyWithin(at + filled, at, at + Math.min(filled, end - at - filled))
  for (let i = from, one = at + idAt; i < to; i++, one += length)
    writeId(bytes, one, ids[2 * i]!, ids[2 * i + 1]!)
  return end
}

/** Around the acknowledgements of a whole answer, and around none. */
export const answerStart = Buffer.from('{"data":{"events":[')
export const answerEnd = Buffer.from(`]}${tail}`)
export const noBytes = Buffer.alloc(0)
