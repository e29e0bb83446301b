// Draws read back from their rows in the journal, as ledger-rows.ts and draw-encoder.ts write them.

import { ascii } from '../../bytes/ascii.js'
import { TextCache } from '../../bytes/text-cache.js'
import type { Effect } from '../../core/model/message.js'
import { amountFromDecimal, encodeAmount, type Nanos } from '../../core/values/amount.js'
import { drawColumns } from './ledger-rows.js'

const texts = new TextCache(1 << 10)
const { tab, newline, minus, point, zero } = ascii
const decimals = 9
/** Digits that any number of them is a safe integer. */
const digitsMax = 15

const placeOf = (name: (typeof drawColumns)[number]): number => drawColumns.indexOf(name)
const creditId = placeOf('credit_id')
const eventAt = placeOf('event_at')
const sequence = placeOf('sequence')
const moved = placeOf('quantity_consumed')
const left = placeOf('grant_quantity_remaining')
const grant = placeOf('grant_sequence')

/** Where each value of a row begins, and behind the last one where the next row does. */
const starts = new Uint32Array(drawColumns.length + 1)

/**
 * Append the draws in the rows of bytes [from, end) to the effects of their fact: one for each row, which together
 * leave an account as the draw of many slices did. Fields that do not affect the balance are omitted.
 *
 * factAt  time of the fact: when draws of events of another time were journaled
 * errors  SyntaxError when a row is none
 */
export function putDraws(bytes: Buffer, from: number, end: number, factAt: number, into: Effect[]): void {
  for (let at = from; at < end; ) {
    at = split(bytes, at, end)
    const atMs = integer(bytes, eventAt)
    const effect: Effect = {
      t: 'credit_draw',
      c: text(bytes, creditId),
      seq: integer(bytes, sequence),
      at: atMs,
      s: [[integer(bytes, grant), nanos(bytes, moved), nanos(bytes, left)]],
    }
    into.push(atMs === factAt ? effect : { ...effect, now: factAt })
  }
}

/** Finds the values of a row. Returns where it ends. */
function split(bytes: Buffer, from: number, end: number): number {
  let place = 0
  starts[0] = from
  for (let at = from; at < end; at++) {
    const byte = bytes[at]!
    if (byte !== tab && byte !== newline) continue
    if (++place >= starts.length) break
    starts[place] = at + 1
    if (byte === newline && place === drawColumns.length) return at + 1
    if (byte === newline) break
  }
  throw new SyntaxError('no row of a draw')
}

function text(bytes: Buffer, place: number): string {
  const from = starts[place]!
  const end = starts[place + 1]! - 1
  let hash = 0x811c9dc5
  for (let at = from; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  return texts.of(bytes, from, end, hash)
}

function integer(bytes: Buffer, place: number): number {
  const value = scaled(bytes, starts[place]!, starts[place + 1]! - 1, 0)
  if (Number.isNaN(value)) throw new SyntaxError('no integer in the row of a draw')
  return value
}

function nanos(bytes: Buffer, place: number): Nanos {
  const from = starts[place]!
  const end = starts[place + 1]! - 1
  const value = scaled(bytes, from, end, decimals)
  if (!Number.isNaN(value)) return value
  const amount = amountFromDecimal(bytes.toString('latin1', from, end))
  if (amount === null) throw new SyntaxError('no amount in the row of a draw')
  return encodeAmount(amount)
}

/** A decimal times ten to the `digits`; NaN where it is none, has more digits after its point, or is not surely safe. */
function scaled(bytes: Buffer, from: number, end: number, digits: number): number {
  const first = bytes[from] === minus ? from + 1 : from
  let value = 0
  let at = first
  let count = 0
  for (; at < end && bytes[at] !== point; at++, count++) {
    const digit = bytes[at]! - zero
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = value * 10 + digit
  }
  if (count === 0) return Number.NaN
  if (at < end) at++
  for (let i = 0; i < digits; i++, count++) {
    const digit = at < end ? bytes[at++]! - zero : 0
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = value * 10 + digit
  }
  if (at < end) return Number.NaN
  if (count > digitsMax && !Number.isSafeInteger(value)) return Number.NaN
  return first > from && value !== 0 ? -value : value
}
