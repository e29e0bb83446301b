// Draws of one event as bytes of its record: the rows of ledger-rows.ts, and of fact-text.ts the effects that rows do not
// tell, without a text for any of them.
import { type Nanos, nanosToDecimal } from '../core/amount.js'
import { ascii } from '../core/ascii.js'
import { grantId } from '../core/grant.js'
import { actorIdLength } from '../core/uses.js'
import type { Draw } from './ledger-rows.js'

/** A text of ASCII that is written again and again, eight bytes at once: those behind its end are written after it. */
class Piece {
  readonly length: number
  readonly words: Float64Array

  constructor(text: string) {
    const count = Math.ceil(text.length / wordBytes)
    const bytes = Buffer.alloc(count * wordBytes)
    bytes.write(text, 'latin1')
    this.length = text.length
    this.words = Float64Array.from({ length: count }, (_, i) => bytes.readDoubleLE(i * wordBytes))
  }
}

const wordBytes = 8

const userMember = new Piece(',"u":"')
const noSlices = new Piece(',"s":[]')
const uncoveredMember = new Piece(',"un":')

const { tab, newline, quote, minus, point, zero, braceClose } = ascii

/** More than a draw takes, and more than each of its slices does, in rows and effect together. */
const drawMax = 512
const sliceMax = 512

/** What draws on one credit for one feature have alike, of events of one time in one environment. */
export class DrawKind {
  readonly env: Piece
  readonly rowCredit: Piece
  readonly effectStart: Piece
  readonly effectAt: Piece
  private readonly creditText: string
  /** Credits moved last, and what rows have from the company to their end once they were moved again. */
  private moved: Nanos = Number.NaN
  private movedText: Piece | null = null

  constructor(
    env: string,
    at: number,
    readonly creditId: string,
    readonly featureId: string | undefined,
  ) {
    this.env = new Piece(`${env}\t`)
    this.creditText = `\t${creditId}\t${at}\t${featureId ?? ''}\t`
    this.rowCredit = new Piece(this.creditText)
    this.effectStart = new Piece(`,{"t":"credit_draw","c":"${creditId}","seq":`)
    const feature = featureId === undefined ? '' : `,"f":"${featureId}"`
    this.effectAt = new Piece(`,"at":${at}${feature},"e":"`)
  }

  /** `rowCredit` with these credits and a tab behind it, when they are those moved before; else null. */
  movedAgain(moved: Nanos): Piece | null {
    if (moved !== this.moved) {
      this.moved = moved
      this.movedText = null
      return null
    }
    this.movedText ??= new Piece(`${this.creditText}${nanosToDecimal(moved)}\t`)
    return this.movedText
  }
}

/** Where the ids lie, in the bytes that a draw is written to, before it. */
export interface DrawIds {
  companyId: string
  companyAt: number
  /** -1: of no user. */
  userAt: number
  eventAt: number
}

/** Characters of ids: of an event, and of a grant. */
const eventIdLength = 15
const grantIdLength = 16

/** Room that these draws take at most; their ids are of the usual length. */
export function drawsMax(draws: readonly Draw[]): number {
  let bytes = 0
  for (let i = 0; i < draws.length; i++) bytes += drawMax + sliceMax * draws[i]!.s.length
  return bytes
}

/** The rows of a draw, as `drawRows`. Returns where they end; a few bytes behind are written over. */
export function putDrawRows(
  view: DataView,
  from: number,
  kind: DrawKind,
  { seq, s }: Draw,
  { companyId, companyAt, userAt, eventAt }: Readonly<DrawIds>,
): number {
  let at = from
  for (let i = 0; i < s.length; i++) {
    const [grant, moved, left] = s[i]!
    at = putPiece(view, at, kind.env)
    at = putId(view, at, companyAt, actorIdLength)
    const again = kind.movedAgain(moved)
    if (again !== null) at = putPiece(view, at, again)
    else {
      at = putCredits(view, putPiece(view, at, kind.rowCredit), moved)
      view.setUint8(at++, tab)
    }
    at = putNumber(view, at, seq + i)
    view.setUint8(at++, tab)
    at = putCredits(view, at, left)
    view.setUint8(at++, tab)
    at = putGrantId(view, at, companyId, kind.creditId, grant)
    view.setUint8(at++, tab)
    if (userAt >= 0) at = putId(view, at, userAt, actorIdLength)
    view.setUint8(at++, tab)
    at = putId(view, at, eventAt, eventIdLength)
    view.setUint8(at++, tab)
    at = putNumber(view, at, grant)
    view.setUint8(at++, newline)
  }
  return at
}

/**
 * The effect of a draw that rows do not tell all of, in the list of its fact, with the comma before it, as `factText`:
 * without its slices, which lie in rows. Returns as `putDrawRows`.
 */
