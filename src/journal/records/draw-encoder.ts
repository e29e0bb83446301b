// Draws of one event as bytes of its record: the rows of ledger-rows.ts, and those effects of fact-encoder.ts that
// rows do not contain, without intermediate strings.

import { ascii } from '../../bytes/ascii.js'
import { type Nanos, nanosToDecimal } from '../../core/credits/amount.js'
import { grantId } from '../../core/credits/grant.js'
import { ByteTemplate, billion, putDigits, putId, putNumber, putTemplate, putText } from './byte-writer.js'
import type { Draw } from './ledger-rows.js'

const userMember = new ByteTemplate(',"u":"')
const noSlices = new ByteTemplate(',"s":[]')
const uncoveredMember = new ByteTemplate(',"un":')

const { tab, newline, quote, minus, point, zero, braceClose } = ascii

/** More than a draw takes, and more than each of its slices does, in rows and effect together. */
const drawMax = 512
const sliceMax = 512

/** Common bytes of draws on one credit for one feature, by events of one time in one environment. */
export class DrawKind {
  readonly env: ByteTemplate
  readonly rowCredit: ByteTemplate
  readonly effectStart: ByteTemplate
  readonly effectAt: ByteTemplate
  private readonly creditText: string
  /** Credits moved last, and what rows have from the company to their end once they were moved again. */
  private moved: Nanos = Number.NaN
  private movedText: ByteTemplate | null = null

  constructor(
    env: string,
    at: number,
    readonly creditId: string,
    readonly featureId: string | undefined,
  ) {
    this.env = new ByteTemplate(`${env}\t`)
    this.creditText = `\t${creditId}\t${at}\t${featureId ?? ''}\t`
    this.rowCredit = new ByteTemplate(this.creditText)
    this.effectStart = new ByteTemplate(`,{"t":"credit_draw","c":"${creditId}","seq":`)
    const feature = featureId === undefined ? '' : `,"f":"${featureId}"`
    this.effectAt = new ByteTemplate(`,"at":${at}${feature},"e":"`)
  }

  /** `rowCredit` with these credits and a tab behind it, when they are those moved before; else null. */
  movedAgain(moved: Nanos): ByteTemplate | null {
    if (moved !== this.moved) {
      this.moved = moved
      this.movedText = null
      return null
    }
    this.movedText ??= new ByteTemplate(`${this.creditText}${nanosToDecimal(moved)}\t`)
    return this.movedText
  }
}

/** Where the ids lie, in the bytes that a draw is written to, before it. */
export interface DrawIds {
  companyId: string
  companyAt: number
  /** -1: no user. */
  userAt: number
  eventAt: number
  /** Id of the grant that is drawn from, if known. */
  grant: GrantIdBytes | null
}

/** The bytes of one grant's id, four in each of its words. */
export class GrantIdBytes {
  private readonly a: number
  private readonly b: number
  private readonly c: number
  private readonly d: number

  constructor(
    companyId: string,
    creditId: string,
    readonly seq: number,
  ) {
    const bytes = Buffer.from(grantId(companyId, creditId, seq), 'latin1')
    this.a = bytes.readInt32LE(0)
    this.b = bytes.readInt32LE(4)
    this.c = bytes.readInt32LE(8)
    this.d = bytes.readInt32LE(12)
  }

  put(view: DataView, at: number): number {
    view.setInt32(at, this.a, true)
    view.setInt32(at + 4, this.b, true)
    view.setInt32(at + 8, this.c, true)
    view.setInt32(at + 12, this.d, true)
    return at + grantIdLength
  }
}

/** Length of an event's id, and of a grant's. */
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
  { companyId, companyAt, userAt, eventAt, grant: known }: Readonly<DrawIds>,
): number {
  let at = from
  for (let i = 0; i < s.length; i++) {
    const slice = s[i]!
    const grant = slice[0]
    const moved = slice[1]
    const left = slice[2]
    at = putTemplate(view, at, kind.env)
    at = putId(view, at, view, companyAt)
    const again = kind.movedAgain(moved)
    if (again !== null) at = putTemplate(view, at, again)
    else {
      at = putCredits(view, putTemplate(view, at, kind.rowCredit), moved)
      view.setUint8(at++, tab)
    }
    at = putNumber(view, at, seq + i)
    view.setUint8(at++, tab)
    at = putCredits(view, at, left)
    view.setUint8(at++, tab)
    at =
      known?.seq === grant ? known.put(view, at) : putText(view, at, grantId(companyId, kind.creditId, grant))
    view.setUint8(at++, tab)
    if (userAt >= 0) at = putId(view, at, view, userAt)
    view.setUint8(at++, tab)
    at = putId(view, at, view, eventAt, eventIdLength)
    view.setUint8(at++, tab)
    at = putNumber(view, at, grant)
    view.setUint8(at++, newline)
  }
  return at
}

/**
 * The effect of a draw with an uncovered rest, in the list of its fact, with the comma before it, as `factText`
 * writes it: without its slices, which are in rows. Returns as `putDrawRows`.
 */
export function putDrawEffect(
  view: DataView,
  from: number,
  kind: DrawKind,
  { seq, un }: Draw,
  { userAt, eventAt }: Readonly<DrawIds>,
): number {
  let at = putTemplate(view, putNumber(view, putTemplate(view, from, kind.effectStart), seq), kind.effectAt)
  at = putId(view, at, view, eventAt, eventIdLength)
  view.setUint8(at++, quote)
  if (userAt >= 0) {
    at = putId(view, putTemplate(view, at, userMember), view, userAt)
    view.setUint8(at++, quote)
  }
  at = putTemplate(view, at, noSlices)
  if (un !== undefined) at = putQuoted(view, putTemplate(view, at, uncoveredMember), un)
  view.setUint8(at++, braceClose)
  return at
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
