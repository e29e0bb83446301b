// Draws of one event as bytes of its record: the rows of ledger-rows.ts and the effects of fact-text.ts, without a text for
// any of them.
import type { Nanos } from '../core/amount.js'
import { type Draw, knownGrantId } from './ledger-rows.js'

const latin = (text: string): Buffer => Buffer.from(text, 'latin1')

const usage = latin('\tusage\ttrack\t')
const exponent = latin('e-9\t')
const userMember = latin(',"u":"')
const slicesMember = latin(',"s":[')
const uncoveredMember = latin(',"un":')

const tab = 0x09
const newline = 0x0a
const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const zero = 0x30
const bracketOpen = 0x5b
const bracketClose = 0x5d
const braceClose = 0x7d

/** More than a draw takes, and more than each of its slices does, in rows and effect together. */
const drawMax = 512
const sliceMax = 512

/** What draws on one credit for one feature have alike, of events of one time in one environment. */
export class DrawKind {
  readonly env: Buffer
  readonly rowCredit: Buffer
  readonly rowFeature: Buffer
  readonly effectStart: Buffer
  readonly effectAt: Buffer

  constructor(
    env: string,
    at: number,
    readonly creditId: string,
    readonly featureId: string | undefined,
  ) {
    this.env = latin(`${env}\t`)
    this.rowCredit = latin(`\t${creditId}\t${at}\t`)
    this.rowFeature = latin(`e-9\t${featureId ?? ''}\t`)
    this.effectStart = latin(`,{"t":"credit_draw","c":"${creditId}","seq":`)
    const feature = featureId === undefined ? '' : `,"f":"${featureId}"`
    this.effectAt = latin(`,"at":${at}${feature},"e":"`)
  }
}

/** Of whom a draw is; ids as bytes where they lie already. */
export interface Drawer {
  readonly companyId: string
  readonly company: Buffer
  readonly companyAt: number
  readonly companyEnd: number
  /** Within `company`, too; as long as the company's. -1: of no user. */
  readonly userAt: number
}

/** Room that these draws take at most; their ids are of the usual length. */
export function drawsMax(draws: readonly Draw[]): number {
  let bytes = 0
  for (let i = 0; i < draws.length; i++) bytes += drawMax + sliceMax * draws[i]!.s.length
  return bytes
}

/** The rows of a draw, as `drawRows`. The event's id lies in the same bytes. Returns where they end. */
export function putDrawRows(
  bytes: Buffer,
  from: number,
  kind: DrawKind,
  { seq, s }: Draw,
  drawer: Drawer,
  eventAt: number,
  eventEnd: number,
): number {
  const { companyId, company, companyAt, companyEnd, userAt } = drawer
  let at = from
  for (let i = 0; i < s.length; i++) {
    const [grant, moved, left] = s[i]!
    at = put(bytes, at, kind.env, 0, kind.env.length)
    at = put(bytes, at, company, companyAt, companyEnd)
    at = put(bytes, at, kind.rowCredit, 0, kind.rowCredit.length)
    at = putNumber(bytes, at, seq + i)
    at = put(bytes, at, usage, 0, usage.length)
    if (moved === 0) {
      bytes[at++] = zero
      bytes[at++] = tab
      bytes[at++] = zero
      bytes[at++] = tab
    } else {
      bytes[at++] = minus
      at = putAmount(bytes, at, moved)
      at = putAmount(bytes, at, moved)
    }
    at = putText(bytes, at, knownGrantId(companyId, kind.creditId, grant))
    bytes[at++] = tab
    at = putNanos(bytes, at, left)
    at = put(bytes, at, kind.rowFeature, 0, kind.rowFeature.length)
    if (userAt >= 0) at = put(bytes, at, company, userAt, userAt + companyEnd - companyAt)
    bytes[at++] = tab
    at = put(bytes, at, bytes, eventAt, eventEnd)
    bytes[at++] = newline
  }
  return at
}

/** The effect of a draw in the list of its fact, with the comma before it, as `factText`. Returns where it ends. */
export function putDrawEffect(
  bytes: Buffer,
  from: number,
  kind: DrawKind,
  { seq, s, un }: Draw,
  { company, companyAt, companyEnd, userAt }: Drawer,
  eventAt: number,
  eventEnd: number,
): number {
  let at = put(bytes, from, kind.effectStart, 0, kind.effectStart.length)
  at = putNumber(bytes, at, seq)
  at = put(bytes, at, kind.effectAt, 0, kind.effectAt.length)
  at = put(bytes, at, bytes, eventAt, eventEnd)
  bytes[at++] = quote
  if (userAt >= 0) {
    at = put(bytes, at, userMember, 0, userMember.length)
    at = put(bytes, at, company, userAt, userAt + companyEnd - companyAt)
    bytes[at++] = quote
  }
  at = put(bytes, at, slicesMember, 0, slicesMember.length)
  for (let i = 0; i < s.length; i++) {
    const [grant, moved, left] = s[i]!
    if (i > 0) bytes[at++] = comma
    bytes[at++] = bracketOpen
    at = putNumber(bytes, at, grant)
    bytes[at++] = comma
    at = putQuoted(bytes, at, moved)
    bytes[at++] = comma
    at = putQuoted(bytes, at, left)
    bytes[at++] = bracketClose
  }
  bytes[at++] = bracketClose
  if (un !== undefined) {
    at = put(bytes, at, uncoveredMember, 0, uncoveredMember.length)
    at = putQuoted(bytes, at, un)
  }
  bytes[at++] = braceClose
  return at
}

function putAmount(bytes: Buffer, at: number, nanos: Nanos): number {
  return put(bytes, putNanos(bytes, at, nanos), exponent, 0, exponent.length)
}

function putNanos(bytes: Buffer, at: number, nanos: Nanos): number {
  return typeof nanos === 'number' ? putNumber(bytes, at, nanos) : putText(bytes, at, nanos)
}

/** As JSON has it: a text where it is too large for a number. */
function putQuoted(bytes: Buffer, at: number, nanos: Nanos): number {
  if (typeof nanos === 'number') return putNumber(bytes, at, nanos)
  bytes[at] = quote
  const end = putText(bytes, at + 1, nanos)
  bytes[end] = quote
  return end + 1
}

const billion = 1e9

/** The digits of a safe integer. Returns where they end. */
export function putNumber(bytes: Buffer, from: number, value: number): number {
  let at = from
  let left = value
  if (left < 0) {
    bytes[at++] = minus
    left = -left
  }
  if (left < billion) return putDigits(bytes, at, left, digitsOf(left))
  const high = Math.floor(left / billion)
  at = putNumber(bytes, at, high)
  return putDigits(bytes, at, left - high * billion, 9)
}

/** The last `count` digits of a number below a billion. */
function putDigits(bytes: Buffer, at: number, value: number, count: number): number {
  let left = value | 0
  for (let place = at + count - 1; place >= at; place--) {
    const rest = (left / 10) | 0
    bytes[place] = zero + left - rest * 10
    left = rest
  }
  return at + count
}

function digitsOf(value: number): number {
  let digits = 1
  for (let bound = 10; value >= bound; bound *= 10) digits++
  return digits
}

/** Characters of ASCII. Returns where they end. */
function putText(bytes: Buffer, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}

function put(bytes: Buffer, at: number, source: Buffer, from: number, to: number): number {
  const length = to - from
  for (let i = 0; i < length; i++) bytes[at + i] = source[from + i]!
  return at + length
}