export function putDrawEffect(
  view: DataView,
  from: number,
  kind: DrawKind,
  { seq, un }: Draw,
  { userAt, eventAt }: Readonly<DrawIds>,
): number {
  let at = putPiece(view, putNumber(view, putPiece(view, from, kind.effectStart), seq), kind.effectAt)
  at = putId(view, at, eventAt, eventIdLength)
  view.setUint8(at++, quote)
  if (userAt >= 0) {
    at = putId(view, putPiece(view, at, userMember), userAt, actorIdLength)
    view.setUint8(at++, quote)
  }
  at = putPiece(view, at, noSlices)
  if (un !== undefined) at = putQuoted(view, putPiece(view, at, uncoveredMember), un)
  view.setUint8(at++, braceClose)
  return at
}

/**
 * Ids of the grants drawn from last, one for each place: most draws of a company are on the grant of the one before. What
 * belongs together lies together: the sequence and the id's two words, the company and the credit.
 */
const places = 1 << 14
const wordsEach = 4
const grants = new Float64Array(places * wordsEach)
const grantBytes = new DataView(grants.buffer)
const owners = new Array<string>(places * 2).fill('')

function putGrantId(view: DataView, at: number, companyId: string, creditId: string, seq: number): number {
  const last = companyId.length - 1
  const place =
    (companyId.charCodeAt(last) * 3_137 +
      companyId.charCodeAt(last - 1) * 61 +
      companyId.charCodeAt(last - 2)) &
    (places - 1)
  const word = place * wordsEach
  const idAt = (word + 1) * wordBytes
  if (grants[word] !== seq || owners[place * 2] !== companyId || owners[place * 2 + 1] !== creditId) {
    putText(grantBytes, idAt, grantId(companyId, creditId, seq))
    owners[place * 2] = companyId
    owners[place * 2 + 1] = creditId
    grants[word] = seq
  }
  view.setFloat64(at, grantBytes.getFloat64(idAt, true), true)
  view.setFloat64(at + wordBytes, grantBytes.getFloat64(idAt + wordBytes, true), true)
  return at + grantIdLength
}

/** An id of at most two words that lies in the same bytes. */
function putId(view: DataView, at: number, from: number, length: number): number {
  view.setFloat64(at, view.getFloat64(from, true), true)
  view.setFloat64(at + wordBytes, view.getFloat64(from + wordBytes, true), true)
  return at + length
}

function putPiece(view: DataView, at: number, { words, length }: Piece): number {
  for (let i = 0; i < words.length; i++) view.setFloat64(at + i * wordBytes, words[i]!, true)
  return at + length
}

/** As `nanosToDecimal`. */
function putCredits(view: DataView, from: number, nanos: Nanos): number {
  if (typeof nanos === 'string') return putText(view, from, nanosToDecimal(nanos))
  let at = from
  let left = nanos
  if (left < 0) {
    view.setUint8(at++, minus)
    left = -left
  }
  const whole = Math.floor(left / billion)
  const part = left - whole * billion
  at = putNumber(view, at, whole)
  if (part === 0) return at
  view.setUint8(at, point)
  at = putDigits(view, at + 1, part, 9)
  while (view.getUint8(at - 1) === zero) at--
  return at
}

/** As JSON has it: a text where it is too large for a number. */
function putQuoted(view: DataView, at: number, nanos: Nanos): number {
  if (typeof nanos === 'number') return putNumber(view, at, nanos)
  view.setUint8(at, quote)
  const end = putText(view, at + 1, nanos)
  view.setUint8(end, quote)
  return end + 1
}

const billion = 1e9

/** The digits of a safe integer. Returns where they end. */
function putNumber(view: DataView, from: number, value: number): number {
  let at = from
  let left = value
  if (left < 0) {
    view.setUint8(at++, minus)
    left = -left
  }
  if (left < billion) return putDigits(view, at, left, digitsOf(left))
  const high = Math.floor(left / billion)
  at = putDigits(view, at, high, digitsOf(high))
  return putDigits(view, at, left - high * billion, 9)
}

/** "00" to "99", two digits a place. */
const pairs = Uint16Array.from({ length: 100 }, (_, i) => (zero + Math.floor(i / 10)) * 256 + zero + (i % 10))

/** The last `count` digits of a number below a billion. */
function putDigits(view: DataView, at: number, value: number, count: number): number {
  let left = value | 0
  let place = at + count
  while (place >= at + 2) {
    place -= 2
    const rest = (left / 100) | 0
    view.setUint16(place, pairs[left - rest * 100]!)
    left = rest
  }
  if (place > at) view.setUint8(at, zero + (left % 10))
  return at + count
}

function digitsOf(value: number): number {
  let digits = 1
  for (let bound = 10; value >= bound; bound *= 10) digits++
  return digits
}

/** Characters of ASCII. Returns where they end. */
function putText(view: DataView, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) view.setUint8(at + i, text.charCodeAt(i))
  return at + text.length
}
