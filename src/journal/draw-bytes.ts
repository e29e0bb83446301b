// Draws of one event as bytes of its record: the rows of ledger-rows.ts and the effects of fact-text.ts, without a text for
// any of them.
import { type Nanos, nanosToDecimal } from '../core/amount.js'
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

const usage = new Piece('\tusage\ttrack\t-')
const usageOfNothing = new Piece('\tusage\ttrack\t0\t0\t')
const userMember = new Piece(',"u":"')
const slicesMember = new Piece(',"s":[')
const uncoveredMember = new Piece(',"un":')

const tab = 0x09
const newline = 0x0a
const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const bracketOpen = 0x5b
const bracketClose = 0x5d
const braceClose = 0x7d

/** More than a draw takes, and more than each of its slices does, in rows and effect together. */
const drawMax = 512
const sliceMax = 512

/** What draws on one credit for one feature have alike, of events of one time in one environment. */
export class DrawKind {
  readonly env: Piece
  readonly rowCredit: Piece
  readonly rowFeature: Piece
  readonly effectStart: Piece
  readonly effectAt: Piece
  readonly effectFeature: Piece
  /** Credits asked for last, how often in a row, and their texts once that is often enough to be worth them. */
  private moved: Nanos = Number.NaN
  private asked = 0
  private texts: MovedTexts | null = null

  constructor(
    env: string,
    at: number,
    readonly creditId: string,
    readonly featureId: string | undefined,
  ) {
    this.env = new Piece(`${env}\t`)
    this.rowCredit = new Piece(`\t${creditId}\t${at}\t`)
    this.rowFeature = new Piece(`\t${featureId ?? ''}\t`)
    this.effectStart = new Piece(`,{"t":"credit_draw","c":"${creditId}","seq":`)
    const feature = featureId === undefined ? '' : `,"f":"${featureId}"`
    this.effectAt = new Piece(`,"at":${at}`)
    this.effectFeature = new Piece(`${feature},"e":"`)
  }

  /** The texts of credits that were moved again and again; null of others. */
  textsOf(moved: Nanos): MovedTexts | null {
    if (moved !== this.moved) {
      this.moved = moved
      this.asked = 0
      this.texts = null
    }
    if (++this.asked === alikeMin) this.texts = new MovedTexts(moved)
    return this.texts
  }
}

/** Each draw asks twice: of its row and its effect. */
const alikeMin = 5

/** Credits moved, as rows and effects have them between what differs. */
class MovedTexts {
  readonly row: Piece
  readonly effect: Piece

  constructor(moved: Nanos) {
    const credits = nanosToDecimal(moved)
    this.row = moved === 0 ? usageOfNothing : new Piece(`\tusage\ttrack\t-${credits}\t${credits}\t`)
    this.effect = new Piece(`,${JSON.stringify(moved)},`)
  }
}

/** Where the ids lie, in the bytes that a draw is written to, before it. */
export interface DrawIds {
  readonly companyId: string
  readonly companyAt: number
  /** -1: of no user. */
  readonly userAt: number
  readonly eventAt: number
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
  { companyId, companyAt, userAt, eventAt }: DrawIds,
): number {
  let at = from
  for (let i = 0; i < s.length; i++) {
    const [grant, moved, left] = s[i]!
    at = putPiece(view, at, kind.env)
    at = putId(view, at, companyAt, actorIdLength)
    at = putPiece(view, at, kind.rowCredit)
    at = putNumber(view, at, seq + i)
    const texts = kind.textsOf(moved)
    if (texts !== null) at = putPiece(view, at, texts.row)
    else if (moved === 0) at = putPiece(view, at, usageOfNothing)
    else {
      at = putPiece(view, at, usage)
      at = putCredits(view, at, moved)
      view.setUint8(at++, tab)
      at = putCredits(view, at, moved)
      view.setUint8(at++, tab)
    }
    at = putGrantId(view, at, companyId, kind.creditId, grant)
    view.setUint8(at++, tab)
    at = putPiece(view, putCredits(view, at, left), kind.rowFeature)
    if (userAt >= 0) at = putId(view, at, userAt, actorIdLength)
    view.setUint8(at++, tab)
    at = putId(view, at, eventAt, eventIdLength)
    view.setUint8(at++, newline)
  }
  return at
}

/**
 * The effect of a draw in the list of its fact, with the comma before it, as `factText`. Returns as `putDrawRows`.
 *
 * withRows  rows lie beside it.
 */
export function putDrawEffect(
  view: DataView,
  from: number,
  kind: DrawKind,
  { seq, s, un }: Draw,
  { userAt, eventAt }: DrawIds,
  withRows: boolean,
): number {
  let at = putPiece(view, putNumber(view, putPiece(view, from, kind.effectStart), seq), kind.effectAt)
  if (!withRows) {
    at = putId(view, putPiece(view, at, kind.effectFeature), eventAt, eventIdLength)
    view.setUint8(at++, quote)
    if (userAt >= 0) {
      at = putId(view, putPiece(view, at, userMember), userAt, actorIdLength)
      view.setUint8(at++, quote)
    }
  }
  at = putPiece(view, at, slicesMember)
  for (let i = 0; i < s.length; i++) {
    const [grant, moved, left] = s[i]!
    if (i > 0) view.setUint8(at++, comma)
    view.setUint8(at++, bracketOpen)
    at = putNumber(view, at, grant)
    const texts = kind.textsOf(moved)
    if (texts !== null) at = putPiece(view, at, texts.effect)
    else {
      view.setUint8(at++, comma)
      at = putQuoted(view, at, moved)
      view.setUint8(at++, comma)
    }
    at = putQuoted(view, at, left)
    view.setUint8(at++, bracketClose)
  }
  view.setUint8(at++, bracketClose)
  if (un !== undefined) at = putQuoted(view, putPiece(view, at, uncoveredMember), un)
  view.setUint8(at++, braceClose)
  return at
}

/** Ids of the grants drawn from last, one for each place: most draws of a company are on the grant of the one before. */
const places = 1 << 14
const companies = new Array<string>(places).fill('')
const credits = new Array<string>(places).fill('')
const grants = new Float64Array(places)
const ids = new DataView(new ArrayBuffer(places * grantIdLength))

function putGrantId(view: DataView, at: number, companyId: string, creditId: string, seq: number): number {
  const last = companyId.length - 1
  const place =
    (companyId.charCodeAt(last) * 3_137 +
      companyId.charCodeAt(last - 1) * 61 +
      companyId.charCodeAt(last - 2)) &
    (places - 1)
  const idAt = place * grantIdLength
  if (grants[place] !== seq || companies[place] !== companyId || credits[place] !== creditId) {
    putText(ids, idAt, grantId(companyId, creditId, seq))
    companies[place] = companyId
    credits[place] = creditId
    grants[place] = seq
  }
  view.setFloat64(at, ids.getFloat64(idAt, true), true)
  view.setFloat64(at + wordBytes, ids.getFloat64(idAt + wordBytes, true), true)
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
