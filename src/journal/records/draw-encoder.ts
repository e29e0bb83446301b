// Draws of one event as bytes of its record: the rows of ledger-rows.ts, and those effects of fact-bytes.ts that
// rows do not contain, without intermediate strings.

import { ascii } from '../../bytes/ascii.js'
import { packed, putPackedNumber, putTextLength } from '../../bytes/packed.js'
import { grantId } from '../../core/credits/grant.js'
import { actorIdLength } from '../../core/usage/batch.js'
import { type Nanos, nanosToDecimal } from '../../core/values/amount.js'
import {
  ByteTemplate,
  billion,
  isUsualInstant,
  putDigits,
  putId,
  putNumber,
  putTemplate,
  putText,
  TimedTemplate,
} from './byte-writer.js'
import { packedText } from './fact-bytes.js'
import type { Draw } from './ledger-rows.js'
import { drawShape } from './shapes.js'

const { tab, newline, minus, point, zero } = ascii

/** More than a draw takes, and more than each of its slices does, in rows and effect together. */
const drawMax = 512
const sliceMax = 512

/** Common bytes of draws on one credit for one feature, by events of one time in one environment. */
export class DrawKind {
  readonly env: ByteTemplate
  readonly rowCredit: TimedTemplate
  readonly effectStart: ByteTemplate
  readonly effectAt: TimedTemplate
  /** Where the time lies in the texts of rows. */
  private readonly instantAt: number
  /** Credits moved last, and what rows have from the company to their end once they were moved again. */
  private moved: Nanos = Number.NaN
  private movedText: TimedTemplate | null = null

  /** at  epoch ms. */
  constructor(
    env: string,
    private at: number,
    readonly creditId: string,
    readonly featureId: string | undefined,
  ) {
    this.env = new ByteTemplate(`${env}\t`)
    this.instantAt = creditId.length + 2
    this.rowCredit = new TimedTemplate(this.creditText, false)
    this.effectStart = new ByteTemplate(packedText('credit_draw', creditId))
    this.effectAt = new TimedTemplate(
      featureId === undefined ? packedText(at) : packedText(at, featureId),
      true,
    )
  }

  private get creditText(): string {
    return `\t${this.creditId}\t${this.at}\t${this.featureId ?? ''}\t`
  }

  /** Make them those of another time. Returns false when its bytes have no room here: then nothing is done. */
  setTime(at: number): boolean {
    if (at === this.at) return true
    if (!isUsualInstant(at) || !isUsualInstant(this.at)) return false
    this.at = at
    this.rowCredit.setInstant(this.instantAt, at)
    this.movedText?.setInstant(this.instantAt, at)
    this.effectAt.setInstant(0, at)
    return true
  }

  /** `rowCredit` with these credits and a tab behind it, when they are those moved before; else null. */
  movedAgain(moved: Nanos): ByteTemplate | null {
    if (moved !== this.moved) {
      this.moved = moved
      this.movedText = null
      return null
    }
    this.movedText ??= new TimedTemplate(`${this.creditText}${nanosToDecimal(moved)}\t`, false)
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
 * The effect of a draw with an uncovered rest, in the list of its fact, as `factBytes` writes it: without its slices,
 * which are in rows. Returns as `putDrawRows`.
 */
export function putDrawEffect(
  view: DataView,
  from: number,
  kind: DrawKind,
  { seq, un }: Draw,
  { userAt, eventAt }: Readonly<DrawIds>,
): number {
  const shape = drawShape(kind.featureId !== undefined, userAt >= 0, un !== undefined)
  view.setUint8(from, packed.shape + shape)
  let at = putPackedNumber(view, putTemplate(view, from + 1, kind.effectStart), seq)
  at = putTextLength(view, putTemplate(view, at, kind.effectAt), eventIdLength)
  at = putId(view, at, view, eventAt, eventIdLength)
  if (userAt >= 0) at = putId(view, putTextLength(view, at, actorIdLength), view, userAt)
  view.setUint8(at++, packed.list)
  if (typeof un === 'number') at = putPackedNumber(view, at, un)
  else if (un !== undefined) at = putText(view, putTextLength(view, at, un.length), un)
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
